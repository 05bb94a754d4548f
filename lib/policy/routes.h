/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The routes of a policy in plain form, with what presets and defaults say
 * written out: for the gateway, and for the list of hosts that CONNECT does
 * not reach. Spec: agentbox-policy(5), wire/route.h.
 */
#ifndef AB_POLICY_ROUTES_H
#define AB_POLICY_ROUTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "net/hosts.h"
#include "policy/policy.h"
#include "policy/presets.h"
#include "wire/route.h"

typedef struct ab_policy_route {
	ab_wire_route plain; /* `roots` is 0 here */
	const char *ca;	     /* absolute path of the host, NULL: the system's */
	const ab_preset *preset; /* NULL: none */
	char *owned_host, *owned_base, *owned_prefix;
	const char **owned_open;
} ab_policy_route;

/* Strings are borrowed from the policy. Zeroed: no routes. */
typedef struct ab_policy_routes {
	ab_policy_route *items; /* prefixes are unique */
	size_t count;
} ab_policy_routes;

/*
 * 0; AGENTBOX_ENOTSUP, named in err, for what the gateway cannot do, so that
 * nothing a policy asks for is left out silently; AGENTBOX_ENOMEM.
 */
int32_t ab_policy_routes_init(const agentbox_policy *policy,
			      ab_policy_routes *out, agentbox_error **err);
void ab_policy_routes_end(ab_policy_routes *routes);

/* Where one record of routes, or of servers, leads, whatever its port: false
   where that is nowhere, as with a server that is a command. */
bool ab_policy_routed_host(const json_t *record, ab_host *out);

#endif
