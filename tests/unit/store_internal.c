/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The store: made, migrated, shared, refused. What another version, another
 * program or a crash left must never be taken for ours.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"
#include "base/error.h"
#include "store/store.h"

static char state[4096], file[4200];
static agentbox_context *context;

static void set_up(void)
{
	snprintf(state, sizeof(state), "%s/state-XXXXXX", ab_test_tmpdir());
	ck_assert_ptr_nonnull(mkdtemp(state));
	snprintf(file, sizeof(file), "%s/" AB_STORE_NAME, state);
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	ck_assert_int_eq(agentbox_context_set_state_dir(context, state, NULL),
			 0);
}

static void tear_down(void)
{
	agentbox_context_unref(context);
}

static ab_store *open_store(void)
{
	agentbox_error *err = NULL;
	ab_store *s = NULL;
	int32_t rc = ab_store_open(context, &s, &err);

	ck_assert_msg(rc == 0, "%s", agentbox_error_get_message(err));
	return s;
}

static int32_t refused(const char *word)
{
	agentbox_error *err = NULL;
	ab_store *s = NULL;
	int32_t rc = ab_store_open(context, &s, &err);

	ck_assert_ptr_null(s);
	ck_assert_msg(rc < 0 && strstr(agentbox_error_get_message(err), word),
		      "%d: %s", (int)rc, agentbox_error_get_message(err));
	agentbox_error_free(err);
	return rc;
}

/* With SQLite alone, as another program would. */
static void by_hand(const char *sql)
{
	sqlite3 *db = NULL;

	ck_assert_int_eq(sqlite3_open(file, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static int32_t take_text(void *data, const char *const *c, size_t n,
			 agentbox_error **err)
{
	(void)n;
	(void)err;
	snprintf(data, 64, "%s", c[0] ? c[0] : "NULL");
	return 0;
}

static int32_t insert(ab_store *s, const char *id, const char *name,
		      const char *st, agentbox_error **err)
{
	return ab_store_run(s, NULL, NULL, err,
			    "INSERT INTO grants(id, reader, source, name, "
			    "state, workspace, dev, ino, source_pid, "
			    "source_started, made_ns) VALUES(?, 'a', 'b', ?, "
			    "?, '/w', 1, 2, 3, 4, 5)", "sss", id, name, st);
}

START_TEST(it_is_made_private_and_opened_again)
{
	struct stat st;
	char text[64] = "";
	ab_store *s = open_store();

	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(insert(s, "g1", "n", "live", NULL), 0);
	ab_store_close(s);
	s = open_store();
	ck_assert_int_eq(ab_store_run(s, take_text, text, NULL,
				      "SELECT id FROM grants", ""), 0);
	ck_assert_str_eq(text, "g1");
	ab_store_close(s);
}
END_TEST

START_TEST(one_live_grant_a_name)
{
	agentbox_error *err = NULL;
	ab_store *s = open_store();

	ck_assert_int_eq(insert(s, "g1", "n", "live", NULL), 0);
	ck_assert_int_eq(insert(s, "g2", "n", "making", &err),
			 AGENTBOX_EEXIST);
	agentbox_error_free(err);
	ck_assert_int_eq(insert(s, "g3", "n", "revoked", NULL), 0);
	ck_assert_int_eq(insert(s, "g4", "m", "live", NULL), 0);
	ab_store_close(s);
}
END_TEST

START_TEST(a_transaction_is_whole_or_nothing)
{
	char text[64] = "";
	ab_store *s = open_store();

	ck_assert_int_eq(ab_store_begin(s, NULL), 0);
	ck_assert_int_eq(insert(s, "g1", "n", "live", NULL), 0);
	ab_store_rollback(s);
	ab_store_rollback(s);
	ck_assert_int_eq(ab_store_begin(s, NULL), 0);
	ck_assert_int_eq(insert(s, "g2", "n", "live", NULL), 0);
	ck_assert_int_eq(ab_store_commit(s, NULL), 0);
	ab_store_rollback(s);
	ck_assert_int_eq(ab_store_run(s, take_text, text, NULL,
				      "SELECT group_concat(id) FROM grants",
				      ""), 0);
	ck_assert_str_eq(text, "g2");
	ab_store_close(s);
}
END_TEST

START_TEST(strings_are_values_and_never_sql)
{
	static const char odd[] = "x'); DROP TABLE grants; --";
	char text[64] = "";
	ab_store *s = open_store();

	ck_assert_int_eq(insert(s, odd, odd, "live", NULL), 0);
	ck_assert_int_eq(ab_store_run(s, take_text, text, NULL,
				      "SELECT id FROM grants WHERE name = ?",
				      "s", odd), 0);
	ck_assert_str_eq(text, odd);
	ab_store_close(s);
}
END_TEST

START_TEST(a_later_version_is_refused)
{
	ab_store_close(open_store());
	by_hand("PRAGMA user_version = 99");
	ck_assert_int_eq(refused("later one"), AGENTBOX_EUNSUPPORTED);
}
END_TEST

START_TEST(another_database_is_refused_and_left_alone)
{
	sqlite3 *db = NULL;

	by_hand("CREATE TABLE grants(mine)");
	ck_assert_int_eq(refused("something else"), AGENTBOX_ETAMPERED);
	ck_assert_int_eq(sqlite3_open(file, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "SELECT mine FROM grants", NULL,
				      NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}
END_TEST

START_TEST(rubbish_is_refused)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	char junk[8192];

	memset(junk, 'j', sizeof(junk));
	ck_assert_int_eq(write(fd, junk, sizeof(junk)), sizeof(junk));
	close(fd);
	ck_assert_int_eq(refused("damaged"), AGENTBOX_ETAMPERED);
}
END_TEST

START_TEST(a_link_in_its_place_is_refused)
{
	ck_assert_int_eq(symlink("/etc/passwd", file), 0);
	refused("cannot make");
}
END_TEST

START_TEST(a_forked_child_is_refused_and_keeps_the_locks)
{
	ab_store *s = open_store();
	int status = -1;

	ck_assert_int_eq(ab_store_begin(s, NULL), 0);
	fflush(NULL);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		int32_t rc = ab_store_run(s, NULL, NULL, NULL, "SELECT 1", "");
		ab_store_rollback(s);
		ab_store_close(s);
		_exit(rc == AGENTBOX_EFORKED ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(insert(s, "g1", "n", "live", NULL), 0);
	ck_assert_int_eq(ab_store_commit(s, NULL), 0);
	ab_store_close(s);
}
END_TEST

/* Four processes count one number up, each in transactions of its own. */
START_TEST(processes_decide_one_at_a_time)
{
	char text[64] = "";
	ab_store *s = open_store();

	ck_assert_int_eq(insert(s, "g1", "n", "live", NULL), 0);
	ab_store_close(s);
	fflush(NULL);
	for (int i = 0; i < 4; i++) {
		if (fork() != 0)
			continue;
		s = NULL;
		bool good = ab_store_open(context, &s, NULL) == 0;
		for (int k = 0; good && k < 25; k++) {
			good = ab_store_begin(s, NULL) == 0 &&
			       ab_store_run(s, take_text, text, NULL,
					    "SELECT files FROM grants", "") ==
				       0 &&
			       ab_store_run(s, NULL, NULL, NULL,
					    "UPDATE grants SET files = ?", "i",
					    (int64_t)atoi(text) + 1) == 0 &&
			       ab_store_commit(s, NULL) == 0;
		}
		_exit(good ? 0 : 1);
	}
	for (int i = 0; i < 4; i++) {
		int status = -1;
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	s = open_store();
	ck_assert_int_eq(ab_store_run(s, take_text, text, NULL,
				      "SELECT files FROM grants", ""), 0);
	ck_assert_str_eq(text, "100");
	ab_store_close(s);
}
END_TEST

/* --- a full disk --- */

#define GRANTS 300

static void say(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "%s\n", name);
	close(fd);
}

/* A disk of 3 MiB as the state directory, seen by this process alone. */
static bool own_disk(void)
{
	char map[64], gids[64];
	uid_t uid = geteuid();

	snprintf(gids, sizeof(gids), "%u %u 1", (unsigned)getegid(),
		 (unsigned)getegid());
	if (uid != 0) {
		snprintf(map, sizeof(map), "%u %u 1", (unsigned)uid,
			 (unsigned)uid);
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
			return false;
		say("/proc/self/setgroups", "deny");
		say("/proc/self/uid_map", map);
		say("/proc/self/gid_map", gids);
	} else if (unshare(CLONE_NEWNS) < 0) {
		return false;
	}
	/* valgrind reads each name */
	return mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", state, "tmpfs", MS_NOSUID | MS_NODEV,
		     "size=3m,mode=700") == 0;
}

static void fill(void)
{
	static const char block[4096];
	char name[4300];

	snprintf(name, sizeof(name), "%s/fill", state);
	int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	while (write(fd, block, sizeof(block)) > 0)
		;
	while (write(fd, block, 1) > 0)
		;
	close(fd);
}

static int32_t withdraw(ab_store *s, int i)
{
	char id[16];
	int32_t rc = ab_store_begin(s, NULL);

	snprintf(id, sizeof(id), "g%d", i);
	if (rc == 0)
		rc = ab_store_run(s, NULL, NULL, NULL,
				  "UPDATE grants SET state = 'revoked', "
				  "reason = hex(zeroblob(100)), "
				  "revoked_ns = 1900000000000000000 "
				  "WHERE id = ?", "s", id);
	if (rc == 0)
		rc = ab_store_commit(s, NULL);
	ab_store_rollback(s);
	return rc;
}

static void count_is(const char *which, const char *want)
{
	char text[64] = "", sql[128];
	ab_store *s = open_store();

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM grants WHERE state "
				   "= '%s'", which);
	ck_assert_int_eq(ab_store_run(s, take_text, text, NULL, sql, ""), 0);
	ck_assert_str_eq(text, want);
	ck_assert_int_eq(ab_store_run(s, take_text, text, NULL,
				      "PRAGMA integrity_check", ""), 0);
	ck_assert_str_eq(text, "ok");
	ab_store_close(s);
}

static void insert_many(void)
{
	char id[16];
	ab_store *s = open_store();

	for (int i = 0; i < GRANTS; i++) {
		snprintf(id, sizeof(id), "g%d", i);
		ck_assert_int_eq(ab_store_hold_room(s, NULL), 0);
		ck_assert_int_eq(insert(s, id, id, "live", NULL), 0);
	}
	ab_store_close(s);
}

/* What is mounted goes with the child. */
static void on_own_disk(void (*fn)(void))
{
	int status = -1;

	fflush(NULL);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (own_disk())
			fn();
		else
			printf("# no disk of its own here\n");
		fflush(NULL);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* Whoever fills the disk, before or between, keeps no grant alive. */
static void fill_and_withdraw(void)
{
	agentbox_error *err = NULL;
	char name[4300];

	insert_many();
	fill();
	count_is("live", "300");
	for (int i = 0; i < GRANTS; i++) {
		ab_store *s = open_store();
		ck_assert_int_eq(withdraw(s, i), 0);
		ab_store_close(s);
		fill();
	}
	count_is("revoked", "300");
	/* and what is not there cannot be given */
	snprintf(name, sizeof(name), "%s-journal", file);
	ck_assert_int_eq(unlink(name), 0);
	fill();
	ab_store *s = open_store();
	ck_assert_int_eq(ab_store_hold_room(s, &err), AGENTBOX_ESYS);
	ck_assert_int_eq(agentbox_error_get_errno(err), ENOSPC);
	ck_assert_ptr_nonnull(strstr(agentbox_error_get_message(err),
				     "is full"));
	agentbox_error_free(err);
	snprintf(name, sizeof(name), "%s/fill", state);
	ck_assert_int_eq(unlink(name), 0);
	ck_assert_int_eq(ab_store_hold_room(s, NULL), 0);
	ck_assert_int_eq(insert(s, "more", "n", "live", NULL), 0);
	ab_store_close(s);
}

START_TEST(a_full_disk_keeps_no_right_alive)
{
	on_own_disk(fill_and_withdraw);
}
END_TEST

/* As above after a host that was killed while it wrote. */
static void fill_after_a_kill(void)
{
	insert_many();
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		sqlite3 *db = NULL;
		/* a cache of one page: it is written before the commit */
		sqlite3_open(file, &db);
		sqlite3_exec(db, "PRAGMA journal_mode = PERSIST;"
				 "PRAGMA cache_size = 1; BEGIN IMMEDIATE;"
				 "UPDATE grants SET state = 'revoked', "
				 "workspace = hex(zeroblob(300))",
			     NULL, NULL, NULL);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	fill();
	count_is("live", "300");
	for (int i = 0; i < GRANTS; i++) {
		ab_store *s = open_store();
		ck_assert_int_eq(withdraw(s, i), 0);
		ab_store_close(s);
	}
	count_is("revoked", "300");
}

START_TEST(a_full_disk_after_a_kill)
{
	on_own_disk(fill_after_a_kill);
}
END_TEST

/* One that a version with a write-ahead log made. */
START_TEST(a_store_with_a_log_is_taken_over)
{
	char text[64] = "";
	ab_store *s = open_store();

	ck_assert_int_eq(insert(s, "g1", "n", "live", NULL), 0);
	ab_store_close(s);
	by_hand("PRAGMA journal_mode = WAL; UPDATE grants SET name = 'm'");
	s = open_store();
	ck_assert_int_eq(ab_store_run(s, take_text, text, NULL,
				      "PRAGMA journal_mode", ""), 0);
	ck_assert_str_eq(text, "persist");
	ck_assert_int_eq(ab_store_run(s, take_text, text, NULL,
				      "SELECT name FROM grants", ""), 0);
	ck_assert_str_eq(text, "m");
	ab_store_close(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("store");
	TCase *tc = tcase_create("store");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, it_is_made_private_and_opened_again);
	tcase_add_test(tc, one_live_grant_a_name);
	tcase_add_test(tc, a_transaction_is_whole_or_nothing);
	tcase_add_test(tc, strings_are_values_and_never_sql);
	tcase_add_test(tc, a_later_version_is_refused);
	tcase_add_test(tc, another_database_is_refused_and_left_alone);
	tcase_add_test(tc, rubbish_is_refused);
	tcase_add_test(tc, a_link_in_its_place_is_refused);
	tcase_add_test(tc, a_forked_child_is_refused_and_keeps_the_locks);
	tcase_add_test(tc, processes_decide_one_at_a_time);
	tcase_add_test(tc, a_full_disk_keeps_no_right_alive);
	tcase_add_test(tc, a_full_disk_after_a_kill);
	tcase_add_test(tc, a_store_with_a_log_is_taken_over);
	suite_add_tcase(suite, tc);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
