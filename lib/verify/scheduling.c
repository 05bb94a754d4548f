/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Does a command run before the machine's other processes, or could it take
 * that itself? Read from outside. Spec: wire/schedule.h, proc_pid_stat(5),
 * proc_pid_limits(5), ioprio_get(2).
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "verify/internal.h"
#include "wire/schedule.h"

#define NICE_FIELD 19
#define POLICY_FIELD 41

/* A number of proc_pid_stat(5); false: it is not there. */
static bool field_of(const char *stat, int wanted, long *out)
{
	/* the name in brackets may hold anything: count from its end */
	const char *at = strrchr(stat, ')');
	char *end;

	for (int field = 2; at && field < wanted; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return false;
	*out = strtol(at + 1, &end, 10);
	return end != at + 1;
}

/* What is behind a 0 that stands alone, or NULL. */
static const char *take_zero(const char *at)
{
	at += strspn(at, " ");
	return at[0] == '0' && (at[1] == ' ' || at[1] == '\n') ? at + 1 : NULL;
}

/* "Max NAME" with 0 as soft and as hard limit. */
static bool is_none(const char *limits, const char *line)
{
	const char *at = strstr(limits, line);

	at = at ? take_zero(at + strlen(line)) : NULL;
	return at && take_zero(at);
}

/* What it has that others have not, or NULL. */
static const char *find_more(long policy, long nice, long io_priority,
			     const char *limits)
{
	if (!ab_schedule_yields(policy))
		return "it runs in real time";
	if (nice < 0)
		return "its nice value is below zero";
	/* a kernel without priorities of I/O has none that come first */
	if (io_priority != -ENOSYS && ab_schedule_is_io_first(io_priority))
		return "its I/O comes before that of others";
	if (!is_none(limits, "Max realtime priority"))
		return "it may take a real-time priority";
	if (!is_none(limits, "Max nice priority"))
		return "it may lower its nice value";
	return NULL;
}

/* False: the kernel does not say. */
static bool look_for_more(const char *stat, const char *limits,
			  long io_priority, const char **more)
{
	long policy, nice;

	if (!field_of(stat, POLICY_FIELD, &policy) ||
	    !field_of(stat, NICE_FIELD, &nice) ||
	    (io_priority < 0 && io_priority != -ENOSYS))
		return false;
	*more = find_more(policy, nice, io_priority, limits);
	return true;
}

static void tell(ab_verify_run *run, bool is_known, const char *more)
{
	static const char probe[] = "scheduling", wall[] = "scheduling";
	static const char tried[] = "look whether it runs before others";

	if (!is_known)
		ab_verify_tell(run, probe, wall, tried, AB_VERDICT_UNKNOWN,
			       "not to be found out", "the kernel does not say");
	else if (more)
		ab_verify_tell(run, probe, wall, tried,
			       ab_verify_lacking(run, AB_WALL_CAPS), more,
			       "nothing");
	else
		ab_verify_tell(run, probe, wall, tried, AB_VERDICT_PASS,
			       "as others, and can take no more",
			       "agentbox-init");
}

void ab_verify_scheduling(ab_verify_run *run, const char *stat,
			  const char *limits, long io_priority)
{
	const char *more = NULL;
	bool is_known = look_for_more(stat, limits, io_priority, &more);

	tell(run, is_known, more);
}

static long io_priority_of(pid_t thread)
{
	long priority = syscall(SYS_ioprio_get, AB_IO_WHO_PROCESS, thread);

	return priority < 0 ? -errno : priority;
}

void ab_verify_look_at_scheduling(ab_verify_run *run, const char *limits)
{
	int sys_errno = 0;
	ab_autofree char *stat = ab_proc_text(run->prober, "stat", &sys_errno);

	ab_verify_scheduling(run, stat ? stat : "", limits,
			     io_priority_of(run->prober));
}

/* --- every other process -------------------------------------------------- */

typedef struct look {
	const char *limits; /* of the process */
	const char *more;
} look;

/* sched(7): each thread has a policy, a nice value and an I/O class. */
static long look_at_thread(void *arg, pid_t pid, const char *thread)
{
	look *l = arg;
	int sys_errno;
	ab_autofree char *stat = NULL;
	char file[64];
	long io_priority;

	snprintf(file, sizeof(file), "task/%.20s/stat", thread);
	stat = ab_proc_text(pid, file, &sys_errno);
	if (!stat)
		return -(long)sys_errno;
	io_priority = io_priority_of((pid_t)strtol(thread, NULL, 10));
	if (!look_for_more(stat, l->limits, io_priority, &l->more))
		return io_priority < 0 ? io_priority : -(long)EPROTO;
	return l->more != NULL;
}

/* 0: as others; 1: *more; -errno: not known. */
static long look_at_process(const ab_proc *p, const char **more)
{
	int sys_errno;
	ab_autofree char *limits = ab_proc_text(p->pid, "limits", &sys_errno);
	look l = { .limits = limits };
	long r = limits ? ab_proc_each_thread(p->pid, look_at_thread, &l)
			: -(long)sys_errno;

	*more = l.more;
	/* it has ended, or it is another of the same number */
	if ((r < 0 && ab_proc_is_gone((int)-r)) ||
	    (r && ab_proc_started(p->pid) != p->started))
		return 0;
	return r;
}

void ab_verify_look_at_all_scheduling(ab_verify_run *run)
{
	static const char probe[] = "scheduling.all", wall[] = "scheduling";
	static const char tried[] = "look whether a process of the box runs "
				    "before others";
	size_t n = 0;

	for (size_t i = 0; i < run->proc_count; i++) {
		const ab_proc *p = &run->procs[i];
		const char *more = NULL;
		long r;

		if (!ab_verify_is_inside(run, p))
			continue;
		n++;
		r = look_at_process(p, &more);
		if (r == 0)
			continue;
		ab_verify_add(run->report, probe, wall, tried, true,
			      r < 0 ? AB_VERDICT_UNKNOWN
				    : ab_verify_lacking(run, AB_WALL_CAPS),
			      r < 0 ? ab_strdup("not to be found out")
				    : ab_asprintf("process %d of the box: %s",
						  (int)p->pid_inside, more),
			      ab_strdup(r < 0 ? strerrordesc_np((int)-r)
					      : "nothing"));
		return;
	}
	ab_verify_add(run->report, probe, wall, tried, true, AB_VERDICT_PASS,
		      ab_asprintf("%zu, as others, and none can take more", n),
		      ab_strdup("agentbox-init"));
}
