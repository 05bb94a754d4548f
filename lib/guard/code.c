/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inline programs (python -c, perl -e, awk): calls that run commands or touch
 * files, as far as their arguments are literal, or names of what is. The
 * strings of such a call are judged as the shell would get them, and the
 * expressions in a string are code. What is computed is not followed: where it
 * is the command itself it is asked about, and the token rules of the language
 * look for the computing.
 *
 * Here the tokens are gone through and calls told from what only has such a
 * name. code_apply.c has what a call is given, code_judge.c what it does, and
 * code_loose.c what is no call.
 */
#include "config.h"

#include "base/key.h"
#include "guard/code.h"
#include "guard/command.h"

#include <string.h>

/* The call that a word of the program names, by its own name or another. */
static enum ab_call call_at(const struct ab_code *k, const struct ab_token *t)
{
	const struct ab_named *n = k->name_count ? ab_code_named(k, t) : NULL;

	return (enum ab_call)(n && n->call ? n->call : ab_code_call(k, t));
}

/* The next byte is it, but for spaces: the lexer goes behind. */
static bool take_sign(struct ab_code *k, char sign)
{
	struct ab_lexer x = k->x;
	struct ab_token t;

	if (!ab_lexer_next(&x, &t) || !ab_code_is_sign(k, &t, sign))
		return false;
	k->x = x;
	return true;
}

static bool is_called(const struct ab_code *k)
{
	struct ab_lexer x = k->x;
	struct ab_token t;

	return ab_lexer_next(&x, &t) && ab_code_is_sign(k, &t, '(');
}

/* js: what a module is, or has as sync(): require("rimraf")("x"). */
static enum ab_call call_of_module(const char *s, uint32_t len)
{
	static const struct {
		const char *name;
		uint8_t kind;
	} modules[] = {
		{ "rimraf", AB_CALL_REMOVE },	{ "del", AB_CALL_REMOVE },
		{ "trash", AB_CALL_REMOVE },	{ "execa", AB_CALL_SHELL },
		{ "cross-spawn", AB_CALL_SHELL }, { "glob", AB_CALL_GLOB },
		{ "fast-glob", AB_CALL_GLOB },	{ "globby", AB_CALL_GLOB },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(modules); i++) {
		if (strlen(modules[i].name) == len &&
		    !memcmp(s, modules[i].name, len))
			return (enum ab_call)modules[i].kind;
	}
	return AB_CALL_NONE;
}

/* A call whose name is a value: c["exec"](...) and c[m](...), php's $f(...) and
   array_map("system", ...), require("rimraf").sync(...). The lexer then is
   before its arguments. */
static enum ab_call call_by_value(struct ab_code *k, const struct ab_token *t)
{
	const struct ab_named *n = t->kind == AB_TOKEN_WORD && k->name_count
					   ? ab_code_named(k, t)
					   : NULL;
	bool is_string = t->kind == AB_TOKEN_STRING;
	const char *s = k->text->text + t->at;
	uint32_t len = t->len;

	if (!is_string && (!n || n->call || !n->count))
		return AB_CALL_NONE;
	if (n) {
		s = n->words[0].text;
		len = n->words[0].len;
	}
	if (k->lang == AB_JS && ab_code_is_sign(k, &k->before, '('))
		return is_string && ab_code_is_text(k, &k->behind, "require") &&
				       take_sign(k, ')')
			       ? call_of_module(s, len)
			       : AB_CALL_NONE;
	if (k->lang & (AB_JS | AB_PY | AB_LUA))
		return ab_code_is_sign(k, &k->before, '[') &&
				       take_sign(k, ']') &&
				       (k->lang == AB_JS || is_called(k))
			       ? (enum ab_call)ab_code_call_of(k, s, len)
			       : AB_CALL_NONE;
	if (k->lang != AB_PHP)
		return AB_CALL_NONE;
	if (n ? k->x.pos < k->x.len && k->x.text[k->x.pos] == '('
	      : ab_code_is_sign(k, &k->before, '(') && take_sign(k, ','))
		return (enum ab_call)ab_code_call_of(k, s, len);
	return AB_CALL_NONE;
}

#define MAX_FIELDS 8

/* Strings whose expressions are being read, each in one of the one before. */
struct fields {
	struct {
		struct ab_token string;
		struct ab_lexer outer; /* behind it */
	} all[MAX_FIELDS];
	uint32_t depth;
};

/* print(f"..."), console.log(`...`), puts "...": somebody reads the string. */
static bool is_shown(const struct ab_code *k, const struct ab_token *string)
{
	static const char *const names[] = { "print", "log",   "error", "info",
					     "warn",  "debug", "puts",	"p",
					     "write" };
	const char *s = k->text->text;
	/* each expression of the string asks: no further than that */
	const uint32_t least = string->at > 24 ? string->at - 24 : 0;
	uint32_t at = string->at, end;

	/* its quotes, and what stands before them: f"..." */
	while (at > least && memchr("\"'`", s[at - 1], 3))
		at--;
	while (at > least && ab_code_is_letter(s[at - 1]))
		at--;
	while (at > least && memchr(" (", s[at - 1], 2))
		at--;
	for (end = at; at > least && ab_code_is_letter(s[at - 1]);)
		at--;
	const struct ab_token name = { .at = at, .len = end - at,
				       .kind = AB_TOKEN_WORD };

	return end > at &&
	       ab_code_is_one_of(k, &name, names, AB_ARRAY_LEN(names));
}

/* To the next expression of the innermost string. */
static bool enter_field(struct ab_code *k, struct fields *f, uint32_t from)
{
	const struct ab_token *string = &f->all[f->depth - 1].string;
	struct ab_word text;
	uint32_t at, end;

	if (!ab_code_field(k, string, from, &at, &end) ||
	    !ab_word_slice(k->c, k->text, at, end - at, &text))
		return false;
	if (f->depth == 1 && is_shown(k, string))
		ab_check_text(k->c, k->name, &text);
	else
		ab_check_text_inside(k->c, k->name, &text);
	k->x = (struct ab_lexer){ .text = k->x.text, .pos = at, .len = end,
				  .traits = k->x.traits,
				  .plain_to = k->x.plain_to };
	return true;
}

#define MAX_DOUBTS 4

/* Where what may be a pattern ends as code: a quote in it begins a string that
   may go on behind it. */
static void find_doubt_end(struct ab_code *k)
{
	const struct ab_token *t = &k->before;
	bool has_quote = false;

	for (uint32_t i = 0; i < t->len; i++)
		has_quote |= !!memchr("\"'`", k->text->text[t->at + i], 3);
	k->doubt_end = t->at + t->len;
	if (has_quote && k->doubts == MAX_DOUBTS)
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK, k->text);
	else if (has_quote)
		k->doubt_end = k->x.len;
	k->doubts += has_quote && k->doubts < MAX_DOUBTS;
}

/* Behind a string come what its expressions have: "#{system(x)}" calls. */
static bool next_token(struct ab_code *k, struct fields *f, struct ab_token *t)
{
	bool is_text = k->before.kind == AB_TOKEN_STRING || k->before.is_doubt;
	uint32_t from;

	if (k->before.is_doubt)
		find_doubt_end(k);
	if (is_text && f->depth < MAX_FIELDS) {
		f->all[f->depth].string = k->before;
		f->all[f->depth].outer = k->x;
		f->depth++;
		if (!enter_field(k, f, k->before.at))
			f->depth--;
	} else if (is_text &&
		   ab_code_field(k, &k->before, k->before.at, &from, &from)) {
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_DENY, k->text);
	}
	while (!ab_lexer_next(&k->x, t)) {
		if (!f->depth)
			return false;
		from = k->x.len;
		if (enter_field(k, f, from))
			continue;
		f->depth--;
		k->x = f->all[f->depth].outer;
	}
	return true;
}

/* def system(x), and of python, where nothing is called without brackets, what
   is given a name: run="make". */
static bool is_defined(const struct ab_code *k, const struct ab_token *t)
{
	const char *head = k->lang & (AB_PY | AB_RUBY) ? "def" :
			   k->lang == AB_PERL	       ? "sub" :
							 "function";
	struct ab_lexer x = k->x;
	struct ab_token next;

	if (ab_code_is_text(k, &k->before, head) &&
	    !ab_code_is_sign(k, &k->behind, '.'))
		return true;
	if (t->kind != AB_TOKEN_WORD || !ab_lexer_next(&x, &next) ||
	    !ab_code_is_sign(k, &next, '='))
		return false;
	if (k->lang == AB_PERL)
		return x.pos < x.len && x.text[x.pos] == '>';
	return k->lang == AB_PY;
}

/* ruby: :system alone is a name, where no send(:system, ...) and
   method(:system) is before it. `a ? b : system(x)` is a call. */
static bool is_symbol(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const calls[] = { "send(", "send__(", "send ",
					     "method(", "method " };
	uint32_t at = t->at - (t->at > 0);
	struct ab_lexer x = k->x;
	struct ab_token next;

	if (k->lang != AB_RUBY || !ab_code_is_sign(k, &k->before, ':') ||
	    k->before.at != at ||
	    (ab_lexer_next(&x, &next) && !next.is_line &&
	     !(next.kind == AB_TOKEN_SIGN &&
	       memchr(",)];}", k->x.text[next.at], 5))))
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(calls); i++) {
		size_t n = strlen(calls[i]);

		if (at >= n && !memcmp(k->x.text + at - n, calls[i], n))
			return false;
	}
	return true;
}

/* python: run.assert_called_once_with("x") says what a mock was called with;
   nothing else has a method of that name. */
static bool is_asked_of(const struct ab_code *k, const struct ab_token *t)
{
	static const char method[] = ".assert_";
	uint32_t end = t->at + t->len;

	return k->lang == AB_PY && k->text->len - end >= sizeof(method) &&
	       !memcmp(k->text->text + end, method, sizeof(method) - 1);
}

/* python: cProfile.run("x"), pdb.run("x") run code. */
static bool is_profiled(const struct ab_code *k, const struct ab_token *t)
{
	return k->lang == AB_PY && ab_code_is_text(k, t, "run") &&
	       ab_code_is_sign(k, &k->before, '.') &&
	       (ab_code_is_text(k, &k->behind, "cProfile") ||
		ab_code_is_text(k, &k->behind, "pdb"));
}

#define MAX_LOOKS 32 /* at names; then each is called */

/* python: dirs = x, import os as dirs: it is not what a walk gives it. */
static bool is_set(const struct ab_word *text, const struct ab_token *t)
{
	const char *s = text->text, *end = s + text->len, *at = s;

	for (; (at = memmem(at, (size_t)(end - at), s + t->at, t->len));
	     at += t->len) {
		uint32_t i = (uint32_t)(at - s) + t->len;

		while (i < text->len && memchr(" \t", s[i], 2))
			i++;
		if ((at - s > 3 && !memcmp(at - 3, "as ", 3)) ||
		    (i < text->len && s[i] == '=' &&
		     !(i + 1 < text->len && s[i + 1] == '=')))
			return true;
	}
	return false;
}

/* python: dirs.remove(".git") has a walk go on without it. */
static bool is_pruned(struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = { "dirs", "dirnames", "subdirs",
					     "directories", "folders" };

	return k->lang == AB_PY && ab_code_is_text(k, t, "remove") &&
	       ab_code_is_sign(k, &k->before, '.') &&
	       ab_code_is_one_of(k, &k->behind, names, AB_ARRAY_LEN(names)) &&
	       k->looked++ < MAX_LOOKS &&
	       (ab_code_has_name(k, "walk") || ab_code_has_name(k, "fwalk")) &&
	       !is_set(k->text, &k->behind);
}

/* from subprocess import run, anywhere: the lines of the first few. What
   javascript takes out of a module has its name in many ways. */
static bool is_imported(const struct ab_code *k, const struct ab_token *t)
{
	static const char word[] = "import";
	const char *s = k->text->text, *end = s + k->text->len;
	const char *name = s + t->at, *at = s;

	if (k->lang == AB_JS && (k->modules & AB_MODULE_COMMANDS ||
				 ab_code_has_name(k, "require")))
		return true;
	for (uint32_t i = 0; (at = memmem(at, (size_t)(end - at), word,
					  sizeof(word) - 1)); i++) {
		size_t n = ab_seek(at, (size_t)(end - at), '\n');

		/* import (a,\n b), import \\\n a */
		if (memchr(at, '(', n))
			n = ab_seek(at, (size_t)(end - at), ')');
		if (i == 16 || n > 256 || at[n - 1] == '\\' ||
		    memmem(at, n, name, t->len))
			return true;
		at += n;
	}
	return false;
}

/* `for run in names: print(run)`: a name of values, which is not called. */
static bool is_value(struct ab_code *k, const struct ab_token *t)
{
	const struct ab_named *n;

	if (!(k->lang & (AB_PY | AB_JS)) || !k->name_count ||
	    ab_code_is_sign(k, &k->before, '.') ||
	    ab_code_next_byte(k->text, t->at + t->len) == '(')
		return false;
	n = ab_code_named(k, t);
	return n && !n->call && n->count && k->looked++ < MAX_LOOKS &&
	       !is_imported(k, t);
}

/* The call that begins with a token. */
static enum ab_call call_of(struct ab_code *k, const struct ab_token *t)
{
	enum ab_call kind = AB_CALL_NONE;

	if (is_defined(k, t) || is_symbol(k, t) || is_asked_of(k, t) ||
	    is_pruned(k, t) ||
	    (k->own_count && ab_code_is_own(k, t)))
		return AB_CALL_NONE;
	if (is_profiled(k, t))
		return AB_CALL_CODE;
	if (t->kind == AB_TOKEN_WORD)
		kind = call_at(k, t);
	if (kind == AB_CALL_SHELL && is_value(k, t))
		return AB_CALL_NONE;
	/* ab_code_awk_token() has read it */
	if (kind == AB_CALL_SHELL && k->lang == AB_AWK)
		return AB_CALL_NONE;
	/* Deno.run({cmd: [...]}) */
	if (kind == AB_CALL_SQL && k->lang == AB_JS &&
	    k->modules & AB_MODULE_DENO && ab_code_is_text(k, t, "run"))
		return AB_CALL_SHELL;
	/* unittest.mock's */
	if (k->modules & AB_MODULE_MOCK && ab_code_is_text(k, t, "call"))
		return AB_CALL_NONE;
	if (kind == AB_CALL_SHELL && ab_code_is_match(k, t))
		return AB_CALL_NONE;
	if (kind == AB_CALL_NONE &&
	    k->lang & (AB_JS | AB_PHP | AB_PY | AB_LUA))
		return call_by_value(k, t);
	return kind;
}

static void scan_code(struct ab_code *k, struct ab_args *a)
{
	struct fields fields = { .depth = 0 };
	struct ab_token t;

	while (next_token(k, &fields, &t) && !k->c->is_broken) {
		if (k->x.is_deep) {
			ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_DENY,
				       k->text);
			return;
		}
		void *mark = k->c->scratch->low;
		const uint32_t started = k->started_count;
		const struct ab_token last = k->before;
		struct ab_lexer here;
		enum ab_call kind;

		ab_code_loose(k, a, &t);
		here = k->x;
		kind = call_of(k, &t);
		if (kind != AB_CALL_NONE)
			ab_code_apply(k, a, kind, &t);
		/* calls may stand inside each other */
		k->x = here;
		k->behind = last;
		k->before = t;
		/* of a text that was pushed there is a copy */
		if (k->started_count == started)
			ab_arena_release(k->c->scratch, mark);
		k->last = NULL;
	}
}

/* python -c 'exec(sys.stdin.read())': what it is given is run. awk has names
   for parts of it only, and so it is with what a name stands for. */
static void run_input(struct ab_code *k)
{
	const struct ab_use *use = k->use;
	struct ab_check *c = k->c;
	const struct ab_word *in = use ? use->in_text : NULL;
	uint32_t taint = in ? ab_word_taint(in) : use ? use->in_taint : 0;

	/* there are no calls of this kind in the table */
	if (k->lang & (AB_PERL | AB_RUBY))
		k->is_input_code |= ab_code_has_eval(k);
	if (!use || !use->has_stdin ||
	    !(k->runs_input || k->is_input_code) || !ab_code_reads_input(k))
		return;
	if (k->runs_input) {
		ab_check_flow(c, use, AB_SINK_SHELL,
			      taint & ~(uint32_t)AB_TAINT_FILE, NULL);
		if (in && in->len)
			ab_check_script(c, in, true, NULL, 0, NULL);
	}
	if (k->is_input_code) {
		struct ab_use inner = *use;

		ab_check_flow(c, use, AB_SINK_CODE, taint, NULL);
		inner.has_stdin = false;
		if (in && in->len)
			ab_check_code(c, &inner, k->name, in);
	}
}

/* php that is a file is text up to its first tag, and what is given to -r is
   code from the beginning on: which of them it is, is not known here. */
static void scan_behind_tag(struct ab_code *k, struct ab_args *a)
{
	const struct ab_word *text = k->text;
	const char *tag = memmem(text->text, text->len, "<?", 2);
	struct ab_word rest;

	if (k->lang != AB_PHP || !tag || tag == text->text ||
	    !ab_word_slice(k->c, text, (uint32_t)(tag - text->text),
			   text->len - (uint32_t)(tag - text->text), &rest))
		return;
	ab_check_text(k->c, k->name, &rest);
	k->x = (struct ab_lexer){ .text = text->text, .len = text->len,
				  .pos = text->len - rest.len,
				  .traits = k->x.traits };
	k->before = (struct ab_token){ 0 };
	scan_code(k, a);
}

void ab_check_code(struct ab_check *c, const struct ab_use *use,
		   const char *lang, const struct ab_word *text)
{
	uint32_t taint = ab_word_taint(text);

	/* python -c "$CODE", as bash -c "$CODE" */
	if (ab_code_is_value(text))
		ab_check_known(c, AB_KNOWN_OPAQUE, AB_V_ASK, text);
	if (!strcmp(lang, "sed")) {
		ab_check_sed(c, use, text);
		return;
	}
	/* what is put into a program is a word of it */
	taint &= ~(uint32_t)(text->len ? AB_TAINT_VAR | AB_TAINT_FILE |
						 AB_TAINT_PICK :
					 AB_TAINT_VAR);
	ab_check_flow(c, use, AB_SINK_CODE, taint, text);
	struct ab_code k = { .c = c, .use = use, .text = text, .name = lang,
			  .lang = ab_code_lang(lang) };
	struct ab_args *a = ab_check_alloc(c, sizeof(*a));

	if (!a)
		return;
	ab_check_text(c, lang, text);
	if (c->text_read > AB_CHECK_MAX_TEXT)
		return; /* that was said */
	k.x = (struct ab_lexer){ .text = text->text, .len = text->len,
				 .traits = ab_lex_traits(lang) };
	ab_code_find_modules(&k);
	ab_code_find_params(&k);
	ab_code_find_names(&k);
	ab_code_read_rests(&k);
	ab_code_link_params(&k);
	ab_code_read_late(&k);
	ab_code_settle_names(&k);
	ab_code_find_argv(&k);
	if (!c->codes++)
		c->has_unseen = c->has_kept = false;
	scan_code(&k, a);
	scan_behind_tag(&k, a);
	c->codes--;
	run_input(&k);
	if (k.loose || k.argv_count)
		ab_code_check_argv(&k);
	ab_code_check_home(&k);
	ab_code_check_env(&k);
	ab_code_check_writes(&k);
	ab_code_check_remote(&k);
	ab_code_check_flow(&k);
	if (AB_UNLIKELY(k.has_handed))
		ab_code_check_handed(&k);
	if (k.lang == AB_OTHER)
		ab_code_check_other(&k);
	if (k.lang == AB_AWK)
		ab_code_check_awk(&k);
}
