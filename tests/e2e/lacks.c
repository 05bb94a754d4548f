/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Kernels and machines that lack something, simulated (tests/e2e/without.c).
 * Rows 48, 80-86 of tests/e2e/SANDBOX-CASES.md: a required wall that is
 * missing is refused by its name, a preferred one is reported missing, and
 * what stands holds.
 *
 * Each case runs this program again under `without`, with the inner case of
 * the same subject.
 */
#include "box.h"

#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"

static void lacking(const char *lacks, const char *inner)
{
	char self[4096];
	int status = -1;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *out;

	REQUIRE(n > 0, "%m");
	self[n] = 0;
	e2e_seconds(15); /* the inner case has its own ten seconds */
	out = HOST_RUN(&status, e2e_text("%s/tests/e2e/without",
					 ab_test_builddir()),
		       lacks, "--", self, inner);
	e2e_note("without %s:", lacks);
	for (char *save = NULL, *line = strtok_r(e2e_text("%s", out), "\n",
						 &save);
	     line; line = strtok_r(NULL, "\n", &save))
		e2e_note("| %s", line);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		e2e_skip("the lack of %s cannot be simulated here", lacks);
	CHECK(status == 0, "%s failed", inner);
	CHECK(strstr(out, "ok 1 - inner_"), "%s did not run", inner);
	/* an inner skip is this one's */
	char *skip = strstr(out, " # SKIP ");

	if (skip)
		e2e_skip("%s", skip + 8);
}

/* Everything at the same path as on the host: fit for every tier. */
static char *same_paths(const char *builtin, const char *keys)
{
	return e2e_text("{\"agentbox\":1,\"extends\":\"builtin:%s\","
			"\"workspace\":{\"path\":\"%s\",\"at\":\"same\"},"
			"\"mounts+\":[{\"from\":\"%s\",\"to\":\"%s\","
			"\"access\":\"read\",\"exec\":true}]%s%s}",
			builtin, host_path("ws"), host_path("tools"),
			host_path("tools"), keys ? "," : "",
			keys ? keys : "");
}

static void refused_at(const char *document, const char *wall)
{
	int32_t code;
	char *where, *message;

	if (box_try(document, &code, &where, &message)) {
		CHECK(false, "raised without %s, tier %s: %s", wall,
		      agentbox_sandbox_get_tier(box()), box_walls());
		box_end();
		return;
	}
	e2e_note("%s at %s: %s", agentbox_error_name(code), where, message);
	CHECK(code == AGENTBOX_EWALL, "%s", agentbox_error_name(code));
	CHECK(strncmp(where, wall, strlen(wall)) == 0,
	      "`where` is '%s', not %s", where, wall);
	CHECK(strlen(message) > 20, "the message says nothing: %s", message);
}

/* Raised as asked, or refused with a sentence; then the walls hold. */
static bool raised_or_said(const char *document)
{
	int32_t code;
	char *where, *message;

	if (box_try(document, &code, &where, &message)) {
		e2e_note("raised, tier %s",
			 agentbox_sandbox_get_tier(box()));
		return true;
	}
	e2e_note("%s at %s: %s", agentbox_error_name(code), where, message);
	CHECK(code == AGENTBOX_EWALL || code == AGENTBOX_EHELPER ||
	      code == AGENTBOX_EUNSUPPORTED || code == AGENTBOX_ESYS, "%s",
	      agentbox_error_name(code));
	CHECK(strlen(message) > 20, "no clear error: '%s' '%s'", where,
	      message);
	return false;
}

static void walls_hold(void)
{
	ATTACK("OK", "create /workspace/src/new.c");
	ATTACK("EROFS|EACCES", "write /workspace/.git/config");
	ATTACK("EROFS|EACCES", "create /workspace/.git/hooks/pre-commit");
	ATTACK("ENOENT", "read %s", host_path("outside/secret"));
	ATTACK("EPERM", "unshare 0x10000000");
}

static char *probe(void)
{
	agentbox_bytes *json = NULL;
	agentbox_error *err = NULL;
	char *text;

	REQUIRE(agentbox_walls_probe(box_context(), &json, &err) == 0, "%s",
		agentbox_error_get_message(err));
	text = e2e_text("%s", agentbox_bytes_get_data(json));
	agentbox_bytes_free(json);
	return text;
}

static const char *const only_landlock =
	"\"require\":[\"landlock\",\"seccomp\"]";

static void inner_userns_required(void)
{
	char *report = probe();

	refused_at(box_document("workspace", NULL, NULL), "userns");
	refused_at(box_document("strict", NULL, NULL), "userns");
	CHECK(strstr(report, "userns"), "doctor does not name it: %s",
	      report);
	e2e_note("%.2000s", report);
}

static const char *same_attack(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

/* One attack with the attacker at its host path. */
static const char *same_attack(const char *fmt, ...)
{
	char line[4096];
	va_list ap;
	struct outcome o;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	o = box_sh("%s %s", host_path("tools/attacker"), line);
	char *word = strchr(o.out, ' ');

	if (!word)
		return e2e_text("no-answer: %s%s%s", o.out, o.err, o.error);
	word = e2e_text("%s", word + 1);
	word[strcspn(word, " \n")] = 0;
	return word;
}
#define SAME(expected, ...) \
	e2e_expect(__FILE__, __LINE__, "landlock tier", (expected), \
		   e2e_text(__VA_ARGS__), same_attack(__VA_ARGS__))

/* Soft without a pid namespace, and yet it finds who left the group. */
static void kill_reaches_descendants(void)
{
	size_t before = host_descendants();
	agentbox_process *p;
	agentbox_error *err = NULL;

	p = BOX_START(-1, "/bin/sh", "-c",
		      "setsid sleep 881 & (setsid sh -c 'sleep 882 &' &); "
		      "exec sleep 883");
	/* on the way there may be three of them as well */
	CHECK(E2E_SOON(host_descendants_of("sleep") == 3), "%zu run",
	      host_descendants_of("sleep"));
	CHECK(E2E_SOON(host_descendants() == before + 3), "%zu run",
	      host_descendants() - before);
	CHECK(agentbox_process_kill(p, SIGKILL, &err) == 0, "%s",
	      agentbox_error_get_message(err));
	CHECK(agentbox_process_wait(p, SOON_MS, &err) == 0, "%s",
	      agentbox_error_get_message(err));
	CHECK(host_descendants() == before, "%zu are left",
	      host_descendants() - before);
	agentbox_process_free(p);
}

/* No new socket, and none of a pair that can choose whom it sends to. */
static void no_path_socket_is_reached(void)
{
	int fd = host_listen_unix(host_path("outside.sock"));

	SAME("EPERM", "connect-unix %s", host_path("outside.sock"));
	SAME("EPERM", "pair-connect %s", host_path("outside.sock"));
	close(fd);
}

static void inner_landlock_tier(void)
{
	char *document = same_paths("workspace", only_landlock);

	if (strstr(probe(), "\"landlock_abi\":0"))
		e2e_skip("this kernel has no Landlock");
	REQUIRE(raised_or_said(document), "the landlock tier was not tried");
	CHECK(strcmp(agentbox_sandbox_get_tier(box()), "landlock") == 0,
	      "tier %s", agentbox_sandbox_get_tier(box()));
	CHECK(strstr(box_walls(), "userns"), "%s", box_walls());
	e2e_note("%s", box_walls());
	SAME("OK", "create %s", ws_path("src/new.c"));
	SAME("EACCES|EPERM|ENOENT", "read %s", host_path("outside/secret"));
	SAME("EACCES|EPERM|ENOENT", "create %s", host_path("outside/new"));
	SAME("EACCES|EPERM", "open-truncate %s", host_path("outside/secret"));
	SAME("EACCES|EPERM", "read /etc/shadow");
	SAME("EACCES|EPERM", "create /var/tmp/agentbox-e2e-planted");
	/* no signal, trace or file of the host's processes */
	SAME("EPERM|ESRCH", "kill %d 19", getpid());
	SAME("EPERM|ESRCH", "kill %d 0", getppid());
	SAME("EPERM|ESRCH|EACCES", "ptrace %d", getpid());
	SAME("EACCES|EPERM|ENOENT", "proc %d environ", getpid());
	SAME("EACCES|EPERM|ENOENT", "proc %d mem", getpid());
	/* no network without a network namespace: no socket at all */
	SAME("EAFNOSUPPORT|EPERM|EACCES", "socket 2 1 0");
	SAME("EAFNOSUPPORT|EPERM|EACCES", "socket 10 2 0");
	SAME("EPERM", "unshare 0x10000000");
	SAME("EPERM", "add-key");
	SAME("EINVAL", "lease %s", ws_path("README"));
	CHECK(!host_exists("/var/tmp/agentbox-e2e-planted"), "planted");
	no_path_socket_is_reached();
	kill_reaches_descendants();
}

static void inner_proc_tier(void)
{
	box_raise_document(box_document("workspace", NULL, NULL));
	CHECK(strcmp(agentbox_sandbox_get_tier(box()), "no-proc") == 0,
	      "tier %s", agentbox_sandbox_get_tier(box()));
	e2e_note("%s", box_walls());
	walls_hold();
	ATTACK("ENOENT|EACCES", "proc 1 status");
	ATTACK("ENOENT|EACCES", "read /proc/%d/environ", getpid());
	box_end();
	refused_at(box_document("strict", NULL, NULL), "proc");
}

static void inner_loopback(void)
{
	if (!raised_or_said(box_document("workspace", NULL, NULL)))
		return;
	CHECK(strstr(box_walls(), "loopback"), "%s", box_walls());
	CHECK(strstr(box_walls(), "\"note\":\"a loopback of the box's own is "
		     "up\"") == NULL ||
	      strcmp(box_attack("loopback 127.0.0.1"), "OK") == 0,
	      "loopback is down, but reported as up: %s", box_walls());
	walls_hold();
}

static void inner_no_landlock(void)
{
	refused_at(box_document("workspace", NULL, NULL), "landlock");
	box_raise(NULL, "\"require\":[\"userns\",\"mountns\",\"pidns\","
		  "\"netns\",\"seccomp\"]");
	CHECK(strstr(box_walls(), "\"landlock_abi\":0"), "%s", box_walls());
	walls_hold();
}

static void inner_openat2(void)
{
	if (raised_or_said(box_document("workspace", NULL, NULL)))
		walls_hold();
}

static void inner_seccomp(void)
{
	refused_at(box_document("workspace", NULL, NULL), "seccomp");
}

static void inner_netns(void)
{
	refused_at(box_document("workspace", NULL, NULL), "netns");
}

static void inner_anything_clear(void)
{
	if (raised_or_said(box_document("workspace", NULL, NULL)))
		walls_hold();
}

static void inner_nothing_stands(void)
{
	const char *const documents[] = {
		box_document("workspace", NULL, NULL),
		same_paths("workspace", only_landlock),
		same_paths("workspace", "\"require\":[]"),
	};

	for (size_t i = 0; i < 3; i++) {
		int32_t code;
		char *where, *message;

		if (box_try(documents[i], &code, &where, &message)) {
			CHECK(false, "raised with no wall at all: %s",
			      box_walls());
			box_end();
			continue;
		}
		CHECK(code == AGENTBOX_EWALL, "%s", agentbox_error_name(code));
		e2e_note("at %s: %s", where, message);
	}
}

static void case_080_without_user_namespaces(void)
{
	lacking("userns", "inner_userns_required");
}

static void case_080_with_max_user_namespaces_0(void)
{
	lacking("userns-nospc", "inner_userns_required");
}

static void case_080_landlock_tier_when_the_policy_allows_it(void)
{
	lacking("userns", "inner_landlock_tier");
}

static void case_080_without_any_wall_nothing_runs(void)
{
	lacking("userns,landlock", "inner_nothing_stands");
}

static void case_081_covered_proc(void)
{
	lacking("proc-mount", "inner_proc_tier");
}

static void case_082_loopback_cannot_be_raised(void)
{
	lacking("netlink", "inner_loopback");
}

static void case_083_root_without_setfcap(void)
{
	struct __user_cap_header_struct header = {
		_LINUX_CAPABILITY_VERSION_3, 0
	};
	struct __user_cap_data_struct data[2];

	if (geteuid() != 0)
		e2e_skip("needs root");
	REQUIRE(syscall(SYS_capget, &header, data) == 0, "%m");
	data[0].effective &= ~(1u << CAP_SETFCAP);
	data[0].permitted &= ~(1u << CAP_SETFCAP);
	data[0].inheritable &= ~(1u << CAP_SETFCAP);
	REQUIRE(prctl(PR_CAPBSET_DROP, CAP_SETFCAP, 0, 0, 0) == 0 &&
		syscall(SYS_capset, &header, data) == 0, "%m");
	if (raised_or_said(box_document("workspace", NULL, NULL)))
		walls_hold();
}

static void case_084_limits_are_reported_honestly(void)
{
	static const char *const names[] = { "memory", "cpus", "pids", "disk",
					     "files", "wall" };
	char *report;

	box_raise(NULL, NULL);
	report = box_limits();
	e2e_note("%s", report);
	for (size_t i = 0; i < 6; i++)
		CHECK(strstr(report, e2e_text("\"%s\"", names[i])),
		      "%s is not reported", names[i]);
	CHECK(strstr(report, "mechanism") && strstr(report, "hard"),
	      "no mechanism");
	box_end();
	/* what is reported soft cannot be required */
	for (size_t i = 0; i < 6; i++) {
		char *at = strstr(report, e2e_text("\"%s\":{\"hard\":false",
						   names[i]));

		if (at)
			refused_at(box_document("workspace", NULL, e2e_text(
				"\"limits\":{\"require\":[\"%s\"]}",
				names[i])), e2e_text("limits.%s", names[i]));
	}
}

static void case_085_without_landlock(void)
{
	lacking("landlock", "inner_no_landlock");
}

static void case_085_with_landlock_switched_off(void)
{
	lacking("landlock-off", "inner_no_landlock");
}

static void case_085_without_seccomp(void)
{
	lacking("seccomp", "inner_seccomp");
}

static void case_085_without_network_namespaces(void)
{
	box_needs_namespaces();
	lacking("netns", "inner_netns");
}

static void case_086_without_openat2(void)
{
	lacking("openat2", "inner_openat2");
}

static void case_086_without_the_new_mount_api(void)
{
	lacking("new-mount", "inner_anything_clear");
}

static void case_086_without_mount_setattr(void)
{
	lacking("setattr", "inner_anything_clear");
}

static void case_086_without_close_range(void)
{
	lacking("close-range", "inner_anything_clear");
}

int main(int argc, char **argv)
{
	static const struct e2e_case inner[] = {
		CASE(inner_userns_required),
		CASE(inner_landlock_tier),
		CASE(inner_proc_tier),
		CASE(inner_loopback),
		CASE(inner_no_landlock),
		CASE(inner_openat2),
		CASE(inner_seccomp),
		CASE(inner_netns),
		CASE(inner_anything_clear),
		CASE(inner_nothing_stands),
		CASES_END,
	};
	static const struct e2e_case cases[] = {
		CASE(case_080_without_user_namespaces),
		CASE(case_080_with_max_user_namespaces_0),
		CASE(case_080_landlock_tier_when_the_policy_allows_it),
		CASE(case_080_without_any_wall_nothing_runs),
		CASE(case_081_covered_proc),
		CASE(case_082_loopback_cannot_be_raised),
		CASE(case_083_root_without_setfcap),
		CASE(case_084_limits_are_reported_honestly),
		CASE(case_085_without_landlock),
		CASE(case_085_with_landlock_switched_off),
		CASE(case_085_without_seccomp),
		CASE(case_085_without_network_namespaces),
		CASE(case_086_without_openat2),
		CASE(case_086_without_the_new_mount_api),
		CASE(case_086_without_mount_setattr),
		CASE(case_086_without_close_range),
		CASES_END,
	};
	bool is_inner = argc > 1 && strncmp(argv[1], "inner_", 6) == 0;

	return e2e_main(argc, argv, is_inner ? inner : cases);
}
