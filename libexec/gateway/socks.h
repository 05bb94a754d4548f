/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SOCKS5 as a server reads it: RFC 1928 with user name and password (RFC
 * 1929), CONNECT only. Takes bytes as they come and stops at the end of each
 * of the client's three messages, so that what is pipelined behind the last
 * is the tunnel's, byte for byte. Gateway cases 13, 22, 30, 88-92.
 */
#ifndef GATEWAY_SOCKS_H
#define GATEWAY_SOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/target.h"

#define AB_SOCKS_REPLY_SIZE 10 /* the longest of our answers */

enum ab_socks_reason {
	AB_SOCKS_MORE = 0,
	AB_SOCKS_METHODS, /* answer with ab_socks_reply(), go on */
	AB_SOCKS_AUTH,	  /* judge user and password, ab_socks_auth() */
	AB_SOCKS_REQUEST, /* the target is there */
	/* refused */
	AB_SOCKS_VERSION,    /* SOCKS4, or no SOCKS */
	AB_SOCKS_NO_METHODS, /* none offered */
	AB_SOCKS_METHOD,     /* none that is enabled */
	AB_SOCKS_AUTH_FORM,  /* RFC 1929 malformed, empty user or password */
	AB_SOCKS_DENIED,     /* ab_socks_auth(false) */
	AB_SOCKS_FORM,	     /* the request is malformed */
	AB_SOCKS_COMMAND,    /* BIND, UDP ASSOCIATE and others */
	AB_SOCKS_TYPE,	     /* of the address */
	AB_SOCKS_NAME,	     /* net/target.h says why */
	AB_SOCKS_PORT,	     /* 0 */
	AB_SOCKS_REASON_COUNT
};

const char *ab_socks_reason_name(enum ab_socks_reason reason);

/* Answers of RFC 1928 section 6. */
enum ab_socks_code {
	AB_SOCKS_OK = 0,
	AB_SOCKS_FAILURE = 1,
	AB_SOCKS_NOT_ALLOWED = 2,
	AB_SOCKS_NET_UNREACHABLE = 3,
	AB_SOCKS_HOST_UNREACHABLE = 4,
	AB_SOCKS_REFUSED = 5,
	AB_SOCKS_TTL = 6,
	AB_SOCKS_NO_COMMAND = 7,
	AB_SOCKS_NO_TYPE = 8
};

/* Zeroed: the beginning; without `open` the password is asked for. */
typedef struct ab_socks {
	bool open; /* "no authentication" will do (case 88) */
	uint8_t state, reason;
	uint8_t left;	   /* bytes of a field still to come */
	uint8_t method_found;
	uint8_t user_len, password_len;
	uint8_t type;
	uint8_t host_len;
	uint8_t target_reason; /* enum ab_target_reason, for NAME */
	uint16_t port;
	char user[255], password[255];
	char host[255];
	ab_target target; /* with AB_SOCKS_REQUEST */
} ab_socks;

/*
 * Take bytes; *used of them. MORE: all were taken. METHODS, AUTH and REQUEST
 * end a message of the client's. Else: refused, for good.
 */
enum ab_socks_reason ab_socks_read(ab_socks *s, const void *p, size_t n,
				   size_t *used);

/* The caller's verdict after AUTH; wipes the password. */
enum ab_socks_reason ab_socks_auth(ab_socks *s, bool good);

/*
 * Our answer to what was read last; how many bytes, 0: none. After REQUEST it
 * is `code`'s with the unspecified address, which clients ignore.
 */
size_t ab_socks_reply(const ab_socks *s, enum ab_socks_code code,
		      uint8_t out[AB_SOCKS_REPLY_SIZE]);

#endif
