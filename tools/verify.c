/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox verify: the report of agentbox_verify(3) for people, wall by wall;
 * --json prints the document. With BOX the owner of that box carries it out,
 * since only he knows what the box should be; without, a box is raised as
 * `run` would, and removed again.
 */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <agentbox/owner.h>
#include <agentbox/verify.h>

#include "report.h"
#include "session.h"
#include "text.h"

#define COLUMN 18
#define WAIT_MS 150000

/* `body` is taken. */
static void row(enum text_color color, const char *name, char *body)
{
	char *label = text_format("  %s", name);

	if (label && body)
		text_item(stderr, COLUMN, color, label, body);
	free(label);
	free(body);
}

static const struct {
	const char *verdict, *word;
	enum text_color color;
} verdicts[] = {
	{ "missing", "MISSING", TEXT_BAD },
	{ "unknown", "UNKNOWN", TEXT_BAD },
	{ "weaker", "weaker", TEXT_WARN },
	{ "pass", "holds", TEXT_GOOD },
	{ "not-applicable", "not applicable", TEXT_PLAIN },
};
#define VERDICTS (sizeof(verdicts) / sizeof(*verdicts))
#define UNKNOWN 1

/* The first of the table that some finding of the wall has. */
static size_t worst_of(const json_t *findings, const char *wall, size_t *count)
{
	size_t worst = VERDICTS - 1, i;
	json_t *f;

	*count = 0;
	json_array_foreach(findings, i, f) {
		size_t v = 0;

		if (strcmp(text_of(f, "wall"), wall) != 0)
			continue;
		while (v < VERDICTS &&
		       strcmp(verdicts[v].verdict, text_of(f, "verdict")) != 0)
			v++;
		if (v == VERDICTS)
			v = UNKNOWN;
		if (v < worst)
			worst = v;
		++*count;
	}
	return worst;
}

static bool came_before(const json_t *findings, size_t index)
{
	const char *wall = text_of(json_array_get(findings, index), "wall");

	for (size_t i = 0; i < index; i++)
		if (!strcmp(text_of(json_array_get(findings, i), "wall"), wall))
			return true;
	return false;
}

static void tell_finding(const json_t *f)
{
	row(TEXT_PLAIN, "", text_format(
		"%s: %s: %s (%s; answered by: %s)", text_of(f, "verdict"),
		text_of(f, "probe"), text_of(f, "result"), text_of(f, "tried"),
		text_of(f, "answered")));
}

static void tell_wall(const json_t *findings, const char *wall, bool all)
{
	size_t count, worst = worst_of(findings, wall, &count), i;
	json_t *f;

	row(verdicts[worst].color, wall,
	    text_format("%s, %zu tried", verdicts[worst].word, count));
	json_array_foreach(findings, i, f) {
		const char *verdict = text_of(f, "verdict");

		if (!strcmp(text_of(f, "wall"), wall) &&
		    (all || (strcmp(verdict, "pass") != 0 &&
			     strcmp(verdict, "not-applicable") != 0)))
			tell_finding(f);
	}
}

/* The design's table: what the agent cannot turn off, and what he can. */
static void tell_controls(const json_t *controls, const char *kind)
{
	json_t *c;
	size_t i;

	json_array_foreach(controls, i, c) {
		bool stands = is_true(c, "stands");

		if (strcmp(text_of(c, "kind"), kind) != 0)
			continue;
		/* of the hard ones the findings say what was tried */
		const char *note = strcmp(kind, "soft") ? ""
							: text_of(c, "note");

		row(stands ? TEXT_GOOD : TEXT_WARN, text_of(c, "control"),
		    text_format("%s, %s%s%s%s", kind,
				stands ? "held by " : "not there",
				stands ? text_of(c, "holder") : "",
				*note ? ": " : "", note));
	}
}

static void tell_exposure(const json_t *exposure)
{
	json_t *part;
	size_t i;

	text_item(stderr, 0, TEXT_BOLD, "exposure", "");
	json_array_foreach(json_object_get(exposure, "parts"), i, part)
		row(TEXT_PLAIN, text_of(part, "part"), text_format(
			"%lld %s", (long long)json_integer_value(
				json_object_get(part, "points")),
			text_of(part, "why")));
	row(TEXT_BOLD, "sum", text_format(
		"%lld", (long long)json_integer_value(
			json_object_get(exposure, "score"))));
}

static void tell(const json_t *doc, bool all)
{
	const json_t *findings = json_object_get(doc, "findings");
	const json_t *counts = json_object_get(doc, "counts");
	const json_t *controls = json_object_get(doc, "controls");
	size_t i;
	json_t *f;

	text_line(stderr, "box %s, tier %s", text_of(doc, "box"),
		  text_of(doc, "tier"));
	text_item(stderr, 0, TEXT_BOLD, "walls", "");
	json_array_foreach(findings, i, f)
		if (!came_before(findings, i))
			tell_wall(findings, text_of(f, "wall"), all);
	report_weaker(doc);
	text_item(stderr, 0, TEXT_BOLD, "controls", "");
	tell_controls(controls, "hard");
	tell_controls(controls, "soft");
	tell_exposure(json_object_get(doc, "exposure"));
	if (is_true(doc, "good"))
		text_note("every wall answered");
	else
		text_error("a wall is missing, or could not be tried");
	text_note("%lld hold, %lld are missing, %lld unknown, %lld weaker",
		  (long long)json_integer_value(json_object_get(counts,
								"pass")),
		  (long long)json_integer_value(json_object_get(counts,
								"missing")),
		  (long long)json_integer_value(json_object_get(counts,
								"unknown")),
		  (long long)json_integer_value(json_object_get(counts,
								"weaker")));
}

/* `doc` is taken. */
static int report(tool *t, const tool_args *args, json_t *doc)
{
	int status = is_true(doc, "good") ? TOOL_OK : TOOL_TAMPERED;

	if (t->json) {
		int printed = tool_print_json(t, doc);
		return printed ? printed : status;
	}
	tell(doc, t->verbose || tool_has(args, "--all"));
	json_decref(doc);
	return status;
}

/* The id of a live box by its id or name; owned, or NULL. */
static char *find_id(const json_t *list, const char *name)
{
	json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
		if (!strcmp(text_of(v, "id"), name) ||
		    !strcmp(text_of(v, "name"), name))
			return strdup(text_of(v, "id"));
	return NULL;
}

static int verify_remote(tool *t, const tool_args *args, const char *name)
{
	agentbox_bytes *bytes = NULL, *answer = NULL;
	agentbox_remote *remote = NULL;
	agentbox_error *err = NULL;
	char *id = NULL, *request = NULL;
	int rc = tool_need_state(t);

	if (rc)
		return rc;
	if (agentbox_remote_list(t->context, &bytes, &err) < 0 ||
	    agentbox_remote_open(t->context, name, &remote, &err) < 0)
		rc = tool_fail_name(t, err, name);
	json_t *list = tool_json_of(bytes);
	if (!rc) {
		id = find_id(list, name);
		request = id ? text_format("{\"command\":\"verify\","
					   "\"box\":\"%s\"}", id) : NULL;
		if (!request)
			rc = tool_refuse(t, TOOL_NOT_FOUND, "ENOTFOUND", name,
					 "there is no such box any more");
	}
	text_progress_begin("trying the walls");
	if (!rc && agentbox_remote_call(remote, request, WAIT_MS, &answer,
					&err) < 0)
		rc = tool_fail(t, err, name);
	text_progress_end();
	agentbox_remote_free(remote);
	json_decref(list);
	free(request);
	free(id);
	return rc ? rc : report(t, args, tool_json_of(answer));
}

/* What --secret gave to the gateway must be nowhere else; it was judged. */
static int32_t add_secrets(const session *s, agentbox_verify_options *options,
			   agentbox_error **err)
{
	int32_t rc = 0;

	for (size_t i = 0; !rc && i < s->args->value_count; i++) {
		const tool_value *v = &s->args->values[i];
		const char *file = strchr(v->value, '=');
		char *name;
		int fd;

		if (strcmp(v->option->name, "--secret") != 0 || !file)
			continue;
		name = strndup(v->value, (size_t)(file - v->value));
		fd = open(file + 1, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		rc = agentbox_verify_options_add_secret(options, name, fd, err);
		if (fd >= 0)
			close(fd);
		free(name);
	}
	return rc;
}

/* Signals that end the tool, and no others: a window may change its size. */
static int open_stop(const session *s)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		if (sigismember(&s->handled, ending[i]))
			sigaddset(&set, ending[i]);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Nothing is said of it: who pressed the keys knows. */
static int say_end(session *s, agentbox_error *err)
{
	int signum = agentbox_error_get_code(err) == AGENTBOX_ECANCELED
			     ? session_pending_signal(s)
			     : 0;

	if (!signum)
		return tool_fail(s->t, err, NULL);
	agentbox_error_free(err);
	return TOOL_SIGNAL + signum;
}

static int verify_box(session *s)
{
	agentbox_verify_options *options = NULL;
	agentbox_verify *walls = NULL;
	agentbox_bytes *bytes = NULL;
	agentbox_error *err = NULL;
	int rc = 0, stop = open_stop(s);

	text_progress_begin("trying the walls");
	/* it is removed afterwards: what is revoked is nobody's */
	if (agentbox_verify_options_new(&options, &err) < 0 ||
	    agentbox_verify_options_set_revoke(options, 1, &err) < 0 ||
	    agentbox_verify_options_set_stop_fd(options, stop, &err) < 0 ||
	    add_secrets(s, options, &err) < 0 ||
	    agentbox_verify_run(s->box, options, &walls, &err) < 0 ||
	    agentbox_verify_to_json(walls, &bytes, &err) < 0)
		rc = say_end(s, err);
	text_progress_end();
	if (stop >= 0)
		close(stop);
	agentbox_verify_free(walls);
	agentbox_verify_options_free(options);
	return rc ? rc : report(s->t, s->args, tool_json_of(bytes));
}

/* An option about a box that is to be raised, or NULL. */
static const char *option_of_box(const tool_args *args)
{
	for (size_t i = 0; i < args->value_count; i++) {
		const char *name = args->values[i].option->name;
		const tool_option *o = tool_global_options;

		while (o->name && strcmp(o->name, name) != 0)
			o++;
		if (!o->name && strcmp(name, "--all") != 0)
			return name;
	}
	return NULL;
}

int tool_verify(tool *t, const tool_args *args)
{
	session s = { .t = t, .args = args, .signal_fd = -1, .master = -1 };
	int rc;

	if (args->operand_count && option_of_box(args))
		return tool_refuse(t, TOOL_USAGE, "EINVAL",
				   option_of_box(args),
				   "BOX lives already; the options are those "
				   "it was raised with");
	if (args->operand_count)
		return verify_remote(t, args, args->operands[0]);
	s.events = json_array();
	rc = tool_plan_new(t, args, &s.plan);
	if (!rc)
		rc = session_open(&s);
	if (!rc)
		rc = verify_box(&s);
	return session_close(&s, rc);
}
