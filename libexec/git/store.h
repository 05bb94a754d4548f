/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The objects of a repository that nobody trusts: loose ones and packs, read
 * beneath one directory descriptor and from nowhere else (no alternates, no
 * links). Everything is bounded: the size of an object and of each object it
 * is a delta of, the length of a chain, the number of packs. Whether an
 * object is what its name says is for who asks: libgit2 hashes it (odb.c).
 *
 * gitformat-pack(5), gitrepository-layout(5). Objects are named by SHA-1.
 */
#ifndef AB_GIT_STORE_H
#define AB_GIT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OID_SIZE 20
#define OID_HEX 40

/* As they stand in a pack. */
enum object_type {
	OBJECT_COMMIT = 1,
	OBJECT_TREE = 2,
	OBJECT_BLOB = 3,
	OBJECT_TAG = 4
};

/* No object, and no object that another is a delta of, is larger. */
#define OBJECT_MAX ((size_t)256 << 20)

typedef struct store store;

/* What an object's bytes are allocated with. */
typedef struct store_memory {
	void *(*alloc)(size_t n);
	void (*release)(void *p);
} store_memory;

/*
 * `objects_fd` is the directory "objects", borrowed; *memory too. NULL: out
 * of memory.
 */
store *store_new(int objects_fd, const store_memory *memory);
void store_free(store *s);

/*
 * 0; -ENOENT: it is not there; -EFBIG: over OBJECT_MAX; -EPROTO: damaged;
 * -ENOMEM; or what reading it said.
 */
int store_header(store *s, const uint8_t oid[OID_SIZE],
		 enum object_type *type, size_t *size);
/* *data is allocated (size + 1 bytes) and the caller's. */
int store_read(store *s, const uint8_t oid[OID_SIZE], enum object_type *type,
	       uint8_t **data, size_t *size);

#endif
