/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SHA-1 (FIPS 180-4) in pieces, for the trailers of packs and indexes that we
 * write ourselves. It protects nothing: objects of a source are judged by
 * libgit2, which sees through collisions.
 */
#ifndef AB_GIT_SHA1_H
#define AB_GIT_SHA1_H

#include <stddef.h>
#include <stdint.h>

#define SHA1_SIZE 20

typedef struct sha1 {
	uint32_t state[5];
	uint64_t n;
	uint8_t block[64];
} sha1;

void sha1_begin(sha1 *s);
void sha1_add(sha1 *s, const void *p, size_t n);
void sha1_end(sha1 *s, uint8_t out[SHA1_SIZE]);

#endif
