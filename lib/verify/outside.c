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

void ab_verify_tell(ab_verify_run *run, const char *probe, const char *wall,
		    const char *tried, uint32_t verdict, const char *result,
		    const char *answer)
{
	ab_verify_add(run->report, probe, wall, tried, true, verdict,
		      ab_strdup(result), ab_strdup(answer));
}

static void unknown(ab_verify_run *run, const char *probe, const char *wall,
		    const char *tried, const char *why)
{
	ab_verify_tell(run, probe, wall, tried, AB_VERDICT_UNKNOWN,
		       "not to be found out", why);
}

/* Where the box was raised without this wall, its lack is the policy's. */
uint32_t ab_verify_lacking(const ab_verify_run *run, uint32_t wall)
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

		uint32_t verdict = AB_VERDICT_UNKNOWN;
		const char *result = "not to be found out";
		const char *answer = strerrordesc_np(first ? first : second);

		if (n->bit == AB_WALL_NETNS &&
		    run->policy->network.mode == AB_NET_HOST) {
			verdict = AB_VERDICT_NOT_APPLICABLE;
			result = "the host's";
			answer = "/network/mode is host";
		} else if (!(run->walls.expected & n->bit)) {
			verdict = AB_VERDICT_WEAKER;
			result = "none of its own in this tier";
			answer = "nothing";
		} else if (theirs && theirs == ours) {
			verdict = ab_verify_lacking(run, n->bit);
			result = "it is the owner's";
			answer = "nothing";
		} else if (theirs && ours) {
			verdict = AB_VERDICT_PASS;
			result = "its own";
			answer = n->wall;
		}
		ab_verify_tell(run, n->probe, n->wall, tried, verdict, result,
			       answer);
		if (theirs && ours && theirs != ours) {
			run->has_own_net |= n->bit == AB_WALL_NETNS;
			run->has_own_tree |= n->bit == AB_WALL_MOUNTNS;
		}
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
		uint32_t verdict = AB_VERDICT_PASS;
		char value[64];

		if (!ab_proc_line(status, row->line, value, sizeof(value))) {
			unknown(run, row->probe, row->wall, row->tried,
				"/proc does not say");
			continue;
		}
		if (strcmp(value, row->good) != 0)
			verdict = is_meaningless(run, row) ?
					  AB_VERDICT_WEAKER :
					  ab_verify_lacking(run, row->bit);
		ab_verify_tell(run, row->probe, row->wall, row->tried, verdict,
			       value, verdict == AB_VERDICT_PASS ? row->wall :
								   "nothing");
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

bool ab_verify_is_inside(const ab_verify_run *run, const ab_proc *p)
{
	return p->pid == run->first || is_agents(run, p) ||
	       p->pid == run->prober;
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
		if (!status && !ab_proc_is_gone(sys_errno)) {
			unknown(run, probe, wall, tried,
				strerrordesc_np(sys_errno));
			return;
		}
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

/* --- tracers -------------------------------------------------------------- */

/*
 * Who traces one thread of a process has all that it has: ptrace(2). The agent
 * may trace its own, as a debugger does, and nobody else's.
 */
static pid_t may_be_traced_below(const ab_verify_run *run, const ab_proc *p)
{
	return is_agents(run, p) && p->pid != run->launcher
		       ? run->walls.holder
		       : 0;
}

static void look_at_tracers(ab_verify_run *run)
{
	static const char probe[] = "process.traced", wall[] = "init";
	static const char tried[] = "look whether a process is traced";

	for (size_t i = 0; i < run->proc_count; i++) {
		const ab_proc *p = &run->procs[i];
		long tracer = ab_proc_tracer(p->pid,
					     may_be_traced_below(run, p));

		if (tracer == 0 ||
		    (tracer < 0 && ab_proc_is_gone((int)-tracer)))
			continue;
		if (tracer < 0) {
			unknown(run, probe, wall, tried,
				strerrordesc_np((int)-tracer));
			return;
		}
		ab_verify_add(run->report, probe, wall, tried, true,
			      AB_VERDICT_MISSING,
			      ab_asprintf("process %d of the box is traced by "
					  "process %ld of this machine",
					  (int)p->pid_inside, tracer),
			      ab_strdup("nothing"));
		return;
	}
	ab_verify_tell(run, probe, wall, tried, AB_VERDICT_PASS,
		       "none, but by its own", "init");
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
		      is_root ? ab_verify_lacking(run, AB_WALL_USERNS)
			      : AB_VERDICT_PASS,
		      ab_asprintf("kernel uid %.*s", (int)strcspn(line, "\t"),
				  line),
		      ab_strdup(is_root ? "nothing" : "uid"));
}

/*
 * Groups of the host's user stay in force where nobody can drop them. Who
 * could give the box a kernel uid of its own could: lib/walls/compile.c.
 */
static void look_at_groups(ab_verify_run *run, const char *status)
{
	static const char probe[] = "ids.groups", wall[] = "groups";
	static const char tried[] = "look for groups that the box has kept";
	char line[2048], uid[128];
	bool none, is_owners;

	if (!ab_proc_line(status, "Groups", line, sizeof(line)) ||
	    !ab_proc_line(status, "Uid", uid, sizeof(uid))) {
		unknown(run, probe, wall, tried, "/proc does not say");
		return;
	}
	none = line[strspn(line, " ")] == '\0';
	is_owners = strtoul(uid, NULL, 10) == run->owner;
	ab_verify_add(run->report, probe, wall, tried, true,
		      none	   ? AB_VERDICT_PASS
		      : is_owners ? AB_VERDICT_WEAKER
				  : AB_VERDICT_MISSING,
		      none ? ab_strdup("none")
			   : ab_asprintf("%s: what the host's user may read by "
					 "these, the box may", line),
		      ab_strdup(none ? "groups" : "nothing"));
}

/* --- beside the box ------------------------------------------------------ */

void ab_verify_confined(ab_verify_run *run, const char *probe,
			const char *wall, pid_t pid)
{
	static const char tried[] = "look what its process may still do";
	static const char *const lines[] = { "Seccomp", "NoNewPrivs", "CapPrm",
					     "CapEff" };
	int sys_errno = ESRCH;
	ab_autofree char *status =
		pid > 0 ? ab_proc_text(pid, "status", &sys_errno) : NULL;
	char value[64];

	if (!status) {
		unknown(run, probe, wall, tried, strerrordesc_np(sys_errno));
		return;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(status_rows); i++) {
		const struct status_row *row = &status_rows[i];
		bool is_meant = false;

		for (size_t k = 0; k < AB_ARRAY_LEN(lines); k++)
			is_meant |= !strcmp(lines[k], row->line);
		if (!is_meant)
			continue;
		if (ab_proc_line(status, row->line, value, sizeof(value)) &&
		    !strcmp(value, row->good))
			continue;
		ab_verify_add(run->report, probe, wall, tried, true,
			      AB_VERDICT_MISSING,
			      ab_asprintf("%s is not %s", row->line,
					  row->good),
			      ab_strdup("nothing"));
		return;
	}
	if (ab_proc_tracer(pid, 0) != 0) {
		ab_verify_tell(run, probe, wall, tried, AB_VERDICT_MISSING,
			       "it is traced", "nothing");
		return;
	}
	ab_verify_tell(run, probe, wall, tried, AB_VERDICT_PASS,
		       "a filter, no capability, no new rights",
		       "seccomp, caps, no_new_privs");
}

/* --- all of it ----------------------------------------------------------- */

void ab_verify_status(ab_verify_run *run, const char *status)
{
	look_at_status(run, status);
	look_at_ids(run, status);
	look_at_groups(run, status);
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
	ab_verify_limits(run, limits);
	ab_verify_look_at_scheduling(run, limits);
}

/* The first process of the box, and the launcher: for the inside. */
static void name_inside(ab_verify_run *run)
{
	pid_t first = 0, launcher = 0; /* in the box's numbers */
	uint64_t started = UINT64_MAX;

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
		    !strcmp(name, "agentbox-pid1")) {
			first = p->pid_inside;
			run->first = p->pid;
		}
		/* a command can give itself the name, but is made later */
		if (p->started < started && !strcmp(name, "agentbox-launch")) {
			launcher = p->pid_inside;
			run->launcher = p->pid;
			started = p->started;
		}
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
		/* a command is PID 1's child, whatever numbers are used in
		   namespaces below */
		if (run->procs[i].pid_inside == pid &&
		    run->procs[i].parent == run->first)
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
	ab_verify_status(run, status);
	look_at_limits(run);
	look_at_others(run);
	ab_verify_look_at_all_scheduling(run);
	ab_verify_look_at_all_cgroups(run);
	look_at_tracers(run);
	ab_verify_mounts(run);
}
