/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rules a guard goes by: the built-in pack, the packs that a host and a
 * project brought, and what the policy says under commands and git, put into
 * one table when the guard is made.
 */
#ifndef AB_GUARD_RULES_H
#define AB_GUARD_RULES_H

#include <stdbool.h>

#include "agentbox/guard.h"
#include "base/attr.h"
#include "guard/pack.h"

AB_DEFINE_AUTO(agentbox_rules, agentbox_rules_free)

struct ab_guard_rules {
	struct ab_pack *pack; /* owned */
	bool is_strict, is_git_strict;
};

/*
 * `rules` may be NULL. EPOLICY or EPARSE with the place of a rule that says
 * nothing that can be understood; ELIMIT, ENOMEM.
 */
int32_t ab_guard_rules_init(struct ab_guard_rules *out,
			    const agentbox_policy *policy,
			    const agentbox_rules *rules,
			    agentbox_error **err);
void ab_guard_rules_end(struct ab_guard_rules *rules);

#endif
