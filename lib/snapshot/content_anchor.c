/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The prefilter: where in the bytes may a rule begin? From each anchor the
 * three bytes that are rarest in source code are taken (its print). One pass
 * finds the prints: with AVX2 by looking up the nibbles of 32 places at once
 * in masks of eight buckets of prints, otherwise by a bitmap of the first two
 * bytes. Whatever passes is compared with the prints themselves, so both give
 * the same places.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_AVX2 1
#include <cpuid.h>
#include <immintrin.h>
#endif

#include "base/attr.h"

/* How many of 65536 bytes of C, Python, Perl and JavaScript are this one. */
static const uint16_t frequency[256] = {
	1, 1, 1, 1, 1, 1, 1, 1, 1, 253, 1990, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	14400, 43, 410, 290, 138, 36, 57, 598,
	712, 712, 293, 57, 838, 323, 664, 252,
	574, 393, 320, 207, 172, 178, 182, 145,
	166, 167, 392, 232, 87, 433, 217, 24,
	41, 485, 180, 371, 236, 570, 211, 145,
	111, 418, 20, 70, 370, 183, 365, 311,
	264, 22, 336, 465, 485, 146, 71, 61, 95, 69, 22, 145, 131, 145, 10,
	1626,
	68, 2122, 452, 1201, 1199, 3951, 961, 540,
	772, 2127, 60, 293, 1399, 797, 2160, 1943,
	1041, 74, 2183, 2287, 2844, 916, 282, 293,
	339, 495, 67, 141, 50, 140, 14, 1,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	1, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	1, 1, 5, 1, 2, 9, 10, 9, 8, 7, 1, 2, 2, 1, 1, 1,
	2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
};

/* No print of more spellings than this. */
#define SPELLINGS 160

/* The bytes that may stand at one place of an anchor. */
typedef struct place {
	uint8_t bytes[256];
	size_t count;
	uint32_t weight;
} place;

static void place_make(place *at, char class, uint8_t literal, bool fold)
{
	at->count = 0;
	at->weight = 0;
	for (unsigned c = 0; c < 256; c++) {
		bool is_letter = literal >= 'a' && literal <= 'z';

		if (class ? !ab_content_class(class, (uint8_t)c) :
			    c != literal && !(fold && is_letter &&
					      c + 'a' - 'A' == literal))
			continue;
		at->bytes[at->count++] = (uint8_t)c;
		at->weight += frequency[c];
	}
}

/* The places of a row's anchor; how many. */
static size_t places(const ab_content_row *row, place *at)
{
	const char *shape = row->shape;
	size_t n = 0;

	while (*shape && n < AB_CONTENT_ANCHOR) {
		uint8_t literal;
		size_t min, max;
		char class;

		if (*shape == '!') {
			shape++;
			continue;
		}
		shape = ab_content_step(shape, &class, &literal, &min, &max);
		for (size_t i = 0; i < min && n < AB_CONTENT_ANCHOR; i++)
			place_make(&at[n++], class, literal,
				   row->flags & AB_ROW_FOLD);
		if (min != max)
			break;
	}
	return n;
}

/* Which three places in a row are rarest together. */
static size_t rarest(const place *at, size_t n)
{
	uint64_t least = UINT64_MAX;
	size_t best = 0;

	for (size_t i = 0; i + 3 <= n; i++) {
		uint64_t weight = (uint64_t)at[i].weight * at[i + 1].weight *
				  at[i + 2].weight;

		if (at[i].count * at[i + 1].count * at[i + 2].count <=
			    SPELLINGS &&
		    weight < least) {
			least = weight;
			best = i;
		}
	}
	return best;
}

static void add_print(ab_content_anchors *a, uint32_t key, size_t row,
		      size_t offset)
{
	ab_content_print *print = &a->prints[a->count];
	uint16_t *head = &a->heads[ab_content_head(key)];
	uint32_t pair = key & 0xffff;

	if (a->count == AB_CONTENT_PRINTS)
		return;
	print->key = key;
	print->row = (uint16_t)row;
	print->offset = (uint8_t)offset;
	/* behind the others: rows answer in the order of the table */
	while (*head)
		head = &a->prints[*head - 1].next;
	*head = (uint16_t)++a->count;
	a->pairs[pair >> 6] |= (uint64_t)1 << (pair & 63);
}

/* One bucket's masks: which low and high nibbles it has at three places. */
typedef struct bucket {
	uint16_t low[3], high[3];
} bucket;

static void widen(bucket *b, const place *at)
{
	for (size_t i = 0; i < 3; i++) {
		for (size_t k = 0; k < at[i].count; k++) {
			b->low[i] |= (uint16_t)(1u << (at[i].bytes[k] & 15));
			b->high[i] |= (uint16_t)(1u << (at[i].bytes[k] >> 4));
		}
	}
}

/* How often text passes the masks, in no unit. */
static uint64_t leak(const bucket *b)
{
	uint64_t all = 1;

	for (size_t i = 0; i < 3; i++) {
		uint64_t sum = 0;

		for (unsigned c = 0; c < 256; c++) {
			if ((b->low[i] >> (c & 15) & 1) &&
			    (b->high[i] >> (c >> 4) & 1))
				sum += frequency[c];
		}
		all *= sum;
	}
	return all;
}

/* Into the bucket whose masks suffer least. */
static void add_bucket(ab_content_anchors *a, bucket *buckets, const place *at)
{
	uint64_t least = UINT64_MAX;
	bucket wide = { { 0 }, { 0 } };
	size_t best = 0;

	for (size_t i = 0; i < 8; i++) {
		bucket tried = buckets[i];
		uint64_t before = leak(&tried), more;

		widen(&tried, at);
		more = leak(&tried) - before;
		if (more < least) {
			least = more;
			best = i;
			wide = tried;
		}
	}
	buckets[best] = wide;
	for (size_t i = 0; i < 3; i++) {
		for (size_t k = 0; k < 16; k++) {
			if (wide.low[i] >> k & 1)
				a->low[i][k] |= (uint8_t)(1u << best);
			if (wide.high[i] >> k & 1)
				a->high[i][k] |= (uint8_t)(1u << best);
		}
	}
}

static void add_row(ab_content_anchors *a, bucket *buckets, size_t row)
{
	place at[AB_CONTENT_ANCHOR];
	size_t n = places(&ab_content_rows[row], at);
	size_t offset = rarest(at, n);
	const place *p = at + offset;

	add_bucket(a, buckets, p);
	for (size_t i = 0; i < p[0].count; i++) {
		for (size_t j = 0; j < p[1].count; j++) {
			for (size_t k = 0; k < p[2].count; k++)
				add_print(a,
					  (uint32_t)(p[0].bytes[i] |
						     p[1].bytes[j] << 8 |
						     p[2].bytes[k] << 16),
					  row, offset);
		}
	}
}

void ab_content_anchors_make(ab_content_anchors *a)
{
	bucket buckets[8];

	memset(a, 0, sizeof(*a));
	memset(buckets, 0, sizeof(buckets));
	for (size_t i = 0; i < ab_content_row_count; i++)
		add_row(a, buckets, i);
}

static inline bool is_print(const ab_content_anchors *a, const uint8_t *p)
{
	uint32_t key = ab_content_key(p);
	size_t i = a->heads[ab_content_head(key)];

	for (; i; i = a->prints[i - 1].next) {
		if (a->prints[i - 1].key == key)
			return true;
	}
	return false;
}

size_t ab_content_find_portable(const ab_content_anchors *a, const uint8_t *p,
				size_t *from, size_t to, uint32_t *out,
				size_t max)
{
	size_t n = 0, i = *from;

	for (; i < to && n < max; i++) {
		unsigned pair = (unsigned)p[i] | (unsigned)p[i + 1] << 8;

		if ((a->pairs[pair >> 6] >> (pair & 63) & 1) &&
		    is_print(a, p + i))
			out[n++] = (uint32_t)i;
	}
	*from = i;
	return n;
}

#ifdef HAVE_AVX2

#define AVX2 __attribute__((target("avx2")))

typedef struct masks {
	__m256i low[3], high[3];
} masks;

AVX2 static inline __m256i both(const uint8_t *p)
{
	return _mm256_broadcastsi128_si256(
		_mm_loadu_si128((const __m128i *)(const void *)p));
}

/* Which of the 32 places from p pass the masks. */
AVX2 static inline uint32_t pass(const masks *m, const uint8_t *p)
{
	const __m256i nibble = _mm256_set1_epi8(15);
	__m256i all = _mm256_set1_epi8(-1), none = _mm256_setzero_si256();

	for (size_t i = 0; i < 3; i++) {
		__m256i v = _mm256_loadu_si256(
			(const __m256i *)(const void *)(p + i));
		__m256i low = _mm256_and_si256(v, nibble);
		__m256i high = _mm256_and_si256(_mm256_srli_epi16(v, 4),
						nibble);

		all = _mm256_and_si256(
			all, _mm256_and_si256(
				     _mm256_shuffle_epi8(m->low[i], low),
				     _mm256_shuffle_epi8(m->high[i], high)));
	}
	return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(all, none));
}

AVX2 static size_t find_avx2(const ab_content_anchors *a, const uint8_t *p,
			     size_t *from, size_t to, uint32_t *out,
			     size_t max)
{
	size_t n = 0, i = *from;
	masks m;

	for (size_t k = 0; k < 3; k++) {
		m.low[k] = both(a->low[k]);
		m.high[k] = both(a->high[k]);
	}
	/* a block has 32 places at most: all of them fit, or it waits */
	for (; i < to && n + 32 <= max; i += 32) {
		uint32_t bits = pass(&m, p + i);

		if (to - i < 32)
			bits &= (1u << (to - i)) - 1;
		for (; bits; bits &= bits - 1) {
			size_t at = i + (size_t)__builtin_ctz(bits);

			if (is_print(a, p + at))
				out[n++] = (uint32_t)at;
		}
	}
	*from = i < to ? i : to;
	return n;
}

/* The instructions are there and the system saves their registers. */
__attribute__((target("xsave"))) static bool has_avx2(void)
{
	const unsigned saved = 1u << 27 | 1u << 28; /* OSXSAVE, AVX */
	unsigned a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & saved) != saved ||
	    (_xgetbv(0) & 6) != 6)
		return false;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1u << 5);
}

#endif

ab_content_find ab_content_find_best(void)
{
#ifdef HAVE_AVX2
	if (has_avx2())
		return find_avx2;
#endif
	return ab_content_find_portable;
}
