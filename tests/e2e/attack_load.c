/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attacks by quantity: processes, memory, descriptors, disk, output.
 * Each has a bound of its own, so that a missing wall costs a failed case
 * and not the machine. Spec: tests/e2e/attacker.c.
 */
#include "attacker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Forks at most argv[0] idle children; says how many it got. */
static long load_forks(char **argv)
{
	long most = number(argv[0]), got = 0, error = 0;
	pid_t first = 0, parent = getpid();

	while (got < most) {
		pid_t pid = fork();

		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(1);
			close(2);
			if (getppid() == parent)
				pause();
			_exit(0);
		}
		if (pid < 0) {
			error = errno;
			break;
		}
		first = first ? first : pid;
		got++;
	}
	signal(SIGTERM, SIG_IGN);
	detail("%ld %s", got, error ? strerrorname_np((int)error) : "-");
	return 0;
}

/* Touches argv[0] MiB, as one growing mapping. */
static long do_memory(char **argv)
{
	long most = number(argv[0]);

	for (long i = 0; i < most; i++) {
		char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED) {
			printf("refused after %ld MiB\n", i);
			fflush(stdout);
			return 3;
		}
		memset(p, 0x5a, 1 << 20);
	}
	printf("took %ld MiB\n", most);
	fflush(stdout);
	return 0;
}

static long load_fds(char **argv)
{
	long most = number(argv[0]), got = 0;

	while (got < most && open("/dev/null", O_RDONLY) >= 0)
		got++;
	detail("%ld %s", got, got < most ? strerrorname_np(errno) : "-");
	return 0;
}

/* Writes argv[1] MiB into a file at argv[0] and removes it. */
static long load_disk(char **argv)
{
	static char block[1 << 20];
	long most = number(argv[1]), got = 0, error = 0;
	int fd = open(argv[0], O_CREAT | O_EXCL | O_WRONLY, 0600);

	if (fd < 0)
		return -errno;
	memset(block, 0x5a, sizeof(block));
	while (got < most) {
		if (write(fd, block, sizeof(block)) !=
		    (ssize_t)sizeof(block)) {
			error = errno ? errno : ENOSPC;
			break;
		}
		got++;
	}
	unlink(argv[0]);
	detail("%ld %s", got, error ? strerrorname_np((int)error) : "-");
	return 0;
}

/* argv[0] MiB on standard output. */
static long do_flood(char **argv)
{
	static char block[1 << 16];
	long blocks = number(argv[0]) * 16;

	memset(block, 'x', sizeof(block));
	while (blocks--)
		if (write(1, block, sizeof(block)) < 0)
			return 4;
	return 0;
}

/* Makes argv[1] empty files below argv[0]. */
static long load_inodes(char **argv)
{
	long most = number(argv[1]), got = 0;
	char path[4096];

	for (; got < most; got++) {
		int fd;

		snprintf(path, sizeof(path), "%s/i%ld", argv[0], got);
		fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
		if (fd < 0)
			break;
		close(fd);
	}
	detail("%ld %s", got, got < most ? strerrorname_np(errno) : "-");
	return 0;
}

const struct attack attacks_load[] = {
	{ "forks", 1, load_forks },
	{ "fds", 1, load_fds },
	{ "disk", 2, load_disk },
	{ "inodes", 2, load_inodes },
	{ "do-memory", 1, do_memory },
	{ "do-flood", 1, do_flood },
	{ NULL, 0, NULL },
};
