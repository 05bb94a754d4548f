/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * epoll(7) and one timerfd for all timers. The timerfd is set anew only when
 * an earlier time is asked for: most timers are cleared long before they are
 * due, and a wake-up that finds none due costs less than a call for each.
 */
#include "config.h"

#include "loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define BATCH 64
/* timers that fire in one turn: descriptors get their turn, too */
#define FIRE_MAX 1024

/* --- watches ------------------------------------------------------------ */

int ab_watch_add(ab_loop *loop, ab_watch *w, int fd, uint32_t events,
		 void (*ready)(void *arg, uint32_t events), void *arg)
{
	struct epoll_event e = { .events = events, .data = { .ptr = w } };

	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &e))
		return -errno;
	*w = (ab_watch){ ready, arg, fd, events };
	return 0;
}

int ab_watch_take(ab_loop *loop, ab_watch *w, int fd, uint32_t events,
		  void (*ready)(void *arg, uint32_t events), void *arg)
{
	struct epoll_event e = { .events = events, .data = { .ptr = w } };

	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, fd, &e))
		return errno == ENOENT ? ab_watch_add(loop, w, fd, events,
						      ready, arg) : -errno;
	*w = (ab_watch){ ready, arg, fd, events };
	return 0;
}

int ab_watch_set(ab_loop *loop, ab_watch *w, uint32_t events)
{
	struct epoll_event e = { .events = events, .data = { .ptr = w } };

	if (w->events == events)
		return 0;
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, w->fd, &e))
		return -errno;
	w->events = events;
	return 0;
}

void ab_watch_hand(ab_watch *w, void (*ready)(void *arg, uint32_t events),
		   void *arg)
{
	w->ready = ready;
	w->arg = arg;
}

void ab_watch_remove(ab_loop *loop, ab_watch *w)
{
	struct epoll_event e = { 0 };

	if (!w->ready)
		return;
	/* the fd may have been shared with another process: closing it would
	   not take it from the set (epoll(7), Questions and answers) */
	(void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, w->fd, &e);
	*w = (ab_watch){ 0 };
}

void ab_watch_leave(ab_watch *w)
{
	*w = (ab_watch){ 0 };
}

/* --- timers: a pairing heap --------------------------------------------- */

static ab_timer *meld(ab_timer *a, ab_timer *b)
{
	if (!a || !b)
		return a ? a : b;
	if (b->at < a->at) {
		ab_timer *t = a;

		a = b;
		b = t;
	}
	b->back = a;
	b->next = a->child;
	if (a->child)
		a->child->back = b;
	a->child = b;
	a->next = a->back = NULL;
	return a;
}

/* The children of one that leaves, in pairs, and the pairs from the end. */
static ab_timer *meld_all(ab_timer *first)
{
	ab_timer *pairs = NULL, *all = NULL;

	while (first) {
		ab_timer *a = first, *b = a->next, *both;

		first = b ? b->next : NULL;
		a->next = a->back = NULL;
		if (b)
			b->next = b->back = NULL;
		both = meld(a, b);
		both->next = pairs;
		pairs = both;
	}
	while (pairs) {
		ab_timer *t = pairs;

		pairs = t->next;
		t->next = NULL;
		all = meld(all, t);
	}
	return all;
}

void ab_timer_clear(ab_loop *loop, ab_timer *t)
{
	ab_timer *rest;

	if (!t->at)
		return;
	rest = meld_all(t->child);
	if (t == loop->timers) {
		loop->timers = rest;
	} else {
		if (t->back->child == t)
			t->back->child = t->next;
		else
			t->back->next = t->next;
		if (t->next)
			t->next->back = t->back;
		loop->timers = meld(loop->timers, rest);
	}
	*t = (ab_timer){ 0 };
}

/* The timerfd fires at `at`, or has fired and is set for no time. */
static void arm(ab_loop *loop, uint64_t at)
{
	const struct itimerspec when = {
		.it_value = { .tv_sec = (time_t)(at / 1000000000u),
			      .tv_nsec = (long)(at % 1000000000u) },
	};

	loop->armed = at;
	(void)timerfd_settime(loop->clock.fd, TFD_TIMER_ABSTIME, &when, NULL);
}

void ab_timer_set_at(ab_loop *loop, ab_timer *t, uint64_t at,
		     void (*fire)(void *arg), void *arg)
{
	ab_timer_clear(loop, t);
	*t = (ab_timer){ .fire = fire, .arg = arg, .at = at ? at : 1 };
	loop->timers = meld(loop->timers, t);
	if (!loop->armed || t->at < loop->armed)
		arm(loop, t->at);
}

void ab_timer_set(ab_loop *loop, ab_timer *t, uint64_t ms,
		  void (*fire)(void *arg), void *arg)
{
	uint64_t at;

	if (__builtin_mul_overflow(ms, UINT64_C(1000000), &at) ||
	    __builtin_add_overflow(at, loop->now, &at) || at > INT64_MAX)
		at = INT64_MAX;
	ab_timer_set_at(loop, t, at, fire, arg);
}

static void fire_due(ab_loop *loop)
{
	for (unsigned i = 0; i < FIRE_MAX; i++) {
		ab_timer *t = loop->timers;
		void (*fire)(void *arg);
		void *arg;

		if (!t || t->at > loop->now)
			break;
		fire = t->fire;
		arg = t->arg;
		ab_timer_clear(loop, t);
		fire(arg);
	}
	if (!loop->armed && loop->timers)
		arm(loop, loop->timers->at);
}

static void on_clock(void *arg, uint32_t events)
{
	ab_loop *loop = arg;
	uint64_t times;

	(void)events;
	if (read(loop->clock.fd, &times, sizeof(times)) > 0)
		loop->armed = 0;
}

/* --- what is put off ----------------------------------------------------- */

void ab_loop_later(ab_loop *loop, ab_later *l, void (*run)(void *arg),
		   void *arg)
{
	if (l->run)
		return;
	*l = (ab_later){ run, arg, NULL };
	*loop->later_end = l;
	loop->later_end = &l->next;
}

static void run_later(ab_loop *loop)
{
	while (loop->later) {
		ab_later *l = loop->later;
		void (*run)(void *arg) = l->run;
		void *arg = l->arg;

		loop->later = l->next;
		if (!loop->later)
			loop->later_end = &loop->later;
		*l = (ab_later){ 0 };
		run(arg);
	}
}

/* --- turns -------------------------------------------------------------- */

int ab_loop_init(ab_loop *loop)
{
	int clock_fd, r;

	*loop = (ab_loop){ .now = ab_clock_boot_ns() };
	loop->later_end = &loop->later;
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0)
		return -errno;
	clock_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	r = clock_fd < 0 ? -errno
			 : ab_watch_add(loop, &loop->clock, clock_fd, EPOLLIN,
					on_clock, loop);
	if (!r)
		return 0;
	if (clock_fd >= 0)
		close(clock_fd);
	close(loop->epoll_fd);
	loop->epoll_fd = -1;
	return r;
}

void ab_loop_end(ab_loop *loop)
{
	if (loop->epoll_fd < 0)
		return;
	run_later(loop);
	close(loop->clock.fd);
	close(loop->epoll_fd);
	loop->epoll_fd = -1;
}

int ab_loop_turn(ab_loop *loop)
{
	struct epoll_event events[BATCH];
	int n = epoll_wait(loop->epoll_fd, events, BATCH, -1);

	if (n < 0 && errno != EINTR)
		return -errno;
	loop->now = ab_clock_boot_ns();
	for (int i = 0; i < n; i++) {
		ab_watch *w = events[i].data.ptr;

		/* removed by another of this turn; its memory is there still */
		if (w->ready)
			w->ready(w->arg, events[i].events);
	}
	fire_due(loop);
	run_later(loop);
	return 0;
}

int ab_loop_run(ab_loop *loop)
{
	int r = 0;

	while (!loop->stopped && !r)
		r = ab_loop_turn(loop);
	return r;
}

void ab_loop_stop(ab_loop *loop)
{
	loop->stopped = true;
}
