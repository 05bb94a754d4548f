/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Routes from the canonical tree. A secret is bound to the hosts its policy
 * names and to the ways of delivery it lists: a route past them is refused
 * here, before anything starts. Spec: policy/routes.h.
 */
#include "config.h"

#include "policy/routes.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "net/hosts.h"
#include "policy/schema.h"
#include "policy/tree.h"
#include "policy/usual.h"

static const char scheme_of_url[] = "https://";

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

/* The authority of "https://host:port/base/", and what follows it or NULL. */
static bool read_url(const char *url, ab_target *target, const char **path)
{
	const char *authority = url + sizeof(scheme_of_url) - 1;
	size_t n;

	*path = strchr(authority, '/');
	n = *path ? (size_t)(*path - authority) : strlen(authority);
	return ab_target_authority(authority, n, 443, target) == AB_TARGET_OK;
}

/* "https://host:port/base/": the parts. */
static int32_t read_upstream(ab_policy_route *route, const char *url,
			     agentbox_error **err)
{
	char text[AB_TARGET_TEXT_SIZE];
	const char *path;
	size_t base_len;
	ab_target target;

	if (!read_url(url, &target, &path))
		return ab_error_set(err, AGENTBOX_EPOLICY, route->plain.prefix,
				    "the upstream \"%.200s\" has no usable "
				    "host", url);
	base_len = path ? strlen(path) : 0;
	route->plain.port = target.port;
	target.port = 0;
	ab_target_text(&target, 0, text);
	/* what is asked of a server of tools is exactly its URL */
	while (base_len && path[base_len - 1] == '/' &&
	       (route->plain.kind != AB_ROUTE_MCP || base_len == 1))
		base_len--;
	route->owned_host = ab_strdup(text);
	route->owned_base = ab_memdup0(path ? path : "", base_len);
	if (!route->owned_host || !route->owned_base)
		return ab_error_nomem(err);
	route->plain.host = route->owned_host;
	route->plain.base = route->owned_base;
	return 0;
}

static const json_t *find_secret(const json_t *tree, const char *name)
{
	const json_t *v;
	size_t i;

	json_array_foreach ((json_t *)(uintptr_t)tree, i, v)
		if (strcmp(ab_tree_string(v, "name"), name) == 0)
			return v;
	return NULL;
}

static bool host_is_covered(const json_t *hosts, const ab_wire_route *plain)
{
	char text[AB_HOST_TEXT_SIZE];
	char why[AB_WHY_SIZE];
	ab_host_set set = { 0 };
	ab_host host;
	bool covered;

	snprintf(text, sizeof(text), "%s:%u", plain->host, plain->port);
	if (!ab_host_parse(text, &host, why) ||
	    ab_tree_to_hosts(hosts, "/secrets", &set, NULL) < 0)
		return false;
	covered = ab_host_set_covers(&set, &host, false);
	ab_host_set_end(&set);
	return covered;
}

/* May this secret go to that upstream, and by injection? */
static int32_t judge_secret(const ab_wire_route *plain, const json_t *secret,
			    agentbox_error **err)
{
	const json_t *delivery = json_object_get(secret, "delivery");
	const json_t *hosts = json_object_get(secret, "hosts");

	if (!secret || (delivery && !ab_tree_has(delivery, "inject")))
		return ab_error_set(err, AGENTBOX_EPOLICY, plain->prefix,
				    "the secret \"%s\" is not delivered by "
				    "injection; add \"inject\" to its "
				    "\"delivery\"", plain->secret);
	if (hosts && !host_is_covered(hosts, plain))
		return ab_error_set(err, AGENTBOX_EPOLICY, plain->prefix,
				    "the secret \"%s\" may not go to %s:%u; "
				    "its \"hosts\" do not name it",
				    plain->secret, plain->host, plain->port);
	return 0;
}

static int32_t read_inject(ab_policy_route *route, const json_t *inject,
			   const json_t *secrets, agentbox_error **err)
{
	ab_wire_route *plain = &route->plain;

	plain->secret = or_empty(ab_tree_string(inject, "secret"));
	plain->header = plain->scheme = plain->user = "";
	if (!plain->secret[0])
		return 0;
	ab_usual_inject(inject, route->preset, plain->kind == AB_ROUTE_GIT,
			&plain->header, &plain->scheme);
	plain->user = or_empty(ab_tree_string(inject, "user"));
	return judge_secret(plain, find_secret(secrets, plain->secret), err);
}

static void read_rate(ab_wire_route *plain, const json_t *rate)
{
	static const ab_field size = { .type = AB_T_SIZE };
	const json_t *bytes = json_object_get(rate, "bytes_per_second");

	plain->requests_per_minute = (uint32_t)json_integer_value(
		json_object_get(rate, "requests_per_minute"));
	plain->connections = (uint32_t)json_integer_value(
		json_object_get(rate, "connections"));
	if (bytes)
		plain->bytes_per_second = ab_tree_number(&size, bytes);
}

static int32_t read_paths(ab_policy_route *route, const json_t *open,
			  agentbox_error **err)
{
	ab_wire_route *plain = &route->plain;
	size_t count = json_array_size(open);

	if (route->preset) {
		plain->closed = route->preset->closed;
		while (plain->closed[plain->closed_count])
			plain->closed_count++;
	}
	if (count > AB_ROUTE_PATHS_MAX)
		return ab_error_set(err, AGENTBOX_ELIMIT, plain->prefix,
				    "more than %d paths in \"open\"",
				    AB_ROUTE_PATHS_MAX);
	route->owned_open = ab_calloc(count + 1, sizeof(char *));
	if (!route->owned_open)
		return ab_error_nomem(err);
	for (size_t i = 0; i < count; i++)
		route->owned_open[i] =
			json_string_value(json_array_get(open, i));
	plain->open = route->owned_open;
	plain->open_count = count;
	return 0;
}

static bool is(const json_t *object, const char *key, const char *value)
{
	const char *s = ab_tree_string(object, key);

	return s && strcmp(s, value) == 0;
}

static int32_t read_route(ab_policy_route *route, const json_t *object,
			  const json_t *secrets, agentbox_error **err)
{
	ab_wire_route *plain = &route->plain;
	const char *url = ab_tree_string(object, "upstream");
	int32_t r;

	plain->prefix = ab_tree_string(object, "prefix");
	route->ca = ab_tree_string(object, "ca");
	route->preset = ab_preset_find(ab_tree_string(object, "preset"));
	plain->kind = is(object, "kind", "git") ? AB_ROUTE_GIT : AB_ROUTE_HTTP;
	if (!is(object, "access", "read"))
		plain->flags |= AB_ROUTE_WRITE;
	if (json_is_true(json_object_get(object, "websocket")))
		plain->flags |= AB_ROUTE_WEBSOCKET;
	if (route->preset)
		plain->flags |= AB_ROUTE_MODEL;
	if (!url && route->preset)
		url = route->preset->upstream;
	r = read_upstream(route, or_empty(url), err);
	if (r == 0)
		r = read_inject(route, json_object_get(object, "inject"),
				secrets, err);
	read_rate(plain, json_object_get(object, "rate"));
	if (r == 0)
		r = read_paths(route, json_object_get(object, "open"), err);
	return r;
}

/* A server of tools that has a URL: what it is reached by is a route. */
static int32_t read_server(ab_policy_route *route, const json_t *server,
			   const json_t *secrets, agentbox_error **err)
{
	ab_wire_route *plain = &route->plain;
	const char *name = ab_tree_string(server, "name");
	int32_t r;

	if (strlen(name) > 64 || strchr(name, '@') || strchr(name, '+'))
		return ab_error_set(err, AGENTBOX_EPOLICY, name,
				    "the name of a server with a URL is 1 to "
				    "64 of A-Z a-z 0-9 . _ -");
	route->owned_prefix = ab_asprintf(AB_ROUTE_MCP_TOP "/%s", name);
	if (!route->owned_prefix)
		return ab_error_nomem(err);
	plain->prefix = route->owned_prefix;
	plain->kind = AB_ROUTE_MCP;
	plain->flags = AB_ROUTE_WRITE;
	route->ca = ab_tree_string(server, "ca");
	r = read_upstream(route, ab_tree_string(server, "url"), err);
	return r < 0 ? r : read_inject(route, json_object_get(server, "inject"),
				       secrets, err);
}

bool ab_policy_routed_host(const json_t *record, ab_host *out)
{
	const ab_preset *preset = ab_preset_find(ab_tree_string(record,
								"preset"));
	const char *url = ab_tree_string(record, "upstream");
	char text[AB_TARGET_TEXT_SIZE];
	char why[AB_WHY_SIZE];
	const char *path;
	ab_target target;

	if (!url)
		url = preset ? preset->upstream : ab_tree_string(record, "url");
	if (!url || !read_url(url, &target, &path))
		return false;
	target.port = 0;
	ab_target_text(&target, 0, text);
	if (text[0] == '[') /* a pattern has them only before a port */
		text[strlen(text) - 1] = '\0';
	return ab_host_parse(text + (text[0] == '['), out, why);
}

static int32_t read_all(const agentbox_policy *policy, ab_policy_routes *made,
			agentbox_error **err)
{
	const json_t *list = ab_policy_section(policy, "/routes");
	const json_t *tools = ab_policy_section(policy, "/tools");
	const json_t *servers = json_object_get(tools, "servers");
	const json_t *secrets = ab_policy_section(policy, "/secrets");
	int32_t r = 0;

	for (size_t i = 0; r == 0 && i < json_array_size(list); i++)
		r = read_route(&made->items[made->count++],
			       json_array_get(list, i), secrets, err);
	for (size_t i = 0; r == 0 && i < json_array_size(servers); i++)
		if (json_object_get(json_array_get(servers, i), "url"))
			r = read_server(&made->items[made->count++],
					json_array_get(servers, i), secrets,
					err);
	if (r == 0 && made->count > AB_ROUTES_MAX)
		r = ab_error_set(err, AGENTBOX_ELIMIT, "/routes",
				 "more than %d routes and servers with a URL",
				 AB_ROUTES_MAX);
	return r;
}

int32_t ab_policy_routes_init(const agentbox_policy *policy,
			      ab_policy_routes *out, agentbox_error **err)
{
	const json_t *tools = ab_policy_section(policy, "/tools");
	ab_policy_routes made = { 0 };
	int32_t r;

	made.items = ab_calloc(
		json_array_size(ab_policy_section(policy, "/routes")) +
			json_array_size(json_object_get(tools, "servers")) + 1,
		sizeof(*made.items));
	if (!made.items)
		return ab_error_nomem(err);
	r = read_all(policy, &made, err);
	if (r < 0) {
		ab_policy_routes_end(&made);
		return r;
	}
	*out = made;
	return 0;
}

void ab_policy_routes_end(ab_policy_routes *routes)
{
	for (size_t i = 0; routes->items && i < routes->count; i++) {
		free(routes->items[i].owned_host);
		free(routes->items[i].owned_base);
		free(routes->items[i].owned_prefix);
		free((void *)routes->items[i].owned_open);
	}
	free(routes->items);
	*routes = (ab_policy_routes){ 0 };
}
