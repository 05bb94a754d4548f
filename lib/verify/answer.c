/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A self-test that another process of the user asks for, through the socket
 * of the box's owner: only the owner knows what the box should be. It is
 * carried on in the owner's dispatch, so that an agent who stops the program
 * holds up nobody. The text of the request is untrusted.
 * Spec: agentbox_verify(3), agentbox_owner(3), owner/work.h.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "owner/work.h"
#include "verify/internal.h"

AB_DEFINE_AUTO(agentbox_verify, agentbox_verify_free)

typedef struct answer {
	ab_verify_run *run;
	agentbox_request *request; /* NULL: it has its reply */
} answer;

static void reply_error(agentbox_request *request, int32_t code,
			const agentbox_error *err)
{
	const char *text = agentbox_error_get_message(err);

	(void)agentbox_request_reply(request, code,
				     text[0] ? text : "out of memory", NULL);
}

/* The report, or why there is none. */
static void reply(agentbox_request *request, int32_t rc,
		  const agentbox_verify *report, agentbox_error *err)
{
	ab_auto(agentbox_bytes) *json = NULL;
	ab_auto(agentbox_error) *mine = NULL;

	if (rc) {
		reply_error(request, rc, err);
		return;
	}
	rc = agentbox_verify_to_json(report, &json, &mine);
	if (rc)
		reply_error(request, rc, mine);
	else
		(void)agentbox_request_reply(
			request, 0, agentbox_bytes_get_data(json), NULL);
}

static int answer_fd(const void *arg)
{
	return ab_verify_fd(((const answer *)arg)->run);
}

static int64_t answer_timeout_ms(const void *arg)
{
	return ab_verify_timeout_ms(((const answer *)arg)->run);
}

static bool answer_turn(void *arg)
{
	ab_auto(agentbox_error) *err = NULL;
	answer *a = arg;
	int32_t rc = ab_verify_turn(a->run, &err);

	if (rc == 0 && a->run->stage != AB_VERIFY_DONE)
		return false;
	reply(ab_steal(&a->request), rc, a->run->report, err);
	return true;
}

static void answer_end(void *arg)
{
	answer *a = arg;

	ab_verify_end(a->run);
	agentbox_request_free(a->request);
	free(a);
}

static const ab_work_kind work = { answer_fd, answer_timeout_ms, answer_turn,
				   answer_end };

static void answer_now(agentbox_request *request, agentbox_sandbox *box)
{
	ab_auto(agentbox_error) *err = NULL;
	ab_auto(agentbox_verify) *report = NULL;
	int32_t rc = agentbox_verify_run(box, NULL, &report, &err);

	reply(request, rc, report, err);
}

/* Between others where the owner serves the box, else at once. */
static void run_and_reply(agentbox_request *request, agentbox_sandbox *box)
{
	ab_auto(agentbox_error) *err = NULL;
	answer *a;
	int32_t rc;

	if (!ab_owner_can_work(request, box)) {
		answer_now(request, box);
		return;
	}
	a = ab_new(answer);
	rc = a ? ab_verify_begin(box, NULL, AB_VERIFY_OWNER_WAIT_MS, &a->run,
			     &err)
	       : ab_error_nomem(&err);
	if (rc == 0 && !ab_owner_begin_work(request, box, &work, a))
		rc = ab_error_nomem(&err);
	if (rc == 0) {
		a->request = request;
		return;
	}
	if (a)
		ab_verify_end(a->run);
	free(a);
	reply(request, rc, NULL, err);
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
