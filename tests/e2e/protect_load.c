/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protected names in quantity: more events than the kernel keeps, no watches
 * left, a host that never comes to rest, and a process left behind that races
 * it. Nothing planted stays, it is told, and no command waits for ever. Rows
 * 2, 98 and 102 of tests/e2e/SANDBOX-CASES.md.
 */
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"

/* Of one command, with what is looked at before and after it. */
#define MOST_SECONDS 5

static struct outcome timed(const char *what, const char *script)
{
	int64_t began = e2e_now_ms(), took;
	struct outcome o = box_sh("%s", script);

	took = e2e_now_ms() - began;
	CHECK(took < 1000 * (int64_t)ab_test_patience(MOST_SECONDS),
	      "%s: %lld ms", what, (long long)took);
	return o;
}

static void nothing_is_planted(const char *what)
{
	int status;
	/* what came and went while it was moved is set aside by such a name */
	char *found = HOST_RUN(&status, "sh", "-c",
			       e2e_text("grep -rl evil '%s' --exclude-dir="
					"'*agentbox-quarantine*' --exclude="
					"'agentbox-quarantine-[0-9]*' || "
					"test $? -eq 1", ws_path("")));

	/* 1: grep looked at everything and found nothing */
	CHECK(status == 0, "%s: not looked through: %s", what, found);
	CHECK(!found[0], "%s: planted: %s", what, found);
}

/* fs.inotify.max_queued_events: what has no room is looked for. */
static void case_098_more_events_than_the_kernel_keeps(void)
{
	char *text = host_read("/proc/sys/fs/inotify/max_queued_events");
	int most = 0;

	e2e_seconds(60);
	if (!text || sscanf(text, "%d", &most) != 1 || most > 50000)
		e2e_skip("no fs.inotify.max_queued_events to be filled");
	box_raise(NULL, NULL);
	box_sh("mkdir a b; perl -e 'for (1 .. %d) { open F, \">a/$_\" }'; "
	       "echo evil >b/.envrc; mkdir -p b/c/.git; "
	       "echo evil >b/c/.git/config", most + 1000);
	nothing_is_planted("overflow");
	CHECK(box_event("quarantined", "b/.envrc", 0), "not told");
	CHECK(box_event("quarantined", "b/c/.git/config", 0), "not told");
	box_sh("echo evil >b/.npmrc");
	nothing_is_planted("after the overflow");
}

static pid_t begin_host(void (*work)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			work();
	}
	return pid;
}

static void end_host(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void replace_forever(void)
{
	host_write(ws_path("x"), "mine\n");
	rename(ws_path("x"), ws_path(".envrc"));
}

static void remove_forever(void)
{
	unlink(ws_path(".envrc"));
	host_write(ws_path(".envrc"), "mine\n");
}

static void never_rests(const char *name, void (*work)(void))
{
	pid_t pid;
	struct outcome o;
	int refused = 0;

	host_write(ws_path(".envrc"), "mine\n");
	box_raise(NULL, NULL);
	box_sh("true");
	pid = begin_host(work);
	for (int i = 0; i < 5; i++) {
		o = timed(name, "mkdir -p d; echo evil >d/.envrc");
		refused += o.result != 0;
	}
	end_host(pid);
	e2e_note("%s: %d of 5 refused", name, refused);
	o = timed("at rest", "true");
	CHECK(o.result == 0, "at rest: %s", o.error);
	CHECK(!host_exists(ws_path("d/.envrc")), "it stands");
	nothing_is_planted(name);
	CHECK(box_event("reprotected", ".envrc", 0), "not told");
}

static void case_102_a_host_that_replaces_forever(void)
{
	e2e_seconds(60);
	never_rests("replaces", replace_forever);
}

static void case_102_a_host_that_removes_forever(void)
{
	e2e_seconds(60);
	never_rests("removes", remove_forever);
}

/* On a busy machine a process left behind may begin after all the commands
   that it should have met. */
static void begins(const char *with)
{
	int64_t until = e2e_now_ms() +
			1000 * (int64_t)ab_test_patience(MOST_SECONDS);

	while (!host_exists(ws_path(with)) && e2e_now_ms() < until)
		e2e_sleep_ms(5);
	REQUIRE(host_exists(ws_path(with)), "%s was never made", with);
}

/*
 * Nothing is refused for long once nobody races. What he has planted may be
 * more than can be taken away in one settle: that is told, and the next goes
 * on; one that fails without having moved anything is no reason to wait.
 */
static void nobody_is_left(const char *what)
{
	bool is_told = box_event("quarantined", NULL, 0) != NULL, goes_on;
	struct outcome o;

	agentbox_sandbox_kill_all(box(), NULL);
	do {
		box_forget_events();
		o = timed("without it", "true");
		goes_on = box_event("quarantined", NULL, 0) != NULL;
		is_told |= goes_on;
	} while (o.result != 0 && goes_on);
	CHECK(o.result == 0, "%s: %s", what, o.error);
	nothing_is_planted(what);
	CHECK(is_told, "%s: not told", what);
}

/* It makes and moves names all the time; commands of the host go on. */
static void case_102_a_process_that_races_everything(void)
{
	struct outcome o;
	int ran = 0;

	e2e_seconds(90);
	host_write(ws_path(".envrc"), "mine\n");
	box_raise(NULL, NULL);
	box_sh("(perl -e 'while (1) { $i++; mkdir \"r\"; mkdir \"r/.git\"; "
	       "for my $n (\".npmrc\", \"r/.envrc\", \"r/.git/config\", "
	       "\"r/.git/commondir\") { open F, \">$n\"; print F \"evil\"; "
	       "close F } rename \"r\", \"s$i\"; "
	       "symlink \"s$i\", \"r/.git/hooks\"; "
	       "rename \"s$i\", \"r\" if $i %% 3 }' >/dev/null 2>&1 &)");
	begins("s3");
	for (int i = 0; i < 5; i++) {
		o = timed("raced", "echo mine >fine");
		ran += o.result == 0;
	}
	e2e_note("%d of 5 ran", ran);
	nobody_is_left("raced");
}

/* More of them than can be taken away meanwhile: nothing is started then. */
static void case_102_processes_that_plant_faster_than_we_look(void)
{
	struct outcome o;
	int ran = 0;

	e2e_seconds(90);
	box_raise(NULL, NULL);
	box_sh("for p in 1 2 3 4; do mkdir p$p; "
	       "(perl -e 'while (1) { $i++; mkdir \"p'$p'/$i\"; "
	       "open F, \">p'$p'/$i/.envrc\"; print F \"evil\"; close F; }' "
	       ">/dev/null 2>&1 &) done");
	begins("p4/20");
	for (int i = 0; i < 3; i++) {
		o = timed("planted", "true");
		ran += o.result == 0;
	}
	e2e_note("%d of 3 ran", ran);
	nobody_is_left("planted");
}

/* Each new one is worth a moment's waiting; all of them together are not. */
static void case_102_a_process_that_makes_pointers(void)
{
	e2e_seconds(90);
	box_raise(NULL, NULL);
	box_sh("(perl -e 'while (1) { $i++; mkdir \"d$i\"; "
	       "open F, \">d$i/.git\"; print F \"gitdir: ../evil\\n\"; "
	       "close F; select undef, undef, undef, 0.01 }' "
	       ">/dev/null 2>&1 &)");
	begins("d20");
	for (int i = 0; i < 3; i++)
		timed("pointers", "true");
	nobody_is_left("pointers");
}

/* Each move is an event, and each event a look through all that is below. */
static void case_102_a_large_directory_that_is_moved_all_the_time(void)
{
	struct outcome o;

	e2e_seconds(120);
	box_raise(NULL, NULL);
	box_sh("mkdir a; perl -e 'for (1 .. 20000) { open F, \">a/$_\" }'");
	timed("moved", "perl -e 'for (1 .. 2000) { rename \"a\", \"b\"; "
		       "rename \"b\", \"a\" }'; echo evil >a/.envrc");
	nothing_is_planted("moved");
	CHECK(box_event("quarantined", "a/.envrc", 0), "not told");
	o = timed("at rest", "echo evil >a/.npmrc");
	CHECK(o.result == 0, "%s", o.error);
	nothing_is_planted("at rest");
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		e2e_skip("no user namespace of one's own: %s: %m", path);
	close(fd);
}

/* user_namespaces(7): what is used up there is used up for us. */
static void have_few(const char *name, const char *value)
{
	unsigned uid = geteuid(), gid = getegid();

	if (unshare(CLONE_NEWUSER))
		e2e_skip("no user namespaces: %m");
	write_text("/proc/self/setgroups", "deny");
	write_text("/proc/self/uid_map", e2e_text("%u %u 1", uid, uid));
	write_text("/proc/self/gid_map", e2e_text("%u %u 1", gid, gid));
	write_text(e2e_text("/proc/sys/user/%s", name), value);
}

static void without(const char *limit, const char *value)
{
	if (geteuid() == 0)
		e2e_skip("root's own limit is everybody's");
	have_few(limit, value);
	box_raise(NULL, NULL);
	for (int i = 0; i < 3; i++) {
		timed(limit, "mkdir -p a/b c; echo evil >a/b/.envrc; "
		      "echo evil >c/.npmrc; mkdir -p n/.git; "
		      "echo evil >n/.git/config");
		nothing_is_planted(limit);
		CHECK(box_event("quarantined", "a/b/.envrc", 0), "not told");
		box_forget_events();
	}
	/* a process that is left behind plants later */
	box_sh("(sleep 0.2; echo evil >a/.envrc) >/dev/null 2>&1 &");
	CHECK(box_event("quarantined", "a/.envrc",
			1000 * (int)ab_test_patience(MOST_SECONDS)),
	      "left behind: not told");
	nothing_is_planted("left behind");
}

static void case_098_no_watches_are_left(void)
{
	e2e_seconds(60);
	without("max_inotify_watches", "3");
}

static void case_098_no_watching_at_all(void)
{
	e2e_seconds(60);
	without("max_inotify_instances", "0");
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_098_more_events_than_the_kernel_keeps),
		CASE(case_102_a_host_that_replaces_forever),
		CASE(case_102_a_host_that_removes_forever),
		CASE(case_102_a_process_that_races_everything),
		CASE(case_102_processes_that_plant_faster_than_we_look),
		CASE(case_102_a_process_that_makes_pointers),
		CASE(case_102_a_large_directory_that_is_moved_all_the_time),
		CASE(case_098_no_watches_are_left),
		CASE(case_098_no_watching_at_all),
		CASES_END,
	};

	return e2e_main(argc, argv, cases);
}
