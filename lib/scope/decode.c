/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encodings that stand in the middle of a text: percent (RFC 3986 section
 * 2.1, and %uXXXX), escapes with a backslash (JSON, C, shell), character
 * references (HTML section 13.5), quoted-printable (RFC 2045 section 6.7),
 * and a text that quotes cut into pieces. One pass takes all of a kind; what
 * it leaves is looked at again.
 */
#include "config.h"

#include <string.h>

#include "base/digit.h"
#include "base/utf8.h"
#include "scope/internal.h"

size_t ab_scope_number(const char *p, size_t n, int base, size_t most,
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
void ab_scope_text_put(struct ab_scope_text *t, uint32_t c)
{
	t->n += ab_utf8_put(t->p + t->n, c);
}

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

		len = ab_scope_number(p + 2 + brace, n - 2 - brace, 16,
				      brace ? 6 : 2, &c);
		if (len) {
			if (brace)
				ab_scope_text_put(t, c);
			else
				put_byte(t, c);
			brace += brace && 3 + len < n && p[3 + len] == '}';
			return 2 + len + brace;
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
			put_byte(&t, (unsigned char)*at);
			ab_scope_text_copied(&t, *at);
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

#define MAX_COMMENT 64

static bool has_quotes(const struct ab_plain *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (is_quote(p->c[i]) || p->c[i] == '\\' || p->c[i] == '^' ||
		    p->c[i] == '$' ||
		    (p->c[i] == '<' && i + 1 < p->n && p->c[i + 1] == '!'))
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

/* "<![CDATA[", "]]>" and a comment, which leave no trace in a text. */
static size_t markup(const struct ab_plain *p, size_t i)
{
	size_t left = p->n - i;
	size_t at = i + 4;

	if (left >= 9 && memcmp(p->c + i, "<![CDATA[", 9) == 0)
		return 9;
	if (left >= 3 && memcmp(p->c + i, "]]>", 3) == 0)
		return 3;
	if (left < 7 || memcmp(p->c + i, "<!--", 4) != 0)
		return 0;
	while (at + 2 < p->n && at - i < MAX_COMMENT &&
	       memcmp(p->c + at, "-->", 3) != 0)
		at++;
	return at + 2 < p->n && at - i < MAX_COMMENT ? at + 3 - i : 0;
}

/* A URL whose reader takes tabs and breaks out (URL Standard, 4.4). */
static bool is_broken_url(const struct ab_plain *p)
{
	bool found = false;

	if (!memchr(p->c, '\t', p->n) && !memchr(p->c, '\n', p->n) &&
	    !memchr(p->c, '\r', p->n))
		return false;
	for (size_t i = 0; i + 2 < p->n && p->c[i] != ' '; i++)
		found |= memcmp(p->c + i, "://", 3) == 0;
	return found && !memchr(p->c, ' ', p->n);
}

/* How many characters of i go, because they only hold pieces together;
   *mark is of what comes then. */
static size_t glue(const struct ab_plain *p, size_t i, bool is_url,
		   bool *in_default, uint8_t *mark)
{
	char c = p->c[i];
	size_t at;

	*mark = AB_MARK_GAP;
	if (is_url && is_space(c))
		return 1;
	if (c == '<' || c == ']')
		return markup(p, i);
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
	bool is_url = is_broken_url(p);
	bool in_default = false;
	uint8_t next = 0;
	uint8_t *mark;
	char *c;

	if ((!is_url && !has_quotes(p)) ||
	    !ab_scope_text_begin(l, &t, p->n + 8))
		return false;
	mark = ab_arena_low(l->arena, p->n + 9);
	if (!mark)
		return false;
	mark[0] = 0;
	for (size_t i = 0; i < p->n;) {
		uint8_t gap;
		size_t len = glue(p, i, is_url, &in_default, &gap);

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

/* --- lines ---------------------------------------------------------------- */

/* Nothing but one of the encodings with blanks in it. */
static bool is_loose(const struct ab_plain *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (!ab_scope_is_alnum(p->c[i]) && !is_space(p->c[i]) &&
		    !(p->c[i] && strchr("+/-_=", p->c[i])))
			return false;
	return true;
}

/* Base64 and hex in lines, as MIME and PEM have them, and in groups: without
   the breaks. */
bool ab_scope_unwrap(struct ab_scope_look *l, const struct ab_plain *p,
		     char **out, size_t *n)
{
	char *text;
	bool changed = false;
	bool loose = is_loose(p);
	size_t used = 0;

	if (!loose && !memchr(p->c, '\n', p->n))
		return false;
	text = ab_arena_low(l->arena, p->n + 8);
	if (!text)
		return false;
	for (size_t i = 0; i < p->n; i++) {
		size_t end = skip_spaces(p, i);

		if (end > i && (loose || memchr(p->c + i, '\n', end - i))) {
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
