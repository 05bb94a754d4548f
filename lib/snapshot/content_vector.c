/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The prefilter for many places at once. The prints (content_anchor.c) are in
 * 32 buckets, and masks say of each byte in which buckets it may stand at the
 * first, second, third and fourth place: what is in one bucket four times is
 * compared with the prints themselves. With AVX2 a byte's two nibbles are
 * looked up, so buckets are chosen whose nibbles go well together; AVX-512
 * VBMI looks up the byte itself, so less passes, in buckets of its own. Reads
 * up to AB_CONTENT_PAD bytes behind, names no place there.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_VECTORS 1
#include <cpuid.h>
#include <immintrin.h>
#endif

#include "base/attr.h"

#define PRINT AB_CONTENT_PRINT
#define GROUPS AB_CONTENT_GROUPS
#define BUCKETS AB_CONTENT_BUCKETS

_Static_assert(AB_CONTENT_PAD >= 64 + PRINT, "a vector and a print behind it");

/* --- buckets of nibbles --------------------------------------------------- */

static void sums_make(ab_content_buckets *b)
{
	for (unsigned h = 0; h < 16; h++) {
		uint32_t *of = b->sums[h >> 1][h & 1];

		of[0] = 0;
		for (unsigned set = 1; set < 256; set++)
			of[set] = of[set & (set - 1)] +
				  ab_content_frequency[h << 3 |
					(unsigned)__builtin_ctz(set)];
	}
}

static void widen(ab_nibble_bucket *b, const ab_content_place *at)
{
	for (size_t i = 0; i < PRINT; i++) {
		const ab_content_place *p = &at[i];

		for (unsigned c = ab_place_next(p, 0); c < 128;
		     c = ab_place_next(p, c + 1)) {
			b->low[i] |= (uint16_t)(1u << (c & 15));
			b->high[i] |= (uint16_t)(1u << (c >> 4));
		}
	}
}

/* How often text passes the masks, in no unit. */
static uint64_t leak(const ab_content_buckets *all, const ab_nibble_bucket *b)
{
	uint64_t product = 1;

	for (size_t i = 0; i < PRINT; i++) {
		uint64_t sum = 0;

		for (unsigned high = b->high[i]; high; high &= high - 1) {
			int h = __builtin_ctz(high);

			sum += all->sums[h][0][b->low[i] & 255] +
			       all->sums[h][1][b->low[i] >> 8];
		}
		product *= sum;
	}
	return product;
}

/* Into the bucket whose masks suffer least; its number. */
static size_t add_nibbles(ab_content_buckets *b, const ab_content_place *at)
{
	ab_nibble_bucket print = { { 0 }, { 0 }, 0 }, wide = print;
	uint64_t least = UINT64_MAX;
	size_t best = 0;

	widen(&print, at);
	/* in one that has it all, it is free */
	for (size_t i = 0; i < BUCKETS && least; i++) {
		const ab_nibble_bucket *was = &b->nibbles[i];
		ab_nibble_bucket tried = *was;

		for (size_t k = 0; k < PRINT; k++) {
			tried.low[k] |= print.low[k];
			tried.high[k] |= print.high[k];
		}
		if (memcmp(tried.low, was->low, sizeof(tried.low)) ||
		    memcmp(tried.high, was->high, sizeof(tried.high)))
			tried.leak = leak(b, &tried);
		if (tried.leak - was->leak < least) {
			least = tried.leak - was->leak;
			best = i;
			wide = tried;
		}
	}
	b->nibbles[best] = wide;
	return best;
}

static void put_nibbles(ab_content_anchors *a, const ab_nibble_bucket *b,
			size_t number)
{
	uint8_t bit = (uint8_t)(1u << number % 8);

	for (size_t i = 0; i < PRINT; i++) {
		for (size_t k = 0; k < 16; k++) {
			if (b->low[i] >> k & 1)
				a->low[number / 8][i][k] |= bit;
			if (b->high[i] >> k & 1)
				a->high[number / 8][i][k] |= bit;
		}
	}
}

/* --- buckets of bytes ----------------------------------------------------- */

/* What this bucket would be with the print as well. */
static ab_byte_bucket with(const ab_byte_bucket *b, const ab_content_place *at)
{
	ab_byte_bucket wide = *b;

	wide.leak = 1;
	for (size_t i = 0; i < PRINT; i++) {
		for (unsigned c = ab_place_next(&at[i], 0); c < 128;
		     c = ab_place_next(&at[i], c + 1)) {
			if (!(wide.set[i][c >> 6] >> (c & 63) & 1))
				wide.sums[i] += ab_content_frequency[c];
		}
		wide.set[i][0] |= at[i].set[0];
		wide.set[i][1] |= at[i].set[1];
		wide.leak *= wide.sums[i];
	}
	return wide;
}

static size_t add_bytes(ab_content_buckets *b, const ab_content_place *at)
{
	uint64_t least = UINT64_MAX;
	ab_byte_bucket best_wide = b->bytes[0];
	size_t best = 0;

	/* in one that has it all, it is free */
	for (size_t i = 0; i < BUCKETS && least; i++) {
		ab_byte_bucket wide = with(&b->bytes[i], at);

		if (wide.leak - b->bytes[i].leak < least) {
			least = wide.leak - b->bytes[i].leak;
			best = i;
			best_wide = wide;
		}
	}
	b->bytes[best] = best_wide;
	return best;
}

static void put_bytes(ab_content_anchors *a, const ab_content_place *at,
		      size_t number)
{
	uint8_t bit = (uint8_t)(1u << number % 8);

	for (size_t i = 0; i < PRINT; i++) {
		for (unsigned c = ab_place_next(&at[i], 0); c < 128;
		     c = ab_place_next(&at[i], c + 1))
			a->bytes[number / 8][i][c] |= bit;
	}
}

void ab_content_buckets_make(ab_content_buckets *b)
{
	memset(b, 0, sizeof(*b));
	sums_make(b);
}

void ab_content_buckets_add(ab_content_buckets *b, ab_content_anchors *a,
			    const ab_content_place *print)
{
	size_t i = add_nibbles(b, print);

	put_nibbles(a, &b->nibbles[i], i);
	put_bytes(a, print, add_bytes(b, print));
}

/* --- looking -------------------------------------------------------------- */

#ifdef HAVE_VECTORS

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi")))

typedef struct nibble_masks {
	__m256i low[GROUPS][PRINT], high[GROUPS][PRINT];
} nibble_masks;

AVX2 static inline __m256i both(const uint8_t *p)
{
	return _mm256_broadcastsi128_si256(
		_mm_loadu_si128((const __m128i *)(const void *)p));
}

/* Which of the 32 places from p pass the masks. */
AVX2 static inline uint32_t pass_nibbles(const nibble_masks *m,
					 const uint8_t *p)
{
	const __m256i nibble = _mm256_set1_epi8(15);
	__m256i any = _mm256_setzero_si256(), low[PRINT], high[PRINT];

#pragma GCC unroll 8
	for (size_t i = 0; i < PRINT; i++) {
		__m256i v = _mm256_loadu_si256(
			(const __m256i *)(const void *)(p + i));

		low[i] = _mm256_and_si256(v, nibble);
		high[i] = _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble);
	}
#pragma GCC unroll 8
	for (size_t g = 0; g < GROUPS; g++) {
		__m256i all = _mm256_set1_epi8(-1);

#pragma GCC unroll 8
		for (size_t i = 0; i < PRINT; i++)
			all = _mm256_and_si256(
				all,
				_mm256_and_si256(
					_mm256_shuffle_epi8(m->low[g][i],
							    low[i]),
					_mm256_shuffle_epi8(m->high[g][i],
							    high[i])));
		any = _mm256_or_si256(any, all);
		/* group by group, or the compiler runs out of registers */
		__asm__ volatile("" : : : "memory");
	}
	return ~(uint32_t)_mm256_movemask_epi8(
		_mm256_cmpeq_epi8(any, _mm256_setzero_si256()));
}

AVX2 static size_t find_avx2(const ab_content_anchors *a, const uint8_t *p,
			     size_t *from, size_t to, uint32_t *out,
			     size_t max)
{
	size_t n = 0, i = *from;
	nibble_masks m;

	for (size_t g = 0; g < GROUPS; g++) {
		for (size_t k = 0; k < PRINT; k++) {
			m.low[g][k] = both(a->low[g][k]);
			m.high[g][k] = both(a->high[g][k]);
		}
	}
	/* a block has 32 places at most: all of them fit, or it waits */
	for (; i < to && n + 32 <= max; i += 32) {
		uint32_t bits = pass_nibbles(&m, p + i);

		if (to - i < 32)
			bits &= (1u << (to - i)) - 1;
		for (; bits; bits &= bits - 1) {
			size_t at = i + (size_t)__builtin_ctz(bits);

			if (ab_content_has_pairs(a, p + at) &&
			    ab_content_may_begin(a, p + at))
				out[n++] = (uint32_t)at;
		}
	}
	*from = i < to ? i : to;
	return n;
}

typedef struct byte_masks {
	__m512i low[GROUPS][PRINT], high[GROUPS][PRINT];
} byte_masks;

/* Which of the 64 places from p pass the masks. */
AVX512 static inline uint64_t pass_bytes(const byte_masks *m, const uint8_t *p)
{
	__m512i any = _mm512_setzero_si512(), v[PRINT], top;

#pragma GCC unroll 8
	for (size_t i = 0; i < PRINT; i++)
		v[i] = _mm512_loadu_si512(p + i);
#pragma GCC unroll 8
	for (size_t g = 0; g < GROUPS; g++) {
		__m512i all = _mm512_set1_epi8(-1);

#pragma GCC unroll 8
		for (size_t i = 0; i < PRINT; i++)
			all = _mm512_and_si512(
				all, _mm512_permutex2var_epi8(
					     m->low[g][i], v[i],
					     m->high[g][i]));
		any = _mm512_or_si512(any, all);
	}
	/* the look-up takes seven bits; no print has a byte with the eighth */
	top = _mm512_or_si512(_mm512_or_si512(v[0], v[1]),
			      _mm512_or_si512(v[2], v[3]));
	return _mm512_test_epi8_mask(any, any) & ~_mm512_movepi8_mask(top);
}

AVX512 static size_t find_avx512(const ab_content_anchors *a,
				 const uint8_t *p, size_t *from, size_t to,
				 uint32_t *out, size_t max)
{
	size_t n = 0, i = *from;
	byte_masks m;

	for (size_t g = 0; g < GROUPS; g++) {
		for (size_t k = 0; k < PRINT; k++) {
			m.low[g][k] = _mm512_loadu_si512(a->bytes[g][k]);
			m.high[g][k] = _mm512_loadu_si512(a->bytes[g][k] + 64);
		}
	}
	/* all places of a block fit, or it waits */
	for (; i < to && n + 64 <= max; i += 64) {
		uint64_t bits = pass_bytes(&m, p + i);

		if (to - i < 64)
			bits &= (UINT64_C(1) << (to - i)) - 1;
		for (; bits; bits &= bits - 1) {
			size_t at = i + (size_t)__builtin_ctzll(bits);

			if (ab_content_has_pairs(a, p + at) &&
			    ab_content_may_begin(a, p + at))
				out[n++] = (uint32_t)at;
		}
	}
	*from = i < to ? i : to;
	return n;
}

/* The instructions are there and the system saves their registers. */
__attribute__((target("xsave"))) static void ask(bool *avx2, bool *avx512)
{
	const unsigned saved = 1u << 27 | 1u << 28; /* OSXSAVE, AVX */
	const unsigned wide = 1u << 16 | 1u << 30;  /* AVX512F, AVX512BW */
	unsigned a, b, c, d;
	uint64_t states;

	*avx2 = *avx512 = false;
	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & saved) != saved)
		return;
	states = (uint64_t)_xgetbv(0);
	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
		return;
	*avx2 = (states & 0x6) == 0x6 && (b & 1u << 5);
	*avx512 = (states & 0xe6) == 0xe6 && (b & wide) == wide &&
		  (c & 1u << 1); /* AVX512_VBMI */
}

#endif

ab_content_find ab_content_find_nth(size_t i)
{
	ab_content_find finds[4] = { NULL };
	size_t n = 0;
#ifdef HAVE_VECTORS
	bool avx2, avx512;

	ask(&avx2, &avx512);
	if (avx512)
		finds[n++] = find_avx512;
	if (avx2)
		finds[n++] = find_avx2;
#endif
	finds[n++] = ab_content_find_portable;
	return i < n ? finds[i] : NULL;
}
