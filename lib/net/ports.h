/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* On which ports the gateway is asked without a proxy. */
#ifndef AB_NET_PORTS_H
#define AB_NET_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/gateway.h"

/*
 * The ports that an allowlist names, and 80 and 443 where an entry names none;
 * at most AB_GATEWAY_MAX_PORTS, lowest first, without those that are listened
 * on anyway. *more: there would be others.
 */
void ab_net_ports(const char *const *allow, size_t n,
		  uint32_t ports[AB_GATEWAY_MAX_PORTS], uint32_t *count,
		  bool *more);

#endif
