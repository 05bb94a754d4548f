/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ask-on-deny: the gateway's questions go to the host's callback, inside
 * dispatch() and with no lock of ours held. The time a question may wait is
 * the gateway's to keep: a host that never dispatches has said no.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agentbox/guard.h"
#include "gateway/internal.h"

#define TIMEOUT_MAX_MS 600000

static bool keep(char *to, size_t size, const char *text)
{
	if (strlen(text) >= size)
		return false;
	strcpy(to, text);
	return true;
}

static void drop_oldest(agentbox_gateway *gw)
{
	gw->asked_at = (gw->asked_at + 1) % AB_GATEWAY_ASKS;
	gw->asked_count--;
}

int ab_gateway_take_question(agentbox_gateway *gw, ab_reader *r)
{
	ab_gateway_record record = { .kind = AB_GATEWAY_KINDS, .rule = "",
				     .reason = "asked",
				     .detail = "the host is asked" };
	ab_gateway_question *q;

	/* the gateway has no more than these waiting: one of them ran out of
	   its time and was refused. Who is not put to the host is, too. */
	if (gw->asked_count == AB_GATEWAY_ASKS)
		drop_oldest(gw);
	q = &gw->asked[(gw->asked_at + gw->asked_count) % AB_GATEWAY_ASKS];
	q->id = ab_get_u32(r);
	record.how = ab_get_str(r);
	record.target = ab_get_str(r);
	if (!ab_reader_done(r) ||
	    !keep(q->how, sizeof(q->how), record.how) ||
	    !keep(q->target, sizeof(q->target), record.target))
		return -EPROTO;
	gw->asked_count++;
	gw->told(gw->arg, &record);
	return 0;
}

static bool next(agentbox_gateway *gw, ab_gateway_question *q,
		 agentbox_gateway_ask_fn *ask, void **data)
{
	bool has_one;

	pthread_mutex_lock(&gw->lock);
	has_one = gw->asked_count > 0;
	if (has_one) {
		*q = gw->asked[gw->asked_at];
		drop_oldest(gw);
	}
	*ask = gw->ask;
	*data = gw->ask_data;
	pthread_mutex_unlock(&gw->lock);
	return has_one;
}

void ab_gateway_serve_asks(agentbox_gateway *gw)
{
	agentbox_gateway_ask_fn ask;
	ab_gateway_question q;
	void *data;

	/* those that come meanwhile have their turn the next time */
	for (int i = 0; gw && i < AB_GATEWAY_ASKS &&
			next(gw, &q, &ask, &data); i++) {
		int32_t verdict = !ask ? AGENTBOX_VERDICT_DENY
				       : ask(data, q.id, q.how, q.target);

		if (verdict != AGENTBOX_VERDICT_ASK)
			(void)agentbox_gateway_answer(gw, q.id, verdict, NULL);
	}
}

int32_t agentbox_gateway_answer(agentbox_gateway *gw, uint32_t id,
				int32_t verdict, agentbox_error **err)
{
	bool yes = verdict == AGENTBOX_VERDICT_ALLOW;
	int32_t result = 0, rc = ab_gateway_usable(gw, err);
	char name[16], text[8];

	if (rc)
		return rc;
	snprintf(name, sizeof(name), "%u %d", id, yes);
	rc = ab_gateway_request(gw, AB_MSG_GW_ANSWER, name, -1, &result, text,
				sizeof(text), err);
	return rc || !result ? rc
		: ab_error_set(err, AGENTBOX_ENOTFOUND, "id",
			       "nobody waits for answer %u any more", id);
}

int32_t agentbox_gateway_set_ask(agentbox_gateway *gw,
				 agentbox_gateway_ask_fn ask, void *data,
				 uint32_t timeout_ms, agentbox_error **err)
{
	int32_t result = 0, rc = ab_gateway_usable(gw, err);
	char name[16], text[8];

	if (rc)
		return rc;
	if (ask ? timeout_ms < 1 || timeout_ms > TIMEOUT_MAX_MS
		: timeout_ms != 0)
		return ab_error_set(err, AGENTBOX_EINVAL, "timeout_ms",
				    "not 1 to %d ms, or 0 without a callback",
				    TIMEOUT_MAX_MS);
	/* no question comes before there is somebody to ask */
	pthread_mutex_lock(&gw->lock);
	gw->ask = ask;
	gw->ask_data = data;
	pthread_mutex_unlock(&gw->lock);
	snprintf(name, sizeof(name), "%u", timeout_ms);
	return ab_gateway_request(gw, AB_MSG_GW_ASKING, name, -1, &result,
				  text, sizeof(text), err);
}
