/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tree goes away, with files emptied first for those who hold them open.
 * Never leaves the directory it was given: no link is followed. What cannot
 * be removed is passed over; the first reason is told at the end. Spec:
 * staging.h.
 */
#include "config.h"

#include "staging.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "tree.h"

/* Names may be passed over while others go: so often a directory is read. */
#define TRIES 8
/* A tree of ours is no deeper; another is not ours. */
#define REMOVE_DEPTH (COPY_MAX_DEPTH + 8)

typedef struct going {
	int fd;
	unsigned tries;
	const char *name; /* in the directory above */
	uint8_t *raw;	  /* owned; used again by the next one of this depth */
	long at, n;	  /* what is read and not yet done */
	bool has_seen;	  /* names, since it was read from its beginning */
} going;

struct removal {
	enum staging_empty empty;
	int dirfd; /* borrowed */
	int error; /* the first */
	uint64_t files;
	char name[NAME_MAX + 1];
	size_t depth;
	going levels[REMOVE_DEPTH];
};

static void note(removal *r, int sys_errno)
{
	if (!r->error && sys_errno != ENOENT)
		r->error = -sys_errno;
}

static void truncate_file(removal *r, int dirfd, const char *name)
{
	const int flags = O_WRONLY | O_TRUNC | O_NOFOLLOW | O_NONBLOCK |
			  O_NOCTTY | O_CLOEXEC;
	int fd = openat(dirfd, name, flags);

	if (fd < 0 && errno == EACCES &&
	    fchmodat(dirfd, name, 0600, 0) == 0)
		fd = openat(dirfd, name, flags);
	if (fd < 0) {
		note(r, errno);
		return;
	}
	close(fd);
}

/* Not every file system says what a name is (readdir(3), DT_UNKNOWN). */
static bool is_to_empty(const removal *r, int dirfd, const raw_dirent *d)
{
	struct stat st;

	if (r->empty == EMPTY_NOTHING ||
	    (d->type != DT_REG && d->type != DT_UNKNOWN))
		return false;
	if (r->empty == EMPTY_ALL && d->type == DT_REG)
		return true;
	return fstatat(dirfd, d->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode) && st.st_size > 0 &&
	       (r->empty == EMPTY_ALL || st.st_nlink == 1);
}

/*
 * The owner must be able to write the directory, and a refresh that published
 * it may set its mode while we are at it: so when it is refused, not before.
 * A name of depth 0 lies in the staging directory, whose mode is not ours.
 */
static int unlink_at(int dirfd, const char *name, int flags, size_t depth)
{
	if (unlinkat(dirfd, name, flags) == 0)
		return 0;
	if (errno != EACCES || depth == 0)
		return -errno;
	if (fchmod(dirfd, 0700) || unlinkat(dirfd, name, flags))
		return -errno;
	return 0;
}

/* Into a directory; `name` stays where it is until that one is left. */
static void enter(removal *r, int dirfd, const char *name)
{
	going *g = &r->levels[r->depth];
	int fd;

	if (r->depth == REMOVE_DEPTH) {
		note(r, ELOOP);
		return;
	}
	if (!g->raw)
		g->raw = ab_calloc(RAW_SIZE, 1);
	if (!g->raw) {
		note(r, ENOMEM);
		return;
	}
	fd = openat(dirfd, name,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		note(r, errno);
		return;
	}
	*g = (going){ .fd = fd, .name = name, .raw = g->raw };
	r->depth++;
}

static void leave(removal *r, int rc)
{
	if (rc)
		note(r, -rc);
	close(r->levels[--r->depth].fd);
}

static void remove_name(removal *r, int dirfd, const raw_dirent *d)
{
	int rc;

	if (d->type == DT_DIR) {
		enter(r, dirfd, d->name);
		return;
	}
	if (is_to_empty(r, dirfd, d))
		truncate_file(r, dirfd, d->name);
	r->files++;
	rc = unlink_at(dirfd, d->name, 0, r->depth);
	if (rc == -EISDIR)
		enter(r, dirfd, d->name);
	else if (rc)
		note(r, -rc);
}

static bool is_dots(const char *name)
{
	return name[0] == '.' &&
	       (!name[1] || (name[1] == '.' && !name[2]));
}

/* Its names so far are done: go on reading, or leave it. */
static void go_on(removal *r, going *g)
{
	int above = r->depth > 1 ? g[-1].fd : r->dirfd;
	bool is_end;

	/* most are read in one piece: then it is empty, and nobody asks */
	if (g->has_seen && g->n < RAW_SIZE / 2 &&
	    unlink_at(above, g->name, AT_REMOVEDIR, r->depth - 1) == 0) {
		leave(r, 0);
		return;
	}
	g->at = 0;
	g->n = read_names(g->fd, g->raw);
	is_end = g->n <= 0;
	if (g->n < 0) {
		note(r, (int)-g->n);
		g->n = 0;
	}
	if (!is_end)
		return;
	if (g->has_seen && ++g->tries < TRIES) {
		g->has_seen = false;
		(void)lseek(g->fd, 0, SEEK_SET);
		return;
	}
	leave(r, unlink_at(above, g->name, AT_REMOVEDIR, r->depth - 1));
}

removal *removal_begin(int dirfd, const char *name, enum staging_empty empty)
{
	size_t n = strlen(name);
	removal *r = n > NAME_MAX ? NULL : ab_new(removal);

	if (!r)
		return NULL;
	r->empty = empty;
	r->dirfd = dirfd;
	memcpy(r->name, name, n + 1);
	enter(r, dirfd, r->name);
	return r;
}

bool removal_step(removal *r, unsigned names)
{
	for (unsigned i = 0; r && r->depth && i < names; i++) {
		going *g = &r->levels[r->depth - 1];
		const raw_dirent *d = (const void *)(g->raw + g->at);

		if (g->at >= g->n) {
			go_on(r, g);
			continue;
		}
		g->at += d->len;
		if (is_dots(d->name))
			continue;
		g->has_seen = true;
		remove_name(r, g->fd, d);
	}
	return r && r->depth;
}

int removal_end(removal *r, uint64_t *files)
{
	int error;

	if (!r)
		return -ENOMEM;
	while (r->depth)
		close(r->levels[--r->depth].fd);
	for (size_t i = 0; i < REMOVE_DEPTH; i++)
		free(r->levels[i].raw);
	if (files)
		*files += r->files;
	error = r->error;
	free(r);
	return error;
}

int staging_remove(int dirfd, const char *name, enum staging_empty empty,
		   uint64_t *files)
{
	removal *r = removal_begin(dirfd, name, empty);

	while (removal_step(r, UINT_MAX))
		;
	return removal_end(r, files);
}
