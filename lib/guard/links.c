/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Links that the text makes and that lead out of the worktree, or to what is
 * special in it: `ln -s / work; rm -rf work/home`. A command whose paths would
 * go through one is judged twice, as if there was none and as if it was there
 * (shell.c), and both count: so nothing is allowed because of a link that was
 * perhaps not made. What leads to another place of the worktree is kept as
 * well, and counts from the first that leads away: `ln -s b a; ln -s / b`. A
 * link that is moved leads from its new place; where several may stand at one
 * name, each is tried. Links that were there before are for the walls.
 */
#include "config.h"

#include "guard/path.h"

#include <string.h>

#include "guard/command.h"

#define MAX_LINKS 256
#define MAX_ABOVE 4 /* names of a link in an archive */
#define MAX_MOVES 512 /* of links, of those that archives hold too */

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

const struct ab_linked *ab_link_at(struct path *p)
{
	const struct ab_linked *found = NULL;
	uint32_t left = p->choice;

	for (const struct ab_linked *l = p->links; l; l = l->next) {
		if (l->is_gone || l->is_new || !is_at(p, l))
			continue;
		if (found && !left--) {
			p->has_choice = true;
			break;
		}
		found = l;
	}
	return found;
}

void ab_links_give_up(struct ab_check *c)
{
	ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, NULL);
	c->links = c->near_links = NULL;
}

void ab_links_settle(struct ab_check *c)
{
	for (struct ab_linked *l = c->links; l; l = l->next)
		l->is_new = false;
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

/* `trap 'ln -sfn / l' DEBUG`: it is there again behind each command. */
static bool is_later(const struct ab_check *c)
{
	return c->chain && c->chain->is_later;
}

/* One that stood there is no more, or perhaps. True: the same does. */
static bool has_same(struct ab_check *c, struct ab_linked *l,
		     const struct ab_linked *as)
{
	bool is_perhaps = c->flags & (AB_SHELL_MAYBE | AB_SHELL_LOOP |
				      AB_SHELL_SUBSTITUTION |
				      AB_SHELL_DEFINITION | AB_SHELL_CALLED);
	bool has = false;

	for (; l; l = l->next) {
		if (l->is_gone || l->len != as->len ||
		    memcmp(l->path, as->path, as->len) != 0)
			continue;
		if (l->target_len == as->target_len &&
		    !memcmp(l->target, as->target, as->target_len)) {
			has = true;
			l->is_later |= is_later(c);
		} else {
			l->is_gone = !is_perhaps && !c->is_perhaps &&
				     !l->is_later;
		}
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

static uint32_t count(const struct ab_linked *l)
{
	uint32_t n = 0;

	for (; l; l = l->next)
		n++;
	return n;
}

/* near: it stays in the worktree, and counts once another one does not. */
static void add(struct ab_check *c, const struct ab_linked *as, bool is_near)
{
	struct ab_linked *l;

	if (has_same(c, c->links, as) || has_same(c, c->near_links, as))
		return;
	if (count(c->links) + count(c->near_links) >= MAX_LINKS) {
		c->has_lost_link |= is_near;
		if (!is_near || c->links)
			ab_links_give_up(c);
		return;
	}
	l = ab_arena_high(c->high, sizeof(*l));
	if (!l) {
		c->is_broken = true;
		return;
	}
	*l = *as;
	l->path = keep(c, as->path, as->len);
	l->target = keep(c, as->target, as->target_len);
	l->said = keep(c, as->said, as->said_len);
	l->is_new = !c->is_one_pass;
	l->is_later = is_later(c);
	if (c->is_broken)
		return;
	if (is_near && !c->links) {
		l->next = c->near_links;
		c->near_links = l;
		return;
	}
	if (!c->links) {
		c->links = c->near_links;
		c->near_links = NULL;
		if (c->has_lost_link) {
			ab_links_give_up(c);
			return;
		}
	}
	l->next = c->links;
	c->links = l;
}

/* path is a link to that word, which is seen from dir. */
static void add_link(struct ab_check *c, const struct ab_word *path,
		     const struct ab_word *to, const struct ab_word *dir)
{
	uint64_t good = AB_CLASS(ANY) | AB_CLASS(INSIDE) | AB_CLASS(SUBDIR) |
			AB_CLASS(TEMP);
	struct ab_linked as = { .path = path->text, .len = path->len };
	const struct ab_word *cwd = c->cwd;
	bool is_near, had_met = c->met_link;

	c->cwd = dir;
	c->met_link = false;
	if (to->len || to->hole_count)
		as.target = ab_path_text(c, to, &as.target_len);
	/* one that leads to a link leads where that does */
	is_near = as.target && !(ab_path_classes(c, to) & ~good) &&
		  !c->met_link;
	c->cwd = cwd;
	c->met_link |= had_met;
	if (!as.target)
		as.target = ""; /* who knows where */
	as.said = to->hole_count || dir == cwd ? as.target : to->text;
	as.said_len = as.said == as.target ? as.target_len : to->len;
	add(c, &as, is_near);
}

/* By the text in it, which is seen from where it is. */
static void add_symbolic(struct ab_check *c, const struct ab_word *path,
			 const struct ab_word *to)
{
	const char *slash = memrchr(path->text, '/', path->len);
	struct ab_word dir = { .text = path->text };

	dir.len = slash > path->text ? (uint32_t)(slash - path->text) : 1;
	add_link(c, path, to, &dir);
}

/* dir, a slash and that name. False: out of memory. */
static bool join(struct ab_check *c, const struct ab_word *dir,
		 const char *name, uint32_t n, struct ab_word *out)
{
	char *text = ab_check_alloc(c, (size_t)dir->len + n + 2);

	if (!text)
		return false;
	memcpy(text, dir->text, dir->len);
	text[dir->len] = '/';
	memcpy(text + dir->len + 1, name, n);
	*out = (struct ab_word){ .text = text, .len = dir->len + 1 + n };
	return true;
}

static bool ends_with(const char *s, uint32_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !memcmp(s + len - n, end, n);
}

/* It leads to what a command has open as its stdin or stdout: which it is, of
   a number, only that command knows. */
static void note_fd(struct ab_check *c, const struct ab_word *to)
{
	uint32_t n = to->len;
	bool is_fd;

	while (n && to->text[n - 1] >= '0' && to->text[n - 1] <= '9')
		n--;
	n -= n && n < to->len && to->text[n - 1] == '/';
	is_fd = ends_with(to->text, n, "/fd");
	c->has_stdin_link |= is_fd ||
			     ends_with(to->text, to->len, "dev/stdin");
	if (c->run && (is_fd || ends_with(to->text, to->len, "dev/stdout") ||
		       ends_with(to->text, to->len, "dev/stderr")))
		ab_shell_note_option(c->run, AB_SHELL_STDOUT_LINK);
}

void ab_link_make(struct ab_check *c, const struct ab_word *to,
		  const struct ab_word *w, bool is_symbolic)
{
	struct ab_word path = { 0 }, inner;
	const char *base;
	uint32_t n;

	if (c->is_linked || c->is_reading || c->is_probe ||
	    (!to->len && !to->hole_count))
		return;
	note_fd(c, to);
	path.text = ab_path_text(c, w, &path.len);
	c->has_stray_link |= !path.text;
	if (!path.text)
		return;
	if (may_be_link(c, w)) {
		if (is_symbolic)
			add_symbolic(c, &path, to);
		else
			add_link(c, &path, to, c->cwd);
	}
	/* or it is a directory, and the link is in it */
	base = memrchr(to->text, '/', to->len);
	base = base ? base + 1 : to->text;
	n = to->len - (uint32_t)(base - to->text);
	if (!n || *base == '.' || !join(c, &path, base, n, &inner) ||
	    !may_be_link(c, &inner))
		return;
	if (is_symbolic)
		add_symbolic(c, &inner, to);
	else
		add_link(c, &inner, to, c->cwd);
}

/* Where the components of p end in the path of a link at or below them; 0: it
   is neither. */
static uint32_t end_in(const struct path *p, const struct ab_linked *l)
{
	uint32_t at = 1;

	for (uint32_t i = 0; i < p->count; i++) {
		const char *slash;
		uint32_t n;

		if (at > l->len)
			return 0;
		slash = memchr(l->path + at, '/', l->len - at);
		n = slash ? (uint32_t)(slash - l->path) - at : l->len - at;
		if (!same_name(&p->parts[i], l->path + at, n, p->has_fold))
			return 0;
		at += n + 1;
	}
	return p->count && p->from == FROM_ROOT ? at - 1 : 0;
}

/* The link is at that place too. */
static void add_moved(struct ab_check *c, const struct ab_linked *l,
		      const struct ab_word *dir, const char *name, uint32_t n)
{
	struct ab_word path, to = { .text = l->said, .len = l->said_len };

	if (c->link_moves++ >= MAX_MOVES) {
		c->has_lost_link = true;
		if (c->links)
			ab_links_give_up(c);
		return;
	}
	if (!n)
		path = *dir;
	else if (!join(c, dir, name, n, &path))
		return;
	if (may_be_link(c, &path))
		add_symbolic(c, &path, &to);
}

static void move_each(struct ab_check *c, const struct ab_linked *l,
		      const struct path *from, const struct ab_word *to)
{
	for (; l; l = l->next) {
		uint32_t end = end_in(from, l), base = end;

		if (!end || l->is_gone)
			continue;
		while (l->path[base - 1] != '/')
			base--;
		/* to is its new name, or the directory that it goes into */
		add_moved(c, l, to, l->path + end + 1,
			  end < l->len ? l->len - end - 1 : 0);
		add_moved(c, l, to, l->path + base, l->len - base);
	}
}

static void move_links(struct ab_check *c, const struct ab_word *from,
		       const struct ab_word *w)
{
	const struct ab_linked *links = c->links, *near = c->near_links;
	struct ab_word to = { 0 };
	AB_UNINITIALIZED struct path p; /* large, and seldom asked for */

	if (c->is_linked || c->is_reading || c->is_probe || (!links && !near))
		return;
	to.text = ab_path_text(c, w, &to.len);
	c->has_stray_link |= !to.text;
	if (!to.text)
		return;
	ab_path_split(c, from, &p);
	move_each(c, links, &p, &to);
	move_each(c, near, &p, &to);
}

/* Which directory it was read from is not known: it is called by its name, or
   by that and those of directories above it. */
static void unpack_each(struct ab_check *c, const struct ab_linked *l,
			const struct ab_word *dir)
{
	for (; l; l = l->next) {
		uint32_t at = l->len;

		for (uint32_t n = 0; n < MAX_ABOVE && at > 1 && !l->is_gone;
		     n++) {
			const char *slash = memrchr(l->path, '/', at - 1);

			if (!slash)
				break;
			at = (uint32_t)(slash - l->path) + 1;
			add_moved(c, l, dir, l->path + at, l->len - at);
		}
	}
}

void ab_link_unpack(struct ab_check *c, const struct ab_word *w)
{
	const struct ab_linked *links = c->links, *near = c->near_links;
	struct ab_word dir = { 0 };

	if (c->is_linked || c->is_reading || c->is_probe)
		return;
	dir.text = ab_path_text(c, w, &dir.len);
	c->has_stray_link |= !dir.text && (links || near);
	if (!dir.text)
		return;
	unpack_each(c, links, &dir);
	unpack_each(c, near, &dir);
}

static void link_one(struct ab_check *c, const struct ab_role *role,
		     const struct ab_word *from, const struct ab_word *w)
{
	if (role->kind == AB_ROLE_MOVE)
		move_links(c, from, w);
	else
		ab_link_make(c, from, w, role->kind == AB_ROLE_LINK);
}

void ab_link_word(struct ab_check *c, const struct ab_use *use,
		  const struct ab_role *role, const struct ab_word *w)
{
	(void)use;
	if (c->copy_from)
		link_one(c, role, c->copy_from, w);
	for (const struct ab_copied *from = c->copied; from; from = from->next)
		link_one(c, role, from->path, w);
}
