/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inline programs (python -c, perl -e, awk): calls that run commands or touch
 * files, as far as their arguments are literal, or names of what is. The
 * strings of such a call are judged as the shell would get them, and the
 * expressions in a string are code. What is computed is not followed: where it
 * is the command itself it is asked about, and the token rules of the language
 * look for the computing.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"

#include <string.h>
#include <strings.h>

/* How many bytes at the beginning are a home; 0: none. */
static uint32_t home_len(const struct ab_word *w, bool is_expanded)
{
	static const char *const heads[] = { "$ENV{HOME}", "$ENV{'HOME'}",
					     "#{Dir.home}" };

	if (is_expanded && w->len && *w->text == '~' &&
	    (w->len == 1 || w->text[1] == '/'))
		return 1;
	for (size_t i = 0; i < AB_ARRAY_LEN(heads); i++) {
		uint32_t n = (uint32_t)strlen(heads[i]);

		if (w->len >= n && !memcmp(w->text, heads[i], n))
			return n;
	}
	return 0;
}

/* "~/x" for what expands it, and "$ENV{HOME}/x". */
static void expand_home(struct ab_code *k, struct ab_word *w, bool is_expanded)
{
	const struct ab_known_path *home = &k->c->place->home;
	uint32_t n = home_len(w, is_expanded);
	char *text;

	if (!home->text || !n || w->hole_count)
		return;
	text = ab_check_alloc(k->c, home->len + w->len);
	if (!text)
		return;
	memcpy(text, home->text, home->len);
	memcpy(text + home->len, w->text + n, w->len - n);
	w->text = text;
	w->len += home->len - n;
	w->holes = NULL;
	w->hole_count = 0;
	w->map = NULL;
	w->map_count = 0;
}

/* perl and ruby: open(F, "CMD |"), open("| CMD"), open(F, "-|", "CMD"). */
static bool open_command(struct ab_code *k, struct ab_args *a)
{
	struct ab_word w = a->words[0], rest;
	uint32_t from = 0, len = w.len;

	if (!(k->lang & (AB_PERL | AB_RUBY)) || !w.len)
		return false;
	if (w.len == 2 && a->count > 1 &&
	    (!memcmp(w.text, "-|", 2) || !memcmp(w.text, "|-", 2))) {
		if (a->count > 2) {
			ab_check_words(k->c, &a->words[1], a->count - 1, 0,
				       NULL, false);
			return true;
		}
		w = a->words[1];
		len = w.len;
	} else if (*w.text == '|') {
		from = 1;
	} else if (w.text[w.len - 1] == '|') {
		len--;
	} else {
		return false;
	}
	if (ab_word_slice(k->c, &w, from, len - from, &rest) && rest.len) {
		ab_check_script(k->c, &rest, true, NULL, 0, NULL);
		/* what is printed into a shell is not seen */
		const struct ab_program *p = ab_pack_program(
			k->c->pack, rest.text, rest.len);

		if (from && p && ab_has_role(p, AB_ROLE_STDIN_SHELL))
			ab_check_flow(k->c, k->use, AB_SINK_SHELL,
				      AB_TAINT_DECODE, &rest);
	}
	return true;
}

/* The file is written: with what the network sent, where the program reads
   that. */
static void write_path(struct ab_code *k, const struct ab_word *w)
{
	if (ab_code_is_fetching(k))
		ab_file_save(k->c, w, AB_TAINT_REMOTE, NULL, false);
	else
		ab_check_path(k->c, k->use, AB_ROLE_WRITE, w);
}

/* perl: open(F, ">x"), "+<x" and "<x" say how and what in one. */
static bool open_mode(struct ab_code *k, const struct ab_word *w)
{
	struct ab_word path;
	uint32_t from = 0;

	while (from < w->len && memchr("+<> ", w->text[from], 4))
		from++;
	if (k->lang != AB_PERL || !from || from == w->len ||
	    !ab_word_slice(k->c, w, from, w->len - from, &path))
		return false;
	if (memchr(w->text, '>', from) || *w->text == '+')
		write_path(k, &path);
	else
		ab_check_path(k->c, k->use, AB_ROLE_READ, &path);
	return true;
}

/* perl: the mode of open(F, MODE, "x"). */
static bool is_open_mode(const struct ab_code *k, const struct ab_args *a)
{
	const struct ab_word *w = &a->words[0];

	return k->lang == AB_PERL && a->count > 1 && w->len &&
	       memchr("+<>", *w->text, 3) &&
	       (w->len < 4 || memchr(w->text, ':', w->len));
}

/* "w", "a", "r+": of the words behind the name. */
static bool has_write_mode(const struct ab_args *a)
{
	for (uint32_t i = 1; i < a->count; i++) {
		const struct ab_word *w = &a->words[i];

		if (w->len && w->len < 4 &&
		    (memchr("wax", *w->text, 3) ||
		     memchr(w->text, '+', w->len)))
			return true;
	}
	return a->is_written;
}

static void open_call(struct ab_code *k, struct ab_args *a)
{
	struct ab_word *w = &a->words[0];
	bool is_write;

	if (!a->count)
		return;
	if (is_open_mode(k, a)) {
		is_write = memchr(w->text, '>', w->len) || *w->text == '+';
		w = &a->words[1];
		expand_home(k, w, false);
	} else if (open_command(k, a) || open_mode(k, w)) {
		return;
	} else {
		is_write = has_write_mode(a);
	}
	if (is_write)
		write_path(k, w);
	else
		ab_check_path(k->c, k->use, AB_ROLE_READ, w);
	k->c->out_taint |= AB_TAINT_FILE;
}

static void chmod_call(struct ab_code *k, struct ab_args *a)
{
	struct ab_word words[3] = { { .text = "chmod", .len = 5 } };

	if (a->count > 1 && !a->number_token.len) /* chmodSync("x", "777") */
		words[1] = a->words[1];
	else if (!a->number_token.len || !a->count ||
		 !ab_code_word(k, &a->number_token, &words[1]))
		return;
	/* 0o777 and 0777 are 777 */
	while (words[1].len > 1 && memchr("0oO", words[1].text[0], 3)) {
		words[1].text++;
		words[1].len--;
	}
	words[2] = a->words[0];
	words[0].span = words[1].span;
	ab_check_words(k->c, words, 3, 0, NULL, false);
}

/* More than the name of a program: the shell reads it. */
static bool is_line(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->len; i++) {
		if (memchr(" \t\n;&|", w->text[i], 6))
			return true;
	}
	return false;
}

static void run_call(struct ab_code *k, struct ab_args *a)
{
	if (a->has_block) {
		a->words[0] = a->block;
		ab_check_words(k->c, a->words, a->count ? a->count : 1, 0,
			       NULL, false);
		return;
	}
	if (!a->count)
		return;
	/* what stands behind a line are options of the call: cwd="/tmp" */
	if (a->count == 1 || is_line(&a->words[0]))
		ab_check_script(k->c, &a->words[0], true, NULL, 0, NULL);
	/* system("ls" if x else "make") */
	for (uint32_t i = 1; i < a->count && a->is_either; i++)
		ab_check_script(k->c, &a->words[i], true, NULL, 0, NULL);
	if (a->count > 1 || a->has_input)
		ab_check_words(k->c, a->words, a->count,
			       a->has_input && ab_code_is_fetching(k)
				       ? AB_TAINT_REMOTE
				       : 0,
			       a->input.text ? &a->input : NULL,
			       a->has_input);
}

/* Path("x").write_text(...): what is done with it stands behind it. */
static enum ab_call path_method(const struct ab_code *k,
				struct ab_lexer *behind)
{
	static const struct {
		const char *name;
		uint8_t kind;
	} methods[] = {
		{ "write_text", AB_CALL_WRITE },
		{ "write_bytes", AB_CALL_WRITE },
		{ "touch", AB_CALL_WRITE },      { "mkdir", AB_CALL_WRITE },
		{ "symlink_to", AB_CALL_LINK },
		{ "hardlink_to", AB_CALL_ALIAS },
		{ "unlink", AB_CALL_DELETE },    { "rmdir", AB_CALL_DELETE },
		{ "rglob", AB_CALL_WALK },	 { "glob", AB_CALL_WALK },
		{ "iterdir", AB_CALL_WALK },	 { "walk", AB_CALL_WALK },
		{ "rename", AB_CALL_DELETE },    { "replace", AB_CALL_DELETE },
		{ "rmtree", AB_CALL_REMOVE },	 { "delete", AB_CALL_DELETE },
		{ "write", AB_CALL_WRITE },
	};
	struct ab_lexer x = k->x;
	struct ab_token t, mode;

	/* (home / "x").unlink() closes another one */
	do {
		if (!ab_lexer_next(&x, &t))
			return AB_CALL_READ;
	} while (ab_code_is_sign(k, &t, ')'));
	if (!ab_code_is_sign(k, &t, '.') || !ab_lexer_next(&x, &t))
		return AB_CALL_READ;
	*behind = x;
	for (size_t i = 0; i < AB_ARRAY_LEN(methods); i++) {
		if (ab_code_is_text(k, &t, methods[i].name))
			return (enum ab_call)methods[i].kind;
	}
	/* Path("x").open("a") */
	if (ab_code_is_text(k, &t, "open") && ab_lexer_next(&x, &t) &&
	    ab_lexer_next(&x, &mode) && mode.kind == AB_TOKEN_STRING &&
	    mode.len < 4) {
		for (uint32_t i = 0; i < mode.len; i++) {
			if (memchr("wax+", k->text->text[mode.at + i], 4))
				return AB_CALL_WRITE;
		}
	}
	return AB_CALL_READ;
}

/* `src/` + `**` + `/` + NAME: src/NAME, or all of src. */
static void cut_deep(struct ab_code *k, struct ab_word *w, uint32_t at)
{
	const char *slash = memrchr(w->text, '/', w->len);
	uint32_t from = (uint32_t)(slash - w->text) + 1, letters = 0;
	char *text = ab_check_alloc(k->c, w->len);

	for (uint32_t i = from; i < w->len; i++)
		letters += !memchr("*?[].!^-{},\\", w->text[i], 12);
	if (!text || from != at + 3 || !letters ||
	    memchr(w->text + from, '[', w->len - from)) {
		w->len = at + 1;
		return;
	}
	memcpy(text, w->text, at);
	memcpy(text + at, w->text + from, w->len - from);
	w->text = text;
	w->len = at + w->len - from;
	w->map = NULL;
	w->map_count = 0;
}

/* The names that a pattern takes, as paths of the shell: false: it is none. */
static bool glob_word(struct ab_code *k, struct ab_word *w, bool is_deep)
{
	struct ab_hole *hole = ab_check_alloc(k->c, sizeof(*hole));
	uint32_t at = 0;

	while (at < w->len && !memchr("*?[", w->text[at], 3))
		at++;
	if (!hole || w->hole_count || at == w->len)
		return false;
	/* two stars: all that is below, or what has such a name there */
	if (is_deep && w->len > at + 2 && !memcmp(w->text + at, "**/", 3))
		cut_deep(k, w, at);
	*hole = (struct ab_hole){ .at = at, .len = w->len - at,
				  .kind = AB_HOLE_PATTERN, .span = w->span };
	w->holes = hole;
	w->hole_count = 1;
	return true;
}

/* A name as it is seen from where chdir("x") went. */
static void rebase(struct ab_code *k, struct ab_word *w)
{
	struct ab_word full = k->cwd;
	const struct ab_word slash = { .text = "/", .len = 1 };

	if (!k->cwd.len || !w->len || memchr("/~", *w->text, 2))
		return;
	k->last = NULL;
	ab_code_append(k, &full, &slash);
	ab_code_append(k, &full, w);
	full.span = w->span;
	*w = full;
}

#define MAX_CWD 512 /* beyond it time would not be linear */

/* The scratch memory of a call is given back. */
static void keep_cwd(struct ab_code *k, const struct ab_word *w)
{
	char *text;

	k->cwd.len = 0;
	if (w->len > MAX_CWD) {
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK, w);
		return;
	}
	text = ab_arena_high(k->c->high, w->len + 1);
	if (!text) {
		k->c->is_broken = true;
		return;
	}
	memcpy(text, w->text, w->len);
	k->cwd = (struct ab_word){ .text = text, .len = w->len,
				   .span = w->span };
}

/* Which of the arguments are names of files: as many from the first on. */
static uint32_t names_of(const struct ab_code *k, enum ab_call kind,
			 const struct ab_args *a)
{
	switch (kind) {
	case AB_CALL_NONE:
	case AB_CALL_SHELL:
	case AB_CALL_CODE:
	case AB_CALL_SQL:
	case AB_CALL_FETCH:
		return 0;
	case AB_CALL_OPEN: /* perl: its modes */
		return k->lang == AB_PERL ? 0 : a->count > 0;
	case AB_CALL_RENAME:
	case AB_CALL_COPY:
	case AB_CALL_LINK:
	case AB_CALL_ALIAS:
		return a->count < 2 ? a->count : 2;
	default:
		return a->count > 0;
	}
}

static void judge_call(struct ab_code *k, enum ab_call kind, struct ab_args *a)
{
	enum ab_role_kind role = AB_ROLE_READ;
	bool is_known = a->count && a->words[0].len && !a->words[0].hole_count;
	struct ab_word deep;
	bool is_deep;

	if (a->count)
		expand_home(k, &a->words[0],
			    a->is_home && (a->words[0].len > 1 ||
					   kind == AB_CALL_REMOVE ||
					   kind == AB_CALL_DELETE ||
					   kind == AB_CALL_WALK ||
					   kind == AB_CALL_CHDIR));
	if (k->argv_count || k->lang == AB_AWK)
		ab_code_note_argv(k, kind, a);
	for (uint32_t i = 0; k->cwd.len && i < names_of(k, kind, a); i++)
		rebase(k, &a->words[i]);
	switch (kind) {
	case AB_CALL_CHDIR:
		if (a->count && !a->words[0].hole_count)
			keep_cwd(k, &a->words[0]);
		return;
	case AB_CALL_SHELL:
		if (a->is_cut)
			ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK,
				       k->text);
		k->runs_input |= (!is_known || a->is_fed) && a->is_run;
		if (a->is_command && a->is_computed &&
		    !(k->argv_count && a->has_argv))
			ab_check_known(k->c, AB_KNOWN_INLINE, AB_V_ASK,
				       k->text);
		if (a->is_command && a->is_computed && a->is_fetched)
			ab_check_flow(k->c, k->use, AB_SINK_SHELL,
				      AB_TAINT_REMOTE, k->text);
		run_call(k, a);
		return;
	case AB_CALL_OPEN:
		open_call(k, a);
		return;
	case AB_CALL_CODE:
		/* eval {...} */
		if (k->lang & (AB_PERL | AB_RUBY) && !a->is_command)
			return;
		k->is_input_code |= (!is_known || a->is_fed) && a->is_run;
		if (a->is_command &&
		    (a->is_computed || (a->count && a->words[0].hole_count)))
			ab_check_known(k->c, AB_KNOWN_OPAQUE, AB_V_ASK,
				       k->text);
		for (uint32_t i = 0;
		     i < a->count && k->c->depth < AB_CHECK_MAX_DEPTH / 4;
		     i++) {
			k->c->depth++;
			ab_check_code(k->c, k->use, k->name, &a->words[i]);
			k->c->depth--;
		}
		return;
	case AB_CALL_COPY:
	case AB_CALL_LINK:
	case AB_CALL_ALIAS:
		if (a->count > 1)
			ab_check_path(k->c, k->use, AB_ROLE_WRITE,
				      &a->words[1]);
		if (a->count > 1 && kind != AB_CALL_COPY)
			ab_link_make(k->c, &a->words[0], &a->words[1],
				     kind == AB_CALL_LINK);
		break;
	case AB_CALL_CHMOD:
		chmod_call(k, a);
		return;
	case AB_CALL_SQL:
		for (uint32_t i = 0; i < a->count && i < 1; i++)
			ab_check_text(k->c, "sql", &a->words[i]);
		return;
	case AB_CALL_REMOVE:
		role = AB_ROLE_REMOVE;
		/* shell.rm("-rf", "x") */
		while (k->lang == AB_JS && a->count > 1 && a->words[0].len &&
		       *a->words[0].text == '-')
			memmove(a->words, a->words + 1,
				--a->count * sizeof(a->words[0]));
		break;
	case AB_CALL_DELETE:
		role = AB_ROLE_DELETE;
		break;
	case AB_CALL_WRITE:
		role = AB_ROLE_WRITE;
		break;
	case AB_CALL_RENAME:
		role = AB_ROLE_WRITE;
		for (uint32_t i = 1; i < a->count && i < 2; i++)
			ab_check_path(k->c, k->use, role, &a->words[i]);
		role = AB_ROLE_DELETE;
		break;
	case AB_CALL_FETCH:
		if (a->count > 1)
			ab_file_save(k->c, &a->words[1], AB_TAINT_REMOTE, NULL,
				     false);
		break;
	case AB_CALL_GLOB:
		if (!a->count || !ab_code_takes_away(k))
			return;
		deep = a->words[0];
		is_deep = memmem(deep.text, deep.len, "**", 2);
		if (is_deep && glob_word(k, &a->words[0], true))
			ab_check_path(k->c, k->use, AB_ROLE_REMOVE,
				      &a->words[0]);
		if (glob_word(k, &deep, false))
			ab_check_path(k->c, k->use, AB_ROLE_DELETE, &deep);
		return;
	case AB_CALL_WALK:
		if (!ab_code_takes_away(k))
			return;
		role = AB_ROLE_REMOVE;
		if (a->count)
			ab_code_narrow_walk(k, &a->words[0]);
		break;
	case AB_CALL_READ:
	case AB_CALL_NONE:
		break;
	}
	if (a->count && role == AB_ROLE_WRITE)
		write_path(k, &a->words[0]);
	else if (a->count)
		ab_check_path(k->c, k->use, role, &a->words[0]);
}

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
		if (x->text[i] == end)
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

/* perl: what unlink gets of <a/b*>. A name alone, or none, is a handle that is
   read. */
static void angle_glob(struct ab_code *k)
{
	struct ab_lexer *x = &k->x;
	const char *from = x->text + x->pos;
	const char *end = memchr(from, '>', x->len - x->pos);
	uint32_t n = end ? (uint32_t)(end - from) : 0;
	struct ab_word w;

	if (!n || memchr(from, '\n', n) || memchr(from, '$', n) ||
	    !(memchr(from, '/', n) || memchr(from, '.', n)) ||
	    !ab_code_takes_away(k) ||
	    !ab_word_slice(k->c, k->text, x->pos, n, &w))
		return;
	(void)glob_word(k, &w, true);
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

/* A string in backquotes, or awk's `"cmd" | getline` and `print | "cmd"`. */
static void loose_string(struct ab_code *k, const struct ab_token *t)
{
	struct ab_word w;
	bool is_run = t->quote == '`' &&
		      (k->lang & (AB_PERL | AB_RUBY | AB_PHP) ||
		       (k->lang == AB_JS &&
			ab_code_is_text(k, &k->before, "$")));

	if (!ab_code_word(k, t, &w))
		return;
	if (k->lang == AB_AWK) {
		struct ab_lexer ahead = k->x;
		struct ab_token next;
		bool pipe_after = ab_lexer_next(&ahead, &next) &&
				  ab_code_is_sign(k, &next, '|');

		is_run = pipe_after || ab_code_is_sign(k, &k->before, '|') ||
			 (ab_code_is_sign(k, &k->before, '&') &&
			  k->before.at &&
			  k->x.text[k->before.at - 1] == '|');
		if (w.len > 6 && !memcmp(w.text, "/inet/", 6))
			ab_check_path(k->c, k->use, AB_ROLE_READ, &w);
		else if (ab_code_is_sign(k, &k->before, '>'))
			ab_check_path(k->c, k->use, AB_ROLE_WRITE, &w);
		else if (ab_code_is_sign(k, &k->before, '<'))
			ab_check_path(k->c, k->use, AB_ROLE_READ, &w);
	}
	if (k->lang == AB_OTHER)
		is_run |= is_executed(k);
	if (!is_run)
		return;
	ab_check_script(k->c, &w, true, NULL, 0, NULL);
	/* print | "sh" */
	const struct ab_program *p = ab_pack_program(k->c->pack, w.text, w.len);

	if (k->lang == AB_AWK && p && ab_has_role(p, AB_ROLE_STDIN_SHELL))
		ab_check_flow(k->c, k->use, AB_SINK_SHELL, AB_TAINT_DECODE,
			      &w);
}

/* awk: c = "cmd"; c | getline, and print | c. */
static void piped_name(struct ab_code *k, const struct ab_token *t)
{
	const struct ab_named *n = ab_code_value(k, t);
	struct ab_lexer ahead = k->x;
	struct ab_token next;

	for (uint32_t i = 0; n && i < n->count &&
			     ab_code_is_sign(k, &k->before, '>'); i++)
		ab_check_path(k->c, k->use, AB_ROLE_WRITE, &n->words[i]);
	if (t->kind != AB_TOKEN_WORD || ab_code_is_text(k, t, "getline") ||
	    !(ab_code_is_sign(k, &k->before, '|') ||
	      (ab_lexer_next(&ahead, &next) &&
	       ab_code_is_sign(k, &next, '|') && ahead.pos < ahead.len &&
	       ahead.text[ahead.pos] != '|')))
		return;
	if (!n) {
		k->loose |= 1u << AB_CALL_SHELL;
		return;
	}
	if (n->is_cut)
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK, k->text);
	if (n->is_unknown)
		ab_check_known(k->c, AB_KNOWN_INLINE, AB_V_ASK, k->text);
	for (uint32_t i = 0; i < n->count; i++)
		ab_check_script(k->c, &n->words[i], true, NULL, 0, NULL);
}

/* The call with each of the lists that the name stands for. */
static void judge_lists(struct ab_code *k, enum ab_call kind, struct ab_args *a)
{
	const struct ab_named *n = a->each;
	struct ab_args *one = ab_check_alloc(k->c, sizeof(*one));
	uint32_t behind = a->which + n->count, from = 0;

	if (!one)
		return;
	while (from < n->count && !k->c->is_broken) {
		uint32_t end = from + 1, at = a->which;

		while (end < n->count && !(n->begins >> end & 1))
			end++;
		*one = *a;
		for (; from < end; from++) {
			if (at < AB_CODE_STRINGS)
				one->words[at++] = n->words[from];
		}
		for (uint32_t i = behind;
		     i < a->count && at < AB_CODE_STRINGS; i++)
			one->words[at++] = a->words[i];
		one->count = at;
		judge_call(k, kind, one);
	}
}

/* The call with each value of the name between what stands beside it. */
static void judge_each(struct ab_code *k, enum ab_call kind, struct ab_args *a)
{
	const struct ab_named *n = a->each;
	struct ab_word *w = &a->words[a->which], tail;
	uint32_t from = a->has_head ? a->head.len : n->words[0].len;

	if (!ab_word_slice(k->c, w, from, n->is_list ? 0 : w->len, &tail))
		return;
	/* the hole that the name made */
	if (a->has_head && tail.hole_count && !tail.holes[0].at) {
		tail.holes++;
		tail.hole_count--;
	}
	if (n->is_list || a->has_head)
		judge_call(k, kind, a);
	if (n->is_list)
		a->count = a->which + 1;
	for (uint32_t i = 0; i < n->count && !k->c->is_broken; i++) {
		*w = a->has_head ? a->head : n->words[i];
		k->last = NULL; /* a text of somebody else */
		if (a->has_head)
			ab_code_append(k, w, &n->words[i]);
		if (tail.len || tail.hole_count)
			ab_code_append(k, w, &tail);
		judge_call(k, kind, a);
	}
}

/* Path("x").symlink_to("y"): where it leads stands behind it. */
static enum ab_call path_link(struct ab_code *k, const struct ab_args *a,
			      enum ab_call kind, const struct ab_lexer *behind)
{
	struct ab_args *to = ab_check_alloc(k->c, sizeof(*to));

	k->x = *behind;
	if (!to)
		return AB_CALL_WRITE;
	*to = (struct ab_args){ 0 };
	ab_code_read_args(k, to);
	if (a->count && to->count)
		ab_link_make(k->c, &to->words[0], &a->words[0],
			     kind == AB_CALL_LINK);
	return AB_CALL_WRITE;
}

/* python's execv("/bin/x", ["x", ...]) and the like: how the program is to
   call itself is no word of what it is told. By another name than its own it
   may be a word after all, and is judged as that, too. */
static void drop_own_name(struct ab_code *k, const struct ab_token *t,
			  struct ab_args *a)
{
	const char *name = k->text->text + t->at;
	bool has_own = (t->len > 4 && !memcmp(name, "exec", 4)) ||
		       (t->len > 5 && !memcmp(name, "spawn", 5)) ||
		       (t->len > 6 && !memcmp(name, "posix_", 6));
	const struct ab_word *w = a->words;
	uint32_t base;

	if (k->lang != AB_PY || !has_own || a->count < 2 || a->each)
		return;
	base = ab_name_base(w);
	if (w->len - base != w[1].len ||
	    memcmp(w->text + base, w[1].text, w[1].len) != 0)
		judge_call(k, AB_CALL_SHELL, a);
	a->count--;
	memmove(&a->words[1], &a->words[2],
		(a->count - 1) * sizeof(a->words[0]));
}

/* The second argument is the list of words. */
static bool takes_list(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = { "spawn", "spawnSync", "execFile",
					     "execFileSync", "pcntl_exec" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (ab_code_is_text(k, t, names[i]))
			return true;
	}
	return false;
}

/* (0, x.exec)(...), promisify(exec)(...), method(:system).call(...): to what
   it is called with. */
static void skip_closers(struct ab_code *k)
{
	struct ab_lexer x = k->x, behind;
	struct ab_token t;

	for (uint32_t i = 0; i < 8 && ab_lexer_next(&x, &t) &&
			     ab_code_is_sign(k, &t, ')'); i++) {
		behind = x;
		if (!ab_lexer_next(&x, &t))
			return;
		if (k->lang == AB_RUBY && ab_code_is_sign(k, &t, '.') &&
		    ab_lexer_next(&x, &t) && ab_code_is_text(k, &t, "call")) {
			behind = x;
			(void)ab_lexer_next(&x, &t);
		}
		if (ab_code_is_sign(k, &t, '(')) {
			k->x = behind;
			return;
		}
		x = behind;
	}
}

/* One command for a shell, at most; a `;` ends the statement. */
static bool is_simple(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->len; i++) {
		if (memchr("|&`$\n<>", w->text[i], 7) ||
		    (w->text[i] == ';' && i + 1 < w->len))
			return false;
	}
	return !w->hole_count;
}

/* What begins so is told to a data base. Where there may be a shell, nothing
   behind it may be for one. */
static bool is_statement(const struct ab_code *k, const struct ab_word *w)
{
	static const char *const verbs[] = { "SELECT ", "INSERT ", "UPDATE ",
					     "DELETE ", "CREATE ", "DROP ",
					     "ALTER ",	"PRAGMA ", "REPLACE " };

	for (size_t i = 0; i < AB_ARRAY_LEN(verbs); i++) {
		size_t n = strlen(verbs[i]);

		if (w->len > n && !strncasecmp(w->text, verbs[i], n))
			return (k->lang == AB_JS &&
				!(k->modules & AB_MODULE_COMMANDS)) ||
			       is_simple(w);
	}
	return false;
}

static void call(struct ab_code *k, struct ab_args *a, enum ab_call kind,
		 const struct ab_token *t)
{
	struct ab_lexer behind = k->x;
	bool is_method = ab_code_is_sign(k, &k->before, '.') ||
			 ab_code_is_sign(k, &k->before, '>');

	skip_closers(k);
	a->is_run = ab_code_is_run(k, t);
	a->is_fed = a->is_computed = a->is_fetched = false;
	a->takes_list = k->lang & (AB_JS | AB_PHP) && takes_list(k, t);
	a->is_command = kind == AB_CALL_SHELL ? ab_code_is_command(k, t) :
			kind == AB_CALL_CODE  ? ab_code_is_code(k, t) :
						false;
	if (a->is_run)
		ab_code_see_first(k, a);
	a->is_taken_away = kind == AB_CALL_REMOVE || kind == AB_CALL_DELETE ||
			   kind == AB_CALL_WALK;
	ab_code_read_args(k, a);
	if (ab_code_is_path_type(k, t))
		kind = path_method(k, &behind);
	if (ab_code_is_path_type(k, t) &&
	    (kind == AB_CALL_LINK || kind == AB_CALL_ALIAS))
		kind = path_link(k, a, kind, &behind);
	a->is_home |= ab_code_is_text(k, t, "expanduser") ||
		     ab_code_is_text(k, t, "expand_path") ||
		     ab_code_is_text(k, t, "delete-directory") ||
		     ab_code_is_text(k, t, "delete-file") ||
		     (kind == AB_CALL_GLOB && k->lang == AB_PERL) ||
		     /* R's, where the others take it as it is */
		     (kind == AB_CALL_DELETE && k->lang == AB_OTHER);
	if (kind == AB_CALL_SHELL)
		drop_own_name(k, t, a);
	/* $db->exec("..."), db.exec("...") */
	if (kind == AB_CALL_SHELL && a->count && !a->each && is_method &&
	    (k->lang & (AB_RUBY | AB_PHP | AB_JS))) {
		ab_check_text(k->c, "sql", &a->words[0]);
		if (is_statement(k, &a->words[0]))
			return;
	}
	if (a->each && ab_code_has_lists(a->each)) {
		judge_lists(k, kind, a);
		if (!a->each->is_any)
			return;
	}
	if (a->each)
		judge_each(k, kind, a);
	else
		judge_call(k, kind, a);
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

	if (!n || !n->is_path || n->call)
		return;
	kind = path_method(k, &behind);
	if (behind.pos == k->x.pos)
		return;
	for (uint32_t i = 0; i < n->count; i++) {
		*a = (struct ab_args){ .count = 1 };
		a->words[0] = n->words[i];
		judge_call(k, kind, a);
	}
}

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
		return is_string && len == 6 && !memcmp(s, "rimraf", 6) &&
				       take_sign(k, ')')
			       ? AB_CALL_REMOVE
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

/* To the next expression of the innermost string. */
static bool enter_field(struct ab_code *k, struct fields *f, uint32_t from)
{
	const struct ab_token *string = &f->all[f->depth - 1].string;
	struct ab_word text;
	uint32_t at, end;

	if (!ab_code_field(k, string, from, &at, &end) ||
	    !ab_word_slice(k->c, k->text, at, end - at, &text))
		return false;
	ab_check_text(k->c, k->name, &text);
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

/* The call that begins with a token. */
static enum ab_call call_of(struct ab_code *k, const struct ab_token *t)
{
	enum ab_call kind = AB_CALL_NONE;

	if (is_defined(k, t) || is_symbol(k, t))
		return AB_CALL_NONE;
	if (t->kind == AB_TOKEN_WORD)
		kind = call_at(k, t);
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

/* What import and require() name; false: nothing that may be a file. */
static bool module_name(struct ab_code *k, const struct ab_token *t,
			struct ab_word *w)
{
	struct ab_lexer x = k->x;
	struct ab_token name = *t;
	bool is_python = k->lang == AB_PY;
	bool begins = t->is_line || !k->before.kind ||
		      ab_code_is_sign(k, &k->before, ';') ||
		      ab_code_is_sign(k, &k->before, ':');

	if (is_python && (!begins || !(ab_code_is_text(k, t, "import") ||
				       ab_code_is_text(k, t, "from")) ||
			  !ab_lexer_next(&x, &name) ||
			  name.kind != AB_TOKEN_WORD))
		return false;
	if (!is_python && (t->kind != AB_TOKEN_STRING || !t->len ||
			   k->text->text[t->at] != '.' ||
			   !(ab_code_is_text(k, &k->behind, "require") ||
			     ab_code_is_text(k, &k->behind, "import") ||
			     ab_code_is_text(k, &k->before, "from") ||
			     ab_code_is_text(k, &k->before, "import"))))
		return false;
	return ab_word_slice(k->c, k->text, name.at, name.len, w);
}

#define MAX_MODULES 64
#define MAX_IMPORTS 8 /* each in the one before: the stack is bounded */

/* A file that the text wrote, unless it is one that is being run. */
static void run_file(struct ab_code *k, const struct ab_word *w)
{
	struct ab_check *c = k->c;
	struct ab_module module = { .path = w, .outer = c->module };
	uint32_t depth = 0;

	for (const struct ab_module *m = c->module; m; m = m->outer, depth++) {
		if (m->path->len == w->len &&
		    !memcmp(m->path->text, w->text, w->len))
			return;
	}
	if (!ab_file_is_written(c, w))
		return;
	if (c->modules == MAX_MODULES || depth == MAX_IMPORTS) {
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_ASK, w);
		return;
	}
	c->modules++;
	c->module = &module;
	ab_file_run(c, k->use, w);
	c->module = module.outer;
}

/* import x, require("./x.js"): a module is run once. */
static void run_module(struct ab_code *k, const struct ab_token *t)
{
	const struct ab_word more = { .text = k->lang == AB_PY ? ".py" : ".js",
				      .len = 3 };
	struct ab_word w;

	if (AB_LIKELY(!k->c->has_files) || !k->use || !module_name(k, t, &w))
		return;
	if (k->lang == AB_JS)
		run_file(k, &w);
	k->last = NULL;
	ab_code_append(k, &w, &more);
	run_file(k, &w);
}

/* What runs a command or names a file without being a call. */
static void judge_token(struct ab_code *k, struct ab_args *a,
			const struct ab_token *t)
{
	if (t->kind == AB_TOKEN_STRING)
		loose_string(k, t);
	if (k->lang & (AB_PY | AB_RUBY))
		named_path(k, a, t);
	if (k->lang & (AB_PY | AB_JS))
		run_module(k, t);
	switch (k->lang) {
	case AB_PY:
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
		piped_name(k, t);
		break;
	default:
		break;
	}
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
		const struct ab_token last = k->before;
		struct ab_lexer here;
		enum ab_call kind;

		judge_token(k, a, &t);
		here = k->x;
		kind = call_of(k, &t);
		if (kind != AB_CALL_NONE)
			call(k, a, kind, &t);
		/* calls may stand inside each other */
		k->x = here;
		k->behind = last;
		k->before = t;
		/* a text that was pushed lives on */
		if (!k->c->run)
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
	struct ab_code k = { .c = c, .use = use, .text = text, .name = lang,
			  .lang = ab_code_lang(lang) };
	uint32_t taint = ab_word_taint(text);

	if (!strcmp(lang, "sed")) {
		ab_check_sed(c, use, text);
		return;
	}
	ab_check_flow(c, use, AB_SINK_CODE, taint & ~(uint32_t)AB_TAINT_VAR,
		      text);
	struct ab_args *a = ab_check_alloc(c, sizeof(*a));

	if (!a)
		return;
	ab_check_text(c, lang, text);
	k.heads = ab_code_heads(k.lang);
	k.x = (struct ab_lexer){ .text = text->text, .len = text->len,
				 .traits = ab_lex_traits(lang) };
	ab_code_find_modules(&k);
	ab_code_find_names(&k);
	ab_code_find_params(&k);
	ab_code_settle_names(&k);
	ab_code_find_argv(&k);
	scan_code(&k, a);
	scan_behind_tag(&k, a);
	run_input(&k);
	if (k.loose || k.argv_count)
		ab_code_check_argv(&k);
	ab_code_check_home(&k);
}
