/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encodings that stand in the middle of a text: percent (RFC 3986 section
 * 2.1, and %uXXXX), escapes with a backslash (JSON, C, shell, Perl, names of
 * characters), character references (HTML section 13.5), UTF-7 (RFC 2152; IMAP
 * has '&' for its '+'), quoted-printable (RFC 2045 section 6.7). One pass
 * takes all of a kind; what it leaves is looked at again.
 */
#include "config.h"

#include <string.h>

#include "base/digit.h"
#include "scope/internal.h"

static void put_byte(struct ab_scope_text *t, uint32_t c)
{
	t->p[t->n++] = (char)c;
}

/* --- percent, backslash, references --------------------------------------- */

static size_t percent(const char *p, size_t n, struct ab_scope_text *t)
{
	uint32_t c;

	if (n >= 6 && (p[1] | 0x20) == 'u' &&
	    ab_scope_number(p + 2, 4, 16, 4, &c) == 4) {
		ab_scope_text_put(t, c);
		return 6;
	}
	if (n >= 3 && ab_scope_number(p + 1, 2, 16, 2, &c) == 2) {
		put_byte(t, c);
		return 3;
	}
	return 0;
}

/* \u{73}, \u0073, \U00000073; a pair of halves is one character. */
static size_t backslash_u(const char *p, size_t n, struct ab_scope_text *t)
{
	uint32_t c;
	uint32_t low;
	size_t len;

	if (n > 3 && p[2] == '{') {
		len = ab_scope_number(p + 3, n - 3, 16, 6, &c);
		if (!len || 3 + len >= n || p[3 + len] != '}')
			return 0;
		ab_scope_text_put(t, c);
		return len + 4;
	}
	len = p[1] == 'U' ? 8 : 4;
	if (n < 2 + len || ab_scope_number(p + 2, len, 16, len, &c) != len)
		return 0;
	if (c >= 0xd800 && c < 0xdc00 && n >= 12 && p[6] == '\\' &&
	    p[7] == 'u' && ab_scope_number(p + 8, 4, 16, 4, &low) == 4 &&
	    low >= 0xdc00 && low < 0xe000) {
		ab_scope_text_put(t, 0x10000 + ((c - 0xd800) << 10) +
					     (low - 0xdc00));
		return 12;
	}
	ab_scope_text_put(t, c);
	return 2 + len;
}

/* What the names of a few characters end with, in Unicode's own words. */
static const struct {
	const char *name;
	char c;
} name_ends[] = {
	{ "hyphen-minus", '-' }, { "hyphen", '-' },	 { "dash", '-' },
	{ "minus", '-' },	 { "minus sign", '-' },	 { "low line", '_' },
	{ "full stop", '.' },	 { "solidus", '/' },	 { "colon", ':' },
	{ "commercial at", '@' }, { "equals sign", '=' }, { "space", ' ' },
	{ "digit zero", '0' },	 { "digit one", '1' },	 { "digit two", '2' },
	{ "digit three", '3' },	 { "digit four", '4' },	 { "digit five", '5' },
	{ "digit six", '6' },	 { "digit seven", '7' }, { "digit eight", '8' },
	{ "digit nine", '9' },
};

static bool ends_with(const char *p, size_t n, const char *end)
{
	size_t len = strlen(end);

	if (n < len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (ab_scope_fold(p[n - len + i]) != end[i])
			return false;
	return n == len || p[n - len - 1] == ' ';
}

/* "LATIN SMALL LETTER B", "LETTER B WITH DOT ABOVE": the letter; or NUL. */
static char letter_of(const char *p, size_t n)
{
	static const char word[] = "letter ";
	size_t len = sizeof(word) - 1;

	for (size_t i = 0; i + len < n; i++)
		if ((i + len + 1 == n || p[i + len + 1] == ' ') &&
		    ab_scope_is_alnum(p[i + len]) &&
		    ends_with(p, i + len - 1, "letter"))
			return ab_scope_fold(p[i + len]);
	return '\0';
}

#define MAX_NAME 48

/* \N{HYPHEN-MINUS} and \N{U+2D}, as Python and Perl have them. */
static size_t backslash_name(const char *p, size_t n, struct ab_scope_text *t)
{
	const char *name = p + 3;
	const char *end = n > 4 && p[2] == '{' ?
				  memchr(name, '}', n - 3 < MAX_NAME ?
							    n - 3 : MAX_NAME) :
				  NULL;
	size_t len = end ? (size_t)(end - name) : 0;
	uint32_t c = 0;

	if (len > 2 && (name[0] | 0x20) == 'u' && name[1] == '+' &&
	    ab_scope_number(name + 2, len - 2, 16, 6, &c) != len - 2)
		return 0;
	if (!c)
		c = (unsigned char)letter_of(name, len);
	for (size_t i = 0; !c && i < AB_ARRAY_LEN(name_ends); i++)
		if (ends_with(name, len, name_ends[i].name))
			c = (unsigned char)name_ends[i].c;
	if (!c)
		return 0;
	ab_scope_text_put(t, c);
	return len + 4;
}

/* \x{2d} and \o{55}; behind the letter at p[1]. */
static size_t braced(const char *p, size_t n, int base,
		     struct ab_scope_text *t)
{
	uint32_t c;
	size_t len = n > 3 ? ab_scope_number(p + 3, n - 3, base, 7, &c) : 0;

	if (!len || c > 0x10ffff)
		return 0;
	ab_scope_text_put(t, c);
	return 3 + len + (3 + len < n && p[3 + len] == '}');
}

static size_t backslash(const char *p, size_t n, struct ab_scope_text *t)
{
	static const char from[] = "abefnrtv";
	static const char to[] = "\a\b\033\f\n\r\t\v";
	const char *found;
	uint32_t c;
	size_t len;

	if (n < 2)
		return 0;
	if (p[1] == 'u' || p[1] == 'U') {
		len = backslash_u(p, n, t);
		if (len)
			return len;
	}
	if (p[1] == 'N' || ((p[1] == 'x' || p[1] == 'o') && n > 2 &&
			    p[2] == '{')) {
		len = p[1] == 'N' ? backslash_name(p, n, t) :
				    braced(p, n, p[1] == 'x' ? 16 : 8, t);
		if (len)
			return len;
	}
	if (p[1] == 'x') {
		len = ab_scope_number(p + 2, n - 2, 16, 2, &c);
		if (len) {
			put_byte(t, c);
			return 2 + len;
		}
	}
	/* \0055 of echo and \055 of C, which may have a digit behind it */
	len = ab_scope_number(p + 1, n - 1, 8, p[1] == '0' ? 4 : 3, &c);
	if (len == 4 && c > 0xff)
		len = ab_scope_number(p + 1, n - 1, 8, 3, &c);
	if (len) {
		put_byte(t, c & 0xff);
		return 1 + len;
	}
	found = p[1] ? strchr(from, p[1]) : NULL;
	put_byte(t, (unsigned char)(found ? to[found - from] : p[1]));
	return 2;
}

static size_t named(const char *p, size_t n, struct ab_scope_text *t)
{
	static const struct {
		const char *name;
		char c; /* NUL: not seen */
	} names[] = {
		{ "amp", '&' },	  { "quot", '"' },   { "apos", '\'' },
		{ "lt", '<' },	  { "gt", '>' },     { "nbsp", ' ' },
		{ "hyphen", '-' }, { "dash", '-' },  { "ndash", '-' },
		{ "mdash", '-' }, { "minus", '-' },  { "lowbar", '_' },
		{ "UnderBar", '_' }, { "period", '.' }, { "sol", '/' },
		{ "colon", ':' }, { "equals", '=' }, { "shy", '\0' },
		{ "zwj", '\0' },  { "zwnj", '\0' },  { "commat", '@' },
		{ "ZeroWidthSpace", '\0' }, { "percnt", '%' },
		{ "bsol", '\\' }, { "num", '#' },    { "Tab", '\t' },
		{ "NewLine", '\n' },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		size_t len = strlen(names[i].name);

		if (n < len + 2 || memcmp(p + 1, names[i].name, len) != 0 ||
		    p[len + 1] != ';')
			continue;
		put_byte(t, (unsigned char)names[i].c);
		return len + 2;
	}
	return 0;
}

static size_t reference(const char *p, size_t n, struct ab_scope_text *t)
{
	bool hex = n > 2 && (p[2] | 0x20) == 'x';
	size_t from = hex ? 3 : 2;
	uint32_t c;
	size_t len;

	if (n < 4 || p[1] != '#')
		return named(p, n, t);
	while (from < n && p[from] == '0') /* any number of zeros */
		from++;
	len = ab_scope_number(p + from, n - from, hex ? 16 : 10, 7, &c);
	if (!len || c > 0x10ffff)
		return 0;
	ab_scope_text_put(t, c);
	return from + len + (from + len < n && p[from + len] == ';');
}

/*
 * "+AC0-": base64 of UTF-16, as far as it is ASCII. The end that is left over
 * stands as it is.
 */
static size_t utf7(const char *p, size_t n, struct ab_scope_text *t)
{
	uint32_t have = 0;
	unsigned bits = 0;
	size_t end = 0;

	for (size_t i = 1; i < n && p[i] != '-' && p[i] != '_'; i++) {
		int digit = ab_base64_digit(p[i]);

		if (digit < 0)
			break;
		have = (have << 6 | (uint32_t)digit) & 0x3fffff;
		bits += 6;
		if (bits < 16)
			continue;
		bits -= 16;
		if (have >> bits < ' ' || have >> bits > '~')
			break;
		put_byte(t, have >> bits);
		have &= (1u << bits) - 1;
		end = i + 1;
	}
	return end + (end && end < n && p[end] == '-');
}

static size_t escape(const char *p, size_t n, struct ab_scope_text *t)
{
	size_t len;

	switch (*p) {
	case '%':
		return percent(p, n, t);
	case '\\':
		return backslash(p, n, t);
	case '&':
		len = reference(p, n, t);
		return len ? len : utf7(p, n, t);
	case '+':
		return utf7(p, n, t);
	}
	return 0;
}

bool ab_scope_unescape(struct ab_scope_look *l, const struct ab_plain *p,
		       char **out, size_t *n)
{
	struct ab_scope_text t;

	if (!ab_scope_text_begin(l, &t, p->n + 16))
		return false;
	for (size_t i = 0; i < p->n;) {
		size_t len = escape(p->c + i, p->n - i, &t);

		t.changed |= len != 0;
		if (!len) {
			put_byte(&t, (unsigned char)p->c[i]);
			ab_scope_text_copied(&t, p->c[i]);
		}
		i += len ? len : 1;
	}
	return ab_scope_text_end(&t, out, n);
}

/* "=2D", or a line that goes on: how long, and its byte, -1: none. */
static size_t code(const struct ab_plain *p, size_t i, int *byte)
{
	const char *c = p->c + i;
	size_t n = p->n - i;
	uint32_t value;

	*byte = -1;
	if (n > 1 && c[1] == '\n')
		return 2;
	if (n > 2 && c[1] == '\r' && c[2] == '\n')
		return 3;
	if (n < 3 || ab_scope_number(c + 1, 2, 16, 2, &value) != 2)
		return 0;
	/* small letters are read, too; "name=bed" is a word all the same */
	if (value > 0x7f && (c[1] > 'F' || c[2] > 'F'))
		return 0;
	*byte = (int)value;
	return 3;
}

/*
 * One code is enough, though "?a=20" may be meant otherwise: what it comes to
 * is looked at, no more. One line that goes on is not: base64 ends so.
 */
bool ab_scope_printable(struct ab_scope_look *l, const struct ab_plain *p,
			char **out, size_t *n)
{
	struct ab_scope_text t;
	size_t codes = 0;

	if (!memchr(p->c, '=', p->n) ||
	    !ab_scope_text_begin(l, &t, p->n + 16))
		return false;
	for (size_t i = 0; i < p->n;) {
		int byte = -1;
		size_t len = p->c[i] == '=' ? code(p, i, &byte) : 0;

		t.changed |= len != 0;
		codes += len == 0 ? 0 : byte >= 0 ? 2 : 1;
		if (byte >= 0)
			put_byte(&t, (uint32_t)byte);
		if (!len) {
			put_byte(&t, (unsigned char)p->c[i]);
			ab_scope_text_copied(&t, p->c[i]);
		}
		i += len ? len : 1;
	}
	return ab_scope_text_end(&t, out, n) && codes > 1;
}
