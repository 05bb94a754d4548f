/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The frames of the broker's socket, byte by byte, and which secrets of a
 * policy it is told of. Gateway cases 140, 141.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "agentbox/policy.h"
#include "base/error.h"
#include "policy/secrets.h"
#include "wire/broker.h"

static const char key[] = "0123456789abcdef0123456789abcdef"
			  "0123456789abcdef0123456789abcdef";

static size_t put_ask(uint8_t *memory, size_t size, uint32_t verb,
		      const char *name)
{
	const ab_broker_ask q = { .key = key, .verb = verb, .name = name,
				  .user = "me" };
	ab_writer w;

	ab_writer_init_fixed(&w, memory, size);
	ab_broker_ask_put(&w, &q);
	ck_assert(!w.bad);
	return w.len;
}

static int get_ask(const uint8_t *p, size_t n, ab_broker_ask *q)
{
	ab_reader r;

	ab_reader_init(&r, p, n);
	(void)ab_get_u32(&r);
	(void)ab_get_u32(&r);
	return ab_broker_ask_get(&r, q);
}

START_TEST(a_question_is_read_whole_or_not_at_all)
{
	uint8_t memory[AB_BROKER_MAX_ASK];
	size_t n = put_ask(memory, sizeof(memory), AB_BROKER_GET, "gh");
	ab_broker_ask q;

	ck_assert_int_eq(get_ask(memory, n, &q), 0);
	ck_assert_str_eq(q.name, "gh");
	ck_assert_mem_eq(q.key, key, AB_BROKER_KEY_LEN);
	for (size_t cut = 8; cut < n; cut++)
		ck_assert_int_eq(get_ask(memory, cut, &q), -EPROTO);
	memory[n] = 0;
	ck_assert_int_eq(get_ask(memory, n + 1, &q), -EPROTO);
}
END_TEST

START_TEST(a_name_is_exact_and_leads_nowhere)
{
	static const char *const bad[] = {
		"", ".", "..", "../x", "a/b", "a.b", "-a", "a b", "a*", "\xff",
		"a\n",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	};
	uint8_t memory[AB_BROKER_MAX_ASK];
	ab_broker_ask q;

	ck_assert(ab_broker_name_ok("gh"));
	ck_assert(ab_broker_name_ok("_A-9"));
	for (size_t i = 0; i < AB_ARRAY_LEN(bad); i++) {
		ck_assert_msg(!ab_broker_name_ok(bad[i]), "%s", bad[i]);
		for (uint32_t v = AB_BROKER_GET; v < AB_BROKER_LIST; v++)
			ck_assert_int_eq(get_ask(memory,
						 put_ask(memory,
							 sizeof(memory), v,
							 bad[i]), &q),
					 -EPROTO);
	}
	ck_assert_int_eq(get_ask(memory, put_ask(memory, sizeof(memory),
						 AB_BROKER_LIST, "gh"), &q),
			 -EPROTO);
	ck_assert_int_eq(get_ask(memory, put_ask(memory, sizeof(memory),
						 AB_BROKER_LIST, ""), &q), 0);
	ck_assert_int_eq(get_ask(memory, put_ask(memory, sizeof(memory), 0,
						 "gh"), &q), -EPROTO);
	ck_assert_int_eq(get_ask(memory, put_ask(memory, sizeof(memory),
						 AB_BROKER_VERB_COUNT, "gh"),
				 &q), -EPROTO);
}
END_TEST

START_TEST(a_question_of_git_names_a_host_and_a_user)
{
	char host[AB_BROKER_MAX_HOST + 2], user[AB_BROKER_MAX_USER + 2];
	ab_broker_ask q = { .key = key, .verb = AB_BROKER_GET_GIT,
			    .name = host, .user = user };
	uint8_t memory[AB_BROKER_MAX_ASK];
	ab_writer w;
	size_t n;

	n = put_ask(memory, sizeof(memory), AB_BROKER_GET_GIT, "a.test:443");
	ck_assert_int_eq(get_ask(memory, n, &q), 0);
	ck_assert_str_eq(q.name, "a.test:443");
	ck_assert_str_eq(q.user, "me");
	for (size_t cut = 8; cut < n; cut++)
		ck_assert_int_eq(get_ask(memory, cut, &q), -EPROTO);
	n = put_ask(memory, sizeof(memory), AB_BROKER_GET_GIT, "");
	ck_assert_int_eq(get_ask(memory, n, &q), -EPROTO);
	/* the longest of both, and one more of each */
	for (size_t more = 0; more < 4; more++) {
		q = (ab_broker_ask){ .key = key, .verb = AB_BROKER_GET_GIT,
				     .name = host, .user = user };
		memset(host, 'h', sizeof(host));
		memset(user, 'u', sizeof(user));
		host[AB_BROKER_MAX_HOST + (more & 1)] = '\0';
		user[AB_BROKER_MAX_USER + (more >> 1)] = '\0';
		ab_writer_init_fixed(&w, memory, sizeof(memory));
		ab_broker_ask_put(&w, &q);
		ck_assert(!w.bad);
		ck_assert_int_eq(get_ask(memory, w.len, &q),
				 more ? -EPROTO : 0);
	}
}
END_TEST

/* The longest list there can be fits an answer. */
START_TEST(an_answer_has_room_for_every_secret)
{
	char name[AB_BROKER_MAX_NAME + 1], user[AB_BROKER_MAX_USER + 1];
	uint8_t memory[AB_BROKER_MAX_ANSWER];
	ab_broker_answer m = { .row_count = AB_BROKER_MAX_SECRETS,
			       .user = user }, got;
	ab_reader r;
	ab_writer w;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memset(user, 'x', sizeof(user) - 1);
	user[sizeof(user) - 1] = '\0';
	for (size_t i = 0; i < AB_BROKER_MAX_SECRETS; i++)
		m.rows[i] = (ab_broker_row){ name, AB_BROKER_WAYS, UINT64_MAX,
					     { 1, 2, 3 } };
	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_broker_answer_put(&w, &m, 0);
	ck_assert(!w.bad);
	ab_reader_init(&r, w.data + 8, w.len - 8);
	ck_assert_int_eq(ab_broker_answer_get(&r, &got), 0);
	ck_assert_uint_eq(got.row_count, AB_BROKER_MAX_SECRETS);
	ck_assert_str_eq(got.rows[31].name, name);
	ck_assert_uint_eq(got.rows[31].left_ms[
		ab_broker_way_index(AB_BROKER_FILE)], 2);
	ck_assert_str_eq(got.user, user);
}
END_TEST

static agentbox_policy *parse(const char *secrets)
{
	char text[4096];
	agentbox_context *context = NULL;
	agentbox_policy *policy = NULL;
	agentbox_error *err = NULL;

	snprintf(text, sizeof(text), "{\"agentbox\":1,\"extends\":"
		 "\"builtin:workspace\",\"network\":{\"mode\":\"gateway\"},"
		 "\"secrets\":[%s]}", secrets);
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	ck_assert_msg(agentbox_policy_parse(context, text, strlen(text),
					    &policy, &err) == 0, "%s",
		      agentbox_error_get_message(err));
	agentbox_context_unref(context);
	return policy;
}

START_TEST(only_what_is_listed_is_delivered)
{
	agentbox_policy *p = parse(
		"{\"name\":\"a\"},{\"name\":\"b\",\"delivery\":[\"inject\"]},"
		"{\"name\":\"c\",\"delivery\":[]},"
		"{\"name\":\"d\",\"delivery\":[\"memfd\",\"inject\"]},"
		"{\"name\":\"e\",\"delivery\":[\"file\"],\"ttl\":\"90s\","
		"\"euids\":[]},"
		"{\"name\":\"f\",\"delivery\":[\"memfd\",\"file\"],"
		"\"euids\":[7,1000]}");
	ab_wire_broker b;

	ck_assert_int_eq(ab_policy_broker_init(p, &b, NULL), 0);
	ck_assert_uint_eq(b.count, 3);
	ck_assert_uint_eq(ab_wire_broker_files(&b), 2);
	ck_assert_str_eq(b.items[0].name, "d");
	ck_assert_uint_eq(b.items[0].ways, AB_BROKER_MEMFD);
	ck_assert_uint_eq(b.items[0].ttl_ms, AB_BROKER_DEFAULT_TTL_MS);
	ck_assert(!b.items[0].has_euids);
	ck_assert_uint_eq(b.items[1].ways, AB_BROKER_FILE);
	ck_assert_uint_eq(b.items[1].ttl_ms, 90000);
	/* empty means nobody */
	ck_assert(b.items[1].has_euids && b.items[1].euid_count == 0);
	ck_assert_uint_eq(b.items[2].ways, AB_BROKER_MEMFD | AB_BROKER_FILE);
	ck_assert_uint_eq(b.items[2].euid_count, 2);
	ab_wire_broker_end(&b);
	agentbox_policy_unref(p);
}
END_TEST

START_TEST(no_lease_is_longer_than_the_longest)
{
	static const struct {
		const char *times;
		uint64_t ttl_ms, max_ttl_ms;
	} rows[] = {
		{ "", 15 * 60000, 24 * 3600000 },
		{ ",\"ttl\":\"2h\"", 2 * 3600000, 24 * 3600000 },
		{ ",\"ttl\":\"36h\"", 36 * 3600000, 36 * 3600000 },
		{ ",\"max_ttl\":\"1h\"", 15 * 60000, 3600000 },
		{ ",\"max_ttl\":\"1m\"", 60000, 60000 },
		{ ",\"ttl\":\"2h\",\"max_ttl\":\"1h\"", 3600000, 3600000 },
		{ ",\"ttl\":\"2h\",\"max_ttl\":\"48h\"", 2 * 3600000,
		  48 * 3600000 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		ab_wire_broker b = { 0 };
		char text[128];
		agentbox_policy *p;

		snprintf(text, sizeof(text), "{\"name\":\"a\",\"delivery\":"
			 "[\"file\"]%s}", rows[i].times);
		p = parse(text);
		ck_assert_int_eq(ab_policy_broker_init(p, &b, NULL), 0);
		ck_assert_uint_eq(b.items[0].ttl_ms, rows[i].ttl_ms);
		ck_assert_uint_eq(b.items[0].max_ttl_ms, rows[i].max_ttl_ms);
		ab_wire_broker_end(&b);
		agentbox_policy_unref(p);
	}
}
END_TEST

START_TEST(hosts_and_a_user_come_along_for_git_alone)
{
	agentbox_policy *p = parse(
		"{\"name\":\"a\",\"delivery\":[\"git\"],\"hosts\":"
		"[\"b.test\",\"*.a.test:443\"],\"user\":\"bot\"},"
		"{\"name\":\"b\",\"delivery\":[\"git\"],\"hosts\":[]},"
		"{\"name\":\"c\",\"delivery\":[\"memfd\"],\"hosts\":"
		"[\"b.test\"],\"user\":\"bot\"}");
	ab_wire_broker b;

	ck_assert_int_eq(ab_policy_broker_init(p, &b, NULL), 0);
	ck_assert_uint_eq(b.count, 3);
	ck_assert_uint_eq(b.items[0].ways, AB_BROKER_GIT);
	ck_assert_uint_eq(b.items[0].host_count, 2);
	ck_assert_str_eq(b.items[0].user, "bot");
	ck_assert_uint_eq(b.items[1].host_count, 0);
	ck_assert_str_eq(b.items[1].user, "");
	ck_assert_uint_eq(b.items[2].host_count, 0);
	ck_assert_str_eq(b.items[2].user, "");
	ab_wire_broker_end(&b);
	agentbox_policy_unref(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("broker");
	SRunner *r = srunner_create(s);
	TCase *t = tcase_create("broker");
	int failed;

	tcase_add_checked_fixture(t, ab_leak_setup, ab_leak_teardown);
	tcase_add_test(t, a_question_is_read_whole_or_not_at_all);
	tcase_add_test(t, a_name_is_exact_and_leads_nowhere);
	tcase_add_test(t, a_question_of_git_names_a_host_and_a_user);
	tcase_add_test(t, an_answer_has_room_for_every_secret);
	tcase_add_test(t, only_what_is_listed_is_delivered);
	tcase_add_test(t, no_lease_is_longer_than_the_longest);
	tcase_add_test(t, hosts_and_a_user_come_along_for_git_alone);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
