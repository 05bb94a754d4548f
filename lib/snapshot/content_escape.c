/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts with other bytes for some of theirs: "\/", "\u003d" and "\n" of JSON
 * and scripts, "%2F" of a URL, "&quot;" of a page. A token with one in it, or
 * beside it, has no form of its own there, and a file in a string no lines; so
 * such text is looked through a second time as what it means. Only letters of
 * ASCII that can be seen and ends of lines come out of it; what is no escape
 * stays as it is.
 */
#include "config.h"

#include "base/attr.h"
#include "base/digit.h"
#include "snapshot/content_internal.h"

#include <string.h>

/* Each writer of JSON in JSON doubles them. */
#define BACKSLASHES 8

/* Two hexadecimal digits that are a letter, or a line's end; 0: none. */
static uint8_t hex_at(const uint8_t *p)
{
	int high = ab_hex_digit((char)p[0]);
	int low = ab_hex_digit((char)p[1]);
	int c = high < 0 || low < 0 ? 0 : high * 16 + low;

	return c == '\n' || (c >= ' ' && c < 0x7f) ? (uint8_t)c : 0;
}

/* How long the escape at p is, and what it means; 0: it is none. */
static size_t backslash(const uint8_t *p, size_t n, uint8_t *c)
{
	static const char letters[][2] = {
		{ '/', '/' }, { 'n', '\n' }, { 't', '\t' }, { '"', '"' },
	};
	size_t i = 1;

	while (i < BACKSLASHES && i < n && p[i] == '\\')
		i++;
	for (size_t k = 0; i < n && k < AB_ARRAY_LEN(letters); k++) {
		if (p[i] == letters[k][0]) {
			*c = (uint8_t)letters[k][1];
			return i + 1;
		}
	}
	if (n - i >= 5 && p[i] == 'u' && p[i + 1] == '0' && p[i + 2] == '0') {
		*c = hex_at(p + i + 3);
		return *c ? i + 5 : 0;
	}
	if (n - i >= 3 && p[i] == 'x') {
		*c = hex_at(p + i + 1);
		return *c ? i + 3 : 0;
	}
	return 0;
}

static size_t percent(const uint8_t *p, size_t n, uint8_t *c)
{
	*c = n < 3 ? 0 : hex_at(p + 1);
	return *c ? 3 : 0;
}

/* &#47; and &#x2F; */
static size_t number(const uint8_t *p, size_t n, uint8_t *c)
{
	unsigned base = n > 2 && (p[2] | 0x20) == 'x' ? 16 : 10, value = 0;
	size_t i = base == 16 ? 3 : 2;

	for (size_t first = i; i < n && i < first + 3; i++) {
		int digit = ab_hex_digit((char)p[i]);

		if (digit < 0 || (unsigned)digit >= base)
			break;
		value = value * base + (unsigned)digit;
	}
	if (i == n || p[i] != ';' || value >= 0x7f ||
	    (value < ' ' && value != '\n'))
		return 0;
	*c = (uint8_t)value;
	return i + 1;
}

static size_t entity(const uint8_t *p, size_t n, uint8_t *c)
{
	static const struct {
		const char *name;
		uint8_t c;
	} names[] = {
		{ "&quot;", '"' }, { "&apos;", '\'' }, { "&amp;", '&' },
		{ "&lt;", '<' },   { "&gt;", '>' },
	};

	if (n > 1 && p[1] == '#')
		return number(p, n, c);
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		size_t len = strlen(names[i].name);

		if (len > n || p[1] != names[i].name[1] ||
		    memcmp(p, names[i].name, len))
			continue;
		*c = names[i].c;
		return len;
	}
	return 0;
}

static size_t escape_at(const uint8_t *p, size_t n, uint8_t *c)
{
	switch (*p) {
	case '\\':
		return backslash(p, n, c);
	case '%':
		return percent(p, n, c);
	case '&':
		return entity(p, n, c);
	default:
		return 0;
	}
}

/* An escape that begins with this byte, of something that tokens have in them
   or beside them. */
static bool has_one(uint8_t first, const uint8_t *p, size_t n, size_t room)
{
	/* a quote in a string is no news to the rules */
	const char *set = first == '\\' ? "/:=+@?\n" : "/:=+@?\n\"'";
	const uint8_t *at = p, *end = p + n;
	uint8_t c;

	while (at < end && (at = memchr(at, first, (size_t)(end - at)))) {
		if (escape_at(at, room - (size_t)(at - p), &c) &&
		    ab_content_is_one_of(set, c))
			return true;
		at++;
	}
	return false;
}

bool ab_content_has_escape(const uint8_t *p, size_t n, size_t room)
{
	return has_one('\\', p, n, room) || has_one('%', p, n, room) ||
	       has_one('&', p, n, room);
}

/* Copies what is before the next byte with which an escape may begin, sixteen
   bytes at once; how many. */
static size_t copy_plain(const uint8_t *p, size_t n, uint8_t *out)
{
	typedef uint8_t lanes __attribute__((vector_size(16)));
	typedef uint64_t halves __attribute__((vector_size(16)));
	size_t i = 0;

	for (; n - i >= sizeof(lanes); i += sizeof(lanes)) {
		lanes x;
		halves any;

		memcpy(&x, p + i, sizeof(x));
		any = (halves)((x == '\\') | (x == '%') | (x == '&'));
		if (any[0] | any[1])
			break;
		memcpy(out + i, &x, sizeof(x));
	}
	for (; i < n && p[i] != '\\' && p[i] != '%' && p[i] != '&'; i++)
		out[i] = p[i];
	return i;
}

size_t ab_content_unescape(const uint8_t *p, size_t n, size_t room,
			   size_t *skip, uint8_t *out, uint64_t *ends)
{
	size_t i = *skip, len = 0;

	while (i < n) {
		size_t plain = copy_plain(p + i, n - i, out + len);
		uint8_t c = 0;
		size_t step;

		i += plain;
		len += plain;
		if (i == n)
			break;
		step = escape_at(p + i, room - i, &c);

		if (step && c == '\n')
			ends[len / 64] |= UINT64_C(1) << (len % 64);
		out[len++] = step ? c : p[i];
		i += step ? step : 1;
	}
	*skip = i - n;
	return len;
}
