/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SHA-256 for those who hash much: verifying an audit log, every file of a
 * snapshot. libsodium's portable code reaches about 320 MB/s where the
 * processor's own SHA instructions reach over 1.5 GB/s, so they are used when
 * present. The round function only: padding and dispatch are below, everything
 * else is libsodium. Both give the same digest (tests/unit/audit_internal.c
 * compares them over every length to 300, tests/unit/base_text_internal.c in
 * pieces). Refuses nothing. FIPS 180-4, hash.h.
 */
#include "config.h"

#include "base/hash.h"

#include <string.h>

#include <sodium.h>

void ab_sha256_portable(const void *p, size_t n,
			      uint8_t out[AB_SHA256_SIZE])
{
	crypto_hash_sha256(out, p, n);
}

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

static const uint32_t round_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static bool has_sha_instructions(void)
{
	unsigned a = 0, b = 0, c = 0, d = 0;

	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & (1u << 29)))
		return false;
	if (!__get_cpuid(1, &a, &b, &c, &d))
		return false;
	/* SSSE3 and SSE4.1, which the shuffles below need */
	return (c & (1u << 9)) && (c & (1u << 19));
}

/* The four schedule words that come sixteen after m0's. */
#define SCHEDULE(m0, m1, m2, m3)                                         \
	_mm_sha256msg2_epu32(                                            \
		_mm_add_epi32(_mm_sha256msg1_epu32((m0), (m1)),          \
			      _mm_alignr_epi8((m3), (m2), 4)),           \
		(m3))

static inline __m128i load(const void *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}

__attribute__((target("sha,sse4.1,ssse3"))) static void
compress(uint32_t state[8], const uint8_t *p, size_t blocks)
{
	const __m128i swap =
		_mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
	__m128i t = load(state);
	__m128i s1 = load(state + 4);
	__m128i s0;

	t = _mm_shuffle_epi32(t, 0xb1);
	s1 = _mm_shuffle_epi32(s1, 0x1b);
	s0 = _mm_alignr_epi8(t, s1, 8);
	s1 = _mm_blend_epi16(s1, t, 0xf0);
	for (; blocks; blocks--, p += 64) {
		__m128i a = s0, b = s1, m[4];

		for (size_t i = 0; i < 4; i++)
			m[i] = _mm_shuffle_epi8(load(p + 16 * i), swap);
#pragma GCC unroll 16
		for (size_t i = 0; i < 16; i++) {
			__m128i k = load(round_constants + 4 * i);
			__m128i w = _mm_add_epi32(m[i & 3], k);

			s1 = _mm_sha256rnds2_epu32(s1, s0, w);
			w = _mm_shuffle_epi32(w, 0x0e);
			s0 = _mm_sha256rnds2_epu32(s0, s1, w);
			if (i < 12)
				m[i & 3] = SCHEDULE(m[i & 3], m[(i + 1) & 3],
						    m[(i + 2) & 3],
						    m[(i + 3) & 3]);
		}
		s0 = _mm_add_epi32(s0, a);
		s1 = _mm_add_epi32(s1, b);
	}
	t = _mm_shuffle_epi32(s0, 0x1b);
	s1 = _mm_shuffle_epi32(s1, 0xb1);
	s0 = _mm_blend_epi16(t, s1, 0xf0);
	s1 = _mm_alignr_epi8(s1, t, 8);
	_mm_storeu_si128((__m128i *)(void *)state, s0);
	_mm_storeu_si128((__m128i *)(void *)(state + 4), s1);
}

static const uint32_t first_state[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

/* What is left over (under 64 bytes), the padding, and the digest. */
static void finish(uint32_t state[8], const uint8_t *rest, size_t n,
		   uint64_t all, uint8_t out[AB_SHA256_SIZE])
{
	size_t tail_len = n < 56 ? 64 : 128;
	uint8_t tail[128] = { 0 };

	if (n)
		memcpy(tail, rest, n);
	tail[n] = 0x80;
	for (size_t i = 0; i < 8; i++)
		tail[tail_len - 1 - i] = (uint8_t)(all * 8 >> (8 * i));
	compress(state, tail, tail_len / 64);
	for (size_t i = 0; i < 8; i++) {
		out[4 * i] = (uint8_t)(state[i] >> 24);
		out[4 * i + 1] = (uint8_t)(state[i] >> 16);
		out[4 * i + 2] = (uint8_t)(state[i] >> 8);
		out[4 * i + 3] = (uint8_t)state[i];
	}
}

static void hash_with_instructions(const void *data, size_t n,
				   uint8_t out[AB_SHA256_SIZE])
{
	const uint8_t *p = data;
	uint32_t state[8];
	size_t whole = n / 64;

	memcpy(state, first_state, sizeof(state));
	compress(state, p, whole);
	finish(state, whole ? p + whole * 64 : p, n % 64, n, out);
}

ab_sha256_fn ab_sha256_pick(void)
{
	return has_sha_instructions() ? hash_with_instructions :
					ab_sha256_portable;
}

/* In pieces. */

typedef struct pieces {
	uint32_t state[8];
	uint64_t all;
	uint8_t rest[64];
} pieces;

static pieces *pieces_of(ab_sha256_stream *s)
{
	_Static_assert(sizeof(pieces) <= sizeof(s->state), "it has room");
	return (pieces *)(void *)s->state;
}

static bool begin_pieces(ab_sha256_stream *s)
{
	pieces *p = pieces_of(s);

	if (s->fn != hash_with_instructions)
		return false;
	memcpy(p->state, first_state, sizeof(p->state));
	p->all = 0;
	return true;
}

static void add_pieces(ab_sha256_stream *s, const uint8_t *data, size_t n)
{
	pieces *p = pieces_of(s);
	size_t have = p->all % 64;

	p->all += n;
	if (have) {
		size_t take = n < 64 - have ? n : 64 - have;

		memcpy(p->rest + have, data, take);
		if (have + take < 64)
			return;
		compress(p->state, p->rest, 1);
		data += take;
		n -= take;
	}
	compress(p->state, data, n / 64);
	if (n % 64)
		memcpy(p->rest, data + n / 64 * 64, n % 64);
}

static void end_pieces(ab_sha256_stream *s, uint8_t out[AB_SHA256_SIZE])
{
	pieces *p = pieces_of(s);

	finish(p->state, p->rest, p->all % 64, p->all, out);
}

#else

ab_sha256_fn ab_sha256_pick(void)
{
	return ab_sha256_portable;
}

static bool begin_pieces(ab_sha256_stream *s)
{
	(void)s;
	return false;
}

static void add_pieces(ab_sha256_stream *s, const uint8_t *data, size_t n)
{
	(void)s;
	(void)data;
	(void)n;
}

static void end_pieces(ab_sha256_stream *s, uint8_t out[AB_SHA256_SIZE])
{
	(void)s;
	(void)out;
}

#endif

static crypto_hash_sha256_state *sodium_of(ab_sha256_stream *s)
{
	_Static_assert(sizeof(crypto_hash_sha256_state) <= sizeof(s->state),
		       "it has room");
	return (crypto_hash_sha256_state *)(void *)s->state;
}

void ab_sha256_begin(ab_sha256_stream *s, ab_sha256_fn fn)
{
	s->fn = fn;
	s->fast = begin_pieces(s);
	if (!s->fast)
		crypto_hash_sha256_init(sodium_of(s));
}

void ab_sha256_add(ab_sha256_stream *s, const void *p, size_t n)
{
	if (!n)
		return;
	if (s->fast)
		add_pieces(s, p, n);
	else
		crypto_hash_sha256_update(sodium_of(s), p, n);
}

void ab_sha256_end(ab_sha256_stream *s, uint8_t out[AB_SHA256_SIZE])
{
	if (s->fast)
		end_pieces(s, out);
	else
		crypto_hash_sha256_final(sodium_of(s), out);
}
