/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ways around the protected names of a direct workspace: links, `.git` files,
 * places nobody looks at, modes, depth. Each is an attack on the host's user
 * who works in the same directory; rows 2, 9-14 and 19 of
 * tests/e2e/SANDBOX-CASES.md.
 */
#include "box.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DATA "mkdir -p data/hooks data/objects data/refs; " \
	"echo 'ref: refs/heads/master' >data/HEAD; " \
	"printf '[core]\\nfsmonitor=touch pwn;\\n' >data/config; "

static bool is_name(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* What the box made at ws/name is gone from there, and was reported. */
static void quarantined(const char *name)
{
	CHECK(!is_name(ws_path(name)),
	      "%s stands on the host after the command's end", name);
	CHECK(box_event("quarantined", name, 0), "no event for %s", name);
}

static void case_019_a_link_cannot_stand_for_a_directory_above(void)
{
	static const char *const links[] = {
		"r/.git", ".cargo", ".config", ".ssh", "r/.Git", NULL
	};

	box_raise(NULL, NULL);
	box_sh(DATA "mkdir r cc");
	for (size_t i = 0; links[i]; i++) {
		box_forget_events();
		box_sh("ln -s %s %s", i % 4 ? "cc" : "../data", links[i]);
		quarantined(links[i]);
	}
	/* made under another name */
	box_forget_events();
	box_sh("ln -s ../data r/x; mv r/x r/.git");
	quarantined("r/.git");
	box_sh("ln -s src fine");
	CHECK(is_name(ws_path("fine")), "an ordinary link is gone");
}

static void case_009_a_git_file_cannot_name_a_directory_of_the_agent(void)
{
	box_raise(NULL, NULL);
	box_sh(DATA "mkdir r; echo 'gitdir: ../data' >r/.git");
	quarantined("r/.git");
	box_forget_events();
	box_sh("echo 'gitdir: /tmp/data' >r/.git");
	quarantined("r/.git");
}

static void case_009_a_linked_work_tree_can_be_used(void)
{
	struct outcome o;

	if (!host_has("git"))
		e2e_skip("git is not installed");
	box_raise(NULL, NULL);
	o = BOX_RUN("git", "init", "-q", "/tmp/r");
	if (o.status != 0)
		e2e_skip("git does not run in the box: %s", o.err);
	box_sh("mkdir -p .git/worktrees/wt wt; "
	       "echo ../.. >.git/worktrees/wt/commondir; "
	       "echo /workspace/wt/.git >.git/worktrees/wt/gitdir; "
	       "cp .git/HEAD .git/worktrees/wt/HEAD; "
	       "echo 'gitdir: /workspace/.git/worktrees/wt' >wt/.git");
	CHECK(!box_event("quarantined", NULL, 0), "a work tree was broken");
	o = BOX_RUN("git", "-c", "safe.directory=*", "-C", "wt", "rev-parse",
		    "--git-common-dir");
	CHECK(o.status == 0, "%s", o.err);
	box_sh("mkdir data; echo 'gitdir: ../data' >wt/.git");
	quarantined("wt/.git");
}

static void case_014_nothing_is_hidden_in_git_itself(void)
{
	box_raise(NULL, NULL);
	box_sh("mkdir -p .git/objects/info; "
	       "echo /x >.git/objects/info/alternates");
	quarantined(".git/objects/info/alternates");
	box_sh("mkdir -p .git/refs/x/.git/hooks .git/logs; "
	       "echo evil >.git/refs/x/.envrc; echo evil >.git/logs/.envrc");
	quarantined(".git/refs/x/.git/hooks");
	quarantined(".git/refs/x/.envrc");
	quarantined(".git/logs/.envrc");
}

static void case_014_a_mode_hides_nothing(void)
{
	box_raise(NULL, NULL);
	box_sh("mkdir a");
	box_sh("mkdir a/b; echo evil >a/b/.envrc; mkdir -p a/b/.vscode; "
	       "echo x >a/b/.vscode/tasks.json; chmod 000 a/b a");
	quarantined("a/b/.envrc");
	quarantined("a/b/.vscode");
}

static void case_014_depth_hides_nothing_and_blocks_nobody(void)
{
	char *name = e2e_text("%s", ws_path("d"));

	box_raise(NULL, NULL);
	box_sh("d=.; i=0; while [ $i -lt 66 ]; do d=$d/d; i=$((i+1)); done; "
	       "mkdir -p $d; echo evil >$d/.envrc; ln -s $d deep");
	CHECK(!host_exists(ws_path("deep/.envrc")), "hidden by its depth");
	CHECK(box_event("quarantined", NULL, 0), "not reported");
	box_end();
	/* what the host has made itself does not stop the next box */
	for (int i = 0; i < 70; i++) {
		if (!is_name(name))
			host_mkdir(name);
		name = e2e_text("%s/d", name);
	}
	box_raise(NULL, NULL);
	ATTACK("OK", "create /workspace/fine");
	box_sh("d=.; i=0; while [ $i -lt 64 ]; do d=$d/d; i=$((i+1)); done; "
	       "echo evil >$d/.envrc");
	CHECK(!box_event("unprotected", NULL, 0), "the box is frozen");
}

/*
 * An agent leaves what makes a workspace hard to look through: the next box
 * is raised over it, writable where it can be, and protected all the same.
 */
static void case_014_a_plant_does_not_keep_the_next_box(void)
{
	e2e_seconds(60);
	box_raise(NULL, NULL);
	/* a circle where the host's hooks path leads, once it is set */
	box_sh("mkdir tools n && ln -s tools/b tools/a && ln -s a tools/b; "
	       "cd n && seq 1500 | sed 's,$,/.git/objects,' | xargs mkdir -p; "
	       "for i in *; do echo ref: refs/heads/m >$i/.git/HEAD; done");
	box_sh("cd .git; for i in $(seq 20); do mkdir -p modules/m/objects && "
	       "cd modules/m && echo ref: refs/heads/m >HEAD || exit 1; done");
	box_sh("mkdir -p z && cd z && seq 4200 | xargs mkdir && chmod 0 *");
	box_end();
	host_write(ws_path(".git/config"),
		   "[core]\n\thooksPath = tools/a/hooks\n");
	box_raise(NULL, NULL);
	ATTACK("OK", "create /workspace/src/still-writable");
	ATTACK("OK", "create /workspace/n/1/file");
	ATTACK("EROFS|EACCES", "write /workspace/.git/config");
	/* what names the host's hooks cannot be turned to the agent's */
	ATTACK("EROFS|EBUSY|EACCES", "unlink /workspace/tools/a");
	box_sh("mkdir -p n/7/.git/hooks && echo evil >n/7/.git/hooks/x");
	CHECK(!host_exists(ws_path("n/7/.git/hooks")), "a hook stands");
	box_end();
	host_run((const char *const[]){ "chmod", "-R", "u+rwx", ws_path("z"),
					NULL }, NULL);
}

/*
 * HEAD has to stay writable. Gone for the moment in which the next box is
 * raised, it must not take away what the configuration leads to.
 */
static void case_009_a_missing_head_hides_no_repository(void)
{
	host_mkdir(ws_path("myhooks"));
	host_write(ws_path("inc.cfg"), "[core]\n\thooksPath = myhooks\n");
	host_write(ws_path(".git/config"),
		   "[core]\n[include]\n\tpath = ../inc.cfg\n");
	host_repository(ws_path("t"));
	REQUIRE(rename(ws_path("t/.git"), ws_path("store")) == 0, "%m");
	host_write(ws_path("sep/.git"), "gitdir: ../store\n");
	box_raise(NULL, NULL);
	box_sh("mv .git/HEAD .git/H; mv store/HEAD store/H");
	box_end();
	box_raise(NULL, NULL);
	ATTACK("OK", "create /workspace/src/new.c");
	ATTACK("EROFS|EACCES", "write /workspace/inc.cfg");
	ATTACK("EROFS|EACCES", "create /workspace/myhooks/pre-commit");
	ATTACK("EROFS|EACCES", "create /workspace/store/hooks/pre-commit");
	ATTACK("EROFS|EACCES", "write /workspace/store/config");
	box_sh("mv .git/H .git/HEAD; mv store/H store/HEAD");
	box_end();
	CHECK(host_exists(ws_path("store/HEAD")), "HEAD was not put back");
}

#define BARE "mkdir -p %s/worktree %s/objects %s/refs; " \
	"printf '[core]\\nfsmonitor=touch pwn\\n' >%s/config; " \
	"mkdir %s/hooks; echo 'ref: refs/heads/m' >%s/HEAD"

/* git takes it for a repository wherever it is run, whatever its name. */
static void case_011_a_bare_repository_has_no_configuration(void)
{
	static const char *const ends[] = {"HEAD", "objects", "refs"};

	host_write(ws_path("data/config"), "fine\n");
	host_write(ws_path("data/hooks/x"), "fine\n");
	host_write(ws_path("old/HEAD"), "ref: refs/heads/m\n");
	host_write(ws_path("old/config"), "[core]\n");
	host_mkdir(ws_path("old/objects"));
	host_mkdir(ws_path("old/refs"));
	box_raise(NULL, NULL);
	box_sh(BARE, "a", "a", "a", "a", "a", "a");
	quarantined("a/config");
	quarantined("a/hooks");
	CHECK(is_name(ws_path("a/HEAD")), "more than needed was taken");
	ATTACK("EROFS|EACCES", "write /workspace/old/config");
	/* whichever part comes last */
	for (size_t i = 0; i < 3; i++) {
		box_forget_events();
		box_sh(BARE, "b", "b", "b", "b", "b", "b");
		box_sh("rm -rf b/config b/hooks; mv b/%s b/x; "
		       "echo evil >b/config", ends[i]);
		box_sh("mv b/x b/%s", ends[i]);
		quarantined("b/config");
		box_sh("rm -rf b");
	}
	box_forget_events();
	box_sh("mkdir c; echo x >c/HEAD; echo ../a >c/commondir");
	quarantined("c/commondir");
	box_forget_events();
	box_sh("mkdir old/hooks");
	quarantined("old/hooks");
	box_forget_events();
	box_sh("echo more >data/config; mkdir -p data/refs d2/hooks; "
	       "echo x >d2/config");
	CHECK(!box_event("quarantined", NULL, 0), "an ordinary name is gone");
	CHECK(is_name(ws_path("d2/config")), "d2/config is gone");
}

/* What the person moves stays the person's: it is bound, and moves along. */
static void case_103_a_repository_that_the_host_moves_stays_whole(void)
{
	struct statx st;
	char *config;

	host_repository(ws_path("sub"));
	config = host_read(ws_path("sub/.git/config"));
	REQUIRE(statx(AT_FDCWD, ws_path("sub/.git/config"), 0, STATX_BTIME,
		      &st) == 0, "%m");
	if (!(st.stx_mask & STATX_BTIME))
		e2e_skip("this file system has no birth times");
	box_raise(NULL, NULL);
	box_sh("true");
	REQUIRE(rename(ws_path("sub"), ws_path("sub2")) == 0, "%m");
	box_sh("true");
	CHECK(strcmp(host_read(ws_path("sub2/.git/config")), config) == 0,
	      "the configuration is gone");
	CHECK(is_name(ws_path("sub2/.git/hooks")), "the hooks are gone");
	CHECK(!box_event("quarantined", NULL, 0), "the host's own was taken");
	ATTACK("EROFS|EACCES", "write /workspace/sub2/.git/config");
	/* another one there is a plant as before */
	box_sh("mkdir -p sub/.git; echo evil >sub/.git/config");
	quarantined("sub/.git/config");
	box_sh("mkdir -p sub3/.git; cp sub2/.git/config sub3/.git/config");
	quarantined("sub3/.git/config");
}

/*
 * What the host has taken away is a name that must not appear from then on,
 * also for the first command after it, however soon that comes, and whether
 * it was moved in the workspace or out of it.
 */
static void case_103_what_the_host_moved_away_cannot_come_back(void)
{
	static const unsigned waits_us[] = {0, 2000, 50000};

	for (size_t i = 0; i < 6; i++) {
		char *name = e2e_text("sub%zu", i);
		char *config = e2e_text("%s/.git/config", name);
		char *to = i % 2 ? e2e_text("%s/away%zu", ws_path(".."), i)
				 : e2e_text("%s.old", ws_path(name));

		host_repository(ws_path(name));
		box_raise(NULL, NULL);
		box_sh("true");
		REQUIRE(rename(ws_path(name), to) == 0, "%m");
		usleep(waits_us[i / 2]);
		box_sh("mkdir -p %s/.git; echo evil >%s", name, config);
		quarantined(config);
		box_end();
	}
}

/* Read-only at one place, and given to be written at another. */
static void case_024_a_name_made_by_another_way_is_seen(void)
{
	host_mkdir(ws_path("keep/ro"));
	host_write(ws_path("keep/ro/.npmrc"), "a=b\n");
	box_raise(e2e_text("{\"from\":\"%s\",\"to\":\"/workspace/keep/ro\","
			   "\"access\":\"read\"},{\"from\":\"%s\","
			   "\"to\":\"/rw\",\"access\":\"write\"}",
			   ws_path("keep/ro"), ws_path("keep")), NULL);
	ATTACK("EROFS|EACCES", "create /workspace/keep/ro/.envrc");
	ATTACK("EROFS|EACCES", "write /rw/ro/.npmrc");
	box_sh("echo evil >/rw/ro/.envrc");
	quarantined("keep/ro/.envrc");
	CHECK(is_name(ws_path("keep/ro/.npmrc")), "the host's own is gone");
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_019_a_link_cannot_stand_for_a_directory_above),
		CASE(case_009_a_git_file_cannot_name_a_directory_of_the_agent),
		CASE(case_009_a_linked_work_tree_can_be_used),
		CASE(case_009_a_missing_head_hides_no_repository),
		CASE(case_011_a_bare_repository_has_no_configuration),
		CASE(case_103_a_repository_that_the_host_moves_stays_whole),
		CASE(case_103_what_the_host_moved_away_cannot_come_back),
		CASE(case_024_a_name_made_by_another_way_is_seen),
		CASE(case_014_nothing_is_hidden_in_git_itself),
		CASE(case_014_a_mode_hides_nothing),
		CASE(case_014_a_plant_does_not_keep_the_next_box),
		CASE(case_014_depth_hides_nothing_and_blocks_nobody),
		CASES_END,
	};

	return e2e_main(argc, argv, cases);
}
