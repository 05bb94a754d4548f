/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * F11: an agent with all rights below its own directory swaps directories,
 * links and hard links as fast as it can, while the host opens, makes,
 * renames and removes there through the guard. Whatever comes of it, nothing
 * outside of the agent's directory may change, and no fd may lead there.
 * RACE_SECONDS: how long; both sides must have met often enough.
 */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abtest.h"
#include "base/attr.h"
#include "guard_tree.h"

#ifndef RACE_SECONDS
#define RACE_SECONDS 2
#endif

#define OWN "team/agents/alice"

/* agents/alice/d as it was made, wherever it is now */
static int own_dir = -1;

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* --- the agent --- */

static void swap(const char *a, const char *b)
{
	renameat2(AT_FDCWD, at(a), AT_FDCWD, at(b), RENAME_EXCHANGE);
}

/* d is a directory of its own, a link out, a link to bob, a link to the
   protected one; deep/x likewise in the middle of a path. */
static void agent_of_directories(void)
{
	for (;;) {
		swap(OWN "/d", OWN "/d-out");
		swap(OWN "/deep/x", OWN "/deep/x-bob");
		swap(OWN "/d", OWN "/d-keys");
		swap(OWN "/d", OWN "/d-out");
		swap(OWN "/deep/x", OWN "/deep/x-out");
	}
}

/*
 * f is a file of its own, a link out, and another name of what is protected;
 * what the host makes is taken away or replaced by a dangling link. It has
 * the rights of this test, so it must not go through a link itself: what it
 * does in d it does in the directory that d was at first.
 */
static void agent_of_files(void)
{
	for (;;) {
		swap(OWN "/f", OWN "/f-out");
		swap(OWN "/f", OWN "/f-hard");
		if (symlink(at("outside/dir/made"), at(OWN "/new")) < 0)
			unlink(at(OWN "/new"));
		swap(OWN "/f", OWN "/f-fifo");
		unlink(at(OWN "/new"));
		swap(OWN "/f", OWN "/f-out");
		renameat(own_dir, "g", own_dir, "f");
	}
}

static pid_t start(void (*body)(void))
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid == 0) {
		/* the test's end is theirs */
		alarm(RACE_SECONDS + 60);
		if (getppid() == parent)
			body();
		_exit(0);
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

/* --- the host --- */

static struct {
	long done, denied, other;
} count;

static ino_t forbidden[4];

static void tally(int32_t r)
{
	if (r == 0)
		count.done++;
	else if (r == AGENTBOX_EDENIED)
		count.denied++;
	else
		count.other++;
	ck_assert_int_ne(r, AGENTBOX_EINVAL);
}

static void try_file(agentbox_guard *g, const char *path, uint32_t flags)
{
	struct stat st;
	int32_t fd = -1;
	int32_t r = agentbox_guard_open(g, flags, 0600, -1, path, strlen(path),
					&fd, NULL, NULL);

	tally(r);
	if (r < 0)
		return;
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert(S_ISREG(st.st_mode));
	for (size_t i = 0; i < AB_ARRAY_LEN(forbidden); i++)
		ck_assert_msg(st.st_ino != forbidden[i], "%s is number %zu",
			      path, i);
	if (flags & AGENTBOX_OPEN_WRITE)
		ck_assert_int_eq(write(fd, "X", 1), 1);
	close(fd);
}

#define ON(path) g, -1, path, strlen(path)

static void one_round(agentbox_guard *g)
{
	const uint32_t w = AGENTBOX_OPEN_WRITE;
	const uint32_t wct = w | AGENTBOX_OPEN_CREATE | AGENTBOX_OPEN_TRUNCATE;

	try_file(g, "agents/alice/f", w | AGENTBOX_OPEN_TRUNCATE);
	try_file(g, "agents/alice/d/f", wct);
	try_file(g, "agents/alice/deep/x/y/f", wct);
	try_file(g, "agents/alice/new", wct);
	tally(agentbox_guard_mkdir(ON("agents/alice/d/sub/s"),
				   0700, 1, NULL, NULL));
	tally(agentbox_guard_rmdir(ON("agents/alice/d/sub/s"), NULL, NULL));
	tally(agentbox_guard_rmdir(ON("agents/alice/d/sub"), NULL, NULL));
	tally(agentbox_guard_chmod(ON("agents/alice/d/f"), 0640, NULL, NULL));
	tally(agentbox_guard_chmod(ON("agents/alice/f"), 0640, NULL, NULL));
	tally(agentbox_guard_truncate(ON("agents/alice/f"), 0, NULL, NULL));
	tally(agentbox_guard_set_times(ON("agents/alice/deep/x/y/f"),
				       0, 0, NULL, NULL));
	tally(agentbox_guard_rename(g, -1, "agents/alice/d/f", 16, -1,
				    "agents/alice/d/g", 16, 0, NULL, NULL));
	tally(agentbox_guard_rename(g, -1, "agents/alice/deep/x/y/f", 23, -1,
				    "agents/alice/d/f", 16, 0, NULL, NULL));
	tally(agentbox_guard_link(g, -1, "agents/alice/f", 14, -1,
				  "agents/alice/d/l", 16, NULL, NULL));
	tally(agentbox_guard_unlink(ON("agents/alice/d/l"), NULL, NULL));
	tally(agentbox_guard_unlink(ON("agents/alice/d/f"), NULL, NULL));
	tally(agentbox_guard_unlink(ON("agents/alice/deep/x/y/f"), NULL, NULL));
	tally(agentbox_guard_symlink(g, "f", 1, -1, "agents/alice/d/ln", 17,
				     NULL, NULL));
	tally(agentbox_guard_unlink(ON("agents/alice/d/ln"), NULL, NULL));
}

/* --- what must not change --- */

static const char *const victims[] = {
	"outside/dir/f", "outside/dir/y/f", "outside/secret",
	"team/agents/bob/f", "team/agents/bob/y/f", "team/agents/bob/b",
	"team/protected/f", "team/protected/keys",
};

static const char *const victim_dirs[] = { "outside/dir", "outside/dir/y",
					   "outside", "team/agents/bob",
					   "team/agents/bob/y",
					   "team/protected" };

static int entries(const char *dir)
{
	DIR *d = opendir(at(dir));
	int n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static ino_t ino_of(const char *path)
{
	struct stat st;

	ck_assert_int_eq(stat(at(path), &st), 0);
	return st.st_ino;
}

static void lay_traps(void)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(victims); i++) {
		make_file(victims[i], "untouched");
		ck_assert_int_eq(chmod(at(victims[i]), 0604), 0);
	}
	make_dir(OWN "/d");
	own_dir = open(at(OWN "/d"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	make_symlink(at("outside/dir"), OWN "/d-out");
	make_symlink("../../protected", OWN "/d-keys");
	make_dir(OWN "/deep/x/y");
	make_symlink("../../bob", OWN "/deep/x-bob");
	make_symlink("../../../../outside/dir", OWN "/deep/x-out");
	make_file(OWN "/f", "own");
	make_symlink(at("outside/dir/f"), OWN "/f-out");
	ck_assert_int_eq(link(at("team/protected/keys"), at(OWN "/f-hard")),
			 0);
	ck_assert_int_eq(mkfifo(at(OWN "/f-fifo"), 0600), 0);
	forbidden[0] = ino_of("outside/dir/f");
	forbidden[1] = ino_of("team/protected/keys");
	forbidden[2] = ino_of("team/agents/bob/f");
	forbidden[3] = ino_of("team/protected/f");
}

START_TEST(f11_no_swap_leads_the_guard_out)
{
	int before[AB_ARRAY_LEN(victim_dirs)];
	agentbox_guard *g;
	pid_t agents[2];
	int64_t until;
	long rounds = 0;

	lay_traps();
	for (size_t i = 0; i < AB_ARRAY_LEN(victim_dirs); i++)
		before[i] = entries(victim_dirs[i]);
	g = engineer();
	agents[0] = start(agent_of_directories);
	agents[1] = start(agent_of_files);
	until = now_ms() + RACE_SECONDS * 1000;
	/* on a busy machine they meet less often: until they have */
	while (now_ms() < until ||
	       ((count.done <= 50 || count.denied <= 50) &&
		now_ms() < until + 50000)) {
		one_round(g);
		rounds++;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(agents); i++) {
		kill(agents[i], SIGKILL);
		waitpid(agents[i], NULL, 0);
	}
	agentbox_guard_unref(g);
	close(own_dir);
	printf("# %ld rounds: %ld done, %ld denied, %ld other\n", rounds,
	       count.done, count.denied, count.other);
	for (size_t i = 0; i < AB_ARRAY_LEN(victims); i++) {
		struct stat st;

		ck_assert_str_eq(text_of(victims[i]), "untouched");
		ck_assert_int_eq(stat(at(victims[i]), &st), 0);
		ck_assert_int_eq(st.st_mode & 07777, 0604);
		ck_assert_int_ne(st.st_mtim.tv_sec, 0);
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(victim_dirs); i++)
		ck_assert_int_eq(entries(victim_dirs[i]), before[i]);
	/* it was a race: the host got through, and it met the traps */
	ck_assert_int_gt(count.done, 50);
	ck_assert_int_gt(count.denied, 50);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guard race");
	TCase *tc = tcase_create("race");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, RACE_SECONDS + 60);
	tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown);
	tcase_add_checked_fixture(tc, tree_setup, tree_teardown);
	tcase_add_test(tc, f11_no_swap_leads_the_guard_out);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
