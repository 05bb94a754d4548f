/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The network namespace: loopback and nothing else. Without loopback
 * "localhost" is ENETUNREACH for every test suite, even in a box without
 * network (RECIPES.md, tools). Making one takes the kernel as long as building
 * the whole tree, so the first launcher makes it meanwhile (first.c), and
 * PID 1 joins it. Spec: clone(2), netdevice(7).
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "sys.h"

static int raise_loopback(void)
{
	ab_autofd int fd = -1;
	struct ifreq ifr = {.ifr_name = "lo"};

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ifr.ifr_flags = IFF_UP | IFF_RUNNING;
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &ifr))
		return errno;
	return 0;
}

int init_make_network(int proc_fd, int *ns_fd, int *loopback_errno)
{
	if (unshare(CLONE_NEWNET))
		return errno;
	*loopback_errno = raise_loopback();
	*ns_fd = openat(proc_fd, "self/ns/net", O_RDONLY | O_CLOEXEC);
	return *ns_fd < 0 ? errno : 0;
}
