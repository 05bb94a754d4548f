/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of tests/data/shell-parse.jsonl: {in, status?, tree?}. status is ok,
 * unterminated, syntax or limit (default ok); tree is shell_print()'s.
 */
#include "config.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "shell_print.h"

static const char *const statuses[] = { "ok", "unterminated", "syntax",
					"limit", "stopped" };

static char *memory;
static size_t memory_size;

static void check_row(const json_t *row, size_t number)
{
	const json_t *in = json_object_get(row, "in");
	const char *status = json_string_value(json_object_get(row, "status"));
	const char *tree = json_string_value(json_object_get(row, "tree"));
	const struct ab_shell_tree *t;
	struct ab_shell_result result;
	struct ab_arena arena;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ab_arena_init(&arena, memory, memory_size);
	t = ab_shell_parse(&arena, json_string_value(in),
			   json_string_length(in), NULL, &result);
	ck_assert_msg(strcmp(statuses[result.status],
			     status ? status : "ok") == 0,
		      "row %zu: %s (%s) instead of %s", number,
		      statuses[result.status], result.message,
		      status ? status : "ok");
	ck_assert(t != NULL);
	shell_print(out, t);
	fclose(out);
	if (tree)
		ck_assert_msg(strcmp(text, tree) == 0,
			      "row %zu:\n%s\ninstead of\n%s", number, text,
			      tree);
	free(text);
}

START_TEST(every_row_parses_as_written)
{
	char path[4096];
	char *line = NULL;
	size_t room = 0, rows = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/shell-parse.jsonl",
		 ab_test_srcdir());
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "cannot open %s", path);
	memory_size = AB_SHELL_ARENA(1 << 16);
	memory = malloc(memory_size);
	while (getline(&line, &room, f) > 0) {
		json_t *row = json_loads(line, JSON_ALLOW_NUL, NULL);

		rows++;
		ck_assert_msg(row != NULL, "row %zu is not JSON", rows);
		check_row(row, rows);
		json_decref(row);
	}
	ck_assert_uint_ge(rows, 100);
	free(memory);
	free(line);
	fclose(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("shell_data");
	TCase *tc = tcase_create("rows");
	SRunner *runner = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, every_row_parses_as_written);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
