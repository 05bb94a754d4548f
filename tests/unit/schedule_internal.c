/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a helper does about how its host is scheduled: schedule.c with a kernel
 * of the test's own, because no ordinary user may run before others, and few
 * machines let root give itself the limits. With the real one:
 * tests/e2e/realtime.c.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <linux/sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/attr.h"
#include "wire/schedule.h"

/* --- the kernel ---------------------------------------------------------- */

static struct kernel {
	long policy, nice, io;
	uint64_t rtprio[2], most_nice[2];
	/* a call that it refuses, or answers without doing it (sys_errno 0) */
	long number;
	int sys_errno;
} kernel;
static int changes;

static uint64_t *limit_of(long resource)
{
	ck_assert(resource == RLIMIT_RTPRIO || resource == RLIMIT_NICE);
	return resource == RLIMIT_RTPRIO ? kernel.rtprio : kernel.most_nice;
}

static long set(long *what, long value)
{
	changes++;
	*what = value;
	return 0;
}

static long set_limit(uint64_t *limit, const uint64_t *to)
{
	changes++;
	memcpy(limit, to, 2 * sizeof(*limit));
	return 0;
}

/* Without a class of its own a thread has that of its policy. */
static long effective_io(void)
{
	long policy = kernel.policy & ~(long)SCHED_RESET_ON_FORK;

	if (kernel.io)
		return kernel.io;
	return policy == SCHED_FIFO || policy == SCHED_RR ? 1l << 13 : 2l << 13;
}

static long answer(long number, const long a[4])
{
	switch (number) {
	case SYS_sched_getscheduler:
		return kernel.policy;
	case SYS_sched_setscheduler:
		ck_assert_int_eq(*(const int *)a[2], 0);
		return set(&kernel.policy, a[1]);
	case SYS_getpriority:
		return 20 - kernel.nice;
	case SYS_setpriority:
		return set(&kernel.nice, a[2]);
	case SYS_ioprio_get:
		return effective_io();
	case SYS_ioprio_set:
		return set(&kernel.io, a[2]);
	case SYS_prlimit64:
		if (a[2])
			return set_limit(limit_of(a[1]),
					 (const uint64_t *)a[2]);
		memcpy((uint64_t *)a[3], limit_of(a[1]), 2 * sizeof(uint64_t));
		return 0;
	}
	ck_abort_msg("call %ld", number);
	return -1;
}

long faked_syscall(long number, ...);
long faked_syscall(long number, ...)
{
	bool asks = false;
	long a[4] = {0};
	va_list ap;

	va_start(ap, number);
	if (number == SYS_prlimit64) {
		a[0] = va_arg(ap, int);
		a[1] = va_arg(ap, int);
		a[2] = (long)va_arg(ap, void *);
		a[3] = (long)va_arg(ap, void *);
		asks = !a[2];
	} else if (number == SYS_sched_setscheduler) {
		a[0] = va_arg(ap, int);
		a[1] = va_arg(ap, long);
		a[2] = (long)va_arg(ap, void *);
	} else {
		a[0] = va_arg(ap, int);
		if (number != SYS_sched_getscheduler)
			a[1] = va_arg(ap, int);
		if (number == SYS_setpriority || number == SYS_ioprio_set)
			a[2] = va_arg(ap, int);
	}
	va_end(ap);
	/* itself: the second one says whose it is, or the first */
	ck_assert_int_eq(number == SYS_getpriority ||
			 number == SYS_setpriority ||
			 number == SYS_ioprio_get ||
			 number == SYS_ioprio_set ? a[1] : a[0], 0);
	if (number != kernel.number || asks)
		return answer(number, a);
	errno = kernel.sys_errno;
	return kernel.sys_errno ? -1 : 0;
}

/* --- the tests ----------------------------------------------------------- */

static void is_others(long policy, long nice, long io)
{
	const char *what = NULL;
	int changed;

	ck_assert_int_eq(ab_schedule_as_others(&what), 0);
	ck_assert_ptr_null(what);
	ck_assert_int_eq(kernel.policy, policy);
	ck_assert_int_eq(kernel.nice, nice);
	ck_assert_int_eq(kernel.io, io);
	ck_assert_uint_eq(kernel.rtprio[0] | kernel.rtprio[1] |
			  kernel.most_nice[0] | kernel.most_nice[1], 0);
	/* and who is as others are is let be */
	changed = changes;
	ck_assert_int_eq(ab_schedule_as_others(&what), 0);
	ck_assert_int_eq(changes, changed);
}

static void setup(void)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.number = -1;
	changes = 0;
}

START_TEST(who_runs_before_others_does_not_any_more)
{
	/* the last one is of no kernel that is known */
	static const int policies[] = {SCHED_FIFO, SCHED_RR, SCHED_DEADLINE,
				       4, 99};

	kernel.policy = policies[_i];
	kernel.nice = -20;
	kernel.io = 1l << 13 | 4;
	kernel.rtprio[0] = kernel.rtprio[1] = 99;
	kernel.most_nice[0] = kernel.most_nice[1] = 40;
	is_others(SCHED_NORMAL, 0, 0);
}
END_TEST

START_TEST(a_class_that_came_with_the_policy_goes_with_it)
{
	kernel.policy = SCHED_FIFO;
	is_others(SCHED_NORMAL, 0, 0);
}
END_TEST

/* To take the flag away takes a right. */
START_TEST(what_is_reset_at_a_fork_stays_so)
{
	kernel.policy = SCHED_RR | SCHED_RESET_ON_FORK;
	is_others(SCHED_NORMAL | SCHED_RESET_ON_FORK, 0, 0);
}
END_TEST

START_TEST(who_yields_to_others_goes_on_to)
{
	static const int policies[] = {SCHED_NORMAL, SCHED_BATCH, SCHED_IDLE,
				       7 /* SCHED_EXT */};

	kernel.policy = policies[_i];
	kernel.nice = 7;
	kernel.io = 3l << 13;
	is_others(policies[_i], 7, 3l << 13);
	ck_assert_int_eq(changes, 0);
}
END_TEST

/* A soft limit can be raised again, and a hard one is one to raise it to. */
START_TEST(a_limit_of_which_a_half_is_left_is_one)
{
	(_i & 1 ? kernel.rtprio : kernel.most_nice)[_i / 2] = 1;
	is_others(SCHED_NORMAL, 0, 0);
}
END_TEST

static const struct {
	long number;
	const char *what;
} calls[] = {
	{SYS_sched_setscheduler, "policy"}, {SYS_sched_getscheduler, "policy"},
	{SYS_setpriority, "nice value"},    {SYS_getpriority, "nice value"},
	{SYS_ioprio_set, "i/o class"},	    {SYS_ioprio_get, "i/o class"},
	{SYS_prlimit64, "RLIMIT_RTPRIO"},
};

static void is_refused(const char *by, int sys_errno)
{
	const char *what = "";

	ck_assert_int_eq(ab_schedule_as_others(&what), -sys_errno);
	ck_assert_str_eq(what, by);
}

static void before_others(void)
{
	kernel.policy = SCHED_FIFO;
	kernel.nice = -1;
	kernel.io = 1l << 13;
	kernel.rtprio[1] = 1;
}

START_TEST(what_cannot_be_changed_or_known_is_told)
{
	before_others();
	kernel.number = calls[_i].number;
	kernel.sys_errno = EACCES;
	is_refused(calls[_i].what, EACCES);
}
END_TEST

START_TEST(a_limit_of_nice_values_that_stays_is_told)
{
	kernel.most_nice[1] = 40;
	kernel.number = SYS_prlimit64;
	kernel.sys_errno = EPERM;
	is_refused("RLIMIT_NICE", EPERM);
}
END_TEST

/* A filter may say that all is well, and let nothing be done. */
START_TEST(an_answer_is_not_believed)
{
	before_others();
	kernel.number = calls[2 * _i].number;
	is_refused(calls[2 * _i].what, EPERM);
}
END_TEST

START_TEST(a_kernel_without_priorities_of_io_has_none)
{
	kernel.number = SYS_ioprio_get;
	kernel.sys_errno = ENOSYS;
	is_others(SCHED_NORMAL, 0, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("schedule");
	TCase *t = tcase_create("schedule");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_loop_test(t, who_runs_before_others_does_not_any_more, 0, 5);
	tcase_add_test(t, a_class_that_came_with_the_policy_goes_with_it);
	tcase_add_test(t, what_is_reset_at_a_fork_stays_so);
	tcase_add_loop_test(t, who_yields_to_others_goes_on_to, 0, 4);
	tcase_add_loop_test(t, a_limit_of_which_a_half_is_left_is_one, 0, 4);
	tcase_add_loop_test(t, what_cannot_be_changed_or_known_is_told, 0,
			    (int)AB_ARRAY_LEN(calls));
	tcase_add_test(t, a_limit_of_nice_values_that_stays_is_told);
	tcase_add_loop_test(t, an_answer_is_not_believed, 0, 4);
	tcase_add_test(t, a_kernel_without_priorities_of_io_has_none);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
