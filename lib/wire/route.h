/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A route as agentbox-gateway is told of it: everything a preset or a default
 * says is written out. Values of secrets are never in it. Structures point
 * into the message. Spec: DESIGN.md section 9, agentbox-policy(5). Libc only.
 */
#ifndef AB_WIRE_ROUTE_H
#define AB_WIRE_ROUTE_H

#include <stddef.h>
#include <stdint.h>

#include "wire/codec.h"

#define AB_ROUTES_MAX 256
#define AB_ROUTE_PATHS_MAX 64 /* closed, and open */

enum ab_route_kind {
	AB_ROUTE_GIT = 0, /* one repository, smart HTTP, nothing else */
	AB_ROUTE_HTTP = 1,
	AB_ROUTE_MCP = 2 /* a server of tools: served by the MCP guard alone */
};

/* Below it are the servers of `tools` that have a URL, by their names. */
#define AB_ROUTE_MCP_TOP "/mcp"

#define AB_ROUTE_WRITE 0x01u	 /* more than GET and HEAD, or than fetch */
#define AB_ROUTE_WEBSOCKET 0x02u /* an upgrade is passed on */
#define AB_ROUTE_MODEL 0x04u	 /* a model's API: its answers tell tokens */

typedef struct ab_wire_route {
	const char *prefix; /* "/anthropic" */
	const char *host;   /* canonical: a name or an address */
	uint32_t port;
	const char *base;   /* path of the upstream without "/" at its end */
	uint32_t kind;	    /* enum ab_route_kind */
	uint32_t flags;
	/* the list of roots it is verified with: 0 the system's, else n-1 of
	   those that came with the plan */
	uint32_t roots;
	const char *secret; /* "": none is injected */
	const char *header; /* lower case; "" without a secret */
	const char *scheme; /* "": the secret alone */
	const char *user;   /* of Basic; "": the secret has it */
	uint32_t requests_per_minute; /* 0: no bound; so below */
	uint32_t connections;
	uint64_t bytes_per_second;
	const char *const *closed; /* paths; the longer of a closed and */
	size_t closed_count;	   /* an open one decides */
	const char *const *open;
	size_t open_count;
} ab_wire_route;

/* Certificates in PEM, as they were read. */
typedef struct ab_wire_pem {
	const void *pem;
	size_t len;
} ab_wire_pem;

#define AB_ROUTE_ROOTS_MAX 8
#define AB_ROUTE_PEM_MAX (1u << 20)

/* All routes of a plan, and the roots they name. */
typedef struct ab_wire_routes {
	ab_wire_route *items;
	uint32_t count;
	const char **paths; /* of all of them */
	ab_wire_pem roots[AB_ROUTE_ROOTS_MAX];
	uint32_t roots_count;
} ab_wire_routes;

void ab_wire_routes_put(ab_writer *w, const ab_wire_routes *routes);
/* 0, -EPROTO, -ENOMEM; the bytes stay the message's. */
int ab_wire_routes_get(ab_reader *r, ab_wire_routes *out);
void ab_wire_routes_end(ab_wire_routes *routes);

void ab_wire_route_put(ab_writer *w, const ab_wire_route *route);
/*
 * `paths` has room for 2 * AB_ROUTE_PATHS_MAX and holds the two lists until
 * the next call. 0, or -EPROTO for anything a compiled policy cannot say.
 */
int ab_wire_route_get(ab_reader *r, const char **paths, ab_wire_route *out);

#endif
