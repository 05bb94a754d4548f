/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of the gateway, for its own files; routes and MCP use gw.h. */
#ifndef GATEWAY_STATE_H
#define GATEWAY_STATE_H

#include <netinet/in.h>

#include "ask.h"
#include "broker.h"
#include "gw.h"
#include "key.h"
#include "lists.h"
#include "pace.h"
#include "mcp.h"
#include "route.h"
#include "wire/gateway.h"

/* Bounds; the policy's `rate.connections` lowers the first. */
#define AB_CLIENTS_MAX 10000
#define AB_DIALS_MAX 256
#define AB_DIAL_TRIES 4 /* of one at once, each a descriptor */
#define AB_PIPES_MAX 1024
#define AB_BROKER_CLIENTS 64 /* each two descriptors */
#define AB_HEAD_MS 10000     /* a head, a hello, a SOCKS conversation */
#define AB_IDLE_MS 65000     /* between requests */
#define AB_DIAL_MS 20000     /* look-up and connection */
#define AB_TUNNEL_IDLE_MS (2 * 3600 * 1000u)
#define AB_HTTP_PORT 80 /* where there has to be HTTP, or TLS */
#define AB_TLS_PORT 443
#define AB_NAMES_PER_MINUTE 200 /* new ones that are looked up or answered */
#define AB_RECORDS_PER_SECOND 500
#define AB_RECORD_WAIT_S 1 /* for room for one that has to be sent */
#define AB_SCRATCH_SIZE 65536
#define AB_SPARE_PIPES 16

enum ab_port_kind {
	AB_PORT_PROXY,
	AB_PORT_DNS_UDP,
	AB_PORT_DNS_TCP,
	AB_PORT_ANY /* on any address: the destination is the target */
};

typedef struct ab_listener {
	ab_gw *gw;
	int fd;
	uint8_t kind; /* enum ab_port_kind */
	ab_watch watch;
	ab_timer timer; /* it rests: out of descriptors */
} ab_listener;

/* A bucket of things per time: `level` of `size`, filled at a steady rate. */
typedef struct ab_bucket {
	uint64_t level, size; /* in units */
	uint64_t per_second;
	uint64_t filled_ns; /* when it was filled last */
} ab_bucket;

/* What the box, or an entry of `network.names`, has had and may have. */
typedef struct ab_quota {
	ab_host_set hosts;    /* one; of the box: none, it is all */
	ab_gateway_rates may; /* 0: no bound */
	ab_bucket requests_left;
	ab_pace pace;
	uint64_t requests, bytes, tokens, connections;
} ab_quota;

typedef struct ab_names ab_names;
typedef struct ab_resolver ab_resolver;
typedef struct ab_previews ab_previews;

struct ab_gw {
	ab_loop loop;
	ab_watch control, host;
	int host_pidfd;
	int reserve_fd; /* closed while a message is taken; < 0: none */

	ab_allow allow;
	ab_key key;
	bool has_ipv6, has_previews, is_audited, is_revoked;

	ab_live *live;
	size_t live_count;
	size_t clients, clients_max;
	size_t dials, dials_max;
	size_t pipes_open, pipes_max; /* pairs, spare ones too */
	ab_bucket records, new_names, failures;
	struct ab_kept *kept; /* idle connections upstream: kept.h */
	size_t kept_count;
	uint64_t lost;	       /* records since the last that was sent */
	bool is_behind;	       /* the host: a required one was not sent */
	ab_quota quota;	       /* the box's */
	ab_quota *quotas;      /* of names, at most 64 */
	uint32_t quota_count;

	ab_names *names;
	ab_resolver *resolver;
	struct ab_asked *asked; /* who waits for the host's answer */
	size_t ask_count;
	uint32_t ask_id;
	uint32_t ask_ms[2]; /* of targets, of calls; 0: it wants none */
	ab_routes *routes;
	ab_previews *previews; /* NULL: the policy has none */
	ab_mcps *mcps;
	ab_broker *broker; /* NULL: the policy has none */
	ab_routed routed; /* hosts of routes, whatever the lists become */

	ab_listener listeners[AB_GATEWAY_MAX_FDS];
	uint32_t listener_count;

	int pipes[AB_SPARE_PIPES][2]; /* empty ones, for bulk */
	uint32_t spare_pipes;

	/* what is read and goes on at once */
	char scratch[AB_SCRATCH_SIZE];
};

/* bucket.c: take one thing; false: there is none. */
void ab_bucket_init(ab_bucket *b, uint64_t size, uint64_t per_second,
		    uint64_t now);
bool ab_bucket_take(ab_bucket *b, uint64_t n, uint64_t now);

/* quota.c: 0, -ENOMEM, or -EPROTO: no name. */
int ab_quotas_init(ab_gw *gw, const ab_gateway_rates *box,
		   const ab_gateway_name *names, uint32_t count);
/* One more connection to what these name: have all of them room? */
bool ab_gw_has_room(const ab_gw *gw, uint64_t names);
void ab_gw_join(ab_gw *gw, uint64_t names);
void ab_gw_let_go(ab_gw *gw, uint64_t names);

/* control.c */
/* 0 or -errno. */
int ab_control_begin(ab_gw *gw);
void ab_gw_revoke(ab_gw *gw, uint64_t *count);

/* listen.c */
/*
 * accept4(2) for a watched listener; -errno. Out of descriptors or memory it
 * would be ready again at once: it is not watched for a while, until `wake`,
 * which watches it again.
 */
int ab_accept(ab_loop *loop, int listener, ab_watch *watch, ab_timer *rest,
	      void (*wake)(void *arg), void *arg);
/* The listeners in their order; 0 or -errno. */
int ab_listen_begin(ab_gw *gw, const int *fds, uint32_t count);

/* resolve.c: c-ares. Before confinement: reads the system's configuration. */
int ab_resolver_new(ab_gw *gw, const char *servers);
/*
 * Both families of a name. `done` is called once, from the loop or, for what
 * is cached or cannot be asked, from here. *query: to forget it; NULL when
 * done was called already.
 */
typedef struct ab_query ab_query;
typedef void (*ab_resolved)(void *arg, enum ab_dial_reason reason,
			    const ab_address *addresses, size_t count);
void ab_resolve(ab_gw *gw, const ab_target *name, ab_resolved done, void *arg,
		ab_query **query);
void ab_resolve_cancel(ab_query *query);

/* confine.c: all rights that are not needed, given up for good. */
int ab_confine(const char **stage);

/* stub.c */
int ab_stub_begin(ab_gw *gw);
void ab_stub_udp(ab_listener *l);
void ab_stub_accept(ab_gw *gw, int fd);
/* The name that the stub gave this address to; false: none of its. */
bool ab_stub_name(ab_gw *gw, const ab_address *address, ab_target *name);

/* ask.c */
/* Would the host be asked about this, which is not listed? */
bool ab_ask_may(const ab_gw *gw, const ab_target *t);
/*
 * Ask the host; `done` is called once, from the loop, unless it is forgotten.
 * false: it is not asked, and the refusal stands.
 */
bool ab_ask_begin(ab_gw *gw, ab_asked *a, const char *how, const ab_target *t,
		  void (*done)(void *arg, bool is_granted), void *arg);
/* From the host: 0, or -ENOENT: nobody waits for it any more. */
int ab_ask_answer(ab_gw *gw, uint32_t id, bool is_granted);
/* How long a question of the one kind or the other waits; 0: none is asked,
   and those that wait end. */
void ab_ask_set(ab_gw *gw, bool are_calls, uint32_t ms);
/* ab_allow_target(), where the host has allowed what the list does not name;
   whatever else refuses goes on refusing. */
enum ab_allow_reason ab_gw_judge_granted(const ab_gw *gw, const ab_target *t,
					 bool is_granted,
					 const ab_host **rule);

/* preview.c */
/* Sockets of the box's network, taken. 0 or -errno. */
int ab_preview_begin(ab_gw *gw, const int *fds, uint32_t count);
/* A listener of the host's (taken), or -1: it ends. 0 or -errno. */
int ab_preview_set(ab_gw *gw, uint16_t port, int fd);
void ab_preview_end_all(ab_gw *gw);
/* Is it one of those sockets? */
bool ab_preview_owns(const ab_gw *gw, int fd);
/* It is free for the next connection; what was on its way is discarded. */
void ab_preview_give(ab_gw *gw, int fd);

/* conn.c */
/* fd is taken. `to` is where it was sent, with the port. */
void ab_client_begin(ab_gw *gw, int fd, enum ab_port_kind kind,
		     const ab_target *to);
/* More bytes into c->in, which is made when it is not there. > 0, 0 at the
   end, -EAGAIN, -ENOBUFS: it is full, or -errno. */
int ab_client_fill(ab_client *c);
/* Bytes that are read already and belong there: the next head's. false: out of
   memory, or they are too many. */
bool ab_client_ahead(ab_client *c, const char *p, size_t n);
/* The first `n` bytes are not needed any more; what follows is a new head. */
void ab_client_took(ab_client_in *in, size_t n);
/* Frees memory at the end of the turn; the descriptor stays with the caller. */
int ab_client_release(ab_client *c);
/* A wrong key, whichever way it came (case 96): false, there were too many in
   a short time, and this one is cut without an answer. */
bool ab_client_may_fail(ab_client *c);

/* tunnel.c: CONNECT, SOCKS and what comes without a proxy */
void ab_connect_begin(ab_client *c);
void ab_socks_begin(ab_client *c);
void ab_direct_begin(ab_client *c, const ab_target *to);

/* exchange.c: HTTP requests that are forwarded. `bound`: all go there. */
void ab_exchange_begin(ab_client *c, const ab_target *bound);

/* relay.c */
enum ab_gate {
	AB_GATE_NONE,
	AB_GATE_SNIFF, /* a ClientHello has to be the target's, if it is one */
	AB_GATE_TLS,   /* there has to be one */
	/* of a tunnel alone */
	AB_GATE_ANSWER, /* it was passed on, and may be asked for again */
	AB_GATE_AGAIN	/* it was: there has to be another */
};
/*
 * Bytes both ways until both ends have ended. Takes both descriptors, and
 * copies `len` bytes that the client has sent already.
 */
void ab_tunnel_begin(ab_gw *gw, int fd, int up_fd, const ab_target *target,
		     const char *how, enum ab_gate gate, const char *bytes,
		     size_t len);

/* Close with a reset: what is buffered is discarded. */
void ab_close_hard(int fd);
/* Against the budgets; false: they are used up. */
/* A new name is asked for: budget of distinct names. */
bool ab_gw_count_name(ab_gw *gw);
/* Judge a target of the box and record a refusal. */
enum ab_allow_reason ab_gw_judge(ab_gw *gw, const char *how,
				 const ab_target *t, const ab_host **rule);
/* Let through: recorded, or it may not be. */
bool ab_gw_tell_allowed(ab_gw *gw, const char *how, const ab_target *t,
			const ab_host *rule, const ab_address *address);

#endif
