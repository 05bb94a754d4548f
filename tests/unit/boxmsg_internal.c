/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The messages of a box: round trips, cuts, and values nobody may say. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "abtest.h"
#include "base/limits.h"
#include "wire/box.h"

static uint8_t memory[4096];
static ab_writer w;
static ab_reader r;

static void begin(void)
{
	ab_writer_init_fixed(&w, memory, sizeof(memory));
}

/* A reader after kind and fd count, which must be these. */
static void reread(uint32_t kind, uint32_t fds)
{
	ck_assert(!w.bad);
	ab_reader_init(&r, w.data, w.len);
	ck_assert_uint_eq(ab_get_u32(&r), kind);
	ck_assert_uint_eq(ab_get_u32(&r), fds);
}

static void cut(void)
{
	ab_reader_init(&r, w.data, w.len - 1);
	(void)ab_get_u32(&r);
	(void)ab_get_u32(&r);
}

START_TEST(ready_failed_and_event_survive)
{
	ab_msg_ready ready = {1, 2, 3, 4, "note\n"}, ready2;
	ab_msg_failed failed = {"userns", 1, "why"}, failed2;
	ab_msg_event event = {AB_EVENT_LIMIT, "memory", "d"}, event2;

	begin();
	ab_msg_put_ready(&w, AB_MSG_READY, 3, &ready);
	reread(AB_MSG_READY, 3);
	ck_assert_int_eq(ab_msg_get_ready(&r, &ready2), 0);
	ck_assert_uint_eq(ready2.launcher, 4);
	ck_assert_str_eq(ready2.notes, "note\n");
	cut();
	ck_assert_int_eq(ab_msg_get_ready(&r, &ready2), -EPROTO);
	begin();
	ab_msg_put_failed(&w, AB_MSG_FAILED, &failed);
	reread(AB_MSG_FAILED, 0);
	ck_assert_int_eq(ab_msg_get_failed(&r, &failed2), 0);
	ck_assert_str_eq(failed2.message, "why");
	begin();
	ab_msg_put_event(&w, AB_MSG_EVENT, &event);
	reread(AB_MSG_EVENT, 0);
	ck_assert_int_eq(ab_msg_get_event(&r, &event2), 0);
	ck_assert_str_eq(event2.object, "memory");
	event.kind = 99;
	begin();
	ab_msg_put_event(&w, AB_MSG_EVENT, &event);
	reread(AB_MSG_EVENT, 0);
	ck_assert_int_eq(ab_msg_get_event(&r, &event2), -EPROTO);
}
END_TEST

START_TEST(requests_and_replies_survive)
{
	ab_msg_request q = {AB_MSG_RELAY, 7, 1}, q2;
	ab_msg_reply p = {7, -5, {1, 2, 3, 1ull << 50}}, p2;

	begin();
	ab_msg_put_request(&w, 1, &q);
	reread(AB_MSG_RELAY, 1);
	ck_assert_int_eq(ab_msg_get_request(&r, AB_MSG_RELAY, &q2), 0);
	ck_assert_uint_eq(q2.serial, 7);
	reread(AB_MSG_RELAY, 1);
	ck_assert_int_eq(ab_msg_get_request(&r, AB_MSG_READY, &q2), -EPROTO);
	begin();
	ab_msg_put_reply(&w, AB_MSG_REPLY, 0, &p);
	reread(AB_MSG_REPLY, 0);
	ck_assert_int_eq(ab_msg_get_reply(&r, &p2), 0);
	ck_assert_int_eq(p2.result, -5);
	ck_assert_uint_eq(p2.values[3], 1ull << 50);
}
END_TEST

START_TEST(exits_signals_and_registrations_survive)
{
	ab_msg_exited e = {.status = 256, .reason = AB_REASON_WALL,
			   .nivcsw = 9}, e2;
	ab_msg_signal s = {9, 1}, s2;
	ab_msg_register g = {17, 1000, 1ull << 60, 5}, g2;

	begin();
	ab_msg_put_exited(&w, &e);
	reread(AB_MSG_EXITED, 0);
	ck_assert_int_eq(ab_msg_get_exited(&r, &e2), 0);
	ck_assert_uint_eq(e2.nivcsw, 9);
	begin();
	ab_msg_put_signal(&w, &s);
	reread(AB_MSG_SIGNAL, 0);
	ck_assert_int_eq(ab_msg_get_signal(&r, &s2), 0);
	begin();
	ab_msg_put_register(&w, &g);
	reread(AB_MSG_REGISTER, 1);
	ck_assert_int_eq(ab_msg_get_register(&r, &g2), 0);
	ck_assert_uint_eq(g2.wall_ms, 1000);
	ck_assert_uint_eq(g2.started_ns, 1ull << 60);
	ck_assert_uint_eq(g2.relays, 5);
}
END_TEST

static int signal_refused(int32_t signum, uint32_t group)
{
	ab_msg_signal s = {signum, group};

	begin();
	ab_msg_put_signal(&w, &s);
	reread(AB_MSG_SIGNAL, 0);
	return ab_msg_get_signal(&r, &s);
}

START_TEST(numbers_that_would_mean_everybody_are_refused)
{
	static const uint32_t pids[] = {0, 1, UINT32_MAX, 1u << 31};

	ck_assert_int_eq(signal_refused(0, 0), -EPROTO);
	ck_assert_int_eq(signal_refused(65, 0), -EPROTO);
	ck_assert_int_eq(signal_refused(-9, 0), -EPROTO);
	ck_assert_int_eq(signal_refused(9, 2), -EPROTO);
	for (size_t i = 0; i < 4; i++) {
		ab_msg_register g = {pids[i], 0, 0, 0};

		begin();
		ab_msg_put_register(&w, &g);
		reread(AB_MSG_REGISTER, 1);
		ck_assert_int_eq(ab_msg_get_register(&r, &g), -EPROTO);
	}
}
END_TEST

static const char *const argv[] = {"a", "b", NULL};
static const char *const envp[] = {"PATH=/bin", NULL};

static ab_msg_spawn spawn_of(const uint32_t *targets, uint32_t count)
{
	return (ab_msg_spawn){.flags = AB_SPAWN_PTY,
			      .rows = 2,
			      .cols = 3,
			      .wall_ms = 4,
			      .relays = 6,
			      .cwd = "/w",
			      .targets = targets,
			      .target_count = count,
			      .argv = argv,
			      .argc = 2,
			      .envp = envp,
			      .envc = 1};
}

static int get_spawn(const ab_msg_spawn *m, ab_msg_spawn *out)
{
	begin();
	ab_msg_put_spawn(&w, m);
	ck_assert(!w.bad);
	ab_reader_init(&r, w.data, w.len);
	return ab_msg_get_spawn(&r, out);
}

START_TEST(a_spawn_survives)
{
	const uint32_t targets[] = {3, 1023};
	ab_msg_spawn m = spawn_of(targets, 2), out;

	ck_assert_int_eq(get_spawn(&m, &out), 0);
	ck_assert_uint_eq(out.cols, 3);
	ck_assert_uint_eq(out.relays, 6);
	ck_assert_uint_eq(out.targets[1], 1023);
	ck_assert_str_eq(out.argv[1], "b");
	ck_assert_ptr_null(out.argv[2]);
	ck_assert_str_eq(out.envp[0], "PATH=/bin");
	ab_msg_spawn_end(&out);
	for (size_t n = 0; n < w.len; n++) {
		ab_reader_init(&r, w.data, n);
		ck_assert_int_eq(ab_msg_get_spawn(&r, &out), -EPROTO);
	}
}
END_TEST

START_TEST(a_spawn_that_leaves_room_for_guesses_is_refused)
{
	const uint32_t twice[] = {3, 3}, far[] = {1024};
	ab_msg_spawn m = spawn_of(twice, 2), out;

	ck_assert_int_eq(get_spawn(&m, &out), -EPROTO);
	m = spawn_of(far, 1);
	ck_assert_int_eq(get_spawn(&m, &out), -EPROTO);
	m = spawn_of(far, 0);
	m.argc = 0;
	ck_assert_int_eq(get_spawn(&m, &out), -EPROTO);
	m = spawn_of(far, 0);
	m.flags = 2;
	ck_assert_int_eq(get_spawn(&m, &out), -EPROTO);
}
END_TEST

static bool spawn_once(void *data)
{
	ab_msg_spawn out;
	bool good;

	(void)data;
	ab_reader_init(&r, w.data, w.len);
	good = ab_msg_get_spawn(&r, &out) == 0;
	if (good)
		ab_msg_spawn_end(&out);
	return good;
}

START_TEST(every_failed_allocation_of_a_spawn_is_an_error)
{
	const uint32_t targets[] = {0, 1, 2};
	ab_msg_spawn m = spawn_of(targets, 3), out;

	ck_assert_int_eq(get_spawn(&m, &out), 0);
	ab_msg_spawn_end(&out);
	if (ab_torture_available())
		ck_assert_uint_eq(ab_torture(spawn_once, NULL, 10, NULL), 3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("boxmsg");
	TCase *tc = tcase_create("boxmsg");
	SRunner *runner;
	int failed;

	tcase_add_test(tc, ready_failed_and_event_survive);
	tcase_add_test(tc, requests_and_replies_survive);
	tcase_add_test(tc, exits_signals_and_registrations_survive);
	tcase_add_test(tc, numbers_that_would_mean_everybody_are_refused);
	tcase_add_test(tc, a_spawn_survives);
	tcase_add_test(tc, a_spawn_that_leaves_room_for_guesses_is_refused);
	tcase_add_test(tc, every_failed_allocation_of_a_spawn_is_an_error);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
