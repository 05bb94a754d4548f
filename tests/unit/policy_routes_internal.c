/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Routes in plain form: presets and defaults written out, secrets bound to
 * their hosts, and the same again after the wire.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "base/alloc.h"
#include "base/error.h"
#include "policy/routes.h"

static agentbox_context *context;

static void setup(void)
{
	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
}

static void teardown(void)
{
	agentbox_context_unref(context);
}

static agentbox_policy *parse(const char *routes, const char *secret)
{
	char text[2048];
	agentbox_policy *p = NULL;
	ab_auto(agentbox_error) *err = NULL;

	snprintf(text, sizeof(text),
		 "{\"agentbox\":1,\"secrets\":[{\"name\":\"k\"%s}],"
		 "\"routes\":[%s]}",
		 secret, routes);
	ck_assert_msg(agentbox_policy_parse(context, text, strlen(text), &p,
					    &err) == 0,
		      "%s: %s", routes, agentbox_error_get_message(err));
	return p;
}

/* One line about a route, or the refusal. */
static void describe(const char *json, const char *secret, char *out,
		     size_t size)
{
	ab_auto(agentbox_policy) *p = parse(json, secret);
	ab_auto(agentbox_error) *err = NULL;
	ab_policy_routes routes = { 0 };
	int32_t r = ab_policy_routes_init(p, &routes, &err);
	const ab_wire_route *w;

	if (r < 0) {
		snprintf(out, size, "%s %s", agentbox_error_name(r),
			 agentbox_error_get_message(err));
		ck_assert_uint_eq(routes.count, 0);
		return;
	}
	w = &routes.items[0].plain;
	snprintf(out, size, "%s -> %s:%u%s %s%s%s %s %s:%s:%s closed %zu "
		 "open %zu rpm %u conn %u bps %" PRIu64 "%s%s",
		 w->prefix, w->host, w->port, w->base,
		 w->kind == AB_ROUTE_GIT ? "git" : "http",
		 w->flags & AB_ROUTE_WRITE ? " write" : " read",
		 w->flags & AB_ROUTE_WEBSOCKET ? " ws" : "",
		 w->secret[0] ? w->secret : "-", w->header, w->scheme, w->user,
		 w->closed_count, w->open_count, w->requests_per_minute,
		 w->connections, w->bytes_per_second,
		 routes.items[0].ca ? " ca " : "",
		 routes.items[0].ca ? routes.items[0].ca : "");
	ab_policy_routes_end(&routes);
}

START_TEST(presets_and_defaults_are_written_out)
{
	static const struct row {
		const char *routes, *secret, *want;
	} rows[] = {
		{ "{\"prefix\":\"/a\",\"preset\":\"anthropic\","
		  "\"inject\":{\"secret\":\"k\"}}", "",
		  "/a -> api.anthropic.com:443 http write k x-api-key:: "
		  "closed 5 open 0 rpm 0 conn 0 bps 0" },
		{ "{\"prefix\":\"/a\",\"preset\":\"openai\","
		  "\"upstream\":\"https://LLM.example.com:8443/x/\","
		  "\"open\":[\"/v1/files\"],\"websocket\":true,"
		  "\"inject\":{\"secret\":\"k\"}}", "",
		  "/a -> llm.example.com:8443/x http write ws k "
		  "authorization:Bearer: closed 14 open 1 rpm 0 conn 0 bps 0" },
		{ "{\"prefix\":\"/a\",\"preset\":\"openai\","
		  "\"inject\":{\"secret\":\"k\",\"header\":\"X-K\"}}", "",
		  "/a -> api.openai.com:443 http write k x-k:: closed 14 "
		  "open 0 rpm 0 conn 0 bps 0" },
		{ "{\"prefix\":\"/g\",\"kind\":\"git\",\"access\":\"read\","
		  "\"upstream\":\"https://git.example.com/acme/shop.git\","
		  "\"inject\":{\"secret\":\"k\",\"user\":\"u\"}}", "",
		  "/g -> git.example.com:443/acme/shop.git git read k "
		  "authorization:Basic:u closed 0 open 0 rpm 0 conn 0 bps 0" },
		{ "{\"prefix\":\"/p\",\"upstream\":\"https://[2001:db8::1]\","
		  "\"access\":\"read\",\"ca\":\"/etc/ca.pem\",\"rate\":"
		  "{\"requests_per_minute\":5,\"connections\":2,"
		  "\"bytes_per_second\":\"1536KiB\"}}", "",
		  "/p -> [2001:db8::1]:443 http read - :: closed 0 open 0 "
		  "rpm 5 conn 2 bps 1572864 ca /etc/ca.pem" },
		{ "{\"prefix\":\"/p\",\"upstream\":\"https://a.example.com\","
		  "\"inject\":{\"secret\":\"k\"}}",
		  ",\"hosts\":[\"*.example.com:443\"],"
		  "\"delivery\":[\"inject\"]",
		  "/p -> a.example.com:443 http write k authorization:Bearer: "
		  "closed 0 open 0 rpm 0 conn 0 bps 0" },
		/* bound to its hosts and ports */
		{ "{\"prefix\":\"/p\",\"upstream\":\"https://evil.test\","
		  "\"inject\":{\"secret\":\"k\"}}",
		  ",\"hosts\":[\"*.example.com\"]",
		  "EPOLICY the secret \"k\" may not go to evil.test:443; its "
		  "\"hosts\" do not name it" },
		{ "{\"prefix\":\"/p\",\"upstream\":\"https://a.test:444\","
		  "\"inject\":{\"secret\":\"k\"}}",
		  ",\"hosts\":[\"a.test:443\"]",
		  "EPOLICY the secret \"k\" may not go to a.test:444; its "
		  "\"hosts\" do not name it" },
		{ "{\"prefix\":\"/p\",\"upstream\":\"https://a.test\","
		  "\"inject\":{\"secret\":\"k\"}}", ",\"hosts\":[]",
		  "EPOLICY the secret \"k\" may not go to a.test:443; its "
		  "\"hosts\" do not name it" },
		{ "{\"prefix\":\"/p\",\"upstream\":\"https://a.test\","
		  "\"inject\":{\"secret\":\"k\"}}", ",\"delivery\":[\"file\"]",
		  "EPOLICY the secret \"k\" is not delivered by injection; "
		  "add \"inject\" to its \"delivery\"" },
	};
	char out[1024];

	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++) {
		describe(rows[i].routes, rows[i].secret, out, sizeof(out));
		ck_assert_str_eq(out, rows[i].want);
	}
}
END_TEST

START_TEST(every_preset_compiles)
{
	for (const ab_preset *preset = ab_presets; preset->name; preset++) {
		char json[256];
		char out[1024];

		snprintf(json, sizeof(json),
			 "{\"prefix\":\"/a\",\"preset\":\"%s\","
			 "\"inject\":{\"secret\":\"k\"}}", preset->name);
		describe(json, "", out, sizeof(out));
		ck_assert_msg(strncmp(out, "/a -> ", 6) == 0, "%s", out);
	}
	ck_assert_ptr_null(ab_preset_find("nobody"));
	ck_assert_ptr_null(ab_preset_find(NULL));
}
END_TEST

static const char *const two[] = { "/v1/files", "/v1/x" };
static const ab_wire_route good = {
	.prefix = "/a", .host = "a.test", .port = 443, .base = "/v1",
	.kind = AB_ROUTE_HTTP, .flags = AB_ROUTE_WRITE | AB_ROUTE_MODEL,
	.secret = "k", .header = "authorization", .scheme = "Bearer", .user = "",
	.requests_per_minute = 7, .connections = 3,
	.bytes_per_second = UINT64_C(5) << 32, .closed = two,
	.closed_count = 2, .open = two, .open_count = 1,
};

static int again(const ab_wire_route *in, const char **paths,
		 ab_wire_route *out, ab_writer *w)
{
	ab_reader r;

	ab_writer_init(w, 65536);
	ab_wire_route_put(w, in);
	ab_reader_init(&r, w->data, w->len);
	return w->bad ? -EPROTO : ab_wire_route_get(&r, paths, out);
}

START_TEST(the_wire_gives_back_what_it_took)
{
	const char *paths[2 * AB_ROUTE_PATHS_MAX];
	ab_wire_route out;
	ab_writer w;

	ck_assert_int_eq(again(&good, paths, &out, &w), 0);
	ck_assert_str_eq(out.prefix, "/a");
	ck_assert_str_eq(out.base, "/v1");
	ck_assert_uint_eq(out.flags, good.flags);
	ck_assert_uint_eq(out.connections, 3);
	ck_assert_uint_eq(out.bytes_per_second, UINT64_C(5) << 32);
	ck_assert_uint_eq(out.closed_count, 2);
	ck_assert_str_eq(out.closed[1], "/v1/x");
	ck_assert_uint_eq(out.open_count, 1);
	/* cut anywhere: refused */
	for (size_t n = 0; n < w.len; n++) {
		ab_reader r;

		ab_reader_init(&r, w.data, n);
		ck_assert_int_eq(ab_wire_route_get(&r, paths, &out), -EPROTO);
	}
	ab_writer_end(&w);
}
END_TEST

START_TEST(the_wire_refuses_what_no_policy_says)
{
	const char *paths[2 * AB_ROUTE_PATHS_MAX];
	ab_wire_route bad[14];
	size_t count = 0;

	for (size_t i = 0; i < AB_ARRAY_LEN(bad); i++)
		bad[i] = good;
	bad[count++].prefix = "";
	bad[count++].prefix = "/";
	bad[count++].prefix = "/a/";
	bad[count++].base = "v1";
	bad[count++].host = "";
	bad[count++].port = 0;
	bad[count++].port = 65536;
	bad[count++].kind = AB_ROUTE_MCP;
	bad[count++].kind = AB_ROUTE_MCP + 1;
	bad[count++].prefix = "/mcp/a";
	bad[count++].flags = 8;
	bad[count++].header = "";
	bad[count++].secret = "";
	bad[count++].roots = AB_ROUTES_MAX + 1;
	ck_assert_uint_eq(count, AB_ARRAY_LEN(bad));
	for (size_t i = 0; i < count; i++) {
		ab_wire_route out;
		ab_writer w;

		ck_assert_msg(again(&bad[i], paths, &out, &w) == -EPROTO,
			      "row %zu", i);
		ab_writer_end(&w);
	}
}
END_TEST

START_TEST(a_failing_allocation_is_an_error)
{
	ab_auto(agentbox_policy) *p = parse(
		"{\"prefix\":\"/a\",\"preset\":\"openai\","
		"\"inject\":{\"secret\":\"k\"}}", ",\"hosts\":[\"*\"]");

	for (uint64_t n = 1; n < 100; n++) {
		ab_policy_routes routes = { 0 };
		int32_t r;

		ab_alloc_fail_after(n);
		r = ab_policy_routes_init(p, &routes, NULL);
		ab_alloc_fail_after(0);
		ab_policy_routes_end(&routes);
		if (r == 0)
			return;
	}
	ck_abort_msg("it never succeeds");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_routes");
	TCase *t = tcase_create("routes");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, presets_and_defaults_are_written_out);
	tcase_add_test(t, every_preset_compiles);
	tcase_add_test(t, the_wire_gives_back_what_it_took);
	tcase_add_test(t, the_wire_refuses_what_no_policy_says);
	tcase_add_test(t, a_failing_allocation_is_an_error);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
