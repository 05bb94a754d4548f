/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Allocation, bytes, errors, hashes, clocks, secrets. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/secret.h"
#include "base/utf8.h"

#include "abtest.h"

START_TEST(sizes_that_overflow_are_no_memory)
{
	char *p = malloc(8);

	ck_assert_ptr_null(ab_calloc(SIZE_MAX / 2, 3));
	ck_assert_ptr_null(ab_realloc(p, SIZE_MAX / 2, 3));
	ck_assert_ptr_null(ab_memdup0(p, SIZE_MAX));
	free(p);
}
END_TEST

START_TEST(an_empty_block_is_not_a_failure)
{
	ab_autofree char *p = ab_calloc(0, 8);
	ab_autofree char *q = ab_realloc(NULL, 0, 8);

	ck_assert_ptr_nonnull(p);
	ck_assert_ptr_nonnull(q);
}
END_TEST

START_TEST(an_array_grows_by_doubling_or_stays_what_it_was)
{
	uint64_t *items = NULL, *before;
	size_t room = 0, times = 0;

	for (size_t i = 0; i < 100000; i++) {
		size_t had = room;

		ck_assert(ab_grow(&items, &room, i + 1, sizeof(*items)));
		ck_assert_uint_gt(room, i);
		times += had != room;
		items[i] = i;
	}
	ck_assert_uint_lt(times, 20);
	ck_assert_uint_eq(items[0] + items[99999], 99999);
	before = items;
	times = room;
	ck_assert(!ab_grow(&items, &room, SIZE_MAX, sizeof(*items)));
	ck_assert_ptr_eq(items, before);
	ck_assert_uint_eq(room, times);
	free(items);
}
END_TEST

START_TEST(copies_end_with_nul_and_keep_inner_nuls)
{
	ab_autofree char *p = ab_memdup0("a\0b", 3);
	ab_autofree char *q = ab_asprintf("%s-%d", "x", 7);
	ab_autofree char *e = ab_memdup0(NULL, 0);

	ck_assert_mem_eq(p, "a\0b\0", 4);
	ck_assert_str_eq(q, "x-7");
	ck_assert_str_eq(e, "");
}
END_TEST

START_TEST(cleanup_and_free_keep_errno)
{
	agentbox_error *err = NULL;

	ab_error_set(&err, AGENTBOX_EINVAL, NULL, "x");
	errno = E2BIG;
	{
		ab_autofree char *p = ab_calloc(1, 100000);
		ab_autofd int fd = -1;
		ab_autofd int bad = 999999;

		ck_assert_ptr_nonnull(p);
		(void)fd;
		(void)bad;
	}
	agentbox_error_free(err);
	agentbox_bytes_free(ab_bytes_from("x", 1));
	ck_assert_int_eq(errno, E2BIG);
}
END_TEST

START_TEST(bytes_grow_to_the_maximum_and_not_past_it)
{
	ab_auto(agentbox_bytes) *b = ab_bytes_new(1000);

	for (int i = 0; i < 1000; i++)
		ck_assert(ab_bytes_append_char(b, 'x'));
	ck_assert(ab_bytes_ok(b));
	ck_assert_uint_eq(agentbox_bytes_get_size(b), 1000);
	ck_assert_uint_eq(strlen(agentbox_bytes_get_data(b)), 1000);
	ck_assert(!ab_bytes_append_char(b, 'y'));
	ck_assert(!ab_bytes_ok(b));
	ck_assert(ab_bytes_is_over(b));
	ck_assert_uint_eq(strlen(agentbox_bytes_get_data(b)), 1000);
	ck_assert(!ab_bytes_append(b, "", 0));
}
END_TEST

START_TEST(bytes_of_maximum_zero_hold_nothing)
{
	ab_auto(agentbox_bytes) *b = ab_bytes_new(0);

	ck_assert(ab_bytes_append_str(b, ""));
	ck_assert(!ab_bytes_appendf(b, "%d", 1));
	ck_assert_str_eq(agentbox_bytes_get_data(b), "");
	ck_assert(!ab_bytes_ok(NULL));
}
END_TEST

START_TEST(formatted_bytes_land_whole_or_not_at_all)
{
	ab_auto(agentbox_bytes) *b = ab_bytes_new(100);

	ck_assert(ab_bytes_appendf(b, "%0*d", 99, 5));
	ck_assert(!ab_bytes_appendf(b, "%s", "ab"));
	ck_assert_uint_eq(agentbox_bytes_get_size(b), 99);
	ck_assert_uint_eq(strlen(agentbox_bytes_get_data(b)), 99);
}
END_TEST

START_TEST(one_huge_append_does_not_wrap)
{
	ab_auto(agentbox_bytes) *b = ab_bytes_new(SIZE_MAX);

	ck_assert(ab_bytes_append_str(b, "abc"));
	ck_assert(!ab_bytes_append(b, "", SIZE_MAX - 3));
	ck_assert(!ab_bytes_ok(b));
	ck_assert_str_eq(agentbox_bytes_get_data(b), "abc");
	ck_assert_ptr_null(ab_bytes_from("", SIZE_MAX));
}
END_TEST

START_TEST(an_error_carries_code_message_and_place)
{
	ab_auto(agentbox_error) *err = NULL;
	int32_t r = ab_error_set(&err, AGENTBOX_EPOLICY, "/limits", "bad '%s'",
				 "memory");

	ck_assert_int_eq(r, AGENTBOX_EPOLICY);
	ck_assert_int_eq(agentbox_error_get_code(err), AGENTBOX_EPOLICY);
	ck_assert_int_eq(agentbox_error_get_errno(err), 0);
	ck_assert_str_eq(agentbox_error_get_message(err), "bad 'memory'");
	ck_assert_str_eq(agentbox_error_get_where(err), "/limits");
	ck_assert_int_eq(ab_error_set(NULL, AGENTBOX_ELIMIT, NULL, "x"),
			 AGENTBOX_ELIMIT);
	ck_assert_int_eq(ab_error_sys(NULL, EPERM, NULL, "x"),
			 AGENTBOX_EACCES);
	ck_assert_int_eq(ab_error_sys_code(NULL, AGENTBOX_EWALL, EPERM, NULL,
					   "x"), AGENTBOX_EWALL);
	ck_assert_int_eq(ab_error_nomem(NULL), AGENTBOX_ENOMEM);
}
END_TEST

static const struct {
	int sys_errno;
	int32_t code;
	const char *message;
} sys_rows[] = {
	{ENOENT, AGENTBOX_ENOTFOUND, "open: no such file or directory"},
	{EACCES, AGENTBOX_EACCES, "open: permission denied"},
	{EPERM, AGENTBOX_EACCES, "open: operation not permitted"},
	{ENOMEM, AGENTBOX_ENOMEM, "open: cannot allocate memory"},
	{EIO, AGENTBOX_ESYS, "open: input/output error"},
	{ESRMNT, AGENTBOX_ESYS, "open: srmount error"},
	{99999, AGENTBOX_ESYS, "open: errno 99999"},
};

START_TEST(a_system_error_maps_its_errno)
{
	ab_auto(agentbox_error) *err = NULL;

	ck_assert_int_eq(ab_error_sys(&err, sys_rows[_i].sys_errno, NULL,
				      "open"), sys_rows[_i].code);
	ck_assert_int_eq(agentbox_error_get_errno(err),
			 sys_rows[_i].sys_errno);
	ck_assert_str_eq(agentbox_error_get_message(err),
			 sys_rows[_i].message);
}
END_TEST

START_TEST(a_message_is_one_line_whatever_is_quoted)
{
	ab_auto(agentbox_error) *err = NULL;

	ab_error_set(&err, AGENTBOX_EPARSE, "a\nb", "x '%s'",
		     "\033[31m\r\nok\177 \303\251");
	ck_assert_str_eq(agentbox_error_get_message(err),
			 "x '?[31m??ok? \303\251'");
	ck_assert_str_eq(agentbox_error_get_where(err), "a?b");
}
END_TEST

START_TEST(a_message_that_is_cut_says_so)
{
	char text[3 * AB_MAX_ERROR_TEXT];
	agentbox_error *err = NULL;
	const char *m;

	memset(text, 'y', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	ab_error_sys(&err, EIO, text, "%s", text);
	m = agentbox_error_get_message(err);
	ck_assert_uint_eq(strlen(m), AB_MAX_ERROR_TEXT - 1);
	ck_assert_str_eq(m + strlen(m) - 4, "y...");
	m = agentbox_error_get_where(err);
	ck_assert_str_eq(m + strlen(m) - 4, "y...");
	agentbox_error_free(err);
}
END_TEST

START_TEST(the_errno_text_fits_at_every_length)
{
	char text[AB_MAX_ERROR_TEXT + 8];

	for (size_t n = AB_MAX_ERROR_TEXT - 40; n < sizeof(text) - 1; n++) {
		ab_auto(agentbox_error) *err = NULL;

		memset(text, 'y', n);
		text[n] = '\0';
		ab_error_sys(&err, EIO, NULL, "%s", text);
		ck_assert_uint_lt(strlen(agentbox_error_get_message(err)),
				  AB_MAX_ERROR_TEXT);
	}
}
END_TEST

START_TEST(moving_an_error_keeps_the_rest)
{
	agentbox_error *err = NULL, *to = NULL;

	ab_error_sys(&err, EIO, "w", "read");
	ck_assert_int_eq(ab_error_move(&to, &err), AGENTBOX_ESYS);
	ck_assert_ptr_null(err);
	ck_assert_str_eq(agentbox_error_get_message(to),
			 "read: input/output error");
	ck_assert_str_eq(agentbox_error_get_where(to), "w");
	ck_assert_int_eq(agentbox_error_get_errno(to), EIO);
	ck_assert_int_eq(ab_error_move(NULL, &to), AGENTBOX_ESYS);
	ck_assert_ptr_null(to);
	ck_assert_int_eq(ab_error_move(&to, &err), AGENTBOX_EINVAL);
	ck_assert_ptr_null(to);
}
END_TEST

START_TEST(making_an_error_keeps_errno)
{
	agentbox_error *err = NULL;

	errno = EXDEV;
	ab_error_sys(&err, EIO, NULL, "x");
	ck_assert_int_eq(errno, EXDEV);
	agentbox_error_free(err);
}
END_TEST

static bool torture_error(void *data)
{
	agentbox_error *err = NULL;
	int32_t r = ab_error_set(&err, AGENTBOX_EPOLICY, "w", "text");
	bool good;

	(void)data;
	/* the code never changes; the object may be the static ENOMEM one */
	ck_assert_int_eq(r, AGENTBOX_EPOLICY);
	ck_assert_ptr_nonnull(err);
	good = agentbox_error_get_code(err) == AGENTBOX_EPOLICY;
	if (!good) {
		ck_assert_str_eq(agentbox_error_get_message(err),
				 "out of memory");
		ck_assert_int_eq(agentbox_error_get_errno(err), ENOMEM);
	}
	agentbox_error_free(err);
	return good;
}

static bool torture_bytes(void *data)
{
	ab_auto(agentbox_bytes) *b = ab_bytes_new(100000);
	ab_auto(agentbox_bytes) *c = ab_bytes_from("abc", 3);
	ab_autofree char *s = ab_strdup("x");
	ab_autofree char *t = ab_asprintf("%d", 5);
	void *secret = ab_secret_new(32);
	bool good = b && c && s && t && secret;

	(void)data;
	ab_secret_free(secret);
	for (int i = 0; b && i < 3000; i++)
		ab_bytes_append_str(b, "0123456789");
	return good && ab_bytes_ok(b);
}

START_TEST(every_failed_allocation_is_an_ordinary_error)
{
	uint64_t tolerated = 0;

	if (!ab_torture_available()) {
		ab_test_skip("torture", "no fault injection in this build");
		return;
	}
	ck_assert_uint_ge(ab_torture(torture_error, NULL, 100, &tolerated), 1);
	ck_assert_uint_eq(tolerated, 0);
	ck_assert_uint_ge(ab_torture(torture_bytes, NULL, 100, &tolerated), 8);
	ck_assert_uint_eq(tolerated, 0);
}
END_TEST

START_TEST(sha256_gives_the_published_vectors)
{
	char digest[AB_DIGEST_SIZE];

	ab_digest("", 0, digest);
	ck_assert_str_eq(digest, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41"
				 "e4649b934ca495991b7852b855");
	ab_digest("abc", 3, digest);
	ck_assert_str_eq(digest, "sha256:ba7816bf8f01cfea414140de5dae2223b00361"
				 "a396177a9cb410ff61f20015ad");
}
END_TEST

START_TEST(sha256_in_pieces_is_sha256_of_the_whole)
{
	static const size_t steps[] = { 1, 3, 55, 56, 63, 64, 65, 128, 1000 };
	uint8_t text[1500], whole[AB_SHA256_SIZE], parts[AB_SHA256_SIZE];
	ab_sha256_fn fns[] = { ab_sha256_pick(), ab_sha256_portable };
	ab_sha256_stream s;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(i * 31 + i / 7);
	for (size_t f = 0; f < 2; f++)
		for (size_t i = 0; i < AB_ARRAY_LEN(steps); i++)
			for (size_t n = 0; n <= sizeof(text); n += 77) {
				ab_sha256_portable(text, n, whole);
				ab_sha256_begin(&s, fns[f]);
				for (size_t at = 0; at < n; at += steps[i])
					ab_sha256_add(&s, text + at,
						      n - at < steps[i] ?
							      n - at :
							      steps[i]);
				ab_sha256_end(&s, parts);
				ck_assert_mem_eq(whole, parts, sizeof(whole));
			}
}
END_TEST

START_TEST(sha256_side_by_side_is_sha256_of_each)
{
	enum { MOST = 40 };
	static uint8_t text[20000], sums[MOST][AB_SHA256_SIZE];
	ab_sha256_fn fns[] = { ab_sha256_pick(), ab_sha256_portable };
	uint8_t expected[AB_SHA256_SIZE];
	ab_sha256_job jobs[MOST];
	uint32_t r = 1;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(i * 31 + i / 7);
	for (size_t round = 0; round < 400; round++) {
		size_t count = round % (MOST + 1);

		memset(sums, 0, sizeof(sums));
		for (size_t i = 0; i < count; i++) {
			size_t n = 0, at;

			/* among them empty ones, and each end of a block */
			r = r * 1664525 + 1013904223;
			if (r >> 29)
				n = (r >> 8) % (r >> 30 ? 300 : 9000);
			at = (r >> 5) % (sizeof(text) - n);
			jobs[i] = (ab_sha256_job){ n ? text + at : NULL, n,
						   sums[i] };
		}
		ab_sha256_many(fns[round & 1], jobs, count);
		for (size_t i = 0; i < count; i++) {
			ab_sha256_portable(jobs[i].p, jobs[i].n, expected);
			ck_assert_mem_eq(sums[i], expected, sizeof(expected));
		}
		ck_assert(count == MOST || !sums[count][0]);
	}
}
END_TEST

/* Every character there is, as RFC 3629 section 3 writes it. */
START_TEST(utf8_is_read_strictly)
{
	static const char *const bad[] = {
		"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x7f",
		"\xc2\xc0", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xe2\x80",
		"\xe2\x80x", "\xed\xa0\x80", "\xed\xbf\xbf",
		"\xf0\x8f\xbf\xbf", "\xf0\x90\x80", "\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80", "\xf8\x88\x80\x80\x80", "\xff",
	};
	uint32_t got;

	for (uint32_t c = 0; c <= 0x10ffff; c++) {
		unsigned char s[4] = { (unsigned char)c };
		size_t n = 1;

		if (c >= 0xd800 && c <= 0xdfff)
			continue;
		if (c >= 0x80) {
			n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
			for (size_t i = n; i-- > 1;)
				s[i] = (unsigned char)(0x80 |
					(c >> 6 * (n - 1 - i) & 0x3f));
			s[0] = (unsigned char)(0xf0 << (4 - n) |
					       c >> 6 * (n - 1));
		}
		/* an assertion for each would take seconds */
		if (ab_utf8_decode(s, n, &got) != n || got != c ||
		    (n > 1 && ab_utf8_decode(s, n - 1, &got) != 0))
			ck_abort_msg("U+%04X", c);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		got = 1;
		ck_assert_uint_eq(ab_utf8_decode(bad[i], strlen(bad[i]),
						 &got), 0);
		ck_assert_uint_eq(got, 0);
	}
}
END_TEST

START_TEST(hex_goes_both_ways_and_refuses_the_rest)
{
	const uint8_t in[] = {0x00, 0x9f, 0xff};
	uint8_t out[3] = {1, 2, 3};
	char hex[AB_HEX_SIZE(3)];

	ab_hex(in, 3, hex);
	ck_assert_str_eq(hex, "009fff");
	ck_assert_int_eq(ab_unhex(hex, 6, out, 3), 0);
	ck_assert_mem_eq(in, out, 3);
	out[0] = 7;
	ck_assert_int_eq(ab_unhex("009FFF", 6, out, 3), -EINVAL);
	ck_assert_int_eq(ab_unhex("009ff", 5, out, 3), -EINVAL);
	ck_assert_int_eq(ab_unhex("009ff", 5, out, 2), -EINVAL);
	ck_assert_int_eq(ab_unhex("009ffg", 6, out, 3), -EINVAL);
	ck_assert_int_eq(ab_unhex("009fff00", 8, out, 3), -EINVAL);
	ck_assert_int_eq(out[0], 7);
}
END_TEST

START_TEST(ids_are_32_hex_digits_and_differ)
{
	char a[AB_ID_SIZE], b[AB_ID_SIZE];

	ck_assert_int_eq(ab_id_new(a), 0);
	ck_assert_int_eq(ab_id_new(b), 0);
	ck_assert_uint_eq(strspn(a, "0123456789abcdef"), 32);
	ck_assert_uint_eq(strlen(a), 32);
	ck_assert_str_ne(a, b);
}
END_TEST

START_TEST(timestamps_agree_with_the_c_library)
{
	uint64_t seconds = 0;
	char out[AB_TIMESTAMP_SIZE], want[64], date[40];

	for (int i = 0; i < 40000; i++) {
		time_t t = (time_t)seconds;
		struct tm tm;

		gmtime_r(&t, &tm);
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
		snprintf(want, sizeof(want), "%s.%06dZ", date, i);
		ab_clock_format(seconds * 1000000000u +
				(uint64_t)i * 1000 + 999, out);
		ck_assert_str_eq(out, want);
		seconds += 86399 + (uint64_t)i % 7;
	}
	ab_clock_format(UINT64_MAX, out);
	ck_assert_str_eq(out, "2554-07-21T23:34:33.709551Z");
}
END_TEST

START_TEST(a_timeout_of_any_size_is_a_deadline)
{
	static const int64_t never[] = { -1, INT64_MIN, INT64_MAX,
					 INT64_MAX / 1000000,
					 INT64_MAX / 1000000 + 1 };

	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		ck_assert_uint_eq(ab_clock_deadline(never[i]), 0);
	ck_assert_int_eq(ab_clock_left_ms(ab_clock_deadline(0)), 0);
	ck_assert_int_gt(ab_clock_left_ms(ab_clock_deadline(3600000)), 3590000);
	/* a century is not over at once */
	ck_assert_int_gt(ab_clock_left_ms(ab_clock_deadline(
				 INT64_C(3155760000000))), 3155750000000);
}
END_TEST

START_TEST(a_deadline_counts_down_to_zero)
{
	uint64_t now = ab_clock_boot_ns();

	ck_assert_int_eq(ab_clock_left_ms(0), -1);
	ck_assert_int_eq(ab_clock_left_ms(1), 0);
	ck_assert_int_eq(ab_clock_left_ms(now), 0);
	ck_assert_int_gt(ab_clock_left_ms(now + 3600000000000u), 3590000);
	ck_assert_int_le(ab_clock_left_ms(now + 3600000000000u), 3600000);
	ck_assert_uint_gt(ab_clock_mono_ns(), 0);
	ck_assert_uint_gt(ab_clock_real_ns(), 1600000000000000000u);
}
END_TEST

START_TEST(secrets_compare_by_content_and_absent_ones_never_match)
{
	char *a = ab_secret_new(16), *b = ab_secret_new(16);

	memcpy(a, "0123456789abcdef", 16);
	memcpy(b, "0123456789abcdef", 16);
	ck_assert(ab_secret_equal(a, b, 16));
	b[15] = 'x';
	ck_assert(!ab_secret_equal(a, b, 16));
	ck_assert(ab_secret_equal(a, b, 15));
	ck_assert(!ab_secret_equal(a, b, 0));
	ck_assert(!ab_secret_equal(NULL, NULL, 16));
	ck_assert(!ab_secret_equal(a, NULL, 16));
	ab_secret_free(a);
	ab_secret_free(b);
	ab_secret_free(NULL);
	a = ab_secret_new(0);
	ck_assert_ptr_nonnull(a);
	ab_secret_free(a);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("base_text");
	TCase *tc = tcase_create("text");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(tc, ab_leak_setup, ab_leak_teardown);
	tcase_add_test(tc, sizes_that_overflow_are_no_memory);
	tcase_add_test(tc, an_empty_block_is_not_a_failure);
	tcase_add_test(tc, an_array_grows_by_doubling_or_stays_what_it_was);
	tcase_add_test(tc, copies_end_with_nul_and_keep_inner_nuls);
	tcase_add_test(tc, cleanup_and_free_keep_errno);
	tcase_add_test(tc, bytes_grow_to_the_maximum_and_not_past_it);
	tcase_add_test(tc, bytes_of_maximum_zero_hold_nothing);
	tcase_add_test(tc, formatted_bytes_land_whole_or_not_at_all);
	tcase_add_test(tc, one_huge_append_does_not_wrap);
	tcase_add_test(tc, an_error_carries_code_message_and_place);
	tcase_add_loop_test(tc, a_system_error_maps_its_errno, 0,
			    AB_ARRAY_LEN(sys_rows));
	tcase_add_test(tc, a_message_is_one_line_whatever_is_quoted);
	tcase_add_test(tc, a_message_that_is_cut_says_so);
	tcase_add_test(tc, the_errno_text_fits_at_every_length);
	tcase_add_test(tc, moving_an_error_keeps_the_rest);
	tcase_add_test(tc, making_an_error_keeps_errno);
	tcase_add_test(tc, every_failed_allocation_is_an_ordinary_error);
	tcase_add_test(tc, sha256_gives_the_published_vectors);
	tcase_add_test(tc, sha256_in_pieces_is_sha256_of_the_whole);
	tcase_add_test(tc, sha256_side_by_side_is_sha256_of_each);
	tcase_add_test(tc, utf8_is_read_strictly);
	tcase_add_test(tc, hex_goes_both_ways_and_refuses_the_rest);
	tcase_add_test(tc, ids_are_32_hex_digits_and_differ);
	tcase_add_test(tc, timestamps_agree_with_the_c_library);
	tcase_add_test(tc, a_deadline_counts_down_to_zero);
	tcase_add_test(tc, a_timeout_of_any_size_is_a_deadline);
	tcase_add_test(tc,
		       secrets_compare_by_content_and_absent_ones_never_match);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
