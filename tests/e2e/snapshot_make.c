/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Snapshots are made, refreshed, verified, explained and ended: the jobs of
 * agentbox-copy without an attacker. Spec: DESIGN.md section 8, copy.h.
 */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "base/fd.h"

#include "box.h"
#include "copy.h"

static copy_end verify(void)
{
	copy_task task;

	copy_init(&task, AB_COPY_VERIFY);
	return copy_do(&task);
}

static void a_snapshot_holds_the_source_and_no_secret(void)
{
	struct stat st;

	host_write(ws_path(".env"), "SECRET=1\n");
	host_write_mode(ws_path("run.sh"), "#!/bin/sh\n", 0755);
	host_mkdir(ws_path("empty"));
	copy_end end = copy_make(0);

	GOOD(end);
	CHECK(end.done.generation == 1, "%llu",
	      (unsigned long long)end.done.generation);
	CHECK(end.done.files == 4, "%llu files: %s",
	      (unsigned long long)end.done.files, end.report);
	CHECK(!snap_has(".env") && !snap_has(".git"), "secrets are there");
	CHECK(strcmp(left_out_as(&end, ".env"), "name") == 0, "%s",
	      end.report);
	CHECK(strcmp(host_read(snap_path("src/main.c")),
		     host_read(ws_path("src/main.c"))) == 0, "content");
	CHECK(stat(snap_path("src/main.c"), &st) == 0 &&
	      (st.st_mode & 07777) == 0444, "mode %o", st.st_mode);
	CHECK(stat(snap_path("run.sh"), &st) == 0 &&
	      (st.st_mode & 07777) == 0555, "mode %o", st.st_mode);
	CHECK(stat(snap_path("empty"), &st) == 0 &&
	      (st.st_mode & 07777) == 0555, "mode %o", st.st_mode);
	CHECK(stat(snap_path(""), &st) == 0 && (st.st_mode & 07777) == 0555,
	      "mode %o", st.st_mode);
	CHECK(stat(host_path("out/.snap.agentbox"), &st) == 0 &&
	      (st.st_mode & 07777) == 0600, "mode %o", st.st_mode);
	CHECK(copy_leftovers(host_path("out")) == 0, "something is left");
	end = verify();
	GOOD(end);
	CHECK(end.done.left_out == 0, "%s", end.report);
}

static void times_are_kept_and_access_is_not_noted(void)
{
	const struct timespec old[2] = { { 1000, 7 }, { 2000, 9 } };
	struct stat st;

	REQUIRE(utimensat(AT_FDCWD, ws_path("README"), old, 0) == 0, "times");
	copy_end end = copy_make(0);

	GOOD(end);
	CHECK(stat(snap_path("README"), &st) == 0 &&
	      st.st_mtim.tv_sec == 2000 && st.st_mtim.tv_nsec == 9,
	      "mtime %lld", (long long)st.st_mtim.tv_sec);
	CHECK(stat(ws_path("README"), &st) == 0 && st.st_atim.tv_sec == 1000,
	      "atime %lld", (long long)st.st_atim.tv_sec);
}

static void a_refresh_of_what_did_not_change_stages_nothing(void)
{
	copy_end first = copy_make(0);
	struct stat before, after;

	GOOD(first);
	REQUIRE(stat(snap_path(""), &before) == 0, "stat");
	copy_end end = copy_make(AB_COPY_REPLACE);

	GOOD(end);
	CHECK(end.done.unchanged == 1, "not unchanged");
	CHECK(end.done.generation == 1, "generation");
	CHECK(strcmp(end.digest, first.digest) == 0, "digest");
	CHECK(end.done.files == first.done.files, "files");
	REQUIRE(stat(snap_path(""), &after) == 0, "stat");
	CHECK(before.st_ino == after.st_ino, "another tree");
}

static void a_refresh_reads_what_changed_and_links_the_rest(void)
{
	copy_end end = copy_make(0);
	struct stat before, after;

	GOOD(end);
	REQUIRE(stat(snap_path("README"), &before) == 0, "stat");
	host_write(ws_path("src/main.c"), "int main(void) { return 1; }\n");
	host_write(ws_path("src/new.c"), "int x;\n");
	unlink(ws_path("Makefile"));
	end = copy_make(AB_COPY_REPLACE);
	GOOD(end);
	CHECK(end.done.unchanged == 0 && end.done.generation == 2, "gen");
	CHECK(end.done.copied == 2 && end.done.linked == 1, "%llu %llu",
	      (unsigned long long)end.done.copied,
	      (unsigned long long)end.done.linked);
	REQUIRE(stat(snap_path("README"), &after) == 0, "stat");
	CHECK(before.st_ino == after.st_ino, "README was copied again");
	CHECK(strstr(host_read(snap_path("src/main.c")), "return 1"), "stale");
	CHECK(!snap_has("Makefile") && snap_has("src/new.c"), "names");
	CHECK(copy_leftovers(host_path("out")) == 0, "something is left");
	end = verify();
	GOOD(end);
	CHECK(end.done.left_out == 0, "%s", end.report);
}

static void other_options_read_everything_again(void)
{
	static const char *const exclude[] = { "/Makefile" };
	copy_task task;

	GOOD(copy_make(0));
	copy_init(&task, AB_COPY_MAKE);
	task.plan.flags = AB_COPY_REPLACE;
	task.filter.exclude = exclude;
	task.filter.exclude_count = 1;
	copy_end end = copy_do(&task);

	GOOD(end);
	CHECK(end.done.linked == 0 && end.done.copied == 2, "%llu linked",
	      (unsigned long long)end.done.linked);
	CHECK(!snap_has("Makefile"), "excluded by the host");
	CHECK(strcmp(left_out_as(&end, "Makefile"), "exclude") == 0, "%s",
	      end.report);
}

static void a_damaged_record_is_no_record(void)
{
	copy_end end;
	char byte;
	int fd;

	GOOD(copy_make(0));
	fd = open(host_path("out/.snap.agentbox"), O_RDWR | O_CLOEXEC);
	REQUIRE(fd >= 0 && pread(fd, &byte, 1, 200) == 1, "record");
	/* another one than was there, which differs from run to run */
	byte = (char)~byte;
	REQUIRE(pwrite(fd, &byte, 1, 200) == 1, "damage");
	close(fd);
	end = copy_make(AB_COPY_REPLACE);
	GOOD(end);
	CHECK(end.done.unchanged == 0 && end.done.linked == 0 &&
	      end.done.copied == 3, "it was believed");
}

static void the_old_generation_stays_when_asked_for(void)
{
	int held;

	GOOD(copy_make(AB_COPY_KEEP_OLD));
	held = open(snap_path("src"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	host_write(ws_path("src/main.c"), "second\n");
	GOOD(copy_make(AB_COPY_REPLACE | AB_COPY_KEEP_OLD));
	CHECK(faccessat(held, "main.c", R_OK, 0) == 0, "the held one is gone");
	host_write(ws_path("src/main.c"), "third\n");
	GOOD(copy_make(AB_COPY_REPLACE | AB_COPY_KEEP_OLD));
	CHECK(faccessat(held, "main.c", R_OK, 0) != 0, "it is there for ever");
	close(held);
	CHECK(copy_leftovers(host_path("out")) == 0, "something is left");
}

/* Where the generation before is kept. */
static const char *kept_path(const char *below)
{
	DIR *d = opendir(host_path("out"));
	const char *path = NULL;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (strstr(e->d_name, ".old"))
			path = host_path("out/%s/%s", e->d_name, below);
	}
	if (d)
		closedir(d);
	REQUIRE(path, "nothing is kept");
	return path;
}

static ino_t inode_of(const char *path)
{
	struct stat st;

	REQUIRE(stat(path, &st) == 0, "%s", path);
	return st.st_ino;
}

static void make_next(const char *text)
{
	host_write(ws_path("src/main.c"), text);
	GOOD(copy_make(AB_COPY_REPLACE | AB_COPY_KEEP_OLD));
}

static void is_as_its_manifest_says(void)
{
	copy_end end = verify();

	GOOD(end);
	CHECK(end.done.left_out == 0, "%s", end.report);
	CHECK(copy_leftovers(host_path("out")) == 0, "something is left");
}

/* Two generations with a directory that stays as it is, and one file of one
   that does not. */
static void make_two(void)
{
	for (int i = 0; i < 3; i++)
		host_write(ws_path(e2e_text("stays/f%d.c", i)), "int x;\n");
	host_write(ws_path("src/other.c"), "int y;\n");
	GOOD(copy_make(AB_COPY_KEEP_OLD));
	make_next("second\n");
}

static void what_stays_moves_out_of_what_goes(void)
{
	ino_t first, second, other;
	int held, now, fd;
	char c;

	make_two();
	first = inode_of(kept_path("stays"));
	second = inode_of(snap_path("stays"));
	other = inode_of(snap_path("src/other.c"));
	held = open(kept_path("stays"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	now = open(snap_path(""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	make_next("third\n");
	CHECK(inode_of(snap_path("stays")) == first, "it was made anew");
	CHECK(inode_of(kept_path("stays")) == second, "not that of before");
	CHECK(inode_of(snap_path("src/other.c")) == other, "copied again");
	is_as_its_manifest_says();
	/* who has it open sees the same files in it */
	fd = openat(held, "f1.c", O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && read(fd, &c, 1) == 1, "the held one is empty");
	close(fd);
	CHECK(faccessat(now, "stays/f2.c", R_OK, 0) == 0 &&
	      faccessat(now, "src/other.c", R_OK, 0) == 0 &&
	      faccessat(now, "src/main.c", R_OK, 0) == 0,
	      "the generation that was shown lacks a file");
	fd = openat(now, "src/main.c", O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && read(fd, &c, 1) == 1 && c == 's', "it changed");
	close(fd);
	close(held);
	close(now);
}

static void what_left_a_directory_does_not_come_back(void)
{
	make_two();
	unlink(ws_path("stays/f1.c"));
	make_next("third\n");
	CHECK(!snap_has("stays/f1.c") && snap_has("stays/f2.c"), "names");
	is_as_its_manifest_says();
	host_write(ws_path("stays/f1.c"), "int z;\n");
	make_next("fourth\n");
	is_as_its_manifest_says();
	host_mkdir(ws_path("stays/below"));
	make_next("fifth\n");
	CHECK(snap_has("stays/below") && snap_has("stays/f1.c"), "names");
	is_as_its_manifest_says();
}

/* Only what the generation that is shown has, too, is taken over. */
static void what_is_only_in_what_goes_is_not_taken(void)
{
	static const char *const text = "int x;\n";

	make_two();
	chmod(kept_path("stays"), 0755);
	host_write(kept_path("stays/more.c"), text);
	make_next("third\n");
	CHECK(!snap_has("stays/more.c"), "one more was taken");
	is_as_its_manifest_says();
	chmod(kept_path("stays"), 0755);
	unlink(kept_path("stays/f1.c"));
	host_write_mode(kept_path("stays/f1.c"), "int !;\n", 0444);
	make_next("fourth\n");
	CHECK(strcmp(host_read(snap_path("stays/f1.c")), text) == 0,
	      "another file of the name was taken");
	is_as_its_manifest_says();
	chmod(kept_path("src"), 0755);
	unlink(kept_path("src/other.c"));
	host_write_mode(kept_path("src/other.c"), "int !;\n", 0444);
	make_next("fifth\n");
	CHECK(strcmp(host_read(snap_path("src/other.c")), "int y;\n") == 0,
	      "another file of the name was taken");
	is_as_its_manifest_says();
	chmod(kept_path("stays"), 0755);
	unlink(kept_path("stays/f0.c"));
	host_symlink("/etc/passwd", kept_path("stays/f0.c"));
	make_next("sixth\n");
	CHECK(strcmp(host_read(snap_path("stays/f0.c")), text) == 0, "link");
	is_as_its_manifest_says();
}

/*
 * The generation before goes away while the next one is made. One that is not
 * published then leaves what was there and nothing else, and so does the next.
 */
static void what_fails_while_it_clears_keeps_what_is_there(void)
{
	copy_end end = { 0 };
	copy_task task;
	int fd = -1;

	GOOD(copy_make(AB_COPY_KEEP_OLD));
	host_write(ws_path("src/main.c"), "second\n");
	GOOD(copy_make(AB_COPY_REPLACE | AB_COPY_KEEP_OLD));
	host_write(ws_path("src/main.c"), "third\n");
	copy_init(&task, AB_COPY_MAKE);
	task.plan.flags = AB_COPY_REPLACE | AB_COPY_KEEP_OLD | AB_COPY_HOLD;
	copy_run run = copy_start(&task);

	REQUIRE(copy_next(&run, &end, &fd) == AB_MSG_COPY_STAGED, "%s",
		end.message);
	close(fd);
	copy_say(&run, AB_MSG_COPY_CANCEL);
	copy_wait(&run, &end);
	CHECK(end.code == AGENTBOX_ECANCELED, "%d %s", end.code, end.message);
	CHECK(strcmp(host_read(snap_path("src/main.c")), "second\n") == 0,
	      "the generation there changed");
	CHECK(copy_leftovers(host_path("out")) == 0, "something is left");
	end = copy_make(AB_COPY_REPLACE | AB_COPY_KEEP_OLD);
	GOOD(end);
	CHECK(end.done.linked == 2 && end.done.copied == 1, "%llu linked",
	      (unsigned long long)end.done.linked);
	CHECK(strcmp(host_read(snap_path("src/main.c")), "third\n") == 0,
	      "it is not the next one");
	CHECK(copy_leftovers(host_path("out")) == 0, "something is left");
}

/* Stacks of threads are as large as it allows, where nobody says how large. */
static void a_large_stack_limit_is_no_hindrance(void)
{
	struct rlimit was, large;

	if (strstr(getenv("AB_TEST_SANITIZED") ?: "", "thread"))
		e2e_skip("ThreadSanitizer has no place beside so large a "
			 "stack");
	REQUIRE(getrlimit(RLIMIT_STACK, &was) == 0, "the limit");
	large = was;
	/* more than fits between the stack and the programs */
	large.rlim_cur = (rlim_t)1 << 46;
	if (was.rlim_max != RLIM_INFINITY && was.rlim_max < large.rlim_cur)
		large.rlim_cur = was.rlim_max;
	REQUIRE(setrlimit(RLIMIT_STACK, &large) == 0, "a large limit");
	copy_end end = copy_make(0);

	GOOD(end);
	REQUIRE(setrlimit(RLIMIT_STACK, &was) == 0, "the limit again");
}

static void explaining_writes_nothing(void)
{
	copy_task task;

	copy_init(&task, AB_COPY_EXPLAIN);
	host_write(ws_path("key.txt"),
		   "ghp_" "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx\n");
	char *before = host_tree(host_base());
	copy_end end = copy_do(&task);

	GOOD(end);
	CHECK(strcmp(left_out_as(&end, ".git"), "name") == 0, "%s",
	      end.report);
	CHECK(strcmp(left_out_as(&end, "key.txt"), "content") == 0, "%s",
	      end.report);
	CHECK(!strstr(end.report, "wWPw5k"), "the secret is in the report");
	CHECK(end.done.files == 3, "%llu", (unsigned long long)end.done.files);
	host_same_tree("explain", before, host_tree(host_base()));
}

static void verifying_finds_what_was_changed(void)
{
	static const char *const problems[] = {
		"{\"path\":\"README\",\"problem\":\"content\"}",
		"{\"path\":\"extra\",\"problem\":\"extra\"}",
		"{\"path\":\"Makefile\",\"problem\":\"missing\"}",
		"{\"path\":\"src/main.c\",\"problem\":\"mode\"}",
		"{\"path\":\"link\",\"problem\":\"kind\"}",
	};
	copy_end end;

	GOOD(copy_make(0));
	chmod(snap_path(""), 0755);
	chmod(snap_path("src/main.c"), 0644);
	chmod(snap_path("README"), 0644);
	host_write_mode(snap_path("README"), "a workspacE\n", 0444);
	host_write_mode(snap_path("extra"), "x", 0444);
	host_symlink("README", snap_path("link"));
	unlink(snap_path("Makefile"));
	chmod(snap_path(""), 0555);
	end = verify();
	GOOD(end);
	for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++)
		CHECK(strstr(end.report, problems[i]), "%s not in %s",
		      problems[i], end.report);
	CHECK(end.done.left_out == 5, "%s", end.report);
}

/* A scrub could not reach it any more. */
static void what_is_dropped_reads_as_nothing(void)
{
	int changed, same;
	char c;

	GOOD(copy_make(AB_COPY_KEEP_OLD));
	changed = open(snap_path("src/main.c"), O_RDONLY | O_CLOEXEC);
	same = open(snap_path("README"), O_RDONLY | O_CLOEXEC);
	REQUIRE(changed >= 0 && same >= 0, "open");
	host_write(ws_path("src/main.c"), "second\n");
	GOOD(copy_make(AB_COPY_REPLACE | AB_COPY_KEEP_OLD));
	CHECK(pread(changed, &c, 1, 0) == 1, "gone a generation too early");
	host_write(ws_path("src/main.c"), "third\n");
	GOOD(copy_make(AB_COPY_REPLACE | AB_COPY_KEEP_OLD));
	CHECK(pread(changed, &c, 1, 0) == 0, "it reads for ever");
	CHECK(pread(same, &c, 1, 0) == 1, "the generation now lost a file");
	close(changed);
	close(same);
}

static void an_ended_snapshot_reads_as_nothing(void)
{
	copy_task task;
	int fd, dirfd, old;
	char c;
	char *map;

	GOOD(copy_make(AB_COPY_KEEP_OLD));
	old = open(snap_path("Makefile"), O_RDONLY | O_CLOEXEC);
	host_write(ws_path("Makefile"), "second\n");
	GOOD(copy_make(AB_COPY_KEEP_OLD | AB_COPY_REPLACE));
	fd = open(snap_path("README"), O_RDONLY | O_CLOEXEC);
	dirfd = open(snap_path("src"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	REQUIRE(fd >= 0 && dirfd >= 0 && old >= 0 && map != MAP_FAILED,
		"open");
	copy_init(&task, AB_COPY_SCRUB);
	copy_end end = copy_do(&task);

	GOOD(end);
	CHECK(end.done.files >= 4, "%llu ended",
	      (unsigned long long)end.done.files);
	CHECK(read(fd, &c, 1) == 0, "an open file reads");
	CHECK(read(old, &c, 1) == 0, "one of the generation before reads");
	CHECK(openat(dirfd, "main.c", O_RDONLY) < 0, "a held directory opens");
	CHECK(!snap_has(""), "the name is there");
	CHECK(!host_exists(host_path("out/.snap.agentbox")), "the record is");
	munmap(map, 4096);
	close(fd);
	close(dirfd);
	close(old);
	end = copy_do(&task);
	CHECK(end.code == AGENTBOX_ENOTFOUND, "%d", end.code);
}

static void what_is_held_waits_for_the_word(void)
{
	copy_task task;
	copy_end end = { 0 };
	int fd = -1;

	copy_init(&task, AB_COPY_MAKE);
	task.plan.flags = AB_COPY_HOLD;
	copy_run run = copy_start(&task);

	REQUIRE(copy_next(&run, &end, &fd) == AB_MSG_COPY_STAGED, "%d %s",
		end.code, end.message);
	CHECK(!snap_has("README"), "it is published already");
	CHECK(faccessat(fd, "README", F_OK, 0) == 0, "not the tree");
	close(fd);
	copy_say(&run, AB_MSG_COPY_PUBLISH);
	copy_wait(&run, &end);
	GOOD(end);
	CHECK(snap_has("README"), "not published");
}

static void a_job_without_its_descriptors_is_refused(void)
{
	copy_task task;

	copy_init(&task, AB_COPY_PACK);
	copy_end end = copy_do(&task);

	CHECK(end.code == AGENTBOX_EINVAL, "%d", end.code);
}

static void a_first_snapshot_replaces_nothing(void)
{
	host_mkdir(host_path("out/snap"));
	host_write(host_path("out/snap/mine"), "mine\n");
	copy_end end = copy_make(0);

	CHECK(end.code == AGENTBOX_EEXIST, "%d", end.code);
	CHECK(snap_has("mine"), "it was replaced");
	end = copy_make(AB_COPY_REPLACE);
	GOOD(end);
	rename(host_path("out/snap"), host_path("out/other"));
	end = copy_make(AB_COPY_REPLACE);
	CHECK(end.code == AGENTBOX_ENOTFOUND, "%d", end.code);
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(a_snapshot_holds_the_source_and_no_secret),
		CASE(times_are_kept_and_access_is_not_noted),
		CASE(a_refresh_of_what_did_not_change_stages_nothing),
		CASE(a_refresh_reads_what_changed_and_links_the_rest),
		CASE(other_options_read_everything_again),
		CASE(a_damaged_record_is_no_record),
		CASE(the_old_generation_stays_when_asked_for),
		CASE(what_stays_moves_out_of_what_goes),
		CASE(what_left_a_directory_does_not_come_back),
		CASE(what_is_only_in_what_goes_is_not_taken),
		CASE(what_fails_while_it_clears_keeps_what_is_there),
		CASE(a_large_stack_limit_is_no_hindrance),
		CASE(explaining_writes_nothing),
		CASE(verifying_finds_what_was_changed),
		CASE(an_ended_snapshot_reads_as_nothing),
		CASE(what_is_dropped_reads_as_nothing),
		CASE(what_is_held_waits_for_the_word),
		CASE(a_job_without_its_descriptors_is_refused),
		CASE(a_first_snapshot_replaces_nothing),
		CASES_END
	};

	return e2e_main(argc, argv, cases);
}
