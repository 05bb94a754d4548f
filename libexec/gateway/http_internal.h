/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Character classes and the meaning of fields, for the http_*.c alone. */
#ifndef GATEWAY_HTTP_INTERNAL_H
#define GATEWAY_HTTP_INTERNAL_H

#include "http.h"

/* RFC 9110 section 5.6.2 */
bool ab_http_is_token(unsigned char c);
/* a byte of a field value: HTAB, SP, VCHAR, obs-text (section 5.5) */
bool ab_http_is_value(unsigned char c);
/* Is the span this word, ASCII case apart? */
bool ab_http_word(const char *buf, ab_http_span span, const char *lower);
/*
 * The next element of a comma-separated list from *at on; empty ones are
 * skipped (RFC 9110 section 5.6.1.2). false: the end.
 */
bool ab_http_list_next(const char *buf, ab_http_span list, size_t *at,
		       ab_http_span *item);

/* The whole head, once its lines are read. */
enum ab_http_reason ab_http_meaning(ab_http_head *head, const char *buf);
/* The target of a request line. */
enum ab_http_reason ab_http_target(ab_http_head *head, const char *buf);

#endif
