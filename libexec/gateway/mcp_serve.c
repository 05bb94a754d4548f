/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The Model Context Protocol over HTTP, below /mcp: not in this build, and
 * said so instead of "no such route", so that nobody looks for a mistake in
 * his policy. What will be served is judged by mcp_http.h already.
 * Spec: gw.h, DESIGN.md section 9.
 */
#include "config.h"

#include <string.h>

#include "gw.h"

static bool is_below(const char *path, size_t n, const char *top)
{
	size_t len = strlen(top);

	return n >= len && memcmp(path, top, len) == 0 &&
	       (n == len || path[len] == '/' || path[len] == '?');
}

bool ab_mcp_serve(ab_gw *gw, ab_client *c)
{
	const ab_http_head *h = &c->in->head;

	if (!is_below(c->in->bytes + h->path.at, h->path.len, "/mcp"))
		return false;
	ab_gw_tell(gw, &(ab_gw_record){ .kind = AB_GW_DENIED, .how = "mcp",
					.target = "",
					.reason = "mcp_not_built",
					.detail = "MCP over HTTP is not in "
						  "this build" },
		   false);
	ab_client_refuse(c, 501, "mcp_not_built",
			 "agentbox: MCP over HTTP is not in this build; "
			 "agentbox mcp-guard serves it on stdio");
	return true;
}
