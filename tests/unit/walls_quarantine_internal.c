/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which quarantines of earlier boxes are taken away, and which of their
 * records keep a box from being raised: a real state directory, and a plan of
 * which only the workspace is filled in.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "walls/internal.h"

#include "abtest.h"

#define ID "0123456789abcdef0123456789abcdef"
#define WORKSPACE "/somewhere/w"

static char dir[256], message[1024];
static agentbox_context *context;

static void setup(void)
{
	char *real = realpath(ab_test_tmpdir(), NULL);
	char path[300];

	snprintf(dir, sizeof(dir), "%s/quarantine-XXXXXX", real);
	free(real);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/state", dir);
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	ck_assert_int_eq(agentbox_context_set_state_dir(context, path, NULL),
			 0);
}

static void teardown(void)
{
	char command[300];

	agentbox_context_unref(context);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(command), 0);
}

static const char *place(const char *name)
{
	static char path[400];

	snprintf(path, sizeof(path), "%s/state/quarantine/%s", dir, name);
	return path;
}

static bool is_there(const char *name)
{
	return access(place(name), F_OK) == 0;
}

/* As for a box over WORKSPACE, which is 1:2; its own directory goes again. */
static int32_t make(void)
{
	const ab_compile_input in = { .box_id = ID };
	ab_compiled out = { .plan_fd = -1 };
	ab_build b = { .context = context, .input = &in, .out = &out };
	agentbox_error *err = NULL;
	int32_t rc;

	b.workspace.fd = -1;
	b.plan.watch_count = 1;
	b.plan.workspace_dev = 1;
	b.plan.workspace_ino = 2;
	b.plan.workspace_host = WORKSPACE;
	rc = ab_quarantine_make(&b, &err);
	snprintf(message, sizeof(message), "%s",
		 agentbox_error_get_message(err));
	agentbox_error_free(err);
	if (rc == 0)
		ck_assert_int_eq(rmdir(place(ID)), 0);
	free(out.quarantine);
	free(out.record);
	ab_build_end(&b);
	return rc;
}

/* Two hours old. */
static int make_old(const char *name)
{
	struct timespec old[2] = { { .tv_sec = time(NULL) - 7200 },
				   { .tv_sec = time(NULL) - 7200 } };
	int fd;

	(void)mkdir(place(name), 0700);
	fd = open(place(name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(futimens(fd, old), 0);
	return fd;
}

/* Out of descriptors, nobody can see who lives. */
START_TEST(what_cannot_be_looked_at_is_not_taken_away)
{
	struct rlimit all, few;
	int32_t rc = -1;
	int fd, failures = 0;

	ck_assert_int_eq(make(), 0);
	fd = make_old("held");
	ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &all), 0);
	few = all;
	for (few.rlim_cur = (rlim_t)fd + 1; rc && failures < 50;
	     few.rlim_cur++) {
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
		rc = make();
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &all), 0);
		ck_assert_msg(is_there("held"), "with %d descriptors",
			      (int)few.rlim_cur);
		failures += rc != 0;
	}
	ck_assert_msg(rc == 0 && failures > 0, "%s", message);
	for (int i = 0; i < 3; i++) {
		few.rlim_cur++;
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
		ck_assert_int_eq(make(), 0);
		ck_assert(is_there("held"));
	}
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &all), 0);
	close(fd);
	ck_assert_int_eq(make(), 0);
	ck_assert_msg(!is_there("held"), "the control: it stays");
}
END_TEST

static void write_to(const char *name, const char *text)
{
	FILE *f = fopen(place(name), "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

START_TEST(the_message_says_whether_the_record_is_of_this_workspace)
{
	static const char *const unsaid[] = { "", "x", "1 2", "1 2 w", " " };

	ck_assert_int_eq(make(), 0);
	ck_assert_int_eq(mkdir(place("unsettled"), 0700), 0);
	write_to("unsettled/gone", "1 2 /elsewhere");
	ck_assert_int_eq(make(), AGENTBOX_EWALL);
	ck_assert_msg(strstr(message, "'" WORKSPACE "'") != NULL, "%s",
		      message);
	for (size_t i = 0; i < sizeof(unsaid) / sizeof(*unsaid); i++) {
		write_to("unsettled/gone", unsaid[i]);
		ck_assert_int_eq(make(), AGENTBOX_EWALL);
		ck_assert_msg(strstr(message, WORKSPACE) == NULL &&
				      strstr(message, "nobody knows") &&
				      strstr(message, "unsettled/gone"),
			      "%s", message);
	}
	write_to("unsettled/gone", "1 3 /elsewhere");
	ck_assert_int_eq(make(), 0);
}
END_TEST

/* Two killed ones: the second cannot be looked at, so it may live. */
START_TEST(who_may_live_is_waited_for)
{
	static const char *const ids[] = { "11111111111111111111111111111111",
					   "22222222222222222222222222222222" };
	char record[100];

	ck_assert_int_eq(make(), 0);
	ck_assert_int_eq(mkdir(place("unsettled"), 0700), 0);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(mkdir(place(ids[i]), 0700), 0);
		snprintf(record, sizeof(record), "unsettled/%s", ids[i]);
		write_to(record, "1 2 " WORKSPACE);
	}
	ck_assert_int_eq(make(), AGENTBOX_EWALL);
	ck_assert_msg(!strstr(message, "must have ended"), "%s", message);
	ck_assert_int_eq(rmdir(place(ids[1])), 0);
	write_to(ids[1], "no directory");
	ck_assert_int_eq(make(), AGENTBOX_EWALL);
	ck_assert_msg(strstr(message, ids[1]) &&
			      strstr(message, "must have ended"),
		      "%s", message);
}
END_TEST

/* Written to its end it gets its own name, and only then a box begins. */
START_TEST(a_record_that_is_being_written_is_about_no_workspace)
{
	int fd;

	ck_assert_int_eq(make(), 0);
	ck_assert_int_eq(mkdir(place("unsettled"), 0700), 0);
	write_to("unsettled/.new-held", "");
	fd = make_old("held");
	ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
	ck_assert_int_eq(make(), 0);
	ck_assert(is_there("unsettled/.new-held"));
	close(fd);
	ck_assert_int_eq(make(), 0);
	ck_assert(!is_there("unsettled/.new-held"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("walls_quarantine");
	TCase *tc = tcase_create("quarantine");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_cannot_be_looked_at_is_not_taken_away);
	tcase_add_test(
		tc, the_message_says_whether_the_record_is_of_this_workspace);
	tcase_add_test(tc, who_may_live_is_waited_for);
	tcase_add_test(tc,
		       a_record_that_is_being_written_is_about_no_workspace);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
