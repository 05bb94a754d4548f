/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of a box, for the host's own loop. */
#include "config.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/alloc.h"
#include "sandbox/internal.h"

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
	case AB_EVENT_ALLOWED:
		return "allowed";
	case AB_EVENT_DENIED:
		return "denied";
	case AB_EVENT_CLOSED:
		return "closed";
	case AB_EVENT_FAILED:
		return "failed";
	case AB_EVENT_GATEWAY:
		return "gateway";
	case AB_EVENT_EXEC:
		return "exec";
	case AB_EVENT_TRIPWIRE:
		return "tripwire";
	case AB_EVENT_ASK:
		return "ask";
	case AB_EVENT_MISMATCH:
		return "mismatch";
	case AB_EVENT_VERIFIED:
		return "verified";
	case AB_EVENT_SHIELD:
		return "shield";
	case AB_EVENT_CONNECT:
		return "connect";
	case AB_EVENT_READ:
		return "read";
	}
	return NULL;
}

void ab_events_init(ab_event_queue *q)
{
	pthread_mutex_init(&q->lock, NULL);
	q->fresh_tail = &q->fresh;
	q->ready_tail = &q->ready;
	q->wake_fd = q->poll_fd = -1;
}

static agentbox_event *pop(agentbox_event **head, agentbox_event ***tail)
{
	agentbox_event *e = *head;

	if (!e)
		return NULL;
	*head = e->next;
	if (!*head)
		*tail = head;
	e->next = NULL;
	return e;
}

static void append(agentbox_event ***tail, agentbox_event *e)
{
	**tail = e;
	*tail = &e->next;
}

void ab_events_end(ab_event_queue *q)
{
	agentbox_event *e;

	while ((e = pop(&q->fresh, &q->fresh_tail)) ||
	       (e = pop(&q->ready, &q->ready_tail)))
		agentbox_event_free(e);
	if (q->wake_fd >= 0)
		close(q->wake_fd);
	if (q->poll_fd >= 0)
		close(q->poll_fd);
	pthread_mutex_destroy(&q->lock);
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

int ab_events_push(agentbox_sandbox *box, const void *p, size_t n)
{
	ab_event_queue *q = &box->events;
	ab_reader r;
	ab_msg_event m;

	ab_reader_init(&r, p, n);
	ab_get_u32(&r);
	ab_get_u32(&r);
	if (ab_msg_get_event(&r, &m) < 0 || m.kind > AB_EVENT_ENDED ||
	    !ab_event_kind_name(m.kind))
		return -EPROTO;
	agentbox_event *e = make(m.kind, ab_strdup(m.object),
				 ab_strdup(m.detail));
	if (!e)
		return -ENOMEM;
	pthread_mutex_lock(&q->lock);
	append(&q->fresh_tail, e);
	q->count++;
	q->unprotected += m.kind == AB_EVENT_UNPROTECTED;
	pthread_mutex_unlock(&q->lock);
	return 0;
}

void ab_events_add(agentbox_sandbox *box, uint32_t kind, const char *object,
		   const char *detail, json_t *record)
{
	ab_event_queue *q = &box->events;
	agentbox_event *e = make(kind, ab_strdup(object), ab_strdup(detail));

	if (!e) {
		json_decref(record);
		return;
	}
	e->record = record;
	pthread_mutex_lock(&q->lock);
	append(&q->fresh_tail, e);
	q->count++;
	pthread_mutex_unlock(&q->lock);
}

/*
 * A host that never reads its events does not lose memory to an agent that
 * makes them: past the bound they are counted, after they were recorded.
 */
static void settle_event(ab_event_queue *q, agentbox_event *e)
{
	if (e->kind == AB_EVENT_EXEC || e->kind == AB_EVENT_CONNECT ||
	    e->kind == AB_EVENT_VERIFIED || e->kind == AB_EVENT_READ) {
		/* for the audit alone: there is no end of them */
		q->count--;
		agentbox_event_free(e);
		return;
	}
	if (q->count > AB_MAX_QUEUED_EVENTS) {
		q->count--;
		q->dropped++;
		q->unprotected_dropped += e->kind == AB_EVENT_UNPROTECTED;
		agentbox_event_free(e);
		return;
	}
	append(&q->ready_tail, e);
	if (q->wake_fd >= 0)
		eventfd_write(q->wake_fd, 1);
}

void ab_events_wake(agentbox_sandbox *box)
{
	ab_event_queue *q = &box->events;

	pthread_mutex_lock(&q->lock);
	if (q->wake_fd >= 0)
		eventfd_write(q->wake_fd, 1);
	pthread_mutex_unlock(&q->lock);
}

void ab_events_publish(agentbox_sandbox *box)
{
	ab_event_queue *q = &box->events;
	agentbox_event *e;

	pthread_mutex_lock(&q->lock);
	while ((e = pop(&q->fresh, &q->fresh_tail))) {
		pthread_mutex_unlock(&q->lock);
		/* A record that cannot be written stops the next command,
		   which must be recorded before it runs. */
		ab_record_event(box, e, NULL);
		pthread_mutex_lock(&q->lock);
		settle_event(q, e);
	}
	pthread_mutex_unlock(&q->lock);
}

/* One descriptor for the control socket and the wake-ups; queue locked. */
static void make_poll_fd(agentbox_sandbox *box)
{
	ab_event_queue *q = &box->events;
	struct epoll_event in = { .events = EPOLLIN };
	ab_autofd int poll_fd = ab_fd_lift(epoll_create1(EPOLL_CLOEXEC));
	ab_autofd int wake_fd = ab_fd_lift(eventfd(q->ready != NULL,
						   EFD_CLOEXEC | EFD_NONBLOCK));

	/* Each is there or -1. */
	const int fds[] = { wake_fd, box->helper.control_fd,
			    ab_gateway_fd(box->gateway),
			    ab_gateway_runs_fd(box->gateway),
			    ab_shield_fd(box->shield) };

	if (poll_fd < 0 || wake_fd < 0)
		return;
	for (size_t i = 0; i < AB_ARRAY_LEN(fds); i++)
		if (fds[i] >= 0 && epoll_ctl(poll_fd, EPOLL_CTL_ADD, fds[i],
					     &in) < 0)
			return;
	q->poll_fd = ab_steal_fd(&poll_fd);
	q->wake_fd = ab_steal_fd(&wake_fd);
}

/* A fork of the host keeps what is closed here open: it would stay in the set,
   and the host be told of its end again and again (epoll(7), Q6). */
void ab_events_closing(void *arg, int fd)
{
	agentbox_sandbox *box = arg;
	ab_event_queue *q = &box->events;

	pthread_mutex_lock(&q->lock);
	if (q->poll_fd >= 0 && fd >= 0)
		(void)epoll_ctl(q->poll_fd, EPOLL_CTL_DEL, fd, NULL);
	pthread_mutex_unlock(&q->lock);
}

int32_t agentbox_sandbox_get_fd(const agentbox_sandbox *sandbox)
{
	/* Made when it is first asked for; no one else sees a difference. */
	agentbox_sandbox *box = (agentbox_sandbox *)(uintptr_t)sandbox;
	int fd;

	if (!box || box->owner != getpid())
		return -1;
	pthread_mutex_lock(&box->events.lock);
	if (box->events.poll_fd < 0)
		make_poll_fd(box);
	fd = box->events.poll_fd;
	pthread_mutex_unlock(&box->events.lock);
	return fd >= 0 ? fd : box->helper.control_fd;
}

int32_t agentbox_sandbox_get_timeout_ms(const agentbox_sandbox *sandbox)
{
	agentbox_sandbox *box = (agentbox_sandbox *)(uintptr_t)sandbox;
	bool waiting;

	if (!box || box->owner != getpid())
		return -1;
	pthread_mutex_lock(&box->events.lock);
	waiting = box->events.count || box->events.dropped;
	pthread_mutex_unlock(&box->events.lock);
	return waiting ? 0 : -1;
}

int32_t agentbox_sandbox_dispatch(agentbox_sandbox *box, agentbox_error **err)
{
	if (!box)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "sandbox is NULL");
	if (box->owner != getpid())
		return ab_box_usable(box, err);
	ab_gateway_drain(box->gateway);
	ab_shield_drain(box->shield);
	ab_gateway_serve_asks(box->gateway);
	ab_gateway_serve(box->gateway);
	return ab_control_drain(box, err);
}

/*
 * What is said when the queue is empty: what did not fit into it, and the
 * end, once and after everything else. NULL with *nomem false: nothing.
 */
static agentbox_event *last_words(agentbox_sandbox *box, bool *nomem)
{
	ab_event_queue *q = &box->events;
	agentbox_event *e;

	*nomem = false;
	if (q->dropped) {
		/* Decoys must not hide that a protection failed. */
		e = make(q->unprotected_dropped ? AB_EVENT_UNPROTECTED
			 : AB_EVENT_LIMIT, ab_strdup("events"),
			 ab_asprintf("%llu events did not fit the queue, %llu "
				     "of them of protections that failed",
				     (unsigned long long)q->dropped,
				     (unsigned long long)
				     q->unprotected_dropped));
		if (e)
			q->dropped = q->unprotected_dropped = 0;
	} else if (atomic_load(&box->ended) && !q->fresh && !q->ended_told) {
		e = make(AB_EVENT_ENDED, ab_strdup(""), ab_strdup(""));
		q->ended_told = e != NULL;
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
	eventfd_t told;

	if (!box || !event)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "sandbox or event is NULL");
	if (box->owner != getpid())
		return ab_box_usable(box, err);

	ab_event_queue *q = &box->events;
	pthread_mutex_lock(&q->lock);
	agentbox_event *e = pop(&q->ready, &q->ready_tail);
	if (e)
		q->count--;
	else
		e = last_words(box, &nomem);
	if (!q->ready && q->wake_fd >= 0)
		eventfd_read(q->wake_fd, &told);
	pthread_mutex_unlock(&q->lock);

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
	json_decref(event->record);
	free(event->object);
	free(event->detail);
	free(event);
}
