/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Resources and prompts: a grant opens the methods, the entry's lists say
 * which of them. Asked for by name, shown in a list or told of, each is
 * compared with these; what they do not name does not exist. An URI that two
 * servers could read in two ways is none. Spec: case 135, RFC 3986 section
 * 5.2.4, agentbox-policy(5), tools.
 */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "base/digit.h"
#include "base/error.h"
#include "base/utf8.h"
#include "mcp/internal.h"

#define URI_MAX 4096

/* --- one of them ----------------------------------------------------- */

/* Is it of the pattern whose n bytes a "*" follows? What that stands for is
   below them: a slash behind a slash is a root of its own to who joins paths,
   but where an URI has no authority. */
static bool is_below(const char *p, size_t n, const char *s)
{
	bool is_root = n >= 3 && memcmp(p + n - 3, "://", 3) == 0;

	return strncmp(p, s, n) == 0 &&
	       (n == 0 || is_root || p[n - 1] != '/' || s[n] != '/');
}

static bool is_named(const json_t *list, const char *s)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *p = json_string_value(json_array_get(list, i));
		size_t n = strlen(p);

		if (p[n - 1] == '*' ? is_below(p, n - 1, s)
				    : strcmp(p, s) == 0)
			return true;
	}
	return false;
}

/* "%2e", "%2f", "%5c", "%25", "%00": what another reading would undo. */
static bool hides_a_step(const char *s)
{
	static const char *const coded[] = { "%2e", "%2f", "%5c", "%25",
					     "%00" };

	for (size_t i = 0; i < AB_ARRAY_LEN(coded); i++)
		if (strncasecmp(s, coded[i], 3) == 0)
			return true;
	return false;
}

/* What normal forms of Unicode make a dot, a slash or a percent sign of. */
static bool becomes_a_step(uint32_t c)
{
	static const uint32_t table[] = { 0x2024, 0x2025, 0x2026, 0xfe19,
					  0xfe30, 0xfe52, 0xfe68, 0xfe6a,
					  0xff05, 0xff0e, 0xff0f, 0xff3c };

	for (size_t i = 0; i < AB_ARRAY_LEN(table); i++)
		if (c == table[i])
			return true;
	return false;
}

/* Some do not see the blanks beside a name, or take them off. */
static bool is_dots(const char *s, size_t n)
{
	while (n && s[n - 1] == ' ')
		n--;
	for (; n && s[0] == ' '; n--)
		s++;
	return (n == 1 && s[0] == '.') || (n == 2 && memcmp(s, "..", 2) == 0);
}

static bool has_step(const char *s, size_t n)
{
	size_t from = 0;

	for (size_t i = 0; i <= n; i++) {
		if (i < n && !memchr("/?#;:&=", s[i], 7))
			continue;
		if (is_dots(s + from, i - from))
			return true;
		from = i + 1;
	}
	return false;
}

/* Without its percent signs it is text, in UTF-8, that hides nothing: who
   takes them away before he parts it finds no step either ("..%3Fx"). */
static bool is_clean_inside(const char *s, size_t n)
{
	char text[URI_MAX];
	size_t used = 0;

	for (size_t i = 0; i < n; i++, used++) {
		int high = 0, low = 0;

		text[used] = s[i];
		if (s[i] != '%')
			continue;
		high = n - i > 2 ? ab_hex_digit(s[i + 1]) : -1;
		low = n - i > 2 ? ab_hex_digit(s[i + 2]) : -1;
		if (high < 0 || low < 0)
			return false;
		text[used] = (char)(high << 4 | low);
		i += 2;
	}
	for (size_t i = 0, len; i < used; i += len) {
		uint32_t c;

		len = ab_utf8_decode(text + i, used - i, &c);
		if (!len || c < ' ' || becomes_a_step(c))
			return false;
	}
	return ab_mcp_is_clean(text, used) && !has_step(text, used);
}

/* One spelling: visible, and without a step that leads elsewhere. */
static bool is_plain_uri(const char *s)
{
	size_t n = strlen(s);

	if (n == 0 || n > URI_MAX || !is_clean_inside(s, n))
		return false;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] <= ' ' || s[i] == '\\' ||
		    (s[i] == '%' && hides_a_step(s + i)))
			return false;
	return !has_step(s, n);
}

static bool uri_allowed(const agentbox_mcp *m, const json_t *uri)
{
	const char *s = json_string_value(uri);

	return s && is_plain_uri(s) && is_named(m->resources, s);
}

static bool prompt_allowed(const agentbox_mcp *m, const json_t *name)
{
	const char *s = json_string_value(name);
	size_t n = json_string_length(name);

	return s && n > 0 && n <= AB_MCP_NAME_MAX && ab_mcp_is_clean(s, n) &&
	       is_named(m->prompts, s);
}

/* All that a template can become has to begin with what is allowed. */
static bool template_allowed(const agentbox_mcp *m, const json_t *uri)
{
	const char *s = json_string_value(uri);
	size_t fixed = s ? strcspn(s, "{") : 0;

	if (!s || !is_plain_uri(s))
		return false;
	for (size_t i = 0; i < json_array_size(m->resources); i++) {
		const char *p = json_string_value(
			json_array_get(m->resources, i));
		size_t n = strlen(p);

		if (p[n - 1] == '*' && n - 1 <= fixed && is_below(p, n - 1, s))
			return true;
	}
	return false;
}

static bool ref_allowed(const agentbox_mcp *m, const json_t *ref)
{
	const char *type = json_string_value(json_object_get(ref, "type"));

	if (ab_mcp_has_twin(ref))
		return false;
	if (type && strcmp(type, "ref/prompt") == 0)
		return prompt_allowed(m, json_object_get(ref, "name"));
	return type && strcmp(type, "ref/resource") == 0 &&
	       (uri_allowed(m, json_object_get(ref, "uri")) ||
		template_allowed(m, json_object_get(ref, "uri")));
}

static bool all_allowed(const agentbox_mcp *m, const json_t *wanted)
{
	const json_t *list = json_object_get(wanted, "resourceSubscriptions");
	json_t *v;
	size_t i;

	if ((list && !json_is_array(list)) || ab_mcp_has_twin(wanted))
		return false;
	json_array_foreach(list, i, v)
		if (!uri_allowed(m, v))
			return false;
	return true;
}

/* --- methods --------------------------------------------------------- */

typedef bool (*allowed)(const agentbox_mcp *m, const json_t *value);

static const struct {
	const char *method, *param;
	allowed asked;	  /* of params[param] */
	const char *list; /* of the result */
	const char *key;  /* of each in it */
	allowed shown;
} table[] = {
	{ "resources/list", NULL, NULL, "resources", "uri", uri_allowed },
	{ "resources/templates/list", NULL, NULL, "resourceTemplates",
	  "uriTemplate", template_allowed },
	{ "resources/read", "uri", uri_allowed, "contents", "uri",
	  uri_allowed },
	{ "resources/subscribe", "uri", uri_allowed, NULL, NULL, NULL },
	{ "resources/unsubscribe", "uri", uri_allowed, NULL, NULL, NULL },
	{ "notifications/resources/updated", "uri", uri_allowed, NULL, NULL,
	  NULL },
	{ "prompts/list", NULL, NULL, "prompts", "name", prompt_allowed },
	{ "prompts/get", "name", prompt_allowed, NULL, NULL, NULL },
	{ "completion/complete", "ref", ref_allowed, NULL, NULL, NULL },
	{ "subscriptions/listen", "notifications", all_allowed, NULL, NULL,
	  NULL },
};

bool ab_mcp_subject_allowed(const agentbox_mcp *m, const ab_mcp_method *method,
			    const json_t *params)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(table); i++)
		if (strcmp(table[i].method, method->name) == 0 &&
		    table[i].param)
			return table[i].asked(m, json_object_get(
							 params,
							 table[i].param));
	return true;
}

/* Those of a list that are allowed, cleaned as tools are. NULL: no memory. */
static json_t *shown_of(const agentbox_mcp *m, const json_t *list, size_t row,
			bool is_content)
{
	ab_auto(json_t) *out = json_array();
	const char *why;
	json_t *v;
	size_t i;

	json_array_foreach(list, i, v) {
		json_t *clean = NULL;

		if (!table[row].shown(m, json_object_get(v, table[row].key)) ||
		    ab_mcp_has_twin_of(v, table[row].key))
			continue;
		why = NULL;
		/* what a resource says is data, like the result of a tool */
		clean = is_content ? json_incref(v)
				   : ab_mcp_clean_value(v, NULL, &why);
		if (!clean && why)
			continue;
		if (!out || !clean || json_array_append_new(out, clean) < 0)
			return NULL;
	}
	return ab_steal(&out);
}

bool ab_mcp_subjects_shown(const agentbox_mcp *m, const ab_mcp_method *method,
			   json_t *result)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(table); i++) {
		json_t *list;
		bool any;

		if (strcmp(table[i].method, method->name) != 0 ||
		    !table[i].list)
			continue;
		list = shown_of(m, json_object_get(result, table[i].list), i,
				table[i].param != NULL);
		any = json_object_get(result, table[i].list) != NULL;
		/* another list to some readers */
		ab_mcp_delete_like(result, table[i].list);
		if (any)
			return json_object_set_new(result, table[i].list,
						   list) == 0;
		json_decref(list);
		return true;
	}
	return true;
}
