/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which rules of names.c have a name's form as their last component. An
 * index built once per filter: exact names and suffixes by hash, the few
 * real globs by their first or last byte, so that a name costs a handful of
 * look-ups however many rules there are.
 */
#ifndef AB_SNAPSHOT_MATCH_H
#define AB_SNAPSHOT_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "snapshot/names.h"

typedef struct ab_match ab_match;

/* NULL: no memory. */
ab_match *ab_match_new(void);
void ab_match_free(ab_match *match);

/*
 * Every rule whose last component matches is told to `hit`; the directories
 * above, the kind and `when` are the callee's.
 */
void ab_match_form(const ab_match *match, const char *form, size_t n,
		   void (*hit)(void *data, const struct ab_name_rule *rule),
		   void *data);

/* The last component of a pattern, without a slash at its end. */
const char *ab_match_last(const char *pattern, size_t *n);

#endif
