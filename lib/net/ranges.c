/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table. Rows stand from the most special to the widest, the first that
 * holds an address decides; what no row holds is public. Registry: IANA IPv4
 * and IPv6 Special-Purpose Address Registries (RFC 6890, RFC 8190) with what
 * they leave to other registries: multicast, the compatible and site-local
 * forms, and everything outside 2000::/3. Ranges that the registries call
 * globally reachable but where no host serves anybody (anycast of PCP, TURN,
 * AS112 and AMT, ORCHID, DRIP) are refused as well. Spec: net/ranges.h.
 */
#include "config.h"

#include "net/ranges.h"

#include <string.h>

#include "base/attr.h"

#define V4(a, b, c, d, bits, class_, name, source)                          \
	{                                                                   \
		AB_ADDRESS_IPV4, bits, AB_RANGE_##class_, { a, b, c, d },   \
			name, source                                        \
	}
/* the first three and the last two groups of an IPv6 address */
#define V6(g0, g1, g2, g6, g7, bits, class_, name, source)                  \
	{                                                                   \
		AB_ADDRESS_IPV6, bits, AB_RANGE_##class_,                   \
			{ (g0) >> 8, (g0) & 255, (g1) >> 8, (g1) & 255,     \
			  (g2) >> 8, (g2) & 255, 0, 0, 0, 0, 0, 0,          \
			  (g6) >> 8, (g6) & 255, (g7) >> 8, (g7) & 255 },   \
			name, source                                        \
	}

static const ab_range table[] = {
	/* metadata services outside 169.254/16; documentation of the clouds */
	V4(100, 100, 100, 200, 32, METADATA, "metadata", "Alibaba Cloud"),
	V4(100, 96, 0, 96, 32, METADATA, "metadata", "Volcano Engine"),
	V4(168, 63, 129, 16, 32, METADATA, "metadata", "Azure WireServer"),
	V4(192, 0, 0, 192, 32, METADATA, "metadata", "Oracle Cloud Classic"),
	V6(0xfd00, 0xec2, 0, 0, 0, 32, METADATA, "metadata", "AWS"),
	V6(0xfd20, 0xce, 0, 0, 0x254, 128, METADATA, "metadata",
	   "Google Cloud"),
	V6(0xfd00, 0xc1, 0, 0xa9fe, 0xa9fe, 128, METADATA, "metadata",
	   "Oracle Cloud"),
	V6(0xfd00, 0x42, 0, 0, 0x42, 128, METADATA, "metadata", "Scaleway"),
	V6(0xfd00, 0xa9fe, 0xa9fe, 0, 1, 128, METADATA, "metadata",
	   "Akamai (Linode)"),
	V6(0xfd00, 0x100, 0, 0x100, 0x200, 128, METADATA, "metadata",
	   "Alibaba Cloud"),
	V6(0xfe80, 0, 0, 0xa9fe, 0xa9fe, 128, METADATA, "metadata",
	   "OpenStack"),
	/* AWS, Google, Azure, Oracle, OpenStack, ECS, EKS, Tencent...: every
	   cloud has its own in it, and link-local means this machine's link */
	V4(169, 254, 0, 0, 16, METADATA, "link-local", "RFC 3927 2.1"),

	V4(0, 0, 0, 0, 8, NEVER, "this-network", "RFC 791 3.2, RFC 6890"),
	V4(10, 0, 0, 0, 8, PRIVATE, "private", "RFC 1918 3"),
	V4(100, 64, 0, 0, 10, PRIVATE, "shared", "RFC 6598 7"),
	V4(127, 0, 0, 0, 8, PRIVATE, "loopback", "RFC 1122 3.2.1.3"),
	V4(172, 16, 0, 0, 12, PRIVATE, "private", "RFC 1918 3"),
	V4(192, 0, 0, 0, 24, NEVER, "ietf-protocol", "RFC 6890 2.1"),
	V4(192, 0, 2, 0, 24, NEVER, "documentation", "RFC 5737 3"),
	V4(192, 31, 196, 0, 24, NEVER, "as112", "RFC 7535 8.1"),
	V4(192, 52, 193, 0, 24, NEVER, "amt", "RFC 7450 7.1"),
	V4(192, 88, 99, 0, 24, NEVER, "6to4-relay", "RFC 7526 5, RFC 6751"),
	V4(192, 168, 0, 0, 16, PRIVATE, "private", "RFC 1918 3"),
	V4(192, 175, 48, 0, 24, NEVER, "as112", "RFC 7534 5"),
	V4(198, 18, 0, 0, 15, PRIVATE, "benchmarking", "RFC 2544 C.2.2"),
	V4(198, 51, 100, 0, 24, NEVER, "documentation", "RFC 5737 3"),
	V4(203, 0, 113, 0, 24, NEVER, "documentation", "RFC 5737 3"),
	V4(224, 0, 0, 0, 4, NEVER, "multicast", "RFC 5771 3"),
	V4(255, 255, 255, 255, 32, NEVER, "broadcast", "RFC 919 7"),
	V4(240, 0, 0, 0, 4, NEVER, "reserved", "RFC 1112 4"),

	V6(0, 0, 0, 0, 0, 128, NEVER, "unspecified", "RFC 4291 2.5.2"),
	V6(0, 0, 0, 0, 1, 128, PRIVATE, "loopback", "RFC 4291 2.5.3"),
	V6(0, 0, 0, 0, 0, 96, NEVER, "ipv4-compatible", "RFC 4291 2.5.5.1"),
	/* the mapped form is unmapped before it comes here; 64:ff9b:1::/48
	   carries an IPv4 address at a place only its operator knows */
	V6(0x64, 0xff9b, 0, 0, 0, 96, PRIVATE, "nat64", "RFC 6052 2.1"),
	V6(0x64, 0xff9b, 1, 0, 0, 48, NEVER, "nat64-local", "RFC 8215 3"),
	V6(0x100, 0, 0, 0, 0, 64, NEVER, "discard", "RFC 6666 4"),
	V6(0x2001, 0, 0, 0, 0, 32, NEVER, "teredo", "RFC 4380 2.6"),
	V6(0x2001, 2, 0, 0, 0, 48, NEVER, "benchmarking", "RFC 5180 8"),
	V6(0x2001, 0x10, 0, 0, 0, 28, NEVER, "orchid", "RFC 4843 6"),
	V6(0x2001, 0x20, 0, 0, 0, 28, NEVER, "orchid", "RFC 7343 6"),
	V6(0x2001, 0x30, 0, 0, 0, 28, NEVER, "drip", "RFC 9374 8.1"),
	V6(0x2001, 0, 0, 0, 0, 23, NEVER, "ietf-protocol", "RFC 2928 2"),
	V6(0x2001, 0xdb8, 0, 0, 0, 32, NEVER, "documentation", "RFC 3849 4"),
	V6(0x2002, 0, 0, 0, 0, 16, NEVER, "6to4", "RFC 3056 2"),
	V6(0x2620, 0x4f, 0x8000, 0, 0, 48, NEVER, "as112", "RFC 7534 5"),
	V6(0x3fff, 0, 0, 0, 0, 20, NEVER, "documentation", "RFC 9637 3"),
	V6(0x5f00, 0, 0, 0, 0, 16, NEVER, "segment-routing", "RFC 9602 6"),
	V6(0xfc00, 0, 0, 0, 0, 7, PRIVATE, "unique-local", "RFC 4193 3"),
	V6(0xfe80, 0, 0, 0, 0, 10, NEVER, "link-local", "RFC 4291 2.5.6"),
	V6(0xfec0, 0, 0, 0, 0, 10, NEVER, "site-local", "RFC 3879 4"),
	V6(0xff00, 0, 0, 0, 0, 8, NEVER, "multicast", "RFC 4291 2.7"),
};

/* What lies outside the global unicast space, and interface identifiers that
   carry an IPv4 address below any prefix. */
static const ab_range not_global = V6(0, 0, 0, 0, 0, 0, NEVER, "not-global",
				      "RFC 4291 2.4");
static const ab_range isatap = V6(0, 0, 0, 0, 0, 0, NEVER, "isatap",
				  "RFC 5214 6.1");
static const ab_range no_address = V4(0, 0, 0, 0, 0, NEVER, "no-address",
				      "fail closed");

const ab_range *ab_range_table(size_t *count)
{
	*count = AB_ARRAY_LEN(table);
	return table;
}

static const ab_range *find_row(uint32_t family, const uint8_t *address)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(table); i++)
		if (table[i].family == family &&
		    ab_bits_equal(table[i].address, address, table[i].prefix))
			return &table[i];
	return NULL;
}

/* RFC 5214 6.1: ...:0000:5efe:a.b.c.d, with the u bit set or not. */
static bool is_isatap(const uint8_t *b)
{
	return (b[8] == 0 || b[8] == 2) && b[9] == 0 && b[10] == 0x5e &&
	       b[11] == 0xfe;
}

static const ab_range *row_of(const ab_address *a)
{
	const ab_range *row;

	if (a->family != AB_ADDRESS_IPV4 && a->family != AB_ADDRESS_IPV6)
		return &no_address;
	row = find_row(a->family, a->bytes);
	if (row || a->family == AB_ADDRESS_IPV4)
		return row;
	if ((a->bytes[0] & 0xe0) != 0x20)
		return &not_global;
	return is_isatap(a->bytes) ? &isatap : NULL;
}

bool ab_range_inner(const ab_address *a, ab_address *inner)
{
	static const uint8_t nat64[12] = { 0, 0x64, 0xff, 0x9b };

	memset(inner, 0, sizeof(*inner));
	if (a->family != AB_ADDRESS_IPV6 ||
	    memcmp(a->bytes, nat64, sizeof(nat64)) != 0)
		return false;
	inner->family = AB_ADDRESS_IPV4;
	memcpy(inner->bytes, a->bytes + 12, 4);
	return true;
}

enum ab_range_class ab_range_of(const ab_address *a, const ab_range **row)
{
	ab_address plain = *a;
	ab_address inner;
	const ab_range *found;

	ab_address_unmap(&plain);
	found = row_of(&plain);
	if (ab_range_inner(&plain, &inner)) {
		const ab_range *within = row_of(&inner);

		if (within && (!found || within->class_ < found->class_))
			found = within;
	}
	if (row)
		*row = found;
	return found ? (enum ab_range_class)found->class_ : AB_RANGE_PUBLIC;
}

/* --- ranges against the table ------------------------------------------ */

/* Every address of the range begins with 001. */
static bool is_global_range(const uint8_t *address, unsigned prefix)
{
	return prefix >= 3 && (address[0] & 0xe0) == 0x20;
}

bool ab_range_overlaps_special(uint32_t family, const uint8_t *address,
			       unsigned prefix)
{
	ab_address one = { .family = (uint8_t)family };

	if (family == AB_ADDRESS_IPV6 && !is_global_range(address, prefix))
		return true;
	if (family == AB_ADDRESS_IPV6 && prefix >= 96) {
		memcpy(one.bytes, address, 16);
		if (is_isatap(one.bytes))
			return true;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(table); i++) {
		unsigned bits = table[i].prefix;

		if (table[i].family != family)
			continue;
		if (prefix < bits)
			bits = prefix;
		if (ab_bits_equal(address, table[i].address, bits))
			return true;
	}
	return false;
}

bool ab_range_is_void(uint32_t family, const uint8_t *address, unsigned prefix)
{
	const ab_range *row;

	for (size_t i = 0; i < AB_ARRAY_LEN(table); i++) {
		row = &table[i];
		if (row->family == family && prefix >= row->prefix &&
		    ab_bits_equal(address, row->address, row->prefix))
			return row->class_ < AB_RANGE_PRIVATE;
	}
	return false;
}

/* --- names ------------------------------------------------------------- */

static const struct special_name {
	const char *name;
	uint8_t class_; /* of the name and of all below it */
	const char *source;
} names[] = {
	{ "metadata.google.internal", AB_RANGE_METADATA, "Google Cloud" },
	{ "metadata.goog", AB_RANGE_METADATA, "Google Cloud" },
	{ "instance-data", AB_RANGE_METADATA, "AWS" },
	{ "metadata", AB_RANGE_METADATA, "Google Cloud, OpenStack" },
	{ "metadata.tencentyun.com", AB_RANGE_METADATA, "Tencent Cloud" },
	{ "metadata.azure.internal", AB_RANGE_METADATA, "Azure" },
	{ "metadata.azure.com", AB_RANGE_METADATA, "Azure" },
	{ "metadata.platformequinix.com", AB_RANGE_METADATA, "Equinix" },
	{ "metadata.packet.net", AB_RANGE_METADATA, "Equinix" },
	{ "onion", AB_RANGE_NEVER, "RFC 7686 2" },
	{ "alt", AB_RANGE_NEVER, "RFC 9476 3" },
	{ "invalid", AB_RANGE_NEVER, "RFC 6761 6.4" },
	{ "home.arpa", AB_RANGE_PRIVATE, "RFC 8375 4" },
	{ "arpa", AB_RANGE_NEVER, "RFC 3172 2" },
	{ "localhost", AB_RANGE_PRIVATE, "RFC 6761 6.3" },
	{ "localdomain", AB_RANGE_PRIVATE, "hosts(5)" },
	{ "local", AB_RANGE_PRIVATE, "RFC 6762 3" },
	{ "internal", AB_RANGE_PRIVATE, "ICANN 2024-07-29.06" },
};

/* `name` is `base` or below it. */
static bool is_within(const char *name, size_t n, const char *base, size_t b)
{
	if (n < b || memcmp(name + n - b, base, b) != 0)
		return false;
	return n == b || name[n - b - 1] == '.';
}

enum ab_range_class ab_name_class(const char *name, size_t n)
{
	if (n == 0)
		return AB_RANGE_NEVER;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		if (is_within(name, n, names[i].name, strlen(names[i].name)))
			return (enum ab_range_class)names[i].class_;
	/* nobody delegates hosts at the top: only a search list finds one */
	return memchr(name, '.', n) ? AB_RANGE_PUBLIC : AB_RANGE_PRIVATE;
}

/* A row below the name that a policy can open. */
static bool has_open_below(const char *name, size_t n)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		if (names[i].class_ == AB_RANGE_PRIVATE &&
		    is_within(names[i].name, strlen(names[i].name), name, n))
			return true;
	return false;
}

bool ab_name_tree_is_special(const char *name, size_t n)
{
	if (n == 0 || has_open_below(name, n))
		return true;
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		if (is_within(name, n, names[i].name, strlen(names[i].name)))
			return true;
	return false;
}

bool ab_name_is_void(const char *name, size_t n)
{
	return ab_name_class(name, n) < AB_RANGE_PRIVATE &&
	       !has_open_below(name, n);
}
