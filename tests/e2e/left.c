/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A holder is killed while its agent plants, and the next box is raised over
 * the same workspace: what was planted is taken away first, what the host has
 * is not touched, and where nobody can tell no box is raised. Row 59 of
 * tests/e2e/SANDBOX-CASES.md.
 *
 * Every situation is one row: the host's side says "mine", the agent's "evil".
 */
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct situation {
	const char *name;
	const char *before; /* host, in base: before the box is raised */
	const char *agent;  /* in the workspace, when its holder is killed */
	const char *host;   /* host, in base, after that */
	/* ends what is quarantined, or NULL: nothing is */
	const char *told;
	/* in the message of the refusal, or NULL: a box is raised */
	const char *refused;
	const char *after; /* host, in base: what has to hold, or NULL */
} situation;

#define REPO(dir)                                                    \
	"mkdir -p " dir "/.git/objects " dir "/.git/refs " dir       \
	"/.git/hooks; echo ref: refs/heads/m >" dir "/.git/HEAD; "   \
	"echo '#mine' >" dir "/.git/config; echo mine >" dir         \
	"/.git/hooks/post-merge; "
#define BARE(dir)                                                    \
	"mkdir -p " dir "/objects " dir "/refs " dir "/hooks; "      \
	"echo ref: refs/heads/m >" dir "/HEAD; "                     \
	"echo evil >" dir "/config; echo evil >" dir "/hooks/x; "
#define ENVRC "echo mine >ws/.envrc; "
#define IS_MINE "grep -q mine ws/.envrc"
#define NONE_LEFT "! grep -rq evil ws"

static const situation situations[] = {
	{ "nothing is planted", REPO("ws/sub") ENVRC, "true", NULL, NULL, NULL,
	  IS_MINE },
	{ "a name", NULL, "echo evil >.envrc", NULL, ".envrc", NULL,
	  NONE_LEFT },
	{ "a name beside one that was there", REPO("ws/sub") ENVRC,
	  "mkdir d; echo evil >d/.envrc", NULL, "d/.envrc", NULL,
	  NONE_LEFT " && " IS_MINE },
	{ "a directory", REPO("ws/sub"), "mkdir .vscode; echo evil >.vscode/x",
	  NULL, ".vscode", NULL, NONE_LEFT },
	{ "a link in the place of one", NULL, "mkdir evil; ln -s evil .vscode",
	  NULL, ".vscode", NULL, "! test -L ws/.vscode" },
	{ "a repository", NULL,
	  "mkdir -p r/.git/hooks; echo evil >r/.git/config; "
	  "echo evil >r/.git/hooks/x", NULL, "r/.git/hooks", NULL, NONE_LEFT },
	{ "a repository by structure", NULL, BARE("b"), NULL, "b/hooks", NULL,
	  NONE_LEFT },
	{ "a pointer to one of another name", NULL,
	  BARE("b") "mkdir t; echo gitdir: ../b >t/.git", NULL, "t/.git", NULL,
	  "! test -e ws/t/.git && " NONE_LEFT },
	{ "in another case", NULL, "echo evil >.ENVRC", NULL, ".ENVRC", NULL,
	  NONE_LEFT },
	{ "in a directory that is closed", NULL,
	  "mkdir -p a/b; echo evil >a/b/.envrc; chmod 0 a/b a", NULL, ".envrc",
	  NULL, NONE_LEFT },
	{ "deeper than anybody looks", NULL,
	  "i=0; while [ $i -lt 80 ]; do mkdir d; cd d; i=$((i+1)); done; "
	  "echo evil >.envrc", NULL, "d", NULL, "! find ws -name .envrc | "
	  "grep -q ." },
	{ "below what was moved away", REPO("ws/sub"),
	  "mkdir a; echo evil >a/.envrc; mv a b; mkdir a; echo evil >a/.envrc",
	  NULL, "a/.envrc", NULL, NONE_LEFT },
	{ "a file of the host is written in place", REPO("ws/sub"),
	  "echo evil >.envrc", "echo mine2 >>ws/sub/.git/config", ".envrc",
	  NULL, "grep -q mine2 ws/sub/.git/config && " NONE_LEFT },
	{ "a hook of the host's is added", REPO("ws/sub"), "true",
	  "echo mine >ws/sub/.git/hooks/pre-push", NULL, NULL,
	  "test -e ws/sub/.git/hooks/pre-push" },
	{ "a repository of the host's is moved", REPO("ws/sub"), "true",
	  "mv ws/sub ws/sub2", NULL, NULL, "test -e ws/sub2/.git/config" },
	{ "a file of the host is removed", ENVRC, "true", "rm ws/.envrc", NULL,
	  NULL, NULL },
	{ "a file of the host is replaced", REPO("ws/sub"),
	  "echo evil >.envrc",
	  "cp ws/sub/.git/config x; echo mine2 >>x; mv x ws/sub/.git/config",
	  ".envrc", "'sub/.git/config'",
	  "grep -q mine2 ws/sub/.git/config && " NONE_LEFT },
	{ "hooks of the host are made anew", REPO("ws/sub"), "true",
	  "rm -r ws/sub/.git/hooks; mkdir ws/sub/.git/hooks", NULL,
	  "'sub/.git/hooks'", "test -d ws/sub/.git/hooks" },
	{ "what a link leads to is made anew",
	  "mkdir ws/shared; echo mine >ws/shared/x; ln -s shared ws/.vscode",
	  "true", "rm -r ws/shared; mkdir ws/shared", NULL, "'shared'", NULL },
	{ "a file of the host has another name now", ENVRC, "true",
	  "ln ws/.envrc ws/other", NULL, "'.envrc'", IS_MINE },
	{ "a workspace is another one", ENVRC, "true",
	  "mv ws old; mkdir ws", NULL, "another directory", NULL },
	{ "a workspace is a copy", ENVRC, "echo evil >.npmrc",
	  "cp -a ws new; mv ws old; mv new ws", NULL, "another directory",
	  NULL },
	{ "a quarantine was taken away", NULL, "echo evil >.envrc",
	  "rmdir state/quarantine/[0-9a-f]* 2>/dev/null; true", ".envrc", NULL, NONE_LEFT },
	{ "a record is torn", NULL, "true",
	  "for f in state/quarantine/unsettled/*; do truncate -s -1 $f; done",
	  NULL, "does not say what stood there", NULL },
	{ "a record has more than it has", NULL, "true",
	  "for f in state/quarantine/unsettled/*; do printf x >>$f; done",
	  NULL, "does not say what stood there", NULL },
	{ "a record says no more than whose it is", NULL, "true",
	  "for f in state/quarantine/unsettled/*; do "
	  "t=$(tr '\\0' '\\n' <$f | head -1); printf %s \"$t\" >$f; done",
	  NULL, "does not say what stood there", NULL },
};

/* --- the life and death of a box ------------------------------------------ */

static void host(const char *script)
{
	int status = 0;

	if (!script)
		return;
	HOST_RUN(&status, "sh", "-c",
		 e2e_text("cd '%s'; %s", host_path("."), script));
	REQUIRE(status == 0, "%s: %d", script, status);
}

/* The holder of the youngest box: but for one of another. */
static pid_t find_holder(pid_t other)
{
	char *list = host_read(e2e_text("/proc/self/task/%d/children",
					getpid()));
	pid_t found = 0;

	for (char *pid = strtok(list, " "); pid; pid = strtok(NULL, " ")) {
		char *comm = host_read(e2e_text("/proc/%s/comm", pid));

		if (comm && !strcmp(comm, "agentbox-init\n") &&
		    atoi(pid) != other)
			found = atoi(pid);
	}
	REQUIRE(found, "no holder");
	return found;
}

/* Nothing is settled: the command has not ended. */
static void plant_beside(const char *script, pid_t other)
{
	agentbox_process *p = BOX_START(
		-1, "sh", "-c",
		e2e_text("(%s); echo >/workspace/planted; sleep 60", script));

	for (int i = 0; i < 500 && !host_exists(ws_path("planted")); i++)
		e2e_sleep_ms(10);
	REQUIRE(unlink(ws_path("planted")) == 0, "it did not plant: %m");
	kill(find_holder(other), SIGKILL);
	agentbox_process_free(p);
	box_end();
}

static void plant(const char *script)
{
	plant_beside(script, 0);
}

static bool has_record(void)
{
	int status = 0;

	HOST_RUN(&status, "sh", "-c",
		 e2e_text("ls '%s' | grep -q .",
			  host_path("state/quarantine/unsettled")));
	return status == 0;
}

static void check_told(const char *told)
{
	agentbox_event *e = NULL;
	char *last = e2e_text("%s", "");
	bool is_told = !told;

	while (agentbox_sandbox_next_event(box(), &e, NULL) == 0) {
		const char *object = agentbox_event_get_object(e);
		size_t n = strlen(object), m = told ? strlen(told) : 0;

		if (!strcmp(agentbox_event_get_kind(e), "quarantined")) {
			last = e2e_text("%s %s", last, object);
			is_told |= told && n >= m &&
				   !strcmp(object + n - m, told);
		}
		agentbox_event_free(e);
	}
	CHECK(is_told && (told || !last[0]), "quarantined:%s", last);
}

static void raise_over(const situation *s)
{
	int32_t code = 0;
	char *where = NULL, *message = e2e_text("%s", "");
	agentbox_sandbox *one =
		s->refused ? box_try(box_document("workspace", NULL, NULL),
				     &code, &where, &message)
			   : box_raise(NULL, NULL);
	int status = 0;

	CHECK(!one == !!s->refused, "a box is raised");
	CHECK(!s->refused || (code == AGENTBOX_EWALL &&
			      strstr(message, s->refused)), "%d %s", code,
	      message);
	CHECK(has_record(), "no record is there");
	if (one)
		check_told(s->told);
	if (s->after)
		HOST_RUN(&status, "sh", "-c",
			 e2e_text("cd '%s'; %s", host_path("."), s->after));
	CHECK(status == 0, "'%s' does not hold",
	      s->after ? s->after : "");
	if (one)
		box_end();
	CHECK(has_record() == !!s->refused, "the record");
	if (!s->refused)
		return;
	/* it says what to remove, and that is enough */
	CHECK(strstr(message, "quarantine/unsettled/"), "%s", message);
	host("rm state/quarantine/unsettled/*");
	box_raise(NULL, NULL);
	box_end();
}

static void case_059_what_a_killed_box_left_is_put_right(void)
{
	size_t n = sizeof(situations) / sizeof(*situations);

	e2e_seconds(120);
	for (size_t i = 0; i < n; i++) {
		const situation *s = &situations[i];
		size_t failed = e2e_failures();

		host("chmod -R u+rwx ws 2>/dev/null; rm -rf ws old; mkdir ws");
		host(s->before);
		box_raise(NULL, NULL);
		plant(s->agent);
		host(s->host);
		raise_over(s);
		if (e2e_failures() != failed)
			e2e_note("in: %s", s->name);
	}
}

/* --- at any moment -------------------------------------------------------- */

#define PLANTS                                                          \
	"i=0; while :; do i=$((i+1)); mkdir -p p/$i/.git/hooks; "       \
	"echo evil >p/$i/.git/hooks/x; echo evil >p/$i/.envrc; "        \
	"mv p/$i q$i; ln -s q$i .vscode; rm -f .vscode; "               \
	"echo evil >.envrc; done"

/* Host and holder at once, as when the power is cut; nothing is told. */
static void case_059_killed_at_any_moment(void)
{
	box_needs_namespaces();
	e2e_seconds(120);
	srand(59);
	host(REPO("ws/sub") "echo mine >ws/.npmrc");
	box_context();
	for (int i = 0; i < 12; i++) {
		int ready[2], status = 0;
		char c;
		pid_t holder, pid;

		REQUIRE(pipe2(ready, O_CLOEXEC) == 0, "%m");
		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			box_raise(NULL, NULL);
			BOX_START(-1, "sh", "-c", PLANTS);
			(void)!write(ready[1], "x", 1);
			pause();
			_exit(0);
		}
		close(ready[1]);
		REQUIRE(read(ready[0], &c, 1) == 1, "no box");
		close(ready[0]);
		e2e_sleep_ms(rand() % 60);
		holder = host_descendant("agentbox-init");
		if (i % 2)
			kill(pid, SIGSTOP);
		kill(holder, SIGKILL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		for (int k = 0; k < 200 && host_descendants(); k++)
			e2e_sleep_ms(10);
		box_raise(NULL, NULL);
		HOST_RUN(&status, "sh", "-c",
			 e2e_text("cd '%s'; ! find . -name .envrc -o "
				  "-name hooks -path '*q*' | grep . && "
				  "grep -q mine sub/.git/config .npmrc",
				  ws_path(".")));
		CHECK(status == 0, "round %d: it stands", i);
		box_end();
		CHECK(!has_record(), "round %d: a record stays", i);
		host("rm -rf ws/p ws/q*");
	}
}

static void case_059_two_over_one_workspace(void)
{
	char *document = box_document("workspace", NULL, NULL), *message, *where;
	agentbox_sandbox *other = box_raise(NULL, NULL);
	const char *id = agentbox_sandbox_get_id(other);
	pid_t holder = find_holder(0);
	int32_t code = 0;

	box_raise(NULL, NULL);
	plant_beside("echo evil >.envrc", holder);
	CHECK(!box_try(document, &code, &where, &message) &&
	      code == AGENTBOX_EWALL && strstr(message, id),
	      "with another agent there: %s", message);
	agentbox_sandbox_free(other);
	box_raise(NULL, NULL);
	CHECK(!host_exists(ws_path(".envrc")), "it stands");
}

static void case_059_the_workspace_was_moved(void)
{
	int32_t code = 0;
	char *where, *message;
	agentbox_policy *policy;
	agentbox_sandbox *moved = NULL;
	agentbox_error *err = NULL;

	box_raise(NULL, NULL);
	plant("echo evil >.envrc");
	host("mv ws ws2; mkdir ws");
	CHECK(!box_try(box_document("workspace", NULL, NULL), &code, &where,
		       &message), "where it was");
	policy = box_policy(e2e_text(
		"{\"agentbox\":1,\"extends\":\"builtin:workspace\","
		"\"workspace\":{\"path\":\"%s\"}}", host_path("ws2")));
	CHECK(agentbox_sandbox_new(box_context(), policy, NULL, &moved,
				   &err) == 0, "%s",
	      agentbox_error_get_message(err));
	agentbox_error_free(err);
	CHECK(!host_exists(host_path("ws2/.envrc")), "it stands");
	agentbox_sandbox_free(moved);
	agentbox_policy_unref(policy);
	box_raise(NULL, NULL);
}

/* Found by who is raised above it, or below. */
static void case_059_over_a_part_of_it(void)
{
	agentbox_policy *policy;
	agentbox_sandbox *part = NULL;
	agentbox_error *err = NULL;

	host("mkdir ws/part");
	box_raise(NULL, NULL);
	plant("echo evil >.envrc; echo evil >part/.envrc");
	policy = box_policy(e2e_text(
		"{\"agentbox\":1,\"extends\":\"builtin:workspace\","
		"\"workspace\":{\"path\":\"%s\"}}", ws_path("part")));
	CHECK(agentbox_sandbox_new(box_context(), policy, NULL, &part,
				   &err) == 0, "%s",
	      agentbox_error_get_message(err));
	agentbox_error_free(err);
	CHECK(!host_exists(ws_path(".envrc")) &&
	      !host_exists(ws_path("part/.envrc")), "it stands");
	agentbox_sandbox_free(part);
	agentbox_policy_unref(policy);
}

/* What the host makes while nobody of the agent's is there stays its own. */
static void case_059_what_came_later_and_is_the_hosts(void)
{
	host(ENVRC);
	box_raise(NULL, NULL);
	BOX_RUN("true");
	e2e_sleep_ms(100);
	host(REPO("ws/new") "echo mine2 >x; mv x ws/.envrc");
	e2e_sleep_ms(300);
	plant("echo evil >.npmrc; echo evil >>new/.git/config; "
	      "echo evil >>.envrc; true");
	box_raise(NULL, NULL);
	check_told(".npmrc");
	host("grep -q '#mine' ws/new/.git/config && grep -q mine2 ws/.envrc "
	     "&& test -d ws/new/.git/hooks && ! grep -rq evil ws");
}

/* The host makes so many repositories, when nobody of the agent's is there:
   where somebody is, they are moved away. The name of the first. */
static const char *add_repositories(const char *name, int count)
{
	for (int i = 0; i < 50; i++) {
		const char *first = e2e_text("ws/%s%d-1", name, i);

		e2e_sleep_ms(100);
		host(e2e_text("for i in $(seq %d); do d=ws/%s%d-$i; " REPO("$d")
			      "done", count, name, i));
		CHECK(BOX_RUN("true").status == 0, "true");
		if (host_exists(host_path("%s/.git/config", first)))
			return first;
	}
	REQUIRE(false, "'%s' is never the host's", name);
	return NULL;
}

/* Of a record that did not fit a part is not left in the middle. */
static void case_059_the_disk_was_full_for_a_while(void)
{
	const char *last;

	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0) {
		e2e_note("not tried, only root mounts");
		return;
	}
	e2e_seconds(120);
	host("mkdir -p state");
	REQUIRE(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "%m");
	e2e_mark_again();
	REQUIRE(mount("none", host_path("state"), "tmpfs", 0,
		      "size=1m,mode=700") == 0, "%m");
	host(ENVRC);
	box_raise(NULL, NULL);
	CHECK(BOX_RUN("true").status == 0, "true");
	host("! dd if=/dev/zero of=state/fill bs=4k 2>/dev/null");
	/* more than is left of the page that the record ends in */
	(void)add_repositories("full", 60);
	host("rm state/fill");
	last = add_repositories("last", 1);
	plant("echo evil >.npmrc");
	box_raise(NULL, NULL);
	check_told(".npmrc");
	host(e2e_text("grep -q '#mine' %s/.git/config && test -d "
		      "%s/.git/hooks && " IS_MINE " && ! test -e ws/.npmrc",
		      last, last));
	box_end();
	REQUIRE(umount2(host_path("state"), MNT_DETACH) == 0, "%m");
}

static void case_059_something_is_mounted_there(void)
{
	int32_t code = 0;
	char *where, *message;

	if (geteuid() != 0) {
		e2e_note("not tried, only root mounts");
		return;
	}
	host("mkdir ws/m");
	box_raise(NULL, NULL);
	plant("echo evil >m/.envrc");
	REQUIRE(mount("none", ws_path("m"), "tmpfs", 0, "size=64k") == 0,
		"%m");
	CHECK(!box_try(box_document("workspace", NULL, NULL), &code, &where,
		       &message) && strstr(message, "'m'"), "%s", message);
	REQUIRE(umount(ws_path("m")) == 0, "%m");
	box_raise(NULL, NULL);
	CHECK(!host_exists(ws_path("m/.envrc")), "it stands");
}

#define SNAPSHOT                                                     \
	"python3 -c 'import fcntl, os, struct; "                     \
	"d = os.open(\".\", os.O_RDONLY); fcntl.ioctl(d, 0x50009417, " \
	"bytearray(struct.pack(\"qQQ32s4040s\", d, 0, 0, b\"\", b\"snap\")))'; "

/* btrfs: with the numbers and the times of what it was made of. */
static void case_059_a_snapshot_is_not_what_it_was_made_of(void)
{
	int status = 1;

	if (geteuid() == 0)
		HOST_RUN(&status, "sh", "-c",
			 e2e_text("cd '%s' && truncate -s 256M img && "
				  "mkfs.btrfs -q img && mount -o loop img ws",
				  host_path(".")));
	if (status) {
		e2e_note("not tried, it takes root and mkfs.btrfs");
		return;
	}
	host(REPO("ws/sub"));
	box_raise(NULL, NULL);
	plant(SNAPSHOT "echo evil >>snap/sub/.git/config; "
	      "echo evil >snap/sub/.git/hooks/x");
	CHECK(host_exists(ws_path("snap/sub/.git/hooks/x")), "no snapshot");
	box_raise(NULL, NULL);
	CHECK(!host_exists(ws_path("snap/sub/.git/config")) &&
	      !host_exists(ws_path("snap/sub/.git/hooks")), "it stands");
	host("grep -q mine ws/sub/.git/config ws/sub/.git/hooks/post-merge");
	box_end();
	REQUIRE(umount(ws_path(".")) == 0, "%m");
}

static pid_t child_of(pid_t pid)
{
	char *list = host_read(e2e_text("/proc/%d/task/%d/children", pid, pid));

	return list ? atoi(list) : 0;
}

/* For who is started from here on: another time at which all were started. */
static void set_clock(void)
{
	static const char ahead[] = "boottime 1000 0\n";
	int fd = -1;

	if (syscall(SYS_unshare, 0x80 /* CLONE_NEWTIME */) == 0)
		fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	REQUIRE(fd >= 0 && write(fd, ahead, sizeof(ahead) - 1) > 0, "%m");
	close(fd);
}

static bool is_zombie(pid_t pid)
{
	char *stat = host_read(e2e_text("/proc/%d/stat", pid));

	return !stat || strstr(stat, ") Z ");
}

/* Its PID 1 has not noticed, and its agent plants on; nobody looks before. */
static void await_the_end(bool has_other_clock)
{
	int status = 0;
	pid_t holder, one, pid;
	agentbox_process *p;

	e2e_seconds(60);
	box_raise(NULL, NULL);
	p = BOX_START(-1, "sh", "-c", "while :; do echo evil >.envrc; done");
	holder = find_holder(0);
	one = child_of(holder);
	REQUIRE(one && host_stop(one), "no first process");
	kill(holder, SIGKILL);
	/* as long as it has its quarantine locked it lives */
	REQUIRE(E2E_SOON(is_zombie(holder)), "the holder lives");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (has_other_clock)
			set_clock();
		box_raise(NULL, NULL);
		e2e_sleep_ms(100);
		_exit(host_exists(ws_path(".envrc")));
	}
	e2e_sleep_ms(700);
	(void)unlink(ws_path(".envrc"));
	e2e_sleep_ms(100);
	/* where it has died all the same there is nothing to wait for */
	CHECK(waitpid(pid, NULL, WNOHANG) == 0 || kill(one, 0) < 0 ||
	      !host_exists(ws_path(".envrc")),
	      "a box is raised beside an agent that lives");
	kill(one, SIGCONT);
	waitpid(pid, &status, 0);
	CHECK(status == 0, "wait status %x", status);
	agentbox_process_free(p);
	box_end();
	CHECK(!host_exists(ws_path(".envrc")), "it stands");
}

static void case_059_what_is_left_lives_on_for_a_while(void)
{
	await_the_end(false);
}

static void case_059_the_same_by_another_clock(void)
{
	if (geteuid() != 0 || access("/proc/self/ns/time", F_OK)) {
		e2e_note("not tried, only root has another clock");
		return;
	}
	await_the_end(true);
}

/* One looks, the other waits: both have a box, and neither is over it. */
static void case_059_two_starts_at_once(void)
{
	for (int i = 0; i < 5; i++) {
		pid_t pids[3];
		int status;

		host("mkdir -p ws/d; cd ws/d; seq 2000 | xargs touch");
		box_raise(NULL, NULL);
		plant("echo evil >.envrc; mkdir e; echo evil >e/.envrc");
		fflush(stdout);
		for (int k = 0; k < 3; k++) {
			pids[k] = fork();
			if (pids[k])
				continue;
			box_raise(NULL, NULL);
			bool stands = host_exists(ws_path(".envrc")) ||
				      host_exists(ws_path("e/.envrc"));
			box_end();
			_exit(stands);
		}
		for (int k = 0; k < 3; k++) {
			waitpid(pids[k], &status, 0);
			CHECK(status == 0, "wait status %x", status);
		}
		CHECK(!has_record(), "a record stays");
	}
}

/* Whoever looks is killed as well. */
static void case_059_who_looks_is_killed(void)
{
	e2e_seconds(60);
	host("mkdir -p ws/d; cd ws/d; seq 20000 | xargs touch");
	for (int i = 0; i < 8; i++) {
		pid_t pid, helper = 0;

		box_raise(NULL, NULL);
		plant("for i in 1 2 3 4 5 6 7 8 9; do mkdir -p e/$i; "
		      "echo evil >e/$i/.envrc; done");
		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			box_raise(NULL, NULL);
			_exit(0);
		}
		for (int k = 0; k < 500 && !helper; k++)
			helper = host_descendant("agentbox-init");
		e2e_sleep_ms(i * 3);
		if (i % 2)
			kill(pid, SIGKILL);
		kill(helper, SIGKILL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		for (int k = 0; k < 200 && host_descendants(); k++)
			e2e_sleep_ms(10);
		box_raise(NULL, NULL);
		host("! find ws -name .envrc | grep -q .");
		box_end();
		CHECK(!has_record(), "round %d: a record stays", i);
	}
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_059_what_a_killed_box_left_is_put_right),
		CASE(case_059_killed_at_any_moment),
		CASE(case_059_two_over_one_workspace),
		CASE(case_059_the_workspace_was_moved),
		CASE(case_059_over_a_part_of_it),
		CASE(case_059_what_came_later_and_is_the_hosts),
		CASE(case_059_the_disk_was_full_for_a_while),
		CASE(case_059_something_is_mounted_there),
		CASE(case_059_a_snapshot_is_not_what_it_was_made_of),
		CASE(case_059_what_is_left_lives_on_for_a_while),
		CASE(case_059_the_same_by_another_clock),
		CASE(case_059_two_starts_at_once),
		CASE(case_059_who_looks_is_killed),
		CASES_END,
	};

	return e2e_main(argc, argv, cases);
}
