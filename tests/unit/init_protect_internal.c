/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protected paths and relays of agentbox-init: a direct workspace with a
 * repository, an agent that tries to plant code that runs later, and a host
 * that replaces files while the box lives. Cases of shared/cases/sandbox.md
 * 1-5, 13, 15, 19, 102, 103, 105 at the level of the helper.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abtest.h"
#include "base/fd.h"
#include "init_harness.h"

static char helper[4096];
static char shm[] = "/dev/shm/init-q-XXXXXX"; /* of all tests, main's */
static char top[4096], workspace[4200], quarantine[4200];
static ih_plan plan;
static ih_box box;

static const char *at(const char *rest)
{
	static char path[8][8500];
	static unsigned next;

	next = (next + 1) % 8;
	snprintf(path[next], sizeof(path[next]), "%s/%s", workspace, rest);
	return path[next];
}

static void put(const char *rest, const char *text)
{
	int fd = open(at(rest), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ab_fd_write_full(fd, text, strlen(text)), 0);
	close(fd);
}

static void watch(const char *pattern)
{
	plan.watches[plan.p.watch_count++].pattern = pattern;
}

static void protect(const char *target, uint32_t flags)
{
	ih_step(&plan, AB_STEP_SELF, target)->flags = flags;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void make_places(const char *quarantine_at)
{
	snprintf(top, sizeof(top), "%s/init-protect-XXXXXX", ab_test_tmpdir());
	ck_assert_ptr_nonnull(mkdtemp(top));
	snprintf(workspace, sizeof(workspace), "%s/w", top);
	snprintf(quarantine, sizeof(quarantine), "%s/q", top);
	if (quarantine_at) {
		snprintf(quarantine, sizeof(quarantine), "%s/q-XXXXXX",
			 quarantine_at);
		ck_assert_ptr_nonnull(mkdtemp(quarantine));
	} else {
		ck_assert_int_eq(mkdir(quarantine, 0700), 0);
	}
	ck_assert_int_eq(mkdir(workspace, 0755), 0);
	ck_assert_int_eq(mkdir(at("sub"), 0755), 0);
	ck_assert_int_eq(mkdir(at(".git"), 0755), 0);
	ck_assert_int_eq(mkdir(at(".git/hooks"), 0755), 0);
	put(".git/config", "[core]\n");
	put(".git/hooks/x.sample", "#!/bin/sh\n");
	ck_assert_int_eq(symlink("/nowhere/at/all", at(".profile")), 0);
}

static void make_plan(void)
{
	ab_plan_step *s;
	struct stat st;

	ih_plan_init(&plan);
	ck_assert_int_eq(stat(workspace, &st), 0);
	s = ih_bind(&plan, workspace, "/workspace",
		    AB_MOUNT_RECURSIVE | (geteuid() ? 0 : AB_MOUNT_IDMAP));
	s->idmap_uid = st.st_uid;
	s->idmap_gid = st.st_gid;
	plan.p.workspace_inside = "/workspace";
	plan.p.workspace_host = workspace;
	plan.p.workspace_dev = st.st_dev;
	plan.p.workspace_ino = st.st_ino;
	plan.p.quarantine_host = quarantine;
	protect("/workspace/.git", 0);
	protect("/workspace/.git/config", AB_MOUNT_RDONLY);
	protect("/workspace/.git/hooks", AB_MOUNT_RDONLY);
	protect("/workspace/.profile", AB_MOUNT_RDONLY);
	watch(".envrc");
	watch(".profile");
	watch(".vscode");
	watch(".git/config");
	watch(".git/hooks");
	watch(".cargo/config.toml");
	watch(".config/x/y");
	watch("**/.git/config");
	watch("**/.git/hooks");
}

static void setup(void)
{
	ab_leak_setup();
	make_places(NULL);
	make_plan();
}

static void setup_apart(void)
{
	ab_leak_setup();
	make_places(shm);
	make_plan();
}

static void teardown(void)
{
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	nftw(quarantine, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	ab_leak_teardown();
}

static void raise_box(void)
{
	int r = ih_raise(&box, helper, &plan.p);

	ck_assert_msg(r == 0, "%d: %s: %s", r, box.failed_stage,
		      box.failed_message);
	ck_assert_int_ge(box.inotify, 0);
	ck_assert_int_ge(box.mountinfo, 0);
}

static void agent(const char *script, const char *expected)
{
	static char out[8192], inside[4096];

	snprintf(inside, sizeof(inside), "cd /workspace; %s", script);
	ck_assert_int_ge(ih_shell(&box, inside, out, sizeof(out)), 0);
	if (expected)
		ck_assert_str_eq(out, expected);
}

static void settle(uint64_t quarantined, uint64_t reprotected, uint64_t failed)
{
	ab_msg_reply reply;

	box.events[0] = '\0';
	box.event_count = 0;
	ck_assert_int_eq(ih_request(&box, AB_MSG_SETTLE, 0, -1, &reply, NULL),
			 0);
	ck_assert_int_eq(reply.result, 0);
	ck_assert_msg(reply.values[0] == quarantined &&
			      reply.values[1] == reprotected &&
			      reply.values[2] == failed,
		      "%lu %lu %lu: %s", (unsigned long)reply.values[0],
		      (unsigned long)reply.values[1],
		      (unsigned long)reply.values[2], box.events);
}

START_TEST(what_is_protected_cannot_be_changed_or_moved_aside)
{
	raise_box();
	agent("(echo evil >.git/config) 2>/dev/null || echo ro;"
	      "(echo evil >.git/hooks/pre-commit) 2>/dev/null || echo ro;"
	      "rm -f .git/config 2>/dev/null || echo busy;"
	      "echo new >.git/config.lock;"
	      "mv -f .git/config.lock .git/config 2>/dev/null || echo busy;"
	      "mv .git .git2 2>/dev/null || echo busy;"
	      "rmdir .git/hooks 2>/dev/null || echo busy;"
	      "ln .git/config alias 2>/dev/null || echo xdev;"
	      "chmod 777 .git/config 2>/dev/null || echo ro;"
	      "ln -sfn /tmp .profile 2>/dev/null || echo busy",
	      "ro\nro\nbusy\nbusy\nbusy\nbusy\nxdev\nro\nbusy\n");
	/* the lock file stays: it is not a protected name */
	agent("cat .git/config; echo ok >file; cat file", "[core]\nok\n");
	ck_assert(ih_end(&box));
	ck_assert_int_eq(access(at(".git/hooks/x.sample"), F_OK), 0);
}
END_TEST

/* Between the plan and the first look at the workspace: nobody saw it. */
START_TEST(what_came_after_the_plan_is_not_the_agents)
{
	put(".envrc", "mine\n");
	ck_assert_int_eq(mkdir(at("sub/.git"), 0755), 0);
	ck_assert_int_eq(mkdir(at("sub/.git/hooks"), 0755), 0);
	put("sub/.git/config", "mine\n");
	raise_box();
	agent("(echo evil >>.envrc) 2>/dev/null || echo ro;"
	      "(echo evil >>sub/.git/config) 2>/dev/null || echo ro;"
	      "(echo evil >sub/.git/hooks/x) 2>/dev/null || echo ro;"
	      "echo evil >n; mv -f n .envrc 2>/dev/null || echo busy;"
	      "rm -f .envrc 2>/dev/null || echo busy;"
	      "cat .envrc sub/.git/config",
	      "ro\nro\nro\nbusy\nbusy\nmine\nmine\n");
	settle(0, 3, 0);
	ck_assert_int_eq(access(at("sub/.git/hooks"), F_OK), 0);
	ck_assert(ih_end(&box));
}
END_TEST

/* What cannot be held goes, as it does when it appears later. */
START_TEST(what_came_after_the_plan_and_cannot_be_held_is_quarantined)
{
	put("sub/x", "mine\n");
	ck_assert_int_eq(symlink("x", at("sub/.envrc")), 0);
	ck_assert_int_eq(link(at("sub/x"), at(".envrc")), 0);
	ck_assert_int_eq(symlink("sub", at(".cargo")), 0);
	raise_box();
	agent("ls -A sub; ls -d .envrc .cargo 2>/dev/null; echo more >>sub/x", "x\n");
	settle(3, 0, 0);
	ck_assert(ih_end(&box));
}
END_TEST

/* The box cannot reach it: it is the host's, and it stays. */
START_TEST(what_is_behind_a_mask_or_a_mount_at_the_start_stays)
{
	ab_plan_step *s;

	put("sub/.envrc", "mine\n");
	ck_assert_int_eq(mkdir(at("tmp"), 0755), 0);
	put("tmp/.envrc", "mine\n");
	put(".cargo", "no directory\n");
	ih_step(&plan, AB_STEP_HIDE, "/workspace/sub");
	s = ih_step(&plan, AB_STEP_TMPFS, "/workspace/tmp");
	s->size = 1 << 20;
	s->mode = 0755;
	raise_box();
	agent("echo x >tmp/.envrc; ls -A tmp; cat .cargo",
	      ".envrc\nno directory\n");
	settle(0, 0, 0);
	ck_assert_int_eq(access(at("sub/.envrc"), F_OK), 0);
	ck_assert_int_eq(access(at("tmp/.envrc"), F_OK), 0);
	/* a file that leads nowhere; a link in its place does */
	agent("rm .cargo; mkdir d; ln -s d .cargo; echo evil >d/config.toml",
	      "");
	settle(1, 0, 0);
	ck_assert(ih_saw_event(&box, AB_EVENT_QUARANTINED, ".cargo"));
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(a_quiet_command_leaves_nothing_to_settle)
{
	raise_box();
	agent("cat .git/config; echo x >sub/../.git/../sub/file || true", NULL);
	/* that was not quiet: it is looked at here, or by the holder itself */
	settle(0, 0, 0);
	agent("cat .git/config; echo more >sub/file; ls -R >/dev/null", NULL);
	ck_assert_int_eq(ab_fd_poll(box.inotify, POLLIN, 0), 0);
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(protected_names_that_appear_are_quarantined)
{
	char path[8700];

	raise_box();
	agent("echo evil >.envrc; echo evil >sub/.ENVRC;"
	      "mkdir -p .vscode/deep; echo evil >.vscode/tasks.json;"
	      "mkdir -p a/b/c/.git/hooks;"
	      "echo evil >a/b/c/.git/hooks/pre-commit;"
	      "mkdir x; echo evil >x/.envrc; mv x y;"
	      "ln -s /etc/passwd a/.profile; echo fine >a/fine",
	      "");
	settle(6, 0, 0);
	ck_assert(ih_saw_event(&box, AB_EVENT_QUARANTINED, ".envrc"));
	ck_assert(ih_saw_event(&box, AB_EVENT_QUARANTINED, "sub/.ENVRC"));
	ck_assert(ih_saw_event(&box, AB_EVENT_QUARANTINED, ".vscode"));
	ck_assert(ih_saw_event(&box, AB_EVENT_QUARANTINED, "y/.envrc"));
	ck_assert(ih_saw_event(&box, AB_EVENT_QUARANTINED, "a/.profile"));
	ck_assert(ih_saw_event(&box, AB_EVENT_QUARANTINED,
			       "a/b/c/.git/hooks"));
	ck_assert_int_lt(access(at(".envrc"), F_OK), 0);
	ck_assert_int_lt(access(at("a/b/c/.git/hooks"), F_OK), 0);
	ck_assert_int_eq(access(at("a/fine"), F_OK), 0);
	snprintf(path, sizeof(path), "%s/000001-.envrc", quarantine);
	ck_assert_int_eq(access(path, F_OK), 0);
	settle(0, 0, 0);
	ck_assert(ih_end(&box));
}
END_TEST

/* Nothing is copied or removed: it is renamed where it is. */
START_TEST(on_another_file_system_what_appears_is_set_aside)
{
	struct stat st;

	raise_box();
	agent("mkdir -p sub/.vscode/deep; echo evil >sub/.vscode/deep/t;"
	      "mkfifo sub/.vscode/fifo; truncate -s 1T .envrc;"
	      "mkdir agentbox-quarantine-000004; chmod 0 sub/.vscode/deep",
	      "");
	settle(2, 0, 0);
	ck_assert_int_lt(access(at("sub/.vscode"), F_OK), 0);
	ck_assert_int_lt(access(at(".envrc"), F_OK), 0);
	/* and back again, as often as he likes */
	agent("for f in agentbox-quarantine-*; do "
	      "test -f $f && mv $f .envrc; done; test -f .envrc && echo back",
	      "back\n");
	settle(1, 0, 0);
	ck_assert_int_lt(access(at(".envrc"), F_OK), 0);
	agent("cat sub/agentbox-quarantine-*/deep/t 2>/dev/null;"
	      "chmod 700 sub/agentbox-quarantine-*/deep;"
	      "cat sub/agentbox-quarantine-*/deep/t; ls -A sub | wc -l;"
	      "find . -name '*.vscode' -o -name .envrc",
	      NULL);
	settle(0, 0, 0);
	ck_assert_int_eq(stat(quarantine, &st), 0);
	ck_assert_uint_eq(st.st_nlink, 2);
	ck_assert_int_eq(rmdir(quarantine), 0); /* empty */
	ck_assert_int_eq(mkdir(quarantine, 0700), 0);
	ck_assert(ih_end(&box));
}
END_TEST

/* Where every name in a directory is protected, the top takes it. */
START_TEST(what_is_set_aside_is_under_no_pattern)
{
	watch("sub/*");
	raise_box();
	agent("echo evil >sub/x", "");
	settle(1, 0, 0);
	agent("ls sub; cat agentbox-quarantine-*", "evil\n");
	ck_assert(ih_end(&box));
}
END_TEST

/* What nobody can look through must not stay, whatever it is called. */
START_TEST(what_cannot_be_looked_through_is_not_set_aside)
{
	ab_msg_reply reply;

	raise_box();
	agent("d=.; i=0; while [ $i -lt 66 ]; do d=$d/d; i=$((i+1)); done;"
	      "mkdir -p $d; echo evil >$d/.envrc",
	      "");
	ck_assert_int_eq(ih_request(&box, AB_MSG_SETTLE, 0, -1, &reply, NULL),
			 0);
	ck_assert_int_lt(reply.result, 0);
	ck_assert_uint_eq(reply.values[2], 1);
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(a_directory_cannot_be_hidden_by_its_mode)
{
	raise_box();
	agent("mkdir -p h1/.vscode; chmod 0300 h1;"
	      "mkdir -p h2/.vscode; chmod 0400 h2;"
	      "mkdir -p h3/x/.vscode; chmod 0 h3/x; chmod 0 h3",
	      "");
	settle(3, 0, 0);
	ck_assert_int_lt(access(at("h1/.vscode"), F_OK), 0);
	ck_assert_int_lt(access(at("h2/.vscode"), F_OK), 0);
	ck_assert_int_lt(access(at("h3/x/.vscode"), F_OK), 0);
	/* also one that is watched already */
	agent("mkdir h4", "");
	settle(0, 0, 0);
	agent("echo >h4/.envrc; chmod 0 h4", "");
	settle(1, 0, 0);
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(what_the_host_replaces_is_protected_again)
{
	raise_box();
	settle(0, 0, 0);
	(void)ab_fd_poll(box.mountinfo, POLLPRI, 0);
	ck_assert_int_eq(ab_fd_poll(box.mountinfo, POLLPRI, 0), 0);
	/* as git config does it: write a lock file, rename it over */
	put(".git/config.lock", "[user]\n");
	ck_assert_int_eq(rename(at(".git/config.lock"), at(".git/config")), 0);
	/* the host would now freeze spawning and settle */
	ck_assert_int_gt(ab_fd_poll(box.mountinfo, POLLPRI, 20000), 0);
	settle(0, 1, 0);
	ck_assert(ih_saw_event(&box, AB_EVENT_REPROTECTED, ".git/config"));
	agent("(echo evil >.git/config) 2>/dev/null || echo ro;"
	      "cat .git/config",
	      "ro\n[user]\n");
	/* a whole directory, with the pinned parent kept */
	ck_assert_int_eq(unlink(at(".git/hooks/x.sample")), 0);
	ck_assert_int_eq(rmdir(at(".git/hooks")), 0);
	ck_assert_int_eq(mkdir(at(".git/hooks"), 0755), 0);
	settle(0, 1, 0);
	agent("(echo evil >.git/hooks/pre-commit) 2>/dev/null || echo ro",
	      "ro\n");
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(what_the_host_removes_may_not_come_back_from_the_agent)
{
	raise_box();
	ck_assert_int_eq(unlink(at(".git/config")), 0);
	settle(0, 1, 0);
	agent("echo evil >.git/config", "");
	settle(1, 0, 0);
	ck_assert_int_lt(access(at(".git/config"), F_OK), 0);
	ck_assert(ih_end(&box));
}
END_TEST

/* A command that runs until the box ends; its channel. */
static int linger(const char *script)
{
	const char *argv[] = {"/bin/sh", "-c", script, NULL};
	int channel = ih_spawn(&box, &(ih_command){.argv = argv,
						   .cwd = "/workspace"});

	ck_assert_int_ge(channel, 0);
	ck_assert_int_gt(ih_started(&box, channel, NULL), 0);
	return channel;
}

START_TEST(what_the_host_replaces_is_protected_while_a_command_runs)
{
	ab_msg_reply reply;
	int channel;

	raise_box();
	channel = linger("sleep 60");
	put(".git/config.lock", "[user]\n");
	ck_assert_int_eq(rename(at(".git/config.lock"), at(".git/config")), 0);
	/* nobody asks: it is told */
	ck_assert(ih_wait_event(&box, AB_EVENT_REPROTECTED, 2000));
	agent("(echo evil >.git/config) 2>/dev/null || echo ro", "ro\n");
	/* the host has got its notice all the same, and the count */
	ck_assert_int_gt(ab_fd_poll(box.mountinfo, POLLPRI, 0), 0);
	settle(0, 1, 0);
	box.event_count = 0;
	/* a mount point that is moved aside takes its mount along */
	ck_assert_int_eq(rename(at(".git/hooks"), at(".git/old")), 0);
	ck_assert_int_eq(mkdir(at(".git/hooks"), 0755), 0);
	ck_assert(ih_wait_event(&box, AB_EVENT_REPROTECTED, 2000));
	agent("echo evil >.git/hooks/pre-commit 2>/dev/null", NULL);
	/* or it was seen as removed, and then made by nobody knows whom */
	ck_assert_int_eq(ih_request(&box, AB_MSG_SETTLE, 0, -1, &reply, NULL),
			 0);
	ck_assert_int_lt(access(at(".git/hooks/pre-commit"), F_OK), 0);
	close(channel);
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(what_the_host_replaces_many_times_is_never_taken_for_removed)
{
	ab_msg_reply reply;
	int channel;

	raise_box();
	channel = linger("sleep 60");
	for (int i = 0; i < 500; i++) {
		put(".git/config.lock", "[user]\n");
		ck_assert_int_eq(rename(at(".git/config.lock"),
					at(".git/config")),
				 0);
	}
	ck_assert_int_eq(ih_request(&box, AB_MSG_SETTLE, 0, -1, &reply, NULL),
			 0);
	ck_assert_int_eq(reply.result, 0);
	agent("(echo evil >.git/config) 2>/dev/null || echo ro", "ro\n");
	ck_assert_int_eq(access(at(".git/config"), F_OK), 0);
	close(channel);
	ck_assert(ih_end(&box));
	ck_assert_int_eq(access(at(".git/config"), F_OK), 0);
}
END_TEST

START_TEST(what_is_removed_while_a_command_runs_may_not_come_back)
{
	int channel;

	raise_box();
	channel = linger("sleep 60");
	ck_assert_int_eq(unlink(at(".git/config")), 0);
	ck_assert(ih_wait_event(&box, AB_EVENT_REPROTECTED, 2000));
	agent("echo evil >.git/config", "");
	settle(1, 1, 0);
	ck_assert_int_lt(access(at(".git/config"), F_OK), 0);
	close(channel);
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(what_is_hidden_stays_hidden_when_the_host_replaces_it)
{
	int channel;

	put(".env", "SECRET\n");
	ck_assert_int_eq(mkdir(at("sec"), 0755), 0);
	ck_assert_int_eq(mkdir(at("ro"), 0755), 0);
	put("sec/k", "SECRET\n");
	ih_step(&plan, AB_STEP_HIDE, "/workspace/.env");
	ih_step(&plan, AB_STEP_HIDE, "/workspace/sec");
	ih_bind(&plan, "/etc", "/workspace/ro",
		AB_MOUNT_RDONLY | AB_MOUNT_RECURSIVE);
	raise_box();
	channel = linger("sleep 60");
	agent("cat .env sec/k 2>/dev/null; [ -e ro/passwd ] || echo gone", "");
	put(".env.new", "SECRET2\n");
	ck_assert_int_eq(rename(at(".env.new"), at(".env")), 0);
	ck_assert(ih_wait_event(&box, AB_EVENT_REPROTECTED, 2000));
	agent("cat .env 2>/dev/null", "");
	settle(0, 1, 0);
	/* renamed aside, a copy in its place; and a mount point replaced */
	ck_assert_int_eq(rename(at("sec"), at("sec.old")), 0);
	ck_assert_int_eq(mkdir(at("sec"), 0755), 0);
	put("sec/k", "SECRET\n");
	ck_assert_int_eq(rmdir(at("ro")), 0);
	ck_assert_int_eq(mkdir(at("ro"), 0777), 0);
	settle(0, 2, 0);
	agent("cat sec/k 2>/dev/null; (echo x >ro/x) 2>/dev/null || echo ro;"
	      "[ -e ro/passwd ] || echo gone",
	      "ro\n");
	close(channel);
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(what_cannot_be_mounted_again_freezes_the_box)
{
	ab_msg_reply reply;

	ck_assert_int_eq(mkdir(at("ro"), 0755), 0);
	ck_assert_int_eq(mkdir(at("from"), 0755), 0);
	ih_bind(&plan, at("from"), "/workspace/ro", AB_MOUNT_RDONLY);
	raise_box();
	ck_assert_int_eq(rmdir(at("from")), 0);
	ck_assert_int_eq(mkdir(at("from"), 0755), 0);
	ck_assert_int_eq(rmdir(at("ro")), 0);
	ck_assert_int_eq(mkdir(at("ro"), 0755), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(ih_request(&box, AB_MSG_SETTLE, 0, -1, &reply,
					    NULL),
				 0);
		ck_assert_int_lt(reply.result, 0);
		ck_assert_uint_eq(reply.values[2], i == 0);
	}
	ck_assert(ih_saw_event(&box, AB_EVENT_UNPROTECTED, "ro"));
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(a_link_in_place_of_a_directory_is_quarantined)
{
	raise_box();
	agent("mkdir -p data/hooks new cc other; ln -s ../data new/.git;"
	      "mkdir new2; echo 'gitdir: ../data' >new2/.git;"
	      "ln -s cc .cargo; ln -s other fine; echo x >.config;"
	      "mkdir -p refs/.git/refs/x; ln -s refs/.git/refs/x sub;"
	      "echo evil >refs/.git/refs/x/.envrc",
	      "");
	settle(4, 0, 0);
	ck_assert(ih_saw_event(&box, AB_EVENT_QUARANTINED, "new/.git"));
	ck_assert(ih_saw_event(&box, AB_EVENT_QUARANTINED, "new2/.git"));
	ck_assert(ih_saw_event(&box, AB_EVENT_QUARANTINED, ".cargo"));
	ck_assert(ih_saw_event(&box, AB_EVENT_QUARANTINED,
			       "refs/.git/refs/x/.envrc"));
	ck_assert_int_eq(access(at("fine"), F_OK), 0);
	ck_assert_int_eq(access(at(".config"), F_OK), 0);
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(names_among_the_objects_of_git_are_quarantined)
{
	ck_assert_int_eq(mkdir(at(".git/objects"), 0755), 0);
	raise_box();
	agent("mkdir .git/objects/info .git/refs .git/logs;"
	      "echo evil >.git/objects/.envrc; echo evil >.git/logs/.envrc;"
	      "mkdir -p .git/refs/x/.git/hooks; echo fine >.git/refs/x/y",
	      "");
	settle(3, 0, 0);
	ck_assert(ih_saw_event(&box, AB_EVENT_QUARANTINED,
			       ".git/objects/.envrc"));
	ck_assert(ih_saw_event(&box, AB_EVENT_QUARANTINED,
			       ".git/refs/x/.git/hooks"));
	ck_assert_int_eq(access(at(".git/refs/x/y"), F_OK), 0);
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(links_that_lead_to_where_the_same_pattern_holds_may_stay)
{
	watch("**/.git/modules/**/config");
	raise_box();
	agent("mkdir -p a/.git b m/.git/modules/x/refs;"
	      "ln -s ../a/.git b/.git; ln -s refs m/.git/modules/x/link;"
	      "ln -s ../../../../sub m/.git/modules/x/out; ln -s a a2",
	      "");
	settle(1, 0, 0);
	ck_assert(ih_saw_event(&box, AB_EVENT_QUARANTINED,
			       "m/.git/modules/x/out"));
	agent("mkdir a/.git/hooks; ls b/.git/hooks", "");
	settle(1, 0, 0);
	/* from there on it is judged as any: moved, exchanged, case */
	agent("mkdir c; mv b/.git c/.GIT; ln -s ../sub c/x; mv c/x b/.git", "");
	settle(1, 0, 0);
	ck_assert(ih_saw_event(&box, AB_EVENT_QUARANTINED, "b/.git"));
	ck_assert(ih_end(&box));
}
END_TEST

static void watch_worktrees(void)
{
	watch("**/.git/commondir");
	watch("**/.git/worktrees/*/commondir");
	watch("**/.git/worktrees/*/gitdir");
	watch("**/.git/worktrees/*/config.worktree");
}

#define WORKTREE \
	"mkdir -p .git/worktrees/wt wt; echo ../.. >.git/worktrees/wt/commondir;" \
	"echo /workspace/wt/.git >.git/worktrees/wt/gitdir;" \
	"echo 'gitdir: /workspace/.git/worktrees/wt' >wt/.git;"

START_TEST(a_linked_work_tree_may_be_made)
{
	watch_worktrees();
	raise_box();
	agent(WORKTREE, "");
	settle(0, 0, 0);
	agent("cat wt/.git .git/worktrees/wt/commondir",
	      "gitdir: /workspace/.git/worktrees/wt\n../..\n");
	settle(0, 0, 0);
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(a_linked_work_tree_may_not_be_turned_elsewhere)
{
	watch_worktrees();
	raise_box();
	agent(WORKTREE "mkdir data", "");
	settle(0, 0, 0);
	/* written in place: no event tells */
	agent("echo 'gitdir: ../data' >wt/.git", "");
	ck_assert_int_gt(ab_fd_poll(box.inotify, POLLIN, 0), 0);
	settle(1, 0, 0);
	ck_assert(ih_saw_event(&box, AB_EVENT_QUARANTINED, "wt/.git"));
	agent("echo 'gitdir: ../.git/worktrees/wt' >wt/.git", "");
	settle(0, 0, 0);
	/* its common directory: then the .git that relied on it goes too */
	agent("echo ../../../data >.git/worktrees/wt/commondir", "");
	settle(2, 0, 0);
	ck_assert_int_lt(access(at("wt/.git"), F_OK), 0);
	agent("mkdir -p data/.git; echo 'gitdir: ../data/.git' >wt/.git", "");
	settle(1, 0, 0);
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(paths_too_long_to_look_at_are_quarantined)
{
	raise_box();
	agent("n=$(printf '%0250d' 0); i=0; while [ $i -lt 20 ]; do "
	      "mkdir $n && cd -P $n; i=$((i+1)); done 2>/dev/null;"
	      "echo evil >.envrc",
	      NULL);
	settle(1, 0, 0);
	settle(0, 0, 0);
	ck_assert(ih_end(&box));
}
END_TEST

/* What the host took away is no reason to let a name stand. */
START_TEST(without_a_quarantine_what_appears_is_set_aside)
{
	raise_box();
	ck_assert_int_eq(rmdir(quarantine), 0);
	agent("echo evil >.envrc; mkdir d; echo evil >d/.envrc", "");
	settle(2, 0, 0);
	ck_assert_int_lt(access(at(".envrc"), F_OK), 0);
	ck_assert_int_lt(access(at("d/.envrc"), F_OK), 0);
	ck_assert(ih_end(&box));
	ck_assert_int_eq(mkdir(quarantine, 0700), 0);
}
END_TEST

START_TEST(what_cannot_be_moved_freezes_until_it_can)
{
	ab_msg_reply reply;

	/* not even aside: nothing may have the name that would have */
	watch("**/agentbox-*");
	raise_box();
	ck_assert_int_eq(rmdir(quarantine), 0);
	agent("echo evil >.envrc", "");
	for (int i = 0; i < 2; i++) {
		box.event_count = 0;
		ck_assert_int_eq(ih_request(&box, AB_MSG_SETTLE, 0, -1, &reply,
					    NULL),
				 0);
		ck_assert_int_lt(reply.result, 0);
		ck_assert_uint_eq(reply.values[2], 1);
		ck_assert(ih_saw_event(&box, AB_EVENT_UNPROTECTED, ".envrc"));
	}
	/* the host removes it by hand */
	ck_assert_int_eq(unlink(at(".envrc")), 0);
	settle(0, 0, 0);
	ck_assert(ih_end(&box));
	ck_assert_int_eq(mkdir(quarantine, 0700), 0);
}
END_TEST

static void hear_all(void)
{
	char message[4096];

	shutdown(box.control, SHUT_WR);
	while (recv(box.control, message, sizeof(message), 0) > 0)
		;
}

/* Beside the quarantine; NULL: there is none. */
static const char *record(void)
{
	static char dir[4300], path[8600], text[8192];
	const char *name = strrchr(quarantine, '/');
	ssize_t n;
	int fd;

	snprintf(dir, sizeof(dir), "%.*s/unsettled",
		 (int)(name - quarantine), quarantine);
	snprintf(path, sizeof(path), "%s%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	n = ab_fd_read_full(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* Else the next box would take what stands for the host's. */
START_TEST(a_record_stands_until_all_is_put_right)
{
	char expected[8192];

	snprintf(expected, sizeof(expected), "%llu %llu %s",
		 (unsigned long long)plan.p.workspace_dev,
		 (unsigned long long)plan.p.workspace_ino, workspace);
	raise_box();
	ck_assert_str_eq(record(), expected);
	agent("echo evil >.envrc", "");
	ck_assert(ih_end(&box));
	ck_assert_ptr_null(record());
	ck_assert_int_lt(access(at(".envrc"), F_OK), 0);
	/* neither moved away nor set aside */
	watch("**/agentbox-*");
	for (int is_heard = 1; is_heard >= 0; is_heard--) {
		raise_box();
		agent("echo evil >.envrc", "");
		if (is_heard)
			hear_all();
		ck_assert(ih_end(&box));
		ck_assert_int_eq(access(at(".envrc"), F_OK), 0);
		ck_assert_int_eq(unlink(at(".envrc")), 0);
		ck_assert_str_eq(record(), expected);
	}
	/* what stood there before is this one's own */
	raise_box();
	ck_assert(ih_end(&box));
	ck_assert_ptr_null(record());
}
END_TEST

START_TEST(a_killed_holder_leaves_its_record)
{
	raise_box();
	agent("echo evil >.envrc", "");
	ck_assert_int_eq(kill(box.pid, SIGKILL), 0);
	ck_assert(ih_end(&box));
	ck_assert_int_eq(access(at(".envrc"), F_OK), 0);
	ck_assert_ptr_nonnull(record());
}
END_TEST

START_TEST(without_a_record_there_is_no_box)
{
	char path[4300];
	int r;

	snprintf(path, sizeof(path), "%s/unsettled", top);
	r = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(r, 0);
	close(r);
	r = ih_raise(&box, helper, &plan.p);
	ck_assert_int_eq(r, -ECANCELED);
	ck_assert_int_eq(box.failed_errno, ENOTDIR);
	ck_assert_ptr_nonnull(strstr(box.failed_stage, "record in"));
	ih_end(&box);
}
END_TEST

/* Nobody was in it. */
START_TEST(a_box_that_is_not_raised_leaves_no_record)
{
	ih_bind(&plan, top, "/elsewhere", 0)->ino++;
	ck_assert_int_eq(ih_raise(&box, helper, &plan.p), -ECANCELED);
	ih_end(&box);
	ck_assert_ptr_null(record());
}
END_TEST

static double settle_ms(uint64_t quarantined)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	settle(quarantined, 0, 0);
	clock_gettime(CLOCK_MONOTONIC, &b);
	return (double)(b.tv_sec - a.tv_sec) * 1e3 +
	       (double)(b.tv_nsec - a.tv_nsec) / 1e6;
}

/* Bounds are wide, the machine may be busy; what it took is printed. */
START_TEST(a_large_workspace_is_looked_through_quickly)
{
	double ms;

	for (int i = 0; i < 200; i++) {
		char name[64];

		snprintf(name, sizeof(name), "d%d", i);
		ck_assert_int_eq(mkdir(at(name), 0755), 0);
		for (int j = 0; j < 100; j++) {
			snprintf(name, sizeof(name), "d%d/f%d", i, j);
			put(name, "");
		}
	}
	ck_assert_int_eq(mkdir(at(".git/objects"), 0755), 0);
	for (int i = 0; i < 5120; i++) {
		char name[64];

		snprintf(name, sizeof(name), ".git/objects/%02x", i % 256);
		if (i < 256)
			ck_assert_int_eq(mkdir(at(name), 0755), 0);
		snprintf(name, sizeof(name), ".git/objects/%02x/%038d", i % 256,
			 i);
		put(name, "");
	}
	raise_box();
	settle(0, 0, 0);
	agent("cat .git/config >/dev/null", "");
	ck_assert_int_eq(ab_fd_poll(box.inotify, POLLIN, 0), 0);
	/* more events than the queue holds */
	agent("cd sub; seq 20000 | xargs touch; echo evil >../d7/.envrc", "");
	ms = settle_ms(1);
	printf("# 45000 files, all looked through: %.1f ms\n", ms);
	ck_assert(ms < 2000);
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(a_directory_above_cannot_hide_one_by_its_mode)
{
	raise_box();
	agent("mkdir a", "");
	settle(0, 0, 0);
	agent("mkdir a/b; echo evil >a/b/.envrc; mkdir -p a/b/.vscode;"
	      "chmod 0 a",
	      "");
	settle(2, 0, 0);
	ck_assert_int_lt(access(at("a/b/.envrc"), F_OK), 0);
	ck_assert_int_lt(access(at("a/b/.vscode"), F_OK), 0);
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(what_is_too_deep_to_look_at_is_quarantined)
{
	raise_box();
	agent("d=.; i=0; while [ $i -lt 66 ]; do d=$d/d; i=$((i+1)); done;"
	      "mkdir -p $d; echo evil >$d/.envrc; ln -s $d deep",
	      "");
	settle(1, 0, 0);
	ck_assert_int_lt(access(at("deep/.envrc"), F_OK), 0);
	/* and one by one, by its event */
	agent("d=.; i=0; while [ $i -lt 63 ]; do d=$d/d; i=$((i+1)); done;"
	      "mkdir $d/d",
	      "");
	settle(1, 0, 0);
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(a_name_that_is_no_text_is_reported_all_the_same)
{
	raise_box();
	agent("d=$(printf 'i\\377\\303\\251'); mkdir $d; echo evil >$d/.envrc",
	      "");
	settle(1, 0, 0);
	ck_assert_msg(ih_saw_event(&box, AB_EVENT_QUARANTINED,
				   "i\\xff\303\251/.envrc"),
		      "%s", box.events);
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(what_a_box_leaves_at_its_end_is_quarantined)
{
	int channel;

	raise_box();
	channel = linger("echo evil >.envrc; mkdir .vscode; sleep 60");
	for (int i = 0; i < 2000 && access(at(".vscode"), F_OK); i++)
		usleep(10000);
	/* the host dies or forgets to settle */
	ck_assert(ih_end(&box));
	ck_assert_int_lt(access(at(".envrc"), F_OK), 0);
	ck_assert_int_lt(access(at(".vscode"), F_OK), 0);
	close(channel);
}
END_TEST

static bool is_gone_within(const char *path, int ms)
{
	for (; ms > 0 && access(path, F_OK) == 0; ms -= 5)
		usleep(5000);
	return access(path, F_OK) < 0;
}

/* The host is idle, it runs nothing and does not settle. */
START_TEST(what_a_left_process_plants_is_quarantined_at_once)
{
	raise_box();
	agent("(setsid sh -c 'sleep 0.3; mkdir -p sub/new/.vscode;"
	      "echo evil >.envrc; : >done; sleep 60' >/dev/null 2>&1 &)",
	      "");
	for (int i = 0; i < 1000 && access(at("done"), F_OK); i++)
		usleep(5000);
	ck_assert(is_gone_within(at(".envrc"), 60000));
	ck_assert(is_gone_within(at("sub/new/.vscode"), 60000));
	/* what happened is still to be told, before a command starts */
	ck_assert_int_gt(ab_fd_poll(box.inotify, POLLIN, 0), 0);
	/* also when something harmless has happened since */
	for (int i = 0; i < 400; i++) {
		put("harmless", "");
		usleep(2500);
		ck_assert_int_gt(ab_fd_poll(box.inotify, POLLIN, 0), 0);
	}
	settle(2, 0, 0);
	ck_assert_int_eq(ab_fd_poll(box.inotify, POLLIN, 0), 0);
	ck_assert(ih_end(&box));
}
END_TEST

/* A command makes and removes such names for its own use; it may end first. */
START_TEST(what_a_running_command_makes_waits_for_its_end)
{
	int channel;

	raise_box();
	channel = linger("echo evil >.envrc; sleep 60");
	for (int i = 0; i < 1000 && access(at(".envrc"), F_OK); i++)
		usleep(5000);
	usleep(1200000);
	ck_assert_int_eq(access(at(".envrc"), F_OK), 0);
	/* it ends, and the host is busy elsewhere */
	close(channel);
	ck_assert(is_gone_within(at(".envrc"), 60000));
	settle(1, 0, 0);
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(a_box_leaves_the_workspace_as_it_was)
{
	struct stat before, after;

	ck_assert_int_eq(stat(workspace, &before), 0);
	raise_box();
	ck_assert(ih_end(&box));
	ck_assert_int_eq(stat(workspace, &after), 0);
	ck_assert_int_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	ck_assert_int_eq(before.st_ctim.tv_nsec, after.st_ctim.tv_nsec);
}
END_TEST

static int relay(int fd, uint32_t direction)
{
	ab_msg_reply reply;
	int pipe_fd = -1;

	ck_assert_int_eq(ih_request(&box, AB_MSG_RELAY, direction, fd, &reply,
				    &pipe_fd),
			 0);
	ck_assert_int_eq(reply.result, 0);
	ck_assert_int_ge(pipe_fd, 0);
	return pipe_fd;
}

START_TEST(a_relayed_file_is_written_before_settle_answers)
{
	const char *argv[] = {"/bin/sh", "-c",
			      "seq 1 20000; : <>/proc/self/fd/1", NULL};
	int file, pipe_fd, channel;
	ab_msg_exited m;
	struct stat st;

	put("log", "secret of the host\n");
	file = open(at("log"), O_WRONLY | O_APPEND | O_CLOEXEC);
	raise_box();
	pipe_fd = relay(file, 0);
	channel = ih_spawn(&box, &(ih_command){.argv = argv,
					       .fds = &pipe_fd,
					       .targets = (uint32_t[]){1},
					       .fd_count = 1});
	close(pipe_fd);
	ck_assert_int_gt(ih_started(&box, channel, NULL), 0);
	ck_assert_int_eq(ih_exited(channel, &m), 0);
	close(channel);
	settle(0, 0, 0);
	ck_assert_int_eq(fstat(file, &st), 0);
	ck_assert_int_eq(st.st_size, 19 + 108894);
	close(file);
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(a_relayed_file_can_be_read_through_its_pipe)
{
	const char *argv[] = {"/bin/sh", "-c",
			      "exit $(($(wc -c) % 200))", NULL};
	int file, pipe_fd, channel;
	ab_msg_exited m;

	put("input", "");
	file = open(at("input"), O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(ftruncate(file, 300077), 0);
	raise_box();
	pipe_fd = relay(file, 1);
	channel = ih_spawn(&box, &(ih_command){.argv = argv,
					       .fds = &pipe_fd,
					       .targets = (uint32_t[]){0},
					       .fd_count = 1});
	close(pipe_fd);
	ck_assert_int_gt(ih_started(&box, channel, NULL), 0);
	ck_assert_int_eq(ih_exited(channel, &m), 0);
	ck_assert_int_eq(WEXITSTATUS(m.status), 300077 % 200);
	close(channel);
	close(file);
	ck_assert(ih_end(&box));
}
END_TEST

START_TEST(only_regular_files_are_relayed)
{
	int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ab_msg_reply reply;
	int pipe_fd = -1;

	raise_box();
	ck_assert_int_eq(ih_request(&box, AB_MSG_RELAY, 1, fd, &reply,
				    &pipe_fd),
			 0);
	ck_assert_int_eq(reply.result, -EINVAL);
	ck_assert_int_eq(pipe_fd, -1);
	close(fd);
	ck_assert(ih_end(&box));
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("init_protect");
	TCase *tc = tcase_create("protect");
	TCase *apart = tcase_create("apart");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_is_protected_cannot_be_changed_or_moved_aside);
	tcase_add_test(tc, what_came_after_the_plan_is_not_the_agents);
	tcase_add_test(
		tc, what_came_after_the_plan_and_cannot_be_held_is_quarantined);
	tcase_add_test(tc,
		       what_is_behind_a_mask_or_a_mount_at_the_start_stays);
	tcase_add_test(tc, a_quiet_command_leaves_nothing_to_settle);
	tcase_add_test(tc, protected_names_that_appear_are_quarantined);
	tcase_add_test(tc, a_directory_cannot_be_hidden_by_its_mode);
	tcase_add_test(tc, what_the_host_replaces_is_protected_again);
	tcase_add_test(tc,
		       what_the_host_removes_may_not_come_back_from_the_agent);
	tcase_add_test(tc,
		what_the_host_replaces_is_protected_while_a_command_runs);
	tcase_add_test(
		tc,
		what_the_host_replaces_many_times_is_never_taken_for_removed);
	tcase_add_test(tc,
		       what_is_removed_while_a_command_runs_may_not_come_back);
	tcase_add_test(tc,
		       what_is_hidden_stays_hidden_when_the_host_replaces_it);
	tcase_add_test(tc, what_cannot_be_mounted_again_freezes_the_box);
	tcase_add_test(tc, a_link_in_place_of_a_directory_is_quarantined);
	tcase_add_test(tc, names_among_the_objects_of_git_are_quarantined);
	tcase_add_test(tc,
		links_that_lead_to_where_the_same_pattern_holds_may_stay);
	tcase_add_test(tc, a_linked_work_tree_may_be_made);
	tcase_add_test(tc, a_linked_work_tree_may_not_be_turned_elsewhere);
	tcase_add_test(tc, paths_too_long_to_look_at_are_quarantined);
	tcase_add_test(tc, without_a_quarantine_what_appears_is_set_aside);
	tcase_add_test(tc, what_cannot_be_moved_freezes_until_it_can);
	tcase_add_test(tc, a_killed_holder_leaves_its_record);
	tcase_add_test(tc, without_a_record_there_is_no_box);
	tcase_add_test(tc, a_box_that_is_not_raised_leaves_no_record);
	tcase_add_test(tc, a_large_workspace_is_looked_through_quickly);
	tcase_add_test(tc, a_directory_above_cannot_hide_one_by_its_mode);
	tcase_add_test(tc, what_is_too_deep_to_look_at_is_quarantined);
	tcase_add_test(tc, a_name_that_is_no_text_is_reported_all_the_same);
	tcase_add_test(tc, what_a_box_leaves_at_its_end_is_quarantined);
	tcase_add_test(tc, what_a_left_process_plants_is_quarantined_at_once);
	tcase_add_test(tc, what_a_running_command_makes_waits_for_its_end);
	tcase_add_test(tc, a_box_leaves_the_workspace_as_it_was);
	tcase_add_test(tc, a_relayed_file_is_written_before_settle_answers);
	tcase_add_test(tc, a_relayed_file_can_be_read_through_its_pipe);
	tcase_add_test(tc, only_regular_files_are_relayed);
	suite_add_tcase(s, tc);
	tcase_set_timeout(apart, 60);
	tcase_add_checked_fixture(apart, setup_apart, teardown);
	tcase_add_test(apart,
		       on_another_file_system_what_appears_is_set_aside);
	tcase_add_test(apart, what_is_set_aside_is_under_no_pattern);
	tcase_add_test(apart, a_record_stands_until_all_is_put_right);
	tcase_add_test(apart, what_cannot_be_looked_through_is_not_set_aside);
	suite_add_tcase(s, apart);
	return s;
}

int main(void)
{
	SRunner *runner;
	int failed;

	snprintf(helper, sizeof(helper), "%s/agentbox-init",
		 ab_test_helper_dir());
	ih_needs_namespaces(helper);
	if (!mkdtemp(shm))
		return 1;
	runner = srunner_create(suite());
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	/* a test that fails does not come to its teardown */
	nftw(shm, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	srunner_free(runner);
	return failed ? 1 : 0;
}
