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
#include "guard/git_table.h"
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

static Suite *suite(void)
{
	Suite *s = suite_create("guard_git");
	TCase *t = tcase_create("rows");

	tcase_add_test(t, every_row_is_judged_as_it_says);
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
