/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The objects of the repository that is made: whole ones in one pack, each
 * once. They are spooled compressed until all are there, for a pack begins
 * with their number. 36 bytes of memory an object, and the spool.
 */
#ifndef AB_GIT_OUT_H
#define AB_GIT_OUT_H

#include <stdbool.h>
#include <zlib.h>

#include "sha1.h"
#include "store.h"

#define PACK_HEAD_SIZE 12u
#define OUT_BUFFER ((size_t)256 << 10)

typedef struct out_slot {
	uint8_t oid[OID_SIZE];
	uint32_t crc;
	uint64_t at; /* in the pack; 0: free */
} out_slot;

typedef struct pack_out {
	int spool;
	uint64_t at; /* where the next object goes */
	uint8_t *buffer; /* owned, what is not spooled yet */
	size_t buffered;
	uint8_t *deflated; /* owned */
	size_t deflated_room;
	z_stream z;
	bool is_ready;
	out_slot *slots; /* owned, a power of two */
	size_t room, count;
} pack_out;

/* `spool` is an empty file that can be read and written. 0 or -errno. */
int out_begin(pack_out *o, int spool);
void out_end(pack_out *o);
bool out_has(const pack_out *o, const uint8_t oid[OID_SIZE]);
/* Does nothing when it has it. 0 or -errno. */
int out_add(pack_out *o, enum object_type type, const uint8_t oid[OID_SIZE],
	    const void *p, size_t n);

/* All are there: the pack's size with its trailer, and its checksum. */
int out_finish(pack_out *o, uint64_t *size, uint8_t sum[SHA1_SIZE]);
/* Bytes of the finished pack; 0 or -errno. */
int out_read(const pack_out *o, uint64_t at, const uint8_t sum[SHA1_SIZE],
	     uint8_t *p, size_t n);
/* Its index: allocated. Sorts the slots: nothing may be asked after. */
int out_index(pack_out *o, const uint8_t sum[SHA1_SIZE], uint8_t **p,
	      size_t *n);

#endif
