/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The leak checker: compares the file descriptors, living descendants and
 * mounts of this process with what it had before. It judges the process it
 * runs in; what a forked test leaves behind reaches it because it is a
 * subreaper. Memory is left to the sanitizers. Spec: tests/lib/abtest.h.
 */
#include "config.h"

#include "abtest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_FDS 65536
#define GRACE_MS 1000

struct ab_leak_mark {
	unsigned char fds[MAX_FDS / 8];
	char *mounts;
	pid_t pid;
};

struct report {
	char *text;
	size_t size, used, count;
};

__attribute__((format(printf, 2, 3))) static void
say(struct report *r, const char *fmt, ...)
{
	va_list ap;
	int n;

	r->count++;
	if (r->used >= r->size)
		return;
	va_start(ap, fmt);
	n = vsnprintf(r->text + r->used, r->size - r->used, fmt, ap);
	va_end(ap);
	if (n > 0)
		r->used += (size_t)n;
}

static char *slurp(const char *path)
{
	size_t used = 0, cap = 1 << 16;
	char *text = malloc(cap);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	while (text && fd >= 0) {
		ssize_t n = read(fd, text + used, cap - used - 1);

		if (n <= 0)
			break;
		used += (size_t)n;
		if (used + 1 == cap) {
			char *more = realloc(text, cap *= 2);

			if (!more)
				free(text);
			text = more;
		}
	}
	if (fd >= 0)
		close(fd);
	if (text)
		text[used] = 0;
	return text;
}

static bool fd_marked(const ab_leak_mark *mark, long fd)
{
	return fd >= MAX_FDS || (mark->fds[fd / 8] >> (fd % 8) & 1);
}

/* Calls back for each open fd but the one that lists them. */
static void each_fd(void (*fn)(long fd, void *data), void *data)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		char *end;
		long fd = strtol(entry->d_name, &end, 10);

		if (*end == 0 && end != entry->d_name && fd != dirfd(dir))
			fn(fd, data);
	}
	closedir(dir);
}

static void mark_fd(long fd, void *data)
{
	ab_leak_mark *mark = data;

	if (fd < MAX_FDS)
		mark->fds[fd / 8] |= (unsigned char)(1u << (fd % 8));
}

ab_leak_mark *ab_leak_mark_new(void)
{
	ab_leak_mark *mark = calloc(1, sizeof(*mark));

	if (!mark)
		return NULL;
	mark->pid = getpid();
	mark->mounts = slurp("/proc/self/mountinfo");
	each_fd(mark_fd, mark);
	return mark;
}

void ab_leak_mark_free(ab_leak_mark *mark)
{
	if (mark)
		free(mark->mounts);
	free(mark);
}

struct fd_check {
	const ab_leak_mark *mark;
	struct report *report;
};

static void check_fd(long fd, void *data)
{
	struct fd_check *check = data;
	char link[64], target[256];

	if (fd_marked(check->mark, fd))
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%ld", fd);
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	target[n > 0 ? n : 0] = 0;
	say(check->report, "leaked fd %ld (%s)\n", fd, target);
}

/* Lines of `now` that `then` lacks. */
static void check_mounts(const char *then, char *now, struct report *r)
{
	char *save = NULL;

	if (!then || !now)
		return;
	for (char *line = strtok_r(now, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		/* mount id: the first field; unique while it is mounted */
		size_t id = strcspn(line, " ");
		const char *at = then;
		bool found = false;

		while (at && *at && !found) {
			found = strncmp(at, line, id + 1) == 0;
			at = strchr(at, '\n');
			at = at ? at + 1 : NULL;
		}
		if (!found)
			say(r, "leaked mount: %s\n", line);
	}
}

/* Reap what has ended; a descendant that lives past the grace is a leak. */
static void check_children(struct report *r)
{
	const struct timespec nap = { .tv_nsec = 10 * 1000 * 1000 };

	for (int waited = 0;; waited += 10) {
		pid_t pid = waitpid(-1, NULL, WNOHANG | __WALL);

		if (pid < 0)
			return;
		if (pid > 0)
			continue;
		if (waited >= GRACE_MS)
			break;
		nanosleep(&nap, NULL);
	}
	say(r, "leaked a living child or descendant\n");
}

size_t ab_leak_report(const ab_leak_mark *mark, char *text, size_t size)
{
	struct report r = { .text = text, .size = size };
	struct fd_check check = { .mark = mark, .report = &r };

	if (size)
		text[0] = 0;
	each_fd(check_fd, &check);
	check_children(&r);
	char *now = slurp("/proc/self/mountinfo");

	check_mounts(mark->mounts, now, &r);
	free(now);
	return r.count;
}

static ab_leak_mark *process_mark;

static void at_exit(void)
{
	char text[4096];

	/* A forked test is judged by its fixture, the program here. */
	if (!process_mark || process_mark->pid != getpid())
		return;
	size_t n = ab_leak_report(process_mark, text, sizeof(text));

	ab_leak_mark_free(process_mark);
	process_mark = NULL;
	if (n == 0)
		return;
	fprintf(stderr, "leak checker: %s", text);
	fflush(NULL);
	_exit(99);
}

/* UNIT_LIBS links this by name, so no program has to ask for it. */
void ab_leak_checker(void);

__attribute__((constructor)) void ab_leak_checker(void)
{
	if (process_mark)
		return;
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	process_mark = ab_leak_mark_new();
	atexit(at_exit);
}
