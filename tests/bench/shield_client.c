/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * In the box: for each byte on standard input one program is started and
 * waited for, and how long that took is written as a double of microseconds.
 * 'a': with arguments; 'n': no program, a child that just ends.
 */
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double one_exec(char *program, int with_arguments)
{
	static char options[] = "-rf", name[] = "build/objects", file[] = "x.c";
	char *argv[] = { program, with_arguments ? options : NULL, name, file,
			 NULL };
	char *none[] = { NULL };
	double began = now_us();
	pid_t pid;

	if (posix_spawn(&pid, program, NULL, NULL, argv, none) == 0)
		waitpid(pid, NULL, 0);
	return now_us() - began;
}

static double one_fork(void)
{
	double began = now_us();
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return now_us() - began;
}

int main(int argc, char **argv)
{
	char c;

	while (argc > 1 && read(0, &c, 1) == 1) {
		double us = c == 'n' ? one_fork() : one_exec(argv[1],
								c == 'a');

		if (write(1, &us, sizeof(us)) != (ssize_t)sizeof(us))
			return 1;
	}
	return 0;
}
