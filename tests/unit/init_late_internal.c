/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A plan in two parts: the head first, the whole later. What init makes from
 * the head is no more than the whole asks for, or there is no box.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abtest.h"
#include "base/processor.h"
#include "base/fd.h"
#include "base/limits.h"
#include "init_harness.h"
#include "wire/message.h"

static char helper[4096];
static ih_box box;
static ih_plan plan;

static int sealed(const ab_plan *p)
{
	ab_writer w;
	int fd;

	ab_writer_init(&w, AB_MAX_PLAN_BYTES);
	ck_assert_int_eq(ab_plan_encode(p, &w), 0);
	fd = ab_fd_memfd_sealed("plan", w.data, w.len);
	ab_writer_end(&w);
	ck_assert_int_ge(fd, 0);
	return fd;
}

static int raise_two(const ab_plan *head, const ab_plan *whole)
{
	int fd = sealed(whole), r;

	r = ih_raise_two(&box, helper, head, fd);
	close(fd);
	return r;
}

START_TEST(a_head_and_its_whole_raise_the_same_box)
{
	ab_plan head;
	uint32_t walls;
	char out[512];

	ih_plan_init(&plan);
	ck_assert_int_eq(ih_raise(&box, helper, &plan.p), 0);
	walls = box.walls;
	ck_assert(ih_end(&box));
	head = ab_plan_head(&plan.p);
	ck_assert_int_eq(raise_two(&head, &plan.p), 0);
	ck_assert_uint_eq(box.walls, walls);
	ck_assert_int_eq(ih_shell(&box, "id -u; hostname; cd /; echo *; "
				  "touch /usr/x 2>/dev/null || echo ro",
				  out, sizeof(out)), 0);
	ck_assert_str_eq(out, "1000\nbox\nbin dev lib lib64 proc sbin tmp usr\n"
			      "ro\n");
	ck_assert(ih_end(&box));
}
END_TEST

/* The moment in which a host moves its helper, held still. */
START_TEST(a_box_has_what_its_host_has_though_its_holder_has_less)
{
	char text[AB_PROCESSORS_TEXT], out[64], want[64];
	cpu_set_t all, one;

	ab_processor_get(&all);
	ab_processor_print(&all, text);
	snprintf(want, sizeof(want), "%d\n", CPU_COUNT(&all));
	CPU_ZERO(&one);
	for (int i = CPU_SETSIZE; i-- > 0 && !CPU_COUNT(&one);) {
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	}
	ih_plan_init(&plan);
	if (_i)
		ih_plan_flatten(&plan);
	ih_processors = text;
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	ck_assert_int_eq(ih_raise(&box, helper, &plan.p), 0);
	ck_assert_int_eq(ih_shell(&box, "nproc", out, sizeof(out)), 0);
	ck_assert_str_eq(out, want);
	ck_assert(ih_end(&box));
	ih_processors = NULL;
	ck_assert_int_eq(sched_setaffinity(0, sizeof(all), &all), 0);
}
END_TEST

START_TEST(the_weakest_tier_has_a_head_too)
{
	ab_plan head;

	ih_plan_init(&plan);
	ih_plan_flatten(&plan);
	head = ab_plan_head(&plan.p);
	ck_assert_int_eq(raise_two(&head, &plan.p), 0);
	ck_assert_uint_eq(box.walls & (AB_WALL_USERNS | AB_WALL_ROOTFS), 0);
	ck_assert(ih_end(&box));
}
END_TEST

/* A directory "in" with "bin" in it, to which only its owner comes. */
static void make_closed(char path[4096])
{
	char made[4200];

	snprintf(path, 4096, "%s/closedXXXXXX", ab_test_tmpdir());
	ck_assert_ptr_nonnull(mkdtemp(path));
	snprintf(made, sizeof(made), "%s/in", path);
	ck_assert_int_eq(mkdir(made, 0755), 0);
	strcat(made, "/bin");
	ck_assert_int_eq(mkdir(made, 0755), 0);
}

static void remove_closed(const char *path)
{
	static const char *const names[] = {"in/bin", "in", ""};
	char made[4200];

	for (int i = 0; i < 3; i++) {
		snprintf(made, sizeof(made), "%s/%s", path, names[i]);
		ck_assert_int_eq(rmdir(made), 0);
	}
}

/*
 * More trees than fit into one message: those that PID 1 makes, and of a root
 * host those that its holder makes, since PID 1 does not come to them or they
 * are to be mapped, in any order.
 */
START_TEST(many_trees_reach_pid_one)
{
	static char names[150][32];
	static ab_plan_step steps[200];
	char closed[4096], source[4200], out[64];
	ab_plan_step closed_step;
	ab_plan head;

	ih_plan_init(&plan);
	make_closed(closed);
	snprintf(source, sizeof(source), "%s/in", closed);
	closed_step = *ih_bind(&plan, source, "/in", AB_MOUNT_RDONLY);
	memcpy(steps, plan.steps, plan.p.step_count * sizeof(*steps));
	plan.p.steps = steps;
	for (int i = 0; i < 150; i++) {
		ab_plan_step *s = &steps[plan.p.step_count++];

		snprintf(names[i], sizeof(names[i]), "/trees/%d", i);
		*s = i % 3 ? closed_step : plan.steps[0];
		s->target = names[i];
		if (i % 3 == _i && geteuid() == 0)
			s->flags |= AB_MOUNT_IDMAP;
	}
	if (_i < 3) {
		head = ab_plan_head(&plan.p);
		ck_assert_int_eq(raise_two(&head, &plan.p), 0);
	} else {
		ck_assert_int_eq(ih_raise(&box, helper, &plan.p), 0);
	}
	ck_assert_uint_eq(!!(box.walls & AB_WALL_IDMAP),
			  _i < 3 && geteuid() == 0);
	ck_assert_int_eq(ih_shell(&box, "ls -d /trees/*/bin | wc -l", out,
				  sizeof(out)), 0);
	ck_assert_str_eq(out, "150\n");
	ck_assert(ih_end(&box));
	remove_closed(closed);
}
END_TEST

/* Of what the holder cannot make either, it says why, as of all others. */
START_TEST(a_tree_that_nobody_can_make_is_named)
{
	char closed[4096], source[4200], stage[4300];
	ab_plan head;

	ih_plan_init(&plan);
	make_closed(closed);
	snprintf(source, sizeof(source), "%s/in", closed);
	ih_bind(&plan, source, "/in", AB_MOUNT_RDONLY)->ino++;
	head = ab_plan_head(&plan.p);
	ck_assert_int_eq(raise_two(&head, &plan.p), -ECANCELED);
	snprintf(stage, sizeof(stage), "mounts[%u] %s", plan.p.step_count - 1,
		 geteuid() ? "/in" : source);
	ck_assert_str_eq(box.failed_stage, stage);
	ck_assert_int_eq(box.failed_errno, ESTALE);
	remove_closed(closed);
}
END_TEST

#define REFUSED(change)                                               \
	do {                                                          \
		ab_plan head;                                         \
		ih_plan_init(&plan);                                  \
		head = ab_plan_head(&plan.p);                         \
		change;                                               \
		ck_assert_int_eq(raise_two(&head, &plan.p),           \
				 -ECANCELED);                         \
		ck_assert_str_eq(box.failed_stage, "plan");           \
		ck_assert_int_eq(box.failed_errno, EPROTO);           \
	} while (0)

/* In each of them the head had something else, or more, than the plan. */
START_TEST(a_whole_that_is_not_of_its_head_is_refused)
{
	REFUSED(plan.p.box_id = "ffeeddccbbaa99887766554433221100");
	REFUSED(plan.p.hostname = "other");
	REFUSED(plan.p.namespaces &= ~AB_NS_NET);
	REFUSED(head.namespaces &= ~AB_NS_NET);
	REFUSED(plan.p.uid_inside = 0);
	REFUSED(plan.p.gid_inside = 0);
	REFUSED(plan.p.host_sockets = 1);
	REFUSED(plan.p.oom_score_adj = 7);
	REFUSED(ih_plan_flatten(&plan));
	/* a head once more */
	REFUSED(plan.p = head);
}
END_TEST

START_TEST(a_whole_that_is_not_sealed_is_refused)
{
	int fd = memfd_create("plan", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ab_plan head;
	ab_writer w;

	ih_plan_init(&plan);
	head = ab_plan_head(&plan.p);
	ab_writer_init(&w, AB_MAX_PLAN_BYTES);
	ck_assert_int_eq(ab_plan_encode(&plan.p, &w), 0);
	ck_assert_int_eq(ab_fd_write_full(fd, w.data, w.len), 0);
	ab_writer_end(&w);
	ck_assert_int_eq(ih_raise_two(&box, helper, &head, fd), -ECANCELED);
	ck_assert_str_eq(box.failed_stage, "plan");
	close(fd);
}
END_TEST

/* Nothing is served, and nothing mounted, before there is a whole. */
START_TEST(a_head_alone_is_no_box)
{
	ab_plan head;
	int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ih_plan_init(&plan);
	head = ab_plan_head(&plan.p);
	ck_assert_int_eq(ih_raise_two(&box, helper, &head, null_fd),
			 -ECANCELED);
	ck_assert_str_eq(box.failed_stage, "plan");
	close(null_fd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("init_late");
	TCase *tc = tcase_create("late");
	SRunner *sr = srunner_create(s);
	int failed;

	snprintf(helper, sizeof(helper), "%s/agentbox-init",
		 ab_test_helper_dir());
	ih_needs_namespaces(helper);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_head_and_its_whole_raise_the_same_box);
	tcase_add_test(tc, the_weakest_tier_has_a_head_too);
	tcase_add_loop_test(
		tc, a_box_has_what_its_host_has_though_its_holder_has_less, 0,
		2);
	tcase_add_loop_test(tc, many_trees_reach_pid_one, 0, 4);
	tcase_add_test(tc, a_tree_that_nobody_can_make_is_named);
	tcase_add_test(tc, a_whole_that_is_not_of_its_head_is_refused);
	tcase_add_test(tc, a_whole_that_is_not_sealed_is_refused);
	tcase_add_test(tc, a_head_alone_is_no_box);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
