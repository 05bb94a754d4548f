/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests of plain HTTP that go on over verified TLS with a credential put
 * in: a route of a box, and proxies that are told to do the same. The origin
 * is Python's: slow, and the same for all, so what counts is the CPU time of
 * the process between. It answers only to the credential.
 */
#include "gateway.h"

#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 10000

static const char program[] =
	"import socket, ssl, sys, threading\n"
	"context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\n"
	"context.load_cert_chain(sys.argv[1] + '/ca.pem', "
	"sys.argv[1] + '/ca.key')\n"
	"s = socket.create_server(('127.0.0.1', 0))\n"
	"print(s.getsockname()[1], flush=True)\n"
	"def one(c):\n"
	"    try:\n"
	"        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)\n"
	"        c = context.wrap_socket(c, server_side=True)\n"
	"        while True:\n"
	"            data = b''\n"
	"            while b'\\r\\n\\r\\n' not in data:\n"
	"                more = c.recv(65536)\n"
	"                if not more: return\n"
	"                data += more\n"
	"            good = b'" CREDENTIAL "' in data\n"
	"            c.sendall(b'HTTP/1.1 %d x\\r\\nContent-Length: 2\\r\\n'\n"
	"                      b'\\r\\n%s' % (200 if good else 403,\n"
	"                                     b'ok' if good else b'no'))\n"
	"    except OSError: pass\n"
	"while True:\n"
	"    threading.Thread(target=one, args=(s.accept()[0],), "
	"daemon=True).start()\n";

static bool make_certificate(void)
{
	char pem[4200], key[4200];
	const char *const argv[] = {
		"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
		"ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
		"/CN=bench", "-addext",
		"subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key,
		"-out", pem, NULL
	};
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	bool good;

	snprintf(pem, sizeof(pem), "%s/ca.pem", directory);
	snprintf(key, sizeof(key), "%s/ca.key", directory);
	good = run_program(argv, (const int[]){ fd, fd, fd }) == 0;
	close(fd);
	return good;
}

/* Its port, or 0. */
static int begin_origin(pid_t *pid)
{
	const char *const argv[] = { "python3", "-c", program, directory,
				     NULL };
	struct pollfd said;
	char line[16] = "";
	int out[2];
	FILE *f;

	need(pipe2(out, O_CLOEXEC) == 0, "pipe");
	*pid = start_program(argv, (const int[]){ 0, out[1], 2 });
	close(out[1]);
	f = fdopen(out[0], "r");
	said = (struct pollfd){ .fd = out[0], .events = POLLIN };
	if (f && *pid && poll(&said, 1, WAIT_MS) == 1)
		(void)!fgets(line, sizeof(line), f);
	if (f)
		fclose(f);
	return atoi(line);
}

static void raise_route(int origin)
{
	agentbox_error *err = NULL;
	agentbox_gateway *gw;
	char keys[8192];
	FILE *f;

	snprintf(keys, sizeof(keys),
		 "\"secrets\":[{\"name\":\"key\",\"hosts\":"
		 "[\"127.0.0.1:%d\"]}],\"routes\":[{\"prefix\":\"/r\","
		 "\"upstream\":\"https://127.0.0.1:%d\","
		 "\"ca\":\"%s/ca.pem\",\"inject\":{\"secret\":\"key\","
		 "\"header\":\"x-api-key\"}}]", origin, origin, directory);
	gw = raise_box_with(keys, NULL);
	f = tmpfile();
	need(f && fputs(CREDENTIAL, f) >= 0 && fflush(f) == 0, "tmpfile");
	must(agentbox_gateway_set_secret(gw, "key", fileno(f), &err), &err);
	fclose(f);
}

struct requests {
	struct series all;
	double cpu;
	size_t count;
};

static void round_of(struct requests *r, const bench_way *way, int count)
{
	double ns, cpu = cpu_of(way->pid);
	FILE *f = run_client(way, "route", count);

	while (fscanf(f, "%lf", &ns) == 1) {
		series_add(&r->all, ns / 1e3);
		r->count++;
	}
	fclose(f);
	r->cpu += cpu_of(way->pid) - cpu;
}

static void compare(const bench_way *ways, int way_count, int rounds,
		    int count)
{
	struct requests all[1 + MAX_PEERS] = { 0 };

	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < way_count; i++)
			round_of(&all[i], &ways[i], count);
	table_head("a request whose credential is put in, over TLS");
	for (int i = 0; i < way_count; i++)
		table_row(ways[i].name, &all[i].all, &all[0].all, 0);
	for (int i = 0; i < way_count; i++) {
		char what[64];

		snprintf(what, sizeof(what), "CPU time, %.40s", ways[i].name);
		table_value(what, all[i].cpu / (double)all[i].count * 1e6,
			    "us", 0);
		series_free(&all[i].all);
	}
}

void bench_routes(int rounds, int count)
{
	bench_way ways[1 + MAX_PEERS];
	pid_t origin = 0;
	int n = 1, port = 0;

	if (peer_installed("openssl") && peer_installed("python3") &&
	    make_certificate())
		port = begin_origin(&origin);
	if (port) {
		raise_route(port);
		ways[0] = *gateway;
		n += route_peers_begin(ways + 1, port);
		compare(ways, n, rounds, count);
		peers_end(ways + 1, n - 1);
		end_box();
	} else {
		table_skip("routes", "no openssl or no python3 here");
	}
	if (origin) {
		kill(origin, SIGKILL);
		waitpid(origin, NULL, 0);
	}
}
