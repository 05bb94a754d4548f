/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What agentbox-init says where the kernel refuses something: the name of
 * the wall and a sentence, by which the host picks a weaker tier or gives
 * up (lib/walls/report.c). Simulated with seccomp filters that the helper
 * inherits. Sandbox cases 80-86 at the level of the helper.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"
#include "base/attr.h"
#include "cover_proc.h"
#include "init_harness.h"

#define ANY 0u

static char helper[4096];
static ih_plan plan;
static ih_box box;

/* For good, and only in the process of one test: a call, or some flags. */
static void refuse(long nr, uint32_t flags, int with)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), /* nr */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 16), /* args[0], low */
		BPF_JUMP(flags ? BPF_JMP | BPF_JSET | BPF_K
			       : BPF_JMP | BPF_JGE | BPF_K,
			 flags, 0, 1),
		BPF_STMT(BPF_RET | BPF_K,
			 SECCOMP_RET_ERRNO | (uint32_t)with),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {AB_ARRAY_LEN(code), code};

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program),
			 0);
}

static void fails_at(const char *stage, int sys_errno)
{
	ck_assert_int_eq(ih_raise(&box, helper, &plan.p), -ECANCELED);
	ck_assert_str_eq(box.failed_stage, stage);
	ck_assert_int_eq(box.failed_errno, sys_errno);
	ck_assert_uint_gt(strlen(box.failed_message), 10);
	/* the host adds it */
	ck_assert_ptr_null(strstr(box.failed_message, strerror(sys_errno)));
}

static void setup(void)
{
	ab_leak_setup();
	ih_plan_init(&plan);
}

START_TEST(a_missing_user_namespace_is_named)
{
	refuse(SYS_clone, CLONE_NEWUSER, EPERM);
	fails_at("userns", EPERM);
}
END_TEST

START_TEST(a_missing_user_namespace_is_named_where_it_maps_ids)
{
	if (geteuid() == 0)
		plan.steps[0].flags |= AB_MOUNT_IDMAP;
	refuse(SYS_clone, CLONE_NEWUSER, ENOSPC);
	fails_at("userns", ENOSPC);
}
END_TEST

START_TEST(a_single_missing_namespace_is_named)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} rows[] = {
		{CLONE_NEWNS, "mountns"},     {CLONE_NEWPID, "pidns"},
		{CLONE_NEWIPC, "ipcns"},      {CLONE_NEWUTS, "utsns"},
		{CLONE_NEWCGROUP, "cgroupns"},
	};

	refuse(SYS_clone, rows[_i].flag, EPERM);
	fails_at(rows[_i].name, EPERM);
}
END_TEST

START_TEST(a_missing_network_namespace_is_named)
{
	refuse(SYS_clone, CLONE_NEWNET, EPERM);
	refuse(SYS_unshare, CLONE_NEWNET, EPERM);
	fails_at("netns", EPERM);
}
END_TEST

START_TEST(a_filter_that_refuses_mounting_is_a_missing_namespace)
{
	static const long calls[] = {SYS_open_tree, SYS_mount, SYS_fsopen};

	refuse(calls[_i], ANY, _i == 2 ? ENOSYS : EPERM);
	fails_at("mountns", _i == 2 ? ENOSYS : EPERM);
}
END_TEST

START_TEST(a_refused_proc_is_named)
{
	int pid, status;

	pid = fork();
	if (pid == 0) {
		if (cover_procs())
			_exit(2);
		fails_at("proc", EPERM);
		ck_assert_ptr_nonnull(strstr(box.failed_message, "'/proc'"));
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

START_TEST(a_step_that_fails_is_still_a_step)
{
	ih_bind(&plan, "/etc", "/etc", AB_MOUNT_RDONLY)->ino++;
	ck_assert_int_eq(ih_raise(&box, helper, &plan.p), -ECANCELED);
	ck_assert(!strncmp(box.failed_stage, "mounts[", 7));
	ck_assert_int_eq(box.failed_errno, ESTALE);
}
END_TEST

START_TEST(no_file_system_of_a_box_holds_files_without_end)
{
	static char out[256];

	ih_step(&plan, AB_STEP_TMPFS, "/small")->size = 1 << 20;
	ih_step(&plan, AB_STEP_TMPFS, "/middle")->size = 64 << 20;
	ck_assert_int_eq(ih_raise(&box, helper, &plan.p), 0);
	ck_assert_int_eq(ih_shell(&box,
				  "stat -fc %c / /small /middle /tmp /dev "
				  "/dev/shm",
				  out, sizeof(out)),
			 0);
	/* /dev is of the root */
	ck_assert_str_eq(out, "65536\n1024\n16384\n262144\n65536\n1024\n");
	ck_assert(ih_end(&box));
}
END_TEST

/* In the root, which ends read-only; in what may be written, by itself. */
START_TEST(nothing_is_made_in_a_dev_wherever_it_is)
{
	static char out[256];

	ih_step(&plan, AB_STEP_DEV, "/tmp/dev");
	ck_assert_int_eq(ih_raise(&box, helper, &plan.p), 0);
	ck_assert_int_eq(
		ih_shell(&box,
			 "for d in /dev /tmp/dev; do touch $d/x; mkdir $d/y; "
			 "ln -s x $d/z; rm $d/fd $d/null; mv $d $d.2; "
			 "echo x >$d/null; ls $d | wc -l; done 2>/dev/null; "
			 "stat -fc %c /tmp/dev",
			 out, sizeof(out)),
		0);
	ck_assert_str_eq(out, "13\n13\n1024\n");
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(a_bare_box_drops_nothing)
{
	static char out[256], before[64];
	FILE *f = fopen("/proc/self/status", "re");

	while (fgets(before, sizeof(before), f) &&
	       strncmp(before, "CapPrm", 6) != 0)
		;
	fclose(f);
	ih_plan_flatten(&plan);
	plan.p.tier = AB_TIER_BARE;
	plan.p.seccomp_len = 0;
	plan.p.landlock_abi = 0;
	plan.p.landlock_fs = plan.p.landlock_scope = 0;
	plan.p.rule_count = 0;
	ck_assert_int_eq(ih_raise(&box, helper, &plan.p), 0);
	ck_assert_int_eq(ih_shell(&box, "grep -h CapPrm /proc/self/status",
				  out, sizeof(out)),
			 0);
	ck_assert_str_eq(out, before);
	ck_assert_int_eq(ih_shell(&box, "grep -h NoNewPrivs /proc/self/status",
				  out, sizeof(out)),
			 0);
	ck_assert_str_eq(out, "NoNewPrivs:\t0\n");
	ck_assert(ih_end(&box));
}
END_TEST

/* Whether the host runs before others cannot be known then. */
START_TEST(a_box_that_may_run_before_others_is_refused)
{
	static const struct {
		long nr;
		const char *stage;
	} rows[] = {
		{SYS_sched_getscheduler, "scheduling: policy"},
		{SYS_getpriority, "scheduling: nice value"},
		{SYS_ioprio_get, "scheduling: i/o class"},
	};

	refuse(rows[_i].nr, ANY, EPERM);
	fails_at(rows[_i].stage, EPERM);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("init_lacks");
	TCase *tc = tcase_create("lacks");
	SRunner *runner;
	int failed;

	snprintf(helper, sizeof(helper), "%s/agentbox-init",
		 ab_test_helper_dir());
	ih_needs_namespaces(helper);
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, ab_leak_teardown);
	tcase_add_test(tc, a_missing_user_namespace_is_named);
	tcase_add_test(tc, a_missing_user_namespace_is_named_where_it_maps_ids);
	tcase_add_loop_test(tc, a_single_missing_namespace_is_named, 0, 5);
	tcase_add_test(tc, a_missing_network_namespace_is_named);
	tcase_add_loop_test(
		tc, a_filter_that_refuses_mounting_is_a_missing_namespace, 0,
		3);
	tcase_add_test(tc, a_refused_proc_is_named);
	tcase_add_test(tc, a_step_that_fails_is_still_a_step);
	tcase_add_test(tc, no_file_system_of_a_box_holds_files_without_end);
	tcase_add_test(tc, nothing_is_made_in_a_dev_wherever_it_is);
	tcase_add_loop_test(tc, a_box_that_may_run_before_others_is_refused, 0,
			    3);
	tcase_add_test(tc, a_bare_box_drops_nothing);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
