/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One character of UTF-8, strictly: RFC 3629 section 3.
 */
#ifndef AB_BASE_UTF8_H
#define AB_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Its bytes at p, of which n >= 1 are left: 1 to 4, and the character in *c.
 * 0, with *c 0: no UTF-8 (cut off, overlong, a surrogate, over U+10FFFF).
 */
static inline size_t ab_utf8_decode(const void *p, size_t n, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = p;
	size_t len = s[0] < 0x80 ? 1 :
		     s[0] < 0xc0 ? 0 :
		     s[0] < 0xe0 ? 2 :
		     s[0] < 0xf0 ? 3 :
		     s[0] < 0xf8 ? 4 : 0;
	uint32_t value = s[0];

	*c = 0;
	if (len == 0 || len > n)
		return 0;
	if (len > 1)
		value &= 0x7fu >> len;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (s[i] & 0x3fu);
	}
	if (value < least[len] || value > 0x10ffff ||
	    (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*c = value;
	return len;
}

/*
 * The bytes of a character at p, where there is room for 4: how many. What is
 * no character (a half of a pair, over U+10FFFF) gets the form that it would
 * have, which ab_utf8_decode refuses.
 */
static inline size_t ab_utf8_put(char *p, uint32_t c)
{
	size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (len == 1) {
		p[0] = (char)c;
		return 1;
	}
	for (size_t i = len; --i; c >>= 6)
		p[i] = (char)(0x80 | (c & 0x3f));
	p[0] = (char)((0xf00u >> len & 0xf0) | (c & 0x7fu >> len));
	return len;
}

#endif
