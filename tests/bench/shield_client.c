/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * In the box: for each byte on standard input one program is started and
 * waited for, and how long that took is written as a double of microseconds,
 * behind it another one: what processor time that took in here.
 * 'a': with arguments; 'f': with the name of a file, which leads somewhere only
 * from the working directory; 'v': with arguments that no exec before had
 * besides; 'n': no program, a child that just ends; 'c': a connection instead;
 * 'w' and 'r': a file opened to write or to read.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double us_of(struct timeval t)
{
	return (double)t.tv_sec * 1e6 + (double)t.tv_usec;
}

/* Of what was waited for, and ours. */
static double spent_us(void)
{
	struct timespec own;
	struct rusage r;

	getrusage(RUSAGE_CHILDREN, &r);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
	return us_of(r.ru_utime) + us_of(r.ru_stime) +
	       (double)own.tv_sec * 1e6 + (double)own.tv_nsec / 1e3;
}

static double run(char *program, char *one, char *two, char *three)
{
	char *argv[] = { program, one, two, three, NULL };
	char *none[] = { NULL };
	double began = now_us();
	pid_t pid;

	if (posix_spawn(&pid, program, NULL, NULL, argv, none) == 0)
		waitpid(pid, NULL, 0);
	return now_us() - began;
}

/* head -n COUNT build/empty */
static double one_other_exec(char *file)
{
	static char head[] = "/usr/bin/head", option[] = "-n";
	static char lines[] = "100000";
	size_t i = sizeof(lines) - 2;

	while (lines[i] == '9')
		lines[i--] = '0';
	lines[i]++;
	return run(head, option, lines, file);
}

static double one_exec(char *program, char what)
{
	static char options[] = "-rf", name[] = "build/objects", file[] = "x.c";
	static char cat[] = "/bin/cat", empty[] = "build/empty";

	if (what == 'v')
		return one_other_exec(empty);
	if (what == 'f')
		return run(cat, empty, NULL, NULL);
	return run(program, what == 'a' ? options : NULL, name, file);
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

/* Of a datagram: nothing is sent, so it is the call alone. */
static double one_connect(void)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = htons(9),
					.sin_addr.s_addr = htonl(0x7f000001) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	double began = now_us(), us;

	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		_exit(1);
	us = now_us() - began;
	close(fd);
	return us;
}

static double one_open(int flags)
{
	double began = now_us(), us;
	int fd = open("build/objects/x.o",
		      flags == O_WRONLY ? flags | O_CREAT : flags, 0644);

	us = now_us() - began;
	if (fd < 0)
		_exit(1);
	close(fd);
	return us;
}

static double do_one(char what, char *program)
{
	switch (what) {
	case 'n':
		return one_fork();
	case 'c':
		return one_connect();
	case 'w':
		return one_open(O_WRONLY);
	case 'r':
		return one_open(O_RDONLY);
	default:
		return one_exec(program, what);
	}
}

int main(int argc, char **argv)
{
	char c;

	mkdir("build", 0755);
	mkdir("build/objects", 0755);
	close(open("build/empty", O_WRONLY | O_CREAT, 0644));

	while (argc > 1 && read(0, &c, 1) == 1) {
		double before = spent_us();
		double us[2] = { do_one(c, argv[1]) };

		us[1] = spent_us() - before;
		if (write(1, us, sizeof(us)) != (ssize_t)sizeof(us))
			return 1;
	}
	return 0;
}
