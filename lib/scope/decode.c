/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A text that is made of another one, line by line, and two of them: what is
 * left when quotes that cut it into pieces are taken out, and lines of base64
 * or hex without their breaks.
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

/* --- quotes --------------------------------------------------------------- */

static bool is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

/* Of all comments behind one quote: each quote may begin another row of them,
   and looking on to the end of the text for each takes too long. */
#define MAX_COMMENT 4096

/* Behind the comment of SQL that begins at `at` and ends by `to`; or `at`. */
static size_t skip_comment(const struct ab_plain *p, size_t at, size_t to)
{
	bool is_line;
	const char *end;

	if (at + 3 >= to)
		return at;
	is_line = p->c[at] == '-' && p->c[at + 1] == '-';
	if (!is_line && (p->c[at] != '/' || p->c[at + 1] != '*'))
		return at;
	end = memmem(p->c + at + 2, to - at - 2, is_line ? "\n" : "*/",
		     is_line ? 1 : 2);
	return end ? (size_t)(end - p->c) + (is_line ? 1 : 2) : at;
}

/* Spaces, and comments of SQL among them, which are as good as one. */
static size_t skip_blank(const struct ab_plain *p, size_t i)
{
	size_t to = p->n - i < MAX_COMMENT ? p->n : i + MAX_COMMENT;
	size_t at = ab_scope_skip_spaces(p, i), end;

	while ((end = skip_comment(p, at, to)) != at)
		at = ab_scope_skip_spaces(p, end);
	return at;
}

/*
 * Behind a closing quote: `+`, `||`, `.`, `&`, nothing or a comma, and the
 * quote of the next piece. Where that is, or `i`.
 */
static size_t operator_end(const struct ab_plain *p, size_t i)
{
	size_t at = skip_blank(p, i);
	size_t sign = at;

	while (at < p->n && at < sign + 2 && p->c[at] &&
	       strchr("+|.&,~", p->c[at]))
		at++;
	at = at == sign ? at : skip_blank(p, at);
	if (at < p->n && is_quote(p->c[at]))
		return at + 1;
	/* 'sb-' || 2 */
	return sign < at && p->c[sign] != ',' && p->c[sign] != '.' ? at : i;
}

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
	const char *end;

	if (left >= 9 && memcmp(p->c + i, "<![CDATA[", 9) == 0)
		return 9;
	if (left >= 3 && memcmp(p->c + i, "]]>", 3) == 0)
		return 3;
	if (left < 7 || memcmp(p->c + i, "<!--", 4) != 0)
		return 0;
	end = memmem(p->c + i + 4,
		     (left < MAX_COMMENT ? left : MAX_COMMENT) - 4, "-->", 3);
	return end ? (size_t)(end - p->c) + 3 - i : 0;
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
	if (is_url && ab_scope_is_space(c))
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
		if (!ab_scope_is_alnum(p->c[i]) &&
		    !ab_scope_is_space(p->c[i]) &&
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
		size_t end = ab_scope_skip_spaces(p, i);

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
