/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What of routes outlives a request: roots, secrets, rates and the
 * connections that are kept. A connection is kept for the route it was made
 * for and no other, and not past a change of its secret.
 * Spec: route.h, route_internal.h.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/secret.h"
#include "route_internal.h"
#include "value.h"

/* --- connections that are kept -------------------------------------------- */

static void upstream_free(void *arg)
{
	free(arg);
}

ab_upstream *ab_upstream_new(ab_routes *routes, ab_route_state *state,
			     const ab_dial_result *to)
{
	ab_upstream *up = ab_new(ab_upstream);

	if (!up) {
		close(to->fd);
		return NULL;
	}
	up->routes = routes;
	up->state = state;
	up->generation = state->generation;
	up->address = to->address;
	up->tls = ab_tls_new(state->roots, &state->route->target, to->fd);
	if (!up->tls) {
		free(up);
		return NULL;
	}
	return up;
}

static void unlist(ab_upstream *up)
{
	if (!up->back)
		return;
	*up->back = up->next;
	if (up->next)
		up->next->back = up->back;
	up->back = NULL;
	up->next = NULL;
	up->state->idle_count--;
}

void ab_upstream_close(ab_upstream *up)
{
	ab_loop *loop;

	if (!up)
		return;
	loop = ab_gw_loop(up->routes->gw);
	unlist(up);
	ab_timer_clear(loop, &up->timer);
	ab_watch_remove(loop, &up->watch);
	ab_tls_free(up->tls);
	up->tls = NULL;
	ab_loop_later(loop, &up->later, upstream_free, up);
}

/* A word nobody asked for, or the end: either way it is of no use. */
static void idle_ready(void *arg, uint32_t events)
{
	(void)events;
	ab_upstream_close(arg);
}

static void idle_ends(void *arg)
{
	ab_upstream_close(arg);
}

void ab_upstream_keep(ab_upstream *up)
{
	ab_route_state *state = up->state;
	ab_loop *loop = ab_gw_loop(up->routes->gw);

	if (state->idle_count >= AB_ROUTE_IDLE_MAX ||
	    up->generation != state->generation ||
	    ab_gw_is_revoked(up->routes->gw) ||
	    ab_watch_set(loop, &up->watch, EPOLLIN | EPOLLRDHUP) < 0) {
		ab_upstream_close(up);
		return;
	}
	ab_watch_hand(&up->watch, idle_ready, up);
	ab_timer_set(loop, &up->timer, AB_ROUTE_IDLE_MS, idle_ends, up);
	up->is_used = true;
	up->next = state->idle;
	up->back = &state->idle;
	if (up->next)
		up->next->back = &up->next;
	state->idle = up;
	state->idle_count++;
}

/* An event may be on its way, or inside of TLS, of which none tells; and the
   lists may be new. */
static bool may_serve(const ab_upstream *up)
{
	return ab_tls_is_silent(up->tls) &&
	       ab_gw_may_reach(up->routes->gw, &up->state->route->target,
			       &up->address);
}

ab_upstream *ab_upstream_take(ab_route_state *state)
{
	ab_upstream *up;

	while ((up = state->idle) && !may_serve(up))
		ab_upstream_close(up);
	if (!up)
		return NULL;
	unlist(up);
	ab_timer_clear(ab_gw_loop(up->routes->gw), &up->timer);
	return up;
}

static void close_idle(ab_route_state *state)
{
	while (state->idle)
		ab_upstream_close(state->idle);
}

static void cut_idle(void *arg)
{
	ab_routes *routes = arg;

	ab_live_remove(&routes->live);
	for (size_t i = 0; i < routes->table.count; i++)
		close_idle(&routes->states[i]);
}

/* --- rates ---------------------------------------------------------------- */

bool ab_route_take(ab_route_state *state, uint64_t now)
{
	uint64_t per_minute = state->route->spec.requests_per_minute;
	uint64_t size = per_minute * 1000;
	uint64_t passed;

	if (per_minute == 0)
		return true;
	if (state->filled_ns == 0) {
		state->filled_ns = now;
		state->level = size;
	}
	passed = (now - state->filled_ns) / 1000000; /* ms */
	if (passed > 60000)
		passed = 60000;
	if (passed) {
		/* per_minute / 60000 a millisecond, in thousandths */
		state->level += passed * per_minute / 60;
		state->filled_ns = now;
	}
	if (state->level > size)
		state->level = size;
	if (state->level < 1000)
		return false;
	state->level -= 1000;
	return true;
}

/* --- secrets -------------------------------------------------------------- */

/* A value as it stands in a header: without the end of its line. */
static ssize_t read_secret(int fd, char *p, size_t size)
{
	ssize_t n = ab_value_read(fd, p, size);

	if (n > 0 && p[n - 1] == '\n')
		n--;
	if (n > 0 && p[n - 1] == '\r')
		n--;
	return n > AB_ROUTE_SECRET_MAX ? -EFBIG : n;
}

void ab_route_settle(ab_route_state *state)
{
	for (size_t i = 0; i < AB_ROUTE_EARLIER; i++)
		ab_injected_end(&state->earlier[i]);
}

/* Nothing of its secret is left: what there is of connections knows it. */
static void forget(ab_route_state *state)
{
	ab_injected_end(&state->injected);
	ab_route_settle(state);
	state->generation++;
	close_idle(state);
}

/* It is sent no more. What goes on with it goes on, and may tell it; of
   servers of tools it is not known when nothing does. */
static void replace(ab_route_state *state)
{
	ab_injected *list = state->earlier;

	if (!state->active && state->route->spec.kind != AB_ROUTE_MCP) {
		forget(state);
		return;
	}
	ab_injected_end(&list[AB_ROUTE_EARLIER - 1]);
	memmove(list + 1, list, (AB_ROUTE_EARLIER - 1) * sizeof(*list));
	list[0] = state->injected;
	state->injected = (ab_injected){ 0 };
	state->generation++;
	close_idle(state);
}

bool ab_route_mask(const ab_route_state *state, const ab_upstream *up, char *p,
		   size_t n)
{
	if (up && up->generation + AB_ROUTE_EARLIER < state->generation)
		return false;
	ab_injected_mask(&state->injected, p, n);
	for (size_t i = 0; i < AB_ROUTE_EARLIER; i++)
		ab_injected_mask(&state->earlier[i], p, n);
	return true;
}

static int inject_into(ab_routes *routes, ab_route_state *state, const char *p,
		       size_t n)
{
	const ab_wire_route *spec = &state->route->spec;
	int r = 0;

	if (p && !state->is_removed)
		replace(state);
	else
		forget(state);
	if (state->is_removed)
		return 0;
	if (p)
		r = ab_injected_init(&state->injected, spec->scheme,
				     spec->user, p, n);
	if (!p || r < 0) {
		forget(state);
		ab_live_cut(routes->gw, state);
	}
	return r;
}

static bool injects(const ab_route_state *state, const char *name)
{
	return name[0] && strcmp(state->route->spec.secret, name) == 0;
}

static int inject_all(ab_routes *routes, const char *name, const char *p,
		      size_t n)
{
	int r = -ENOENT;

	for (size_t i = 0; i < routes->table.count; i++) {
		ab_route_state *state = &routes->states[i];
		int made;

		if (!injects(state, name))
			continue;
		made = inject_into(routes, state, p, n);
		r = r == -ENOENT || r == 0 ? made : r;
	}
	return r;
}

int ab_routes_set_secret(ab_routes *routes, const char *name, int fd)
{
	char *p = NULL;
	ssize_t n = 0;
	int r;

	if (fd >= 0) {
		p = ab_secret_new(AB_ROUTE_SECRET_MAX + 4);
		n = p ? read_secret(fd, p, AB_ROUTE_SECRET_MAX + 3) : -ENOMEM;
	}
	r = inject_all(routes, name, n < 0 ? NULL : p, n < 0 ? 0 : (size_t)n);
	ab_secret_free(p);
	return r < 0 || n >= 0 ? r : (int)n;
}

int64_t ab_routes_forget(ab_routes *routes, const char *name)
{
	int64_t count = -ENOENT;

	for (size_t i = 0; i < routes->table.count; i++) {
		ab_route_state *state = &routes->states[i];

		if (!injects(state, name))
			continue;
		forget(state);
		count = (count > 0 ? count : 0) +
			(int64_t)ab_live_cut(routes->gw, state);
	}
	return count;
}

int64_t ab_routes_remove(ab_routes *routes, const char *prefix)
{
	for (size_t i = 0; i < routes->table.count; i++) {
		ab_route_state *state = &routes->states[i];

		if (strcmp(state->route->spec.prefix, prefix) != 0)
			continue;
		state->is_removed = true;
		forget(state);
		return (int64_t)ab_live_cut(routes->gw, state);
	}
	return -ENOENT;
}

/* --- all of it ------------------------------------------------------------ */

static int make_roots(ab_routes *routes, const ab_roots_text *text,
		      size_t count, char why[AB_WHY_SIZE])
{
	routes->roots = ab_calloc(count + 1, sizeof(*routes->roots));
	if (!routes->roots)
		return -ENOMEM;
	routes->roots_count = count + 1;
	for (size_t i = 0; i < count; i++) {
		char inner[AB_WHY_SIZE];
		int r = ab_tls_roots_new(text[i].pem, text[i].len,
					 &routes->roots[i + 1], inner);

		if (r == 0)
			continue;
		snprintf(why, AB_WHY_SIZE, "list %zu of certificates %.150s",
			 i + 1, inner);
		return r;
	}
	return 0;
}

static int make_state(ab_routes *routes, size_t i, char why[AB_WHY_SIZE])
{
	ab_route_state *state = &routes->states[i];
	uint32_t n;
	int r = 0;

	state->route = &routes->table.items[i];
	state->names = ab_gw_names(routes->gw, &state->route->target);
	ab_pace_init(&state->pace, ab_gw_loop(routes->gw),
		     state->route->spec.bytes_per_second);
	n = state->route->spec.roots;
	if (n >= routes->roots_count) {
		snprintf(why, AB_WHY_SIZE, "route \"%.80s\" has roots that "
			 "did not come", state->route->spec.prefix);
		return -EPROTO;
	}
	if (n == 0 && !routes->roots[0])
		r = ab_tls_roots_system(&routes->roots[0], why);
	state->roots = routes->roots[n];
	return r;
}

static int make(ab_routes *routes, const ab_wire_route *list, size_t count,
		const ab_roots_text *roots, size_t roots_count,
		char why[AB_WHY_SIZE])
{
	size_t at;
	int r = ab_route_table_init(&routes->table, list, count, &at);

	if (r == -EINVAL && at < count)
		snprintf(why, AB_WHY_SIZE, "route \"%.80s\" cannot be used",
			 list[at].prefix);
	if (r == 0)
		r = ab_tls_start();
	if (r == 0)
		r = make_roots(routes, roots, roots_count, why);
	if (r < 0)
		return r;
	routes->states = ab_calloc(count + 1, sizeof(*routes->states));
	routes->scratch = ab_secret_new(AB_ROUTE_SCRATCH);
	if (!routes->states || !routes->scratch)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = make_state(routes, i, why);
	return r;
}

int ab_routes_new(ab_gw *gw, const ab_wire_route *list, size_t count,
		  const ab_roots_text *roots, size_t roots_count,
		  ab_routes **out, char why[AB_WHY_SIZE])
{
	ab_routes *routes = ab_new(ab_routes);
	int r = routes ? 0 : -ENOMEM;

	*out = NULL;
	snprintf(why, AB_WHY_SIZE, "out of memory");
	if (routes) {
		routes->gw = gw;
		r = make(routes, list, count, roots, roots_count, why);
	}
	if (r < 0) {
		ab_routes_free(routes);
		return r;
	}
	ab_live_add(gw, &routes->live, cut_idle, routes);
	*out = routes;
	return 0;
}

void ab_routes_free(ab_routes *routes)
{
	if (!routes)
		return;
	for (size_t i = 0; routes->states && i < routes->table.count; i++) {
		close_idle(&routes->states[i]);
		ab_timer_clear(ab_gw_loop(routes->gw),
			       &routes->states[i].pace.timer);
		ab_injected_end(&routes->states[i].injected);
		ab_route_settle(&routes->states[i]);
	}
	if (routes->live.cut)
		ab_live_remove(&routes->live);
	for (size_t i = 0; routes->roots && i < routes->roots_count; i++)
		ab_tls_roots_free(routes->roots[i]);
	free(routes->roots);
	free(routes->states);
	ab_secret_free(routes->scratch);
	ab_route_table_end(&routes->table);
	free(routes);
}

ab_route_state *ab_route_state_of(ab_routes *routes, const ab_route *route)
{
	return &routes->states[route - routes->table.items];
}
