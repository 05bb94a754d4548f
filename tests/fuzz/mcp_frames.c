/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session of the MCP guard: lines, each from the side its first byte says
 * ('c' or 's'). Whatever comes, what goes on is one line of JSON without a
 * key twice, no call of a tool that is not allowed reaches the server, nothing
 * that is not granted is asked of the client, and nobody but the guard signs as
 * agentbox/identity.
 */
#include "config.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agentbox/mcp.h"
#include "base/attr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char policy_text[] =
	"{\"agentbox\": 1, \"mode\": \"bare\", \"tools\": {\"servers\": "
	"[{\"name\": \"s\", \"command\": [\"x\"], \"grant\": [\"roots\", "
	"\"resources\"]}], \"allow\": [\"s:good\"]}}";

static agentbox_mcp *session(void)
{
	agentbox_context *context = NULL;
	agentbox_policy *policy = NULL;
	agentbox_mcp *m = NULL;

	if (agentbox_context_new(&context, NULL) < 0 ||
	    agentbox_policy_parse(context, policy_text,
				  sizeof(policy_text) - 1, &policy, NULL) < 0 ||
	    agentbox_mcp_new(policy, "s", &m, NULL) < 0 ||
	    agentbox_mcp_set_identity(m, "{\"me\":1}", 8, NULL) < 0)
		abort();
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
	return m;
}

static const char *text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static void to_server(const json_t *v)
{
	json_t *params = json_object_get(v, "params");
	json_t *id = json_object_get(json_object_get(params, "_meta"),
				     "agentbox/identity");

	if (strcmp(text(v, "method"), "tools/call") == 0 &&
	    strcmp(text(params, "name"), "good") != 0)
		abort();
	if (id && json_integer_value(json_object_get(id, "me")) != 1)
		abort();
	if (json_object_get(v, "method") && json_object_get(v, "id") && !id)
		abort();
}

static void to_client(const json_t *v)
{
	json_t *meta = json_object_get(json_object_get(v, "result"), "_meta");
	const char *key;
	json_t *one;

	if (strcmp(text(v, "method"), "sampling/createMessage") == 0 ||
	    strcmp(text(v, "method"), "elicitation/create") == 0)
		abort();
	json_object_foreach(meta, key, one)
		if (strncasecmp(key, "agentbox/", 9) == 0)
			abort();
}

static void drain(agentbox_mcp *m)
{
	agentbox_bytes *b = NULL;
	int32_t side;

	while (agentbox_mcp_next_event(m, &b, NULL) == 0)
		agentbox_bytes_free(b);
	while (agentbox_mcp_next_frame(m, &side, &b, NULL) == 0) {
		const char *p = agentbox_bytes_get_data(b);
		size_t n = agentbox_bytes_get_size(b);
		json_t *v = json_loadb(p, n, JSON_REJECT_DUPLICATES, NULL);

		if (!v || memchr(p, '\n', n))
			abort();
		if (side == AGENTBOX_MCP_SERVER)
			to_server(v);
		else
			to_client(v);
		json_decref(v);
		agentbox_bytes_free(b);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size;
	agentbox_mcp *m = session();

	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((stop ? stop : end) - p);

		if (n && (*p == 'c' || *p == 's'))
			agentbox_mcp_take(m, *p == 'c' ? AGENTBOX_MCP_CLIENT
						       : AGENTBOX_MCP_SERVER,
					  p + 1, n - 1, NULL);
		drain(m);
		p += n + 1;
	}
	agentbox_mcp_free(m);
	return 0;
}
