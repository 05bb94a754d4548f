/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a shield adds to one exec in a box, and to a fork without one. Boxes
 * with and without are asked in turns, so that the machine's other work falls
 * on both. DESIGN.md section 15.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TURNS 1500

static agentbox_context *context;
static char directory[4096];

typedef struct side {
	agentbox_sandbox *box;
	agentbox_process *process;
	int in, out;
} side;

static void must(int32_t rc, agentbox_error **err)
{
	if (rc == 0)
		return;
	fprintf(stderr, "bench shield: %s: %s\n",
		agentbox_error_get_where(*err),
		agentbox_error_get_message(*err));
	exit(1);
}

static side start(const char *mode, agentbox_audit *audit)
{
	const char *const argv[] = { "/bench/shield_client", TRUE_PROGRAM };
	agentbox_sandbox_options *options = NULL;
	agentbox_command *command = NULL;
	agentbox_policy *policy = NULL;
	agentbox_error *err = NULL;
	int in[2], out[2];
	char text[9216];
	side s;

	snprintf(text, sizeof(text),
		 "{\"agentbox\":1,\"extends\":\"builtin:workspace\","
		 "\"workspace\":{\"path\":\"%s/ws\"},\"limits\":{\"wall\":"
		 "\"10m\"},\"peering\":\"read\",\"mounts+\":[{\"from\":\"%s/bin\",\"to\":\"/bench\","
		 "\"access\":\"read\",\"exec\":true}],\"shield\":{\"mode\":"
		 "\"%s\",\"watch\":[\"connect\",\"peers\"]}}", directory,
		 directory, mode);
	must(agentbox_policy_parse(context, text, strlen(text), &policy, &err),
	     &err);
	must(agentbox_sandbox_options_new(&options, &err), &err);
	must(agentbox_sandbox_options_set_audit(options, audit, &err), &err);
	must(agentbox_sandbox_new(context, policy, options, &s.box, &err),
	     &err);
	must(agentbox_command_new(argv, 2, &command, &err), &err);
	if (pipe(in) < 0 || pipe(out) < 0)
		exit(1);
	must(agentbox_command_set_fd(command, 0, in[0], &err), &err);
	must(agentbox_command_set_fd(command, 1, out[1], &err), &err);
	must(agentbox_sandbox_spawn(s.box, command, &s.process, &err), &err);
	close(in[0]);
	close(out[1]);
	s.in = in[1];
	s.out = out[0];
	agentbox_command_free(command);
	agentbox_sandbox_options_free(options);
	agentbox_policy_unref(policy);
	return s;
}

static double ask(side *s, char what)
{
	double us = 0;

	if (write(s->in, &what, 1) != 1 ||
	    read(s->out, &us, sizeof(us)) != (ssize_t)sizeof(us)) {
		fprintf(stderr, "bench shield: the client has ended\n");
		exit(1);
	}
	/* its records are read, outside what is measured */
	agentbox_sandbox_dispatch(s->box, NULL);
	return us;
}

static void stop(side *s)
{
	close(s->in);
	close(s->out);
	agentbox_process_free(s->process);
	agentbox_sandbox_free(s->box);
}

/* The median of what it adds within a turn. */
static void compare(const char *name, side *without, side *with, char what,
		    double limit_us)
{
	struct series plain = { 0 }, added = { 0 };
	char title[96];

	for (int i = 0; i < TURNS; i++) {
		double a = ask(without, what), b = ask(with, what);

		/* the first ones fill caches */
		if (i < 50)
			continue;
		series_add(&plain, a);
		series_add(&added, b - a);
	}
	snprintf(title, sizeof(title), "%s: without a shield", name);
	table_row(title, &plain, NULL, 0);
	snprintf(title, sizeof(title), "%s: added", name);
	table_limit(title, &added, limit_us);
	series_free(&plain);
	series_free(&added);
}

/* However it ends: must() and a failed check exit. */
static void clean_up(void)
{
	const char *const remove[] = { "rm", "-rf", directory, NULL };
	const int fds[3] = { 0, 1, 2 };

	run_program(remove, fds);
}

static void set_up(void)
{
	const char *tmp = getenv("TMPDIR"), *build = getenv("AB_TEST_BUILDDIR");
	const char *dir = getenv("AB_TEST_HELPER_DIR");
	const int fds[3] = { 0, 1, 2 };
	agentbox_error *err = NULL;
	char from[4200], to[4200];
	const char *const argv[] = { "cp", from, to, NULL };

	snprintf(directory, sizeof(directory), "%s/agentbox-shield-%d",
		 tmp ? tmp : "/tmp", (int)getpid());
	mkdir(directory, 0755);
	atexit(clean_up);
	snprintf(to, sizeof(to), "%s/ws", directory);
	mkdir(to, 0755);
	snprintf(to, sizeof(to), "%s/bin", directory);
	mkdir(to, 0755);
	snprintf(from, sizeof(from), "%s/tests/bench/shield_client",
		 build ? build : ".");
	snprintf(to, sizeof(to), "%s/bin/shield_client", directory);
	if (run_program(argv, fds))
		exit(1);
	must(agentbox_context_new(&context, &err), &err);
	if (dir)
		must(agentbox_context_set_helper_dir(context, dir, &err), &err);
	snprintf(to, sizeof(to), "%s/state", directory);
	must(agentbox_context_set_state_dir(context, to, &err), &err);
}

static agentbox_audit *open_audit(void)
{
	agentbox_audit *audit = NULL;
	agentbox_error *err = NULL;
	char path[4200];

	snprintf(path, sizeof(path), "%s/audit.jsonl", directory);
	must(agentbox_audit_new(context, &audit, &err), &err);
	must(agentbox_audit_set_path(audit, path, &err), &err);
	must(agentbox_audit_open(audit, &err), &err);
	return audit;
}

int main(int argc, char **argv)
{
	const struct bench_args args = bench_args_of(argc, argv);
	agentbox_audit *audit;
	side plain, shielded, audited;

	set_up();
	bench_say_busy("do not trust what is added");
	audit = open_audit();
	plain = start("off", NULL);
	shielded = start("deny", NULL);
	audited = start("deny", audit);
	table_head("what a shield adds, in a box");
	compare("one exec", &plain, &shielded, 'x', 60);
	compare("one exec, with arguments", &plain, &shielded, 'a', 60);
	compare("one exec, with a file's name", &plain, &shielded, 'f', 60);
	compare("one exec, as none before", &plain, &shielded, 'v', 60);
	compare("one exec, audited", &plain, &audited, 'x', 60);
	compare("one exec, with arguments, audited", &plain, &audited, 'a',
		60);
	compare("one fork, no exec", &plain, &shielded, 'n', 5);
	compare("one connection", &plain, &shielded, 'c', 60);
	compare("one file opened to write", &plain, &shielded, 'w', 60);
	compare("one file opened to read", &plain, &shielded, 'r', 5);
	stop(&plain);
	stop(&shielded);
	stop(&audited);
	agentbox_audit_unref(audit);
	agentbox_context_unref(context);
	bench_write(&args, json_pack("{s:s, s:s, s:o}", "benchmark", "shield",
				     "version", agentbox_version(), "rows",
				     table_rows()));
	return 0;
}
