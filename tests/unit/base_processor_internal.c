/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who is moved to another processor, and that he has all of them afterwards:
 * processor.c with a scheduler of the test's own, since the real one moves
 * whom it likes. With the real one: row 107 in tests/e2e/realtime.c.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "base/processor.h"

#define PID 4242

static int own, calls, refused_call, sys_errno;
static cpu_set_t has; /* the process */
static cpu_set_t all, seen[2];

int faked_getcpu(void);
int faked_getcpu(void)
{
	return own;
}

int faked_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int faked_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	ck_assert_int_eq(pid, 0);
	ck_assert_uint_eq(size, sizeof(*set));
	errno = sys_errno;
	if (sys_errno)
		return -1;
	*set = all;
	return 0;
}

int faked_setaffinity(pid_t pid, size_t size, const cpu_set_t *set);
int faked_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	ck_assert_int_eq(pid, PID);
	ck_assert_uint_eq(size, sizeof(*set));
	ck_assert_int_lt(calls, 2);
	seen[calls] = *set;
	errno = sys_errno;
	if (++calls == refused_call)
		return -1;
	has = *set;
	return 0;
}

static void setup(void)
{
	CPU_ZERO(&all);
	for (int i = 0; i < 3; i++)
		CPU_SET(2 * i, &all);
	has = all;
	own = 2;
	calls = refused_call = sys_errno = 0;
}

START_TEST(who_is_moved_may_come_back)
{
	ck_assert_int_eq(ab_processor_push(PID, &all), 0);
	ck_assert_int_eq(calls, 2);
	ck_assert_int_eq(CPU_COUNT(&seen[0]), 2);
	ck_assert(!CPU_ISSET(own, &seen[0]));
	ck_assert(CPU_EQUAL(&has, &all));
}
END_TEST

START_TEST(who_has_one_processor_is_let_be)
{
	CPU_ZERO(&all);
	CPU_SET(own, &all);
	ck_assert_int_eq(ab_processor_push(PID, &all), 0);
	/* nor is anything done with a set that cannot be known */
	CPU_ZERO(&all);
	ck_assert_int_eq(ab_processor_push(PID, &all), 0);
	setup();
	own = _i;
	ck_assert_int_eq(ab_processor_push(PID, &all), 0);
	ck_assert_int_eq(calls, 0);
}
END_TEST

START_TEST(that_it_is_refused_is_no_error)
{
	refused_call = 1;
	sys_errno = EPERM;
	ck_assert_int_eq(ab_processor_push(PID, &all), 0);
	ck_assert_int_eq(calls, 1);
	ck_assert(CPU_EQUAL(&has, &all));
}
END_TEST

START_TEST(who_cannot_have_all_again_is_told_of)
{
	refused_call = 2;
	sys_errno = EPERM;
	ck_assert_int_eq(ab_processor_push(PID, &all), -EPERM);
}
END_TEST

START_TEST(who_has_ended_or_is_elsewhere_has_what_he_should)
{
	refused_call = 2;
	sys_errno = _i ? ESRCH : EINVAL;
	ck_assert_int_eq(ab_processor_push(PID, &all), 0);
}
END_TEST

START_TEST(more_than_a_set_has_room_for_are_none)
{
	cpu_set_t set;

	memset(&set, 0xff, sizeof(set));
	sys_errno = EINVAL;
	ab_processor_get(&set);
	ck_assert_int_eq(CPU_COUNT(&set), 0);
	sys_errno = 0;
	ab_processor_get(&set);
	ck_assert(CPU_EQUAL(&set, &all));
}
END_TEST

START_TEST(a_set_is_read_as_it_was_printed)
{
	static const char *const bad[] = { "", "g", "3 ", "0x3", "-1", "A" };
	char text[AB_PROCESSORS_TEXT], long_text[AB_PROCESSORS_TEXT + 1];
	cpu_set_t set;

	ab_processor_print(&all, text);
	ck_assert_str_eq(text, "51"); /* 0, 2, 4 */
	ab_processor_parse(text, &set);
	ck_assert(CPU_EQUAL(&set, &all));
	memset(&all, 0xff, sizeof(all));
	ab_processor_print(&all, text);
	ck_assert_uint_eq(strlen(text), CPU_SETSIZE / 4);
	ab_processor_parse(text, &set);
	ck_assert(CPU_EQUAL(&set, &all));
	CPU_ZERO(&all);
	ab_processor_print(&all, text);
	ck_assert_str_eq(text, "");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&set, 0xff, sizeof(set));
		ab_processor_parse(bad[i], &set);
		ck_assert_int_eq(CPU_COUNT(&set), 0);
	}
	memset(long_text, 'f', AB_PROCESSORS_TEXT);
	long_text[AB_PROCESSORS_TEXT] = 0;
	ab_processor_parse(long_text, &set);
	ck_assert_int_eq(CPU_COUNT(&set), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("base_processor");
	TCase *t = tcase_create("processor");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, who_is_moved_may_come_back);
	/* what sched_getcpu(3) may say: an error, and one past a set */
	tcase_add_loop_test(t, who_has_one_processor_is_let_be, -1, 0);
	tcase_add_loop_test(t, who_has_one_processor_is_let_be, CPU_SETSIZE,
			    CPU_SETSIZE + 1);
	tcase_add_test(t, that_it_is_refused_is_no_error);
	tcase_add_test(t, who_cannot_have_all_again_is_told_of);
	tcase_add_loop_test(t, who_has_ended_or_is_elsewhere_has_what_he_should,
			    0, 2);
	tcase_add_test(t, more_than_a_set_has_room_for_are_none);
	tcase_add_test(t, a_set_is_read_as_it_was_printed);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
