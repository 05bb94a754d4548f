/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A call of any tool with any arguments: the first line is the tool's name. A
 * check always comes to a verdict within its work, hints are JSON of ids that
 * are readable, and a call of a scoped tool that has another box's id between
 * spaces in plain sight is never allowed.
 */
#include "config.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "scope/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char document[] =
	"{\"id\":\"sb-1\",\"grants\":[{\"source\":\"sb-10\"},{\"source\":"
	"\"bob\"},{\"source\":\"9f86d081884c7d659a2feaa0c55ad015\",\"name\":"
	"\"carol\"},{\"source\":\"0192f0c1-6c1e-7b3a-9d7e-2f4a5b6c7d8e\"}],"
	"\"others\":[{\"id\":\"sb-2\",\"aliases\":[\"10.77.0.2\"]}]}";

static agentbox_scope *scope(void)
{
	static const char policy_text[] = "{\"agentbox\":1,\"mode\":\"bare\"}";
	agentbox_context *context = NULL;
	agentbox_policy *policy = NULL;
	agentbox_scope *s = NULL;

	if (agentbox_context_new(&context, NULL) < 0 ||
	    agentbox_policy_parse(context, policy_text, strlen(policy_text),
				  &policy, NULL) < 0 ||
	    agentbox_scope_new(policy, document, strlen(document), &s, NULL) <
		    0)
		abort();
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
	return s;
}

static void check_hints(const agentbox_bytes *json)
{
	json_t *all = json_loads(agentbox_bytes_get_data(json),
				 JSON_REJECT_DUPLICATES, NULL);
	json_t *hints = json_object_get(all, "hints");

	if (!hints || json_array_size(hints) > AB_SCOPE_MAX_HINTS)
		abort();
	for (size_t i = 0; i < json_array_size(hints); i++) {
		const char *id = json_string_value(json_object_get(
			json_array_get(hints, i), "sandbox"));

		if (!strstr(document, id) || strcmp(id, "sb-2") == 0)
			abort();
	}
	json_decref(all);
}

/* Two readers agree about what is JSON: what is allowed is. */
static void check_allowed(const char *args, size_t n, bool is_scoped)
{
	json_t *value = n ? json_loadb(args, n,
				       JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL |
					       JSON_DECODE_ANY |
					       JSON_DECODE_INT_AS_REAL,
				       NULL) :
			    NULL;
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

	if (is_scoped && text && strstr(text, "\"sb-2\""))
		abort();
	free(text);
	json_decref(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *tool = (const char *)data;
	const char *end = size ? memchr(tool, '\n', size) : NULL;
	size_t tool_n = end ? (size_t)(end - tool) : size;
	const char *args = tool + (end ? tool_n + 1 : size);
	size_t n = size - (size_t)(args - tool);
	static agentbox_scope *s; /* read only: one for all */
	agentbox_bytes *json = NULL;
	struct ab_scope_call call = { .tool = tool,
				      .tool_len = tool_n,
				      .args = args,
				      .args_len = n };
	agentbox_decision *d = NULL;

	if (!s)
		s = scope();
	call.scope = s;
	if (ab_scope_judge(&call, &d, NULL) < 0 ||
	    call.steps > (uint64_t)(AB_SCOPE_WORK + 2) * n +
				 AB_SCOPE_WORK_LEAST)
		abort();
	if (agentbox_decision_get_verdict(d) == AGENTBOX_VERDICT_ALLOW)
		check_allowed(args, n, call.is_scoped);
	if (agentbox_scope_hint(s, tool, tool_n, args, n, &json, NULL) == 0)
		check_hints(json);
	agentbox_bytes_free(json);
	agentbox_decision_free(d);
	return 0;
}
