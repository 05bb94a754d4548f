/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The harness, the host's half: files, programs, sockets and processes of
 * the temporary host. Spec: tests/e2e/box.h.
 */
#include "host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "box.h"

const char *ws_path(const char *relative)
{
	return host_path("ws/%s", relative);
}

void host_mkdir(const char *path)
{
	char *copy = e2e_text("%s", path);

	for (char *at = copy + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = 0;
		mkdir(copy, 0755);
		*at = '/';
	}
	if (mkdir(copy, 0755) < 0 && errno != EEXIST)
		REQUIRE(false, "mkdir %s: %m", path);
}

static void make_parent(const char *path)
{
	char *copy = e2e_text("%s", path), *slash = strrchr(copy, '/');

	if (slash && slash != copy) {
		*slash = 0;
		host_mkdir(copy);
	}
}

void host_write_mode(const char *path, const char *text, mode_t mode)
{
	int fd;
	size_t n = strlen(text);

	make_parent(path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	REQUIRE(fd >= 0, "open %s: %m", path);
	REQUIRE(write(fd, text, n) == (ssize_t)n, "write %s: %m", path);
	fchmod(fd, mode);
	close(fd);
}

void host_write(const char *path, const char *text)
{
	host_write_mode(path, text, 0644);
}

void host_symlink(const char *target, const char *path)
{
	make_parent(path);
	REQUIRE(symlink(target, path) == 0, "symlink %s: %m", path);
}

static char *slurp_fd(int fd, size_t *size)
{
	size_t used = 0, cap = 1 << 14;
	char *text = malloc(cap);

	for (;;) {
		ssize_t n = text ? read(fd, text + used, cap - used - 1) : -1;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		used += (size_t)n;
		if (used + 1 == cap)
			text = realloc(text, cap *= 2);
	}
	e2e_keep(text);
	text[used] = 0;
	if (size)
		*size = used;
	return text;
}

char *host_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char *text;

	if (fd < 0)
		return NULL;
	text = slurp_fd(fd, NULL);
	close(fd);
	return text;
}

bool host_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

void host_repository(const char *path)
{
	host_write(e2e_text("%s/.git/HEAD", path), "ref: refs/heads/main\n");
	host_write(e2e_text("%s/.git/config", path),
		   "[core]\n\trepositoryformatversion = 0\n"
		   "\tfilemode = true\n\tbare = false\n"
		   "[user]\n\tname = Ada\n\temail = ada@example.com\n");
	host_mkdir(e2e_text("%s/.git/objects/info", path));
	host_mkdir(e2e_text("%s/.git/objects/pack", path));
	host_mkdir(e2e_text("%s/.git/refs/heads", path));
	host_write_mode(e2e_text("%s/.git/hooks/pre-commit.sample", path),
			"#!/bin/sh\nexit 0\n", 0755);
}

char *host_run(const char *const *argv, int *status)
{
	int fds[2], st = -1;
	char *text;
	pid_t pid;

	e2e_doing(e2e_text("%s %s on the host", argv[0],
			   argv[1] ? argv[1] : ""));
	fflush(stdout);
	REQUIRE(pipe2(fds, O_CLOEXEC) == 0, "pipe: %m");
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], 1);
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	close(fds[1]);
	REQUIRE(pid > 0, "fork: %m");
	text = slurp_fd(fds[0], NULL);
	close(fds[0]);
	while (waitpid(pid, &st, 0) < 0 && errno == EINTR)
		;
	if (status)
		*status = st;
	return text;
}

bool host_has(const char *program)
{
	const char *path = getenv("PATH");
	char *save = NULL, *copy = e2e_text("%s", path ? path : "");

	for (char *dir = strtok_r(copy, ":", &save); dir;
	     dir = strtok_r(NULL, ":", &save))
		if (access(e2e_text("%s/%s", dir, program), X_OK) == 0)
			return true;
	return false;
}

int host_listen_unix(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char cwd[4096], *slash, *copy = e2e_text("%s", path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			0);

	/* by directory and name: a path may be longer than sun_path */
	make_parent(path);
	slash = strrchr(copy, '/');
	*slash = 0;
	REQUIRE(getcwd(cwd, sizeof(cwd)) && chdir(copy) == 0, "%s: %m", copy);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", slash + 1);
	REQUIRE(bind(fd, (void *)&at, sizeof(at)) == 0 && listen(fd, 8) == 0,
		"listen on %s: %m", path);
	chmod(at.sun_path, 0777);
	REQUIRE(chdir(cwd) == 0, "chdir: %m");
	return fd;
}


size_t host_fd_count(pid_t pid)
{
	DIR *dir = opendir(e2e_text("/proc/%d/fd", pid));
	size_t n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

/* Pages of files come as the kernel reads ahead: they are no growth. */
size_t host_rss_kib(pid_t pid)
{
	char *text = host_read(e2e_text("/proc/%d/status", pid));
	char *anon = text ? strstr(text, "\nRssAnon:") : NULL;
	char *shared = text ? strstr(text, "\nRssShmem:") : NULL;

	REQUIRE(anon && shared, "no memory of process %d", (int)pid);
	return strtoul(anon + 9, NULL, 10) + strtoul(shared + 10, NULL, 10);
}

/* state and parent of a process; false when it is gone. */
static bool process_stat(pid_t pid, char *state, pid_t *parent)
{
	char *text = host_read(e2e_text("/proc/%d/stat", pid));
	char *at = text ? strrchr(text, ')') : NULL;

	if (!at || !at[1] || !at[2])
		return false;
	*state = at[2];
	*parent = (pid_t)strtol(at + 3, NULL, 10);
	return true;
}

static bool is_descendant(pid_t pid)
{
	char state;
	pid_t parent = pid;

	for (int hops = 0; hops < 64 && parent > 1; hops++) {
		if (!process_stat(parent, &state, &parent))
			return false;
		if (parent == getpid())
			return true;
	}
	return false;
}

/* Calls back for each living descendant until fn says true. */
static pid_t each_descendant(bool (*fn)(pid_t, void *), void *data)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	while (dir && !found && (entry = readdir(dir))) {
		pid_t parent, pid = (pid_t)strtol(entry->d_name, NULL, 10);
		char state;

		if (pid <= 0 || !process_stat(pid, &state, &parent) ||
		    state == 'Z' || state == 'X' || !is_descendant(pid))
			continue;
		if (fn(pid, data))
			found = pid;
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool has_name(pid_t pid, void *data)
{
	char *comm = host_read(e2e_text("/proc/%d/comm", pid));
	char *line = host_read(e2e_text("/proc/%d/cmdline", pid));
	char *slash = line ? strrchr(line, '/') : NULL;

	if (comm)
		comm[strcspn(comm, "\n")] = '\0';
	/* whole names: a path may have any in it */
	return (comm && strncmp(comm, data, 15) == 0) ||
	       (line && strcmp(slash ? slash + 1 : line, data) == 0);
}

pid_t host_descendant(const char *name)
{
	return each_descendant(has_name, (void *)(uintptr_t)name);
}

static bool has_stat(pid_t pid, void *data)
{
	char *line = host_read(e2e_text("/proc/%d/stat", pid));

	return line && strstr(line, data);
}

pid_t host_descendant_in(const char *name, char state)
{
	return each_descendant(has_stat, e2e_text("(%s) %c ", name, state));
}

static bool count_one(pid_t pid, void *data)
{
	(void)pid;
	++*(size_t *)data;
	return false;
}

size_t host_descendants(void)
{
	size_t n = 0;

	each_descendant(count_one, &n);
	return n;
}

struct looked_at {
	void (*look)(const char *stat);
	size_t count;
};

static bool look_at(pid_t pid, void *data)
{
	struct looked_at *l = data;
	char *line = host_read(e2e_text("/proc/%d/stat", pid));

	if (line) {
		l->count++;
		l->look(line);
	}
	return false;
}

size_t host_look_at_descendants(void (*look)(const char *stat))
{
	struct looked_at l = { look, 0 };

	each_descendant(look_at, &l);
	return l.count;
}

struct counted {
	const char *name;
	size_t count;
};

static bool count_named(pid_t pid, void *data)
{
	struct counted *of = data;

	of->count += has_name(pid, (void *)(uintptr_t)of->name);
	return false;
}

size_t host_descendants_of(const char *name)
{
	struct counted of = { name, 0 };

	each_descendant(count_named, &of);
	return of.count;
}

struct some {
	pid_t pids[256];
	size_t count;
};

static bool keep_one(pid_t pid, void *data)
{
	struct some *some = data;

	if (some->count < sizeof(some->pids) / sizeof(*some->pids))
		some->pids[some->count++] = pid;
	return false;
}

void host_signal_descendants(int signum)
{
	struct some some = { .count = 0 };

	each_descendant(keep_one, &some);
	for (size_t i = 0; i < some.count; i++)
		kill(some.pids[i], signum);
}

static bool has_stopped(pid_t pid)
{
	const char *dir_path = e2e_text("/proc/%d/task", (int)pid);
	DIR *dir = opendir(dir_path);
	bool all = dir != NULL;

	for (const struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
		const char *line;

		if (e->d_name[0] == '.')
			continue;
		line = host_read(e2e_text("%s/%s/stat", dir_path, e->d_name));
		all &= line && strstr(line, ") T ");
	}
	if (dir)
		closedir(dir);
	return all;
}

bool host_stop(pid_t pid)
{
	int64_t until = e2e_now_ms() + SOON_MS;

	if (pid <= 0 || kill(pid, SIGSTOP))
		return false;
	while (!has_stopped(pid)) {
		if (e2e_now_ms() >= until)
			return false;
		e2e_sleep_ms(2);
	}
	return true;
}

/* Its first thread may be over before the others are, and then its
   descriptors are still open. */
static bool has_threads(pid_t pid)
{
	char path[64];
	size_t count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	for (const struct dirent *e; dir && (e = readdir(dir)) != NULL;)
		count += e->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return count > 1;
}

bool host_gone(pid_t pid, int64_t ms)
{
	int64_t until = e2e_now_ms() + ms;

	for (;;) {
		char state;
		pid_t parent;

		if (!process_stat(pid, &state, &parent) ||
		    ((state == 'Z' || state == 'X') && !has_threads(pid)))
			return true;
		if (e2e_now_ms() >= until)
			return false;
		e2e_sleep_ms(5);
	}
}

bool host_can_make_namespaces(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) ?
		      1 : 0);
	waitpid(pid, &status, 0);
	return status == 0;
}
