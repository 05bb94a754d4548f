/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scans of 16 bytes at a time. How long a word is nobody foresees, a processor
 * least of all: a loop over its bytes costs it more by the wrong guess at the
 * end than by all that it does before.
 */
#ifndef AB_SHELL_SCAN_H
#define AB_SHELL_SCAN_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

typedef unsigned char ab_vector __attribute__((vector_size(16)));

static inline ab_vector ab_vector_load(const unsigned char *s)
{
	ab_vector v;

	memcpy(&v, s, sizeof(v));
	return v;
}

/* Which of the bytes was found first, each of which is 0 or 255; 16: none. */
static inline uint32_t ab_vector_first(ab_vector found)
{
#ifdef __SSE2__
	typedef char bytes __attribute__((vector_size(16)));

	return (uint32_t)__builtin_ctz(
		(unsigned)__builtin_ia32_pmovmskb128((bytes)found) | 1u << 16);
#else
	uint64_t halves[2];

	memcpy(halves, &found, sizeof(halves));
	if (halves[0])
		return (uint32_t)__builtin_ctzll(le64toh(halves[0])) / 8;
	if (halves[1])
		return 8 + (uint32_t)__builtin_ctzll(le64toh(halves[1])) / 8;
	return sizeof(ab_vector);
#endif
}

/* Where `byte` first is among the 16 at `s`; 16: it is not. */
static inline uint32_t ab_scan_to(const unsigned char *s, unsigned char byte)
{
	return ab_vector_first((ab_vector)(ab_vector_load(s) == byte));
}

/* How many of the bytes are 255 before the first that is 0. */
static inline uint32_t ab_vector_run(ab_vector is)
{
#ifdef __SSE2__
	typedef char bytes __attribute__((vector_size(16)));

	/* behind the last comes what is none */
	return (uint32_t)__builtin_ctz(
		~(unsigned)__builtin_ia32_pmovmskb128((bytes)is));
#else
	return ab_vector_first(~is);
#endif
}

/* How many of the 16 bytes at `s` are a letter, a digit, `_` or one of `+,-./:`
   before the first that is not. All of those are ordinary in a word. */
static inline uint32_t ab_scan_ordinary(const unsigned char *s)
{
	ab_vector v = ab_vector_load(s);

	return ab_vector_run((ab_vector)(((v | 0x20) - 'a' <= 'z' - 'a') |
					 (v - '+' <= ':' - '+') | (v == '_')));
}

/* The same of bytes that a name may have. */
static inline uint32_t ab_scan_name(const unsigned char *s)
{
	ab_vector v = ab_vector_load(s);

	return ab_vector_run((ab_vector)(((v | 0x20) - 'a' <= 'z' - 'a') |
					 (v - '0' <= '9' - '0') | (v == '_')));
}

#endif
