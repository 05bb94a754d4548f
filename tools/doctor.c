/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox doctor: the probe of agentbox_walls(3) as a table for people. It
 * judges nothing itself; --json prints what the library found.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <agentbox/walls.h>

#include "report.h"
#include "text.h"
#include "tool.h"

#define COLUMN 14

static long long number_of(const json_t *o, const char *key)
{
	return (long long)json_integer_value(json_object_get(o, key));
}

/* `body` is taken. */
static void row(enum text_color color, const char *name, char *body)
{
	char *label = text_format("  %s", name);

	if (label && body)
		text_item(stderr, COLUMN, color, label, body);
	free(label);
	free(body);
}

/* Strongest first; what each of them is worth. */
static const struct {
	const char *name, *worth;
} tiers[] = {
	{ "full", "every wall" },
	{ "no-proc", "every wall but a /proc of the box's own" },
	{ "landlock", "Landlock and seccomp, no namespaces" },
};

static void tell_tier(const char *name, const char *worth, const json_t *t)
{
	const char *cause = text_of(t, "cause"), *fix = text_of(t, "fix");
	const char *stage = text_of(t, "stage");
	const char *message = text_of(t, "message");

	if (!t)
		return;
	if (is_true(t, "available")) {
		row(TEXT_GOOD, name, text_format("yes: %s", worth));
		return;
	}
	row(TEXT_BAD, name, text_format("no: %s", *cause ? cause : message));
	if (*stage)
		row(TEXT_PLAIN, "", text_format(
			"refused at %s%s%s", stage,
			*message && *cause && strcmp(cause, message) != 0
			? ": " : "",
			*cause && strcmp(cause, message) != 0 ? message : ""));
	if (*fix)
		row(TEXT_PLAIN, "", text_format("to fix it: %s", fix));
}

/* Which controller is held by which version; limits rest on them. */
static void tell_cgroups(const json_t *cgroups)
{
	static const char *const names[] = { "memory", "pids", "cpu" };
	json_t *v1 = json_object_get(cgroups, "v1");
	json_t *v2 = json_object_get(cgroups, "v2");
	char *line = strdup("");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *by = is_true(v2, names[i]) ? "v2"
				 : *text_of(v1, names[i]) ? "v1" : "none";
		char *grown = text_format("%s%s%s %s", line ? line : "",
					  i ? ", " : "", names[i], by);
		free(line);
		line = grown;
	}
	row(TEXT_PLAIN, "cgroups", line);
}

static void tell_gateway(const json_t *gateway)
{
	const char *cause = text_of(gateway, "cause");
	const char *stage = text_of(gateway, "stage");
	const char *fix = text_of(gateway, "fix");
	bool known = strstr(cause, stage);

	if (is_true(gateway, "available")) {
		row(TEXT_GOOD, "gateway", text_format(
			"yes: boxes with a network, %s",
			is_true(gateway, "ipv6") ? "IPv4 and IPv6"
						 : "IPv4 only"));
		return;
	}
	row(TEXT_BAD, "gateway", text_format(
		"no: %s%s%s%s", cause, known ? "" : " (", known ? "" : stage,
		known ? "" : ")"));
	if (*fix)
		row(TEXT_PLAIN, "", text_format("to fix it: %s", fix));
}

static void tell_machine(const json_t *doc)
{
	json_t *landlock = json_object_get(doc, "landlock");
	json_t *ids = json_object_get(doc, "ids");
	long long abi = number_of(landlock, "abi");

	row(TEXT_PLAIN, "kernel", strdup(text_of(doc, "kernel")));
	row(TEXT_PLAIN, "landlock", abi
	    ? text_format("level %lld%s%s%s", abi,
			  is_true(landlock, "truncate") ? ", truncate" : "",
			  is_true(landlock, "net") ? ", net" : "",
			  is_true(landlock, "scope") ? ", scope" : "")
	    : strdup("none"));
	row(TEXT_PLAIN, "seccomp", strdup(is_true(doc, "seccomp") ? "yes"
							    : "none"));
	tell_gateway(json_object_get(doc, "gateway"));
	tell_cgroups(json_object_get(doc, "cgroups"));
	row(TEXT_PLAIN, "you", text_format(
		"uid %lld%s, %lld supplementary groups%s",
		number_of(ids, "uid"), is_true(ids, "root") ? " (root)" : "",
		number_of(ids, "supplementary_groups"),
		is_true(ids, "uid_pool")
		? "; boxes get kernel uids of their own" : ""));
}

static void tell_missing(const json_t *missing)
{
	json_t *m;
	size_t i;

	if (!json_array_size(missing))
		return;
	text_item(stderr, 0, TEXT_BOLD, "missing", "");
	json_array_foreach(missing, i, m) {
		const char *what = text_of(m, "what");
		row(TEXT_WARN, what, strdup(text_of(m, "cause")));
		if (*text_of(m, "fix"))
			row(TEXT_PLAIN, "", text_format(
				"to fix it: %s", text_of(m, "fix")));
	}
}

static void tell(const json_t *doc)
{
	json_t *all = json_object_get(doc, "tiers");
	const char *best = text_of(doc, "best_tier");

	text_item(stderr, 0, TEXT_BOLD, "tiers", "");
	for (size_t i = 0; i < sizeof(tiers) / sizeof(*tiers); i++)
		tell_tier(tiers[i].name, tiers[i].worth,
			  json_object_get(all, tiers[i].name));
	text_item(stderr, 0, TEXT_BOLD, "machine", "");
	tell_machine(doc);
	tell_missing(json_object_get(doc, "missing"));
	report_weaker(doc);
	if (!strcmp(best, "full"))
		text_note("boxes here have tier full");
	else if (*best && strcmp(best, "none") != 0)
		text_warning("the strongest box here has tier %s; a policy "
			     "that requires more is refused", best);
	else
		text_error("no box can be raised here");
}

static int32_t probe(tool *t, agentbox_bytes **bytes, agentbox_error **err)
{
	text_progress_begin("raising empty boxes");
	int32_t rc = agentbox_walls_probe(t->context, bytes, err);
	text_progress_end();
	return rc;
}

/* What a machine can enforce does not hang on where state would be. */
static int32_t forget_state(tool *t, agentbox_error **err)
{
	agentbox_context *bare = NULL;
	int32_t rc = agentbox_context_new(&bare, err);

	if (rc == 0 && t->helper_dir_owned)
		rc = agentbox_context_set_helper_dir(bare, t->helper_dir_owned,
						     err);
	if (rc < 0) {
		agentbox_context_unref(bare);
		return rc;
	}
	agentbox_context_unref(t->context);
	t->context = bare;
	return 0;
}

int tool_doctor(tool *t, const tool_args *args)
{
	agentbox_bytes *bytes = NULL;
	agentbox_error *err = NULL;

	(void)args;
	int failed = 0;
	int32_t rc = probe(t, &bytes, &err);
	if (rc < 0 && tool_is_about_state(t, err)) {
		const bool json = t->json;
		t->json = false; /* the document is still to come */
		failed = tool_fail(t, err, "--state");
		t->json = json;
		err = NULL;
		rc = forget_state(t, &err);
		if (rc == 0)
			rc = probe(t, &bytes, &err);
	}
	if (rc < 0) {
		bool helper = tool_is_about_helper(err);
		int status = tool_fail(t, err, NULL);
		if (helper)
			tool_note_helper();
		return status;
	}
	json_t *doc = tool_json_of(bytes);
	const char *best = text_of(doc, "best_tier");
	int status = *best && strcmp(best, "none") != 0 ? failed : TOOL_NO_BOX;
	if (t->json) {
		int printed = tool_print_json(t, doc);
		return printed ? printed : status;
	}
	tell(doc);
	json_decref(doc);
	return status;
}
