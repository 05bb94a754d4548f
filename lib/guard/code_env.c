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

#define MAX_NAMES 4 /* of dictionaries that are given as an environment */

/* The last two tokens, and those names. */
struct seen {
	struct ab_token last, second;
	struct ab_token names[MAX_NAMES];
	uint32_t count;
	bool runs_git;
};

static bool is_digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

static bool is_name(const char *s, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		if (!ab_code_is_letter(s[i]))
			return false;
	return len && !is_digit(*s);
}

/* b"x" of python */
static bool is_prefix(const struct ab_code *k, const struct ab_token *t)
{
	uint32_t end = t->at + t->len;

	return k->lang == AB_PY && t->kind == AB_TOKEN_WORD && t->len < 3 &&
	       end < k->text->len && memchr("\"'", k->text->text[end], 2);
}

/* What stands at x, as far as it is one string, number or name. */
static void read_value(struct ab_code *k, struct ab_lexer x, struct ab_word *w)
{
	struct ab_token t = { 0 };
	const struct ab_named *n = NULL;
	bool is_known = false;

	*w = (struct ab_word){ .text = "", .span = k->text->span };
	if (ab_lexer_next(&x, &t) && is_prefix(k, &t))
		(void)ab_lexer_next(&x, &t);
	if (t.kind == AB_TOKEN_STRING)
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

static void check_one(struct ab_code *k, const struct seen *seen,
		      const struct ab_word *name, const struct ab_word *value)
{
	ab_check_env(k->c, name->text, name->len, value);
	/* what decides which settings git reads */
	if (seen->runs_git && (ab_word_equals(name, "HOME") ||
			       ab_word_equals(name, "XDG_CONFIG_HOME")))
		ab_check_git_assign(k->c, name->text, name->len, value);
}

static void check(struct ab_code *k, const struct seen *seen,
		  const struct ab_token *t, struct ab_lexer x)
{
	const struct ab_named *n = NULL;
	struct ab_word name, value;

	/* environ[k] = "x" */
	if (t->kind == AB_TOKEN_WORD && ab_code_is_sign(k, &seen->last, '['))
		n = ab_code_named(k, t);
	read_value(k, x, &value);
	for (uint32_t i = 0; n && !n->call && i < n->count; i++)
		check_one(k, seen, &n->words[i], &value);
	if (ab_word_slice(k->c, k->text, t->at, t->len, &name))
		check_one(k, seen, &name, &value);
}

/* putenv("A=b") */
static void check_pair(struct ab_code *k, const struct seen *seen,
		       const struct ab_token *t)
{
	const char *s = k->text->text + t->at;
	const char *eq = memchr(s, '=', t->len);
	struct ab_word all, name, value;

	if (!eq || !is_name(s, (uint32_t)(eq - s)) ||
	    !ab_code_word(k, t, &all))
		return;
	eq = memchr(all.text, '=', all.len);
	if (eq && ab_word_slice(k->c, &all, (uint32_t)(eq - all.text) + 1,
				all.len - (uint32_t)(eq - all.text) - 1,
				&value) &&
	    ab_word_slice(k->c, &all, 0, (uint32_t)(eq - all.text), &name))
		check_one(k, seen, &name, &value);
}

/* environ, env, ENV, and what a call is given as one */
static bool is_environment(const struct ab_code *k, const struct seen *seen,
			   const struct ab_token *t)
{
	const char *s = k->text->text + t->at;

	for (uint32_t i = 0; i < seen->count; i++) {
		if (seen->names[i].len == t->len &&
		    !memcmp(k->text->text + seen->names[i].at, s, t->len))
			return true;
	}
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
	    is_environment(k, seen, &seen->second)) {
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

/* run(x, env=e), {env: e} */
static void find_names(struct ab_code *k, struct seen *seen)
{
	struct ab_token t, last[2] = { 0 };

	ab_lexer_rewind(&k->x);
	while (seen->count < MAX_NAMES && ab_lexer_next(&k->x, &t)) {
		if (t.kind == AB_TOKEN_WORD &&
		    (ab_code_is_sign(k, &last[0], '=') ||
		     ab_code_is_sign(k, &last[0], ':')) &&
		    ab_code_is_text(k, &last[1], "env"))
			seen->names[seen->count++] = t;
		last[1] = last[0];
		last[0] = t;
	}
}

void ab_code_check_env(struct ab_code *k)
{
	const struct ab_word *text = k->text;
	struct seen seen = { 0 };
	struct ab_token t;

	if (!has_environment(k))
		return;
	seen.runs_git = ab_code_has_name(k, "git");
	find_names(k, &seen);
	ab_lexer_rewind(&k->x);
	while (ab_lexer_next(&k->x, &t) && !k->c->is_broken) {
		struct ab_lexer x = k->x;

		if (is_prefix(k, &t))
			continue;
		if ((t.kind == AB_TOKEN_STRING || t.kind == AB_TOKEN_WORD) &&
		    is_name(text->text + t.at, t.len) &&
		    has_value(k, &seen, &t, &x))
			check(k, &seen, &t, x);
		else if (t.kind == AB_TOKEN_STRING &&
			 is_setter(k, &seen.second))
			check_pair(k, &seen, &t);
		seen.second = seen.last;
		seen.last = t;
	}
}
