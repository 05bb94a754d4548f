/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox_verify_run() on boxes with all their walls: nothing is missing and
 * nothing unknown, whatever the policy; and what is weaker by policy says so.
 * The walls that are missing: verify_walls.c. The agent who does something
 * about it: verify_agent.c.
 */
#include "verify_lib.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void expect_green(void)
{
	agentbox_verify *report = verify_box();

	verify_note(report, "missing");
	verify_note(report, "unknown");
	CHECK(agentbox_verify_is_good(report) == 1, "missing: %s; unknown: %s",
	      verify_walls(report, "missing"),
	      verify_walls(report, "unknown"));
	CHECK(agentbox_verify_get_count(report) > 80, "%zu findings",
	      agentbox_verify_get_count(report));
	/* the tables were really carried out, inside and outside */
	CHECK(!strcmp(verify_verdict(report, "escape.mount"), "pass"), "mount");
	CHECK(!strcmp(verify_verdict(report, "seccomp.mode"), "pass"),
	      "seccomp");
	CHECK(!strcmp(verify_verdict(report, "files.state"), "pass"), "state");
}

static void a_healthy_box_is_green(void)
{
	box_raise(NULL, NULL);
	box_needs_namespaces();
	expect_green();
	/* and so it is while commands run in it, and the next time */
	agentbox_process *p = BOX_START(-1, "/bin/sleep", "60");
	expect_green();
	agentbox_process_free(p);
}

static void every_builtin_is_green(void)
{
	static const char *const builtins[] = { "strict", "workspace",
						"review" };

	box_needs_namespaces();
	for (size_t i = 0; i < sizeof(builtins) / sizeof(*builtins); i++) {
		e2e_note("builtin:%s", builtins[i]);
		box_raise_document(box_document(builtins[i], NULL, NULL));
		expect_green();
		box_end();
	}
}

static void the_strict_filter_is_green(void)
{
	box_needs_namespaces();
	box_raise(NULL, "\"syscalls\":{\"profile\":\"strict\"}");
	expect_green();
}

static void what_the_policy_opens_is_named(void)
{
	agentbox_verify *report;

	box_needs_namespaces();
	box_raise(NULL, "\"syscalls\":{\"allow\":[\"keyctl\"]}");
	report = verify_box();
	verify_note(report, "missing");
	CHECK(agentbox_verify_is_good(report) == 1, "not good");
	CHECK(!strcmp(verify_verdict(report, "escape.keyctl"),
		      "not-applicable"), "keyctl: %s",
	      verify_verdict(report, "escape.keyctl"));
	CHECK(!strcmp(verify_verdict(report, "escape.add-key"), "pass"),
	      "add_key: %s", verify_verdict(report, "escape.add-key"));
}

static void a_bare_box_is_never_good(void)
{
	agentbox_verify *report;

	box_raise_document("{\"agentbox\":1,\"extends\":\"builtin:bare\"}");
	report = verify_box();
	CHECK(agentbox_verify_is_good(report) == 0, "a bare box is good");
	CHECK(!strcmp(verify_verdict(report, "tier"), "missing"), "tier: %s",
	      verify_verdict(report, "tier"));
	CHECK(agentbox_verify_get_exposure(report) >= 200, "exposure %u",
	      agentbox_verify_get_exposure(report));
}

/* What could not be tried is not green, whoever is the reason. */
static void what_cannot_be_tried_is_unknown(void)
{
	static const char *const denied[] = { "execve", "fork\",\"clone",
					      "read" };
	agentbox_verify *report;

	box_needs_namespaces();
	for (size_t i = 0; i < sizeof(denied) / sizeof(*denied); i++) {
		box_raise(NULL, e2e_text("\"syscalls\":{\"deny\":[\"%s\"]}",
					 denied[i]));
		report = verify_box();
		CHECK(agentbox_verify_is_good(report) == 0, "green without %s",
		      denied[i]);
		CHECK(!strcmp(verify_verdict(report, "escape.mount"),
			      "unknown"), "without %s: %s", denied[i],
		      verify_verdict(report, "escape.mount"));
		CHECK(!strcmp(verify_verdict(report, "arrived.port"),
			      "unknown"), "nobody came: %s",
		      verify_verdict(report, "arrived.port"));
		CHECK(!strcmp(verify_walls(report, "missing"), ""),
		      "missing: %s", verify_walls(report, "missing"));
		box_end();
	}
}

/* One way out, and the probes find no other. */
static void a_box_with_a_gateway_is_green(void)
{
	static const char *const probes[] = {
		"network.metadata", "network.address", "network.dns",
		"network.name", "network.no-key", "other.key",
	};
	agentbox_verify *report;

	box_needs_namespaces();
	box_needs("gateway");
	box_raise(NULL, "\"network\":{\"mode\":\"gateway\","
			"\"allow\":[\"allowed.example:443\"]}");
	expect_green();
	report = verify_box();
	for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++)
		CHECK(!strcmp(verify_verdict(report, probes[i]), "pass"),
		      "%s: %s", probes[i], verify_verdict(report, probes[i]));
}

static void a_box_with_a_broker_is_green(void)
{
	box_needs_namespaces();
	box_needs("gateway");
	box_raise(NULL, "\"network\":{\"mode\":\"gateway\"},"
			"\"secrets\":[{\"name\":\"gh\","
			"\"delivery\":[\"memfd\"]}]");
	expect_green();
}

/* After the revocation the key is good for nothing; before, it was. */
static void a_revoked_box_reaches_nothing(void)
{
	agentbox_verify_options *options = NULL;
	agentbox_verify *report = NULL;
	agentbox_error *err = NULL;

	box_needs_namespaces();
	box_needs("gateway");
	box_raise(NULL, "\"network\":{\"mode\":\"gateway\","
			"\"allow\":[\"allowed.example:443\"]}");
	REQUIRE(agentbox_verify_options_new(&options, &err) == 0 &&
		agentbox_verify_options_set_revoke(options, 1, &err) == 0 &&
		agentbox_verify_run(box(), options, &report, &err) == 0, "%s",
		agentbox_error_get_message(err));
	verify_note(report, "missing");
	verify_note(report, "unknown");
	CHECK(!strcmp(verify_verdict(report, "network.name"), "pass"),
	      "before: %s", verify_verdict(report, "network.name"));
	CHECK(!strcmp(verify_verdict(report, "network.revoked"), "pass"),
	      "after: %s", verify_verdict(report, "network.revoked"));
	CHECK(agentbox_verify_is_good(report) == 1, "not good");
	agentbox_verify_free(report);
	agentbox_verify_options_free(options);
	/* and it stays so: the next report finds no gateway */
	report = verify_box();
	CHECK(!strstr(verify_walls(report, "pass"), "network.name") &&
	      agentbox_verify_is_good(report) == 0, "green again");
}

static agentbox_verify *with_secret(const char *file)
{
	agentbox_verify_options *options = NULL;
	agentbox_verify *report = NULL;
	agentbox_error *err = NULL;
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	REQUIRE(fd >= 0 && agentbox_verify_options_new(&options, &err) == 0 &&
		agentbox_verify_options_add_secret(options, "token", fd,
						   &err) == 0 &&
		agentbox_verify_run(box(), options, &report, &err) == 0, "%s",
		agentbox_error_get_message(err));
	close(fd);
	agentbox_verify_options_free(options);
	return report;
}

/* In none of the places; then in each of them, by the agent's own hand. */
static void a_secret_is_found_wherever_it_is(void)
{
	static const char *const places[] = { "environment", "memory",
					      "disk" };
	const char *file = host_path("outside/secret");
	agentbox_verify *report;

	box_needs_namespaces();
	box_raise(NULL, NULL);
	report = with_secret(file);
	verify_note(report, "missing");
	verify_note(report, "unknown");
	CHECK(agentbox_verify_is_good(report) == 1, "not good");
	for (size_t i = 0; i < 3; i++)
		CHECK(!strcmp(verify_verdict(report, e2e_text(
			      "secrets.token.%s", places[i])), "pass"),
		      "%s", places[i]);
	agentbox_verify_free(report);
	/* an argument of a command */
	agentbox_process *p = BOX_START(-1, "/bin/sh", "-c",
					"sleep 60; exit $1", "sh",
					"FAKE-SECRET-FOR-TESTS-ONLY");
	report = with_secret(file);
	CHECK(!strcmp(verify_verdict(report, "secrets.token.environment"),
		      "missing"), "argument: %s",
	      verify_verdict(report, "secrets.token.environment"));
	/* where it is an argument it is in memory, too */
	CHECK(!strcmp(verify_verdict(report, "secrets.token.memory"),
		      "missing"), "memory: %s",
	      verify_verdict(report, "secrets.token.memory"));
	CHECK(!strcmp(verify_walls(report, "missing"), "secrets"), "%s",
	      verify_walls(report, "missing"));
	agentbox_verify_free(report);
	agentbox_process_kill(p, SIGKILL, NULL);
	agentbox_process_wait(p, -1, NULL);
	agentbox_process_free(p);
	/* a file of the box's own */
	box_sh("printf 'x=%%s' FAKE-SECRET-FOR-TESTS-ONLY >/tmp/kept");
	report = with_secret(file);
	CHECK(!strcmp(verify_verdict(report, "secrets.token.disk"),
		      "missing"), "disk: %s",
	      verify_verdict(report, "secrets.token.disk"));
	agentbox_verify_free(report);
}

/* What the owner cannot look at may hold it; a name is any bytes. */
static void a_secret_is_not_missed_where_nobody_looked(void)
{
	const char *file = host_path("outside/secret");
	agentbox_bytes *json = NULL;
	agentbox_verify *report;
	agentbox_error *err = NULL;

	box_needs_namespaces();
	box_raise(NULL, NULL);
	if (geteuid() != 0) {
		box_sh("umask 0; printf x >/tmp/closed; chmod 0 /tmp/closed");
		report = with_secret(file);
		CHECK(!strcmp(verify_verdict(report, "secrets.token.disk"),
			      "unknown"), "closed: %s",
		      verify_verdict(report, "secrets.token.disk"));
		agentbox_verify_free(report);
		box_sh("rm -f /tmp/closed");
	}
	box_sh("printf FAKE-SECRET-FOR-TESTS-ONLY >/dev/shm/kept");
	report = with_secret(file);
	CHECK(!strcmp(verify_verdict(report, "secrets.token.disk"),
		      "missing"), "shm: %s",
	      verify_verdict(report, "secrets.token.disk"));
	agentbox_verify_free(report);
	box_sh("rm /dev/shm/kept; printf FAKE-SECRET-FOR-TESTS-ONLY "
	       ">\"/tmp/$(printf 'a\\377')\"");
	report = with_secret(file);
	CHECK(!strcmp(verify_verdict(report, "secrets.token.disk"),
		      "missing"), "disk: %s",
	      verify_verdict(report, "secrets.token.disk"));
	CHECK(agentbox_verify_to_json(report, &json, &err) == 0, "%s",
	      agentbox_error_get_message(err));
	agentbox_bytes_free(json);
	agentbox_verify_free(report);
}

/* It sees the program executed, and is itself among what is looked at. */
static void a_box_with_a_shield_is_green(void)
{
	agentbox_verify *report;

	box_needs_namespaces();
	box_needs("shield");
	box_raise(NULL, "\"shield\":{\"mode\":\"audit\"}");
	expect_green();
	report = verify_box();
	CHECK(!strcmp(verify_verdict(report, "shield.alive"), "pass"),
	      "shield: %s", verify_verdict(report, "shield.alive"));
	box_end();
	/* the program is the library's own: no rule keeps it out */
	box_raise(NULL, "\"shield\":{\"mode\":\"deny\"}");
	expect_green();
	box_end();
	/* nor does what it opens and connects to, which nobody can read */
	box_raise(NULL, "\"peering\":\"read\",\"shield\":{\"mode\":\"deny\","
			"\"watch\":[\"connect\",\"peers\",\"reads\"]}");
	expect_green();
	expect_green();
	ATTACK("EACCES", "create-hidden /workspace/hidden");
}

/* A socket in the workspace is granted with it, and told. */
static void a_socket_in_the_workspace_is_told(void)
{
	agentbox_verify *report;
	int fd = host_listen_unix(ws_path("ipc.sock"));

	box_needs_namespaces();
	box_raise(NULL, NULL);
	report = verify_box();
	verify_note(report, "missing");
	CHECK(agentbox_verify_is_good(report) == 1, "not good");
	CHECK(strstr(verify_walls(report, "weaker"), "sockets"), "weaker: %s",
	      verify_walls(report, "weaker"));
	close(fd);
}

static void a_socket_of_the_box_itself_is_no_wall_missing(void)
{
	agentbox_verify *report;
	struct outcome o;

	REQUIRE(host_has("python3"), "it listens in Python");
	box_needs_namespaces();
	box_raise(NULL, NULL);
	/* it stays where it is when who listened has ended, as a FIFO does */
	o = box_sh("python3 -c 'import os, socket\n"
		   "os.mkfifo(\"/tmp/own.fifo\")\n"
		   "s = socket.socket(socket.AF_UNIX)\n"
		   "s.bind(\"/tmp/own.sock\")\n"
		   "s.listen(8)\n"
		   "if os.fork(): os._exit(0)\n"
		   "os.closerange(0, 3)\n"
		   "s.accept()'");
	REQUIRE(o.status == 0, "%s", o.err);
	report = verify_box();
	verify_note(report, "missing");
	CHECK(agentbox_verify_is_good(report) == 1, "not good");
	CHECK(strstr(verify_walls(report, "weaker"), "sockets"), "weaker: %s",
	      verify_walls(report, "weaker"));
}

/* The box can make the list so long that something else is not on it. */
static void a_list_that_is_cut_off_is_not_granted(void)
{
	agentbox_verify *report;
	int fds[15];

	for (int i = 0; i < 15; i++) {
		const char *path = ws_path(e2e_text("%0200d", i));

		REQUIRE(mkfifo(path, 0666) == 0, "cannot make a FIFO");
		fds[i] = open(path, O_RDWR | O_CLOEXEC);
		REQUIRE(fds[i] >= 0, "cannot hold a FIFO");
	}
	box_needs_namespaces();
	box_raise(NULL, NULL);
	report = verify_box();
	CHECK(!strcmp(verify_verdict(report, "sockets.visible"), "missing"),
	      "cut off: %s", verify_verdict(report, "sockets.visible"));
	for (int i = 0; i < 15; i++)
		close(fds[i]);
}

/* It can be walked through by who knows a name. */
static void a_directory_that_cannot_be_listed_is_unknown(void)
{
	static const char *const modes[] = { "0311", "0000" };

	box_needs_namespaces();
	box_raise(NULL, NULL);
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		agentbox_verify *report;

		box_sh("mkdir -p /tmp/closed/below && chmod %s /tmp/closed",
		       modes[i]);
		report = verify_box();
		CHECK(!strcmp(verify_verdict(report, "sockets.visible"),
			      "unknown"), "%s: %s", modes[i],
		      verify_verdict(report, "sockets.visible"));
		CHECK(!strcmp(verify_walls(report, "missing"), ""), "%s",
		      verify_walls(report, "missing"));
	}
	box_sh("chmod 0700 /tmp/closed");
	expect_green();
}

/* Deeper than it may have files open, and than the kernel has a name for. */
static void a_deep_tree_is_looked_through(void)
{
	agentbox_verify *report;
	agentbox_process *p;
	struct outcome o;

	box_needs_namespaces();
	box_raise(NULL, "\"limits\":{\"files\":64}");
	o = box_sh("p=/tmp/deep; for i in $(seq 300); do p=$p/below; done; "
		   "mkdir -p $p && cd $p && mkfifo fifo && pwd -P | wc -c");
	REQUIRE(o.status == 0, "%s", o.err);
	expect_green();
	p = BOX_START(-1, "/bin/sh", "-c",
		      "p=/tmp/deep; for i in $(seq 300); do p=$p/below; done; "
		      "exec 3<>$p/fifo; : >/tmp/held; sleep 60");
	while (box_sh("test -e /tmp/held").status != 0)
		e2e_sleep_ms(20);
	report = verify_box();
	verify_note(report, "unknown");
	CHECK(strstr(verify_walls(report, "weaker"), "sockets"), "weaker: %s",
	      verify_walls(report, "weaker"));
	CHECK(agentbox_verify_is_good(report) == 1, "not good");
	agentbox_process_free(p);
	/* one that has no name as a whole any more */
	o = box_sh("cd /tmp && n=$(printf %%0200d 0) && for i in $(seq 25); "
		   "do mkdir $n && cd -P $n || exit 1; done");
	REQUIRE(o.status == 0, "%s", o.err);
	report = verify_box();
	CHECK(!strcmp(verify_verdict(report, "sockets.visible"), "unknown"),
	      "no name: %s", verify_verdict(report, "sockets.visible"));
	CHECK(!strcmp(verify_walls(report, "missing"), ""), "%s",
	      verify_walls(report, "missing"));
}

/* Not in the workspace of the box, and nothing of it is left. */
static void protected_names_are_made_in_the_second_box(void)
{
	char *before, *kept;
	agentbox_verify *report;
	int status;

	box_raise(NULL, NULL);
	box_needs_namespaces();
	box_forget_events();
	before = host_tree(ws_path("."));
	kept = HOST_RUN(&status, "find", host_path("state/quarantine"));
	report = verify_box();
	CHECK(!strcmp(verify_verdict(report, "protect.appearing"), "pass"),
	      "%s", verify_verdict(report, "protect.appearing"));
	host_same_tree("the workspace", before, host_tree(ws_path(".")));
	CHECK(!strcmp(kept, HOST_RUN(&status, "find",
				     host_path("state/quarantine"))),
	      "something was left there");
	CHECK(!box_event("quarantined", "", 0), "the host was told of it");
	box_end();
	/* a policy that protects no name has none of it */
	box_raise_document("{\"agentbox\":1,\"extends\":\"builtin:strict\"}");
	CHECK(!strcmp(verify_verdict(verify_box(), "protect.appearing"), ""),
	      "it has no workspace");
}

/* A directory with something in it, made so many seconds ago. */
static void leave(const char *dir, int seconds)
{
	const struct timespec then = { .tv_sec = time(NULL) - seconds };
	const struct timespec times[2] = { then, then };

	REQUIRE(mkdir(dir, 0755) == 0, "%s: %s", dir, strerror(errno));
	REQUIRE(mkdir(e2e_text("%s/below", dir), 0755) == 0, "below");
	host_write(e2e_text("%s/below/file", dir), "x");
	REQUIRE(mkfifo(e2e_text("%s/socket", dir), 0600) == 0, "socket");
	REQUIRE(utimensat(AT_FDCWD, dir, times, 0) == 0, "its time");
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Whoever holds a directory has it locked, and a lock goes with its holder. */
static void try_leftovers(const char *prefix, const char *odd)
{
	const char *dead = e2e_text("%s%015xa", prefix, (unsigned)getpid());
	const char *held = e2e_text("%s%015xb", prefix, (unsigned)getpid());
	const char *new = e2e_text("%s%015xc", prefix, (unsigned)getpid());
	int fd, status;

	leave(dead, 100);
	leave(held, 100);
	leave(new, 0);
	leave(odd, 100);
	fd = open(held, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0, "%s", held);
	verify_box();
	CHECK(!is_there(dead), "%s is left", dead);
	CHECK(is_there(held) && is_there(new) && is_there(odd),
	      "%s: more went", prefix);
	close(fd);
	verify_box();
	CHECK(!is_there(held), "%s is left", held);
	HOST_RUN(&status, "rm", "-rf", dead, held, new, odd);
}

static void what_a_killed_test_left_is_taken_away(void)
{
	box_raise(NULL, NULL);
	box_needs_namespaces();
	try_leftovers("/tmp/agentbox-verify-",
		      e2e_text("/tmp/agentbox-verify-%x-mine",
			       (unsigned)getpid()));
	try_leftovers(host_path("state/verify-"),
		      host_path("state/verify-mine"));
}

/* By somebody of the host: what he traces he has. */
static void who_is_traced_from_outside_is_told(void)
{
	static const char *const names[] = { "agentbox-launch", "sleep" };
	agentbox_process *p;
	pid_t traced = 0;

	box_raise(NULL, NULL);
	box_needs_namespaces();
	p = BOX_START(-1, "/bin/sleep", "60");
	expect_green();
	for (size_t i = 0; i < 2 && !traced; i++) {
		pid_t pid = host_descendant(names[i]);

		if (pid > 0 && ptrace(PTRACE_SEIZE, pid, 0, 0) == 0)
			traced = pid;
	}
	if (!traced)
		e2e_skip("this user may trace nobody in the box");
	CHECK(!strcmp(verify_verdict(verify_box(), "process.traced"),
		      "missing"), "it is traced");
	CHECK(!strcmp(verify_walls(verify_box(), "missing"), "init"), "%s",
	      verify_walls(verify_box(), "missing"));
	/* only who is stopped can be let go */
	ptrace(PTRACE_INTERRUPT, traced, 0, 0);
	waitpid(traced, NULL, __WALL);
	ptrace(PTRACE_DETACH, traced, 0, 0);
	expect_green();
	agentbox_process_free(p);
}

/* The host may do that to one process, or to one thread of it. */
static void who_runs_before_others_is_told(void)
{
	agentbox_process *p;
	pid_t pid;

	box_raise(NULL, NULL);
	box_needs_namespaces();
	p = BOX_START(-1, "/bin/sleep", "60");
	expect_green();
	CHECK(!strcmp(verify_verdict(verify_box(), "scheduling.all"), "pass"),
	      "nobody does");
	pid = host_descendant("sleep");
	REQUIRE(pid > 0, "no sleep");
	if (setpriority(PRIO_PROCESS, (id_t)pid, -1) != 0) {
		e2e_note("not tried, this user may lower no nice value: %m");
		agentbox_process_free(p);
		return;
	}
	CHECK(!strcmp(verify_verdict(verify_box(), "scheduling.all"),
		      "missing"), "its nice value is below zero");
	CHECK(!strcmp(verify_walls(verify_box(), "missing"), "scheduling"),
	      "%s", verify_walls(verify_box(), "missing"));
	CHECK(setpriority(PRIO_PROCESS, (id_t)pid, 0) == 0, "%m");
	expect_green();
	agentbox_process_free(p);
}

static bool write_number(const char *path, pid_t number)
{
	char text[16];
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int n = snprintf(text, sizeof(text), "%d", (int)number);
	bool good = fd >= 0 && write(fd, text, (size_t)n) == n;

	if (fd >= 0)
		close(fd);
	return good;
}

/* By the host, or by whoever else may move processes: "/" of a hierarchy. */
static bool leave_cgroup(pid_t pid, char *back, size_t size)
{
	char *list = host_read(e2e_text("/proc/%d/cgroup", pid));
	char *at = list ? strstr(list, ":pids:") : NULL;

	if (!at)
		return false;
	at += strlen(":pids:");
	snprintf(back, size, "/sys/fs/cgroup/pids%.*s/cgroup.procs",
		 (int)strcspn(at, "\n"), at);
	return write_number("/sys/fs/cgroup/pids/cgroup.procs", pid);
}

static void who_has_left_a_cgroup_is_told(void)
{
	agentbox_process *p;
	char back[4096];
	pid_t pid;

	box_raise(NULL, NULL);
	box_needs_namespaces();
	p = BOX_START(-1, "/bin/sleep", "60");
	expect_green();
	pid = host_descendant("sleep");
	REQUIRE(pid > 0, "no sleep");
	if (!leave_cgroup(pid, back, sizeof(back))) {
		e2e_note("not tried, no cgroup of version 1 to move it in");
		agentbox_process_free(p);
		return;
	}
	CHECK(!strcmp(verify_verdict(verify_box(), "cgroup.all"), "missing"),
	      "it is in none");
	CHECK(!strcmp(verify_walls(verify_box(), "missing"), "cgroup"), "%s",
	      verify_walls(verify_box(), "missing"));
	CHECK(write_number(back, pid), "%s: %m", back);
	expect_green();
	agentbox_process_free(p);
}

/* Soon, with nothing left, and the box is as it was. */
static void a_run_that_is_stopped_leaves_nothing(void)
{
	agentbox_verify_options *options = NULL;
	agentbox_verify *report = NULL;
	agentbox_error *err = NULL;
	int pair[2], status;
	char *before;

	box_raise(NULL, NULL);
	box_needs_namespaces();
	before = HOST_RUN(&status, "find", host_path("state"));
	REQUIRE(pipe(pair) == 0 && write(pair[1], "x", 1) == 1, "%m");
	REQUIRE(agentbox_verify_options_new(&options, &err) == 0 &&
		agentbox_verify_options_set_stop_fd(options, pair[0], &err) ==
			0, "options");
	CHECK(agentbox_verify_run(box(), options, &report, &err) ==
	      AGENTBOX_ECANCELED, "not canceled");
	agentbox_error_free(err);
	agentbox_verify_options_free(options);
	CHECK(!strcmp(before, HOST_RUN(&status, "find", host_path("state"))),
	      "something was left in the state directory");
	CHECK(host_descendant("agentbox-verify") <= 0, "it runs");
	expect_green();
	close(pair[0]);
	close(pair[1]);
}

static void an_ended_box_is_an_error(void)
{
	agentbox_verify *report = NULL;
	agentbox_error *err = NULL;

	box_raise(NULL, NULL);
	REQUIRE(agentbox_sandbox_end(box(), &err) == 0, "end");
	CHECK(agentbox_verify_run(box(), NULL, &report, &err) ==
	      AGENTBOX_ECLOSED, "not closed");
	agentbox_error_free(err);
}

static const struct e2e_case cases[] = {
	CASE(a_healthy_box_is_green),
	CASE(every_builtin_is_green),
	CASE(the_strict_filter_is_green),
	CASE(what_the_policy_opens_is_named),
	CASE(a_bare_box_is_never_good),
	CASE(what_cannot_be_tried_is_unknown),
	CASE(a_box_with_a_gateway_is_green),
	CASE(a_box_with_a_broker_is_green),
	CASE(a_revoked_box_reaches_nothing),
	CASE(a_secret_is_found_wherever_it_is),
	CASE(a_secret_is_not_missed_where_nobody_looked),
	CASE(a_box_with_a_shield_is_green),
	CASE(a_socket_in_the_workspace_is_told),
	CASE(a_socket_of_the_box_itself_is_no_wall_missing),
	CASE(a_list_that_is_cut_off_is_not_granted),
	CASE(a_directory_that_cannot_be_listed_is_unknown),
	CASE(a_deep_tree_is_looked_through),
	CASE(protected_names_are_made_in_the_second_box),
	CASE(what_a_killed_test_left_is_taken_away),
	CASE(who_is_traced_from_outside_is_told),
	CASE(who_runs_before_others_is_told),
	CASE(who_has_left_a_cgroup_is_told),
	CASE(a_run_that_is_stopped_leaves_nothing),
	CASE(an_ended_box_is_an_error),
	CASES_END
};

int main(int argc, char **argv)
{
	return e2e_main(argc, argv, cases);
}
