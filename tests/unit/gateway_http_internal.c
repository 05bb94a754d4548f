/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * HTTP heads, bodies and paths of the gateway, fed whole, byte by byte and
 * cut everywhere: rows of tests/data/gateway-http.jsonl {id, kind, in, out,
 * writes?}: `kind` is request, response, chunk or path, `out` a summary or
 * the reason, `writes` what is forwarded.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "base/attr.h"
#include "http.h"
#include "http_chunk.h"
#include "http_path.h"
#include "http_write.h"
#include "net_rows.h"

#define ROOM 65536

static const char *const forms[] = { "none", "origin", "absolute", "connect" };
static const char *const bodies[] = { "none", "length", "chunked", "close" };

static int describe_flags(unsigned flags, char *out, size_t size)
{
	return snprintf(out, size, "%s%s%s%s%s",
			flags & AB_HTTP_CLOSE ? " close" : "",
			flags & AB_HTTP_CONTINUE ? " continue" : "",
			flags & AB_HTTP_UPGRADE_WS ? " websocket" : "",
			flags & AB_HTTP_UPGRADE_OTHER ? " other-upgrade" : "",
			flags & AB_HTTP_IS_HEAD ? " head" : "");
}

static void describe(const ab_http_head *h, const char *buf, char *out,
		     size_t size)
{
	char host[AB_TARGET_TEXT_SIZE];
	char body[40];
	int n;

	snprintf(body, sizeof(body), "%s", bodies[h->body]);
	if (h->body == AB_HTTP_BODY_LENGTH)
		snprintf(body, sizeof(body), "%llu",
			 (unsigned long long)h->length);
	ab_target_text(&h->host, 0, host);
	if (h->kind == AB_HTTP_REQUEST)
		n = snprintf(out, size, "%.*s %s %s %.*s %s", h->method.len,
			     buf + h->method.at, forms[h->form], host,
			     h->path.len, buf + h->path.at, body);
	else
		n = snprintf(out, size, "%u %s", h->status, body);
	describe_flags(h->flags, out + n, size - (size_t)n);
}

struct head_case {
	enum ab_http_kind kind;
	ab_http_exchange exchange;
	ab_http_head head; /* of the last run */
};

static void run_head(const char *data, const size_t *ends, size_t pieces,
		     void *ctx, char *out, size_t size)
{
	struct head_case *c = ctx;
	ab_http_exchange exchange = c->exchange;
	enum ab_http_reason reason = AB_HTTP_MORE;

	ab_http_head_init(&c->head, c->kind);
	for (size_t i = 0; i < pieces && reason == AB_HTTP_MORE; i++) {
		/* what is not there yet must not be looked at */
		char *exact = malloc(ends[i] ? ends[i] : 1);

		ck_assert_ptr_nonnull(exact);
		memcpy(exact, data, ends[i]);
		reason = ab_http_head_read(&c->head, exact, ends[i]);
		free(exact);
	}
	if (reason == AB_HTTP_OK && c->kind == AB_HTTP_RESPONSE)
		reason = ab_http_response_judge(&c->head, &exchange);
	if (reason == AB_HTTP_OK)
		describe(&c->head, data, out, size);
	else if (reason == AB_HTTP_AUTHORITY || reason == AB_HTTP_HOST)
		snprintf(out, size, "%s %s", ab_http_reason_name(reason),
			 ab_target_reason_name(c->head.target_reason));
	else
		snprintf(out, size, "%s", ab_http_reason_name(reason));
}

static void check_written(const json_t *row, const char *id,
			  const ab_http_head *head, const char *data)
{
	static const ab_http_extra extra = { "x-api-key", "REAL", 4 };
	ab_http_rewrite rewrite = { .default_port = 80 };
	ab_http_out out = { .size = ROOM };
	size_t want_len;
	char *want;
	bool good;

	if (!json_object_get(row, "writes"))
		return;
	rewrite.strip_credentials = net_flag(row, "route");
	rewrite.upgrade = net_flag(row, "upgrade");
	rewrite.no_chunks = net_flag(row, "no-chunks");
	rewrite.close = net_flag(row, "close");
	rewrite.extras = &extra;
	rewrite.extra_count = rewrite.strip_credentials &&
			      head->kind == AB_HTTP_REQUEST;
	want = net_take(row, "writes", &want_len);
	out.p = malloc(ROOM);
	ck_assert_ptr_nonnull(out.p);
	good = head->kind == AB_HTTP_REQUEST ?
		       ab_http_write_request(&out, head, data, &rewrite) :
		       ab_http_write_response(&out, head, data, &rewrite);
	ck_assert_msg(good, "%s: not written", id);
	ck_assert_msg(out.len == want_len && !memcmp(out.p, want, want_len),
		      "%s: writes %.*s", id, (int)out.len, out.p);
	/* in less room nothing is claimed */
	for (size_t room = 0; room < want_len; room++) {
		ab_http_out small = { .p = out.p, .size = room };

		good = head->kind == AB_HTTP_REQUEST ?
			       ab_http_write_request(&small, head, data,
						     &rewrite) :
			       ab_http_write_response(&small, head, data,
						      &rewrite);
		ck_assert(!good && small.len <= room);
	}
	free(out.p);
	free(want);
}

static void head_row(const json_t *row, const char *id, enum ab_http_kind kind)
{
	struct head_case c = { .kind = kind };
	char out[ROOM];
	size_t n;
	char *data = net_take(row, "in", &n);

	c.exchange.is_head = net_flag(row, "head");
	c.exchange.is_connect = net_flag(row, "connect");
	c.exchange.wants_upgrade = net_flag(row, "upgrade");
	net_all_splits(id, data, n, 200, run_head, &c, out, sizeof(out));
	ck_assert_msg(strcmp(out, net_text(row, "out")) == 0, "%s: %s", id,
		      out);
	if (c.head.reason == AB_HTTP_OK) {
		ck_assert(c.head.len <= n);
		check_written(row, id, &c.head, data);
	}
	free(data);
}

static void run_chunk(const char *data, const size_t *ends, size_t pieces,
		      void *ctx, char *out, size_t size)
{
	enum ab_chunk_reason reason = AB_CHUNK_MORE;
	ab_chunk c = { 0 };
	size_t taken = 0;
	size_t at = 0;
	size_t n = 0;

	(void)ctx;
	for (size_t i = 0; i < pieces; i++) {
		reason = AB_CHUNK_MORE;
		while (taken < ends[i] && reason <= AB_CHUNK_DATA) {
			size_t used;
			size_t len;

			reason = ab_chunk_read(&c, data + taken,
					       ends[i] - taken, &used, &len);
			ck_assert(used <= ends[i] - taken && len <= used);
			taken += used;
			memcpy(out + n, data + taken - len, len);
			n += len;
			at += len;
		}
		if (reason > AB_CHUNK_DATA)
			break;
	}
	if (reason > AB_CHUNK_DONE)
		n = 0;
	else
		ck_assert_uint_eq(at, c.total);
	snprintf(out + n, size - n, "%s%s", n ? "|" : "",
		 ab_chunk_reason_name(reason == AB_CHUNK_DATA ? AB_CHUNK_MORE :
								reason));
	if (reason == AB_CHUNK_DONE)
		snprintf(out + strlen(out), size - strlen(out), " %zu", taken);
}

static void chunk_row(const json_t *row, const char *id)
{
	char out[ROOM];
	size_t n;
	char *data = net_take(row, "in", &n);

	net_all_splits(id, data, n, 300, run_chunk, NULL, out, sizeof(out));
	ck_assert_msg(strcmp(out, net_text(row, "out")) == 0, "%s: %s", id,
		      out);
	free(data);
}

static void path_row(const json_t *row, const char *id)
{
	unsigned flags = net_flag(row, "keep-slash") ? AB_PATH_KEEP_SLASH : 0;
	const char *below = net_text(row, "below");
	char out[ROOM] = "";
	char again[ROOM];
	size_t n;
	size_t len;
	size_t again_len;
	size_t rest;
	char *data = net_take(row, "in", &n);
	enum ab_path_reason reason = ab_http_path(data, n, flags, out,
						       sizeof(out) - 1, &len);

	if (reason != AB_PATH_OK) {
		ck_assert_uint_eq(len, 0);
		snprintf(out, sizeof(out), "%s", ab_path_reason_name(reason));
	} else {
		out[len] = '\0';
		ck_assert_int_eq(ab_http_path(out, len, flags, again,
						   sizeof(again), &again_len),
				 AB_PATH_OK);
		ck_assert(again_len == len && !memcmp(out, again, len));
		ck_assert_int_eq(ab_http_path(data, n, flags, again,
						   len - 1, &again_len),
				 AB_PATH_LONG);
	}
	ck_assert_msg(strcmp(out, net_text(row, "out")) == 0, "%s: %s", id,
		      out);
	if (below && reason == AB_PATH_OK) {
		if (!ab_path_below(out, len, below, &rest))
			ck_assert_msg(!net_text(row, "rest"), "%s: not below",
				      id);
		else
			ck_assert_str_eq(out + rest, net_text(row, "rest"));
	}
	free(data);
}

static void http_row(const json_t *row, const char *id)
{
	const char *kind = net_text(row, "kind");

	if (strcmp(kind, "request") == 0)
		head_row(row, id, AB_HTTP_REQUEST);
	else if (strcmp(kind, "response") == 0)
		head_row(row, id, AB_HTTP_RESPONSE);
	else if (strcmp(kind, "chunk") == 0)
		chunk_row(row, id);
	else
		path_row(row, id);
}

START_TEST(http_is_read_and_written_as_the_rows_say)
{
	net_each_row("gateway-http.jsonl", 200, http_row);
}
END_TEST

START_TEST(seventeen_interim_answers_are_too_many)
{
	static const char text[] = "HTTP/1.1 103 Early Hints\r\n\r\n";
	ab_http_exchange exchange = { 0 };

	for (int i = 0; i < 17; i++) {
		ab_http_head h;

		ab_http_head_init(&h, AB_HTTP_RESPONSE);
		ck_assert_int_eq(ab_http_head_read(&h, text, sizeof(text) - 1),
				 AB_HTTP_OK);
		ck_assert_int_eq(ab_http_response_judge(&h, &exchange),
				 i < 16 ? AB_HTTP_OK : AB_HTTP_INTERIM);
	}
	ck_assert_uint_eq(ab_http_reason_status(AB_HTTP_INTERIM), 502);
}
END_TEST

START_TEST(values_with_line_ends_are_never_emitted)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
	static const struct {
		const char *s;
		size_t n;
		bool safe;
	} rows[] = {
		{ "sk-1", 4, true },	{ "a b", 3, true },
		{ "\xc3\xa4", 2, true }, { "", 0, false },
		{ "sk-1\n", 5, false }, { "sk\r\nx: y", 8, false },
		{ "sk\0x", 4, false },	{ " sk", 3, false },
		{ "sk\t", 3, false },	{ "a\tb", 3, true },
		{ "a\x7f", 2, false },	{ "\x1b[0m", 4, false },
	};
	ab_http_head h;

	ab_http_head_init(&h, AB_HTTP_REQUEST);
	ck_assert_int_eq(ab_http_head_read(&h, text, sizeof(text) - 1),
			 AB_HTTP_OK);
	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		char buf[500];
		ab_http_out out = { .p = buf, .size = sizeof(buf) };
		ab_http_extra extra = { "authorization", rows[i].s,
					rows[i].n };
		ab_http_rewrite rewrite = { .extras = &extra,
					    .extra_count = 1 };

		ck_assert(ab_http_value_is_safe(rows[i].s, rows[i].n) ==
			  rows[i].safe);
		ck_assert(ab_http_write_request(&out, &h, text, &rewrite) ==
			  rows[i].safe);
	}
}
END_TEST

START_TEST(every_reason_has_a_status)
{
	for (int i = AB_HTTP_OK + 1; i < AB_HTTP_REASON_COUNT; i++)
		ck_assert_uint_ge(ab_http_reason_status(i), 400);
	ck_assert_uint_eq(ab_http_reason_status(AB_HTTP_TARGET_LONG), 414);
	ck_assert_uint_eq(ab_http_reason_status(AB_HTTP_FIELDS), 431);
	ck_assert_uint_eq(ab_http_reason_status(AB_HTTP_TRACE), 405);
	ck_assert_uint_eq(ab_http_reason_status(AB_HTTP_VERSION), 505);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gateway_http");
	TCase *tc = tcase_create("gateway_http");
	SRunner *sr;
	int bad;

	tcase_set_timeout(tc, 120 * ab_test_slowness());
	tcase_add_test(tc, http_is_read_and_written_as_the_rows_say);
	tcase_add_test(tc, seventeen_interim_answers_are_too_many);
	tcase_add_test(tc, values_with_line_ends_are_never_emitted);
	tcase_add_test(tc, every_reason_has_a_status);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	bad = srunner_ntests_failed(sr);
	srunner_free(sr);
	return bad ? 1 : 0;
}
