/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening by the kernel's own resolution. Never checks a path and opens it
 * afterwards: it opens, then compares what was opened. Refuses magic links,
 * because /proc/PID/root and /proc/PID/fd leave any tree (openat2(2)).
 * Spec: path/resolve.h.
 */
#include "config.h"

#include "path/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/attr.h"
#include "path/lexical.h"

/* openat2 answers EAGAIN when a rename raced with `..` or a link. */
#define MAX_RACES 64

/* The kernel refuses unknown flags in openat2 that openat ignored. */
static int open_how(int dirfd, const char *path, int flags, mode_t mode,
		    unsigned options)
{
	struct open_how how = {
		.flags = (unsigned)flags | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};

	if (!(flags & O_PATH))
		how.flags |= O_NOCTTY;
	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		how.mode = mode;
	if (options & AB_PATH_NO_SYMLINKS)
		how.resolve |= RESOLVE_NO_SYMLINKS;
	if (options & AB_PATH_NO_XDEV)
		how.resolve |= RESOLVE_NO_XDEV;
	for (int i = 0; i < MAX_RACES; i++) {
		long fd = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));

		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return -EAGAIN;
}

int ab_path_open_beneath(int dirfd, const char *path, int flags, mode_t mode,
			 unsigned options)
{
	int r = ab_path_check_relative(path, strlen(path));

	if (r < 0)
		return r;
	r = open_how(dirfd, path, flags, mode, options);
	/* a seccomp filter of the host's may answer either (case 86) */
	if (r == -ENOSYS || r == -EPERM)
		return ab_path_walk_beneath(dirfd, path, flags, mode, options);
	return r;
}

static int same_device(int a, int b)
{
	struct stat x;
	struct stat y;

	if (fstat(a, &x) < 0 || fstat(b, &y) < 0)
		return -errno;
	return x.st_dev == y.st_dev ? 0 : -EXDEV;
}

/* An O_PATH fd can be opened again only by name; a link is seen on the fd. */
static int open_component(int dirfd, const char *name, int flags, mode_t mode)
{
	struct stat st;
	int fd;

	do {
		fd = openat(dirfd, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
	} while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return -errno;
	/* with O_PATH, O_NOFOLLOW opens the link itself: open(2) */
	if ((flags & O_PATH) &&
	    (fstat(fd, &st) < 0 || S_ISLNK(st.st_mode))) {
		close(fd);
		return -ELOOP;
	}
	return fd;
}

int ab_path_walk_beneath(int dirfd, const char *path, int flags, mode_t mode,
			 unsigned options)
{
	char name[AB_MAX_NAME + 1];
	ab_autofd int at = -1;
	int r = ab_path_check_relative(path, strlen(path));

	if (r < 0)
		return r;
	for (;;) {
		size_t n = strcspn(path, "/");
		bool last = path[n] == '\0';
		int parent = at >= 0 ? at : dirfd;
		int fd;

		memcpy(name, path, n);
		name[n] = '\0';
		fd = open_component(parent, name,
				    last ? flags | (flags & O_PATH ? 0 :
								     O_NOCTTY) :
					   O_PATH | O_DIRECTORY,
				    last ? mode : 0);
		if (fd < 0)
			return fd;
		r = options & AB_PATH_NO_XDEV ? same_device(parent, fd) : 0;
		if (r < 0) {
			close(fd);
			return r;
		}
		if (last)
			return fd;
		ab_cleanup_fd(&at);
		at = fd;
		path += n + 1;
	}
}

/* Does the path, without following a final link, lead to the fd's inode? */
static bool leads_to(const char *path, int fd)
{
	struct stat a;
	struct stat b;

	return lstat(path, &a) == 0 && fstat(fd, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool path_of_fd(int fd, char out[AB_MAX_PATH])
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, out, AB_MAX_PATH);
	if (n <= 0 || n >= AB_MAX_PATH || out[0] != '/')
		return false;
	out[n] = '\0';
	return true;
}

int ab_path_open_host(const char *path, char canonical[AB_MAX_PATH])
{
	ab_autofd int fd = -1;
	ab_autofree char *real = NULL;

	if (path[0] != '/' || strlen(path) >= AB_MAX_PATH)
		return path[0] != '/' ? -EINVAL : -ENAMETOOLONG;
	do {
		fd = open(path, O_PATH | O_CLOEXEC);
	} while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return -errno;
	if (path_of_fd(fd, canonical) && leads_to(canonical, fd))
		return ab_steal_fd(&fd);
	/* no /proc, or it shows another mount namespace's path */
	real = realpath(path, NULL);
	if (!real)
		return -errno;
	if (strlen(real) >= AB_MAX_PATH)
		return -ENAMETOOLONG;
	if (!leads_to(real, fd))
		return -ESTALE;
	memcpy(canonical, real, strlen(real) + 1);
	return ab_steal_fd(&fd);
}
