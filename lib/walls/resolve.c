/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Host paths of a policy: followed once, opened once, pinned by an O_PATH
 * fd. What goes to agentbox-init is the canonical path with device and
 * inode, and init refuses anything else there (case 97, RECIPES.md section
 * 1). Nothing is opened for reading, so a FIFO or device does not block.
 */
#include "config.h"

#include "walls/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fd.h"
#include "path/lexical.h"

/*
 * The canonical path of an open fd, as the kernel knows it. False where
 * /proc is missing, or the name is not one: unreachable from our root, or
 * removed (then it does not lead back to the same file).
 */
static bool path_of_fd(int fd, const struct stat *st, char *out, size_t size)
{
	char link[32];
	struct stat now;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, out, size);
	if (n <= 0 || (size_t)n >= size || out[0] != '/')
		return false;
	out[n] = '\0';
	return lstat(out, &now) == 0 && now.st_dev == st->st_dev &&
	       now.st_ino == st->st_ino;
}

/* One component after another; NOFOLLOW: what replaced the last meanwhile is
   not ours. */
static int32_t by_realpath(const char *path, const char *where, ab_hostpath *h,
			   struct stat *st, agentbox_error **err)
{
	ab_autofree char *canonical = realpath(path, NULL);
	size_t n;

	if (!canonical)
		return ab_error_sys(err, errno, where, "cannot resolve '%s'",
				    path);
	n = strlen(canonical);
	if (n >= sizeof(h->path))
		return ab_error_set(err, AGENTBOX_ELIMIT, where,
				    "path of '%s' is too long", path);
	memcpy(h->path, canonical, n + 1);
	h->fd = ab_fd_lift(open(h->path, O_PATH | O_NOFOLLOW | O_CLOEXEC));
	if (h->fd < 0)
		return ab_error_sys(err, errno, where, "cannot open '%s'",
				    h->path);
	if (fstat(h->fd, st) < 0 || S_ISLNK(st->st_mode)) {
		close(h->fd);
		return ab_error_set(err, AGENTBOX_EACCES, where,
				    "'%s' changed while it was opened", path);
	}
	return 0;
}

int32_t ab_host_resolve(const char *path, const char *where, ab_hostpath *out,
			agentbox_error **err)
{
	ab_hostpath h = { .fd = -1 };
	struct stat st;

	h.fd = ab_fd_lift(open(path, O_PATH | O_CLOEXEC));
	if (h.fd < 0)
		return ab_error_sys(err, errno, where, "cannot resolve '%s'",
				    path);
	if (fstat(h.fd, &st) < 0 ||
	    !path_of_fd(h.fd, &st, h.path, sizeof(h.path))) {
		int32_t rc;

		close(h.fd);
		rc = by_realpath(path, where, &h, &st, err);
		if (rc)
			return rc;
	}
	h.dev = st.st_dev;
	h.ino = st.st_ino;
	h.mode = st.st_mode;
	h.uid = st.st_uid;
	h.gid = st.st_gid;
	*out = h;
	return 0;
}

int32_t ab_host_check(const ab_hostpath *host, const char *where,
		      agentbox_error **err)
{
	/* with all below: kernel interfaces and device nodes */
	static const char *const trees[] = { "/proc", "/sys", "/dev" };
	/* themselves: they collect the sockets of every host service */
	static const char *const roots[] = { "/", "/run", "/tmp", "/var/tmp" };

	for (size_t i = 0; i < AB_ARRAY_LEN(trees); i++) {
		if (ab_path_is_below(host->path, trees[i]))
			return ab_error_set(err, AGENTBOX_EDENIED, where,
					    "'%s' of the host is never given "
					    "to a box",
					    host->path);
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(roots); i++) {
		if (strcmp(host->path, roots[i]) == 0)
			return ab_error_set(err, AGENTBOX_EDENIED, where,
					    "'%s' of the host is never given "
					    "to a box: name what is needed "
					    "below it",
					    host->path);
	}
	return 0;
}

bool ab_host_is_link(const char *p, char *buf, size_t size)
{
	ssize_t n = readlink(p, buf, size - 1);

	if (n <= 0 || (size_t)n >= size - 1)
		return false;
	buf[n] = '\0';
	return true;
}
