/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a box's commands are told of the gateway: the proxy, with the box's
 * key, for programs that ask for one, and the list itself. Soft: nothing
 * depends on it, and who ignores it is judged the same.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "gateway/internal.h"

#define PROXY "http://agentbox:%s@" AB_GATEWAY_IPV4_TEXT ":%d"
#define ROUTES "http://" AB_GATEWAY_IPV4_TEXT ":%d"
#define AWS "http://" AB_GATEWAY_AWS_TEXT ":%d/aws/"
/* loopback is the box's own; what the gateway itself has is asked directly */
#define NO_PROXY "localhost,127.0.0.1,::1," AB_GATEWAY_IPV4_TEXT "," \
		 AB_GATEWAY_AWS_TEXT

/* The list as policies write it, separated by commas; owned. */
static char *join(const ab_policy_list *list)
{
	size_t n = 1, at = 0;
	char *s;

	for (size_t i = 0; i < list->count; i++)
		n += strlen(list->items[i]) + 1;
	s = ab_calloc(n, 1);
	for (size_t i = 0; s && i < list->count; i++) {
		size_t len = strlen(list->items[i]);

		if (at)
			s[at++] = ',';
		memcpy(s + at, list->items[i], len);
		at += len;
	}
	return s;
}

/* For the first route of each preset: its clients find it by themselves. */
static bool add_preset(agentbox_gateway *gw, size_t *n,
		       const ab_policy_route *route)
{
	const ab_preset *p = route->preset;

	if (p->url_variable &&
	    !(gw->env[(*n)++] = ab_asprintf("%s=" ROUTES "%s%s",
					    p->url_variable,
					    AB_GATEWAY_PROXY_PORT,
					    route->plain.prefix,
					    p->url_suffix)))
		return false;
	return !p->key_variable ||
	       (gw->env[(*n)++] = ab_asprintf("%s=%s", p->key_variable,
					      gw->key));
}

static bool is_first(const ab_policy_routes *routes, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (routes->items[j].preset == routes->items[i].preset)
			return false;
	return true;
}

/* git finds its helper in the configuration that the environment has
   (git-config(1), GIT_CONFIG_COUNT). Room for 3. */
static bool add_git(agentbox_gateway *gw, size_t *n,
		    const ab_wire_broker *broker)
{
	static const char *const lines[] = {
		"GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=credential.helper",
		"GIT_CONFIG_VALUE_0=" AB_BROKER_PROGRAM " git",
	};
	uint32_t ways = 0;

	for (uint32_t i = 0; i < broker->count; i++)
		ways |= broker->items[i].ways;
	for (size_t i = 0; i < AB_ARRAY_LEN(lines); i++)
		if ((ways & AB_BROKER_GIT) &&
		    !(gw->env[(*n)++] = ab_strdup(lines[i])))
			return false;
	return true;
}

/* For the first of them: SDKs find it by themselves. Room for 2. */
static bool add_aws(agentbox_gateway *gw, size_t *n,
		    const ab_wire_broker *broker)
{
	uint32_t i = 0;

	while (i < broker->count && !(broker->items[i].ways & AB_BROKER_AWS))
		i++;
	return i == broker->count ||
	       ((gw->env[(*n)++] = ab_asprintf(
			 "AWS_CONTAINER_CREDENTIALS_FULL_URI=" AWS "%s",
			 AB_GATEWAY_PROXY_PORT, broker->items[i].name)) &&
		(gw->env[(*n)++] = ab_asprintf(
			 "AWS_CONTAINER_AUTHORIZATION_TOKEN=Bearer %s",
			 gw->key)));
}

/* Room for 7. */
static bool add_broker(agentbox_gateway *gw, size_t *n,
		       const ab_wire_broker *broker)
{
	if (broker->count &&
	    !(gw->env[(*n)++] = ab_strdup("AGENTBOX_SECRET=" AB_BROKER_PROGRAM)))
		return false;
	if (!add_git(gw, n, broker) || !add_aws(gw, n, broker))
		return false;
	return !ab_wire_broker_files(broker) ||
	       (gw->env[(*n)++] = ab_strdup("CREDENTIALS_DIRECTORY="
					    AB_BROKER_FILES));
}

/* Room for 1 and for 2 a route. */
static bool add_routes(agentbox_gateway *gw, size_t n,
		       const ab_policy_routes *routes)
{
	if (routes->count == 0)
		return true;
	if (!(gw->env[n++] = ab_asprintf("AGENTBOX_ROUTES=" ROUTES,
					 AB_GATEWAY_PROXY_PORT)))
		return false;
	for (size_t i = 0; i < routes->count; i++)
		if (routes->items[i].preset && is_first(routes, i) &&
		    !add_preset(gw, &n, &routes->items[i]))
			return false;
	return true;
}

int32_t ab_gateway_make_environment(agentbox_gateway *gw,
				    const ab_policy *policy,
				    const ab_policy_routes *routes,
				    const ab_wire_broker *broker,
				    agentbox_error **err)
{
	static const char *const names[] = {
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
		"http_proxy", "https_proxy", "all_proxy",
	};
	ab_autofree char *list = join(&policy->network.allow);
	ab_autofree char *proxy = ab_asprintf(PROXY, gw->key,
					      AB_GATEWAY_PROXY_PORT);
	size_t n = 0;

	gw->env = ab_calloc(AB_ARRAY_LEN(names) + 14 + 2 * routes->count,
			    sizeof(*gw->env));
	if (!list || !proxy || !gw->env)
		return ab_error_nomem(err);
	for (; n < AB_ARRAY_LEN(names); n++)
		if (!(gw->env[n] = ab_asprintf("%s=%s", names[n], proxy)))
			return ab_error_nomem(err);
	if (!(gw->env[n++] = ab_strdup("NO_PROXY=" NO_PROXY)) ||
	    !(gw->env[n++] = ab_strdup("no_proxy=" NO_PROXY)) ||
	    !(gw->env[n++] = ab_strdup("NODE_USE_ENV_PROXY=1")) ||
	    !(gw->env[n++] = ab_asprintf("AGENTBOX_NETWORK_ALLOWLIST=%s",
					 list)) ||
	    ((routes->count || broker->count) &&
	     !(gw->env[n++] = ab_asprintf("AGENTBOX_KEY=%s", gw->key))) ||
	    !add_broker(gw, &n, broker) || !add_routes(gw, n, routes))
		return ab_error_nomem(err);
	return 0;
}
