/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Starting and refusing helpers. Each test has a directory of its own that
 * holds base_helper under the name that makes it behave as the test needs.
 */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/spawn.h"
#include "wire/codec.h"
#include "wire/message.h"

#include "abtest.h"

#define HELLO_MS 20000

static char dir[256];
static agentbox_context *context;

static void copy_helper(const char *name)
{
	char from[512], to[512];
	struct stat st;
	int in, out;

	snprintf(from, sizeof(from), "%s/tests/unit/base_helper",
		 ab_test_builddir());
	snprintf(to, sizeof(to), "%s/%s", dir, name);
	in = open(from, O_RDONLY | O_CLOEXEC);
	ck_assert_msg(in >= 0, "%s is not built", from);
	ck_assert_int_eq(fstat(in, &st), 0);
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	ck_assert_int_ge(out, 0);
	for (off_t left = st.st_size; left > 0;) {
		ssize_t n = sendfile(out, in, NULL, (size_t)left);

		ck_assert_int_gt(n, 0);
		left -= n;
	}
	fchmod(out, 0755);
	close(in);
	close(out);
}

static void setup(void)
{
	ab_leak_setup();
	snprintf(dir, sizeof(dir), "%s/helpers-XXXXXX", ab_test_tmpdir());
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	ck_assert_int_eq(agentbox_context_set_helper_dir(context, dir, NULL),
			 0);
}

static void teardown(void)
{
	struct dirent *e;
	DIR *d;

	agentbox_context_unref(context);
	chmod(dir, 0700);
	d = opendir(dir);
	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(dir);
	ab_leak_teardown();
}

static void expect_refusal(const char *name, int64_t timeout_ms,
			   const char *words)
{
	ab_helper h = {.control_fd = -7, .pidfd = -7, .pid = -7};
	ab_auto(agentbox_error) *err = NULL;
	int32_t r = ab_helper_start(context, name, -1, timeout_ms, &h, &err);

	ck_assert_int_eq(r, AGENTBOX_EHELPER);
	ck_assert_int_eq(agentbox_error_get_code(err), r);
	ck_assert_msg(strstr(agentbox_error_get_message(err), words),
		      "'%s' lacks '%s'", agentbox_error_get_message(err),
		      words);
	ck_assert_msg(strstr(agentbox_error_get_message(err), name),
		      "no name in '%s'", agentbox_error_get_message(err));
	/* untouched on failure, and nothing left to reap */
	ck_assert(h.control_fd == -7 && h.pidfd == -7 && h.pid == -7);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

static ab_helper start_good(const char *name, int plan_fd)
{
	ab_auto(agentbox_error) *err = NULL;
	ab_helper h = {.control_fd = -1};
	int32_t r;

	r = ab_helper_start(context, name, plan_fd, HELLO_MS, &h, &err);
	ck_assert_msg(r == 0, "%s", agentbox_error_get_message(err));
	ck_assert_int_ge(h.control_fd, 3);
	ck_assert_int_ge(h.pidfd, 3);
	ck_assert_int_gt(h.pid, 0);
	ck_assert(fcntl(h.control_fd, F_GETFD) & FD_CLOEXEC);
	ck_assert(fcntl(h.pidfd, F_GETFD) & FD_CLOEXEC);
	return h;
}

static void stop(ab_helper *h)
{
	ab_helper_stop(h, HELLO_MS);
	ck_assert(h->control_fd == -1 && h->pidfd == -1 && h->pid == 0);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ab_helper_stop(h, HELLO_MS);
}

/* What "reports" saw of itself. */
static void check_report(ab_helper *h, const char *plan)
{
	uint8_t m[4096];
	size_t fd_count, n;
	ab_reader r;
	ssize_t got = ab_message_recv(h->control_fd, m, sizeof(m), NULL, 0,
				      &fd_count, 0);
	const void *bytes;

	ck_assert_int_gt(got, 0);
	ab_reader_init(&r, m, (size_t)got);
	ck_assert_uint_eq(ab_get_u32(&r), 100);
	ck_assert_uint_eq(ab_get_u32(&r), 0);
	ck_assert_str_eq(ab_get_str(&r), "reports");
	/* a sanitizer's runtime may set signals and open fds of its own */
	ck_assert_uint_eq(ab_get_u32(&r), 0); /* environment */
	n = ab_get_u32(&r);
	if (!getenv("AB_TEST_SANITIZED") || !*getenv("AB_TEST_SANITIZED"))
		ck_assert_uint_le(n, 3);
	ck_assert_uint_eq(ab_get_u32(&r), 0); /* blocked */
	ck_assert_uint_eq(ab_get_u32(&r), 3); /* on /dev/null */
	ck_assert_uint_eq(ab_get_u32(&r), 1); /* session leader */
	ck_assert_uint_eq(ab_get_u32(&r), 0); /* fd 5 is free */
	bytes = ab_get_bytes(&r, &n);
	ck_assert(ab_reader_done(&r));
	ck_assert_uint_eq(n, strlen(plan));
	ck_assert_int_eq(memcmp(bytes, plan, n), 0);
}

START_TEST(a_helper_starts_and_ends_with_its_socket)
{
	ab_helper h;

	copy_helper("good");
	h = start_good("good", -1);
	ck_assert_int_eq(kill(h.pid, 0), 0);
	stop(&h);
}
END_TEST

START_TEST(a_helper_gets_exactly_what_the_contract_says)
{
	int plan = ab_fd_memfd_sealed("plan", "the plan", 8);
	sigset_t all;
	ab_helper h;

	copy_helper("reports");
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	setenv("SECRET_OF_THE_HOST", "not for helpers", 1);
	h = start_good("reports", plan);
	check_report(&h, "the plan");
	stop(&h);
	h = start_good("reports", -1);
	check_report(&h, "");
	stop(&h);
	close(plan);
}
END_TEST

START_TEST(a_host_without_standard_streams_can_start_one)
{
	int plan, saved[3];
	ab_helper h;

	copy_helper("reports");
	for (int i = 0; i < 3; i++) {
		saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
		close(i);
	}
	plan = memfd_create("plan", MFD_CLOEXEC); /* lands on 0 */
	ck_assert_int_eq(plan, 0);
	ck_assert_int_eq(write(plan, "low", 3), 3);
	lseek(plan, 0, SEEK_SET);
	h = start_good("reports", plan);
	check_report(&h, "low");
	stop(&h);
	ck_assert_int_eq(fcntl(1, F_GETFD), -1);
	ck_assert_int_eq(fcntl(2, F_GETFD), -1);
	close(plan);
	for (int i = 0; i < 3; i++) {
		if (saved[i] < 0)
			continue;
		dup2(saved[i], i);
		close(saved[i]);
	}
}
END_TEST

START_TEST(a_host_that_ignores_sigchld_can_start_and_stop)
{
	ab_helper h;

	copy_helper("good");
	copy_helper("dies");
	signal(SIGCHLD, SIG_IGN);
	h = start_good("good", -1);
	stop(&h);
	expect_refusal("dies", HELLO_MS, "ended before its hello");
}
END_TEST

static void reap_blindly(int sig)
{
	int saved = errno;

	(void)sig;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	errno = saved;
}

START_TEST(a_host_that_reaps_blindly_can_start_and_stop)
{
	struct sigaction sa = {.sa_handler = reap_blindly};
	ab_helper h;

	copy_helper("good");
	copy_helper("dies");
	sigaction(SIGCHLD, &sa, NULL);
	for (int i = 0; i < 20; i++) {
		h = start_good("good", -1);
		stop(&h);
		expect_refusal("dies", HELLO_MS, "ended before its hello");
	}
}
END_TEST

START_TEST(a_start_in_two_steps_is_a_start)
{
	ab_helper h = {.control_fd = -1};
	ab_launch l = {0};

	copy_helper("good");
	copy_helper("dies");
	ck_assert_int_eq(ab_helper_launch(context, "good", -1, &l, NULL), 0);
	ck_assert_int_eq(ab_helper_greet(&l, HELLO_MS, &h, NULL), 0);
	/* taken: nothing is left of it */
	ab_helper_cancel(&l, HELLO_MS);
	stop(&h);
	ck_assert_int_eq(ab_helper_launch(context, "dies", -1, &l, NULL), 0);
	ck_assert_int_eq(ab_helper_greet(&l, HELLO_MS, &h, NULL),
			 AGENTBOX_EHELPER);
	ab_helper_cancel(&l, HELLO_MS);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

START_TEST(a_cancelled_start_leaves_nobody)
{
	ab_launch l = {0};

	ab_helper_cancel(&l, HELLO_MS);
	copy_helper("good");
	ck_assert_int_eq(ab_helper_launch(context, "good", -1, &l, NULL), 0);
	ab_helper_cancel(&l, HELLO_MS);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
	ab_helper_cancel(&l, HELLO_MS);
}
END_TEST

static void *start_many(void *data)
{
	for (int i = 0; i < 10; i++) {
		ab_helper h = {.control_fd = -1};

		if (ab_helper_start(context, "good", -1, HELLO_MS, &h, NULL))
			return data;
		ab_helper_stop(&h, HELLO_MS);
	}
	return NULL;
}

START_TEST(threads_start_helpers_side_by_side)
{
	pthread_t threads[8];

	copy_helper("good");
	for (size_t i = 0; i < 8; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, start_many,
						context), 0);
	for (size_t i = 0; i < 8; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		ck_assert_ptr_null(failed);
	}
}
END_TEST

START_TEST(a_stubborn_helper_is_killed)
{
	uint64_t before = ab_clock_mono_ns();
	ab_helper h;

	copy_helper("stubborn");
	h = start_good("stubborn", -1);
	ab_helper_stop(&h, 50);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_uint_ge(ab_clock_mono_ns() - before, 50000000u);
}
END_TEST

START_TEST(stopping_nothing_touches_nothing)
{
	ab_helper zeroed = {0};

	errno = EXDEV;
	ab_helper_stop(&zeroed, 0);
	ab_helper_stop(NULL, 0);
	ck_assert_int_eq(errno, EXDEV);
	ck_assert_int_ne(fcntl(0, F_GETFD), -1);
}
END_TEST

static const struct {
	const char *name;
	int64_t timeout_ms;
	const char *words;
} bad_rows[] = {
	{"wrong-build", HELLO_MS, "of another build ('0123?[31m-other' in"},
	{"wrong-name", HELLO_MS, "calls itself 'somebody-else'"},
	{"no-pidfd", HELLO_MS, "sent no pidfd"},
	{"no-fd", HELLO_MS, "sent no pidfd"},
	{"two-fds", HELLO_MS, "no proper hello"},
	{"garbage", HELLO_MS, "something else than hello"},
	{"short", HELLO_MS, "no proper hello"},
	{"closes", HELLO_MS, "ended before its hello"},
	{"cannot", HELLO_MS, "cannot say hello; raise the hard limit"},
	{"hurried", HELLO_MS, "before others as this program does, and cannot "
			      "change its policy: operation not permitted"},
	{"dies", HELLO_MS, "ended before its hello (exit status 3)"},
	{"killed", HELLO_MS, "ended before its hello (signal 9)"},
	{"silent", 100, "did not say hello within 100 ms"},
	{"silent", 0, "did not say hello within 0 ms"},
};

START_TEST(a_helper_that_misbehaves_is_refused_and_reaped)
{
	copy_helper(bad_rows[_i].name);
	expect_refusal(bad_rows[_i].name, bad_rows[_i].timeout_ms,
		       bad_rows[_i].words);
}
END_TEST

START_TEST(a_missing_helper_is_named_with_its_directory)
{
	expect_refusal("absent", HELLO_MS, dir);
	expect_refusal("absent", HELLO_MS, "no such file or directory");
	chmod(dir, 0700);
	rmdir(dir);
	expect_refusal("absent", HELLO_MS, "set another helper directory");
	mkdir(dir, 0700);
}
END_TEST

START_TEST(to_install_it_is_said_only_of_what_is_missing)
{
	char name[300];
	ab_helper h = {.control_fd = -1};
	ab_auto(agentbox_error) *err = NULL;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	expect_refusal("absent", HELLO_MS, "install it");
	ck_assert_int_eq(ab_helper_start(context, name, -1, HELLO_MS, &h,
					 &err), AGENTBOX_EHELPER);
	ck_assert_msg(strstr(agentbox_error_get_message(err), "too long") &&
			      !strstr(agentbox_error_get_message(err),
				      "install it"),
		      "%s", agentbox_error_get_message(err));
}
END_TEST

START_TEST(what_others_can_write_is_refused)
{
	char path[512];

	copy_helper("good");
	snprintf(path, sizeof(path), "%s/good", dir);
	chmod(path, 0775);
	expect_refusal("good", HELLO_MS, "is not trusted");
	chmod(path, 0757);
	expect_refusal("good", HELLO_MS, "is not trusted");
	chmod(path, 0755);
	chmod(dir, 0777);
	expect_refusal("good", HELLO_MS, "the directory of helper");
	chmod(dir, 01777);
	expect_refusal("good", HELLO_MS, "the directory of helper");
	chmod(dir, 0770);
	expect_refusal("good", HELLO_MS, "the directory of helper");
}
END_TEST

START_TEST(what_others_own_is_refused)
{
	char path[512];

	if (geteuid() != 0)
		return; /* only root can give files away */
	copy_helper("good");
	snprintf(path, sizeof(path), "%s/good", dir);
	ck_assert_int_eq(chown(path, 12345, 12345), 0);
	expect_refusal("good", HELLO_MS, "uid 12345");
	ck_assert_int_eq(chown(path, 0, 0), 0);
	ck_assert_int_eq(chown(dir, 12345, 12345), 0);
	expect_refusal("good", HELLO_MS, "uid 12345");
}
END_TEST

START_TEST(a_link_or_a_directory_is_no_helper)
{
	char from[512], to[512];

	copy_helper("good");
	snprintf(from, sizeof(from), "%s/good", dir);
	snprintf(to, sizeof(to), "%s/link", dir);
	ck_assert_int_eq(symlink(from, to), 0);
	expect_refusal("link", HELLO_MS, "not a regular file");
	snprintf(to, sizeof(to), "%s/folder", dir);
	ck_assert_int_eq(mkdir(to, 0700), 0);
	expect_refusal("folder", HELLO_MS, "not a regular file");
	rmdir(to);
}
END_TEST

START_TEST(a_file_that_cannot_run_is_refused)
{
	char path[512];
	int fd;

	copy_helper("good");
	snprintf(path, sizeof(path), "%s/good", dir);
	chmod(path, 0644);
	expect_refusal("good", HELLO_MS, "permission denied");
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	ck_assert_int_eq(write(fd, "junk", 4), 4);
	fchmod(fd, 0755);
	close(fd);
	expect_refusal("good", HELLO_MS, "exec format error");
}
END_TEST

START_TEST(a_name_with_a_slash_is_the_callers_defect)
{
	static const char *const names[] = {"", "../x", "a/b", NULL};
	ab_helper h;

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		ck_assert_int_eq(ab_helper_start(context, names[i], -1, 1, &h,
						 NULL), AGENTBOX_EINVAL);
	ck_assert_int_eq(ab_helper_start(context, "x", -1, 1, NULL, NULL),
			 AGENTBOX_EINVAL);
}
END_TEST

START_TEST(the_default_directories_are_tried_and_named)
{
	ab_auto(agentbox_error) *err = NULL;
	agentbox_context *fresh = NULL;
	ab_helper h;

	ck_assert_int_eq(agentbox_context_new(&fresh, NULL), 0);
	ck_assert_int_eq(ab_helper_start(fresh, "agentbox-nonesuch", -1, 1, &h,
					 &err), AGENTBOX_EHELPER);
	ck_assert_ptr_nonnull(strstr(agentbox_error_get_message(err),
				     AB_PKGLIBEXECDIR));
	agentbox_context_unref(fresh);
	ck_assert_int_eq(ab_helper_start(NULL, "agentbox-nonesuch", -1, 1, &h,
					 NULL), AGENTBOX_EHELPER);
}
END_TEST

START_TEST(running_out_of_fds_is_a_system_error_and_leaks_none)
{
	struct rlimit limit = {.rlim_cur = 40, .rlim_max = 40};
	int fds[64], count = 0, refused = 0;
	int32_t r;

	copy_helper("good");
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (; count < 64; count++) {
		fds[count] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fds[count] < 0)
			break;
	}
	ck_assert_int_gt(count, 10);
	/* room for one more fd at each round, until it starts */
	do {
		ab_helper h = {.control_fd = -1};

		r = ab_helper_start(context, "good", -1, HELLO_MS, &h, NULL);
		ck_assert(r == 0 || r == AGENTBOX_ESYS ||
			  r == AGENTBOX_EHELPER);
		refused += r != 0;
		ab_helper_stop(&h, HELLO_MS);
		close(fds[--count]);
	} while (r && count);
	ck_assert_int_eq(r, 0);
	ck_assert_int_gt(refused, 3);
	while (count)
		close(fds[--count]);
}
END_TEST

static bool torture_start(void *data)
{
	agentbox_error *err = NULL;
	agentbox_context *c = NULL;
	ab_helper h = {.control_fd = -1};
	bool good;

	(void)data;
	good = agentbox_context_new(&c, &err) == 0 &&
	       agentbox_context_set_helper_dir(c, dir, &err) == 0 &&
	       ab_helper_start(c, "good", -1, HELLO_MS, &h, &err) == 0;
	ck_assert(good || agentbox_error_get_code(err) == AGENTBOX_ENOMEM);
	ab_helper_stop(&h, HELLO_MS);
	agentbox_context_unref(c);
	agentbox_error_free(err);
	return good;
}

START_TEST(every_failed_allocation_starts_nothing)
{
	copy_helper("good");
	if (!ab_torture_available())
		return;
	ck_assert_uint_ge(ab_torture(torture_start, NULL, 100, NULL), 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("base_spawn");
	TCase *tc = tcase_create("helper");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_helper_starts_and_ends_with_its_socket);
	tcase_add_test(tc, a_helper_gets_exactly_what_the_contract_says);
	tcase_add_test(tc, a_host_without_standard_streams_can_start_one);
	tcase_add_test(tc, a_host_that_ignores_sigchld_can_start_and_stop);
	tcase_add_test(tc, a_host_that_reaps_blindly_can_start_and_stop);
	tcase_add_test(tc, a_start_in_two_steps_is_a_start);
	tcase_add_test(tc, a_cancelled_start_leaves_nobody);
	tcase_add_test(tc, threads_start_helpers_side_by_side);
	tcase_add_test(tc, a_stubborn_helper_is_killed);
	tcase_add_test(tc, stopping_nothing_touches_nothing);
	tcase_add_loop_test(tc, a_helper_that_misbehaves_is_refused_and_reaped,
			    0, AB_ARRAY_LEN(bad_rows));
	tcase_add_test(tc, a_missing_helper_is_named_with_its_directory);
	tcase_add_test(tc, to_install_it_is_said_only_of_what_is_missing);
	tcase_add_test(tc, what_others_can_write_is_refused);
	tcase_add_test(tc, what_others_own_is_refused);
	tcase_add_test(tc, a_link_or_a_directory_is_no_helper);
	tcase_add_test(tc, a_file_that_cannot_run_is_refused);
	tcase_add_test(tc, a_name_with_a_slash_is_the_callers_defect);
	tcase_add_test(tc, the_default_directories_are_tried_and_named);
	tcase_add_test(tc, running_out_of_fds_is_a_system_error_and_leaks_none);
	tcase_add_test(tc, every_failed_allocation_starts_nothing);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
