/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A word as a command would receive it: what the shell parser hands to the
 * guards, and what they make of an argv that was given directly.
 *
 * A word is bytes of which stretches may be uncertain. Those are *holes*,
 * sorted by position and never overlapping. Bytes outside a hole are exactly
 * what the command gets. A guard that decides on a word must decide for every
 * value the holes can take: a word with a hole equals no literal. The text
 * with the holes' own bytes in it is the likeliest reading (an unset variable
 * is empty), which a guard may judge as well, never instead.
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
	AB_HOLE_HOME,
	/* any bytes, but the bytes of the hole are the likely ones: `rm` in
	 * ${UNKNOWN:-rm} and in $(which rm) */
	AB_HOLE_LIKELY,
	/* the bytes of the hole are the name of an end of a process
	 * substitution, /dev/fd/63; origin says of which */
	AB_HOLE_PROC
};

/* A variable may have other bytes besides those of its origin, but for what is
 * just read: any of them, a word or a line, or from where a line begins. */
enum ab_hole_part {
	AB_PART_UNKNOWN,
	AB_PART_BYTES,
	AB_PART_WORD,
	AB_PART_LINE
};

/* Bytes begin..end-1 of the text that was given to the check. */
struct ab_span {
	uint32_t begin, end;
};

struct ab_stream; /* shell/shell.h */

struct ab_hole {
	uint32_t at, len; /* in ab_word.text */
	enum ab_hole_kind kind;
	struct ab_span span;
	const char *name; /* of the variable, NUL-terminated; or NULL */
	struct ab_stream *origin; /* whose bytes these are; or NULL */
	bool is_checked; /* BYTES, FIELDS: of ${x:?}, so never empty */
	bool is_test; /* nothing of the variable: ${x:+y}, ${#x} */
	bool is_cut;  /* not all of it, or other bytes: ${x%y}, ${x/y/z} */
	bool may_vanish; /* ${x:+y} without quotes: there may be no word */
	uint8_t part; /* enum ab_hole_part: what it is of its origin */
	const void *one_of; /* the values it may be, as the shell has them */
};

/* Where the bytes from `at` up to the next entry's `at` came from: one to one
 * when span is as long as they are, else each from all of span. */
struct ab_map {
	uint32_t at;
	struct ab_span span;
};

struct ab_word {
	const char *text; /* decoded; not NUL-terminated; may hold any byte */
	uint32_t len;
	uint32_t hole_count;
	const struct ab_hole *holes;
	struct ab_span span; /* of the whole word */
	/* map_count entries, the first with at 0; none: like one entry with
	 * the span of the whole word */
	const struct ab_map *map;
	uint32_t map_count;
	bool is_quoted; /* some part of it was quoted */
};

/* No holes: the command gets exactly these bytes. */
static inline bool ab_word_is_exact(const struct ab_word *w)
{
	return w->hole_count == 0;
}

/* The last entry of the map that begins at or before `at`; 0 without a map. */
uint32_t ab_word_entry(const struct ab_word *w, uint32_t at);
/*
 * Where text[at .. at+len-1] came from: from the start of the first byte's
 * stretch to the end of the last one's. len 0 is the place before text[at].
 */
struct ab_span ab_word_mapped_span(const struct ab_word *w, uint32_t at,
				   uint32_t len);

/* Most words stand in the text as they are. */
static inline struct ab_span ab_word_span(const struct ab_word *w, uint32_t at,
					  uint32_t len)
{
	uint32_t begin = w->span.begin + at;

	if (w->map_count || w->span.end - w->span.begin != w->len || !len ||
	    at >= w->len || len > w->len - at)
		return ab_word_mapped_span(w, at, len);
	return (struct ab_span){ begin, begin + len };
}

#endif
