/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is said of all functions and classes of an inline program, for those
 * that follow what they are called with (code_params.c) and what the members of
 * an object are given (code_names.c).
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

/* What may give a name to something else without saying it. */
bool ab_code_has_tricks(const struct ab_code *k)
{
	static const struct {
		const char *name;
		uint8_t langs;
	} names[] = {
		{ "globals", AB_PY },	   { "builtins", AB_PY },
		{ "__builtins__", AB_PY }, { "setattr", AB_PY },
		{ "vars", AB_PY },	   { "__dict__", AB_PY },
		{ "locals", AB_PY },	   { "exec", AB_PY },
		{ "eval", AB_ALL_LANGS },  { "import *", AB_PY },
		{ "modules", AB_PY },	   { "importlib", AB_PY },
		{ "compile", AB_PY },	   { "__globals__", AB_PY },
		{ "globalThis", AB_JS },   { "global", AB_JS },
		{ "window", AB_JS },	   { "with", AB_JS },
		{ "Function", AB_JS },	   { "vm", AB_JS },
		{ "undef", AB_RUBY },	   { "remove_method", AB_RUBY },
		{ "undef_method", AB_RUBY }, { "alias", AB_RUBY },
		{ "alias_method", AB_RUBY }, { "extend", AB_RUBY },
		{ "include", AB_RUBY },	   { "prepend", AB_RUBY },
		{ "super", AB_RUBY },	   { "instance_eval", AB_RUBY },
		{ "class_eval", AB_RUBY }, { "refine", AB_RUBY },
		{ "define_method", AB_RUBY }, { "load", AB_RUBY | AB_LUA },
		{ "send", AB_RUBY },	   { "instance_exec", AB_RUBY },
		{ "package", AB_PERL },	   { "IPC", AB_PERL },
		{ "_G", AB_LUA },	   { "_ENV", AB_LUA },
		{ "setmetatable", AB_LUA }, { "setfenv", AB_LUA },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		const char *name = names[i].name;

		if (names[i].langs & k->lang &&
		    (strchr(name, ' ')
			     ? memmem(k->text->text, k->text->len, name,
				      strlen(name)) != NULL
			     : ab_code_has_name(k, name)))
			return true;
	}
	return false;
}

bool ab_code_may_define(const struct ab_code *k)
{
	static const struct {
		const char *name;
		uint8_t langs;
	} heads[] = {
		{ "def ", AB_PY | AB_RUBY },	{ "lambda", AB_PY },
		{ "function", AB_JS | AB_PHP | AB_LUA | AB_AWK | AB_OTHER },
		{ "=>", AB_JS },
		{ "class", AB_JS },
		{ "sub ", AB_PERL },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(heads); i++) {
		if (heads[i].langs & k->lang &&
		    memmem(k->text->text, k->text->len, heads[i].name,
			   strlen(heads[i].name)))
			return true;
	}
	return false;
}

/* php: $f("x"); ruby: send("f", "x"); perl: &{"f"}("x"), "f"->("x"). */
bool ab_code_calls_by_name(const struct ab_code *k)
{
	static const char *const names[] = { "send", "public_send", "__send__",
					     "method", "to_proc" };
	static const char *const signs[] = { "&{", "&$", "->(", "->$", "*{" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (k->lang == AB_RUBY && ab_code_has_name(k, names[i]))
			return true;
		if (k->lang == AB_PERL &&
		    memmem(k->text->text, k->text->len, signs[i],
			   strlen(signs[i])))
			return true;
	}
	return k->lang == AB_PHP;
}

bool ab_code_is_constructor(const struct ab_code *k, const struct ab_token *t)
{
	static const struct {
		const char *name;
		uint8_t langs;
	} names[] = {
		{ "__init__", AB_PY },
		{ "constructor", AB_JS },
		{ "initialize", AB_RUBY },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (names[i].langs & k->lang &&
		    ab_code_is_text(k, t, names[i].name))
			return true;
	}
	return false;
}

#define MAX_TOKENS 48 /* of parameters */

bool ab_code_is_method(struct ab_code *k, struct ab_lexer x,
		       const struct ab_token *t)
{
	static const char *const words[] = { "if",    "for",   "while",
					     "switch", "catch", "function" };
	struct ab_token next;
	int depth = 1;

	if (k->lang != AB_JS || t->kind != AB_TOKEN_WORD)
		return false;
	if (!k->classes)
		k->classes = ab_code_has_name(k, "class") ? 1 : 2;
	if (k->classes == 2 ||
	    ab_code_is_one_of(k, t, words, AB_ARRAY_LEN(words)))
		return false;
	for (uint32_t i = 0; depth && i < MAX_TOKENS; i++) {
		if (!ab_lexer_next(&x, &next))
			return false;
		depth += ab_code_is_sign(k, &next, '(');
		depth -= ab_code_is_sign(k, &next, ')');
	}
	return !depth && ab_lexer_next(&x, &next) &&
	       ab_code_is_sign(k, &next, '{');
}

struct ab_lexer ab_code_behind_new(const struct ab_code *k)
{
	struct ab_lexer x = k->x;
	struct ab_token t;

	return k->lang == AB_RUBY && ab_lexer_next(&x, &t) &&
			       ab_code_is_sign(k, &t, '.') &&
			       ab_lexer_next(&x, &t) &&
			       ab_code_is_text(k, &t, "new")
		       ? x
		       : k->x;
}

static const char *const owners[] = { "self.", "this.", "cls." };

/* It sets what is read by such a name; then whoever has the object sets it. */
static bool has_members(struct ab_code *k)
{
	for (size_t i = 0; !k->members && i < AB_ARRAY_LEN(owners); i++) {
		if (memmem(k->text->text, k->text->len, owners[i],
			   strlen(owners[i])))
			k->members = 1;
	}
	k->members = k->members ? k->members : 2;
	return k->members == 1;
}

bool ab_code_is_own_member(struct ab_code *k, const struct ab_token *dot)
{
	return k->lang & (AB_PY | AB_JS) && ab_code_is_sign(k, dot, '.') &&
	       has_members(k);
}

bool ab_code_is_itself(const struct ab_code *k, struct ab_lexer x,
		       const struct ab_token *t)
{
	const char *s = k->text->text;
	struct ab_token value, next;

	return ab_lexer_next(&x, &value) && value.len == t->len &&
	       !memcmp(s + value.at, s + t->at, t->len) &&
	       (!ab_lexer_next(&x, &next) || next.is_line ||
		ab_code_is_sign(k, &next, ';') ||
		ab_code_is_sign(k, &next, '}'));
}
