/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of the routes: routes.c keeps what outlives a request,
 * route_serve.c begins and ends one, route_flow.c moves its bytes.
 */
#ifndef GATEWAY_ROUTE_INTERNAL_H
#define GATEWAY_ROUTE_INTERNAL_H

#include "http_chunk.h"
#include "http_write.h"
#include "inject.h"
#include "pace.h"
#include "route.h"
#include "route_table.h"
#include "tls_client.h"
#include "usage.h"

#define AB_ROUTE_IDLE_MAX 4	   /* connections kept for a route */
#define AB_ROUTE_IDLE_MS 30000	   /* how long */
#define AB_ROUTE_TLS_MS 10000	   /* a handshake */
#define AB_ROUTE_STALL_MS 60000	   /* the box sends or takes nothing */
#define AB_ROUTE_ANSWER_MS 600000  /* the upstream says nothing */
#define AB_ROUTE_SOCKET_MS 3600000 /* a websocket is silent */
#define AB_ROUTE_PIECE 16384	   /* of a body: a TLS record holds no more */
#define AB_ROUTE_FRAME 64	   /* around a piece */
#define AB_ROUTE_EARLIER 2	   /* values that are masked after the last */
#define AB_ROUTE_SCRATCH 65536	   /* a head with its injected field */

typedef struct ab_route_state ab_route_state;

/* A TLS connection of a route, in use or kept. */
typedef struct ab_upstream {
	ab_routes *routes;
	ab_route_state *state;
	ab_tls *tls;
	ab_address address; /* that was judged */
	ab_watch watch;
	ab_timer timer; /* while it is kept */
	ab_later later;
	uint64_t generation; /* of the secret that it has seen */
	bool is_used;	     /* it has served a request */
	struct ab_upstream *next, **back; /* while it is kept */
} ab_upstream;

struct ab_route_state {
	const ab_route *route;
	uint64_t names; /* of its host: ab_gw_names() */
	const ab_tls_roots *roots;
	ab_injected injected;
	/* what was sent with these may be answered yet, newest first */
	ab_injected earlier[AB_ROUTE_EARLIER];
	uint64_t generation; /* of the secret */
	bool is_removed;     /* by the host */
	ab_upstream *idle;
	size_t idle_count;
	size_t active;
	ab_pace pace;
	/* requests_per_minute: thousandths of a request */
	uint64_t level, filled_ns;
};

struct ab_routes {
	ab_gw *gw;
	ab_route_table table;
	ab_route_state *states; /* by the table's order */
	ab_tls_roots **roots;
	size_t roots_count;
	ab_live live; /* what is kept */
	char *scratch; /* guarded: heads with the real credential */
	ab_route_verdict verdict;
};

typedef struct ab_route_buffer {
	size_t at, len; /* bytes [at, len) wait */
} ab_route_buffer;

/* A connection that is made: dialled, then verified. Zeroed: none is. */
typedef void (*ab_opened)(void *arg, ab_upstream *up,
			  enum ab_route_reason reason, const char *code,
			  const char *text);
typedef struct ab_opening {
	ab_routes *routes;
	ab_route_state *state;
	ab_dial *dial;
	ab_upstream *up;
	ab_timer timer;
	ab_opened done;
	void *arg;
} ab_opening;

enum ab_route_phase {
	AB_ROUTE_OPENING_UP,
	AB_ROUTE_FLOWING,
	AB_ROUTE_OVER
};

typedef struct ab_route_exchange {
	ab_client *c;
	ab_routes *routes;
	ab_route_state *state;
	ab_opening opening;
	ab_upstream *up;
	ab_timer timer;
	ab_paced paced;
	ab_later later;
	uint8_t phase; /* enum ab_route_phase */
	uint8_t stall; /* enum ab_route_reason: what the timer means */
	bool has_retried;

	/* the request: c->in holds its head until that is sent */
	ab_route_verdict verdict;
	ab_http_exchange exchange;
	uint32_t flags; /* of the request's head */
	bool is_old;	/* HTTP/1.0 */
	bool is_reading; /* GET, HEAD: may be asked twice */
	bool head_is_sent, request_is_done, must_continue;
	bool has_body;	/* more than none */
	bool is_early;	/* answered before all of it was sent */
	bool is_socket; /* after 101: bytes both ways */
	size_t head_sent;
	uint8_t body; /* enum ab_http_body */
	uint64_t body_left;
	ab_chunk chunk;
	size_t in_at; /* of c->in->bytes */
	ab_route_buffer up_wait;
	char up_bytes[AB_ROUTE_PIECE + AB_ROUTE_FRAME];

	/* the answer */
	bool answer_has_head, answer_is_done, has_begun, until_close;
	bool has_heard; /* a byte of it has come */
	uint8_t answer_body;
	uint64_t answer_left;
	ab_chunk answer_chunk;
	ab_http_head answer;
	ab_route_buffer answer_wait; /* read and not yet looked at */
	char answer_bytes[AB_HTTP_HEAD_MAX];
	ab_route_buffer down_wait;
	char down_bytes[AB_HTTP_HEAD_MAX + 1024];

	/* what the two sides have to be for the next step */
	bool up_wants_write, up_wants_read, down_wants_write;
	bool client_wants_read;
	uint64_t up_total, down_total, counted;

	/* tokens */
	bool counts;   /* there is a budget of them */
	bool is_free;  /* it takes none where it tells none */
	bool is_lost;  /* the upstream ended without a word */
	ab_usage usage;
} ab_route_exchange;

/* --- routes.c ------------------------------------------------------------ */

ab_route_state *ab_route_state_of(ab_routes *routes, const ab_route *route);
/* Take one of this minute's requests. */
bool ab_route_take(ab_route_state *state, uint64_t now);
/* The secret, and those that answers may still hold, out of what a box reads;
   false: `up` was sent one that is not known any more. */
bool ab_route_mask(const ab_route_state *state, const ab_upstream *up, char *p,
		   size_t n);
/* No exchange goes on: nothing is masked but the secret. */
void ab_route_settle(ab_route_state *state);
/* to->fd is taken. NULL: out of memory. Not watched yet. */
ab_upstream *ab_upstream_new(ab_routes *routes, ab_route_state *state,
			     const ab_dial_result *to);
/* One that is kept and may serve another request; NULL: none. */
ab_upstream *ab_upstream_take(ab_route_state *state);
/* Keeps it, or closes it. */
void ab_upstream_keep(ab_upstream *up);
void ab_upstream_close(ab_upstream *up);

/* --- route_open.c -------------------------------------------------------- */

/*
 * A new connection to the route's upstream, verified. `done` is called once,
 * from the loop: with the connection, which is its own from then on and whose
 * watch it takes over, or NULL and why; code and text may be NULL and do not
 * outlive the call. false: out of memory, and it is not called.
 */
bool ab_opening_begin(ab_opening *o, ab_routes *routes, ab_route_state *state,
		      ab_opened done, void *arg);
/* Before done was called: it will not be. None: nothing. */
void ab_opening_cancel(ab_opening *o);

/* --- route_serve.c ------------------------------------------------------- */

/* The exchange ends without an answer, or with ours when none has begun.
   `code` and `text` say more than the reason where they are not NULL. */
void ab_route_fail(ab_route_exchange *x, enum ab_route_reason reason,
		   const char *code, const char *text);
/* The box has gone. */
void ab_route_gone(ab_route_exchange *x);
/* The answer is out. */
void ab_route_finish(ab_route_exchange *x);
/* A kept connection that was closed meanwhile: once more with a new one, or
   the end. false: that is not what it was, and nothing was done. */
bool ab_route_retry(ab_route_exchange *x);

/* --- route_flow.c -------------------------------------------------------- */

/* Everything that can go on now does; watches and timers are set. */
void ab_route_pump(ab_route_exchange *x);

#endif
