/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A word as a command would receive it: what the shell parser hands to the
 * guards, and what they make of an argv that was given directly.
 *
 * A word is bytes of which stretches may be uncertain. Those are *holes*,
 * sorted by position and never overlapping. Bytes outside a hole are exactly
 * what the command gets. A guard that decides on a word must decide for every
 * value the holes can take: a word with a hole equals no literal.
 *
 * Everything here is borrowed from the arena of the check that made it.
 */
#ifndef AB_SHELL_WORD_H
#define AB_SHELL_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_hole_kind {
	/* any bytes, also none: "$X", "$(command)"; the hole has length 0 */
	AB_HOLE_BYTES = 1,
	/* the same unquoted: may also end this word and begin others, or
	 * leave no word at all */
	AB_HOLE_FIELDS,
	/* the bytes of the hole are a pathname pattern (`*`, `?`, `[a-z]`,
	 * `@(a|b)`): the names it matches, or itself when it matches none */
	AB_HOLE_PATTERN,
	/* the bytes of the hole stand for the home directory of the user (`~`,
	 * $HOME) or, as `~name`, of another; when home is known they are it */
	AB_HOLE_HOME
};

/* Bytes begin..end-1 of the text that was given to the check. */
struct ab_span {
	uint32_t begin, end;
};

struct ab_hole {
	uint32_t at, len; /* in ab_word.text */
	enum ab_hole_kind kind;
	struct ab_span span;
	const char *name; /* of the variable, NUL-terminated; or NULL */
};

struct ab_word {
	const char *text; /* decoded; not NUL-terminated; may hold any byte */
	uint32_t len;
	uint32_t hole_count;
	const struct ab_hole *holes;
	struct ab_span span;	    /* of the whole word */
	const struct ab_span *map;  /* where byte i of text came from: `len`
				     * entries; NULL: span of the whole word,
				     * or begin + i when span is as long */
	bool is_quoted;		    /* some part of it was quoted */
};

/* No holes: the command gets exactly these bytes. */
static inline bool ab_word_is_exact(const struct ab_word *w)
{
	return w->hole_count == 0;
}

#endif
