/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The codec of every message and plan: little-endian fixed-width integers
 * and length-prefixed bytes, written and read in one agreed order. A writer
 * and a reader carry a sticky error, so a function encodes or decodes a whole
 * structure and checks once. A reader that is not at the end afterwards has
 * read something it does not understand: that is an error too.
 *
 * Compiled into the library and into every helper: libc only.
 */
#ifndef AB_WIRE_CODEC_H
#define AB_WIRE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ab_writer {
	uint8_t *data; /* owned, free() */
	size_t len, cap, max;
	bool bad;
	bool is_fixed; /* data is the caller's: neither grown nor freed */
} ab_writer;

typedef struct ab_reader {
	const uint8_t *data; /* borrowed */
	size_t len, pos;
	bool bad;
} ab_reader;

void ab_writer_init(ab_writer *w, size_t max);
/* A writer over caller memory: never allocates, for the warm path. */
void ab_writer_init_fixed(ab_writer *w, void *memory, size_t size);
void ab_writer_end(ab_writer *w);
void ab_put_u8(ab_writer *w, uint8_t v);
void ab_put_u32(ab_writer *w, uint32_t v);
void ab_put_u64(ab_writer *w, uint64_t v);
void ab_put_i32(ab_writer *w, int32_t v);
/* u32 length, then the bytes. */
void ab_put_bytes(ab_writer *w, const void *p, size_t n);
/* Bytes of a C string, with its NUL inside the length. NULL marks bad. */
void ab_put_str(ab_writer *w, const char *s);

void ab_reader_init(ab_reader *r, const void *p, size_t n);
uint8_t ab_get_u8(ab_reader *r);
uint32_t ab_get_u32(ab_reader *r);
uint64_t ab_get_u64(ab_reader *r);
int32_t ab_get_i32(ab_reader *r);
/* Borrowed from the message. NULL and n=0 when bad. */
const void *ab_get_bytes(ab_reader *r, size_t *n);
/* Borrowed, NUL-terminated, no inner NUL; "" and bad otherwise. */
const char *ab_get_str(ab_reader *r);
/* A count not larger than max and not larger than what bytes remain. */
uint32_t ab_get_count(ab_reader *r, uint32_t max);
/* Good and everything consumed. */
bool ab_reader_done(const ab_reader *r);

#endif
