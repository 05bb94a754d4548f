/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a snapshot is asked for: commits, and the section of a policy, which
 * is taken over whole or not at all.
 */
#include "config.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "base/attr.h"
#include "snapshot/job.h"

static agentbox_snapshot_options *options;

static void setup(void)
{
	ab_leak_setup();
	ck_assert_int_eq(agentbox_snapshot_options_new(&options, NULL), 0);
}

static void teardown(void)
{
	agentbox_snapshot_options_free(options);
	ab_leak_teardown();
}

static int32_t set(const char *mode, const char *base)
{
	return agentbox_snapshot_options_set_git(options, mode, base, NULL);
}

static int32_t take(const char *text)
{
	json_t *section = json_loads(text, 0, NULL);
	int32_t rc;

	ck_assert_ptr_nonnull(section);
	rc = ab_snapshot_options_set_section(options, section, NULL);
	json_decref(section);
	return rc;
}

START_TEST(a_range_has_a_base_and_nothing_else_has)
{
	ck_assert_uint_eq(options->git_mode, AB_COPY_GIT_NONE);
	ck_assert_int_eq(set("head", NULL), 0);
	ck_assert_uint_eq(options->git_mode, AB_COPY_GIT_HEAD);
	ck_assert_int_eq(set("range", "origin/main"), 0);
	ck_assert_str_eq(options->git_base, "origin/main");
	ck_assert_int_eq(set("range", NULL), AGENTBOX_EINVAL);
	ck_assert_int_eq(set("head", "main"), AGENTBOX_EINVAL);
	ck_assert_int_eq(set("HEAD", NULL), AGENTBOX_EINVAL);
	ck_assert_int_eq(set(NULL, NULL), AGENTBOX_EINVAL);
	/* what failed changed nothing */
	ck_assert_uint_eq(options->git_mode, AB_COPY_GIT_RANGE);
	ck_assert_str_eq(options->git_base, "origin/main");
	ck_assert_int_eq(set("none", NULL), 0);
	ck_assert_ptr_null(options->git_base);
}
END_TEST

START_TEST(a_base_is_a_name_and_no_expression)
{
	static const char *const bad[] = {
		"", "-x", "/x", "x/", ".x", "a/.b", "a..b", "a//b", "a~1",
		"a^", "a:b", "a b", "a\tb", "a\nb", "a?", "a*", "a[", "a\\b",
		"a@{1}", "../x", "a\x7f"
	};
	char longest[AB_COPY_GIT_NAME_MAX + 2];

	for (size_t i = 0; i < AB_ARRAY_LEN(bad); i++)
		ck_assert_msg(set("range", bad[i]) == AGENTBOX_EINVAL, "%s",
			      bad[i]);
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	ck_assert_int_eq(set("range", longest), AGENTBOX_EINVAL);
	longest[sizeof(longest) - 2] = 0;
	ck_assert_int_eq(set("range", longest), 0);
	ck_assert_int_eq(set("range", "caf\xc3\xa9/it's"), 0);
}
END_TEST

START_TEST(a_section_says_which_commits)
{
	ck_assert_int_eq(take("{\"git\":\"range\",\"git_base\":\"main\"}"), 0);
	ck_assert_uint_eq(options->git_mode, AB_COPY_GIT_RANGE);
	ck_assert_str_eq(options->git_base, "main");
	/* without the key it stays; a base alone means nothing */
	ck_assert_int_eq(take("{\"git_base\":\"other\"}"), 0);
	ck_assert_str_eq(options->git_base, "main");
	ck_assert_int_eq(take("{\"git\":\"head\",\"git_base\":\"main\"}"), 0);
	ck_assert_uint_eq(options->git_mode, AB_COPY_GIT_HEAD);
	ck_assert_ptr_null(options->git_base);
	ck_assert_int_eq(take("{\"git\":\"range\"}"), AGENTBOX_EPOLICY);
	ck_assert_int_eq(take("{\"git\":\"range\",\"git_base\":\"-x\"}"),
			 AGENTBOX_EPOLICY);
	ck_assert_uint_eq(options->git_mode, AB_COPY_GIT_HEAD);
}
END_TEST

static int32_t name(const char *path, const char *head)
{
	return agentbox_snapshot_options_set_repository(options, path, head,
							NULL);
}

START_TEST(a_repository_has_a_head_that_means_one_thing)
{
	static const char *const good[] = {
		"HEAD", "refs/heads/a/b", "refs/x", "worktrees/w/HEAD",
		"0123456789abcdef0123456789abcdef01234567"
	};
	static const char *const bad[] = {
		"", "main", "heads/main", "head", "HEAD~1", "HEAD/", "refs/",
		"refs/a..b", "refs/a b", "refs/a^", "worktrees/w", "worktrees/",
		"worktrees//HEAD", "worktrees/../HEAD", "worktrees/w/x/HEAD",
		"worktrees/w/HEAD/x", "worktrees/.w/HEAD", "FETCH_HEAD",
		"0123456789abcdef0123456789abcdef0123456",
		"0123456789ABCDEF0123456789ABCDEF01234567"
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(good); i++) {
		ck_assert_msg(name("/r", good[i]) == 0, "%s", good[i]);
		ck_assert_str_eq(options->git_head, good[i]);
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(bad); i++)
		ck_assert_msg(name("/s", bad[i]) == AGENTBOX_EINVAL, "%s",
			      bad[i]);
	ck_assert_int_eq(name("r", "HEAD"), AGENTBOX_EINVAL);
	ck_assert_int_eq(name("", "HEAD"), AGENTBOX_EINVAL);
	ck_assert_int_eq(name("/s", NULL), AGENTBOX_EINVAL);
	ck_assert_int_eq(name(NULL, "HEAD"), AGENTBOX_EINVAL);
	/* what failed changed nothing */
	ck_assert_str_eq(options->git_repository, "/r");
	ck_assert_int_eq(name(NULL, NULL), 0);
	ck_assert_ptr_null(options->git_repository);
	ck_assert_ptr_null(options->git_head);
	ck_assert_int_eq(agentbox_snapshot_options_set_repository(
				 NULL, "/r", "HEAD", NULL), AGENTBOX_EINVAL);
}
END_TEST

START_TEST(a_section_names_a_repository_with_its_commits)
{
	ck_assert_int_eq(take("{\"git\":\"head\",\"repository\":\"/r\","
			      "\"git_head\":\"refs/heads/x\"}"), 0);
	ck_assert_str_eq(options->git_repository, "/r");
	ck_assert_str_eq(options->git_head, "refs/heads/x");
	ck_assert_int_eq(take("{\"git\":\"head\",\"repository\":\"/s\","
			      "\"git_head\":\"x\"}"), AGENTBOX_EPOLICY);
	ck_assert_int_eq(take("{\"repository\":\"s\","
			      "\"git_head\":\"HEAD\"}"), AGENTBOX_EPOLICY);
	ck_assert_str_eq(options->git_repository, "/r");
	ck_assert_int_eq(take("{\"git\":\"head\"}"), 0);
	ck_assert_ptr_null(options->git_repository);
	ck_assert_ptr_null(options->git_head);
}
END_TEST

/* Who asks for commits afterwards gets those of the one that is named. */
START_TEST(a_section_names_a_repository_before_commits)
{
	static const char *const gits[] = { "", "\"git\":\"none\"," };
	char text[128];

	for (size_t i = 0; i < AB_ARRAY_LEN(gits); i++) {
		snprintf(text, sizeof(text), "{%s\"repository\":\"/r%zu\","
			 "\"git_head\":\"HEAD\"}", gits[i], i);
		ck_assert_int_eq(take(text), 0);
		ck_assert_uint_eq(options->git_mode, AB_COPY_GIT_NONE);
		ck_assert(options->may_be_idle);
		ck_assert_int_eq(set("head", NULL), 0);
		snprintf(text, sizeof(text), "/r%zu", i);
		ck_assert_str_eq(options->git_repository, text);
		ck_assert_str_eq(options->git_head, "HEAD");
		ck_assert_int_eq(set("none", NULL), 0);
	}
	/* what the host itself says is told when it means nothing */
	ck_assert_int_eq(name("/r", "HEAD"), 0);
	ck_assert(!options->may_be_idle);
}
END_TEST

START_TEST(a_pattern_that_is_wrong_is_told_by_its_place)
{
	static const char *const cases[][2] = {
		{ "{\"exclude\":[\"a\",\"../b\"]}", "/snapshot/exclude/1" },
		{ "{\"include\":[\"../b\"]}", "/snapshot/include/0" },
		{ "{\"admit\":[\"jwt:a\",\"jwt:b\",\"nosuch:c\"]}",
		  "/snapshot/admit/2" },
		{ "{\"admit\":[\"jwt:a\",\"pem-private:*\"]}",
		  "/snapshot/admit/1" },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(cases); i++) {
		json_t *section = json_loads(cases[i][0], 0, NULL);
		agentbox_error *err = NULL;

		ck_assert_int_eq(ab_snapshot_options_set_section(
					 options, section, &err),
				 AGENTBOX_EPOLICY);
		ck_assert_str_eq(agentbox_error_get_where(err), cases[i][1]);
		ck_assert_uint_eq(options->admit.count, 0);
		agentbox_error_free(err);
		json_decref(section);
	}
	ck_assert_int_eq(take("{\"admit\":[\"jwt:a\"]}"), 0);
	ck_assert_int_eq(agentbox_snapshot_options_add_admit(
				 options, "pem-private:t/a.pem", NULL), 0);
	ck_assert_int_eq(agentbox_snapshot_options_add_admit(
				 options, "pem-private:*", NULL),
			 AGENTBOX_EPOLICY);
	ck_assert_int_eq(agentbox_snapshot_options_add_admit(
				 options, NULL, NULL), AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_snapshot_options_add_admit(NULL, "jwt:x",
							     NULL),
			 AGENTBOX_EINVAL);
	ck_assert_uint_eq(options->admit.count, 2);
	ck_assert_str_eq(options->admit.items[0], "jwt:a");
}
END_TEST

START_TEST(a_section_that_fails_changes_nothing)
{
	agentbox_snapshot_options before;

	ck_assert_int_eq(agentbox_snapshot_options_add_exclude(options, "mine",
							       NULL), 0);
	before = *options;
	ck_assert_int_eq(take("{\"max_bytes\":\"1MiB\",\"max_files\":7,"
			      "\"git\":\"head\",\"deadline\":\"5s\","
			      "\"exclude\":[\"good\",\"bad***[\",\"**/**/**/"
			      "**/**/**/**/**/**/**\"]}"), AGENTBOX_EPOLICY);
	ck_assert_mem_eq(options, &before, sizeof(before));
	ck_assert_int_eq(take("{\"max_files\":7,\"exclude\":[\"good\"]}"), 0);
	ck_assert_uint_eq(options->max_files, 7);
	ck_assert_uint_eq(options->exclude.count, 2);
	ck_assert_str_eq(options->exclude.items[0], "mine");
	ck_assert_str_eq(options->exclude.items[1], "good");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("snapshot_options");
	TCase *tc = tcase_create("options");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_range_has_a_base_and_nothing_else_has);
	tcase_add_test(tc, a_base_is_a_name_and_no_expression);
	tcase_add_test(tc, a_section_says_which_commits);
	tcase_add_test(tc, a_section_that_fails_changes_nothing);
	tcase_add_test(tc, a_repository_has_a_head_that_means_one_thing);
	tcase_add_test(tc, a_section_names_a_repository_with_its_commits);
	tcase_add_test(tc, a_section_names_a_repository_before_commits);
	tcase_add_test(tc, a_pattern_that_is_wrong_is_told_by_its_place);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
