/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a command and what a box costs, against posix_spawn and the peers
 * installed here, in one run and interleaved: machines differ, ratios less.
 * Targets: DESIGN.md section 15. As root everything runs a second time as
 * an ordinary user.
 *
 *   spawn [--json FILE] [--quick]      (or AB_BENCH_JSON=FILE make bench)
 *
 * A benchmark is no test: a missed target is printed, not an exit status.
 */
#include "bench.h"

#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define USER_ID 54321
#define THREADS 16
#define BALLAST ((size_t)2 << 30)

static agentbox_context *context;
static int warm_rounds = 1500, cold_rounds = 150;
static char directory[4096];

static void must(int32_t rc, agentbox_error **err)
{
	if (rc == 0)
		return;
	fprintf(stderr, "bench spawn: %s: %s\n",
		agentbox_error_get_where(*err),
		agentbox_error_get_message(*err));
	exit(1);
}

/* What is measured. */

static agentbox_policy *parse(const char *text)
{
	agentbox_policy *policy = NULL;
	agentbox_error *err = NULL;

	must(agentbox_policy_parse(context, text, strlen(text), &policy, &err),
	     &err);
	return policy;
}

/*
 * "plain": all namespaces, the system's directories, no limits: what
 * bubblewrap is asked for. "workspace": the built-in policy with its limits.
 */
static agentbox_policy *plain_policy(void)
{
	agentbox_policy *builtin = NULL, *policy;
	agentbox_bytes *text = NULL;
	agentbox_error *err = NULL;
	json_t *doc;
	char *left;

	must(agentbox_policy_builtin(context, "workspace", &builtin, &err),
	     &err);
	must(agentbox_policy_to_json(builtin, &text, &err), &err);
	doc = json_loads(agentbox_bytes_get_data(text), 0, NULL);
	json_object_del(doc, "limits");
	json_object_del(doc, "protect");
	left = json_dumps(doc, 0);
	policy = parse(left);
	free(left);
	json_decref(doc);
	agentbox_bytes_free(text);
	agentbox_policy_unref(builtin);
	return policy;
}

static agentbox_policy *workspace_policy(void)
{
	char text[8192];

	snprintf(text, sizeof(text),
		 "{\"agentbox\":1,\"extends\":\"builtin:workspace\","
		 "\"workspace\":{\"path\":\"%s/ws\",\"mount\":\"direct\"}}",
		 directory);
	return parse(text);
}

static agentbox_sandbox *raise_box(agentbox_policy *policy)
{
	agentbox_sandbox *box = NULL;
	agentbox_error *err = NULL;

	must(agentbox_sandbox_new(context, policy, NULL, &box, &err), &err);
	return box;
}

/* Pipes: the cheapest thing a host passes. */
struct stdio {
	int fds[3], other[2];
};

static struct stdio open_stdio(void)
{
	struct stdio s;
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		abort();
	s.fds[0] = in[0];
	s.fds[1] = s.fds[2] = out[1];
	s.other[0] = in[1];
	s.other[1] = out[0];
	return s;
}

static void close_stdio(struct stdio *s)
{
	close(s->fds[0]);
	close(s->fds[1]);
	close(s->other[0]);
	close(s->other[1]);
}

static agentbox_command *make_command(const struct stdio *s)
{
	static const char *const argv[] = { TRUE_PROGRAM };
	agentbox_command *command = NULL;
	agentbox_error *err = NULL;

	must(agentbox_command_new(argv, 1, &command, &err), &err);
	for (int i = 0; i < 3; i++)
		must(agentbox_command_set_fd(command, i, s->fds[i], &err),
		     &err);
	return command;
}

static void run_in(agentbox_sandbox *box, const agentbox_command *command)
{
	agentbox_process *process = NULL;
	agentbox_error *err = NULL;

	must(agentbox_sandbox_spawn(box, command, &process, &err), &err);
	must(agentbox_process_wait(process, 10000, &err), &err);
	if (agentbox_process_get_exit_status(process) != 0)
		abort();
	agentbox_process_free(process);
}

static double time_plain(const struct stdio *s)
{
	static const char *const argv[] = { TRUE_PROGRAM, NULL };
	double start = bench_now_us();

	if (run_program(argv, s->fds) < 0)
		abort();
	return bench_now_us() - start;
}

static double time_in(agentbox_sandbox *box, const agentbox_command *command)
{
	double start = bench_now_us();

	run_in(box, command);
	return bench_now_us() - start;
}

/* ended: when the command's status was known, before the teardown; or NULL. */
static double time_cold(agentbox_policy *policy,
			const agentbox_command *command, struct series *ended)
{
	double start = bench_now_us();
	agentbox_sandbox *box = raise_box(policy);

	run_in(box, command);
	if (ended)
		series_add(ended, bench_now_us() - start);
	agentbox_sandbox_free(box);
	return bench_now_us() - start;
}

/* The tables. */

static void bench_warm(struct series *base)
{
	agentbox_policy *plain = plain_policy(), *ws = workspace_policy();
	agentbox_sandbox *a = raise_box(plain), *b = raise_box(ws);
	struct stdio s = open_stdio();
	agentbox_command *command = make_command(&s);
	struct series in_plain = { 0 }, in_ws = { 0 };

	for (int i = 0; i < warm_rounds; i++) {
		series_add(base, time_plain(&s));
		series_add(&in_plain, time_in(a, command));
		series_add(&in_ws, time_in(b, command));
	}
	table_head("a command (true, stdio passed)");
	table_row("posix_spawn and wait", base, base, 0);
	table_row("in a running box", &in_plain, base, 1.10);
	table_row("in a running box, protected workspace", &in_ws, base, 1.10);
	series_free(&in_plain);
	series_free(&in_ws);
	agentbox_command_free(command);
	close_stdio(&s);
	agentbox_sandbox_free(a);
	agentbox_sandbox_free(b);
	agentbox_policy_unref(plain);
	agentbox_policy_unref(ws);
}

/* NULL when bubblewrap cannot do it here; a row says so later. */
static char **equivalent_bwrap(agentbox_policy *policy)
{
	agentbox_bytes *plan = NULL;
	agentbox_error *err = NULL;
	char **argv;

	must(agentbox_sandbox_plan_to_json(context, policy, &plan, &err), &err);
	argv = bwrap_of_plan(agentbox_bytes_get_data(plan));
	agentbox_bytes_free(plan);
	return argv;
}

/* The same by tests/bench/floor.c; NULL where nobody says where that is. */
static char **equivalent_floor(char **bwrap)
{
	const char *build = getenv("AB_TEST_BUILDDIR");
	char path[4200], **argv;
	size_t n = 0;

	if (!build)
		return NULL;
	snprintf(path, sizeof(path), "%s/tests/bench/floor", build);
	while (bwrap[n])
		n++;
	argv = calloc(n + 1, sizeof(*argv));
	if (!argv)
		abort();
	for (size_t i = 0; i < n; i++)
		argv[i] = strdup(i ? bwrap[i] : path);
	return argv;
}

static void make_equal(agentbox_policy *policy, equal_bwrap *e)
{
	agentbox_bytes *plan = NULL;
	agentbox_error *err = NULL;

	must(agentbox_sandbox_plan_to_json(context, policy, &plan, &err), &err);
	equal_bwrap_make(e, agentbox_bytes_get_data(plan));
	agentbox_bytes_free(plan);
}

static bool works(char **argv)
{
	struct stdio s = open_stdio();
	bool ok = run_program((const char *const *)argv, s.fds) == 0;

	close_stdio(&s);
	return ok;
}

struct cold {
	struct series plain, limits, full; /* boxes */
	struct series plain_ended;
	struct series lean, equal; /* bubblewrap */
	struct series lean_gone, floor;
};

/* ended: until its own wait has; gone: until nothing of it is left. */
static void time_peer(char **argv, const struct stdio *s, struct series *ended,
		      struct series *gone)
{
	double start = bench_now_us(), took;

	if (run_program((const char *const *)argv, s->fds) < 0)
		return;
	took = bench_now_us() - start;
	reap_all();
	if (ended)
		series_add(ended, took);
	series_add(gone, bench_now_us() - start);
}

static void print_cold(struct cold *c, const equal_bwrap *equal)
{
	struct series *lean = c->lean.count ? &c->lean : NULL;
	struct series *gone = c->lean_gone.count ? &c->lean_gone : NULL;
	struct series *same = c->equal.count ? &c->equal : NULL;

	table_head("a box, true in it, and its teardown");
	if (lean)
		table_row("bubblewrap, same namespaces and mounts", lean, lean,
			  0);
	else
		table_skip("bubblewrap, same namespaces and mounts",
			   "not installed, or cannot run here");
	table_row("box, all namespaces", &c->plain, lean, 0.60);
	table_row("box, with the built-in limits", &c->limits, lean, 0);
	table_row("box, limits and a protected workspace", &c->full, lean, 0);
	table_row("box, all namespaces, until true has ended", &c->plain_ended,
		  lean, 0);
	if (gone) {
		table_row("bubblewrap, until gone", gone, gone, 0);
		table_row("box, all namespaces", &c->plain, gone, 0);
	}
	if (gone && c->floor.count)
		table_row("the calls alone, nothing judged or walled",
			  &c->floor, gone, 0);
	if (same) {
		table_row("bubblewrap, the same tree, until gone", same, same,
			  0);
		table_row("box, all namespaces", &c->plain, same, 0.60);
	}
	print_sides(equal);
}

/* One after the other, round by round: what the machine does meets all. */
static void bench_cold(char **bwrap)
{
	agentbox_policy *plain = plain_policy(), *ws = workspace_policy();
	agentbox_policy *limits = parse("{\"agentbox\":1,"
					"\"extends\":\"builtin:workspace\"}");
	struct cold c = { 0 };
	struct stdio s = open_stdio();
	agentbox_command *command = make_command(&s);
	char **floor = equivalent_floor(bwrap);
	bool peer = works(bwrap), has_floor = floor && works(floor);
	equal_bwrap equal;

	/* what bwrap leaves behind is ours to wait for */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	make_equal(plain, &equal);
	for (int i = 0; i < cold_rounds; i++) {
		double took;

		series_add(&c.plain,
			   time_cold(plain, command, &c.plain_ended));
		series_add(&c.limits, time_cold(limits, command, NULL));
		series_add(&c.full, time_cold(ws, command, NULL));
		if (peer)
			time_peer(bwrap, &s, &c.lean, &c.lean_gone);
		if (has_floor)
			time_peer(floor, &s, NULL, &c.floor);
		took = peer ? time_equal_bwrap(&equal, s.fds) : -1;
		if (took >= 0)
			series_add(&c.equal, took);
	}
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
	print_cold(&c, &equal);
	equal_bwrap_end(&equal);
	argv_free(floor);
	series_free(&c.floor);
	series_free(&c.plain);
	series_free(&c.limits);
	series_free(&c.full);
	series_free(&c.plain_ended);
	series_free(&c.lean);
	series_free(&c.lean_gone);
	series_free(&c.equal);
	agentbox_command_free(command);
	close_stdio(&s);
	agentbox_policy_unref(limits);
	agentbox_policy_unref(plain);
	agentbox_policy_unref(ws);
}

static bool has_memory(void)
{
	long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return (double)pages * (double)size > 1.2 * (double)BALLAST;
}

/* In turns, so that what the machine does meanwhile meets both. */
static void bench_ballast(void)
{
	agentbox_policy *plain = plain_policy();
	struct series small = { 0 }, large = { 0 };
	struct stdio s = open_stdio();
	agentbox_command *command = make_command(&s);

	table_head("a box, in a host that holds 2 GiB");
	for (int round = 0; round < 3 && has_memory(); round++) {
		void *memory;

		for (int i = 0; i < cold_rounds / 3; i++)
			series_add(&small, time_cold(plain, command, NULL));
		memory = mmap(NULL, BALLAST, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			break;
		madvise(memory, BALLAST, MADV_NOHUGEPAGE);
		for (size_t at = 0; at < BALLAST; at += 4096)
			((volatile char *)memory)[at] = 1;
		for (int i = 0; i < cold_rounds / 3; i++)
			series_add(&large, time_cold(plain, command, NULL));
		munmap(memory, BALLAST);
	}
	if (large.count == 0) {
		table_skip("box", "less than 2.4 GiB of memory is free");
	} else {
		table_row("box, small host", &small, &small, 0);
		table_row("box, host with 2 GiB", &large, &small, 1.30);
	}
	series_free(&small);
	series_free(&large);
	agentbox_command_free(command);
	close_stdio(&s);
	agentbox_policy_unref(plain);
}

struct worker {
	agentbox_sandbox *box; /* NULL: posix_spawn */
	struct series times;
};

static void *work(void *data)
{
	struct worker *w = data;
	struct stdio s = open_stdio();
	agentbox_command *command = make_command(&s);

	for (int i = 0; i < warm_rounds / THREADS; i++)
		series_add(&w->times,
			   w->box ? time_in(w->box, command) : time_plain(&s));
	agentbox_command_free(command);
	close_stdio(&s);
	return NULL;
}

/* Every thread's times, and in *total how long all took per command. */
static struct series run_threads(agentbox_sandbox *box, struct series *total)
{
	static struct worker workers[THREADS];
	pthread_t threads[THREADS];
	struct series all = { 0 };
	double start = bench_now_us();

	for (int i = 0; i < THREADS; i++) {
		memset(&workers[i], 0, sizeof(workers[i]));
		workers[i].box = box;
		if (pthread_create(&threads[i], NULL, work, &workers[i]))
			abort();
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++) {
		for (size_t j = 0; j < workers[i].times.count; j++)
			series_add(&all, workers[i].times.us[j]);
		series_free(&workers[i].times);
	}
	series_add(total, (bench_now_us() - start) / (double)all.count);
	return all;
}

static void bench_threads(void)
{
	agentbox_policy *ws = workspace_policy();
	agentbox_sandbox *box = raise_box(ws);
	struct series plain_all = { 0 }, box_all = { 0 };

	for (int round = 0; round < 5; round++) {
		struct series s = run_threads(NULL, &plain_all);

		series_free(&s);
		s = run_threads(box, &box_all);
		series_free(&s);
	}
	table_head("16 threads, time per command over all");
	table_row("posix_spawn and wait", &plain_all, &plain_all, 0);
	table_row("in one running box, protected workspace", &box_all,
		  &plain_all, 0);
	series_free(&plain_all);
	series_free(&box_all);
	agentbox_sandbox_free(box);
	agentbox_policy_unref(ws);
}

/* Who. */

static void prepare(void)
{
	const char *tmp = getenv("TMPDIR"), *dir = getenv("AB_TEST_HELPER_DIR");
	agentbox_error *err = NULL;
	char path[4200];

	snprintf(directory, sizeof(directory), "%s/bench-%d",
		 tmp ? tmp : "/tmp", (int)getpid());
	snprintf(path, sizeof(path), "%s/ws", directory);
	if (mkdir(directory, 0755) < 0 || mkdir(path, 0755) < 0) {
		perror(directory);
		exit(1);
	}
	/* something to protect, as in any repository */
	snprintf(path, sizeof(path), "%s/ws/.git", directory);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/ws/.git/hooks", directory);
	mkdir(path, 0755);
	must(agentbox_context_new(&context, &err), &err);
	if (dir)
		must(agentbox_context_set_helper_dir(context, dir, &err), &err);
	snprintf(path, sizeof(path), "%s/state", directory);
	must(agentbox_context_set_state_dir(context, path, &err), &err);
}

static int discard(const char *path, const struct stat *st, int kind,
		   struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

/* A machine without the walls has nothing to measure; it says which. */
static bool can_raise(agentbox_policy *policy)
{
	agentbox_sandbox *box = NULL;
	agentbox_error *err = NULL;

	if (agentbox_sandbox_new(context, policy, NULL, &box, &err) < 0) {
		table_skip("box", agentbox_error_get_message(err));
		agentbox_error_free(err);
		return false;
	}
	agentbox_sandbox_free(box);
	return true;
}

static void bench_all(const char *who)
{
	struct series base = { 0 };
	agentbox_policy *plain;
	char **bwrap;

	prepare();
	table_set_who(who);
	printf("\nas %s\n", who);
	plain = plain_policy();
	bwrap = equivalent_bwrap(plain);
	if (can_raise(plain)) {
		bench_warm(&base);
		bench_cold(bwrap);
		bench_ballast();
		bench_threads();
		table_head("peers, per command, against posix_spawn");
		bench_peers(&base, bwrap, directory);
	}
	argv_free(bwrap);
	series_free(&base);
	agentbox_policy_unref(plain);
	agentbox_context_unref(context);
	nftw(directory, discard, 16, FTW_DEPTH | FTW_PHYS);
}

/* A child of another user; its rows come back through a pipe. */
static void bench_as_user(json_t *rows)
{
	json_t *more;
	/* a place of its own: TMPDIR may be closed to others */
	char tmp[] = "/tmp/abbenchXXXXXX", *made = mkdtemp(tmp);
	int fds[2], status;
	pid_t pid;

	if (!made || pipe2(fds, O_CLOEXEC) < 0)
		abort();
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		FILE *out = fdopen(fds[1], "w");

		if (!out || chown(made, USER_ID, USER_ID) < 0 ||
		    setgroups(0, NULL) < 0 ||
		    setresgid(USER_ID, USER_ID, USER_ID) < 0 ||
		    setresuid(USER_ID, USER_ID, USER_ID) < 0)
			_exit(1);
		setenv("TMPDIR", made, 1);
		setenv("HOME", made, 1);
		bench_all("an ordinary user");
		json_dumpf(table_rows(), out, 0);
		fclose(out);
		exit(0);
	}
	close(fds[1]);
	more = json_loadfd(fds[0], 0, NULL);
	close(fds[0]);
	waitpid(pid, &status, 0);
	rmdir(made);
	if (more)
		json_array_extend(rows, more);
	json_decref(more);
}

int main(int argc, char **argv)
{
	const struct bench_args args = bench_args_of(argc, argv);
	json_t *rows;

	if (args.is_quick)
		warm_rounds = 320, cold_rounds = 30;
	printf("spawning, libagentbox %s\n", agentbox_version());
	/* others on the CPUs cost a cold box more than a plain spawn */
	bench_say_busy("do not trust p99 and cold ratios");
	rows = json_array();
	if (geteuid() == 0)
		bench_as_user(rows);
	bench_all(geteuid() == 0 ? "root" : "an ordinary user");
	json_array_extend(rows, table_rows());
	bench_write(&args, json_pack("{s:s, s:s, s:o}", "benchmark", "spawn",
				     "version", agentbox_version(), "rows",
				     rows));
	return 0;
}
