/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The routes of a gateway's plan, one and all of them: whatever the bytes are,
 * they are read or refused; what was read is what a compiled policy can say,
 * and is written as the same bytes again.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "wire/route.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int good)
{
	if (!good)
		abort();
}

/* What the gateway relies on without looking again. */
static void check(const ab_wire_route *r)
{
	require(r->prefix[0] == '/' && r->prefix[1] && r->host[0]);
	require(r->port >= 1 && r->port <= 65535 && r->kind <= AB_ROUTE_MCP);
	require((r->kind == AB_ROUTE_MCP) ==
		!strncmp(r->prefix, AB_ROUTE_MCP_TOP "/",
			 sizeof(AB_ROUTE_MCP_TOP)));
	require(!r->secret[0] == !r->header[0]);
	require(r->closed_count <= AB_ROUTE_PATHS_MAX &&
		r->open_count <= AB_ROUTE_PATHS_MAX);
	for (size_t i = 0; i < r->closed_count; i++)
		require(r->closed[i][0] == '/');
	for (size_t i = 0; i < r->open_count; i++)
		require(r->open[i][0] == '/');
}

static void same(const ab_writer *w, const uint8_t *p, size_t n)
{
	require(!w->bad && w->len == n && (!n || !memcmp(w->data, p, n)));
}

static void one(ab_writer *w, const uint8_t *p, size_t n)
{
	const char *paths[2 * AB_ROUTE_PATHS_MAX];
	ab_wire_route got;
	ab_reader r;

	ab_reader_init(&r, p, n);
	if (ab_wire_route_get(&r, paths, &got))
		return;
	check(&got);
	ab_wire_route_put(w, &got);
	same(w, p, r.pos);
}

static void all(ab_writer *w, const uint8_t *p, size_t n)
{
	ab_wire_routes got;
	ab_reader r;

	ab_reader_init(&r, p, n);
	if (ab_wire_routes_get(&r, &got))
		return;
	for (uint32_t i = 0; i < got.count; i++) {
		check(&got.items[i]);
		require(got.items[i].roots <= got.roots_count);
	}
	for (uint32_t i = 0; i < got.roots_count; i++)
		require(got.roots[i].len <= AB_ROUTE_PEM_MAX);
	ab_wire_routes_put(w, &got);
	same(w, p, r.pos);
	ab_wire_routes_end(&got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ab_writer w;

	if (size < 1)
		return 0;
	ab_writer_init(&w, 16u << 20);
	(data[0] & 1 ? one : all)(&w, data + 1, size - 1);
	ab_writer_end(&w);
	return 0;
}
