/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The write guard: roles, shapes, links. The names carry the row of part F. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"
#include "base/attr.h"
#include "guard_tree.h"

/* Makes a guard that must fail with the code. */
static void refuses(const char *builtin, const char *json, const char *dir,
		    int32_t wanted)
{
	int32_t code = 0;
	agentbox_guard *g = guard_of(builtin, json, dir, &code);

	ck_assert_msg(!g && code == wanted, "%s: %s instead of %s", json,
		      agentbox_error_name(code), agentbox_error_name(wanted));
}

START_TEST(f01_unknown_roles_are_refused)
{
	refuses("engineer", "{\"role\":{\"kind\":\"\"}}", "team",
		AGENTBOX_EPOLICY);
	refuses("engineer", "{\"role\":{\"kind\":\"Manager\"}}", "team",
		AGENTBOX_EPOLICY);
	refuses("engineer", "{\"role\":{\"kind\":\"admin\"}}", "team",
		AGENTBOX_EPOLICY);
	refuses("engineer", "{\"role\":{\"kind\":null}}", "team",
		AGENTBOX_EPOLICY);
	refuses("workspace", "{\"role\":{}}", "team", AGENTBOX_EPOLICY);
	refuses("workspace", "{\"role\":{\"agent\":\"alice\"}}", "team",
		AGENTBOX_EPOLICY);
}
END_TEST

START_TEST(f02_names_that_are_no_names_are_refused)
{
	static const char *const names[] = { "\"\"", "\".\"", "\"..\"",
					     "\"a/b\"", "\"a\\u0000b\"",
					     "\"alice\\n\"" };
	char json[256];

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		int32_t code = 0;

		snprintf(json, sizeof(json), "{\"role\":{\"agent\":%s}}",
			 names[i]);
		ck_assert_ptr_null(guard_of("engineer", json, "team", &code));
		ck_assert_int_lt(code, 0);
	}
	/* an engineer without a name is not everybody */
	refuses("engineer", "{}", "team", AGENTBOX_EPOLICY);
}
END_TEST

START_TEST(f03_a_team_directory_is_named_and_is_not_everything)
{
	char json[16384];
	agentbox_policy *p = NULL;
	agentbox_guard *g = NULL;
	int root = open("/", O_PATH | O_CLOEXEC);

	refuses("manager", "{\"role\":{\"team_dir\":\"\"}}", "team",
		AGENTBOX_EPOLICY);
	refuses("manager", "{\"role\":{\"team_dir\":\"/\"}}", "team",
		AGENTBOX_EPOLICY);
	refuses("manager", "{\"role\":{\"team_dir\":\"team\"}}", "team",
		AGENTBOX_EPOLICY);
	snprintf(json, sizeof(json), "{\"role\":{\"team_dir\":\"%s/no\"}}",
		 base);
	refuses("manager", json, "team", AGENTBOX_ENOTFOUND);
	/* the directory is not the one the policy speaks of */
	snprintf(json, sizeof(json), "{\"role\":{\"team_dir\":\"%s\"}}", team);
	refuses("manager", json, "outside", AGENTBOX_EINVAL);
	refuses("manager", json, "team/charter.md", AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_policy_builtin(context, "manager", &p, NULL),
			 0);
	ck_assert_int_eq(agentbox_guard_new(p, root, &g, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_guard_new(p, 9999, &g, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_guard_new(p, -2, &g, NULL), AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_guard_new(NULL, -1, &g, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_guard_new(p, -1, NULL, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_ptr_null(g);
	close(root);
	agentbox_policy_unref(p);
}
END_TEST

START_TEST(a_guard_without_a_directory_refuses_every_path)
{
	agentbox_guard *g = guard_of("workspace", "{}", NULL, NULL);

	escapes(g, W, "a");
	escapes(g, R, "a");
	escapes(g, W, "/tmp/a");
	agentbox_guard_unref(g);
	ck_assert_int_eq(agentbox_guard_allow_write(NULL, "a", 1), 0);
}
END_TEST

START_TEST(f04_what_an_engineer_writes)
{
	agentbox_guard *g = engineer();

	allows(g, W, "agents/alice/a");
	allows(g, W, "agents/alice/notes/x/y");
	allows(g, W, "shared/s");
	allows(g, W, "shared/new");
	allows(g, W, at("wt/repo-T1/src/a.c"));
	allows(g, W, at("wt/repo-T1/new/b.c"));
	allows(g, W, "agents/alice");
	allows(g, W, at("team/agents/alice/a"));
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(f05_what_an_engineer_does_not_write)
{
	agentbox_guard *g = engineer();
	static const char *const no[] = { "agents/bob/b", "agents/bob",
					  "charter.md", "workflows/w",
					  "workflows/new", "agents",
					  "agents/carol/x", ".", "new" };

	for (size_t i = 0; i < AB_ARRAY_LEN(no); i++) {
		denies_by(g, W, no[i], "path.role");
		allows(g, R, no[i]);
	}
	denies_by(g, W, "protected/keys", "path.protected");
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(f06_names_are_compared_whole)
{
	agentbox_guard *g = engineer();

	denies_by(g, W, "agents/alice2/x", "path.role");
	denies_by(g, W, "shared2/x", "path.role");
	escapes(g, W, at("wt/repo-T10/x"));
	escapes(g, R, at("wt/repo-T10/x"));
	escapes(g, W, at("team2/x"));
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(f07_what_a_manager_writes)
{
	agentbox_guard *g = manager();

	allows(g, W, "charter.md");
	allows(g, W, "agents/bob/b");
	allows(g, W, "agents/alice/config.yaml");
	allows(g, AGENTBOX_ACTION_MKDIR, "new/dir");
	denies_by(g, W, "protected/keys", "path.protected");
	denies_by(g, W, "protected", "path.protected");
	denies_by(g, AGENTBOX_ACTION_CREATE, "protected/new",
		  "path.protected");
	denies_by(g, AGENTBOX_ACTION_RENAME, "protected", "path.protected");
	allows(g, R, "protected/keys");
	denies(g, W, at("protected/next"));
	allows(g, R, at("protected/next"));
	escapes(g, R, at("outside/secret"));
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(f08_a_link_out_is_not_a_way_out)
{
	agentbox_guard *g = engineer();
	agentbox_guard *m = manager();

	make_symlink("/etc", "team/agents/alice/l");
	make_symlink("../../../outside", "team/agents/alice/r");
	make_symlink("../../../outside/secret", "team/agents/alice/f");
	escapes(g, W, "agents/alice/l/passwd");
	escapes(g, R, "agents/alice/l/passwd");
	escapes(g, W, "agents/alice/l");
	escapes(g, W, "agents/alice/r/secret");
	escapes(g, W, "agents/alice/f");
	escapes(m, W, "agents/alice/f");
	escapes(m, R, "agents/alice/f");
	/* the link itself may go */
	allows(g, AGENTBOX_ACTION_DELETE, "agents/alice/l");
	allows(g, AGENTBOX_ACTION_RENAME, "agents/alice/f");
	agentbox_guard_unref(g);
	agentbox_guard_unref(m);
}
END_TEST

START_TEST(f08_a_link_inside_counts_where_it_leads)
{
	agentbox_guard *g = engineer();

	make_symlink("../../shared", "team/agents/alice/s");
	make_symlink("../bob", "team/agents/alice/b");
	make_symlink("../../protected", "team/agents/alice/p");
	make_symlink("../agents/alice/a", "team/shared/mine");
	make_symlink(at("team/shared"), "team/agents/alice/abs");
	make_symlink(at("wt/repo-T1"), "team/agents/alice/wt");
	make_symlink("s/../b", "team/agents/alice/hop");
	allows(g, W, "agents/alice/s/s");
	allows(g, W, "agents/alice/s/new");
	allows(g, W, "shared/mine");
	allows(g, W, "agents/alice/abs/s");
	allows(g, W, "agents/alice/wt/src/a.c");
	denies_by(g, W, "agents/alice/b/b", "path.role");
	allows(g, R, "agents/alice/b/b");
	denies_by(g, W, "agents/alice/p/keys", "path.protected");
	/* s/.. is team, where b is not */
	denies_by(g, W, "agents/alice/hop", "path.role");
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(f09_loops_and_long_chains_end)
{
	agentbox_guard *g = engineer();
	char from[64];
	char to[64];

	make_symlink("loop2", "team/agents/alice/loop1");
	make_symlink("loop1", "team/agents/alice/loop2");
	make_symlink("self/x", "team/agents/alice/self");
	denies_by(g, W, "agents/alice/loop1", "path.link");
	denies_by(g, R, "agents/alice/loop1/x", "path.link");
	denies_by(g, W, "agents/alice/self", "path.link");
	make_symlink("a", "team/agents/alice/c0");
	for (int i = 1; i <= 41; i++) {
		snprintf(to, sizeof(to), "c%d", i - 1);
		snprintf(from, sizeof(from), "team/agents/alice/c%d", i);
		make_symlink(to, from);
	}
	allows(g, W, "agents/alice/c30");
	denies_by(g, W, "agents/alice/c41", "path.link");
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(f10_a_dangling_link_makes_no_file_outside)
{
	agentbox_guard *g = engineer();
	agentbox_error *err = NULL;
	int32_t fd = -1;

	make_symlink(at("outside/new"), "team/agents/alice/d");
	make_symlink("../../../outside/new2", "team/agents/alice/e");
	make_symlink("fresh", "team/agents/alice/f");
	escapes(g, AGENTBOX_ACTION_CREATE, "agents/alice/d");
	escapes(g, AGENTBOX_ACTION_CREATE, "agents/alice/e");
	ck_assert_int_eq(agentbox_guard_open(g, AGENTBOX_OPEN_WRITE |
						    AGENTBOX_OPEN_CREATE,
					     0644, -1, "agents/alice/d", 14,
					     &fd, NULL, &err),
			 AGENTBOX_EDENIED);
	ck_assert_str_eq(agentbox_error_get_message(err),
			 "Path escapes workspace.");
	ck_assert_int_eq(fd, -1);
	agentbox_error_free(err);
	ck_assert(!is_there("outside/new"));
	/* one that leads to a place inside makes the file there */
	ck_assert_int_eq(agentbox_guard_open(g, AGENTBOX_OPEN_WRITE |
						    AGENTBOX_OPEN_CREATE,
					     0644, -1, "agents/alice/f", 14,
					     &fd, NULL, NULL), 0);
	ck_assert(is_there("team/agents/alice/fresh"));
	close(fd);
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(f12_a_file_with_another_name_is_not_written)
{
	agentbox_guard *g = engineer();
	int32_t fd = -1;

	ck_assert_int_eq(link(at("team/protected/keys"),
			      at("team/agents/alice/h")), 0);
	denies_by(g, W, "agents/alice/h", "path.hardlink");
	denies_by(g, AGENTBOX_ACTION_TRUNCATE, "agents/alice/h",
		  "path.hardlink");
	denies_by(g, AGENTBOX_ACTION_CHMOD, "agents/alice/h", "path.hardlink");
	ck_assert_int_eq(agentbox_guard_open(g, AGENTBOX_OPEN_WRITE |
						    AGENTBOX_OPEN_TRUNCATE,
					     0, -1, "agents/alice/h", 14, &fd,
					     NULL, NULL), AGENTBOX_EDENIED);
	ck_assert_int_eq(agentbox_guard_truncate(g, -1, "agents/alice/h", 14,
						 0, NULL, NULL),
			 AGENTBOX_EDENIED);
	ck_assert_str_eq(text_of("team/protected/keys"), "keys");
	allows(g, R, "agents/alice/h");
	/* the name may go, and another file take its place */
	allows(g, AGENTBOX_ACTION_DELETE, "agents/alice/h");
	allows(g, AGENTBOX_ACTION_REPLACE, "agents/alice/h");
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(f14_spellings_count_as_what_they_mean)
{
	agentbox_guard *g = engineer();
	char path[16384];

	escapes(g, W, "shared/../agents/bob/x");
	escapes(g, W, "shared/./../");
	escapes(g, W, "..");
	escapes(g, W, "../outside/secret");
	escapes(g, W, "agents/alice/../alice/a");
	snprintf(path, sizeof(path), "//%s//shared//x", team + 1);
	allows(g, W, path);
	allows(g, W, "shared//x");
	allows(g, W, "./shared/./x");
	allows(g, AGENTBOX_ACTION_MKDIR, "shared/d/");
	allows(g, AGENTBOX_ACTION_MKDIR, "shared/d/.");
	allows(g, W, "agents/alice/");
	denies_by(g, W, "agents/", "path.role");
	denies_by(g, W, "agents/bob/.", "path.role");
	denies_by(g, AGENTBOX_ACTION_CREATE, "shared/new/", "path.shape");
	denies_by(g, W, "shared/s/", "path.shape");
	denies_by(g, W, "shared/s/.", "path.shape");
	denies(g, W, "shared/s/x");
	agentbox_guard_unref(g);
}
END_TEST

/* Links on the way are followed, the one at the end is what is meant. */
START_TEST(f13_a_link_at_the_end_behind_a_link_is_itself)
{
	agentbox_guard *g = engineer();

	make_dir("team/shared/real");
	make_symlink("real", "team/shared/way");
	make_symlink("/etc", "team/shared/real/out");
	allows(g, AGENTBOX_ACTION_DELETE, "shared/way/out");
	allows(g, AGENTBOX_ACTION_RENAME, "shared/way/out");
	escapes(g, W, "shared/way/out");
	escapes(g, R, "shared/way/out");
	ck_assert_int_eq(agentbox_guard_unlink(g, -1, "shared/way/out", 14,
					       NULL, NULL), 0);
	ck_assert(!is_there("team/shared/real/out"));
	ck_assert(is_there("team/shared/real"));
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(f15_nothing_is_expanded)
{
	agentbox_guard *g = engineer();
	agentbox_guard *m = manager();
	static const char *const no[] = { "~/x", "~", "~bob/x", "$HOME/x",
					  "${HOME}/x", "$(pwd)/x", "$A", "$Z",
					  "${", "$(" };
	static const char *const yes[] = { "$", "$a", "$1", "$[", "$@" };

	for (size_t i = 0; i < AB_ARRAY_LEN(no); i++) {
		denies(g, W, no[i]);
		denies_by(m, W, no[i], "path.shape");
	}
	/* names like these in the middle are names */
	allows(g, W, "shared/~/x");
	allows(g, W, "shared/$HOME/x");
	allows(m, W, "$id.tsx");
	allows(m, W, "~notes");
	for (size_t i = 0; i < AB_ARRAY_LEN(yes); i++)
		allows(m, W, yes[i]);
	agentbox_guard_unref(g);
	agentbox_guard_unref(m);
}
END_TEST

/* The kernel's name of a directory that is gone, as another one's name. */
START_TEST(f11_a_directory_that_is_gone_is_not_the_one_of_its_name)
{
	agentbox_guard *g = engineer();
	agentbox_decision *d = NULL;
	int fd;

	make_dir("team/shared/d");
	fd = open(at("team/shared/d"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(agentbox_guard_check_path(g, W, fd, "x", 1, &d, NULL),
			 0);
	ck_assert_int_eq(agentbox_decision_get_verdict(d), ALLOW);
	ck_assert_int_eq(rmdir(at("team/shared/d")), 0);
	make_dir("team/shared/d (deleted)");
	ck_assert_int_eq(agentbox_guard_check_path(g, W, fd, "x", 1, &d, NULL),
			 0);
	ck_assert_int_eq(agentbox_decision_get_verdict(d), DENY);
	ck_assert_str_eq(agentbox_decision_get_rule(d), "path.escape");
	close(fd);
	agentbox_decision_free(d);
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(f16_a_name_may_be_as_long_as_the_kernel_takes_it)
{
	agentbox_guard *g = engineer();
	char name[300] = "shared/";

	memset(name + 7, 'b', 256);
	denies_by(g, W, name, "path.shape");
	name[7 + 255] = '\0';
	allows(g, W, name);
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(f16_malformed_paths_are_refused_bytewise)
{
	agentbox_guard *g = engineer();
	char longest[5001];
	char name[320] = "shared/";

	memset(longest, 'a', 5000);
	longest[5000] = '\0';
	memset(name + 7, 'b', 300);
	name[307] = '\0';
	ck_assert_int_eq(ask_n(g, W, "shared/a\0b", 10), DENY);
	ck_assert_str_eq(last_rule(), "path.shape");
	ck_assert_int_eq(ask_n(g, W, "\0", 1), DENY);
	denies_by(g, W, "", "path.shape");
	denies_by(g, W, longest, "path.shape");
	denies_by(g, W, name, "path.shape");
	allows(g, W, "shared/\xff\xfe");
	allows(g, W, "shared/\xed\xa0\x80"); /* a lone surrogate */
	allows(g, W, "shared/\xe2\x80\xa8"); /* U+2028 */
	allows(g, W, "shared/a\nb");
	for (size_t i = 0; i + 1 < 4000; i += 2) {
		longest[i] = '/';
		longest[i + 1] = 'c';
	}
	longest[4000] = '\0';
	denies(g, W, longest);
	ck_assert_int_eq(ask_n(g, W, longest + 1, 3999), DENY);
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(f17_magic_links_lead_nowhere)
{
	agentbox_guard *g = manager();
	static const char *const no[] = {
		"/proc/self/cwd/x", "/proc/self/root/etc/passwd",
		"/dev/fd/0", "/dev/stdout", "/dev/fd/3/x",
		"/proc/1/root/etc/passwd", "/proc/self/fd/1",
	};
	char path[16384];

	for (size_t i = 0; i < AB_ARRAY_LEN(no); i++) {
		escapes(g, W, no[i]);
		escapes(g, R, no[i]);
	}
	snprintf(path, sizeof(path), "/proc/self/root%s/charter.md", team);
	escapes(g, W, path);
	snprintf(path, sizeof(path), "/proc/thread-self/root%s/charter.md",
		 team);
	escapes(g, W, path);
	make_symlink("/proc/self/root", "team/root");
	make_symlink("/proc/self/fd/0", "team/fd");
	make_symlink("/dev/fd", "team/devfd");
	escapes(g, W, "root/etc/passwd");
	escapes(g, W, "fd");
	escapes(g, W, "devfd/1");
	agentbox_guard_unref(g);
}
END_TEST

static bool put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return good;
}

/* A mount namespace, as root or as an ordinary user in a user namespace. */
static bool own_mounts(void)
{
	char map[64];
	uid_t uid = getuid();
	gid_t gid = getgid();

	if (unshare(CLONE_NEWNS) < 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
			return false;
		snprintf(map, sizeof(map), "%u %u 1", uid, uid);
		if (!put("/proc/self/setgroups", "deny") ||
		    !put("/proc/self/uid_map", map))
			return false;
		snprintf(map, sizeof(map), "%u %u 1", gid, gid);
		if (!put("/proc/self/gid_map", map))
			return false;
	}
	return mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0;
}

/* Runs body in a child with a mount namespace of its own. */
static void in_mounts(void (*body)(void), const char *name,
		      const char *missing)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (!own_mounts())
			_exit(77);
		body();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		ab_test_skip(name, missing);
		return;
	}
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		      "%s: status %x", name, (unsigned)status);
}

#define must(x)                                                           \
	do {                                                              \
		if (!(x)) {                                               \
			fprintf(stderr, "# %d: %s: %s %s\n", __LINE__, #x, \
				last_rule(), last_reason());              \
			_exit(1);                                         \
		}                                                         \
	} while (0)

static void mounts_body(void)
{
	agentbox_guard *g;

	make_dir("team/agents/alice/m");
	make_file("team/agents/alice/file", "f");
	if (mount(at("outside"), at("team/agents/alice/m"), "none", MS_BIND,
		  NULL) < 0 ||
	    mount(at("outside/secret"), at("team/agents/alice/file"), "none",
		  MS_BIND, NULL) < 0)
		_exit(77);
	g = engineer();
	must(ask(g, W, "agents/alice/m/secret") == DENY);
	must(strcmp(last_rule(), "path.mount") == 0);
	must(ask(g, W, "agents/alice/m") == DENY);
	must(ask(g, W, "agents/alice/file") == DENY);
	must(ask(g, R, "agents/alice/file") == DENY);
	must(ask(g, W, "agents/alice/m/new") == DENY);
	must(ask(g, W, "agents/alice/a") == ALLOW);
	agentbox_guard_unref(g);
	/* an area that is a mount itself was put there by the host */
	must(mount(at("outside/dir"), at("team/shared"), "none", MS_BIND,
		   NULL) == 0);
	g = engineer();
	must(ask(g, W, "shared/new") == ALLOW);
	/* one that comes later is not what the guard was made for */
	must(umount2(at("team/shared"), MNT_DETACH) == 0);
	must(ask(g, W, "shared/new") == DENY);
	agentbox_guard_unref(g);
}

START_TEST(f18_mount_points_are_walls)
{
	in_mounts(mounts_body, "f18_mount_points_are_walls",
		  "no mount namespace");
}
END_TEST

static void casefold_body(void)
{
	agentbox_guard *g;
	char path[16384];

	snprintf(path, sizeof(path), "%.4000s/fold", base);
	make_dir("fold");
	if (mount("tmpfs", path, "tmpfs", 0, "casefold") < 0)
		_exit(77);
	make_dir("fold/team");
	snprintf(path, sizeof(path), "chattr +F '%.4000s/fold/team'", base);
	if (system(path) != 0)
		_exit(77);
	make_file("fold/team/shared/s", "s");
	make_file("fold/team/protected/keys", "k");
	make_file("fold/team/agents/alice/a", "a");
	if (!is_there("fold/team/SHARED/S"))
		_exit(77);
	g = guard_of("engineer", "{\"role\":{\"agent\":\"alice\"}}",
		     "fold/team", NULL);
	must(ask(g, W, "Shared/s") == ALLOW);
	must(ask(g, W, "AGENTS/alice/a") == ALLOW);
	must(ask(g, W, "Protected/keys") == DENY);
	must(ask(g, W, "agents/alice/.\xc5\xbf" "sh/rc") == DENY ||
	     ask(g, W, "agents/alice/.v\xc5\xbf" "code/x") == DENY);
	agentbox_guard_unref(g);
	g = guard_of("manager", "{}", "fold/team", NULL);
	must(ask(g, W, "PROTECTED/keys") == DENY);
	must(ask(g, W, "pro\xe2\x80\x8btected/keys") == DENY);
	must(ask(g, W, "x/.v\xc5\xbf" "code/tasks.json") == DENY);
	agentbox_guard_unref(g);
	umount(at("fold"));
}

START_TEST(f19_case_counts_unless_the_directory_folds)
{
	agentbox_guard *g = engineer();
	agentbox_guard *m = manager();

	denies_by(g, W, "Shared/x", "path.role");
	denies_by(g, W, "agents/Alice/x", "path.role");
	/* what some file system would fold into protected/ is refused */
	denies_by(m, W, "Protected/x", "path.protected");
	denies_by(m, W, "PROTECTED", "path.protected");
	denies_by(m, W, "x/.GIT/hooks/pre-commit", "path.protected");
	agentbox_guard_unref(g);
	agentbox_guard_unref(m);
}
END_TEST

START_TEST(f19_a_folding_directory_is_found_by_inode)
{
	in_mounts(casefold_body, "f19_a_folding_directory_is_found_by_inode",
		  "no file system with case folding");
}
END_TEST

START_TEST(f20_composed_and_decomposed_names_are_two)
{
	agentbox_guard *g;

	make_dir("team/agents/caf\xc3\xa9");
	make_dir("team/agents/cafe\xcc\x81");
	g = guard_of("engineer", "{\"role\":{\"agent\":\"caf\xc3\xa9\"}}",
		     "team", NULL);
	allows(g, W, "agents/caf\xc3\xa9/x");
	denies_by(g, W, "agents/cafe\xcc\x81/x", "path.role");
	denies_by(g, W, "agents/cafe/x", "path.role");
	agentbox_guard_unref(g);
	/* characters that a folding file system drops hide no name */
	g = manager();
	denies_by(g, W, "x/.g\xe2\x80\x8cit/hooks/x", "path.protected");
	denies_by(g, W, "x/.v\xc5\xbf" "code/tasks.json", "path.protected");
	denies_by(g, W, "x/.git/hooks./x", "path.protected");
	denies_by(g, W, "x/.bashrc ", "path.protected");
	allows(g, W, "x/caf\xc3\xa9.c");
	allows(g, W, "x/...");
	agentbox_guard_unref(g);
}
END_TEST

static void refuses_worktree(const char *path)
{
	char json[16384];

	snprintf(json, sizeof(json),
		 "{\"role\":{\"agent\":\"alice\",\"worktrees\":[\"%s\"]}}",
		 path);
	refuses("engineer", json, "team", AGENTBOX_EPOLICY);
}

START_TEST(f21_a_worktree_opens_itself_and_no_more)
{
	agentbox_guard *g;
	char json[16384];

	refuses_worktree("/");
	refuses_worktree("..");
	refuses_worktree(team);
	refuses_worktree(base);
	refuses_worktree(at("team/protected"));
	refuses_worktree(at("team/protected/keys"));
	make_dir("team/protected/wt");
	refuses_worktree(at("team/protected/wt"));
	refuses_worktree(at("team/agents"));
	refuses_worktree(at("team/charter.md"));
	make_symlink(team, "link-to-team");
	refuses_worktree(at("link-to-team"));
	make_symlink("team/protected", "link-to-protected");
	refuses_worktree(at("link-to-protected"));
	/* in the team, when the host says so */
	make_dir("team/worktrees/t1/src");
	snprintf(json, sizeof(json),
		 "{\"role\":{\"agent\":\"alice\",\"worktrees\":"
		 "[\"%s/worktrees/t1\",\"%s/not-there\"]}}", team, base);
	g = guard_of("engineer", json, "team", NULL);
	allows(g, W, "worktrees/t1/src/x.c");
	allows(g, W, at("team/worktrees/t1/src/x.c"));
	denies_by(g, W, "worktrees/t2/x", "path.role");
	denies_by(g, W, "worktrees/t1/.git/hooks/x", "path.protected");
	escapes(g, W, at("not-there/x"));
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(f21_a_worktree_beside_protected_is_one)
{
	char json[8192];
	agentbox_guard *g;
	int32_t code;

	make_dir("team/protected-not");
	snprintf(json, sizeof(json),
		 "{\"role\":{\"agent\":\"alice\",\"worktrees\":"
		 "[\"%s/protected-not\"]}}", team);
	g = guard_of("engineer", json, "team", &code);
	ck_assert_int_eq(code, 0);
	allows(g, W, "protected-not/x");
	denies_by(g, W, "protected/x", "path.protected");
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(f22_a_worktree_that_was_replaced_is_another)
{
	agentbox_guard *g = engineer();
	char json[16384];

	allows(g, W, at("wt/repo-T1/src/a.c"));
	ck_assert_int_eq(rename(at("wt/repo-T1"), at("wt/old")), 0);
	make_symlink("../outside", "wt/repo-T1");
	denies_by(g, W, at("wt/repo-T1/secret"), "path.area");
	ck_assert_int_eq(unlink(at("wt/repo-T1")), 0);
	make_dir("wt/repo-T1/src");
	denies_by(g, W, at("wt/repo-T1/src/a.c"), "path.area");
	escapes(g, W, at("wt/old/src/a.c"));
	agentbox_guard_unref(g);

	make_dir("team/worktrees/t1");
	snprintf(json, sizeof(json),
		 "{\"role\":{\"agent\":\"alice\",\"worktrees\":"
		 "[\"%s/worktrees/t1\"]}}", team);
	g = guard_of("engineer", json, "team", NULL);
	allows(g, W, "worktrees/t1/x");
	ck_assert_int_eq(rmdir(at("team/worktrees/t1")), 0);
	make_symlink("../agents/bob", "team/worktrees/t1");
	denies(g, W, "worktrees/t1/b");
	ck_assert_int_eq(unlink(at("team/worktrees/t1")), 0);
	make_dir("team/worktrees/t1");
	denies_by(g, W, "worktrees/t1/x", "path.area");
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(f23_every_class_of_change_is_judged)
{
	agentbox_guard *g = engineer();
	int fd;

	for (int32_t a = AGENTBOX_ACTION_WRITE; a <= AGENTBOX_ACTION_BIND;
	     a++) {
		bool never = a == AGENTBOX_ACTION_CHOWN ||
			     a == AGENTBOX_ACTION_MKNOD;

		ck_assert_int_eq(ask(g, a, "agents/alice/a"),
				 never ? DENY : ALLOW);
		denies(g, a, "agents/bob/b");
		denies(g, a, "protected/keys");
		denies(g, a, at("outside/secret"));
		denies(g, a, "../outside/secret");
	}
	/* what is there and is no file is not opened */
	ck_assert_int_eq(mkfifo(at("team/shared/fifo"), 0644), 0);
	denies_by(g, W, "shared/fifo", "path.type");
	denies_by(g, R, "shared/fifo", "path.type");
	allows(g, AGENTBOX_ACTION_DELETE, "shared/fifo");
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	close(fd);
	/* unknown actions are no actions */
	for (int32_t a = -1; a <= 20; a++) {
		agentbox_decision *d = NULL;
		bool known = a >= 1 && a <= AGENTBOX_ACTION_BIND;

		ck_assert_int_eq(agentbox_guard_check_path(g, a, -1,
							   "shared/s", 8, &d,
							   NULL),
				 known ? 0 : AGENTBOX_EINVAL);
		if (!known)
			ck_assert_int_eq(agentbox_decision_get_verdict(d),
					 DENY);
		agentbox_decision_free(d);
	}
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(f24_an_engineer_does_not_raise_its_own_limits)
{
	agentbox_guard *g = engineer();
	static const char *const no[] = { "agents/alice/config.yaml",
					  "agents/alice/config.json",
					  "agents/alice/CONFIG.YAML" };

	for (size_t i = 0; i < AB_ARRAY_LEN(no); i++) {
		denies_by(g, W, no[i], "path.protected");
		denies_by(g, AGENTBOX_ACTION_REPLACE, no[i],
			  "path.protected");
		denies_by(g, AGENTBOX_ACTION_DELETE, no[i], "path.protected");
		allows(g, R, no[i]);
	}
	allows(g, W, "agents/alice/journal");
	allows(g, W, "agents/alice/sub/config.yaml");
	allows(g, W, "shared/config.yaml");
	/* and keeps the directory it is in */
	denies_by(g, AGENTBOX_ACTION_RENAME, "agents/alice", "path.role");
	denies_by(g, AGENTBOX_ACTION_DELETE, "shared", "path.role");
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(protected_names_are_nobodys)
{
	agentbox_guard *g = workspace();
	static const char *const no[] = {
		".git/hooks/pre-commit", ".git/config", "sub/.git/config",
		".envrc", "a/b/.vscode/tasks.json", ".claude/settings.json",
		"x.code-workspace", ".mcp.json", ".husky/pre-push",
		".git/modules/a/b/hooks/x", "sub/.config/git/config",
	};
	static const char *const yes[] = { ".gitignore", "src/main.c",
					   ".github/workflows/ci.yml",
					   "docs/git/hooks", "config",
					   "vscode/x", "Makefile", ".git/HEAD",
					   "a.code-workspaces" };

	for (size_t i = 0; i < AB_ARRAY_LEN(no); i++) {
		denies_by(g, W, no[i], "path.protected");
		denies_by(g, AGENTBOX_ACTION_DELETE, no[i], "path.protected");
		allows(g, R, no[i]);
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(yes); i++)
		allows(g, W, yes[i]);
	/* what holds them cannot be moved, replaced or be something else */
	denies_by(g, AGENTBOX_ACTION_RENAME, ".git", "path.protected");
	denies_by(g, AGENTBOX_ACTION_REPLACE, "sub/.git", "path.protected");
	denies_by(g, AGENTBOX_ACTION_SYMLINK, "sub/.git", "path.protected");
	denies_by(g, AGENTBOX_ACTION_CREATE, ".git", "path.protected");
	denies_by(g, W, "new/.git", "path.protected");
	denies_by(g, AGENTBOX_ACTION_REPLACE, ".config", "path.protected");
	denies_by(g, AGENTBOX_ACTION_RENAME, ".git/modules/a",
		  "path.protected");
	allows(g, AGENTBOX_ACTION_MKDIR, "new/.git");
	allows(g, AGENTBOX_ACTION_RENAME, "src");
	agentbox_guard_unref(g);
}
END_TEST

/* gitrepository-layout(5): a file .git says where the repository is */
START_TEST(a_git_file_says_what_git_runs)
{
	static const int32_t actions[] = {
		W, AGENTBOX_ACTION_TRUNCATE, AGENTBOX_ACTION_CHMOD,
		AGENTBOX_ACTION_UTIME, AGENTBOX_ACTION_XATTR,
		AGENTBOX_ACTION_LINK, AGENTBOX_ACTION_DELETE,
	};
	agentbox_guard *g;
	agentbox_error *err = NULL;
	char path[5000];
	int32_t fd = -1;

	make_file("team/.git", "gitdir: x");
	make_file("team/sub/.git", "gitdir: x");
	make_file("team/dir/.git/HEAD", "ref: x");
	make_file("team/src/.gitx", "x");
	make_file("wt/repo-T1/.git", "gitdir: x");
	g = workspace();
	for (size_t i = 0; i < AB_ARRAY_LEN(actions); i++) {
		denies_by(g, actions[i], ".git", "path.protected");
		denies_by(g, actions[i], "sub/.git", "path.protected");
		allows(g, actions[i], "src/.gitx");
	}
	allows(g, R, ".git");
	allows(g, W, "dir/.git/HEAD");
	allows(g, AGENTBOX_ACTION_CHMOD, "dir/.git");
	ck_assert_int_eq(agentbox_guard_open(g, AGENTBOX_OPEN_WRITE, 0, -1,
					     "sub/.git", 8, &fd, NULL, &err),
			 AGENTBOX_EDENIED);
	agentbox_error_free(err);
	agentbox_guard_unref(g);
	g = engineer();
	snprintf(path, sizeof(path), "%s", at("wt/repo-T1/.git"));
	denies_by(g, W, path, "path.protected");
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(the_policys_own_patterns_are_anchored_at_the_workspace)
{
	agentbox_guard *g = guard_of("workspace",
				     "{\"protect\":[\"docs/*.lock\",\"*.pem\","
				     "\"build/**/final\"]}", "team", NULL);

	denies_by(g, W, "docs/a.lock", "path.protected");
	denies_by(g, W, "docs/A.LOCK", "path.protected");
	allows(g, W, "sub/docs/a.lock");
	denies_by(g, W, "deep/er/key.pem", "path.protected");
	denies_by(g, W, "key.pem/x", "path.protected");
	denies_by(g, W, "build/a/b/final", "path.protected");
	denies_by(g, AGENTBOX_ACTION_RENAME, "build/a", "path.protected");
	denies_by(g, AGENTBOX_ACTION_RENAME, "build", "path.protected");
	denies_by(g, AGENTBOX_ACTION_RENAME, "docs", "path.protected");
	allows(g, W, ".git/hooks/x"); /* the list was replaced */
	agentbox_guard_unref(g);
	g = guard_of("workspace", "{\"protect\":[]}", "team", NULL);
	allows(g, W, ".git/hooks/x");
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(a_read_only_workspace_is_read)
{
	agentbox_guard *g = guard_of("review", "{}", "team", NULL);

	allows(g, R, "charter.md");
	denies_by(g, W, "charter.md", "path.role");
	denies_by(g, AGENTBOX_ACTION_CREATE, "new", "path.role");
	denies_by(g, AGENTBOX_ACTION_DELETE, "charter.md", "path.role");
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(paths_start_at_the_fd_that_is_given)
{
	agentbox_guard *g = engineer();
	agentbox_decision *d = NULL;
	int own = open(at("team/agents/alice"), O_PATH | O_CLOEXEC);
	int root = open(team, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int tree = open(at("wt/repo-T1/src"), O_PATH | O_CLOEXEC);
	int out = open(at("outside"), O_PATH | O_CLOEXEC);
	int file = open(at("team/charter.md"), O_PATH | O_CLOEXEC);
	struct {
		int fd;
		const char *path;
		int32_t verdict;
	} rows[] = {
		{ own, "a", ALLOW },	  { own, ".", ALLOW },
		{ own, "../bob/b", DENY }, { own, "config.yaml", DENY },
		{ root, "shared/s", ALLOW }, { root, "charter.md", DENY },
		{ tree, "a.c", ALLOW },	  { tree, "../new.c", DENY },
		{ out, "secret", DENY },  { out, "new", DENY },
		{ file, "x", DENY },	  { 9999, "a", DENY },
		/* an absolute path does not care */
		{ out, at("team/shared/s"), ALLOW },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		ck_assert_int_eq(agentbox_guard_check_path(
					 g, W, rows[i].fd, rows[i].path,
					 strlen(rows[i].path), &d, NULL), 0);
		ck_assert_msg(agentbox_decision_get_verdict(d) ==
				      rows[i].verdict,
			      "%zu %s: %s", i, rows[i].path,
			      agentbox_decision_get_reason(d));
	}
	ck_assert_int_eq(agentbox_guard_check_path(g, W, AT_FDCWD, "a", 1, &d,
						   NULL), AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_decision_get_verdict(d), DENY);
	agentbox_decision_free(d);
	close(own);
	close(root);
	close(tree);
	close(out);
	close(file);
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(a_forked_child_makes_its_own_guard)
{
	agentbox_guard *g = engineer();
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		agentbox_decision *d = NULL;
		int32_t r = agentbox_guard_check_path(g, W, -1, "shared/s", 8,
						      &d, NULL);

		_exit(r == AGENTBOX_EFORKED &&
		      agentbox_decision_get_verdict(d) == DENY &&
		      agentbox_guard_allow_write(g, "shared/s", 8) == 0 ?
			      0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	agentbox_guard_unref(g);
}
END_TEST

START_TEST(a_moved_team_is_still_the_team)
{
	agentbox_guard *g = engineer();

	ck_assert_int_eq(rename(at("team"), at("moved")), 0);
	allows(g, W, "shared/s");
	denies_by(g, W, "agents/bob/b", "path.role");
	make_dir("team/shared");
	/* the name leads elsewhere now */
	denies_by(g, W, at("team/shared/s"), "path.area");
	agentbox_guard_unref(g);
}
END_TEST

static bool torture(void *data)
{
	int fd = open(team, O_PATH | O_CLOEXEC);
	agentbox_guard *g = NULL;
	agentbox_decision *d = NULL;
	int32_t r = agentbox_guard_new(data, fd, &g, NULL);

	close(fd);
	if (r == 0)
		r = agentbox_guard_check_path(g, W, -1, "shared/s", 8, &d,
					      NULL);
	ck_assert_int_eq(agentbox_decision_get_verdict(d),
			 r == 0 ? ALLOW : DENY);
	ck_assert_msg(r == 0 || r == AGENTBOX_ENOMEM, "%s",
		      agentbox_error_name(r));
	agentbox_decision_free(d);
	agentbox_guard_unref(g);
	return r == 0;
}

START_TEST(every_allocation_of_a_guard_may_fail)
{
	char json[16384];
	agentbox_policy *p = NULL;
	agentbox_policy *q = NULL;
	uint64_t tolerated = 0;

	snprintf(json, sizeof(json),
		 "{\"role\":{\"team_dir\":\"%s\",\"agent\":\"alice\","
		 "\"worktrees\":[\"%s/wt/repo-T1\"]}}", team, base);
	ck_assert_int_eq(agentbox_policy_builtin(context, "engineer", &p,
						 NULL), 0);
	ck_assert_int_eq(agentbox_policy_merge(p, json, strlen(json), &q,
					       NULL), 0);
	if (ab_torture_available())
		ck_assert_uint_ge(ab_torture(torture, q, 500, &tolerated), 10);
	ck_assert_uint_eq(tolerated, 0);
	agentbox_policy_unref(q);
	agentbox_policy_unref(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guard write");
	TCase *tc = tcase_create("write");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown);
	tcase_add_checked_fixture(tc, tree_setup, tree_teardown);
	tcase_add_test(tc, f01_unknown_roles_are_refused);
	tcase_add_test(tc, f02_names_that_are_no_names_are_refused);
	tcase_add_test(tc, f03_a_team_directory_is_named_and_is_not_everything);
	tcase_add_test(tc, a_guard_without_a_directory_refuses_every_path);
	tcase_add_test(tc, f04_what_an_engineer_writes);
	tcase_add_test(tc, f05_what_an_engineer_does_not_write);
	tcase_add_test(tc, f06_names_are_compared_whole);
	tcase_add_test(tc, f07_what_a_manager_writes);
	tcase_add_test(tc, f08_a_link_out_is_not_a_way_out);
	tcase_add_test(tc, f08_a_link_inside_counts_where_it_leads);
	tcase_add_test(tc, f09_loops_and_long_chains_end);
	tcase_add_test(tc, f10_a_dangling_link_makes_no_file_outside);
	tcase_add_test(tc, f12_a_file_with_another_name_is_not_written);
	tcase_add_test(tc, f14_spellings_count_as_what_they_mean);
	tcase_add_test(tc,
		       f11_a_directory_that_is_gone_is_not_the_one_of_its_name);
	tcase_add_test(tc, f13_a_link_at_the_end_behind_a_link_is_itself);
	tcase_add_test(tc, f15_nothing_is_expanded);
	tcase_add_test(tc, f16_a_name_may_be_as_long_as_the_kernel_takes_it);
	tcase_add_test(tc, f16_malformed_paths_are_refused_bytewise);
	tcase_add_test(tc, f17_magic_links_lead_nowhere);
	tcase_add_test(tc, f18_mount_points_are_walls);
	tcase_add_test(tc, f19_case_counts_unless_the_directory_folds);
	tcase_add_test(tc, f19_a_folding_directory_is_found_by_inode);
	tcase_add_test(tc, f20_composed_and_decomposed_names_are_two);
	tcase_add_test(tc, f21_a_worktree_opens_itself_and_no_more);
	tcase_add_test(tc, f21_a_worktree_beside_protected_is_one);
	tcase_add_test(tc, f22_a_worktree_that_was_replaced_is_another);
	tcase_add_test(tc, f23_every_class_of_change_is_judged);
	tcase_add_test(tc, f24_an_engineer_does_not_raise_its_own_limits);
	tcase_add_test(tc, protected_names_are_nobodys);
	tcase_add_test(tc, a_git_file_says_what_git_runs);
	tcase_add_test(tc,
		       the_policys_own_patterns_are_anchored_at_the_workspace);
	tcase_add_test(tc, a_read_only_workspace_is_read);
	tcase_add_test(tc, paths_start_at_the_fd_that_is_given);
	tcase_add_test(tc, a_forked_child_makes_its_own_guard);
	tcase_add_test(tc, a_moved_team_is_still_the_team);
	tcase_add_test(tc, every_allocation_of_a_guard_may_fail);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
