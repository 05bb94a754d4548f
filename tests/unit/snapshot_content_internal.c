/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The content scan: every rule with what it finds and what it leaves
 * (tests/data/snapshot-content.jsonl: {rule, hit: [...], miss: [...]}, texts
 * are templates of content_text.h), and that neither chunks, nor the
 * prefilter, nor UTF-16 change an answer.
 */
#include "config.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "base/alloc.h"
#include "base/attr.h"
#include "content_rows.h"
#include "content_text.h"
#include "snapshot/content_internal.h"

#define RULES 198
#define TEXTS 1024

static ab_content *scanner;
static json_t *rows;
static content_random seed = { 88172645463325252u };
/* Which of the random texts that a template has. */
static unsigned turn;

static void set_up(void)
{
	rows = content_rows();
	turn = 0;
	scanner = ab_content_new();
	ck_assert_ptr_nonnull(scanner);
}

static void tear_down(void)
{
	ab_content_free(scanner);
	json_decref(rows);
}

static bool scan_as(enum ab_content_level level, const char *path,
		    const char *p, size_t n, ab_content_finding *finding)
{
	memset(finding, 0, sizeof(*finding));
	ab_content_begin(scanner, level, path, strlen(path));
	ab_content_feed(scanner, p, n);
	return ab_content_end(scanner, finding);
}

static bool scan(const char *p, size_t n, ab_content_finding *finding)
{
	return scan_as(AB_CONTENT_STRICT, "notes.txt", p, n, finding);
}

static const char *rule_of(const json_t *row)
{
	return json_string_value(json_object_get(row, "rule"));
}

/* For each text of one list of every row. */
typedef void (*each_fn)(const char *rule, const char *template,
			const char *p, size_t n);

static void each(const char *list, each_fn fn)
{
	json_t *row, *text;
	size_t i, k, n;

	json_array_foreach(rows, i, row) {
		json_array_foreach(json_object_get(row, list), k, text) {
			const char *template = json_string_value(text);
			content_random own = content_seed(template, turn);
			char *p = content_text(&own, template, &n);

			fn(rule_of(row), template, p, n);
			free(p);
		}
	}
}

START_TEST(every_rule_has_a_row_with_both_answers)
{
	size_t i;
	json_t *row;

	ck_assert_uint_eq(ab_content_rule_count(), RULES);
	ck_assert_ptr_null(ab_content_rule_id(RULES));
	ck_assert_uint_eq(json_array_size(rows), RULES);
	json_array_foreach(rows, i, row) {
		size_t k = 0;

		while (k < RULES &&
		       strcmp(ab_content_rule_id(k), rule_of(row)) != 0)
			k++;
		ck_assert_msg(k < RULES, "%s", rule_of(row));
		ck_assert_msg(json_array_size(json_object_get(row, "hit")) &&
				      json_array_size(
					      json_object_get(row, "miss")),
			      "%s", rule_of(row));
	}
}
END_TEST

static void is_hit(const char *rule, const char *template, const char *p,
		   size_t n)
{
	ab_content_finding f;

	ck_assert_msg(scan(p, n, &f), "%s: missed %s: %s", rule, template, p);
	ck_assert_msg(strcmp(f.rule, rule) == 0, "%s instead of %s: %s",
		      f.rule, rule, template);
	ck_assert_uint_lt(f.offset, n);
	ck_assert_uint_ge(f.line, 1);
}

static void is_miss(const char *rule, const char *template, const char *p,
		    size_t n)
{
	ab_content_finding f;

	ck_assert_msg(!scan(p, n, &f), "%s: %s in %s: %s", rule, f.rule,
		      template, p);
}

/* Random texts: many rounds, so that a rare one that fails shows. */
static void is_for_settings(const char *rule, const char *template,
			    const char *p, size_t n)
{
	ab_content_finding f;

	ck_assert_msg(scan_as(AB_CONTENT_STRICT, "conf/app.YML", p, n, &f),
		      "%s: missed %s", rule, template);
	ck_assert_str_eq(f.rule, rule);
	ck_assert_msg(scan_as(AB_CONTENT_STRICT, "app.yml.bak", p, n, &f),
		      "%s: missed %s", rule, template);
	ck_assert_msg(!scan_as(AB_CONTENT_STRICT, "src/app.py", p, n, &f),
		      "%s: %s", rule, template);
	ck_assert_msg(!scan_as(AB_CONTENT_STRICT, "tests/app.yml", p, n, &f),
		      "%s: %s", rule, template);
}

static void is_no_setting(const char *rule, const char *template,
			  const char *p, size_t n)
{
	ab_content_finding f;

	ck_assert_msg(!scan_as(AB_CONTENT_STRICT, "conf/app.yml", p, n, &f),
		      "%s: %s", rule, template);
}

START_TEST(what_is_a_secret_in_settings_is_none_elsewhere)
{
	each("settings", is_for_settings);
	each("settings_miss", is_no_setting);
}
END_TEST

START_TEST(every_hit_is_found_and_every_miss_is_not)
{
	for (turn = 0; turn < 50; turn++) {
		each("hit", is_hit);
		each("miss", is_miss);
	}
}
END_TEST

/* In the byte `first` of every `unit` bytes. */
static void is_wide_at(const char *rule, const char *template, const char *p,
		       size_t n, size_t unit, size_t first)
{
	/* the last ones: where content.c's first window ends, in its last
	   block of 256 bytes */
	static const size_t befores[] = { 0,	 545,	1090,  66815,
					  67067, 67325, 67327, 67343 };
	ab_content_finding f;

	for (size_t k = 0; k < AB_ARRAY_LEN(befores); k++) {
		size_t before = befores[k];
		char *wide = calloc(unit, n + before);

		memset(wide, '\n', before);
		for (size_t i = 0; i < n; i++)
			wide[before + unit * i + first] = p[i];
		ck_assert_msg(scan(wide, before + unit * n, &f),
			      "%s: missed in UTF-%zu at %zu: %s", rule,
			      8 * unit, before, template);
		ck_assert_str_eq(f.rule, rule);
		ck_assert_uint_eq(f.line, 0);
		ck_assert_uint_ge(f.offset, before ? before - unit : 0);
		ck_assert_uint_lt(f.offset, before + unit * n);
		ck_assert_uint_eq((f.offset - before) % unit, first);
		free(wide);
	}
}

static void is_wide(const char *rule, const char *template, const char *p,
		    size_t n)
{
	is_wide_at(rule, template, p, n, 2, 0);
	is_wide_at(rule, template, p, n, 2, 1);
	is_wide_at(rule, template, p, n, 4, 0);
	is_wide_at(rule, template, p, n, 4, 3);
}

START_TEST(wide_text_is_seen_through)
{
	each("hit", is_wide);
}
END_TEST

static void is_marked(const char *rule, const char *template, const char *p,
		      size_t n)
{
	char *text = calloc(4, n + 4);
	ab_content_finding f;

	memcpy(text, "\xef\xbb\xbf", 3);
	memcpy(text + 3, p, n);
	ck_assert_msg(scan(text, n + 3, &f), "%s: missed behind a mark: %s",
		      rule, template);
	for (size_t big = 0; big < 2; big++) {
		memset(text, 0, 2 * n + 2);
		memcpy(text, big ? "\xfe\xff" : "\xff\xfe", 2);
		for (size_t i = 0; i < n; i++)
			text[2 + 2 * i + big] = p[i];
		ck_assert_msg(scan(text, 2 * n + 2, &f),
			      "%s: missed in marked UTF-16: %s", rule,
			      template);
		memset(text, 0, 4 * n + 4);
		memcpy(text, big ? "\0\0\xfe\xff" : "\xff\xfe\0\0", 4);
		for (size_t i = 0; i < n; i++)
			text[4 + 4 * i + 3 * big] = p[i];
		ck_assert_msg(scan(text, 4 * n + 4, &f),
			      "%s: missed in marked UTF-32: %s", rule,
			      template);
	}
	free(text);
}

/* Far behind the beginning, where its first windows were forgotten. */
START_TEST(wide_text_is_seen_through_far_behind)
{
	ab_content_finding f;
	size_t n;
	char *p = content_text(&seed, "\ngh^^p_^C30^\n", &n);

	for (size_t k = 0; k < 400; k++) {
		size_t unit = k % 2 ? 4 : 2, before = 64001 + 177 * k;
		size_t all = before + n + 3000;
		char *wide = calloc(unit, all);

		for (size_t i = 0; i < all; i++)
			wide[unit * i] = "ab cd\n"[i % 6];
		for (size_t i = 0; i < n; i++)
			wide[unit * (before + i)] = p[i];
		ck_assert_msg(scan(wide, unit * all, &f),
			      "missed in UTF-%zu at %zu", 8 * unit, before);
		ck_assert_uint_eq(f.offset, unit * (before + 1));
		free(wide);
	}
	free(p);
}
END_TEST

/* base64(1) ends its lines somewhere in what the rule looks for. */
START_TEST(a_key_in_base64_is_found_wherever_its_lines_end)
{
	static const char *const keys[] = {
		"-----BEGIN RSA PRIV^^ATE KEY-----",
		"-----BEGIN PRIV^^ATE KEY-----",
		"-----BEGIN OPENSSH PRIV^^ATE KEY-----",
	};
	static const char *const ends[] = { "\n", "\r\n", "\\n", "\n    " };
	char template[400], text[1024];

	for (size_t k = 0; k < AB_ARRAY_LEN(keys) * AB_ARRAY_LEN(ends); k++) {
		const char *end = ends[k % AB_ARRAY_LEN(ends)];

		for (int fill = 0; fill < 80; fill++) {
			ab_content_finding f;
			size_t n, at = 0;
			char *p;

			snprintf(template, sizeof(template),
				 "^B%.*s%s\nMIIEpAIBAAKCAQEAsome^B40^^", fill,
				 "some text that stands before the key, and "
				 "is as long as a line can be, or longer.....",
				 keys[k / AB_ARRAY_LEN(ends)]);
			p = content_text(&seed, template, &n);
			for (size_t i = 0; i < n; i++) {
				if (i && i % 76 == 0)
					at = (size_t)(stpcpy(text + at, end) -
						      text);
				text[at++] = p[i];
			}
			ck_assert_msg(scan(text, at, &f),
				      "missed behind %d: %.*s", fill, (int)at,
				      text);
			free(p);
		}
	}
}
END_TEST

START_TEST(a_byte_order_mark_hides_nothing)
{
	each("hit", is_marked);
}
END_TEST

/* Is it a spelling that nothing of a word may stand before? */
static bool has_border(const char *rule, char first)
{
	for (size_t i = 0; i < ab_content_row_count; i++) {
		const char *shape = ab_content_rows[i].shape;

		if (shape[0] == '!' && (shape[1] == first || shape[1] == '%') &&
		    strcmp(ab_content_rows[i].id, rule) == 0)
			return true;
	}
	return false;
}

/* How texts write what is no part of the word, with a letter at its end. */
static void is_found_behind(const char *rule, const char *template,
			    const char *p, size_t n)
{
	static const char *const fronts[] = {
		"\\n",	   "\\u0022",	  "\\u003d",	"\\x3D", "\\042",
		"\\u{3d}",  "\033[1;32m", "\\e[0m",	"\033[m\033[K",
		"\\u001b[33m", "%3D",	  "%253D",	"=3D",	 "=20",
		"&#x3D;",  "\n//",  "\n+",	"\n+++",
	};
	ab_content_finding f;

	if (!scan(p, n, &f) || !has_border(rule, p[f.offset]))
		return;
	for (size_t i = 0; i < AB_ARRAY_LEN(fronts); i++) {
		size_t at = (size_t)f.offset, len = strlen(fronts[i]);
		char *text = malloc(n + len + 1);
		ab_content_finding again;

		memcpy(text, p, at);
		memcpy(text + at, fronts[i], len);
		memcpy(text + at + len, p + at, n - at);
		ck_assert_msg(scan(text, n + len, &again),
			      "%s: missed behind %s: %s", rule, fronts[i],
			      template);
		free(text);
	}
}

START_TEST(an_escape_before_it_hides_nothing)
{
	each("hit", is_found_behind);
}
END_TEST

static bool is_found(const char *p, size_t n)
{
	ab_content_finding f;

	return scan(p, n, &f);
}

/* Where lengths, types and the next value stand beside a string. */
START_TEST(among_bytes_of_no_text_a_letter_beside_it_hides_nothing)
{
	static const char *const templates[] = {
		"..gh^^p_^C30^..", "..gl^^pat-^W64^..", "..da^^pi^h32^..",
		"..AK^^IA^2 16^..", "..s^^k-ant-api03-^W95^..",
		"..s^^k-^A20^T3Bl^^bkFJ^A20^..",
	};
	static const char fronts[][3] = { "\1l", "\0e", "b\4" };
	static const char backs[][3] = { "PK", "0\1", "9\0" };

	for (size_t i = 0; i < AB_ARRAY_LEN(templates); i++) {
		size_t n;
		char *p = content_text(&seed, templates[i], &n);

		for (size_t k = 0; k < AB_ARRAY_LEN(fronts); k++) {
			memcpy(p, fronts[k], 2);
			memcpy(p + n - 2, backs[k], 2);
			ck_assert_msg(is_found(p, n), "%s, %zu", templates[i],
				      k);
		}
		/* of text it may be another word */
		memcpy(p, ".l", 2);
		memcpy(p + n - 2, ". ", 2);
		ck_assert_msg(!is_found(p, n), "%s in text", templates[i]);
		free(p);
	}
}
END_TEST

/* What four letters begin is often in base64 and in symbols' names. */
START_TEST(among_bytes_of_no_text_the_short_ones_stand_alone)
{
	static const char *const templates[] = {
		"..LT^^AI^A20^..", "..AT^^BB^A32^..", "..EZ^^AK^A54^..",
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(templates); i++) {
		size_t n;
		char *p = content_text(&seed, templates[i], &n);

		memcpy(p, "\1l", 2);
		ck_assert_msg(!is_found(p, n), "%s", templates[i]);
		memcpy(p, "l\1", 2);
		ck_assert_msg(is_found(p, n), "%s", templates[i]);
		free(p);
	}
}
END_TEST

/* Round by round all that this processor has. */
static ab_content_find find_of(int round)
{
	ab_content_find find = ab_content_find_nth((size_t)round % 3);

	return find ? find : ab_content_find_portable;
}

/* All of it in chunks of random sizes, and by the other prefilters. */
static void same_in_chunks(const char *p, size_t n)
{
	ab_content_finding whole, part;
	bool found = scan(p, n, &whole), again;

	for (int round = 0; round < 6; round++) {
		size_t most = round == 0 ? 1 :
					   1 + content_next(&seed) % 3000;

		memset(&part, 0, sizeof(part));
		ab_content_set_find(scanner, find_of(round));
		ab_content_begin(scanner, AB_CONTENT_STRICT, "notes.txt", 9);
		for (size_t i = 0, len; i < n; i += len) {
			len = 1 + content_next(&seed) % most;
			len = len > n - i ? n - i : len;
			if (ab_content_feed(scanner, p + i, len))
				break;
		}
		again = ab_content_end(scanner, &part);
		ck_assert_int_eq(again, found);
		ck_assert_ptr_eq(part.rule, whole.rule);
		ck_assert_int_eq(part.tier, whole.tier);
		ck_assert_uint_eq(part.offset, whole.offset);
		ck_assert_uint_eq(part.line, whole.line);
	}
	ab_content_set_find(scanner, ab_content_find_best());
}

static char *filler(size_t n)
{
	static const char words[] = "int main(void) { return (path + key) * "
				    "2; } // https://a.b/c \"Secret\" = eyJ "
				    "curl data: kind: \t\n-us SG.x AKIA ghp_";
	char *p = malloc(n + 1);

	for (size_t i = 0; i < n; i++)
		p[i] = words[content_next(&seed) % (sizeof(words) - 1)];
	return p;
}

static void at_an_edge(const char *rule, const char *template, const char *p,
		       size_t n)
{
	/* around what content.c scans in one go, and a little before its end */
	size_t before = 65000 + content_next(&seed) % 2600;
	size_t after = content_next(&seed) % 3000;
	char *text = filler(before + n + after);
	ab_content_finding f;

	text[before - 1] = '\n';
	memcpy(text + before, p, n);
	text[before + n] = '\n';
	ck_assert_msg(scan(text, before + n + after, &f), "%s: missed at %zu",
		      template, before);
	ck_assert_str_eq(f.rule, rule);
	ck_assert_uint_ge(f.offset, before);
	ck_assert_uint_lt(f.offset, before + n);
	same_in_chunks(text, before + n + after);
	free(text);
}

START_TEST(chunks_change_nothing)
{
	each("hit", at_an_edge);
	for (int i = 0; i < 50; i++) {
		size_t n = content_next(&seed) % 200000;
		char *text = filler(n);

		same_in_chunks(text, n);
		free(text);
	}
}
END_TEST

/* The places that it names, as one number: they stop at different ones. */
static size_t places_by(ab_content_find find, const uint8_t *p, size_t n,
			const ab_content_anchors *a)
{
	size_t from = 0, all = 0;
	uint32_t at[64];

	while (from < n) {
		size_t count = find(a, p, &from, n, at, 64);

		for (size_t i = 0; i < count; i++)
			all = all * 31 + at[i];
	}
	return all;
}

static void differ(const uint8_t *p, size_t n, const ab_content_anchors *a)
{
	size_t all = places_by(ab_content_find_portable, p, n, a);
	ab_content_find find;

	for (size_t i = 0; (find = ab_content_find_nth(i)); i++)
		ck_assert_uint_eq(places_by(find, p, n, a), all);
}

START_TEST(all_prefilters_name_the_same_places)
{
	ab_content_anchors *a = malloc(sizeof(*a));

	ck_assert(ab_content_anchors_make(a));
	ck_assert_uint_lt(a->count, AB_CONTENT_PRINTS);
	for (int round = 0; round < 200; round++) {
		size_t n = content_next(&seed) % 5000;
		char *text = filler(n + AB_CONTENT_PAD);

		for (size_t i = 0; round % 2 && i < n; i++) {
			/* prints, whole and broken */
			size_t one = content_next(&seed) % a->count;

			if (i % 3 == 0 && i + 3 < n)
				memcpy(text + i, &a->prints[one].key,
				       1 + content_next(&seed) % 3);
		}
		differ((const uint8_t *)text, n, a);
		free(text);
	}
	free(a);
}
END_TEST

static void in_level(const char *rule, const char *template, const char *p,
		     size_t n)
{
	ab_content_finding f;
	char tier;

	(void)template;
	ck_assert(scan(p, n, &f));
	tier = f.tier;
	ck_assert_int_eq(scan_as(AB_CONTENT_HIGH, "x", p, n, &f), tier == 'H');
	ck_assert(!scan_as(AB_CONTENT_OFF, "x", p, n, &f));
	ck_assert_ptr_null(f.rule);
	(void)rule;
}

START_TEST(a_nul_is_in_no_set)
{
	ck_assert(!ab_content_is_one_of("=:,>", 0));
	ck_assert(!ab_content_is_one_of("", 0));
	ck_assert(ab_content_is_one_of("=:,>", '>'));
	ck_assert(!ab_content_is_one_of("=:,>", '<'));
}
END_TEST

START_TEST(levels_choose_the_tiers)
{
	each("hit", in_level);
}
END_TEST

START_TEST(a_finding_says_where)
{
	char *p, *text;
	size_t n, len;
	ab_content_finding f;

	p = content_text(&seed, "a\nb\n  x = gh^^p_^C30^\n", &n);
	ck_assert(scan(p, n, &f));
	ck_assert_uint_eq(f.offset, 10);
	ck_assert_uint_eq(f.line, 3);
	ck_assert_int_eq(f.tier, 'H');
	/* far behind, where the beginning is forgotten */
	len = 1000000;
	text = malloc(len + n);
	memset(text, 'a', len);
	for (size_t i = 99; i < len; i += 100)
		text[i] = '\n';
	memcpy(text + len, p, n);
	ck_assert(scan(text, len + n, &f));
	ck_assert_uint_eq(f.offset, len + 10);
	ck_assert_uint_eq(f.line, 10003);
	free(text);
	free(p);
}
END_TEST

START_TEST(names_decide_where_the_table_says)
{
	ab_content_finding f;
	char *p;
	size_t n;

	p = content_text(&seed, "x fc^^-^h32^\n", &n);
	ck_assert(scan_as(AB_CONTENT_STRICT, "a/notes", p, n, &f));
	ck_assert(!scan_as(AB_CONTENT_STRICT, "a/Cargo.lock", p, n, &f));
	ck_assert(!scan_as(AB_CONTENT_STRICT, "Cargo.lock", p, n, &f));
	free(p);
	p = content_text(&seed, "_auth^^=^A20^\n", &n);
	ck_assert(scan_as(AB_CONTENT_STRICT, "a/my.npmrc.old", p, n, &f));
	ck_assert(!scan_as(AB_CONTENT_STRICT, "a/my.py", p, n, &f));
	free(p);
	p = content_text(&seed, "https^^://bob:Tr0ub4^^dor9@pkg.corp.net/x", &n);
	ck_assert(scan_as(AB_CONTENT_STRICT, "a/yarn.lock", p, n, &f));
	ck_assert(scan_as(AB_CONTENT_STRICT, "etc/PIP.conf", p, n, &f));
	ck_assert(scan_as(AB_CONTENT_STRICT, ".gitmodules", p, n, &f));
	ck_assert(!scan_as(AB_CONTENT_STRICT, "a/README.md", p, n, &f));
	ck_assert(!scan_as(AB_CONTENT_STRICT, "my-pip.conf", p, n, &f));
	free(p);
	ck_assert(!scan_as(AB_CONTENT_STRICT, "", "", 0, &f));
}
END_TEST

/* Tests need a history and UUIDs of their own; a token is one there too. */
START_TEST(what_is_made_for_tests_stays_where_tests_are)
{
	static const char *const needed[] = {
		"commit refs/heads/main\nmark :2\n"
		"committer A B <a@b.io> 1712345678 +0200\ndata 4\n",
		"{'SECRET^^_KEY': '^h8^-^h4^-^h4^-^h4^-^h12^'},\n",
	};
	ab_content_finding f;
	char *p;
	size_t n;

	for (size_t i = 0; i < 2; i++) {
		p = content_text(&seed, needed[i], &n);
		ck_assert(scan_as(AB_CONTENT_STRICT, "a/b", p, n, &f));
		ck_assert(scan_as(AB_CONTENT_STRICT, "tests", p, n, &f));
		ck_assert(scan_as(AB_CONTENT_STRICT, "attest/b", p, n, &f));
		ck_assert(scan_as(AB_CONTENT_STRICT, "e2e/b", p, n, &f));
		ck_assert(scan_as(AB_CONTENT_STRICT, "examples/b", p, n, &f));
		ck_assert(!scan_as(AB_CONTENT_STRICT, "a/t/c/b", p, n, &f));
		ck_assert(!scan_as(AB_CONTENT_STRICT, "testdata/b", p, n, &f));
		free(p);
	}
	p = content_text(&seed, "blob\ndata 20\nkey = AK^^IA^2 16^\n", &n);
	ck_assert(scan_as(AB_CONTENT_STRICT, "tests/b", p, n, &f));
	ck_assert_str_eq(f.rule, "aws-access-key-id");
	free(p);
}
END_TEST

START_TEST(in_binary_files_only_tier_h_counts)
{
	ab_content_finding f;
	char *p;
	size_t n;

	p = content_text(&seed, "..\n^^AI^^za^W35^ ", &n);
	ck_assert(scan(p, n, &f));
	p[0] = '\0';
	p[1] = '\1';
	ck_assert(!scan(p, n, &f));
	/* a log that was cut while it was open begins with holes */
	p[1] = '\0';
	ck_assert(scan(p, n, &f));
	free(p);
	/* as /proc has the environment */
	p = content_text(&seed, "TERM=vt52.DB_PASS^^WORD=Vq7kLm2^^Zx9Rt4WbYc."
			 "HOME=/.", &n);
	for (size_t i = 0; i < n; i++)
		p[i] = p[i] == '.' ? '\0' : p[i];
	ck_assert(scan(p, n, &f));
	free(p);
	p = content_text(&seed, "..\n^^gh^^p_^C30^ ", &n);
	p[0] = '\0';
	ck_assert(scan(p, n, &f));
	free(p);
}
END_TEST

/* What stands before the key in DER, and its length. */
typedef struct der {
	const char *front;
	size_t n;
} der;
#define DER(s) { s, sizeof(s) - 1 }

static bool is_der(const der *d, const char *before, const char *key)
{
	char all[1024];
	size_t n = strlen(before), key_len = strlen(key);

	memcpy(all, before, n);
	memcpy(all + n, d->front, d->n);
	memcpy(all + n + d->n, key, key_len);
	return is_found(all, n + d->n + key_len);
}

START_TEST(a_file_that_is_a_key_needs_no_armour)
{
	static const der keys[] = {
		DER("0\x82\x04\xbe\2\1\0000\x0d\6\x09*\x86H\x86\xf7\x0d\1\1\1\5\0"),
		DER("0\x82\x04\xa4\2\1\0\2\x82\1\1\0"),
		DER("0\x82\x01\xbb\2\1\0\2\x81\x81\0"),
		DER("0\x81\x87\2\1\0000\x13\6\7*\x86H\xce=\2\1"),
		DER("0w\2\1\1\4 "),
		DER("0\x81\xdc\2\1\1\4B"),
		DER("0.\2\1\0000\5\6\3+ep\4\"\4 "),
		DER("0\x82\5+0W\6\x09*\x86H\x86\xf7\x0d\1\5\x0d"),
		DER("0\x82\2\xa1\x30\x1b\6\x0a*\x86H\x86\xf7\x0d\1\x0c\1\3"),
	};
	static const der others[] = {
		/* a certificate, a public key, PKCS #12, a message */
		DER("0\x82\3\x5b\x30\x82\2\x43\xa0\3\2\1\2\2\x14"),
		DER("0\x82\1\x22\x30\x0d\6\x09*\x86H\x86\xf7\x0d\1\1\1\5\0"),
		DER("0\x82\x09\x51\2\1\3\x30\x82"),
		DER("0\x82\x09\x51\6\x09*\x86H\x86\xf7\x0d\1\7\2"),
		/* SNMP's version and its community */
		DER("0\x29\2\1\1\4\6public"), DER("0\x09\2\1\0\2\1\5"),
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(keys); i++) {
		size_t n;
		char *p = content_text(&seed, "^A120^", &n);

		ck_assert_msg(is_der(&keys[i], "", p), "key %zu", i);
		ck_assert_msg(!is_der(&keys[i], "x", p), "%zu behind", i);
		ck_assert_msg(!is_der(&keys[i], "", ""), "%zu alone", i);
		memset(p, 'a', n);
		ck_assert_msg(!is_der(&keys[i], "", p), "%zu empty", i);
		free(p);
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(others); i++) {
		size_t n;
		char *p = content_text(&seed, "^A120^", &n);

		ck_assert_msg(!is_der(&others[i], "", p), "other %zu", i);
		free(p);
	}
}
END_TEST

START_TEST(a_scanner_is_as_new_for_each_file)
{
	ab_content_finding f;
	char *p, *q;
	size_t n, m;

	p = content_text(&seed, "twilio gh^^p_^C30^", &n);
	q = content_text(&seed, "S^^K^h32^", &m);
	for (int i = 0; i < 3; i++) {
		ck_assert(scan(p, n, &f));
		ck_assert(!scan(q, m, &f));
	}
	free(p);
	free(q);
}
END_TEST

static bool make_one(void *data)
{
	ab_content *s = ab_content_new();

	(void)data;
	ab_content_free(s);
	return s != NULL;
}

START_TEST(without_memory_there_is_no_scanner)
{
	if (!ab_torture_available())
		return;
	ck_assert_uint_eq(ab_torture(make_one, NULL, 10, NULL), 1);
	ab_content_free(NULL);
}
END_TEST

START_TEST(a_scan_needs_no_memory)
{
	ab_content_finding f;
	size_t n;
	char *p = content_text(&seed, "a = gh^^p_^C30^\n", &n);

#ifdef AB_FAULT_INJECTION
	ab_alloc_fail_after(1);
#endif
	ck_assert(scan(p, n, &f));
#ifdef AB_FAULT_INJECTION
	ck_assert_uint_eq(ab_alloc_count(), 0);
	ab_alloc_fail_after(0);
#endif
	free(p);
}
END_TEST

START_TEST(one_long_line_is_no_matter)
{
	size_t n, len = 65536;
	char *line = malloc(len), *p;
	ab_content_finding f;

	memset(line, 'a', len);
	p = content_text(&seed, " gh^^p_^C30^", &n);
	ab_content_begin(scanner, AB_CONTENT_STRICT, "x.js", 4);
	for (int i = 0; i < 512; i++)
		ck_assert(!ab_content_feed(scanner, line, len));
	ab_content_feed(scanner, p, n);
	ck_assert(ab_content_end(scanner, &f));
	ck_assert_uint_eq(f.offset, 512 * len + 1);
	ck_assert_uint_eq(f.line, 1);
	free(line);
	free(p);
}
END_TEST

static void begin_admitting(const char *const *rules)
{
	ab_content_begin(scanner, AB_CONTENT_STRICT, "notes.txt", 9);
	for (; *rules; rules++) {
		size_t rule = ab_content_rule_find(*rules, strlen(*rules));

		ck_assert_uint_lt(rule, ab_content_rule_count());
		ab_content_admit(scanner, rule);
	}
}

/* The rule that counts, "" for none; *admitted how many were let pass. */
static const char *scan_admitting(const char *const *rules,
				  const char *template, size_t step,
				  size_t *admitted, ab_content_finding *first)
{
	ab_content_finding f = { .rule = "" };
	size_t n;
	char *p = content_text(&seed, template, &n);

	begin_admitting(rules);
	for (size_t at = 0; at < n; at += step)
		ab_content_feed(scanner, p + at, n - at < step ? n - at : step);
	(void)ab_content_end(scanner, &f);
	*admitted = ab_content_admitted(scanner, first);
	free(p);
	return f.rule;
}

#define GITHUB "gh^^p_^C30^"
#define KEY "AK^^IAQ3EGHIJ5KLMN7P2R"
#define TWILIO "S^^K^h32^ # Twilio"

START_TEST(what_is_admitted_does_not_count_and_the_rest_does)
{
	static const struct {
		const char *rules[4], *template, *counts, *first;
		size_t admitted;
	} cases[] = {
		{ { "github-pat-classic" }, "\n\n " GITHUB "\n", "",
		  "github-pat-classic", 1 },
		{ { "jwt" }, "\n\n " GITHUB "\n", "github-pat-classic", NULL,
		  0 },
		{ { "github-pat-classic" }, GITHUB "\n" KEY "\n",
		  "aws-access-key-id", "github-pat-classic", 1 },
		{ { "github-pat-classic" }, KEY "\n" GITHUB "\n",
		  "aws-access-key-id", NULL, 0 },
		{ { "aws-access-key-id", "github-pat-classic" },
		  GITHUB " " KEY " " GITHUB "\n", "", "github-pat-classic",
		  2 },
		{ { "twilio" }, TWILIO "\n", "", "twilio", 1 },
		{ { "twilio" }, "Twilio " TWILIO "\n" TWILIO, "", "twilio",
		  1 },
		{ { "mailgun" }, TWILIO "\n", "twilio", NULL, 0 },
		{ { NULL }, "nothing", "", NULL, 0 },
		{ { "jwt" }, "nothing", "", NULL, 0 },
	};
	static const size_t steps[] = { 1, 7, 65536 };

	for (size_t i = 0; i < 3 * AB_ARRAY_LEN(cases); i++) {
		size_t k = i / 3, admitted;
		ab_content_finding first = { .rule = NULL };

		ck_assert_str_eq(scan_admitting(cases[k].rules,
						cases[k].template,
						steps[i % 3], &admitted,
						&first), cases[k].counts);
		ck_assert_uint_eq(admitted, cases[k].admitted);
		if (!cases[k].first) {
			ck_assert_ptr_null(first.rule);
			continue;
		}
		ck_assert_str_eq(first.rule, cases[k].first);
		ck_assert_uint_eq(first.line,
				  cases[k].template[0] == '\n' ? 3 : 1);
	}
}
END_TEST

START_TEST(an_admission_ends_with_its_file)
{
	static const char *const rules[] = { "github-pat-classic", NULL };
	ab_content_finding f;
	size_t n, admitted;
	char *p = content_text(&seed, GITHUB, &n);

	ck_assert_str_eq(scan_admitting(rules, GITHUB, 99, &admitted, &f), "");
	ck_assert(scan(p, n, &f));
	ck_assert_uint_eq(ab_content_admitted(scanner, &f), 0);
	/* no rule's number: nothing is let pass */
	ab_content_begin(scanner, AB_CONTENT_STRICT, "x", 1);
	ab_content_admit(scanner, ab_content_rule_count());
	ab_content_admit(scanner, SIZE_MAX);
	ab_content_feed(scanner, p, n);
	ck_assert(ab_content_end(scanner, &f));
	free(p);
}
END_TEST

START_TEST(a_rule_has_a_number_and_the_stricter_tier)
{
	static const struct {
		const char *id;
		char tier;
	} tiers[] = { { "jwt", 'M' },	   { "pem-private", 'H' },
		      { "db-url", 'M' },   { "stripe-secret", 'H' },
		      { "twilio", 'M' },   { "aws-access-key-id", 'H' } };

	for (size_t i = 0; i < ab_content_rule_count(); i++) {
		const char *id = ab_content_rule_id(i);

		ck_assert_uint_eq(ab_content_rule_find(id, strlen(id)), i);
		ck_assert_uint_eq(ab_content_rule_find(id, strlen(id) - 1),
				  RULES);
	}
	ck_assert_uint_eq(ab_content_rule_find("", 0), RULES);
	for (size_t i = 0; i < AB_ARRAY_LEN(tiers); i++) {
		const char *id = tiers[i].id;
		size_t rule = ab_content_rule_find(id, strlen(id));

		ck_assert_int_eq(ab_content_rule_tier(rule), tiers[i].tier);
	}
	ck_assert_int_eq(ab_content_rule_tier(RULES), 'H');
}
END_TEST

#define ADD(name) tcase_add_test(tc, name)

int main(void)
{
	Suite *suite = suite_create("snapshot content");
	TCase *tc = tcase_create("content");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 120);
	ADD(every_rule_has_a_row_with_both_answers);
	ADD(every_hit_is_found_and_every_miss_is_not);
	ADD(what_is_a_secret_in_settings_is_none_elsewhere);
	ADD(wide_text_is_seen_through);
	ADD(wide_text_is_seen_through_far_behind);
	ADD(a_key_in_base64_is_found_wherever_its_lines_end);
	ADD(a_byte_order_mark_hides_nothing);
	ADD(an_escape_before_it_hides_nothing);
	ADD(among_bytes_of_no_text_a_letter_beside_it_hides_nothing);
	ADD(among_bytes_of_no_text_the_short_ones_stand_alone);
	ADD(chunks_change_nothing);
	ADD(all_prefilters_name_the_same_places);
	ADD(a_nul_is_in_no_set);
	ADD(levels_choose_the_tiers);
	ADD(a_finding_says_where);
	ADD(names_decide_where_the_table_says);
	ADD(what_is_made_for_tests_stays_where_tests_are);
	ADD(in_binary_files_only_tier_h_counts);
	ADD(a_file_that_is_a_key_needs_no_armour);
	ADD(a_scanner_is_as_new_for_each_file);
	ADD(without_memory_there_is_no_scanner);
	ADD(a_scan_needs_no_memory);
	ADD(one_long_line_is_no_matter);
	ADD(what_is_admitted_does_not_count_and_the_rest_does);
	ADD(an_admission_ends_with_its_file);
	ADD(a_rule_has_a_number_and_the_stricter_tier);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
