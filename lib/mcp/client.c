/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the client sends. Each request is judged by the table of methods, the
 * family of the session and the policy, gets an id of ours and goes on with
 * parameters that were built here. Spec: cases 121-129, 132-135, 138.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/error.h"
#include "mcp/internal.h"

static int32_t answer(agentbox_mcp *m, const json_t *id, int code,
		      const char *message, const char *reason)
{
	return ab_mcp_refuse(m, AGENTBOX_MCP_CLIENT, id, code, message, reason,
			     0);
}

/* Refused and recorded. */
static int32_t deny(agentbox_mcp *m, const ab_mcp_message *msg, int code,
		    const char *message, const char *rule, const char *reason)
{
	int32_t rc = ab_mcp_event(m, "mcp.request", "deny", rule, msg->method,
				  strlen(msg->method), reason);

	return rc < 0 ? rc : answer(m, msg->id, code, message, reason);
}

/* --- parameters -------------------------------------------------------- */

/*
 * `_meta` as the server sees it: the client's without what is ours, its
 * progress token replaced by the id of the call, the identity stamped.
 */
static json_t *build_meta(agentbox_mcp *m, ab_mcp_call *call,
			  const json_t *params)
{
	const json_t *given = json_object_get(params, "_meta");
	json_t *token = json_object_get(given, "progressToken");
	json_t *meta = ab_mcp_meta(given);
	json_t *v;

	if (!meta)
		return NULL;
	json_object_del(meta, "progressToken");
	if (token) {
		if (!call->token)
			call->token = json_incref(token);
		if (json_object_set_new(meta, "progressToken",
					json_integer((json_int_t)call->id)) < 0)
			goto fail;
	}
	v = json_object_get(meta, AB_MCP_META_CAPABILITIES);
	if (v && json_object_set_new(meta, AB_MCP_META_CAPABILITIES,
				     ab_mcp_capabilities(
					     m, AGENTBOX_MCP_CLIENT, v)) < 0)
		goto fail;
	v = json_object_get(meta, AB_MCP_META_CLIENT);
	if (v && json_object_set_new(meta, AB_MCP_META_CLIENT,
				     ab_mcp_texts(v)) < 0)
		goto fail;
	if (m->identity &&
	    json_object_set(meta, "agentbox/identity", m->identity) < 0)
		goto fail;
	return meta;
fail:
	json_decref(meta);
	return NULL;
}

/* `params` is taken, without its _meta; NULL: no memory. */
static int32_t forward(agentbox_mcp *m, ab_mcp_call *call, json_t *params,
		       const json_t *given)
{
	json_t *meta = build_meta(m, call, given);

	if (!params || !meta ||
	    (json_object_size(meta) &&
	     json_object_set(params, "_meta", meta) < 0)) {
		json_decref(params);
		json_decref(meta);
		return ab_mcp_nomem(m);
	}
	json_decref(meta);
	return ab_mcp_send(m, AGENTBOX_MCP_SERVER,
			   json_pack("{s:s, s:I, s:s, s:o}", "jsonrpc", "2.0",
				     "id", (json_int_t)call->id, "method",
				     call->method->name, "params", params));
}

static json_t *build_initialize(agentbox_mcp *m, const json_t *params)
{
	json_t *capabilities = json_object_get(params, "capabilities");

	return json_pack("{s:O, s:o, s:o}", "protocolVersion",
			 json_object_get(params, "protocolVersion"),
			 "capabilities",
			 ab_mcp_capabilities(m, AGENTBOX_MCP_CLIENT,
					     capabilities),
			 "clientInfo",
			 ab_mcp_texts(json_object_get(params, "clientInfo")));
}

/* name, arguments, and with a grant the task; nothing else goes on. */
static json_t *build_call(const agentbox_mcp *m, const json_t *params)
{
	static const char *const names[] = { "name", "arguments",
					     "inputResponses", "requestState",
					     "task" };
	json_t *out = json_object();

	for (size_t i = 0; out && i < sizeof(names) / sizeof(*names); i++) {
		json_t *v = json_object_get(params, names[i]);

		if (!v || (i == 4 && !ab_mcp_granted(m, AB_MCP_TASKS)))
			continue;
		if (json_object_set(out, names[i], v) < 0) {
			json_decref(out);
			out = NULL;
		}
	}
	return out;
}

int32_t ab_mcp_forward_call(agentbox_mcp *m, ab_mcp_call *call,
			    const json_t *params)
{
	return forward(m, call, build_call(m, params), params);
}

int32_t ab_mcp_ask_list(agentbox_mcp *m, ab_mcp_call *call,
			const json_t *cursor, const json_t *params)
{
	json_t *out = json_object();

	if (out && cursor &&
	    json_object_set(out, "cursor", (json_t *)(uintptr_t)cursor) < 0) {
		json_decref(out);
		out = NULL;
	}
	return forward(m, call, out, params);
}

/* --- tools/call -------------------------------------------------------- */

/* Why these parameters are no call of a tool, or NULL. */
static const char *bad_call(const agentbox_mcp *m, const json_t *params)
{
	const json_t *arguments = json_object_get(params, "arguments");
	agentbox_bytes *text;
	size_t n;

	if (!ab_mcp_is_tool_name(json_object_get(params, "name")))
		return "the name of a tool is 1 to 128 of A-Z a-z 0-9 _ . -";
	if (arguments && !json_is_object(arguments))
		return "arguments is not an object";
	if (json_object_get(params, "task") &&
	    !ab_mcp_granted(m, AB_MCP_TASKS))
		return "tasks are not granted to this server";
	text = arguments ? ab_mcp_write(arguments) : NULL;
	n = text ? agentbox_bytes_get_size(text) : 0;
	agentbox_bytes_free(text);
	if (n > AB_MCP_ARGUMENTS_MAX || (arguments && !text))
		return "arguments are over 1 MiB";
	return NULL;
}

static int32_t deny_call(agentbox_mcp *m, const ab_mcp_message *msg,
			 const json_t *name, int code, const char *message,
			 const char *reason, const char *told)
{
	const char *s = json_string_value(name);
	int32_t rc = ab_mcp_event(m, "mcp.call", "deny", "tools.allow",
				  s ? s : "", json_string_length(name),
				  reason);

	return rc < 0 ? rc : answer(m, msg->id, code, message, told);
}

/* It waits for an approval, where there is somebody to ask. */
static int32_t judge_ask(agentbox_mcp *m, const ab_mcp_message *msg,
			 const json_t *name, bool *ok)
{
	const char *why = ab_mcp_cannot_ask(m, msg->params);
	int32_t rc = ab_mcp_event(m, "mcp.call", why ? "deny" : "ask",
				  "tools.ask", json_string_value(name),
				  json_string_length(name), why ? why : "");

	*ok = !why;
	return rc < 0 || !why ? rc : answer(m, msg->id, AB_MCP_REFUSED,
					    AB_MCP_NOT_APPROVED, why);
}

/* Counts, judges and records one call; *ok: it goes on. */
static int32_t judge_call(agentbox_mcp *m, const ab_mcp_message *msg, bool *ok)
{
	const json_t *name = json_object_get(msg->params, "name");
	const char *bad = bad_call(m, msg->params), *why;
	char unknown[AB_MCP_NAME_MAX + 32];
	uint64_t retry;
	int32_t rc;

	*ok = false;
	if (bad)
		return deny_call(m, msg, name, AB_MCP_BAD_PARAMS,
				 "Invalid params", bad, bad);
	if (!ab_mcp_tool_allowed(m, json_string_value(name), &why)) {
		/* what is hidden answers as what does not exist */
		snprintf(unknown, sizeof(unknown), "Unknown tool: %s",
			 json_string_value(name));
		return deny_call(m, msg, name, AB_MCP_BAD_PARAMS, unknown, why,
				 "no such tool is granted here");
	}
	retry = ab_mcp_rate(m, &m->memory->call_rate);
	if (retry) {
		rc = ab_mcp_event(m, "mcp.call", "deny", "tools.rate",
				  json_string_value(name),
				  json_string_length(name), "too many calls");
		return rc < 0 ? rc : ab_mcp_refuse(
			m, AGENTBOX_MCP_CLIENT, msg->id, AB_MCP_REFUSED,
			"Too many calls", "tools.rate", retry);
	}
	if (ab_mcp_has_to_ask(m, msg->params))
		return judge_ask(m, msg, name, ok);
	*ok = true;
	return ab_mcp_event(m, "mcp.call", "allow", "tools.allow",
			    json_string_value(name), json_string_length(name),
			    "");
}

/* --- families ---------------------------------------------------------- */

/* The version of the stateless family that a request carries, or NULL. */
static const json_t *stateless_version(const ab_mcp_message *msg)
{
	return json_object_get(json_object_get(msg->params, "_meta"),
			       AB_MCP_META_VERSION);
}

/* Why a request does not belong here now; *code goes with it. NULL: it does. */
static const char *bad_family(const agentbox_mcp *m, const ab_mcp_message *msg,
			      const ab_mcp_method *method, int *code)
{
	const json_t *version = stateless_version(msg);
	bool hello = method->special == AB_MCP_INITIALIZE;

	*code = AB_MCP_NO_VERSION;
	if (version &&
	    ab_mcp_version_find(json_string_value(version)) !=
		    AB_MCP_2026_07_28)
		return "this protocol version is not known";
	if (version ? m->family == AB_MCP_SESSIONS
		    : m->family == AB_MCP_STATELESS)
		return "one session speaks one family of versions";
	if (version && !(method->families & AB_MCP_STATELESS)) {
		*code = AB_MCP_NO_METHOD;
		return "not a method of 2026-07-28";
	}
	if (version)
		return NULL;
	if (hello && ab_mcp_version_find(json_string_value(json_object_get(
			     msg->params, "protocolVersion"))) ==
			     AB_MCP_VERSION_NONE)
		return "this protocol version is not known";
	if (hello && ab_mcp_version_find(json_string_value(json_object_get(
			     msg->params, "protocolVersion"))) ==
			     AB_MCP_2026_07_28)
		return "2026-07-28 has no initialize";
	if (!(method->families & AB_MCP_SESSIONS))
		return "this method needs 2026-07-28 in _meta";
	*code = AB_MCP_INVALID;
	if (hello && m->state != AB_MCP_FRESH)
		return "initialize was sent before";
	if (!hello && m->state != AB_MCP_OPEN &&
	    strcmp(method->name, "ping") != 0)
		return "the session is not initialized";
	return NULL;
}

static void enter_family(agentbox_mcp *m, const ab_mcp_message *msg,
			 const ab_mcp_method *method)
{
	if (stateless_version(msg)) {
		m->family = AB_MCP_STATELESS;
		m->version = AB_MCP_2026_07_28;
		m->state = AB_MCP_OPEN;
	} else if (method->special == AB_MCP_INITIALIZE) {
		m->family = AB_MCP_SESSIONS;
		m->state = AB_MCP_GREETING;
	}
}

/* --- requests ---------------------------------------------------------- */

/* What is wrong with the shape of the common parameters, or NULL. */
static const char *bad_params(const ab_mcp_message *msg)
{
	const json_t *meta = json_object_get(msg->params, "_meta");
	const json_t *token = json_object_get(meta, "progressToken");

	if (meta && !json_is_object(meta))
		return "_meta is not an object";
	if (meta && json_dumpb(meta, NULL, 0, JSON_COMPACT) > AB_MCP_META_MAX)
		return "_meta is over 64 KiB";
	if (token && !ab_mcp_is_id(token))
		return "progressToken is neither a string nor an exact integer";
	return NULL;
}

/* Everything that holds for each request; *ok: it goes on. */
static int32_t judge_request(agentbox_mcp *m, const ab_mcp_message *msg,
			     const ab_mcp_method *method, bool *ok)
{
	const char *why = bad_params(msg);
	int code = AB_MCP_BAD_PARAMS;
	uint64_t retry;

	*ok = false;
	if (why)
		return deny(m, msg, code, "Invalid params", "mcp.params", why);
	if (!method || !method->from_client || method->is_notification ||
	    !ab_mcp_granted(m, method->grant))
		return deny(m, msg, AB_MCP_NO_METHOD, "Method not found",
			    "mcp.method", "not granted to this server");
	why = bad_family(m, msg, method, &code);
	if (why)
		return deny(m, msg, code,
			    code == AB_MCP_NO_VERSION ?
				    "Unsupported protocol version" :
				    "Invalid request",
			    "mcp.session", why);
	if (method->special == AB_MCP_LIST &&
	    json_object_get(msg->params, "cursor"))
		return deny(m, msg, AB_MCP_BAD_PARAMS, "Invalid params",
			    "mcp.params", "no such cursor was handed out");
	if (!ab_mcp_subject_allowed(m, method, msg->params))
		return deny(m, msg, AB_MCP_BAD_PARAMS, "Not found",
			    "tools.servers", "no such resource or prompt is "
			    "granted here");
	if (ab_mcp_call_by_asked(m, m->calls, AB_MCP_CALLS, msg->id))
		return deny(m, msg, AB_MCP_INVALID, "Invalid request",
			    "mcp.id", "a request with this id is under way");
	retry = method->special == AB_MCP_CALL ?
			0 : ab_mcp_rate(m, &m->memory->other_rate);
	if (retry)
		return ab_mcp_refuse(m, AGENTBOX_MCP_CLIENT, msg->id,
				     AB_MCP_REFUSED, "Too many requests",
				     "at most 100 in a second", retry);
	*ok = true;
	return 0;
}

/* Whole lists are held until they were judged. */
static bool too_many_lists(const agentbox_mcp *m, const ab_mcp_method *method)
{
	unsigned n = 0;

	for (size_t i = 0; i < AB_MCP_CALLS; i++)
		n += m->calls[i].id &&
		     m->calls[i].method->special == AB_MCP_LIST;
	return method->special == AB_MCP_LIST && n >= AB_MCP_LISTS;
}

static int32_t start(agentbox_mcp *m, const ab_mcp_message *msg,
		     ab_mcp_call *call)
{
	switch ((enum ab_mcp_special)call->method->special) {
	case AB_MCP_INITIALIZE:
		return forward(m, call, build_initialize(m, msg->params),
			       msg->params);
	case AB_MCP_LIST:
		/* all that each page is asked with */
		call->params = json_pack("{s:O*}", "_meta",
					 json_object_get(msg->params,
							 "_meta"));
		return !call->params ? ab_mcp_nomem(m)
				     : ab_mcp_ask_list(m, call, NULL,
						       call->params);
	case AB_MCP_CALL:
		if (!ab_mcp_has_to_ask(m, msg->params))
			return ab_mcp_forward_call(m, call, msg->params);
		ab_mcp_hold(call, msg->params);
		return 0;
	case AB_MCP_PLAIN:
	case AB_MCP_DISCOVER:
	case AB_MCP_INITIALIZED:
	case AB_MCP_CANCELLED:
	case AB_MCP_PROGRESS:
	case AB_MCP_ELICIT:
	case AB_MCP_TOOLS_CHANGED:
		break;
	}
	return forward(m, call, ab_mcp_without(msg->params, "_meta"),
		       msg->params);
}

static int32_t request(agentbox_mcp *m, const ab_mcp_message *msg)
{
	const ab_mcp_method *method = ab_mcp_method_find(msg->method);
	ab_mcp_call *call;
	bool ok;
	int32_t rc = judge_request(m, msg, method, &ok);

	if (rc == 0 && ok && method->special == AB_MCP_CALL)
		rc = judge_call(m, msg, &ok);
	else if (rc == 0 && ok && method->grant)
		rc = ab_mcp_event(m, "mcp.request", "allow", "tools.grant",
				  msg->method, strlen(msg->method), "");
	if (rc < 0 || !ok)
		return rc;
	call = too_many_lists(m, method) ? NULL : ab_mcp_call_new(
		m, m->calls, AB_MCP_CALLS, msg->id, method);
	if (!call)
		return ab_mcp_refuse(m, AGENTBOX_MCP_CLIENT, msg->id,
				     AB_MCP_REFUSED, "Too many requests",
				     "256 requests or 16 lists are under way",
				     1000);
	enter_family(m, msg, method);
	return start(m, msg, call);
}

/* --- notifications and answers ----------------------------------------- */

static int32_t pass_notification(agentbox_mcp *m, const char *method,
				 json_t *params)
{
	return ab_mcp_send(m, AGENTBOX_MCP_SERVER,
			   json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0",
				     "method", method, "params", params));
}

/* Only what this client asked for itself, under the id the server knows. */
static int32_t cancelled(agentbox_mcp *m, const ab_mcp_message *msg)
{
	const json_t *id = json_object_get(msg->params, "requestId");
	const json_t *reason = json_object_get(msg->params, "reason");
	ab_mcp_call *call = ab_mcp_is_id(id) ? ab_mcp_call_by_asked(
		m, m->calls, AB_MCP_CALLS, id) : NULL;
	json_t *params;
	bool waited;

	if (!call || call->method->special == AB_MCP_INITIALIZE)
		return ab_mcp_drop(m, AGENTBOX_MCP_CLIENT, msg->method,
				   "no request with this id is under way");
	params = json_pack("{s:I}", "requestId", (json_int_t)call->id);
	if (params && json_is_string(reason) &&
	    json_object_set_new(params, "reason",
				ab_mcp_clean(reason, 1024)) < 0) {
		json_decref(params);
		params = NULL;
	}
	waited = call->waits;
	/* its answer, should one come, is for nobody */
	ab_mcp_call_end(call);
	if (waited) {
		json_decref(params);
		return ab_mcp_drop(m, AGENTBOX_MCP_CLIENT, msg->method,
				   "the server has not got the request");
	}
	return pass_notification(m, msg->method, params);
}

static int32_t notification(agentbox_mcp *m, const ab_mcp_message *msg)
{
	const ab_mcp_method *method = ab_mcp_method_find(msg->method);

	if (!method || !method->from_client || !method->is_notification ||
	    !ab_mcp_granted(m, method->grant))
		return ab_mcp_drop(m, AGENTBOX_MCP_CLIENT, msg->method,
				   "not a notification that is granted");
	if (!(method->families & m->family))
		return ab_mcp_drop(m, AGENTBOX_MCP_CLIENT, msg->method,
				   "not of this session");
	if (ab_mcp_rate(m, &m->memory->other_rate))
		return ab_mcp_drop(m, AGENTBOX_MCP_CLIENT, msg->method,
				   "too many messages");
	if (method->special == AB_MCP_CANCELLED)
		return cancelled(m, msg);
	/* the server asks for nothing that could progress */
	if (method->special == AB_MCP_PROGRESS || m->state != AB_MCP_OPEN)
		return ab_mcp_drop(m, AGENTBOX_MCP_CLIENT, msg->method,
				   "no request with this token is under way");
	return pass_notification(m, msg->method, json_object());
}

/* What a client may answer is what the server was let ask. */
static int32_t response(agentbox_mcp *m, const ab_mcp_message *msg)
{
	ab_mcp_call *ask = ab_mcp_call_by_id(m->asks, AB_MCP_ASKS, msg->id);
	json_t *out;

	if (!ask)
		return ab_mcp_drop(m, AGENTBOX_MCP_CLIENT, "response",
				   "the server asked nothing under this id");
	if (msg->result && (!json_is_object(msg->result) ||
			    ab_mcp_has_twin(msg->result)))
		out = json_pack("{s:s, s:O, s:{s:i, s:s}}", "jsonrpc", "2.0",
				"id", ask->asked, "error", "code",
				AB_MCP_INTERNAL, "message", "Internal error");
	else
		out = json_pack("{s:s, s:O, s:O}", "jsonrpc", "2.0", "id",
				ask->asked, msg->result ? "result" : "error",
				msg->result ? msg->result : msg->error);
	ab_mcp_call_end(ask);
	return ab_mcp_send(m, AGENTBOX_MCP_SERVER, out);
}

const ab_mcp_sayer ab_mcp_client_says = { request, notification, response };
