/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A makefile as the check reads it: its lines (code_make_line.c), what its
 * names stand for (code_make_names.c), the text that make hands to the shell
 * (code_make_text.c), and what of that runs (code_make.c).
 */
#ifndef AB_GUARD_CODE_MAKE_H
#define AB_GUARD_CODE_MAKE_H

#include "guard/check.h"

#define AB_MAKE_NAMES 64
#define AB_MAKE_VALUES 4 /* of a name, as conditions leave it */
#define AB_MAKE_DEPTH 8	 /* a name in the value of a name, ... */
#define AB_MAKE_HOLES 256 /* of one line */
#define AB_MAKE_FILES 32 /* that makefiles of the text include */

/* Not expanded; text NULL: what it is where nobody sets it. */
struct ab_make_value {
	const char *text;
	uint32_t len;
	uint32_t room; /* of own, which grows */
	uint32_t now;  /* expanded where it stands, from 1; 0: where used */
	char *own;
};

struct ab_make_name {
	const char *name; /* in the text */
	uint32_t len;
	uint32_t count;	 /* of values; 0: nobody sets it */
	uint32_t branch; /* of the condition that gave the first; 0: none */
	uint32_t last;	 /* where the text set it last, from 1; 0: nowhere */
	bool is_given;	 /* on the command line: the text cannot change it */
	bool is_unknown; /* or has more values than there is room for */
	struct ab_make_value values[AB_MAKE_VALUES];
};

struct ab_make {
	struct ab_check *c;
	const struct ab_use *use;
	const struct ab_word *text;
	struct ab_make_name names[AB_MAKE_NAMES];
	uint32_t count;
	bool is_full;	   /* a name found no room: any other may be set */
	bool is_open;	   /* names are set where that is not read: $(eval) */
	bool is_one_shell; /* .ONESHELL: the lines of a recipe are one text */
	bool is_exported;  /* all names, and they were judged */
	bool is_turned;	   /* make -e: what stands around make comes first */
	char prefix;	   /* of a line of a recipe */
	uint32_t limit;	   /* names that are set behind it are not known */
	uint32_t latest;   /* where one that was expanded is set */
	/* the rule whose recipe is read */
	struct ab_make_value targets, needs;
	/* Bytes that all makefiles of the check may put. A text that multiplies
	   what it has (A = $(B)$(B)) gets no further. */
	size_t room;
	/* Of the names with several values in a line one is gone through:
	   which, its value, and how many there are. */
	const struct ab_make_name *chosen;
	uint32_t round, rounds;
};

/* What stands for `text` in a shell: holes where nobody knows. false: out of
   memory or room. */
bool ab_make_expand(struct ab_make *m, const struct ab_word *text,
		    struct ab_word *out);
struct ab_make_name *ab_make_find(struct ab_make *m, const char *name,
				  uint32_t len);
/* The text, or what stands around make, gives the name a value. */
bool ab_make_is_outside(const struct ab_make *m, const char *name,
			uint32_t len);
/* That much of the room is taken; false: it is not left. */
bool ab_make_take(struct ab_make *m, size_t size);
/* make knows the name itself; NULL: it does not. */
const char *ab_make_default(const char *name, uint32_t len);

/* --- code_make_line.c --- */
/* The line at *at, with those that a backslash joins; *at is behind it. */
bool ab_make_next_line(struct ab_make *m, uint32_t *at, struct ab_word *line);
/* Lines that a backslash joins are one to make, with a blank between them. */
bool ab_make_join_lines(struct ab_make *m, struct ab_word *w);
bool ab_make_is_recipe(const struct ab_make *m, const struct ab_word *line);
bool ab_make_has_target(const struct ab_word *line, const char *name);
/* The word stands at `at`. */
bool ab_make_begins(const struct ab_word *line, uint32_t at, const char *word);
/* 1: a define in another begins, UINT32_MAX: one ends. */
uint32_t ab_make_opens(const struct ab_word *line);
uint32_t ab_make_skip_blanks(const char *s, uint32_t at, uint32_t len);
/* Behind override, export and private in front of a name. */
uint32_t ab_make_skip_words(const char *s, uint32_t at, uint32_t len);
/* What stands between a name and its value, from s on: =, :=, ?=, += or !=;
   its length, or 0. */
uint32_t ab_make_sign_at(const char *s, uint32_t len, char *sign);
/* Where the comment of a line begins, which a backslash takes back. */
uint32_t ab_make_comment_at(const char *s, uint32_t at, uint32_t len);

/* --- code_make_names.c --- */
void ab_make_read_names(struct ab_make *m);
/* make NAME=VALUE */
void ab_make_read_given(struct ab_make *m);
/* .RECIPEPREFIX = >: of the lines behind it. */
void ab_make_read_prefix(struct ab_make *m, const struct ab_word *line);
/* Where a text stands in the makefile, counted from 1. */
uint32_t ab_make_place_of(const struct ab_make *m, const char *at);

#endif
