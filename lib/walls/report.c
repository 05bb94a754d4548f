/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is required, what stands, what to try next: the sentences about
 * walls. A required wall that the machine or the tier cannot give is refused
 * by name; a report never calls hard what is soft. Spec: DESIGN.md sections 1
 * and 6.
 */
#include "config.h"

#include "walls/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "wire/box.h"

#define BIT(f) AB_FEATURE_BIT(AB_FEATURE_##f)
#define NAMESPACE_FEATURES                                             \
	(BIT(USERNS) | BIT(MOUNTNS) | BIT(PIDNS) | BIT(IPCNS) | BIT(UTSNS) | \
	 BIT(CGROUPNS) | BIT(NETNS) | BIT(PROC) | BIT(IDMAP))

/* Why a feature is not to be had with this tier here; NULL: it is. */
static const char *lacking(const ab_build *b, uint32_t feature)
{
	const ab_probe *p = b->probe;
	bool full = b->input->tier == AB_TIER_FULL;

	if (ab_build_is_bare(b))
		return "a bare box has no walls";
	if (b->input->tier == AB_TIER_LANDLOCK &&
	    (NAMESPACE_FEATURES & AB_FEATURE_BIT(feature)))
		return "the landlock tier has no namespaces";
	switch ((enum ab_policy_feature)feature) {
	case AB_FEATURE_USERNS:
	case AB_FEATURE_MOUNTNS:
	case AB_FEATURE_PIDNS:
	case AB_FEATURE_IPCNS:
	case AB_FEATURE_UTSNS:
	case AB_FEATURE_CGROUPNS:
		return NULL;
	case AB_FEATURE_NETNS:
		return b->policy->network.mode == AB_NET_HOST ?
			       "the policy asks for the host's network" :
			       NULL;
	case AB_FEATURE_PROC:
		return full ? NULL : "a new /proc cannot be mounted here";
	case AB_FEATURE_LANDLOCK:
		return p->landlock_abi >= 1 ? NULL :
					      "this kernel has no Landlock (5.13, and 'landlock' in lsm=)";
	case AB_FEATURE_LANDLOCK_NET:
		return p->landlock_abi >= 4 ? NULL :
					      "Landlock level 4 (Linux 6.7) is needed";
	case AB_FEATURE_LANDLOCK_SCOPE:
		return p->landlock_abi >= 6 ? NULL :
					      "Landlock level 6 (Linux 6.12) is needed";
	case AB_FEATURE_SECCOMP:
		return p->seccomp ? NULL : "this kernel has no seccomp filters";
	case AB_FEATURE_CGROUP:
		return NULL; /* judged per limit, in limits.c */
	case AB_FEATURE_GROUPS:
		return b->pool || p->group_count == 0 ?
			       NULL :
			       "supplementary groups of the host stay in force";
	case AB_FEATURE_IDMAP:
		if (b->pool && b->input->no_idmap)
			return "a file system here cannot map ids";
		return b->pool ? NULL :
				 "only a root host with a range of ids maps them";
	case AB_FEATURE_NOSWAP:
		return p->noswap ? NULL : "tmpfs has no noswap here (6.4)";
	case AB_FEATURE_PIDFD_PEER:
		return p->peer_pidfd ? NULL : "no SO_PEERPIDFD here (6.5)";
	case AB_FEATURE_COUNT:
		break;
	}
	return "unknown";
}

int32_t ab_require_check(ab_build *b, agentbox_error **err)
{
	/* the filter is not optional: without it there is no box at all */
	if (!b->probe->seccomp && !ab_build_is_bare(b))
		return ab_error_set(err, AGENTBOX_EWALL, "seccomp",
				    "this kernel has no seccomp filters: no "
				    "box can be raised");
	if (b->input->tier == AB_TIER_LANDLOCK && b->probe->landlock_abi == 0)
		return ab_error_set(err, AGENTBOX_EWALL, "landlock",
				    "neither user namespaces nor Landlock: "
				    "nothing here can hold a box");
	for (uint32_t f = 0; f < AB_FEATURE_COUNT; f++) {
		const char *name = ab_policy_feature_name(f);
		const char *why;

		if (!((b->policy->require | b->policy->prefer) &
		      AB_FEATURE_BIT(f)))
			continue;
		why = lacking(b, f);
		if (!why)
			continue;
		if (b->policy->require & AB_FEATURE_BIT(f))
			return ab_error_set(err, AGENTBOX_EWALL, name,
					    "'%s' is required: %s", name, why);
		ab_build_note(b, "'%s' is preferred: %s", name, why);
	}
	if (b->policy->network.mode == AB_NET_HOST || ab_build_is_bare(b))
		ab_build_note(b, "the box is on the host's network: every "
			      "service the host can reach, it can");
	else if (b->input->tier == AB_TIER_LANDLOCK)
		ab_build_note(b, "no network namespace: new sockets are refused "
			      "by seccomp, but for pairs of connected streams");
	return 0;
}

const char *ab_walls_tier_name(uint32_t tier)
{
	switch (tier) {
	case AB_TIER_FULL:
		return "full";
	case AB_TIER_NO_PROC:
		return "no-proc";
	case AB_TIER_LANDLOCK:
		return "landlock";
	case AB_TIER_BARE:
		return "bare";
	}
	return "none";
}

/* "mounts[12] /proc" and what else init calls a failed proc mount. */
static bool is_proc_stage(const char *stage)
{
	const char *end;

	if (strcmp(stage, "proc") == 0)
		return true;
	if (strncmp(stage, "mounts[", 7) != 0)
		return false;
	end = strstr(stage, "] /proc");
	return end && end[7] == '\0';
}

/*
 * Only a kernel that makes no namespaces weakens a box. A path that changed,
 * a mount that failed, an answer we do not know never does: case 97 would
 * otherwise be a switch that turns walls off.
 */
static bool is_namespace_stage(const char *stage)
{
	static const char *const stages[] = { "userns", "mountns", "pidns",
					      "ipcns",	"utsns",   "cgroupns",
					      "netns" };

	for (size_t i = 0; i < AB_ARRAY_LEN(stages); i++) {
		size_t n = strlen(stages[i]);

		if (strncmp(stage, stages[i], n) == 0 &&
		    (stage[n] == '\0' || stage[n] == ' '))
			return true;
	}
	return false;
}

uint32_t ab_walls_first_tier(agentbox_policy *policy)
{
	return ab_policy_get(policy)->mode == AB_MODE_SANDBOX ? AB_TIER_FULL :
								AB_TIER_BARE;
}

bool ab_walls_may_skip_idmap(agentbox_policy *policy, bool no_idmap,
			     const char *stage)
{
	return !no_idmap && strncmp(stage, "idmap[", 6) == 0 &&
	       !(ab_policy_get(policy)->require & BIT(IDMAP));
}

uint32_t ab_walls_next_tier(agentbox_policy *policy, uint32_t tier,
			    const char *stage, const char **why)
{
	const ab_policy *p = ab_policy_get(policy);

	if (tier == AB_TIER_FULL && is_proc_stage(stage) &&
	    !(p->require & BIT(PROC))) {
		*why = "a new /proc cannot be mounted here (nested container)";
		return AB_TIER_NO_PROC;
	}
	if ((tier == AB_TIER_FULL || tier == AB_TIER_NO_PROC) &&
	    is_namespace_stage(stage) && !(p->require & NAMESPACE_FEATURES)) {
		*why = "this kernel refuses user namespaces here";
		return AB_TIER_LANDLOCK;
	}
	return 0;
}

typedef struct wall_name {
	uint32_t bit;
	const char *name, *holder, *note;
	bool is_soft;
} wall_name;

static const wall_name wall_names[] = {
	{ AB_WALL_USERNS, "userns", "kernel", "user_namespaces(7)" },
	{ AB_WALL_MOUNTNS, "mountns", "kernel", "mount_namespaces(7)" },
	{ AB_WALL_PIDNS, "pidns", "kernel", "pid_namespaces(7)" },
	{ AB_WALL_IPCNS, "ipcns", "kernel", "ipc_namespaces(7)" },
	{ AB_WALL_UTSNS, "utsns", "kernel", "uts_namespaces(7)" },
	{ AB_WALL_CGROUPNS, "cgroupns", "kernel", "cgroup_namespaces(7)" },
	{ AB_WALL_NETNS, "netns", "kernel", "network_namespaces(7)" },
	{ AB_WALL_ROOTFS, "rootfs", "kernel",
	  "the tree holds what the policy mounts, nothing else" },
	{ AB_WALL_PROC, "proc", "kernel", "/proc shows the box only" },
	{ AB_WALL_CAPS, "caps", "kernel", "five capability sets are empty" },
	{ AB_WALL_NNP, "no_new_privs", "kernel", "prctl(2)" },
	{ AB_WALL_LANDLOCK, "landlock", "kernel", "landlock(7)" },
	{ AB_WALL_SECCOMP, "seccomp", "kernel", "seccomp(2)" },
	{ AB_WALL_LOOPBACK, "loopback", "kernel",
	  "a loopback of the box's own is up" },
	{ AB_WALL_CGROUP, "cgroup", "kernel", "limits are held by a cgroup" },
	{ AB_WALL_IDMAP, "idmap", "kernel",
	  "the workspace is mapped to the box's own kernel uid" },
	{ AB_WALL_NOTICES, "shield", "agentbox-shield",
	  "a witness of what is executed; what it refuses is a tripwire, "
	  "seccomp_unotify(2)", true },
};

const char *ab_walls_first_name(uint32_t walls)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(wall_names); i++)
		if (walls & wall_names[i].bit)
			return wall_names[i].name;
	return "unknown";
}

static int add_wall(json_t *out, const wall_name *w, bool stands, uint32_t abi)
{
	json_t *o = json_object();
	char note[160];
	int bad = !o;

	if (!stands)
		snprintf(note, sizeof(note), "not raised");
	else if (w->bit == AB_WALL_LANDLOCK)
		snprintf(note, sizeof(note), "landlock(7), level %" PRIu32, abi);
	else
		snprintf(note, sizeof(note), "%s", w->note);
	bad |= json_object_set_new(o, "standing", json_boolean(stands));
	bad |= json_object_set_new(o, "hard",
				   json_boolean(stands && !w->is_soft));
	bad |= json_object_set_new(o, "holder",
				   stands ? json_string(w->holder) :
					    json_null());
	bad |= json_object_set_new(o, "note", json_string(note));
	return bad | json_object_set_new(out, w->name, o);
}

json_t *ab_walls_report(uint32_t walls, uint32_t landlock_abi, uint32_t tier,
			const json_t *notes, const json_t *noted,
			const json_t *weaker)
{
	/* what agentbox-init does from outside, in every tier */
	static const wall_name reaper = {
		0, "end-with-host", "agentbox-init",
		"every process of the box ends with its owner", false
	};
	json_t *report = json_object(), *list = json_object();
	int bad = !report || !list;

	/* what init does by habit is no promise of a bare box */
	if (tier == AB_TIER_BARE)
		walls = landlock_abi = 0;
	for (size_t i = 0; i < AB_ARRAY_LEN(wall_names) && !bad; i++)
		bad |= add_wall(list, &wall_names[i],
				(walls & wall_names[i].bit) != 0, landlock_abi);
	if (!bad)
		bad |= add_wall(list, &reaper, (walls & AB_WALL_PIDNS) != 0,
				landlock_abi);
	bad |= json_object_set_new(report, "tier",
				   json_string(ab_walls_tier_name(tier)));
	bad |= json_object_set_new(report, "landlock_abi",
				   json_integer(landlock_abi));
	bad |= json_object_set_new(report, "walls", list);
	bad |= json_object_set_new(report, "notes",
				   notes ? json_deep_copy(notes) :
					   json_array());
	bad |= json_object_set_new(report, "noted",
				   noted ? json_deep_copy(noted) :
					   json_array());
	bad |= json_object_set_new(report, "weaker",
				   weaker ? json_deep_copy(weaker) :
					    json_array());
	if (bad) {
		json_decref(report);
		return NULL;
	}
	return report;
}

static const char *step_name(uint32_t kind)
{
	switch ((enum ab_plan_step_kind)kind) {
	case AB_STEP_BIND:
		return "bind";
	case AB_STEP_TMPFS:
		return "tmpfs";
	case AB_STEP_PROC:
		return "proc";
	case AB_STEP_DEV:
		return "dev";
	case AB_STEP_MQUEUE:
		return "mqueue";
	case AB_STEP_SYMLINK:
		return "symlink";
	case AB_STEP_FILE:
		return "file";
	case AB_STEP_DIR:
		return "dir";
	case AB_STEP_HIDE:
		return "hide";
	case AB_STEP_SELF:
		return "protect";
	case AB_STEP_BROKER:
		return "broker";
	case AB_STEP_SECRETS:
		return "secrets";
	case AB_STEP_KIND_COUNT:
		break;
	}
	return "unknown";
}

static int describe_step(json_t *list, const ab_plan_step *s)
{
	json_t *o = json_object();
	bool bind = s->kind == AB_STEP_BIND, self = s->kind == AB_STEP_SELF;
	bool readonly = (s->flags & AB_MOUNT_RDONLY) != 0;
	int bad = !o;

	bad |= json_object_set_new(o, "kind",
				   json_string(self && !readonly ?
						       "pin" :
						       step_name(s->kind)));
	bad |= json_object_set_new(o, "at", ab_build_text(s->target));
	if (s->source[0])
		bad |= json_object_set_new(o, "from", ab_build_text(s->source));
	if (bind || self)
		bad |= json_object_set_new(o, "access",
					   json_string(readonly ? "read" :
								  "write"));
	if (s->flags & AB_MOUNT_NOSYMFOLLOW)
		bad |= json_object_set_new(o, "follow", json_false());
	if (bind)
		bad |= json_object_set_new(
			o, "exec",
			json_boolean(!(s->flags & AB_MOUNT_NOEXEC)));
	if (s->size)
		bad |= json_object_set_new(o, "bytes",
					   json_integer((json_int_t)s->size));
	return bad | json_array_append_new(list, o);
}

static json_t *describe_lists(const ab_plan *plan)
{
	json_t *o = json_object(), *mounts = json_array();
	json_t *rules = json_array(), *watches = json_array();
	int bad = !o || !mounts || !rules || !watches;

	for (uint32_t i = 0; i < plan->step_count && !bad; i++)
		bad |= describe_step(mounts, &plan->steps[i]);
	for (uint32_t i = 0; i < plan->rule_count && !bad; i++) {
		char access[32];

		snprintf(access, sizeof(access), "0x%" PRIx64,
			 plan->rules[i].access);
		bad |= json_array_append_new(
			rules, json_pack("{s:o,s:s}", "path",
					 ab_build_text(plan->rules[i].path),
					 "access", access));
	}
	for (uint32_t i = 0; i < plan->watch_count && !bad; i++)
		bad |= json_array_append_new(
			watches, ab_build_text(plan->watches[i].pattern));
	bad |= json_object_set_new(o, "mounts", mounts);
	bad |= json_object_set_new(o, "landlock_rules", rules);
	bad |= json_object_set_new(o, "watches", watches);
	if (bad) {
		json_decref(o);
		return NULL;
	}
	return o;
}

json_t *ab_describe(const ab_plan *plan, const ab_compiled *out)
{
	static const char *const names[] = { "user", "mount",  "pid", "ipc",
					     "uts",  "cgroup", "net" };
	json_t *o = describe_lists(plan), *ns = json_array();
	int bad = !o || !ns;

	for (size_t i = 0; i < AB_ARRAY_LEN(names) && !bad; i++) {
		if (plan->namespaces & (1u << i))
			bad |= json_array_append_new(ns, json_string(names[i]));
	}
	bad |= json_object_set_new(o, "tier",
				   json_string(ab_walls_tier_name(plan->tier)));
	bad |= json_object_set_new(o, "namespaces", ns);
	bad |= json_object_set_new(o, "hostname", json_string(plan->hostname));
	bad |= json_object_set_new(o, "landlock_abi",
				   json_integer(plan->landlock_abi));
	bad |= json_object_set_new(
		o, "ids",
		json_pack("{s:I,s:I}", "inside", (json_int_t)plan->uid_inside,
			  "kernel", (json_int_t)plan->uid_outside));
	bad |= json_object_set_new(
		o, "seccomp_instructions",
		json_integer((json_int_t)(plan->seccomp_len / 8)));
	bad |= json_object_set_new(o, "limits", json_deep_copy(out->limits));
	bad |= json_object_set_new(o, "notes", json_deep_copy(out->notes));
	bad |= json_object_set_new(o, "noted", json_deep_copy(out->noted));
	bad |= json_object_set_new(o, "weaker", json_deep_copy(out->weaker));
	if (bad) {
		json_decref(o);
		return NULL;
	}
	return o;
}
