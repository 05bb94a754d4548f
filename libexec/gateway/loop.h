/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The gateway's one loop: descriptors that are watched, one-shot timers, and
 * work put off until nobody uses what it frees. One thread; nothing blocks
 * but the wait itself. Watches and timers live in their owner's memory, so
 * adding one allocates nothing in our heap and a timer cannot fail to be set.
 * Timers go by CLOCK_BOOTTIME, as leases do: a suspended machine's time
 * counts. Spec: epoll(7), timerfd_create(2).
 *
 * A callback may remove any watch and timer, its own and others': what was
 * removed is not called any more, in this turn or later. Memory that holds a
 * watch is freed through ab_loop_later() alone, as the turn may still hold an
 * event for it.
 */
#ifndef GATEWAY_LOOP_H
#define GATEWAY_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed: not watched. */
typedef struct ab_watch {
	/* `events` are those of epoll: EPOLLIN, EPOLLOUT, with EPOLLERR and
	   EPOLLHUP whether asked for or not */
	void (*ready)(void *arg, uint32_t events);
	void *arg;
	int fd; /* borrowed; valid while ready is set */
	uint32_t events;
} ab_watch;

/* Zeroed: not set. A pairing heap through the timers themselves. */
typedef struct ab_timer {
	void (*fire)(void *arg);
	void *arg;
	uint64_t at; /* boot-time ns; 0: not set */
	struct ab_timer *child, *next, *back;
} ab_timer;

/* Zeroed: nothing is put off. */
typedef struct ab_later {
	void (*run)(void *arg);
	void *arg;
	struct ab_later *next;
} ab_later;

typedef struct ab_loop {
	int epoll_fd;
	ab_watch clock; /* the timerfd */
	uint64_t now;	/* of this turn, boot-time ns */
	uint64_t armed; /* when the timerfd fires; 0: it does not */
	ab_timer *timers;
	ab_later *later, **later_end;
	bool stopped;
} ab_loop;

/* 0 or -errno. */
int ab_loop_init(ab_loop *loop);
/* What was put off is run; watches are forgotten, their fds stay open. */
void ab_loop_end(ab_loop *loop);

/*
 * Call `ready` when fd has one of `events`, level-triggered unless EPOLLET is
 * among them. The watch has to be zeroed or removed. 0 or -errno.
 */
int ab_watch_add(ab_loop *loop, ab_watch *w, int fd, uint32_t events,
		 void (*ready)(void *arg, uint32_t events), void *arg);
/* The same for a descriptor that may be in the set: another left it there. */
int ab_watch_take(ab_loop *loop, ab_watch *w, int fd, uint32_t events,
		  void (*ready)(void *arg, uint32_t events), void *arg);
/* Other events; costs nothing when they are the same. 0 or -errno. */
int ab_watch_set(ab_loop *loop, ab_watch *w, uint32_t events);
/* Another callback for the same descriptor. */
void ab_watch_hand(ab_watch *w, void (*ready)(void *arg, uint32_t events),
		   void *arg);
/* Before the fd is closed. Nothing to do for a watch that is none. */
void ab_watch_remove(ab_loop *loop, ab_watch *w);
/*
 * The same without a call to the kernel, for a descriptor that is ours alone
 * and, in this turn, is closed or taken by another watch: closing takes it
 * from the set, if no other process has it.
 */
void ab_watch_leave(ab_watch *w);

/* Once, `ms` from now; one that is set already is set anew. */
void ab_timer_set(ab_loop *loop, ab_timer *t, uint64_t ms,
		  void (*fire)(void *arg), void *arg);
/* The same with a point in boot-time ns, not 0. */
void ab_timer_set_at(ab_loop *loop, ab_timer *t, uint64_t at,
		     void (*fire)(void *arg), void *arg);
void ab_timer_clear(ab_loop *loop, ab_timer *t);
static inline bool ab_timer_is_set(const ab_timer *t)
{
	return t->at != 0;
}

/*
 * Run at the end of this turn, once, when no event of it is left. `l` is the
 * caller's and may be in the memory that run() frees; asked for again before
 * it ran, it still runs once.
 */
void ab_loop_later(ab_loop *loop, ab_later *l, void (*run)(void *arg),
		   void *arg);

/* Wait for something and do it. 0, or -errno that ends the process. */
int ab_loop_turn(ab_loop *loop);
/* Turns until ab_loop_stop(). */
int ab_loop_run(ab_loop *loop);
void ab_loop_stop(ab_loop *loop);

#endif
