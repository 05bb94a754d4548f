/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The name filter: rows of tests/data/snapshot-names.jsonl, and what is not
 * a row: options, plans, ignore files, memory.
 *
 * {id, path | hex, dir?, profile?, exclude?, include?, ignore?, siblings?,
 * entries?, out, rule?, tier?, passage?, proof?}: `out` is the reason's name.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "base/error.h"
#include "snapshot/filter.h"
#include "snapshot_names.h"

#define LIST_MAX 64

static size_t strings_of(const json_t *row, const char *key,
			 const char *list[LIST_MAX])
{
	const json_t *array = json_object_get(row, key);
	size_t n = json_array_size(array);

	ck_assert_uint_le(n, LIST_MAX);
	for (size_t i = 0; i < n; i++)
		list[i] = json_string_value(json_array_get(array, i));
	return n;
}

static ab_filter *filter_of(const json_t *row, const char *id)
{
	const char *exclude[LIST_MAX];
	const char *include[LIST_MAX];
	const char *profile = json_string_value(json_object_get(row,
								"profile"));
	ab_filter_options options = {
		.profile = profile && !strcmp(profile, "required")
				   ? AB_FILTER_REQUIRED
				   : AB_FILTER_STRICT,
		.exclude = exclude,
		.exclude_count = strings_of(row, "exclude", exclude),
		.include = include,
		.include_count = strings_of(row, "include", include)};
	ab_filter *filter = NULL;

	ck_assert_msg(ab_filter_new(&options, &filter, NULL) == 0,
		      "%s: no filter", id);
	return filter;
}

static size_t bytes_of(const json_t *row, char *out)
{
	const char *hex = json_string_value(json_object_get(row, "hex"));
	const json_t *path = json_object_get(row, "path");
	size_t n = 0;
	unsigned byte;

	if (!hex) {
		n = json_string_length(path);
		memcpy(out, json_string_value(path), n);
		return n;
	}
	for (; sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
		out[n] = (char)byte;
	return n;
}

static size_t wrong;

static void check_row(const json_t *row, const char *id)
{
	char path[16384];
	size_t n = bytes_of(row, path);
	const char *ignored = json_string_value(json_object_get(row, "ignore"));
	const char *rule = json_string_value(json_object_get(row, "rule"));
	const char *tier = json_string_value(json_object_get(row, "tier"));
	const char *want = json_string_value(json_object_get(row, "out"));
	ab_filter *filter = filter_of(row, id);
	ab_filter_ignore *ignore = NULL;
	ab_filter_verdict v;

	if (ignored)
		ck_assert_int_eq(ab_filter_ignore_parse(ignored,
							strlen(ignored),
							&ignore, NULL), 0);
	names_walk(filter, ignore, path, n,
		   json_is_true(json_object_get(row, "dir")),
		   json_object_get(row, "siblings"),
		   json_object_get(row, "entries"), &v);
	if (strcmp(ab_left_out_name(v.reason), want) != 0 ||
	    (rule && strcmp(v.rule, rule) != 0) || (tier && v.tier != *tier) ||
	    v.is_passage != json_is_true(json_object_get(row, "passage")) ||
	    (v.proof != AB_PROOF_NONE) !=
		    json_is_true(json_object_get(row, "proof"))) {
		fprintf(stderr,
			"%s: %s by \"%s\" tier %c passage %d proof %d\n", id,
			ab_left_out_name(v.reason), v.rule,
			v.tier ? v.tier : '-', v.is_passage, (int)v.proof);
		wrong++;
	}
	ab_filter_ignore_free(ignore);
	ab_filter_free(filter);
}

START_TEST(every_row_has_its_verdict)
{
	char path[4096];
	char *line = NULL;
	size_t room = 0;
	size_t rows = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/snapshot-names.jsonl",
		 ab_test_srcdir());
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (getline(&line, &room, f) > 0) {
		json_t *row = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

		rows++;
		ck_assert_msg(row != NULL, "row %zu is not JSON", rows);
		check_row(row, json_string_value(json_object_get(row, "id")));
		json_decref(row);
	}
	free(line);
	fclose(f);
	ck_assert_uint_ge(rows, 10);
	ck_assert_msg(wrong == 0, "%zu of %zu rows, see above", wrong, rows);
}
END_TEST

static Suite *filter_suite(void)
{
	Suite *s = suite_create("snapshot_filter");
	TCase *tc = tcase_create("filter");

	tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown);
	tcase_add_test(tc, every_row_has_its_verdict);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	SRunner *runner = srunner_create(filter_suite());
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
