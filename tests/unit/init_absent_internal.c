/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When agentbox-init says that nobody of the agent's is there: absent.c with
 * processes of the test's own in the place of PID 1 and of who is below it.
 */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"
#include "watcher.h"

#define MAX_CHILDREN 3

static init_shared shared;
static init_box box;
static watcher w;
static pid_t children[MAX_CHILDREN];

static _Noreturn void stay(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	for (;;)
		pause();
}

static _Noreturn void be_pid_one(unsigned count, int fd)
{
	for (unsigned i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0)
			stay();
		if (write(fd, &pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
	}
	stay();
}

static void begin(unsigned count)
{
	int pair[2];

	ck_assert_int_eq(pipe(pair), 0);
	box = (init_box){.shared = &shared, .pid_one = fork()};
	w = (watcher){.box = &box};
	if (box.pid_one == 0)
		be_pid_one(count, pair[1]);
	ck_assert_int_gt(box.pid_one, 0);
	for (unsigned i = 0; i < count; i++)
		ck_assert_int_eq(read(pair[0], &children[i], sizeof(pid_t)),
				 sizeof(pid_t));
	close(pair[0]);
	close(pair[1]);
	atomic_store(&shared.launcher, (uint32_t)children[0]);
}

static void end(void)
{
	if (box.pid_one <= 0)
		return;
	kill(box.pid_one, SIGKILL);
	(void)waitpid(box.pid_one, NULL, 0);
}

static bool can_tell(const char *name)
{
	if (access("/proc/self/task/1/children", F_OK) == 0 ||
	    access("/proc/thread-self/children", F_OK) == 0)
		return true;
	ab_test_skip(name, "the kernel does not list children");
	return false;
}

START_TEST(the_launcher_alone_is_nobody)
{
	if (!can_tell("the_launcher_alone_is_nobody"))
		return;
	begin(1);
	ck_assert(init_agent_is_absent(&w));
	atomic_store(&shared.launcher, 0);
	ck_assert(!init_agent_is_absent(&w));
	atomic_store(&shared.launcher, (uint32_t)box.pid_one);
	ck_assert(!init_agent_is_absent(&w));
	end();
}
END_TEST

START_TEST(who_is_beside_it_is_somebody_until_he_is_dead)
{
	if (!can_tell("who_is_beside_it_is_somebody_until_he_is_dead"))
		return;
	begin(3);
	ck_assert(!init_agent_is_absent(&w));
	kill(children[1], SIGKILL);
	kill(children[2], SIGKILL);
	for (int i = 0; i < 1000 && !init_agent_is_absent(&w); i++)
		usleep(10000);
	ck_assert(init_agent_is_absent(&w));
	end();
}
END_TEST

START_TEST(who_is_in_the_making_is_somebody)
{
	if (!can_tell("who_is_in_the_making_is_somebody"))
		return;
	begin(1);
	atomic_store(&shared.in_flight, INIT_IN_THE_MAKING);
	ck_assert(!init_agent_is_absent(&w));
	atomic_store(&shared.in_flight, 0);
	ck_assert(init_agent_is_absent(&w));
	end();
}
END_TEST

/* PID 1 has taken the launcher away, and its number is the agent's. */
START_TEST(a_number_is_no_launcher_while_somebody_is_taken_away)
{
	if (!can_tell("a_number_is_no_launcher_while_somebody_is_taken_away"))
		return;
	begin(1);
	atomic_fetch_add(&shared.reaps, 1);
	ck_assert(!init_agent_is_absent(&w));
	atomic_fetch_add(&shared.reaps, 1);
	ck_assert(init_agent_is_absent(&w));
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("init_absent");
	TCase *t = tcase_create("absent");
	SRunner *runner;
	int failed;

	tcase_add_test(t, the_launcher_alone_is_nobody);
	tcase_add_test(t, who_is_beside_it_is_somebody_until_he_is_dead);
	tcase_add_test(t, who_is_in_the_making_is_somebody);
	tcase_add_test(t, a_number_is_no_launcher_while_somebody_is_taken_away);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
