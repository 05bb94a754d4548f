/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The manifest and the record: what is written is read, all else refused. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "snapshot/manifest.h"
#include "snapshot/record.h"

#include "abtest.h"

static ab_manifest_reader reader;
static ab_line line;
static char text[1 << 16];
static size_t text_len;

static void add(const char *path, uint32_t mode, uint64_t size)
{
	ab_manifest_entry e = { .path = path, .path_len = strlen(path),
				.mode = mode, .size = size, .has_hash = true };

	memset(e.sha256, 0xab, sizeof(e.sha256));
	ab_manifest_put(&line, &e);
	memcpy(text + text_len, line.text, line.len);
	text_len += line.len;
}

static void begin_with(const ab_manifest_head *head)
{
	ab_manifest_put_head(&line, head);
	ck_assert_uint_eq(line.len, ab_manifest_head_size(head->has_head,
							  head->has_base));
	memcpy(text, line.text, line.len);
	text_len = line.len;
}

static void begin(uint64_t files, uint64_t bytes)
{
	const ab_manifest_head head = { .files = files, .bytes = bytes,
					.has_hashes = true };

	begin_with(&head);
}

/* How many entries are read, or -errno. */
static int count(const char *p, size_t n)
{
	ab_manifest_entry e;
	int found = 0;
	int r = ab_manifest_open(&reader, p, n);

	while (r == 0) {
		int more = ab_manifest_next(&reader, &e);

		if (more <= 0)
			return more < 0 ? more : found;
		found++;
	}
	return r;
}

START_TEST(a_manifest_is_read_as_it_was_written)
{
	static const char *const paths[] = { "a \"quoted\" \\ name", "a.c",
					     "a/b", "b\xc3\xa9", "b\xff" };
	ab_manifest_entry e;

	begin(5, 35);
	for (size_t i = 0; i < 5; i++)
		add(paths[i], i % 2 ? 0555 : 0444, 7);
	ck_assert_int_eq(ab_manifest_open(&reader, text, text_len), 0);
	for (size_t i = 0; i < 5; i++) {
		ck_assert_int_eq(ab_manifest_next(&reader, &e), 1);
		ck_assert_uint_eq(e.path_len, strlen(paths[i]));
		ck_assert_mem_eq(e.path, paths[i], e.path_len);
		ck_assert_uint_eq(e.mode, i % 2 ? 0555 : 0444);
		ck_assert_uint_eq(e.size, 7);
		ck_assert_uint_eq(e.sha256[31], 0xab);
	}
	ck_assert_int_eq(ab_manifest_next(&reader, &e), 0);
	ck_assert_ptr_nonnull(strstr(text, "\"b\\\\xff\",\"encoded\":true"));
}
END_TEST

START_TEST(a_manifest_of_commits_says_which)
{
	ab_manifest_head head = { .files = 1, .bytes = 7, .has_hashes = true,
				  .has_head = true };

	memset(head.git_head, 0x12, sizeof(head.git_head));
	memset(head.git_base, 0x34, sizeof(head.git_base));
	for (int i = 0; i < 2; i++) {
		head.has_base = i;
		begin_with(&head);
		add("a.c", 0444, 7);
		ck_assert_int_eq(count(text, text_len), 1);
		ck_assert(reader.head.has_head);
		ck_assert_int_eq(reader.head.has_base, i);
		ck_assert_int_eq(memcmp(reader.head.git_head, head.git_head,
					sizeof(head.git_head)), 0);
		ck_assert_int_eq(i && memcmp(reader.head.git_base,
					     head.git_base,
					     sizeof(head.git_base)), 0);
		for (size_t n = 0; n < text_len; n++)
			ck_assert_int_eq(count(text, n), -EPROTO);
	}
	/* a base is never alone */
	head.has_head = false;
	begin_with(&head);
	add("a.c", 0444, 7);
	ck_assert_int_eq(count(text, text_len), -EPROTO);
}
END_TEST

START_TEST(paths_that_are_not_clean_or_not_in_order_are_refused)
{
	static const char *const bad[][2] = {
		{ "b", "a" },	{ "a", "a" },	{ "a", "a/b" },
		{ "a", "" },	{ "a", "/b" },	{ "a", "b//c" },
		{ "a", "b/../c" }, { "a", "b/." }, { "a", ".." },
		{ "a", "b/" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		begin(2, 2);
		add(bad[i][0], 0444, 1);
		add(bad[i][1], 0444, 1);
		ck_assert_msg(count(text, text_len) == -EPROTO, "row %zu", i);
	}
	begin(2, 2);
	add("a", 0444, 1);
	add("b", 0444, 1);
	ck_assert_int_eq(count(text, text_len), 2);
}
END_TEST

START_TEST(a_manifest_that_was_cut_or_changed_anywhere_is_refused)
{
	begin(3, 6);
	add("a", 0444, 1);
	add("b", 0444, 2);
	add("c", 0555, 3);
	ck_assert_int_eq(count(text, text_len), 3);
	for (size_t n = 0; n < text_len; n++)
		ck_assert_int_eq(count(text, n), -EPROTO);
	for (size_t i = 0; i < text_len; i++) {
		char was = text[i];

		/* a digit, a letter of a name or a hash may be another */
		text[i] = was == ' ' ? 'x' : ' ';
		if (count(text, text_len) != -EPROTO)
			ck_assert_msg(was >= 'a' && was <= 'c', "byte %zu", i);
		text[i] = was;
	}
	begin(3, 7);
	add("a", 0444, 1);
	add("b", 0444, 2);
	add("c", 0555, 3);
	ck_assert_int_eq(count(text, text_len), -EPROTO);
}
END_TEST

static const char *const record_paths[] = { "a.c", "a/", "a/b", "z" };

static size_t make_record(uint8_t *to, size_t room)
{
	ab_record_head head = { .generation = 7, .source_ino = 3 };
	ab_record_tail tail = { .files = 3 };
	ab_record_out out;
	int fd = memfd_create("record", MFD_CLOEXEC);
	ssize_t n;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ab_record_begin(&out, fd, ab_sha256_pick(), &head,
					 "/some/where", "chosen", 6), 0);
	for (size_t i = 0; i < 4; i++) {
		ab_record_entry e = { .ino = i + 1, .ctime_ns = -5,
				      .path_len = (uint32_t)strlen(
					      record_paths[i]) };

		ab_record_add(&out, &e, record_paths[i]);
	}
	ck_assert_int_eq(ab_record_finish(&out, "report\n", 7, &tail), 0);
	n = pread(fd, to, room, 0);
	ck_assert_int_gt(n, 0);
	close(fd);
	return (size_t)n;
}

START_TEST(a_record_is_read_as_it_was_written)
{
	static uint8_t p[8192];
	size_t n = make_record(p, sizeof(p));
	ab_record record;
	ab_record_cursor c = { 0 };
	ab_record_entry e;
	const char *path;

	ck_assert_int_eq(ab_record_open(&record, p, n, ab_sha256_pick()), 0);
	ck_assert_uint_eq(record.head.generation, 7);
	ck_assert_uint_eq(record.tail.files, 3);
	ck_assert_uint_eq(record.head.source_name_len, 11);
	ck_assert_mem_eq(record.source_name, "/some/where", 11);
	ck_assert_uint_eq(record.head.choice_len, 6);
	ck_assert_mem_eq(record.choice, "chosen", 6);
	ck_assert_uint_eq(record.tail.report_len, 7);
	ck_assert_mem_eq(record.report, "report\n", 7);
	for (size_t i = 0; i < 4; i++) {
		ck_assert_int_eq(ab_record_next(&record, &c, &e, &path), 1);
		ck_assert_uint_eq(e.ino, i + 1);
		ck_assert_int_eq(e.ctime_ns, -5);
		ck_assert_uint_eq(e.path_len, strlen(record_paths[i]));
		ck_assert_mem_eq(path, record_paths[i], e.path_len);
	}
	ck_assert_int_eq(ab_record_next(&record, &c, &e, &path), 0);
}
END_TEST

START_TEST(a_record_that_was_cut_or_changed_anywhere_is_none)
{
	static uint8_t p[8192];
	size_t n = make_record(p, sizeof(p));
	ab_record record;

	for (size_t cut = 0; cut < n; cut++)
		ck_assert_int_lt(ab_record_open(&record, p, cut,
						ab_sha256_portable), 0);
	for (size_t i = 0; i < n; i++) {
		p[i] ^= 0x20;
		ck_assert_int_lt(ab_record_open(&record, p, n,
						ab_sha256_portable), 0);
		p[i] ^= 0x20;
	}
	ck_assert_int_eq(ab_record_open(&record, p, n, ab_sha256_portable), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("snapshot_manifest");
	TCase *tc = tcase_create("manifest");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown);
	tcase_add_test(tc, a_manifest_is_read_as_it_was_written);
	tcase_add_test(tc, a_manifest_of_commits_says_which);
	tcase_add_test(tc,
		       paths_that_are_not_clean_or_not_in_order_are_refused);
	tcase_add_test(tc,
		       a_manifest_that_was_cut_or_changed_anywhere_is_refused);
	tcase_add_test(tc, a_record_is_read_as_it_was_written);
	tcase_add_test(tc, a_record_that_was_cut_or_changed_anywhere_is_none);
	suite_add_tcase(s, tc);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
