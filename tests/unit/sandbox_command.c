/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox_command: which descriptors may go into a box (row 104 and 105 of
 * the sandbox cases, before any box is involved) and what is refused.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abtest.h"
#include "base/alloc.h"
#include "sandbox/internal.h"

static agentbox_command *command(void)
{
	const char *argv[] = { "true" };
	agentbox_command *c = NULL;

	ck_assert_int_eq(agentbox_command_new(argv, 1, &c, NULL), 0);
	return c;
}

/* Sets `fd` as stdin and closes it; the code, or a relay as 1. */
static int32_t judged(int fd)
{
	agentbox_command *c = command();

	ck_assert_int_ge(fd, 0);
	int32_t rc = agentbox_command_set_fd(c, 0, fd, NULL);
	if (rc == 0 && c->fds[0].relay)
		rc = 1;
	if (rc < 0)
		ck_assert_uint_eq(c->fd_count, 0);
	agentbox_command_free(c);
	close(fd);
	return rc;
}

START_TEST(a_directory_is_refused)
{
	ck_assert_int_eq(judged(open("/", O_RDONLY | O_DIRECTORY)),
			 AGENTBOX_EDENIED);
}
END_TEST

START_TEST(an_o_path_descriptor_is_refused)
{
	ck_assert_int_eq(judged(open("/", O_PATH)), AGENTBOX_EDENIED);
	ck_assert_int_eq(judged(open("/dev/null", O_PATH)), AGENTBOX_EDENIED);
}
END_TEST

START_TEST(a_namespace_descriptor_is_refused)
{
	ck_assert_int_eq(judged(open("/proc/self/ns/mnt", O_RDONLY)),
			 AGENTBOX_EDENIED);
}
END_TEST

START_TEST(a_pidfd_is_refused)
{
	ck_assert_int_eq(judged((int)syscall(SYS_pidfd_open, getpid(), 0)),
			 AGENTBOX_EDENIED);
}
END_TEST

START_TEST(a_file_of_proc_is_refused)
{
	ck_assert_int_eq(judged(open("/proc/self/mem", O_RDONLY)),
			 AGENTBOX_EDENIED);
	ck_assert_int_eq(judged(open("/proc/self/environ", O_RDONLY)),
			 AGENTBOX_EDENIED);
}
END_TEST

START_TEST(anonymous_inodes_are_refused)
{
	ck_assert_int_eq(judged(epoll_create1(EPOLL_CLOEXEC)),
			 AGENTBOX_EDENIED);
	ck_assert_int_eq(judged(eventfd(0, EFD_CLOEXEC)), AGENTBOX_EDENIED);
}
END_TEST

START_TEST(other_character_devices_are_refused)
{
	ck_assert_int_eq(judged(open("/dev/zero", O_RDONLY)),
			 AGENTBOX_EDENIED);
}
END_TEST

START_TEST(a_file_open_for_both_is_refused)
{
	char name[] = "/tmp/agentbox-test-XXXXXX";
	int fd = mkostemp(name, O_CLOEXEC);

	unlink(name);
	ck_assert_int_eq(judged(fd), AGENTBOX_EDENIED);
}
END_TEST

START_TEST(a_file_open_one_way_is_relayed)
{
	char name[] = "/tmp/agentbox-test-XXXXXX";
	int fd = mkostemp(name, O_CLOEXEC);

	close(fd);
	ck_assert_int_eq(judged(open(name, O_RDONLY)), 1);
	ck_assert_int_eq(judged(open(name, O_WRONLY)), 1);
	ck_assert_int_eq(judged(open(name, O_WRONLY | O_APPEND)), 1);
	unlink(name);
}
END_TEST

START_TEST(pipes_sockets_terminals_and_null_pass)
{
	int p[2], s[2], leader, follower;

	ck_assert_int_eq(pipe(p), 0);
	ck_assert_int_eq(judged(p[0]), 0);
	ck_assert_int_eq(judged(p[1]), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
	ck_assert_int_eq(judged(s[0]), 0);
	ck_assert_int_eq(judged(s[1]), 0);
	if (openpty(&leader, &follower, NULL, NULL, NULL) == 0) {
		ck_assert_int_eq(judged(follower), 0);
		close(leader);
	}
	ck_assert_int_eq(judged(open("/dev/null", O_RDWR)), 0);
}
END_TEST

START_TEST(a_closed_descriptor_is_an_argument_error)
{
	agentbox_command *c = command();

	ck_assert_int_eq(agentbox_command_set_fd(c, 0, 777, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_command_set_fd(c, -1, 0, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_command_set_fd(c, 0, -1, NULL),
			 AGENTBOX_EINVAL);
	agentbox_command_free(c);
}
END_TEST

START_TEST(a_target_set_twice_keeps_the_last)
{
	agentbox_command *c = command();
	int p[2];

	ck_assert_int_eq(pipe(p), 0);
	ck_assert_int_eq(agentbox_command_set_fd(c, 5, p[0], NULL), 0);
	ck_assert_int_eq(agentbox_command_set_fd(c, 5, p[1], NULL), 0);
	ck_assert_uint_eq(c->fd_count, 1);
	close(p[0]);
	close(p[1]);
	agentbox_command_free(c);
}
END_TEST

START_TEST(empty_and_null_commands_are_refused)
{
	agentbox_command *c = NULL;
	const char *empty[] = { "" };
	const char *hole[] = { "sh", NULL, "x" };

	ck_assert_int_eq(agentbox_command_new(NULL, 1, &c, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_command_new(empty, 0, &c, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_command_new(empty, 1, &c, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_command_new(hole, 3, &c, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_ptr_null(c);
}
END_TEST

START_TEST(names_with_an_equals_sign_are_refused)
{
	agentbox_command *c = command();

	ck_assert_int_eq(agentbox_command_set_env(c, "A=B", "x", NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_command_set_env(c, "", "x", NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_command_set_host_env(c, "A", NULL, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_command_set_env(c, "A", "x", NULL), 0);
	agentbox_command_free(c);
}
END_TEST

START_TEST(a_relative_cwd_is_refused)
{
	agentbox_command *c = command();

	ck_assert_int_eq(agentbox_command_set_cwd(c, "src", NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_command_set_cwd(c, "/src", NULL), 0);
	agentbox_command_free(c);
}
END_TEST

static int count_env(char **envp, const char *item)
{
	int found = 0;

	for (size_t i = 0; envp[i]; i++)
		found += !item || strcmp(envp[i], item) == 0;
	return found;
}

START_TEST(only_what_the_policy_passes_reaches_the_command)
{
	static const char doc[] =
		"{\"agentbox\":1,\"env\":{\"set\":{\"PATH\":\"/bin\"},"
		"\"pass\":[\"LANG\"]}}";
	agentbox_context *context = NULL;
	agentbox_policy *policy = NULL;
	agentbox_error *err = NULL;
	agentbox_command *c = command();
	char **envp = NULL;
	size_t n = 0;

	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	int32_t rc = agentbox_policy_parse(context, doc, sizeof(doc) - 1,
					   &policy, &err);
	ck_assert_msg(rc == 0, "%s", agentbox_error_get_message(err));
	agentbox_command_set_host_env(c, "LANG", "C", NULL);
	agentbox_command_set_host_env(c, "AWS_SECRET_ACCESS_KEY", "x", NULL);
	agentbox_command_set_host_env(c, "PATH", "/evil", NULL);
	agentbox_command_set_env(c, "MINE", "1", NULL);

	ck_assert_int_eq(ab_environment_build(policy, NULL, NULL, c, &envp,
					      &n, NULL), 0);
	ck_assert_int_eq(count_env(envp, NULL), (int)n);
	ck_assert_uint_eq(n, 3);
	ck_assert_int_eq(count_env(envp, "PATH=/bin"), 1);
	ck_assert_int_eq(count_env(envp, "LANG=C"), 1);
	ck_assert_int_eq(count_env(envp, "MINE=1"), 1);
	ab_environment_free(envp);

	agentbox_command_set_env(c, "PATH", NULL, NULL);
	ck_assert_int_eq(ab_environment_build(policy, NULL, NULL, c, &envp,
					      &n, NULL), 0);
	ck_assert_uint_eq(n, 2);
	ab_environment_free(envp);

	agentbox_command_free(c);
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sandbox_command");
	TCase *t = tcase_create("command");

	tcase_add_test(t, a_directory_is_refused);
	tcase_add_test(t, an_o_path_descriptor_is_refused);
	tcase_add_test(t, a_namespace_descriptor_is_refused);
	tcase_add_test(t, a_pidfd_is_refused);
	tcase_add_test(t, a_file_of_proc_is_refused);
	tcase_add_test(t, anonymous_inodes_are_refused);
	tcase_add_test(t, other_character_devices_are_refused);
	tcase_add_test(t, a_file_open_for_both_is_refused);
	tcase_add_test(t, a_file_open_one_way_is_relayed);
	tcase_add_test(t, pipes_sockets_terminals_and_null_pass);
	tcase_add_test(t, a_closed_descriptor_is_an_argument_error);
	tcase_add_test(t, a_target_set_twice_keeps_the_last);
	tcase_add_test(t, empty_and_null_commands_are_refused);
	tcase_add_test(t, names_with_an_equals_sign_are_refused);
	tcase_add_test(t, a_relative_cwd_is_refused);
	tcase_add_test(t, only_what_the_policy_passes_reaches_the_command);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
