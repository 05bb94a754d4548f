/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ClientHello, SOCKS5, DNS and event streams, fed whole, byte by byte and cut
 * everywhere: rows of tests/data/gateway-wire.jsonl {id, kind, in, out, ...}.
 * hello: `target` and `permit` are judged against; answer: to a hello, by its
 * server; socks: `open`, `key`;
 * dns: `code`, `addresses`, `tcp`, and the `answer` byte by byte.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "base/attr.h"
#include "dns.h"
#include "net_rows.h"
#include "socks.h"
#include "sse.h"
#include "tls_hello.h"
#include "tls_retry.h"

#define ROOM 65536

static void check_out(const json_t *row, const char *id, const char *out)
{
	ck_assert_msg(strcmp(out, net_text(row, "out")) == 0, "%s: %s", id,
		      out);
}

/* --- ClientHello ------------------------------------------------------- */

static void judge_hello(const json_t *row, const ab_hello *h, char *out,
			size_t size)
{
	const char *text = net_text(row, "target");
	const char *permit = net_text(row, "permit");
	unsigned flags = 0;
	ab_target target = { 0 };

	if (!text)
		return;
	ck_assert_int_eq(ab_target_authority(text, strlen(text), 443, &target),
			 0);
	if (permit && strstr(permit, "sni"))
		flags |= AB_HELLO_PERMIT_NO_SNI;
	if (permit && strstr(permit, "ech"))
		flags |= AB_HELLO_PERMIT_ECH;
	snprintf(out, size, "%s",
		 ab_hello_reason_name(ab_hello_judge(h, &target, flags)));
}

static void run_hello(const char *data, const size_t *ends, size_t pieces,
		      void *ctx, char *out, size_t size)
{
	enum ab_hello_reason reason = AB_HELLO_MORE;
	ab_hello h = { 0 };
	size_t at = 0;
	size_t n;

	for (size_t i = 0; i < pieces && reason == AB_HELLO_MORE; i++) {
		size_t used;

		reason = ab_hello_read(&h, data + at, ends[i] - at, &used);
		ck_assert(used <= ends[i] - at);
		at += used;
		ck_assert(reason != AB_HELLO_MORE || at == ends[i]);
	}
	if (reason == AB_HELLO_SNI_NAME) {
		snprintf(out, size, "sni_name %s",
			 ab_target_reason_name(h.target_reason));
		return;
	}
	n = (size_t)snprintf(out, size, "%s", ab_hello_reason_name(reason));
	if (reason != AB_HELLO_OK)
		return;
	snprintf(out + n, size - n, " %zu %s%s%s%s%s%s%s", at,
		 h.flags & AB_HELLO_HAS_SNI ? h.sni.name : "-",
		 h.flags & AB_HELLO_HAS_ECH ? " ech" : "",
		 h.flags & AB_HELLO_ALPN_H2 ? " h2" : "",
		 h.flags & AB_HELLO_ALPN_HTTP11 ? " http/1.1" : "",
		 h.flags & AB_HELLO_ALPN_OTHER ? " alpn" : "",
		 h.flags & AB_HELLO_TLS13 ? " 1.3" : "",
		 h.flags & AB_HELLO_EARLY_DATA ? " early" : "");
	judge_hello(ctx, &h, out, size);
}

static void run_answer(const char *data, const size_t *ends, size_t pieces,
		       void *ctx, char *out, size_t size)
{
	static const char *const reasons[] = { "more", "again", "holds",
					       "twice", "bad" };
	ab_retry_reader r = { 0 };
	enum ab_retry reason = AB_RETRY_MORE;
	size_t at = 0;

	(void)ctx;
	for (size_t i = 0; i < pieces; i++) {
		enum ab_retry next = ab_retry_read(&r, data + at,
						   ends[i] - at);

		/* what is known stays so */
		ck_assert(reason == AB_RETRY_MORE || next == reason ||
			  (reason == AB_RETRY_YES && next != AB_RETRY_MORE));
		reason = next;
		at = ends[i];
	}
	snprintf(out, size, "%s", reasons[reason]);
}

/* --- SOCKS5 ------------------------------------------------------------ */

static void run_socks(const char *data, const size_t *ends, size_t pieces,
		      void *ctx, char *out, size_t size)
{
	const json_t *row = ctx;
	const char *key = net_text(row, "key");
	ab_socks s = { .open = net_flag(row, "open") };
	enum ab_socks_reason reason = AB_SOCKS_MORE;
	uint8_t reply[AB_SOCKS_REPLY_SIZE];
	char text[AB_TARGET_TEXT_SIZE];
	size_t at = 0;
	size_t used;
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < pieces; i++) {
		do {
			size_t len;

			reason = ab_socks_read(&s, data + at, ends[i] - at,
					       &used);
			ck_assert(used <= ends[i] - at);
			at += used;
			if (reason == AB_SOCKS_MORE)
				break;
			if (reason == AB_SOCKS_AUTH) {
				bool good = key &&
					    s.password_len == strlen(key) &&
					    !memcmp(s.password, key,
						    s.password_len);

				reason = ab_socks_auth(&s, good);
			}
			len = ab_socks_reply(&s, AB_SOCKS_OK, reply);
			for (size_t j = 0; j < len; j++)
				n += (size_t)snprintf(out + n, size - n,
						      "%02x", reply[j]);
			n += (size_t)snprintf(out + n, size - n, ".");
		} while (reason < AB_SOCKS_REQUEST);
		if (reason >= AB_SOCKS_REQUEST)
			break;
	}
	n += (size_t)snprintf(out + n, size - n, " %s",
			      ab_socks_reason_name(reason));
	if (reason == AB_SOCKS_NAME)
		snprintf(out + n, size - n, " %s",
			 ab_target_reason_name(s.target_reason));
	if (reason == AB_SOCKS_REQUEST) {
		ab_target_text(&s.target, 0, text);
		snprintf(out + n, size - n, " %s %zu", text, at);
	}
}

/* --- DNS --------------------------------------------------------------- */

static void run_frame(const char *data, const size_t *ends, size_t pieces,
		      void *ctx, char *out, size_t size)
{
	ab_dns_frame frame = { 0 };
	size_t at = 0;
	size_t n = 0;
	int r = 0;

	(void)ctx;
	out[0] = '\0';
	for (size_t i = 0; i < pieces && r >= 0; i++) {
		while (at < ends[i] && r >= 0) {
			ab_dns_query q;
			size_t used;

			r = ab_dns_frame_read(&frame, data + at, ends[i] - at,
					      &used);
			at += used;
			if (r == 1) {
				ab_dns_read(frame.message, frame.len, &q);
				n += (size_t)snprintf(
					out + n, size - n, "%s ",
					ab_dns_reason_name(q.reason));
			}
		}
	}
	snprintf(out + n, size - n, "%s", r < 0 ? "bad" : "end");
}

static void check_answer(const json_t *row, const char *id,
			 const ab_dns_query *q, const char *data)
{
	const json_t *list = json_object_get(row, "addresses");
	ab_address addresses[64];
	uint8_t out[AB_DNS_ANSWER_MAX];
	char hex[2 * sizeof(out) + 1] = "";
	size_t n;

	ck_assert(json_array_size(list) <= 64);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *s = json_string_value(json_array_get(list, i));

		ck_assert(ab_address_parse(s, strlen(s), &addresses[i]));
	}
	n = ab_dns_answer(q, data,
			  (enum ab_dns_code)json_integer_value(
				  json_object_get(row, "code")),
			  addresses, json_array_size(list), 60,
			  net_flag(row, "tcp"), out);
	ck_assert(n <= sizeof(out));
	if (!net_flag(row, "tcp"))
		ck_assert(n <= AB_DNS_UDP_MAX);
	for (size_t i = 0; i < n; i++)
		sprintf(hex + 2 * i, "%02x", out[i]);
	ck_assert_msg(strcmp(hex, net_text(row, "answer")) == 0,
		      "%s: answers %s", id, hex);
}

static void dns_row(const json_t *row, const char *id)
{
	char text[400];
	ab_dns_query q;
	size_t n;
	char *data = net_take(row, "in", &n);
	enum ab_dns_reason reason = ab_dns_read(data, n, &q);

	if (reason == AB_DNS_OK)
		snprintf(text, sizeof(text), "%s %u %u", q.name.name, q.type,
			 q.udp_size);
	else
		snprintf(text, sizeof(text), "%s", ab_dns_reason_name(reason));
	check_out(row, id, text);
	if (net_text(row, "answer"))
		check_answer(row, id, &q, data);
	free(data);
	/* cut short it is never a query that is answered with an address */
	for (size_t i = 0; reason == AB_DNS_OK && i < n; i++) {
		char *part = net_take(row, "in", &n);
		char *exact = malloc(i ? i : 1);

		memcpy(exact, part, i);
		ck_assert(ab_dns_read(exact, i, &q) != AB_DNS_OK);
		free(exact);
		free(part);
	}
}

/* --- event streams ----------------------------------------------------- */

static void run_sse(const char *data, const size_t *ends, size_t pieces,
		    void *ctx, char *out, size_t size)
{
	static const char *const reasons[] = { "more", "event", "long", "type",
					       "id" };
	enum ab_sse_reason reason = AB_SSE_MORE;
	char room[64];
	ab_sse s;
	size_t at = 0;
	size_t n = 0;

	(void)ctx;
	ab_sse_init(&s, room, sizeof(room));
	for (size_t i = 0; i < pieces && reason <= AB_SSE_EVENT; i++) {
		while (at < ends[i] && reason <= AB_SSE_EVENT) {
			size_t used;

			reason = ab_sse_read(&s, data + at, ends[i] - at,
					     &used);
			at += used;
			if (reason == AB_SSE_EVENT)
				n += (size_t)snprintf(out + n, size - n,
						      "[%s|%s|%.*s]", s.type,
						      s.id, (int)s.len, s.data);
		}
	}
	snprintf(out + n, size - n, "%s",
		 reasons[reason == AB_SSE_EVENT ? AB_SSE_MORE : reason]);
}

/* --- rows -------------------------------------------------------------- */

static void wire_row(const json_t *row, const char *id)
{
	const char *kind = net_text(row, "kind");
	net_feed_fn run = strcmp(kind, "hello") == 0 ? run_hello :
			  strcmp(kind, "answer") == 0 ? run_answer :
			  strcmp(kind, "socks") == 0 ? run_socks :
			  strcmp(kind, "frame") == 0 ? run_frame :
						       run_sse;
	char out[ROOM];
	size_t n;
	char *data;

	if (strcmp(kind, "dns") == 0) {
		dns_row(row, id);
		return;
	}
	data = net_take(row, "in", &n);
	net_all_splits(id, data, n, 300, run, (void *)(uintptr_t)row, out,
		       sizeof(out));
	free(data);
	check_out(row, id, out);
}

START_TEST(the_wire_is_read_as_the_rows_say)
{
	net_each_row("gateway-wire.jsonl", 150, wire_row);
}
END_TEST

START_TEST(a_password_is_wiped_and_nothing_is_read_before_it_is_judged)
{
	static const uint8_t in[] = { 5, 1, 2, 1, 1, 'u', 2, 'p', 'w', 5, 1, 0,
				      1, 8, 8, 8, 8, 1, 187 };
	uint8_t reply[AB_SOCKS_REPLY_SIZE];
	ab_socks s = { 0 };
	size_t used;

	ck_assert_int_eq(ab_socks_read(&s, in, sizeof(in), &used),
			 AB_SOCKS_METHODS);
	ck_assert_uint_eq(used, 3);
	ck_assert_int_eq(ab_socks_read(&s, in + 3, sizeof(in) - 3, &used),
			 AB_SOCKS_AUTH);
	ck_assert_uint_eq(used, 6);
	ck_assert_int_eq(ab_socks_read(&s, in + 9, sizeof(in) - 9, &used),
			 AB_SOCKS_AUTH);
	ck_assert_uint_eq(used, 0);
	ck_assert_int_eq(memcmp(s.password, "pw", 2), 0);
	ck_assert_int_eq(ab_socks_auth(&s, false), AB_SOCKS_DENIED);
	ck_assert_ptr_null(memchr(s.password, 'p', sizeof(s.password)));
	ck_assert_uint_eq(ab_socks_reply(&s, AB_SOCKS_OK, reply), 2);
	ck_assert_int_eq(memcmp(reply, "\1\1", 2), 0);
	ck_assert_int_eq(ab_socks_read(&s, in + 9, sizeof(in) - 9, &used),
			 AB_SOCKS_DENIED);
	/* a verdict nobody asked for opens nothing */
	memset(&s, 0, sizeof(s));
	ck_assert_int_eq(ab_socks_auth(&s, true), AB_SOCKS_DENIED);
}
END_TEST

START_TEST(a_zeroed_reader_judges_nothing_good)
{
	static const ab_hello hello;
	static const ab_dns_query query;
	uint8_t out[AB_DNS_ANSWER_MAX];
	ab_target t;

	ck_assert_int_eq(ab_target_only_name("a.test", 6, &t), 0);
	ck_assert_int_ne(ab_hello_judge(&hello, &t, 3), AB_HELLO_OK);
	ck_assert_uint_eq(ab_dns_answer(&query, out, AB_DNS_NOERROR, NULL, 0,
					0, false, out),
			  0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gateway_readers");
	TCase *tc = tcase_create("gateway_readers");
	SRunner *sr;
	int bad;

	tcase_set_timeout(tc, 120 * ab_test_slowness());
	tcase_add_test(tc, the_wire_is_read_as_the_rows_say);
	tcase_add_test(
		tc,
		a_password_is_wiped_and_nothing_is_read_before_it_is_judged);
	tcase_add_test(tc, a_zeroed_reader_judges_nothing_good);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	bad = srunner_ntests_failed(sr);
	srunner_free(sr);
	return bad ? 1 : 0;
}
