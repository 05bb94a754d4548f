/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ports of an allowlist as a set of bits: its entries may name ranges that
 * overlap, and only so many listeners are made.
 */
#include "config.h"

#include "net/ports.h"

#include "net/hosts.h"

typedef struct port_set {
	uint8_t bits[65536 / 8];
	size_t count;
} port_set;

static bool has(const port_set *set, uint32_t port)
{
	return set->bits[port / 8] >> port % 8 & 1;
}

static void add(port_set *set, uint32_t port)
{
	if (port == AB_GATEWAY_PROXY_PORT || port == AB_GATEWAY_DNS_PORT ||
	    port == 0 || has(set, port))
		return;
	set->bits[port / 8] |= (uint8_t)(1u << port % 8);
	set->count++;
}

static void add_entry(port_set *set, const char *text)
{
	char why[AB_WHY_SIZE];
	ab_host host;

	if (!ab_host_parse(text, &host, why))
		return; /* the gateway refuses the whole list */
	if (host.range_count == 0) {
		add(set, 80);
		add(set, 443);
	}
	for (size_t i = 0; i < host.range_count; i++)
		for (uint32_t p = host.ranges[i].low;
		     p <= host.ranges[i].high; p++)
			add(set, p);
}

void ab_net_ports(const char *const *allow, size_t n,
		  uint32_t ports[AB_GATEWAY_MAX_PORTS], uint32_t *count,
		  bool *more)
{
	port_set set = { .count = 0 };

	*count = 0;
	for (size_t i = 0; i < n; i++)
		add_entry(&set, allow[i]);
	for (uint32_t p = 1; p < 65536 && *count < AB_GATEWAY_MAX_PORTS; p++)
		if (has(&set, p))
			ports[(*count)++] = p;
	*more = set.count > *count;
}
