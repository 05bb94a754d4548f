/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program that leaks what its argument says, for the test of the leak
 * checker (tests/meta/leak.sh). It tests nothing itself.
 */
#include "config.h"

#include "abtest.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

static void live_for(unsigned useconds)
{
	usleep(useconds);
	_exit(0);
}

static void leak_child(unsigned useconds, bool orphan)
{
	pid_t pid = fork();

	if (pid != 0)
		return;
	/* The runner waits for the pipe's end, so do not hold its output. */
	close(1);
	close(2);
	if (orphan && fork() > 0)
		_exit(0);
	live_for(useconds);
}

START_TEST(a_descriptor_is_leaked_in_a_forked_test)
{
	ck_assert_int_ge(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
}
END_TEST

static int run_fixture(void)
{
	Suite *suite = suite_create("leaky");
	TCase *tc = tcase_create("leaky");

	tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown);
	tcase_add_test(tc, a_descriptor_is_leaked_in_a_forked_test);
	suite_add_tcase(suite, tc);
	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "clean") == 0)
		return 0;
	if (strcmp(what, "fail") == 0)
		return 3;
	if (strcmp(what, "fd") == 0)
		return open("/dev/null", O_RDONLY | O_CLOEXEC) < 0;
	if (strcmp(what, "brief") == 0)
		return leak_child(100000, false), 0;
	if (strcmp(what, "child") == 0)
		return leak_child(1600000, false), 0;
	if (strcmp(what, "daemon") == 0)
		return leak_child(1600000, true), 0;
	if (strcmp(what, "fixture") == 0)
		return run_fixture();
	if (strcmp(what, "mount") == 0)
		return mount("none", "/tmp", "tmpfs", 0, NULL) != 0;
	return 2;
}
