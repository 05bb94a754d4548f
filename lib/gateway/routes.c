/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The routes of a policy for the gateway's plan, with the certificates that
 * the policy names: the gateway opens no file. Spec: policy/routes.h.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "gateway/internal.h"

/* Which list of roots a file is; it is read once. */
static int32_t add_roots(ab_gateway_routes *routes, const char *path,
			 uint32_t *which, agentbox_error **err)
{
	ab_autofd int fd = -1;
	uint32_t i = 0;
	size_t n;
	int rc;

	while (i < routes->wire.roots_count &&
	       strcmp(routes->paths[i], path) != 0)
		i++;
	*which = i + 1;
	if (i < routes->wire.roots_count)
		return 0;
	if (i == AB_ROUTE_ROOTS_MAX)
		return ab_error_set(err, AGENTBOX_ELIMIT, "/routes",
				    "more than %d files in \"ca\"",
				    AB_ROUTE_ROOTS_MAX);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	rc = fd < 0 ? -errno
		    : ab_fd_slurp(fd, AB_ROUTE_PEM_MAX, &routes->texts[i], &n);
	if (rc < 0)
		return ab_error_sys(err, -rc, "/routes",
				    "cannot read the certificates of '%s'",
				    path);
	routes->paths[i] = path;
	routes->wire.roots[i] = (ab_wire_pem){ routes->texts[i], n };
	routes->wire.roots_count++;
	return 0;
}

int32_t ab_gateway_routes_init(const agentbox_policy *policy,
			       ab_gateway_routes *routes, agentbox_error **err)
{
	int32_t rc;

	memset(routes, 0, sizeof(*routes));
	rc = ab_policy_routes_init(policy, &routes->policy, err);
	if (rc)
		return rc;
	routes->wire.items = ab_calloc(routes->policy.count + 1,
				       sizeof(*routes->wire.items));
	if (!routes->wire.items)
		return ab_error_nomem(err);
	routes->wire.count = (uint32_t)routes->policy.count;
	for (size_t i = 0; rc == 0 && i < routes->policy.count; i++) {
		const ab_policy_route *route = &routes->policy.items[i];
		ab_wire_route *plain = &routes->wire.items[i];

		*plain = route->plain;
		if (route->ca)
			rc = add_roots(routes, route->ca, &plain->roots, err);
	}
	return rc;
}

void ab_gateway_routes_end(ab_gateway_routes *routes)
{
	for (size_t i = 0; i < AB_ROUTE_ROOTS_MAX; i++)
		free(routes->texts[i]);
	free(routes->wire.items);
	ab_policy_routes_end(&routes->policy);
	memset(routes, 0, sizeof(*routes));
}
