/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every helper does before it reads its plan. On any failure the helper
 * ends: a host without a hello raises nothing. Spec: helper.h.
 */
#include "config.h"

#include "wire/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "build-id.h"
#include "wire/message.h"

/* By number: the libc of agentbox-init has no names for it. */
static int open_process(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

int ab_helper_begin(const char *name)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
	    prctl(PR_SET_NAME, name, 0, 0, 0) ||
	    syscall(SYS_close_range, AB_HELPER_FIRST_FREE_FD, ~0u, 0))
		return -errno;
	/* posix_spawn gave them to us without CLOEXEC */
	if (fcntl(AB_HELPER_CONTROL_FD, F_SETFD, FD_CLOEXEC) ||
	    fcntl(AB_HELPER_PLAN_FD, F_SETFD, FD_CLOEXEC))
		return -errno;
	return 0;
}

int ab_helper_open_host(void)
{
	struct ucred cred;
	socklen_t n = sizeof(cred);
	ab_autofd int fd = -1;

	if (getsockopt(AB_HELPER_CONTROL_FD, SOL_SOCKET, SO_PEERCRED, &cred,
		       &n))
		return -errno;
	fd = ab_fd_lift(open_process(cred.pid));
	if (fd < 0)
		return fd;
	if (getppid() != cred.pid)
		return -ESRCH;
	return ab_steal_fd(&fd);
}

int ab_helper_say_hello(const char *name)
{
	ab_autofd int self = open_process(getpid());
	int r = self < 0 ? self
			 : ab_message_send_hello(AB_HELPER_CONTROL_FD,
						 AB_BUILD_ID, name, self);

	if (r)
		ab_message_send_no_hello(AB_HELPER_CONTROL_FD, -r);
	return r;
}
