/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The end of a box: what agentbox-init does last, and in which order. end.c
 * with neighbours that take notes and an exit of the test's own; the
 * descriptor that it leaves to the kernel is the write end of a pipe, by
 * which can be seen who holds it.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abtest.h"
#include "base/fd.h"
#include "holder.h"

static char order[256];
static jmp_buf at_exit;
static int exit_status, ring_fd;

static void note(const char *what)
{
	strcat(strcat(order, order[0] ? " " : ""), what);
}

/* --- the neighbours --- */

_Noreturn void faked_exit(int status)
{
	note("exit");
	exit_status = status;
	longjmp(at_exit, 1);
}

void init_flush_relays(holder *h)
{
	(void)h;
	note("relays");
}

void init_settle_last(holder *h, bool is_empty)
{
	(void)h;
	note(is_empty ? "settle" : "settle beside somebody");
}

void init_kill_below(pid_t top)
{
	(void)top;
}

void init_send_failure(const init_box *box, int sock)
{
	(void)box;
	(void)sock;
	note("failure");
	/* the lowest free one is what the ring gets */
	ring_fd = dup(0);
	close(ring_fd);
}

/* --- what is left --- */

static void end(init_box *box, const init_failure *failure)
{
	holder h = {.box = box};

	if (!setjmp(at_exit))
		init_end_box(&h, failure);
}

static bool io_uring_is_here(void)
{
	_Alignas(8) unsigned char params[120] = {0};
	long ring = syscall(SYS_io_uring_setup, 1, params);

	if (ring >= 0)
		close((int)ring);
	return ring >= 0;
}

/* The last writer of the pipe is gone: within this time, or not yet (0). */
static bool has_ended(int read_fd, int ms)
{
	struct pollfd p = {.fd = read_fd, .events = POLLIN};

	return poll(&p, 1, ms) > 0 && (p.revents & POLLHUP);
}

START_TEST(all_is_put_right_before_the_failure_is_told)
{
	static const init_failure failure;
	init_box box = {.inotify_fd = -1};

	end(&box, &failure);
	ck_assert_str_eq(order, "relays settle failure exit");
	ck_assert_int_eq(exit_status, 1);
	order[0] = '\0';
	end(&box, NULL);
	ck_assert_str_eq(order, "relays settle exit");
	ck_assert_int_eq(exit_status, 0);
}
END_TEST

/* Of the weakest tier; the round trips of the hunt are a second. */
START_TEST(who_cannot_be_killed_is_told_of)
{
	init_box box = {.inotify_fd = -1, .plan = {.tier = AB_TIER_LANDLOCK}};
	pid_t other = fork();

	while (other == 0)
		pause();
	box.pid_one = fork();
	while (box.pid_one == 0)
		pause();
	end(&box, NULL);
	ck_assert_str_eq(order, "relays settle beside somebody exit");
	kill(other, SIGKILL);
	order[0] = '\0';
	end(&box, NULL);
	ck_assert_str_eq(order, "relays settle exit");
}
END_TEST

/*
 * Whoever closes an inotify instance last waits for the kernel to forget its
 * watches. When we exit somebody else holds ours, and only until we are gone.
 */
START_TEST(at_its_exit_it_is_not_the_last_to_hold_the_watches)
{
	static const init_failure failure;
	init_box box = {0};
	int pair[2];

	if (!io_uring_is_here()) {
		ab_test_skip("at_its_exit_it_is_not_the_last_to_hold_the_"
			     "watches", "no io_uring");
		return;
	}
	ck_assert_int_eq(pipe(pair), 0);
	box.inotify_fd = pair[1];
	end(&box, &failure);
	/* what our exit does first */
	close(pair[1]);
	ck_assert(!has_ended(pair[0], 0));
	close(ring_fd);
	ck_assert(has_ended(pair[0], 60000));
	close(pair[0]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("init_end");
	TCase *t = tcase_create("end");
	SRunner *runner;
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, all_is_put_right_before_the_failure_is_told);
	tcase_add_test(t, who_cannot_be_killed_is_told_of);
	tcase_add_test(t, at_its_exit_it_is_not_the_last_to_hold_the_watches);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
