/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a shield adds to one exec in a box, and to a fork without one. Boxes
 * with and without are asked in turns, so that the machine's other work falls
 * on both, and there are several of each, since two that are alike differ by
 * where their memory lies. The first row tells by how much: it has two boxes
 * without a shield. What a caller feels is the time that passes; on a busy
 * machine most of that is waiting, and the processor time of the box and its
 * shield tells more. DESIGN.md section 15.
 */
#include "bench.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TURNS 1500
#define GROUPS 3
#define MAX_SIDES 16

static agentbox_context *context;
static char directory[4096];

typedef struct side {
	agentbox_sandbox *box;
	agentbox_process *process;
	int in, out;
	clockid_t shield; /* its processor time */
	bool has_shield;
} side;

static pid_t known[MAX_SIDES];
static size_t known_count;

static void must(int32_t rc, agentbox_error **err)
{
	if (rc == 0)
		return;
	fprintf(stderr, "bench shield: %s: %s\n",
		agentbox_error_get_where(*err),
		agentbox_error_get_message(*err));
	exit(1);
}

/* A child of ours that is called so and was not there before. */
static bool is_new_shield(pid_t pid)
{
	char path[64], text[256], name[32] = "";
	int parent = 0;
	FILE *f;

	for (size_t i = 0; i < known_count; i++)
		if (known[i] == pid)
			return false;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (f && fgets(text, sizeof(text), f))
		sscanf(text, "%*d (%31[^)]) %*c %d", name, &parent);
	if (f)
		fclose(f);
	return parent == getpid() && !strncmp(name, "agentbox-shield", 15);
}

static void find_shield(side *s)
{
	DIR *dir = opendir("/proc");

	for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
		pid_t pid = (pid_t)atoi(e->d_name);

		if (pid > 0 && known_count < MAX_SIDES && is_new_shield(pid)) {
			known[known_count++] = pid;
			s->has_shield = clock_getcpuclockid(pid, &s->shield) ==
					0;
		}
	}
	if (dir)
		closedir(dir);
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
	side s = { 0 };

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
	find_shield(&s);
	agentbox_command_free(command);
	agentbox_sandbox_options_free(options);
	agentbox_policy_unref(policy);
	return s;
}

static double shield_us(const side *s)
{
	struct timespec t = { 0 };

	if (s->has_shield)
		clock_gettime(s->shield, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

struct took {
	double passed, spent;
};

static struct took ask(side *s, char what)
{
	double before = shield_us(s), us[2];

	if (write(s->in, &what, 1) != 1 ||
	    read(s->out, us, sizeof(us)) != (ssize_t)sizeof(us)) {
		fprintf(stderr, "bench shield: the client has ended\n");
		exit(1);
	}
	us[1] += shield_us(s) - before;
	/* its records are read, outside what is measured */
	agentbox_sandbox_dispatch(s->box, NULL);
	return (struct took){ us[0], us[1] };
}

static void stop(side *s)
{
	close(s->in);
	close(s->out);
	agentbox_process_free(s->process);
	agentbox_sandbox_free(s->box);
}

/*
 * The median of what it adds within a turn; each goes first in every other
 * one. limit_us 0: none.
 */
static void compare(const char *name, side without[GROUPS],
		    side with[GROUPS], char what, double limit_us)
{
	struct series plain = { 0 }, added = { 0 }, spent = { 0 };
	char title[96];

	for (int i = 0; i < TURNS; i++) {
		side *first = &without[i % GROUPS], *second = &with[i % GROUPS];
		bool is_turned = i / GROUPS % 2;
		struct took b, a = ask(is_turned ? second : first, what);

		b = ask(is_turned ? first : second, what);
		/* the first ones fill caches */
		if (i < 50)
			continue;
		series_add(&plain, is_turned ? b.passed : a.passed);
		series_add(&added, is_turned ? a.passed - b.passed
					     : b.passed - a.passed);
		series_add(&spent, is_turned ? a.spent - b.spent
					     : b.spent - a.spent);
	}
	snprintf(title, sizeof(title), "%s: without a shield", name);
	table_row(title, &plain, NULL, 0);
	snprintf(title, sizeof(title), "%s: added", name);
	if (limit_us > 0)
		table_limit(title, &added, limit_us);
	else
		table_row(title, &added, NULL, 0);
	snprintf(title, sizeof(title), "%s: processor time", name);
	table_row(title, &spent, NULL, 0);
	series_free(&plain);
	series_free(&added);
	series_free(&spent);
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
	static side plain[GROUPS], shielded[GROUPS], audited[GROUPS];
	side other[GROUPS];
	agentbox_audit *audit;

	set_up();
	bench_say_busy("what is added is mostly waiting");
	audit = open_audit();
	for (int i = 0; i < GROUPS; i++) {
		plain[i] = start("off", NULL);
		shielded[i] = start("deny", NULL);
		audited[i] = start("deny", audit);
	}
	for (int i = 0; i < GROUPS; i++)
		other[i] = plain[(i + 1) % GROUPS];
	table_head("what a shield adds, in a box");
	compare("one exec, twice the same", plain, other, 'x', 0);
	compare("one exec", plain, shielded, 'x', 60);
	compare("one exec, with arguments", plain, shielded, 'a', 60);
	compare("one exec, with a file's name", plain, shielded, 'f', 60);
	compare("one exec, as none before", plain, shielded, 'v', 60);
	compare("one exec, audited", plain, audited, 'x', 60);
	compare("one exec, with arguments, audited", plain, audited, 'a', 60);
	compare("one fork, no exec", plain, shielded, 'n', 5);
	compare("one connection", plain, shielded, 'c', 60);
	compare("one file opened to write", plain, shielded, 'w', 60);
	compare("one file opened to read", plain, shielded, 'r', 5);
	for (int i = 0; i < GROUPS; i++) {
		stop(&plain[i]);
		stop(&shielded[i]);
		stop(&audited[i]);
	}
	agentbox_audit_unref(audit);
	agentbox_context_unref(context);
	bench_write(&args, json_pack("{s:s, s:s, s:o}", "benchmark", "shield",
				     "version", agentbox_version(), "rows",
				     table_rows()));
	return 0;
}
