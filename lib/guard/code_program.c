/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Libraries of python that make a call of any program: sh, plumbum, fabric and
 * invoke, and django's commands. `git("push")`, `git["push"]()`,
 * `sh.Command("git")("push")` and `local["git"]("push")` are judged as the
 * words that they are. Refuses to follow what an object does that keeps some of
 * them for later, but for a name that it is given.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"

#include <string.h>

#define MAX_WORDS 64
#define MAX_PARTS 6 /* git["push"]("-f") has two */

enum {
	LIBRARY_SEEN = 1,
	LIBRARY_SH = 2,
	LIBRARY_PLUMBUM = 4,
	LIBRARY_TASKS = 8, /* fabric, invoke */
	LIBRARY_DJANGO = 16
};

static void find_libraries(struct ab_code *k)
{
	static const struct {
		const char *name;
		uint8_t library;
	} names[] = {
		{ "sh", LIBRARY_SH },	     { "plumbum", LIBRARY_PLUMBUM },
		{ "fabric", LIBRARY_TASKS }, { "invoke", LIBRARY_TASKS },
		{ "call_command", LIBRARY_DJANGO },
	};

	k->libraries = LIBRARY_SEEN;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (ab_code_has_name(k, names[i].name))
			k->libraries |= names[i].library;
	}
}

/* --- names of programs -------------------------------------------------- */

static void add_program(struct ab_code *k, const struct ab_token *name,
			const struct ab_token *program)
{
	if (k->program_count < AB_CODE_PROGRAMS)
		k->programs[k->program_count++] = (struct ab_code_program){
			.name = *name, .program = *program,
		};
}

/* from sh import git, from plumbum.cmd import git as g; behind `from`. */
static void read_import(struct ab_code *k)
{
	struct ab_lexer x = k->x;
	struct ab_token t, last = { 0 };
	bool is_as = false;

	if (!ab_lexer_next(&x, &t) || !(ab_code_is_text(k, &t, "sh") ||
					ab_code_is_text(k, &t, "plumbum")))
		return;
	while (ab_lexer_next(&x, &t) && !ab_code_is_text(k, &t, "import"))
		if (t.is_line || !(ab_code_is_sign(k, &t, '.') ||
				   ab_code_is_text(k, &t, "cmd")))
			return;
	for (uint32_t i = 0; i < MAX_WORDS && ab_lexer_next(&x, &t) &&
			     !t.is_line && !ab_code_is_sign(k, &t, ';'); i++) {
		if (t.kind != AB_TOKEN_WORD)
			continue;
		if (ab_code_is_text(k, &t, "as")) {
			is_as = true;
			continue;
		}
		add_program(k, &t, is_as ? &last : &t);
		is_as = false;
		last = t;
	}
}

/* git = local["git"]: the name before what begins at `at`. */
static void note_set(struct ab_code *k, uint32_t at,
		     const struct ab_token *program)
{
	const char *s = k->text->text;
	struct ab_token name = { .kind = AB_TOKEN_WORD };

	while (at && (ab_code_is_letter(s[at - 1]) || s[at - 1] == '.'))
		at--;
	if (ab_code_last_byte(k->text, &at) != '=')
		return;
	at--;
	(void)ab_code_last_byte(k->text, &at);
	for (name.at = at; name.at && ab_code_is_letter(s[name.at - 1]);)
		name.at--;
	name.len = at - name.at;
	if (name.len)
		add_program(k, &name, program);
}

/* --- words -------------------------------------------------------------- */

struct words {
	struct ab_word all[MAX_WORDS];
	uint32_t count;
};

static void add_token(struct ab_code *k, struct words *w,
		      const struct ab_token *t, bool is_method)
{
	struct ab_word one;
	char *text;

	if (w->count == MAX_WORDS || !ab_code_plain_word(k, t, &one))
		return;
	text = ab_check_alloc(k->c, one.len + 1);
	if (!text)
		return;
	for (uint32_t i = 0; i < one.len; i++)
		text[i] = is_method && one.text[i] == '_' ? '-' : one.text[i];
	one.text = text;
	w->all[w->count++] = one;
}

static void add_text(struct ab_code *k, struct words *w, const char *s)
{
	w->all[w->count++] = (struct ab_word){
		.text = s, .len = (uint32_t)strlen(s), .span = k->text->span,
	};
}

/* What stands in the brackets at the lexer. */
static void add_arguments(struct ab_code *k, struct ab_args *a,
			  struct words *w)
{
	a->is_command = true;
	a->is_taken_away = a->takes_list = a->is_computed = false;
	ab_code_read_args(k, a);
	if (a->is_cut)
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK, k->text);
	if (a->each || a->is_computed)
		ab_check_known(k->c, AB_KNOWN_INLINE, AB_V_ASK, k->text);
	for (uint32_t i = 0; i < a->count && w->count < MAX_WORDS; i++)
		w->all[w->count++] = a->words[i];
}

static bool hands_on(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = { "bake", "run", "popen", "run_fg",
					     "run_tee", "run_bg", "run_retcode",
					     "run_tf", "with_cwd", "nohup" };

	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names));
}

/* ["push"], ("push"), .push("x"), and more of them behind the lexer. */
static void run_words(struct ab_code *k, struct ab_args *a, struct words *w)
{
	const struct ab_lexer was = k->x;
	bool is_run = false;

	for (uint32_t i = 0; i < MAX_PARTS; i++) {
		struct ab_lexer x = k->x;
		struct ab_token t;

		if (!ab_lexer_next(&x, &t) || t.is_line)
			break;
		if (ab_code_is_sign(k, &t, '(') ||
		    ab_code_is_sign(k, &t, '[')) {
			add_arguments(k, a, w);
			is_run = true;
		} else if (ab_code_is_sign(k, &t, '.') &&
			   ab_lexer_next(&x, &t) && t.kind == AB_TOKEN_WORD &&
			   ab_code_next_byte(k->text, x.pos) == '(') {
			if (!hands_on(k, &t))
				add_token(k, w, &t, true);
			k->x = x;
		} else {
			break;
		}
	}
	k->x = was;
	if (is_run)
		ab_check_words(k->c, w->all, w->count, 0, NULL, false);
}

/* sh.Command("git"), local["git"], behind the word. */
static void made_program(struct ab_code *k, struct ab_args *a,
			 const struct ab_token *t, struct words *w)
{
	struct ab_lexer x = k->x;
	struct ab_token open, name, close;

	if (!ab_lexer_next(&x, &open) || !ab_lexer_next(&x, &name) ||
	    name.kind != AB_TOKEN_STRING || !ab_lexer_next(&x, &close) ||
	    !(ab_code_is_sign(k, &close, ')') ||
	      ab_code_is_sign(k, &close, ']')))
		return;
	note_set(k, t->at, &name);
	k->x = x;
	add_token(k, w, &name, false);
	run_words(k, a, w);
}

static bool is_maker(const struct ab_code *k, const struct ab_token *t)
{
	char next = ab_code_next_byte(k->text, k->x.pos);

	return (k->libraries & LIBRARY_PLUMBUM && next == '[' &&
		ab_code_is_text(k, t, "local")) ||
	       (k->libraries & LIBRARY_SH && next == '(' &&
		ab_code_is_text(k, t, "Command"));
}

/* c.local("x"), c.sudo("x") */
static bool is_task(const struct ab_code *k, const struct ab_token *t)
{
	return k->libraries & LIBRARY_TASKS &&
	       ab_code_is_sign(k, &k->before, '.') &&
	       (ab_code_is_text(k, t, "local") ||
		ab_code_is_text(k, t, "sudo")) &&
	       ab_code_next_byte(k->text, k->x.pos) == '(';
}

static void run_program(struct ab_code *k, struct ab_args *a,
			const struct ab_token *t)
{
	struct words *w = ab_check_alloc(k->c, sizeof(*w));

	if (!w)
		return;
	w->count = 0;
	if (is_maker(k, t)) {
		made_program(k, a, t, w);
		return;
	}
	if (k->libraries & LIBRARY_DJANGO &&
	    ab_code_is_text(k, t, "call_command")) {
		add_text(k, w, "manage.py");
		run_words(k, a, w);
		return;
	}
	for (uint32_t i = 0; i < k->program_count; i++) {
		const struct ab_code_program *p = &k->programs[i];

		if (p->name.len != t->len ||
		    memcmp(k->text->text + p->name.at, k->text->text + t->at,
			   t->len) != 0)
			continue;
		add_token(k, w, &p->program,
			  p->program.kind == AB_TOKEN_WORD);
		run_words(k, a, w);
		return;
	}
}

void ab_code_run_program(struct ab_code *k, struct ab_args *a,
			 const struct ab_token *t)
{
	const struct ab_lexer was = k->x;
	const struct ab_token before = k->before;

	if (!k->libraries)
		find_libraries(k);
	if (k->libraries == LIBRARY_SEEN || t->kind != AB_TOKEN_WORD)
		return;
	if (ab_code_is_text(k, t, "from"))
		read_import(k);
	else if (is_task(k, t))
		ab_code_apply(k, a, AB_CALL_SHELL, t);
	else if (is_maker(k, t) || ab_code_is_text(k, t, "call_command") ||
		 !ab_code_is_sign(k, &before, '.'))
		run_program(k, a, t);
	k->x = was;
	k->before = before;
}
