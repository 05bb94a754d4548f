/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who asks below /mcp, and for which server: the policy's names alone, each
 * spelled as it is there. A server that is a command of the host's is not
 * started here, and said so. Spec: mcp.h, DESIGN.md section 9.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agentbox/base.h"
#include "base/alloc.h"
#include "base/attr.h"
#include "mcp_internal.h"
#include "policy/policy.h"

/* The only page that may speak with us is one that we do not have. */
#define ORIGIN "http://192.0.0.1:3128"

/* --- from the plan -------------------------------------------------------- */

static int read_policy(ab_mcps *mcps, const ab_wire_text *tools,
		       char why[AB_WHY_SIZE])
{
	agentbox_context *context = NULL;
	agentbox_error *err = NULL;
	int32_t rc = agentbox_context_new(&context, &err);

	if (rc == 0)
		rc = agentbox_policy_parse(context, tools->p, tools->len,
					   &mcps->policy, &err);
	if (rc < 0)
		snprintf(why, AB_WHY_SIZE, "%.150s",
			 agentbox_error_get_message(err));
	agentbox_error_free(err);
	agentbox_context_unref(context);
	return rc == 0 ? 0 : rc == AGENTBOX_ENOMEM ? -ENOMEM : -EPROTO;
}

/* The route that leads to a server; NULL: it is a command. */
static ab_route_state *find_state(ab_gw *gw, const char *name)
{
	ab_routes *routes = ab_gw_routes(gw);
	const size_t top = sizeof(AB_ROUTE_MCP_TOP "/") - 1;

	for (size_t i = 0; routes && i < routes->table.count; i++) {
		const ab_route *route = &routes->table.items[i];

		if (route->spec.kind == AB_ROUTE_MCP &&
		    strcmp(route->spec.prefix + top, name) == 0)
			return ab_route_state_of(routes, route);
	}
	return NULL;
}

static int make_servers(ab_mcps *mcps)
{
	const json_t *list = json_object_get(
		ab_policy_section(mcps->policy, "/tools"), "servers");

	mcps->servers = ab_calloc(json_array_size(list) + 1,
				  sizeof(*mcps->servers));
	if (!mcps->servers)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		ab_mcp_server *server = &mcps->servers[mcps->count++];

		server->mcps = mcps;
		server->name = json_string_value(json_object_get(
			json_array_get(list, i), "name"));
		server->state = find_state(mcps->gw, server->name);
	}
	return 0;
}

int ab_mcps_new(ab_gw *gw, const ab_wire_text *tools,
		const ab_wire_text *identity, ab_mcps **out,
		char why[AB_WHY_SIZE])
{
	ab_mcps *mcps = ab_new(ab_mcps);
	int r = mcps ? 0 : -ENOMEM;

	*out = NULL;
	if (mcps) {
		mcps->gw = gw;
		mcps->identity_text = ab_memdup0(identity->p, identity->len);
		r = mcps->identity_text ? read_policy(mcps, tools, why)
					: -ENOMEM;
	}
	if (r == 0)
		r = make_servers(mcps);
	if (r < 0)
		ab_mcps_free(mcps);
	else
		*out = mcps;
	return r;
}

void ab_mcps_free(ab_mcps *mcps)
{
	if (!mcps)
		return;
	for (size_t i = 0; i < mcps->count; i++)
		ab_mcp_memory_unref(mcps->servers[i].memory);
	free(mcps->servers);
	free(mcps->identity_text);
	agentbox_policy_unref(mcps->policy);
	free(mcps);
}

/* --- requests ------------------------------------------------------------- */

static bool is_below(const char *path, size_t n, const char *top)
{
	size_t len = strlen(top);

	return n >= len && memcmp(path, top, len) == 0 &&
	       (n == len || path[len] == '/' || path[len] == '?');
}

static ab_mcp_server *find_server(ab_mcps *mcps, const char *path, size_t n)
{
	const size_t top = sizeof(AB_ROUTE_MCP_TOP "/") - 1;

	for (size_t i = 0; mcps && i < mcps->count; i++) {
		const char *name = mcps->servers[i].name;

		if (n > top && n - top == strlen(name) &&
		    memcmp(path + top, name, n - top) == 0)
			return &mcps->servers[i];
	}
	return NULL;
}

static void deny(ab_gw *gw, ab_client *c, const char *server, unsigned status,
		 int code, const char *reason, const char *text)
{
	ab_gw_tell(gw, &(ab_gw_record){ .kind = AB_GW_DENIED, .how = "mcp",
					.target = server, .reason = reason,
					.detail = text },
		   false);
	ab_mcp_refuse_client(c, status, code, reason, text);
}

/* What the session's own state says against it; NULL: nothing. */
static const char *judge_session(const ab_mcp_http *h,
				 const ab_mcp_session *s)
{
	if (!s)
		return "mcp_no_session";
	if (h->version != AB_MCP_VERSION_NONE &&
	    h->version != ab_mcp_settled(s->guard))
		return "mcp_version";
	if (h->verb == AB_MCP_HTTP_GET && s->stream)
		return "mcp_stream_twice";
	return NULL;
}

static void serve(ab_mcp_server *server, ab_client *c)
{
	ab_gw *gw = server->mcps->gw;
	const char *buf = c->in->bytes, *why;
	ab_mcp_session *s = NULL;
	ab_mcp_http h;
	enum ab_mcp_http_reason reason = ab_mcp_http_head(&c->in->head, buf,
							  ORIGIN, &h);

	if (reason != AB_MCP_HTTP_OK) {
		deny(gw, c, server->name, ab_mcp_http_reason_status(reason),
		     reason == AB_MCP_HTTP_VERSION ? AB_MCP_NO_VERSION
						   : AB_MCP_INVALID,
		     ab_mcp_http_reason_name(reason),
		     "the request is not one of MCP over HTTP");
		return;
	}
	if (h.session.len) {
		s = ab_mcp_session_find(server, buf + h.session.at,
					h.session.len);
		why = judge_session(&h, s);
		if (why) {
			deny(gw, c, server->name, s ? 400 : 404,
			     AB_MCP_INVALID, why,
			     s ? "the session does not take this" :
				 "there is no such session");
			return;
		}
	}
	if (ab_gw_needs_tokens(gw, server->state->names)) {
		deny(gw, c, server->name, 403, AB_MCP_REFUSED,
		     AB_TOKENS_UNTOLD, AB_TOKENS_UNTOLD_WHY);
		return;
	}
	if (server->mcps->posts >= AB_MCP_POSTS_MAX ||
	    !ab_client_hold(c, server->state->names) ||
	    !ab_gw_count_request(gw, server->state->names)) {
		deny(gw, c, server->name, 429, AB_MCP_REFUSED, "mcp_busy",
		     "too many requests");
		return;
	}
	ab_mcp_post_begin(server, c, &h, s);
}

bool ab_mcp_serve(ab_gw *gw, ab_client *c)
{
	const ab_http_head *h = &c->in->head;
	const char *path = c->in->bytes + h->path.at;
	ab_mcp_server *server;

	if (!is_below(path, h->path.len, AB_ROUTE_MCP_TOP))
		return false;
	server = find_server(ab_gw_mcps(gw), path, h->path.len);
	if (!server)
		deny(gw, c, "", 404, AB_MCP_INVALID, "mcp_server",
		     "the policy names no such server of tools");
	else if (!server->state)
		deny(gw, c, server->name, 501, AB_MCP_INVALID, "mcp_command",
		     "this server is a command: agentbox mcp-guard serves it "
		     "on stdio");
	else if (server->state->is_removed)
		deny(gw, c, server->name, 403, AB_MCP_REFUSED, "route_removed",
		     "the host has taken this server away");
	else
		serve(server, c);
	return true;
}
