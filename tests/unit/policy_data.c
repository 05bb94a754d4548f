/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of tests/data/policy.jsonl and policy_contains.jsonl through the
 * public interface.
 *
 * policy.jsonl: {id, doc | text, code, where?, message?}: the code is exact,
 * `where` a prefix, `message` a part.
 * policy_contains.jsonl: {id, parent, child, contained, where?, effective?}:
 * `where` a prefix; `effective` is part of narrow(parent, child): objects
 * member by member, anything else equal.
 */
#include "config.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "agentbox/policy.h"

static agentbox_context *context;

static void setup(void)
{
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
}

static void teardown(void)
{
	agentbox_context_unref(context);
}

typedef void (*row_fn)(const json_t *row, const char *id);

/* Calls fn for every row; at least `least` must be there. */
static void each_row(const char *file, size_t least, row_fn fn)
{
	char path[4096];
	char *line = NULL;
	size_t room = 0;
	size_t rows = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/%s", ab_test_srcdir(),
		 file);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "cannot open %s", path);
	while (getline(&line, &room, f) > 0) {
		json_t *row = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

		ck_assert_msg(row != NULL, "%s: row %zu is not JSON", file,
			      rows + 1);
		fn(row, json_string_value(json_object_get(row, "id")));
		json_decref(row);
		rows++;
	}
	free(line);
	fclose(f);
	ck_assert_uint_ge(rows, least);
}

static const char *text_of(const json_t *row, const char *key)
{
	return json_string_value(json_object_get(row, key));
}

static void check_document(const json_t *row, const char *id)
{
	const char *code = text_of(row, "code");
	const char *where = text_of(row, "where");
	const char *message = text_of(row, "message");
	const json_t *doc = json_object_get(row, "doc");
	char *text = doc ? json_dumps(doc, 0) : strdup(text_of(row, "text"));
	agentbox_policy *p = NULL;
	agentbox_error *err = NULL;
	int32_t r = agentbox_policy_parse(context, text, strlen(text), &p,
					  &err);

	ck_assert_msg(strcmp(agentbox_error_name(r), code) == 0,
		      "%s: %s instead of %s: %s", id, agentbox_error_name(r),
		      code, agentbox_error_get_message(err));
	ck_assert_msg((r == 0) == (p != NULL) && (r == 0) == (err == NULL),
		      "%s: half an answer", id);
	if (where)
		ck_assert_msg(strncmp(agentbox_error_get_where(err), where,
				      strlen(where)) == 0,
			      "%s: at '%s' instead of '%s'", id,
			      agentbox_error_get_where(err), where);
	if (message)
		ck_assert_msg(strstr(agentbox_error_get_message(err),
				     message) != NULL,
			      "%s: '%s' does not say '%s'", id,
			      agentbox_error_get_message(err), message);
	if (r)
		ck_assert_msg(agentbox_error_get_message(err)[0] != '\0' &&
				      !strchr(agentbox_error_get_message(err),
					      '\n'),
			      "%s: not one line", id);
	agentbox_error_free(err);
	agentbox_policy_unref(p);
	free(text);
}

static agentbox_policy *parse(const json_t *doc, const char *id)
{
	char *text = json_dumps(doc, 0);
	agentbox_policy *p = NULL;
	agentbox_error *err = NULL;

	ck_assert_msg(agentbox_policy_parse(context, text, strlen(text), &p,
					    &err) == 0,
		      "%s: %s", id, agentbox_error_get_message(err));
	free(text);
	return p;
}

/* Everything in `part` is in `whole`. */
static int is_part(const json_t *part, const json_t *whole)
{
	const char *key;
	json_t *v;

	if (!json_is_object(part) || !json_is_object(whole))
		return whole && json_equal((json_t *)(uintptr_t)part,
					   (json_t *)(uintptr_t)whole);
	json_object_foreach ((json_t *)(uintptr_t)part, key, v)
		if (!is_part(v, json_object_get(whole, key)))
			return 0;
	return 1;
}

static void check_effective(const json_t *row, const char *id,
			    agentbox_policy *p, agentbox_policy *c)
{
	const json_t *wanted = json_object_get(row, "effective");
	agentbox_policy *n = NULL;
	agentbox_bytes *dump = NULL;
	agentbox_error *err = NULL;
	json_t *tree;

	if (!wanted)
		return;
	ck_assert_msg(agentbox_policy_narrow(p, c, &n, &err) == 0, "%s: %s", id,
		      agentbox_error_get_message(err));
	ck_assert_int_eq(agentbox_policy_to_json(n, &dump, NULL), 0);
	tree = json_loads(agentbox_bytes_get_data(dump), 0, NULL);
	ck_assert_msg(is_part(wanted, tree), "%s: effective is %s", id,
		      agentbox_bytes_get_data(dump));
	ck_assert_msg(agentbox_policy_contains(p, n, NULL) == 0,
		      "%s: the narrowed child is not contained", id);
	json_decref(tree);
	agentbox_bytes_free(dump);
	agentbox_policy_unref(n);
}

static void check_contains(const json_t *row, const char *id)
{
	agentbox_policy *p = parse(json_object_get(row, "parent"), id);
	agentbox_policy *c = parse(json_object_get(row, "child"), id);
	const char *where = text_of(row, "where");
	agentbox_error *err = NULL;
	int32_t wanted = json_is_true(json_object_get(row, "contained")) ?
				 0 :
				 AGENTBOX_EDENIED;
	int32_t r = agentbox_policy_contains(p, c, &err);

	ck_assert_msg(r == wanted, "%s: %s instead of %s: %s", id,
		      agentbox_error_name(r), agentbox_error_name(wanted),
		      agentbox_error_get_message(err));
	if (where)
		ck_assert_msg(strncmp(agentbox_error_get_where(err), where,
				      strlen(where)) == 0,
			      "%s: at '%s' instead of '%s'", id,
			      agentbox_error_get_where(err), where);
	if (r)
		ck_assert_msg(strstr(agentbox_error_get_message(err),
				     "the child") &&
				      strstr(agentbox_error_get_message(err),
					     "the parent"),
			      "%s: '%s' does not name both sides", id,
			      agentbox_error_get_message(err));
	check_effective(row, id, p, c);
	agentbox_error_free(err);
	agentbox_policy_unref(p);
	agentbox_policy_unref(c);
}

START_TEST(documents_are_accepted_and_refused_as_the_rows_say)
{
	each_row("policy.jsonl", 250, check_document);
}
END_TEST

START_TEST(containment_is_as_the_rows_say)
{
	each_row("policy_contains.jsonl", 100, check_contains);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_data");
	TCase *t = tcase_create("rows");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, documents_are_accepted_and_refused_as_the_rows_say);
	tcase_add_test(t, containment_is_as_the_rows_say);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
