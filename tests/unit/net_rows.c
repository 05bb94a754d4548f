/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See net_rows.h. */
#include "config.h"

#include "net_rows.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"

void net_each_row(const char *file, size_t least, net_row_fn fn)
{
	char path[4096];
	char *line = NULL;
	size_t room = 0;
	size_t rows = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/%s", ab_test_srcdir(),
		 file);
	f = fopen(path, "re");
	ck_assert_msg(f != NULL, "cannot open %s", path);
	while (getline(&line, &room, f) > 0) {
		json_error_t error;
		json_t *row = json_loads(
			line, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);

		ck_assert_msg(row != NULL, "%s: row %zu is not JSON: %s", file,
			      rows + 1, error.text);
		fn(row, net_text(row, "id"));
		json_decref(row);
		rows++;
	}
	free(line);
	fclose(f);
	ck_assert_msg(rows >= least, "%s: only %zu rows", file, rows);
}

static size_t put(char *buf, size_t size, size_t n, const char *s, size_t len)
{
	ck_assert_msg(len <= size - n, "a row is too long");
	memcpy(buf + n, s, len);
	return n + len;
}

/* Characters to bytes: U+0000 to U+00FF in UTF-8. */
static size_t text_bytes(const json_t *value, char *buf, size_t size, size_t n)
{
	const unsigned char *s = (const void *)json_string_value(value);
	size_t len = json_string_length(value);

	for (size_t i = 0; i < len; i++) {
		char c = (char)s[i];

		if (s[i] >= 0x80) {
			ck_assert_msg((s[i] == 0xc2 || s[i] == 0xc3) &&
					      i + 1 < len,
				      "a character over U+00FF");
			c = (char)((s[i] & 3) << 6 | (s[i + 1] & 0x3f));
			i++;
		}
		n = put(buf, size, n, &c, 1);
	}
	return n;
}

static size_t hex_bytes(const char *s, char *buf, size_t size, size_t n)
{
	for (; *s; s++) {
		unsigned v;
		char c;

		if (*s == ' ')
			continue;
		ck_assert_int_eq(sscanf(s, "%2x", &v), 1);
		c = (char)v;
		n = put(buf, size, n, &c, 1);
		s++;
	}
	return n;
}

static size_t one(const json_t *v, char *buf, size_t size, size_t n)
{
	if (json_is_string(v))
		return text_bytes(v, buf, size, n);
	if (json_is_object(v))
		return hex_bytes(net_text(v, "hex"), buf, size, n);
	/* [text, times] */
	ck_assert_uint_eq(json_array_size(v), 2);
	for (json_int_t i = json_integer_value(json_array_get(v, 1)); i > 0;
	     i--)
		n = one(json_array_get(v, 0), buf, size, n);
	return n;
}

size_t net_bytes(const json_t *value, char *buf, size_t size)
{
	size_t n = 0;

	if (!json_is_array(value))
		return one(value, buf, size, 0);
	for (size_t i = 0; i < json_array_size(value); i++)
		n = one(json_array_get(value, i), buf, size, n);
	return n;
}

char *net_take(const json_t *row, const char *key, size_t *n)
{
	static char buf[1 << 20];
	char *exact;

	*n = net_bytes(json_object_get(row, key), buf, sizeof(buf));
	exact = malloc(*n ? *n : 1);
	ck_assert_ptr_nonnull(exact);
	memcpy(exact, buf, *n);
	return exact;
}

const char *net_text(const json_t *row, const char *key)
{
	return json_string_value(json_object_get(row, key));
}

bool net_flag(const json_t *row, const char *key)
{
	return json_is_true(json_object_get(row, key));
}

static void compare(const char *id, const char *how, size_t at,
		    const char *got, const char *want)
{
	ck_assert_msg(strcmp(got, want) == 0,
		      "%s: %s %zu gives\n  %s\nand whole\n  %s", id, how, at,
		      got, want);
}

void net_all_splits(const char *id, const char *data, size_t n, size_t cuts,
		    net_feed_fn run, void *ctx, char *out, size_t size)
{
	size_t *ends = malloc((n + 1) * sizeof(*ends));
	char *again = malloc(size);
	size_t step = cuts && n / cuts ? n / cuts : 1;

	ck_assert(ends && again);
	ends[0] = n;
	run(data, ends, 1, ctx, out, size);
	for (size_t i = 0; i < n; i++)
		ends[i] = i + 1;
	if (n) {
		run(data, ends, n, ctx, again, size);
		compare(id, "byte by byte", n, again, out);
	}
	for (size_t i = 1; i < n; i += step) {
		ends[0] = i;
		ends[1] = n;
		run(data, ends, 2, ctx, again, size);
		compare(id, "cut at", i, again, out);
	}
	free(again);
	free(ends);
}
