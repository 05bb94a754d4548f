/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A command whose name is not one word: a pattern, build/test_*, or what a
 * find in the project told, `for t in $(find build -name 'test_*')`. It may be
 * each program that the name takes. Who is only known to be a file of the
 * project is one that stood there, like a program that is named. Spec:
 * DESIGN.md section 7.
 */
#include "config.h"

#include <string.h>

#include "guard/command.h"
#include "guard/found.h"
#include "path/glob.h"

/* tests/run-*.sh: a file of the project, as good as one that is named, while
   the text wrote none that it could be. */
static bool is_own_script(struct ab_check *c, const struct ab_word *w,
			  uint32_t base)
{
	const uint64_t plain = AB_CLASS(ANY) | AB_CLASS(INSIDE);

	return base && !c->has_files && !c->trees &&
	       !(ab_path_classes(c, w) & ~plain);
}

/* Not of what was installed there, .venv/bin and node_modules/.bin. */
bool ab_is_of_project(struct ab_check *c, const struct ab_word *w)
{
	const uint64_t plain = AB_CLASS(ANY) | AB_CLASS(INSIDE) |
			       AB_CLASS(SUBDIR);
	uint32_t from = w->len > 2 && !memcmp(w->text, "./", 2) ? 2 : 0;

	return w->text[from] != '.' && !w->hole_count &&
	       !memmem(w->text + from, w->len - from, "/.", 2) &&
	       !(ab_path_classes(c, w) & ~plain);
}

/* A name with a pattern in it may be any program that it matches. */
void ab_judge_pattern(struct ab_check *c, const struct ab_use *use)
{
	const struct ab_word *name = use->words;
	uint32_t base = ab_name_base(name), tried = 0;
	uint32_t n = name->len - base, letters = 0;
	const char *text = name->text + base;

	bool is_own = is_own_script(c, name, base);

	if (!is_own)
		ab_check_known(c, AB_KNOWN_DYNAMIC, AB_V_ASK, name);
	/* that it is a script says nothing of which */
	uint32_t stem = n > 3 && !memcmp(text + n - 3, ".sh", 3) ? n - 3 : n;

	for (uint32_t i = 0; i < stem; i++)
		letters += !memchr("*?[]!^-", text[i], 7);
	/* what may be any program is only asked about; of a file of the project
	   one letter says no more than none */
	if (n > 63 || letters <= is_own)
		return;
	/* what a name that it takes begins and ends with; 0: anything */
	char first = memchr("*?[\\", text[0], 4) ? '\0' : text[0];
	char last = memchr("*?]\\", text[n - 1], 4) ? '\0' : text[n - 1];

	for (uint32_t i = 0; i < c->pack->programs_count; i++) {
		const struct ab_program *p = &c->pack->programs[i];

		if (p->depth || (first && p->name[0] != first) ||
		    (last && p->name[p->name_len - 1] != last) ||
		    !ab_glob_match_name(text, n, p->name, p->name_len, 0))
			continue;
		if (++tried > AB_CHECK_MAX_NAMES) {
			ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, name);
			return;
		}
		void *mark = c->scratch->low;
		struct ab_use one = *use;

		ab_judge_program(c, p, &one);
		ab_arena_release(c->scratch, mark);
	}
}

#define MAX_TOLD 8 /* that are judged of a find: one for each place it starts */

/* "$t" or "./$t", where a find told all that it may be; or NULL. */
static const struct ab_names *told_names(const struct ab_word *w)
{
	bool is_below = w->len == 2 && !memcmp(w->text, "./", 2);
	const struct ab_names *names;

	if (w->hole_count != 1 || (w->len && !is_below) ||
	    w->holes->at != w->len || !ab_names_are_own(w->holes))
		return NULL;
	names = ab_names_noted(w->holes->origin);
	return names && names->count && !names->is_read ? names : NULL;
}

/* A name with a blank in it may leave its last part as the command: such a one
   gets no operand. */
static bool has_operand(const struct ab_use *use)
{
	for (uint32_t i = 1; i < use->count; i++) {
		if (!use->words[i].len || *use->words[i].text != '-')
			return true;
	}
	return false;
}

/* IFS=/: a name may be taken apart at another byte than a blank. */
static bool has_ifs(const struct ab_check *c)
{
	const struct ab_word *ifs =
		c->run ? ab_shell_get(c->run, "IFS", 3, NULL) : NULL;

	for (uint32_t i = 0; ifs && i < ifs->len; i++) {
		if (!memchr(" \t\n", ifs->text[i], 3))
			return true;
	}
	return ifs && ifs->hole_count;
}

bool ab_judge_found(struct ab_check *c, const struct ab_use *use)
{
	const struct ab_names *names = told_names(use->words);
	struct ab_word *all;

	if (AB_LIKELY(!names) || names->count > MAX_TOLD || has_operand(use) ||
	    has_ifs(c))
		return false;
	all = ab_check_alloc(c, use->count * sizeof(*all));
	if (!all)
		return false;
	memcpy(all, use->words, use->count * sizeof(*all));
	for (uint32_t i = 0; i < names->count; i++) {
		all[0] = names->words[i];
		/* "build/x sh" is two words, of which each may be one */
		if (!memchr(all[0].text, '/', all[0].len) ||
		    memchr(all[0].text, ' ', all[0].len))
			return false;
		ab_check_words(c, all, use->count, use->in_taint, use->in_text,
			       use->has_stdin);
	}
	return true;
}
