/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Relays: a regular file of the host and a pipe, so that a command never
 * holds the file itself. A write-only descriptor could be opened again for
 * reading through /proc (RECIPES.md section 2, sandbox case 105).
 * The holder copies in its own loop; what a command left in its pipe is
 * written out before a SETTLE is answered. A relay belongs to a command: with
 * its end the pipe ends for whoever it left behind, who could otherwise fill
 * the host's disk, and all places for relays, at leisure.
 * Spec: wire/box.h AB_MSG_RELAY.
 */
#include "config.h"

#include "holder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define CHUNK 65536
/* Between two looks at the control socket. */
#define CHUNKS_AT_ONCE 16

struct relay {
	uint32_t group; /* 0: of no command */
	int file_fd, pipe_fd;
	bool is_into; /* into the box: file -> pipe */
	size_t at, n; /* of buffer still to be written into the pipe */
	char buffer[CHUNK];
};

static void drop(holder *h, size_t i)
{
	close(h->relays[i]->file_fd);
	close(h->relays[i]->pipe_fd);
	free(h->relays[i]);
	h->relays[i] = NULL;
}

static int check_file(int fd, bool is_into)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);
	int mode = flags & O_ACCMODE;

	if (flags < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || (flags & O_PATH))
		return -EINVAL;
	if (mode != O_RDWR && mode != (is_into ? O_RDONLY : O_WRONLY))
		return -EBADF;
	return 0;
}

int init_add_relay(holder *h, int file_fd, uint32_t arg, int *pipe_fd)
{
	size_t i = 0;
	int pair[2], mine = (int)(arg & 1); /* 1: we write, it reads */
	relay *r;
	int ret = check_file(file_fd, mine == 1);

	if (ret)
		return ret;
	while (i < INIT_MAX_RELAYS && h->relays[i])
		i++;
	if (i == INIT_MAX_RELAYS)
		return -EMFILE;
	r = calloc(1, sizeof(*r));
	if (!r || pipe2(pair, O_CLOEXEC)) {
		free(r);
		return -ENOMEM;
	}
	r->group = arg >> 1;
	r->is_into = mine == 1;
	r->pipe_fd = pair[mine];
	r->file_fd = ab_fd_dup(file_fd);
	if (r->file_fd < 0 || ab_fd_set_nonblock(r->pipe_fd, 1)) {
		ab_cleanup_fd(&r->file_fd);
		close(pair[0]);
		close(pair[1]);
		free(r);
		return -EMFILE;
	}
	*pipe_fd = pair[!mine];
	h->relays[i] = r;
	return 0;
}

/* Out of the box. How much, and more may come; 0: not now, -1: the end. */
static ssize_t pump_out(relay *r)
{
	ssize_t n = read(r->pipe_fd, r->buffer, sizeof(r->buffer));

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	/* a full disk: the command gets SIGPIPE, as it would from the file */
	if (n == 0 || ab_fd_write_full(r->file_fd, r->buffer, (size_t)n))
		return -1;
	return n;
}

static ssize_t pump_into(relay *r)
{
	ssize_t n;

	if (r->at == r->n) {
		n = ab_fd_read_full(r->file_fd, r->buffer, sizeof(r->buffer));
		if (n <= 0)
			return -1;
		r->at = 0;
		r->n = (size_t)n;
	}
	n = write(r->pipe_fd, r->buffer + r->at, r->n - r->at);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	r->at += (size_t)n;
	return n;
}

static void pump(holder *h, size_t i, int chunks)
{
	ssize_t r = 1;

	while (r > 0 && chunks-- > 0)
		r = h->relays[i]->is_into ? pump_into(h->relays[i])
					  : pump_out(h->relays[i]);
	if (r < 0)
		drop(h, i);
}

size_t init_poll_relays(holder *h, struct pollfd *fds)
{
	/* by index, so that fds[i] stays relays[i]; -1 is ignored */
	for (size_t i = 0; i < INIT_MAX_RELAYS; i++) {
		const relay *r = h->relays[i];

		fds[i].fd = r ? r->pipe_fd : -1;
		fds[i].events = r && r->is_into ? POLLOUT : POLLIN;
		fds[i].revents = 0;
	}
	return INIT_MAX_RELAYS;
}

void init_serve_relays(holder *h, const struct pollfd *fds, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (fds[i].revents && h->relays[i])
			pump(h, i, CHUNKS_AT_ONCE);
	}
}

/* Only what is there now: who goes on writing holds nobody up. False at the
   end. */
static bool flush(relay *r)
{
	int left = 0;

	if (r->is_into)
		return true;
	if (ioctl(r->pipe_fd, FIONREAD, &left))
		return false;
	for (;;) {
		ssize_t n = pump_out(r);

		if (n <= 0)
			return n == 0;
		if (left <= n)
			return true;
		left -= (int)n;
	}
}

void init_flush_relays(holder *h)
{
	for (size_t i = 0; i < INIT_MAX_RELAYS; i++) {
		if (h->relays[i] && !flush(h->relays[i]))
			drop(h, i);
	}
}

void init_end_relays(holder *h, uint32_t group)
{
	for (size_t i = 0; group && i < INIT_MAX_RELAYS; i++) {
		if (!h->relays[i] || h->relays[i]->group != group)
			continue;
		(void)flush(h->relays[i]);
		drop(h, i);
	}
}
