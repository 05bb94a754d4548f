/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What can be reached by a path: files, sockets, FIFOs and devices.
 * Spec: probe.h.
 */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_ENTRIES 2000000u
#define MAX_DEPTH 64
#define MAX_TOLD 16

static long try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static long do_read(char **argv)
{
	return try_open(argv[0], O_RDONLY);
}

/* Opened for writing and not written to. */
static long do_write(char **argv)
{
	return try_open(argv[0], O_WRONLY);
}

static void own_name(const char *dir, char *out, size_t size)
{
	snprintf(out, size, "%s/.agentbox-verify-%d", dir, (int)getpid());
}

/* A new file in a directory, which goes at once. */
static long do_make(char **argv)
{
	char path[4200];
	int fd;

	own_name(argv[0], path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	close(fd);
	unlink(path);
	return 0;
}

/* The one of the two that what is there allows. */
static long do_change(char **argv)
{
	struct stat st;

	if (stat(argv[0], &st))
		return -errno;
	return S_ISDIR(st.st_mode) ? do_make(argv) : do_write(argv);
}

/*
 * A character device 0:0, in the first of the directories that a file can be
 * made in: the kernel lets anyone make that one (overlayfs' whiteout), so only
 * Landlock refuses it. landlock(7), LANDLOCK_ACCESS_FS_MAKE_CHAR.
 */
static long do_node(char **argv)
{
	char path[4200];
	long r = PROBE_UNKNOWN;

	for (; *argv; argv++) {
		if (do_make(argv) < 0)
			continue;
		own_name(*argv, path, sizeof(path));
		r = probe_result(mknod(path, S_IFCHR | 0600, makedev(0, 0)));
		if (r >= 0)
			unlink(path);
		probe_tell("in %s", *argv);
		return r;
	}
	probe_tell("no file can be made in any directory");
	return r;
}

/* Whatever kind of socket it is: only "nobody is there" means not reached. */
static long do_unix(char **argv)
{
	static const int kinds[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	long r = -ENAMETOOLONG;

	if (strlen(argv[0]) >= sizeof(a.sun_path))
		return r;
	strcpy(a.sun_path, argv[0]);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		int fd = socket(AF_UNIX, kinds[i] | SOCK_CLOEXEC, 0);

		if (fd < 0)
			return -errno;
		r = probe_result(connect(fd, (struct sockaddr *)&a,
					 sizeof(a)));
		close(fd);
		if (r != -EPROTOTYPE)
			return r;
	}
	return 0;
}

/* What a walk looks for, and how much of it there is. */
typedef struct walk {
	int (*is_wanted)(int dir_fd, const struct dirent *e, char **allowed,
			 const char *path);
	char **allowed;
	char **skipped; /* trees that are not looked at */
	unsigned entries, found, unread;
} walk;

static void walk_dir(walk *w, int fd, const char *path, int depth);

static void walk_entry(walk *w, DIR *dir, const struct dirent *e,
		       const char *path, int depth)
{
	char below[4200];
	int fd;

	if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
	    w->entries++ >= MAX_ENTRIES)
		return;
	snprintf(below, sizeof(below), "%s/%s", strcmp(path, "/") ? path : "",
		 e->d_name);
	if (!strcmp(below, "/proc"))
		return;
	for (char **skip = w->skipped; skip && *skip; skip++) {
		if (!strcmp(*skip, below))
			return;
	}
	if (w->is_wanted(dirfd(dir), e, w->allowed, below)) {
		if (w->found++ < MAX_TOLD)
			probe_tell("%s%s", w->found > 1 ? " " : "", below);
		return;
	}
	if (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN)
		return;
	fd = openat(dirfd(dir), e->d_name,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		walk_dir(w, fd, below, depth + 1);
	else if (errno != EACCES && errno != ENOTDIR && errno != ENOENT &&
		 errno != ELOOP && errno != EPERM)
		w->unread++;
}

/* Takes fd. */
static void walk_dir(walk *w, int fd, const char *path, int depth)
{
	DIR *dir = depth > MAX_DEPTH ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir) {
		w->unread++;
		close(fd);
		return;
	}
	while ((e = readdir(dir)))
		walk_entry(w, dir, e, path, depth);
	closedir(dir);
}

static long walk_from(walk *w, const char *top)
{
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	walk_dir(w, fd, top, 0);
	if (w->found) {
		if (w->found > MAX_TOLD)
			probe_tell(" and %u more", w->found - MAX_TOLD);
		return 0;
	}
	if (w->unread || w->entries >= MAX_ENTRIES) {
		probe_tell("not everything could be looked at");
		return PROBE_UNKNOWN;
	}
	return -ENOENT;
}

/* A socket that somebody answers on, or a FIFO that can be written to. */
static int is_channel(int dir_fd, const struct dirent *e, char **allowed,
		      const char *path)
{
	struct stat st;
	char *argv[] = {(char *)path, NULL};

	(void)allowed;
	if (e->d_type != DT_SOCK && e->d_type != DT_FIFO &&
	    e->d_type != DT_UNKNOWN)
		return 0;
	if (fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (S_ISFIFO(st.st_mode))
		return try_open(path, O_WRONLY) == 0;
	return S_ISSOCK(st.st_mode) && do_unix(argv) == 0;
}

static int is_device(int dir_fd, const struct dirent *e, char **allowed,
		     const char *path)
{
	struct stat st;

	if (e->d_type != DT_CHR && e->d_type != DT_BLK &&
	    e->d_type != DT_UNKNOWN)
		return 0;
	if (fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
	    (!S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode)))
		return 0;
	for (; *allowed; allowed++) {
		if (!strcmp(*allowed, path))
			return 0;
	}
	/* terminals of the box's own: pts(4) */
	return strncmp(path, "/dev/pts/", 9) != 0;
}

static long do_channels(char **argv)
{
	walk w = {.is_wanted = is_channel, .skipped = argv + 1};

	return walk_from(&w, argv[0]);
}

static long do_devices(char **argv)
{
	walk w = {.is_wanted = is_device, .allowed = argv + 1};

	return walk_from(&w, argv[0]);
}

const probe_op probe_files[] = {
	{"read", 1, do_read},	  {"write", 1, do_write},
	{"make", 1, do_make},	  {"node", 1, do_node},
	{"change", 1, do_change},
	{"unix", 1, do_unix},	  {"channels", 1, do_channels},
	{"devices", 1, do_devices}, {NULL, 0, NULL},
};
