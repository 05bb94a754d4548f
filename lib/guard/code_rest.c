/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls of a program's own functions whose last parameter is all that follow,
 * `def sh(*words)`, with something among those that is no literal: they are
 * read when the names of the program are known. What nobody knows is a word
 * that is not known, as in a list. Refuses what may be one of several in more
 * than one place: the parameter then is not known.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

#define MAX_TOKENS 64 /* of an argument */
#define MAX_ARGS 16

bool ab_code_next_argument(const struct ab_code *k, struct ab_lexer *x,
			   bool is_bare, bool *is_cut)
{
	struct ab_token t;
	int depth = 0;

	for (uint32_t n = 0; n < MAX_TOKENS; n++) {
		if (!ab_lexer_next(x, &t) ||
		    (is_bare && !depth && n && ab_code_ends_words(k, &t)))
			return false;
		if (t.kind != AB_TOKEN_SIGN || t.len != 1)
			continue;
		if (memchr("([{", k->text->text[t.at], 3))
			depth++;
		else if (memchr(")]}", k->text->text[t.at], 3))
			depth--;
		else if (!depth && ab_code_is_sign(k, &t, ','))
			return true;
		if (depth < 0)
			return false;
	}
	*is_cut = true;
	return false;
}

/* a=x */
static bool is_keyword(const struct ab_code *k, struct ab_lexer x)
{
	struct ab_token t, next;

	return ab_lexer_next(&x, &t) && t.kind == AB_TOKEN_WORD &&
	       ab_lexer_next(&x, &next) && ab_code_is_sign(k, &next, '=') &&
	       !(x.pos < x.len && x.text[x.pos] == '=');
}

/* *x; the lexer then is behind the sign. */
static bool is_spread(const struct ab_code *k, struct ab_lexer *x)
{
	struct ab_lexer behind = *x;
	struct ab_token t;

	if (!ab_lexer_next(&behind, &t) || !ab_code_is_sign(k, &t, '*') ||
	    (behind.pos < behind.len && behind.text[behind.pos] == '*'))
		return false;
	*x = behind;
	return true;
}

static bool ends(const struct ab_code *k, struct ab_lexer x)
{
	struct ab_token t;

	return !ab_lexer_next(&x, &t) || ab_code_is_sign(k, &t, ',') ||
	       ab_code_is_sign(k, &t, ')');
}

/* "x", with nothing behind it. */
static bool is_literal(const struct ab_code *k, struct ab_lexer x)
{
	struct ab_token t;

	return ab_lexer_next(&x, &t) && t.kind == AB_TOKEN_STRING &&
	       ends(k, x);
}

bool ab_code_defer_rest(struct ab_code *k, struct ab_lexer x,
			const struct ab_token *to, uint32_t from)
{
	struct ab_lexer at = x;
	bool is_cut = false, is_plain = true;
	uint32_t i = 0;

	if (k->lang != AB_PY || k->rest_count == AB_CODE_RESTS)
		return false;
	/* sh(*x) is known where x is */
	do {
		is_plain &= i < from || is_keyword(k, at) || is_literal(k, at);
		i++;
	} while (i < MAX_ARGS && ab_code_next_argument(k, &at, false, &is_cut));
	if (is_plain || is_cut || i == MAX_ARGS)
		return false;
	k->rests[k->rest_count++] = (struct ab_rest){ .x = x, .to = *to,
						      .from = from };
	return true;
}

/* What the expression is made of is known only in part, or later. */
static bool is_open(const struct ab_code *k, struct ab_lexer x)
{
	const uint32_t begin = x.pos;
	struct ab_lexer end = x;
	struct ab_token t;
	bool is_cut = false;

	(void)ab_code_next_argument(k, &end, false, &is_cut);
	while (ab_lexer_next(&x, &t) && x.pos <= end.pos) {
		const struct ab_named *f = t.kind == AB_TOKEN_WORD
						   ? ab_code_result(k, &t)
						   : NULL;

		if ((f && f->is_noted) ||
		    (t.kind == AB_TOKEN_WORD && ab_code_is_linked(k, &t)))
			return true;
		if (t.kind == AB_TOKEN_WORD && ab_code_named(k, &t) &&
		    ab_code_is_noted(k, &t))
			return true;
	}
	return is_cut || x.pos == begin;
}

/* Nothing in it is known: no text, and no name that stands for one. */
static bool is_dark(const struct ab_code *k, struct ab_lexer x)
{
	struct ab_lexer end = x;
	const struct ab_named *n;
	struct ab_token t;
	bool is_cut = false;

	(void)ab_code_next_argument(k, &end, false, &is_cut);
	while (ab_lexer_next(&x, &t) && x.pos <= end.pos) {
		n = t.kind == AB_TOKEN_WORD ? ab_code_named(k, &t) : NULL;
		if (t.kind == AB_TOKEN_STRING ||
		    (n && (n->count || n->call)) ||
		    (t.kind == AB_TOKEN_WORD && ab_code_result(k, &t)))
			return false;
	}
	return !is_cut;
}

/* One argument; false: which words it gives is not known. */
static bool read_argument(struct ab_code *k, struct ab_lexer x,
			  struct ab_made *m, bool *is_several)
{
	const bool spreads = is_spread(k, &x);
	struct ab_lexer behind = x;

	if (is_open(k, x))
		return false;
	if ((ab_code_read_expr(k, &behind, m, AB_NEED_ANY) ||
	     ab_code_read_expr(k, &behind, m, AB_NEED_WORD)) &&
	    ends(k, behind) && !m->is_cut && m->is_list == spreads &&
	    !(m->count == 1 && ab_code_is_hole(&m->words[0]))) {
		*is_several = !m->is_list && m->count > 1;
		return true;
	}
	if (!is_dark(k, x))
		return false;
	ab_made_hole(k, m);
	return true;
}

bool ab_code_spreads_cut(const struct ab_code *k, const struct ab_token *t)
{
	const struct ab_named *n = ab_code_named(k, t);
	const char *s = k->text->text + t->at;

	return n && n->is_cut && !n->count && !n->call &&
	       (*--s == '*' || (t->at > 2 && !memcmp(s - 2, "..", 2)));
}

/* The list with one of the values in place `at`. */
static void put_list(struct ab_code *k, struct ab_named *n,
		     const struct ab_made *all, uint32_t count, uint32_t at,
		     uint32_t which)
{
	n->is_list = true;
	if (n->count < AB_CODE_VALUES)
		n->begins |= UINT32_C(1) << n->count;
	for (uint32_t i = 0; i < count; i++) {
		const struct ab_made *m = &all[i];

		for (uint32_t w = 0; w < m->count; w++)
			if (i != at || w == which)
				ab_code_add_value(k, n, &m->words[w], false);
	}
	k->last = NULL; /* a text of somebody else */
}

static void read_rest(struct ab_code *k, const struct ab_rest *r)
{
	struct ab_named *n = ab_code_add_named(k, &r->to);
	struct ab_made all[MAX_ARGS];
	struct ab_lexer x = r->x;
	uint32_t count = 0, at = MAX_ARGS;
	bool is_cut = false;

	if (!n || n->is_cut)
		return;
	for (uint32_t i = 0;; i++) {
		bool is_several = false;

		if (i >= r->from && !is_keyword(k, x)) {
			if (!read_argument(k, x, &all[count], &is_several) ||
			    (is_several && at < MAX_ARGS)) {
				n->is_cut = true;
				return;
			}
			at = is_several ? count : at;
			count++;
		}
		if (!ab_code_next_argument(k, &x, false, &is_cut))
			break;
	}
	for (uint32_t i = 0; i < (at < MAX_ARGS ? all[at].count : 1); i++)
		put_list(k, n, all, count, at, i);
}

void ab_code_read_rests(struct ab_code *k)
{
	for (uint32_t i = 0; i < k->rest_count; i++)
		read_rest(k, &k->rests[i]);
}
