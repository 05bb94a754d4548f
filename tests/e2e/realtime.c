/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A host that runs before others: in real time, with a nice value below zero,
 * with the real-time class of I/O, with limits by which a process may take
 * these. Row 107 of tests/e2e/SANDBOX-CASES.md: nothing in a box, and no
 * helper that works at its wish, runs so. What cannot be tried on most
 * machines is in tests/unit/schedule_internal.c. The processors that a host
 * runs on are those of its boxes, whoever was moved while a box was raised.
 */
#include "box.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AS_OTHERS "0 0 "
#define NO_LIMITS " 0/0 0/0"

/* A root of a container may be without it: capabilities(7). */
static bool has_sys_nice(void)
{
	char *status = host_read("/proc/self/status");
	char *held = status ? strstr(status, "\nCapEff:") : NULL;

	REQUIRE(held, "no capabilities in /proc/self/status");
	return strtoull(held + 8, NULL, 16) >> 23 & 1;
}

static void run_before_others(int policy, int nice)
{
	struct sched_param param = { .sched_priority = policy ? 1 : 0 };
	struct rlimit most = { 50, 50 };

	if (geteuid() != 0)
		e2e_skip("needs root to run before others");
	if (!has_sys_nice())
		e2e_skip("needs CAP_SYS_NICE to run before others");
	REQUIRE(sched_setscheduler(0, policy, &param) == 0, "%m");
	REQUIRE(setpriority(PRIO_PROCESS, 0, nice) == 0, "%m");
	REQUIRE(syscall(SYS_ioprio_set, 1, 0, 1 << 13 | 4) == 0, "%m");
	if (setrlimit(RLIMIT_RTPRIO, &most) || setrlimit(RLIMIT_NICE, &most))
		e2e_note("root may not raise limits here: %m");
}

static void is_as_others(void)
{
	ATTACK("OK", "scheduling");
	CHECK(strncmp(attack_detail(), AS_OTHERS, strlen(AS_OTHERS)) == 0 &&
	      !strstr(attack_detail(), " 1 0/0") &&
	      strstr(attack_detail(), NO_LIMITS), "%s", attack_detail());
	ATTACK("EPERM", "realtime 1");
	ATTACK("EPERM", "realtime 2");
	ATTACK("EPERM", "deadline");
	ATTACK("EPERM|EACCES", "nice-below -1");
	ATTACK("EPERM", "io-realtime");
}

static void raise_over_a_host(int policy, int nice)
{
	run_before_others(policy, nice);
	box_raise(NULL, "\"limits\":{\"pids\":100,\"cpus\":1}");
	is_as_others();
	CONTROL("OK", "realtime 1");
	/* the next launcher, which is waited for, inherits from PID 1 */
	REQUIRE(agentbox_sandbox_kill_all(box(), NULL) == 0, "kill all");
	is_as_others();
}

static void case_107_host_of_sched_fifo(void)
{
	raise_over_a_host(SCHED_FIFO, 0);
}

static void case_107_host_of_sched_rr_and_nice(void)
{
	raise_over_a_host(SCHED_RR, -5);
}

static void case_107_host_of_nice_values_below_zero(void)
{
	raise_over_a_host(SCHED_OTHER, -20);
}

/* Fields 19 and 41 of proc_pid_stat(5). */
static void runs_as_others(const char *stat)
{
	const char *at = strrchr(stat, ')');
	long nice = -1, policy = -1;

	for (int field = 3; at && field <= 41; field++) {
		at = strchr(at + 1, ' ');
		if (at && field == 19)
			nice = strtol(at, NULL, 10);
		else if (at && field == 41)
			policy = strtol(at, NULL, 10);
	}
	CHECK(nice >= 0 && policy == SCHED_OTHER, "%s", stat);
}

static void case_107_helpers_of_a_host_in_real_time(void)
{
	run_before_others(SCHED_FIFO, -5);
	box_raise(NULL, NULL);
	CHECK(host_look_at_descendants(runs_as_others) == 3,
	      "holder, first process, launcher");
	box_end();
	box_raise(NULL, "\"network\":{\"mode\":\"gateway\",\"allow\":[]},"
			"\"shield\":{\"mode\":\"audit\"}");
	CHECK(host_look_at_descendants(runs_as_others) == 5,
	      "with a gateway and a shield");
	is_as_others();
}

/* It has no walls: what the host has is what its commands have. */
static void case_107_bare_box_keeps_what_the_host_has(void)
{
	run_before_others(SCHED_FIFO, -5);
	box_raise_document(e2e_text("{\"agentbox\":1,\"extends\":"
				    "\"builtin:bare\",\"workspace\":{\"path\":"
				    "\"%s\"}}", host_path("ws")));
	struct outcome o = BOX_RUN(host_path("tools/attacker"), "scheduling");

	CHECK(strstr(o.out, "OK 1 -5 1 "), "%s%s", o.out, o.error);
}

/* Who yields to others wants his boxes to. */
static void case_107_host_that_yields(void)
{
	struct sched_param param = { 0 };

	REQUIRE(sched_setscheduler(0, SCHED_BATCH, &param) == 0, "%m");
	REQUIRE(setpriority(PRIO_PROCESS, 0, 7) == 0, "%m");
	REQUIRE(syscall(SYS_ioprio_set, 1, 0, 3 << 13) == 0, "%m");
	box_raise(NULL, NULL);
	ATTACK("OK", "scheduling");
	CHECK(strcmp(attack_detail(), "3 7 3" NO_LIMITS) == 0, "%s",
	      attack_detail());
	ATTACK("EPERM|EACCES", "nice-below 6");
	ATTACK("EPERM", "realtime 1");
}

static cpu_set_t processors;

/* One line of proc_pid_stat(5). */
static void has_processors_of_host(const char *stat)
{
	cpu_set_t now;

	CHECK(sched_getaffinity((pid_t)strtol(stat, NULL, 10), sizeof(now),
				&now) == 0 && CPU_EQUAL(&now, &processors),
	      "%s", stat);
}

static void look_at_processors(void)
{
	CHECK(host_look_at_descendants(has_processors_of_host) == 3,
	      "holder, first process, launcher");
	/* the next launcher inherits from PID 1 */
	REQUIRE(agentbox_sandbox_kill_all(box(), NULL) == 0, "kill all");
	CHECK(host_look_at_descendants(has_processors_of_host) >= 3,
	      "holder, first process, next launcher");
}

/* Many times: who is moved, and when, is the scheduler's. */
static void case_107_processors_are_those_of_the_host(void)
{
	REQUIRE(sched_getaffinity(0, sizeof(processors), &processors) == 0,
		"%m");
	for (int i = 0; i < 10; i++) {
		box_raise(NULL, NULL);
		look_at_processors();
		box_end();
	}
}

static void case_107_one_processor_is_enough(void)
{
	CPU_ZERO(&processors);
	CPU_SET(sched_getcpu(), &processors);
	REQUIRE(sched_setaffinity(0, sizeof(processors), &processors) == 0,
		"%m");
	box_raise(NULL, NULL);
	look_at_processors();
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_107_host_of_sched_fifo),
		CASE(case_107_host_of_sched_rr_and_nice),
		CASE(case_107_host_of_nice_values_below_zero),
		CASE(case_107_helpers_of_a_host_in_real_time),
		CASE(case_107_bare_box_keeps_what_the_host_has),
		CASE(case_107_host_that_yields),
		CASE(case_107_processors_are_those_of_the_host),
		CASE(case_107_one_processor_is_enough),
		CASES_END,
	};

	return e2e_main(argc, argv, cases);
}
