/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SHA-256 for those who hash much: verifying an audit log, every file of a
 * snapshot. libsodium's portable code reaches about 320 MB/s where the
 * processor's own SHA instructions reach 1.8 GB/s, and 3.3 with two messages
 * side by side, so they are used when present. The rounds only: padding and
 * dispatch are below, everything else is libsodium. Both give the same digest
 * (tests/unit/audit_internal.c compares them over every length to 300,
 * tests/unit/base_text_internal.c in pieces and side by side). Refuses
 * nothing. FIPS 180-4, hash.h.
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

#define SHA __attribute__((target("sha,sse4.1,ssse3")))
#define SHA_INLINE SHA static inline __attribute__((always_inline))
#define LANES 2

/* One message that is being hashed: what comes next, and its end. */
typedef struct lane {
	uint32_t state[8];
	const uint8_t *p;
	size_t blocks, tail_blocks;
	uint8_t tail[128];
	uint8_t *out;
} lane;

SHA_INLINE void load_state(const uint32_t state[8], __m128i *s0, __m128i *s1)
{
	__m128i t = _mm_shuffle_epi32(load(state), 0xb1);

	*s1 = _mm_shuffle_epi32(load(state + 4), 0x1b);
	*s0 = _mm_alignr_epi8(t, *s1, 8);
	*s1 = _mm_blend_epi16(*s1, t, 0xf0);
}

SHA_INLINE void store_state(uint32_t state[8], __m128i s0, __m128i s1)
{
	__m128i t = _mm_shuffle_epi32(s0, 0x1b);
	__m128i *to = (__m128i *)(void *)state;

	s1 = _mm_shuffle_epi32(s1, 0xb1);
	_mm_storeu_si128(to, _mm_blend_epi16(t, s1, 0xf0));
	_mm_storeu_si128(to + 1, _mm_alignr_epi8(s1, t, 8));
}

/* Four rounds of each lane; its schedule goes on. */
SHA_INLINE void rounds(size_t i, const size_t lanes, __m128i *s0, __m128i *s1,
		       __m128i m[LANES][4])
{
	const __m128i k = load(round_constants + 4 * i);
	__m128i w[LANES];

#pragma GCC unroll 2
	for (size_t j = 0; j < lanes; j++) {
		w[j] = _mm_add_epi32(m[j][i & 3], k);
		s1[j] = _mm_sha256rnds2_epu32(s1[j], s0[j], w[j]);
	}
#pragma GCC unroll 2
	for (size_t j = 0; j < lanes; j++) {
		w[j] = _mm_shuffle_epi32(w[j], 0x0e);
		s0[j] = _mm_sha256rnds2_epu32(s0[j], s1[j], w[j]);
		if (i < 12)
			m[j][i & 3] = SCHEDULE(m[j][i & 3], m[j][(i + 1) & 3],
					       m[j][(i + 2) & 3],
					       m[j][(i + 3) & 3]);
	}
}

/*
 * So many blocks of each lane; `lanes` is a constant where this is inlined.
 * A round has to wait for the one before, so another message's goes between:
 * two take hardly longer than one.
 */
SHA_INLINE void compress_lanes(lane *l, const size_t lanes, size_t blocks)
{
	const __m128i swap =
		_mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
	__m128i s0[LANES], s1[LANES], a[LANES], b[LANES], m[LANES][4];

#pragma GCC unroll 2
	for (size_t j = 0; j < lanes; j++)
		load_state(l[j].state, &s0[j], &s1[j]);
	for (; blocks; blocks--) {
#pragma GCC unroll 2
		for (size_t j = 0; j < lanes; j++) {
			a[j] = s0[j];
			b[j] = s1[j];
#pragma GCC unroll 4
			for (size_t i = 0; i < 4; i++)
				m[j][i] = _mm_shuffle_epi8(
					load(l[j].p + 16 * i), swap);
			l[j].p += 64;
		}
#pragma GCC unroll 16
		for (size_t i = 0; i < 16; i++)
			rounds(i, lanes, s0, s1, m);
#pragma GCC unroll 2
		for (size_t j = 0; j < lanes; j++) {
			s0[j] = _mm_add_epi32(s0[j], a[j]);
			s1[j] = _mm_add_epi32(s1[j], b[j]);
		}
	}
#pragma GCC unroll 2
	for (size_t j = 0; j < lanes; j++)
		store_state(l[j].state, s0[j], s1[j]);
}

SHA static void compress_one(lane *l, size_t blocks)
{
	compress_lanes(l, 1, blocks);
}

SHA static void compress_two(lane *l, size_t blocks)
{
	compress_lanes(l, 2, blocks);
}

static const uint32_t first_state[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

/* What is left over (under 64 bytes) and the padding. */
static void pad(lane *l, const uint8_t *rest, size_t n, uint64_t all)
{
	size_t len = n < 56 ? 64 : 128;

	memset(l->tail, 0, len);
	if (n)
		memcpy(l->tail, rest, n);
	l->tail[n] = 0x80;
	for (size_t i = 0; i < 8; i++)
		l->tail[len - 1 - i] = (uint8_t)(all * 8 >> (8 * i));
	l->tail_blocks = len / 64;
}

static void put_digest(const uint32_t state[8], uint8_t out[AB_SHA256_SIZE])
{
	for (size_t i = 0; i < 8; i++) {
		out[4 * i] = (uint8_t)(state[i] >> 24);
		out[4 * i + 1] = (uint8_t)(state[i] >> 16);
		out[4 * i + 2] = (uint8_t)(state[i] >> 8);
		out[4 * i + 3] = (uint8_t)state[i];
	}
}

static void lane_begin(lane *l, const ab_sha256_job *job)
{
	const uint8_t *p = job->p;

	memcpy(l->state, first_state, sizeof(l->state));
	l->p = p;
	l->blocks = job->n / 64;
	l->out = job->out;
	pad(l, job->n % 64 ? p + l->blocks * 64 : NULL, job->n % 64, job->n);
}

/* Its next blocks: of its message, the padding, or the next message. */
static bool lane_next(lane *l, const ab_sha256_job *jobs, size_t count,
		      size_t *next)
{
	while (!l->blocks) {
		if (l->tail_blocks) {
			l->p = l->tail;
			l->blocks = l->tail_blocks;
			l->tail_blocks = 0;
			continue;
		}
		if (l->out)
			put_digest(l->state, l->out);
		l->out = NULL;
		if (*next == count)
			return false;
		lane_begin(l, &jobs[(*next)++]);
	}
	return true;
}

static void hash_lanes(const ab_sha256_job *jobs, size_t count)
{
	lane l[LANES] = { 0 }, *last;
	size_t next = 0;
	bool has_first = lane_next(&l[0], jobs, count, &next);
	bool has_second = lane_next(&l[1], jobs, count, &next);

	while (has_first && has_second) {
		size_t n = l[0].blocks < l[1].blocks ? l[0].blocks
						     : l[1].blocks;

		compress_two(l, n);
		l[0].blocks -= n;
		l[1].blocks -= n;
		has_first = lane_next(&l[0], jobs, count, &next);
		has_second = lane_next(&l[1], jobs, count, &next);
	}
	last = has_first ? &l[0] : &l[1];
	while (lane_next(last, jobs, count, &next)) {
		compress_one(last, last->blocks);
		last->blocks = 0;
	}
}

static void hash_with_instructions(const void *data, size_t n,
				   uint8_t out[AB_SHA256_SIZE])
{
	const ab_sha256_job job = { data, n, out };
	lane l;

	lane_begin(&l, &job);
	compress_one(&l, l.blocks);
	l.p = l.tail;
	compress_one(&l, l.tail_blocks);
	put_digest(l.state, out);
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

static void compress(uint32_t state[8], const uint8_t *p, size_t blocks)
{
	lane l = { .p = p };

	if (!blocks)
		return;
	memcpy(l.state, state, sizeof(l.state));
	compress_one(&l, blocks);
	memcpy(state, l.state, sizeof(l.state));
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
	lane l = { 0 };

	pad(&l, p->rest, p->all % 64, p->all);
	compress(p->state, l.tail, l.tail_blocks);
	put_digest(p->state, out);
}

static bool hash_many(ab_sha256_fn fn, const ab_sha256_job *jobs,
		      size_t count)
{
	if (fn != hash_with_instructions)
		return false;
	hash_lanes(jobs, count);
	return true;
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

static bool hash_many(ab_sha256_fn fn, const ab_sha256_job *jobs,
		      size_t count)
{
	(void)fn;
	(void)jobs;
	(void)count;
	return false;
}

#endif

void ab_sha256_many(ab_sha256_fn fn, const ab_sha256_job *jobs, size_t count)
{
	if (hash_many(fn, jobs, count))
		return;
	for (size_t i = 0; i < count; i++)
		fn(jobs[i].p, jobs[i].n, jobs[i].out);
}

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
