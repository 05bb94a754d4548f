/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What operands and values mean, command by command: positional rules, and
 * which paths may be read and written. The table is in git_commands.c.
 */
#include "config.h"

#include "guard/git_walk.h"

#include <string.h>

static void judge_write(struct ab_git_walk *walk, bool asks, size_t word,
			size_t begin)
{
	const struct ab_git_context *c = walk->context;
	const struct ab_word *w = &walk->words[word];
	struct ab_git_place place = ab_git_place_of(walk, w, begin);
	enum ab_git_act act = GIT_OK;

	if (c->write)
		c->write(c->user, w, begin);
	switch (place.where) {
	case WHERE_INSIDE:
		act = asks ? GIT_WRITES : GIT_OK;
		if (place.is_git_dir)
			act = GIT_WRITES_OUT;
		break;
	case WHERE_DEVICE:
		break;
	case WHERE_TEMP:
		act = GIT_WRITES_TEMP;
		break;
	case WHERE_UNKNOWN:
		act = GIT_PATH_ASK;
		break;
	case WHERE_OUTSIDE:
		act = GIT_WRITES_OUT;
		break;
	}
	ab_git_found(walk, act, word, begin, w->len);
}

/* What is asked about anyway: only where it goes is judged, and a directory
   for temporary files is as good as the worktree. */
static void judge_overwritten(struct ab_git_walk *walk, size_t word,
			      size_t begin)
{
	const struct ab_git_context *c = walk->context;
	const struct ab_word *w = &walk->words[word];
	struct ab_git_place place = ab_git_place_of(walk, w, begin);

	if (c->write)
		c->write(c->user, w, begin);
	if (place.where == WHERE_OUTSIDE || place.is_git_dir)
		ab_git_found(walk, GIT_WRITES_OUT, word, begin, w->len);
}

static void tell_read(const struct ab_git_walk *walk, size_t word,
		      size_t begin)
{
	const struct ab_git_context *c = walk->context;

	if (c->read)
		c->read(c->user, &walk->words[word], begin);
}

static void judge_read(struct ab_git_walk *walk, enum ab_git_act outside,
		       size_t word, size_t begin)
{
	const struct ab_word *w = &walk->words[word];
	struct ab_git_place place;

	/* "-" is standard input */
	if (!w->hole_count && begin + 1 == w->len && w->text[begin] == '-')
		return;
	tell_read(walk, word, begin);
	place = ab_git_place_of(walk, w, begin);
	if (place.where == WHERE_OUTSIDE)
		ab_git_found(walk, outside, word, begin, w->len);
	else if (place.where == WHERE_UNKNOWN)
		ab_git_found(walk, GIT_PATH_ASK, word, begin, w->len);
}

/* "%G?" and its kind ask the signature program; "%%G" is text. */
static bool asks_signature(const char *text, size_t len)
{
	for (size_t i = 0; i + 1 < len; i++) {
		if (text[i] != '%')
			continue;
		if (text[i + 1] == 'G')
			return true;
		i++;
	}
	return false;
}

/* "%(signature" and its fields. */
static bool has_signature_atom(const char *text, size_t len)
{
	static const char atom[] = "%(*signature";
	size_t n = sizeof(atom) - 2;

	for (size_t i = 0; i + n <= len; i++) {
		if (memcmp(text + i, "%(signature", n) == 0)
			return true;
		if (i + n + 1 <= len && memcmp(text + i, atom, n + 1) == 0)
			return true;
	}
	return false;
}

/* A key of for-each-ref: "-signature:grade", "*signature". */
static bool sorts_by_signature(const char *text, size_t len)
{
	return memmem(text, len, "signature", 9) != NULL;
}

/* HEAD:.env: the path behind the last colon. */
static void tell_object(const struct ab_git_walk *walk, size_t word,
			size_t begin)
{
	const struct ab_word *w = &walk->words[word];
	size_t at = w->len;

	while (at > begin && w->text[at - 1] != ':')
		at--;
	if (at > begin)
		tell_read(walk, word, at);
}

static void judge_task(struct ab_git_walk *walk, size_t word, size_t begin)
{
	static const char prefetch[] = "prefetch";
	const struct ab_word *w = &walk->words[word];
	size_t n = sizeof(prefetch) - 1;

	if (w->len - begin == n && memcmp(w->text + begin, prefetch, n) == 0)
		ab_git_found(walk, GIT_REMOTE, word, begin, w->len);
}

static bool is_archive_format(const struct ab_word *w, size_t begin)
{
	static const char *const known[] = {"tar", "zip", "tgz", "tar.gz"};
	size_t len = w->len - begin;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (len == strlen(known[i]) &&
		    memcmp(w->text + begin, known[i], len) == 0)
			return ab_git_unsure_from(w, 0) > w->len;
	return false;
}

void ab_git_judge_value(struct ab_git_walk *walk, enum ab_git_value value,
			size_t word, size_t begin)
{
	const struct ab_word *w = &walk->words[word];
	const char *text = w->text + begin;
	struct ab_git_place place;

	switch (value) {
	case VALUE_ANY:
		break;
	case VALUE_READ:
		judge_read(walk, GIT_READS_OUT, word, begin);
		break;
	case VALUE_READ_ASK:
	case VALUE_PATTERNS:
		judge_read(walk, GIT_READS, word, begin);
		break;
	case VALUE_READ_NAMES:
		judge_read(walk, GIT_READS, word, begin);
		if (ab_git_place_of(walk, w, begin).where == WHERE_TEMP)
			ab_git_found(walk, GIT_READS, word, begin, w->len);
		break;
	case VALUE_WRITE:
		judge_write(walk, false, word, begin);
		break;
	case VALUE_WRITE_ASK:
		judge_write(walk, true, word, begin);
		break;
	case VALUE_OVERWRITE:
		judge_overwritten(walk, word, begin);
		break;
	case VALUE_SUFFIX:
		/* "/../x": a directory of the first name may be there */
		if (ab_git_unsure_from(w, begin) <= w->len)
			ab_git_found(walk, GIT_PATH_ASK, word, begin, w->len);
		else if (w->len > begin && memchr(text, '/', w->len - begin))
			ab_git_found(walk, GIT_WRITES_OUT, word, begin,
				     w->len);
		break;
	case VALUE_BELOW:
		place = ab_git_place_of(walk, w, begin);
		if (place.where == WHERE_UNKNOWN)
			ab_git_found(walk, GIT_PATH_ASK, word, begin, w->len);
		else if (place.where != WHERE_INSIDE || place.is_git_dir)
			ab_git_found(walk, GIT_PATH_OUT, word, begin, w->len);
		break;
	case VALUE_PRETTY:
		if (ab_git_unsure_from(w, begin) <= w->len ||
		    asks_signature(text, w->len - begin))
			ab_git_found(walk, GIT_SIGNATURE, word, begin, w->len);
		break;
	case VALUE_REF_FORMAT:
		if (ab_git_unsure_from(w, begin) <= w->len ||
		    has_signature_atom(text, w->len - begin))
			ab_git_found(walk, GIT_SIGNATURE, word, begin, w->len);
		break;
	case VALUE_SORT:
		if (ab_git_unsure_from(w, begin) <= w->len ||
		    sorts_by_signature(text, w->len - begin))
			ab_git_found(walk, GIT_SIGNATURE, word, begin, w->len);
		break;
	case VALUE_TASK:
		judge_task(walk, word, begin);
		break;
	case VALUE_OBJECT:
		tell_object(walk, word, begin);
		break;
	case VALUE_ARCHIVE:
		if (!is_archive_format(w, begin))
			ab_git_found(walk, GIT_CONFIGURED, word, begin,
				     w->len);
		break;
	}
}

static void judge_removed(struct ab_git_walk *walk, size_t word)
{
	const struct ab_word *w = &walk->words[word];
	struct ab_git_place place = ab_git_pathspec_of(walk, w);

	if (place.is_tree || ab_git_is(w, ".") || ab_git_is(w, "./"))
		walk->noted = word;
	else if (place.where == WHERE_UNKNOWN)
		walk->unsure = word;
	/* what it likely is may be all of the tree */
	if (place.where == WHERE_UNKNOWN ? ab_git_is_guess(w)
					 : place.where != WHERE_INSIDE)
		ab_git_found_word(walk, GIT_PATH_ASK, word);
}

static void judge_moved(struct ab_git_walk *walk, size_t word)
{
	const struct ab_word *w = &walk->words[word];
	struct ab_git_place place = ab_git_place_of(walk, w, 0);

	if (!walk->is_ended && ab_git_may_be_option(w) &&
	    !ab_git_is_told(walk, w))
		walk->noted = word;
	/* git moves nothing out of the worktree; where nothing of the name is
	   known it may be a hook */
	if (place.is_git_dir)
		ab_git_found_word(walk, GIT_PATH_OUT, word);
	else if (place.where == WHERE_UNKNOWN &&
		 (ab_git_is_guess(w) || (w->hole_count && !w->len)))
		ab_git_found_word(walk, GIT_PATH_ASK, word);
	else if (place.where != WHERE_UNKNOWN && place.where != WHERE_INSIDE)
		ab_git_found_word(walk, GIT_PATH_OUT, word);
}

/* Two paths, one outside, and git compares any two files of the system. */
static void judge_compared(struct ab_git_walk *walk, size_t word)
{
	const struct ab_word *w = &walk->words[word];
	enum ab_git_where where = ab_git_place_of(walk, w, 0).where;

	if (where == WHERE_OUTSIDE)
		ab_git_found_word(walk, GIT_READS_OUT, word);
	else if (where == WHERE_UNKNOWN &&
		 (walk->has_dashes || !ab_git_is_revision(walk, w)))
		walk->unsure = word;
}

static void judge_searched(struct ab_git_walk *walk, size_t word)
{
	enum ab_git_where where =
		ab_git_place_of(walk, &walk->words[word], 0).where;

	if (walk->operands || (walk->flags & FLAG_PATTERN))
		tell_read(walk, word, 0);
	if (where != WHERE_OUTSIDE)
		return;
	if (walk->operands)
		ab_git_found_word(walk, GIT_READS, word);
	else
		walk->noted = word; /* the pattern, unless -e came */
}

static void judge_hashed(struct ab_git_walk *walk, size_t word)
{
	enum ab_git_where where =
		ab_git_place_of(walk, &walk->words[word], 0).where;

	tell_read(walk, word, 0);
	if (where == WHERE_OUTSIDE)
		ab_git_found_word(walk, GIT_READS_OUT, word);
	else if (where == WHERE_TEMP || where == WHERE_UNKNOWN)
		ab_git_found_word(walk, GIT_READS, word);
}

void ab_git_judge_operand(struct ab_git_walk *walk, size_t word)
{
	const struct ab_word *w = &walk->words[word];
	enum ab_git_where where;

	switch ((enum ab_git_operands)walk->command->operands) {
	case OPERANDS_INSIDE:
		where = ab_git_pathspec_of(walk, w).where;
		if (where != WHERE_INSIDE && where != WHERE_UNKNOWN)
			ab_git_found_word(walk, GIT_PATH_ASK, word);
		break;
	case OPERANDS_READ_ASK:
	case OPERANDS_APPLY:
		tell_read(walk, word, 0);
		where = ab_git_place_of(walk, w, 0).where;
		if (where == WHERE_OUTSIDE)
			ab_git_found_word(walk, GIT_READS, word);
		break;
	case OPERANDS_OVERWRITE:
		judge_overwritten(walk, word, 0);
		break;
	case OPERANDS_REMOVE:
		judge_removed(walk, word);
		break;
	case OPERANDS_MOVE:
		judge_moved(walk, word);
		break;
	case OPERANDS_DIFF:
		judge_compared(walk, word);
		break;
	case OPERANDS_GREP:
		judge_searched(walk, word);
		break;
	case OPERANDS_HASH:
		judge_hashed(walk, word);
		break;
	case OPERANDS_WRITE_FIRST:
		if (!walk->operands)
			judge_write(walk, true, word, 0);
		break;
	case OPERANDS_INIT:
		where = ab_git_place_of(walk, w, 0).where;
		if (where != WHERE_INSIDE && where != WHERE_UNKNOWN)
			ab_git_found_word(walk, GIT_INIT_ELSEWHERE, word);
		break;
	case OPERANDS_SYMBOLIC_REF:
		if (walk->operands == 1)
			ab_git_found_word(walk, GIT_PLUMBING, word);
		break;
	case OPERANDS_ANY:
	case OPERANDS_NONE:
	case OPERANDS_BRANCH:
	case OPERANDS_TAG:
	case OPERANDS_RESET:
	case OPERANDS_RESTORE:
	case OPERANDS_CONFIG:
	case OPERANDS_CLEAN:
	case OPERANDS_REMOTE_SHOW:
	case OPERANDS_REPACK:
		break;
	}
}

static bool is_head(const struct ab_word *w)
{
	return ab_git_is(w, "HEAD") || ab_git_is(w, "@") ||
	       ab_git_is(w, "HEAD~0") || ab_git_is(w, "HEAD^0") ||
	       ab_git_is(w, "HEAD^{}") || ab_git_is(w, "HEAD^{commit}");
}

/*
 * A lone operand of reset is a revision when there is one of that name. These
 * are none: "." and "a/", which no ref may be called (git-check-ref-format(1)),
 * and what looks like a source file: letters behind the last dot, and no
 * digit before it as in v1.x.
 */
static bool is_surely_path(const struct ab_word *w)
{
	const char *text = w->text;
	size_t dot = w->len;

	if (w->hole_count || !w->len || memchr(text, ':', w->len) ||
	    memchr(text, '~', w->len) || memchr(text, '^', w->len) ||
	    memchr(text, '@', w->len))
		return false;
	if (text[0] == '.' || text[w->len - 1] == '/')
		return true;
	while (dot > 0 && text[dot - 1] != '.' && text[dot - 1] != '/')
		dot--;
	if (dot < 2 || dot == w->len || text[dot - 1] != '.' ||
	    w->len - dot > 5)
		return false;
	if (text[dot - 2] >= '0' && text[dot - 2] <= '9')
		return false;
	return (text[dot] | 0x20) >= 'a' && (text[dot] | 0x20) <= 'z';
}

static void judge_reset(struct ab_git_walk *walk)
{
	const struct ab_word *first;
	size_t before = walk->operands - walk->after;

	if (!walk->operands)
		return;
	first = &walk->words[walk->first];
	if (before && is_head(first) && walk->operands == 1)
		return;
	if (!(walk->flags & FLAG_SOFT)) {
		/* paths: only the index changes */
		if (walk->after || walk->operands > 1 ||
		    (walk->flags & FLAG_PATTERN))
			return;
		if (!walk->has_dashes && is_surely_path(first))
			return;
	}
	ab_git_found_word(walk, GIT_RESET_OTHER, walk->first);
}

static void judge_remove(struct ab_git_walk *walk)
{
	if (walk->flags & FLAG_DRY)
		return;
	if (walk->noted != AB_GIT_NO_WORD)
		ab_git_found_word(walk,
				  walk->flags & FLAG_INDEX ? GIT_REMOVE_INDEX
							   : GIT_REMOVE_ALL,
				  walk->noted);
	if ((walk->flags & FLAG_RECURSE) && walk->unsure != AB_GIT_NO_WORD)
		ab_git_found_word(walk, GIT_PATH_ASK, walk->unsure);
}

/*
 * Two paths alone may be outside, and are then compared as with --no-index;
 * git refuses any other path outside. A word that may split may be two.
 */
static void judge_diff(struct ab_git_walk *walk)
{
	bool is_pair = walk->operands == 2 &&
		       (walk->after == 2 || !walk->has_dashes);

	if (walk->unsure == AB_GIT_NO_WORD)
		return;
	if (walk->after == walk->operands &&
	    ab_git_may_split(&walk->words[walk->unsure]))
		is_pair = true;
	if (is_pair || (walk->flags & FLAG_NO_INDEX))
		ab_git_found_word(walk, GIT_PATH_ASK, walk->unsure);
}

/* The word to point at when it is the command that decides. */
static size_t blame(const struct ab_git_walk *walk)
{
	return walk->first != AB_GIT_NO_WORD ? walk->first : walk->at;
}

void ab_git_judge_end(struct ab_git_walk *walk)
{
	unsigned f = walk->flags;

	switch ((enum ab_git_operands)walk->command->operands) {
	case OPERANDS_READ_ASK:
		if (walk->operands && (f & FLAG_WRITE) && !(f & FLAG_DRY))
			judge_overwritten(walk, walk->first, 0);
		break;
	case OPERANDS_REMOVE:
		judge_remove(walk);
		break;
	case OPERANDS_MOVE:
		/* -f among what is moved; of two words one is not enough */
		if (walk->operands > 2 && walk->noted != AB_GIT_NO_WORD)
			ab_git_found_word(walk, GIT_DYNAMIC, walk->noted);
		break;
	case OPERANDS_APPLY:
		if ((f & FLAG_REVERSE) &&
		    (!(f & FLAG_DRY) || (f & FLAG_APPLY)))
			ab_git_found_word(walk, GIT_REVERSE, walk->at);
		break;
	case OPERANDS_DIFF:
		judge_diff(walk);
		break;
	case OPERANDS_GREP:
		if ((f & FLAG_PATTERN) && walk->noted != AB_GIT_NO_WORD)
			ab_git_found_word(walk, GIT_READS, walk->noted);
		break;
	case OPERANDS_BRANCH:
		if (walk->operands && !(f & FLAG_LIST))
			ab_git_found_word(walk, GIT_BRANCH, walk->first);
		break;
	case OPERANDS_TAG:
		if (walk->operands && !(f & FLAG_LIST))
			ab_git_found_word(walk, GIT_TAG, walk->first);
		break;
	case OPERANDS_RESET:
		judge_reset(walk);
		break;
	case OPERANDS_RESTORE:
		if (!(f & FLAG_INDEX) || (f & FLAG_WORKTREE))
			ab_git_found_word(walk, GIT_RESTORE, blame(walk));
		break;
	case OPERANDS_CONFIG:
		ab_git_judge_config(walk);
		break;
	case OPERANDS_CLEAN:
		if (!(f & FLAG_DRY))
			ab_git_found_word(walk, GIT_CLEAN, walk->at);
		break;
	case OPERANDS_REMOTE_SHOW:
		if (walk->operands && !(f & FLAG_LOCAL))
			ab_git_found_word(walk, GIT_REMOTE, walk->first);
		break;
	case OPERANDS_REPACK:
		if ((f & FLAG_UNPACK) && (f & FLAG_DELETE))
			ab_git_found_word(walk, GIT_PRUNE, walk->at);
		break;
	case OPERANDS_ANY:
	case OPERANDS_NONE:
	case OPERANDS_INSIDE:
	case OPERANDS_OVERWRITE:
	case OPERANDS_HASH:
	case OPERANDS_SYMBOLIC_REF:
	case OPERANDS_WRITE_FIRST:
	case OPERANDS_INIT:
		break;
	}
}
