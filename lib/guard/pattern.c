/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Patterns as a shell and find read them, against a name: may it be taken? A
 * set has classes, equivalents and ranges whose members the locale decides
 * (glob(7), POSIX XBD 9.3.5); where that is so the answer is yes. What it
 * refuses to do: say no of what it does not read. Policies have patterns of
 * their own (path/glob.h). Time is pattern times name.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

static unsigned char low(unsigned char ch)
{
	return ch >= 'A' && ch <= 'Z' ? (unsigned char)(ch + 32) : ch;
}

static bool is_letter(unsigned char ch)
{
	return low(ch) >= 'a' && low(ch) <= 'z';
}

/* What a set says of one byte. */
struct set {
	unsigned char ch;
	bool has, has_folded, is_unsure;
};

static bool in_class(const char *name, size_t len, unsigned char ch,
		     bool *is_known)
{
	static const char *const names[] = {
		"alpha", "lower", "upper", "digit", "alnum", "xdigit",
		"punct", "graph", "print", "space", "blank", "cntrl"
	};
	bool digit = ch >= '0' && ch <= '9', letter = is_letter(ch);
	bool graph = ch > ' ' && ch < 127;
	const bool holds[] = {
		letter, letter && ch == low(ch), letter && ch != low(ch),
		digit, letter || digit,
		digit || (letter && low(ch) <= 'f'),
		graph && !letter && !digit, graph, graph || ch == ' ',
		false, false, false
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return holds[i];
	}
	*is_known = false;
	return false;
}

/* [:alpha:], [=g=], [.g.] at p; its length, 0: it is none. */
static size_t named(const char *p, size_t n, struct set *s)
{
	bool is_known = true, has;
	size_t end = 2;

	if (n < 5 || p[0] != '[' || !memchr(":=.", p[1], 3))
		return 0;
	while (end + 1 < n && (p[end] != p[1] || p[end + 1] != ']'))
		end++;
	if (end + 1 >= n || memchr(p + 2, '/', end - 2))
		return 0;
	if (p[1] == ':') {
		has = in_class(p + 2, end - 2, s->ch, &is_known);
		s->has |= has;
		s->has_folded |= has || (is_letter(s->ch) &&
					 in_class(p + 2, end - 2,
						  s->ch ^ 32, &is_known));
	} else if (end == 3 && (unsigned char)p[2] < 128) {
		s->has |= (unsigned char)p[2] == s->ch;
		s->has_folded |= low((unsigned char)p[2]) == low(s->ch);
		/* the other case has the same weight */
		s->is_unsure |= p[1] == '=' &&
				low((unsigned char)p[2]) == low(s->ch);
	} else {
		is_known = false;
	}
	s->is_unsure |= !is_known;
	return end + 2;
}

static void add_range(struct set *s, unsigned char from, unsigned char to)
{
	unsigned char other = is_letter(s->ch) ? s->ch ^ 32 : s->ch;
	bool has = s->ch >= from && s->ch <= to;

	s->has |= has;
	s->has_folded |= has || (other >= from && other <= to);
	s->is_unsure |= from != to && (from > 127 || to > 127);
}

/* A byte of a set, or [.x.]; *i moved behind it. */
static unsigned char bound(const char *p, size_t n, size_t *i)
{
	if (*i + 4 < n && p[*i] == '[' && p[*i + 1] == '.' &&
	    p[*i + 3] == '.' && p[*i + 4] == ']') {
		*i += 5;
		return (unsigned char)p[*i - 3];
	}
	if (p[*i] == '\\' && *i + 1 < n)
		++*i;
	return (unsigned char)p[(*i)++];
}

/* The set at p: how long it is; 0: no `]` ends it, it is text. */
static size_t read_set(const char *p, size_t n, struct set *s)
{
	size_t i = 1, first, used;

	i += i < n && (p[i] == '!' || p[i] == '^');
	for (first = i; i < n && (p[i] != ']' || i == first);) {
		size_t begin = i;
		unsigned char from, to;

		if (!(i + 1 < n && p[i] == '[' && p[i + 1] == '.') &&
		    (used = named(p + i, n - i, s)) != 0) {
			i += used;
			continue;
		}
		from = to = bound(p, n, &i);
		if (i == begin + 1 && from == '[' &&
		    (used = named(p + begin, n - begin, s)) != 0) {
			i = begin + used;
			continue;
		}
		if (i + 1 < n && p[i] == '-' && p[i + 1] != ']') {
			i++;
			to = bound(p, n, &i);
		}
		add_range(s, from, to);
	}
	return i < n ? i + 1 : 0;
}

/* How long the sign at p is that may take ch; 0: it does not. */
static size_t sign_takes(const char *p, size_t n, unsigned char ch, bool fold)
{
	struct set s = { .ch = ch };
	size_t len;
	unsigned char c = (unsigned char)*p;

	if (c == '?')
		return 1;
	if (c == '[' && (len = read_set(p, n, &s)) != 0) {
		bool is_not = p[1] == '!' || p[1] == '^';
		bool may = s.is_unsure ||
			   (is_not ? !s.has || (fold && !s.has_folded)
				   : s.has || (fold && s.has_folded));

		return may ? len : 0;
	}
	len = 1;
	if (c == '\\' && n > 1)
		c = (unsigned char)p[len++];
	return c == ch || (fold && low(c) == low(ch)) ? len : 0;
}

bool ab_pattern_may_take(const char *p, size_t n, const char *name, size_t len,
			 bool fold)
{
	size_t i = 0, k = 0, star = SIZE_MAX, back = 0;

	while (k < len) {
		size_t used = 0;

		if (i < n && p[i] == '*') {
			star = ++i;
			back = k;
			continue;
		}
		if (i < n)
			used = sign_takes(p + i, n - i,
					  (unsigned char)name[k], fold);
		if (used) {
			i += used;
			k++;
		} else if (star != SIZE_MAX) {
			i = star;
			k = ++back;
		} else {
			return false;
		}
	}
	while (i < n && p[i] == '*')
		i++;
	return i == n;
}

/* The only byte that the set at p takes, and how long the set is; 0: it may
   take more, as [=e=] does. */
static size_t only_byte(const char *p, size_t n, char *only)
{
	size_t i = 1;

	if (n < 3 || p[1] == '!' || p[1] == '^' || p[1] == ']')
		return 0;
	for (*only = '\0'; i < n && p[i] != ']';) {
		bool is_named = i + 4 < n && p[i] == '[' &&
				p[i + 1] == '.' && p[i + 3] == '.' &&
				p[i + 4] == ']';
		size_t at = is_named ? i + 2 : i + (p[i] == '\\');

		if (at >= n || (*only && p[at] != *only) ||
		    (!is_named && p[at] == '[' && at == i))
			return 0;
		*only = p[at];
		i = is_named ? i + 5 : at + 1;
	}
	return i < n && *only != '/' && !(*only & 0x80) ? i + 1 : 0;
}

size_t ab_pattern_plain(const char *p, size_t n, char *out)
{
	size_t len = 0;

	for (size_t i = 0; i < n;) {
		char only = p[i];
		size_t used = 0;

		if (p[i] == '[') {
			used = only_byte(p + i, n - i, &only);
		} else if (p[i] == '\\' && i + 1 < n) {
			only = p[i + 1];
			used = 2;
		}
		if (used && memchr("*?[\\({", only, 6))
			used = 0;
		out[len++] = used ? only : p[i];
		i += used ? used : 1;
	}
	return len;
}
