/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The harness, the box's half: policies, boxes, commands, attacks, events.
 * It refuses to hide a failure: a box that cannot be raised ends the case
 * with the library's own words. Spec: tests/e2e/box.h.
 */
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abtest.h"
#include "host.h"

#define CAPTURE_MAX ((size_t)1 << 20)

static agentbox_context *context;
static agentbox_sandbox *sandbox;
static char *detail_text;
static const char *ids[256];
static size_t id_count;

struct seen_event {
	char *kind, *object, *detail;
};
static struct seen_event events[256];
static size_t event_count;

agentbox_context *box_context(void)
{
	agentbox_error *err = NULL;

	if (context)
		return context;
	REQUIRE(agentbox_context_new(&context, &err) == 0, "%s",
		agentbox_error_get_message(err));
	REQUIRE(agentbox_context_set_helper_dir(
			context, ab_test_helper_dir(), &err) == 0,
		"%s", agentbox_error_get_message(err));
	REQUIRE(agentbox_context_set_state_dir(
			context, host_path("state"), &err) == 0,
		"%s", agentbox_error_get_message(err));
	return context;
}

char *box_document(const char *builtin, const char *mounts, const char *keys)
{
	return e2e_text("{\"agentbox\":1,\"extends\":\"builtin:%s\","
			"\"workspace\":{\"path\":\"%s\",\"at\":\"/workspace\"},"
			"\"mounts+\":[{\"from\":\"%s\","
			"\"to\":\"/attack\",\"access\":\"read\","
			"\"exec\":true}%s%s]%s%s}",
			builtin, host_path("ws"), host_path("tools"),
			mounts ? "," : "", mounts ? mounts : "",
			keys ? "," : "", keys ? keys : "");
}

agentbox_policy *box_policy(const char *document)
{
	agentbox_error *err = NULL;
	agentbox_policy *policy = NULL;
	int32_t r = agentbox_policy_parse(box_context(), document,
					  strlen(document), &policy, &err);

	REQUIRE(r == 0, "policy %s: %s", document,
		agentbox_error_get_message(err));
	return policy;
}

static agentbox_audit *box_audit;

void box_set_audit(agentbox_audit *audit)
{
	box_audit = audit;
}

static agentbox_audit *log_audit;

void box_open_log(void)
{
	agentbox_error *err = NULL;

	host_mkdir(host_path("log"));
	REQUIRE(agentbox_audit_new(box_context(), &log_audit, &err) == 0 &&
		agentbox_audit_set_path(log_audit,
					host_path("log/audit.jsonl"),
					&err) == 0 &&
		agentbox_audit_open(log_audit, &err) == 0, "audit: %s",
		agentbox_error_get_message(err));
	box_set_audit(log_audit);
}

char *box_close_log(void)
{
	char *text;

	box_end();
	CHECK(agentbox_audit_close(log_audit, NULL) == 0, "close");
	agentbox_audit_unref(log_audit);
	box_set_audit(NULL);
	text = host_read(host_path("log/audit.jsonl"));
	REQUIRE(text, "no log");
	return text;
}

agentbox_sandbox *box_try(const char *document, int32_t *code, char **where,
			  char **message)
{
	agentbox_error *err = NULL;
	agentbox_sandbox *s = NULL;
	agentbox_policy *policy = box_policy(document);
	agentbox_sandbox_options *options = NULL;

	REQUIRE(agentbox_sandbox_options_new(&options, &err) == 0 &&
		agentbox_sandbox_options_set_timeout(
			options, 1000 * ab_test_patience(10), &err) == 0 &&
		agentbox_sandbox_options_set_audit(options, box_audit,
						   &err) == 0,
		"%s", agentbox_error_get_message(err));
	e2e_doing("agentbox_sandbox_new");
	*code = agentbox_sandbox_new(box_context(), policy, options, &s, &err);
	agentbox_sandbox_options_free(options);
	agentbox_policy_unref(policy);
	*where = e2e_text("%s", agentbox_error_get_where(err));
	*message = e2e_text("%s", agentbox_error_get_message(err));
	agentbox_error_free(err);
	if (*code != 0)
		return NULL;
	sandbox = s;
	if (id_count < sizeof(ids) / sizeof(*ids))
		ids[id_count++] = e2e_text("%s", agentbox_sandbox_get_id(s));
	return s;
}

void box_needs_namespaces(void)
{
	if (!host_can_make_namespaces())
		e2e_skip("this kernel refuses user namespaces here");
}

void box_needs(const char *feature)
{
	if (!agentbox_has_feature(feature))
		e2e_skip("this build has no %s", feature);
}

agentbox_sandbox *box_raise_document(const char *document)
{
	char *where, *message;
	int32_t code;

	sandbox = box_try(document, &code, &where, &message);
	if (!sandbox && code == AGENTBOX_EWALL &&
	    !host_can_make_namespaces())
		e2e_skip("this kernel refuses user namespaces here: %s",
			 message);
	REQUIRE(sandbox, "%s at '%s': %s", agentbox_error_name(code), where,
		message);
	if (strcmp(agentbox_sandbox_get_tier(sandbox), "full") != 0)
		box_needs_namespaces();
	return sandbox;
}

agentbox_sandbox *box_raise(const char *mounts, const char *keys)
{
	return box_raise_document(box_document("workspace", mounts, keys));
}

void box_use_mutant(const char *helper, const char *leaves_out)
{
	const char *dir = host_path("mutant");
	int status;

	host_mkdir(dir);
	chmod(dir, 0755);
	HOST_RUN(&status, "sh", "-c",
		 "cp \"$0\"/agentbox-* \"$2\" && "
		 "cp \"$1\"/tests/e2e/mutant/\"$3\" \"$2\"",
		 ab_test_helper_dir(), ab_test_builddir(), dir, helper);
	REQUIRE(status == 0, "cannot copy the mutant");
	host_write(host_path("mutant/agentbox-mutant"), leaves_out);
	setenv("AB_TEST_HELPER_DIR", dir, 1);
}

agentbox_sandbox *box(void)
{
	REQUIRE(sandbox, "no box was raised");
	return sandbox;
}

void box_end(void)
{
	agentbox_sandbox_free(sandbox);
	sandbox = NULL;
}

void box_teardown(void)
{
	box_end();
	agentbox_context_unref(context);
	context = NULL;
}

const char *box_id_seen(size_t index)
{
	return index < id_count ? ids[index] : NULL;
}

static char *taken(agentbox_bytes *bytes)
{
	char *text = e2e_text("%s", bytes ? agentbox_bytes_get_data(bytes) :
			      "");

	agentbox_bytes_free(bytes);
	return text;
}

static agentbox_command *make_command(const char *const *argv)
{
	agentbox_error *err = NULL;
	agentbox_command *command = NULL;
	size_t argc = 0;

	while (argv[argc])
		argc++;
	REQUIRE(agentbox_command_new(argv, argc, &command, &err) == 0, "%s",
		agentbox_error_get_message(err));
	return command;
}

struct outcome box_run_in(agentbox_sandbox *in, const char *const *argv)
{
	struct outcome o = { .status = -1, .out = "", .err = "",
			     .error = "" };
	agentbox_command *command = make_command(argv);
	agentbox_bytes *out = NULL, *errors = NULL;
	agentbox_process *process = NULL;
	agentbox_error *err = NULL;

	e2e_doing(e2e_text("%s %s %s", argv[0], argv[1] ? argv[1] : "",
			   argv[1] && argv[2] ? argv[2] : ""));
	o.result = agentbox_sandbox_capture(in, command, CAPTURE_MAX,
					    &process, &out, &errors, &err);
	agentbox_command_free(command);
	if (o.result != 0) {
		o.error = e2e_text("%s", agentbox_error_get_message(err));
		snprintf(o.reason, sizeof(o.reason), "%s",
			 agentbox_error_name(o.result));
		agentbox_error_free(err);
		/* what ran but could not be settled is there */
		agentbox_process_free(process);
		agentbox_bytes_free(out);
		agentbox_bytes_free(errors);
		return o;
	}
	o.status = agentbox_process_get_exit_status(process);
	o.signal = agentbox_process_get_signal(process);
	snprintf(o.reason, sizeof(o.reason), "%s",
		 agentbox_process_get_reason(process));
	o.out = taken(out);
	o.err = taken(errors);
	agentbox_process_free(process);
	return o;
}

struct outcome box_run(const char *const *argv)
{
	return box_run_in(box(), argv);
}

struct outcome box_sh(const char *fmt, ...)
{
	char line[8192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	return BOX_RUN("/bin/sh", "-c", line);
}

agentbox_process *box_start(const char *const *argv, int out_fd)
{
	agentbox_command *command = make_command(argv);
	agentbox_process *process = NULL;
	agentbox_error *err = NULL;
	int32_t r = 0;

	if (out_fd >= 0)
		r = agentbox_command_set_fd(command, 1, out_fd, &err);
	if (r == 0)
		r = agentbox_sandbox_spawn(box(), command, &process, &err);
	agentbox_command_free(command);
	REQUIRE(r == 0, "%s: %s", argv[0], agentbox_error_get_message(err));
	return process;
}

/* Words of `line` behind the program's name; NULL-terminated. */
static const char **split(const char *program, const char *line)
{
	const char **argv = e2e_keep(calloc(64, sizeof(*argv)));
	char *save = NULL, *copy = e2e_text("%s", line);
	size_t n = 0;

	argv[n++] = program;
	for (char *word = strtok_r(copy, " ", &save); word && n < 63;
	     word = strtok_r(NULL, " ", &save))
		argv[n++] = word;
	return argv;
}

/* "name OK detail\n": the word in the middle. */
static const char *result_word(const char *out, const char *otherwise)
{
	const char *word = strchr(out, ' ');
	size_t n;

	detail_text = e2e_text("%s", "");
	if (!word)
		return e2e_text("no-answer:%s%s", out, otherwise);
	word++;
	n = strcspn(word, " \n");
	detail_text = e2e_text("%s", word[n] == ' ' ? word + n + 1 : "");
	detail_text[strcspn(detail_text, "\n")] = 0;
	return e2e_text("%.*s", (int)n, word);
}

const char *box_attack(const char *fmt, ...)
{
	char line[4096];
	struct outcome o;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	o = box_run(split("/attack/attacker", line));
	return result_word(o.out, e2e_text("%s%s (status %d, signal %d, %s)",
					   o.err, o.error, o.status, o.signal,
					   o.reason));
}

const char *host_attack(const char *fmt, ...)
{
	char line[4096], *out;
	int status;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	out = host_run(split(host_path("tools/attacker"), line), &status);
	return result_word(out, e2e_text("(wait status %d)", status));
}

const char *attack_detail(void)
{
	return detail_text ? detail_text : "";
}

bool one_of(const char *word, const char *words)
{
	size_t n = strlen(word);

	for (const char *at = words; at; at = strchr(at, '|')) {
		at += *at == '|';
		if (strncmp(at, word, n) == 0 && (at[n] == '|' || !at[n]))
			return true;
		if (!*at)
			break;
	}
	return false;
}

bool e2e_expect(const char *file, int line, const char *where,
		const char *expected, const char *attack, const char *got)
{
	return e2e_check(one_of(got, expected), file, line, attack,
			 "in the %s: expected %s, got %s %s", where, expected,
			 got, attack_detail());
}

static void collect_events(void)
{
	agentbox_error *err = NULL;
	agentbox_event *event = NULL;

	if (agentbox_sandbox_dispatch(box(), &err) != 0) {
		e2e_note("dispatch: %s", agentbox_error_get_message(err));
		agentbox_error_free(err);
		err = NULL;
	}
	while (event_count < sizeof(events) / sizeof(*events) &&
	       agentbox_sandbox_next_event(box(), &event, &err) == 0) {
		struct seen_event *e = &events[event_count++];

		e->kind = e2e_text("%s", agentbox_event_get_kind(event));
		e->object = e2e_text("%s", agentbox_event_get_object(event));
		e->detail = e2e_text("%s", agentbox_event_get_detail(event));
		if (event_count <= 20)
			e2e_note("event %s '%s': %s", e->kind, e->object,
				 e->detail);
		agentbox_event_free(event);
		event = NULL;
	}
	agentbox_error_free(err);
}

static bool ends_in(const char *text, const char *tail)
{
	size_t n = strlen(text), m = strlen(tail);

	return n >= m && strcmp(text + n - m, tail) == 0;
}

char *box_event(const char *kind, const char *object, int timeout_ms)
{
	int64_t until = e2e_now_ms() + timeout_ms;

	for (;;) {
		collect_events();
		for (size_t i = 0; i < event_count; i++)
			if (strcmp(events[i].kind, kind) == 0 &&
			    (!object || ends_in(events[i].object, object)))
				return events[i].detail;
		struct pollfd p = { .fd = agentbox_sandbox_get_fd(box()),
				    .events = POLLIN };
		int64_t left = until - e2e_now_ms();

		if (left <= 0)
			return NULL;
		poll(&p, 1, left > 50 ? 50 : (int)left);
	}
}

void box_forget_events(void)
{
	do {
		event_count = 0;
		collect_events();
	} while (event_count == sizeof(events) / sizeof(*events));
	event_count = 0;
}

char *box_walls(void)
{
	agentbox_error *err = NULL;
	agentbox_bytes *json = NULL;

	REQUIRE(agentbox_sandbox_walls_to_json(box(), &json, &err) == 0, "%s",
		agentbox_error_get_message(err));
	return taken(json);
}

char *box_limits(void)
{
	agentbox_error *err = NULL;
	agentbox_bytes *json = NULL;

	REQUIRE(agentbox_sandbox_limits_to_json(box(), &json, &err) == 0, "%s",
		agentbox_error_get_message(err));
	return taken(json);
}
