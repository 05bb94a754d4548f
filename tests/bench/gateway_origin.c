/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where all ways of the gateway's benchmark lead: one process on loopback. */
#include "gateway.h"

#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* All that goes down at once, in a process of its own. */
static void pour(int fd)
{
	static char bytes[1 << 18];

	if (fork() != 0)
		return;
	fcntl(fd, F_SETFL, 0);
	while (send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0)
		;
	_exit(0);
}

static void take_one(int poller, int listener)
{
	const struct linger now = { 1, 0 };
	const int on = 1;
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	if (fd < 0)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	/* no port stays taken, whoever ends first */
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	epoll_ctl(poller, EPOLL_CTL_ADD, fd, &e);
}

/* Echoes; to an `s` it answers with all the bytes it has. */
static void serve(int listener)
{
	struct epoll_event all[256], e = { .events = EPOLLIN };
	int poller = epoll_create1(EPOLL_CLOEXEC);
	char bytes[4096];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	e.data.fd = listener;
	epoll_ctl(poller, EPOLL_CTL_ADD, listener, &e);
	for (;;) {
		int n = epoll_wait(poller, all, 256, -1);

		for (int i = 0; i < n; i++) {
			int fd = all[i].data.fd;
			ssize_t got;

			if (fd == listener) {
				take_one(poller, fd);
				continue;
			}
			got = recv(fd, bytes, sizeof(bytes), 0);
			if (got > 0 && *bytes != 's') {
				(void)!send(fd, bytes, (size_t)got,
					    MSG_NOSIGNAL);
			} else if (got >= 0 || errno != EAGAIN) {
				if (got > 0)
					pour(fd);
				close(fd);
			}
		}
	}
}

int origin_begin(pid_t *pid)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	need(fd >= 0 && bind(fd, (void *)&at, n) == 0 &&
		     listen(fd, 4096) == 0 &&
		     getsockname(fd, (void *)&at, &n) == 0, "origin");
	*pid = fork();
	need(*pid >= 0, "fork");
	if (*pid == 0)
		serve(fd);
	close(fd);
	return ntohs(at.sin_port);
}
