/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The content scan where the whole file counts: its own name. The rest of what
 * the rules find is in snapshot_content_internal.c, whose texts stand anywhere.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "base/attr.h"
#include "content_text.h"
#include "snapshot/content.h"

static ab_content *scanner;
static content_random seed = { 88172645463325252u };

static void set_up(void)
{
	scanner = ab_content_new();
	ck_assert_ptr_nonnull(scanner);
}

static void tear_down(void)
{
	ab_content_free(scanner);
}

static bool scan_as(const char *path, const char *p, size_t n)
{
	ab_content_finding f;

	ab_content_begin(scanner, AB_CONTENT_STRICT, path, strlen(path));
	ab_content_feed(scanner, p, n);
	return ab_content_end(scanner, &f);
}

/* Its vectors are digits; what is no digits counts there as well. */
START_TEST(a_test_is_one_by_its_own_name)
{
	static const char *const tests[] = { "a/x_test.go", "test_x.py",
					     "x.spec.ts", "XTests.cs",
					     "a/x-test.js" };
	static const char *const others[] = { "latest.go", "contest.py", "test",
					      "a/attest_x.c", "x.test.d/a.c" };
	size_t n, m;
	char *digits = content_text(&seed, "sec^^ret_key = \"^h64^\"", &n);
	char *made = content_text(
		&seed, "sec^^ret_key = \"Vq7kLm2^^Zx9Rt4WbYc83hF\"", &m);

	for (size_t i = 0; i < AB_ARRAY_LEN(tests); i++) {
		ck_assert(!scan_as(tests[i], digits, n));
		ck_assert(scan_as(tests[i], made, m));
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(others); i++)
		ck_assert(scan_as(others[i], digits, n));
	free(digits);
	free(made);
}
END_TEST

#define ADD(name) tcase_add_test(tc, name)

int main(void)
{
	Suite *suite = suite_create("snapshot table");
	TCase *tc = tcase_create("table");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, set_up, tear_down);
	ADD(a_test_is_one_by_its_own_name);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
