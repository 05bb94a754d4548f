/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shells and interpreters that a program starts and writes to: what it writes
 * is what they run. Popen(["sh"], stdin=PIPE).communicate("x"),
 * spawn("sh").stdin.write("x"), IO.popen("sh", "w") { |f| f.puts "x" }. Which
 * of the strings goes where is not followed: each that is written anywhere is
 * judged as stdin of each child that runs its stdin. A program that also talks
 * to a socket hands that on.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"

#include <string.h>

#define MAX_WORDS 4 /* of the child's command */

/* One that was started. */
struct ab_child {
	const struct ab_child *next;
	uint32_t count;
	struct ab_word words[MAX_WORDS];
};

#define MAX_CHILDREN 4 /* that are told apart; more are a limit */

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
	return ab_code_is_letter(ch) || memchr("./-+", ch, 4);
}

/* The words of a plain line; true: it was one. */
static bool split(struct ab_code *k, const struct ab_word *line,
		  struct ab_child *child)
{
	uint32_t at = 0, from;

	while (at < line->len) {
		if (line->text[at] == ' ') {
			at++;
			continue;
		}
		for (from = at; at < line->len && is_plain(line->text[at]);)
			at++;
		if (at == from || child->count == MAX_WORDS ||
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

static bool runs_stdin(const struct ab_code *k, const struct ab_word *name)
{
	uint32_t base = ab_name_base(name);
	const struct ab_program *p = ab_pack_program(
		k->c->pack, name->text + base, name->len - base);

	return p && (ab_has_role(p, AB_ROLE_STDIN_SHELL) ||
		     ab_has_role(p, AB_ROLE_STDIN_CODE) ||
		     ab_has_role(p, AB_ROLE_STDIN_TEXT));
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

/* What it is made of stays while the program is judged. */
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
	for (uint32_t i = 0; copy && i < child->count; i++) {
		const struct ab_word *w = &child->words[i];
		char *text = ab_arena_high(k->c->high, w->len + 1);

		copy->words[i] = (struct ab_word){ .text = text, .len = w->len,
						   .span = w->span };
		if (!text)
			copy = NULL;
		else
			memcpy(text, w->text, w->len);
	}
	if (!copy) {
		k->c->is_broken = true;
		return;
	}
	copy->count = child->count;
	copy->next = k->children;
	k->children = copy;
}

void ab_code_note_child(struct ab_code *k, const struct ab_args *a)
{
	struct ab_child child = { .count = 0 };

	if (!a->count || a->words[0].hole_count || !a->words[0].len ||
	    !split(k, &a->words[0], &child) ||
	    !runs_stdin(k, &child.words[0]))
		return;
	for (uint32_t i = 1; i < a->count; i++) {
		if (is_mode(&a->words[i]))
			continue;
		/* ruby: [:in, :out] => socket */
		if (a->words[i].hole_count && ab_code_has_socket(k))
			break;
		/* a script, or more than a shell that waits has */
		if (child.count == MAX_WORDS || a->words[i].hole_count)
			return;
		child.words[child.count++] = a->words[i];
	}
	keep(k, &child);
}

/* --- what is written ---------------------------------------------------- */

static bool is_writing(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = {
		"communicate", "write",	    "end",	"puts",
		"print",       "println",   "printf",	"fwrite",
		"fputs",       "write_all", "writelines", "writeln",
		"encode",      "say",	    "syswrite", "stdin_data",
		"WriteString", "Fprintln",  "Fprint",	"Fprintf",
		"WriteLine",   "Write",	    "send",	"sendline"
	};

	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names));
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
		judge(k, ab_code_is_fetching(k) ? AB_TAINT_REMOTE : 0, NULL);
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

static void judge_writes(struct ab_code *k)
{
	struct ab_token t, last = { 0 }, second = { 0 };
	bool is_written = false;

	ab_lexer_rewind(&k->x);
	while (ab_lexer_next(&k->x, &t) && !k->c->is_broken) {
		struct ab_word w;

		if (ab_code_is_sign(k, &t, ';') ||
		    (t.is_line && t.kind != AB_TOKEN_STRING))
			is_written = false;
		if (is_writing(k, &t)) {
			is_written = true;
			if (ab_code_is_text(k, &t, "communicate") ||
			    (ab_code_is_sign(k, &last, '.') &&
			     ab_code_is_text(k, &second, "stdin")))
				judge_first(k, k->x);
		} else if (is_written && t.kind == AB_TOKEN_STRING &&
			   ab_code_word(k, &t, &w)) {
			judge(k, 0, &w);
		}
		second = last;
		last = t;
	}
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

void ab_code_check_children(struct ab_code *k)
{
	if (AB_LIKELY(!k->children))
		return;
	judge_writes(k);
	if (ab_code_has_socket(k))
		judge(k, AB_TAINT_REMOTE, NULL);
}
