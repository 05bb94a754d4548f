/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arguments that 2026-07-28 wants in the head of a call as well: what a tool's
 * inputSchema marks with "x-mcp-header", reached through "properties" alone.
 * Remembered when the tool is shown. Spec: the transport of that version,
 * "custom headers from tool parameters".
 */
#include "config.h"

#include <string.h>

#include "base/attr.h"
#include "base/json.h"
#include "mcp/internal.h"

#define DEPTH 8
#define FIELDS 32
#define NAME_MAX_LEN 64
#define KEY_MAX_LEN 128
#define TOOLS 256

static bool is_field_name(const char *s)
{
	size_t n = s ? strlen(s) : 0;

	return n > 0 && n <= NAME_MAX_LEN &&
	       strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			 "0123456789-_") == n;
}

static bool is_primitive(const json_t *schema)
{
	const char *type = json_string_value(json_object_get(schema, "type"));

	return type && (strcmp(type, "string") == 0 ||
			strcmp(type, "integer") == 0 ||
			strcmp(type, "boolean") == 0);
}

/* Append [NAME, KEY, KEY, ...] for each that is marked; false: no memory. */
static bool scan(const json_t *schema, const json_t *path, unsigned depth,
		 json_t *out)
{
	json_t *properties = json_object_get(schema, "properties");
	const char *key;
	json_t *v;

	if (depth == DEPTH)
		return true;
	json_object_foreach(properties, key, v) {
		const json_t *mark = json_object_get(v, "x-mcp-header");
		ab_auto(json_t) *here = json_copy((json_t *)(uintptr_t)path);

		if (strlen(key) > KEY_MAX_LEN)
			continue;
		if (!here ||
		    json_array_append_new(here, json_string(key)) < 0 ||
		    !scan(v, here, depth + 1, out))
			return false;
		if (!is_field_name(json_string_value(mark)) ||
		    !is_primitive(v) || json_array_size(out) == FIELDS)
			continue;
		if (json_array_insert(here, 0, (json_t *)(uintptr_t)mark) < 0 ||
		    json_array_append(out, here) < 0)
			return false;
	}
	return true;
}

bool ab_mcp_params_learn(agentbox_mcp *m, const char *tool,
			 const json_t *schema)
{
	json_t *params = m->memory->params;
	ab_auto(json_t) *none = json_array();
	ab_auto(json_t) *found = json_array();

	if (!none || !found || !scan(schema, none, 0, found))
		return false;
	json_object_del(params, tool);
	return json_array_size(found) == 0 ||
	       json_object_size(params) >= TOOLS ||
	       json_object_set(params, tool, found) == 0;
}

const json_t *ab_mcp_param(const agentbox_mcp *m, const json_t *call, size_t i,
			   const char **name)
{
	const json_t *params = json_object_get(call, "params");
	const char *tool = json_string_value(json_object_get(params, "name"));
	const json_t *field = tool ? json_array_get(
		json_object_get(m->memory->params, tool), i) : NULL;
	const json_t *v = json_object_get(params, "arguments");

	*name = json_string_value(json_array_get(field, 0));
	for (size_t k = 1; k < json_array_size(field); k++)
		v = json_object_get(v, json_string_value(
					       json_array_get(field, k)));
	return v;
}
