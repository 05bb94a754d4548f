/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The servers of tools that a box reaches at http://<gateway>/mcp/NAME: those
 * of the policy's `tools.servers` that have a URL, each behind a guard of
 * lib/mcp. A request is served by ab_mcp_serve() of gw.h.
 * Spec: DESIGN.md section 9, agentbox-policy(5), gateway cases 121-139.
 */
#ifndef GATEWAY_MCP_H
#define GATEWAY_MCP_H

#include <stddef.h>

#include "base/error.h"
#include "gw.h"
#include "wire/gateway.h"

typedef struct ab_mcps ab_mcps;

/*
 * From the plan, before files are given up; the routes are there already. 0,
 * or -EPROTO or -ENOMEM with `why`; *out is NULL then.
 */
int ab_mcps_new(ab_gw *gw, const ab_wire_text *tools,
		const ab_wire_text *identity, ab_mcps **out,
		char why[AB_WHY_SIZE]);
void ab_mcps_free(ab_mcps *mcps);

#endif
