/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protected paths that are there when the box is raised: no way to change,
 * replace, alias or move them away; and what is next to them stays usable.
 * Rows 1, 3-10, 12, 14-30 and 103 of tests/e2e/SANDBOX-CASES.md.
 */
#include "box.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REFUSED "EROFS|EACCES"
#define PINNED "EBUSY|EXDEV"

static char *git_before;

/* A box over the repository; .git is what must stay as it is. */
static void raise_over_git(void)
{
	git_before = host_tree(ws_path(".git/hooks"));
	box_raise(NULL, NULL);
	/* the box can write at all: otherwise every refusal is worthless */
	ATTACK("OK", "create /workspace/.git/ORIG_HEAD");
	ATTACK("OK", "create /workspace/src/new.c");
}

static void git_is_unchanged(void)
{
	host_same_tree(".git/hooks", git_before,
		       host_tree(ws_path(".git/hooks")));
	CHECK(strstr(host_read(ws_path(".git/config")), "Ada"),
	      ".git/config was replaced");
	CHECK(!strstr(host_read(ws_path(".git/config")), "evil"),
	      ".git/config was written");
}

static void case_001_hook_cannot_be_planted(void)
{
	raise_over_git();
	CONTROL("OK", "create %s", ws_path(".git/planted-by-control"));
	ATTACK(REFUSED, "create /workspace/.git/hooks/pre-commit");
	ATTACK(REFUSED, "write /workspace/.git/hooks/pre-commit.sample");
	ATTACK("EROFS|EACCES", "mkdir /workspace/.git/hooks/x");
	ATTACK(REFUSED, "symlink /bin/true /workspace/.git/hooks/post-merge");
	ATTACK("EROFS|EACCES|EXDEV", "rename /workspace/src/new.c "
	       "/workspace/.git/hooks/pre-push");
	ATTACK(REFUSED, "unlink /workspace/.git/hooks/pre-commit.sample");
	git_is_unchanged();
}

static void case_003_git_config_cannot_set_hooks_path(void)
{
	struct outcome o;

	raise_over_git();
	ATTACK(REFUSED, "write /workspace/.git/config");
	ATTACK(REFUSED, "overwrite /workspace/.git/config");
	git_is_unchanged();
	if (!host_has("git"))
		e2e_skip("git is not installed");
	o = BOX_RUN("git", "-c", "safe.directory=*", "config",
		    "core.hooksPath", "evil");
	CHECK(o.status > 0, "git config succeeded: %s%s", o.out, o.err);
	CHECK(strstr(o.err, "config"), "unexpected reason: %s", o.err);
	git_is_unchanged();
}

static void case_004_config_cannot_be_renamed_over(void)
{
	raise_over_git();
	ATTACK("EBUSY|EROFS|EACCES|EXDEV",
	       "lock-and-rename /workspace/.git/config");
	ATTACK("EBUSY|EROFS|EACCES|EXDEV",
	       "rename /workspace/src/new.c /workspace/.git/config");
	ATTACK("EBUSY|EROFS|EACCES", "unlink /workspace/.git/config");
	ATTACK("OK", "lock-and-rename /workspace/.git/ORIG_HEAD");
	git_is_unchanged();
}

static void case_005_git_directory_cannot_be_moved_away(void)
{
	raise_over_git();
	ATTACK(PINNED, "rename /workspace/.git /workspace/.git2");
	ATTACK(PINNED, "rename /workspace/.git/hooks /workspace/.git/hooks2");
	ATTACK("OK", "rename /workspace/src /workspace/src2");
	git_is_unchanged();
}

static void case_006_no_ancestor_can_be_moved_away(void)
{
	host_repository(ws_path("a/b/repo"));
	raise_over_git();
	ATTACK(PINNED, "rename /workspace/a/b/repo/.git "
	       "/workspace/a/b/repo/.git2");
	ATTACK(PINNED, "rename /workspace/a/b/repo /workspace/a/b/repo2");
	ATTACK(PINNED, "rename /workspace/a/b /workspace/a/b2");
	ATTACK(PINNED, "rename /workspace/a /workspace/a2");
	ATTACK("EBUSY|EXDEV|EROFS|EACCES", "rename /workspace /workspace2");
	ATTACK("EROFS|EACCES", "create /workspace/a/b/repo/.git/hooks/x");
	CHECK(host_exists(ws_path("a/b/repo/.git/hooks")), "moved");
	git_is_unchanged();
}

static void case_007_git_cannot_be_exchanged_with_a_decoy(void)
{
	host_mkdir(ws_path("decoy/hooks"));
	raise_over_git();
	ATTACK(PINNED, "exchange /workspace/decoy /workspace/.git");
	ATTACK("EBUSY|EXDEV|EROFS", "exchange /workspace/decoy/hooks "
	       "/workspace/.git/hooks");
	ATTACK("OK", "exchange /workspace/decoy /workspace/src");
	git_is_unchanged();
}

static void case_008_git_directory_cannot_become_a_file(void)
{
	host_write(ws_path("gitfile"), "gitdir: ./evil\n");
	raise_over_git();
	ATTACK(PINNED, "exchange /workspace/gitfile /workspace/.git");
	ATTACK("EBUSY|EXDEV|EISDIR", "rename /workspace/gitfile "
	       "/workspace/.git");
	ATTACK("EBUSY|ENOTEMPTY|EROFS", "rmdir /workspace/.git");
	CONTROL("OK", "exchange %s %s", ws_path("gitfile"), ws_path("src"));
	git_is_unchanged();
}

static void make_worktree(void)
{
	host_repository(ws_path("main"));
	host_write(ws_path("main/.git/worktrees/wt/HEAD"),
		   "ref: refs/heads/wt\n");
	host_write(ws_path("main/.git/worktrees/wt/commondir"), "../..\n");
	host_write(ws_path("main/.git/worktrees/wt/gitdir"),
		   "../../../../wt/.git\n");
	host_write(ws_path("wt/.git"), "gitdir: ../main/.git/worktrees/wt\n");
}

static void case_009_worktree_cannot_reach_common_hooks(void)
{
	char *hooks;

	make_worktree();
	hooks = host_tree(ws_path("main/.git/hooks"));
	raise_over_git();
	ATTACK(REFUSED, "create /workspace/main/.git/hooks/post-checkout");
	ATTACK(REFUSED, "write /workspace/main/.git/config");
	ATTACK("OK", "create /workspace/main/.git/worktrees/wt/index.lock");
	ATTACK("EROFS|EACCES", "overwrite /workspace/wt/.git");
	ATTACK("EBUSY|EROFS|EACCES|EXDEV",
	       "rename /workspace/README /workspace/wt/.git");
	host_same_tree("common hooks", hooks,
		       host_tree(ws_path("main/.git/hooks")));
}

/* The common directory lies outside the workspace, mounted by the policy. */
static void case_009_worktree_with_a_common_directory_elsewhere(void)
{
	const char *common = host_path("common");

	host_repository(common);
	host_write(host_path("common/.git/worktrees/wt/commondir"), "../..\n");
	host_write(host_path("common/.git/worktrees/wt/HEAD"),
		   "ref: refs/heads/wt\n");
	host_write(ws_path("wt/.git"),
		   e2e_text("gitdir: %s/.git/worktrees/wt\n", common));
	box_raise(e2e_text("{\"from\":\"%s\",\"to\":\"%s\","
			   "\"access\":\"write\"}", common, common), NULL);
	ATTACK("OK", "create %s/.git/worktrees/wt/index.lock", common);
	ATTACK(REFUSED, "create %s/.git/hooks/post-checkout", common);
	ATTACK(REFUSED, "write %s/.git/config", common);
	CHECK(!host_exists(host_path("common/.git/hooks/post-checkout")),
	      "a hook was planted in the common directory");
}

static void case_010_submodule_hooks_are_protected(void)
{
	host_repository(ws_path("t"));
	host_mkdir(ws_path(".git/modules"));
	REQUIRE(rename(ws_path("t/.git"), ws_path(".git/modules/x")) == 0,
		"%m");
	host_write(ws_path("x/.git"), "gitdir: ../.git/modules/x\n");
	raise_over_git();
	ATTACK(REFUSED, "create /workspace/.git/modules/x/hooks/post-checkout");
	ATTACK(REFUSED, "write /workspace/.git/modules/x/config");
	ATTACK(PINNED, "rename /workspace/.git/modules /workspace/.git/m2");
	ATTACK(PINNED, "rename /workspace/.git/modules/x "
	       "/workspace/.git/modules/y");
	ATTACK("OK", "create /workspace/.git/modules/x/index.lock");
	git_is_unchanged();
}

static void case_012_filters_need_a_config_that_is_denied(void)
{
	raise_over_git();
	ATTACK("OK", "create /workspace/.gitattributes");
	ATTACK(REFUSED, "write /workspace/.git/config");
	ATTACK("EBUSY|EROFS|EACCES|EXDEV",
	       "lock-and-rename /workspace/.git/config");
	git_is_unchanged();
}

static const char *const present[] = {
	".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile",
	".zshenv", ".envrc", ".mcp.json", ".vscode/tasks.json",
	".vscode/settings.json", ".idea/workspace.xml",
	".claude/settings.json", ".claude/settings.local.json",
	".codex/config.toml", ".cursor/mcp.json", ".gemini/settings.json",
};
#define PRESENT_COUNT (sizeof(present) / sizeof(*present))

static void case_014_present_configuration_is_denied(void)
{
	for (size_t i = 0; i < PRESENT_COUNT; i++)
		host_write(ws_path(present[i]), "{}\n");
	raise_over_git();
	for (size_t i = 0; i < PRESENT_COUNT; i++) {
		ATTACK(REFUSED, "write /workspace/%s", present[i]);
		ATTACK("EBUSY|EROFS|EACCES", "unlink /workspace/%s",
		       present[i]);
		ATTACK("EBUSY|EROFS|EACCES|EXDEV",
		       "lock-and-rename /workspace/%s", present[i]);
		CHECK(strcmp(host_read(ws_path(present[i])), "{}\n") == 0,
		      "%s was changed", present[i]);
	}
	ATTACK(PINNED, "rename /workspace/.vscode /workspace/.vscode2");
	ATTACK(PINNED, "rename /workspace/.claude /workspace/.claude2");
}

static void case_015_dangling_symlink_is_protected(void)
{
	host_symlink("nowhere", ws_path(".envrc"));
	raise_over_git();
	ATTACK("EROFS|EACCES|ELOOP|ENOENT|EBUSY",
	       "overwrite /workspace/.envrc");
	ATTACK("EBUSY|EROFS|EACCES|EXDEV",
	       "link-replace evil /workspace/.envrc");
	ATTACK("EBUSY|EROFS|EACCES", "unlink /workspace/.envrc");
	box_end();
	CHECK(strncmp(host_attack("stat %s", ws_path(".envrc")), "OK", 2) == 0,
	      "the link is gone");
	CHECK(!host_exists(ws_path("nowhere")), "made through the link");
}

static void case_016_hooks_linked_to_a_shared_directory(void)
{
	host_write(ws_path("shared-hooks/pre-push"), "#!/bin/sh\n");
	REQUIRE(rename(ws_path(".git/hooks"), ws_path("old-hooks")) == 0,
		"%m");
	host_symlink("../shared-hooks", ws_path(".git/hooks"));
	box_raise(NULL, NULL);
	ATTACK("OK", "create /workspace/src/new.c");
	ATTACK(REFUSED, "create /workspace/.git/hooks/pre-commit");
	ATTACK(REFUSED, "create /workspace/shared-hooks/pre-commit");
	ATTACK(REFUSED, "write /workspace/shared-hooks/pre-push");
	ATTACK(PINNED, "rename /workspace/shared-hooks /workspace/s2");
	ATTACK("EBUSY|EROFS|EACCES|EXDEV",
	       "link-replace ../evil /workspace/.git/hooks");
}

static void case_017_dotfile_linked_to_outside(void)
{
	host_write(host_path("store/envrc"), "export A=1\n");
	host_symlink(host_path("store/envrc"), ws_path(".envrc"));
	raise_over_git();
	ATTACK("EROFS|EACCES|ENOENT|ELOOP", "write /workspace/.envrc");
	ATTACK("EROFS|EACCES|ENOENT|ELOOP", "overwrite /workspace/.envrc");
	ATTACK("EBUSY|EROFS|EACCES|EXDEV",
	       "link-replace evil /workspace/.envrc");
	CHECK(strcmp(host_read(host_path("store/envrc")),
		     "export A=1\n") == 0, "written through the link");
}

/* A loop is refused by name, or protected as it is: never a crash. */
static void case_018_symlink_loops_are_named(void)
{
	int32_t code;
	char *where, *message;

	box_needs_namespaces();
	host_symlink(".envrc", ws_path(".envrc"));
	for (int i = 0; i < 45; i++)
		host_symlink(e2e_text("c%d", i + 1),
			     host_path("chain/c%d", i));
	host_write(host_path("chain/c45"), "end\n");
	if (box_try(box_document("workspace", NULL, NULL), &code, &where,
		    &message)) {
		ATTACK("EBUSY|EROFS|EACCES|EXDEV",
		       "link-replace evil /workspace/.envrc");
		box_end();
	} else {
		CHECK(strstr(message, ".envrc") || strstr(where, ".envrc"),
		      "the error does not name the path: %s: %s", where,
		      message);
	}
	for (int i = 0; i < 2; i++) {
		const char *from = i ? host_path("chain/c0") :
				   ws_path(".envrc");

		CHECK(!box_try(box_document(
				"workspace", e2e_text(
				"{\"from\":\"%s\",\"to\":\"/chain\","
				"\"access\":\"read\"}", from), NULL),
			       &code, &where, &message), "raised over a loop");
		CHECK(strstr(message, from) || strstr(where, "/mounts"),
		      "the error does not name %s: %s: %s", from, where,
		      message);
		box_end();
	}
}

static void case_019_protected_symlink_cannot_be_replaced(void)
{
	host_write(ws_path("real-envrc"), "export A=1\n");
	host_symlink("real-envrc", ws_path(".envrc"));
	raise_over_git();
	CONTROL("OK", "link-replace x %s", ws_path("src/link"));
	ATTACK("EBUSY|EROFS|EACCES|EXDEV",
	       "link-replace evil /workspace/.envrc");
	ATTACK("EBUSY|EROFS|EACCES|EXDEV",
	       "rename /workspace/README /workspace/.envrc");
	ATTACK("EROFS|EACCES", "write /workspace/.envrc");
	ATTACK("EROFS|EACCES", "write /workspace/real-envrc");
}

static void case_020_no_hard_link_to_a_protected_file(void)
{
	raise_over_git();
	CONTROL("OK", "link %s %s", ws_path("README"), ws_path("README2"));
	ATTACK("EXDEV|EROFS|EPERM|EACCES",
	       "link /workspace/.git/config /workspace/config2");
	ATTACK("ENOENT", "write /workspace/config2");
	ATTACK("OK", "link /workspace/Makefile /workspace/Makefile2");
	git_is_unchanged();
}

static bool reported(const char *name)
{
	return box_event("created", name, 0) ||
	       box_event("quarantined", name, 0) ||
	       strstr(box_walls(), name);
}

/* An alias made before the start cannot be closed; it is reported. */
static void case_021_existing_hard_link_is_reported(void)
{
	host_write(host_path("store/file"), "of the host\n");
	REQUIRE(link(host_path("store/file"), ws_path("alias")) == 0, "%m");
	box_raise(NULL, NULL);
	box_attack("write /workspace/alias");
	CHECK(!strstr(host_read(host_path("store/file")), "evil") ||
	      reported("alias"),
	      "a file outside was written through alias, unreported");
}

static void case_021_hard_link_of_a_protected_file(void)
{
	REQUIRE(link(ws_path(".git/config"), ws_path("alias")) == 0, "%m");
	box_raise(NULL, NULL);
	ATTACK("OK", "create /workspace/src/new.c");
	box_attack("write /workspace/alias");
	CHECK(!strstr(host_read(ws_path(".git/config")), "evil") ||
	      reported("alias") || reported(".git/config"),
	      ".git/config was written through alias, unreported");
}

static void case_022_tmpfile_cannot_be_linked_into_hooks(void)
{
	raise_over_git();
	ATTACK("OK", "tmpfile /workspace/src /workspace/src/linked");
	ATTACK("EROFS|EACCES",
	       "tmpfile /workspace/.git/hooks /workspace/.git/hooks/a");
	ATTACK("EROFS|EACCES|EXDEV",
	       "tmpfile /workspace/src /workspace/.git/hooks/pre-commit");
	ATTACK("EROFS|EACCES|EXDEV",
	       "tmpfile /workspace/.git /workspace/.git/hooks/pre-commit");
	git_is_unchanged();
}

static void case_023_proc_paths_lead_nowhere_else(void)
{
	raise_over_git();
	ATTACK("OK", "write /proc/self/root/workspace/src/new.c");
	ATTACK(REFUSED, "write /proc/self/root/workspace/.git/config");
	ATTACK(REFUSED, "create /proc/self/cwd/.git/hooks/pre-commit");
	ATTACK(REFUSED, "create /proc/self/cwd/src/../.git/hooks/x");
	ATTACK(REFUSED, "proc-fd-write /workspace/.git/config");
	ATTACK("OK", "proc-fd-write /workspace/README");
	git_is_unchanged();
}

static void case_024_alias_of_the_same_inode_is_protected(void)
{
	git_before = host_tree(ws_path(".git/hooks"));
	box_raise(e2e_text("{\"from\":\"%s\",\"to\":\"/alias\","
			   "\"access\":\"write\"}", ws_path("")), NULL);
	ATTACK("OK", "create /alias/src/new.c");
	ATTACK(REFUSED, "write /alias/.git/config");
	ATTACK(REFUSED, "create /alias/.git/hooks/pre-commit");
	ATTACK(PINNED, "rename /alias/.git /alias/.git2");
	git_is_unchanged();
}

/* Another mount of a part takes nothing away where the workspace shows it. */
static void case_024_another_mount_takes_no_protection_away(void)
{
	host_repository(ws_path("sub"));
	host_write(ws_path("other/.envrc"), "export A=1\n");
	git_before = host_tree(ws_path(".git/hooks"));
	box_raise(e2e_text("{\"from\":\"%s\",\"to\":\"/ro\","
			   "\"access\":\"read\"},{\"from\":\"%s\","
			   "\"to\":\"/rw\",\"access\":\"write\"}",
			   ws_path("sub"), ws_path("other")), NULL);
	ATTACK("OK", "create /workspace/sub/new.c");
	ATTACK(REFUSED, "create /workspace/sub/.git/hooks/pre-commit");
	ATTACK(REFUSED, "write /workspace/sub/.git/config");
	ATTACK(PINNED, "rename /workspace/sub /workspace/sub2");
	ATTACK("OK", "create /rw/new.c");
	ATTACK(REFUSED, "write /rw/.envrc");
	ATTACK(REFUSED, "write /workspace/other/.envrc");
	git_is_unchanged();
}

static void case_026_spellings_are_all_the_same_path(void)
{
	static const char *const spellings[] = {
		"/workspace//.git//hooks//x", "/workspace/./.git/./hooks/./x",
		"/workspace/src/../.git/hooks/x", "/workspace/.git/../.git/"
		"hooks/x", "//workspace/.git/hooks/x",
		"/../workspace/.git/hooks/x",
	};

	raise_over_git();
	for (size_t i = 0; i < sizeof(spellings) / sizeof(*spellings); i++)
		ATTACK(REFUSED, "create %s", spellings[i]);
	ATTACK("EROFS|EACCES|EISDIR", "create /workspace/.git/hooks/x/");
	/* what only looks like it is another name here, and harmless */
	ATTACK("OK", "mkdir /workspace/.git\xe2\x80\x8c");
	git_is_unchanged();
}

static void case_027_attributes_of_protected_files(void)
{
	raise_over_git();
	ATTACK("EROFS|EACCES", "chmod /workspace/.git/config 0777");
	ATTACK("EROFS|EACCES", "chmod /workspace/.git/hooks/pre-commit.sample "
	       "0777");
	ATTACK("EROFS|EACCES", "setxattr /workspace/.git/config");
	ATTACK("EROFS|EACCES", "utimes /workspace/.git/config");
	ATTACK("EROFS|EACCES", "chown /workspace/.git/config");
	ATTACK("EROFS|EACCES|ENOTTY|EPERM|EOPNOTSUPP",
	       "setflags /workspace/.git/config");
	ATTACK("OK", "chmod /workspace/README 0755");
	ATTACK("OK", "utimes /workspace/README");
	ATTACK("OK|ENOTSUP|EOPNOTSUPP", "setxattr /workspace/README");
	git_is_unchanged();
}

static void case_028_protected_files_cannot_be_truncated(void)
{
	raise_over_git();
	ATTACK(REFUSED, "truncate /workspace/.git/config");
	ATTACK(REFUSED, "ftruncate /workspace/.git/config");
	ATTACK(REFUSED, "open-truncate /workspace/.git/config");
	ATTACK(REFUSED, "fallocate /workspace/.git/config");
	ATTACK("OK", "fallocate /workspace/README");
	ATTACK("OK", "open-truncate /workspace/README");
	ATTACK("OK", "truncate /workspace/README");
	git_is_unchanged();
}

static void case_029_no_writable_mapping(void)
{
	raise_over_git();
	ATTACK("OK", "mmap-write /workspace/Makefile");
	ATTACK("EACCES|EROFS|EPERM", "mmap-write /workspace/.git/config");
	git_is_unchanged();
}

/* Case 37's cover: what leads to it stays where it is. */
static void case_037_what_leads_to_a_cover_cannot_be_moved(void)
{
	host_write(ws_path("sub/.env"), "secret\n");
	host_write(ws_path("keep/ro/file"), "mine\n");
	box_raise(e2e_text("{\"from\":\"%s\",\"to\":\"/workspace/keep/ro\","
			   "\"access\":\"read\"},{\"to\":"
			   "\"/workspace/sub/.env\",\"access\":\"hide\"}",
			   ws_path("keep/ro")), NULL);
	ATTACK("OK", "mkdir /workspace/.vscode2");
	ATTACK(PINNED, "rename /workspace/sub /workspace/sub2");
	ATTACK(PINNED, "rename /workspace/keep /workspace/.vscode2/keep");
	ATTACK("EROFS|EACCES", "create /workspace/keep/ro/x");
	ATTACK("OK", "create /workspace/keep/x");
	/* the host saves it by a rename: it is covered again */
	host_write(ws_path("sub/new"), "secret two\n");
	REQUIRE(rename(ws_path("sub/new"), ws_path("sub/.env")) == 0, "%m");
	CHECK(!strstr(box_sh("cat sub/.env").out, "secret"),
	      "a hidden file was read");
	CHECK(host_exists(ws_path("keep/ro/file")), "moved away");
}

/* What it covers is made anew while a command runs, and again, and again. */
static void case_037_a_cover_comes_back_each_time(void)
{
	int fds[2];
	agentbox_process *p;
	char *line;

	REQUIRE(pipe(fds) == 0, "%m");
	host_write(ws_path("sub/.env"), "secret\n");
	/* what is made beside it would be told, and looked at */
	host_write(ws_path("go"), "not yet\n");
	box_raise("{\"to\":\"/workspace/sub/.env\",\"access\":\"hide\"}",
		  NULL);
	p = BOX_START(fds[1], "sh", "-c",
		      "echo ready; while grep -q not go; do sleep .02; done; "
		      "i=0; while grep -q secret sub/.env 2>/dev/null; do "
		      "i=$((i + 1)); [ $i -lt 200 ] || exec echo read; "
		      "sleep .02; done; echo covered");
	line = e2e_line(fds[0]);
	CHECK(!strcmp(line, "ready"), "%s", line);
	for (int i = 0; i < 5; i++) {
		REQUIRE(unlink(ws_path("sub/.env")) == 0, "%m");
		e2e_sleep_ms(30);
		host_write(ws_path("sub/.env"), "secret\n");
		e2e_sleep_ms(30);
	}
	host_write(ws_path("go"), "now\n");
	line = e2e_line(fds[0]);
	CHECK(!strcmp(line, "covered"), "a hidden file was read: %s", line);
	agentbox_process_free(p);
	close(fds[0]);
	close(fds[1]);
}

static void case_103_nested_repository_cannot_be_moved(void)
{
	char *hooks;

	host_repository(ws_path("sub"));
	hooks = host_tree(ws_path("sub/.git"));
	raise_over_git();
	ATTACK("EBUSY", "rename /workspace/sub /workspace/sub2");
	ATTACK("EBUSY", "rename /workspace/sub/.git /workspace/sub/.g");
	ATTACK(REFUSED, "create /workspace/sub/.git/hooks/pre-commit");
	ATTACK(REFUSED, "write /workspace/sub/.git/config");
	host_same_tree("sub/.git", hooks, host_tree(ws_path("sub/.git")));
	ATTACK("OK", "create /workspace/sub/file");
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_001_hook_cannot_be_planted),
		CASE(case_003_git_config_cannot_set_hooks_path),
		CASE(case_004_config_cannot_be_renamed_over),
		CASE(case_005_git_directory_cannot_be_moved_away),
		CASE(case_006_no_ancestor_can_be_moved_away),
		CASE(case_007_git_cannot_be_exchanged_with_a_decoy),
		CASE(case_008_git_directory_cannot_become_a_file),
		CASE(case_009_worktree_cannot_reach_common_hooks),
		CASE(case_009_worktree_with_a_common_directory_elsewhere),
		CASE(case_010_submodule_hooks_are_protected),
		CASE(case_012_filters_need_a_config_that_is_denied),
		CASE(case_014_present_configuration_is_denied),
		CASE(case_015_dangling_symlink_is_protected),
		CASE(case_016_hooks_linked_to_a_shared_directory),
		CASE(case_017_dotfile_linked_to_outside),
		CASE(case_018_symlink_loops_are_named),
		CASE(case_019_protected_symlink_cannot_be_replaced),
		CASE(case_020_no_hard_link_to_a_protected_file),
		CASE(case_021_existing_hard_link_is_reported),
		CASE(case_021_hard_link_of_a_protected_file),
		CASE(case_022_tmpfile_cannot_be_linked_into_hooks),
		CASE(case_023_proc_paths_lead_nowhere_else),
		CASE(case_024_alias_of_the_same_inode_is_protected),
		CASE(case_024_another_mount_takes_no_protection_away),
		CASE(case_026_spellings_are_all_the_same_path),
		CASE(case_027_attributes_of_protected_files),
		CASE(case_028_protected_files_cannot_be_truncated),
		CASE(case_029_no_writable_mapping),
		CASE(case_037_what_leads_to_a_cover_cannot_be_moved),
		CASE(case_037_a_cover_comes_back_each_time),
		CASE(case_103_nested_repository_cannot_be_moved),
		CASES_END,
	};

	return e2e_main(argc, argv, cases);
}
