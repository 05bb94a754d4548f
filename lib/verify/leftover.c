/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Directories that a self-test makes for its time: whoever is killed leaves
 * them, and the next one takes them away. The one that is in use is locked, and
 * the kernel lets go of a lock with whoever held it, so nobody has to know who
 * that was: flock(2). Refuses what is another user's, what is named otherwise,
 * and what was made just now, since its lock may be still to come.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/fd.h"
#include "verify/internal.h"

#define MAX_DEPTH 32
/* half a second's worth: what others fill a directory with hides nothing */
#define MAX_LOOKED_AT (1 << 20)
#define ID_LEN 16
#define JUST_NOW_S 60
#define NS_PER_S UINT64_C(1000000000)

static int open_dir(int at, const char *name)
{
	return ab_fd_lift(openat(at, name, O_RDONLY | O_DIRECTORY |
				 O_NOFOLLOW | O_CLOEXEC));
}

static void remove_tree(int at, const char *name, int depth)
{
	DIR *dir = depth ? ab_fd_open_list(at, name) : NULL;

	for (struct dirent *e; dir && (e = ab_fd_next(dir, NULL));)
		remove_tree(dirfd(dir), e->d_name, depth - 1);
	if (dir)
		closedir(dir);
	if (unlinkat(at, name, dir ? AT_REMOVEDIR : 0) && errno == EISDIR)
		unlinkat(at, name, AT_REMOVEDIR);
}

void ab_leftover_remove(int dirfd, const char *name)
{
	remove_tree(dirfd, name, MAX_DEPTH);
}

int ab_leftover_hold(int dirfd, const char *name)
{
	int fd = open_dir(dirfd, name);

	/* where nothing can be locked nothing is swept either */
	if (fd >= 0)
		(void)flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

static bool is_named(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(name, prefix, n) == 0 && strlen(name + n) == ID_LEN &&
	       strspn(name + n, "0123456789abcdef") == ID_LEN;
}

static void sweep_entry(int dirfd, const char *name)
{
	ab_autofd int fd = open_dir(dirfd, name);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || st.st_uid != geteuid() ||
	    (int64_t)(ab_clock_real_ns() / NS_PER_S) - st.st_mtime <
		    JUST_NOW_S ||
	    flock(fd, LOCK_EX | LOCK_NB))
		return;
	ab_leftover_remove(dirfd, name);
}

void ab_leftover_sweep(int at, const char *path, const char *prefix)
{
	DIR *dir = ab_fd_open_list(at, path);
	const struct dirent *e;

	for (int i = 0;
	     dir && i < MAX_LOOKED_AT && (e = ab_fd_next(dir, NULL)); i++)
		if (is_named(e->d_name, prefix))
			sweep_entry(dirfd(dir), e->d_name);
	if (dir)
		closedir(dir);
}
