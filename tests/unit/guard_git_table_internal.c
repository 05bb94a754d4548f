/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables of the git check: in order, at one with the git that is
 * installed, and read so that no abbreviation or bundle gets around them. What
 * long words cost is measured by tests/bench/guard_shell.c.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "guard/git_table.h"
#include "guard_git_rows.h"

/* --- order --- */

START_TEST(commands_and_options_are_sorted)
{
	size_t count;
	const struct ab_git_command *c = ab_git_commands(&count);

	for (size_t i = 0; i < count; i++) {
		ck_assert(i == 0 || strcmp(c[i - 1].name, c[i].name) < 0);
		for (size_t k = 0; k < AB_GIT_SETS && c[i].sets[k]; k++) {
			const struct ab_git_set *s = c[i].sets[k];

			for (size_t n = 1; n < s->count; n++)
				ck_assert_msg(strcmp(s->options[n - 1].name,
						     s->options[n].name) < 0,
					      "%s: %s", c[i].name,
					      s->options[n].name);
		}
	}
}
END_TEST

START_TEST(every_command_is_found_by_its_name)
{
	size_t count;
	const struct ab_git_command *c = ab_git_commands(&count);

	for (size_t i = 0; i < count; i++) {
		const char *space = strchr(c[i].name, ' ');
		size_t len = space ? (size_t)(space - c[i].name)
				   : strlen(c[i].name);
		const struct ab_git_command *base =
			ab_git_command_find(c[i].name, len);

		ck_assert_msg(base != NULL, "%s", c[i].name);
		if (!space) {
			ck_assert_ptr_eq(base, &c[i]);
			continue;
		}
		ck_assert_msg(base->flags & COMMAND_VERBS, "%s", c[i].name);
		ck_assert_ptr_eq(ab_git_verb_find(base, space + 1,
						  strlen(space + 1)),
				 &c[i]);
	}
	ck_assert_ptr_null(ab_git_command_find("stash drop", 10));
	ck_assert_ptr_null(ab_git_command_find("stas", 4));
	ck_assert_ptr_null(ab_git_command_find("push\0x", 6));
}
END_TEST

/* --- advice --- */

START_TEST(what_an_alternative_says_to_run_is_allowed)
{
	for (int i = 1; i < GIT_ACT_COUNT; i++) {
		const struct ab_git_finding *f =
			ab_git_finding_of((enum ab_git_act)i);
		const char *begin = f->alternative
					    ? strchr(f->alternative, '`')
					    : NULL;
		struct ab_git_context context;
		struct ab_git_result result;
		enum ab_git_verdict v;
		char line[128];

		ck_assert_msg(f->reason && f->rule && f->verdict >= AB_GIT_ASK,
			      "act %d has no row", i);
		if (!begin)
			continue;
		snprintf(line, sizeof(line), "%.*s",
			 (int)strcspn(begin + 1, "`"), begin + 1);
		row_context(&context);
		ck_assert(row_check_line(line, &context, &v, &result));
		ck_assert_msg(v == AB_GIT_ALLOW, "'%s' is not allowed", line);
	}
}
END_TEST

/* --- abbreviations and bundles --- */

static enum ab_git_verdict judge(const char *command, const char *option,
				 const char *value)
{
	static struct row_command c;
	struct ab_git_context context;
	struct ab_git_result result;
	char name[64];
	char *verb;

	snprintf(name, sizeof(name), "%s", command);
	verb = strchr(name, ' ');
	row_clear(&c);
	if (verb)
		*verb++ = '\0';
	ck_assert(row_add(&c, "git") && row_add(&c, name));
	ck_assert(!verb || row_add(&c, verb));
	ck_assert(row_add(&c, option));
	ck_assert(!value || row_add(&c, value));
	row_context(&context);
	return row_check(&c, &context, &result);
}

static bool is_exact(const struct ab_git_command *c, const char *name)
{
	for (size_t i = 0; i < AB_GIT_SETS && c->sets[i]; i++)
		for (size_t k = 0; k < c->sets[i]->count; k++)
			if (strcmp(c->sets[i]->options[k].name, name) == 0)
				return true;
	return false;
}

/* A value that is bad wherever a value is judged. */
#define BAD_VALUE "/etc/%(signature)%G?"

static void shorten(const struct ab_git_command *c,
		    const struct ab_git_option *o, unsigned *tried)
{
	const char *value = o->arg == ARG_NONE ? "" : "=" BAD_VALUE;
	enum ab_git_verdict full;
	char option[128];

	snprintf(option, sizeof(option), "--%s%s", o->name, value);
	full = judge(c->name, option, NULL);
	for (size_t n = strlen(o->name) - 1; n > 0; n--) {
		char prefix[64];

		snprintf(prefix, sizeof(prefix), "%.*s", (int)n, o->name);
		snprintf(option, sizeof(option), "--%s%s", prefix, value);
		/* "--no-x" of an x, or "--x" of a no-x */
		if (is_exact(c, prefix) || strcmp(prefix, "no-") == 0 ||
		    (strncmp(prefix, "no-", 3) == 0 && is_exact(c, prefix + 3)))
			continue;
		ck_assert_msg(judge(c->name, option, NULL) >= full,
			      "git %s %s is milder than --%s", c->name, option,
			      o->name);
		(*tried)++;
	}
}

START_TEST(an_abbreviation_is_never_milder)
{
	size_t count;
	unsigned tried = 0;
	const struct ab_git_command *c = ab_git_commands(&count);

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < AB_GIT_SETS && c[i].sets[k]; k++)
			for (size_t n = 0; n < c[i].sets[k]->count; n++) {
				const struct ab_git_option *o =
					&c[i].sets[k]->options[n];

				if (o->name[0] != '-')
					shorten(&c[i], o, &tried);
			}
	ck_assert_uint_ge(tried, 10000);
}
END_TEST

static void bundle(const struct ab_git_command *c,
		   const struct ab_git_option *o, unsigned *tried)
{
	const char *value = o->arg == ARG_NONE ? "" : BAD_VALUE;
	char option[128];
	enum ab_git_verdict alone;

	snprintf(option, sizeof(option), "%s%s", o->name, value);
	alone = judge(c->name, option, NULL);
	for (size_t k = 0; k < AB_GIT_SETS && c->sets[k]; k++) {
		for (size_t n = 0; n < c->sets[k]->count; n++) {
			const struct ab_git_option *y =
				&c->sets[k]->options[n];

			if (y->name[0] != '-' || y->arg != ARG_NONE ||
			    y->flag || y->name[1] == '#')
				continue;
			/* the set before may know it as something else */
			if (k && is_exact(&(struct ab_git_command){
						  .sets = {c->sets[0]}},
					  y->name))
				continue;
			snprintf(option, sizeof(option), "%s%s%s", y->name,
				 o->name + 1, value);
			ck_assert_msg(judge(c->name, option, NULL) >= alone,
				      "git %s %s is milder", c->name, option);
			(*tried)++;
		}
	}
}

START_TEST(a_bundle_is_never_milder)
{
	size_t count;
	unsigned tried = 0;
	const struct ab_git_command *c = ab_git_commands(&count);

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < AB_GIT_SETS && c[i].sets[k]; k++)
			for (size_t n = 0; n < c[i].sets[k]->count; n++) {
				const struct ab_git_option *o =
					&c[i].sets[k]->options[n];

				if (o->name[0] == '-' && o->name[1] != '#')
					bundle(&c[i], o, &tried);
			}
	ck_assert_uint_ge(tried, 5000);
}
END_TEST

/* --- the installed git --- */

static char repository[2048];

/* git's own list of options; what takes a value ends in "=". */
static FILE *ask_git(const char *command)
{
	char line[8192];

	snprintf(line, sizeof(line),
		 "cd '%s' && git %s --git-completion-helper-all 2>/dev/null",
		 repository, command);
	return popen(line, "r");
}

static const struct ab_git_option *find(const struct ab_git_command *c,
					const char *name)
{
	for (size_t i = 0; i < AB_GIT_SETS && c->sets[i]; i++)
		for (size_t k = 0; k < c->sets[i]->count; k++)
			if (strcmp(c->sets[i]->options[k].name, name) == 0)
				return &c->sets[i]->options[k];
	return NULL;
}

static bool is_known(const struct ab_git_command *c, const char *name)
{
	char other[512];

	if (find(c, name))
		return true;
	if (strncmp(name, "no-", 3) == 0 && find(c, name + 3))
		return true;
	snprintf(other, sizeof(other), "no-%s", name);
	return find(c, other) != NULL;
}

/* "--contains" takes the next word if there is one: git does not say so. */
static bool takes_next_if_any(const char *name)
{
	static const char *const names[] = {"contains", "no-contains", "with",
					    "without", "merged", "no-merged",
					    "points-at", "cacheinfo"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static void compare_option(const struct ab_git_command *c, char *word,
			   unsigned *seen)
{
	size_t n = strlen(word);
	bool needs = n && word[n - 1] == '=';
	const struct ab_git_option *o;

	if (n < 3 || strncmp(word, "--", 2) != 0)
		return;
	if (needs)
		word[n - 1] = '\0';
	(*seen)++;
	ck_assert_msg(is_known(c, word + 2) ||
			      (c->flags & (COMMAND_LENIENT | COMMAND_ECHO)),
		      "git %s has an option %s", c->name, word);
	o = find(c, word + 2);
	if (o && !takes_next_if_any(o->name))
		ck_assert_msg((o->arg == ARG_NEED) == needs,
			      "git %s %s %s a value", c->name, word,
			      needs ? "takes" : "does not take");
}

/* Subcommands that are not verbs of the table's making, and print options. */
static bool is_comparable(const struct ab_git_command *c)
{
	/* these print their verbs, with dashes before them */
	static const char *const not[] = {"notes", "remote", "worktree list"};

	for (size_t i = 0; i < sizeof(not) / sizeof(not[0]); i++)
		if (strcmp(c->name, not[i]) == 0)
			return false;
	return c->sets[0] != NULL;
}

START_TEST(the_installed_git_has_no_option_that_is_not_known)
{
	size_t count;
	unsigned seen = 0;
	char line[4096];
	const struct ab_git_command *c = ab_git_commands(&count);

	snprintf(repository, sizeof(repository), "%s/plain", ab_test_tmpdir());
	snprintf(line, sizeof(line), "git init -q '%s'", repository);
	ck_assert_int_eq(system(line), 0);
	for (size_t i = 0; i < count; i++) {
		char word[256];
		FILE *f;

		if (!is_comparable(&c[i]))
			continue;
		f = ask_git(c[i].name);
		ck_assert(f != NULL);
		while (fscanf(f, "%255s", word) == 1)
			compare_option(&c[i], word, &seen);
		pclose(f);
	}
	ck_assert_uint_ge(seen, 1000);
}
END_TEST

START_TEST(every_command_of_the_installed_git_is_in_the_table)
{
	char word[256];
	unsigned seen = 0;
	FILE *f = popen("git --list-cmds=main,builtins", "r");

	ck_assert(f != NULL);
	while (fscanf(f, "%255s", word) == 1) {
		ck_assert_msg(ab_git_command_find(word, strlen(word)) != NULL,
			      "git %s", word);
		seen++;
	}
	pclose(f);
	ck_assert_uint_ge(seen, 150);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guard_git_table");
	TCase *t = tcase_create("table");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, commands_and_options_are_sorted);
	tcase_add_test(t, every_command_is_found_by_its_name);
	tcase_add_test(t, what_an_alternative_says_to_run_is_allowed);
	tcase_add_test(t, an_abbreviation_is_never_milder);
	tcase_add_test(t, a_bundle_is_never_milder);
	tcase_add_test(t, the_installed_git_has_no_option_that_is_not_known);
	tcase_add_test(t, every_command_of_the_installed_git_is_in_the_table);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
