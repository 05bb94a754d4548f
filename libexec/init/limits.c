/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which limit ended a command: the count that the kernel keeps of its OOM
 * killer in the box's cgroup (cgroup-v1/memory.rst, cgroup-v2.rst), and
 * polled limits: memory and processes of the whole box, counted from the
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

#include "base/fd.h"
#include "pid1.h"

#define INTERVAL_NS 250000000ull

typedef struct usage {
	uint64_t bytes, pids;
	pid_t largest;
	uint64_t largest_bytes;
} usage;

/*
 * The file is the host's, so it is opened before the box has its own root;
 * the agent cannot reach a descriptor of PID 1.
 */
void init_open_oom_counter(pid_one *one)
{
	static const char *const names[] = {"memory.events",
					    "memory.oom_control"};
	const ab_plan *p = &one->box->plan;
	char path[AB_MAX_PATH + 32];

	for (uint32_t i = 0; i < 2 * p->cgroup_count; i++) {
		snprintf(path, sizeof(path), "%s/%s", p->cgroups[i / 2],
			 names[i % 2]);
		one->oom_fd = ab_fd_lift(open(path, O_RDONLY | O_CLOEXEC));
		if (one->oom_fd >= 0)
			return;
	}
	one->oom_fd = -1;
}

/* Both files have a line "oom_kill N". */
uint64_t init_count_oom_kills(const pid_one *one)
{
	static const char name[] = "\noom_kill ";
	char text[1024] = "\n";
	const char *at;
	ssize_t n;

	if (one->oom_fd < 0)
		return 0;
	n = pread(one->oom_fd, text + 1, sizeof(text) - 2, 0);
	if (n <= 0)
		return one->oom_count;
	text[n + 1] = '\0';
	at = strstr(text, name);
	return at ? strtoull(at + sizeof(name) - 1, NULL, 10) : 0;
}

void init_prepare_polling(pid_one *one)
{
	const ab_plan *p = &one->box->plan;

	/* in a tier without a tree it is the host's, and enough for marks */
	one->box->proc_fd =
		one->box->walls & AB_WALL_PROC || p->tier >= AB_TIER_LANDLOCK
			? open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
			: -1;
	if (!p->polled_memory && !p->polled_pids)
		return;
	/* without the box's own /proc the count would be the host's */
	if (!(one->box->walls & AB_WALL_PROC)) {
		init_note(one->box, "polled limits need a /proc in the box");
		return;
	}
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

	while ((e = ab_fd_next(dir, NULL))) {
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

void init_poll_limits(pid_one *one, uint64_t now_ns)
{
	const ab_plan *p = &one->box->plan;
	usage u = {0};
	DIR *dir = ab_fd_open_list(one->box->proc_fd, ".");

	one->poll_at_ns = now_ns + INTERVAL_NS;
	if (!dir)
		return;
	count(one, dir, &u);
	closedir(dir);
	if (p->polled_pids && u.pids > p->polled_pids) {
		(void)init_kill_all(one, AB_REASON_PIDS);
		(void)init_send_event(one->box->link_inside_fd,
				      AB_MSG_LINK_EVENT, AB_EVENT_LIMIT,
				      "pids", "all commands ended");
	} else if (p->polled_memory && u.bytes > p->polled_memory &&
		   u.largest > 1) {
		command *c = init_owner_of(one, u.largest);

		kill(u.largest, SIGKILL);
		if (c)
			init_kill_command(one, c, AB_REASON_MEMORY);
		(void)init_send_event(
			one->box->link_inside_fd, AB_MSG_LINK_EVENT,
			AB_EVENT_LIMIT, "memory",
			"the largest process and its command ended");
	}
}
