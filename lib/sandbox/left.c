/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Before a box is raised over a workspace in which one has left its record:
 * agentbox-init looks through it as at the end of that box, and this box tells
 * of what was moved away, as events of its own. Where something is left that
 * nobody can judge, it is not raised. Spec: libexec/init/left.c.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "sandbox/internal.h"
#include "wire/message.h"

#define STOP_TIMEOUT_MS 1000
#define MAX_LOGGED 20

/* What is said while it looks. */
typedef struct report {
	bool is_good;
	uint64_t heard, undecided;
	char first[512]; /* of them, and why */
	char failed[512];
} report;

static void hear_event(agentbox_sandbox *box, report *r, const ab_msg_event *m)
{
	const char *name = ab_event_kind_name(m->kind);

	/* the events tell of all */
	if (r->heard++ < MAX_LOGGED)
		ab_log(box->context, AGENTBOX_LOG_WARNING,
		       "an earlier box was killed: %s '%s': %s",
		       name ? name : "", m->object, m->detail);
	if (m->kind == AB_EVENT_UNPROTECTED && !r->undecided++)
		snprintf(r->first, sizeof(r->first), "'%.240s': %.240s",
			 m->object, m->detail);
}

/* One message: 0, or -errno when that was the last. */
static int hear(agentbox_sandbox *box, int fd, report *r)
{
	uint8_t buf[AB_MAX_MESSAGE];
	size_t fd_count = 0;
	ab_msg_failed failed;
	ab_msg_event event;
	ab_reader in;
	ssize_t n = ab_message_recv(fd, buf, sizeof(buf), NULL, 0, &fd_count,
				    0);

	if (n <= 0)
		return n ? (int)n : -ECONNRESET;
	ab_reader_init(&in, buf, (size_t)n);
	uint32_t kind = ab_get_u32(&in);
	(void)ab_get_u32(&in);
	if (kind == AB_MSG_EVENT && ab_msg_get_event(&in, &event) == 0 &&
	    ab_events_push(box, buf, (size_t)n) == 0) {
		hear_event(box, r, &event);
		return 0;
	}
	if (kind == AB_MSG_FAILED && ab_msg_get_failed(&in, &failed) == 0)
		snprintf(r->failed, sizeof(r->failed), "%.250s: %.250s",
			 failed.stage, failed.message);
	r->is_good = kind == AB_MSG_LOOKED && ab_reader_done(&in);
	return -EPROTO;
}

static int32_t hear_all(agentbox_sandbox *box, const ab_helper *helper,
			const ab_left *left, uint64_t deadline,
			agentbox_error **err)
{
	report r = { 0 };
	char why[1200];
	int rc;

	do {
		rc = ab_fd_poll(helper->control_fd, POLLIN,
				ab_clock_left_ms(deadline));
		if (rc == 0)
			return ab_error_set(err, AGENTBOX_ETIMEOUT, "protect",
					    "'%s', in which box %s was killed, "
					    "could not be looked through in "
					    "time", left->workspace, left->id);
		if (rc > 0)
			rc = hear(box, helper->control_fd, &r);
	} while (rc == 0);
	if (r.is_good)
		return 0;
	if (r.undecided > 1)
		snprintf(why, sizeof(why), "it was killed, and of %llu that "
			 "nobody can judge the first is %s",
			 (unsigned long long)r.undecided, r.first);
	else if (r.undecided)
		snprintf(why, sizeof(why), "it was killed, and nobody can judge "
			 "%s", r.first);
	else
		snprintf(why, sizeof(why), "it was killed, and nobody can look "
			 "through that (%s)",
			 r.failed[0] ? r.failed : "agentbox-init ended");
	return ab_left_refuse(box->context, left, why, err);
}

int32_t ab_box_settle_left(agentbox_sandbox *box, const ab_left *left,
			   uint64_t deadline, agentbox_error **err)
{
	ab_helper helper = { .control_fd = -1, .pidfd = -1 };
	ab_autofd int plan_fd = -1;
	int32_t rc = ab_left_plan(box->context, left, &plan_fd, err);

	if (rc == 0)
		rc = ab_helper_start(box->context, "agentbox-init", plan_fd,
				     ab_clock_left_ms(deadline), &helper, err);
	if (rc == 0)
		rc = hear_all(box, &helper, left, deadline, err);
	ab_helper_stop(&helper, STOP_TIMEOUT_MS);
	ab_left_end(box->context, left);
	/* whether there will be a box or not */
	ab_events_publish(box);
	return rc;
}
