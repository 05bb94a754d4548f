/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Literals by hand: inet_pton(3) needs a NUL-terminated string, and C
 * libraries differ in what they let pass. Spec: net/address.h.
 */
#include "config.h"

#include "base/digit.h"
#include "net/address.h"

#include <stdio.h>
#include <string.h>

/* --- reading ----------------------------------------------------------- */

/* 0..255 in plain decimal from s[*i]; -1: anything else. */
static int read_octet(const char *s, size_t n, size_t *i)
{
	size_t start = *i;
	int v = 0;

	while (*i < n && *i - start < 3 && s[*i] >= '0' && s[*i] <= '9')
		v = v * 10 + (s[(*i)++] - '0');
	if (*i == start || v > 255 || (s[start] == '0' && *i - start > 1))
		return -1;
	return v;
}

static bool parse_ipv4(const char *s, size_t n, uint8_t out[4])
{
	size_t i = 0;

	for (int part = 0; part < 4; part++) {
		int v;

		if (part && (i >= n || s[i++] != '.'))
			return false;
		v = read_octet(s, n, &i);
		if (v < 0)
			return false;
		out[part] = (uint8_t)v;
	}
	return i == n;
}

/* One to four hexadecimal digits; false: none, or a fifth. */
static bool read_group(const char *s, size_t n, size_t *i, unsigned *out)
{
	size_t start = *i;
	unsigned v = 0;

	while (*i < n && ab_hex_digit(s[*i]) >= 0) {
		if (*i - start == 4)
			return false;
		v = v << 4 | (unsigned)ab_hex_digit(s[(*i)++]);
	}
	*out = v;
	return *i > start;
}

/* The groups of an IPv6 literal as they are read. */
struct six {
	uint8_t bytes[16];
	size_t at;  /* how many bytes are read */
	size_t gap; /* where "::" stands; SIZE_MAX: nowhere */
};

/* One group, or four decimal parts that end the text. */
static bool read_six_part(const char *s, size_t n, size_t *i, struct six *six)
{
	size_t start = *i;
	unsigned v;

	if (!read_group(s, n, i, &v))
		return false;
	if (*i < n && s[*i] == '.') {
		if (six->at > 12 ||
		    !parse_ipv4(s + start, n - start, six->bytes + six->at))
			return false;
		six->at += 4;
		*i = n;
		return true;
	}
	if (six->at > 14)
		return false;
	six->bytes[six->at++] = (uint8_t)(v >> 8);
	six->bytes[six->at++] = (uint8_t)v;
	return true;
}

/* After a part: the end, ":" and another part, or the one "::". */
static bool read_separator(const char *s, size_t n, size_t *i, struct six *six)
{
	if (s[*i] != ':')
		return false;
	if (++*i < n && s[*i] == ':') {
		if (six->gap != SIZE_MAX)
			return false;
		six->gap = six->at;
		++*i;
		return true;
	}
	return *i < n;
}

/* Opens the gap; "::" stands for at least one group (RFC 5952 4.2.2 is about
   writing; reading "::" for none as inet_pton(3) does would be a second
   spelling of the same length). */
static bool open_gap(struct six *six)
{
	size_t tail;

	if (six->gap == SIZE_MAX)
		return six->at == 16;
	if (six->at > 14)
		return false;
	tail = six->at - six->gap;
	memmove(six->bytes + 16 - tail, six->bytes + six->gap, tail);
	memset(six->bytes + six->gap, 0, 16 - six->at);
	return true;
}

static bool parse_ipv6(const char *s, size_t n, uint8_t out[16])
{
	struct six six = { .gap = SIZE_MAX };
	size_t i = 0;

	if (n < 2 || n >= AB_ADDRESS_TEXT_SIZE)
		return false;
	if (s[0] == ':') {
		if (s[1] != ':')
			return false;
		six.gap = 0;
		i = 2;
	}
	while (i < n) {
		if (!read_six_part(s, n, &i, &six))
			return false;
		if (i < n && !read_separator(s, n, &i, &six))
			return false;
	}
	if (!open_gap(&six))
		return false;
	memcpy(out, six.bytes, 16);
	return true;
}

bool ab_address_parse(const char *s, size_t n, ab_address *out)
{
	memset(out, 0, sizeof(*out));
	if (n && memchr(s, ':', n)) {
		if (!parse_ipv6(s, n, out->bytes))
			return false;
		out->family = AB_ADDRESS_IPV6;
		return true;
	}
	if (!parse_ipv4(s, n, out->bytes)) {
		memset(out, 0, sizeof(*out));
		return false;
	}
	out->family = AB_ADDRESS_IPV4;
	return true;
}

/* --- writing ----------------------------------------------------------- */

/* The longest run of two or more zero groups; *len 0: there is none. */
static size_t zero_run(const uint8_t b[16], size_t *len)
{
	size_t best = 0;

	*len = 0;
	for (size_t i = 0; i < 8;) {
		size_t j = i;

		while (j < 8 && !b[2 * j] && !b[2 * j + 1])
			j++;
		if (j - i > 1 && j - i > *len) {
			best = i;
			*len = j - i;
		}
		i = j > i ? j : i + 1;
	}
	return best;
}

static void text_ipv6(const uint8_t b[16], char *out)
{
	size_t run_len;
	size_t run = zero_run(b, &run_len);
	size_t n = 0;

	for (size_t i = 0; i < 8; i++) {
		if (run_len && i == run) {
			out[n++] = ':';
			out[n++] = ':';
			i += run_len - 1;
			continue;
		}
		if (i && !(run_len && i == run + run_len))
			out[n++] = ':';
		n += (size_t)snprintf(out + n, AB_ADDRESS_TEXT_SIZE - n, "%x",
				      (unsigned)b[2 * i] << 8 | b[2 * i + 1]);
	}
	out[n] = '\0';
}

void ab_address_text(const ab_address *a, char out[AB_ADDRESS_TEXT_SIZE])
{
	if (a->family == AB_ADDRESS_IPV4)
		snprintf(out, AB_ADDRESS_TEXT_SIZE, "%u.%u.%u.%u", a->bytes[0],
			 a->bytes[1], a->bytes[2], a->bytes[3]);
	else if (a->family == AB_ADDRESS_IPV6)
		text_ipv6(a->bytes, out);
	else
		out[0] = '\0';
}

/* --- comparing --------------------------------------------------------- */

void ab_address_unmap(ab_address *a)
{
	static const uint8_t mapped[12] = { 0, 0, 0, 0, 0,    0,
					    0, 0, 0, 0, 0xff, 0xff };

	if (a->family != AB_ADDRESS_IPV6 ||
	    memcmp(a->bytes, mapped, sizeof(mapped)) != 0)
		return;
	a->family = AB_ADDRESS_IPV4;
	memmove(a->bytes, a->bytes + 12, 4);
	memset(a->bytes + 4, 0, 12);
}

bool ab_address_equal(const ab_address *a, const ab_address *b)
{
	return a->family == b->family &&
	       memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

bool ab_bits_equal(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	unsigned whole = bits / 8;

	if (memcmp(a, b, whole) != 0)
		return false;
	return bits % 8 == 0 ||
	       ((a[whole] ^ b[whole]) & (0xff00u >> (bits % 8)) & 0xff) == 0;
}
