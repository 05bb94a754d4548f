/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A route as bytes, and back with every claim checked. Spec: route.h. */
#include "config.h"

#include "wire/route.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static void put_list(ab_writer *w, const char *const *items, size_t count)
{
	ab_put_u32(w, (uint32_t)count);
	for (size_t i = 0; i < count; i++)
		ab_put_str(w, items[i]);
}

void ab_wire_route_put(ab_writer *w, const ab_wire_route *route)
{
	ab_put_str(w, route->prefix);
	ab_put_str(w, route->host);
	ab_put_u32(w, route->port);
	ab_put_str(w, route->base);
	ab_put_u32(w, route->kind);
	ab_put_u32(w, route->flags);
	ab_put_u32(w, route->roots);
	ab_put_str(w, route->secret);
	ab_put_str(w, route->header);
	ab_put_str(w, route->scheme);
	ab_put_str(w, route->user);
	ab_put_u32(w, route->requests_per_minute);
	ab_put_u32(w, route->connections);
	ab_put_u64(w, route->bytes_per_second);
	put_list(w, route->closed, route->closed_count);
	put_list(w, route->open, route->open_count);
}

/* "/a/b": no "/" at the end; "" only where it may be. */
static bool is_path(const char *s, bool may_be_empty)
{
	size_t n = strlen(s);

	return n == 0 ? may_be_empty :
			n <= 1024 && n > 1 && s[0] == '/' && s[n - 1] != '/';
}

static size_t get_list(ab_reader *r, const char **items)
{
	uint32_t count = ab_get_count(r, AB_ROUTE_PATHS_MAX);

	for (uint32_t i = 0; i < count; i++) {
		items[i] = ab_get_str(r);
		r->bad = r->bad || !is_path(items[i], false);
	}
	return count;
}

/* That of a server of tools may end as it likes. */
static bool is_base(const ab_wire_route *route)
{
	const char *s = route->base;

	return is_path(s, true) || (route->kind == AB_ROUTE_MCP &&
				    s[0] == '/' && s[1] &&
				    strlen(s) <= 1024);
}

/* A server of tools is below its own top, and nothing else is. */
static bool is_place(const ab_wire_route *route)
{
	static const char top[] = AB_ROUTE_MCP_TOP "/";

	return (route->kind == AB_ROUTE_MCP) ==
	       (strncmp(route->prefix, top, sizeof(top) - 1) == 0);
}

static bool is_sane(const ab_wire_route *route)
{
	bool injects = route->secret[0];

	return is_place(route) && is_path(route->prefix, false) &&
	       is_base(route) &&
	       route->host[0] && strlen(route->host) <= 253 &&
	       route->port >= 1 && route->port <= 65535 &&
	       route->kind <= AB_ROUTE_MCP && route->roots <= AB_ROUTES_MAX &&
	       !(route->flags & ~(AB_ROUTE_WRITE | AB_ROUTE_WEBSOCKET |
				  AB_ROUTE_MODEL)) &&
	       strlen(route->secret) <= 64 && strlen(route->header) <= 64 &&
	       strlen(route->scheme) <= 64 && strlen(route->user) <= 128 &&
	       injects == (route->header[0] != '\0') &&
	       (injects || (!route->scheme[0] && !route->user[0]));
}

int ab_wire_route_get(ab_reader *r, const char **paths, ab_wire_route *out)
{
	ab_wire_route route = { .prefix = ab_get_str(r) };

	route.host = ab_get_str(r);
	route.port = ab_get_u32(r);
	route.base = ab_get_str(r);
	route.kind = ab_get_u32(r);
	route.flags = ab_get_u32(r);
	route.roots = ab_get_u32(r);
	route.secret = ab_get_str(r);
	route.header = ab_get_str(r);
	route.scheme = ab_get_str(r);
	route.user = ab_get_str(r);
	route.requests_per_minute = ab_get_u32(r);
	route.connections = ab_get_u32(r);
	route.bytes_per_second = ab_get_u64(r);
	route.closed = paths;
	route.closed_count = get_list(r, paths);
	route.open = paths + AB_ROUTE_PATHS_MAX;
	route.open_count = get_list(r, paths + AB_ROUTE_PATHS_MAX);
	if (r->bad || !is_sane(&route))
		return -EPROTO;
	*out = route;
	return 0;
}

void ab_wire_routes_put(ab_writer *w, const ab_wire_routes *routes)
{
	ab_put_u32(w, routes->count);
	for (uint32_t i = 0; i < routes->count; i++)
		ab_wire_route_put(w, &routes->items[i]);
	ab_put_u32(w, routes->roots_count);
	for (uint32_t i = 0; i < routes->roots_count; i++)
		ab_put_bytes(w, routes->roots[i].pem, routes->roots[i].len);
}

static int get_routes(ab_reader *r, ab_wire_routes *routes)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < routes->count; i++)
		rc = ab_wire_route_get(
			r, routes->paths + i * 2 * AB_ROUTE_PATHS_MAX,
			&routes->items[i]);
	routes->roots_count = ab_get_count(r, AB_ROUTE_ROOTS_MAX);
	for (uint32_t i = 0; i < routes->roots_count; i++) {
		ab_wire_pem *root = &routes->roots[i];

		root->pem = ab_get_bytes(r, &root->len);
		if (root->len > AB_ROUTE_PEM_MAX)
			rc = -EPROTO;
	}
	for (uint32_t i = 0; rc == 0 && i < routes->count; i++)
		if (routes->items[i].roots > routes->roots_count)
			rc = -EPROTO;
	return r->bad ? -EPROTO : rc;
}

int ab_wire_routes_get(ab_reader *r, ab_wire_routes *out)
{
	ab_wire_routes routes = { .count = ab_get_count(r, AB_ROUTES_MAX) };
	int rc = -ENOMEM;

	routes.items = ab_calloc((size_t)routes.count + 1,
				 sizeof(*routes.items));
	routes.paths = ab_calloc((size_t)routes.count + 1,
				 2 * AB_ROUTE_PATHS_MAX * sizeof(char *));
	if (routes.items && routes.paths)
		rc = get_routes(r, &routes);
	if (rc)
		ab_wire_routes_end(&routes);
	else
		*out = routes;
	return rc;
}

void ab_wire_routes_end(ab_wire_routes *routes)
{
	free(routes->items);
	free((void *)routes->paths);
	memset(routes, 0, sizeof(*routes));
}
