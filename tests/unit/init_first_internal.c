/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The first launcher works beside PID 1 before there is a tree. What it does
 * there, and what happens where it cannot, must not show in the box.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abtest.h"
#include "init_harness.h"

static char helper[4096];
static ih_box box;
static ih_plan plan;

static void raise_box(void)
{
	int r = ih_raise(&box, helper, &plan.p);

	ck_assert_msg(r == 0, "%s: %s", box.failed_stage, box.failed_message);
}

/* The mount lets everybody make a file in /var, no rule of Landlock does. */
static void expect_landlock(void)
{
	char out[256];

	ck_assert_int_eq(ih_shell(&box, "grep Seccomp: /proc/self/status; "
				  "touch /tmp/x && echo yes; "
				  "touch /var/x 2>/dev/null || echo no",
				  out, sizeof(out)), 0);
	ck_assert_str_eq(out, "Seccomp:\t2\nyes\nno\n");
}

static void refuse_landlock_by(uint32_t action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_restrict_self,
			 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	ab_msg_reply m;

	ih_plan_init(&plan);
	if (!plan.p.landlock_abi)
		return;
	plan.p.seccomp = filter;
	plan.p.seccomp_len = sizeof(filter);
	ih_step(&plan, AB_STEP_TMPFS, "/var");
	raise_box();
	ck_assert(box.walls & AB_WALL_LANDLOCK);
	ck_assert(box.walls & AB_WALL_SECCOMP);
	expect_landlock();
	/* whoever took its place is the launcher, once and for all */
	ck_assert_int_eq(ih_request(&box, AB_MSG_STATISTICS, 0, -1, &m, NULL),
			 0);
	ck_assert_uint_eq(m.values[2], box.launcher);
	ck_assert_uint_eq(m.values[3], 0);
	ck_assert(ih_end(&box));
}

START_TEST(a_filter_that_refuses_landlock_does_not_keep_it_away)
{
	refuse_landlock_by(SECCOMP_RET_ERRNO | EPERM);
	refuse_landlock_by(SECCOMP_RET_ERRNO);
	refuse_landlock_by(SECCOMP_RET_KILL_PROCESS);
}
END_TEST

START_TEST(landlock_stands_in_the_usual_order_too)
{
	ih_plan_init(&plan);
	if (!plan.p.landlock_abi)
		return;
	ih_step(&plan, AB_STEP_TMPFS, "/var");
	raise_box();
	expect_landlock();
	ck_assert(ih_end(&box));
}
END_TEST

static void add_file(const char *path, const char *text)
{
	ab_plan_step *s = ih_step(&plan, AB_STEP_FILE, path);

	s->content = text;
	s->content_len = strlen(text);
	s->mode = 0444;
}

/* Files below something that is mounted wait for it; the others do not. */
START_TEST(files_are_where_the_order_of_the_plan_puts_them)
{
	char out[256];

	ih_plan_init(&plan);
	add_file("/etc/a", "a\n");
	add_file("/etc/deep/er/b", "b\n");
	ih_step(&plan, AB_STEP_TMPFS, "/var");
	add_file("/var/c", "c\n");
	add_file("/tmp/d", "d\n");
	add_file("/hidden/e", "e\n");
	ih_step(&plan, AB_STEP_HIDE, "/hidden");
	raise_box();
	ck_assert_int_eq(ih_shell(&box, "cat /etc/a /etc/deep/er/b /var/c "
				  "/tmp/d; cat /hidden/e 2>/dev/null || "
				  "echo hidden; echo x 2>/dev/null >/etc/a || "
				  "echo ro",
				  out, sizeof(out)), 0);
	ck_assert_str_eq(out, "a\nb\nc\nd\nhidden\nro\n");
	ck_assert(ih_end(&box));
}
END_TEST

/* PID 1 and the first launcher take them in turns, as they have time. */
START_TEST(each_of_many_files_is_there_whoever_wrote_it)
{
	enum { FILES = 150 };
	static char names[FILES][32];
	static ab_plan_step steps[FILES + 50];
	char out[64];

	for (int round = 0; round < 5; round++) {
		ih_plan_init(&plan);
		memcpy(steps, plan.steps, plan.p.step_count * sizeof(*steps));
		plan.p.steps = steps;
		for (int i = 0; i < FILES; i++) {
			ab_plan_step *s = &steps[plan.p.step_count++];

			snprintf(names[i], sizeof(names[i]), "/many/%d", i);
			*s = (ab_plan_step){ .kind = AB_STEP_FILE,
					     .source = "",
					     .target = names[i],
					     .content = names[i],
					     .content_len = strlen(names[i]) };
		}
		raise_box();
		ck_assert_int_eq(ih_shell(&box, "for f in /many/*; do "
					  "read -r line < $f; "
					  "[ $line = $f ] && echo; "
					  "done | wc -l", out, sizeof(out)),
				 0);
		ck_assert_str_eq(out, "150\n");
		ck_assert(ih_end(&box));
	}
}
END_TEST

START_TEST(a_file_that_cannot_be_written_is_named)
{
	char stage[64];

	ih_plan_init(&plan);
	add_file("/etc/a", "a\n");
	ih_step(&plan, AB_STEP_SYMLINK, "/link")->source = "usr";
	snprintf(stage, sizeof(stage), "mounts[%u] /etc/a", plan.p.step_count);
	add_file("/etc/a", "b\n");
	ck_assert_int_eq(ih_raise(&box, helper, &plan.p), -ECANCELED);
	/* the second is not free, so it comes after the first in any case */
	ck_assert_int_eq(box.failed_errno, EEXIST);
	ck_assert_msg(!strncmp(box.failed_stage, "mounts[", 7), "%s",
		      box.failed_stage);
}
END_TEST

START_TEST(no_launcher_takes_the_place_of_one_that_is_done)
{
	ab_msg_reply m = {0};

	ih_plan_init(&plan);
	raise_box();
	ck_assert_int_eq(shutdown(box.spawn, SHUT_WR), 0);
	for (int i = 0; i < 1000; i++) {
		struct timespec ms = {.tv_nsec = 1000000};

		ck_assert_int_eq(ih_request(&box, AB_MSG_STATISTICS, 0, -1,
					    &m, NULL), 0);
		if (m.values[2] == 0)
			break;
		nanosleep(&ms, NULL);
	}
	ck_assert_uint_eq(m.values[2], 0);
	ck_assert_uint_eq(m.values[3], 0);
	ck_assert(ih_end(&box));
}
END_TEST

/* A host that has given up meanwhile; it waits for the holder only. */
START_TEST(a_box_nobody_hears_of_is_gone_before_its_holder)
{
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	ih_plan_init(&plan);
	ck_assert_int_eq(ih_raise_deaf(helper, &plan.p), 0);
	/* PID 1 would be ours now */
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("init_first");
	TCase *tc = tcase_create("first");
	SRunner *sr = srunner_create(s);
	int failed;

	snprintf(helper, sizeof(helper), "%s/agentbox-init",
		 ab_test_helper_dir());
	ih_needs_namespaces(helper);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc,
		       a_filter_that_refuses_landlock_does_not_keep_it_away);
	tcase_add_test(tc, landlock_stands_in_the_usual_order_too);
	tcase_add_test(tc, files_are_where_the_order_of_the_plan_puts_them);
	tcase_add_test(tc, each_of_many_files_is_there_whoever_wrote_it);
	tcase_add_test(tc, a_file_that_cannot_be_written_is_named);
	tcase_add_test(tc, no_launcher_takes_the_place_of_one_that_is_done);
	tcase_add_test(tc, a_box_nobody_hears_of_is_gone_before_its_holder);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
