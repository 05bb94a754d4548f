/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Is a path in the worktree? By text alone: dots and slashes are resolved,
 * links are not. git(1) for -C, gitglossary(7) for pathspecs.
 */
#include "config.h"

#include "guard/git_walk.h"

#include <string.h>

#include "base/attr.h"

#define MAX_HOLES 64

struct path {
	char text[AB_GIT_PATH_MAX]; /* "/a/b"; the root is empty */
	size_t len;
	bool is_unknown; /* from here on anything */
	bool is_too_long;
};

static void push(struct path *p, const char *name, size_t len)
{
	if (!len || (len == 1 && name[0] == '.'))
		return;
	if (len == 2 && name[0] == '.' && name[1] == '.') {
		while (p->len && p->text[--p->len] != '/')
			;
		return;
	}
	if (len >= sizeof(p->text) - p->len) {
		p->is_too_long = true;
		return;
	}
	p->text[p->len++] = '/';
	memcpy(p->text + p->len, name, len);
	p->len += len;
}

static void push_text(struct path *p, const char *text, size_t len)
{
	size_t begin = 0;

	for (size_t i = 0; i <= len && !p->is_too_long; i++) {
		if (i < len && text[i] != '/')
			continue;
		push(p, text + begin, i - begin);
		begin = i + 1;
	}
}

static bool start_at(struct path *p, struct ab_git_text dir)
{
	if (!dir.text || !dir.len || dir.text[0] != '/') {
		p->is_unknown = true;
		return false;
	}
	push_text(p, dir.text, dir.len);
	return true;
}

static bool start_here(struct path *p, const struct ab_git_walk *walk)
{
	if (!walk->cwd.text && walk->context->wants_cwd)
		*walk->context->wants_cwd = true;
	return start_at(p, walk->cwd);
}

/* A hole that begins the path: true when what it stands for is known. */
static bool start_at_hole(struct path *p, const struct ab_git_walk *walk,
			  const struct ab_word *word, const struct ab_hole *h)
{
	const char *text = word->text + h->at;

	if (h->kind != AB_HOLE_HOME)
		return start_here(p, walk);
	if (h->len && text[0] == '/') {
		push_text(p, text, h->len);
		return true;
	}
	if (h->len > 1 && text[0] == '~')
		push(p, text, h->len); /* another's home: "/~name" is outside */
	else if (walk->context->home.text)
		return start_at(p, walk->context->home);
	else
		push(p, "~", 1);
	return true;
}

/* ".*" matches ".." too. Of very many holes nobody looks at each. */
static bool is_dot_pattern(const struct ab_word *word, size_t begin, size_t end)
{
	if (begin >= end || word->text[begin] != '.')
		return false;
	if (word->hole_count > MAX_HOLES)
		return true;
	for (uint32_t i = 0; i < word->hole_count; i++) {
		const struct ab_hole *h = &word->holes[i];

		if (h->kind == AB_HOLE_PATTERN && h->at < end &&
		    h->at + h->len > begin)
			return true;
	}
	return false;
}

/* Like ab_git_unsure_from(), of the holes behind this one. */
static size_t unsure_after(const struct ab_word *word, const struct ab_hole *h)
{
	for (h++; h < word->holes + word->hole_count; h++)
		if (h->kind != AB_HOLE_PATTERN)
			return h->at;
	return (size_t)word->len + 1;
}

static void resolve(struct path *p, const struct ab_git_walk *walk,
		    const struct ab_word *word, size_t begin)
{
	const struct ab_hole *h = ab_git_hole_at(word, begin);
	size_t at = begin;
	size_t unsure;

	p->len = 0;
	p->is_unknown = false;
	p->is_too_long = false;
	if (h && ab_git_is_absolute_hole(h)) {
		at += h->len;
		if (!start_at_hole(p, walk, word, h))
			return;
		/* "$PWD" and what follows without a slash: a longer name */
		if (at < word->len && word->text[at] != '/') {
			p->is_unknown = true;
			return;
		}
		unsure = unsure_after(word, h);
	} else {
		unsure = ab_git_unsure_from(word, at);
		if (unsure != at && at < word->len && word->text[at] == '/')
			at++;
		else if (!start_here(p, walk))
			return;
	}
	while (at <= word->len && !p->is_unknown && !p->is_too_long) {
		size_t end = at;

		while (end < word->len && word->text[end] != '/')
			end++;
		if (unsure <= end || is_dot_pattern(word, at, end)) {
			p->is_unknown = true;
			return;
		}
		push(p, word->text + at, end - at);
		at = end + 1;
	}
}

/* 0: elsewhere; 1: below dir; 2: dir itself; 3: dir is below the path. */
static int relation(const struct path *p, struct ab_git_text dir)
{
	size_t len = dir.len;

	if (!dir.text || !len || dir.text[0] != '/')
		return 0;
	while (len && dir.text[len - 1] == '/')
		len--;
	if (p->len < len)
		return memcmp(p->text, dir.text, p->len) == 0 &&
				       (!p->len || dir.text[p->len] == '/')
			       ? 3
			       : 0;
	if (memcmp(p->text, dir.text, len) != 0)
		return 0;
	if (p->len == len)
		return 2;
	return p->text[len] == '/' ? 1 : 0;
}

static bool is_device(const struct path *p)
{
	static const char *const names[] = {"/dev/null", "/dev/stdin",
					    "/dev/stdout", "/dev/stderr",
					    "/dev/tty"};
	static const char *const dirs[] = {"/dev/fd", "/proc/self/fd"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (p->len == strlen(names[i]) &&
		    memcmp(p->text, names[i], p->len) == 0)
			return true;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		struct ab_git_text dir = {dirs[i], strlen(dirs[i])};
		size_t at = dir.len + 1;

		if (relation(p, dir) != 1)
			continue;
		while (at < p->len && p->text[at] >= '0' && p->text[at] <= '9')
			at++;
		if (at == p->len)
			return true;
	}
	return false;
}

static bool has_git_component(const struct path *p, size_t from)
{
	size_t begin = from;

	for (size_t i = from; i <= p->len; i++) {
		if (i < p->len && p->text[i] != '/')
			continue;
		if (ab_git_is_fold(p->text + begin, i - begin, ".git"))
			return true;
		begin = i + 1;
	}
	return false;
}

static struct ab_git_place judge(const struct path *p,
				 const struct ab_git_walk *walk)
{
	const struct ab_git_context *c = walk->context;
	struct ab_git_place place = {WHERE_OUTSIDE, false, false};
	int r = relation(p, c->worktree);

	place.is_tree = r >= 2 && !p->is_unknown;
	place.is_git_dir = has_git_component(p, r == 1 ? c->worktree.len : 0);
	if (p->is_too_long)
		return place;
	if (r == 1 || r == 2)
		place.where = WHERE_INSIDE;
	else if (!p->is_unknown && is_device(p))
		place.where = WHERE_DEVICE;
	for (size_t i = 0; i < c->temp_count; i++) {
		int t = relation(p, c->temp_dirs[i]);

		if (place.where == WHERE_OUTSIDE && (t == 1 || t == 2))
			place.where = WHERE_TEMP;
	}
	/* more text may still lead back in: only from the start of nothing */
	if (p->is_unknown && (place.where != WHERE_OUTSIDE || !p->len))
		place.where = WHERE_UNKNOWN;
	return place;
}

struct ab_git_place ab_git_place_of(const struct ab_git_walk *walk,
				    const struct ab_word *word, size_t begin)
{
	AB_UNINITIALIZED struct path p;

	if (begin == word->len && ab_git_is_temp(word, begin))
		return (struct ab_git_place){WHERE_TEMP, false, false};
	if (begin == word->len && ab_git_is_file(word, begin))
		return (struct ab_git_place){WHERE_INSIDE, false, false};
	resolve(&p, walk, word, begin);
	return judge(&p, walk);
}

/* Names what to leave out: of everything, when nothing else is named. */
static bool is_exclusion(const char *text, size_t len)
{
	static const char word[] = "exclude";

	if (len > 1 && text[1] != '(')
		return text[1] == '!' || text[1] == '^' ||
		       (len > 2 && text[1] == '/' &&
			(text[2] == '!' || text[2] == '^'));
	for (size_t i = 2; i + sizeof(word) - 1 <= len && text[i] != ')'; i++)
		if (memcmp(text + i, word, sizeof(word) - 1) == 0)
			return true;
	return false;
}

/* Nothing but wildcards, dots and slashes, so everything matches. */
static bool is_everything(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr("*./?", text[i]) || !text[i])
			return false;
	return true;
}

struct ab_git_place ab_git_pathspec_of(const struct ab_git_walk *walk,
				       const struct ab_word *word)
{
	struct ab_git_place place = {WHERE_INSIDE, false, false};
	const char *close;
	size_t at = 0;

	if (!word->len || word->text[0] != ':' || ab_git_hole_at(word, 0)) {
		place = ab_git_place_of(walk, word, 0);
		if (memchr(word->text, '*', word->len) &&
		    ab_git_unsure_from(word, 0) > word->len)
			place.is_tree |= is_everything(word->text, word->len);
		return place;
	}
	close = word->len > 1 && word->text[1] == '('
			? memchr(word->text, ')', word->len)
			: NULL;
	if (close)
		at = (size_t)(close - word->text) + 1;
	else
		while (at < word->len && strchr(":/!^", word->text[at]) &&
		       word->text[at])
			at++;
	/* git refuses what leads out of the worktree */
	place.is_tree = is_everything(word->text + at, word->len - at) ||
			is_exclusion(word->text, word->len);
	if (ab_git_unsure_from(word, 0) <= word->len)
		place.where = WHERE_UNKNOWN;
	return place;
}

struct ab_git_place ab_git_enter(struct ab_git_walk *walk,
				 const struct ab_word *word)
{
	struct ab_git_place place;
	AB_UNINITIALIZED struct path p;

	resolve(&p, walk, word, 0);
	place = judge(&p, walk);
	if (p.is_unknown || p.is_too_long) {
		walk->cwd.text = NULL;
		return place;
	}
	if (!p.len)
		p.text[p.len++] = '/';
	memcpy(walk->cwd_room, p.text, p.len);
	walk->cwd.text = walk->cwd_room;
	walk->cwd.len = p.len;
	return place;
}

/* git status behind `cd /srv/other`: what -C asks about, by another road. */
bool ab_git_is_elsewhere(const struct ab_git_walk *walk)
{
	AB_UNINITIALIZED struct path p;

	p.len = 0;
	p.is_unknown = false;
	p.is_too_long = false;
	return walk->context->worktree.text && start_here(&p, walk) &&
	       judge(&p, walk).where == WHERE_OUTSIDE;
}

bool ab_git_same_path(const struct ab_git_walk *walk,
		      const struct ab_word *word, size_t begin,
		      struct ab_git_text path)
{
	AB_UNINITIALIZED struct path p;

	resolve(&p, walk, word, begin);
	return !p.is_unknown && !p.is_too_long && relation(&p, path) == 2;
}

/* HEAD:path is from the root of the worktree, HEAD:./path from where git is. */
static bool is_from_here(const struct ab_word *w, size_t begin)
{
	size_t at = begin;

	while (at < w->len && at - begin < 2 && w->text[at] == '.')
		at++;
	return at > begin && at < w->len && w->text[at] == '/';
}

bool ab_git_is_same_file(const struct ab_git_walk *walk,
			 const struct ab_word *word, size_t begin,
			 const struct ab_word *out)
{
	AB_UNINITIALIZED struct path committed, written;
	struct ab_git_walk at = *walk;

	/* each word looks at `out` anew */
	if (out->len >= AB_GIT_PATH_MAX)
		return false;
	if (!is_from_here(word, begin))
		at.cwd = walk->context->worktree;
	resolve(&committed, &at, word, begin);
	at.cwd = walk->context->cwd;
	resolve(&written, &at, out, 0);
	return !committed.is_unknown && !committed.is_too_long &&
	       !written.is_unknown && !written.is_too_long &&
	       committed.len == written.len &&
	       !memcmp(committed.text, written.text, written.len);
}
