/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host's side of a live gateway: revocation, new lists, events and its
 * death. Rows 4, 5, 7, 42, 152-157 of tests/e2e/GATEWAY-CASES.md. The origin is
 * a process on the host's loopback that echoes; clients are Python in the box.
 */
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TUNNELS 100

/* --- an origin ------------------------------------------------------------ */

/* Echoes on every connection, answers a GET, and ends with the case. */
static pid_t origin_pid;
static int origin_ends; /* a byte for each connection that has ended */

static void answer(int fd, const char *bytes, size_t n)
{
	static const char good[] = "HTTP/1.1 200 OK\r\n"
				   "Content-Length: 0\r\n\r\n";

	if (n > 4 && memcmp(bytes, "GET ", 4) == 0) {
		bytes = good;
		n = sizeof(good) - 1;
	}
	(void)!send(fd, bytes, n, MSG_NOSIGNAL);
}

static void serve_all(int listener, int ends)
{
	struct pollfd fds[512] = { { .fd = listener, .events = POLLIN } };
	nfds_t n = 1;
	char bytes[4096];

	while (poll(fds, n, -1) > 0) {
		if (fds[0].revents && n < 512)
			fds[n++] = (struct pollfd){
				.fd = accept(listener, NULL, NULL),
				.events = POLLIN };
		for (nfds_t i = 1; i < n; i++) {
			ssize_t got = fds[i].revents
				? recv(fds[i].fd, bytes, sizeof(bytes), 0)
				: -2;

			if (got > 0)
				answer(fds[i].fd, bytes, (size_t)got);
			else if (got > -2) {
				close(fds[i].fd);
				(void)!write(ends, "", 1);
				fds[i--] = fds[--n];
			}
		}
	}
	_exit(0);
}

static int start_origin(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int ends[2];

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	REQUIRE(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0, "%m");
	origin_ends = ends[0];
	REQUIRE(fd >= 0 && bind(fd, (void *)&at, n) == 0 &&
		listen(fd, 512) == 0 &&
		getsockname(fd, (void *)&at, &n) == 0, "%m");
	origin_pid = fork();
	REQUIRE(origin_pid >= 0, "%m");
	if (origin_pid == 0)
		serve_all(fd, ends[1]);
	close(ends[1]);
	close(fd);
	return ntohs(at.sin_port);
}

static void end_origin(void)
{
	kill(origin_pid, SIGKILL);
	waitpid(origin_pid, NULL, 0);
	close(origin_ends);
}

/* --- a box ---------------------------------------------------------------- */

static const char *keys(const char *allow)
{
	return e2e_text("\"network\":{\"mode\":\"gateway\",\"allow\":[%s],"
			"\"private\":[\"127.0.0.0/8\"]}", allow);
}

static const char *literal(int port)
{
	return e2e_text("\"127.0.0.1:%d\"", port);
}

static int raise_gateway(void)
{
	int port;

	REQUIRE(host_has("python3"), "the clients are in Python");
	box_needs("gateway");
	port = start_origin();
	box_raise(NULL, keys(literal(port)));
	REQUIRE(agentbox_gateway_is_alive(agentbox_sandbox_get_gateway(box())),
		"it is alive");
	return port;
}

/* Connections through the proxy, all of which have echoed once. */
static const char *client(int port, int count)
{
	return e2e_text(
		"import base64,os,re,select,socket,sys\n"
		"k=re.search('//(.*)@',os.environ['HTTP_PROXY'])[1].encode()\n"
		"a=base64.b64encode(k).decode()\n"
		"def dial():\n"
		"  s=socket.create_connection(('192.0.0.1',3128),60)\n"
		"  s.settimeout(60)\n"
		"  s.sendall(('CONNECT 127.0.0.1:%d HTTP/1.1\\r\\n'\n"
		"   'Host: 127.0.0.1:%d\\r\\nProxy-Authorization: Basic %%s"
		"\\r\\n\\r\\n'%%a).encode())\n"
		"  h=b''\n"
		"  while b'\\r\\n\\r\\n' not in h:\n"
		"    m=s.recv(1)\n"
		"    if not m: break\n"
		"    h+=m\n"
		"  return s,h[9:12].decode()\n"
		"all=[dial() for i in range(%d)]\n"
		"for s,h in all:\n"
		"  s.sendall(b'x'); s.recv(1)\n"
		"print('ready',all[0][1] if all else '',flush=True)\n",
		port, port, count);
}

static agentbox_process *start_client(const char *script, int *out)
{
	agentbox_process *p;
	int fds[2];

	REQUIRE(pipe(fds) == 0, "%m");
	p = BOX_START(fds[1], "python3", "-c", script);
	close(fds[1]);
	*out = fds[0];
	return p;
}

static void end_client(agentbox_process *p, int out)
{
	agentbox_process_wait(p, 60000, NULL);
	agentbox_process_free(p);
	close(out);
}

/* --- revocation ----------------------------------------------------------- */

static agentbox_gateway *gateway(void)
{
	return agentbox_sandbox_get_gateway(box());
}

/* Also in another thread. */
static void *cut_all(void *arg)
{
	uint64_t count = 0;

	CHECK(agentbox_gateway_revoke(gateway(), &count, NULL) == 0, "revoke");
	*(uint64_t *)arg = count;
	return NULL;
}

static void case_152_all_live_tunnels_are_cut(void)
{
	int port = raise_gateway(), out;
	uint64_t count = 0, again = 1;
	int64_t begin, took;
	char *line;
	agentbox_process *p = start_client(e2e_text(
		"%s"
		"n=0\n"
		"for s,h in all:\n"
		"  try: n+=not s.recv(1)\n"
		"  except ConnectionError: n+=1\n"
		"print('cut',n,flush=True)\n"
		"try: print(dial()[1] or 'none',flush=True)\n"
		"except OSError: print('none',flush=True)\n",
		client(port, TUNNELS)), &out);

	e2e_seconds(60);
	line = e2e_line(out);
	CHECK(strcmp(line, "ready 200") == 0, "%s", line);
	begin = e2e_now_ms();
	cut_all(&count);
	took = e2e_now_ms() - begin;
	e2e_note("revoked %d tunnels in %d ms", TUNNELS, (int)took);
	CHECK(count >= TUNNELS, "%d were cut", (int)count);
	line = e2e_line(out);
	CHECK(strcmp(line, e2e_text("cut %d", TUNNELS)) == 0, "%s", line);
	line = e2e_line(out);
	CHECK(strcmp(line, "none") == 0, "%s", line);
	CHECK(!agentbox_gateway_is_alive(gateway()), "it is alive");
	CHECK(agentbox_gateway_revoke(gateway(), &again, NULL) == 0 && !again,
	      "a second time");
	end_client(p, out);
	end_origin();
}

static void case_157_two_threads_revoke_at_once(void)
{
	int port = raise_gateway(), out;
	uint64_t counts[2] = { 0, 0 };
	pthread_t threads[2];
	agentbox_process *p = start_client(e2e_text(
		"%s[s.recv(1) for s,h in all[:1]]\n", client(port, 3)), &out);

	CHECK(strcmp(e2e_line(out), "ready 200") == 0, "not ready");
	for (int i = 0; i < 2; i++)
		REQUIRE(pthread_create(&threads[i], NULL, cut_all, &counts[i])
				== 0, "thread");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	CHECK((counts[0] >= 3) != (counts[1] >= 3), "%d and %d",
	      (int)counts[0], (int)counts[1]);
	end_client(p, out);
	end_origin();
}

/* Revoked while connections are being made: none is left. */
static void case_153_what_is_under_way_is_cut(void)
{
	int port = raise_gateway(), out;
	uint64_t count = 0;
	char *line;
	agentbox_process *p = start_client(e2e_text(
		"%s"
		"bad=0\n"
		"while not bad:\n"
		"  try:\n"
		"    s,h=dial()\n"
		"    if h!='200': bad=1; break\n"
		"    s.sendall(b'y')\n"
		"    if s.recv(1)!=b'y': bad=1\n"
		"  except OSError: bad=1\n"
		"for i in range(20):\n"
		"  try:\n"
		"    s,h=dial()\n"
		"    if h=='200': print('alive',flush=True)\n"
		"  except OSError: pass\n"
		"print('over',flush=True)\n",
		client(port, 1)), &out);

	e2e_seconds(60);
	CHECK(strcmp(e2e_line(out), "ready 200") == 0, "not ready");
	e2e_sleep_ms(50);
	cut_all(&count);
	line = e2e_line(out);
	CHECK(strcmp(line, "over") == 0, "%s", line);
	end_client(p, out);
	end_origin();
}

static void case_155_a_kept_connection_ends_with_a_revocation(void)
{
	int port = raise_gateway(), out;
	struct pollfd ends = { .fd = origin_ends, .events = POLLIN };
	uint64_t count = 0;
	char *line;
	agentbox_process *p = start_client(e2e_text(
		"%s"
		"s=socket.create_connection(('192.0.0.1',3128),60)\n"
		"for i in range(2):\n"
		"  s.sendall(('GET http://127.0.0.1:%d/ HTTP/1.1\\r\\n'\n"
		"   'Host: 127.0.0.1:%d\\r\\nProxy-Authorization: Basic %%s"
		"\\r\\n\\r\\n'%%a).encode())\n"
		"  h=b''\n"
		"  while b'\\r\\n\\r\\n' not in h: h+=s.recv(1)\n"
		"  print(h[9:12].decode(),flush=True)\n",
		client(port, 0), port, port), &out);

	e2e_seconds(60);
	CHECK(strcmp(e2e_line(out), "ready ") == 0, "not ready");
	for (int i = 0; i < 2; i++) {
		line = e2e_line(out);
		CHECK(strcmp(line, "200") == 0, "%s", line);
	}
	end_client(p, out);
	/* who asked is gone, and it stays */
	CHECK(poll(&ends, 1, 200) == 0, "it is not kept");
	cut_all(&count);
	CHECK(poll(&ends, 1, 60000) == 1, "it is there");
	end_origin();
}

/* --- lists ---------------------------------------------------------------- */

static int32_t reload(const char *allow)
{
	agentbox_policy *policy = box_policy(box_document("workspace",
							  NULL, keys(allow)));
	int32_t rc = agentbox_gateway_reload(gateway(), policy, NULL);

	agentbox_policy_unref(policy);
	return rc;
}

/* An origin that takes nothing until it is asked to: all that comes. */
static int take_one(int listener)
{
	struct pollfd waits = { .fd = listener, .events = POLLIN };

	REQUIRE(poll(&waits, 1, 60000) == 1, "nobody comes");
	return accept(listener, NULL, NULL);
}

/* Every buffer between box and origin is full when it is revoked. */
static void case_156_what_is_on_its_way_is_discarded(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t n = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int out, up, size = 65536;
	uint64_t count = 0, sent, got = 0;
	static char bytes[65536];
	agentbox_process *p;
	ssize_t more;
	char *line;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	raise_gateway();
	/* before it listens: what it accepts has it */
	REQUIRE(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &size,
			   sizeof(size)) == 0 &&
		bind(listener, (void *)&at, n) == 0 &&
		listen(listener, 1) == 0 &&
		getsockname(listener, (void *)&at, &n) == 0, "%m");
	CHECK(reload(literal(ntohs(at.sin_port))) == 0, "reload");
	e2e_seconds(60);
	p = start_client(e2e_text(
		"%s"
		"s,h=dial()\n"
		"s.settimeout(2)\n"
		"n=0\n"
		"try:\n"
		"  while n<(1<<28):\n"
		"    try: n+=s.send(bytes(65536))\n"
		"    except TimeoutError:\n"
		"      if n>(1<<20): break\n"
		"except OSError: pass\n"
		"print(h,n,flush=True)\n"
		"s.settimeout(60)\n"
		"try: s.recv(1)\n"
		"except OSError: pass\n", client(ntohs(at.sin_port), 0)), &out);
	up = take_one(listener);
	CHECK(strcmp(e2e_line(out), "ready ") == 0, "not ready");
	line = e2e_line(out);
	REQUIRE(strncmp(line, "200 ", 4) == 0, "%s", line);
	sent = strtoull(line + 4, NULL, 10);
	cut_all(&count);
	CHECK(count >= 1, "%d were cut", (int)count);
	while ((more = recv(up, bytes, sizeof(bytes), 0)) > 0)
		got += (uint64_t)more;
	/* what it had in its own buffer is its own, and then it was cut */
	CHECK(more < 0 && errno == ECONNRESET, "it looks whole: %m");
	CHECK(got + size < sent, "%llu of %llu", (unsigned long long)got,
	      (unsigned long long)sent);
	e2e_note("%llu of %llu bytes came", (unsigned long long)got,
		 (unsigned long long)sent);
	close(up);
	close(listener);
	end_client(p, out);
	end_origin();
}

static const char *status_at(int port)
{
	struct outcome o = BOX_RUN("python3", "-c",
				   e2e_text("%s", client(port, 1)));

	return e2e_text("%s%s", o.out, o.status ? o.err : "");
}

static const char *refused_at(int port)
{
	struct outcome o = BOX_RUN("python3", "-c", e2e_text(
		"%sprint(dial()[1])\n", client(port, 0)));

	return e2e_text("%s", o.out);
}

static void case_005_new_lists_hold_from_then_on(void)
{
	int port = raise_gateway();
	const char *got = status_at(port);

	CHECK(strcmp(got, "ready 200\n") == 0, "%s", got);
	CHECK(reload("\"other.example:443\"") == 0, "reload");
	got = refused_at(port);
	CHECK(strcmp(got, "ready \n403\n") == 0, "%s", got);
	CHECK(reload("") == 0, "an empty list");
	got = refused_at(port);
	CHECK(strcmp(got, "ready \n403\n") == 0, "%s", got);
	CHECK(reload(literal(port)) == 0, "the old one again");
	got = status_at(port);
	CHECK(strcmp(got, "ready 200\n") == 0, "%s", got);
	end_origin();
}

/* More than libc sorts on its stack: it asks for the size of the memory. */
static void case_005_long_lists_are_new_lists_too(void)
{
	int port = raise_gateway();
	size_t n, size = 64 * 1024;
	char *list = e2e_text("%*s", (int)size, "");
	const char *got;

	n = (size_t)snprintf(list, size, "%s", literal(port));
	for (int i = 0; i < 1000; i++)
		n += (size_t)snprintf(list + n, size - n,
				      ",\"h%d.example:%d\"", i * 7 % 1000, i + 1);
	CHECK(reload(list) == 0, "reload");
	got = status_at(port);
	CHECK(strcmp(got, "ready 200\n") == 0, "%s", got);
	CHECK(agentbox_gateway_is_alive(gateway()), "it has ended");
	end_origin();
}

/* A box that has taken every descriptor keeps no list from being replaced. */
static void case_005_no_descriptors_are_no_way_to_stay_listed(void)
{
	const struct rlimit few = { 100, 100 };
	agentbox_process *p;
	const char *got;
	int port, out;

	e2e_seconds(60);
	REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0, "%m");
	port = raise_gateway();
	/* tunnels take two each; then more than it has, which say nothing */
	p = start_client(e2e_text(
		"%s"
		"import time\n"
		"for i in range(4):\n"
		"  if os.fork()==0:\n"
		"    held=[]\n"
		"    for j in range(25):\n"
		"      try: held.append(socket.create_connection(\n"
		"        ('192.0.0.1',3128),60))\n"
		"      except OSError: pass\n"
		"    os.write(1,b'open\\n')\n"
		"    time.sleep(60)\n"
		"time.sleep(60)\n", client(port, 30)), &out);
	got = e2e_line(out);
	CHECK(strcmp(got, "ready 200") == 0, "%s", got);
	for (int i = 0; i < 4; i++) {
		got = e2e_line(out);
		CHECK(strcmp(got, "open") == 0, "%s", got);
	}
	e2e_sleep_ms(200);
	CHECK(reload("\"other.example:443\"") == 0, "reload");
	CHECK(reload("\"more.example:443\"") == 0, "a second time");
	CHECK(agentbox_gateway_is_alive(gateway()), "it has ended");
	CHECK(agentbox_process_kill(p, SIGKILL, NULL) == 0, "kill");
	end_client(p, out);
	end_origin();
}

static void case_005_a_policy_without_gateway_is_no_list(void)
{
	int port = raise_gateway();
	agentbox_policy *policy = box_policy(box_document("workspace", NULL,
							  NULL));
	const char *got;

	CHECK(agentbox_gateway_reload(gateway(), policy, NULL) ==
		      AGENTBOX_EINVAL, "network none");
	agentbox_policy_unref(policy);
	got = status_at(port);
	CHECK(strcmp(got, "ready 200\n") == 0, "%s", got);
	end_origin();
}

/* --- events, death -------------------------------------------------------- */

static void case_101_what_is_refused_is_told(void)
{
	int port = raise_gateway();
	char *detail;
	const char *got = refused_at(port + 1 < 65536 ? port + 1 : port - 1);

	CHECK(strstr(got, "403") != NULL, "%s", got);
	detail = box_event("denied", NULL, 10000);
	CHECK(detail && strncmp(detail, "port_not_listed", 15) == 0, "%s",
	      detail ? detail : "no event");
	got = status_at(port);
	CHECK(strcmp(got, "ready 200\n") == 0, "%s", got);
	CHECK(box_event("allowed", e2e_text(":%d", port), 10000) != NULL,
	      "no event");
	end_origin();
}

/* All that the gateway has told so far. */
static void hear(void)
{
	struct pollfd p = { .fd = agentbox_sandbox_get_fd(box()),
			    .events = POLLIN };
	agentbox_event *event = NULL;

	do {
		CHECK(agentbox_sandbox_dispatch(box(), NULL) == 0, "dispatch");
		while (agentbox_sandbox_next_event(box(), &event, NULL) == 0) {
			agentbox_event_free(event);
			event = NULL;
		}
	} while (poll(&p, 1, 0) == 1);
}

/* How many of 1000 connections were refused by who hears of them only when
   none has been made for a while. */
static char *refused_by_a_late_host(int port)
{
	int out;
	agentbox_process *p = start_client(e2e_text(
		"%s"
		"bad=0\n"
		"for i in range(1000):\n"
		"  try:\n"
		"    s,h=dial()\n"
		"    bad+=h!='200'\n"
		"    s.close()\n"
		"  except OSError: bad+=1\n"
		"  if i%%50==0: print('at',i,flush=True)\n"
		"print('refused',bad,flush=True)\n", client(port, 0)), &out);
	struct pollfd said = { .fd = out, .events = POLLIN };
	char *line;

	do {
		while (poll(&said, 1, 100) == 0)
			hear();
		line = e2e_line(out);
	} while (strncmp(line, "ready", 5) == 0 || strncmp(line, "at", 2) == 0);
	end_client(p, out);
	return line;
}

/* What has to be recorded first waits for room, for a second. */
static void case_101_a_host_that_is_late_refuses_nobody(void)
{
	char *line = NULL;
	int port;

	e2e_seconds(120);
	box_open_log();
	port = raise_gateway();
	/* a second may be over before this process has its turn */
	for (int i = 0; i < 5 && (!line || strcmp(line, "refused 0")); i++)
		line = refused_by_a_late_host(port);
	CHECK(strcmp(line, "refused 0") == 0, "%s", line);
	hear();
	line = box_close_log();
	CHECK(e2e_count(line, "\"event\":\"allowed\"") >= 1000, "%d records",
	      (int)e2e_count(line, "\"event\":\"allowed\""));
	end_origin();
}

static void case_007_its_death_is_told_and_others_do_not_notice(void)
{
	int port = raise_gateway();
	agentbox_sandbox *other;
	agentbox_policy *policy;
	pid_t pid = host_descendant("agentbox-gatewa");
	const char *argv[] = { "python3", "-c", client(port, 1), NULL };
	struct outcome o;
	const char *got;

	e2e_seconds(60);
	REQUIRE(pid > 0, "no gateway");
	policy = box_policy(box_document("workspace", NULL,
					 keys(literal(port))));
	REQUIRE(agentbox_sandbox_new(box_context(), policy, NULL, &other, NULL)
			== 0, "another box");
	kill(pid, SIGKILL);
	CHECK(box_event("gateway", NULL, 20000) != NULL, "no event");
	CHECK(!agentbox_gateway_is_alive(gateway()), "it is alive");
	CHECK(agentbox_gateway_revoke(gateway(), NULL, NULL) == 0, "revoke");
	CHECK(reload("") == AGENTBOX_ECLOSED, "reload");
	o = BOX_RUN("python3", "-c", e2e_text(
		"import socket\n"
		"for a in [('192.0.0.1',3128),('1.2.3.4',%d)]:\n"
		"  try: socket.create_connection(a,30); print('open')\n"
		"  except OSError: print('none')\n", port));
	CHECK(strcmp(o.out, "none\nnone\n") == 0, "%s%s", o.out, o.err);
	o = box_run_in(other, argv);
	got = e2e_text("%s", o.out);
	CHECK(strcmp(got, "ready 200\n") == 0, "%s%s", got, o.err);
	agentbox_sandbox_free(other);
	agentbox_policy_unref(policy);
	end_origin();
}

/* Is there nothing that a host would be woken for, once it has read all? */
static bool falls_silent(void)
{
	struct pollfd fd = { .fd = agentbox_sandbox_get_fd(box()),
			     .events = POLLIN };
	agentbox_event *e;

	for (int i = 0; i < 200; i++) {
		if (poll(&fd, 1, 100) == 0)
			return true;
		agentbox_sandbox_dispatch(box(), NULL);
		while (agentbox_sandbox_next_event(box(), &e, NULL) == 0)
			agentbox_event_free(e);
	}
	return false;
}

/* A child that was forked has what the gateway's end closes here. */
static void case_007_a_host_that_has_forked_does_not_hear_of_it_for_ever(void)
{
	pid_t pid, child;

	raise_gateway();
	pid = host_descendant("agentbox-gatewa");
	REQUIRE(pid > 0 && falls_silent(), "no gateway");
	child = fork();
	REQUIRE(child >= 0, "%m");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	kill(pid, SIGKILL);
	CHECK(box_event("gateway", NULL, 20000) != NULL, "no event");
	CHECK(falls_silent(), "it is told again and again");
	CHECK(agentbox_sandbox_end(box(), NULL) == 0, "end");
	CHECK(falls_silent(), "nor of the box's own end");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	end_origin();
}

/* Stopped, it forwards nothing; the host is told when it wants something. */
static void case_007_one_that_is_stopped_is_no_way_out(void)
{
	int port = raise_gateway(), out;
	pid_t pid = host_descendant("agentbox-gatewa");
	agentbox_process *p = start_client(e2e_text(
		"%s"
		"live=all[0][0]\n"
		"live.settimeout(3)\n"
		"def quiet(f):\n"
		"  try: return 'answer %%r'%%(f(),)\n"
		"  except OSError: return 'none'\n"
		"def echo():\n"
		"  live.sendall(b'x'); return live.recv(1)\n"
		"def again():\n"
		"  s=socket.create_connection(('192.0.0.1',3128),3)\n"
		"  s.sendall(b'GET / HTTP/1.1\\r\\n\\r\\n')\n"
		"  return s.recv(1)\n"
		"while quiet(echo)!='none': pass\n"
		"print('none',quiet(again),flush=True)\n"
		"live.settimeout(60)\n"
		"try: print('end',live.recv(1),flush=True)\n"
		"except ConnectionError: print('end',flush=True)\n"
		"print(quiet(again),flush=True)\n", client(port, 1)), &out);
	char *line;

	e2e_seconds(60);
	REQUIRE(pid > 0, "no gateway");
	line = e2e_line(out);
	CHECK(strcmp(line, "ready 200") == 0, "%s", line);
	REQUIRE(kill(pid, SIGSTOP) == 0, "%m");
	line = e2e_line(out);
	CHECK(strcmp(line, "none none") == 0, "%s", line);
	/* nobody waits for it for longer than it may take to answer */
	CHECK(reload(literal(port)) == AGENTBOX_ECLOSED, "reload");
	CHECK(!agentbox_gateway_is_alive(gateway()), "it is alive");
	CHECK(box_event("gateway", NULL, 20000) != NULL, "no event");
	line = e2e_line(out);
	CHECK(strncmp(line, "end", 3) == 0, "%s", line);
	line = e2e_line(out);
	CHECK(strcmp(line, "none") == 0, "%s", line);
	end_client(p, out);
	end_origin();
}

/* The set that /proc tells of a process, or all of them. */
static unsigned long long caps_of(pid_t pid, const char *set)
{
	FILE *f = fopen(e2e_text("/proc/%d/status", (int)pid), "re");
	unsigned long long bits = ~0ull;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, set, strlen(set)) == 0)
			bits = strtoull(line + strlen(set) + 1, NULL, 16);
	if (f)
		fclose(f);
	return bits;
}

static void case_008_no_capability_is_left_in_any_set(void)
{
	static const char *const sets[] = { "CapInh", "CapPrm", "CapEff",
					    "CapAmb", "CapBnd" };
	/* CAP_SETPCAP, without which the last one stays */
	size_t count = caps_of(getpid(), "CapEff") & 1u << 8 ? 5 : 4;
	pid_t pid;

	raise_gateway();
	pid = host_descendant("agentbox-gatewa");
	REQUIRE(pid > 0, "no gateway");
	for (size_t i = 0; i < count; i++)
		CHECK(caps_of(pid, sets[i]) == 0, "%s: %llx", sets[i],
		      caps_of(pid, sets[i]));
	end_origin();
}

static const struct e2e_case cases[] = {
	CASE(case_152_all_live_tunnels_are_cut),
	CASE(case_157_two_threads_revoke_at_once),
	CASE(case_153_what_is_under_way_is_cut),
	CASE(case_155_a_kept_connection_ends_with_a_revocation),
	CASE(case_005_new_lists_hold_from_then_on),
	CASE(case_005_long_lists_are_new_lists_too),
	CASE(case_005_no_descriptors_are_no_way_to_stay_listed),
	CASE(case_005_a_policy_without_gateway_is_no_list),
	CASE(case_008_no_capability_is_left_in_any_set),
	CASE(case_101_what_is_refused_is_told),
	CASE(case_101_a_host_that_is_late_refuses_nobody),
	CASE(case_007_its_death_is_told_and_others_do_not_notice),
	CASE(case_007_a_host_that_has_forked_does_not_hear_of_it_for_ever),
	CASE(case_007_one_that_is_stopped_is_no_way_out),
	CASE(case_156_what_is_on_its_way_is_discarded),
	CASES_END
};

int main(int argc, char **argv)
{
	return e2e_main(argc, argv, cases);
}
