/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attacks through sockets: families, addresses, paths, abstract names.
 * Spec: tests/e2e/attacker.c.
 */
#include "attacker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static long net_socket(char **argv)
{
	return result(socket((int)number(argv[0]), (int)number(argv[1]),
			     (int)number(argv[2])));
}

static long net_socketpair(char **argv)
{
	int fds[2];

	return result(socketpair((int)number(argv[0]), (int)number(argv[1]),
				 0, fds));
}

/* An address of either family; 0 when it is none. */
static socklen_t address(const char *text, const char *port,
			 struct sockaddr_storage *out)
{
	struct sockaddr_in *v4 = (void *)out;
	struct sockaddr_in6 *v6 = (void *)out;

	memset(out, 0, sizeof(*out));
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)number(port));
		return sizeof(*v4);
	}
	memset(out, 0, sizeof(*out));
	if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)number(port));
		return sizeof(*v6);
	}
	return 0;
}

static long net_connect(char **argv)
{
	struct sockaddr_storage to;
	socklen_t n = address(argv[0], argv[1], &to);
	int fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int error = 0;
	socklen_t len = sizeof(error);

	if (fd < 0)
		return -errno;
	if (connect(fd, (void *)&to, n) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return -errno;
	if (poll(&p, 1, 2000) == 0)
		return -ETIMEDOUT;
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	return -error;
}

/* An address in brackets is of no family at all, and the kernel's IPv4. */
static long net_send_udp(char **argv)
{
	struct sockaddr_storage to;
	bool is_unspecified = argv[0][0] == '[';
	socklen_t n = address(strtok(argv[0], "[]"), argv[1], &to);
	int fd = socket(to.ss_family, SOCK_DGRAM, 0);

	if (fd < 0)
		return -errno;
	if (is_unspecified)
		to.ss_family = AF_UNSPEC;
	n = (socklen_t)sendto(fd, "x", 1, 0, (void *)&to, n);
	return (int)n < 0 ? -errno : 0;
}

static socklen_t unix_address(const char *text, struct sockaddr_un *out)
{
	memset(out, 0, sizeof(*out));
	out->sun_family = AF_UNIX;
	snprintf(out->sun_path, sizeof(out->sun_path), "%s", text);
	if (*text != '@')
		return sizeof(*out);
	out->sun_path[0] = 0;
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
			   strlen(text));
}

/* "@name" is an abstract one. */
static long net_connect_unix(char **argv)
{
	struct sockaddr_un to;
	socklen_t n = unix_address(argv[0], &to);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	return fd < 0 ? -errno : result(connect(fd, (void *)&to, n));
}

/* One end of a datagram pair, turned against a path. */
static long net_pair_connect(char **argv)
{
	struct sockaddr_un to;
	socklen_t n = unix_address(argv[0], &to);
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) < 0)
		return -errno;
	return result(connect(fds[0], (void *)&to, n));
}

static long net_bind_unix(char **argv)
{
	struct sockaddr_un to;
	socklen_t n = unix_address(argv[0], &to);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	return fd < 0 ? -errno : result(bind(fd, (void *)&to, n));
}

/* A name for a socket this process was given. */
static long net_bind_given(char **argv)
{
	struct sockaddr_un to;
	socklen_t n = unix_address(argv[1], &to);

	return result(bind((int)number(argv[0]), (void *)&to, n));
}

/* Listens and connects to itself: loopback works inside. */
static long net_loopback(char **argv)
{
	struct sockaddr_storage at;
	socklen_t n = address(argv[0], "0", &at);
	int fd = socket(at.ss_family, SOCK_STREAM, 0);
	int one = socket(at.ss_family, SOCK_STREAM, 0);

	if (fd < 0 || one < 0)
		return -errno;
	if (bind(fd, (void *)&at, n) < 0 || listen(fd, 1) < 0 ||
	    getsockname(fd, (void *)&at, &n) < 0)
		return -errno;
	return result(connect(one, (void *)&at, n));
}

/* Listens on 0.0.0.0:port, says so, and takes one connection if any comes. */
static long do_listen(char **argv)
{
	struct sockaddr_storage at;
	socklen_t n = address(argv[0], argv[1], &at);
	int fd = socket(at.ss_family, SOCK_STREAM, 0), one = 1;
	struct pollfd p = { .fd = fd, .events = POLLIN };

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (void *)&at, n) < 0 || listen(fd, 8) < 0) {
		printf("failed\n");
		return 1;
	}
	printf("listening\n");
	fflush(stdout);
	if (poll(&p, 1, (int)number(argv[2])) != 1) {
		printf("nobody\n");
		return 0;
	}
	printf("connected\n");
	/* wait for the peer to close: leaving first would reset its connect */
	p.fd = accept(fd, NULL, NULL);
	poll(&p, 1, (int)number(argv[2]));
	return 0;
}

/*
 * A listener on argv[0] whose queue argv[1] connections fill; then one to a
 * second listener, as another process in the box would make.
 */
static long net_flood_queue(char **argv)
{
	struct sockaddr_storage at, other;
	socklen_t n = address("127.0.0.1", argv[0], &at), m;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int second = socket(AF_INET, SOCK_STREAM, 0);
	long count = number(argv[1]);

	if (bind(fd, (void *)&at, n) < 0 || listen(fd, 4) < 0)
		return -errno;
	m = address("127.0.0.1", "0", &other);
	if (bind(second, (void *)&other, m) < 0 || listen(second, 4) < 0 ||
	    getsockname(second, (void *)&other, &m) < 0)
		return -errno;
	while (count--) {
		int c = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

		if (c >= 0)
			connect(c, (void *)&at, n);
	}
	fd = socket(AF_INET, SOCK_STREAM, 0);
	return fd < 0 ? -errno : result(connect(fd, (void *)&other, m));
}

/* Takes whatever descriptor arrives over the socket argv[0]. */
static long net_receive_fd(char **argv)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c;

	if (recvmsg((int)number(argv[0]), &msg, MSG_DONTWAIT) < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&msg);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return -ENODATA;
	return 0;
}

static long net_interfaces(char **argv)
{
	char line[256];
	FILE *f = fopen("/proc/net/dev", "re");

	(void)argv;
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');

		if (!colon)
			continue;
		*colon = 0;
		detail("%s ", line + strspn(line, " "));
	}
	fclose(f);
	return 0;
}

static long net_routes(char **argv)
{
	char line[256];
	FILE *f = fopen("/proc/net/route", "re");
	int n = -1;

	(void)argv;
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		n++;
	fclose(f);
	detail("%d", n);
	return 0;
}

const struct attack attacks_network[] = {
	{ "socket", 3, net_socket },
	{ "socketpair", 2, net_socketpair },
	{ "connect", 2, net_connect },
	{ "send-udp", 2, net_send_udp },
	{ "connect-unix", 1, net_connect_unix },
	{ "pair-connect", 1, net_pair_connect },
	{ "bind-unix", 1, net_bind_unix },
	{ "bind-given", 2, net_bind_given },
	{ "loopback", 1, net_loopback },
	{ "flood-queue", 2, net_flood_queue },
	{ "receive-fd", 1, net_receive_fd },
	{ "interfaces", 0, net_interfaces },
	{ "routes", 0, net_routes },
	{ "do-listen", 3, do_listen },
	{ NULL, 0, NULL },
};
