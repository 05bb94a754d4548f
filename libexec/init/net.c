/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The network namespace: loopback and nothing else. Without loopback
 * "localhost" is ENETUNREACH for every test suite, even in a box without
 * network (RECIPES.md, tools).
 *
 * Making a network namespace takes the kernel as long as building the whole
 * tree, so a child of PID 1 makes it meanwhile, and PID 1 joins it when the
 * tree stands. The child shares PID 1's memory, as to copy it would cost both
 * of them a third of what is gained; only errno can come between them. It is
 * written by a call that fails, and one of the child's fails the box, but for
 * the two of raise_loopback(): their errors (no such family, device, memory
 * or right) are none that PID 1 takes for less than a failure.
 * Spec: clone(2), netdevice(7), setns(2).
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "sys.h"

#define STACK_SIZE (16u * 1024)

/* What the child is given and what it leaves. */
typedef struct net_maker {
	int proc_fd; /* the host's /proc: the tree may have none */
	int ns_fd;
	int sys_errno;
	int loopback_errno;
} net_maker;

static net_maker maker;
static pid_t maker_pid;
static _Alignas(16) char maker_stack[STACK_SIZE];

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

static int make(void *data)
{
	net_maker *m = data;

	if (unshare(CLONE_NEWNET)) {
		m->sys_errno = errno;
		return 1;
	}
	m->loopback_errno = raise_loopback();
	m->ns_fd = openat(m->proc_fd, "thread-self/ns/net",
			  O_RDONLY | O_CLOEXEC);
	if (m->ns_fd < 0)
		m->sys_errno = errno;
	return 0;
}

int init_start_network(init_box *box)
{
	if (!(box->plan.namespaces & AB_NS_NET))
		return 0;
	maker.ns_fd = -1;
	maker.proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (maker.proc_fd < 0)
		return init_fail(box, errno, "", "netns");
	maker_pid = clone(make, maker_stack + STACK_SIZE,
			  CLONE_VM | CLONE_FILES | SIGCHLD, &maker);
	if (maker_pid < 0)
		return init_fail(box, errno, "", "netns");
	return 0;
}

int init_join_network(init_box *box)
{
	int r;

	if (!(box->plan.namespaces & AB_NS_NET))
		return 0;
	while (waitpid(maker_pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(maker.proc_fd);
	if (maker.ns_fd < 0)
		return init_fail(box, maker.sys_errno ? maker.sys_errno : EIO,
				 "", "netns");
	r = setns(maker.ns_fd, CLONE_NEWNET) ? errno : 0;
	close(maker.ns_fd);
	if (r)
		return init_fail(box, r, "", "netns");
	box->walls |= AB_WALL_NETNS;
	if (maker.loopback_errno)
		init_note(box, "loopback stays down: %s",
			  strerror(maker.loopback_errno));
	else
		box->walls |= AB_WALL_LOOPBACK;
	return 0;
}
