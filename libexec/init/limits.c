/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Polled limits: memory and processes of the whole box, counted from the
 * box's own /proc four times a second. A soft wall: a process can pass it
 * for one interval, and the limits report says so. Used only when the plan
 * asks, because nothing harder was available. Spec: DESIGN.md section 6.
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

#include "pid1.h"

#define INTERVAL_NS 250000000ull

typedef struct usage {
	uint64_t bytes, pids;
	pid_t largest;
	uint64_t largest_bytes;
} usage;

void init_prepare_polling(pid_one *one)
{
	const ab_plan *p = &one->box->plan;

	one->box->proc_fd = -1;
	if (!p->polled_memory && !p->polled_pids)
		return;
	/* without the box's own /proc the count would be the host's */
	if (!(one->box->walls & AB_WALL_PROC)) {
		init_note(one->box, "polled limits need a /proc in the box");
		return;
	}
	one->box->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (one->box->proc_fd >= 0)
		one->poll_at_ns = 1;
}

/* Resident pages of one process, 0 when it is gone. proc(5), statm. */
static uint64_t resident(int proc_fd, const char *name)
{
	char path[64], text[128];
	uint64_t size, pages = 0;
	ssize_t n;
	char *end;
	int fd;

	snprintf(path, sizeof(path), "%.32s/statm", name);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	size = strtoull(text, &end, 10);
	if (size && *end == ' ')
		pages = strtoull(end, NULL, 10);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void count(pid_one *one, DIR *dir, usage *u)
{
	struct dirent *e;

	while ((e = readdir(dir))) {
		char *end;
		long pid = strtol(e->d_name, &end, 10);
		uint64_t bytes;

		if (*end || pid <= 1 || pid == one->launcher_pid)
			continue;
		bytes = resident(dirfd(dir), e->d_name);
		u->bytes += bytes;
		u->pids++;
		if (bytes > u->largest_bytes) {
			u->largest_bytes = bytes;
			u->largest = (pid_t)pid;
		}
	}
}

/* The command in whose session pid is; NULL when it left all of them. */
static command *owner_of(pid_one *one, pid_t pid)
{
	pid_t session = getsid(pid);

	for (command *c = one->commands; c; c = c->next) {
		if (!c->has_ended && c->pid == session)
			return c;
	}
	return NULL;
}

static void end_all(pid_one *one, uint32_t reason)
{
	for (command *c = one->commands; c; c = c->next)
		init_kill_command(c, reason);
	if (one->box->plan.namespaces & AB_NS_PID)
		kill(-1, SIGKILL);
}

void init_poll_limits(pid_one *one, uint64_t now_ns)
{
	const ab_plan *p = &one->box->plan;
	usage u = {0};
	int fd = openat(one->box->proc_fd, ".",
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	one->poll_at_ns = now_ns + INTERVAL_NS;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	count(one, dir, &u);
	closedir(dir);
	if (p->polled_pids && u.pids > p->polled_pids) {
		end_all(one, AB_REASON_PIDS);
		init_send_event(one->box->link_inside_fd, AB_MSG_LINK_EVENT,
				AB_EVENT_LIMIT, "pids", "all commands ended");
	} else if (p->polled_memory && u.bytes > p->polled_memory &&
		   u.largest > 1) {
		command *c = owner_of(one, u.largest);

		kill(u.largest, SIGKILL);
		if (c)
			init_kill_command(c, AB_REASON_MEMORY);
		init_send_event(one->box->link_inside_fd, AB_MSG_LINK_EVENT,
				AB_EVENT_LIMIT, "memory",
				"the largest process and its command ended");
	}
}
