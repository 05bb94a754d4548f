/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The git check. Rows of tests/data/git.jsonl: {id, run, env?, expect, rule?,
 * cwd?, profile?, git_dir?}; words as guard_git_rows.h says. Then what holds
 * for every row and for the table, and the labelled lines of the corpus when
 * AGENTBOX_CORPUS names it.
 */
#include "config.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "guard/git.h"
#include "guard_git_rows.h"

static const char *const names[] = {"none", "allow", "ask", "deny"};

static const char *text_of(const json_t *row, const char *key)
{
	return json_string_value(json_object_get(row, key));
}

static enum ab_git_verdict verdict_of(const char *name)
{
	for (int i = 0; i < 4; i++)
		if (name && strcmp(name, names[i]) == 0)
			return (enum ab_git_verdict)i;
	ck_abort_msg("no verdict '%s'", name);
	return AB_GIT_NONE;
}

static enum ab_git_profile profile_of(const char *name)
{
	if (!name)
		return AB_GIT_DEFAULT;
	return strcmp(name, "relaxed") == 0 ? AB_GIT_RELAXED : AB_GIT_STRICT;
}

struct row {
	const char *id, *rule;
	enum ab_git_verdict expect;
	struct ab_git_context context;
	struct row_command command;
};

static void read_words(struct row *r, const json_t *row)
{
	const json_t *word;
	size_t i;

	row_clear(&r->command);
	json_array_foreach(json_object_get(row, "run"), i, word)
		ck_assert(row_add(&r->command, json_string_value(word)));
	json_array_foreach(json_object_get(row, "env"), i, word)
		ck_assert(row_add_env(&r->command, json_string_value(word)));
}

static void read_row(struct row *r, const json_t *row)
{
	const char *cwd = text_of(row, "cwd");
	const char *dir = text_of(row, "git_dir");

	r->id = text_of(row, "id");
	r->rule = text_of(row, "rule");
	r->expect = verdict_of(text_of(row, "expect"));
	row_context(&r->context);
	r->context.profile = profile_of(text_of(row, "profile"));
	if (cwd) {
		r->context.cwd.text = *cwd ? cwd : NULL;
		r->context.cwd.len = strlen(cwd);
	}
	if (dir) {
		r->context.git_dir.text = dir;
		r->context.git_dir.len = strlen(dir);
	}
	read_words(r, row);
}

typedef void (*row_fn)(struct row *r);

static void each_row(row_fn fn)
{
	static struct row r;
	char path[4096];
	char *line = NULL;
	size_t room = 0;
	size_t rows = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/git.jsonl",
		 ab_test_srcdir());
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "cannot open %s", path);
	while (getline(&line, &room, f) > 0) {
		json_t *row = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

		ck_assert_msg(row != NULL, "row %zu is not JSON", rows + 1);
		read_row(&r, row);
		fn(&r);
		json_decref(row);
		rows++;
	}
	free(line);
	fclose(f);
	ck_assert_uint_ge(rows, 900);
}

static unsigned wrong;

static void judge_row(struct row *r)
{
	struct ab_git_result result;
	enum ab_git_verdict v = row_check(&r->command, &r->context, &result);
	bool same = !r->rule ||
		    (result.rule && strcmp(r->rule, result.rule) == 0);

	if (v == r->expect && same)
		return;
	printf("# %s: %s %s instead of %s %s (%s)\n", r->id, names[v],
	       result.rule ? result.rule : "", names[r->expect],
	       r->rule ? r->rule : "", result.reason ? result.reason : "");
	wrong++;
}

START_TEST(every_row_is_judged_as_it_says)
{
	wrong = 0;
	each_row(judge_row);
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* --- what holds for every row --- */

static enum ab_git_verdict verdict_in(struct row *r,
				      enum ab_git_profile profile)
{
	struct ab_git_context context = r->context;
	struct ab_git_result result;

	context.profile = profile;
	return row_check(&r->command, &context, &result);
}

static void compare_profiles(struct row *r)
{
	enum ab_git_verdict strict = verdict_in(r, AB_GIT_STRICT);
	enum ab_git_verdict normal = verdict_in(r, AB_GIT_DEFAULT);
	enum ab_git_verdict relaxed = verdict_in(r, AB_GIT_RELAXED);

	ck_assert_msg(strict >= normal && normal >= relaxed,
		      "%s: %s, %s, %s", r->id, names[strict], names[normal],
		      names[relaxed]);
	ck_assert_msg(strict != AB_GIT_ASK, "%s: strict asks", r->id);
	ck_assert_msg((relaxed == AB_GIT_ALLOW) == (normal == AB_GIT_ALLOW),
		      "%s: relaxed allows", r->id);
}

START_TEST(a_stricter_profile_is_never_milder)
{
	each_row(compare_profiles);
}
END_TEST

static void insert_globals(struct row *r)
{
	static const char *const inert[][2] = {{"--no-pager", NULL},
					       {"-P", NULL},
					       {"--literal-pathspecs", NULL},
					       {"-c", "color.ui=never"},
					       {"-C", "."},
					       {"--config-env=color.ui=X", NULL}};
	static struct row_command c;
	struct ab_git_result before, after;

	if (!ab_git_is_command(&r->command.words[0].word) ||
	    strcmp(r->command.words[0].text, "git") != 0 ||
	    !r->context.cwd.text)
		return;
	row_check(&r->command, &r->context, &before);
	for (size_t i = 0; i < sizeof(inert) / sizeof(inert[0]); i++) {
		c = r->command;
		c.count = 1;
		for (size_t k = 0; k < 2 && inert[i][k]; k++)
			ck_assert(row_add(&c, inert[i][k]));
		for (size_t k = 1; k < r->command.count; k++)
			c.words[c.count++] = r->command.words[k];
		for (size_t k = 0; k < c.env_count; k++)
			c.env[k].value = &c.values[k].word;
		row_check(&c, &r->context, &after);
		ck_assert_msg(before.verdict == after.verdict &&
				      before.rule == after.rule,
			      "%s with %s: %s instead of %s", r->id,
			      inert[i][0], names[after.verdict],
			      names[before.verdict]);
	}
}

START_TEST(an_inert_global_option_changes_nothing)
{
	each_row(insert_globals);
}
END_TEST

/* What may be a denied word must not be allowed. */
static void punch_holes(struct row *r)
{
	static const char *const holes[] = {"{{bytes}}", "{{fields}}"};
	static struct row_command c;
	struct ab_git_result result;

	if (r->expect != AB_GIT_DENY || r->command.env_count)
		return;
	for (size_t i = 1; i < r->command.count; i++) {
		for (size_t k = 0; k < 2; k++) {
			c = r->command;
			c.count = i;
			ck_assert(row_add(&c, holes[k]));
			c.count = r->command.count;
			ck_assert_msg(row_check(&c, &r->context, &result) >=
					      AB_GIT_ASK,
				      "%s: allowed with %s for word %zu", r->id,
				      holes[k], i);
		}
	}
}

START_TEST(a_word_that_is_not_known_is_its_worst)
{
	each_row(punch_holes);
}
END_TEST

static void check_place(struct row *r)
{
	struct ab_git_result x;
	const struct row_command *c = &r->command;

	if (row_check(&r->command, &r->context, &x) < AB_GIT_ASK)
		return;
	ck_assert_msg(x.rule && x.reason && x.severity, "%s", r->id);
	ck_assert_msg((x.word < c->count) != (x.env < c->env_count),
		      "%s: no place", r->id);
	if (x.word < c->count)
		ck_assert_msg(x.begin <= x.end &&
				      x.end <= c->words[x.word].word.len,
			      "%s: no range", r->id);
	else
		ck_assert_msg(x.end <= c->values[x.env].word.len,
			      "%s: no range", r->id);
}

START_TEST(every_finding_has_a_place_and_a_reason)
{
	each_row(check_place);
}
END_TEST

static void check_at(const char *line, uint32_t word, uint32_t begin,
		     uint32_t end)
{
	struct ab_git_context context;
	struct ab_git_result x;
	enum ab_git_verdict v;

	row_context(&context);
	ck_assert(row_check_line(line, &context, &v, &x));
	ck_assert_msg(x.word == word && x.begin == begin && x.end == end,
		      "%s: word %u, %u to %u", line, x.word, x.begin, x.end);
}

START_TEST(the_place_is_the_word_that_decides)
{
	check_at("git push", 1, 0, 4);
	check_at("git -C . commit -m x --amend", 6, 0, 7);
	check_at("git commit -anm x", 2, 2, 3);
	check_at("git diff --output=/etc/x", 2, 9, 15);
	check_at("git log -p --output /etc/x", 4, 0, 6);
	check_at("git branch -v x", 3, 0, 1);
	check_at("git stash drop", 2, 0, 4);
	check_at("git -c core.pager=x log", 2, 0, 12);
	check_at("git --exec-path=/tmp log", 1, 0, 16);
	check_at("git config core.pager x", 2, 0, 10);
}
END_TEST

/* --- the corpus --- */

struct rate {
	char category[32];
	unsigned rows[4], hits[4], unread;
};

static struct rate *rate_of(struct rate *rates, size_t count,
			    const char *category)
{
	for (size_t i = 0; i < count; i++) {
		if (!rates[i].category[0])
			snprintf(rates[i].category, sizeof(rates[i].category),
				 "%s", category);
		if (strcmp(rates[i].category, category) == 0)
			return &rates[i];
	}
	ck_abort_msg("too many categories");
	return NULL;
}

static bool judge_line(const json_t *row, enum ab_git_verdict *v,
		       struct ab_git_result *result)
{
	static struct row_command c;
	struct ab_git_context context;
	const json_t *word;
	size_t i;

	row_context(&context);
	if (text_of(row, "cmd"))
		return row_check_line(text_of(row, "cmd"), &context, v, result);
	row_clear(&c);
	json_array_foreach(json_object_get(row, "argv"), i, word)
		ck_assert(row_add(&c, json_string_value(word)));
	*v = row_check(&c, &context, result);
	return true;
}

static void count_row(const json_t *row, struct rate *rates, size_t count)
{
	struct rate *r = rate_of(rates, count, text_of(row, "category"));
	enum ab_git_verdict expect = verdict_of(text_of(row, "expect"));
	struct ab_git_result result;
	enum ab_git_verdict v;
	bool hit;

	if (!judge_line(row, &v, &result)) {
		r->unread++;
		return;
	}
	r->rows[expect]++;
	hit = expect == AB_GIT_ALLOW ? v <= AB_GIT_ALLOW : v >= expect;
	r->hits[expect] += hit;
	if (!hit)
		printf("# %s: %s instead of %s\n", text_of(row, "id"), names[v],
		       names[expect]);
}

static void count_file(const char *dir, const char *file, struct rate *rates,
		       size_t count)
{
	char path[4096];
	char *line = NULL;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "cannot open %s", path);
	while (getline(&line, &room, f) > 0) {
		json_t *row = json_loads(line, 0, NULL);

		count_row(row, rates, count);
		json_decref(row);
	}
	free(line);
	fclose(f);
}

/*
 * A line that needs a real parser, or hides git from one, is for the tests of
 * the shell rules: git.evasion is printed and not judged here.
 */
START_TEST(the_labelled_lines_are_judged_as_labelled)
{
	static struct rate rates[8];
	const char *dir = getenv("AGENTBOX_CORPUS");
	unsigned rows[4] = {0}, hits[4] = {0};

	if (!dir)
		return;
	count_file(dir, "git_attack.jsonl", rates, 8);
	count_file(dir, "git_benign.jsonl", rates, 8);
	for (size_t i = 0; i < 8 && rates[i].category[0]; i++) {
		const struct rate *r = &rates[i];

		printf("# %-12s deny %u/%u ask %u/%u allow %u/%u unread %u\n",
		       r->category, r->hits[3], r->rows[3], r->hits[2],
		       r->rows[2], r->hits[1], r->rows[1], r->unread);
		for (int k = 0; k < 4; k++) {
			if (strcmp(r->category, "git.evasion") == 0)
				continue;
			rows[k] += r->rows[k];
			hits[k] += r->hits[k];
		}
	}
	ck_assert_uint_ge(hits[3] * 100, rows[3] * 98);
	ck_assert_uint_eq(hits[2], rows[2]);
	ck_assert_uint_ge(hits[1] * 1000, rows[1] * 995);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guard_git");
	TCase *t = tcase_create("rows");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, every_row_is_judged_as_it_says);
	tcase_add_test(t, a_stricter_profile_is_never_milder);
	tcase_add_test(t, an_inert_global_option_changes_nothing);
	tcase_add_test(t, a_word_that_is_not_known_is_its_worst);
	tcase_add_test(t, every_finding_has_a_place_and_a_reason);
	tcase_add_test(t, the_place_is_the_word_that_decides);
	tcase_add_test(t, the_labelled_lines_are_judged_as_labelled);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
