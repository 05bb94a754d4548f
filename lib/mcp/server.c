/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the server sends: answers to what was asked, under the asker's id;
 * notifications and requests of its own only where they are granted. Anything
 * else goes nowhere. Spec: cases 127, 130-136.
 */
#include "config.h"

#include <string.h>

#include "base/attr.h"
#include "base/error.h"
#include "mcp/internal.h"

/* --- answers ----------------------------------------------------------- */

/* `result` is taken; NULL: no memory. Ends the call. */
static int32_t give(agentbox_mcp *m, ab_mcp_call *call, json_t *result)
{
	json_t *out = result ? json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0",
					 "id", call->asked, "result", result)
			     : NULL;

	ab_mcp_call_end(call);
	return ab_mcp_send(m, AGENTBOX_MCP_CLIENT, out);
}

static int32_t fail(agentbox_mcp *m, ab_mcp_call *call, const char *reason)
{
	int32_t rc = ab_mcp_drop(m, AGENTBOX_MCP_SERVER, call->method->name,
				 reason);

	if (rc == 0)
		rc = ab_mcp_refuse(m, AGENTBOX_MCP_CLIENT, call->asked,
				   AB_MCP_INTERNAL,
				   "The server's answer is refused", reason,
				   0);
	ab_mcp_call_end(call);
	return rc;
}

/* Is nothing else under way? */
static bool is_alone(const agentbox_mcp *m, const ab_mcp_call *call)
{
	for (size_t i = 0; i < AB_MCP_CALLS; i++)
		if (m->calls[i].id && &m->calls[i] != call)
			return false;
	return true;
}

void ab_mcp_unsettle(agentbox_mcp *m, const ab_mcp_call *call)
{
	/* who only probed for the newer family may still speak the older */
	if (call->method->special == AB_MCP_DISCOVER && is_alone(m, call)) {
		m->family = 0;
		m->version = AB_MCP_VERSION_NONE;
		m->state = AB_MCP_FRESH;
	}
	if (call->method->special == AB_MCP_INITIALIZE)
		m->state = AB_MCP_FRESH, m->family = 0;
}

#define NOT_GRANTED "asks for input that is not granted"
#define URL_REQUIRED (-32042)

/* Of 2025-11-25: an error by which a client is sent to an URL. */
static bool asks_for_urls(const json_t *error)
{
	const char *key;
	json_t *v;

	json_object_foreach(json_object_get(error, "data"), key, v)
		if (ab_mcp_is_like(key, "elicitations"))
			return true;
	return json_integer_value(json_object_get(error, "code")) ==
	       URL_REQUIRED;
}

/* The server's own error, with its text cleaned. */
static int32_t give_error(agentbox_mcp *m, ab_mcp_call *call,
			  const json_t *error)
{
	const json_t *code = json_object_get(error, "code");
	const json_t *message = json_object_get(error, "message");
	json_t *data = json_object_get(error, "data");
	json_t *out;

	if (!json_is_integer(code) || !json_is_string(message))
		return fail(m, call, "an error without code and message");
	if (asks_for_urls(error) &&
	    !ab_mcp_granted(m, AB_MCP_ELICITATION | AB_MCP_ELICITATION_URL)) {
		ab_mcp_unsettle(m, call);
		return fail(m, call, NOT_GRANTED);
	}
	out = json_pack("{s:I, s:o}", "code", json_integer_value(code),
			"message", ab_mcp_clean(message, AB_MCP_TEXT_MAX));
	if (out && data && json_object_set(out, "data", data) < 0) {
		json_decref(out);
		out = NULL;
	}
	if (out)
		out = json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id",
				call->asked, "error", out);
	ab_mcp_unsettle(m, call);
	ab_mcp_call_end(call);
	return ab_mcp_send(m, AGENTBOX_MCP_CLIENT, out);
}

/* What a server says of itself, without what is not granted. */
static json_t *build_greeting(const agentbox_mcp *m, const json_t *result,
			      const char *first)
{
	const json_t *text = json_object_get(result, "instructions");
	json_t *v = json_object_get(result, first);
	json_t *out = json_pack(
		"{s:O, s:o, s:o}", first, v, "capabilities",
		ab_mcp_capabilities(m, AGENTBOX_MCP_SERVER,
				    json_object_get(result, "capabilities")),
		"serverInfo",
		ab_mcp_texts(json_object_get(result, "serverInfo")));

	if (out && json_is_string(text) &&
	    json_object_set_new(out, "instructions",
				ab_mcp_clean(text, AB_MCP_TEXT_MAX)) < 0) {
		json_decref(out);
		out = NULL;
	}
	return out;
}

static int32_t greeted(agentbox_mcp *m, ab_mcp_call *call,
		       const json_t *result)
{
	const char *name = json_string_value(
		json_object_get(result, "protocolVersion"));
	enum ab_mcp_version version = ab_mcp_version_find(name);
	int32_t rc;

	if (version == AB_MCP_VERSION_NONE || version == AB_MCP_2026_07_28) {
		rc = fail(m, call, "the server chose a version that is not "
				   "known");
		return rc < 0 ? rc : ab_error_set(
			m->err, AGENTBOX_EDENIED, "",
			"the server speaks a protocol version that is not "
			"known");
	}
	m->version = version;
	m->state = AB_MCP_OPEN;
	rc = ab_mcp_event(m, "mcp.session", "allow", "mcp.version",
			  ab_mcp_version_name(version),
			  strlen(ab_mcp_version_name(version)), "");
	return rc < 0 ? rc : give(m, call,
				  build_greeting(m, result,
						 "protocolVersion"));
}

static int32_t discovered(agentbox_mcp *m, ab_mcp_call *call,
			  const json_t *result)
{
	const json_t *versions = json_object_get(result, "supportedVersions");
	json_t *out, *v;
	bool found = false;
	size_t i;

	json_array_foreach(versions, i, v)
		found = found || ab_mcp_version_find(json_string_value(v)) ==
					 AB_MCP_2026_07_28;
	if (!found)
		return fail(m, call, "the server does not speak 2026-07-28");
	out = build_greeting(m, result, "supportedVersions");
	if (out && (json_object_set_new(out, "supportedVersions",
					json_pack("[s]", "2026-07-28")) < 0 ||
		    json_object_set_new(out, "resultType",
					json_string("complete")) < 0)) {
		json_decref(out);
		out = NULL;
	}
	return give(m, call, out);
}

/* A page more, or the whole list for the client. */
static int32_t listed(agentbox_mcp *m, ab_mcp_call *call, const json_t *result)
{
	const json_t *page = json_object_get(result, "tools");
	const json_t *next = json_object_get(result, "nextCursor");
	json_t *shown = NULL;
	int32_t rc;

	if (!json_is_array(page))
		return fail(m, call, "a list without tools");
	/* what could not be written as one answer is not gathered either */
	call->bytes += json_dumpb(page, NULL, 0, JSON_COMPACT);
	if (call->bytes > AGENTBOX_MCP_FRAME_MAX)
		return fail(m, call, "a list over 4 MiB");
	rc = ab_mcp_tools_gather(m, call, page);
	if (rc < 0)
		return rc;
	if (json_array_size(call->tools) > AB_MCP_TOOLS)
		return fail(m, call, "more than 2048 tools");
	if (next && !json_is_null(next)) {
		if (!json_is_string(next) ||
		    json_string_length(next) > AB_MCP_CURSOR_MAX)
			return fail(m, call, "a cursor that is no short text");
		if (++call->pages >= AB_MCP_PAGES)
			return fail(m, call, "more than 64 pages");
		return ab_mcp_ask_list(m, call, next, call->params);
	}
	rc = ab_mcp_tools_judge(m, call->tools, &shown);
	if (rc == 0)
		rc = ab_mcp_event(m, "mcp.list", "allow", "tools.allow",
				  m->server, strlen(m->server), "");
	if (rc < 0) {
		json_decref(shown);
		return rc;
	}
	result = json_pack("{s:o}", "tools", shown);
	if (result && m->family == AB_MCP_STATELESS &&
	    json_object_set_new((json_t *)(uintptr_t)result, "resultType",
				json_string("complete")) < 0)
		return ab_mcp_nomem(m);
	return give(m, call, (json_t *)(uintptr_t)result);
}

/* A form is what an elicitation is by default; a URL leads out of the guard,
   and some look for one first and for the mode not at all. */
static bool may_elicit(const agentbox_mcp *m, const json_t *params)
{
	const json_t *mode = json_object_get(params, "mode");

	if (ab_mcp_granted(m, AB_MCP_ELICITATION_URL))
		return true;
	return !json_object_get(params, "url") &&
	       !json_object_get(params, "elicitationId") &&
	       (!mode || (json_is_string(mode) &&
			  strcmp(json_string_value(mode), "form") == 0));
}

/* What other servers said is not this one's to ask for. */
static bool may_sample(const json_t *params)
{
	const json_t *context = json_object_get(params, "includeContext");
	const char *s = json_string_value(context);

	return !context || (s && (strcmp(s, "none") == 0 ||
				  strcmp(s, "thisServer") == 0));
}

/* Why a server may not ask the client for this, or NULL. */
static const char *bad_ask(const agentbox_mcp *m, const ab_mcp_method *method,
			   const json_t *params)
{
	if (!ab_mcp_granted(m, method->grant))
		return "not granted to this server";
	if (method->special == AB_MCP_ELICIT && !may_elicit(m, params))
		return "only forms are granted";
	if (method->grant == AB_MCP_SAMPLING && !may_sample(params))
		return "what other servers said is not granted";
	return NULL;
}

/* Requests inside a message (2026-07-28) are requests: each needs its grant.
   Why not, or NULL. */
static const char *bad_requests(const agentbox_mcp *m, const json_t *holder,
				bool are_needed)
{
	json_t *requests = json_object_get(holder, "inputRequests");
	const char *key;
	json_t *v;

	if (!requests && !are_needed)
		return NULL;
	if (!json_is_object(requests) || json_object_size(requests) == 0)
		return "asks for input without saying which";
	json_object_foreach(requests, key, v) {
		const char *name = json_string_value(
			json_object_get(v, "method"));
		const ab_mcp_method *method = name ? ab_mcp_method_find(name)
						   : NULL;

		if (!method || !method->from_server || !method->grant ||
		    method->is_notification || ab_mcp_has_twin(v) ||
		    ab_mcp_has_twin(json_object_get(v, "params")) ||
		    bad_ask(m, method, json_object_get(v, "params")))
			return NOT_GRANTED;
	}
	return NULL;
}

/* Those of a list of tasks, which has no other use for them. */
static const char *bad_tasks(const agentbox_mcp *m, const json_t *tasks)
{
	const char *bad = NULL;
	json_t *v;
	size_t i;

	json_array_foreach(tasks, i, v)
		if (!bad)
			bad = ab_mcp_has_twin(v) ? AB_MCP_TWIN
						 : bad_requests(m, v, false);
	return bad;
}

/* What a result may be besides what was asked for; NULL: it may. */
static const char *bad_input(const agentbox_mcp *m, const json_t *result)
{
	const json_t *kind = json_object_get(result, "resultType");
	const json_t *task = json_object_get(result, "task");
	const char *type = kind ? json_string_value(kind) : "complete";
	bool asks = type && strcmp(type, "input_required") == 0;
	const char *bad;

	if (ab_mcp_has_twin(result) || ab_mcp_has_twin(task) ||
	    ab_mcp_has_twin_of(result, "tasks"))
		return AB_MCP_TWIN;
	if (!type || (!asks && strcmp(type, "complete") != 0 &&
		      !(strcmp(type, "task") == 0 &&
			ab_mcp_granted(m, AB_MCP_TASKS))))
		return "a kind of result that is not granted";
	if (task && !ab_mcp_granted(m, AB_MCP_TASKS))
		return "tasks are not granted to this server";
	bad = bad_requests(m, result, asks);
	if (!bad)
		bad = bad_requests(m, task, false);
	return bad ? bad : bad_tasks(m, json_object_get(result, "tasks"));
}

static int32_t plain(agentbox_mcp *m, ab_mcp_call *call, const json_t *result)
{
	const json_t *meta = json_object_get(result, "_meta");
	const char *bad = bad_input(m, result);
	json_t *out;

	if (bad)
		return fail(m, call, bad);
	out = ab_mcp_without(result, meta ? "_meta" : NULL);
	if (out && json_is_object(meta) &&
	    json_object_set_new(out, "_meta", ab_mcp_meta(meta)) < 0) {
		json_decref(out);
		out = NULL;
	}
	if (out && !ab_mcp_subjects_shown(m, call->method, out)) {
		json_decref(out);
		out = NULL;
	}
	return give(m, call, out);
}

static int32_t response(agentbox_mcp *m, const ab_mcp_message *msg)
{
	ab_mcp_call *call = ab_mcp_call_by_id(m->calls, AB_MCP_CALLS, msg->id);

	if (!call)
		return ab_mcp_drop(m, AGENTBOX_MCP_SERVER, "response",
				   "nothing was asked under this id");
	/* it is his whose request it answers, wherever it came in */
	m->scope = call->scope;
	if (msg->error)
		return give_error(m, call, msg->error);
	if (!json_is_object(msg->result))
		return fail(m, call, "the result is not an object");
	switch ((enum ab_mcp_special)call->method->special) {
	case AB_MCP_INITIALIZE:
		return greeted(m, call, msg->result);
	case AB_MCP_DISCOVER:
		return discovered(m, call, msg->result);
	case AB_MCP_LIST:
		return listed(m, call, msg->result);
	case AB_MCP_PLAIN:
	case AB_MCP_CALL:
	case AB_MCP_INITIALIZED:
	case AB_MCP_CANCELLED:
	case AB_MCP_PROGRESS:
	case AB_MCP_ELICIT:
	case AB_MCP_TOOLS_CHANGED:
		break;
	}
	return plain(m, call, msg->result);
}

/* --- requests ---------------------------------------------------------- */

static int32_t refuse_request(agentbox_mcp *m, const ab_mcp_message *msg,
			      const char *why)
{
	int32_t rc = ab_mcp_event(m, "mcp.request", "deny", "mcp.server",
				  msg->method, strlen(msg->method), why);

	return rc < 0 ? rc : ab_mcp_refuse(m, AGENTBOX_MCP_SERVER, msg->id,
					   AB_MCP_NO_METHOD,
					   "Method not found", why, 0);
}

static int32_t request(agentbox_mcp *m, const ab_mcp_message *msg)
{
	const ab_mcp_method *method = ab_mcp_method_find(msg->method);
	const char *bad;
	ab_mcp_call *ask;
	json_t *params;

	if (!method || !method->from_server || method->is_notification ||
	    !(method->families & m->family))
		return refuse_request(m, msg, "not granted to this server");
	bad = bad_ask(m, method, msg->params);
	if (bad)
		return refuse_request(m, msg, bad);
	if (ab_mcp_call_by_asked(m, m->asks, AB_MCP_ASKS, msg->id))
		return refuse_request(m, msg, "the id is in use");
	ask = ab_mcp_call_new(m, m->asks, AB_MCP_ASKS, msg->id, method);
	if (!ask)
		return refuse_request(m, msg, "64 requests are under way");
	if (method->grant) {
		int32_t rc = ab_mcp_event(m, "mcp.request", "allow",
					  "tools.grant", msg->method,
					  strlen(msg->method), "");
		if (rc < 0)
			return rc;
	}
	params = ab_mcp_without(msg->params, "_meta");
	return ab_mcp_send(m, AGENTBOX_MCP_CLIENT,
			   json_pack("{s:s, s:I, s:s, s:o}", "jsonrpc", "2.0",
				     "id", (json_int_t)ask->id, "method",
				     msg->method, "params", params));
}

/* --- notifications ----------------------------------------------------- */

static int32_t pass(agentbox_mcp *m, const char *method, json_t *params)
{
	return ab_mcp_send(m, AGENTBOX_MCP_CLIENT,
			   json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0",
				     "method", method, "params", params));
}

/* Under the token that the client gave with a request that is under way. */
static int32_t progress(agentbox_mcp *m, const ab_mcp_message *msg)
{
	ab_mcp_call *call = ab_mcp_call_by_id(
		m->calls, AB_MCP_CALLS,
		json_object_get(msg->params, "progressToken"));
	const json_t *text = json_object_get(msg->params, "message");
	json_t *params;

	if (!call || !call->token ||
	    !json_is_number(json_object_get(msg->params, "progress")))
		return ab_mcp_drop(m, AGENTBOX_MCP_SERVER, msg->method,
				   "no request with this token is under way");
	m->scope = call->scope;
	params = json_pack("{s:O, s:O}", "progressToken", call->token,
			   "progress",
			   json_object_get(msg->params, "progress"));
	if (params && json_is_number(json_object_get(msg->params, "total")))
		json_object_set(params, "total",
				json_object_get(msg->params, "total"));
	if (params && json_is_string(text) &&
	    json_object_set_new(params, "message",
				ab_mcp_clean(text, AB_MCP_TEXT_MAX)) < 0) {
		json_decref(params);
		params = NULL;
	}
	return pass(m, msg->method, params);
}

static int32_t cancelled(agentbox_mcp *m, const ab_mcp_message *msg)
{
	const json_t *id = json_object_get(msg->params, "requestId");
	ab_mcp_call *ask = ab_mcp_is_id(id) ? ab_mcp_call_by_asked(
		m, m->asks, AB_MCP_ASKS, id) : NULL;
	json_t *params;

	if (!ask)
		return ab_mcp_drop(m, AGENTBOX_MCP_SERVER, msg->method,
				   "no request with this id is under way");
	params = json_pack("{s:I}", "requestId", (json_int_t)ask->id);
	ab_mcp_call_end(ask);
	return pass(m, msg->method, params);
}

static int32_t notification(agentbox_mcp *m, const ab_mcp_message *msg)
{
	const ab_mcp_method *method = ab_mcp_method_find(msg->method);
	const char *bad;

	if (!method || !method->from_server || !method->is_notification ||
	    !(method->families & m->family) ||
	    !ab_mcp_granted(m, method->grant))
		return ab_mcp_drop(m, AGENTBOX_MCP_SERVER, msg->method,
				   "not a notification that is granted");
	if (!ab_mcp_subject_allowed(m, method, msg->params))
		return ab_mcp_drop(m, AGENTBOX_MCP_SERVER, msg->method,
				   "of a resource that is not granted");
	if (ab_mcp_rate(m, &m->memory->notice_rate))
		return ab_mcp_drop(m, AGENTBOX_MCP_SERVER, msg->method,
				   "too many notifications");
	bad = bad_requests(m, msg->params, false);
	if (bad)
		return ab_mcp_drop(m, AGENTBOX_MCP_SERVER, msg->method, bad);
	switch ((enum ab_mcp_special)method->special) {
	case AB_MCP_PROGRESS:
		return progress(m, msg);
	case AB_MCP_CANCELLED:
		return cancelled(m, msg);
	case AB_MCP_TOOLS_CHANGED:
		return pass(m, msg->method, json_object());
	case AB_MCP_PLAIN:
	case AB_MCP_INITIALIZE:
	case AB_MCP_INITIALIZED:
	case AB_MCP_DISCOVER:
	case AB_MCP_LIST:
	case AB_MCP_CALL:
	case AB_MCP_ELICIT:
		break;
	}
	return pass(m, msg->method, ab_mcp_without(msg->params, "_meta"));
}

const ab_mcp_sayer ab_mcp_server_says = { request, notification, response };
