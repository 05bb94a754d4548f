/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How jobs end that another one, a limit, a full disk or their host is in the
 * way of: what is published then, what is told, and what a refresh may not
 * overlook. Spec: SNAPSHOT-CASES.md.
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
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agentbox/base.h"

#include "box.h"
#include "copy.h"

static void case_061_a_full_destination_fails_and_leaves_nothing(void)
{
	copy_may_mount();
	host_mkdir(host_path("out"));
	if (mount("none", host_path("out"), "tmpfs", 0, "size=64k"))
		e2e_skip("no mounts here: %s", strerror(errno));
	REQUIRE(truncate(ws_path("README"), 500000) == 0, "truncate");
	copy_end end = copy_make(0);

	CHECK(end.code == AGENTBOX_ESYS && end.sys_errno == ENOSPC, "%d %d",
	      end.code, end.sys_errno);
	copy_nothing_published();
	umount(host_path("out"));
}

/* Also when the reader has ended before. */
static void case_061_the_reason_is_told_whoever_ends_first(void)
{
	copy_may_mount();
	host_mkdir(host_path("out"));
	if (mount("none", host_path("out"), "tmpfs", 0, "size=64k"))
		e2e_skip("no mounts here: %s", strerror(errno));
	for (int i = 0; i < 30; i++)
		host_write(ws_path(e2e_text("f%d.c", i)), "int f;\n");
	for (int i = 0; i < 40 && e2e_failures() == 0; i++) {
		copy_end end = copy_make(0);

		CHECK(end.code == AGENTBOX_ESYS && end.sys_errno == ENOSPC,
		      "round %d: %d %d %s: %s", i, end.code, end.sys_errno,
		      end.where, end.message);
		copy_nothing_published();
	}
	umount(host_path("out"));
}

static void case_061_a_destination_that_may_not_be_written(void)
{
	copy_task task;
	copy_end end;

	if (geteuid() == 0)
		e2e_skip("root may write everywhere");
	copy_init(&task, AB_COPY_MAKE);
	REQUIRE(chmod(host_path("out"), 0555) == 0, "chmod");
	end = copy_make(0);
	REQUIRE(chmod(host_path("out"), 0755) == 0, "chmod");
	CHECK(end.code == AGENTBOX_EACCES && end.sys_errno == EACCES, "%d %s",
	      end.code, end.message);
	CHECK(strstr(end.message, "directory that is to hold"), "%s",
	      end.message);
	copy_nothing_published();
}

static void case_066_a_restored_mtime_does_not_hide_a_change(void)
{
	struct stat st;

	GOOD(copy_make(0));
	e2e_sleep_ms(50);
	GOOD(copy_make(AB_COPY_REPLACE));
	REQUIRE(stat(ws_path("src/main.c"), &st) == 0, "stat");
	const struct timespec times[2] = { st.st_atim, st.st_mtim };
	int fd = open(ws_path("src/main.c"), O_WRONLY | O_CLOEXEC);

	REQUIRE(pwrite(fd, "INT", 3, 0) == 3 && futimens(fd, times) == 0,
		"write");
	close(fd);
	copy_end end = copy_make(AB_COPY_REPLACE);

	GOOD(end);
	CHECK(!end.done.unchanged, "not seen");
	CHECK(strncmp(host_read(snap_path("src/main.c")), "INT", 3) == 0,
	      "stale");
}

static void case_066_a_change_in_the_same_tick_is_seen(void)
{
	e2e_seconds(40);
	for (int i = 0; i < 40; i++) {
		const char *text = e2e_text("%08d\n", i);
		int fd = open(ws_path("src/main.c"), O_WRONLY | O_CLOEXEC);
		copy_end end;

		REQUIRE(pwrite(fd, text, 9, 0) == 9, "write");
		close(fd);
		end = copy_make(i ? AB_COPY_REPLACE : 0);
		REQUIRE(end.code == 0, "%d %s", end.code, end.message);
		CHECK(strncmp(host_read(snap_path("src/main.c")), text, 8) ==
			      0, "round %d is stale", i);
	}
}

/* A refresh of a tree that changed, staged and held. */
static copy_run hold_refresh(copy_end *end)
{
	copy_task task;
	copy_run run;
	int fd = -1;

	GOOD(copy_make(0));
	host_write(ws_path("src/main.c"), "second\n");
	copy_init(&task, AB_COPY_MAKE);
	task.plan.flags = AB_COPY_REPLACE | AB_COPY_HOLD;
	run = copy_start(&task);
	REQUIRE(copy_next(&run, end, &fd) == AB_MSG_COPY_STAGED, "%s",
		end->message);
	close(fd);
	return run;
}

static copy_end scrub(void)
{
	copy_task task;

	copy_init(&task, AB_COPY_SCRUB);
	return copy_do(&task);
}

static void scrub_is(int32_t code)
{
	copy_end end = scrub();

	CHECK(end.code == code, "%d %s", end.code, end.message);
}

/* A refresh that no longer hears, and what a scrub then says. */
static copy_run hang(copy_end *end)
{
	copy_run run = hold_refresh(end);

	REQUIRE(kill(run.helper.pid, SIGSTOP) == 0, "stop");
	scrub_is(AGENTBOX_EBUSY);
	CHECK(!snap_has(""), "it has its name");
	return run;
}

static void end_hung(copy_run *run, copy_end *end)
{
	REQUIRE(kill(run->helper.pid, SIGKILL) == 0, "kill");
	copy_wait(run, end);
}

static void case_072_two_at_once(void)
{
	copy_end first = { 0 }, second;
	copy_run run = hold_refresh(&first);

	second = copy_make(AB_COPY_REPLACE);
	CHECK(second.code == AGENTBOX_EBUSY, "%d", second.code);
	copy_say(&run, AB_MSG_COPY_PUBLISH);
	copy_wait(&run, &first);
	GOOD(first);
	CHECK(copy_leftovers(host_path("out")) == 0, "something is left");
}

/* Whether it is told to publish or not: then the scrub waits for it, and
   should not have to. */
static void case_073_a_scrub_during_a_refresh_wins(void)
{
	for (int told = 0; told < 2; told++) {
		copy_end end = { 0 };
		copy_run run = hold_refresh(&end);

		GOOD(scrub());
		if (told)
			copy_say(&run, AB_MSG_COPY_PUBLISH);
		copy_wait(&run, &end);
		CHECK(told ? end.code < 0 : end.code == AGENTBOX_ECANCELED,
		      "%d: %d %s", told, end.code, end.message);
		copy_nothing_published();
	}
}

/* What it has locked nobody else can clear away: that is no end yet. */
static void case_073_a_refresh_that_hangs_is_told(void)
{
	copy_end end = { 0 };
	copy_run run = hang(&end);

	scrub_is(AGENTBOX_EBUSY); /* asked again it is no other answer */
	REQUIRE(kill(run.helper.pid, SIGCONT) == 0, "continue");
	copy_wait(&run, &end);
	CHECK(end.code == AGENTBOX_ECANCELED, "%d %s", end.code, end.message);
	copy_nothing_published();
}

/* flock(2) asks for no right: who may read a tree may lock it, too. */
static int lock_as_reader(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	REQUIRE(fd >= 0 && flock(fd, LOCK_SH) == 0, "%s: %m", dir);
	return fd;
}

static void case_072_a_reader_who_locks_it_stops_no_refresh(void)
{
	int first, second;

	GOOD(copy_make(0));
	first = lock_as_reader(snap_path(""));
	for (int i = 0; i < 3; i++) {
		host_write(ws_path("src/main.c"), i & 1 ? "odd\n" : "even\n");
		GOOD(copy_make(AB_COPY_REPLACE));
		CHECK(strcmp(host_read(snap_path("src/main.c")),
			     i & 1 ? "odd\n" : "even\n") == 0, "%d", i);
	}
	second = lock_as_reader(snap_path(""));
	GOOD(scrub());
	copy_nothing_published();
	close(first);
	close(second);
}

/* Nor does he keep what a job that was killed has left. */
static void case_110_a_reader_who_locks_it_keeps_nothing(void)
{
	copy_end end = { 0 };
	copy_run run = hold_refresh(&end);
	char *left;
	int fd;

	end_hung(&run, &end);
	left = HOST_RUN(NULL, "sh", "-c",
			"printf %s \"$0\"/.agentbox-*.incomplete",
			host_path("out"));
	fd = lock_as_reader(left);
	CHECK(faccessat(fd, "src/main.c", F_OK, 0) == 0, "%s: %m", left);
	GOOD(scrub());
	CHECK(faccessat(fd, "src/main.c", F_OK, 0) < 0, "it is there");
	copy_nothing_published();
	close(fd);
}

/* The only name of this kind in base/out, or none. */
static char *name_left(const char *suffix)
{
	return HOST_RUN(NULL, "sh", "-c",
			"cd \"$0\" && set -- .agentbox-*.\"$1\" && "
			"[ $# = 1 ] && [ -e \"$1\" ] && printf %s \"$0/$1\"",
			host_path("out"), suffix);
}

/*
 * Whether its job has ended a record says: one that cannot be opened says
 * nothing. What may be at work stays, and that is told.
 */
static void case_110_a_record_that_cannot_be_asked_is_told(void)
{
	copy_end end = { 0 };
	copy_run run = hold_refresh(&end);
	char *record, *tree;

	end_hung(&run, &end);
	record = name_left("record");
	tree = name_left("incomplete");
	/* root may open everything but a link */
	REQUIRE(rename(record, host_path("aside")) == 0, "%s: %m", record);
	REQUIRE(symlink("nowhere", record) == 0, "%s: %m", record);
	int fd = lock_as_reader(tree);

	scrub_is(AGENTBOX_ESYS);
	CHECK(faccessat(fd, "src/main.c", F_OK, 0) == 0, "ended: %m");
	REQUIRE(unlink(record) == 0 && rename(host_path("aside"), record) == 0,
		"%s: %m", record);
	if (geteuid() != 0) {
		REQUIRE(chmod(record, 0) == 0, "%s: %m", record);
		scrub_is(AGENTBOX_EACCES);
		CHECK(faccessat(fd, "src/main.c", F_OK, 0) == 0, "ended: %m");
		REQUIRE(chmod(record, 0600) == 0, "%s: %m", record);
	}
	scrub();
	CHECK(faccessat(fd, "src/main.c", F_OK, 0) < 0, "it is there");
	close(fd);
}

/* Nor is it, until somebody has cleared away what the dead one had. */
static void case_073_a_refresh_that_hung_and_died_is_ended(void)
{
	copy_end end = { 0 };
	copy_run run = hang(&end);

	end_hung(&run, &end);
	GOOD(scrub());
	copy_nothing_published();
	scrub_is(AGENTBOX_ENOTFOUND);
	/* and a name that was ended so is free */
	GOOD(copy_make(0));
	GOOD(scrub());
	copy_nothing_published();
}

/* One that died does not speak for another that still has everything. */
static void case_073_two_refreshes_that_hang_are_told(void)
{
	copy_end first = { 0 }, second = { 0 };
	copy_run one = hang(&first), other = hang(&second);

	end_hung(&one, &first);
	scrub_is(AGENTBOX_EBUSY);
	end_hung(&other, &second);
	GOOD(scrub());
	copy_nothing_published();
	scrub_is(AGENTBOX_ENOTFOUND);
}

static void case_073_cancelled_is_not_published(void)
{
	copy_task task;
	copy_end end = { 0 };
	int fd = -1;

	copy_init(&task, AB_COPY_MAKE);
	task.plan.flags = AB_COPY_HOLD;
	copy_run run = copy_start(&task);

	REQUIRE(copy_next(&run, &end, &fd) == AB_MSG_COPY_STAGED, "%s",
		end.message);
	close(fd);
	copy_say(&run, AB_MSG_COPY_CANCEL);
	copy_wait(&run, &end);
	CHECK(end.code == AGENTBOX_ECANCELED, "%d", end.code);
	copy_nothing_published();
	/* the host is gone without a word */
	run = copy_start(&task);
	REQUIRE(copy_next(&run, &end, &fd) == AB_MSG_COPY_STAGED, "%s",
		end.message);
	close(fd);
	ab_helper_stop(&run.helper, 5000);
	copy_nothing_published();
}

/* Who takes names away from readers has this lock; lib/peering/places.c. */
static int lock_records(void)
{
	int fd = open(host_path("out"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	REQUIRE(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0, "lock: %m");
	return fd;
}

/* Told to publish, it waits for who takes names away; as long as its host
   lives, and no longer. */
static void case_073_who_was_told_to_publish_has_its_turn(void)
{
	for (int dies = 0; dies < 2; dies++) {
		copy_end end = { 0 };
		copy_task task;
		copy_run run;
		int fd = -1, turn;

		copy_init(&task, AB_COPY_MAKE);
		task.plan.flags = AB_COPY_HOLD;
		run = copy_start(&task);
		REQUIRE(copy_next(&run, &end, &fd) == AB_MSG_COPY_STAGED, "%s",
			end.message);
		close(fd);
		turn = lock_records();
		copy_say(&run, AB_MSG_COPY_PUBLISH);
		usleep(300000);
		CHECK(!snap_has(""), "%d: it did not wait", dies);
		if (dies) {
			ab_helper_stop(&run.helper, 5000);
			close(turn);
			usleep(100000);
			copy_nothing_published();
			continue;
		}
		close(turn);
		copy_wait(&run, &end);
		GOOD(end);
		scrub_is(0);
	}
}

/* Many files, each another than before. */
static void write_many(const char *text)
{
	int dir;

	host_mkdir(ws_path("many"));
	dir = open(ws_path("many"), O_PATH | O_CLOEXEC);
	for (int i = 0; i < 1000; i++) {
		char name[16];
		int fd;

		snprintf(name, sizeof(name), "f%d.c", i);
		fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			    0644);
		REQUIRE(fd >= 0 && write(fd, text, strlen(text)) > 0, "%m");
		close(fd);
	}
	close(dir);
}

/* A refresh of them, staged. */
static copy_run stage_many(uint32_t flags, const char *text, copy_end *end)
{
	copy_task task;
	copy_run run;
	int fd = -1;

	write_many(text);
	copy_init(&task, AB_COPY_MAKE);
	task.plan.flags = AB_COPY_REPLACE | AB_COPY_HOLD | flags;
	run = copy_start(&task);
	REQUIRE(copy_next(&run, end, &fd) == AB_MSG_COPY_STAGED, "%s",
		end->message);
	close(fd);
	return run;
}

/*
 * Others wait for who has its turn: it is over with the two renames, and the
 * generation before is put away after it. Who looks too late looks again.
 */
static void case_073_the_turn_ends_before_the_clearing(void)
{
	bool seen = false;

	e2e_seconds(120);
	write_many("0\n");
	GOOD(copy_make(0));
	for (int i = 1; i < 20 && !seen; i++) {
		char *text = e2e_text("%d\n", i);
		copy_end end = { 0 };
		copy_run run = stage_many(0, text, &end);
		int fd = open(host_path("out"), O_RDONLY | O_CLOEXEC);

		copy_say(&run, AB_MSG_COPY_PUBLISH);
		while (strcmp(host_read(snap_path("many/f0.c")), text) != 0)
			;
		while (flock(fd, LOCK_EX | LOCK_NB) != 0)
			;
		seen = *name_left("incomplete");
		close(fd);
		copy_wait(&run, &end);
		GOOD(end);
	}
	CHECK(seen, "it had its turn until all was put away");
}

/* What is told to publish has nothing to clear away first. */
static void case_073_who_is_staged_has_cleared_away(void)
{
	write_many("0\n");
	GOOD(copy_make(0));
	for (int i = 1; i < 5; i++) {
		copy_end end = { 0 };
		copy_run run = stage_many(AB_COPY_KEEP_OLD,
					  e2e_text("%d\n", i), &end);

		CHECK(*name_left("incomplete"), "round %d: more is left", i);
		copy_say(&run, AB_MSG_COPY_PUBLISH);
		copy_wait(&run, &end);
		GOOD(end);
	}
}

/* Nor when a reader has the generation locked that is to be cleared away. */
static void case_073_a_reader_keeps_nothing_from_being_cleared_away(void)
{
	copy_end end = { 0 };
	copy_run run;
	int fd;

	write_many("0\n");
	GOOD(copy_make(0));
	fd = lock_as_reader(snap_path(""));
	for (int i = 1; i < 4; i++) {
		run = stage_many(AB_COPY_KEEP_OLD, e2e_text("%d\n", i), &end);
		CHECK(*name_left("incomplete"), "round %d: more is left", i);
		if (i > 1)
			CHECK(!*name_left("old"), "round %d: the spare is left",
			      i);
		copy_say(&run, AB_MSG_COPY_PUBLISH);
		copy_wait(&run, &end);
		GOOD(end);
		CHECK(*name_left("old"), "round %d: nothing is kept", i);
	}
	close(fd);
	GOOD(scrub());
	copy_nothing_published();
}

/* Is every name that is said to be there still there? */
static bool is_whole(DIR *many)
{
	int names = 0;

	rewinddir(many);
	while (readdir(many))
		names++;
	return names == 1000 + 2;
}

/* The turn is over with a failure, too, before what is staged goes away. */
static void case_073_the_turn_ends_with_a_failure(void)
{
	bool seen = false;

	e2e_seconds(120);
	write_many("0\n");
	GOOD(copy_make(0));
	for (int i = 1; i < 20 && !seen; i++) {
		copy_end end = { 0 };
		copy_run run = stage_many(0, e2e_text("%d\n", i), &end);
		int fd = open(host_path("out"), O_RDONLY | O_CLOEXEC);
		char *staged = name_left("incomplete");
		DIR *many = opendir(e2e_text("%s/many", staged));

		REQUIRE(many && is_whole(many), "'%s': %m", staged);
		REQUIRE(rename(snap_path(""), host_path("out/aside")) == 0, "%m");
		copy_say(&run, AB_MSG_COPY_PUBLISH);
		while (is_whole(many))
			;
		while (flock(fd, LOCK_EX | LOCK_NB) != 0)
			;
		seen = access(staged, F_OK) == 0;
		close(fd);
		closedir(many);
		copy_wait(&run, &end);
		CHECK(end.code == AGENTBOX_ENOTFOUND, "%d %s", end.code,
		      end.message);
		REQUIRE(rename(host_path("out/aside"), snap_path("")) == 0, "%m");
	}
	CHECK(seen, "it had its turn until all was taken away");
}

/* No record, and a reader who locks what is shown. */
static void case_072_a_reader_stops_no_refresh_without_a_record(void)
{
	copy_end first = { 0 }, second = { 0 };
	copy_run run, other;
	int fd;

	GOOD(copy_make(0));
	fd = lock_as_reader(snap_path(""));
	REQUIRE(unlink(host_path("out/.snap.agentbox")) == 0, "record: %m");
	host_write(ws_path("src/main.c"), "third\n");
	run = stage_many(0, "1\n", &first);
	other = stage_many(0, "1\n", &second);
	copy_say(&run, AB_MSG_COPY_PUBLISH);
	copy_wait(&run, &first);
	GOOD(first);
	/* of two the first one that publishes is the one */
	copy_say(&other, AB_MSG_COPY_PUBLISH);
	copy_wait(&other, &second);
	CHECK(second.code == AGENTBOX_EBUSY, "%d %s", second.code,
	      second.message);
	CHECK(strcmp(host_read(snap_path("src/main.c")), "third\n") == 0,
	      "another");
	close(fd);
	GOOD(copy_make(AB_COPY_REPLACE));
	GOOD(scrub());
	copy_nothing_published();
}

static void case_057_a_deadline_ends_the_job(void)
{
	copy_task task;
	copy_end end = { 0 };
	int fd = -1;

	copy_init(&task, AB_COPY_MAKE);
	task.plan.flags = AB_COPY_HOLD;
	task.plan.deadline_ms = 1000;
	copy_run run = copy_start(&task);

	if (copy_next(&run, &end, &fd) == AB_MSG_COPY_STAGED)
		close(fd);
	copy_wait(&run, &end);
	CHECK(end.code == AGENTBOX_ETIMEOUT || end.code == AGENTBOX_ECLOSED,
	      "%d", end.code);
	copy_nothing_published();
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_061_a_full_destination_fails_and_leaves_nothing),
		CASE(case_061_the_reason_is_told_whoever_ends_first),
		CASE(case_061_a_destination_that_may_not_be_written),
		CASE(case_066_a_restored_mtime_does_not_hide_a_change),
		CASE(case_066_a_change_in_the_same_tick_is_seen),
		CASE(case_072_two_at_once),
		CASE(case_073_a_scrub_during_a_refresh_wins),
		CASE(case_073_a_refresh_that_hangs_is_told),
		CASE(case_072_a_reader_who_locks_it_stops_no_refresh),
		CASE(case_110_a_reader_who_locks_it_keeps_nothing),
		CASE(case_110_a_record_that_cannot_be_asked_is_told),
		CASE(case_073_a_refresh_that_hung_and_died_is_ended),
		CASE(case_073_two_refreshes_that_hang_are_told),
		CASE(case_073_cancelled_is_not_published),
		CASE(case_073_who_was_told_to_publish_has_its_turn),
		CASE(case_073_the_turn_ends_before_the_clearing),
		CASE(case_073_who_is_staged_has_cleared_away),
		CASE(case_073_a_reader_keeps_nothing_from_being_cleared_away),
		CASE(case_073_the_turn_ends_with_a_failure),
		CASE(case_072_a_reader_stops_no_refresh_without_a_record),
		CASE(case_057_a_deadline_ends_the_job),
		CASES_END
	};

	return e2e_main(argc, argv, cases);
}
