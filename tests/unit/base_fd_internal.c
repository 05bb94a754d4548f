/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* File descriptors, and the context's state directory and log. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/fork_mark.h"

#include "abtest.h"

static char dir[256];

static void setup(void)
{
	ab_leak_setup();
	snprintf(dir, sizeof(dir), "%s/base-XXXXXX", ab_test_tmpdir());
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(command), 0);
	ab_leak_teardown();
}

static int file_of(const char *p, size_t n)
{
	int fd = memfd_create("f", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ck_assert_int_eq(ab_fd_write_full(fd, p, n), 0);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

START_TEST(duplicates_stay_above_the_standard_streams)
{
	int fd = ab_fd_dup(1), high;

	ck_assert_int_ge(fd, 3);
	ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	high = ab_fd_dup_from(fd, 50);
	ck_assert_int_ge(high, 50);
	ck_assert_int_eq(ab_fd_lift(high), high);
	ck_assert_int_eq(ab_fd_lift(-5), -5);
	close(fd);
	close(high);
	ck_assert_int_eq(ab_fd_dup(fd), -EBADF);
}
END_TEST

START_TEST(slurp_takes_up_to_max_and_not_one_byte_more)
{
	static const size_t sizes[] = {0, 1, 4094, 4095, 4096, 4097, 100001};

	for (size_t i = 0; i < AB_ARRAY_LEN(sizes); i++) {
		ab_autofree char *in = ab_calloc(sizes[i] + 1, 1);
		char *out = NULL;
		size_t n = 9;
		int fd;

		memset(in, 'x', sizes[i]);
		fd = file_of(in, sizes[i]);
		ck_assert_int_eq(ab_fd_slurp(fd, sizes[i], &out, &n), 0);
		ck_assert_uint_eq(n, sizes[i]);
		ck_assert_int_eq(memcmp(out, in, n + 1), 0);
		free(out);
		lseek(fd, 0, SEEK_SET);
		out = in;
		if (sizes[i])
			ck_assert_int_eq(ab_fd_slurp(fd, sizes[i] - 1, &out,
						     &n), -EFBIG);
		ck_assert_ptr_eq(out, in);
		close(fd);
	}
}
END_TEST

START_TEST(slurp_reads_pipes_and_refuses_what_may_not_end)
{
	char *out = NULL;
	int p[2], fd;
	size_t n;

	ck_assert_int_eq(pipe2(p, O_CLOEXEC), 0);
	ck_assert_int_eq(ab_fd_write_full(p[1], "abc", 3), 0);
	close(p[1]);
	ck_assert_int_eq(ab_fd_slurp(p[0], 2, &out, &n), -EFBIG);
	close(p[0]);
	fd = open(dir, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(ab_fd_slurp(fd, 10, &out, &n), -EISDIR);
	close(fd);
	fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(ab_fd_slurp(fd, 10, &out, &n), -EINVAL);
	close(fd);
	ck_assert_int_eq(ab_fd_slurp(fd, 10, &out, &n), -EBADF);
	ck_assert_ptr_null(out);
}
END_TEST

START_TEST(a_list_ends_or_breaks_off)
{
	DIR *list = ab_fd_open_list(AT_FDCWD, dir);
	struct dirent *e;
	int error = 9, null;

	ck_assert_ptr_nonnull(list);
	ck_assert_ptr_null(ab_fd_next(list, &error));
	ck_assert_int_eq(error, 0);
	ck_assert_int_eq(mkdirat(dirfd(list), "..x", 0700), 0);
	rewinddir(list);
	error = 9;
	e = ab_fd_next(list, &error);
	ck_assert_ptr_nonnull(e);
	ck_assert_str_eq(e->d_name, "..x");
	ck_assert_int_eq(error, 0);
	ck_assert_ptr_null(ab_fd_next(list, NULL));
	/* what is no directory any more breaks off */
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(dup2(null, dirfd(list)), 0);
	rewinddir(list);
	ck_assert_ptr_null(ab_fd_next(list, &error));
	ck_assert_int_eq(error, ENOTDIR);
	close(null);
	closedir(list);
}
END_TEST

START_TEST(a_sealed_memfd_is_recognised_and_nothing_else)
{
	int fd = ab_fd_memfd_sealed("x", "plan", 4), p[2];
	char text[8] = "";
	size_t n = 0;

	ck_assert_int_ge(fd, 3);
	ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	ck_assert_int_eq(ab_fd_check_sealed(fd, 4, &n), 0);
	ck_assert_uint_eq(n, 4);
	ck_assert_int_eq(ab_fd_check_sealed(fd, 3, &n), -EFBIG);
	ck_assert_int_eq(ab_fd_read_full(fd, text, 8), 4);
	ck_assert_str_eq(text, "plan");
	ck_assert_int_eq(ab_fd_write_full(fd, "x", 1), -EPERM);
	ck_assert_int_eq(ftruncate(fd, 0), -1);
	close(fd);
	fd = file_of("x", 1);
	ck_assert_int_eq(ab_fd_check_sealed(fd, 4, &n), -EPERM);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW |
						F_SEAL_WRITE), 0);
	ck_assert_int_eq(ab_fd_check_sealed(fd, 4, &n), -EPERM);
	close(fd);
	ck_assert_int_eq(pipe2(p, O_CLOEXEC), 0);
	ck_assert_int_eq(ab_fd_check_sealed(p[0], 4, &n), -EINVAL);
	close(p[0]);
	close(p[1]);
}
END_TEST

START_TEST(only_what_is_sealed_is_mapped)
{
	void *map = NULL;
	size_t n = 0;
	int fd = ab_fd_memfd_sealed("ab-test", "plan", 4);

	ck_assert_int_eq(ab_fd_map_sealed(fd, 3, &map, &n), -EFBIG);
	ck_assert_int_eq(ab_fd_map_sealed(fd, 4, &map, &n), 0);
	ck_assert_uint_eq(n, 4);
	ck_assert_mem_eq(map, "plan", 4);
	ck_assert_int_eq(munmap(map, n), 0);
	close(fd);
	fd = file_of("plan", 4);
	ck_assert_int_eq(ab_fd_map_sealed(fd, 4, &map, &n), -EPERM);
	close(fd);
	fd = ab_fd_memfd_sealed("ab-test", "", 0);
	ck_assert_int_eq(ab_fd_map_sealed(fd, 4, &map, &n), -EPROTO);
	close(fd);
}
END_TEST

START_TEST(poll_waits_as_long_as_it_was_told)
{
	int p[2];

	ck_assert_int_eq(ab_fd_seqpacket_pair(p), 0);
	ck_assert(fcntl(p[0], F_GETFD) & fcntl(p[1], F_GETFD) & FD_CLOEXEC);
	ck_assert_int_eq(ab_fd_poll(p[0], POLLIN, 0), 0);
	ck_assert_int_eq(ab_fd_poll(p[0], POLLIN, 20), 0);
	ck_assert_int_eq(ab_fd_poll(p[0], POLLOUT, -1), POLLOUT);
	ck_assert_int_eq(ab_fd_poll(p[0], POLLOUT, INT64_MAX), POLLOUT);
	close(p[1]);
	ck_assert(ab_fd_poll(p[0], POLLIN, -1) & POLLIN);
	ck_assert_int_eq(ab_fd_set_nonblock(p[0], 1), 0);
	ck_assert(fcntl(p[0], F_GETFL) & O_NONBLOCK);
	ck_assert_int_eq(ab_fd_set_nonblock(p[0], 0), 0);
	ck_assert(!(fcntl(p[0], F_GETFL) & O_NONBLOCK));
	close(p[0]);
	ck_assert_int_eq(ab_fd_set_nonblock(p[0], 1), -EBADF);
	ck_assert(ab_fd_poll(p[0], POLLIN, 0) & POLLNVAL);
}
END_TEST

START_TEST(new_fds_avoid_the_standard_streams_of_a_bare_host)
{
	int saved[3], p[2], m;

	for (int i = 0; i < 3; i++) {
		saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
		close(i);
	}
	ck_assert_int_eq(ab_fd_seqpacket_pair(p), 0);
	m = ab_fd_memfd_sealed("x", "", 0);
	ck_assert(p[0] >= 3 && p[1] >= 3 && m >= 3);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(fcntl(i, F_GETFD), -1);
	close(p[0]);
	close(p[1]);
	close(m);
	for (int i = 0; i < 3; i++) {
		dup2(saved[i], i);
		close(saved[i]);
	}
}
END_TEST

static int32_t open_state(const char *path, agentbox_error **err)
{
	agentbox_context *c = NULL;
	int32_t r;
	int fd = -7;

	ck_assert_int_eq(agentbox_context_new(&c, NULL), 0);
	ck_assert_int_eq(agentbox_context_set_state_dir(c, path, NULL), 0);
	r = ab_context_open_state(c, &fd, err);
	agentbox_context_unref(c);
	ck_assert(r == 0 ? fd >= 3 : fd == -7);
	if (r == 0)
		close(fd);
	return r;
}

static void expect_state(const char *path, int32_t code, const char *words)
{
	ab_auto(agentbox_error) *err = NULL;

	ck_assert_int_eq(open_state(path, &err), code);
	ck_assert_msg(strstr(agentbox_error_get_message(err), words), "%s",
		      agentbox_error_get_message(err));
}

START_TEST(the_state_directory_is_made_private_and_reopened)
{
	char path[512];
	struct stat st;

	umask(0);
	snprintf(path, sizeof(path), "%s/a/b/state//", dir);
	ck_assert_int_eq(open_state(path, NULL), 0);
	ck_assert_int_eq(open_state(path, NULL), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	expect_state(NULL, AGENTBOX_EINVAL, "no state directory");
}
END_TEST

START_TEST(a_state_directory_open_to_others_is_refused_with_the_remedy)
{
	char path[512];

	chmod(dir, 0750);
	expect_state(dir, AGENTBOX_EDENIED,
		     "one of its own, or run chmod 700 if it is that");
	chmod(dir, 0701);
	expect_state(dir, AGENTBOX_EDENIED, "run chmod 700");
	chmod(dir, 0700);
	snprintf(path, sizeof(path), "%s/link", dir);
	ck_assert_int_eq(symlink("/", path), 0);
	expect_state(path, AGENTBOX_EDENIED, "symbolic link");
	strcat(path, "/");
	expect_state(path, AGENTBOX_EDENIED, "symbolic link");
	snprintf(path, sizeof(path), "%s/file", dir);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	expect_state(path, AGENTBOX_EDENIED, "not a directory");
	strcat(path, "/below");
	expect_state(path, AGENTBOX_EDENIED, "not a directory");
	expect_state("/proc/self/nothing/here", AGENTBOX_ENOTFOUND,
		     "cannot create");
	if (geteuid() != 0)
		expect_state("/usr", AGENTBOX_EDENIED, "belongs to uid");
	else if (chown(dir, 12345, 12345) == 0)
		expect_state(dir, AGENTBOX_EDENIED, "belongs to uid 12345");
}
END_TEST

static void keep_line(void *data, int32_t level, const char *message)
{
	snprintf(data, 64, "%d:%s", (int)level, message);
	errno = EIO;
}

START_TEST(the_log_gets_one_clean_line)
{
	agentbox_context *c = NULL, *used;
	char line[64] = "none";

	ck_assert_int_eq(agentbox_context_new(&c, NULL), 0);
	ab_log(NULL, AGENTBOX_LOG_INFO, "x");
	ab_log(c, AGENTBOX_LOG_INFO, "x");
	ck_assert_int_eq(agentbox_context_set_log(c, keep_line, line, NULL),
			 0);
	errno = EXDEV;
	ab_log(c, AGENTBOX_LOG_WARNING, "a\n%s", "\033b");
	ck_assert_int_eq(errno, EXDEV);
	ck_assert_str_eq(line, "2:a??b");
	used = ab_context_use(c);
	ck_assert_int_eq(agentbox_context_set_log(c, NULL, NULL, NULL),
			 AGENTBOX_EBUSY);
	ck_assert_int_eq(agentbox_context_set_helper_dir(c, "/x", NULL),
			 AGENTBOX_EBUSY);
	ck_assert_int_eq(agentbox_context_set_state_dir(c, "/x", NULL),
			 AGENTBOX_EBUSY);
	agentbox_context_unref(c);
	ck_assert_ptr_null(ab_context_helper_dir(used));
	ck_assert_ptr_null(ab_context_state_dir(used));
	agentbox_context_unref(used);
}
END_TEST

static bool torture_files(void *data)
{
	agentbox_error *err = NULL;
	char path[512], *out = NULL;
	int fd = file_of("0123456789", 10);
	size_t n;
	bool good;

	(void)data;
	snprintf(path, sizeof(path), "%s/t/s", dir);
	good = ab_fd_slurp(fd, 10000, &out, &n) == 0;
	close(fd);
	free(out);
	if (good) {
		ab_auto(agentbox_context) *c = NULL;
		int state = -1;

		good = agentbox_context_new(&c, &err) == 0 &&
		       agentbox_context_set_state_dir(c, path, &err) == 0 &&
		       ab_context_open_state(c, &state, &err) == 0;
		ck_assert(good || agentbox_error_get_code(err) ==
					  AGENTBOX_ENOMEM);
		ab_cleanup_fd(&state);
	}
	rmdir(path);
	agentbox_error_free(err);
	return good;
}

START_TEST(every_failed_allocation_leaves_no_fd)
{
	if (!ab_torture_available())
		return;
	ck_assert_uint_ge(ab_torture(torture_files, NULL, 100, NULL), 4);
}
END_TEST

/* 1: a forked child takes the mark for its own. */
static int is_ours_in_a_child(const struct ab_fork_mark *m)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(ab_fork_mark_is_ours(m));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

START_TEST(a_fork_mark_is_that_of_one_process)
{
	struct ab_fork_mark m = { 0 }, asked = { .pid = getpid() };

	ck_assert(!ab_fork_mark_is_ours(&m));
	errno = 7;
	ab_fork_mark_init(&m);
	ck_assert_int_eq(errno, 7);
	ck_assert(ab_fork_mark_is_ours(&m));
	ck_assert_int_eq(is_ours_in_a_child(&m), 0);
	ck_assert(ab_fork_mark_is_ours(&m));
	ab_fork_mark_end(&m);
	ck_assert(!ab_fork_mark_is_ours(&m));
	/* where the kernel has no such page */
	ck_assert(ab_fork_mark_is_ours(&asked));
	ck_assert_int_eq(is_ours_in_a_child(&asked), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("base_fd");
	TCase *tc = tcase_create("fd");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, duplicates_stay_above_the_standard_streams);
	tcase_add_test(tc, slurp_takes_up_to_max_and_not_one_byte_more);
	tcase_add_test(tc, slurp_reads_pipes_and_refuses_what_may_not_end);
	tcase_add_test(tc, a_list_ends_or_breaks_off);
	tcase_add_test(tc, a_sealed_memfd_is_recognised_and_nothing_else);
	tcase_add_test(tc, only_what_is_sealed_is_mapped);
	tcase_add_test(tc, poll_waits_as_long_as_it_was_told);
	tcase_add_test(tc, new_fds_avoid_the_standard_streams_of_a_bare_host);
	tcase_add_test(tc, the_state_directory_is_made_private_and_reopened);
	tcase_add_test(
		tc,
		a_state_directory_open_to_others_is_refused_with_the_remedy);
	tcase_add_test(tc, the_log_gets_one_clean_line);
	tcase_add_test(tc, every_failed_allocation_leaves_no_fd);
	tcase_add_test(tc, a_fork_mark_is_that_of_one_process);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
