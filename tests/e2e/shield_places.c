/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A shield that watches connections and what is done to peers' files: each
 * way to name an address or a peer's file is seen, what is neither is let
 * through unseen, and agentbox-init's own calls are asked about by nobody.
 * Cases L16, L17, L21 of the scope check. The walls (a read-only mount, the
 * network namespace) hold without it: mode audit shows their answers.
 */
#include "peers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agentbox/guard.h"
#include "agentbox/shield.h"

#define PEER "/workspace/.shared/src/src/a.c"

static const char *keys(const char *mode, const char *watch)
{
	return e2e_text(PEERS_READ ",\"shield\":{\"mode\":\"%s\",\"watch\":"
			"[%s]}", mode, watch);
}

/* --- peers ---------------------------------------------------------------- */

/* Names that lead to a peer's file, however they are written. */
static const char *const spellings[] = {
	PEER,
	"/workspace/../workspace//.shared/./src/src/a.c",
	"/workspace/to-shared/src/src/a.c",
	"/workspace/to-file",
	"/workspace/chain/src/a.c",
	"/proc/self/cwd/.shared/src/src/a.c",
	"/proc/thread-self/root" PEER,
	"/proc/1/root" PEER,
};

static void make_links(void)
{
	host_symlink(".shared", ws_path("to-shared"));
	host_symlink("/workspace/to-shared/src/src/a.c", ws_path("to-file"));
	host_symlink("here/../to-shared/src", ws_path("chain"));
	host_mkdir(ws_path("here"));
}

static void every_change_of_a_peer_is_seen(void)
{
	peers_begin_with(NULL, NULL, keys("deny", "\"peers\""));
	peers_grant("src");
	make_links();
	for (size_t i = 0; i < sizeof(spellings) / sizeof(*spellings); i++) {
		box_forget_events();
		ATTACK("EACCES", "write %s", spellings[i]);
		/* of PID 1 nobody in the box reads where its root is */
		CHECK(strncmp(spellings[i], "/proc/1/", 8) == 0 ||
		      box_event("mismatch", PEER, SOON_MS), "%s",
		      spellings[i]);
	}
	box_forget_events();
	ATTACK("EACCES", "open-rdwr " PEER);
	char *detail = box_event("mismatch", PEER, SOON_MS);
	CHECK(detail && strstr(detail, "refused") &&
	      strstr(detail, "shield.peer") && !strstr(detail, "no call"),
	      "%s", detail);
	ATTACK("EACCES", "open-truncate " PEER);
	ATTACK("EACCES", "truncate " PEER);
	ATTACK("EACCES", "create /workspace/.shared/src/new");
	ATTACK("EACCES", "unlink " PEER);
	ATTACK("EACCES", "mkdir /workspace/.shared/d");
	ATTACK("EACCES", "rmdir /workspace/.shared/src/docs");
	ATTACK("EACCES", "rename " PEER " /workspace/mine");
	ATTACK("EACCES", "rename /workspace/here " PEER);
	ATTACK("EACCES", "exchange /workspace/here " PEER);
	ATTACK("EACCES", "link " PEER " /workspace/mine");
	ATTACK("EACCES", "symlink x /workspace/.shared/src/x");
	ATTACK("EACCES", "mkfifo /workspace/.shared/src/x");
	ATTACK("EACCES", "bind-unix /workspace/.shared/src/sock");
	CHECK(box_event("mismatch", "/workspace/.shared/src/sock", SOON_MS),
	      "the socket");
	ATTACK("EACCES", "proc-fd-write " PEER);
	ATTACK("EACCES", "tmpfile /workspace/.shared/src x|tmpfile");
	/* what cannot be read may be any name; no address is none */
	ATTACK("EACCES", "create-hidden /workspace/hidden");
	ATTACK("EFAULT", "create-nowhere");
	/* so may one that begins where nobody can say; a wall's is EROFS */
	ATTACK("EACCES", "create-deep /tmp workspace/.shared/src/deep");
	/* reading is granted and asked about by nobody */
	ATTACK("OK", "read " PEER);
	peers_finish();
}

/* Linux 6.13 says who a thread's leader is. */
static bool leaders_are_known(void)
{
	uint64_t info[8] = { 1 };
	int fd = (int)syscall(SYS_pidfd_open, getpid(), O_EXCL);
	int r = fd < 0 ? -1 : ioctl(fd, _IOWR(0xff, 11, uint64_t[8]), info);

	if (fd >= 0)
		close(fd);
	return r == 0;
}

/* What "self" is to a thread with tables of its own: its leader. */
static void a_thread_with_tables_of_its_own_hides_nothing(void)
{
	static const char *const asks[] = { "self fd/50", "task fd/50",
					    "self cwd/a.c", "task cwd/a.c" };

	peers_begin_with(NULL, NULL, keys("deny", "\"peers\""));
	peers_grant("src");
	for (size_t i = 0; i < sizeof(asks) / sizeof(*asks); i++) {
		if (*asks[i] == 's' && !leaders_are_known()) {
			e2e_note("not on this kernel: %s", asks[i]);
			continue;
		}
		box_forget_events();
		ATTACK("EACCES|EROFS", "thread-open " PEER " %s", asks[i]);
		CHECK(box_event("mismatch", PEER, SOON_MS), "%s", asks[i]);
	}
	box_forget_events();
	ATTACK("OK", "thread-open " PEER " thread-self fd/50");
	ATTACK("ENOENT", "thread-open " PEER " thread-self cwd/a.c");
	CHECK(!box_event("mismatch", NULL, 0), "its own are no peer's");
	peers_finish();
}

/* The same without a refusal: the wall answers, and the record says so. */
static void the_wall_answers_where_the_shield_lets(void)
{
	char *text;

	box_open_log();
	peers_begin_with(NULL, NULL, keys("audit", "\"peers\""));
	peers_grant("src");
	/* of the file's mode and of its mount */
	ATTACK("EACCES|EROFS", "open-rdwr " PEER);
	ATTACK("EROFS|EXDEV", "rename " PEER " /workspace/mine");
	ATTACK("OK", "read " PEER);
	peers_finish();
	text = box_close_log();
	CHECK(e2e_count(text, "\"command\":\"open " PEER "\"") +
	      e2e_count(text, "\"target\":\"open " PEER "\"") == 1, "the open");
	CHECK(e2e_count(text, "\"target\":\"rename " PEER "\"") == 1,
	      "the rename");
	CHECK(e2e_count(text, "\"severity\":\"high\"") == 2, "both are high");
}

/* What is no peer's goes through, and PID 1 and the launcher are not asked. */
static void all_else_works_as_before(void)
{
	char *text;

	box_open_log();
	peers_begin_with(NULL, NULL, keys("deny", "\"peers\""));
	struct outcome o = box_sh(
		"set -e; mkdir -p d/e; echo one >d/e/f; mv d/e/f d/g; "
		"ln d/g d/h; ln -s g d/s; echo two >>d/s; cat d/h; "
		"rm -r d; echo x >/dev/null; exec 3<>w; "
		"echo y >/dev/fd/3; cat w; : >/tmp/t; rm /tmp/t; ls /workspace/.shared");
	CHECK(o.status == 0 && strcmp(o.out, "one\ntwo\ny\n") == 0, "%s%s",
	      o.out, o.err);
	peers_finish();
	text = box_close_log();
	CHECK(!strstr(text, "shield.peer") && !strstr(text, "shield.unread"),
	      "nothing is told of it");
}

/* What was asked about and will not be done is not held against anybody. */
static void who_was_killed_is_not_told_of(void)
{
	char *text;

	box_open_log();
	peers_begin_with(NULL, NULL, keys("deny", "\"peers\""));
	e2e_seconds(60);
	ATTACK("OK", "exec-killed 1500 /bin/true");
	peers_finish();
	text = box_close_log();
	CHECK(!strstr(text, "shield.unread"), "%zu",
	      e2e_count(text, "shield.unread"));
}

/* What the box guards by itself: names that PID 1 moves away. */
static void the_boxs_own_renames_are_asked_about_by_nobody(void)
{
	peers_begin_with(NULL, NULL, keys("audit", "\"peers\""));
	box_sh("mkdir r; ln -s ../x r/.git");
	CHECK(box_event("quarantined", "r/.git", SOON_MS), "it was moved away");
	peers_finish();
}

static void killed_shield_ends_what_it_watches(void)
{
	pid_t pid;
	char line[256] = "";
	int pair[2];
	ssize_t n;

	peers_begin_with(NULL, NULL, keys("deny", "\"peers\",\"connect\""));
	REQUIRE(pipe(pair) == 0 && mkfifo(ws_path("wait"), 0666) == 0 &&
		chmod(ws_path("wait"), 0666) == 0, "%m");
	agentbox_process *p = BOX_START(pair[1], "sh", "-c",
					"read x </workspace/wait; "
					"echo a >/workspace/b || echo none");
	close(pair[1]);
	pid = host_descendant("agentbox-shield");
	REQUIRE(pid > 0 && kill(pid, SIGKILL) == 0, "pid %d", (int)pid);
	REQUIRE(host_gone(pid, SOON_MS), "it is gone");
	host_write(ws_path("wait"), "go\n");
	n = read(pair[0], line, sizeof(line) - 1);
	CHECK(n > 0 && strstr(line, "none"), "%s", line);
	close(pair[0]);
	agentbox_process_free(p);
	peers_finish();
}

/* --- what is read of peers ------------------------------------------------ */

static void set_grants(const char *name)
{
	const char *text = e2e_text(
		"[{\"reader\":\"%s\",\"source\":\"%032d\",\"name\":\"%s\","
		"\"state\":\"live\"}]", agentbox_sandbox_get_id(box()), 1, name);

	REQUIRE(agentbox_shield_set_grants(agentbox_sandbox_get_shield(box()),
					   text, strlen(text), NULL) == 0,
		"grants");
}

/* Only what is a peer's is told of, and it goes on. */
static void what_is_read_of_a_peer_is_recorded(void)
{
	char *text;

	box_open_log();
	peers_begin_with(NULL, NULL, keys("deny", "\"reads\""));
	peers_grant("src");
	make_links();
	host_write(ws_path("own"), "own\n");
	ATTACK("OK", "read " PEER);
	ATTACK("OK", "read /workspace/to-file");
	set_grants("src");
	ATTACK("OK", "read " PEER);
	struct outcome o = box_sh("cat own /proc/self/comm && ls .shared");
	CHECK(o.status == 0 && strstr(o.out, "own\n") &&
	      strstr(o.out, "src"), "%s%s", o.out, o.err);
	CHECK(!box_event("mismatch", NULL, 0), "all of it is granted");
	peers_finish();
	text = box_close_log();
	CHECK(e2e_count(text, "\"event\":\"read\"") == 3 &&
	      e2e_count(text, "\"target\":\"read " PEER "\"") == 3, "%zu",
	      e2e_count(text, "\"event\":\"read\""));
	CHECK(!strstr(text, "shield.unread"), "nothing is unread");
}

/* The mount is there, and the host says that nobody may read it. */
static void what_no_grant_covers_is_not_read(void)
{
	agentbox_shield *s;
	char *detail;

	peers_begin_with(NULL, NULL, keys("deny", "\"reads\""));
	s = agentbox_sandbox_get_shield(box());
	peers_grant("src");
	set_grants("other");
	ATTACK("EACCES", "read " PEER);
	detail = box_event("mismatch", PEER, SOON_MS);
	CHECK(detail && strstr(detail, "refused: read") &&
	      strstr(detail, "no grant"), "%s", detail);
	set_grants("src");
	ATTACK("OK", "read " PEER);
	/* nor is it written: each opening is asked about */
	ATTACK("EACCES", "open-rdwr " PEER);
	CHECK(box_event("mismatch", PEER, SOON_MS), "to write");
	/* and read while no call is under way it is told of */
	CHECK(agentbox_shield_begin_call(s, "c", NULL) == 0 &&
	      agentbox_shield_end_call(s, "c", NULL) == 0, "a call");
	box_forget_events();
	ATTACK("OK", "read " PEER);
	detail = box_event("mismatch", PEER, SOON_MS);
	CHECK(detail && strstr(detail, "no call"), "%s", detail);
	peers_finish();
}

/* --- connections ---------------------------------------------------------- */

static void connections_are_judged_by_the_policy(void)
{
	char *text;

	box_open_log();
	box_raise(NULL, "\"shield\":{\"mode\":\"deny\",\"watch\":"
			"[\"connect\"]}");
	ATTACK("EACCES", "connect 192.0.2.7 80");
	CHECK(box_event("tripwire", "192.0.2.7:80", SOON_MS), "told");
	ATTACK("EACCES", "connect 2001:db8::7 443");
	ATTACK("EACCES", "connect 169.254.169.254 80");
	ATTACK("EACCES", "connect ::ffff:192.0.2.7 80");
	ATTACK("EACCES", "send-udp 192.0.2.7 53");
	ATTACK("EACCES", "send-udp [192.0.2.7] 54");
	CHECK(box_event("tripwire", "192.0.2.7:54", SOON_MS), "told");
	/* the box itself, in each of its spellings */
	ATTACK("ECONNREFUSED", "connect 127.0.0.1 9");
	ATTACK("ECONNREFUSED", "connect 127.9.9.9 9");
	ATTACK("ECONNREFUSED", "connect ::1 9");
	ATTACK("ECONNREFUSED", "connect 0.0.0.0 9");
	ATTACK("ECONNREFUSED", "connect ::ffff:127.0.0.1 9");
	ATTACK("OK", "send-udp 127.0.0.1 9");
	ATTACK("ENOENT", "connect-unix /workspace/none");
	ATTACK("ECONNREFUSED", "connect-unix @none");
	text = box_close_log();
	CHECK(strstr(text, "\"target\":\"127.0.0.1:9\""), "it is recorded");
	CHECK(strstr(text, "\"event\":\"connect\""), "as what it is");
	CHECK(e2e_count(text, "\"rule\":\"shield.address\"") == 6, "%zu",
	      e2e_count(text, "\"rule\":\"shield.address\""));
	CHECK(!strstr(text, "\"control\":\"hard\""), "all of it is soft");
}

/* In mode audit the wall answers. */
static void connections_are_recorded_and_let(void)
{
	box_raise(NULL, "\"shield\":{\"mode\":\"audit\",\"watch\":"
			"[\"connect\"]}");
	ATTACK("ENETUNREACH", "connect 192.0.2.7 80");
	CHECK(box_event("tripwire", "192.0.2.7:80", SOON_MS), "told");
	CHECK(agentbox_shield_begin_call(agentbox_sandbox_get_shield(box()),
					 "c", NULL) == 0 &&
	      agentbox_shield_end_call(agentbox_sandbox_get_shield(box()),
				       "c", NULL) == 0, "a call");
	ATTACK("ECONNREFUSED", "connect 127.0.0.1 9");
	CHECK(box_event("mismatch", "127.0.0.1:9", SOON_MS),
	      "no call is under way");
}

/* Who asks before he connects gets the answer that the kernel's question
   would get. */
static void verify_answers_for_addresses(void)
{
	static const struct {
		const char *target;
		int32_t verdict;
	} rows[] = {
		{ "127.0.0.1:80", AGENTBOX_VERDICT_ALLOW },
		{ "[::1]:80", AGENTBOX_VERDICT_ALLOW },
		{ "192.0.2.7:80", AGENTBOX_VERDICT_DENY },
		{ "[2001:db8::7]:80", AGENTBOX_VERDICT_DENY },
		{ "127.0.0.1", AGENTBOX_VERDICT_DENY },
		{ "example.com:80", AGENTBOX_VERDICT_DENY },
	};

	box_raise(NULL, "\"shield\":{\"mode\":\"audit\"}");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int32_t verdict = 77;

		CHECK(agentbox_shield_verify(agentbox_sandbox_get_shield(box()),
					     "bash", rows[i].target, "connect",
					     &verdict, NULL, NULL) == 0,
		      "%s", rows[i].target);
		CHECK(verdict == rows[i].verdict, "%s: %d", rows[i].target,
		      verdict);
	}
}

/* Case L22: what does not look is not said to look. */
static void the_report_names_every_witness(void)
{
	agentbox_bytes *json = NULL;
	agentbox_shield *s;
	const char *text;
	pid_t pid;

	box_raise(NULL, "\"shield\":{\"mode\":\"ask\",\"watch\":"
			"[\"connect\",\"peers\"]}");
	s = agentbox_sandbox_get_shield(box());
	REQUIRE(agentbox_shield_report(s, &json, NULL) == 0, "report");
	text = agentbox_bytes_get_data(json);
	e2e_note("%s", text);
	CHECK(strstr(text, "\"mode\":\"ask\""), "the mode");
	/* this box has no peers to watch */
	CHECK(strstr(text, "\"watched\":[\"exec\",\"connect\"]"), "%s", text);
	CHECK(strstr(text, "{\"name\":\"seccomp\",\"reason\":\"\",\"state\":"
			   "\"used\"}"), "seccomp");
	CHECK(e2e_count(text, "\"state\":\"used\"") == 1, "nothing else looks");
	CHECK(strstr(text, "\"name\":\"landlock-audit\"") &&
	      strstr(text, "\"name\":\"fanotify\""), "by name");
	CHECK(getuid() == 0 || strstr(text, "CAP_SYS_ADMIN"), "what it takes");
	agentbox_bytes_free(json);
	json = NULL;
	pid = host_descendant("agentbox-shield");
	REQUIRE(pid > 0 && kill(pid, SIGKILL) == 0 && host_gone(pid, SOON_MS),
		"pid %d", (int)pid);
	REQUIRE(agentbox_shield_report(s, &json, NULL) == 0, "report");
	text = agentbox_bytes_get_data(json);
	CHECK(e2e_count(text, "\"state\":\"used\"") == 0, "%s", text);
	agentbox_bytes_free(json);
	CHECK(agentbox_shield_report(NULL, &json, NULL) == AGENTBOX_EINVAL,
	      "none");
}

static const struct e2e_case cases[] = {
	CASE(every_change_of_a_peer_is_seen),
	CASE(a_thread_with_tables_of_its_own_hides_nothing),
	CASE(the_wall_answers_where_the_shield_lets),
	CASE(all_else_works_as_before),
	CASE(who_was_killed_is_not_told_of),
	CASE(the_boxs_own_renames_are_asked_about_by_nobody),
	CASE(killed_shield_ends_what_it_watches),
	CASE(what_is_read_of_a_peer_is_recorded),
	CASE(what_no_grant_covers_is_not_read),
	CASE(connections_are_judged_by_the_policy),
	CASE(connections_are_recorded_and_let),
	CASE(verify_answers_for_addresses),
	CASE(the_report_names_every_witness),
	CASES_END,
};

int main(int argc, char **argv)
{
	e2e_most_seconds = 60;
	return e2e_main(argc, argv, cases);
}
