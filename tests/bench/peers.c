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
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PEER_ROUNDS 100

extern char **environ;

static int run_with(const char *const *argv, const int fds[3],
		    const int *given, size_t given_count, short flags)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	pid_t pid;
	int status, rc;

	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, flags);
	posix_spawn_file_actions_init(&fa);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&fa, fds[i], i);
	/* to itself: it is not closed at exec */
	for (size_t i = 0; i < given_count; i++)
		posix_spawn_file_actions_adddup2(&fa, given[i], given[i]);
	rc = posix_spawnp(&pid, argv[0], &fa, &attr,
			  (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&attr);
	if (rc)
		return -1;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return status == 0 ? 0 : -1;
}

int run_program(const char *const *argv, const int fds[3])
{
	return run_with(argv, fds, NULL, 0, 0);
}

int run_session(const char *const *argv, const int fds[3])
{
	return run_with(argv, fds, NULL, 0, POSIX_SPAWN_SETSID);
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

/*
 * A memfd that bwrap is to read: what the host has at `path`, or a line where
 * the box's file is made for it.
 */
static int open_data(const char *path)
{
	char data[65536] = "made for the box\n";
	int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int fd = memfd_create("bench", MFD_CLOEXEC);
	ssize_t n = from < 0 ? -1 : read(from, data, sizeof(data));

	if (from >= 0)
		close(from);
	if (fd < 0 || write(fd, data, n > 0 ? (size_t)n : strlen(data)) < 0)
		abort();
	return fd;
}

/* As many instructions as the box's filter has; the second skips the rest. */
static int open_filter(size_t count)
{
	struct sock_filter f[4096] = { { 0 } };
	int fd = memfd_create("bench", MFD_CLOEXEC);

	if (count < 3 || count > 4096)
		count = 3;
	for (size_t i = 0; i < count; i++)
		f[i] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned)i, 0, 0);
	f[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
	f[1] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA,
					    (unsigned)count - 3);
	f[count - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						    SECCOMP_RET_ALLOW);
	if (fd < 0 || write(fd, f, count * sizeof(f[0])) < 0)
		abort();
	return fd;
}

static void push_fd(equal_bwrap *e, size_t *n, const char *option, int fd)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", fd);
	push(e->argv, n, option);
	push(e->argv, n, number);
	if (e->fd_count < MAX_GIVEN)
		e->fds[e->fd_count++] = fd;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The files by value, and what covers a part of /proc. */
static void push_rest(equal_bwrap *e, size_t *n, const json_t *step)
{
	const char *kind = text(step, "kind"), *at = text(step, "at");

	if (!kind || !at)
		return;
	if (strcmp(kind, "file") == 0 && e->fd_count + 1 < MAX_GIVEN) {
		push(e->argv, n, "--perms");
		push(e->argv, n, "0444");
		push_fd(e, n, "--file", open_data(at));
		push(e->argv, n, at);
		e->files++;
	} else if (strcmp(kind, "hide") == 0 && is_directory(at)) {
		push(e->argv, n, "--tmpfs");
		push(e->argv, n, at);
		push(e->argv, n, "--remount-ro");
		push(e->argv, n, at);
		e->masks++;
	} else if (strcmp(kind, "hide") == 0 || strcmp(kind, "protect") == 0) {
		push(e->argv, n, "--ro-bind");
		push(e->argv, n, *kind == 'h' ? "/dev/null" : at);
		push(e->argv, n, at);
		e->masks++;
	}
}

void equal_bwrap_make(equal_bwrap *e, const char *plan_json)
{
	json_t *plan = json_loads(plan_json, 0, NULL);
	json_t *mounts = json_object_get(plan, "mounts"), *step;
	size_t n = 0, i;

	memset(e, 0, sizeof(*e));
	e->argv = bwrap_of_plan(plan_json);
	while (e->argv[n])
		n++;
	/* before the program, which stands last */
	free(e->argv[--n]);
	json_array_foreach(mounts, i, step)
		push_rest(e, &n, step);
	e->mounts = json_array_size(mounts) - e->files - e->masks;
	e->instructions = (size_t)json_integer_value(
		json_object_get(plan, "seccomp_instructions"));
	push_fd(e, &n, "--seccomp", open_filter(e->instructions));
	push(e->argv, &n, TRUE_PROGRAM);
	json_decref(plan);
}

void equal_bwrap_end(equal_bwrap *e)
{
	for (size_t i = 0; i < e->fd_count; i++)
		close(e->fds[i]);
	argv_free(e->argv);
}

void reap_all(void)
{
	while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR)
		;
}

double time_equal_bwrap(const equal_bwrap *e, const int fds[3])
{
	double start;
	int rc;

	for (size_t i = 0; i < e->fd_count; i++)
		lseek(e->fds[i], 0, SEEK_SET);
	start = bench_now_us();
	rc = run_with((const char *const *)e->argv, fds, e->fds, e->fd_count,
		      0);
	reap_all();
	return rc ? -1 : bench_now_us() - start;
}

void print_sides(const equal_bwrap *e)
{
	printf("  all: user, mount, pid, net (loopback up), ipc, uts and cgroup "
	       "namespaces;\n  the same %zu binds, links and file systems; no "
	       "capabilities, no_new_privs\n",
	       e->mounts);
	printf("  the same tree: and %zu files in /etc by value, %zu masks in "
	       "/proc, a filter of\n  %zu instructions; timed until the last "
	       "process, and so every mount, is gone,\n  as a box is. Its own "
	       "wait ends with the command, and the kernel clears up later\n",
	       e->files, e->masks, e->instructions);
	printf("  box only: Landlock; raised once for many commands\n");
}

void argv_free(char **argv)
{
	for (size_t i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
}

/* --- all peers ----------------------------------------------------------- */

bool peer_installed(const char *program)
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

	if (!peer_installed(argv[0])) {
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
	if (!peer_installed("crun")) {
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
