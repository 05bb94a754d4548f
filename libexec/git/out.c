/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pack and its index, version 2 each. No deltas: what is read is read fast,
 * and the same objects always make the same order. Spec: gitformat-pack(5).
 */
#include "config.h"

#include "out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"

#define LEVEL 1 /* of deflate: speed */

static void put_be32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

int out_begin(pack_out *o, int spool)
{
	*o = (pack_out){ .spool = spool, .at = PACK_HEAD_SIZE, .room = 1024 };
	o->buffer = ab_calloc(OUT_BUFFER, 1);
	o->slots = ab_calloc(o->room, sizeof(*o->slots));
	if (!o->buffer || !o->slots || deflateInit(&o->z, LEVEL) != Z_OK) {
		out_end(o);
		return -ENOMEM;
	}
	o->is_ready = true;
	return 0;
}

void out_end(pack_out *o)
{
	if (o->is_ready)
		(void)deflateEnd(&o->z);
	free(o->buffer);
	free(o->deflated);
	free(o->slots);
	*o = (pack_out){ .spool = -1 };
}

/* --- which are there ----------------------------------------------------- */

static out_slot *slot_of(out_slot *slots, size_t room, const uint8_t *oid)
{
	uint64_t h;

	memcpy(&h, oid + 8, sizeof(h));
	for (size_t i = (size_t)h & (room - 1);; i = (i + 1) & (room - 1)) {
		if (!slots[i].at || memcmp(slots[i].oid, oid, OID_SIZE) == 0)
			return &slots[i];
	}
}

bool out_has(const pack_out *o, const uint8_t oid[OID_SIZE])
{
	return slot_of(o->slots, o->room, oid)->at != 0;
}

static int make_room(pack_out *o)
{
	out_slot *more;

	if (o->count < o->room / 2)
		return 0;
	more = ab_calloc(o->room * 2, sizeof(*more));
	if (!more)
		return -ENOMEM;
	for (size_t i = 0; i < o->room; i++) {
		if (o->slots[i].at)
			*slot_of(more, o->room * 2, o->slots[i].oid) =
				o->slots[i];
	}
	free(o->slots);
	o->slots = more;
	o->room *= 2;
	return 0;
}

/* --- objects ------------------------------------------------------------- */

static int spool(pack_out *o, const uint8_t *p, size_t n, uint32_t *crc)
{
	*crc = (uint32_t)crc32(*crc, p, (uInt)n);
	o->at += n;
	while (n) {
		size_t some = OUT_BUFFER - o->buffered;
		int r;

		if (some > n)
			some = n;
		memcpy(o->buffer + o->buffered, p, some);
		o->buffered += some;
		p += some;
		n -= some;
		if (o->buffered < OUT_BUFFER)
			continue;
		r = ab_fd_write_full(o->spool, o->buffer, o->buffered);
		if (r)
			return r;
		o->buffered = 0;
	}
	return 0;
}

static size_t put_head(uint8_t *p, enum object_type type, uint64_t n)
{
	size_t i = 0;

	p[0] = (uint8_t)((unsigned)type << 4 | (n & 0x0f));
	for (n >>= 4; n; n >>= 7) {
		p[i++] |= 0x80;
		p[i] = n & 0x7f;
	}
	return i + 1;
}

static int deflate_all(pack_out *o, const void *p, size_t n, size_t *size)
{
	size_t bound = deflateBound(&o->z, n);
	uint8_t *more;

	if (bound > o->deflated_room) {
		more = ab_realloc(o->deflated, bound, 1);
		if (!more)
			return -ENOMEM;
		o->deflated = more;
		o->deflated_room = bound;
	}
	(void)deflateReset(&o->z);
	o->z.next_in = (Bytef *)(uintptr_t)p;
	o->z.avail_in = (uInt)n;
	o->z.next_out = o->deflated;
	o->z.avail_out = (uInt)bound;
	if (deflate(&o->z, Z_FINISH) != Z_STREAM_END)
		return -EIO;
	*size = bound - o->z.avail_out;
	return 0;
}

int out_add(pack_out *o, enum object_type type, const uint8_t oid[OID_SIZE],
	    const void *p, size_t n)
{
	uint8_t head[16] = { 0 };
	uint32_t crc = 0;
	out_slot *slot;
	size_t size;
	int r;

	if (out_has(o, oid))
		return 0;
	r = make_room(o);
	if (r == 0)
		r = deflate_all(o, p, n, &size);
	if (r)
		return r;
	slot = slot_of(o->slots, o->room, oid);
	memcpy(slot->oid, oid, OID_SIZE);
	slot->at = o->at;
	o->count++;
	r = spool(o, head, put_head(head, type, n), &crc);
	if (r == 0)
		r = spool(o, o->deflated, size, &crc);
	slot->crc = crc;
	return r;
}

/* --- the pack ------------------------------------------------------------ */

static void make_head(const pack_out *o, uint8_t head[PACK_HEAD_SIZE])
{
	memcpy(head, "PACK", 4);
	put_be32(head + 4, 2);
	put_be32(head + 8, (uint32_t)o->count);
}

static int read_spool(const pack_out *o, uint64_t at, uint8_t *p, size_t n)
{
	while (n) {
		ssize_t r = pread(o->spool, p, n, (off_t)at);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r ? -errno : -EIO;
		p += r;
		at += (uint64_t)r;
		n -= (size_t)r;
	}
	return 0;
}

int out_read(const pack_out *o, uint64_t at, const uint8_t sum[SHA1_SIZE],
	     uint8_t *p, size_t n)
{
	uint8_t head[PACK_HEAD_SIZE];
	int r;

	make_head(o, head);
	for (; n && at < PACK_HEAD_SIZE; n--)
		*p++ = head[at++];
	if (n && at < o->at) {
		size_t some = o->at - at < n ? (size_t)(o->at - at) : n;

		r = read_spool(o, at - PACK_HEAD_SIZE, p, some);
		if (r)
			return r;
		p += some;
		at += some;
		n -= some;
	}
	if (!n)
		return 0;
	if (n > SHA1_SIZE - (size_t)(at - o->at))
		return -EINVAL;
	memcpy(p, sum + (at - o->at), n);
	return 0;
}

int out_finish(pack_out *o, uint64_t *size, uint8_t sum[SHA1_SIZE])
{
	uint8_t head[PACK_HEAD_SIZE];
	sha1 s;
	int r = ab_fd_write_full(o->spool, o->buffer, o->buffered);

	o->buffered = 0;
	if (r || o->count > UINT32_MAX)
		return r ? r : -E2BIG;
	sha1_begin(&s);
	make_head(o, head);
	sha1_add(&s, head, sizeof(head));
	for (uint64_t at = PACK_HEAD_SIZE; at < o->at;) {
		size_t some = o->at - at < OUT_BUFFER ? (size_t)(o->at - at)
						      : OUT_BUFFER;

		r = read_spool(o, at - PACK_HEAD_SIZE, o->buffer, some);
		if (r)
			return r;
		sha1_add(&s, o->buffer, some);
		at += some;
	}
	sha1_end(&s, sum);
	*size = o->at + SHA1_SIZE;
	return 0;
}

/* --- the index ----------------------------------------------------------- */

/* Free slots go to the end. */
static int by_oid(const void *a, const void *b)
{
	const out_slot *x = a, *y = b;

	if (!x->at || !y->at)
		return !x->at - !y->at;
	return memcmp(x->oid, y->oid, OID_SIZE);
}

static void put_fanout(const pack_out *o, uint8_t *p)
{
	size_t n = 0;

	for (size_t i = 0; i < 256; i++) {
		while (n < o->count && o->slots[n].oid[0] <= i)
			n++;
		put_be32(p + 4 * i, (uint32_t)n);
	}
}

/* The offsets, those past 2 GiB in a table of their own; its end. */
static uint8_t *put_offsets(const pack_out *o, uint8_t *p)
{
	uint8_t *large = p + 4 * o->count;
	uint32_t larges = 0;

	for (size_t i = 0; i < o->count; i++) {
		uint64_t at = o->slots[i].at;

		if (at <= INT32_MAX) {
			put_be32(p + 4 * i, (uint32_t)at);
			continue;
		}
		put_be32(p + 4 * i, 0x80000000u | larges++);
		put_be32(large, (uint32_t)(at >> 32));
		put_be32(large + 4, (uint32_t)at);
		large += 8;
	}
	return large;
}

int out_index(pack_out *o, const uint8_t sum[SHA1_SIZE], uint8_t **p,
	      size_t *n)
{
	static const uint8_t magic[8] = { 0xff, 't', 'O', 'c', 0, 0, 0, 2 };
	size_t most = 8 + 1024 + o->count * (OID_SIZE + 4 + 4 + 8) + 40;
	uint8_t *made = ab_calloc(most, 1), *at = made;
	sha1 s;

	if (!made)
		return -ENOMEM;
	qsort(o->slots, o->room, sizeof(*o->slots), by_oid);
	memcpy(at, magic, sizeof(magic));
	at += sizeof(magic);
	put_fanout(o, at);
	at += 1024;
	for (size_t i = 0; i < o->count; i++, at += OID_SIZE)
		memcpy(at, o->slots[i].oid, OID_SIZE);
	for (size_t i = 0; i < o->count; i++, at += 4)
		put_be32(at, o->slots[i].crc);
	at = put_offsets(o, at);
	memcpy(at, sum, SHA1_SIZE);
	at += SHA1_SIZE;
	sha1_begin(&s);
	sha1_add(&s, made, (size_t)(at - made));
	sha1_end(&s, at);
	*p = made;
	*n = (size_t)(at - made) + SHA1_SIZE;
	return 0;
}
