/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Secrets as arguments, rows of tests/data/audit-redact.jsonl: what says FAKE
 * must not reach the log, not even its tail; what says KEPT must.
 */
#include "config.h"

#include "audit_help.h"

static fixture fx;

static void setup(void)
{
	fixture_begin(&fx);
}

static void teardown(void)
{
	fixture_end(&fx);
}

static int count(const char *text, const char *word)
{
	int n = 0;

	for (const char *p = text; (p = strstr(p, word)); p++)
		n++;
	return n;
}

/* The value of a FAKE one ends where the row has its next KEPT or quote. */
static void judge(const char *id, const char *row, const char *written)
{
	ck_assert_msg(!strstr(written, "FAKE"), "%s: %s", id, written);
	ck_assert_msg(!strstr(written, "two"), "%s: %s", id, written);
	ck_assert_msg(count(written, "KEPT") == count(row, "KEPT"),
		      "%s: %s", id, written);
}

START_TEST(secrets_as_arguments_are_redacted_and_nothing_else)
{
	agentbox_audit *a = opened(&fx, false);
	char path[4096], *line = NULL, *all, *at;
	size_t room = 0, rows = 0, n;
	json_t *list = json_array();

	snprintf(path, sizeof(path), "%s/tests/data/audit-redact.jsonl",
		 ab_test_srcdir());
	FILE *f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (getline(&line, &room, f) > 0) {
		json_t *row = json_loads(line, 0, NULL), *fields;

		ck_assert_msg(row != NULL, "%s: not JSON: %s", path, line);
		fields = json_object_get(row, "argv") ?
			json_pack("{sO}", "argv",
				  json_object_get(row, "argv")) :
			json_pack("{sO}", "subject",
				  json_object_get(row, "text"));
		ck_assert_ptr_nonnull(fields);
		char *text = json_dumps(fields, 0);

		put(a, "note", text);
		json_object_set_new(row, "row", json_string(text));
		json_array_append_new(list, row);
		free(text);
		json_decref(fields);
		rows++;
	}
	fclose(f);
	free(line);
	agentbox_audit_unref(a);
	all = slurp(fx.log, &n);
	at = all;
	for (size_t i = 0; i < rows; i++) {
		const json_t *row = json_array_get(list, i);

		at = strchr(at, '\n') + 1;
		char *end = strchr(at, '\n');

		*end = '\0';
		judge(field(row, "id"), field(row, "row"), at);
		*end = '\n';
	}
	ck_assert_uint_gt(rows, 60);
	free(all);
	json_decref(list);
}
END_TEST

static bool begins_with(const char *p, const char *word)
{
	return strncmp(p, word, strlen(word)) == 0;
}

START_TEST(every_word_of_a_row_can_be_found)
{
	static const char *const known[] = { "7z", "aws", "curl", "config",
					     "sshpass", "zip", "yarn" };
	uint64_t all = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		ck_assert_msg(ab_audit_word_bit(known[i], strlen(known[i])),
			      "%s is not found: the table is not sorted",
			      known[i]);
	ck_assert(ab_audit_word_bit("/usr/bin/curl", 13));
	ck_assert(!ab_audit_word_bit("curly", 5));
	for (size_t i = 0; i < ab_audit_options_count; i++) {
		const ab_audit_option *o = &ab_audit_options[i];

		all |= o->needs;
		ck_assert_uint_gt(strlen(o->name), 1);
		if (o->where & AB_GLUED)
			ck_assert(begins_with(o->name, "-"));
	}
	ck_assert(all & AB_WORD(CURL));
}
END_TEST

/* Marks stay inside the text, and asking says the same as marking. */
START_TEST(no_text_breaks_the_reading)
{
	static const char *const pieces[] = {
		"curl", "mysql", "-u", "-p", "--password", "=", ":", " ", "'",
		"\"", "\\", "\n", "-", ";", "a", "sqlplus", "/", "@", "-sSu",
		"Authorization:", "Bearer ", "openssl", "-pass", "pass:",
	};
	uint64_t rng = 88172645463325252ull;

	int rounds = ab_test_slowness() > 1 ? 1000 : 20000;

	for (int round = 0; round < rounds; round++) {
		char text[256] = "";
		size_t n = 0, marked = 0;

		for (int k = 0; k < 12; k++) {
			rng ^= rng << 13;
			rng ^= rng >> 7;
			rng ^= rng << 17;
			strcat(text, pieces[rng % (sizeof(pieces) /
						   sizeof(*pieces))]);
		}
		n = strlen(text);
		char *exact = memcpy(malloc(n + 1), text, n);
		char *mask = calloc(n + 1, 1);

		mask[n] = 2;
		bool is_found = ab_audit_mark_arguments(exact, n, mask);
		for (size_t i = 0; i < n; i++)
			marked += mask[i] == 1;
		ck_assert_msg(is_found == (marked > 0), "%s", text);
		ck_assert_msg(is_found ==
			      ab_audit_mark_arguments(exact, n, NULL),
			      "%s", text);
		ck_assert_int_eq(mask[n], 2);
		free(exact);
		free(mask);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("audit_redact");
	TCase *tc = tcase_create("rows");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc,
		       secrets_as_arguments_are_redacted_and_nothing_else);
	tcase_add_test(tc, no_text_breaks_the_reading);
	tcase_add_test(tc, every_word_of_a_row_can_be_found);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
