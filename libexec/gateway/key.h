/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The virtual key of a box: 256 random bits as 64 lower-case hex digits. The
 * host makes it and gives it to the box; the gateway has its SHA-256 alone
 * and compares in constant time. It is worth nothing anywhere else.
 * Spec: DESIGN.md section 9, gateway cases 88, 93-97, 118.
 */
#ifndef GATEWAY_KEY_H
#define GATEWAY_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http.h"

#define AB_KEY_LEN 64

/* Zeroed: nothing is the key. */
typedef struct ab_key {
	bool is_set;
	uint8_t hash[32]; /* SHA-256 of the text */
} ab_key;

/* Is it the key? The time depends on n > 0 alone. */
bool ab_key_is(const ab_key *key, const char *s, size_t n);

enum ab_key_where {
	/* Authorization (Bearer, Basic with the key as password, or "token"),
	   x-api-key, x-goog-api-key: what clients of routes are given a key
	   for. Never the query. */
	AB_KEY_ROUTE,
	/* Proxy-Authorization, Bearer or Basic */
	AB_KEY_PROXY
};

/*
 * Does the head bring the key? At most AB_KEY_TRIES fields are looked at; what
 * else it brings is stripped before anything goes upstream.
 */
#define AB_KEY_TRIES 4
bool ab_key_in_head(const ab_key *key, const ab_http_head *head,
		    const char *buf, enum ab_key_where where);

#endif
