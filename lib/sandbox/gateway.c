/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The gateway of a box: started before the box's first command, and what it
 * tells as events and records of the box (DESIGN.md section 9).
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "sandbox/internal.h"

void ab_box_drop_listeners(agentbox_sandbox *box)
{
	for (size_t i = 0; i < box->listener_count; i++)
		close(box->listeners[i]);
	box->listener_count = 0;
	for (size_t i = 0; i < box->broker_fd_count; i++)
		close(box->broker_fds[i]);
	box->broker_fd_count = 0;
}

static uint32_t event_of(uint32_t kind)
{
	static const uint32_t kinds[] = {
		AB_EVENT_GATEWAY, AB_EVENT_ALLOWED, AB_EVENT_DENIED,
		AB_EVENT_CLOSED, AB_EVENT_FAILED, AB_EVENT_GATEWAY,
	};

	return kinds[kind < AB_ARRAY_LEN(kinds) ? kind : 0];
}

static json_t *text(const agentbox_sandbox *box, const char *s)
{
	return box->audit ? ab_audit_text(box->audit, s, strlen(s))
			  : json_string(s);
}

static json_t *fields_of(const agentbox_sandbox *box,
			 const ab_gateway_record *m, uint32_t kind)
{
	const char *verdict = kind == AB_EVENT_ALLOWED ? "allow"
			      : kind == AB_EVENT_DENIED ? "deny" : "none";
	json_t *f = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "event",
			      ab_event_kind_name(kind), "how", m->how,
			      "verdict", verdict, "reason",
			      text(box, m->reason), "rule",
			      text(box, m->rule), "detail",
			      text(box, m->detail));

	if (f && (m->up || m->down) &&
	    (json_object_set_new(f, "up", json_integer((json_int_t)m->up)) ||
	     json_object_set_new(f, "down",
				 json_integer((json_int_t)m->down)))) {
		json_decref(f);
		return NULL;
	}
	if (f && m->has_peer &&
	    (json_object_set_new(f, "peer_euid", json_integer(m->peer_uid)) ||
	     json_object_set_new(f, "peer_pid", json_integer(m->peer_pid)))) {
		json_decref(f);
		return NULL;
	}
	if (f && m->lost &&
	    json_object_set_new(f, "lost", json_integer((json_int_t)m->lost))) {
		json_decref(f);
		return NULL;
	}
	return f;
}

static void told(void *arg, const ab_gateway_record *m)
{
	agentbox_sandbox *box = arg;
	uint32_t kind;
	char detail[1024];

	if (!m) {
		ab_events_add(box, AB_EVENT_GATEWAY, "gateway",
			      "has ended; the box has no network", NULL);
		return;
	}
	kind = event_of(m->kind);
	snprintf(detail, sizeof(detail), "%s%s%s", m->reason,
		 m->detail[0] ? ": " : "", m->detail);
	ab_events_add(box, kind, m->target, detail, fields_of(box, m, kind));
}

int32_t agentbox_sandbox_revoke(agentbox_sandbox *box, uint64_t *count,
				agentbox_error **err)
{
	uint64_t cut = 0;
	int32_t rc;

	if (!box)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "sandbox is NULL");
	if (box->owner != getpid())
		return ab_box_usable(box, err);
	/* what begins meanwhile is cut with the rest */
	atomic_store(&box->revoked, true);
	rc = box->gateway ? agentbox_gateway_revoke(box->gateway, &cut, err)
			  : 0;
	if (rc < 0)
		return rc;
	if (count)
		*count = cut;
	return ab_record_box(box, "box.revoke", err);
}

static void wake(void *arg)
{
	ab_events_wake(arg);
}

int32_t ab_box_start_gateway(agentbox_sandbox *box, uint64_t deadline,
			     agentbox_error **err)
{
	const ab_gateway_options options = {
		.box_id = box->id,
		.resolver = box->resolver,
		.fds = box->listeners,
		.fd_count = box->listener_count,
		.flags = box->listener_flags,
		.broker_fds = box->broker_fds,
		.broker_fd_count = box->broker_fd_count,
		.uid_inside = box->compiled.uid_inside,
		.uid_outside = box->compiled.uid_outside,
		.is_audited = box->audit != NULL,
		.deadline = deadline,
		.told = told,
		.closing = ab_events_closing,
		.wake = wake,
		.arg = box,
	};
	int32_t rc;

	if (ab_policy_get(box->policy)->network.mode != AB_NET_GATEWAY)
		return 0;
	if (!box->listener_count)
		return ab_error_set(err, AGENTBOX_EWALL, "gateway",
				    "agentbox-init made no way to the "
				    "gateway");
	rc = ab_gateway_new(box->context, box->policy, &options, &box->gateway,
			    err);
	/* it alone keeps them: when it ends, so does the network */
	ab_box_drop_listeners(box);
	return rc;
}
