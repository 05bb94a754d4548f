/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Real command lines and scripts, which nobody labelled and which are not
 * part of this tree: what is denied or asked about among them was reviewed,
 * rule by rule, and stands in tests/data/guard-real.jsonl. What is refused
 * and is not there needs a look. The lines are read from $AGENTBOX_CORPUS or
 * ../shared/corpus; without them that is a skip. Scripts of our own, each
 * with what was found right for it, are judged in any case.
 *
 * guard_shell_real --list prints the list anew.
 */
#include "config.h"

#include <check.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "agentbox/guard.h"

static agentbox_context *context;
static agentbox_policy *policy;
static agentbox_guard *guard;
static agentbox_place *place;
static agentbox_decision *decision;
static json_t *reviewed;
static bool is_list;
static unsigned lines, allowed, asked, denied, news, gone;

static void set_up(void)
{
	static const char text[] = "{\"agentbox\": 1, \"mode\": \"bare\"}";

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
}

static void tear_down(void)
{
	agentbox_decision_free(decision);
	agentbox_place_free(place);
	agentbox_guard_unref(guard);
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
	json_decref(reviewed);
}

static void read_list(void)
{
	char path[4096], *line = NULL;
	size_t room = 0;

	snprintf(path, sizeof(path), "%s/tests/data/guard-real.jsonl",
		 ab_test_srcdir());
	FILE *f = fopen(path, "r");

	ck_assert_msg(f != NULL, "cannot open %s", path);
	reviewed = json_object();
	while (getline(&line, &room, f) > 0) {
		json_t *row = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

		ck_assert_msg(row != NULL, "not JSON: %s", line);
		json_object_set_new(reviewed,
			json_string_value(json_object_get(row, "id")), row);
	}
	free(line);
	fclose(f);
	ck_assert_uint_ge(json_object_size(reviewed), 4000);
}

static const char *name_of(int verdict)
{
	return verdict == AGENTBOX_VERDICT_ASK ? "ask" : "deny";
}

static void judge_line(const json_t *row)
{
	const json_t *cmd = json_object_get(row, "cmd");
	const char *id = json_string_value(json_object_get(row, "id"));
	int verdict;

	ck_assert_int_eq(agentbox_guard_check_shell(guard, place,
						    json_string_value(cmd),
						    json_string_length(cmd),
						    &decision, NULL), 0);
	verdict = agentbox_decision_get_verdict(decision);
	lines++;
	allowed += verdict == AGENTBOX_VERDICT_ALLOW;
	asked += verdict == AGENTBOX_VERDICT_ASK;
	denied += verdict == AGENTBOX_VERDICT_DENY;
	const char *rule = agentbox_decision_get_rule(decision);
	const json_t *seen = json_object_get(reviewed, id);

	if (verdict == AGENTBOX_VERDICT_ALLOW) {
		gone += seen != NULL;
		return;
	}
	if (is_list) {
		printf("{\"id\": \"%s\", \"verdict\": \"%s\", "
		       "\"rule\": \"%s\"}\n", id, name_of(verdict), rule);
		return;
	}
	if (seen &&
	    !strcmp(rule, json_string_value(json_object_get(seen, "rule"))) &&
	    !strcmp(name_of(verdict),
		    json_string_value(json_object_get(seen, "verdict"))))
		return;
	if (++news <= 20)
		printf("# not reviewed: %s %s %s\n", id, name_of(verdict),
		       rule);
}

static bool judge_file(const char *name)
{
	const char *dir = getenv("AGENTBOX_CORPUS");
	char path[4096], *line = NULL;
	size_t room = 0;

	if (dir)
		snprintf(path, sizeof(path), "%s/%s", dir, name);
	else
		snprintf(path, sizeof(path), "%s/../shared/corpus/%s",
			 ab_test_srcdir(), name);
	FILE *f = fopen(path, "r");

	if (!f)
		return false;
	while (getline(&line, &room, f) > 0) {
		json_t *row = json_loads(line, JSON_ALLOW_NUL, NULL);

		ck_assert_ptr_nonnull(row);
		judge_line(row);
		json_decref(row);
	}
	free(line);
	fclose(f);
	return true;
}

static bool is_judged_as(const json_t *row)
{
	const json_t *cmd = json_object_get(row, "cmd");
	const char *want = json_string_value(json_object_get(row, "verdict"));
	const char *rule = json_string_value(json_object_get(row, "rule"));
	int verdict;

	ck_assert_int_eq(agentbox_guard_check_shell(guard, place,
						    json_string_value(cmd),
						    json_string_length(cmd),
						    &decision, NULL), 0);
	verdict = agentbox_decision_get_verdict(decision);
	return !strcmp(want, verdict == AGENTBOX_VERDICT_ALLOW
				     ? "allow"
				     : name_of(verdict)) &&
	       !strcmp(rule ? rule : "", agentbox_decision_get_rule(decision));
}

START_TEST(our_own_scripts_are_judged_as_reviewed)
{
	char path[4096], *line = NULL;
	size_t room = 0;
	unsigned rows = 0;

	set_up();
	snprintf(path, sizeof(path), "%s/tests/data/guard-scripts.jsonl",
		 ab_test_srcdir());
	FILE *f = fopen(path, "r");

	ck_assert_msg(f != NULL, "cannot open %s", path);
	while (getline(&line, &room, f) > 0) {
		json_t *row = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

		ck_assert_msg(row != NULL, "not JSON: %s", line);
		ck_assert_msg(is_judged_as(row), "%s: now %s, %s", line,
			      agentbox_decision_get_rule(decision),
			      agentbox_decision_get_reason(decision));
		json_decref(row);
		rows++;
	}
	free(line);
	fclose(f);
	ck_assert_uint_ge(rows, 25);
	tear_down();
}
END_TEST

START_TEST(what_is_refused_of_real_lines_was_reviewed)
{
	set_up();
	if (!is_list)
		read_list();
	if (!judge_file("tldr_real.jsonl") || !judge_file("ci_real.jsonl")) {
		tear_down();
		ab_test_skip("what_is_refused_of_real_lines_was_reviewed",
			     "no corpus beside the project");
		return;
	}
	if (!is_list)
		printf("# %u lines: %u allowed, %u asked, %u denied; %u not "
		       "reviewed, %u of the list are allowed now\n", lines,
		       allowed, asked, denied, news, gone);
	fflush(stdout); /* a test that fails loses what it has to say */
	ck_assert_uint_eq(news, 0);
	tear_down();
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("guard_shell_real");
	TCase *t = tcase_create("lines");

	tcase_set_timeout(t, 300);
	if (!is_list)
		tcase_add_test(t, our_own_scripts_are_judged_as_reviewed);
	tcase_add_test(t, what_is_refused_of_real_lines_was_reviewed);
	suite_add_tcase(s, t);
	return s;
}

int main(int argc, char **argv)
{
	is_list = argc > 1 && !strcmp(argv[1], "--list");
	SRunner *runner = srunner_create(suite());
	int failed;

	srunner_set_fork_status(runner, is_list ? CK_NOFORK : CK_FORK);
	srunner_run_all(runner, is_list ? CK_SILENT : CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
