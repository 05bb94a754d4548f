/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lib/path: lexical rules, glob, and resolution by the kernel. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abtest.h"
#include "base/attr.h"
#include "path/glob.h"
#include "path/lexical.h"
#include "path/resolve.h"

static int relative(const char *s)
{
	return ab_path_check_relative(s, strlen(s));
}

START_TEST(relative_paths_have_one_spelling)
{
	static const char *const good[] = { "a", "a/b", "a.b", "..a", "a/...",
					    "~", "$HOME", "\xff\xfe", "a\nb" };
	static const char *const bad[] = { "",	   ".",	   "..",    "/",
					   "/a",   "a/",   "a//b",  "./a",
					   "a/./b", "a/..", "../a", "a/../b" };

	for (size_t i = 0; i < AB_ARRAY_LEN(good); i++)
		ck_assert_msg(relative(good[i]) == 0, "%s", good[i]);
	for (size_t i = 0; i < AB_ARRAY_LEN(bad); i++)
		ck_assert_msg(relative(bad[i]) == -EINVAL, "%s", bad[i]);
	ck_assert_int_eq(ab_path_check_relative("a\0b", 3), -EINVAL);
}
END_TEST

START_TEST(too_long_is_its_own_error)
{
	char name[AB_MAX_NAME + 2];
	char path[AB_MAX_PATH + 1];

	memset(name, 'a', sizeof(name));
	ck_assert_int_eq(ab_path_check_relative(name, AB_MAX_NAME), 0);
	ck_assert_int_eq(ab_path_check_relative(name, AB_MAX_NAME + 1),
			 -ENAMETOOLONG);
	for (size_t i = 0; i < sizeof(path); i++)
		path[i] = i % 2 ? '/' : 'a';
	ck_assert_int_eq(ab_path_check_relative(path, AB_MAX_PATH - 1), 0);
	ck_assert_int_eq(ab_path_check_relative(path, AB_MAX_PATH + 1),
			 -ENAMETOOLONG);
}
END_TEST

START_TEST(below_is_by_components)
{
	ck_assert(ab_path_is_below("/a/b", "/a"));
	ck_assert(ab_path_is_below("/a", "/a"));
	ck_assert(ab_path_is_below("/a", "/"));
	ck_assert(!ab_path_is_below("/ab", "/a"));
	ck_assert(!ab_path_is_below("/a", "/a/b"));
	ck_assert(!ab_path_is_below("/srv/teamAB", "/srv/teamA"));
	ck_assert_str_eq(ab_path_rest("/a/b/c", "/a"), "b/c");
	ck_assert_str_eq(ab_path_rest("/a", "/a"), "");
	ck_assert_str_eq(ab_path_rest("/a/b", "/"), "a/b");
	ck_assert_ptr_null(ab_path_rest("/ab", "/a"));
}
END_TEST

START_TEST(normalising_drops_the_void_and_refuses_parents)
{
	char out[AB_MAX_PATH];

	ck_assert_int_eq(ab_path_normalise("//a/./b//", 9, out, sizeof(out)),
			 4);
	ck_assert_str_eq(out, "/a/b");
	ck_assert_int_eq(ab_path_normalise("/./", 3, out, sizeof(out)), 1);
	ck_assert_str_eq(out, "/");
	ck_assert_int_eq(ab_path_normalise("/a/../b", 7, out, sizeof(out)),
			 -EINVAL);
	ck_assert_int_eq(ab_path_normalise("a", 1, out, sizeof(out)), -EINVAL);
	ck_assert_int_eq(ab_path_normalise("/abc", 4, out, 4), -ENAMETOOLONG);
}
END_TEST

START_TEST(joining_knows_the_root_and_the_end)
{
	char out[AB_MAX_PATH];

	ck_assert_int_eq(ab_path_join("/", "a", out, sizeof(out)), 2);
	ck_assert_str_eq(out, "/a");
	ck_assert_int_eq(ab_path_join("/a", "", out, sizeof(out)), 2);
	ck_assert_str_eq(out, "/a");
	ck_assert_int_eq(ab_path_join("/", "", out, sizeof(out)), 1);
	ck_assert_str_eq(out, "/");
	ck_assert_int_eq(ab_path_join("/a", "b/c", out, sizeof(out)), 6);
	ck_assert_str_eq(out, "/a/b/c");
	ck_assert_int_eq(ab_path_join("/abc", "d", out, 6), -ENAMETOOLONG);
}
END_TEST

static const struct glob_row {
	const char *pattern, *path;
	bool match;
} glob_rows[] = {
	{ "a", "a", true },	      { "a", "b/a", true },
	{ "a", "a/b", false },	      { "a/b", "a/b", true },
	{ "a/b", "x/a/b", false },    { "*.lock", "x/y.lock", true },
	{ "docs/*.lock", "docs/a.lock", true },
	{ "docs/*.lock", "docs/a/b.lock", false },
	{ "docs/**", "docs/a/b", true }, { "docs/**", "docs", true },
	{ "**/x", "x", true },	      { "**/x", "a/b/x", true },
	{ "**/x", "a/bx", false },    { "a/**/b", "a/b", true },
	{ "a/**/b", "a/x/y/b", true }, { "a/**/b", "a/x/yb", false },
	{ "a?c", "abc", true },	      { "a?c", "a/c", false },
	{ "[a-c]x", "bx", true },     { "[!a-c]x", "bx", false },
	{ "[^a-c]x", "dx", true },    { "[]x]", "]", true },
	{ "[a-]", "-", true },	      { "\\*", "*", true },
	{ "\\*", "a", false },	      { "a/", "a", true },
	{ ".git/modules/**/hooks", ".git/modules/a/b/hooks", true },
	{ ".git/modules/**/hooks", ".git/modules/hooks", true },
	{ ".git/hooks", "sub/.git/hooks", false },
	{ "*", "anything", true },    { "**", "a/b/c", true },
	{ "[", "[", false },	      { "/a", "a", false },
	{ "!a", "a", false },
	{ "[[:alpha:]]x", "bx", true }, { "[[:alpha:]]x", "1x", false },
	{ "[![:alpha:]]x", "1x", true }, { "[a[:digit:]]", "7", true },
	{ "[a[:digit:]]", "a", true }, { "[a[:digit:]]", ":", false },
	{ "[[:upper:]]", "a", false }, { "[[:xdigit:]-]", "-", true },
	{ "[[:]", ":", true },	      { "[[:]", "[", true },
	{ "[a-[:digit:]]", "3", true }, { "[a-[:digit:]]", "-", true },
	/* of a range that runs backwards the first byte, as in git */
	{ "[z-a]x", "zx", true },     { "[z-a]x", "ax", false },
	{ "[z-a]x", "mx", false },    { "[!z-a]x", "zx", false },
	{ "[!z-a]x", "ax", true },
};

START_TEST(patterns_match_as_documented)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(glob_rows); i++)
		ck_assert_msg(ab_glob_match(glob_rows[i].pattern,
					    glob_rows[i].path,
					    0) == glob_rows[i].match,
			      "'%s' on '%s'", glob_rows[i].pattern,
			      glob_rows[i].path);
	ck_assert(ab_glob_match(".git/hooks", ".GIT/Hooks", AB_GLOB_FOLD));
	ck_assert(!ab_glob_match(".git/hooks", ".GIT/Hooks", 0));
	/* of a range that spans both cases, what lies between them too */
	ck_assert(ab_glob_match("[A-z]x", "_x", AB_GLOB_FOLD));
	ck_assert(ab_glob_match("[A-C]", "b", AB_GLOB_FOLD));
	ck_assert(ab_glob_match("[a-c]", "B", AB_GLOB_FOLD));
	ck_assert(ab_glob_match("[[:upper:]]", "a", AB_GLOB_FOLD));
	ck_assert(!ab_glob_match("[!a-c]", "B", AB_GLOB_FOLD));
	ck_assert(ab_glob_match_below("a/b", "a/b/c/d", 0));
	ck_assert(ab_glob_match_below("b", "a/b/c", 0));
	ck_assert(!ab_glob_match_below("a/b", "a/bc/d", 0));
}
END_TEST

START_TEST(malformed_patterns_are_refused)
{
	static const char *const bad[] = { "",	  "/a",	 "!a",	 "[a",
					   "a\\", "a//b", "../a", "a/..",
					   ".",	  "\\\\[", "[/]", "a//",
					   "[[:no:]]", "[[::]]",
					   "[[:alpha:]" };

	for (size_t i = 0; i < AB_ARRAY_LEN(bad); i++)
		ck_assert_msg(ab_glob_check(bad[i], strlen(bad[i])) == -EINVAL,
			      "%s", bad[i]);
	ck_assert_int_eq(ab_glob_check("a\\[", 3), 0);
	ck_assert_int_eq(ab_glob_check("\\\\", 2), 0);
}
END_TEST

START_TEST(a_hostile_pattern_ends_soon)
{
	char pattern[200] = "";
	char path[256];

	for (int i = 0; i < 60; i++)
		strcat(pattern, "*a");
	strcat(pattern, "b");
	memset(path, 'a', 255);
	path[255] = '\0';
	/* exponential matching would not end before the test's timeout */
	for (int i = 0; i < 200; i++)
		ck_assert(!ab_glob_match(pattern, path, 0));
}
END_TEST

/* --- resolution -------------------------------------------------------- */

static char top[4096];
static int top_fd = -1;

static void make_tree(void)
{
	snprintf(top, sizeof(top), "%s/path.XXXXXX", ab_test_tmpdir());
	ck_assert_ptr_nonnull(mkdtemp(top));
	top_fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(top_fd, 0);
	ck_assert_int_eq(mkdirat(top_fd, "in", 0755), 0);
	ck_assert_int_eq(mkdirat(top_fd, "in/sub", 0755), 0);
	ck_assert_int_eq(symlinkat("sub", top_fd, "in/good"), 0);
	ck_assert_int_eq(symlinkat("/etc", top_fd, "in/absolute"), 0);
	ck_assert_int_eq(symlinkat("../..", top_fd, "in/out"), 0);
	ck_assert_int_eq(symlinkat("loop", top_fd, "in/loop"), 0);
	ck_assert_int_eq(symlinkat("/proc/self/root", top_fd, "in/magic"), 0);
}

static void remove_tree(void)
{
	static const char *const names[] = { "in/good", "in/absolute", "in/out",
					     "in/loop", "in/magic", "in/sub/f",
					     NULL };

	for (size_t i = 0; names[i]; i++)
		unlinkat(top_fd, names[i], 0);
	unlinkat(top_fd, "in/sub", AT_REMOVEDIR);
	unlinkat(top_fd, "in", AT_REMOVEDIR);
	close(top_fd);
	rmdir(top);
}

static int try(int (*fn)(int, const char *, int, mode_t, unsigned),
	       const char *path, int flags, unsigned options)
{
	ab_autofd int dir = openat(top_fd, "in", O_PATH | O_CLOEXEC);
	int fd = fn(dir, path, flags, 0600, options);

	if (fd < 0)
		return fd;
	ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
	close(fd);
	return 0;
}

START_TEST(opening_beneath_never_leaves)
{
	int r = try(ab_path_open_beneath, "good", O_PATH, 0);

	/* the stricter walk answers where openat2 is missing */
	ck_assert(r == 0 || r == -ELOOP);
	ck_assert_int_eq(try(ab_path_open_beneath, "sub", O_PATH, 0), 0);
	ck_assert_int_eq(try(ab_path_open_beneath, "sub/f",
			     O_CREAT | O_WRONLY, 0), 0);
	ck_assert_int_lt(try(ab_path_open_beneath, "absolute", O_RDONLY, 0), 0);
	ck_assert_int_lt(try(ab_path_open_beneath, "absolute/passwd", O_RDONLY,
			     0), 0);
	ck_assert_int_lt(try(ab_path_open_beneath, "out", O_RDONLY, 0), 0);
	ck_assert_int_lt(try(ab_path_open_beneath, "magic/etc", O_RDONLY, 0),
			 0);
	ck_assert_int_eq(try(ab_path_open_beneath, "loop", O_RDONLY, 0),
			 -ELOOP);
	ck_assert_int_eq(try(ab_path_open_beneath, "../in", O_PATH, 0),
			 -EINVAL);
	ck_assert_int_eq(try(ab_path_open_beneath, "good", O_PATH,
			     AB_PATH_NO_SYMLINKS), -ELOOP);
}
END_TEST

START_TEST(walking_without_openat2_takes_no_link)
{
	ck_assert_int_eq(try(ab_path_walk_beneath, "sub", O_PATH, 0), 0);
	ck_assert_int_eq(try(ab_path_walk_beneath, "sub/f", O_CREAT | O_WRONLY,
			     AB_PATH_NO_XDEV), 0);
	ck_assert_int_eq(try(ab_path_walk_beneath, "good", O_PATH, 0), -ELOOP);
	ck_assert_int_lt(try(ab_path_walk_beneath, "good/f", O_RDONLY, 0), 0);
	ck_assert_int_lt(try(ab_path_walk_beneath, "out", O_RDONLY, 0), 0);
	ck_assert_int_lt(try(ab_path_walk_beneath, "out/in", O_PATH, 0), 0);
	ck_assert_int_eq(try(ab_path_walk_beneath, "..", O_PATH, 0), -EINVAL);
	ck_assert_int_eq(try(ab_path_walk_beneath, "none", O_RDONLY, 0),
			 -ENOENT);
}
END_TEST

START_TEST(a_host_path_opens_with_its_links_resolved)
{
	char canonical[AB_MAX_PATH];
	char path[4200];
	struct stat a;
	struct stat b;
	int fd;

	snprintf(path, sizeof(path), "%s/in/good", top);
	fd = ab_path_open_host(path, canonical);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &a), 0);
	ck_assert_int_eq(lstat(canonical, &b), 0);
	ck_assert(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
	ck_assert_str_eq(strrchr(canonical, '/'), "/sub");
	close(fd);
	ck_assert_int_eq(ab_path_open_host("relative", canonical), -EINVAL);
	snprintf(path, sizeof(path), "%s/in/none", top);
	ck_assert_int_eq(ab_path_open_host(path, canonical), -ENOENT);
	snprintf(path, sizeof(path), "%s/in/loop", top);
	ck_assert_int_eq(ab_path_open_host(path, canonical), -ELOOP);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("path");
	TCase *text = tcase_create("text");
	TCase *kernel = tcase_create("kernel");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(text, relative_paths_have_one_spelling);
	tcase_add_test(text, too_long_is_its_own_error);
	tcase_add_test(text, below_is_by_components);
	tcase_add_test(text,
		       normalising_drops_the_void_and_refuses_parents);
	tcase_add_test(text, joining_knows_the_root_and_the_end);
	tcase_add_test(text, patterns_match_as_documented);
	tcase_add_test(text, malformed_patterns_are_refused);
	tcase_add_test(text, a_hostile_pattern_ends_soon);
	tcase_add_checked_fixture(kernel, make_tree, remove_tree);
	tcase_add_test(kernel, opening_beneath_never_leaves);
	tcase_add_test(kernel, walking_without_openat2_takes_no_link);
	tcase_add_test(kernel, a_host_path_opens_with_its_links_resolved);
	suite_add_tcase(s, text);
	suite_add_tcase(s, kernel);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
