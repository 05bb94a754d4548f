/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looks first and changes only what has to be: a service may be forbidden to
 * schedule itself, and needs nothing of this. Looks again afterwards: a filter
 * may answer in the kernel's place that all is well. Spec: schedule.h.
 */
#include "config.h"

#include "wire/schedule.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/attr.h"

#define RESET_ON_FORK 0x40000000 /* linux/sched.h */

/* All by number: musl's functions for policies do nothing. */
static long get_policy(void)
{
	long policy = syscall(SYS_sched_getscheduler, 0);

	return policy < 0 ? -errno : policy;
}

/* 1, 0 or -errno, as all of the kind. */
static int has_shared_policy(void)
{
	long policy = get_policy();

	if (policy < 0)
		return (int)policy;
	return ab_schedule_yields(policy & ~(long)RESET_ON_FORK);
}

/* The flag cannot be taken away without a right: sched(7). */
static int share_policy(void)
{
	const struct sched_param none = {.sched_priority = 0};
	long policy = get_policy();

	if (policy < 0)
		return (int)policy;
	return syscall(SYS_sched_setscheduler, 0,
		       AB_POLICY_OTHER | (policy & RESET_ON_FORK), &none)
		       ? -errno : 0;
}

/* The kernel tells 20 less the value: getpriority(2). */
static int has_shared_nice(void)
{
	long told = syscall(SYS_getpriority, PRIO_PROCESS, 0);

	return told < 0 ? -errno : told <= 20;
}

static int share_nice(void)
{
	return syscall(SYS_setpriority, PRIO_PROCESS, 0, 0) ? -errno : 0;
}

/*
 * Where no class was set the kernel tells the one that the policy gives, so
 * that comes before. A kernel without block devices has none: ENOSYS.
 */
static int has_shared_io(void)
{
	long priority = syscall(SYS_ioprio_get, AB_IO_WHO_PROCESS, 0);

	if (priority < 0)
		return errno == ENOSYS ? 1 : -errno;
	return !ab_schedule_is_io_first(priority);
}

static int share_io(void)
{
	return syscall(SYS_ioprio_set, AB_IO_WHO_PROCESS, 0, 0) ? -errno : 0;
}

static int is_without(int resource)
{
	uint64_t limit[2] = {~0ull, ~0ull};

	if (syscall(SYS_prlimit64, 0, resource, NULL, limit))
		return -errno;
	return limit[0] == 0 && limit[1] == 0;
}

static int be_without(int resource)
{
	const uint64_t none[2] = {0, 0};

	return syscall(SYS_prlimit64, 0, resource, none, NULL) ? -errno : 0;
}

static int has_no_rtprio(void)
{
	return is_without(RLIMIT_RTPRIO);
}

static int drop_rtprio(void)
{
	return be_without(RLIMIT_RTPRIO);
}

static int has_no_nice(void)
{
	return is_without(RLIMIT_NICE);
}

static int drop_nice(void)
{
	return be_without(RLIMIT_NICE);
}

static const struct part {
	const char *what;
	int (*is_shared)(void);
	int (*share)(void);
} parts[] = {
	{"policy", has_shared_policy, share_policy},
	{"nice value", has_shared_nice, share_nice},
	{"i/o class", has_shared_io, share_io},
	{"RLIMIT_RTPRIO", has_no_rtprio, drop_rtprio},
	{"RLIMIT_NICE", has_no_nice, drop_nice},
};

int ab_schedule_as_others(const char **what)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(parts); i++) {
		int r = parts[i].is_shared();

		if (r == 0) {
			r = parts[i].share();
			if (r == 0)
				r = parts[i].is_shared();
		}
		if (r <= 0) {
			*what = parts[i].what;
			return r ? r : -EPERM;
		}
	}
	return 0;
}
