/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The programs the box is compared with, each started once per command, as
 * they are used. One that is missing, or cannot run `true` here, is skipped
 * with its own words. No peer is configured to be slow: each gets the least
 * that gives it namespaces and a read-only system.
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PEER_ROUNDS 100

extern char **environ;

int run_program(const char *const *argv, const int fds[3])
{
	posix_spawn_file_actions_t fa;
	pid_t pid;
	int status, rc;

	posix_spawn_file_actions_init(&fa);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&fa, fds[i], i);
	rc = posix_spawnp(&pid, argv[0], &fa, NULL,
			  (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	if (rc)
		return -1;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return status == 0 ? 0 : -1;
}

/* --- bubblewrap, with the mounts of a plan ------------------------------- */

static void push(char **argv, size_t *n, const char *word)
{
	if (word && *n < 1000)
		argv[(*n)++] = strdup(word);
}

static const char *text(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

/* What bubblewrap is not asked for, though it could be. */
typedef struct left_out {
	size_t files, masks;
} left_out;

static left_out count_left_out(const json_t *mounts)
{
	left_out n = { 0, 0 };
	const json_t *step;
	size_t i;

	json_array_foreach(mounts, i, step) {
		const char *kind = text(step, "kind");

		if (!kind)
			continue;
		n.files += strcmp(kind, "file") == 0;
		n.masks += strcmp(kind, "hide") == 0 ||
			   strcmp(kind, "protect") == 0;
	}
	return n;
}

void print_sides(const char *plan_json)
{
	json_t *plan = json_loads(plan_json, 0, NULL);
	json_t *mounts = json_object_get(plan, "mounts");
	left_out n = count_left_out(mounts);

	printf("  both: user, mount, pid, net (loopback up), ipc, uts and "
	       "cgroup namespaces;\n  the same %zu binds, links and file "
	       "systems; no capabilities, no_new_privs\n",
	       json_array_size(mounts) - n.files - n.masks);
	printf("  box only: %zu files in /etc by value, %zu masks in /proc, "
	       "Landlock, a filter of\n  %d instructions; raised once for many "
	       "commands; waits until all of it is gone.\n  bubblewrap's own "
	       "wait ends with the command; the kernel clears up after it\n",
	       n.files, n.masks,
	       (int)json_integer_value(
		       json_object_get(plan, "seccomp_instructions")));
	json_decref(plan);
}

static void push_step(char **argv, size_t *n, const json_t *step)
{
	const char *kind = text(step, "kind"), *at = text(step, "at");
	const char *from = text(step, "from"), *access = text(step, "access");

	if (!kind || !at)
		return;
	if (strcmp(kind, "bind") == 0) {
		push(argv, n, access && strcmp(access, "write") == 0 ?
				      "--bind" :
				      "--ro-bind");
		push(argv, n, from);
		push(argv, n, at);
	} else if (strcmp(kind, "symlink") == 0) {
		push(argv, n, "--symlink");
		push(argv, n, from);
		push(argv, n, at);
	} else if (strcmp(kind, "tmpfs") == 0 || strcmp(kind, "proc") == 0 ||
		   strcmp(kind, "dev") == 0 || strcmp(kind, "dir") == 0 ||
		   strcmp(kind, "mqueue") == 0) {
		char option[16];

		snprintf(option, sizeof(option), "--%.12s", kind);
		push(argv, n, option);
		push(argv, n, at);
	}
}

char **bwrap_of_plan(const char *plan_json)
{
	json_t *plan = json_loads(plan_json, 0, NULL);
	json_t *mounts = json_object_get(plan, "mounts"), *step;
	char **argv = calloc(1024, sizeof(*argv));
	size_t n = 0, i;

	if (!argv)
		abort();
	push(argv, &n, "bwrap");
	push(argv, &n, "--unshare-all");
	push(argv, &n, "--die-with-parent");
	push(argv, &n, "--new-session");
	json_array_foreach(mounts, i, step)
		push_step(argv, &n, step);
	push(argv, &n, TRUE_PROGRAM);
	json_decref(plan);
	return argv;
}

void argv_free(char **argv)
{
	for (size_t i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
}

/* --- all peers ----------------------------------------------------------- */

static bool installed(const char *program)
{
	const char *path = getenv("PATH");
	char *copy = strdup(path ? path : "/usr/bin:/bin"), *save = NULL;
	bool found = false;

	for (char *dir = strtok_r(copy, ":", &save); dir && !found;
	     dir = strtok_r(NULL, ":", &save)) {
		char file[4096];

		snprintf(file, sizeof(file), "%s/%s", dir, program);
		found = access(file, X_OK) == 0;
	}
	free(copy);
	return found;
}

/* Once, to see whether it can; its last words when it cannot. */
static bool can_run(const char *const *argv, char *why, size_t size)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC), p[2];
	char words[4096] = "", *at;
	ssize_t n, have = 0;
	int rc;

	if (null_fd < 0 || pipe2(p, O_CLOEXEC) < 0)
		abort();
	fcntl(p[1], F_SETPIPE_SZ, 65536);
	rc = run_program(argv, (const int[]){ null_fd, null_fd, p[1] });
	close(p[1]);
	fcntl(p[0], F_SETFL, O_NONBLOCK);
	while ((n = read(p[0], words + have,
			 sizeof(words) - 1 - (size_t)have)) > 0)
		have += n;
	close(p[0]);
	close(null_fd);
	while (have > 0 && words[have - 1] == '\n')
		words[--have] = '\0';
	at = strrchr(words, '\n');
	snprintf(why, size, "cannot run here: %.80s", at ? at + 1 : words);
	return rc == 0;
}

static void bench_peer(const char *name, const char *const *argv,
		       struct series *base)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int fds[3] = { null_fd, null_fd, null_fd };
	struct series s = { 0 };
	char why[128];

	if (!installed(argv[0])) {
		table_skip(name, "not installed");
	} else if (!can_run(argv, why, sizeof(why))) {
		table_skip(name, why);
	} else {
		for (int i = 0; i < PEER_ROUNDS; i++) {
			double start = bench_now_us();

			if (run_program(argv, fds) == 0)
				series_add(&s, bench_now_us() - start);
		}
		table_row(name, &s, base, 0);
	}
	series_free(&s);
	close(null_fd);
}

/* An OCI bundle for crun: its own default, this system as a read-only root. */
static bool make_bundle(const char *scratch, char *dir, size_t size)
{
	const char *const user[] = { "crun", "spec", "--rootless", NULL };
	const char *const root[] = { "crun", "spec", NULL };
	const int fds[3] = { 2, 2, 2 };
	json_t *spec, *process;
	char path[4200], cwd[4096];

	snprintf(dir, size, "%s/bundle", scratch);
	if (mkdir(dir, 0700) < 0 || !getcwd(cwd, sizeof(cwd)) || chdir(dir) < 0)
		return false;
	if (run_program(geteuid() ? user : root, fds) < 0 || chdir(cwd) < 0)
		return false;
	snprintf(path, sizeof(path), "%s/config.json", dir);
	spec = json_load_file(path, 0, NULL);
	process = json_object_get(spec, "process");
	if (!process)
		return false;
	json_object_set_new(process, "terminal", json_false());
	json_object_set_new(process, "args",
			    json_pack("[s]", TRUE_PROGRAM));
	json_object_set_new(spec, "root",
			    json_pack("{s:s, s:b}", "path", "/", "readonly",
				      1));
	json_dump_file(spec, path, 0);
	json_decref(spec);
	return true;
}

static void bench_crun(struct series *base, const char *scratch)
{
	char dir[4096], id[32], state[4200];
	const char *argv[] = { "crun", "--cgroup-manager=disabled", "--root",
			       state, "run", "--bundle", dir, id, NULL };

	snprintf(id, sizeof(id), "bench-%d", (int)getpid());
	if (!installed("crun")) {
		table_skip("crun run", "not installed");
		return;
	}
	if (!make_bundle(scratch, dir, sizeof(dir))) {
		table_skip("crun run", "no bundle can be made");
		return;
	}
	snprintf(state, sizeof(state), "%s/state", dir);
	bench_peer("crun run", argv, base);
}

void bench_peers(struct series *base, char **bwrap, const char *scratch)
{
	static const char *const minijail[] = {
		"minijail0", "-p", "-v", "-e", "-l", "-N", "-r", "-U", "-m",
		"-M", TRUE_PROGRAM, NULL
	};
	static const char *const firejail[] = {
		"firejail", "--quiet", "--noprofile", "--net=none",
		"--private-tmp", "--private-dev", "--read-only=/usr",
		TRUE_PROGRAM, NULL
	};

	bench_peer("bubblewrap, the mounts of the box",
		   (const char *const *)bwrap, base);
	bench_peer("minijail0, all namespaces", minijail, base);
	bench_crun(base, scratch);
	bench_peer("firejail, own net, /tmp, /dev", firejail, base);
}
