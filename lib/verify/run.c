/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A self-test of one live box from beginning to end. It changes nothing of
 * the box, and whatever goes wrong, what was laid out is taken away again.
 * Spec: agentbox/verify.h, internal.h.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "gateway/gateway.h"
#include "shield/shield.h"
#include "verify/internal.h"

/* How often a box is looked at that settles after a command. */
#define SETTLE_POLL_MS 1

void ab_verify_end(ab_verify_run *run)
{
	if (!run)
		return;
	/* what is left of it is ended, and keeps the box until then */
	if (run->is_announced)
		(void)ab_shield_own(agentbox_sandbox_get_shield(run->box),
				    false);
	ab_verify_stop(run);
	ab_cleanup_fd(&run->epoll_fd);
	agentbox_sandbox_free(run->other);
	ab_appear_end(run);
	ab_bait_end(&run->bait);
	json_decref(run->plan);
	free(run->procs);
	agentbox_verify_free(run->report);
	free(run);
}

/* The tier is a finding of its own: what it weakens is told one by one. */
static void tell_tier(ab_verify_run *run)
{
	static const char tried[] = "look which tier the box was raised with";
	const char *tier = run->report->tier;
	bool full = run->walls.tier == AB_TIER_FULL;

	run->report->is_bare = run->walls.tier == AB_TIER_BARE;
	ab_verify_add(run->report, "tier", "tier", tried, true,
		      full		       ? AB_VERDICT_PASS
		      : run->report->is_bare ? AB_VERDICT_MISSING
					     : AB_VERDICT_WEAKER,
		      ab_strdup(tier),
		      ab_strdup(full			 ? "every namespace"
				: run->report->is_bare ? "nothing: /mode is bare"
						       : "what is left"));
}

/* What agentbox-init said it has raised, against what the plan asks for. */
static void tell_raised(ab_verify_run *run)
{
	static const char tried[] = "compare what was raised with the plan";
	uint32_t missing = run->walls.expected & ~run->walls.walls;

	if (missing)
		ab_verify_add(run->report, "raised", "box", tried, true,
			      AB_VERDICT_MISSING,
			      ab_strdup("a wall of the plan was not raised"),
			      ab_strdup("nothing"));
	else
		ab_verify_add(run->report, "raised", "box", tried, true,
			      AB_VERDICT_PASS, ab_strdup("every wall of it"),
			      ab_strdup("agentbox-init"));
}

/* Processes that stand beside the box: do they still answer? */
static void tell_beside(ab_verify_run *run)
{
	agentbox_gateway *gateway = agentbox_sandbox_get_gateway(run->box);
	agentbox_shield *shield = agentbox_sandbox_get_shield(run->box);
	bool alive;

	if (gateway) {
		alive = agentbox_gateway_is_alive(gateway) == 1;
		ab_verify_add(run->report, "gateway.alive", "gateway",
			      "ask whether the gateway is there", true,
			      alive ? AB_VERDICT_PASS : AB_VERDICT_MISSING,
			      ab_strdup(alive ? "it is" : "it has ended"),
			      ab_strdup(alive ? "agentbox-gateway"
					      : "nothing"));
		ab_verify_confined(run, "gateway.confined", "gateway",
				   ab_proc_of(ab_gateway_pidfd(gateway)));
	}
	if (shield) {
		alive = agentbox_shield_is_alive(shield) == 1;
		ab_verify_add(run->report, "shield.alive", "shield",
			      "ask whether the shield answers", false,
			      alive ? AB_VERDICT_PASS : AB_VERDICT_MISSING,
			      ab_strdup(alive ? "it does" : "it does not"),
			      ab_strdup(alive ? "agentbox-shield"
					      : "nothing"));
	}
}

static int32_t describe(ab_verify_run *run, agentbox_error **err)
{
	agentbox_verify *report = run->report;

	memcpy(report->box_id, agentbox_sandbox_get_id(run->box),
	       sizeof(report->box_id));
	report->tier = agentbox_sandbox_get_tier(run->box);
	report->config_hash = ab_strdup(
		agentbox_policy_get_digest(ab_box_policy(run->box)));
	if (!report->config_hash ||
	    (run->policy->name &&
	     !(report->policy_name = ab_strdup(run->policy->name))))
		return ab_error_nomem(err);
	report->notes = run->walls.notes
				? json_deep_copy(run->walls.notes)
				: json_array();
	report->weaker = run->walls.weaker
				 ? json_deep_copy(run->walls.weaker)
				 : json_array();
	return report->notes && report->weaker
			     ? ab_box_plan(run->box, &run->plan, err)
			     : ab_error_nomem(err);
}

/* The program has said hello, or will not; and so has a second one. */
static int32_t look_and_ask(ab_verify_run *run, agentbox_error **err)
{
	if (!run->has_revoked) {
		tell_raised(run);
		tell_beside(run);
		ab_verify_outside(run);
		ab_verify_secrets(run);
	}
	return ab_verify_ask(run, err);
}

static int32_t finish(ab_verify_run *run, agentbox_error **err)
{
	run->stage = AB_VERIFY_DONE;
	ab_verify_find_causes(run->report);
	run->report->controls = ab_verify_controls(run);
	if (!run->report->controls || ab_verify_expose(run) ||
	    run->report->nomem)
		return ab_error_nomem(err);
	return 0;
}

/* The program that answered has ended; another one is asked, or that is it. */
static int32_t go_on(ab_verify_run *run, agentbox_error **err)
{
	agentbox_gateway *gateway = agentbox_sandbox_get_gateway(run->box);
	uint64_t cut = 0;
	int32_t rc;

	if (run->has_revoked)
		return finish(run, err);
	ab_bait_look(run);
	if (!run->options || !run->options->revoke || !gateway)
		return finish(run, err);
	rc = agentbox_gateway_revoke(gateway, &cut, err);
	if (rc)
		return rc;
	run->has_revoked = true;
	ab_verify_stop(run);
	return ab_verify_start(run, err);
}

int32_t ab_verify_turn(ab_verify_run *run, agentbox_error **err)
{
	enum ab_verify_stage before;
	int32_t rc = 0;

	do {
		bool is_over = false;

		before = run->stage;
		switch (before) {
		case AB_VERIFY_HELLO:
			rc = ab_verify_hear_hello(run, &is_over, err);
			if (rc == 0 && is_over)
				rc = look_and_ask(run, err);
			break;
		case AB_VERIFY_ANSWERS:
			rc = ab_verify_hear_answers(run, err);
			break;
		case AB_VERIFY_END:
			if (ab_verify_has_ended(run))
				rc = go_on(run, err);
			break;
		case AB_VERIFY_DONE:
			break;
		}
	} while (rc == 0 && run->stage != before);
	return rc;
}

int ab_verify_fd(const ab_verify_run *run)
{
	return run->epoll_fd;
}

int64_t ab_verify_timeout_ms(const ab_verify_run *run)
{
	/* nobody is waited for: the next turn goes on by itself */
	if (run->stage == AB_VERIFY_DONE ||
	    (run->stage == AB_VERIFY_HELLO && run->why_not))
		return 0;
	return run->is_settling ? SETTLE_POLL_MS
				: ab_clock_left_ms(run->deadline);
}

static int32_t begin(ab_verify_run *run, uint32_t wait_ms,
		     agentbox_error **err)
{
	uint64_t until = ab_clock_deadline(wait_ms);
	int32_t rc = describe(run, err);

	if (rc)
		return rc;
	if (until > run->deadline)
		until = run->deadline;
	run->epoll_fd = ab_fd_lift(epoll_create1(EPOLL_CLOEXEC));
	if (run->epoll_fd < 0)
		return ab_error_sys(err, errno, "", "epoll");
	tell_tier(run);
	/* where there is no wall there is nothing to be tried */
	if (run->report->is_bare)
		return finish(run, err);
	rc = ab_bait_lay(run, err);
	if (rc == 0)
		rc = ab_other_raise(run, until, err);
	if (rc == 0)
		ab_appear_try(run, until);
	return rc ? rc : ab_verify_start(run, err);
}

int32_t ab_verify_begin(agentbox_sandbox *sandbox,
			const agentbox_verify_options *options,
			uint32_t wait_ms, ab_verify_run **out,
			agentbox_error **err)
{
	uint32_t ms = options ? options->timeout_ms : AB_VERIFY_TIMEOUT_MS;
	int32_t rc = ab_box_usable(sandbox, err);
	ab_verify_run *run;

	if (rc)
		return rc;
	run = ab_new(ab_verify_run);
	if (!run)
		return ab_error_nomem(err);
	run->box = sandbox;
	run->to_fd = run->from_fd = run->epoll_fd = -1;
	run->scratch_fd = -1;
	run->bait = (ab_bait){ .state_fd = -1, .dir_fd = -1, .unix_fd = -1,
			       .abstract_fd = -1, .tcp_fd = -1, .shm_id = -1 };
	run->deadline = ab_clock_boot_ns() + ms * 1000000ull;
	run->options = options;
	run->owner = geteuid();
	run->policy = ab_policy_get(ab_box_policy(sandbox));
	ab_box_walls_of(sandbox, &run->walls);
	run->context = run->walls.context;
	run->state = ab_context_state_dir(run->context);
	run->report = ab_new(agentbox_verify);
	rc = run->report ? begin(run, wait_ms, err) : ab_error_nomem(err);
	if (rc)
		ab_verify_end(run);
	else
		*out = run;
	return rc;
}

/* Until a turn has something to do, or who asked wants no more of it. */
static int32_t await(const ab_verify_run *run, agentbox_error **err)
{
	struct pollfd fds[] = {
		{ .fd = ab_verify_fd(run), .events = POLLIN },
		{ .fd = run->options ? run->options->stop_fd : -1,
		  .events = POLLIN },
	};
	int r = ab_fd_poll_many(fds, AB_ARRAY_LEN(fds),
				ab_verify_timeout_ms(run));

	if (r < 0)
		return ab_error_sys(err, -r, "", "poll");
	return fds[1].revents ? ab_error_set(err, AGENTBOX_ECANCELED, "",
					     "the host stopped it")
			      : 0;
}

int32_t agentbox_verify_run(agentbox_sandbox *sandbox,
			    const agentbox_verify_options *options,
			    agentbox_verify **report, agentbox_error **err)
{
	ab_verify_run *run = NULL;
	int32_t rc;

	if (!sandbox || !report)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "sandbox or report is NULL");
	rc = ab_verify_begin(sandbox, options, AB_VERIFY_WAIT_MS, &run, err);
	while (rc == 0 && run->stage != AB_VERIFY_DONE) {
		rc = await(run, err);
		if (rc == 0)
			rc = ab_verify_turn(run, err);
	}
	if (rc == 0)
		*report = ab_steal(&run->report);
	ab_verify_end(run);
	return rc;
}
