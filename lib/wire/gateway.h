/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the host, agentbox-init and agentbox-gateway agree on: addresses of
 * the network between the box and its gateway, the order of the listeners,
 * the gateway's plan (sealed on fd 4) and its messages. Libc only; structures
 * point into the message. Spec: DESIGN.md sections 2 and 9.
 */
#ifndef AB_WIRE_GATEWAY_H
#define AB_WIRE_GATEWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/broker.h"
#include "wire/codec.h"
#include "wire/route.h"

/*
 * The two ends of the pair. RFC 6333 section 5.7 keeps 192.0.0.0/29 for a
 * link between two ends; nothing else uses it and the range table refuses it,
 * so it hides no address that a policy could name. The names the stub answers
 * get addresses of 198.18.0.0/15 (RFC 2544), for the same reason, and of a
 * /96 of a unique local prefix (RFC 4193) beside the link's own.
 */
#define AB_GATEWAY_IPV4 0xc0000001u	/* 192.0.0.1 */
#define AB_GATEWAY_BOX_IPV4 0xc0000002u /* 192.0.0.2 */
#define AB_GATEWAY_PREFIX4 30
#define AB_GATEWAY_IPV4_TEXT "192.0.0.1"
/* Where SDKs of AWS may ask without TLS; the gateway's port alone is served. */
#define AB_GATEWAY_AWS_TEXT "169.254.170.2"
/* fd61:6762:6f78::1 and ::2 */
#define AB_GATEWAY_IPV6_HEAD                                          \
	0xfd, 0x61, 0x67, 0x62, 0x6f, 0x78, 0, 0, 0, 0, 0, 0, 0, 0, 0
#define AB_GATEWAY_PREFIX6 64
#define AB_GATEWAY_NAMES4 0xc6120000u /* 198.18.0.0 */
#define AB_GATEWAY_PROXY_PORT 3128
#define AB_GATEWAY_DNS_PORT 53

/* Ports served on any address, beside the proxy's and DNS. */
#define AB_GATEWAY_MAX_PORTS 48
/* Proxy, DNS over UDP, DNS over TCP, and the ports in their order. */
#define AB_GATEWAY_FIXED_FDS 3
/*
 * For previews: unconnected sockets of the box's own network namespace, from
 * where its loopback is reached. They come behind the listeners.
 */
#define AB_GATEWAY_PREVIEW_IPV4 32
#define AB_GATEWAY_PREVIEW_IPV6 16
#define AB_GATEWAY_PREVIEW_FDS \
	(AB_GATEWAY_PREVIEW_IPV4 + AB_GATEWAY_PREVIEW_IPV6)
#define AB_GATEWAY_MAX_FDS                              \
	(AB_GATEWAY_FIXED_FDS + AB_GATEWAY_MAX_PORTS + \
	 AB_GATEWAY_PREVIEW_FDS)

/* The box's key: 256 random bits in hex. */
#define AB_GATEWAY_KEY_SIZE 65
#define AB_GATEWAY_HASH_SIZE 32

#define AB_GATEWAY_MAX_LIST 10000
#define AB_GATEWAY_MAX_RECORD 8192
/* Of the host's: a prefix of a route, the longest. */
#define AB_GATEWAY_MAX_REQUEST 2048
/* What is said of a call that has to be approved, and any other message. */
#define AB_GATEWAY_MAX_QUESTION 34816
/* Questions to the host that wait at once. */
#define AB_GATEWAY_ASKS 32

/* Of the box, or of a name; 0: the policy says nothing. */
typedef struct ab_gateway_rates {
	uint64_t connections;	       /* at once */
	uint64_t requests_per_minute;
	uint64_t bytes_per_second;
	uint64_t budget_requests, budget_bytes, budget_tokens;
} ab_gateway_rates;

#define AB_GATEWAY_MAX_NAMES 64

/* Of an entry of `network.names`. */
typedef struct ab_gateway_name {
	const char *name; /* a canonical host pattern */
	ab_gateway_rates rates;
} ab_gateway_name;

#define AB_GATEWAY_LISTS 4

/* Canonical host patterns, as the policy has them. */
typedef struct ab_gateway_lists {
	const char **items[AB_GATEWAY_LISTS]; /* allow, deny, private, tcp */
	uint32_t count[AB_GATEWAY_LISTS];
} ab_gateway_lists;

/* Bytes of the message. */
typedef struct ab_wire_text {
	const void *p;
	size_t len;
} ab_wire_text;

typedef struct ab_gateway_plan {
	const char *build_id; /* a helper of another build stops here */
	const char *box_id;
	const void *key_hash; /* AB_GATEWAY_HASH_SIZE, SHA-256 of the hex key */
	uint32_t flags;	      /* AB_GATEWAY_AUDITED, AB_GATEWAY_PREVIEWS */
	const char *resolver; /* "192.0.2.1:53,..."; "": of the system */
	ab_gateway_rates rates;
	ab_gateway_name names[AB_GATEWAY_MAX_NAMES];
	uint32_t name_count;
	ab_wire_routes routes;
	/* JSON: a policy of nothing but `tools`, and who the box is; empty: no
	   server of tools is reached here */
	ab_wire_text tools, identity;
	ab_wire_broker broker;
	ab_gateway_lists lists;
} ab_gateway_plan;

enum ab_gateway_message {
	/* host -> gateway */
	AB_MSG_GW_LISTEN = 160, /* u32 flags; fds: the listeners */
	AB_MSG_GW_LISTS = 161,	/* u32 serial; fd: sealed ab_gateway_lists */
	AB_MSG_GW_REVOKE = 162, /* u32 serial */
	AB_MSG_GW_SECRET = 163, /* u32 serial, str name; fd: its value, or none:
				   it is taken away */
	AB_MSG_GW_PREVIEW = 168, /* u32 serial, str port of the box; fd: a
				    listener of the host's, or none: it is
				    closed */
	/* before LISTEN, where there is a broker; fds: as BROKER of box.h */
	AB_MSG_GW_BROKER = 164,
	/* to NEED. u32 serial, i32 result; fd with 0: the value */
	AB_MSG_GW_VALUE = 165,
	/* u32 serial, str name: the box may not have it any more */
	AB_MSG_GW_FORGET = 166,
	/* u32 serial, str prefix: what goes there ends, for good */
	AB_MSG_GW_UNROUTE = 167,
	AB_MSG_GW_ASKING = 169, /* u32 serial, str ms, "0": nobody is asked */
	AB_MSG_GW_ANSWER = 170, /* u32 serial, str "ID 1", or "ID 0": no */
	AB_MSG_GW_APPROVING = 171, /* as ASKING, for calls */
	/* gateway -> host */
	AB_MSG_GW_READY = 176,	/* it judges from now on */
	AB_MSG_GW_FAILED = 177, /* str stage, i32 errno, str message */
	AB_MSG_GW_RECORD = 178, /* ab_gateway_record */
	AB_MSG_GW_REPLY = 179,	/* u32 serial, i32 result, u64 value, str */
	AB_MSG_GW_NEED = 180,	/* u32 serial, str name: its value is needed */
	AB_MSG_GW_ASK = 184,	/* u32 id, str how, str target: waits */
	/* u32 id, str how, str "SERVER:TOOL", str arguments: waits */
	AB_MSG_GW_APPROVE = 185
};

/* What is let through has to be told first, or it is not let through. */
#define AB_GATEWAY_AUDITED 1u
/* Sockets for previews come behind the listeners. */
#define AB_GATEWAY_PREVIEWS 2u
/* The box has IPv6 to us. */
#define AB_GATEWAY_HAS_IPV6 1u

typedef struct ab_gateway_record {
	uint32_t kind; /* 1 to AB_GATEWAY_KINDS: libexec/gateway/gw.h */
	const char *how, *target, *reason, *rule, *detail;
	uint64_t up, down;
	uint64_t lost; /* records that were not sent since the last one */
	/* of who asked a socket of ours, as it connected */
	bool has_peer;
	uint32_t peer_uid, peer_pid; /* the box's own number; 0: not known */
} ab_gateway_record;
#define AB_GATEWAY_KINDS 5

/* 0 or -errno. */
int ab_gateway_plan_put(ab_writer *w, const ab_gateway_plan *plan);
/*
 * -ESTALE: another build; -EPROTO, -ENOMEM. Arrays are allocated;
 * ab_gateway_lists_end(), ab_wire_routes_end() and ab_wire_broker_end() free
 * them.
 */
int ab_gateway_plan_get(ab_reader *r, const char *build_id,
			ab_gateway_plan *plan);
void ab_gateway_lists_put(ab_writer *w, const ab_gateway_lists *lists);
int ab_gateway_lists_get(ab_reader *r, ab_gateway_lists *lists);
void ab_gateway_lists_end(ab_gateway_lists *lists);

/* With kind and fd count; get: r is behind them. 0 or -EPROTO. */
void ab_gateway_record_put(ab_writer *w, const ab_gateway_record *m);
int ab_gateway_record_get(ab_reader *r, ab_gateway_record *m);

#endif
