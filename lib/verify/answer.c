/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A self-test that another process of the user asks for, through the socket
 * of the box's owner: only the owner knows what the box should be. The text
 * of the request is untrusted. Spec: agentbox_verify(3), agentbox_owner(3).
 */
#include "config.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "verify/internal.h"

AB_DEFINE_AUTO(agentbox_verify, agentbox_verify_free)

static void reply_error(agentbox_request *request, int32_t code,
			const agentbox_error *err)
{
	const char *text = agentbox_error_get_message(err);

	(void)agentbox_request_reply(request, code,
				     text[0] ? text : "out of memory", NULL);
}

static void run_and_reply(agentbox_request *request, agentbox_sandbox *box)
{
	ab_auto(agentbox_error) *err = NULL;
	ab_auto(agentbox_verify) *report = NULL;
	ab_auto(agentbox_bytes) *json = NULL;
	int32_t rc = agentbox_verify_run(box, NULL, &report, &err);

	if (rc == 0)
		rc = agentbox_verify_to_json(report, &json, &err);
	if (rc)
		reply_error(request, rc, err);
	else
		(void)agentbox_request_reply(
			request, 0, agentbox_bytes_get_data(json), NULL);
}

/* The id of the box that is meant; false: it asks for something else. */
static bool is_verify(const agentbox_request *request, json_t **root,
		      const char **id)
{
	const char *text = agentbox_request_get_json(request), *command;

	if (ab_json_parse(text, strlen(text), AB_MAX_MESSAGE, root, NULL, NULL))
		return false;
	command = json_string_value(json_object_get(*root, "command"));
	*id = json_string_value(json_object_get(*root, "box"));
	return command && *id && strcmp(command, "verify") == 0;
}

int32_t agentbox_verify_answer(agentbox_request *request,
			       agentbox_sandbox *const *boxes, size_t count)
{
	ab_auto(json_t) *root = NULL;
	const char *id = NULL;

	if (!request || (!boxes && count) || !is_verify(request, &root, &id))
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(agentbox_sandbox_get_id(boxes[i]), id) != 0)
			continue;
		run_and_reply(request, boxes[i]);
		return 1;
	}
	(void)agentbox_request_reply(request, AGENTBOX_ENOTFOUND,
				     "no box of this id is here", NULL);
	return 1;
}
