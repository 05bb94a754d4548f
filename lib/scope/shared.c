/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls that would write to what a peer shares. The mount is read-only, so
 * nothing is written; who asks is told before, and whoever approves sees it.
 * A path counts under any key but those that say that it is read or is text,
 * since tools call the place where they write as they like: `to`, `uri`,
 * `edits[].p`. What a command line says is not judged here but by the guard.
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

int32_t ab_scope_judge_path(struct ab_scope_look *l,
			    const struct ab_scope_reader *r, bool is_key,
			    enum ab_scope_writes writes, const char *text,
			    size_t n)
{
	enum ab_scope_place place;

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
