/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The seccomp filters, row by row: tests/data/seccomp.jsonl through a small
 * interpreter of classic BPF, then a handful of calls in a live process that
 * carries the filter. Rows of another architecture than this one are judged
 * by the interpreter only.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agentbox/policy.h"
#include "base/json.h"
#include "walls/walls.h"

#include "abtest.h"

#define EXPECT_ROWS 1000

typedef struct answer {
	uint32_t action;
	unsigned steps;
} answer;

/* seccomp's subset of classic BPF (Documentation/networking/filter.rst). */
static answer interpret(const struct sock_filter *f, size_t n,
			const struct seccomp_data *d)
{
	answer bad = { SECCOMP_RET_KILL_PROCESS, 0 };
	uint32_t a = 0;
	unsigned steps = 0;

	for (size_t pc = 0; pc < n; pc++) {
		const struct sock_filter *i = &f[pc];
		bool taken;

		steps++;
		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			ck_assert_uint_le(i->k + 4, sizeof(*d));
			memcpy(&a, (const char *)d + i->k, 4);
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			continue;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			continue;
		case BPF_JMP | BPF_JEQ | BPF_K:
			taken = a == i->k;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			taken = a > i->k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			taken = a >= i->k;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			taken = (a & i->k) != 0;
			break;
		case BPF_RET | BPF_K:
			return (answer){ i->k, steps };
		default:
			ck_abort_msg("instruction %#x", i->code);
			return bad;
		}
		pc += taken ? i->jt : i->jf;
	}
	ck_abort_msg("the filter has no end");
	return bad;
}

static agentbox_policy *make_policy(agentbox_context *context,
				    const json_t *row, agentbox_error **err)
{
	const char *net = json_string_value(json_object_get(row, "network"));
	json_t *doc, *sys = json_object();
	agentbox_policy *policy = NULL;
	char *text;

	json_object_set(sys, "profile", json_object_get(row, "profile"));
	if (json_object_get(row, "deny"))
		json_object_set(sys, "deny", json_object_get(row, "deny"));
	if (json_object_get(row, "allow"))
		json_object_set(sys, "allow", json_object_get(row, "allow"));
	doc = json_pack("{s:i,s:o,s:[],s:{s:s}}", "agentbox", 1, "syscalls",
			sys, "require", "network", "mode", net ? net : "none");
	text = json_dumps(doc, 0);
	agentbox_policy_parse(context, text, strlen(text), &policy, err);
	free(text);
	json_decref(doc);
	return policy;
}

static uint32_t tier_of(const json_t *row)
{
	const char *t = json_string_value(json_object_get(row, "tier"));

	return t && strcmp(t, "landlock") == 0 ? AB_TIER_LANDLOCK :
						 AB_TIER_FULL;
}

static const struct {
	const char *name;
	uint32_t action;
} actions[] = {
	{ "ALLOW", SECCOMP_RET_ALLOW },
	{ "KILL", SECCOMP_RET_KILL_PROCESS },
	{ "EPERM", SECCOMP_RET_ERRNO | EPERM },
	{ "ENOSYS", SECCOMP_RET_ERRNO | ENOSYS },
	{ "EINVAL", SECCOMP_RET_ERRNO | EINVAL },
	{ "ENOMEM", SECCOMP_RET_ERRNO | ENOMEM },
	{ "EAFNOSUPPORT", SECCOMP_RET_ERRNO | EAFNOSUPPORT },
	{ "EPROTONOSUPPORT", SECCOMP_RET_ERRNO | EPROTONOSUPPORT },
	{ "ESOCKTNOSUPPORT", SECCOMP_RET_ERRNO | ESOCKTNOSUPPORT },
};

static uint32_t action_of(const char *name)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(actions); i++) {
		if (strcmp(actions[i].name, name) == 0)
			return actions[i].action;
	}
	ck_abort_msg("unknown action '%s'", name);
	return 0;
}

/* False: no such call on this machine's architecture. */
static bool fill(const json_t *row, struct seccomp_data *d)
{
	const char *call = json_string_value(json_object_get(row, "call"));
	const char *arch = json_string_value(json_object_get(row, "arch"));
	json_t *args = json_object_get(row, "args"), *arg;
	size_t i;

	memset(d, 0, sizeof(*d));
	d->arch = seccomp_arch_native();
	d->nr = call[0] == '#' ? atoi(call + 1) :
				 seccomp_syscall_resolve_name(call);
	if (d->nr < 0)
		return false;
	if (arch && strcmp(arch, "i386") == 0)
		d->arch = AUDIT_ARCH_I386;
	else if (arch && strcmp(arch, "aarch64") == 0)
		d->arch = d->arch == AUDIT_ARCH_AARCH64 ? AUDIT_ARCH_ARM :
							  AUDIT_ARCH_AARCH64;
	else if (arch && strcmp(arch, "x32") == 0) {
		if (d->arch != AUDIT_ARCH_X86_64)
			return false;
		d->nr |= 0x40000000;
	}
	json_array_foreach(args, i, arg)
		d->args[i] = (uint64_t)json_integer_value(arg);
	return true;
}

typedef void (*row_fn)(const json_t *row, const char *line);

static unsigned each_row(const char *name, row_fn fn)
{
	char path[4096], line[4096];
	unsigned n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/%s", ab_test_srcdir(),
		 name);
	f = fopen(path, "re");
	ck_assert_msg(f != NULL, "cannot open %s", path);
	while (fgets(line, sizeof(line), f)) {
		json_t *row = json_loads(line, 0,
					 NULL);

		line[strcspn(line, "\n")] = '\0';
		ck_assert_msg(row != NULL, "not JSON: %s", line);
		fn(row, line);
		json_decref(row);
		n++;
	}
	fclose(f);
	return n;
}

static void judge_row(const json_t *row, const char *line)
{
	agentbox_context *context = NULL;
	agentbox_policy *policy;
	agentbox_error *err = NULL;
	struct seccomp_data d;
	const void *filter = NULL;
	uint64_t key = 0;
	size_t n = 0;
	answer a;

	if (!fill(row, &d))
		return;
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	policy = make_policy(context, row, &err);
	ck_assert_msg(policy != NULL, "%s: %s", line,
		      agentbox_error_get_message(err));
	ck_assert_msg(ab_walls_seccomp(policy, tier_of(row), &filter, &n,
				       &key, &err) == 0,
		      "%s: %s", line, agentbox_error_get_message(err));
	a = interpret(filter, n / sizeof(struct sock_filter), &d);
	ck_assert_msg(
		a.action ==
			action_of(json_string_value(
				json_object_get(row, "expect"))),
		"%s: the filter says %#x", line, a.action);
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
}

START_TEST(every_row_of_the_data_gets_its_expected_action)
{
	ck_assert_uint_ge(each_row("seccomp.jsonl", judge_row), EXPECT_ROWS);
}
END_TEST

static void refuse_row(const json_t *row, const char *line)
{
	const char *name = json_string_value(json_object_get(row, "names"));
	const char *where = json_string_value(json_object_get(row, "where"));
	agentbox_context *context = NULL;
	agentbox_policy *policy;
	agentbox_error *err = NULL;
	const void *filter = NULL;
	uint64_t key = 0;
	size_t n = 0;

	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	policy = make_policy(context, row, &err);
	/* the parser may know as much and refuse first */
	if (policy) {
		ck_assert_msg(ab_walls_seccomp(policy, AB_TIER_FULL, &filter,
					       &n, &key, &err) ==
				      AGENTBOX_EPOLICY,
			      "%s: accepted", line);
		ck_assert_str_eq(agentbox_error_get_where(err), where);
	}
	ck_assert_ptr_null(filter);
	ck_assert_msg(strstr(agentbox_error_get_message(err), name) != NULL,
		      "%s: %s", line, agentbox_error_get_message(err));
	agentbox_error_free(err);
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
}

START_TEST(a_policy_cannot_allow_what_the_walls_rest_on)
{
	ck_assert_uint_ge(each_row("seccomp-refused.jsonl", refuse_row), 60);
}
END_TEST

static const void *builtin_filter(agentbox_context **context,
				  agentbox_policy **policy, const char *profile,
				  size_t *n)
{
	json_t *row = json_pack("{s:s}", "profile", profile);
	const void *filter = NULL;
	uint64_t key = 0;

	ck_assert_int_eq(agentbox_context_new(context, NULL), 0);
	*policy = make_policy(*context, row, NULL);
	json_decref(row);
	ck_assert_ptr_nonnull(*policy);
	ck_assert_int_eq(ab_walls_seccomp(*policy, AB_TIER_FULL, &filter, n,
					  &key, NULL),
			 0);
	return filter;
}

START_TEST(the_filter_is_compiled_once_per_policy_and_tier)
{
	agentbox_context *context = NULL;
	agentbox_policy *policy = NULL;
	const void *again = NULL, *other = NULL;
	uint64_t key = 0, other_key = 0;
	size_t n = 0, m = 0;
	const void *filter = builtin_filter(&context, &policy, "default", &n);

	ck_assert_int_eq(ab_walls_seccomp(policy, AB_TIER_NO_PROC, &again, &m,
					  &key, NULL),
			 0);
	ck_assert_ptr_eq(again, filter);
	ck_assert_int_eq(ab_walls_seccomp(policy, AB_TIER_LANDLOCK, &other, &m,
					  &other_key, NULL),
			 0);
	ck_assert_ptr_ne(other, filter);
	ck_assert_uint_ne(key, 0);
	ck_assert_uint_ne(key, other_key);
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
}
END_TEST

/* A binary tree: no call walks through the table from end to end. */
START_TEST(common_calls_are_judged_in_few_steps)
{
	static const char *const calls[] = { "read", "write", "openat",
					     "execve", "futex", "mmap" };
	static const char *const profiles[] = { "default", "strict" };

	for (size_t p = 0; p < AB_ARRAY_LEN(profiles); p++) {
		agentbox_context *context = NULL;
		agentbox_policy *policy = NULL;
		size_t n = 0;
		const void *filter = builtin_filter(&context, &policy,
						    profiles[p], &n);

		for (size_t i = 0; i < AB_ARRAY_LEN(calls); i++) {
			struct seccomp_data d = {
				.arch = seccomp_arch_native(),
				.nr = seccomp_syscall_resolve_name(calls[i])
			};

			ck_assert_uint_le(
				interpret(filter,
					  n / sizeof(struct sock_filter), &d)
					.steps,
				48);
		}
		agentbox_policy_unref(policy);
		agentbox_context_unref(context);
	}
}
END_TEST

static int expect(long rc, int error)
{
	return rc == -1 && errno == error ? 0 : 1;
}

/* A file that is made with a mode must not have it. */
static int try_modes(void)
{
	char dir[] = "/tmp/ab-mode-XXXXXX", path[64];
	int wrong = 0, fd;

	if (!mkdtemp(dir))
		return 100;
	snprintf(path, sizeof(path), "%s/f", dir);
	wrong += expect(openat(AT_FDCWD, path, O_CREAT | O_RDWR, 04755), EPERM);
	wrong += expect(openat(AT_FDCWD, dir, O_TMPFILE | O_RDWR, 02755),
			EPERM);
	wrong += expect(mkdir(path, 02755), EPERM);
	wrong += expect(mknod(path, S_IFREG | 04755, 0), EPERM);
	fd = open(path, O_CREAT | O_RDWR, 0755);
	wrong += fd < 0;
	wrong += expect(fchmod(fd, 04755), EPERM);
	wrong += expect(chmod(path, 02755), EPERM);
	wrong += expect(fchmodat(AT_FDCWD, path, 06755, 0), EPERM);
	wrong += expect(syscall(452, AT_FDCWD, path, 04755, 0), EPERM);
	wrong += expect(syscall(437, AT_FDCWD, path, NULL, (size_t)0), ENOSYS);
	wrong += chmod(path, 0700) < 0;
	wrong += expect(fcntl(fd, F_SETLEASE, F_WRLCK), EINVAL);
	wrong += expect(syscall(SYS_fcntl, fd, 0x100000400ul, F_WRLCK), EINVAL);
	wrong += fcntl(fd, F_GETLEASE) != F_UNLCK;
	wrong += fcntl(fd, F_SETFL, O_APPEND) < 0;
	close(fd);
	unlink(path);
	rmdir(dir);
	return wrong;
}

static int try_schedule(void)
{
	cpu_set_t set;
	int wrong = 0;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	wrong += sched_getaffinity(0, sizeof(set), &set) < 0;
	wrong += sched_setaffinity(0, sizeof(set), &set) < 0;
	wrong += expect(sched_setaffinity(getppid(), sizeof(set), &set), EPERM);
	wrong += setpriority(PRIO_PROCESS, 0, 19) < 0;
	wrong += expect(setpriority(PRIO_PROCESS, (id_t)getppid(), 19), EPERM);
	wrong += expect(setpriority(PRIO_USER, 0, 19), EPERM);
	return wrong;
}

/* It stays what it was, and who wants none is told that there is none. */
static int try_core(void)
{
	struct rlimit none = { 0, 0 }, more = { 5, 5 }, was, is;
	int wrong = 0;

	wrong += getrlimit(RLIMIT_CORE, &was) < 0;
	wrong += setrlimit(RLIMIT_CORE, &none) < 0;
	wrong += syscall(SYS_setrlimit, RLIMIT_CORE, &more) < 0;
	wrong += syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, NULL) < 0;
	wrong += syscall(SYS_prlimit64, 0, 0x100000000ul | RLIMIT_CORE, &none,
			 NULL) < 0;
	/* who wants to know what it was does not */
	wrong += expect(syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, &is),
			EPERM);
	wrong += expect(syscall(SYS_prlimit64, getppid(), RLIMIT_CORE, &none,
				NULL),
			EPERM);
	wrong += syscall(SYS_prlimit64, 0, RLIMIT_CORE, NULL, &is) < 0;
	wrong += is.rlim_cur != was.rlim_cur || is.rlim_max != was.rlim_max;
	return wrong;
}

/* In the child: number of calls that got another answer than expected. */
static int try_calls(void)
{
	struct rlimit r = { 4, 4 };
	int wrong = 0;

	wrong += expect(syscall(SYS_unshare, 0x10000000), EPERM);
	wrong += expect(syscall(SYS_clone, 0x10000000 | 17, 0, 0, 0, 0), EPERM);
	wrong += expect(syscall(435, NULL, (size_t)0), ENOSYS);
	wrong += expect(syscall(425, 1, NULL), ENOSYS);
	wrong += expect(syscall(SYS_prlimit64, getppid(), RLIMIT_NOFILE, &r,
				NULL),
			EPERM);
	wrong += expect(syscall(SYS_ioctl, 0, 0x100005412ul, "x"), EPERM);
	wrong += expect(socket(AF_VSOCK, SOCK_STREAM, 0), EAFNOSUPPORT);
	wrong += expect(syscall(SYS_personality, 8ul), EPERM);
	wrong += syscall(SYS_personality, 0xfffffffful) < 0;
	wrong += expect(syscall(SYS_keyctl, 0, 0, 0, 0, 0), EPERM);
	wrong += expect(syscall(999), ENOSYS);
	wrong += socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) < 0;
	wrong += try_modes() + try_schedule() + try_core();
	return wrong;
}

START_TEST(a_live_process_under_the_filter_gets_the_same_answers)
{
	agentbox_context *context = NULL;
	agentbox_policy *policy = NULL;
	size_t n = 0;
	int status = 0;
	struct sock_fprog prog = { 0 };
	pid_t pid;

	prog.filter = (struct sock_filter *)(uintptr_t)builtin_filter(
		&context, &policy, "default", &n);
	prog.len = (unsigned short)(n / sizeof(struct sock_filter));
	pid = fork();
	if (pid == 0) {
		const struct rlimit core = { 1, 1 };

		if (setrlimit(RLIMIT_CORE, &core) ||
		    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    syscall(SYS_seccomp, 1, 0, &prog))
			_exit(77);
		_exit(try_calls());
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WIFEXITED(status), 1);
	if (WEXITSTATUS(status) == 77)
		ab_test_skip("a_live_process_under_the_filter",
			     "seccomp filters");
	else
		ck_assert_int_eq(WEXITSTATUS(status), 0);
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("walls_seccomp");
	TCase *tc = tcase_create("seccomp");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown);
	tcase_add_test(tc, every_row_of_the_data_gets_its_expected_action);
	tcase_add_test(tc, a_policy_cannot_allow_what_the_walls_rest_on);
	tcase_add_test(tc, the_filter_is_compiled_once_per_policy_and_tier);
	tcase_add_test(tc, common_calls_are_judged_in_few_steps);
	tcase_add_test(tc,
		       a_live_process_under_the_filter_gets_the_same_answers);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
