/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox scope: ask about a tool call, do nothing. Every judgement is the
 * library's (agentbox_scope(3)); here are the documents it takes and the exit
 * status. Arguments go to the library as the bytes they came as, since what
 * is written twice or badly is what it looks for.
 */
#include "config.h"

#include <agentbox/scope.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"
#include "tool.h"

#define MOST_SCOPE ((size_t)4 << 20)
/* One more than the library looks at: it says itself that it is too much. */
#define MOST_ARGUMENTS ((size_t)8 << 20)

static int open_scope(tool *t, const tool_args *args, agentbox_scope **scope)
{
	const char *file = tool_get(args, "--scope");
	const char *policy_file = tool_get(args, "--policy");
	const char *builtin = tool_get(args, "--builtin");
	agentbox_policy *policy = NULL;
	agentbox_error *err = NULL;
	char *name = NULL;
	char *text = NULL;
	size_t n = 0;
	int rc;

	if (!file)
		return tool_refuse(t, TOOL_USAGE, "EINVAL", NULL,
				   "--scope is missing: a file that says who "
				   "the caller is, such as {\"id\": \"sb-1\"}");
	if (policy_file && builtin)
		return tool_refuse(t, TOOL_USAGE, "EINVAL", NULL,
				   "--policy and --builtin exclude each other");
	rc = tool_read_all(t, file, "scope", MOST_SCOPE, &text, &n);
	name = policy_file ? strdup(policy_file) :
			     text_format("builtin:%s",
					 builtin ? builtin : "workspace");
	if (rc == 0)
		rc = name ? tool_read_policy(t, name, &policy) : TOOL_INTERNAL;
	if (rc == 0 &&
	    agentbox_scope_new(policy, text, n, scope, &err) < 0)
		rc = tool_fail_as(t, TOOL_BAD_INPUT, err, file);
	agentbox_policy_unref(policy);
	free(name);
	free(text);
	return rc;
}

static int read_arguments(tool *t, const tool_args *args, char **text,
			  size_t *n)
{
	if (!strcmp(tool_get(args, "--scope"), "-"))
		return tool_refuse(t, TOOL_USAGE, "EINVAL", NULL,
				   "the arguments of the call come on standard "
				   "input; give --scope a file");
	if (isatty(STDIN_FILENO))
		text_note("type the arguments of the call, a JSON object, and "
			  "end with Control-D");
	return tool_read_all(t, "-", "arguments", MOST_ARGUMENTS, text, n);
}

static const char *verdict_name(const agentbox_decision *d)
{
	int32_t verdict = agentbox_decision_get_verdict(d);

	return verdict == AGENTBOX_VERDICT_ALLOW ? "allow" :
	       verdict == AGENTBOX_VERDICT_ASK	 ? "ask" :
						   "deny";
}

static int status_of(int32_t verdict)
{
	return verdict == AGENTBOX_VERDICT_ALLOW ? TOOL_OK :
	       verdict == AGENTBOX_VERDICT_ASK	 ? TOOL_ASK :
						   TOOL_DENY;
}

/* --- one call --- */

static int explain(tool *t, const agentbox_decision *d)
{
	agentbox_bytes *text = NULL;
	agentbox_error *err = NULL;

	if (agentbox_decision_explain(d, &text, &err) < 0)
		return tool_fail(t, err, NULL);
	fputs(agentbox_bytes_get_data(text), stderr);
	agentbox_bytes_free(text);
	return 0;
}

static void tell(const agentbox_decision *d, const char *name)
{
	const char *other = agentbox_decision_get_alternative(d);
	char *where = text_clean_line(agentbox_decision_get_where(d));
	char *clean = text_clean_line(name);

	if (agentbox_decision_get_verdict(d) == AGENTBOX_VERDICT_ALLOW)
		text_line(stderr, "allow: %s", clean ? clean : "");
	else
		text_line(stderr, "%s: %s: %s%s%s [%s]", verdict_name(d),
			  clean ? clean : "", agentbox_decision_get_reason(d),
			  where && *where ? ", at " : "", where ? where : "",
			  agentbox_decision_get_rule(d));
	if (*other)
		text_line(stderr, "  instead: %s", other);
	free(clean);
	free(where);
}

static int show(tool *t, const tool_args *args, const agentbox_decision *d)
{
	agentbox_bytes *json = NULL;
	agentbox_error *err = NULL;
	int rc = 0;

	if (tool_has(args, "--explain"))
		rc = explain(t, d);
	else if (!t->json)
		tell(d, args->operands[0]);
	if (rc || !t->json)
		return rc;
	if (agentbox_decision_to_json(d, &json, &err) < 0)
		return tool_fail(t, err, NULL);
	return tool_print_json(t, tool_json_of(json));
}

static int check_one(tool *t, const tool_args *args, agentbox_scope *scope)
{
	const char *name = args->operands[0];
	agentbox_decision *d = NULL;
	agentbox_error *err = NULL;
	char *text = NULL;
	size_t n = 0;
	int rc = read_arguments(t, args, &text, &n);

	if (rc == 0 && agentbox_scope_check(scope, name, strlen(name), text, n,
					    &d, &err) < 0)
		rc = tool_fail(t, err, NULL);
	if (rc == 0)
		rc = show(t, args, d);
	if (rc == 0)
		rc = status_of(agentbox_decision_get_verdict(d));
	agentbox_decision_free(d);
	free(text);
	return rc;
}

/* --- rows --- */

struct rows {
	tool *t;
	agentbox_scope *scope;
	agentbox_decision *d;
	int32_t worst;
	bool bad;
};

/* What is wrong with the row, or NULL: the decision is there. */
static const char *judge_row(struct rows *r, const json_t *row)
{
	const json_t *name = json_object_get(row, "tool");
	const json_t *args = json_object_get(row, "args");
	char *text = args ? json_dumps(args, JSON_ENCODE_ANY) : strdup("");
	int32_t e = -1;

	if (json_is_string(name) && text)
		e = agentbox_scope_check(r->scope, json_string_value(name),
					 json_string_length(name), text,
					 strlen(text), &r->d, NULL);
	free(text);
	return json_is_string(name) ? e < 0 ? "the row could not be judged" :
					      NULL :
				      "the row has no tool";
}

static json_t *decision_of(struct rows *r, const char *why)
{
	agentbox_bytes *json = NULL;

	if (!why && agentbox_decision_to_json(r->d, &json, NULL) == 0)
		return tool_json_of(json);
	r->bad = true;
	return json_pack("{s:s, s:s, s:s}", "verdict", "deny", "rule", "row",
			 "reason", why ? why : "the row could not be judged");
}

static int take_row(struct rows *r, const char *line, size_t n)
{
	json_t *row = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
	const char *why = json_is_object(row) ?
				  judge_row(r, row) :
				  "the row is not a JSON object";
	json_t *out = decision_of(r, why);
	char *text = NULL;
	int32_t verdict = why ? AGENTBOX_VERDICT_DENY :
				agentbox_decision_get_verdict(r->d);
	int rc;

	if (out && json_object_get(row, "id"))
		json_object_set(out, "id", json_object_get(row, "id"));
	text = out ? json_dumps(out, JSON_COMPACT) : NULL;
	rc = tool_write_line(r->t, text ? text_format("%s\n", text) : NULL);
	if (verdict > r->worst)
		r->worst = verdict;
	free(text);
	json_decref(out);
	json_decref(row);
	return rc;
}

static int check_rows(tool *t, agentbox_scope *scope)
{
	struct rows r = { .t = t, .scope = scope,
			  .worst = AGENTBOX_VERDICT_ALLOW };
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int rc = 0;

	while (rc == 0 && (n = getline(&line, &room, stdin)) >= 0) {
		while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
			n--;
		if (n > 0)
			rc = take_row(&r, line, (size_t)n);
	}
	if (rc == 0 && ferror(stdin))
		rc = tool_refuse(t, TOOL_BAD_INPUT, "ESYS", NULL,
				 "cannot read standard input: %s",
				 strerror(errno));
	free(line);
	agentbox_decision_free(r.d);
	if (rc == 0)
		rc = r.bad ? TOOL_BAD_INPUT : status_of(r.worst);
	return rc;
}

/* --- the subcommands --- */

int tool_scope_check(tool *t, const tool_args *args)
{
	bool rows = tool_has(args, "--jsonl");
	agentbox_scope *scope = NULL;
	int rc = 0;

	if (!rows && !args->operand_count)
		rc = tool_refuse(t, TOOL_USAGE, "EINVAL", NULL,
				 "scope check: TOOL is missing, the name that "
				 "the agent calls it by; or give --jsonl");
	else if (rows && args->operand_count)
		rc = tool_refuse(t, TOOL_USAGE, "EINVAL", NULL,
				 "scope check: '%s': with --jsonl each row on "
				 "standard input names its tool",
				 args->operands[0]);
	if (rc == 0)
		rc = open_scope(t, args, &scope);
	if (rc == 0)
		rc = rows ? check_rows(t, scope) : check_one(t, args, scope);
	agentbox_scope_unref(scope);
	return rc;
}

static int show_hints(tool *t, json_t *all)
{
	json_t *hints = json_object_get(all, "hints");

	if (t->json)
		return tool_print_json(t, all);
	for (size_t i = 0; i < json_array_size(hints); i++)
		text_line(stderr, "%s",
			  text_of(json_array_get(hints, i), "text"));
	if (!json_array_size(hints) && !is_true(all, "partial"))
		text_note("no hint: the call names no sandbox that may be "
			  "read, or the tool is scoped (scope check)");
	if (json_integer_value(json_object_get(all, "left_out")) > 0)
		text_note("there are more");
	if (is_true(all, "partial"))
		text_warning("not all of the arguments could be looked at");
	json_decref(all);
	return 0;
}

int tool_scope_hint(tool *t, const tool_args *args)
{
	const char *name = args->operands[0];
	agentbox_scope *scope = NULL;
	agentbox_bytes *json = NULL;
	agentbox_error *err = NULL;
	char *text = NULL;
	size_t n = 0;
	int rc = open_scope(t, args, &scope);

	if (rc == 0)
		rc = read_arguments(t, args, &text, &n);
	if (rc == 0 && agentbox_scope_hint(scope, name, strlen(name), text, n,
					   &json, &err) < 0)
		rc = tool_fail(t, err, NULL);
	if (rc == 0)
		rc = show_hints(t, tool_json_of(json));
	agentbox_scope_unref(scope);
	free(text);
	return rc;
}

int tool_scope_prompt(tool *t, const tool_args *args)
{
	agentbox_scope *scope = NULL;
	agentbox_bytes *text = NULL;
	agentbox_error *err = NULL;
	int rc = open_scope(t, args, &scope);

	if (rc == 0 && agentbox_scope_prompt(scope, &text, &err) < 0)
		rc = tool_fail(t, err, NULL);
	if (rc == 0 && t->json)
		rc = tool_print_json(t, json_pack("{s:s}", "prompt",
						  agentbox_bytes_get_data(
							  text)));
	else if (rc == 0)
		rc = tool_write_out(t, agentbox_bytes_get_data(text),
				    agentbox_bytes_get_size(text));
	agentbox_bytes_free(text);
	agentbox_scope_unref(scope);
	return rc;
}
