/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Taking a protected name that appeared out of the way: renamed into a
 * directory that only the host sees, or, where that is another file system,
 * or is not usable any more, renamed where it is to a name that nothing reads.
 * Never copied and never
 * deleted: with the holder's rights, which may be root's, the agent would have
 * it fill the host's disk from a file of holes, or empty a file system that is
 * mounted below a directory he may only move. What cannot be renamed is
 * reported as unprotected, never left in silence.
 * Spec: DESIGN.md section 6, sandbox cases 2, 11, 13.
 */
#include "config.h"

#include "watcher.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys.h"

/* A name of its own: what it was called must not match a pattern again. */
#define ASIDE "agentbox-quarantine-%06u"

void init_make_passable(int dir_fd)
{
	char proc[32];
	struct stat st;

	if (fstat(dir_fd, &st) || (st.st_mode & 0700) == 0700)
		return;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", dir_fd);
	(void)chmod(proc, (st.st_mode | 0700) & 07777);
}

/* The parent of path, with every directory on the way made passable. */
int init_open_parent(watcher *w, const char *path)
{
	char prefix[AB_MAX_PATH];
	int at = ab_fd_dup(w->workspace_fd);
	const char *slash = path;

	while (at >= 0 && (slash = strchr(slash, '/'))) {
		size_t n = (size_t)(slash - path);

		memcpy(prefix, path, n);
		prefix[n] = '\0';
		init_make_passable(at);
		close(at);
		at = init_open_beneath(w->workspace_fd, prefix,
				       O_DIRECTORY | O_NOFOLLOW);
		slash++;
	}
	if (at >= 0)
		init_make_passable(at);
	return at;
}

/*
 * Into the quarantine, or -errno: -EXDEV when it is elsewhere, -EEXIST when a
 * box before this one used the name.
 */
static int move(watcher *w, int parent, const char *name, const char *as)
{
	ab_autofd int self = -1;

	if (ab_sys_rename_new(parent, name, w->quarantine_fd, as) == 0)
		return 0;
	if (errno != EACCES)
		return -errno;
	/* a directory's ".." changes, so it must be writable itself */
	self = init_open_beneath(parent, name, O_DIRECTORY | O_NOFOLLOW);
	if (self >= 0)
		init_make_passable(self);
	return ab_sys_rename_new(parent, name, w->quarantine_fd, as) ? -errno
								     : 0;
}

/*
 * To a name beside it that no pattern matches; at the top of the workspace
 * where patterns match everything in its directory. `path` becomes the new
 * one, relative to the workspace.
 */
static int set_aside(watcher *w, int parent, const char *name, char *path,
		     size_t dir_len)
{
	char as[64];
	int r = -EXDEV;

	for (unsigned at_top = dir_len == 0; at_top < 2; at_top++) {
		int to = at_top ? w->workspace_fd : parent;

		do {
			snprintf(as, sizeof(as), ASIDE, ++w->serial);
			snprintf(path + (at_top ? 0 : dir_len),
				 AB_MAX_PATH - dir_len, "%s%s",
				 at_top ? "" : "/", as);
			if (init_is_protected(w, path))
				break;
			r = ab_sys_rename_new(parent, name, to, as) ? -errno
								    : 0;
		} while (r == -EEXIST && w->serial < UINT32_MAX);
		if (r == 0)
			break;
	}
	return r;
}

static bool is_there(int parent, const char *name)
{
	struct stat st;

	return parent >= 0 &&
	       (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
		errno != ENOENT);
}

/* Where the quarantine is by now, should somebody have moved it. */
static void name_quarantine(const watcher *w, const char *as, char *where,
			    size_t size)
{
	const char *dir = w->box->plan.quarantine_host;
	char proc[32], now[AB_MAX_PATH];
	struct stat was, is;
	ssize_t n;

	snprintf(where, size, "%s/%s", dir, as);
	if (fstat(w->quarantine_fd, &was) ||
	    (lstat(dir, &is) == 0 && is.st_ino == was.st_ino &&
	     is.st_dev == was.st_dev))
		return;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", w->quarantine_fd);
	n = readlink(proc, now, sizeof(now) - 1);
	if (n > 0)
		snprintf(where, size, "%.*s/%s", (int)n, now, as);
}

/* Where it is now, for the host; false: told as a failure, or gone. */
static bool take_away(watcher *w, const char *path, bool may_stay, char *where,
		      size_t size)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t dir_len = slash ? (size_t)(slash - path) : 0;
	char as[AB_MAX_NAME + 1], aside[AB_MAX_PATH];
	ab_autofd int parent = init_open_parent(w, path);
	int r = parent < 0 ? parent : -EEXIST;

	while (r == -EEXIST && w->serial < UINT32_MAX) {
		snprintf(as, sizeof(as), "%06u-%.200s", ++w->serial, name);
		r = move(w, parent, name, as);
	}
	if (r == 0)
		name_quarantine(w, as, where, size);
	/* the quarantine is elsewhere, or not usable any more */
	if (r && may_stay && is_there(parent, name)) {
		memcpy(aside, path, dir_len);
		r = set_aside(w, parent, name, aside, dir_len);
		snprintf(where, size, "%s/%s", w->box->plan.workspace_host,
			 aside);
	}
	/* the agent removed it itself, unless the host has covered it */
	if (r == -ENOENT && !is_there(parent, name) &&
	    !init_is_covered(w, path))
		return false;
	if (r == -ENOENT && init_is_covered(w, path))
		r = -EXDEV;
	if (r)
		init_fail_path(w, path, -r);
	return r == 0;
}

static void quarantine(watcher *w, const char *path, bool may_stay)
{
	char where[2 * AB_MAX_PATH];

	if (w->seen && init_doubt(w, path))
		return;
	if (!take_away(w, path, may_stay, where, sizeof(where)))
		return;
	w->quarantined++;
	init_tell(w->box, AB_EVENT_QUARANTINED, path, where);
}

void init_quarantine(watcher *w, const char *path)
{
	quarantine(w, path, true);
}

void init_quarantine_outside(watcher *w, const char *path)
{
	quarantine(w, path, false);
}
