/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What runs a command or names a file in an inline program without being a
 * call: strings in backquotes, lines for a shell, names of paths,
 * and modules that the text wrote. Refuses to look for the end of a command
 * without quotes for ever; imports that are too many or too deep are asked
 * about.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"

#include <string.h>

#define MAX_COMMAND 65536

/* %x(...) and qx{...}: a command without quotes. */
static void bare_command(struct ab_code *k)
{
	static const char open[] = "([{<", close[] = ")]}>";
	struct ab_lexer *x = &k->x;
	struct ab_token t = { .at = x->pos + 1, .quote = '`' };
	const char *at;
	struct ab_word w;
	uint32_t stop;
	int depth = 1;
	char begin, end;

	while (k->lang == AB_PERL && x->pos < x->len &&
	       x->text[x->pos] == ' ')
		t.at = ++x->pos + 1;
	if (x->pos >= x->len || memchr("=, ;", x->text[x->pos], 4))
		return;
	begin = x->text[x->pos];
	at = memchr(open, begin, 4);
	end = at ? close[at - open] : begin;
	if (x->pos < x->plain_to)
		return;
	stop = x->len - x->pos > MAX_COMMAND ? x->pos + MAX_COMMAND
					     : x->len;
	for (uint32_t i = t.at; i < stop && depth; i++) {
		if (x->text[i] == '\\')
			i++; /* qx/ls \// */
		else if (x->text[i] == end)
			depth--;
		else if (x->text[i] == begin)
			depth++;
		t.len = i - t.at;
	}
	/* as the lexer does, or time is not linear */
	if (depth)
		x->plain_to = stop;
	else if (ab_code_word(k, &t, &w))
		ab_check_script(k->c, &w, true, NULL, 0, NULL);
}

/* ipython: !ls */
static void shell_line(struct ab_code *k)
{
	const char *from = k->x.text + k->x.pos;
	const char *end = memchr(from, '\n', k->x.len - k->x.pos);
	uint32_t n = end ? (uint32_t)(end - from) : k->x.len - k->x.pos;
	struct ab_word w;

	if (ab_word_slice(k->c, k->text, k->x.pos, n, &w))
		ab_check_script(k->c, &w, true, NULL, 0, NULL);
}

#define MAX_GLOB 4096 /* bytes; no path is longer, and time stays linear */

/* perl: what unlink gets of <a/b*>. A name alone, or none, is a handle that is
   read. */
static void angle_glob(struct ab_code *k)
{
	struct ab_lexer *x = &k->x;
	const char *from = x->text + x->pos;
	uint32_t room = x->len - x->pos;
	const char *end = memchr(from, '>', room < MAX_GLOB ? room : MAX_GLOB);
	uint32_t n = end ? (uint32_t)(end - from) : 0;
	struct ab_word w;

	if (!n || memchr(from, '\n', n) || memchr(from, '$', n) ||
	    !(memchr(from, '/', n) || memchr(from, '.', n)) ||
	    !ab_code_takes_away(k) ||
	    !ab_word_slice(k->c, k->text, x->pos, n, &w))
		return;
	(void)ab_code_glob(k, &w, true);
	ab_check_path(k->c, k->use, AB_ROLE_DELETE, &w);
}

/* groovy: "ls".execute(), scala: "ls".! and "ls" !! */
static bool is_executed(const struct ab_code *k)
{
	struct ab_lexer x = k->x;
	struct ab_token t;

	if (!ab_lexer_next(&x, &t))
		return false;
	if (ab_code_is_sign(k, &t, '!'))
		return x.pos >= x.len || x.text[x.pos] != '=';
	return ab_code_is_sign(k, &t, '.') && ab_lexer_next(&x, &t) &&
	       (ab_code_is_sign(k, &t, '!') ||
		ab_code_is_text(k, &t, "execute"));
}

/* A string in backquotes, or awk's `> "f"` and `< "f"`. */
static void loose_string(struct ab_code *k, const struct ab_token *t)
{
	struct ab_word w;
	bool is_run = ab_code_runs_text(k, t) ||
		      (t->quote == '`' && k->lang == AB_JS &&
		       ab_code_is_text(k, &k->before, "$"));

	if (!ab_code_text_word(k, t, &w))
		return;
	if (k->lang == AB_AWK) {
		if (w.len > 6 && !memcmp(w.text, "/inet/", 6))
			ab_check_path(k->c, k->use, AB_ROLE_READ, &w);
		else if (ab_code_is_sign(k, &k->before, '>'))
			ab_code_write(k, &w);
		else if (ab_code_is_sign(k, &k->before, '<'))
			ab_check_path(k->c, k->use, AB_ROLE_READ, &w);
	}
	if (k->lang == AB_OTHER)
		is_run |= is_executed(k);
	if (!is_run)
		return;
	ab_check_script(k->c, &w, true, NULL, 0, NULL);
}

/* What is done with each of them. */
static void judge_paths(struct ab_code *k, struct ab_args *a,
			enum ab_call kind, const struct ab_word *words,
			uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (ab_code_is_narrow_entry(k, kind, &words[i]))
			continue;
		*a = (struct ab_args){ .count = 1 };
		a->words[0] = words[i];
		ab_code_judge(k, kind, a);
	}
}

/* (p / "x").unlink(), Path("x").expanduser().read_text(): what is done with a
   path that is put together. */
static bool made_path(struct ab_code *k, struct ab_args *a,
		      const struct ab_token *t)
{
	const struct ab_lexer was = k->x;
	struct ab_lexer x = k->x, behind;
	enum ab_call kind;
	struct ab_made m;

	if (t->kind != AB_TOKEN_WORD || ab_code_is_sign(k, &k->before, '/'))
		return false;
	if (!ab_code_is_path_type(k, t)) {
		const struct ab_named *n = ab_code_named(k, t);

		if (!n || !n->is_path || ab_code_is_sign(k, &k->before, '.'))
			return false;
	}
	x.pos = t->at;
	if (!ab_code_read_expr(k, &x, &m, AB_NEED_MADE) || !m.is_path ||
	    m.is_list)
		return false;
	ab_made_cut(k, &m, false);
	k->x = behind = x;
	kind = ab_code_path_method(k, &behind);
	k->x = was;
	if (behind.pos == x.pos)
		return false;
	if (kind == AB_CALL_LINK || kind == AB_CALL_ALIAS)
		kind = AB_CALL_WRITE;
	judge_paths(k, a, kind, m.words, m.count);
	return true;
}

/* p = Path("x"); p.unlink() */
static void named_path(struct ab_code *k, struct ab_args *a,
		       const struct ab_token *t)
{
	const struct ab_named *n = t->kind == AB_TOKEN_WORD && k->name_count
					   ? ab_code_named(k, t)
					   : NULL;
	struct ab_lexer behind = k->x;
	enum ab_call kind;

	if (made_path(k, a, t) || !n || !n->is_path || n->call)
		return;
	kind = ab_code_path_method(k, &behind);
	if (behind.pos == k->x.pos)
		return;
	judge_paths(k, a, kind, n->words, n->count);
}

/* groovy: ["ls", "x"].execute(), c.execute() */
static void executed_value(struct ab_code *k, const struct ab_token *t)
{
	struct ab_lexer x = k->x;
	struct ab_token dot, name;
	struct ab_made m;

	if (!(ab_code_is_sign(k, t, '[') ? k->before.kind != AB_TOKEN_WORD
					 : ab_code_named(k, t) != NULL))
		return;
	x.pos = t->at;
	if (!ab_code_read_expr(k, &x, &m, AB_NEED_ANY) ||
	    !ab_lexer_next(&x, &dot) ||
	    !ab_code_is_sign(k, &dot, '.') || !ab_lexer_next(&x, &name) ||
	    !ab_code_is_text(k, &name, "execute"))
		return;
	if (m.is_list)
		ab_check_words(k->c, m.words, m.count, 0, NULL, false);
	for (uint32_t i = 0; i < m.count && !m.is_list; i++)
		ab_check_script(k->c, &m.words[i], true, NULL, 0, NULL);
}

/* What runs a command or names a file without being a call. */
void ab_code_loose(struct ab_code *k, struct ab_args *a,
		   const struct ab_token *t)
{
	if (t->kind == AB_TOKEN_STRING) {
		loose_string(k, t);
		ab_code_import(k, t);
		ab_code_read_string(k, t);
		ab_code_handed_string(k, t);
		ab_code_pieced_name(k, t);
	}
	if (k->lang & (AB_PY | AB_RUBY))
		named_path(k, a, t);
	if (AB_UNLIKELY(k->c->has_files))
		ab_code_module(k, t);
	switch (k->lang) {
	case AB_PY:
		ab_code_run_program(k, a, t);
		if (ab_code_is_sign(k, t, '!') && (t->is_line || !t->at))
			shell_line(k);
		break;
	case AB_RUBY:
		if (ab_code_is_text(k, t, "x") &&
		    ab_code_is_sign(k, &k->before, '%'))
			bare_command(k);
		break;
	case AB_PERL:
		if (ab_code_is_text(k, t, "qx"))
			bare_command(k);
		else if (ab_code_is_sign(k, t, '<'))
			angle_glob(k);
		break;
	case AB_AWK:
		ab_code_awk_token(k, t);
		break;
	case AB_OTHER:
		executed_value(k, t);
		break;
	default:
		break;
	}
}
