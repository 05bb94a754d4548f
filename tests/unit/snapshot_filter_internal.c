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
#include "base/attr.h"
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
	ck_assert_uint_ge(rows, 2500);
	ck_assert_msg(wrong == 0, "%zu of %zu rows, see above", wrong, rows);
}
END_TEST

START_TEST(every_rule_is_found_by_itself)
{
	ab_filter_options options = {.profile = AB_FILTER_STRICT};
	ab_filter *filter = NULL;

	ck_assert_int_eq(ab_filter_new(&options, &filter, NULL), 0);
	for (size_t i = 0; i < ab_filter_rule_count(); i++) {
		char tier = 0;
		const char *rule = ab_filter_rule(i, &tier);
		ab_filter_verdict v;

		ck_assert_ptr_nonnull(strchr("XSCBA", tier));
		if (strpbrk(rule, "*?[") || rule[strlen(rule) - 1] == '/')
			continue;
		ab_filter_name(filter, NULL, rule, strlen(rule), false, NULL,
			       &v);
		/* what never decides alone has no place here to agree */
		ck_assert_msg(v.tier != 0 ||
			      strstr(" core cookies identity shadow passwd "
				     "secrets typescript ", rule),
			      "rule %s", rule);
		for (size_t k = 0; k < i; k++) {
			char other;

			ck_assert_msg(strcmp(rule, ab_filter_rule(k, &other)),
				      "rule %s is there twice", rule);
		}
	}
	ck_assert_ptr_null(ab_filter_rule(ab_filter_rule_count(), NULL));
	ab_filter_free(filter);
}
END_TEST

START_TEST(every_reason_has_a_name_of_its_own)
{
	for (int i = 0; i < AB_OUT_REASONS; i++)
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(
				ab_left_out_name((enum ab_left_out)i),
				ab_left_out_name((enum ab_left_out)k));
	ck_assert_str_eq(ab_left_out_name(AB_OUT_REASONS), "unknown");
}
END_TEST

/* A pattern the filter refuses, with `where`; NULL: a run of n "**". */
static const struct {
	const char *pattern;
	size_t stars, length;
} bad_patterns[] = {
	{"", 0, 0},	   {"!a", 0, 0},    {"../a", 0, 0}, {"a//b", 0, 0},
	{"a/./b", 0, 0},   {"[a", 0, 0},    {"a\\", 0, 0},  {"/", 0, 0},
	{"//a", 0, 0},	   {NULL, 9, 0},    {NULL, 50, 0},  {NULL, 0, 4097},
	{NULL, 0, 300},	   {"force:", 0, 0},
};

static char *bad_pattern(size_t i, char *text)
{
	size_t n = 0;

	if (bad_patterns[i].pattern)
		return strcpy(text, bad_patterns[i].pattern);
	for (size_t k = 0; k < bad_patterns[i].stars; k++)
		n += (size_t)sprintf(text + n, "**/a/");
	for (size_t k = 0; k < bad_patterns[i].length; k++)
		text[n++] = 'a';
	text[n] = '\0';
	return text;
}

START_TEST(a_pattern_that_cannot_be_kept_is_refused)
{
	char text[8192];
	const char *list[] = {"good", "*.c", bad_pattern((size_t)_i, text)};
	ab_filter_options options = {.exclude = list, .exclude_count = 3};
	ab_filter *filter = NULL;
	agentbox_error *err = NULL;

	if (strcmp(text, "force:") != 0) { /* a name like any other there */
		ck_assert_int_eq(ab_filter_new(&options, &filter, &err),
				 AGENTBOX_EPOLICY);
		ck_assert_str_eq(agentbox_error_get_where(err), "exclude[2]");
		agentbox_error_free(err);
		err = NULL;
	}
	options = (ab_filter_options){.include = list, .include_count = 3};
	ck_assert_int_eq(ab_filter_new(&options, &filter, &err),
			 AGENTBOX_EPOLICY);
	ck_assert_str_eq(agentbox_error_get_where(err), "include[2]");
	agentbox_error_free(err);
	ck_assert_ptr_null(filter);
}
END_TEST

START_TEST(a_filter_has_limits)
{
	static const char *many[AB_FILTER_PATTERNS_MAX + 1];
	ab_filter_options options = {.exclude = many,
				     .exclude_count = AB_FILTER_PATTERNS_MAX};
	ab_filter *filter = NULL;

	for (size_t i = 0; i <= AB_FILTER_PATTERNS_MAX; i++)
		many[i] = "a/**/b/**/c/**/d/**/e/**/f/**/g/**/h";
	ck_assert_int_eq(ab_filter_new(&options, &filter, NULL), 0);
	ab_filter_free(filter);
	filter = NULL;
	options.exclude_count++;
	ck_assert_int_eq(ab_filter_new(&options, &filter, NULL),
			 AGENTBOX_ELIMIT);
	options = (ab_filter_options){.profile = (enum ab_filter_profile)2};
	ck_assert_int_eq(ab_filter_new(&options, &filter, NULL),
			 AGENTBOX_EPOLICY);
	ck_assert_ptr_null(filter);
}
END_TEST

START_TEST(an_admission_is_a_rule_and_where)
{
	static const char *const bad[] = {
		"", ":", "jwt", ":docs", "jwt:", "jwt:/", "jwt:../x",
		"jwt:!x", "Jwt:x", "jwt :x", "jwtx:x", "jw:x", "*:x",
		"force:jwt:x", "jwt:a//b",
		/* tier H: one file, by its path */
		"pem-private:*.pem", "pem-private:x.pem", "pem-private:a/",
		"pem-private:a/*.pem", "pem-private:a/**",
		"pem-private:a/x?.pem", "pem-private:a/[x].pem",
		"pem-private:/", "stripe-secret:*.md",
	};
	static const char *const good[] = {
		"jwt:x", "jwt:*", "jwt:docs/", "jwt:docs/**/*.md",
		"pem-private:a/x.pem", "pem-private:/x.pem",
		"stripe-secret:docs/api.md",
	};
	const char *list[] = {"jwt:good", NULL};
	ab_filter_options options = {.admit = list, .admit_count = 2};
	ab_filter *filter = NULL;

	for (size_t i = 0; i < AB_ARRAY_LEN(bad); i++) {
		agentbox_error *err = NULL;

		list[1] = bad[i];
		ck_assert_msg(ab_filter_new(&options, &filter, &err) ==
			      AGENTBOX_EPOLICY, "%s", bad[i]);
		ck_assert_str_eq(agentbox_error_get_where(err), "admit[1]");
		agentbox_error_free(err);
		ck_assert_ptr_null(filter);
	}
	list[1] = NULL;
	ck_assert_int_eq(ab_filter_new(&options, &filter, NULL),
			 AGENTBOX_EPOLICY);
	for (size_t i = 0; i < AB_ARRAY_LEN(good); i++) {
		list[1] = good[i];
		ck_assert_msg(ab_filter_new(&options, &filter, NULL) == 0,
			      "%s", good[i]);
		ab_filter_free(filter);
		filter = NULL;
	}
}
END_TEST

/* Does the filter let this file have a text that jwt finds, one that
   pem-private finds? */
static void check_admitted(const ab_filter *filter, ab_content *scanner,
			   const char *path, bool jwt, bool key)
{
	/* in pieces: nothing that looks like a secret is in this tree */
	static const char texts[2][2][400] = {
		{ "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.",
		  "eyJzdWIiOiI0MiIsIm5hbWUiOiJKYW5lIFJvZSBvZiBzb21ld2hlcmUif"
		  "Q.Zq3Vb8LmXr5Tn1WcYk7Hd0GfQs2JpNa9EuBiRoCt4Mv\n" },
		{ "-----BEGIN RSA PRIV",
		  "ATE KEY-----\nMIIEpAIBAAKCAQEA1c7Zq3Vb8LmXr5Tn1WcYk7Hd0Gf"
		  "Qs2JpNa9EuBiRoCt4MvQ\nZq3Vb8LmXr5Tn1WcYk7Hd0GfQs2JpNa9EuBi"
		  "RoCt4MvQw6Xz8KyLh3FdSg5\n" },
	};

	for (size_t i = 0; i < 2; i++) {
		ab_filter_begin_content(filter, scanner, AB_CONTENT_STRICT,
					path, strlen(path));
		for (size_t k = 0; k < 2; k++)
			ab_content_feed(scanner, texts[i][k],
					strlen(texts[i][k]));
		ck_assert_msg(ab_content_end(scanner, NULL) ==
			      !(i ? key : jwt), "%s: %s", path,
			      i ? "key" : "jwt");
	}
}

START_TEST(findings_are_admitted_where_it_says)
{
	static const char *const list[] = {
		"jwt:docs/", "jwt:*.adoc", "jwt:/top.md",
		"pem-private:tests/a.pem", "pem-private:keys/a"
	};
	static const struct {
		const char *path;
		bool jwt, key;
	} cases[] = {
		{ "docs/a.md", true, false },  { "docs/b/c.md", true, false },
		{ "x/docs/c.md", true, false }, { "docs", false, false },
		{ "Docs/a.md", false, false }, { "a.adoc", true, false },
		{ "x/y.adoc", true, false },   { "a.ADOC", false, false },
		{ "top.md", true, false },     { "x/top.md", false, false },
		{ "tests/a.pem", false, true }, { "a.pem", false, false },
		{ "x/tests/a.pem", false, false },
		{ "tests/a.PEM", false, false }, { "keys/a", false, true },
		/* one file, not a directory in its place */
		{ "keys/a/b.pem", false, false },
	};
	const ab_filter_options options = {.admit = list, .admit_count = 5};
	ab_content *scanner = ab_content_new();
	ab_filter *filter = NULL;

	ck_assert_int_eq(ab_filter_new(&options, &filter, NULL), 0);
	for (size_t i = 0; i < AB_ARRAY_LEN(cases); i++)
		check_admitted(filter, scanner, cases[i].path, cases[i].jwt,
			       cases[i].key);
	ab_filter_free(filter);
	ab_content_free(scanner);
}
END_TEST

static const char *const some_admits[] = {"jwt:docs/", "pem-private:/a.key"};
static const char *const some_excludes[] = {"*.md", "docs/**"};
static const char *const some_includes[] = {"force:a.key", "b.sql",
					    "force:own/**"};
static const char *const some_hidden[] = {"own/secret", "/b.sql"};
static const ab_filter_options some_options = {
	.profile = AB_FILTER_STRICT,
	.exclude = some_excludes,
	.exclude_count = 2,
	.include = some_includes,
	.include_count = 3,
	.admit = some_admits,
	.admit_count = 2,
	.hidden = some_hidden,
	.hidden_count = 2,
};

static enum ab_left_out reason_of(const ab_filter *filter, const char *path)
{
	ab_filter_verdict v;

	ab_filter_name(filter, NULL, path, strlen(path), false, NULL, &v);
	return v.reason;
}

/* Not by name, not as a passage to what lies below, not in other case. */
START_TEST(no_include_brings_back_what_is_hidden)
{
	ab_filter_verdict v;
	ab_filter *filter = NULL;

	ck_assert_int_eq(ab_filter_new(&some_options, &filter, NULL), 0);
	ck_assert_int_eq(reason_of(filter, "own/a.key"), AB_KEPT);
	ck_assert_int_eq(reason_of(filter, "own/secret"), AB_OUT_HIDDEN);
	ck_assert_int_eq(reason_of(filter, "own/Secret"), AB_OUT_HIDDEN);
	ab_filter_name(filter, NULL, "own/secret", 10, true, NULL, &v);
	ck_assert_int_eq(v.reason, AB_OUT_HIDDEN);
	ck_assert_str_eq(v.rule, "own/secret");
	ck_assert(!v.is_passage);
	ab_filter_free(filter);
}
END_TEST

START_TEST(a_filter_survives_the_plan)
{
	ab_content *scanner;
	ab_filter *filter = NULL;
	ab_writer w;
	ab_reader r;

	ab_writer_init(&w, 4096);
	ab_filter_put(&w, &some_options);
	ck_assert(!w.bad);
	ab_reader_init(&r, w.data, w.len);
	ck_assert_int_eq(ab_filter_get(&r, &filter, NULL), 0);
	ck_assert(ab_reader_done(&r));
	ck_assert_int_eq(reason_of(filter, "a.md"), AB_OUT_HOST);
	ck_assert_int_eq(reason_of(filter, "docs/x"), AB_OUT_HOST);
	ck_assert_int_eq(reason_of(filter, "a.key"), AB_KEPT);
	ck_assert_int_eq(reason_of(filter, "b.key"), AB_OUT_NAME);
	ck_assert_int_eq(reason_of(filter, "x/b.sql"), AB_KEPT);
	ck_assert_int_eq(reason_of(filter, "b.sql"), AB_OUT_HIDDEN);
	scanner = ab_content_new();
	check_admitted(filter, scanner, "docs/b", true, false);
	check_admitted(filter, scanner, "a.key", false, true);
	check_admitted(filter, scanner, "b.key", false, false);
	ab_content_free(scanner);
	ab_filter_free(filter);
	for (size_t n = 0; n < w.len; n++) {
		filter = NULL;
		ab_reader_init(&r, w.data, n);
		ck_assert_int_lt(ab_filter_get(&r, &filter, NULL), 0);
		ck_assert_ptr_null(filter);
	}
	ab_writer_end(&w);
}
END_TEST

START_TEST(an_ignore_file_counts_what_it_cannot_take)
{
	static const char text[] = "a\n!b\n../c\n\n# d\n[e\n*.f\n\0g\n";
	static char big[AB_FILTER_IGNORE_MAX + 1];
	ab_filter_ignore *ignore = NULL;
	size_t skipped = 0;

	ck_assert_int_eq(ab_filter_ignore_parse(text, sizeof(text) - 1,
						&ignore, &skipped), 0);
	ck_assert_uint_eq(skipped, 4);
	ab_filter_ignore_free(ignore);
	ignore = NULL;
	memset(big, '\n', sizeof(big));
	ck_assert_int_eq(ab_filter_ignore_parse(big, sizeof(big), &ignore,
						NULL), -EFBIG);
	ck_assert_ptr_null(ignore);
	for (size_t i = 0; i + 1 < sizeof(big); i += 2)
		big[i] = 'a';
	ck_assert_int_eq(ab_filter_ignore_parse(big, sizeof(big) - 1, &ignore,
						&skipped), 0);
	ck_assert_uint_eq(skipped,
			  AB_FILTER_IGNORE_MAX / 2 - AB_FILTER_PATTERNS_MAX);
	ab_filter_ignore_free(ignore);
	ck_assert_int_eq(ab_filter_ignore_parse("", 0, &ignore, &skipped), 0);
	ab_filter_ignore_free(ignore);
}
END_TEST

#define PEM(label) "-----BEGIN " label "-----\nMIIB\n-----END " label "-----\n"

static const struct {
	enum ab_filter_proof proof;
	bool holds;
	const char *text;
} proofs[] = {
	{AB_PROOF_PEM, true, PEM("CERTIFICATE")},
	{AB_PROOF_PEM, true, "s=x\n" PEM("CERTIFICATE") PEM("PUBLIC KEY")},
	{AB_PROOF_PEM, false, PEM("CERTIFICATE") PEM("PRIVATE KEY")},
	{AB_PROOF_PEM, false, PEM("RSA PRIVATE KEY")},
	{AB_PROOF_PEM, false, PEM("ENCRYPTED PRIVATE KEY")},
	{AB_PROOF_PEM, false, PEM("PUBLIC KEYS")},
	{AB_PROOF_PEM, false, "-----BEGIN CERTIFICATE"},
	{AB_PROOF_PEM, false, "no block"},
	{AB_PROOF_PEM, false, ""},
	{AB_PROOF_PEM, false, PEM("CERTIFICATE") "\x01"},
	{AB_PROOF_PEM, false, PEM("PGP SIGNATURE")},
	{AB_PROOF_PGP, true, PEM("PGP SIGNATURE")},
	{AB_PROOF_PGP, true, PEM("PGP PUBLIC KEY BLOCK")},
	{AB_PROOF_PGP, false, PEM("PGP PRIVATE KEY BLOCK")},
	{AB_PROOF_PGP, false, PEM("PGP MESSAGE")},
	{AB_PROOF_PGP, false, "text"},
	{AB_PROOF_ASC, true, "= A manual\n\ntext\n"},
	{AB_PROOF_ASC, true, PEM("PGP SIGNATURE")},
	{AB_PROOF_ASC, false, "text\n" PEM("PGP PRIVATE KEY BLOCK")},
	{AB_PROOF_ASC, false, PEM("CERTIFICATE")},
	{AB_PROOF_NONE, false, PEM("CERTIFICATE")},
	{AB_PROOF_KEY, true, PEM("PUBLIC KEY")},
	{AB_PROOF_KEY, true, PEM("PGP PUBLIC KEY BLOCK")},
	{AB_PROOF_KEY, false, PEM("PUBLIC KEY") PEM("PRIVATE KEY")},
	{AB_PROOF_KEY, false, PEM("PGP PRIVATE KEY BLOCK")},
	{AB_PROOF_KEY, false, "0123456789abcdef\n"},
	{AB_PROOF_TEXT, true, "H1: A manual\n"},
	{AB_PROOF_TEXT, false, "SQLite format 3\x01"},
	{AB_PROOF_SCHEMA, true, "CREATE TABLE a (b INT);\nDROP TABLE c;\n"},
	{AB_PROOF_SCHEMA, false, "create table a (b int);\nInsert\nInto a\n"},
	{AB_PROOF_SCHEMA, false, "-- PostgreSQL database dump\ncreate x;\n"},
	{AB_PROOF_SCHEMA, false, "create x;\nCOPY a (b) FROM stdin;\n1\n"},
	{AB_PROOF_SCHEMA, false, "CREATE USER a IDENTIFIED BY 'b';\n"},
	{AB_PROOF_SCHEMA, false, "some rows;\n"},
	{AB_PROOF_XML, true, "<?xml version='1.0'?>\n<!-- ours -->\n<Screen "
			     "xmlns:a=\"http://s.org/a\" t=\"@string/user\"/>"},
	{AB_PROOF_XML, true, "<settings><mirrors><mirror><url>https://a.org/b"
			     "</url></mirror></mirrors></settings>"},
	{AB_PROOF_XML, false, "<settings><servers><id>a</id></servers>"
			      "</settings>"},
	{AB_PROOF_XML, false, "<!-- --><SETTINGS><SERVER><PassWord>a"},
	{AB_PROOF_XML, false, "<a><password>a</password></a>"},
	{AB_PROOF_XML, false, "<a><pass&#119;ord>a</a>"},
	{AB_PROOF_XML, false, "<a><url>https://me:Tr0@a.org/</url></a>"},
	{AB_PROOF_XML, false, "<settings><url>a</url><user>b</user>"},
	{AB_PROOF_XML, false, "<!DOCTYPE a [<!ENTITY b 'x'>]><a/>"},
	{AB_PROOF_XML, false, "<!-- <a/>"},
	{AB_PROOF_XML, false, "a = b"},
	{AB_PROOF_XML, false, ""},
	{AB_PROOF_SEALED, true, "# made by kubeseal\n---\nkind: SealedSecret\n"
				"spec:\n  encryptedData:\n    a: AgB\n"
				"  template:\n    type: Opaque\n---\n"},
	{AB_PROOF_SEALED, true, "kind: ExternalSecret\nspec:\n  data:\n"
				"  - secretKey: a\n    remoteRef:\n"},
	{AB_PROOF_SEALED, false, "kind: Secret\ndata:\n  a: YQ==\n"},
	{AB_PROOF_SEALED, false, "kind: SealedSecret\n---\nkind: Secret\n"},
	{AB_PROOF_SEALED, false, "kind: SealedSecret\n--- \na: b\n"},
	{AB_PROOF_SEALED, false, "kind: SealedSecret\nspec:\n  template:\n"
				 "    data:\n      a: b\n"},
	{AB_PROOF_SEALED, false, "kind: SealedSecret\nspec:\n  template:\n"
				 "    \"data\" :\n      a: b\n"},
	{AB_PROOF_SEALED, false, "kind: SealedSecret\nspec:\n  template:\n"
				 "    data\t:\n      a: b\n"},
	{AB_PROOF_SEALED, false, "kind: SealedSecret\nspec: {data: {a: b}}\n"},
	{AB_PROOF_SEALED, false, "kind: SealedSecret\nstringData:\n  a: b\n"},
	{AB_PROOF_SEALED, false, "spec:\n  template:\n    a: b\n"
				 "kind: ExternalSecret\n"},
	{AB_PROOF_SEALED, false, "kind: ExternalSecret\nkind: SealedSecret\n"},
	{AB_PROOF_SEALED, false, "  kind: SealedSecret\na: b\n"},
	{AB_PROOF_SEALED, false, "wifi_password: hello\n"},
	{AB_PROOF_SEALED, false, "# nothing\n"},
	{AB_PROOF_SEALED, false, ""},
};

START_TEST(only_what_is_public_proves_itself)
{
	const char *text = proofs[_i].text;
	static char big[AB_FILTER_PROOF_MAX + 1];

	ck_assert_int_eq(ab_filter_proves(proofs[_i].proof, text,
					  strlen(text)), proofs[_i].holds);
	memset(big, '\n', sizeof(big));
	memcpy(big, text, strlen(text));
	ck_assert(!ab_filter_proves(proofs[_i].proof, big, sizeof(big)));
	ck_assert_int_eq(ab_filter_proves(proofs[_i].proof, big,
					  sizeof(big) - 1),
			 proofs[_i].holds);
}
END_TEST

static bool make_all(void *data)
{
	const ab_writer *w = data;
	ab_filter *filter = NULL;
	ab_filter_ignore *ignore = NULL;
	ab_reader r;
	int32_t rc;
	int ignored;

	ab_reader_init(&r, w->data, w->len);
	rc = ab_filter_get(&r, &filter, NULL);
	ck_assert(rc == 0 || rc == AGENTBOX_ENOMEM);
	ck_assert_int_eq(rc == 0, filter != NULL);
	ignored = ab_filter_ignore_parse("a\nb\nc", 5, &ignore, NULL);
	ck_assert(ignored == 0 || ignored == -ENOMEM);
	ck_assert_int_eq(ignored == 0, ignore != NULL);
	ab_filter_free(filter);
	ab_filter_ignore_free(ignore);
	return rc == 0 && ignored == 0;
}

START_TEST(every_failed_allocation_makes_no_filter)
{
	uint64_t tolerated = 0;
	ab_writer w;

	ab_writer_init(&w, 4096);
	ab_filter_put(&w, &some_options);
	if (ab_torture_available()) {
		ck_assert_uint_ge(ab_torture(make_all, &w, 100, &tolerated),
				  12);
		ck_assert_uint_eq(tolerated, 0);
	} else {
		ck_assert(make_all(&w));
	}
	ab_writer_end(&w);
}
END_TEST

static Suite *filter_suite(void)
{
	Suite *s = suite_create("snapshot_filter");
	TCase *tc = tcase_create("filter");

	tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown);
	tcase_add_test(tc, every_row_has_its_verdict);
	tcase_add_test(tc, every_rule_is_found_by_itself);
	tcase_add_test(tc, every_reason_has_a_name_of_its_own);
	tcase_add_loop_test(tc, a_pattern_that_cannot_be_kept_is_refused, 0,
			    AB_ARRAY_LEN(bad_patterns));
	tcase_add_test(tc, a_filter_has_limits);
	tcase_add_test(tc, an_admission_is_a_rule_and_where);
	tcase_add_test(tc, findings_are_admitted_where_it_says);
	tcase_add_test(tc, a_filter_survives_the_plan);
	tcase_add_test(tc, no_include_brings_back_what_is_hidden);
	tcase_add_test(tc, an_ignore_file_counts_what_it_cannot_take);
	tcase_add_loop_test(tc, only_what_is_public_proves_itself, 0,
			    AB_ARRAY_LEN(proofs));
	tcase_add_test(tc, every_failed_allocation_makes_no_filter);
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
