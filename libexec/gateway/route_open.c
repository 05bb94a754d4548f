/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A connection to the upstream of a route: dialled, its certificate verified,
 * and only then given to who asked. Spec: route_internal.h, gateway case 64.
 */
#include "config.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "route_internal.h"

static void fail(ab_opening *o, enum ab_route_reason reason, const char *code,
		 const char *text)
{
	ab_upstream *up = o->up;

	o->up = NULL;
	ab_opening_cancel(o);
	/* the text can be that of the connection, which goes afterwards */
	o->done(o->arg, NULL, reason, code, text);
	ab_upstream_close(up);
}

static void slow(void *arg)
{
	fail(arg, AB_ROUTE_SLOW, NULL, NULL);
}

static void handshake(ab_opening *o)
{
	ab_loop *loop = ab_gw_loop(o->routes->gw);
	ab_tls *tls = o->up->tls;
	enum ab_tls_step step = ab_tls_handshake(tls);
	ab_upstream *up = o->up;

	switch (step) {
	case AB_TLS_DONE:
		o->up = NULL;
		ab_opening_cancel(o);
		o->done(o->arg, up, AB_ROUTE_OK, NULL, NULL);
		return;
	case AB_TLS_READ:
	case AB_TLS_WRITE:
		if (ab_watch_set(loop, &o->up->watch, step == AB_TLS_READ ?
				 EPOLLIN : EPOLLOUT) < 0)
			fail(o, AB_ROUTE_MEMORY, NULL, NULL);
		return;
	case AB_TLS_END:
	case AB_TLS_FAILED:
		fail(o, AB_ROUTE_TLS, ab_tls_code(tls), ab_tls_why(tls));
		return;
	}
}

static void upstream_ready(void *arg, uint32_t events)
{
	(void)events;
	handshake(arg);
}

static const char *dial_code(const ab_dial_result *result)
{
	return result->reason == AB_DIAL_NOT_ALLOWED ?
		       ab_allow_reason_name(result->allow) :
		       ab_dial_reason_name(result->reason);
}

static void dialled(void *arg, const ab_dial_result *result)
{
	ab_opening *o = arg;
	ab_loop *loop = ab_gw_loop(o->routes->gw);

	o->dial = NULL;
	if (result->reason != AB_DIAL_OK) {
		fail(o, result->reason == AB_DIAL_TIMEOUT ? AB_ROUTE_SLOW
							  : AB_ROUTE_UPSTREAM,
		     dial_code(result), NULL);
		return;
	}
	o->up = ab_upstream_new(o->routes, o->state, result);
	if (!o->up || ab_watch_take(loop, &o->up->watch, result->fd, EPOLLOUT,
				    upstream_ready, o) < 0) {
		fail(o, AB_ROUTE_MEMORY, NULL, NULL);
		return;
	}
	ab_timer_set(loop, &o->timer, AB_ROUTE_TLS_MS, slow, o);
	handshake(o);
}

bool ab_opening_begin(ab_opening *o, ab_routes *routes, ab_route_state *state,
		      ab_opened done, void *arg)
{
	*o = (ab_opening){ .routes = routes, .state = state, .done = done,
			   .arg = arg };
	o->dial = ab_gw_dial(routes->gw, &state->route->target, AB_DIAL_ROUTE,
			     dialled, o);
	return o->dial != NULL;
}

void ab_opening_cancel(ab_opening *o)
{
	if (!o->routes)
		return;
	ab_timer_clear(ab_gw_loop(o->routes->gw), &o->timer);
	if (o->dial)
		ab_dial_cancel(o->dial);
	ab_upstream_close(o->up);
	o->dial = NULL;
	o->up = NULL;
}
