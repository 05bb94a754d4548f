/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every method of the Model Context Protocol: who may send it, in which
 * family of versions, as what, and under which grant of the policy. What is
 * not in the table is refused. Spec: the schemas of 2024-11-05, 2025-03-26,
 * 2025-06-18, 2025-11-25 and 2026-07-28; case 135.
 */
#ifndef AB_MCP_METHOD_H
#define AB_MCP_METHOD_H

#include <stdbool.h>
#include <stdint.h>

/* Grants of a server (tools.servers[].grant), as bits. */
#define AB_MCP_RESOURCES 0x001u
#define AB_MCP_PROMPTS 0x002u
#define AB_MCP_COMPLETION 0x004u
#define AB_MCP_LOGGING 0x008u
#define AB_MCP_TASKS 0x010u
#define AB_MCP_SAMPLING 0x020u
#define AB_MCP_ELICITATION 0x040u
#define AB_MCP_ELICITATION_URL 0x080u
#define AB_MCP_ROOTS 0x100u
#define AB_MCP_SUBSCRIPTIONS 0x200u

/* The versions, oldest first; NONE: not settled. */
enum ab_mcp_version {
	AB_MCP_VERSION_NONE = 0,
	AB_MCP_2024_11_05,
	AB_MCP_2025_03_26,
	AB_MCP_2025_06_18,
	AB_MCP_2025_11_25,
	AB_MCP_2026_07_28
};

/* Families. */
#define AB_MCP_SESSIONS 1u  /* initialize, then state */
#define AB_MCP_STATELESS 2u /* every request says it all */

enum ab_mcp_special {
	AB_MCP_PLAIN = 0,
	AB_MCP_INITIALIZE,
	AB_MCP_INITIALIZED,
	AB_MCP_DISCOVER,
	AB_MCP_LIST,
	AB_MCP_CALL,
	AB_MCP_CANCELLED,
	AB_MCP_PROGRESS,
	AB_MCP_ELICIT,
	AB_MCP_TOOLS_CHANGED
};

typedef struct ab_mcp_method {
	const char *name;
	bool from_client, from_server; /* may be sent by */
	bool is_notification;
	uint8_t families;
	uint8_t special; /* enum ab_mcp_special */
	uint32_t grant;	 /* needed; 0: none */
} ab_mcp_method;

/* The method with exactly this name, or NULL. */
const ab_mcp_method *ab_mcp_method_find(const char *name);
/* The version with exactly this name, or NONE. */
enum ab_mcp_version ab_mcp_version_find(const char *name);
const char *ab_mcp_version_name(enum ab_mcp_version version);
/* The bit of a grant's name, or 0. */
uint32_t ab_mcp_grant_find(const char *name);

#endif
