/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who waits while protected paths are put right: the test is the holder of a
 * box that nobody raised, and answers when it likes.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/fd.h"
#include "sandbox/internal.h"
#include "wire/message.h"

/* Far less than any timeout, far more than a call takes. */
#define AT_ONCE_NS UINT64_C(500000000)

static agentbox_sandbox *box;
static int holder_fd;

static void setup(void)
{
	int pair[2];

	box = ab_new(agentbox_sandbox);
	ck_assert_ptr_nonnull(box);
	ck_assert_int_eq(ab_fd_seqpacket_pair(pair), 0);
	atomic_init(&box->refs, 1);
	atomic_init(&box->ended, false);
	box->owner = getpid();
	box->uid_fd = box->spawn_fd = box->mountinfo_fd = -1;
	box->helper = (ab_helper){ .control_fd = pair[0], .pidfd = -1 };
	/* always readable: there is always something to settle */
	box->watch_fd = eventfd(1, EFD_CLOEXEC);
	ab_events_init(&box->events);
	pthread_mutex_init(&box->lock, NULL);
	pthread_mutex_init(&box->settle_lock, NULL);
	holder_fd = pair[1];
}

static void teardown(void)
{
	close(box->helper.control_fd);
	close(box->watch_fd);
	ab_box_unref(box);
	if (holder_fd >= 0)
		close(holder_fd);
}

/* A process that has ended with `status`. */
static agentbox_process *ended(int status)
{
	uint8_t memory[2048];
	agentbox_process *p = NULL;
	ab_msg_exited m = { .status = status << 8 };
	ab_writer w;
	int pair[2];

	ck_assert_int_eq(ab_fd_seqpacket_pair(pair), 0);
	ck_assert_int_eq(ab_process_new(box, "box", pair[0], &p, NULL), 0);
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_exited(&w, &m);
	ck_assert_int_eq(ab_message_send(pair[1], w.data, w.len, NULL, 0, 0),
			 0);
	close(pair[1]);
	return p;
}

/* The serial of the settle that was asked for; 0: none was. */
static uint32_t asked(void)
{
	uint8_t buf[256];
	size_t fds = 0;
	ab_msg_request m;
	ab_reader r;

	ssize_t n = ab_message_recv(holder_fd, buf, sizeof(buf), NULL, 0, &fds,
				    MSG_DONTWAIT);
	if (n == -EAGAIN)
		return 0;
	ck_assert_int_gt(n, 0);
	ab_reader_init(&r, buf, (size_t)n);
	uint32_t kind = ab_get_u32(&r);
	ck_assert_uint_eq(ab_get_u32(&r), 0);
	ck_assert_int_eq(ab_msg_get_request(&r, kind, &m), 0);
	ck_assert_uint_eq(m.kind, AB_MSG_SETTLE);
	return m.serial;
}

static void reply(uint32_t serial, int32_t result, uint64_t failed)
{
	uint8_t memory[256];
	ab_msg_reply m = { .serial = serial, .result = result,
			   .values = { 0, 0, failed } };
	ab_writer w;

	ck_assert_uint_ne(serial, 0);
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_reply(&w, AB_MSG_REPLY, 0, &m);
	ck_assert_int_eq(ab_message_send(holder_fd, w.data, w.len, NULL, 0, 0),
			 0);
}

/* wait(0), which must not wait. */
static int32_t look(agentbox_process *p)
{
	uint64_t before = ab_clock_boot_ns();
	int32_t rc = agentbox_process_wait(p, 0, NULL);

	ck_assert_uint_lt(ab_clock_boot_ns() - before, AT_ONCE_NS);
	return rc;
}

START_TEST(a_look_does_not_wait_for_the_holder)
{
	agentbox_process *p = ended(7);

	ck_assert_int_eq(look(p), AGENTBOX_ETIMEOUT);
	uint32_t serial = asked();
	ck_assert_str_eq(agentbox_process_get_reason(p), "running");
	ck_assert_int_eq(agentbox_process_get_exit_status(p), -1);
	/* asked once, whatever the number of looks */
	ck_assert_int_eq(look(p), AGENTBOX_ETIMEOUT);
	ck_assert_uint_eq(asked(), 0);
	reply(serial, 0, 0);
	ck_assert_int_eq(look(p), 0);
	ck_assert_int_eq(agentbox_process_get_exit_status(p), 7);
	ck_assert_str_eq(agentbox_process_get_reason(p), "exited");
	ck_assert_int_eq(look(p), 0);
	ck_assert_uint_eq(asked(), 0);
	agentbox_process_free(p);
}
END_TEST

START_TEST(a_timeout_covers_the_settling_too)
{
	agentbox_process *p = ended(7);
	uint64_t before = ab_clock_boot_ns();

	ck_assert_int_eq(agentbox_process_wait(p, 50, NULL),
			 AGENTBOX_ETIMEOUT);
	ck_assert_uint_ge(ab_clock_boot_ns() - before, UINT64_C(50000000));
	ck_assert_uint_lt(ab_clock_boot_ns() - before, AT_ONCE_NS);
	reply(asked(), 0, 0);
	ck_assert_int_eq(agentbox_process_wait(p, 50, NULL), 0);
	agentbox_process_free(p);
}
END_TEST

START_TEST(a_settle_that_began_before_the_end_does_not_count)
{
	agentbox_process *p = ended(1), *q = ended(2);

	ck_assert_int_eq(look(p), AGENTBOX_ETIMEOUT);
	uint32_t first = asked();
	ck_assert_int_eq(look(q), AGENTBOX_ETIMEOUT);
	ck_assert_uint_eq(asked(), 0);
	reply(first, 0, 0);
	ck_assert_int_eq(look(q), AGENTBOX_ETIMEOUT);
	uint32_t second = asked();
	ck_assert_uint_ne(second, 0);
	reply(second, 0, 0);
	/* its own was answered, and the later one does for it as well */
	ck_assert_int_eq(look(p), 0);
	ck_assert_int_eq(look(q), 0);
	ck_assert_uint_eq(asked(), 0);
	agentbox_process_free(p);
	agentbox_process_free(q);
}
END_TEST

START_TEST(a_failure_is_told_and_tried_again)
{
	agentbox_process *p = ended(7);

	ck_assert_int_eq(look(p), AGENTBOX_ETIMEOUT);
	reply(asked(), 0, 1);
	ck_assert_int_eq(look(p), AGENTBOX_EWALL);
	ck_assert_int_eq(agentbox_process_get_exit_status(p), 7);
	ck_assert_int_eq(look(p), AGENTBOX_ETIMEOUT);
	reply(asked(), -EIO, 0);
	ck_assert_int_eq(look(p), AGENTBOX_EWALL);
	ck_assert_int_eq(look(p), AGENTBOX_ETIMEOUT);
	reply(asked(), 0, 0);
	ck_assert_int_eq(look(p), 0);
	agentbox_process_free(p);
}
END_TEST

/* The holder gives up a look that takes too long, and says so by EAGAIN. */
START_TEST(nothing_is_started_before_a_settle_that_succeeds)
{
	const char *argv[] = { "/bin/true" };
	agentbox_process *p = NULL;
	agentbox_command *c = NULL;
	agentbox_error *err = NULL;
	uint64_t ticket = 0;
	int pair[2];

	ck_assert_int_eq(ab_fd_seqpacket_pair(pair), 0);
	box->spawn_fd = pair[0];
	ck_assert_int_eq(agentbox_command_new(argv, 1, &c, NULL), 0);
	for (int i = 0; i < 3; i++) {
		/* the answer to what is going to be asked */
		reply(box->settle.serial + 1, -EAGAIN, i == 0);
		ck_assert_int_eq(agentbox_sandbox_spawn(box, c, &p, &err),
				 AGENTBOX_EWALL);
		ck_assert_int_eq(agentbox_error_get_errno(err), EAGAIN);
		agentbox_error_free(err);
		err = NULL;
		ck_assert_uint_eq(asked(), box->settle.serial);
		ck_assert_int_eq(ab_fd_poll(pair[1], POLLIN, 0), 0);
	}
	/* also when nothing has happened since */
	eventfd_t taken;
	ck_assert_int_eq(eventfd_read(box->watch_fd, &taken), 0);
	reply(box->settle.serial + 1, 0, 0);
	ck_assert_int_eq(ab_box_settle(box, false, &ticket, 0, NULL), 0);
	ck_assert_uint_eq(asked(), box->settle.serial);
	ck_assert_int_eq(ab_box_settle(box, false, &ticket, 0, NULL), 0);
	ck_assert_uint_eq(asked(), 0);
	agentbox_command_free(c);
	close(pair[0]);
	close(pair[1]);
	box->spawn_fd = -1;
}
END_TEST

START_TEST(a_box_that_breaks_meanwhile_vouches_for_nothing)
{
	agentbox_process *p = ended(7), *q = ended(7);

	ck_assert_int_eq(look(p), AGENTBOX_ETIMEOUT);
	close(holder_fd);
	holder_fd = -1;
	ck_assert_int_eq(look(p), AGENTBOX_ECLOSED);
	ck_assert_int_eq(look(p), AGENTBOX_EWALL);
	ck_assert_int_eq(look(q), AGENTBOX_EWALL);
	agentbox_process_free(p);
	agentbox_process_free(q);
}
END_TEST

START_TEST(an_answer_to_nobody_breaks_the_box)
{
	agentbox_process *p = ended(7);

	ck_assert_int_eq(look(p), AGENTBOX_ETIMEOUT);
	reply(asked() + 1, 0, 0);
	ck_assert_int_eq(look(p), AGENTBOX_ECLOSED);
	ck_assert(atomic_load(&box->ended));
	agentbox_process_free(p);
}
END_TEST

START_TEST(a_look_does_not_wait_for_another_thread)
{
	agentbox_process *p = ended(7);

	pthread_mutex_lock(&box->lock);
	ck_assert_int_eq(look(p), AGENTBOX_ETIMEOUT);
	pthread_mutex_unlock(&box->lock);
	pthread_mutex_lock(&box->settle_lock);
	ck_assert_int_eq(look(p), AGENTBOX_ETIMEOUT);
	pthread_mutex_unlock(&box->settle_lock);
	ck_assert_uint_eq(asked(), 0);

	/* the notice may be taken by now: it must settle all the same */
	eventfd_t taken;
	ck_assert_int_eq(eventfd_read(box->watch_fd, &taken), 0);
	ck_assert_int_eq(look(p), AGENTBOX_ETIMEOUT);
	reply(asked(), 0, 0);
	ck_assert_int_eq(look(p), 0);
	agentbox_process_free(p);
}
END_TEST

START_TEST(what_dispatch_reads_is_not_lost)
{
	agentbox_process *p = ended(7);

	ck_assert_int_eq(look(p), AGENTBOX_ETIMEOUT);
	reply(asked(), 0, 0);
	ck_assert_int_eq(agentbox_sandbox_dispatch(box, NULL), 0);
	ck_assert_int_eq(ab_fd_poll(box->helper.control_fd, POLLIN, 0), 0);
	ck_assert_int_eq(look(p), 0);
	agentbox_process_free(p);
}
END_TEST

START_TEST(an_owner_that_told_half_of_an_end_is_not_waited_for)
{
	uint8_t memory[2048];
	agentbox_process *p = NULL;
	ab_msg_failed m = { .stage = "protect", .message = "no" };
	ab_msg_exited e = { .status = 7 << 8 };
	ab_writer w;
	int pair[2];

	ck_assert_int_eq(ab_fd_seqpacket_pair(pair), 0);
	ck_assert_int_eq(ab_process_new(NULL, "box", pair[0], &p, NULL), 0);
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_failed(&w, AB_MSG_FAILED, &m);
	ab_message_send(pair[1], w.data, w.len, NULL, 0, 0);
	ck_assert_int_eq(look(p), AGENTBOX_ETIMEOUT);
	ck_assert_str_eq(agentbox_process_get_reason(p), "running");
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_msg_put_exited(&w, &e);
	ab_message_send(pair[1], w.data, w.len, NULL, 0, 0);
	ck_assert_int_eq(look(p), AGENTBOX_EWALL);
	ck_assert_int_eq(agentbox_process_get_exit_status(p), 7);
	close(pair[1]);
	agentbox_process_free(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sandbox_settle");
	TCase *t = tcase_create("settle");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_look_does_not_wait_for_the_holder);
	tcase_add_test(t, a_timeout_covers_the_settling_too);
	tcase_add_test(t, a_settle_that_began_before_the_end_does_not_count);
	tcase_add_test(t, a_failure_is_told_and_tried_again);
	tcase_add_test(t, nothing_is_started_before_a_settle_that_succeeds);
	tcase_add_test(t, a_box_that_breaks_meanwhile_vouches_for_nothing);
	tcase_add_test(t, an_answer_to_nobody_breaks_the_box);
	tcase_add_test(t, a_look_does_not_wait_for_another_thread);
	tcase_add_test(t, what_dispatch_reads_is_not_lost);
	tcase_add_test(t, an_owner_that_told_half_of_an_end_is_not_waited_for);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
