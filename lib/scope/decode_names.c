/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A text that gives names to pieces and puts them together: A=sb; host=$A-2,
 * a = "sb"; f"{a}-2". Every NAME=value counts from its place on, as the last
 * one before a use does in a script that runs from top to bottom; what is
 * computed otherwise cannot be known from the text (agentbox_scope(3)).
 */
#include "config.h"

#include <string.h>

#include "scope/internal.h"

#define MAX_NAMES 32
#define MAX_NAME 32
#define MAX_VALUE 128

struct piece {
	size_t name, name_len;
	size_t value, value_len;
	bool is_quoted;
};

struct pieces {
	const struct ab_plain *p;
	struct piece items[MAX_NAMES];
	size_t count;
	struct ab_scope_text out;
	size_t room;
	bool is_cut;
};

static bool is_first(char c)
{
	return c == '_' || (ab_scope_is_alnum(c) && !(c >= '0' && c <= '9'));
}

static size_t name_end(const struct ab_plain *p, size_t i)
{
	if (i >= p->n || !is_first(p->c[i]))
		return i;
	while (i < p->n && (ab_scope_is_alnum(p->c[i]) || p->c[i] == '_'))
		i++;
	return i;
}

/* NAME=value or NAME = "value" at i; where to go on. */
static void note(struct pieces *s, size_t i, size_t e)
{
	const struct ab_plain *p = s->p;
	struct piece *piece = &s->items[s->count % MAX_NAMES];
	size_t at = e;
	char quote = '\0';

	while (at < p->n && p->c[at] == ' ')
		at++;
	if (at < p->n && p->c[at] == ':')
		at++;
	if (at >= p->n || p->c[at] != '=' || e - i > MAX_NAME)
		return;
	for (at++; at < p->n && p->c[at] == ' ';)
		at++;
	if (at < p->n && (p->c[at] == '"' || p->c[at] == '\''))
		quote = p->c[at++];
	*piece = (struct piece){ i, e - i, at, 0, false };
	while (at < p->n && at - piece->value < MAX_VALUE &&
	       (quote ? p->c[at] != quote : !strchr(" \t\n;&|)", p->c[at])))
		at++;
	piece->value_len = at - piece->value;
	piece->is_quoted = quote && at < p->n && p->c[at] == quote;
	s->count++;
}

static const struct piece *find(const struct pieces *s, size_t i, size_t n)
{
	size_t kept = s->count < MAX_NAMES ? s->count : MAX_NAMES;

	for (size_t k = 1; k <= kept; k++) {
		const struct piece *piece =
			&s->items[(s->count - k) % MAX_NAMES];

		if (piece->name_len == n &&
		    memcmp(s->p->c + piece->name, s->p->c + i, n) == 0)
			return piece;
	}
	return NULL;
}

static void put(struct pieces *s, size_t i, size_t n)
{
	if (n > s->room - s->out.n) {
		n = s->room - s->out.n;
		s->is_cut = true;
	}
	memcpy(s->out.p + s->out.n, s->p->c + i, n);
	s->out.n += n;
}

/* $NAME, ${NAME}, {NAME}, %NAME%, @NAME at i: what it is, and its end. */
static const struct piece *use_at(const struct pieces *s, size_t i, size_t *end)
{
	const struct ab_plain *p = s->p;
	size_t at = i + (p->c[i] && strchr("$#@", p->c[i]));
	char close = '\0';
	size_t e;

	if (at < p->n && p->c[at] == '{')
		close = '}';
	else if (at == i && p->c[i] == '%')
		close = '%';
	else if (at == i)
		return NULL;
	at += close != '\0';
	e = name_end(p, at);
	if (e == at || (close && (e >= p->n || p->c[e] != close)))
		return NULL;
	*end = e + (close != '\0');
	return find(s, at, e - at);
}

bool ab_scope_named(struct ab_scope_look *l, const struct ab_plain *p,
		    char **out, size_t *n)
{
	struct pieces s = { .p = p, .room = 2 * p->n + MAX_VALUE };

	if (!memchr(p->c, '=', p->n) ||
	    !ab_scope_text_begin(l, &s.out, s.room))
		return false;
	for (size_t i = 0; i < p->n;) {
		size_t end = i + 1;
		const struct piece *piece =
			p->c[i] && strchr("$#{%@", p->c[i]) ?
				use_at(&s, i, &end) : NULL;

		if (piece) {
			/* SQL's is a value, the others' are pieces of a text */
			size_t quote = p->c[i] == '@' && piece->is_quoted;

			s.out.changed = true;
			put(&s, piece->value - quote,
			    piece->value_len + 2 * quote);
			i = end;
			continue;
		}
		end = ab_scope_begins(p, i) ? name_end(p, i) : i;
		if (end > i)
			note(&s, i, end);
		end = end > i ? end : i + 1;
		put(&s, i, end - i);
		ab_scope_text_copied(&s.out, p->c[end - 1]);
		i = end;
	}
	if (s.is_cut)
		l->saw(l->data, AB_SAW_LIMIT, NULL, l->level);
	return ab_scope_text_end(&s.out, out, n);
}
