/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a server of TLS says first: whether it wants another ClientHello, which
 * may name another host than the first did, and after that whether it wants a
 * third, which no server may. Records hand their bytes to
 * messages, as in tls_hello.h: a message may be cut anywhere, and what may
 * come before it (warnings, a change of cipher, empty records, a HelloRequest)
 * is stepped over. Nothing is kept and nothing is changed.
 * Spec: RFC 8446 sections 4.1.3, 4.1.4 and 5.1, RFC 5246 section 7.4.1.1,
 * gateway case 52.
 */
#ifndef GATEWAY_TLS_RETRY_H
#define GATEWAY_TLS_RETRY_H

#include <stddef.h>
#include <stdint.h>

enum ab_retry {
	AB_RETRY_MORE = 0,
	AB_RETRY_YES,	/* a HelloRetryRequest, and what comes next is not
			   known yet */
	AB_RETRY_NO,	/* a ServerHello: the last hello holds */
	AB_RETRY_TWICE, /* another HelloRetryRequest */
	AB_RETRY_BAD	/* no server of TLS says that */
};

/* Zeroed: the beginning. */
typedef struct ab_retry_reader {
	uint8_t head_at; /* of a record's head */
	uint8_t type;	 /* of the record */
	uint8_t reason;	 /* enum ab_retry */
	uint8_t message; /* its type */
	uint8_t at;	 /* of a message, up to the end of its random */
	uint8_t asked;	 /* there was one */
	uint16_t record_left;
	uint32_t length; /* of the message */
	uint32_t skip;	 /* bytes of the first one that are left */
} ab_retry_reader;

/* What is known with these bytes: after MORE anything, after YES anything but
   MORE, and else for good. */
enum ab_retry ab_retry_read(ab_retry_reader *r, const void *p, size_t n);

#endif
