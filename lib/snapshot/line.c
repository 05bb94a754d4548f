/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON lines with paths. Refuses, when reading, whatever writing would not
 * have written: what was read is written again and compared. Spec: line.h.
 */
#include "config.h"

#include "snapshot/line.h"

#include <string.h>

#include "base/utf8.h"

static const char hex_digits[] = "0123456789abcdef";

void ab_line_begin(ab_line *line)
{
	line->len = 0;
	line->bad = false;
}

static void put(ab_line *line, const char *p, size_t n)
{
	if (n > sizeof(line->text) - line->len) {
		line->bad = true;
		return;
	}
	memcpy(line->text + line->len, p, n);
	line->len += n;
}

void ab_line_add(ab_line *line, const char *text)
{
	put(line, text, strlen(text));
}

void ab_line_number(ab_line *line, uint64_t v)
{
	char digits[20];
	size_t i = sizeof(digits);

	do {
		digits[--i] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	put(line, digits + i, sizeof(digits) - i);
}

/* The length of the character at p; 0: there is none. */
static size_t utf8_length(const char *p, size_t n)
{
	uint32_t c;

	return ab_utf8_decode(p, n, &c);
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void put_ascii(ab_line *line, unsigned char c)
{
	char escape[6] = { '\\', 'u', '0', '0', hex_digits[c >> 4],
			   hex_digits[c & 15] };

	if (is_plain(c))
		put(line, (const char *)&c, 1);
	else if (c == '"')
		put(line, "\\\"", 2);
	else if (c == '\\')
		put(line, "\\\\", 2);
	else
		put(line, escape, sizeof(escape));
}

void ab_line_text(ab_line *line, const char *p, size_t n)
{
	for (size_t i = 0; i < n && !line->bad;) {
		size_t run = i, len;

		while (run < n && is_plain((unsigned char)p[run]))
			run++;
		if (run > i) {
			put(line, p + i, run - i);
			i = run;
			continue;
		}
		len = utf8_length(p + i, n - i);
		if (len == 1)
			put_ascii(line, (unsigned char)p[i]);
		else if (len)
			put(line, p + i, len);
		else
			ab_line_add(line, "\\ufffd");
		i += len ? len : 1;
	}
}

static bool is_utf8(const char *p, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t len = utf8_length(p + i, n - i);

		if (!len)
			return false;
		i += len;
	}
	return true;
}

/* A backslash in JSON, then xNN. */
static void put_byte(ab_line *line, unsigned char c)
{
	char text[5] = { '\\', '\\', 'x', hex_digits[c >> 4],
			 hex_digits[c & 15] };

	put(line, text, sizeof(text));
}

static void put_encoded(ab_line *line, const char *p, size_t n)
{
	for (size_t i = 0; i < n && !line->bad;) {
		size_t len = utf8_length(p + i, n - i);

		if (!len || p[i] == '\\')
			put_byte(line, (unsigned char)p[i]);
		else
			ab_line_text(line, p + i, len);
		i += len ? len : 1;
	}
}

void ab_line_path(ab_line *line, const char *p, size_t n)
{
	ab_line_add(line, "\"path\":\"");
	if (is_utf8(p, n)) {
		ab_line_text(line, p, n);
		ab_line_add(line, "\"");
		return;
	}
	put_encoded(line, p, n);
	ab_line_add(line, "\",\"encoded\":true");
}

static int nibble(char c)
{
	const char *at = c ? strchr(hex_digits, c) : NULL;

	return at ? (int)(at - hex_digits) : -1;
}

/* The characters of one escape at p (after the backslash), or 0. */
static size_t read_escape(const char *p, size_t n, char *out)
{
	int high, low;

	if (n >= 1 && (p[0] == '"' || p[0] == '\\')) {
		*out = p[0];
		return 1;
	}
	if (n < 5 || p[0] != 'u' || p[1] != '0' || p[2] != '0')
		return 0;
	high = nibble(p[3]);
	low = nibble(p[4]);
	if (high < 0 || low < 0)
		return 0;
	*out = (char)(high << 4 | low);
	return 5;
}

/* The inside of the string at p into out; characters with the quote, or 0. */
static size_t read_string(const char *p, size_t n, char *out, size_t *out_len)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		char c = p[i];

		if (c == '"') {
			*out_len = len;
			return i + 1;
		}
		if (c == '\\') {
			size_t took = read_escape(p + i + 1, n - i - 1, &c);

			if (!took)
				return 0;
			i += took;
		}
		if (len == AB_MAX_PATH)
			return 0;
		out[len++] = c;
	}
	return 0;
}

/* \xNN back to bytes, in place. */
static bool decode(char *p, size_t *n)
{
	size_t to = 0;

	for (size_t i = 0; i < *n; i++) {
		char c = p[i];

		if (c == '\\') {
			int high, low;

			if (*n - i < 4 || p[i + 1] != 'x')
				return false;
			high = nibble(p[i + 2]);
			low = nibble(p[i + 3]);
			if (high < 0 || low < 0)
				return false;
			c = (char)(high << 4 | low);
			i += 3;
		}
		p[to++] = c;
	}
	*n = to;
	return true;
}

static bool skip(const char *p, size_t n, size_t *at, const char *text)
{
	size_t len = strlen(text);

	if (n - *at < len || memcmp(p + *at, text, len) != 0)
		return false;
	*at += len;
	return true;
}

bool ab_line_read_path(const char *p, size_t n, char out[AB_MAX_PATH],
		       size_t *out_len, size_t *taken)
{
	ab_line again;
	size_t at = 0, took;

	if (!skip(p, n, &at, "\"path\":\""))
		return false;
	took = read_string(p + at, n - at, out, out_len);
	if (!took)
		return false;
	at += took;
	if (skip(p, n, &at, ",\"encoded\":true") && !decode(out, out_len))
		return false;
	ab_line_begin(&again);
	ab_line_path(&again, out, *out_len);
	if (again.bad || again.len != at || memcmp(again.text, p, at) != 0)
		return false;
	*taken = at;
	return true;
}
