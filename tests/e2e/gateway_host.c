/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What only the host opens in a live gateway: previews. Row 95 of
 * tests/e2e/GATEWAY-CASES.md; what goes through one: gateway_preview.py. The
 * servers are Python in the box.
 */
#include "box.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Echoes what comes, for each connection anew. */
static const char server[] =
	"import socket,threading\n"
	"s=socket.socket()\n"
	"s.bind(('127.0.0.1',3000))\n"
	"s.listen(64)\n"
	"print('ready',flush=True)\n"
	"def one(c):\n"
	"  try:\n"
	"    while True:\n"
	"      d=c.recv(4096)\n"
	"      if not d: break\n"
	"      c.sendall(d)\n"
	"  except OSError: pass\n"
	"  c.close()\n"
	"while True:\n"
	"  threading.Thread(target=one,args=(s.accept()[0],),"
	"daemon=True).start()\n";

static agentbox_gateway *gateway(void)
{
	return agentbox_sandbox_get_gateway(box());
}

static void raise_with(const char *network)
{
	REQUIRE(host_has("python3"), "the servers are in Python");
	if (!agentbox_has_feature("gateway"))
		e2e_skip("this build has no gateway");
	box_raise(NULL, e2e_text("\"network\":{\"mode\":\"gateway\",%s}",
				 network));
}

static agentbox_process *start_server(int *out)
{
	char line[16] = "";
	agentbox_process *p;
	int fds[2];

	REQUIRE(pipe(fds) == 0, "%m");
	p = BOX_START(fds[1], "python3", "-c", server);
	close(fds[1]);
	*out = fds[0];
	REQUIRE(read(fds[0], line, sizeof(line) - 1) > 0 &&
		strcmp(line, "ready\n") == 0, "%s", line);
	return p;
}

static void end_server(agentbox_process *p, int out)
{
	agentbox_process_kill(p, 9, NULL);
	agentbox_process_wait(p, 60000, NULL);
	agentbox_process_free(p);
	close(out);
}

/* A connection to the host's port, or -1. */
static int dial(uint32_t port)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	at.sin_port = htons((uint16_t)port);
	if (connect(fd, (void *)&at, sizeof(at)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* What comes within the time: 'x', 0 the end or a reset, -1 nothing. */
static int answer(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char c = 0;

	if (poll(&p, 1, 30000) != 1)
		return -1;
	return recv(fd, &c, 1, 0) == 1 ? c : 0;
}

static bool echoes(int fd)
{
	return fd >= 0 && send(fd, "x", 1, MSG_NOSIGNAL) == 1 &&
	       answer(fd) == 'x';
}

static int32_t open_at(uint32_t port, uint32_t *bound)
{
	return agentbox_gateway_open_preview(gateway(), port, 0, bound, NULL);
}

static void case_095_a_preview_is_opened_by_the_host_alone(void)
{
	uint32_t bound = 7;
	int out, fd;
	agentbox_process *p;

	raise_with("\"preview\":[3000,3001]");
	p = start_server(&out);
	CHECK(open_at(22, &bound) == AGENTBOX_EDENIED, "not in the policy");
	CHECK(open_at(0, &bound) == AGENTBOX_EINVAL, "port 0");
	CHECK(open_at(65536, &bound) == AGENTBOX_EINVAL, "port 65536");
	CHECK(open_at(3000 + 65536, &bound) == AGENTBOX_EINVAL, "wrapped");
	CHECK(agentbox_gateway_open_preview(NULL, 3000, 0, NULL, NULL) ==
		      AGENTBOX_EINVAL, "no gateway");
	CHECK(agentbox_gateway_open_preview(gateway(), 3000, 65536, NULL,
					    NULL) == AGENTBOX_EINVAL,
	      "the host's port");
	CHECK(bound == 7, "*bound was touched");
	CHECK(agentbox_gateway_close_preview(gateway(), 3000, NULL) ==
		      AGENTBOX_ENOTFOUND, "nothing is open");
	REQUIRE(open_at(3000, &bound) == 0 && bound, "open");
	CHECK(open_at(3000, NULL) == AGENTBOX_EEXIST, "open twice");
	CHECK(agentbox_gateway_open_preview(gateway(), 3001, bound, NULL,
					    NULL) == AGENTBOX_EBUSY,
	      "the host's port is taken");
	fd = dial(bound);
	CHECK(echoes(fd), "it leads nowhere");
	CHECK(agentbox_gateway_close_preview(gateway(), 3000, NULL) == 0,
	      "close");
	CHECK(dial(bound) < 0, "it still listens");
	CHECK(echoes(fd), "what stood is gone");
	close(fd);
	CHECK(open_at(3000, &bound) == 0, "open again");
	fd = dial(bound);
	CHECK(echoes(fd), "it leads nowhere");
	close(fd);
	end_server(p, out);
}

static void case_095_a_policy_without_previews_has_none(void)
{
	uint32_t bound;

	raise_with("\"allow\":[]");
	CHECK(open_at(3000, &bound) == AGENTBOX_EDENIED, "it was opened");
}

static void case_152_previews_are_cut(void)
{
	uint32_t bound = 0;
	uint64_t count = 0;
	agentbox_process *p;
	int out, fds[20];

	raise_with("\"preview\":[3000]");
	p = start_server(&out);
	REQUIRE(open_at(3000, &bound) == 0, "open");
	for (int i = 0; i < 20; i++) {
		fds[i] = dial(bound);
		CHECK(echoes(fds[i]), "connection %d", i);
	}
	CHECK(agentbox_gateway_revoke(gateway(), &count, NULL) == 0 &&
	      count >= 20, "%d were cut", (int)count);
	for (int i = 0; i < 20; i++) {
		CHECK(answer(fds[i]) == 0, "connection %d lives", i);
		close(fds[i]);
	}
	CHECK(dial(bound) < 0, "it still listens");
	CHECK(open_at(3000, NULL) == AGENTBOX_ECLOSED, "opened again");
	end_server(p, out);
}

/* More than there are sockets for: none is lost, the next ones wait. */
static void case_095_many_connections_are_served_in_turn(void)
{
	uint32_t bound = 0;
	agentbox_process *p;
	int out, fds[60];

	raise_with("\"preview\":[3000]");
	p = start_server(&out);
	REQUIRE(open_at(3000, &bound) == 0, "open");
	for (int i = 0; i < 60; i++) {
		fds[i] = dial(bound);
		REQUIRE(fds[i] >= 0 &&
			send(fds[i], "x", 1, MSG_NOSIGNAL) == 1, "%d: %m", i);
	}
	for (int i = 0; i < 60; i++) {
		CHECK(answer(fds[i]) == 'x', "connection %d", i);
		close(fds[i]);
	}
	end_server(p, out);
}

/* Reset in the middle, again and again: the next one gets none of it. */
static void case_095_a_connection_has_nothing_of_the_last(void)
{
	const struct linger now = { .l_onoff = 1 };
	static const char junk[8192];
	uint32_t bound = 0;
	agentbox_process *p;
	int out;

	raise_with("\"preview\":[3000]");
	p = start_server(&out);
	REQUIRE(open_at(3000, &bound) == 0, "open");
	for (int i = 0; i < 200; i++) {
		int fd = dial(bound);

		REQUIRE(fd >= 0, "%d: %m", i);
		if (i % 2 == 0) {
			for (int j = 0; j < 20; j++)
				(void)!send(fd, junk, sizeof(junk),
					    MSG_NOSIGNAL | MSG_DONTWAIT);
			(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now,
					 sizeof(now));
		} else {
			CHECK(echoes(fd), "connection %d", i);
		}
		close(fd);
	}
	end_server(p, out);
}

static const struct e2e_case cases[] = {
	CASE(case_095_a_preview_is_opened_by_the_host_alone),
	CASE(case_095_a_policy_without_previews_has_none),
	CASE(case_095_many_connections_are_served_in_turn),
	CASE(case_095_a_connection_has_nothing_of_the_last),
	CASE(case_152_previews_are_cut),
	CASES_END
};

int main(int argc, char **argv)
{
	return e2e_main(argc, argv, cases);
}
