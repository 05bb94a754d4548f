/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls that would write to what a peer shares. The mount is read-only, so
 * nothing is written; who asks is told before, and whoever approves sees it.
 * A path counts under any key but those that say that it is read or is text,
 * since tools call the place where they write as they like: `to`, `uri`,
 * `edits[].p`; so does what the head lines of a patch say is written. What a
 * command line says is not judged here but by the guard.
 * Spec: DESIGN.md section 12, L13; agentbox_scope(3).
 */
#include "config.h"

#include <string.h>

#include "scope/internal.h"

#define MAX_PATH 4096

/* A path that ends at or below .shared, whose mount nobody inside writes. */
static bool is_below(const char *p, size_t n)
{
	int below = -1;

	for (size_t i = 0; i < n;) {
		size_t end = i;

		while (end < n && p[end] != '/')
			end++;
		if (end - i == 7 && memcmp(p + i, ".shared", 7) == 0)
			below = 0;
		else if (end - i == 2 && memcmp(p + i, "..", 2) == 0)
			below -= below >= 0;
		else if (below >= 0 && end > i &&
			 !(end - i == 1 && p[i] == '.'))
			below++;
		i = end + 1;
	}
	return below >= 0;
}

/* As it is, or as a URI has it (RFC 3986 section 2.1). */
static bool is_shared(struct ab_scope_look *l, const char *text, size_t n)
{
	void *mark = l->arena->low;
	struct ab_plain p = { .c = text, .n = n };
	bool found = is_below(text, n);
	char *out;
	size_t used;

	if (!found && memchr(text, '%', n) &&
	    ab_scope_unescape(l, &p, &out, &used))
		found = is_below(out, used);
	ab_arena_release(l->arena, mark);
	return found;
}

/* The key that the value stands under, that of its list if it is in one. */
static enum ab_scope_place place_of(const struct ab_scope_reader *r)
{
	size_t i = r->depth;

	while (i > 0 && !r->frames[i - 1].is_object)
		i--;
	return i == 0 ? AB_PLACE_OTHER :
			ab_scope_place(r->text + r->frames[i - 1].key_begin,
				       r->frames[i - 1].key_end -
					       r->frames[i - 1].key_begin);
}

static int32_t of_writer(enum ab_scope_writes writes, enum ab_scope_place place)
{
	switch (place) {
	case AB_PLACE_TEXT:
		return AGENTBOX_VERDICT_ALLOW;
	case AB_PLACE_FROM:
		return writes == AB_WRITES_AWAY ? AGENTBOX_VERDICT_DENY :
						  AGENTBOX_VERDICT_ALLOW;
	case AB_PLACE_OTHER:
		return AGENTBOX_VERDICT_ASK;
	case AB_PLACE_PATH:
		return writes == AB_WRITES_MAYBE ? AGENTBOX_VERDICT_ASK :
						   AGENTBOX_VERDICT_DENY;
	case AB_PLACE_INTO:
		break;
	}
	return AGENTBOX_VERDICT_DENY;
}

/* --- patches -------------------------------------------------------------- */

struct line {
	const char *p;
	size_t n;
};

static bool starts(struct line l, const char *word)
{
	size_t n = strlen(word);

	return l.n >= n && memcmp(l.p, word, n) == 0;
}

static struct line next_line(const char *text, size_t n, size_t *at)
{
	const char *end = memchr(text + *at, '\n', n - *at);
	struct line l = { text + *at,
			  end ? (size_t)(end - text) - *at : n - *at };

	*at += l.n + (end != NULL);
	while (l.n && ab_scope_is_space(l.p[l.n - 1]))
		l.n--;
	return l;
}

/*
 * What the line of a patch says is written: one of a unified or context diff,
 * of git's, or of the format with "*** Begin Patch". The old side counts only
 * where there is no new one: what is made of a peer's file is no peer's file.
 */
static struct line written(struct line now, struct line before,
			   struct line next)
{
	static const char *const heads[] = {
		"+++ ",		     "Index: ",		  "rename from ",
		"rename to ",	     "copy to ",	  "*** Update File: ",
		"*** Add File: ",    "*** Delete File: ", "*** Move to: ",
		"*** Move File to: ", NULL
	};
	size_t skip = 0;

	for (size_t i = 0; heads[i] && !skip; i++)
		skip = starts(now, heads[i]) ? strlen(heads[i]) : 0;
	if (starts(now, "--- ") &&
	    (starts(before, "*** ") || starts(next, "+++ /dev/null")))
		skip = 4;
	/* the second name; both are there for a file that only goes */
	for (size_t i = 11; starts(now, "diff --git ") && i < now.n; i++)
		if (now.p[i] == ' ')
			skip = i + 1;
	while (skip && skip < now.n &&
	       (now.p[skip] == '"' || now.p[skip] == ' '))
		skip++;
	now.p += skip;
	now.n = skip ? now.n - skip : 0;
	/* a date, or the quote at the end */
	for (size_t i = 0; i < now.n; i++)
		if (now.p[i] == '\t' || now.p[i] == '"')
			now.n = i;
	return now;
}

static bool is_patched(struct ab_scope_look *l, const char *text, size_t n)
{
	struct line before = { text, 0 };
	size_t at = 0;
	struct line now = next_line(text, n, &at);
	bool more = true;

	while (more) {
		struct line next = { text, 0 };
		struct line path;

		more = at < n;
		if (more)
			next = next_line(text, n, &at);
		path = written(now, before, next);
		if (path.n && path.n <= MAX_PATH &&
		    is_shared(l, path.p, path.n))
			return true;
		before = now;
		now = next;
	}
	return false;
}

/* More than a line: text, or the name of a file that has such a name. */
static bool is_lines(const char *text, size_t n)
{
	const char *end = memchr(text, '\n', n);

	for (size_t i = end ? (size_t)(end - text) : n; i < n; i++)
		if (!ab_scope_is_space(text[i]))
			return true;
	return false;
}

int32_t ab_scope_judge_path(struct ab_scope_look *l,
			    const struct ab_scope_reader *r, bool is_key,
			    enum ab_scope_writes writes, const char *text,
			    size_t n)
{
	enum ab_scope_place place;

	if (is_lines(text, n)) {
		place = writes == AB_WRITES_PATCH ? AB_PLACE_PATH : place_of(r);
		if (writes != AB_WRITES_NOT && is_patched(l, text, n))
			return of_writer(writes, place == AB_PLACE_TEXT ?
							 place : AB_PLACE_PATH);
		/* a path only where nothing else is said */
		place = is_key ? AB_PLACE_PATH : place_of(r);
		if (place == AB_PLACE_TEXT || place == AB_PLACE_OTHER)
			return AGENTBOX_VERDICT_ALLOW;
	}
	/* path_resolution(7): nothing longer is one */
	if (n > MAX_PATH || !is_shared(l, text, n))
		return AGENTBOX_VERDICT_ALLOW;
	/* {"files": {".shared/bob/x": "..."}} */
	place = is_key ? AB_PLACE_PATH : place_of(r);
	if (writes != AB_WRITES_NOT)
		return of_writer(writes, place);
	return place == AB_PLACE_INTO ? AGENTBOX_VERDICT_ASK :
					AGENTBOX_VERDICT_ALLOW;
}
