/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Short names as numbers, for what a check does a dozen times for each word:
 * calling the C library takes longer than what there is to compare. No byte
 * behind the name is read.
 */
#ifndef AB_BASE_KEY_H
#define AB_BASE_KEY_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t ab_load32(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline uint64_t ab_load64(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

/* Of 1 to 8 bytes; the first is the lowest. Bytes that are read twice are
   the same both times. */
static inline uint64_t ab_key8(const char *p, size_t n)
{
	if (n >= 4)
		return ab_load32(p) | ab_load32(p + n - 4) << (8 * (n - 4));
	return (uint64_t)(unsigned char)p[0] |
	       (uint64_t)(unsigned char)p[n / 2] << (8 * (n / 2)) |
	       (uint64_t)(unsigned char)p[n - 1] << (8 * (n - 1));
}

/* memcmp() == 0 */
static inline bool ab_same(const char *a, const char *b, size_t n)
{
	if (n - 1 < 8)
		return ab_key8(a, n) == ab_key8(b, n);
	if (n <= 16)
		return !n || (ab_load64(a) == ab_load64(b) &&
			      ab_load64(a + n - 8) == ab_load64(b + n - 8));
	return memcmp(a, b, n) == 0;
}

/* memcpy() of what is short most of the time; the two do not overlap. */
static inline void ab_copy(char *to, const char *from, size_t n)
{
	if (n - 1 < 3) {
		to[0] = from[0];
		to[n / 2] = from[n / 2];
		to[n - 1] = from[n - 1];
	} else if (n - 4 <= 4) {
		memcpy(to, from, 4);
		memcpy(to + n - 4, from + n - 4, 4);
	} else if (n - 8 <= 8) {
		memcpy(to, from, 8);
		memcpy(to + n - 8, from + n - 8, 8);
	} else if (n) {
		memcpy(to, from, n);
	}
}

/* memcpy() of a whole text, which does not overlap. In pieces: for more at a
   time C libraries use the processor's string moves, and some processors take
   three times as long over them, ten times where the two lie badly. */
static inline void ab_copy_text(char *to, const char *from, size_t n)
{
	enum { PIECE = 2048 };

	for (; n > PIECE; to += PIECE, from += PIECE, n -= PIECE)
		memcpy(to, from, PIECE);
	if (n)
		memcpy(to, from, n);
}

/* Of the lowest byte that is 0: its highest bit; bits above may be set. */
static inline uint64_t ab_zero_byte(uint64_t x)
{
	return (x - UINT64_C(0x0101010101010101)) & ~x &
	       UINT64_C(0x8080808080808080);
}

/* Where the first `byte`, which is not 0, stands; n: nowhere. */
static inline size_t ab_seek(const char *p, size_t n, unsigned char byte)
{
	uint64_t all = byte * UINT64_C(0x0101010101010101), hit;
	size_t i = 0;

	for (; n - i >= 8; i += 8) {
		hit = ab_zero_byte(ab_load64(p + i) ^ all);
		if (hit)
			return i + (size_t)__builtin_ctzll(hit) / 8;
	}
	if (i == n)
		return n;
	hit = ab_zero_byte(ab_key8(p + i, n - i) ^ all);
	return hit ? i + (size_t)__builtin_ctzll(hit) / 8 : n;
}

#endif
