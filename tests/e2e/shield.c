/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A live box behind a shield: every way to execute a program is seen, what the
 * checks refuse is refused, and whoever stops or ends the shield stops every
 * exec. Cases L16, L17, L20, L21 of the scope check and row 98. "git" here is
 * a script that prints its first argument: what counts is whether it ran.
 */
#include "box.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agentbox/guard.h"
#include "agentbox/shield.h"

/* where git may be, by the checks, and nothing of the machine is */
#define GIT_DIR "/opt/homebrew/bin"
#define GIT GIT_DIR "/git"

static const char *ways[] = { "path",  "execveat", "empty",	 "self-fd",
			      "vfork", "spawn",	   "other-name", "thread",
			      "link",  "odd-fd",   "near-fd",
			      "page-end", "two-pages", "ends" };

static const char *mode_keys(const char *mode)
{
	return e2e_text("\"shield\":{\"mode\":\"%s\"}", mode);
}

static void raise_shield(const char *mode)
{
	host_write_mode(host_path("brew/git"), "#!/bin/sh\necho \"$1\"\n",
			0755);
	box_raise(e2e_text("{\"from\":\"%s\",\"to\":\"" GIT_DIR "\","
			   "\"access\":\"read\",\"exec\":true}",
			   host_path("brew")), mode_keys(mode));
	REQUIRE(agentbox_sandbox_get_shield(box()), "it has a shield");
}

static agentbox_shield *shield(void)
{
	return agentbox_sandbox_get_shield(box());
}

/* What a script runs is seen when it runs, and not in the line before. */
static struct outcome box_script(const char *text)
{
	host_write(ws_path("script.sh"), text);
	return BOX_RUN("/bin/sh", "/workspace/script.sh");
}

/* A command that executes `argv` for each line, and its two pipes. */
struct liner {
	agentbox_process *process;
	int in, out;
};

static struct liner start_as(const char *what, const char *path,
			     const char *arg)
{
	agentbox_command *c = NULL;
	agentbox_error *err = NULL;
	struct liner l;
	int in[2], out[2];

	REQUIRE(pipe(in) == 0 && pipe(out) == 0, "%m");
	const char *argv[] = { "/attack/attacker", what, path, arg };
	REQUIRE(agentbox_command_new(argv, arg ? 4 : 3, &c, &err) == 0, "%s",
		agentbox_error_get_message(err));
	REQUIRE(agentbox_command_set_fd(c, 0, in[0], &err) == 0 &&
		agentbox_command_set_fd(c, 1, out[1], &err) == 0 &&
		agentbox_sandbox_spawn(box(), c, &l.process, &err) == 0, "%s",
		agentbox_error_get_message(err));
	agentbox_command_free(c);
	close(in[0]);
	close(out[1]);
	l.in = in[1];
	l.out = out[0];
	char *ready = e2e_line(l.out);
	REQUIRE(strcmp(ready, "ready") == 0, "'%s'", ready);
	return l;
}

static struct liner start_liner(const char *path, const char *arg)
{
	return start_as("do-exec-lines", path, arg);
}

static char *one_line(const struct liner *l)
{
	REQUIRE(write(l->in, "\n", 1) == 1, "%m");
	return e2e_line(l->out);
}

static void end_liner(struct liner *l)
{
	close(l->in);
	close(l->out);
	agentbox_process_free(l->process);
}

/* --- what is seen --------------------------------------------------------- */

static void exec_is_recorded_with_its_arguments(void)
{
	char *text;

	box_open_log();
	raise_shield("audit");
	struct outcome o = box_sh(GIT " status one two; "
				  "/bin/true; " GIT " push now");
	CHECK(o.status == 0 && strcmp(o.out, "status\npush\n") == 0, "%s%s",
	      o.out, o.err);
	text = box_close_log();
	CHECK(strstr(text, "\"command\":\"" GIT " status one two\""), "argv");
	CHECK(strstr(text, "\"subject\":\"/bin/true\""), "the file");
	CHECK(strstr(text, "\"rule\":\"git.remote\""), "the rule");
	CHECK(strstr(text, "\"event\":\"tripwire\""), "the tripwire");
	CHECK(strstr(text, "\"control\":\"soft\""), "it says that it is soft");
	CHECK(!strstr(text, "\"answer\":\"refused\""), "nothing is refused");
}

/* Wherever they lie: they are read in as few pieces as possible. */
static void arguments_are_recorded_as_they_are(void)
{
	char *text;

	box_open_log();
	raise_shield("audit");
	ATTACK("OK", "exec page-end " GIT " page end");
	ATTACK("OK", "exec two-pages " GIT " of two pages");
	/* and so each is a byte shorter than the one before */
	ATTACK("OK", "exec ends " GIT " abc 1 2 3 4");
	text = box_close_log();
	CHECK(strstr(text, "\"command\":\"" GIT " page end\""), "%s", text);
	CHECK(strstr(text, "\"command\":\"" GIT " of two pages\""), "two");
	CHECK(strstr(text, "\"command\":\"" GIT " abc bc c  abc\""), "ends");
}

static void make_that_pushes_is_refused(void)
{
	raise_shield("deny");
	host_write(ws_path("Makefile"), "all:\n\t" GIT " push\n");
	if (!host_has("make"))
		e2e_skip("make is not installed");
	struct outcome o = BOX_RUN("make", "-C", "/workspace");
	CHECK(o.status != 0 && !strstr(o.out, "\npush\n"), "%s%s", o.out,
	      o.err);
	char *detail = box_event("tripwire", "git", SOON_MS);
	CHECK(detail && strstr(detail, "refused") &&
	      strstr(detail, GIT " push") && strstr(detail, "git.remote"),
	      "%s", detail);
	o = box_sh(GIT " status");
	CHECK(strcmp(o.out, "status\n") == 0, "%s%s", o.out, o.err);
}

static void every_way_to_execute_is_seen(void)
{
	raise_shield("deny");
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		/* which is allowed wherever it is: one goes elsewhere */
		ATTACK("OK", "exec %s " GIT " --version", ways[i]);
		ATTACK("EACCES", "exec %s " GIT " push", ways[i]);
	}
	/* a copy without a name is known by what it calls itself alone */
	ATTACK("EACCES", "exec memfd " GIT " push");
	/* a script is executed; what it runs is seen then */
	host_write_mode(ws_path("script"), "#!/bin/sh\n" GIT " push\n", 0755);
	ATTACK("OK", "exec path /workspace/script");
	CHECK(box_event("tripwire", "git", SOON_MS), "what the script ran");
}

/* The host's own commands are judged before they are sent. */
static void first_command_is_judged_too(void)
{
	raise_shield("deny");
	struct outcome o = BOX_RUN(GIT, "push");
	CHECK(o.result == AGENTBOX_EDENIED, "%s", o.error);
	o = BOX_RUN(GIT, "status");
	CHECK(o.status == 0 && strcmp(o.out, "status\n") == 0, "%s", o.out);
}

static void long_and_odd_arguments_are_read(void)
{
	raise_shield("deny");
	struct outcome o = box_script(
		GIT " status $(seq 2000)\n"
		GIT " status $(head -c 9000 /dev/zero | tr '\\0' x)\n"
		"env -i " GIT " push $(seq 500)\n");
	CHECK(e2e_count(o.out, "status") == 2 && !strstr(o.out, "push"), "%s%s",
	      o.out, o.err);
	CHECK(o.status == 126, "%d %s", o.status, o.err);
	/* more than is read: what cannot be judged is not let through */
	o = box_script(GIT " status $(seq 5000)\n");
	CHECK(o.status == 126, "%d %s%s", o.status, o.out, o.err);
}

static void setuid_and_foreign_entries_gain_nothing(void)
{
	raise_shield("deny");
	/* of the filter with the question, and of the agent's own */
	ATTACK("SIG31", "exec-x32 /bin/true");
	ATTACK("SIG31", "exec-int80 /bin/true");
	struct outcome o = box_sh("grep -E '^(NoNewPrivs|Seccomp_filters):' "
				  "/proc/self/status");
	CHECK(strstr(o.out, "NoNewPrivs:\t1"), "%s", o.out);
	CHECK(!strstr(o.out, "Seccomp_filters:") ||
	      strstr(o.out, "Seccomp_filters:\t2"), "%s", o.out);
}

static void filters_of_the_agent_only_make_it_stricter(void)
{
	raise_shield("deny");
	ATTACK("EACCES", "exec-filter allow " GIT " push");
	ATTACK("EACCES", "exec-filter log " GIT " push");
	ATTACK("EACCES", "exec-filter trace " GIT " push");
	ATTACK("OK", "exec-filter allow " GIT " status");
	/* a question of its own that nobody hears is a refusal */
	ATTACK("ENOSYS", "exec-filter notify " GIT " status");
	ATTACK("EPERM|EBUSY", "seccomp-listener");
}

/*
 * What no tripwire can do: the arguments are the agent's memory. None is lost,
 * none hangs, and the records do not call it a wall.
 */
static void rewritten_arguments_pass_a_tripwire(void)
{
	long a, b, refused, other;
	char *text;

	box_open_log();
	raise_shield("deny");
	e2e_seconds(60);
	ATTACK("OK", "exec-race " GIT " status push-- 200");
	REQUIRE(sscanf(attack_detail(), "a=%ld b=%ld refused=%ld other=%ld",
		       &a, &b, &refused, &other) == 4, "%s", attack_detail());
	e2e_note("%s", attack_detail());
	CHECK(other == 0, "every exec is answered");
	text = box_close_log();
	CHECK(!strstr(text, "\"control\":\"hard\",\"event\":\"exec\"") &&
	      strstr(text, "\"control\":\"soft\""), "it is called soft");
}

/* Who waits for the command and looks once misses nothing. */
static void what_was_refused_is_told_before_the_command_has_ended(void)
{
	raise_shield("deny");
	e2e_seconds(60);
	for (int i = 0; i < 100; i++) {
		struct outcome o;

		box_forget_events();
		o = box_script("exec " GIT " push\n");
		REQUIRE(o.status == 126, "%d %s", o.status, o.err);
		REQUIRE(box_event("tripwire", GIT, 0), "turn %d", i);
	}
}

/* --- what ends it --------------------------------------------------------- */

static void killed_shield_ends_every_exec(void)
{
	struct liner l;
	char *line;
	pid_t pid;

	raise_shield("audit");
	l = start_liner("/bin/true", NULL);
	line = one_line(&l);
	CHECK(strcmp(line, "OK") == 0, "%s", line);
	pid = host_descendant("agentbox-shield");
	REQUIRE(pid > 0 && kill(pid, SIGKILL) == 0, "pid %d", (int)pid);
	REQUIRE(host_gone(pid, SOON_MS), "it is gone");
	line = one_line(&l);
	CHECK(strcmp(line, "ENOSYS") == 0, "%s", line);
	CHECK(box_event("shield", "shield", SOON_MS), "the host is told");
	struct outcome o = BOX_RUN("/bin/true");
	CHECK(o.result == AGENTBOX_ECLOSED, "%s", o.error);
	CHECK(agentbox_shield_is_alive(shield()) == 0, "it is dead");
	end_liner(&l);
}

static void stopped_shield_is_ended(void)
{
	int32_t verdict = 0;
	struct liner l;
	char *line;
	pid_t pid;

	raise_shield("audit");
	e2e_seconds(60);
	l = start_liner("/bin/true", NULL);
	pid = host_descendant("agentbox-shield");
	REQUIRE(host_stop(pid), "pid %d", (int)pid);
	REQUIRE(write(l.in, "\n", 1) == 1, "%m");
	int64_t began = e2e_now_ms();
	CHECK(agentbox_shield_verify(shield(), "files",
				     agentbox_sandbox_get_id(box()), "read",
				     &verdict, NULL, NULL) == AGENTBOX_ECLOSED,
	      "no answer");
	CHECK(verdict == AGENTBOX_VERDICT_DENY, "%d", verdict);
	e2e_note("given up after %lld ms",
		 (long long)(e2e_now_ms() - began));
	line = e2e_line(l.out);
	CHECK(strcmp(line, "ENOSYS") == 0, "%s", line);
	CHECK(host_gone(pid, SOON_MS), "it was ended");
	CHECK(box_event("shield", "shield", SOON_MS), "the host is told");
	end_liner(&l);
}

static void shield_holds_nothing_it_does_not_need(void)
{
	char *text;
	pid_t pid;

	raise_shield("audit");
	pid = host_descendant("agentbox-shield");
	REQUIRE(pid > 0, "it runs");
	text = host_read(e2e_text("/proc/%d/status", (int)pid));
	REQUIRE(text, "no status");
	CHECK(strstr(text, "CapEff:\t0000000000000000"), "%s", text);
	CHECK(strstr(text, "CapPrm:\t0000000000000000"), "%s", text);
	CHECK(strstr(text, "NoNewPrivs:\t1"), "%s", text);
	CHECK(strstr(text, "Seccomp:\t2"), "%s", text);
	CHECK(getuid() || !strstr(text, "Uid:\t0\t"), "not root: %s", text);
}

static int32_t verify(const char *tool, const char *target,
		      const char *action)
{
	agentbox_bytes *why = NULL;
	int32_t verdict = 77;
	int32_t rc = agentbox_shield_verify(shield(), tool, target, action,
					    &verdict, &why, NULL);

	CHECK((rc == 0) == (why != NULL), "why");
	agentbox_bytes_free(why);
	CHECK(verdict == AGENTBOX_VERDICT_ALLOW ||
	      verdict == AGENTBOX_VERDICT_DENY, "%d", verdict);
	return rc ? rc : verdict;
}

#define ALLOWED(...) \
	CHECK(verify(__VA_ARGS__) == AGENTBOX_VERDICT_ALLOW, "allowed")
#define DENIED(...) \
	CHECK(verify(__VA_ARGS__) == AGENTBOX_VERDICT_DENY, "denied")

/* Nobody reads what is to be recorded: bounded, refused, and nobody hangs. */
static void unread_records_refuse_what_they_are_about(void)
{
	agentbox_process *p;
	int pair[2];
	long good;
	char *line;

	box_open_log();
	raise_shield("audit");
	e2e_seconds(120);
	REQUIRE(pipe(pair) == 0, "%m");
	p = BOX_START(pair[1], "/attack/attacker", "exec-many", "8", "200",
		      "/bin/true");
	close(pair[1]);
	/* only the command's output is read, by hand */
	line = e2e_line(pair[0]);
	REQUIRE(sscanf(line, "exec-many OK %ld", &good) == 1, "%s", line);
	CHECK(good < 1600, "some were not recorded and not let through");
	CHECK(good > 0, "some were");
	e2e_note("%ld of 1600", good);
	close(pair[0]);
	agentbox_process_free(p);
	/* who asks reads until he is answered: his record finds room */
	ALLOWED("files", agentbox_sandbox_get_id(box()), "read");
	/* who reads again finds the box as it was */
	struct outcome o = box_sh("/bin/true && echo again");
	CHECK(strcmp(o.out, "again\n") == 0, "%s%s", o.out, o.err);
	box_close_log();
}

/* --- the host's word ------------------------------------------------------ */

/* In mode ask: what git tag does is asked about. */
static char *await_ask(char **id)
{
	for (int i = 0; i < 400; i++) {
		agentbox_event *event = NULL;
		char *found = NULL;

		agentbox_sandbox_dispatch(box(), NULL);
		while (!found && agentbox_sandbox_next_event(box(), &event,
							     NULL) == 0) {
			if (strcmp(agentbox_event_get_kind(event), "ask") ==
			    0) {
				*id = e2e_text("%s", agentbox_event_get_object(
							     event));
				found = e2e_text("%s",
						 agentbox_event_get_detail(
							 event));
			}
			agentbox_event_free(event);
			event = NULL;
		}
		if (found)
			return found;
		e2e_sleep_ms(25);
	}
	return NULL;
}

static void host_answers_what_is_asked(void)
{
	struct liner l;
	char *id = NULL, *detail, *line;

	box_open_log();
	raise_shield("ask");
	e2e_seconds(60);
	l = start_liner(GIT, "fetch-the-moon");
	for (int allow = 0; allow <= 1; allow++) {
		REQUIRE(write(l.in, "\n", 1) == 1, "%m");
		detail = await_ask(&id);
		REQUIRE(detail && strstr(detail, "fetch-the-moon"), "%s",
			detail);
		CHECK(agentbox_shield_answer(shield(), id, allow, NULL) == 0,
		      "answer");
		line = e2e_line(l.out);
		if (allow) {
			CHECK(strcmp(line, "fetch-the-moon") == 0, "%s", line);
			line = e2e_line(l.out);
		}
		CHECK(strcmp(line, allow ? "OK" : "EACCES") == 0, "%s", line);
		CHECK(agentbox_shield_answer(shield(), id, 1, NULL) ==
		      AGENTBOX_ENOTFOUND, "it is over");
	}
	CHECK(agentbox_shield_answer(shield(), "x", 1, NULL) ==
	      AGENTBOX_EINVAL, "no id");
	end_liner(&l);
	/* what is denied is not asked about */
	ATTACK("EACCES", "exec path " GIT " push");
	/* each question and its answer, under one number and the file's name */
	char *text = box_close_log();
	CHECK(e2e_count(text, "\"answer\":\"asked\",\"ask\":1,") == 1 &&
	      e2e_count(text, "\"answer\":\"refused\",\"ask\":1,") == 1 &&
	      e2e_count(text, "\"answer\":\"asked\",\"ask\":2,") == 1 &&
	      e2e_count(text, "\"answer\":\"let\",\"ask\":2,") == 1,
	      "%s", text);
	CHECK(e2e_count(text, "\"subject\":\"" GIT "\"") >= 4, "the file");
}

/* Who was killed while he was asked about leaves room for others. */
static void asks_of_the_dead_end(void)
{
	char *id = NULL, *line;
	struct liner l;

	raise_shield("ask");
	e2e_seconds(60);
	l = start_as("do-exec-asked", GIT, "fetch-the-moon");
	for (int i = 0; i < 64; i++)
		REQUIRE(await_ask(&id), "ask %d", i);
	REQUIRE(write(l.in, "\n", 1) == 1, "%m");
	REQUIRE(await_ask(&id), "the one after them");
	CHECK(agentbox_shield_answer(shield(), id, 1, NULL) == 0, "answer");
	line = e2e_line(l.out);
	CHECK(strcmp(line, "fetch-the-moon") == 0, "%s", line);
	end_liner(&l);
}

/* Who looks along PATH tries each directory: the one that has it is asked
   about, once. */
static void files_that_are_not_there_are_not_asked_about(void)
{
	char *id = NULL, *detail, *line, *text;
	agentbox_process *p;
	int pair[2];

	box_open_log();
	raise_shield("ask");
	host_write(ws_path("file"), "");
	host_symlink("/workspace/none", ws_path("git"));
	REQUIRE(pipe(pair) == 0, "%m");
	p = BOX_START(pair[1], "env", "PATH=/workspace/none:/workspace/file:"
		      "/workspace:/proc/self/fd:" GIT_DIR, "git",
		      "fetch-the-moon");
	close(pair[1]);
	detail = await_ask(&id);
	REQUIRE(detail && strstr(detail, "fetch-the-moon"), "%s", detail);
	CHECK(agentbox_shield_answer(shield(), id, 1, NULL) == 0, "answer");
	line = e2e_line(pair[0]);
	CHECK(strcmp(line, "fetch-the-moon") == 0, "%s", line);
	close(pair[0]);
	agentbox_process_free(p);
	ATTACK("ENOENT", "exec path /workspace/none/git fetch-the-moon");
	ATTACK("ENOTDIR", "exec path /workspace/file/git fetch-the-moon");
	text = box_close_log();
	CHECK(e2e_count(text, "\"answer\":\"asked\"") == 1 &&
	      e2e_count(text, "\"answer\":\"refused\"") == 0, "%s", text);
	CHECK(strstr(text, "\"subject\":\"" GIT "\""), "the one there is");
}

/*
 * What was let through is let through with the very same words, by the same
 * file and from the same place, and nothing else is.
 */
static void what_was_let_through_is_judged_anew_elsewhere(void)
{
	struct outcome o;

	raise_shield("deny");
	o = box_script("cd /workspace\n"
		       "for i in 1 2 3; do rm -rf nossl && echo here $i; done\n"
		       "cd /etc; rm -rf nossl || echo refused\n"
		       "cd /workspace; rm -rf nossl && echo again\n"
		       "cd /etc; rm -rf nossl || echo twice\n");
	CHECK(strcmp(o.out, "here 1\nhere 2\nhere 3\nrefused\nagain\n"
		     "twice\n") == 0 && strstr(o.err, "enied"), "%s%s",
	      o.out, o.err);
	o = box_script("cd /workspace; ln -s /bin/echo tool\n"
		       "for i in 1 2 3; do ./tool push; done\n"
		       "ln -sf " GIT " tool\n./tool push || echo refused\n"
		       "ln -sf /bin/echo tool; ./tool push\n");
	CHECK(strcmp(o.out, "push\npush\npush\nrefused\npush\n") == 0,
	      "%s%s", o.out, o.err);
	/* a word more, and one word that is two others */
	o = box_script(GIT " status; " GIT " status; " GIT " push || echo no\n"
		       GIT " 'status push'; " GIT " status push\n");
	CHECK(e2e_count(o.out, "status\n") == 3 && strstr(o.out, "no\n"),
	      "%s%s", o.out, o.err);
}

/* --- what the resolver allowed -------------------------------------------- */

static void exec_without_a_call_is_told_of(void)
{
	struct liner l;
	char *line, *text;

	box_open_log();
	raise_shield("audit");
	l = start_liner("/bin/true", NULL);
	line = one_line(&l);
	CHECK(strcmp(line, "OK") == 0, "%s", line);
	CHECK(!box_event("mismatch", NULL, 0), "no host tells of calls yet");
	CHECK(agentbox_shield_begin_call(shield(), "call-1", NULL) == 0, "refused");
	CHECK(agentbox_shield_begin_call(shield(), "call-1", NULL) ==
	      AGENTBOX_EEXIST, "twice");
	one_line(&l);
	CHECK(!box_event("mismatch", NULL, 0), "it is of a call");
	CHECK(agentbox_shield_end_call(shield(), "call-1", NULL) == 0, "refused");
	CHECK(agentbox_shield_end_call(shield(), "call-1", NULL) ==
	      AGENTBOX_ENOTFOUND, "twice");
	one_line(&l);
	char *detail = box_event("mismatch", "true", SOON_MS);
	CHECK(detail && strstr(detail, "no call that was allowed"), "%s",
	      detail);
	end_liner(&l);
	text = box_close_log();
	CHECK(e2e_count(text, "\"severity\":\"high\"") == 1, "one of them");
	CHECK(e2e_count(text, "\"call\":\"call-1\"") == 1, "the call is named");
}

static void grants_are_the_shields_own(void)
{
	static const char other[] = "0123456789abcdef0123456789abcdef";
	const char *own;
	char *list;

	box_raise(NULL, "\"shield\":{\"mode\":\"audit\"},"
			"\"scope\":{\"tools\":[\"billing\",\"crm:*\"]}");
	own = agentbox_sandbox_get_id(box());
	ALLOWED("database", own, "migrate");
	DENIED("files", other, "read");
	list = e2e_text("[{\"reader\":\"%s\",\"source\":\"%s\",\"name\":"
			"\"peer\",\"state\":\"live\"},"
			"{\"reader\":\"%s\",\"source\":\"%s\",\"name\":\"x\","
			"\"state\":\"making\"},"
			"{\"reader\":\"ff\",\"source\":\"ee\",\"name\":\"y\","
			"\"state\":\"live\"}]", own, other, own, "dd");
	CHECK(agentbox_shield_set_grants(shield(), list, strlen(list), NULL) ==
	      0, "grants");
	ALLOWED("files", other, "read");
	ALLOWED("files", "peer", "read");
	DENIED("files", other, "write");
	DENIED("files", "x", "read");
	DENIED("files", "ee", "read");
	DENIED("files", "peer2", "read");
	DENIED("files", "pee", "read");
	DENIED("database", other, "read");
	DENIED("Secrets", "peer", "read");
	DENIED("billing", "peer", "read");
	DENIED("mcp__crm__export", "peer", "read");
	DENIED("mcp__pg__run_query", "peer", "read");
	ALLOWED("mcp__pg__run_query", own, "read");
	CHECK(verify("", other, "read") == AGENTBOX_ELIMIT, "no tool");
	/* what cannot be understood grants nothing */
	CHECK(agentbox_shield_set_grants(shield(), "[{}]", 4, NULL) ==
	      AGENTBOX_EPARSE, "no grants");
	DENIED("files", other, "read");
	CHECK(agentbox_shield_set_grants(shield(), "{", 1, NULL) ==
	      AGENTBOX_EPARSE, "no JSON");
	CHECK(agentbox_shield_set_grants(shield(), list, strlen(list), NULL) ==
	      0, "grants");
	ALLOWED("files", other, "read");
	CHECK(agentbox_shield_set_grants(shield(), "[]", 2, NULL) == 0, "refused");
	DENIED("files", other, "read");
}

/* --- without one, and where there can be none ----------------------------- */

static void box_without_a_shield_has_none_of_it(void)
{
	box_raise(NULL, NULL);
	CHECK(!agentbox_sandbox_get_shield(box()), "none");
	struct outcome o = box_sh("grep ^Seccomp_filters: /proc/self/status");
	CHECK(o.status || strstr(o.out, ":\t1"), "%s", o.out);
	CHECK(host_descendant("agentbox-shield") == 0, "no process");
	CHECK(agentbox_shield_is_alive(NULL) == 0, "none");
}

static void bare_box_with_a_shield_is_refused(void)
{
	char *where, *message;
	int32_t code;

	CHECK(!box_try("{\"agentbox\":1,\"extends\":\"builtin:bare\","
		       "\"shield\":{\"mode\":\"audit\"}}", &code, &where,
		       &message), "it is not raised");
	CHECK(code == AGENTBOX_EWALL && strcmp(where, "shield") == 0, "%s: %s",
	      where, message);
}

/* 32 processes, 10016 execs: each ran, each is in the log. */
static void of_ten_thousand_execs_none_is_lost(void)
{
	char *text;

	box_open_log();
	raise_shield("deny");
	e2e_seconds(300);
	ATTACK("OK", "exec-many 32 313 /bin/true");
	CHECK(strcmp(attack_detail(), "10016") == 0, "%s", attack_detail());
	text = box_close_log();
	CHECK(e2e_count(text, "\"subject\":\"/bin/true\"") == 10016, "%zu",
	      e2e_count(text, "\"subject\":\"/bin/true\""));
	CHECK(!strstr(text, "\"lost\""), "none is counted as lost");
}

static const struct e2e_case cases[] = {
	CASE(exec_is_recorded_with_its_arguments),
	CASE(arguments_are_recorded_as_they_are),
	CASE(make_that_pushes_is_refused),
	CASE(every_way_to_execute_is_seen),
	CASE(first_command_is_judged_too),
	CASE(what_was_refused_is_told_before_the_command_has_ended),
	CASE(long_and_odd_arguments_are_read),
	CASE(setuid_and_foreign_entries_gain_nothing),
	CASE(filters_of_the_agent_only_make_it_stricter),
	CASE(rewritten_arguments_pass_a_tripwire),
	CASE(killed_shield_ends_every_exec),
	CASE(stopped_shield_is_ended),
	CASE(shield_holds_nothing_it_does_not_need),
	CASE(unread_records_refuse_what_they_are_about),
	CASE(host_answers_what_is_asked),
	CASE(asks_of_the_dead_end),
	CASE(files_that_are_not_there_are_not_asked_about),
	CASE(what_was_let_through_is_judged_anew_elsewhere),
	CASE(exec_without_a_call_is_told_of),
	CASE(grants_are_the_shields_own),
	CASE(box_without_a_shield_has_none_of_it),
	CASE(bare_box_with_a_shield_is_refused),
	CASE(of_ten_thousand_execs_none_is_lost),
	CASES_END,
};

int main(int argc, char **argv)
{
	e2e_most_seconds = 300;
	return e2e_main(argc, argv, cases);
}
