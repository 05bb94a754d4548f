/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Questions about words with holes. Each answer holds for every value that
 * the holes can take.
 */
#include "config.h"

#include "guard/git_walk.h"

#include <string.h>

#include "shell/shell.h"

bool ab_git_is(const struct ab_word *word, const char *text)
{
	size_t len = strlen(text);

	return !word->hole_count && word->len == len &&
	       memcmp(word->text, text, len) == 0;
}

bool ab_git_is_fold(const char *text, size_t len, const char *lower)
{
	size_t i;

	for (i = 0; i < len; i++) {
		char c = text[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (!lower[i] || c != lower[i])
			return false;
	}
	return !lower[i];
}

/* Its bytes are what is read, or close enough. */
static bool is_sure(const struct ab_hole *h)
{
	return h->kind == AB_HOLE_PATTERN || h->kind == AB_HOLE_PROC;
}

size_t ab_git_unsure_from(const struct ab_word *word, size_t from)
{
	for (uint32_t i = 0; i < word->hole_count; i++) {
		const struct ab_hole *h = &word->holes[i];

		if (!is_sure(h) && h->at >= from)
			return h->at;
	}
	return (size_t)word->len + 1;
}

size_t ab_git_unread_from(const struct ab_word *word, size_t from)
{
	for (uint32_t i = 0; i < word->hole_count; i++) {
		const struct ab_hole *h = &word->holes[i];

		if (!is_sure(h) && h->kind != AB_HOLE_LIKELY && h->at >= from)
			return h->at;
	}
	return (size_t)word->len + 1;
}

bool ab_git_is_guess(const struct ab_word *word)
{
	for (uint32_t i = 0; i < word->hole_count; i++)
		if (word->holes[i].kind == AB_HOLE_LIKELY)
			return true;
	return false;
}

/* All that was written there is what the note says. A variable that is not
   known may have other bytes besides those of its origin. */
static bool has_note(const struct ab_hole *h, enum ab_git_note note)
{
	const struct ab_stream *s = h->origin;
	/* a part of them is enough where any word would do */
	unsigned least = note == AB_GIT_NAMES ? AB_PART_BYTES : AB_PART_WORD;

	return (!h->name || h->part >= least) && s &&
	       s->note == &ab_git_notes[note] && ab_git_is_all(s);
}

/* $(git rev-parse HEAD): words that are hashes, with no dash before them. */
static bool is_names(const struct ab_hole *h)
{
	if (has_note(h, AB_GIT_NAMES))
		return true;
	if (h->is_cut)
		return false;
	return has_note(h, AB_GIT_TEMP) ||
	       (has_note(h, AB_GIT_LINES) && h->part == AB_PART_LINE &&
		h->kind == AB_HOLE_BYTES);
}

bool ab_git_is_file(const struct ab_word *word, size_t at)
{
	const struct ab_hole *h = ab_git_hole_at(word, at);

	return h && !h->is_cut && has_note(h, AB_GIT_FILES);
}

/*
 * Branches and tags: git makes none that begins with a dash. Files of the
 * worktree: like what a pattern takes (ab_git_may_be_option()).
 */
static bool is_told(const struct ab_git_walk *walk, const struct ab_hole *h)
{
	return is_names(h) ||
	       (!walk->context->has_ifs && !h->is_cut &&
		(has_note(h, AB_GIT_REFS) || has_note(h, AB_GIT_FILES) ||
		 (has_note(h, AB_GIT_REF_LINES) && h->part == AB_PART_LINE &&
		  h->kind == AB_HOLE_BYTES)));
}

bool ab_git_is_told(const struct ab_git_walk *walk, const struct ab_word *word)
{
	const struct ab_hole *h = word->holes;

	for (; h < word->holes + word->hole_count; h++)
		if (!is_told(walk, h) && (h->kind == AB_HOLE_FIELDS || !h->at))
			return false;
	return true;
}

bool ab_git_is_temp(const struct ab_word *word, size_t at)
{
	const struct ab_hole *h = ab_git_hole_at(word, at);

	return h && !h->is_cut && has_note(h, AB_GIT_TEMP);
}

bool ab_git_is_name(const struct ab_git_walk *walk, const struct ab_word *word)
{
	return !word->len && word->hole_count == 1 &&
	       ab_git_is_told(walk, word);
}

bool ab_git_is_revision(const struct ab_git_walk *walk,
			const struct ab_word *word)
{
	if (ab_git_is_name(walk, word))
		return true;
	/* no name has a slash in front, so neither has what is behind it */
	if (!ab_git_is_range(word) || memchr(word->text, '/', word->len))
		return false;
	for (uint32_t i = 0; i < word->hole_count; i++)
		if (!is_told(walk, &word->holes[i]))
			return false;
	return true;
}

bool ab_git_may_split(const struct ab_word *word)
{
	for (uint32_t i = 0; i < word->hole_count; i++)
		if (word->holes[i].kind == AB_HOLE_FIELDS &&
		    !is_names(&word->holes[i]) &&
		    /* $(git describe): one word of a ref each */
		    !has_note(&word->holes[i], AB_GIT_REFS))
			return true;
	return false;
}

const struct ab_hole *ab_git_hole_at(const struct ab_word *word, size_t at)
{
	for (uint32_t i = 0; i < word->hole_count; i++) {
		if (word->holes[i].at == at)
			return &word->holes[i];
		if (word->holes[i].at > at)
			break;
	}
	return NULL;
}

/* The shell keeps an absolute path in these, unless somebody assigned. */
bool ab_git_is_absolute_hole(const struct ab_hole *hole)
{
	return hole->kind == AB_HOLE_HOME ||
	       (hole->name && strcmp(hole->name, "PWD") == 0);
}

/*
 * A pattern may only stand for names that are there, and those hold no slash:
 * such an option could neither name a place elsewhere nor run what the agent
 * cannot run as it is. So `git add *` is what it looks like.
 */
bool ab_git_is_range(const struct ab_word *word)
{
	static const char *const ends[] = { "..", "^", "~", ":", "@{" };

	if (!ab_git_hole_at(word, 0) || ab_git_may_split(word))
		return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t len = strlen(ends[i]);

		if (word->len >= len && !memcmp(word->text, ends[i], len) &&
		    (len == 1 || !ab_git_hole_at(word, 1)))
			return true;
	}
	return false;
}

bool ab_git_may_be_option(const struct ab_word *word)
{
	const struct ab_hole *h = ab_git_hole_at(word, 0);

	return h && !is_sure(h) && h->kind != AB_HOLE_LIKELY &&
	       !is_names(h) && !ab_git_is_absolute_hole(h);
}
