/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Server-sent events, split as WHATWG HTML section 9.2.6 says: line ends CR,
 * LF or CRLF, several data lines joined by LF, comments and unknown fields
 * dropped, an event without data none. What passes the MCP guard is one event
 * at a time, parsed and written anew. Gateway case 136.
 */
#ifndef GATEWAY_SSE_H
#define GATEWAY_SSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AB_SSE_TYPE_SIZE 64
#define AB_SSE_ID_SIZE 256

enum ab_sse_reason {
	AB_SSE_MORE = 0,
	AB_SSE_EVENT, /* type, id and data are there until the next call */
	AB_SSE_LONG,  /* data over the room for it, or a line's field name */
	AB_SSE_TYPE,  /* over 63 bytes, or a control character in it */
	AB_SSE_ID     /* over 255 bytes, NUL or a control character */
};

typedef struct ab_sse {
	char *data; /* the caller's room; borrowed */
	size_t size, len;
	uint8_t state, reason, after_cr, has_data, emitted;
	uint8_t bom;	   /* bytes of a byte order mark seen */
	uint8_t field;	   /* enum in sse.c */
	uint8_t name_len;  /* of the field's name so far */
	uint8_t type_len;
	uint8_t new_id_len;
	uint8_t id_len;
	uint8_t has_id;	   /* the event being read has one */
	char name[8];
	char type[AB_SSE_TYPE_SIZE];
	char new_id[AB_SSE_ID_SIZE];
	char id[AB_SSE_ID_SIZE]; /* the last one, that of the event */
} ab_sse;

/* At the beginning of a stream; data of an event into `room`. */
void ab_sse_init(ab_sse *sse, char *room, size_t size);

/*
 * Take bytes; *used of them. EVENT: data[0..len), type (empty: "message") and
 * id, both NUL-terminated. MORE: all were taken. Else: refused, for good.
 */
enum ab_sse_reason ab_sse_read(ab_sse *sse, const char *p, size_t n,
			       size_t *used);

#endif
