/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long agentbox-init looks for names, and what it says when that was not
 * long enough: watch.c and settle.c with a clock of the test's own, which
 * each name that is taken away moves on, and with neighbours that do as they
 * are told. The workspace and its events are real.
 */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abtest.h"
#include "base/fd.h"
#include "init_neighbours.h"
#include "watcher.h"

#define SECOND 1000000000ull

static char top[4096], quarantine[4200];
static uint64_t cost_ns; /* what taking a name away takes */
static bool is_empty = true;
static int mounts_answer; /* of a look at them */
static bool is_host_moving; /* while everything is looked through */
static char first_seen[64];
static init_box box;
static holder h;
static watcher *w;

bool init_is_unwanted(watcher *x, const char *path, unsigned char type)
{
	const char *slash = strrchr(path, '/');

	(void)x;
	(void)type;
	return !strcmp(slash ? slash + 1 : path, ".envrc");
}

static void move_unseen(const char *path);

void init_quarantine(watcher *x, const char *path)
{
	if (is_host_moving)
		move_unseen(path);
	/* some were taken away already, for an event of theirs */
	if (unlinkat(x->workspace_fd, path, 0))
		return;
	around.now_ns += cost_ns;
	x->quarantined++;
}

void init_quarantine_outside(watcher *x, const char *path)
{
	init_quarantine(x, path);
}

int init_open_host(const char *path, uint64_t dev, uint64_t ino)
{
	(void)dev;
	(void)ino;
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int init_fail(init_box *b, int sys_errno, const char *advice, const char *fmt,
	      ...)
{
	(void)b;
	(void)advice;
	ck_abort_msg("%s: %s", fmt, strerror(sys_errno));
	return -1;
}

void init_note(init_box *b, const char *fmt, ...)
{
	(void)b;
	(void)fmt;
}

bool init_is_guarded_step(const ab_plan *plan, uint32_t i)
{
	(void)plan;
	(void)i;
	return false;
}

bool init_is_held(const watcher *x, const char *path)
{
	(void)x;
	(void)path;
	return false;
}

bool init_is_sealed(const watcher *x, const char *path)
{
	return init_is_held(x, path);
}

bool init_is_left(const watcher *x, const char *path)
{
	return init_is_held(x, path);
}

bool init_is_named(const watcher *x, const char *path, unsigned char type)
{
	(void)type;
	return init_is_held(x, path);
}

bool init_adopt(watcher *x, const char *path)
{
	return init_is_held(x, path);
}

bool init_await_pointer(watcher *x, const char *path)
{
	return init_is_held(x, path);
}

int init_keep_known(watcher *x, const char *path)
{
	return init_is_held(x, path);
}

int init_index_names(watcher *x)
{
	return init_is_held(x, "");
}

int init_list_guarded(watcher *x)
{
	return init_is_held(x, "");
}

int init_check_mounts(watcher *x, bool settling)
{
	(void)settling;
	return init_is_held(x, "") ? 1 : mounts_answer;
}

uint64_t init_last_begun(const watcher *x)
{
	return init_is_held(x, "");
}

void init_make_passable(int dir_fd)
{
	(void)dir_fd;
}

void init_check_awaited(watcher *x)
{
	(void)x;
}

void init_check_pointers(watcher *x)
{
	(void)x;
}

void init_watch_parents(watcher *x)
{
	(void)x;
}

void init_mark_quiet(watcher *x, uint64_t began_ns, bool was_absent)
{
	(void)x;
	(void)began_ns;
	(void)was_absent;
}

/* --- a workspace in which names appear --- */

static void plant(unsigned from, unsigned to)
{
	char path[4300];
	int fd;

	for (unsigned i = from; i < to; i++) {
		snprintf(path, sizeof(path), "%s/d%u", top, i);
		ck_assert(mkdir(path, 0755) == 0 || errno == EEXIST);
		snprintf(path, sizeof(path), "%s/d%u/.envrc", top, i);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		ck_assert_int_ge(fd, 0);
		close(fd);
	}
}

static unsigned count_planted(unsigned most)
{
	char path[4300];
	unsigned n = 0;

	for (unsigned i = 0; i < most; i++) {
		snprintf(path, sizeof(path), "%s/d%u/.envrc", top, i);
		n += access(path, F_OK) == 0;
	}
	return n;
}

#define PLANTED 80u

/* One that the look has not come to, into the one that it began with. */
static void move_unseen(const char *path)
{
	char from[4300], to[4400], name[32];

	if (!first_seen[0]) {
		snprintf(first_seen, sizeof(first_seen), "%.*s",
			 (int)strcspn(path, "/"), path);
		return;
	}
	is_host_moving = false;
	for (unsigned i = 0; i < PLANTED; i++) {
		snprintf(name, sizeof(name), "d%u", i);
		snprintf(from, sizeof(from), "%s/%s/.envrc", top, name);
		if (!strncmp(path, name, strcspn(path, "/")) ||
		    access(from, F_OK))
			continue;
		snprintf(from, sizeof(from), "%s/%s", top, name);
		snprintf(to, sizeof(to), "%s/%s/moved", top, first_seen);
		ck_assert_int_eq(rename(from, to), 0);
		return;
	}
	ck_abort_msg("all were seen");
}

static void setup(void)
{
	static ab_plan_watch watch = {.pattern = ".envrc"};

	snprintf(top, sizeof(top), "%s/init-watch-XXXXXX", ab_test_tmpdir());
	ck_assert_ptr_nonnull(mkdtemp(top));
	snprintf(quarantine, sizeof(quarantine), "%s-q", top);
	ck_assert_int_eq(mkdir(quarantine, 0700), 0);
	around.now_ns = 1000 * SECOND;
	box = (init_box){.host_pidfd = -1, .plan = {.watches = &watch,
				  .watch_count = 1,
				  .workspace_host = top,
				  .workspace_inside = "/w",
				  .quarantine_host = quarantine}};
	h = (holder){.box = &box, .is_ready = true};
	ck_assert_int_eq(init_start_watching(&h), 0);
	w = h.watcher;
	plant(0, PLANTED);
	around.is_agent_there = true;
	cost_ns = SECOND;
}

static bool is_demanded(void)
{
	return ab_fd_poll(w->demand_fd, POLLIN, 0) > 0;
}

/* In seconds, by the clock above. */
static uint64_t settle(int expected)
{
	uint64_t values[4] = {0}, began = around.now_ns;

	ck_assert_int_eq(init_settle(&h, values), expected);
	return (around.now_ns - began) / SECOND;
}

/* Nothing but a look tells of what is left. */
static void forget_events(void)
{
	char buffer[4096];

	while (read(box.inotify_fd, buffer, sizeof(buffer)) > 0)
		;
}

START_TEST(an_agent_that_plants_has_five_seconds)
{
	uint64_t values[4] = {0}, took = settle(-EAGAIN);

	ck_assert_uint_ge(took, 5);
	ck_assert_uint_le(took, 6);
	ck_assert_uint_eq(around.told_cut, 1);
	/* the next begins with what this one has not seen */
	ck_assert(w->is_doubtful);
	ck_assert_uint_eq(count_planted(PLANTED) + w->quarantined, PLANTED);
	/* and is not waited for longer, nor told as good */
	took = around.now_ns;
	ck_assert_int_eq(init_settle(&h, values), -EAGAIN);
	ck_assert_uint_le((around.now_ns - took) / SECOND, 6);
	ck_assert_uint_eq(values[2], 1);
	ck_assert_uint_eq(around.told_cut, 2);
}
END_TEST

START_TEST(what_he_left_has_ten_seconds)
{
	uint64_t took;

	around.is_agent_there = false;
	took = settle(-EAGAIN);
	ck_assert_uint_ge(took, 10);
	ck_assert_uint_le(took, 11);
	ck_assert_uint_eq(around.told_cut, 1);
	ck_assert(w->is_doubtful);
}
END_TEST

START_TEST(the_next_settle_looks_at_everything)
{
	settle(-EAGAIN);
	ck_assert_uint_gt(count_planted(PLANTED), 0);
	forget_events();
	cost_ns = 0;
	settle(0);
	ck_assert_uint_eq(count_planted(PLANTED), 0);
	ck_assert(!w->is_doubtful);
	ck_assert(!is_demanded());
	/* and only that one */
	ck_assert_int_lt(ab_fd_poll(box.inotify_fd, POLLIN, 0), 1);
	plant(0, 1);
	forget_events();
	settle(0);
	ck_assert_uint_eq(count_planted(1), 1);
}
END_TEST

START_TEST(a_look_that_nobody_asked_for_is_as_long)
{
	uint64_t began = around.now_ns;

	init_settle_unasked(w);
	ck_assert_uint_ge((around.now_ns - began) / SECOND, 5);
	ck_assert_uint_le((around.now_ns - began) / SECOND, 6);
	ck_assert_uint_eq(around.told_cut, 1);
	ck_assert(w->is_doubtful);
	ck_assert(is_demanded());
}
END_TEST

/* Nothing is the host's for that it has moved it, or what it is in. */
START_TEST(what_the_host_moves_beside_a_look_is_seen_by_it)
{
	char path[4400];

	forget_events();
	cost_ns = 0;
	w->is_doubtful = is_host_moving = true;
	settle(0);
	ck_assert(!is_host_moving);
	ck_assert_uint_eq(count_planted(PLANTED), 0);
	snprintf(path, sizeof(path), "%s/%s/moved", top, first_seen);
	ck_assert_int_eq(access(path, F_OK), 0);
	snprintf(path, sizeof(path), "%s/%s/moved/.envrc", top, first_seen);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_uint_eq(w->quarantined, PLANTED);
}
END_TEST

/* The number of entries is the limit of that. */
START_TEST(where_nothing_appears_all_is_looked_through)
{
	cost_ns = 0;
	settle(0);
	w->is_doubtful = true;
	around.tick_ns = 30 * SECOND;
	ck_assert_uint_ge(settle(0), 60);
	ck_assert_uint_eq(around.told_cut, 0);
}
END_TEST

/* --- the end of the box --- */

static uint64_t settle_last(void)
{
	uint64_t began = around.now_ns;

	around.is_agent_there = false;
	init_settle_last(&h, is_empty);
	return (around.now_ns - began) / SECOND;
}

START_TEST(at_the_end_it_has_a_minute)
{
	uint64_t took;

	around.is_heard = true;
	took = settle_last();
	ck_assert_uint_ge(took, 60);
	ck_assert_uint_le(took, 61);
	ck_assert_uint_gt(count_planted(PLANTED), 0);
	ck_assert_uint_eq(around.told_cut, 1);
	/* the host removes it, when it has said so */
	ck_assert(around.is_recorded && around.is_looked);
	ck_assert(!box.host_reads);
}
END_TEST

START_TEST(for_a_host_that_is_gone_it_goes_on)
{
	ck_assert_uint_ge(settle_last(), PLANTED);
	ck_assert_uint_eq(count_planted(PLANTED), 0);
	ck_assert_uint_eq(around.told_cut, 1);
	ck_assert(!around.is_recorded);
}
END_TEST

/* A forked child of it keeps the socket open. */
START_TEST(who_is_dead_hears_nothing)
{
	int pair[2];

	around.is_heard = true;
	ck_assert_int_eq(pipe2(pair, O_CLOEXEC), 0);
	close(pair[1]);
	box.host_pidfd = pair[0];
	plant(0, 2);
	ck_assert_int_eq(ab_fd_poll(pair[0], POLLIN, 0) > 0, 1);
	ck_assert_uint_ge(settle_last(), PLANTED);
	ck_assert_uint_eq(count_planted(PLANTED), 0);
	close(pair[0]);
}
END_TEST

/* Somebody who is nobody of the box's may plant for ever. */
START_TEST(it_does_not_go_on_for_ever)
{
	plant(PLANTED, 400);
	ck_assert_uint_le(settle_last(), 310);
	ck_assert_uint_gt(count_planted(400), 0);
	ck_assert_uint_eq(around.told_cut, 5);
	ck_assert(around.is_recorded);
}
END_TEST

START_TEST(where_all_is_put_right_the_record_goes)
{
	ck_assert(around.is_recorded);
	cost_ns = SECOND / 100;
	settle_last();
	ck_assert_uint_eq(count_planted(PLANTED), 0);
	ck_assert(!around.is_recorded && !around.is_looked);
	ck_assert_uint_eq(around.told_cut, 0);
}
END_TEST

START_TEST(where_a_process_still_lives_the_record_stays)
{
	is_empty = false;
	cost_ns = 0;
	settle_last();
	ck_assert_uint_eq(count_planted(PLANTED), 0);
	ck_assert_uint_eq(w->failed, 1);
	ck_assert(around.is_recorded);
}
END_TEST

START_TEST(where_mounts_could_not_be_judged_the_record_stays)
{
	cost_ns = 0;
	mounts_answer = -EAGAIN;
	settle_last();
	ck_assert_uint_eq(w->failed, 1);
	ck_assert(around.is_recorded);
}
END_TEST

START_TEST(a_box_that_never_was_ready_leaves_no_record)
{
	h.is_ready = false;
	settle_last();
	ck_assert(!around.is_recorded);
	ck_assert_uint_eq(count_planted(PLANTED), PLANTED);
}
END_TEST

/* A day of an agent that makes directories and removes them. */
START_TEST(what_is_kept_of_watches_does_not_grow)
{
	static watcher many;
	char path[16];

	for (int wd = 1; wd <= 2000000; wd++) {
		snprintf(path, sizeof(path), "%d", wd);
		ck_assert(init_keep_dir(&many, wd, path));
		/* some stay */
		if (wd > 100 && (wd - 100) % 1000)
			init_forget_dir(&many, wd - 100);
	}
	ck_assert_uint_eq(many.watch_count, 2100 - 1);
	ck_assert_uint_lt(many.dir_room, 10 * many.watch_count);
	ck_assert_str_eq(init_find_dir(&many, 5000 + 1000), "6000");
	ck_assert_ptr_null(init_find_dir(&many, 6001));
	ck_assert_str_eq(init_find_dir(&many, 1999999), "1999999");
	/* it has another name now; and the numbers began anew */
	ck_assert(init_keep_dir(&many, 6000, "x"));
	ck_assert_str_eq(init_find_dir(&many, 6000), "x");
	ck_assert(init_keep_dir(&many, 3, "y"));
	ck_assert_str_eq(init_find_dir(&many, 3), "y");
	ck_assert_uint_eq(many.watch_count, 2100);
	for (int wd = 1; wd <= 2000000; wd++)
		init_forget_dir(&many, wd);
	ck_assert_uint_eq(many.watch_count, 0);
	ck_assert_ptr_null(init_find_dir(&many, 3));
	free(many.dirs);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("init_watch");
	TCase *t = tcase_create("bounds");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, an_agent_that_plants_has_five_seconds);
	tcase_add_test(t, what_he_left_has_ten_seconds);
	tcase_add_test(t, the_next_settle_looks_at_everything);
	tcase_add_test(t, a_look_that_nobody_asked_for_is_as_long);
	tcase_add_test(t, what_the_host_moves_beside_a_look_is_seen_by_it);
	tcase_add_test(t, what_is_kept_of_watches_does_not_grow);
	tcase_add_test(t, where_nothing_appears_all_is_looked_through);
	tcase_add_test(t, at_the_end_it_has_a_minute);
	tcase_add_test(t, for_a_host_that_is_gone_it_goes_on);
	tcase_add_test(t, who_is_dead_hears_nothing);
	tcase_add_test(t, it_does_not_go_on_for_ever);
	tcase_add_test(t, where_all_is_put_right_the_record_goes);
	tcase_add_test(t, where_a_process_still_lives_the_record_stays);
	tcase_add_test(t, where_mounts_could_not_be_judged_the_record_stays);
	tcase_add_test(t, a_box_that_never_was_ready_leaves_no_record);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
