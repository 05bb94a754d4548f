/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a copy costs the kernel: the calls that none can do without which
 * keeps a file's times and sees whether it changed meanwhile, in as many
 * processes as processors are to be used, each with directories of its own.
 *
 * It scans nothing, hashes nothing, writes no manifest, tells no two rights
 * apart and ends the program on whatever it does not expect: it is a measure
 * and no copier.
 */
#include "snapshot.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DIRS_MAX 65536
#define PATH_SIZE 1024
#define PROCESSES_MAX 16
#define BUFFER_SIZE ((size_t)1 << 20)

/* Directories in the order of a walk: each before what lies in it. */
struct work {
	_Atomic size_t next;
	size_t count;
	char dirs[DIRS_MAX][PATH_SIZE];
};

static struct work *work;
static char *buffer;

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static bool is_wanted(const char *name)
{
	return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       strcmp(name, ".git") != 0 && strcmp(name, "node_modules") != 0 &&
	       fnmatch(".env*", name, 0) != 0;
}

static int open_dir(int at, const char *path)
{
	int fd = openat(at, *path ? path : ".",
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	must(fd >= 0, path);
	return fd;
}

/* Depth is the benchmark's own. */
static void list_below(int from, const char *path)
{
	DIR *dir = fdopendir(open_dir(from, path));
	const struct dirent *e;
	char *mine;

	must(dir && work->count < DIRS_MAX, path);
	mine = work->dirs[work->count++];
	snprintf(mine, PATH_SIZE, "%s", path);
	while ((e = readdir(dir))) {
		char below[PATH_SIZE];
		int n;

		if (e->d_type != DT_DIR || !is_wanted(e->d_name))
			continue;
		n = snprintf(below, sizeof(below), "%s%s%s", mine,
			     *mine ? "/" : "", e->d_name);
		must(n < PATH_SIZE, "too long a path");
		list_below(from, below);
	}
	closedir(dir);
}

static void copy_bytes(int in, int out, size_t size)
{
	while (size) {
		ssize_t n = read(in, buffer, BUFFER_SIZE);

		must(n > 0 && write(out, buffer, (size_t)n) == n, "a file");
		size -= (size_t)n < size ? (size_t)n : size;
	}
}

static void copy_one(int from, int to, const char *name)
{
	int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			 0444);
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };
	struct stat st, after;

	must(in >= 0 && out >= 0 && fstat(in, &st) == 0, name);
	copy_bytes(in, out, (size_t)st.st_size);
	must(fstat(in, &after) == 0 && after.st_size == st.st_size, name);
	times[1] = st.st_mtim;
	must(futimens(out, times) == 0, name);
	close(in);
	close(out);
}

static void copy_dirs(int from, int to)
{
	for (;;) {
		size_t i = atomic_fetch_add(&work->next, 1);
		const struct dirent *e;
		int to_dir;
		DIR *dir;

		if (i >= work->count)
			return;
		dir = fdopendir(open_dir(from, work->dirs[i]));
		to_dir = open_dir(to, work->dirs[i]);
		must(dir, work->dirs[i]);
		while ((e = readdir(dir)))
			if (e->d_type == DT_REG && is_wanted(e->d_name))
				copy_one(dirfd(dir), to_dir, e->d_name);
		closedir(dir);
		close(to_dir);
	}
}

void floor_copy(const char *source, const char *destination, int processes)
{
	pid_t pids[PROCESSES_MAX];
	int from, to, status;

	work = mmap(NULL, sizeof(*work), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	buffer = malloc(BUFFER_SIZE);
	must(work != MAP_FAILED && buffer && mkdir(destination, 0755) == 0,
	     destination);
	from = open_dir(AT_FDCWD, source);
	to = open_dir(AT_FDCWD, destination);
	list_below(from, "");
	for (size_t i = 1; i < work->count; i++)
		must(mkdirat(to, work->dirs[i], 0755) == 0, work->dirs[i]);
	fflush(stdout);
	for (int i = 0; i < processes && i < PROCESSES_MAX; i++) {
		pids[i] = fork();
		must(pids[i] >= 0, "fork");
		if (pids[i] == 0) {
			copy_dirs(from, to);
			_exit(0);
		}
	}
	for (int i = 0; i < processes && i < PROCESSES_MAX; i++)
		must(waitpid(pids[i], &status, 0) == pids[i] && status == 0,
		     "a copy");
	close(from);
	close(to);
	free(buffer);
	munmap(work, sizeof(*work));
}
