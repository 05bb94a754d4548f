/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Row M18: a full disk. The log lies on a tmpfs of 512 KiB in a mount
 * namespace of the test's own. Needs user namespaces or root.
 */
#include "config.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "audit_help.h"

/* The child of the fork has the namespace; Check's fork mode is off for it. */
static bool enter_small_disk(const char *dir)
{
	char map[64], gmap[64];
	int n = snprintf(map, sizeof(map), "%u %u 1", (unsigned)geteuid(),
			 (unsigned)geteuid());
	int g = snprintf(gmap, sizeof(gmap), "%u %u 1", (unsigned)getegid(),
			 (unsigned)getegid());
	int fd;

	if (unshare(CLONE_NEWNS) != 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
			return false;
		/* tmpfs has no inodes for users it cannot name */
		fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, map, (size_t)n) != n)
			return false;
		close(fd);
		fd = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, "deny", 4) != 4)
			return false;
		close(fd);
		fd = open("/proc/self/gid_map", O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, gmap, (size_t)g) != g)
			return false;
		close(fd);
	}
	if (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0)
		return false;
	return mount("tmpfs", dir, "tmpfs", 0, "size=512k,mode=0777") == 0;
}

/* Fill the log until it refuses; then make room and go on. */
static void fill(fixture *f)
{
	char ballast[600], json[4200], *anchor;
	agentbox_audit *a = audit_at(f, false);
	agentbox_error *why = NULL;
	json_t *doc;
	int32_t rc = 0;
	long long full = 0, wrote = 0;
	verdict v;
	int fd;

	snprintf(ballast, sizeof(ballast), "%s/ballast", f->dir);
	memset(json, 'x', sizeof(json));
	memcpy(json, "{\"subject\":\"", 12);
	memcpy(json + 4096, "\"}", 3);
	fd = open(ballast, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_eq(posix_fallocate(fd, 0, 128 * 1024), 0);
	OK(agentbox_audit_open(a, &err));
	while (rc == 0 && wrote < 1000) {
		rc = agentbox_audit_append(a, "note", json, strlen(json),
					   &why);
		wrote += rc == 0;
	}
	/* refused, with the reason, and one record says so */
	ck_assert_int_eq(rc, AGENTBOX_ESYS);
	ck_assert_int_eq(agentbox_error_get_errno(why), ENOSPC);
	agentbox_error_free(why);
	ck_assert_int_gt(wrote, 10);
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(agentbox_audit_append(a, "note", "{}", 2,
						       NULL),
				 AGENTBOX_ESYS);
	doc = record_at(f->log, (int)wrote + 1);
	ck_assert_str_eq(field(doc, "type"), "audit.full");
	json_decref(doc);
	v = verify(f, NULL, NULL);
	ck_assert_int_eq(v.rc, 0);
	ck_assert_int_eq(number(&v, "records"), wrote + 2);
	full = number(&v, "records");
	json_decref(v.report);
	/* there is room again */
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	close(fd);
	OK(agentbox_audit_append(a, "note", "{}", 2, &err));
	OK(agentbox_audit_close(a, &err));
	anchor = anchor_of(a);
	agentbox_audit_unref(a);
	v = verify(f, NULL, anchor);
	ck_assert_int_eq(v.rc, 0);
	ck_assert_int_eq(number(&v, "records"), full + 2);
	ck_assert_str_eq(word(&v, "tail"), "anchored");
	json_decref(v.report);
	free(anchor);
}

/* The last head is signed even when the log is closed on a full disk. */
static void close_full(fixture *f)
{
	agentbox_audit *a = audit_at(f, false);
	char json[4200];
	verdict v;

	memset(json, 'x', sizeof(json));
	memcpy(json, "{\"subject\":\"", 12);
	memcpy(json + 4096, "\"}", 3);
	OK(agentbox_audit_open(a, &err));
	while (agentbox_audit_append(a, "note", json, strlen(json), NULL) == 0)
		;
	OK(agentbox_audit_close(a, &err));
	agentbox_audit_unref(a);
	v = verify(f, NULL, NULL);
	ck_assert_int_eq(v.rc, 0);
	ck_assert_int_eq(number(&v, "unsigned_tail"), 0);
	json_decref(v.report);
}

/* Fill the disk; its size is to be ftruncate()d to make room. */
static int ballast(fixture *f, off_t room)
{
	char path[600];
	off_t at = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/ballast", f->dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	while (posix_fallocate(fd, at, 4096) == 0)
		at += 4096;
	ck_assert_int_eq(ftruncate(fd, at - room), 0);
	return fd;
}

/* A torn record is not cut off before there is room to say so. */
static void open_torn(fixture *f)
{
	agentbox_audit *a = audit_at(f, false);
	struct stat st;
	verdict v;
	int fd;

	OK(agentbox_audit_open(a, &err));
	put_many(a, 3);
	agentbox_audit_unref(a);
	ck_assert_int_eq(stat(f->log, &st), 0);
	ck_assert_int_eq(truncate(f->log, st.st_size - 20), 0);
	fd = ballast(f, 0);
	a = audit_at(f, false);
	ck_assert_int_eq(agentbox_audit_open(a, NULL), AGENTBOX_ESYS);
	v = verify(f, NULL, NULL);
	ck_assert_str_eq(word(&v, "status"), "torn");
	json_decref(v.report);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	close(fd);
	OK(agentbox_audit_open(a, &err));
	agentbox_audit_unref(a);
	v = verify(f, NULL, NULL);
	ck_assert_str_eq(word(&v, "status"), "verified");
	ck_assert_int_eq(number(&v, "resets"), 1);
	json_decref(v.report);
}

/* With room for a line, and not for the reserve. */
static void open_new(fixture *f)
{
	agentbox_audit *a = audit_at(f, true);
	int fd = ballast(f, 16384);
	verdict v;

	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(agentbox_audit_open(a, NULL), AGENTBOX_ESYS);
	/* and nothing is left of it */
	ck_assert_int_eq(access(f->log, F_OK), -1);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	close(fd);
	OK(agentbox_audit_open(a, &err));
	put(a, "note", NULL);
	OK(agentbox_audit_close(a, &err));
	agentbox_audit_unref(a);
	v = verify(f, NULL, NULL);
	ck_assert_int_eq(v.rc, 0);
	ck_assert_int_eq(number(&v, "records"), 3);
	json_decref(v.report);
}

static void on_small_disk(const char *name, void (*body)(fixture *))
{
	int status = 0;
	fixture f;
	pid_t pid;

	fixture_begin(&f);
	pid = fork();
	if (pid == 0) {
		if (!enter_small_disk(f.dir))
			_exit(77);
		body(&f);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	fixture_end(&f);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		ab_test_skip(name, "no user namespace to mount a small disk");
	else
		ck_assert_int_eq(status, 0);
}

START_TEST(m18_a_full_disk_refuses_and_leaves_one_last_record)
{
	on_small_disk("m18_a_full_disk_refuses_and_leaves_one_last_record",
		      fill);
}
END_TEST

START_TEST(m18_a_log_on_a_full_disk_still_gets_its_last_head)
{
	on_small_disk("m18_a_log_on_a_full_disk_still_gets_its_last_head",
		      close_full);
}
END_TEST

START_TEST(m08_a_torn_record_stays_while_the_disk_is_full)
{
	on_small_disk("m08_a_torn_record_stays_while_the_disk_is_full",
		      open_torn);
}
END_TEST

START_TEST(m18_a_log_that_could_not_be_begun_is_begun_later)
{
	on_small_disk("m18_a_log_that_could_not_be_begun_is_begun_later",
		      open_new);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("audit_space");
	TCase *tc = tcase_create("m18");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, m18_a_full_disk_refuses_and_leaves_one_last_record);
	tcase_add_test(tc, m18_a_log_on_a_full_disk_still_gets_its_last_head);
	tcase_add_test(tc, m08_a_torn_record_stays_while_the_disk_is_full);
	tcase_add_test(tc, m18_a_log_that_could_not_be_begun_is_begun_later);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
