/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox_verify_run() on boxes whose agent knows of it and does something
 * about it: he can keep an answer away, and then it is unknown; he cannot give
 * one, hold anybody up but who asked, or make a wall missing that stands.
 * Spec: agentbox_verify(3), attack_verify.c.
 */
#include "verify_lib.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"

/* One that says "looking" when it is at work: attack_verify.c. */
static agentbox_process *agent_new(const char *const *argv)
{
	agentbox_process *p;
	char byte = 0;
	int fds[2];

	REQUIRE(pipe2(fds, O_CLOEXEC) == 0, "%m");
	p = box_start(argv, fds[1]);
	close(fds[1]);
	REQUIRE(read(fds[0], &byte, 1) == 1 && byte == 'l', "not looking");
	close(fds[0]);
	return p;
}
#define AGENT(...)                                                       \
	agent_new((const char *const[]){ "/attack/attacker", __VA_ARGS__, \
					 NULL })

static void agent_end(agentbox_process *p)
{
	agentbox_process_kill(p, SIGKILL, NULL);
	agentbox_process_wait(p, -1, NULL);
	agentbox_process_free(p);
}

/* It does that to every process which is started in its box. */
static agentbox_process *signal_new(const char *number)
{
	return AGENT("do-signal-new", number, "300");
}

static const char *answer_to(const agentbox_verify *report, const char *probe)
{
	for (size_t i = 0; i < agentbox_verify_get_count(report); i++) {
		if (!strcmp(agentbox_verify_get_probe(report, i), probe))
			return agentbox_verify_get_answer(report, i);
	}
	return "";
}

/* --- answers -------------------------------------------------------------- */

/* SIGSYS is what the filter ends with; the agent can send it as well. */
static void who_signals_a_probe_gives_no_answer(void)
{
	agentbox_verify *report;
	agentbox_process *p;

	e2e_seconds(60);
	box_needs_namespaces();
	box_raise(NULL, NULL);
	p = AGENT("do-signal-next", e2e_text("%d", SIGSYS), "300");
	for (int i = 0; i < 5; i++) {
		report = verify_box();
		for (size_t k = 0; k < agentbox_verify_get_count(report); k++) {
			const char *answer =
				agentbox_verify_get_answer(report, k);
			const char *probe =
				agentbox_verify_get_probe(report, k);

			CHECK(!strstr(answer, "SIGSYS") ||
			      !strcmp(probe, "escape.x32"),
			      "%s: the agent answered: %s", probe, answer);
			CHECK(!strstr(answer, "said something else"),
			      "%s: %s", probe, answer);
		}
	}
	agent_end(p);
}

/* It cannot be tried, which is no error of the host's. */
static void who_takes_every_process_makes_it_unknown(void)
{
	agentbox_verify *report;
	agentbox_process *p;

	box_needs_namespaces();
	box_raise(NULL, "\"limits\":{\"pids\":24}");
	p = AGENT("do-take-processes", "400");
	report = verify_box();
	CHECK(agentbox_verify_is_good(report) == 0, "good");
	CHECK(!strcmp(verify_verdict(report, "escape.mount"), "unknown"),
	      "%s", verify_verdict(report, "escape.mount"));
	CHECK(!strcmp(verify_walls(report, "missing"), ""), "missing: %s",
	      verify_walls(report, "missing"));
	agentbox_process_free(p);
}

/* The program makes a file, of a name that nobody knows before. */
static void who_takes_the_names_is_no_hindrance(void)
{
	agentbox_verify *report;

	box_needs_namespaces();
	box_raise(NULL, NULL);
	box_sh("i=0; while [ $i -lt 400 ]; do i=$((i + 1)); "
	       "for d in /tmp /dev/shm /workspace; do "
	       ": >$d/.agentbox-verify-$i; done; done");
	report = verify_box();
	CHECK(!strcmp(verify_verdict(report, "files.node"), "pass"),
	      "node: %s, %s", verify_verdict(report, "files.node"),
	      answer_to(report, "files.node"));
}

/* --- who ends or stops the program ---------------------------------------- */

/* The program said hello and is gone when it is to be told the probes. */
static void who_ends_the_program_does_not_end_the_host(void)
{
	struct sigaction pipe_action;
	agentbox_verify *report;
	agentbox_process *p;
	int ended = 0;

	e2e_seconds(60);
	box_needs_namespaces();
	REQUIRE(sigaction(SIGPIPE, NULL, &pipe_action) == 0 &&
		pipe_action.sa_handler == SIG_DFL, "SIGPIPE would not end us");
	box_raise(NULL, NULL);
	p = signal_new(e2e_text("%d", SIGKILL));
	/* where the agent was too slow everything was answered */
	for (int i = 0; i < 40 && ended < 3; i++) {
		report = verify_box();
		e2e_note("mount: %s", answer_to(report, "escape.mount"));
		if (strcmp(answer_to(report, "escape.mount"),
			   "agentbox-verify was ended") != 0)
			continue;
		ended++;
		CHECK(agentbox_verify_is_good(report) == 0, "good");
		CHECK(!strcmp(verify_verdict(report, "escape.mount"),
			      "unknown"), "%s",
		      verify_verdict(report, "escape.mount"));
	}
	CHECK(ended > 0, "nobody ended it");
	agent_end(p);
	/* and it was the agent: the box is what it was */
	report = verify_box();
	verify_note(report, "missing");
	verify_note(report, "unknown");
	CHECK(agentbox_verify_is_good(report) == 1, "not good");
}

/* Who is not root and has that many pages in pipes gets small ones. */
static void fill_pipes(void)
{
	for (int i = 0; i < 100; i++) {
		int fds[2];

		REQUIRE(pipe2(fds, O_CLOEXEC) == 0, "%m");
		if (fcntl(fds[1], F_SETPIPE_SZ, 1 << 20) < 0 &&
		    fcntl(fds[1], F_GETPIPE_SZ) <= 1 << 13)
			break;
	}
	e2e_mark_again();
}

/* More to ask than such a pipe holds. */
static const char *many_mounts(void)
{
	const char *mounts = "";

	for (int i = 0; i < 120; i++) {
		mounts = e2e_text("%s%s{\"from\":\"%s\","
				  "\"to\":\"/many/%0200d\","
				  "\"access\":\"read\"}", mounts,
				  i ? "," : "", host_path("tools"), i);
	}
	return mounts;
}

static void who_stops_the_program_does_not_hold_up_the_host(void)
{
	agentbox_verify_options *options = NULL;
	agentbox_verify *report = NULL;
	agentbox_error *err = NULL;
	agentbox_process *p;
	bool good = true;
	int64_t start;

	e2e_seconds(60);
	box_needs_namespaces();
	fill_pipes();
	box_raise(many_mounts(), NULL);
	p = signal_new(e2e_text("%d", SIGSTOP));
	REQUIRE(agentbox_verify_options_new(&options, &err) == 0 &&
		agentbox_verify_options_set_timeout(options, 3000, &err) == 0,
		"%s", agentbox_error_get_message(err));
	/* where the agent was too slow everything was answered */
	for (int i = 0; i < 10 && good; i++) {
		start = e2e_now_ms();
		REQUIRE(agentbox_verify_run(box(), options, &report, &err) == 0,
			"%s", agentbox_error_get_message(err));
		good = agentbox_verify_is_good(report) == 1;
		e2e_note("%lld ms", (long long)(e2e_now_ms() - start));
		agentbox_verify_free(report);
	}
	CHECK(!good, "nobody stopped it");
	agentbox_verify_options_free(options);
	agentbox_process_free(p);
}

/* --- a box of another process ------------------------------------------- */

static agentbox_context *context_of_a_client(void)
{
	agentbox_context *c = NULL;

	if (agentbox_context_new(&c, NULL) ||
	    agentbox_context_set_state_dir(c, host_path("state"), NULL))
		_exit(2);
	return c;
}

static void ask_for_a_test(const char *id)
{
	agentbox_context *c = context_of_a_client();
	agentbox_remote *remote = NULL;
	agentbox_bytes *reply = NULL;
	int32_t rc = agentbox_remote_open(c, id, &remote, NULL);

	if (rc == 0)
		rc = agentbox_remote_call(
			remote, e2e_text("{\"command\":\"verify\","
					 "\"box\":\"%s\"}", id), -1, &reply,
			NULL);
	_exit(rc ? 1 : 0);
}

static void ask_for_a_revocation(const char *id)
{
	agentbox_context *c = context_of_a_client();
	agentbox_bytes *json = NULL;

	(void)id;
	_exit(agentbox_remote_revoke_identity(c, "nobody@example", &json, NULL)
		      ? 1
		      : 0);
}

static pid_t client_new(void (*ask)(const char *id), const char *id)
{
	pid_t pid = fork();

	REQUIRE(pid >= 0, "%m");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ask(id);
	}
	return pid;
}

static void serve(agentbox_owner *owner)
{
	struct pollfd p = { .fd = agentbox_owner_get_fd(owner),
			    .events = POLLIN };
	int ms = agentbox_owner_get_timeout_ms(owner);
	agentbox_sandbox *boxes[] = { box() };
	agentbox_request *request = NULL;

	poll(&p, 1, ms < 0 || ms > 20 ? 20 : ms);
	CHECK(agentbox_owner_dispatch(owner, NULL) == 0, "dispatch");
	while (agentbox_owner_next_request(owner, &request, NULL) == 0)
		CHECK(agentbox_verify_answer(request, boxes, 1) == 1,
		      "not taken");
}

static bool has_exited(pid_t pid, int *status)
{
	return waitpid(pid, status, WNOHANG) == pid;
}

/* Its name is the descriptor's that it is started by. */
static bool program_is_stopped(void)
{
	return host_descendant_in("9", 'T') != 0;
}

/* Who asks waits; the owner serves others, and a client that goes ends it. */
static void who_stops_the_program_does_not_hold_up_the_owner(void)
{
	agentbox_owner *owner = NULL;
	agentbox_error *err = NULL;
	const char *id;
	pid_t first = 0, second;
	int status = 0;

	e2e_seconds(60);
	box_needs_namespaces();
	box_raise(NULL, NULL);
	id = agentbox_sandbox_get_id(box());
	REQUIRE(agentbox_owner_new(box_context(), NULL, &owner, &err) == 0 &&
		agentbox_owner_add(owner, box(), NULL, &err) == 0, "%s",
		agentbox_error_get_message(err));
	/* nobody stops it: the answer comes */
	first = client_new(ask_for_a_test, id);
	while (!has_exited(first, &status))
		serve(owner);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", status);
	agentbox_process *p = signal_new(e2e_text("%d", SIGSTOP));
	/* where the agent was too slow everything was answered */
	first = client_new(ask_for_a_test, id);
	while (!program_is_stopped()) {
		serve(owner);
		if (has_exited(first, &status))
			first = client_new(ask_for_a_test, id);
	}
	second = client_new(ask_for_a_revocation, id);
	while (!has_exited(second, &status))
		serve(owner);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", status);
	CHECK(!has_exited(first, &status), "the program was not stopped");
	CHECK(agentbox_owner_get_timeout_ms(owner) > 0, "nothing under way");
	kill(first, SIGKILL);
	waitpid(first, NULL, 0);
	while (agentbox_owner_get_timeout_ms(owner) >= 0)
		serve(owner);
	agent_end(p);
	/* a box that is served no more is not tried to its end either */
	first = client_new(ask_for_a_test, id);
	while (agentbox_owner_get_timeout_ms(owner) < 0)
		serve(owner);
	CHECK(agentbox_owner_remove(owner, NULL, NULL) == AGENTBOX_EINVAL,
	      "no box");
	CHECK(agentbox_owner_remove(owner, box(), &err) == 0, "%s",
	      agentbox_error_get_message(err));
	box_end();
	waitpid(first, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1, "%d", status);
	agentbox_owner_free(owner);
}

/* It is a part of the test that cannot be left for later: so it is short. */
static void a_second_box_that_hangs_does_not_hold_up_the_owner(void)
{
	agentbox_owner *owner = NULL;
	agentbox_error *err = NULL;
	int64_t longest = 0;
	int status = 0;
	pid_t client;

	e2e_seconds(120);
	box_needs_namespaces();
	box_use_mutant("agentbox-init", "nothing");
	box_raise(NULL, NULL);
	REQUIRE(agentbox_owner_new(box_context(), NULL, &owner, &err) == 0 &&
		agentbox_owner_add(owner, box(), NULL, &err) == 0, "%s",
		agentbox_error_get_message(err));
	host_write(host_path("mutant/agentbox-mutant"), "box-that-hangs");
	client = client_new(ask_for_a_test, agentbox_sandbox_get_id(box()));
	while (!has_exited(client, &status)) {
		int64_t began = e2e_now_ms();

		serve(owner);
		if (e2e_now_ms() - began > longest)
			longest = e2e_now_ms() - began;
	}
	e2e_note("%lld ms", (long long)longest);
	/* who asked has a report, in which what needs the other is unknown */
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", status);
	CHECK(longest < 1000 * (int64_t)ab_test_patience(12),
	      "it took %lld ms", (long long)longest);
	agentbox_owner_free(owner);
}

/* While the program runs, whom the shield cannot read is let through: it, and
   nobody of the box. */
static void who_acts_during_a_test_is_asked_about(void)
{
	agentbox_owner *owner = NULL;
	agentbox_error *err = NULL;
	pid_t client, prober = 0;
	int status = 0;

	e2e_seconds(60);
	box_needs_namespaces();
	box_needs("shield");
	box_raise(NULL, "\"peering\":\"read\",\"shield\":{\"mode\":"
			"\"deny\",\"watch\":[\"connect\",\"peers\"]}");
	REQUIRE(agentbox_owner_new(box_context(), NULL, &owner, &err) == 0 &&
		agentbox_owner_add(owner, box(), NULL, &err) == 0, "%s",
		agentbox_error_get_message(err));
	client = client_new(ask_for_a_test, agentbox_sandbox_get_id(box()));
	while (!program_is_stopped()) {
		serve(owner);
		/* it was too fast for us: once more */
		if (has_exited(client, &status))
			client = client_new(ask_for_a_test,
					    agentbox_sandbox_get_id(box()));
		prober = host_descendant("9");
		if (prober > 0)
			kill(prober, SIGSTOP);
	}
	ATTACK("EACCES", "odd-file undumpable /workspace/.shared/new");
	ATTACK("EACCES", "create /workspace/.shared/new");
	ATTACK("EACCES", "create-hidden /workspace/hidden");
	ATTACK("EACCES", "odd-connect hidden 127.0.0.1 9");
	ATTACK("EACCES", "connect 192.0.2.7 80");
	CHECK(program_is_stopped(), "it goes on");
	kill(prober, SIGCONT);
	while (!has_exited(client, &status))
		serve(owner);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", status);
	agentbox_owner_free(owner);
}

static const struct e2e_case cases[] = {
	CASE(who_signals_a_probe_gives_no_answer),
	CASE(who_takes_every_process_makes_it_unknown),
	CASE(who_takes_the_names_is_no_hindrance),
	CASE(who_ends_the_program_does_not_end_the_host),
	CASE(who_stops_the_program_does_not_hold_up_the_host),
	CASE(who_stops_the_program_does_not_hold_up_the_owner),
	CASE(a_second_box_that_hangs_does_not_hold_up_the_owner),
	CASE(who_acts_during_a_test_is_asked_about),
	CASES_END
};

int main(int argc, char **argv)
{
	return e2e_main(argc, argv, cases);
}
