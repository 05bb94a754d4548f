/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Is a tool scoped? By the list of the policy: kinds, which are tables of
 * words, and names, "server:tool", "server:*" or "tool". The name comes as
 * hosts write it (mcp__server__tool, server.tool, functions.tool, camelCase),
 * so all of that is one spelling here. It errs to one side: what could be a
 * listed tool is one, and a name that cannot be read is scoped (L14).
 */
#include "config.h"

#include <string.h>

#include "policy/policy.h"
#include "scope/internal.h"
#include "scope/tool.h"

#define MAX_GLUED 40

/* Can w be cut into words of which one is of the kind? "dbquery", "runsql".
   What is too long for that may be. */
static bool is_glued(const char *kind, const char *w, size_t n)
{
	/* [i]: 0 no way to cut the first i, 1 verbs only, 2 with the kind */
	unsigned char way[MAX_GLUED + 1] = { 1 };

	if (n > MAX_GLUED)
		return true;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 2; way[i] && j <= n; j++) {
			const char *part = w + i;
			unsigned char now =
				ab_scope_is_kind_word(kind, part, j - i) ? 2 :
				ab_scope_is_verb(part, j - i) ? way[i] : 0;

			if (now > way[j])
				way[j] = now;
		}
	}
	return way[n] == 2;
}

/*
 * "query", "list_tables", "restart_service", and nothing that says of what:
 * of the kind, as far as one can tell.
 */
static bool is_bare(const char *kind, const struct ab_scope_words *w,
		    size_t from)
{
	bool found = false;

	for (size_t i = from; i < w->count; i++) {
		if (ab_scope_is_bare_word(kind, w->words[i], w->lens[i]))
			found = true;
		else if (!ab_scope_is_verb(w->words[i], w->lens[i]))
			return false;
	}
	/* "log" and "table" alone may be anything */
	return found && (w->count - from > 1 ||
			 (w->lens[from] == 5 &&
			  memcmp(w->words[from], "query", 5) == 0));
}

static bool is_prefix_word(const char *w, size_t n)
{
	static const char *const words[] = { "mcp", "functions", "function",
					     "tools", "tool", NULL };

	for (size_t i = 0; words[i]; i++)
		if (strlen(words[i]) == n && memcmp(words[i], w, n) == 0)
			return true;
	return false;
}

static bool is_of_kind(const char *kind, const struct ab_scope_words *w)
{
	size_t from = 0;

	for (size_t i = 0; i < w->count; i++)
		if (ab_scope_is_kind_word(kind, w->words[i], w->lens[i]) ||
		    is_glued(kind, w->words[i], w->lens[i]))
			return true;
	while (from < w->count && is_prefix_word(w->words[from], w->lens[from]))
		from++;
	return is_bare(kind, w, from);
}

/* --- names of the list ---------------------------------------------------- */

/* The words one after the other with '_' between: "mcp_crm_export". */
static size_t flatten(const struct ab_scope_words *w, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < w->count; i++) {
		if (n)
			out[n++] = '_';
		memcpy(out + n, w->words[i], w->lens[i]);
		n += w->lens[i];
	}
	return n;
}

/* Does the entry stand at the end of the name, or with '*' anywhere in it,
   each time from the beginning of a word? */
static bool is_listed(const char *entry, size_t n, const char *flat,
		      size_t flat_len, bool star, bool word_end)
{
	for (size_t i = 0; n && i + n <= flat_len; i++) {
		if (i && flat[i - 1] != '_')
			continue;
		if (memcmp(flat + i, entry, n) != 0)
			continue;
		if (i + n == flat_len)
			return true;
		if (star && (!word_end || flat[i + n] == '_'))
			return true;
	}
	return false;
}

#define FLAT_SIZE (AB_SCOPE_MAX_TOOL + AB_SCOPE_MAX_WORDS + 1)

static bool matches_entry(const char *entry, const struct ab_scope_words *w)
{
	size_t n = strlen(entry);
	bool star = n && entry[n - 1] == '*';
	char flat[FLAT_SIZE];
	char want[FLAT_SIZE];
	struct ab_scope_words e;
	bool word_end;

	n -= star;
	/* "server:*" ends where a word does, "server:get*" need not */
	word_end = n && !ab_scope_is_alnum(entry[n - 1]);
	ab_scope_split(&e, entry, n);
	if (star && n == 0)
		return true;
	return is_listed(want, flatten(&e, want), flat, flatten(w, flat), star,
			 word_end);
}

static bool is_kind(const char *s)
{
	for (size_t i = 0; ab_policy_scope_kinds[i]; i++)
		if (strcmp(s, ab_policy_scope_kinds[i]) == 0)
			return true;
	return false;
}

/* --- the answer ----------------------------------------------------------- */

static bool is_name(const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
			return false;
	return n > 0 && n <= AB_SCOPE_MAX_TOOL;
}

static bool is_unread(const struct ab_scope_words *w)
{
	return w->is_foreign || w->is_cut || w->count == 0;
}

static bool is_entry(const char *entry, const struct ab_scope_words *w)
{
	return is_kind(entry) ? is_of_kind(entry, w) : matches_entry(entry, w);
}

bool ab_scope_tool_is(const char *entry, const char *name, size_t n)
{
	struct ab_scope_words w;

	if (!is_name(name, n))
		return true;
	ab_scope_split(&w, name, n);
	return is_unread(&w) || is_entry(entry, &w);
}

enum ab_scope_tool ab_scope_tool(const agentbox_scope *scope, const char *name,
				 size_t n)
{
	struct ab_scope_words w;

	if (!is_name(name, n))
		return AB_TOOL_BAD;
	ab_scope_split(&w, name, n);
	if (is_unread(&w))
		return AB_TOOL_SCOPED;
	for (size_t i = 0; i < json_array_size(scope->tools); i++)
		if (is_entry(json_string_value(json_array_get(scope->tools, i)),
			     &w))
			return AB_TOOL_SCOPED;
	return AB_TOOL_OTHER;
}

enum ab_scope_writes ab_scope_tool_writes(const char *name, size_t n)
{
	enum ab_scope_writes most = AB_WRITES_NOT;
	struct ab_scope_words w;

	ab_scope_split(&w, name, n);
	if (w.is_cut || w.is_foreign)
		return AB_WRITES_AWAY;
	for (size_t i = 0; i < w.count; i++) {
		enum ab_scope_writes now =
			ab_scope_is_writing(w.words[i], w.lens[i]);

		if (now > most)
			most = now;
	}
	return most;
}
