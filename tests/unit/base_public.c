/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* base.h as a stranger uses it: codes, names, NULL, setters. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agentbox/base.h"

#include "abtest.h"

START_TEST(every_code_has_its_own_name)
{
	for (int32_t code = AGENTBOX_ECANCELED; code <= 0; code++) {
		const char *name = agentbox_error_name(code);

		ck_assert_str_ne(name, "EUNKNOWN");
		for (int32_t other = code + 1; other <= 0; other++)
			ck_assert_str_ne(name, agentbox_error_name(other));
	}
	ck_assert_str_eq(agentbox_error_name(AGENTBOX_EPOLICY), "EPOLICY");
	ck_assert_str_eq(agentbox_error_name(AGENTBOX_ETAMPERED), "ETAMPERED");
	ck_assert_str_eq(agentbox_error_name(AGENTBOX_ECANCELED), "ECANCELED");
	ck_assert_str_eq(agentbox_error_name(AGENTBOX_EHELPER), "EHELPER");
}
END_TEST

START_TEST(a_code_that_is_not_ours_is_unknown)
{
	ck_assert_str_eq(agentbox_error_name(1), "EUNKNOWN");
	ck_assert_str_eq(agentbox_error_name(AGENTBOX_ECANCELED - 1),
			 "EUNKNOWN");
	ck_assert_str_eq(agentbox_error_name(INT32_MIN), "EUNKNOWN");
	ck_assert_str_eq(agentbox_error_name(INT32_MAX), "EUNKNOWN");
}
END_TEST

START_TEST(null_objects_answer_with_nothing)
{
	ck_assert_int_eq(agentbox_error_get_code(NULL), AGENTBOX_OK);
	ck_assert_int_eq(agentbox_error_get_errno(NULL), 0);
	ck_assert_str_eq(agentbox_error_get_message(NULL), "");
	ck_assert_str_eq(agentbox_error_get_where(NULL), "");
	agentbox_error_free(NULL);
	ck_assert_str_eq(agentbox_bytes_get_data(NULL), "");
	ck_assert_uint_eq(agentbox_bytes_get_size(NULL), 0);
	agentbox_bytes_free(NULL);
	ck_assert_ptr_null(agentbox_context_ref(NULL));
	agentbox_context_unref(NULL);
}
END_TEST

START_TEST(the_build_names_its_features_and_no_others)
{
	ck_assert_int_eq(agentbox_has_feature("box"), 1);
	ck_assert_int_eq(agentbox_has_feature("policy"), 1);
	ck_assert_int_eq(agentbox_has_feature("audit"), 1);
	ck_assert_int_eq(agentbox_has_feature("guard"), 1);
#ifdef HAVE_ARCHIVES
	ck_assert_int_eq(agentbox_has_feature("archives"), 1);
#else
	ck_assert_int_eq(agentbox_has_feature("archives"), 0);
#endif
#ifdef HAVE_GATEWAY
	ck_assert_int_eq(agentbox_has_feature("gateway"), 1);
#else
	ck_assert_int_eq(agentbox_has_feature("gateway"), 0);
#endif
	ck_assert_int_eq(agentbox_has_feature("bo"), 0);
	ck_assert_int_eq(agentbox_has_feature(""), 0);
	ck_assert_int_eq(agentbox_has_feature("time travel"), 0);
	ck_assert_int_eq(agentbox_has_feature(NULL), 0);
	ck_assert_str_eq(agentbox_version(), PACKAGE_VERSION);
	ck_assert_uint_gt(strlen(agentbox_build_id()), 0);
}
END_TEST

static void expect_einval(int32_t r, agentbox_error **err)
{
	ck_assert_int_eq(r, AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_error_get_code(*err), AGENTBOX_EINVAL);
	ck_assert_str_ne(agentbox_error_get_message(*err), "");
	agentbox_error_free(*err);
	*err = NULL;
}

START_TEST(wrong_arguments_are_einval_with_and_without_err)
{
	agentbox_context *c = NULL;
	agentbox_error *err = NULL;
	char *path;

	expect_einval(agentbox_context_new(NULL, &err), &err);
	ck_assert_int_eq(agentbox_context_new(NULL, NULL), AGENTBOX_EINVAL);
	expect_einval(agentbox_context_set_log(NULL, NULL, NULL, &err), &err);
	expect_einval(agentbox_context_set_helper_dir(NULL, "/x", &err), &err);
	expect_einval(agentbox_context_set_state_dir(NULL, "/x", &err), &err);
	ck_assert_int_eq(agentbox_context_new(&c, &err), AGENTBOX_OK);
	expect_einval(agentbox_context_set_helper_dir(c, "rel", &err), &err);
	expect_einval(agentbox_context_set_state_dir(c, "", &err), &err);
	path = malloc(4097);
	memset(path, '/', 4096);
	path[4096] = '\0';
	expect_einval(agentbox_context_set_state_dir(c, path, &err), &err);
	free(path);
	agentbox_context_unref(c);
}
END_TEST

START_TEST(a_context_takes_its_settings)
{
	agentbox_context *c = NULL;

	ck_assert_int_eq(agentbox_context_new(&c, NULL), AGENTBOX_OK);
	ck_assert_int_eq(agentbox_context_set_helper_dir(c, "/a", NULL), 0);
	ck_assert_int_eq(agentbox_context_set_helper_dir(c, "/b", NULL), 0);
	ck_assert_int_eq(agentbox_context_set_helper_dir(c, NULL, NULL), 0);
	ck_assert_int_eq(agentbox_context_set_state_dir(c, "/s/", NULL), 0);
	ck_assert_int_eq(agentbox_context_set_log(c, NULL, NULL, NULL), 0);
	ck_assert_ptr_eq(agentbox_context_ref(c), c);
	agentbox_context_unref(c);
	agentbox_context_unref(c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("base_public");
	TCase *tc = tcase_create("base.h");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown);
	tcase_add_test(tc, every_code_has_its_own_name);
	tcase_add_test(tc, a_code_that_is_not_ours_is_unknown);
	tcase_add_test(tc, null_objects_answer_with_nothing);
	tcase_add_test(tc, the_build_names_its_features_and_no_others);
	tcase_add_test(tc, wrong_arguments_are_einval_with_and_without_err);
	tcase_add_test(tc, a_context_takes_its_settings);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
