/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The content scan where the whole file counts: its first line, which names
 * the columns of those below, and its own name. The rest of what the rules
 * find is in snapshot_content_internal.c, whose texts stand anywhere.
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

/* The same in UTF-16, as a spreadsheet writes it. */
static bool scan_wide(const char *p, size_t n)
{
	char *wide = calloc(2, n + 1);
	bool is_found;

	memcpy(wide, "\xff\xfe", 2);
	for (size_t i = 0; i < n; i++)
		wide[2 * i + 2] = p[i];
	is_found = scan_as("notes.txt", wide, 2 * n + 2);
	free(wide);
	return is_found;
}

/* A file of values has the names of its columns in its first line. */
START_TEST(a_column_is_known_by_the_first_line)
{
	static const char *const found[] = {
		"user,token\r\nann,Vq7kLm2^^Zx9Rt4WbYc83hF\r\n",
		"user,token,note\nann,^h40^,\"a, b\"\n",
		"note,token\n\"a, \"\"b\"\"\",Vq7kLm2^^Zx9Rt4WbYc83hF",
		"token,note\n,none\nVq7kLm2^^Zx9Rt4WbYc83hF,one\n",
		"\"user\";\"passw^^ord\"\n\"ann\";\"Vq7kLm2^^Zx9Rt4\"\n",
		"user\tapi_k^^ey\tnote\nann\t^h40^\tx\n",
		"\xef\xbb\xbfuser,db passw^^ord\nann,Vq7kLm2^^Zx9Rt4\n",
		"\n\ntoken,user\nVq7kLm2^^Zx9Rt4WbYc83hF,ann\n",
		"user,passw^^ord\nann,\"Vq7k,L^^m2Z$x9R(t4Wb\"\n",
		"user,passw^^ord\nann,Vq7k{L^^m2Z$x9R(t4Wb\n",
	};
	static const char *const left[] = {
		"of users:\nuser,token\nann,Vq7kLm2^^Zx9Rt4WbYc83hF\n",
		"user,token\nVq7kLm2^^Zx9Rt4WbYc83hF,ann\n",
		"user,token_count\nann,Vq7kLm2^^Zx9Rt4WbYc83hF\n",
		"f(user, token)\nann,Vq7kLm2^^Zx9Rt4WbYc83hF\n",
		"user,request_token\nann,^h40^\n",
		"user,token",
		"user,passw^^ord\nann,\"At 12:30 (UTC), Bob, 3rd\"\n",
		"user,passw^^ord\nann,${^^Vq7kLm2Zx9}\n",
		"user,token\n\"ann",
	};
	char *p;
	size_t n;

	for (size_t i = 0; i < AB_ARRAY_LEN(found); i++) {
		p = content_text(&seed, found[i], &n);
		ck_assert_msg(scan_as("notes.txt", p, n), "%s", found[i]);
		ck_assert_msg(*p == '\xef' || scan_wide(p, n), "%s", found[i]);
		free(p);
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(left); i++) {
		p = content_text(&seed, left[i], &n);
		ck_assert_msg(!scan_as("notes.txt", p, n), "%s", left[i]);
		free(p);
	}
}
END_TEST

/* Its vectors are digits; what is no digits counts there as well. */
START_TEST(a_test_is_one_by_its_own_name)
{
	static const char *const tests[] = { "a/x_test.go", "test_x.py",
					     "x.spec.ts", "XTests.cs",
					     "a/x-test.js" };
	static const char *const others[] = { "latest.go", "contest.py", "test",
					      "a/attest_x.c", "x.test.d/a.c",
					      "LATEST.py",    "a/FASTEST.c" };
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
	ADD(a_column_is_known_by_the_first_line);
	ADD(a_test_is_one_by_its_own_name);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
