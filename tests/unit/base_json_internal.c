/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON with positions: what is refused where, the index, canonical text. */
#include "config.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"

#include "abtest.h"

#define MAX (1u << 20)

static const struct {
	const char *text;
	int32_t code;
	const char *where;
	const char *words;
} bad_rows[] = {
	{"", AGENTBOX_EPARSE, "1:1", ""},
	{"  \n ", AGENTBOX_EPARSE, "2:2", ""},
	{"{\"a\": 1", AGENTBOX_EPARSE, "1:8", "'}' expected"},
	{"{\"a\": 1,\n \"b\": 2,\n \"a\": 3}", AGENTBOX_EPARSE, "3:2",
	 "duplicate object key"},
	{"{\"a\":1,\"\\u0061\":2}", AGENTBOX_EPARSE, "1:8", "duplicate"},
	{"{\"x\":{\"k\":1,\n\n    \"k\":2}}", AGENTBOX_EPARSE, "3:5",
	 "duplicate"},
	{"{\"a\": 1 \"b\": 2}", AGENTBOX_EPARSE, "1:9", "'}' expected"},
	{"[1,\n2,\n]", AGENTBOX_EPARSE, "3:1", "unexpected token"},
	{"[1] [2]", AGENTBOX_EPARSE, "1:5", "end of file expected"},
	{"{\"a\": 1.5}", AGENTBOX_EPARSE, "1:7", "write an integer"},
	{"[1e3]", AGENTBOX_EPARSE, "1:2", "write an integer"},
	{"[-0.0]", AGENTBOX_EPARSE, "1:2", "write an integer"},
	{"[9223372036854775808]", AGENTBOX_EPARSE, "1:2", "too big"},
	{"[1,\n  -9223372036854775809]", AGENTBOX_EPARSE, "2:3", "too big"},
	{"[\"\\u0000\"]", AGENTBOX_EPARSE, "1:2",
	 "\\u0000 is not allowed in"},
	{"[\"\303\251\", \"\377\"]", AGENTBOX_EPARSE, "1:8", "UTF-8"},
	{"[\"\300\257\"]", AGENTBOX_EPARSE, "1:3", "UTF-8"},
	{"[\"\355\240\200\"]", AGENTBOX_EPARSE, "1:3", "UTF-8"},
	{"[\"\\ud800\"]", AGENTBOX_EPARSE, "1:2", "invalid Unicode"},
	{"[\"\303\251\", nul]", AGENTBOX_EPARSE, "1:7", "invalid token"},
	{"[\"a\nb\"]", AGENTBOX_EPARSE, NULL, "unexpected newline"},
	{"[\"ab", AGENTBOX_EPARSE, "1:5", "premature end"},
	{"// x", AGENTBOX_EPARSE, "1:1", ""},
	{"[01]", AGENTBOX_EPARSE, NULL, ""},
	{"{\"a\\u0000\":1}", AGENTBOX_EPARSE, NULL,
	 "\\u0000 is not allowed in"},
	{"\357\273\277{}", AGENTBOX_EPARSE, "1:1", "invalid token"},
	{"[[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]]", AGENTBOX_ELIMIT, "1:17",
	 "nested deeper than 16"},
	{"{]]]]]]]]]]", AGENTBOX_EPARSE, "1:2", ""},
};

START_TEST(a_bad_document_is_refused_with_its_place)
{
	ab_auto(agentbox_error) *err = NULL;
	ab_json_index *index = (ab_json_index *)&err;
	json_t *value = (json_t *)&err;
	const char *text = bad_rows[_i].text;
	int32_t r = ab_json_parse(text, strlen(text), MAX, &value, &index,
				  &err);
	const char *message = agentbox_error_get_message(err);

	ck_assert_int_eq(r, bad_rows[_i].code);
	ck_assert_int_eq(agentbox_error_get_code(err), r);
	if (bad_rows[_i].where)
		ck_assert_msg(!strcmp(agentbox_error_get_where(err),
				      bad_rows[_i].where), "%s: at %s, %s",
			      text, agentbox_error_get_where(err), message);
	ck_assert_msg(strstr(message, bad_rows[_i].words), "%s: %s", text,
		      message);
	/* out-parameters are untouched */
	ck_assert_ptr_eq(value, (json_t *)&err);
	ck_assert_ptr_eq(index, (ab_json_index *)&err);
}
END_TEST

START_TEST(a_nul_byte_is_refused_wherever_it_is)
{
	static const char doc[] = "{\n \"a\0b\": 1}";
	ab_auto(agentbox_error) *err = NULL;
	json_t *value = NULL;

	ck_assert_int_eq(ab_json_parse(doc, sizeof(doc) - 1, MAX, &value, NULL,
				       &err), AGENTBOX_EPARSE);
	ck_assert_str_eq(agentbox_error_get_where(err), "2:4");
	ck_assert_int_eq(ab_json_parse("[]", 3, MAX, &value, NULL, NULL),
			 AGENTBOX_EPARSE);
	ck_assert_int_eq(ab_json_parse("[]", 2, 1, &value, NULL, NULL),
			 AGENTBOX_ELIMIT);
	ck_assert_int_eq(ab_json_parse(NULL, 1, MAX, &value, NULL, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(ab_json_parse(NULL, 0, MAX, &value, NULL, NULL),
			 AGENTBOX_EPARSE);
	ck_assert_int_eq(ab_json_parse("[]", 2, MAX, NULL, NULL, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_ptr_null(value);
}
END_TEST

START_TEST(too_many_nodes_are_refused_before_they_are_built)
{
	size_t n = 2 * (size_t)AB_MAX_JSON_NODES + 1;
	ab_autofree char *text = malloc(n);
	ab_auto(agentbox_error) *err = NULL;
	json_t *value = NULL;

	/* [0,0,...]: the array and NODES zeroes are one too many */
	memset(text, '0', n);
	for (size_t i = 2; i < n; i += 2)
		text[i] = ',';
	text[0] = '[';
	text[n - 1] = ']';
	ck_assert_int_eq(ab_json_parse(text, n, MAX, &value, NULL, &err),
			 AGENTBOX_ELIMIT);
	text[n - 3] = ']';
	ck_assert_int_eq(ab_json_parse(text, n - 2, MAX, &value, NULL, NULL),
			 0);
	json_decref(value);
}
END_TEST

static const char doc[] = "{\n"
			  "  \"limits\": {\"memory\": \"2GiB\",\n"
			  "\t\"p\\u0069ds\": 7},\n"
			  "  \"a/b~c\": [true, [null, {\"\": {}}], -5],\n"
			  "  \"\303\251\\ud83d\\ude00\\\"\": \"\303\251\", \"z\":0\n"
			  "}\n";

static const struct {
	const char *pointer;
	int found;
	unsigned line, column;
} find_rows[] = {
	{"", 0, 1, 1},
	{"/limits", 0, 2, 13},
	{"/limits/memory", 0, 2, 24},
	{"/limits/pids", 0, 3, 15},
	{"/a~1b~0c", 0, 4, 12},
	{"/a~1b~0c/0", 0, 4, 13},
	{"/a~1b~0c/1", 0, 4, 19},
	{"/a~1b~0c/1/0", 0, 4, 20},
	{"/a~1b~0c/1/1/", 0, 4, 31},
	{"/a~1b~0c/2", 0, 4, 37},
	{"/\303\251\360\237\230\200\"", 0, 5, 22},
	{"/z", 0, 5, 31},
	{"/limits/nothing", -1, 0, 0},
	{"/limits/mem", -1, 0, 0},
	{"/limits/memoryx", -1, 0, 0},
	{"/limits/memory/x", -1, 0, 0},
	{"/a~1b~0c/3", -1, 0, 0},
	{"/a~1b~0c/00", -1, 0, 0},
	{"/a~1b~0c/-", -1, 0, 0},
	{"/a~2b", -1, 0, 0},
	{"/a~", -1, 0, 0},
	{"/", -1, 0, 0},
	{"limits", -1, 0, 0},
};

START_TEST(the_index_knows_every_value)
{
	ab_auto(ab_json_index) *index = NULL;
	ab_auto(json_t) *value = NULL;
	unsigned line = 0, column = 0;

	ck_assert_int_eq(ab_json_parse(doc, sizeof(doc) - 1, MAX, &value,
				       &index, NULL), 0);
	ck_assert_int_eq(ab_json_index_find(index, find_rows[_i].pointer,
					    &line, &column),
			 find_rows[_i].found);
	ck_assert_uint_eq(line, find_rows[_i].line);
	ck_assert_uint_eq(column, find_rows[_i].column);
	ck_assert_int_eq(ab_json_index_find(NULL, "", &line, &column), -1);
	ck_assert_int_eq(ab_json_index_find(index, NULL, &line, &column), -1);
}
END_TEST

/* --- random documents: the index against jansson ----------------------- */

static uint64_t state;

static unsigned rnd(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

static void put_space(agentbox_bytes *b)
{
	static const char spaces[] = " \t\n\r";

	while (rnd(3) == 0)
		ab_bytes_append_char(b, spaces[rnd(4)]);
}

static void put_random_string(agentbox_bytes *b, int serial)
{
	static const char *const parts[] = {
		"a", "/", "~", "\\\"", "\\\\", "\\u00e9", "\\ud834\\uDd1E",
		"\303\251", "\342\202\254", "\360\235\204\236", "{", "]", ":",
		",", "\\n", "\\/", "1", " ",
	};

	ab_bytes_append_char(b, '"');
	for (unsigned i = rnd(5); i; i--)
		ab_bytes_append_str(b, parts[rnd(AB_ARRAY_LEN(parts))]);
	if (serial >= 0)
		ab_bytes_appendf(b, "%d", serial);
	ab_bytes_append_char(b, '"');
}

static void put_random(agentbox_bytes *b, unsigned depth)
{
	static const char *const plain[] = {"true", "false", "null", "0",
					    "-12", "9007199254740993"};
	unsigned kind = rnd(depth < 6 ? 4 : 2);
	unsigned count = rnd(5);

	if (kind == 0) {
		ab_bytes_append_str(b, plain[rnd(AB_ARRAY_LEN(plain))]);
		return;
	}
	if (kind == 1) {
		put_random_string(b, -1);
		return;
	}
	ab_bytes_append_char(b, kind == 2 ? '[' : '{');
	for (unsigned i = 0; i < count; i++) {
		if (i)
			ab_bytes_append_char(b, ',');
		put_space(b);
		if (kind == 3) {
			put_random_string(b, (int)i);
			put_space(b);
			ab_bytes_append_char(b, ':');
			put_space(b);
		}
		put_random(b, depth + 1);
		put_space(b);
	}
	ab_bytes_append_char(b, kind == 2 ? ']' : '}');
}

/* Byte offset of a position, found the slow way. */
static size_t offset_of(const char *text, unsigned line, unsigned column)
{
	const char *p = text;

	while (--line)
		p = strchr(p, '\n') + 1;
	while (--column) {
		p++;
		while (((unsigned char)*p & 0xc0) == 0x80)
			p++;
	}
	return (size_t)(p - text);
}

static void check_value(const ab_json_index *x, const char *text,
			const json_t *v, char *pointer, size_t len);

static void check_children(const ab_json_index *x, const char *text,
			   const json_t *v, char *pointer, size_t len)
{
	json_t *object = (json_t *)(uintptr_t)v;
	const char *key;
	json_t *child;
	size_t i;

	for (i = 0; i < json_array_size(v); i++) {
		size_t n = (size_t)sprintf(pointer + len, "/%zu", i);

		check_value(x, text, json_array_get(v, i), pointer, len + n);
	}
	json_object_foreach(object, key, child) {
		char *to = pointer + len;

		*to++ = '/';
		for (const char *k = key; *k; k++) {
			if (*k == '~' || *k == '/')
				*to++ = '~';
			*to++ = *k == '~' ? '0' : *k == '/' ? '1' : *k;
		}
		*to = '\0';
		check_value(x, text, child, pointer,
			    (size_t)(to - pointer));
	}
}

/* jansson, reading on from where the index points, finds the same value. */
static void check_value(const ab_json_index *x, const char *text,
			const json_t *v, char *pointer, size_t len)
{
	unsigned line = 0, column = 0;
	const char *at;
	json_t *again;

	pointer[len] = '\0';
	ck_assert_msg(ab_json_index_find(x, pointer, &line, &column) == 0,
		      "%s is not in %s", pointer, text);
	at = text + offset_of(text, line, column);
	again = json_loads(at, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, NULL);
	ck_assert_msg(again && json_equal(again, v), "%s at %u:%u in %s",
		      pointer, line, column, text);
	json_decref(again);
	check_children(x, text, v, pointer, len);
}

START_TEST(the_index_agrees_with_jansson_on_random_documents)
{
	char pointer[4096];

	state = 20240601;
	for (int i = 0; i < 2000; i++) {
		ab_auto(agentbox_bytes) *b = ab_bytes_new(MAX);
		ab_auto(agentbox_error) *err = NULL;
		ab_auto(ab_json_index) *x = NULL;
		ab_auto(json_t) *v = NULL;
		const char *text;

		put_space(b);
		put_random(b, 0);
		put_space(b);
		text = agentbox_bytes_get_data(b);
		ck_assert_msg(ab_json_parse(text, agentbox_bytes_get_size(b),
					    MAX, &v, &x, &err) == 0, "%s: %s",
			      agentbox_error_get_message(err), text);
		check_value(x, text, v, pointer, 0);
	}
}
END_TEST

/* --- canonical text ----------------------------------------------------- */

static const struct {
	const char *in, *out;
} canonical_rows[] = {
	{" { } ", "{}"},
	{"[ ]", "[]"},
	{"{\"b\":1, \"a\":[true ,false,null]}",
	 "{\"a\":[true,false,null],\"b\":1}"},
	{"{\"aa\":1,\"a\":2,\"B\":3,\"\":4}",
	 "{\"\":4,\"B\":3,\"a\":2,\"aa\":1}"},
	{"-0", "0"},
	{"9223372036854775807", "9223372036854775807"},
	{"-9223372036854775808", "-9223372036854775808"},
	{"\"\\u0001\\b\\f\\n\\r\\t\\u001f\\u007f/\\/\\\\\\\"'<>&\"",
	 "\"\\u0001\\b\\f\\n\\r\\t\\u001f\\u007f//\\\\\\\"'<>&\""},
	{"\"\303\251\\u20ac\360\237\230\200\\uFFFF\"",
	 "\"\\u00e9\\u20ac\\ud83d\\ude00\\uffff\""},
	/* by code point, where UTF-16 order would put U+1F600 first */
	{"{\"\360\237\230\200\":1,\"\\uff5e\":2}",
	 "{\"\\uff5e\":2,\"\\ud83d\\ude00\":1}"},
};

START_TEST(canonical_text_is_exact)
{
	ab_auto(agentbox_bytes) *out = NULL;
	ab_auto(agentbox_bytes) *again = NULL;
	ab_auto(json_t) *v = NULL;
	ab_auto(json_t) *w = NULL;
	const char *in = canonical_rows[_i].in;

	ck_assert_int_eq(ab_json_parse(in, strlen(in), MAX, &v, NULL, NULL),
			 0);
	ck_assert_int_eq(ab_json_canonical(v, &out, NULL), 0);
	ck_assert_str_eq(agentbox_bytes_get_data(out), canonical_rows[_i].out);
	/* and a fixed point */
	ck_assert_int_eq(ab_json_parse(agentbox_bytes_get_data(out),
				       agentbox_bytes_get_size(out), MAX, &w,
				       NULL, NULL), 0);
	ck_assert(json_equal(v, w));
	ck_assert_int_eq(ab_json_canonical(w, &again, NULL), 0);
	ck_assert_str_eq(agentbox_bytes_get_data(again),
			 agentbox_bytes_get_data(out));
}
END_TEST

START_TEST(what_has_no_canonical_text_is_refused)
{
	ab_auto(json_t) *v = json_pack("{s:[f]}", "a", 1.5);
	ab_auto(json_t) *deep = json_array();
	ab_auto(json_t) *big = json_array();
	ab_auto(json_t) *text = NULL;
	agentbox_bytes *out = NULL;
	size_t n = 1u << 20;
	char *s = malloc(n);

	ck_assert_int_eq(ab_json_canonical(v, &out, NULL), AGENTBOX_EINVAL);
	ck_assert_int_eq(ab_json_canonical(NULL, &out, NULL), AGENTBOX_EINVAL);
	ck_assert_int_eq(ab_json_canonical(v, NULL, NULL), AGENTBOX_EINVAL);
	for (int i = 0; i < AB_MAX_CANONICAL_DEPTH; i++) {
		json_t *outer = json_array();

		json_array_append_new(outer, deep);
		deep = outer;
	}
	ck_assert_int_eq(ab_json_canonical(deep, &out, NULL), AGENTBOX_ELIMIT);
	memset(s, 'x', n);
	text = json_stringn(s, n);
	free(s);
	for (int i = 0; i < 16; i++)
		json_array_append(big, text);
	ck_assert_int_eq(ab_json_canonical(big, &out, NULL), AGENTBOX_ELIMIT);
	json_array_remove(big, 0);
	ck_assert_int_eq(ab_json_canonical(big, &out, NULL), 0);
	agentbox_bytes_free(out);
}
END_TEST

/* --- memory ------------------------------------------------------------- */

static void *counted_malloc(size_t n)
{
	return ab_realloc(NULL, n, 1);
}

static bool torture_json(void *data)
{
	agentbox_error *err = NULL;
	ab_auto(ab_json_index) *x = NULL;
	ab_auto(json_t) *v = NULL;
	ab_auto(agentbox_bytes) *out = NULL;
	unsigned line, column;
	int32_t r;

	(void)data;
	r = ab_json_parse(doc, sizeof(doc) - 1, MAX, &v, &x, &err);
	if (r == 0) {
		ck_assert_int_eq(ab_json_index_find(x, "/z", &line, &column),
				 0);
		r = ab_json_canonical(v, &out, &err);
	} else {
		ck_assert(!v && !x);
	}
	/* jansson calls some of its own shortages a syntax error */
	ck_assert(r == 0 || r == AGENTBOX_ENOMEM || r == AGENTBOX_EPARSE);
	ck_assert(r == 0 || (err && !out));
	agentbox_error_free(err);
	return r == 0;
}

START_TEST(every_failed_allocation_parses_nothing)
{
	uint64_t failed, tolerated = 0;

	if (!ab_torture_available()) {
		ab_test_skip("torture", "no fault injection in this build");
		return;
	}
	/* this process only: jansson's memory is counted with ours */
	json_set_alloc_funcs(counted_malloc, free);
	failed = ab_torture(torture_json, NULL, 5000, &tolerated);
	json_set_alloc_funcs(malloc, free);
	ck_assert_uint_ge(failed, 30);
	ck_assert_uint_eq(tolerated, 0);
}
END_TEST

START_TEST(a_wide_document_is_indexed_in_linear_time)
{
	size_t n = 150000;
	ab_auto(agentbox_bytes) *b = ab_bytes_new(MAX);
	ab_auto(ab_json_index) *x = NULL;
	ab_auto(json_t) *v = NULL;
	unsigned line, column;

	ab_bytes_append_char(b, '[');
	for (size_t i = 0; i < n; i++)
		ab_bytes_append_str(b, i + 1 < n ? "{},\n" : "{}]");
	ck_assert(ab_bytes_ok(b));
	ck_assert_int_eq(ab_json_parse(agentbox_bytes_get_data(b),
				       agentbox_bytes_get_size(b), MAX, &v, &x,
				       NULL), 0);
	ck_assert_int_eq(ab_json_index_find(x, "/149999", &line, &column), 0);
	ck_assert_uint_eq(line, 150000);
	ck_assert_uint_eq(column, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("base_json");
	TCase *tc = tcase_create("json");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown);
	tcase_add_loop_test(tc, a_bad_document_is_refused_with_its_place, 0,
			    AB_ARRAY_LEN(bad_rows));
	tcase_add_test(tc, a_nul_byte_is_refused_wherever_it_is);
	tcase_add_test(tc, too_many_nodes_are_refused_before_they_are_built);
	tcase_add_loop_test(tc, the_index_knows_every_value, 0,
			    AB_ARRAY_LEN(find_rows));
	tcase_add_test(tc, the_index_agrees_with_jansson_on_random_documents);
	tcase_add_loop_test(tc, canonical_text_is_exact, 0,
			    AB_ARRAY_LEN(canonical_rows));
	tcase_add_test(tc, what_has_no_canonical_text_is_refused);
	tcase_add_test(tc, every_failed_allocation_parses_nothing);
	tcase_add_test(tc, a_wide_document_is_indexed_in_linear_time);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
