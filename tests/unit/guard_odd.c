/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The write guard on odd names and in odd places, judged by a path and acted
 * on: what a name may look like, where a descriptor may lead, which files
 * have two names, what a rename would make of what is protected.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abtest.h"
#include "base/attr.h"
#include "guard_tree.h"

#define OW AGENTBOX_OPEN_WRITE
#define OR AGENTBOX_OPEN_READ
#define OC AGENTBOX_OPEN_CREATE
#define OX AGENTBOX_OPEN_EXCLUSIVE
#define OT AGENTBOX_OPEN_TRUNCATE
#define DENIED AGENTBOX_EDENIED

static agentbox_guard *g; /* alice */
static agentbox_guard *w; /* the team as a workspace, no role */

static void setup(void)
{
	tree_setup();
	g = engineer();
	w = workspace();
}

static void teardown(void)
{
	agentbox_guard_unref(g);
	agentbox_guard_unref(w);
	tree_teardown();
}

/* --- what is done, by a path from the root --- */

static int32_t do_open(agentbox_guard *by, uint32_t flags, const char *path)
{
	int32_t fd = -1;
	int32_t r = agentbox_guard_open(by, flags, flags & OC ? 0640 : 0, -1,
					path, strlen(path), &fd, NULL, NULL);

	ck_assert_int_eq(r == 0, fd >= 0);
	if (fd >= 0)
		close(fd);
	return r;
}

static int32_t do_mkdir(agentbox_guard *by, const char *path, int parents)
{
	return agentbox_guard_mkdir(by, -1, path, strlen(path), 0755, parents,
				    NULL, NULL);
}

static int32_t do_unlink(agentbox_guard *by, const char *path)
{
	return agentbox_guard_unlink(by, -1, path, strlen(path), NULL, NULL);
}

static int32_t do_rmdir(agentbox_guard *by, const char *path)
{
	return agentbox_guard_rmdir(by, -1, path, strlen(path), NULL, NULL);
}

static int32_t do_rename(agentbox_guard *by, const char *from, const char *to,
			 uint32_t flags)
{
	return agentbox_guard_rename(by, -1, from, strlen(from), -1, to,
				     strlen(to), flags, NULL, NULL);
}

static int32_t do_link(agentbox_guard *by, const char *from, const char *to)
{
	return agentbox_guard_link(by, -1, from, strlen(from), -1, to,
				   strlen(to), NULL, NULL);
}

static int32_t do_symlink(agentbox_guard *by, const char *text,
			  const char *path)
{
	return agentbox_guard_symlink(by, text, strlen(text), -1, path,
				      strlen(path), NULL, NULL);
}

static int32_t do_chmod(agentbox_guard *by, const char *path, uint32_t mode)
{
	return agentbox_guard_chmod(by, -1, path, strlen(path), mode, NULL,
				    NULL);
}

/* The verdict of a write to a path from a descriptor. */
static int32_t ask_at(agentbox_guard *by, int32_t action, int fd,
		      const char *path)
{
	agentbox_decision *d = NULL;
	int32_t verdict, r = agentbox_guard_check_path(by, action, fd, path,
						       strlen(path), &d, NULL);

	verdict = r == 0 ? agentbox_decision_get_verdict(d) : DENY;
	agentbox_decision_free(d);
	return verdict;
}

/* --- names --- */

START_TEST(a_protected_name_has_many_spellings)
{
	static const char *const no[] = {
		".git./hooks/x", ".git /config", ".GIT. ./config",
		"sub/.Git/HOOKS/x", ".g\xc2\xadit/config", /* soft hyphen */
		"\xef\xbb\xbf.git/config", ".git\xe2\x80\x8d/config",
		".git/config\xe2\x80\x8b", ".con\xef\xac\x81g/git/config",
		".env\xc2\xadrc", ".ENVRC", ".envrc.", ".mcp.json ",
		"a/.vs\xef\xb8\x8f" "code/tasks.json", ".git/hooks/",
		".git//hooks///x", "./.git/./hooks/./x", ".hu\xc5\xbfky/x",
		"a/b/c/.claude./settings.json", ".git/modules/a/hooks/x ",
	};
	/* no file system takes these for what is protected */
	static const char *const yes[] = {
		".g\xc4\xb1t/config", ".g\xc4\xb0t/config", /* Turkish i */
		"..git/config", ".git.x/config", ".git-x/hooks/x", ".envrc\n",
		"git/config", ".gitx", "\n.git/config", ".env\nrc",
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(no); i++) {
		denies_by(w, W, no[i], "path.protected");
		ck_assert_int_eq(do_mkdir(w, no[i], 1), DENIED);
		ck_assert_int_ne(do_open(w, OW | OC, no[i]), 0);
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(yes); i++)
		allows(w, W, yes[i]);
}
END_TEST

START_TEST(a_name_may_hold_any_byte)
{
	static const char *const names[] = {
		"shared/a\nb", "shared/\x1b[2J", "shared/\xff\xfe\xc0\xae",
		"shared/\xed\xa0\x80", "shared/x (deleted)", "shared/a\\012b",
		"shared/\t", "shared/ ", "shared/...", "shared/-rf",
		"shared/\xc0\xaf", "shared/\"", "shared/cafe\xcc\x81",
		"shared/caf\xc3\xa9",
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		char there[512];
		int fd;

		allows(g, W, names[i]);
		ck_assert_int_eq(do_open(g, OW | OC | OX, names[i]), 0);
		snprintf(there, sizeof(there), "team/%s", names[i]);
		ck_assert_msg(is_there(there), "%s", names[i]);
		ck_assert_int_eq(do_unlink(g, names[i]), 0);
		/* and a directory of that name as a descriptor */
		ck_assert_int_eq(do_mkdir(g, names[i], 0), 0);
		fd = open(at(there), O_PATH | O_DIRECTORY | O_CLOEXEC);
		ck_assert_int_ge(fd, 0);
		ck_assert_int_eq(ask_at(g, W, fd, "x"), ALLOW);
		ck_assert_int_eq(ask_at(g, W, fd, "../../charter.md"), DENY);
		close(fd);
		ck_assert_int_eq(do_rmdir(g, names[i]), 0);
	}
	/* the two spellings of one name are two files */
	ck_assert_int_eq(do_open(g, OW | OC, "shared/caf\xc3\xa9"), 0);
	ck_assert(!is_there("team/shared/cafe\xcc\x81"));
}
END_TEST

START_TEST(what_a_refusal_says_can_be_shown)
{
	static const char path[] = "agents/bob/\n\x1b[2J\xff\xc2\x9b\"\\";
	agentbox_decision *d = NULL;
	agentbox_bytes *bytes = NULL;

	ck_assert_int_eq(agentbox_guard_check_path(g, W, -1, path,
						   sizeof(path) - 1, &d, NULL),
			 0);
	ck_assert_int_eq(agentbox_decision_get_verdict(d), DENY);
	ck_assert_int_eq(agentbox_decision_to_json(d, &bytes, NULL), 0);
	const char *text = agentbox_bytes_get_data(bytes);
	size_t n = agentbox_bytes_get_size(bytes);
	json_t *o = json_loadb(text, n, 0, NULL);

	ck_assert_ptr_nonnull(o);
	json_decref(o);
	for (size_t i = 0; i < n; i++)
		ck_assert_int_ge((unsigned char)text[i], ' ');
	for (const char *s = agentbox_decision_get_reason(d); *s; s++)
		ck_assert_int_ge((unsigned char)*s, ' ');
	agentbox_bytes_free(bytes);
	agentbox_decision_free(d);
}
END_TEST

/* --- ends --- */

START_TEST(dots_and_slashes_at_the_end_change_nothing)
{
	make_dir("team/shared/d/e");
	make_symlink("../../outside/made", "team/shared/out");
	make_symlink("../../outside/dir", "team/shared/outdir");
	ck_assert_int_ne(do_rmdir(g, "shared/d/e/.."), 0);
	ck_assert_int_ne(do_unlink(g, "shared/s/"), 0);
	ck_assert_int_ne(do_unlink(g, "shared/s/."), 0);
	ck_assert_int_ne(do_rename(g, "shared/s/", "shared/t", 0), 0);
	ck_assert_int_ne(do_rename(g, "shared/s", "shared/t/", 0), 0);
	ck_assert_int_ne(do_symlink(g, "s", "shared/l/"), 0);
	ck_assert_int_ne(do_link(g, "shared/s/", "shared/k"), 0);
	ck_assert_int_ne(do_open(g, OW | OC, "shared/new/"), 0);
	ck_assert_int_ne(do_open(g, OW | OC, "shared/new/."), 0);
	ck_assert_str_eq(text_of("team/shared/s"), "s");
	ck_assert(!is_there("team/shared/t") && !is_there("team/shared/l"));
	ck_assert(!is_there("team/shared/k") && !is_there("team/shared/new"));
	/* behind a link, a slash means what the link leads to */
	ck_assert_int_ne(do_mkdir(g, "shared/out/", 0), 0);
	ck_assert_int_ne(do_mkdir(g, "shared/out/.", 1), 0);
	ck_assert_int_ne(do_open(g, OW | OC, "shared/out/"), 0);
	ck_assert_int_ne(do_rmdir(g, "shared/outdir/"), 0);
	ck_assert_int_ne(do_rename(g, "shared/outdir/", "shared/t", 0), 0);
	ck_assert_int_ne(do_chmod(g, "shared/outdir/", 0700), 0);
	ck_assert_int_ne(do_open(g, OR | AGENTBOX_OPEN_DIRECTORY,
				 "shared/outdir/"), 0);
	ck_assert(!is_there("outside/made") && is_there("outside/dir"));
	/* and of a directory it is the directory */
	ck_assert_int_eq(do_rename(g, "shared/d/e/", "shared/t/", 0), 0);
	ck_assert_int_eq(do_rmdir(g, "shared/t/"), 0);
}
END_TEST

START_TEST(a_path_may_be_as_long_as_the_kernel_takes_it)
{
	char path[5000];
	size_t n = 0;
	int fd, up;

	memcpy(path, "shared", 6);
	for (n = 6; n + 2 < 4094; n += 2)
		memcpy(path + n, "/.", 2);
	memcpy(path + n, "/x", 3);
	ck_assert_uint_le(strlen(path), 4095);
	allows(g, W, path);
	ck_assert_int_eq(do_open(g, OW | OC, path), 0);
	ck_assert(is_there("team/shared/x"));
	memcpy(path + n, "/././././x", 11);
	ck_assert_uint_ge(strlen(path), 4096);
	denies_by(g, W, path, "path.shape");
	ck_assert_int_ne(do_open(g, OW | OC, path), 0);
	/* a directory whose own path is longer than any path may be */
	memset(path, 'd', 200);
	path[200] = '\0';
	fd = open(at("team/shared"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 25; i++) {
		ck_assert_int_eq(mkdirat(fd, path, 0755), 0);
		up = fd;
		fd = openat(up, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		ck_assert_int_ge(fd, 0);
		close(up);
	}
	ck_assert_int_eq(ask_at(g, W, fd, "x"), DENY);
	ck_assert_int_eq(ask_at(g, R, fd, "../x"), DENY);
	ck_assert_int_ne(agentbox_guard_unlink(g, fd, "x", 1, NULL, NULL), 0);
	close(fd);
}
END_TEST

/* --- descriptors --- */

START_TEST(only_a_directory_inside_is_a_place_to_start)
{
	int ends[2] = { -1, -1 };
	int odd[10], n = 0;

	make_symlink("shared", "team/link");
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	odd[n++] = ends[0];
	odd[n++] = ends[1];
	odd[n++] = eventfd(0, EFD_CLOEXEC);
	odd[n++] = (int)memfd_create("m", MFD_CLOEXEC);
	odd[n++] = open("/dev/null", O_RDWR | O_CLOEXEC);
	odd[n++] = open("/", O_PATH | O_CLOEXEC);
	odd[n++] = open("/proc/self/root", O_PATH | O_CLOEXEC);
	odd[n++] = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	odd[n++] = open(at("team/link"), O_PATH | O_NOFOLLOW | O_CLOEXEC);
	odd[n++] = open(at("team/shared/s"), O_PATH | O_CLOEXEC);
	for (int i = 0; i < n; i++) {
		ck_assert_int_ge(odd[i], 0);
		ck_assert_int_eq(ask_at(g, W, odd[i], "s"), DENY);
		ck_assert_int_eq(ask_at(g, R, odd[i], "s"), DENY);
		ck_assert_int_eq(ask_at(g, W, odd[i], "."), DENY);
		ck_assert_int_eq(ask_at(g, R, odd[i], "etc/passwd"), DENY);
		ck_assert_int_ne(agentbox_guard_mkdir(g, odd[i], "m", 1, 0755,
						      0, NULL, NULL), 0);
		/* what begins at the root does not care */
		ck_assert_int_eq(ask_at(g, W, odd[i], at("team/shared/s")),
				 ALLOW);
		close(odd[i]);
		ck_assert_int_eq(ask_at(g, W, odd[i], "s"), DENY);
	}
}
END_TEST

START_TEST(a_directory_counts_where_it_is_now)
{
	int fd;

	make_dir("team/shared/d");
	fd = open(at("team/shared/d"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(ask_at(g, W, fd, "x"), ALLOW);
	ck_assert_int_eq(rename(at("team/shared/d"), at("outside/d")), 0);
	ck_assert_int_eq(ask_at(g, W, fd, "x"), DENY);
	ck_assert_int_eq(ask_at(g, R, fd, "x"), DENY);
	ck_assert_int_ne(agentbox_guard_mkdir(g, fd, "m", 1, 0755, 1, NULL,
					      NULL), 0);
	ck_assert(!is_there("outside/d/m"));
	ck_assert_int_eq(rename(at("outside/d"), at("team/agents/bob/d")), 0);
	ck_assert_int_eq(ask_at(g, W, fd, "x"), DENY);
	ck_assert_int_eq(ask_at(g, R, fd, "x"), ALLOW);
	ck_assert_int_eq(rename(at("team/agents/bob/d"),
				at("team/protected/d")), 0);
	ck_assert_int_eq(ask_at(g, W, fd, "x"), DENY);
	ck_assert_int_eq(agentbox_guard_symlink(g, "s", 1, fd, "l", 1, NULL,
						NULL), DENIED);
	make_dir("wt/repo-T1/.git");
	ck_assert_int_eq(rename(at("team/protected/d"),
				at("wt/repo-T1/.git/hooks")), 0);
	ck_assert_int_eq(ask_at(g, W, fd, "pre-commit"), DENY);
	ck_assert_int_eq(ask_at(g, AGENTBOX_ACTION_CHMOD, fd, "."), DENY);
	ck_assert_int_eq(rename(at("wt/repo-T1/.git/hooks"),
				at("wt/repo-T1/ok")), 0);
	ck_assert_int_eq(ask_at(g, W, fd, "pre-commit"), ALLOW);
	close(fd);
}
END_TEST

START_TEST(magic_links_lead_nowhere_from_anywhere)
{
	static const char *const no[] = {
		"/proc/self/task/1/root/etc/passwd", "/proc/self/fd/../root",
		"/dev/fd/../../etc/passwd", "/dev/./fd/1", "/dev//fd/1",
		"/proc/self/ns/mnt", "/proc/self/exe", "/proc/self/map_files",
		"/dev/pts/0", "/dev/tty", "/proc/self/./root/x/y",
	};
	char text[64], path[8192];
	int fd = open(at("team/shared"), O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < AB_ARRAY_LEN(no); i++) {
		denies(g, W, no[i]);
		denies(g, R, no[i]);
		ck_assert_int_ne(do_open(g, OR, no[i]), 0);
	}
	/* a way in that goes round by /proc is not taken */
	snprintf(text, sizeof(text), "/proc/self/fd/%d", fd);
	make_symlink(text, "team/shared/round");
	denies(g, W, "shared/round/s");
	denies(g, R, "shared/round/s");
	ck_assert_int_ne(do_open(g, OW | OC, "shared/round/new"), 0);
	snprintf(path, sizeof(path), "%s/s", text);
	denies(g, W, path);
	snprintf(path, sizeof(path), "/proc/self/root%s/shared/s", team);
	denies(g, W, path);
	ck_assert_int_ne(do_open(g, OW, path), 0);
	ck_assert(!is_there("team/shared/new"));
	close(fd);
}
END_TEST

/* --- two names, or none --- */

START_TEST(a_second_name_is_no_way_to_the_first)
{
	struct stat st;

	make_file("team/shared/mine", "m");
	ck_assert_int_eq(link(at("team/agents/bob/b"),
			      at("team/shared/b")), 0);
	ck_assert_int_eq(link(at("team/shared/mine"),
			      at("team/agents/alice/mine")), 0);
	denies_by(g, W, "shared/b", "path.hardlink");
	denies_by(g, AGENTBOX_ACTION_UTIME, "shared/b", "path.hardlink");
	denies_by(g, AGENTBOX_ACTION_XATTR, "shared/b", "path.hardlink");
	denies_by(g, W, "shared/mine", "path.hardlink");
	ck_assert_int_eq(do_open(g, OW | OC | OT, "shared/b"), DENIED);
	ck_assert_int_eq(do_open(g, OW | AGENTBOX_OPEN_APPEND, "shared/b"),
			 DENIED);
	ck_assert_int_eq(do_chmod(g, "shared/b", 0), DENIED);
	ck_assert_int_eq(agentbox_guard_set_times(g, -1, "shared/b", 8, 0, 0,
						  NULL, NULL), DENIED);
	make_symlink("b", "team/shared/to-b");
	ck_assert_int_eq(do_open(g, OW, "shared/to-b"), DENIED);
	ck_assert_str_eq(text_of("team/agents/bob/b"), "b");
	ck_assert_int_eq(do_open(g, OR, "shared/b"), 0);
	/* a file that takes its place leaves the other alone */
	make_file("team/shared/fresh", "fresh");
	ck_assert_int_eq(do_rename(g, "shared/fresh", "shared/b", 0), 0);
	ck_assert_str_eq(text_of("team/agents/bob/b"), "b");
	ck_assert_int_eq(do_open(g, OW, "shared/b"), 0);
	ck_assert_int_eq(do_unlink(g, "agents/alice/mine"), 0);
	ck_assert_int_eq(do_open(g, OW, "shared/mine"), 0);
	ck_assert_int_eq(stat(at("team/agents/bob/b"), &st), 0);
	ck_assert_uint_eq(st.st_nlink, 1);
}
END_TEST

START_TEST(a_dangling_link_is_a_name_and_no_file)
{
	make_symlink("../../outside/made", "team/shared/out");
	make_symlink("../agents/bob/made", "team/shared/bob");
	make_symlink("../protected/made", "team/shared/prot");
	make_symlink("fresh", "team/shared/in");
	static const char *const out[] = { "shared/out", "shared/bob",
					   "shared/prot" };

	for (size_t i = 0; i < AB_ARRAY_LEN(out); i++) {
		ck_assert_int_eq(do_open(g, OW | OC, out[i]), DENIED);
		ck_assert_int_ne(do_open(g, OW | OC | OX, out[i]), 0);
		ck_assert_int_ne(do_open(g, OW | OC | AGENTBOX_OPEN_NOFOLLOW,
					 out[i]), 0);
		ck_assert_int_ne(do_mkdir(g, out[i], 1), 0);
		ck_assert_int_ne(do_chmod(g, out[i], 0600), 0);
		ck_assert_int_ne(do_link(g, out[i], "shared/k"), 0);
		ck_assert_int_ne(do_link(g, "shared/s", out[i]), 0);
		ck_assert_int_ne(do_symlink(g, "s", out[i]), 0);
		ck_assert_int_ne(agentbox_guard_truncate(g, -1, out[i],
							 strlen(out[i]), 0,
							 NULL, NULL), 0);
	}
	ck_assert(!is_there("outside/made") && !is_there("team/shared/k"));
	ck_assert(!is_there("team/agents/bob/made"));
	ck_assert(!is_there("team/protected/made"));
	/* a rename takes the place of the link, not of what it names */
	make_file("team/shared/tmp", "new");
	ck_assert_int_eq(do_rename(g, "shared/tmp", "shared/out", 0), 0);
	ck_assert_str_eq(text_of("team/shared/out"), "new");
	ck_assert(!is_there("outside/made"));
	ck_assert_int_eq(do_rename(g, "shared/bob", "shared/moved",
				   AGENTBOX_RENAME_NOREPLACE), 0);
	ck_assert_int_eq(do_unlink(g, "shared/moved"), 0);
	ck_assert_int_eq(do_open(g, OW | OC, "shared/in"), 0);
	ck_assert(is_there("team/shared/fresh"));
}
END_TEST

/* --- renames over what is protected --- */

START_TEST(a_rename_makes_nothing_protected)
{
	static const struct {
		const char *from, *to;
	} no[] = {
		{ "fake", ".git" }, { "fake", "sub/.git" },
		{ "fake", ".git/hooks" }, { "fake", ".git/modules/a" },
		{ "fake", ".git/modules" }, { "fake", ".vscode" },
		{ "fake", ".config" }, { "fake", ".claude" },
		{ "fake", ".husky" }, { "fake", ".GIT" },
		{ "fake", ".git." }, { "fake/x", ".envrc" },
		{ "fake/x", ".mcp.json" }, { "fake/x", ".git/config" },
		{ ".git", "fake2" }, { ".git/hooks", "fake2" },
		{ ".git/config", "fake2" }, { "sub/.git", "fake2" },
		{ ".vscode", "fake2" },
	};

	make_file("team/fake/x", "x");
	make_file("team/.git/hooks/pre-commit", "h");
	make_file("team/.git/config", "c");
	make_dir("team/.git/modules");
	make_file("team/.vscode/tasks.json", "{}");
	make_file("team/sub/.git/hooks/x", "x");
	for (size_t i = 0; i < AB_ARRAY_LEN(no); i++) {
		for (uint32_t f = 0; f <= AGENTBOX_RENAME_EXCHANGE; f++) {
			ck_assert_msg(do_rename(w, no[i].from, no[i].to, f) ==
					      DENIED, "%s to %s, %u",
				      no[i].from, no[i].to, f);
		}
		/* and the other way round */
		ck_assert_int_ne(do_rename(w, no[i].to, no[i].from,
					   AGENTBOX_RENAME_EXCHANGE), 0);
	}
	ck_assert_str_eq(text_of("team/.git/hooks/pre-commit"), "h");
	ck_assert_str_eq(text_of("team/.git/config"), "c");
	ck_assert_str_eq(text_of("team/fake/x"), "x");
	/* what only holds such a thing deep inside moves with it */
	ck_assert_int_eq(do_rename(w, "sub", "sub2", 0), 0);
	denies_by(w, W, "sub2/.git/hooks/x", "path.protected");
}
END_TEST

START_TEST(an_exchange_needs_both_ends)
{
	make_file("team/shared/x", "x");
	make_dir("team/shared/d");
	static const struct {
		const char *a, *b;
	} no[] = {
		{ "shared/x", "agents/bob/b" }, { "shared/x", "charter.md" },
		{ "shared/d", "agents/alice" }, { "shared/d", "agents/bob" },
		{ "shared/x", "agents/alice/config.yaml" },
		{ "shared/d", "protected" }, { "shared", "agents/alice" },
		{ "shared/x", "../outside/secret" }, { "shared/d", "shared" },
		{ "shared/d", "." },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(no); i++) {
		ck_assert_int_eq(do_rename(g, no[i].a, no[i].b,
					   AGENTBOX_RENAME_EXCHANGE), DENIED);
		ck_assert_int_eq(do_rename(g, no[i].b, no[i].a,
					   AGENTBOX_RENAME_EXCHANGE), DENIED);
	}
	ck_assert_str_eq(text_of("team/shared/x"), "x");
	ck_assert_int_eq(do_rename(g, "shared/x", "shared/d",
				   AGENTBOX_RENAME_EXCHANGE), 0);
	ck_assert_str_eq(text_of("team/shared/d"), "x");
}
END_TEST

/* --- the root --- */

static void move(const char *from, const char *to)
{
	ck_assert_int_eq(rename(at(from), at(to)), 0);
}

/* Who opens the path is where its name leads to now. */
START_TEST(a_root_that_was_replaced_goes_by_its_name_no_more)
{
	int fd = -1;

	make_symlink(at("team/shared/s"), "team/shared/to-s");
	allows(w, W, at("team/shared/s"));
	allows(w, W, "shared/to-s");
	move("team", "elsewhere");
	denies_by(w, W, at("team/shared/s"), "path.area");
	make_symlink("outside", "team");
	denies_by(w, W, at("team/secret"), "path.area");
	denies_by(w, R, at("team/secret"), "path.area");
	denies_by(g, W, at("team/shared/new"), "path.area");
	denies_by(w, W, "shared/to-s", "path.area");
	ck_assert_int_eq(agentbox_guard_open(
				 w, AGENTBOX_OPEN_WRITE | AGENTBOX_OPEN_CREATE,
				 0600, -1, at("team/new"),
				 strlen(at("team/new")), &fd, NULL, NULL),
			 DENIED);
	/* its own directory is where it was */
	allows(w, W, "shared/s");
	ck_assert_int_eq(unlink(at("team")), 0);
	make_file("team/shared/s", "another");
	denies_by(w, W, at("team/shared/s"), "path.area");
	move("team", "another");
	move("elsewhere", "team");
	allows(w, W, at("team/shared/s"));
	allows(w, W, "shared/to-s");
}
END_TEST

/* --- modes --- */

START_TEST(modes_of_directories)
{
	struct stat st;

	make_dir("team/shared/d");
	make_dir("team/.git/hooks");
	make_symlink("../agents/bob", "team/shared/bob");
	ck_assert_int_eq(do_chmod(g, "shared/d", 0700), 0);
	ck_assert_int_eq(stat(at("team/shared/d"), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(do_chmod(g, "shared/d", 01777), AGENTBOX_EINVAL);
	ck_assert_int_eq(do_chmod(g, "shared/d", 02755), AGENTBOX_EINVAL);
	ck_assert_int_eq(do_chmod(g, ".", 0777), DENIED);
	ck_assert_int_eq(do_chmod(g, "agents", 0777), DENIED);
	ck_assert_int_eq(do_chmod(g, "agents/bob", 0777), DENIED);
	ck_assert_int_eq(do_chmod(g, "shared/bob", 0777), DENIED);
	ck_assert_int_eq(do_chmod(g, "shared/bob/", 0777), DENIED);
	ck_assert_int_eq(do_chmod(g, "protected", 0777), DENIED);
	ck_assert_int_eq(do_chmod(g, "..", 0777), DENIED);
	ck_assert_int_eq(do_chmod(w, ".git/hooks", 0777), DENIED);
	denies_by(w, AGENTBOX_ACTION_XATTR, ".git/hooks", "path.protected");
	denies_by(w, AGENTBOX_ACTION_UTIME, ".git/hooks", "path.protected");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guard_odd");
	TCase *t = tcase_create("odd");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_protected_name_has_many_spellings);
	tcase_add_test(t, a_name_may_hold_any_byte);
	tcase_add_test(t, what_a_refusal_says_can_be_shown);
	tcase_add_test(t, dots_and_slashes_at_the_end_change_nothing);
	tcase_add_test(t, a_path_may_be_as_long_as_the_kernel_takes_it);
	tcase_add_test(t, only_a_directory_inside_is_a_place_to_start);
	tcase_add_test(t, a_directory_counts_where_it_is_now);
	tcase_add_test(t, magic_links_lead_nowhere_from_anywhere);
	tcase_add_test(t, a_second_name_is_no_way_to_the_first);
	tcase_add_test(t, a_dangling_link_is_a_name_and_no_file);
	tcase_add_test(t, a_rename_makes_nothing_protected);
	tcase_add_test(t, an_exchange_needs_both_ends);
	tcase_add_test(t, a_root_that_was_replaced_goes_by_its_name_no_more);
	tcase_add_test(t, modes_of_directories);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
