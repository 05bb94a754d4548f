/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of agentbox_policy. Internal to lib/policy. */
#ifndef AB_POLICY_HANDLE_H
#define AB_POLICY_HANDLE_H

#include <stdatomic.h>

#include "base/bytes.h"
#include "base/context.h"
#include "base/json.h"
#include "policy/compile.h"
#include "policy/policy.h"

struct agentbox_policy {
	atomic_uint references;
	agentbox_context *context; /* owned reference */
	json_t *tree;		   /* owned; canonical, never changed */
	agentbox_bytes *text;	   /* owned; the canonical dump */
	char digest[AB_DIGEST_SIZE];
	ab_policy_plain plain;
	_Atomic(void *) cache;
	void (*cache_end)(void *value);
};

/*
 * A handle from a merged tree, which is taken on success: settles, checks
 * the whole, compiles, dumps. `index` gives positions where it can.
 */
int32_t ab_policy_make(agentbox_context *context, json_t **tree,
		       const ab_json_index *index, agentbox_policy **out,
		       agentbox_error **err);

#endif
