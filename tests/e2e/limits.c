/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attacks by quantity. Rows 61, 62, 90 and 98 of
 * tests/e2e/SANDBOX-CASES.md: bounded, the reason reported, and the host and
 * the box usable afterwards.
 */
#include "box.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void still_usable(void)
{
	struct outcome o = BOX_RUN("/attack/attacker", "clone", "0");
	int status = -1;

	CHECK(o.result == 0 && strstr(o.out, "OK"),
	      "the box is not usable: %s %s", o.error, o.out);
	HOST_RUN(&status, "true");
	CHECK(status == 0, "the host cannot fork");
}

static void case_061_fork_bomb_meets_the_limit(void)
{
	box_raise(NULL, "\"limits\":{\"pids\":40}");
	e2e_note("%s", box_limits());
	CONTROL("OK", "forks 200");
	CHECK(atoi(attack_detail()) == 200, "the control got %s",
	      attack_detail());
	ATTACK("OK", "forks 200");
	CHECK(atoi(attack_detail()) < 40 && atoi(attack_detail()) > 5,
	      "%s", attack_detail());
	CHECK(strstr(attack_detail(), "EAGAIN"), "%s", attack_detail());
	still_usable();
}

/* The classic, which never ends by itself. */
static void case_061_fork_bomb_is_killed(void)
{
	agentbox_process *p;
	agentbox_error *err = NULL;
	int status = -1;

	box_raise(NULL, "\"limits\":{\"pids\":40}");
	p = BOX_START(-1, "/bin/sh", "-c", "b() { b | b & }; b; sleep 60");
	e2e_sleep_ms(700);
	HOST_RUN(&status, "true");
	CHECK(status == 0, "the host cannot fork");
	CHECK(host_descendants() < 60, "%zu processes", host_descendants());
	CHECK(agentbox_sandbox_kill_all(box(), &err) == 0, "%s",
	      agentbox_error_get_message(err));
	CHECK(agentbox_process_wait(p, SOON_MS, &err) == 0, "%s",
	      agentbox_error_get_message(err));
	agentbox_process_free(p);
	still_usable();
}

static void case_061_one_box_does_not_starve_another(void)
{
	agentbox_sandbox *first = box_raise(NULL, "\"limits\":{\"pids\":40}");
	agentbox_sandbox *second = box_raise(NULL, NULL);
	struct outcome o;

	o = box_run_in(first, (const char *const[]){ "/attack/attacker",
						     "forks", "200", NULL });
	CHECK(strstr(o.out, "EAGAIN"), "%s", o.out);
	o = box_run_in(second, (const char *const[]){ "/attack/attacker",
						      "forks", "100", NULL });
	CHECK(strstr(o.out, "OK 100"), "%s", o.out);
	agentbox_sandbox_free(first);
}

static void case_062_memory_hog_is_ended(void)
{
	struct outcome o;
	int32_t code;
	char *where, *message;
	char *doc = box_document("workspace", NULL,
				 "\"limits\":{\"memory\":\"64MiB\","
				 "\"require\":[\"memory\"]}");

	if (!box_try(doc, &code, &where, &message)) {
		CHECK(code == AGENTBOX_EWALL &&
		      strcmp(where, "limits.memory") == 0, "%s at %s: %s",
		      agentbox_error_name(code), where, message);
		e2e_skip("no memory controller may be used here: %s",
			 message);
	}
	e2e_note("%s", box_limits());
	o = BOX_RUN("/attack/attacker", "do-memory", "16");
	CHECK(strstr(o.out, "took 16 MiB"), "the control: %s %s", o.out,
	      o.reason);
	o = BOX_RUN("/attack/attacker", "do-memory", "400");
	CHECK(!strstr(o.out, "took 400"), "took 400 MiB of 64");
	CHECK(strcmp(o.reason, "memory") == 0 ||
	      strstr(o.out, "refused"), "reason %s, signal %d: %s",
	      o.reason, o.signal, o.out);
	still_usable();
}

/* Where nothing holds memory, it is polled; never silently unlimited. */
static void case_062_memory_without_a_controller(void)
{
	struct outcome o;

	box_raise(NULL, "\"limits\":{\"memory\":\"64MiB\"}");
	o = BOX_RUN("/attack/attacker", "do-memory", "2000");
	CHECK(!strstr(o.out, "took 2000"), "took 2000 MiB of 64");
	CHECK(strcmp(o.reason, "memory") == 0 ||
	      strstr(o.out, "refused"), "reason %s, signal %d: %s",
	      o.reason, o.signal, o.out);
	CHECK(strstr(box_limits(), "memory"), "%s", box_limits());
	still_usable();
}

static void case_062_tmpfs_is_bounded(void)
{
	box_raise(NULL, "\"limits\":{\"disk\":\"16MiB\"}");
	ATTACK("OK", "disk /tmp/small 4");
	CHECK(strcmp(attack_detail(), "4 -") == 0, "%s", attack_detail());
	ATTACK("OK", "disk /tmp/big 64");
	CHECK(strstr(attack_detail(), "ENOSPC") && atoi(attack_detail()) <= 16,
	      "/tmp took %s", attack_detail());
	ATTACK("OK", "disk /dev/shm/big 64");
	CHECK(strstr(attack_detail(), "ENOSPC") && atoi(attack_detail()) <= 16,
	      "/dev/shm took %s", attack_detail());
	ATTACK("EROFS|EACCES|EPERM|ENOSPC", "disk /big 64");
	ATTACK("EROFS|EACCES|EPERM|ENOSPC", "disk /dev/big 64");
	still_usable();
}

/* Empty files cost kernel memory too. */
static void case_062_inodes_of_the_tmpfs_are_bounded(void)
{
	box_raise(NULL, "\"limits\":{\"disk\":\"16MiB\"}");
	ATTACK("OK", "inodes /tmp 300000");
	CHECK(strstr(attack_detail(), "ENOSPC"), "/tmp took %s files",
	      attack_detail());
}

static void case_062_descriptors_are_bounded(void)
{
	box_raise(NULL, "\"limits\":{\"files\":64}");
	ATTACK("OK", "fds 500");
	CHECK(strstr(attack_detail(), "EMFILE") && atoi(attack_detail()) < 64,
	      "got %s", attack_detail());
	ATTACK("EPERM", "raise-rlimit 7");
	still_usable();
}

static void case_062_limits_are_hard_in_each_command(void)
{
	box_raise(NULL, "\"limits\":{\"files\":256}");
	ATTACK("OK", "rlimit 7");
	CHECK(strcmp(attack_detail(), "256 256") == 0, "NOFILE %s",
	      attack_detail());
	/* one command's own limits are not the next one's */
	box_sh("ulimit -n 20; true");
	ATTACK("OK", "rlimit 7");
	CHECK(strcmp(attack_detail(), "256 256") == 0, "NOFILE %s",
	      attack_detail());
}

static void case_062_output_flood_is_bounded(void)
{
	struct outcome o;
	size_t before = host_rss_kib(getpid());

	box_raise(NULL, NULL);
	o = BOX_RUN("/attack/attacker", "do-flood", "256");
	CHECK(o.status == 0, "status %d %s", o.status, o.reason);
	CHECK(strlen(o.out) == (size_t)1 << 20, "kept %zu", strlen(o.out));
	CHECK(host_rss_kib(getpid()) < before + 32 * 1024,
	      "the host grew by %zu KiB", host_rss_kib(getpid()) - before);
}

static char *many_names(int count)
{
	size_t cap = (size_t)count * 40 + 1, used = 0;
	char *list = malloc(cap);

	for (int i = 0; list && i < count; i++)
		used += (size_t)snprintf(list + used, cap - used,
					 "%s\"dir/name-%d.lock\"",
					 i ? "," : "", i);
	char *doc = box_document("workspace", NULL,
				 e2e_text("\"protect+\":[%s]", list));

	free(list);
	return doc;
}

/* Nothing travels in argv: thousands of paths work, more is a clear bound. */
static void case_090_thousands_of_paths(void)
{
	agentbox_policy *policy = NULL;
	agentbox_error *err = NULL;
	char *doc = many_names(12000);
	int32_t r;

	for (int i = 0; i < 3000; i += 100)
		host_write(ws_path(e2e_text("dir/name-%d.lock", i)), "x\n");
	box_raise_document(many_names(3000));
	ATTACK("EROFS|EACCES", "write /workspace/dir/name-2900.lock");
	ATTACK("OK", "create /workspace/dir/free");
	r = agentbox_policy_parse(box_context(), doc, strlen(doc), &policy,
				  &err);
	if (r == 0) {
		agentbox_sandbox *s = NULL;

		r = agentbox_sandbox_new(box_context(), policy, NULL, &s,
					 &err);
		agentbox_sandbox_free(s);
	}
	agentbox_policy_unref(policy);
	CHECK(r == 0 || (r == AGENTBOX_ELIMIT && strstr(
		agentbox_error_get_message(err), "protect")), "%s at %s: %s",
	      agentbox_error_name(r), agentbox_error_get_where(err),
	      agentbox_error_get_message(err));
	agentbox_error_free(err);
}

/* What the kernel counts for the machine, and in no cgroup for memory. */
static void case_062_pools_of_the_machine_are_not_taken(void)
{
	box_raise(NULL, NULL);
	CONTROL("OK", "io-setup 1");
	ATTACK("ENOSYS", "io-setup 1");
	ATTACK("ENOSYS", "io-setup 60000");
	CONTROL("OK|ENOSYS|EINVAL", "huge-page memfd");
	ATTACK("ENOMEM", "huge-page memfd");
	/* without a pool the kernel says the same */
	ATTACK("ENOMEM", "huge-page map");
	ATTACK("ENOMEM", "huge-page shm");
	still_usable();
}

/* A thousand refused names: bounded, and the host is not blocked. */
static void case_098_flood_of_events(void)
{
	struct outcome o;
	int64_t start = e2e_now_ms();

	box_raise(NULL, NULL);
	/* no process per name: they come faster, on a busy machine too */
	o = box_sh("seq 1000 | sed 's,^,d,' | xargs mkdir; i=1; "
		   "while [ $i -le 1000 ]; do echo evil >d$i/.envrc; "
		   "i=$((i+1)); done");
	e2e_note("%lld ms, %s", (long long)(e2e_now_ms() - start), o.reason);
	CHECK(o.result == 0, "%s", o.error);
	int status;
	char *left = HOST_RUN(&status, "find", ws_path(""), "-name", ".envrc");

	CHECK(!*left, "left standing: %.200s", left);
	CHECK(box_event("quarantined", NULL, SOON_MS), "no event");
	still_usable();
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_061_fork_bomb_meets_the_limit),
		CASE(case_061_fork_bomb_is_killed),
		CASE(case_061_one_box_does_not_starve_another),
		CASE(case_062_memory_hog_is_ended),
		CASE(case_062_memory_without_a_controller),
		CASE(case_062_tmpfs_is_bounded),
		CASE(case_062_inodes_of_the_tmpfs_are_bounded),
		CASE(case_062_descriptors_are_bounded),
		CASE(case_062_limits_are_hard_in_each_command),
		CASE(case_062_output_flood_is_bounded),
		CASE(case_062_pools_of_the_machine_are_not_taken),
		CASE(case_090_thousands_of_paths),
		CASE(case_098_flood_of_events),
		CASES_END,
	};

	return e2e_main(argc, argv, cases);
}
