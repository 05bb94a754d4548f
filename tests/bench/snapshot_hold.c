/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tree held in memory. A kernel that pages out what was cold for a while
 * (DAMON's pageout scheme) takes the source away between two turns, and who
 * comes next reads the disk. Nothing but mlock(2) keeps a page: reading it
 * before each turn does not, for a few pages stand for a region.
 *
 * A process has 65,530 mappings (vm.max_map_count), a file takes one: files
 * are shared out among children, which end with the program.
 *
 * The copies are to find memory alike: a virtual machine that gives what is
 * free back to its host (free page reporting) pays at the first touch of each
 * page, who comes first for all (940 MiB: 1.4 s where rsync takes 3.7).
 */
#include "snapshot.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES_EACH 50000
#define CHILDREN_MAX 16

static pid_t children[CHILDREN_MAX];
static size_t children_count;

/* What nftw() cannot hand on: the file's number, and the child's own; what
   all of the tree takes. */
static size_t at, from, bytes;

static int hold_file(const char *path, const struct stat *st, int kind,
		     struct FTW *where)
{
	const int flags = MAP_SHARED | MAP_LOCKED | MAP_POPULATE;
	size_t number;
	void *map;
	int fd;

	(void)where;
	if (kind != FTW_F || !S_ISREG(st->st_mode) || st->st_size == 0)
		return 0;
	number = at++;
	if (number < from || number - from >= FILES_EACH)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return 1;
	map = mmap(NULL, (size_t)st->st_size, PROT_READ, flags, fd, 0);
	close(fd);
	/* MAP_LOCKED says nothing when it could not (mmap(2)) */
	return map == MAP_FAILED || mlock(map, (size_t)st->st_size) < 0;
}

/* Never returns: writes what came of it, then holds. */
static void hold_share(const char *top, int answer)
{
	char said;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	said = nftw(top, hold_file, 64, FTW_PHYS) == 0 ? 'y' : 'n';
	if (write(answer, &said, 1) != 1 || said == 'n')
		_exit(1);
	close(answer);
	for (;;)
		pause();
}

/* Starts the next child; whether it holds its share. */
static bool add_child(const char *top)
{
	int ends[2];
	char said = 'n';
	pid_t pid;

	if (children_count == CHILDREN_MAX || pipe2(ends, O_CLOEXEC) < 0)
		return false;
	pid = fork();
	if (pid == 0)
		hold_share(top, ends[1]);
	close(ends[1]);
	if (pid > 0) {
		children[children_count++] = pid;
		if (read(ends[0], &said, 1) != 1)
			said = 'n';
	}
	close(ends[0]);
	return said == 'y';
}

static int count_file(const char *path, const struct stat *st, int kind,
		      struct FTW *where)
{
	(void)path;
	(void)where;
	at += kind == FTW_F && S_ISREG(st->st_mode) && st->st_size > 0;
	bytes += (size_t)st->st_blocks * 512;
	return 0;
}

bool tree_hold(const char *top)
{
	size_t files;

	at = bytes = 0;
	if (nftw(top, count_file, 64, FTW_PHYS) != 0)
		return false;
	files = at;
	at = 0;
	for (from = 0; from < files; from += FILES_EACH)
		if (!add_child(top)) {
			tree_let_go();
			return false;
		}
	return true;
}

void tree_let_go(void)
{
	while (children_count > 0) {
		const pid_t pid = children[--children_count];

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

void tree_make_room(void)
{
	/* a half more: directories, inodes, what the programs need */
	const size_t room = bytes + bytes / 2;
	void *map;

	if (room == 0)
		return;
	map = mmap(NULL, room, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (map != MAP_FAILED)
		munmap(map, room);
	else
		printf("there is no memory to touch before a copy; do not "
		       "trust the ratios\n");
}
