/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parameters of the functions that an inline program defines: they stand for
 * what the program calls those with. One that is ever given something that is
 * not known, or is handed on without being called, is not known.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

#define MAX_FUNCTIONS 8
#define MAX_PARAMS 4
#define MAX_TOKENS 64 /* of parameters, and of an argument */

struct function {
	struct ab_token name;
	struct ab_token params[MAX_PARAMS];
	uint32_t count;
	bool is_called;
	bool has_rest; /* the last one is all that follow: *a, ...a */
};

struct functions {
	struct function all[MAX_FUNCTIONS];
	uint32_t count;
};

/* Names up to the bracket that closes; what else is there is no parameter. The
   lexer is behind the bracket that opens. */
static void read_params(const struct ab_code *k, struct ab_lexer *x,
			struct function *f)
{
	struct ab_token t, last = { 0 };
	int depth = 1;

	for (uint32_t i = 0; i < MAX_TOKENS && ab_lexer_next(x, &t); i++) {
		bool is_rest = ab_code_is_sign(k, &last, '*') ||
			       ab_code_is_sign(k, &last, '.');
		bool begins = !last.kind || is_rest ||
			      ab_code_is_sign(k, &last, ',');

		if (t.kind == AB_TOKEN_SIGN && t.len == 1) {
			char ch = k->text->text[t.at];

			depth += memchr("([{", ch, 3) != NULL;
			depth -= memchr(")]}", ch, 3) != NULL;
		}
		if (!depth)
			return;
		if (depth == 1 && t.kind == AB_TOKEN_WORD && begins &&
		    f->count < MAX_PARAMS && !f->has_rest &&
		    !ab_code_is_text(k, &t, "self") &&
		    !ab_code_is_text(k, &t, "cls")) {
			f->params[f->count++] = t;
			f->has_rest = is_rest;
		}
		last = t;
	}
}

static bool is_arrow(const struct ab_code *k, struct ab_lexer x)
{
	struct ab_token t;

	return ab_lexer_next(&x, &t) && ab_code_is_sign(k, &t, '=') &&
	       x.pos < x.len && x.text[x.pos] == '>';
}

/* def f(a, b), function f(a), f = (a) => and f = a =>, behind the first word
   of it. */
static bool read_definition(const struct ab_code *k, struct ab_lexer x,
			    const struct ab_token *t, struct function *f)
{
	struct ab_token next;

	*f = (struct function){ 0 };
	if (!ab_lexer_next(&x, &next))
		return false;
	if (ab_code_is_text(k, t, "def") || ab_code_is_text(k, t, "function")) {
		f->name = next;
		if (next.kind != AB_TOKEN_WORD || !ab_lexer_next(&x, &next) ||
		    !ab_code_is_sign(k, &next, '('))
			return false;
		read_params(k, &x, f);
		return true;
	}
	if (k->lang != AB_JS || !ab_code_is_sign(k, &next, '=') ||
	    !ab_lexer_next(&x, &next))
		return false;
	if (ab_code_is_text(k, &next, "async") && !ab_lexer_next(&x, &next))
		return false;
	f->name = *t;
	if (ab_code_is_sign(k, &next, '('))
		read_params(k, &x, f);
	else if (next.kind == AB_TOKEN_WORD)
		f->params[f->count++] = next;
	return f->count && is_arrow(k, x);
}

static struct function *find(const struct ab_code *k, struct functions *all,
			     const struct ab_token *t)
{
	const char *s = k->text->text;

	for (uint32_t i = 0; i < all->count; i++) {
		struct function *f = &all->all[i];

		if (f->name.len == t->len && f->name.at != t->at &&
		    !memcmp(s + f->name.at, s + t->at, t->len))
			return f;
	}
	return NULL;
}

static void forget(struct ab_code *k, const struct function *f, uint32_t from)
{
	for (uint32_t i = from; i < f->count; i++)
		ab_code_cut_name(k, &f->params[i]);
}

static void note_params(struct ab_code *k, const struct function *f)
{
	for (uint32_t i = 0; i < f->count; i++)
		ab_code_note_unknown(k, &f->params[i]);
}

/* f("a", b): the lexer is behind the name. */
static void read_call(struct ab_code *k, struct ab_lexer x,
		      const struct function *f)
{
	struct ab_token t;
	int depth = 0;

	if (!ab_lexer_next(&x, &t) || !ab_code_is_sign(k, &t, '(')) {
		forget(k, f, 0);
		return;
	}
	for (uint32_t i = 0; i < f->count; i++) {
		if (f->has_rest && i + 1 == f->count) {
			ab_code_read_rest(k, x, &f->params[i]);
			return;
		}
		ab_code_read_param(k, x, &f->params[i]);
		/* to the next argument */
		for (uint32_t n = 0;; n++) {
			if (!ab_lexer_next(&x, &t) || n == MAX_TOKENS) {
				forget(k, f, i);
				return;
			}
			if (t.kind != AB_TOKEN_SIGN || t.len != 1)
				continue;
			if (memchr("([{", k->text->text[t.at], 3))
				depth++;
			else if (memchr(")]}", k->text->text[t.at], 3))
				depth--;
			else if (!depth && ab_code_is_sign(k, &t, ','))
				break;
			if (depth < 0)
				return;
		}
	}
}

static bool may_define(const struct ab_word *text)
{
	return memmem(text->text, text->len, "def ", 4) ||
	       memmem(text->text, text->len, "function ", 9) ||
	       memmem(text->text, text->len, "=>", 2);
}

void ab_code_find_params(struct ab_code *k)
{
	struct functions all = { .count = 0 };
	struct ab_lexer start = k->x, x = k->x;
	struct ab_token t;

	if (!(k->lang & (AB_PY | AB_JS | AB_RUBY | AB_PHP)) ||
	    !may_define(k->text))
		return;
	while (ab_lexer_next(&x, &t)) {
		struct function f;

		if (t.kind != AB_TOKEN_WORD || !read_definition(k, x, &t, &f))
			continue;
		if (all.count < MAX_FUNCTIONS)
			all.all[all.count++] = f;
		else
			note_params(k, &f);
	}
	while (all.count && ab_lexer_next(&k->x, &t)) {
		struct function *f =
			t.kind == AB_TOKEN_WORD ? find(k, &all, &t) : NULL;

		if (!f)
			continue;
		f->is_called = true;
		read_call(k, k->x, f);
	}
	/* who calls it is not seen */
	for (uint32_t i = 0; i < all.count; i++) {
		if (!all.all[i].is_called)
			note_params(k, &all.all[i]);
	}
	k->x = start;
	k->last = NULL;
}
