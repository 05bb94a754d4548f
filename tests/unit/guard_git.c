/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The git check through the public interface: a verdict with its rule, place
 * and command; the profile of the policy; everything else is blocked.
 */
#include "config.h"

#include <check.h>
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

static void make_guard(const char *text)
{
	agentbox_guard_unref(guard);
	agentbox_policy_unref(policy);
	guard = NULL;
	policy = NULL;
	ck_assert_int_eq(agentbox_policy_parse(context, text, strlen(text),
					       &policy, NULL),
			 0);
	ck_assert_int_eq(agentbox_guard_new(policy, -1, &guard, NULL), 0);
}

static void setup(void)
{
	guard = NULL;
	policy = NULL;
	decision = NULL;
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	make_guard("{\"agentbox\":1,\"git\":{\"profile\":\"default\"}}");
	ck_assert_int_eq(agentbox_place_new(&place, NULL), 0);
	ck_assert_int_eq(agentbox_place_set_cwd(place, "/srv/repo/sub", 13,
						NULL),
			 0);
	ck_assert_int_eq(agentbox_place_set_root(place, "/srv/repo", 9, NULL),
			 0);
	ck_assert_int_eq(agentbox_place_add_temp(place, "/tmp", 4, NULL), 0);
}

static void teardown(void)
{
	agentbox_decision_free(decision);
	agentbox_place_free(place);
	agentbox_guard_unref(guard);
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
}

static size_t lengths(const char *const *args, size_t *lens)
{
	size_t n = 0;

	for (; args[n]; n++)
		lens[n] = strlen(args[n]);
	return n;
}

static int32_t verdict(const char *const *args)
{
	size_t lens[16];
	size_t n = lengths(args, lens);
	int32_t blocked = agentbox_guard_blocked_git(guard, place, args, lens,
						     n);
	int32_t v;

	ck_assert_int_eq(agentbox_guard_check_git(guard, place, args, lens, n,
						  &decision, NULL),
			 0);
	v = agentbox_decision_get_verdict(decision);
	ck_assert_int_eq(blocked, v != AGENTBOX_VERDICT_ALLOW);
	return v;
}

#define VERDICT(...) verdict((const char *const[]){__VA_ARGS__, NULL})

START_TEST(a_command_is_judged)
{
	ck_assert_int_eq(VERDICT("git", "status"), AGENTBOX_VERDICT_ALLOW);
	ck_assert_str_eq(agentbox_decision_get_rule(decision), "");
	ck_assert_int_eq(VERDICT("git", "stash"), AGENTBOX_VERDICT_ASK);
	ck_assert_int_eq(VERDICT("git", "add", "../x"), AGENTBOX_VERDICT_ALLOW);
	ck_assert_int_eq(VERDICT("git", "add", "../../x"),
			 AGENTBOX_VERDICT_ASK);
	ck_assert_int_eq(VERDICT("git", "commit", "-F", "/tmp/m"),
			 AGENTBOX_VERDICT_ALLOW);
	ck_assert_int_eq(VERDICT("git", "commit", "-m", "$(git push)"),
			 AGENTBOX_VERDICT_ALLOW);
	ck_assert_int_eq(VERDICT("git", "push"), AGENTBOX_VERDICT_DENY);
}
END_TEST

START_TEST(the_decision_says_what_where_and_why)
{
	size_t n;

	VERDICT("git", "commit", "-anm", "x");
	ck_assert_str_eq(agentbox_decision_get_rule(decision), "git.rewrite");
	ck_assert_int_eq(agentbox_decision_get_severity(decision),
			 AGENTBOX_SEVERITY_MEDIUM);
	ck_assert_str_eq(agentbox_decision_get_reason(decision),
			 "skips the commit hooks");
	ck_assert_str_ne(agentbox_decision_get_alternative(decision), "");
	ck_assert_uint_eq(agentbox_decision_get_begin(decision), 13);
	ck_assert_uint_eq(agentbox_decision_get_end(decision), 14);
	ck_assert_uint_eq(agentbox_decision_get_argc(decision), 4);
	ck_assert_str_eq(agentbox_decision_get_arg(decision, 2, &n), "-anm");
	ck_assert_uint_eq(n, 4);
}
END_TEST

START_TEST(what_is_not_git_is_denied)
{
	ck_assert_int_eq(VERDICT("ls"), AGENTBOX_VERDICT_DENY);
	ck_assert_int_eq(VERDICT("gh", "issue", "list"),
			 AGENTBOX_VERDICT_DENY);
	ck_assert_int_eq(agentbox_guard_check_git(guard, place, NULL, NULL, 0,
						  &decision, NULL),
			 0);
	ck_assert_int_eq(agentbox_decision_get_verdict(decision),
			 AGENTBOX_VERDICT_DENY);
}
END_TEST

/* The policy's own rules bind whoever asks about git alone as well. */
/* Each length around the longest path that is resolved, and each way that its
   last component may end there. */
START_TEST(a_path_that_is_too_long_is_not_inside)
{
	static char path[3 * 4096];

	for (size_t first = 1; first <= 2; first++) {
		size_t n = first;

		memset(path, 'a', first);
		while (n + 2 < sizeof(path)) {
			const char *const args[] = { "git", "add", path, NULL };

			memcpy(path + n, "/b", 3);
			n += 2;
			if (n < 4000 && n % 64 > 1)
				continue;
			int32_t v = verdict(args);

			if (n < 4000)
				ck_assert_int_eq(v, AGENTBOX_VERDICT_ALLOW);
			if (n > 4096)
				ck_assert_int_ne(v, AGENTBOX_VERDICT_ALLOW);
		}
	}
}
END_TEST

START_TEST(rules_of_the_policy_count)
{
	make_guard("{\"agentbox\":1,\"git\":{\"rules\":[{\"id\":"
		   "\"no-commit\",\"pattern\":\"commit *\","
		   "\"verdict\":\"deny\"}]}}");
	ck_assert_int_eq(VERDICT("git", "commit", "-m", "x"),
			 AGENTBOX_VERDICT_DENY);
	ck_assert_int_eq(VERDICT("git", "status"), AGENTBOX_VERDICT_ALLOW);
}
END_TEST

START_TEST(strict_asks_nobody)
{
	make_guard("{\"agentbox\":1,\"git\":{\"profile\":\"strict\"}}");
	ck_assert_int_eq(VERDICT("git", "stash"), AGENTBOX_VERDICT_DENY);
	ck_assert_int_eq(VERDICT("git", "status"), AGENTBOX_VERDICT_ALLOW);
	/* what a rule of the pack asks about */
	ck_assert_int_eq(VERDICT("git", "mv", "a", ".envrc"),
			 AGENTBOX_VERDICT_DENY);
	make_guard("{\"agentbox\":1}");
	ck_assert_int_eq(VERDICT("git", "stash"), AGENTBOX_VERDICT_ASK);
	ck_assert_int_eq(VERDICT("git", "mv", "a", ".envrc"),
			 AGENTBOX_VERDICT_ASK);
}
END_TEST

START_TEST(without_a_place_no_path_is_inside)
{
	const char *const args[] = {"git", "commit", "-F", "m", NULL};
	size_t lens[8];
	size_t n = lengths(args, lens);

	ck_assert_int_eq(agentbox_guard_blocked_git(guard, NULL, args, lens, n),
			 1);
	ck_assert_int_eq(agentbox_guard_blocked_git(guard, NULL, args, lens, 1),
			 0);
}
END_TEST

START_TEST(errors_are_denials)
{
	const char *const args[] = {"git", NULL};
	const size_t lens[] = {3, 1};
	const size_t much[] = {3, (size_t)1 << 30};

	ck_assert_int_eq(agentbox_guard_check_git(NULL, place, args, lens, 1,
						  &decision, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_decision_get_verdict(decision),
			 AGENTBOX_VERDICT_DENY);
	ck_assert_int_eq(agentbox_guard_check_git(guard, place, args, lens, 2,
						  &decision, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_guard_check_git(guard, place, args, NULL, 1,
						  &decision, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_guard_check_git(guard, place, args, lens, 1,
						  NULL, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_guard_check_git(
				 guard, place, (const char *const[]){"git", ""},
				 much, 2, &decision, NULL),
			 AGENTBOX_ELIMIT);
	ck_assert_int_eq(agentbox_decision_get_verdict(decision),
			 AGENTBOX_VERDICT_DENY);
	ck_assert_int_eq(agentbox_guard_blocked_git(NULL, place, args, lens, 1),
			 1);
}
END_TEST

/* The words as a shell would write them, and the words of a wrapper. */
static int32_t verdict_in_a_line(const char *before, const char *const *args)
{
	char line[512];
	size_t n = (size_t)snprintf(line, sizeof(line), "%s", before);

	for (size_t i = 0; args[i]; i++)
		n += (size_t)snprintf(line + n, sizeof(line) - n, "'%s' ",
				      args[i]);
	ck_assert_uint_lt(n, sizeof(line));
	ck_assert_int_eq(agentbox_guard_check_shell(guard, place, line, n,
						    &decision, NULL), 0);
	return agentbox_decision_get_verdict(decision);
}

static void compare_ways(const char *const *args)
{
	static const char *const before[] = { "", "env ", "nice -n 5 ",
					      "command ", "! " };
	int32_t want = verdict(args);
	size_t lens[16], n = lengths(args, lens);

	ck_assert_int_eq(agentbox_guard_check_argv(guard, place, args, lens, n,
						   &decision, NULL), 0);
	ck_assert_msg(agentbox_decision_get_verdict(decision) == want,
		      "git %s %s %s", args[1], args[2], args[3]);
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		ck_assert_msg(verdict_in_a_line(before[i], args) == want,
			      "%sgit %s %s %s", before[i], args[1], args[2],
			      args[3]);
}

START_TEST(a_line_is_judged_as_its_words_are)
{
	static const char *const first[] = { "--no-pager", "-c", "-C", "-p",
					     "--exec-path=/x", "--bare" };
	static const char *const values[] = { "color.ui=never", "core.pager=x",
					      "alias.x=push", ".", "/etc" };
	static const char *const last[] = { "-f", "--help", "-h", "--", "HEAD",
					    "--output=/etc/x", "-anm", "--no-x",
					    "/etc/passwd", "-Ox", "--har" };
	FILE *f = popen("git --list-cmds=main,others", "r");
	unsigned seen = 0;
	char name[128];

	ck_assert_ptr_nonnull(f);
	while (fscanf(f, "%127s", name) == 1) {
		for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
			const char *args[6] = { "git", name, last[i] };

			compare_ways(args);
			args[3] = "x";
			compare_ways(args);
		}
		for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
			const char *args[6] = { "git", first[i], name };

			compare_ways(args);
		}
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]);
		     i++) {
			const char *args[6] = { "git", "-c", values[i], name };

			compare_ways(args);
			args[1] = "-C";
			compare_ways(args);
		}
		seen++;
	}
	pclose(f);
	ck_assert_uint_ge(seen, 100);
}
END_TEST

START_TEST(the_hardened_environment_has_an_end)
{
	size_t n = 0;
	bool has_hooks = false;

	while (agentbox_guard_git_environment(n)) {
		has_hooks |= strstr(agentbox_guard_git_environment(n),
				    "core.hooksPath") != NULL;
		n++;
	}
	ck_assert_uint_gt(n, 20);
	ck_assert(has_hooks);
	for (n = 0; agentbox_guard_git_argument(n); n++)
		;
	ck_assert_uint_gt(n, 20);
	ck_assert_uint_eq(n % 2, 0);
}
END_TEST

static bool one_check(void *data)
{
	const char *const args[] = {"git", "push"};
	const size_t lens[] = {3, 4};
	agentbox_decision *d = NULL;
	int32_t r = agentbox_guard_check_git(guard, place, args, lens, 2, &d,
					     NULL);

	(void)data;
	ck_assert(r == 0 || r == AGENTBOX_ENOMEM);
	ck_assert_int_eq(agentbox_decision_get_verdict(d),
			 AGENTBOX_VERDICT_DENY);
	agentbox_decision_free(d);
	return r == 0;
}

START_TEST(out_of_memory_is_a_denial)
{
	if (ab_torture_available())
		ck_assert_uint_gt(ab_torture(one_check, NULL, 100, NULL), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guard_git");
	TCase *t = tcase_create("public");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_command_is_judged);
	tcase_add_test(t, the_decision_says_what_where_and_why);
	tcase_add_test(t, what_is_not_git_is_denied);
	tcase_add_test(t, a_path_that_is_too_long_is_not_inside);
	tcase_add_test(t, rules_of_the_policy_count);
	tcase_add_test(t, strict_asks_nobody);
	tcase_add_test(t, without_a_place_no_path_is_inside);
	tcase_add_test(t, errors_are_denials);
	tcase_add_test(t, a_line_is_judged_as_its_words_are);
	tcase_add_test(t, the_hardened_environment_has_an_end);
	tcase_add_test(t, out_of_memory_is_a_denial);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
