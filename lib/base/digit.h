/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The values of digits in ASCII, whatever the locale; -1: none.
 */
#ifndef AB_BASE_DIGIT_H
#define AB_BASE_DIGIT_H

/* 0-9, then letters of either case: 0 to 35. */
static inline int ab_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'Z' ? c - 'A' + 10 : -1;
}

static inline int ab_hex_digit(char c)
{
	int d = ab_digit(c);

	return d < 16 ? d : -1;
}

/* Where there is one way to write a number: no capitals. */
static inline int ab_lower_hex_digit(char c)
{
	return c >= 'A' && c <= 'F' ? -1 : ab_hex_digit(c);
}

/* Of base64 and of its form for URLs: RFC 4648 sections 4 and 5. */
static inline int ab_base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : -1;
}

#endif
