/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * IPv4 and IPv6 addresses as literals. One spelling of IPv4, four decimal
 * parts without leading zeros; RFC 4291 section 2.2 for IPv6, without zone.
 * Nothing a resolver library would read in another way (inet_aton(3): "127.1",
 * "0x7f.1", "0177.0.0.1") is an address here.
 */
#ifndef AB_NET_ADDRESS_H
#define AB_NET_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255" and its NUL */
#define AB_ADDRESS_TEXT_SIZE 46

enum ab_address_family {
	AB_ADDRESS_NONE = 0,
	AB_ADDRESS_IPV4 = 4,
	AB_ADDRESS_IPV6 = 6
};

/* Zeroed: no address, which every wall refuses. */
typedef struct ab_address {
	uint8_t family;	   /* enum ab_address_family */
	uint8_t bytes[16]; /* IPv4: the first four, the rest zero */
} ab_address;

/* "192.0.2.7" or "2001:db8::7", no brackets. false: *out is zeroed. */
bool ab_address_parse(const char *s, size_t n, ab_address *out);

/* RFC 5952: lower case, the longest run of zeros as "::". */
void ab_address_text(const ab_address *a, char out[AB_ADDRESS_TEXT_SIZE]);

/*
 * ::ffff:a.b.c.d becomes a.b.c.d: the kernel sends both to one place
 * (ipv6(7)), so they are one address. Others stay.
 */
void ab_address_unmap(ab_address *a);

bool ab_address_equal(const ab_address *a, const ab_address *b);

/* Do the first `bits` bits of a and b agree? */
bool ab_bits_equal(const uint8_t *a, const uint8_t *b, unsigned bits);

#endif
