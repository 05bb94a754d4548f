/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program that is to be executed is judged without its working directory
 * first, and that is asked for only where what is said depends on it. Every
 * line of the corpora, as words and as the text of a shell, gets the verdict,
 * the rule and the reason that it gets with the directory known beforehand.
 */
#include "config.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "base/attr.h"
#include "guard/exec.h"

#define MAX_ARGS 64

static const char *const cwds[] = {
	"/srv/repo", "/srv/repo/.git/hooks", "/", "/etc", "/home/user",
	"/home/user/.ssh", "/tmp/x",
};

static agentbox_context *context;
static ab_exec_judge judge;
static const char *cwd;
static unsigned asked, judged, bad;

static const char *find_cwd(void *arg, size_t *len)
{
	ck_assert_ptr_eq(arg, &asked);
	asked++;
	*len = strlen(cwd);
	return cwd;
}

static void set_up(const char *workspace)
{
	static const char text[] = "{\"agentbox\": 1, \"mode\": \"bare\"}";
	agentbox_policy *policy = NULL;

	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	ck_assert_int_eq(agentbox_policy_parse(context, text, sizeof(text) - 1,
					       &policy, NULL), 0);
	ck_assert_int_eq(ab_exec_judge_init(&judge, policy, workspace,
					    "/home/user", NULL), 0);
	agentbox_policy_unref(policy);
	asked = judged = bad = 0;
}

static void tear_down(void)
{
	ab_exec_judge_end(&judge);
	agentbox_context_unref(context);
}

static ab_exec_finding check(const char *const *argv, size_t count, bool late)
{
	const char *args[MAX_ARGS + 1];
	size_t lens[MAX_ARGS + 1];
	ab_exec_finding f;
	ab_exec e = { .path = argv[0], .path_len = strlen(argv[0]),
		      .args = args, .lens = lens, .count = count };

	for (size_t i = 0; i < count; i++) {
		args[i] = argv[i];
		lens[i] = strlen(argv[i]);
	}
	if (late) {
		e.find_cwd = find_cwd;
		e.arg = &asked;
	} else {
		e.cwd = cwd;
		e.cwd_len = strlen(cwd);
	}
	ab_exec_check(&judge, &e, &f);
	ck_assert_ptr_eq(args[0], argv[0]);
	return f;
}

static void compare(const char *const *argv, size_t count, const char *id)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(cwds); i++) {
		unsigned before = asked;
		ab_exec_finding now, late;

		cwd = cwds[i];
		now = check(argv, count, false);
		late = check(argv, count, true);
		ck_assert_uint_le(asked, before + 1);
		judged++;
		if (now.verdict == late.verdict &&
		    strcmp(now.rule, late.rule) == 0 &&
		    strcmp(now.reason, late.reason) == 0)
			continue;
		bad++;
		printf("%s in %s: %u %s, with the directory %u %s\n", id, cwd,
		       late.verdict, late.rule, now.verdict, now.rule);
	}
}

/* Words as somebody would write them who knows no shell: enough to be many
   different ones. */
static void compare_line(const char *id, char *line)
{
	const char *const text[] = { "/bin/sh", "-c", line };
	const char *words[MAX_ARGS];
	char *copy = strdup(line), *rest = NULL;
	size_t count = 0;

	ck_assert_ptr_nonnull(copy);
	compare(text, 3, id);
	for (char *w = strtok_r(copy, " \t\n", &rest); w && count < MAX_ARGS;
	     w = strtok_r(NULL, " \t\n", &rest))
		words[count++] = w;
	if (count)
		compare(words, count, id);
	free(copy);
}

static void compare_file(const char *name)
{
	char path[4096], *line = NULL;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/%s", ab_test_srcdir(),
		 name);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s", path);
	while (getline(&line, &room, f) > 0) {
		json_t *row = json_loads(line, 0, NULL);
		char *cmd = (char *)(uintptr_t)json_string_value(
			json_object_get(row, "cmd"));

		if (cmd)
			compare_line(json_string_value(
					     json_object_get(row, "id")), cmd);
		json_decref(row);
	}
	free(line);
	fclose(f);
}

START_TEST(when_it_is_known_makes_no_difference)
{
	static const char *const files[] = {
		"corpus/git_attack.jsonl", "corpus/git_benign.jsonl",
		"corpus/shell_attack.jsonl", "corpus/shell_benign.jsonl",
		"guard-lines.jsonl",
	};

	set_up("/srv/repo");
	for (size_t i = 0; i < AB_ARRAY_LEN(files); i++)
		compare_file(files[i]);
	printf("%u judged, %u of them asked for the directory\n", judged,
	       asked);
	ck_assert_uint_eq(bad, 0);
	ck_assert_uint_gt(judged, 10000);
	tear_down();
}
END_TEST

static const struct {
	const char *argv[6];
	bool asks;
} rows[] = {
	{ { "/bin/true", "-rf", "build/objects" }, false },
	{ { "/bin/ls" }, false },
	{ { "/bin/rm", "-rf", "/etc" }, false },
	{ { "/usr/bin/git", "push" }, false },
	{ { "/bin/rm", "-rf", "build" }, true },
	{ { "/bin/rm", "-rf", "/proc/self/cwd" }, true },
	{ { "/bin/cat", "id_rsa" }, true },
	{ { "/usr/bin/git", "-C", "x", "add", "-A" }, true },
	/* of a text nobody says what it does with $PWD */
	{ { "/bin/sh", "-c", "true" }, true },
};

START_TEST(it_is_asked_for_where_it_matters)
{
	set_up("/srv/repo");
	cwd = "/srv/repo";
	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		size_t count = 0;

		while (rows[i].argv[count])
			count++;
		asked = 0;
		check(rows[i].argv, count, true);
		ck_assert_msg(asked == rows[i].asks, "%s %s: %u",
			      rows[i].argv[0], rows[i].argv[1], asked);
	}
	tear_down();
	/* where the worktree is may be read from it */
	set_up(NULL);
	check(rows[0].argv, 3, true);
	ck_assert_uint_eq(asked, 1);
	tear_down();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("guard exec");
	TCase *tests = tcase_create("exec");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, when_it_is_known_makes_no_difference);
	tcase_add_test(tests, it_is_asked_for_where_it_matters);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
