/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who is at the other end of an owner's socket. The user id alone does not
 * tell: the box of an ordinary user has it too, and a box that sees a state
 * directory through some mount can connect (neither a read-only mount nor
 * Landlock stops connect(2) to a path). A box's processes live in a user
 * namespace of their own, so the peer has to be in ours. What cannot be
 * looked at (no /proc, a process that is not dumpable, an id that means
 * nothing here) is refused.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "owner/protocol.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/*
 * The process that connected or listened. Before Linux 6.5 its id is looked
 * up, which is another process only if it has ended since and its id was
 * taken again.
 */
static int open_peer(int fd, pid_t pid)
{
	int peer = -1;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &peer, &size) == 0)
		return ab_fd_lift(peer);
	if (errno != ENOPROTOOPT)
		return -1;
	return ab_fd_lift((int)syscall(SYS_pidfd_open, pid, 0));
}

static bool has_ended(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, 0) != 0;
}

bool ab_owner_peer_is_ours(int fd)
{
	struct ucred peer;
	struct stat ours, theirs;
	socklen_t size = sizeof(peer);
	char path[40];

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 ||
	    peer.uid != geteuid() || peer.pid <= 0)
		return false;
	ab_autofd int pidfd = open_peer(fd, peer.pid);
	if (pidfd < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)peer.pid);
	if (stat("/proc/self/ns/user", &ours) < 0 || stat(path, &theirs) < 0)
		return false;
	/* the id was the process's own when its namespace was read */
	return !has_ended(pidfd) && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}
