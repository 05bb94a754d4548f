/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of store.h: one pack, and what inflates. */
#ifndef AB_GIT_PACK_H
#define AB_GIT_PACK_H

#include <zlib.h>

#include "store.h"

#define INFLATE_ROOM ((size_t)32 << 10)
/* git makes none longer than 4095 */
#define CHAIN_MAX 4096
#define CACHE_SLOTS 512
#define CACHE_BYTES ((size_t)64 << 20)
#define CACHE_OBJECT_MAX ((size_t)8 << 20)

/* Bytes out of a file, where they begin. */
typedef struct inflater {
	z_stream z;
	bool is_ready;
	uint8_t in[INFLATE_ROOM];
} inflater;

/*
 * n bytes from the stream at `at` of the file, which ends at `end`. `whole`:
 * the stream has exactly so many. 0, -EPROTO, -ENOMEM, -errno.
 */
int inflate_at(inflater *f, int fd, uint64_t at, uint64_t end, uint8_t *out,
	       size_t n, bool whole);

typedef struct pack {
	int fd;
	uint64_t size;	    /* of the pack */
	const uint8_t *idx; /* mapped */
	size_t idx_size;
	uint32_t count;
} pack;

/* Objects that others are deltas of, by place; the newest stays. */
typedef struct cache_slot {
	const pack *pack;
	uint64_t at;
	uint8_t type;
	uint8_t *data; /* owned; NULL: free */
	size_t size;
} cache_slot;

typedef struct chain_link {
	uint64_t at, data;
	size_t size;
} chain_link;

typedef struct unpacker {
	const store_memory *memory;
	inflater inflater;
	cache_slot cache[CACHE_SLOTS];
	size_t cached;
	chain_link chain[CHAIN_MAX];
} unpacker;

void unpacker_end(unpacker *u);

/*
 * The pack `name` ("pack-....idx") of the directory. 0, -EPROTO, or why it
 * cannot be opened.
 */
int pack_open(int dirfd, const char *name, pack *p);
/* Are fd, size, idx and idx_size those of a pack? Sets the rest. 0, -EPROTO. */
int pack_check(pack *p);
void pack_close(pack *p);
/* True and where it lies. */
bool pack_find(const pack *p, const uint8_t oid[OID_SIZE], uint64_t *at);
/* As the store's. */
int pack_header(unpacker *u, const pack *p, uint64_t at,
		enum object_type *type, size_t *size);
int pack_read(unpacker *u, const pack *p, uint64_t at, enum object_type *type,
	      uint8_t **data, size_t *size);

/*
 * The result of a delta; *out is allocated with the memory's alloc. 0,
 * -EPROTO, -EFBIG, -ENOMEM.
 */
int delta_apply(const store_memory *memory, const uint8_t *base,
		size_t base_size, const uint8_t *delta, size_t n,
		uint8_t **out, size_t *out_size);
/* The size of the result, from the first bytes of a delta. */
int delta_result(const uint8_t *delta, size_t n, size_t *size);

#endif
