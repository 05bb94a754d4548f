/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host's end of the control socket: requests with their replies, and the
 * queue of events. The holder is our program but stands next to the agent's
 * world, so everything it sends is parsed strictly: one malformed message
 * ends the box. Messages: wire/box.h.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/limits.h"
#include "sandbox/internal.h"
#include "wire/message.h"

/*
 * One datagram. Returns its kind, 0 when nothing is there (with DONTWAIT),
 * negative when the holder is gone or lies.
 */
static int64_t receive(agentbox_sandbox *box, uint8_t *buf, size_t size,
		       size_t *n, int *fd_out, int flags)
{
	int fds[1] = { -1 };
	size_t fd_count = 0;
	ssize_t got = ab_message_recv(box->helper.control_fd, buf, size, fds,
				      1, &fd_count, flags);
	if (got == -EAGAIN)
		return 0;
	if (got == 0)
		return -ECONNRESET;
	if (got < 0)
		return got;

	ab_reader r;
	ab_reader_init(&r, buf, (size_t)got);
	uint32_t kind = ab_get_u32(&r);
	uint32_t announced = ab_get_u32(&r);
	if (r.bad || announced != fd_count || (fd_count && !fd_out)) {
		if (fd_count)
			close(fds[0]);
		return -EPROTO;
	}
	if (fd_count)
		*fd_out = fds[0];
	*n = (size_t)got;
	return kind;
}

static void mark_ended(agentbox_sandbox *box)
{
	atomic_store(&box->ended, true);
}

/* Wait for the reply to `serial`; lock held. */
static int await_reply(agentbox_sandbox *box, uint32_t serial, int *fd_out,
		       ab_msg_reply *reply)
{
	uint8_t buf[AB_MAX_MESSAGE];
	uint64_t deadline = ab_clock_boot_ns() +
			    AB_REQUEST_TIMEOUT_MS * 1000000ull;

	for (;;) {
		int fd = -1;
		size_t n = 0;
		int ready = ab_fd_poll(box->helper.control_fd, POLLIN,
				       ab_clock_left_ms(deadline));
		if (ready <= 0)
			return ready ? ready : -ETIMEDOUT;
		int64_t kind = receive(box, buf, sizeof(buf), &n, &fd,
				       MSG_DONTWAIT);
		if (kind < 0)
			return (int)kind;
		if (kind == 0)
			continue;
		if (kind == AB_MSG_EVENT && fd < 0) {
			int rc = ab_events_push(box, buf, n);
			if (rc < 0)
				return rc;
			continue;
		}
		ab_reader r;
		ab_reader_init(&r, buf, n);
		ab_get_u64(&r); /* kind and fd count, judged above */
		if (kind != AB_MSG_REPLY || ab_msg_get_reply(&r, reply) < 0 ||
		    reply->serial != serial || (fd >= 0 && !fd_out)) {
			if (fd >= 0)
				close(fd);
			return -EPROTO;
		}
		if (fd_out)
			*fd_out = fd;
		return 0;
	}
}

static int request_locked(agentbox_sandbox *box, uint32_t kind, uint32_t arg,
			  int fd_in, int *fd_out, ab_msg_reply *reply)
{
	uint8_t memory[64];
	ab_writer w;
	ab_msg_request m = { .kind = kind, .serial = ++box->serial,
			     .arg = arg };

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_request(&w, fd_in >= 0, &m);
	if (w.bad)
		return -EPROTO;
	int rc = ab_message_send(box->helper.control_fd, w.data, w.len, &fd_in,
				 fd_in >= 0, 0);
	if (rc < 0)
		return rc;
	return await_reply(box, m.serial, fd_out, reply);
}

int32_t ab_control_request(agentbox_sandbox *box, uint32_t kind, uint32_t arg,
			   int fd_in, int *fd_out, ab_msg_reply *reply,
			   agentbox_error **err)
{
	ab_msg_reply unused = { 0 };
	int fd = -1;

	pthread_mutex_lock(&box->lock);
	int rc = atomic_load(&box->ended)
		 ? -ECONNRESET
		 : request_locked(box, kind, arg, fd_in, fd_out ? &fd : NULL,
				  reply ? reply : &unused);
	/* A control socket out of step cannot be trusted again: closing it
	   ends the box, which is the safe end. */
	if (rc < 0) {
		mark_ended(box);
		shutdown(box->helper.control_fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&box->lock);
	ab_events_publish(box);

	if (rc < 0)
		return ab_error_sys_code(err, AGENTBOX_ECLOSED, -rc, "box",
					 "box %s no longer answers", box->id);
	if (!reply && unused.result < 0)
		return ab_error_sys_code(err, AGENTBOX_ESYS, -unused.result,
					 "box", "box %s could not do what was "
					 "asked of it", box->id);
	if (fd_out)
		*fd_out = fd;
	return 0;
}

int32_t ab_control_drain(agentbox_sandbox *box, agentbox_error **err)
{
	uint8_t buf[AB_MAX_MESSAGE];
	int rc = 0;

	/* A thread that waits for a reply reads the socket anyway. */
	if (pthread_mutex_trylock(&box->lock) != 0) {
		ab_events_publish(box);
		return 0;
	}
	/* Also after the end: what was said before it is still to be read. */
	for (;;) {
		size_t n = 0;
		int64_t kind = receive(box, buf, sizeof(buf), &n, NULL,
				       MSG_DONTWAIT);
		if (kind == 0)
			break;
		if (kind == AB_MSG_EVENT)
			rc = ab_events_push(box, buf, n);
		else
			rc = kind < 0 ? (int)kind : -EPROTO;
		if (rc < 0) {
			mark_ended(box);
			shutdown(box->helper.control_fd, SHUT_RDWR);
			break;
		}
	}
	pthread_mutex_unlock(&box->lock);
	ab_events_publish(box);

	if (rc == -ECONNRESET || rc == 0)
		return 0; /* the end of a box is an event, not an error */
	return ab_error_sys_code(err, AGENTBOX_EPROTO, -rc, "box",
				 "box %s sent something malformed and was "
				 "ended", box->id);
}

/* Something may have changed a protected path since the last settle. */
static bool needs_settle(const agentbox_sandbox *box)
{
	struct pollfd p[2] = {
		{ .fd = box->mountinfo_fd, .events = POLLPRI },
		{ .fd = box->watch_fd, .events = POLLIN },
	};

	if (p[0].fd < 0 && p[1].fd < 0)
		return false;
	/* A poll that fails cannot vouch for anything: settle. */
	return poll(p, 2, 0) != 0;
}

int32_t ab_box_settle(agentbox_sandbox *box, bool force, agentbox_error **err)
{
	ab_msg_reply reply = { 0 };
	int32_t rc = 0;

	/* The poll takes the mount table's notice away (proc(5), mountinfo),
	   so looking and settling are one step: another thread must not find
	   nothing and go on while this one still settles. */
	pthread_mutex_lock(&box->settle_lock);
	if (atomic_load(&box->ended)) {
		/* freed in order: it settled then; broken: nobody knows */
		if (box->unprotected)
			rc = ab_error_set(err, AGENTBOX_EWALL, "protect",
					  "box %s broke before its protected "
					  "paths were settled; look at its "
					  "workspace", box->id);
	} else if (force || box->unprotected || needs_settle(box)) {
		rc = ab_control_request(box, AB_MSG_SETTLE, 0, -1, NULL,
					&reply, err);
		/* values[2]: how many names could not be put right */
		if (rc == 0 && reply.result == 0 && reply.values[2])
			reply.result = -EBUSY;
		box->unprotected = rc < 0 || reply.result < 0;
	}
	pthread_mutex_unlock(&box->settle_lock);

	if (rc < 0)
		return rc;
	if (reply.result < 0)
		return ab_error_sys_code(err, AGENTBOX_EWALL, -reply.result,
					 "protect",
					 "protected paths of box %s could not "
					 "be put right (see its events); no "
					 "command is started until they are",
					 box->id);
	return 0;
}
