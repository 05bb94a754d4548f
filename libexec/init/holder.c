/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The holder: the part of agentbox-init that stays outside the box. It
 * carries messages between the host and PID 1, answers the host's requests,
 * and ends the box, with everything in it, when the host closes the control
 * socket or dies. A forked child of the host may hold that socket open, so
 * the host's pidfd counts as much (RECIPES.md section 10). So does a signal
 * that asks a process to end: who stops a service or a container sends it to
 * all processes, and the box is to be put right then as well.
 * Spec: DESIGN.md section 2, wire/box.h.
 */
#include "config.h"

#include "holder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "base/limits.h"
#include "sys.h"
#include "wire/helper.h"
#include "wire/message.h"

enum {
	POLL_CONTROL,
	POLL_HOST,
	POLL_LINK,
	POLL_PID_ONE,
	POLL_SIGNAL,
	POLL_GUARD,
	POLL_FIXED = POLL_GUARD + INIT_GUARD_FDS
};

static void send_reply(holder *h, const ab_msg_reply *m, int fd)
{
	uint8_t memory[64];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_reply(&w, AB_MSG_REPLY, fd >= 0, m);
	if (!w.bad)
		(void)ab_message_send(h->box->control_fd, w.data, w.len, &fd,
				      fd >= 0, 0);
}

/* Pass to PID 1, which answers with the same serial. */
static void ask_pid_one(holder *h, uint32_t kind, uint32_t serial)
{
	ab_msg_reply failed = {.serial = serial};
	uint8_t memory[16];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, kind);
	ab_put_u32(&w, 0);
	ab_put_u32(&w, serial);
	failed.result = ab_message_send(h->box->link_holder_fd, w.data, w.len,
					NULL, 0, MSG_DONTWAIT);
	if (failed.result)
		send_reply(h, &failed, -1);
}

static void do_request(holder *h, const ab_msg_request *q, int fd)
{
	ab_msg_reply m = {.serial = q->serial};
	int reply_fd = -1;

	/* so nothing that is found now is lost */
	h->box->host_reads = q->kind == AB_MSG_SETTLE;
	switch (q->kind) {
	case AB_MSG_RELAUNCH:
		ask_pid_one(h, AB_MSG_LINK_RELAUNCH, q->serial);
		return;
	case AB_MSG_KILL_ALL:
		ask_pid_one(h, AB_MSG_LINK_KILL_ALL, q->serial);
		return;
	case AB_MSG_STATISTICS:
		ask_pid_one(h, AB_MSG_LINK_STATISTICS, q->serial);
		return;
	case AB_MSG_SETTLE:
		init_flush_relays(h);
		m.result = init_settle(h, m.values);
		break;
	case AB_MSG_RELAY:
		m.result = init_add_relay(h, fd, q->arg, &reply_fd);
		break;
	default:
		m.result = -EINVAL;
	}
	(void)init_tell_lost(h->box);
	h->box->host_reads = false;
	send_reply(h, &m, reply_fd);
	if (reply_fd >= 0)
		close(reply_fd);
}

/* The plan as bytes, `size` of them: a sealed memfd of our own, or -errno. */
static int receive_plan(holder *h, uint64_t size)
{
	ab_autofree uint8_t *plan = NULL, *chunk = NULL;
	size_t have = 0, count = 0;

	if (size == 0 || size > AB_MAX_PLAN_BYTES)
		return -EPROTO;
	plan = ab_calloc(1, (size_t)size);
	chunk = ab_calloc(1, AB_PLAN_CHUNK);
	if (!plan || !chunk)
		return -ENOMEM;
	while (have < size) {
		ssize_t n = ab_message_recv(h->box->control_fd, chunk,
					    AB_PLAN_CHUNK, NULL, 0, &count, 0);
		size_t got = n > AB_MESSAGE_HEADER ?
				     (size_t)n - AB_MESSAGE_HEADER : 0;

		if (got == 0 || got > size - have)
			return n < 0 ? (int)n : -EPROTO;
		memcpy(plan + have, chunk + AB_MESSAGE_HEADER, got);
		have += got;
	}
	return ab_fd_memfd_sealed("agentbox-plan", plan, have);
}

/*
 * PID 1 builds the tree and judges the plan. What of it is the holder's are
 * the trees that PID 1 asks for, and the watching: PID 1 tells when there is
 * something to watch, by the namespaces that are needed for it, and what is not
 * read by then is read when READY comes by us. Until then we leave the
 * processor to those who build the box.
 */
static bool can_read_later(const ab_plan *head)
{
	return head->tier < AB_TIER_LANDLOCK;
}

static void read_kept_plan(holder *h)
{
	if (h->plan_fd < 0)
		return;
	if (init_read_plan(h->box, h->plan_fd) || init_start_watching(h))
		init_end_box(h, &h->box->failure);
	ab_cleanup_fd(&h->plan_fd);
	h->plan_fd = -1;
}

/* The whole plan: PID 1 goes on with it, and the holder has its own part. */
static void on_plan(holder *h, uint32_t kind, ab_reader *r, int fd,
		    size_t count)
{
	if (kind == AB_MSG_PLAN && count == 0) {
		fd = receive_plan(h, ab_get_u64(r));
		count = fd >= 0 && ab_reader_done(r);
	}
	if (kind != AB_MSG_PLAN || count != 1) {
		init_fail(h->box, EPROTO, "", "plan");
		init_end_box(h, &h->box->failure);
	}
	if (can_read_later(&h->box->plan)) {
		h->plan_fd = fd;
		if (init_forward_plan(h->box, fd))
			init_end_box(h, &h->box->failure);
		return;
	}
	if (init_take_plan(h->box, fd) || init_start_watching(h))
		init_end_box(h, &h->box->failure);
	close(fd);
}

static void on_control(holder *h)
{
	uint8_t message[256];
	ab_msg_request q;
	ab_reader r;
	uint32_t kind;
	size_t count = 0;
	int fd = -1;
	ssize_t n = ab_message_recv(h->box->control_fd, message,
				    sizeof(message), &fd, 1, &count,
				    MSG_DONTWAIT);

	if (n == -EAGAIN || n == -EPROTO)
		return;
	if (n <= 0)
		init_end_box(h, NULL);
	ab_reader_init(&r, message, (size_t)n);
	kind = ab_get_u32(&r);
	(void)ab_get_u32(&r);
	if (h->box->awaits_plan) {
		on_plan(h, kind, &r, fd, count);
		return;
	}
	/* RELAY comes with its file, the others with nothing */
	if (ab_msg_get_request(&r, kind, &q) == 0 &&
	    count == (q.kind == AB_MSG_RELAY))
		do_request(h, &q, fd);
	if (count)
		close(fd);
}

static void set_ready(holder *h)
{
	close(h->box->spawn_host_fd);
	h->box->spawn_host_fd = -1;
	/* nothing of it is ours */
	ab_cleanup_fd(&h->plan_fd);
	h->plan_fd = -1;
	h->is_ready = true;
}

static void on_ready(holder *h, ab_msg_ready *m)
{
	init_box *box = h->box;
	int fds[3] = {box->spawn_host_fd, -1, -1};
	size_t count = 1;
	uint8_t memory[sizeof(box->notes) + 64];
	ab_writer w;

	read_kept_plan(h);
	if (init_needs_settling(&box->plan)) {
		box->mountinfo_fd = init_open_mountinfo(h->watcher);
		if (box->mountinfo_fd < 0)
			init_fail(box, -box->mountinfo_fd, "", "mountinfo");
		if (box->mountinfo_fd < 0 ||
		    init_start_guarding(h, init_open_mountinfo(h->watcher)))
			init_end_box(h, &box->failure);
		fds[1] = box->mountinfo_fd;
		fds[2] = box->notice_fd;
		count = 3;
	}
	m->pid_one = (uint32_t)box->pid_one;
	m->walls |= box->walls & AB_WALL_IDMAP;
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_ready(&w, AB_MSG_READY, (uint32_t)count, m);
	if (w.bad || ab_message_send(box->control_fd, w.data, w.len, fds,
				     count, 0))
		init_end_box(h, NULL);
	set_ready(h);
}

/* A string of the message is only borrowed: it goes out before the next. */
static void pass_failure(holder *h, const ab_msg_failed *m)
{
	init_failure *f = &h->box->failure;

	snprintf(f->stage, sizeof(f->stage), "%s", m->stage);
	snprintf(f->message, sizeof(f->message), "%s", m->message);
	f->sys_errno = m->sys_errno;
	init_end_box(h, f);
}

static void take_namespaces(holder *h, uint32_t kind, const int *fds,
			    size_t count)
{
	if (kind == AB_MSG_LINK_NAMESPACES && !h->is_ready)
		read_kept_plan(h);
	if (kind == AB_MSG_LINK_NAMESPACES && count == 2 && h->watcher &&
	    !h->is_ready) {
		init_keep_namespaces(h->watcher, fds);
		return;
	}
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
}

/* To the host; a box whose gateway, broker or shield cannot listen is none. */
static void pass_listeners(holder *h, uint32_t kind, ab_reader *r,
			   const int *fds, size_t count)
{
	bool is_gate = kind == AB_MSG_LINK_LISTENERS;
	bool is_broker = kind == AB_MSG_LINK_BROKER;
	uint8_t memory[AB_MESSAGE_HEADER + 8];
	ab_writer w;
	int failed;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, is_gate ? AB_MSG_LISTENERS
		   : is_broker ? AB_MSG_BROKER : AB_MSG_NOTICES);
	ab_put_u32(&w, (uint32_t)count);
	if (is_gate)
		ab_put_u32(&w, ab_get_u32(r));
	failed = ab_message_send(h->box->control_fd, w.data, w.len, fds, count,
				 0);
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
	if (failed) {
		init_fail(h->box, -failed, "",
			  is_gate ? "gateway listeners"
			  : is_broker ? "broker" : "shield");
		init_end_box(h, &h->box->failure);
	}
}

static void give_trees(holder *h, ab_reader *r)
{
	uint32_t wanted = ab_get_u32(r);

	read_kept_plan(h);
	if (!ab_reader_done(r))
		init_fail(h->box, EPROTO, "", "mounts");
	if (!ab_reader_done(r) || init_give_trees(h->box, wanted))
		init_end_box(h, &h->box->failure);
}

static void on_link(holder *h)
{
	static uint8_t message[4 * AB_MAX_PATH + 64];
	ab_msg_failed failed;
	ab_msg_ready ready;
	ab_msg_event event;
	ab_msg_reply reply;
	ab_reader r;
	uint32_t kind;
	size_t count = 0;
	int fds[AB_GATEWAY_MAX_FDS] = {-1, -1};
	ssize_t n = ab_message_recv(h->box->link_holder_fd, message,
				    sizeof(message), fds, AB_GATEWAY_MAX_FDS,
				    &count, MSG_DONTWAIT);

	if (n == -EAGAIN || n == -EPROTO)
		return;
	if (n <= 0) {
		h->link_closed = true;
		return;
	}
	ab_reader_init(&r, message, (size_t)n);
	kind = ab_get_u32(&r);
	(void)ab_get_u32(&r);
	if ((kind == AB_MSG_LINK_LISTENERS || kind == AB_MSG_LINK_NOTICES ||
	     kind == AB_MSG_LINK_BROKER) &&
	    !h->is_ready) {
		pass_listeners(h, kind, &r, fds, count);
		return;
	}
	if (count) {
		take_namespaces(h, kind, fds, count);
		return;
	}
	if (kind == AB_MSG_LINK_WANTED && !h->is_ready)
		give_trees(h, &r);
	else if (kind == AB_MSG_LINK_READY && !h->is_ready &&
	    ab_msg_get_ready(&r, &ready) == 0)
		on_ready(h, &ready);
	else if (kind == AB_MSG_LINK_TOLD && !h->is_ready)
		set_ready(h);
	else if (kind == AB_MSG_FAILED && !h->is_ready &&
		 ab_msg_get_failed(&r, &failed) == 0)
		pass_failure(h, &failed);
	else if (kind == AB_MSG_LINK_EVENT &&
		 ab_msg_get_event(&r, &event) == 0)
		init_tell(h->box, event.kind, event.object, event.detail);
	else if (kind == AB_MSG_LINK_REPLY &&
		 ab_msg_get_reply(&r, &reply) == 0)
		send_reply(h, &reply, -1);
	else if (kind == AB_MSG_LINK_RELAYS)
		init_end_relays(h, ab_get_u32(&r));
	else if (kind == AB_MSG_LINK_QUIET)
		init_on_quiet(h);
}

static void on_pid_one_end(holder *h)
{
	/* what it said last comes first */
	while (!h->link_closed) {
		if (ab_fd_poll(h->box->link_holder_fd, POLLIN, 0) <= 0)
			break;
		on_link(h);
	}
	if (!h->is_ready) {
		init_fail(h->box, ECHILD, "it ended before it was ready",
			  "pid 1");
		init_end_box(h, &h->box->failure);
	}
	init_tell(h->box, AB_EVENT_ENDED, "box", "its first process ended");
	init_end_box(h, NULL);
}

/* Nobody in the box can send one: he sees only its own processes. */
static void on_signal(holder *h)
{
	if (!h->is_ready) {
		init_fail(h->box, EINTR, "a signal asked it to end", "init");
		init_end_box(h, &h->box->failure);
	}
	init_tell(h->box, AB_EVENT_ENDED, "box", "a signal asked it to end");
	init_end_box(h, NULL);
}

/*
 * Blocked, they also wait while the end of the box is under way. PID 1 has
 * been made before and has a mask of its own.
 */
static int take_signals(holder *h)
{
	static const int asking[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < AB_ARRAY_LEN(asking); i++)
		sigaddset(&mask, asking[i]);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	h->signal_fd = ab_fd_lift(signalfd(-1, &mask, SFD_CLOEXEC));
	return h->signal_fd < 0 ? init_fail(h->box, errno, "", "init") : 0;
}

static void serve(holder *h)
{
	const init_box *box = h->box;
	struct pollfd fds[POLL_FIXED + INIT_MAX_RELAYS] = {
		[POLL_CONTROL] = {.fd = box->control_fd, .events = POLLIN},
		[POLL_HOST] = {.fd = box->host_pidfd, .events = POLLIN},
		[POLL_LINK] = {.fd = h->link_closed ? -1 : box->link_holder_fd,
			       .events = POLLIN},
		[POLL_PID_ONE] = {.fd = box->pid_one_pidfd, .events = POLLIN},
		[POLL_SIGNAL] = {.fd = h->signal_fd, .events = POLLIN},
	};
	size_t n = POLL_FIXED + init_poll_relays(h, fds + POLL_FIXED);
	int64_t timeout = init_poll_guard(h, fds + POLL_GUARD);

	/* read or not, it learns that it has missed something */
	if (!init_tell_lost(h->box))
		fds[POLL_CONTROL].events |= POLLOUT;
	if (ab_fd_poll_many(fds, n, timeout) < 0)
		init_end_box(h, NULL);
	if (fds[POLL_HOST].revents)
		init_end_box(h, NULL);
	if (fds[POLL_SIGNAL].revents)
		on_signal(h);
	if (fds[POLL_PID_ONE].revents)
		on_pid_one_end(h);
	/* before a request is served that relies on it */
	init_serve_guard(h, fds + POLL_GUARD);
	init_serve_relays(h, fds + POLL_FIXED, n - POLL_FIXED);
	if (fds[POLL_LINK].revents)
		on_link(h);
	if (fds[POLL_CONTROL].revents)
		on_control(h);
}

/* The holder keeps none of what belongs inside. */
static void close_inside(init_box *box)
{
	close(AB_HELPER_PLAN_FD);
	close(box->link_inside_fd);
	close(box->spawn_inside_fd);
	for (uint32_t i = 0; i < box->plan.cgroup_count; i++)
		close(box->cgroup_fds[i]);
}

_Noreturn void init_holder(init_box *box)
{
	static holder h;

	h.box = box;
	h.plan_fd = -1;
	/* only here: an ignored signal would be inherited by every command */
	signal(SIGPIPE, SIG_IGN);
	close_inside(box);
	box->pid_one_pidfd = ab_fd_lift(ab_sys_pidfd_open(box->pid_one));
	if (box->pid_one_pidfd < 0) {
		init_fail(box, -box->pid_one_pidfd, "", "pidfd");
		init_end_box(&h, &box->failure);
	}
	/* before there is a record that a death would leave */
	if (take_signals(&h) ||
	    (!box->awaits_plan && init_start_watching(&h)))
		init_end_box(&h, &box->failure);
	for (;;)
		serve(&h);
}
