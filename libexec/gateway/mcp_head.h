/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Heads of MCP over HTTP between us and a server: ours, and its answer's. */
#ifndef GATEWAY_MCP_HEAD_H
#define GATEWAY_MCP_HEAD_H

#include "mcp_internal.h"

/*
 * The head of a leg, with the credential of its route. Nothing of the box's is
 * in it but what its message says. false: it did not fit, or there is no
 * secret.
 */
bool ab_mcp_write_head(ab_http_out *out, const ab_mcp_leg *l);

enum ab_mcp_content {
	AB_MCP_CONTENT_OTHER = 0,
	AB_MCP_CONTENT_JSON,
	AB_MCP_CONTENT_EVENTS
};
enum ab_mcp_content ab_mcp_content_of(const ab_http_head *head,
				      const char *buf);

#endif
