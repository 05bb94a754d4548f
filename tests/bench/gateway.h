/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the two parts of the gateway's benchmark share. */
#ifndef BENCH_GATEWAY_H
#define BENCH_GATEWAY_H

#include <agentbox/agentbox.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* A way from a client to the origin. */
typedef struct bench_way {
	const char *name;
	const char *kind; /* of the client: direct, proxy, box */
	int port;	  /* what the client connects to; box: unused */
	pid_t pid;	  /* of the process between; 0: none */
} bench_way;

/* --- gateway.c ------------------------------------------------------------ */

/* Of this run: its files, one of them, and the way through the box. */
extern char directory[4096];
extern bench_way *const gateway;
const char *in(const char *name);

/* Or the benchmark ends and says why. */
void must(int32_t rc, agentbox_error **err);
void need(bool good, const char *what);

/* A box of builtin:workspace with a gateway and these keys more. */
agentbox_gateway *raise_box_with(const char *keys, agentbox_audit *audit);
void end_box(void);
/* What the client of this way prints, as a file to read. */
FILE *run_client(const bench_way *way, const char *mode, int count);
/* Seconds of CPU time that a process has used, all its threads. */
double cpu_of(pid_t pid);

/* --- gateway_origin.c ----------------------------------------------------- */

/* Its port; the process is the caller's to end. */
int origin_begin(pid_t *pid);

#define CREDENTIAL "a-credential-of-the-bench"

/* --- gateway_route.c ------------------------------------------------------ */

/* Requests whose credential is put in on the way, over TLS. */
void bench_routes(int rounds, int count);

/* --- gateway_peers.c ------------------------------------------------------ */

#define MAX_PEERS 8

/* Its descriptors are 0 to 2 of the program; 0: it cannot be started. */
pid_t start_program(const char *const *argv, const int fds[3]);
/* Says whether something listens on the loopback port within the time. */
bool port_is_served(int port, int ms);
/* The peers that are installed and serve; the others have their row. */
int peers_begin(bench_way *ways, int origin);
/* Those that put a credential into requests to an origin with TLS, whose
   certificate is ca.pem of the directory. */
int route_peers_begin(bench_way *ways, int origin);
void peers_end(bench_way *ways, int count);

#endif
