/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The client of the gateway's benchmark. The same program runs in the box,
 * where its way out is the gateway, and beside it: without any proxy, and
 * through the peers. It links nothing, so that a box has all it needs.
 *
 *   gateway_client direct|proxy|box PORT ORIGIN MODE COUNT
 *
 * direct: connect to PORT; proxy: connect to PORT, CONNECT to ORIGIN; box: the
 * same through the proxy that HTTP_PROXY names. Modes:
 *
 *   echo   a byte there and back over one connection; a line per time, ns
 *   setup  COUNT connections, WIDTH at once, until the proxy has answered
 *   first  the same, and until a byte has come back
 *   bulk   read COUNT MiB
 *   route  COUNT requests over one connection, /r/x of who is connected to,
 *          with the box's key; a line per time, ns
 *   hold   keep COUNT connections; "ready", then until stdin ends
 *   cut    keep COUNT connections; "ready", then "COUNT TIME" when all are cut
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WIDTH 32
#define MOST 65536

static struct sockaddr_in to = { .sin_family = AF_INET };
static char request[1024]; /* empty: there is no proxy */
static int held[MOST];

static void fail(const char *what)
{
	fprintf(stderr, "gateway_client: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- the way out ---------------------------------------------------------- */

static void to_base64(const char *from, size_t n, char *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)(uint8_t)from[i] << 16;

		if (i + 1 < n)
			v |= (uint32_t)(uint8_t)from[i + 1] << 8;
		if (i + 2 < n)
			v |= (uint8_t)from[i + 2];
		*out++ = digits[v >> 18];
		*out++ = digits[v >> 12 & 63];
		*out++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
		*out++ = i + 2 < n ? digits[v & 63] : '=';
	}
	*out = '\0';
}

/* HTTP_PROXY is http://agentbox:KEY@ADDRESS:PORT in a box. */
static void read_proxy(char *auth, size_t size)
{
	const char *proxy = getenv("HTTP_PROXY");
	const char *user = proxy ? strstr(proxy, "//") : NULL;
	const char *at = user ? strchr(user, '@') : NULL;
	char code[512], host[64];
	int port;

	if (!at || at - user > 300 ||
	    sscanf(at, "@%63[0-9.]:%d", host, &port) != 2)
		fail("HTTP_PROXY");
	inet_pton(AF_INET, host, &to.sin_addr);
	to.sin_port = htons((uint16_t)port);
	to_base64(user + 2, (size_t)(at - user - 2), code);
	snprintf(auth, size, "Proxy-Authorization: Basic %s\r\n", code);
}

static void choose_way(const char *way, const char *port, const char *origin)
{
	char auth[600] = "";

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	to.sin_port = htons((uint16_t)atoi(port));
	if (strcmp(way, "box") == 0)
		read_proxy(auth, sizeof(auth));
	if (strcmp(way, "direct") != 0)
		snprintf(request, sizeof(request),
			 "CONNECT 127.0.0.1:%s HTTP/1.1\r\n"
			 "Host: 127.0.0.1:%s\r\n%s\r\n", origin, origin, auth);
}

/* --- connections ---------------------------------------------------------- */

static int dial(void)
{
	const int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (void *)&to, sizeof(to)))
		fail("connect");
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (*request && send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		fail("CONNECT");
	return fd;
}

static void take_answer(int fd)
{
	char head[2048];
	size_t n = 0;

	while (*request) {
		ssize_t got = recv(fd, head + n, sizeof(head) - 1 - n, 0);

		if (got <= 0)
			fail("no answer");
		n += (size_t)got;
		head[n] = '\0';
		if (n > 12 && strncmp(head + 8, " 200", 4) != 0)
			fail(head);
		if (strstr(head, "\r\n\r\n"))
			return;
	}
}

static void send_byte(int fd, char byte)
{
	if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1)
		fail("send");
}

static void take_byte(int fd)
{
	char byte;

	if (recv(fd, &byte, 1, 0) != 1)
		fail("recv");
}

static void make_some(int *fds, size_t n, bool with_byte)
{
	for (size_t i = 0; i < n; i++)
		fds[i] = dial();
	for (size_t i = 0; i < n; i++) {
		take_answer(fds[i]);
		if (with_byte)
			send_byte(fds[i], 'x');
	}
	for (size_t i = 0; with_byte && i < n; i++)
		take_byte(fds[i]);
}

/* Reset, so that no port stays taken. */
static void drop(int fd)
{
	const struct linger now = { 1, 0 };

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}

/* --- modes ---------------------------------------------------------------- */

static void do_echo(size_t count)
{
	int fd;

	make_some(&fd, 1, true);
	for (size_t i = 0; i < count; i++) {
		uint64_t begin = now_ns();

		send_byte(fd, 'x');
		take_byte(fd);
		printf("%llu\n", (unsigned long long)(now_ns() - begin));
	}
}

static void do_setup(size_t count, bool with_byte)
{
	int fds[WIDTH];

	for (size_t at = 0; at < count; at += WIDTH) {
		make_some(fds, WIDTH, with_byte);
		for (size_t i = 0; i < WIDTH; i++)
			drop(fds[i]);
	}
}

static void do_bulk(size_t mib)
{
	static char bytes[1 << 18];
	uint64_t left = (uint64_t)mib << 20;
	int fd;

	make_some(&fd, 1, false);
	send_byte(fd, 's');
	while (left) {
		ssize_t got = recv(fd, bytes, sizeof(bytes), 0);

		if (got <= 0)
			fail("bulk");
		left -= (uint64_t)got < left ? (uint64_t)got : left;
	}
	drop(fd);
}

static void do_route(size_t count)
{
	const char *key = getenv("AGENTBOX_KEY");
	char text[512], answer[4096], host[INET_ADDRSTRLEN];
	int n, fd;

	inet_ntop(AF_INET, &to.sin_addr, host, sizeof(host));
	n = snprintf(text, sizeof(text), "GET /r/x HTTP/1.1\r\nHost: %s:%d\r\n"
		     "x-api-key: %s\r\n\r\n", host, ntohs(to.sin_port),
		     key ? key : "none");
	*request = '\0';
	fd = dial();
	for (size_t i = 0; i < count; i++) {
		uint64_t begin = now_ns();
		size_t at = 0;

		if (send(fd, text, (size_t)n, MSG_NOSIGNAL) != n)
			fail("send");
		do {
			ssize_t got = recv(fd, answer + at,
					   sizeof(answer) - 1 - at, 0);

			if (got <= 0)
				fail("no answer");
			at += (size_t)got;
			answer[at] = '\0';
		} while (!strstr(answer, "\r\n\r\nok"));
		printf("%llu\n", (unsigned long long)(now_ns() - begin));
	}
}

static void do_hold(size_t count, bool until_cut)
{
	struct rlimit files;
	size_t cut = 0;
	char byte;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	if (count > MOST)
		count = MOST;
	for (size_t at = 0; at < count; at += WIDTH)
		make_some(held + at, count - at < WIDTH ? count - at : WIDTH,
			  true);
	puts("ready");
	fflush(stdout);
	for (size_t i = 0; until_cut && i < count; i++)
		cut += recv(held[i], &byte, 1, 0) <= 0;
	if (until_cut)
		printf("%zu %llu\n", cut, (unsigned long long)now_ns());
	else
		(void)!read(0, &byte, 1);
}

int main(int argc, char **argv)
{
	uint64_t begin;
	const char *mode;
	size_t count;

	if (argc != 6)
		return 2;
	choose_way(argv[1], argv[2], argv[3]);
	mode = argv[4];
	count = strtoul(argv[5], NULL, 10);
	begin = now_ns();
	if (strcmp(mode, "echo") == 0)
		do_echo(count);
	else if (strcmp(mode, "setup") == 0 || strcmp(mode, "first") == 0)
		do_setup(count, *mode == 'f');
	else if (strcmp(mode, "bulk") == 0)
		do_bulk(count);
	else if (strcmp(mode, "route") == 0)
		do_route(count);
	else
		do_hold(count, strcmp(mode, "cut") == 0);
	if (*mode == 's' || *mode == 'f' || *mode == 'b')
		printf("%llu\n", (unsigned long long)(now_ns() - begin));
	return 0;
}
