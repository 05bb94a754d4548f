/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inodes of what was left out by name, so that another name of the same
 * file does not bring it back (cases 33, 34). Collected when the first kept
 * file with a second name is met: most trees have none, and excluded trees
 * are large. What cannot be listed counts as left out, unless all the names
 * of a file are among those kept.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "tree.h"

#define LEFT_MAX ((size_t)8 << 20)
#define LEFT_DEPTH 256

static bool is_by_name(const entry *e)
{
	return e->reason == AB_OUT_NAME || e->reason == AB_OUT_HOST ||
	       e->reason == AB_OUT_HIDDEN || e->reason == AB_OUT_TREE ||
	       e->reason == AB_OUT_ENCODING || e->reason == AB_OUT_STRUCTURE;
}

static void add(tree *t, uint64_t ino)
{
	if (t->left_count >= LEFT_MAX ||
	    !ab_grow(&t->left, &t->left_room, t->left_count + 1,
		     sizeof(*t->left))) {
		t->left_in_part = true;
		return;
	}
	t->left[t->left_count++] = ino;
}

typedef struct listing {
	int fd;
	long n, at;
	uint8_t *raw; /* owned; a level's own, as it is read in pieces */
} listing;

static bool open_listing(listing *l, int dirfd, const char *name, tree *t)
{
	int fd = open_beneath(dirfd, name, O_RDONLY | O_DIRECTORY);

	if (fd < 0) {
		/* another file system has other inodes; what is gone is gone */
		if (fd != -EXDEV && fd != -ENOENT)
			t->left_in_part = true;
		return false;
	}
	*l = (listing){ fd, 0, 0, ab_calloc(RAW_SIZE, 1) };
	if (l->raw)
		return true;
	close(fd);
	t->left_in_part = true;
	return false;
}

/* The next name, or NULL at the end of this directory. */
static const raw_dirent *next_name(listing *l, tree *t)
{
	const raw_dirent *d;

	if (l->at >= l->n) {
		l->at = 0;
		l->n = read_names(l->fd, l->raw);
		if (l->n < 0)
			t->left_in_part = true;
		if (l->n <= 0)
			return NULL;
	}
	d = (const void *)(l->raw + l->at);
	l->at += d->len;
	return d;
}

static bool is_dots(const char *name)
{
	return name[0] == '.' &&
	       (!name[1] || (name[1] == '.' && !name[2]));
}

/* A file system that does not number files in directories as on themselves
   tells by the first; then all count as unknown. */
static void check_first(const listing *l, const raw_dirent *d, tree *t)
{
	struct stat st;

	if (fstatat(l->fd, d->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_ino != d->ino)
		t->left_in_part = true;
}

static void add_below(walk *w, const char *at)
{
	listing levels[LEFT_DEPTH];
	tree *t = w->tree;
	size_t depth = 0;
	bool is_first = true;

	if (!open_listing(&levels[depth++], w->root_fd, at, t))
		return;
	while (depth && t->left_count < LEFT_MAX) {
		listing *l = &levels[depth - 1];
		const raw_dirent *d = next_name(l, t);

		if (!d) {
			close(l->fd);
			free(l->raw);
			depth--;
			continue;
		}
		if (is_dots(d->name))
			continue;
		if (d->type == DT_REG || d->type == DT_UNKNOWN) {
			if (is_first)
				check_first(l, d, t);
			is_first = false;
			add(t, d->ino);
		}
		if (d->type != DT_DIR && d->type != DT_UNKNOWN)
			continue;
		if (depth == LEFT_DEPTH)
			t->left_in_part = true;
		else if (open_listing(&levels[depth], l->fd, d->name, t))
			depth++;
	}
	while (depth) {
		close(levels[--depth].fd);
		free(levels[depth].raw);
	}
}

/* Every entry of the table, with its path. */
static void collect(walk *w, uint32_t index, path *p)
{
	tree *t = w->tree;
	const entry *dir = &t->entries[index];

	for (uint32_t i = 0; i < dir->count; i++) {
		const entry *e = &t->entries[dir->first + i];
		size_t len = p->len;

		if (e->kind == ENTRY_FILE && is_by_name(e))
			add(t, e->ino);
		if (e->kind != ENTRY_DIR)
			continue;
		if (!path_push(p, entry_name(t, e), e->name_len))
			continue;
		/* depth is bounded by COPY_MAX_DEPTH */
		if (is_walked(e))
			collect(w, dir->first + i, p);
		else if (is_by_name(e))
			add_below(w, p->text);
		path_pop(p, len);
	}
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* All the names of this file are among those kept. */
static bool has_all_names(const tree *t, uint64_t ino, uint64_t nlink)
{
	uint64_t found = 0;

	for (size_t i = 0; i < t->count; i++) {
		const entry *e = &t->entries[i];

		if (e->kind == ENTRY_FILE && e->ino == ino &&
		    e->reason == AB_KEPT)
			found++;
	}
	return found == nlink;
}

bool is_left_out(walk *w, uint64_t ino, uint64_t nlink)
{
	tree *t = w->tree;

	if (!t->has_left) {
		path *p = walk_finish(w) ? NULL : ab_new(path);

		if (!p)
			return true;
		collect(w, 0, p);
		free(p);
		if (t->left_count)
			qsort(t->left, t->left_count, sizeof(*t->left),
			      by_number);
		t->has_left = true;
	}
	if (t->left_count && bsearch(&ino, t->left, t->left_count,
				     sizeof(ino), by_number))
		return true;
	return t->left_in_part && !has_all_names(t, ino, nlink);
}
