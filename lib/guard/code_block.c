/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perl's system and exec with a block in front of their words, which says what
 * is run: `system { $x[0] } @x`. It does not judge.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

/* { $x[0] } @x and { $x } $x, ...: the block gives the first of the words. The
   lexer is behind the name. */
static bool is_first_word(const struct ab_code *k, struct ab_lexer x,
			  const struct ab_token *name)
{
	const char *s = k->text->text;
	const char *rest = "[0]}";
	char sign = '@';
	struct ab_token t;

	if (name->len < 2 || s[name->at] != '$')
		return false;
	if (ab_code_next_byte(k->text, x.pos) == '}') {
		rest = "}";
		sign = '$';
	}
	for (; *rest; rest++) {
		if (!ab_lexer_next(&x, &t) || t.len != 1 || s[t.at] != *rest)
			return false;
	}
	if (ab_lexer_next(&x, &t) && ab_code_is_sign(k, &t, '('))
		(void)ab_lexer_next(&x, &t);
	return t.kind && s[t.at] == sign &&
	       t.at + name->len <= k->text->len &&
	       !memcmp(s + t.at + 1, s + name->at + 1, name->len - 1) &&
	       !(t.at + name->len < k->text->len &&
		 ab_code_is_letter(s[t.at + name->len]));
}

#define MAX_BLOCK 256 /* tokens: blocks in blocks are gone through again */

/* What stands in the block, up to its }. True: it is the first word. */
static bool read_program(struct ab_code *k, struct ab_args *a,
			 struct ab_lexer *x)
{
	const struct ab_named *n;
	struct ab_token t = { 0 };
	bool is_first;
	int depth = 1, left = MAX_BLOCK;

	a->is_computed = true;
	if (!ab_lexer_next(x, &t))
		return false;
	struct ab_code inner = *k;

	inner.x = *x;
	n = ab_code_value(&inner, &t);
	/* of more than that it is the last that says it */
	if (ab_code_next_byte(k->text, x->pos) != '}')
		a->has_block = false;
	else if (t.kind == AB_TOKEN_STRING)
		a->has_block = ab_code_word(k, &t, &a->block);
	else if ((a->has_block = n && n->count == 1 && !n->is_unknown))
		a->block = n->words[0];
	a->is_computed = !a->has_block;
	is_first = !a->has_block && is_first_word(k, *x, &t);
	do {
		if (t.kind != AB_TOKEN_SIGN)
			continue;
		depth += ab_code_is_sign(k, &t, '{');
		depth -= ab_code_is_sign(k, &t, '}');
	} while (depth && left-- && ab_lexer_next(x, &t));
	return is_first;
}

/* perl: system {"rm"} "x", "-rf", "/" runs rm, and "x" is what it is told to
   be called. Where nobody knows what the block gives, it is mostly the first
   of the words. How many brackets are open behind it. */
int ab_code_read_block(struct ab_code *k, struct ab_args *a)
{
	struct ab_lexer x = k->x;
	bool is_first;
	struct ab_token t;
	int depth = 0;

	a->has_block = false;
	if (k->lang != AB_PERL || !a->is_command || !ab_lexer_next(&x, &t))
		return 0;
	if (ab_code_is_sign(k, &t, '(')) {
		depth++;
		if (!ab_lexer_next(&x, &t))
			return 0;
	}
	if (!ab_code_is_sign(k, &t, '{'))
		return 0;
	is_first = read_program(k, a, &x);
	k->x = x;
	if (is_first)
		ab_code_see_first(k, a);
	return depth;
}
