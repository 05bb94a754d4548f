/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which route a request takes and what of it may go upstream. Pure: bytes in,
 * verdict out; no heap when asked. The upstream's host is the table's and
 * never the request's, the path has one spelling (http_path.h), credentials
 * in the query are refused because nothing could take them out again.
 * Spec: DESIGN.md section 9, agentbox-policy(5), gateway cases 79, 83-85,
 * 97, 114, 115.
 */
#ifndef GATEWAY_ROUTE_TABLE_H
#define GATEWAY_ROUTE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http.h"
#include "http_path.h"
#include "net/target.h"
#include "wire/route.h"

/* The path and query that go upstream: base, rest, "?" and query. */
#define AB_ROUTE_PATH_SIZE (AB_HTTP_TARGET_MAX + 1024 + 8)

typedef struct ab_route {
	ab_wire_route spec; /* strings are the table's */
	ab_target target;
	void *memory; /* of the strings */
} ab_route;

/* Zeroed: no routes. Sorted by prefix. */
typedef struct ab_route_table {
	ab_route *items;
	size_t count;
} ab_route_table;

/* 0, -EINVAL (a host, a prefix twice; *at is which), -ENOMEM. */
int ab_route_table_init(ab_route_table *table, const ab_wire_route *list,
			size_t count, size_t *at);
void ab_route_table_end(ab_route_table *table);

/* Names are in audit records: stable. */
enum ab_route_reason {
	AB_ROUTE_UNJUDGED = 0,
	AB_ROUTE_OK,
	AB_ROUTE_NONE,	  /* 404: no route has this prefix */
	AB_ROUTE_FORM,	  /* 400: not origin-form */
	AB_ROUTE_PATH,	  /* 400: http_path.h says why */
	AB_ROUTE_LONG,	  /* 414 */
	AB_ROUTE_METHOD,  /* 405: not one the route's access has */
	AB_ROUTE_CLOSED,  /* 403: a path the preset closes */
	AB_ROUTE_QUERY,	  /* 400: a credential, or another method, in it */
	AB_ROUTE_NOT_GIT, /* 403: no part of git's smart HTTP */
	AB_ROUTE_PUSH,	  /* 403: a push where only fetch is allowed */
	AB_ROUTE_UPGRADE, /* 403: websocket where it is not allowed */
	AB_ROUTE_PROTOCOL, /* 400: a credential where websocket names its own */
	/* while it is served */
	AB_ROUTE_NO_KEY,     /* 401 */
	AB_ROUTE_REMOVED,    /* 403: the host has taken it away */
	AB_ROUTE_NO_SECRET,  /* 503: the host has not given it, or took it */
	AB_ROUTE_RATE,	     /* 429 */
	AB_ROUTE_CONNECTIONS, /* 429 */
	AB_ROUTE_TOKENS,     /* 429: they are used up */
	AB_ROUTE_UNCOUNTED,  /* 403: what it takes would not be told */
	AB_ROUTE_UPSTREAM,   /* 502: it cannot be had */
	AB_ROUTE_TLS,	     /* 502: it could not be verified */
	AB_ROUTE_ANSWER,     /* 502: no HTTP, or such as two would read in two
				ways */
	AB_ROUTE_CUT,	     /* 502: it ended too early */
	AB_ROUTE_SLOW,	     /* 504 */
	AB_ROUTE_BODY,	     /* 400: the framing of the request's body */
	AB_ROUTE_STALLED,    /* 408: the rest of the request did not come */
	AB_ROUTE_MEMORY,     /* 503 */
	AB_ROUTE_REASON_COUNT
};

const char *ab_route_reason_name(enum ab_route_reason reason);
/* GET or HEAD. */
bool ab_route_is_reading(const char *buf, ab_http_span method);
/* For the answer to the client: one line, nothing of the request in it. */
const char *ab_route_reason_text(enum ab_route_reason reason);
unsigned ab_route_reason_status(enum ab_route_reason reason);

typedef struct ab_route_verdict {
	uint8_t reason;	     /* enum ab_route_reason */
	uint8_t path_reason; /* enum ab_path_reason, for PATH */
	const ab_route *route; /* NULL: none */
	size_t len;
	size_t query; /* where "?" is in path; len: there is none */
	char path[AB_ROUTE_PATH_SIZE];
} ab_route_verdict;

/* A request whose head was read whole. Returns out->reason. */
enum ab_route_reason ab_route_judge(const ab_route_table *table,
				    const ab_http_head *head, const char *buf,
				    ab_route_verdict *out);

/*
 * Which fields of the box's go along: `only` these, NULL: all but the ones
 * that `drop` names (lists end with NULL) and credentials.
 */
void ab_route_fields(const ab_route *route, const char *const **only,
		     const char *const **drop);

#endif
