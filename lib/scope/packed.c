/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is compressed or encrypted, told by its first bytes. Those of zlib are
 * two and weak, so a deflate stream is walked: its codes, lengths and distances
 * have to be possible to the end. Nothing is unpacked: a name within would be
 * found one level deeper only to be packed again, so whoever packs what a
 * scoped tool gets is refused. Spec: agentbox_scope(3), RFC 1950, RFC 1951.
 */
#include "config.h"

#include <string.h>

#include "base/attr.h"
#include "base/utf8.h"
#include "scope/internal.h"

/* What a step says besides a number. */
#define CUT (-1) /* the bytes ended */
#define BAD (-2) /* no deflate */

/* Less than this is chance, and hides no name that is worth it. */
#define LEAST_ZLIB 24

#define MAX_LENGTH 15
#define MAX_LITERALS 288
#define MAX_DISTANCES 32

struct bits {
	const unsigned char *p;
	size_t n; /* of bytes */
	size_t at;
};

static int take_bits(struct bits *b, unsigned count)
{
	int v = 0;

	if (count > b->n * 8 - b->at)
		return CUT;
	for (unsigned i = 0; i < count; i++, b->at++)
		v |= (b->p[b->at / 8] >> b->at % 8 & 1) << i;
	return v;
}

/* RFC 1951 section 3.2.2: how many codes have a length, and whose they are. */
struct code {
	unsigned count[MAX_LENGTH + 1];
	unsigned short symbol[MAX_LITERALS];
};

/* False: lengths that make no code. One code alone may leave room. */
static bool make_code(struct code *c, const unsigned char *lengths, size_t n)
{
	unsigned at[MAX_LENGTH + 1] = { 0 };
	size_t used = 0;
	int room = 1;

	memset(c, 0, sizeof(*c));
	for (size_t i = 0; i < n; i++) {
		c->count[lengths[i]]++;
		used += lengths[i] != 0;
	}
	for (unsigned len = 1; len <= MAX_LENGTH; len++) {
		room = 2 * room - (int)c->count[len];
		if (room < 0)
			return false;
		if (len < MAX_LENGTH)
			at[len + 1] = at[len] + c->count[len];
	}
	for (size_t i = 0; i < n; i++)
		if (lengths[i])
			c->symbol[at[lengths[i]]++] = (unsigned short)i;
	return room == 0 || used <= 1;
}

static int take_symbol(struct bits *b, const struct code *c)
{
	int code = 0, first = 0, index = 0;

	for (unsigned len = 1; len <= MAX_LENGTH; len++) {
		int bit = take_bits(b, 1);
		int count = (int)c->count[len];

		if (bit < 0)
			return CUT;
		code |= bit;
		if (code - count < first)
			return c->symbol[index + (code - first)];
		index += count;
		first = (first + count) << 1;
		code <<= 1;
	}
	return BAD;
}

/* Section 3.2.5, both tables: groups of codes that have one bit more. */
static int take_length(struct bits *b, int symbol)
{
	int i = symbol - 257;
	int extra = i < 8 ? 0 : i / 4 - 1;
	int more;

	if (i == 28)
		return 258;
	if (i > 28)
		return BAD;
	more = take_bits(b, (unsigned)extra);
	if (more < 0)
		return CUT;
	return i < 8 ? 3 + i : 3 + ((4 + i % 4) << extra) + more;
}

static int take_distance(struct bits *b, const struct code *c)
{
	int i = take_symbol(b, c);
	int extra, more;

	if (i < 0)
		return i;
	if (i >= 30)
		return BAD;
	extra = i < 4 ? 0 : i / 2 - 1;
	more = take_bits(b, (unsigned)extra);
	if (more < 0)
		return CUT;
	return i < 4 ? 1 + i : 1 + ((2 + i % 2) << extra) + more;
}

/* To the end of a block; 0, CUT or BAD. */
static int walk_codes(struct bits *b, const struct code *literals,
		      const struct code *distances, size_t *made)
{
	for (;;) {
		int symbol = take_symbol(b, literals);
		int length, distance;

		if (symbol < 0)
			return symbol;
		if (symbol == 256)
			return 0;
		if (symbol < 256) {
			++*made;
			continue;
		}
		length = take_length(b, symbol);
		if (length < 0)
			return length;
		distance = take_distance(b, distances);
		if (distance < 0)
			return distance;
		/* nothing was made there yet: what chance trips over */
		if ((size_t)distance > *made)
			return BAD;
		*made += (size_t)length;
	}
}

static int walk_stored(struct bits *b, size_t *made)
{
	int n, check;

	b->at = (b->at + 7) / 8 * 8;
	n = take_bits(b, 16);
	check = take_bits(b, 16);
	if (n < 0 || check < 0)
		return CUT;
	if ((n ^ check) != 0xffff)
		return BAD;
	if ((size_t)n > b->n - b->at / 8)
		return CUT;
	b->at += (size_t)n * 8;
	*made += (size_t)n;
	return 0;
}

static int walk_fixed(struct bits *b, size_t *made)
{
	unsigned char lengths[MAX_LITERALS];
	struct code literals, distances;

	memset(lengths, 8, 144);
	memset(lengths + 144, 9, 112);
	memset(lengths + 256, 7, 24);
	memset(lengths + 280, 8, 8);
	(void)make_code(&literals, lengths, MAX_LITERALS);
	memset(lengths, 5, MAX_DISTANCES);
	(void)make_code(&distances, lengths, MAX_DISTANCES);
	return walk_codes(b, &literals, &distances, made);
}

/* The lengths of a block's own codes, run by run: section 3.2.7. */
static int take_lengths(struct bits *b, const struct code *c,
			unsigned char *lengths, size_t n)
{
	for (size_t i = 0; i < n;) {
		int symbol = take_symbol(b, c);
		int times, value = 0;

		if (symbol < 0)
			return symbol;
		if (symbol < 16) {
			lengths[i++] = (unsigned char)symbol;
			continue;
		}
		if (symbol == 16 && i == 0)
			return BAD;
		if (symbol == 16)
			value = lengths[i - 1];
		times = take_bits(b, symbol == 16 ? 2 : symbol == 17 ? 3 : 7);
		if (times < 0)
			return CUT;
		times += symbol == 18 ? 11 : 3;
		if ((size_t)times > n - i)
			return BAD;
		memset(lengths + i, value, (size_t)times);
		i += (size_t)times;
	}
	return 0;
}

static int walk_dynamic(struct bits *b, size_t *made)
{
	static const unsigned char order[19] = { 16, 17, 18, 0, 8,  7, 9,
						 6,  10, 5,  11, 4, 12, 3,
						 13, 2,	 14, 1,	 15 };
	unsigned char lengths[MAX_LITERALS + MAX_DISTANCES] = { 0 };
	struct code literals, distances;
	int a = take_bits(b, 5), d = take_bits(b, 5), n = take_bits(b, 4);
	int rc;

	if (a < 0 || d < 0 || n < 0)
		return CUT;
	if (a > 29 || d > 29)
		return BAD;
	for (int i = 0; i < n + 4; i++) {
		int length = take_bits(b, 3);

		if (length < 0)
			return CUT;
		lengths[order[i]] = (unsigned char)length;
	}
	if (!make_code(&literals, lengths, AB_ARRAY_LEN(order)))
		return BAD;
	memset(lengths, 0, sizeof(lengths));
	rc = take_lengths(b, &literals, lengths, (size_t)(a + 257 + d + 1));
	if (rc < 0)
		return rc;
	if (!lengths[256] ||
	    !make_code(&literals, lengths, (size_t)a + 257) ||
	    !make_code(&distances, lengths + a + 257, (size_t)d + 1))
		return BAD;
	return walk_codes(b, &literals, &distances, made);
}

/* 0 at the end of the stream, and where that is; CUT, or BAD. */
static int walk(const unsigned char *p, size_t n, size_t *end, size_t *made)
{
	struct bits b = { p, n, 0 };
	int last;

	*made = 0;
	do {
		int kind, rc;

		last = take_bits(&b, 1);
		kind = take_bits(&b, 2);
		rc = last < 0 || kind < 0 ? CUT :
		     kind == 0		  ? walk_stored(&b, made) :
		     kind == 1		  ? walk_fixed(&b, made) :
		     kind == 2		  ? walk_dynamic(&b, made) :
					    BAD;
		if (rc < 0)
			return rc;
	} while (!last);
	*end = (b.at + 7) / 8;
	return 0;
}

/* RFC 1950 section 2.2, with the window that everybody uses. */
static bool begins_zlib(const unsigned char *u, size_t n)
{
	return n >= LEAST_ZLIB && u[0] == 0x78 && (u[1] & 0x20) == 0 &&
	       (u[0] * 256u + u[1]) % 31 == 0;
}

/* A letter whose other bytes would stand behind. */
static bool is_cut(const unsigned char *u, size_t n)
{
	size_t len = u[0] >= 0xf5 ? 0 : u[0] >= 0xf0 ? 4 :
		     u[0] >= 0xe0 ? 3 : u[0] >= 0xc2 ? 2 : 0;

	for (size_t i = 1; i < n; i++)
		if ((u[i] & 0xc0) != 0x80)
			return false;
	return n < len;
}

/* "x^2" begins so, too, in any language; what is packed cannot be read. */
static bool is_plain(const unsigned char *u, size_t n)
{
	for (size_t i = 0; i < n;) {
		uint32_t c;
		size_t len = ab_utf8_decode(u + i, n - i, &c);

		if (len == 0)
			return is_cut(u + i, n - i);
		if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') ||
		    (c >= 0x7f && c < 0xa0))
			return false;
		i += len;
	}
	return true;
}

static bool is_zlib(const unsigned char *u, size_t n)
{
	size_t end = 0, made;
	int rc;

	if (!begins_zlib(u, n) || is_plain(u, LEAST_ZLIB))
		return false;
	rc = walk(u + 2, n - 2, &end, &made);
	if (rc == BAD)
		return false;
	return made >= LEAST_ZLIB || rc == CUT || end + 4 == n - 2;
}

/* `anywhere`: not where somebody writes about one. */
static bool has_magic(const char *text, size_t n, bool anywhere)
{
	static const struct {
		const char *magic;
		size_t n;
	} magics[] = {
		{ "\x1f\x8b\x08", 3 },	     { "\x28\xb5\x2f\xfd", 4 },
		{ "\xfd" "7zXZ", 6 },	     { "BZh91AY&SY", 10 },
		{ "\x04\x22\x4d\x18", 4 },   { "PK\x03\x04", 4 },
		{ "Salted__", 8 },	     { "7z\xbc\xaf\x27\x1c", 6 },
		{ "age-encryption.org/", 19 },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(magics); i++)
		if (n >= magics[i].n + 4 && text[0] == magics[i].magic[0] &&
		    memcmp(text, magics[i].magic, magics[i].n) == 0)
			return !anywhere ||
			       !is_plain((const unsigned char *)text,
					 magics[i].n + 4);
	return false;
}

/*
 * Could a deflate stream begin so? RFC 1951 section 3.2: the kinds of block,
 * and for one with a table that the lengths in it make a whole code.
 */
static bool begins_deflate(const unsigned char *u)
{
	unsigned lengths = (u[1] >> 5 | u[2] << 3) & 15;
	unsigned sum = 0;

	switch (u[0] >> 1 & 3) {
	case 0:
		return (u[1] ^ u[3]) == 0xff && (u[2] ^ u[4]) == 0xff;
	case 1:
		return true;
	case 3:
		return false;
	}
	if (u[0] >> 3 > 29 || (u[1] & 31) > 29)
		return false;
	for (size_t bit = 17, i = 0; i < lengths + 4; i++, bit += 3) {
		unsigned length = ((unsigned)u[bit / 8] |
				   (unsigned)u[bit / 8 + 1] << 8) >>
					  bit % 8 & 7;

		sum += length ? 128u >> length : 0;
	}
	return sum == 128;
}

/* COMPRESS() of MySQL: the size, four bytes, stands before it. */
#define SIZE_BEFORE 4

bool ab_scope_is_packed(const char *bytes, size_t n, bool is_whole)
{
	const unsigned char *u = (const unsigned char *)bytes;

	if (has_magic(bytes, n, false))
		return true;
	if (is_whole && begins_zlib(u, n) && begins_deflate(u + 2))
		return true;
	return is_zlib(u, n) ||
	       (n > SIZE_BEFORE && is_zlib(u + SIZE_BEFORE, n - SIZE_BEFORE));
}

bool ab_scope_holds_packed(struct ab_scope_look *l, const char *text, size_t n)
{
	const unsigned char *u = (const unsigned char *)text;

	for (size_t i = 0; i < n; i++) {
		if (has_magic(text + i, n - i, i != 0))
			return true;
		if (!begins_zlib(u + i, n - i) || is_plain(u + i, LEAST_ZLIB))
			continue;
		/* without work left it is refused as too much */
		if (!ab_scope_pay(l, n - i))
			return false;
		if (is_zlib(u + i, n - i))
			return true;
	}
	return false;
}
