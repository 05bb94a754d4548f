/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bodies of an exchange, taken out of their framing and framed anew. */
#include "config.h"

#include "flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "http_write.h"

bool ab_out_room(ab_out **o)
{
	if (*o)
		return true;
	*o = ab_realloc(NULL, 1, sizeof(**o));
	if (!*o)
		return false;
	(*o)->len = (*o)->at = 0;
	return true;
}

/* false: the other end is gone. */
bool ab_out_flush(ab_out **o, int fd)
{
	ssize_t n;

	if (!*o)
		return true;
	while ((*o)->at < (*o)->len) {
		n = send(fd, (*o)->bytes + (*o)->at, (*o)->len - (*o)->at,
			 MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n < 0)
			return false;
		(*o)->at += (size_t)n;
	}
	free(*o);
	*o = NULL;
	return true;
}

/* `o` is empty and takes what becomes of a piece. */
static bool put(ab_out *o, const char *p, size_t n)
{
	if (n > sizeof(o->bytes) - o->len)
		return false;
	memcpy(o->bytes + o->len, p, n);
	o->len += n;
	return true;
}

static bool put_chunk(ab_out *o, const char *p, size_t n, bool plain)
{
	char size[32];
	ab_http_out head = { .p = size, .size = sizeof(size) };

	if (plain)
		return put(o, p, n);
	ab_http_write_chunk(&head, n);
	return !head.full && put(o, size, head.len) && put(o, p, n) &&
	       put(o, "\r\n", 2);
}

/*
 * A piece of a body: *used of its bytes belong to it. NULL, or why it is
 * refused.
 */
static const char *pass_chunked(ab_flow *f, ab_out *o, const char *p, size_t n,
				size_t *used)
{
	*used = 0;
	while (*used < n) {
		size_t took, data;
		enum ab_chunk_reason r = ab_chunk_read(
			&f->chunk, p + *used, n - *used, &took, &data);

		if (r == AB_CHUNK_DATA &&
		    !put_chunk(o, p + *used + took - data, data, f->plain))
			return "too_long";
		*used += took;
		if (r == AB_CHUNK_DONE) {
			f->done = true;
			return f->plain || put(o, "0\r\n\r\n", 5)
				       ? NULL : "too_long";
		}
		if (r != AB_CHUNK_DATA && r != AB_CHUNK_MORE)
			return ab_chunk_reason_name(r);
	}
	return NULL;
}

const char *ab_flow_pass(ab_flow *f, ab_out *o, const char *p, size_t n,
			 size_t *used)
{
	if (f->body == AB_HTTP_BODY_CHUNKED)
		return pass_chunked(f, o, p, n, used);
	*used = n;
	if (f->body == AB_HTTP_BODY_LENGTH && f->left < n)
		*used = (size_t)f->left;
	if (f->body == AB_HTTP_BODY_NONE)
		*used = 0;
	if (!put(o, p, *used))
		return "too_long";
	f->left -= f->body == AB_HTTP_BODY_LENGTH ? *used : 0;
	f->done = f->body == AB_HTTP_BODY_NONE ||
		  (f->body == AB_HTTP_BODY_LENGTH && f->left == 0);
	return NULL;
}

void ab_flow_begin(ab_flow *f, const ab_http_head *head, bool plain)
{
	*f = (ab_flow){ .body = head->body, .plain = plain,
			.left = head->length };
	f->done = head->body == AB_HTTP_BODY_NONE ||
		  (head->body == AB_HTTP_BODY_LENGTH && !head->length);
}
