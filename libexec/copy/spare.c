/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares two directories by the inode numbers that they list. The same
 * number is the same file where such a number is st_ino, which one file is
 * asked for: some file systems list others, or one for all (readdir(3)). What
 * cannot be told is not the same. Spec: spare.h.
 */
#include "config.h"

#include "spare.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "tree.h"

/* A larger directory is linked name by name. */
#define NAMES_MAX 65536u

static bool is_dots(const char *name)
{
	return name[0] == '.' &&
	       (!name[1] || (name[1] == '.' && !name[2]));
}

static bool make_room(spare_dir *d, size_t name_size)
{
	return d->count < NAMES_MAX &&
	       ab_grow(&d->names, &d->room, d->count + 1,
		       sizeof(*d->names)) &&
	       ab_grow(&d->text, &d->text_room, d->text_len + name_size, 1);
}

static bool add(spare_dir *d, const raw_dirent *e)
{
	size_t size = strlen(e->name) + 1;

	if (!make_room(d, size))
		return false;
	d->names[d->count++] = (spare_name){ .ino = e->ino,
					     .at = (uint32_t)d->text_len,
					     .is_dir = e->type == DT_DIR };
	memcpy(d->text + d->text_len, e->name, size);
	d->text_len += size;
	return e->type == DT_REG || e->type == DT_DIR;
}

static int order(const void *a, const void *b, void *text)
{
	const spare_name *x = a, *y = b;

	return strcmp((const char *)text + x->at, (const char *)text + y->at);
}

static spare_name *find(const spare_dir *d, const char *name)
{
	size_t low = 0, high = d->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int r = strcmp(spare_text(d, &d->names[mid]), name);

		if (r == 0)
			return &d->names[mid];
		if (r < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* Is what the directory lists of this file its inode? */
static bool is_inode(int fd, const char *name, uint64_t ino)
{
	struct stat st;

	return fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode) && st.st_ino == ino;
}

static bool list_old(spare_dir *d, int fd, uint8_t *raw)
{
	long n;

	while ((n = read_names(fd, raw)) > 0) {
		for (long at = 0; at < n;) {
			const raw_dirent *e = (const void *)(raw + at);

			at += e->len;
			if (!is_dots(e->name) && !add(d, e))
				return false;
		}
	}
	if (d->count)
		qsort_r(d->names, d->count, sizeof(*d->names), order, d->text);
	return n == 0;
}

/* How many files are the same, or -1. */
static long compare_spare(spare_dir *d, int fd, uint8_t *raw)
{
	long n, same = 0;

	while ((n = read_names(fd, raw)) > 0) {
		for (long at = 0; at < n;) {
			const raw_dirent *e = (const void *)(raw + at);
			spare_name *s;

			at += e->len;
			if (is_dots(e->name))
				continue;
			s = find(d, e->name);
			d->is_whole &= s && s->ino == e->ino && !s->is_dir;
			if (!s || s->is_dir || s->ino != e->ino ||
			    e->type != DT_REG)
				continue;
			if (!same && !is_inode(fd, e->name, e->ino))
				return -1;
			s->is_same = true;
			same++;
		}
	}
	return n == 0 ? same : -1;
}

bool spare_list(spare_dir *d, int old_fd, int spare_fd, uint8_t *raw)
{
	long same = -1;

	d->count = d->due = d->text_len = 0;
	d->is_whole = true;
	if (list_old(d, old_fd, raw))
		same = compare_spare(d, spare_fd, raw);
	d->is_whole &= same > 0 && (size_t)same == d->count;
	if (same <= 0)
		d->count = 0;
	return same > 0;
}

spare_name *spare_find(const spare_dir *d, const char *name)
{
	spare_name *n = find(d, name);

	return n && n->is_same ? n : NULL;
}
