/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What both sides of a session need: the queues of frames and events, the
 * requests under way with the ids each side knows, rates, and the parts of
 * messages that are never passed on as they came. Spec: internal.h.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "mcp/internal.h"

#define MINUTE_NS UINT64_C(60000000000)
#define OURS "agentbox/"

int32_t ab_mcp_nomem(agentbox_mcp *m)
{
	return ab_error_nomem(m->err);
}

/* --- queues ------------------------------------------------------------ */

int32_t ab_mcp_send(agentbox_mcp *m, int32_t side, json_t *message)
{
	ab_mcp_frame *f = &m->frames[m->frame_end];

	if (m->frame_end == AB_MCP_QUEUE) {
		json_decref(message);
		return ab_error_set(m->err, AGENTBOX_ELIMIT, "",
				    "more than %d frames wait to be sent",
				    AB_MCP_QUEUE);
	}
	f->bytes = message ? ab_mcp_write(message) : NULL;
	f->side = side;
	f->scope = m->scope;
	f->message = message;
	if (!f->bytes) {
		json_decref(message);
		return ab_mcp_nomem(m);
	}
	m->frame_end++;
	return 0;
}

static json_t *share(const json_t *value)
{
	return value ? json_incref((json_t *)(uintptr_t)value) : json_null();
}

int32_t ab_mcp_refuse(agentbox_mcp *m, int32_t side, const json_t *id,
		      int code, const char *message, const char *reason,
		      uint64_t retry_ms)
{
	json_t *error = json_pack("{s:i, s:s}", "code", code, "message",
				  message);
	json_t *data = NULL;

	if (code == AB_MCP_NO_VERSION)
		data = json_pack("{s:s, s:[s, s, s, s, s]}", "reason", reason,
				 "supported", "2024-11-05", "2025-03-26",
				 "2025-06-18", "2025-11-25", "2026-07-28");
	else if (retry_ms)
		data = json_pack("{s:s, s:I}", "reason", reason,
				 "retryAfterMs", (json_int_t)retry_ms);
	else
		data = json_pack("{s:s}", "reason", reason);
	if (!error || json_object_set_new(error, "data", data) < 0) {
		json_decref(error);
		return ab_mcp_nomem(m);
	}
	return ab_mcp_send(m, side,
			   json_pack("{s:s, s:o, s:o}", "jsonrpc", "2.0", "id",
				     share(id), "error", error));
}

int32_t ab_mcp_event(agentbox_mcp *m, const char *type, const char *verdict,
		     const char *rule, const char *subject, size_t n,
		     const char *reason)
{
	json_t *text = json_stringn(subject, n);
	json_t *what = text ? ab_mcp_clean(text, 256) : NULL;
	json_t *event = what ? json_pack(
		"{s:s, s:s, s:s, s:o, s:s}", "type", type, "verdict", verdict,
		"rule", rule, "subject", what, "reason", reason) : NULL;
	bool cut = what && json_string_length(what) < n;

	json_decref(text);
	if (!event || (cut && json_object_set_new(event, "subject_cut",
						  json_true()) < 0) ||
	    json_object_set_new(event, "server", json_string(m->server)) < 0) {
		json_decref(event);
		return ab_mcp_nomem(m);
	}
	return json_array_append_new(m->events, event) < 0 ? ab_mcp_nomem(m)
							   : 0;
}

int32_t ab_mcp_drop(agentbox_mcp *m, int32_t side, const char *subject,
		    const char *reason)
{
	return ab_mcp_event(m, "mcp.dropped", "deny",
			    side == AGENTBOX_MCP_CLIENT ? "mcp.client"
							: "mcp.server",
			    subject, strlen(subject), reason);
}

/* --- requests under way ------------------------------------------------ */

ab_mcp_call *ab_mcp_call_new(agentbox_mcp *m, ab_mcp_call *table, size_t n,
			     const json_t *asked, const ab_mcp_method *method)
{
	for (size_t i = 0; i < n; i++) {
		ab_mcp_call *c = &table[i];

		if (c->id)
			continue;
		memset(c, 0, sizeof(*c));
		c->id = ++m->last_id;
		c->asked = share(asked);
		c->method = method;
		c->scope = m->scope;
		return c;
	}
	return NULL;
}

ab_mcp_call *ab_mcp_call_by_id(ab_mcp_call *table, size_t n, const json_t *id)
{
	json_int_t v = json_integer_value(id);

	if (!json_is_integer(id) || v <= 0)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (table[i].id == (uint64_t)v && !table[i].waits)
			return &table[i];
	return NULL;
}

static bool same_id(const json_t *a, const json_t *b)
{
	if (json_is_integer(a))
		return json_is_integer(b) &&
		       json_integer_value(a) == json_integer_value(b);
	return json_is_string(a) && json_is_string(b) &&
	       json_string_length(a) == json_string_length(b) &&
	       memcmp(json_string_value(a), json_string_value(b),
		      json_string_length(a)) == 0;
}

ab_mcp_call *ab_mcp_call_by_asked(const agentbox_mcp *m, ab_mcp_call *table,
				  size_t n, const json_t *id)
{
	/* without a session each asker counts for itself */
	bool any = m->family != AB_MCP_STATELESS;

	for (size_t i = 0; i < n; i++)
		if (table[i].id && (any || table[i].scope == m->scope) &&
		    same_id(table[i].asked, id))
			return &table[i];
	return NULL;
}

void ab_mcp_call_end(ab_mcp_call *call)
{
	json_decref(call->asked);
	json_decref(call->token);
	json_decref(call->params);
	json_decref(call->tools);
	memset(call, 0, sizeof(*call));
}

/* --- rates and grants -------------------------------------------------- */

/* A bucket that fills with time: one event costs a minute / per_minute. */
uint64_t ab_mcp_rate(agentbox_mcp *m, ab_mcp_bucket *b)
{
	uint64_t cost = MINUTE_NS / (b->per_minute ? b->per_minute : 1);
	uint64_t now = m->now();
	uint64_t most = cost * b->burst;
	uint64_t passed = b->last_ns && now > b->last_ns ? now - b->last_ns : 0;

	if (!b->last_ns)
		b->level_ns = most;
	else if (passed > most || b->level_ns + passed > most)
		b->level_ns = most;
	else
		b->level_ns += passed;
	b->last_ns = now;
	if (b->level_ns < cost)
		return (cost - b->level_ns) / 1000000 + 1;
	b->level_ns -= cost;
	return 0;
}

bool ab_mcp_granted(const agentbox_mcp *m, uint32_t grant)
{
	return (m->grants & grant) == grant;
}

/* --- parts of messages ------------------------------------------------- */

json_t *ab_mcp_without(const json_t *object, const char *key)
{
	json_t *copy = json_is_object(object) ?
			       json_copy((json_t *)(uintptr_t)object) :
			       json_object();

	if (copy && key)
		json_object_del(copy, key);
	return copy;
}

void ab_mcp_unsign_meta(json_t *meta)
{
	const char *key;
	json_t *v;
	void *next;

	json_object_foreach_safe(meta, next, key, v)
		if (strncasecmp(key, OURS, strlen(OURS)) == 0)
			json_object_del(meta, key);
}

json_t *ab_mcp_meta(const json_t *meta)
{
	json_t *copy = ab_mcp_without(meta, NULL);

	ab_mcp_unsign_meta(copy);
	return copy;
}

void ab_mcp_delete_like(json_t *object, const char *word)
{
	const char *key;
	json_t *v;
	void *next;

	json_object_foreach_safe(object, next, key, v)
		if (ab_mcp_is_like(key, word))
			json_object_del(object, key);
}

/* What of `capabilities` needs no grant, or has it. */
json_t *ab_mcp_capabilities(const agentbox_mcp *m, int32_t side,
			    const json_t *capabilities)
{
	static const struct {
		int32_t side;
		const char *name;
		uint32_t grant;
	} table[] = {
		{ AGENTBOX_MCP_SERVER, "tools", 0 },
		{ AGENTBOX_MCP_SERVER, "resources", AB_MCP_RESOURCES },
		{ AGENTBOX_MCP_SERVER, "prompts", AB_MCP_PROMPTS },
		{ AGENTBOX_MCP_SERVER, "completions", AB_MCP_COMPLETION },
		{ AGENTBOX_MCP_SERVER, "logging", AB_MCP_LOGGING },
		{ AGENTBOX_MCP_SERVER, "tasks", AB_MCP_TASKS },
		{ AGENTBOX_MCP_CLIENT, "sampling", AB_MCP_SAMPLING },
		{ AGENTBOX_MCP_CLIENT, "elicitation", AB_MCP_ELICITATION },
		{ AGENTBOX_MCP_CLIENT, "roots", AB_MCP_ROOTS },
		{ AGENTBOX_MCP_CLIENT, "tasks", AB_MCP_TASKS },
	};
	json_t *out = json_object();

	for (size_t i = 0; out && i < sizeof(table) / sizeof(*table); i++) {
		json_t *v = json_object_get(capabilities, table[i].name);

		if (table[i].side != side || !json_is_object(v) ||
		    !ab_mcp_granted(m, table[i].grant))
			continue;
		v = json_copy(v);
		if (v && table[i].grant == AB_MCP_ELICITATION &&
		    !ab_mcp_granted(m, AB_MCP_ELICITATION_URL))
			ab_mcp_delete_like(v, "url");
		if (json_object_set_new(out, table[i].name, v) < 0) {
			json_decref(out);
			out = NULL;
		}
	}
	return out;
}

json_t *ab_mcp_texts(const json_t *object)
{
	static const char *const names[] = { "name", "title", "version",
					     "description", "websiteUrl" };
	json_t *out = json_object();

	for (size_t i = 0; out && i < sizeof(names) / sizeof(*names); i++) {
		json_t *v = json_object_get(object, names[i]);

		if (!json_is_string(v))
			continue;
		if (json_object_set_new(out, names[i],
					ab_mcp_clean(v, 1024)) < 0) {
			json_decref(out);
			out = NULL;
		}
	}
	return out;
}
