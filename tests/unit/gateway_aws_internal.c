/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a host has as credentials of AWS, and what an SDK is told of it: a
 * table of both, cut everywhere, and the longest there is.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "aws_value.h"
#include "base/attr.h"

/* 2023-11-14T22:13:20Z, and a quarter of an hour later */
#define NOW UINT64_C(1700000000000000000)
#define UNTIL (NOW + UINT64_C(900000000000))
#define END "2023-11-14T22:28:20Z"

#define IN(more) "{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"s\"" more "}"
#define AT(when) IN(",\"Expiration\":\"" when "\"")
#define OUT(token, end, more) \
	"{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"s\",\"Token\":\"" token \
	"\",\"Expiration\":\"" end "\"" more "}"

static const char EXPIRED[] = "expired";

static const struct {
	const char *in, *out; /* NULL: refused; EXPIRED: for its time */
} rows[] = {
	{ IN(""), OUT("", END, "") },
	{ IN(",\"SessionToken\":\"t/+=\""), OUT("t/+=", END, "") },
	{ IN(",\"Token\":\"t\""), OUT("t", END, "") },
	{ IN(",\"Version\":1,\"AccountId\":\"12\""),
	  OUT("", END, ",\"AccountId\":\"12\"") },
	{ IN(",\"RoleArn\":\"arn:x\",\"LastUpdated\":\"?\",\"n\":0"),
	  OUT("", END, "") },
	{ " \t\r\n{ \"SecretAccessKey\" : \"s\" ,\n\"AccessKeyId\":\"A\" } \n",
	  OUT("", END, "") },
	/* the earlier end, of one second at least */
	{ AT("2023-11-14T22:20:00Z"), OUT("", "2023-11-14T22:20:00Z", "") },
	{ AT("2023-11-14T22:20:00.999Z"),
	  OUT("", "2023-11-14T22:20:00Z", "") },
	{ AT("2023-11-14T22:20:00+00:00"),
	  OUT("", "2023-11-14T22:20:00Z", "") },
	{ AT("2023-11-14T22:13:21Z"), OUT("", "2023-11-14T22:13:21Z", "") },
	{ AT("2030-01-01T00:00:00Z"), OUT("", END, "") },
	{ AT("2023-11-14T22:13:20Z"), EXPIRED },
	{ AT("1999-12-31T23:59:59Z"), EXPIRED },
	{ AT("2030-01-01T00:00:00"), NULL },
	{ AT("2030-01-01T00:00:00+01:00"), NULL },
	{ AT("2030-01-01T00:00:00-00:30"), NULL },
	{ AT("2030-01-01T00:00:00.5"), NULL },
	{ AT("2030-01-01T00:00:00.5x"), NULL },
	{ AT("2030-01-01 00:00:00Z"), NULL },
	{ AT("2030-01-01T00:00Z"), NULL },
	{ AT("20300101T000000Z"), NULL },
	{ AT("tomorrow"), NULL },
	{ AT(""), NULL },
	{ IN(",\"Expiration\":1700000999"), NULL },
	/* what is missing, empty, twice or hides something */
	{ "", NULL },
	{ "{}", NULL },
	{ "[]", NULL },
	{ "AKIA:secret", NULL },
	{ "{\"AccessKeyId\":\"A\"}", NULL },
	{ "{\"SecretAccessKey\":\"s\"}", NULL },
	{ "{\"AccessKeyId\":\"\",\"SecretAccessKey\":\"s\"}", NULL },
	{ "{\"accesskeyid\":\"A\",\"SecretAccessKey\":\"s\"}", NULL },
	{ "{\"Credentials\":" IN("") "}", NULL },
	{ IN(",\"AccessKeyId\":\"B\""), NULL },
	{ IN(",\"Token\":\"t\",\"SessionToken\":\"t\""), NULL },
	{ IN(",\"Token\":\"a\\\"b\""), NULL },
	{ IN(",\"Token\":\"a\\u0041\""), NULL },
	{ IN(",\"Token\":\"a\nb\""), NULL },
	{ IN(",\"Token\":\"\xc3\xa4\""), NULL },
	{ IN(",\"Token\":\"\x7f\""), NULL },
	{ IN(",\"Token\":null"), NULL },
	{ IN(",\"Token\":1"), NULL },
	{ IN(",\"x\":null"), NULL },
	{ IN(",\"x\":true"), NULL },
	{ IN(",\"x\":{}"), NULL },
	{ IN(",\"x\":[]"), NULL },
	{ IN(",\"x\":-1"), NULL },
	{ IN(",\"x\":1.5"), NULL },
	{ IN(",\"x\":"), NULL },
	{ IN(",\"x\""), NULL },
	{ IN(","), NULL },
	{ IN(",,\"x\":1"), NULL },
	{ IN(",x:1"), NULL },
	{ IN("") ",", NULL },
	{ IN("") IN(""), NULL },
	{ IN("") "x", NULL },
	{ "\xef\xbb\xbf" IN(""), NULL },
};

START_TEST(an_sdk_is_told_what_the_host_has_and_nothing_more)
{
	static char out[AB_AWS_ANSWER_MAX];

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		size_t n = strlen(rows[i].in);
		ssize_t got = ab_aws_answer(rows[i].in, n, NOW, UNTIL, out);

		if (!rows[i].out || rows[i].out == EXPIRED) {
			ck_assert_msg(got == (rows[i].out ? -ESTALE : -EINVAL),
				      "%s", rows[i].in);
			continue;
		}
		ck_assert_msg(got == (ssize_t)strlen(rows[i].out) &&
				      strcmp(out, rows[i].out) == 0,
			      "%s: %zd %s", rows[i].in, got, out);
		/* all of it, or what is behind it is a space */
		for (size_t cut = 0; cut < n; cut++)
			if (!strchr("} \n", rows[i].in[cut]))
				ck_assert_int_eq(ab_aws_answer(
					rows[i].in, cut, NOW, UNTIL, out),
						 -EINVAL);
	}
	ck_assert_int_eq(ab_aws_answer(IN("") "\0", strlen(IN("")) + 1, NOW,
				       UNTIL, out), -EINVAL);
}
END_TEST

START_TEST(the_longest_value_has_room)
{
	static const char head[] = "{\"AccessKeyId\":\"A\","
				   "\"SecretAccessKey\":\"s\","
				   "\"Token\":\"\",\"AccountId\":\"";
	static char in[AB_AWS_VALUE_MAX + 1], out[AB_AWS_ANSWER_MAX];

	memset(in, 'x', sizeof(in));
	memcpy(in, head, sizeof(head) - 1);
	memcpy(in + AB_AWS_VALUE_MAX - 2, "\"} ", 3);
	ck_assert_int_gt(ab_aws_answer(in, AB_AWS_VALUE_MAX, NOW, UNTIL, out),
			 AB_AWS_VALUE_MAX);
	ck_assert_int_eq(ab_aws_answer(in, AB_AWS_VALUE_MAX + 1, NOW, UNTIL,
				       out), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gateway_aws");
	SRunner *r = srunner_create(s);
	TCase *t = tcase_create("gateway_aws");
	int failed;

	tcase_add_checked_fixture(t, ab_leak_setup, ab_leak_teardown);
	tcase_add_test(t, an_sdk_is_told_what_the_host_has_and_nothing_more);
	tcase_add_test(t, the_longest_value_has_room);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
