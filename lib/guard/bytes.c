/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text as bytes, before anybody reads it: control characters and invisible
 * ones, by which a line looks like another one than it is. Refuses to say what
 * they do: the first is asked about.
 */
#include "config.h"

#include "guard/command.h"

#include <string.h>

static bool is_odd_byte(unsigned char b)
{
	return b < 0x20 ? b != '\t' && b != '\n' : b == 0x7f;
}

/* Directions and invisible characters, by their UTF-8. */
static bool is_invisible(const unsigned char *p, size_t n)
{
	if (n < 3)
		return false;
	if (p[0] == 0xef)
		return p[1] == 0xbb && p[2] == 0xbf; /* U+FEFF */
	if (p[0] != 0xe2)
		return false;
	if (p[1] == 0x80) /* 200B 200C 200E 200F, 202A to 202E */
		return p[2] == 0x8b || p[2] == 0x8c || p[2] == 0x8e ||
		       p[2] == 0x8f || (p[2] >= 0xaa && p[2] <= 0xae);
	/* 2060 to 2064, 2066 to 2069 */
	return p[1] == 0x81 && p[2] >= 0xa0 && p[2] <= 0xa9;
}

#define BLOCK 64

typedef unsigned char vector __attribute__((vector_size(16)));
typedef signed char signs __attribute__((vector_size(16)));

/* All bits of those of 16 bytes that are not special: 0x20 to 0x7e, which are
   the numbers above 0x20 when one is added, tab and newline. */
static inline vector plain_of(const unsigned char *p)
{
	vector v;

	memcpy(&v, p, sizeof(v));
	return (vector)((signs)(v + 1) > 0x20) | (vector)(v == '\n') |
	       (vector)(v == '\t');
}

/* No byte of the block is special. */
static inline bool are_plain(const unsigned char *p)
{
	vector plain = plain_of(p) & plain_of(p + 16) & plain_of(p + 32) &
		       plain_of(p + 48);
	uint64_t halves[2];

	memcpy(halves, &plain, sizeof(halves));
	return (halves[0] & halves[1]) == UINT64_MAX;
}

/* The first of n bytes is none that a line should hold. */
static bool is_trick(const unsigned char *p, size_t n)
{
	if (*p >= 0x20 && *p < 0x7f)
		return false;
	/* the line ends of another system are no trick */
	if (*p == '\r' && n > 1 && p[1] == '\n')
		return false;
	return is_odd_byte(*p) || is_invisible(p, n);
}

void ab_check_bytes(struct ab_check *c, const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;
	struct ab_word w = { .text = text };

	for (size_t i = 0; i < n;) {
		size_t end = n - i < BLOCK ? n : i + BLOCK;

		if (AB_LIKELY(end == i + BLOCK && are_plain(p + i))) {
			i = end;
			continue;
		}
		/* what is left, with bytes that were looked at */
		if (end == n && n >= BLOCK && are_plain(p + n - BLOCK))
			return;
		while (i < end && !is_trick(p + i, n - i))
			i++;
		if (i == end)
			continue;
		w.span = (struct ab_span){ (uint32_t)i, (uint32_t)i + 1 };
		ab_check_known(c, AB_KNOWN_CONTROL, AB_V_ASK, &w);
		return;
	}
}
