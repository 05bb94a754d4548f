/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Do the limits hold that the box reports? Each is read where the kernel has
 * it now: in /proc/PID/limits of a command, in the files of the box's cgroups.
 * What is reported as held by something that this file does not know does not
 * hold. Spec: lib/walls/limits.c, proc_pid_limits(5), cgroups(7).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "verify/internal.h"

static const struct limit_row {
	const char *name, *probe;
	const char *line; /* of /proc/PID/limits */
	const char *v1, *v2; /* files of a cgroup; v2's "max" is none */
	const char *period;  /* of v1; v2 has it behind the blank */
	int64_t own;	     /* of ours in the box: lib/walls/limits.c */
} limit_rows[] = {
	{ "memory", "limits.memory", NULL, "memory.limit_in_bytes",
	  "memory.max", NULL, 0 },
	{ "cpus", "limits.cpus", NULL, "cpu.cfs_quota_us", "cpu.max",
	  "cpu.cfs_period_us", 0 },
	{ "pids", "limits.pids", "Max processes", "pids.max", "pids.max", NULL,
	  16 },
	{ "files", "limits.files", "Max open files", NULL, NULL, NULL, 0 },
	{ "disk", "limits.disk", "Max file size", NULL, NULL, NULL, 0 },
};

/* -1: "unlimited", or a line that was cut off. */
static int64_t limit_at(const char *at)
{
	at += strspn(at, " ");
	if (*at < '0' || *at > '9')
		return -1;
	return (int64_t)strtoll(at, NULL, 10);
}

/* The hard limit of a line in /proc/PID/limits; -1: unlimited, or none. */
static int64_t limit_of(const char *limits, const char *line)
{
	const char *at = strstr(limits, line);

	if (!at)
		return -1;
	at += strlen(line);
	/* behind the soft one */
	at += strspn(at, " ");
	at += strcspn(at, " \n");
	return limit_at(at);
}

static int64_t soft_limit_of(const char *limits, const char *line)
{
	const char *at = strstr(limits, line);

	return at ? limit_at(at + strlen(line)) : -1;
}

/* A file of one of the box's cgroups; false: none of them has it. */
static bool read_cgroup(const ab_verify_run *run, const char *name, char *out,
			size_t size)
{
	for (size_t i = 0; name && i < run->walls.cgroup_count; i++) {
		ab_autofree char *path =
			ab_asprintf("%s/%s", run->walls.cgroups[i], name);
		ab_autofd int fd =
			path ? ab_fd_lift(open(path, O_RDONLY | O_CLOEXEC))
			     : -1;
		ssize_t n = fd < 0 ? -1 : ab_fd_read_full(fd, out, size - 1);

		if (n <= 0)
			continue;
		out[n] = '\0';
		out[strcspn(out, "\n")] = '\0';
		return true;
	}
	return false;
}

/* The processes of one of the box's cgroups, a line each; owned, or NULL. */
static char *read_procs(const ab_verify_run *run, size_t i)
{
	ab_autofree char *path = ab_asprintf("%s/cgroup.procs",
					     run->walls.cgroups[i]);
	ab_autofd int fd = -1;
	char *text = NULL;
	size_t n;

	if (path)
		fd = ab_fd_lift(open(path, O_RDONLY | O_CLOEXEC));
	return fd < 0 || ab_fd_slurp(fd, 1 << 20, &text, &n) ? NULL : text;
}

static bool is_listed(const char *text, pid_t wanted)
{
	char pid[16];
	size_t k = (size_t)snprintf(pid, sizeof(pid), "%d", (int)wanted);

	for (const char *at = text; *at;) {
		size_t len = strcspn(at, "\n");

		if (len == k && strncmp(at, pid, k) == 0)
			return true;
		at += len + (at[len] == '\n');
	}
	return false;
}

/* Is the program one of those that the box's cgroups hold? */
static bool is_in_cgroups(const ab_verify_run *run)
{
	for (size_t i = 0; i < run->walls.cgroup_count; i++) {
		ab_autofree char *text = read_procs(run, i);

		if (!text || !is_listed(text, run->prober))
			return false;
	}
	return true;
}

/* Of the box, alive, and not in this one; NULL: none. */
static const ab_proc *find_outside(const ab_verify_run *run, const char *text)
{
	for (size_t i = 0; i < run->proc_count; i++) {
		const ab_proc *p = &run->procs[i];

		if (ab_verify_is_inside(run, p) && !is_listed(text, p->pid) &&
		    !ab_proc_has_ended(p->pid) &&
		    ab_proc_started(p->pid) == p->started)
			return p;
	}
	return NULL;
}

/* One that was moved out is held to none of the box's limits. */
void ab_verify_look_at_all_cgroups(ab_verify_run *run)
{
	static const char probe[] = "cgroup.all", wall[] = "cgroup";
	static const char tried[] = "look for every process of the box in them";

	for (size_t i = 0; i < run->walls.cgroup_count; i++) {
		ab_autofree char *text = read_procs(run, i);
		const ab_proc *p = text ? find_outside(run, text) : NULL;

		if (!text) {
			ab_verify_tell(run, probe, wall, tried,
				       AB_VERDICT_UNKNOWN, "not to be found out",
				       "a cgroup cannot be read");
			return;
		}
		if (!p)
			continue;
		ab_verify_add(run->report, probe, wall, tried, true,
			      AB_VERDICT_MISSING,
			      ab_asprintf("process %d of the box is not in %s",
					  (int)p->pid_inside,
					  run->walls.cgroups[i]),
			      ab_strdup("nothing"));
		return;
	}
	if (run->walls.cgroup_count)
		ab_verify_tell(run, probe, wall, tried, AB_VERDICT_PASS,
			       "all are in each of them", "cgroup");
}

static bool is_number(const char *text)
{
	return *text >= '0' && *text <= '9';
}

/* A share of the processors: quota and period against thousandths. */
static bool is_share(const char *quota, const char *period, int64_t milli)
{
	int64_t q = (int64_t)strtoll(quota, NULL, 10);
	int64_t p = (int64_t)strtoll(period, NULL, 10);

	/* the kernel has no less than a hundredth: cpu_quota() of the walls */
	if (milli < 10)
		milli = 10;
	return is_number(quota) && is_number(period) && p > 0 &&
	       milli <= INT64_MAX / p && q <= INT64_MAX / 1000 &&
	       q * 1000 <= milli * p;
}

/* What a cgroup has of it; owned. "max" and -1 are none. */
static char *read_held(const ab_verify_run *run, const struct limit_row *row,
		       bool two, int64_t requested, bool *holds)
{
	const char *file = two ? row->v2 : row->v1;
	char text[128] = "", period[128] = "";

	if (!read_cgroup(run, file, text, sizeof(text)))
		return ab_strdup("the box's cgroup is not to be read");
	if (!row->period)
		*holds = is_number(text) &&
			 (int64_t)strtoll(text, NULL, 10) <=
				 requested + row->own;
	else if (two)
		*holds = is_share(text, text + strcspn(text, " ") +
						(strchr(text, ' ') != NULL),
				  requested);
	else
		*holds = read_cgroup(run, row->period, period,
				     sizeof(period)) &&
			 is_share(text, period, requested);
	return ab_asprintf("%s is %s", file, text);
}

/* What holds it, as the kernel has it now; owned; *holds: is it a limit. */
static char *read_limit(const ab_verify_run *run, const struct limit_row *row,
			const char *mechanism, const char *limits,
			int64_t requested, bool *holds)
{
	int64_t value;

	*holds = false;
	if (requested > INT64_MAX - row->own)
		return ab_strdup("more than the kernel counts");
	if (!strncmp(mechanism, "cgroup", 6))
		return read_held(run, row, !strcmp(mechanism, "cgroup2"),
				 requested, holds);
	/* files of a tmpfs are bounded by its size (mounts.c), and each file
	   beside them by this */
	if (row->line && (!strcmp(mechanism, "rlimit") ||
			  !strcmp(mechanism, "tmpfs"))) {
		value = limit_of(limits, row->line);
		*holds = value >= 0 && value <= requested + row->own;
		return ab_asprintf("%s: %lld", row->line, (long long)value);
	}
	/* what a process of ours looks at from time to time */
	*holds = !strcmp(mechanism, "polled");
	return ab_asprintf("held by %s", mechanism);
}

static void look_at_limit(ab_verify_run *run, const struct limit_row *row,
			  const char *limits)
{
	const json_t *l = json_object_get(run->walls.limits, row->name);
	const char *mechanism =
		json_string_value(json_object_get(l, "mechanism"));
	bool hard = json_is_true(json_object_get(l, "hard")), holds;
	char *result;

	/* no limit was asked for: the exposure says so */
	if (!json_is_integer(json_object_get(l, "requested")))
		return;
	if (!mechanism)
		mechanism = "none";
	result = read_limit(run, row, mechanism, limits,
			    json_integer_value(json_object_get(l, "requested")),
			    &holds);
	if (!strcmp(mechanism, "none"))
		ab_verify_add(run->report, row->probe, "limits",
			      "look what holds this limit", false,
			      AB_VERDICT_WEAKER, result,
			      ab_strdup("nothing holds it here"));
	else
		ab_verify_add(run->report, row->probe, "limits",
			      "look what holds this limit", hard,
			      !holds ? AB_VERDICT_MISSING
			      : hard ? AB_VERDICT_PASS
				     : AB_VERDICT_WEAKER,
			      result,
			      ab_asprintf("%s%s", holds ? mechanism : "nothing",
					  holds && !hard ? " (soft)" : ""));
}

/* A cgroup lists what lives: asked in this order. */
static void look_at_cgroups(ab_verify_run *run)
{
	bool is_in = is_in_cgroups(run);
	bool has_ended = !is_in && ab_proc_has_ended(run->prober);

	ab_verify_tell(run, "cgroup", "cgroup",
		       "look for the process in its cgroups",
		       is_in	   ? AB_VERDICT_PASS
		       : has_ended ? AB_VERDICT_UNKNOWN
				   : AB_VERDICT_MISSING,
		       is_in	   ? "it is in each of them"
		       : has_ended ? "not to be found out"
				   : "it is not in all of them",
		       is_in	   ? "cgroup"
		       : has_ended ? "the program was ended"
				   : "nothing");
}

/* To a socket it is sent from Linux 6.16, whatever the limit is: core(5). */
static bool is_sent(void)
{
	ab_autofd int fd = open("/proc/sys/kernel/core_pattern",
				O_RDONLY | O_CLOEXEC);
	char first = '\0';

	return fd >= 0 && read(fd, &first, 1) == 1 && first == '@';
}

/*
 * Of a limit of 1 the kernel makes nothing; with 0 it makes no file and starts
 * the host's program, which is all that a host can forbid that may make none
 * itself (lib/walls/limits.c).
 */
static void look_at_core(ab_verify_run *run, const char *limits)
{
	static const char line[] = "Max core file size";
	int64_t soft = soft_limit_of(limits, line);
	int64_t hard = limit_of(limits, line);
	uint32_t verdict = AB_VERDICT_PASS;
	const char *result = "no core file, and no program of the host's";

	if (hard == 0) {
		verdict = AB_VERDICT_WEAKER;
		result = "a crash starts the program of kernel.core_pattern";
	} else if (soft != 1 || hard != 1) {
		verdict = ab_verify_lacking(run, AB_WALL_CAPS);
		result = "a core file may be written, or the program of "
			 "kernel.core_pattern be started";
	} else if (is_sent()) {
		verdict = AB_VERDICT_WEAKER;
		result = "a crash is sent to the socket of kernel.core_pattern";
	}
	ab_verify_tell(run, "core", "limits", "look whether memory is dumped",
		       verdict, result,
		       verdict == AB_VERDICT_PASS ? "rlimit" : "nothing");
}

void ab_verify_limits(ab_verify_run *run, const char *limits)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(limit_rows); i++)
		look_at_limit(run, &limit_rows[i], limits);
	look_at_core(run, limits);
	if (!run->walls.cgroup_count)
		return;
	look_at_cgroups(run);
}
