/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stub the box asks: reads one query, writes one answer. Nothing is
 * forwarded, so a name cannot carry anything out; the caller says which names
 * exist and with which synthetic addresses. RFC 1035, RFC 6891 (EDNS), RFC
 * 7766 (TCP), RFC 8482 (ANY), RFC 9460 (HTTPS and SVCB, which are never
 * answered: their hints and ECH keys would lead past the SNI).
 * Spec: DESIGN.md section 9, gateway cases 44, 48, 50, 58.
 */
#ifndef GATEWAY_DNS_H
#define GATEWAY_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/target.h"

#define AB_DNS_HEAD 12
#define AB_DNS_QUERY_MAX 1232 /* longer is no question about a name */
#define AB_DNS_UDP_MIN 512
#define AB_DNS_UDP_MAX 1232 /* DNS flag day 2020: never fragmented */
#define AB_DNS_ADDRESSES_MAX 32
#define AB_DNS_ANSWER_MAX 2048 /* holds every answer we write */

enum ab_dns_reason {
	AB_DNS_UNREAD = 0,
	AB_DNS_OK,
	/* no answer: there is nobody, or it could be a loop */
	AB_DNS_SHORT,	 /* less than a head */
	AB_DNS_RESPONSE, /* no query */
	/* answered with an error */
	AB_DNS_LONG,
	AB_DNS_OPCODE,	 /* not QUERY: NOTIMP */
	AB_DNS_COUNTS,	 /* not one question and nothing else: FORMERR */
	AB_DNS_NAME,	 /* malformed, or with a pointer: FORMERR */
	AB_DNS_TRAILING, /* bytes behind it all: FORMERR */
	AB_DNS_EDNS,	 /* malformed OPT: FORMERR */
	AB_DNS_EDNS_VERSION, /* BADVERS */
	AB_DNS_CLASS,	 /* not IN: REFUSED */
	AB_DNS_TYPE,	 /* a transfer, ANY, a meta type: REFUSED, NOTIMP */
	AB_DNS_NO_HOST,	 /* no host name, see net/target.h: NXDOMAIN */
	AB_DNS_REASON_COUNT
};

const char *ab_dns_reason_name(enum ab_dns_reason reason);

enum ab_dns_code {
	AB_DNS_NOERROR = 0,
	AB_DNS_FORMERR = 1,
	AB_DNS_SERVFAIL = 2,
	AB_DNS_NXDOMAIN = 3,
	AB_DNS_NOTIMP = 4,
	AB_DNS_REFUSED = 5,
	AB_DNS_BADVERS = 16
};

enum ab_dns_type {
	AB_DNS_A = 1,
	AB_DNS_AAAA = 28
};

/* Borrows nothing; the question stays in the caller's message. */
typedef struct ab_dns_query {
	uint8_t reason; /* enum ab_dns_reason */
	uint8_t target_reason; /* enum ab_target_reason, for NO_HOST */
	bool has_question; /* question_len bytes can be repeated */
	bool has_edns;
	bool dnssec_ok; /* DO, echoed (RFC 3225 section 3) */
	uint16_t id, flags;
	uint16_t type, class_;
	uint16_t udp_size; /* that the client takes: 512 to 1232 */
	uint16_t question_len; /* name, type and class, from AB_DNS_HEAD on */
	ab_target name;	   /* with OK; canonical, port 0 */
} ab_dns_query;

/* Read one message: OK, or why not. */
enum ab_dns_reason ab_dns_read(const void *message, size_t n,
			       ab_dns_query *out);

/*
 * Write the answer to the query in `message`, which was read into q: for OK
 * with `code` and, if that is NOERROR, those of the addresses that fit the
 * question's type (none: the name has no such address). For a query that was
 * refused: its error. The question is repeated byte for byte, its letters'
 * case with it (0x20). Over UDP more than the client takes is cut to nothing
 * with TC set. How many bytes; 0: no answer is sent.
 */
size_t ab_dns_answer(const ab_dns_query *q, const void *message,
		     enum ab_dns_code code, const ab_address *addresses,
		     size_t count, uint32_t ttl, bool tcp,
		     uint8_t out[AB_DNS_ANSWER_MAX]);

/* --- TCP: two bytes of length, then the message ------------------------ */

/* Zeroed: between messages. */
typedef struct ab_dns_frame {
	uint16_t len, have;
	uint8_t head, bad;
	uint8_t message[AB_DNS_QUERY_MAX];
} ab_dns_frame;

/*
 * Take bytes; *used of them. 1: frame->message holds frame->len bytes of a
 * query, call again for the next. 0: all were taken. -1: too long or too
 * short to be a query; the connection ends.
 */
int ab_dns_frame_read(ab_dns_frame *frame, const void *p, size_t n,
		      size_t *used);

#endif
