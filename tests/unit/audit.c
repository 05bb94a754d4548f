/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The audit log from outside: rows M01-M18 of the fleet cases (the number is
 * in the name) and the contract of audit.h.
 */
#include "config.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "audit_help.h"

static fixture fx;

static void setup(void)
{
	fixture_begin(&fx);
}

static void teardown(void)
{
	fixture_end(&fx);
}

static int32_t try_put(agentbox_audit *a, const char *type, const char *json)
{
	return agentbox_audit_append(a, type, json, strlen(json), NULL);
}

/* A closed log of n plain records after audit.start; the anchor is owned. */
static char *make_log(int n, char **key)
{
	agentbox_audit *a = opened(&fx, false);
	char *anchor;

	if (key)
		*key = key_of(a);
	put_many(a, n);
	OK(agentbox_audit_close(a, &err));
	anchor = anchor_of(a);
	agentbox_audit_unref(a);
	return anchor;
}

static void expect(verdict v, int32_t rc, const char *status, const char *tail)
{
	ck_assert_int_eq(v.rc, rc);
	ck_assert_ptr_nonnull(v.report);
	ck_assert_str_eq(word(&v, "status"), status);
	ck_assert_str_eq(word(&v, "tail"), tail);
	json_decref(v.report);
}

static void expect_bad(verdict v, long long seq)
{
	ck_assert_int_eq(v.rc, AGENTBOX_ETAMPERED);
	ck_assert_str_eq(word(&v, "status"), "tampered");
	ck_assert_int_eq(number(&v, "first_bad_seq"), seq);
	json_decref(v.report);
}

START_TEST(m01_a_command_has_its_seven_fields_or_is_refused)
{
	static const char *const keys[] = { "timestamp", "source_vm",
					    "command",	 "target",
					    "config_hash", "result",
					    "reason" };
	agentbox_audit *a = opened(&fx, false);
	json_t *doc;

	ck_assert_int_eq(try_put(a, "command",
				 "{\"source_vm\":\"b1\",\"command\":\"up\"}"),
			 AGENTBOX_EINVAL);
	put(a, "command",
	    "{\"source_vm\":\"b1\",\"command\":\"up\",\"target\":\"b2\","
	    "\"config_hash\":\"" HASH_EMPTY "\",\"result\":\"denied\","
	    "\"reason\":\"quota\"}");
	agentbox_audit_unref(a);
	doc = record_at(fx.log, 1);
	for (size_t i = 0; i < 7; i++)
		ck_assert_msg(json_object_get(doc, keys[i]), "%s", keys[i]);
	ck_assert_str_eq(field(doc, "type"), "command");
	ck_assert_int_eq(json_object_size(json_object_get(doc, "actor")), 5);
	json_decref(doc);
	/* exactly one: start, command, head */
	doc = record_at(fx.log, 2);
	ck_assert_str_eq(field(doc, "type"), "audit.head");
	json_decref(doc);
}
END_TEST

START_TEST(m02_a_changed_byte_is_found_at_its_record)
{
	size_t n;
	char *anchor = make_log(10, NULL), *all = slurp(fx.log, &n), *at;

	at = strstr(line_at(all, 4), "file-");
	at[5] = '9';
	spill(fx.log, all, n);
	expect_bad(verify(&fx, NULL, NULL), 5);
	expect_bad(verify(&fx, NULL, anchor), 5);
	free(all);
	free(anchor);
}
END_TEST

START_TEST(m02_two_swapped_records_are_found)
{
	size_t n;
	char *anchor = make_log(10, NULL), *all = slurp(fx.log, &n);
	char *b = line_at(all, 5), *c = line_at(all, 6), *d = line_at(all, 7);
	char *out = malloc(n), *w = out;

	w = mempcpy(w, all, (size_t)(b - all));
	w = mempcpy(w, c, (size_t)(d - c));
	w = mempcpy(w, b, (size_t)(c - b));
	memcpy(w, d, (size_t)(all + n - d));
	spill(fx.log, out, n);
	expect_bad(verify(&fx, NULL, NULL), 6);
	free(out);
	free(all);
	free(anchor);
}
END_TEST

START_TEST(m02_a_deleted_middle_record_is_found)
{
	size_t n;
	char *anchor = make_log(10, NULL), *all = slurp(fx.log, &n);
	char *b = line_at(all, 5), *c = line_at(all, 6);

	memmove(b, c, (size_t)(all + n - c));
	spill(fx.log, all, n - (size_t)(c - b));
	expect_bad(verify(&fx, NULL, NULL), 6);
	free(all);
	free(anchor);
}
END_TEST

START_TEST(m02_an_inserted_record_is_found)
{
	size_t n;
	char *anchor = make_log(10, NULL), *all = slurp(fx.log, &n);
	char *b = line_at(all, 5), *c = line_at(all, 6);
	size_t len = (size_t)(c - b);
	char *out = malloc(n + len);

	memcpy(out, all, (size_t)(c - all));
	memcpy(out + (c - all), b, len);
	memcpy(out + (c - all) + len, c, (size_t)(all + n - c));
	spill(fx.log, out, n + len);
	/* the copy of record 6 stands a second time */
	expect_bad(verify(&fx, NULL, NULL), 6);
	free(out);
	free(all);
	free(anchor);
}
END_TEST

START_TEST(m03_a_cut_tail_shows_with_an_anchor_and_is_said_without)
{
	size_t n;
	char *key = NULL, *anchor = make_log(10, &key);
	char *all = slurp(fx.log, &n);

	expect(verify(&fx, key, anchor), 0, "verified", "anchored");
	spill(fx.log, all, (size_t)(line_at(all, 8) - all));
	expect_bad(verify(&fx, key, anchor), 9);
	expect(verify(&fx, NULL, NULL), 0, "verified", "unanchored");
	/* the only head went with it: the key vouches for nothing */
	expect_bad(verify(&fx, key, NULL), 1);
	free(all);
	free(anchor);
	free(key);
}
END_TEST

START_TEST(m03_an_emptied_log_is_never_good)
{
	char *anchor = make_log(3, NULL);

	spill(fx.log, "", 0);
	expect_bad(verify(&fx, NULL, anchor), 1);
	expect_bad(verify(&fx, NULL, NULL), 1);
	free(anchor);
}
END_TEST

START_TEST(m03_an_older_backup_shows_and_cannot_be_continued)
{
	agentbox_audit *a = opened(&fx, true);
	size_t n;
	char *all, *anchor;

	put_many(a, 3);
	agentbox_audit_unref(a);
	all = slurp(fx.log, &n);
	a = opened(&fx, true);
	put_many(a, 3);
	OK(agentbox_audit_close(a, &err));
	anchor = anchor_of(a);
	agentbox_audit_unref(a);
	spill(fx.log, all, n);
	expect_bad(verify(&fx, NULL, anchor), 6);
	/* the key file has moved on: the writer notices too */
	a = audit_at(&fx, true);
	ck_assert_int_eq(agentbox_audit_open(a, NULL), AGENTBOX_ETAMPERED);
	agentbox_audit_unref(a);
	/* and all of it gone */
	ck_assert_int_eq(unlink(fx.log), 0);
	a = audit_at(&fx, true);
	ck_assert_int_eq(agentbox_audit_open(a, NULL), AGENTBOX_ETAMPERED);
	agentbox_audit_unref(a);
	free(all);
	free(anchor);
}
END_TEST

START_TEST(m04_a_deleted_head_is_found_from_the_beginning)
{
	size_t n;
	char *anchor = make_log(5, NULL), *all = slurp(fx.log, &n);

	for (int i = 1; i < 5; i++) {
		char *b = line_at(all, i);

		spill(fx.log, b, (size_t)(all + n - b));
		expect_bad(verify(&fx, NULL, NULL), 1);
		expect_bad(verify(&fx, NULL, anchor), 1);
	}
	free(all);
	free(anchor);
}
END_TEST

/* Edit record i (0-based) and make every later "prev" fit again. */
static void recompute(char *all, int i)
{
	char *line = line_at(all, i), *at = strstr(line, "file-");
	char hex[65];
	uint8_t hash[32];

	at[5] = 'x';
	for (;;) {
		char *end = strchr(line, '\n');

		ab_sha256_portable(line, (size_t)(end - line), hash);
		ab_hex(hash, 32, hex);
		line = end + 1;
		if (!*line)
			return;
		memcpy(strstr(line, "\"prev\":\"") + 8, hex, 64);
	}
}

START_TEST(m05_a_recomputed_chain_fails_by_signature_and_by_anchor)
{
	size_t n;
	char *key = NULL, *anchor = make_log(10, &key);
	char *all = slurp(fx.log, &n);
	char *head;

	recompute(all, 4);
	spill(fx.log, all, n);
	/* the head at the end no longer verifies, pinned or not */
	expect_bad(verify(&fx, key, NULL), 12);
	expect_bad(verify(&fx, NULL, anchor), 12);
	/* without the head the anchor still sees it */
	head = line_at(all, 11);
	spill(fx.log, all, (size_t)(head - all));
	expect_bad(verify(&fx, NULL, anchor), 12);
	/* and the pinned key says that nothing is signed */
	{
		verdict v = verify(&fx, key, NULL);

		ck_assert_int_eq(v.rc, AGENTBOX_ETAMPERED);
		ck_assert_int_eq(number(&v, "signed_seq"), 0);
		ck_assert_int_eq(number(&v, "unsigned_tail"), 11);
		json_decref(v.report);
	}
	free(all);
	free(anchor);
	free(key);
}
END_TEST

START_TEST(m05_a_log_of_another_key_is_refused_when_pinned)
{
	static const char other[] = "00000000000000000000000000000000"
				    "00000000000000000000000000000001";
	char *key = NULL, *anchor = make_log(3, &key);

	expect(verify(&fx, key, anchor), 0, "verified", "anchored");
	expect_bad(verify(&fx, other, anchor), 1);
	free(key);
	free(anchor);
}
END_TEST

START_TEST(m08_a_torn_record_is_recovered_and_not_called_tampering)
{
	agentbox_audit *a = opened(&fx, true);
	char *key = key_of(a), *all, *anchor;
	size_t n;
	json_t *doc;
	verdict v;

	put_many(a, 3);
	OK(agentbox_audit_flush(a, &err));
	anchor = anchor_of(a);
	all = slurp(fx.log, &n);
	/* a crash: the process is gone, the log is what is on the disk */
	agentbox_audit_unref(a);
	ck_assert_int_eq(unlink(fx.key), 0);
	spill(fx.log, all, n);
	ck_assert_int_eq(truncate(fx.log, (off_t)n - 20), 0);
	expect_bad(verify(&fx, key, anchor), 4);
	expect(verify(&fx, NULL, NULL), 0, "torn", "unanchored");
	/* the key was to vouch for it, and its head has not come to be */
	expect_bad(verify(&fx, key, NULL), 1);
	a = opened(&fx, false);
	put(a, "note", NULL);
	agentbox_audit_unref(a);
	v = verify(&fx, NULL, NULL);
	ck_assert_int_eq(v.rc, 0);
	ck_assert_str_eq(word(&v, "status"), "verified");
	ck_assert_int_eq(number(&v, "resets"), 1);
	json_decref(v.report);
	doc = record_at(fx.log, 4);
	ck_assert_str_eq(field(doc, "type"), "audit.reset");
	ck_assert_int_gt(json_integer_value(json_object_get(
				 json_object_get(doc, "log"), "torn_bytes")),
			 0);
	json_decref(doc);
	free(all);
	free(key);
	free(anchor);
}
END_TEST

START_TEST(m08_a_log_cut_at_any_byte_is_torn_or_short_and_continues)
{
	char *anchor = make_log(2, NULL), *all;
	size_t n;

	all = slurp(fx.log, &n);
	for (size_t cut = 0; cut < n; cut += 7) {
		agentbox_audit *a;
		verdict v;

		spill(fx.log, all, cut);
		v = verify(&fx, NULL, NULL);
		ck_assert(cut == 0 || v.rc == 0);
		json_decref(v.report);
		v = verify(&fx, NULL, anchor);
		ck_assert_int_eq(v.rc, AGENTBOX_ETAMPERED);
		json_decref(v.report);
		a = opened(&fx, false);
		agentbox_audit_unref(a);
		expect(verify(&fx, NULL, NULL), 0, "verified", "unanchored");
	}
	free(all);
	free(anchor);
}
END_TEST

START_TEST(m09_rotation_links_files_and_prunes_old_ones)
{
	agentbox_audit *a = audit_at(&fx, true);
	char names[4][620], big[4096], *key, *anchor;
	const char *paths[4];
	verdict v;
	int files = 0;

	OK(agentbox_audit_set_rotation(a, 262144, 3, &err));
	OK(agentbox_audit_open(a, &err));
	key = key_of(a);
	memset(big, 'x', sizeof(big));
	memcpy(big, "{\"subject\":\"", 12);
	memcpy(big + sizeof(big) - 3, "\"}", 3);
	for (int i = 0; i < 350; i++)
		put(a, "note", big);
	OK(agentbox_audit_close(a, &err));
	anchor = anchor_of(a);
	agentbox_audit_unref(a);
	for (int i = 1; i < 10; i++) {
		snprintf(names[files], sizeof(names[0]), "%s.%06d", fx.log, i);
		if (access(names[files], F_OK) == 0) {
			paths[files] = names[files];
			files++;
		}
	}
	ck_assert_int_eq(files, 3);
	/* the first is pruned, so the chain begins at a link */
	paths[3] = fx.log;
	v = verify_paths(&fx, paths, 4, NULL, anchor, NULL);
	ck_assert_msg(v.rc == 0, "%s", word(&v, "reason"));
	ck_assert_str_eq(word(&v, "tail"), "anchored");
	ck_assert_str_eq(word(&v, "begins"), "link");
	ck_assert_int_eq(number(&v, "links"), 4);
	json_decref(v.report);
	/* the middle one missing, or the order wrong */
	paths[1] = names[2];
	v = verify_paths(&fx, paths, 4, NULL, anchor, NULL);
	ck_assert_int_eq(v.rc, AGENTBOX_ETAMPERED);
	json_decref(v.report);
	/* the root key was in the pruned file */
	v = verify_paths(&fx, paths, 1, key, NULL, NULL);
	ck_assert_int_eq(v.rc, AGENTBOX_ETAMPERED);
	json_decref(v.report);
	free(key);
	free(anchor);
}
END_TEST

START_TEST(m09_a_rotated_log_verifies_from_root_key_and_from_start_anchor)
{
	agentbox_audit *a = audit_at(&fx, true);
	char old[620], big[4096], *key, *anchor, start[512];
	const char *paths[2] = { old, fx.log };
	json_t *first, *link;
	verdict v;

	snprintf(old, sizeof(old), "%s.000001", fx.log);
	OK(agentbox_audit_set_rotation(a, 262144, 0, &err));
	OK(agentbox_audit_open(a, &err));
	key = key_of(a);
	memset(big, 'x', sizeof(big));
	memcpy(big, "{\"subject\":\"", 12);
	memcpy(big + sizeof(big) - 3, "\"}", 3);
	for (int i = 0; i < 90; i++)
		put(a, "note", big);
	OK(agentbox_audit_close(a, &err));
	anchor = anchor_of(a);
	agentbox_audit_unref(a);
	v = verify_paths(&fx, paths, 2, key, anchor, NULL);
	ck_assert_msg(v.rc == 0, "%s", word(&v, "reason"));
	ck_assert_str_eq(word(&v, "tail"), "anchored");
	json_decref(v.report);
	/* the anchor at the end of the first file is what the link carries */
	first = record_at(fx.log, 0);
	link = json_object_get(first, "log");
	snprintf(start, sizeof(start),
		 "{\"agentbox_audit_anchor\":1,\"chain\":\"%s\",\"count\":"
		 "%lld,\"head\":\"%s\",\"key\":\"%s\"}",
		 field(link, "chain"),
		 (long long)json_integer_value(json_object_get(link, "count")),
		 field(link, "head"), field(link, "key"));
	json_decref(first);
	v = verify_paths(&fx, paths + 1, 1, NULL, anchor, start);
	ck_assert_msg(v.rc == 0, "%s", word(&v, "reason"));
	ck_assert_str_eq(word(&v, "begins"), "start-anchor");
	json_decref(v.report);
	v = verify_paths(&fx, paths, 1, NULL, anchor, start);
	ck_assert_int_eq(v.rc, AGENTBOX_ETAMPERED);
	json_decref(v.report);
	free(key);
	free(anchor);
}
END_TEST

/* Records of 4 KiB: 262144 bytes are full after about 58. */
static void put_big(agentbox_audit *a, int n)
{
	char big[4096];

	memset(big, 'x', sizeof(big));
	memcpy(big, "{\"subject\":\"", 12);
	memcpy(big + sizeof(big) - 3, "\"}", 3);
	for (int i = 0; i < n; i++)
		put(a, "note", big);
}

static agentbox_audit *rotating(uint32_t keep)
{
	agentbox_audit *a = audit_at(&fx, true);

	OK(agentbox_audit_set_rotation(a, 262144, keep, &err));
	OK(agentbox_audit_set_sync(a, AGENTBOX_AUDIT_SYNC_NEVER, 0, &err));
	OK(agentbox_audit_open(a, &err));
	return a;
}

static bool is_there(int file)
{
	char name[620];

	snprintf(name, sizeof(name), "%s.%06d", fx.log, file);
	return access(name, F_OK) == 0;
}

/* The numbered files there are, in the order of their names, then the log. */
static size_t sorted_files(char names[][620], const char **paths)
{
	size_t n = 0;

	for (int i = 1; i < 40; i++) {
		if (!is_there(i))
			continue;
		snprintf(names[n], sizeof(names[0]), "%s.%06d", fx.log, i);
		paths[n] = names[n];
		n++;
	}
	paths[n++] = fx.log;
	return n;
}

static void expect_order(size_t files, const char *anchor)
{
	char names[40][620];
	const char *paths[41];
	verdict v;

	ck_assert_uint_eq(sorted_files(names, paths), files);
	v = verify_paths(&fx, paths, files, NULL, anchor, NULL);
	ck_assert_msg(v.rc == 0, "%s", word(&v, "reason"));
	ck_assert_str_eq(word(&v, "tail"), "anchored");
	json_decref(v.report);
}

START_TEST(m09_numbers_go_on_after_a_restart_and_fill_no_gap)
{
	agentbox_audit *a = rotating(3);
	char *anchor;

	put_big(a, 350);
	agentbox_audit_unref(a);
	ck_assert(!is_there(2) && is_there(3) && is_there(5));
	for (int i = 6; i < 9; i++) {
		a = rotating(3);
		put_big(a, 62);
		OK(agentbox_audit_close(a, &err));
		anchor = anchor_of(a);
		agentbox_audit_unref(a);
		ck_assert(is_there(i) && !is_there(i - 3));
		expect_order(4, anchor);
		free(anchor);
	}
}
END_TEST

START_TEST(m09_numbers_go_on_when_the_old_files_were_moved_away)
{
	agentbox_audit *a = rotating(0);
	char name[620];

	put_big(a, 130);
	agentbox_audit_unref(a);
	for (int i = 1; i < 3; i++) {
		snprintf(name, sizeof(name), "%s.%06d", fx.log, i);
		ck_assert_int_eq(unlink(name), 0);
	}
	a = rotating(0);
	put_big(a, 62);
	agentbox_audit_unref(a);
	ck_assert(!is_there(1) && is_there(3));
}
END_TEST

START_TEST(m09_a_second_name_left_by_a_crash_is_taken_again)
{
	agentbox_audit *a = rotating(0);
	char name[620], *anchor;
	struct stat st;

	put_big(a, 10);
	snprintf(name, sizeof(name), "%s.000001", fx.log);
	ck_assert_int_eq(link(fx.log, name), 0);
	/* until then it is one file for who verifies all of them */
	{
		const char *paths[2] = { name, fx.log };
		verdict v = verify_paths(&fx, paths, 2, NULL, NULL, NULL);

		ck_assert_msg(v.rc == 0, "%s", word(&v, "reason"));
		ck_assert_int_eq(number(&v, "files"), 1);
		json_decref(v.report);
	}
	put_big(a, 60);
	OK(agentbox_audit_close(a, &err));
	anchor = anchor_of(a);
	agentbox_audit_unref(a);
	ck_assert_int_eq(stat(name, &st), 0);
	ck_assert_int_eq(st.st_nlink, 1);
	expect_order(2, anchor);
	free(anchor);
}
END_TEST

/* The second name stands where the first file was. */
START_TEST(m09_a_removed_first_file_is_not_hidden_by_a_second_name)
{
	agentbox_audit *a = rotating(0);
	char name[620], *start = NULL;
	const char *paths[2] = { name, fx.log };
	verdict v;

	snprintf(name, sizeof(name), "%s.000001", fx.log);
	for (int i = 0; i < 200 && !is_there(1); i++) {
		put_big(a, 1);
	}
	ck_assert(is_there(1));
	OK(agentbox_audit_close(a, &err));
	agentbox_audit_unref(a);
	v = verify_paths(&fx, paths, 2, NULL, NULL, NULL);
	ck_assert_msg(v.rc == 0, "%s", word(&v, "reason"));
	ck_assert_str_eq(word(&v, "begins"), "start");
	json_decref(v.report);
	/* what a link carries is the anchor of what was before it */
	{
		json_t *doc = record_at(fx.log, 0);
		const json_t *log = json_object_get(doc, "log");

		ck_assert_int_gt(
			asprintf(&start,
				 "{\"agentbox_audit_anchor\":1,\"chain\":"
				 "\"%s\",\"count\":%lld,\"head\":\"%s\","
				 "\"key\":\"%s\"}",
				 field(log, "chain"),
				 (long long)json_integer_value(
					 json_object_get(log, "count")),
				 field(log, "head"), field(log, "key")),
			0);
		json_decref(doc);
	}
	ck_assert_int_eq(unlink(name), 0);
	ck_assert_int_eq(link(fx.log, name), 0);
	v = verify_paths(&fx, paths, 2, NULL, NULL, NULL);
	ck_assert_int_eq(v.rc, AGENTBOX_ETAMPERED);
	json_decref(v.report);
	/* who says that it was pruned knows of it */
	v = verify_paths(&fx, paths, 2, NULL, NULL, start);
	ck_assert_msg(v.rc == 0, "%s", word(&v, "reason"));
	json_decref(v.report);
	free(start);
}
END_TEST

START_TEST(m09_only_numbered_files_of_this_log_are_pruned)
{
	static const char *const others[] = {
		"log.1", "log.00001", "log.0000001", "log.00000x",
		"log2.000001", "log.000001.gz", "og.000001",
	};
	char name[620];
	agentbox_audit *a;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		snprintf(name, sizeof(name), "%s/%s", fx.dir, others[i]);
		spill(name, "x", 1);
	}
	/* left behind by something older, with a gap after it */
	snprintf(name, sizeof(name), "%s.000002", fx.log);
	spill(name, "x", 1);
	snprintf(name, sizeof(name), "%s.000003", fx.log);
	ck_assert_int_eq(mkdir(name, 0700), 0);
	a = rotating(1);
	put_big(a, 190);
	agentbox_audit_unref(a);
	ck_assert(!is_there(2) && is_there(3) && !is_there(4));
	ck_assert(!is_there(5) && is_there(6));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		snprintf(name, sizeof(name), "%s/%s", fx.dir, others[i]);
		ck_assert_msg(access(name, F_OK) == 0, "%s", name);
	}
}
END_TEST

static bool fails_to_put_big(agentbox_audit *a)
{
	char big[4096];

	memset(big, 'x', sizeof(big));
	memcpy(big, "{\"subject\":\"", 12);
	memcpy(big + sizeof(big) - 3, "\"}", 3);
	return try_put(a, "note", big) != 0;
}

/* What fails: nothing, the second name, the rename, the new file. */
enum { GOOD, NO_LINK, NO_RENAME, NO_FILE };
static int broken_step;

/* In place of the C library's, for the library under test. */
int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
	if (broken_step == NO_LINK) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	if (broken_step == NO_RENAME) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}

START_TEST(m09_a_rotation_that_fails_deletes_nothing_and_can_be_repeated)
{
	agentbox_audit *a = rotating(2);
	char fresh[620], *anchor;
	struct stat before, after;
	verdict v;

	put_big(a, 260);
	ck_assert(!is_there(2) && is_there(3) && is_there(4));
	snprintf(fresh, sizeof(fresh), "%s.new", fx.log);
	broken_step = _i;
	if (_i == NO_FILE)
		ck_assert_int_eq(mkdir(fresh, 0700), 0);
	for (int i = 0; !fails_to_put_big(a); i++)
		ck_assert_int_lt(i, 70);
	ck_assert_int_eq(stat(fx.log, &before), 0);
	for (int i = 0; i < 20; i++)
		ck_assert(fails_to_put_big(a));
	ck_assert(is_there(3) && is_there(4) && !is_there(5));
	/* signed once, not with every try */
	ck_assert_int_eq(stat(fx.log, &after), 0);
	ck_assert_int_eq(after.st_size, before.st_size);
	v = verify(&fx, NULL, NULL);
	ck_assert_msg(v.rc == 0, "%s", word(&v, "reason"));
	json_decref(v.report);
	broken_step = GOOD;
	ck_assert_int_eq(rmdir(fresh), _i == NO_FILE ? 0 : -1);
	put_big(a, 1);
	ck_assert(!is_there(3) && is_there(4) && is_there(5));
	OK(agentbox_audit_close(a, &err));
	anchor = anchor_of(a);
	agentbox_audit_unref(a);
	expect_order(3, anchor);
	free(anchor);
}
END_TEST

START_TEST(m11_hostile_text_stays_one_printable_line)
{
	agentbox_audit *a = opened(&fx, false);
	json_t *doc = json_object();
	char *text, *all;
	size_t n;
	int lines = 0;

	json_object_set_new(doc, "subject",
			    json_string("a\nb\"},{\x1b[31m\x7f\xc2\x9b"
					"\xe2\x80\xae\r\t\\"));
	json_object_set_new(doc, "reason", json_string("\xf0\x9f\x98\x80"));
	text = json_dumps(doc, 0);
	put(a, "note", text);
	agentbox_audit_unref(a);
	all = slurp(fx.log, &n);
	for (size_t i = 0; i < n; i++) {
		lines += all[i] == '\n';
		ck_assert(all[i] == '\n' || (all[i] >= 0x20 && all[i] < 0x7f));
	}
	ck_assert_int_eq(lines, 3);
	json_decref(doc);
	doc = record_at(fx.log, 1);
	ck_assert_str_eq(field(doc, "reason"), "\xf0\x9f\x98\x80");
	json_decref(doc);
	expect(verify(&fx, NULL, NULL), 0, "verified", "unanchored");
	free(text);
	free(all);
}
END_TEST

START_TEST(m13_eight_processes_through_the_owner_leave_no_gap)
{
	agentbox_audit *a = audit_at(&fx, false);
	int pair[2], got = 0;
	pid_t pids[8];
	char text[256];
	verdict v;

	OK(agentbox_audit_set_sync(a, AGENTBOX_AUDIT_SYNC_RECORD, 0, &err));
	OK(agentbox_audit_open(a, &err));
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	for (int i = 0; i < 8; i++) {
		pids[i] = fork();
		if (pids[i] != 0)
			continue;
		for (int k = 0; k < 25; k++) {
			int n = snprintf(text, sizeof(text),
					 "{\"subject\":\"%d-%d\"}", i, k);

			if (send(pair[1], text, (size_t)n, 0) != n)
				_exit(1);
		}
		_exit(0);
	}
	close(pair[1]);
	for (;;) {
		ssize_t n = recv(pair[0], text, sizeof(text), 0);

		if (n <= 0)
			break;
		OK(agentbox_audit_append(a, "note", text, (size_t)n, &err));
		got++;
	}
	close(pair[0]);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(waitpid(pids[i], NULL, 0), pids[i]);
	agentbox_audit_unref(a);
	ck_assert_int_eq(got, 200);
	v = verify(&fx, NULL, NULL);
	ck_assert_int_eq(v.rc, 0);
	ck_assert_int_eq(number(&v, "records"), 202);
	json_decref(v.report);
}
END_TEST

static void *appender(void *data)
{
	put_many(data, 500);
	return NULL;
}

START_TEST(threads_append_to_one_chain)
{
	agentbox_audit *a = opened(&fx, false);
	pthread_t t[8];
	verdict v;

	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, appender, a), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	agentbox_audit_unref(a);
	v = verify(&fx, NULL, NULL);
	ck_assert_int_eq(v.rc, 0);
	ck_assert_int_eq(number(&v, "records"), 4002);
	json_decref(v.report);
}
END_TEST

START_TEST(m14_a_verifier_needs_no_secret_and_no_key_file)
{
	agentbox_audit *a = audit_at(&fx, true);
	char *key, *anchor;

	OK(agentbox_audit_set_heads(a, 3, 0, &err));
	OK(agentbox_audit_open(a, &err));
	key = key_of(a);
	put_many(a, 20);
	OK(agentbox_audit_close(a, &err));
	anchor = anchor_of(a);
	agentbox_audit_unref(a);
	ck_assert_int_eq(unlink(fx.key), 0);
	expect(verify(&fx, key, anchor), 0, "verified", "anchored");
	free(key);
	free(anchor);
}
END_TEST

START_TEST(m07_a_second_writer_is_refused)
{
	agentbox_audit *a = opened(&fx, false), *b = audit_at(&fx, false);
	int fd = open(fx.log, O_WRONLY | O_APPEND | O_CLOEXEC);

	ck_assert_int_eq(agentbox_audit_open(b, NULL), AGENTBOX_EBUSY);
	agentbox_audit_unref(b);
	/* one that ignores the lock is noticed before the next record */
	put(a, "note", NULL);
	ck_assert_int_eq(write(fd, "{}\n", 3), 3);
	ck_assert_int_eq(try_put(a, "note", "{}"), AGENTBOX_EBUSY);
	ck_assert_int_eq(try_put(a, "note", "{}"), AGENTBOX_ECLOSED);
	close(fd);
	agentbox_audit_unref(a);
}
END_TEST

START_TEST(m07_a_duplicate_of_the_fd_is_a_second_writer_too)
{
	agentbox_audit *a = NULL, *b = NULL;
	int fd = open(fx.log, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	OK(agentbox_audit_new(fx.context, &a, &err));
	OK(agentbox_audit_new(fx.context, &b, &err));
	OK(agentbox_audit_set_fd(a, fd, &err));
	OK(agentbox_audit_set_fd(b, fd, &err));
	OK(agentbox_audit_open(a, &err));
	ck_assert_int_eq(agentbox_audit_open(b, NULL), AGENTBOX_EBUSY);
	agentbox_audit_unref(a);
	/* the fd given is kept for another try */
	OK(agentbox_audit_open(b, &err));
	agentbox_audit_unref(b);
	close(fd);
	expect(verify(&fx, NULL, NULL), 0, "verified", "unanchored");
}
END_TEST

START_TEST(m07_a_fork_of_the_chain_is_named)
{
	size_t n;
	char *anchor = make_log(3, NULL), *all = slurp(fx.log, &n), *out;
	char *c = line_at(all, 3), *d = line_at(all, 4);
	size_t len = (size_t)(d - c);
	verdict v;

	/* another record 4 after record 3, then the first one */
	out = malloc(n + len);
	memcpy(out, all, (size_t)(d - all));
	memcpy(out + (d - all), c, (size_t)(all + n - c));
	strstr(out + (d - all), "file-")[5] = '7';
	spill(fx.log, out, n + len);
	v = verify(&fx, NULL, NULL);
	ck_assert_str_eq(word(&v, "reason"),
			 "two records continue the same one");
	expect_bad(v, 4);
	free(out);
	free(all);
	free(anchor);
}
END_TEST

START_TEST(m17_a_flood_of_denials_is_counted_and_not_dropped)
{
	static const char json[] =
		"{\"verdict\":\"deny\",\"rule\":\"net\",\"subject\":\"x\"}";
	agentbox_audit *a = audit_at(&fx, false);
	agentbox_bytes *b = NULL;
	const char *path = fx.log;
	json_t *report, *row;
	verdict v;

	OK(agentbox_audit_set_coalesce(a, 5, 60000, &err));
	OK(agentbox_audit_open(a, &err));
	for (int i = 0; i < 10000; i++)
		put(a, "check.net", json);
	ck_assert_int_ge(agentbox_audit_get_timeout_ms(a), 0);
	OK(agentbox_audit_close(a, &err));
	agentbox_audit_unref(a);
	v = verify(&fx, NULL, NULL);
	ck_assert_int_eq(v.rc, 0);
	/* start, five, one with the count, head */
	ck_assert_int_eq(number(&v, "records"), 8);
	json_decref(v.report);
	report = record_at(fx.log, 6);
	row = json_object_get(report, "repeat");
	ck_assert_int_eq(json_integer_value(json_object_get(row, "count")),
			 9995);
	ck_assert(field(row, "first")[0] && field(row, "last")[0]);
	json_decref(report);
	OK(agentbox_audit_report(fx.context, &path, 1, NULL, &b, &err));
	report = json_loads(agentbox_bytes_get_data(b), 0, NULL);
	agentbox_bytes_free(b);
	row = json_array_get(json_object_get(report, "denials"), 0);
	ck_assert_int_eq(json_integer_value(json_object_get(row, "count")),
			 10000);
	json_decref(report);
}
END_TEST

START_TEST(m17_a_flood_of_many_kinds_keeps_every_count)
{
	agentbox_audit *a = audit_at(&fx, false);
	const char *path = fx.log;
	agentbox_bytes *b = NULL;
	char json[128];
	json_t *report;

	OK(agentbox_audit_set_coalesce(a, 0, 60000, &err));
	OK(agentbox_audit_open(a, &err));
	for (int i = 0; i < 2000; i++) {
		snprintf(json, sizeof(json),
			 "{\"verdict\":\"deny\",\"rule\":\"r%d\"}", i % 700);
		put(a, "check.net", json);
	}
	agentbox_audit_unref(a);
	OK(agentbox_audit_report(fx.context, &path, 1, NULL, &b, &err));
	report = json_loads(agentbox_bytes_get_data(b), 0, NULL);
	agentbox_bytes_free(b);
	ck_assert_int_eq(
		json_integer_value(json_object_get(
			json_object_get(report, "by_verdict"), "deny")),
		2000);
	json_decref(report);
}
END_TEST

START_TEST(registered_secrets_never_reach_the_log)
{
	static const char secret[] = "FAKE-sec\"ret/\xc3\xa9-0123";
	agentbox_audit *a = opened(&fx, false);
	json_t *doc = json_object(), *inner = json_object();
	char *text, *all;
	char padded[8192];
	size_t n;

	OK(agentbox_audit_add_secret(a, secret, strlen(secret), &err));
	ck_assert_int_eq(agentbox_audit_add_secret(a, "abc", 3, NULL),
			 AGENTBOX_EINVAL);
	snprintf(padded, sizeof(padded), "%0*d%s%s", 4000, 0, secret, secret);
	json_object_set_new(doc, "subject", json_string(padded));
	json_object_set_new(inner, secret, json_string("value"));
	json_object_set_new(doc, "args", inner);
	text = json_dumps(doc, 0);
	put(a, "note", text);
	agentbox_audit_unref(a);
	all = slurp(fx.log, &n);
	ck_assert_ptr_null(strstr(all, "FAKE-sec"));
	ck_assert_ptr_null(strstr(all, "0123\""));
	ck_assert_ptr_nonnull(strstr(all, "[redacted]"));
	ck_assert_ptr_nonnull(strstr(all, "\"redacted\":2"));
	json_decref(doc);
	free(text);
	free(all);
}
END_TEST

START_TEST(values_under_secret_names_are_redacted)
{
	static const char *const hidden[] = {
		"{\"password\":\"FAKEVALUE\"}",
		"{\"args\":{\"Authorization\":\"Bearer FAKEVALUE\"}}",
		"{\"args\":[{\"X-Api-Key\":\"FAKEVALUE\"}]}",
		"{\"args\":{\"db_password\":{\"v\":\"FAKEVALUE\"}}}",
		"{\"subject\":\"curl -H 'Authorization: Bearer FAKEVALUE' u\"}",
		"{\"subject\":\"x password=FAKEVALUE y\"}",
		"{\"subject\":\"x --password FAKEVALUE y\"}",
		"{\"subject\":\"{\\\"token\\\": \\\"FAKEVALUE\\\"}\"}",
		"{\"subject\":\"git clone https://u:FAKEVALUE@host/x\"}",
		"{\"subject\":\"export GITHUB_TOKEN=FAKEVALUE\"}",
		"{\"subject\":\"token=token=FAKEVALUE\"}",
	};
	static const char *const shown[] = {
		"{\"subject\":\"the token KEPTVALUE is fine\"}",
		"{\"subject\":\"path=KEPTVALUE\"}",
		"{\"tokens\":7,\"subject\":\"https://host:80/KEPTVALUE@x\"}",
		"{\"token\":null,\"subject\":\"KEPTVALUE\"}",
	};
	agentbox_audit *a = opened(&fx, false);
	char *all;
	size_t n;

	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
		put(a, "note", hidden[i]);
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
		put(a, "note", shown[i]);
	agentbox_audit_unref(a);
	for (int i = 1; i <= 11; i++) {
		json_t *doc = record_at(fx.log, i);
		char *text = json_dumps(doc, 0);

		ck_assert_msg(!strstr(text, "FAKEVALUE"), "%s", text);
		free(text);
		json_decref(doc);
	}
	all = slurp(fx.log, &n);
	n = 0;
	for (char *p = all; (p = strstr(p, "KEPTVALUE")); p++)
		n++;
	ck_assert_int_eq(n, 4);
	free(all);
}
END_TEST

START_TEST(long_values_are_cut_and_said_and_too_many_are_refused)
{
	agentbox_audit *a = opened(&fx, false);
	size_t n = 300000;
	char *json = malloc(n + 64), *p = json;
	json_t *doc, *cut;

	p += sprintf(p, "{\"subject\":\"short\",\"reason\":\"");
	memset(p, 'y', n);
	p += n;
	strcpy(p, "\"}");
	put(a, "note", json);
	p = json + sprintf(json, "{\"list\":[0");
	while (p - json < 200000)
		p += sprintf(p, ",1000000");
	strcpy(p, "]}");
	ck_assert_int_eq(try_put(a, "note", json), AGENTBOX_ELIMIT);
	agentbox_audit_unref(a);
	doc = record_at(fx.log, 1);
	ck_assert_str_eq(field(doc, "subject"), "short");
	ck_assert_ptr_nonnull(strstr(field(doc, "reason"), "[cut "));
	cut = json_object_get(doc, "cut");
	ck_assert_int_eq(json_integer_value(json_object_get(cut, "values")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(cut, "bytes")),
			 300000 - 16384);
	json_decref(doc);
	expect(verify(&fx, NULL, NULL), 0, "verified", "unanchored");
	free(json);
}
END_TEST

START_TEST(wrong_records_are_refused)
{
	static const char *const bad[] = {
		"[]", "{\"seq\":1}", "{\"prev\":\"x\"}", "{\"type\":\"x\"}",
		"{\"timestamp\":1}", "{\"log\":{}}", "{\"cut\":{}}",
		"{\"repeat\":{}}", "{\"redacted\":1}", "{\"clock\":1}",
		"{\"mono_ns\":1}", "{\"Upper\":1}", "{\"a b\":1}",
		"{\"verdict\":\"yes\"}", "{\"verdict\":1}",
		"{\"config_hash\":\"sha256:00\"}", "{\"rule\":1}",
		"{\"subject\":1}", "{\"actor\":{\"root\":1}}",
		"{\"actor\":{\"uid\":\"0\"}}", "{\"actor\":{\"uid\":-1}}",
		"{\"actor\":1}",
	};
	agentbox_audit *a = opened(&fx, false);
	char *all;
	size_t n;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_msg(try_put(a, "note", bad[i]) == AGENTBOX_EINVAL,
			      "%s", bad[i]);
	ck_assert_int_eq(try_put(a, "note", "{"), AGENTBOX_EPARSE);
	ck_assert_int_lt(try_put(a, "note", "{\"a\":1.5}"), 0);
	ck_assert_int_lt(try_put(a, "note", "{\"a\":1,\"a\":2}"), 0);
	ck_assert_int_eq(try_put(a, "audit.head", "{}"), AGENTBOX_EINVAL);
	ck_assert_int_eq(try_put(a, "", "{}"), AGENTBOX_EINVAL);
	ck_assert_int_eq(try_put(a, "A", "{}"), AGENTBOX_EINVAL);
	ck_assert_int_eq(try_put(a, "a\nb", "{}"), AGENTBOX_EINVAL);
	agentbox_audit_unref(a);
	all = slurp(fx.log, &n);
	ck_assert_ptr_null(line_at(all, 2)[0] ? strchr(line_at(all, 2), 0) :
						NULL);
	free(all);
}
END_TEST

START_TEST(life_cycle_errors_have_their_codes)
{
	agentbox_audit *a = audit_at(&fx, false);
	agentbox_bytes *b = NULL;

	ck_assert_int_eq(agentbox_audit_new(NULL, &a, NULL), AGENTBOX_EINVAL);
	ck_assert_int_eq(try_put(a, "note", "{}"), AGENTBOX_ECLOSED);
	ck_assert_int_eq(agentbox_audit_get_key(a, &b, NULL),
			 AGENTBOX_ECLOSED);
	ck_assert_int_eq(agentbox_audit_close(a, NULL), AGENTBOX_ECLOSED);
	ck_assert_int_eq(agentbox_audit_set_path(a, "x", NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_audit_set_sync(a, 9, 1, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_audit_set_sync(a, 0, 0, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_audit_set_rotation(a, 1, 0, NULL),
			 AGENTBOX_EINVAL);
	OK(agentbox_audit_open(a, &err));
	ck_assert_int_eq(agentbox_audit_open(a, NULL), AGENTBOX_EBUSY);
	ck_assert_int_eq(agentbox_audit_set_heads(a, 1, 1, NULL),
			 AGENTBOX_EBUSY);
	OK(agentbox_audit_close(a, &err));
	OK(agentbox_audit_close(a, &err));
	ck_assert_int_eq(try_put(a, "note", "{}"), AGENTBOX_ECLOSED);
	agentbox_audit_unref(a);
	agentbox_audit_unref(NULL);
	OK(agentbox_audit_new(fx.context, &a, &err));
	ck_assert_int_eq(agentbox_audit_open(a, NULL), AGENTBOX_EINVAL);
	agentbox_audit_unref(a);
	ck_assert_int_eq(ab_audit_record(NULL, "note", NULL, NULL), 0);
}
END_TEST

START_TEST(a_forked_child_is_refused_and_leaves_the_log_alone)
{
	agentbox_audit *a = opened(&fx, false);
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		int32_t rc = try_put(a, "note", "{}");

		agentbox_audit_unref(a);
		_exit(rc == AGENTBOX_EFORKED ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	put(a, "note", NULL);
	agentbox_audit_unref(a);
	expect(verify(&fx, NULL, NULL), 0, "verified", "unanchored");
}
END_TEST

START_TEST(a_log_is_continued_and_its_keys_follow_each_other)
{
	agentbox_audit *a = opened(&fx, true);
	char *key = key_of(a);
	verdict v;

	put_many(a, 3);
	agentbox_audit_unref(a);
	for (int i = 0; i < 4; i++) {
		a = opened(&fx, true);
		put_many(a, 2);
		agentbox_audit_unref(a);
	}
	v = verify(&fx, key, NULL);
	ck_assert_msg(v.rc == 0, "%s", word(&v, "reason"));
	ck_assert_int_eq(number(&v, "opens"), 4);
	ck_assert_int_eq(number(&v, "heads"), 5);
	ck_assert_int_eq(number(&v, "key_breaks"), 0);
	json_decref(v.report);
	/* a run without the key is seen */
	a = opened(&fx, false);
	agentbox_audit_unref(a);
	v = verify(&fx, key, NULL);
	ck_assert_int_eq(v.rc, AGENTBOX_ETAMPERED);
	json_decref(v.report);
	v = verify(&fx, NULL, NULL);
	ck_assert_int_eq(v.rc, 0);
	ck_assert_int_eq(number(&v, "key_breaks"), 1);
	json_decref(v.report);
	free(key);
}
END_TEST

START_TEST(a_tampered_log_is_not_continued_and_not_touched)
{
	size_t n, n2;
	char *anchor = make_log(5, NULL), *all = slurp(fx.log, &n), *again;
	agentbox_audit *a = audit_at(&fx, false);

	/* cut the head off, so that all of it is read, and edit */
	n = (size_t)(line_at(all, 6) - all);
	strstr(line_at(all, 2), "file-")[5] = '8';
	spill(fx.log, all, n);
	ck_assert_int_eq(agentbox_audit_open(a, NULL), AGENTBOX_ETAMPERED);
	agentbox_audit_unref(a);
	again = slurp(fx.log, &n2);
	ck_assert_int_eq(n, n2);
	ck_assert_int_eq(memcmp(all, again, n), 0);
	free(all);
	free(again);
	free(anchor);
}
END_TEST

START_TEST(files_others_may_write_are_refused)
{
	agentbox_audit *a = audit_at(&fx, true);
	int fd = open(fx.log, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_eq(fchmod(fd, 0666), 0);
	ck_assert_int_eq(agentbox_audit_open(a, NULL), AGENTBOX_EACCES);
	ck_assert_int_eq(fchmod(fd, 0600), 0);
	ck_assert_int_eq(chmod(fx.key, 0644), 0);
	ck_assert_int_eq(agentbox_audit_open(a, NULL), AGENTBOX_EACCES);
	ck_assert_int_eq(chmod(fx.key, 0600), 0);
	OK(agentbox_audit_open(a, &err));
	agentbox_audit_unref(a);
	close(fd);
	ck_assert_int_eq(unlink(fx.log), 0);
	ck_assert_int_eq(symlink("/dev/null", fx.log), 0);
	a = audit_at(&fx, false);
	ck_assert_int_eq(agentbox_audit_open(a, NULL), AGENTBOX_EACCES);
	ck_assert_int_eq(unlink(fx.log), 0);
	ck_assert_int_eq(mkdir(fx.log, 0700), 0);
	ck_assert_int_eq(agentbox_audit_open(a, NULL), AGENTBOX_EACCES);
	agentbox_audit_unref(a);
}
END_TEST

typedef struct collected {
	char *text;
	size_t n;
	int left;
	agentbox_audit *again;
	int32_t again_rc;
} collected;

static int32_t collect(void *data, const char *line, size_t n)
{
	collected *c = data;

	if (c->left-- == 0)
		return 1;
	c->text = realloc(c->text, c->n + n + 1);
	memcpy(c->text + c->n, line, n);
	c->n += n;
	c->text[c->n] = '\0';
	if (c->again)
		c->again_rc = try_put(c->again, "note", "{}");
	return 0;
}

START_TEST(a_callback_gets_lines_that_verify_and_may_refuse)
{
	collected c = { .left = 5 };
	agentbox_audit *a = NULL;

	OK(agentbox_audit_new(fx.context, &a, &err));
	OK(agentbox_audit_set_callback(a, collect, &c, &err));
	OK(agentbox_audit_open(a, &err));
	c.again = a;
	put(a, "note", "{}");
	ck_assert_int_eq(c.again_rc, AGENTBOX_EBUSY);
	c.again = NULL;
	put_many(a, 3);
	ck_assert_int_eq(try_put(a, "note", "{}"), AGENTBOX_ECANCELED);
	c.left = 100;
	put(a, "note", "{}");
	agentbox_audit_unref(a);
	spill(fx.log, c.text, c.n);
	expect(verify(&fx, NULL, NULL), 0, "verified", "unanchored");
	free(c.text);
}
END_TEST

START_TEST(a_pipe_gets_the_lines_and_its_end_is_an_error)
{
	agentbox_audit *a = NULL;
	int p[2];
	char buf[8192];
	ssize_t n;

	ck_assert_int_eq(pipe2(p, O_CLOEXEC), 0);
	OK(agentbox_audit_new(fx.context, &a, &err));
	OK(agentbox_audit_set_fd(a, p[1], &err));
	close(p[1]);
	OK(agentbox_audit_open(a, &err));
	put_many(a, 2);
	n = read(p[0], buf, sizeof(buf));
	ck_assert_int_gt(n, 0);
	spill(fx.log, buf, (size_t)n);
	expect(verify(&fx, NULL, NULL), 0, "verified", "unanchored");
	close(p[0]);
	ck_assert_int_eq(try_put(a, "note", "{}"), AGENTBOX_ESYS);
	ck_assert_int_eq(try_put(a, "note", "{}"), AGENTBOX_ECLOSED);
	agentbox_audit_unref(a);
}
END_TEST

START_TEST(an_fd_must_append_and_be_readable)
{
	agentbox_audit *a = NULL;
	int fd = open(fx.log, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	OK(agentbox_audit_new(fx.context, &a, &err));
	ck_assert_int_eq(agentbox_audit_set_fd(a, -1, NULL), AGENTBOX_EINVAL);
	OK(agentbox_audit_set_fd(a, fd, &err));
	ck_assert_int_eq(agentbox_audit_open(a, NULL), AGENTBOX_EINVAL);
	agentbox_audit_unref(a);
	close(fd);
}
END_TEST

START_TEST(the_journal_gets_one_datagram_per_record)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	agentbox_audit *a = NULL;
	int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char path[100], buf[70000], *all = calloc(1, 70000), *m;
	size_t len = 0;

	snprintf(path, sizeof(path), "/tmp/abj.%d", (int)getpid());
	strcpy(to.sun_path, path);
	(void)unlink(path);
	ck_assert_int_eq(bind(s, (struct sockaddr *)&to, sizeof(to)), 0);
	OK(agentbox_audit_new(fx.context, &a, &err));
	OK(agentbox_audit_set_journal(a, path, &err));
	OK(agentbox_audit_open(a, &err));
	put_many(a, 2);
	agentbox_audit_unref(a);
	for (int i = 0; i < 4; i++) {
		ssize_t n = recv(s, buf, sizeof(buf) - 1, MSG_DONTWAIT);

		ck_assert_int_gt(n, 0);
		buf[n] = '\0';
		ck_assert_ptr_nonnull(strstr(buf, "SYSLOG_IDENTIFIER="));
		m = strstr(buf, "\nMESSAGE=") + 9;
		memcpy(all + len, m, strlen(m));
		len += strlen(m);
	}
	spill(fx.log, all, len);
	expect(verify(&fx, NULL, NULL), 0, "verified", "unanchored");
	close(s);
	unlink(path);
	free(all);
}
END_TEST

START_TEST(the_anchor_file_follows_the_heads)
{
	agentbox_audit *a = audit_at(&fx, true);
	char *anchor;
	size_t n;

	OK(agentbox_audit_set_anchor_file(a, fx.anchor, &err));
	OK(agentbox_audit_set_heads(a, 4, 0, &err));
	OK(agentbox_audit_open(a, &err));
	put_many(a, 10);
	anchor = slurp(fx.anchor, &n);
	expect(verify(&fx, NULL, anchor), 0, "verified", "past-anchor");
	free(anchor);
	agentbox_audit_unref(a);
	anchor = slurp(fx.anchor, &n);
	expect(verify(&fx, NULL, anchor), 0, "verified", "anchored");
	free(anchor);
}
END_TEST

START_TEST(show_filters_and_survives_a_bad_line)
{
	static const struct {
		const char *filter;
		int lines;
	} rows[] = {
		{ NULL, 6 },
		{ "{}", 6 },
		{ "{\"type\":\"check.*\"}", 2 },
		{ "{\"type\":\"audit.*\"}", 2 },
		{ "{\"verdict\":\"deny\"}", 1 },
		{ "{\"run\":\"b7\"}", 2 },
		{ "{\"box\":\"b7\"}", 1 },
		{ "{\"group\":\"g\"}", 1 },
		{ "{\"rule\":\"r\",\"verdict\":\"deny\"}", 1 },
		{ "{\"rule\":\"r\",\"verdict\":\"allow\"}", 0 },
		{ "{\"since\":\"2000\"}", 6 },
		{ "{\"until\":\"2000\"}", 0 },
	};
	agentbox_audit *a = opened(&fx, false);
	const char *path = fx.log;
	FILE *f;

	put(a, "check.net", "{\"verdict\":\"deny\",\"rule\":\"r\"}");
	put(a, "check.write", "{\"actor\":{\"box\":\"b7\"}}");
	put(a, "note", "{\"run\":\"b7\"}");
	put(a, "note", "{\"group\":\"g\"}");
	agentbox_audit_unref(a);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		collected c = { .left = 100 };
		int n = 0;

		OK(agentbox_audit_show(fx.context, &path, 1, rows[i].filter,
				       collect, &c, &err));
		for (size_t k = 0; k < c.n; k++)
			n += c.text[k] == '\n';
		ck_assert_msg(n == rows[i].lines, "%s: %d", rows[i].filter, n);
		free(c.text);
	}
	ck_assert_int_eq(agentbox_audit_show(fx.context, &path, 1,
					     "{\"boxx\":\"a\"}", collect, NULL,
					     NULL),
			 AGENTBOX_EINVAL);
	f = fopen(path, "a");
	fprintf(f, "{\"evil\":\"\x1b[2J\"}\n");
	fclose(f);
	{
		collected c = { .left = 100 };

		ck_assert_int_eq(agentbox_audit_show(fx.context, &path, 1, NULL,
						     collect, &c, NULL),
				 AGENTBOX_EPARSE);
		ck_assert_ptr_null(strchr(c.text, 0x1b));
		free(c.text);
	}
}
END_TEST

START_TEST(verify_refuses_bad_inputs)
{
	char *anchor = make_log(1, NULL);
	const char *path = fx.log, *none = "/nonexistent/log";

	ck_assert_int_eq(verify(&fx, "xyz", NULL).rc, AGENTBOX_EPARSE);
	ck_assert_int_eq(verify(&fx, NULL, "{}").rc, AGENTBOX_EPARSE);
	ck_assert_int_eq(verify_paths(&fx, &path, 0, NULL, NULL, NULL).rc,
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(verify_paths(&fx, &none, 1, NULL, NULL, NULL).rc,
			 AGENTBOX_ENOTFOUND);
	free(anchor);
}
END_TEST

#define ADD(name) tcase_add_test(tc, name)

int main(void)
{
	Suite *s = suite_create("audit");
	TCase *tc = tcase_create("audit.h");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	ADD(m01_a_command_has_its_seven_fields_or_is_refused);
	ADD(m02_a_changed_byte_is_found_at_its_record);
	ADD(m02_two_swapped_records_are_found);
	ADD(m02_a_deleted_middle_record_is_found);
	ADD(m02_an_inserted_record_is_found);
	ADD(m03_a_cut_tail_shows_with_an_anchor_and_is_said_without);
	ADD(m03_an_emptied_log_is_never_good);
	ADD(m03_an_older_backup_shows_and_cannot_be_continued);
	ADD(m04_a_deleted_head_is_found_from_the_beginning);
	ADD(m05_a_recomputed_chain_fails_by_signature_and_by_anchor);
	ADD(m05_a_log_of_another_key_is_refused_when_pinned);
	ADD(m07_a_second_writer_is_refused);
	ADD(m07_a_duplicate_of_the_fd_is_a_second_writer_too);
	ADD(m07_a_fork_of_the_chain_is_named);
	ADD(m08_a_torn_record_is_recovered_and_not_called_tampering);
	ADD(m08_a_log_cut_at_any_byte_is_torn_or_short_and_continues);
	ADD(m09_rotation_links_files_and_prunes_old_ones);
	ADD(m09_a_rotated_log_verifies_from_root_key_and_from_start_anchor);
	ADD(m09_numbers_go_on_after_a_restart_and_fill_no_gap);
	ADD(m09_numbers_go_on_when_the_old_files_were_moved_away);
	ADD(m09_a_second_name_left_by_a_crash_is_taken_again);
	ADD(m09_a_removed_first_file_is_not_hidden_by_a_second_name);
	ADD(m09_only_numbered_files_of_this_log_are_pruned);
	tcase_add_loop_test(
		tc,
		m09_a_rotation_that_fails_deletes_nothing_and_can_be_repeated,
		NO_LINK, NO_FILE + 1);
	ADD(m11_hostile_text_stays_one_printable_line);
	ADD(m13_eight_processes_through_the_owner_leave_no_gap);
	ADD(m14_a_verifier_needs_no_secret_and_no_key_file);
	ADD(m17_a_flood_of_denials_is_counted_and_not_dropped);
	ADD(m17_a_flood_of_many_kinds_keeps_every_count);
	ADD(threads_append_to_one_chain);
	ADD(registered_secrets_never_reach_the_log);
	ADD(values_under_secret_names_are_redacted);
	ADD(long_values_are_cut_and_said_and_too_many_are_refused);
	ADD(wrong_records_are_refused);
	ADD(life_cycle_errors_have_their_codes);
	ADD(a_forked_child_is_refused_and_leaves_the_log_alone);
	ADD(a_log_is_continued_and_its_keys_follow_each_other);
	ADD(a_tampered_log_is_not_continued_and_not_touched);
	ADD(files_others_may_write_are_refused);
	ADD(a_callback_gets_lines_that_verify_and_may_refuse);
	ADD(a_pipe_gets_the_lines_and_its_end_is_an_error);
	ADD(an_fd_must_append_and_be_readable);
	ADD(the_journal_gets_one_datagram_per_record);
	ADD(the_anchor_file_follows_the_heads);
	ADD(show_filters_and_survives_a_bad_line);
	ADD(verify_refuses_bad_inputs);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
