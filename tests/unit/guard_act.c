/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The forms of the write guard that act: open, mkdir, rename and the rest. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static agentbox_guard *g;

static void setup(void)
{
	tree_setup();
	g = engineer();
}

static void teardown(void)
{
	agentbox_guard_unref(g);
	tree_teardown();
}

/* The code; the fd in *fd. */
static int32_t try_open(uint32_t flags, const char *path, int32_t *fd)
{
	*fd = -1;
	return agentbox_guard_open(g, flags, 0640, -1, path, strlen(path), fd,
				   NULL, NULL);
}

static void opens(uint32_t flags, const char *path)
{
	int32_t fd;
	int32_t r = try_open(flags, path, &fd);

	ck_assert_msg(r == 0, "%s: %s", path, agentbox_error_name(r));
	ck_assert_int_ge(fd, 3);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	close(fd);
}

static void open_fails(uint32_t flags, const char *path, int32_t wanted)
{
	int32_t fd;
	int32_t r = try_open(flags, path, &fd);

	ck_assert_msg(r == wanted, "%s: %s instead of %s", path,
		      agentbox_error_name(r), agentbox_error_name(wanted));
	ck_assert_int_eq(fd, -1);
}

START_TEST(open_gives_the_file_that_was_judged)
{
	int32_t fd;
	struct stat st;

	opens(OW, "shared/s");
	opens(OW | OR, "shared/s");
	opens(OR, "charter.md");
	opens(OR, "agents/bob/b");
	opens(OW | OC, "shared/new");
	ck_assert_int_eq(stat(at("team/shared/new"), &st), 0);
	ck_assert_int_eq(st.st_mode & 0777 & ~0640u, 0);
	opens(OW | OC, "shared/new");
	open_fails(OW | OC | OX, "shared/new", AGENTBOX_EEXIST);
	open_fails(OW, "shared/missing", AGENTBOX_ENOTFOUND);
	open_fails(OW | OC, "shared/no/dir", AGENTBOX_ENOTFOUND);
	open_fails(OW, "charter.md", AGENTBOX_EDENIED);
	open_fails(OW | OC, "charter2.md", AGENTBOX_EDENIED);
	open_fails(OR, "../outside/secret", AGENTBOX_EDENIED);
	open_fails(OW, "protected/keys", AGENTBOX_EDENIED);
	open_fails(OW, "shared", AGENTBOX_ESYS);
	open_fails(OR, "shared", AGENTBOX_ESYS);
	opens(OR | AGENTBOX_OPEN_DIRECTORY, "shared");
	opens(OR | AGENTBOX_OPEN_DIRECTORY, ".");
	open_fails(OR | AGENTBOX_OPEN_DIRECTORY, "shared/s", AGENTBOX_ESYS);
	ck_assert_int_eq(try_open(OW | AGENTBOX_OPEN_APPEND, "shared/s", &fd),
			 0);
	ck_assert_int_eq(write(fd, "+", 1), 1);
	close(fd);
	ck_assert_str_eq(text_of("team/shared/s"), "s+");
}
END_TEST

START_TEST(f23_truncation_comes_after_the_judgement)
{
	opens(OW | OT, "shared/s");
	ck_assert_str_eq(text_of("team/shared/s"), "");
	open_fails(OW | OT, "charter.md", AGENTBOX_EDENIED);
	open_fails(OW | OT | OC, "agents/bob/b", AGENTBOX_EDENIED);
	ck_assert_str_eq(text_of("team/charter.md"), "charter");
	ck_assert_str_eq(text_of("team/agents/bob/b"), "b");
	/* a read-only file is not truncated by who may not write it */
	ck_assert_int_eq(chmod(at("team/shared/s"), 0444), 0);
	if (getuid() != 0)
		open_fails(OW | OT, "shared/s", AGENTBOX_EACCES);
}
END_TEST

START_TEST(flags_that_do_not_go_together_are_refused)
{
	static const uint32_t bad[] = {
		0, OC, OR | OC, OR | OT, OW | OX, OW | AGENTBOX_OPEN_DIRECTORY,
		OR | 256, 1u << 31, OR | AGENTBOX_OPEN_APPEND,
	};
	int32_t fd = -1;

	for (size_t i = 0; i < AB_ARRAY_LEN(bad); i++)
		open_fails(bad[i], "shared/s", AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_guard_open(g, OW | OC, 04755, -1, "shared/x",
					     8, &fd, NULL, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_guard_open(g, OW, 0, -1, "shared/s", 8, NULL,
					     NULL, NULL), AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_guard_open(g, OW, 0, -1, NULL, 8, &fd, NULL,
					     NULL), AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_guard_open(NULL, OW, 0, -1, "x", 1, &fd,
					     NULL, NULL), AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_guard_open(g, OW, 0, AT_FDCWD, "x", 1, &fd,
					     NULL, NULL), AGENTBOX_EINVAL);
	ck_assert_int_eq(fd, -1);
}
END_TEST

START_TEST(what_is_no_file_is_not_opened)
{
	ck_assert_int_eq(mkfifo(at("team/shared/fifo"), 0644), 0);
	open_fails(OW, "shared/fifo", AGENTBOX_EDENIED);
	open_fails(OR, "shared/fifo", AGENTBOX_EDENIED);
	make_symlink("s", "team/shared/link");
	opens(OW, "shared/link");
	open_fails(OW | AGENTBOX_OPEN_NOFOLLOW, "shared/link",
		   AGENTBOX_EDENIED);
	open_fails(OW | OC | OX, "shared/link", AGENTBOX_EDENIED);
}
END_TEST

START_TEST(the_refusal_is_in_the_decision_and_the_error)
{
	agentbox_decision *d = NULL;
	agentbox_error *err = NULL;
	int32_t fd = -1;

	ck_assert_int_eq(agentbox_guard_open(g, OW, 0, -1, "../x", 4, &fd, &d,
					     &err), AGENTBOX_EDENIED);
	ck_assert_str_eq(agentbox_error_get_message(err),
			 "Path escapes workspace.");
	ck_assert_int_eq(agentbox_decision_get_verdict(d), DENY);
	ck_assert_str_eq(agentbox_decision_get_rule(d), "path.escape");
	ck_assert_uint_eq(agentbox_decision_get_begin(d), 0);
	ck_assert_uint_eq(agentbox_decision_get_end(d), 2);
	/* used again: allowed, though the kernel has nothing there */
	ck_assert_int_eq(agentbox_guard_open(g, OW, 0, -1, "shared/no", 9, &fd,
					     &d, NULL), AGENTBOX_ENOTFOUND);
	ck_assert_int_eq(agentbox_decision_get_verdict(d), ALLOW);
	agentbox_error_free(err);
	agentbox_decision_free(d);
}
END_TEST

static int32_t do_mkdir(const char *path, int parents)
{
	return agentbox_guard_mkdir(g, -1, path, strlen(path), 0755, parents,
				    NULL, NULL);
}

START_TEST(f23_mkdir_with_and_without_parents)
{
	ck_assert_int_eq(do_mkdir("shared/d", 0), 0);
	ck_assert_int_eq(do_mkdir("shared/d", 0), AGENTBOX_EEXIST);
	ck_assert_int_eq(do_mkdir("shared/d", 1), 0);
	ck_assert_int_eq(do_mkdir("shared/a/b/c", 0), AGENTBOX_ENOTFOUND);
	ck_assert_int_eq(do_mkdir("shared/a/b/c", 1), 0);
	ck_assert(is_there("team/shared/a/b/c"));
	ck_assert_int_eq(do_mkdir("shared/a/b/c/d/", 1), 0);
	ck_assert_int_eq(do_mkdir("shared/s", 1), AGENTBOX_EEXIST);
	ck_assert_int_lt(do_mkdir("shared/s/x", 1), 0);
	ck_assert_int_eq(do_mkdir("new", 1), AGENTBOX_EDENIED);
	ck_assert_int_eq(do_mkdir("protected/x/y", 1), AGENTBOX_EDENIED);
	ck_assert_int_eq(do_mkdir("shared/.vscode/x", 1), AGENTBOX_EDENIED);
	ck_assert(!is_there("team/shared/.vscode"));
	make_symlink(at("outside/made"), "team/shared/out");
	ck_assert_int_eq(do_mkdir("shared/out", 0), AGENTBOX_EEXIST);
	ck_assert_int_eq(do_mkdir("shared/out/x", 1), AGENTBOX_EDENIED);
	ck_assert(!is_there("outside/made"));
	make_symlink("a/fresh", "team/shared/in");
	ck_assert_int_eq(do_mkdir("shared/in/x", 1), 0);
	ck_assert(is_there("team/shared/a/fresh/x"));
}
END_TEST

static int32_t do_unlink(const char *path)
{
	return agentbox_guard_unlink(g, -1, path, strlen(path), NULL, NULL);
}

static int32_t do_rmdir(const char *path)
{
	return agentbox_guard_rmdir(g, -1, path, strlen(path), NULL, NULL);
}

START_TEST(unlink_and_rmdir_take_the_name_itself)
{
	make_symlink(at("outside/secret"), "team/shared/l");
	make_dir("team/shared/d/e");
	ck_assert_int_eq(do_unlink("shared/l"), 0);
	ck_assert(is_there("outside/secret"));
	ck_assert_int_eq(do_unlink("shared/s"), 0);
	ck_assert(!is_there("team/shared/s"));
	ck_assert_int_eq(do_unlink("shared/s"), AGENTBOX_ENOTFOUND);
	ck_assert_int_lt(do_unlink("shared/d"), 0);
	ck_assert_int_eq(do_rmdir("shared/d"), AGENTBOX_EEXIST);
	ck_assert_int_eq(do_rmdir("shared/d/e"), 0);
	ck_assert_int_eq(do_rmdir("shared/d/"), 0);
	ck_assert_int_eq(do_rmdir("shared"), AGENTBOX_EDENIED);
	ck_assert_int_eq(do_unlink("charter.md"), AGENTBOX_EDENIED);
	ck_assert_int_eq(do_unlink("agents/bob/b"), AGENTBOX_EDENIED);
	ck_assert_int_eq(do_unlink("protected/keys"), AGENTBOX_EDENIED);
	make_symlink("../agents/bob", "team/shared/bob");
	ck_assert_int_eq(do_unlink("shared/bob/b"), AGENTBOX_EDENIED);
	ck_assert(is_there("team/agents/bob/b"));
}
END_TEST

static int32_t do_rename(const char *from, const char *to, uint32_t flags)
{
	return agentbox_guard_rename(g, -1, from, strlen(from), -1, to,
				     strlen(to), flags, NULL, NULL);
}

START_TEST(f13_both_ends_of_a_rename_are_judged)
{
	ck_assert_int_eq(do_rename("agents/alice/a", "agents/bob/b", 0),
			 AGENTBOX_EDENIED);
	ck_assert_int_eq(do_rename("agents/bob/b", "agents/alice/b", 0),
			 AGENTBOX_EDENIED);
	ck_assert_int_eq(do_rename("agents/alice/a", "agents/bob/b",
				   AGENTBOX_RENAME_EXCHANGE),
			 AGENTBOX_EDENIED);
	ck_assert_int_eq(do_rename("protected/keys", "shared/keys", 0),
			 AGENTBOX_EDENIED);
	ck_assert_int_eq(do_rename("shared/s", "protected/keys", 0),
			 AGENTBOX_EDENIED);
	ck_assert_int_eq(do_rename("shared/s", "../outside/s", 0),
			 AGENTBOX_EDENIED);
	ck_assert_str_eq(text_of("team/agents/bob/b"), "b");
	ck_assert_int_eq(do_rename("agents/alice/a", "shared/a", 0), 0);
	ck_assert_str_eq(text_of("team/shared/a"), "a");
	ck_assert_int_eq(do_rename("shared/a", "shared/s",
				   AGENTBOX_RENAME_NOREPLACE),
			 AGENTBOX_EEXIST);
	ck_assert_int_eq(do_rename("shared/a", "shared/s",
				   AGENTBOX_RENAME_EXCHANGE), 0);
	ck_assert_str_eq(text_of("team/shared/s"), "a");
	ck_assert_int_eq(do_rename("shared/no", "shared/x", 0),
			 AGENTBOX_ENOTFOUND);
	ck_assert_int_eq(do_rename("shared/a", "shared/x", 3),
			 AGENTBOX_EINVAL);
	/* a directory that would become what is protected */
	make_file("wt/repo-T1/fake/pre-commit", "#!");
	ck_assert_int_eq(do_rename(at("wt/repo-T1/fake"),
				   at("wt/repo-T1/.git/hooks"), 0),
			 AGENTBOX_EDENIED);
	make_file("wt/repo-T1/fakegit/hooks/pre-commit", "#!");
	ck_assert_int_eq(do_rename(at("wt/repo-T1/fakegit"),
				   at("wt/repo-T1/.git"), 0),
			 AGENTBOX_EDENIED);
	/* the way a careful editor saves */
	make_file("team/shared/s.tmp", "fresh");
	ck_assert_int_eq(do_rename("shared/s.tmp", "shared/s", 0), 0);
	ck_assert_str_eq(text_of("team/shared/s"), "fresh");
}
END_TEST

START_TEST(the_second_end_is_where_the_span_is)
{
	agentbox_decision *d = NULL;

	ck_assert_int_eq(agentbox_guard_rename(g, -1, "shared/s", 8, -1,
					       "../x", 4, 0, &d, NULL),
			 AGENTBOX_EDENIED);
	ck_assert_uint_eq(agentbox_decision_get_begin(d), 9);
	ck_assert_uint_eq(agentbox_decision_get_end(d), 11);
	agentbox_decision_free(d);
}
END_TEST

static int32_t do_link(const char *from, const char *to)
{
	return agentbox_guard_link(g, -1, from, strlen(from), -1, to,
				   strlen(to), NULL, NULL);
}

START_TEST(f13_both_ends_of_a_link_are_judged)
{
	ck_assert_int_eq(do_link("protected/keys", "shared/k"),
			 AGENTBOX_EDENIED);
	ck_assert_int_eq(do_link("agents/bob/b", "shared/b"),
			 AGENTBOX_EDENIED);
	ck_assert_int_eq(do_link("shared/s", "agents/bob/s"),
			 AGENTBOX_EDENIED);
	ck_assert_int_eq(do_link("shared/s", "agents/alice/.envrc"),
			 AGENTBOX_EDENIED);
	make_symlink("../protected/keys", "team/shared/l");
	ck_assert_int_eq(do_link("shared/l", "shared/k"), AGENTBOX_EDENIED);
	ck_assert_int_eq(do_link("shared", "shared/k"), AGENTBOX_EDENIED);
	ck_assert_int_eq(do_link("shared/s", "agents/alice/a"),
			 AGENTBOX_EEXIST);
	ck_assert_int_eq(do_link("shared/s", "agents/alice/s"), 0);
	ck_assert(is_there("team/agents/alice/s"));
	open_fails(OW, "shared/s", AGENTBOX_EDENIED);
}
END_TEST

static int32_t do_symlink(const char *text, const char *path)
{
	return agentbox_guard_symlink(g, text, strlen(text), -1, path,
				      strlen(path), NULL, NULL);
}

START_TEST(a_symbolic_link_stays_where_its_maker_writes)
{
	ck_assert_int_eq(do_symlink("s", "shared/l1"), 0);
	make_dir("team/shared/d");
	ck_assert_int_eq(do_symlink("../s", "shared/d/l2"), 0);
	ck_assert_int_eq(do_symlink("not/there", "shared/l3"), 0);
	ck_assert_int_eq(do_symlink("../agents/bob", "shared/l4"),
			 AGENTBOX_EDENIED);
	ck_assert_int_eq(do_symlink("d/../../agents", "shared/l4"),
			 AGENTBOX_EDENIED);
	ck_assert_int_eq(do_symlink("/etc", "shared/l4"), AGENTBOX_EDENIED);
	ck_assert_int_eq(do_symlink(team, "shared/l4"), AGENTBOX_EDENIED);
	ck_assert_int_eq(do_symlink("s", "shared/l1"), AGENTBOX_EEXIST);
	ck_assert_int_eq(do_symlink("s", "charter2"), AGENTBOX_EDENIED);
	ck_assert_int_eq(do_symlink("s", "shared/.git"), AGENTBOX_EDENIED);
	ck_assert_int_eq(do_symlink("", "shared/l4"), AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_guard_symlink(g, "a\0b", 3, -1, "shared/l4",
						9, NULL, NULL),
			 AGENTBOX_EINVAL);
	ck_assert(!is_there("team/shared/l4"));
}
END_TEST

static int32_t do_chmod(const char *path, uint32_t mode)
{
	return agentbox_guard_chmod(g, -1, path, strlen(path), mode, NULL,
				    NULL);
}

START_TEST(f23_modes_sizes_and_times)
{
	struct stat st;

	ck_assert_int_eq(do_chmod("shared/s", 0600), 0);
	ck_assert_int_eq(stat(at("team/shared/s"), &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	/* a file that cannot be opened can be given its mode back */
	ck_assert_int_eq(do_chmod("shared/s", 0), 0);
	ck_assert_int_eq(do_chmod("shared/s", 0644), 0);
	ck_assert_int_eq(do_chmod("shared/s", 04755), AGENTBOX_EINVAL);
	ck_assert_int_eq(do_chmod("charter.md", 0666), AGENTBOX_EDENIED);
	ck_assert_int_eq(do_chmod("protected", 0777), AGENTBOX_EDENIED);
	ck_assert_int_eq(do_chmod("shared/no", 0600), AGENTBOX_ENOTFOUND);
	make_symlink("../charter.md", "team/shared/c");
	ck_assert_int_eq(do_chmod("shared/c", 0666), AGENTBOX_EDENIED);
	ck_assert_int_eq(agentbox_guard_truncate(g, -1, "shared/s", 8, 3, NULL,
						 NULL), 0);
	ck_assert_int_eq(stat(at("team/shared/s"), &st), 0);
	ck_assert_int_eq(st.st_size, 3);
	ck_assert_int_eq(agentbox_guard_truncate(g, -1, "shared/s", 8,
						 UINT64_MAX, NULL, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_guard_truncate(g, -1, "charter.md", 10, 0,
						 NULL, NULL),
			 AGENTBOX_EDENIED);
	ck_assert_int_eq(agentbox_guard_set_times(g, -1, "shared/s", 8,
						  1500000001, -1, NULL, NULL),
			 0);
	ck_assert_int_eq(stat(at("team/shared/s"), &st), 0);
	ck_assert_int_eq(st.st_atim.tv_sec, 1);
	ck_assert_int_eq(st.st_atim.tv_nsec, 500000001);
	ck_assert_int_eq(st.st_mtim.tv_sec, -1);
	ck_assert_int_eq(st.st_mtim.tv_nsec, 999999999);
	/* a file system may not reach as far, but both ends have their side */
	ck_assert_int_eq(agentbox_guard_set_times(g, -1, "shared/s", 8,
						  INT64_MAX, INT64_MIN, NULL,
						  NULL), 0);
	ck_assert_int_eq(stat(at("team/shared/s"), &st), 0);
	ck_assert_int_gt(st.st_atim.tv_sec, 0);
	ck_assert_int_lt(st.st_mtim.tv_sec, 0);
	ck_assert_int_eq(agentbox_guard_set_times(g, -1, "agents/bob/b", 12, 0,
						  0, NULL, NULL),
			 AGENTBOX_EDENIED);
}
END_TEST

START_TEST(the_text_of_a_link_is_counted_by_its_names)
{
	static const struct {
		const char *text;
		int32_t code;
	} rows[] = {
		{ "x", 0 },	    { "./x", 0 },
		{ "a/..", 0 },	    { "..x/..", 0 },
		{ ".a/..", 0 },	    { "a/./..", 0 },
		{ "a//b/../..", 0 }, { "a./..", 0 },
		{ "..", AGENTBOX_EDENIED }, { "./..", AGENTBOX_EDENIED },
		{ "././../x", AGENTBOX_EDENIED },
		{ "a/../..", AGENTBOX_EDENIED },
		{ "a/./../..", AGENTBOX_EDENIED },
		{ "/etc", AGENTBOX_EDENIED },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		ck_assert_msg(agentbox_guard_symlink(
				      g, rows[i].text, strlen(rows[i].text), -1,
				      "shared/link", 11, NULL, NULL) ==
				      rows[i].code, "%s", rows[i].text);
		unlink(at("team/shared/link"));
	}
}
END_TEST

START_TEST(f27_the_working_directory_does_not_count)
{
	int here = open(".", O_PATH | O_CLOEXEC);

	ck_assert_int_eq(chdir(at("outside")), 0);
	opens(OW, "shared/s");
	open_fails(OR, "secret", AGENTBOX_ENOTFOUND);
	ck_assert_int_eq(fchdir(here), 0);
	close(here);
}
END_TEST

#define THREADS 16
#define CHECKS 300

static void *check_in_thread(void *data)
{
	long *wrong = data;
	agentbox_decision *d = NULL;

	for (int i = 0; i < CHECKS; i++) {
		int32_t fd = -1;

		if (agentbox_guard_check_path(g, W, -1, "shared/s", 8, &d,
					      NULL) < 0 ||
		    agentbox_decision_get_verdict(d) != ALLOW ||
		    agentbox_guard_check_path(g, W, -1, "secret", 6, &d,
					      NULL) < 0 ||
		    agentbox_decision_get_verdict(d) != DENY ||
		    agentbox_guard_open(g, OR, 0, -1, "shared/s", 8, &fd, NULL,
					NULL) < 0)
			++*wrong;
		if (fd >= 0)
			close(fd);
	}
	agentbox_decision_free(d);
	return NULL;
}

START_TEST(f27_sixteen_threads_share_a_guard_while_the_cwd_moves)
{
	pthread_t threads[THREADS];
	long wrong[THREADS] = { 0 };
	int here = open(".", O_PATH | O_CLOEXEC);

	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL,
						check_in_thread, &wrong[i]),
				 0);
	for (int i = 0; i < 200; i++)
		ck_assert_int_eq(chdir(at(i % 2 ? "outside" : "team")), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		ck_assert_int_eq(wrong[i], 0);
	}
	ck_assert_int_eq(fchdir(here), 0);
	close(here);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guard act");
	TCase *tc = tcase_create("act");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, open_gives_the_file_that_was_judged);
	tcase_add_test(tc, f23_truncation_comes_after_the_judgement);
	tcase_add_test(tc, flags_that_do_not_go_together_are_refused);
	tcase_add_test(tc, what_is_no_file_is_not_opened);
	tcase_add_test(tc, the_refusal_is_in_the_decision_and_the_error);
	tcase_add_test(tc, f23_mkdir_with_and_without_parents);
	tcase_add_test(tc, unlink_and_rmdir_take_the_name_itself);
	tcase_add_test(tc, f13_both_ends_of_a_rename_are_judged);
	tcase_add_test(tc, the_second_end_is_where_the_span_is);
	tcase_add_test(tc, f13_both_ends_of_a_link_are_judged);
	tcase_add_test(tc, a_symbolic_link_stays_where_its_maker_writes);
	tcase_add_test(tc, f23_modes_sizes_and_times);
	tcase_add_test(tc, the_text_of_a_link_is_counted_by_its_names);
	tcase_add_test(tc, f27_the_working_directory_does_not_count);
	tcase_add_test(tc,
		       f27_sixteen_threads_share_a_guard_while_the_cwd_moves);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
