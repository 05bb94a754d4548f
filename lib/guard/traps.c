/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts that `trap` keeps: they run when the shell ends or a signal comes,
 * with what the variables and the directory are by then. So they are judged
 * where they are set, after each change to a directory that is not plainly
 * the worktree's, at `exit`, and at the end. One with a variable that nothing
 * has set yet waits until something has, or for the end.
 *
 * What refuses to be known: at which command a signal comes, and where a
 * command fails under `set -e`.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "guard/command.h"

#define MAX_TRAPS 16

struct ab_trap {
	const struct ab_trap *next;
	struct ab_word text; /* in a subshell: what it sets is lost */
	uint32_t depth;
	bool is_sub;	     /* set in a subshell, and lost with it */
};

static bool is_name_byte(char ch, bool is_first)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       ch == '_' || (!is_first && ch >= '0' && ch <= '9');
}

/* A variable in it was set by nothing so far. */
static bool is_early(struct ab_check *c, const struct ab_word *w)
{
	const char *s = w->text;
	bool is_exported;

	for (uint32_t i = 0; i + 1 < w->len; i++) {
		uint32_t from = i + 1, n = 0;

		if (s[i] != '$')
			continue;
		from += s[from] == '{';
		while (from + n < w->len && is_name_byte(s[from + n], !n))
			n++;
		if (n && !ab_shell_get(c->run, s + from, n, &is_exported))
			return true;
	}
	return false;
}

/* `(TEXT)`, where it stays. */
static bool keep(struct ab_check *c, const struct ab_word *w,
		 struct ab_word *out)
{
	char *text = ab_arena_high(c->high, (size_t)w->len + 4);
	struct ab_hole *holes = ab_arena_high(
		c->high, (size_t)(w->hole_count + 1) * sizeof(*holes));

	if (!text || !holes)
		return false;
	*text = '(';
	memcpy(text + 1, w->text, w->len);
	memcpy(text + 1 + w->len, "\n)", 3);
	for (uint32_t i = 0; i < w->hole_count; i++) {
		holes[i] = w->holes[i];
		holes[i].at++;
	}
	*out = (struct ab_word){ .text = text, .len = w->len + 3,
				 .holes = holes, .hole_count = w->hole_count,
				 .span = w->span };
	return true;
}

bool ab_trap_set(struct ab_check *c, const struct ab_word *w)
{
	bool is_sub = c->flags & (AB_SHELL_SUBSHELL | AB_SHELL_DEFINITION);
	struct ab_trap *trap;
	uint32_t count = 0;

	/* `trap '' INT` and `trap - INT` run nothing */
	if ((w->len < 2 && !w->hole_count) || c->is_reading || c->is_probe ||
	    c->is_again)
		return false;
	for (const struct ab_trap *t = c->traps; t; t = t->next)
		count++;
	trap = ab_arena_high(c->high, sizeof(*trap));
	if (count == MAX_TRAPS || !trap || !keep(c, w, &trap->text)) {
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, w);
		return false;
	}
	trap->next = c->traps;
	trap->depth = c->command ? c->command->place.depth : 0;
	trap->is_sub = is_sub;
	c->traps = trap;
	return !is_sub && is_early(c, w);
}

/* It is a trap of the shell at hand. */
static bool is_own(const struct ab_check *c, const struct ab_trap *t,
		   uint32_t depth)
{
	bool is_sub = c->flags & (AB_SHELL_SUBSHELL | AB_SHELL_DEFINITION);

	return t->is_sub == is_sub && (!is_sub || depth >= t->depth);
}

void ab_traps_run(struct ab_check *c, bool is_end)
{
	uint32_t depth = c->command ? c->command->place.depth : 0;

	for (const struct ab_trap *t = c->traps; t; t = t->next) {
		if (is_own(c, t, depth) && (is_end || !is_early(c, &t->text)))
			ab_check_script(c, &t->text, false, NULL, 0, "trap");
	}
}
