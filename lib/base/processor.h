/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which processor a new process begins on. The kernel puts it on the one that
 * made it and wakes who made it there, so that one of the two waits for the
 * other; of two processors that are half at work it looks for no idle one
 * (SIS_UTIL in the kernel's sched/fair.c). These are hints: where they are
 * refused, it begins later. Libc only; -errno form. Spec: sched_setaffinity(2).
 */
#ifndef AB_BASE_PROCESSOR_H
#define AB_BASE_PROCESSOR_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/* A set as text: hexadecimal digits of four processors each, first ones first;
   "" is none. */
#define AB_PROCESSORS_TEXT (CPU_SETSIZE / 4 + 1)

/* Those of the caller; none when there are more than a set has room for. */
void ab_processor_get(cpu_set_t *all);
/* All but the one that the caller runs on; false: there are none. */
bool ab_processor_others(const cpu_set_t *all, cpu_set_t *others);
/*
 * A process of ours that may wait behind the caller goes to another processor,
 * and may come back: it has `all` of them when this returns. -errno: not all.
 */
int ab_processor_push(pid_t pid, const cpu_set_t *all);
/*
 * While it is moved a process has less than all, and so has what it makes: who
 * is made by us hears from us what all are, and takes them.
 */
void ab_processor_print(const cpu_set_t *set, char text[AB_PROCESSORS_TEXT]);
/* What is no such text is none. */
void ab_processor_parse(const char *text, cpu_set_t *set);

#endif
