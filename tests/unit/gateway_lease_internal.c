/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Leases while time goes on, stands still and jumps: the loop's clock is a
 * number of the test's. Rows say what is done when, and what is left then.
 * Gateway case 145.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abtest.h"
#include "lease.h"

#define MS UINT64_C(1000000)
#define MOST 12

static ab_loop loop;
static ab_live *live;
static const char *told; /* why the last one ended */

ab_loop *ab_gw_loop(ab_gw *gw)
{
	(void)gw;
	return &loop;
}

ab_live **ab_gw_live(ab_gw *gw)
{
	(void)gw;
	return &live;
}

bool ab_gw_tell(ab_gw *gw, const ab_gw_record *record, bool required)
{
	(void)gw;
	ck_assert_uint_eq(record->kind, AB_GW_CLOSED);
	ck_assert(!required);
	told = record->reason;
	return true;
}

static void setup(void)
{
	ck_assert_int_eq(ab_loop_init(&loop), 0);
	live = NULL;
	told = NULL;
}

static void teardown(void)
{
	ck_assert_ptr_null(live);
	ck_assert_ptr_null(loop.timers);
	ab_loop_end(&loop);
}

enum act { STOP, BEGIN, RENEW, SETTLE, END };

typedef struct step {
	uint64_t at_ms;
	enum act act;
	uint64_t left_ms; /* afterwards; 0: none is in force */
} step;

static const struct {
	const char *id;
	uint64_t ttl_ms, max_ttl_ms;
	step steps[MOST];
} rows[] = {
	{ "its time", 100, 1000,
	  { { 0, BEGIN, 100 }, { 99, SETTLE, 1 }, { 100, SETTLE, 0 } } },
	{ "renewed", 100, 1000,
	  { { 0, BEGIN, 100 }, { 60, RENEW, 100 }, { 100, SETTLE, 60 },
	    { 159, SETTLE, 1 }, { 160, SETTLE, 0 } } },
	{ "renewed at once", 100, 1000,
	  { { 0, BEGIN, 100 }, { 0, RENEW, 100 }, { 0, RENEW, 100 } } },
	{ "no further than its longest", 100, 250,
	  { { 0, BEGIN, 100 }, { 90, RENEW, 100 }, { 180, RENEW, 70 },
	    { 200, RENEW, 50 }, { 249, RENEW, 1 }, { 250, SETTLE, 0 } } },
	{ "its longest is its time", 100, 100,
	  { { 0, BEGIN, 100 }, { 50, RENEW, 50 }, { 100, SETTLE, 0 } } },
	{ "a new value begins anew", 100, 150,
	  { { 0, BEGIN, 100 }, { 90, RENEW, 60 }, { 140, BEGIN, 100 },
	    { 230, RENEW, 60 }, { 290, SETTLE, 0 }, { 300, BEGIN, 100 },
	    { 390, RENEW, 60 } } },
	{ "over is not renewed", 100, 1000,
	  { { 0, BEGIN, 100 }, { 100, SETTLE, 0 }, { 101, RENEW, 0 } } },
	{ "released is not renewed", 100, 1000,
	  { { 0, BEGIN, 100 }, { 10, END, 0 }, { 11, RENEW, 0 },
	    { 12, END, 0 }, { 13, SETTLE, 0 } } },
	{ "none is not renewed", 100, 1000,
	  { { 0, RENEW, 0 }, { 1, SETTLE, 0 }, { 2, END, 0 } } },
	{ "slept past its end", 100, 1000,
	  { { 0, BEGIN, 100 }, { 7200000, SETTLE, 0 },
	    { 7200000, RENEW, 0 } } },
	{ "slept past its longest", 100, 1000,
	  { { 0, BEGIN, 100 }, { 90, RENEW, 100 }, { 1000, SETTLE, 0 } } },
	{ "slept, but not so long", 1000, 5000,
	  { { 0, BEGIN, 1000 }, { 999, RENEW, 1000 }, { 1998, RENEW, 1000 },
	    { 4500, SETTLE, 0 } } },
	{ "a clock that stands", 100, 200,
	  { { 50, BEGIN, 100 }, { 50, SETTLE, 100 }, { 50, RENEW, 100 },
	    { 50, RENEW, 100 } } },
	{ "longer than there is time", UINT64_MAX / 2, UINT64_MAX,
	  { { 0, BEGIN, UINT64_MAX }, { 1000, RENEW, UINT64_MAX },
	    { 9000000, SETTLE, UINT64_MAX } } },
	{ "its longest alone overflows", 100, UINT64_MAX,
	  { { 0, BEGIN, 100 }, { 50, RENEW, 100 }, { 150, SETTLE, 0 } } },
};

static void do_step(ab_lease *lease, uint64_t begin, const step *s)
{
	loop.now = begin + s->at_ms * MS;
	switch (s->act) {
	case BEGIN:
		ab_lease_begin(lease);
		break;
	case RENEW:
		ab_lease_renew(lease);
		break;
	case SETTLE:
		ab_lease_settle(lease);
		break;
	case END:
		ab_lease_end(lease, "released");
		break;
	case STOP:
		break;
	}
}

/* No end is known: more than a hundred years. */
static bool is_endless(uint64_t left_ms)
{
	return left_ms > UINT64_C(100) * 365 * 86400 * 1000;
}

START_TEST(a_lease_has_the_time_that_the_rows_say)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const ab_wire_secret secret = {
			.name = "gh", .ttl_ms = rows[i].ttl_ms,
			.max_ttl_ms = rows[i].max_ttl_ms };
		ab_lease lease = { .secret = &secret, .way = AB_BROKER_MEMFD,
				   .file_fd = -1 };
		uint64_t begin = loop.now;

		for (const step *s = rows[i].steps; s->act != STOP; s++) {
			uint64_t left;

			do_step(&lease, begin, s);
			left = ab_lease_left_ms(&lease);
			ck_assert_msg(left == s->left_ms ||
					      (s->left_ms == UINT64_MAX &&
					       is_endless(left)),
				      "%s, at %ju: %ju", rows[i].id,
				      (uintmax_t)s->at_ms, (uintmax_t)left);
			ck_assert_msg(ab_lease_is_live(&lease) ==
					      (s->left_ms != 0),
				      "%s, at %ju", rows[i].id,
				      (uintmax_t)s->at_ms);
			/* who asks for nothing hears of it in time, too */
			ck_assert_uint_eq(lease.timer.at, lease.ends_ns);
			ck_assert_int_eq(live != NULL, s->left_ms != 0);
		}
		ab_lease_end(&lease, "ended");
		loop.now = begin;
	}
}
END_TEST

START_TEST(a_file_is_emptied_whatever_ends_its_lease)
{
	static const char value[] = "0123456789";
	const ab_wire_secret secret = { .name = "gh", .ttl_ms = 100,
					.max_ttl_ms = 1000 };
	ab_lease lease = { .secret = &secret, .way = AB_BROKER_FILE,
			   .file_fd = memfd_create("lease", MFD_CLOEXEC) };
	uint64_t begin = loop.now;
	static const step ends[] = {
		{ 5000, SETTLE, 0 }, { 10, END, 0 },
	};
	static const char *const why[] = { "expired", "released" };
	struct stat st;

	ck_assert_int_ge(lease.file_fd, 0);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		loop.now = begin;
		ck_assert_int_eq(ab_lease_fill(&lease, value, sizeof(value)),
				 0);
		ab_lease_begin(&lease);
		do_step(&lease, begin, &(step){ 50, RENEW, 0 });
		ck_assert_int_eq(fstat(lease.file_fd, &st), 0);
		ck_assert_int_eq(st.st_size, sizeof(value));
		told = NULL;
		do_step(&lease, begin, &ends[i]);
		ck_assert_str_eq(told, why[i]);
		ck_assert_int_eq(fstat(lease.file_fd, &st), 0);
		ck_assert_int_eq(st.st_size, 0);
	}
	close(lease.file_fd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lease");
	SRunner *r = srunner_create(s);
	TCase *t = tcase_create("lease");
	int failed;

	tcase_add_checked_fixture(t, ab_leak_setup, ab_leak_teardown);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_lease_has_the_time_that_the_rows_say);
	tcase_add_test(t, a_file_is_emptied_whatever_ends_its_lease);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
