/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A policy and the facts of a machine become a plan. Judges first (what is
 * required and cannot be had ends here), then prepares: paths pinned, the
 * filter compiled, cgroups and a quarantine directory made. On any failure
 * everything made is removed again.
 *
 * Refuses what this build cannot hold (overlay workspaces, and the gateway
 * where it was not built) instead of leaving it out.
 * Spec: DESIGN.md section 6, lib/wire/plan.h.
 */
#include "config.h"

#include "walls/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "net/ports.h"
#include "policy/routes.h"
#include "wire/box.h"
#include "wire/gateway.h"

#define OOM_SCORE 300
#define REMOVE_TRIES 50 /* of a millisecond each */

static int32_t check_routes(const ab_build *b, agentbox_error **err)
{
	ab_policy_routes routes;
	int32_t rc = ab_policy_routes_init(b->handle, &routes, err);

	if (rc == 0)
		ab_policy_routes_end(&routes);
	return rc;
}

static int32_t check_gateway(const ab_build *b, agentbox_error **err)
{
#ifndef HAVE_GATEWAY
	return ab_error_set(err, AGENTBOX_EUNSUPPORTED, "/network/mode",
			    "needs a gateway, which this build lacks");
#endif
	if (!ab_build_has_tree(b))
		return ab_error_set(err, AGENTBOX_EWALL, "netns",
				    "network mode 'gateway' needs a network "
				    "namespace, which tier '%s' has not",
				    ab_walls_tier_name(b->input->tier));
	return check_routes(b, err);
}

/* Without these nothing says what the role may write. */
static int32_t check_role(const ab_policy_role *role, agentbox_error **err)
{
	if (role->kind == AB_ROLE_NONE)
		return 0;
	if (!role->team_dir)
		return ab_error_set(err, AGENTBOX_EPOLICY, "role.team_dir",
				    "the role has no team directory; name it in "
				    "a policy that extends this one");
	if (role->kind == AB_ROLE_ENGINEER && !role->agent)
		return ab_error_set(err, AGENTBOX_EPOLICY, "role.agent",
				    "an engineer needs the name of the agent");
	return 0;
}

static int32_t check_input(const ab_build *b, agentbox_error **err)
{
	const ab_policy *p = b->policy;
	int32_t rc;

	if (strlen(b->input->box_id) != AB_ID_SIZE - 1 ||
	    b->input->tier < AB_TIER_FULL || b->input->tier > AB_TIER_BARE)
		return ab_error_set(err, AGENTBOX_EINVAL, NULL,
				    "not a box id or not a tier");
	/* no switch turns a policy with walls into one without */
	if ((p->mode != AB_MODE_SANDBOX) != ab_build_is_bare(b))
		return ab_error_set(err, AGENTBOX_EINVAL, "/mode",
				    "a bare policy raises no walls, and no "
				    "other may be raised without");
	if (p->workspace.path && p->workspace.mount == AB_WORKSPACE_OVERLAY)
		return ab_error_set(err, AGENTBOX_EUNSUPPORTED,
				    "/workspace/mount",
				    "overlay workspaces are not in this build; "
				    "use 'direct'");
	/* bare: only guards ask for it */
	rc = ab_build_is_bare(b) ? 0 : check_role(&p->role, err);
	if (rc == 0)
		rc = ab_broker_check(b, err);
	if (rc == 0 && p->network.mode == AB_NET_GATEWAY)
		rc = check_gateway(b, err);
	return rc;
}

uint32_t ab_walls_pick_uid(const ab_probe *probe, const char *box_id,
			   uint32_t try_number)
{
	uint8_t hash[AB_SHA256_SIZE];
	char text[AB_ID_SIZE + 16];
	uint32_t v;

	if (!probe->root || !probe->uid_pool || probe->uid_pool_count == 0)
		return 0;
	snprintf(text, sizeof(text), "%s:%u", box_id, try_number);
	ab_sha256(text, strlen(text), hash);
	memcpy(&v, hash, sizeof(v));
	return probe->uid_pool_first + v % probe->uid_pool_count;
}

static void set_ids(ab_build *b)
{
	ab_plan *plan = &b->plan;
	bool landlock = !ab_build_has_tree(b);

	plan->uid_outside = b->probe->euid;
	plan->gid_outside = b->probe->egid;
	plan->uid_inside = landlock ? b->probe->euid : AB_BOX_ID;
	plan->gid_inside = landlock ? b->probe->egid : AB_BOX_ID;
	if (!landlock && b->probe->root && b->probe->uid_pool) {
		uint32_t id = ab_walls_pick_uid(b->probe, b->input->box_id,
						b->input->uid_try);

		b->pool = true;
		plan->uid_outside = plan->gid_outside = id;
		plan->map_by_holder = 1;
		plan->drop_groups = 1;
		return;
	}
	if (ab_build_is_bare(b)) {
		ab_build_note(b, "a bare box has no walls: what runs in it can "
			      "do all that its host can; mounts, protect and "
			      "syscalls of the policy hold nothing");
		return;
	}
	if (b->probe->group_count)
		ab_build_note(b, "%u supplementary groups stay in force: files "
			      "open to them are open to the box",
			      b->probe->group_count);
	if (b->probe->euid == 0)
		ab_build_note(b, landlock ?
				      "the box runs as uid 0 without "
				      "capabilities" :
				      "no kernel uid of the box's own: only "
				      "one id is mapped here");
}

static void set_namespaces(ab_build *b)
{
	if (!ab_build_has_tree(b))
		return;
	b->plan.namespaces = AB_NS_ALL;
	if (b->policy->network.mode == AB_NET_HOST)
		b->plan.namespaces &= ~AB_NS_NET;
}

/* A socket of the host's carries its network past every wall of ours. */
static void set_host_sockets(ab_build *b)
{
	b->out->host_sockets = ab_build_is_bare(b) ||
			       b->policy->network.mode == AB_NET_HOST;
	b->plan.host_sockets = b->out->host_sockets;
}

/* Its listener must be read by the owner of a user namespace of the box's. */
static int32_t set_watched(ab_build *b, agentbox_error **err)
{
	if (b->policy->shield == AB_SHIELD_OFF)
		return 0;
	if (!ab_build_has_tree(b))
		return ab_error_set(err, AGENTBOX_EWALL, "shield",
				    "a shield needs the box's own user "
				    "namespace, which tier '%s' has not",
				    ab_walls_tier_name(b->input->tier));
	b->plan.watched_calls = AB_WATCH_EXEC;
	if (b->policy->shield_watch & AB_SHIELD_WATCH_CONNECT)
		b->plan.watched_calls |= AB_WATCH_CONNECT;
	/* who has no peers is asked about nothing */
	if (b->policy->peering != AB_PEERING_READ)
		return 0;
	if (b->policy->shield_watch & AB_SHIELD_WATCH_PEERS)
		b->plan.watched_calls |= AB_WATCH_PEERS;
	if (b->policy->shield_watch & AB_SHIELD_WATCH_READS)
		b->plan.watched_calls |= AB_WATCH_READS;
	return 0;
}

/* The way to the gateway, and on which ports it is asked without a proxy. */
static int32_t set_gateway(ab_build *b, agentbox_error **err)
{
	ab_plan *plan = &b->plan;
	bool more;

	if (b->policy->network.mode != AB_NET_GATEWAY)
		return 0;
	plan->gateway = 1;
	plan->gateway_previews = b->policy->network.preview_count > 0;
	plan->gateway_ports = ab_calloc(AB_GATEWAY_MAX_PORTS,
					sizeof(*plan->gateway_ports));
	if (!plan->gateway_ports)
		return ab_error_nomem(err);
	ab_net_ports(b->policy->network.allow.items,
		     b->policy->network.transparent
			     ? b->policy->network.allow.count : 0,
		     plan->gateway_ports, &plan->gateway_port_count, &more);
	if (more)
		ab_build_note(b, "of the ports in network.allow the lowest %d "
			      "are served without a proxy, all of them through "
			      "it", AB_GATEWAY_MAX_PORTS);
	return 0;
}

/* The policy's name where it is a host name, else ours (RFC 1123). */
static const char *pick_hostname(ab_build *b)
{
	const char *name = b->policy->name;
	size_t n = name ? strlen(name) : 0;

	if (n == 0 || n > 63 || name[0] == '-' || name[n - 1] == '-')
		return "agentbox";
	for (size_t i = 0; i < n; i++) {
		char c = name[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
		    c != '-')
			return "agentbox";
	}
	return name;
}

static int32_t set_cgroups(ab_build *b, agentbox_error **err)
{
	size_t n = b->out->cgroup_count;

	if (n == 0)
		return 0;
	b->plan.cgroups = ab_calloc(n, sizeof(*b->plan.cgroups));
	if (!b->plan.cgroups)
		return ab_error_nomem(err);
	for (size_t i = 0; i < n; i++)
		b->plan.cgroups[i] = b->out->cgroups[i];
	b->plan.cgroup_count = (uint32_t)n;
	return 0;
}

int32_t ab_plan_seal(const ab_plan *plan, int *fd, agentbox_error **err)
{
	ab_writer w;
	bool full;
	int rc, made = -1;

	ab_writer_init(&w, AB_MAX_PLAN_BYTES);
	rc = ab_plan_encode(plan, &w);
	/* it doubles: a writer that stopped below half ran out of memory */
	full = w.len > AB_MAX_PLAN_BYTES / 2;
	if (rc == 0)
		made = ab_fd_memfd_sealed("agentbox-plan", w.data, w.len);
	ab_writer_end(&w);
	if (rc < 0 && !full)
		return ab_error_nomem(err);
	if (rc < 0)
		return ab_error_sys_code(err, AGENTBOX_ELIMIT, -rc, "plan",
					 "the plan does not fit its bounds");
	if (made < 0)
		return ab_error_sys(err, -made, "plan", "cannot seal the plan");
	*fd = made;
	return 0;
}

/* What is decided by now lets agentbox-init begin. */
static int32_t begin_early(ab_build *b, agentbox_error **err)
{
	const ab_compile_early *early = b->input->early;
	ab_plan head = ab_plan_head(&b->plan);
	ab_autofd int fd = -1;
	int32_t rc;

	if (!early)
		return 0;
	if (b->nomem)
		return ab_error_nomem(err);
	rc = ab_plan_seal(&head, &fd, err);
	if (rc)
		return rc;
	b->has_begun = true;
	early->begin(early->data, fd);
	return 0;
}

/* What init must say it raised, or there is no box (wire/box.h). */
static uint32_t expected_walls(const ab_plan *plan)
{
	static const uint32_t pairs[][2] = {
		{ AB_NS_USER, AB_WALL_USERNS },
		{ AB_NS_MOUNT, AB_WALL_MOUNTNS },
		{ AB_NS_PID, AB_WALL_PIDNS },	{ AB_NS_IPC, AB_WALL_IPCNS },
		{ AB_NS_UTS, AB_WALL_UTSNS },
		{ AB_NS_CGROUP, AB_WALL_CGROUPNS },
		{ AB_NS_NET, AB_WALL_NETNS },
	};
	uint32_t walls = 0;

	if (plan->tier == AB_TIER_BARE)
		return 0;
	walls = AB_WALL_CAPS | AB_WALL_NNP | AB_WALL_SECCOMP;
	for (size_t i = 0; i < AB_ARRAY_LEN(pairs); i++)
		if (plan->namespaces & pairs[i][0])
			walls |= pairs[i][1];
	if (plan->namespaces & AB_NS_MOUNT)
		walls |= AB_WALL_ROOTFS;
	for (uint32_t i = 0; i < plan->step_count; i++)
		if (plan->steps[i].kind == AB_STEP_PROC)
			walls |= AB_WALL_PROC;
	if (plan->landlock_abi)
		walls |= AB_WALL_LANDLOCK;
	if (plan->cgroup_count)
		walls |= AB_WALL_CGROUP;
	if (plan->watched_calls)
		walls |= AB_WALL_NOTICES;
	return walls;
}

static int32_t finish(ab_build *b, agentbox_error **err)
{
	ab_compiled *out = b->out;
	int32_t rc;

	ab_weaker_compile(b);
	if (b->nomem)
		return ab_error_nomem(err);
	rc = ab_plan_seal(&b->plan, &out->plan_fd, err);
	if (rc)
		return rc;
	out->tier = b->input->tier;
	out->uid_inside = b->plan.uid_inside;
	out->expected_walls = expected_walls(&b->plan);
	out->home = ab_build_has_tree(b) ? AB_BOX_HOME : NULL;
	out->uid_outside = b->plan.uid_outside;
	out->gid_outside = b->plan.gid_outside;
	if (b->plan.workspace_inside[0]) {
		out->workspace_inside = ab_strdup(b->plan.workspace_inside);
		out->workspace_host = ab_strdup(b->plan.workspace_host);
		out->workspace_dev = b->plan.workspace_dev;
		out->workspace_ino = b->plan.workspace_ino;
		if (!out->workspace_inside || !out->workspace_host)
			return ab_error_nomem(err);
	}
	/* for people: no box reads it */
	if (!b->input->dry)
		return 0;
	out->description = ab_describe(&b->plan, out);
	return out->description ? 0 : ab_error_nomem(err);
}

static int32_t build(ab_build *b, agentbox_error **err)
{
	ab_plan *plan = &b->plan;
	uint64_t key = 0;
	int32_t rc = check_input(b, err);

	if (rc)
		return rc;
	plan->build_id = agentbox_build_id();
	plan->box_id = b->input->box_id;
	plan->hostname = pick_hostname(b);
	plan->tier = b->input->tier;
	plan->workspace_inside = plan->workspace_host = "";
	plan->quarantine_host = "";
	plan->oom_score_adj = OOM_SCORE;
	set_namespaces(b);
	set_host_sockets(b);
	set_ids(b);
	rc = ab_require_check(b, err);
	if (!rc)
		rc = set_watched(b, err);
	if (!rc)
		rc = ab_limits_compile(b, err);
	if (!rc)
		rc = set_cgroups(b, err);
	if (!rc)
		rc = begin_early(b, err);
	if (rc)
		return rc;
	if (ab_build_is_bare(b)) {
		/* no filter asks for it */
		plan->mark_key = b->probe->marks;
		rc = ab_tree_find_workspace(b, err);
		return rc ? rc : finish(b, err);
	}
	rc = ab_walls_seccomp(b->handle, b->input->tier, &plan->seccomp,
			      &plan->seccomp_len, &key, err);
	if (b->probe->marks)
		plan->mark_key = key;
	if (!rc)
		rc = set_gateway(b, err);
	if (!rc)
		rc = ab_tree_compile(b, err);
	if (!rc)
		rc = ab_broker_compile(b, err);
	if (!rc)
		rc = ab_quarantine_check(b, err);
	if (!rc)
		rc = ab_protect_compile(b, err);
	if (!rc)
		rc = ab_share_compile(b, err);
	if (!rc)
		rc = ab_landlock_compile(b, err);
	if (!rc)
		rc = ab_quarantine_make(b, err);
	return rc ? rc : finish(b, err);
}

int32_t ab_walls_compile(agentbox_context *context, agentbox_policy *policy,
			 const ab_compile_input *input, ab_compiled *out,
			 agentbox_error **err)
{
	ab_compiled made = { .plan_fd = -1 };
	ab_build b = { .context = context,
		       .handle = policy,
		       .policy = ab_policy_get(policy),
		       .input = input,
		       .probe = input->probe,
		       .out = &made,
		       .workspace = { .fd = -1 } };
	int32_t rc;

	made.limits = json_object();
	made.notes = json_array();
	made.noted = json_array();
	made.weaker = json_array();
	rc = made.limits && made.notes && made.noted && made.weaker ?
		     build(&b, err) :
		     ab_error_nomem(err);
	if (rc && b.has_begun)
		input->early->cancel(input->early->data);
	ab_build_end(&b);
	if (rc)
		ab_compiled_end(&made);
	else
		*out = made;
	return rc;
}

/*
 * A process that was killed leaves its cgroup a moment after it can no longer
 * be seen; what stays after that is collected when its owner is gone.
 */
static void remove_cgroup(const char *dir)
{
	for (int i = 0; i < REMOVE_TRIES; i++) {
		if (rmdir(dir) == 0 || errno != EBUSY)
			return;
		ab_fd_poll_many(NULL, 0, 1);
	}
}

void ab_compiled_end(ab_compiled *c)
{
	int saved = errno;

	/* A zeroed structure is a valid empty one: 0 is no fd of ours. */
	if (c->plan_fd > 0)
		close(c->plan_fd);
	for (size_t i = 0; i < c->path_fd_count; i++)
		close(c->path_fds[i]);
	free(c->path_fds);
	for (size_t i = 0; i < c->cgroup_count; i++) {
		remove_cgroup(c->cgroups[i]);
		free(c->cgroups[i]);
	}
	free(c->cgroups);
	if (c->quarantine)
		rmdir(c->quarantine); /* keeps what was moved there */
	free(c->quarantine);
	if (c->record && c->is_told)
		unlinkat(AT_FDCWD, c->record, 0);
	free(c->record);
	ab_share_end(c);
	free(c->workspace_inside);
	free(c->workspace_host);
	json_decref(c->limits);
	json_decref(c->notes);
	json_decref(c->noted);
	json_decref(c->weaker);
	json_decref(c->description);
	*c = (ab_compiled){ .plan_fd = -1 };
	errno = saved;
}
