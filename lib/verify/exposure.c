/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How exposed a box is, as a sum of named parts: what its policy opens, what
 * is soft or missing. The points are a rule of thumb for comparing boxes and
 * policies; each part says for itself why it is there. 0 is a box that shows
 * nothing, writes nowhere, has no network, and whose every limit is hard.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "verify/internal.h"

#define POINTS_BARE 200
#define POINTS_TIER_LANDLOCK 60
#define POINTS_TIER_NO_PROC 10
#define POINTS_NO_LANDLOCK 10
#define POINTS_NET_HOST 100
#define POINTS_NET_ANY 40
#define POINTS_NET_ENTRY 2
#define POINTS_PRIVATE_ENTRY 10
#define POINTS_ROUTE 2
#define POINTS_WRITE_TREE 5
#define POINTS_READ_TREE 1
#define POINTS_SYSCALL 5
#define POINTS_SOFT_LIMIT 3
#define POINTS_NO_LIMIT 5
#define POINTS_GROUPS 15
#define POINTS_SOCKET 20
#define POINTS_MISSING 50
#define POINTS_UNKNOWN 25

static int add(ab_verify_run *run, const char *part, size_t times,
	       uint32_t each, const char *why)
{
	uint32_t points = times > UINT16_MAX ? UINT16_MAX * each
					     : (uint32_t)times * each;

	if (!points)
		return 0;
	if (json_array_append_new(
		    run->report->exposure,
		    json_pack("{s:s,s:I,s:s}", "part", part, "points",
			      (json_int_t)points, "why", why)))
		return -ENOMEM;
	run->report->exposure_sum += points;
	return 0;
}

static int add_tier(ab_verify_run *run)
{
	switch (run->walls.tier) {
	case AB_TIER_FULL:
		return 0;
	case AB_TIER_NO_PROC:
		return add(run, "tier", 1, POINTS_TIER_NO_PROC,
			   "no /proc of the box's own");
	case AB_TIER_LANDLOCK:
		return add(run, "tier", 1, POINTS_TIER_LANDLOCK,
			   "no namespaces: Landlock and seccomp alone");
	}
	return add(run, "tier", 1, POINTS_BARE, "bare: no wall at all");
}

static bool has_any(const ab_policy_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (!strcmp(list->items[i], "*"))
			return true;
	}
	return false;
}

static int add_network(ab_verify_run *run)
{
	const ab_policy_network *n = &run->policy->network;
	const json_t *routes =
		(const json_t *)ab_policy_section(
			ab_box_policy(run->box), "/routes");
	int r;

	if (run->walls.tier == AB_TIER_BARE || n->mode == AB_NET_NONE)
		return 0;
	if (n->mode == AB_NET_HOST)
		return add(run, "network", 1, POINTS_NET_HOST,
			   "the host's network, every service it can reach");
	r = add(run, "network.allow", has_any(&n->allow) ? 1 : n->allow.count,
		has_any(&n->allow) ? POINTS_NET_ANY : POINTS_NET_ENTRY,
		has_any(&n->allow) ? "any public host may be reached"
				   : "for each entry of network.allow");
	if (r == 0)
		r = add(run, "network.private", n->private_.count,
			POINTS_PRIVATE_ENTRY,
			"for each private range that is opened");
	return r ? r
		 : add(run, "routes", json_array_size(routes), POINTS_ROUTE,
		       "for each service that a credential is lent for");
}

static int add_files(ab_verify_run *run)
{
	const json_t *mounts = json_object_get(run->plan, "mounts");
	size_t writes = 0, reads = 0;
	int r;

	for (size_t i = 0; i < json_array_size(mounts); i++) {
		const json_t *m = json_array_get(mounts, i);
		const char *kind =
			json_string_value(json_object_get(m, "kind"));
		const char *access =
			json_string_value(json_object_get(m, "access"));

		if (!kind || !access || strcmp(kind, "bind") != 0)
			continue;
		if (!strcmp(access, "write"))
			writes++;
		else
			reads++;
	}
	r = add(run, "files.write", writes, POINTS_WRITE_TREE,
		"for each tree of the host that the box writes to");
	return r ? r
		 : add(run, "files.read", reads, POINTS_READ_TREE,
		       "for each tree of the host that the box reads");
}

static int add_limits(ab_verify_run *run)
{
	const json_t *all = run->walls.limits;
	size_t soft = 0, none = 0;
	const char *name;
	json_t *l;
	int r;

	json_object_foreach((json_t *)(uintptr_t)all, name, l) {
		const char *mechanism = json_string_value(
			json_object_get(l, "mechanism"));

		if (!json_is_integer(json_object_get(l, "requested")) ||
		    !mechanism || !strcmp(mechanism, "none"))
			none++;
		else if (!json_is_true(json_object_get(l, "hard")))
			soft++;
	}
	r = add(run, "limits.soft", soft, POINTS_SOFT_LIMIT,
		"for each limit that can be passed for a while or in part");
	return r ? r
		 : add(run, "limits.none", none, POINTS_NO_LIMIT,
		       "for each resource that nothing limits");
}

static int add_findings(ab_verify_run *run)
{
	const agentbox_verify *report = run->report;
	size_t missing = 0, unknown = 0, groups = 0, sockets = 0;
	int r;

	for (size_t i = 0; i < report->count; i++) {
		const ab_finding *f = &report->findings[i];

		missing += f->verdict == AB_VERDICT_MISSING;
		unknown += f->verdict == AB_VERDICT_UNKNOWN;
		groups += f->verdict == AB_VERDICT_WEAKER &&
			  !strcmp(f->wall, "groups");
		sockets += f->verdict == AB_VERDICT_WEAKER &&
			   !strcmp(f->wall, "sockets");
	}
	r = add(run, "groups", groups, POINTS_GROUPS,
		"supplementary groups of the host's user stay in force");
	if (r == 0)
		r = add(run, "sockets", sockets, POINTS_SOCKET,
			"for each finding of a socket or FIFO that a tree of "
			"the host shows");
	if (r == 0)
		r = add(run, "missing", missing, POINTS_MISSING,
			"for each finding of a missing wall");
	return r ? r
		 : add(run, "unknown", unknown, POINTS_UNKNOWN,
		       "for each probe that could not be run");
}

int ab_verify_expose(ab_verify_run *run)
{
	int r;

	run->report->exposure = json_array();
	if (!run->report->exposure)
		return -ENOMEM;
	r = add_tier(run);
	if (r == 0 && !run->walls.landlock_abi &&
	    run->walls.tier != AB_TIER_BARE)
		r = add(run, "landlock", 1, POINTS_NO_LANDLOCK,
			"this kernel has none: mounts alone hold files");
	if (r == 0)
		r = add_network(run);
	if (r == 0)
		r = add_files(run);
	if (r == 0)
		r = add(run, "syscalls.allow",
			run->policy->syscalls.allow.count, POINTS_SYSCALL,
			"for each system call that the policy opens");
	if (r == 0)
		r = add_limits(run);
	return r ? r : add_findings(run);
}
