/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The MCP guard over whole sessions: rows of tests/data/mcp-client.jsonl and
 * mcp-server.jsonl {id, tools?, server?, identity?, open?, steps}. `tools` is
 * the policy's section; `open` the version that is settled first (default
 * 2025-06-18, null: none). A step {from, frame | raw, c?, s?, rc?, event?}
 * hands one frame in, as JSON or as text, and says what comes out: all frames
 * to the client (members that must be there; {exact}: exactly) and to the
 * server (exactly),
 * the code, and "TYPE VERDICT RULE SUBJECT" of the first event. "server" as
 * `from` is "s", the client "c". {ms} lets time pass. Rows of mcp-ask.jsonl
 * may have {asks}: there is somebody to ask; {question}: the next one, null:
 * there is none; {answer: id, verdict}: what is said.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "agentbox/guard.h"
#include "agentbox/mcp.h"
#include "base/attr.h"
#include "mcp/internal.h"
#include "net_rows.h"

#define DEFAULT_TOOLS                                                        \
	"{\"servers\": [{\"name\": \"srv\", \"command\": [\"x\"]}], "        \
	"\"allow\": [\"srv:echo\", \"srv:get_*\", \"other:*\"]}"

static uint64_t the_time;

static uint64_t now(void)
{
	return the_time;
}

static agentbox_policy *policy_of(const json_t *tools)
{
	json_t *section = tools ? json_incref((json_t *)(uintptr_t)tools)
				: json_loads(DEFAULT_TOOLS, 0, NULL);
	json_t *doc = json_pack("{s:i, s:s, s:o}", "agentbox", 1, "mode",
				"bare", "tools", section);
	char *text = json_dumps(doc, 0);
	agentbox_context *context = NULL;
	agentbox_policy *policy = NULL;
	agentbox_error *err = NULL;

	ck_assert_int_eq(agentbox_context_new(&context, NULL), 0);
	ck_assert_msg(agentbox_policy_parse(context, text, strlen(text),
					    &policy, &err) == 0,
		      "%s", agentbox_error_get_message(err));
	agentbox_context_unref(context);
	json_decref(doc);
	free(text);
	return policy;
}

static agentbox_mcp *session_of(const json_t *row)
{
	const char *server = net_text(row, "server");
	const json_t *identity = json_object_get(row, "identity");
	agentbox_policy *policy = policy_of(json_object_get(row, "tools"));
	agentbox_mcp *m = NULL;

	ck_assert_int_eq(agentbox_mcp_new(policy, server ? server : "srv", &m,
					  NULL), 0);
	agentbox_policy_unref(policy);
	m->now = now;
	if (identity) {
		char *text = json_dumps(identity, 0);
		ck_assert_int_eq(agentbox_mcp_set_identity(
					 m, text, strlen(text), NULL), 0);
		free(text);
	}
	return m;
}

/* Everything that waits: frames by side, events. */
typedef struct outcome {
	json_t *frames[3], *events;
	int32_t rc;
} outcome;

static json_t *json_of(agentbox_bytes *b, const char *id)
{
	const char *p = agentbox_bytes_get_data(b);
	size_t n = agentbox_bytes_get_size(b);
	json_t *v = json_loadb(p, n, JSON_REJECT_DUPLICATES, NULL);

	ck_assert_msg(v != NULL, "%s: no JSON: %.200s", id, p);
	/* one line: nothing in a value can begin another frame */
	ck_assert_msg(!memchr(p, '\n', n) && !memchr(p, '\r', n),
		      "%s: a line break in a frame", id);
	agentbox_bytes_free(b);
	return v;
}

static void take_out(agentbox_mcp *m, int32_t rc, agentbox_error *err,
		     const char *id, outcome *o)
{
	agentbox_bytes *b = NULL;
	int32_t to;

	memset(o, 0, sizeof(*o));
	o->frames[1] = json_array();
	o->frames[2] = json_array();
	o->events = json_array();
	o->rc = rc;
	ck_assert_msg(rc == 0 || agentbox_error_get_message(err)[0],
		      "%s: a failure without a word", id);
	agentbox_error_free(err);
	while (agentbox_mcp_next_event(m, &b, NULL) == 0)
		json_array_append_new(o->events, json_of(b, id));
	while (agentbox_mcp_next_frame(m, &to, &b, NULL) == 0)
		json_array_append_new(o->frames[to], json_of(b, id));
}

static void hand_in(agentbox_mcp *m, int32_t side, const char *p, size_t n,
		    const char *id, outcome *o)
{
	agentbox_error *err = NULL;
	char *exact = malloc(n ? n : 1);
	int32_t rc;

	ck_assert_ptr_nonnull(exact);
	memcpy(exact, p, n);
	rc = agentbox_mcp_take(m, side, exact, n, &err);
	free(exact);
	take_out(m, rc, err, id, o);
}

static void outcome_end(outcome *o)
{
	json_decref(o->frames[1]);
	json_decref(o->frames[2]);
	json_decref(o->events);
}

/* Is `part` in `whole`: objects member by member, anything else equal? */
static bool covers(const json_t *whole, const json_t *part)
{
	const char *key;
	json_t *v;
	size_t i;

	if (json_is_array(part)) {
		if (json_array_size(part) != json_array_size(whole))
			return false;
		json_array_foreach(part, i, v)
			if (!covers(json_array_get(whole, i), v))
				return false;
		return true;
	}
	if (!json_is_object(part) || !json_is_object(whole))
		return json_equal((json_t *)(uintptr_t)whole,
				  (json_t *)(uintptr_t)part);
	json_object_foreach((json_t *)(uintptr_t)part, key, v)
		if (!covers(json_object_get(whole, key), v))
			return false;
	return true;
}

static void compare(const char *id, size_t step, const char *what,
		    const json_t *got, const json_t *want, bool exact)
{
	json_t *none = json_array();
	const json_t *w = want ? want : none;
	char *a = json_dumps(got, 0), *b = json_dumps(w, 0);

	ck_assert_msg(exact ? json_equal((json_t *)(uintptr_t)got,
					 (json_t *)(uintptr_t)w)
			    : covers(got, w),
		      "%s step %zu, %s: got\n  %s\nwanted\n  %s", id, step,
		      what, a, b);
	free(a);
	free(b);
	json_decref(none);
}

static void check_event(const char *id, size_t step, const json_t *events,
			const char *want)
{
	const json_t *e = json_array_get(events, 0);
	char got[1024];

	if (!want)
		return;
	ck_assert_msg(e != NULL, "%s step %zu: no event", id, step);
	snprintf(got, sizeof(got), "%s %s %s %s", net_text(e, "type"),
		 net_text(e, "verdict"), net_text(e, "rule"),
		 net_text(e, "subject"));
	ck_assert_msg(strcmp(got, want) == 0,
		      "%s step %zu: event '%s', not '%s'", id, step, got,
		      want);
}

static void check_question(agentbox_mcp *m, const json_t *want,
			   const char *id, size_t number)
{
	agentbox_bytes *b = NULL;
	uint64_t key = 0;
	int32_t rc = agentbox_mcp_next_question(m, &key, &b, NULL);
	json_t *got;

	if (json_is_null(want)) {
		ck_assert_msg(rc == AGENTBOX_EAGAIN, "%s step %zu: %d", id,
			      number, rc);
		return;
	}
	ck_assert_msg(rc == 0, "%s step %zu: no question", id, number);
	got = json_of(b, id);
	json_object_set_new(got, "id", json_integer((json_int_t)key));
	compare(id, number, "the question", got, want, true);
	json_decref(got);
}

static void give_answer(agentbox_mcp *m, const json_t *step, const char *id,
			outcome *o)
{
	agentbox_error *err = NULL;
	const char *verdict = net_text(step, "verdict");
	int32_t rc = agentbox_mcp_answer(
		m, (uint64_t)json_integer_value(json_object_get(step,
								"answer")),
		strcmp(verdict, "allow") == 0 ? AGENTBOX_VERDICT_ALLOW :
		strcmp(verdict, "ask") == 0   ? AGENTBOX_VERDICT_ASK :
						AGENTBOX_VERDICT_DENY, &err);

	take_out(m, rc, err, id, o);
}

static void run_step(agentbox_mcp *m, const json_t *step, const char *id,
		     size_t number)
{
	const char *from = net_text(step, "from");
	const char *rc = net_text(step, "rc");
	const json_t *frame = json_object_get(step, "frame");
	const json_t *question = json_object_get(step, "question");
	size_t n = 0;
	char *raw;
	outcome o;

	the_time += (uint64_t)json_integer_value(json_object_get(step, "ms")) *
		    1000000;
	if (question)
		check_question(m, question, id, number);
	if (!from && !json_object_get(step, "answer"))
		return;
	if (!from) {
		give_answer(m, step, id, &o);
	} else {
		raw = frame ? json_dumps(frame, JSON_ENCODE_ANY)
			    : net_take(step, "raw", &n);
		hand_in(m, from[0] == 'c' ? AGENTBOX_MCP_CLIENT
					  : AGENTBOX_MCP_SERVER,
			raw, frame ? strlen(raw) : n, id, &o);
		free(raw);
	}
	ck_assert_msg(strcmp(agentbox_error_name(o.rc), rc ? rc : "OK") == 0,
		      "%s step %zu: %s", id, number,
		      agentbox_error_name(o.rc));
	compare(id, number, "to the server", o.frames[AGENTBOX_MCP_SERVER],
		json_object_get(step, "s"), true);
	compare(id, number, "to the client", o.frames[AGENTBOX_MCP_CLIENT],
		json_object_get(step, "c"),
		json_is_true(json_object_get(step, "exact")));
	check_event(id, number, o.events, net_text(step, "event"));
	outcome_end(&o);
}

static void give(agentbox_mcp *m, int32_t side, const char *id, json_t *v)
{
	char *text = json_dumps(v, 0);
	outcome o;

	hand_in(m, side, text, strlen(text), id, &o);
	ck_assert_msg(o.rc == 0, "%s: %s", id, text);
	outcome_end(&o);
	free(text);
	json_decref(v);
}

/* initialize, its answer, initialized; uses our id 1. */
static void open_session(agentbox_mcp *m, const char *version, const char *id)
{
	give(m, AGENTBOX_MCP_CLIENT, id,
	     json_pack("{s:s, s:i, s:s, s:{s:s, s:{s:{}, s:{}, s:{}}, "
		       "s:{s:s, s:s}}}", "jsonrpc", "2.0", "id", 0, "method",
		       "initialize", "params", "protocolVersion", version,
		       "capabilities", "sampling", "roots", "elicitation",
		       "clientInfo", "name", "t", "version", "1"));
	give(m, AGENTBOX_MCP_SERVER, id,
	     json_pack("{s:s, s:i, s:{s:s, s:{s:{}}, s:{s:s, s:s}}}",
		       "jsonrpc", "2.0", "id", 1, "result", "protocolVersion",
		       version, "capabilities", "tools", "serverInfo", "name",
		       "s", "version", "1"));
	give(m, AGENTBOX_MCP_CLIENT, id,
	     json_pack("{s:s, s:s}", "jsonrpc", "2.0", "method",
		       "notifications/initialized"));
}

static void session_row(const json_t *row, const char *id)
{
	const json_t *open = json_object_get(row, "open");
	const json_t *steps = json_object_get(row, "steps");
	agentbox_mcp *m;
	json_t *step;
	size_t i;

	the_time = UINT64_C(1000000000000);
	m = session_of(row);
	if (json_is_true(json_object_get(row, "asks")))
		ck_assert_int_eq(agentbox_mcp_set_ask(m, 1, NULL), 0);
	if (!json_is_null(open))
		open_session(m, open ? json_string_value(open) : "2025-06-18",
			     id);
	ck_assert_msg(json_array_size(steps) > 0, "%s: no steps", id);
	json_array_foreach(steps, i, step)
		run_step(m, step, id, i + 1);
	agentbox_mcp_free(m);
}

START_TEST(what_a_client_sends_is_judged_as_the_rows_say)
{
	net_each_row("mcp-client.jsonl", 90, session_row);
}
END_TEST

START_TEST(what_has_to_be_approved_waits_as_the_rows_say)
{
	net_each_row("mcp-ask.jsonl", 12, session_row);
}
END_TEST

START_TEST(what_a_server_sends_is_judged_as_the_rows_say)
{
	net_each_row("mcp-server.jsonl", 55, session_row);
}
END_TEST

static agentbox_mcp *fresh(void)
{
	json_t *row = json_object();
	agentbox_mcp *m;

	the_time = UINT64_C(1000000000000);
	m = session_of(row);
	json_decref(row);
	open_session(m, "2025-06-18", "fresh");
	return m;
}

/* Cases 125: each limit from both sides. */
static void limit(const char *head, const char *fill, size_t count,
		  const char *tail, int32_t rc)
{
	size_t h = strlen(head), f = strlen(fill), t = strlen(tail);
	char *text = malloc(h + f * count + t + 1);
	agentbox_mcp *m = fresh();
	outcome o;

	ck_assert_ptr_nonnull(text);
	memcpy(text, head, h);
	for (size_t i = 0; i < count; i++)
		memcpy(text + h + i * f, fill, f);
	memcpy(text + h + f * count, tail, t);
	hand_in(m, AGENTBOX_MCP_CLIENT, text, h + f * count + t, head, &o);
	ck_assert_msg(o.rc == rc, "%zu of '%s': %s", count, fill,
		      agentbox_error_name(o.rc));
	ck_assert_uint_eq(json_array_size(o.frames[AGENTBOX_MCP_SERVER]),
			  rc == 0 ? 1 : 0);
	outcome_end(&o);
	if (rc < 0) {
		hand_in(m, AGENTBOX_MCP_SERVER, "{}", 2, head, &o);
		ck_assert_int_eq(o.rc, AGENTBOX_ECLOSED);
		outcome_end(&o);
	}
	free(text);
	agentbox_mcp_free(m);
}

#define CALL                                                                 \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":" \
	"{\"name\":\"echo\",\"arguments\":"

START_TEST(a_frame_past_a_limit_ends_the_session)
{
	/* three levels hold the arguments; each [ needs its ] */
	char deep[64];

	memset(deep, ']', sizeof(deep));
	for (size_t n = 59; n <= 64; n++) {
		char tail[80];

		snprintf(tail, sizeof(tail), "%.*s}}}", (int)n, deep);
		limit(CALL "{\"a\":", "[", n, tail,
		      n + 3 <= 64 ? 0 : AGENTBOX_ELIMIT);
	}
	limit(CALL "{\"a\":[0", ",0", 9000, "]}}}", 0);
	limit(CALL "{\"a\":[0", ",0", 10001, "]}}}", AGENTBOX_ELIMIT);
	limit("", "[", 100000, "", AGENTBOX_ELIMIT);
	limit(CALL "{\"a\":\"", "aaaaaaaaaaaaaaaa", 65000, "\"}}}", 0);
	limit("", "aaaaaaaaaaaaaaaa", 300000, "", AGENTBOX_ELIMIT);
}
END_TEST

START_TEST(arguments_over_a_mebibyte_are_refused_alone)
{
	size_t n = (1u << 20) + 4096;
	char *text = malloc(n + sizeof(CALL) + 16);
	agentbox_mcp *m = fresh();
	outcome o;

	ck_assert_ptr_nonnull(text);
	memset(text, 'a', n + sizeof(CALL) + 16);
	memcpy(text, CALL "{\"a\":\"", sizeof(CALL) + 5);
	memcpy(text + n, "\"}}}", 4);
	hand_in(m, AGENTBOX_MCP_CLIENT, text, n + 4, "arguments", &o);
	ck_assert_int_eq(o.rc, 0);
	ck_assert_uint_eq(json_array_size(o.frames[AGENTBOX_MCP_SERVER]), 0);
	ck_assert_uint_eq(json_array_size(o.frames[AGENTBOX_MCP_CLIENT]), 1);
	outcome_end(&o);
	free(text);
	agentbox_mcp_free(m);
}
END_TEST

START_TEST(requests_under_way_are_bounded)
{
	agentbox_mcp *m = fresh();
	size_t sent = 0;

	for (int i = 0; i < 400; i++) {
		char text[128];
		outcome o;

		the_time += UINT64_C(1000000000);
		snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%d,"
			 "\"method\":\"ping\"}", i);
		hand_in(m, AGENTBOX_MCP_CLIENT, text, strlen(text), "ping", &o);
		ck_assert_int_eq(o.rc, 0);
		sent += json_array_size(o.frames[AGENTBOX_MCP_SERVER]);
		ck_assert_uint_eq(
			json_array_size(o.frames[AGENTBOX_MCP_SERVER]) +
				json_array_size(
					o.frames[AGENTBOX_MCP_CLIENT]), 1);
		outcome_end(&o);
	}
	ck_assert_uint_eq(sent, AB_MCP_CALLS);
	agentbox_mcp_free(m);
}
END_TEST

START_TEST(a_queue_that_nobody_empties_takes_nothing_more)
{
	static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":\"x\","
				   "\"method\":\"nope\"}";
	agentbox_mcp *m = fresh();
	agentbox_bytes *b = NULL;
	int32_t rc = 0, to;
	int taken = 0;

	while (taken < 10000 && rc == 0) {
		rc = agentbox_mcp_take(m, AGENTBOX_MCP_CLIENT, ping,
				       sizeof(ping) - 1, NULL);
		taken++;
	}
	ck_assert_int_eq(rc, AGENTBOX_EBUSY);
	ck_assert_int_lt(taken, AB_MCP_QUEUE);
	while (agentbox_mcp_next_frame(m, &to, &b, NULL) == 0)
		agentbox_bytes_free(b);
	while (agentbox_mcp_next_event(m, &b, NULL) == 0)
		agentbox_bytes_free(b);
	ck_assert_int_eq(agentbox_mcp_take(m, AGENTBOX_MCP_CLIENT, ping,
					   sizeof(ping) - 1, NULL), 0);
	agentbox_mcp_free(m);
}
END_TEST

START_TEST(the_interface_refuses_what_it_cannot_take)
{
	agentbox_policy *policy = policy_of(NULL);
	agentbox_error *none = NULL;
	agentbox_mcp *m = NULL;
	agentbox_bytes *b = NULL;
	int32_t side;
	uint64_t key;
	static const char *const names[] = { NULL, "", "a b", "a:b", "é",
					     "a/b" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		ck_assert_int_eq(agentbox_mcp_new(policy, names[i], &m, NULL),
				 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_mcp_new(NULL, "a", &m, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_ptr_null(m);
	ck_assert_int_eq(agentbox_mcp_new(policy, "a", &m, NULL), 0);
	agentbox_policy_unref(policy);
	ck_assert_int_eq(agentbox_mcp_take(m, 0, "{}", 2, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_mcp_take(m, 3, "{}", 2, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_mcp_set_identity(m, "[]", 2, NULL),
			 AGENTBOX_EPARSE);
	ck_assert_int_eq(agentbox_mcp_set_identity(m, "{", 1, NULL),
			 AGENTBOX_EPARSE);
	ck_assert_int_eq(agentbox_mcp_set_identity(m, "{}", 5000, NULL),
			 AGENTBOX_ELIMIT);
	ck_assert_int_eq(agentbox_mcp_next_frame(m, &side, &b, &none),
			 AGENTBOX_EAGAIN);
	ck_assert_int_eq(agentbox_mcp_next_event(m, &b, &none),
			 AGENTBOX_EAGAIN);
	ck_assert_int_eq(agentbox_mcp_next_question(m, &key, &b, &none),
			 AGENTBOX_EAGAIN);
	ck_assert_ptr_null(none);
	ck_assert_int_eq(agentbox_mcp_next_question(m, NULL, &b, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_mcp_set_ask(NULL, 1, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_mcp_set_ask(m, 2, NULL), AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_mcp_answer(NULL, 1, 1, NULL),
			 AGENTBOX_EINVAL);
	ck_assert_int_eq(agentbox_mcp_answer(m, 0, 1, NULL),
			 AGENTBOX_ENOTFOUND);
	agentbox_mcp_free(m);
	agentbox_mcp_free(NULL);
}
END_TEST

static agentbox_policy *torture_policy;

/* A whole session; every failure ends it, and nothing is left. */
static bool session_body(void *data)
{
	static const char *const frames[] = {
		"c{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
		"\"params\":{\"protocolVersion\":\"2025-06-18\"}}",
		"s{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
		"\"protocolVersion\":\"2025-06-18\",\"instructions\":\"x\"}}",
		"c{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
		"s{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[{"
		"\"name\":\"echo\",\"description\":\"d\",\"inputSchema\":{}}"
		"]}}",
		"c{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
		"\"params\":{\"name\":\"echo\",\"arguments\":{\"a\":1}}}",
		"c{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"nope\"}",
		"s{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":1,"
		"\"message\":\"x\"}}",
	};
	agentbox_mcp *m = NULL;
	agentbox_bytes *b = NULL;
	int32_t side, rc = agentbox_mcp_new(torture_policy, "srv", &m, NULL);

	(void)data;
	if (rc == 0)
		rc = agentbox_mcp_set_identity(m, "{\"a\":1}", 7, NULL);
	for (size_t i = 0; rc == 0 && i < AB_ARRAY_LEN(frames); i++) {
		rc = agentbox_mcp_take(m, frames[i][0] == 'c' ?
					       AGENTBOX_MCP_CLIENT :
					       AGENTBOX_MCP_SERVER,
				       frames[i] + 1, strlen(frames[i]) - 1,
				       NULL);
		while (rc == 0 && agentbox_mcp_next_event(m, &b, NULL) == 0)
			agentbox_bytes_free(b);
		while (agentbox_mcp_next_frame(m, &side, &b, NULL) == 0)
			agentbox_bytes_free(b);
	}
	ck_assert(rc == 0 || rc == AGENTBOX_ENOMEM || rc == AGENTBOX_EBUSY);
	agentbox_mcp_free(m);
	return rc == 0;
}

START_TEST(a_session_without_memory_ends_and_leaves_nothing)
{
	uint64_t tolerated = 0;

	torture_policy = policy_of(NULL);
	ab_torture(session_body, NULL, 2000, &tolerated);
	agentbox_policy_unref(torture_policy);
}
END_TEST

/* Every name that the policy takes as a grant is one that the guard knows. */
START_TEST(every_grant_of_the_policy_is_known_here)
{
	static const char *const names[] = {
		"resources", "prompts",	    "completion",  "logging",
		"tasks",     "sampling",    "elicitation", "elicitation-url",
		"roots",     "subscriptions"
	};
	uint32_t all = 0;

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		json_t *tools = json_pack(
			"{s:[{s:s, s:[s], s:[s]}]}", "servers", "name", "srv",
			"command", "x", "grant", names[i]);
		json_t *row = json_pack("{s:o}", "tools", tools);
		agentbox_mcp *m = session_of(row);

		ck_assert_uint_ne(m->grants, 0);
		ck_assert_uint_eq(m->grants & all, 0);
		all |= m->grants;
		agentbox_mcp_free(m);
		json_decref(row);
	}
	ck_assert_uint_eq(all, 0x3ff);
}
END_TEST

START_TEST(a_list_that_fits_no_answer_is_given_up)
{
	agentbox_mcp *m = fresh();
	size_t n = 2000000;
	char *text = malloc(n + 200);
	char *fill = malloc(n + 1);
	outcome o;

	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_nonnull(fill);
	memset(fill, 'y', n);
	fill[n] = '\0';
	snprintf(text, n + 200, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{"
		 "\"tools\":[{\"name\":\"echo\",\"x\":\"%s\"}],"
		 "\"nextCursor\":\"a\"}}", fill);
	give(m, AGENTBOX_MCP_CLIENT, "list",
	     json_pack("{s:s, s:i, s:s}", "jsonrpc", "2.0", "id", 1, "method",
		       "tools/list"));
	for (int i = 0; i < 3; i++) {
		hand_in(m, AGENTBOX_MCP_SERVER, text, strlen(text), "p", &o);
		ck_assert_int_eq(o.rc, 0);
		ck_assert_uint_eq(json_array_size(
					  o.frames[AGENTBOX_MCP_SERVER]),
				  i < 2);
		outcome_end(&o);
	}
	agentbox_mcp_free(m);
	free(text);
	free(fill);
}
END_TEST

/* What comes out for whom: the asker's number, and whether he waits. */
static void expect_out(agentbox_mcp *m, int32_t side, uint64_t scope)
{
	ab_mcp_frame f;

	ck_assert(ab_mcp_next(m, &f));
	ck_assert_int_eq(f.side, side);
	ck_assert_uint_eq(f.scope, scope);
	ck_assert_ptr_nonnull(f.message);
	ab_mcp_frame_end(&f);
	ck_assert(!ab_mcp_next(m, &f));
}

static void hand_value(agentbox_mcp *m, int32_t side, uint64_t scope,
		       const char *text)
{
	json_t *v = json_loads(text, 0, NULL);
	agentbox_bytes *b = NULL;

	ck_assert_ptr_nonnull(v);
	ck_assert_int_eq(ab_mcp_take_value(m, side, scope, v, NULL), 0);
	json_decref(v);
	while (agentbox_mcp_next_event(m, &b, NULL) == 0)
		agentbox_bytes_free(b);
}

START_TEST(an_answer_goes_to_who_asked_wherever_it_comes_in)
{
	static const char ask[] = "{\"jsonrpc\":\"2.0\",\"id\":%d,"
				  "\"method\":\"ping\"}";
	agentbox_mcp *m = fresh();
	char text[128];

	for (int i = 1; i <= 2; i++) {
		snprintf(text, sizeof(text), ask, i);
		hand_value(m, AGENTBOX_MCP_CLIENT, (uint64_t)(10 * i), text);
		expect_out(m, AGENTBOX_MCP_SERVER, (uint64_t)(10 * i));
	}
	/* the second's answer beside the first's request */
	hand_value(m, AGENTBOX_MCP_SERVER, 10,
		   "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}");
	expect_out(m, AGENTBOX_MCP_CLIENT, 20);
	ck_assert(ab_mcp_waits(m, 10) && !ab_mcp_waits(m, 20));
	/* lost, and told; then gone, and nobody is told */
	json_t *id = json_integer(2);
	ck_assert_int_eq(ab_mcp_lost(m, id, "gone", "why", NULL), 0);
	expect_out(m, AGENTBOX_MCP_CLIENT, 10);
	ck_assert_int_eq(ab_mcp_lost(m, id, "gone", "why", NULL), 0);
	json_decref(id);
	hand_value(m, AGENTBOX_MCP_CLIENT, 30,
		   "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}");
	expect_out(m, AGENTBOX_MCP_SERVER, 30);
	ab_mcp_forget(m, 30);
	ck_assert(!ab_mcp_waits(m, 30));
	hand_value(m, AGENTBOX_MCP_SERVER, 30,
		   "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}");
	ab_mcp_frame f;
	ck_assert(!ab_mcp_next(m, &f));
	agentbox_mcp_free(m);
}
END_TEST

START_TEST(rates_and_quarantine_outlive_a_session)
{
	agentbox_mcp *a = fresh(), *b = fresh();
	ab_mcp_memory *memory = ab_mcp_memory_of(a);
	const char *why;

	ab_mcp_memory_join(b, memory);
	ck_assert(ab_mcp_tool_allowed(b, "echo", &why));
	json_object_set_new(a->memory->known, "echo", json_null());
	a->memory->call_rate.last_ns = the_time;
	agentbox_mcp_free(a);
	ck_assert(!ab_mcp_tool_allowed(b, "echo", &why));
	ck_assert_uint_ne(ab_mcp_rate(b, &b->memory->call_rate), 0);
	agentbox_mcp_free(b);
	ck_assert(json_is_null(json_object_get(memory->known, "echo")));
	ab_mcp_memory_unref(memory);
}
END_TEST

static const char full_list[] =
	"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[{\"name\":"
	"\"echo\",\"inputSchema\":{}}]}}";

START_TEST(a_server_that_names_ever_more_tools_is_granted_none)
{
	agentbox_mcp *m = fresh();
	const char *why;
	char name[32];
	outcome o;

	for (int i = 0; i < AB_MCP_KNOWN_MAX; i++) {
		snprintf(name, sizeof(name), "get_%d", i);
		json_object_set_new(m->memory->known, name, json_string("x"));
	}
	ck_assert(ab_mcp_tool_allowed(m, "echo", &why));
	give(m, AGENTBOX_MCP_CLIENT, "list",
	     json_pack("{s:s, s:i, s:s}", "jsonrpc", "2.0", "id", 1, "method",
		       "tools/list"));
	hand_in(m, AGENTBOX_MCP_SERVER, full_list, sizeof(full_list) - 1,
		"full", &o);
	ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(
		json_array_get(o.frames[AGENTBOX_MCP_CLIENT], 0), "result"),
		"tools")), 0);
	outcome_end(&o);
	ck_assert(!ab_mcp_tool_allowed(m, "echo", &why));
	agentbox_mcp_free(m);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mcp");
	TCase *t = tcase_create("guard");
	SRunner *r = srunner_create(s);
	int bad;

	tcase_set_timeout(t, 60 * ab_test_slowness());
	tcase_add_test(t, what_a_client_sends_is_judged_as_the_rows_say);
	tcase_add_test(t, what_a_server_sends_is_judged_as_the_rows_say);
	tcase_add_test(t, what_has_to_be_approved_waits_as_the_rows_say);
	tcase_add_test(t, a_frame_past_a_limit_ends_the_session);
	tcase_add_test(t, arguments_over_a_mebibyte_are_refused_alone);
	tcase_add_test(t, requests_under_way_are_bounded);
	tcase_add_test(t, a_queue_that_nobody_empties_takes_nothing_more);
	tcase_add_test(t, the_interface_refuses_what_it_cannot_take);
	tcase_add_test(t, a_session_without_memory_ends_and_leaves_nothing);
	tcase_add_test(t, every_grant_of_the_policy_is_known_here);
	tcase_add_test(t, a_list_that_fits_no_answer_is_given_up);
	tcase_add_test(t, an_answer_goes_to_who_asked_wherever_it_comes_in);
	tcase_add_test(t, rates_and_quarantine_outlive_a_session);
	tcase_add_test(t, a_server_that_names_ever_more_tools_is_granted_none);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	bad = srunner_ntests_failed(r);
	srunner_free(r);
	return bad ? 1 : 0;
}
