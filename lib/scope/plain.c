/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Any bytes as the ASCII that they stand for: what NFKC and case folding make
 * ASCII, letters, digits and hyphens of other alphabets that look like it
 * (UTS 39 section 4), letters below accents; what is not seen goes. Each
 * character remembers whether it was changed, since only the exact id is the
 * caller's. What stands for nothing is 0x01, the edge of any word.
 */
#include "config.h"

#include <string.h>

#include "base/attr.h"
#include "base/fold.h"
#include "base/utf8.h"
#include "scope/internal.h"

#define NOTHING '\x01'

struct alike {
	uint32_t first, last;
	const char *ascii; /* of each; ' ': of none */
};

#define RUN(c, text) { (c), (c) + sizeof(text) - 2, text }

/* Letters that are drawn as another alphabet's. */
static const struct alike alikes[] = {
	RUN(0x131, "i"), RUN(0x184, "bb"), RUN(0x192, "f"), RUN(0x1a7, "22"),
	RUN(0x1b7, "3"), RUN(0x1bc, "5s"), RUN(0x1c0, "l"), RUN(0x21c, "33"),
	RUN(0x222, "88"), RUN(0x237, "j"), RUN(0x251, "a"), RUN(0x261, "ggy"),
	RUN(0x269, "ii"), RUN(0x26f, "w"), RUN(0x274, "n"), RUN(0x280, "r"),
	RUN(0x28b, "u"), RUN(0x28f, "y"), RUN(0x299, "b"), RUN(0x29c, "h"),
	RUN(0x29f, "l"), RUN(0x2d7, "-"),
	/* Greek: from alpha, from nu */
	RUN(0x391, "abgdezh ik m"), RUN(0x39d, "n onp  tyox  "),
	RUN(0x3b1, "aby e n ik u"), RUN(0x3bd, "v onpsotu x w"),
	RUN(0x3dc, "ff"), RUN(0x3f2, "cj"), RUN(0x3f9, "c"),
	/* Cyrillic: from a, ka, and ef */
	RUN(0x405, "siij"),
	RUN(0x410, "abbr e 3  "), RUN(0x41a, "k mhonpcty"),
	RUN(0x424, " x 4w   b   "),
	RUN(0x430, "a6br e 3  "), RUN(0x43a, "k mhonpcty"),
	RUN(0x444, " x 4w   b   "),
	RUN(0x454, "esiij"), RUN(0x460, "ww"), RUN(0x474, "vv"),
	RUN(0x4ae, "yy"), RUN(0x4ba, "hhee"), RUN(0x4c0, "l"),
	RUN(0x4cf, "l"), RUN(0x4e0, "33"), RUN(0x500, "dd"),
	RUN(0x50c, "gg"), RUN(0x51a, "qqww"),
	/* Armenian, Hebrew, hyphens of other scripts */
	RUN(0x555, "o"), RUN(0x561, "w"), RUN(0x566, "q"), RUN(0x570, "h"),
	RUN(0x578, "n"), RUN(0x57d, "u"), RUN(0x581, "g"), RUN(0x585, "o"),
	RUN(0x58a, "-"), RUN(0x5be, "-"), RUN(0x5d5, "l"), RUN(0x5e1, "o"),
	RUN(0x6d4, "-"), RUN(0x1400, "-"), RUN(0x1806, "-"),
	/* Cherokee, syllabics, runes */
	RUN(0x13a0, "drt"), RUN(0x13a5, "i"), RUN(0x13a9, "yaje"),
	RUN(0x13b3, "w"), RUN(0x13b7, "m"), RUN(0x13bb, "h y"),
	RUN(0x13c0, "g hz"), RUN(0x13ce, "4b"), RUN(0x13d2, "r ws"),
	RUN(0x13d9, "vs"), RUN(0x13de, "lc"), RUN(0x13e2, "p"),
	RUN(0x13e6, "kd"), RUN(0x13ee, "6"), RUN(0x13f3, "gb"),
	RUN(0x15c5, "a"), RUN(0x15de, "d"), RUN(0x16d2, "b"),
	/* Coptic, Lisu */
	RUN(0x2c9e, "oo"), RUN(0x2ca2, "ppcc"),
	RUN(0xa4d0, "bp dt gk jc zf mnlsr"), RUN(0xa4e6, "vh  wxy a e iou"),
	/* small capitals */
	RUN(0x1d00, "a"), RUN(0x1d04, "cd"), RUN(0x1d07, "e"),
	RUN(0x1d0a, "jk"), RUN(0x1d0d, "m"), RUN(0x1d0f, "o"),
	RUN(0x1d18, "p"), RUN(0x1d1b, "tu"), RUN(0x1d20, "vwz"),
	RUN(0x1d26, "r"),
	/* hyphens, underscores, dots, slashes */
	RUN(0x2010, "------"), RUN(0x203f, "__"), RUN(0x2043, "-/"),
	RUN(0x2054, "_"), RUN(0x2212, "-"), RUN(0x2215, "/"),
	RUN(0x2236, ":"), RUN(0x23af, "-"), RUN(0x2500, "--"),
	RUN(0x2c7c, "j"), RUN(0x2e17, "-"), RUN(0x2e1a, "-"),
	RUN(0x2e3a, "--"), RUN(0x2e40, "-"), RUN(0x1173, "-"),
	RUN(0x2796, "-"), RUN(0x2cba, "--"), RUN(0x2f00, "-"),
	RUN(0x30a0, "-"), RUN(0x3161, "-"), RUN(0x4e00, "-"),
	RUN(0x3002, "."), RUN(0x301c, "-"), RUN(0x30fc, "-"),
	RUN(0xa644, "22"), RUN(0xa730, "fs"), RUN(0xa7f7, "-"),
	RUN(0xfe31, "--"), RUN(0xfe58, "-"), RUN(0xff61, "."),
	RUN(0xff70, "-"), RUN(0x10ead, "-"),
	/* digits that are no decimal ones, APL's alpha, Angstrom */
	RUN(0x1369, "123456789"), RUN(0x19da, "1"), RUN(0x24f5, "123456789"),
	RUN(0x24ff, "0"), RUN(0x2780, "123456789"), RUN(0x10a40, "1234"),
	RUN(0x10e60, "123456789"), RUN(0x237a, "a"), RUN(0x212b, "a"),
};

/* The zeros of decimal digits (General_Category Nd), ten each; sorted. */
static const uint32_t zeros[] = {
	0x660,	 0x6f0,	  0x7c0,   0x966,   0x9e6,   0xa66,   0xae6,
	0xb66,	 0xbe6,	  0xc66,   0xce6,   0xd66,   0xde6,   0xe50,
	0xed0,	 0xf20,	  0x1040,  0x1090,  0x17e0,  0x1810,  0x1946,
	0x19d0,	 0x1a80,  0x1a90,  0x1b50,  0x1bb0,  0x1c40,  0x1c50,
	0xa620,	 0xa8d0,  0xa900,  0xa9d0,  0xa9f0,  0xaa50,  0xabf0,
	0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0,
	0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950,
	0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50, 0x1e140,
	0x1e2f0, 0x1e950,
};

static char alike(uint32_t c)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(alikes); i++)
		if (c >= alikes[i].first && c <= alikes[i].last)
			return alikes[i].ascii[c - alikes[i].first] == ' ' ?
				       '\0' :
				       alikes[i].ascii[c - alikes[i].first];
	for (size_t i = 0; i < AB_ARRAY_LEN(zeros) && c >= zeros[i]; i++)
		if (c < zeros[i] + 10)
			return (char)('0' + (c - zeros[i]));
	return '\0';
}

/* The case is kept where a decoder may come behind. */
static char compatible(uint32_t c)
{
	if (c >= 0xff01 && c <= 0xff5e)
		return (char)(c - 0xff01 + 0x21);
	if (c >= 0x1d400 && c <= 0x1d6a3) {
		uint32_t i = (c - 0x1d400) % 52;

		return (char)(i < 26 ? 'A' + i : 'a' + i - 26);
	}
	/* letters and digits in a circle or square, and of flags */
	if (c >= 0x1f130 && c <= 0x1f189 && (c - 0x1f130) % 32 < 26)
		return (char)('a' + (c - 0x1f130) % 32);
	if (c >= 0x1f1e6 && c <= 0x1f1ff)
		return (char)('a' + (c - 0x1f1e6));
	if (c >= 0x2776 && c <= 0x277e)
		return (char)('1' + (c - 0x2776));
	if (c >= 0x278a && c <= 0x2792)
		return (char)('1' + (c - 0x278a));
	return ab_fold_char(c);
}

struct filling {
	char *c;
	uint8_t *mark;
	size_t n;
	uint8_t next; /* marks of the character that comes */
};

static void put(struct filling *f, char c, uint8_t mark)
{
	f->c[f->n] = c;
	f->mark[f->n++] = mark | f->next;
	f->next = 0;
}

static void put_character(struct filling *f, uint32_t c)
{
	const char *text = NULL;
	char ascii;

	if (ab_fold_is_invisible(c) || ab_fold_is_mark(c)) {
		/* an accent changes what it stands on */
		if (ab_fold_is_mark(c) && f->n)
			f->mark[f->n - 1] |= AB_MARK_CHANGED;
		f->next |= AB_MARK_GAP;
		return;
	}
	ascii = compatible(c);
	if (!ascii)
		text = ab_fold_string(c);
	if (!ascii && !text)
		ascii = alike(c);
	if (!ascii && !text)
		ascii = ab_fold_base(c);
	if (!text) {
		put(f, ascii ? ascii : NOTHING, AB_MARK_CHANGED);
		return;
	}
	for (; *text; text++)
		put(f, *text, AB_MARK_CHANGED);
}

/* Several bytes where one would do, which old decoders take (RFC 3629, 10;
   up to six of them: RFC 2279, 2). */
static size_t overlong(const unsigned char *s, size_t n, char *c)
{
	static const unsigned char leads[] = { 0xc0, 0xe0, 0xf0, 0xf8, 0xfc };
	const unsigned char *last = s + 1;
	size_t i = 0;

	while (i < AB_ARRAY_LEN(leads) &&
	       (s[0] & (i ? 0xff : 0xfe)) != leads[i])
		i++;
	if (i == AB_ARRAY_LEN(leads) || n < i + 2)
		return 0;
	for (; last < s + i; last++) {
		if (*last != 0x80)
			return 0;
	}
	/* its two bits above the last six, of which one may be set */
	if (i && (*last++ & 0xfe) != 0x80)
		return 0;
	if ((*last & 0xc0) != 0x80)
		return 0;
	*c = (char)((last[-1] & 1) << 6 | (*last & 0x3f));
	return i + 2;
}

static size_t take(struct filling *f, const char *p, size_t n)
{
	uint32_t c;
	size_t len = ab_utf8_decode(p, n, &c);
	char old;

	if (len > 1) {
		put_character(f, c);
		return len;
	}
	if (len == 1 && c) {
		put(f, (char)c, 0);
		return 1;
	}
	if (len == 0) {
		len = overlong((const unsigned char *)p, n, &old);
		c = len ? (unsigned char)old : NOTHING;
	}
	if (c == 0) /* UTF-16, and what strings end with, in any spelling */
		f->next |= AB_MARK_GAP;
	else
		put(f, (char)c, AB_MARK_CHANGED);
	return len ? len : 1;
}

static bool is_ascii(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((signed char)text[i] <= 0)
			return false;
	return true;
}

bool ab_scope_plain(struct ab_arena *a, const char *text, size_t n,
		    struct ab_plain *out)
{
	struct filling f = { 0 };

	*out = (struct ab_plain){ .c = text, .n = n };
	if (is_ascii(text, n))
		return true;
	/* a character of three bytes is at most seven */
	f.c = ab_arena_low(a, 3 * n + 8);
	f.mark = ab_arena_low(a, 3 * n + 8);
	if (!f.c || !f.mark)
		return false;
	for (size_t i = 0; i < n;)
		i += take(&f, text + i, n - i);
	out->c = f.c;
	out->mark = f.mark;
	out->n = f.n;
	out->end_gap = f.next != 0;
	return true;
}
