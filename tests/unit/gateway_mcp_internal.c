/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * MCP over HTTP: rows of tests/data/gateway-mcp.jsonl {id, head, body?, out}:
 * `head` are the lines behind the request line's method and target, `out` the
 * reason, or for what is let through "post sessions", "post stateless",
 * "post greeting", "get" or "delete".
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "mcp_http.h"
#include "net_rows.h"

#define ORIGIN "http://gateway:8080"

static const char *judge(const char *head_text, size_t n, const json_t *body)
{
	char *text = body ? json_dumps(body, JSON_ENCODE_ANY) : NULL;
	const char *raw = body && json_is_string(body) ?
				  json_string_value(body) : text;
	enum ab_mcp_http_reason reason;
	enum ab_http_reason no_head;
	json_t *value = NULL;
	ab_http_head head;
	ab_mcp_http h;

	ab_http_head_init(&head, AB_HTTP_REQUEST);
	no_head = ab_http_head_read(&head, head_text, n);
	if (no_head != AB_HTTP_OK) {
		free(text);
		return ab_http_reason_name(no_head);
	}
	reason = ab_mcp_http_head(&head, head_text, ORIGIN, &h);
	if (reason == AB_MCP_HTTP_OK && h.verb == AB_MCP_HTTP_POST) {
		ck_assert_ptr_nonnull(raw);
		reason = ab_mcp_http_body(&h, head_text, raw, strlen(raw),
					  &value);
		ck_assert_int_eq(reason == AB_MCP_HTTP_OK, value != NULL);
	}
	json_decref(value);
	free(text);
	if (reason != AB_MCP_HTTP_OK) {
		ck_assert_uint_ge(ab_mcp_http_reason_status(reason), 400);
		return ab_mcp_http_reason_name(reason);
	}
	if (h.verb != AB_MCP_HTTP_POST)
		return h.verb == AB_MCP_HTTP_GET ? "get" : "delete";
	return h.is_greeting ? "post greeting" :
	       h.family == AB_MCP_STATELESS ? "post stateless" :
	       h.family == AB_MCP_SESSIONS ? "post sessions" : "nothing";
}

static void http_row(const json_t *row, const char *id)
{
	const json_t *body = json_object_get(row, "body");
	size_t n;
	char *head = net_take(row, "head", &n);
	char *text = calloc(1, n + 1);
	const char *got;

	ck_assert_ptr_nonnull(text);
	memcpy(text, head, n);
	got = judge(text, n, body);
	ck_assert_msg(strcmp(got, net_text(row, "out")) == 0, "%s: %s, not %s",
		      id, got, net_text(row, "out"));
	free(text);
	free(head);
}

START_TEST(heads_and_bodies_are_judged_as_the_rows_say)
{
	net_each_row("gateway-mcp.jsonl", 60, http_row);
}
END_TEST

START_TEST(what_was_not_judged_is_not_let_through)
{
	static const ab_mcp_http zero;
	ab_mcp_http h = zero;
	json_t *value = NULL;

	ck_assert_int_eq(ab_mcp_http_body(&h, "", "{}", 2, &value),
			 AB_MCP_HTTP_UNJUDGED);
	ck_assert_ptr_null(value);
	ck_assert_int_ne(AB_MCP_HTTP_UNJUDGED, AB_MCP_HTTP_OK);
	for (int i = 0; i < AB_MCP_HTTP_REASON_COUNT; i++)
		ck_assert_ptr_nonnull(ab_mcp_http_reason_name(
			(enum ab_mcp_http_reason)i));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gateway_mcp");
	TCase *t = tcase_create("gateway_mcp");
	SRunner *r = srunner_create(s);
	int bad;

	tcase_set_timeout(t, 60 * ab_test_slowness());
	tcase_add_test(t, heads_and_bodies_are_judged_as_the_rows_say);
	tcase_add_test(t, what_was_not_judged_is_not_let_through);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	bad = srunner_ntests_failed(r);
	srunner_free(r);
	return bad ? 1 : 0;
}
