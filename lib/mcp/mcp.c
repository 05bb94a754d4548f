/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The MCP guard's handle: a session out of a policy, frames in, frames and
 * events out. Fail closed: after any failure nothing is taken in any more.
 * Specification: agentbox/mcp.h, agentbox_mcp(3).
 */
#include "config.h"

#include "agentbox/mcp.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "mcp/internal.h"

AB_DEFINE_AUTO(agentbox_mcp, agentbox_mcp_free)

#define MAX_IDENTITY 4096

static bool is_server_name(const char *s)
{
	size_t n = s ? strlen(s) : 0;

	return n > 0 && n <= 64 &&
	       strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			 "0123456789._-") == n;
}

static uint64_t number(const json_t *object, const char *key, uint64_t other)
{
	json_int_t v = json_integer_value(json_object_get(object, key));

	return v > 0 ? (uint64_t)v : other;
}

/* What the policy says of this server; of another one, nothing. */
static void take_policy(agentbox_mcp *m)
{
	const json_t *tools = ab_policy_section(m->policy, "/tools");
	const json_t *servers = json_object_get(tools, "servers");
	const json_t *rate = json_object_get(tools, "rate");
	const json_t *own = NULL, *grant;
	json_t *v;
	size_t i;

	json_array_foreach(servers, i, v) {
		const char *name = json_string_value(
			json_object_get(v, "name"));
		if (name && strcmp(name, m->server) == 0)
			own = v;
	}
	m->memory->call_rate.per_minute = number(rate, "calls_per_minute",
						 AB_USUAL_CALLS);
	m->memory->call_rate.burst = number(rate, "burst", AB_USUAL_BURST);
	m->memory->other_rate.per_minute = 6000;
	m->memory->other_rate.burst = 200;
	m->memory->notice_rate = m->memory->other_rate;
	if (!own)
		return;
	m->allow = json_object_get(tools, "allow");
	m->ask = json_object_get(tools, "ask");
	m->pins = json_object_get(own, "pins");
	m->resources = json_object_get(own, "resources");
	m->prompts = json_object_get(own, "prompts");
	m->pin = json_string_value(json_object_get(own, "pin"));
	if (!m->pin)
		m->pin = json_string_value(json_object_get(tools, "pin"));
	grant = json_object_get(own, "grant");
	json_array_foreach(grant, i, v)
		m->grants |= ab_mcp_grant_find(json_string_value(v));
}

int32_t agentbox_mcp_new(agentbox_policy *policy, const char *server,
			 agentbox_mcp **mcp, agentbox_error **err)
{
	ab_auto(agentbox_mcp) *m = NULL;

	if (!policy || !mcp)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "NULL policy or mcp");
	if (!is_server_name(server))
		return ab_error_set(err, AGENTBOX_EINVAL, "server",
				    "the name of a server is 1 to 64 of A-Z "
				    "a-z 0-9 . _ -");
	m = ab_new(agentbox_mcp);
	if (!m)
		return ab_error_nomem(err);
	m->policy = agentbox_policy_ref(policy);
	m->now = ab_clock_boot_ns;
	memcpy(m->server, server, strlen(server));
	m->memory = ab_mcp_memory_new();
	m->events = json_array();
	if (!m->memory || !m->events)
		return ab_error_nomem(err);
	take_policy(m);
	*mcp = ab_steal(&m);
	return 0;
}

void agentbox_mcp_free(agentbox_mcp *m)
{
	int saved = errno;

	if (!m)
		return;
	for (size_t i = 0; i < AB_MCP_CALLS; i++)
		ab_mcp_call_end(&m->calls[i]);
	for (size_t i = 0; i < AB_MCP_ASKS; i++)
		ab_mcp_call_end(&m->asks[i]);
	for (size_t i = m->frame_first; i < m->frame_end; i++)
		ab_mcp_frame_end(&m->frames[i]);
	json_decref(m->identity);
	ab_mcp_memory_unref(m->memory);
	json_decref(m->events);
	agentbox_policy_unref(m->policy);
	free(m);
	errno = saved;
}

int32_t agentbox_mcp_set_identity(agentbox_mcp *m, const char *json, size_t n,
				  agentbox_error **err)
{
	json_t *value = NULL;
	const char *why;
	int32_t rc;

	if (!m || !json)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "NULL mcp or identity");
	if (n > MAX_IDENTITY)
		return ab_error_set(err, AGENTBOX_ELIMIT, "",
				    "an identity has at most %d bytes",
				    MAX_IDENTITY);
	rc = ab_mcp_read(json, n, &value, &why);
	if (rc == AGENTBOX_ENOMEM)
		return ab_error_nomem(err);
	if (rc < 0 || !json_is_object(value)) {
		json_decref(value);
		return ab_error_set(err, AGENTBOX_EPARSE, "",
				    "the identity is %s",
				    rc < 0 ? why : "not an object");
	}
	json_decref(m->identity);
	m->identity = value;
	return 0;
}

/* --- frames that come ---------------------------------------------------- */

/* What is no message: recorded, and a client is told. `id` may be NULL. */
static int32_t refuse(agentbox_mcp *m, int32_t side, const char *what,
		      const json_t *id, const char *why)
{
	bool is_frame = strcmp(what, "frame") == 0;
	int32_t rc = ab_mcp_drop(m, side, what, why);

	return rc < 0 || side != AGENTBOX_MCP_CLIENT ? rc : ab_mcp_refuse(
		m, side, id, is_frame ? AB_MCP_PARSE : AB_MCP_INVALID,
		is_frame ? "Parse error" : "Invalid request", why, 0);
}

/* It could not be read; past a limit nobody knows where the next begins. */
static int32_t refuse_frame(agentbox_mcp *m, int32_t side, int32_t code,
			    const char *why)
{
	int32_t rc;

	if (code == AGENTBOX_ENOMEM)
		return ab_mcp_nomem(m);
	rc = refuse(m, side, "frame", NULL, why);
	if (rc < 0 || code == AGENTBOX_EPARSE)
		return rc;
	return ab_error_set(m->err, AGENTBOX_ELIMIT, "", "a frame is %s", why);
}

/* What is the guard's alone to say, wherever a side says it; what a tool is
   given and gives is its own. */
static void unsign(json_t *v, unsigned depth)
{
	json_t *child;
	const char *key;
	size_t i;
	void *next;

	if (!depth)
		return;
	json_array_foreach(v, i, child)
		unsign(child, depth - 1);
	json_object_foreach_safe(v, next, key, child) {
		if (strcmp(key, "arguments") == 0 ||
		    strcmp(key, "structuredContent") == 0)
			continue;
		/* to some readers these are it, too */
		if (ab_mcp_is_like(key, "meta"))
			ab_mcp_unsign_meta(child);
		unsign(child, depth - 1);
	}
}

static int32_t take_message(agentbox_mcp *m, int32_t side, json_t *value)
{
	const ab_mcp_sayer *sayer = side == AGENTBOX_MCP_CLIENT ?
					    &ab_mcp_client_says
					    : &ab_mcp_server_says;
	ab_mcp_message msg;

	unsign(value, AB_MCP_MAX_DEPTH);
	ab_mcp_sort(value, &msg);
	switch (msg.kind) {
	case AB_MCP_REQUEST:
		return sayer->request(m, &msg);
	case AB_MCP_NOTIFICATION:
		return sayer->notification(m, &msg);
	case AB_MCP_RESPONSE:
		return sayer->response(m, &msg);
	case AB_MCP_NOTHING:
		break;
	}
	return refuse(m, side, "message", ab_mcp_is_id(msg.id) ? msg.id : NULL,
		      msg.why);
}

static int32_t take_frame(agentbox_mcp *m, int32_t side, json_t *value)
{
	size_t n = json_array_size(value);
	int32_t rc = 0;

	if (!json_is_array(value))
		return take_message(m, side, value);
	if (m->version != AB_MCP_2025_03_26)
		return refuse(m, side, "batch", NULL,
			      "batches are of 2025-03-26 alone");
	if (n == 0 || n > AB_MCP_MAX_BATCH)
		return refuse(m, side, "batch", NULL,
			      "a batch has 1 to 50 messages");
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = take_message(m, side, json_array_get(value, i));
	return rc;
}

int32_t ab_mcp_usable(const agentbox_mcp *m, agentbox_error **err)
{
	if (m->state == AB_MCP_OVER)
		return ab_error_set(err, AGENTBOX_ECLOSED, "",
				    "the session is over");
	if (m->frame_end > AB_MCP_QUEUE / 2 ||
	    json_array_size(m->events) > AB_MCP_QUEUE / 2)
		return ab_error_set(err, AGENTBOX_EBUSY, "",
				    "frames or events wait to be taken out");
	return 0;
}

int32_t ab_mcp_take_value(agentbox_mcp *m, int32_t side, uint64_t scope,
			  json_t *value, agentbox_error **err)
{
	int32_t rc = ab_mcp_usable(m, err);

	if (rc < 0)
		return rc;
	m->err = err;
	m->scope = scope;
	rc = take_frame(m, side, value);
	m->err = NULL;
	if (rc < 0)
		m->state = AB_MCP_OVER;
	return rc;
}

int32_t agentbox_mcp_take(agentbox_mcp *m, int32_t side, const char *frame,
			  size_t n, agentbox_error **err)
{
	json_t *value = NULL;
	const char *why;
	int32_t rc;

	if (!m || (!frame && n) || (side != AGENTBOX_MCP_CLIENT &&
				    side != AGENTBOX_MCP_SERVER))
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "NULL mcp or frame, or no side");
	rc = ab_mcp_usable(m, err);
	if (rc < 0)
		return rc;
	rc = ab_mcp_read(n ? frame : "", n, &value, &why);
	if (rc == 0) {
		rc = ab_mcp_take_value(m, side, 0, value, err);
		json_decref(value);
		return rc;
	}
	m->err = err;
	rc = refuse_frame(m, side, rc, why);
	m->err = NULL;
	if (rc < 0)
		m->state = AB_MCP_OVER;
	return rc;
}

int32_t agentbox_mcp_next_frame(agentbox_mcp *m, int32_t *side,
				agentbox_bytes **frame, agentbox_error **err)
{
	ab_mcp_frame next;

	if (!m || !side || !frame)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "NULL mcp, side or frame");
	if (!ab_mcp_next(m, &next))
		return AGENTBOX_EAGAIN;
	*side = next.side;
	*frame = ab_steal(&next.bytes);
	ab_mcp_frame_end(&next);
	return 0;
}

int32_t agentbox_mcp_next_event(agentbox_mcp *m, agentbox_bytes **json,
				agentbox_error **err)
{
	agentbox_bytes *out;

	if (!m || !json)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "NULL mcp or json");
	if (json_array_size(m->events) == 0)
		return AGENTBOX_EAGAIN;
	out = ab_mcp_write(json_array_get(m->events, 0));
	if (!out)
		return ab_error_nomem(err);
	json_array_remove(m->events, 0);
	*json = out;
	return 0;
}
