/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SHA-256 (FIPS 180-4), hex, and random identifiers. */
#ifndef AB_BASE_HASH_H
#define AB_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AB_SHA256_SIZE 32
#define AB_HEX_SIZE(n) (2 * (n) + 1)
/* 128 random bits as 32 lower-case hex digits and a NUL. */
#define AB_ID_SIZE 33
/* "sha256:" + 64 hex digits + NUL */
#define AB_DIGEST_SIZE 72

void ab_sha256(const void *p, size_t n, uint8_t out[AB_SHA256_SIZE]);

/*
 * For those who hash much: libsodium's code, or the processor's own
 * instructions where it has them. Asking the processor costs microseconds in
 * a virtual machine, so ask once and keep the answer.
 */
typedef void (*ab_sha256_fn)(const void *p, size_t n,
			     uint8_t out[AB_SHA256_SIZE]);
ab_sha256_fn ab_sha256_pick(void);
void ab_sha256_portable(const void *p, size_t n, uint8_t out[AB_SHA256_SIZE]);

/* Several messages, which take less time together; `fn` is what was picked. */
typedef struct ab_sha256_job {
	const void *p; /* borrowed; may be NULL when n is 0 */
	size_t n;
	uint8_t *out; /* AB_SHA256_SIZE bytes; borrowed */
} ab_sha256_job;
void ab_sha256_many(ab_sha256_fn fn, const ab_sha256_job *jobs, size_t count);

/* The same in pieces; `fn` is what was picked. */
typedef struct ab_sha256_stream {
	uint64_t state[16];
	ab_sha256_fn fn;
	bool fast;
} ab_sha256_stream;

void ab_sha256_begin(ab_sha256_stream *s, ab_sha256_fn fn);
void ab_sha256_add(ab_sha256_stream *s, const void *p, size_t n);
void ab_sha256_end(ab_sha256_stream *s, uint8_t out[AB_SHA256_SIZE]);

void ab_digest(const void *p, size_t n, char out[AB_DIGEST_SIZE]);
void ab_hex(const uint8_t *p, size_t n, char *out);
/* 0, or -EINVAL when `hex` is not exactly 2*n lower-case hex digits. */
int ab_unhex(const char *hex, size_t hex_len, uint8_t *out, size_t n);
/* 0, or -errno when the kernel gives no randomness. */
int ab_random(void *p, size_t n);
int ab_id_new(char out[AB_ID_SIZE]);
/* Does the text have the form of one? No box may have such a name. */
bool ab_is_id(const char *text);

#endif
