/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Heads written anew from what was read. Host, framing and the state of the
 * connection are ours, fields of one hop are dropped by a fixed list (what a
 * client nominates in Connection is not: it could name an injected field,
 * case 75), the rest is copied field by field in one spelling of space and
 * line ends. Spec: DESIGN.md section 9, gateway cases 23, 75-80, 84.
 */
#ifndef GATEWAY_HTTP_WRITE_H
#define GATEWAY_HTTP_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http.h"

/* A bounded text; `full` once something did not fit, and then for good. */
typedef struct ab_http_out {
	char *p;
	size_t size, len;
	bool full;
} ab_http_out;

void ab_http_put(ab_http_out *out, const char *s, size_t n);
void ab_http_puts(ab_http_out *out, const char *s);
void ab_http_put_number(ab_http_out *out, uint64_t v);

/* A field of ours: name in lower case; the value is borrowed. */
typedef struct ab_http_extra {
	const char *name;
	const char *value;
	size_t len;
} ab_http_extra;

typedef struct ab_http_rewrite {
	/* NULL: the host that was asked for */
	const ab_target *host;
	uint16_t default_port; /* left out of Host: 80, or 443 over TLS */
	/* path and query in place of those read; NULL: those */
	const char *path;
	size_t path_len;
	/* drop the client's credentials and its word about who it is */
	bool strip_credentials;
	/* lists of names in lower case that end with NULL; NULL is none: of
	   what is left, drop these; keep no others than those. A "*" at one
	   end of a name is whatever stands there */
	const char *const *drop;
	const char *const *only;
	/* pass a websocket upgrade on; else it is stripped */
	bool upgrade;
	/* close after this exchange */
	bool close;
	/* the client speaks HTTP/1.0: a chunked response is sent as it comes
	   and ends with the connection (RFC 9112 section 6.1) */
	bool no_chunks;
	/* in place of every field of these names that was read */
	const ab_http_extra *extras;
	size_t extra_count;
} ab_http_rewrite;

/* Is it a value a field may have? Secrets and policy texts are asked before
   they are ever used (case 78): no CR, LF, NUL or other control, no space at
   an edge, not empty. */
bool ab_http_value_is_safe(const char *s, size_t n);

/*
 * Writes the head of the request or response, with the empty line. false: it
 * did not fit, or an extra is not safe; nothing of it may be sent then.
 */
bool ab_http_write_request(ab_http_out *out, const ab_http_head *head,
			   const char *buf, const ab_http_rewrite *rewrite);
bool ab_http_write_response(ab_http_out *out, const ab_http_head *head,
			    const char *buf, const ab_http_rewrite *rewrite);

/* "1f4\r\n" in front of n bytes of a body; n > 0. */
void ab_http_write_chunk(ab_http_out *out, size_t n);

#endif
