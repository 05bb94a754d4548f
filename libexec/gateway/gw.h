/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The gateway of one box, and the seams at which its parts meet: who listens
 * and judges (conn.c), who dials (dial.c), who relays (relay.c), routes and
 * MCP, which take a request over. One process, one thread, one box, so one
 * identity: revoking it cuts everything that is live here.
 * Spec: DESIGN.md section 9.
 */
#ifndef GATEWAY_GW_H
#define GATEWAY_GW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http.h"
#include "loop.h"
#include "net/allow.h"
#include "net/target.h"

typedef struct ab_gw ab_gw;
struct ab_paced;

ab_loop *ab_gw_loop(ab_gw *gw);
/* Revoked: nothing begins any more, what waits for something ends. */
bool ab_gw_is_revoked(const ab_gw *gw);
/* Made by ab_routes_new() of route.h; NULL: there are none. */
struct ab_routes *ab_gw_routes(const ab_gw *gw);
/* Made by ab_mcps_new() of mcp.h; NULL: there are none. */
struct ab_mcps *ab_gw_mcps(const ab_gw *gw);

/* --- what is live ------------------------------------------------------- */

/*
 * Connections, tunnels, streams, sessions, leases: each is in one list from
 * its first byte to its end, and a revocation calls `cut` for all of them,
 * which closes with a reset, discards what is buffered and takes itself off.
 * cut() may not call back into others. Zeroed: not listed.
 */
typedef struct ab_live {
	struct ab_live *next, **back;
	void (*cut)(void *arg);
	void *arg;
	const void *of; /* the route it goes through; NULL: none */
} ab_live;

ab_live **ab_gw_live(ab_gw *gw);
void ab_live_add(ab_gw *gw, ab_live *live, void (*cut)(void *arg), void *arg);
void ab_live_remove(ab_live *live);
/* Cut what goes through one route, or with NULL everything; how many. */
uint64_t ab_live_cut(ab_gw *gw, const void *of);

/* --- records ------------------------------------------------------------ */

/* What the host is told of, and what it records. Stable: wire/gateway.h. */
enum ab_gw_kind {
	AB_GW_ALLOWED = 1, /* a connection or a request was let through */
	AB_GW_DENIED,
	AB_GW_CLOSED,	   /* one that was let through has ended */
	AB_GW_FAILED,	   /* was let through and could not be had */
	AB_GW_NOTICE,	   /* anything else; the reason says what */
	AB_GW_KIND_COUNT
};

/* All texts are borrowed; NULL is "". */
typedef struct ab_gw_record {
	uint32_t kind;	     /* enum ab_gw_kind */
	const char *how;     /* "connect", "http", "socks", "transparent",
				"dns", "route", "mcp", "broker" */
	const char *target;  /* "name:443", a tool, a secret's name */
	const char *reason;  /* stable code: "not_listed", "sni_mismatch" */
	const char *rule;    /* the entry that decided */
	const char *detail;  /* for people */
	uint64_t up, down;   /* bytes, of CLOSED */
	bool has_peer;	     /* who asked a socket of ours, as it connected */
	uint32_t peer_uid, peer_pid;
} ab_gw_record;

/*
 * To the host, never blocking: past a bound per second records are counted
 * and the count is told. `required`: this one has to be recorded before what
 * it is about happens; false: it could not be sent, so that may not happen.
 */
bool ab_gw_tell(ab_gw *gw, const ab_gw_record *r, bool required);

/* --- budgets ------------------------------------------------------------- */

/* Against the policy's; false: it is used up. What goes is counted here, and
   who reads it asks before, with the next two. */
bool ab_gw_count_bytes(ab_gw *gw, uint64_t names, uint64_t n);
/* Has any of them a rate of bytes? Then pieces are small. */
bool ab_gw_is_paced(const ab_gw *gw, uint64_t names);
/* As ab_pace_wait(), with what it may be that none is left of. */
bool ab_gw_wait(ab_gw *gw, uint64_t names, struct ab_paced *w,
		void (*then)(void *arg), void *arg);
bool ab_gw_count_request(ab_gw *gw, uint64_t names);
/* Is any of the names, whatever goes there, to be counted in tokens? The
   box's own budget is of model APIs alone. */
bool ab_gw_needs_tokens(const ab_gw *gw, uint64_t names);
#define AB_TOKENS_UNTOLD "tokens_untold"
#define AB_TOKENS_UNTOLD_WHY \
	"the policy bounds tokens, and what this takes is not told"
/* Has any of them a budget of tokens? And is there something left of all? */
bool ab_gw_counts_tokens(const ab_gw *gw, uint64_t names);
bool ab_gw_has_tokens(const ab_gw *gw, uint64_t names);
void ab_gw_count_tokens(ab_gw *gw, uint64_t names, uint64_t n);
/* Which entries of the policy's `network.names` this is of: bits. */
uint64_t ab_gw_names(const ab_gw *gw, const ab_target *target);

/* --- connecting upstream ------------------------------------------------ */

/* Stable codes of what is not a matter of the allowlist. */
enum ab_dial_reason {
	AB_DIAL_UNTRIED = 0,
	AB_DIAL_OK,
	AB_DIAL_NOT_ALLOWED, /* `allow` of the result says why */
	AB_DIAL_NO_NAME,     /* the name does not exist, or has no address */
	AB_DIAL_RESOLVER,    /* the look-up failed */
	AB_DIAL_REFUSED,
	AB_DIAL_UNREACHABLE,
	AB_DIAL_TIMEOUT,
	AB_DIAL_BUSY,	     /* too many at once */
	AB_DIAL_UNTOLD,	     /* a name's tokens are bounded: not this way */
	AB_DIAL_REVOKED,
	AB_DIAL_FAILED,	     /* out of memory, descriptors */
	AB_DIAL_REASON_COUNT
};

const char *ab_dial_reason_name(enum ab_dial_reason reason);

typedef struct ab_dial_result {
	int fd; /* connected, non-blocking, CLOEXEC; taken by whoever is told.
		   -1 with anything but OK */
	uint8_t reason;	 /* enum ab_dial_reason */
	uint8_t allow;	 /* enum ab_allow_reason */
	ab_address address; /* that was connected to */
} ab_dial_result;

/* Opaque; one attempt. */
typedef struct ab_dial ab_dial;

/* Who asks: a route goes to its own fixed upstream whatever the allowlist
   says of names, but its addresses are judged like all. */
#define AB_DIAL_ROUTE 1u
/* The host has allowed what the list does not name. */
#define AB_DIAL_GRANTED 2u

/*
 * Connect to a target: allowlist, then look-up, then every address judged,
 * then a connection to a judged address and no other; addresses are tried one
 * after the other, each for some 250 ms before the next begins too. `done`
 * is called once, always from the loop and never from here. NULL: out of
 * memory, and done is not called.
 */
ab_dial *ab_gw_dial(ab_gw *gw, const ab_target *target, unsigned flags,
		    void (*done)(void *arg, const ab_dial_result *result),
		    void *arg);
/* Before done was called: it will not be. */
void ab_dial_cancel(ab_dial *dial);
/* Of a connection that stands, before it serves another request: would this
   address be connected to as the lists are now? */
bool ab_gw_may_reach(const ab_gw *gw, const ab_target *target,
		     const ab_address *address);

/* --- a box's connection that speaks HTTP with us ------------------------ */

/*
 * What a connection holds while bytes are being read; an idle one has none.
 * `len` bytes from the box, beginning with the head; those behind head->len
 * are its body's or the next request's.
 */
typedef struct ab_client_in {
	ab_http_head head;
	size_t len;
	char bytes[AB_HTTP_HEAD_MAX];
} ab_client_in;

/* The head is empty, the bytes are whatever they are. NULL: out of memory. */
ab_client_in *ab_client_in_new(void);

typedef struct ab_client {
	ab_gw *gw;
	int fd; /* non-blocking */
	ab_watch watch;
	ab_timer timer;
	ab_later later;
	ab_live live;
	ab_client_in *in; /* owned */
	void *state;	  /* of who serves it */
	uint64_t up, down;
	bool with_key;	  /* the box's key came with it */
	uint8_t port_kind;
	uint64_t held; /* names of a rate of connections that it counts for */
} ab_client;

/*
 * Serve one request: routes, the MCP guard. `client` is the server's until it
 * calls one of the two below; its watch, timer and live.cut are the server's
 * to set meanwhile (ab_watch_hand(), ab_timer_set()). c->in holds the head,
 * which was read whole and is no proxy request (origin-form), and its Host
 * was found to be the gateway's own; the key was judged. false: this path is
 * none of mine, and nothing was done.
 */
typedef bool (*ab_client_server)(ab_gw *gw, ab_client *c);

bool ab_route_serve(ab_gw *gw, ab_client *c);
bool ab_mcp_serve(ab_gw *gw, ab_client *c);

/*
 * What it asks for leads to these names: one connection of theirs until it is
 * answered or gone. false: they have too many.
 */
bool ab_client_hold(ab_client *c, uint64_t names);
/* Earlier than that. */
void ab_client_let_go(ab_client *c);
/*
 * The exchange is over and the connection stays: the next request is read.
 * c->in may be NULL, or hold what came behind this request at bytes[0..len).
 */
void ab_client_next(ab_client *c);
/* The connection ends now; what was not written is lost. */
void ab_client_close(ab_client *c);
/*
 * A short answer of ours and the end of the connection: a status line with
 * our own text, `reason` as a stable code in the body and a header, nothing of
 * what the client sent. The request is not read further.
 */
void ab_client_refuse(ab_client *c, unsigned status, const char *reason,
		      const char *text);
/* The same with a reset: what is buffered is discarded. */
void ab_client_close_hard(ab_client *c);
/* "Not Found" for 404. */
const char *ab_client_status_text(unsigned status);
/* What was said is the last; what still comes is read, for a while. */
void ab_client_drain(ab_client *c);

#endif
