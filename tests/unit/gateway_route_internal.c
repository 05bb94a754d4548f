/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of routes, the key of a box and what is injected: rows of
 * tests/data/gateway-route.jsonl {id, in, out, writes?, preset?}: `in` is a
 * request, `out` "<prefix> <host> <path>" or the reason, `writes` what goes
 * upstream; with a `preset` its route is at "/p", and no other.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "abtest.h"
#include "base/alloc.h"
#include "base/attr.h"
#include "base/hash.h"
#include "http_write.h"
#include "inject.h"
#include "key.h"
#include "net_rows.h"
#include "policy/presets.h"
#include "route_table.h"

static const char *const closed[] = { "/v1/files", "/v1/organizations" };
static const char *const opened[] = { "/v1/files/public" };

static const ab_wire_route specs[] = {
	{ .prefix = "/llm", .host = "api.llm.test", .port = 443, .base = "",
	  .kind = AB_ROUTE_HTTP, .flags = AB_ROUTE_WRITE, .secret = "llm",
	  .header = "x-api-key", .scheme = "", .user = "", .closed = closed,
	  .closed_count = 2, .open = opened, .open_count = 1 },
	{ .prefix = "/llm/beta", .host = "beta.llm.test", .port = 8443,
	  .base = "/v1", .kind = AB_ROUTE_HTTP, .flags = AB_ROUTE_WRITE |
	  AB_ROUTE_WEBSOCKET, .secret = "llm", .header = "authorization",
	  .scheme = "Bearer", .user = "", .closed = closed,
	  .closed_count = 2 },
	{ .prefix = "/git/shop", .host = "git.test", .port = 443,
	  .base = "/acme/shop.git", .kind = AB_ROUTE_GIT, .secret = "git",
	  .header = "authorization", .scheme = "Basic", .user = "bot" },
	{ .prefix = "/git/docs", .host = "git.test", .port = 443,
	  .base = "/acme/docs.git", .kind = AB_ROUTE_GIT,
	  .flags = AB_ROUTE_WRITE, .secret = "", .header = "", .scheme = "",
	  .user = "" },
	{ .prefix = "/npm", .host = "npm.test", .port = 443, .base = "/base",
	  .kind = AB_ROUTE_HTTP, .secret = "", .header = "", .scheme = "",
	  .user = "" },
};
static ab_route_table table;

static void setup(void)
{
	size_t at;

	ck_assert_int_ge(sodium_init(), 0);
	ck_assert_int_eq(ab_route_table_init(&table, specs,
					     AB_ARRAY_LEN(specs), &at), 0);
}

static void teardown(void)
{
	ab_route_table_end(&table);
}

/* --- rows ----------------------------------------------------------------- */

static void check_writes(const json_t *row, const char *id,
			 const ab_http_head *head, const char *buf,
			 const ab_route_verdict *v)
{
	char text[65536];
	ab_http_extra extra = { v->route->spec.header, "REAL-VALUE", 10 };
	ab_http_rewrite rewrite = {
		.host = &v->route->target, .default_port = 443,
		.path = v->path, .path_len = v->len,
		.strip_credentials = true, .upgrade = true,
		.extras = &extra,
		.extra_count = v->route->spec.secret[0] != '\0',
	};
	ab_http_out out = { .p = text, .size = sizeof(text) };
	size_t want_len;
	ab_autofree char *want = net_take(row, "writes", &want_len);

	ab_route_fields(v->route, &rewrite.only, &rewrite.drop);
	ck_assert(ab_http_write_request(&out, head, buf, &rewrite));
	ck_assert_msg(out.len == want_len && !memcmp(text, want, want_len),
		      "%s: writes %.*s", id, (int)out.len, text);
}

/* The table with the route of a preset alone. */
static void init_preset(ab_route_table *t, const char *name)
{
	const ab_preset *preset = ab_preset_find(name);
	ab_wire_route spec = {
		.prefix = "/p", .host = "api.test", .port = 443, .base = "",
		.kind = AB_ROUTE_HTTP, .flags = AB_ROUTE_WRITE,
		.secret = "k", .scheme = "", .user = "",
	};
	size_t at;

	ck_assert_msg(preset != NULL, "%s", name);
	spec.header = preset->header;
	spec.closed = preset->closed;
	while (spec.closed[spec.closed_count])
		spec.closed_count++;
	ck_assert_int_eq(ab_route_table_init(t, &spec, 1, &at), 0);
}

static void judge_row(const json_t *row, const char *id)
{
	static ab_route_verdict v;
	const char *preset = json_string_value(json_object_get(row, "preset"));
	ab_route_table own = { 0 };
	size_t n;
	ab_autofree char *in = net_take(row, "in", &n);
	ab_http_head head;
	char out[AB_ROUTE_PATH_SIZE + 600];

	ab_http_head_init(&head, AB_HTTP_REQUEST);
	ck_assert_msg(ab_http_head_read(&head, in, n) == AB_HTTP_OK,
		      "%s: %s", id, ab_http_reason_name(head.reason));
	if (preset)
		init_preset(&own, preset);
	if (ab_route_judge(preset ? &own : &table, &head, in, &v) ==
	    AB_ROUTE_OK)
		snprintf(out, sizeof(out), "%s %s %.*s", v.route->spec.prefix,
			 v.route->spec.host, (int)v.len, v.path);
	else if (v.reason == AB_ROUTE_PATH)
		snprintf(out, sizeof(out), "route_path %s",
			 ab_path_reason_name(v.path_reason));
	else
		snprintf(out, sizeof(out), "%s",
			 ab_route_reason_name(v.reason));
	ck_assert_msg(strcmp(out, net_text(row, "out")) == 0, "%s: %s", id,
		      out);
	if (json_object_get(row, "writes"))
		check_writes(row, id, &head, in, &v);
	ab_route_table_end(&own);
}

START_TEST(requests_take_the_routes_the_rows_say)
{
	net_each_row("gateway-route.jsonl", 70, judge_row);
}
END_TEST

START_TEST(every_reason_has_a_name_a_text_and_a_status)
{
	for (int i = AB_ROUTE_NONE; i < AB_ROUTE_REASON_COUNT; i++) {
		unsigned status = ab_route_reason_status(i);

		ck_assert(ab_route_reason_name(i)[0]);
		ck_assert(ab_route_reason_text(i)[0]);
		ck_assert_msg(status >= 400 && status < 600, "%d", i);
	}
}
END_TEST

START_TEST(a_table_holds_each_prefix_once)
{
	ab_wire_route twice[2] = { specs[0], specs[0] };
	ab_route_table t;
	size_t at;

	ck_assert_int_eq(ab_route_table_init(&t, twice, 2, &at), -EINVAL);
	ck_assert_ptr_null(t.items);
	twice[1].prefix = "/other";
	twice[1].host = "127.1";
	ck_assert_int_eq(ab_route_table_init(&t, twice, 2, &at), -EINVAL);
	ck_assert_uint_eq(at, 1);
	for (uint64_t n = 1; n < 20; n++) {
		int r;

		ab_alloc_fail_after(n);
		r = ab_route_table_init(&t, specs, AB_ARRAY_LEN(specs), &at);
		ab_alloc_fail_after(0);
		ab_route_table_end(&t);
		if (r == 0)
			return;
		ck_assert_int_eq(r, -ENOMEM);
	}
	ck_abort_msg("it never succeeds");
}
END_TEST

START_TEST(no_table_no_route)
{
	static ab_route_verdict v;
	static const char in[] = "GET /llm HTTP/1.1\r\nHost: gw\r\n\r\n";
	ab_route_table none = { 0 };
	ab_http_head head;

	ab_http_head_init(&head, AB_HTTP_REQUEST);
	ck_assert_int_eq(ab_http_head_read(&head, in, sizeof(in) - 1),
			 AB_HTTP_OK);
	ck_assert_int_eq(ab_route_judge(&none, &head, in, &v), AB_ROUTE_NONE);
	head.reason = AB_HTTP_HOST;
	ck_assert_int_eq(ab_route_judge(&table, &head, in, &v),
			 AB_ROUTE_FORM);
}
END_TEST

/* --- the key -------------------------------------------------------------- */

#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static bool has_key(const ab_key *key, const char *fields, bool proxy)
{
	char text[2048];
	ab_http_head head;
	int n = snprintf(text, sizeof(text),
			 "GET / HTTP/1.1\r\nHost: gw\r\n%s\r\n", fields);

	ab_http_head_init(&head, AB_HTTP_REQUEST);
	ck_assert_int_eq(ab_http_head_read(&head, text, (size_t)n),
			 AB_HTTP_OK);
	return ab_key_in_head(key, &head, text,
			      proxy ? AB_KEY_PROXY : AB_KEY_ROUTE);
}

static void basic(char out[256], const char *field, const char *text)
{
	char b64[200];

	sodium_bin2base64(b64, sizeof(b64), (const unsigned char *)text,
			  strlen(text), sodium_base64_VARIANT_ORIGINAL);
	snprintf(out, 256, "%s: Basic %s\r\n", field, b64);
}

START_TEST(only_the_key_is_the_key)
{
	ab_key key = { .is_set = true };
	ab_key none = { 0 };
	char text[AB_KEY_LEN + 1] = KEY;

	ab_sha256(KEY, AB_KEY_LEN, key.hash);
	ck_assert(ab_key_is(&key, KEY, AB_KEY_LEN));
	ck_assert(!ab_key_is(&none, KEY, AB_KEY_LEN));
	ck_assert(!ab_key_is(&key, "", 0));
	ck_assert(!ab_key_is(&key, KEY "0", AB_KEY_LEN + 1));
	ck_assert(!ab_key_is(&key, KEY "\0x", AB_KEY_LEN + 2));
	for (size_t i = 0; i < AB_KEY_LEN; i++) {
		ck_assert(!ab_key_is(&key, KEY, i));
		text[i] ^= 1;
		ck_assert(!ab_key_is(&key, text, AB_KEY_LEN));
		text[i] ^= 1;
	}
	/* a hash of zeroes is no key */
	ck_assert(!ab_key_is(&none, "\0", 1));
}
END_TEST

START_TEST(the_key_is_found_where_clients_put_it)
{
	static const char *const good[] = {
		"Authorization: Bearer " KEY "\r\n",
		"authorization: bearer   " KEY "\r\n",
		"Authorization: token " KEY "\r\n",
		"X-Api-Key: " KEY "\r\n", "x-goog-api-key: " KEY "\r\n",
		"x-api-key: wrong\r\nAuthorization: Bearer " KEY "\r\n",
	};
	static const char *const bad[] = {
		"", "Authorization: " KEY "\r\n", "Authorization: Bearer\r\n",
		"Authorization: Bearer " KEY "0\r\n",
		"Authorization: Bearer " KEY " x\r\n",
		"Authorization: Digest " KEY "\r\n",
		"Authorization: Basic " KEY "\r\n",
		"X-Api-Key: Bearer " KEY "\r\n", "X-Key: " KEY "\r\n",
		"x_api_key: " KEY "\r\n", "Cookie: key=" KEY "\r\n",
		"Proxy-Authorization: Bearer " KEY "\r\n",
		"x-api-key: 1\r\nx-api-key: 2\r\nx-api-key: 3\r\n"
		"x-api-key: 4\r\nx-api-key: " KEY "\r\n",
	};
	ab_key key = { .is_set = true };
	char text[256];

	ab_sha256(KEY, AB_KEY_LEN, key.hash);
	for (size_t i = 0; i < AB_ARRAY_LEN(good); i++)
		ck_assert_msg(has_key(&key, good[i], false), "%s", good[i]);
	for (size_t i = 0; i < AB_ARRAY_LEN(bad); i++)
		ck_assert_msg(!has_key(&key, bad[i], false), "%s", bad[i]);
	basic(text, "Authorization", "anybody:" KEY);
	ck_assert(has_key(&key, text, false));
	ck_assert(!has_key(&key, text, true));
	basic(text, "Authorization", KEY ":");
	ck_assert(!has_key(&key, text, false));
	basic(text, "Proxy-Authorization", "agentbox:" KEY);
	ck_assert(has_key(&key, text, true));
	ck_assert(!has_key(&key, text, false));
	ck_assert(has_key(&key, "Proxy-Authorization: Bearer " KEY "\r\n",
			  true));
	ck_assert(!has_key(&key, "Authorization: Bearer " KEY "\r\n", true));
}
END_TEST

/* --- injection ------------------------------------------------------------ */

START_TEST(credentials_are_written_as_the_scheme_says)
{
	static const struct row {
		const char *scheme, *user, *secret, *want;
	} rows[] = {
		{ "Bearer", "", "sk-secret-1", "Bearer sk-secret-1" },
		{ "", "", "sk-secret-1", "sk-secret-1" },
		{ "token", "", "sk-secret-1", "token sk-secret-1" },
		{ "Basic", "bot", "sk-secret-1",
		  "Basic Ym90OnNrLXNlY3JldC0x" },
		{ "basic", "", "u:secret-1", "Basic dTpzZWNyZXQtMQ==" },
		/* row 78: never emitted */
		{ "Bearer", "", "sk-secret\n", NULL },
		{ "Bearer", "", "sk-\r\nX: y-z", NULL },
		{ "Bearer", "", " sk-secret", NULL },
		{ "Bearer", "", "sk-secret ", NULL },
		{ "Bearer", "", "short", NULL },
		{ "Bearer", "", "", NULL },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		const struct row *row = &rows[i];
		ab_injected in;
		int r = ab_injected_init(&in, row->scheme, row->user,
					 row->secret, strlen(row->secret));

		ck_assert_msg(r == (row->want ? 0 : -EINVAL), "row %zu", i);
		if (row->want)
			ck_assert_str_eq(in.value, row->want);
		else
			ck_assert_ptr_null(in.value);
		ab_injected_end(&in);
		ck_assert_ptr_null(in.value);
	}
}
END_TEST

START_TEST(an_echo_of_the_credential_is_masked)
{
	char text[] = "X-Echo: Basic Ym90OnNrLXNlY3JldC0x and sk-secret-1.";
	char clean[] = "X-Echo: sk-secret-2";
	ab_injected in;
	ab_injected none = { 0 };

	ck_assert_int_eq(ab_injected_init(&in, "Basic", "bot", "sk-secret-1",
					  11), 0);
	ck_assert_int_eq(ab_injected_mask(&in, text, strlen(text)), 1);
	ck_assert_str_eq(text, "X-Echo: Basic ******************** and "
			       "***********.");
	ck_assert_int_eq(ab_injected_mask(&in, clean, strlen(clean)), 0);
	ck_assert_str_eq(clean, "X-Echo: sk-secret-2");
	ck_assert_int_eq(ab_injected_mask(&none, text, strlen(text)), 0);
	ab_injected_end(&in);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gateway_route");
	TCase *t = tcase_create("table");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, requests_take_the_routes_the_rows_say);
	tcase_add_test(t, every_reason_has_a_name_a_text_and_a_status);
	tcase_add_test(t, a_table_holds_each_prefix_once);
	tcase_add_test(t, no_table_no_route);
	tcase_add_test(t, only_the_key_is_the_key);
	tcase_add_test(t, the_key_is_found_where_clients_put_it);
	tcase_add_test(t, credentials_are_written_as_the_scheme_says);
	tcase_add_test(t, an_echo_of_the_credential_is_masked);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
