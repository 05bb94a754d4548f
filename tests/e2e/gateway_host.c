/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a live gateway lets its host alone do: open previews, answer what it
 * asks. Rows 95 and 98 of tests/e2e/GATEWAY-CASES.md; what goes through a
 * preview: gateway_preview.py. Servers and clients are Python in the box.
 */
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <agentbox/guard.h>

static pid_t server_pid;

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

static void raise_with_more(const char *network, const char *more)
{
	REQUIRE(host_has("python3"), "the servers are in Python");
	box_needs("gateway");
	box_raise(NULL, e2e_text("\"network\":{\"mode\":\"gateway\",%s}%s",
				 network, more));
}

static void raise_with(const char *network)
{
	raise_with_more(network, "");
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

/* --- ask on deny ---------------------------------------------------------- */

static bool drop_event(void)
{
	agentbox_event *event = NULL;
	bool was_one = agentbox_sandbox_next_event(box(), &event, NULL) == 0;

	agentbox_event_free(event);
	return was_one;
}

/* What the callback was asked, and what it says. */
static struct {
	int calls, verdict;
	uint32_t last_id;
	char seen[4096]; /* "how target;" */
} asked;

static int32_t say(void *data, uint32_t id, const char *how,
		   const char *target)
{
	size_t n = strlen(asked.seen);

	CHECK(data == &asked, "its data");
	asked.calls++;
	asked.last_id = id;
	snprintf(asked.seen + n, sizeof(asked.seen) - n, "%s %s;", how,
		 target);
	return asked.verdict;
}

static void ask_with(int verdict, uint32_t timeout_ms)
{
	memset(&asked, 0, sizeof(asked));
	asked.verdict = verdict;
	REQUIRE(agentbox_gateway_set_ask(gateway(), say, &asked, timeout_ms,
					 NULL) == 0, "set_ask");
}

/* Targets by CONNECT, SOCKS5, plain HTTP or without a proxy: what came. */
static const char asker[] =
	"import base64,os,re,socket,sys\n"
	"k=re.search('//(.*)@',os.environ['HTTP_PROXY'])[1]\n"
	"a='Proxy-Authorization: Basic '+base64.b64encode(k.encode())"
	".decode()+'\\r\\n'\n"
	"def line(s):\n"
	"  d=b''\n"
	"  while b'\\n' not in d:\n"
	"    m=s.recv(1)\n"
	"    if not m: break\n"
	"    d+=m\n"
	"  return d.decode()[9:12] or 'cut'\n"
	"for t in sys.argv[1:]:\n"
	"  how,t=t.split('=')\n"
	"  h,p=t.rsplit(':',1)\n"
	"  try:\n"
	"    s=socket.create_connection((h,int(p)) if how=='direct' else\n"
	"      ('192.0.0.1',3128),60)\n"
	"    s.settimeout(60)\n"
	"    if how=='connect':\n"
	"      s.sendall(('CONNECT %s HTTP/1.1\\r\\nHost: %s\\r\\n%s"
	"\\r\\n'%(t,t,a)).encode())\n"
	"      print(line(s))\n"
	"    elif how=='http':\n"
	"      s.sendall(('GET http://%s/ HTTP/1.1\\r\\nHost: %s\\r\\n%s"
	"\\r\\n'%(t,t,a)).encode())\n"
	"      print(line(s))\n"
	"    elif how=='socks':\n"
	"      u,w=k.split(':')\n"
	"      s.sendall(b'\\5\\1\\2'); s.recv(2)\n"
	"      s.sendall(bytes([1,len(u)])+u.encode()+bytes([len(w)])+"
	"w.encode()); s.recv(2)\n"
	"      s.sendall(b'\\5\\1\\0\\3'+bytes([len(h)])+h.encode()+"
	"int(p).to_bytes(2,'big'))\n"
	"      print('socks',s.recv(10)[1])\n"
	"    else:\n"
	"      s.sendall(b'x'); print(len(s.recv(1)))\n"
	"  except OSError as e: print('reset')\n";

/* A process that takes connections and answers "HTTP/1.1 200" to each. */
static int start_host_server(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	static const char hello[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
				    "Connection: close\r\n\r\n";
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	REQUIRE(fd >= 0 && bind(fd, (void *)&at, n) == 0 &&
		listen(fd, 64) == 0 &&
		getsockname(fd, (void *)&at, &n) == 0, "%m");
	server_pid = fork();
	REQUIRE(server_pid >= 0, "%m");
	while (server_pid == 0) {
		char bytes[4096];
		int c = accept(fd, NULL, NULL);

		if (recv(c, bytes, sizeof(bytes), 0) > 0)
			(void)!send(c, hello, sizeof(hello) - 1, MSG_NOSIGNAL);
		close(c);
	}
	close(fd);
	return ntohs(at.sin_port);
}

static void end_host_server(void)
{
	kill(server_pid, SIGKILL);
	waitpid(server_pid, NULL, 0);
}

/* Run it to its end while the box is dispatched, as a host does. */
static const char *run_asker(const char *const *targets)
{
	const char *argv[20] = { "python3", "-c", asker };
	static char out[4096];
	agentbox_process *p;
	size_t n = 0;
	int fds[2];

	for (size_t i = 0; targets[i]; i++)
		argv[3 + i] = targets[i];
	REQUIRE(pipe(fds) == 0, "%m");
	p = box_start(argv, fds[1]);
	close(fds[1]);
	for (;;) {
		struct pollfd waits[] = {
			{ .fd = fds[0], .events = POLLIN },
			{ .fd = agentbox_sandbox_get_fd(box()),
			  .events = POLLIN },
		};
		ssize_t got;

		REQUIRE(poll(waits, 2, 60000) > 0, "nothing happens");
		if (waits[1].revents)
			agentbox_sandbox_dispatch(box(), NULL);
		while (drop_event())
			;
		got = waits[0].revents ? read(fds[0], out + n,
					      sizeof(out) - 1 - n) : -1;
		if (got == 0)
			break;
		n += got > 0 ? (size_t)got : 0;
	}
	out[n] = '\0';
	end_server(p, fds[0]);
	return out;
}

static void case_098_the_host_is_asked_for_what_is_not_listed(void)
{
	const char *targets[8] = { NULL };
	const char *out;
	int port;

	raise_with("\"allow\":[\"listed.test:1\"],\"deny\":[\"bad.test\"],"
		   "\"private\":[\"127.0.0.0/8\"]");
	port = start_host_server();
	targets[0] = e2e_text("connect=127.0.0.1:%d", port);
	targets[1] = e2e_text("socks=127.0.0.1:%d", port);
	targets[2] = e2e_text("http=127.0.0.1:%d", port);

	out = run_asker(targets);
	CHECK(strcmp(out, "403\nsocks 2\n403\n") == 0 && !asked.calls,
	      "without a callback: %s", out);
	ask_with(AGENTBOX_VERDICT_ALLOW, 60000);
	out = run_asker(targets);
	CHECK(strcmp(out, "200\nsocks 0\n200\n") == 0 && asked.calls == 3,
	      "allowed: %s, %s", out, asked.seen);
	CHECK(strcmp(asked.seen, e2e_text(
		"connect 127.0.0.1:%d;socks 127.0.0.1:%d;http 127.0.0.1:%d;",
		port, port, port)) == 0, "%s", asked.seen);
	/* not for the next one: what is asked is asked each time */
	ask_with(AGENTBOX_VERDICT_DENY, 60000);
	out = run_asker(targets);
	CHECK(strcmp(out, "403\nsocks 2\n403\n") == 0 && asked.calls == 3,
	      "denied: %s, %s", out, asked.seen);
	ask_with(AGENTBOX_VERDICT_NONE, 60000);
	out = run_asker(targets);
	CHECK(strcmp(out, "403\nsocks 2\n403\n") == 0 && asked.calls == 3,
	      "none: %s", out);
	ask_with(17, 60000);
	out = run_asker(targets);
	CHECK(strcmp(out, "403\nsocks 2\n403\n") == 0, "17: %s", out);
	/* nobody answers */
	ask_with(AGENTBOX_VERDICT_ASK, 50);
	out = run_asker(targets);
	CHECK(strcmp(out, "403\nsocks 2\n403\n") == 0 && asked.calls == 3,
	      "late: %s", out);
	CHECK(agentbox_gateway_answer(gateway(), asked.last_id,
				      AGENTBOX_VERDICT_ALLOW, NULL) ==
		      AGENTBOX_ENOTFOUND, "an answer to nobody");
	REQUIRE(agentbox_gateway_set_ask(gateway(), NULL, NULL, 0, NULL) == 0,
		"no more");
	asked.calls = 0;
	out = run_asker(targets);
	CHECK(strcmp(out, "403\nsocks 2\n403\n") == 0 && !asked.calls,
	      "no callback any more: %s", out);
	end_host_server();
}

static void case_098_what_else_is_refused_is_not_asked_about(void)
{
	static const char *const targets[] = {
		"connect=bad.test:443", "connect=169.254.169.254:80",
		"connect=224.0.0.1:443", "connect=x.localhost:443",
		"connect=192.0.0.1:3128", "connect=a..b:443",
		"http=bad.test:80", "connect=10.0.0.1:443", NULL };
	const char *out;

	raise_with("\"allow\":[\"listed.test:1\"],\"deny\":[\"bad.test\"]");
	ask_with(AGENTBOX_VERDICT_ALLOW, 60000);
	out = run_asker(targets);
	CHECK(strcmp(out, "403\n403\n403\n403\n403\n400\n403\n"
			  "403\n") == 0, "%s", out);
	CHECK(!asked.calls, "asked: %s", asked.seen);
}

/* more than there may be at once */
#define LATE_ASKS 40

/* A host that is late has said no to what the gateway no longer asks. */
static void case_098_a_late_host_does_not_lose_the_gateway(void)
{
	const char *argv[3 + LATE_ASKS + 1] = { "python3", "-c", asker };
	char line[16];
	agentbox_process *p;
	int fds[2];

	raise_with("\"allow\":[],\"private\":[\"127.0.0.0/8\"]");
	ask_with(AGENTBOX_VERDICT_ALLOW, 10);
	for (size_t i = 0; i < LATE_ASKS; i++)
		argv[3 + i] = "connect=127.0.0.1:9";
	REQUIRE(pipe(fds) == 0, "%m");
	p = box_start(argv, fds[1]);
	close(fds[1]);
	/* not dispatched before all of them are refused */
	while (read(fds[0], line, sizeof(line)) > 0)
		;
	end_server(p, fds[0]);
	CHECK(agentbox_sandbox_dispatch(box(), NULL) == 0, "dispatch");
	CHECK(agentbox_gateway_is_alive(gateway()), "the gateway is lost");
	CHECK(asked.calls > 0 && asked.last_id == LATE_ASKS,
	      "%d, the last is %u", asked.calls, asked.last_id);
}

static int32_t later_id;

static int32_t say_later(void *data, uint32_t id, const char *how,
			 const char *target)
{
	(void)data;
	(void)how;
	(void)target;
	later_id = (int32_t)id;
	return AGENTBOX_VERDICT_ASK;
}

static void case_098_an_answer_may_come_later_and_revocation_ends_all(void)
{
	const char *argv[] = { "python3", "-c", asker, NULL, NULL };
	char line[16] = "";
	agentbox_process *p;
	int port, fds[2];

	raise_with("\"allow\":[],\"private\":[\"127.0.0.0/8\"]");
	port = start_host_server();
	argv[3] = e2e_text("connect=127.0.0.1:%d", port);
	for (int round = 0; round < 2; round++) {
		later_id = 0;
		REQUIRE(agentbox_gateway_set_ask(gateway(), say_later, NULL,
						 600000, NULL) == 0, "set");
		REQUIRE(pipe(fds) == 0, "%m");
		p = box_start(argv, fds[1]);
		close(fds[1]);
		while (!later_id) {
			struct pollfd w = {
				.fd = agentbox_sandbox_get_fd(box()),
				.events = POLLIN };

			REQUIRE(poll(&w, 1, 60000) > 0, "not asked");
			agentbox_sandbox_dispatch(box(), NULL);
			while (drop_event())
				;
		}
		if (round == 0)
			CHECK(agentbox_gateway_answer(
				      gateway(), (uint32_t)later_id,
				      AGENTBOX_VERDICT_ALLOW, NULL) == 0,
			      "answer");
		else
			CHECK(agentbox_gateway_revoke(gateway(), NULL, NULL)
				      == 0, "revoke");
		memset(line, 0, sizeof(line));
		CHECK(read(fds[0], line, sizeof(line) - 1) > 0 &&
		      strcmp(line, round ? "reset\n" : "200\n") == 0,
		      "%d: %s", round, line);
		end_server(p, fds[0]);
	}
	CHECK(agentbox_gateway_answer(gateway(), (uint32_t)later_id,
				      AGENTBOX_VERDICT_ALLOW, NULL) ==
		      AGENTBOX_ECLOSED, "an answer after it");
	end_host_server();
}

static int32_t approve(void *data, uint32_t id, const char *tool,
		       const char *arguments)
{
	(void)data;
	(void)id;
	(void)tool;
	(void)arguments;
	return AGENTBOX_VERDICT_DENY;
}

static void case_098_wrong_use_is_refused(void)
{
	raise_with("\"allow\":[]");
	CHECK(agentbox_gateway_set_ask(NULL, say, NULL, 1000, NULL) ==
		      AGENTBOX_EINVAL, "no gateway");
	CHECK(agentbox_gateway_set_ask(gateway(), say, NULL, 0, NULL) ==
		      AGENTBOX_EINVAL, "no time");
	CHECK(agentbox_gateway_set_ask(gateway(), say, NULL, 600001, NULL) ==
		      AGENTBOX_EINVAL, "too long");
	CHECK(agentbox_gateway_set_ask(gateway(), NULL, NULL, 5, NULL) ==
		      AGENTBOX_EINVAL, "a time for nobody");
	CHECK(agentbox_gateway_answer(gateway(), 7, AGENTBOX_VERDICT_ALLOW,
				      NULL) == AGENTBOX_ENOTFOUND, "no id");
	CHECK(agentbox_gateway_set_approve(NULL, approve, NULL, 1000, NULL) ==
		      AGENTBOX_EINVAL, "calls: no gateway");
	CHECK(agentbox_gateway_set_approve(gateway(), approve, NULL, 0,
					   NULL) == AGENTBOX_EINVAL,
	      "calls: no time");
	CHECK(agentbox_gateway_set_approve(gateway(), approve, NULL, 600001,
					   NULL) == AGENTBOX_EINVAL,
	      "calls: too long");
	CHECK(agentbox_gateway_set_approve(gateway(), NULL, NULL, 5, NULL) ==
		      AGENTBOX_EINVAL, "calls: a time for nobody");
}

static void a_descriptor_that_is_not_open_costs_no_gateway(void)
{
	raise_with("\"allow\":[]");
	for (int fd = 999; fd; fd = fd == 999 ? -2 : 0)
		CHECK(agentbox_gateway_set_secret(gateway(), "key", fd,
						  NULL) == AGENTBOX_EINVAL,
		      "fd %d", fd);
	CHECK(agentbox_gateway_reload(gateway(), NULL, NULL) ==
		      AGENTBOX_EINVAL, "no policy");
	CHECK(agentbox_gateway_is_alive(gateway()), "the gateway is lost");
}

/* A request to a route, with the key: status and reason. */
static const char *ask_route(const char *path)
{
	struct outcome o = BOX_RUN("python3", "-c", e2e_text(
		"import http.client,os\n"
		"c=http.client.HTTPConnection('192.0.0.1',3128,timeout=60)\n"
		"c.request('GET','%s',None,{'Authorization':\n"
		"  'Bearer '+os.environ['AGENTBOX_KEY']})\n"
		"r=c.getresponse()\n"
		"print(r.status,r.getheader('x-agentbox-reason'),end='')\n",
		path));

	return e2e_text("%s%s", o.out, o.status ? o.err : "");
}

static void a_value_that_cannot_be_read_is_named_and_leaves_none(void)
{
	agentbox_error *err = NULL;
	char path[64];
	int good, bad[2];

	raise_with_more("\"allow\":[],\"private\":[\"127.0.0.0/8\"]",
			",\"routes\":[{\"prefix\":\"/a\",\"upstream\":"
			"\"https://127.0.0.1:9\",\"inject\":{\"secret\":"
			"\"key\"}}],\"secrets\":[{\"name\":\"key\"}]");
	good = memfd_create("value", MFD_CLOEXEC);
	REQUIRE(good >= 0 && write(good, "0123456789", 10) == 10, "%m");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", good);
	bad[0] = open(path, O_WRONLY | O_CLOEXEC);
	bad[1] = open(path, O_PATH | O_CLOEXEC);
	for (int i = 0; i < 2; i++) {
		REQUIRE(bad[i] >= 0, "%m");
		CHECK(agentbox_gateway_set_secret(gateway(), "key", good,
						  NULL) == 0, "good");
		CHECK(strcmp(ask_route("/a"), "502 connection_refused") == 0,
		      "%d: with a value", i);
		CHECK(agentbox_gateway_set_secret(gateway(), "key", bad[i],
						  &err) == AGENTBOX_EACCES &&
			      strstr(agentbox_error_get_message(err),
				     "not open for reading"),
		      "%d: %s", i, agentbox_error_get_message(err));
		agentbox_error_free(err);
		err = NULL;
		CHECK(strncmp(ask_route("/a"), "503", 3) == 0, "%d: the old",
		      i);
		close(bad[i]);
	}
	close(good);
}

static void case_152_a_route_is_taken_away(void)
{
	uint64_t count = 7;
	const char *got;

	raise_with_more("\"allow\":[],\"private\":[\"127.0.0.0/8\"]",
			",\"routes\":[{\"prefix\":\"/a\",\"upstream\":"
			"\"https://127.0.0.1:9\"},{\"prefix\":\"/a/b\","
			"\"upstream\":\"https://127.0.0.1:9/b\"}]");
	got = ask_route("/a/b/c");
	CHECK(strcmp(got, "502 connection_refused") == 0, "%s", got);
	CHECK(agentbox_gateway_remove_route(gateway(), "/b", &count, NULL) ==
		      AGENTBOX_ENOTFOUND && count == 7, "none: %d",
	      (int)count);
	CHECK(agentbox_gateway_remove_route(gateway(), NULL, NULL, NULL) ==
		      AGENTBOX_EINVAL, "NULL");
	CHECK(agentbox_gateway_remove_route(gateway(), e2e_text("/%5000s", ""),
					    NULL, NULL) ==
		      AGENTBOX_ENOTFOUND, "a long one");
	CHECK(agentbox_gateway_remove_route(gateway(), "/a/b", &count, NULL) ==
		      0 && count == 0, "%d", (int)count);
	/* the shorter one does not take its place */
	got = ask_route("/a/b/c");
	CHECK(strcmp(got, "403 route_removed") == 0, "%s", got);
	got = ask_route("/a/c");
	CHECK(strcmp(got, "502 connection_refused") == 0, "%s", got);
	CHECK(agentbox_gateway_revoke(gateway(), NULL, NULL) == 0, "revoke");
	CHECK(agentbox_gateway_remove_route(gateway(), "/a", &count, NULL) ==
		      0, "revoked");
}

static const struct e2e_case cases[] = {
	CASE(case_152_a_route_is_taken_away),
	CASE(case_098_the_host_is_asked_for_what_is_not_listed),
	CASE(case_098_what_else_is_refused_is_not_asked_about),
	CASE(case_098_a_late_host_does_not_lose_the_gateway),
	CASE(case_098_an_answer_may_come_later_and_revocation_ends_all),
	CASE(case_098_wrong_use_is_refused),
	CASE(a_descriptor_that_is_not_open_costs_no_gateway),
	CASE(a_value_that_cannot_be_read_is_named_and_leaves_none),
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
