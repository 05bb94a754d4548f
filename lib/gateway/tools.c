/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the gateway's MCP guard is told: the policy's section on tools without
 * the parts that its routes have already, and who its box is.
 * Spec: wire/gateway.h, agentbox-policy(5).
 */
#include "config.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "gateway/internal.h"

static char *write_tools(const json_t *tools)
{
	ab_auto(json_t) *copy = json_deep_copy(tools);
	ab_auto(json_t) *document = NULL;
	json_t *server;
	size_t i;

	json_array_foreach(json_object_get(copy, "servers"), i, server) {
		json_object_del(server, "ca");
		json_object_del(server, "inject");
	}
	if (copy)
		document = json_pack("{s:i, s:s, s:O}", "agentbox", 1, "mode",
				     "bare", "tools", copy);
	return document ? json_dumps(document, JSON_COMPACT) : NULL;
}

static char *write_identity(const ab_policy *policy, const char *box_id)
{
	const struct {
		const char *key, *value;
	} texts[] = {
		{ "account", policy->account },
		{ "workspace_id", policy->workspace_id },
		{ "identity", policy->identity },
		{ "name", policy->name },
		{ "box", box_id },
	};
	ab_auto(json_t) *out = json_pack("{s:I, s:I}", "uid",
					 (json_int_t)getuid(), "euid",
					 (json_int_t)geteuid());

	for (size_t i = 0; out && i < AB_ARRAY_LEN(texts); i++)
		if (texts[i].value &&
		    json_object_set_new(out, texts[i].key,
					json_string(texts[i].value)) < 0)
			return NULL;
	return out ? json_dumps(out, JSON_COMPACT) : NULL;
}

int32_t ab_gateway_tools_init(const agentbox_policy *policy,
			      const char *box_id, ab_gateway_tools *out,
			      agentbox_error **err)
{
	const json_t *tools = ab_policy_section(policy, "/tools");

	memset(out, 0, sizeof(*out));
	if (json_array_size(json_object_get(tools, "servers")) == 0)
		return 0;
	out->tools = write_tools(tools);
	out->identity = write_identity(ab_policy_get(policy), box_id);
	return out->tools && out->identity ? 0 : ab_error_nomem(err);
}

void ab_gateway_tools_end(ab_gateway_tools *tools)
{
	free(tools->tools);
	free(tools->identity);
	memset(tools, 0, sizeof(*tools));
}
