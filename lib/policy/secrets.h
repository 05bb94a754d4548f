/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The secrets of a policy that its box may ask its broker for, in plain form,
 * with what defaults say written out. Spec: agentbox-policy(5), wire/broker.h.
 */
#ifndef AB_POLICY_SECRETS_H
#define AB_POLICY_SECRETS_H

#include <stdint.h>

#include "policy/policy.h"
#include "wire/broker.h"

/*
 * Those with more than "inject" in their `delivery`, sorted by name; strings are
 * borrowed from the policy, the ids are the caller's to set. count 0: the box
 * has no broker. ELIMIT names the bound, ENOMEM. ab_wire_broker_end() ends it.
 */
int32_t ab_policy_broker_init(const agentbox_policy *policy,
			      ab_wire_broker *out, agentbox_error **err);

#endif
