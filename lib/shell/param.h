/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ${...} in three files: param.c finds what is expanded, param_default.c says
 * what it likely is when nobody knows, param_edit.c cuts and changes it. Nobody
 * else includes this.
 */
#ifndef AB_SHELL_PARAM_H
#define AB_SHELL_PARAM_H

#include "shell/state.h"

/* One expansion while it is worked on. */
struct expansion {
	struct ab_shell_run *run;
	const struct param *param;
	struct segments *list;
	struct ab_span span;
	uint32_t flags; /* SEGMENT_QUOTED or SEGMENT_SPLIT */
	const char *name; /* NUL-terminated */
	const struct value *value;
	const struct ab_word *word; /* the scalar it is, or NULL */
	bool is_all;		    /* $@ or a[@] */
	char all;		    /* '@' or '*' */
	bool is_here;		    /* in a here-document */
	bool is_given; /* by the text, and not known */
	bool is_whole; /* what is not known of it was left as it is */
};

/* To the expansion's list, quoted as it is. */
static inline void ab_param_add_word(struct expansion *e,
				     const struct ab_word *word)
{
	ab_segments_add_word(e->run, e->list, word, e->flags);
}

static inline void ab_param_add_bytes(struct expansion *e, const char *text,
				      uint32_t len)
{
	ab_segments_add(e->run, e->list, text, len, e->span, e->flags);
}

/* Segments of an argument as one word; text is never NULL. */
void ab_param_argument(struct expansion *e, struct segment *list,
		       enum expand_mode mode, struct ab_word *out);

/* The text gave it a value, if not one that is known. */
bool ab_param_is_given(const struct expansion *e);
/* The argument is what it is when the parameter is unset, as far as anyone
 * knows: the first of its parts in the list. NULL: no room, and the run ends
 * with LIMIT. */
struct segment *ab_param_likely(struct expansion *e, struct segment *args);
/* ${x:=y}: from then on it is likely y, which that is the first part of. */
void ab_param_assign_likely(struct expansion *e, struct segment *s);

/*
 * # % / ^ , @ of a word that is known, as far as it is, and
 * ${x:offset:length}. False: it is not decided, and nothing was added.
 */
bool ab_param_edit(struct expansion *e, struct segment *args);
/* The same of each word of its value; NULL: it is not decided. */
struct ab_word *ab_param_edit_words(struct expansion *e,
				    struct segment *args);
bool ab_param_slice(struct expansion *e, struct segment *args);
/* ${@:offset:length} and that of an array: its value becomes the words of it.
 * False: it is not decided. */
bool ab_param_slice_all(struct expansion *e, struct segment *args);

#endif
