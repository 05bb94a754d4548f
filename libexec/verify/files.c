/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What can be reached by a path: files, sockets, FIFOs and devices.
 * Spec: probe.h.
 */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_ENTRIES 2000000u
#define MAX_WAITING (64u << 20) /* bytes of names */
#define MAX_TOLD 16
#define NODE_FILES 24
#define NODE_DRAWS 4096
#define PLANT_TRIES 8

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

/* Drawn, so that nobody can have taken it before. */
static bool own_name(const char *dir, char *out, size_t size)
{
	uint64_t drawn;

	if (getrandom(&drawn, sizeof(drawn), 0) != sizeof(drawn))
		return false;
	snprintf(out, size, "%s/.agentbox-verify-%016" PRIx64, dir, drawn);
	return true;
}

/* A new file in a directory, which goes at once. */
static long do_make(char **argv)
{
	char path[4200];
	int fd;

	if (!own_name(argv[0], path, sizeof(path)))
		return PROBE_UNKNOWN;
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
 * A node where a file can be made. The agent owns the directory, sees what is
 * made there and can close it for the node alone: so what comes next is drawn,
 * and it would have to guess right NODE_FILES times.
 */
static long try_node(char *dir)
{
	char path[4200];
	unsigned files = 0, draws = 0;
	uint8_t drawn;
	long r;

	while (files < NODE_FILES && draws++ < NODE_DRAWS) {
		if (getrandom(&drawn, 1, 0) != 1)
			return PROBE_UNKNOWN;
		if (drawn & 1) {
			files += do_make(&dir) == 0;
			continue;
		}
		if (!own_name(dir, path, sizeof(path)))
			return PROBE_UNKNOWN;
		r = probe_result(mknod(path, S_IFCHR | 0600, makedev(0, 0)));
		if (r >= 0)
			unlink(path);
		if (r != -EACCES)
			return r;
	}
	return files < NODE_FILES || draws == files ? PROBE_UNKNOWN : -EACCES;
}

/*
 * A character device 0:0, in the first of the directories that a file can be
 * made in: the kernel lets anyone make that one (overlayfs' whiteout), so only
 * Landlock refuses it. landlock(7), LANDLOCK_ACCESS_FS_MAKE_CHAR.
 */
static long do_node(char **argv)
{
	for (; *argv; argv++) {
		if (do_make(argv) < 0)
			continue;
		probe_tell("in %s", *argv);
		return try_node(*argv);
	}
	probe_tell("no file can be made in any directory");
	return PROBE_UNKNOWN;
}

/* Whatever kind of socket it is: only "nobody is there" means not reached. */
static long try_connect(const char *path)
{
	static const int kinds[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	long r = -ENAMETOOLONG;

	if (strlen(path) >= sizeof(a.sun_path))
		return r;
	strcpy(a.sun_path, path);
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

static long do_unix(char **argv)
{
	return try_connect(argv[0]);
}

/*
 * What a walk looks for, and how much of it there is. Directories wait by name
 * and none is held open meanwhile: a tree may be deeper than a process may
 * have descriptors.
 */
typedef struct walk walk;
struct walk {
	bool (*is_wanted)(walk *w, int dir_fd, const struct dirent *e,
			  const char *path);
	char **allowed;
	char **skipped; /* trees that are not looked at */
	char **waiting; /* each owned */
	size_t count, room, bytes;
	unsigned entries, found, unread;
};

/* One to a line: a name may hold anything but '/'. */
static void tell_path(walk *w, const char *path)
{
	char line[4200];

	if (w->found++ >= MAX_TOLD)
		return;
	snprintf(line, sizeof(line), "%s", path);
	for (char *p = line; *p; p++)
		*p = *p == '\n' ? '?' : *p;
	probe_tell("%s%s", w->found > 1 ? "\n" : "", line);
}

/*
 * Nothing below it is reached by any name, and nobody in here can change that.
 * What can be searched and not listed, or is ours to open, is not closed.
 */
static bool is_closed(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && st.st_uid != geteuid() &&
	       access(path, X_OK) < 0 && errno == EACCES;
}

/* False: there is too much of it, or no memory. */
static bool wait_for(walk *w, const char *path)
{
	size_t n = strlen(path) + 1, room = w->room ? 2 * w->room : 64;
	char **more;

	if (w->bytes + n > MAX_WAITING)
		return false;
	if (w->count == w->room) {
		more = realloc(w->waiting, room * sizeof(*more));
		if (!more)
			return false;
		w->waiting = more;
		w->room = room;
	}
	w->waiting[w->count] = strdup(path);
	if (!w->waiting[w->count])
		return false;
	w->count++;
	w->bytes += n;
	return true;
}

static void walk_entry(walk *w, DIR *dir, const struct dirent *e,
		       const char *path)
{
	char below[4200];
	int n;

	if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
	    w->entries++ >= MAX_ENTRIES)
		return;
	n = snprintf(below, sizeof(below), "%s/%s",
		     strcmp(path, "/") ? path : "", e->d_name);
	if (n < 0 || (size_t)n >= sizeof(below)) {
		w->unread++;
		return;
	}
	if (!strcmp(below, "/proc"))
		return;
	for (char **skip = w->skipped; skip && *skip; skip++) {
		if (!strcmp(*skip, below))
			return;
	}
	if (w->is_wanted(w, dirfd(dir), e, below)) {
		tell_path(w, below);
		return;
	}
	if (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN)
		w->unread += !wait_for(w, below);
}

/* Takes fd. */
static void walk_dir(walk *w, int fd, const char *path)
{
	DIR *dir = fdopendir(fd);
	struct dirent *e;

	if (!dir) {
		w->unread++;
		close(fd);
		return;
	}
	while (errno = 0, e = readdir(dir))
		walk_entry(w, dir, e, path);
	if (errno)
		w->unread++;
	closedir(dir);
}

/* By its whole name: a shield cannot see which directory ours is. */
static void walk_next(walk *w)
{
	char *path = w->waiting[--w->count];
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	w->bytes -= strlen(path) + 1;
	if (fd >= 0)
		walk_dir(w, fd, path);
	else if (errno != ENOTDIR && errno != ENOENT && errno != ELOOP &&
		 !is_closed(path))
		w->unread++;
	free(path);
}

static long walk_from(walk *w, const char *top)
{
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is_whole;

	if (fd < 0)
		return -errno;
	walk_dir(w, fd, top);
	while (w->count)
		walk_next(w);
	free(w->waiting);
	is_whole = !w->unread && w->entries < MAX_ENTRIES;
	if (!is_whole && !w->found) {
		probe_tell("not everything could be looked at");
		return PROBE_UNKNOWN;
	}
	if (!is_whole || w->found > MAX_TOLD)
		probe_tell("%s", PROBE_MORE);
	return w->found ? 0 : -ENOENT;
}

/* A path of it may be longer than an address, so it is named by a descriptor:
   unix(7), proc_pid_fd(5). */
static bool answers(walk *w, const char *path)
{
	char by_fd[64];
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	long r;

	if (fd < 0)
		return false;
	snprintf(by_fd, sizeof(by_fd), "/proc/self/fd/%d", fd);
	r = try_connect(access("/proc/self/fd", F_OK) ? path : by_fd);
	close(fd);
	w->unread += r == -ENAMETOOLONG;
	return r == 0;
}

/* A socket that somebody answers on, or a FIFO that can be written to. */
static bool is_channel(walk *w, int dir_fd, const struct dirent *e,
		       const char *path)
{
	struct stat st;
	int fd;

	if (e->d_type != DT_SOCK && e->d_type != DT_FIFO &&
	    e->d_type != DT_UNKNOWN)
		return false;
	if (fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	if (S_ISSOCK(st.st_mode))
		return answers(w, path);
	if (!S_ISFIFO(st.st_mode))
		return false;
	fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool is_device(walk *w, int dir_fd, const struct dirent *e,
		      const char *path)
{
	struct stat st;

	if (e->d_type != DT_CHR && e->d_type != DT_BLK &&
	    e->d_type != DT_UNKNOWN)
		return false;
	if (fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
	    (!S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode)))
		return false;
	for (char **allowed = w->allowed; *allowed; allowed++) {
		if (!strcmp(*allowed, path))
			return false;
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

/* The directories above a file, as far as they can be made. */
static void make_above(const char *path)
{
	char above[4200];

	snprintf(above, sizeof(above), "%s", path);
	for (char *p = strchr(above + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(above, 0755);
		*p = '/';
	}
}

/* Empty files that stay; a directory may be taken away while one is made. */
static long do_plant(char **argv)
{
	for (; *argv; argv++) {
		int fd = -1;

		for (int i = 0; fd < 0 && i < PLANT_TRIES; i++) {
			make_above(*argv);
			fd = open(*argv, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		}
		if (fd < 0) {
			probe_tell("%s: %s", *argv, strerror(errno));
			return -errno;
		}
		close(fd);
	}
	return 0;
}

const probe_op probe_files[] = {
	{"read", 1, do_read},	  {"write", 1, do_write},
	{"make", 1, do_make},	  {"node", 1, do_node},
	{"change", 1, do_change},   {"plant", 1, do_plant},
	{"unix", 1, do_unix},	  {"channels", 1, do_channels},
	{"devices", 1, do_devices}, {NULL, 0, NULL},
};
