/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shapes: how a secret is written. A shape is matched once, from left to
 * right, each step taking as much as it can; nothing is tried again, so the
 * time is the length. In a shape
 *
 *   !       no letter, digit or '_' is beside this place, but one that is
 *           the end of an escape; where there is no text, any byte
 *   %X      one byte of class X (ab_content_class())
 *   %X{n}   n of them; %X{n,m} from n to m; %X{n,} n or more
 *   other   itself
 *
 * The value of what matched, which has to look random, begins at the first
 * class that is neither white space nor a quote ('s', 'b', 'q', 'Q').
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <string.h>

#include "base/attr.h"

#define is_one_of ab_content_is_one_of

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_upper(uint8_t c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(uint8_t c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_alnum(uint8_t c)
{
	return is_digit(c) || is_lower(c) || is_upper(c);
}

bool ab_content_is_one_of(const char *set, uint8_t c)
{
	for (; *set; set++) {
		if (c == (uint8_t)*set)
			return true;
	}
	return false;
}

bool ab_content_is_word(uint8_t c)
{
	return is_alnum(c) || c == '_';
}

bool ab_content_class(char class, uint8_t c)
{
	switch (class) {
	case 'd':
		return is_digit(c);
	case 'z':
		return is_lower(c);
	case 'L':
		return is_lower(c) || is_upper(c);
	case 'A':
		return is_alnum(c);
	case 'h':
		return is_digit(c) || (c >= 'a' && c <= 'f');
	case 'H':
		return is_digit(c) || (c >= 'a' && c <= 'f') ||
		       (c >= 'A' && c <= 'F');
	case 'x': /* a UUID */
		return ab_content_class('h', c) || c == '-';
	case 'U':
		return is_upper(c) || is_digit(c);
	case 'l':
		return is_lower(c) || is_digit(c);
	case '2': /* base32 */
		return is_upper(c) || (c >= '2' && c <= '7');
	case 'k': /* bech32, in capitals */
		return is_one_of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", c);
	case 'W': /* base64url */
		return ab_content_is_word(c) || c == '-';
	case '=':
		return ab_content_class('W', c) || c == '=';
	case '.':
		return ab_content_class('=', c) || c == '.';
	case 'a':
		return is_alnum(c) || c == '-';
	case 'g':
		return is_alnum(c) || c == '.';
	case 't':
		return ab_content_class('W', c) || c == '~' || c == '.';
	case 'B':
		return is_alnum(c) || c == '+' || c == '/';
	case 'E':
		return ab_content_class('B', c) || c == '=';
	case '+':
		return ab_content_class('E', c) || c == '_';
	case 's':
		return c == ' ' || (c >= '\t' && c <= '\r');
	case 'o':
		return c == 0;
	case 'b':
		return c == ' ' || c == '\t';
	case 'q':
		return c == '"' || c == '\'' || c == '\\';
	case 'Q': /* no escaped one */
		return c == '"' || c == '\'';
	case 'p':
		return c > ' ' && c < 0x7f;
	case 'S': /* crypt(5) */
		return is_alnum(c) || c == '.' || c == '/';
	case 'n': /* a value in an ini file, no ${VARIABLE} */
		return c > ' ' && c < 0x7f && !is_one_of("$\"'\\<>", c);
	/* the parts of "aws_key", "awsSecret" ... behind "aws" */
	case 'w':
		return is_one_of("_-sakSAK", c);
	/* decimal digits in base64, by place: all of a Discord user's id */
	case '0':
		return c == 'M' || c == 'N' || c == 'O';
	case '1':
		return is_one_of("DTjz", c);
	case '3':
		return is_one_of("AEIMQUYcgk", c);
	case '4':
		return (c >= 'w' && c <= 'z') || (c >= '0' && c <= '5');
	}
	return false;
}

const char *ab_content_step(const char *shape, char *class, uint8_t *literal,
			    size_t *min, size_t *max)
{
	*class = 0;
	*literal = (uint8_t)*shape;
	*min = *max = 1;
	if (*shape++ != '%')
		return shape;
	*class = *shape++;
	if (*shape != '{')
		return shape;
	for (*min = 0, shape++; *shape >= '0' && *shape <= '9'; shape++)
		*min = *min * 10 + (size_t)(*shape - '0');
	*max = *min;
	if (*shape == ',') {
		for (*max = 0, shape++; *shape >= '0' && *shape <= '9';
		     shape++)
			*max = *max * 10 + (size_t)(*shape - '0');
		if (!*max)
			*max = AB_CONTENT_AHEAD;
	}
	return shape + 1;
}

/* A byte written as its number: its digits are not of the word behind it. */
static bool is_behind_number(const ab_content_window *w, const uint8_t *p)
{
	static const struct {
		const char *front;
		size_t digits;
	} codes[] = { { "%", 2 },   { "%25", 2 }, { "\\x", 2 }, { "\\", 3 },
		      { "\\u", 4 }, { "=2", 1 },  { "=3", 1 } };

	for (size_t i = 0; i < AB_ARRAY_LEN(codes); i++) {
		const uint8_t *q = ab_content_back('H', w, p, codes[i].digits);

		if ((size_t)(p - q) == codes[i].digits &&
		    ab_content_at(w, q - strlen(codes[i].front),
				  codes[i].front, false))
			return true;
	}
	return false;
}

/* "\033[1;32m" and "\033[K" of a terminal, however the escape is written. */
static bool is_behind_colour(const ab_content_window *w, const uint8_t *p)
{
	const uint8_t *q = p - 1;

	if (*q != 'm' && *q != 'K')
		return false;
	while (q > w->lo && p - q < 16 && (is_digit(q[-1]) || q[-1] == ';'))
		q--;
	return q > w->lo && q[-1] == '[';
}

bool ab_content_begins(const ab_content_window *w, const uint8_t *p)
{
	if (p == w->lo || !ab_content_is_word(p[-1]))
		return true;
	/* "\\n" in a string: the letter is not of the word */
	if (p - w->lo >= 2 && p[-2] == '\\')
		return is_one_of("nrtbfva0", p[-1]);
	return is_behind_number(w, p) || is_behind_colour(w, p);
}

bool ab_content_ends(const ab_content_window *w, const uint8_t *p)
{
	return p == w->hi || !ab_content_is_word(*p);
}

/*
 * Bytes that no text has are near: lengths, types and the next value may be
 * letters and stand beside a string, as in databases, archives, pickles.
 */
bool ab_content_may_stand(const ab_content_window *w,
			  const ab_content_match *m)
{
	const uint8_t *p = m->first - w->lo > 16 ? m->first - 16 : w->lo;
	const uint8_t *end = w->hi - m->end > 16 ? m->end + 16 : w->hi;

	for (; m->is_inside && p < end; p++) {
		if (*p < ' ' && *p != 0x1b && *p != '\b' &&
		    !ab_content_class('s', *p))
			return true;
	}
	return !m->is_inside;
}

static uint8_t lower(uint8_t c)
{
	return is_upper(c) ? (uint8_t)(c - 'A' + 'a') : c;
}

const uint8_t *ab_content_run(char class, const uint8_t *p,
			      const uint8_t *hi, size_t max)
{
	for (; max && p < hi && ab_content_class(class, *p); max--)
		p++;
	return p;
}

const uint8_t *ab_content_back(char class, const ab_content_window *w,
			       const uint8_t *p, size_t max)
{
	for (; max && p > w->lo && ab_content_class(class, p[-1]); max--)
		p--;
	return p;
}

bool ab_content_at(const ab_content_window *w, const uint8_t *p,
		   const char *text, bool fold)
{
	if (p < w->lo)
		return false;
	for (; *text; text++, p++) {
		if (p >= w->hi || (fold ? lower(*p) : *p) != (uint8_t)*text)
			return false;
	}
	return true;
}

bool ab_content_is_line(const ab_content_window *w, const uint8_t *p)
{
	/* a byte order mark is nothing before the first line */
	return p == w->lo || p[-1] == '\n' || p[-1] == '\r' ||
	       (p - w->lo >= 3 && memcmp(p - 3, "\xef\xbb\xbf", 3) == 0);
}

bool ab_content_begins_line(const ab_content_window *w, const uint8_t *p)
{
	while (p > w->lo && (p[-1] == ' ' || p[-1] == '\t'))
		p--;
	/* a line of a patch or of a quotation */
	if (p > w->lo && ab_content_is_one_of("+->", p[-1]) &&
	    ab_content_is_line(w, p - 1))
		return true;
	return ab_content_is_line(w, p);
}

/* Marks of a comment, a list, a quotation or a change may be before it. */
bool ab_content_begins_item(const ab_content_window *w, const uint8_t *p)
{
	while (p > w->lo && ab_content_is_one_of("-+#;/*>| \t", p[-1]))
		p--;
	return ab_content_is_line(w, p);
}

bool ab_content_shape(const char *shape, bool fold,
		      const ab_content_window *w, ab_content_match *m)
{
	const uint8_t *p = w->at;

	m->is_inside = false;
	m->first = p;
	m->value = NULL;
	while (*shape) {
		const uint8_t *from = p;
		uint8_t literal;
		size_t min, max;
		char class;

		if (*shape == '!') {
			m->is_inside |= !(p == w->at ? ab_content_begins(w, p)
						     : ab_content_ends(w, p));
			shape++;
			continue;
		}
		shape = ab_content_step(shape, &class, &literal, &min, &max);
		if (class && !is_one_of("sbqQ", (uint8_t)class) && !m->value)
			m->value = p;
		if (class)
			p = ab_content_run(class, p, w->hi, max);
		else if (p < w->hi && (fold ? lower(*p) : *p) == literal)
			p++;
		if ((size_t)(p - from) < min)
			return false;
	}
	m->end = p;
	if (!m->value)
		m->value = p;
	return ab_content_may_stand(w, m);
}
