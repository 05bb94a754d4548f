/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parsing and comparing host patterns. Comparison is by labels, address bits
 * and port numbers, never by suffix of text: evil-example.com is not below
 * example.com. Refuses what a resolver or a socket call might read in another
 * way. Spec: net/hosts.h.
 */
#include "config.h"

#include "net/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "net/address.h"
#include "net/ranges.h"
#include "net/target.h"

static bool refuse(char why[AB_WHY_SIZE], const char *text)
{
	snprintf(why, AB_WHY_SIZE, "%s", text);
	return false;
}

/* --- ports ------------------------------------------------------------- */

static int compare_ranges(const void *a, const void *b)
{
	const ab_host_range *x = a;
	const ab_host_range *y = b;

	return (int)x->low - (int)y->low;
}

/* Sort and join touching ranges; how many remain. */
size_t ab_host_join_ranges(ab_host_range *r, size_t n)
{
	size_t used = 0;

	qsort(r, n, sizeof(*r), compare_ranges);
	for (size_t i = 0; i < n; i++) {
		if (used && r[i].low <= r[used - 1].high + 1) {
			if (r[i].high > r[used - 1].high)
				r[used - 1].high = r[i].high;
		} else {
			r[used++] = r[i];
		}
	}
	return used;
}

/* false when more than fit remain. */
bool ab_host_set_ranges(ab_host *h, ab_host_range *r, size_t n)
{
	size_t used = ab_host_join_ranges(r, n);

	if (used > AB_HOST_RANGES)
		return false;
	memcpy(h->ranges, r, used * sizeof(*r));
	h->range_count = (uint8_t)used;
	return true;
}

/* One decimal port without sign, space or leading zero; 0 for anything else. */
static unsigned read_port(const char **s)
{
	unsigned v = 0;
	const char *p = *s;

	if (*p == '0')
		return 0;
	while (*p >= '0' && *p <= '9' && v <= UINT16_MAX)
		v = v * 10 + (unsigned)(*p++ - '0');
	*s = p;
	return v <= UINT16_MAX ? v : 0;
}

static bool parse_ports(const char *s, ab_host *out, char why[AB_WHY_SIZE])
{
	static const char form[] =
		"has bad ports; write \":443\" or \":443,8000-8100\"";
	ab_host_range r[AB_HOST_RANGES];
	size_t n = 0;

	for (;;) {
		unsigned low = read_port(&s);
		unsigned high = low;

		if (low == 0)
			return refuse(why, form);
		if (*s == '-') {
			s++;
			high = read_port(&s);
		}
		if (high < low)
			return refuse(why, form);
		if (n == AB_HOST_RANGES)
			return refuse(why, "has more than 32 port ranges");
		r[n].low = (uint16_t)low;
		r[n++].high = (uint16_t)high;
		if (*s == '\0')
			return ab_host_set_ranges(out, r, n);
		if (*s++ != ',')
			return refuse(why, form);
	}
}

/* Do n sorted, joined ranges hold every port of c? None means every port. */
bool ab_host_ranges_cover(const ab_host_range *r, size_t n, const ab_host *c)
{
	static const ab_host_range every = { 1, UINT16_MAX };
	const ab_host_range *want = c->range_count ? c->ranges : &every;
	size_t count = c->range_count ? c->range_count : 1;
	size_t j = 0;

	for (size_t i = 0; i < count; i++) {
		while (j < n && r[j].high < want[i].low)
			j++;
		if (j == n || r[j].low > want[i].low ||
		    r[j].high < want[i].high)
			return false;
	}
	return true;
}

static bool ports_cover(const ab_host *p, const ab_host *c)
{
	return p->range_count == 0 ||
	       ab_host_ranges_cover(p->ranges, p->range_count, c);
}

/* Ports both have into out; false when there are none. Two lists of 32 can
   meet in more than 32 pieces: then too_many. */
bool ab_host_ports_intersect(const ab_host *a, const ab_host *b, ab_host *out,
			    bool *too_many)
{
	ab_host_range r[2 * AB_HOST_RANGES];
	size_t n = 0;

	if (a->range_count == 0 || b->range_count == 0) {
		const ab_host *h = a->range_count ? a : b;

		memcpy(out->ranges, h->ranges, sizeof(out->ranges));
		out->range_count = h->range_count;
		return true;
	}
	for (size_t i = 0, j = 0; i < a->range_count && j < b->range_count;) {
		const ab_host_range *x = &a->ranges[i];
		const ab_host_range *y = &b->ranges[j];
		uint16_t low = x->low > y->low ? x->low : y->low;
		uint16_t high = x->high < y->high ? x->high : y->high;

		if (low <= high) {
			r[n].low = low;
			r[n++].high = high;
		}
		if (x->high < y->high)
			i++;
		else
			j++;
	}
	if (n && !ab_host_set_ranges(out, r, n))
		*too_many = true;
	return n > 0;
}

/* --- the host part ----------------------------------------------------- */

/* What to tell who wrote a policy; reasons about a wire have no place. */
static const char *name_advice(enum ab_target_reason reason)
{
	switch (reason) {
	case AB_TARGET_EMPTY:
		return "is not a host name";
	case AB_TARGET_TOO_LONG:
		return "is too long a host name";
	case AB_TARGET_LABEL:
		return "has an empty or malformed label";
	case AB_TARGET_NOT_ASCII:
		return "is not ASCII; write the A-label (\"xn--...\")";
	case AB_TARGET_NUMBER:
		return "is not an IPv4 address in four decimal parts; write "
		       "\"192.0.2.7\"";
	case AB_TARGET_OK:
	case AB_TARGET_NUL:
	case AB_TARGET_CONTROL:
	case AB_TARGET_USERINFO:
	case AB_TARGET_PERCENT:
	case AB_TARGET_CHARACTER:
	case AB_TARGET_IPV6:
	case AB_TARGET_NO_PORT:
	case AB_TARGET_PORT:
	case AB_TARGET_REASON_COUNT:
		break;
	}
	return "is not a host name; write \"api.example.com\" or "
	       "\"*.example.com\"";
}

static bool parse_name(const char *s, size_t n, ab_host *out,
		       char why[AB_WHY_SIZE])
{
	ab_target name;
	enum ab_target_reason reason = ab_target_only_name(s, n, &name);

	if (reason)
		return refuse(why, name_advice(reason));
	memcpy(out->name, name.name, sizeof(out->name));
	return true;
}

/* Prefix length after the slash, or `all` when there is none; -1: bad. */
static int parse_prefix(const char *slash, size_t n, int all)
{
	int v = 0;

	if (!slash)
		return all;
	if (n < 2 || n > 4 || (slash[1] == '0' && n > 2))
		return -1;
	for (size_t i = 1; i < n; i++) {
		if (slash[i] < '0' || slash[i] > '9')
			return -1;
		v = v * 10 + (slash[i] - '0');
	}
	return v <= all ? v : -1;
}

static bool has_host_bits(const uint8_t *a, size_t bytes, unsigned prefix)
{
	for (size_t i = prefix; i < bytes * 8; i++)
		if (a[i / 8] & (0x80u >> (i % 8)))
			return true;
	return false;
}

/* ::ffff:a.b.c.d with a prefix of 96 or more is the IPv4 it embeds (A20). */
static void set_address(ab_host *h, ab_address *address, unsigned prefix)
{
	uint8_t family = address->family;

	if (prefix >= 96)
		ab_address_unmap(address);
	h->kind = address->family == AB_ADDRESS_IPV4 ? AB_HOST_IPV4 :
						       AB_HOST_IPV6;
	h->prefix = (uint8_t)(address->family == family ? prefix :
							  prefix - 96);
	memcpy(h->address, address->bytes, sizeof(h->address));
}

/* 1 parsed, 0 not an address, -1 refused (why is filled). */
static int parse_address(const char *s, size_t n, ab_host *out,
			 char why[AB_WHY_SIZE])
{
	const char *slash = n ? memchr(s, '/', n) : NULL;
	size_t len = slash ? (size_t)(slash - s) : n;
	bool six = n && memchr(s, ':', n);
	int all = six ? 128 : 32;
	ab_address address;
	int prefix;

	if (!ab_address_parse(s, len, &address)) {
		if (six)
			refuse(why, "is not an IPv6 address");
		else if (slash)
			refuse(why, "is not an address range; write "
				    "\"192.0.2.0/24\"");
		return six || slash ? -1 : 0;
	}
	prefix = parse_prefix(slash, n - len, all);
	if (prefix < 0) {
		refuse(why, "has a bad prefix length");
		return -1;
	}
	if (has_host_bits(address.bytes, six ? 16 : 4, (unsigned)prefix)) {
		refuse(why, "has bits set behind its prefix; write the "
			    "first address of the range");
		return -1;
	}
	set_address(out, &address, (unsigned)prefix);
	return 1;
}

static bool parse_host(const char *s, size_t n, ab_host *out,
		       char why[AB_WHY_SIZE])
{
	int r;

	if (n == 1 && s[0] == '*') {
		out->kind = AB_HOST_ANY;
		return true;
	}
	if (n > 2 && s[0] == '*' && s[1] == '.') {
		out->kind = AB_HOST_BELOW;
		return parse_name(s + 2, n - 2, out, why);
	}
	r = parse_address(s, n, out, why);
	if (r)
		return r > 0;
	out->kind = AB_HOST_NAME;
	return parse_name(s, n, out, why);
}

bool ab_host_parse(const char *s, ab_host *out, char why[AB_WHY_SIZE])
{
	const char *colon = strchr(s, ':');

	memset(out, 0, sizeof(*out));
	if (strstr(s, "://"))
		return refuse(why, "is a URL; write its host alone, as in "
				   "\"api.example.com\"");
	if (s[0] == '[') {
		const char *end = strchr(s, ']');

		if (!end || memchr(s, ':', (size_t)(end - s)) == NULL ||
		    (end[1] != '\0' && end[1] != ':'))
			return refuse(why, "is not an IPv6 address in "
					   "brackets; write "
					   "\"[2001:db8::7]:443\"");
		if (!parse_host(s + 1, (size_t)(end - s - 1), out, why))
			return false;
		return end[1] == '\0' || parse_ports(end + 2, out, why);
	}
	if (!colon || strchr(colon + 1, ':'))
		return parse_host(s, strlen(s), out, why);
	if (!parse_host(s, (size_t)(colon - s), out, why))
		return false;
	return parse_ports(colon + 1, out, why);
}

void ab_host_text(const ab_host *host, char out[AB_HOST_TEXT_SIZE])
{
	char address[AB_ADDRESS_TEXT_SIZE] = "";
	ab_address plain = { .family = AB_ADDRESS_IPV4 };
	bool bracket = host->kind == AB_HOST_IPV6 && host->range_count;
	size_t n = 0;

	switch ((enum ab_host_kind)host->kind) {
	case AB_HOST_ANY:
		n = (size_t)snprintf(out, AB_HOST_TEXT_SIZE, "*");
		break;
	case AB_HOST_NAME:
	case AB_HOST_BELOW:
		n = (size_t)snprintf(out, AB_HOST_TEXT_SIZE, "%s%s",
				     host->kind == AB_HOST_BELOW ? "*." : "",
				     host->name);
		break;
	case AB_HOST_IPV4:
	case AB_HOST_IPV6:
		if (host->kind == AB_HOST_IPV6)
			plain.family = AB_ADDRESS_IPV6;
		memcpy(plain.bytes, host->address, sizeof(plain.bytes));
		ab_address_text(&plain, address);
		n = (size_t)snprintf(out, AB_HOST_TEXT_SIZE, "%s%s",
				     bracket ? "[" : "", address);
		if (host->prefix != (host->kind == AB_HOST_IPV4 ? 32 : 128))
			n += (size_t)snprintf(out + n, AB_HOST_TEXT_SIZE - n,
					      "/%u", host->prefix);
		if (bracket)
			n += (size_t)snprintf(out + n, AB_HOST_TEXT_SIZE - n,
					      "]");
		break;
	}
	for (size_t i = 0; i < host->range_count; i++) {
		const ab_host_range *r = &host->ranges[i];

		n += (size_t)snprintf(out + n, AB_HOST_TEXT_SIZE - n, "%c%u",
				      i ? ',' : ':', r->low);
		if (r->high != r->low)
			n += (size_t)snprintf(out + n, AB_HOST_TEXT_SIZE - n,
					      "-%u", r->high);
	}
}

bool ab_host_is_broad(const ab_host *host)
{
	if (host->kind == AB_HOST_BELOW)
		return strchr(host->name, '.') == NULL;
	if (host->kind == AB_HOST_IPV4)
		return host->prefix < 8;
	return host->kind == AB_HOST_IPV6 && host->prefix < 16;
}

/* --- comparison -------------------------------------------------------- */

/* Something "*" as a grant does not stand for. */
bool ab_host_is_special(const ab_host *h)
{
	size_t n = strlen(h->name);

	switch ((enum ab_host_kind)h->kind) {
	case AB_HOST_ANY:
		return false;
	case AB_HOST_NAME:
		return ab_name_class(h->name, n) != AB_RANGE_PUBLIC;
	case AB_HOST_BELOW:
		return ab_name_tree_is_special(h->name, n);
	case AB_HOST_IPV4:
		return ab_range_overlaps_special(AB_ADDRESS_IPV4, h->address,
						 h->prefix);
	case AB_HOST_IPV6:
		return ab_range_overlaps_special(AB_ADDRESS_IPV6, h->address,
						 h->prefix);
	}
	return true;
}

bool ab_host_is_void(const ab_host *h)
{
	if (h->kind == AB_HOST_NAME || h->kind == AB_HOST_BELOW)
		return ab_name_is_void(h->name, strlen(h->name));
	if (h->kind == AB_HOST_IPV4)
		return ab_range_is_void(AB_ADDRESS_IPV4, h->address,
					h->prefix);
	return h->kind == AB_HOST_IPV6 &&
	       ab_range_is_void(AB_ADDRESS_IPV6, h->address, h->prefix);
}

/* "b.example.com" is below "example.com"; neither has a trailing dot. */
static bool name_is_below(const char *name, const char *base)
{
	size_t n = strlen(name);
	size_t b = strlen(base);

	return n > b && name[n - b - 1] == '.' &&
	       strcmp(name + n - b, base) == 0;
}

static bool host_covers(const ab_host *p, const ab_host *c, bool deny)
{
	switch ((enum ab_host_kind)p->kind) {
	case AB_HOST_ANY:
		return deny || !ab_host_is_special(c);
	case AB_HOST_NAME:
		return c->kind == AB_HOST_NAME && strcmp(p->name, c->name) == 0;
	case AB_HOST_BELOW:
		if (c->kind == AB_HOST_BELOW && strcmp(p->name, c->name) == 0)
			return true;
		return (c->kind == AB_HOST_NAME || c->kind == AB_HOST_BELOW) &&
		       name_is_below(c->name, p->name);
	case AB_HOST_IPV4:
	case AB_HOST_IPV6:
		return c->kind == p->kind && c->prefix >= p->prefix &&
		       ab_bits_equal(p->address, c->address, p->prefix);
	}
	return false;
}

bool ab_host_covers(const ab_host *p, const ab_host *c, bool deny)
{
	return host_covers(p, c, deny) && ports_cover(p, c);
}
