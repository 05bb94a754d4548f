/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Run a command and collect what it prints. Reads until the command has
 * ended, not until the pipes close: a daemon that keeps one open does not
 * hold the caller (case 63 of the sandbox cases).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/fd.h"
#include "sandbox/internal.h"

#define MAX_READS 16

typedef struct stream {
	int fd; /* our end, non-blocking; -1: not collected or ended */
	agentbox_bytes *kept;
	size_t max;
	uint64_t dropped;
} stream;

static void keep(stream *s, const char *p, size_t n)
{
	size_t room = s->max - agentbox_bytes_get_size(s->kept);
	size_t take = n < room ? n : room;

	/* Output that cannot be kept for lack of memory counts as dropped. */
	if (take && !ab_bytes_append(s->kept, p, take))
		take = 0;
	s->dropped += n - take;
}

/*
 * Read what is there, at most MAX_READS times so that a flood cannot hold
 * us; a stream that ended is closed.
 */
static void pump(stream *s)
{
	char buf[65536];

	for (int i = 0; i < MAX_READS && s->fd >= 0; i++) {
		ssize_t n = read(s->fd, buf, sizeof(buf));
		if (n > 0) {
			keep(s, buf, (size_t)n);
			if ((size_t)n < sizeof(buf))
				return;
		} else if (n < 0 && errno == EINTR) {
			continue;
		} else if (n < 0 && errno == EAGAIN) {
			return;
		} else {
			close(s->fd);
			s->fd = -1;
		}
	}
}

static int32_t open_stream(agentbox_command *c, int target, size_t max,
			   stream *s, agentbox_error **err)
{
	int pair[2];

	s->max = max;
	s->kept = ab_bytes_new(max);
	if (!s->kept)
		return ab_error_nomem(err);
	if (pipe2(pair, O_CLOEXEC) < 0)
		return ab_error_sys(err, errno, "capture",
				    "cannot make a pipe");
	s->fd = pair[0];
	int32_t rc = agentbox_command_set_fd(c, target, pair[1], err);
	close(pair[1]);
	if (rc < 0)
		return rc;
	if (ab_fd_set_nonblock(s->fd, 1) < 0)
		return ab_error_sys(err, errno, "capture",
				    "cannot make a pipe non-blocking");
	return 0;
}

/* After the end: take what is already in the pipe, a bounded amount. */
static void collect(agentbox_process *p, stream *out, stream *err_out)
{
	for (;;) {
		struct pollfd fds[3] = {
			{ .fd = p->channel_fd, .events = POLLIN },
			{ .fd = out->fd, .events = POLLIN },
			{ .fd = err_out->fd, .events = POLLIN },
		};
		if (ab_box_poll(p->box, fds, 3, -1) < 0)
			return;
		if (fds[1].revents)
			pump(out);
		if (fds[2].revents)
			pump(err_out);
		if (fds[0].revents) {
			pump(out);
			pump(err_out);
			return;
		}
	}
}

/*
 * The command with its collected descriptors replaced. Borrows everything
 * but the descriptors from the original.
 */
static int32_t borrow_command(const agentbox_command *c, agentbox_command *own,
			      agentbox_error **err)
{
	*own = *c;
	own->fd_count = 0;
	for (size_t i = 0; i < c->fd_count; i++) {
		own->fds[i] = c->fds[i];
		own->fds[i].fd = ab_fd_dup(c->fds[i].fd);
		if (own->fds[i].fd < 0)
			return ab_error_sys(err, -own->fds[i].fd, "fd",
					    "cannot duplicate fd %d",
					    c->fds[i].fd);
		own->fd_count++;
	}
	return 0;
}

static void end_stream(stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	agentbox_bytes_free(s->kept);
}

int32_t agentbox_sandbox_capture(agentbox_sandbox *box,
				 const agentbox_command *command,
				 size_t max_bytes, agentbox_process **process,
				 agentbox_bytes **out, agentbox_bytes **err_out,
				 agentbox_error **err)
{
	stream so = { .fd = -1 }, se = { .fd = -1 };
	agentbox_process *p = NULL;
	agentbox_command own;

	if (!box || !command || !process)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "sandbox, command or process is NULL");
	if (command->pty)
		return ab_error_set(err, AGENTBOX_EINVAL, "pty",
				    "a command with a terminal is read through "
				    "agentbox_process_open_pty()");
	int32_t rc = borrow_command(command, &own, err);
	if (rc == 0 && out)
		rc = open_stream(&own, 1, max_bytes, &so, err);
	if (rc == 0 && err_out)
		rc = open_stream(&own, 2, max_bytes, &se, err);
	if (rc == 0)
		rc = agentbox_sandbox_spawn(box, &own, &p, err);
	/* Our copies of the writing ends must go, or the pipes never end. */
	for (size_t i = 0; i < own.fd_count; i++)
		close(own.fds[i].fd);
	if (rc == 0) {
		collect(p, &so, &se);
		p->dropped_out = so.dropped;
		p->dropped_err = se.dropped;
		rc = agentbox_process_wait(p, -1, err);
	}
	/* What ran is handed out also when its end could not be settled. */
	if (!p || (rc < 0 && rc != AGENTBOX_EWALL)) {
		agentbox_process_free(p);
	} else {
		*process = p;
		if (out)
			*out = ab_steal(&so.kept);
		if (err_out)
			*err_out = ab_steal(&se.kept);
	}
	end_stream(&so);
	end_stream(&se);
	return rc;
}
