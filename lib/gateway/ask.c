/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ask-on-deny and approval: the gateway's questions go to the host's
 * callbacks, inside dispatch() and with no lock of ours held. The time a
 * question may wait is the gateway's to keep: a host that never dispatches has
 * said no.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agentbox/guard.h"
#include "base/alloc.h"
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
	free(gw->asked[gw->asked_at].arguments);
	gw->asked_at = (gw->asked_at + 1) % AB_GATEWAY_ASKS;
	gw->asked_count--;
}

void ab_gateway_drop_questions(agentbox_gateway *gw)
{
	while (gw->asked_count)
		drop_oldest(gw);
}

int ab_gateway_take_question(agentbox_gateway *gw, ab_reader *r, bool is_call)
{
	ab_gateway_record record = { .kind = AB_GATEWAY_KINDS, .rule = "",
				     .reason = "asked",
				     .detail = "the host is asked" };
	const char *arguments = NULL;
	ab_gateway_question *q;

	/* the gateway has no more than these waiting: one of them ran out of
	   its time and was refused. Who is not put to the host is, too. */
	if (gw->asked_count == AB_GATEWAY_ASKS)
		drop_oldest(gw);
	q = &gw->asked[(gw->asked_at + gw->asked_count) % AB_GATEWAY_ASKS];
	q->id = ab_get_u32(r);
	record.how = ab_get_str(r);
	record.target = ab_get_str(r);
	if (is_call)
		arguments = ab_get_str(r);
	if (!ab_reader_done(r) ||
	    !keep(q->how, sizeof(q->how), record.how) ||
	    !keep(q->target, sizeof(q->target), record.target))
		return -EPROTO;
	q->arguments = is_call ? ab_strdup(arguments) : NULL;
	/* without memory it is put to nobody */
	gw->asked_count += !is_call || q->arguments;
	gw->told(gw->arg, &record);
	return 0;
}

/* The oldest, and what is its own is the caller's. */
static bool next(agentbox_gateway *gw, ab_gateway_question *q,
		 ab_gateway_asker *asker)
{
	bool has_one;

	pthread_mutex_lock(&gw->lock);
	has_one = gw->asked_count > 0;
	if (has_one) {
		*q = gw->asked[gw->asked_at];
		gw->asked[gw->asked_at].arguments = NULL;
		drop_oldest(gw);
	}
	*asker = gw->asker;
	pthread_mutex_unlock(&gw->lock);
	return has_one;
}

static int32_t put(const ab_gateway_asker *to, const ab_gateway_question *q)
{
	if (q->arguments)
		return !to->approve ? AGENTBOX_VERDICT_DENY : to->approve(
			to->approve_data, q->id, q->target, q->arguments);
	return !to->ask ? AGENTBOX_VERDICT_DENY
			: to->ask(to->ask_data, q->id, q->how, q->target);
}

void ab_gateway_serve_asks(agentbox_gateway *gw)
{
	ab_gateway_asker asker;
	ab_gateway_question q;

	/* those that come meanwhile have their turn the next time */
	for (int i = 0; gw && i < AB_GATEWAY_ASKS && next(gw, &q, &asker);
	     i++) {
		int32_t verdict = put(&asker, &q);

		free(q.arguments);
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

/* 0, or what is wrong with them. */
static int32_t judge(const agentbox_gateway *gw, bool has_fn,
		     uint32_t timeout_ms, agentbox_error **err)
{
	int32_t rc = ab_gateway_usable(gw, err);

	if (rc)
		return rc;
	if (has_fn ? timeout_ms < 1 || timeout_ms > TIMEOUT_MAX_MS
		   : timeout_ms != 0)
		return ab_error_set(err, AGENTBOX_EINVAL, "timeout_ms",
				    "not 1 to %d ms, or 0 without a callback",
				    TIMEOUT_MAX_MS);
	return 0;
}

static int32_t tell(agentbox_gateway *gw, uint32_t kind, uint32_t timeout_ms,
		    agentbox_error **err)
{
	char name[16], text[8];
	int32_t result = 0;

	snprintf(name, sizeof(name), "%u", timeout_ms);
	return ab_gateway_request(gw, kind, name, -1, &result, text,
				  sizeof(text), err);
}

int32_t agentbox_gateway_set_ask(agentbox_gateway *gw,
				 agentbox_gateway_ask_fn ask, void *data,
				 uint32_t timeout_ms, agentbox_error **err)
{
	int32_t rc = judge(gw, ask, timeout_ms, err);

	if (rc)
		return rc;
	/* no question comes before there is somebody to ask */
	pthread_mutex_lock(&gw->lock);
	gw->asker.ask = ask;
	gw->asker.ask_data = data;
	pthread_mutex_unlock(&gw->lock);
	return tell(gw, AB_MSG_GW_ASKING, timeout_ms, err);
}

int32_t agentbox_gateway_set_approve(agentbox_gateway *gw,
				     agentbox_gateway_approve_fn approve,
				     void *data, uint32_t timeout_ms,
				     agentbox_error **err)
{
	int32_t rc = judge(gw, approve, timeout_ms, err);

	if (rc)
		return rc;
	pthread_mutex_lock(&gw->lock);
	gw->asker.approve = approve;
	gw->asker.approve_data = data;
	pthread_mutex_unlock(&gw->lock);
	return tell(gw, AB_MSG_GW_APPROVING, timeout_ms, err);
}
