/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Characters that stand for ASCII: what NFKC and case folding make of them
 * (UAX 15), what nobody sees, and the letters below the accents of Latin.
 * Pure; libc only.
 */
#ifndef AB_BASE_FOLD_H
#define AB_BASE_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seen by nobody: format characters, fillers, variation selectors. */
bool ab_fold_is_invisible(uint32_t c);
/* An accent that stands on the character before it. */
bool ab_fold_is_mark(uint32_t c);
/* The letter below the accent, in lower case, or 0. */
char ab_fold_base(uint32_t c);
/* One character that is ASCII to the eye, in lower case; 0: it is not. */
char ab_fold_char(uint32_t c);
/* Several such characters; NULL: it is not. Static. */
const char *ab_fold_string(uint32_t c);

struct ab_fold_run {
	uint32_t first, last;
	char ascii; /* of the first; the next ones follow */
};
struct ab_fold_text {
	uint32_t c;
	char ascii[8];
};
extern const struct ab_fold_run ab_fold_runs[];
extern const size_t ab_fold_run_count;
extern const struct ab_fold_text ab_fold_texts[];
extern const size_t ab_fold_text_count;
extern const char ab_fold_latin[];	/* U+00C0 to U+024F, '-': none */
extern const char ab_fold_latin_more[]; /* U+1E00 to U+1EFF */

#endif
