/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of calls (guard/code_table.c) is in the order of its names, which
 * it is searched by, and each of its names is found.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "guard/code.h"

START_TEST(the_table_of_calls_is_in_order)
{
	const char *last = ab_code_call_name(0);

	ck_assert_ptr_nonnull(last);
	for (size_t i = 1; ab_code_call_name(i); i++) {
		const char *name = ab_code_call_name(i);

		ck_assert_msg(strcmp(last, name) <= 0, "'%s' is before '%s'",
			      last, name);
		last = name;
	}
}
END_TEST

static bool is_known(const char *name, uint8_t lang, size_t len)
{
	const struct ab_word text = { .text = name, .len = (uint32_t)len };
	const struct ab_token t = { .len = (uint32_t)len,
				    .kind = AB_TOKEN_WORD };
	const struct ab_code k = { .text = &text, .lang = lang };

	return ab_code_is_known(&k, &t);
}

START_TEST(each_name_of_it_is_found)
{
	for (size_t i = 0; ab_code_call_name(i); i++) {
		const char *name = ab_code_call_name(i);

		ck_assert_msg(is_known(name, AB_ALL_LANGS, strlen(name)),
			      "'%s' is not found", name);
	}
}
END_TEST

START_TEST(what_is_no_name_of_it_is_not_found)
{
	ck_assert(!is_known("", AB_ALL_LANGS, 0));
	ck_assert(!is_known("popenx", AB_ALL_LANGS, 6));
	ck_assert(!is_known("pope", AB_ALL_LANGS, 4));
	ck_assert(!is_known("zzz", AB_ALL_LANGS, 3));
	ck_assert(!is_known("\xff", AB_ALL_LANGS, 1));
	ck_assert(is_known("popenx", AB_ALL_LANGS, 5));
	ck_assert(is_known("execSync", AB_JS, 8));
	ck_assert(!is_known("execSync", AB_PY, 8));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("guard_code");
	TCase *calls = tcase_create("calls");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(calls, the_table_of_calls_is_in_order);
	tcase_add_test(calls, each_name_of_it_is_found);
	tcase_add_test(calls, what_is_no_name_of_it_is_not_found);
	suite_add_tcase(suite, calls);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
