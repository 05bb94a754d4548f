/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Git directories by structure. Git takes any directory with a HEAD, objects
 * and refs (or a commondir) for a repository when it is run there, whatever
 * its name, and then its configuration and hooks run. No pattern names those:
 * `config` and `hooks` are ordinary names elsewhere. So where such a directory
 * comes to be, what git would run from it goes; it is a repository without
 * hooks and with git's own defaults then, as a new `.git` is.
 *
 * Below a `.git` the patterns say what is protected.
 * Spec: gitrepository-layout(5), DESIGN.md section 6.
 */
#include "config.h"

#include "watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/fd.h"

static const char *const runs[] = {"config", "config.worktree", "hooks",
				   "commondir"};
static const char *const makes[] = {"HEAD", "objects", "refs"};

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_one_of(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcasecmp(name, list[i]))
			return true;
	}
	return false;
}

bool init_is_below_git(const char *path)
{
	for (const char *slash; (slash = strchr(path, '/')); path = slash + 1) {
		if (slash - path == 4 && !strncasecmp(path, ".git", 4))
			return true;
	}
	return false;
}

/* What cannot be looked at may be there. */
static bool has(int dir, const char *name)
{
	struct stat st;

	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) ||
	       errno != ENOENT;
}

static bool is_git_dir(int dir)
{
	return has(dir, "HEAD") && ((has(dir, "objects") && has(dir, "refs")) ||
				    has(dir, "commondir"));
}

static int open_above(const watcher *w, const char *path)
{
	size_t n = (size_t)(last_of(path) - path);
	char dir[AB_MAX_PATH];

	if (n == 0)
		return ab_fd_dup(w->workspace_fd);
	memcpy(dir, path, n - 1);
	dir[n - 1] = '\0';
	return init_open_beneath(w->workspace_fd, dir,
				 O_DIRECTORY | O_NOFOLLOW);
}

bool init_is_bare_part(const watcher *w, const char *path)
{
	ab_autofd int dir = -1;

	if (!w->is_git || init_is_below_git(path) ||
	    !is_one_of(last_of(path), runs, AB_ARRAY_LEN(runs)))
		return false;
	dir = open_above(w, path);
	return dir >= 0 ? is_git_dir(dir) : dir != -ENOENT;
}

void init_check_bare(watcher *w, const char *path)
{
	size_t n = (size_t)(last_of(path) - path);
	ab_autofd int dir = -1;
	char part[AB_MAX_PATH];

	if (!w->is_git || init_is_below_git(path) ||
	    !is_one_of(last_of(path), makes, AB_ARRAY_LEN(makes)))
		return;
	dir = init_open_parent(w, path);
	if (dir < 0 || !is_git_dir(dir))
		return;
	for (size_t i = 0; i < AB_ARRAY_LEN(runs); i++) {
		snprintf(part, sizeof(part), "%.*s%s", (int)n, path, runs[i]);
		if (has(dir, runs[i]) && !init_is_held(w, part) &&
		    !init_is_moved(w, part) && !init_adopt(w, part))
			init_quarantine(w, part);
	}
}
