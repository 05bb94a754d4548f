/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What programs print of a text that is known: prints.c, prints_sed.c. */
#ifndef AB_GUARD_PRINTS_H
#define AB_GUARD_PRINTS_H

#include "guard/check.h"

#define AB_MAX_PRINTED 4096 /* bytes that are followed through a program */

/* Exactly that; in: its stdin, or NULL. In scratch. */
bool ab_prints(struct ab_check *c, const struct ab_word *argv, uint32_t argc,
	       const struct ab_word *in, struct ab_word *out);
/* Of a filter that is not followed: what it reads, and what nobody knows. */
bool ab_prints_of(struct ab_check *c, const struct ab_word *argv, uint32_t argc,
		  const struct ab_word *in, struct ab_word *out);
/* What is done to texts in one check is paid for; false: no more of it. */
bool ab_print_pay(struct ab_check *c, uint32_t bytes);
/* More follows, which nobody knows. */
bool ab_print_more(struct ab_check *c, uint32_t taint, struct ab_word *text);

/* --- prints_sed.c --- */
#define AB_SED_TEXTS 4

struct ab_sed {
	const struct ab_word *texts[AB_SED_TEXTS]; /* in order */
	uint32_t count;
	bool is_quiet, is_extended, has_e;
	bool is_odd, is_ended; /* there is more to it; no more options */
};

/* The word is of the program or its options; false: it is a file. */
bool ab_sed_word(struct ab_sed *sed, const struct ab_word *argv, uint32_t argc,
		 uint32_t *i);
/* What becomes of the text; false: nobody knows. */
bool ab_sed_edit(struct ab_check *c, const struct ab_sed *sed,
		 struct ab_word *text);
/* sed -i: the files that the text wrote hold something else now. text: one of
   those that it is given, of which the first does it. */
void ab_sed_in_place(struct ab_check *c, const struct ab_use *use,
		     const struct ab_word *text);

#endif
