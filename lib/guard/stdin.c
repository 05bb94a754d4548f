/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A shell that has its script from its stdin reads it as it goes, and so do
 * its commands: what they take of it is not run, and the rest may be other
 * commands than the whole text has. So it is asked about each that may take a
 * part. What reads to the end leaves nothing behind, and is not looked at.
 */
#include "config.h"

#include "guard/check.h"

#include "base/alloc.h"
#include "guard/command.h"

/* /dev/fd/5, /proc/self/fd/5: no file of the disk. */
static bool names_fd(const struct ab_word *w)
{
	return ab_is_stdin_name(w) ||
	       (w->len > 8 && !memcmp(w->text, "/dev/fd/", 8) &&
		!w->hole_count) ||
	       (w->len > 6 && !memcmp(w->text, "/proc/", 6) &&
		memmem(w->text, w->len, "/fd/", 4));
}

/* <&0, <&$n, <&5 where 5 may be a copy of the script's. */
static bool dups_script(const struct ab_check *c, const struct ab_word *w,
			bool is_on)
{
	if (w->hole_count)
		return true;
	if (w->len && *w->text == '0')
		return is_on;
	return w->len && *w->text != '-' && c->has_script_copy;
}

bool ab_is_on_script(const struct ab_check *c, const struct ab_shell_command *m)
{
	/* a body counts where it is called */
	bool is_on = c->chain && c->chain->is_stdin &&
		     m->place.in == c->chain->in &&
		     !(m->place.flags & AB_SHELL_DEFINITION);

	for (uint32_t i = 0; i < m->redir_count; i++) {
		const struct ab_shell_redir *r = &m->redirs[i];

		if (r->fd != 0)
			continue;
		if (r->kind == AB_REDIR_DUP_IN || r->kind == AB_REDIR_DUP_OUT)
			is_on = dups_script(c, &r->target, is_on);
		else
			is_on = r->kind < AB_REDIR_HERE_DOC &&
				(c->has_stdin_link || names_fd(&r->target));
	}
	return is_on;
}

void ab_note_script_copy(struct ab_check *c, const struct ab_shell_redir *r)
{
	bool is_dup = r->kind == AB_REDIR_DUP_IN ||
		      r->kind == AB_REDIR_DUP_OUT;

	if (r->fd == 0 || r->kind == AB_REDIR_HERE_DOC ||
	    r->kind == AB_REDIR_HERE_STRING)
		return;
	c->has_script_copy |= is_dup ? dups_script(c, &r->target, true)
				     : ab_is_stdin_name(&r->target);
}

/* read -u 3: another stream, unless 3 is a copy. */
static bool reads_other(const struct ab_check *c, const struct ab_use *use)
{
	for (uint32_t i = 0; i < use->value_count; i++) {
		const struct ab_value *v = &use->values[i];
		const struct ab_word *o = &use->words[v->option];
		const struct ab_word *w = &use->words[v->word];

		if (o->text[v->at ? v->at - 1 : o->len - 1] != 'u')
			continue;
		return !c->has_script_copy && w->len > v->at &&
		       w->text[v->at] != '0' && !w->hole_count;
	}
	return false;
}

static void count_file(struct ab_check *c, const struct ab_use *use,
		       const struct ab_role *role, const struct ab_word *w)
{
	(void)use;
	(void)role;
	if (names_fd(w))
		c->reads_fd = true;
	/* what is not quoted may leave no word */
	else if (w->len || !w->hole_count ||
		 w->holes->kind != AB_HOLE_FIELDS)
		c->reads_file = true;
}

/* By the roles of its words it reads files, and none of them is stdin. */
static bool reads_files(struct ab_check *c, const struct ab_use *use)
{
	const struct ab_program *p = use->program;

	c->reads_file = c->reads_fd = false;
	for (uint32_t i = 0; i < p->role_count; i++) {
		const struct ab_role *role = &c->pack->roles[p->role + i];

		if ((role->kind == AB_ROLE_READ ||
		     role->kind == AB_ROLE_SHOW) &&
		    ab_role_applies(use, role))
			ab_role_each(c, use, role, count_file);
	}
	return c->reads_file && !c->reads_fd && !c->has_stdin_link;
}

/* Some word of the options begins with one of the letters, or (awk) one has
   the text. */
static bool has_word(const struct ab_use *use, const char *letters,
		     const char *text)
{
	for (uint32_t i = 1; i < use->count; i++) {
		const struct ab_word *w = &use->words[i];

		if (text && (w->hole_count ||
			     memmem(w->text, w->len, text, strlen(text))))
			return true;
		if (!letters || w->len < 2 || *w->text != '-')
			continue;
		for (uint32_t k = 1; k < w->len; k++)
			if (memchr(letters, w->text[k], strlen(letters)))
				return true;
	}
	return false;
}

/* Those that stop before the end; with what of the options. */
static const struct {
	const char *name;
	const char *letters;
	const char *text;
} takers[] = {
	{ "read", NULL, NULL },	   { "mapfile", NULL, NULL },
	{ "readarray", NULL, NULL }, { "head", NULL, NULL },
	{ "dd", NULL, NULL },	   { "line", NULL, NULL },
	{ "sed", NULL, NULL },	   { "gsed", NULL, NULL },
	{ "ghead", NULL, NULL },   { "gdd", NULL, NULL },
	{ "grep", "mqlL", NULL },  { "egrep", "mqlL", NULL },
	{ "fgrep", "mqlL", NULL }, { "awk", NULL, "exit" },
	{ "gawk", NULL, "exit" },  { "mawk", NULL, "exit" },
	{ "nawk", NULL, "exit" },
};

bool ab_takes_script(struct ab_check *c, const struct ab_use *use)
{
	struct ab_word name = use->words[0];
	uint32_t base = ab_name_base(&name);

	name.text += base;
	name.len -= base;
	for (size_t i = 0; i < AB_ARRAY_LEN(takers); i++) {
		if (!ab_word_equals(&name, takers[i].name))
			continue;
		if ((takers[i].letters || takers[i].text) &&
		    !has_word(use, takers[i].letters, takers[i].text))
			return false;
		if (ab_is_stranger(use->program))
			return true;
		return use->program->is_builtin ? !reads_other(c, use)
						: !reads_files(c, use);
	}
	return false;
}
