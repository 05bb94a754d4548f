/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts that `trap` keeps: they run when the shell ends or a signal comes,
 * with what the variables and the directory are by then. So they are judged
 * where they are set, after each change to a directory that is not plainly
 * the worktree's, at `exit`, and at the end. One with a variable that nothing
 * has set yet is judged when something has, and for the end; where it would do
 * nothing without the variable, it is not judged before.
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
	struct ab_trap *next;
	struct ab_word text; /* in a subshell: what it sets is lost */
	uint32_t early, early_len; /* a name in it that nothing has set yet */
	uint32_t depth;
	bool is_sub;	     /* set in a subshell, and lost with it */
};

static bool is_name_byte(char ch, bool is_first)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       ch == '_' || (!is_first && ch >= '0' && ch <= '9');
}

/* The name of the variable that begins at that `$`, or none. */
static uint32_t name_at(const struct ab_word *w, uint32_t at, uint32_t *from)
{
	uint32_t n = 0;

	*from = at + 1;
	if (*from < w->len && w->text[*from] == '{')
		++*from;
	while (*from + n < w->len && is_name_byte(w->text[*from + n], !n))
		n++;
	return n;
}

/* On to the next variable in it that nothing has set so far. */
static void seek_early(struct ab_check *c, struct ab_trap *t)
{
	const struct ab_word *w = &t->text;
	uint32_t from, n;
	bool is_exported;

	for (uint32_t i = t->early + t->early_len; i + 1 < w->len; i++) {
		n = w->text[i] == '$' ? name_at(w, i, &from) : 0;
		if (n && !ab_shell_get(c->run, w->text + from, n,
				       &is_exported)) {
			t->early = from;
			t->early_len = n;
			return;
		}
	}
	t->early_len = 0;
}

/* Only the variable at hand is looked up: this is asked at each command. */
static bool is_early(struct ab_check *c, struct ab_trap *t)
{
	bool is_exported;

	if (t->early_len && ab_shell_get(c->run, t->text.text + t->early,
					 t->early_len, &is_exported))
		seek_early(c, t);
	return t->early_len;
}

/* The command up to there is one that does nothing to an empty word. */
static bool is_idle_command(const struct ab_word *w, uint32_t end)
{
	static const char *const idle[] = { "rm ", "rmdir ", "kill ", "[ ",
					    "[[ ", "test " };
	uint32_t at = end;

	while (at && !memchr(";&|\n({", w->text[at - 1], 6))
		at--;
	while (at < end && w->text[at] == ' ')
		at++;
	for (size_t i = 0; i < AB_ARRAY_LEN(idle); i++) {
		size_t n = strlen(idle[i]);

		if (end - at >= n && !memcmp(w->text + at, idle[i], n))
			return true;
	}
	return false;
}

/* `"$x"`, "${x:?}": a whole word, and not part of a path or its own default. */
static bool is_whole_word(const struct ab_word *w, uint32_t at)
{
	const char *s = w->text;
	uint32_t from, end = name_at(w, at, &from);
	bool is_quoted = at && s[at - 1] == '"';

	end += from;
	at -= is_quoted;
	if (s[from - 1] == '{') {
		if (end + 1 < w->len && s[end] == ':' && s[end + 1] == '?')
			end += 2;
		if (end == w->len || s[end++] != '}')
			return false;
	}
	if (is_quoted && (end == w->len || s[end++] != '"'))
		return false;
	return at && s[at - 1] == ' ' &&
	       (end == w->len || memchr(" \n;&|", s[end], 5)) &&
	       is_idle_command(w, at);
}

/*
 * Without its variables it would do nothing, so it can wait for them: a signal
 * may come, or `set -e` end the shell, before they are set. `rm -rf "$x"/a`
 * would not.
 */
static bool can_wait(const struct ab_word *w)
{
	uint32_t from;

	for (uint32_t i = 0; i < w->len; i++) {
		if (w->text[i] == '`' || w->text[i] == '\\' ||
		    (w->text[i] == '$' &&
		     (!name_at(w, i, &from) || !is_whole_word(w, i))))
			return false;
	}
	return !w->hole_count;
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

/* The same is kept already: a script may set it many times. */
static bool has_trap(const struct ab_check *c, const struct ab_word *w,
		     bool is_sub, uint32_t depth, uint32_t *count)
{
	for (const struct ab_trap *t = c->traps; t; t = t->next) {
		++*count;
		if (t->is_sub == is_sub && t->depth <= depth &&
		    !w->hole_count && !t->text.hole_count &&
		    t->text.len == w->len + 3 &&
		    !memcmp(t->text.text + 1, w->text, w->len))
			return true;
	}
	return false;
}

bool ab_trap_set(struct ab_check *c, const struct ab_word *w)
{
	bool is_sub = c->flags & (AB_SHELL_SUBSHELL | AB_SHELL_DEFINITION);
	uint32_t depth = c->command ? c->command->place.depth : 0, count = 0;
	struct ab_trap *trap;

	/* `trap '' INT` and `trap - INT` run nothing */
	if ((!w->len && !w->hole_count) || ab_word_equals(w, "-") ||
	    c->is_reading || c->is_probe || c->is_again ||
	    has_trap(c, w, is_sub, depth, &count))
		return false;
	trap = ab_arena_high(c->high, sizeof(*trap));
	if (count == MAX_TRAPS || !trap || !keep(c, w, &trap->text)) {
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, w);
		return false;
	}
	trap->next = c->traps;
	trap->depth = depth;
	trap->is_sub = is_sub;
	trap->early = trap->early_len = 0;
	seek_early(c, trap);
	c->traps = trap;
	return !is_sub && trap->early_len && can_wait(w);
}

/* It is a trap of the shell at hand. */
static bool is_own(const struct ab_check *c, const struct ab_trap *t,
		   uint32_t depth)
{
	bool is_sub = c->flags & (AB_SHELL_SUBSHELL | AB_SHELL_DEFINITION);

	return t->is_sub == is_sub && (!is_sub || depth >= t->depth);
}

void ab_traps_wake(struct ab_check *c)
{
	uint32_t depth = c->command ? c->command->place.depth : 0;

	for (struct ab_trap *t = c->traps; t; t = t->next) {
		if (t->early_len && is_own(c, t, depth) && !is_early(c, t))
			ab_check_script(c, &t->text, false, NULL, 0, "trap");
	}
}

void ab_traps_run(struct ab_check *c, bool is_end)
{
	uint32_t depth = c->command ? c->command->place.depth : 0;

	for (struct ab_trap *t = c->traps; t; t = t->next) {
		if (is_own(c, t, depth) && (!is_early(c, t) || is_end))
			ab_check_script(c, &t->text, false, NULL, 0, "trap");
	}
}
