/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the demo lets loose in the box: one attempt per run, the outcome as
 * one line, "OK ..." when it got through, else the name of the error. It is
 * compiled inside the box, by the box's own compiler, as an agent would.
 *
 * It has no bug to exploit and hides nothing: it asks the kernel plainly.
 * What it says is not trusted where the host can look for itself.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *error_name(int e)
{
	static const struct {
		int code;
		const char *name;
	} names[] = {
		{ EPERM, "EPERM" },	    { ENOENT, "ENOENT" },
		{ ESRCH, "ESRCH" },	    { EACCES, "EACCES" },
		{ EROFS, "EROFS" },	    { EAGAIN, "EAGAIN" },
		{ ENOMEM, "ENOMEM" },	    { ENOSYS, "ENOSYS" },
		{ EBUSY, "EBUSY" },	    { EXDEV, "EXDEV" },
		{ ECONNREFUSED, "ECONNREFUSED" },
		{ ENETUNREACH, "ENETUNREACH" },
		{ EAFNOSUPPORT, "EAFNOSUPPORT" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].code == e)
			return names[i].name;
	}
	return strerror(e);
}

static void result(long r, const char *detail)
{
	printf("%s %s\n", r < 0 ? error_name(errno) : "OK", detail);
}

static void read_file(const char *path)
{
	char text[256] = "";
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	result(n, n < 0 ? "" : text);
}

static void list_dir(const char *path)
{
	result(opendir(path) ? 0 : -1, "");
}

static void write_file(const char *path)
{
	static const char text[] = "#!/bin/sh\necho owned\n";
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0755);

	result(fd < 0 ? -1 : write(fd, text, sizeof(text) - 1), "");
}

/* A service of the host; and an address of the world, without a packet. */
static void connect_to(const char *host, const char *port, int type)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int fd = socket(AF_INET, type, 0);

	inet_pton(AF_INET, host, &to.sin_addr);
	to.sin_port = htons((unsigned short)atoi(port));
	result(fd < 0 ? -1 : connect(fd, (void *)&to, sizeof(to)), "");
}

/* Stops at `most`, so that a demo without the wall does no harm either. */
static void fork_bomb(long most)
{
	char count[32];
	long made = 0;
	pid_t pid = 0;

	while (made < most && (pid = fork()) > 0)
		made++;
	if (made < most && pid == 0) {
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		pause();
		_exit(0);
	}
	snprintf(count, sizeof(count), "%ld", made);
	result(pid < 0 ? -1 : 0, count);
}

static void trace(pid_t pid)
{
	result(ptrace(PTRACE_SEIZE, pid, NULL, NULL), "");
}

/*
 * Who says no to mount(2)? The kernel copies its arguments before it looks at
 * capabilities, and a seccomp filter answers before that: with bad pointers
 * EFAULT comes from mount itself, EPERM from the filter.
 */
static void mount_something(void)
{
	long bad = syscall(SYS_mount, -1L, -1L, -1L, 0L, -1L);
	const char *who = bad < 0 && errno == EPERM ? "seccomp" : "caps";

	result(mount("none", ".", "tmpfs", 0, NULL), who);
}

static void make_namespaces(void)
{
	result(unshare(CLONE_NEWUSER | CLONE_NEWNS), "");
}

/* Stays behind when its command has ended. */
static void stay(void)
{
	if (fork() == 0) {
		setsid();
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		for (;;)
			pause();
	}
	puts("OK");
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	const char *what = argc > 2 ? argv[2] : "";

	if (strcmp(verb, "read") == 0)
		read_file(what);
	else if (strcmp(verb, "list") == 0)
		list_dir(what);
	else if (strcmp(verb, "write") == 0 || strcmp(verb, "plant") == 0)
		write_file(what);
	else if (strcmp(verb, "tcp") == 0)
		connect_to("127.0.0.1", what, SOCK_STREAM);
	else if (strcmp(verb, "udp") == 0)
		connect_to(what, "53", SOCK_DGRAM);
	else if (strcmp(verb, "fork") == 0)
		fork_bomb(atol(what));
	else if (strcmp(verb, "trace") == 0)
		trace((pid_t)atol(what));
	else if (strcmp(verb, "mount") == 0)
		mount_something();
	else if (strcmp(verb, "namespaces") == 0)
		make_namespaces();
	else if (strcmp(verb, "stay") == 0)
		stay();
	else
		return 2;
	return 0;
}
