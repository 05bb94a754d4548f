/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Directories for one box below a cgroup the probe found writable. The name
 * says whose it is: agentbox-<box id>-<pid namespace>-<pid>-<start time>.
 *
 * Refuses to touch a directory of a living owner, of an owner in another pid
 * namespace (it cannot be looked up), one whose number is now a process of
 * another time namespace, or one that still holds processes (rmdir(2) itself
 * refuses that). Spec: DESIGN.md section 6;
 * Documentation/admin-guide/cgroup-v1/ and cgroup-v2.rst.
 */
#include "config.h"

#include "walls/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fd.h"
#include "base/hash.h"

#define PREFIX "agentbox-"
#define MAX_ENTRIES 65536

/* Start time in clock ticks, field 22 of proc(5) stat; 0: no such process. */
static uint64_t start_time(const char *pid)
{
	char path[64], text[1024];
	ab_autofd int fd = -1;
	ssize_t n;
	char *p;

	if (snprintf(path, sizeof(path), "/proc/%s/stat", pid) >=
	    (int)sizeof(path))
		return 0;
	fd = ab_fd_lift(open(path, O_RDONLY | O_CLOEXEC));
	n = fd < 0 ? -1 : ab_fd_read_full(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	/* the name in brackets may hold anything: count from its end */
	p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

/* Its clock may be another than ours: time_namespaces(7). Then it has read
   another start time of itself than we do. */
static bool has_other_clock(const char *pid)
{
	struct stat ours, its;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/ns/time", pid);
	return stat("/proc/self/ns/time", &ours) == 0 &&
	       stat(path, &its) == 0 && its.st_ino != ours.st_ino;
}

static uint64_t own_pidns(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0;
}

int ab_cgroup_name(const char *box_id, char *out, size_t size)
{
	int n = snprintf(out, size, PREFIX "%s-%" PRIu64 "-%ld-%" PRIu64,
			 box_id, own_pidns(), (long)getpid(),
			 start_time("self"));

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* One number of the name, then `end`; NULL when it is not there. */
static const char *take_number(const char *p, char end, uint64_t *out)
{
	char *stop;

	if (!p || *p < '0' || *p > '9')
		return NULL;
	errno = 0;
	*out = strtoull(p, &stop, 10);
	if (errno || *stop != end)
		return NULL;
	return end ? stop + 1 : stop;
}

bool ab_cgroup_is_stale(const char *name)
{
	const size_t id_end = strlen(PREFIX) + AB_ID_SIZE - 1;
	uint64_t ns, pid, start, self;
	char text[32];
	const char *p;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 ||
	    strlen(name) <= id_end || name[id_end] != '-')
		return false;
	self = own_pidns();
	p = take_number(name + id_end + 1, '-', &ns);
	p = take_number(p, '-', &pid);
	p = take_number(p, '\0', &start);
	if (!p || self == 0 || ns != self || start == 0)
		return false;
	snprintf(text, sizeof(text), "%" PRIu64, pid);
	/* a recycled pid has another start time */
	return start_time(text) != start && !has_other_clock(text);
}

void ab_cgroup_collect(const char *parent)
{
	DIR *dir = opendir(parent);
	struct dirent *e;

	if (!dir)
		return;
	for (int i = 0; i < MAX_ENTRIES && (e = ab_fd_next(dir, NULL)); i++) {
		if (ab_cgroup_is_stale(e->d_name))
			unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
}

int ab_cgroup_make(const char *parent, const char *name, char *out, size_t size)
{
	int n = snprintf(out, size, "%s/%s", parent, name);

	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	return mkdir(out, 0755) == 0 ? 0 : -errno;
}

int ab_cgroup_set(const char *dir, const char *file, const char *value)
{
	char path[4400];
	ab_autofd int fd = -1;
	int n = snprintf(path, sizeof(path), "%s/%s", dir, file);

	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	fd = ab_fd_lift(open(path, O_WRONLY | O_CLOEXEC));
	if (fd < 0)
		return -errno;
	/* one write: the kernel reads a cgroup file per write(2) */
	return write(fd, value, strlen(value)) == (ssize_t)strlen(value) ?
		       0 :
		       -errno;
}
