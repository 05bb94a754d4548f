/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Variables of the environment that a program sets, for itself or for what it
 * starts: environ["A"] = "b", putenv("A=b"), {env: {A: "b"}}. They are judged
 * as `A=b` of a shell is. Where a dictionary is an environment is not followed:
 * in a program that has to do with one, any may be.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"

#include <string.h>

static bool is_digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

static bool is_name(const char *s, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		if (!ab_code_is_letter(s[i]))
			return false;
	return len > 1 && !is_digit(*s);
}

/* What stands at x, as far as it is one string, number or name. */
static void read_value(struct ab_code *k, struct ab_lexer x, struct ab_word *w)
{
	struct ab_token t;
	const struct ab_named *n = NULL;
	bool is_known = false;

	*w = (struct ab_word){ .text = "", .span = k->text->span };
	if (ab_lexer_next(&x, &t) && t.kind == AB_TOKEN_STRING)
		is_known = ab_code_word(k, &t, w);
	else if (t.kind == AB_TOKEN_WORD && (n = ab_code_value(k, &t)) &&
		 n->count == 1) {
		*w = n->words[0];
		is_known = true;
	} else if (t.kind == AB_TOKEN_WORD && is_digit(k->text->text[t.at])) {
		is_known = ab_word_slice(k->c, k->text, t.at, t.len, w);
	}
	if (!is_known || (ab_lexer_next(&x, &t) && !t.is_line &&
			  !(t.kind == AB_TOKEN_SIGN &&
			    memchr(",;)}]|&", k->text->text[t.at], 7))))
		ab_code_hole(k, w);
}

static void check(struct ab_code *k, const struct ab_token *name,
		  struct ab_lexer x)
{
	struct ab_word value;

	read_value(k, x, &value);
	ab_check_env(k->c, k->text->text + name->at, name->len, &value);
}

/* putenv("A=b") */
static void check_pair(struct ab_code *k, const struct ab_token *t)
{
	const char *s = k->text->text + t->at;
	const char *eq = memchr(s, '=', t->len);
	struct ab_word all, value;

	if (!eq || !is_name(s, (uint32_t)(eq - s)) ||
	    !ab_code_word(k, t, &all))
		return;
	eq = memchr(all.text, '=', all.len);
	if (eq && ab_word_slice(k->c, &all, (uint32_t)(eq - all.text) + 1,
				all.len - (uint32_t)(eq - all.text) - 1,
				&value))
		ab_check_env(k->c, all.text, (uint32_t)(eq - all.text),
			     &value);
}

/* environ, env, ENV */
static bool is_environment(const struct ab_code *k, const struct ab_token *t)
{
	const char *s = k->text->text + t->at;

	return t->kind == AB_TOKEN_WORD &&
	       ((t->len >= 3 && !strncasecmp(s + t->len - 3, "env", 3)) ||
		(t->len >= 7 && !strncasecmp(s + t->len - 7, "environ", 7)) ||
		(t->len >= 8 && !memcmp(s + t->len - 8, "environb", 8)));
}

static bool is_setter(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = {
		"putenv", "setenv", "setdefault", "set", "env", "Setenv",
		"SetEnvironmentVariable", "setEnv", "store", "put_env"
	};

	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names));
}

/* The last two tokens. */
struct seen {
	struct ab_token last, second;
};

/* The value follows; x is moved there. */
static bool has_value(const struct ab_code *k, const struct seen *seen,
		      const struct ab_token *t, struct ab_lexer *x)
{
	const char *s = k->text->text;
	bool is_string = t->kind == AB_TOKEN_STRING;
	struct ab_token next;
	char before = seen->last.kind == AB_TOKEN_SIGN ? s[seen->last.at] : 0;

	if (!ab_lexer_next(x, &next) || next.kind != AB_TOKEN_SIGN)
		return false;
	/* environ["A"] =, $ENV{A} =, env.A =, $env:A = */
	if (before && memchr("[{.:", before, 4) &&
	    is_environment(k, &seen->second)) {
		if (memchr("[{", before, 2) && !ab_lexer_next(x, &next))
			return false;
		while (next.kind == AB_TOKEN_SIGN && s[next.at] == '|')
			if (!ab_lexer_next(x, &next))
				return false;
		return s[next.at] == '=' && next.at + 1 < x->len &&
		       s[next.at + 1] != '=' && s[next.at + 1] != '~';
	}
	/* setenv("A", elixir's [{"A", */
	if (is_string && s[next.at] == ',')
		return before == '{' ? k->lang == AB_OTHER :
		       before == '(' && is_setter(k, &seen->second);
	/* { "A": , A: , "A" => , dict(environ, A= */
	if (!before || !memchr("{,([", before, 4))
		return false;
	if (s[next.at] == ':')
		return is_string || before == '{' || before == ',';
	if (s[next.at] != '=')
		return false;
	if (next.at + 1 < x->len && s[next.at + 1] == '>') {
		x->pos = next.at + 2;
		return true;
	}
	return !is_string && before != '{' && next.at + 1 < x->len &&
	       s[next.at + 1] != '=';
}

static bool has_environment(const struct ab_code *k)
{
	static const char *const words[] = { "env", "Env", "ENV", "exec",
					     "spawn" };
	const struct ab_word *w = k->text;

	for (size_t i = 0; i < AB_ARRAY_LEN(words); i++)
		if (memmem(w->text, w->len, words[i], strlen(words[i])))
			return true;
	return k->lang == AB_RUBY;
}

void ab_code_check_env(struct ab_code *k)
{
	const struct ab_word *text = k->text;
	struct seen seen = { 0 };
	struct ab_token t;

	if (!has_environment(k))
		return;
	ab_lexer_rewind(&k->x);
	while (ab_lexer_next(&k->x, &t) && !k->c->is_broken) {
		struct ab_lexer x = k->x;

		if ((t.kind == AB_TOKEN_STRING || t.kind == AB_TOKEN_WORD) &&
		    is_name(text->text + t.at, t.len) &&
		    has_value(k, &seen, &t, &x))
			check(k, &t, x);
		else if (t.kind == AB_TOKEN_STRING &&
			 is_setter(k, &seen.second))
			check_pair(k, &t);
		seen.second = seen.last;
		seen.last = t;
	}
}
