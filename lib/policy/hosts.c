/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parsing and comparing host patterns. Comparison is by labels, address bits
 * and port numbers, never by suffix of text: evil-example.com is not below
 * example.com. Refuses what a resolver or a socket call might read in another
 * way. Spec: policy/hosts.h.
 */
#include "config.h"

#include "policy/hosts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/attr.h"

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
static size_t join_ranges(ab_host_range *r, size_t n)
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
static bool set_ranges(ab_host *h, ab_host_range *r, size_t n)
{
	size_t used = join_ranges(r, n);

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
			return set_ranges(out, r, n);
		if (*s++ != ',')
			return refuse(why, form);
	}
}

/* Do n sorted, joined ranges hold every port of c? None means every port. */
static bool ranges_cover(const ab_host_range *r, size_t n, const ab_host *c)
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
	       ranges_cover(p->ranges, p->range_count, c);
}

/* Ports both have into out; false when there are none. Two lists of 32 can
   meet in more than 32 pieces: then too_many. */
static bool ports_intersect(const ab_host *a, const ab_host *b, ab_host *out,
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
	if (n && !set_ranges(out, r, n))
		*too_many = true;
	return n > 0;
}

/* --- the host part ----------------------------------------------------- */

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* The last label looks like a number: inet_aton(3) would take it as one. */
static bool is_numeric_label(const char *s)
{
	if (s[0] == '0' && s[1] == 'x')
		return s[2 + strspn(s + 2, "0123456789abcdef")] == '\0';
	return s[strspn(s, "0123456789")] == '\0';
}

static bool parse_name(const char *s, size_t n, ab_host *out,
		       char why[AB_WHY_SIZE])
{
	size_t label = 0;

	if (n && s[n - 1] == '.')
		n--;
	if (n == 0 || n >= AB_HOST_NAME_SIZE)
		return refuse(why, n ? "is too long a host name" :
				       "is not a host name");
	for (size_t i = 0; i < n; i++) {
		char c = s[i];

		if ((unsigned char)c >= 0x80)
			return refuse(why, "is not ASCII; write the A-label "
					   "(\"xn--...\")");
		if (c >= 'A' && c <= 'Z')
			c = (char)(c + ('a' - 'A'));
		out->name[i] = c;
		if (c == '.') {
			if (i == label || out->name[i - 1] == '-')
				return refuse(why, "has an empty or malformed "
						   "label");
			label = i + 1;
			continue;
		}
		if (!is_alnum(c) && (c != '-' || i == label))
			return refuse(why, "is not a host name; write "
					   "\"api.example.com\" or "
					   "\"*.example.com\"");
		if (i - label >= 63)
			return refuse(why, "has a label over 63 bytes");
	}
	out->name[n] = '\0';
	if (out->name[n - 1] == '-' || out->name[n - 1] == '.')
		return refuse(why, "has an empty or malformed label");
	if (is_numeric_label(out->name + label))
		return refuse(why, "is not an IPv4 address in four decimal "
				   "parts; write \"192.0.2.7\"");
	return true;
}

/* Prefix length after the slash, or `all` when there is none; -1: bad. */
static int parse_prefix(const char *slash, int all)
{
	const char *s = slash ? slash + 1 : "";
	int v = 0;

	if (!slash)
		return all;
	if (*s == '\0' || (s[0] == '0' && s[1]))
		return -1;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || v > all)
			return -1;
		v = v * 10 + (*s - '0');
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
static void unmap_ipv4(ab_host *h)
{
	static const uint8_t mapped[12] = { 0, 0, 0, 0, 0,    0,
					    0, 0, 0, 0, 0xff, 0xff };

	if (h->kind != AB_HOST_IPV6 || h->prefix < 96 ||
	    memcmp(h->address, mapped, sizeof(mapped)) != 0)
		return;
	h->kind = AB_HOST_IPV4;
	h->prefix = (uint8_t)(h->prefix - 96);
	memmove(h->address, h->address + 12, 4);
	memset(h->address + 4, 0, 12);
}

/* 1 parsed, 0 not an address, -1 refused (why is filled). */
static int parse_address(const char *s, size_t n, ab_host *out,
			 char why[AB_WHY_SIZE])
{
	char text[64];
	char *slash;
	bool six = memchr(s, ':', n) != NULL;
	int prefix;

	if (n >= sizeof(text) || n == 0) {
		if (six)
			refuse(why, "is not an IPv6 address");
		return six ? -1 : 0;
	}
	memcpy(text, s, n);
	text[n] = '\0';
	slash = strchr(text, '/');
	prefix = parse_prefix(slash, six ? 128 : 32);
	if (slash)
		*slash = '\0';
	if (inet_pton(six ? AF_INET6 : AF_INET, text, out->address) != 1) {
		if (six)
			refuse(why, "is not an IPv6 address");
		else if (slash)
			refuse(why, "is not an address range; write "
				    "\"192.0.2.0/24\"");
		return six || slash ? -1 : 0;
	}
	if (prefix < 0) {
		refuse(why, "has a bad prefix length");
		return -1;
	}
	out->kind = six ? AB_HOST_IPV6 : AB_HOST_IPV4;
	out->prefix = (uint8_t)prefix;
	if (has_host_bits(out->address, six ? 16 : 4, out->prefix)) {
		refuse(why, "has bits set behind its prefix; write the "
			    "first address of the range");
		return -1;
	}
	unmap_ipv4(out);
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
	char address[INET6_ADDRSTRLEN] = "";
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
		inet_ntop(host->kind == AB_HOST_IPV4 ? AF_INET : AF_INET6,
			  host->address, address, sizeof(address));
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

static bool same_prefix(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	unsigned whole = bits / 8;

	if (memcmp(a, b, whole) != 0)
		return false;
	return bits % 8 == 0 ||
	       ((a[whole] ^ b[whole]) & (0xff00u >> (bits % 8)) & 0xff) == 0;
}

/*
 * Ranges that "*" as a grant does not stand for: RFC 6890 and the cloud
 * metadata addresses (169.254/16, fd00::/8). The gateway has the full table
 * and checks resolved addresses; this one judges what a document asks for.
 */
static const struct special {
	uint8_t six;
	uint8_t prefix;
	uint8_t address[16];
} special[] = {
	{ 0, 8, { 0 } },
	{ 0, 8, { 10 } },
	{ 0, 10, { 100, 64 } },
	{ 0, 8, { 127 } },
	{ 0, 16, { 169, 254 } },
	{ 0, 12, { 172, 16 } },
	{ 0, 24, { 192, 0, 0 } },
	{ 0, 16, { 192, 168 } },
	{ 0, 15, { 198, 18 } },
	{ 0, 3, { 224 } },
	{ 1, 16, { 0 } },
	{ 1, 16, { 0, 0x64 } },
	{ 1, 32, { 0x20, 0x01 } },
	{ 1, 16, { 0x20, 0x02 } },
	{ 1, 7, { 0xfc } },
	{ 1, 10, { 0xfe, 0x80 } },
	{ 1, 10, { 0xfe, 0xc0 } },
	{ 1, 8, { 0xff } },
};

static bool is_address(const ab_host *h)
{
	return h->kind == AB_HOST_IPV4 || h->kind == AB_HOST_IPV6;
}

/* Overlaps a special range, or is the metadata name. */
static bool is_special(const ab_host *h)
{
	if (h->kind == AB_HOST_NAME)
		return strcmp(h->name, "metadata.google.internal") == 0 ||
		       strcmp(h->name, "localhost") == 0;
	if (!is_address(h))
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(special); i++) {
		unsigned bits = special[i].prefix;

		if ((h->kind == AB_HOST_IPV6) != special[i].six)
			continue;
		if (h->prefix < bits)
			bits = h->prefix;
		if (same_prefix(h->address, special[i].address, bits))
			return true;
	}
	return false;
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
		return deny || !is_special(c);
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
		       same_prefix(p->address, c->address, p->prefix);
	}
	return false;
}

bool ab_host_covers(const ab_host *p, const ab_host *c, bool deny)
{
	return host_covers(p, c, deny) && ports_cover(p, c);
}

/* Order by the host part alone. */
static int compare_hosts(const void *a, const void *b)
{
	const ab_host *x = a;
	const ab_host *y = b;
	int r;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	r = strcmp(x->name, y->name);
	if (r == 0)
		r = memcmp(x->address, y->address, sizeof(x->address));
	return r ? r : (int)x->prefix - (int)y->prefix;
}

/* b's ports into a, which is the same host. */
static bool merge_ports(ab_host *a, const ab_host *b)
{
	ab_host_range r[2 * AB_HOST_RANGES];

	if (a->range_count == 0 || b->range_count == 0) {
		a->range_count = 0;
		memset(a->ranges, 0, sizeof(a->ranges));
		return true;
	}
	memcpy(r, a->ranges, a->range_count * sizeof(*r));
	memcpy(r + a->range_count, b->ranges, b->range_count * sizeof(*r));
	return set_ranges(a, r, (size_t)a->range_count + b->range_count);
}

int ab_host_set_init(ab_host_set *set, ab_host *items, size_t count)
{
	size_t used = 0;

	if (count)
		qsort(items, count, sizeof(*items), compare_hosts);
	set->items = items;
	for (size_t i = 0; i < count; i++) {
		if (used && compare_hosts(&items[used - 1], &items[i]) == 0) {
			if (!merge_ports(&items[used - 1], &items[i])) {
				set->count = used;
				return -E2BIG;
			}
		} else {
			if (used != i)
				items[used] = items[i];
			used++;
		}
	}
	set->count = used;
	return 0;
}

void ab_host_set_end(ab_host_set *set)
{
	free(set->items);
	set->items = NULL;
	set->count = 0;
}

/* --- sets -------------------------------------------------------------- */

typedef bool (*visit_fn)(const ab_host *p, const ab_host *c, void *data);

static const ab_host *find(const ab_host_set *set, const ab_host *key)
{
	if (set->count == 0)
		return NULL;
	return bsearch(key, set->items, set->count, sizeof(*key),
		       compare_hosts);
}

/* Try the entry equal to key; true ends the walk. */
static bool try_key(const ab_host_set *set, const ab_host *key,
		    const ab_host *c, visit_fn visit, void *data)
{
	const ab_host *p = find(set, key);

	return p && visit(p, c, data);
}

static bool walk_names(const ab_host_set *set, const ab_host *c,
		       visit_fn visit, void *data)
{
	ab_host key = { .kind = c->kind };
	const char *dot = c->name;

	memcpy(key.name, c->name, sizeof(key.name));
	if (try_key(set, &key, c, visit, data))
		return true;
	key.kind = AB_HOST_BELOW;
	while ((dot = strchr(dot, '.'))) {
		dot++;
		memcpy(key.name, dot, strlen(dot) + 1);
		if (try_key(set, &key, c, visit, data))
			return true;
	}
	return false;
}

static bool walk_addresses(const ab_host_set *set, const ab_host *c,
			   visit_fn visit, void *data)
{
	ab_host key = { .kind = c->kind };

	memcpy(key.address, c->address, sizeof(key.address));
	for (int bits = c->prefix; bits >= 0; bits--) {
		if (bits < c->prefix)
			key.address[bits / 8] &=
				(uint8_t)~(0x80u >> (bits % 8));
		key.prefix = (uint8_t)bits;
		if (try_key(set, &key, c, visit, data))
			return true;
	}
	return false;
}

/*
 * Every entry whose host part covers c's, by looking up the few that could:
 * "*", each parent domain, each shorter prefix. True when a visit ended it.
 */
static bool walk_covering(const ab_host_set *set, const ab_host *c, bool deny,
			  visit_fn visit, void *data)
{
	static const ab_host any = { .kind = AB_HOST_ANY };

	if ((deny || !is_special(c)) && try_key(set, &any, c, visit, data))
		return true;
	if (c->kind == AB_HOST_ANY)
		return false;
	return is_address(c) ? walk_addresses(set, c, visit, data) :
			       walk_names(set, c, visit, data);
}

/* Room for the ports of every entry that can cover one name or address. */
#define MAX_COVERING 130

struct ports {
	ab_host_range ranges[MAX_COVERING * AB_HOST_RANGES];
	size_t count;
	bool all;
};

static bool visit_ports(const ab_host *p, const ab_host *c, void *data)
{
	struct ports *ports = data;

	(void)c;
	if (p->range_count == 0) {
		ports->all = true;
		return true;
	}
	if (ports->count + p->range_count > AB_ARRAY_LEN(ports->ranges))
		return true;
	memcpy(ports->ranges + ports->count, p->ranges,
	       p->range_count * sizeof(p->ranges[0]));
	ports->count += p->range_count;
	return false;
}

bool ab_host_set_covers(const ab_host_set *set, const ab_host *c, bool deny)
{
	struct ports ports;

	ports.count = 0;
	ports.all = false;
	walk_covering(set, c, deny, visit_ports, &ports);
	if (ports.all)
		return true;
	return ranges_cover(ports.ranges,
			    join_ranges(ports.ranges, ports.count), c);
}

struct collect {
	ab_host *items;
	size_t count, room;
	bool no_memory, too_many;
};

/* c is the narrower of the two: keep its host with the ports of both. */
static bool visit_collect(const ab_host *p, const ab_host *c, void *data)
{
	struct collect *to = data;
	ab_host both = *c;

	if (!ports_intersect(p, c, &both, &to->too_many))
		return to->too_many;
	if (to->count == to->room) {
		size_t room = to->room ? 2 * to->room : 16;
		ab_host *items = ab_realloc(to->items, room, sizeof(*items));

		if (!items) {
			to->no_memory = true;
			return true;
		}
		to->items = items;
		to->room = room;
	}
	to->items[to->count++] = both;
	return false;
}

int ab_host_set_intersect(const ab_host_set *p, const ab_host_set *c,
			  ab_host_set *out)
{
	struct collect to = { 0 };
	int r;

	for (size_t i = 0; i < c->count; i++)
		walk_covering(p, &c->items[i], false, visit_collect, &to);
	for (size_t i = 0; i < p->count; i++)
		walk_covering(c, &p->items[i], false, visit_collect, &to);
	if (to.no_memory || to.too_many) {
		free(to.items);
		return to.no_memory ? -ENOMEM : -E2BIG;
	}
	r = ab_host_set_init(out, to.items, to.count);
	if (r < 0)
		ab_host_set_end(out);
	return r;
}
