/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every rule of the content scan finds (tests/data/snapshot-content.jsonl)
 * it finds in the escapes of JSON, of scripts, of URLs and of pages, too.
 */
#include "config.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "base/attr.h"
#include "content_rows.h"
#include "content_text.h"
#include "snapshot/content_internal.h"

static ab_content *scanner;
static json_t *rows;
static content_random seed = { 88172645463325252u };

static void set_up(void)
{
	rows = content_rows();
	scanner = ab_content_new();
	ck_assert_ptr_nonnull(scanner);
}

static void tear_down(void)
{
	ab_content_free(scanner);
	json_decref(rows);
}

static bool scan_in(const char *p, size_t n, size_t chunk,
		    ab_content_finding *f)
{
	memset(f, 0, sizeof(*f));
	ab_content_begin(scanner, AB_CONTENT_STRICT, "notes.txt", 9);
	for (size_t i = 0; i < n; i += chunk)
		ab_content_feed(scanner, p + i, n - i < chunk ? n - i : chunk);
	return ab_content_end(scanner, f);
}

static bool scan(const char *p, size_t n)
{
	ab_content_finding f;

	return scan_in(p, n, n ? n : 1, &f);
}

/* The bytes of one set, in one way of writing them. */
static char *escaped(const char *p, size_t n, const char *set,
		     const char *format, size_t *len)
{
	char *text = malloc(8 * n + 1);

	*len = 0;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];
		const char *f = format;

		if (!c || !strchr(set, c)) {
			text[(*len)++] = p[i];
			continue;
		}
		for (; *f; f++) {
			if (*f == 'x' || *f == 'X' || *f == 'd')
				*len += (size_t)snprintf(
					text + *len, 4,
					*f == 'x'   ? "%02x"
					: *f == 'X' ? "%02X"
						    : "%d", c);
			else
				text[(*len)++] = *f == '~' ? 'x' : *f;
		}
	}
	text[*len] = '\0';
	return text;
}

/* x, X and d: the byte as a number; ~: an x */
static const struct way {
	const char *set, *format;
} ways[] = {
	{ "/", "\\/" },	    { "/", "\\\\/" },	 { "/+=", "\\u00x" },
	{ "/+=", "\\u00X" }, { "/+=", "\\\\u00x" }, { "/+=", "\\~x" },
	{ "/+=:@?&", "%X" }, { "/+=:@?&", "%x" },  { "/=+", "&#~X;" },
	{ "/=+\"", "&#d;" }, { "\"", "&quot;" }, { "\n", "&#d;" },
};

START_TEST(every_hit_is_found_with_escapes_in_it)
{
	json_t *row, *text;
	size_t i, k, n, len;

	json_array_foreach(rows, i, row) {
		json_array_foreach(json_object_get(row, "hit"), k, text) {
			const char *template = json_string_value(text);
			content_random own = content_seed(template, 0);
			char *p = content_text(&own, template, &n);

			/* what has some of its own means another text */
			for (size_t w = 0; w < AB_ARRAY_LEN(ways) &&
			     strcspn(p, "\\%&") == strlen(p); w++) {
				char *e = escaped(p, n, ways[w].set,
						  ways[w].format, &len);

				ck_assert_msg(scan(e, len),
					      "%s: %s",
					      json_string_value(json_object_get(
						      row, "rule")), e);
				free(e);
			}
			free(p);
		}
	}
}
END_TEST

START_TEST(what_documentation_and_patterns_have_stays)
{
	static const char *const texts[] = {
		"\"https:\\/\\/hooks.slack.com\\/services\\/T00000000\\/"
		"B00000000\\/XXXXXXXXXXXXXXXXXXXXXXXX\"",
		"/https:\\/\\/([^:]+):([^@]+)@github\\.com/",
		"u=https%3A%2F%2Fuser%3Apassword%40github.com%2Fa%2Fb",
		"?back=https%3A%2F%2Fx.corp.net%2F%3Ftoken%3D%7Btoken%7D",
		"{&quot;password&quot;:&quot;changeme&quot;}",
		"{&quot;password&quot;:&quot;MinLength12Validator&quot;}",
		"\"secret\\u003dYOUR_CLIENT_SECRET_Goes_here1\"",
		"printf(\"password %3d %2f%%\\n\", n, x);",
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(texts); i++)
		ck_assert_msg(!scan(texts[i], strlen(texts[i])), "%s",
			      texts[i]);
}
END_TEST

/* A file in a string of JSON, a notebook, a program. */
START_TEST(a_file_in_a_string_has_lines)
{
	static const char *const files[] = {
		"{\"f\": \"x\\nmachine git.corp.net login bob password "
		"Tr0ub4^^dor9\\n\"}",
		"{\"f\": \"x\\n*:x:y:z\\ndb.corp.net:543^^2:shop:app:Tr0ub4dor9"
		"\\n\"}",
		"{\"f\": \"spring:\\n  datasource:\\n    pass^^word: "
		"Vq7kLm2^^Zx9Rt4WbYc\\n    x: y\\n\"}",
		"{\"f\": \"{\\\"f\\\": \\\"spring:\\\\n    pass^^word: "
		"Vq7kLm2^^Zx9Rt4WbYc\\\\n\\\"}\"}",
		"x = \"apiVersion: v1\\nkind: Sec^^ret\\nmetadata:\\n  name: a\\n"
		"stringData:\\n  pw: Tr0ub4^^dor9\\n\"",
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(files); i++) {
		size_t n;
		char *p = content_text(&seed, files[i], &n);

		ck_assert_msg(scan(p, n), "%s", p);
		free(p);
	}
}
END_TEST

/* At any place of its blocks, in chunks of any size; and in which line. */
START_TEST(a_finding_in_escapes_says_where)
{
	static const size_t chunks[] = { 100000, 1, 255, 256, 257, 4099 };
	size_t n, begin, lines;
	char *p = content_text(&seed, "\"https:\\/\\/hooks.^^slack.com\\/"
			       "services\\/T^U8^\\/B^U8^\\/^A24^\"\n", &n);

	for (size_t before = 0; before < 700; before += 3) {
		char text[4096];
		ab_content_finding f;

		for (begin = lines = 0; begin < before; begin++) {
			text[begin] = "some words\n"[begin % 11];
			lines += text[begin] == '\n';
		}
		memcpy(text + begin, p, n);
		memset(text + begin + n, 'x', 900);
		for (size_t c = 0; c < AB_ARRAY_LEN(chunks); c++) {
			ck_assert(scan_in(text, begin + n + 900, chunks[c],
					  &f));
			ck_assert_str_eq(f.rule, "slack-webhook");
			ck_assert_uint_eq(f.line, lines + 1);
			ck_assert(f.offset <= begin + n);
		}
	}
	free(p);
}
END_TEST

/* A long text, whose first windows were forgotten. */
START_TEST(a_line_far_behind_is_counted)
{
	size_t n, have = 0, lines = 0;
	char *p = content_text(&seed, "{\"u\":\"https:\\/\\/hooks.^^slack.com"
			       "\\/services\\/T^U8^\\/B^U8^\\/^A24^\"}\n", &n);
	char *text = malloc(400000 + n);
	ab_content_finding f;

	for (; have < 300000; lines++)
		have += (size_t)sprintf(text + have,
					"{\"%zu\": \"a\\/b\\n\\nc\"}\n", lines);
	memcpy(text + have, p, n);
	ck_assert(scan_in(text, have + n, 8192, &f));
	ck_assert_uint_eq(f.line, lines + 1);
	free(text);
	free(p);
}
END_TEST

START_TEST(what_is_no_escape_stays)
{
	static const char text[] = "\\ \\u00 \\u0100 \\u0a0 \\x4 % %2 %zz %0b "
				   "& &quot &#; &#300; &#x; &#x1F600; "
				   "\\\\ %";
	uint8_t out[sizeof(text)];
	uint64_t ends[4] = { 0 };
	size_t skip = 0;

	ck_assert(!ab_content_has_escape((const uint8_t *)text,
					 sizeof(text) - 1, sizeof(text) - 1));
	ck_assert_uint_eq(ab_content_unescape((const uint8_t *)text,
					      sizeof(text) - 1,
					      sizeof(text) - 1, &skip, out,
					      ends),
			  sizeof(text) - 1);
	ck_assert_uint_eq(skip, 0);
	ck_assert_mem_eq(out, text, sizeof(text) - 1);
}
END_TEST

#define ADD(name) tcase_add_test(tc, name)

int main(void)
{
	Suite *suite = suite_create("snapshot escapes");
	TCase *tc = tcase_create("escapes");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 120);
	ADD(every_hit_is_found_with_escapes_in_it);
	ADD(what_documentation_and_patterns_have_stays);
	ADD(a_file_in_a_string_has_lines);
	ADD(a_finding_in_escapes_says_where);
	ADD(a_line_far_behind_is_counted);
	ADD(what_is_no_escape_stays);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
