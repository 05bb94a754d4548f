/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening paths without ever following a link. Used for host trees (whose
 * inode must be the one the host saw when it compiled the plan) and for
 * targets inside the new root (where the agent's own files may be links that
 * lead anywhere). Refuses symlinks, magic links and "..".
 * Spec: openat2(2); RECIPES.md section 1.
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "sys.h"

static int is_symlink(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	return S_ISLNK(st.st_mode);
}

/*
 * One component at a time, for hosts where a seccomp filter makes openat2
 * ENOSYS (sandbox case 86). O_PATH|O_NOFOLLOW opens a link itself, and a link
 * is not a directory for the next step.
 */
static int walk(int dirfd, const char *path, int flags)
{
	ab_autofd int at = ab_fd_dup(dirfd);
	char name[AB_MAX_NAME + 1];

	while (at >= 0 && *path) {
		size_t n = strcspn(path, "/");
		int next, link;

		if (n > AB_MAX_NAME)
			return -ENAMETOOLONG;
		memcpy(name, path, n);
		name[n] = '\0';
		if (n == 0 || !strcmp(name, ".") || !strcmp(name, ".."))
			return -EXDEV;
		path += n;
		path += strspn(path, "/");
		next = openat(at, name, O_PATH | O_CLOEXEC | O_NOFOLLOW |
						(*path ? 0 : flags));
		if (next < 0)
			return -errno;
		close(at);
		at = next;
		link = is_symlink(at);
		if (link < 0)
			return link;
		if (link && (*path || !(flags & O_NOFOLLOW)))
			return -ELOOP;
	}
	return at < 0 ? at : ab_steal_fd(&at);
}

int init_open_beneath(int dirfd, const char *path, int flags)
{
	uint64_t how = (uint64_t)(O_PATH | O_CLOEXEC | flags);
	int fd;

	if (path[0] == '\0')
		return ab_fd_dup(dirfd);
	fd = ab_sys_openat2(dirfd, path, how,
			    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
				    RESOLVE_NO_MAGICLINKS);
	if (fd == -ENOSYS || fd == -EPERM)
		fd = walk(dirfd, path, flags);
	return ab_fd_lift(fd);
}

static int walk_from_root(const char *path, int flags)
{
	ab_autofd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return root < 0 ? -errno : ab_fd_lift(walk(root, path, flags));
}

int init_open_host(const char *path, uint64_t dev, uint64_t ino)
{
	ab_autofd int fd = -1;
	struct stat st;

	/* "/" is the root of every name space, so nothing is beneath it */
	fd = ab_fd_lift(ab_sys_openat2(AT_FDCWD, path,
				       O_PATH | O_CLOEXEC | O_NOFOLLOW,
				       RESOLVE_NO_SYMLINKS |
					       RESOLVE_NO_MAGICLINKS));
	if (fd == -ENOSYS || fd == -EPERM)
		fd = walk_from_root(path + 1, O_NOFOLLOW);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return -errno;
	/* swapped since the plan was compiled: sandbox case 97 */
	if (st.st_dev != dev || st.st_ino != ino)
		return -ESTALE;
	return ab_steal_fd(&fd);
}
