/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A second box beside the one that is tried, of the same owner and in the same
 * state directory: its process and its key are what "another box" means to the
 * probes. It shows no file of the host's own and runs nothing. Where the tried
 * box has a gateway it has one too, and no name is allowed there.
 */
#include "config.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "gateway/gateway.h"
#include "verify/internal.h"

#define DOCUMENT \
	"{\"agentbox\":1,\"extends\":\"builtin:strict\"," \
	"\"name\":\"verify-other\",\"require\":[]"
#define WITH_GATEWAY ",\"network\":{\"mode\":\"gateway\",\"allow\":[]}}"

static const char no_other[] = "no second box can be raised";

/* The key in "http_proxy=http://agentbox:KEY@..."; owned, or NULL. */
static char *key_of(const agentbox_sandbox *box)
{
	static const char before[] = "http_proxy=http://agentbox:";
	const agentbox_gateway *gateway = agentbox_sandbox_get_gateway(box);
	char *const *env = gateway ? ab_gateway_environment(gateway) : NULL;

	for (; env && *env; env++) {
		const char *key = *env + strlen(before);

		if (strncmp(*env, before, strlen(before)) == 0)
			return ab_memdup0(key, strcspn(key, "@"));
	}
	return NULL;
}

/* Of a box with a gateway; 0 or -ENOMEM. */
static int set_key(ab_verify_run *run, const char *name,
		   const agentbox_sandbox *box)
{
	return agentbox_sandbox_get_gateway(box)
		       ? ab_bait_set(&run->bait, name, key_of(box))
		       : 0;
}

int32_t ab_other_raise(ab_verify_run *run, agentbox_error **err)
{
	const char *text = run->policy->network.mode == AB_NET_GATEWAY
				   ? DOCUMENT WITH_GATEWAY
				   : DOCUMENT "}";
	ab_auto(agentbox_policy) *policy = NULL;
	ab_box_walls walls;
	int32_t rc = agentbox_policy_parse(run->context, text, strlen(text),
					   &policy, NULL);

	if (set_key(run, "key", run->box))
		return ab_error_nomem(err);
	if (rc == 0)
		rc = agentbox_sandbox_new(run->context, policy, NULL,
					  &run->other, NULL);
	if (rc == AGENTBOX_ENOMEM)
		return ab_error_nomem(err);
	if (rc) {
		ab_bait_set_why(&run->bait, "other", no_other);
		ab_bait_set_why(&run->bait, "other-key", no_other);
		return 0;
	}
	ab_box_walls_of(run->other, &walls);
	if (ab_bait_set_process(&run->bait, "other", "other-started",
				walls.holder) ||
	    set_key(run, "other-key", run->other))
		return ab_error_nomem(err);
	return 0;
}
