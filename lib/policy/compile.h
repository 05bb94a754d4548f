/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the canonical tree to struct ab_policy. Internal to lib/policy. */
#ifndef AB_POLICY_COMPILE_H
#define AB_POLICY_COMPILE_H

#include "base/json.h"
#include "policy/policy.h"

/*
 * Everything that struct ab_policy points to and the tree does not own.
 * Zeroed before use; ab_policy_plain_end() frees it.
 */
typedef struct ab_policy_plain {
	ab_policy policy;
	void **blocks; /* owned memory */
	size_t block_count, block_room;
} ab_policy_plain;

/* Strings are borrowed from the tree, which must outlive `out`. */
int32_t ab_policy_compile(const json_t *tree, ab_policy_plain *out,
			  agentbox_error **err);
void ab_policy_plain_end(ab_policy_plain *plain);

/* builtin:code-that-runs-later; ends with a NULL pattern. */
extern const ab_policy_protect ab_code_that_runs_later[];

#endif
