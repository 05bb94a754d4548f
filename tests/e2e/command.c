/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a command in a box is and gets: arguments, environment, directory,
 * descriptors, terminal; its status, signals, limits and report; and that
 * nothing is left when the box ends. Rows 58, 63, 64, 76, 95, 99 and 100 of
 * tests/e2e/SANDBOX-CASES.md, and the promises of agentbox/sandbox.h.
 */
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "abtest.h"

static agentbox_command *command(const char *const *argv)
{
	agentbox_command *c = NULL;
	agentbox_error *err = NULL;
	size_t n = 0;

	while (argv[n])
		n++;
	REQUIRE(agentbox_command_new(argv, n, &c, &err) == 0, "%s",
		agentbox_error_get_message(err));
	return c;
}
#define COMMAND(...) command((const char *const[]){ __VA_ARGS__, NULL })

static agentbox_process *spawn(agentbox_command *c)
{
	agentbox_process *p = NULL;
	agentbox_error *err = NULL;

	REQUIRE(agentbox_sandbox_spawn(box(), c, &p, &err) == 0, "%s",
		agentbox_error_get_message(err));
	agentbox_command_free(c);
	return p;
}

static void wait_for(agentbox_process *p, int64_t ms)
{
	agentbox_error *err = NULL;

	REQUIRE(agentbox_process_wait(p, ms, &err) == 0, "%s",
		agentbox_error_get_message(err));
}

static struct outcome collect(agentbox_command *c)
{
	struct outcome o = { .status = -1 };
	agentbox_process *p = NULL;
	agentbox_bytes *out = NULL, *errors = NULL;
	agentbox_error *err = NULL;

	o.result = agentbox_sandbox_capture(box(), c, 1 << 20, &p, &out,
					    &errors, &err);
	REQUIRE(o.result == 0, "%s", agentbox_error_get_message(err));
	o.status = agentbox_process_get_exit_status(p);
	o.signal = agentbox_process_get_signal(p);
	o.out = e2e_text("%s", agentbox_bytes_get_data(out));
	o.err = e2e_text("%s", agentbox_bytes_get_data(errors));
	agentbox_bytes_free(out);
	agentbox_bytes_free(errors);
	agentbox_process_free(p);
	agentbox_command_free(c);
	return o;
}

static void api_cold_start_and_warm_spawns(void)
{
	int64_t start = e2e_now_ms();

	box_raise(NULL, NULL);
	CHECK(strlen(agentbox_sandbox_get_id(box())) == 32, "id %s",
	      agentbox_sandbox_get_id(box()));
	CHECK(strcmp(agentbox_sandbox_get_tier(box()), "full") == 0, "tier %s",
	      agentbox_sandbox_get_tier(box()));
	for (int i = 0; i < 100; i++) {
		struct outcome o = BOX_RUN("/attack/attacker", "do-exit",
					   e2e_text("%d", i));

		REQUIRE(o.status == i, "round %d: status %d %s", i, o.status,
			o.error);
	}
	e2e_note("cold start and 100 commands in %lld ms",
		 (long long)(e2e_now_ms() - start));
	CHECK(host_exists(ws_path("README")), "workspace is gone");
}

static void api_arguments_arrive_as_they_are(void)
{
	char *big = e2e_text("%0100000d", 7);
	struct outcome o;

	box_raise(NULL, NULL);
	o = BOX_RUN("/bin/sh", "-c", "printf '<%s>' \"$@\"", "sh", "", "a b",
		    "$(id)", "*", "\n", "\xff\xfe");
	CHECK(strcmp(o.out, "<><a b><$(id)><*><\n><\xff\xfe>") == 0, "%s",
	      o.out);
	/* longer than a message: travels as a memfd */
	o = BOX_RUN("/bin/sh", "-c", "printf %s \"${#1}\"", "sh", big);
	CHECK(strcmp(o.out, "100000") == 0, "a long argument: %s%s", o.out,
	      o.error);
	/* execve(2): one argument has at most 128 KiB, with its NUL */
	o = BOX_RUN("/bin/true", e2e_text("%0131072d", 7));
	CHECK(o.result == AGENTBOX_ELIMIT, "%s: %s",
	      agentbox_error_name(o.result), o.error);
}

static void api_program_is_found_in_path_or_refused(void)
{
	struct outcome o;

	box_raise(NULL, NULL);
	CHECK(BOX_RUN("true").status == 0, "true is not found in PATH");
	o = BOX_RUN("no-such-program-anywhere");
	CHECK(o.result == AGENTBOX_ENOTFOUND, "%s: %s",
	      agentbox_error_name(o.result), o.error);
	o = BOX_RUN("/workspace/README");
	CHECK(o.result == AGENTBOX_EACCES, "%s: %s",
	      agentbox_error_name(o.result), o.error);
	o = BOX_RUN("/workspace/src");
	CHECK(o.result == AGENTBOX_EACCES, "%s: %s",
	      agentbox_error_name(o.result), o.error);
	CHECK(strcmp(o.error, "cannot run '/workspace/src' in the box: "
			      "permission denied") == 0, "%s", o.error);
	/* the box is as good as before */
	CHECK(BOX_RUN("true").status == 0, "no command runs after refusals");
}

static void api_cwd_is_inside(void)
{
	agentbox_command *c;
	agentbox_error *err = NULL;
	agentbox_process *p = NULL;
	struct outcome o;
	int32_t r;

	box_raise(NULL, NULL);
	o = BOX_RUN("pwd");
	CHECK(strcmp(o.out, "/workspace\n") == 0, "%s", o.out);
	c = COMMAND("pwd");
	CHECK(agentbox_command_set_cwd(c, "/tmp", &err) == 0, "set_cwd");
	o = collect(c);
	CHECK(strcmp(o.out, "/tmp\n") == 0, "%s", o.out);
	/* a host path that is not in the box */
	c = COMMAND("pwd");
	REQUIRE(agentbox_command_set_cwd(c, host_path("outside"), &err) == 0,
		"set_cwd");
	r = agentbox_sandbox_spawn(box(), c, &p, &err);
	CHECK(r < 0, "a command runs in a directory that is not there");
	e2e_note("%s: %s", agentbox_error_name(r),
		 agentbox_error_get_message(err));
	agentbox_error_free(err);
	agentbox_process_free(p);
	agentbox_command_free(c);
}

static void api_environment_is_what_the_policy_passes(void)
{
	agentbox_command *c;
	agentbox_error *err = NULL;
	struct outcome o;

	/* the library reads no environment of its own */
	setenv("E2E_FROM_HOST", "leaked", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "FAKE-FOR-TESTS", 1);
	box_raise(NULL, "\"env\":{\"set\":{\"E2E_SET\":\"by policy\","
		  "\"PATH\":\"/usr/bin:/bin\"},\"pass\":[\"E2E_PASS\"]}");
	c = COMMAND("env");
	REQUIRE(agentbox_command_set_env(c, "E2E_COMMAND", "by command",
					 &err) == 0 &&
		agentbox_command_set_host_env(c, "E2E_PASS", "passed",
					      &err) == 0 &&
		agentbox_command_set_host_env(c, "E2E_OTHER", "not listed",
					      &err) == 0, "%s",
		agentbox_error_get_message(err));
	o = collect(c);
	CHECK(strstr(o.out, "E2E_SET=by policy\n"), "%s", o.out);
	CHECK(strstr(o.out, "E2E_PASS=passed\n"), "%s", o.out);
	CHECK(strstr(o.out, "E2E_COMMAND=by command\n"), "%s", o.out);
	CHECK(!strstr(o.out, "E2E_OTHER"), "%s", o.out);
	CHECK(!strstr(o.out, "E2E_FROM_HOST"), "%s", o.out);
	CHECK(!strstr(o.out, "FAKE-FOR-TESTS"), "%s", o.out);
	c = COMMAND("env");
	CHECK(agentbox_command_set_env(c, "A=B", "x", &err) ==
	      AGENTBOX_EINVAL, "a name with '='");
	agentbox_error_free(err);
	agentbox_command_free(c);
}

static void case_095_descriptors_are_exactly_those_listed(void)
{
	agentbox_command *c;
	agentbox_error *err = NULL;
	struct outcome o;
	int in[2], extra[2], loose = open("/dev/zero", O_RDONLY);

	REQUIRE(loose >= 0 && pipe(in) == 0 && pipe(extra) == 0, "%m");
	REQUIRE(write(in[1], "from the host", 13) == 13, "%m");
	close(in[1]);
	box_raise(NULL, NULL);
	c = COMMAND("/bin/sh", "-c",
		    "cat; echo to the host >&7; /attack/attacker fd-list");
	REQUIRE(agentbox_command_set_fd(c, 0, in[0], &err) == 0 &&
		agentbox_command_set_fd(c, 7, extra[1], &err) == 0, "%s",
		agentbox_error_get_message(err));
	o = collect(c);
	CHECK(strncmp(o.out, "from the host", 13) == 0, "%s", o.out);
	char text[32] = "";

	close(extra[1]);
	CHECK(read(extra[0], text, 31) == 12 &&
	      strcmp(text, "to the host\n") == 0, "fd 7: %s", text);
	/* 0 1 2 7 and nothing else */
	char *list = strstr(o.out, "fd-list OK ");
	size_t n = 0;

	for (char *at = list; at && (at = strchr(at, '=')); at++)
		n++;
	CHECK(list && n == 4 && strstr(list, " 7=pipe:"), "%s", o.out);
	o = BOX_RUN("/attack/attacker", "fd-list");
	CHECK(strstr(o.out, "0=/dev/null "), "stdin: %s", o.out);
	CHECK(!strstr(o.out, " 3=") && !strstr(o.out, " 7="), "%s", o.out);
	close(in[0]);
	close(extra[0]);
	close(loose);
}

/* A regular file is relayed: in, out, and appended to. */
static size_t size_of(const char *path)
{
	return strlen(host_read(path));
}

static void api_regular_files_as_stdio(void)
{
	agentbox_command *c;
	agentbox_error *err = NULL;
	agentbox_process *p;
	char *big = e2e_text("%0200000d\n", 5);
	int in, out;

	host_write(host_path("in.txt"), big);
	in = open(host_path("in.txt"), O_RDONLY | O_CLOEXEC);
	out = open(host_path("out.txt"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	box_raise(NULL, NULL);
	c = COMMAND("cat");
	REQUIRE(agentbox_command_set_fd(c, 0, in, &err) == 0 &&
		agentbox_command_set_fd(c, 1, out, &err) == 0, "%s",
		agentbox_error_get_message(err));
	p = spawn(c);
	wait_for(p, SOON_MS);
	agentbox_process_free(p);
	(void)E2E_SOON(size_of(host_path("out.txt")) >= strlen(big));
	CHECK(strcmp(host_read(host_path("out.txt")), big) == 0,
	      "%zu bytes arrived", strlen(host_read(host_path("out.txt"))));
	close(in);
	close(out);
}

static agentbox_process *start_into(const char *script, int out)
{
	agentbox_command *c = COMMAND("/bin/sh", "-c", script);
	agentbox_error *err = NULL;

	REQUIRE(agentbox_command_set_fd(c, 1, out, &err) == 0, "%s",
		agentbox_error_get_message(err));
	return spawn(c);
}

/* What it left behind writes on, and the host's file stays as it is. */
static void api_a_relay_ends_with_its_command(void)
{
	const char *path = host_path("out.txt");
	int out = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	agentbox_process *p;

	box_raise(NULL, NULL);
	p = start_into("trap '' PIPE; (setsid sh -c 'i=0; while sleep .02; do "
		       "echo late || : >/workspace/refused; done' &); "
		       "printf %070000d 7; exit 4", out);
	wait_for(p, SOON_MS);
	CHECK(agentbox_process_get_exit_status(p) == 4, "status");
	agentbox_process_free(p);
	CHECK(size_of(path) >= 70000, "%zu bytes", size_of(path));
	CHECK(E2E_SOON(host_exists(ws_path("refused"))), "it writes on");
	size_t before = size_of(path);
	e2e_sleep_ms(200);
	CHECK(size_of(path) == before, "%zu bytes more",
	      size_of(path) - before);
	close(out);
}

/* More than the holder has places for. */
static void api_left_processes_take_no_relay_away(void)
{
	int out = open(host_path("out.txt"), O_WRONLY | O_CREAT | O_CLOEXEC,
		       0600);

	box_raise(NULL, NULL);
	for (int i = 0; i < 70; i++) {
		agentbox_process *p = start_into("(setsid sleep 60 &); true",
						 out);

		wait_for(p, SOON_MS);
		agentbox_process_free(p);
	}
	close(out);
}

/* Reads the terminal until `until` appears or it ends. */
static char *read_pty(int fd, const char *until, int ms)
{
	char text[8192];
	size_t used = 0;
	int64_t end = e2e_now_ms() + ms;

	text[0] = 0;
	while (used < sizeof(text) - 1 && e2e_now_ms() < end) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, 100) <= 0)
			continue;
		n = read(fd, text + used, sizeof(text) - 1 - used);
		if (n <= 0)
			break;
		used += (size_t)n;
		text[used] = 0;
		if (until && strstr(text, until))
			break;
	}
	return e2e_text("%s", text);
}

static void api_terminal_of_the_box(void)
{
	agentbox_command *c;
	agentbox_error *err = NULL;
	agentbox_process *p;
	int32_t fd = -1;
	char *text;

	box_raise(NULL, NULL);
	c = COMMAND("/bin/sh", "-c",
		    "tty; stty size; trap 'stty size' WINCH; "
		    "echo ready >/dev/tty; until read x; do :; done; "
		    "echo \"got $x\"; sleep 60; exit 7");
	REQUIRE(agentbox_command_set_pty(c, 24, 80, &err) == 0, "%s",
		agentbox_error_get_message(err));
	p = spawn(c);
	REQUIRE(agentbox_process_open_pty(p, &fd, &err) == 0, "%s",
		agentbox_error_get_message(err));
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC, "not CLOEXEC");
	text = read_pty(fd, "ready", SOON_MS);
	CHECK(strstr(text, "/dev/pts/"), "no terminal: %s", text);
	CHECK(strstr(text, "24 80"), "size: %s", text);
	CHECK(agentbox_process_resize(p, 50, 132, &err) == 0, "%s",
	      agentbox_error_get_message(err));
	REQUIRE(write(fd, "hello\n", 6) == 6, "%m");
	/* the signal may end the first read of the shell */
	text = read_pty(fd, "got hello", SOON_MS);
	CHECK(strstr(text, "50 132"), "the new size did not arrive: %s",
	      text);
	/* ^C reaches the foreground; a shell that does not wait for its
	   command yet keeps one to itself until that has ended */
	(void)E2E_SOON(write(fd, "\003", 1) == 1 &&
		       agentbox_process_wait(p, 200, NULL) == 0);
	wait_for(p, SOON_MS);
	CHECK(agentbox_process_get_signal(p) == SIGINT ||
	      agentbox_process_get_exit_status(p) == 130, "signal %d status "
	      "%d", agentbox_process_get_signal(p),
	      agentbox_process_get_exit_status(p));
	close(fd);
	agentbox_process_free(p);
}

static void api_job_control_works(void)
{
	agentbox_command *c;
	agentbox_error *err = NULL;
	agentbox_process *p;
	int32_t fd = -1;
	char *text;

	if (!host_has("bash"))
		e2e_skip("bash is not installed");
	box_raise(NULL, NULL);
	c = COMMAND("bash", "--norc", "-i");
	REQUIRE(agentbox_command_set_pty(c, 24, 80, &err) == 0, "pty");
	p = spawn(c);
	REQUIRE(agentbox_process_open_pty(p, &fd, &err) == 0, "open_pty");
	REQUIRE(write(fd, "sleep 100\n", 10) == 10, "%m");
	/* the terminal is its own before it is called so */
	REQUIRE(E2E_SOON(host_descendant_in("sleep", 'S')), "no sleep");
	REQUIRE(write(fd, "\032", 1) == 1, "%m");
	text = read_pty(fd, "Stopped", SOON_MS);
	CHECK(strstr(text, "Stopped"), "^Z: %s", text);
	CHECK(!strstr(text, "no job control"), "%s", text);
	/* "wait", or a shell that has not reaped it yet refuses to exit */
	REQUIRE(write(fd, "kill -9 %1; wait %1\n", 20) == 20, "%m");
	text = read_pty(fd, "Killed", SOON_MS);
	REQUIRE(write(fd, "exit 5\n", 7) == 7, "%m");
	text = read_pty(fd, NULL, 1500);
	CHECK(agentbox_process_wait(p, SOON_MS, &err) == 0, "%s: %s",
	      agentbox_error_get_message(err), text);
	agentbox_error_free(err);
	CHECK(agentbox_process_get_exit_status(p) == 5, "status %d: %s",
	      agentbox_process_get_exit_status(p), text);
	close(fd);
	agentbox_process_free(p);
}

static void case_064_statuses_are_exact(void)
{
	static const int signals[] = { SIGTERM, SIGKILL, SIGSEGV, SIGABRT,
				       SIGPIPE, SIGUSR1 };
	struct outcome o;

	box_raise(NULL, NULL);
	for (int status = 0; status < 256; status += 51) {
		o = BOX_RUN("/attack/attacker", "do-exit",
			    e2e_text("%d", status));
		CHECK(o.status == status && !o.signal &&
		      strcmp(o.reason, "exited") == 0, "%d: %d %d %s", status,
		      o.status, o.signal, o.reason);
	}
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		o = BOX_RUN("/attack/attacker", "do-signal",
			    e2e_text("%d", signals[i]));
		CHECK(o.status == -1 && o.signal == signals[i] &&
		      strcmp(o.reason, "signal") == 0, "signal %d: %d %d %s",
		      signals[i], o.status, o.signal, o.reason);
	}
	/* a shell's own numbers are only numbers */
	o = box_sh("exit 137");
	CHECK(o.status == 137 && !o.signal, "%d %d", o.status, o.signal);
}

static void case_064_stopped_is_not_ended(void)
{
	agentbox_process *p;
	agentbox_error *err = NULL;

	box_raise(NULL, NULL);
	p = BOX_START(-1, "/attack/attacker", "do-stop");
	CHECK(agentbox_process_wait(p, 300, &err) == AGENTBOX_ETIMEOUT,
	      "a stopped command counts as ended");
	agentbox_error_free(err);
	err = NULL;
	CHECK(strcmp(agentbox_process_get_reason(p), "running") == 0, "%s",
	      agentbox_process_get_reason(p));
	CHECK(agentbox_process_kill(p, SIGCONT, &err) == 0, "%s",
	      agentbox_error_get_message(err));
	wait_for(p, SOON_MS);
	CHECK(agentbox_process_get_exit_status(p) == 7, "status %d",
	      agentbox_process_get_exit_status(p));
	agentbox_process_free(p);
}

static void api_kill_and_kill_all(void)
{
	agentbox_process *p, *q;
	agentbox_error *err = NULL;

	box_raise(NULL, NULL);
	p = BOX_START(-1, "/bin/sh", "-c", "sleep 100 & sleep 100");
	CHECK(agentbox_process_get_pid(p) > 1, "pid %d",
	      agentbox_process_get_pid(p));
	CHECK(agentbox_process_wait(p, 0, &err) == AGENTBOX_ETIMEOUT,
	      "ended?");
	agentbox_error_free(err);
	err = NULL;
	CHECK(agentbox_process_kill(p, SIGTERM, &err) == 0, "%s",
	      agentbox_error_get_message(err));
	wait_for(p, SOON_MS);
	CHECK(agentbox_process_get_signal(p) == SIGTERM, "signal %d",
	      agentbox_process_get_signal(p));
	agentbox_process_free(p);
	/* nothing it can ignore helps against kill_all */
	p = BOX_START(-1, "/attack/attacker", "do-stubborn", "100000");
	q = BOX_START(-1, "/bin/sh", "-c",
		      "setsid sh -c 'sleep 100 & sleep 100' & wait");
	e2e_sleep_ms(200);
	CHECK(agentbox_sandbox_kill_all(box(), &err) == 0, "%s",
	      agentbox_error_get_message(err));
	wait_for(p, SOON_MS);
	wait_for(q, SOON_MS);
	CHECK(agentbox_process_get_signal(p) == SIGKILL, "signal %d",
	      agentbox_process_get_signal(p));
	CHECK(strcmp(agentbox_process_get_reason(p), "killed") == 0, "%s",
	      agentbox_process_get_reason(p));
	agentbox_process_free(p);
	agentbox_process_free(q);
	ATTACK("OK", "processes");
	CHECK(!strstr(attack_detail(), "sleep"), "left: %s", attack_detail());
}

/*
 * Every way out of a process group and of a family: a session of its own, a
 * double fork, nohup. Each sleeps for a time of its own, to be found by it.
 */
#define LEAVE_GROUP(seconds) \
	"setsid sleep " seconds "1 & (setsid sh -c 'sleep " seconds "2 & ' &); " \
	"nohup sleep " seconds "3 >/dev/null 2>&1 & " \
	"(sh -c '(setsid sleep " seconds "4 &) &' &); sleep 0.3; echo left; "

/* How many processes of the box sleep for a time that begins like this. */
static int sleepers(const char *seconds)
{
	struct outcome o = box_sh("grep -lz '^%s.$' /proc/[0-9]*/cmdline "
				  "2>/dev/null | wc -l", seconds);

	REQUIRE(o.status == 0, "%s", o.err);
	return atoi(o.out);
}

/* They are gone when the end is told, not some time after. */
static void api_kill_ends_what_left_the_group(void)
{
	agentbox_process *p, *other;
	agentbox_error *err = NULL;

	box_raise(NULL, NULL);
	other = BOX_START(-1, "/bin/sh", "-c", LEAVE_GROUP("77") "sleep 775");
	p = BOX_START(-1, "/bin/sh", "-c", LEAVE_GROUP("88") "sleep 885");
	CHECK(E2E_SOON(sleepers("88") == 5), "%d run before", sleepers("88"));
	CHECK(E2E_SOON(sleepers("77") == 5), "%d of another", sleepers("77"));
	CHECK(agentbox_process_kill(p, SIGKILL, &err) == 0, "%s",
	      agentbox_error_get_message(err));
	wait_for(p, SOON_MS);
	CHECK(strcmp(agentbox_process_get_reason(p), "killed") == 0, "%s",
	      agentbox_process_get_reason(p));
	CHECK(sleepers("88") == 0, "%d run after", sleepers("88"));
	CHECK(sleepers("77") == 5, "%d of another command", sleepers("77"));
	agentbox_process_free(p);
	/* freeing it ends it as well; nobody waits for that */
	agentbox_process_free(other);
	CHECK(E2E_SOON(sleepers("77") == 0), "%d run after", sleepers("77"));
}

static void api_wall_ends_what_left_the_group(void)
{
	agentbox_process *p;
	int64_t start = e2e_now_ms();

	box_raise(NULL, "\"limits\":{\"wall\":\"1500ms\"}");
	p = BOX_START(-1, "/bin/sh", "-c", LEAVE_GROUP("88") "sleep 885");
	wait_for(p, SOON_MS);
	CHECK(strcmp(agentbox_process_get_reason(p), "wall") == 0, "%s",
	      agentbox_process_get_reason(p));
	CHECK(e2e_now_ms() - start < 1000 * (int64_t)ab_test_patience(4),
	      "took %lld ms", (long long)(e2e_now_ms() - start));
	CHECK(sleepers("88") == 0, "%d run after", sleepers("88"));
	agentbox_process_free(p);
}

/*
 * A command that ends in time leaves nothing beyond it either. False: it had
 * to wait for a processor for so long that its time was over before.
 */
static bool wall_ends_what_is_left(void)
{
	int64_t later, start = e2e_now_ms();
	int before, first, second;
	bool is_in_time;

	box_raise(NULL, "\"limits\":{\"wall\":\"3s\"}");
	box_sh(LEAVE_GROUP("88") "exit 3");
	before = sleepers("88");
	is_in_time = e2e_now_ms() - start < 3000;
	e2e_sleep_ms(1500);
	later = e2e_now_ms();
	box_sh("setsid sleep 991 & sleep 0.2");
	first = E2E_SOON(sleepers("88") == 0) ? 0 : sleepers("88");
	second = sleepers("99");
	is_in_time &= e2e_now_ms() - later < 3000;
	CHECK(before == 4 || !is_in_time, "%d run before", before);
	CHECK(first == 0, "%d run after", first);
	CHECK(second == 1 || !is_in_time, "the later command's time is its "
	      "own");
	CHECK(E2E_SOON(sleepers("99") == 0), "%d run after", sleepers("99"));
	box_end();
	return is_in_time;
}

static void api_wall_ends_what_a_command_left_behind(void)
{
	bool is_judged = false;

	e2e_seconds(60);
	for (int i = 0; i < 10 && !is_judged; i++)
		is_judged = wall_ends_what_is_left();
	CHECK(is_judged, "the machine was never fast enough");
}

/* How many processes are made in a tenth of a second, ours included. */
static int made(void)
{
	int before = atoi(box_sh("echo $$").out);

	e2e_sleep_ms(100);
	return atoi(box_sh("echo $$").out) - before;
}

static void api_kill_catches_who_runs_away(void)
{
	agentbox_error *err = NULL;

	box_raise(NULL, "\"limits\":{\"pids\":1000}");
	for (int i = 0; i < 5; i++) {
		struct outcome o;
		agentbox_process *p =
			BOX_START(-1, "/bin/sh", "-c",
				  "/attack/attacker do-run-away 4 & "
				  "exec sleep 100");
		int64_t start;

		CHECK(E2E_SOON(made() > 50), "the control: they do not run");
		start = e2e_now_ms();
		CHECK(agentbox_process_kill(p, SIGKILL, &err) == 0, "%s",
		      agentbox_error_get_message(err));
		wait_for(p, SOON_MS);
		CHECK(e2e_now_ms() - start < 500 * (int64_t)ab_test_patience(3),
		      "took %lld ms", (long long)(e2e_now_ms() - start));
		agentbox_process_free(p);
		o = box_sh("cat /proc/[0-9]*/comm | sort | uniq -c");
		CHECK(!strstr(o.out, "attacker") && !strstr(o.out, "sleep"),
		      "left: %s", o.out);
		CHECK(made() < 20, "they still run");
	}
}

/* What tells whose child a process is, it cannot change. */
static void api_descent_cannot_be_forged(void)
{
	box_raise(NULL, NULL);
	CONTROL("OK", "same-rlimit 10 0 0");
	CONTROL("OK", "same-rlimit 10 1 0");
	ATTACK("OK", "same-rlimit 7 0 0");
	ATTACK("OK", "same-rlimit 7 1 0");
	ATTACK("OK", "rlimit 10");
	ATTACK("EPERM", "same-rlimit 10 0 0");
	ATTACK("EPERM", "same-rlimit 10 0 1");
	ATTACK("EPERM", "same-rlimit 10 0 -1");
	ATTACK("EPERM", "same-rlimit 10 1 0");
	/* the kernel looks at the lower half of the number only */
	ATTACK("EPERM", "same-rlimit 0x10000000a 0 0");
	CHECK(strstr(box_limits(), "every process that descends"), "%s",
	      box_limits());
}

static void api_wait_fd_becomes_readable(void)
{
	agentbox_process *p;
	struct pollfd fd;

	box_raise(NULL, NULL);
	p = BOX_START(-1, "sleep", "0.3");
	fd.fd = agentbox_process_get_fd(p);
	fd.events = POLLIN;
	CHECK(poll(&fd, 1, 0) == 0, "readable before the end");
	CHECK(poll(&fd, 1, SOON_MS) == 1, "not readable after the end");
	wait_for(p, 0);
	agentbox_process_free(p);
}

static void api_wall_clock_limit(void)
{
	agentbox_command *c;
	agentbox_process *p;
	agentbox_error *err = NULL;
	int64_t start;

	box_raise(NULL, "\"limits\":{\"wall\":\"1s\"}");
	c = COMMAND("/attack/attacker", "do-stubborn", "100000");
	REQUIRE(agentbox_command_set_wall(c, 300, &err) == 0, "set_wall");
	start = e2e_now_ms();
	p = spawn(c);
	wait_for(p, SOON_MS);
	CHECK(strcmp(agentbox_process_get_reason(p), "wall") == 0, "%s",
	      agentbox_process_get_reason(p));
	CHECK(e2e_now_ms() - start < 1000 * (int64_t)ab_test_patience(3),
	      "took %lld ms", (long long)(e2e_now_ms() - start));
	agentbox_process_free(p);
	/* the policy caps what a command asks for */
	c = COMMAND("/attack/attacker", "do-stubborn", "100000");
	REQUIRE(agentbox_command_set_wall(c, 60000, &err) == 0, "set_wall");
	start = e2e_now_ms();
	p = spawn(c);
	wait_for(p, SOON_MS);
	CHECK(strcmp(agentbox_process_get_reason(p), "wall") == 0, "%s",
	      agentbox_process_get_reason(p));
	agentbox_process_free(p);
	CHECK(BOX_RUN("true").status == 0, "no command runs afterwards");
}

static void api_report_has_usage_and_times(void)
{
	agentbox_process *p;
	agentbox_bytes *json = NULL;
	agentbox_error *err = NULL;
	const char *text;

	box_raise(NULL, NULL);
	p = BOX_START(-1, "/bin/sh", "-c",
		      "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done");
	wait_for(p, SOON_MS);
	REQUIRE(agentbox_process_to_json(p, &json, &err) == 0, "%s",
		agentbox_error_get_message(err));
	text = agentbox_bytes_get_data(json);
	e2e_note("%s", text);
	CHECK(strstr(text, "\"max_rss_kib\":"), "no rusage");
	CHECK(strstr(text, "\"user_us\":") &&
	      strstr(text, "\"wall_us\":"), "no times");
	CHECK(strstr(text, "\"exited\""), "no reason");
	agentbox_bytes_free(json);
	agentbox_process_free(p);
}

static void case_063_daemon_holding_stdout_does_not_hang(void)
{
	int64_t start;
	struct outcome o;

	box_raise(NULL, NULL);
	start = e2e_now_ms();
	o = BOX_RUN("/attack/attacker", "do-daemon", "60");
	CHECK(strcmp(o.out, "left\n") == 0 && o.status == 0, "%d %s",
	      o.status, o.out);
	CHECK(e2e_now_ms() - start < 1000 * (int64_t)ab_test_patience(4),
	      "capture took %lld ms", (long long)(e2e_now_ms() - start));
}

static void case_058_nothing_survives_the_box(void)
{
	size_t before = host_descendants();

	box_raise(NULL, NULL);
	box_sh("setsid sleep 300 & (setsid sh -c 'trap \"\" TERM HUP INT; "
	       "sleep 300' >/dev/null 2>&1 &)");
	BOX_RUN("/attack/attacker", "do-daemon", "300");
	CHECK(host_descendants() > before, "the control: nothing ran");
	box_end();
	CHECK(host_descendants() == before, "%zu processes are left",
	      host_descendants() - before);
}

static void case_099_a_plain_refusal_is_not_called_a_wall(void)
{
	struct outcome o;

	host_write_mode(ws_path("no-read"), "x\n", 0000);
	box_raise(NULL, NULL);
	o = BOX_RUN("cat", "/workspace/no-read");
	CHECK(o.status == 1 && strcmp(o.reason, "exited") == 0, "%d %s",
	      o.status, o.reason);
	o = BOX_RUN("/workspace/README");
	CHECK(o.result == AGENTBOX_EACCES && !strstr(o.error, "denied by"),
	      "%s", o.error);
	o = box_sh("kill -TERM $$");
	CHECK(strcmp(o.reason, "signal") == 0, "%s", o.reason);
}

static void case_100_no_file_of_the_host_is_touched(void)
{
	char *ws = host_tree(ws_path("")), *state;
	char *all = host_tree(host_path("tools"));

	box_raise(NULL, NULL);
	BOX_RUN("true");
	box_sh("cat README >/dev/null; echo x >/tmp/x");
	host_same_tree("the workspace while the box lives", ws,
		       host_tree(ws_path("")));
	box_end();
	host_same_tree("the workspace", ws, host_tree(ws_path("")));
	host_same_tree("tools", all, host_tree(host_path("tools")));
	state = host_tree(host_path("state"));
	e2e_note("state directory afterwards:\n%s", state);
	CHECK(!strstr(state, "e2e"), "state holds something of the box");
}

static void api_box_that_ended_says_so(void)
{
	agentbox_process *p;
	agentbox_error *err = NULL;
	int32_t r;

	box_raise(NULL, NULL);
	p = BOX_START(-1, "sleep", "100");
	box_end();
	r = agentbox_process_wait(p, SOON_MS, &err);
	CHECK(r == AGENTBOX_ECLOSED ||
	      (r == 0 && agentbox_process_get_signal(p) == SIGKILL),
	      "%s %s", agentbox_error_name(r),
	      agentbox_process_get_reason(p));
	agentbox_error_free(err);
	agentbox_process_free(p);
}

static void api_freeing_a_process_ends_it(void)
{
	agentbox_process *p;

	box_raise(NULL, NULL);
	p = BOX_START(-1, "/bin/sh", "-c", "sleep 77 & sleep 77");
	e2e_sleep_ms(100);
	agentbox_process_free(p);
	CHECK(E2E_SOON(box_attack("processes") &&
		       !strstr(attack_detail(), "sleep")), "left: %s",
	      attack_detail());
}

/* Output past the bound is read, dropped and counted. */
static void api_capture_is_bounded(void)
{
	const char *argv[] = { "/attack/attacker", "do-flood", "64" };
	agentbox_command *c = NULL;
	agentbox_process *p = NULL;
	agentbox_bytes *out = NULL, *json = NULL;
	agentbox_error *err = NULL;

	box_raise(NULL, NULL);
	REQUIRE(agentbox_command_new(argv, 3, &c, &err) == 0 &&
		agentbox_sandbox_capture(box(), c, 1000, &p, &out, NULL,
					 &err) == 0, "%s",
		agentbox_error_get_message(err));
	CHECK(agentbox_bytes_get_size(out) == 1000, "kept %zu",
	      agentbox_bytes_get_size(out));
	CHECK(agentbox_process_get_exit_status(p) == 0, "status %d signal %d",
	      agentbox_process_get_exit_status(p),
	      agentbox_process_get_signal(p));
	REQUIRE(agentbox_process_to_json(p, &json, &err) == 0, "json");
	/* 64 MiB - 1000 */
	CHECK(strstr(agentbox_bytes_get_data(json), "67107864"),
	      "not counted: %s", agentbox_bytes_get_data(json));
	agentbox_bytes_free(json);
	agentbox_bytes_free(out);
	agentbox_process_free(p);
	agentbox_command_free(c);
}

static void api_errors_are_the_ones_of_the_manual(void)
{
	const char *argv[] = { "true" };
	agentbox_command *c = NULL, *pty = NULL;
	agentbox_process *p = NULL;
	agentbox_bytes *out = NULL;
	int32_t fd = -1;

	agentbox_sandbox *b = box_raise(NULL, NULL);
	REQUIRE(agentbox_command_new(argv, 1, &c, NULL) == 0 &&
		agentbox_command_new(argv, 1, &pty, NULL) == 0, "command");
	CHECK(agentbox_command_set_cwd(c, "tmp", NULL) == AGENTBOX_EINVAL,
	      "a relative directory");
	CHECK(agentbox_command_set_fd(c, 1024, 0, NULL) == AGENTBOX_EINVAL,
	      "a descriptor out of range");
	CHECK(agentbox_command_set_pty(c, 0, 80, NULL) == AGENTBOX_EINVAL,
	      "a terminal without rows");
	REQUIRE(agentbox_command_set_pty(pty, 24, 80, NULL) == 0, "pty");
	CHECK(agentbox_sandbox_capture(b, pty, 9, &p, &out, NULL, NULL) ==
	      AGENTBOX_EINVAL && !p && !out, "capture of a terminal");
	REQUIRE(agentbox_sandbox_capture(b, c, 9, &p, &out, NULL, NULL) == 0,
		"capture");
	CHECK(agentbox_process_kill(p, 0, NULL) == AGENTBOX_EINVAL &&
	      agentbox_process_kill(p, 65, NULL) == AGENTBOX_EINVAL,
	      "no signals");
	CHECK(agentbox_process_kill(p, SIGTERM, NULL) == AGENTBOX_ECLOSED,
	      "a signal to what has ended");
	CHECK(agentbox_process_open_pty(p, &fd, NULL) == AGENTBOX_EINVAL &&
	      agentbox_process_resize(p, 1, 1, NULL) == AGENTBOX_EINVAL,
	      "a terminal where there is none");
	agentbox_process_free(p);
	p = NULL;

	CHECK(agentbox_sandbox_end(b, NULL) == 0 &&
	      agentbox_sandbox_end(b, NULL) == 0, "ended twice");
	CHECK(agentbox_sandbox_dispatch(b, NULL) == 0 &&
	      agentbox_sandbox_dispatch(b, NULL) == 0, "a loop looks once more");
	CHECK(agentbox_sandbox_spawn(b, c, &p, NULL) == AGENTBOX_ECLOSED &&
	      agentbox_sandbox_kill_all(b, NULL) == AGENTBOX_ECLOSED && !p,
	      "an ended box");
	agentbox_bytes_free(out);
	agentbox_command_free(c);
	agentbox_command_free(pty);
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(api_cold_start_and_warm_spawns),
		CASE(api_arguments_arrive_as_they_are),
		CASE(api_program_is_found_in_path_or_refused),
		CASE(api_cwd_is_inside),
		CASE(api_environment_is_what_the_policy_passes),
		CASE(case_095_descriptors_are_exactly_those_listed),
		CASE(api_regular_files_as_stdio),
		CASE(api_a_relay_ends_with_its_command),
		CASE(api_left_processes_take_no_relay_away),
		CASE(api_terminal_of_the_box),
		CASE(api_job_control_works),
		CASE(case_064_statuses_are_exact),
		CASE(case_064_stopped_is_not_ended),
		CASE(api_kill_and_kill_all),
		CASE(api_kill_ends_what_left_the_group),
		CASE(api_wall_ends_what_left_the_group),
		CASE(api_wall_ends_what_a_command_left_behind),
		CASE(api_kill_catches_who_runs_away),
		CASE(api_descent_cannot_be_forged),
		CASE(api_wait_fd_becomes_readable),
		CASE(api_wall_clock_limit),
		CASE(api_report_has_usage_and_times),
		CASE(api_capture_is_bounded),
		CASE(api_errors_are_the_ones_of_the_manual),
		CASE(case_058_nothing_survives_the_box),
		CASE(case_063_daemon_holding_stdout_does_not_hang),
		CASE(case_099_a_plain_refusal_is_not_called_a_wall),
		CASE(case_100_no_file_of_the_host_is_touched),
		CASE(api_box_that_ended_says_so),
		CASE(api_freeing_a_process_ends_it),
		CASES_END,
	};

	return e2e_main(argc, argv, cases);
}
