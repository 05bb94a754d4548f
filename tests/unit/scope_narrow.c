/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parents and children by chance: whatever two scopes say, a child that was
 * cut to its parent is contained in it, may nothing that one of the two may
 * not, and is told of nobody that the parent does not read. Spec:
 * agentbox/scope.h, DESIGN.md section 10.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "abtest.h"
#include "agentbox/scope.h"
#include "base/attr.h"

#define ROUNDS 2000
#define BOXES 6

static const char *const tools[] = { "database", "secrets", "crm:*",
				     "linear:get", "billing" };
static const char *const calls[] = { "db_query", "vault_read", "crm__list",
				     "linear__get", "billing", "read_file" };

static uint64_t seed = 7;

static unsigned pick(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* What a box is called: its id, a name, where its database is. */
static const char *name_of(unsigned box, unsigned kind)
{
	static char text[32];

	snprintf(text, sizeof(text), kind == 0	 ? "box-%c"
				     : kind == 1 ? "agent-%c"
						 : "db-%c.test:5432",
		 'a' + (int)box);
	return text;
}

/* With some of its names, or, with `all`, all of them. */
static json_t *box_of(const char *id_key, unsigned box, bool all)
{
	json_t *o = json_pack("{s:s, s:[], s:[]}", id_key, name_of(box, 0),
			      "names", "aliases");

	if (all || pick(2))
		json_array_append_new(json_object_get(o, "names"),
				      json_string(name_of(box, 1)));
	if (all || pick(2))
		json_array_append_new(json_object_get(o, "aliases"),
				      json_string(name_of(box, 2)));
	return o;
}

/* Each box is the caller's, is read, is known or is not; 0 is his own. */
static json_t *document_of(unsigned own, bool all)
{
	json_t *d = box_of("id", own, all);

	json_object_set_new(d, "boxes", json_array());
	json_object_set_new(d, "grants", json_array());
	json_object_set_new(d, "others", json_array());
	for (unsigned i = 0; i < BOXES; i++) {
		static const char *const lists[] = { "boxes", "grants",
						     "others", NULL };
		const char *list = lists[pick(4)];
		bool is_grant = list && list[0] == 'g';

		if (i == own || !list)
			continue;
		json_array_append_new(json_object_get(d, list),
				      box_of(is_grant ? "source" : "id", i,
					     all));
	}
	return d;
}

static agentbox_scope *scope_of(json_t *document)
{
	agentbox_context *context = NULL;
	agentbox_policy *policy = NULL;
	agentbox_scope *scope = NULL;
	json_t *list = json_array();
	char *text;

	for (size_t i = 0; i < AB_ARRAY_LEN(tools); i++)
		if (pick(2))
			json_array_append_new(list, json_string(tools[i]));
	json_t *p = json_pack("{s:i, s:s, s:{s:o}}", "agentbox", 1, "mode",
			      "bare", "scope", "tools", list);
	text = json_dumps(p, 0);
	json_decref(p);
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	ck_assert_int_eq(agentbox_policy_parse(context, text, strlen(text),
					       &policy, NULL), 0);
	free(text);
	text = json_dumps(document, 0);
	ck_assert_int_eq(agentbox_scope_new(policy, text, strlen(text), &scope,
					    NULL), 0);
	free(text);
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
	return scope;
}

static bool is_blocked(agentbox_scope *s, const char *tool, const char *name)
{
	char args[64];
	int n = snprintf(args, sizeof(args), "{\"q\":\"to %s now\"}", name);

	return agentbox_scope_blocked(s, tool, strlen(tool), args, (size_t)n);
}

static bool is_known(const json_t *document, const char *name)
{
	char *text = json_dumps(document, 0), quoted[40];
	bool found;

	snprintf(quoted, sizeof(quoted), "\"%s\"", name);
	found = strstr(text, quoted) != NULL;
	free(text);
	return found;
}

static char *prompt_of(agentbox_scope *s)
{
	agentbox_bytes *bytes = NULL;
	char *text;

	ck_assert_int_eq(agentbox_scope_prompt(s, &bytes, NULL), 0);
	text = strdup(agentbox_bytes_get_data(bytes));
	agentbox_bytes_free(bytes);
	return text;
}

/* Nobody may be named that one of the two may not name and knows. */
static void compare_calls(agentbox_scope *parent, const json_t *document,
			  agentbox_scope *child, agentbox_scope *cut,
			  unsigned round)
{
	for (unsigned i = 0; i < BOXES * 3; i++) {
		const char *name = name_of(i / 3, i % 3);

		for (size_t k = 0; k < AB_ARRAY_LEN(calls); k++) {
			bool by_parent = is_known(document, name) &&
					 is_blocked(parent, calls[k], name);

			if (by_parent || is_blocked(child, calls[k], name))
				ck_assert_msg(is_blocked(cut, calls[k], name),
					      "%u: %s names %s", round,
					      calls[k], name);
		}
	}
	for (size_t k = 0; k < AB_ARRAY_LEN(calls); k++)
		if (agentbox_scope_is_scoped(parent, calls[k],
					     strlen(calls[k])) ||
		    agentbox_scope_is_scoped(child, calls[k],
					     strlen(calls[k])))
			ck_assert_int_eq(
				agentbox_scope_is_scoped(cut, calls[k],
							 strlen(calls[k])), 1);
}

/* Whom the child is told of the parent reads, or he is the parent's. */
static void compare_prompts(agentbox_scope *parent, const json_t *document,
			    agentbox_scope *child, agentbox_scope *cut,
			    unsigned round)
{
	char *above = prompt_of(parent), *below = prompt_of(cut);
	char *before = prompt_of(child);

	for (unsigned i = 0; i < BOXES; i++) {
		json_t *own = json_object_get(document, "boxes");
		char line[64];
		bool is_own;

		snprintf(line, sizeof(line), "to sandbox %s at ",
			 name_of(i, 0));
		is_own = is_known(own, name_of(i, 0)) ||
			 strcmp(json_string_value(
					json_object_get(document, "id")),
				name_of(i, 0)) == 0;
		if (strstr(below, line))
			ck_assert_msg(strstr(before, line) &&
				      (is_own || strstr(above, line)),
				      "%u: %s", round, line);
		else
			ck_assert_msg(!strstr(before, line) ||
				      !(is_own || strstr(above, line)),
				      "%u: not %s", round, line);
	}
	free(above);
	free(below);
	free(before);
}

START_TEST(a_child_that_is_cut_is_no_more_than_either)
{
	unsigned cuts = 0, whole = 0, refused = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		json_t *above = document_of(pick(BOXES), true);
		json_t *below = document_of(pick(BOXES), pick(2));
		agentbox_scope *parent = scope_of(above);
		agentbox_scope *child = scope_of(below), *cut = NULL;
		int32_t is_less = agentbox_scope_contains(parent, child, NULL);
		int32_t r = agentbox_scope_narrow(parent, child, &cut, NULL);

		ck_assert(r == 0 || r == AGENTBOX_EDENIED);
		ck_assert(is_less == 0 || is_less == AGENTBOX_EDENIED);
		ck_assert((r == 0) == (cut != NULL));
		ck_assert_msg(is_less != 0 || r == 0, "%u: is less", round);
		cuts += r == 0;
		whole += is_less == 0;
		refused += r != 0;
		if (r == 0) {
			ck_assert_int_eq(agentbox_scope_contains(parent, cut,
								 NULL), 0);
			compare_calls(parent, above, child, cut, round);
			compare_prompts(parent, above, child, cut, round);
		}
		agentbox_scope_unref(parent);
		agentbox_scope_unref(child);
		agentbox_scope_unref(cut);
		json_decref(above);
		json_decref(below);
	}
	printf("%u cut, %u of them whole, %u refused\n", cuts, whole, refused);
	/* chance made enough of each */
	ck_assert_uint_ge(cuts, ROUNDS / 8);
	ck_assert_uint_ge(whole, 10);
	ck_assert_uint_ge(refused, ROUNDS / 8);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("scope_narrow");
	TCase *tc = tcase_create("scope_narrow");
	SRunner *sr;
	int bad;

	tcase_add_test(tc, a_child_that_is_cut_is_no_more_than_either);
	tcase_set_timeout(tc, 60 * ab_test_slowness());
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	bad = srunner_ntests_failed(sr);
	srunner_free(sr);
	return bad ? 1 : 0;
}
