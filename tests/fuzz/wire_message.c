/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A datagram of hostile bytes with a hostile number of fds: the receiver takes
 * it only when the header tells the truth, and no fd is left behind. The first
 * byte is the number of fds sent, the second how many are taken.
 */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "wire/codec.h"
#include "wire/message.h"

#define MAX_SENT 80u
#define MAX_TAKEN 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void send_raw(int sock, const void *p, size_t n, size_t fd_count)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(MAX_SENT *
							 sizeof(int))] = {0};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)p, .iov_len = n};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd_count) {
		struct cmsghdr *c;

		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		for (size_t i = 0; i < fd_count; i++)
			memcpy(CMSG_DATA(c) + i * sizeof(int), &sock,
			       sizeof(int));
	}
	(void)sendmsg(sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void check_taken(const uint8_t *in, size_t got, size_t sent,
			size_t taken, size_t count)
{
	ab_reader r;

	ab_reader_init(&r, in, got);
	(void)ab_get_u32(&r);
	if (ab_get_u32(&r) != count || r.bad || count != sent || count > taken)
		abort();
}

static int next_free(int fd)
{
	int probe = ab_fd_dup_from(fd, fd);

	close(probe);
	return probe;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t in[1024];
	int pair[2], fds[MAX_TAKEN], free_before;
	size_t sent, taken, count = 0;
	ssize_t got;

	if (size < 2 || size > 4096 || ab_fd_seqpacket_pair(pair))
		return 0;
	free_before = next_free(pair[1]);
	sent = data[0] % (MAX_SENT + 1);
	taken = data[1] % (MAX_TAKEN + 1);
	send_raw(pair[0], data + 2, size - 2, sent);
	got = ab_message_recv(pair[1], in, sizeof(in), fds, taken, &count,
			      MSG_DONTWAIT);
	if (got > 0) {
		check_taken(in, (size_t)got, sent, taken, count);
		for (size_t i = 0; i < count; i++)
			close(fds[i]);
	}
	/* the next free number is what it was: no fd was left open */
	if (next_free(pair[1]) != free_before)
		abort();
	close(pair[0]);
	close(pair[1]);
	return 0;
}
