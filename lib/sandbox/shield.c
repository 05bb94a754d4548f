/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shield of a box: started before the box's first command, and what it
 * tells as events and records of the box (DESIGN.md section 12).
 */
#include "config.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "guard/exec.h"
#include "sandbox/internal.h"

#define MOST_POLLED 3

/* What the checks find nothing in: for the audit alone. */
static uint32_t plain_event_of(const ab_shield_record *m)
{
	switch (m->kind) {
	case AB_SHIELD_EXEC:
		return AB_EVENT_EXEC;
	case AB_SHIELD_READ:
		return AB_EVENT_READ;
	default:
		return AB_EVENT_CONNECT;
	}
}

static uint32_t event_of(const ab_shield_record *m)
{
	if (m->kind == AB_SHIELD_VERIFY)
		return AB_EVENT_VERIFIED;
	/* what became of a question: for the audit alone */
	if (m->id && m->answer != AB_SHIELD_ASKED)
		return plain_event_of(m);
	if (m->flags & AB_SHIELD_MISMATCH)
		return AB_EVENT_MISMATCH;
	if (m->answer == AB_SHIELD_ASKED)
		return AB_EVENT_ASK;
	if (m->verdict != AGENTBOX_VERDICT_ALLOW)
		return AB_EVENT_TRIPWIRE;
	return plain_event_of(m);
}

static json_t *text(const agentbox_sandbox *box, const char *s)
{
	return ab_audit_text(box->audit, s, strlen(s));
}

/*
 * A reader of the log must not take a tripwire for a wall: what was decided
 * on bytes of the agent's memory says so.
 */
static json_t *fields_of(const agentbox_sandbox *box,
			 const ab_shield_record *m, uint32_t kind)
{
	static const char *const verdicts[] = { "none", "allow", "ask",
						"deny" };
	static const char *const answers[] = { "", "let", "refused", "asked" };
	bool is_exec = m->kind == AB_SHIELD_EXEC;
	json_t *f;

	if (!box->audit)
		return NULL;
	f = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o}",
		      "event", ab_event_kind_name(kind),
		      "verdict", verdicts[m->verdict & 3],
		      "answer", answers[m->answer & 3],
		      "control", m->kind == AB_SHIELD_VERIFY ? "hard" : "soft",
		      "severity", kind == AB_EVENT_MISMATCH ? "high" : "info",
		      "rule", text(box, m->rule),
		      "reason", text(box, m->reason),
		      is_exec ? "command" : "target", text(box, m->command));
	/* the event's object is the question's id */
	if (f && m->id &&
	    (json_object_set_new(f, "ask",
				 json_integer((json_int_t)m->id)) ||
	     json_object_set_new(f, "subject", text(box, m->object))))
		goto nomem;
	if (f && m->pid && json_object_set_new(f, "host_pid",
					       json_integer(m->pid)))
		goto nomem;
	if (f && m->call[0] && json_object_set_new(f, "call",
						   text(box, m->call)))
		goto nomem;
	if (f && m->lost && json_object_set_new(
			f, "lost", json_integer((json_int_t)m->lost)))
		goto nomem;
	if (f && (m->flags & AB_SHIELD_CUT) &&
	    json_object_set_new(f, "truncated", json_true()))
		goto nomem;
	return f;
nomem:
	json_decref(f);
	return NULL;
}

static void told(void *arg, const ab_shield_record *m)
{
	agentbox_sandbox *box = arg;
	char id[24], detail[AB_SHIELD_MAX_COMMAND + 512];
	uint32_t kind;

	if (!m) {
		ab_events_add(box, AB_EVENT_SHIELD, "shield",
			      "has ended; nothing is started in the box any "
			      "more", NULL);
		return;
	}
	kind = event_of(m);
	snprintf(id, sizeof(id), "%llu", (unsigned long long)m->id);
	snprintf(detail, sizeof(detail), "%s%s%s%s%s%s%s%s",
		 m->answer == AB_SHIELD_REFUSED ? "refused: " : "", m->command,
		 m->reason[0] ? ": " : "", m->reason, m->rule[0] ? " [" : "",
		 m->rule, m->rule[0] ? "]" : "",
		 m->flags & AB_SHIELD_UNCALLED
			 ? "; no call that was allowed is under way"
			 : "");
	ab_events_add(box, kind, kind == AB_EVENT_ASK ? id : m->object, detail,
		      fields_of(box, m, kind));
}

int32_t ab_box_start_shield(agentbox_sandbox *box, uint64_t deadline,
			    agentbox_error **err)
{
	const ab_shield_options options = {
		.box_id = box->id,
		.workspace = box->compiled.workspace_inside,
		.home = box->compiled.home,
		.notify_fd = box->notify_fd,
		.uid = box->compiled.uid_outside,
		.gid = box->compiled.gid_outside,
		.is_audited = box->audit != NULL,
		.deadline = deadline,
		.told = told,
		.closing = ab_events_closing,
		.arg = box,
	};
	int32_t rc;

	if (ab_policy_get(box->policy)->shield == AB_SHIELD_OFF)
		return 0;
	if (box->notify_fd < 0)
		return ab_error_set(err, AGENTBOX_EWALL, "shield",
				    "agentbox-init made no listener");
	rc = ab_shield_new(box->context, box->policy, &options, &box->shield,
			   err);
	/* it alone keeps it: when it ends, nothing is started any more */
	close(box->notify_fd);
	box->notify_fd = -1;
	return rc;
}

int ab_box_poll(agentbox_sandbox *box, struct pollfd *fds, size_t n,
		int64_t timeout_ms)
{
	struct pollfd all[MOST_POLLED + 1];
	int fd = box ? ab_shield_fd(box->shield) : -1;
	int rc;

	if (fd < 0 || n > MOST_POLLED)
		return ab_fd_poll_many(fds, n, timeout_ms);
	memcpy(all, fds, n * sizeof(*fds));
	all[n] = (struct pollfd){ .fd = fd, .events = POLLIN };
	rc = ab_fd_poll_many(all, n + 1, timeout_ms);
	memcpy(fds, all, n * sizeof(*fds));
	if (rc > 0 && all[n].revents) {
		ab_shield_drain(box->shield);
		ab_events_publish(box);
		rc--;
	}
	return rc;
}
