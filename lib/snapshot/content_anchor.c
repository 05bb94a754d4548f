/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The prefilter: where in the bytes may a rule begin? From each anchor the
 * four bytes in a row that are rarest in source code are taken (its print).
 * One pass finds the prints: with AVX2 by looking up the nibbles of 32 places
 * at once in masks of 24 buckets of prints, otherwise by a table of pairs of
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
#define PRINT AB_CONTENT_PRINT
#define GROUPS AB_CONTENT_GROUPS
#define BUCKETS ((size_t)8 * GROUPS)

/* What may stand at one place of an anchor. */
typedef struct place {
	uint64_t set[4];
	size_t count;
	uint32_t weight;
} place;

/* The first byte of a place that is not below c; 128: none. */
static unsigned next_of(const place *at, unsigned c)
{
	for (; c < 128; c = (c | 63) + 1) {
		uint64_t set = at->set[c >> 6] >> (c & 63);

		if (set)
			return c + (unsigned)__builtin_ctzll(set);
	}
	return c;
}

static void place_add(place *at, unsigned c)
{
	at->set[c >> 6] |= (uint64_t)1 << (c & 63);
	at->count++;
	at->weight += frequency[c];
}

static void place_make(place *at, bool fold, char class, uint8_t literal)
{
	memset(at, 0, sizeof(*at));
	if (!class) {
		place_add(at, literal);
		if (fold && literal >= 'a' && literal <= 'z')
			place_add(at, (unsigned)literal - 'a' + 'A');
		return;
	}
	/* no class has a byte beyond ASCII */
	for (unsigned c = 0; c < 128; c++) {
		if (ab_content_class(class, (uint8_t)c))
			place_add(at, c);
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
		for (size_t i = 0; i < min && n < AB_CONTENT_ANCHOR; i++) {
			if (i)
				at[n] = at[n - 1];
			else
				place_make(&at[n], row->flags & AB_ROW_FOLD,
					   class, literal);
			n++;
		}
		if (min != max)
			break;
	}
	return n;
}

/* Which places in a row are rarest together: PRINT of them. */
static size_t rarest(const place *at, size_t n)
{
	uint64_t least = UINT64_MAX;
	size_t best = 0;

	for (size_t i = 0; i + PRINT <= n; i++) {
		uint64_t weight = 1;

		for (size_t k = 0; k < PRINT; k++)
			weight *= at[i + k].weight;
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
		      size_t offset, const place *last)
{
	ab_content_print *print = &a->prints[a->count];
	uint16_t *head = &a->heads[ab_content_head(key)];

	if (a->count == AB_CONTENT_PRINTS)
		return;
	print->key = key;
	memcpy(print->last, last->set, sizeof(print->last));
	print->row = (uint16_t)row;
	print->offset = (uint8_t)offset;
	/* behind the others: rows answer in the order of the table */
	while (*head)
		head = &a->prints[*head - 1].next;
	*head = (uint16_t)++a->count;
	a->pairs[key & 0xffff] |= 1;
	a->pairs[key >> 8] |= 2;
	for (unsigned c = next_of(last, 0); c < 128; c = next_of(last, c + 1))
		a->pairs[key >> 16 | c << 8] |= 4;
}

/* One bucket's masks: which low and high nibbles it has at each place. */
typedef struct bucket {
	uint16_t low[PRINT], high[PRINT];
	uint64_t leak;
} bucket;

static void widen(bucket *b, const place *at)
{
	for (size_t i = 0; i < PRINT; i++) {
		const place *p = &at[i];

		for (unsigned c = next_of(p, 0); c < 128;
		     c = next_of(p, c + 1)) {
			b->low[i] |= (uint16_t)(1u << (c & 15));
			b->high[i] |= (uint16_t)(1u << (c >> 4));
		}
	}
}

/*
 * For each high nibble: how frequent are the bytes with one of these low
 * nibbles, 0 to 7 and 8 to 15?
 */
typedef struct sums {
	uint32_t of[8][2][256];
} sums;

static void sums_make(sums *s)
{
	for (unsigned h = 0; h < 16; h++) {
		uint32_t *of = s->of[h >> 1][h & 1];

		of[0] = 0;
		for (unsigned set = 1; set < 256; set++)
			of[set] = of[set & (set - 1)] +
				  frequency[h << 3 |
					    (unsigned)__builtin_ctz(set)];
	}
}

/* How often text passes the masks, in no unit. */
static uint64_t leak(const sums *s, const bucket *b)
{
	uint64_t all = 1;

	for (size_t i = 0; i < PRINT; i++) {
		uint64_t sum = 0;

		for (unsigned high = b->high[i]; high; high &= high - 1) {
			int h = __builtin_ctz(high);

			sum += s->of[h][0][b->low[i] & 255] +
			       s->of[h][1][b->low[i] >> 8];
		}
		all *= sum;
	}
	return all;
}

/* Into the bucket whose masks suffer least. */
static void add_bucket(ab_content_anchors *a, const sums *s, bucket *buckets,
		       const place *at)
{
	uint64_t least = UINT64_MAX;
	bucket print = { { 0 }, { 0 }, 0 }, wide = print;
	size_t best = 0, group;
	uint8_t bit;

	widen(&print, at);
	for (size_t i = 0; i < BUCKETS; i++) {
		bucket tried = buckets[i];
		uint64_t more;

		for (size_t k = 0; k < PRINT; k++) {
			tried.low[k] |= print.low[k];
			tried.high[k] |= print.high[k];
		}
		if (memcmp(tried.low, buckets[i].low, sizeof(tried.low)) ||
		    memcmp(tried.high, buckets[i].high, sizeof(tried.high)))
			tried.leak = leak(s, &tried);
		more = tried.leak - buckets[i].leak;
		if (more < least) {
			least = more;
			best = i;
			wide = tried;
		}
	}
	buckets[best] = wide;
	group = best / 8;
	bit = (uint8_t)(1u << best % 8);
	for (size_t i = 0; i < PRINT; i++) {
		for (size_t k = 0; k < 16; k++) {
			if (wide.low[i] >> k & 1)
				a->low[group][i][k] |= bit;
			if (wide.high[i] >> k & 1)
				a->high[group][i][k] |= bit;
		}
	}
}

/* All that begin with the byte x. */
static void add_prints(ab_content_anchors *a, unsigned x, const place *p,
		       size_t row, size_t offset)
{
	unsigned y, z;

	for (y = next_of(&p[1], 0); y < 128; y = next_of(&p[1], y + 1)) {
		for (z = next_of(&p[2], 0); z < 128; z = next_of(&p[2], z + 1))
			add_print(a, x | y << 8 | z << 16, row, offset, &p[3]);
	}
}

static void add_row(ab_content_anchors *a, const sums *s, bucket *buckets,
		    size_t row)
{
	place at[AB_CONTENT_ANCHOR];
	size_t n = places(&ab_content_rows[row], at);
	size_t offset = rarest(at, n);
	const place *p = at + offset;

	add_bucket(a, s, buckets, p);
	for (unsigned x = next_of(&p[0], 0); x < 128; x = next_of(&p[0], x + 1))
		add_prints(a, x, p, row, offset);
}

void ab_content_anchors_make(ab_content_anchors *a)
{
	bucket buckets[BUCKETS];
	sums s;

	sums_make(&s);
	memset(a, 0, sizeof(*a));
	memset(buckets, 0, sizeof(buckets));
	for (size_t i = 0; i < ab_content_row_count; i++)
		add_row(a, &s, buckets, i);
}

static inline bool is_print(const ab_content_anchors *a, const uint8_t *p)
{
	uint32_t key = ab_content_key(p);
	size_t i = a->heads[ab_content_head(key)];

	for (; i; i = a->prints[i - 1].next) {
		if (ab_content_is_print(&a->prints[i - 1], key, p[3]))
			return true;
	}
	return false;
}

size_t ab_content_find_portable(const ab_content_anchors *a, const uint8_t *p,
				size_t *from, size_t to, uint32_t *out,
				size_t max)
{
	size_t n = 0, i = *from;
	unsigned x = a->pairs[p[i] | p[i + 1] << 8];
	unsigned y = a->pairs[p[i + 1] | p[i + 2] << 8];

	for (; i < to && n < max; i++) {
		unsigned z = a->pairs[p[i + 2] | p[i + 3] << 8];

		if ((x & y >> 1 & z >> 2) && is_print(a, p + i))
			out[n++] = (uint32_t)i;
		x = y;
		y = z;
	}
	*from = i;
	return n;
}

#ifdef HAVE_AVX2

#define AVX2 __attribute__((target("avx2")))

typedef struct masks {
	__m256i low[GROUPS][PRINT], high[GROUPS][PRINT];
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
	masks m;

	for (size_t g = 0; g < GROUPS; g++) {
		for (size_t k = 0; k < PRINT; k++) {
			m.low[g][k] = both(a->low[g][k]);
			m.high[g][k] = both(a->high[g][k]);
		}
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
