/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pack and its index (version 2). The index is mapped and looked at within
 * its bounds; of the pack only what is asked for is read. A chain of deltas is
 * followed without recursion: down to where it begins, then up. Refuses
 * indexes whose parts do not add up, entries outside the pack, chains without
 * an end. Spec: gitformat-pack(5).
 */
#include "config.h"

#include "pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree.h"

#define IDX_HEAD 8u
#define FANOUT (256u * 4)
#define TRAILER 40u
#define PACK_HEAD 12u
#define PER_OBJECT (OID_SIZE + 4u + 4u)
#define OFS_DELTA 6
#define REF_DELTA 7
/* type and size, and the distance or name of what it is a delta of */
#define ENTRY_HEAD_MAX 64

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static ssize_t read_at(int fd, void *p, size_t n, uint64_t at)
{
	for (;;) {
		ssize_t r = pread(fd, p, n, (off_t)at);

		if (r >= 0 || errno != EINTR)
			return r < 0 ? -errno : r;
	}
}

/* --- inflating ----------------------------------------------------------- */

static int refill(inflater *f, int fd, uint64_t *at, uint64_t end)
{
	uint64_t left = end > *at ? end - *at : 0;
	ssize_t n = read_at(fd, f->in,
			    left < sizeof(f->in) ? (size_t)left
						 : sizeof(f->in), *at);

	if (n <= 0)
		return n ? (int)n : -EPROTO;
	*at += (uint64_t)n;
	f->z.next_in = f->in;
	f->z.avail_in = (uInt)n;
	return 0;
}

int inflate_at(inflater *f, int fd, uint64_t at, uint64_t end, uint8_t *out,
	       size_t n, bool whole)
{
	uint8_t over;
	int r;

	if (!f->is_ready && inflateInit(&f->z) != Z_OK)
		return -ENOMEM;
	f->is_ready = true;
	(void)inflateReset(&f->z);
	f->z.avail_in = 0;
	f->z.next_out = out;
	f->z.avail_out = (uInt)n;
	for (;;) {
		bool is_full = f->z.avail_out == 0;

		if (is_full && !whole)
			return 0;
		/* one byte more would be one too many */
		if (is_full) {
			f->z.next_out = &over;
			f->z.avail_out = 1;
		}
		if (f->z.avail_in == 0 && (r = refill(f, fd, &at, end)) != 0)
			return r;
		r = inflate(&f->z, Z_NO_FLUSH);
		if (is_full && f->z.avail_out == 0)
			return -EPROTO;
		if (is_full)
			f->z.avail_out = 0;
		if (r == Z_STREAM_END)
			return f->z.avail_out == 0 || !whole ? 0 : -EPROTO;
		if (r == Z_MEM_ERROR)
			return -ENOMEM;
		if (r != Z_OK && !(r == Z_BUF_ERROR && f->z.avail_in == 0))
			return -EPROTO;
	}
}

/* --- the index ----------------------------------------------------------- */

static const uint8_t *fanout(const pack *p)
{
	return p->idx + IDX_HEAD;
}

static const uint8_t *oids(const pack *p)
{
	return fanout(p) + FANOUT;
}

static bool is_index(pack *p)
{
	static const uint8_t magic[IDX_HEAD] = { 0xff, 't', 'O', 'c',
						 0,    0,   0,	 2 };
	uint32_t last = 0;

	if (p->idx_size < IDX_HEAD + FANOUT + TRAILER ||
	    memcmp(p->idx, magic, sizeof(magic)) != 0)
		return false;
	for (size_t i = 0; i < 256; i++) {
		uint32_t n = be32(fanout(p) + 4 * i);

		if (n < last)
			return false;
		last = n;
	}
	p->count = last;
	return (p->idx_size - IDX_HEAD - FANOUT - TRAILER) / PER_OBJECT >=
	       p->count;
}

bool pack_find(const pack *p, const uint8_t oid[OID_SIZE], uint64_t *at)
{
	uint32_t low = oid[0] ? be32(fanout(p) + 4 * (oid[0] - 1u)) : 0;
	uint32_t high = be32(fanout(p) + 4u * oid[0]);
	const uint8_t *offsets = oids(p) + (size_t)p->count * (OID_SIZE + 4u);
	const uint8_t *large = offsets + (size_t)p->count * 4;
	const uint8_t *end = p->idx + p->idx_size - TRAILER;

	/* the file may be written to after it was looked at */
	if (high > p->count)
		high = p->count;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		int by = memcmp(oid, oids(p) + (size_t)mid * OID_SIZE,
				OID_SIZE);
		uint32_t v;

		if (by < 0) {
			high = mid;
		} else if (by > 0) {
			low = mid + 1;
		} else {
			v = be32(offsets + (size_t)mid * 4);
			*at = v;
			if (!(v & 0x80000000u))
				return true;
			v &= 0x7fffffffu;
			if (v >= (size_t)(end - large) / 8)
				return false;
			*at = (uint64_t)be32(large + (size_t)v * 8) << 32 |
			      be32(large + (size_t)v * 8 + 4);
			return true;
		}
	}
	return false;
}

static int map_index(int dirfd, const char *name, pack *p)
{
	int fd = open_beneath(dirfd, name, O_RDONLY | O_NONBLOCK);
	struct stat st;
	void *map;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0) {
		close(fd);
		return -EPROTO;
	}
	p->idx_size = (size_t)st.st_size;
	map = mmap(NULL, p->idx_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return -errno;
	p->idx = map;
	return 0;
}

static int open_pack(int dirfd, const char *name, pack *p)
{
	struct stat st;

	p->fd = open_beneath(dirfd, name, O_RDONLY | O_NONBLOCK);
	if (p->fd < 0)
		return p->fd;
	if (fstat(p->fd, &st) || !S_ISREG(st.st_mode) || st.st_size < 0)
		return -EPROTO;
	p->size = (uint64_t)st.st_size;
	return 0;
}

int pack_check(pack *p)
{
	uint8_t head[PACK_HEAD];

	if (p->size < PACK_HEAD + OID_SIZE ||
	    read_at(p->fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head, "PACK", 4) != 0 ||
	    (be32(head + 4) != 2 && be32(head + 4) != 3))
		return -EPROTO;
	return is_index(p) ? 0 : -EPROTO;
}

int pack_open(int dirfd, const char *name, pack *p)
{
	char text[AB_MAX_NAME + 2];
	size_t n = strlen(name);
	int r;

	*p = (pack){ .fd = -1 };
	if (n < 5 || n > AB_MAX_NAME)
		return -EPROTO;
	memcpy(text, name, n - 4);
	memcpy(text + n - 4, ".pack", 6);
	r = map_index(dirfd, name, p);
	if (r == 0)
		r = open_pack(dirfd, text, p);
	if (r == 0)
		r = pack_check(p);
	if (r)
		pack_close(p);
	return r;
}

void pack_close(pack *p)
{
	if (p->idx)
		munmap((void *)(uintptr_t)p->idx, p->idx_size);
	if (p->fd >= 0)
		close(p->fd);
	*p = (pack){ .fd = -1 };
}

/* --- one entry ----------------------------------------------------------- */

typedef struct entry_head {
	uint8_t type;
	size_t size;
	uint64_t data; /* where its stream begins */
	uint64_t base; /* of a delta: where that lies */
} entry_head;

static int find_base(const pack *p, uint64_t at, const uint8_t *b, size_t n,
		     size_t *i, entry_head *e)
{
	uint64_t back;

	if (e->type == REF_DELTA) {
		if (n - *i < OID_SIZE)
			return -EPROTO;
		/* a pack that git keeps is whole in itself */
		if (!pack_find(p, b + *i, &e->base))
			return -EPROTO;
		*i += OID_SIZE;
		return 0;
	}
	if (*i == n)
		return -EPROTO;
	back = b[*i] & 0x7f;
	while (b[(*i)++] & 0x80) {
		if (*i == n || back > UINT64_MAX >> 8)
			return -EPROTO;
		back = (back + 1) << 7 | (b[*i] & 0x7f);
	}
	if (back == 0 || back > at)
		return -EPROTO;
	e->base = at - back;
	return 0;
}

static int read_entry(const pack *p, uint64_t at, entry_head *e)
{
	uint8_t b[ENTRY_HEAD_MAX];
	uint64_t end = p->size - OID_SIZE, size;
	unsigned shift = 4;
	size_t i = 0, n;
	ssize_t got;
	int r = 0;

	if (at < PACK_HEAD || at >= end)
		return -EPROTO;
	got = read_at(p->fd, b, end - at < sizeof(b) ? (size_t)(end - at)
						     : sizeof(b), at);
	if (got <= 0)
		return got ? (int)got : -EPROTO;
	n = (size_t)got;
	e->type = b[0] >> 4 & 7;
	size = b[0] & 0x0f;
	while (b[i++] & 0x80) {
		if (i == n || shift > 56)
			return -EPROTO;
		size |= (uint64_t)(b[i] & 0x7f) << shift;
		shift += 7;
	}
	if (size > OBJECT_MAX)
		return -EFBIG;
	e->size = (size_t)size;
	if (e->type == OFS_DELTA || e->type == REF_DELTA)
		r = find_base(p, at, b, n, &i, e);
	else if (e->type < OBJECT_COMMIT || e->type > OBJECT_TAG)
		r = -EPROTO;
	e->data = at + i;
	return r;
}

static bool is_delta(const entry_head *e)
{
	return e->type == OFS_DELTA || e->type == REF_DELTA;
}

static int inflate_entry(unpacker *u, const pack *p, uint64_t data,
			 size_t size, uint8_t **out)
{
	uint8_t *made = u->memory->alloc(size + 1);
	int r;

	if (!made)
		return -ENOMEM;
	r = inflate_at(&u->inflater, p->fd, data, p->size - OID_SIZE, made,
		       size, true);
	if (r) {
		u->memory->release(made);
		return r;
	}
	made[size] = 0;
	*out = made;
	return 0;
}

/* --- what others are deltas of ------------------------------------------- */

static cache_slot *slot_of(unpacker *u, const pack *p, uint64_t at)
{
	uint64_t h = (at ^ (uintptr_t)p >> 4) * UINT64_C(0x9e3779b97f4a7c15);

	return &u->cache[h >> 55];
}

static void forget(unpacker *u, cache_slot *c)
{
	if (!c->data)
		return;
	u->cached -= c->size;
	u->memory->release(c->data);
	c->data = NULL;
}

void unpacker_end(unpacker *u)
{
	for (size_t i = 0; i < CACHE_SLOTS; i++)
		forget(u, &u->cache[i]);
	if (u->inflater.is_ready)
		(void)inflateEnd(&u->inflater.z);
}

/* Takes the data, to keep or to release it. */
static void remember(unpacker *u, const pack *p, uint64_t at, uint8_t type,
		     uint8_t *data, size_t size)
{
	cache_slot *c = slot_of(u, p, at);

	if (size > CACHE_OBJECT_MAX) {
		u->memory->release(data);
		return;
	}
	forget(u, c);
	for (size_t i = 0; i < CACHE_SLOTS && u->cached + size > CACHE_BYTES;
	     i++)
		forget(u, &u->cache[i]);
	*c = (cache_slot){ p, at, type, data, size };
	u->cached += size;
}

/* --- a whole object ------------------------------------------------------ */

/* Where a chain begins: an object of its own, borrowed from the cache or
   owned. */
typedef struct begin {
	uint64_t at;
	uint8_t type;
	uint8_t *data;
	size_t size;
	bool is_owned;
} begin;

static int go_down(unpacker *u, const pack *p, uint64_t at, begin *b,
		   size_t *depth)
{
	for (*depth = 0;; (*depth)++) {
		const cache_slot *c = slot_of(u, p, at);
		entry_head e;
		int r;

		b->at = at;
		if (c->data && c->pack == p && c->at == at) {
			b->type = c->type;
			b->data = c->data;
			b->size = c->size;
			b->is_owned = false;
			return 0;
		}
		r = read_entry(p, at, &e);
		if (r)
			return r;
		if (!is_delta(&e)) {
			b->type = e.type;
			b->size = e.size;
			b->is_owned = true;
			return inflate_entry(u, p, e.data, e.size, &b->data);
		}
		if (*depth == CHAIN_MAX)
			return -EPROTO;
		u->chain[*depth] = (chain_link){ at, e.data, e.size };
		at = e.base;
	}
}

/* The next object of the chain, in place of what it is a delta of. */
static int go_up(unpacker *u, const pack *p, const chain_link *l, begin *b)
{
	uint8_t *delta = NULL, *made = NULL;
	size_t size = 0;
	int r = inflate_entry(u, p, l->data, l->size, &delta);

	if (r == 0)
		r = delta_apply(u->memory, b->data, b->size, delta, l->size,
				&made, &size);
	if (delta)
		u->memory->release(delta);
	if (b->is_owned)
		remember(u, p, b->at, b->type, b->data, b->size);
	b->at = l->at;
	b->data = made;
	b->size = size;
	b->is_owned = r == 0;
	return r;
}

int pack_read(unpacker *u, const pack *p, uint64_t at, enum object_type *type,
	      uint8_t **data, size_t *size)
{
	begin b = { .at = at };
	size_t depth = 0;
	int r = go_down(u, p, at, &b, &depth);

	while (r == 0 && depth)
		r = go_up(u, p, &u->chain[--depth], &b);
	if (r == 0 && !b.is_owned) {
		uint8_t *own = u->memory->alloc(b.size + 1);

		if (own)
			memcpy(own, b.data, b.size + 1);
		b.data = own;
		r = own ? 0 : -ENOMEM;
	}
	if (r)
		return r;
	*type = b.type;
	*data = b.data;
	*size = b.size;
	return 0;
}

int pack_header(unpacker *u, const pack *p, uint64_t at,
		enum object_type *type, size_t *size)
{
	uint8_t head[32] = { 0 };
	entry_head e;
	int r = read_entry(p, at, &e);

	if (r)
		return r;
	*size = e.size;
	if (is_delta(&e)) {
		size_t n = e.size < sizeof(head) ? e.size : sizeof(head);

		r = inflate_at(&u->inflater, p->fd, e.data,
			       p->size - OID_SIZE, head, n, false);
		if (r == 0)
			r = delta_result(head, n, size);
	}
	for (size_t i = 0; r == 0 && is_delta(&e); i++)
		r = i == CHAIN_MAX ? -EPROTO : read_entry(p, e.base, &e);
	*type = e.type;
	return r;
}
