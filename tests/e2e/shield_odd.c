/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A live box behind a shield, and the odd ways: programs without arguments or
 * environment, by descriptors of their directories, amid signals and threads,
 * through shells, make, xargs and env; addresses that come by other calls;
 * a peer's files by other names of them; and a shield that is ended, stopped
 * or asked while somebody waits. Cases L16, L17, L20 of the scope check; the
 * usual ways are shield.c's and shield_places.c's.
 */
#include "peers.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"
#include "agentbox/shield.h"

#define GIT_DIR "/opt/homebrew/bin"
#define GIT GIT_DIR "/git"
#define PEER "/workspace/.shared/src/src/a.c"
/* as long as the peer's name, and nobody's */
#define MINE "/workspace/xshared-srcx-srcx-a"

struct row {
	const char *expected, *attack;
};

static void attack_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ATTACK(rows[i].expected, "%s", rows[i].attack);
}
#define ATTACK_ROWS(rows) attack_rows(rows, sizeof(rows) / sizeof(*(rows)))

static void raise_shield(const char *mode)
{
	host_write_mode(host_path("brew/git"), "#!/bin/sh\necho \"$1\"\n",
			0755);
	box_raise(e2e_text("{\"from\":\"%s\",\"to\":\"" GIT_DIR "\","
			   "\"access\":\"read\",\"exec\":true}",
			   host_path("brew")),
		  e2e_text("\"shield\":{\"mode\":\"%s\"}", mode));
}

static agentbox_shield *shield(void)
{
	return agentbox_sandbox_get_shield(box());
}

static struct outcome box_script(const char *text)
{
	host_write(ws_path("script.sh"), text);
	return BOX_RUN("/bin/sh", "/workspace/script.sh");
}

/* --- programs ------------------------------------------------------------- */

static const struct row execs[] = {
	/* nothing is refused that has no arguments */
	{ "OK", "odd-exec no-arguments " GIT },
	{ "OK", "odd-exec null-arguments " GIT },
	{ "OK", "odd-exec null-environment " GIT " status" },
	{ "EACCES", "odd-exec null-environment " GIT " push" },
	/* what is wrong with the environment the kernel says */
	{ "EFAULT", "odd-exec bad-environment " GIT " status" },
	{ "EACCES", "odd-exec bad-environment " GIT " push" },
	/* what cannot be read is not let through */
	{ "EACCES", "odd-exec bad-arguments " GIT },
	{ "EACCES", "odd-exec bad-argument " GIT },
	{ "EACCES", "odd-exec bad-path " GIT },
	{ "EACCES", "odd-exec null-path " GIT },
	{ "EACCES", "odd-exec with-hidden " GIT " push" },
	{ "EACCES", "odd-exec with-hidden " GIT " status" },
	{ "ENOENT", "odd-exec empty-path " GIT },
	{ "EACCES", "odd-exec empty-name " GIT " push" },
	/* a program without a name is one that nobody knows */
	{ "EACCES", "odd-exec empty-name " GIT " status" },
	{ "EACCES", "odd-exec by-directory " GIT " push" },
	{ "OK", "odd-exec by-directory " GIT " status" },
	{ "EACCES", "odd-exec by-other-directory " GIT " push" },
	{ "EACCES", "odd-exec by-cwd " GIT " push" },
	{ "EACCES", "odd-exec by-wide-fd " GIT " push" },
	{ "EACCES", "odd-exec by-long-name " GIT " push" },
	/* of a link itself nothing is executed */
	{ "ELOOP|EACCES", "odd-exec by-link-fd " GIT " push" },
	{ "EACCES", "odd-exec as-daemon " GIT " push" },
	{ "OK", "odd-exec as-daemon " GIT " status" },
	{ "EACCES", "odd-exec by-threads " GIT " push" },
	{ "OK", "odd-exec by-threads " GIT " status" },
	{ "EACCES", "odd-exec amid-signals " GIT " push" },
	{ "OK", "odd-exec amid-signals " GIT " status" },
	/* 256 KiB and 4096 arguments are read; more is not let through */
	{ "OK", "odd-exec with-bytes " GIT " 250000 status" },
	{ "EACCES", "odd-exec with-bytes " GIT " 250000 push" },
	{ "EACCES", "odd-exec with-bytes " GIT " 270000 status" },
	{ "EACCES", "odd-exec with-bytes " GIT " 1500000 status" },
	{ "OK", "odd-exec with-count " GIT " 4096 status" },
	{ "EACCES", "odd-exec with-count " GIT " 4096 push" },
	{ "EACCES", "odd-exec with-count " GIT " 4097 status" },
};

static void odd_execs_are_seen(void)
{
	raise_shield("deny");
	e2e_seconds(60);
	ATTACK_ROWS(execs);
}

/* Each is seen once, or it never was: what threads that end asked is not told
   of, and a signal asks no second time. */
static void odd_execs_are_let_and_recorded_in_an_audit(void)
{
	char *text;

	box_open_log();
	raise_shield("audit");
	ATTACK("OK", "odd-exec with-bytes " GIT " 1500000 status");
	ATTACK("OK", "odd-exec with-count " GIT " 5000 status");
	ATTACK("OK", "odd-exec no-arguments " GIT);
	ATTACK("EFAULT", "odd-exec bad-argument " GIT);
	ATTACK("OK", "odd-exec amid-signals " GIT " amid-signals");
	ATTACK("OK", "odd-exec by-threads " GIT " by-threads");
	text = box_close_log();
	CHECK(e2e_count(text, "\"rule\":\"shield.too-long\"") == 2, "%zu",
	      e2e_count(text, "\"rule\":\"shield.too-long\""));
	CHECK(e2e_count(text, "\"rule\":\"shield.unread\"") == 1, "%zu",
	      e2e_count(text, "\"rule\":\"shield.unread\""));
	CHECK(e2e_count(text, "\"command\":\"" GIT " amid-signals\"") == 1,
	      "%zu", e2e_count(text, "amid-signals\""));
	CHECK(e2e_count(text, "\"command\":\"" GIT " by-threads\"") >= 1,
	      "threads");
}

/*
 * What runs what. Some are refused for what they say, which the same checks
 * read; of the others the last exec is.
 */
static const struct {
	const char *needs, *script;
} carriers[] = {
	{ NULL, "echo push | xargs " GIT "\n" },
	{ NULL, "printf 'push\\0' | xargs -0 -n1 -P4 " GIT "\n" },
	{ NULL, "g=" GIT " p=pu; $g ${p}sh\n" },
	{ NULL, "eval \"$(echo " GIT " chsup | sed s/chsup/push/)\"\n" },
	{ NULL, "printf '%s pu%s' " GIT " sh >f; . ./f\n" },
	{ NULL, "printf '%s pu%s' " GIT " sh | sh\n" },
	{ NULL, "env -i -S '" GIT " push'\n" },
	{ NULL, "PATH=" GIT_DIR "; export PATH; exec git push\n" },
	{ NULL, "ln -s " GIT " other; ./other push\n" },
	{ NULL, "mkdir d; ln -s " GIT_DIR " d/e; cd d/e; ./git push\n" },
	{ NULL, "find . -maxdepth 0 -exec " GIT " push ';'\n" },
	{ NULL, "timeout 5 nice setsid " GIT " push\n" },
	{ NULL, "(trap '' TERM HUP; " GIT " push) & wait $!\n" },
	{ NULL, "while read x; do " GIT " $x; done <<E\npush\nE\n" },
	{ "awk", "awk 'BEGIN { system(\"" GIT " pu\" \"sh\") }'\n" },
	{ "perl", "perl -e 'exec {\"" GIT "\"} \"true\", \"push\"'\n" },
	{ "python3", "python3 -c 'import subprocess; subprocess.run([\"" GIT
		     "\", \"pu\" + \"sh\"])'\n" },
	{ "python3", "python3 -c 'import os; os.execve(os.open(\"" GIT
		     "\", os.O_PATH), [\"x\", \"push\"], {})'\n" },
	{ "awk", "echo 'BEGIN { system(g \" pu\" \"sh\") }' >f; "
		 "awk -v g=" GIT " -f f\n" },
	{ "perl", "echo 'exec {$ARGV[0]} \"x\", \"pu\" . \"sh\"' >f; "
		  "perl f " GIT "\n" },
	{ "python3", "echo 'import os, sys; os.execve(os.open(sys.argv[1], "
		     "os.O_PATH), [\"x\", \"pu\" + \"sh\"], {})' >f; "
		     "python3 f " GIT "\n" },
	{ "python3", "echo 'import subprocess, sys; subprocess.run("
		     "sys.argv[1] + \" pu\" + \"sh\", shell=True)' >f; "
		     "python3 f " GIT "\n" },
	{ "make", "printf 'G=" GIT "\\nP=pu\\nall:\\n\\t$(G) $(P)sh\\n' >mk; "
		  "make -sf mk\n" },
	{ "make", "printf 'X:=$(shell " GIT " push)\\nall:;@echo $(X)\\n' >mk; "
		  "make -f mk\n" },
};

static void whoever_runs_it_it_is_seen(void)
{
	raise_shield("deny");
	e2e_seconds(60);
	for (size_t i = 0; i < sizeof(carriers) / sizeof(*carriers); i++) {
		const char *script = carriers[i].script;
		struct outcome o;

		if (carriers[i].needs && !host_has(carriers[i].needs)) {
			e2e_note("no %s", carriers[i].needs);
			continue;
		}
		box_forget_events();
		o = box_script(e2e_text("cd /workspace; rm -rf d f mk other\n"
					"%s", script));
		CHECK(!strstr(o.out, "push\n"), "%s: %s%s", script, o.out,
		      o.err);
		CHECK(box_event("tripwire", NULL, SOON_MS), "%s: %s%s", script,
		      o.out, o.err);
	}
}

/* A script that is executed by a script, and so on: who starts git last. */
static void chains_of_interpreters_are_seen_at_their_end(void)
{
	struct outcome o;

	raise_shield("deny");
	host_write_mode(ws_path("s1"), "#!/workspace/s2 one\n", 0755);
	host_write_mode(ws_path("s2"), "#!/workspace/s3\n", 0755);
	host_write_mode(ws_path("s3"), "#!/bin/sh\nexec " GIT " push\n", 0755);
	o = box_script("/workspace/s1\n");
	CHECK(!strstr(o.out, "push") && box_event("tripwire", "git", SOON_MS),
	      "chain: %s%s", o.out, o.err);
	/* no first line: the shell runs it after ENOEXEC */
	host_write_mode(ws_path("s4"), GIT " push\n", 0755);
	box_forget_events();
	o = box_script("/workspace/s4\n");
	CHECK(!strstr(o.out, "push") && box_event("tripwire", "git", SOON_MS),
	      "no line: %s%s", o.out, o.err);
	host_write_mode(ws_path("s5"), "#!/usr/bin/env -S " GIT " push\n",
			0755);
	box_forget_events();
	o = box_script("/workspace/s5\n");
	CHECK(!strstr(o.out, "push") && box_event("tripwire", "git", SOON_MS),
	      "env: %s%s", o.out, o.err);
	/* its own interpreter the kernel starts without another question */
	host_write_mode(ws_path("s6"), "#!" GIT " push\n", 0755);
	box_forget_events();
	o = box_script("/workspace/s6\n");
	CHECK(strcmp(o.out, "push\n") == 0 && !box_event("tripwire", "git", 0),
	      "the manual says that it is not seen: %s%s", o.out, o.err);
}

/* --- addresses ------------------------------------------------------------ */

static const struct row connects[] = {
	{ "EACCES", "odd-connect stream 192.0.2.7 80" },
	{ "EACCES", "odd-connect stream ::ffff:169.254.169.254 80" },
	{ "EACCES", "odd-connect stream ::192.0.2.7 80" },
	{ "EACCES", "odd-connect stream 64:ff9b::c000:207 80" },
	{ "EACCES", "odd-connect stream 2002:c000:207::1 80" },
	{ "EACCES", "odd-connect stream fe80::1 80" },
	{ "EACCES", "odd-connect stream 255.255.255.255 80" },
	{ "EACCES", "odd-connect stream 224.0.0.1 80" },
	{ "EACCES", "odd-connect datagram 192.0.2.7 53" },
	{ "EACCES", "odd-connect datagram 2001:db8::7 53" },
	{ "EACCES", "odd-connect sent-fast 192.0.2.7 80" },
	{ "EACCES", "odd-connect message-fast 192.0.2.7 80" },
	{ "EACCES", "odd-connect messages-fast 192.0.2.7 80" },
	{ "EACCES|EPROTONOSUPPORT", "odd-connect multipath 192.0.2.7 80" },
	{ "EACCES", "odd-connect long 192.0.2.7 80" },
	/* what the kernel refuses by its length cannot be read either */
	{ "EACCES", "odd-connect too-long 127.0.0.1 9" },
	{ "EACCES", "odd-connect hidden 127.0.0.1 9" },
	/* not seen, as the manual says; the wall is the network namespace */
	{ "ENETUNREACH", "odd-connect message-plain 192.0.2.7 53" },
	/* the box itself and what is nobody */
	{ "ECONNREFUSED", "odd-connect stream 127.1.2.3 9" },
	{ "ECONNREFUSED", "odd-connect stream :: 9" },
	{ "ECONNREFUSED", "odd-connect long 127.0.0.1 9" },
	{ "OK", "odd-connect datagram 127.0.0.1 9" },
	{ "OK", "odd-connect unspecified 192.0.2.7 9" },
	{ "OK", "odd-connect turned 127.0.0.1 9" },
	{ "ECONNREFUSED", "odd-connect abstract host 0" },
	{ "EAFNOSUPPORT", "odd-connect vsock 0 0" },
	{ "ENOSYS", "odd-connect ring 0 0" },
	{ "ENOENT", "odd-connect unix-near /workspace/none 0" },
};

static void odd_connections_are_judged(void)
{
	box_raise(NULL, "\"shield\":{\"mode\":\"deny\",\"watch\":"
			"[\"connect\"]}");
	e2e_seconds(60);
	ATTACK_ROWS(connects);
}

#define SOCKET "/workspace/.shared/src/s"

/* Whether there is such a socket or not. */
static const struct row sockets[] = {
	{ "EACCES", "odd-connect unix-stream " SOCKET " 0" },
	{ "EACCES", "odd-connect unix-packet " SOCKET " 0" },
	{ "EACCES", "odd-connect unix-sent " SOCKET " 0" },
	{ "EACCES", "odd-connect unix-by-fd " SOCKET " 0" },
	{ "EACCES", "odd-connect unix-near " SOCKET " 0" },
	{ "EACCES", "odd-connect unix-filled " SOCKET " 0" },
	{ "EACCES", "odd-connect unix-stream "
		    "/proc/self/cwd/.shared/src/s 0" },
	{ "EACCES", "odd-connect unix-stream to-shared/src/s 0" },
	{ "ENOENT|ECONNREFUSED", "odd-connect unix-stream /workspace/s 0" },
};

static void sockets_of_a_peer_are_nobodys(void)
{
	peers_begin_with(NULL, NULL, PEERS_READ ",\"shield\":{\"mode\":"
			 "\"deny\",\"watch\":[\"connect\"]}");
	peers_grant("src");
	host_symlink(".shared", ws_path("to-shared"));
	ATTACK_ROWS(sockets);
	peers_finish();
}

/* --- a peer's files ------------------------------------------------------- */

static const struct row files[] = {
	{ "EACCES", "odd-file again-by-path-fd " PEER },
	{ "EACCES", "odd-file again-by-dev " PEER },
	{ "EACCES", "odd-file again-by-thread " PEER },
	{ "EACCES", "odd-file again-by-task " PEER },
	{ "EACCES", "odd-file again-near " PEER },
	{ "EACCES", "odd-file by-other-process " PEER },
	{ "EACCES", "odd-file by-its-directory " PEER },
	{ "EACCES", "odd-file after-chdir " PEER },
	{ "EACCES", "odd-file mode-three " PEER },
	{ "EACCES", "odd-file cut-while-read " PEER },
	{ "EACCES", "odd-file cut-by-name-of-fd " PEER },
	{ "EACCES", "odd-file by-old-creat " PEER },
	{ "EACCES", "odd-file link-of-fd " PEER " /workspace/mine" },
	{ "EACCES", "odd-file link-of-name-of-fd " PEER " /workspace/mine" },
	{ "EACCES", "odd-file exchanged /workspace/own " PEER },
	{ "EACCES", "odd-file exchanged " PEER " /workspace/own" },
	{ "EACCES", "odd-file moved-to-nothing /workspace/own " PEER },
	{ "EACCES", "odd-file moved-with-whiteout " PEER " /workspace/mine" },
	{ "EACCES", "odd-file moved-by-fds " PEER " /workspace/mine" },
	{ "EACCES", "odd-file moved-by-fds /workspace/own " PEER },
	{ "EACCES", "odd-file unlinked-by-fd " PEER },
	{ "EACCES", "odd-file linked-by-fd " PEER },
	{ "EACCES", "odd-file bound-near " PEER },
	{ "EACCES", "odd-file undumpable " PEER },
	/* the directory of all peers is nobody's either */
	{ "EACCES", "rename /workspace/.shared /workspace/away" },
	{ "EACCES", "rmdir /workspace/.shared" },
	{ "EACCES", "create /workspace/.shared/new" },
	/* no call of which anybody is asked: the kernel's own answers */
	{ "EINVAL", "odd-file cut-by-read-fd " PEER },
	{ "EBADF", "odd-file cut-by-path-fd " PEER },
	{ "EROFS", "odd-file changed-mode " PEER },
	{ "ENOSYS", "odd-file by-openat2 " PEER },
	{ "EPERM", "name-to-handle " PEER },
	{ "EPERM", "open-by-handle /workspace/.shared" },
	/* and what is no peer's */
	{ "OK", "odd-file again-by-path-fd /workspace/own" },
	{ "OK", "odd-file by-other-process /workspace/own" },
	{ "OK", "odd-file undumpable /workspace/own" },
	{ "OK", "odd-file name-turned " PEER " " MINE },
};

static void odd_names_of_a_peer_are_seen(void)
{
	peers_begin_with(NULL, NULL, PEERS_READ ",\"shield\":{\"mode\":"
			 "\"deny\",\"watch\":[\"peers\"]}");
	peers_grant("src");
	e2e_seconds(60);
	host_write_mode(ws_path("own"), "own\n", 0666);
	host_write_mode(host_path("ws%s", strrchr(MINE, '/')), "mine\n", 0666);
	ATTACK_ROWS(files);
	CHECK(strcmp(host_read(host_path("peer/src/a.c")), "one\n") == 0,
	      "the peer's own");
	struct outcome o = BOX_RUN("cat", PEER);
	CHECK(strcmp(o.out, "one\n") == 0, "the peer's in the box: %s%s",
	      o.out, o.err);
	peers_finish();
}

/* What the box sees of its peers. */
static char *peers_tree(void)
{
	struct outcome o = box_sh("cd /workspace/.shared && ls -lR --full-time "
				  "&& cat src/src/a.c");

	REQUIRE(o.status == 0, "%s", o.err);
	return e2e_text("%s", o.out);
}

/* The wall alone: the same ways, and nothing of a peer changes. */
static void odd_names_of_a_peer_change_nothing(void)
{
	char *before;

	peers_begin_with(NULL, NULL, PEERS_READ ",\"shield\":{\"mode\":"
			 "\"audit\",\"watch\":[\"peers\"]}");
	peers_grant("src");
	e2e_seconds(60);
	host_write_mode(ws_path("own"), "own\n", 0666);
	host_write_mode(host_path("ws%s", strrchr(MINE, '/')), "mine\n", 0666);
	before = peers_tree();
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (strstr(files[i].attack, PEER) &&
		    strcmp(files[i].expected, "OK") != 0)
			CHECK(strcmp(box_attack("%s", files[i].attack), "OK"),
			      "%s", files[i].attack);
	CHECK(strcmp(before, peers_tree()) == 0, "changed: %s", peers_tree());
	peers_finish();
}

/* --- who waits for an answer ---------------------------------------------- */

/* A command that asks the host, and where its one line comes from. */
static agentbox_process *start_asking(int *from)
{
	agentbox_process *p;
	int pair[2];

	REQUIRE(pipe(pair) == 0, "%m");
	p = BOX_START(pair[1], "/attack/attacker", "exec", "path", GIT,
		      "fetch-the-moon");
	close(pair[1]);
	*from = pair[0];
	return p;
}

static const char *await_ask(void)
{
	char *id = NULL;

	for (int i = 0; i < 400 && !id; i++) {
		agentbox_event *event = NULL;

		agentbox_sandbox_dispatch(box(), NULL);
		while (!id && agentbox_sandbox_next_event(box(), &event,
							  NULL) == 0) {
			if (strcmp(agentbox_event_get_kind(event), "ask") == 0)
				id = e2e_text("%s", agentbox_event_get_object(
							    event));
			agentbox_event_free(event);
			event = NULL;
		}
		if (!id)
			e2e_sleep_ms(25);
	}
	return id;
}

/* Who ends the shield while somebody is asked about ends the question. */
static void an_ask_ends_with_the_shield(void)
{
	static const int ends[] = { SIGKILL, SIGSTOP, SIGSEGV };

	e2e_seconds(90);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		agentbox_process *p;
		const char *id;
		char *line;
		pid_t pid;
		int from;

		raise_shield("ask");
		p = start_asking(&from);
		id = await_ask();
		REQUIRE(id, "nobody asked");
		pid = host_descendant("agentbox-shield");
		REQUIRE(ends[i] == SIGSTOP ? host_stop(pid) :
			pid > 0 && kill(pid, ends[i]) == 0, "pid %d", (int)pid);
		CHECK(agentbox_shield_answer(shield(), id, 1, NULL) ==
		      AGENTBOX_ECLOSED, "signal %d: it was answered", ends[i]);
		line = e2e_line(from);
		CHECK(strstr(line, "ENOSYS"), "signal %d: %s", ends[i], line);
		CHECK(host_gone(pid, SOON_MS), "signal %d: it is there",
		      ends[i]);
		CHECK(box_event("shield", "shield", SOON_MS), "signal %d: the "
		      "host is not told", ends[i]);
		CHECK(BOX_RUN("/bin/true").result == AGENTBOX_ECLOSED,
		      "signal %d: a command", ends[i]);
		close(from);
		agentbox_process_free(p);
		box_end();
	}
}

/* An answer that comes when nobody waits any more lets nothing through. */
static void an_ask_ends_with_who_asked(void)
{
	agentbox_process *p;
	const char *id;
	int from;

	raise_shield("ask");
	e2e_seconds(60);
	p = start_asking(&from);
	id = await_ask();
	REQUIRE(id, "nobody asked");
	CHECK(agentbox_process_kill(p, SIGKILL, NULL) == 0, "kill");
	agentbox_process_wait(p, -1, NULL);
	agentbox_process_free(p);
	close(from);
	(void)agentbox_shield_answer(shield(), id, 1, NULL);
	CHECK(agentbox_shield_answer(shield(), id, 1, NULL) ==
	      AGENTBOX_ENOTFOUND, "twice");
	CHECK(BOX_RUN(GIT, "status").status == 0, "the next one");
	CHECK(agentbox_shield_is_alive(shield()) == 1, "it is dead");
	/* and a box that ends while somebody is asked about ends */
	p = start_asking(&from);
	REQUIRE(await_ask(), "nobody asked");
	int64_t began = e2e_now_ms();
	agentbox_process_free(p);
	box_end();
	CHECK(e2e_now_ms() - began < 1000 *
	      (int64_t)ab_test_patience(8), "it took %lld ms",
	      (long long)(e2e_now_ms() - began));
	close(from);
}

/* The sixty-fifth question is none: it is refused at once. */
static void more_asks_than_there_may_be_are_refused(void)
{
	agentbox_process *p;
	int asked = 0;

	raise_shield("ask");
	e2e_seconds(60);
	p = BOX_START(-1, "/attack/attacker", "do-exec-asked", GIT,
		      "fetch-the-moon");
	while (asked < 64 && await_ask())
		asked++;
	CHECK(asked == 64, "%d asks", asked);
	ATTACK("EACCES", "exec path " GIT " fetch-the-moon");
	/* what is not asked about goes on */
	ATTACK("OK", "exec path " GIT " status");
	ATTACK("EACCES", "exec path " GIT " push");
	agentbox_process_free(p);
}

/* What cannot be read is asked about, and the host's word counts. */
static void what_cannot_be_read_is_asked_about(void)
{
	agentbox_process *p;
	const char *id;
	char *line;
	int pair[2];

	box_raise(NULL, PEERS_READ ",\"shield\":{\"mode\":\"ask\",\"watch\":"
			"[\"peers\"]}");
	e2e_seconds(60);
	for (int allow = 0; allow <= 1; allow++) {
		REQUIRE(pipe(pair) == 0, "%m");
		p = BOX_START(pair[1], "/attack/attacker", "create-hidden",
			      "/workspace/hidden");
		close(pair[1]);
		id = await_ask();
		REQUIRE(id, "nobody asked");
		CHECK(agentbox_shield_answer(shield(), id, allow, NULL) == 0,
		      "answer");
		line = e2e_line(pair[0]);
		CHECK(strcmp(line, allow ? "create-hidden OK"
					 : "create-hidden EACCES") == 0, "%s",
		      line);
		close(pair[0]);
		agentbox_process_free(p);
	}
	CHECK(host_exists(ws_path("hidden")), "it was made");
}

/* A stopped shield: who connects or opens waits, and is refused with it. */
static void a_stopped_shield_lets_nothing_through(void)
{
	agentbox_process *p;
	char *line;
	pid_t pid;
	int pair[2];

	peers_begin_with(NULL, NULL, PEERS_READ ",\"shield\":{\"mode\":"
			 "\"audit\",\"watch\":[\"connect\",\"peers\"]}");
	e2e_seconds(60);
	REQUIRE(pipe(pair) == 0, "%m");
	host_write(ws_path("script.sh"),
		   "echo ready; read x <go; echo made >made || echo none\n");
	box_sh("mkfifo /workspace/go");
	p = BOX_START(pair[1], "/bin/sh", "-c",
		      "cd /workspace; . ./script.sh");
	close(pair[1]);
	line = e2e_line(pair[0]);
	REQUIRE(strcmp(line, "ready") == 0, "%s", line);
	pid = host_descendant("agentbox-shield");
	REQUIRE(host_stop(pid), "pid %d", (int)pid);
	host_write(ws_path("go"), "go\n");
	e2e_sleep_ms(200);
	CHECK(!host_exists(ws_path("made")), "it did not wait");
	CHECK(agentbox_shield_is_alive(shield()) == 0, "it is alive");
	line = e2e_line(pair[0]);
	CHECK(strcmp(line, "none") == 0, "%s", line);
	CHECK(!host_exists(ws_path("made")), "it was made");
	CHECK(host_gone(pid, SOON_MS), "it is there");
	close(pair[0]);
	agentbox_process_free(p);
	peers_finish();
}

static const struct e2e_case cases[] = {
	CASE(odd_execs_are_seen),
	CASE(odd_execs_are_let_and_recorded_in_an_audit),
	CASE(whoever_runs_it_it_is_seen),
	CASE(chains_of_interpreters_are_seen_at_their_end),
	CASE(odd_connections_are_judged),
	CASE(sockets_of_a_peer_are_nobodys),
	CASE(odd_names_of_a_peer_are_seen),
	CASE(odd_names_of_a_peer_change_nothing),
	CASE(an_ask_ends_with_the_shield),
	CASE(an_ask_ends_with_who_asked),
	CASE(more_asks_than_there_may_be_are_refused),
	CASE(what_cannot_be_read_is_asked_about),
	CASE(a_stopped_shield_lets_nothing_through),
	CASES_END,
};

int main(int argc, char **argv)
{
	e2e_most_seconds = 90;
	return e2e_main(argc, argv, cases);
}
