/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the functions of an inline program return: f() is one of the values that
 * its `return`s have, or what stands behind the arrow of a function without a
 * body. Refuses to follow which of them a call makes.
 */
#include "config.h"

#include "guard/code.h"

#define MAX_TOKENS 48 /* of parameters */

static void set(struct ab_code *k, struct ab_lexer x,
		const struct ab_token *name)
{
	struct ab_named *n = ab_code_add_named(k, name);
	const uint32_t edits = n ? n->edits : 0;

	if (!n)
		return;
	n->is_result = true;
	/* "a", "b" is a list */
	n->is_cut |= ab_code_read_value(k, x, name, AB_VALUE_SET) == ',';
	if (n->is_cut || (n->edits == edits && !ab_code_is_nothing(k, x)))
		ab_code_note_unknown(k, name);
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
		k->function = *name;
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
	if ((ab_code_is_text(k, t, "def") ||
	     ab_code_is_text(k, t, "function")) &&
	    next.kind == AB_TOKEN_WORD)
		k->function = next;
	else if (ab_code_is_text(k, t, "return") && k->function.len)
		set(k, k->x, &k->function);
	else if (ab_code_is_sign(k, &next, '=') &&
		 !ab_code_is_sign(k, before, '.') &&
		 ab_code_next_byte(k->text, x.pos) != '=')
		read_arrow(k, x, t);
}
