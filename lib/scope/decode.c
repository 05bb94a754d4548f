/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encodings that stand in the middle of a text: percent (RFC 3986 section
 * 2.1, and %uXXXX), escapes with a backslash (JSON, C, shell), character
 * references (HTML section 13.5), quoted-printable (RFC 2045 section 6.7),
 * lists of character codes, and a text that quotes cut into pieces. One pass
 * takes all of a kind; what it leaves is looked at again.
 */
#include "config.h"

#include <string.h>

#include "base/digit.h"
#include "base/utf8.h"
#include "scope/internal.h"

/* Up to `most` digits of `base` at p; how many there are. */
static size_t number(const char *p, size_t n, int base, size_t most,
		     uint32_t *value)
{
	size_t i = 0;
	int d;

	for (*value = 0; i < n && i < most; i++) {
		d = ab_digit(p[i]);
		if (d < 0 || d >= base)
			break;
		*value = *value * (uint32_t)base + (uint32_t)d;
	}
	return i;
}

/* A line that is longer ends at a space, too. */
#define LONG_LINE 512

bool ab_scope_text_begin(struct ab_scope_look *l, struct ab_scope_text *t,
			 size_t room)
{
	*t = (struct ab_scope_text){ .p = ab_arena_low(l->arena, room + 1) };
	if (!t->p)
		return false;
	t->p[0] = '\n';
	t->n = t->line = 1;
	return true;
}

static void end_line(struct ab_scope_text *t)
{
	if (t->changed) {
		t->line = t->n;
		t->any = true;
	} else if (t->n > t->line) {
		t->n = t->line;
		t->left_out = true;
	}
	t->changed = false;
}

void ab_scope_text_copied(struct ab_scope_text *t, char c)
{
	if (c == '\n' ||
	    ((c == ' ' || c == '\t') && t->n - t->line >= LONG_LINE))
		end_line(t);
}

bool ab_scope_text_end(struct ab_scope_text *t, char **out, size_t *n)
{
	end_line(t);
	*out = t->p + !t->left_out;
	*n = t->n - !t->left_out;
	return t->any;
}

/* At most as long as the shortest escape that stands for it. */
static void put(struct ab_scope_text *t, uint32_t c)
{
	if (c < 0x100) {
		t->p[t->n++] = (char)c;
		return;
	}
	t->n += ab_utf8_put(t->p + t->n, c);
}

/* --- percent, backslash, references --------------------------------------- */

static size_t percent(const char *p, size_t n, struct ab_scope_text *t)
{
	uint32_t c;

	if (n >= 6 && (p[1] | 0x20) == 'u' &&
	    number(p + 2, 4, 16, 4, &c) == 4) {
		put(t, c);
		return 6;
	}
	if (n >= 3 && number(p + 1, 2, 16, 2, &c) == 2) {
		put(t, c);
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
		len = number(p + 3, n - 3, 16, 6, &c);
		if (!len || 3 + len >= n || p[3 + len] != '}')
			return 0;
		put(t, c);
		return len + 4;
	}
	len = p[1] == 'U' ? 8 : 4;
	if (n < 2 + len || number(p + 2, len, 16, len, &c) != len)
		return 0;
	if (c >= 0xd800 && c < 0xdc00 && n >= 12 && p[6] == '\\' &&
	    p[7] == 'u' && number(p + 8, 4, 16, 4, &low) == 4 &&
	    low >= 0xdc00 && low < 0xe000) {
		put(t, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
		return 12;
	}
	put(t, c);
	return 2 + len;
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
	if (p[1] == 'x' && n > 2) {
		size_t brace = p[2] == '{';

		len = number(p + 2 + brace, n - 2 - brace, 16, brace ? 6 : 2,
			     &c);
		if (len) {
			put(t, c);
			brace += brace && 3 + len < n && p[3 + len] == '}';
			return 2 + len + brace;
		}
	}
	len = number(p + 1, n - 1, 8, p[1] == '0' ? 4 : 3, &c);
	if (len) {
		put(t, c & 0xff);
		return 1 + len;
	}
	found = p[1] ? strchr(from, p[1]) : NULL;
	put(t, (unsigned char)(found ? to[found - from] : p[1]));
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
		put(t, (unsigned char)names[i].c);
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
	len = number(p + from, n - from, hex ? 16 : 10, 7, &c);
	if (!len || c > 0x10ffff)
		return 0;
	put(t, c);
	return from + len + (from + len < n && p[from + len] == ';');
}

bool ab_scope_unescape(struct ab_scope_look *l, const struct ab_plain *p,
		       char **out, size_t *n)
{
	struct ab_scope_text t;

	if (!ab_scope_text_begin(l, &t, p->n + 16))
		return false;
	for (size_t i = 0; i < p->n;) {
		const char *at = p->c + i;
		size_t left = p->n - i;
		size_t len = *at == '%'	 ? percent(at, left, &t) :
			     *at == '\\' ? backslash(at, left, &t) :
			     *at == '&'	 ? reference(at, left, &t) :
					   0;

		t.changed |= len != 0;
		if (!len) {
			put(&t, (unsigned char)*at);
			ab_scope_text_copied(&t, *at);
		}
		i += len ? len : 1;
	}
	return ab_scope_text_end(&t, out, n);
}

static bool is_upper_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}

/* "=2D", or a line that goes on: how long, and its byte, -1: none. */
static size_t code(const char *p, size_t n, int *byte)
{
	*byte = -1;
	if (n > 1 && p[1] == '\n')
		return 2;
	if (n > 2 && p[1] == '\r' && p[2] == '\n')
		return 3;
	if (n < 3 || !is_upper_hex(p[1]) || !is_upper_hex(p[2]))
		return 0;
	*byte = ab_hex_digit(p[1]) * 16 + ab_hex_digit(p[2]);
	return 3;
}

/* Two codes at least: "?a=20" is not one. */
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
		size_t len = p->c[i] != '=' ? 0 :
					      code(p->c + i, p->n - i, &byte);

		t.changed |= len != 0;
		codes += len != 0;
		if (byte >= 0)
			put(&t, (uint32_t)byte);
		if (!len) {
			put(&t, (unsigned char)p->c[i]);
			ab_scope_text_copied(&t, p->c[i]);
		}
		i += len ? len : 1;
	}
	return ab_scope_text_end(&t, out, n) && codes > 1;
}

/* --- quotes --------------------------------------------------------------- */

static bool is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t skip_spaces(const struct ab_plain *p, size_t i)
{
	while (i < p->n && is_space(p->c[i]))
		i++;
	return i;
}

/*
 * Behind a closing quote: `+`, `||`, `.`, `&`, nothing or a comma, and the
 * quote of the next piece. Where that is, or `i`.
 */
static size_t operator_end(const struct ab_plain *p, size_t i)
{
	size_t at = skip_spaces(p, i);
	size_t sign = at;

	while (at < p->n && at < sign + 2 && p->c[at] &&
	       strchr("+|.&,~", p->c[at]))
		at++;
	at = at == sign ? at : skip_spaces(p, at);
	if (at < p->n && is_quote(p->c[at]))
		return at + 1;
	/* 'sb-' || 2 */
	return sign < at && p->c[sign] != ',' && p->c[sign] != '.' ? at : i;
}

static bool has_quotes(const struct ab_plain *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (is_quote(p->c[i]) || p->c[i] == '\\' || p->c[i] == '^' ||
		    p->c[i] == '$')
			return true;
	return false;
}

/* "${X:-sb-}" and "${X-sb-}" may be what stands behind the sign: its end. */
static size_t default_begin(const struct ab_plain *p, size_t i)
{
	size_t at = i + 2;

	if (i + 2 >= p->n || p->c[i] != '$' || p->c[i + 1] != '{')
		return 0;
	while (at < p->n && at < i + 66 &&
	       (ab_scope_is_alnum(p->c[at]) || p->c[at] == '_'))
		at++;
	if (at + 1 < p->n && p->c[at] == ':')
		at++;
	return at + 1 < p->n && p->c[at] && strchr("-=+", p->c[at]) ? at + 1 :
								      0;
}

/* How many characters of i go, because they only hold pieces together;
   *mark is of what comes then. */
static size_t glue(const struct ab_plain *p, size_t i, bool *in_default,
		   uint8_t *mark)
{
	char c = p->c[i];
	size_t at;

	*mark = AB_MARK_GAP;
	if (is_quote(c)) {
		at = operator_end(p, i + 1);
		if (at > i + 1 && !is_quote(p->c[at - 1]))
			*mark |= AB_MARK_OPEN;
		return at - i;
	}
	if (c == '\\' && i + 1 < p->n && p->c[i + 1] == '\n')
		return 2;
	if (c == '\\' || c == '^')
		return 1;
	if (c == '$' && i + 1 < p->n && is_quote(p->c[i + 1]))
		return 1;
	at = default_begin(p, i);
	if (at) {
		*in_default = true;
		return at - i;
	}
	if (c == '}' && *in_default) {
		*in_default = false;
		return 1;
	}
	return 0;
}

bool ab_scope_join(struct ab_scope_look *l, const struct ab_plain *p,
		   struct ab_plain *out)
{
	struct ab_scope_text t;
	bool in_default = false;
	uint8_t next = 0;
	uint8_t *mark;
	char *c;

	if (!has_quotes(p) || !ab_scope_text_begin(l, &t, p->n + 8))
		return false;
	mark = ab_arena_low(l->arena, p->n + 9);
	if (!mark)
		return false;
	mark[0] = 0;
	for (size_t i = 0; i < p->n;) {
		uint8_t gap;
		size_t len = glue(p, i, &in_default, &gap);

		if (len) {
			next |= gap;
			t.changed = true;
			i += len;
			continue;
		}
		mark[t.n] = (uint8_t)((p->mark ? p->mark[i] : 0) | next);
		t.p[t.n++] = p->c[i];
		next = 0;
		ab_scope_text_copied(&t, p->c[i]);
		i++;
	}
	*out = (struct ab_plain){ .end_gap = next != 0 || p->end_gap };
	if (!ab_scope_text_end(&t, &c, &out->n))
		return false;
	out->c = c;
	out->mark = mark + (c - t.p);
	return true;
}

/* --- lists of codes ------------------------------------------------------- */

/* Between two codes: "," ", " ")||chr(" ":" "\\x" and the like. */
#define MAX_BETWEEN 14

struct codes {
	struct ab_scope_text text;
	size_t run; /* codes since the last end */
	bool found;
};

static void end_codes(struct codes *s)
{
	if (s->run >= 4)
		s->found = true;
	else
		s->text.n -= s->run;
	if (s->run >= 4)
		put(&s->text, '\n');
	s->run = 0;
}

static size_t one_code(const char *p, size_t n, int base, uint32_t *c)
{
	size_t skip = base == 16 && n > 2 && p[0] == '0' && p[1] == 'x' ? 2 : 0;
	size_t len = number(p + skip, n - skip, base, 4, c);

	if (base == 16)
		return len == 2 ? skip + len : 0;
	return len && len <= 3 && *c < 256 ? len : 0;
}

static bool is_code_char(char c, unsigned base)
{
	return base == 16 ? ab_scope_is_alnum(c) : c >= '0' && c <= '9';
}

/* Codes of `base` with something between them, four at least in a row. */
bool ab_scope_numbers(struct ab_scope_look *l, const struct ab_plain *p,
		      unsigned base, char **out, size_t *n)
{
	struct codes s = { { .p = ab_arena_low(l->arena, p->n + 16) }, 0, 0 };
	size_t last = 0;

	if (!s.text.p)
		return false;
	for (size_t i = 0; i < p->n;) {
		uint32_t c;
		size_t len;

		if (!is_code_char(p->c[i], base)) {
			i++;
			continue;
		}
		len = one_code(p->c + i, p->n - i, (int)base, &c);
		if (len && i + len < p->n && is_code_char(p->c[i + len], base))
			len = 0;
		if (!len ||
		    (s.run && i - last > (base == 16 ? 4 : MAX_BETWEEN)))
			end_codes(&s);
		if (len) {
			put(&s.text, c);
			s.run++;
		}
		while (!len && i < p->n && is_code_char(p->c[i], base))
			i++;
		i += len;
		last = i;
	}
	end_codes(&s);
	*out = s.text.p;
	*n = s.text.n;
	return s.found;
}

/* --- lines ---------------------------------------------------------------- */

/* Base64 and hex in lines, as MIME and PEM have them: without the breaks. */
bool ab_scope_unwrap(struct ab_scope_look *l, const struct ab_plain *p,
		     char **out, size_t *n)
{
	char *text;
	bool changed = false;
	size_t used = 0;

	if (!memchr(p->c, '\n', p->n))
		return false;
	text = ab_arena_low(l->arena, p->n + 8);
	if (!text)
		return false;
	for (size_t i = 0; i < p->n; i++) {
		size_t end = skip_spaces(p, i);

		if (end > i && memchr(p->c + i, '\n', end - i)) {
			changed = true;
			i = end - 1;
			continue;
		}
		text[used++] = end > i ? ' ' : p->c[i];
		i = end > i ? end - 1 : i;
	}
	*out = text;
	*n = used;
	return changed;
}
