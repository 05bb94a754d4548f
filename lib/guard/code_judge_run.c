/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A call of an inline program that runs something: a line of the shell, words,
 * a pipe, a program of the same language, or a method that is a command. Where
 * what is run is computed it is asked about, as code_judge.c does. Spec:
 * DESIGN.md section 7.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"

#include <string.h>

/* More than the name of a program: the shell reads it. */
static bool is_line(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->len; i++) {
		if (memchr(" \t\n;&|", w->text[i], 6))
			return true;
	}
	return false;
}

/* chdir("x") before it, and cwd="y" of the call. */
static void enter_dir(struct ab_code *k, const struct ab_args *a)
{
	struct ab_check *c = k->c;

	if (k->is_away && !(k->cwd.len && *k->cwd.text == '/'))
		c->cwd = NULL;
	else if (k->cwd.len)
		c->cwd = ab_cwd_after(c, &k->cwd);
	if (a->has_dir)
		c->cwd = ab_cwd_after(c, &a->dir);
}

/* run(get(u)), run(f"{x} y"), where x is from the network */
static bool is_remote_command(struct ab_code *k, const struct ab_args *a)
{
	const struct ab_word *w = &a->words[0];

	return (a->is_computed && (a->is_fetched || ab_code_has_socket(k))) ||
	       (a->is_fetched && a->count && w->hole_count && !w->holes[0].at);
}

/* system {"rm"} "x", "y"; run(["x", "y"], executable="rm"): its name is told to
   be x. run("LINE", shell=True, executable="bash"): that reads it. */
static void put_program(struct ab_code *k, struct ab_args *a)
{
	struct ab_word words[3] = { a->block, { .text = "-c", .len = 2 } };

	if (k->lang == AB_PY && a->count == 1) {
		words[1].span = a->block.span;
		words[2] = a->words[0];
		ab_check_script(k->c, &words[2], true, NULL, 0, NULL);
		ab_check_words(k->c, words, 3, 0, NULL, false);
	}
	a->words[0] = a->block;
	a->count += !a->count;
}

/* sh -ec 'x': one of its options, in front of everything else. */
static bool has_command(const struct ab_word *w, uint32_t at)
{
	while (at < w->len && memchr(" \t", w->text[at], 2)) {
		uint32_t n;

		at++;
		n = (uint32_t)ab_seek(w->text + at, w->len - at, ' ');
		if (n > 1 && w->text[at] == '-' && w->text[at + 1] != '-' &&
		    memchr(w->text + at, 'c', n))
			return true;
		if (n && w->text[at] != '-')
			return false;
		at += n;
	}
	return false;
}

bool ab_code_is_shell(const struct ab_code *k, const struct ab_word *w)
{
	struct ab_word name = *w;
	const struct ab_program *p;
	uint32_t base;

	while (name.len && memchr(" \t", *name.text, 2)) {
		name.text++;
		name.len--;
	}
	name.len = (uint32_t)ab_seek(name.text, name.len, ' ');
	base = ab_name_base(&name);
	p = ab_pack_program(k->c->pack, name.text + base, name.len - base);
	return p && ab_has_role(p, AB_ROLE_STDIN_SHELL) &&
	       !has_command(w, (uint32_t)(name.text - w->text) + name.len);
}

/* C#: Process.Start("git", "push origin"), whose second has all words. */
static void run_arguments(struct ab_code *k, const struct ab_args *a)
{
	const struct ab_word blank = { .text = " ", .len = 1 };
	struct ab_word all = a->words[0];

	k->last = NULL; /* a text of somebody else */
	ab_code_append(k, &all, &blank);
	ab_code_append(k, &all, &a->words[1]);
	ab_check_script(k->c, &all, true, NULL, 0, NULL);
}

static void run_words(struct ab_code *k, struct ab_args *a)
{
	bool is_text;

	if (!a->count && !a->has_block)
		return;
	if (AB_UNLIKELY(a->has_block))
		put_program(k, a);
	if (a->is_either && a->count > 1 && ab_word_equals(a->words, "args"))
		memmove(a->words, a->words + 1,
			--a->count * sizeof(a->words[0]));
	is_text = a->count == 1 || is_line(&a->words[0]);
	ab_code_note_child(k, a);
	/* what stands behind a line are options of the call: cwd="/tmp" */
	k->has_lines |= is_text;
	if (is_text || a->has_more)
		ab_check_script(k->c, &a->words[0], true, NULL, 0, NULL);
	if (AB_UNLIKELY(k->lang == AB_OTHER && a->count == 2) &&
	    is_line(&a->words[1]))
		run_arguments(k, a);
	if (!is_text)
		ab_code_note_started(k, a);
	/* system("ls" if x else "make") */
	for (uint32_t i = 1; i < a->count && a->is_either; i++)
		ab_check_script(k->c, &a->words[i], true, NULL, 0, NULL);
	if (a->count > 1 || a->has_input)
		ab_check_words(k->c, a->words, a->count,
			       a->has_input && ab_code_fetches(k)
				       ? AB_TAINT_REMOTE
				       : 0,
			       a->input.text ? &a->input : NULL,
			       a->has_input);
}

/* It writes what the network sent, and has files whose names nobody knows. */
static bool has_temporary(struct ab_code *k)
{
	static const char *const names[] = { "mkstemp", "mkdtemp", "mktemp",
					     "NamedTemporaryFile", "Tempfile",
					     "TemporaryDirectory", "mkdtempSync",
					     "tmpdir", "tempfile", "tempnam" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (ab_code_has_name(k, names[i]))
			return ab_code_feeds(k);
	}
	return false;
}

/* A file of the network's is run: [sys.executable, f.name]. */
static void check_script(struct ab_code *k, const struct ab_args *a)
{
	const struct ab_word *w = &a->words[0];
	const struct ab_program *p;
	uint32_t base;

	if (AB_LIKELY(a->count < 2 || a->words[1].len || w->hole_count) ||
	    !ab_code_fetches(k) ||
	    !(ab_word_taint(&a->words[1]) & AB_TAINT_REMOTE ||
	      has_temporary(k)))
		return;
	base = ab_name_base(w);
	p = ab_pack_program(k->c->pack, w->text + base, w->len - base);
	if (p && ab_has_role(p, AB_ROLE_RUN))
		ab_check_flow(k->c, k->use, AB_SINK_RUN, AB_TAINT_REMOTE, w);
}

/* What runs its words, or reads the first as a line of the shell. */
void ab_code_judge_shell(struct ab_code *k, struct ab_args *a, bool is_known)
{
	const struct ab_word *cwd = k->c->cwd;

	if (a->is_cut)
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK, k->text);
	k->runs_input |= (!is_known || a->is_fed) && a->is_run;
	if (a->is_command && a->is_computed &&
	    !(k->argv_count && a->has_argv))
		ab_check_known(k->c, AB_KNOWN_INLINE, AB_V_ASK, k->text);
	if (a->is_command && is_remote_command(k, a))
		ab_check_flow(k->c, k->use, AB_SINK_SHELL, AB_TAINT_REMOTE,
			      k->text);
	check_script(k, a);
	enter_dir(k, a);
	run_words(k, a);
	k->c->cwd = cwd;
}

/* perl: `eval;` and `eval if ...` run what is in $_. */
static bool is_of_topic(const struct ab_code *k, const struct ab_args *a)
{
	uint32_t at = a->name.at;
	char next = ab_code_next_byte(k->text, at + a->name.len);

	return k->lang == AB_PERL && !a->is_command &&
	       ab_code_is_text(k, &a->name, "eval") &&
	       (!next || memchr(";)", next, 2) || ab_code_is_letter(next) ||
		(next == '}' && ab_code_last_byte(k->text, &at) != '{'));
}

/* eval("..."): its words are programs of the same language. */
void ab_code_judge_code(struct ab_code *k, struct ab_args *a, bool is_known)
{
	if (is_of_topic(k, a)) {
		ab_check_known(k->c, AB_KNOWN_OPAQUE, AB_V_ASK, k->text);
		if (k->use && k->use->has_stdin)
			ab_check_flow(k->c, k->use, AB_SINK_CODE,
				      k->use->in_taint & AB_TAINT_REMOTE,
				      NULL);
		return;
	}
	/* eval {...} */
	if (k->lang & (AB_PERL | AB_RUBY) && !a->is_command)
		return;
	k->is_input_code |= (!is_known || a->is_fed) && a->is_run;
	if (a->is_command &&
	    (a->is_computed || (a->count && a->words[0].hole_count)))
		ab_check_known(k->c, AB_KNOWN_OPAQUE, AB_V_ASK, k->text);
	if (a->is_command && a->is_fetched)
		ab_check_flow(k->c, k->use, AB_SINK_CODE, AB_TAINT_REMOTE,
			      k->text);
	if (a->count && k->c->depth >= AB_CHECK_MAX_DEPTH / 4) {
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_DENY, k->text);
		return;
	}
	for (uint32_t i = 0; i < a->count; i++) {
		k->c->depth++;
		ab_check_code(k->c, k->use, k->name, &a->words[i]);
		k->c->depth--;
	}
}

/* pipeline("a b", "c"): a b | c. */
void ab_code_judge_pipe(struct ab_code *k, struct ab_args *a)
{
	const struct ab_word bar = { .text = " | ", .len = 3 };
	struct ab_word all = a->words[0];
	bool has_line = false;

	if (!a->count)
		return;
	k->last = NULL;
	for (uint32_t i = 0; i < a->count; i++) {
		has_line |= is_line(&a->words[i]);
		if (i) {
			ab_code_append(k, &all, &bar);
			ab_code_append(k, &all, &a->words[i]);
		}
	}
	ab_check_script(k->c, &all, true, NULL, 0, NULL);
	/* pipeline(["git", "push"]) */
	if (!has_line)
		ab_check_words(k->c, a->words, a->count, 0, NULL, false);
}

/* repo.git.execute(["git", "x"]) */
static bool has_program(const struct ab_code *k, const struct ab_args *a)
{
	return ab_code_is_text(k, &a->name, "execute") && a->count &&
	       a->words[0].len == 3 && !memcmp(a->words[0].text, "git", 3);
}

/* repo.git.cherry_pick("x"), sh.rm("-rf", "x"): the name is a word. */
void ab_code_judge_method(struct ab_code *k, bool is_git, struct ab_args *a)
{
	const uint32_t count = a->count + 2;
	struct ab_word *w = ab_check_alloc(k->c, count * sizeof(*w));
	char *text = ab_check_alloc(k->c, a->name.len + 1);
	struct ab_word name;
	uint32_t n = 0;

	if (!w || !text || !ab_code_word(k, &a->name, &name))
		return;
	for (uint32_t i = 0; i < name.len; i++)
		text[i] = name.text[i] == '_' ? '-' : name.text[i];
	if (is_git && !has_program(k, a))
		w[n++] = (struct ab_word){ .text = "git", .len = 3,
					   .span = name.span };
	if (!is_git || !(ab_code_is_text(k, &a->name, "raw") ||
			 ab_code_is_text(k, &a->name, "execute")))
		w[n++] = (struct ab_word){ .text = text, .len = name.len,
					   .span = name.span };
	for (uint32_t i = 0; i < a->count; i++)
		w[n++] = a->words[i];
	ab_check_words(k->c, w, n, 0, NULL, false);
}
