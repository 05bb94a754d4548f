/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What can be reached by an address. Spec: probe.h.
 */
#include "probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
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

/*
 * What an answer is worth: the gateway closes, or says 407 (whose key is it)
 * or 403 (not this one). -EACCES, -EPERM; else 0, for something answered.
 */
static long judge_answer(const char *text, ssize_t n)
{
	char line[64];
	bool is_ours;

	if (n <= 0)
		return n < 0 && errno != ECONNRESET ? -errno : -ECONNRESET;
	snprintf(line, sizeof(line), "%.*s", (int)(n < 40 ? n : 40), text);
	line[strcspn(line, "\r\n")] = '\0';
	probe_tell("%s", line);
	/* anybody says 403: a metadata service to whom its header is missing */
	is_ours = memmem(text, (size_t)n, "\r\nX-Agentbox-Reason:", 20) != NULL;
	if (strncmp(line, "HTTP/1.", 7) != 0 || !is_ours)
		return 0;
	if (!strncmp(line + 8, " 407", 4))
		return -EACCES;
	return strncmp(line + 8, " 403", 4) ? 0 : -EPERM;
}

/* Takes fd. */
static long say(int fd, const char *text)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char answer[512];
	long r = probe_result(send(fd, text, strlen(text), MSG_NOSIGNAL));

	if (r == -EPIPE || r == -ECONNRESET)
		r = -ECONNRESET;
	else if (r >= 0 && poll(&p, 1, 2 * WAIT_MS) <= 0)
		r = -ETIMEDOUT;
	else if (r >= 0)
		r = judge_answer(answer, recv(fd, answer, sizeof(answer), 0));
	close(fd);
	return r;
}

/* A connection that is answered, not one that is only taken. */
static long do_egress(char **argv)
{
	char text[256];
	long fd = reach(argv[0], argv[1], SOCK_STREAM);

	if (fd < 0)
		return fd;
	snprintf(text, sizeof(text),
		 "GET / HTTP/1.1\r\nHost: %.64s\r\n\r\n", argv[0]);
	return say((int)fd, text);
}

static void base64(const char *in, char *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t n = strlen(in);

	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)(unsigned char)in[i] << 16;

		if (i + 1 < n)
			v |= (uint32_t)(unsigned char)in[i + 1] << 8;
		if (i + 2 < n)
			v |= (unsigned char)in[i + 2];
		*out++ = digits[v >> 18];
		*out++ = digits[v >> 12 & 63];
		*out++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
		*out++ = i + 2 < n ? digits[v & 63] : '=';
	}
	*out = '\0';
}

/* CONNECT at a proxy: its address and port, the name, a key or none. */
static long do_proxy(char **argv)
{
	char text[1024], pair[160], key[256] = "";
	long fd = reach(argv[0], argv[1], SOCK_STREAM);

	if (fd < 0)
		return fd;
	if (argv[3]) {
		snprintf(pair, sizeof(pair), "agentbox:%.128s", argv[3]);
		base64(pair, key);
	}
	snprintf(text, sizeof(text),
		 "CONNECT %.128s HTTP/1.1\r\nHost: %.128s\r\n%s%s%s\r\n",
		 argv[2], argv[2],
		 argv[3] ? "Proxy-Authorization: Basic " : "", key,
		 argv[3] ? "\r\n" : "");
	return say((int)fd, text);
}

/* Whose key is it? Whatever the gateway then says of the name, a key that is
   not asked for again was taken. */
static long do_knock(char **argv)
{
	long r = do_proxy(argv);

	return r == -EPERM ? 0 : r;
}

static size_t write_question(uint8_t *m, const char *name)
{
	static const uint8_t head[12] = {0x5a, 0x17, 1, 0, 0, 1};
	size_t n = sizeof(head);

	memcpy(m, head, n);
	while (*name) {
		size_t len = strcspn(name, ".");

		m[n++] = (uint8_t)len;
		memcpy(m + n, name, len);
		n += len;
		name += len + (name[len] == '.');
	}
	memcpy(m + n, "\0\0\1\0\1", 5);
	return n + 5;
}

/* A name server of one's own choice: RFC 1035 section 4. -ENOENT: no name. */
static long do_dns(char **argv)
{
	struct pollfd p = {.events = POLLIN};
	uint8_t m[512];
	long fd = reach(argv[0], "53", SOCK_DGRAM);
	ssize_t n;

	if (fd < 0)
		return fd;
	p.fd = (int)fd;
	if (send(p.fd, m, write_question(m, argv[1]), 0) < 0) {
		n = -errno;
		close(p.fd);
		return n;
	}
	n = poll(&p, 1, 2 * WAIT_MS) == 1 ? recv(p.fd, m, sizeof(m), 0) : -2;
	if (n == -1)
		n = -errno;
	close(p.fd);
	if (n < 12)
		return n == -2 ? -ETIMEDOUT : n < 0 ? n : -EPROTO;
	probe_tell("rcode %d, %d answers", m[3] & 15, m[6] << 8 | m[7]);
	return (m[3] & 15) && !m[6] && !m[7] ? -ENOENT : 0;
}

/* Interfaces beside those that are listed: rtnetlink(7). */
static long do_interfaces(char **argv)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);
	struct if_nameindex *all;
	unsigned found = 0;

	/* if_nameindex(3) does not say why it cannot */
	if (fd < 0)
		return -errno;
	close(fd);
	all = if_nameindex();
	if (!all)
		return PROBE_UNKNOWN;
	for (const struct if_nameindex *i = all; i->if_index; i++) {
		char **a = argv;

		while (*a && strcmp(*a, i->if_name) != 0)
			a++;
		if (!*a)
			probe_tell("%s%s", found++ ? "\n" : "", i->if_name);
	}
	if_freenameindex(all);
	return found ? 0 : -ENODEV;
}

const probe_op probe_network[] = {
	{"abstract", 1, do_abstract},
	{"tcp", 2, do_tcp},
	{"egress", 2, do_egress},
	{"proxy", 3, do_proxy},
	{"knock", 3, do_knock},
	{"dns", 2, do_dns},
	{"interfaces", 0, do_interfaces},
	{NULL, 0, NULL},
};
