/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Addresses that are a box's, in whatever spelling a resolver takes: one to
 * four parts, each decimal, octal or hex (inet_aton(3)), IPv6, IPv4 in IPv6
 * (mapped, RFC 6052, RFC 3056), and as the name of a reverse lookup.
 */
#include "config.h"

#include <string.h>

#include "scope/internal.h"

#define MAX_TEXT 64

static bool is_part(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
	       (c >= 'A' && c <= 'F') || c == 'x' || c == 'X';
}

/* One number as strtoul(3) with base 0 reads it. */
static bool read_part(const char *p, size_t n, uint64_t *value)
{
	bool hex = n > 2 && p[0] == '0' && (p[1] | 0x20) == 'x';
	unsigned base = hex ? 16 : n > 1 && p[0] == '0' ? 8 : 10;

	*value = 0;
	for (size_t i = hex ? 2 : 0; i < n; i++) {
		char c = (char)(p[i] | 0x20);
		unsigned d = p[i] >= '0' && p[i] <= '9' ?
				     (unsigned)(p[i] - '0') :
			     c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) :
						    99;

		if (d >= base || *value > UINT32_MAX)
			return false;
		*value = *value * base + d;
	}
	return n > 0;
}

static bool loose_ipv4(const char *p, size_t n, ab_address *out)
{
	uint64_t parts[4];
	size_t count = 0;
	uint64_t all = 0;

	for (size_t i = 0; i <= n && count < 4;) {
		size_t end = i;

		while (end < n && p[end] != '.')
			end++;
		if (!read_part(p + i, end - i, &parts[count]))
			return false;
		count++;
		i = end + 1;
		if (i > n)
			break;
		if (count == 4)
			return false;
	}
	for (size_t i = 0; i + 1 < count; i++) {
		if (parts[i] > 255)
			return false;
		all |= parts[i] << (24 - 8 * i);
	}
	if (count == 0 || parts[count - 1] >> (8 * (5 - count)))
		return false;
	all |= parts[count - 1];
	*out = (ab_address){ .family = AB_ADDRESS_IPV4 };
	for (size_t i = 0; i < 4; i++)
		out->bytes[i] = (uint8_t)(all >> (24 - 8 * i));
	return true;
}

/* The IPv4 address that an IPv6 one carries: 64:ff9b::/96, 2002::/16. */
static bool carried(const ab_address *a, ab_address *out)
{
	static const uint8_t nat64[12] = { 0, 0x64, 0xff, 0x9b };
	size_t at = 0;

	if (a->family != AB_ADDRESS_IPV6)
		return false;
	if (memcmp(a->bytes, nat64, sizeof(nat64)) == 0)
		at = sizeof(nat64);
	else if (a->bytes[0] == 0x20 && a->bytes[1] == 2)
		at = 2;
	*out = (ab_address){ .family = AB_ADDRESS_IPV4 };
	memcpy(out->bytes, a->bytes + at, 4);
	return at != 0;
}

static void compare_one(struct ab_scope_look *l, const ab_address *a)
{
	for (size_t i = 0; i < l->scope->address_count; i++) {
		const struct ab_scope_address *known = &l->scope->addresses[i];
		ab_address theirs = known->address;

		ab_address_unmap(&theirs);
		if (!ab_address_equal(a, &theirs) ||
		    l->scope->boxes[known->box].owner == AB_SCOPE_OWN)
			continue;
		for (size_t j = 0; j < l->scope->name_count; j++)
			if (l->scope->names[j].box == known->box) {
				l->saw(l->data, AB_SAW_BOX,
				       &l->scope->names[j], l->level);
				return;
			}
	}
}

static void compare(struct ab_scope_look *l, ab_address *a)
{
	ab_address inner;

	ab_address_unmap(a);
	compare_one(l, a);
	if (carried(a, &inner))
		compare_one(l, &inner);
}

void ab_scope_find_address_bytes(struct ab_scope_look *l, const char *bytes,
				 size_t n)
{
	ab_address a = { .family = n == 4 ? AB_ADDRESS_IPV4 :
					    AB_ADDRESS_IPV6 };

	if (!l->scope->address_count || (n != 4 && n != sizeof(a.bytes)))
		return;
	memcpy(a.bytes, bytes, n);
	compare(l, &a);
}

/* "2.0.77.10.in-addr.arpa": the parts from the last to the first. */
static bool is_reverse(const struct ab_plain *p, size_t e)
{
	static const char tail[] = ".in-addr";

	for (size_t i = 0; tail[i]; i++)
		if (e + i >= p->n || (ab_scope_fold(p->c[e + i]) !=
				      ab_scope_fold(tail[i])))
			return false;
	return true;
}

static void turn(ab_address *a)
{
	const uint8_t b[4] = { a->bytes[3], a->bytes[2], a->bytes[1],
			       a->bytes[0] };

	memcpy(a->bytes, b, sizeof(b));
}

void ab_scope_find_addresses(struct ab_scope_look *l, const struct ab_plain *p)
{
	ab_address a;

	if (!l->scope->address_count)
		return;
	for (size_t i = 0; i < p->n;) {
		size_t v4 = i;
		size_t v6 = i;

		if (!ab_scope_begins(p, i) ||
		    !(is_part(p->c[i]) || p->c[i] == ':')) {
			i++;
			continue;
		}
		while (v4 < p->n && v4 - i < MAX_TEXT &&
		       (is_part(p->c[v4]) || p->c[v4] == '.'))
			v4++;
		while (v6 < p->n && v6 - i < MAX_TEXT &&
		       (is_part(p->c[v6]) || strchr(".:", p->c[v6])) &&
		       p->c[v6])
			v6++;
		while (v4 > i && p->c[v4 - 1] == '.')
			v4--;
		if (v4 > i && loose_ipv4(p->c + i, v4 - i, &a)) {
			if (is_reverse(p, v4))
				turn(&a);
			compare(l, &a);
		}
		if (v6 > v4 && ab_address_parse(p->c + i, v6 - i, &a))
			compare(l, &a);
		i = v6 > v4 ? v6 : v4 > i ? v4 : i + 1;
	}
}
