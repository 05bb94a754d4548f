/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of methods, and those of versions and grants. Spec: method.h. */
#include "config.h"

#include "mcp/method.h"

#include <stddef.h>
#include <string.h>

#define OLD AB_MCP_SESSIONS
#define NEW AB_MCP_STATELESS
#define BOTH (AB_MCP_SESSIONS | AB_MCP_STATELESS)
#define CLIENT true, false
#define SERVER false, true
#define EITHER true, true
#define ASK false
#define TELL true

static const ab_mcp_method methods[] = {
	{ "initialize", CLIENT, ASK, OLD, AB_MCP_INITIALIZE, 0 },
	{ "notifications/initialized", CLIENT, TELL, OLD, AB_MCP_INITIALIZED,
	  0 },
	{ "server/discover", CLIENT, ASK, NEW, AB_MCP_DISCOVER, 0 },
	{ "ping", EITHER, ASK, OLD, AB_MCP_PLAIN, 0 },
	{ "tools/list", CLIENT, ASK, BOTH, AB_MCP_LIST, 0 },
	{ "tools/call", CLIENT, ASK, BOTH, AB_MCP_CALL, 0 },
	{ "notifications/cancelled", EITHER, TELL, BOTH, AB_MCP_CANCELLED, 0 },
	{ "notifications/progress", EITHER, TELL, BOTH, AB_MCP_PROGRESS, 0 },
	{ "notifications/tools/list_changed", SERVER, TELL, BOTH,
	  AB_MCP_TOOLS_CHANGED, 0 },

	{ "resources/list", CLIENT, ASK, BOTH, AB_MCP_PLAIN,
	  AB_MCP_RESOURCES },
	{ "resources/templates/list", CLIENT, ASK, BOTH, AB_MCP_PLAIN,
	  AB_MCP_RESOURCES },
	{ "resources/read", CLIENT, ASK, BOTH, AB_MCP_PLAIN,
	  AB_MCP_RESOURCES },
	{ "resources/subscribe", CLIENT, ASK, OLD, AB_MCP_PLAIN,
	  AB_MCP_RESOURCES | AB_MCP_SUBSCRIPTIONS },
	{ "resources/unsubscribe", CLIENT, ASK, OLD, AB_MCP_PLAIN,
	  AB_MCP_RESOURCES | AB_MCP_SUBSCRIPTIONS },
	{ "notifications/resources/list_changed", SERVER, TELL, BOTH,
	  AB_MCP_PLAIN, AB_MCP_RESOURCES },
	{ "notifications/resources/updated", SERVER, TELL, BOTH, AB_MCP_PLAIN,
	  AB_MCP_RESOURCES | AB_MCP_SUBSCRIPTIONS },
	{ "subscriptions/listen", CLIENT, ASK, NEW, AB_MCP_PLAIN,
	  AB_MCP_SUBSCRIPTIONS },
	{ "notifications/subscriptions/acknowledged", SERVER, TELL, NEW,
	  AB_MCP_PLAIN, AB_MCP_SUBSCRIPTIONS },

	{ "prompts/list", CLIENT, ASK, BOTH, AB_MCP_PLAIN, AB_MCP_PROMPTS },
	{ "prompts/get", CLIENT, ASK, BOTH, AB_MCP_PLAIN, AB_MCP_PROMPTS },
	{ "notifications/prompts/list_changed", SERVER, TELL, BOTH,
	  AB_MCP_PLAIN, AB_MCP_PROMPTS },
	{ "completion/complete", CLIENT, ASK, BOTH, AB_MCP_PLAIN,
	  AB_MCP_COMPLETION },
	{ "logging/setLevel", CLIENT, ASK, OLD, AB_MCP_PLAIN,
	  AB_MCP_LOGGING },
	{ "notifications/message", SERVER, TELL, BOTH, AB_MCP_PLAIN,
	  AB_MCP_LOGGING },

	{ "tasks/get", CLIENT, ASK, BOTH, AB_MCP_PLAIN, AB_MCP_TASKS },
	{ "tasks/result", CLIENT, ASK, BOTH, AB_MCP_PLAIN, AB_MCP_TASKS },
	{ "tasks/list", CLIENT, ASK, BOTH, AB_MCP_PLAIN, AB_MCP_TASKS },
	{ "tasks/cancel", CLIENT, ASK, BOTH, AB_MCP_PLAIN, AB_MCP_TASKS },
	{ "notifications/tasks/status", SERVER, TELL, BOTH, AB_MCP_PLAIN,
	  AB_MCP_TASKS },

	{ "sampling/createMessage", SERVER, ASK, OLD, AB_MCP_PLAIN,
	  AB_MCP_SAMPLING },
	{ "elicitation/create", SERVER, ASK, OLD, AB_MCP_ELICIT,
	  AB_MCP_ELICITATION },
	{ "notifications/elicitation/complete", SERVER, TELL, OLD,
	  AB_MCP_PLAIN, AB_MCP_ELICITATION | AB_MCP_ELICITATION_URL },
	{ "roots/list", SERVER, ASK, OLD, AB_MCP_PLAIN, AB_MCP_ROOTS },
	{ "notifications/roots/list_changed", CLIENT, TELL, OLD, AB_MCP_PLAIN,
	  AB_MCP_ROOTS },
};

static const char *const versions[] = { "",	      "2024-11-05",
					"2025-03-26", "2025-06-18",
					"2025-11-25", "2026-07-28" };

static const struct {
	const char *name;
	uint32_t bit;
} grants[] = {
	{ "resources", AB_MCP_RESOURCES },
	{ "prompts", AB_MCP_PROMPTS },
	{ "completion", AB_MCP_COMPLETION },
	{ "logging", AB_MCP_LOGGING },
	{ "tasks", AB_MCP_TASKS },
	{ "sampling", AB_MCP_SAMPLING },
	{ "elicitation", AB_MCP_ELICITATION },
	{ "elicitation-url", AB_MCP_ELICITATION_URL },
	{ "roots", AB_MCP_ROOTS },
	{ "subscriptions", AB_MCP_SUBSCRIPTIONS },
};

const ab_mcp_method *ab_mcp_method_find(const char *name)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

enum ab_mcp_version ab_mcp_version_find(const char *name)
{
	for (int i = AB_MCP_2024_11_05; i <= AB_MCP_2026_07_28; i++)
		if (name && strcmp(versions[i], name) == 0)
			return (enum ab_mcp_version)i;
	return AB_MCP_VERSION_NONE;
}

const char *ab_mcp_version_name(enum ab_mcp_version version)
{
	return versions[version];
}

uint32_t ab_mcp_grant_find(const char *name)
{
	for (size_t i = 0; i < sizeof(grants) / sizeof(*grants); i++)
		if (strcmp(grants[i].name, name) == 0)
			return grants[i].bit;
	return 0;
}
