/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a text leaves behind that may not run, or not now. One that runs between
 * any two commands from here on, as that of `trap TEXT DEBUG`, may set its
 * variables again whenever something else was put into them: what it makes of
 * them stays one of several, unknown where it is not what the text itself says.
 * One of which nobody knows what it sets may set any. So it is with functions
 * that it defines (compound.c).
 *
 * Refuses to know when: one that is taken back counts as well.
 */
#include "config.h"

#include "shell/state.h"

static bool is_name_byte(const struct ab_word *w, const char *at)
{
	return at >= w->text && at < w->text + w->len &&
	       ab_shell_name[(unsigned char)*at];
}

/* NAME=VALUE ends there. */
static bool is_end(const struct ab_word *w, const char *at)
{
	return at >= w->text + w->len || memchr(" \t\n;&|)}", *at, 8);
}

/* `x=/`, "x='/'": that value begins there. */
static bool is_value(const struct ab_word *w, const char *at,
		     const struct ab_word *value)
{
	const char *end = w->text + w->len;
	char quote = at < end && memchr("\"'", *at, 2) ? *at : '\0';

	at += quote != '\0';
	if ((size_t)(end - at) < value->len ||
	    memcmp(at, value->text, value->len) != 0)
		return false;
	at += value->len;
	if (quote && (at == end || *at++ != quote))
		return false;
	return is_end(w, at);
}

/* The text names the variable once, to set it to that. */
static bool is_said(const struct ab_word *w, const struct variable *v,
		    const struct value *value)
{
	const char *at = w->text, *end = w->text + w->len;
	uint32_t count = 0;

	if (value->kind != VALUE_SCALAR || value->words->hole_count)
		return false;
	while ((at = memmem(at, (size_t)(end - at), v->name, v->len))) {
		const char *next = at + v->len;

		at++;
		if (is_name_byte(w, at - 2) || is_name_byte(w, next) ||
		    (at - 2 >= w->text && at[-2] == '$'))
			continue;
		if (count++ || next == end || *next != '=' ||
		    !is_value(w, next + 1, value->words))
			return false;
	}
	return count;
}

/* Where the shell is, and what else follows it, is that wherever the text
   runs, as far as anybody knows. */
static bool is_place(const struct variable *v)
{
	return *v->name == ' ' ||
	       (v->len == 3 && !memcmp(v->name, "PWD", 3)) ||
	       (v->len == 6 && !memcmp(v->name, "OLDPWD", 6));
}

/* It may do that between any two commands from now on. */
static void note(struct ab_shell_run *run, const struct ab_word *text,
		 const struct outcome *outcomes)
{
	for (const struct outcome *o = outcomes; o; o = o->next) {
		struct variable *v = o->variable;
		const struct value *value = o->value;

		/* a local of a function, which is what it was again */
		if (value == v->value)
			continue;
		if (!is_place(v) && !is_said(text, v, value))
			value = ab_run_unknown(run, value->origin);
		v->later = v->later ? ab_run_meet(run, v, v->later, value)
				    : value;
		v->flags |= VARIABLE_LATER;
	}
}

/* It may set any of them, to anything. */
static void note_any(struct ab_shell_run *run)
{
	if (run->sets_any)
		return;
	run->sets_any = true;
	for (uint32_t i = 0; i < VARIABLE_BUCKETS; i++) {
		for (struct variable *v = run->variables[i]; v; v = v->chain)
			ab_later_any(run, v);
	}
}

void ab_later_any(struct ab_shell_run *run, struct variable *v)
{
	if (ab_shell_name[(unsigned char)*v->name] != AB_NAME || is_place(v))
		return;
	v->later = v->later ? ab_run_meet(run, v, v->later, &ab_run_anything) :
			      &ab_run_anything;
	v->flags |= VARIABLE_LATER;
}

void ab_later_begin(struct ab_shell_run *run, struct visit_frame *f)
{
	f->perhaps_undo = ab_run_branch(run);
	f->forgotten = run->forgotten;
	f->unnamed = run->unnamed;
	run->uncertain++;
	run->later += f->pushed->text.when == AB_SHELL_LATER;
	f->inner.flags |= AB_SHELL_MAYBE;
}

void ab_later_end(struct ab_shell_run *run, const struct visit_frame *f)
{
	const struct ab_shell_text *t = &f->pushed->text;
	bool is_last = t->when == AB_SHELL_LAST;
	struct outcome *outcomes = NULL;

	run->uncertain--;
	ab_run_back(run, f->perhaps_undo, is_last ? NULL : &outcomes);
	if (t->when == AB_SHELL_LATER) {
		run->later--;
		note(run, &t->text, outcomes);
		if (f->forgotten != run->forgotten ||
		    f->unnamed != run->unnamed)
			note_any(run);
	}
	if (!is_last) {
		ab_run_join(run, outcomes, 2);
		return;
	}
	run->forgotten = f->forgotten;
	run->unnamed = f->unnamed;
}
