/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What can be reached by an address. Spec: probe.h.
 */
#include "probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define WAIT_MS 1500

/* unix(7): an abstract address, which belongs to a network namespace. */
static long do_abstract(char **argv)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	size_t n = strlen(argv[0]);
	int fd;
	long r;

	if (n >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	memcpy(a.sun_path + 1, argv[0], n);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	r = probe_result(connect(fd, (struct sockaddr *)&a,
				 (socklen_t)(offsetof(struct sockaddr_un,
						      sun_path) + 1 + n)));
	close(fd);
	return r;
}

static int set_address(const char *text, uint16_t port,
		       struct sockaddr_storage *out, socklen_t *n)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)out;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;

	memset(out, 0, sizeof(*out));
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		*n = sizeof(*v4);
		return 0;
	}
	if (inet_pton(AF_INET6, text, &v6->sin6_addr) != 1)
		return -EINVAL;
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(port);
	*n = sizeof(*v6);
	return 0;
}

static long finish(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	int failed = 0;
	socklen_t n = sizeof(failed);

	if (poll(&p, 1, WAIT_MS) <= 0)
		return -ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &n))
		return -errno;
	return -failed;
}

/* A connection to an address; -errno, or the descriptor. */
static long reach(const char *address, const char *port, int kind)
{
	struct sockaddr_storage a;
	socklen_t n;
	long r = set_address(address, (uint16_t)atoi(port), &a, &n);
	int fd;

	if (r)
		return r;
	fd = socket(a.ss_family, kind | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	r = probe_result(connect(fd, (struct sockaddr *)&a, n));
	if (r == -EINPROGRESS)
		r = finish(fd);
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

static long do_tcp(char **argv)
{
	long fd = reach(argv[0], argv[1], SOCK_STREAM);

	if (fd < 0)
		return fd;
	close((int)fd);
	return 0;
}

/* Interfaces beside those that are listed: proc_net(5). */
static long do_interfaces(char **argv)
{
	char line[512];
	FILE *f = fopen("/proc/net/dev", "re");
	unsigned found = 0;

	if (!f)
		return errno == ENOENT ? PROBE_UNKNOWN : -errno;
	while (fgets(line, sizeof(line), f)) {
		char *name = line + strspn(line, " "), *end;
		char **a = argv;

		end = strchr(name, ':');
		if (!end)
			continue;
		*end = '\0';
		while (*a && strcmp(*a, name) != 0)
			a++;
		if (!*a)
			probe_tell("%s%s", found++ ? " " : "", name);
	}
	fclose(f);
	return found ? 0 : -ENODEV;
}

const probe_op probe_network[] = {
	{"abstract", 1, do_abstract},
	{"tcp", 2, do_tcp},
	{"interfaces", 0, do_interfaces},
	{NULL, 0, NULL},
};
