/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library does not answer itself: texts for the host program, which
 * answers each when it likes, also after the client or the owner is gone.
 */
#include "config.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "owner/internal.h"

int32_t ab_request_queue(agentbox_owner *o, ab_client *c, uint32_t serial,
			 int fd, agentbox_error **err)
{
	ab_autofree char *json = NULL;
	size_t n = 0;

	if (o->request_count >= AB_OWNER_MAX_REQUESTS)
		return ab_error_set(err, AGENTBOX_ELIMIT, "",
				    "%d requests are waiting",
				    AB_OWNER_MAX_REQUESTS);
	int32_t rc = ab_owner_slurp(fd, AB_OWNER_MAX_TEXT, &json, &n, err);
	if (rc < 0)
		return rc;
	if (memchr(json, '\0', n))
		return ab_error_set(err, AGENTBOX_EPARSE, "", "NUL in a text");
	agentbox_request *q = ab_new(agentbox_request);
	if (!q)
		return ab_error_nomem(err);
	q->owner = o;
	q->client = c;
	q->serial = serial;
	q->json = ab_steal(&json);
	agentbox_request **end = &o->requests;
	while (*end)
		end = &(*end)->next;
	*end = q;
	o->request_count++;
	return 0;
}

int32_t agentbox_owner_next_request(agentbox_owner *o,
				    agentbox_request **request,
				    agentbox_error **err)
{
	int32_t rc = ab_owner_usable(o, err);
	if (rc < 0)
		return rc;
	if (!request)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "request is NULL");
	for (agentbox_request *q = o->requests; q; q = q->next)
		if (!q->handed_out) {
			q->handed_out = true;
			*request = q;
			return 0;
		}
	return AGENTBOX_EAGAIN;
}

const char *agentbox_request_get_json(const agentbox_request *request)
{
	return request ? request->json : "";
}

void ab_request_end(agentbox_request *q)
{
	agentbox_request **at = q->owner ? &q->owner->requests : NULL;

	while (at && *at && *at != q)
		at = &(*at)->next;
	if (at && *at) {
		*at = q->next;
		q->owner->request_count--;
	}
	free(q->json);
	free(q);
}

int32_t agentbox_request_reply(agentbox_request *q, int32_t code,
			       const char *text, agentbox_error **err)
{
	if (!q || code > 0 || !text) {
		agentbox_request_free(q);
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "request or text is NULL, or %d is no "
				    "result code", code);
	}
	bool there = q->client != NULL;
	if (there && strlen(text) > AB_OWNER_MAX_TEXT)
		ab_client_answer(q->client, q->serial, AGENTBOX_ELIMIT,
				 "the answer is too long", 22);
	else if (there)
		ab_client_answer(q->client, q->serial, code, text,
				 strlen(text));
	ab_request_end(q);
	if (!there)
		return ab_error_set(err, AGENTBOX_ECLOSED, "",
				    "the client went away");
	return 0;
}

void agentbox_request_free(agentbox_request *q)
{
	if (!q)
		return;
	if (q->client)
		ab_client_answer(q->client, q->serial, AGENTBOX_ECANCELED,
				 "the request was not answered", 28);
	ab_request_end(q);
}
