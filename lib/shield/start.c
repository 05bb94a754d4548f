/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Start agentbox-shield: the plan sealed, the listener handed over, and its
 * word that it judges. Nothing runs in the box before that.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "shield/internal.h"
#include "wire/message.h"

static int32_t seal_plan(agentbox_policy *policy, const ab_shield_options *o,
			 int *fd, agentbox_error **err)
{
	agentbox_bytes *document = NULL;
	ab_shield_plan plan = {
		.build_id = agentbox_build_id(),
		.box_id = o->box_id,
		.mode = ab_policy_get(policy)->shield,
		.flags = o->is_audited ? AB_SHIELD_AUDITED : 0,
		.uid = o->uid,
		.gid = o->gid,
		.ask_ms = AB_SHIELD_ASK_MS,
		.workspace = o->workspace ? o->workspace : "",
		.home = o->home ? o->home : "",
	};
	int32_t rc = agentbox_policy_to_json(policy, &document, err);
	ab_writer w;
	int made;

	if (rc)
		return rc;
	/* bytes are followed by a NUL */
	plan.policy = agentbox_bytes_get_data(document);
	ab_writer_init(&w, AB_MAX_PLAN_BYTES);
	made = ab_shield_plan_put(&w, &plan);
	if (made == 0)
		made = ab_fd_memfd_sealed("agentbox-shield", w.data, w.len);
	ab_writer_end(&w);
	agentbox_bytes_free(document);
	if (made < 0)
		return ab_error_sys(err, -made, "shield",
				    "cannot seal the shield's plan");
	*fd = made;
	return 0;
}

static int32_t read_failed(ab_reader *r, agentbox_error **err)
{
	const char *stage = ab_get_str(r);
	int32_t sys_errno = ab_get_i32(r);
	const char *message = ab_get_str(r);

	if (!ab_reader_done(r) || sys_errno < 0)
		return ab_error_set(err, AGENTBOX_EPROTO, "shield",
				    "agentbox-shield sent a malformed failure");
	return ab_error_sys_code(err, AGENTBOX_EWALL, sys_errno, "shield",
				 "agentbox-shield: %s: %s", stage, message);
}

/* Its first word, after hello: that it is ready, or why not. */
static int32_t await_ready(agentbox_shield *s, uint64_t deadline,
			   agentbox_error **err)
{
	uint8_t memory[1024];
	size_t count = 0;
	uint32_t kind;
	ab_reader r;
	ssize_t n = ab_fd_poll(s->helper.control_fd, POLLIN,
			       ab_clock_left_ms(deadline));

	if (n == 0)
		return ab_error_set(err, AGENTBOX_ETIMEOUT, "shield",
				    "the shield was not ready in time");
	if (n > 0)
		n = ab_message_recv(s->helper.control_fd, memory,
				    sizeof(memory), NULL, 0, &count, 0);
	if (n <= 0)
		return ab_error_sys_code(err, AGENTBOX_EHELPER,
					 n ? (int)-n : ECONNRESET, "shield",
					 "agentbox-shield died at its start");
	ab_reader_init(&r, memory, (size_t)n);
	kind = ab_get_u32(&r);
	(void)ab_get_u32(&r);
	if (kind == AB_MSG_SH_FAILED)
		return read_failed(&r, err);
	if (kind != AB_MSG_SH_READY || !ab_reader_done(&r))
		return ab_error_set(err, AGENTBOX_EPROTO, "shield",
				    "agentbox-shield sent message %u", kind);
	return 0;
}

static int32_t hand_over(agentbox_shield *s, const ab_shield_options *o,
			 agentbox_error **err)
{
	uint8_t memory[AB_MESSAGE_HEADER];
	ab_writer w;
	int rc;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, AB_MSG_SH_LISTEN);
	ab_put_u32(&w, 1);
	rc = ab_message_send(s->helper.control_fd, w.data, w.len,
			     &o->notify_fd, 1, 0);
	/* one that has said why and ended is heard first */
	if (rc < 0 && rc != -EPIPE && rc != -ECONNRESET)
		return ab_error_sys_code(err, AGENTBOX_EHELPER, -rc, "shield",
					 "cannot hand over the listener");
	return await_ready(s, o->deadline, err);
}

static int32_t start(agentbox_shield *s, agentbox_context *context,
		     agentbox_policy *policy, const ab_shield_options *o,
		     agentbox_error **err)
{
	ab_autofd int plan_fd = -1;
	int32_t rc = ab_exec_judge_init(&s->judge, policy, o->workspace,
					o->home, err);

	if (!rc)
		rc = seal_plan(policy, o, &plan_fd, err);
	if (!rc)
		rc = ab_helper_start(context, "agentbox-shield", plan_fd,
				     ab_clock_left_ms(o->deadline), &s->helper,
				     err);
	return rc ? rc : hand_over(s, o, err);
}

int32_t ab_shield_new(agentbox_context *context, agentbox_policy *policy,
		      const ab_shield_options *o, agentbox_shield **out,
		      agentbox_error **err)
{
	agentbox_shield *s = ab_new(agentbox_shield);
	int32_t rc;

	if (!s)
		return ab_error_nomem(err);
	s->owner = getpid();
	s->helper = (ab_helper){ .control_fd = -1, .pidfd = -1 };
	s->told = o->told;
	s->closing = o->closing;
	s->arg = o->arg;
	s->mode = ab_policy_get(policy)->shield;
	s->watch = ab_policy_get(policy)->shield_watch;
	/* a box without peers is not asked about them */
	if (ab_policy_get(policy)->peering != AB_PEERING_READ)
		s->watch &= AB_SHIELD_WATCH_CONNECT;
	snprintf(s->box_id, sizeof(s->box_id), "%s", o->box_id);
	pthread_mutex_init(&s->lock, NULL);
	rc = start(s, context, policy, o, err);
	if (rc) {
		ab_shield_free(s);
		return rc;
	}
	*out = s;
	return 0;
}
