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

#include "base/fold.h"
#include "base/utf8.h"
#include "scope/internal.h"

#define NOTHING '\x01'

struct alike {
	uint32_t first, last;
	const char *ascii; /* of each; ' ': of none */
};

/* Letters that are drawn as another alphabet's. */
static const struct alike alikes[] = {
	{ 0x131, 0x131, "i" },	 { 0x184, 0x185, "bb" },
	{ 0x1c0, 0x1c0, "l" },
	{ 0x1bd, 0x1bd, "s" },	 { 0x237, 0x237, "j" },
	{ 0x251, 0x251, "a" },	 { 0x261, 0x261, "g" },
	{ 0x262, 0x262, "g" },	 { 0x263, 0x263, "y" },
	{ 0x269, 0x26a, "ii" },	 { 0x274, 0x274, "n" },
	{ 0x280, 0x280, "r" },	 { 0x28b, 0x28b, "u" },
	{ 0x28f, 0x28f, "y" },	 { 0x299, 0x299, "b" },
	{ 0x29c, 0x29c, "h" },	 { 0x29f, 0x29f, "l" },
	{ 0x2d7, 0x2d7, "-" },
	/* Greek */
	{ 0x391, 0x3a9, "abgdezh ik mn onp  tyox  " },
	{ 0x3b1, 0x3c9, "a    nn ik   v op stu x  " },
	{ 0x3f2, 0x3f3, "cj" },	 { 0x3f9, 0x3f9, "c" },
	/* Cyrillic */
	{ 0x405, 0x408, "siij" },
	{ 0x410, 0x42f, "ab  e 3 nk mho  ptyox       b   " },
	{ 0x430, 0x44f, "a    e    k  ho pctyox       b  " },
	{ 0x455, 0x458, "siij" }, { 0x4ae, 0x4af, "yy" },
	{ 0x4ba, 0x4bb, "hh" },	 { 0x4c0, 0x4c0, "l" },
	{ 0x4cf, 0x4cf, "l" },	 { 0x501, 0x501, "d" },
	{ 0x51a, 0x51d, "qqww" },
	/* Armenian, Hebrew, hyphens of other scripts */
	{ 0x555, 0x555, "o" },	 { 0x561, 0x561, "w" },
	{ 0x570, 0x570, "h" },	 { 0x578, 0x578, "n" },
	{ 0x57d, 0x57d, "u" },	 { 0x581, 0x581, "g" },
	{ 0x585, 0x585, "o" },	 { 0x58a, 0x58a, "-" },
	{ 0x5be, 0x5be, "-" },	 { 0x5d5, 0x5d5, "l" },
	{ 0x5e1, 0x5e1, "o" },	 { 0x6d4, 0x6d4, "-" },
	{ 0x1400, 0x1400, "-" }, { 0x1806, 0x1806, "-" },
	/* Cherokee */
	{ 0x13a0, 0x13a0, "d" }, { 0x13a1, 0x13a2, "rt" },
	{ 0x13a5, 0x13a5, "i" }, { 0x13aa, 0x13ac, "ahe" },
	{ 0x13b3, 0x13b3, "w" }, { 0x13b7, 0x13b7, "m" },
	{ 0x13bb, 0x13bb, "h" }, { 0x13c0, 0x13c0, "g" },
	{ 0x13c2, 0x13c3, "hz" }, { 0x13cf, 0x13cf, "b" },
	{ 0x13d2, 0x13d2, "r" }, { 0x13da, 0x13da, "s" },
	{ 0x13d9, 0x13d9, "v" }, { 0x13de, 0x13df, "lc" },
	{ 0x13e2, 0x13e2, "p" }, { 0x13e6, 0x13e7, "kd" },
	{ 0x13f4, 0x13f4, "b" },
	/* Coptic, Lisu */
	{ 0x2c9e, 0x2c9f, "oo" }, { 0x2ca2, 0x2ca5, "ppcc" },
	{ 0xa4d0, 0xa4f4, "bp dt gk jc zf mnlsr  vh  wxy a e iou" },
	/* small capitals */
	{ 0x1d00, 0x1d00, "a" }, { 0x1d04, 0x1d05, "cd" },
	{ 0x1d07, 0x1d07, "e" }, { 0x1d0a, 0x1d0b, "jk" },
	{ 0x1d0d, 0x1d0d, "m" }, { 0x1d0f, 0x1d0f, "o" },
	{ 0x1d18, 0x1d18, "p" }, { 0x1d1b, 0x1d1c, "tu" },
	{ 0x1d20, 0x1d22, "vwz" },
	/* hyphens, underscores, dots, slashes */
	{ 0x2010, 0x2015, "------" }, { 0x203f, 0x2040, "__" },
	{ 0x2043, 0x2044, "-/" }, { 0x2054, 0x2054, "_" },
	{ 0x2212, 0x2212, "-" }, { 0x2215, 0x2215, "/" },
	{ 0x2236, 0x2236, ":" }, { 0x23af, 0x23af, "-" },
	{ 0x2500, 0x2501, "--" }, { 0x2c7c, 0x2c7c, "j" },
	{ 0x2e17, 0x2e17, "-" }, { 0x2e1a, 0x2e1a, "-" },
	{ 0x2e3a, 0x2e3b, "--" }, { 0x2e40, 0x2e40, "-" },
	{ 0x1173, 0x1173, "-" }, { 0x2796, 0x2796, "-" },
	{ 0x2cba, 0x2cbb, "--" }, { 0x2f00, 0x2f00, "-" },
	{ 0x30a0, 0x30a0, "-" }, { 0x3161, 0x3161, "-" },
	{ 0x4e00, 0x4e00, "-" },
	{ 0x3002, 0x3002, "." }, { 0x301c, 0x301c, "-" },
	{ 0x30fc, 0x30fc, "-" }, { 0xa730, 0xa731, "fs" },
	{ 0xfe31, 0xfe32, "--" }, { 0xfe58, 0xfe58, "-" },
	{ 0xff61, 0xff61, "." }, { 0xff70, 0xff70, "-" },
	{ 0x10ead, 0x10ead, "-" },
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

/* Two bytes where one would do, which old decoders take (RFC 3629, 10). */
static size_t overlong(const unsigned char *s, size_t n, char *c)
{
	if (n < 2 || (s[0] != 0xc0 && s[0] != 0xc1) || (s[1] & 0xc0) != 0x80)
		return 0;
	*c = (char)((s[0] & 1) << 6 | (s[1] & 0x3f));
	return 2;
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
	if (len == 1 && c == 0) { /* UTF-16, and what strings end with */
		f->next |= AB_MARK_GAP;
		return 1;
	}
	if (len == 1) {
		put(f, (char)c, 0);
		return 1;
	}
	len = overlong((const unsigned char *)p, n, &old);
	put(f, len ? old : NOTHING, AB_MARK_CHANGED);
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
