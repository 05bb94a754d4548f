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
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fd.h"
#include "path/lexical.h"

#define MAX_LINKS 40 /* the kernel's own bound, path_resolution(7) */

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

static void set_inode(ab_hostpath *h, const struct stat *st)
{
	h->dev = st->st_dev;
	h->ino = st->st_ino;
	h->mode = st->st_mode;
	h->uid = st->st_uid;
	h->gid = st->st_gid;
}

int ab_host_open_plain(const char *path, ab_hostpath *out)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	size_t n = strlen(path);
	struct stat st;
	int fd;

	if (ab_path_check_absolute(path, n) < 0)
		return -EINVAL;
	fd = ab_fd_lift((int)syscall(SYS_openat2, AT_FDCWD, path, &how,
				     sizeof(how)));
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0) {
		int saved = errno;

		close(fd);
		return -saved;
	}
	/* not initialised before: it is large, and asked for often */
	memcpy(out->path, path, n + 1);
	out->fd = fd;
	set_inode(out, &st);
	return 0;
}

int32_t ab_host_resolve(const char *path, const char *where, ab_hostpath *out,
			agentbox_error **err)
{
	ab_hostpath h;
	struct stat st;

	if (ab_host_open_plain(path, out) == 0)
		return 0;
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
	set_inode(&h, &st);
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

/* A path on its way: `at` is canonical, "" for the root. */
typedef struct walk {
	char at[AB_MAX_PATH], rest[2 * AB_MAX_PATH];
	unsigned links;
} walk;

/* The next component of rest; NULL at the end. */
static char *next_name(walk *w, char name[AB_MAX_NAME + 1])
{
	const char *p = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(p, "/");

	if (n == 0 || n > AB_MAX_NAME)
		return NULL;
	memcpy(name, p, n);
	name[n] = '\0';
	memmove(w->rest, p + n, strlen(p + n) + 1);
	return name;
}

/* One component further; false when there is nothing of that kind. */
static bool advance(walk *w, const char *name, char link[AB_MAX_PATH])
{
	char text[AB_MAX_PATH];
	size_t n = strlen(w->at), len;

	link[0] = '\0';
	if (strcmp(name, ".") == 0)
		return true;
	if (strcmp(name, "..") == 0) {
		char *slash = strrchr(w->at, '/');

		if (slash)
			*slash = '\0';
		return true;
	}
	if (n + strlen(name) + 2 > sizeof(w->at))
		return false;
	snprintf(w->at + n, sizeof(w->at) - n, "/%s", name);
	if (!ab_host_is_link(w->at, text, sizeof(text)))
		return true;
	memcpy(link, w->at, strlen(w->at) + 1);
	len = strlen(text);
	if (++w->links > MAX_LINKS ||
	    len + strlen(w->rest) + 2 > sizeof(w->rest))
		return false;
	/* the link's text, a slash, and what was still to be walked */
	memmove(w->rest + len + 1, w->rest, strlen(w->rest) + 1);
	memcpy(w->rest, text, len);
	w->rest[len] = '/';
	w->at[text[0] == '/' ? 0 : n] = '\0';
	return true;
}

/* The tree a box writes to in which `link` lies; NULL: none. */
static const char *writable_around(const ab_build *b, const char *link)
{
	for (size_t i = 0; i < b->writable_count; i++) {
		const char *tree = b->writable[i];

		if (strcmp(link, tree) != 0 && ab_path_is_below(link, tree))
			return tree;
	}
	return NULL;
}

static int32_t check_walk(const ab_build *b, const char *path,
			  const ab_hostpath *host, const char *where,
			  agentbox_error **err)
{
	char name[AB_MAX_NAME + 1], link[AB_MAX_PATH];
	walk w;

	/* not initialised whole: it is large */
	w.links = 0;
	w.at[0] = '\0';
	if (strlen(path) >= sizeof(w.at))
		return ab_error_set(err, AGENTBOX_ELIMIT, where,
				    "path '%s' is too long", path);
	memcpy(w.rest, path, strlen(path) + 1);
	while (next_name(&w, name)) {
		const char *tree;

		if (!advance(&w, name, link))
			break;
		tree = link[0] ? writable_around(b, link) : NULL;
		if (tree)
			return ab_error_set(err, AGENTBOX_EDENIED, where,
					    "'%s' goes through the link '%s' "
					    "in '%s', where a box can write: "
					    "name what is meant itself",
					    path, link, tree);
	}
	/* a link that was there a moment ago is not seen here any more */
	if (strcmp(w.at[0] ? w.at : "/", host->path) != 0)
		return ab_error_set(err, AGENTBOX_EDENIED, where,
				    "'%s' led to '%s' and does no more: a "
				    "link changed",
				    path, host->path);
	return 0;
}

int32_t ab_host_check_links(const ab_build *b, const char *path,
			    const ab_hostpath *host, const char *where,
			    agentbox_error **err)
{
	/* written as it is: no link was on the way; or no box makes links */
	if (strcmp(path, host->path) == 0 || b->writable_count == 0)
		return 0;
	return check_walk(b, path, host, where, err);
}

bool ab_host_is_link(const char *p, char *buf, size_t size)
{
	ssize_t n = readlink(p, buf, size - 1);

	if (n <= 0 || (size_t)n >= size - 1)
		return false;
	buf[n] = '\0';
	return true;
}
