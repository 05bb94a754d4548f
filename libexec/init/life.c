/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Is anybody of a box still there whose holder is gone? Its PID 1 ends with
 * the holder and all others with that; but the agent may have taken the
 * processor from it, or be held up by a disk, and who is killed goes on for as
 * long as that takes. The kernel makes a PID 1 a zombie when everybody else in
 * its namespace has been taken away, and a pidfd of it tells of that: so the
 * end of that one process is the end of all. Its files are closed before, so a
 * lock would not do.
 *
 * A number may be another's by now, so it is known by the time it was started,
 * within one start of the machine, in one pid namespace. In another one, as in
 * a container that was started again, nobody can tell. In another time
 * namespace it reads as another time, so whoever has the number may be it.
 * Spec: pid_namespaces(7), time_namespaces(7), pidfd_open(2), proc(5) stat and
 * boot_id.
 */
#include "config.h"

#include "watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys.h"

/* A small file of proc(5) as text; 0 or -errno. */
static int read_text(const char *path, char *text, size_t size)
{
	ab_autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (n <= 0)
		return fd < 0 || n < 0 ? -errno : -EIO;
	text[n] = '\0';
	return 0;
}

/* The 22nd field; the second one may hold anything, up to the last ")". */
static int read_start(pid_t pid, uint64_t *started)
{
	char path[64], text[1024];
	const char *at;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	r = read_text(path, text, sizeof(text));
	if (r)
		return r;
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return -EIO;
	*started = strtoull(at, NULL, 10);
	return *started ? 0 : -EIO;
}

static int read_place(life *out)
{
	struct stat st;
	char self[32];
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);
	int r;

	/* else its numbers are those of another namespace */
	self[n > 0 ? n : 0] = '\0';
	if (atoi(self) != getpid())
		return -EXDEV;
	r = read_text("/proc/sys/kernel/random/boot_id", out->boot,
		      sizeof(out->boot));
	if (r)
		return r;
	out->boot[strcspn(out->boot, "\n")] = '\0';
	if (stat("/proc/self/ns/pid", &st))
		return -errno;
	out->pid_ns = st.st_ino;
	/* of an old kernel there is one clock only */
	if (stat("/proc/self/ns/time", &st) == 0)
		out->time_ns = st.st_ino;
	else if (errno != ENOENT)
		return -errno;
	return 0;
}

int init_see_life(pid_t pid, life *out)
{
	int r;

	*out = (life){.pid = (uint32_t)pid};
	r = read_place(out);
	return r ? r : read_start(pid, &out->started);
}

int init_open_life(const life *l)
{
	uint64_t started = 0;
	life here = {.pid = 0};
	int fd, r = read_place(&here);

	if (r)
		return r;
	if (strcmp(here.boot, l->boot) != 0)
		return -ESRCH;
	if (here.pid_ns != l->pid_ns)
		return -EXDEV;
	fd = ab_fd_lift(ab_sys_pidfd_open((pid_t)l->pid));
	if (fd < 0)
		return fd;
	/* what is hidden may be it */
	if (here.time_ns != l->time_ns ||
	    read_start((pid_t)l->pid, &started) || started == l->started)
		return fd;
	close(fd);
	return -ESRCH;
}
