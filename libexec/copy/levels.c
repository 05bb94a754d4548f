/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes directories and links files of the generation before into them, or
 * moves them there from the spare one. Whatever speaks against moving, it
 * links. Spec: levels.h, rename(2), cases 66, 71.
 */
#include "config.h"

#include "levels.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "staging.h"
#include "tree.h"

#define DIR_MODE 0555
/* A third descriptor for each level, but not of a tree deep as a well. */
#define SPARE_DEPTH 64

static int open_at(int dirfd, const char *name, int flags)
{
	int fd = openat(dirfd, name,
			flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Are descriptors short that the finisher held? Then it is worth a try. */
static int open_dir(levels *s, int dirfd, const char *name, int flags)
{
	int fd = open_at(dirfd, name, flags);

	if (fd != -EMFILE)
		return fd;
	finish_wait(s->finisher);
	return open_at(dirfd, name, flags);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* --- what is moved -------------------------------------------------------- */

/* Names go out of it only when its owner may write it. */
static bool open_spare(made_level *l)
{
	if (!l->is_open && l->spare_fd >= 0)
		l->is_open = fchmod(l->spare_fd, 0700) == 0;
	return l->is_open;
}

static bool move(made_level *from, const char *name, const made_level *to)
{
	return open_spare(from) &&
	       copy_rename(from->spare_fd, name, to->fd, name, RENAME_NEW) ==
		       0;
}

static int link_old(made_level *l, const char *name)
{
	const spare_name *n = spare_find(&l->spare, name);

	if (n && move(l, name, l))
		return 0;
	if (l->old_fd < 0)
		return -ENOENT;
	return linkat(l->old_fd, name, l->fd, name, 0) ? -errno : 0;
}

/* All of the last one is the same, and its files are due: as it is. */
static bool move_dir(levels *s, const char *name)
{
	made_level *l = levels_last(s);

	/* ".." changes, so it is written to itself: rename(2), EACCES */
	if (!l->spare.is_whole || l->spare.due != l->spare.count ||
	    !open_spare(l) || !move(l - 1, name, l - 1))
		return false;
	l->fd = l->spare_fd;
	l->spare_fd = -1;
	return true;
}

/* --- levels --------------------------------------------------------------- */

/* The spare one stays open also without a file: directories may be in both. */
static void look_at_spare(levels *s, made_level *l)
{
	if (l->old_fd >= 0 && l->spare_fd >= 0 &&
	    spare_list(&l->spare, l->old_fd, l->spare_fd, s->raw))
		return;
	l->spare.count = l->spare.due = 0;
	l->spare.is_whole = false;
}

static void forget_due(made_level *l)
{
	for (size_t i = 0; i < l->spare.count; i++)
		l->spare.names[i].is_due = false;
	l->spare.due = 0;
}

static bool is_one_device(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev;
}

int levels_begin(levels *s, finisher *f, int tree_fd, int old_fd, int spare_fd)
{
	made_level *root = &s->at[0];

	s->finisher = f;
	s->raw = ab_calloc(RAW_SIZE, 1);
	if (!s->raw)
		return -ENOMEM;
	if (old_fd < 0 || spare_fd < 0 || !is_one_device(old_fd, spare_fd))
		spare_fd = -1;
	root->fd = tree_fd;
	root->old_fd = old_fd;
	root->spare_fd = spare_fd;
	s->depth = 1;
	look_at_spare(s, root);
	return 0;
}

static int make_last(levels *s, const char *name)
{
	made_level *l = levels_last(s);
	int fd;

	if (mkdirat(l[-1].fd, name, 0700))
		return -errno;
	fd = open_dir(s, l[-1].fd, name, O_PATH);
	if (fd < 0)
		return fd;
	l->fd = fd;
	return 0;
}

int levels_make(levels *s)
{
	made_level *l = levels_last(s);
	int r;

	if (l->fd >= 0)
		return 0;
	r = make_last(s, s->name);
	for (size_t i = 0; r == 0 && i < l->spare.count; i++) {
		const spare_name *n = &l->spare.names[i];

		if (n->is_due)
			r = link_old(l, spare_text(&l->spare, n));
	}
	forget_due(l);
	return r;
}

static void open_others(levels *s, const char *name)
{
	made_level *l = levels_last(s), *above = l - 1;
	int flags = O_RDONLY;

	if (s->depth > SPARE_DEPTH || above->spare_fd < 0)
		flags = O_PATH;
	l->old_fd = above->old_fd < 0
			    ? -1
			    : open_dir(s, above->old_fd, name, flags);
	l->spare_fd = l->old_fd < 0 || flags == O_PATH
			      ? -1
			      : open_at(above->spare_fd, name, flags);
	look_at_spare(s, l);
}

int levels_enter(levels *s, const char *name, int64_t mtime_ns,
		 size_t path_len)
{
	made_level *l;
	int r = levels_make(s);

	if (r)
		return r;
	s->depth++;
	l = levels_last(s);
	l->fd = -1;
	l->is_open = false;
	l->mtime_ns = mtime_ns;
	l->path_len = path_len;
	open_others(s, name);
	if (!l->spare.is_whole)
		return make_last(s, name);
	memcpy(s->name, name, strlen(name) + 1);
	return 0;
}

int levels_link(levels *s, const char *name)
{
	made_level *l = levels_last(s);
	spare_name *n = l->fd < 0 ? spare_find(&l->spare, name) : NULL;
	int r;

	if (n && !n->is_due) {
		n->is_due = true;
		l->spare.due++;
		return 0;
	}
	r = levels_make(s);
	return r ? r : link_old(l, name);
}

int levels_leave(levels *s, const char *name)
{
	made_level *l = levels_last(s);
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
					   copy_time(l->mtime_ns) };
	int above = l[-1].fd, r = 0;

	if (l->fd < 0 && !move_dir(s, name))
		r = levels_make(s);
	if (r == 0 && (fchmodat(above, name, DIR_MODE, 0) ||
		       utimensat(above, name, times, AT_SYMLINK_NOFOLLOW)))
		r = -errno;
	close_fd(&l->fd);
	close_fd(&l->old_fd);
	close_fd(&l->spare_fd);
	s->depth--;
	return r;
}
