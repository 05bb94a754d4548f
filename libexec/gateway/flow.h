/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A body on its way through an exchange: out of its framing, into ours, and
 * what of it waits to be written. Nothing of it decides anything.
 */
#ifndef GATEWAY_FLOW_H
#define GATEWAY_FLOW_H

#include "http.h"
#include "http_chunk.h"

#define AB_FLOW_PIECE 16384
/* the sizes and ends of all chunks that a piece can hold, and a head */
#define AB_OUT_SIZE (2 * AB_HTTP_HEAD_MAX)

typedef struct ab_out {
	size_t len, at;
	char bytes[AB_OUT_SIZE];
} ab_out;

/* A body on its way. */
typedef struct ab_flow {
	uint8_t body; /* enum ab_http_body */
	bool plain;   /* a chunked one goes on without its chunks */
	bool done;
	uint64_t left;
	ab_chunk chunk;
} ab_flow;

/* *o is made when there is none; false: out of memory. */
bool ab_out_room(ab_out **o);
/* Write what can be written; freed when that was all. false: the other end is
   gone. */
bool ab_out_flush(ab_out **o, int fd);

/* What follows this head. `plain`: a chunked one goes on without its chunks. */
void ab_flow_begin(ab_flow *f, const ab_http_head *head, bool plain);
/*
 * A piece of a body, into `o`, which is empty: *used of its bytes belong to
 * it. NULL, or why it is refused.
 */
const char *ab_flow_pass(ab_flow *f, ab_out *o, const char *p, size_t n,
			 size_t *used);

#endif
