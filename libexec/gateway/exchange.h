/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One forwarded request while it is under way: exchange.c has its request and
 * its ends, exchange_answer.c what comes back. Spec: exchange.c.
 */
#ifndef GATEWAY_EXCHANGE_H
#define GATEWAY_EXCHANGE_H

#include "flow.h"
#include "kept.h"
#include "state.h"

typedef struct ab_exchange {
	ab_gw *gw;
	ab_client *c;
	ab_target bound, target;
	bool is_bound, has_target;
	bool in_request;  /* its head was read */
	bool in_response; /* the final head was sent */
	bool close;	  /* the client's connection ends after this */
	bool is_ended;
	bool is_granted; /* by the host, which was asked */
	bool may_share; /* its connection, with other requests */
	bool is_kept;	/* that has served another, and said nothing since */
	bool has_end;	/* the answer says where it ends, and ended there */
	ab_asked asked;
	bool waits; /* the rate of bytes is used up */
	ab_paced paced;
	ab_dial *dial;
	ab_upstream_line line;
	ab_address told; /* where it goes, of its record */
	ab_watch up; /* while it is connected */
	ab_later later;
	ab_http_exchange facts;
	ab_flow request, response;
	ab_client_in *answer; /* the response's head, while it is read */
	ab_out *to_up, *to_box;
	uint64_t sent, received, names; /* the target's: ab_gw_names() */
} ab_exchange;

/* --- exchange.c --- */

/* The client is somebody else's from now on. */
void ab_exchange_end(ab_exchange *x);
/* Both connections are reset. */
void ab_exchange_cut(void *arg);
/* The connection upstream, or what becomes one. */
void ab_exchange_drop(ab_exchange *x);
void ab_exchange_tell(ab_exchange *x, uint32_t kind, const char *reason,
		      const char *detail);
/* Recorded, and the client is told the same: false. */
bool ab_exchange_give_up(ab_exchange *x, uint32_t kind, unsigned status,
			 const char *reason, const char *why);
/* Bytes either way; false: none are left, and it was cut. */
bool ab_exchange_account(ab_exchange *x, uint64_t n);
void ab_exchange_dial(ab_exchange *x);

/* --- exchange_answer.c --- */

/*
 * The connection that was kept is gone: the same once more, on one of its own
 * (RFC 9112 section 9.3.1). Nothing of an answer has come, and the head is
 * there still.
 */
bool ab_exchange_ask_again(ab_exchange *x);
/* Heads, one after the other, until the final one. */
void ab_exchange_read_answer(ab_exchange *x);
void ab_exchange_read_body(ab_exchange *x);

#endif
