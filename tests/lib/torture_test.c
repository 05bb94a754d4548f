/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The allocation torture fails each allocation once, and notices liars. */
#include "config.h"

#include "abtest.h"

#include <check.h>
#include <stdlib.h>

#include "base/alloc.h"

static unsigned rounds;

static bool three_allocations(void *data)
{
	(void)data;
	char *a = ab_strdup("a");
	char *b = a ? ab_strdup("b") : NULL;
	char *c = b ? ab_strdup("c") : NULL;
	bool good = c != NULL;

	rounds++;
	free(a);
	free(b);
	free(c);
	return good;
}

static bool one_can_be_missing(void *data)
{
	(void)data;
	free(ab_strdup("extra"));
	return true;
}

static bool fails_for_no_reason(void *data)
{
	(void)data;
	free(ab_strdup("x"));
	return false;
}

START_TEST(every_allocation_is_failed_once)
{
	if (!ab_torture_available()) {
		ab_test_skip("every_allocation_is_failed_once",
			     "built without fault injection");
		return;
	}
	uint64_t tolerated = 99;

	rounds = 0;
	ck_assert_uint_eq(ab_torture(three_allocations, NULL, 10, &tolerated),
			  3);
	ck_assert_uint_eq(rounds, 4);
	ck_assert_uint_eq(tolerated, 0);
}
END_TEST

START_TEST(success_without_an_allocation_is_counted)
{
	uint64_t tolerated = 99;

	if (!ab_torture_available())
		return;
	ck_assert_uint_eq(ab_torture(one_can_be_missing, NULL, 10, &tolerated),
			  1);
	ck_assert_uint_eq(tolerated, 1);
}
END_TEST

START_TEST(a_body_that_fails_without_a_failure_is_noticed)
{
	ck_assert_uint_eq(ab_torture(fails_for_no_reason, NULL, 10, NULL), 0);
}
END_TEST

START_TEST(too_few_rounds_are_noticed)
{
	ck_assert_uint_eq(ab_torture(three_allocations, NULL, 2, NULL), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("torture");
	TCase *tc = tcase_create("torture");

	tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown);
	tcase_add_test(tc, every_allocation_is_failed_once);
	tcase_add_test(tc, success_without_an_allocation_is_counted);
	tcase_add_test(tc, a_body_that_fails_without_a_failure_is_noticed);
	tcase_add_test(tc, too_few_rounds_are_noticed);
	suite_add_tcase(suite, tc);
	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
