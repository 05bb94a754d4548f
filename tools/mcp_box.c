/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox mcp --tools box: a box for an agent that runs beside it, as a
 * server of the Model Context Protocol on standard input and output. The
 * guard of agentbox_mcp(3) stands before it as before any other server, so
 * what is served here was read strictly and is bounded. Specification:
 * agentbox(1).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "mcp_box.h"
#include "text.h"

#define NAME "box"
#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define MOST_POLLFDS (8 + 3 * BOX_RUNS)

int64_t box_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* --- what is served ------------------------------------------------------ */

/* The definitions as JSON; what they say is the contract with the agent. */
static const char tools_text[] =
	"[{\"name\":\"read\",\"description\":\"Read a file of the workspace. "
	"At most 256 KiB at once; go on with offset while more is true. What "
	"is no text comes as base64.\",\"inputSchema\":{\"type\":\"object\","
	"\"required\":[\"path\"],\"properties\":{\"path\":{\"type\":"
	"\"string\"},\"offset\":{\"type\":\"integer\",\"minimum\":0},"
	"\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":262144}}},"
	"\"annotations\":{\"readOnlyHint\":true}},"
	"{\"name\":\"write\",\"description\":\"Write a file of the workspace, "
	"from text or base64. It is replaced unless append is true; with "
	"create_only it must not be there.\",\"inputSchema\":{\"type\":"
	"\"object\",\"required\":[\"path\"],\"properties\":{\"path\":{"
	"\"type\":\"string\"},\"text\":{\"type\":\"string\"},\"base64\":{"
	"\"type\":\"string\"},\"append\":{\"type\":\"boolean\"},"
	"\"create_only\":{\"type\":\"boolean\"}}}},"
	"{\"name\":\"list\",\"description\":\"The names in a directory of the "
	"workspace, at most 2000.\",\"inputSchema\":{\"type\":\"object\","
	"\"properties\":{\"path\":{\"type\":\"string\"}}},\"annotations\":{"
	"\"readOnlyHint\":true}},"
	"{\"name\":\"run\",\"description\":\"Run a command in the box: command "
	"is a line for sh, argv a list. Answers when it has ended or wait_ms "
	"(30000) have passed; then ask result. timeout_ms ends it. 256 KiB of "
	"each stream are kept.\",\"inputSchema\":{\"type\":\"object\","
	"\"properties\":{\"command\":{\"type\":\"string\"},\"argv\":{\"type\":"
	"\"array\",\"items\":{\"type\":\"string\"}},\"cwd\":{\"type\":"
	"\"string\"},\"input\":{\"type\":\"string\"},\"wait_ms\":{\"type\":"
	"\"integer\"},\"timeout_ms\":{\"type\":\"integer\"}}}},"
	"{\"name\":\"result\",\"description\":\"What a run has written so far "
	"and whether it has ended. With kill it is ended first.\","
	"\"inputSchema\":{\"type\":\"object\",\"required\":[\"id\"],"
	"\"properties\":{\"id\":{\"type\":\"integer\"},\"wait_ms\":{\"type\":"
	"\"integer\"},\"kill\":{\"type\":\"boolean\"}}}}]";

/* Unless the box's own policy lists a server of this name, all five. */
static const char own_policy[] =
	"{\"agentbox\":1,\"mode\":\"bare\",\"tools\":{\"servers\":[{\"name\":"
	"\"" NAME "\",\"command\":[\"agentbox\",\"mcp\"]}],\"allow\":[\"" NAME
	":read\",\"" NAME ":write\",\"" NAME ":list\",\"" NAME ":run\",\"" NAME
	":result\"],\"rate\":{\"calls_per_minute\":6000,\"burst\":200}}}";

/* --- results ------------------------------------------------------------- */

json_t *box_result(const char *text, size_t n, json_t *structured)
{
	json_t *string = json_stringn(text, n);
	json_t *out = string ? json_pack("{s:[{s:s, s:o}]}", "content", "type",
					 "text", "text", string) : NULL;

	if (out && structured)
		json_object_set(out, "structuredContent", structured);
	json_decref(structured);
	return out;
}

json_t *box_failure(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	char *raw = text_vformat(format, ap);
	va_end(ap);
	char *text = raw ? text_clean(raw) : NULL;
	json_t *out = text ? box_result(text, strlen(text), NULL) : NULL;
	if (out)
		json_object_set_new(out, "isError", json_true());
	free(raw);
	free(text);
	return out;
}

const char *box_text(const json_t *arguments, const char *name, size_t *n)
{
	const json_t *v = json_object_get(arguments, name);

	if (n)
		*n = json_string_length(v);
	return json_string_value(v);
}

static bool send_back(box_server *b, json_t *message)
{
	char *text = message ? json_dumps(message, JSON_COMPACT |
					  JSON_REAL_PRECISION(17)) : NULL;
	bool ok = text && mcp_take(&b->s, AGENTBOX_MCP_SERVER, text,
				   strlen(text));

	json_decref(message);
	free(text);
	return ok;
}

bool box_answer(box_server *b, const json_t *id, json_t *result,
		bool stateless)
{
	if (result && stateless)
		json_object_set_new(result, "resultType",
				    json_string("complete"));
	if (!result)
		return send_back(b, json_pack(
			"{s:s, s:O, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", id,
			"error", "code", -32603, "message", "out of memory"));
	return send_back(b, json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0",
				      "id", id, "result", result));
}

/* --- requests ------------------------------------------------------------ */

static json_t *call(box_server *b, const json_t *id, const json_t *params,
		    bool *later)
{
	const char *name = text_of(params, "name");
	const json_t *arguments = json_object_get(params, "arguments");

	if (!strcmp(name, "read"))
		return box_read(b, arguments);
	if (!strcmp(name, "write"))
		return box_write(b, arguments);
	if (!strcmp(name, "list"))
		return box_list(b, arguments);
	if (!strcmp(name, "run"))
		return box_run_command(b, id, arguments, later);
	if (!strcmp(name, "result"))
		return box_run_result(b, id, arguments, later);
	return box_failure("there is no such tool");
}

static json_t *greeting(const json_t *params, bool discover)
{
	json_t *out = json_pack(
		"{s:{s:{}}, s:{s:s, s:s}, s:s}", "capabilities", "tools",
		"serverInfo", "name", "agentbox " NAME, "version",
		agentbox_version(), "instructions",
		"Files and commands of one box. Paths are relative to its "
		"workspace. What is refused here is refused for a reason that "
		"the answer tells; do not try to go round it.");
	json_t *version = discover ? json_pack("[s]", "2026-07-28")
				   : json_incref(json_object_get(
					     params, "protocolVersion"));

	if (out)
		json_object_set_new(out, discover ? "supportedVersions"
						  : "protocolVersion",
				    version);
	else
		json_decref(version);
	return out;
}

static bool serve(box_server *b, const json_t *message)
{
	const char *method = text_of(message, "method");
	const json_t *params = json_object_get(message, "params");
	const json_t *id = json_object_get(message, "id");
	json_t *result = NULL;
	bool later = false;

	b->stateless = json_object_get(json_object_get(params, "_meta"),
				       META_VERSION) != NULL;
	if (!id) {
		if (!strcmp(method, "notifications/cancelled"))
			box_run_cancel(b, json_object_get(params,
							  "requestId"));
		return true;
	}
	if (!strcmp(method, "initialize") ||
	    !strcmp(method, "server/discover"))
		result = greeting(params, method[0] == 's');
	else if (!strcmp(method, "ping"))
		result = json_object();
	else if (!strcmp(method, "tools/list"))
		result = json_pack("{s:o}", "tools",
				   json_loads(tools_text, 0, NULL));
	else if (!strcmp(method, "tools/call"))
		result = call(b, id, params, &later);
	return later || box_answer(b, id, result, b->stateless);
}

/* All that the guard has let through; answers come into it again. */
static bool serve_inbox(box_server *b)
{
	bool ok = true;

	while (ok && json_array_size(b->s.inbox)) {
		json_t *message = json_incref(json_array_get(b->s.inbox, 0));
		json_array_remove(b->s.inbox, 0);
		ok = serve(b, message);
		json_decref(message);
	}
	return ok;
}

static bool from_client(void *data, const char *p, size_t n)
{
	box_server *b = data;

	return mcp_take(&b->s, AGENTBOX_MCP_CLIENT, p, n) && serve_inbox(b);
}

/* --- the loop ------------------------------------------------------------ */

static int timeout_of(box_server *b)
{
	int64_t all[] = { b->box.box ?
				  agentbox_sandbox_get_timeout_ms(b->box.box)
				     : -1,
			  b->s.audit ? agentbox_audit_get_timeout_ms(b->s.audit)
				     : -1,
			  b->box.owner
			  ? agentbox_owner_get_timeout_ms(b->box.owner) : -1 };
	int ms = 60000;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i] >= 0 && all[i] < ms)
			ms = (int)all[i];
	return box_runs_timeout(b, ms);
}

/* Everything but the client's frames. */
static bool dispatch(box_server *b)
{
	int signum = session_pending_signal(&b->box);

	if (signum) {
		b->s.status = TOOL_SIGNAL + signum;
		return false;
	}
	if (b->s.audit)
		agentbox_audit_dispatch(b->s.audit, NULL);
	if (b->box.box) {
		session_take_events(&b->box);
		session_tell_events(&b->box);
	}
	if (b->box.owner)
		session_serve(&b->box);
	return box_runs_turn(b);
}

static bool turn(box_server *b)
{
	mcp_link *c = &b->s.client;
	struct pollfd fds[MOST_POLLFDS] = {
		{ link_waits(c) > LINK_HIGH ? -1 : c->in, POLLIN, 0 },
		{ link_waits(c) ? c->out : -1, POLLOUT, 0 },
		{ b->box.signal_fd, POLLIN, 0 },
		{ b->box.box ? agentbox_sandbox_get_fd(b->box.box) : -1,
		  POLLIN, 0 },
		{ b->box.owner ? agentbox_owner_get_fd(b->box.owner) : -1,
		  POLLIN, 0 },
	};
	size_t n = 5 + box_runs_poll(b, fds + 5);

	if (poll(fds, n, timeout_of(b)) < 0 && errno != EINTR)
		return false;
	if (!dispatch(b))
		return false;
	if (fds[1].fd >= 0 && fds[1].revents && !link_write(c))
		return false;
	if (fds[0].fd < 0 || !fds[0].revents)
		return true;
	int got = link_read(c, from_client, b);
	b->client_gone = got == 0;
	return got > 0;
}

/* The last answers, should the client still take them. */
static void flush(box_server *b)
{
	int64_t until = box_now_ms() + 1000;

	while (link_waits(&b->s.client) && box_now_ms() < until) {
		struct pollfd p = { b->s.client.out, POLLOUT, 0 };
		if (poll(&p, 1, 100) > 0 && !link_write(&b->s.client))
			break;
	}
}

/* --- setting up ---------------------------------------------------------- */

static bool lists_box(const json_t *document)
{
	json_t *v;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(document, "tools"),
					   "servers"), i, v)
		if (!strcmp(text_of(v, "name"), NAME))
			return true;
	return false;
}

static int make_mcp(box_server *b)
{
	tool *t = b->s.t;
	agentbox_policy *policy = NULL;
	agentbox_error *err = NULL;
	json_t *identity = mcp_identity(b->box.plan.document);
	char *text = identity ? json_dumps(identity, JSON_COMPACT) : NULL;
	int rc = 0;

	json_decref(identity);
	if (lists_box(b->box.plan.document))
		policy = agentbox_policy_ref(b->box.plan.policy);
	else if (agentbox_policy_parse(t->context, own_policy,
				       sizeof(own_policy) - 1, &policy,
				       &err) < 0)
		rc = tool_fail(t, err, NULL);
	if (!rc && (!text ||
		    agentbox_mcp_new(policy, NAME, &b->s.guard, &err) < 0 ||
		    agentbox_mcp_set_identity(b->s.guard, text, strlen(text),
					      &err) < 0))
		rc = tool_fail(t, err, NULL);
	agentbox_policy_unref(policy);
	free(text);
	b->s.digest = agentbox_policy_get_digest(b->box.plan.policy);
	b->s.inbox = json_array();
	return rc || b->s.inbox ? rc : TOOL_INTERNAL;
}

/* The write guard is about what the box writes to. */
static int make_guard(box_server *b)
{
	const tool_plan *plan = &b->box.plan;
	const char *team = text_of(json_object_get(plan->document, "role"),
				   "team_dir");
	const char *root = *team ? team : plan->host_workspace;
	agentbox_error *err = NULL;
	int rc = 0;

	if (!root || !plan->box_workspace)
		return tool_refuse(b->s.t, TOOL_BAD_INPUT, "EPOLICY",
				   "workspace", "the policy has none, so there "
				   "is nothing to serve");
	int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return tool_refuse(b->s.t, TOOL_NOT_FOUND, "ENOTFOUND", root,
				   "cannot open the directory: %s",
				   strerror(errno));
	if (agentbox_guard_new(plan->policy, fd, &b->guard, &err) < 0 ||
	    agentbox_place_new(&b->place, &err) < 0 ||
	    agentbox_place_set_cwd(b->place, plan->box_workspace,
				   strlen(plan->box_workspace), &err) < 0 ||
	    agentbox_place_set_root(b->place, plan->box_workspace,
				    strlen(plan->box_workspace), &err) < 0 ||
	    agentbox_place_add_temp(b->place, "/tmp", 4, &err) < 0)
		rc = tool_fail_as(b->s.t, TOOL_BAD_INPUT, err, root);
	close(fd);
	return rc;
}

static int check_options(tool *t, const tool_args *args)
{
	const char *kind = tool_get(args, "--tools");
	const char *key = tool_get(args, "--key");

	if (t->json)
		return tool_refuse(t, TOOL_USAGE, "EINVAL", "--json",
				   "standard output is the client's");
	if (kind && !strcmp(kind, "team"))
		return tool_refuse(t, TOOL_NO_BOX, "EUNSUPPORTED", "--tools",
				   "team needs teams, which this build lacks");
	if (!kind || strcmp(kind, NAME) != 0)
		return tool_refuse(t, TOOL_USAGE, "EINVAL", "--tools",
				   "say what is to be served: --tools " NAME);
	if (!key)
		return tool_refuse(t, TOOL_USAGE, "EINVAL", "--key",
				   "give the file of a key, nothing is served "
				   "without one; --new-key FILE makes it");
	if (tool_get(args, "--policy") &&
	    !strcmp(tool_get(args, "--policy"), "-"))
		return tool_refuse(t, TOOL_USAGE, "EINVAL", "--policy",
				   "standard input is the client's");
	return mcp_key_check(t, key);
}

/* The box of the list that has this id or name; borrowed, or NULL. */
static const json_t *find_box(const json_t *list, const char *name)
{
	json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
		if (!strcmp(text_of(v, "id"), name) ||
		    !strcmp(text_of(v, "name"), name))
			return v;
	return NULL;
}

/*
 * A box that lives already, by --box. Whose paths are judged here must be the
 * policy it was raised from, to the byte.
 */
static int attach(box_server *b, const char *name)
{
	const char *log = tool_get(b->box.args, "--audit");
	tool *t = b->s.t;
	agentbox_bytes *bytes = NULL;
	agentbox_error *err = NULL;
	int rc = tool_need_state(t);

	if (rc)
		return rc;
	if (agentbox_remote_list(t->context, &bytes, &err) < 0 ||
	    agentbox_remote_open(t->context, name, &b->remote, &err) < 0)
		rc = tool_fail_name(t, err, "--box");
	json_t *list = tool_json_of(bytes);
	const json_t *box = find_box(list, name);
	if (!rc && strcmp(text_of(box, "config_hash"), b->s.digest) != 0)
		rc = tool_refuse(t, TOOL_REFUSED, "EDENIED", "--box",
				 "'%s' was raised from another policy: give "
				 "the options it was raised with", name);
	json_decref(list);
	if (!rc)
		rc = session_catch_signals(&b->box);
	return rc || !log ? rc : tool_log_open(t, log, &b->box.audit);
}

static int open_box(box_server *b)
{
	const char *name = tool_get(b->box.args, "--box");

	if (!name)
		return session_open(&b->box);
	if (tool_has(b->box.args, "--name") ||
	    tool_has(b->box.args, "--peering"))
		return tool_refuse(b->s.t, TOOL_USAGE, "EINVAL", "--box",
				   "such a box has its name, and its place for "
				   "peers, already");
	return attach(b, name);
}

static int run(box_server *b, const tool_args *args)
{
	int rc = check_options(b->s.t, args);

	if (!rc)
		rc = tool_plan_new(b->s.t, args, &b->box.plan);
	if (!rc && agentbox_policy_is_bare(b->box.plan.policy))
		rc = tool_refuse(b->s.t, TOOL_BAD_INPUT, "EPOLICY", NULL,
				 "a bare policy makes no box to serve");
	if (!rc)
		rc = make_guard(b);
	if (!rc)
		rc = make_mcp(b);
	if (!rc)
		rc = open_box(b);
	if (rc)
		return rc;
	b->s.audit = b->box.audit;
	while (turn(b))
		;
	flush(b);
	return b->s.status;
}

int tool_mcp(tool *t, const tool_args *args)
{
	const char *new_key = tool_get(args, "--new-key");
	box_server b = {
		.s = { .t = t, .client = { .in = 0, .out = 1 },
		       .server = { .in = -1, .out = -1 } },
		.box = { .t = t, .args = args, .signal_fd = -1, .master = -1,
			 .events = json_array() },
	};

	if (new_key) {
		json_decref(b.box.events);
		json_decref(b.box.denied);
		return mcp_key_make(t, new_key);
	}
	int rc = run(&b, args);
	box_runs_end(&b);
	rc = session_close(&b.box, rc);
	link_end(&b.s.client);
	agentbox_mcp_free(b.s.guard);
	json_decref(b.s.inbox);
	agentbox_remote_free(b.remote);
	agentbox_guard_unref(b.guard);
	agentbox_decision_free(b.decision);
	agentbox_place_free(b.place);
	return rc;
}
