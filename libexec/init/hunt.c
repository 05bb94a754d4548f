/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Everything below one process, where no pid namespace holds it together
 * (tiers landlock and bare): found by /proc, stopped, then killed. Stopped
 * first, because a killed process makes room for another and a stopped one
 * does not: a fork bomb stops at its own limit. It refuses to touch what is
 * not a descendant; a pidfd and the start time make sure that a number was
 * not used again in between. Spec: proc(5), pidfd_send_signal(2).
 */
#include "config.h"

#include "init.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys.h"

#define MAX_STOP_ROUNDS 64
#define MAX_SEEN 65536

typedef struct seen {
	pid_t pid, parent;
	uint64_t start;
	char state;
	bool is_below;
} seen;

typedef struct census {
	seen *list;
	size_t count, size;
} census;

/* The n-th field of proc(5) stat counted from the state, which is 0. */
static const char *field(const char *state, int n)
{
	for (; state && n > 0; n--) {
		state = strchr(state, ' ');
		state += state != NULL;
	}
	return state;
}

static bool read_stat(int proc_fd, const char *name, seen *s)
{
	char path[64], text[1024];
	const char *state, *start;
	ab_autofd int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "%.32s/stat", name);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	/* the name may hold anything, also parentheses: the last one counts */
	state = strrchr(text, ')');
	if (!state || state[1] != ' ')
		return false;
	state += 2;
	start = field(state, 19);
	if (!start)
		return false;
	s->state = *state;
	s->parent = (pid_t)strtol(field(state, 1), NULL, 10);
	s->start = strtoull(start, NULL, 10);
	return true;
}

static bool add(census *c, const seen *s)
{
	if (c->count == c->size) {
		size_t size = c->size ? c->size * 2 : 256;
		seen *list = size > MAX_SEEN
				     ? NULL
				     : realloc(c->list, size * sizeof(*list));

		if (!list)
			return false;
		c->list = list;
		c->size = size;
	}
	c->list[c->count++] = *s;
	return true;
}

/* False: there may be more. */
static bool count_all(census *c, int proc_fd)
{
	DIR *dir = ab_fd_open_list(proc_fd, ".");
	int error = dir ? 0 : errno;
	struct dirent *e;

	c->count = 0;
	while (dir && (e = ab_fd_next(dir, &error))) {
		seen s = {0};
		char *end;
		long pid = strtol(e->d_name, &end, 10);

		if (*end || pid <= 1 || !read_stat(proc_fd, e->d_name, &s))
			continue;
		s.pid = (pid_t)pid;
		if (!add(c, &s)) {
			error = ENOMEM;
			break;
		}
	}
	if (dir)
		closedir(dir);
	return !error;
}

static int compare(const void *a, const void *b)
{
	pid_t x = ((const seen *)a)->pid, y = ((const seen *)b)->pid;

	return (x > y) - (x < y);
}

/* A child mostly has a higher number than its parent: few passes. */
static void mark_below(census *c, pid_t top)
{
	bool has_changed = true;

	if (c->count)
		qsort(c->list, c->count, sizeof(*c->list), compare);
	while (has_changed) {
		has_changed = false;
		for (size_t i = 0; i < c->count; i++) {
			seen *s = &c->list[i], key = {.pid = s->parent};
			const seen *up;

			if (s->is_below || s->pid == top)
				continue;
			up = bsearch(&key, c->list, c->count, sizeof(key),
				     compare);
			s->is_below = s->parent == top ||
				      (up && up->is_below);
			has_changed |= s->is_below;
		}
	}
}

static void send_signal(int proc_fd, const seen *s, int signum)
{
	ab_autofd int pidfd = ab_sys_pidfd_open(s->pid);
	char name[16];
	seen now;

	snprintf(name, sizeof(name), "%d", (int)s->pid);
	if (pidfd >= 0 && read_stat(proc_fd, name, &now) &&
	    now.start == s->start)
		(void)ab_sys_pidfd_kill(pidfd, signum);
}

static bool is_running(const seen *s)
{
	return s->is_below && !strchr("TtZXx", s->state);
}

static size_t stop_running(const census *c, int proc_fd)
{
	size_t n = 0;

	for (size_t i = 0; i < c->count; i++) {
		if (!is_running(&c->list[i]))
			continue;
		send_signal(proc_fd, &c->list[i], SIGSTOP);
		n++;
	}
	return n;
}

bool init_is_below(int proc_fd, pid_t pid, pid_t top)
{
	char name[16];
	seen s = {.parent = pid};

	for (int i = 0; i < MAX_SEEN && s.parent > 1; i++) {
		if (s.parent == top)
			return true;
		snprintf(name, sizeof(name), "%d", (int)s.parent);
		if (!read_stat(proc_fd, name, &s))
			return false;
	}
	return false;
}

void init_kill_below(pid_t top)
{
	ab_autofd int proc_fd =
		open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	census c = {0};

	if (proc_fd < 0)
		return;
	for (int i = 0; i < MAX_STOP_ROUNDS; i++) {
		bool is_whole = count_all(&c, proc_fd);

		mark_below(&c, top);
		if (stop_running(&c, proc_fd) == 0 && is_whole)
			break;
	}
	for (size_t i = 0; i < c.count; i++) {
		if (c.list[i].is_below)
			send_signal(proc_fd, &c.list[i], SIGKILL);
	}
	free(c.list);
}
