/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the kernel is asked by name: system calls, other processes, System V
 * objects, the environment. Spec: probe.h.
 */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

/*
 * A call with numbers as arguments, chosen so that the kernel alone refuses
 * it in another way than the filter does, and that it does nothing where
 * neither refuses.
 */
static long do_call(char **argv)
{
	unsigned long a[6] = {0};

	for (size_t i = 0; i < 6 && argv[1 + i]; i++)
		a[i] = strtoul(argv[1 + i], NULL, 0);
	return probe_result(syscall((long)strtoul(argv[0], NULL, 0), a[0],
				    a[1], a[2], a[3], a[4], a[5]));
}

/* Field 22 of /proc/PID/stat names a process and no later one: proc(5). */
static long started(const char *pid, char out[32])
{
	char path[64], text[1024], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.16s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return n;
	text[n] = '\0';
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return PROBE_UNKNOWN;
	snprintf(out, 32, "%.*s", (int)strcspn(at + 1, " "), at + 1);
	return 0;
}

/* In this /proc, the process that is meant and none of the same number. */
static long do_see(char **argv)
{
	char now[32];
	long r = started(argv[0], now);

	if (r)
		return r;
	return strcmp(now, argv[1]) == 0 ? 0 : -ESRCH;
}

/* Signal 0 asks for the permission and does nothing: kill(2). */
static long do_signal(char **argv)
{
	long r = probe_result(kill((pid_t)atol(argv[0]), 0));

	/* with a /proc it can be known who bears that number here */
	return r == 0 && access("/proc/self", F_OK) == 0 ? do_see(argv) : r;
}

static long do_trace(char **argv)
{
	pid_t pid = (pid_t)atol(argv[0]);
	long r = probe_result(ptrace(PTRACE_SEIZE, pid, NULL, NULL));

	if (r < 0)
		return r;
	/* it must stop before it can be let go; our end does that too */
	return 0;
}

/* The start of what /proc shows of a process that is not ours. */
static long do_memory(char **argv)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%.16s/mem", argv[0]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/*
 * The tree of a process that is not ours, by its link in /proc. To follow that
 * takes less than to trace it: a machine that lets nobody trace what he did
 * not start (Yama) still lets him look.
 */
static long do_root(char **argv)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%.16s/root", argv[0]);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Another's segment by its key; asks for it, and does not attach. */
static long do_shm(char **argv)
{
	return probe_result(shmget((key_t)strtoul(argv[0], NULL, 0), 0, 0));
}

/* Descriptors beside those that are listed. */
static long do_descriptors(char **argv)
{
	unsigned found = 0;

	/* one may be above today's limit; proc_sys_fs(5), nr_open */
	for (int fd = 0; fd < 1 << 20; fd++) {
		char **a = argv;

		if (fcntl(fd, F_GETFD) < 0)
			continue;
		while (*a && atoi(*a) != fd)
			a++;
		if (!*a)
			probe_tell("%s%d", found++ ? "\n" : "", fd);
	}
	return found ? 0 : -ENOENT;
}

/* Variables beside those that are listed. */
static long do_environment(char **argv)
{
	unsigned found = 0;

	for (char **e = environ; *e; e++) {
		size_t n = strcspn(*e, "=");
		char **a = argv;

		while (*a && (strlen(*a) != n || strncmp(*a, *e, n) != 0))
			a++;
		if (*a)
			continue;
		probe_tell("%s%.*s", found++ ? "\n" : "", (int)n, *e);
	}
	return found ? 0 : -ENOENT;
}

const probe_op probe_kernel[] = {
	{"call", 1, do_call},	  {"see", 2, do_see},
	{"signal", 2, do_signal}, {"trace", 1, do_trace},
	{"memory", 1, do_memory}, {"root", 1, do_root},
	{"shm", 1, do_shm},
	{"environment", 0, do_environment},
	{"descriptors", 0, do_descriptors},
	{NULL, 0, NULL},
};
