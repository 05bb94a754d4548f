/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a refresh believes of the record, and what becomes of the record when
 * a job fails at its last step. A clock tick cannot be had on demand (new
 * kernels give every look its own time), so the record is written again with
 * what an old kernel would have told. Spec: snapshot/record.h, cases 66, 73.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "base/fd.h"
#include "base/hash.h"
#include "snapshot/record.h"

#include "box.h"
#include "copy.h"

#define RECORD host_path("out/.snap.agentbox")

/* --- the record ----------------------------------------------------------- */

/* Owned by *text. */
static ab_record read_record(char **text)
{
	int fd = open(RECORD, O_RDONLY | O_CLOEXEC);
	ab_record record;
	size_t n = 0;

	REQUIRE(fd >= 0 && ab_fd_slurp(fd, 1 << 20, text, &n) == 0, "slurp");
	close(fd);
	REQUIRE(ab_record_open(&record, *text, n, ab_sha256_pick()) == 0,
		"no record");
	return record;
}

static bool is_path(const ab_record_entry *e, const char *p, const char *path)
{
	return e->path_len == strlen(path) && !memcmp(p, path, e->path_len);
}

static ab_record_entry entry_of(const char *path)
{
	char *text = NULL;
	ab_record record = read_record(&text);
	ab_record_cursor at = { 0 };
	ab_record_entry e;
	const char *p;

	while (ab_record_next(&record, &at, &e, &p) == 1 &&
	       !is_path(&e, p, path))
		;
	REQUIRE(is_path(&e, p, path), "%s is not in the record", path);
	free(text);
	return e;
}

/* The same record, with this entry for its path. */
static void rewrite(const char *path, const ab_record_entry *as)
{
	char *text = NULL;
	ab_record old = read_record(&text);
	ab_record_head head = old.head;
	ab_record_tail tail = old.tail;
	ab_record_cursor at = { 0 };
	ab_record_out out;
	ab_record_entry e;
	char name[4096];
	const char *p;
	int fd;

	REQUIRE(unlink(RECORD) == 0, "unlink");
	fd = open(RECORD, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	snprintf(name, sizeof(name), "%.*s", (int)head.source_name_len,
		 old.source_name);
	REQUIRE(fd >= 0 && ab_record_begin(&out, fd, ab_sha256_pick(), &head,
					   name, old.choice,
					   head.choice_len) == 0, "begin");
	while (ab_record_next(&old, &at, &e, &p) == 1)
		ab_record_add(&out, is_path(&e, p, path) ? as : &e, p);
	REQUIRE(ab_record_finish(&out, old.report, old.tail.report_len,
				 &tail) == 0, "finish");
	close(fd);
	free(text);
}

/* As an old kernel has it: other bytes of the same size, the same times. */
static void change_within_a_tick(const char *path, uint32_t flags)
{
	ab_record_entry e = entry_of(path);
	struct stat st;
	int fd = open(ws_path(path), O_WRONLY | O_CLOEXEC);

	REQUIRE(fd >= 0 && pwrite(fd, "INT", 3, 0) == 3 &&
		fstat(fd, &st) == 0, "write");
	close(fd);
	e.ctime_ns = (int64_t)st.st_ctim.tv_sec * 1000000000 +
		     st.st_ctim.tv_nsec;
	e.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 +
		     st.st_mtim.tv_nsec;
	e.flags = (e.flags & ~AB_RECORD_RACY) | flags;
	rewrite(path, &e);
}

/* Nothing of a snapshot. */
static void forget(void)
{
	copy_task task;

	copy_init(&task, AB_COPY_SCRUB);
	(void)copy_do(&task);
}

/* --- case 66 -------------------------------------------------------------- */

/* Somebody who touches a file all the time, in a process of his own. */
static pid_t start_toucher(const char *path)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	pid_t pid = fork();

	while (pid == 0) {
		(void)utimensat(AT_FDCWD, path, NULL, 0);
		(void)nanosleep(&pause, NULL);
	}
	return pid;
}

static void case_066_what_was_just_written_is_marked(void)
{
	pid_t pid = start_toucher(ws_path("src/main.c"));
	bool marked = false;

	e2e_seconds(60);
	/* a busy machine may let the moment pass */
	for (int i = 0; i < 20 && !marked; i++) {
		forget();
		if (copy_make(0).code == 0 && snap_has("src/main.c"))
			marked = entry_of("src/main.c").flags &
				 AB_RECORD_RACY;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(marked, "not marked");
}

static void case_066_what_is_older_is_not_marked(void)
{
	e2e_sleep_ms(200);
	GOOD(copy_make(0));
	CHECK(!(entry_of("src/main.c").flags & AB_RECORD_RACY), "marked");
	CHECK(!(entry_of("README").flags & AB_RECORD_RACY), "marked");
}

static void case_066_a_marked_file_is_compared_by_its_bytes(void)
{
	GOOD(copy_make(0));
	change_within_a_tick("src/main.c", AB_RECORD_RACY);
	copy_end end = copy_make(AB_COPY_REPLACE);

	GOOD(end);
	CHECK(!end.done.unchanged && end.done.copied == 1, "%llu copied",
	      (unsigned long long)end.done.copied);
	CHECK(strncmp(host_read(snap_path("src/main.c")), "INT", 3) == 0,
	      "stale");
}

/* Why the mark is needed: without it the times decide. */
static void case_066_without_the_mark_the_times_decide(void)
{
	GOOD(copy_make(0));
	change_within_a_tick("src/main.c", 0);
	copy_end end = copy_make(AB_COPY_REPLACE);

	GOOD(end);
	CHECK(end.done.unchanged, "its bytes were read");
}

static void case_066_a_marked_file_without_a_hash_is_read(void)
{
	copy_task task;

	copy_init(&task, AB_COPY_MAKE);
	task.plan.flags = AB_COPY_NO_HASHES;
	GOOD(copy_do(&task));
	change_within_a_tick("src/main.c", AB_RECORD_RACY);
	task.plan.flags |= AB_COPY_REPLACE;
	copy_end end = copy_do(&task);

	GOOD(end);
	CHECK(strncmp(host_read(snap_path("src/main.c")), "INT", 3) == 0,
	      "stale");
}

/* A marked file that did not change is no change. */
static void case_066_a_marked_file_may_be_the_same(void)
{
	host_write(ws_path("src/main.c"), "int just_now;\n");
	GOOD(copy_make(0));
	ab_record_entry e = entry_of("src/main.c");

	e.flags |= AB_RECORD_RACY;
	rewrite("src/main.c", &e);
	copy_end end = copy_make(AB_COPY_REPLACE);

	GOOD(end);
	CHECK(end.done.unchanged, "taken for a change");
}

static void case_066_every_part_of_a_stat_counts(void)
{
	ab_record_entry e;

	e2e_seconds(60);
	e2e_sleep_ms(200);
	for (int i = 0; i < 5; i++) {
		forget();
		GOOD(copy_make(0));
		e = entry_of("src/main.c");
		switch (i) {
		case 0: e.ino++; break;
		case 1: e.size++; break;
		case 2: e.ctime_ns++; break;
		case 3: e.mtime_ns++; break;
		case 4: e.mode ^= 0100; break;
		}
		rewrite("src/main.c", &e);
		copy_end end = copy_make(AB_COPY_REPLACE);

		GOOD(end);
		CHECK(end.done.copied == 1, "part %d: %llu copied", i,
		      (unsigned long long)end.done.copied);
	}
}

/* --- many, deep ----------------------------------------------------------- */

static void every_level_and_every_block_is_looked_at(void)
{
	char at[4096] = "deep";

	e2e_seconds(120);
	for (int i = 0; i < 100; i++) {
		host_mkdir(ws_path(at));
		host_write(ws_path(e2e_text("%s/file", at)), "x\n");
		strcat(at, "/d");
	}
	host_mkdir(ws_path("many"));
	for (int i = 0; i < 600; i++)
		host_write(ws_path(e2e_text("many/%04d", i)), "x\n");
	e2e_sleep_ms(200);
	GOOD(copy_make(0));
	copy_end end = copy_make(AB_COPY_REPLACE);

	GOOD(end);
	CHECK(end.done.unchanged, "something was not looked at");
	for (int i = 0; i < 600; i += 290) {
		host_write(ws_path(e2e_text("many/%04d", i)), "y\n");
		end = copy_make(AB_COPY_REPLACE);
		GOOD(end);
		CHECK(end.done.copied == 1, "%d: %llu copied", i,
		      (unsigned long long)end.done.copied);
	}
}

/* A directory of the record that is a link now: nothing outside is seen. */
static void a_directory_that_became_a_link_is_not_followed(void)
{
	e2e_sleep_ms(200);
	GOOD(copy_make(0));
	REQUIRE(rename(ws_path("src"), host_path("away")) == 0, "rename");
	host_symlink("../away", ws_path("src"));
	copy_end end = copy_make(AB_COPY_REPLACE);

	GOOD(end);
	CHECK(!end.done.unchanged && !snap_has("src/main.c"), "followed");
	CHECK(strcmp(left_out_as(&end, "src"), "symlink") == 0, "%s",
	      end.report);
}

/* --- the last step -------------------------------------------------------- */

/* A refresh that is staged. */
static copy_run held(uint32_t flags, copy_end *end)
{
	copy_task task;
	int fd = -1;

	copy_init(&task, AB_COPY_MAKE);
	task.plan.flags = flags | AB_COPY_HOLD;
	copy_run run = copy_start(&task);

	REQUIRE(copy_next(&run, end, &fd) == AB_MSG_COPY_STAGED, "%s",
		end->message);
	close(fd);
	return run;
}

static void a_refresh_that_cannot_be_published_keeps_the_record(void)
{
	copy_end end = { 0 };
	struct stat was, is;
	char *text = NULL;

	GOOD(copy_make(0));
	REQUIRE(stat(RECORD, &was) == 0, "stat");
	host_write(ws_path("src/main.c"), "second\n");
	copy_run run = held(AB_COPY_REPLACE, &end);

	/* its destination goes at the last moment */
	REQUIRE(rename(snap_path(""), host_path("out/other")) == 0, "rename");
	copy_say(&run, AB_MSG_COPY_PUBLISH);
	copy_wait(&run, &end);
	CHECK(end.code == AGENTBOX_ENOTFOUND, "%d %s", end.code, end.message);
	CHECK(stat(RECORD, &is) == 0 && is.st_ino == was.st_ino,
	      "another record lies there");
	CHECK(read_record(&text).head.generation == 1, "of generation 2");
	free(text);
	CHECK(copy_leftovers(host_path("out")) == 0, "something is left");
	/* and what was there goes on from where it was */
	REQUIRE(rename(host_path("out/other"), snap_path("")) == 0, "rename");
	end = copy_make(AB_COPY_REPLACE);
	GOOD(end);
	CHECK(end.done.linked == 2 && end.done.copied == 1, "%llu linked",
	      (unsigned long long)end.done.linked);
}

static void a_first_snapshot_that_fails_leaves_no_record(void)
{
	copy_end end = { 0 };
	copy_run run = held(0, &end);

	host_mkdir(snap_path(""));
	copy_say(&run, AB_MSG_COPY_PUBLISH);
	copy_wait(&run, &end);
	CHECK(end.code == AGENTBOX_EEXIST, "%d %s", end.code, end.message);
	CHECK(!host_exists(RECORD), "a record of nothing");
	CHECK(copy_leftovers(host_path("out")) == 0, "something is left");
}

/* A record that came meanwhile is another job's. */
static void a_first_snapshot_takes_no_record_away(void)
{
	copy_end end = { 0 };
	copy_run run = held(0, &end);

	host_write(RECORD, "somebody's\n");
	copy_say(&run, AB_MSG_COPY_PUBLISH);
	copy_wait(&run, &end);
	CHECK(end.code == AGENTBOX_EEXIST, "%d %s", end.code, end.message);
	CHECK(strcmp(host_read(RECORD), "somebody's\n") == 0, "replaced");
	CHECK(!snap_has(""), "published");
}

/* Who took the record away has ended the snapshot, whatever is left of it. */
static void a_refresh_needs_the_record_it_began_with(void)
{
	copy_end end = { 0 };

	GOOD(copy_make(0));
	host_write(ws_path("src/main.c"), "second\n");
	copy_run run = held(AB_COPY_REPLACE, &end);

	REQUIRE(unlink(RECORD) == 0, "unlink");
	copy_say(&run, AB_MSG_COPY_PUBLISH);
	copy_wait(&run, &end);
	CHECK(end.code < 0, "it was published");
	CHECK(!host_exists(RECORD), "a record came back");
	CHECK(strncmp(host_read(snap_path("src/main.c")), "int", 3) == 0,
	      "its tree was published");
}

/* A record beside a tree that it does not describe is not believed. */
static void a_record_of_another_tree_is_not_used(void)
{
	GOOD(copy_make(0));
	REQUIRE(rename(snap_path(""), host_path("out/other")) == 0, "rename");
	REQUIRE(system(e2e_text("cp -a '%s' '%s'", host_path("out/other"),
				snap_path(""))) == 0, "cp");
	copy_end end = copy_make(AB_COPY_REPLACE);

	GOOD(end);
	CHECK(!end.done.unchanged && end.done.linked == 0 &&
	      end.done.copied == 3, "%llu linked",
	      (unsigned long long)end.done.linked);
}

/* Nor one that another user could have written. */
static void a_record_that_others_may_write_is_not_used(void)
{
	copy_end end;

	GOOD(copy_make(0));
	REQUIRE(chmod(RECORD, 0620) == 0, "chmod");
	host_write(ws_path("new.c"), "int n;\n");
	end = copy_make(AB_COPY_REPLACE);
	GOOD(end);
	CHECK(end.done.linked == 0 && end.done.copied == 4, "%llu linked",
	      (unsigned long long)end.done.linked);
	host_write(ws_path("new.c"), "int n, o;\n");
	end = copy_make(AB_COPY_REPLACE);
	GOOD(end);
	CHECK(end.done.linked == 3, "%llu linked of its own",
	      (unsigned long long)end.done.linked);
	if (geteuid() != 0)
		return;
	REQUIRE(chown(RECORD, 54321, 54321) == 0, "chown");
	host_write(ws_path("new.c"), "int n, o, p;\n");
	end = copy_make(AB_COPY_REPLACE);
	GOOD(end);
	CHECK(end.done.linked == 0, "%llu linked of another user's",
	      (unsigned long long)end.done.linked);
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_066_what_was_just_written_is_marked),
		CASE(case_066_what_is_older_is_not_marked),
		CASE(case_066_a_marked_file_is_compared_by_its_bytes),
		CASE(case_066_without_the_mark_the_times_decide),
		CASE(case_066_a_marked_file_without_a_hash_is_read),
		CASE(case_066_a_marked_file_may_be_the_same),
		CASE(case_066_every_part_of_a_stat_counts),
		CASE(every_level_and_every_block_is_looked_at),
		CASE(a_directory_that_became_a_link_is_not_followed),
		CASE(a_refresh_that_cannot_be_published_keeps_the_record),
		CASE(a_first_snapshot_that_fails_leaves_no_record),
		CASE(a_first_snapshot_takes_no_record_away),
		CASE(a_refresh_needs_the_record_it_began_with),
		CASE(a_record_of_another_tree_is_not_used),
		CASE(a_record_that_others_may_write_is_not_used),
		CASES_END
	};

	return e2e_main(argc, argv, cases);
}
