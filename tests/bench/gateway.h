/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the two parts of the gateway's benchmark share. */
#ifndef BENCH_GATEWAY_H
#define BENCH_GATEWAY_H

#include <stdbool.h>
#include <sys/types.h>

/* A way from a client to the origin. */
typedef struct bench_way {
	const char *name;
	const char *kind; /* of the client: direct, proxy, box */
	int port;	  /* what the client connects to; box: unused */
	pid_t pid;	  /* of the process between; 0: none */
} bench_way;

/* --- gateway_peers.c ------------------------------------------------------ */

#define MAX_PEERS 8

/* Says whether something listens on the loopback port within the time. */
bool port_is_served(int port, int ms);
/* The peers that are installed and serve; the others have their row. */
int peers_begin(bench_way *ways, const char *directory, int origin);
void peers_end(bench_way *ways, int count);

#endif
