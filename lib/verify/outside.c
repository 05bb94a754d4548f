/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the kernel says of the box's processes: the probing program, which is
 * a command like any other, in full; every other process of the box by its
 * status. Nothing the agent writes is read. Spec: proc(5).
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

/* --- words --------------------------------------------------------------- */

static void told(ab_verify_run *run, const char *probe, const char *wall,
		 const char *tried, uint32_t verdict, const char *result,
		 const char *answer)
{
	ab_verify_add(run->report, probe, wall, tried, true, verdict,
		      ab_strdup(result), ab_strdup(answer));
}

static void unknown(ab_verify_run *run, const char *probe, const char *wall,
		    const char *tried, const char *why)
{
	told(run, probe, wall, tried, AB_VERDICT_UNKNOWN,
	     "not to be found out", why);
}

/* Where the box was raised without this wall, its lack is the policy's. */
static uint32_t lacking(const ab_verify_run *run, uint32_t wall)
{
	return (run->walls.expected & wall) == wall ? AB_VERDICT_MISSING
						    : AB_VERDICT_WEAKER;
}

/* --- namespaces ---------------------------------------------------------- */

static const struct namespace_row {
	const char *file, *wall, *probe;
	uint32_t bit;
} namespaces[] = {
	{ "user", "userns", "namespace.user", AB_WALL_USERNS },
	{ "mnt", "mountns", "namespace.mount", AB_WALL_MOUNTNS },
	{ "pid", "pidns", "namespace.pid", AB_WALL_PIDNS },
	{ "ipc", "ipcns", "namespace.ipc", AB_WALL_IPCNS },
	{ "uts", "utsns", "namespace.uts", AB_WALL_UTSNS },
	{ "cgroup", "cgroupns", "namespace.cgroup", AB_WALL_CGROUPNS },
	{ "net", "netns", "namespace.net", AB_WALL_NETNS },
};

static void look_at_namespaces(ab_verify_run *run)
{
	static const char tried[] = "compare its namespace with the owner's";

	for (size_t i = 0; i < AB_ARRAY_LEN(namespaces); i++) {
		const struct namespace_row *n = &namespaces[i];
		int first, second;
		uint64_t theirs =
			ab_proc_namespace(run->prober, n->file, &first);
		uint64_t ours = ab_proc_namespace(getpid(), n->file, &second);

		if (n->bit == AB_WALL_NETNS &&
		    run->policy->network.mode == AB_NET_HOST)
			told(run, n->probe, n->wall, tried,
			     AB_VERDICT_NOT_APPLICABLE, "the host's",
			     "/network/mode is host");
		else if (!(run->walls.expected & n->bit))
			told(run, n->probe, n->wall, tried, AB_VERDICT_WEAKER,
			     "none of its own in this tier", "nothing");
		else if (!theirs || !ours)
			unknown(run, n->probe, n->wall, tried,
				strerrordesc_np(first ? first : second));
		else if (theirs == ours)
			told(run, n->probe, n->wall, tried,
			     lacking(run, n->bit), "it is the owner's",
			     "nothing");
		else
			told(run, n->probe, n->wall, tried, AB_VERDICT_PASS,
			     "its own", n->wall);
		run->has_own_net |= n->bit == AB_WALL_NETNS && theirs &&
				    ours && theirs != ours;
	}
}

/* --- status -------------------------------------------------------------- */

static const struct status_row {
	const char *line, *wall, *tried, *probe;
	uint32_t bit;
	const char *good; /* what it has to say */
} status_rows[] = {
	{ "CapInh", "caps", "look for inheritable capabilities",
	  "capabilities.inheritable", AB_WALL_CAPS, "0000000000000000" },
	{ "CapPrm", "caps", "look for permitted capabilities",
	  "capabilities.permitted", AB_WALL_CAPS, "0000000000000000" },
	{ "CapEff", "caps", "look for effective capabilities",
	  "capabilities.effective", AB_WALL_CAPS, "0000000000000000" },
	{ "CapBnd", "caps", "look for capabilities that could come back",
	  "capabilities.bounding", AB_WALL_CAPS, "0000000000000000" },
	{ "CapAmb", "caps", "look for ambient capabilities",
	  "capabilities.ambient", AB_WALL_CAPS, "0000000000000000" },
	{ "NoNewPrivs", "no_new_privs", "look whether execve(2) can add rights",
	  "no-new-privs", AB_WALL_NNP, "1" },
	{ "Seccomp", "seccomp", "look whether a filter is loaded",
	  "seccomp.mode", AB_WALL_SECCOMP, "2" },
};

/*
 * An unprivileged process outside of a user namespace cannot touch its
 * bounding set, and no_new_privs makes it meaningless: libexec/init/walls.c.
 */
static bool is_meaningless(const ab_verify_run *run,
			   const struct status_row *row)
{
	return !strcmp(row->line, "CapBnd") &&
	       !(run->walls.expected & AB_WALL_USERNS);
}

static void look_at_status(ab_verify_run *run, const char *status)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(status_rows); i++) {
		const struct status_row *row = &status_rows[i];
		char value[64];

		if (!ab_proc_line(status, row->line, value, sizeof(value)))
			unknown(run, row->probe, row->wall, row->tried,
				"/proc does not say");
		else if (!strcmp(value, row->good))
			told(run, row->probe, row->wall, row->tried,
			     AB_VERDICT_PASS, value, row->wall);
		else
			told(run, row->probe, row->wall, row->tried,
			     is_meaningless(run, row) ? AB_VERDICT_WEAKER
						      : lacking(run, row->bit),
			     value, "nothing");
	}
}

/* Every other process that is of the agent's: the same lines, in one finding.
 */
static bool is_behind_walls(const ab_verify_run *run, const char *status,
			    const struct status_row **differs)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(status_rows); i++) {
		const struct status_row *row = &status_rows[i];
		char value[64];

		*differs = row;
		if (!ab_proc_line(status, row->line, value, sizeof(value)))
			return false;
		if (strcmp(value, row->good) != 0 &&
		    !is_meaningless(run, row) &&
		    (run->walls.expected & row->bit))
			return false;
	}
	return true;
}

/* The holder, the first process and a program of the library's outside. */
static bool is_agents(const ab_verify_run *run, const ab_proc *p)
{
	if (p->pid == run->walls.holder || p->pid == run->prober)
		return false;
	return p->parent != run->walls.holder;
}

static void look_at_others(ab_verify_run *run)
{
	static const char probe[] = "processes.all", wall[] = "processes";
	static const char tried[] = "look at every process of the box";
	size_t seen = 0;

	for (size_t i = 0; i < run->proc_count; i++) {
		const ab_proc *p = &run->procs[i];
		ab_autofree char *status = NULL;
		const struct status_row *differs = NULL;
		int sys_errno;

		if (!is_agents(run, p))
			continue;
		status = ab_proc_text(p->pid, "status", &sys_errno);
		/* it has ended, or it is another of the same number */
		if (!status || ab_proc_started(p->pid) != p->started)
			continue;
		seen++;
		if (is_behind_walls(run, status, &differs))
			continue;
		ab_verify_add(run->report, probe, differs->wall, tried, true,
			      AB_VERDICT_MISSING,
			      ab_asprintf("process %d of the box differs from "
					  "a command at %s",
					  (int)p->pid_inside, differs->line),
			      ab_strdup("nothing"));
		return;
	}
	ab_verify_add(run->report, probe, wall, tried, true, AB_VERDICT_PASS,
		      ab_asprintf("%zu beside the program, each with the walls "
				  "of a command", seen),
		      ab_strdup("caps, no_new_privs, seccomp"));
}

/* --- ids ----------------------------------------------------------------- */

static void look_at_ids(ab_verify_run *run, const char *status)
{
	static const char probe[] = "ids.kernel", wall[] = "uid";
	static const char tried[] = "look whose the process is to the kernel";
	char line[128];
	bool is_root = false;
	char *at;

	if (!ab_proc_line(status, "Uid", line, sizeof(line))) {
		unknown(run, probe, wall, tried, "/proc does not say");
		return;
	}
	at = line;
	for (int i = 0; i < 4; i++)
		is_root |= strtoul(at, &at, 10) == 0;
	ab_verify_add(run->report, probe, wall, tried, true,
		      is_root ? lacking(run, AB_WALL_USERNS)
			      : AB_VERDICT_PASS,
		      ab_asprintf("kernel uid %.*s", (int)strcspn(line, "\t"),
				  line),
		      ab_strdup(is_root ? "nothing" : "uid"));
}

/* Groups of the host's user stay in force where nobody can drop them. */
static void look_at_groups(ab_verify_run *run, const char *status)
{
	static const char probe[] = "ids.groups", wall[] = "groups";
	static const char tried[] = "look for groups that the box has kept";
	char line[2048];
	bool none;

	if (!ab_proc_line(status, "Groups", line, sizeof(line))) {
		unknown(run, probe, wall, tried, "/proc does not say");
		return;
	}
	none = line[strspn(line, " ")] == '\0';
	ab_verify_add(run->report, probe, wall, tried, true,
		      none ? AB_VERDICT_PASS : AB_VERDICT_WEAKER,
		      none ? ab_strdup("none")
			   : ab_asprintf("%s: what the host's user may read by "
					 "these, the box may", line),
		      ab_strdup(none ? "groups" : "nothing"));
}

/* --- limits -------------------------------------------------------------- */

static const struct limit_row {
	const char *name, *probe;
	const char *line; /* of /proc/PID/limits */
	const char *v1, *v2;	 /* files of a cgroup; v2's "max" is none */
} limit_rows[] = {
	{ "memory", "limits.memory", NULL, "memory.limit_in_bytes", "memory.max" },
	{ "cpus", "limits.cpus", NULL, "cpu.cfs_quota_us", "cpu.max" },
	{ "pids", "limits.pids", "Max processes", "pids.max", "pids.max" },
	{ "files", "limits.files", "Max open files", NULL, NULL },
	{ "disk", "limits.disk", "Max file size", NULL, NULL },
};

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
	at += strspn(at, " ");
	if (strncmp(at, "unlimited", 9) == 0)
		return -1;
	return (int64_t)strtoll(at, NULL, 10);
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

/* Is the program one of those that the box's cgroups hold? */
static bool is_in_cgroups(const ab_verify_run *run)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)run->prober);
	for (size_t i = 0; i < run->walls.cgroup_count; i++) {
		ab_autofree char *path = ab_asprintf(
			"%s/cgroup.procs", run->walls.cgroups[i]);
		ab_autofree char *text = NULL;
		ab_autofd int fd = -1;
		size_t n, k = strlen(pid);
		bool found = false;

		if (path)
			fd = ab_fd_lift(open(path, O_RDONLY | O_CLOEXEC));
		if (fd < 0 || ab_fd_slurp(fd, 1 << 20, &text, &n))
			return false;
		for (const char *at = text; !found && *at;) {
			size_t len = strcspn(at, "\n");

			found = len == k && strncmp(at, pid, k) == 0;
			at += len + (at[len] == '\n');
		}
		if (!found)
			return false;
	}
	return true;
}

/* Our own processes of a box are counted in: lib/walls/limits.c. */
#define OWN_PROCESSES 16

static bool is_within(int64_t value, int64_t requested)
{
	return value >= 0 && value <= requested + OWN_PROCESSES;
}

/* What holds it, as the kernel has it now; owned; *holds: is it a limit. */
static char *read_limit(const ab_verify_run *run, const struct limit_row *row,
			const char *mechanism, const char *limits,
			int64_t requested, bool *holds)
{
	char text[128] = "";
	int64_t value;

	*holds = false;
	if (!strncmp(mechanism, "cgroup", 6)) {
		const char *file = !strcmp(mechanism, "cgroup2") ? row->v2
								 : row->v1;

		if (!read_cgroup(run, file, text, sizeof(text)))
			return ab_strdup("the box's cgroup is not to be read");
		/* "max" and -1 are none; of cpus it is a share of a period */
		*holds = text[0] >= '0' && text[0] <= '9' &&
			 (!strcmp(row->name, "cpus") ||
			  is_within((int64_t)strtoll(text, NULL, 10),
				    requested));
		return ab_asprintf("%s is %s", file, text);
	}
	if (!strcmp(mechanism, "rlimit") && row->line) {
		value = limit_of(limits, row->line);
		*holds = is_within(value, requested);
		return ab_asprintf("%s: %lld", row->line, (long long)value);
	}
	*holds = true;
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
	if (!json_is_integer(json_object_get(l, "requested")) || !mechanism)
		return;
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

static void look_at_limits(ab_verify_run *run)
{
	int sys_errno;
	ab_autofree char *limits =
		ab_proc_text(run->prober, "limits", &sys_errno);

	if (!limits) {
		unknown(run, "limits", "limits", "look at the limits",
			strerrordesc_np(sys_errno));
		return;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(limit_rows); i++)
		look_at_limit(run, &limit_rows[i], limits);
	if (limit_of(limits, "Max core file size") != 0)
		told(run, "core", "limits", "look whether memory is dumped",
		     lacking(run, AB_WALL_CAPS), "a core file may be written",
		     "nothing");
	else
		told(run, "core", "limits", "look whether memory is dumped",
		     AB_VERDICT_PASS, "no core file", "rlimit");
	if (!run->walls.cgroup_count)
		return;
	told(run, "cgroup", "cgroup", "look for the process in its cgroups",
	     is_in_cgroups(run) ? AB_VERDICT_PASS : AB_VERDICT_MISSING,
	     is_in_cgroups(run) ? "it is in each of them"
				: "it is not in all of them",
	     is_in_cgroups(run) ? "cgroup" : "nothing");
}

/* --- all of it ----------------------------------------------------------- */

/* The first process of the box, and the launcher: for the inside. */
static void name_inside(ab_verify_run *run)
{
	pid_t first = 0, launcher = 0;

	for (size_t i = 0; i < run->proc_count; i++) {
		const ab_proc *p = &run->procs[i];
		ab_autofree char *status = NULL;
		char name[64];
		int sys_errno;

		status = ab_proc_text(p->pid, "status", &sys_errno);
		if (!status ||
		    !ab_proc_line(status, "Name", name, sizeof(name)))
			continue;
		if (p->parent == run->walls.holder &&
		    !strcmp(name, "agentbox-pid1"))
			first = p->pid_inside;
		/* a command can give itself the name, but is made later */
		if (!launcher && !strcmp(name, "agentbox-launch"))
			launcher = p->pid_inside;
	}
	if (first)
		(void)ab_bait_set(&run->bait, "init",
				  ab_asprintf("%d", (int)first));
	if (launcher)
		(void)ab_bait_set(&run->bait, "launcher",
				  ab_asprintf("%d", (int)launcher));
}

static void find_prober(ab_verify_run *run)
{
	int32_t pid = run->process ? agentbox_process_get_pid(run->process)
				   : 0;

	for (size_t i = 0; pid > 0 && i < run->proc_count; i++) {
		if (run->procs[i].pid_inside == pid &&
		    run->procs[i].pid != run->walls.holder)
			run->prober = run->procs[i].pid;
	}
}

void ab_verify_outside(ab_verify_run *run)
{
	static const char tried[] = "look at the processes from outside";
	ab_autofree char *status = NULL;
	int sys_errno = 0;

	ab_proc_find(run);
	name_inside(run);
	find_prober(run);
	if (!run->prober) {
		unknown(run, "outside", "processes", tried,
			run->procs_why	? run->procs_why
			: run->why_not ? run->why_not
				       : "the program is not in /proc");
		return;
	}
	status = ab_proc_text(run->prober, "status", &sys_errno);
	if (!status) {
		unknown(run, "outside", "processes", tried,
			strerrordesc_np(sys_errno));
		return;
	}
	look_at_namespaces(run);
	look_at_status(run, status);
	look_at_ids(run, status);
	look_at_groups(run, status);
	look_at_limits(run);
	look_at_others(run);
	ab_verify_mounts(run);
}
