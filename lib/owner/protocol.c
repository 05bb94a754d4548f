/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of the owner's protocol that both sides share: names, the
 * directory of sockets, and the way to one of them.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/limits.h"
#include "owner/protocol.h"

bool ab_owner_name_ok(const char *name)
{
	size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"abcdefghijklmnopqrstuvwxyz0123456789._-");

	return n && !name[n] && n <= AB_OWNER_MAX_NAME && name[0] != '.';
}

int32_t ab_owner_open_dir(agentbox_context *context, int *dirfd,
			  agentbox_error **err)
{
	return ab_context_open_dir(context, AB_OWNER_DIR, dirfd, err);
}

int ab_owner_address(int dirfd, const char *name, struct sockaddr_un *out)
{
	memset(out, 0, sizeof(*out));
	out->sun_family = AF_UNIX;
	int n = snprintf(out->sun_path, sizeof(out->sun_path),
			 "/proc/self/fd/%d/%s", dirfd, name);
	return n < 0 || (size_t)n >= sizeof(out->sun_path) ? -ENAMETOOLONG : 0;
}

int ab_owner_connect(int dirfd, const char *name)
{
	struct sockaddr_un address;
	int rc = ab_owner_address(dirfd, name, &address);
	if (rc < 0)
		return rc;
	ab_autofd int fd = ab_fd_lift(socket(AF_UNIX, SOCK_SEQPACKET |
					     SOCK_CLOEXEC, 0));
	if (fd < 0)
		return -errno;
	/* connect(2) waits for room in the owner's queue as a send does, and
	   a non-blocking one is not finished later (unix(7)). */
	const struct timeval limit = { .tv_sec = AB_OWNER_CONNECT_MS / 1000 };
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		return -errno;
	uint64_t deadline = ab_clock_boot_ns() +
			    AB_OWNER_CONNECT_MS * UINT64_C(1000000);
	while (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		if (errno != EINTR || ab_clock_left_ms(deadline) == 0)
			return errno == EINTR ? -EAGAIN : -errno;
	if (!ab_owner_peer_is_ours(fd))
		return -EACCES;
	return ab_steal_fd(&fd);
}
