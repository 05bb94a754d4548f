/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session of the MCP guard: lines, each from the side its first byte says
 * ('c' or 's'), or in the form of HTTP: 'e' is a line of the server's stream
 * of events, 'h' one of the head of a request and 'b' its body. Whatever
 * comes, what goes on is one line of JSON without a key twice, no call of a
 * tool that is not allowed reaches the server, nothing that is not granted is
 * asked of the client, and nobody but the guard signs as agentbox/identity. A
 * body that passed its head says what the head says. 'y' and 'n' are answers,
 * each to the call whose number is the byte behind it: a call that has to be
 * approved goes on then, once, and at no other time.
 */
#include "config.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agentbox/guard.h"
#include "agentbox/mcp.h"
#include "base/attr.h"
#include "mcp/carry.h"
#include "mcp_http.h"
#include "sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char policy_text[] =
	"{\"agentbox\": 1, \"mode\": \"bare\", \"tools\": {\"servers\": "
	"[{\"name\": \"s\", \"command\": [\"x\"], \"grant\": [\"roots\", "
	"\"resources\"], \"resources\": [\"file:///x*\"]}], \"allow\": [\"s:good\", "
	"\"s:asked\"], \"ask\": [\"s:asked\"]}}";

/* The call that was approved just now; 0: none. */
static uint64_t approved;

static agentbox_mcp *session(void)
{
	agentbox_context *context = NULL;
	agentbox_policy *policy = NULL;
	agentbox_mcp *m = NULL;

	if (agentbox_context_new(&context, NULL) < 0 ||
	    agentbox_policy_parse(context, policy_text,
				  sizeof(policy_text) - 1, &policy, NULL) < 0 ||
	    agentbox_mcp_new(policy, "s", &m, NULL) < 0 ||
	    agentbox_mcp_set_identity(m, "{\"me\":1}", 8, NULL) < 0 ||
	    agentbox_mcp_set_ask(m, 1, NULL) < 0)
		abort();
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
	return m;
}

static const char *text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static void to_server(const json_t *v)
{
	json_t *params = json_object_get(v, "params");
	json_t *id = json_object_get(json_object_get(params, "_meta"),
				     "agentbox/identity");

	if (strcmp(text(v, "method"), "tools/call") == 0 &&
	    strcmp(text(params, "name"), "good") != 0) {
		if (strcmp(text(params, "name"), "asked") != 0 || !approved ||
		    json_integer_value(json_object_get(v, "id")) !=
			    (json_int_t)approved)
			abort();
		approved = 0;
	}
	if (strcmp(text(v, "method"), "resources/read") == 0 &&
	    (strncmp(text(params, "uri"), "file:///x", 9) != 0 ||
	     strstr(text(params, "uri"), "/../")))
		abort();
	if (id && json_integer_value(json_object_get(id, "me")) != 1)
		abort();
	if (json_object_get(v, "method") && json_object_get(v, "id") && !id)
		abort();
}

static void to_client(const json_t *v)
{
	json_t *meta = json_object_get(json_object_get(v, "result"), "_meta");
	const char *key;
	json_t *one;

	if (strcmp(text(v, "method"), "sampling/createMessage") == 0 ||
	    strcmp(text(v, "method"), "elicitation/create") == 0)
		abort();
	json_object_foreach(meta, key, one)
		if (strncasecmp(key, "agentbox/", 9) == 0)
			abort();
}

static void drain(agentbox_mcp *m)
{
	agentbox_bytes *b = NULL;
	int32_t side;

	while (agentbox_mcp_next_event(m, &b, NULL) == 0)
		agentbox_bytes_free(b);
	while (agentbox_mcp_next_frame(m, &side, &b, NULL) == 0) {
		const char *p = agentbox_bytes_get_data(b);
		size_t n = agentbox_bytes_get_size(b);
		json_t *v = json_loadb(p, n, JSON_REJECT_DUPLICATES, NULL);

		if (!v || memchr(p, '\n', n))
			abort();
		if (side == AGENTBOX_MCP_SERVER)
			to_server(v);
		else
			to_client(v);
		json_decref(v);
		agentbox_bytes_free(b);
	}
}

static void answer(agentbox_mcp *m, uint64_t id, bool yes)
{
	agentbox_bytes *b = NULL;
	uint64_t next;

	if (agentbox_mcp_next_question(m, &next, &b, NULL) == 0)
		agentbox_bytes_free(b);
	if (agentbox_mcp_answer(m, id, yes ? AGENTBOX_VERDICT_ALLOW
					   : AGENTBOX_VERDICT_DENY, NULL) == 0)
		approved = yes ? id : 0;
	drain(m);
	approved = 0;
}

/* --- HTTP ---------------------------------------------------------------- */

typedef struct http {
	char head[8192];
	size_t len;
	ab_sse events;
	char room[4096];
} http;

static void take(agentbox_mcp *m, int32_t side, const char *p, size_t n)
{
	json_t *value = NULL;
	const char *why;

	if (ab_mcp_read(p, n, &value, &why) == 0)
		ab_mcp_take_value(m, side, 7, value, NULL);
	json_decref(value);
}

static void server_line(agentbox_mcp *m, http *h, const char *p, size_t n)
{
	enum ab_sse_reason reason = AB_SSE_EVENT;
	char line[4097];
	size_t used, len = n < sizeof(line) - 1 ? n : sizeof(line) - 1;

	memcpy(line, p, len);
	line[len++] = '\n';
	for (p = line; reason == AB_SSE_EVENT; p += used, len -= used) {
		reason = ab_sse_read(&h->events, p, len, &used);
		if (used > len || h->events.len > sizeof(h->room))
			abort();
		if (reason == AB_SSE_EVENT && h->events.len)
			take(m, AGENTBOX_MCP_SERVER, h->events.data,
			     h->events.len);
	}
}

static void head_line(http *h, const char *p, size_t n)
{
	if (n + 4 > sizeof(h->head) - h->len)
		return;
	memcpy(h->head + h->len, p, n);
	memcpy(h->head + h->len + n, "\r\n", 2);
	h->len += n + 2;
}

static void client_body(agentbox_mcp *m, http *h, const char *p, size_t n)
{
	json_t *value = NULL;
	ab_http_head head;
	ab_mcp_http judged;
	const char *method;

	head_line(h, "", 0);
	ab_http_head_init(&head, AB_HTTP_REQUEST);
	if (ab_http_head_read(&head, h->head, h->len) == AB_HTTP_OK &&
	    ab_mcp_http_head(&head, h->head, "http://a", &judged) ==
		    AB_MCP_HTTP_OK &&
	    ab_mcp_http_body(&judged, h->head, p, n, &value) ==
		    AB_MCP_HTTP_OK) {
		method = json_string_value(json_object_get(value, "method"));
		if (judged.has_method &&
		    (!method || strlen(method) != judged.method.len ||
		     memcmp(h->head + judged.method.at, method,
			    judged.method.len) != 0))
			abort();
		if (judged.family == AB_MCP_STATELESS && judged.session.len)
			abort();
		ab_mcp_take_value(m, AGENTBOX_MCP_CLIENT, 7, value, NULL);
	}
	json_decref(value);
	h->len = 0;
}

static void http_line(agentbox_mcp *m, http *h, char kind, const char *p,
		      size_t n)
{
	if (kind == 'e')
		server_line(m, h, p, n);
	else if (kind == 'h')
		head_line(h, p, n);
	else if (kind == 'b')
		client_body(m, h, p, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size;
	agentbox_mcp *m = session();
	http h = { .len = 0 };

	ab_sse_init(&h.events, h.room, sizeof(h.room));
	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((stop ? stop : end) - p);

		if (n && (*p == 'c' || *p == 's'))
			agentbox_mcp_take(m, *p == 'c' ? AGENTBOX_MCP_CLIENT
						       : AGENTBOX_MCP_SERVER,
					  p + 1, n - 1, NULL);
		else if (n > 1 && (*p == 'y' || *p == 'n'))
			answer(m, (uint8_t)p[1], *p == 'y');
		else if (n)
			http_line(m, &h, *p, p + 1, n - 1);
		drain(m);
		p += n + 1;
	}
	agentbox_mcp_free(m);
	return 0;
}
