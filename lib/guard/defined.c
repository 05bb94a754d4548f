/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is asked about in the body of a function that the text defines: there
 * nobody knows what its variables will be. Where the text calls it, each call
 * is judged with what they are by then, and what was asked of the definition
 * is dropped. What nobody calls is told at the end: its callers cannot be seen.
 *
 * Refuses to drop anything once a function is exported, for a child that
 * calls it by its name, or a trap calls it through others; what is asked of
 * one that is defined behind a trap, which may call it at any time, or that
 * the shell calls by itself; what another definition of the same name asks;
 * and any denial.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "guard/command.h"

#define MAX_DEFERRED 64 /* more are told at once */

struct ab_deferred {
	struct ab_deferred *next;
	const struct ab_shell_function *function;
	struct ab_shell_found found;
	bool is_dropped;
};

/* The shell calls it when it likes. */
static bool is_hook(const struct ab_shell_function *f)
{
	static const char *const names[] = {
		"command_not_found_handle", "command_not_found_handler",
		"chpwd", "periodic", "precmd", "preexec", "zshexit",
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (!strcmp(f->name, names[i]))
			return true;
	}
	return !strncmp(f->name, "TRAP", 4);
}

bool ab_defined_defer(struct ab_check *c, const struct ab_shell_found *found)
{
	struct ab_deferred *d;

	if (!c->defining || found->verdict != AB_V_ASK || c->is_exporting ||
	    c->is_probe || c->defining_traps || is_hook(c->defining) ||
	    c->deferred_count == MAX_DEFERRED)
		return false;
	d = ab_arena_high(c->high, sizeof(*d));
	if (!d) {
		c->is_broken = true;
		return false;
	}
	*d = (struct ab_deferred){ .next = c->deferred,
				   .function = c->defining, .found = *found };
	/* the words do not live that long */
	d->found.words = NULL;
	d->found.count = 0;
	c->deferred = d;
	c->deferred_count++;
	return true;
}

void ab_defined_shadow(struct ab_check *c, const struct ab_shell_function *f)
{
	const struct ab_program *p =
		ab_pack_program(c->pack, f->name, f->name_len);
	struct ab_word w = { .text = f->name, .len = f->name_len,
			     .span = f->span };

	/* dc() { docker compose "$@"; }, k() { kubectl "$@"; } */
	if (p && !p->is_common && !ab_word_equals(&w, "k") &&
	    (p->links || p->is_git || ab_has_role(p, AB_ROLE_DELETE) ||
	     ab_has_role(p, AB_ROLE_WRITE)))
		ab_check_known(c, AB_KNOWN_SHADOW, AB_V_ASK, &w);
}

void ab_defined_begin(struct ab_check *c, const struct ab_shell_scope *s)
{
	if (!s->function)
		return;
	if (s->kind == AB_SCOPE_DEFINITION) {
		if (!c->defining_depth++) {
			c->defining = s->function;
			c->defining_traps = c->traps != NULL;
		}
		return;
	}
	if (c->defining)
		return;
	for (struct ab_deferred *d = c->deferred; d; d = d->next)
		d->is_dropped |= d->function == s->function;
}

void ab_defined_end(struct ab_check *c, const struct ab_shell_scope *s)
{
	if (s->function && s->kind == AB_SCOPE_DEFINITION &&
	    !--c->defining_depth)
		c->defining = NULL;
}

bool ab_defined_reaches(struct ab_check *c, const char *text, uint32_t len,
			uint32_t depth)
{
	uint32_t n;

	if (!ab_shell_has_functions(c->run))
		return false;
	for (uint32_t i = 0; i < len; i += n + 1) {
		const struct ab_shell_function *f;
		const char *body;

		n = 0;
		while (i + n < len && !memchr(" \t\n;&|(){}\"'`$", text[i + n],
					      14))
			n++;
		f = n ? ab_shell_function(c->run, text + i, n) : NULL;
		if (!f)
			continue;
		for (const struct ab_deferred *d = c->deferred; d; d = d->next)
			if (d->function == f)
				return true;
		body = f->text ? memchr(f->text, '{', f->text_len) : NULL;
		if (!depth || !body ||
		    ab_defined_reaches(c, body,
				       f->text_len - (uint32_t)(body - f->text),
				       depth - 1))
			return true;
	}
	return false;
}

/* export -f, declare -fx, set -a, set -o allexport; or nobody knows. */
void ab_defined_export(struct ab_check *c, const struct ab_word *argv,
		       uint32_t argc)
{
	for (uint32_t i = 1; i < argc && !c->is_exporting; i++) {
		const struct ab_word *w = &argv[i];
		bool is_option = w->len > 1 && memchr("-+", *w->text, 2) &&
				 w->text[1] != '-';

		if (is_option && (memchr(w->text, 'f', w->len) ||
				  memchr(w->text, 'a', w->len)))
			c->is_exporting = true;
		c->is_exporting |= ab_word_equals(w, "allexport") ||
				   (!w->len && w->hole_count);
	}
}

void ab_defined_tell(struct ab_check *c)
{
	for (const struct ab_deferred *d = c->deferred; d; d = d->next) {
		if (!d->is_dropped || c->is_exporting)
			c->report(c->user, &d->found);
	}
	c->deferred = NULL;
}
