/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What tools there are. The guard reads a server's whole list itself, page by
 * page, so that a name that stands twice, a list that does not fit its pin and
 * a cursor of somebody else's cannot be; the client gets one page. A tool is
 * shown when the policy allows it, it is today what it was when first seen,
 * it fits every pin, and its text hides nothing. Spec: cases 121, 122,
 * 129-131, 137; agentbox-policy(5), tools.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/hash.h"
#include "mcp/internal.h"

/* --- names and patterns ------------------------------------------------ */

bool ab_mcp_is_tool_name(const json_t *name)
{
	const char *s = json_string_value(name);
	size_t n = json_string_length(name);

	if (!s || n == 0 || n > AB_MCP_NAME_MAX)
		return false;
	return strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			 "0123456789_.-") == n;
}

/* As narrow compares them: exactly, or what stands before the star. */
bool ab_mcp_is_listed(const agentbox_mcp *m, const json_t *list,
		      const char *name)
{
	char full[sizeof(m->server) + AB_MCP_NAME_MAX + 1];

	snprintf(full, sizeof(full), "%s:%s", m->server, name);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *p = json_string_value(json_array_get(list, i));
		size_t n = p ? strlen(p) : 0;

		if (n && p[n - 1] == '*' ? strncmp(p, full, n - 1) == 0 :
					   n && strcmp(p, full) == 0)
			return true;
	}
	return false;
}

/* Has the policy pins for this tool (all must fit), and do they? */
static bool pins_fit(const agentbox_mcp *m, const char *name,
		     const char *digest, bool *any)
{
	size_t n = strlen(name);
	bool fits = true;

	*any = false;
	for (size_t i = 0; i < json_array_size(m->pins); i++) {
		const char *pin = json_string_value(json_array_get(m->pins,
								   i));

		if (strncmp(pin, name, n) != 0 || pin[n] != '=')
			continue;
		*any = true;
		fits = fits && digest && strcmp(pin + n + 1, digest) == 0;
	}
	return fits;
}

bool ab_mcp_tool_allowed(const agentbox_mcp *m, const char *name,
			 const char **why)
{
	const json_t *known = json_object_get(m->memory->known, name);
	bool pinned;

	*why = "not in tools.allow";
	if (!ab_mcp_is_listed(m, m->allow, name))
		return false;
	*why = "in quarantine: its definition changed or is not fit to show";
	if (m->memory->pin_failed || json_is_null(known))
		return false;
	*why = "the server has named more tools than are remembered";
	if (m->memory->is_full)
		return false;
	*why = "pinned, and not listed yet";
	pins_fit(m, name, json_string_value(known), &pinned);
	if (!known && (pinned || m->pin))
		return false;
	*why = "tools.allow";
	return true;
}

/* --- one definition ---------------------------------------------------- */

/* Text that only people and models read is cleaned; anything else that hides
   characters spoils the whole. */
json_t *ab_mcp_clean_value(const json_t *v, const char *key, const char **why)
{
	bool prose = key && (strcmp(key, "description") == 0 ||
			     strcmp(key, "title") == 0);
	const char *k;
	json_t *out, *e, *c;
	size_t i;

	if (json_is_string(v)) {
		*why = "a text over 8 KiB";
		if (prose && json_string_length(v) > AB_MCP_TEXT_MAX)
			return NULL;
		*why = "hidden characters in a name or a value";
		if (!prose && !ab_mcp_is_clean(json_string_value(v),
					       json_string_length(v)))
			return NULL;
		*why = NULL;
		return prose ? ab_mcp_clean(v, AB_MCP_TEXT_MAX)
			     : json_incref((json_t *)(uintptr_t)v);
	}
	if (json_is_array(v)) {
		out = json_array();
		json_array_foreach(v, i, e) {
			c = out ? ab_mcp_clean_value(e, NULL, why) : NULL;
			if (!c || json_array_append_new(out, c) < 0)
				goto fail;
		}
		return out;
	}
	if (!json_is_object(v))
		return json_incref((json_t *)(uintptr_t)v);
	out = json_object();
	json_object_foreach((json_t *)(uintptr_t)v, k, e) {
		*why = "hidden characters in a name or a value";
		if (!ab_mcp_is_clean(k, strlen(k)))
			goto fail;
		*why = NULL;
		c = out ? ab_mcp_clean_value(e, k, why) : NULL;
		if (!c || json_object_set_new(out, k, c) < 0)
			goto fail;
	}
	return out;
fail:
	json_decref(out);
	return NULL;
}

/* The digest of a definition as the server gave it; false: no memory. */
static bool digest_of(const json_t *tool, char out[AB_DIGEST_SIZE],
		      bool *too_long)
{
	char *text = ab_mcp_canonical(tool);
	size_t n = text ? strlen(text) : 0;

	*too_long = n > AB_MCP_TOOL_MAX;
	if (text)
		ab_digest(text, n, out);
	free(text);
	return text != NULL;
}

/* `what` is taken. A server that names ever more tools is granted none. */
static bool remember(agentbox_mcp *m, const char *name, json_t *what)
{
	ab_mcp_memory *memory = m->memory;

	if (!json_object_get(memory->known, name) &&
	    json_object_size(memory->known) >= AB_MCP_KNOWN_MAX) {
		json_decref(what);
		memory->is_full = true;
		return true;
	}
	return json_object_set_new(memory->known, name, what) == 0;
}

static int32_t quarantine(agentbox_mcp *m, const json_t *name,
			  const char *why)
{
	if (!remember(m, json_string_value(name), json_null()))
		return ab_mcp_nomem(m);
	return ab_mcp_event(m, "mcp.tool", "deny", "tools.pin",
			    json_string_value(name),
			    json_string_length(name), why);
}

/* Is it what it was? Remembers a tool that was never seen. */
static const char *compare(agentbox_mcp *m, const json_t *tool,
			   const char *digest, bool *nomem)
{
	const char *name = json_string_value(json_object_get(tool, "name"));
	const json_t *known = json_object_get(m->memory->known, name);
	bool pinned;

	if (json_is_null(known))
		return "in quarantine";
	if (!pins_fit(m, name, digest, &pinned))
		return "its definition does not fit its pin";
	if (known && strcmp(json_string_value(known), digest) != 0)
		return "its definition changed";
	if (!known)
		*nomem = !remember(m, name, json_string(digest));
	return m->memory->is_full ? "too many tools" : NULL;
}

/* --- the list ---------------------------------------------------------- */

int32_t ab_mcp_tools_gather(agentbox_mcp *m, ab_mcp_call *call,
			    const json_t *page)
{
	json_t *v;
	size_t i;

	if (!call->tools)
		call->tools = json_array();
	json_array_foreach(page, i, v)
		if (!call->tools || json_array_append(call->tools, v) < 0)
			return ab_mcp_nomem(m);
	return 0;
}

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * The pin of a whole server: the digest of the lines "NAME DIGEST", sorted by
 * bytes, each with its newline.
 */
static int32_t check_pin(agentbox_mcp *m, const json_t *tools)
{
	size_t n = json_array_size(tools), used = 0, room = 1;
	char **lines = ab_calloc(n + 1, sizeof(*lines));
	char digest[AB_DIGEST_SIZE];
	ab_autofree char *all = NULL;
	bool ok = lines != NULL, over;

	for (size_t i = 0; ok && i < n; i++) {
		const json_t *tool = json_array_get(tools, i);
		const char *name = json_string_value(
			json_object_get(tool, "name"));

		ok = digest_of(tool, digest, &over);
		lines[i] = ok ? ab_asprintf("%s %s\n", name ? name : "",
					    digest) : NULL;
		ok = lines[i] != NULL;
		room += ok ? strlen(lines[i]) : 0;
	}
	all = ok ? ab_calloc(1, room) : NULL;
	if (all && n)
		qsort(lines, n, sizeof(*lines), compare_text);
	for (size_t i = 0; all && i < n; i++) {
		size_t len = strlen(lines[i]);

		memcpy(all + used, lines[i], len);
		used += len;
	}
	for (size_t i = 0; lines && i < n; i++)
		free(lines[i]);
	free(lines);
	if (!all)
		return ab_mcp_nomem(m);
	ab_digest(all, used, digest);
	m->memory->pin_failed = strcmp(digest, m->pin) != 0;
	return !m->memory->pin_failed ? 0 : ab_mcp_event(
		m, "mcp.tool", "deny", "tools.pin", m->server,
		strlen(m->server), "the list of tools does not fit its pin");
}

/* To some readers it would be another one than was judged. */
static bool has_twin(const json_t *tool)
{
	static const char *const words[] = { "name", "title", "description",
					     "inputSchema" };

	for (size_t i = 0; i < AB_ARRAY_LEN(words); i++)
		if (ab_mcp_has_twin_of(tool, words[i]))
			return true;
	return false;
}

/* One definition: shown, kept back or put in quarantine. */
static int32_t judge(agentbox_mcp *m, const json_t *tool, json_t *shown,
		     json_t *names)
{
	const json_t *name = json_object_get(tool, "name");
	const char *s = json_string_value(name), *why = NULL;
	char digest[AB_DIGEST_SIZE];
	bool over = false, nomem = false;
	json_t *clean;

	if (!ab_mcp_is_tool_name(name))
		return ab_mcp_event(m, "mcp.tool", "deny", "mcp.name",
				    s ? s : "", json_string_length(name),
				    "not the name of a tool");
	if (!ab_mcp_is_listed(m, m->allow, s))
		return 0;
	if (!digest_of(tool, digest, &over))
		return ab_mcp_nomem(m);
	why = over ? "its definition is over 64 KiB" :
	      !json_is_object(json_object_get(tool, "inputSchema")) ?
		      "it has no inputSchema" :
	      has_twin(tool) ? AB_MCP_TWIN : NULL;
	if (!why)
		why = compare(m, tool, digest, &nomem);
	if (why || nomem)
		return nomem ? ab_mcp_nomem(m) : quarantine(m, name, why);
	/* the same definition twice is one */
	if (json_object_get(names, s))
		return 0;
	clean = ab_mcp_clean_value(tool, NULL, &why);
	if (!clean)
		return why ? quarantine(m, name, why) : ab_mcp_nomem(m);
	if (json_object_set(names, s, clean) < 0 ||
	    json_array_append(shown, clean) < 0 ||
	    !ab_mcp_params_learn(m, s, json_object_get(clean,
						       "inputSchema"))) {
		json_decref(clean);
		return ab_mcp_nomem(m);
	}
	json_decref(clean);
	return 0;
}

/* What got into quarantine after it was shown goes again. */
static void drop_quarantined(const agentbox_mcp *m, json_t *shown)
{
	for (size_t i = json_array_size(shown); i-- > 0;) {
		const char *name = json_string_value(json_object_get(
			json_array_get(shown, i), "name"));

		if (m->memory->is_full ||
		    json_is_null(json_object_get(m->memory->known, name)))
			json_array_remove(shown, i);
	}
}

int32_t ab_mcp_tools_judge(agentbox_mcp *m, const json_t *tools,
			   json_t **shown)
{
	ab_auto(json_t) *out = json_array();
	ab_auto(json_t) *names = json_object();
	int32_t rc = out && names ? 0 : ab_mcp_nomem(m);
	json_t *tool;
	size_t i;

	if (rc == 0 && m->pin)
		rc = check_pin(m, tools);
	json_array_foreach(tools, i, tool)
		if (rc == 0 && !m->memory->pin_failed)
			rc = judge(m, tool, out, names);
	if (rc < 0)
		return rc;
	drop_quarantined(m, out);
	*shown = ab_steal(&out);
	return 0;
}
