/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host's lists, compiled whole or not at all (gateway case 4). */
#include "config.h"

#include "lists.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* A pattern has an address of IPv6 without brackets where it has no port. */
static char *pattern_of(const char *host)
{
	size_t n = strlen(host);

	return host[0] == '[' && n > 2 ? ab_memdup0(host + 1, n - 2) :
					 ab_strdup(host);
}

int ab_routed_init(ab_routed *routed, const ab_wire_routes *routes)
{
	routed->hosts = ab_calloc((size_t)routes->count + 1,
				  sizeof(*routed->hosts));
	if (!routed->hosts)
		return -ENOMEM;
	for (uint32_t i = 0; i < routes->count; i++) {
		routed->hosts[i] = pattern_of(routes->items[i].host);
		if (!routed->hosts[i])
			return -ENOMEM;
		routed->count++;
	}
	return 0;
}

int ab_lists_compile(const ab_gateway_lists *lists, const ab_routed *routed,
		     ab_allow *out, char *why, size_t size)
{
	static const char *const names[AB_GATEWAY_LISTS] = {
		[AB_ALLOW_LIST_ALLOW] = "allow",
		[AB_ALLOW_LIST_DENY] = "deny",
		[AB_ALLOW_LIST_PRIVATE] = "private",
		[AB_ALLOW_LIST_TCP] = "tcp",
	};
	ab_allow_text text = { 0 };
	ab_allow_error bad = { 0 };
	int rc;

	for (size_t i = 0; i < AB_GATEWAY_LISTS; i++) {
		text.list[i].items = lists->items[i];
		text.list[i].count = lists->count[i];
	}
	text.list[AB_ALLOW_LIST_ROUTED].items =
		(const char *const *)routed->hosts;
	text.list[AB_ALLOW_LIST_ROUTED].count = routed->count;
	rc = ab_allow_init(out, &text, &bad);
	if (rc == -EINVAL || rc == -E2BIG)
		snprintf(why, size, "network.%s[%zu] %s",
			 bad.list < AB_GATEWAY_LISTS ? names[bad.list]
						     : "routes",
			 bad.index, bad.why);
	return rc;
}
