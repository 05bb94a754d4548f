/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The arguments of a call of an inline program: strings, what is put together
 * of them, names that stand for some, and the home. What is computed is left
 * out; nothing is judged here.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

#define MAX_TOKENS 512
#define MAX_NESTED 5 /* brackets in which expressions are read */
#define BARE (AB_PERL | AB_RUBY) /* what is called without brackets */

static void add_string(struct ab_code *k, struct ab_args *a,
		       const struct ab_token *t)
{
	if (a->count == AB_CODE_STRINGS)
		a->is_cut = true;
	else if (ab_code_word(k, t, &a->words[a->count]))
		a->count++;
}

/* qw(rm -rf /) and %w[...] */
static void bare_words(struct ab_code *k, struct ab_args *a,
		       const struct ab_token *all)
{
	struct ab_token t = { .at = all->at };

	while (ab_code_bare_word(k, all, &t))
		add_string(k, a, &t);
}

static void add_word(struct ab_code *k, struct ab_args *a, enum ab_piece piece,
		     const struct ab_word *w)
{
	if (piece == AB_PIECE_MORE && a->count)
		ab_code_append(k, &a->words[a->count - 1], w);
	else if (a->count == AB_CODE_STRINGS)
		a->is_cut = true;
	else
		a->words[a->count++] = *w;
}

bool ab_code_has_lists(const struct ab_named *n)
{
	return n->is_list && (n->begins & (n->begins - 1));
}

static void begin_each(struct ab_args *a, const struct ab_named *n,
		       bool has_head)
{
	if (a->each || a->count == AB_CODE_STRINGS)
		return;
	a->each = n;
	a->has_head = has_head;
	a->which = a->count - has_head;
	a->head = has_head ? a->words[a->which] : (struct ab_word){ 0 };
}

/* cwd=x, {cwd: x} */
static bool is_option(const struct ab_code *k, const struct ab_token *t)
{
	uint32_t at = t->at;

	while (at && memchr(" \t\n", k->text->text[at - 1], 3))
		at--;
	return at && memchr("=:", k->text->text[at - 1], 2);
}

/* A name that stands for strings: one that is one of several makes a call of
   each, once in a call. Behind a string it may also be something else. */
static void add_named(struct ab_code *k, struct ab_args *a,
		      const struct ab_token *t, const struct ab_named *n)
{
	bool is_one = n->count == 1 || n->is_list;
	bool is_many = ab_code_has_lists(n);
	/* x ? "a" : b gives nothing a name */
	bool is_given = a->count && is_option(k, t) && !a->is_either;
	enum ab_piece piece;

	/* a list of lists is gone through, or not understood */
	a->is_cut |= n->is_cut && !is_given;
	a->is_computed |= (n->is_unknown || n->is_nested) && !is_given;
	a->has_list |= n->is_list && !a->count;
	if (ab_code_begin_pair(a, n))
		return;
	if (!is_one && (a->each || a->joint == AB_JOINT_OPEN ||
			a->joint == AB_JOINT_STRING)) {
		piece = ab_code_piece(k, &a->joint, t, false);
		if (piece == AB_PIECE_HOLE && a->count) {
			begin_each(a, n, true);
			ab_code_hole(k, &a->words[a->count - 1]);
		}
		return;
	}
	piece = ab_code_piece(k, &a->joint, t, true);
	/* for z in ["ls", x.y()]: z is one of these */
	for (uint32_t i = 0; !a->count && !is_given && i < n->count; i++)
		a->is_computed |= !is_one && ab_code_is_hole(&n->words[i]);
	if (piece != AB_PIECE_MORE && (!is_one || n->is_any || is_many))
		begin_each(a, n, false);
	for (uint32_t i = 0; i < (n->is_list ? n->count : 1); i++) {
		/* what is not known is no name of a file, either */
		if (a->is_command || !ab_code_is_hole(&n->words[i]) ||
		    a->each)
			add_word(k, a, i ? AB_PIECE_NEW : piece, &n->words[i]);
	}
}

/* environ["HOME"], environ.get("HOME"), getenv("HOME"): what stands before the
   string at `at`. */
static bool is_of_environment(const char *s, uint32_t at)
{
	static const char *const ends[] = { "environ", "environb", "env",
					    ".get", ".fetch", "_SERVER" };
	uint32_t n = at ? at - 1 : 0; /* the quote */
	const uint32_t quote = n;

	while (n && memchr(" \t\n", s[n - 1], 3))
		n--;
	/* (getenv "HOME") */
	if (!n || (!memchr("([{", s[n - 1], 3) && n == quote))
		return false;
	n -= !!memchr("([{", s[n - 1], 3);
	for (size_t i = 0; i < AB_ARRAY_LEN(ends); i++) {
		size_t len = strlen(ends[i]);

		if (n >= len && !strncasecmp(s + n - len, ends[i], len))
			return true;
	}
	return false;
}

bool ab_code_is_home(const struct ab_code *k, const struct ab_token *t)
{
	const char *s = k->text->text;

	if ((t->len == 4 && !memcmp(s + t->at, "HOME", 4)) ||
	    (t->len == 11 && !memcmp(s + t->at, "USERPROFILE", 11)))
		return t->kind != AB_TOKEN_STRING ||
		       is_of_environment(s, t->at);
	if (ab_code_is_text(k, t, "homedir") ||
	    ab_code_is_text(k, t, "user_home"))
		return true;
	/* getProperty("user.home") */
	if (k->lang == AB_OTHER && t->len == 9 &&
	    !memcmp(s + t->at, "user.home", 9))
		return true;
	return ab_code_is_text(k, t, "home") && t->at &&
	       s[t->at - 1] == '.' &&
	       (k->lang == AB_RUBY ||
		(k->lang == AB_OTHER && t->at > 4 &&
		 (!memcmp(s + t->at - 5, "user.", 5) ||
		  !memcmp(s + t->at - 4, "(os.", 4))) ||
		(k->x.pos < k->x.len && s[k->x.pos] == '('));
}

/* A home that is taken away, and what stands behind it in a path. True: the
   token is part of that. */
static bool add_home(struct ab_code *k, struct ab_args *a,
		     const struct ab_token *t)
{
	struct ab_word home = { .text = "~", .len = 1 };
	struct ab_word slash = { .text = "/", .len = 1 }, w;

	a->is_joined |= ab_code_is_text(k, t, "join");
	if (ab_code_is_home(k, t) && a->count < AB_CODE_STRINGS) {
		home.span = k->text->span;
		/* require("os").homedir(): what was read is a module */
		if (k->lang == AB_JS)
			a->count = 0;
		a->words[a->count++] = home;
		a->is_home = a->is_open = a->is_bare = true;
		a->joint = AB_JOINT_STRING;
		return true;
	}
	if (!a->is_open)
		return false;
	/* homedir() + "/x", environ["HOME"] + "/x" */
	if (a->is_bare && t->kind == AB_TOKEN_SIGN &&
	    memchr("()]}", k->text->text[t->at], 4))
		return true;
	a->is_bare = false;
	if (ab_code_is_sign(k, t, '/') ||
	    (ab_code_is_sign(k, t, ',') && a->is_joined)) {
		a->has_slash = true;
		return true;
	}
	a->is_open = a->has_slash || !ab_code_is_sign(k, t, ',');
	if (t->kind != AB_TOKEN_STRING || !a->has_slash ||
	    !ab_code_word(k, t, &w))
		return false;
	ab_code_append(k, &a->words[a->count - 1], &slash);
	ab_code_append(k, &a->words[a->count - 1], &w);
	a->has_slash = false;
	return true;
}

bool ab_code_is_changed(const struct ab_code *k)
{
	static const char *const same[] = {
		"format", "split",   "strip",  "rstrip", "lstrip", "trim",
		"chomp",  "encode",  "decode", "freeze", "to_s",   "toString",
		"join",
	};
	struct ab_lexer x = k->x;
	struct ab_token t;

	if (!(k->lang & (AB_PY | AB_JS | AB_RUBY)) || !ab_lexer_next(&x, &t))
		return false;
	if (ab_code_is_sign(k, &t, '['))
		return t.at == k->x.pos;
	/* "a b".split(" ").reverse() */
	for (uint32_t n = 0; n < 8; n++) {
		bool is_same = false;
		int depth = 0;

		if (n && ab_code_is_sign(k, &t, '[') && !t.is_line)
			return true;
		if (!ab_code_is_sign(k, &t, '.') || !ab_lexer_next(&x, &t))
			return false;
		for (size_t i = 0; i < AB_ARRAY_LEN(same); i++)
			is_same |= ab_code_is_text(k, &t, same[i]);
		if (!is_same)
			return true;
		for (uint32_t i = 0; i < 16; i++) {
			if (!ab_lexer_next(&x, &t))
				return false;
			depth += ab_code_is_sign(k, &t, '(');
			depth -= ab_code_is_sign(k, &t, ')');
			if (depth <= 0)
				break;
		}
		if (!ab_lexer_next(&x, &t))
			return false;
	}
	return true;
}

/* input="x" of python and js, stdin_data: "x" of ruby; the lexer is behind the
   name. */
static bool take_input(struct ab_code *k, struct ab_args *a,
		       const struct ab_token *t)
{
	struct ab_lexer x = k->x;
	struct ab_token next;
	struct ab_made m;

	if (!a->is_command || !(k->lang & (AB_PY | AB_JS | AB_RUBY)) ||
	    !ab_code_is_text(k, t, k->lang == AB_RUBY ? "stdin_data"
						      : "input") ||
	    !ab_lexer_next(&x, &next) ||
	    !ab_code_is_sign(k, &next, k->lang == AB_PY ? '=' : ':'))
		return false;
	a->has_input = true;
	k->x = x;
	/* b"x" */
	if (ab_lexer_next(&x, &next) && next.kind == AB_TOKEN_WORD &&
	    next.len == 1)
		k->x = x;
	x = k->x;
	if (!ab_code_read_expr(k, &x, &m, AB_NEED_ANY)) {
		/* x if y else None: of which no word is one of the command */
		if (ab_code_read_expr(k, &x, &m, AB_NEED_WORD))
			k->x = x;
		return true;
	}
	k->x = x;
	/* which of several it is, is not known, nor what is made of it */
	if (m.count == 1 && !m.is_list && !m.is_cut &&
	    !ab_code_is_hole(&m.words[0]) &&
	    (!ab_lexer_next(&x, &next) || next.is_line ||
	     (next.kind == AB_TOKEN_SIGN &&
	      memchr(",)}]", k->text->text[next.at], 4))))
		a->input = m.words[0];
	return true;
}

/* NAME: true, behind NAME. */
static bool is_true(const struct ab_code *k)
{
	struct ab_lexer x = k->x;
	struct ab_token t;

	return ab_lexer_next(&x, &t) && ab_code_is_sign(k, &t, ':') &&
	       ab_lexer_next(&x, &t) && ab_code_is_text(k, &t, "true");
}

/* What the words say of the strings beside them. */
static void note_word(const struct ab_code *k, struct ab_args *a,
		      const struct ab_token *t)
{
	const char *s = k->text->text + t->at;

	a->is_either |= ab_code_is_text(k, t, "if") ||
			ab_code_is_text(k, t, "or") ||
			ab_code_is_text(k, t, "else") ||
			ab_code_is_sign(k, t, '?') ||
			ab_code_is_sign(k, t, '|');
	a->is_written |= t->kind == AB_TOKEN_WORD && t->len > 4 &&
			 !memcmp(s, "O_", 2) && memcmp(s, "O_RDONLY", 8) &&
			 memcmp(s, "O_CLOEXEC", 9);
	/* open("x", { write: true }), input("x", inplace=True) */
	a->is_written |= (k->lang == AB_JS &&
			  (ab_code_is_text(k, t, "write") ||
			   ab_code_is_text(k, t, "append")) && is_true(k)) ||
			 (k->lang == AB_PY && ab_code_is_text(k, t, "inplace"));
	/* run(**{"args": "x", "shell": True}) */
	a->is_either |= k->lang == AB_PY && ab_code_is_sign(k, t, '*') &&
			k->x.pos < k->x.len && k->x.text[k->x.pos] == '{';
	a->is_module |= k->lang == AB_JS && ab_code_is_text(k, t, "require") &&
			k->x.pos < k->x.len && k->x.text[k->x.pos] == '(';
}

/* js: chmod("x", 0o777, () => 0) has its mode already. */
static bool is_behind_mode(const struct ab_code *k, const struct ab_args *a,
			   const struct ab_token *t)
{
	const char *s = k->text->text;
	uint32_t end = a->number_token.at + a->number_token.len;

	/* 0o700 | 63 is one number */
	return a->number_token.len > 2 && s[a->number_token.at] == '0' &&
	       (t->len < 3 || s[t->at] != '0') && end < t->at &&
	       memchr(s + end, ',', t->at - end);
}

/* A token of the arguments that is no bracket. */
static void add_token(struct ab_code *k, struct ab_args *a,
		      const struct ab_token *t)
{
	const struct ab_named *n = ab_code_value(k, t);
	const char *s = k->text->text + t->at;
	bool is_string = t->kind == AB_TOKEN_STRING;
	enum ab_piece piece;
	struct ab_word w;

	a->is_home |= ab_code_is_text(k, t, "expanduser") ||
		      ab_code_is_text(k, t, "expand_path");
	if (k->argv_count && ab_code_is_argv(k, t)) {
		a->has_argv = true;
		a->is_argv_first |= !a->count;
	}
	note_word(k, a, t);
	if (take_input(k, a, t))
		return;
	/* require("path").join("x") */
	if (is_string && a->is_module) {
		a->is_module = false;
		return;
	}
	if (a->is_taken_away && add_home(k, a, t))
		return;
	if (n) {
		add_named(k, a, t, n);
		return;
	}
	if (a->is_command && t->kind == AB_TOKEN_WORD && t->at &&
	    memchr("*.", s[-1], 2) && ab_code_spreads_cut(k, t))
		a->is_cut = true;
	if (a->is_command && !a->count && ab_code_own_program(k, t, &w)) {
		a->words[a->count++] = w;
		return;
	}
	if (is_string && a->is_command && !a->count)
		a->is_computed |= ab_code_is_changed(k);
	/* perl: system(reverse @x) */
	if (a->is_command && k->lang == AB_PERL &&
	    (ab_code_is_text(k, t, "reverse") || ab_code_is_text(k, t, "map") ||
	     ab_code_is_text(k, t, "sort") || ab_code_is_text(k, t, "grep")))
		a->is_computed = true;
	piece = ab_code_piece(k, &a->joint, t, is_string);
	if (piece == AB_PIECE_HOLE && a->count)
		ab_code_hole(k, &a->words[a->count - 1]);
	if (is_string && t->quote == 'w')
		bare_words(k, a, t);
	else if (is_string && ab_code_word(k, t, &w))
		add_word(k, a, piece, &w);
	else if (t->kind == AB_TOKEN_WORD && *s >= '0' && *s <= '9' &&
		 !is_behind_mode(k, a, t))
		a->number_token = *t;
}

#define MAX_ELEMENTS 8

/* An element of a list, or an argument: what it adds to the words. */
struct element {
	uint32_t count; /* of the words before it */
	uint32_t at;	/* where it begins */
	bool is_word;	/* something in it is computed */
	bool is_argv;	/* the words behind the program: they are known */
	bool is_named;	/* cwd=x, stdio: x, a block */
	char bracket;	/* that it stands in; 0: none */
	struct ab_token key; /* its first token */
	bool has_key, is_begun;
	uint8_t option;	 /* enum option: of the call, and no word */
	bool is_default; /* cwd=None */
};

enum option {
	OPTION_NONE,
	OPTION_UNKNOWN, /* what it gives may be words of the command */
	OPTION_OTHER,
	OPTION_DIR,
	OPTION_FILE,
	OPTION_PROGRAM
};

/* The elements that are open, each in the one before. */
struct elements {
	struct element all[MAX_ELEMENTS];
	uint32_t depth; /* beyond MAX_ELEMENTS none is seen */
	bool is_later;	/* a comma stands before it: it is not the first word */
};

/* run(["rm", "-rf", x]): a word that is not known. */
static void end_element(struct ab_code *k, struct ab_args *a,
			const struct element *e)
{
	bool is_list = e->bracket == '[' ||
		       (e->bracket != '{' &&
			k->lang & (AB_PERL | AB_RUBY | AB_OTHER)) ||
		       (a->takes_list && a->count == 1 && e->bracket != '{');
	bool is_remote = a->remote_at > e->at && e->is_word && e->count &&
			 a->count >= e->count && is_list && !e->is_named;

	/* ["sh", "-c", get("https://x")]: what stands in it is none */
	if (is_remote)
		a->count = e->count;
	if (a->each || !a->count || a->count != e->count ||
	    a->count == AB_CODE_STRINGS || !is_list || !e->is_word ||
	    e->is_argv || e->is_named)
		return;
	if (is_remote) {
		ab_code_remote_hole(k, &a->words[a->count++]);
		return;
	}
	a->words[a->count] = (struct ab_word){ .text = "",
					       .span = k->text->span };
	ab_code_hole(k, &a->words[a->count++]);
}

/* What `key=` of subprocess, child_process and Process.spawn says. */
static enum option option_of(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const dirs[] = { "cwd", "chdir", "dir",
					    "current_dir", "cd" };
	static const char *const others[] = {
		"encoding", "errors", "text", "env", "stdin", "stdout",
		"stderr", "stdio", "shell", "umask", "user", "group",
		"timeout", "killSignal", "universal_newlines", "err", "out",
		"in", "check", "capture_output", "detached", "exception",
		"maxBuffer", "signal", "mode", "preexec_fn", "close_fds"
	};

	static const char *const files[] = { "in", "out", "err" };

	if (ab_code_is_one_of(k, t, dirs, AB_ARRAY_LEN(dirs)))
		return OPTION_DIR;
	if (k->lang == AB_RUBY &&
	    ab_code_is_one_of(k, t, files, AB_ARRAY_LEN(files)))
		return OPTION_FILE;
	if (k->lang == AB_PY && ab_code_is_text(k, t, "executable"))
		return OPTION_PROGRAM;
	return ab_code_is_one_of(k, t, others, AB_ARRAY_LEN(others))
		       ? OPTION_OTHER
		       : OPTION_UNKNOWN;
}

/* ruby: out: "x", out: ["x", "a"], in: "x". */
static void end_file(struct ab_code *k, const struct ab_args *a,
		     const struct element *e)
{
	if (a->count == e->count)
		return;
	if (ab_code_is_text(k, &e->key, "in"))
		ab_check_path(k->c, k->use, AB_ROLE_READ, &a->words[e->count]);
	else
		ab_code_write(k, &a->words[e->count]);
}

/* What an option gives; more than one word is not known. */
static struct ab_word option_word(struct ab_code *k, const struct ab_args *a,
				  const struct element *e, bool is_one)
{
	struct ab_word w = { .text = "", .span = k->text->span };

	if (is_one)
		return a->words[e->count];
	ab_code_hole(k, &w);
	return w;
}

/* The words of an option are none of the command. */
static void end_option(struct ab_code *k, struct ab_args *a,
		       const struct element *e)
{
	bool is_one = a->count == e->count + 1 &&
		      !(a->each && a->which >= e->count);

	if (e->option == OPTION_NONE || a->count < e->count)
		return;
	if (e->option == OPTION_UNKNOWN) {
		a->has_more |= e->count && a->count > e->count;
		return;
	}
	if (e->option == OPTION_DIR && !e->is_default) {
		a->dir = option_word(k, a, e, is_one);
		a->has_dir = true;
	}
	if (e->option == OPTION_PROGRAM && !e->is_default) {
		a->block = option_word(k, a, e, is_one);
		a->has_block = true;
	}
	if (e->option == OPTION_FILE)
		end_file(k, a, e);
	if (a->each && a->which >= e->count)
		a->each = NULL;
	a->count = e->count;
	a->joint = AB_JOINT_NONE;
}

/* ruby: [:out, :err] =>, behind the bracket. */
static bool is_outs(const struct ab_code *k, uint32_t at)
{
	const char *s = k->text->text;

	(void)ab_code_last_byte(k->text, &at);
	return k->lang == AB_RUBY && at > 5 &&
	       (!memcmp(s + at - 5, ":err]", 5) ||
		!memcmp(s + at - 5, ":out]", 5));
}

/* `key=`, `key:`, `:key =>` */
static void see_key(struct ab_code *k, struct element *e, char sign,
		    const struct ab_token *t)
{
	if (e->has_key && !e->is_begun && (sign == '=' || sign == ':'))
		e->option = option_of(k, &e->key);
	else if (sign == '=' && is_outs(k, t->at))
		e->option = OPTION_FILE;
	else if (e->option == OPTION_DIR || e->option == OPTION_PROGRAM)
		e->is_default |= ab_code_is_text(k, t, "None") ||
				 ab_code_is_text(k, t, "null") ||
				 ab_code_is_text(k, t, "undefined") ||
				 ab_code_is_text(k, t, "getcwd") ||
				 ab_code_is_text(k, t, "pwd") ||
				 ab_code_is_text(k, t, "cwd");
	if (e->has_key) {
		e->is_begun = true;
	} else if (!sign) {
		e->key = *t;
		e->has_key = true;
		/* take_input() takes what follows */
		e->is_named |= ab_code_is_text(k, t, "stdin_data");
	} else if (sign != ':') {
		e->is_begun = e->has_key = true;
	}
}

/* Before the token adds what it adds. */
static void see_element(struct ab_code *k, struct ab_args *a,
			struct elements *all, const struct ab_token *t)
{
	struct element *e = &all->all[all->depth];
	char sign = t->kind == AB_TOKEN_SIGN ? k->text->text[t->at] : 0;
	bool is_open = sign && memchr("([{", sign, 3);

	if (!a->is_command || all->depth >= MAX_ELEMENTS)
		return;
	if (sign != ',' && !(sign && memchr(")]}", sign, 3)))
		see_key(k, e, sign, t);
	if (is_open && all->depth + 1 == MAX_ELEMENTS) {
		all->depth = MAX_ELEMENTS; /* and stays there */
	} else if (is_open) {
		e->is_word |= sign != '['; /* what is in it says more */
		e->is_named |= sign == '{';
		e[1] = (struct element){ .count = a->count, .at = t->at,
					 .bracket = sign };
		all->depth++;
	} else if (sign && memchr(")]}", sign, 3)) {
		end_element(k, a, e);
		end_option(k, a, e);
		all->depth -= all->depth > 0;
	} else if (sign == ',') {
		end_element(k, a, e);
		end_option(k, a, e);
		*e = (struct element){ .count = a->count, .at = t->at,
				       .bracket = e->bracket };
	} else if (sign) {
		e->is_named |= !!memchr("=:|&", sign, 4);
	} else if (t->kind == AB_TOKEN_WORD) {
		e->is_word = true;
		e->is_argv |= k->argv_count && ab_code_is_argv(k, t);
	}
}

bool ab_code_is_environment(const struct ab_code *k, const struct ab_token *t)
{
	return k->lang == AB_RUBY &&
	       (ab_code_is_sign(k, t, '{') || ab_code_is_text(k, t, "ENV"));
}

/* d["x"], d.x: any value of a table, as a word or as a list. */
static bool add_map(struct ab_code *k, struct ab_args *a,
		    const struct elements *all)
{
	struct ab_lexer x = k->x;
	const struct ab_named *of;
	struct ab_token t, next;
	struct ab_named *n;
	char sign;

	if (!k->name_count || !ab_lexer_next(&x, &t) ||
	    !(of = ab_code_named(k, &t)) || !of->is_map || !of->count ||
	    of->call || of->is_any || a->each || !ab_lexer_next(&x, &next))
		return false;
	sign = k->text->text[next.at];
	if (!(sign == '[' || (sign == '.' && k->lang & (AB_JS | AB_LUA))) ||
	    !ab_lexer_next(&x, &next) ||
	    (sign == '[' && (!ab_lexer_next(&x, &next) ||
			     !ab_code_is_sign(k, &next, ']'))))
		return false;
	k->x = x;
	if (ab_lexer_next(&x, &next) &&
	    !(next.kind == AB_TOKEN_SIGN &&
	      memchr(",)]};", k->text->text[next.at], 5)))
		return false;
	n = ab_check_alloc(k->c, sizeof(*n));
	if (!n)
		return false;
	*n = *of;
	n->is_list = of->is_nested;
	n->begins |= of->is_nested;
	n->is_map = n->is_nested = false;
	a->is_computed = of->is_unknown ||
			 ((a->count || all->is_later) && a->is_computed);
	a->is_cut |= n->is_cut;
	begin_each(a, n, false);
	for (uint32_t i = 0; i < (n->is_list ? n->count : 1); i++)
		add_word(k, a, AB_PIECE_NEW, &n->words[i]);
	a->joint = AB_JOINT_NONE;
	return true;
}

/* Something from the network stands between the lexer and `end`. */
static bool has_remote(const struct ab_code *k, uint32_t end)
{
	struct ab_token t, last = { 0 }, behind = { 0 };
	struct ab_lexer x = k->x;

	while (x.pos < end && ab_lexer_next(&x, &t)) {
		if (ab_code_is_remote(k, &t, x, &last, &behind))
			return true;
		behind = last;
		last = t;
	}
	return false;
}

/* In what is not known a path stands, "/x".strip(), y.get("z", "/x"): that is
   what it may be, and each string of it is read as a word. */
static bool has_path(const struct ab_code *k, struct ab_lexer x, uint32_t end)
{
	struct ab_token t;

	while (x.pos < end && ab_lexer_next(&x, &t)) {
		const char *s = k->text->text + t.at;

		if (t.kind == AB_TOKEN_STRING && t.len > 1 &&
		    (memchr("/~", *s, 2) ||
		     (*s == '.' && !memchr("./ ", s[1], 3))))
			return true;
	}
	return false;
}

/* What the expression at the lexer makes is one word, one of several, or a
   list of them. */
static bool add_made(struct ab_code *k, struct ab_args *a,
		     struct elements *all)
{
	struct ab_lexer x = k->x, behind;
	struct ab_named *n;
	struct ab_made m;
	struct ab_token t;
	bool is_known, is_tool = false;

	if (!ab_code_read_expr(k, &x, &m,
			       a->is_command && a->count ? AB_NEED_WORD
							 : AB_NEED_MADE) &&
	    !(is_tool = a->is_command && !a->count && !all->is_later &&
			all->depth < 2u + (all->all[2].bracket == '[' &&
					   !all->all[1].key.len) &&
			ab_code_read_tool(k, &x, &m)))
		return false;
	if (AB_UNLIKELY(k->remote) && has_remote(k, x.pos))
		return false;
	if (m.count == 1 && !m.is_list && ab_code_is_hole(&m.words[0]) &&
	    has_path(k, k->x, x.pos))
		return false;
	is_known = ab_made_is_known(&m);
	/* what is not known is no name of a file */
	if (!a->is_command)
		ab_made_cut(k, &m, false);
	behind = x;
	k->last = NULL;
	if (!m.count || (ab_lexer_next(&behind, &t) && !t.is_line &&
			 !(t.kind == AB_TOKEN_SIGN &&
			   memchr(",)]};", k->text->text[t.at], 5))))
		return false;
	n = ab_check_alloc(k->c, sizeof(*n));
	if (!n)
		return false;
	*n = (struct ab_named){ .words = m.words, .count = m.count,
				.is_list = m.is_list, .is_cut = m.is_cut };
	a->is_cut |= m.is_cut;
	if (!a->count && !all->is_later && (is_tool || is_known))
		a->is_computed = false;
	a->joint = AB_JOINT_NONE;
	if (m.count > 1 && !m.is_list)
		begin_each(a, n, false);
	for (uint32_t i = 0; i < (m.is_list ? m.count : 1); i++)
		add_word(k, a, AB_PIECE_NEW, &m.words[i]);
	if (a->is_command && all->depth < MAX_ELEMENTS) {
		all->all[all->depth].has_key = true;
		all->all[all->depth].is_begun = true;
	}
	k->x = x;
	return true;
}

/* What makes one text of several, where add_made() did not see which: the words
   that are read then are none of the command. */
static bool is_joining(const struct ab_code *k, const struct ab_token *t,
		       const struct ab_token *last)
{
	static const char *const names[] = { "join",	"sprintf", "implode",
					     "format", "concat",  "paste",
					     "paste0", "Join",	  "String" };

	if (k->lang == AB_PY && last->kind == AB_TOKEN_STRING &&
	    ab_code_is_sign(k, t, '%'))
		return true;
	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names)) &&
	       ab_code_next_byte(k->text, t->at + t->len) == '(';
}

/* run({"x": "y"}[z]), run(("x", "y")[z]), run({"x": "y"}.get(z)) */
static bool is_picked(const struct ab_code *k, const struct ab_token *t)
{
	const char next = ab_code_next_byte(k->text, k->x.pos);
	const char ch = k->text->text[t->at];

	return t->kind == AB_TOKEN_SIGN &&
	       ((next == '[' && memchr(")]", ch, 2)) ||
		(ch == '}' && (next == '[' || next == '.')));
}

/* The first argument is over: it is a list, or it is not. */
static void end_first(struct ab_args *a)
{
	if (!a->listed)
		a->listed = a->has_list && a->count ? a->count : 1;
}

/* An argument or an element may begin behind the token. */
static bool may_begin(const struct ab_code *k, const struct ab_token *t)
{
	return !t->kind || (t->kind == AB_TOKEN_SIGN &&
			    memchr("([,=:", k->text->text[t->at], 5));
}

/* The arguments of a call that begins at the lexer. */
void ab_code_read_args(struct ab_code *k, struct ab_args *a)
{
	struct elements elements = { .depth = 0 };
	struct ab_token t, last = { 0 }, behind = { 0 };
	int depth = ab_code_read_block(k, a), environment = -1;
	bool first = !a->has_block, is_later = false, is_call = false;
	bool has_comma = false; /* behind the first argument */

	a->count = a->remote_at = a->listed = a->two = 0;
	a->first = UINT32_MAX;
	a->is_cut = false;
	a->number_token.len = 0;
	a->joint = AB_JOINT_NONE;
	a->each = a->pair = NULL;
	a->is_home = a->is_open = a->is_joined = a->has_slash = false;
	a->is_bare = a->has_argv = a->is_argv_first = a->has_dir = false;
	a->has_more = a->has_list = a->is_second = false;
	a->is_either = a->is_written = a->is_module = a->has_input = false;
	a->input.text = NULL;
	for (uint32_t n = 0;; n++) {
		uint32_t before = k->x.pos;

		if (depth < MAX_NESTED && may_begin(k, &last) &&
		    (is_call || (k->lang & BARE &&
				 (n || ab_code_next_byte(k->text, before) !=
					       '('))) &&
		    (add_map(k, a, &elements) || add_made(k, a, &elements))) {
			last = (struct ab_token){ .at = before,
						  .kind = AB_TOKEN_STRING };
			first = false;
			if (depth == is_call) {
				a->has_list |= !a->each;
				end_first(a);
			}
			continue;
		}
		if (!ab_lexer_next(&k->x, &t))
			break;
		if (n == MAX_TOKENS) {
			a->is_cut = true;
			break;
		}
		is_call |= !n && ab_code_is_sign(k, &t, '(');
		a->has_list |= n == is_call && (ab_code_is_sign(k, &t, '[') ||
						t.quote == 'w');
		if (depth == is_call && ab_code_is_sign(k, &t, ',')) {
			a->is_second |= !a->listed && !a->count;
			if (has_comma && !a->two)
				a->two = a->count + 1;
			has_comma = true;
			end_first(a);
		}
		if (!first && !depth && ab_code_ends_words(k, &t)) {
			k->x.pos = before;
			break;
		}
		if (a->is_command && n == (uint32_t)depth &&
		    ab_code_is_environment(k, &t))
			environment = depth;
		if (ab_code_is_sign(k, &t, ',') && depth == environment) {
			a->count = 0;
			environment = -1;
		} else {
			elements.is_later |= ab_code_is_sign(k, &t, ',');
		}
		if (AB_UNLIKELY(k->remote) &&
		    ab_code_is_remote(k, &t, k->x, &last, &behind))
			a->remote_at = t.at;
		if (a->is_command && !is_later && elements.depth < 2 &&
		    elements.all[elements.depth].bracket != '[' &&
		    is_joining(k, &t, &last))
			a->is_computed = true;
		if (depth == 1 && a->first == UINT32_MAX &&
		    ab_code_is_sign(k, &t, ','))
			a->first = a->count;
		see_element(k, a, &elements, &t);
		if (t.kind == AB_TOKEN_SIGN &&
		    memchr("([{", k->text->text[t.at], 3))
			depth++;
		else if (t.kind == AB_TOKEN_SIGN &&
			 memchr(")]}", k->text->text[t.at], 3) && --depth <= 0)
			break;
		/* run(["x", "y"][::-1]) */
		is_later |= depth == 1 && ab_code_is_sign(k, &t, ',');
		if (depth == 1 && !is_later && a->is_command &&
		    ab_code_is_sign(k, &t, ']'))
			a->is_computed |= ab_code_is_changed(k);
		if (AB_UNLIKELY(a->is_command && depth == is_call) && !is_later)
			a->is_computed |= is_picked(k, &t);
		bool had_input = a->has_input;

		add_token(k, a, &t);
		/* stdin_data: get("x"): that is no word */
		if (a->has_input && !had_input && elements.depth < MAX_ELEMENTS)
			elements.all[elements.depth].option = OPTION_OTHER;
		behind = last;
		last = t;
		first = false;
	}
	if (a->is_command && !elements.depth) {
		end_element(k, a, &elements.all[0]);
		end_option(k, a, &elements.all[0]);
	}
	end_first(a);
	k->before = last;
}
