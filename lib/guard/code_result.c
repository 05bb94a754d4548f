/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the functions of an inline program return: f() is one of the values that
 * its `return`s have, or what stands behind the arrow of a function without a
 * body. Refuses to follow which of them a call makes, and what is made of a
 * function: of one that is decorated, yields or has another one in its body,
 * there may be more.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

#define MAX_TOKENS 48 /* of parameters */
#define NOWHERE UINT32_MAX

static struct ab_token result_of(const struct ab_token *function)
{
	struct ab_token name = *function;

	name.quote = AB_CODE_RESULT;
	return name;
}

const struct ab_named *ab_code_result(const struct ab_code *k,
				      const struct ab_token *t)
{
	const struct ab_token name = result_of(t);
	const struct ab_named *n = k->functions ? ab_code_named(k, &name)
						: NULL, *of;

	if (!n)
		return NULL;
	/* def x(f): f(), of what somebody gives it */
	of = ab_code_named(k, t);
	return (of && of->is_cut) || ab_code_is_linked(k, t) ? NULL : n;
}

static void note_unknown(struct ab_code *k, const struct ab_token *function)
{
	const struct ab_token name = result_of(function);

	ab_code_note_unknown(k, &name);
}

static void set(struct ab_code *k, struct ab_lexer x,
		const struct ab_token *function)
{
	const struct ab_token name = result_of(function);
	struct ab_named *n = ab_code_add_named(k, &name);
	const uint32_t edits = n ? n->edits : 0;

	if (!n)
		return;
	/* "a", "b" is a list */
	n->is_cut |= ab_code_read_value(k, x, &name, AB_VALUE_SET) == ',';
	if (n->is_cut || (n->edits == edits && !ab_code_is_nothing(k, x)))
		ab_code_note_unknown(k, &name);
	/* a function that it returns is not followed */
	n->call = 0;
}

/* Behind the sign that ends the parameters, which begin at the lexer; false:
   there is none. */
static bool skip_params(const struct ab_code *k, struct ab_lexer *x)
{
	struct ab_token t;
	int depth = 0;

	for (uint32_t i = 0; i < MAX_TOKENS && ab_lexer_next(x, &t); i++) {
		if (t.kind != AB_TOKEN_SIGN)
			continue;
		depth += ab_code_is_sign(k, &t, '(');
		depth -= ab_code_is_sign(k, &t, ')');
		if (depth)
			continue;
		if (k->lang == AB_PY && ab_code_is_sign(k, &t, ':'))
			return true;
		if (ab_code_is_sign(k, &t, '='))
			return k->lang == AB_JS &&
			       ab_code_next_byte(k->text, x->pos) == '>' &&
			       ab_lexer_next(x, &t);
		if (ab_code_is_sign(k, &t, ';'))
			return false;
	}
	return false;
}

/* How far in the line of python begins that has the word; NOWHERE: it is not
   the first word of it, or what stands before it goes on there. */
static uint32_t column_of(const struct ab_code *k, const struct ab_token *t)
{
	const char *s = k->text->text;
	uint32_t at = t->at, end = at;

	if (at > 5 && !memcmp(s + at - 6, "async ", 6))
		at = end -= 6;
	while (at && memchr(" \t", s[at - 1], 2))
		at--;
	if (at && (s[at - 1] != '\n' || (at > 1 && s[at - 2] == '\\')))
		return NOWHERE;
	return end - at;
}

/* The function of that name begins; at: how far in. What stands behind one that
   is in another one's body may be the other one's again. */
static void begin(struct ab_code *k, const struct ab_token *name, uint32_t at)
{
	const struct ab_token outer = result_of(&k->function);

	if (outer.len && at > k->function_at && ab_code_named(k, &outer))
		ab_code_note_unknown(k, &outer);
	if (k->is_decorated)
		note_unknown(k, name);
	k->is_decorated = false;
	k->function = *name;
	k->function_at = at == NOWHERE ? 0 : at;
}

/* @f, def x, class x, yield x: what x() is, is what something else makes. */
static void read_python(struct ab_code *k, const struct ab_token *before,
			const struct ab_token *t, const struct ab_token *next)
{
	if (ab_code_is_sign(k, before, '@')) {
		k->is_decorated |= column_of(k, before) != NOWHERE;
	} else if (ab_code_is_text(k, t, "yield") && k->function.len) {
		note_unknown(k, &k->function);
	} else if (ab_code_is_text(k, t, "class") &&
		   next->kind == AB_TOKEN_WORD) {
		const struct ab_token name = result_of(next);

		if (ab_code_named(k, &name))
			ab_code_note_unknown(k, &name);
		k->is_decorated = false;
		if (column_of(k, t) <= k->function_at)
			k->function.len = 0;
	}
}

/* f = lambda x: ..., f = (x) => ...; behind the sign. */
static void read_arrow(struct ab_code *k, struct ab_lexer x,
		       const struct ab_token *name)
{
	struct ab_lexer behind = x;
	struct ab_token t;

	if (!ab_lexer_next(&behind, &t))
		return;
	if (k->lang == AB_PY) {
		if (ab_code_is_text(k, &t, "lambda") && skip_params(k, &behind))
			set(k, behind, name);
		return;
	}
	if (ab_code_is_text(k, &t, "async"))
		x = behind;
	if (t.kind == AB_TOKEN_STRING || !skip_params(k, &x))
		return;
	if (ab_code_next_byte(k->text, x.pos) == '{')
		begin(k, name, k->braces);
	else
		set(k, x, name);
}

void ab_code_read_result(struct ab_code *k, const struct ab_token *before,
			 const struct ab_token *t)
{
	struct ab_lexer x = k->x;
	struct ab_token next;

	if (!(k->lang & (AB_PY | AB_JS)) || !k->functions ||
	    !ab_lexer_next(&x, &next))
		return;
	if (k->lang == AB_PY)
		read_python(k, before, t, &next);
	if ((ab_code_is_text(k, t, "def") ||
	     ab_code_is_text(k, t, "function")) &&
	    next.kind == AB_TOKEN_WORD)
		begin(k, &next, k->lang == AB_PY ? column_of(k, t) : k->braces);
	else if (ab_code_is_text(k, t, "return") && k->function.len)
		set(k, k->x, &k->function);
	else if (ab_code_is_sign(k, &next, '=') &&
		 !ab_code_is_sign(k, before, '.') &&
		 ab_code_next_byte(k->text, x.pos) != '=')
		read_arrow(k, x, t);
}
