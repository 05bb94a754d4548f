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

/* linux/ioprio.h, linux/sched.h */
#define IO_WHO_PROCESS 1
#define IO_CLASS_RT 1
#define IO_CLASS_SHIFT 13
#define POLICY_OTHER 0
#define POLICY_BATCH 3
#define POLICY_IDLE 5
#define POLICY_EXT 7

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

static bool yields(long policy)
{
	return policy == POLICY_OTHER || policy == POLICY_BATCH ||
	       policy == POLICY_IDLE || policy == POLICY_EXT;
}

/* What it has that others have not, or NULL. */
static const char *find_more(long policy, long nice, long io_priority,
			     const char *limits)
{
	if (!yields(policy))
		return "it runs in real time";
	if (nice < 0)
		return "its nice value is below zero";
	/* a kernel without priorities of I/O has none that come first */
	if (io_priority != -ENOSYS &&
	    io_priority >> IO_CLASS_SHIFT == IO_CLASS_RT)
		return "its I/O comes before that of others";
	if (!is_none(limits, "Max realtime priority"))
		return "it may take a real-time priority";
	if (!is_none(limits, "Max nice priority"))
		return "it may lower its nice value";
	return NULL;
}

void ab_verify_scheduling(ab_verify_run *run, const char *stat,
			  const char *limits, long io_priority)
{
	static const char probe[] = "scheduling", wall[] = "scheduling";
	static const char tried[] = "look whether it runs before others";
	const char *more;
	long policy, nice;

	if (!field_of(stat, POLICY_FIELD, &policy) ||
	    !field_of(stat, NICE_FIELD, &nice) ||
	    (io_priority < 0 && io_priority != -ENOSYS)) {
		ab_verify_tell(run, probe, wall, tried, AB_VERDICT_UNKNOWN,
			       "not to be found out", "the kernel does not say");
		return;
	}
	more = find_more(policy, nice, io_priority, limits);
	ab_verify_tell(run, probe, wall, tried,
		       more ? ab_verify_lacking(run, AB_WALL_CAPS)
			    : AB_VERDICT_PASS,
		       more ? more : "as others, and can take no more",
		       more ? "nothing" : "agentbox-init");
}

void ab_verify_look_at_scheduling(ab_verify_run *run, const char *limits)
{
	int sys_errno = 0;
	ab_autofree char *stat = ab_proc_text(run->prober, "stat", &sys_errno);
	long io_priority = syscall(SYS_ioprio_get, IO_WHO_PROCESS,
				   run->prober);

	ab_verify_scheduling(run, stat ? stat : "", limits,
			     io_priority < 0 ? -errno : io_priority);
}
