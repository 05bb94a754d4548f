/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tree that a policy keeps: whatever changes on the host, the plan of its
 * next compile is, byte by byte, that of a policy that has kept nothing. A
 * private /etc shows the files that boxes have by value.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agentbox/policy.h"
#include "base/fd.h"
#include "walls/internal.h"

#include "abtest.h"

#define ID "0123456789abcdef0123456789abcdef"
#define AT(p) "{\"from\":\"" p "\",\"to\":\"" p "\",\"access\":\"read\"," \
	      "\"optional\":true}"

static char dir[256], text[4096];
static agentbox_context *context;

static void shell(const char *fmt, ...)
{
	char command[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	ck_assert_int_eq(system(command), 0);
}

static void write_self(const char *path, const char *line)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(write(fd, line, strlen(line)), strlen(line));
	close(fd);
}

/* Each test is a process of its own. */
static void own_etc(void)
{
	char map[64];
	uid_t uid = geteuid(), gid = getegid();

	if (unshare(uid ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS)) {
		printf("skip: no mount namespace to be had\n");
		exit(77);
	}
	if (uid) {
		write_self("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "0 %u 1\n", gid);
		write_self("/proc/self/gid_map", map);
		snprintf(map, sizeof(map), "0 %u 1\n", uid);
		write_self("/proc/self/uid_map", map);
	}
	ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	ck_assert_int_eq(mount("etc", "/etc", "tmpfs", 0, "mode=0755"), 0);
}

static void setup(void)
{
	char state[300], *real;

	own_etc();
	ab_leak_setup();
	real = realpath(ab_test_tmpdir(), NULL);
	snprintf(dir, sizeof(dir), "%s/memo-XXXXXX", real);
	free(real);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(state, sizeof(state), "%s/state", dir);
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	ck_assert_int_eq(agentbox_context_set_state_dir(context, state, NULL),
			 0);
	shell("mkdir %s/tree && echo one >/etc/file && "
	      "ln -s /usr/bin/env /etc/link && ln -s /nowhere /etc/dangling",
	      dir);
	snprintf(text, sizeof(text),
		 "{\"agentbox\":1,\"require\":[],\"mounts\":["
		 "{\"from\":\"/usr\",\"to\":\"/usr\",\"access\":\"read\","
		 "\"exec\":true},{\"from\":\"%s/tree\",\"to\":\"/tree\","
		 "\"access\":\"read\"}," AT("/etc/file") "," AT("/etc/link")
		 "," AT("/etc/dangling") "," AT("/etc/missing") "]}",
		 dir);
}

static void teardown(void)
{
	agentbox_context_unref(context);
	shell("rm -rf '%s'", dir);
	ab_leak_teardown();
}

static agentbox_policy *parse(const char *json)
{
	agentbox_policy *policy = NULL;

	ck_assert_int_eq(agentbox_policy_parse(context, json, strlen(json),
					       &policy, NULL), 0);
	return policy;
}

/* The plan, owned. */
static char *plan_of(agentbox_policy *policy, size_t *n, size_t *pins)
{
	const ab_probe probe = { .landlock_abi = 7, .seccomp = true,
				 .openat2 = true, .euid = 1234, .egid = 1234 };
	const ab_compile_input in = { .box_id = ID, .probe = &probe,
				      .tier = AB_TIER_FULL };
	ab_compiled c = { 0 };
	agentbox_error *err = NULL;
	char *bytes = NULL;

	ck_assert_msg(ab_walls_compile(context, policy, &in, &c, &err) == 0,
		      "%s", agentbox_error_get_message(err));
	ck_assert_int_eq(lseek(c.plan_fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(ab_fd_slurp(c.plan_fd, 1 << 20, &bytes, n), 0);
	*pins = c.path_fd_count;
	ab_compiled_end(&c);
	return bytes;
}

static ab_memo *kept(agentbox_policy *policy)
{
	ab_memo *m = ab_cache_get_memo(policy);

	ab_memo_unref(m);
	return m;
}

/* The key of a policy's filter is random, in that and beside it. */
static void mask_key(char *bytes, size_t n)
{
	ab_plan plan;
	char key[sizeof(plan.mark_key)];

	ck_assert_int_eq(ab_plan_decode(bytes, n, agentbox_build_id(), &plan),
			 0);
	memcpy(key, &plan.mark_key, sizeof(key));
	memset(bytes + ((const char *)plan.seccomp - bytes), 0,
	       plan.seccomp_len);
	ab_plan_end(&plan);
	for (size_t i = 0; i + sizeof(key) <= n; i++) {
		if (memcmp(bytes + i, key, sizeof(key)) == 0)
			memset(bytes + i, 0, sizeof(key));
	}
}

static void is_as_new(agentbox_policy *policy)
{
	agentbox_policy *fresh = parse(text);
	size_t n, m, pins, fresh_pins;
	char *a = plan_of(policy, &n, &pins);
	char *b = plan_of(fresh, &m, &fresh_pins);

	ck_assert_uint_eq(n, m);
	ck_assert_uint_eq(pins, fresh_pins);
	mask_key(a, n);
	mask_key(b, n);
	ck_assert_int_eq(memcmp(a, b, n), 0);
	free(a);
	free(b);
	agentbox_policy_unref(fresh);
}

START_TEST(what_did_not_change_is_taken_and_what_did_is_seen)
{
	static const char *const changes[] = {
		"echo two >/etc/file", /* as long as before */
		"echo one >/etc/new; mv /etc/new /etc/file",
		"chmod 0600 /etc/file",
		"chmod 0644 /etc/file",
		"rm /etc/file",
		"ln -s /usr/bin/env /etc/file",
		"rm /etc/file; echo one >/etc/file",
		"ln -sf /usr/bin/id /etc/link",
		"ln -sfn /usr/bin/env /etc/dangling",
		"echo here >/etc/missing",
		"mkdir /etc/d; rm /etc/link; echo x >/etc/link",
		"mv $D/tree $D/old; mkdir $D/tree",
		"chmod 0700 $D/tree",
		"mv $D/tree $D/real; ln -s real $D/tree",
	};
	agentbox_policy *policy = parse(text);
	size_t n, pins;
	ab_memo *before;

	setenv("D", dir, 1);
	/* too young to be trusted */
	free(plan_of(policy, &n, &pins));
	ck_assert_ptr_null(kept(policy));
	sleep(3);
	free(plan_of(policy, &n, &pins));
	before = kept(policy);
	ck_assert_ptr_nonnull(before);
	is_as_new(policy);
	ck_assert_ptr_eq(kept(policy), before);
	for (size_t i = 0; i < AB_ARRAY_LEN(changes); i++) {
		shell("%s", changes[i]);
		is_as_new(policy);
	}
	agentbox_policy_unref(policy);
}
END_TEST

START_TEST(one_change_alone_is_seen)
{
	static const char *const changes[] = {
		"echo two >/etc/kept", "chmod 0600 /etc/kept",
		"ln -sfn /usr/bin/id /etc/link", "echo x >/etc/missing",
		"mv $D/tree $D/old && mkdir $D/tree"
	};

	setenv("D", dir, 1);
	for (size_t i = 0; i < AB_ARRAY_LEN(changes); i++) {
		agentbox_policy *policy;
		size_t n, pins;

		shell("rm -rf $D/old; cp -a /etc/file /etc/kept; rm -f "
		      "/etc/missing; ln -sfn /usr/bin/env /etc/link");
		strcpy(strstr(text, "]}"), "," AT("/etc/kept") "]}");
		sleep(3);
		policy = parse(text);
		free(plan_of(policy, &n, &pins));
		ck_assert_ptr_nonnull(kept(policy));
		shell("%s", changes[i]);
		is_as_new(policy);
		agentbox_policy_unref(policy);
		*strstr(text, "," AT("/etc/kept")) = '\0';
		strcat(text, "]}");
	}
}
END_TEST

START_TEST(what_a_box_writes_to_is_never_kept)
{
	agentbox_policy *policy;
	size_t n, pins;

	sleep(3);
	snprintf(text, sizeof(text),
		 "{\"agentbox\":1,\"require\":[],\"workspace\":{\"path\":"
		 "\"%s/tree\",\"at\":\"/w\",\"mount\":\"direct\"}}",
		 dir);
	policy = parse(text);
	free(plan_of(policy, &n, &pins));
	ck_assert_ptr_null(kept(policy));
	agentbox_policy_unref(policy);
	snprintf(text, sizeof(text),
		 "{\"agentbox\":1,\"require\":[],\"mounts\":[{\"from\":"
		 "\"%s/tree\",\"to\":\"/w\",\"access\":\"write\"}]}",
		 dir);
	policy = parse(text);
	free(plan_of(policy, &n, &pins));
	ck_assert_ptr_null(kept(policy));
	agentbox_policy_unref(policy);
}
END_TEST

static bool torture_body(void *policy)
{
	const ab_probe probe = { .landlock_abi = 7, .seccomp = true,
				 .openat2 = true, .euid = 1234, .egid = 1234 };
	const ab_compile_input in = { .box_id = ID, .probe = &probe,
				      .tier = AB_TIER_FULL };
	ab_compiled c = { 0 };
	agentbox_error *err = NULL;
	int32_t rc = ab_walls_compile(context, policy, &in, &c, &err);

	if (rc == 0)
		ab_compiled_end(&c);
	else
		ck_assert_int_eq(rc, AGENTBOX_ENOMEM);
	agentbox_error_free(err);
	return rc == 0;
}

START_TEST(every_failed_allocation_is_out_of_memory)
{
	agentbox_policy *policy = parse(text);

	sleep(3);
	/* kept by nobody yet, and taken from what is kept */
	for (int i = 0; i < 2 && ab_torture_available(); i++)
		ck_assert_uint_gt(ab_torture(torture_body, policy, 5000, NULL),
				  5);
	if (ab_torture_available())
		ck_assert_ptr_nonnull(kept(policy));
	agentbox_policy_unref(policy);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("walls_memo");
	TCase *tc = tcase_create("memo");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_did_not_change_is_taken_and_what_did_is_seen);
	tcase_add_test(tc, one_change_alone_is_seen);
	tcase_add_test(tc, what_a_box_writes_to_is_never_kept);
	tcase_add_test(tc, every_failed_allocation_is_out_of_memory);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
