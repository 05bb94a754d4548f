/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host's lists as a table. */
#ifndef GATEWAY_LISTS_H
#define GATEWAY_LISTS_H

#include <stddef.h>

#include "net/allow.h"
#include "wire/gateway.h"

/* Hosts that a route leads to: CONNECT does not, on any port. */
typedef struct ab_routed {
	char **hosts;
	size_t count;
} ab_routed;

/* 0 or -ENOMEM; it lives as long as the process. */
int ab_routed_init(ab_routed *routed, const ab_wire_routes *routes);

/* 0, -EINVAL (why: which entry, and how to write it), -E2BIG, -ENOMEM. */
int ab_lists_compile(const ab_gateway_lists *lists, const ab_routed *routed,
		     ab_allow *out, char *why, size_t size);

#endif
