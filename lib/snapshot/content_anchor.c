/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The prefilter: where in the bytes may a rule begin? From each anchor the
 * four bytes in a row that are rarest in source code are taken (its print).
 * One pass finds the prints, here by a table of pairs of bytes, and many
 * places at once in content_vector.c. Whatever passes is compared with the
 * prints themselves, so all give the same places.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"

/* How many of 65536 bytes of C, Python, Perl and JavaScript are this one. */
const uint16_t ab_content_frequency[256] = {
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
/* How much more often a common piece of words is there than its bytes say. */
#define COMMON 64
#define PRINT AB_CONTENT_PRINT
/* Places of a row that are looked at for one more that has to fit. */
#define PROBED ((size_t)48)
_Static_assert(AB_CONTENT_PAD >= 64 + PROBED, "of a vector's last place");

typedef ab_content_place place;

static void place_add(place *at, unsigned c)
{
	at->set[c >> 6] |= (uint64_t)1 << (c & 63);
	at->count++;
	at->weight += ab_content_frequency[c];
}

/* The places of classes that were met, which rows have again and again. */
typedef struct classes {
	place of[128];
} classes;

static void place_make(classes *known, place *at, bool fold, char class,
		       uint8_t literal)
{
	place *all = &known->of[class & 127];

	if (!class) {
		memset(at, 0, sizeof(*at));
		place_add(at, literal);
		if (fold && literal >= 'a' && literal <= 'z')
			place_add(at, (unsigned)literal - 'a' + 'A');
		return;
	}
	/* no class has a byte beyond ASCII */
	for (unsigned c = all->count ? 128 : 0; c < 128; c++) {
		if (ab_content_class(class, (uint8_t)c))
			place_add(all, c);
	}
	*at = *all;
}

/* Up to `most` places with which a row begins; how many. */
static size_t places(classes *known, const ab_content_row *row, place *at,
		     size_t most)
{
	const char *shape = row->shape;
	size_t n = 0;

	while (*shape && n < most) {
		uint8_t literal;
		size_t min, max;
		char class;

		if (*shape == '!') {
			shape++;
			continue;
		}
		shape = ab_content_step(shape, &class, &literal, &min, &max);
		for (size_t i = 0; i < min && n < most; i++) {
			if (i)
				at[n] = at[n - 1];
			else
				place_make(known, &at[n],
					   row->flags & AB_ROW_FOLD, class,
					   literal);
			n++;
		}
		if (min != max)
			break;
	}
	return n;
}

/* What source code has in many words: bypass, password, keyword, record. */
static bool is_common(const place *at)
{
	static const char pieces[][PRINT + 1] = { "pass", "word", "cord" };

	for (size_t i = 0; i < AB_ARRAY_LEN(pieces); i++) {
		size_t k = 0;

		while (k < PRINT && at[k].count <= 2 &&
		       ab_place_next(&at[k], (unsigned)pieces[i][k]) ==
			       (unsigned)pieces[i][k])
			k++;
		if (k == PRINT)
			return true;
	}
	return false;
}

/* Which places in a row are rarest together: PRINT of them. */
static size_t rarest(const place *at, size_t n, uint64_t *weight_of)
{
	uint64_t least = UINT64_MAX;
	size_t best = 0;

	for (size_t i = 0; i + PRINT <= n; i++) {
		uint64_t weight = 1;

		for (size_t k = 0; k < PRINT; k++)
			weight *= at[i + k].weight;
		if (is_common(at + i))
			weight *= COMMON;
		if (at[i].count * at[i + 1].count * at[i + 2].count <=
			    SPELLINGS &&
		    weight < least) {
			least = weight;
			best = i;
		}
	}
	*weight_of = least;
	return best;
}

/* Up to PROBED places of a row, and which of them its print begins at. */
static size_t print_of(classes *known, size_t row, place *at, size_t *n,
		       uint64_t *weight)
{
	*n = places(known, &ab_content_rows[row], at, PROBED);
	return rarest(at, *n < AB_CONTENT_ANCHOR ? *n : AB_CONTENT_ANCHOR,
		      weight);
}

/* False: there is no room, and the row would not be found by it. */
static bool add_print(ab_content_anchors *a, uint32_t key, size_t row,
		      size_t offset, const place *last)
{
	ab_content_print *print = &a->prints[a->count];
	uint16_t *head = &a->heads[ab_content_head(key)];

	if (a->count == AB_CONTENT_PRINTS)
		return false;
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
	for (unsigned c = ab_place_next(last, 0); c < 128;
	     c = ab_place_next(last, c + 1))
		a->pairs[key >> 16 | c << 8] |= 4;
	return true;
}

/* All that begin with the byte x. */
static bool add_prints(ab_content_anchors *a, unsigned x, const place *p,
		       size_t row, size_t offset)
{
	bool good = true;
	unsigned y, z;

	for (y = ab_place_next(&p[1], 0); y < 128;
	     y = ab_place_next(&p[1], y + 1)) {
		for (z = ab_place_next(&p[2], 0); z < 128;
		     z = ab_place_next(&p[2], z + 1))
			good &= add_print(a, x | y << 8 | z << 16, row, offset,
					  &p[3]);
	}
	return good;
}

/* The rarest place behind the print, or its last one again, and the rarest
   before it, or its first one again. */
static void add_probe(ab_content_probe *probe, const place *at, size_t offset,
		      size_t n)
{
	size_t back = offset + PRINT - 1, front = 0;

	for (size_t i = offset + PRINT; i < n; i++) {
		if (back < offset + PRINT || at[i].weight < at[back].weight)
			back = i;
	}
	for (size_t i = 1; i < offset; i++) {
		if (at[i].weight < at[front].weight)
			front = i;
	}
	probe->offset = (uint8_t)(back - offset);
	memcpy(probe->set, at[back].set, sizeof(probe->set));
	probe->front_offset = (uint8_t)front;
	memcpy(probe->front, at[front].set, sizeof(probe->front));
}

static bool add_row(ab_content_anchors *a, classes *known, size_t row,
		    uint64_t *weight)
{
	place at[PROBED];
	size_t n, offset = print_of(known, row, at, &n, weight);
	const place *p = at + offset;
	bool good = true;

	add_probe(&a->probes[row], at, offset, n);
	for (unsigned x = ab_place_next(&p[0], 0); x < 128;
	     x = ab_place_next(&p[0], x + 1))
		good &= add_prints(a, x, p, row, offset);
	return good;
}

typedef struct weighed {
	uint64_t weight;
	size_t row;
} weighed;

static int heavier_first(const void *one, const void *other)
{
	const weighed *x = one, *y = other;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/*
 * Into buckets, the most frequent print first: those share no bucket then, and
 * a rare one finds where it does least harm. A fifth less passes the masks
 * than in the table's order.
 */
static void fill_buckets(ab_content_anchors *a, classes *known,
			 weighed *rows, size_t count)
{
	ab_content_buckets buckets;

	ab_content_buckets_make(&buckets);
	qsort(rows, count, sizeof(*rows), heavier_first);
	for (size_t i = 0; i < count; i++) {
		place at[PROBED];
		uint64_t weight;
		size_t n, row = rows[i].row;
		size_t offset = print_of(known, row, at, &n, &weight);

		ab_content_buckets_add(&buckets, a, at + offset);
	}
}

bool ab_content_anchors_make(ab_content_anchors *a)
{
	weighed rows[AB_CONTENT_PRINTS];
	classes known;
	bool good = true;

	memset(a, 0, sizeof(*a));
	memset(&known, 0, sizeof(known));
	/* each has a print at least */
	if (ab_content_row_count > AB_ARRAY_LEN(rows))
		return false;
	for (size_t i = 0; i < ab_content_row_count; i++) {
		rows[i].row = i;
		good &= add_row(a, &known, i, &rows[i].weight);
	}
	fill_buckets(a, &known, rows, ab_content_row_count);
	return good;
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

		if ((x & y >> 1 & z >> 2) && ab_content_may_begin(a, p + i))
			out[n++] = (uint32_t)i;
		x = y;
		y = z;
	}
	*from = i;
	return n;
}

