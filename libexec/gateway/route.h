/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The routes of a gateway while it runs: the table, the roots their upstreams
 * are verified with, the secrets they inject and the connections that are
 * kept. A request is served by ab_route_serve() of gw.h.
 * Spec: DESIGN.md section 9, agentbox-policy(5), gateway cases 64, 65, 73-87,
 * 114, 118-120.
 */
#ifndef GATEWAY_ROUTE_H
#define GATEWAY_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "gw.h"
#include "wire/route.h"

typedef struct ab_routes ab_routes;

/* Certificates in PEM that came with the plan. */
typedef struct ab_roots_text {
	const char *pem;
	size_t len;
} ab_roots_text;

/*
 * Before the process gives up files: reads the roots and everything else
 * that TLS wants to have. `roots` 0 is the system's list; there may be fewer
 * than routes. 0; -EINVAL, -EPROTO, -ENOMEM with `why`; *out is NULL then.
 */
int ab_routes_new(ab_gw *gw, const ab_wire_route *list, size_t count,
		  const ab_roots_text *roots, size_t roots_count,
		  ab_routes **out, char why[AB_WHY_SIZE]);
/* Wipes the secrets; NULL is ignored. */
void ab_routes_free(ab_routes *routes);

/*
 * The value of a secret, from a regular file or memfd of at most
 * AB_ROUTE_SECRET_MAX bytes (borrowed); one line end behind it is not part of
 * it. A route without its secret answers 503. Takes the place of an earlier
 * value; connections that are kept with that one are closed. fd -1: takes it
 * away. 0; -ENOENT: no route injects it; -EINVAL: not a value a header may
 * have; -EFBIG; -EACCES: not a regular file; -ENOMEM; else -errno. On failure
 * there is no value. Where there is none, what goes through these routes is
 * cut.
 */
#define AB_ROUTE_SECRET_MAX 8192
int ab_routes_set_secret(ab_routes *routes, const char *name, int fd);
/* As fd -1: how many went through these routes and were cut, or -ENOENT. */
int64_t ab_routes_forget(ab_routes *routes, const char *name);
/* The route of exactly this prefix ends: how many went through it and were
   cut, or -ENOENT. It goes on closing its host and its paths to others. */
int64_t ab_routes_remove(ab_routes *routes, const char *prefix);

#endif
