/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chunked bodies: RFC 9112 section 7.1, read piece by piece, handed on as
 * data alone; sizes, extensions and trailers end here and are written anew
 * (extensions and trailers not at all). Gateway case 70.
 */
#ifndef GATEWAY_HTTP_CHUNK_H
#define GATEWAY_HTTP_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#define AB_CHUNK_EXTENSION_MAX 1024 /* of one chunk */
#define AB_CHUNK_EXTENSIONS_MAX 16384 /* of all of a body */
#define AB_CHUNK_TRAILER_MAX 8192
#define AB_CHUNK_TRAILERS_MAX 32
#define AB_CHUNK_NAME_SIZE 32 /* longest name that is refused, and more */

enum ab_chunk_reason {
	AB_CHUNK_MORE = 0, /* all is taken; there will be more */
	AB_CHUNK_DATA,	   /* data_len bytes of the body */
	AB_CHUNK_DONE,	   /* the body and its trailers are read */
	AB_CHUNK_SIZE,	   /* not 1 to 16 hexadecimal digits below 2^63 */
	AB_CHUNK_LINE_END, /* bare LF or CR, or none behind the data */
	AB_CHUNK_CONTROL,
	AB_CHUNK_EXTENSION, /* not begun with ";", or too long */
	AB_CHUNK_TRAILER,   /* malformed, or too much of it */
	AB_CHUNK_TRAILER_NAME, /* a field that frames, routes or authorises */
	AB_CHUNK_REASON_COUNT
};

const char *ab_chunk_reason_name(enum ab_chunk_reason reason);

/* Zeroed: the beginning of a body. */
typedef struct ab_chunk {
	uint8_t state;
	uint8_t reason;	   /* enum ab_chunk_reason, once refused or done */
	uint8_t digits;
	uint8_t name_len;
	uint16_t extension; /* bytes of this chunk's */
	uint16_t extensions;
	uint16_t trailer;
	uint16_t trailers;
	uint64_t left; /* of the chunk */
	uint64_t total; /* bytes of data so far */
	char name[AB_CHUNK_NAME_SIZE];
} ab_chunk;

/*
 * Take bytes of p. DATA: the data_len bytes at p + *used - *data_len are the
 * body's; call again with the rest. MORE: *used is n. DONE: *used bytes
 * belonged to the body, what follows does not. Else: refused, for good.
 */
enum ab_chunk_reason ab_chunk_read(ab_chunk *c, const char *p, size_t n,
				   size_t *used, size_t *data_len);

#endif
