/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PID 1 of a box. It builds the tree, drops everything, starts the launcher
 * and then only waits: it reaps every process, tells each command's channel
 * how the command ended, passes signals, keeps wall-clock limits and replaces
 * a launcher that the agent killed or stopped. It ends when its link to the
 * holder does, and with it the pid namespace. It never parses a byte that an
 * agent wrote. Spec: DESIGN.md section 6, wire/box.h.
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "pid1.h"
#include "sys.h"
#include "wire/helper.h"
#include "wire/message.h"

#define TAG_LINK 1u
#define TAG_SIGNAL 2u
#define TAG_REGISTER 3u
#define TAG_LAST 3u
#define MAX_EVENTS 32

/* kind, fd count, pid, wall_ms, started_ns, relays */
#define REGISTER_SIZE 28

#define CATCH_UP_MS 20
#define KILL_ALL_MS 2000
#define MIN_LAUNCHER_MS 1000
#define NS_PER_MS 1000000ull
/* A next command would have come by then: those in a row cost nothing. */
#define QUIET_NS NS_PER_MS
/* A launcher that dies this often this fast cannot raise its walls. */
#define RELAUNCH_BURST 64

static void start_launcher(pid_one *one, int link_fd);

static int watch(pid_one *one, int fd, uint64_t tag)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = tag};

	return epoll_ctl(one->epoll_fd, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static command *find(pid_one *one, pid_t pid)
{
	command *c = one->commands;

	while (c && (c->pid != pid || c->has_ended))
		c = c->next;
	return c;
}

/* The holder may know how many there are. */
static void count_commands(pid_one *one, int by)
{
	one->command_count += (uint64_t)(int64_t)by;
	atomic_store(&one->box->shared->command_count,
		     (uint32_t)one->command_count);
}

static void close_channel(pid_one *one, command *c)
{
	if (c->channel_fd < 0)
		return;
	/* others may hold the same open file: close alone does not remove it */
	epoll_ctl(one->epoll_fd, EPOLL_CTL_DEL, c->channel_fd, NULL);
	close(c->channel_fd);
	c->channel_fd = -1;
}

static void kill_group(command *c, uint32_t reason)
{
	if (c->has_ended)
		return;
	if (!c->reason)
		c->reason = reason;
	kill(-c->pid, SIGKILL);
	kill(c->pid, SIGKILL);
}

void init_kill_command(pid_one *one, command *c, uint32_t reason)
{
	if (c->has_ended)
		return;
	/* without marks: whose parents are still there; itself not before */
	if (!one->box->plan.mark_key && one->box->proc_fd >= 0 &&
	    kill(c->pid, SIGSTOP) == 0)
		init_kill_below(c->pid);
	kill_group(c, reason);
	if (one->box->plan.mark_key)
		init_start_hunt(one, c);
}

static uint64_t micros(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000u + (uint64_t)t->tv_usec;
}

static void send_exited(command *c)
{
	const struct rusage *u = &c->usage;
	ab_msg_exited m = {
		.status = c->status,
		.reason = c->reason,
		.utime_us = micros(&u->ru_utime),
		.stime_us = micros(&u->ru_stime),
		.maxrss_kib = (uint64_t)u->ru_maxrss,
		.wall_us = (c->ended_ns - c->started_ns) / 1000,
		.minflt = (uint64_t)u->ru_minflt,
		.majflt = (uint64_t)u->ru_majflt,
		.inblock = (uint64_t)u->ru_inblock,
		.oublock = (uint64_t)u->ru_oublock,
		.nvcsw = (uint64_t)u->ru_nvcsw,
		.nivcsw = (uint64_t)u->ru_nivcsw,
	};
	uint8_t memory[128];
	ab_writer w;

	if (!m.reason && WIFSIGNALED(m.status) && WTERMSIG(m.status) == SIGSYS)
		m.reason = AB_REASON_SECCOMP;
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_exited(&w, &m);
	if (!w.bad)
		(void)ab_message_send(c->channel_fd, w.data, w.len, NULL, 0,
				      MSG_DONTWAIT);
}

/*
 * What a command left behind writes no more into the host's files. A message
 * that finds no room is lost: then its relays end with their last writer.
 */
static void end_relays(const pid_one *one, const command *c)
{
	uint8_t memory[16];
	ab_writer w;

	if (!c->relays)
		return;
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_LINK_RELAYS);
	ab_put_u32(&w, 0);
	ab_put_u32(&w, c->relays);
	(void)ab_message_send(one->box->link_inside_fd, w.data, w.len, NULL, 0,
			      MSG_DONTWAIT);
}

/* Where anybody wants to know: tell_quiet() looks whether somebody is there. */
static void ask_for_quiet(pid_one *one)
{
	if (one->box->plan.watch_count)
		one->quiet_at_ns = ab_clock_boot_ns() + QUIET_NS;
}

/* Tell how the commands ended that did, and forget them. */
static void free_ended(pid_one *one)
{
	command **at = &one->commands;

	one->has_ended = false;
	while (*at) {
		command *c = *at;

		if (!c->has_ended || c->looks_left) {
			at = &c->next;
			continue;
		}
		end_relays(one, c);
		if (c->channel_fd >= 0)
			send_exited(c);
		close_channel(one, c);
		*at = c->next;
		free(c);
		count_commands(one, -1);
		/* it may be long since it was taken away */
		ask_for_quiet(one);
	}
}

/*
 * The kernel counts the victims and does not name them: a SIGKILL that is
 * none of ours, while the count rose during the command's life, is one. Each
 * is told of once, so a command that kills itself beside it is not another.
 */
static void judge_kill(pid_one *one, command *c)
{
	if (one->oom_fd < 0 || c->reason || !WIFSIGNALED(c->status) ||
	    WTERMSIG(c->status) != SIGKILL)
		return;
	one->oom_count = init_count_oom_kills(one);
	if (one->oom_count <= c->oom_seen)
		return;
	c->reason = AB_REASON_MEMORY;
	for (command *other = one->commands; other; other = other->next)
		other->oom_seen++;
}

static void set_ended(pid_one *one, command *c, int status, uint64_t ended_ns,
		      const struct rusage *usage)
{
	c->has_ended = true;
	c->ended_ns = ended_ns;
	c->status = status;
	c->usage = *usage;
	one->has_ended = true;
	judge_kill(one, c);
}

/*
 * The exit of a command and its registration come by two ways, in any order,
 * and the launcher may die between any two steps. No exit is lost, and none
 * is told of the wrong command, because of this order in the launcher:
 *
 *   L1 in_flight = INIT_IN_THE_MAKING, started_ns = now
 *   L2 clone: the kernel writes in_flight = pid
 *   L3 send STARTED           L4 send REGISTER(pid, started_ns)
 *   L5 in_flight = 0
 *
 * and of this one here, for each process P that wait4() hands out:
 *
 *   R1 P is a registered command that has not ended: it ends now.
 *   R2 load not_started, in_flight and started_ns, in this order.
 *   R3 read every registration there is; P is registered now: it ends now.
 *   R4 in_flight was P, and (P, started_ns) is neither registered before nor
 *      the early one already: keep its end as the early one.
 *   R5 else P was an orphan of the agent's, or never became a command.
 *
 * - P ends, then L4: R4, because in_flight is P from before P ran until L5.
 *   The registration finds the early end.
 * - L4, P ends: R1 or R3. L4, P ends, L5 before R2: in_flight is 0 or of a
 *   later command, so L4 came before R2 and R3 reads it.
 * - P ends early, L4, L5, then a next Q ends early as well: R3 for Q reads
 *   P's registration, which takes the early end, before R4 writes Q's.
 * - P fails before exec: not_started is P until in_flight is not any more,
 *   R4 keeps nothing, L4 never comes.
 * - The number P is used again while in_flight still names it (a stopped
 *   launcher and an agent that forks round the pid space): it was free only
 *   after P was reaped, so P is the early one or was registered; both are
 *   known by started_ns, and R4 refuses.
 * - The launcher dies before L2: there is nothing; the channel ends with it.
 *   Between L2 and L4: in_flight is P and P is not registered, though all
 *   registrations were read after its death: P is killed, its channel is
 *   closed. After L4: P is a command like any other. What a killed P left
 *   outside its group bears its mark, as of any command (descent.c).
 * - A registration that cannot be taken (no memory, no descriptor) kills P
 *   and forgets its early end; the channel closes and the host hears that.
 *
 * kill() names a pid that was not reaped, or stays within the box's own pid
 * namespace: it cannot hit a stranger.
 */
static bool is_early(const pid_one *one, pid_t pid, uint64_t started_ns)
{
	return one->early.pid == pid && one->early.started_ns == started_ns;
}

/* What it left behind bears its mark; nobody is to hear of its end. */
static void hunt_unregistered(pid_one *one, uint64_t started_ns)
{
	command *c = one->box->plan.mark_key ? calloc(1, sizeof(*c)) : NULL;

	if (!c)
		return;
	c->channel_fd = -1;
	c->has_ended = one->has_ended = true;
	c->started_ns = started_ns;
	c->next = one->commands;
	one->commands = c;
	count_commands(one, 1);
	init_start_hunt(one, c);
}

/* It will never be registered: nobody could end it or hear of its end. */
static void kill_unregistered(pid_one *one, pid_t pid, uint64_t started_ns)
{
	bool was_reaped = is_early(one, pid, started_ns);

	hunt_unregistered(one, started_ns);

	if (was_reaped)
		one->early.pid = 0;
	/* without a pid namespace its number may be a stranger's by now */
	if (was_reaped && !(one->box->plan.namespaces & AB_NS_PID))
		return;
	kill(-pid, SIGKILL);
	if (!was_reaped)
		kill(pid, SIGKILL);
}

static void add_command(pid_one *one, const ab_msg_register *m, int channel_fd)
{
	command *c = calloc(1, sizeof(*c));

	one->registered_ns = m->started_ns;
	if (channel_fd < 0 || !c || watch(one, channel_fd, (uintptr_t)c)) {
		kill_unregistered(one, (pid_t)m->pid, m->started_ns);
		if (channel_fd >= 0)
			close(channel_fd);
		free(c);
		return;
	}
	c->pid = (pid_t)m->pid;
	c->channel_fd = channel_fd;
	c->relays = m->relays;
	c->started_ns = m->started_ns;
	if (m->wall_ms) {
		c->deadline_ns = c->started_ns + m->wall_ms * NS_PER_MS;
		init_keep_time(one, c->deadline_ns);
	}
	c->next = one->commands;
	one->commands = c;
	count_commands(one, 1);
	one->spawn_count++;
	c->oom_seen = one->oom_count;
	one->oom_count = init_count_oom_kills(one);
	if (!is_early(one, c->pid, c->started_ns)) {
		c->oom_seen = one->oom_count;
		return;
	}
	one->early.pid = 0;
	set_ended(one, c, one->early.status, one->early.ended_ns,
		  &one->early.usage);
}

/* all: until there are none; else one, and epoll tells of the others. */
static void read_registrations(pid_one *one, bool all)
{
	do {
		uint8_t message[64] = {0};
		ab_msg_register m;
		ab_reader r;
		size_t count = 0;
		int fd = -1;
		ssize_t n = ab_message_recv(one->box->register_fd, message,
					    sizeof(message), &fd, 1, &count,
					    MSG_DONTWAIT);

		if (n <= 0 && n != -EPROTO)
			return;
		/* the bytes are there also when the channel could not come */
		if (n <= 0)
			n = REGISTER_SIZE;
		ab_reader_init(&r, message, (size_t)n);
		if (ab_get_u32(&r) == AB_MSG_REGISTER &&
		    ab_get_u32(&r) == 1 && ab_msg_get_register(&r, &m) == 0)
			add_command(one, &m, count ? fd : -1);
		else if (count)
			close(fd);
		/* only now: it is counted among the commands, or is none */
		atomic_fetch_add(&one->box->shared->heard, 1);
	} while (all);
}

/* It says so, or its own filter refused what it had to do. */
static bool could_not_begin(int status)
{
	return (WIFEXITED(status) &&
		WEXITSTATUS(status) == INIT_LAUNCHER_FAILED) ||
	       (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

/* Nobody would ask a replacement for anything. */
static bool is_done(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == INIT_LAUNCHER_DONE;
}

/* The holder knows it from a process of the agent's by this. */
static void set_launcher(pid_one *one, pid_t pid)
{
	one->launcher_pid = pid;
	atomic_store(&one->box->shared->launcher, (uint32_t)pid);
}

/* What it was at is undone; its socket is read by the next one. */
static void forget_launcher(pid_one *one, int status)
{
	init_shared *shared = one->box->shared;
	pid_t in_flight = (pid_t)atomic_load(&shared->in_flight);
	uint64_t started_ns = atomic_load(&shared->started_ns);
	bool was_first = one->launcher_pid == one->first_pid;

	set_launcher(one, 0);
	/* a replacement without walls would be no launcher */
	if (could_not_begin(status) && !was_first)
		_exit(1);
	if (in_flight > (pid_t)INIT_IN_THE_MAKING &&
	    one->registered_ns != started_ns)
		kill_unregistered(one, in_flight, started_ns);
	atomic_store(&shared->in_flight, 0);
	atomic_store(&shared->before_exec, 0);
	atomic_store(&shared->heard, atomic_load(&shared->told));
	one->early.pid = 0;
}

static void replace_launcher(pid_one *one)
{
	uint64_t now = ab_clock_boot_ns();

	if (now - one->relaunch_ns > 1000 * NS_PER_MS) {
		one->relaunch_ns = now;
		one->relaunch_count = 0;
	}
	if (++one->relaunch_count > RELAUNCH_BURST) {
		one->relaunch_at_ns = now + 100 * NS_PER_MS;
		return;
	}
	start_launcher(one, -1);
	if (one->launcher_pid)
		(void)init_send_event(one->box->link_inside_fd,
				      AB_MSG_LINK_EVENT, AB_EVENT_LAUNCHER,
				      "launcher",
				      "it was killed; another took its place");
}

/*
 * A stopped launcher, or child of it before exec, would stall all spawns.
 * After its exec a command is stopped because it wants to be (job control).
 */
static void on_stopped(pid_one *one, pid_t pid)
{
	uint32_t making = atomic_load(&one->box->shared->before_exec);

	if (one->is_killing)
		return;
	if (pid == one->launcher_pid || (uint32_t)pid == making)
		kill(pid, SIGCONT);
}

/* R1 to R5 above: the command that ended, or NULL. */
static command *find_ended(pid_one *one, pid_t pid, int status,
			   const struct rusage *usage)
{
	const init_shared *shared = one->box->shared;
	command *c = find(one, pid);
	uint32_t in_flight, not_started;
	uint64_t started_ns;

	if (c)
		return c;
	not_started = atomic_load(&shared->not_started);
	in_flight = atomic_load(&shared->in_flight);
	started_ns = atomic_load(&shared->started_ns);
	read_registrations(one, true);
	c = find(one, pid);
	if (c || in_flight != (uint32_t)pid || not_started == in_flight ||
	    one->registered_ns == started_ns ||
	    is_early(one, pid, started_ns))
		return c;
	one->early.pid = pid;
	one->early.status = status;
	one->early.started_ns = started_ns;
	one->early.ended_ns = ab_clock_boot_ns();
	one->early.usage = *usage;
	return NULL;
}

/* True when there is no process left that could end. */
static bool take_ended(pid_one *one)
{
	for (;;) {
		struct rusage usage;
		int status;
		pid_t pid = wait4(-1, &status, WNOHANG | WUNTRACED, &usage);
		bool was_first;
		command *c;

		if (pid <= 0)
			return pid < 0 && errno == ECHILD;
		if (WIFSTOPPED(status)) {
			on_stopped(one, pid);
			continue;
		}
		if (pid == one->launcher_pid) {
			read_registrations(one, true);
			was_first = pid == one->first_pid;
			forget_launcher(one, status);
			if (was_first && could_not_begin(status))
				start_launcher(one, one->box->link_inside_fd);
			else if (!one->is_killing && !is_done(status))
				replace_launcher(one);
			continue;
		}
		ask_for_quiet(one);
		c = find_ended(one, pid, status, &usage);
		if (c)
			set_ended(one, c, status, ab_clock_boot_ns(), &usage);
	}
}

/* For the holder, to which numbers tell who is there (absent.c). */
static bool reap(pid_one *one)
{
	init_shared *shared = one->box->shared;
	bool is_done;

	atomic_fetch_add(&shared->reaps, 1);
	is_done = take_ended(one);
	atomic_fetch_add(&shared->reaps, 1);
	return is_done;
}

static void drain_signals(pid_one *one)
{
	struct signalfd_siginfo info[8];

	(void)!read(one->signal_fd, info, sizeof(info));
}

static void on_signal(pid_one *one)
{
	drain_signals(one);
	(void)reap(one);
}

/* From the host: a signal to pass, or its end. */
static void on_channel(pid_one *one, command *c)
{
	uint8_t message[64];
	ab_msg_signal m;
	ab_reader r;
	size_t count = 0;
	ssize_t n;

	if (c->channel_fd < 0 || c->has_ended)
		return;
	n = ab_message_recv(c->channel_fd, message, sizeof(message), NULL, 0,
			    &count, MSG_DONTWAIT);
	if (n == -EAGAIN || n == -EPROTO)
		return;
	if (n <= 0) {
		init_kill_command(one, c, AB_REASON_CLOSED);
		close_channel(one, c);
		return;
	}
	ab_reader_init(&r, message, (size_t)n);
	if (ab_get_u32(&r) != AB_MSG_SIGNAL || ab_get_u32(&r) != 0 ||
	    ab_msg_get_signal(&r, &m))
		return;
	if (m.signum == SIGKILL && m.group) {
		init_kill_command(one, c, AB_REASON_KILLED);
		return;
	}
	if (m.signum == SIGKILL && !c->reason)
		c->reason = AB_REASON_KILLED;
	kill(m.group ? -c->pid : c->pid, m.signum);
}

static void reply(pid_one *one, uint32_t serial, int result)
{
	ab_msg_reply m = {.serial = serial, .result = result};
	uint8_t memory[64];
	ab_writer w;

	m.values[0] = one->command_count;
	m.values[1] = one->spawn_count;
	m.values[2] = (uint64_t)one->launcher_pid;
	m.values[3] = one->relaunch_total;
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_reply(&w, AB_MSG_LINK_REPLY, 0, &m);
	if (!w.bad)
		(void)ab_message_send(one->box->link_inside_fd, w.data, w.len,
				      NULL, 0, MSG_DONTWAIT);
}

/*
 * The host may know of a command whose registration is still on its way from
 * the launcher, which is about to be killed too: wait for it, not for long.
 */
static void catch_up(pid_one *one)
{
	for (int ms = 0; ms < CATCH_UP_MS; ms++) {
		uint32_t pid = atomic_load(&one->box->shared->in_flight);

		read_registrations(one, true);
		if (!pid || find(one, (pid_t)pid))
			return;
		(void)ab_fd_poll(one->box->register_fd, POLLIN, 1);
	}
}

/*
 * In its own pid namespace -1 is everybody else in the box, in one step that
 * no fork escapes (kill(2)). That takes the launcher as well, so the caller
 * hears of it only when another is there: his next command is not lost in
 * the old one. Who dies hands his children to us (pid_namespaces(7),
 * PR_SET_CHILD_SUBREAPER), so no child left means nobody left.
 */
int init_kill_all(pid_one *one, uint32_t reason)
{
	uint64_t end = ab_clock_boot_ns() + KILL_ALL_MS * NS_PER_MS;
	bool is_done;

	catch_up(one);
	for (command *c = one->commands; c; c = c->next)
		kill_group(c, reason);
	one->is_killing = true;
	for (;;) {
		if (one->box->plan.namespaces & AB_NS_PID)
			kill(-1, SIGKILL);
		else
			init_kill_below(getpid());
		is_done = reap(one);
		if (is_done || ab_clock_boot_ns() >= end)
			break;
		(void)ab_fd_poll(one->signal_fd, POLLIN, 1);
		drain_signals(one);
	}
	one->is_killing = false;
	/* one that hangs in the kernel is replaced when it ends */
	if (!one->launcher_pid)
		start_launcher(one, -1);
	return is_done ? 0 : -ETIMEDOUT;
}

/*
 * Who asks waited for a launcher longer than this one lives, when it is a
 * replacement of just now: several threads that waited for the one before
 * ask one after the other, and must not kill what the first of them got.
 */
static void end_stalled_launcher(pid_one *one)
{
	uint64_t age = ab_clock_boot_ns() - one->replaced_ns;

	if (one->launcher_pid && age >= MIN_LAUNCHER_MS * NS_PER_MS)
		kill(one->launcher_pid, SIGKILL);
}

static void on_link(pid_one *one)
{
	uint8_t message[64];
	ab_reader r;
	size_t count = 0;
	uint32_t kind, serial;
	int result = 0;
	ssize_t n = ab_message_recv(one->box->link_inside_fd, message,
				    sizeof(message), NULL, 0, &count,
				    MSG_DONTWAIT);

	if (n == -EAGAIN || n == -EPROTO)
		return;
	/* the holder is gone: so is the box */
	if (n <= 0)
		_exit(0);
	ab_reader_init(&r, message, (size_t)n);
	kind = ab_get_u32(&r);
	(void)ab_get_u32(&r);
	serial = ab_get_u32(&r);
	if (!ab_reader_done(&r))
		return;
	if (kind == AB_MSG_LINK_KILL_ALL)
		result = init_kill_all(one, AB_REASON_KILLED);
	else if (kind == AB_MSG_LINK_RELAUNCH)
		end_stalled_launcher(one);
	else if (kind != AB_MSG_LINK_STATISTICS)
		result = -EINVAL;
	reply(one, serial, result);
}

static void start_launcher(pid_one *one, int link_fd)
{
	pid_t pid = ab_sys_clone(SIGCHLD);

	if (pid == 0)
		init_launcher(one->box, link_fd);
	if (link_fd < 0) {
		one->relaunch_total++;
		one->replaced_ns = ab_clock_boot_ns();
	}
	set_launcher(one, pid > 0 ? pid : 0);
	one->relaunch_at_ns = 0;
	if (pid < 0) /* the agent's fork bomb: try again */
		one->relaunch_at_ns = ab_clock_boot_ns() + 20 * NS_PER_MS;
}

/* The holder looks for itself; a message that finds no room is lost. */
static void tell_quiet(pid_one *one)
{
	uint8_t memory[AB_MESSAGE_HEADER];
	ab_writer w;

	one->quiet_at_ns = 0;
	if (one->commands)
		return;
	/* nobody would be absent for the holder, which does not ask again */
	if (atomic_load(&one->box->shared->in_flight)) {
		ask_for_quiet(one);
		return;
	}
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_LINK_QUIET);
	ab_put_u32(&w, 0);
	(void)ab_message_send(one->box->link_inside_fd, w.data, w.len, NULL, 0,
			      MSG_DONTWAIT);
}

static void expire(pid_one *one)
{
	uint64_t now = ab_clock_boot_ns();

	for (command *c = one->commands; c; c = c->next) {
		if (c->deadline_ns && c->deadline_ns <= now) {
			init_kill_command(one, c, AB_REASON_WALL);
			c->deadline_ns = 0;
		}
	}
	if ((one->hunt_at_ns && one->hunt_at_ns <= now) ||
	    (one->over_at_ns && one->over_at_ns <= now)) {
		/* who is over and not registered yet has his own reason */
		read_registrations(one, true);
		init_hunt(one, now);
	}
	if (one->relaunch_at_ns && one->relaunch_at_ns <= now)
		start_launcher(one, -1);
	if (one->poll_at_ns && one->poll_at_ns <= now)
		init_poll_limits(one, now);
	if (one->quiet_at_ns && one->quiet_at_ns <= now)
		tell_quiet(one);
}

static void earlier(uint64_t *at, uint64_t candidate)
{
	if (candidate && (!*at || candidate < *at))
		*at = candidate;
}

static int next_timeout(const pid_one *one)
{
	uint64_t at = one->relaunch_at_ns;

	earlier(&at, one->poll_at_ns);
	earlier(&at, one->hunt_at_ns);
	earlier(&at, one->over_at_ns);
	earlier(&at, one->quiet_at_ns);
	for (const command *c = one->commands; c; c = c->next)
		earlier(&at, c->deadline_ns);
	return (int)ab_clock_left_ms(at);
}

static void serve(pid_one *one)
{
	struct epoll_event events[MAX_EVENTS];
	int timeout = next_timeout(one);
	int n = epoll_wait(one->epoll_fd, events, MAX_EVENTS, timeout);

	for (int i = 0; i < n; i++) {
		uint64_t tag = events[i].data.u64;

		/* commands are freed after the batch, never within it */
		if (tag == TAG_REGISTER)
			read_registrations(one, false);
		else if (tag == TAG_SIGNAL)
			on_signal(one);
		else if (tag == TAG_LINK)
			on_link(one);
		else
			on_channel(one, (command *)(uintptr_t)tag);
	}
	if (timeout >= 0)
		expire(one);
	if (one->has_ended)
		free_ended(one);
}

static int open_register(init_box *box)
{
	int pair[2];
	int r = ab_fd_seqpacket_pair(pair);

	if (r)
		return init_fail(box, -r, "", "launcher");
	box->register_fd = pair[0];
	box->register_launcher_fd = pair[1];
	return 0;
}

static int prepare(pid_one *one)
{
	init_box *box = one->box;
	sigset_t mask;

	sigfillset(&mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	one->signal_fd = ab_fd_lift(
		signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
	one->epoll_fd = ab_fd_lift(epoll_create1(EPOLL_CLOEXEC));
	if (one->signal_fd < 0 || one->epoll_fd < 0 ||
	    watch(one, one->signal_fd, TAG_SIGNAL) ||
	    watch(one, box->register_fd, TAG_REGISTER) ||
	    watch(one, box->link_inside_fd, TAG_LINK))
		return init_fail(box, errno, "", "pid 1");
	return 0;
}

/* The landlock tier and the bare one: in the host's tree. */
static int begin_bare(init_box *box)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (init_open_null(box) || init_prepare_landlock(box))
		return -1;
	return chdir("/") ? init_fail(box, errno, "", "root") : 0;
}

/* What is joined comes late: meanwhile the first launcher does its part. */
static int begin_tree(init_box *box)
{
	if (init_build_root(box) || init_prepare_landlock(box) ||
	    init_switch_root(box))
		return -1;
	init_show_root(box);
	return init_open_null(box) || init_detach_host(box) ||
			       init_join_first(box) || init_seal_root(box)
		       ? -1
		       : 0;
}

/* Everything the box's first process must do while it still may. */
static int become_pid_one(pid_one *one)
{
	init_box *box = one->box;

	if (setsid() < 0)
		return init_fail(box, errno, "", "session");
	init_open_oom_counter(one);
	init_set_oom_score(box);
	if (init_enter_namespaces(box) || init_bound_privileges(box) ||
	    init_raise_notices(box) ||
	    open_register(box) || init_start_first(box) ||
	    init_begin_root(box))
		return -1;
	init_pass_root(box);
	if (prepare(one) || init_await_plan(box) || init_lend_namespaces(box))
		return -1;
	if (box->plan.tier >= AB_TIER_LANDLOCK ? begin_bare(box)
					       : begin_tree(box))
		return -1;
	init_prepare_polling(one);
	return init_drop_privileges(box);
}

_Noreturn void init_pid_one(init_box *box)
{
	pid_one one = {
		.box = box, .epoll_fd = -1, .signal_fd = -1, .oom_fd = -1};

	prctl(PR_SET_NAME, "agentbox-pid1", 0, 0, 0);
	umask(022);
	close(AB_HELPER_PLAN_FD);
	close(box->host_pidfd);
	close(box->link_holder_fd);
	if (become_pid_one(&one)) {
		init_send_failure(box, box->link_inside_fd);
		_exit(1);
	}
	if (init_release_first(box))
		set_launcher(&one, one.first_pid = box->first_launcher);
	/* the host's, and for nothing else than to say that all stands */
	close(box->control_fd);
	close(box->spawn_host_fd);
	if (!one.launcher_pid)
		start_launcher(&one, box->link_inside_fd);
	if (!one.launcher_pid) {
		init_fail(box, EAGAIN, "", "launcher");
		init_send_failure(box, box->link_inside_fd);
		_exit(1);
	}
	/* its first use takes longer, and is at the end of a command */
	(void)ab_clock_boot_ns();
	for (;;)
		serve(&one);
}
