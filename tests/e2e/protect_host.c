/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host works in a direct workspace while a box is over it: it renames,
 * removes, replaces, links, copies, mounts and runs git, while no command
 * runs, just before one, or with a process of the agent left behind. What the
 * agent makes in the place of what was protected never stays there, and what
 * the host made is neither taken nor written to. Rows 102 and 103 of
 * tests/e2e/SANDBOX-CASES.md.
 *
 * Every situation is one row: the host's side says "mine", the agent's "evil".
 */
#include "box.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

struct situation {
	const char *name;
	const char *before; /* host, in base: before the box is raised */
	const char *left;   /* agent, in the workspace: left behind, or NULL */
	const char *host;   /* host, in base */
	const char *agent;  /* the next command */
	const char *after;  /* host, in base: what has to hold, or NULL */
	const char *told;   /* ends what was quarantined; NULL: nothing was */
	bool is_root;	    /* needs to mount */
};

#define REPO(dir) \
	"mkdir -p " dir "/.git/objects " dir "/.git/refs " dir "/.git/hooks; " \
	"echo ref: refs/heads/m >" dir "/.git/HEAD; " \
	"echo '#mine' >" dir "/.git/config; "
#define ENVRC "echo mine >ws/.envrc; "
#define PLANT "echo evil >.envrc; true"
#define ADD "echo evil >>.envrc; true"
#define ADD_TO(file) "echo evil >>" file "; true"
#define PLANT_REPO(dir) \
	"mkdir -p " dir "/.git; echo evil >" dir "/.git/config; true"
#define ENVRC_IS_MINE "grep -q mine ws/.envrc"

static const struct situation quiet_host[] = {
	{ "a file is removed", ENVRC, NULL, "rm ws/.envrc", PLANT, NULL,
	  ".envrc", false },
	{ "a file is renamed beside", ENVRC, NULL, "mv ws/.envrc ws/old",
	  PLANT, "grep -q mine ws/old", ".envrc", false },
	{ "a file is moved out", ENVRC, NULL, "mv ws/.envrc old", PLANT,
	  "grep -q mine old", ".envrc", false },
	{ "a file is moved deeper", ENVRC, NULL,
	  "mkdir -p ws/d/e; mv ws/.envrc ws/d/e/old", PLANT,
	  "grep -q mine ws/d/e/old", ".envrc", false },
	{ "a file is replaced by a rename", ENVRC, NULL,
	  "echo mine2 >ws/x; mv ws/x ws/.envrc", ADD,
	  "grep -q mine2 ws/.envrc", NULL, false },
	{ "a file is removed and made anew", ENVRC, NULL,
	  "rm ws/.envrc; echo mine2 >ws/.envrc", ADD,
	  "grep -q mine2 ws/.envrc", NULL, false },
	{ "a file is replaced three times", ENVRC, NULL,
	  "for i in 1 2 3; do echo mine$i >ws/x; mv ws/x ws/.envrc; done", ADD,
	  "grep -q mine3 ws/.envrc", NULL, false },
	{ "removed, made anew, removed", ENVRC, NULL,
	  "rm ws/.envrc; echo mine >ws/.envrc; rm ws/.envrc", PLANT, NULL,
	  ".envrc", false },
	{ "away and back", ENVRC, NULL, "mv ws/.envrc ws/x; mv ws/x ws/.envrc",
	  ADD, ENVRC_IS_MINE, NULL, false },
	{ "out and back after a while", ENVRC, NULL,
	  "mv ws/.envrc x; sleep 0.03; mv x ws/.envrc", ADD, ENVRC_IS_MINE,
	  NULL, false },
	{ "a backup is renamed, a copy is edited", ENVRC, NULL,
	  "mv ws/.envrc ws/.envrc~; cp ws/.envrc~ ws/.envrc", ADD,
	  ENVRC_IS_MINE, NULL, false },
	{ "two are exchanged", ENVRC "echo mine >ws/.npmrc; ", NULL,
	  "mv ws/.envrc ws/x; mv ws/.npmrc ws/.envrc; mv ws/x ws/.npmrc",
	  ADD "; echo evil >>.npmrc; true",
	  ENVRC_IS_MINE " && grep -q mine ws/.npmrc", NULL, false },
	{ "a directory is in a file's place", ENVRC, NULL,
	  "rm ws/.envrc; mkdir ws/.envrc; echo mine >ws/.envrc/f",
	  ADD_TO(".envrc/f"), "grep -q mine ws/.envrc/f", NULL, false },
	{ "a mode is taken", ENVRC, NULL, "chmod 0 ws/.envrc", ADD,
	  "chmod 644 ws/.envrc; " ENVRC_IS_MINE, NULL, false },
	{ "a mode is given", ENVRC, NULL, "chmod 777 ws/.envrc", ADD,
	  ENVRC_IS_MINE, NULL, false },
	{ "it is written in place", ENVRC, NULL, "echo mine2 >ws/.envrc", ADD,
	  "grep -q mine2 ws/.envrc", NULL, false },
	{ "a protected file is linked to a protected name", ENVRC, NULL,
	  "mkdir ws/d; ln ws/.envrc ws/d/.envrc", ADD_TO("d/.envrc"),
	  ENVRC_IS_MINE, "d/.envrc", false },
};

static const struct situation repositories[] = {
	{ "a repository is moved", REPO("ws/sub"), NULL, "mv ws/sub ws/sub2",
	  PLANT_REPO("sub"), "grep -q mine ws/sub2/.git/config",
	  "sub/.git/config", false },
	{ "a repository is moved, and written to", REPO("ws/sub"), NULL,
	  "mv ws/sub ws/sub2", ADD_TO("sub2/.git/config"),
	  "grep -q mine ws/sub2/.git/config", NULL, false },
	{ "a repository is moved out", REPO("ws/sub"), NULL, "mv ws/sub x",
	  PLANT_REPO("sub"), "grep -q mine x/.git/config", "sub/.git/config",
	  false },
	{ "a repository is moved away and back", REPO("ws/sub"), NULL,
	  "mv ws/sub ws/x; mv ws/x ws/sub", ADD_TO("sub/.git/config"),
	  "grep -q mine ws/sub/.git/config", NULL, false },
	{ "a repository is moved out and back after a while", REPO("ws/sub"),
	  NULL, "mv ws/sub x; sleep 0.03; mv x ws/sub",
	  ADD_TO("sub/.git/config"), "grep -q mine ws/sub/.git/config", NULL,
	  false },
	{ "configured, then moved", REPO("ws/sub"), NULL,
	  "echo mine >ws/sub/.git/l; mv ws/sub/.git/l ws/sub/.git/config; "
	  "sleep 0.03; mv ws/sub ws/sub2", ADD_TO("sub2/.git/config"),
	  "grep -q mine ws/sub2/.git/config", NULL, false },
	{ "moved, then configured", REPO("ws/sub"), NULL,
	  "mv ws/sub ws/sub2; sleep 0.03; "
	  "echo mine >ws/sub2/.git/l; mv ws/sub2/.git/l ws/sub2/.git/config",
	  ADD_TO("sub2/.git/config"), "grep -q mine ws/sub2/.git/config", NULL,
	  false },
	/* cp fails where the hooks go to quarantine before it is done */
	{ "copied by links", REPO("ws/sub"), NULL,
	  "cp -al ws/sub ws/sub3 2>/dev/null; [ -d ws/sub3/.git ]",
	  ADD_TO("sub3/.git/config"), "grep -q mine ws/sub/.git/config",
	  "sub3/.git/config", false },
	{ "its configuration is linked", REPO("ws/sub"), NULL,
	  "mkdir -p ws/o/.git; ln ws/sub/.git/config ws/o/.git/config",
	  ADD_TO("o/.git/config"), "grep -q mine ws/sub/.git/config",
	  "o/.git/config", false },
	{ "removed", REPO("ws/sub"), NULL, "rm -rf ws/sub", PLANT_REPO("sub"),
	  NULL, "sub/.git/config", false },
	{ "removed and made anew", REPO("ws/sub"), NULL,
	  "rm -rf ws/sub; " REPO("ws/sub"), ADD_TO("sub/.git/config"),
	  "grep -q mine ws/sub/.git/config", NULL, false },
	{ "removed and made anew after a while", REPO("ws/sub"), NULL,
	  "rm -rf ws/sub; sleep 0.03; " REPO("ws/sub"),
	  ADD_TO("sub/.git/config"), "grep -q mine ws/sub/.git/config", NULL,
	  false },
	{ "another takes its place", REPO("ws/sub") REPO("other"), NULL,
	  "mv ws/sub ws/old; mv other ws/sub",
	  ADD_TO("sub/.git/config") "; " ADD_TO("old/.git/config"),
	  "grep -q mine ws/sub/.git/config && grep -q mine ws/old/.git/config",
	  NULL, false },
	{ "moved, and a link is in its place", REPO("ws/sub"), NULL,
	  "mv ws/sub ws/real; ln -s real ws/sub", ADD_TO("sub/.git/config"),
	  "grep -q mine ws/real/.git/config", NULL, false },
	{ "hooks are replaced", "", NULL,
	  "rm -r ws/.git/hooks; mkdir ws/.git/hooks; "
	  "echo mine >ws/.git/hooks/h", ADD_TO(".git/hooks/h"),
	  "grep -q mine ws/.git/hooks/h", NULL, false },
	{ "hooks are removed", "", NULL, "rm -r ws/.git/hooks",
	  "mkdir .git/hooks; echo evil >.git/hooks/pre-commit", NULL,
	  ".git/hooks", false },
	{ "hooks are renamed", "", NULL, "mv ws/.git/hooks ws/.git/hooks.off",
	  "mkdir .git/hooks; echo evil >.git/hooks/pre-commit", NULL,
	  ".git/hooks", false },
	{ "all of git is removed", "", NULL, "rm -rf ws/.git",
	  "mkdir .git; echo evil >.git/config", NULL, ".git/config", false },
	{ "all of git is moved", "", NULL, "mv ws/.git ws/git.bak",
	  "mkdir .git; echo evil >.git/config; echo evil >>git.bak/config; "
	  "true", "grep -q Ada ws/git.bak/config", ".git/config", false },
	{ "a directory above is moved", REPO("ws/a/b/sub"), NULL,
	  "mv ws/a ws/z", PLANT_REPO("a/b/sub"),
	  "grep -q mine ws/z/b/sub/.git/config", "sub/.git/config", false },
	{ "a directory in between is moved", REPO("ws/a/b/sub"), NULL,
	  "mv ws/a/b ws/a/c", PLANT_REPO("a/b/sub"),
	  "grep -q mine ws/a/c/sub/.git/config", "sub/.git/config", false },
	/* out of a mount of its own: its own mounts do not go along */
	{ "a directory in between is moved deeper", REPO("ws/a/b/sub"), NULL,
	  "mkdir -p ws/n/m; mv ws/a/b ws/n/m",
	  ADD_TO("n/m/b/sub/.git/config"),
	  "grep -q mine ws/n/m/b/sub/.git/config", NULL, false },
	{ "a directory above loses its mode and moves", REPO("ws/a/sub"), NULL,
	  "chmod 0 ws/a; mv ws/a ws/z", PLANT_REPO("a/sub"), NULL,
	  "a/sub/.git/config", false },
};

static const struct situation places[] = {
	{ "the workspace is moved", ENVRC, NULL, "mv ws w2", ADD,
	  "grep -q mine w2/.envrc", NULL, false },
	{ "the workspace is moved, a file is replaced", ENVRC, NULL,
	  "mv ws w2; sleep 0.03; echo mine2 >w2/x; mv w2/x w2/.envrc", ADD,
	  "grep -q mine2 w2/.envrc", NULL, false },
	{ "the workspace is moved, a file is removed", ENVRC, NULL,
	  "mv ws w2; sleep 0.03; rm w2/.envrc", PLANT, "[ ! -e w2/.envrc ]",
	  ".envrc", false },
	{ "another is in its place", ENVRC, NULL,
	  "mv ws w2; mkdir ws; echo mine >ws/.envrc; echo mine2 >w2/x; "
	  "mv w2/x w2/.envrc", ADD, "grep -q mine2 w2/.envrc && "
	  ENVRC_IS_MINE, NULL, false },
	{ "a file is planted in a moved workspace", "", NULL, "mv ws w2",
	  PLANT, NULL, ".envrc", false },
	{ "the quarantine is removed", "", NULL,
	  "rm -rf state/quarantine/*", PLANT, "[ ! -e ws/.envrc ]",
	  ".envrc", false },
	{ "the quarantine is moved", "", NULL,
	  "mv state/quarantine state/q", PLANT,
	  "mv state/q state/quarantine; [ ! -e ws/.envrc ]", ".envrc", false },
	{ "the quarantine is a link", "", NULL,
	  "mkdir o; for i in state/quarantine/*; do rm -r $i; "
	  "ln -s ../../o $i; done", PLANT,
	  "[ ! -e ws/.envrc ]", ".envrc", false },
	{ "the quarantine loses its mode", "", NULL,
	  "chmod 0 state/quarantine/*", PLANT,
	  "chmod -R 700 state/quarantine; [ ! -e ws/.envrc ]", ".envrc",
	  false },
	{ "a tree is mounted over a part", "", NULL,
	  "mkdir -p o; mount --bind o ws/src", "echo evil >src/.envrc; true",
	  NULL, "src/.envrc", true },
	{ "a tree is mounted over a new part", "", NULL,
	  "mkdir -p ws/sub; mount -t tmpfs x ws/sub",
	  "echo evil >sub/.envrc; mkdir -p sub/d; echo evil >sub/d/.envrc",
	  NULL, "sub/d/.envrc", true },
	{ "a tree is mounted over a repository", REPO("ws/sub"), NULL,
	  "mount -t tmpfs x ws/sub", ADD_TO("sub/.git/config"),
	  "grep -q mine ws/sub/.git/config", NULL, true },
	{ "a file is mounted over a file", ENVRC, NULL,
	  "echo mine >o; mount --bind o ws/.envrc", ADD,
	  ENVRC_IS_MINE, NULL, true },
	{ "a file is mounted over, replaced below", ENVRC REPO("ws/sub"), NULL,
	  "mkdir o; mount --bind o ws/src; mv ws/.envrc ws/x; "
	  "echo mine2 >ws/.envrc", ADD, 	  "grep -q mine2 ws/.envrc", NULL, true },
};

#define SLEEPER "(sleep 30 >/dev/null 2>&1 &)"
static const struct situation left_behind[] = {
	{ "a process is left, a file is replaced", ENVRC, SLEEPER,
	  "for i in $(seq 20); do echo mine$i >ws/x; mv ws/x ws/.envrc; done",
	  ADD, "grep -q mine20 ws/.envrc", NULL, false },
	/* without a process in between, as git does it */
	{ "a process is left, a file is made anew", ENVRC, SLEEPER,
	  "perl -e 'for (1 .. 20) { unlink \"ws/.envrc\"; "
	  "open F, \">ws/.envrc\"; print F \"mine$_\\n\"; close F; "
	  "select undef, undef, undef, 0.003 }'",
	  ADD, "grep -q mine20 ws/.envrc", NULL, false },
	{ "a process is left, a file is removed", ENVRC, SLEEPER,
	  "rm ws/.envrc; sleep 0.03", PLANT, NULL, ".envrc", false },
	{ "a process is left, a repository is moved", REPO("ws/sub"), SLEEPER,
	  "mv ws/sub ws/sub2", PLANT_REPO("sub"),
	  "grep -q mine ws/sub2/.git/config", "sub/.git/config", false },
	{ "a process is left, away and back", REPO("ws/sub"), SLEEPER,
	  "mv ws/sub ws/x; mv ws/x ws/sub", ADD_TO("sub/.git/config"),
	  "grep -q mine ws/sub/.git/config", NULL, false },
};

static bool try_on_host(const char *script)
{
	int status = -1;
	const char *whole = e2e_text("cd '%s' && { %s\n}", host_base(), script);

	HOST_RUN(&status, "sh", "-c", whole);
	return status == 0;
}

static void on_host(const char *script)
{
	CHECK(try_on_host(script), "host: %s", script);
}

/* The agent's word is nowhere in the workspace, wherever it is now. */
static void nothing_is_planted(const struct situation *s)
{
	char *found;
	int status;

	found = HOST_RUN(&status, "sh", "-c",
			 e2e_text("cd '%s' && chmod -R u+rwX ws w2 "
				  "2>/dev/null; "
				  "{ grep -rlw evil $(ls -d ws w2 2>/dev/null) "
				  "|| test $? -eq 1 || echo unread; } | "
				  "grep -v agentbox-quarantine",
				  host_base()));
	CHECK(!found[0], "%s: planted: %s", s->name, found);
}

static void begin(const char *before)
{
	e2e_seconds(30);
	on_host("rm -rf ws/* ws/.[!.]* w2 o x old state/quarantine/*; "
		"mkdir -p ws/src");
	host_repository(ws_path(""));
	on_host(e2e_text("%s true", before));
	box_raise(NULL, NULL);
	box_forget_events();
}

/*
 * False: on a busy machine the box was not at rest yet when the host began, and
 * what that made was taken and told; also under its hands, so that it failed:
 * what is away for more than some milliseconds may be the agent's when it is
 * back. Nothing evil stays in any case. rest_us: when it is at rest nobody can
 * ask, so another try gives it time for that.
 */
static bool judge(const struct situation *s, unsigned wait_us,
		  unsigned rest_us, bool is_last)
{
	struct outcome o;
	char *taken;
	bool is_done;

	e2e_note("%s, %u us", s->name, wait_us);
	begin(s->before);
	if (s->left)
		box_sh("%s", s->left);
	else
		box_sh("true");
	usleep(rest_us);
	is_done = try_on_host(s->host);
	usleep(wait_us);
	o = box_sh("%s", s->agent);
	CHECK(s->is_root || o.result == 0, "%s: %s", s->name, o.error);
	if (o.result == 0 && o.err[0])
		e2e_note("%s", o.err);
	if (s->is_root)
		on_host("umount ws/src ws/sub ws/.envrc 2>/dev/null; true");
	o = box_sh("true");
	CHECK(o.result == 0, "%s: %s", s->name, o.error);
	taken = s->told ? NULL : box_event("quarantined", NULL, 0);
	if (s->told)
		CHECK(box_event("quarantined", s->told, 0),
		      "%s: %s is not told", s->name, s->told);
	else
		CHECK(!taken || !is_last, "%s: taken: %s", s->name, taken);
	CHECK(is_done || (taken && !is_last), "host: %s", s->host);
	nothing_is_planted(s);
	box_end();
	if (s->after && (!taken || is_last))
		on_host(s->after);
	return !taken || is_last;
}

/* Ten milliseconds, on an idle machine. */
#define REST_US 100000
#define COUNT(list) (sizeof(list) / sizeof(*(list)))

static bool may_mount;

/* Shared as a host's are, but by nobody else: other tests look for mounts. */
static void have_own_mounts(void)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS))
		return;
	REQUIRE(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0,
		"%m");
	REQUIRE(mount("none", "/", NULL, MS_REC | MS_SHARED, NULL) == 0, "%m");
	e2e_mark_again();
	may_mount = true;
}

/* Not once in so many times is it the machine's load. */
#define TRIES 10

static void judge_all(const struct situation *list, size_t count)
{
	static const unsigned waits_us[] = { 0, 3000, 50000 };

	for (size_t i = 0; i < count; i++) {
		if (list[i].is_root && !may_mount) {
			e2e_note("%s: not tried, only root mounts",
				 list[i].name);
			continue;
		}
		for (size_t k = 0; k < COUNT(waits_us); k++)
			for (unsigned n = 0;
			     !judge(&list[i], waits_us[k], n * REST_US,
				    n + 1 == TRIES); n++)
				e2e_note("%s: taken, again", list[i].name);
	}
}

static void case_102_files_of_a_quiet_box(void)
{
	judge_all(quiet_host, COUNT(quiet_host));
}

static void case_103_repositories_of_a_quiet_box(void)
{
	judge_all(repositories, COUNT(repositories));
}

static void case_103_places_that_the_host_changes(void)
{
	have_own_mounts();
	judge_all(places, COUNT(places));
}

static bool record_is_left(bool kill_holder)
{
	agentbox_error *err = NULL;
	const char *record;

	begin("mkdir -p ws/p/sub;");
	record = ws_path(e2e_text("../state/quarantine/unsettled/%s",
				  agentbox_sandbox_get_id(box())));
	box_sh("true");
	CHECK(host_exists(record), "%s", record);
	/* told without being asked, and read by nobody yet */
	on_host("mount -t tmpfs x ws/p/sub; mv ws/p ws/q");
	e2e_sleep_ms(1500);
	if (kill_holder)
		kill(host_descendant("agentbox-init"), SIGKILL);
	CHECK(agentbox_sandbox_end(box(), &err) == AGENTBOX_EWALL,
	      "the end is told as good");
	CHECK(agentbox_error_get_errno(err) == EBUSY, "%s",
	      agentbox_error_get_message(err));
	agentbox_error_free(err);
	box_end();
	on_host("umount ws/q/sub; rm -rf ws/q");
	return host_exists(record);
}

/* Whatever it told before, a holder that was killed has not looked at all. */
static void case_103_what_a_killed_holder_told_is_not_all(void)
{
	have_own_mounts();
	if (!may_mount) {
		e2e_note("not tried, only root mounts");
		return;
	}
	CHECK(!record_is_left(false), "told to the end, and it stays");
	CHECK(record_is_left(true), "it goes, and nobody looked");
}

/* By its name, once; and forgotten when it is unmounted. */
static void case_103_a_mount_of_the_host_is_told(void)
{
	have_own_mounts();
	if (!may_mount) {
		e2e_note("not tried, only root mounts");
		return;
	}
	begin("mkdir -p ws/p/sub;");
	box_sh("true");
	/* the mount goes along, and what moved is looked through */
	on_host("mount -t tmpfs x ws/p/sub; mv ws/p ws/q");
	box_sh("true");
	CHECK(box_event("unprotected", "q/sub", SOON_MS), "it is not told");
	box_forget_events();
	box_sh("echo evil >q/sub/.envrc; true");
	box_sh("true");
	CHECK(!box_event("unprotected", "q/sub", 0), "it is told again");
	on_host("umount ws/q/sub");
	box_sh("true");
	CHECK(box_event("quarantined", "q/sub/.envrc", SOON_MS),
	      "what was below it is not found");
	box_end();
}

/*
 * At the end nobody can look below it, and the next box would find what the
 * agent has made there. Whoever ends the box is told; of one that is only freed
 * nobody was, so the next looks itself, as soon as it can.
 */
static void case_103_a_mount_at_the_end_is_told(void)
{
	agentbox_error *err = NULL;
	char *where = NULL, *message = NULL;
	int32_t code = 0;

	have_own_mounts();
	if (!may_mount) {
		e2e_note("not tried, only root mounts");
		return;
	}
	for (int tells = 1; tells >= 0; tells--) {
		begin("mkdir -p ws/p/sub;");
		on_host("mount -t tmpfs x ws/p/sub; mv ws/p ws/q");
		box_sh("echo evil >q/sub/.envrc");
		if (tells)
			CHECK(agentbox_sandbox_end(box(), &err) ==
				      AGENTBOX_EWALL, "it is not told");
		box_end();
		CHECK(tells || (!box_try(box_document("workspace", NULL, NULL),
					 &code, &where, &message) &&
				code == AGENTBOX_EWALL &&
				strstr(message, "'q/sub'")),
		      "below the mount: %d %s", code, message ? message : "");
		on_host("umount ws/q/sub");
		CHECK(host_exists(ws_path("q/sub/.envrc")), "the control");
		CHECK(box_try(box_document("workspace", NULL, NULL), &code,
			      &where, &message), "tells %d: %s", tells,
		      message ? message : "");
		CHECK(host_exists(ws_path("q/sub/.envrc")) == tells,
		      "tells %d", tells);
		box_end();
	}
	agentbox_error_free(err);
}

static void case_102_a_process_is_left_behind(void)
{
	judge_all(left_behind, COUNT(left_behind));
}

/*
 * No launcher any more: only the killer is a child of PID 1. The shell that
 * plants may be killed as well, before or after it has planted.
 */
static void case_102_launchers_are_killed(void)
{
	static const struct situation s = { .name = "launchers are killed" };
	const char *told = NULL;

	begin(ENVRC);
	box_sh("(sh -c 'while :; do kill -9 -1; done' >/dev/null 2>&1 &)");
	CHECK(box_event("launcher", NULL, SOON_MS), "no launcher was killed");
	on_host("rm ws/.envrc; sleep 0.1");
	for (int i = 0; i < 200 && !told; i++) {
		box_sh(PLANT);
		told = box_event("quarantined", ".envrc", 20);
	}
	CHECK(told, "it could not plant, or that is not told");
	nothing_is_planted(&s);
	box_end();
}

/*
 * He plants between the host's removal and the end of its grace: that passes
 * for the host's, and is told as doubtful. Sooner, nobody saw it away; later,
 * it goes to quarantine: another try then.
 */
static void case_102_planted_while_it_is_away(void)
{
	const char *told = NULL;

	for (int i = 0; i < 20 && !told; i++) {
		begin(ENVRC);
		box_sh("(sh -c 'while [ -e .envrc ]; do :; done; sleep 0.002; "
		       "echo evil >.envrc' >/dev/null 2>&1 &)");
		on_host("rm ws/.envrc; sleep 0.05");
		told = box_event("reprotected", ".envrc", 1000);
		if (told && !strstr(told, "look at what is there"))
			told = NULL;
		box_end();
	}
	CHECK(told, "a file that was away is mounted again without a word");
}

/*
 * The same without a process of the agent: nothing is in doubt. As above: a box
 * that is not at rest yet is given more time by another try.
 */
static void case_102_made_anew_in_a_quiet_box(void)
{
	const char *told = NULL;
	bool is_good = false;

	for (unsigned n = 0; n < TRIES && !is_good; n++) {
		begin(ENVRC);
		box_sh("true");
		box_forget_events();
		usleep(n * REST_US);
		on_host("rm ws/.envrc; sleep 0.05; echo mine >ws/.envrc");
		told = box_event("reprotected", ".envrc", 2000);
		is_good = told && strcmp(told, "mounted again") == 0;
		box_end();
	}
	CHECK(is_good, "told: %s", told ? told : "nothing");
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_102_files_of_a_quiet_box),
		CASE(case_103_repositories_of_a_quiet_box),
		CASE(case_103_places_that_the_host_changes),
		CASE(case_103_a_mount_of_the_host_is_told),
		CASE(case_103_what_a_killed_holder_told_is_not_all),
		CASE(case_103_a_mount_at_the_end_is_told),
		CASE(case_102_a_process_is_left_behind),
		CASE(case_102_launchers_are_killed),
		CASE(case_102_planted_while_it_is_away),
		CASE(case_102_made_anew_in_a_quiet_box),
		CASES_END,
	};

	/* three boxes for each situation */
	e2e_most_seconds = 300;
	return e2e_main(argc, argv, cases);
}
