/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kept connections of forwarded HTTP: what may be kept, for whom, how long. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "abtest.h"
#include "kept.h"
#include "state.h"

static ab_gw gw;
static int far[AB_KEPT_MAX + 2]; /* the other ends */
static size_t far_count;
static const ab_address here = { .family = AB_ADDRESS_IPV4,
				 .bytes = { 10, 0, 0, 1 } };

static void load(const char *private_)
{
	const char *allow = "*";
	const char *both[] = { "10.0.0.0/8", private_ };
	ab_allow_text text = { 0 };
	ab_allow_error bad;

	ab_allow_end(&gw.allow);
	text.list[AB_ALLOW_LIST_ALLOW].items = &allow;
	text.list[AB_ALLOW_LIST_ALLOW].count = 1;
	text.list[AB_ALLOW_LIST_PRIVATE].items = both;
	text.list[AB_ALLOW_LIST_PRIVATE].count = 2;
	ck_assert_int_eq(ab_allow_init(&gw.allow, &text, &bad), 0);
}

static void setup(void)
{
	memset(&gw, 0, sizeof(gw));
	ck_assert_int_eq(ab_loop_init(&gw.loop), 0);
	far_count = 0;
	load("*.test");
}

static void teardown(void)
{
	ab_kept_end_all(&gw);
	ab_loop_end(&gw.loop);
	ab_allow_end(&gw.allow);
	while (far_count)
		close(far[--far_count]);
}

static ab_target target(const char *authority)
{
	ab_target t;

	ck_assert_int_eq(ab_target_authority(authority, strlen(authority), 80,
					     &t), AB_TARGET_OK);
	return t;
}

/* Keeps one for this host; the number of its other end. */
static int put(const char *authority)
{
	ab_upstream_line line = { .address = here, .since_ns = gw.loop.now };
	ab_target t = target(authority);
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
				    ends), 0);
	line.fd = ends[0];
	far[far_count++] = ends[1];
	ab_kept_put(&gw, &t, &line);
	return ends[1];
}

/* Was there one? */
static bool take(const char *authority)
{
	ab_target t = target(authority);
	ab_upstream_line line = ab_kept_take(&gw, &t);

	if (line.fd >= 0)
		close(line.fd);
	return line.fd >= 0;
}

static bool is_open(int far_end)
{
	char c;

	return recv(far_end, &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

START_TEST(one_is_for_its_host_and_port_and_once)
{
	put("a.test:80");
	ck_assert(!take("b.test:80"));
	ck_assert(!take("a.test:81"));
	ck_assert(!take("10.0.0.1:80"));
	ck_assert(take("A.test:80"));
	ck_assert(!take("a.test:80"));
}
END_TEST

START_TEST(new_lists_hold_for_what_is_kept)
{
	int far_end = put("a.test:80");

	load("b.test");
	ck_assert(!take("a.test:80"));
	ck_assert(!is_open(far_end));
	/* nor does it come back with the old ones */
	load("*.test");
	ck_assert(!take("a.test:80"));
}
END_TEST

START_TEST(a_word_or_the_end_makes_it_useless)
{
	ck_assert_int_eq(send(put("a.test:80"), "x", 1, 0), 1);
	ck_assert(!take("a.test:80"));
	ck_assert_int_eq(shutdown(put("a.test:80"), SHUT_WR), 0);
	ck_assert(!take("a.test:80"));
	/* also when nobody asks for it */
	ck_assert_int_eq(send(put("a.test:80"), "x", 1, 0), 1);
	ck_assert_int_eq(ab_loop_turn(&gw.loop), 0);
	ck_assert_uint_eq(gw.kept_count, 0);
	ck_assert(!is_open(far[far_count - 1]));
}
END_TEST

START_TEST(none_lives_longer_than_an_answer_of_names)
{
	int far_end = put("a.test:80");

	gw.loop.now += AB_KEPT_AGE_MS * UINT64_C(1000000);
	ck_assert(!take("a.test:80"));
	ck_assert(!is_open(far_end));
	put("a.test:80");
	gw.loop.now += AB_KEPT_AGE_MS * UINT64_C(1000000) - 1;
	ck_assert(take("a.test:80"));
}
END_TEST

START_TEST(the_oldest_goes_where_there_are_too_many)
{
	int first = put("first.test:80");

	for (int i = 1; i < AB_KEPT_MAX; i++)
		put("a.test:80");
	ck_assert(is_open(first));
	put("last.test:80");
	ck_assert_uint_eq(gw.kept_count, AB_KEPT_MAX);
	ck_assert(!is_open(first));
	ck_assert(take("last.test:80"));
}
END_TEST

START_TEST(revoked_nothing_is_kept)
{
	int far_end = put("a.test:80");

	gw.is_revoked = true;
	ab_kept_end_all(&gw);
	ck_assert(!is_open(far_end));
	ck_assert(!is_open(put("a.test:80")));
	ck_assert_uint_eq(gw.kept_count, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gateway_kept");
	TCase *tc = tcase_create("gateway_kept");
	SRunner *sr;
	int bad;

	tcase_set_timeout(tc, 60 * ab_test_slowness());
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, one_is_for_its_host_and_port_and_once);
	tcase_add_test(tc, new_lists_hold_for_what_is_kept);
	tcase_add_test(tc, a_word_or_the_end_makes_it_useless);
	tcase_add_test(tc, none_lives_longer_than_an_answer_of_names);
	tcase_add_test(tc, the_oldest_goes_where_there_are_too_many);
	tcase_add_test(tc, revoked_nothing_is_kept);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	bad = srunner_ntests_failed(sr);
	srunner_free(sr);
	return bad ? 1 : 0;
}
