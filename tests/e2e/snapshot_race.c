/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Another process swaps directories, links, FIFOs and hard links while the
 * copy runs; and the copier is killed at any moment. A short form runs in
 * make check, minutes and a thousand moments in make check-long.
 * Cases 29-34, 40, 64, 65, 71. Spec: SNAPSHOT-CASES.md.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agentbox/base.h"

#include "box.h"
#include "copy.h"

#ifndef RACE_SECONDS
#define RACE_SECONDS 4
#define KILLS 25
#define ENDS 40u
#endif

#define MARKER "OUTSIDE-MARKER-4711"
#define EXCHANGE 2u
/* The last one that a job comes to. */
#define LAST_DIR "s9"
#define OUTPUT_ID 65533

static unsigned long long seed = 88172645463325252ull;

static unsigned draw(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 11) % n;
}

/* As root with the ids that a root host gives: nothing is left of root's. */
static void init(copy_task *task, uint32_t job, uint32_t flags)
{
	copy_init(task, job);
	task->plan.flags = flags;
	if (geteuid() != 0)
		return;
	task->plan.source_uid = task->plan.source_gid = 0;
	task->plan.output_uid = task->plan.output_gid = OUTPUT_ID;
}

static copy_end do_job(uint32_t job, uint32_t flags)
{
	copy_task task;

	init(&task, job, flags);
	return copy_do(&task);
}

/* --- the attacker --------------------------------------------------------- */

static void swap(const char *a, const char *b)
{
	(void)syscall(SYS_renameat2, AT_FDCWD, ws_path(a), AT_FDCWD,
		      host_path("prep/%s", b), EXCHANGE);
}

/* Outside the tree, ready to be swapped in. */
static void prepare(void)
{
	for (int i = 0; i < 40; i++)
		host_write(ws_path(e2e_text("d%d/e/f%d.c", i % 4, i)),
			   "int main(void) { return 0; }\n");
	host_write(ws_path("swap.c"), "int swap;\n");
	host_write(ws_path("grow.c"), "int grow;\n");
	host_write(ws_path(".env"), "PASS=" MARKER "\n");
	host_write(host_path("away/e/secret.c"), MARKER "\n");
	for (int i = 0; i < 40; i++)
		host_write(host_path("away/e/f%d.c", i), MARKER "\n");
	host_symlink(host_path("away/e/secret.c"), host_path("prep/link"));
	host_symlink(host_path("away"), host_path("prep/dirlink"));
	host_symlink(host_path("away/e"), host_path("prep/sublink"));
	REQUIRE(mkfifo(host_path("prep/fifo"), 0666) == 0, "fifo");
	REQUIRE(link(ws_path(".env"), host_path("prep/alias")) == 0, "link");
	host_mkdir(host_path("prep/empty"));
	(void)mknod(host_path("prep/device"), S_IFCHR | 0666, 0x105);
}

static void attack_once(void)
{
	static const char *const files[] = { "link", "fifo", "alias",
					     "device", "empty" };
	static const char *const dirs[] = { "dirlink", "empty" };
	const char *what;
	int fd;

	switch (draw(6)) {
	case 0:
	case 1:
		what = files[draw(5)];
		swap("swap.c", what);
		swap("swap.c", what);
		break;
	case 2:
		what = dirs[draw(2)];
		swap("d1", what);
		swap("d1", what);
		break;
	case 3:
		swap("d2/e", "sublink");
		swap("d2/e", "sublink");
		break;
	case 4:
		fd = open(ws_path("grow.c"), O_WRONLY | O_APPEND | O_CLOEXEC);
		(void)!write(fd, "x", 1);
		if (draw(50) == 0)
			(void)!ftruncate(fd, 5);
		close(fd);
		break;
	case 5:
		/* out of the tree and back */
		rename(ws_path("d3"), host_path("prep/moved"));
		rename(host_path("prep/moved"), ws_path("d3"));
		break;
	}
}

static pid_t start_attacker(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		attack_once();
}

/* --- what must hold ------------------------------------------------------- */

static bool has_marker(int fd)
{
	char text[4096];
	ssize_t n = read(fd, text, sizeof(text) - 1);

	if (n < 0)
		return true;
	text[n] = 0;
	return strstr(text, MARKER) != NULL;
}

static void look_below(int dirfd, const char *at)
{
	DIR *d = fdopendir(dirfd);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		const char *path = e2e_text("%s/%s", at, e->d_name);
		struct stat st;
		int fd;

		if (strcmp(e->d_name, ".") == 0 ||
		    strcmp(e->d_name, "..") == 0 ||
		    strcmp(path, "/.agentbox") == 0)
			continue;
		REQUIRE(fstatat(dirfd, e->d_name, &st,
				AT_SYMLINK_NOFOLLOW) == 0, "%s", path);
		CHECK(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode), "%s: %o",
		      path, st.st_mode);
		fd = openat(dirfd, e->d_name, O_RDONLY | O_CLOEXEC);
		REQUIRE(fd >= 0, "%s", path);
		if (S_ISDIR(st.st_mode)) {
			look_below(fd, path);
			continue;
		}
		CHECK(!has_marker(fd), "%s came from outside", path);
		close(fd);
	}
	if (d)
		closedir(d);
}

static void look(void)
{
	copy_end end = do_job(AB_COPY_VERIFY, 0);

	CHECK(end.code == 0 && end.done.left_out == 0, "%d %s: %s", end.code,
	      end.message, end.report);
	look_below(open(snap_path(""), O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		   "");
}

static void case_029_to_034_064_065_swapped_while_it_runs(void)
{
	int64_t until;
	unsigned rounds = 0, raced = 0, torn = 0;
	int status;
	pid_t pid;

	e2e_seconds(RACE_SECONDS + 60);
	prepare();
	pid = start_attacker();
	until = e2e_now_ms() + RACE_SECONDS * 1000;
	/* on a busy machine a round can take all of that time */
	while ((e2e_now_ms() < until || rounds < 3) && e2e_failures() == 0) {
		uint32_t how = rounds % 3 ? AB_COPY_KEEP_OLD : 0;
		copy_end end = do_job(AB_COPY_MAKE,
				      rounds ? AB_COPY_REPLACE | how : how);

		CHECK(end.code == 0, "%d %s: %s (%d)", end.code, end.where,
		      end.message, end.sys_errno);
		raced += (unsigned)end.done.raced;
		torn += (unsigned)end.done.torn;
		look();
		rounds++;
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	e2e_note("%u rounds, %u raced, %u torn", rounds, raced, torn);
	CHECK(rounds > 2, "%u", rounds);
	CHECK(copy_leftovers(host_path("out")) == 0, "something is left");
}

/* --- killed --------------------------------------------------------------- */

static void change_tree(unsigned round)
{
	for (int i = 0; i < 60; i++)
		host_write(ws_path(e2e_text("k%d/f%d.c", i % 6, i)),
			   e2e_text("%s %u\n", i % 3 ? "same" : "round",
				    i % 3 ? 0 : round));
	host_write(ws_path("round.c"), e2e_text("round %u\n", round));
}

static void pause_us(unsigned us)
{
	struct timespec t = { 0, us * 1000L };

	nanosleep(&t, NULL);
}

static void kill_at(copy_run *run, unsigned us)
{
	pause_us(us);
	(void)pidfd_send_signal(run->helper.pidfd, SIGKILL, NULL, 0);
	ab_helper_stop(&run->helper, 5000);
}

/* The generation there is whole: this round's, or the one before. */
static void is_whole(unsigned round, bool had_one)
{
	char *text = host_read(snap_path("round.c"));

	if (!text) {
		CHECK(!had_one, "the old generation is gone");
		return;
	}
	CHECK(strcmp(text, e2e_text("round %u\n", round)) == 0 ||
		      strcmp(text, e2e_text("round %u\n", round - 1)) == 0,
	      "%s in round %u", text, round);
	/* between the record and the tree they need not fit */
	copy_task task;

	init(&task, AB_COPY_VERIFY, 0);
	task.plan.fds = AB_COPY_FD_DEST;
	copy_end end = copy_do(&task);

	CHECK(end.code == 0 && end.done.left_out == 0, "%d %s: %s", end.code,
	      end.message, end.report);
}

static void next_start_cleans_up(void)
{
	bool had = snap_has("");
	copy_end end = { 0 };

	/* those below the killed one may need a moment to be gone */
	for (int i = 0; i < 500; i++) {
		end = do_job(AB_COPY_MAKE, had ? AB_COPY_REPLACE : 0);
		had = had || end.code == 0;
		if (end.code == 0 && copy_leftovers(host_path("out")) == 0)
			return;
		e2e_sleep_ms(10);
	}
	CHECK(false, "%d %s %s, %zu left", end.code, end.where, end.message,
	      copy_leftovers(host_path("out")));
}

static void case_071_killed_at_any_moment(void)
{
	int64_t begin = e2e_now_ms();
	unsigned most;

	e2e_seconds(KILLS / 2 + 60);
	change_tree(0);
	copy_end end = do_job(AB_COPY_MAKE, 0);

	REQUIRE(end.code == 0, "%d %s", end.code, end.message);
	most = (unsigned)(e2e_now_ms() - begin) * 1000 + 2000;
	if (most > 900000)
		most = 900000;
	for (unsigned i = 1; i <= KILLS && e2e_failures() == 0; i++) {
		copy_task task;
		bool first = i % 5 == 0;

		if (first)
			(void)do_job(AB_COPY_SCRUB, 0);
		change_tree(i);
		init(&task, AB_COPY_MAKE, first ? 0 : AB_COPY_REPLACE);
		if (i % 2)
			task.plan.flags |= AB_COPY_KEEP_OLD;
		copy_run run = copy_start(&task);

		kill_at(&run, draw(most));
		is_whole(i, !first);
		next_start_cleans_up();
		is_whole(i, true);
	}
}

/*
 * Killed while there is much to do: what it had started must not wait for it
 * or for one another, for it holds the lock.
 */
static void case_071_nobody_outlives_the_first(void)
{
	static char text[(64 << 10) + 1];
	e2e_seconds(60);
	memset(text, '\n', sizeof(text) - 1);
	for (int i = 0; i < 500; i++)
		host_write(ws_path(e2e_text("m%d/f%d.c", i % 7, i)), text);
	for (int i = 0; i < 8; i++) {
		copy_task task;
		copy_run run;

		init(&task, AB_COPY_MAKE, snap_has("") ? AB_COPY_REPLACE : 0);
		host_write(ws_path("m1/f1.c"), e2e_text("%d\n", i));
		if (i % 2)
			task.plan.max_depth = 100 + (unsigned)i;
		run = copy_start(&task);
		for (int k = 0; k < 2000 && !copy_leftovers(task.dest); k++)
			pause_us(500);
		kill_at(&run, draw(8000));
		next_start_cleans_up();
	}
}

/* A tree that a sweep of some other job's would take for a dead one's. */
static bool is_unlocked(int dirfd, const char *name)
{
	struct stat st;
	bool found;
	int fd;

	if (!strstr(name, ".incomplete"))
		return false;
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	/* an empty one was made just now */
	found = faccessat(fd, LAST_DIR, F_OK, 0) == 0 &&
		flock(fd, LOCK_EX | LOCK_NB) == 0 &&
		fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	close(fd);
	return found;
}

static pid_t start_looking(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		DIR *d = opendir(host_path("out"));
		const struct dirent *e;

		while (d && (e = readdir(d))) {
			if (is_unlocked(dirfd(d), e->d_name))
				_exit(1);
		}
		if (d)
			closedir(d);
	}
}

/* Every job begins with a sweep of what dead ones have left there. */
static void case_071_what_is_worked_on_is_locked(void)
{
	int status;
	pid_t pid;

	e2e_seconds(60);
	for (int i = 0; i < 1200; i++)
		host_write(ws_path(e2e_text("s%d/f%d.c", i % 80, i)),
			   "int x;\n");
	pid = start_looking();
	for (unsigned i = 0; i < 5 && e2e_failures() == 0; i++) {
		copy_end end;

		change_tree(i);
		end = do_job(AB_COPY_MAKE, AB_COPY_KEEP_OLD |
						   (i ? AB_COPY_REPLACE : 0));
		CHECK(end.code == 0, "%d %s: %s (%d)", end.code, end.where,
		      end.message, end.sys_errno);
		is_whole(i, true);
	}
	CHECK(waitpid(pid, &status, WNOHANG) == 0, "one is not locked");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

/* --- ended while it is refreshed ------------------------------------------ */

static bool is_empty_dir(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
	if (d)
		closedir(d);
	return n == 0;
}

/* Whichever is first: nothing is left, and nobody reads on. */
static void case_073_a_scrub_wins_over_a_refresh(void)
{
	unsigned refreshed = 0, most = 12000;

	e2e_seconds(ENDS / 2 + 60);
	for (unsigned i = 0; i < ENDS && e2e_failures() == 0; i++) {
		copy_end end = { 0 }, scrub;
		copy_task task;
		char c;
		int fd;

		change_tree(2 * i);
		end = do_job(AB_COPY_MAKE, AB_COPY_KEEP_OLD);
		REQUIRE(end.code == 0, "%d %s", end.code, end.message);
		fd = open(snap_path("round.c"), O_RDONLY | O_CLOEXEC);
		REQUIRE(fd >= 0, "round.c");
		/* and one that the refresh is clearing away meanwhile */
		if (i % 2) {
			change_tree(2 * ENDS + i);
			end = do_job(AB_COPY_MAKE,
				     AB_COPY_REPLACE | AB_COPY_KEEP_OLD);
			REQUIRE(end.code == 0, "%d %s", end.code, end.message);
		}
		change_tree(2 * i + 1);
		init(&task, AB_COPY_MAKE, AB_COPY_REPLACE | AB_COPY_KEEP_OLD);
		copy_run run = copy_start(&task);

		pause_us(draw(most));
		scrub = do_job(AB_COPY_SCRUB, 0);
		CHECK(scrub.code == 0, "%d %s", scrub.code, scrub.message);
		/* about half of them on either side */
		CHECK(pread(fd, &c, 1, 0) == 0, "a held file reads, %u", i);
		copy_wait(&run, &end);
		refreshed += end.code == 0;
		most = end.code == 0 ? most - most / 16 : most + most / 16;
		CHECK(is_empty_dir(host_path("out")), "round %u: something is "
		      "left; refresh: %d %s", i, end.code, end.message);
		close(fd);
	}
	e2e_note("%u of %u were refreshed first", refreshed, ENDS);
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_029_to_034_064_065_swapped_while_it_runs),
		CASE(case_071_killed_at_any_moment),
		CASE(case_071_nobody_outlives_the_first),
		CASE(case_071_what_is_worked_on_is_locked),
		CASE(case_073_a_scrub_wins_over_a_refresh),
		CASES_END
	};

	e2e_most_seconds = 2 * (RACE_SECONDS + KILLS + (int)ENDS) + 240;
	return e2e_main(argc, argv, cases);
}
