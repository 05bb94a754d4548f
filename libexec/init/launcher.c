/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The launcher: behind every wall, it starts the agent's commands as
 * children of PID 1 and holds nothing else. One datagram, one command. Its
 * own descriptors are the lowest numbers, so that one close_range() ends
 * whatever a command came with. Spec: DESIGN.md section 6.
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "sys.h"
#include "wire/message.h"

#define SPAWN_FD 3
#define REGISTER_FD 4
#define FIRST_COMMAND_FD INIT_LAUNCHER_LINK_FD
#define STACK_SIZE (128u * 1024)
/* channel, memfd, stdio and extra fds */
#define MAX_FDS (2 + 3 + AB_MAX_EXTRA_FDS)

static _Alignas(16) char child_stack[STACK_SIZE];
static _Alignas(8) uint8_t message[AB_MAX_MESSAGE];

static void send_not_started(int channel, const char *stage, int sys_errno,
			     const char *text)
{
	ab_msg_failed m = {.stage = stage,
			   .sys_errno = sys_errno,
			   .message = text};
	uint8_t memory[1024];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_failed(&w, AB_MSG_NOT_STARTED, &m);
	if (!w.bad)
		(void)ab_message_send(channel, w.data, w.len, NULL, 0,
				      MSG_DONTWAIT);
}

static void send_started(int channel, pid_t pid, int pty_master)
{
	uint8_t memory[16];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_STARTED);
	ab_put_u32(&w, pty_master >= 0);
	ab_put_u32(&w, (uint32_t)pid);
	(void)ab_message_send(channel, w.data, w.len, &pty_master,
			      pty_master >= 0, MSG_DONTWAIT);
}

/* A pty of the box's own devpts; the slave by the master, never by name. */
static int open_pty(const ab_msg_spawn *s, int *master, int *slave)
{
	struct winsize size = {.ws_row = s->rows, .ws_col = s->cols};
	int unlock = 0;

	*master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*master < 0)
		return -errno;
	if (ioctl(*master, TIOCSPTLCK, &unlock))
		return -errno;
	/* ioctl_tty(2): safe also when /dev/pts is not what it seems */
	*slave = ioctl(*master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*slave < 0)
		return -errno;
	if (s->rows && ioctl(*master, TIOCSWINSZ, &size))
		return -errno;
	return 0;
}

/*
 * PID 1 gets the channel once the command runs: not before, because the
 * command would wait for it. What happens in between is in init_shared.
 */
static void register_command(const init_command *c, pid_t pid,
			     uint64_t started_ns)
{
	ab_msg_register m = {.pid = (uint32_t)pid,
			     .wall_ms = c->spawn->wall_ms,
			     .started_ns = started_ns,
			     .relays = c->spawn->relays};
	uint8_t memory[32];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_register(&w, &m);
	atomic_fetch_add(&c->box->shared->told, 1);
	/* PID 1 kills whoever was in flight when we end */
	if (w.bad || ab_message_send(REGISTER_FD, w.data, w.len,
				     &c->channel_fd, 1, 0))
		_exit(1);
}

static int child_main(void *command)
{
	init_exec(command);
}

static void start(init_command *c)
{
	init_shared *shared = c->box->shared;
	uint64_t started_ns = ab_clock_boot_ns();
	int master = -1;
	pid_t pid;
	int r = 0;

	c->pty_slave_fd = -1;
	if (c->spawn->flags & AB_SPAWN_PTY)
		r = open_pty(c->spawn, &master, &c->pty_slave_fd);
	if (r) {
		send_not_started(c->channel_fd, "terminal", -r, strerror(-r));
		return;
	}
	atomic_store(&shared->not_started, 0);
	atomic_store(&shared->in_flight, INIT_IN_THE_MAKING);
	atomic_store(&shared->started_ns, started_ns);
	pid = clone(child_main, child_stack + STACK_SIZE,
		    CLONE_VM | CLONE_VFORK | CLONE_PARENT |
			    CLONE_PARENT_SETTID | SIGCHLD,
		    c, &shared->in_flight);
	if (pid < 0)
		send_not_started(c->channel_fd, "fork", errno,
				 strerror(errno));
	else if (c->failed_stage)
		send_not_started(c->channel_fd, c->failed_stage,
				 c->failed_errno, strerror(c->failed_errno));
	else {
		send_started(c->channel_fd, pid, master);
		register_command(c, pid, started_ns);
	}
	atomic_store(&shared->in_flight, 0);
}

/*
 * Directories, O_PATH and mount fds lead out of the box (RECIPES.md section
 * 2), and most sockets to the network they were made in. The host refuses
 * them too; this wall does not depend on it.
 */
static bool fds_are_harmless(const init_box *box, const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct stat st;
		int flags = fcntl(fds[i], F_GETFL);

		if (flags < 0 || (flags & O_PATH) || fstat(fds[i], &st) ||
		    S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode) ||
		    S_ISBLK(st.st_mode))
			return false;
		if (S_ISSOCK(st.st_mode) && !box->plan.host_sockets &&
		    (ab_fd_check_connected_unix(fds[i]) ||
		     ab_fd_check_unix_name(fds[i])))
			return false;
	}
	return true;
}

static void handle_body(const init_box *box, const void *body, size_t n,
			int channel, const int *fds, size_t count)
{
	ab_msg_spawn spawn;
	init_command c = {.box = box,
			  .spawn = &spawn,
			  .channel_fd = channel,
			  .fds = fds};
	ab_reader r;

	ab_reader_init(&r, body, n);
	if (ab_msg_get_spawn(&r, &spawn)) {
		send_not_started(channel, "message", EPROTO,
				 "malformed spawn message");
		return;
	}
	if (spawn.target_count != count)
		send_not_started(channel, "fds", EPROTO,
				 "fds and their numbers do not match");
	else if (!fds_are_harmless(box, fds, count))
		send_not_started(channel, "fds", EPERM,
				 "directories, O_PATH and block device fds "
				 "and sockets of the network do not enter a "
				 "box");
	else
		start(&c);
	ab_msg_spawn_end(&spawn);
}

static void handle_big(const init_box *box, const int *fds, size_t count)
{
	void *map;
	size_t size;
	int r = ab_fd_map_sealed(fds[1], AB_MAX_ARGV_BYTES + AB_MAX_MESSAGE,
				 &map, &size);

	if (r) {
		send_not_started(fds[0], "message", -r,
				 "a long spawn message must be a sealed memfd");
		return;
	}
	handle_body(box, map, size, fds[0], fds + 2, count - 2);
	munmap(map, size);
}

static void handle(const init_box *box, size_t n, const int *fds, size_t count)
{
	ab_reader r;
	uint32_t kind;

	ab_reader_init(&r, message, n);
	kind = ab_get_u32(&r);
	(void)ab_get_u32(&r);
	/* without a channel there is nobody to answer */
	if (kind == AB_MSG_SPAWN && count >= 1)
		handle_body(box, message + r.pos, n - r.pos, fds[0], fds + 1,
			    count - 1);
	else if (kind == AB_MSG_SPAWN_BIG && count >= 2 && r.pos == n)
		handle_big(box, fds, count);
	else if (count >= 1)
		send_not_started(fds[0], "message", EPROTO,
				 "unknown spawn message");
}

/* Only what it needs, at the lowest numbers. Not the link: see pid1.c. */
int init_settle_fds(const init_box *box, int link_fd, int keep_fd)
{
	const int from[] = {box->spawn_inside_fd, box->register_launcher_fd,
			    link_fd, keep_fd};
	int lifted[AB_ARRAY_LEN(from)];

	for (size_t i = 0; i < AB_ARRAY_LEN(from); i++) {
		lifted[i] = from[i] < 0 ? -1 : ab_fd_dup_from(from[i], 64);
		if (from[i] >= 0 && lifted[i] < 0)
			return -EMFILE;
	}
	/* 5: link, 6: what is needed until the walls stand */
	for (size_t i = 0; i < AB_ARRAY_LEN(from); i++) {
		if (lifted[i] >= 0 &&
		    dup3(lifted[i], SPAWN_FD + (int)i, O_CLOEXEC) < 0)
			return -errno;
	}
	return ab_sys_close_range(INIT_LAUNCHER_KEPT_FD + 1, ~0u, 0);
}

void init_report_ready(init_box *box, uint32_t walls)
{
	ab_msg_ready m = {.walls = walls,
			  .landlock_abi = box->plan.landlock_abi,
			  .launcher = (uint32_t)getpid(),
			  .notes = box->notes};
	uint8_t memory[sizeof(box->notes) + 64];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_ready(&w, AB_MSG_LINK_READY, 0, &m);
	if (w.bad || ab_message_send(INIT_LAUNCHER_LINK_FD, w.data, w.len, NULL,
				     0, 0))
		_exit(1);
}

/*
 * The memory that the first command needs, and the vDSO, which is looked for
 * at the first use: here, while the host is told that the box is ready.
 */
static void warm_up(const init_box *box)
{
	(void)ab_clock_boot_ns();
	atomic_store(&box->shared->not_started, 0);
	*(volatile char *)&child_stack[STACK_SIZE - 1] = 0;
	*(volatile uint8_t *)message = 0;
}

_Noreturn void init_serve_commands(const init_box *box)
{
	warm_up(box);
	ab_sys_close_range(FIRST_COMMAND_FD, ~0u, 0);
	for (;;) {
		int fds[MAX_FDS];
		size_t count = 0;
		ssize_t n = ab_message_recv(SPAWN_FD, message, sizeof(message),
					    fds, MAX_FDS, &count, 0);

		if (n > 0)
			handle(box, (size_t)n, fds, count);
		else if (n == 0)
			/* the host wants no more; PID 1 has its word too */
			_exit(INIT_LAUNCHER_DONE);
		if (count)
			ab_sys_close_range(FIRST_COMMAND_FD, ~0u, 0);
	}
}

_Noreturn void init_launcher(init_box *box, int link_fd)
{
	const char *stage = "launcher";
	sigset_t none;
	int r;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, "agentbox-launch", 0, 0, 0);
	if (box->plan.tier >= AB_TIER_LANDLOCK)
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	r = init_settle_fds(box, link_fd, box->ruleset_fd);
	if (box->ruleset_fd >= 0)
		box->ruleset_fd = INIT_LAUNCHER_KEPT_FD;
	if (r == 0) {
		stage = "landlock";
		r = init_raise_landlock(box);
	}
	if (r == 0) {
		stage = "seccomp";
		r = init_raise_seccomp(box);
	}
	if (r) {
		init_fail(box, -r, "", "%s", stage);
		if (link_fd >= 0)
			init_send_failure(box, INIT_LAUNCHER_LINK_FD);
		_exit(INIT_LAUNCHER_FAILED);
	}
	if (link_fd >= 0)
		init_report_ready(box, box->walls);
	init_serve_commands(box);
}
