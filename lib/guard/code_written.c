/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a program writes: to the shells and interpreters that it starts, which
 * run it, and into files, which may be run later.
 * Popen(["sh"], stdin=PIPE).communicate("x"), IO.popen("sh", "w") { |f|
 * f.puts "x" }, open("a", "w").write("x"), writeFileSync("a", "x"). Which of
 * the strings goes where is not followed: each that is written anywhere is
 * judged as stdin of each child that runs its stdin, and all of them, one
 * behind the other, are what each of the files holds. A program that also
 * talks to a socket hands that on to its children. What the files hold is
 * known at the end: commands in lists, which may run one, are judged again
 * then.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"
#include "guard/files.h"

#include <string.h>

#define MAX_WORDS 8 /* of the child's command; those behind say little */

/* One that was started. */
struct ab_child {
	const struct ab_child *next;
	uint32_t count;
	struct ab_word words[MAX_WORDS];
};

#define MAX_CHILDREN 4 /* that are told apart; more are a limit */

/* A file that is written. */
struct ab_target {
	const struct ab_target *next;
	struct ab_word path;
};

#define MAX_TARGETS 8 /* what more of them hold is not known */

/* run(["sh", "x"]), and where that is. */
struct ab_started {
	struct ab_started *next;
	const struct ab_word *cwd;
	uint32_t count;
	struct ab_word words[]; /* behind a $0 */
};

#define MAX_STARTED 64 /* with more of them no file is to be written */

/* "w" of popen("sh", "w"), "pipe" of proc_open(): how it is started. */
static bool is_mode(const struct ab_word *w)
{
	static const char *const modes[] = { "r", "w", "r+", "w+", "rb",
					     "wb", "rw", "pipe", "piped",
					     "inherit", "ignore" };

	for (size_t i = 0; i < AB_ARRAY_LEN(modes); i++)
		if (ab_word_equals(w, modes[i]))
			return true;
	return false;
}

static bool is_plain(char ch)
{
	return ab_code_is_letter(ch) || memchr("./-+=:@,", ch, 8);
}

/* The words of a plain line, as many as there is room for; true: it was one. */
static bool split(struct ab_code *k, const struct ab_word *line,
		  struct ab_child *child)
{
	uint32_t at = 0, from;

	while (at < line->len && child->count < MAX_WORDS) {
		if (line->text[at] == ' ') {
			at++;
			continue;
		}
		for (from = at; at < line->len && is_plain(line->text[at]);)
			at++;
		if (at == from ||
		    !ab_word_slice(k->c, line, from, at - from,
				   &child->words[child->count]))
			return false;
		/* exec sh */
		if (child->count ||
		    !ab_word_equals(&child->words[0], "exec"))
			child->count++;
	}
	return child->count > 0;
}

static const struct ab_program *program_of(const struct ab_code *k,
					    const struct ab_word *name)
{
	uint32_t base = ab_name_base(name);

	return ab_pack_program(k->c->pack, name->text + base,
			       name->len - base);
}

static bool runs_stdin(const struct ab_program *p)
{
	return p && (ab_has_role(p, AB_ROLE_STDIN_SHELL) ||
		     ab_has_role(p, AB_ROLE_STDIN_CODE) ||
		     ab_has_role(p, AB_ROLE_STDIN_TEXT));
}

/* It may run its stdin: sh, env sh. */
static bool may_run_stdin(const struct ab_code *k, const struct ab_child *child)
{
	const struct ab_program *p = program_of(k, &child->words[0]);

	for (uint32_t i = 1; p && p->is_wrapper && i < child->count; i++)
		if (runs_stdin(program_of(k, &child->words[i])))
			return true;
	return runs_stdin(p);
}

static bool is_same(const struct ab_child *a, const struct ab_child *b)
{
	bool same = a->count == b->count;

	for (uint32_t i = 0; same && i < a->count; i++)
		same = a->words[i].len == b->words[i].len &&
		       !memcmp(a->words[i].text, b->words[i].text,
			       a->words[i].len);
	return same;
}

/* A copy that stays while the program is judged. False: no memory. */
static bool copy_word(struct ab_code *k, const struct ab_word *w,
		      struct ab_word *out)
{
	char *text = ab_arena_high(k->c->high, w->len + 1);

	*out = (struct ab_word){ .text = text, .len = w->len,
				 .span = w->span };
	if (text)
		memcpy(text, w->text, w->len);
	else
		k->c->is_broken = true;
	return text;
}

static void keep(struct ab_code *k, const struct ab_child *child)
{
	struct ab_child *copy;
	uint32_t count = 0;

	for (const struct ab_child *c = k->children; c; c = c->next) {
		if (is_same(c, child))
			return;
		count++;
	}
	if (count == MAX_CHILDREN) {
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK, k->text);
		return;
	}
	copy = ab_arena_high(k->c->high, sizeof(*copy));
	if (!copy) {
		k->c->is_broken = true;
		return;
	}
	for (uint32_t i = 0; i < child->count; i++)
		if (!copy_word(k, &child->words[i], &copy->words[i]))
			return;
	copy->count = child->count;
	copy->next = k->children;
	k->children = copy;
}

void ab_code_note_started(struct ab_code *k, const struct ab_args *a)
{
	const uint32_t count = a->count + 1;
	struct ab_started *s;

	if (!k->c->run || k->started_count > MAX_STARTED ||
	    ++k->started_count > MAX_STARTED)
		return;
	s = ab_check_alloc(k->c, sizeof(*s) + count * sizeof(s->words[0]));
	if (!s)
		return;
	s->count = count;
	s->cwd = k->c->cwd;
	s->words[0] = a->words[0];
	memcpy(s->words + 1, a->words, a->count * sizeof(s->words[0]));
	s->next = NULL;
	if (k->started)
		k->last_started->next = s;
	else
		k->started = s;
	k->last_started = s;
}

void ab_code_note_child(struct ab_code *k, const struct ab_args *a)
{
	struct ab_child child = { .count = 0 };

	if (!a->count || a->words[0].hole_count || !a->words[0].len ||
	    !split(k, &a->words[0], &child))
		return;
	for (uint32_t i = 1; i < a->count; i++) {
		if (is_mode(&a->words[i]))
			continue;
		/* ruby: [:in, :out] => socket */
		if (a->words[i].hole_count && ab_code_has_socket(k))
			break;
		if (child.count == MAX_WORDS)
			break;
		/* a script */
		if (a->words[i].hole_count)
			return;
		child.words[child.count++] = a->words[i];
	}
	if (may_run_stdin(k, &child))
		keep(k, &child);
}

static bool is_target(const struct ab_code *k, const struct ab_word *w)
{
	for (const struct ab_target *t = k->targets; t; t = t->next)
		if (t->path.len == w->len &&
		    !memcmp(t->path.text, w->text, w->len))
			return true;
	return false;
}

void ab_code_note_target(struct ab_code *k, const struct ab_word *path)
{
	struct ab_target *copy;

	if (!k->c->run || path->hole_count || !path->len ||
	    is_target(k, path))
		return;
	if (++k->target_count > MAX_TARGETS) {
		ab_file_pipe(k->c, path);
		return;
	}
	copy = ab_arena_high(k->c->high, sizeof(*copy));
	if (!copy) {
		k->c->is_broken = true;
		return;
	}
	if (!copy_word(k, path, &copy->path))
		return;
	copy->next = k->targets;
	k->targets = copy;
}

/* --- what is written ---------------------------------------------------- */

static bool is_writing(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = {
		"communicate",	"write",	 "end",
		"puts",		"print",	 "println",
		"printf",	"fwrite",	 "fputs",
		"write_all",	"writelines",	 "writeln",
		"encode",	"say",		 "syswrite",
		"stdin_data",	"WriteString",	 "Fprintln",
		"Fprint",	"Fprintf",	 "WriteLine",
		"Write",	"send",		 "sendline",
		"write_text",	"write_bytes",	 "writeText",
		"writeFile",	"writeFileSync", "appendFile",
		"appendFileSync", "file_put_contents", "writeTextFile",
		"writeTextFileSync", "WriteFile", "writeLines",
		"write_file",	"spew",		 "cat"
	};

	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names));
}

/* The first thing that these are given is looked for in a text. */
static bool is_replacing(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = { "replace", "replaceAll", "sub",
					     "subn", "gsub" };

	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names));
}

/* All of that is, or says where a text is. */
static bool is_looking(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = {
		"split",  "strip", "rstrip",	"lstrip",   "match",
		"search", "get",   "startswith", "endswith", "open",
		"read_text", "readFileSync", "file_get_contents"
	};

	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names));
}

static bool is_encoding(const struct ab_word *w)
{
	static const char *const names[] = { "utf-8", "utf8", "UTF-8",
					     "ascii", "latin-1", "binary" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		if (ab_word_equals(w, names[i]))
			return true;
	return false;
}

static void judge(struct ab_code *k, uint32_t taint, const struct ab_word *text)
{
	for (const struct ab_child *c = k->children; c; c = c->next)
		ab_check_words(k->c, c->words, c->count, taint, text, true);
}

/* The token behind what opens the call is no string and ends nothing: whether
   that stands for something known. */
static void judge_name(struct ab_code *k, const struct ab_token *t)
{
	const struct ab_named *n = ab_code_value(k, t);
	bool is_known = n && n->count && !n->is_unknown && !n->is_cut;

	for (uint32_t i = 0; is_known && i < n->count; i++)
		judge(k, 0, &n->words[i]);
	if (!is_known)
		judge(k, ab_code_fetches(k) ? AB_TAINT_REMOTE : 0, NULL);
}

/* Behind `communicate` or `stdin.write`: the first argument. */
static void judge_first(struct ab_code *k, struct ab_lexer x)
{
	struct ab_token t, next;

	if (!ab_lexer_next(&x, &t) || !ab_code_is_sign(k, &t, '(') ||
	    !ab_lexer_next(&x, &t))
		return;
	/* communicate(input=x) */
	if (ab_code_is_text(k, &t, "input") && ab_lexer_next(&x, &next) &&
	    ab_code_is_sign(k, &next, '=') && !ab_lexer_next(&x, &t))
		return;
	if (t.kind != AB_TOKEN_WORD || ab_code_is_text(k, &t, "timeout") ||
	    ab_code_is_text(k, &t, "None"))
		return;
	/* b"x" */
	if (t.len == 1 && ab_lexer_next(&x, &next) &&
	    next.kind == AB_TOKEN_STRING && next.at == t.at + 2)
		return;
	judge_name(k, &t);
}

/* Where in the writes the lexer is. */
struct writes {
	bool is_written;   /* in what is written */
	uint32_t depth;	   /* of brackets in that */
	bool is_looked_for, is_next; /* in what is, or that may begin */
	bool is_first;	   /* ... up to the first comma */
	uint32_t outside;  /* the depth around it */
	struct ab_token last, second;
	struct ab_word all; /* one behind the other */
};

static void put(struct ab_code *k, struct writes *s, const struct ab_word *w)
{
	if (is_target(k, w) || is_encoding(w))
		return;
	judge(k, 0, w);
	if (k->targets)
		ab_code_append(k, &s->all, w);
}

/* What the strings and names of a statement are that writes. */
static void put_token(struct ab_code *k, struct writes *s,
		      const struct ab_token *t)
{
	const struct ab_named *n = NULL;
	struct ab_word w;

	if (t->kind == AB_TOKEN_STRING && ab_code_word(k, t, &w))
		put(k, s, &w);
	else if (t->kind == AB_TOKEN_WORD && k->targets)
		n = ab_code_value(k, t);
	for (uint32_t i = 0; n && i < n->count; i++)
		if (!n->words[i].hole_count)
			put(k, s, &n->words[i]);
}

static void end_line(struct ab_code *k, struct writes *s)
{
	const struct ab_word end = { .text = "\n", .len = 1 };

	if (k->targets && s->all.len)
		ab_code_append(k, &s->all, &end);
}

static void begin_write(struct ab_code *k, struct writes *s,
			const struct ab_token *t)
{
	if (!ab_code_is_text(k, t, "write"))
		end_line(k, s);
	s->is_written = true;
	if (ab_code_is_text(k, t, "communicate") ||
	    (ab_code_is_sign(k, &s->last, '.') &&
	     ab_code_is_text(k, &s->second, "stdin")))
		judge_first(k, k->x);
}

/* A statement ends with its line, but not in brackets. */
static void see_end(const struct ab_code *k, struct writes *s,
		    const struct ab_token *t)
{
	if (!s->depth && (ab_code_is_sign(k, t, ';') ||
			  (t->is_line && t->kind != AB_TOKEN_STRING)))
		s->is_written = s->is_looked_for = false;
}

static void see_bracket(struct writes *s, char sign)
{
	if (s->is_next) {
		s->is_looked_for = sign == '(';
		s->outside = s->depth;
	}
	s->is_next = false;
	if (sign && memchr("([{", sign, 3))
		s->depth++;
	else if (sign && memchr(")]}", sign, 3) && s->depth)
		s->depth--;
}

static void see_token(struct ab_code *k, struct writes *s,
		      const struct ab_token *t)
{
	char sign = t->kind == AB_TOKEN_SIGN ? k->text->text[t->at] : 0;

	see_end(k, s, t);
	if (s->is_written)
		see_bracket(s, sign);
	if (s->is_looked_for) {
		s->is_looked_for = s->depth > s->outside &&
				   !(s->is_first && sign == ',' &&
				     s->depth == s->outside + 1);
		/* what is put in stands for itself */
		if (!s->is_looked_for)
			end_line(k, s);
	} else if (is_writing(k, t)) {
		s->depth = s->is_written ? s->depth : 0;
		begin_write(k, s, t);
	} else if (s->is_written && (is_replacing(k, t) || is_looking(k, t))) {
		s->is_next = true;
		s->is_first = is_replacing(k, t);
	} else if (s->is_written) {
		put_token(k, s, t);
	}
	s->second = s->last;
	s->last = *t;
}

static void put_string(struct ab_code *k, const struct ab_token *t)
{
	struct ab_word w;

	if (!ab_code_word(k, t, &w))
		return;
	for (const struct ab_target *f = k->targets; f; f = f->next)
		ab_edit_put(k->c, &f->path, &w);
}

/* open("a").read().replace("x", "y"), which goes back into a file: what stands
   behind the first that it is given is put in. */
static void put_replaced(struct ab_code *k)
{
	struct ab_token t, last = { 0 };
	int depth = 0;
	bool is_put = false;

	ab_lexer_rewind(&k->x);
	while (k->targets && ab_lexer_next(&k->x, &t)) {
		char sign = t.kind == AB_TOKEN_SIGN ? k->text->text[t.at] : 0;

		if (sign == '(' && !depth && is_replacing(k, &last))
			depth = 1;
		else if (sign && depth && memchr("([{", sign, 3))
			depth++;
		else if (sign && depth && memchr(")]}", sign, 3))
			is_put &= --depth > 0;
		else if (sign == ',' && depth == 1)
			is_put = true;
		else if (is_put && t.kind == AB_TOKEN_STRING)
			put_string(k, &t);
		last = t;
	}
}

static void judge_writes(struct ab_code *k)
{
	struct writes s = { .all = { .text = "", .span = k->text->span } };
	struct ab_token t;

	k->last = NULL;
	ab_lexer_rewind(&k->x);
	while (ab_lexer_next(&k->x, &t) && !k->c->is_broken)
		see_token(k, &s, &t);
	for (const struct ab_target *f = k->targets; f && s.all.len;
	     f = f->next)
		ab_file_add(k->c, &f->path, 0, &s.all);
	put_replaced(k);
	if (k->targets)
		ab_code_modules_again(k);
}

static bool finds_socket(const struct ab_code *k)
{
	static const char *const names[] = {
		"socket",	 "create_connection", "open_connection",
		"telnetlib",	 "TCPSocket",	      "TCPServer",
		"UDPSocket",	 "Socket",	      "fsockopen",
		"gen_tcp",	 "TCPClient",	      "socketConnection",
		"TcpStream",	 "Dial",	      "stream_socket_client",
		"createConnection"
	};
	static const char *const texts[] = { "\"net\"",	    "'net'",
					     "node:net",    "Deno.connect",
					     "Deno.listen", "Bun.connect",
					     "Bun.listen" };
	const struct ab_word *w = k->text;

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		if (ab_code_has_name(k, names[i]))
			return true;
	for (size_t i = 0; i < AB_ARRAY_LEN(texts); i++)
		if (memmem(w->text, w->len, texts[i], strlen(texts[i])))
			return true;
	return false;
}

bool ab_code_has_socket(struct ab_code *k)
{
	if (!k->sockets)
		k->sockets = finds_socket(k) ? 1 : 2;
	return k->sockets == 1;
}

/* A line runs behind the program, when its files are there: so do these now. */
static void start_again(struct ab_code *k)
{
	const struct ab_word line = { .text = "\"$@\"", .len = 4,
				      .span = k->text->span };
	const struct ab_word *cwd = k->c->cwd;

	if (k->started_count > MAX_STARTED)
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK, k->text);
	for (const struct ab_started *s = k->started; s; s = s->next) {
		k->c->cwd = s->cwd;
		ab_check_script(k->c, &line, true, s->words, s->count, NULL);
	}
	k->c->cwd = cwd;
}

void ab_code_check_writes(struct ab_code *k)
{
	if (k->started && (k->targets || k->has_lines))
		start_again(k);
	if (AB_LIKELY(!k->children && !k->targets))
		return;
	judge_writes(k);
	if (k->children && (ab_code_has_socket(k) || ab_code_feeds(k)))
		judge(k, AB_TAINT_REMOTE, NULL);
}
