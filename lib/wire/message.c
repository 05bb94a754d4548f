/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One datagram with its file descriptors. It refuses everything that is not
 * exactly what the header announces, and closes what came with a refused
 * message: a receiver that keeps stale fd numbers is a hole (RECIPES.md
 * section 2). Libc only. Spec: message.h, unix(7), cmsg(3).
 */
#include "config.h"

#include "wire/message.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "wire/codec.h"

/*
 * Room for the most fds that one message has (the kernel's SCM_MAX_FD) and for
 * control data we did not ask for, so that it is seen and refused rather than
 * cut off: what the kernel drops itself, it may wait for, see drop().
 */
#define MOST_FDS 253
#define CONTROL_SIZE (CMSG_SPACE(MOST_FDS * sizeof(int)) + 256)

/* fds that arrived, before they are judged. */
typedef struct arrived {
	int fds[CONTROL_SIZE / sizeof(int)];
	size_t count;
	bool is_foreign;
} arrived;

static uint32_t announced_fds(const void *p, size_t n)
{
	ab_reader r;

	ab_reader_init(&r, p, n);
	(void)ab_get_u32(&r);
	return ab_get_u32(&r);
}

int ab_message_send(int sock, const void *p, size_t n, const int *fds,
		    size_t fd_count, int flags)
{
	_Alignas(struct cmsghdr) char control[CONTROL_SIZE] = {0};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)p, .iov_len = n};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t r;

	if (n < AB_MESSAGE_HEADER || (flags & ~MSG_DONTWAIT) ||
	    fd_count > AB_MAX_MESSAGE_FDS || announced_fds(p, n) != fd_count)
		return -EINVAL;
	if (n > AB_MAX_MESSAGE)
		return -EMSGSIZE;
	if (fd_count) {
		size_t size = fd_count * sizeof(int);
		struct cmsghdr *c;

		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(size);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(size);
		memcpy(CMSG_DATA(c), fds, size);
	}
	do {
		r = sendmsg(sock, &msg, flags | MSG_NOSIGNAL);
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	return (size_t)r == n ? 0 : -EPROTO;
}

static void collect(struct msghdr *msg, arrived *a)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t count;

		if (c->cmsg_level != SOL_SOCKET ||
		    c->cmsg_type != SCM_RIGHTS) {
			a->is_foreign = true;
			continue;
		}
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(a->fds + a->count, CMSG_DATA(c), count * sizeof(int));
		a->count += count;
	}
}

/*
 * The last descriptor of a socket that lingers is closed when its data is out
 * or the time is over that the sender chose, and who closes it waits.
 */
static void drop(arrived *a)
{
	const struct linger none = { 0 };

	for (size_t i = 0; i < a->count; i++) {
		if (a->fds[i] < 0)
			continue;
		(void)setsockopt(a->fds[i], SOL_SOCKET, SO_LINGER, &none,
				 sizeof(none));
		close(a->fds[i]);
	}
	a->count = 0;
}

/* A host with closed standard streams would get an fd of 0-2 here. */
static int lift_all(arrived *a)
{
	for (size_t i = 0; i < a->count; i++) {
		a->fds[i] = ab_fd_lift(a->fds[i]);
		if (a->fds[i] < 0)
			return a->fds[i];
	}
	return 0;
}

/*
 * Unix sockets report ECONNRESET once, before what is still queued, when the
 * peer ended without reading all of ours. The next call gives the queue, then
 * the end: the last message of a dead helper is not lost.
 */
static ssize_t receive(int sock, struct msghdr *msg, int flags)
{
	ssize_t r;

	do {
		r = recvmsg(sock, msg, flags | MSG_CMSG_CLOEXEC);
	} while (r < 0 && (errno == EINTR || errno == ECONNRESET));
	return r < 0 ? -errno : r;
}

ssize_t ab_message_recv(int sock, void *p, size_t size, int *fds,
			size_t max_fds, size_t *fd_count, int flags)
{
	_Alignas(struct cmsghdr) char control[CONTROL_SIZE];
	struct iovec iov = {.iov_base = p, .iov_len = size};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	arrived a = {.count = 0};
	ssize_t n;
	int r;

	if (size < AB_MESSAGE_HEADER || (flags & ~MSG_DONTWAIT))
		return -EINVAL;
	n = receive(sock, &msg, flags);
	if (n < 0)
		return n;
	collect(&msg, &a);
	/* an empty datagram cannot be told from the end, so it is the end */
	if (n == 0 && a.count == 0 && !a.is_foreign) {
		*fd_count = 0;
		return 0;
	}
	if ((msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || a.is_foreign ||
	    n < AB_MESSAGE_HEADER || a.count > max_fds ||
	    announced_fds(p, (size_t)n) != a.count) {
		drop(&a);
		return -EPROTO;
	}
	r = lift_all(&a);
	if (r) {
		drop(&a);
		return r;
	}
	if (a.count)
		memcpy(fds, a.fds, a.count * sizeof(int));
	*fd_count = a.count;
	return n;
}

int ab_message_send_hello(int sock, const char *build_id, const char *name,
			  int pidfd)
{
	uint8_t memory[1024];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_HELLO);
	ab_put_u32(&w, 1);
	ab_put_str(&w, build_id);
	ab_put_str(&w, name);
	if (w.bad)
		return -EINVAL;
	return ab_message_send(sock, w.data, w.len, &pidfd, 1, 0);
}

void ab_message_send_no_hello(int sock, int sys_errno, const char *scheduling)
{
	uint8_t memory[64];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_NO_HELLO);
	ab_put_u32(&w, 0);
	ab_put_i32(&w, sys_errno);
	ab_put_str(&w, scheduling);
	if (!w.bad)
		(void)ab_message_send(sock, w.data, w.len, NULL, 0,
				      MSG_DONTWAIT);
}
