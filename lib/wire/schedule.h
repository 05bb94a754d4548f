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

/*
 * This process and all that it starts from now on run as others do. -errno
 * when it cannot be had or not be known; `what` then names what it was.
 */
int ab_schedule_as_others(const char **what);

#endif
