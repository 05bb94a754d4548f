/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limits by the strongest mechanism there is, per resource: cgroup v2, cgroup
 * v1 below our own path, a resource limit of the box's user namespace, a
 * sized tmpfs, and at the end agentbox-init looking from time to time.
 *
 * Says for each which one it is, what it covers and whether it is hard, and
 * refuses the start when `limits.require` names one that would be soft.
 * Spec: DESIGN.md section 6; RECIPES.md section 7; setrlimit(2).
 */
#include "config.h"

#include "walls/internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "walls/cgroup.h"

#define CPU_PERIOD_US 100000u

typedef struct rung {
	const char *mechanism, *scope, *note, *fix;
	bool hard;
} rung;

static bool is_set(const ab_build *b, uint32_t limit)
{
	return b->policy->limits.value[limit].state == AB_POLICY_SET;
}

static uint64_t value_of(const ab_build *b, uint32_t limit)
{
	return b->policy->limits.value[limit].value;
}

static bool set_number(const char *dir, const char *file, uint64_t v)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	return ab_cgroup_set(dir, file, text) == 0;
}

/* The directory of this box below `parent`, made at its first use. */
static bool cgroup_below(ab_build *b, const char *parent, char *out,
			 size_t size)
{
	char name[256];
	size_t n = strlen(parent);

	for (size_t i = 0; i < b->out->cgroup_count; i++) {
		const char *have = b->out->cgroups[i];

		if (strncmp(have, parent, n) == 0 && have[n] == '/' &&
		    !strchr(have + n + 1, '/')) {
			snprintf(out, size, "%s", have);
			return true;
		}
	}
	ab_cgroup_collect(parent);
	if (ab_cgroup_name(b->input->box_id, name, sizeof(name)) != 0 ||
	    ab_cgroup_make(parent, name, out, size) != 0)
		return false;
	ab_build_cgroup(b, out);
	return true;
}

static bool set_memory2(const char *dir, uint64_t v)
{
	if (!set_number(dir, "memory.max", v))
		return false;
	/* memory is memory: no second helping in swap; absent without swap */
	set_number(dir, "memory.swap.max", 0);
	return true;
}

static bool set_memory1(const char *dir, uint64_t v)
{
	if (!set_number(dir, "memory.limit_in_bytes", v))
		return false;
	set_number(dir, "memory.memsw.limit_in_bytes", v);
	return true;
}

static bool set_pids(const char *dir, uint64_t v)
{
	return set_number(dir, "pids.max", v + AB_PIDS_OF_OURS);
}

static uint64_t cpu_quota(uint64_t milli)
{
	uint64_t us = milli * (CPU_PERIOD_US / 1000);

	return us < 1000 ? 1000 : us; /* the kernel's own minimum */
}

static bool set_cpu2(const char *dir, uint64_t milli)
{
	char text[64];

	snprintf(text, sizeof(text), "%" PRIu64 " %u", cpu_quota(milli),
		 CPU_PERIOD_US);
	return ab_cgroup_set(dir, "cpu.max", text) == 0;
}

static bool set_cpu1(const char *dir, uint64_t milli)
{
	return set_number(dir, "cpu.cfs_period_us", CPU_PERIOD_US) &&
	       set_number(dir, "cpu.cfs_quota_us", cpu_quota(milli));
}

/* Try one directory; a dry compile believes the probe. */
static bool try_cgroup(ab_build *b, const char *parent,
		       bool (*set)(const char *dir, uint64_t v), uint64_t v)
{
	char dir[4400];

	if (b->input->dry)
		return true;
	return cgroup_below(b, parent, dir, sizeof(dir)) && set(dir, v);
}

typedef struct controller {
	bool two, one;
	const char *path_one;
	bool (*set_two)(const char *dir, uint64_t v);
	bool (*set_one)(const char *dir, uint64_t v);
} controller;

static bool by_cgroup(ab_build *b, uint32_t limit, const controller *c, rung *r)
{
	uint64_t v = value_of(b, limit);

	if (c->two && try_cgroup(b, b->probe->cgroup2_path, c->set_two, v))
		*r = (rung){ .mechanism = "cgroup2", .scope = "box",
			     .hard = true };
	else if (c->one && try_cgroup(b, c->path_one, c->set_one, v))
		*r = (rung){ .mechanism = "cgroup1", .scope = "box",
			     .hard = true };
	else
		return false;
	return true;
}

static rung limit_memory(ab_build *b)
{
	const ab_probe *p = b->probe;
	const controller c = { p->cgroup2_memory, p->cgroup1_memory,
			       p->cgroup1_memory_path, set_memory2,
			       set_memory1 };
	rung r;

	if (by_cgroup(b, AB_LIMIT_MEMORY, &c, &r))
		return r;
	b->plan.polled_memory = value_of(b, AB_LIMIT_MEMORY);
	return (rung){ .mechanism = "polled", .scope = "box",
		       .note = "resident memory is looked at from time to "
			       "time; a fast process can pass it for a moment, "
			       "and memfds, System V shared memory, pipes and "
			       "sockets are not seen at all",
		       .fix = "delegate a cgroup with the memory controller, "
			      "for example systemd-run --user --scope -p "
			      "Delegate=yes" };
}

/* RLIMIT_NPROC counts per user namespace and uid, and never kernel uid 0. */
static bool nproc_holds(const ab_build *b)
{
	return (b->plan.namespaces & AB_NS_USER) && b->plan.uid_outside != 0;
}

static rung limit_pids(ab_build *b)
{
	const ab_probe *p = b->probe;
	const controller c = { p->cgroup2_pids, p->cgroup1_pids,
			       p->cgroup1_pids_path, set_pids, set_pids };
	uint64_t v = value_of(b, AB_LIMIT_PIDS);
	bool nproc = nproc_holds(b);
	rung r;

	if (nproc)
		ab_build_rlimit(b, RLIMIT_NPROC, v + AB_PIDS_OF_OURS);
	if (by_cgroup(b, AB_LIMIT_PIDS, &c, &r))
		return r;
	if (nproc)
		return (rung){ .mechanism = "rlimit", .scope = "box",
			       .hard = true,
			       .note = "RLIMIT_NPROC in the box's user "
				       "namespace" };
	b->plan.polled_pids = v;
	return (rung){ .mechanism = "polled", .scope = "box",
		       .note = "processes are counted from time to time; "
			       "kernel uid 0 or no user namespace",
		       .fix = "run with user namespaces as an ordinary user, "
			      "or delegate a cgroup with the pids controller" };
}

static rung limit_cpus(ab_build *b)
{
	const ab_probe *p = b->probe;
	const controller c = { p->cgroup2_cpu, p->cgroup1_cpu,
			       p->cgroup1_cpu_path, set_cpu2, set_cpu1 };
	rung r;

	if (by_cgroup(b, AB_LIMIT_CPUS, &c, &r))
		return r;
	return (rung){ .mechanism = "none", .scope = "none",
		       .note = "no cgroup with the cpu controller is ours",
		       .fix = "delegate a cgroup with the cpu controller" };
}

static bool writes_to_host(const ab_build *b)
{
	const ab_policy *p = b->policy;

	if (p->workspace.path && p->workspace.mount != AB_WORKSPACE_READ)
		return true;
	for (size_t i = 0; i < p->mount_count; i++) {
		if (p->mounts[i].access == AB_ACCESS_WRITE)
			return true;
	}
	return false;
}

/* Says it where files are bounded by less than the policy asked for. */
static const char *disk_note(ab_build *b, const char *note)
{
	if (ab_tree_private_bytes(b) >= value_of(b, AB_LIMIT_DISK))
		return note;
	return ab_build_own(b, ab_asprintf("%s; here half of the memory limit, "
					   "as what is in a tmpfs is in memory",
					   note));
}

static rung limit_disk(ab_build *b)
{
	ab_build_rlimit(b, RLIMIT_FSIZE, value_of(b, AB_LIMIT_DISK));
	if (!ab_build_has_tree(b))
		return (rung){ .mechanism = "rlimit", .scope = "file",
			       .note = "each file alone is bounded",
			       .fix = "use a machine with user namespaces" };
	if (!writes_to_host(b))
		return (rung){ .mechanism = "tmpfs", .scope = "box",
			       .hard = true,
			       .note = disk_note(b, "one file per 4 KiB, at "
						    "most 262144 in each") };
	return (rung){ .mechanism = "tmpfs", .scope = "private",
		       .note = disk_note(b, "/tmp, home and /dev/shm "
					    "together; in the workspace and "
					    "writable mounts each file alone "
					    "is bounded"),
		       .fix = "put the workspace on a file system of its own "
			      "or with a quota" };
}

/* unix(7), inotify(7), pipe(7): what the kernel counts by user. */
static const char *shared_note(ab_build *b)
{
	if (b->pool)
		return NULL;
	return ab_build_own(b, ab_asprintf(
		"descriptors in flight, inotify instances and pipe pages are "
		"counted per user: shared with all of uid %u", b->probe->euid));
}

static rung limit_files(ab_build *b)
{
	struct rlimit now = { 0 };
	uint64_t v = value_of(b, AB_LIMIT_FILES);

	if (getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_max < v)
		v = now.rlim_max;
	ab_build_rlimit(b, RLIMIT_NOFILE, v);
	return (rung){ .mechanism = "rlimit", .scope = "process",
		       .hard = true, .note = shared_note(b) };
}

/*
 * Hard where every process can be found (a /proc of the box's own) and told
 * whose it is (wire/plan.h, AB_MARK_RESOURCE).
 */
static rung limit_wall(const ab_build *b)
{
	if (b->probe->marks && b->input->tier == AB_TIER_FULL)
		return (rung){ .mechanism = "agentbox-init",
			       .scope = "command", .hard = true,
			       .note = "every process that descends from the "
				       "command is ended" };
	return (rung){ .mechanism = "agentbox-init", .scope = "command",
		       .note = b->probe->marks && !ab_build_has_tree(b) ?
				       "what descends from the command is "
				       "looked for among all processes; no "
				       "namespace holds it" :
				       "the command and its process group are "
				       "ended; a process that left the group "
				       "lives until the box ends",
		       .fix = "end the box itself at that time" };
}

/* Resource limits of each process, which a bare box may lift again. */
static rung climb_bare(ab_build *b, uint32_t limit)
{
	rung r = { .mechanism = "none", .scope = "none",
		   .fix = "use a policy with walls" };

	if (limit == AB_LIMIT_FILES)
		r = limit_files(b);
	else if (limit == AB_LIMIT_DISK)
		r = limit_disk(b);
	else if (limit == AB_LIMIT_WALL)
		r = limit_wall(b);
	r.hard = false;
	r.note = "a bare box has no walls: nothing holds it to its limits";
	if (!r.fix)
		r.fix = "use a policy with walls";
	return r;
}

static rung climb(ab_build *b, uint32_t limit)
{
	if (ab_build_is_bare(b))
		return climb_bare(b, limit);
	switch ((enum ab_policy_limit)limit) {
	case AB_LIMIT_MEMORY:
		return limit_memory(b);
	case AB_LIMIT_CPUS:
		return limit_cpus(b);
	case AB_LIMIT_PIDS:
		return limit_pids(b);
	case AB_LIMIT_DISK:
		return limit_disk(b);
	case AB_LIMIT_FILES:
		return limit_files(b);
	case AB_LIMIT_WALL:
		return limit_wall(b);
	case AB_LIMIT_COUNT:
		break;
	}
	return (rung){ .mechanism = "none", .scope = "none" };
}

static void report(ab_build *b, uint32_t limit, const rung *r)
{
	json_t *o = json_object();
	int bad = !o;

	if (is_set(b, limit))
		bad |= json_object_set_new(
			o, "requested",
			json_integer((json_int_t)value_of(b, limit)));
	else
		bad |= json_object_set_new(o, "requested", json_null());
	bad |= json_object_set_new(o, "mechanism", json_string(r->mechanism));
	bad |= json_object_set_new(o, "scope", json_string(r->scope));
	bad |= json_object_set_new(o, "hard", json_boolean(r->hard));
	bad |= json_object_set_new(o, "note",
				   json_string(r->note ? r->note : ""));
	if (!r->hard && r->fix)
		bad |= json_object_set_new(o, "fix", json_string(r->fix));
	bad |= json_object_set_new(b->out->limits, ab_policy_limit_name(limit),
				   o);
	if (bad)
		b->nomem = true;
}

static int32_t one(ab_build *b, uint32_t limit, agentbox_error **err)
{
	const bool required = (b->policy->limits.require >> limit) & 1;
	char where[64];
	rung r = { .mechanism = "none", .scope = "none" };

	snprintf(where, sizeof(where), "limits.%s",
		 ab_policy_limit_name(limit));
	if (is_set(b, limit))
		r = climb(b, limit);
	else if (required)
		return ab_error_set(err, AGENTBOX_EWALL, where,
				    "'%s' is required but has no value",
				    where);
	if (required && !r.hard)
		return ab_error_set(err, AGENTBOX_EWALL, where,
				    "%s is required, but here it would be "
				    "soft (%s: %s); %s",
				    where, r.mechanism, r.note, r.fix);
	if ((b->policy->require & AB_FEATURE_BIT(AB_FEATURE_CGROUP)) &&
	    is_set(b, limit) && limit <= AB_LIMIT_PIDS &&
	    strncmp(r.mechanism, "cgroup", 6) != 0)
		return ab_error_set(err, AGENTBOX_EWALL, "cgroup",
				    "no cgroup of ours can hold %s; delegate "
				    "one, or run as root",
				    where);
	report(b, limit, &r);
	return 0;
}

/*
 * No core file, and above all not the program that core_pattern names: the
 * kernel starts it as root of the host, and hands it the memory of whoever
 * crashed. A limit of 0 is not looked at for that, one of 1 is (core(5), the
 * kernel's fs/coredump.c).
 */
static void forbid_core_dumps(ab_build *b)
{
	struct rlimit now = { 0 };
	bool none = getrlimit(RLIMIT_CORE, &now) || now.rlim_max < 1;

	ab_build_rlimit(b, RLIMIT_CORE, none ? 0 : 1);
	if (none && b->probe->euid != 0)
		ab_build_note(b, "the host may make no core file (RLIMIT_CORE "
			      "is 0), so the box cannot forbid the program of "
			      "kernel.core_pattern: a crash in the box starts "
			      "it; a limit of 1 or more keeps it from that");
}

int32_t ab_limits_compile(ab_build *b, agentbox_error **err)
{
	static_assert(AB_LIMIT_MEMORY < AB_LIMIT_PIDS &&
			      AB_LIMIT_CPUS < AB_LIMIT_PIDS &&
			      AB_LIMIT_PIDS < AB_LIMIT_DISK,
		      "cgroup limits come first");

	forbid_core_dumps(b);
	for (uint32_t i = 0; i < AB_LIMIT_COUNT; i++) {
		int32_t rc = one(b, i, err);

		if (rc)
			return rc;
	}
	return 0;
}
