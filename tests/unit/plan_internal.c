/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plan as bytes: what goes in comes out, and nothing else goes in. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "base/attr.h"
#include "base/limits.h"
#include "wire/plan.h"

static ab_plan_step steps[] = {
	{.kind = AB_STEP_BIND,
	 .flags = AB_MOUNT_RDONLY | AB_MOUNT_RECURSIVE,
	 .source = "/usr",
	 .target = "/usr",
	 .dev = 7,
	 .ino = 1ull << 40},
	{.kind = AB_STEP_SYMLINK, .source = "usr/bin", .target = "/bin"},
	{.kind = AB_STEP_FILE,
	 .target = "/etc/x",
	 .content = "a\0b",
	 .content_len = 3,
	 .mode = 0444},
	{.kind = AB_STEP_PROC, .target = "/proc"},
};
static ab_plan_rule rules[] = {{"/", 5}, {"/tmp", 7}};
static ab_plan_rlimit rlimits[] = {{7, 10, 20}};
static const char *cgroups[] = {"/sys/fs/cgroup/x"};
static ab_plan_watch watches[] = {{".envrc"}, {"**/.git/hooks"}};
static const uint64_t program[] = {1, 2};

static ab_plan sample(void)
{
	return (ab_plan){
		.build_id = "build",
		.box_id = "0123456789abcdef0123456789abcdef",
		.hostname = "host",
		.tier = AB_TIER_FULL,
		.namespaces = AB_NS_ALL,
		.uid_inside = 1000,
		.gid_inside = 1001,
		.uid_outside = 100000,
		.gid_outside = 100001,
		.map_by_holder = 1,
		.host_sockets = 1,
		.drop_groups = 1,
		.steps = steps,
		.step_count = AB_ARRAY_LEN(steps),
		.landlock_abi = 7,
		.landlock_fs = 0xffff,
		.landlock_net = 3,
		.landlock_scope = 1,
		.rules = rules,
		.rule_count = 2,
		.seccomp = program,
		.seccomp_len = sizeof(program),
		.rlimits = rlimits,
		.rlimit_count = 1,
		.cgroups = cgroups,
		.cgroup_count = 1,
		.polled_memory = 1,
		.mark_key = 0x0123456789abcdef,
		.polled_pids = 2,
		.workspace_inside = "/workspace",
		.workspace_host = "/srv/w",
		.workspace_dev = 3,
		.workspace_ino = 4,
		.quarantine_host = "/srv/q",
		.watches = watches,
		.watch_count = 2,
		.oom_score_adj = -7,
	};
}

static int round_trip(const ab_plan *in, ab_plan *out, ab_writer *w)
{
	ab_writer_init(w, AB_MAX_PLAN_BYTES);
	ck_assert_int_eq(ab_plan_encode(in, w), 0);
	return ab_plan_decode(w->data, w->len, "build", out);
}

static int refused(const ab_plan *in)
{
	ab_plan out;
	ab_writer w;
	int r = round_trip(in, &out, &w);

	if (r == 0)
		ab_plan_end(&out);
	ab_writer_end(&w);
	return r;
}

START_TEST(a_plan_survives_the_round_trip)
{
	ab_plan in = sample(), out;
	ab_writer w;

	ck_assert_int_eq(round_trip(&in, &out, &w), 0);
	ck_assert_str_eq(out.hostname, "host");
	ck_assert_uint_eq(out.uid_outside, 100000);
	ck_assert_uint_eq(out.gid_inside, 1001);
	ck_assert_uint_eq(out.host_sockets, 1);
	ck_assert_uint_eq(out.step_count, 4);
	ck_assert_uint_eq(out.steps[0].ino, 1ull << 40);
	ck_assert_str_eq(out.steps[1].source, "usr/bin");
	ck_assert_uint_eq(out.steps[2].content_len, 3);
	ck_assert_mem_eq(out.steps[2].content, "a\0b", 3);
	ck_assert_uint_eq(out.rules[1].access, 7);
	ck_assert_uint_eq(out.seccomp_len, 16);
	ck_assert_uint_eq(out.rlimits[0].hard, 20);
	ck_assert_str_eq(out.cgroups[0], cgroups[0]);
	ck_assert_str_eq(out.watches[1].pattern, "**/.git/hooks");
	ck_assert_str_eq(out.quarantine_host, "/srv/q");
	ck_assert_int_eq(out.oom_score_adj, -7);
	ab_plan_end(&out);
	ab_writer_end(&w);
}
END_TEST

START_TEST(every_cut_and_every_extra_byte_is_refused)
{
	ab_plan in = sample(), out;
	ab_writer w;

	ck_assert_int_eq(round_trip(&in, &out, &w), 0);
	ab_plan_end(&out);
	for (size_t n = 0; n < w.len; n++)
		ck_assert_int_eq(ab_plan_decode(w.data, n, "build", &out),
				 -EPROTO);
	ab_put_u8(&w, 0);
	ck_assert_int_eq(ab_plan_decode(w.data, w.len, "build", &out), -EPROTO);
	ab_writer_end(&w);
}
END_TEST

START_TEST(another_build_stops_at_the_first_string)
{
	ab_plan in = sample(), out;
	ab_writer w;

	ab_writer_init(&w, AB_MAX_PLAN_BYTES);
	ck_assert_int_eq(ab_plan_encode(&in, &w), 0);
	ck_assert_int_eq(ab_plan_decode(w.data, w.len, "other", &out), -ESTALE);
	/* nothing after it is even looked at */
	ck_assert_int_eq(ab_plan_decode(w.data, 12, "other", &out), -ESTALE);
	ab_writer_end(&w);
}
END_TEST

#define REFUSED(change)                                  \
	do {                                             \
		ab_plan p = sample();                    \
		change;                                  \
		ck_assert_int_eq(refused(&p), -EPROTO);  \
	} while (0)

START_TEST(impossible_values_are_refused)
{
	REFUSED(p.tier = 0);
	REFUSED(p.tier = 4);
	REFUSED(p.namespaces = 0x80);
	REFUSED(p.namespaces = AB_NS_USER);
	REFUSED(p.tier = AB_TIER_LANDLOCK);
	REFUSED((p.tier = AB_TIER_LANDLOCK, p.namespaces = 0));
	/* a /proc step where none can be */
	REFUSED(p.tier = AB_TIER_NO_PROC);
	REFUSED(p.box_id = "0123");
	REFUSED(p.box_id = "0123456789ABCDEF0123456789abcdef");
	REFUSED(p.uid_outside = UINT32_MAX);
	REFUSED(p.map_by_holder = 2);
	REFUSED(p.host_sockets = 2);
	REFUSED(p.seccomp_len = 12);
	REFUSED(p.workspace_host = "");
	REFUSED(p.quarantine_host = "");
	REFUSED(p.quarantine_host = "relative");
	REFUSED(p.oom_score_adj = 1001);
	REFUSED(p.is_head = 2);
	REFUSED(p.is_head = 1);
}
END_TEST

#define OF_HEAD_REFUSED(change)                          \
	do {                                             \
		ab_plan whole = sample();                \
		ab_plan p = ab_plan_head(&whole);        \
		change;                                  \
		ck_assert_int_eq(refused(&p), -EPROTO);  \
	} while (0)

START_TEST(a_head_holds_what_needs_no_files_and_nothing_else)
{
	ab_plan in = sample(), out;
	const ab_plan head = ab_plan_head(&in);
	ab_writer w;

	ck_assert_int_eq(round_trip(&head, &out, &w), 0);
	ck_assert_uint_eq(out.is_head, 1);
	ck_assert_uint_eq(out.step_count, 0);
	ck_assert_uint_eq(out.uid_outside, 100000);
	ck_assert_str_eq(out.cgroups[0], cgroups[0]);
	ck_assert(ab_plan_continues(&in, &out));
	ck_assert(!ab_plan_continues(&out, &out));
	ck_assert(!ab_plan_continues(&in, &in));
	ab_plan_end(&out);
	ab_writer_end(&w);
	OF_HEAD_REFUSED((p.steps = steps, p.step_count = 1));
	OF_HEAD_REFUSED((p.rlimits = rlimits, p.rlimit_count = 1));
	OF_HEAD_REFUSED((p.seccomp = program, p.seccomp_len = 8));
	OF_HEAD_REFUSED(p.landlock_abi = 1);
	OF_HEAD_REFUSED(p.mark_key = 1);
	OF_HEAD_REFUSED(p.polled_memory = 1);
	OF_HEAD_REFUSED(p.workspace_inside = "/w");
	OF_HEAD_REFUSED(p.quarantine_host = "/q");
}
END_TEST

#define NOT_CONTINUED(change)                                \
	do {                                                 \
		ab_plan p = sample();                        \
		const ab_plan head = ab_plan_head(&p);       \
		change;                                      \
		ck_assert(!ab_plan_continues(&p, &head));    \
	} while (0)

START_TEST(a_whole_says_what_its_head_said)
{
	static const char *others[] = {"/sys/fs/cgroup/y"};

	NOT_CONTINUED(p.box_id = "f123456789abcdef0123456789abcdef");
	NOT_CONTINUED(p.hostname = "x");
	NOT_CONTINUED(p.tier = AB_TIER_NO_PROC);
	NOT_CONTINUED(p.namespaces &= ~AB_NS_NET);
	NOT_CONTINUED(p.uid_inside++);
	NOT_CONTINUED(p.gid_inside++);
	NOT_CONTINUED(p.uid_outside++);
	NOT_CONTINUED(p.gid_outside++);
	NOT_CONTINUED(p.map_by_holder = 0);
	NOT_CONTINUED(p.drop_groups = 0);
	NOT_CONTINUED(p.host_sockets = 0);
	NOT_CONTINUED(p.oom_score_adj = 0);
	NOT_CONTINUED(p.cgroup_count = 0);
	NOT_CONTINUED(p.cgroups = others);
}
END_TEST

static int step_refused(ab_plan_step s)
{
	ab_plan p = sample();

	if (!s.target)
		s.target = "/x";
	p.steps = &s;
	p.step_count = 1;
	return refused(&p);
}

#define STEP_REFUSED(...)                                            \
	ck_assert_int_eq(step_refused((ab_plan_step){__VA_ARGS__}),  \
			 -EPROTO)

START_TEST(impossible_steps_are_refused)
{
	STEP_REFUSED(.kind = 0);
	STEP_REFUSED(.kind = AB_STEP_KIND_COUNT);
	STEP_REFUSED(.kind = AB_STEP_TMPFS, .flags = 0x40);
	STEP_REFUSED(.kind = AB_STEP_TMPFS, .flags = AB_MOUNT_IDMAP);
	STEP_REFUSED(.kind = AB_STEP_TMPFS, .mode = 010000);
	STEP_REFUSED(.kind = AB_STEP_TMPFS, .source = "/a");
	STEP_REFUSED(.kind = AB_STEP_BIND);
	STEP_REFUSED(.kind = AB_STEP_BIND, .source = "a");
	STEP_REFUSED(.kind = AB_STEP_BIND, .source = "/a/../b");
	STEP_REFUSED(.kind = AB_STEP_TMPFS, .target = "/");
	STEP_REFUSED(.kind = AB_STEP_TMPFS, .target = "");
	STEP_REFUSED(.kind = AB_STEP_TMPFS, .target = "x");
	STEP_REFUSED(.kind = AB_STEP_TMPFS, .target = "/a//b");
	STEP_REFUSED(.kind = AB_STEP_TMPFS, .target = "/a/./b");
	STEP_REFUSED(.kind = AB_STEP_TMPFS, .target = "/a/..");
	STEP_REFUSED(.kind = AB_STEP_TMPFS, .target = "/a/");
	STEP_REFUSED(.kind = AB_STEP_TMPFS, .content = "x", .content_len = 1);
}
END_TEST

START_TEST(impossible_rules_and_limits_are_refused)
{
	ab_plan_rule rule = {"/", 0x10000};
	ab_plan_rlimit limit = {16, 1, 1};

	REFUSED((p.rules = &rule, p.rule_count = 1));
	rule = (ab_plan_rule){"tmp", 1};
	REFUSED((p.rules = &rule, p.rule_count = 1));
	REFUSED((p.rlimits = &limit, p.rlimit_count = 1));
	limit = (ab_plan_rlimit){1, 2, 1};
	REFUSED((p.rlimits = &limit, p.rlimit_count = 1));
}
END_TEST

static bool decode_once(void *data)
{
	const ab_writer *w = data;
	ab_plan out;
	int r = ab_plan_decode(w->data, w->len, "build", &out);

	if (r == 0)
		ab_plan_end(&out);
	return r == 0;
}

START_TEST(every_failed_allocation_is_an_error)
{
	ab_plan in = sample(), out;
	ab_writer w;

	ck_assert_int_eq(round_trip(&in, &out, &w), 0);
	ab_plan_end(&out);
	if (ab_torture_available())
		ck_assert_uint_gt(ab_torture(decode_once, &w, 100, NULL), 4);
	ab_writer_end(&w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("plan");
	TCase *tc = tcase_create("plan");
	SRunner *runner;
	int failed;

	tcase_add_test(tc, a_plan_survives_the_round_trip);
	tcase_add_test(tc, every_cut_and_every_extra_byte_is_refused);
	tcase_add_test(tc, another_build_stops_at_the_first_string);
	tcase_add_test(tc, impossible_values_are_refused);
	tcase_add_test(tc, a_head_holds_what_needs_no_files_and_nothing_else);
	tcase_add_test(tc, a_whole_says_what_its_head_said);
	tcase_add_test(tc, impossible_steps_are_refused);
	tcase_add_test(tc, impossible_rules_and_limits_are_refused);
	tcase_add_test(tc, every_failed_allocation_is_an_error);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
