/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host as it really is: threaded, reaping blindly, with closed
 * descriptors, killed; the box must live and die with it. Rows 59, 60, 91,
 * 92, 95 and 108 of tests/e2e/SANDBOX-CASES.md.
 */
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <agentbox/snapshot.h>

/*
 * A host in a process of its own: raises a box, starts a sleeper in it that
 * holds the write end of a pipe, says so. The read end: its end of file is
 * the death of everything in the box.
 */
static pid_t start_host_and(const char *script, int *eof_fd, int fork_first,
			    int *worker)
{
	int life[2], ready[2];
	char line[64] = "";
	pid_t pid;
	ssize_t n;

	box_needs_namespaces();
	REQUIRE(pipe2(life, O_CLOEXEC) == 0 && pipe2(ready, O_CLOEXEC) == 0,
		"%m");
	box_context();
	pid = fork();
	if (pid == 0) {
		close(life[0]);
		close(ready[0]);
		box_raise(NULL, NULL);
		BOX_START(life[1], "/attack/attacker", "do-stubborn",
			  "600000");
		box_sh("(setsid /attack/attacker do-stubborn 600000 &) "
		       ">/dev/null 2>&1");
		if (script)
			BOX_START(life[1], "sh", "-c", script);
		pid_t child = fork_first ? fork() : 0;

		if (fork_first && child == 0) {
			/* what multiprocessing's fork does: keeps every fd,
			   but not the pipe that is watched here */
			close(life[1]);
			close(ready[1]);
			sleep(300);
			_exit(0);
		}
		dprintf(ready[1], "ready %d\n", child);
		close(life[1]);
		pause();
		_exit(0);
	}
	close(life[1]);
	close(ready[1]);
	n = read(ready[0], line, sizeof(line) - 1);
	REQUIRE(n > 0 && sscanf(line, "ready %d", worker) == 1,
		"the host did not get ready");
	close(ready[0]);
	*eof_fd = life[0];
	return pid;
}

static pid_t start_host(int *eof_fd, int fork_first, int *worker)
{
	return start_host_and(NULL, eof_fd, fork_first, worker);
}

/* Until end of file; the sleeper's own words are skipped. */
static bool all_dead_within(int fd, int ms)
{
	int64_t until = e2e_now_ms() + ms;
	char text[64];

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = until - e2e_now_ms();

		if (left <= 0)
			return false;
		if (poll(&p, 1, (int)left) > 0 &&
		    read(fd, text, sizeof(text)) == 0)
			return true;
	}
}

/* After `pid` and all its box are gone, no helper of it may be left. */
static void no_descendant_within(size_t expected, int ms)
{
	int64_t until = e2e_now_ms() + ms;

	while (host_descendants() > expected && e2e_now_ms() < until)
		e2e_sleep_ms(10);
	CHECK(host_descendants() == expected, "%zu processes are left",
	      host_descendants() - expected);
}

static void case_059_killed_host_takes_the_box_along(void)
{
	int fd, worker;
	pid_t host = start_host(&fd, 0, &worker);

	CHECK(!all_dead_within(fd, 200), "the control: the box died early");
	kill(host, SIGKILL);
	CHECK(all_dead_within(fd, SOON_MS), "the box outlives its host");
	waitpid(host, NULL, 0);
	no_descendant_within(0, SOON_MS);
	close(fd);
}

/* --- what a killed host leaves in the state directory --- */

static const char *quarantine(const char *name)
{
	return ws_path(e2e_text("../state/quarantine/%s", name));
}

/* Two hours old, by its own word. */
static void age(const char *path)
{
	struct timespec old[2] = { { .tv_sec = time(NULL) - 7200 },
				   { .tv_sec = time(NULL) - 7200 } };

	REQUIRE(utimensat(AT_FDCWD, path, old, 0) == 0, "%s: %m", path);
}

static void make_quarantine(const char *name)
{
	REQUIRE(mkdir(quarantine(name), 0700) == 0, "%m");
}

static void case_059_what_a_killed_host_left_is_taken_away(void)
{
	int fd, worker, status;
	pid_t host = start_host(&fd, 0, &worker);
	char *of_host = HOST_RUN(&status, "sh", "-c",
				 e2e_text("printf %%s \"$(ls '%s' | grep -v "
						   "unsettled)\"",
					  quarantine("")));
	agentbox_sandbox *first;
	const char *mine;

	kill(host, SIGKILL);
	CHECK(all_dead_within(fd, SOON_MS), "the box outlives its host");
	waitpid(host, NULL, 0);
	no_descendant_within(0, SOON_MS);
	CHECK(host_exists(quarantine(of_host)), "gone before anybody came");
	first = box_raise(NULL, NULL);
	mine = agentbox_sandbox_get_id(first);
	CHECK(host_exists(quarantine(of_host)), "it may be of a box that is "
						"just being raised");
	make_quarantine("full");
	make_quarantine("full/000001-.envrc");
	make_quarantine("young");
	age(quarantine(of_host));
	age(quarantine(mine));
	age(quarantine("full"));
	box_raise(NULL, NULL);
	box_end();
	CHECK(!host_exists(quarantine(of_host)), "it stays for ever");
	CHECK(host_exists(quarantine(mine)), "of a box that lives");
	CHECK(host_exists(quarantine("full/000001-.envrc")), "lost");
	CHECK(host_exists(quarantine("young")), "of a box that is being "
						"raised");
	agentbox_sandbox_free(first);
	close(fd);
}

static void refused(const char *record, bool is_refused)
{
	agentbox_sandbox *one;
	int32_t code = 0;
	char *where = NULL, *message = NULL;

	host_write(quarantine("unsettled/box-gone"), record);
	one = box_try(box_document("workspace", NULL, NULL), &code, &where,
		      &message);
	CHECK(!one == is_refused, "'%s': %s", record, message ? message : "");
	CHECK(!is_refused || code == AGENTBOX_EWALL, "%d", code);
	CHECK(!is_refused || (strstr(message, "box-gone") &&
			      strstr(message, "unsettled")), "%s", message);
	if (one)
		box_end();
}

/* The box of an earlier host has left it. */
static void api_where_names_stand_no_box_is_raised(void)
{
	char *ws = realpath(ws_path("."), NULL);
	struct stat st;

	REQUIRE(ws && stat(ws, &st) == 0, "%m");
	box_raise(NULL, NULL);
	box_end();
	refused(e2e_text("%llu %llu %s", (unsigned long long)st.st_dev,
			 (unsigned long long)st.st_ino, "/elsewhere"), true);
	refused(e2e_text("1 2 %s", ws), true);
	refused(e2e_text("1 2 %s/below", ws), true);
	refused("1 2 /", true);
	refused("", true);
	refused("x", true);
	refused("1 2", true);
	refused(e2e_text("1 2 %s-beside", ws), false);
	refused("1 2 /elsewhere", false);
	host_write(quarantine("unsettled/box-gone"), e2e_text("1 2 %s", ws));
	REQUIRE(unlink(quarantine("unsettled/box-gone")) == 0, "%m");
	box_raise(NULL, NULL);
	free(ws);
}

/* While its agent plants: nobody looks any more, until another box comes. */
static void case_059_killed_holder_leaves_the_workspace_to_the_next(void)
{
	agentbox_error *err = NULL;
	const char *id;
	agentbox_process *p;

	box_raise(NULL, NULL);
	id = e2e_text("unsettled/%s", agentbox_sandbox_get_id(box()));
	CHECK(host_exists(quarantine(id)), "no record of a box that runs");
	p = BOX_START(-1, "sh", "-c", "echo evil >.envrc; sleep 60");
	CHECK(E2E_SOON(host_exists(ws_path(".envrc"))), "it plants nothing");
	kill(host_descendant("agentbox-init"), SIGKILL);
	CHECK(agentbox_sandbox_end(box(), &err) == AGENTBOX_EWALL,
	      "the end is told as good");
	CHECK(agentbox_error_get_errno(err) == EOWNERDEAD, "%s",
	      agentbox_error_get_message(err));
	agentbox_error_free(err);
	agentbox_process_free(p);
	box_end();
	CHECK(host_exists(ws_path(".envrc")), "the control: it is gone");
	CHECK(host_exists(quarantine(id)), "its record is gone");
	box_raise(NULL, NULL);
	CHECK(!host_exists(ws_path(".envrc")) && !host_exists(quarantine(id)),
	      "a box is raised over it");
	id = e2e_text("unsettled/%s", agentbox_sandbox_get_id(box()));
	box_end();
	CHECK(!host_exists(quarantine(id)), "a good end leaves its record");
}

/* An agent that plants as long as it lives, and is not ended by a signal. */
#define PLANTS "trap '' TERM INT HUP QUIT; while :; do echo evil >.envrc; done"

static void case_059_signal_to_all_leaves_a_good_workspace(void)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
	int fd, worker, status;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		/* whoever runs this beside a terminal has it ignored */
		signal(signals[i], SIG_DFL);
		pid_t host = start_host_and(PLANTS, &fd, 0, &worker);

		CHECK(E2E_SOON(host_exists(ws_path(".envrc"))),
		      "it plants nothing");
		host_signal_descendants(signals[i]);
		CHECK(all_dead_within(fd, SOON_MS),
		      "the box outlives signal %d", signals[i]);
		waitpid(host, &status, 0);
		CHECK(WIFSIGNALED(status), "wait status %x", status);
		no_descendant_within(0, SOON_MS);
		close(fd);
		CHECK(!host_exists(ws_path(".envrc")), "it stands");
		HOST_RUN(&status, "rmdir", quarantine("unsettled"));
		CHECK(status == 0, "signal %d: a record stays", signals[i]);
		box_raise(NULL, NULL);
		box_end();
	}
}

/* The same to the holder alone: its host hears of it. */
static void case_059_signal_to_the_holder_ends_the_box(void)
{
	agentbox_error *err = NULL;
	agentbox_process *p;
	agentbox_event *event = NULL;
	bool is_told = false;

	box_raise(NULL, NULL);
	p = BOX_START(-1, "sh", "-c", PLANTS);
	CHECK(E2E_SOON(host_exists(ws_path(".envrc"))), "it plants nothing");
	kill(host_descendant("agentbox-init"), SIGTERM);
	CHECK(agentbox_process_wait(p, SOON_MS, &err) == AGENTBOX_ECLOSED,
	      "the command goes on");
	agentbox_error_free(err);
	err = NULL;
	CHECK(agentbox_sandbox_end(box(), &err) == 0, "%s",
	      agentbox_error_get_message(err));
	agentbox_error_free(err);
	while (agentbox_sandbox_next_event(box(), &event, NULL) == 0) {
		is_told |= !strcmp(agentbox_event_get_kind(event), "ended");
		agentbox_event_free(event);
	}
	CHECK(is_told, "no event tells that it ended");
	agentbox_process_free(p);
	box_end();
	CHECK(!host_exists(ws_path(".envrc")), "it stands");
	box_raise(NULL, NULL);
}

static void case_059_host_that_exits_takes_the_box_along(void)
{
	int fd, worker;
	pid_t host = start_host(&fd, 0, &worker);

	kill(host, SIGTERM);
	CHECK(all_dead_within(fd, SOON_MS), "the box outlives its host");
	waitpid(host, NULL, 0);
	no_descendant_within(0, SOON_MS);
	close(fd);
}

static void case_108_forked_child_does_not_keep_the_box(void)
{
	int fd, worker = 0;
	pid_t host = start_host(&fd, 1, &worker);

	REQUIRE(worker > 0, "no worker");
	kill(host, SIGKILL);
	CHECK(all_dead_within(fd, SOON_MS),
	      "the box lives on with the forked child of its host");
	waitpid(host, NULL, 0);
	CHECK(kill(worker, 0) == 0, "the control: the child is gone too");
	no_descendant_within(1, SOON_MS);
	kill(worker, SIGKILL);
	waitpid(worker, NULL, 0);
	close(fd);
}

/* In a forked child handles answer EFORKED and freeing leaves the box. */
static void case_108_forked_child_cannot_use_the_box(void)
{
	int status;
	pid_t pid;

	box_raise(NULL, NULL);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct outcome o = BOX_RUN("true");

		if (o.result != AGENTBOX_EFORKED)
			_exit(1);
		agentbox_sandbox_free(box());
		_exit(0);
	}
	waitpid(pid, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	      "wait status %x", status);
	CHECK(BOX_RUN("true").status == 0, "the child's free ended the box");
}

/* A child that waits at the parent's descriptors takes its answers away. */
static void case_108_forked_child_has_no_descriptor_of_a_handle(void)
{
	int at = open(host_path("ws"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	agentbox_snapshot *job = NULL;
	agentbox_error *err = NULL;
	agentbox_process *p;
	int status = -1;
	pid_t pid;

	box_raise(NULL, NULL);
	p = BOX_START(-1, "sleep", "60");
	REQUIRE(p && at >= 0 &&
			agentbox_snapshot_copy(box_context(), at, "ws", at,
					       "copy", NULL, &job, &err) == 0,
		"%s", agentbox_error_get_message(err));
	CHECK(agentbox_process_get_fd(p) >= 0 &&
		      agentbox_process_get_pid(p) > 0 &&
		      agentbox_snapshot_get_fd(job) >= 0 &&
		      agentbox_snapshot_get_timeout_ms(job) >= 0,
	      "the control: the host has none either");
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit((agentbox_sandbox_get_fd(box()) != -1) |
		      (agentbox_process_get_fd(p) != -1) << 1 |
		      (agentbox_process_get_pid(p) != -1) << 2 |
		      (agentbox_snapshot_get_fd(job) != -1) << 3 |
		      (agentbox_snapshot_get_timeout_ms(job) != -1) << 4);
	waitpid(pid, &status, 0);
	CHECK(status == 0, "wait status %x", status);
	agentbox_snapshot_free(job);
	agentbox_process_free(p);
	close(at);
}

static void *raise_in_thread(void *data)
{
	agentbox_process **p = data;

	box_raise(NULL, NULL);
	*p = BOX_START(-1, "sleep", "1");
	return NULL;
}

static void case_060_box_survives_the_thread_that_raised_it(void)
{
	agentbox_process *p = NULL;
	agentbox_error *err = NULL;
	pthread_t thread;

	REQUIRE(pthread_create(&thread, NULL, raise_in_thread, &p) == 0,
		"thread");
	pthread_join(thread, NULL);
	e2e_sleep_ms(200);
	REQUIRE(p, "nothing was started");
	CHECK(BOX_RUN("true").status == 0, "the box ended with its thread");
	CHECK(agentbox_process_wait(p, SOON_MS, &err) == 0, "%s",
	      agentbox_error_get_message(err));
	CHECK(agentbox_process_get_exit_status(p) == 0, "signal %d",
	      agentbox_process_get_signal(p));
	agentbox_process_free(p);
}

static void *spawn_in_thread(void *data)
{
	agentbox_process **p = data;

	*p = BOX_START(-1, "sleep", "0.5");
	return NULL;
}

static void case_060_command_survives_the_thread_that_spawned_it(void)
{
	agentbox_process *p = NULL;
	agentbox_error *err = NULL;
	pthread_t thread;

	box_raise(NULL, NULL);
	REQUIRE(pthread_create(&thread, NULL, spawn_in_thread, &p) == 0,
		"thread");
	pthread_join(thread, NULL);
	CHECK(p && agentbox_process_wait(p, SOON_MS, &err) == 0 &&
	      agentbox_process_get_exit_status(p) == 0, "%s",
	      agentbox_error_get_message(err));
	agentbox_process_free(p);
}

static void run_some(const char *how)
{
	struct outcome o;

	box_raise(NULL, NULL);
	for (int i = 0; i < 10; i++) {
		o = BOX_RUN("/attack/attacker", "do-exit", "41");
		CHECK(o.status == 41, "%s: status %d %s %s", how, o.status,
		      o.reason, o.error);
	}
	o = BOX_RUN("/attack/attacker", "do-signal", "9");
	CHECK(o.signal == 9, "%s: signal %d", how, o.signal);
	box_end();
}

static void case_091_host_ignores_sigchld(void)
{
	signal(SIGCHLD, SIG_IGN);
	run_some("SIG_IGN");
	signal(SIGCHLD, SIG_DFL);
}

static void case_091_host_with_nocldwait(void)
{
	struct sigaction act = { .sa_handler = SIG_DFL,
				 .sa_flags = SA_NOCLDWAIT };

	sigaction(SIGCHLD, &act, NULL);
	run_some("SA_NOCLDWAIT");
	signal(SIGCHLD, SIG_DFL);
}

static atomic_bool reaping;

static void *reap(void *data)
{
	(void)data;
	while (reaping)
		if (waitpid(-1, NULL, __WALL | WNOHANG) <= 0)
			e2e_sleep_ms(1);
	return NULL;
}

static void case_091_another_thread_reaps_everything(void)
{
	pthread_t thread;

	reaping = true;
	REQUIRE(pthread_create(&thread, NULL, reap, NULL) == 0, "thread");
	for (int i = 0; i < 3; i++)
		run_some("waitpid(-1)");
	reaping = false;
	pthread_join(thread, NULL);
}

/* A signal mask and handlers of the host do not reach the command. */
static void case_091_signal_state_is_not_inherited(void)
{
	sigset_t all;

	sigfillset(&all);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigprocmask(SIG_BLOCK, &all, NULL);
	box_raise(NULL, NULL);
	ATTACK("OK", "status SigBlk");
	CHECK(strcmp(attack_detail(), "0000000000000000") == 0, "blocked %s",
	      attack_detail());
	ATTACK("OK", "status SigIgn");
	/* glibc's posix_spawn leaves its own 32 and 33 ignored */
	CHECK((strtoull(attack_detail(), NULL, 16) & ~0x180000000ull) == 0,
	      "ignored %s", attack_detail());
	box_end();
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
}

static void without_standard_descriptors(int first, int last)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		for (int fd = first; fd <= last; fd++)
			close(fd);
		box_raise(NULL, NULL);
		struct outcome o = BOX_RUN("/attack/attacker", "fd-list");
		bool good = o.result == 0 && strstr(o.out, "0=/dev/null ") &&
			    !strstr(o.out, " 3=");

		/* nothing of ours is where the host will put its own */
		good = good && agentbox_sandbox_get_fd(box()) > 2;
		for (int fd = first; fd <= last; fd++)
			good = good && fcntl(fd, F_GETFD) < 0;
		box_end();
		_exit(good ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	CHECK(status == 0, "with %d-%d closed: wait status %x", first, last,
	      status);
}

static void case_095_host_with_closed_standard_descriptors(void)
{
	box_needs_namespaces();
	box_context();
	without_standard_descriptors(0, 0);
	without_standard_descriptors(1, 2);
	without_standard_descriptors(0, 2);
}

/* --- threads -------------------------------------------------------------- */

#define BOXES 16
#define THREADS 64
#define ROUNDS 5

struct work {
	agentbox_sandbox *sandbox;
	int number;
	int bad;
	char error[200];
};

/* No harness here: it is not meant for several threads. */
static void *work(void *data)
{
	struct work *w = data;

	for (int i = 0; i < ROUNDS; i++) {
		char text[64];
		const char *argv[] = { "/bin/echo", text };
		agentbox_command *c = NULL;
		agentbox_process *p = NULL;
		agentbox_bytes *out = NULL;
		agentbox_error *err = NULL;

		snprintf(text, sizeof(text), "thread %d round %d", w->number,
			 i);
		if (agentbox_command_new(argv, 2, &c, &err) ||
		    agentbox_sandbox_capture(w->sandbox, c, 100, &p, &out,
					     NULL, &err)) {
			w->bad++;
			snprintf(w->error, sizeof(w->error), "%s",
				 agentbox_error_get_message(err));
			agentbox_error_free(err);
		} else if (strncmp(agentbox_bytes_get_data(out), text,
				   strlen(text)) != 0) {
			w->bad++;
			snprintf(w->error, sizeof(w->error), "got '%s'",
				 agentbox_bytes_get_data(out));
		}
		agentbox_bytes_free(out);
		agentbox_process_free(p);
		agentbox_command_free(c);
	}
	return NULL;
}

static void case_092_64_threads_in_16_boxes(void)
{
	agentbox_sandbox *boxes[BOXES];
	pthread_t threads[THREADS];
	static struct work works[THREADS];
	size_t fds, after;

	e2e_seconds(30); /* 16 cold starts and 320 commands, on two CPUs */
	box_raise(NULL, NULL);
	box_end();
	fds = host_fd_count(getpid());
	for (int i = 0; i < BOXES; i++)
		boxes[i] = box_raise(NULL, NULL);
	for (int i = 0; i < THREADS; i++) {
		works[i].sandbox = boxes[i % BOXES];
		works[i].number = i;
		REQUIRE(pthread_create(&threads[i], NULL, work,
				       &works[i]) == 0, "thread");
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		CHECK(!works[i].bad, "thread %d: %d bad, last: %s", i,
		      works[i].bad, works[i].error);
	}
	box_end();
	for (int i = 0; i < BOXES - 1; i++)
		agentbox_sandbox_free(boxes[i]);
	after = host_fd_count(getpid());
	CHECK(after == fds, "%zu descriptors before, %zu after", fds, after);
}

struct raising {
	agentbox_context *context;
	agentbox_policy *policy;
	int32_t result;
	char error[200];
};

static void *raise_box(void *data)
{
	struct raising *r = data;
	agentbox_sandbox *s = NULL;
	agentbox_error *err = NULL;

	r->result = agentbox_sandbox_new(r->context, r->policy, NULL, &s,
					 &err);
	snprintf(r->error, sizeof(r->error), "%s",
		 agentbox_error_get_message(err));
	agentbox_error_free(err);
	agentbox_sandbox_free(s);
	return NULL;
}

static void case_092_16_boxes_raised_at_once(void)
{
	pthread_t threads[BOXES];
	static struct raising raisings[BOXES];
	agentbox_policy *policy;

	box_raise(NULL, NULL);
	box_end();
	policy = box_policy(box_document("workspace", NULL, NULL));
	for (int i = 0; i < BOXES; i++) {
		raisings[i].context = box_context();
		raisings[i].policy = policy;
		REQUIRE(pthread_create(&threads[i], NULL, raise_box,
				       &raisings[i]) == 0, "thread");
	}
	for (int i = 0; i < BOXES; i++) {
		pthread_join(threads[i], NULL);
		CHECK(raisings[i].result == 0, "%s", raisings[i].error);
	}
	agentbox_policy_unref(policy);
}

/* How often a process has run; -1: it does now, or nobody knows. */
static long has_run(pid_t pid)
{
	char *text = host_read(e2e_text("/proc/%d/status", pid));
	char *asked = text ? strstr(text, "\nvoluntary_ctxt_switches:") : NULL;
	char *taken = text ? strstr(text, "\nnonvoluntary_ctxt_switches:")
			   : NULL;

	if (!asked || !taken || !strstr(text, "\nState:\tS"))
		return -1;
	return strtol(asked + 25, NULL, 10) + strtol(taken + 28, NULL, 10);
}

/*
 * A millisecond after the last process of a command is gone the holder looks
 * whether anybody is left, by files of proc(5): it holds one of them then.
 * What it holds for itself is what it holds when it waits.
 */
static void until_at_rest(pid_t pid)
{
	for (long before = -1, now, same = 0; same < 5; before = now) {
		e2e_sleep_ms(10);
		now = has_run(pid);
		same = now >= 0 && now == before ? same + 1 : 0;
	}
}

static void leaks_over(int rounds, bool cold)
{
	size_t fds = 0, rss = 0, init_fds = 0, init_rss = 0;
	pid_t holder = 0;

	box_raise(NULL, NULL);
	for (int i = 0; i < rounds; i++) {
		if (cold) {
			box_end();
			box_raise(NULL, NULL);
		}
		CHECK(BOX_RUN("/bin/true").status == 0, "round %d", i);
		if (i != rounds / 4)
			continue;
		holder = host_descendant("agentbox-init");
		fds = host_fd_count(getpid());
		rss = host_rss_kib(getpid());
		until_at_rest(holder);
		init_fds = host_fd_count(holder);
		init_rss = host_rss_kib(holder);
	}
	CHECK(host_fd_count(getpid()) == fds, "descriptors: %zu, then %zu",
	      fds, host_fd_count(getpid()));
	/* the harness keeps some text per round; a sanitizer keeps all */
	if (!*(getenv("AB_TEST_SANITIZED") ?: ""))
		CHECK(host_rss_kib(getpid()) <= rss + 2048,
		      "RSS: %zu, then %zu", rss, host_rss_kib(getpid()));
	if (cold || !holder)
		return;
	until_at_rest(holder);
	CHECK(host_fd_count(holder) == init_fds,
	      "descriptors of init: %zu, then %zu", init_fds,
	      host_fd_count(holder));
	CHECK(host_rss_kib(holder) <= init_rss + 256,
	      "RSS of init: %zu, then %zu", init_rss, host_rss_kib(holder));
}

static void api_300_commands_leak_nothing(void)
{
	leaks_over(300, false);
}

static void api_40_boxes_leak_nothing(void)
{
	leaks_over(40, true);
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_059_killed_host_takes_the_box_along),
		CASE(case_059_what_a_killed_host_left_is_taken_away),
		CASE(api_where_names_stand_no_box_is_raised),
		CASE(case_059_killed_holder_leaves_the_workspace_to_the_next),
		CASE(case_059_signal_to_all_leaves_a_good_workspace),
		CASE(case_059_signal_to_the_holder_ends_the_box),
		CASE(case_059_host_that_exits_takes_the_box_along),
		CASE(case_060_box_survives_the_thread_that_raised_it),
		CASE(case_060_command_survives_the_thread_that_spawned_it),
		CASE(case_091_host_ignores_sigchld),
		CASE(case_091_host_with_nocldwait),
		CASE(case_091_another_thread_reaps_everything),
		CASE(case_091_signal_state_is_not_inherited),
		CASE(case_092_64_threads_in_16_boxes),
		CASE(case_092_16_boxes_raised_at_once),
		CASE(case_095_host_with_closed_standard_descriptors),
		CASE(case_108_forked_child_does_not_keep_the_box),
		CASE(case_108_forked_child_cannot_use_the_box),
		CASE(case_108_forked_child_has_no_descriptor_of_a_handle),
		CASE(api_300_commands_leak_nothing),
		CASE(api_40_boxes_leak_nothing),
		CASES_END,
	};

	return e2e_main(argc, argv, cases);
}
