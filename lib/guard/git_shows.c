/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What git prints of files: show, diff, log -p and their like read a file of
 * secrets as cat does, from the worktree or from any commit. Who reads the
 * shell line says which files those are; gitrevisions(7) and gitglossary(7)
 * where their names stand.
 */
#include "config.h"

#include "guard/git_walk.h"

#include <string.h>

#include "base/attr.h"

/* "-L1,5:path" */
static bool has_range(const struct ab_word *w)
{
	return w->len > 2 && w->text[0] == '-' && w->text[1] == 'L';
}

size_t ab_git_path_in(const struct ab_word *word)
{
	const char *text = word->text;
	size_t at = word->len;

	if (!word->len || (text[0] == '-' && !has_range(word)))
		return SIZE_MAX;
	/* ":!path", ":(exclude)path", "^commit" */
	if (word->len > 1 && text[0] == ':' &&
	    (memchr("!^", text[1], 2) ||
	     (text[1] == '(' && memmem(text, word->len, "exclude", 7))))
		return SIZE_MAX;
	while (at && text[at - 1] != ':')
		at--;
	if (at && text[0] == ':')
		while (at < word->len && text[at] == '/')
			at++;
	if (at == 1 && word->len > 1 && text[1] == '(') {
		const char *close = memchr(text, ')', word->len);

		at = close ? (size_t)(close - text) + 1 : at;
	}
	return at || !has_range(word) ? at : SIZE_MAX;
}

static bool shows(const struct ab_git_walk *walk)
{
	unsigned f = walk->command->flags & COMMAND_PRINTS;

	if (f == COMMAND_PRINTS || (walk->flags & FLAG_PATCH))
		return true;
	return f == COMMAND_SHOWS && !(walk->flags & FLAG_BRIEF);
}

/* The same variable, or bytes of the same stream. */
static bool are_alike(const struct ab_hole *x, const struct ab_hole *y)
{
	return x->name && y->name ? strcmp(x->name, y->name) == 0
				  : x->origin && x->origin == y->origin;
}

static bool have_same_holes(const struct ab_word *a, size_t begin,
			    const struct ab_word *b)
{
	size_t n = 0;

	for (uint32_t i = 0; i < a->hole_count; i++) {
		const struct ab_hole *x = &a->holes[i], *y;

		if (x->at < begin)
			continue;
		if (n == b->hole_count)
			return false;
		y = &b->holes[n++];
		if (x->at - begin != y->at || !are_alike(x, y))
			return false;
	}
	return n == b->hole_count;
}

/* `git show HEAD:f >f`; what is not known by its text alone. */
static bool is_put_back(const struct ab_git_walk *walk, const struct ab_word *w,
			size_t begin, const struct ab_word *out)
{
	if (w->len - begin == out->len &&
	    (!out->len || !memcmp(w->text + begin, out->text, out->len)) &&
	    have_same_holes(w, begin, out))
		return out->len || out->hole_count;
	return begin < w->len && out->len &&
	       ab_git_is_same_file(walk, w, begin, out);
}

void ab_git_judge_shown(struct ab_git_walk *walk)
{
	const struct ab_git_context *c = walk->context;

	if (!c->read || !shows(walk))
		return;
	walk->result->is_content = true;
	for (size_t i = walk->at + 1; i < walk->count; i++) {
		size_t begin = ab_git_path_in(&walk->words[i]);

		if (begin < walk->words[i].len)
			c->read(c->user, &walk->words[i], begin);
		if (AB_UNLIKELY(c->out) && begin &&
		    begin <= walk->words[i].len &&
		    is_put_back(walk, &walk->words[i], begin, c->out))
			ab_git_found_word(walk, GIT_PUT_BACK, i);
	}
}
