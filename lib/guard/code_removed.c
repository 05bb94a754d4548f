/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tree that an inline program removes by a name that is not followed, where
 * the program has the names of places of the system among what it keeps, hands
 * on or returns: what it removes may be one of those. Refuses to guess where
 * nothing in the text says so; what only reads or prints them keeps none.
 */
#include "config.h"

#include "guard/code_op.h"

#include <string.h>

#include "guard/path.h"

#define MAX_OPEN 32
#define MAX_TEMPORARIES 16
#define MAX_STATEMENT 512 /* bytes of it, on either side of the name */
#define MAX_LOOKED 64 /* names that are looked at, or time is not linear */

/* The statement that gives the name at text[at] something makes a place for
   itself. */
static bool makes_temporary(const struct ab_word *text, uint32_t at)
{
	static const char *const names[] = { "mkdtemp", "mktmpdir", "MkdirTemp",
					     "TemporaryDirectory", "tempdir" };
	uint32_t from = at, end = at;
	const char *s;
	size_t n;

	while (from && at - from < MAX_STATEMENT &&
	       !memchr("\n;", text->text[from - 1], 2))
		from--;
	while (end < text->len && end - at < MAX_STATEMENT &&
	       !memchr("\n;", text->text[end], 2))
		end++;
	s = text->text + from;
	n = end - from;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (memmem(s, n, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

/* All that the name is ever given is such a place. */
static bool is_temporary(struct ab_code *k, const struct ab_token *name)
{
	struct ab_lexer x = k->x;
	struct ab_token t, next, before = { 0 };
	const char *s = k->text->text;
	bool is_made = false;

	ab_lexer_rewind(&x);
	x.len = k->text->len;
	for (; ab_lexer_next(&x, &t); before = t) {
		struct ab_lexer behind = x;
		bool is_set, is_as = ab_code_is_text(k, &before, "as");

		if (t.kind != AB_TOKEN_WORD || t.len != name->len ||
		    memcmp(s + t.at, s + name->at, t.len) != 0 ||
		    !ab_lexer_next(&behind, &next))
			continue;
		is_set = ab_code_is_sign(k, &next, '=') &&
			 !(behind.pos < behind.len &&
			   s[behind.pos] == '=');
		if (!is_set && !is_as)
			continue;
		if (!makes_temporary(k->text, t.at))
			return false;
		is_made = true;
	}
	return is_made;
}

bool ab_code_is_unseen(struct ab_code *k, const struct ab_args *a,
		       struct ab_lexer x)
{
	struct ab_token t, next;

	if (a->count && !a->is_computed && !a->is_cut)
		return false;
	if (!ab_lexer_next(&x, &t))
		return false;
	/* register(shutil.rmtree, x) */
	while (ab_code_is_sign(k, &t, '(') ||
	       (a->is_handed && ab_code_is_sign(k, &t, ','))) {
		if (!ab_lexer_next(&x, &t))
			return false;
	}
	/* a name and nothing that is made of it; all is looked through */
	return k->temporaries++ == MAX_TEMPORARIES ||
	       t.kind != AB_TOKEN_WORD || !ab_lexer_next(&x, &next) ||
	       next.kind != AB_TOKEN_SIGN ||
	       !memchr(",);", k->text->text[next.at], 3) ||
	       !is_temporary(k, &t);
}

/* --- what it keeps ------------------------------------------------------ */

struct open {
	bool keeps;  /* what stands in it is kept, or handed on */
	bool judges; /* it is of a call that is judged by itself */
	bool is_last; /* what stands behind a comma is kept: replace(a, b) */
};

/* What it is called with may come back, or be kept. */
static bool is_keeper(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = {
		"dict",	  "set",    "list",   "tuple",	"sorted", "max",
		"min",	  "iter",   "append", "add",	"insert", "extend",
		"update", "deque",  "Path",   "PurePath", "push", "unshift",
		"Set",	  "Map",    "concat", "setdefault", "choice", "chain",
		"product", "zip",   "reversed", "cycle", "from", "of", "str",
		"getattr", "setattr", "get", "pop", "frozenset", "filter",
		"map", "next", "setenv", "normpath", "abspath", "realpath",
		"splice", "fill",
	};

	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names)) ||
	       ab_code_is_defined(k, t) ||
	       /* raise ValueError("x") */
	       (t->len > 5 &&
		!memcmp(k->text->text + t->at + t->len - 5, "Error", 5));
}

static struct open opened(const struct ab_code *k, struct open outer,
			  const struct ab_token *before, char ch)
{
	struct open o = { .keeps = true, .judges = outer.judges };
	uint8_t call;

	if (ch != '(' || before->kind != AB_TOKEN_WORD ||
	    ab_code_is_text(k, before, "in") ||
	    ab_code_is_text(k, before, "return"))
		return o;
	call = ab_code_call(k, before);
	o.judges |= call && call != AB_CALL_REMOVE && call != AB_CALL_DELETE &&
		    call != AB_CALL_PATH;
	o.keeps = is_keeper(k, before);
	o.is_last = ab_code_is_text(k, before, "replace") ||
		    ab_code_is_text(k, before, "replaceAll") ||
		    ab_code_is_text(k, before, "gsub") ||
		    ab_code_is_text(k, before, "sub");
	return o;
}

/* What stands before a value that is kept. */
static bool begins_value(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const words[] = { "return", "yield", "else", "or",
					     "in" };
	const char *s = k->text->text;

	if (t->kind == AB_TOKEN_WORD)
		return ab_code_is_one_of(k, t, words, AB_ARRAY_LEN(words));
	if (t->kind != AB_TOKEN_SIGN || !memchr("=([{,:?|>", s[t->at], 9))
		return false;
	/* x == "/etc", x != "/etc" */
	return s[t->at] != '=' || !t->at || !memchr("=!<>", s[t->at - 1], 4);
}

/* ruby: def f; "/etc"; end */
static bool is_result(const struct ab_code *k, const struct ab_token *t,
		      const struct ab_token *before)
{
	return k->lang == AB_RUBY &&
	       (t->is_line || ab_code_is_sign(k, before, ';'));
}

static bool is_of_system(struct ab_code *k, const struct ab_token *t,
			 const struct ab_token *next)
{
	const uint64_t harm = AB_CLASS(ROOT) | AB_CLASS(TOP) | AB_CLASS(HOME) |
			      ~(AB_CLASS(COMPUTED) - 1);
	const char ch = k->text->text[t->at];
	uint64_t classes;
	struct ab_word w;

	if (!t->len || !memchr("/~", ch, 2) ||
	    /* "/".join(x), "/" + x */
	    (t->len == 1 && next->kind == AB_TOKEN_SIGN &&
	     memchr(".+%", k->text->text[next->at], 3)) ||
	    !ab_code_plain_word(k, t, &w) || w.hole_count)
		return false;
	classes = ab_path_classes(k->c, &w);
	return classes & AB_CLASS(OUTSIDE) && classes & harm;
}

/* What it keeps is written in digits that are read: it may be anything. */
static bool is_hidden(const struct ab_code *k, const struct ab_token *t)
{
	/* codecs.decode("...", "rot13"), Buffer.from("...", "base64") */
	static const char *const forms[] = { "base64", "hex", "rot13",
					     "rot_13" };
	const struct ab_token nobody = { 0 };
	enum ab_op op;

	if (t->kind == AB_TOKEN_STRING) {
		struct ab_token form = *t;

		form.kind = AB_TOKEN_WORD;
		return ab_code_is_one_of(k, &form, forms, AB_ARRAY_LEN(forms));
	}
	op = t->kind == AB_TOKEN_WORD ? ab_op_of_call(k, t, &nobody)
				      : AB_OP_NONE;
	return op == AB_OP_BASE64 || op == AB_OP_HEX;
}

bool ab_code_keeps_system(struct ab_code *k)
{
	struct open all[MAX_OPEN] = { { .keeps = true } };
	struct ab_lexer x = k->x;
	struct ab_token t, next, before = { 0 };
	uint32_t depth = 0, looked = 0;

	ab_lexer_rewind(&x);
	x.len = k->text->len;
	for (; ab_lexer_next(&x, &t); before = t) {
		struct ab_lexer behind = x;
		const char ch = t.kind == AB_TOKEN_SIGN ? x.text[t.at] : 0;

		if (ch && memchr("([{", ch, 3)) {
			if (++depth < MAX_OPEN)
				all[depth] = opened(k, all[depth - 1], &before,
						    ch);
		} else if (ch && memchr(")]}", ch, 3)) {
			depth -= depth > 0;
		} else if (ch == ',' && depth < MAX_OPEN) {
			all[depth].keeps |= all[depth].is_last;
		}
		if (is_hidden(k, &t))
			return true;
		/* b"/etc" */
		if (t.kind == AB_TOKEN_WORD && t.len < 3 &&
		    t.at + t.len < x.len && k->lang == AB_PY &&
		    memchr("'\"", x.text[t.at + t.len], 2)) {
			t = before;
			continue;
		}
		if (t.kind != AB_TOKEN_STRING || !t.len ||
		    !memchr("/~", x.text[t.at], 2))
			continue;
		if (depth >= MAX_OPEN || looked++ == MAX_LOOKED)
			return true;
		if (!ab_lexer_next(&behind, &next))
			next.kind = 0;
		if (all[depth].keeps && !all[depth].judges &&
		    (begins_value(k, &before) || is_result(k, &t, &before)) &&
		    is_of_system(k, &t, &next))
			return true;
	}
	return false;
}
