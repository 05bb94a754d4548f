/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The gateway's loop: watches, timers, and what is put off. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "abtest.h"
#include "base/clock.h"
#include "loop.h"

static ab_loop loop;

static void setup(void)
{
	ck_assert_int_eq(ab_loop_init(&loop), 0);
}

static void teardown(void)
{
	ab_loop_end(&loop);
}

typedef struct thing {
	ab_watch watch;
	ab_timer timer;
	ab_later later;
	int pipe[2];
	struct thing *other;
	unsigned calls, freed;
	uint64_t at;
} thing;

static void open_thing(thing *t)
{
	*t = (thing){ 0 };
	ck_assert_int_eq(pipe(t->pipe), 0);
}

static void close_thing(thing *t)
{
	ab_watch_remove(&loop, &t->watch);
	close(t->pipe[0]);
	close(t->pipe[1]);
}

static void count(void *arg)
{
	((thing *)arg)->freed++;
}

/* Reads, and takes the other out of the turn. */
static void take_one(void *arg, uint32_t events)
{
	thing *t = arg;
	char c;

	ck_assert_uint_eq(events, EPOLLIN);
	ck_assert_int_eq(read(t->pipe[0], &c, 1), 1);
	t->calls++;
	if (t->other)
		ab_watch_remove(&loop, &t->other->watch);
}

START_TEST(a_watch_is_called_while_there_is_something)
{
	thing t;

	open_thing(&t);
	ck_assert_int_eq(ab_watch_add(&loop, &t.watch, t.pipe[0], EPOLLIN,
				      take_one, &t), 0);
	ck_assert_int_eq(write(t.pipe[1], "ab", 2), 2);
	ck_assert_int_eq(ab_loop_turn(&loop), 0);
	ck_assert_int_eq(ab_loop_turn(&loop), 0);
	ck_assert_uint_eq(t.calls, 2);
	close_thing(&t);
}
END_TEST

START_TEST(a_removed_watch_is_not_called_in_the_same_turn)
{
	thing a, b;

	open_thing(&a);
	open_thing(&b);
	a.other = &b;
	b.other = &a;
	ck_assert_int_eq(ab_watch_add(&loop, &a.watch, a.pipe[0], EPOLLIN,
				      take_one, &a), 0);
	ck_assert_int_eq(ab_watch_add(&loop, &b.watch, b.pipe[0], EPOLLIN,
				      take_one, &b), 0);
	ck_assert_int_eq(write(a.pipe[1], "a", 1), 1);
	ck_assert_int_eq(write(b.pipe[1], "b", 1), 1);
	ck_assert_int_eq(ab_loop_turn(&loop), 0);
	ck_assert_uint_eq(a.calls + b.calls, 1);
	close_thing(&a);
	close_thing(&b);
}
END_TEST

/* Leaves its place to the other, or closes. */
static void leave(void *arg, uint32_t events)
{
	thing *t = arg;

	(void)events;
	t->calls++;
	ab_watch_leave(&t->watch);
	if (!t->other) {
		close(t->pipe[0]);
		t->pipe[0] = -1;
		return;
	}
	ck_assert_int_eq(ab_watch_take(&loop, &t->other->watch, t->pipe[0],
				       EPOLLIN, take_one, t->other), 0);
	t->other->pipe[0] = t->pipe[0];
}

START_TEST(what_is_left_is_taken_by_another_watch)
{
	thing first, second = { 0 };

	open_thing(&first);
	first.other = &second;
	ck_assert_int_eq(ab_watch_add(&loop, &first.watch, first.pipe[0],
				      EPOLLIN, leave, &first), 0);
	ck_assert_int_eq(write(first.pipe[1], "ab", 2), 2);
	ck_assert_int_eq(ab_loop_turn(&loop), 0);
	ck_assert_uint_eq(first.calls, 1);
	ck_assert_uint_eq(second.calls, 0);
	ck_assert_int_eq(ab_loop_turn(&loop), 0);
	ck_assert_int_eq(ab_loop_turn(&loop), 0);
	ck_assert_uint_eq(first.calls, 1);
	ck_assert_uint_eq(second.calls, 2);
	ab_watch_remove(&loop, &second.watch);
	close_thing(&first);
}
END_TEST

/* Of a descriptor that nobody left there, and of none. */
START_TEST(what_is_not_there_is_added)
{
	thing t;

	open_thing(&t);
	ck_assert_int_eq(ab_watch_take(&loop, &t.watch, t.pipe[0], EPOLLIN,
				       take_one, &t), 0);
	ck_assert_int_eq(write(t.pipe[1], "a", 1), 1);
	ck_assert_int_eq(ab_loop_turn(&loop), 0);
	ck_assert_uint_eq(t.calls, 1);
	close_thing(&t);
	ck_assert_int_eq(ab_watch_take(&loop, &t.watch, t.pipe[0], EPOLLIN,
				       take_one, &t), -EBADF);
	ck_assert(!t.watch.ready);
}
END_TEST

/* The kernel forgets it: the turn does nothing but its timer. */
START_TEST(what_is_left_and_closed_is_gone)
{
	thing t, other;

	open_thing(&t);
	open_thing(&other);
	ck_assert_int_eq(ab_watch_add(&loop, &t.watch, t.pipe[0], EPOLLIN,
				      leave, &t), 0);
	ck_assert_int_eq(write(t.pipe[1], "a", 1), 1);
	ck_assert_int_eq(ab_loop_turn(&loop), 0);
	ck_assert_int_eq(ab_watch_add(&loop, &other.watch, other.pipe[0],
				      EPOLLIN, take_one, &other), 0);
	ck_assert_int_eq(write(other.pipe[1], "b", 1), 1);
	ck_assert_int_eq(ab_loop_turn(&loop), 0);
	ck_assert_uint_eq(t.calls, 1);
	ck_assert_uint_eq(other.calls, 1);
	close(t.pipe[1]);
	close_thing(&other);
}
END_TEST

static void note_time(void *arg)
{
	thing *t = arg;

	t->calls++;
	t->at = ab_clock_boot_ns();
	ab_loop_stop(&loop);
}

START_TEST(a_timer_fires_once_and_not_before)
{
	uint64_t begin = ab_clock_boot_ns();
	thing t = { 0 };

	loop.now = begin;
	ab_timer_set(&loop, &t.timer, 20, note_time, &t);
	ck_assert(ab_timer_is_set(&t.timer));
	ck_assert_int_eq(ab_loop_run(&loop), 0);
	ck_assert_uint_eq(t.calls, 1);
	ck_assert(t.at >= begin + 20000000);
	ck_assert(!ab_timer_is_set(&t.timer));
}
END_TEST

#define MANY 2000

static uint64_t last;
static unsigned fired;

static void in_order(void *arg)
{
	thing *t = arg;

	ck_assert_uint_le(last, t->at);
	last = t->at;
	fired++;
}

/* Whatever was set, moved and cleared before: in order of time, each once. */
START_TEST(timers_fire_in_order)
{
	static thing many[MANY];
	uint64_t now = ab_clock_boot_ns();
	unsigned seed = 7, cleared = 0;
	thing end = { 0 };

	last = fired = 0;
	loop.now = now;
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < MANY; i++) {
			seed = seed * 1103515245u + 12345u;
			if (round && seed >> 30)
				continue;
			many[i].at = now - 5000000 + (seed >> 8) % 5000;
			ab_timer_set_at(&loop, &many[i].timer, many[i].at,
					in_order, &many[i]);
		}
	for (unsigned i = 0; i < MANY; i += 3, cleared++)
		ab_timer_clear(&loop, &many[i].timer);
	ab_timer_set(&loop, &end.timer, 0, note_time, &end);
	ck_assert_int_eq(ab_loop_run(&loop), 0);
	ck_assert_uint_eq(fired, MANY - cleared);
	ck_assert_ptr_null(loop.timers);
}
END_TEST

static void set_other(void *arg)
{
	thing *t = arg;

	t->calls++;
	ab_timer_clear(&loop, &t->other->timer);
	ab_timer_set(&loop, &t->timer, 1, note_time, t);
}

START_TEST(a_timer_may_clear_and_set_others)
{
	thing a = { 0 }, b = { 0 };

	a.other = &b;
	loop.now = ab_clock_boot_ns();
	ab_timer_set(&loop, &a.timer, 1, set_other, &a);
	ab_timer_set(&loop, &b.timer, 2, note_time, &b);
	ck_assert_int_eq(ab_loop_run(&loop), 0);
	ck_assert_uint_eq(a.calls, 2);
	ck_assert_uint_eq(b.calls, 0);
}
END_TEST

static void put_off(void *arg, uint32_t events)
{
	thing *t = arg;

	(void)events;
	ab_loop_later(&loop, &t->later, count, t);
	ab_loop_later(&loop, &t->later, count, t);
	ck_assert_uint_eq(t->freed, 0);
	close_thing(t);
}

START_TEST(what_is_put_off_runs_once_at_the_end_of_the_turn)
{
	thing t;

	open_thing(&t);
	ck_assert_int_eq(ab_watch_add(&loop, &t.watch, t.pipe[0], EPOLLIN,
				      put_off, &t), 0);
	ck_assert_int_eq(write(t.pipe[1], "a", 1), 1);
	ck_assert_int_eq(ab_loop_turn(&loop), 0);
	ck_assert_uint_eq(t.freed, 1);
	ab_loop_later(&loop, &t.later, count, &t);
	ab_loop_end(&loop);
	ck_assert_uint_eq(t.freed, 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gateway_loop");
	TCase *tc = tcase_create("gateway_loop");
	SRunner *sr;
	int bad;

	tcase_set_timeout(tc, 60 * ab_test_slowness());
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_watch_is_called_while_there_is_something);
	tcase_add_test(tc, a_removed_watch_is_not_called_in_the_same_turn);
	tcase_add_test(tc, what_is_left_is_taken_by_another_watch);
	tcase_add_test(tc, what_is_not_there_is_added);
	tcase_add_test(tc, what_is_left_and_closed_is_gone);
	tcase_add_test(tc, a_timer_fires_once_and_not_before);
	tcase_add_test(tc, timers_fire_in_order);
	tcase_add_test(tc, a_timer_may_clear_and_set_others);
	tcase_add_test(tc, what_is_put_off_runs_once_at_the_end_of_the_turn);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	bad = srunner_ntests_failed(sr);
	srunner_free(sr);
	return bad ? 1 : 0;
}
