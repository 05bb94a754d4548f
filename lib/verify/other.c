/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A second box beside the one that is tried, of the same owner and in the same
 * state directory: its process and its key are what "another box" means to the
 * probes. It shows no file of the host's own. Where the tried box has a gateway
 * it has one too, and no name is allowed there; where it has a workspace in
 * which names are watched, an empty one (appear.c).
 */
#include "config.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "gateway/gateway.h"
#include "verify/internal.h"

#define MOST_MS 10000 /* as long as a box is given that nobody waits for */

AB_DEFINE_AUTO(agentbox_sandbox_options, agentbox_sandbox_options_free)

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

/* Its workspace is empty and its own; the same names are protected in it. */
static int add_workspace(ab_verify_run *run, json_t *document)
{
	json_t *protect = (json_t *)(uintptr_t)ab_policy_section(
		ab_box_policy(run->box), "/protect");
	int r = protect ? ab_appear_lay(run) : -ENOENT;

	if (r)
		return r;
	return json_object_set_new(document, "workspace",
				   json_pack("{s:s,s:s}", "path", run->scratch,
					     "mount", "direct")) ||
			       json_object_set(document, "protect", protect)
		       ? -ENOMEM
		       : 0;
}

/* NULL: no memory. */
static agentbox_bytes *make_document(ab_verify_run *run, bool has_workspace)
{
	ab_auto(json_t) *o = json_pack("{s:i,s:s,s:s,s:[]}", "agentbox", 1,
				       "extends", "builtin:strict", "name",
				       "verify-other", "require");
	agentbox_bytes *text = NULL;
	int r = o ? 0 : -ENOMEM;

	if (!r && run->policy->network.mode == AB_NET_GATEWAY)
		r = json_object_set_new(o, "network",
					json_pack("{s:s,s:[]}", "mode",
						  "gateway", "allow"));
	/* without it the names are not to be tried: appear.c */
	if (!r && has_workspace && add_workspace(run, o) == -ENOMEM)
		r = -ENOMEM;
	return !r && ab_json_canonical(o, &text, NULL) == 0 ? text : NULL;
}

/* Who is asked for it waits for it: in time, or it is not to be had. */
static int32_t make_options(uint64_t deadline,
			    agentbox_sandbox_options **options)
{
	int64_t left = ab_clock_left_ms(deadline);
	int32_t rc = left > 0 ? agentbox_sandbox_options_new(options, NULL)
			      : AGENTBOX_ETIMEOUT;

	if (rc == 0 && left < MOST_MS)
		rc = agentbox_sandbox_options_set_timeout(
			*options, (uint32_t)left, NULL);
	return rc;
}

/* ENOMEM, or another error: it cannot be raised. */
static int32_t raise_one(ab_verify_run *run, bool has_workspace,
			 uint64_t deadline)
{
	ab_auto(agentbox_bytes) *text = make_document(run, has_workspace);
	ab_auto(agentbox_sandbox_options) *options = NULL;
	ab_auto(agentbox_policy) *policy = NULL;
	int32_t rc;

	if (!text)
		return AGENTBOX_ENOMEM;
	rc = agentbox_policy_parse(run->context, agentbox_bytes_get_data(text),
				   agentbox_bytes_get_size(text), &policy,
				   NULL);
	if (rc == 0)
		rc = make_options(deadline, &options);
	return rc ? rc
		  : agentbox_sandbox_new(run->context, policy, options,
					 &run->other, NULL);
}

int32_t ab_other_raise(ab_verify_run *run, uint64_t deadline,
		       agentbox_error **err)
{
	bool has_workspace = ab_appear_is_wanted(run);
	ab_box_walls walls;
	int32_t rc = raise_one(run, has_workspace, deadline);

	/* the other probes need no workspace: they are to be tried */
	if (rc && rc != AGENTBOX_ENOMEM && has_workspace) {
		ab_appear_end(run);
		rc = raise_one(run, false, deadline);
	}
	if (rc == AGENTBOX_ENOMEM || set_key(run, "key", run->box))
		return ab_error_nomem(err);
	if (rc) {
		ab_bait_set_why(&run->bait, "other", no_other);
		ab_bait_set_why(&run->bait, "other-key", no_other);
		return 0;
	}
	memcpy(run->other_id, agentbox_sandbox_get_id(run->other),
	       sizeof(run->other_id));
	ab_box_walls_of(run->other, &walls);
	if (ab_bait_set_process(&run->bait, "other", "other-started",
				walls.holder) ||
	    set_key(run, "other-key", run->other))
		return ab_error_nomem(err);
	return 0;
}
