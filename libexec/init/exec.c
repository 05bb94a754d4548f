/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the vfork child to the command: session, terminal, descriptors,
 * directory, limits, execve. Runs on its own stack in the
 * launcher's memory, so it writes nothing but *command and allocates
 * nothing. What it refuses: to start a command with other fds, limits or
 * directory than asked for. Spec: DESIGN.md section 6, RECIPES.md section 2.
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sys.h"

/* confstr(_CS_PATH) plus the local one, as login(1) would have it */
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

#define MAX_FDS (AB_MAX_EXTRA_FDS + 3)

static _Noreturn void fail(init_command *c, const char *stage, int sys_errno)
{
	c->failed_stage = stage;
	c->failed_errno = sys_errno;
	atomic_store(&c->box->shared->not_started, (uint32_t)getpid());
	_exit(127);
}

static void put_fd(init_command *c, int from, int to)
{
	/* dup2 onto itself would leave CLOEXEC set */
	if (from == to ? fcntl(to, F_SETFD, 0) : dup2(from, to) < 0)
		fail(c, "fds", errno);
}

static int lift(init_command *c, int fd, int min)
{
	int r = fcntl(fd, F_DUPFD_CLOEXEC, min);

	if (r < 0)
		fail(c, "fds", errno);
	return r;
}

static bool is_target(const ab_msg_spawn *s, uint32_t fd)
{
	for (uint32_t i = 0; i < s->target_count; i++) {
		if (s->targets[i] == fd)
			return true;
	}
	return false;
}

/*
 * Exactly the wanted numbers. A target above 2 may be the number of a source
 * not placed yet: then they all move above the highest target first. All
 * that is not a target is CLOEXEC, our own sockets included.
 */
static void place_fds(init_command *c)
{
	const ab_msg_spawn *s = c->spawn;
	int sources[MAX_FDS];
	uint32_t highest = 0;

	for (uint32_t i = 0; i < s->target_count; i++) {
		sources[i] = c->fds[i];
		if (s->targets[i] > highest)
			highest = s->targets[i];
	}
	if (highest > 2) {
		for (uint32_t i = 0; i < s->target_count; i++)
			sources[i] = lift(c, sources[i], (int)highest + 1);
		if (c->pty_slave_fd >= 0)
			c->pty_slave_fd =
				lift(c, c->pty_slave_fd, (int)highest + 1);
	}
	for (uint32_t i = 0; i < s->target_count; i++)
		put_fd(c, sources[i], (int)s->targets[i]);
	if (c->pty_slave_fd < 0)
		return;
	/* a pty is what of 0-2 has no descriptor of its own */
	for (uint32_t fd = 0; fd <= 2; fd++) {
		if (!is_target(s, fd))
			put_fd(c, c->pty_slave_fd, (int)fd);
	}
}

/*
 * Always from the plan, hard limits included: the agent may have changed the
 * launcher's (sandbox case 107).
 */
static void set_limits(init_command *c)
{
	const ab_plan *p = &c->box->plan;
	bool has_files = false;

	for (uint32_t i = 0; i < p->rlimit_count; i++) {
		struct rlimit limit = {.rlim_cur = p->rlimits[i].soft,
				       .rlim_max = p->rlimits[i].hard};

		if (setrlimit((int)p->rlimits[i].resource,
			      &limit))
			fail(c, "limits", errno);
		has_files |= p->rlimits[i].resource == RLIMIT_NOFILE;
	}
	if (!has_files && setrlimit(RLIMIT_NOFILE, &c->box->own_files))
		fail(c, "limits", errno);
}

/*
 * What the command is, and when its time is over: for all that descends from
 * it, and not to be changed by them (wire/plan.h, AB_MARK_RESOURCE).
 */
static void set_mark(init_command *c)
{
	uint64_t began_ns = atomic_load(&c->box->shared->started_ns);
	uint64_t mark[2] = {began_ns, ~0ull};

	if (!c->box->plan.mark_key)
		return;
	if (c->spawn->wall_ms)
		mark[1] = began_ns + c->spawn->wall_ms * 1000000ull;
	if (syscall(SYS_prlimit64, 0, AB_MARK_RESOURCE, mark, NULL,
		    c->box->plan.mark_key))
		fail(c, "mark", errno);
}

static const char *search_path(const ab_msg_spawn *s)
{
	for (uint32_t i = 0; i < s->envc; i++) {
		if (!strncmp(s->envp[i], "PATH=", 5))
			return s->envp[i] + 5;
	}
	return DEFAULT_PATH;
}

/* A box may have no /proc: then a descriptor of the command by its number. */
static void exec_fd(const ab_msg_spawn *s, const char *path)
{
	static const char before[] = "/proc/self/fd/";

	if (errno == ENOENT && !strncmp(path, before, sizeof(before) - 1))
		syscall(SYS_execveat, atoi(path + sizeof(before) - 1), "",
			s->argv, s->envp, AT_EMPTY_PATH);
}

/* The host has judged this one: the key says so (notice.c). */
static int try_exec(const init_command *c, const char *path)
{
	syscall(SYS_execve, path, c->spawn->argv, c->spawn->envp, 0l,
		c->box->exec_key);
	exec_fd(c->spawn, path);
	return errno;
}

/* The first of PATH that can be run; EACCES is remembered, as execvp does. */
static int exec_in_path(const init_command *c)
{
	const ab_msg_spawn *s = c->spawn;
	const char *dir = search_path(s);
	char path[AB_MAX_PATH + AB_MAX_NAME + 2];
	int result = ENOENT;

	for (;;) {
		size_t n = strcspn(dir, ":");
		int r = ENAMETOOLONG;

		if (n < AB_MAX_PATH && strlen(s->argv[0]) <= AB_MAX_NAME) {
			snprintf(path, sizeof(path), "%.*s%s%s", (int)n, dir,
				 n ? "/" : "", s->argv[0]);
			r = try_exec(c, path);
		}
		if (r == EACCES)
			result = EACCES;
		else if (r != ENOENT && r != ENOTDIR && r != ENAMETOOLONG)
			return r;
		if (!dir[n])
			return result;
		dir += n + 1;
	}
}

_Noreturn void init_exec(init_command *c)
{
	const ab_msg_spawn *s = c->spawn;
	_Atomic uint32_t *before_exec = &c->box->shared->before_exec;

	/* who stops us here stops the launcher: PID 1 must tell us apart */
	atomic_store(before_exec, (uint32_t)getpid());
	syscall(SYS_set_tid_address, before_exec);
	if (setsid() < 0)
		fail(c, "session", errno);
	if (c->pty_slave_fd >= 0 && ioctl(c->pty_slave_fd, TIOCSCTTY, 0))
		fail(c, "terminal", errno);
	place_fds(c);
	if (chdir(s->cwd))
		fail(c, "cwd", errno);
	set_limits(c);
	set_mark(c);
	fail(c, "exec",
	     strchr(s->argv[0], '/') ? try_exec(c, s->argv[0])
				     : exec_in_path(c));
}
