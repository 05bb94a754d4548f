/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ending a command with all that descends from it, whatever it did to get
 * away: sessions, double forks, parents that are gone. Each of its processes
 * bears its mark (wire/plan.h), so they are looked for one by one and killed,
 * until there is none. Time limits live in the mark too: what outlives the
 * command itself is ended at the same time.
 *
 * Who bears a mark can make another that does, until it is killed. So one
 * look finds nobody only when there was nobody before it: the kernel lists
 * processes by number, and gives higher ones to later processes until it
 * starts again from below. Somebody who runs in front of the look is met; who
 * was born below it while all others ended is not. That cannot happen twice
 * in a row, since all numbers must be used up in between, so two looks that
 * find nothing are an answer. The dead count while they are there: only we
 * take them away, after the look.
 *
 * It refuses to touch a process that is not marked, and outside a pid
 * namespace one that does not descend from us. Without a /proc, or without
 * marks, a command's process group is all there is.
 * Spec: proc(5), prlimit(2), pidfd_send_signal(2), DESIGN.md section 6.
 */
#include "config.h"

#include "init.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "pid1.h"
#include "sys.h"

#define LOOKS_IN_A_ROW 2
#define NS_PER_MS 1000000ull
#define FIRST_WAIT_NS NS_PER_MS
#define MAX_WAIT_NS (256 * NS_PER_MS)
/* Somebody hangs in the kernel: he has his signal. */
#define MAX_HUNT_NS (2000 * NS_PER_MS)
#define NEVER (~0ull)

typedef struct mark {
	uint64_t began_ns, over_ns;
} mark;

typedef struct look {
	pid_one *one;
	uint64_t now_ns;
	uint64_t next_ns; /* the earliest end of a time that is not over */
	bool is_found;
} look;

/* proc(5), getdents(2) */
typedef struct entry {
	uint64_t ino;
	int64_t off;
	unsigned short len;
	unsigned char type;
	char name[];
} entry;

static bool read_mark(pid_t pid, mark *m)
{
	return syscall(SYS_prlimit64, pid, AB_MARK_RESOURCE, NULL, m) == 0 &&
	       m->began_ns != NEVER;
}

static command *find_hunted(const look *l, uint64_t began_ns)
{
	command *c = l->one->commands;

	while (c && (!c->looks_left || c->started_ns != began_ns))
		c = c->next;
	return c;
}

/* The number may be another's by now: a pidfd, and then the mark again. */
static bool end_marked(const look *l, pid_t pid, const mark *m)
{
	ab_autofd int pidfd = ab_sys_pidfd_open(pid);
	const init_box *box = l->one->box;
	mark again;

	if (pidfd < 0 || !read_mark(pid, &again) ||
	    again.began_ns != m->began_ns)
		return true; /* it ended: was it the last one? */
	if (!(box->plan.namespaces & AB_NS_PID) &&
	    !init_is_below(box->proc_fd, pid, getpid()))
		return false;
	(void)ab_sys_pidfd_kill(pidfd, SIGKILL);
	return true;
}

static void judge(look *l, pid_t pid)
{
	command *c;
	mark m;

	if (pid <= 1 || pid == l->one->launcher_pid || !read_mark(pid, &m))
		return;
	c = find_hunted(l, m.began_ns);
	if (!c && m.over_ns > l->now_ns) {
		if (m.over_ns < l->next_ns)
			l->next_ns = m.over_ns;
		return;
	}
	if (!end_marked(l, pid, &m))
		return;
	*(c ? &c->looks_left : &l->one->looks_left) = LOOKS_IN_A_ROW + 1;
	l->is_found = true;
}

static void look_at_all(look *l)
{
	static _Alignas(entry) char list[4096];
	int fd = l->one->box->proc_fd;
	long n;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return;
	while ((n = syscall(SYS_getdents64, fd, list, sizeof(list))) > 0) {
		for (long at = 0; at < n;) {
			const entry *e = (const void *)(list + at);
			char *end;
			long pid = strtol(e->name, &end, 10);

			if (!*end)
				judge(l, (pid_t)pid);
			at += e->len;
		}
	}
}

/* Which commands had nobody any more, in this look as in the one before? */
static bool count_looks(look *l)
{
	bool is_open;

	l->one->looks_left -= l->one->looks_left != 0;
	is_open = l->one->looks_left != 0;
	for (command *c = l->one->commands; c; c = c->next) {
		if (!c->looks_left)
			continue;
		c->looks_left--;
		if (l->now_ns >= c->hunt_end_ns)
			c->looks_left = 0;
		if (!c->looks_left)
			l->one->has_ended |= c->has_ended;
		is_open |= c->looks_left != 0;
	}
	return is_open;
}

void init_start_hunt(pid_one *one, command *c)
{
	if (one->box->proc_fd < 0 || c->looks_left)
		return;
	c->looks_left = LOOKS_IN_A_ROW;
	c->hunt_end_ns = ab_clock_boot_ns() + MAX_HUNT_NS;
	one->hunt_at_ns = 1;
	one->hunt_wait_ns = FIRST_WAIT_NS;
}

void init_keep_time(pid_one *one, uint64_t over_ns)
{
	if (one->box->proc_fd >= 0 &&
	    (!one->over_at_ns || over_ns < one->over_at_ns))
		one->over_at_ns = over_ns;
}

command *init_owner_of(pid_one *one, pid_t pid)
{
	pid_t session = getsid(pid);
	bool is_marked;
	mark m;

	is_marked = read_mark(pid, &m);
	for (command *c = one->commands; c; c = c->next) {
		if (!c->has_ended && (is_marked ? c->started_ns == m.began_ns
						: c->pid == session))
			return c;
	}
	return NULL;
}

void init_hunt(pid_one *one, uint64_t now_ns)
{
	look l = {.one = one};
	bool is_open = true;

	if (one->over_at_ns && one->over_at_ns <= now_ns)
		one->looks_left = LOOKS_IN_A_ROW;
	/* the next ones at once, unless somebody needs time to die */
	for (int i = 0; i < LOOKS_IN_A_ROW && is_open && !l.is_found; i++) {
		l.now_ns = now_ns;
		l.next_ns = NEVER;
		look_at_all(&l);
		is_open = count_looks(&l);
	}
	one->over_at_ns = l.next_ns == NEVER ? 0 : l.next_ns;
	for (const command *c = one->commands; c; c = c->next) {
		if (!c->has_ended && c->deadline_ns)
			init_keep_time(one, c->deadline_ns);
	}
	one->hunt_at_ns = 0;
	if (!is_open)
		return;
	if (one->hunt_wait_ns < FIRST_WAIT_NS)
		one->hunt_wait_ns = FIRST_WAIT_NS;
	one->hunt_at_ns = now_ns + one->hunt_wait_ns;
	if (one->hunt_wait_ns < MAX_WAIT_NS)
		one->hunt_wait_ns *= 2;
}
