/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * With network none there is loopback and nothing else. Rows 65-67, 71-73,
 * 76, 77, 79, 110 and 111 of tests/e2e/SANDBOX-CASES.md. Addresses are of
 * the documentation ranges: were the wall missing, nobody would be reached.
 */
#include "box.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NO_ROUTE "ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL|EACCES|EPERM"

/* A listener of the host on its loopback; the port. */
static int host_listen(int *port, int flags)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | flags, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	REQUIRE(fd >= 0 && bind(fd, (void *)&at, n) == 0 &&
		listen(fd, 8) == 0 &&
		getsockname(fd, (void *)&at, &n) == 0, "%m");
	*port = ntohs(at.sin_port);
	return fd;
}

/* Before any address is tried: this box has no interface but loopback. */
static void raise_without_network(void)
{
	box_raise(NULL, NULL);
	ATTACK("OK", "interfaces");
	REQUIRE(strcmp(attack_detail(), "lo ") == 0, "interfaces: %s",
		attack_detail());
}

static void case_065_no_protocol_reaches_out(void)
{
	raise_without_network();
	ATTACK(NO_ROUTE, "connect 192.0.2.1 80");
	ATTACK(NO_ROUTE, "connect 192.0.2.1 443");
	ATTACK(NO_ROUTE, "connect ::ffff:192.0.2.1 443");
	ATTACK(NO_ROUTE "|EAFNOSUPPORT", "connect 2001:db8::1 443");
	ATTACK(NO_ROUTE, "send-udp 192.0.2.1 443");
	ATTACK(NO_ROUTE "|EAFNOSUPPORT", "send-udp 2001:db8::1 443");
	ATTACK("EPERM|EACCES", "socket 2 3 1");
	ATTACK("EPERM|EACCES|EPROTONOSUPPORT", "socket 2 3 255");
	ATTACK("EPERM|EACCES|EAFNOSUPPORT", "socket 10 3 58");
	/* where the kernel has a module for it too: SCTP, DCCP, L2TP, MPTCP */
	ATTACK("EPERM|EPROTONOSUPPORT", "socket 2 1 132");
	ATTACK("EPERM|ESOCKTNOSUPPORT", "socket 2 5 0");
	ATTACK("EPERM|ESOCKTNOSUPPORT", "socket 10 6 0");
	ATTACK("EPERM|EPROTONOSUPPORT", "socket 10 2 115");
	ATTACK("EPERM|EPROTONOSUPPORT", "socket 2 1 262");
	ATTACK("EPERM|EACCES|EPROTONOSUPPORT|EAFNOSUPPORT", "socket 17 3 768");
	ATTACK("OK", "routes");
	CHECK(atoi(attack_detail()) == 0, "%s routes", attack_detail());
	/* loopback is up: `localhost` works inside */
	ATTACK("OK", "loopback 127.0.0.1");
	ATTACK("OK|EADDRNOTAVAIL|EAFNOSUPPORT", "loopback ::1");
}

static void case_066_no_resolver_is_reachable(void)
{
	static const char *const sockets[] = {
		"/run/systemd/resolve/io.systemd.Resolve",
		"/run/nscd/socket", "/var/run/nscd/socket",
		"/run/avahi-daemon/socket",
	};

	raise_without_network();
	ATTACK(NO_ROUTE, "send-udp 192.0.2.53 53");
	ATTACK(NO_ROUTE, "send-udp 8.8.8.8 53");
	ATTACK(NO_ROUTE, "connect 8.8.8.8 53");
	ATTACK(NO_ROUTE, "send-udp 224.0.0.251 5353");
	ATTACK("ECONNREFUSED", "connect 127.0.0.53 53");
	for (size_t i = 0; i < 4; i++)
		ATTACK("ENOENT", "connect-unix %s", sockets[i]);
}

static void case_067_metadata_and_the_hosts_own_addresses(void)
{
	int port, fd = host_listen(&port, SOCK_CLOEXEC);

	raise_without_network();
	ATTACK(NO_ROUTE, "connect 169.254.169.254 80");
	ATTACK(NO_ROUTE "|EAFNOSUPPORT", "connect fd00:ec2::254 80");
	ATTACK(NO_ROUTE, "connect 10.0.0.1 80");
	ATTACK(NO_ROUTE, "connect 192.168.0.1 80");
	ATTACK(NO_ROUTE, "connect 172.17.0.1 2375");
	/* the host's loopback is not the box's */
	CONTROL("OK", "connect 127.0.0.1 %d", port);
	ATTACK("ECONNREFUSED", "connect 127.0.0.1 %d", port);
	ATTACK("ECONNREFUSED", "connect 0.0.0.0 %d", port);
	close(fd);
}

static int listen_abstract(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			0);
	size_t n = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name);

	memcpy(at.sun_path + 1, name, strlen(name));
	REQUIRE(fd >= 0 && bind(fd, (void *)&at, (socklen_t)n) == 0 &&
		listen(fd, 4) == 0, "%m");
	return fd;
}

static void case_072_abstract_sockets_are_out_of_reach(void)
{
	char *name = e2e_text("agentbox-e2e-%d", getpid());
	int fd = listen_abstract(name);

	raise_without_network();
	CONTROL("OK", "connect-unix @%s", name);
	ATTACK("ECONNREFUSED|EPERM", "connect-unix @%s", name);
	ATTACK("ECONNREFUSED|EPERM", "connect-unix @/tmp/.X11-unix/X0");
	/* nor can the box take a name on the host */
	ATTACK("OK", "bind-unix @%s-box", name);
	close(fd);
}

static void case_073_datagram_pairs_reach_no_path(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const char *path = host_path("outside-dgram");
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(at.sun_path))
		e2e_skip("TMPDIR is too long for a socket path");
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	REQUIRE(bind(fd, (void *)&at, sizeof(at)) == 0, "%m");
	raise_without_network();
	CONTROL("OK", "pair-connect %s", path);
	ATTACK("ENOENT", "pair-connect %s", path);
	close(fd);
}

static void case_076_inherited_sockets_are_closed(void)
{
	/* on purpose without CLOEXEC */
	int port, fd = host_listen(&port, 0);

	raise_without_network();
	ATTACK("OK", "fd-list");
	CHECK(!strstr(attack_detail(), "socket:"), "sockets in the box: %s",
	      attack_detail());
	close(fd);
}

/* Spawns true with `fd` as its standard input; closes it. */
static int32_t give(int fd)
{
	const char *argv[] = { "/bin/true" };
	agentbox_command *c = NULL;
	agentbox_process *p = NULL;
	int32_t r;

	REQUIRE(fd >= 0, "%m");
	REQUIRE(agentbox_command_new(argv, 1, &c, NULL) == 0, "command");
	r = agentbox_command_set_fd(c, 0, fd, NULL);
	if (r == 0)
		r = agentbox_sandbox_spawn(box(), c, &p, NULL);
	close(fd);
	if (r == 0)
		r = agentbox_process_wait(p, SOON_MS, NULL);
	agentbox_process_free(p);
	agentbox_command_free(c);
	return r;
}

static int half_pair(int type, int *other)
{
	int pair[2];

	REQUIRE(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) == 0, "%m");
	*other = pair[1];
	return pair[0];
}

/* Both ends of a connection over the host's loopback. */
static int accepted(int *other)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	int port, listener = host_listen(&port, SOCK_CLOEXEC);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	at.sin_port = htons((uint16_t)port);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	REQUIRE(fd >= 0 && connect(fd, (void *)&at, sizeof(at)) == 0, "%m");
	*other = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	return fd;
}

/* What the attacker says of binding the socket it was given. */
static void bind_given(int type, const char *name, char *line, size_t size)
{
	const char *argv[] = { "/attack/attacker", "bind-given", "0", name };
	agentbox_command *c = NULL;
	agentbox_process *p = NULL;
	int other, out[2], fd = half_pair(type, &other);
	ssize_t n;

	REQUIRE(pipe2(out, O_CLOEXEC) == 0, "%m");
	REQUIRE(agentbox_command_new(argv, 4, &c, NULL) == 0 &&
		agentbox_command_set_fd(c, 0, fd, NULL) == 0 &&
		agentbox_command_set_fd(c, 1, out[1], NULL) == 0 &&
		agentbox_sandbox_spawn(box(), c, &p, NULL) == 0, "spawn");
	close(fd);
	close(out[1]);
	REQUIRE(agentbox_process_wait(p, SOON_MS, NULL) == 0, "wait");
	n = read(out[0], line, size - 1);
	line[n > 0 ? n : 0] = 0;
	close(out[0]);
	close(other);
	agentbox_process_free(p);
	agentbox_command_free(c);
}

/* Abstract names are the network's, and the socket is of the host's. */
static void case_076_a_given_socket_takes_no_name_of_the_host(void)
{
	char name[64], line[128];

	snprintf(name, sizeof(name), "@agentbox-e2e-%d", (int)getpid());
	raise_without_network();
	bind_given(SOCK_STREAM, name, line, sizeof(line));
	CHECK(strcmp(line, "bind-given EINVAL\n") == 0, "%s", line);
	bind_given(SOCK_SEQPACKET, name, line, sizeof(line));
	CHECK(strcmp(line, "bind-given EINVAL\n") == 0, "%s", line);
}

/* connect(2) with AF_UNSPEC, and the next address is the box's choice. */
static void case_076_a_given_socket_carries_no_network(void)
{
	int other, port;

	raise_without_network();
	CHECK(give(accepted(&other)) == AGENTBOX_EDENIED, "TCP, connected");
	close(other);
	CHECK(give(host_listen(&port, SOCK_CLOEXEC)) == AGENTBOX_EDENIED,
	      "TCP, listening");
	CHECK(give(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) ==
	      AGENTBOX_EDENIED, "UDP");
	CHECK(give(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0)) ==
	      AGENTBOX_EDENIED, "netlink");
	CHECK(give(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) ==
	      AGENTBOX_EDENIED, "UNIX, without a peer");
	CHECK(give(half_pair(SOCK_DGRAM, &other)) == AGENTBOX_EDENIED,
	      "UNIX, datagrams");
	close(other);
	CHECK(give(half_pair(SOCK_STREAM, &other)) == 0, "UNIX, connected");
	close(other);
	CHECK(give(half_pair(SOCK_SEQPACKET, &other)) == 0, "UNIX, packets");
	close(other);
}

static void api_the_hosts_network_comes_with_its_sockets(void)
{
	int other;

	box_raise(NULL, "\"network\":{\"mode\":\"host\"},"
		  "\"require\":[\"userns\",\"mountns\",\"pidns\"]");
	CHECK(give(accepted(&other)) == 0, "TCP, connected");
	close(other);
}

static void case_077_listeners_of_the_box_are_not_reachable(void)
{
	agentbox_process *p;
	agentbox_error *err = NULL;
	char line[16] = "";
	int fds[2];

	REQUIRE(pipe2(fds, O_CLOEXEC) == 0, "%m");
	raise_without_network();
	p = BOX_START(fds[1], "/attack/attacker", "do-listen", "0.0.0.0",
		      "34567", "3000");
	close(fds[1]);
	REQUIRE(read(fds[0], line, 10) == 10 &&
		strncmp(line, "listening\n", 10) == 0, "%s", line);
	CONTROL("ECONNREFUSED", "connect 127.0.0.1 34567");
	/* a neighbour in the box does reach it */
	ATTACK("OK", "connect 127.0.0.1 34567");
	CHECK(agentbox_process_wait(p, SOON_MS, &err) == 0, "%s",
	      agentbox_error_get_message(err));
	agentbox_process_free(p);
	close(fds[0]);
}

static void case_079_without_proxy_variables_there_is_no_route(void)
{
	struct outcome o;

	raise_without_network();
	o = box_sh("unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY "
		   "ALL_PROXY; export NO_PROXY='*'; "
		   "/attack/attacker connect 192.0.2.1 443");
	CHECK(strstr(o.out, "connect ENETUNREACH") ||
	      strstr(o.out, "connect EACCES") ||
	      strstr(o.out, "connect EPERM"), "%s%s", o.out, o.err);
}

static void case_110_a_listener_on_any_is_not_a_trap(void)
{
	agentbox_process *p;
	agentbox_error *err = NULL;
	char line[32] = "";
	int fds[2];

	REQUIRE(pipe2(fds, O_CLOEXEC) == 0, "%m");
	raise_without_network();
	p = BOX_START(fds[1], "/attack/attacker", "do-listen", "0.0.0.0",
		      "3000", "1500");
	close(fds[1]);
	REQUIRE(read(fds[0], line, 10) == 10, "%s", line);
	ATTACK(NO_ROUTE, "connect 192.0.2.7 3000");
	ATTACK(NO_ROUTE, "connect 10.1.2.3 3000");
	CHECK(agentbox_process_wait(p, SOON_MS, &err) == 0, "%s",
	      agentbox_error_get_message(err));
	line[read(fds[0], line, sizeof(line) - 1)] = 0;
	CHECK(strcmp(line, "nobody\n") == 0, "the listener saw: %s", line);
	agentbox_process_free(p);
	close(fds[0]);
}

static void case_111_a_full_accept_queue_hurts_nobody_else(void)
{
	raise_without_network();
	ATTACK("OK", "flood-queue 3001 400");
	ATTACK("OK", "loopback 127.0.0.1");
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_065_no_protocol_reaches_out),
		CASE(case_066_no_resolver_is_reachable),
		CASE(case_067_metadata_and_the_hosts_own_addresses),
		CASE(case_072_abstract_sockets_are_out_of_reach),
		CASE(case_073_datagram_pairs_reach_no_path),
		CASE(case_076_inherited_sockets_are_closed),
		CASE(case_076_a_given_socket_carries_no_network),
		CASE(case_076_a_given_socket_takes_no_name_of_the_host),
		CASE(api_the_hosts_network_comes_with_its_sockets),
		CASE(case_077_listeners_of_the_box_are_not_reachable),
		CASE(case_079_without_proxy_variables_there_is_no_route),
		CASE(case_110_a_listener_on_any_is_not_a_trap),
		CASE(case_111_a_full_accept_queue_hurts_nobody_else),
		CASES_END,
	};

	return e2e_main(argc, argv, cases);
}
