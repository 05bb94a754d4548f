/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Snapshots of 80,000 files against rsync with the same excludes, cp and tar,
 * in turns in one run: a full copy, a refresh of what did not change and of
 * what changed in one file of a hundred; the exchange under readers who open
 * all the time; memory per entry. AB_BENCH_TREE=DIR does the copy and the
 * unchanged refresh on that tree as well. Targets: DESIGN.md section 15.
 *
 * Nothing is removed between the copies that are compared, and what one wrote
 * is on the disk before the next begins: ext4(5) without a journal looks past
 * the inodes of files removed in the last minutes one by one, and dirty pages
 * slow whoever comes next. The source is held in memory for the same reason,
 * and the memory that a copy needs has been touched before it begins.
 *
 * A real-time policy or a nice value below zero would be rsync's alone: no
 * helper keeps its host's (bench.h). On a busy machine give the bench a
 * control group with large cpu.shares (cpu.weight), which both inherit. Peers
 * have sessions of their own, as the copier has: where autogroups are on
 * (sched(7)) each session has a share.
 *
 *   snapshot [--json FILE] [--quick]      (or AB_BENCH_JSON=FILE make bench)
 *
 * A benchmark is no test: a missed target is printed, not an exit status.
 */
#include "snapshot.h"

#include "bench.h"

#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define READERS 2
/* Below it trees that were copied are removed at once, which some file systems
   go on with for as long as the next turn takes (ext4 with discard: ours 1.0
   of rsync in place of 0.4). */
#define ROOM_WANTED (UINT64_C(8) << 30)
#define CHANGED_STEP 100

static size_t files = 80000;
static int rounds = 3, swaps = 10;
static uint64_t opens_wanted = 100000;
static agentbox_context *context;
static char directory[4096], excludes[4200];

static void must(int32_t rc, agentbox_error **err)
{
	if (rc == 0)
		return;
	fprintf(stderr, "bench snapshot: %s: %s\n",
		agentbox_error_get_where(*err),
		agentbox_error_get_message(*err));
	exit(1);
}

static int discard(const char *path, const struct stat *st, int kind,
		   struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static int make_writable(const char *path, const struct stat *st, int kind,
			 struct FTW *at)
{
	(void)st;
	(void)at;
	return kind == FTW_D ? chmod(path, 0755) : 0;
}

/* Whatever lies there, directories without the w bit too. */
static void forget(const char *path)
{
	nftw(path, make_writable, 64, FTW_PHYS);
	nftw(path, discard, 64, FTW_DEPTH | FTW_PHYS);
}

static char *in(const char *name);

/* Out of the way of the next copy, untimed; removed at the end. */
static void put_away(const char *path)
{
	static unsigned count;
	static bool has_said;
	struct statvfs room;
	char name[32];
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || syncfs(fd) < 0 || fstatvfs(fd, &room) < 0) {
		perror(directory);
		exit(1);
	}
	close(fd);
	snprintf(name, sizeof(name), "away%u", count++);
	if (room.f_bavail * room.f_frsize >= ROOM_WANTED &&
	    rename(path, in(name)) == 0)
		return;
	if (!has_said && access(path, F_OK) == 0) {
		has_said = true;
		printf("trees in %s are removed between turns\n(it has less "
		       "than %d GiB free); do not trust the ratios\n",
		       directory, (int)(ROOM_WANTED >> 30));
	}
	forget(path);
}

static char *in(const char *name)
{
	static char paths[4][4200];
	static unsigned at;
	char *path = paths[at++ % 4];

	snprintf(path, 4200, "%s/%s", directory, name);
	return path;
}

/* --- peers ---------------------------------------------------------------- */

static double run_peer(const char *const *argv)
{
	const int fds[3] = { 0, 1, 2 };
	double start = bench_now_us();

	if (run_session(argv, fds) < 0) {
		fprintf(stderr, "bench snapshot: %s failed\n", argv[0]);
		exit(1);
	}
	return bench_now_us() - start;
}

static double run_rsync(const char *source)
{
	char from[4300], exclude[4300];
	const char *argv[] = { "rsync", "-a", "--delete", exclude, from,
			       in("rsync/"), NULL };

	snprintf(from, sizeof(from), "%s/", source);
	snprintf(exclude, sizeof(exclude), "--exclude-from=%s", excludes);
	return run_peer(argv);
}

static double run_cp(const char *source)
{
	const char *argv[] = { "cp", "-a", source, in("cp"), NULL };

	return run_peer(argv);
}

static double run_tar(const char *source)
{
	char script[13000];
	const char *argv[] = { "sh", "-c", script, NULL };

	snprintf(script, sizeof(script),
		 "mkdir '%s' && tar -C '%s' --exclude-from='%s' -cf - . | "
		 "tar -C '%s' -xf -", in("tar"), source, excludes, in("tar"));
	return run_peer(argv);
}

/* The required names as rsync and tar write them. */
static void write_excludes(void)
{
	static const char list[] =
		".env*\ncredentials.json\nservice-account.json\n.npmrc\n"
		".pypirc\n.netrc\n.htpasswd\n.pgpass\n.openclaw\n.claude\n"
		".codex\n.cursor\n.gemini\n.config\n.vscode\n.idea\n.docker\n"
		".ssh\nnode_modules\n.yarn\n.pnpm-store\n.git\n";
	FILE *f;

	snprintf(excludes, sizeof(excludes), "%s/excludes", directory);
	f = fopen(excludes, "we");
	if (!f || fputs(list, f) < 0 || fclose(f)) {
		perror(excludes);
		exit(1);
	}
}

/* --- snapshots ------------------------------------------------------------ */

struct kind {
	const char *what, *content;
	int32_t hashes;
};

static const struct kind kinds[] = {
	{ "snapshot, scan and hashes", "strict", 1 },
	{ "snapshot, no scan", "off", 1 },
	{ "snapshot, no hashes", "strict", 0 },
	{ "snapshot, no scan, no hashes", "off", 0 },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static agentbox_snapshot_options *options_of(const struct kind *kind)
{
	agentbox_snapshot_options *o = NULL;
	agentbox_error *err = NULL;

	must(agentbox_snapshot_options_new(&o, &err), &err);
	must(agentbox_snapshot_options_set_content(o, kind->content, &err),
	     &err);
	must(agentbox_snapshot_options_set_hashes(o, kind->hashes, &err),
	     &err);
	must(agentbox_snapshot_options_set_deadline(o, 3600000, &err), &err);
	return o;
}

static int open_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

/* A number that the job's end says. */
static double number_of(const agentbox_snapshot *job, const char *key)
{
	agentbox_bytes *text = NULL;
	agentbox_error *err = NULL;
	json_t *v;
	double n;

	must(agentbox_snapshot_to_json(job, &text, &err), &err);
	v = json_loadb(agentbox_bytes_get_data(text),
		       agentbox_bytes_get_size(text), 0, NULL);
	n = json_number_value(json_object_get(v, key));
	json_decref(v);
	agentbox_bytes_free(text);
	return n;
}

struct result {
	double us, swap_us, files;
};

/* `refresh`: the next generation, with the options of the record. */
static struct result run_snapshot(const char *source, const struct kind *kind,
				  bool refresh)
{
	agentbox_snapshot_options *o = refresh ? NULL : options_of(kind);
	int from = open_dir(source), to = open_dir(in("out"));
	agentbox_snapshot *job = NULL;
	agentbox_error *err = NULL;
	struct result result = { 0, 0, 0 };
	double start = bench_now_us();

	if (refresh)
		must(agentbox_snapshot_refresh(context, from, to, "snap", NULL,
					       &job, &err), &err);
	else
		must(agentbox_snapshot_copy(context, from, source, to, "snap",
					    o, &job, &err), &err);
	must(agentbox_snapshot_wait(job, -1, &err), &err);
	result.us = bench_now_us() - start;
	result.swap_us = number_of(job, "swap_ns") / 1000;
	result.files = number_of(job, "files");
	agentbox_snapshot_free(job);
	agentbox_snapshot_options_free(o);
	close(from);
	close(to);
	return result;
}

static void forget_snapshot(void)
{
	put_away(in("out"));
	if (mkdir(in("out"), 0755) < 0) {
		perror(in("out"));
		exit(1);
	}
}

/* --- the tables ----------------------------------------------------------- */

static void bench_copy(const char *source, const char *title)
{
	struct series peer = { 0 }, cp = { 0 }, tar = { 0 };
	struct series ours[KINDS] = { { 0 } };

	for (int i = 0; i < rounds; i++) {
		put_away(in("rsync"));
		tree_make_room();
		series_add(&peer, run_rsync(source));
		for (size_t k = 0; k < KINDS; k++) {
			forget_snapshot();
			tree_make_room();
			series_add(&ours[k],
				   run_snapshot(source, &kinds[k], false).us);
		}
		tree_make_room();
		series_add(&cp, run_cp(source));
		put_away(in("cp"));
		tree_make_room();
		if (peer_installed("tar"))
			series_add(&tar, run_tar(source));
		put_away(in("tar"));
	}
	table_head(title);
	table_row("rsync -a, same excludes", &peer, &peer, 0);
	for (size_t k = 0; k < KINDS; k++)
		table_row(kinds[k].what, &ours[k], &peer, 0);
	table_row("cp -a, everything", &cp, &peer, 0);
	if (tar.count)
		table_row("tar | tar, same excludes", &tar, &peer, 0);
	else
		table_skip("tar | tar", "not installed");
	for (size_t k = 0; k < KINDS; k++)
		series_free(&ours[k]);
	series_free(&peer);
	series_free(&cp);
	series_free(&tar);
}

static double run_floor(const char *source)
{
	double start = bench_now_us();

	floor_copy(source, in("floor"), 2);
	return bench_now_us() - start;
}

/* What the target is about, with its peer beside it each time. */
static void bench_first(const char *source, const char *title)
{
	struct series peer = { 0 }, ours = { 0 }, calls = { 0 };

	for (int i = 0; i < 2 * rounds + 1; i++) {
		put_away(in("rsync"));
		tree_make_room();
		series_add(&peer, run_rsync(source));
		forget_snapshot();
		tree_make_room();
		series_add(&ours, run_snapshot(source, &kinds[0], false).us);
		tree_make_room();
		series_add(&calls, run_floor(source));
		put_away(in("floor"));
	}
	table_head(title);
	table_pairs("snapshot, scan and hashes / rsync", &ours, &peer, 0.40);
	table_pairs("the calls alone, two processes / rsync", &calls, &peer,
		    0);
	table_row("rsync -a, same excludes", &peer, &peer, 0);
	table_row(kinds[0].what, &ours, &peer, 0.40);
	table_row("the calls alone, two processes", &calls, &peer, 0);
	series_free(&calls);
	series_free(&ours);
	series_free(&peer);
}

/* `step`: each step-th file changes before each round; 0: none. */
static void bench_refresh(const char *source, const char *title, size_t step,
			  double target)
{
	struct series peer = { 0 }, ours[2] = { { 0 } };
	static unsigned change;

	for (size_t k = 0; k < 2; k++) {
		const struct kind *kind = &kinds[k ? 3 : 0];

		forget_snapshot();
		run_snapshot(source, kind, false);
		run_rsync(source);
		run_snapshot(source, kind, true);
		for (int i = 0; i < 2 * rounds + 1; i++) {
			if (step)
				tree_change(source, files, step, ++change);
			series_add(&peer, run_rsync(source));
			series_add(&ours[k],
				   run_snapshot(source, kind, true).us);
		}
	}
	table_head(title);
	table_row("rsync -a --delete, same excludes", &peer, &peer, 0);
	table_row("refresh, scan and hashes", &ours[0], &peer, target);
	table_row("refresh, no scan, no hashes", &ours[1], &peer, 0);
	series_free(&peer);
	series_free(&ours[0]);
	series_free(&ours[1]);
}

/* --- the exchange under load ---------------------------------------------- */

struct load {
	_Atomic int stop;
	_Atomic uint64_t opens, failed;
};

static void read_for_ever(struct load *load, const char *snap, uint64_t seed)
{
	const struct sched_param plain = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/* or a bench of real-time priority never gets to its refresh */
	sched_setscheduler(0, SCHED_OTHER, &plain);
	while (!atomic_load(&load->stop)) {
		char path[4300];
		int fd;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		tree_path(path, sizeof(path), snap, (seed >> 33) % files);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		atomic_fetch_add(&load->opens, 1);
		if (fd < 0)
			atomic_fetch_add(&load->failed, 1);
		else
			close(fd);
	}
	_exit(0);
}

static void bench_swap(const char *source)
{
	struct load *load = mmap(NULL, sizeof(*load), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct series swap = { 0 };
	pid_t pids[READERS];
	char snap[4200];

	forget_snapshot();
	run_snapshot(source, &kinds[0], false);
	snprintf(snap, sizeof(snap), "%s", in("out/snap"));
	for (int i = 0; i < READERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			read_for_ever(load, snap, (uint64_t)i + 1);
	}
	for (int i = 0; i < swaps || atomic_load(&load->opens) < opens_wanted;
	     i++) {
		tree_change(source, files, files, 1000 + (unsigned)i);
		series_add(&swap,
			   run_snapshot(source, &kinds[0], true).swap_us);
	}
	atomic_store(&load->stop, 1);
	for (int i = 0; i < READERS; i++)
		waitpid(pids[i], NULL, 0);
	table_head("the exchange, while two readers open files");
	table_limit("exchange", &swap, 100);
	table_count("opens", (double)atomic_load(&load->opens), -1);
	table_count("opens that failed", (double)atomic_load(&load->failed),
		    0);
	series_free(&swap);
	munmap(load, sizeof(*load));
}

/* --- memory --------------------------------------------------------------- */

/* The largest process of a job, in bytes: run in a child, which has none. */
static double peak_of(const char *source)
{
	struct rusage used;
	int status = 0;
	pid_t pid;

	forget_snapshot();
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		agentbox_error *err = NULL;
		const char *dir = getenv("AB_TEST_HELPER_DIR");

		/* a handle of its own: the parent's is not for children */
		must(agentbox_context_new(&context, &err), &err);
		if (dir)
			must(agentbox_context_set_helper_dir(context, dir,
							     &err), &err);
		run_snapshot(source, &kinds[0], false);
		_exit(0);
	}
	if (wait4(pid, &status, 0, &used) < 0 || status)
		return 0;
	return (double)used.ru_maxrss * 1024;
}

static void bench_memory(const char *source)
{
	const size_t few = files / 8;
	double small, large;

	/* enough to fill what has a fixed size */
	tree_make(in("small"), few);
	small = peak_of(in("small"));
	large = peak_of(source);
	table_head("memory of a first copy, the largest process");
	table_count("KiB with an eighth of the files", small / 1024, -1);
	table_count("KiB with all of them", large / 1024, -1);
	table_count("bytes per entry",
		    (large - small) / (double)(files - few), -1);
}

/* --- all ------------------------------------------------------------------ */

static void hold(const char *source)
{
	if (!tree_hold(source))
		printf("the source may not be held in memory (RLIMIT_MEMLOCK);"
		       "\nwhere the kernel pages it out meanwhile, do not trust"
		       "\nthe ratios\n");
}

static void prepare(void)
{
	const char *tmp = getenv("TMPDIR"), *dir = getenv("AB_TEST_HELPER_DIR");
	agentbox_error *err = NULL;

	snprintf(directory, sizeof(directory), "%s/bench-%d",
		 tmp ? tmp : "/tmp", (int)getpid());
	if (mkdir(directory, 0755) < 0) {
		perror(directory);
		exit(1);
	}
	forget_snapshot();
	write_excludes();
	must(agentbox_context_new(&context, &err), &err);
	if (dir)
		must(agentbox_context_set_helper_dir(context, dir, &err), &err);
}

static void bench_real_tree(void)
{
	const char *tree = getenv("AB_BENCH_TREE");

	if (!tree) {
		table_head("a real tree");
		table_skip("AB_BENCH_TREE", "not set");
		return;
	}
	hold(tree);
	bench_first(tree, "a real tree, first copy");
	bench_copy(tree, "a real tree, first copy, other ways");
	bench_refresh(tree, "a real tree, nothing changed", 0, 0.25);
	tree_let_go();
}

static void bench_all(void)
{
	char source[4200];

	snprintf(source, sizeof(source), "%s", in("tree"));
	printf("making %zu files\n", files);
	fflush(stdout);
	tree_make(source, files);
	hold(source);
	bench_first(source, "first copy");
	bench_copy(source, "first copy, other ways");
	bench_refresh(source, "refresh, nothing changed", 0, 0.25);
	bench_refresh(source, "refresh, 1 % changed", CHANGED_STEP, 0);
	bench_swap(source);
	bench_memory(source);
	tree_let_go();
	bench_real_tree();
}

int main(int argc, char **argv)
{
	const struct bench_args args = bench_args_of(argc, argv);

	if (args.is_quick) {
		files = 8000;
		rounds = 1;
		swaps = 3;
	}
	printf("snapshots, libagentbox %s\n", agentbox_version());
	if (!peer_installed("rsync")) {
		printf("  skipped: rsync is not installed\n");
		return 0;
	}
	bench_say_busy("a copy uses two cores, rsync too;\n"
		       "do not trust the ratios");
	prepare();
	bench_all();
	agentbox_context_unref(context);
	forget(directory);
	bench_write(&args, json_pack("{s:s, s:s, s:I, s:o}",
				     "benchmark", "snapshot",
				     "version", agentbox_version(), "files",
				     (json_int_t)files, "rows", table_rows()));
	return 0;
}
