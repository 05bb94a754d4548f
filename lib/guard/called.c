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
#include "guard/git_walk.h"
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

/* The names that a word stands for as a program, "$t", "./$t", "build/$t". */
struct told {
	const struct ab_names *names;
	uint32_t prefix;
	bool is_own; /* where a find told that by a name */
	bool is_part; /* it may be a part of a name with a blank in it */
};

/* False: nobody knows which, or they are not the project's. */
static bool told_names(const struct ab_word *w, struct told *t)
{
	const struct ab_hole *h = w->holes;
	const struct ab_names *names;

	if (w->hole_count != 1 || h->at != w->len || h->is_cut ||
	    h->part == AB_PART_BYTES || !h->origin ||
	    (w->len && w->text[w->len - 1] != '/'))
		return false;
	names = ab_names_noted(h->origin);
	if (!names || !names->count || names->count > MAX_TOLD)
		return false;
	t->names = names;
	t->prefix = w->len == 2 && !memcmp(w->text, "./", 2) ? 0 : w->len;
	t->is_own = !names->is_read && ab_names_are_own(h);
	t->is_part = h->kind != AB_HOLE_BYTES || h->part == AB_PART_WORD;
	return t->is_own ? !t->prefix :
			   names->is_all && ab_names_are_inside(h->origin);
}

/* ./$t, of what git printed: a file of the project, while the text wrote none
   that it could be. */
static bool is_tracked(struct ab_check *c, const struct ab_word *w)
{
	return w->hole_count == 1 && w->len == 2 && w->holes->at == 2 &&
	       !memcmp(w->text, "./", 2) && ab_git_is_file(w, 2) &&
	       !c->has_files && !c->trees;
}

/* All that is below the name, where ls was told to look into that, or find to
   begin there; false: nobody knows which those are, or what is left of a name
   that has a blank in it. */
static bool all_below(struct ab_check *c, const struct ab_word *w,
		      const struct told *t, const struct ab_word *name,
		      struct ab_word *out)
{
	const struct ab_word any = { .text = "*", .len = 1,
				     .span = name->span };
	struct ab_word dir = *name;
	uint32_t below = t->prefix > 2 && !memcmp(w->text, "./", 2) ? 2 : 0;

	while (dir.len > 1 && dir.text[dir.len - 1] == '/')
		dir.len--;
	if (t->names->is_read ?
		    t->prefix - below != dir.len + 1 ||
			    memcmp(w->text + below, dir.text, dir.len) != 0 :
		    !w->len && w->holes->part == AB_PART_WORD)
		return false;
	return ab_found_file(c, &dir, &any, true, out);
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

/* False: it is no program of the project alone. */
static bool judge_told(struct ab_check *c, const struct ab_use *use,
		       struct ab_word *all, const struct ab_word *name)
{
	/* "build/x sh" is two words, of which each may be one */
	if (!memchr(name->text, '/', name->len) ||
	    memchr(name->text, ' ', name->len))
		return false;
	all[0] = *name;
	ab_check_words(c, all, use->count, use->in_taint, use->in_text,
		       use->has_stdin);
	return true;
}

/* Each is one word, in quotes or not: 'rm -rf x' is none. */
static bool are_words(const struct ab_stream *s)
{
	const struct ab_word *name;

	for (uint32_t i = 0; (name = ab_shell_found(s, i)); i++) {
		for (uint32_t k = 0; k < name->len; k++)
			if (memchr(" \t\n*?[", name->text[k], 6))
				return false;
	}
	return true;
}

/* $(command -v x || command -v y): each of them. */
static bool judge_looked_for(struct ab_check *c, const struct ab_use *use)
{
	const struct ab_word *w = use->words, *name;
	const struct ab_stream *s = w->holes->origin;
	struct ab_word *all;

	if (w->hole_count != 1 || w->len || w->holes->is_cut || !s ||
	    !ab_shell_found(s, 0) || !are_words(s) || has_ifs(c))
		return false;
	all = ab_check_alloc(c, use->count * sizeof(*all));
	if (!all)
		return false;
	memcpy(all, w, use->count * sizeof(*all));
	for (uint32_t i = 0; (name = ab_shell_found(s, i)); i++) {
		all[0] = *name;
		all[0].span = w->span;
		ab_check_words(c, all, use->count, use->in_taint, use->in_text,
			       use->has_stdin);
	}
	return true;
}

bool ab_judge_found(struct ab_check *c, const struct ab_use *use)
{
	const struct ab_word *w = use->words;
	struct ab_word *all, below;
	struct told t;

	if (AB_LIKELY(!w->hole_count))
		return false;
	if (judge_looked_for(c, use))
		return true;
	if (is_tracked(c, w))
		return true;
	if (!told_names(w, &t) || has_ifs(c) ||
	    ((t.is_part || (t.names->is_read && !w->len)) && has_operand(use)))
		return false;
	all = ab_check_alloc(c, use->count * sizeof(*all));
	if (!all)
		return false;
	memcpy(all, w, use->count * sizeof(*all));
	for (uint32_t i = 0; i < t.names->count; i++) {
		const struct ab_word *name = &t.names->words[i];
		bool is_one = t.is_own || (name->hole_count && !t.prefix);

		if (!is_one && (name->hole_count ||
				!all_below(c, w, &t, name, &below) ||
				!judge_told(c, use, all, &below)))
			return false;
		/* find x -name y */
		if ((is_one || memchr(name->text, '/', name->len)) &&
		    !judge_told(c, use, all, name))
			return false;
	}
	return true;
}
