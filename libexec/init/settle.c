/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When the mounts and the names of a direct workspace are looked at, and what
 * is said of it: before the box is ready, when the host asks, which it does
 * before it starts or ends a command, when nobody asks, and at the end. It
 * looks at nothing itself and starts nothing; a host that is told of a failure
 * starts nothing either. Spec: DESIGN.md section 6.
 */
#include "config.h"

#include "watcher.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

/* Between two looks at what may be good in a moment. */
#define AWAIT_MS 10
/* Of a minute each. Who still plants after the end is nobody of the box's. */
#define LAST_LOOKS 5

/* Not while there may be something that no event tells. */
static void drop_demand(watcher *w)
{
	eventfd_t n;

	if (!init_is_blind(w) && !w->is_doubtful && !w->has_deferred &&
	    !w->is_covered && !w->has_left && !w->has_adopted &&
	    !w->awaited_count && !w->is_lost)
		(void)eventfd_read(w->demand_fd, &n);
}

/* Without patterns the events say only that mounts are to be looked at. */
static void forget_events(watcher *w)
{
	char buffer[4096];

	while (!w->box->plan.watch_count && !w->is_rescan &&
	       read(w->box->inotify_fd, buffer, sizeof(buffer)) > 0)
		;
}

/* Whoever makes new ones all the time is not waited for any longer. */
static void await_pointers(watcher *w)
{
	uint64_t until = ab_clock_boot_ns() + INIT_AWAIT_NS;

	while (w->awaited_count && ab_clock_boot_ns() < until) {
		(void)poll(NULL, 0, AWAIT_MS);
		init_settle_names(w);
	}
	if (!w->awaited_count)
		return;
	w->is_last = true;
	init_settle_names(w);
	w->is_last = false;
}

int init_settle(holder *h, uint64_t values[4])
{
	watcher *w = h->watcher;
	uint64_t *const counts[] = {&w->quarantined, &w->reprotected,
				    &w->failed};
	uint64_t began_ns;
	bool was_absent, was_lost;
	int r = 0;

	if (!w)
		return 0;
	init_begin_looking(w);
	began_ns = init_last_begun(w);
	was_absent = init_agent_is_absent(w);
	forget_events(w);
	w->last_errno = 0;
	/* what left while we looked at mounts, or before, took its along */
	for (unsigned i = 0; i < 2 && (i == 0 || w->has_left); i++) {
		w->has_left = false;
		r = init_check_mounts(w, true);
		init_settle_names(w);
	}
	await_pointers(w);
	was_lost = w->is_lost;
	if (w->has_adopted && r == 0)
		r = init_check_mounts(w, true);
	/* what is none of the host's after all was not judged as such */
	if (w->is_lost && !was_lost) {
		init_settle_names(w);
		await_pointers(w);
	}
	init_mark_quiet(w, began_ns, was_absent && r == 0);
	drop_demand(w);
	/* the host starts nothing before a settle that succeeds */
	if (r == 0)
		r = -w->last_errno;
	for (size_t i = 0; i < AB_ARRAY_LEN(counts); i++) {
		values[i] = *counts[i] - w->told[i];
		w->told[i] = *counts[i];
	}
	return r;
}

/*
 * Nobody of the agent's has been in this box yet, so it is the host's as much
 * as what the plan saw a moment before. What cannot be held is quarantined;
 * what fails is left to the host's settle, before which nothing is started. It
 * is the host's until then: a mount that failed is tried again.
 */
void init_judge_late(watcher *w)
{
	int r = 0;

	if (!w->is_late || init_last_begun(w))
		return;
	init_begin_looking(w);
	w->is_late = false;
	w->is_first = w->is_quiet = true;
	w->quiet_ns = 0;
	w->is_lost = true;
	init_settle_names(w);
	await_pointers(w);
	if (w->has_adopted)
		r = init_check_mounts(w, true);
	w->is_first = w->is_quiet = false;
	w->is_lost |= w->last_errno != 0;
	if (r || w->is_lost)
		init_demand(w);
}

/*
 * The demand comes first: a host that looks while events are taken from the
 * queue and not judged yet has to wait for its turn.
 */
void init_settle_unasked(watcher *w)
{
	uint64_t failed = w->failed, began_ns = init_last_begun(w), names;
	bool was_absent = init_agent_is_absent(w);
	int r;

	init_begin_looking(w);
	init_demand(w);
	r = init_check_mounts(w, false);
	names = w->failed;
	init_settle_names(w);
	names = w->failed - names;
	/* the events are gone that told of what left with its mount; and what
	   was adopted has none yet */
	if (r == 0 && (w->has_left || w->has_adopted))
		r = init_check_mounts(w, false);
	w->has_left = false;
	init_mark_quiet(w, began_ns, was_absent && r == 0);
	/* told[0]: what an earlier call moved is not told yet either */
	if (r == 0 && w->quarantined == w->told[0] && w->failed == failed)
		drop_demand(w);
	/* a name is tried again, and counted, when the host settles; a mount
	   that failed has been told and is not counted again */
	w->failed -= names;
}

/* Does a host wait for our end, and has it heard what could not be put right?
   Of one that is gone a forked child may hold the socket, and read nothing. */
static bool is_heard(init_box *box)
{
	bool is;

	if (ab_fd_poll(box->host_pidfd, POLLIN, 0) > 0)
		return false;
	box->host_reads = true;
	is = init_tell_lost(box);
	box->host_reads = false;
	return is;
}

/*
 * Nobody is in the box any more. What stands after this is the next box's,
 * whose host would take it for his own: then the record of this box stays, and
 * that one is not raised before somebody has looked. A host that lives waits
 * for our end, tells of it and removes the record (lib/sandbox/box.c). For one
 * that is gone nobody waits, so a look that was cut goes on, for a few minutes.
 */
void init_settle_last(holder *h, bool is_empty)
{
	watcher *w = h->watcher;
	unsigned looks = 0;
	uint64_t failed;
	bool mounts_are_good, names_are_good;

	if (!w)
		return;
	/* nobody has been in it */
	if (!h->is_ready) {
		init_end_record(w, true);
		return;
	}
	w->is_last = true;
	/* a name is held by what is mounted there, not by what was */
	failed = w->failed;
	/* replaced again and again: this failure alone is told by nobody */
	if (init_check_mounts(w, false) == -EAGAIN)
		init_fail_path(w, "", EAGAIN);
	mounts_are_good = w->failed == failed;
	do {
		failed = w->failed;
		init_begin_last_look(w);
		init_settle_names(w);
	} while (w->is_cut && ++looks < LAST_LOOKS && !is_heard(w->box));
	if (!is_empty)
		init_fail_path(w, "", EBUSY);
	/* told of before, but it is the end of looking */
	if (w->is_covered)
		init_fail_path(w, w->covered_count ? w->covered[0] : "", EBUSY);
	names_are_good = w->failed == failed;
	init_end_record(w, mounts_are_good && names_are_good);
	if (!mounts_are_good || !names_are_good)
		init_tell_looked(w->box);
}

/*
 * Nobody of the agent's is there any more, says PID 1. From here on what
 * appears is the host's, if there is nothing that appeared before.
 */
void init_on_quiet(holder *h)
{
	watcher *w = h->watcher;
	struct pollfd p[] = {{.events = POLLIN}, {.events = POLLPRI}};
	uint64_t began_ns;

	if (!w || !h->is_ready || !w->box->plan.watch_count)
		return;
	p[0].fd = w->box->inotify_fd;
	p[1].fd = w->mountinfo_fd;
	began_ns = init_last_begun(w);
	if (!init_agent_is_absent(w))
		return;
	/* else the last look was as good as one now */
	if (init_is_blind(w) || w->awaited_count || w->has_left ||
	    w->has_deferred || w->check_at_ns || poll(p, 2, 0) != 0)
		init_look_soon(w);
	else
		init_mark_quiet(w, began_ns, true);
	/* poll(2) has taken the notice away, and what it tells cannot wait */
	if (p[1].revents)
		w->check_at_ns = ab_clock_boot_ns();
}
