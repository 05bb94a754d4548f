/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the scan of a direct workspace protects: real directories, hand-made
 * probe, and the steps that come out. Raising them is for the e2e tests.
 */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agentbox/policy.h"
#include "base/json.h"
#include "base/limits.h"
#include "walls/gitconfig.h"
#include "walls/protect.h"
#include "walls/walls.h"

#include "abtest.h"

#define ID "0123456789abcdef0123456789abcdef"
#define BUILTIN "\"builtin:code-that-runs-later\""

static char dir[256];
static agentbox_context *context;

static void shell(const char *fmt, ...)
{
	char command[2048];
	va_list ap;
	int n = snprintf(command, sizeof(command), "cd '%s' && ", dir);

	va_start(ap, fmt);
	vsnprintf(command + n, sizeof(command) - (size_t)n, fmt, ap);
	va_end(ap);
	ck_assert_int_eq(system(command), 0);
}

static void setup(void)
{
	char *real;

	ab_leak_setup();
	real = realpath(ab_test_tmpdir(), NULL);
	snprintf(dir, sizeof(dir), "%s/protect-XXXXXX", real);
	free(real);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	shell("mkdir w out");
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
}

static void teardown(void)
{
	char command[300];

	agentbox_context_unref(context);
	context = NULL;
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(command), 0);
	ab_leak_teardown();
}

/* The end of a directory's path: its list breaks off at once, one time. */
static const char *broken_list;

struct dirent *__real_readdir(DIR *list);
struct dirent *__wrap_readdir(DIR *list);

struct dirent *__wrap_readdir(DIR *list)
{
	char fd[64], path[512];
	size_t end = broken_list ? strlen(broken_list) : 0;
	ssize_t n;

	snprintf(fd, sizeof(fd), "/proc/self/fd/%d", dirfd(list));
	n = broken_list ? readlink(fd, path, sizeof(path)) : -1;
	if (n < (ssize_t)end || n <= 0 ||
	    memcmp(path + n - end, broken_list, end) != 0)
		return __real_readdir(list);
	broken_list = NULL;
	errno = EIO;
	return NULL;
}

static uint64_t max_entries; /* of the plans of one test */

static json_t *plan_of(const char *protect, const char *mounts, int32_t code,
		       const char *text)
{
	ab_probe p = { .landlock_abi = 7,
		       .seccomp = true,
		       .euid = 1234,
		       .egid = 1234 };
	const ab_compile_input in = { .box_id = ID,
				      .probe = &p,
				      .tier = AB_TIER_FULL,
				      .max_entries = max_entries,
				      .dry = true };
	ab_compiled c = { 0 };
	agentbox_policy *policy = NULL;
	agentbox_error *err = NULL;
	json_t *description;
	char doc[4096];
	int32_t rc;

	snprintf(doc, sizeof(doc),
		 "{\"agentbox\":1,\"require\":[],\"protect\":[%s],"
		 "\"mounts\":[%s],\"workspace\":{\"path\":\"%s/w\","
		 "\"at\":\"/w\",\"mount\":\"direct\"}}",
		 protect, mounts, dir);
	rc = agentbox_policy_parse(context, doc, strlen(doc), &policy, &err);
	ck_assert_msg(rc == 0, "%s", agentbox_error_get_message(err));
	rc = ab_walls_compile(context, policy, &in, &c, &err);
	ck_assert_msg(rc == code, "%s: %s", agentbox_error_name(rc),
		      agentbox_error_get_message(err));
	if (rc)
		ck_assert_msg(strstr(agentbox_error_get_message(err), text) !=
				      NULL,
			      "%s", agentbox_error_get_message(err));
	description = json_incref(c.description);
	ab_compiled_end(&c);
	agentbox_error_free(err);
	agentbox_policy_unref(policy);
	return description;
}

/* Position of a step of this kind, or -1. */
static int find(const json_t *plan, const char *kind, const char *at)
{
	json_t *step;
	size_t i;

	json_array_foreach(json_object_get(plan, "mounts"), i, step) {
		if (strcmp(json_string_value(json_object_get(step, "kind")),
			   kind) == 0 &&
		    strcmp(json_string_value(json_object_get(step, "at")),
			   at) == 0)
			return (int)i;
	}
	return -1;
}

/* Steps of a kind below the workspace. */
static size_t count(const json_t *plan, const char *kind)
{
	json_t *step;
	size_t i, n = 0;

	json_array_foreach(json_object_get(plan, "mounts"), i, step)
		n += strcmp(json_string_value(json_object_get(step, "kind")),
			    kind) == 0 &&
		     strncmp(json_string_value(json_object_get(step, "at")),
			     "/w/", 3) == 0;
	return n;
}

static bool watches(const json_t *plan, const char *pattern)
{
	json_t *watch;
	size_t i;

	json_array_foreach(json_object_get(plan, "watches"), i, watch) {
		if (strcmp(json_string_value(watch), pattern) == 0)
			return true;
	}
	return false;
}

static const char *noted(const json_t *plan, size_t i, const char *key)
{
	return json_string_value(json_object_get(
		json_array_get(json_object_get(plan, "noted"), i), key));
}

static const char *note_of(const json_t *plan, const char *text)
{
	json_t *note;
	size_t i;

	json_array_foreach(json_object_get(plan, "notes"), i, note) {
		if (strstr(json_string_value(note), text))
			return json_string_value(note);
	}
	return NULL;
}

static bool notes(const json_t *plan, const char *text)
{
	return note_of(plan, text) != NULL;
}

#define REPOSITORY_DIR \
	".git/hooks .git/objects hk && echo ref: refs/heads/m > .git/HEAD"
#define REPOSITORY(p) \
	"mkdir -p " p "/hooks " p "/objects && echo ref: refs/heads/m > " p \
	"/HEAD && touch " p "/config"

START_TEST(existing_paths_are_read_only_and_ancestors_pinned_first)
{
	json_t *p;

	shell(REPOSITORY("w/.git") " && mkdir w/.vscode && touch w/.envrc "
				   "w/.vscode/tasks.json w/README");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_ge(find(p, "pin", "/w/.git"), 0);
	ck_assert_int_gt(find(p, "protect", "/w/.git/hooks"),
			 find(p, "pin", "/w/.git"));
	ck_assert_int_gt(find(p, "protect", "/w/.git/config"),
			 find(p, "pin", "/w/.git"));
	ck_assert_int_ge(find(p, "protect", "/w/.envrc"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/.vscode"), 0);
	/* held by the directory above already */
	ck_assert_int_eq(find(p, "protect", "/w/.vscode/tasks.json"), -1);
	ck_assert_int_eq(find(p, "protect", "/w/README"), -1);
	ck_assert_int_eq(find(p, "pin", "/w"), -1);
	ck_assert(watches(p, ".mcp.json") && watches(p, ".git/hooks"));
	ck_assert(watches(p, "**/.git/hooks"));
	json_decref(p);
}
END_TEST

START_TEST(a_nested_repository_is_protected_with_all_its_ancestors)
{
	json_t *p;

	shell(REPOSITORY("w/a/b/.git"));
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_ge(find(p, "pin", "/w/a"), 0);
	ck_assert_int_gt(find(p, "pin", "/w/a/b"), find(p, "pin", "/w/a"));
	ck_assert_int_gt(find(p, "pin", "/w/a/b/.git"),
			 find(p, "pin", "/w/a/b"));
	ck_assert_int_gt(find(p, "protect", "/w/a/b/.git/hooks"),
			 find(p, "pin", "/w/a/b/.git"));
	json_decref(p);
}
END_TEST

START_TEST(a_linked_worktree_leads_to_its_common_directory)
{
	json_t *p;
	char mount[600];

	shell(REPOSITORY("w/main/.git") " && mkdir -p w/main/.git/worktrees/t "
					"w/tree && cd w && "
					"echo 'gitdir: ../main/.git/worktrees/t'"
					" > tree/.git && "
					"echo ../.. > main/.git/worktrees/t/"
					"commondir && "
					"touch main/.git/worktrees/t/HEAD");
	p = plan_of("\".git/hooks\"", "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/tree/.git"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/main/.git/hooks"), 0);
	ck_assert_int_ge(find(p, "protect",
			      "/w/main/.git/worktrees/t/commondir"),
			 0);
	json_decref(p);
	/* the common directory in another writable mount */
	shell("rm -rf w/main w/tree && " REPOSITORY(
		"out/r/.git") " && mkdir -p out/r/.git/worktrees/t w/tree && "
			      "echo 'gitdir: %s/out/r/.git/worktrees/t' > "
			      "w/tree/.git && echo ../.. > "
			      "out/r/.git/worktrees/t/commondir && touch "
			      "out/r/.git/worktrees/t/HEAD",
	      dir);
	snprintf(mount, sizeof(mount),
		 "{\"from\":\"%s/out/r/.git\",\"to\":\"/repo\",\"access\":"
		 "\"write\"}",
		 dir);
	p = plan_of("\".git/hooks\"", mount, 0, "");
	ck_assert_int_ge(find(p, "protect", "/repo/hooks"), 0);
	ck_assert_int_ge(find(p, "protect", "/repo/config"), 0);
	json_decref(p);
}
END_TEST

START_TEST(submodules_and_configured_hook_directories_are_protected)
{
	json_t *p;

	shell(REPOSITORY("w/.git") " && " REPOSITORY(
		"w/.git/modules/lib/x") " && mkdir w/myhooks && "
					"printf '[core]\\n\\thooksPath = "
					"\"myhooks\"\\n[include]\\n path = "
					"../shared.inc ; c\\n' > w/.git/config "
					"&& touch w/shared.inc");
	p = plan_of("\".git/hooks\"", "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/.git/modules/lib/x/hooks"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/.git/modules/lib/x/config"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/myhooks"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/shared.inc"), 0);
	ck_assert(watches(p, ".git/commondir"));
	json_decref(p);
}
END_TEST

START_TEST(links_are_held_and_so_is_what_they_name)
{
	json_t *p;

	shell("mkdir -p w/shared w/real && cd w && ln -s shared/rc .bashrc && "
	      "touch shared/rc && ln -s nowhere .zshrc && ln -s /nix/none "
	      ".profile && ln -s real .vscode && " REPOSITORY("g") " && "
								  "ln -s g "
								  ".git");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/.bashrc"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/shared/rc"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/.zshrc"), 0);
	ck_assert(watches(p, "nowhere"));
	ck_assert_int_ge(find(p, "protect", "/w/.profile"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/real"), 0);
	/* a link for .git: its hooks, not the whole repository */
	ck_assert_int_ge(find(p, "protect", "/w/.git"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/g/hooks"), 0);
	ck_assert_int_eq(find(p, "protect", "/w/g"), -1);
	json_decref(p);
}
END_TEST

START_TEST(hard_links_are_found_and_those_outside_reported)
{
	json_t *p;

	shell("touch w/.envrc && mkdir w/d && ln w/.envrc w/d/other");
	p = plan_of("\".envrc\"", "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/d/other"), 0);
	ck_assert(!notes(p, "hard link"));
	json_decref(p);
	shell("ln w/.envrc out/third");
	p = plan_of("\".envrc\"", "", 0, "");
	ck_assert(notes(p, "hard link"));
	json_decref(p);
}
END_TEST

/* The flags word is not in the description: by the words it has. */
static bool nofollow(const json_t *plan, const char *at)
{
	int i = find(plan, "protect", at);

	return i >= 0 && json_is_false(json_object_get(
				 json_array_get(json_object_get(plan, "mounts"),
						(size_t)i),
				 "follow"));
}

START_TEST(a_dangling_link_is_not_followed_and_its_end_is_watched)
{
	json_t *p;

	shell("cd w && mkdir d && ln -s nowhere .envrc && ln -s ../w/d/x .zshrc "
	      "&& ln -s '%s/w/abs' .bashrc && ln -s a/b/c .profile && touch "
	      "rc && ln -s rc .inputrc && ln -s gone .git",
	      dir);
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert(nofollow(p, "/w/.envrc") && watches(p, "nowhere"));
	ck_assert(nofollow(p, "/w/.zshrc") && watches(p, "d/x"));
	/* or d could be moved and a link put in its place */
	ck_assert_int_ge(find(p, "pin", "/w/d"), 0);
	ck_assert(nofollow(p, "/w/.bashrc") && watches(p, "abs"));
	ck_assert(nofollow(p, "/w/.profile") && watches(p, "a/b/c"));
	ck_assert(nofollow(p, "/w/.git") && watches(p, "gone"));
	ck_assert(!nofollow(p, "/w/.inputrc"));
	ck_assert_int_ge(find(p, "protect", "/w/rc"), 0);
	json_decref(p);
}
END_TEST

START_TEST(every_link_on_the_way_is_held)
{
	json_t *p;

	shell("cd w && mkdir -p r s && touch r/rc && ln -s r d && ln -s d/rc l2 "
	      "&& ln -s l2 .envrc && ln -s s/m1 .zshrc && ln -s m2 s/m1 && "
	      REPOSITORY(".git") " && mkdir hk && ln -s hk hooks && printf "
	      "'[core]\\nhooksPath = hooks\\n' > .git/config");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/.envrc"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/l2"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/d"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/r/rc"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/s/m1"), 0);
	ck_assert(watches(p, "s/m2"));
	/* core.hooksPath through a link */
	ck_assert_int_ge(find(p, "protect", "/w/hooks"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/hk"), 0);
	json_decref(p);
}
END_TEST

START_TEST(what_a_pointer_names_may_not_appear)
{
	json_t *p;

	shell("cd w && mkdir t u && echo 'gitdir: ../store/t' > t/.git && "
	      REPOSITORY("u/.git") " && printf '[core]\\nhooksPath = "
	      "tools/hooks\\n' > u/.git/config");
	p = plan_of("\".git/hooks\"", "", 0, "");
	ck_assert(watches(p, "store/t"));
	ck_assert(watches(p, "u/tools/hooks"));
	json_decref(p);
}
END_TEST

START_TEST(files_with_names_outside_are_noted_and_counted)
{
	json_t *p;

	shell("echo x > out/f && ln out/f w/alias && mkdir -p w/a/b && for i in "
	      "$(seq 1 20); do echo > out/$i; ln out/$i w/a/b/n$i; done; "
	      "echo y > w/in && ln w/in w/in2");
	p = plan_of("\".envrc\"", "", 0, "");
	ck_assert(notes(p, "21 files"));
	ck_assert(notes(p, "'a/b/n1'"));
	ck_assert(!notes(p, "'in"));
	ck_assert(!notes(p, "protected files"));
	json_decref(p);
	shell("rm -r w/a");
	p = plan_of("\".envrc\"", "", 0, "");
	ck_assert(notes(p, "1 files of the workspace") && notes(p, "'alias'"));
	json_decref(p);
	/* of a protected file */
	shell("ln -f out/f w/.envrc");
	p = plan_of("\".envrc\"", "", 0, "");
	ck_assert(notes(p, "protected files"));
	ck_assert_int_ge(find(p, "protect", "/w/alias"), 0);
	json_decref(p);
}
END_TEST

START_TEST(other_names_of_protected_files_are_held_at_any_depth)
{
	json_t *p;

	shell("cd w && mkdir -p .vscode/a/b x/y " REPOSITORY_DIR " && touch "
	      ".vscode/a/b/deep && ln .vscode/a/b/deep x/y/name && touch "
	      "hk/h && ln hk/h x/h && printf '[core]\\nhooksPath = hk\\n' > "
	      ".git/config");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/x/y/name"), 0);
	ck_assert_int_ge(find(p, "pin", "/w/x/y"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/x/h"), 0);
	ck_assert(!notes(p, "hard link"));
	json_decref(p);
}
END_TEST

/* Nobody knows which names what is in there has elsewhere. */
START_TEST(behind_a_closed_door_any_file_may_have_another_name)
{
	json_t *p;

	shell("cd w && mkdir -p .vscode/closed .vscode/open d && "
	      "touch .vscode/closed/x .vscode/open/y d/whole && "
	      "ln .vscode/closed/x d/alias && ln d/whole d/again && "
	      "chmod 0 .vscode/closed");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/d/alias"), 0);
	/* both names of it are known, and nothing protects one */
	ck_assert_int_eq(find(p, "protect", "/w/d/whole"), -1);
	ck_assert_int_eq(find(p, "protect", "/w/d/again"), -1);
	ck_assert(geteuid() == 0 || notes(p, "cannot be looked into"));
	json_decref(p);
	shell("chmod 700 w/.vscode/closed; rm -rf w/.vscode w/d");
	/* too deep for the walk, and for the second look at what it holds */
	shell("cd w && d=.vscode; for i in $(seq 140); do d=$d/d; done; "
	      "mkdir -p $d other && touch $d/x && ln $d/x other/alias");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/other/alias"), 0);
	json_decref(p);
}
END_TEST

static bool put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return good;
}

/* An ordinary user is root of a user namespace of his own for it. */
static bool enter_mount_namespace(void)
{
	char uids[32], gids[32];

	if (geteuid() == 0)
		return unshare(CLONE_NEWNS) == 0;
	snprintf(uids, sizeof(uids), "0 %d 1", (int)geteuid());
	snprintf(gids, sizeof(gids), "0 %d 1", (int)getegid());
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
	       put_file("/proc/self/setgroups", "deny") &&
	       put_file("/proc/self/uid_map", uids) &&
	       put_file("/proc/self/gid_map", gids);
}

START_TEST(a_mount_below_the_workspace_is_looked_through)
{
	json_t *p;
	int status;
	pid_t pid;

	shell("mkdir -p w/m w/d");
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (!enter_mount_namespace() ||
		    mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
		    chdir(dir) || mount("none", "w/m", "tmpfs", 0, NULL))
			_exit(77);
		shell("mkdir -p w/m/n\\ n w/m/s/.git/hooks && touch "
		      "w/m/.envrc w/d/.envrc w/d/x && ln w/m/.envrc "
		      "w/m/alias");
		if (mount("none", "w/m/n n", "tmpfs", 0, NULL))
			_exit(77);
		shell("touch 'w/m/n n/.envrc' && mkdir w/m/c");
		/* root reads it all the same */
		if (mount("none", "w/m/c", "tmpfs", 0, "mode=0"))
			_exit(77);
		p = plan_of("\".envrc\",\".git/hooks\"", "", 0, "");
		_exit(!(notes(p, "'m' is a mount") &&
			notes(p, "'m/n n' is a mount") &&
			find(p, "protect", "/w/m/.envrc") >= 0 &&
			find(p, "protect", "/w/m/alias") >= 0 &&
			find(p, "protect", "/w/m/n n/.envrc") >= 0 &&
			(geteuid() == 0 || find(p, "protect", "/w/m/c") >= 0) &&
			find(p, "protect", "/w/m/s/.git/hooks") >= 0 &&
			find(p, "pin", "/w/m/s/.git") >= 0 &&
			find(p, "protect", "/w/d/.envrc") >= 0));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		ab_test_skip("a_mount_below_the_workspace",
			     "no mount namespace here");
	else
		ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* No pattern names what is in there, and the second look at it was left out. */
START_TEST(a_tree_that_is_too_large_ends_no_look_for_other_names)
{
	char mount_of_out[PATH_MAX + 64];
	json_t *p;

	snprintf(mount_of_out, sizeof(mount_of_out),
		 "{\"from\":\"%s/out\",\"to\":\"/out\",\"access\":"
		 "\"write\"}", dir);
	shell(REPOSITORY("w/.git") " && mkdir -p w/myhooks w/d out && "
	      "printf '[core]\n\thooksPath = myhooks\n' > w/.git/config && "
	      "touch w/myhooks/x && ln w/myhooks/x w/d/alias && "
	      "for i in $(seq 600); do : > out/f$i; done");
	max_entries = 300;
	p = plan_of("\".git/hooks\"", mount_of_out, 0, "");
	ck_assert(notes(p, "is read-only in this box"));
	ck_assert_int_ge(find(p, "protect", "/w/myhooks"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/d/alias"), 0);
	json_decref(p);
	max_entries = 0;
}
END_TEST

START_TEST(a_mount_below_another_tree_is_looked_through)
{
	char mount_of_out[PATH_MAX + 64];
	json_t *p;
	int status;
	pid_t pid;

	snprintf(mount_of_out, sizeof(mount_of_out),
		 "{\"from\":\"%s/out\",\"to\":\"/out\",\"access\":"
		 "\"write\"}", dir);
	shell("mkdir -p w/d out/m");
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (!enter_mount_namespace() ||
		    mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
		    chdir(dir) || mount("none", "out/m", "tmpfs", 0, NULL))
			_exit(77);
		shell("touch out/.envrc out/m/.envrc w/.envrc && "
		      "ln out/m/.envrc out/m/alias");
		p = plan_of("\".envrc\"", mount_of_out, 0, "");
		_exit(!(notes(p, "'m' is a mount of its own below /out") &&
			find(p, "protect", "/out/.envrc") >= 0 &&
			find(p, "protect", "/out/m/.envrc") >= 0 &&
			find(p, "protect", "/out/m/alias") >= 0));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		ab_test_skip("a_mount_below_another_tree",
			     "no mount namespace here");
	else
		ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* An agent can make them: an error would be its way to block the host. */
START_TEST(what_is_too_deep_is_held_as_a_whole)
{
	char deep[8 + 2 * AB_MAX_SCAN_DEPTH] = "/w";
	json_t *p;

	shell("d=w; for i in $(seq 1 %d); do d=$d/d; done; mkdir -p $d; "
	      "touch $d/.envrc w/d/.envrc",
	      AB_MAX_SCAN_DEPTH + 1);
	p = plan_of("\".envrc\"", "", 0, "");
	ck_assert(notes(p, "AB_MAX_SCAN_DEPTH"));
	ck_assert_int_ge(find(p, "protect", "/w/d/.envrc"), 0);
	for (size_t i = 0; i < AB_MAX_SCAN_DEPTH; i++)
		memcpy(deep + 2 + 2 * i, "/d", 3);
	ck_assert_int_ge(find(p, "protect", deep), 0);
	json_decref(p);
}
END_TEST

START_TEST(what_has_too_long_a_path_is_held_as_a_whole)
{
	char name[251] = "", path[300];
	json_t *p;
	int fd;

	memset(name, 'n', 250);
	snprintf(path, sizeof(path), "%s/w", dir);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 16; i++) {
		int next;

		ck_assert_int_eq(mkdirat(fd, name, 0755), 0);
		next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ck_assert_int_ge(next, 0);
		close(fd);
		fd = next;
	}
	close(fd);
	p = plan_of("\".envrc\"", "", 0, "");
	ck_assert(notes(p, "too long"));
	/* one thing is held, the directory where it gets too long */
	ck_assert_uint_eq(count(p, "protect"), 1);
	json_decref(p);
}
END_TEST

START_TEST(names_among_the_objects_of_git_are_held)
{
	json_t *p;

	shell("mkdir -p w/.git/objects/info w/.git/refs/x && "
	      "touch w/.git/objects/info/alternates w/.git/refs/x/.envrc");
	p = plan_of("\"builtin:code-that-runs-later\"", "", 0, "");
	ck_assert_int_ge(
		find(p, "protect", "/w/.git/objects/info/alternates"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/.git/refs/x/.envrc"), 0);
	json_decref(p);
}
END_TEST

START_TEST(what_its_owner_has_closed_is_held_as_a_whole)
{
	json_t *p;

	/* root reads it all the same */
	shell("mkdir -p w/c && touch w/c/.envrc && chmod 0 w/c");
	p = plan_of("\".envrc\"", "", 0, "");
	ck_assert_int_ge(find(p, "protect",
			      geteuid() ? "/w/c" : "/w/c/.envrc"), 0);
	json_decref(p);
	shell("chmod 700 w/c");
}
END_TEST

/* What the plan does with the workspace itself. */
static bool is_writable(const json_t *plan)
{
	int at = find(plan, "bind", "/w");
	const json_t *step =
		json_array_get(json_object_get(plan, "mounts"), (size_t)at);

	ck_assert_int_ge(at, 0);
	return !strcmp(json_string_value(json_object_get(step, "access")),
		       "write");
}

START_TEST(more_protected_paths_than_the_bound_hold_their_directory)
{
	json_t *p;

	shell("mkdir -p w/src/m w/lib && cd w/src/m && "
	      "seq 70 | xargs mkdir && for i in *; do "
	      "for j in $(seq 1 70); do : > $i/$j.lock; done; done; "
	      "touch ../a.lock ../../lib/b.lock");
	p = plan_of("\"*.lock\"", "", 0, "");
	/* what has too many, and nothing else */
	ck_assert_int_ge(find(p, "protect", "/w/src/m"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/src/a.lock"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/lib/b.lock"), 0);
	ck_assert_uint_eq(count(p, "protect"), 3);
	ck_assert(is_writable(p));
	ck_assert(notes(p, "AB_MAX_PROTECTED") && notes(p, "'src/m'"));
	json_decref(p);
}
END_TEST

START_TEST(deep_paths_count_with_what_pins_them)
{
	json_t *p;

	shell("mkdir w/d && cd w/d && seq 400 | sed "
	      "'s,$,/a/b/c/d/e/f/g/h/i/j,' | xargs mkdir -p && for i in *; do "
	      ": > $i/a/b/c/d/e/f/g/h/i/j/x.lock; done");
	p = plan_of("\"*.lock\"", "", 0, "");
	ck_assert_uint_le(count(p, "protect") + count(p, "pin"), 4096);
	ck_assert_int_ge(find(p, "protect", "/w/d"), 0);
	ck_assert(is_writable(p));
	json_decref(p);
}
END_TEST

START_TEST(a_directory_of_too_many_entries_is_held_as_a_whole)
{
	json_t *p;

	/* the big one comes first or last, as the kernel likes */
	shell("cd w && mkdir -p a/a b/b c && seq 700 | sed 's,^,b/b/,' | "
	      "xargs touch && touch .envrc a/a/.envrc b/b/.envrc c/.envrc && "
	      "seq 200 | sed 's,^,a/a/,' | xargs touch");
	max_entries = 800;
	p = plan_of("\".envrc\"", "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/b"), 0);
	ck_assert_int_eq(find(p, "protect", "/w/b/b/.envrc"), -1);
	ck_assert_int_ge(find(p, "protect", "/w/a/a/.envrc"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/c/.envrc"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/.envrc"), 0);
	ck_assert(is_writable(p));
	ck_assert(notes(p, "AB_MAX_SCAN_ENTRIES"));
	json_decref(p);
	/* a and b are too many too, and then there are only files */
	max_entries = 150;
	p = plan_of("\".envrc\"", "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/a"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/b"), 0);
	ck_assert(is_writable(p));
	json_decref(p);
	shell("cd w && seq 200 | xargs touch");
	p = plan_of("\".envrc\"", "", 0, "");
	ck_assert(!is_writable(p));
	ck_assert(notes(p, "workspace is read-only"));
	ck_assert_str_eq(noted(p, 0, "kind"), "read-only");
	ck_assert_str_eq(noted(p, 0, "note"), note_of(p, "workspace is"));
	ck_assert(!strcmp(strrchr(noted(p, 0, "object"), '/'), "/w"));
	json_decref(p);
	max_entries = 0;
}
END_TEST

START_TEST(too_many_side_by_side_make_the_workspace_read_only)
{
	json_t *p;

	shell("cd w && seq 4200 | sed 's,$,.lock,' | xargs touch");
	p = plan_of("\"*.lock\"", "", 0, "");
	ck_assert(!is_writable(p));
	ck_assert(notes(p, "workspace is read-only"));
	json_decref(p);
}
END_TEST

START_TEST(many_repositories_without_a_configuration_cost_nothing)
{
	json_t *p;

	/* an agent can make those: nothing in them is protected yet */
	shell(REPOSITORY("w/.git") " && mkdir w/n && cd w/n && seq 1400 | "
	      "sed 's,$,/.git/objects,' | xargs mkdir -p && for i in *; do "
	      "echo ref: refs/heads/m > $i/.git/HEAD; done");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert(is_writable(p));
	ck_assert_int_ge(find(p, "protect", "/w/.git/hooks"), 0);
	ck_assert_int_eq(find(p, "protect", "/w/n"), -1);
	ck_assert_int_eq(find(p, "pin", "/w/n/1/.git"), -1);
	ck_assert(watches(p, "**/.git/hooks") && watches(p, "**/.git/config"));
	/* one or two per name of the built-in list, none per repository */
	ck_assert_uint_lt(json_array_size(json_object_get(p, "watches")),
			  1400);
	json_decref(p);
}
END_TEST

START_TEST(git_directories_nested_too_deep_are_held_as_a_whole)
{
	json_t *p;

	shell(REPOSITORY("w/.git") " && cd w/.git && for i in $(seq 1 20); do "
	      "mkdir -p modules/m && cd modules/m && mkdir hooks && "
	      "echo ref: refs/heads/m > HEAD; done");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert(is_writable(p));
	ck_assert_int_ge(find(p, "protect", "/w/.git/modules/m/hooks"), 0);
	ck_assert_int_ge(find(p, "protect",
			      "/w/.git/modules/m/modules/m/modules/m/modules/m/"
			      "modules/m/modules/m/modules/m/modules/m/modules/"
			      "m"), 0);
	ck_assert(notes(p, "nested deeper"));
	json_decref(p);
}
END_TEST

START_TEST(links_in_a_circle_are_held_and_lead_nowhere)
{
	json_t *p;

	shell("cd w && ln -s .envrc .envrc && ln -s .zshrc .bashrc && "
	      "ln -s .bashrc .zshrc && ln -s b a && ln -s a b && "
	      "ln -s a/x .vscode && mkdir .git && ln -s ../a .git/hooks && "
	      "echo ref: refs/heads/m > .git/HEAD && "
	      "printf '[core]\\n\\thooksPath = b/hk\\n' > .git/config");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert(is_writable(p));
	ck_assert_int_ge(find(p, "protect", "/w/.envrc"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/.vscode"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/.git/hooks"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/.bashrc"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/.zshrc"), 0);
	/* the links on the way could be made to lead somewhere */
	ck_assert_int_ge(find(p, "protect", "/w/a"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/b"), 0);
	json_decref(p);
}
END_TEST

START_TEST(names_of_any_bytes_are_paths_and_nothing_else)
{
	json_t *p;

	shell("cd w && mkdir \"$(printf 'a\\nb')\" && touch "
	      "\"$(printf 'a\\nb')/.envrc\" && mkdir -- '-rf *' && touch -- "
	      "'-rf */.envrc'");
	p = plan_of("\".envrc\"", "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/a\nb/.envrc"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/-rf */.envrc"), 0);
	json_decref(p);
}
END_TEST

START_TEST(nothing_is_held_behind_a_mask)
{
	char state[400];
	json_t *p;

	shell("cd w && umask 077 && mkdir -p l/state/audit l/share sec/d && "
	      "touch l/state/.envrc l/state/audit/.envrc l/share/.envrc "
	      "sec/.envrc sec/d/.envrc && ln -s state/audit l/.vscode && "
	      "ln -s sec/d .vscode");
	snprintf(state, sizeof(state), "%s/w/l/state", dir);
	ck_assert_int_eq(agentbox_context_set_state_dir(context, state, NULL),
			 0);
	p = plan_of("\".envrc\",\".vscode\",\"state\"",
		    "{\"to\":\"/w/sec\",\"access\":\"hide\"}", 0, "");
	ck_assert_int_ge(find(p, "hide", "/w/l/state"), 0);
	ck_assert_int_ge(find(p, "hide", "/w/sec"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/l/share/.envrc"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/l/.vscode"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/.vscode"), 0);
	ck_assert_uint_eq(count(p, "protect"), 3);
	/* one for the state directory and for what is protected */
	ck_assert_int_ge(find(p, "pin", "/w/l"), 0);
	ck_assert_int_ge(find(p, "pin", "/w/l/share"), 0);
	ck_assert_uint_eq(count(p, "pin"), 2);
	json_decref(p);
}
END_TEST

START_TEST(a_path_is_held_wherever_the_box_can_write_it)
{
	char mounts[1024];
	json_t *p;

	shell(REPOSITORY("w/sub/.git") " && touch w/.npmrc w/sub/.envrc && "
	      "mkdir w/tmp && touch w/tmp/.envrc");
	/* a second, read-only look at a part of the workspace */
	snprintf(mounts, sizeof(mounts),
		 "{\"from\":\"%s/w/sub\",\"to\":\"/data\",\"access\":"
		 "\"read\"},{\"from\":\"%s/w/.npmrc\",\"to\":"
		 "\"/home/agent/.npmrc\",\"access\":\"read\"}",
		 dir, dir);
	p = plan_of(BUILTIN, mounts, 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/sub/.git/hooks"), 0);
	ck_assert_int_ge(find(p, "pin", "/w/sub/.git"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/.npmrc"), 0);
	ck_assert_int_eq(find(p, "protect", "/data/.git/hooks"), -1);
	json_decref(p);
	/* a writable one, and two places where the workspace is covered */
	snprintf(mounts, sizeof(mounts),
		 "{\"from\":\"%s/w/sub\",\"to\":\"/data\",\"access\":"
		 "\"write\"},{\"from\":\"%s/out\",\"to\":\"/w/sub\","
		 "\"access\":\"read\"},{\"to\":\"/w/tmp\",\"access\":"
		 "\"hide\"},{\"from\":\"%s/w/tmp\",\"to\":\"/t\","
		 "\"access\":\"write\"}",
		 dir, dir, dir);
	p = plan_of(BUILTIN, mounts, 0, "");
	ck_assert_int_ge(find(p, "protect", "/data/.git/hooks"), 0);
	ck_assert_int_ge(find(p, "protect", "/data/.envrc"), 0);
	ck_assert_int_ge(find(p, "pin", "/data/.git"), 0);
	ck_assert_int_eq(find(p, "protect", "/w/sub/.envrc"), -1);
	ck_assert_int_ge(find(p, "protect", "/t/.envrc"), 0);
	ck_assert_int_eq(find(p, "protect", "/w/tmp/.envrc"), -1);
	json_decref(p);
	/* both write: both are held */
	snprintf(mounts, sizeof(mounts),
		 "{\"from\":\"%s/w/sub\",\"to\":\"/data\",\"access\":"
		 "\"write\"},{\"from\":\"%s/w/.npmrc\",\"to\":"
		 "\"/home/agent/.npmrc\",\"access\":\"write\"}",
		 dir, dir);
	p = plan_of(BUILTIN, mounts, 0, "");
	ck_assert_int_ge(find(p, "protect", "/data/.git/hooks"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/sub/.git/hooks"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/.npmrc"), 0);
	/* by name given to be written: that is what the policy says */
	ck_assert(notes(p, "/home/agent/.npmrc"));
	json_decref(p);
}
END_TEST

START_TEST(what_a_box_can_change_decides_nothing)
{
	json_t *p;

	/* HEAD stays writable: another box may have taken it away */
	shell(REPOSITORY("w/.git") " && " REPOSITORY("w/.git/modules/a/b")
	      " && " REPOSITORY("w/store") " && cd w && mkdir sep hk && "
	      "touch inc.cfg && "
	      "printf '[core]\\nhooksPath=hk\\n[include]\\npath=../inc.cfg\\n' "
	      ">.git/config && rm .git/HEAD store/HEAD "
	      ".git/modules/a/b/HEAD && : > .git/modules/a/HEAD && "
	      "echo 'gitdir: ../store' >sep/.git");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/hk"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/inc.cfg"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/store/hooks"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/store/config"), 0);
	json_decref(p);
	p = plan_of("\".git/hooks\"", "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/.git/modules/a/b/hooks"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/.git/modules/a/b/config"), 0);
	json_decref(p);
	/* nor does a mode, which only an ordinary user heeds */
	shell("mkdir -p w/d && mv w/inc.cfg w/d && printf "
	      "'[include]\\npath=../d/inc.cfg\\n' >w/.git/config && "
	      "chmod 0 w/d w/.git/modules/a");
	p = plan_of("\".git/hooks\"", "", 0, "");
	ck_assert_int_ge(find(p, "protect",
			      geteuid() ? "/w/d" : "/w/d/inc.cfg"), 0);
	ck_assert_int_ge(find(p, "protect",
			      geteuid() ? "/w/.git/modules/a" :
					  "/w/.git/modules/a/b/hooks"), 0);
	json_decref(p);
	shell("chmod 700 w/d w/.git/modules/a");
}
END_TEST

START_TEST(a_configuration_that_cannot_be_read_lets_nothing_be_written)
{
	json_t *p;

	shell(REPOSITORY("w/.git") " && truncate -s 3M w/.git/config");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert(!is_writable(p));
	ck_assert(notes(p, ".git/config") && notes(p, "EFBIG"));
	json_decref(p);
	shell(": >w/.git/config && chmod 0 w/.git/config");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert(is_writable(p) == (geteuid() == 0));
	json_decref(p);
}
END_TEST

/* F_SETLEASE by another process, which lets go when it is asked. */
START_TEST(a_lease_is_waited_for)
{
	int ready[2];
	json_t *p;
	pid_t pid;
	char c;

	shell(REPOSITORY("w/.git") " && : >w/inc.cfg && printf "
	      "'[include]\\npath=../inc.cfg\\n' >w/.git/config");
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		char path[300];
		int fd;

		snprintf(path, sizeof(path), "%s/w/.git/config", dir);
		fd = open(path, O_RDWR | O_CLOEXEC);
		signal(SIGIO, SIG_IGN);
		c = fcntl(fd, F_SETLEASE, F_WRLCK) ? 'n' : 'y';
		if (write(ready[1], &c, 1) == 1)
			usleep(300000);
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	if (c == 'y') {
		p = plan_of(BUILTIN, "", 0, "");
		ck_assert_int_ge(find(p, "protect", "/w/inc.cfg"), 0);
		json_decref(p);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	if (c != 'y')
		ab_test_skip("a_lease_is_waited_for", "no leases here");
}
END_TEST

START_TEST(what_a_configuration_includes_is_followed)
{
	const char *base = strrchr(dir, '/') + 1;
	json_t *p;

	shell(REPOSITORY("w/.git") " && cd w && mkdir h1 hk ws h3 out && "
	      "printf '[include]\\npath=../c/one.cfg\\n' >.git/config && "
	      "mkdir c && ln -s c lc && "
	      "printf '[core]hooksPath=h1\\n[includeIf \"gitdir:x\"]\\n"
	      "path=two.cfg\\n' >c/one.cfg && "
	      "printf '[include]\\npath=~/%s/w/lc/three.cfg\\n[include]path="
	      "two.cfg\\n' >c/two.cfg && "
	      "printf '[core]\\nhooksPath = ~ada/w/h\\\\\\n3\\n' "
	      ">c/three.cfg && "
	      "printf '[core]worktree=../../../ws\\nhooksPath=hk\\n' >wt.cfg",
	      base);
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/c/one.cfg"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/h1"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/c/two.cfg"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/lc"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/c/three.cfg"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/h3"), 0);
	json_decref(p);
	/* the work tree of a submodule is what its configuration says */
	shell("cd w && mkdir -p .git/modules/x ws/hk && : >ws/hk/h && "
	      "mv wt.cfg .git/modules/x/config");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/ws/hk"), 0);
	json_decref(p);
	/* a configuration that is a link is one */
	shell("cd w && mv .git/config cfg && ln -s ../cfg .git/config && "
	      "printf '[core]hooksPath=h3\\n[include]path=../c/two.cfg\\n' "
	      ">cfg && : >c/two.cfg");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/cfg"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/h3"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/c/two.cfg"), 0);
	json_decref(p);
}
END_TEST

/* Where case is folded git finds it; that is not asked of the directory. */
START_TEST(a_repository_is_one_in_any_case)
{
	json_t *p;

	shell(REPOSITORY("w/.GIT") " && cd w && mkdir hk inc && touch inc/c && "
	      "printf '[core]\\nhooksPath = hk\\n[include]\\n"
	      "path = ../inc/c\\n' >.GIT/config && " REPOSITORY("real")
	      " && mkdir s hk2 && ln -s ../real s/.Git && "
	      "printf '[core]\\nhooksPath = ../hk2\\n' >real/config");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/.GIT/config"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/hk"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/inc/c"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/real/config"), 0);
	/* looked into, not held as a whole */
	ck_assert_int_eq(find(p, "protect", "/w/real"), -1);
	json_decref(p);
}
END_TEST

START_TEST(programs_of_the_workspace_that_git_runs_are_held)
{
	static const char *const held[] = {
		"tools/fs.sh", "tools/clean", "tools/tc.py", "a b/ssh", "gpg",
		"tools/alias", "tools/show", "tools/cred", "tools/drv",
		"tools/up",
	};
	char path[64];
	json_t *p;

	shell(REPOSITORY("w/.git") " && cd w && mkdir tools 'a b' && touch "
	      "README data 'a b/ssh' gpg && for i in fs.sh clean tc.py alias "
	      "show cred drv up not; do : >tools/$i; done && cat "
	      ">.git/config <<'E'\n"
	      "[core]\n\tfsmonitor = tools/fs.sh\n"
	      "\tsshCommand = \\\"a b/ssh\\\" -i key\n"
	      "[filter \"x\"]\n\tclean = sh -c 'tools/clean --in=%%f'\n"
	      "\tsmudge = cat\n"
	      "[diff \"y\"] textconv = python3 ./tools/tc.py\n"
	      "[gpg] program = gpg\n"
	      "[alias]\n\tx = !tools/alias \"$@\"\n\tl = log tools/not\n"
	      "\ts = \"!$(git rev-parse --show-toplevel)/tools/show\"\n"
	      "[credential \"https://a\"] helper = !tools/cred\n"
	      "[merge \"z\"] driver = tools/drv %%O %%A\n"
	      "[submodule \"s\"] update = !tools/up\n"
	      "\turl = tools/not\n"
	      "[user] name = data\n"
	      "[difftool \"d\"] cmd = tools/later.sh\n"
	      "E\n");
	p = plan_of(BUILTIN, "", 0, "");
	for (size_t i = 0; i < AB_ARRAY_LEN(held); i++) {
		snprintf(path, sizeof(path), "/w/%s", held[i]);
		ck_assert_msg(find(p, "protect", path) >= 0, "%s", path);
	}
	ck_assert_int_eq(find(p, "protect", "/w/tools/not"), -1);
	ck_assert_int_eq(find(p, "protect", "/w/data"), -1);
	ck_assert_int_eq(find(p, "protect", "/w/tools"), -1);
	ck_assert(watches(p, "tools/later.sh"));
	ck_assert(notes(p, "core.fsmonitor"));
	json_decref(p);
}
END_TEST

START_TEST(a_line_that_goes_somewhere_is_followed_there)
{
	json_t *p;

	shell("mkdir -p w/x/deep w/b && " REPOSITORY("w/.git") " && "
	      "touch w/x/y w/x/deep/z w/b/w.sh w/free w/x/free && "
	      "printf '[alias]\na = !cd x && ./y\n"
	      "b = !cd x && cd deep && sh z\nc = !make -C b w.sh\n"
	      "d = !cd && free\ne = !cd x && ./later\n' "
	      ">w/.git/config");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/x/y"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/x/deep/z"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/b/w.sh"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/free"), 0);
	ck_assert_int_lt(find(p, "protect", "/w/x/free"), 0);
	ck_assert(watches(p, "x/later"));
	json_decref(p);
}
END_TEST

START_TEST(a_home_in_the_box_leads_to_hooks_in_each_repository)
{
	char mounts[400];
	json_t *p;

	shell("mkdir -p home/.config/git home/hooks w/sub/hk w/.githooks && "
	      REPOSITORY("w/.git") " && " REPOSITORY("w/sub/.git") " && "
	      "printf '[core]hooksPath=~/hooks\n[include]path=more\n' "
	      ">home/.gitconfig && printf '[core]hooksPath=hk\n' >home/more "
	      "&& printf '[core]hooksPath=.githooks\n' "
	      ">home/.config/git/config");
	snprintf(mounts, sizeof(mounts),
		 "{\"from\":\"%s/home\",\"to\":\"/h\",\"access\":"
		 "\"write\"}", dir);
	p = plan_of(BUILTIN, mounts, 0, "");
	ck_assert_int_ge(find(p, "protect", "/h/hooks"), 0);
	ck_assert_int_ge(find(p, "protect", "/h/more"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/sub/hk"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/.githooks"), 0);
	ck_assert(watches(p, "sub/.githooks"));
	json_decref(p);
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_lt(find(p, "protect", "/w/.githooks"), 0);
	json_decref(p);
}
END_TEST

START_TEST(a_jj_workspace_leads_to_its_repository)
{
	json_t *p;

	shell("mkdir -p w/main/.jj/repo/store w/second/.jj w/lone/.jj "
	      "w/other/store w/gitdir && " REPOSITORY("w/gitdir") " && "
	      "touch w/main/.jj/repo/config.toml w/other/config.toml && "
	      "printf ../../../../gitdir >w/main/.jj/repo/store/git_target && "
	      "printf ../../main/.jj/repo >w/second/.jj/repo && "
	      "printf '%%s/w/other\\n' \"$PWD\" >w/lone/.jj/repo");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/second/.jj/repo"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/lone/.jj/repo"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/other/config.toml"), 0);
	ck_assert_int_ge(find(p, "protect",
			      "/w/main/.jj/repo/store/git_target"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/gitdir/hooks"), 0);
	/* the repository itself is worked with */
	ck_assert_int_lt(find(p, "protect", "/w/main/.jj/repo"), 0);
	json_decref(p);
}
END_TEST

START_TEST(names_with_a_slash_are_held_in_every_directory)
{
	static const char *const names[] = {
		"sub/.hg/hgrc", "crates/foo/.cargo/config.toml",
		"jj/.jj/repo/config.toml", "d/.config/mise", "u/v/.ssh/rc",
	};
	char path[64];
	json_t *p;

	shell("cd w && mkdir -p sub/.hg crates/foo/.cargo jj/.jj/repo "
	      "d/.config/mise u/v/.ssh x && touch sub/.hg/hgrc "
	      "crates/foo/.cargo/config.toml jj/.jj/repo/config.toml "
	      "u/v/.ssh/rc x/config.toml && mkdir real n && touch real/hgrc "
	      "&& ln -s ../real n/.hg && ln -s real other");
	p = plan_of(BUILTIN, "", 0, "");
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "/w/%s", names[i]);
		ck_assert_msg(find(p, "protect", path) >= 0, "%s", path);
	}
	ck_assert_int_eq(find(p, "protect", "/w/x/config.toml"), -1);
	/* a link above such a name */
	ck_assert_int_ge(find(p, "protect", "/w/n/.hg"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/real/hgrc"), 0);
	ck_assert_int_eq(find(p, "protect", "/w/other"), -1);
	json_decref(p);
	/* a pattern of the policy itself is from the top */
	p = plan_of("\"x/config.toml\"", "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/x/config.toml"), 0);
	json_decref(p);
	shell("mkdir -p w/y/x && touch w/y/x/config.toml");
	p = plan_of("\"x/config.toml\"", "", 0, "");
	ck_assert_int_eq(find(p, "protect", "/w/y/x/config.toml"), -1);
	json_decref(p);
}
END_TEST

START_TEST(nothing_above_a_cover_can_be_moved)
{
	char mounts[1024];
	json_t *p;

	shell("cd w && mkdir -p a/b/ro a/h t/u && touch a/h/.env");
	snprintf(mounts, sizeof(mounts),
		 "{\"from\":\"%s/w/a/b/ro\",\"to\":\"/w/a/b/ro\","
		 "\"access\":\"read\"},{\"to\":\"/w/a/h/.env\","
		 "\"access\":\"hide\"},{\"to\":\"/w/none/x\","
		 "\"access\":\"hide\"}", dir);
	p = plan_of("", mounts, 0, "");
	ck_assert_int_ge(find(p, "pin", "/w/a"), 0);
	ck_assert_int_ge(find(p, "pin", "/w/a/b"), 0);
	ck_assert_int_ge(find(p, "pin", "/w/a/h"), 0);
	/* what is not there cannot be moved either */
	ck_assert_int_eq(find(p, "pin", "/w/none"), -1);
	ck_assert_uint_eq(count(p, "pin"), 3);
	json_decref(p);
}
END_TEST

START_TEST(a_bare_repository_is_found_by_its_structure)
{
	json_t *p;

	shell(REPOSITORY("w/vendor/x") " && cd w && mkdir -p vendor/x/refs "
	      "plain/hooks plain/objects new/objects new/refs && "
	      "touch plain/config plain/HEAD && printf "
	      "'[core]fsmonitor=vendor.sh\\n' >vendor/x/config && "
	      ": >vendor/x/vendor.sh && rm vendor/x/HEAD");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/vendor/x/config"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/vendor/x/hooks"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/vendor/x/vendor.sh"), 0);
	/* without them it would be found no more */
	ck_assert_int_ge(find(p, "pin", "/w/vendor/x/objects"), 0);
	ck_assert_int_ge(find(p, "pin", "/w/vendor/x/refs"), 0);
	ck_assert_int_eq(find(p, "protect", "/w/plain/config"), -1);
	ck_assert_int_eq(find(p, "protect", "/w/plain/hooks"), -1);
	/* nothing to be held yet: it costs nothing */
	ck_assert_int_eq(find(p, "pin", "/w/new/objects"), -1);
	ck_assert(!watches(p, "new/config"));
	json_decref(p);
	/* the workspace itself, and a policy that is not about git */
	shell("cd w && mkdir objects refs hooks && touch config");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/config"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/hooks"), 0);
	json_decref(p);
	p = plan_of("\".envrc\"", "", 0, "");
	ck_assert_uint_eq(count(p, "protect"), 0);
	json_decref(p);
	/* HEAD and a commondir are enough as well */
	shell("cd w && mkdir lw && echo ../vendor/x >lw/commondir");
	p = plan_of(BUILTIN, "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/lw/commondir"), 0);
	json_decref(p);
}
END_TEST

START_TEST(other_trees_that_can_be_written_are_held_as_well)
{
	char mounts[1024];
	json_t *p;

	shell("mkdir -p out/d/.vscode && touch out/.envrc out/d/.vscode/x && "
	      REPOSITORY("out/r/.git") " && touch w/.npmrc && "
	      "ln out/.envrc w/alias");
	snprintf(mounts, sizeof(mounts),
		 "{\"from\":\"%s/out\",\"to\":\"/o\",\"access\":"
		 "\"write\"}", dir);
	p = plan_of(BUILTIN, mounts, 0, "");
	ck_assert_int_ge(find(p, "protect", "/o/.envrc"), 0);
	ck_assert_int_ge(find(p, "protect", "/o/d/.vscode"), 0);
	ck_assert_int_ge(find(p, "pin", "/o/d"), 0);
	ck_assert_int_ge(find(p, "protect", "/o/r/.git/hooks"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/.npmrc"), 0);
	/* a name in one tree of a protected file in the other */
	ck_assert_int_ge(find(p, "protect", "/w/alias"), 0);
	ck_assert(notes(p, "nothing watches"));
	json_decref(p);
	/* too much there is not the workspace's matter */
	shell("cd out && seq 4200 | sed 's,$,.lock,' | xargs touch");
	p = plan_of("\"*.lock\",\".npmrc\"", mounts, 0, "");
	ck_assert(is_writable(p));
	ck_assert(notes(p, "out' is read-only"));
	ck_assert_int_ge(find(p, "protect", "/w/.npmrc"), 0);
	json_decref(p);
}
END_TEST

START_TEST(the_trees_of_a_role_are_held_and_its_protected_is_there)
{
	char mounts[1024];
	json_t *p;

	shell("mkdir -p team/shared team/tasks && " REPOSITORY(
		"team/tasks/t/.git") " && touch team/shared/.envrc && "
	      "mv w team/w && ln -s team/w w");
	snprintf(mounts, sizeof(mounts),
		 "],\"role\":{\"kind\":\"manager\",\"team_dir\":"
		 "\"%s/team\"},\"secrets\":[", dir);
	ck_assert_ptr_null(plan_of(BUILTIN, mounts, AGENTBOX_ENOTFOUND,
				   "team/protected"));
	shell("mkdir team/protected && touch team/w/.envrc");
	p = plan_of(BUILTIN, mounts, 0, "");
	snprintf(mounts, sizeof(mounts), "%s/team/tasks/t/.git/hooks", dir);
	ck_assert_int_ge(find(p, "protect", mounts), 0);
	snprintf(mounts, sizeof(mounts), "%s/team/shared/.envrc", dir);
	ck_assert_int_ge(find(p, "protect", mounts), 0);
	/* the workspace is in it, under two names */
	snprintf(mounts, sizeof(mounts), "%s/team/w/.envrc", dir);
	ck_assert_int_ge(find(p, "protect", mounts), 0);
	ck_assert_int_ge(find(p, "protect", "/w/.envrc"), 0);
	json_decref(p);
	snprintf(mounts, sizeof(mounts),
		 "],\"role\":{\"kind\":\"engineer\",\"team_dir\":"
		 "\"%s/team\",\"agent\":\"ada\",\"worktrees\":["
		 "\"%s/team/tasks/t\"]},\"secrets\":[", dir, dir);
	shell("rmdir team/protected");
	p = plan_of(BUILTIN, mounts, 0, "");
	snprintf(mounts, sizeof(mounts), "%s/team/tasks/t/.git/hooks", dir);
	ck_assert_int_ge(find(p, "protect", mounts), 0);
	snprintf(mounts, sizeof(mounts), "%s/team/shared/.envrc", dir);
	ck_assert_int_ge(find(p, "protect", mounts), 0);
	json_decref(p);
}
END_TEST

/* What is behind the last name that was read may be one to protect. */
START_TEST(a_list_that_breaks_off_is_not_the_whole)
{
	static const struct {
		const char *broken, *protect;
		const char *error; /* NULL: held and noted */
	} rows[] = {
		{ "/w", BUILTIN, "cannot look through" },
		{ "/w/a/b", BUILTIN, "cannot look through" },
		{ "/w/.git/modules", BUILTIN, NULL },
		{ "/w/held", "\"held\"", "cannot look through" },
		{ "/team/shared", BUILTIN, "cannot look through" },
		{ "/agents/ada", "", "to its end" },
	};
	char role[1024];
	json_t *p;

	shell("mkdir -p w/a/b w/.git/modules/m w/held team/shared "
	      "team/agents/ada && touch w/held/f && "
	      REPOSITORY("w/.git") " && " REPOSITORY("w/.git/modules/m"));
	snprintf(role, sizeof(role),
		 "],\"role\":{\"kind\":\"engineer\",\"team_dir\":"
		 "\"%s/team\",\"agent\":\"ada\"},\"secrets\":[", dir);
	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		broken_list = rows[i].broken;
		p = plan_of(rows[i].protect, role,
			    rows[i].error ? AGENTBOX_ESYS : 0,
			    rows[i].error);
		broken_list = NULL;
		if (!rows[i].error)
			ck_assert_msg(notes(p, "read to its end"), "%s",
				      rows[i].broken);
		json_decref(p);
	}
}
END_TEST

START_TEST(a_role_says_where_it_is_and_an_engineer_who)
{
	plan_of(BUILTIN, "],\"role\":{\"kind\":\"manager\"},\"secrets\":[",
		AGENTBOX_EPOLICY, "no team directory");
	plan_of(BUILTIN, "],\"role\":{\"kind\":\"engineer\",\"agent\":\"ada\"},"
		"\"secrets\":[", AGENTBOX_EPOLICY, "no team directory");
	plan_of(BUILTIN, "],\"role\":{\"kind\":\"engineer\",\"team_dir\":"
		"\"/srv/team\"},\"secrets\":[", AGENTBOX_EPOLICY,
		"name of the agent");
}
END_TEST

START_TEST(an_engineers_own_config_is_held)
{
	char role[1024], path[400];
	json_t *p;

	shell("mkdir -p team/shared team/agents/ada team/agents/bob && "
	      "cd team/agents/ada && touch Config.YAML config.yaml.bak "
	      "journal real.json && ln -s real.json config.json && "
	      "touch ../bob/config.yaml");
	snprintf(role, sizeof(role),
		 "],\"role\":{\"kind\":\"engineer\",\"team_dir\":"
		 "\"%s/team\",\"agent\":\"ada\"},\"secrets\":[", dir);
	for (int with = 0; with < 2; with++) {
		p = plan_of(with ? BUILTIN : "", role, 0, "");
		snprintf(path, sizeof(path), "%s/team/agents/ada/Config.YAML",
			 dir);
		ck_assert_int_ge(find(p, "protect", path), 0);
		snprintf(path, sizeof(path), "%s/team/agents/ada/config.json",
			 dir);
		ck_assert_int_ge(find(p, "protect", path), 0);
		snprintf(path, sizeof(path), "%s/team/agents/ada/real.json",
			 dir);
		ck_assert_int_ge(find(p, "protect", path), 0);
		snprintf(path, sizeof(path), "%s/team/agents/ada/journal",
			 dir);
		ck_assert_int_lt(find(p, "protect", path), 0);
		ck_assert(notes(p, "a config.* that is not yet in"));
		json_decref(p);
	}
	/* where it lies in the workspace it is waited for */
	shell("rm -r team/agents/ada && mkdir team/agents/ada && "
	      "rmdir w && ln -s team/agents w");
	p = plan_of("", role, 0, "");
	ck_assert(watches(p, "ada/config.toml"));
	ck_assert(!notes(p, "a config.* that is not yet in"));
	json_decref(p);
}
END_TEST

START_TEST(a_state_directory_that_the_policy_hides_is_pinned_too)
{
	char state[400];
	json_t *p;

	shell("cd w && umask 077 && mkdir -p l/state");
	snprintf(state, sizeof(state), "%s/w/l/state", dir);
	ck_assert_int_eq(agentbox_context_set_state_dir(context, state, NULL),
			 0);
	p = plan_of("", "{\"to\":\"/w/l/state\",\"access\":\"hide\"}", 0,
		    "");
	ck_assert_uint_eq(count(p, "hide"), 1);
	ck_assert_int_ge(find(p, "pin", "/w/l"), 0);
	json_decref(p);
}
END_TEST

START_TEST(a_name_that_is_no_text_is_escaped_and_no_error)
{
	json_t *p;

	shell("cd w && : > \"$(printf 'a\\377.lock')\" && : > "
	      "\"$(printf '\\303\\244.lock')\" && "
	      "ln \"$(printf 'a\\377.lock')\" ../out/n");
	p = plan_of("\"*.lock\"", "", 0, "");
	ck_assert_int_ge(find(p, "protect", "/w/a\\xff.lock"), 0);
	ck_assert_int_ge(find(p, "protect", "/w/\303\244.lock"), 0);
	ck_assert(notes(p, "a\\xff.lock"));
	json_decref(p);
}
END_TEST

START_TEST(git_configuration_is_read_as_git_reads_it)
{
	static const struct {
		const char *text, *value;
	} rows[] = {
		{ "[core]\nhooksPath=x\n", "x" },
		{ "[CORE] HooksPath = x # c\n", "x" },
		{ "[core]\n\thookspath = \"a b\" ; c\n", "a b" },
		{ "[core]\nhooksPath=x\n[core]\nhooksPath=y", "y" },
		{ "[other]\nhooksPath=x\n", NULL },
		{ "# [core]\n;hooksPath=x\n[core\n", NULL },
		{ "[core]\n\thooksPath\n", NULL },
		{ "", NULL },
		/* continued lines, escapes, either line end, a mark */
		{ "[core]\nhooksPath = h\\\nk\n", "hk" },
		{ "[core]\r\nhooksPath = h\\\r\nk\r\n", "hk" },
		{ "[core]\nhooksPath = \"a\\tb\\n\\\\\\\"\"", "a\tb\n\\\"" },
		{ "\xef\xbb\xbf[core]hooksPath=x", "x" },
		{ "[core \"s]\"]hooksPath=x", "x" },
		{ "[core.sub]hooksPath=x", "x" },
		{ "[corex]hooksPath=x", NULL },
		{ "[core]\nbad line\nhooksPath=x", "x" },
		{ "[core]\na = \"open\nhooksPath=x", "x" },
		{ "[core]\nhooksPath = a  b  # c", "a  b" },
		{ "[core]\nhooksPath = a \"\"", "a " },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		char out[64] = "";
		bool found = ab_gitconfig_find(rows[i].text, "core",
					       "hookspath", out, sizeof(out));

		ck_assert_msg(found == (rows[i].value != NULL), "row %zu", i);
		if (found)
			ck_assert_str_eq(out, rows[i].value);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("walls_protect");
	TCase *tc = tcase_create("protect");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc,
		       existing_paths_are_read_only_and_ancestors_pinned_first);
	tcase_add_test(
		tc, a_nested_repository_is_protected_with_all_its_ancestors);
	tcase_add_test(tc, a_linked_worktree_leads_to_its_common_directory);
	tcase_add_test(
		tc, submodules_and_configured_hook_directories_are_protected);
	tcase_add_test(tc, links_are_held_and_so_is_what_they_name);
	tcase_add_test(tc, hard_links_are_found_and_those_outside_reported);
	tcase_add_test(
		tc, a_dangling_link_is_not_followed_and_its_end_is_watched);
	tcase_add_test(tc,
		       behind_a_closed_door_any_file_may_have_another_name);
	tcase_add_test(tc, every_link_on_the_way_is_held);
	tcase_add_test(tc, what_a_pointer_names_may_not_appear);
	tcase_add_test(tc, files_with_names_outside_are_noted_and_counted);
	tcase_add_test(tc,
		       other_names_of_protected_files_are_held_at_any_depth);
	tcase_add_test(tc,
		       a_mount_below_the_workspace_is_looked_through);
	tcase_add_test(tc,
		       a_tree_that_is_too_large_ends_no_look_for_other_names);
	tcase_add_test(tc, a_mount_below_another_tree_is_looked_through);
	tcase_add_test(
		tc, what_is_too_deep_is_held_as_a_whole);
	tcase_add_test(tc, what_has_too_long_a_path_is_held_as_a_whole);
	tcase_add_test(tc, names_among_the_objects_of_git_are_held);
	tcase_add_test(tc, what_its_owner_has_closed_is_held_as_a_whole);
	tcase_add_test(
		tc, more_protected_paths_than_the_bound_hold_their_directory);
	tcase_add_test(tc,
		       a_directory_of_too_many_entries_is_held_as_a_whole);
	tcase_add_test(tc, deep_paths_count_with_what_pins_them);
	tcase_add_test(tc,
		       too_many_side_by_side_make_the_workspace_read_only);
	tcase_add_test(
		tc, many_repositories_without_a_configuration_cost_nothing);
	tcase_add_test(tc,
		       git_directories_nested_too_deep_are_held_as_a_whole);
	tcase_add_test(tc, links_in_a_circle_are_held_and_lead_nowhere);
	tcase_add_test(tc, names_of_any_bytes_are_paths_and_nothing_else);
	tcase_add_test(tc, nothing_is_held_behind_a_mask);
	tcase_add_test(tc,
		       a_path_is_held_wherever_the_box_can_write_it);
	tcase_add_test(tc, what_a_box_can_change_decides_nothing);
	tcase_add_test(
		tc,
		a_configuration_that_cannot_be_read_lets_nothing_be_written);
	tcase_add_test(tc, a_lease_is_waited_for);
	tcase_add_test(tc, what_a_configuration_includes_is_followed);
	tcase_add_test(tc, a_repository_is_one_in_any_case);
	tcase_add_test(tc, programs_of_the_workspace_that_git_runs_are_held);
	tcase_add_test(tc, a_line_that_goes_somewhere_is_followed_there);
	tcase_add_test(tc,
		       a_home_in_the_box_leads_to_hooks_in_each_repository);
	tcase_add_test(tc, a_jj_workspace_leads_to_its_repository);
	tcase_add_test(tc, names_with_a_slash_are_held_in_every_directory);
	tcase_add_test(tc, nothing_above_a_cover_can_be_moved);
	tcase_add_test(tc, a_bare_repository_is_found_by_its_structure);
	tcase_add_test(tc, other_trees_that_can_be_written_are_held_as_well);
	tcase_add_test(
		tc, the_trees_of_a_role_are_held_and_its_protected_is_there);
	tcase_add_test(tc, a_list_that_breaks_off_is_not_the_whole);
	tcase_add_test(tc, a_role_says_where_it_is_and_an_engineer_who);
	tcase_add_test(tc, an_engineers_own_config_is_held);
	tcase_add_test(
		tc, a_state_directory_that_the_policy_hides_is_pinned_too);
	tcase_add_test(tc, a_name_that_is_no_text_is_escaped_and_no_error);
	tcase_add_test(tc, git_configuration_is_read_as_git_reads_it);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
