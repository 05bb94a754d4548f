/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host's end of the control socket: requests with their replies, and
 * what arrives between them. The holder is our program but stands next to
 * the agent's world, so everything it sends is parsed strictly: one malformed
 * message ends the box. Messages: wire/box.h.
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

void ab_control_break(agentbox_sandbox *box)
{
	atomic_store(&box->ended, true);
	shutdown(box->helper.control_fd, SHUT_RDWR);
}

int ab_control_send(agentbox_sandbox *box, uint32_t kind, uint32_t arg,
		    int fd_in, uint32_t *serial)
{
	uint8_t memory[64];
	ab_writer w;
	ab_msg_request m = { .kind = kind, .serial = ++box->serial,
			     .arg = arg };

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_request(&w, fd_in >= 0, &m);
	if (w.bad)
		return -EPROTO;
	*serial = m.serial;
	/* What is not answered is bounded, so there is room for one more. */
	return ab_message_send(box->helper.control_fd, w.data, w.len, &fd_in,
			       fd_in >= 0, MSG_DONTWAIT);
}

int ab_control_take(agentbox_sandbox *box, uint32_t serial, int *fd_out,
		    ab_msg_reply *reply)
{
	uint8_t buf[AB_MAX_MESSAGE];
	int fd = -1;
	size_t n = 0;
	ab_msg_reply got;
	ab_reader r;

	int64_t kind = receive(box, buf, sizeof(buf), &n, &fd, MSG_DONTWAIT);
	if (kind <= 0)
		return kind ? (int)kind : -EAGAIN;
	if (kind == AB_MSG_EVENT && fd < 0)
		return ab_events_push(box, buf, n);
	if (kind == AB_MSG_LOOKED && fd < 0 && n == AB_MESSAGE_HEADER) {
		box->has_looked = true;
		return 0;
	}
	ab_reader_init(&r, buf, n);
	ab_get_u64(&r); /* kind and fd count, judged above */
	bool is_reply = kind == AB_MSG_REPLY && ab_msg_get_reply(&r, &got) == 0;
	if (is_reply && serial && got.serial == serial && (fd < 0 || fd_out)) {
		*reply = got;
		if (fd_out)
			*fd_out = fd;
		return 1;
	}
	if (is_reply && box->settle.is_sent &&
	    got.serial == box->settle.serial && fd < 0) {
		box->settle.is_answered = true;
		box->settle.reply = got;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	return -EPROTO;
}

/* Send and wait for the reply; lock held. */
static int request_locked(agentbox_sandbox *box, uint32_t kind, uint32_t arg,
			  int fd_in, int *fd_out, ab_msg_reply *reply)
{
	uint32_t serial;
	uint64_t deadline = ab_clock_boot_ns() +
			    AB_REQUEST_TIMEOUT_MS * 1000000ull;

	int rc = ab_control_send(box, kind, arg, fd_in, &serial);
	while (rc >= 0) {
		rc = ab_fd_poll(box->helper.control_fd, POLLIN,
				ab_clock_left_ms(deadline));
		if (rc == 0)
			return -ETIMEDOUT;
		if (rc > 0)
			rc = ab_control_take(box, serial, fd_out, reply);
		if (rc == 1)
			return 0;
		if (rc == -EAGAIN)
			rc = 0;
	}
	return rc;
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
	if (rc < 0)
		ab_control_break(box);
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
	int rc = 0;

	/* A thread that waits for a reply reads the socket anyway. */
	if (pthread_mutex_trylock(&box->lock) != 0) {
		ab_events_publish(box);
		return 0;
	}
	/* Also after the end: what was said before it is still to be read,
	   until agentbox_sandbox_end() has read it and closed the socket. */
	while (rc == 0)
		rc = box->helper.control_fd < 0
		     ? -EAGAIN : ab_control_take(box, 0, NULL, NULL);
	if (rc != -EAGAIN)
		ab_control_break(box);
	pthread_mutex_unlock(&box->lock);
	ab_events_publish(box);

	if (rc == -ECONNRESET || rc == -EAGAIN)
		return 0; /* the end of a box is an event, not an error */
	return ab_error_sys_code(err, AGENTBOX_EPROTO, -rc, "box",
				 "box %s sent something malformed and was "
				 "ended", box->id);
}
