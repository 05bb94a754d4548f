/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The network wall, from inside a box with `network: gateway`, against no
 * proxy at all and the relays and proxies installed here: what a tunnel adds
 * to a byte there and back, set-ups per second of CPU time, memory of idle
 * tunnels, bulk, revocation, and requests that get a credential. Client and
 * origin are the same for all; the box's way has its own network namespace on
 * top. The CPU time of a row is that of the process between, so a slow client
 * does not count. Targets: DESIGN.md section 15.
 *
 *   gateway [--json FILE] [--quick]      (or AB_BENCH_JSON=FILE make bench)
 *
 * A benchmark is no test: a missed target is printed, not an exit status.
 */
#include "gateway.h"

#include "bench.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT_S 120
#define IDLE_TUNNELS 8000
#define LIVE_TUNNELS 100
#define SECRETS 32 /* as many as a box may have, each in three ways */
#define LEASES (3 * SECRETS)

static int rounds = 15, echoes = 2000, setups = 9600, bulk_mib = 2048;
static agentbox_context *context;
static agentbox_sandbox *box;
char directory[4096];
static char client[8192];
static int origin_port;
static pid_t origin_pid;

static bench_way ways[2 + MAX_PEERS] = {
	{ "no proxy", "direct", 0, 0 },
	{ "the gateway, from a box", "box", 0, 0 },
};
static int way_count = 2;
bench_way *const gateway = &ways[1];

void must(int32_t rc, agentbox_error **err)
{
	if (rc == 0)
		return;
	fprintf(stderr, "bench gateway: %s: %s\n",
		agentbox_error_get_where(*err),
		agentbox_error_get_message(*err));
	exit(1);
}

void need(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "bench gateway: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* --- the box and its gateway ---------------------------------------------- */

static pid_t parent_of(pid_t pid, char name[32])
{
	char path[64], line[512] = "", *end;
	FILE *f;
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	(void)!fgets(line, sizeof(line), f);
	fclose(f);
	end = strrchr(line, ')');
	if (!end || sscanf(line, "%*d (%31[^)]", name) != 1 ||
	    sscanf(end, ") %*c %d", &parent) != 1)
		return 0;
	return parent;
}

static pid_t find_gateway(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;
	char name[32], other[32];

	while (dir && !found && (entry = readdir(dir))) {
		pid_t pid = (pid_t)atoi(entry->d_name), up;

		up = pid > 0 ? parent_of(pid, name) : 0;
		if (!up || strncmp(name, "agentbox-gateway", 15) != 0)
			continue;
		while (up > 1 && up != getpid())
			up = parent_of(up, other);
		if (up == getpid())
			found = pid;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Whatever it is called, it is what is written in here. */
static int32_t give_value(void *data, const char *name, int32_t *fd)
{
	FILE *f = tmpfile();

	(void)data;
	if (!f || fprintf(f, "the value of %s", name) < 0 || fflush(f))
		return AGENTBOX_ENOTFOUND;
	*fd = fcntl(fileno(f), F_DUPFD_CLOEXEC, 3);
	fclose(f);
	return 0;
}

/* "[{...},...]" */
static void write_secrets(char *text, size_t size)
{
	size_t at = 0;

	for (int i = 0; i < SECRETS && at < size; i++)
		at += (size_t)snprintf(text + at, size - at,
				       "%s{\"name\":\"s%d\",\"delivery\":"
				       "[\"memfd\",\"file\",\"git\"],"
				       "\"hosts\":[\"s%d.test\"]}",
				       i ? "," : "[", i, i);
	need(at < size - 1, "room");
	memcpy(text + at, "]", 2);
}

agentbox_gateway *raise_box_with(const char *keys, agentbox_audit *audit)
{
	agentbox_sandbox_options *options = NULL;
	agentbox_policy *policy = NULL;
	agentbox_error *err = NULL;
	struct rlimit files;
	char text[14000];

	getrlimit(RLIMIT_NOFILE, &files);
	snprintf(text, sizeof(text),
		 "{\"agentbox\":1,\"extends\":\"builtin:workspace\","
		 "\"mounts+\":[{\"from\":\"%s/bin\",\"to\":\"/bench\","
		 "\"access\":\"read\",\"exec\":true}],"
		 "\"limits\":{\"files\":%d},\"network\":{\"mode\":\"gateway\","
		 "\"allow\":[\"127.0.0.1:%d\"],"
		 "\"private\":[\"127.0.0.0/8\"]},%s}",
		 directory,
		 files.rlim_max > 65536 ? 65536 : (int)files.rlim_max,
		 origin_port, keys);
	must(agentbox_policy_parse(context, text, strlen(text), &policy, &err),
	     &err);
	must(agentbox_sandbox_options_new(&options, &err), &err);
	must(agentbox_sandbox_options_set_audit(options, audit, &err), &err);
	must(agentbox_sandbox_new(context, policy, options, &box, &err), &err);
	agentbox_sandbox_options_free(options);
	agentbox_policy_unref(policy);
	gateway->pid = find_gateway();
	need(gateway->pid > 0, "no agentbox-gateway");
	return agentbox_sandbox_get_gateway(box);
}

/* With a record of each connection in an audit, when one is given. */
static void raise_box(agentbox_audit *audit)
{
	char keys[SECRETS * 100] = "\"secrets\":";
	const size_t n = strlen(keys);
	agentbox_error *err = NULL;

	write_secrets(keys + n, sizeof(keys) - n);
	must(agentbox_gateway_set_provider(raise_box_with(keys, audit),
					   give_value, NULL, &err), &err);
}

void end_box(void)
{
	agentbox_sandbox_free(box);
	box = NULL;
}

/* --- clients -------------------------------------------------------------- */

static agentbox_process *start_in_box(const char *const *argv,
				      const int fds[3])
{
	agentbox_process *process = NULL;
	agentbox_command *command = NULL;
	agentbox_error *err = NULL;
	int32_t count = 0;

	while (argv[count])
		count++;
	must(agentbox_command_new(argv, count, &command, &err), &err);
	for (int i = 0; i < 3; i++)
		must(agentbox_command_set_fd(command, i, fds[i], &err), &err);
	must(agentbox_sandbox_spawn(box, command, &process, &err), &err);
	agentbox_command_free(command);
	return process;
}

/* What the gateway has told is taken meanwhile, as in any host's loop. */
static void take_events(int ms)
{
	struct pollfd told = { .fd = agentbox_sandbox_get_fd(box),
			       .events = POLLIN };
	agentbox_event *event = NULL;
	agentbox_error *err = NULL;

	if (poll(&told, 1, ms) <= 0)
		return;
	must(agentbox_sandbox_dispatch(box, &err), &err);
	while (agentbox_sandbox_next_event(box, &event, NULL) == 0)
		agentbox_event_free(event);
}

static void end_in_box(agentbox_process *process)
{
	const double until = bench_now_us() + 1e6 * WAIT_S;
	agentbox_error *err = NULL;
	int32_t rc;

	while ((rc = agentbox_process_wait(process, 0, NULL)) ==
		       AGENTBOX_ETIMEOUT &&
	       bench_now_us() < until)
		take_events(5);
	if (rc)
		must(agentbox_process_wait(process, 0, &err), &err);
	need(agentbox_process_get_exit_status(process) == 0,
	     "the client in the box");
	agentbox_process_free(process);
}

const char *in(const char *name)
{
	static char path[4200];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

FILE *run_client(const bench_way *way, const char *mode, int count)
{
	bool inside = strcmp(way->kind, "box") == 0;
	const char *path = in("out");
	int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	const int fds[3] = { null_fd, out, 2 };
	char port[16], origin[16], number[16];
	FILE *f;
	const char *argv[] = { inside ? "/bench/gateway_client" : client,
			       way->kind, port, origin, mode, number, NULL };

	need(null_fd >= 0 && out >= 0, "output");
	snprintf(port, sizeof(port), "%d", way->port);
	snprintf(origin, sizeof(origin), "%d", origin_port);
	snprintf(number, sizeof(number), "%d", count);
	if (inside)
		end_in_box(start_in_box(argv, fds));
	else
		need(run_program(argv, fds) == 0, way->name);
	close(null_fd);
	close(out);
	f = fopen(path, "r");
	need(f != NULL, path);
	return f;
}

/* Seconds that the client took for all. */
static double time_client(const bench_way *way, const char *mode, int count)
{
	FILE *f = run_client(way, mode, count);
	double ns = 0;

	need(fscanf(f, "%lf", &ns) == 1, "the client's time");
	fclose(f);
	return ns / 1e9;
}

double cpu_of(pid_t pid)
{
	struct timespec t = { 0 };
	clockid_t clock;

	if (pid > 0 && clock_getcpuclockid(pid, &clock) == 0)
		(void)clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- rows ----------------------------------------------------------------- */

struct echo {
	struct series all, p99; /* of every round one */
	double cpu;		/* of who is between, for all of them */
};

/* At p99 by the median round: one that met another program does not count. */
static void print_added(struct echo *e, struct echo *direct,
			const bench_way *way)
{
	bool ours = way == gateway;
	char what[64];

	snprintf(what, sizeof(what), "added at the median, %.34s", way->name);
	table_value(what, series_at(&e->all, 0.5) -
				  series_at(&direct->all, 0.5),
		    "us", ours ? 25 : 0);
	snprintf(what, sizeof(what), "added at p99, %.34s", way->name);
	table_value(what, series_at(&e->p99, 0.5) -
				  series_at(&direct->p99, 0.5),
		    "us", ours ? 100 : 0);
	/* what other programs do meanwhile is not in it */
	table_value("  its CPU time for each", 1e6 * e->cpu /
					       (double)e->all.count, "us", 0);
}

static void echo_round(struct echo *e, const bench_way *way)
{
	double start = cpu_of(way->pid), ns;
	FILE *f = run_client(way, "echo", echoes);
	struct series s = { 0 };

	e->cpu += cpu_of(way->pid) - start;

	while (fscanf(f, "%lf", &ns) == 1) {
		series_add(&s, ns / 1e3);
		series_add(&e->all, ns / 1e3);
	}
	fclose(f);
	series_add(&e->p99, series_at(&s, 0.99));
	series_free(&s);
}

/* In turns, so that what the machine does meets all. */
static void bench_echo(void)
{
	struct echo e[2 + MAX_PEERS] = { 0 };

	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < way_count; i++)
			echo_round(&e[i], &ways[i]);
	}
	table_head("a byte there and back, through what is established");
	for (int i = 0; i < way_count; i++)
		table_row(ways[i].name, &e[i].all, &e[0].all, 0);
	for (int i = 1; i < way_count; i++)
		print_added(&e[i], &e[0], &ways[i]);
	for (int i = 0; i < way_count; i++) {
		series_free(&e[i].all);
		series_free(&e[i].p99);
	}
}

/* Per second of the process's CPU time; and of the clock, for the reader. */
static void bench_setup_of(const bench_way *way, const char *mode,
			   const char *what, double target)
{
	double cpu, wall, start;
	char line[64];

	(void)time_client(way, mode, setups / 8);
	start = cpu_of(way->pid);
	wall = time_client(way, mode, setups);
	cpu = cpu_of(way->pid) - start;
	if (way->pid == 0) {
		table_value(what, setups / wall, "/s", 0);
		return;
	}
	table_value(what, setups / cpu, "/CPU-s", target);
	snprintf(line, sizeof(line), "  by the clock, busy %.0f %% of it",
		 100 * cpu / wall);
	table_value(line, setups / wall, "/s", 0);
}

static void bench_setup(void)
{
	table_title("set-ups, 32 at once, and their ends (client and origin "
		    "have the other CPUs)");
	bench_setup_of(gateway, "setup", "the gateway, until CONNECT is "
		       "answered", -12000);
	for (int i = 0; i < way_count; i++) {
		char what[64];

		snprintf(what, sizeof(what), "%.40s, and a byte",
			 ways[i].name);
		bench_setup_of(&ways[i], "first", what, 0);
	}
}

static void bench_bulk(void)
{
	double best = 0, ours = 0;

	table_title("bulk to the client, one connection");
	for (int i = 0; i < way_count; i++) {
		double start = cpu_of(ways[i].pid), cpu, wall;
		double gb = (double)bulk_mib * 1048576 / 1e9;

		wall = time_client(&ways[i], "bulk", bulk_mib);
		cpu = cpu_of(ways[i].pid) - start;
		table_value(ways[i].name, gb / wall, "GB/s", 0);
		if (i > 0)
			table_value("  CPU time", cpu / gb, "s/GB",
				    i == 1 ? 0.2 : 0);
		if (i == 1)
			ours = gb / wall;
		else if (i > 1 && strcmp(ways[i].kind, "direct") == 0 &&
			 gb / wall > best)
			best = gb / wall;
	}
	if (best > 0)
		table_value("the gateway, in times of the better relay",
			    ours / best, "", -2);
}

/* --- many tunnels --------------------------------------------------------- */

struct holding {
	agentbox_process *process; /* NULL: no box's */
	pid_t pid;
	int in;
	FILE *out;
};

static void read_line(FILE *f, char line[128])
{
	need(fgets(line, 128, f) != NULL, "the client has ended");
}

/* In the box, or beside it. */
static struct holding hold_program(const char *const *argv, bool inside)
{
	struct holding h = { 0 };
	int in[2], out[2];

	need(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0, "pipe");
	if (inside)
		h.process = start_in_box(argv, (const int[]){ in[0], out[1],
							      2 });
	else
		h.pid = start_program(argv, (const int[]){ in[0], out[1], 2 });
	close(in[0]);
	close(out[1]);
	h.in = in[1];
	h.out = fdopen(out[0], "r");
	return h;
}

static struct holding hold(const bench_way *way, const char *mode, int count)
{
	bool inside = strcmp(way->kind, "box") == 0;
	char port[16], origin[16], number[16];
	const char *argv[] = { inside ? "/bench/gateway_client" : client,
			       way->kind, port, origin, mode, number, NULL };

	snprintf(port, sizeof(port), "%d", way->port);
	snprintf(origin, sizeof(origin), "%d", origin_port);
	snprintf(number, sizeof(number), "%d", count);
	return hold_program(argv, inside);
}

static void let_go(struct holding *h)
{
	close(h->in);
	if (h->process)
		end_in_box(h->process);
	else
		waitpid(h->pid, NULL, 0);
	fclose(h->out);
}

static double memory_of(pid_t pid)
{
	char path[64], line[256];
	double kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f) &&
	       sscanf(line, "RssAnon: %lf", &kib) != 1)
		;
	if (f)
		fclose(f);
	return kib * 1024;
}

static void bench_memory_of(const bench_way *way, int count)
{
	double before = memory_of(way->pid);
	struct holding h = hold(way, "hold", count);
	char what[64], line[128] = "";

	snprintf(what, sizeof(what), "%.40s", way->name);
	if (fgets(line, sizeof(line), h.out))
		table_value(what, (memory_of(way->pid) - before) / count,
			    "bytes", way == gateway ? 1024 : 0);
	else
		table_skip(what, "cannot hold so many");
	let_go(&h);
	snprintf(what, sizeof(what), "  before the first connection");
	table_value(what, before / 1024, "KiB", 0);
}

/* As many as the descriptors of the gateway and of the box's limits allow. */
static void bench_memory(void)
{
	struct rlimit files;
	int count = IDLE_TUNNELS;
	char title[64];

	getrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_max / 2 < IDLE_TUNNELS + 256)
		count = (int)files.rlim_max / 2 - 256;
	snprintf(title, sizeof(title), "user memory for each of %d idle "
		 "tunnels", count);
	table_title(title);
	if (count < LIVE_TUNNELS) {
		table_skip("idle tunnels", "too few descriptors");
		return;
	}
	for (int i = 1; i < way_count; i++)
		bench_memory_of(&ways[i], count);
}

/* Every secret in every way; who asked has ended, what is leased stays. */
static void lease_all(void)
{
	char count[16];
	const char *const argv[] = {
		"sh", "-ec", "i=0; while [ $i -lt $0 ]; do "
		"$AGENTBOX_SECRET get s$i; $AGENTBOX_SECRET get --file s$i; "
		"printf 'protocol=https\\nhost=s%d.test\\n' $i | "
		"$AGENTBOX_SECRET git get; i=$((i + 1)); done >/dev/null",
		count, NULL
	};
	const int fds[3] = { 0, 1, 2 };

	snprintf(count, sizeof(count), "%d", SECRETS);
	end_in_box(start_in_box(argv, fds));
}

/* The last: a revoked gateway lets nothing through any more. */
static void bench_revoke(void)
{
	static const char *const reader[] = {
		"sh", "-c", "f=/run/agentbox/secrets; cat $f/* | wc -c; "
		"read x; cat $f/* | wc -c", NULL
	};
	struct holding h, files;
	double begin, returned, ns;
	agentbox_error *err = NULL;
	uint64_t count = 0;
	int cut, left;
	char line[128];

	lease_all();
	files = hold_program(reader, true);
	read_line(files.out, line);
	h = hold(gateway, "cut", LIVE_TUNNELS);
	read_line(h.out, line);
	begin = bench_now_us();
	must(agentbox_gateway_revoke(agentbox_sandbox_get_gateway(box),
				     &count, &err), &err);
	returned = bench_now_us();
	read_line(h.out, line);
	need(sscanf(line, "%d %lf", &cut, &ns) == 2, "the client's time");
	let_go(&h);
	need(write(files.in, "\n", 1) == 1, "the reader of files");
	read_line(files.out, line);
	need(sscanf(line, "%d", &left) == 1, "what is left of files");
	let_go(&files);
	table_title("revocation of 100 live tunnels and 96 leases");
	table_value("what was cut and ended, all in all", (double)count, "",
		    -(LIVE_TUNNELS + LEASES));
	table_value("bytes left in the files of secrets", left, "", 0);
	table_value("tunnels that the client saw end", cut, "",
		    -LIVE_TUNNELS);
	table_value("until the last had ended for the client",
		    (ns / 1e3 - begin) / 1e3, "ms", 100);
	table_value("until the call had returned", (returned - begin) / 1e3,
		    "ms", 100);
}

/* What a record before each connection costs. */
static void bench_audited(void)
{
	agentbox_audit *audit = NULL;
	agentbox_error *err = NULL;

	must(agentbox_audit_new(context, &audit, &err), &err);
	must(agentbox_audit_set_path(audit, in("log"), &err), &err);
	must(agentbox_audit_open(audit, &err), &err);
	raise_box(audit);
	table_title("the same with an audit: no connection before its record");
	bench_setup_of(gateway, "setup", "the gateway, until CONNECT is "
		       "answered", 0);
	end_box();
	agentbox_audit_unref(audit);
}

/* --- all ------------------------------------------------------------------ */

static int discard(const char *path, const struct stat *st, int kind,
		   struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

/* Also when a row fails: no peer is left behind. */
static void clean_up(void)
{
	peers_end(ways + 2, way_count - 2);
	way_count = 2;
	kill(origin_pid, SIGKILL);
	waitpid(origin_pid, NULL, 0);
	nftw(directory, discard, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_directory(const char *name)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s%s", directory, name);
	need(mkdir(path, 0755) == 0, path);
}

/* The client lies in a directory of its own, which the box mounts. */
static void copy_client(void)
{
	const char *build = getenv("AB_TEST_BUILDDIR");
	char from[4200];
	const char *const argv[] = { "cp", from, client, NULL };
	const int fds[3] = { 0, 1, 2 };

	snprintf(from, sizeof(from), "%s/tests/bench/gateway_client",
		 build ? build : ".");
	snprintf(client, sizeof(client), "%s/bin/gateway_client", directory);
	need(run_program(argv, fds) == 0, from);
}

static void prepare(void)
{
	const char *tmp = getenv("TMPDIR"), *dir = getenv("AB_TEST_HELPER_DIR");
	agentbox_error *err = NULL;

	snprintf(directory, sizeof(directory), "%s/bench-%d",
		 tmp ? tmp : "/tmp", (int)getpid());
	make_directory("");
	atexit(clean_up);
	make_directory("/bin");
	copy_client();
	must(agentbox_context_new(&context, &err), &err);
	if (dir)
		must(agentbox_context_set_helper_dir(context, dir, &err), &err);
}

static void more_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
}

static void bench_all(void)
{
	raise_box(NULL);
	way_count += peers_begin(ways + 2, origin_port);
	bench_memory();
	bench_echo();
	bench_setup();
	bench_bulk();
	bench_revoke();
	end_box();
	bench_audited();
	bench_routes(rounds, echoes / 4);
}

int main(int argc, char **argv)
{
	const struct bench_args args = bench_args_of(argc, argv);

	if (args.is_quick) {
		rounds = 5;
		setups = 2400;
		bulk_mib = 1024;
	}
	printf("the network wall, libagentbox %s\n", agentbox_version());
	if (!agentbox_has_feature("gateway")) {
		printf("  skipped: this build has no gateway\n");
		return 0;
	}
	bench_say_busy("do not trust latencies, nor what is per second of the "
		       "clock");
	more_files();
	ways[0].port = origin_port = origin_begin(&origin_pid);
	prepare();
	bench_all();
	agentbox_context_unref(context);
	bench_write(&args, json_pack("{s:s, s:s, s:o}", "benchmark", "gateway",
				     "version", agentbox_version(), "rows",
				     table_rows()));
	return 0;
}
