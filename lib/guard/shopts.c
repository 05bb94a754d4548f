/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Options of the shell that change what its words mean: whether a pattern takes
 * names with a dot in front, in either case of letters, or none, whether
 * functions are exported, who runs the end of a pipe, and where `cd ..` and
 * `cd NAME` go.
 * However one may be set, it is from there on. Refuses to take it back, but for
 * `shopt -u` where that surely runs.
 */
#include "config.h"

#include "guard/command.h"

#include <string.h>

static bool has_text(const struct ab_word *w, const char *text)
{
	return w->hole_count || memmem(w->text, w->len, text, strlen(text));
}

/* BASHOPTS is what a shell begins with; one that has a GLOBIGNORE takes
   dots. */
void ab_note_variable(struct ab_check *c, const char *name, uint32_t len,
		      const struct ab_word *value)
{
	if (len == 8 && !memcmp(name, "BASHOPTS", 8)) {
		c->has_dots |= has_text(value, "dotglob");
		c->has_fold |= has_text(value, "nocaseglob");
		c->has_cdable |= has_text(value, "cdable_vars");
		if (has_text(value, "nullglob"))
			ab_shell_note_option(c->run, AB_SHELL_NULLGLOB);
		if (has_text(value, "lastpipe"))
			ab_shell_note_option(c->run, AB_SHELL_LASTPIPE);
	}
	c->has_dots |= len == 10 && !memcmp(name, "GLOBIGNORE", 10);
	if (len == 9 && !memcmp(name, "SHELLOPTS", 9))
		c->is_exporting |= has_text(value, "allexport");
}

/* The name of an option: zsh takes it in either case, with `_` in it. */
static bool names_option(const struct ab_word *w, uint32_t at, const char *name)
{
	for (; at < w->len; at++) {
		if (w->text[at] == '_')
			continue;
		if ((w->text[at] | 32) != *name)
			return false;
		name++;
	}
	return !*name;
}

/* Only -p and --: with another option nothing is run. */
static bool is_run_option(const struct ab_word *w)
{
	if (w->hole_count || !w->len || *w->text != '-')
		return false;
	for (uint32_t i = 1; i < w->len; i++)
		if (w->text[i] != 'p' && w->text[i] != '-')
			return false;
	return true;
}

/* The word behind "command" and "builtin", or argc. */
uint32_t ab_find_builtin(const struct ab_word *argv, uint32_t argc)
{
	uint32_t i = 0;

	while (i < argc && (ab_word_equals(&argv[i], "command") ||
			    ab_word_equals(&argv[i], "builtin") ||
			    (i && is_run_option(&argv[i]))))
		i++;
	return i;
}

/* `shopt -s $X`, however it is called. */
bool ab_is_shopt(const struct ab_word *argv, uint32_t argc)
{
	uint32_t i = ab_find_builtin(argv, argc);

	return i < argc &&
	       (ab_word_equals(&argv[i], "shopt") ||
		ab_word_equals(&argv[i], "setopt"));
}

void ab_note_word(struct ab_check *c, const struct ab_word *w)
{
	const char *eq = NULL;
	uint32_t at = *w->text == '-' ? 2 : 0;

	c->has_dots |= names_option(w, at, "dotglob") ||
		       names_option(w, at, "globdots");
	c->has_fold |= names_option(w, at, "nocaseglob") ||
		       names_option(w, at, "caseglob");
	c->has_cdable |= names_option(w, at, "cdablevars");
	c->keeps_files |= names_option(w, at, "noclobber");
	if (names_option(w, at, "nullglob"))
		ab_shell_note_option(c->run, AB_SHELL_NULLGLOB);
	if (names_option(w, at, "lastpipe"))
		ab_shell_note_option(c->run, AB_SHELL_LASTPIPE);
	if (memchr("BGS", *w->text, 3))
		eq = memchr(w->text, '=', w->len < 12 ? w->len : 12);
	if (eq)
		ab_note_variable(c, w->text, (uint32_t)(eq - w->text), w);
}

/* `shopt -u NAME`, which surely runs in the shell itself. */
bool ab_drops_options(struct ab_check *c, const struct ab_word *argv,
		      uint32_t argc)
{
	if (argc < 3 || !ab_word_equals(&argv[0], "shopt") ||
	    !ab_word_equals(&argv[1], "-u"))
		return false;
	if (c->flags & ~(uint32_t)AB_SHELL_AGAIN)
		return true;
	for (uint32_t i = 2; i < argc; i++) {
		c->has_dots &= !ab_word_equals(&argv[i], "dotglob");
		c->has_fold &= !ab_word_equals(&argv[i], "nocaseglob");
		c->has_cdable &= !ab_word_equals(&argv[i], "cdable_vars");
	}
	return true;
}

/* set -P, set -o physical: `cd ..` goes up from where a link leads. set -C, as
   -o noclobber: `>` writes over nothing. */
void ab_note_set(struct ab_check *c, const struct ab_word *argv, uint32_t argc)
{
	for (uint32_t i = 1; i < argc; i++) {
		c->keeps_files |= argv[i].len > 1 && *argv[i].text == '-' &&
				  memchr(argv[i].text, 'C', argv[i].len);
		c->is_physical |= ab_word_equals(&argv[i], "physical") ||
				  (argv[i].len > 1 && *argv[i].text == '-' &&
				   memchr(argv[i].text, 'P', argv[i].len));
	}
}

/* chmod a-w f, chattr +i f: what is written to it then may not be. With `+x`
   it may. */
void ab_note_modes(struct ab_check *c, const struct ab_word *argv,
		   uint32_t argc)
{
	bool is_chattr = argv->len > 5 && argv->text[argv->len - 1] == 'r';

	c->keeps_files |= argc < 2 || argv[1].hole_count || is_chattr ||
			  !memchr(argv[1].text, '+', argv[1].len) ||
			  memchr(argv[1].text, '-', argv[1].len) ||
			  memchr(argv[1].text, '=', argv[1].len);
}

/* fish: set -x NAME VALUE. */
void ab_note_exported(struct ab_check *c, const struct ab_word *argv,
		      uint32_t argc)
{
	uint32_t at = 1;
	bool is_exported = false;

	for (; at < argc && argv[at].len && *argv[at].text == '-'; at++)
		is_exported |= ab_word_equals(&argv[at], "--export") ||
			       (argv[at].len < 5 &&
				memchr(argv[at].text, 'x', argv[at].len));
	if (is_exported && at + 1 < argc && !argv[at].hole_count)
		ab_check_env(c, argv[at].text, argv[at].len, &argv[at + 1]);
}

uint64_t ab_known_beside(const struct ab_check *c)
{
	/* lists only grow: no two states have the same heads */
	uint64_t lists = 5 * (uint64_t)(uintptr_t)c->links +
			 3 * (uint64_t)(uintptr_t)c->near_links +
			 (uint64_t)(uintptr_t)c->edited_patterns + c->trees;

	return lists << 8 | (uint64_t)c->has_cdable << 7 |
	       (uint64_t)c->is_exporting << 6 |
	       (uint64_t)c->has_dots << 5 | (uint64_t)c->has_fold << 4 |
	       (uint64_t)c->is_physical << 3 |
	       (uint64_t)c->has_stray_link << 2 |
	       (uint64_t)c->has_lost_link << 1 | (uint64_t)c->has_stdin_link;
}
