/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of a box, for the host's own loop. */
#include "config.h"

#include <unistd.h>

#include "base/error.h"
#include "base/alloc.h"
#include "sandbox/sandbox.h"

const char *ab_event_kind_name(uint32_t kind)
{
	switch ((enum ab_event_kind)kind) {
	case AB_EVENT_QUARANTINED:
		return "quarantined";
	case AB_EVENT_REPROTECTED:
		return "reprotected";
	case AB_EVENT_UNPROTECTED:
		return "unprotected";
	case AB_EVENT_LAUNCHER:
		return "launcher";
	case AB_EVENT_LIMIT:
		return "limit";
	case AB_EVENT_ENDED:
		return "ended";
	case AB_EVENT_CREATED:
		return "created";
	}
	return NULL;
}

int32_t agentbox_sandbox_get_fd(const agentbox_sandbox *box)
{
	return box ? box->helper.control_fd : -1;
}

int32_t agentbox_sandbox_get_timeout_ms(const agentbox_sandbox *box)
{
	/* Queued events need no readiness of the fd. */
	return box && box->events ? 0 : -1;
}

int32_t agentbox_sandbox_dispatch(agentbox_sandbox *box, agentbox_error **err)
{
	if (!box)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "sandbox is NULL");
	int32_t rc = ab_box_usable(box, err);
	if (rc == AGENTBOX_EFORKED)
		return rc;
	if (rc == AGENTBOX_ECLOSED) {
		if (err) {
			agentbox_error_free(*err);
			*err = NULL;
		}
		return 0;
	}
	return ab_control_drain(box, err);
}

static agentbox_event *make(uint32_t kind, char *object, char *detail)
{
	agentbox_event *e = object && detail ? ab_new(agentbox_event) : NULL;

	if (!e) {
		free(object);
		free(detail);
		return NULL;
	}
	e->kind = kind;
	e->object = object;
	e->detail = detail;
	return e;
}

/*
 * What is said when the queue is empty: what did not fit into it, and the
 * end, once and after everything else. NULL with *nomem false: nothing.
 */
static agentbox_event *last_words(agentbox_sandbox *box, bool *nomem)
{
	uint64_t dropped = box->events_dropped;
	uint64_t unprotected = box->unprotected_dropped;
	agentbox_event *e;

	*nomem = false;
	if (dropped) {
		/* Decoys must not hide that a protection failed. */
		e = make(unprotected ? AB_EVENT_UNPROTECTED : AB_EVENT_LIMIT,
			 ab_strdup("events"),
			 ab_asprintf("%llu events did not fit the queue, %llu "
				     "of them of protections that failed",
				     (unsigned long long)dropped,
				     (unsigned long long)unprotected));
		if (e)
			box->events_dropped = box->unprotected_dropped = 0;
	} else if (atomic_load(&box->ended) && !box->ended_told) {
		e = make(AB_EVENT_ENDED, ab_strdup(""), ab_strdup(""));
		box->ended_told = e != NULL;
	} else {
		return NULL;
	}
	*nomem = !e;
	return e;
}

int32_t agentbox_sandbox_next_event(agentbox_sandbox *box,
				    agentbox_event **event,
				    agentbox_error **err)
{
	bool nomem = false;

	if (!box || !event)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "sandbox or event is NULL");
	if (box->owner != getpid())
		return ab_box_usable(box, err);

	pthread_mutex_lock(&box->lock);
	agentbox_event *e = box->events;
	if (e) {
		box->events = e->next;
		if (!box->events)
			box->events_tail = &box->events;
		box->event_count--;
		e->next = NULL;
	} else {
		e = last_words(box, &nomem);
	}
	pthread_mutex_unlock(&box->lock);

	if (nomem)
		return ab_error_nomem(err);
	if (!e)
		return AGENTBOX_EAGAIN;
	*event = e;
	return 0;
}

const char *agentbox_event_get_kind(const agentbox_event *event)
{
	const char *name = event ? ab_event_kind_name(event->kind) : NULL;

	return name ? name : "";
}

const char *agentbox_event_get_object(const agentbox_event *event)
{
	return event && event->object ? event->object : "";
}

const char *agentbox_event_get_detail(const agentbox_event *event)
{
	return event && event->detail ? event->detail : "";
}

void agentbox_event_free(agentbox_event *event)
{
	if (!event)
		return;
	free(event->object);
	free(event->detail);
	free(event);
}
