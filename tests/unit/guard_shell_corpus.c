/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The labelled lines of tests/data/corpus/, judged as a host would: cwd is
 * /srv/repo, a worktree; HOME is /home/u. A label is the least verdict; a row
 * in tests/data/disputed.jsonl has the right label there, with the reason.
 * Prints the rate of each category. And the lines of
 * tests/data/guard-lines.jsonl, which got past a guard or were refused for
 * nothing: each of them is judged exactly as it says.
 */
#include "config.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "agentbox/guard.h"

#define MAX_CATEGORIES 64
#define MAX_ARGS 64

struct tally {
	char name[64];
	unsigned rows, good;
};

static struct tally tallies[MAX_CATEGORIES];
static size_t tally_count;
static unsigned totals[4], goods[4];
static agentbox_context *context;
static agentbox_policy *policy;
static agentbox_guard *guard;
static agentbox_place *place;
static agentbox_decision *decision;
static json_t *disputed;

static int verdict_of(const char *name)
{
	static const char *const names[] = { "none", "allow", "ask", "deny" };

	for (int i = 0; i < 4; i++) {
		if (name && !strcmp(name, names[i]))
			return i;
	}
	return -1;
}

static struct tally *tally_of(const char *category, const char *expect)
{
	char name[64];

	snprintf(name, sizeof(name), "%s %s", category, expect);
	for (size_t i = 0; i < tally_count; i++) {
		if (!strcmp(tallies[i].name, name))
			return &tallies[i];
	}
	ck_assert_uint_lt(tally_count, MAX_CATEGORIES);
	memcpy(tallies[tally_count].name, name, sizeof(name));
	return &tallies[tally_count++];
}

static void set_up(void)
{
	static const char text[] =
		"{\"agentbox\": 1, \"mode\": \"bare\"}";
	char path[4096];

	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	ck_assert_int_eq(agentbox_policy_parse(context, text, sizeof(text) - 1,
					       &policy, NULL), 0);
	ck_assert_int_eq(agentbox_guard_new(policy, -1, &guard, NULL), 0);
	ck_assert_int_eq(agentbox_place_new(&place, NULL), 0);
	ck_assert_int_eq(agentbox_place_set_cwd(place, "/srv/repo", 9, NULL),
			 0);
	ck_assert_int_eq(agentbox_place_set_root(place, "/srv/repo", 9, NULL),
			 0);
	ck_assert_int_eq(agentbox_place_set_home(place, "/home/u", 7, NULL),
			 0);
	ck_assert_int_eq(agentbox_place_add_temp(place, "/tmp", 4, NULL), 0);
	snprintf(path, sizeof(path), "%s/tests/data/disputed.jsonl",
		 ab_test_srcdir());
	disputed = json_object();
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0) {
		json_t *row = json_loads(line, 0, NULL);

		ck_assert_msg(row != NULL, "%s: not JSON: %s", path, line);
		ck_assert_ptr_nonnull(json_object_get(row, "reason"));
		json_object_set_new(disputed,
			json_string_value(json_object_get(row, "id")), row);
	}
	free(line);
	if (f)
		fclose(f);
}

static void tear_down(void)
{
	agentbox_decision_free(decision);
	decision = NULL; /* without forks the next test begins with it */
	agentbox_place_free(place);
	agentbox_guard_unref(guard);
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
	json_decref(disputed);
}

static int judge(const json_t *row)
{
	const json_t *cmd = json_object_get(row, "cmd");
	const json_t *argv = json_object_get(row, "argv");
	const char *args[MAX_ARGS];
	size_t lens[MAX_ARGS], i;
	json_t *arg;
	int r;

	if (cmd) {
		r = agentbox_guard_check_shell(guard, place,
					       json_string_value(cmd),
					       json_string_length(cmd),
					       &decision, NULL);
	} else {
		ck_assert_uint_le(json_array_size(argv), MAX_ARGS);
		json_array_foreach(argv, i, arg) {
			args[i] = json_string_value(arg);
			lens[i] = json_string_length(arg);
		}
		r = agentbox_guard_check_argv(guard, place, args, lens,
					      json_array_size(argv),
					      &decision, NULL);
	}
	ck_assert_int_eq(r, 0);
	return agentbox_decision_get_verdict(decision);
}

static void judge_row(const json_t *row)
{
	const char *id = json_string_value(json_object_get(row, "id"));
	const char *expect = json_string_value(json_object_get(row, "expect"));
	const json_t *right = json_object_get(disputed, id);
	int got = judge(row), want;
	struct tally *t;

	if (right)
		expect = json_string_value(json_object_get(right, "expect"));
	want = verdict_of(expect);
	ck_assert_int_ge(want, 1);
	bool good = want == 1 ? got == 1 : got >= want;

	t = tally_of(json_string_value(json_object_get(row, "category")),
		     expect);
	t->rows++;
	t->good += good;
	totals[want]++;
	goods[want] += good;
	if (!good) {
		char *text = json_dumps(json_object_get(row, "cmd"),
					JSON_ENCODE_ANY);

		printf("# %s: verdict %d (%s), not %s: %.200s\n", id, got,
		       agentbox_decision_get_rule(decision), expect,
		       text ? text : "argv");
		free(text);
	}
}

static void judge_file(const char *name, unsigned least)
{
	char path[4096], *line = NULL;
	size_t room = 0;
	unsigned rows = 0;

	snprintf(path, sizeof(path), "%s/tests/data/corpus/%s.jsonl",
		 ab_test_srcdir(), name);
	FILE *f = fopen(path, "r");

	ck_assert_msg(f != NULL, "cannot open %s", path);
	while (getline(&line, &room, f) > 0) {
		json_t *row = json_loads(line, JSON_ALLOW_NUL, NULL);

		ck_assert_msg(row != NULL, "%s: row %u is not JSON", path,
			      rows + 1);
		judge_row(row);
		json_decref(row);
		rows++;
	}
	free(line);
	fclose(f);
	ck_assert_uint_ge(rows, least);
}

START_TEST(the_labelled_lines_are_judged_as_they_are_labelled)
{
	set_up();
	judge_file("shell_attack", 898);
	judge_file("shell_benign", 357);
	judge_file("git_attack", 403);
	judge_file("git_benign", 232);
	for (size_t i = 0; i < tally_count; i++)
		printf("# %-28s %4u of %4u\n", tallies[i].name,
		       tallies[i].good, tallies[i].rows);
	printf("# deny %u of %u, ask %u of %u, allow %u of %u\n", goods[3],
	       totals[3], goods[2], totals[2], goods[1], totals[1]);
	fflush(stdout);
	/* deny rows denied, no ask row allowed, benign rows not refused */
	ck_assert_uint_ge(goods[3] * 1000, totals[3] * 990);
	ck_assert_uint_eq(goods[2], totals[2]);
	ck_assert_uint_ge(goods[1] * 1000, totals[1] * 995);
	tear_down();
}
END_TEST

static unsigned wrong;

static void judge_exactly(const json_t *row)
{
	const char *id = json_string_value(json_object_get(row, "id"));
	const char *expect = json_string_value(json_object_get(row, "expect"));
	const char *rule = json_string_value(json_object_get(row, "rule"));
	int got = judge(row);
	const char *by = agentbox_decision_get_rule(decision);

	if (got == verdict_of(expect) && (!rule || !strcmp(rule, by)))
		return;
	wrong++;
	printf("# %s: verdict %d (%s), not %s (%s)\n", id, got, by, expect,
	       rule ? rule : "any rule");
}

START_TEST(the_lines_that_were_found_are_judged_exactly)
{
	char path[4096], *line = NULL;
	size_t room = 0;
	unsigned rows = 0;

	set_up();
	snprintf(path, sizeof(path), "%s/tests/data/guard-lines.jsonl",
		 ab_test_srcdir());
	FILE *f = fopen(path, "r");

	ck_assert_msg(f != NULL, "cannot open %s", path);
	while (getline(&line, &room, f) > 0) {
		json_t *row = json_loads(line, JSON_ALLOW_NUL, NULL);

		ck_assert_msg(row != NULL, "row %u is not JSON", rows + 1);
		judge_exactly(row);
		json_decref(row);
		rows++;
	}
	free(line);
	fclose(f);
	/* a test that fails ends its process, and what it had to say with it */
	fflush(stdout);
	ck_assert_uint_ge(rows, 50);
	ck_assert_msg(!wrong, "%u rows are judged otherwise", wrong);
	tear_down();
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("guard_shell_corpus");
	TCase *t = tcase_create("rows");

	tcase_set_timeout(t, 120);
	tcase_add_test(t, the_labelled_lines_are_judged_as_they_are_labelled);
	tcase_add_test(t, the_lines_that_were_found_are_judged_exactly);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	SRunner *runner = srunner_create(suite());
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
