/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Languages that are known by their calls alone (R, julia, lisp, go, rust, c,
 * applescript and others): commands in backquotes, and calls whose command is
 * computed. What it is made of is not followed there; so each string that
 * begins with a program of the table is taken for that command, alone and with
 * the plain strings behind it. The same goes for the names of what is removed,
 * in programs of one line.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

#include "guard/command.h"

#define MAX_SHORT 400  /* bytes of a program that a line can hold */
#define MAX_JOINED 32  /* strings that others are joined to */
#define MAX_PIECES 16
#define MAX_LINE 1024

/* What follows the name of a call: a string alone, or a value. */
static bool is_computed(const struct ab_code *k, struct ab_lexer x)
{
	struct ab_token t;

	if (!ab_lexer_next(&x, &t) || t.is_line)
		return false;
	if (t.kind == AB_TOKEN_SIGN && memchr("([{:", k->text->text[t.at], 4))
		while (t.kind == AB_TOKEN_SIGN &&
		       memchr("([{:'&!", k->text->text[t.at], 7)) {
			if (!ab_lexer_next(&x, &t))
				return false;
		}
	if (t.kind == AB_TOKEN_WORD)
		return true;
	if (t.kind != AB_TOKEN_STRING || !ab_lexer_next(&x, &t) || t.is_line)
		return false;
	/* "git ", args: a name, and none of an option */
	if (ab_code_is_sign(k, &t, ','))
		return ab_lexer_next(&x, &t) && t.kind == AB_TOKEN_WORD &&
		       ab_lexer_next(&x, &t) && !ab_code_is_sign(k, &t, '=') &&
		       !ab_code_is_sign(k, &t, '(') &&
		       !ab_code_is_sign(k, &t, '{');
	/* "git " & "push" */
	return t.kind == AB_TOKEN_SIGN &&
	       memchr("+&.<~^|*", k->text->text[t.at], 8);
}

/* groovy: c.execute(), scala: c.!, Seq("a", "b").!! */
static bool is_method(const struct ab_code *k, const struct ab_token *t,
		      const struct ab_token *before,
		      const struct ab_token *behind)
{
	if (!ab_code_is_sign(k, before, '.'))
		return false;
	if (ab_code_is_sign(k, t, '!'))
		return behind->kind == AB_TOKEN_WORD ||
		       ab_code_is_sign(k, behind, ')');
	return behind->kind == AB_TOKEN_WORD &&
	       ab_code_is_text(k, t, "execute");
}

static bool is_removal(uint8_t call)
{
	return call == AB_CALL_REMOVE || call == AB_CALL_DELETE;
}

/* sapply(x, unlink), Map(system, x): handed on to be called. */
static bool is_handed_on(const struct ab_code *k, struct ab_lexer x,
			 const struct ab_token *before)
{
	struct ab_token t;

	return (ab_code_is_sign(k, before, ',') ||
		ab_code_is_sign(k, before, '(')) &&
	       ab_lexer_next(&x, &t) &&
	       (ab_code_is_sign(k, &t, ',') || ab_code_is_sign(k, &t, ')'));
}

/* do.call("system", ...), get("system")(...), feval("system", ...): the call
   of that name. */
static uint8_t named_call(const struct ab_code *k, struct ab_lexer x,
			  const struct ab_token *t,
			  const struct ab_token *before,
			  const struct ab_token *behind)
{
	static const char *const names[] = { "call", "get",   "fun",
					     "feval", "what", "get0",
					     "getFunction", "mget" };
	const struct ab_token word = { .kind = AB_TOKEN_WORD, .at = t->at,
				       .len = t->len };
	struct ab_token next;

	if ((!ab_code_is_sign(k, before, '(') &&
	     !ab_code_is_sign(k, before, '=')) ||
	    !ab_lexer_next(&x, &next) ||
	    !(ab_code_is_sign(k, &next, ',') ||
	      ab_code_is_sign(k, &next, ')')) ||
	    !ab_code_is_one_of(k, behind, names, AB_ARRAY_LEN(names)))
		return AB_CALL_NONE;
	return ab_code_call(k, &word);
}

/* octave: unix("..."), R: pipe("...") */
static bool is_runner(const struct ab_code *k, struct ab_lexer x,
		      const struct ab_token *t)
{
	static const char *const names[] = { "unix", "dos", "shell_cmd",
					     "pipe" };
	struct ab_token next;

	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names)) &&
	       ab_lexer_next(&x, &next) && ab_code_is_sign(k, &next, '(') &&
	       ab_lexer_next(&x, &next) && next.kind == AB_TOKEN_STRING;
}

enum { RUNS = 1, REMOVES = 2 };

static unsigned what_is_computed(const struct ab_code *k)
{
	struct ab_lexer x = { .text = k->text->text, .len = k->text->len,
			      .traits = k->x.traits };
	struct ab_token t, before = { 0 }, behind = { 0 };
	unsigned found = 0;

	while (ab_lexer_next(&x, &t)) {
		uint8_t call = t.kind == AB_TOKEN_WORD ? ab_code_call(k, &t)
						       : AB_CALL_NONE;

		if (t.kind == AB_TOKEN_STRING &&
		    (call = named_call(k, x, &t, &before, &behind)))
			found |= call == AB_CALL_SHELL ? RUNS :
				 is_removal(call)      ? REMOVES :
							 0;
		else if (is_method(k, &t, &before, &behind) ||
			 is_runner(k, x, &t) ||
			 (call == AB_CALL_SHELL &&
			  (is_computed(k, x) || is_handed_on(k, x, &before))))
			found |= RUNS;
		if (is_removal(call) &&
		    (is_handed_on(k, x, &before) || is_computed(k, x)))
			found |= REMOVES;
		behind = before;
		before = t;
	}
	return found;
}

static bool is_plain(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->len; i++) {
		if (memchr("\"'`$;&|<>(){}\\\n#", w->text[i], 16))
			return false;
	}
	return w->len && !w->hole_count;
}

/* Of the first word of a command, if a program of the table has that name. */
static bool names_program(const struct ab_code *k, const struct ab_word *w)
{
	struct ab_word first = *w;
	uint32_t at = 0;

	while (at < w->len && w->text[at] == ' ')
		at++;
	first.text += at;
	first.len = 0;
	while (at + first.len < w->len &&
	       !memchr(" \t\n", first.text[first.len], 3))
		first.len++;
	first.holes = NULL;
	first.hole_count = 0;
	return first.len && ab_names_program(k->c, &first);
}

static bool is_shell(const struct ab_word *w)
{
	static const char *const names[] = { "sh", "bash", "zsh", "dash" };
	struct ab_word name = *w;
	uint32_t base = ab_name_base(w);

	name.text += base;
	name.len -= base;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (ab_word_equals(&name, names[i]))
			return true;
	}
	return false;
}

/* -c, -lc: the next is a text for the shell. */
static bool takes_text(const struct ab_word *w)
{
	return w->len > 1 && *w->text == '-' && w->text[1] != '-' &&
	       w->text[w->len - 1] == 'c';
}

/* rust: c.arg("x"), of the next statement too. */
static bool is_argument(const struct ab_code *k, struct ab_lexer x)
{
	struct ab_token t;

	return ab_lexer_next(&x, &t) && ab_code_is_sign(k, &t, '.') &&
	       ab_lexer_next(&x, &t) &&
	       (ab_code_is_text(k, &t, "arg") ||
		ab_code_is_text(k, &t, "args"));
}

/* A line that is put together of words. */
struct line {
	struct ab_word all;
	char *text;
	bool is_shell, is_text; /* the next word is one for the shell */
};

/* False: that was the last. */
static bool join_word(struct ab_code *k, struct line *l,
		      const struct ab_word *w)
{
	if (l->is_text) {
		ab_check_script(k->c, w, true, NULL, 0, NULL);
		l->all.len = 0;
		return false;
	}
	l->is_text = l->is_shell && takes_text(w);
	if (!is_plain(w) || l->all.len + w->len + 1 >= MAX_LINE)
		return false;
	l->text[l->all.len++] = ' ';
	memcpy(l->text + l->all.len, w->text, w->len);
	l->all.len += w->len;
	return true;
}

/* "x", or a name that stands for it, or for more than one. */
static bool join_token(struct ab_code *k, struct line *l,
		       const struct ab_token *t)
{
	const struct ab_named *n;
	struct ab_word more;
	bool goes_on = true;

	if (t->kind == AB_TOKEN_STRING)
		return ab_code_word(k, t, &more) && join_word(k, l, &more);
	n = t->kind == AB_TOKEN_WORD ? ab_code_value(k, t) : NULL;
	for (uint32_t i = 0; n && goes_on && i < (n->is_list ? n->count : 1);
	     i++)
		goes_on = join_word(k, l, &n->words[i]);
	return goes_on;
}

/* The string with those behind it, as one line. */
static void run_joined(struct ab_code *k, struct ab_lexer x,
		       const struct ab_word *w)
{
	char *text = ab_check_alloc(k->c, MAX_LINE);
	struct line l = { .all = { .text = text, .len = w->len,
				   .span = w->span },
			  .text = text, .is_shell = is_shell(w) };
	bool is_over = false;
	struct ab_token t;
	uint32_t i = 0;

	if (!text || !is_plain(w) || w->len >= MAX_LINE)
		return;
	memcpy(text, w->text, w->len);
	while (i < MAX_PIECES && ab_lexer_next(&x, &t)) {
		if (t.kind == AB_TOKEN_SIGN) {
			is_over |= ab_code_is_sign(k, &t, ';');
			continue;
		}
		is_over |= t.is_line && t.kind == AB_TOKEN_WORD;
		if (is_over && !(t.kind == AB_TOKEN_WORD &&
				 is_argument(k, x)))
			break;
		i += t.kind == AB_TOKEN_STRING || is_over;
		is_over = false;
		if (!join_token(k, &l, &t))
			break;
	}
	if (l.all.len > w->len)
		ab_check_script(k->c, &l.all, true, NULL, 0, NULL);
}

static void take_string(struct ab_code *k, const struct ab_token *t,
			const struct ab_lexer *x, unsigned found,
			uint32_t *joined)
{
	bool is_quoted = t->quote == '`';
	struct ab_word w;

	if (!ab_code_word(k, t, &w) || !w.len)
		return;
	if (found & REMOVES && w.len > 1 && !memchr(w.text, ' ', w.len) &&
	    memchr("/~", *w.text, 2))
		ab_check_path(k->c, k->use, AB_ROLE_REMOVE, &w);
	/* R has names in them */
	if (is_quoted && !memchr(w.text, ' ', w.len))
		return;
	if (!(found & RUNS || is_quoted) || !names_program(k, &w))
		return;
	ab_check_script(k->c, &w, true, NULL, 0, NULL);
	if (!(found & RUNS))
		return;
	if (++*joined > MAX_JOINED)
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK, k->text);
	else
		run_joined(k, *x, &w);
}

/* Command::new(x), and no `x = `: a name that stands for a program. */
static void take_name(struct ab_code *k, const struct ab_token *t,
		      const struct ab_lexer *x, uint32_t *joined)
{
	const struct ab_named *n = ab_code_value(k, t);
	struct ab_lexer behind = *x;
	struct ab_token next;

	if (!n || n->is_list || !n->count || !names_program(k, n->words) ||
	    !ab_lexer_next(&behind, &next) ||
	    ab_code_is_sign(k, &next, '=') || ab_code_is_sign(k, &next, ':'))
		return;
	if (++*joined > MAX_JOINED)
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK, k->text);
	else
		run_joined(k, *x, n->words);
}

void ab_code_check_other(struct ab_code *k)
{
	unsigned found = what_is_computed(k);
	struct ab_lexer x = { .text = k->text->text, .len = k->text->len,
			      .traits = k->x.traits };
	uint32_t joined = 0;
	struct ab_token t;

	if (k->text->len > MAX_SHORT ||
	    memchr(k->text->text, '\n', k->text->len))
		found &= ~(unsigned)REMOVES;
	if (!found && !memchr(k->text->text, '`', k->text->len))
		return;
	k->x = x;
	while (ab_lexer_next(&x, &t) && !k->c->is_broken) {
		k->last = NULL;
		if (t.kind == AB_TOKEN_STRING)
			take_string(k, &t, &x, found, &joined);
		else if (t.kind == AB_TOKEN_WORD && k->name_count &&
			 found & RUNS)
			take_name(k, &t, &x, &joined);
	}
}
