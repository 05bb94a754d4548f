/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Moving a protected name that appeared out of the workspace, into a
 * directory only the host sees. Renamed where that is possible, else copied
 * and removed; links are moved as links, never followed; FIFOs, sockets and
 * devices are only removed. What cannot be moved is reported as unprotected,
 * never left in silence. Spec: DESIGN.md section 6, sandbox cases 2, 11, 13.
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

#define MAX_COPY (64ull << 20) /* bytes of one quarantined tree */
#define MAX_COPY_ENTRIES 10000u

typedef struct budget {
	uint64_t bytes;
	uint32_t entries;
} budget;

static int copy_entry(int from, const char *name, int to, const char *as,
		      unsigned depth, budget *left);

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

/* A file of mode 0 is the agent's as well. */
static int open_to_read(int from, const char *name)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	int fd = openat(from, name, flags);
	ab_autofd int at = -1;
	char proc[32];
	struct stat st;

	if (fd >= 0 || errno != EACCES)
		return fd;
	at = init_open_beneath(from, name, O_NOFOLLOW);
	if (at < 0 || fstat(at, &st) || !S_ISREG(st.st_mode)) {
		errno = EACCES;
		return -1;
	}
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", at);
	(void)chmod(proc, 0600);
	return openat(from, name, flags);
}

static int copy_file(int from, const char *name, int to, const char *as,
		     budget *left)
{
	ab_autofd int in = open_to_read(from, name);
	ab_autofd int out = -1;
	char buffer[16384];
	struct stat st;
	ssize_t n;

	if (in < 0 || fstat(in, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ESTALE;
	out = openat(to, as, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0)
		return -errno;
	while ((n = read(in, buffer, sizeof(buffer))) > 0) {
		int r;

		if ((uint64_t)n > left->bytes)
			return -EFBIG;
		left->bytes -= (uint64_t)n;
		r = ab_fd_write_full(out, buffer, (size_t)n);
		if (r)
			return r;
	}
	return n < 0 ? -errno : 0;
}

static int copy_link(int from, const char *name, int to, const char *as)
{
	char text[AB_MAX_PATH];
	ssize_t n = readlinkat(from, name, text, sizeof(text) - 1);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	return symlinkat(text, to, as) ? -errno : 0;
}

static int copy_dir(int from, const char *name, int to, const char *as,
		    unsigned depth, budget *left)
{
	ab_autofd int in = init_open_beneath(from, name,
					     O_DIRECTORY | O_NOFOLLOW);
	ab_autofd int out = -1;
	struct dirent *e;
	DIR *dir;
	int fd, r = 0;

	if (in < 0)
		return in;
	init_make_passable(in);
	if (mkdirat(to, as, 0700))
		return -errno;
	out = init_open_beneath(to, as, O_DIRECTORY | O_NOFOLLOW);
	fd = openat(in, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir || out < 0) {
		if (dir)
			closedir(dir);
		return out < 0 ? out : -EACCES;
	}
	while (r == 0 && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			r = copy_entry(in, e->d_name, out, e->d_name,
				       depth + 1, left);
	}
	closedir(dir);
	return r;
}

static int copy_entry(int from, const char *name, int to, const char *as,
		      unsigned depth, budget *left)
{
	struct stat st;

	if (depth > AB_MAX_SCAN_DEPTH || left->entries-- == 0)
		return -EFBIG;
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(st.st_mode))
		return copy_dir(from, name, to, as, depth, left);
	if (S_ISLNK(st.st_mode))
		return copy_link(from, name, to, as);
	if (S_ISREG(st.st_mode))
		return copy_file(from, name, to, as, left);
	return 0;
}

static int remove_entry(int dir_fd, const char *name, unsigned depth)
{
	ab_autofd int at = -1;
	struct dirent *e;
	DIR *dir;
	int fd, r = 0;

	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	if (depth > AB_MAX_SCAN_DEPTH)
		return -EFBIG;
	at = init_open_beneath(dir_fd, name, O_DIRECTORY | O_NOFOLLOW);
	if (at < 0)
		return at;
	init_make_passable(at);
	fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return -errno;
	while (r == 0 && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			r = remove_entry(at, e->d_name, depth + 1);
	}
	closedir(dir);
	if (r)
		return r;
	return unlinkat(dir_fd, name, AT_REMOVEDIR) ? -errno : 0;
}

static int move(watcher *w, int parent, const char *name, const char *as)
{
	budget left = {.bytes = MAX_COPY, .entries = MAX_COPY_ENTRIES};
	ab_autofd int self = -1;
	int r;

	if (ab_sys_rename_new(parent, name, w->quarantine_fd, as) == 0)
		return 0;
	if (errno == EACCES) {
		/* a directory's ".." changes, so it must be writable itself */
		self = init_open_beneath(parent, name,
					 O_DIRECTORY | O_NOFOLLOW);
		if (self >= 0)
			init_make_passable(self);
		if (ab_sys_rename_new(parent, name, w->quarantine_fd, as) == 0)
			return 0;
	}
	if (errno != EXDEV)
		return -errno;
	r = copy_entry(parent, name, w->quarantine_fd, as, 0, &left);
	/* what was there before is not ours to remove */
	if (r == -EEXIST)
		return r;
	if (r) {
		(void)remove_entry(w->quarantine_fd, as, 0);
		return r;
	}
	return remove_entry(parent, name, 0);
}

static bool is_there(int parent, const char *name)
{
	struct stat st;

	return parent >= 0 &&
	       (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
		errno != ENOENT);
}

void init_quarantine(watcher *w, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char as[AB_MAX_NAME + 1], where[AB_MAX_PATH + AB_MAX_NAME + 2];
	ab_autofd int parent = init_open_parent(w, path);
	int r = parent < 0 ? parent : -EEXIST;

	while (r == -EEXIST && w->serial < UINT32_MAX) {
		snprintf(as, sizeof(as), "%06u-%.200s", ++w->serial, name);
		r = move(w, parent, name, as);
	}
	/* the agent removed it itself; or it is the quarantine that is gone */
	if (r == -ENOENT && !is_there(parent, name))
		return;
	if (r) {
		init_fail_path(w, path, -r);
		return;
	}
	w->quarantined++;
	snprintf(where, sizeof(where), "%s/%s", w->box->plan.quarantine_host,
		 as);
	init_send_event(w->box->control_fd, AB_MSG_EVENT, AB_EVENT_QUARANTINED,
			path, where);
}
