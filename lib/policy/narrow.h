/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of one comparison of a child with its parent, shared by the
 * files that hold the rules. narrow and contains are the same walk: contains
 * stops where narrow would cut. Internal to lib/policy.
 */
#ifndef AB_POLICY_NARROW_H
#define AB_POLICY_NARROW_H

#include <stdbool.h>

#include "policy/handle.h"
#include "policy/tree.h"

#define AB_NARROW_POINTER 256

typedef struct ab_narrow {
	const agentbox_policy *parent;
	const agentbox_policy *child;
	bool strict; /* contains: a cut is an error */
	agentbox_error **err;
	char pointer[AB_NARROW_POINTER]; /* of the child's value at hand */
	json_t *out;		/* the whole result, as far as it is made */
	const json_t *parent_object; /* the object the field is in */
} ab_narrow;

/*
 * The child asks for more. 0 when the walk goes on with less, EDENIED when
 * it is strict. The arguments say what the child asks and what the parent
 * holds.
 */
int32_t ab_narrow_cut(ab_narrow *n, const char *asks, const char *holds);

/* Append "/key" or "/3" to the pointer; the result restores it. */
size_t ab_narrow_enter(ab_narrow *n, const char *key);
size_t ab_narrow_enter_number(ab_narrow *n, size_t number);
void ab_narrow_leave(ab_narrow *n, size_t saved);

/* Compact JSON of a value, cut to fit, for messages. */
#define AB_NARROW_TEXT 160
void ab_narrow_text(const json_t *v, char out[AB_NARROW_TEXT]);

/*
 * Rules: parent's value p and child's value c (each NULL when absent) to
 * *out, owned, NULL for absent.
 */
int32_t ab_narrow_object(ab_narrow *n, const ab_field *table, const json_t *p,
			 const json_t *c, json_t **out);
int32_t ab_narrow_lists(ab_narrow *n, const ab_field *f, const json_t *p,
			const json_t *c, json_t **out);
int32_t ab_narrow_records(ab_narrow *n, const ab_field *f, const json_t *p,
			  const json_t *c, json_t **out);
int32_t ab_narrow_mounts(ab_narrow *n, const json_t *p, const json_t *c,
			 json_t **out);

/*
 * When all is narrowed: hosts that the parent reaches by its routes and its
 * servers of tools alone. What of them the child has no more is denied to it,
 * in n->out, or what keeps the parent from them would not keep the child.
 */
int32_t ab_narrow_routed(ab_narrow *n);

#endif
