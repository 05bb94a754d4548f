/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The words behind an inline program: `perl -e 'unlink @ARGV' a b`. A program
 * that takes them does to them whatever it does to what is computed; which of
 * its calls gets which word is not followed.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"

#include <string.h>

#define MAX_FILLS 4 /* calls in which a text and those words stand together */
#define MAX_PLAIN 3 /* bytes of "wb+" */

static const struct {
	const char *name;
	uint8_t langs;
} names[] = {
	{ "argv", AB_PY | AB_JS | AB_PHP }, { "ARGV", AB_PERL | AB_RUBY },
	{ "ARGV", AB_AWK },	{ "shift", AB_PERL },  { "fileinput", AB_PY },
	{ "ARGF", AB_RUBY },	{ "gets", AB_RUBY },   { "args", AB_JS },
	{ "arg", AB_LUA },	{ "commandArgs", AB_OTHER },
	{ "argv", AB_OTHER },	{ "optparse", AB_RUBY },
	{ "argparse", AB_PY },
};

bool ab_code_is_argv(const struct ab_code *k, const struct ab_token *t)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if ((names[i].langs & k->lang) &&
		    ab_code_is_text(k, t, names[i].name))
			return true;
	}
	return false;
}

/* It reads the files that the words name: <>, $<. */
static bool reads_each(const struct ab_code *k)
{
	const char *text = k->text->text;
	uint32_t len = k->text->len;

	if (k->lang == AB_PERL)
		return memmem(text, len, "<>", 2) ||
		       memmem(text, len, "<ARGV>", 6);
	if (k->lang == AB_RUBY)
		return memmem(text, len, "$<", 2) ||
		       ab_code_has_name(k, "ARGF") ||
		       ab_code_has_name(k, "gets");
	return k->lang == AB_PY && ab_code_has_name(k, "fileinput");
}

static bool takes_words(const struct ab_code *k)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if ((names[i].langs & k->lang) &&
		    ab_code_has_name(k, names[i].name))
			return true;
	}
	/* -v c='ls' is a variable of awk's */
	return k->lang == AB_AWK || reads_each(k);
}

/* The program is one of the words, and no file or stdin. */
static bool is_inline(const struct ab_code *k, const struct ab_word *w)
{
	return k->text->text >= w->text &&
	       k->text->text <= w->text + w->len;
}

void ab_code_find_argv(struct ab_code *k)
{
	const struct ab_use *use = k->use;
	bool has_text = false;
	uint32_t from;

	if (!use || !use->program || !use->operand_count)
		return;
	from = use->base[use->program->depth];
	if (from >= use->operand_count || !takes_words(k))
		return;
	for (uint32_t i = 1; i < use->count && !has_text; i++)
		has_text = is_inline(k, &use->words[i]);
	/* awk CODE, python3 FILE, python3 - */
	if (!has_text ||
	    is_inline(k, &use->words[use->operands[from]]))
		from++;
	if (from >= use->operand_count)
		return;
	k->argv = use->words + use->operands[from];
	k->argv_count = use->count - use->operands[from];
}

/* system("rm -rf " . shift): the text with the words in its first hole. */
static void fill_text(struct ab_code *k, const struct ab_word *w)
{
	struct ab_word text, tail, all;
	uint32_t at = w->holes[0].at, len = w->holes[0].len;

	if (!ab_word_slice(k->c, w, 0, at, &text) ||
	    !ab_word_slice(k->c, w, at + len, w->len, &tail) ||
	    !ab_shell_join(k->c->run, k->argv, k->argv_count, &all))
		return;
	k->last = NULL; /* a text of somebody else */
	ab_code_append(k, &text, &all);
	/* what is not known ended there */
	if (tail.hole_count && !tail.holes[0].at) {
		tail.holes++;
		tail.hole_count--;
	}
	ab_code_append(k, &text, &tail);
	ab_check_script(k->c, &text, true, NULL, 0, NULL);
}

/* run(["git"] + argv[1:]): the words behind those of the list. */
static void fill_list(struct ab_code *k, const struct ab_args *a)
{
	uint32_t count = a->count + k->argv_count;
	struct ab_word *all = ab_check_alloc(k->c, count * sizeof(*all));

	if (!all)
		return;
	memcpy(all, a->words, a->count * sizeof(*all));
	memcpy(all + a->count, k->argv, k->argv_count * sizeof(*all));
	ab_check_words(k->c, all, count, 0, NULL, false);
}

static void run_call(struct ab_code *k, const struct ab_args *a)
{
	bool has_hole = a->count && a->words[0].hole_count;

	if (!a->count) {
		k->loose |= 1u << AB_CALL_SHELL;
		return;
	}
	if (!has_hole && !a->has_argv)
		return;
	if (k->filled++ >= MAX_FILLS)
		ab_check_known(k->c, AB_KNOWN_LIMIT, AB_V_ASK, k->text);
	else if (has_hole && a->words[0].holes[0].at)
		fill_text(k, &a->words[0]);
	else if (has_hole)
		k->loose |= 1u << AB_CALL_SHELL;
	else
		fill_list(k, a);
}

/* open(argv[1], "w"): nothing but how is said. */
static enum ab_call open_kind(const struct ab_args *a)
{
	enum ab_call kind = AB_CALL_READ;
	bool is_other = false;

	for (uint32_t i = 0; i < a->count; i++) {
		const struct ab_word *w = &a->words[i];

		if (w->hole_count && !w->holes[0].at)
			continue;
		if (!w->len || w->len > MAX_PLAIN ||
		    !memchr("rwaxb+<>", *w->text, 8))
			is_other = true;
		else if (memchr("wax>+", *w->text, 5))
			kind = AB_CALL_WRITE;
	}
	return is_other && !a->is_argv_first ? AB_CALL_NONE : kind;
}

void ab_code_note_argv(struct ab_code *k, enum ab_call kind,
		       const struct ab_args *a)
{
	bool is_said = a->count && a->words[0].len &&
		       !(a->words[0].hole_count && !a->words[0].holes[0].at);

	if (!a->is_run)
		return;
	if (kind == AB_CALL_SHELL)
		run_call(k, a);
	else if (kind == AB_CALL_OPEN)
		k->loose |= 1u << open_kind(a);
	else if (!is_said || a->is_argv_first)
		k->loose |= 1u << kind;
}

/* awk -v c=CMD, and c=CMD behind the program. */
static void awk_value(struct ab_check *c, const struct ab_word *w, uint32_t at)
{
	const char *eq = at < w->len ? memchr(w->text + at, '=', w->len - at)
				     : NULL;
	struct ab_word value;

	if (eq && ab_word_slice(c, w, (uint32_t)(eq - w->text) + 1, w->len,
				&value))
		ab_check_script(c, &value, true, NULL, 0, NULL);
}

static void run_loose(struct ab_code *k)
{
	const struct ab_word *first = k->argv;
	bool is_line = memchr(first->text, ' ', first->len) != NULL;

	if (k->argv_count == 1 || is_line)
		ab_check_script(k->c, first, true, NULL, 0, NULL);
	else if (k->use->program)
		ab_run_words(k->c, k->use, k->argv, k->argv_count);
}

static bool is_loose(const struct ab_code *k, enum ab_call kind)
{
	return k->loose >> kind & 1;
}

/* What is done to one of the words. */
static void touch_word(struct ab_code *k, const struct ab_word *w, bool is_last)
{
	static const struct {
		uint8_t call, role;
	} roles[] = {
		{ AB_CALL_REMOVE, AB_ROLE_REMOVE },
		{ AB_CALL_DELETE, AB_ROLE_DELETE },
		{ AB_CALL_WRITE, AB_ROLE_WRITE },
		{ AB_CALL_READ, AB_ROLE_READ },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(roles); i++) {
		if (is_loose(k, (enum ab_call)roles[i].call))
			ab_check_path(k->c, k->use,
				      (enum ab_role_kind)roles[i].role, w);
	}
	if (is_loose(k, AB_CALL_RENAME))
		ab_check_path(k->c, k->use,
			      is_last ? AB_ROLE_WRITE : AB_ROLE_DELETE, w);
	if (is_loose(k, AB_CALL_COPY) || is_loose(k, AB_CALL_LINK) ||
	    is_loose(k, AB_CALL_ALIAS))
		ab_check_path(k->c, k->use,
			      is_last ? AB_ROLE_WRITE : AB_ROLE_READ, w);
	if ((is_loose(k, AB_CALL_WALK) || is_loose(k, AB_CALL_FIND)) &&
	    ab_code_takes_away(k))
		ab_check_path(k->c, k->use, AB_ROLE_REMOVE, w);
	if (is_loose(k, AB_CALL_SQL))
		ab_check_text(k->c, "sql", w);
}

void ab_code_check_argv(struct ab_code *k)
{
	const struct ab_use *use = k->use;

	if (k->lang == AB_AWK && is_loose(k, AB_CALL_SHELL)) {
		for (uint32_t i = 0; i < use->value_count; i++)
			awk_value(k->c, &use->words[use->values[i].word],
				  use->values[i].at);
		for (uint32_t i = 0; i < k->argv_count; i++)
			awk_value(k->c, &k->argv[i], 0);
	}
	if (!k->argv_count)
		return;
	if (reads_each(k))
		k->loose |= 1u << AB_CALL_READ;
	if (is_loose(k, AB_CALL_SHELL))
		run_loose(k);
	for (uint32_t i = 0; i < k->argv_count; i++)
		touch_word(k, &k->argv[i], i + 1 == k->argv_count);
	if (is_loose(k, AB_CALL_CODE) &&
	    k->c->depth < AB_CHECK_MAX_DEPTH / 4) {
		k->c->depth++;
		ab_check_code(k->c, use, k->name, &k->argv[0]);
		k->c->depth--;
	}
}
