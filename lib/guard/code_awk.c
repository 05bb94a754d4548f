/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a program of awk runs and opens: `print | ("sort " k)`, `("date " d) |
 * getline` and system() run a shell's text, put together of strings and
 * names; `> f` and `getline < f` open a file, where -v or a beginning says what
 * f is.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"
#include "guard/files.h"
#include "guard/found.h"

#include <string.h>

/* The value of `NAME=VALUE`, which begins at a byte of the word, where that is
   the name. */
static bool is_given(const struct ab_code *k, const struct ab_word *w,
		     uint32_t at, const struct ab_token *t,
		     struct ab_word *value)
{
	const char *name = w->text + at;
	uint32_t n = w->len - at;

	return n > t->len && name[t->len] == '=' &&
	       !memcmp(name, k->text->text + t->at, t->len) &&
	       ab_word_slice(k->c, w, at + t->len + 1, n - t->len - 1, value) &&
	       value->len;
}

#define MAX_GIVEN 32 /* words that are looked through for each name */

/* The next value that the name is given, `-v c=x` or behind the program c=x:
   from *i on, of the first `end` of these words. */
static bool next_given(const struct ab_code *k, const struct ab_token *t,
		       uint32_t end, uint32_t *i, struct ab_word *value)
{
	const struct ab_use *use = k->use;
	uint32_t values = use ? use->value_count : 0;

	while (*i < end) {
		const struct ab_word *w;
		uint32_t n = (*i)++, at = 0;

		if (n < values) {
			w = &use->words[use->values[n].word];
			at = use->values[n].at;
		} else {
			w = &k->argv[n - values];
		}
		if (is_given(k, w, at, t, value))
			return true;
	}
	return false;
}

static void touch(struct ab_code *k, const struct ab_token *t, bool is_write)
{
	enum ab_role_kind role = is_write ? AB_ROLE_WRITE : AB_ROLE_READ;
	const struct ab_named *n = ab_code_value(k, t);
	const struct ab_use *use = k->use;
	uint32_t end = use ? use->value_count : 0, i = 0;
	struct ab_word value;

	for (uint32_t m = 0; n && !is_write && m < n->count; m++)
		ab_check_path(k->c, use, role, &n->words[m]);
	/* of more nobody looks which it is */
	if (end > MAX_GIVEN) {
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_DENY, k->text);
		return;
	}
	/* many words behind the program are names of files */
	end += end + k->argv_count > MAX_GIVEN ? 0 : k->argv_count;
	while (next_given(k, t, end, &i, &value)) {
		ab_check_path(k->c, use, role, &value);
		if (is_write)
			ab_file_make(k->c, use, &value);
	}
}

/* --- pipes ---------------------------------------------------------------- */

#define MAX_PIECES 32 /* of a command; to join more takes too long */

#define MAX_SKIPPED 64 /* tokens in brackets */

static char sign_of(const struct ab_code *k, const struct ab_token *t)
{
	return t->kind == AB_TOKEN_SIGN ? k->text->text[t->at] : 0;
}

/* f(x), a[x], $(x): what it is goes on behind the token. */
static bool has_brackets(const struct ab_code *k, const struct ab_lexer *x,
			 const struct ab_token *t)
{
	return t->kind == AB_TOKEN_WORD && x->pos < x->len &&
	       (k->text->text[x->pos] == '(' || k->text->text[x->pos] == '[');
}

#define MAX_LINES 8 /* of what it reads, and of how many bytes */
#define MAX_LINE 4096

/* $0, $1, $NF: which word of a line, of the last one UINT32_MAX; false: it is
   none that is known. */
static bool field_of(const struct ab_code *k, const struct ab_token *t,
		     uint32_t *which)
{
	const char *s = k->text->text + t->at;

	if (t->kind != AB_TOKEN_WORD || t->len < 2 || *s != '$')
		return false;
	*which = UINT32_MAX;
	if (t->len == 3 && !memcmp(s, "$NF", 3))
		return true;
	*which = (uint32_t)(s[1] - '0');
	return t->len == 2 && *which <= 9;
}

/* What stands between the words of a line: -F: and -F,. */
static char separator(const struct ab_code *k)
{
	const struct ab_use *use = k->use;

	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];
		const struct ab_word *w = &use->words[v->word];
		const struct ab_word *o = &use->words[v->option];

		if (o->len > 1 && o->text[1] == 'F' && w->len == v->at + 1)
			return w->text[v->at];
	}
	return ' ';
}

static void add_field(struct ab_code *k, const struct ab_word *line,
		      uint32_t which, struct ab_made *m)
{
	const char cut = which ? separator(k) : '\n';
	uint32_t at = 0, end = 0, n = 0;
	struct ab_word w;

	do {
		for (at = end + (n && cut != ' '); at < line->len &&
		     cut == ' ' && memchr(" \t", line->text[at], 2);)
			at++;
		for (end = at; end < line->len && line->text[end] != cut &&
			       (cut != ' ' || line->text[end] != '\t');)
			end++;
		n++;
	} while (end < line->len && n != which && which);
	if (end > at && (n == which || !which || which == UINT32_MAX) &&
	    ab_word_slice(k->c, line, at, end - at, &w))
		ab_made_add(k, m, &w);
}

/* A word of each line that it reads, as far as those are known; or else the
   names that a command has told. */
static void add_input(struct ab_code *k, uint32_t which, struct ab_made *m)
{
	const struct ab_shell_command *own = k->c->command;
	const struct ab_word *text = NULL, *file;
	const struct ab_stream *list = NULL;
	struct ab_word line;

	if (!k->use || !own)
		return;
	file = k->argv_count ? &k->argv[k->argv_count - 1] : NULL;
	if (file) {
		text = file->hole_count ? NULL : ab_file_content(k->c, file);
		list = ab_list_of(k->c, file);
	} else if (k->use->has_stdin) {
		text = k->use->in_text;
		list = ab_has_stdin(own) ? own->place.in : k->c->in_list;
	}
	for (uint32_t at = 0, n = 0; text && at < text->len && n < MAX_LINES;
	     n++) {
		uint32_t len = text->len - at;

		len = (uint32_t)ab_seek(text->text + at,
					len > MAX_LINE ? MAX_LINE : len, '\n');
		if (len < MAX_LINE && ab_word_slice(k->c, text, at, len, &line))
			add_field(k, &line, which, m);
		at += len + 1;
	}
	if (!m->count && ab_names_noted(list) &&
	    ab_list_word(k->c, list, &line))
		ab_made_word(k, m, &line);
}

/* A string, what sprintf() makes, and what a name stands for: that may also be
   something else, for nobody follows when it is set. */
static void piece_of(struct ab_code *k, struct ab_lexer *x,
		     const struct ab_token *t, struct ab_made *m)
{
	bool has_more = has_brackets(k, x, t);
	const struct ab_named *n = has_more ? NULL : ab_code_named(k, t);
	struct ab_lexer call = *x;
	struct ab_word w;
	uint32_t which;

	*m = (struct ab_made){ 0 };
	if (!has_more && field_of(k, t, &which))
		add_input(k, which, m);
	call.pos = t->at;
	if (t->kind == AB_TOKEN_STRING && ab_code_word(k, t, &w))
		ab_made_word(k, m, &w);
	else if (has_more &&
		 ab_code_read_expr(k, &call, m, AB_NEED_MADE) && !m->is_list)
		*x = call;
	for (uint32_t i = 0; n && !n->is_list && !n->is_unknown &&
			     !n->is_cut && i < n->count; i++)
		ab_made_add(k, m, &n->words[i]);
	if (!m->count || m->is_list)
		ab_made_hole(k, m);
}

/* The lexer goes behind the bracket that closes. False: too far away. */
static bool skip_brackets(struct ab_code *k, struct ab_lexer *x)
{
	struct ab_token t;
	int depth = 0, n = 0;

	while (n++ < MAX_SKIPPED && ab_lexer_next(x, &t)) {
		char ch = sign_of(k, &t);

		depth += ch == '(' || ch == '[';
		depth -= ch == ')' || ch == ']';
		if (depth <= 0)
			return true;
	}
	return false;
}

/* The text that a shell gets: from the lexer on, at most to `end`. */
struct command {
	struct ab_made text;	/* of names nothing is known */
	struct ab_made known;	/* they stand for what they are given */
	uint32_t count;		/* what it is put together of */
	struct ab_token first;
	bool is_computed;	/* by more than names */
	bool has_names;
};

static void add_piece(struct ab_code *k, struct command *r,
		      const struct ab_made *m, bool is_name)
{
	struct ab_made hole = { 0 };

	if (is_name)
		ab_made_hole(k, &hole);
	if (r->count++) {
		ab_made_join(k, &r->text, is_name ? &hole : m, AB_GLUE_TEXT);
		ab_made_join(k, &r->known, m, AB_GLUE_TEXT);
		return;
	}
	r->text = is_name ? hole : *m;
	r->known = *m;
}

static void read_command(struct ab_code *k, struct ab_lexer x, uint32_t end,
			 struct command *r)
{
	int depth = 0;
	struct ab_token t;
	struct ab_made m;

	while (!r->known.is_cut && ab_lexer_next(&x, &t) && t.at < end) {
		char ch = sign_of(k, &t);
		bool has_more = has_brackets(k, &x, &t);
		bool is_name = t.kind == AB_TOKEN_WORD && !has_more;
		uint32_t at = x.pos;

		if ((t.is_line && !depth && r->count) ||
		    (ch && memchr(";{}|", ch, 4)) ||
		    (ch == ')' && --depth < 0)) {
			/* (("a" | getline x) x): more of it follows */
			r->known.is_cut |= depth > 0;
			break;
		}
		depth += ch == '(';
		if (ch == '(' || ch == ')')
			continue;
		if (!r->count)
			r->first = t;
		r->is_computed |= has_more || k->text->text[t.at] == '$';
		r->has_names |= is_name;
		piece_of(k, &x, &t, &m);
		add_piece(k, r, &m, is_name);
		/* what was not read */
		r->known.is_cut |= r->count == MAX_PIECES ||
				   (has_more && x.pos == at &&
				    !skip_brackets(k, &x));
	}
}

/* True: it is a shell, `print | "sh"`, and runs what it is given. */
static bool run(struct ab_code *k, const struct ab_word *w)
{
	ab_check_script(k->c, w, true, NULL, 0, NULL);
	if (!ab_code_is_shell(k, w))
		return false;
	ab_check_flow(k->c, k->use, AB_SINK_SHELL, AB_TAINT_DECODE, w);
	return true;
}

/* What the name is given from outside: -v c=CMD, and c=CMD behind the
   program. */
static bool run_given(struct ab_code *k, const struct ab_token *t)
{
	uint32_t end = (k->use ? k->use->value_count : 0) + k->argv_count;
	bool is_any = false;
	uint32_t i = 0;
	struct ab_word value;

	if (end > MAX_GIVEN) {
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK, k->text);
		return true;
	}
	while (next_given(k, t, end, &i, &value)) {
		is_any = true;
		run(k, &value);
	}
	return is_any;
}

/* system(c), print | c, c | getline */
static bool run_name(struct ab_code *k, const struct ab_token *t)
{
	bool is_shell = false;
	const struct ab_named *n = ab_code_named(k, t);
	bool is_known = run_given(k, t) || (n && n->count && !n->is_unknown);

	if (!is_known) {
		ab_check_known(k->c, AB_KNOWN_INLINE, AB_V_ASK, k->text);
		k->runs_input = true;
		k->loose |= 1u << AB_CALL_SHELL; /* c = ARGV[1] */
	}
	if (n && n->is_cut)
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK, k->text);
	for (uint32_t i = 0; n && i < n->count; i++)
		is_shell |= run(k, &n->words[i]);
	return is_shell;
}

static bool run_all(struct ab_code *k, const struct ab_made *m)
{
	bool is_shell = false;

	for (uint32_t i = 0; i < m->count && !k->c->is_broken; i++) {
		if (ab_code_is_hole(&m->words[i]))
			ab_check_known(k->c, AB_KNOWN_INLINE, AB_V_ASK,
				       k->text);
		else
			is_shell |= run(k, &m->words[i]);
	}
	return is_shell;
}

/* What stands in a part of the text is run. True: by a shell, which runs what
   it finds on its stdin. */
static bool check_command(struct ab_code *k, uint32_t at, uint32_t end)
{
	struct command r = { .count = 0 };
	struct ab_lexer x = k->x;
	bool is_shell;

	x.pos = at;
	read_command(k, x, end, &r);
	if (r.count == 1 && r.first.kind == AB_TOKEN_WORD && !r.is_computed)
		return run_name(k, &r.first);
	k->runs_input |= r.is_computed;
	if (r.count == 1 && r.is_computed)
		k->loose |= 1u << AB_CALL_SHELL; /* ARGV[1] */
	if (r.known.is_cut)
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK, k->text);
	is_shell = run_all(k, &r.text);
	if (r.has_names)
		is_shell |= run_all(k, &r.known);
	return is_shell;
}

/* Where the expression at hand begins, in each bracket that is open. */
static void note_begin(struct ab_code *k, const struct ab_token *t)
{
	static const char *const words[] = { "print", "printf", "return",
					     "else",  "do",	"in" };
	struct ab_pipes *p = &k->pipes;
	char ch = sign_of(k, t);

	if (ch == '(' && p->depth < AB_CODE_BRACKETS)
		p->depth++;
	else if (ch == ')' && p->depth)
		p->depth--;
	else if (ch && memchr(";{}", ch, 3))
		p->depth = 0;
	if (t->is_line && !p->depth)
		p->begin[0] = t->at;
	if ((ch && memchr("(;{},=!?:~<>", ch, 12)) ||
	    (ch == '&' && !ab_code_is_sign(k, &k->before, '|')) ||
	    (ch == '|' && ab_code_is_sign(k, &k->before, '|')) ||
	    ab_code_is_one_of(k, t, words, AB_ARRAY_LEN(words)))
		p->begin[p->depth] = t->at + t->len;
}

/* print > f */
static void write_name(struct ab_code *k, const struct ab_token *t)
{
	const struct ab_named *n = ab_code_is_sign(k, &k->before, '>')
					   ? ab_code_value(k, t)
					   : NULL;

	for (uint32_t i = 0; n && i < n->count; i++)
		ab_code_write(k, &n->words[i]);
}

/* `|` that is not `||`, and `|&`, are before the token. */
static bool is_piped(const struct ab_code *k, const struct ab_token *t)
{
	const struct ab_token *pipe = &k->before, *before = &k->behind;

	if (ab_code_is_sign(k, pipe, '&'))
		return ab_code_is_sign(k, before, '|');
	return ab_code_is_sign(k, pipe, '|') &&
	       !ab_code_is_sign(k, before, '|') &&
	       !ab_code_is_sign(k, t, '|') && !ab_code_is_sign(k, t, '&');
}

/* The token is the first behind a pipe. */
static void check_pipe(struct ab_code *k, const struct ab_token *t)
{
	const struct ab_token *last = &k->before;
	uint32_t *begin = &k->pipes.begin[k->pipes.depth];
	uint32_t from = *begin, behind = last->at + 1;
	uint32_t pipe = ab_code_is_sign(k, last, '&') ? k->behind.at : last->at;

	*begin = behind;
	if (ab_code_is_text(k, t, "getline"))
		(void)check_command(k, from, pipe);
	else if (check_command(k, behind, k->text->len))
		(void)check_command(k, from, pipe);
}

void ab_code_awk_token(struct ab_code *k, const struct ab_token *t)
{
	struct ab_lexer x = k->x;
	struct ab_token next;

	write_name(k, t);
	if (is_piped(k, t))
		check_pipe(k, t);
	else if (ab_code_is_text(k, t, "system") && ab_lexer_next(&x, &next) &&
		 ab_code_is_sign(k, &next, '('))
		(void)check_command(k, x.pos, k->text->len);
	note_begin(k, t);
}

/* --- files ---------------------------------------------------------------- */

void ab_code_check_awk(struct ab_code *k)
{
	struct ab_token t, last = { 0 };

	ab_lexer_rewind(&k->x);
	while (ab_lexer_next(&k->x, &t) && !k->c->is_broken) {
		bool is_write = ab_code_is_sign(k, &last, '>');

		if (t.kind == AB_TOKEN_WORD &&
		    (is_write || ab_code_is_sign(k, &last, '<')))
			touch(k, &t, is_write);
		last = t;
	}
}
