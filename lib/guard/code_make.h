/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A makefile as the check reads it: what its names stand for (code_make.c),
 * and the text that make hands to the shell (code_make_text.c).
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

#endif
