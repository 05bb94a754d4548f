/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Modules that an inline program names and the text has written: import x,
 * require("./x"), `use X;`. They run as code of the same language. Where an
 * interpreter looks for them (PYTHONPATH, sys.path, -I, NODE_PATH,
 * package.path) is not followed: a file of the text that has such a name is
 * taken for the module wherever it lies, and what nobody wrote here is not
 * judged.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"

#include <string.h>

#define MAX_MODULES 64
#define MAX_IMPORTS 8 /* each in the one before: the stack is bounded */
#define MAX_PARTS 64  /* from x import a, b, c */

bool ab_code_run_file(struct ab_code *k, const struct ab_word *w)
{
	struct ab_check *c = k->c;
	struct ab_module module = { .path = w, .outer = c->module };
	uint32_t depth = 0;

	for (const struct ab_module *m = c->module; m; m = m->outer, depth++) {
		if (m->path->len == w->len &&
		    !memcmp(m->path->text, w->text, w->len))
			return true;
	}
	if (!ab_file_is_written(c, w))
		return false;
	if (c->modules == MAX_MODULES || depth == MAX_IMPORTS) {
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_ASK, w);
		return true;
	}
	c->modules++;
	c->module = &module;
	ab_file_run(c, k->use, w);
	c->module = module.outer;
	return true;
}

void ab_code_run_module(struct ab_code *k, const struct ab_word *name)
{
	struct ab_word path;
	uint32_t i = 0;

	if (!name->len || name->hole_count || ab_code_run_file(k, name))
		return;
	while (ab_file_next_module(k->c, name, &i, &path))
		(void)ab_code_run_file(k, &path);
}

/* A name with dots, or colons, between its parts, from `at` on. */
static uint32_t name_end(const struct ab_code *k, uint32_t at)
{
	const struct ab_word *text = k->text;

	while (at < text->len && (ab_code_is_letter(text->text[at]) ||
				  memchr(".:", text->text[at], 2)))
		at++;
	return at;
}

/* x.y, X::Y: x/y, behind what stands before it. */
static void run_name(struct ab_code *k, const struct ab_word *head, uint32_t at,
		     uint32_t end)
{
	char *text = ab_check_alloc(k->c, head->len + 1 + (end - at));
	struct ab_word w = { .text = text, .span = k->text->span };
	const char *s = k->text->text;
	uint32_t depth = 0;

	if (!text)
		return;
	memcpy(text, head->text, head->len);
	w.len = head->len;
	if (w.len)
		text[w.len++] = '/';
	while (at < end && memchr(".:", s[at], 2))
		at++;
	for (; at < end; at++) {
		if (!memchr(".:", s[at], 2)) {
			text[w.len++] = s[at];
		} else if (w.len && text[w.len - 1] != '/') {
			/* import a.b runs what is in a first */
			if (k->lang == AB_PY && depth++ < MAX_IMPORTS)
				ab_code_run_module(k, &w);
			text[w.len++] = '/';
		}
	}
	ab_code_run_module(k, &w);
}

/* from x import a, b as c: each may be a module in x. */
static void run_parts(struct ab_code *k, struct ab_lexer x, uint32_t from,
		      uint32_t to)
{
	struct ab_word head = { .text = "" };
	struct ab_token t;
	uint32_t count = 0;
	bool is_open = false;

	if (from < to) {
		char *text = ab_check_alloc(k->c, to - from);

		if (!text)
			return;
		for (; from < to; from++)
			text[head.len++] = k->text->text[from] == '.'
						   ? '/'
						   : k->text->text[from];
		head.text = text;
	}
	/* those in brackets may go on behind the line, as what a backslash
	   joins */
	while (ab_lexer_next(&x, &t) &&
	       (is_open || !t.is_line || x.text[t.at - 1] != '\n') &&
	       !ab_code_is_sign(k, &t, ';') && !ab_code_is_sign(k, &t, ')')) {
		is_open |= ab_code_is_sign(k, &t, '(') ||
			   ab_code_is_sign(k, &t, '\\');
		if (t.kind != AB_TOKEN_WORD || ab_code_is_text(k, &t, "as"))
			continue;
		if (++count > MAX_PARTS) {
			ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK,
				       k->text);
			return;
		}
		run_name(k, &head, t.at, t.at + t.len);
	}
}

/* Behind blanks, and lines that a backslash joins. */
static uint32_t skip_joined(const struct ab_code *k, uint32_t at)
{
	const char *s = k->text->text;

	while (at < k->text->len &&
	       (memchr(" \t", s[at], 2) ||
		(s[at] == '\\' && at + 1 < k->text->len &&
		 s[at + 1] == '\n')))
		at += s[at] == '\\' ? 2 : 1;
	return at;
}

/* python: import a.b, c; from a import b. */
static void run_import(struct ab_code *k, const struct ab_token *t)
{
	static const struct ab_word none = { .text = "" };
	struct ab_lexer x = k->x;
	uint32_t at = x.pos, end;
	struct ab_token next;
	const char *s = k->text->text;

	at = skip_joined(k, at);
	end = name_end(k, at);
	if (end == at)
		return;
	if (ab_code_is_text(k, t, "import")) {
		do {
			run_name(k, &none, at, end);
			x.pos = end;
			while (ab_lexer_next(&x, &next) && !next.is_line &&
			       next.kind == AB_TOKEN_WORD)
				end = x.pos;
			at = end;
			while (at < k->text->len && memchr(" ,\t", s[at], 3))
				at++;
			if (memchr(s + end, ',', at - end) == NULL)
				return;
			end = name_end(k, at);
		} while (end > at);
		return;
	}
	run_name(k, &none, at, end);
	while (at < end && s[at] == '.')
		at++;
	x.pos = skip_joined(k, end);
	if (ab_lexer_next(&x, &next) && ab_code_is_text(k, &next, "import"))
		run_parts(k, x, at, end);
}

static bool begins_statement(const struct ab_code *k, const struct ab_token *t)
{
	return t->is_line || !k->before.kind ||
	       (k->before.kind == AB_TOKEN_SIGN &&
		memchr(";:{}", k->text->text[k->before.at], 4));
}

/* What runs the file, or the module, that a string names. */
static bool is_loader(const struct ab_code *k, const struct ab_token *t)
{
	static const struct {
		const char *name;
		uint8_t langs;
	} names[] = {
		{ "__import__", AB_PY },
		{ "import_module", AB_PY },
		{ "run_module", AB_PY },
		{ "run_path", AB_PY },
		{ "require", AB_JS | AB_RUBY | AB_LUA | AB_PERL | AB_PHP },
		{ "import", AB_JS },
		{ "from", AB_JS },
		{ "fork", AB_JS },
		{ "Worker", AB_JS },
		{ "require_relative", AB_RUBY },
		{ "load", AB_RUBY },
		{ "dofile", AB_LUA },
		{ "loadfile", AB_LUA },
		{ "do", AB_PERL },
		{ "require_once", AB_PHP },
		{ "include", AB_PHP | AB_AWK },
		{ "include_once", AB_PHP },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if ((names[i].langs & k->lang) &&
		    ab_code_is_text(k, t, names[i].name))
			return true;
	}
	return false;
}

static void run_string(struct ab_code *k, const struct ab_token *t)
{
	const struct ab_token *of =
		ab_code_is_sign(k, &k->before, '(') ? &k->behind : &k->before;
	struct ab_word w;

	if (!is_loader(k, of) || !ab_code_word(k, t, &w))
		return;
	/* import_module("a.b") */
	if (k->lang & (AB_PY | AB_LUA) && !memchr(w.text, '/', w.len)) {
		static const struct ab_word none = { .text = "" };

		run_name(k, &none, t->at, t->at + t->len);
	}
	ab_code_run_module(k, &w);
}

void ab_code_module(struct ab_code *k, const struct ab_token *t)
{
	static const struct ab_word none = { .text = "" };
	struct ab_lexer x = k->x;
	struct ab_token name;
	struct ab_word w;

	if (!k->use)
		return;
	if (t->kind == AB_TOKEN_STRING) {
		run_string(k, t);
	} else if (k->lang == AB_PY && begins_statement(k, t) &&
		   (ab_code_is_text(k, t, "import") ||
		    ab_code_is_text(k, t, "from"))) {
		run_import(k, t);
	} else if (k->lang == AB_PERL && begins_statement(k, t) &&
		   (ab_code_is_text(k, t, "use") ||
		    ab_code_is_text(k, t, "no") ||
		    ab_code_is_text(k, t, "require")) &&
		   ab_lexer_next(&x, &name) && name.kind == AB_TOKEN_WORD) {
		run_name(k, &none, name.at, name_end(k, name.at));
		/* use parent "X"; */
		if ((ab_code_is_text(k, &name, "parent") ||
		     ab_code_is_text(k, &name, "base")) &&
		    ab_lexer_next(&x, &name) &&
		    ab_code_plain_word(k, &name, &w))
			run_name(k, &none, name.at, name.at + name.len);
	}
}

void ab_code_modules_again(struct ab_code *k)
{
	struct ab_token t;

	ab_lexer_rewind(&k->x);
	k->before = k->behind = (struct ab_token){ 0 };
	while (ab_lexer_next(&k->x, &t) && !k->c->is_broken) {
		ab_code_module(k, &t);
		k->behind = k->before;
		k->before = t;
	}
}
