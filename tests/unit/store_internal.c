/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The store: made, migrated, shared, refused. What another version, another
 * program or a crash left must never be taken for ours.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	suite_add_tcase(suite, tc);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
