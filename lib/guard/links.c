/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Links that the text makes and that lead out of the worktree, or to what is
 * special in it: `ln -s / work; rm -rf work/home`. A command whose paths would
 * go through one is judged twice, as if there was none and as if it was there
 * (shell.c), and both count: so nothing is allowed because of a link that was
 * perhaps not made. Links that were there before are for the walls.
 */
#include "config.h"

#include "guard/path.h"

#include <string.h>

#include "guard/command.h"

#define MAX_LINKS 32

static bool same_name(const struct part *part, const char *name, size_t n,
		      bool fold)
{
	if (part->kind == 1)
		return ab_pattern_may_take(part->text, part->len, name, n,
					   fold);
	return !part->kind && part->len == n && !memcmp(part->text, name, n);
}

/* The components so far are the link's. */
static bool is_at(const struct path *p, const struct ab_linked *l)
{
	uint32_t at = 1, i = 0;

	for (; i < p->count && at <= l->len; i++) {
		const char *slash = memchr(l->path + at, '/', l->len - at);
		size_t n = slash ? (size_t)(slash - l->path) - at
				 : l->len - at;

		if (!same_name(&p->parts[i], l->path + at, n, p->has_fold))
			return false;
		at += (uint32_t)n + 1;
	}
	return i == p->count && at > l->len;
}

const struct ab_linked *ab_link_at(const struct path *p)
{
	const struct ab_linked *l = p->links;

	while (l && (l->is_gone || !is_at(p, l)))
		l = l->next;
	return l;
}

/* A name that it may have: below the worktree or in a temporary directory. */
static bool may_be_link(struct ab_check *c, const struct ab_word *w)
{
	uint64_t good = AB_CLASS(ANY) | AB_CLASS(INSIDE) | AB_CLASS(SUBDIR) |
			AB_CLASS(TEMP);
	uint64_t classes = ab_path_classes(c, w);

	return w->len && w->text[w->len - 1] != '/' &&
	       w->text[w->len - 1] != '.' && !(classes & ~good) &&
	       (classes & ~(uint64_t)AB_CLASS(ANY));
}

/* One that stood there is no more, or perhaps. */
static bool has_other(struct ab_check *c, const char *path, uint32_t len)
{
	bool is_perhaps = c->flags & (AB_SHELL_MAYBE | AB_SHELL_LOOP |
				      AB_SHELL_SUBSTITUTION |
				      AB_SHELL_DEFINITION | AB_SHELL_CALLED);
	bool has = false;

	for (struct ab_linked *l = c->links; l; l = l->next) {
		if (l->is_gone || l->len != len || memcmp(l->path, path, len))
			continue;
		l->is_gone = !is_perhaps && !c->is_perhaps;
		has |= !l->is_gone;
	}
	return has;
}

static char *keep(struct ab_check *c, const char *text, uint32_t len)
{
	char *out = ab_arena_high(c->high, (size_t)len + 1);

	if (!out) {
		c->is_broken = true;
		return NULL;
	}
	memcpy(out, text, len);
	out[len] = '\0';
	return out;
}

static void add(struct ab_check *c, const struct ab_word *path,
		const char *target, uint32_t target_len)
{
	struct ab_linked *l;
	uint32_t count = 0;

	for (l = c->links; l; l = l->next)
		count++;
	l = ab_arena_high(c->high, sizeof(*l));
	if (!l || count == MAX_LINKS) {
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, NULL);
		return;
	}
	*l = (struct ab_linked){ .next = c->links, .len = path->len,
				 .target_len = target_len };
	l->path = keep(c, path->text, path->len);
	l->target = keep(c, target, target_len);
	if (l->path && l->target)
		c->links = l;
}

/* path is a link to that word, which is seen from where the link is. */
static void add_link(struct ab_check *c, const struct ab_word *path,
		     const struct ab_word *to)
{
	uint64_t good = AB_CLASS(ANY) | AB_CLASS(INSIDE) | AB_CLASS(SUBDIR) |
			AB_CLASS(TEMP);
	const char *slash = memrchr(path->text, '/', path->len);
	struct ab_word dir = { .text = path->text };
	const struct ab_word *cwd = c->cwd;
	const char *target;
	uint32_t len;
	bool has, is_good, had_met = c->met_link;

	dir.len = slash > path->text ? (uint32_t)(slash - path->text) : 1;
	c->cwd = &dir;
	c->met_link = false;
	target = ab_path_text(c, to, &len);
	/* one that leads to a link leads where that does */
	is_good = !(ab_path_classes(c, to) & ~good) && !c->met_link;
	c->cwd = cwd;
	c->met_link |= had_met;
	has = has_other(c, path->text, path->len);
	if (target && !is_good && !has)
		add(c, path, target, len);
}

void ab_link_word(struct ab_check *c, const struct ab_use *use,
		  const struct ab_role *role, const struct ab_word *w)
{
	const struct ab_word *to = c->copy_from;
	struct ab_word path = { 0 }, inner = { 0 };
	const char *base;
	uint32_t n;
	char *text;

	(void)use;
	(void)role;
	if (!to || c->is_linked || c->is_reading || c->is_probe)
		return;
	path.text = ab_path_text(c, w, &path.len);
	if (!path.text)
		return;
	if (may_be_link(c, w))
		add_link(c, &path, to);
	/* or it is a directory, and the link is in it */
	base = to->len ? memrchr(to->text, '/', to->len) : NULL;
	base = base ? base + 1 : to->text;
	n = to->len - (uint32_t)(base - to->text);
	text = n ? ab_check_alloc(c, (size_t)path.len + n + 2) : NULL;
	if (!text || *base == '.')
		return;
	memcpy(text, path.text, path.len);
	text[path.len] = '/';
	memcpy(text + path.len + 1, base, n);
	inner.text = text;
	inner.len = path.len + n + 1;
	if (may_be_link(c, &inner))
		add_link(c, &inner, to);
}
