/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sets of host patterns: sorted, one entry per host part, looked up by the
 * few keys that could cover a pattern instead of by trying them all.
 * Spec: net/hosts.h, fleet cases A18, A26.
 */
#include "config.h"

#include "net/hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/attr.h"

static bool is_address(const ab_host *h)
{
	return h->kind == AB_HOST_IPV4 || h->kind == AB_HOST_IPV6;
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
	return ab_host_set_ranges(a, r,
				  (size_t)a->range_count + b->range_count);
}

static void note_length(ab_host_set *set, const ab_host *h)
{
	if (is_address(h))
		set->lengths[h->kind == AB_HOST_IPV6][h->prefix / 8] |=
			(uint8_t)(1u << (h->prefix % 8));
}

static bool has_length(const ab_host_set *set, uint32_t kind, int bits)
{
	return set->lengths[kind == AB_HOST_IPV6][bits / 8] &
	       (1u << (bits % 8));
}

int ab_host_set_init(ab_host_set *set, ab_host *items, size_t count)
{
	size_t used = 0;

	memset(set->lengths, 0, sizeof(set->lengths));
	for (size_t i = 0; i < count; i++)
		note_length(set, &items[i]);
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

/* --- looking up -------------------------------------------------------- */

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
		if (!has_length(set, c->kind, bits))
			continue;
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

	if ((deny || !ab_host_is_special(c)) &&
	    try_key(set, &any, c, visit, data))
		return true;
	if (c->kind == AB_HOST_ANY)
		return false;
	return is_address(c) ? walk_addresses(set, c, visit, data) :
			       walk_names(set, c, visit, data);
}

/* --- one target --------------------------------------------------------- */

/* Port 0 asks about any port as a grant and about all as a denial. */
static bool has_port(const ab_host *p, uint16_t port, bool deny)
{
	if (p->range_count == 0)
		return true;
	if (port == 0)
		return !deny || (p->ranges[0].low == 1 &&
				 p->ranges[0].high == UINT16_MAX);
	for (size_t i = 0; i < p->range_count; i++)
		if (port >= p->ranges[i].low && port <= p->ranges[i].high)
			return true;
	return false;
}

struct wanted {
	uint16_t port;
	bool deny;
	const ab_host *found;
};

static bool visit_target(const ab_host *p, const ab_host *c, void *data)
{
	struct wanted *wanted = data;

	(void)c;
	if (!has_port(p, wanted->port, wanted->deny))
		return false;
	wanted->found = p;
	return true;
}

/* The pattern that stands for this one host; false: for nothing. */
static bool pattern_of(const ab_target *t, ab_host *out)
{
	ab_address address = t->address;

	memset(out, 0, sizeof(*out));
	if (t->kind == AB_TARGET_NAME) {
		out->kind = AB_HOST_NAME;
		memcpy(out->name, t->name, sizeof(out->name));
		return t->name_len > 0;
	}
	if (t->kind != AB_TARGET_ADDRESS || address.family == AB_ADDRESS_NONE)
		return false;
	ab_address_unmap(&address);
	out->kind = address.family == AB_ADDRESS_IPV4 ? AB_HOST_IPV4 :
							AB_HOST_IPV6;
	out->prefix = address.family == AB_ADDRESS_IPV4 ? 32 : 128;
	memcpy(out->address, address.bytes, sizeof(out->address));
	return true;
}

const ab_host *ab_host_set_find(const ab_host_set *set, const ab_target *t,
				bool deny)
{
	struct wanted wanted = { .port = t->port, .deny = deny };
	ab_host c;

	if (set->count == 0 || !pattern_of(t, &c))
		return NULL;
	walk_covering(set, &c, deny, visit_target, &wanted);
	return wanted.found;
}

/* --- many ports --------------------------------------------------------- */

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
	return ab_host_ranges_cover(ports.ranges,
			    ab_host_join_ranges(ports.ranges, ports.count), c);
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

	if (!ab_host_ports_intersect(p, c, &both, &to->too_many))
		return to->too_many;
	if (!ab_grow(&to->items, &to->room, to->count + 1,
		     sizeof(*to->items))) {
		to->no_memory = true;
		return true;
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
