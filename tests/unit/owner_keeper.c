/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-keeper as a tool uses it: started, told to raise a box, used from
 * another process, told to let it go, gone when idle.
 */
#include "config.h"

#include <agentbox/agentbox.h>
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"

static const char up[] =
	"{\"command\":\"up\",\"name\":\"kept\",\"policy\":"
	"{\"agentbox\":1,\"extends\":\"builtin:strict\"}}";

static char state[4096];
static agentbox_context *context;
static pid_t keeper;
static const char *idle = "1"; /* seconds */

static void start_keeper(void)
{
	char program[4200];

	snprintf(program, sizeof(program), "%s/agentbox-keeper",
		 ab_test_helper_dir());
	fflush(NULL);
	keeper = fork();
	ck_assert_int_ge(keeper, 0);
	if (keeper == 0) {
		execl(program, "agentbox-keeper", "--state", state,
		      "--helper-dir", ab_test_helper_dir(), "--idle", idle,
		      (char *)NULL);
		_exit(127);
	}
}

static agentbox_remote *reach(void)
{
	agentbox_remote *remote = NULL;

	for (int i = 0; i < 500; i++) {
		if (agentbox_remote_open_owner(context, "keeper", &remote,
					       NULL) == 0)
			return remote;
		poll(NULL, 0, 20);
	}
	ck_abort_msg("the keeper does not answer");
	return NULL;
}

static void setup(void)
{
	static int n;

	snprintf(state, sizeof(state), "%s/keeper-%d-%d", ab_test_tmpdir(),
		 (int)getpid(), n++);
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	ck_assert_int_eq(agentbox_context_set_state_dir(context, state, NULL),
			 0);
	start_keeper();
}

static void teardown(void)
{
	if (keeper > 0) {
		kill(keeper, SIGTERM);
		waitpid(keeper, NULL, 0);
	}
	keeper = 0;
	agentbox_context_unref(context);
}

static int32_t call(agentbox_remote *remote, const char *json, char *text,
		    size_t size)
{
	agentbox_bytes *reply = NULL;
	agentbox_error *err = NULL;

	int32_t rc = agentbox_remote_call(remote, json, 20000, &reply, &err);
	snprintf(text, size, "%s", rc < 0 ? agentbox_error_get_message(err)
					  : agentbox_bytes_get_data(reply));
	agentbox_bytes_free(reply);
	agentbox_error_free(err);
	return rc;
}

static int32_t run_true(void)
{
	const char *argv[] = { "true" };
	agentbox_remote *remote = NULL;
	agentbox_command *command = NULL;
	agentbox_process *process = NULL;

	int32_t rc = agentbox_remote_open(context, "kept", &remote, NULL);
	if (rc < 0)
		return rc;
	agentbox_command_new(argv, 1, &command, NULL);
	rc = agentbox_remote_spawn(remote, command, &process, NULL);
	agentbox_remote_free(remote);
	agentbox_command_free(command);
	if (rc == 0)
		rc = agentbox_process_wait(process, 10000, NULL);
	if (rc == 0)
		rc = agentbox_process_get_exit_status(process);
	agentbox_process_free(process);
	return rc;
}

START_TEST(a_kept_box_serves_one_command_line_after_another)
{
	char text[512];
	agentbox_remote *remote = reach();

	int32_t rc = call(remote, up, text, sizeof(text));
	if (rc == AGENTBOX_EWALL) {
		ab_test_skip("a_kept_box_serves_one_command_line_after_another",
			     text);
		agentbox_remote_free(remote);
		return;
	}
	ck_assert_msg(rc == 0, "%s", text);
	ck_assert_ptr_nonnull(strstr(text, "\"id\""));
	ck_assert_int_eq(call(remote, up, text, sizeof(text)),
			 AGENTBOX_EEXIST);
	ck_assert_int_eq(run_true(), 0);
	ck_assert_int_eq(run_true(), 0);
	ck_assert_int_eq(call(remote, "{\"command\":\"down\",\"box\":\"kept\"}",
			      text, sizeof(text)), 0);
	ck_assert_int_eq(run_true(), AGENTBOX_ENOTFOUND);
	agentbox_remote_free(remote);
}
END_TEST

START_TEST(a_bad_policy_is_refused_with_its_place)
{
	char text[512];
	agentbox_remote *remote = reach();

	ck_assert_int_eq(call(remote, "{\"command\":\"up\",\"name\":\"kept\","
			      "\"policy\":{\"agentbox\":1,\"egres\":1}}",
			      text, sizeof(text)), AGENTBOX_EPOLICY);
	ck_assert_ptr_nonnull(strstr(text, "egres"));
	ck_assert_int_eq(call(remote, "not json", text, sizeof(text)),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(call(remote, "{\"command\":\"reboot\"}", text,
			      sizeof(text)), AGENTBOX_EINVAL);
	agentbox_remote_free(remote);
}
END_TEST

START_TEST(an_idle_keeper_goes_away)
{
	int status = -1;

	agentbox_remote_free(reach());
	for (int i = 0; i < 500; i++) {
		if (waitpid(keeper, &status, WNOHANG) == keeper) {
			keeper = 0;
			break;
		}
		poll(NULL, 0, 20);
	}
	ck_assert_int_eq(keeper, 0);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* Its loop must not sleep through a signal, whenever that comes. */
START_TEST(a_keeper_that_is_told_to_end_ends)
{
	static const int signals[] = { SIGTERM, SIGINT };

	idle = "1000"; /* being idle must not end it first */
	for (int i = 0; i < 20; i++) {
		int status = -1;

		if (!keeper)
			start_keeper();
		agentbox_remote_free(reach());
		poll(NULL, 0, i % 4);
		ck_assert_int_eq(kill(keeper, signals[i % 2]), 0);
		for (int ms = 0; ms < 10000; ms += 10) {
			if (waitpid(keeper, &status, WNOHANG) == keeper)
				break;
			poll(NULL, 0, 10);
		}
		ck_assert_int_eq(status, 0);
		keeper = 0;
	}
}
END_TEST

START_TEST(a_second_keeper_for_one_directory_is_refused)
{
	int status = -1;
	pid_t first = keeper;

	agentbox_remote_free(reach());
	start_keeper();
	ck_assert_int_eq(waitpid(keeper, &status, 0), keeper);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 125);
	keeper = first;
}
END_TEST

int main(void)
{
	Suite *s = suite_create("owner_keeper");
	TCase *t = tcase_create("keeper");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_kept_box_serves_one_command_line_after_another);
	tcase_add_test(t, a_bad_policy_is_refused_with_its_place);
	tcase_add_test(t, an_idle_keeper_goes_away);
	tcase_add_test(t, a_keeper_that_is_told_to_end_ends);
	tcase_add_test(t, a_second_keeper_for_one_directory_is_refused);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
