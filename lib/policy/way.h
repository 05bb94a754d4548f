/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a walk through a document is, so that every refusal says which key
 * it is about, at which line and column where the text is at hand.
 */
#ifndef AB_POLICY_WAY_H
#define AB_POLICY_WAY_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/json.h"

/* Deeper steps are counted, but not named. */
#define AB_MAX_WAY 8

/* A key, or the number of an element. */
typedef struct ab_step {
	const char *key;
	size_t number;
} ab_step;

typedef struct ab_way {
	const ab_json_index *index; /* borrowed; NULL: no positions */
	agentbox_error **err;
	ab_step steps[AB_MAX_WAY];
	size_t depth;
} ab_way;

void ab_way_key(ab_way *w, const char *key);
void ab_way_number(ab_way *w, size_t number);
void ab_way_leave(ab_way *w);

/* The error, with where it is; returns `code`. */
int32_t ab_way_fail(ab_way *w, int32_t code, const char *fmt, ...)
	AB_PRINTF(3, 4);
/* The code of what went wrong, never 0: a refusal without words refuses too. */
int32_t ab_way_failed(const ab_way *w);

#endif
