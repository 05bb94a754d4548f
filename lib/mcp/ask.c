/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls that the policy allows when somebody says yes to each (`tools.ask`):
 * held here, unknown to the server, until the answer comes. Nobody to ask,
 * too much to be read, too many at once: refused. How long one waits is the
 * host's to keep. What a tool was when it was asked about is judged again when
 * the answer comes. Spec: agentbox/mcp.h, agentbox-policy(5), tools.
 */
#include "config.h"

#include <string.h>

#include "agentbox/guard.h"
#include "base/attr.h"
#include "base/error.h"
#include "mcp/internal.h"

#define WAITING_MAX 32 /* of one session */

int32_t agentbox_mcp_set_ask(agentbox_mcp *m, int32_t enabled,
			     agentbox_error **err)
{
	if (!m || (enabled != 0 && enabled != 1))
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "NULL mcp, or neither 0 nor 1");
	m->can_ask = enabled;
	return 0;
}

bool ab_mcp_has_to_ask(const agentbox_mcp *m, const json_t *params)
{
	return ab_mcp_is_listed(m, m->ask, json_string_value(
					json_object_get(params, "name")));
}

const char *ab_mcp_cannot_ask(const agentbox_mcp *m, const json_t *params)
{
	size_t waiting = 0;

	if (!m->can_ask)
		return "it has to be approved, and nobody is there to be asked";
	if (json_dumpb(params, NULL, 0, JSON_COMPACT) >
	    AGENTBOX_MCP_QUESTION_MAX)
		return "it has to be approved, and over 32 KiB is too much "
		       "to be asked about";
	for (size_t i = 0; i < AB_MCP_CALLS; i++)
		waiting += m->calls[i].id && m->calls[i].waits;
	return waiting < WAITING_MAX ? NULL :
		       "it has to be approved, and 32 calls wait for that";
}

void ab_mcp_hold(ab_mcp_call *call, json_t *params)
{
	call->params = json_incref(params);
	call->waits = true;
}

/* The oldest that was not given out; NULL: there is none. */
static ab_mcp_call *next(agentbox_mcp *m)
{
	ab_mcp_call *first = NULL;

	for (size_t i = 0; i < AB_MCP_CALLS; i++) {
		ab_mcp_call *c = &m->calls[i];

		if (c->id && c->waits && !c->is_told &&
		    (!first || c->id < first->id))
			first = c;
	}
	return first;
}

static const char *tool_of(const ab_mcp_call *call)
{
	return json_string_value(json_object_get(call->params, "name"));
}

bool ab_mcp_next_question(agentbox_mcp *m, ab_mcp_question *q)
{
	ab_mcp_call *call = next(m);

	if (!call)
		return false;
	call->is_told = true;
	q->id = call->id;
	q->scope = call->scope;
	q->tool = tool_of(call);
	q->arguments = json_object_get(call->params, "arguments");
	return true;
}

int32_t agentbox_mcp_next_question(agentbox_mcp *m, uint64_t *id,
				   agentbox_bytes **json, agentbox_error **err)
{
	ab_auto(json_t) *value = NULL;
	agentbox_bytes *text;
	ab_mcp_call *call;

	if (!m || !id || !json)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "NULL mcp, id or json");
	call = next(m);
	if (!call)
		return AGENTBOX_EAGAIN;
	value = json_pack("{s:s, s:s, s:O*}", "server", m->server, "tool",
			  tool_of(call), "arguments",
			  json_object_get(call->params, "arguments"));
	text = value ? ab_mcp_write(value) : NULL;
	if (!text)
		return ab_error_nomem(err);
	call->is_told = true;
	*id = call->id;
	*json = text;
	return 0;
}

/* The one that waits under this id. */
static ab_mcp_call *find(agentbox_mcp *m, uint64_t id)
{
	for (size_t i = 0; i < AB_MCP_CALLS; i++)
		if (id && m->calls[i].id == id && m->calls[i].waits)
			return &m->calls[i];
	return NULL;
}

static int32_t go_on(agentbox_mcp *m, ab_mcp_call *call, const char *tool)
{
	int32_t rc = ab_mcp_event(m, "mcp.call", "allow", "tools.ask", tool,
				  strlen(tool), "approved");

	call->waits = false;
	return rc < 0 ? rc : ab_mcp_forward_call(m, call, call->params);
}

static int32_t refuse(agentbox_mcp *m, ab_mcp_call *call, const char *tool,
		      const char *why)
{
	int32_t rc = ab_mcp_event(m, "mcp.call", "deny", "tools.ask", tool,
				  strlen(tool), why);

	if (rc == 0)
		rc = ab_mcp_refuse(m, AGENTBOX_MCP_CLIENT, call->asked,
				   AB_MCP_REFUSED, AB_MCP_NOT_APPROVED, why,
				   0);
	ab_mcp_call_end(call);
	return rc;
}

int32_t ab_mcp_answer(agentbox_mcp *m, uint64_t id, const char *why,
		      agentbox_error **err)
{
	ab_mcp_call *call = find(m, id);
	const char *tool, *changed;
	int32_t rc = call ? ab_mcp_usable(m, err) : ab_error_set(
		err, AGENTBOX_ENOTFOUND, "id", "no call waits under this id");

	if (rc < 0)
		return rc;
	m->err = err;
	m->scope = call->scope;
	tool = tool_of(call);
	if (!why && !ab_mcp_tool_allowed(m, tool, &changed))
		why = changed;
	rc = why ? refuse(m, call, tool, why) : go_on(m, call, tool);
	m->err = NULL;
	if (rc < 0)
		m->state = AB_MCP_OVER;
	return rc;
}

int32_t agentbox_mcp_answer(agentbox_mcp *m, uint64_t id, int32_t verdict,
			    agentbox_error **err)
{
	if (!m)
		return ab_error_set(err, AGENTBOX_EINVAL, "", "NULL mcp");
	return ab_mcp_answer(m, id, verdict == AGENTBOX_VERDICT_ALLOW ?
					    NULL : "it was not approved", err);
}
