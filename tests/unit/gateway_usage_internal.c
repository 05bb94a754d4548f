/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What answers of model APIs say of tokens: each cut at every byte. */
#include "config.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "base/attr.h"
#include "usage.h"

enum told { NO, AT_END, YES };

#define EVENT(data) "data: " data "\n\n"

static const struct {
	const char *body;
	uint64_t tokens;
	uint8_t told; /* AT_END: once all of it has come */
} rows[] = {
	/* OpenAI: chat, streamed with and without, responses */
	{ "{\"id\":\"c\",\"choices\":[{\"message\":{\"content\":\"hi\"}}],"
	  "\"usage\":{\"prompt_tokens\":19,\"completion_tokens\":10,"
	  "\"total_tokens\":29,\"prompt_tokens_details\":{\"cached_tokens\":"
	  "7}}}", 29, AT_END },
	{ EVENT("{\"choices\":[{\"delta\":{\"content\":\"hi\"}}],\"usage\":"
		"null}")
	  EVENT("{\"choices\":[],\"usage\":{\"prompt_tokens\":5,"
		"\"completion_tokens\":6,\"total_tokens\":11}}")
	  EVENT("[DONE]"), 11, YES },
	{ EVENT("{\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}")
	  EVENT("[DONE]"), 0, NO },
	{ "event: response.created\n"
	  EVENT("{\"type\":\"response.created\",\"response\":{\"id\":\"r\","
		"\"usage\":null}}")
	  "event: response.completed\n"
	  EVENT("{\"type\":\"response.completed\",\"response\":{\"output\":"
		"[{\"usage\":{\"total_tokens\":1}}],\"usage\":{"
		"\"input_tokens\":37,\"input_tokens_details\":{"
		"\"cached_tokens\":3},\"output_tokens\":11,"
		"\"total_tokens\":48}}}"), 48, YES },
	{ "{\"object\":\"response\",\"status\":\"queued\",\"usage\":null}", 0,
	  NO },
	/* Anthropic: caches are told beside the rest; what comes last counts */
	{ "{\"content\":[{\"type\":\"tool_use\",\"input\":{\"usage\":{"
	  "\"input_tokens\":1000000}}}],\"usage\":{\"input_tokens\":10,"
	  "\"cache_creation_input_tokens\":100,\"cache_read_input_tokens\":"
	  "1000,\"output_tokens\":5,\"cache_creation\":{"
	  "\"ephemeral_5m_input_tokens\":100}}}", 1115, AT_END },
	{ "event: message_start\r\n"
	  "data: {\"type\":\"message_start\",\"message\":{\"usage\":{"
	  "\"input_tokens\":25,\"output_tokens\":1}}}\r\n\r\n"
	  "event: ping\r\ndata: {\"type\": \"ping\"}\r\n\r\n"
	  "event: message_delta\r\n"
	  "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
	  "\"end_turn\"},\"usage\":{\"output_tokens\":15}}\r\n\r\n"
	  "event: message_stop\r\n"
	  "data: {\"type\":\"message_stop\"}\r\n\r\n", 40, YES },
	{ EVENT("{\"type\":\"message_start\",\"message\":{\"usage\":{"
		"\"input_tokens\":25,\"output_tokens\":1}}}"), 26, AT_END },
	/* Gemini: as a list, as events, alone */
	{ "[{\"candidates\":[{\"content\":{}}],\"usageMetadata\":{"
	  "\"promptTokenCount\":4,\"totalTokenCount\":4}}\n,\n"
	  "{\"candidates\":[],\"usageMetadata\":{\"promptTokenCount\":4,"
	  "\"candidatesTokenCount\":9,\"thoughtsTokenCount\":20,"
	  "\"toolUsePromptTokenCount\":2,\"totalTokenCount\":35}}]", 35,
	  AT_END },
	{ EVENT("{\"usageMetadata\": {\"promptTokenCount\": 4,"
		"\"totalTokenCount\": 9}}")
	  EVENT("{\"usageMetadata\": {\"promptTokenCount\": 4,"
		"\"totalTokenCount\": 12}}"), 12, AT_END },
	{ EVENT("{\"x_groq\":{\"usage\":{\"total_tokens\":8}}}"), 8, AT_END },
	/* only what was asked for: a part says nothing of the rest */
	{ "{\"usageMetadata\":{\"promptTokenCount\":4}}", 4, NO },
	{ "{\"candidates\":[],\"usageMetadata\":{\"promptTokenCount\":4,"
	  "\"candidatesTokenCount\":9,\"thoughtsTokenCount\":2}}", 15, NO },
	/* lines: comments, CR alone, no space, more than one of an event */
	{ ": waiting\n\ndata:{\"usage\":\ndata: {\"total_tokens\":\ndata: 7}}"
	  "\n\n", 7, AT_END },
	{ "data: {\"usage\":{\"total_tokens\":7}}\r\rdata: [DONE]\r\r", 7,
	  YES },
	{ "\xef\xbb\xbf" EVENT("{\"usage\":{\"total_tokens\":7}}"), 7,
	  AT_END },
	/* cut off, and the next event begins anew */
	{ EVENT("{\"a\":[{\"b\":\"") EVENT("{\"usage\":{\"total_tokens\":7}}"),
	  7, AT_END },
	/* what no API writes there tells nothing */
	{ "{\"choices\":[{\"usage\":{\"total_tokens\":5}}]}", 0, NO },
	{ "{\"message\":[{\"usage\":{\"total_tokens\":5}}]}", 0, NO },
	{ "{\"message\":{\"content\":{\"usage\":{\"total_tokens\":5}}}}", 0,
	  NO },
	{ "{\"a\":\"\\\"usage\\\":{\\\"total_tokens\\\":5}\"}", 0, NO },
	{ "{\"a\":\"x\\\\\",\"usage\":{\"total_tokens\":5}}", 5, AT_END },
	{ "{\"other\":{\"usage\":{\"total_tokens\":5}}}", 0, NO },
	{ "{\"us\\u0061ge\":{\"total_tokens\":5}}", 0, NO },
	{ "{\"usage\":{\"details\":{\"total_tokens\":5}}}", 0, NO },
	{ "{\"usage\":[{\"total_tokens\":5}]}", 0, NO },
	{ "{\"usage\":{\"total_tokens\":\"5\"}}", 0, NO },
	{ "{\"usage\":{\"total_tokens\":null}}", 0, NO },
	{ "{\"usage\":5,\"total_tokens\":5}", 0, NO },
	{ "{\"input_tokens\":12}", 0, NO },
	{ "[\"usage\",{\"total_tokens\":5}]", 0, NO },
	{ "f({\"usage\":{\"total_tokens\":5}})", 0, NO },
	{ "\x1f\x8b\x08{\"usage\":{\"total_tokens\":5}}", 0, NO },
	{ "usage: {\"usage\":{\"total_tokens\":5}}\n\n", 0, NO },
	{ "", 0, NO },
	/* what is no count spoils all */
	{ "{\"usage\":{\"total_tokens\":5,\"prompt_tokens\":-1}}", 5, NO },
	{ "{\"usage\":{\"total_tokens\":5,\"prompt_tokens\":1e9}}", 5, NO },
	{ "{\"usage\":{\"total_tokens\":5,\"prompt_tokens\":1.5}}", 5, NO },
	{ "{\"usage\":{\"total_tokens\":5,\"prompt_tokens\":1\"x\"}}", 5, NO },
	{ "{\"usage\":{\"total_tokens\":5,\"prompt_tokens\":1{}}}", 5, NO },
	{ "{\"usage\":{\"total_tokens\":5,\"prompt_tokens\":1[]}}", 5, NO },
	/* depths that go below nothing, and text without an end */
	{ "{}}}}]]}]{\"usage\":{\"total_tokens\":5}}", 5, AT_END },
	{ "{\"usage\":{\"total_tokens\" : 5 }", 5, AT_END },
};

static void check_row(size_t i, size_t cut)
{
	const char *body = rows[i].body;
	size_t n = strlen(body);
	uint64_t tokens;
	ab_usage u = { 0 };

	ab_usage_read(&u, body, cut);
	ab_usage_read(&u, body + cut, n - cut);
	ck_assert_msg(ab_usage_told(&u, true, &tokens) == (rows[i].told != NO),
		      "row %zu at %zu", i, cut);
	if (rows[i].told != NO)
		ck_assert_msg(tokens == rows[i].tokens,
			      "row %zu at %zu: %" PRIu64, i, cut, tokens);
	ck_assert_msg(ab_usage_told(&u, false, &tokens) ==
			      (rows[i].told == YES), "row %zu, left", i);
}

START_TEST(what_is_told_does_not_depend_on_pieces)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++)
		for (size_t cut = 0; cut <= strlen(rows[i].body); cut++)
			check_row(i, cut);
}
END_TEST

/* Left at any byte before the last word: nothing final has been said. */
START_TEST(who_leaves_early_has_been_told_nothing_final)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		const char *last = strstr(rows[i].body, "[DONE]");
		uint64_t tokens;
		ab_usage u = { 0 };

		if (!last)
			last = strstr(rows[i].body, "{\"type\":\"message_stop");
		if (!last)
			continue;
		ab_usage_read(&u, rows[i].body,
			      (size_t)(last - rows[i].body));
		ck_assert_msg(!ab_usage_told(&u, false, &tokens),
			      "row %zu", i);
	}
}
END_TEST

START_TEST(numbers_and_depths_have_an_end)
{
	static const char many[] = "99999999999999999999999999999999";
	char deep[4096];
	uint64_t tokens;
	ab_usage u = { 0 };

	ab_usage_read(&u, "{\"usage\":{\"total_tokens\":", 25);
	ab_usage_read(&u, many, sizeof(many) - 1);
	ab_usage_read(&u, "}}", 2);
	ck_assert(ab_usage_told(&u, true, &tokens));
	ck_assert_uint_ge(tokens, UINT64_C(1) << 40);
	ck_assert_uint_lt(tokens, UINT64_C(1) << 44);

	u = (ab_usage){ 0 };
	memset(deep, '[', sizeof(deep));
	for (int i = 0; i < 64; i++)
		ab_usage_read(&u, deep, sizeof(deep));
	memset(deep, '}', sizeof(deep));
	for (int i = 0; i < 128; i++)
		ab_usage_read(&u, deep, sizeof(deep));
	ab_usage_read(&u, "{\"usage\":{\"total_tokens\":5}}", 28);
	ck_assert(ab_usage_told(&u, true, &tokens) && tokens == 5);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gateway_usage");
	TCase *tc = tcase_create("gateway_usage");
	SRunner *sr;
	int bad;

	tcase_set_timeout(tc, 60 * ab_test_slowness());
	tcase_add_test(tc, what_is_told_does_not_depend_on_pieces);
	tcase_add_test(tc, who_leaves_early_has_been_told_nothing_final);
	tcase_add_test(tc, numbers_and_depths_have_an_end);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	bad = srunner_ntests_failed(sr);
	srunner_free(sr);
	return bad ? 1 : 0;
}
