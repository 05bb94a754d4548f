/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a helper is scheduled. The host may run before all others: in real time,
 * with a nice value below zero, with the real-time class of I/O, or with
 * limits by which a process may take these itself. Helpers and whatever they
 * start inherit all of it, and an agent that has it can starve the machine and
 * the host that would end it. What makes a host yield to others (a positive
 * nice value, SCHED_BATCH, SCHED_IDLE, the processors that it runs on) is its
 * wish for its children too and stays.
 *
 * None of this takes a right, and without CAP_SYS_NICE and CAP_SYS_RESOURCE
 * none of it can be undone. Compiled into helpers only. Libc only; -errno form.
 * Spec: sched(7), setpriority(2), ioprio_set(2), getrlimit(2).
 */
#ifndef AB_WIRE_SCHEDULE_H
#define AB_WIRE_SCHEDULE_H

#include <stdbool.h>

/* linux/sched.h and linux/ioprio.h, which the libc does not name */
#define AB_POLICY_OTHER 0
#define AB_POLICY_BATCH 3
#define AB_POLICY_IDLE 5
#define AB_POLICY_EXT 7
#define AB_IO_WHO_PROCESS 1
#define AB_IO_CLASS_SHIFT 13
#define AB_IO_CLASS_MASK 7
#define AB_IO_CLASS_RT 1

/* Any policy that is not known to yield may be one of those that do not
   (SCHED_FIFO, SCHED_RR, SCHED_DEADLINE). */
static inline bool ab_schedule_yields(long policy)
{
	return policy == AB_POLICY_OTHER || policy == AB_POLICY_BATCH ||
	       policy == AB_POLICY_IDLE || policy == AB_POLICY_EXT;
}

/* What ioprio_get(2) says: before the I/O of everybody else? */
static inline bool ab_schedule_is_io_first(long priority)
{
	return (priority >> AB_IO_CLASS_SHIFT & AB_IO_CLASS_MASK) ==
	       AB_IO_CLASS_RT;
}

/*
 * This process and all that it starts from now on run as others do. -errno
 * when it cannot be had or not be known; `what` then names what it was.
 */
int ab_schedule_as_others(const char **what);

#endif
