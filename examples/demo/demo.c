/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The demo, on this source tree, on one screen: a box and its walls, a real
 * build and test in it, a series of refused actions each with the wall that
 * answered, the teardown, and the verified audit log.
 *
 *   demo WORK [HELPER-DIRECTORY [no-build]]
 *
 * WORK/tree is a copy of the tree (demo.sh makes it). Exit status 0: all of
 * it held; 1: a wall that the report calls standing let something through,
 * the build failed, something was left, or the log did not verify. A kernel
 * that refuses walls is not a failure: the demo says which and why, and goes
 * on with the rest.
 */
#include "demo.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define CAPTURE_MAX ((size_t)1 << 20)

static int complain(const char *what, agentbox_error *err)
{
	char text[1024];

	snprintf(text, sizeof(text), "%s: %s%s%s", what,
		 agentbox_error_get_where(err),
		 *agentbox_error_get_where(err) ? ": " : "",
		 agentbox_error_get_message(err));
	paragraph(TINT_BAD, text);
	agentbox_error_free(err);
	return -1;
}

bool wall_stands(const struct demo *d, const char *name)
{
	const json_t *walls = json_object_get(d->walls, "walls");

	return json_is_true(json_object_get(json_object_get(walls, name),
					    "standing"));
}

/* --- the host's side of the stage ---------------------------------------- */

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static int listen_on_loopback(struct demo *d)
{
	struct sockaddr_in at;
	socklen_t n = sizeof(at);

	memset(&at, 0, sizeof(at));
	at.sin_family = AF_INET;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	d->listener = socket(AF_INET,
			     SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->listener < 0 || bind(d->listener, (void *)&at, n) < 0 ||
	    listen(d->listener, 4) < 0 ||
	    getsockname(d->listener, (void *)&at, &n) < 0)
		return -1;
	d->port = ntohs(at.sin_port);
	return 0;
}

static int set_stage(struct demo *d, const char *work)
{
	char path[4096];

	snprintf(d->work, sizeof(d->work), "%s", work);
	snprintf(d->tree, sizeof(d->tree), "%s/tree", work);
	snprintf(d->log, sizeof(d->log), "%s/audit.jsonl", work);
	snprintf(d->outside, sizeof(d->outside), "%s/outside", work);
	snprintf(d->secret, sizeof(d->secret), "%s/home/.aws/credentials",
		 work);
	mkdir(d->outside, 0777);
	snprintf(path, sizeof(path), "%s/home", work);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/home/.aws", work);
	mkdir(path, 0755);
	/* readable to all: file permissions are not what is shown here */
	put_file(d->secret, "aws_secret_access_key = NOT-A-REAL-KEY\n");
	if (listen_on_loopback(d) < 0) {
		perror("demo: a listener on loopback");
		return -1;
	}
	return 0;
}

/* --- the box ------------------------------------------------------------- */

static int make_policy(struct demo *d, bool weaker, agentbox_error **err)
{
	json_t *doc = json_pack(
		"{s:i, s:s, s:s, s:{s:s, s:s}, s:{s:s, s:i, s:s}}", "agentbox",
		1, "extends", "builtin:workspace", "name", "demo", "workspace",
		"path", d->tree, "at", "/workspace", "limits", "memory", "2GiB",
		"pids", DEMO_PIDS, "wall", "15m");
	char *text;
	int32_t rc;

	if (weaker)
		json_object_set_new(doc, "require", json_array());
	text = json_dumps(doc, 0);
	json_decref(doc);
	agentbox_policy_unref(d->policy);
	d->policy = NULL;
	rc = agentbox_policy_parse(d->context, text ? text : "",
				   text ? strlen(text) : 0, &d->policy, err);
	free(text);
	return rc;
}

static int raise_once(struct demo *d, bool weaker, agentbox_error **err)
{
	agentbox_sandbox_options *options = NULL;
	int32_t rc = make_policy(d, weaker, err);

	if (rc == 0)
		rc = agentbox_sandbox_options_new(&options, err);
	if (rc == 0)
		rc = agentbox_sandbox_options_set_audit(options, d->audit,
							err);
	if (rc == 0)
		rc = agentbox_sandbox_new(d->context, d->policy, options,
					  &d->box, err);
	agentbox_sandbox_options_free(options);
	return rc;
}

/* The walls of the built-in policy, else what this kernel allows. */
static int raise_box(struct demo *d)
{
	agentbox_error *err = NULL;
	char why[1024];
	int32_t rc = raise_once(d, false, &err);

	if (rc == AGENTBOX_EWALL) {
		snprintf(why, sizeof(why), "the kernel refuses a wall here: "
			 "%s: %s", agentbox_error_get_where(err),
			 agentbox_error_get_message(err));
		paragraph(TINT_WARN, why);
		paragraph(TINT_WARN, "the policy requires it, so no box was "
			  "raised; again with \"require\": [], which takes the "
			  "walls there are:");
		agentbox_error_free(err);
		err = NULL;
		d->weaker = true;
		rc = raise_once(d, true, &err);
	}
	return rc == 0 ? 0 : complain("no box", err);
}

static json_t *load(agentbox_bytes *bytes)
{
	json_t *doc = bytes ? json_loadb(agentbox_bytes_get_data(bytes),
					 agentbox_bytes_get_size(bytes), 0,
					 NULL) :
			      NULL;

	agentbox_bytes_free(bytes);
	return doc;
}

static void show_wall(const char *name, const json_t *wall, bool left)
{
	bool stands = json_is_true(json_object_get(wall, "standing"));
	const char *by = json_string_value(json_object_get(wall, "holder"));
	const char *note = json_string_value(json_object_get(wall, "note"));
	const char *level = strstr(note ? note : "", "level");

	cell(TINT_GOOD, false, 17, "  %s", name);
	cell(stands ? TINT_GOOD : TINT_WARN, true, 5, stands ? "yes" : "no");
	cell(TINT_DIM, false, left ? 19 : 0, "%s%s%s", by ? by : "-",
	     level ? " " : "", level ? level : "");
	if (!left)
		line_end();
}

static void show_limit(const char *name, const json_t *limit, bool left)
{
	json_t *n = json_object_get(limit, "requested");
	const char *by = json_string_value(json_object_get(limit, "mechanism"));
	bool hard = json_is_true(json_object_get(limit, "hard"));
	char value[32] = "-";

	if (json_is_integer(n))
		show_number(value, sizeof(value), name, json_integer_value(n));
	cell(TINT_GOOD, false, 9, "  %s", name);
	cell(TINT_GOOD, false, 8, "%s", value);
	cell(hard ? TINT_GOOD : TINT_WARN, true, 5, hard ? "hard" : "soft");
	cell(TINT_DIM, false, left ? 19 : 0, "%s", by ? by : "-");
	if (!left)
		line_end();
}

/* What a JSON object lists, in two columns where there is room. */
static void show_columns(json_t *object,
			 void (*show)(const char *, const json_t *, bool))
{
	size_t half = json_object_size(object), i = 0;
	const char *names[64] = { NULL };
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) {
		if (i < 64)
			names[i++] = key;
	}
	if (!screen_is_narrow())
		half = (half + 1) / 2;
	for (i = 0; i < half && i < 32; i++) {
		bool pair = i + half < json_object_size(object);

		show(names[i], json_object_get(object, names[i]), pair);
		if (pair)
			show(names[i + half],
			     json_object_get(object, names[i + half]), false);
	}
}

/* What is missing; that a preferred wall is, the table says already. */
static void show_notes(const json_t *notes)
{
	for (size_t i = 0; i < json_array_size(notes); i++) {
		const char *text = json_string_value(json_array_get(notes, i));

		if (text && !strstr(text, "is preferred"))
			paragraph(TINT_WARN, text);
	}
}

/* Whatever is less than a box can be, soft limits and kept groups among it. */
static void show_weaker(const json_t *list)
{
	char text[1024] = "weaker here:";
	size_t n = strlen(text);

	for (size_t i = 0; i < json_array_size(list) && n < sizeof(text); i++) {
		const char *name = json_string_value(json_object_get(
			json_array_get(list, i), "wall"));

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s %s",
				      i ? "," : "", name ? name : "?");
	}
	if (json_array_size(list))
		paragraph(TINT_WARN, text);
}

static void show_box(struct demo *d, double ms)
{
	agentbox_bytes *walls = NULL, *limits = NULL;

	agentbox_sandbox_walls_to_json(d->box, &walls, NULL);
	agentbox_sandbox_limits_to_json(d->box, &limits, NULL);
	d->walls = load(walls);
	d->limits = load(limits);
	heading("A BOX over this tree", "tier %s, raised in %.1f ms",
		agentbox_sandbox_get_tier(d->box), ms);
	cell(TINT_DIM, true, 41, "  %-15s%-5s%s", "wall", "up", "held by");
	if (!screen_is_narrow())
		cell(TINT_DIM, true, 0, "  %-15s%-5s%s", "wall", "up",
		     "held by");
	line_end();
	show_columns(json_object_get(d->walls, "walls"), show_wall);
	show_columns(d->limits, show_limit);
	show_weaker(json_object_get(d->walls, "weaker"));
	if (d->weaker)
		show_notes(json_object_get(d->walls, "notes"));
}

/* --- commands ------------------------------------------------------------ */

static void first_line(const agentbox_bytes *bytes, char *out, size_t size)
{
	const char *text = bytes ? agentbox_bytes_get_data(bytes) : "";

	snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
}

static void last_line(const agentbox_bytes *bytes, char *out, size_t size)
{
	const char *text = bytes ? agentbox_bytes_get_data(bytes) : "";
	const char *end = text + strlen(text), *p;

	while (end > text && end[-1] == '\n')
		end--;
	for (p = end; p > text && p[-1] != '\n'; p--)
		;
	if (end > p)
		snprintf(out, size, "%.*s", (int)(end - p), p);
}

static int prepare(struct demo *d, const char *const *argv,
		   agentbox_command **command, agentbox_error **err)
{
	size_t argc = 0;
	char tmp[4200];
	int32_t rc;

	while (argv[argc])
		argc++;
	rc = agentbox_command_new(argv, argc, command, err);
	if (rc == 0 && wall_stands(d, "mountns"))
		return agentbox_command_set_cwd(*command, "/workspace/b", err);
	/* without a mount namespace: no /workspace, no private /tmp */
	snprintf(tmp, sizeof(tmp), "%s/b", d->tree);
	if (rc == 0)
		rc = agentbox_command_set_env(*command, "TMPDIR", tmp, err);
	if (rc == 0)
		rc = agentbox_command_set_cwd(*command, tmp, err);
	return rc;
}

bool demo_run(struct demo *d, const char *const *argv, struct outcome *out)
{
	agentbox_error *err = NULL;
	agentbox_command *command = NULL;
	agentbox_process *process = NULL;
	agentbox_bytes *text = NULL, *complaints = NULL;
	double start = facts_now_ms();
	int32_t rc;

	memset(out, 0, sizeof(*out));
	out->status = -1;
	rc = prepare(d, argv, &command, &err);
	if (rc == 0)
		rc = agentbox_sandbox_capture(d->box, command, CAPTURE_MAX,
					      &process, &text, &complaints,
					      &err);
	if (rc == 0) {
		out->status = agentbox_process_get_exit_status(process);
		first_line(text, out->text, sizeof(out->text));
		last_line(text, out->last, sizeof(out->last));
		last_line(complaints, out->tail, sizeof(out->tail));
	} else {
		complain(argv[0], err);
	}
	out->ms = facts_now_ms() - start;
	agentbox_bytes_free(text);
	agentbox_bytes_free(complaints);
	agentbox_process_free(process);
	agentbox_command_free(command);
	return rc == 0;
}

/* --- a build ------------------------------------------------------------- */

static bool step(struct demo *d, const char *shown, const char *line)
{
	const char *argv[] = { "/bin/sh", "-c", line, NULL };
	char passed[16] = "";
	struct outcome out;
	unsigned checks;
	bool ok;

	cell(TINT_GOOD, false, 49, "  $ %s", shown ? shown : line);
	ok = demo_run(d, argv, &out) && out.status == 0;
	cell(ok ? TINT_GOOD : TINT_BAD, true, 9, "exit %d", out.status);
	/* a test ends with its plan, "1..N" (TAP) */
	if (sscanf(out.last, "1..%u", &checks) == 1)
		snprintf(passed, sizeof(passed), "%u ok", checks);
	cell(TINT_GOOD, true, 13, "%s", passed);
	cell(TINT_DIM, false, 0, "%6.1f s", out.ms / 1e3);
	line_end();
	if (!ok)
		paragraph(TINT_BAD, *out.tail ? out.tail : out.last);
	d->failures += !ok;
	return ok;
}

static void build_and_test(struct demo *d)
{
	char b[4200];

	snprintf(b, sizeof(b), "%s/b", d->tree);
	mkdir(b, 0777);
	heading("A REAL BUILD and its tests in the box", "%s", "");
	if (d->build &&
	    step(d, NULL, "../configure -q --disable-static") &&
	    step(d, "make -j2 libexec/agentbox-init",
		 "make -s build-id.h && make -s -j2 libexec/agentbox-init"))
		step(d, "compile and run a test of its plans",
		     "make -s tests/fuzz/plan && tests/fuzz/plan "
		     "../tests/fuzz/corpus/plan");
	step(d, "cc -o intruder ../examples/demo/intruder.c",
	     "${CC:-cc} -o intruder ../examples/demo/intruder.c");
}

/* --- the end ------------------------------------------------------------- */

static void leave_something_running(struct demo *d)
{
	const char *argv[] = { "./intruder", "stay", NULL };
	struct outcome out;

	demo_run(d, argv, &out);
	demo_run(d, argv, &out);
}

static void tear_down(struct demo *d, size_t mounts, size_t fds)
{
	struct process_set set;
	char id[64];
	size_t groups, left, now_mounts, now_fds, now_groups;
	double start;
	bool clean;

	leave_something_running(d);
	snprintf(id, sizeof(id), "%s", agentbox_sandbox_get_id(d->box));
	facts_descendants(&set);
	groups = facts_cgroups(id);
	start = facts_now_ms();
	agentbox_sandbox_free(d->box);
	d->box = NULL;
	start = facts_now_ms() - start;
	left = facts_alive(&set);
	now_mounts = facts_mounts();
	now_fds = facts_fds();
	now_groups = facts_cgroups(id);
	clean = left == 0 && now_mounts == mounts && now_fds == fds &&
		now_groups == 0;
	d->failures += !clean;
	heading("TEARDOWN", "%.1f ms", start);
	cell(clean ? TINT_GOOD : TINT_BAD, true, 0,
	     "  left: %zu of %zu processes, %zu of %zu cgroups, ", left,
	     set.count, now_groups, groups);
	cell(clean ? TINT_GOOD : TINT_BAD, true, 0, "%zd mounts, %zd fds",
	     (ssize_t)(now_mounts - mounts), (ssize_t)(now_fds - fds));
	line_end();
}

/* The same log with one byte of a record changed. */
static void forge(const char *from, const char *to)
{
	FILE *in = fopen(from, "re"), *out = fopen(to, "we");
	struct stat st = { 0 };
	long at = 0;
	int c;

	stat(from, &st);
	while (in && out && (c = getc(in)) != EOF)
		putc(++at == st.st_size / 2 ? (c == 'x' ? 'y' : 'x') : c, out);
	if (in)
		fclose(in);
	if (out)
		fclose(out);
}

static void show_log(struct demo *d, agentbox_bytes *key,
		     agentbox_bytes *anchor)
{
	agentbox_error *err = NULL;
	agentbox_bytes *report = NULL;
	char forged[4200];
	const char *paths[1] = { d->log };
	json_t *r;
	int32_t rc = agentbox_audit_verify(
		d->context, paths, 1, agentbox_bytes_get_data(key),
		agentbox_bytes_get_data(anchor), NULL, &report, &err);

	heading("AUDIT LOG", "%s", "");
	r = load(report);
	cell(rc ? TINT_BAD : TINT_GOOD, true, 0, "  %lld records, %s, %s, ",
	     (long long)json_integer_value(json_object_get(r, "records")),
	     json_string_value(json_object_get(r, "status")),
	     json_string_value(json_object_get(r, "tail")));
	cell(rc ? TINT_BAD : TINT_GOOD, true, 0, "head %.16s...",
	     json_string_value(json_object_get(r, "head")));
	line_end();
	json_decref(r);
	d->failures += rc != 0;
	if (rc)
		complain("verify", err);
	snprintf(forged, sizeof(forged), "%s.forged", d->log);
	forge(d->log, forged);
	paths[0] = forged;
	err = NULL;
	rc = agentbox_audit_verify(d->context, paths, 1,
				   agentbox_bytes_get_data(key),
				   agentbox_bytes_get_data(anchor), NULL, NULL,
				   &err);
	d->failures += rc != AGENTBOX_ETAMPERED;
	cell(TINT_GOOD, rc == AGENTBOX_ETAMPERED, 0,
	     "  with one byte changed: ");
	cell(rc == AGENTBOX_ETAMPERED ? TINT_GOOD : TINT_BAD, true, 54,
	     "%s, %s", agentbox_error_name(rc),
	     agentbox_error_get_message(err));
	line_end();
	agentbox_error_free(err);
}

static int open_log(struct demo *d, agentbox_bytes **key)
{
	agentbox_error *err = NULL;

	if (agentbox_audit_new(d->context, &d->audit, &err) < 0 ||
	    agentbox_audit_set_path(d->audit, d->log, &err) < 0 ||
	    agentbox_audit_open(d->audit, &err) < 0 ||
	    agentbox_audit_get_key(d->audit, key, &err) < 0)
		return complain("audit log", err);
	return 0;
}

static void close_log(struct demo *d, agentbox_bytes *key)
{
	agentbox_error *err = NULL;
	agentbox_bytes *anchor = NULL;

	if (agentbox_audit_close(d->audit, &err) < 0 ||
	    agentbox_audit_get_anchor(d->audit, &anchor, &err) < 0) {
		d->failures++;
		complain("audit log", err);
	} else {
		show_log(d, key, anchor);
	}
	agentbox_bytes_free(anchor);
}

/* --- all of it ----------------------------------------------------------- */

static int make_context(struct demo *d, const char *helpers)
{
	agentbox_error *err = NULL;
	char state[4096];

	snprintf(state, sizeof(state), "%s/state", d->work);
	if (agentbox_context_new(&d->context, &err) < 0 ||
	    agentbox_context_set_state_dir(d->context, state, &err) < 0 ||
	    (helpers && *helpers &&
	     agentbox_context_set_helper_dir(d->context, helpers, &err) < 0))
		return complain("context", err);
	return 0;
}

static void play(struct demo *d)
{
	size_t mounts = facts_mounts(), fds = facts_fds();
	double start = facts_now_ms();

	if (raise_box(d) < 0) {
		/* said why; a machine that can hold nothing is no failure */
		d->failures += !d->weaker;
		return;
	}
	show_box(d, facts_now_ms() - start);
	build_and_test(d);
	heading("REFUSED", "%s", "");
	cell(TINT_DIM, true, 33, "  tried in the box");
	cell(TINT_DIM, true, 17, "what happened");
	cell(TINT_DIM, true, 0, "the wall that answered");
	line_end();
	attacks(d);
	tear_down(d, mounts, fds);
}

int main(int argc, char **argv)
{
	static struct demo d; /* large, and zero */
	agentbox_bytes *key = NULL;
	struct utsname u;

	if (argc < 2) {
		fprintf(stderr, "usage: demo WORK [HELPERS [no-build]]\n");
		return 2;
	}
	screen_open();
	d.build = argc < 4 || strcmp(argv[3], "no-build") != 0;
	uname(&u);
	heading("libagentbox demo", "Linux %s, %s", u.release,
		geteuid() == 0 ? "as root" : "as an ordinary user");
	if (set_stage(&d, argv[1]) < 0 ||
	    make_context(&d, argc > 2 ? argv[2] : NULL) < 0 ||
	    open_log(&d, &key) < 0)
		return 1;
	play(&d);
	close_log(&d, key);
	if (d.failures)
		paragraph(TINT_BAD, "something above was not as it should be");
	json_decref(d.walls);
	json_decref(d.limits);
	agentbox_bytes_free(key);
	agentbox_audit_unref(d.audit);
	agentbox_policy_unref(d.policy);
	agentbox_context_unref(d.context);
	close(d.listener);
	return d.failures ? 1 : 0;
}
