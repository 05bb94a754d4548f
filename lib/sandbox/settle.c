/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protected paths are put right before a command is started and before the
 * end of one is told: the holder looks and answers. Nobody has to wait for
 * that answer: the request stays under way and a later call, of any thread,
 * finds it. Spec: DESIGN.md section 6, agentbox_sandbox(3).
 */
#include "config.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "sandbox/internal.h"

/* How often a lock that another thread holds is looked at again. */
#define LOCK_POLL_MS 1

/* Take a lock by the deadline (0: wait for ever); false: it is not to be had.
   pthread_mutex_timedlock(3) follows a clock that can be set. */
static bool lock_by(pthread_mutex_t *lock, uint64_t deadline)
{
	if (!deadline)
		return pthread_mutex_lock(lock) == 0;
	while (pthread_mutex_trylock(lock) != 0) {
		if (ab_clock_left_ms(deadline) == 0)
			return false;
		poll(NULL, 0, LOCK_POLL_MS);
	}
	return true;
}

/* Something may have changed a protected path since the last settle. */
static bool needs_settle(const agentbox_sandbox *box)
{
	struct pollfd p[2] = {
		{ .fd = box->mountinfo_fd, .events = POLLPRI },
		{ .fd = box->watch_fd, .events = POLLIN },
	};

	if (p[0].fd < 0 && p[1].fd < 0)
		return false;
	/* A poll that fails cannot vouch for anything: settle. */
	return poll(p, 2, 0) != 0;
}

/* Both locks held. */
static int begin(agentbox_sandbox *box)
{
	ab_settle *s = &box->settle;

	s->is_answered = false;
	s->deadline = ab_clock_boot_ns() +
		      AB_REQUEST_TIMEOUT_MS * UINT64_C(1000000);
	int rc = ab_control_send(box, AB_MSG_SETTLE, 0, -1, &s->serial);
	s->is_sent = rc == 0;
	s->begun += s->is_sent;
	return rc;
}

void ab_settle_finish(agentbox_sandbox *box)
{
	ab_settle *s = &box->settle;

	if (!s->is_sent || !s->is_answered)
		return;
	s->is_sent = false;
	/* values[2]: how many names could not be put right */
	s->result = s->reply.result == 0 && s->reply.values[2]
		    ? -EBUSY : s->reply.result;
	box->unprotected = s->result < 0;
}

/*
 * Read until the answer is there; both locks held. 0, -EAGAIN when it is not
 * there by the deadline, or what broke the box.
 */
static int await_answer(agentbox_sandbox *box, uint64_t deadline)
{
	ab_settle *s = &box->settle;

	while (!s->is_answered) {
		uint64_t until = deadline && deadline < s->deadline
				 ? deadline : s->deadline;
		int rc = ab_fd_poll(box->helper.control_fd, POLLIN,
				    ab_clock_left_ms(until));
		if (rc == 0)
			return ab_clock_left_ms(s->deadline) ? -EAGAIN
							     : -ETIMEDOUT;
		if (rc > 0)
			rc = ab_control_take(box, 0, NULL, NULL);
		if (rc < 0 && rc != -EAGAIN)
			return rc;
	}
	ab_settle_finish(box);
	return 0;
}

/* Get the one under way done, or a new one; settle_lock held. */
static int get_done(agentbox_sandbox *box, bool is_new, uint64_t deadline)
{
	int rc = 0;

	if (!lock_by(&box->lock, deadline))
		return -EAGAIN;
	if (is_new)
		rc = begin(box);
	if (rc == 0)
		rc = await_answer(box, deadline);
	if (rc < 0 && rc != -EAGAIN)
		ab_control_break(box);
	pthread_mutex_unlock(&box->lock);
	ab_events_publish(box);
	return rc;
}

/*
 * The settle that *ticket stands for, or a new one where it is needed;
 * settle_lock held. One that was under way before may have looked too early
 * and does not count, but it must be over first.
 */
static int advance(agentbox_sandbox *box, bool force, uint64_t *ticket,
		   uint64_t deadline)
{
	ab_settle *s = &box->settle;
	int rc = s->is_sent ? get_done(box, false, deadline) : 0;

	if (rc < 0 || (*ticket && *ticket <= s->begun))
		return rc;
	if (!force && !box->unprotected && !needs_settle(box))
		return 0;
	/* The notice is taken: from here on only a settle makes it right. */
	box->unprotected = true;
	*ticket = s->begun + 1;
	rc = get_done(box, true, deadline);
	if (*ticket > s->begun)
		*ticket = 0;
	return rc;
}

int32_t ab_box_settle(agentbox_sandbox *box, bool force, uint64_t *ticket,
		      uint64_t deadline, agentbox_error **err)
{
	int rc = 0, result = 0;
	bool is_unknown = false;

	/* The poll takes the mount table's notice away (proc(5), mountinfo),
	   so looking and asking are one step: another thread must not find
	   nothing and go on while this one still settles. */
	if (!lock_by(&box->settle_lock, deadline))
		return AGENTBOX_EAGAIN;
	if (atomic_load(&box->ended)) {
		/* freed in order: it settled then; broken: nobody knows */
		is_unknown = box->unprotected;
	} else {
		rc = advance(box, force, ticket, deadline);
		result = box->settle.result;
	}
	pthread_mutex_unlock(&box->settle_lock);

	if (rc == -EAGAIN)
		return AGENTBOX_EAGAIN;
	*ticket = 0;
	if (is_unknown)
		return ab_error_set(err, AGENTBOX_EWALL, "protect",
				    "box %s broke before its protected paths "
				    "were settled; look at its workspace",
				    box->id);
	if (rc < 0)
		return ab_error_sys_code(err, AGENTBOX_ECLOSED, -rc, "box",
					 "box %s no longer answers", box->id);
	if (result < 0)
		return ab_error_sys_code(err, AGENTBOX_EWALL, -result,
					 "protect",
					 "protected paths of box %s could not "
					 "be put right (see its events); no "
					 "command is started until they are",
					 box->id);
	return 0;
}
