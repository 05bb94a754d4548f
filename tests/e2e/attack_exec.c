/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ways to execute a program, and to hide what is executed from who
 * watches. Spec: tests/e2e/attacker.c, DESIGN.md section 12.
 */
#include "attacker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long as_path(char **argv)
{
	return syscall(SYS_execve, argv[0], argv, environ);
}

static long as_execveat(char **argv)
{
	return syscall(SYS_execveat, AT_FDCWD, argv[0], argv, environ, 0);
}

/* By a descriptor of the file, without a name. */
static long as_empty(char **argv)
{
	int fd = open(argv[0], O_PATH);

	return syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
}

static long as_self_fd(char **argv)
{
	int fd = open(argv[0], O_PATH);
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return syscall(SYS_execve, path, argv, environ);
}

/* A copy that has no name in any file system; called as its argv[0] says. */
static long as_memfd(char **argv)
{
	int from = open(argv[0], O_RDONLY);
	int fd = (int)syscall(SYS_memfd_create, "nothing", 0);
	struct stat st;

	if (from < 0 || fd < 0 || fstat(from, &st) < 0 ||
	    sendfile(fd, from, NULL, (size_t)st.st_size) != st.st_size)
		return -1;
	return syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
}

/* The name that the program is told is another one. */
static long as_other_name(char **argv)
{
	char *path = argv[0];

	argv[0] = (char *)(uintptr_t)"true";
	return syscall(SYS_execve, path, argv, environ);
}

/* The same by a name of our own for the file. */
static long as_link(char **argv)
{
	static const char *const name = "/tmp/link";

	unlink(name);
	if (symlink(argv[0], name) < 0)
		return -1;
	argv[0] = (char *)(uintptr_t)name;
	return as_other_name(argv);
}

/* And by a descriptor whose name is not written as it usually is. */
static long as_odd_fd(char **argv)
{
	int fd = open(argv[0], O_PATH);
	char path[32];

	snprintf(path, sizeof(path), "//proc/self/fd/%d", fd);
	argv[0] = path;
	return as_other_name(argv);
}

static long as_near_fd(char **argv)
{
	int fd = open(argv[0], O_PATH);
	char path[32];

	snprintf(path, sizeof(path), "%d", fd);
	argv[0] = path;
	return chdir("/proc/self/fd") ? -1 : as_other_name(argv);
}

static void *in_thread(void *argv)
{
	as_path(argv);
	return (void *)(intptr_t)errno;
}

static long as_thread(char **argv)
{
	pthread_t thread;
	void *failed = NULL;

	if (pthread_create(&thread, NULL, in_thread, argv) != 0 ||
	    pthread_join(thread, &failed) != 0)
		return -1;
	errno = (int)(intptr_t)failed;
	return -1;
}

/* Copied up to `end`, one behind the other, and given from there. */
static void move_to(char **argv, char *end)
{
	size_t i = 0;

	while (argv[i])
		i++;
	while (i-- > 0) {
		size_t n = strlen(argv[i]) + 1;

		end -= n;
		argv[i] = memcpy(end, argv[i], n);
	}
}

/* The last of them ends where all memory does. */
static long as_page_end(char **argv)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || munmap(pages + 4096, 4096) < 0)
		return -1;
	move_to(argv, pages + 4096);
	return as_path(argv);
}

/* The last of them lies in two pages. */
static long as_two_pages(char **argv)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return -1;
	move_to(argv, pages + 4096 + 3);
	return as_path(argv);
}

/* Each is the end of one string, in the wrong order. */
static long as_ends(char **argv)
{
	static char text[1024];
	size_t n = strlen(argv[1]);

	snprintf(text, sizeof(text), "x%s", argv[1]);
	for (size_t i = 2; argv[i]; i++)
		argv[i] = text + 1 + (i - 1) % (n + 1);
	argv[1] = text + 1;
	return as_path(argv);
}

static const struct way {
	const char *name;
	long (*run)(char **argv);
} ways[] = {
	{ "path", as_path },	     { "execveat", as_execveat },
	{ "empty", as_empty },	     { "self-fd", as_self_fd },
	{ "memfd", as_memfd },	     { "other-name", as_other_name },
	{ "thread", as_thread },     { "link", as_link },
	{ "odd-fd", as_odd_fd },     { "near-fd", as_near_fd },
	{ "page-end", as_page_end }, { "two-pages", as_two_pages },
	{ "ends", as_ends },
};

/* 0 when the program ran, else why not; its own status does not count. */
static long run_child(long (*run)(char **argv), char **argv, bool is_vfork)
{
	int pair[2], failed = 0;
	pid_t pid;

	if (pipe2(pair, O_CLOEXEC) < 0)
		return -errno;
	pid = is_vfork ? (pid_t)syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0,
					0, 0, 0)
		       : fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		run(argv);
		failed = errno;
		(void)!write(pair[1], &failed, sizeof(failed));
		_exit(126);
	}
	close(pair[1]);
	if (read(pair[0], &failed, sizeof(failed)) <= 0)
		failed = 0;
	close(pair[0]);
	waitpid(pid, NULL, 0);
	return -(long)failed;
}

/* WAY PATH ARG...: argv[0] of the program is PATH. */
static long exec_as(char **argv)
{
	bool is_vfork = strcmp(argv[0], "vfork") == 0;

	if (is_vfork)
		return run_child(as_path, argv + 1, true);
	if (strcmp(argv[0], "spawn") == 0) {
		pid_t pid;
		int r = posix_spawn(&pid, argv[1], NULL, NULL, argv + 1,
				    environ);

		if (r == 0)
			waitpid(pid, NULL, 0);
		return -(long)r;
	}
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(argv[0], ways[i].name) == 0)
			return run_child(ways[i].run, argv + 1, false);
	return -EINVAL;
}

/* --- entries that are not the native ones -------------------------------- */

static long x32_execve(char **argv)
{
	return syscall(0x40000000 + 520, argv[0], argv, environ);
}

static long old_execve(char **argv)
{
	long r = -ENOSYS;

#ifdef __x86_64__
	/* execve of i386; its pointers are cut, which nobody will see */
	__asm__ volatile("int $0x80"
			 : "=a"(r)
			 : "a"(11L), "b"((long)argv[0]), "c"((long)argv),
			   "d"(0L)
			 : "memory");
#else
	(void)argv;
#endif
	errno = (int)-r;
	return r < 0 ? -1 : r;
}

static long exec_x32(char **argv)
{
	return result(x32_execve(argv));
}

static long exec_int80(char **argv)
{
	return result(old_execve(argv));
}

/* --- two threads ---------------------------------------------------------- */

struct race {
	char *word;
	const char *words[2];
	atomic_bool ends;
};

/* Both words are as long; it is never a mixture for long. */
static void *flip(void *data)
{
	struct race *race = data;
	size_t n = strlen(race->words[0]);

	for (unsigned i = 0; !atomic_load(&race->ends); i++)
		memcpy(race->word, race->words[i & 1], n);
	return NULL;
}

/*
 * PATH A B N: execute PATH with an argument that is A or B at any moment, N
 * times; the program prints it. What ran how often.
 */
static long exec_race(char **argv)
{
	char *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *args[] = { argv[0], word, NULL };
	struct race race = { .word = word, .words = { argv[1], argv[2] } };
	long a = 0, b = 0, refused = 0, other = 0;
	pthread_t thread;

	strcpy(word, argv[1]);
	if (pthread_create(&thread, NULL, flip, &race) != 0)
		return -EAGAIN;
	alarm(0);
	for (long i = number(argv[3]); i > 0; i--) {
		char said[64] = "";
		int pair[2], status;
		pid_t pid;

		if (pipe2(pair, O_CLOEXEC) < 0)
			return -errno;
		pid = fork();
		if (pid == 0) {
			dup2(pair[1], 1);
			syscall(SYS_execve, args[0], args, environ);
			_exit(errno == EACCES ? 126 : 125);
		}
		close(pair[1]);
		(void)!read(pair[0], said, sizeof(said) - 1);
		close(pair[0]);
		waitpid(pid, &status, 0);
		a += strncmp(said, argv[1], strlen(argv[1])) == 0;
		b += strncmp(said, argv[2], strlen(argv[2])) == 0;
		refused += WIFEXITED(status) && WEXITSTATUS(status) == 126;
		other += WIFEXITED(status) && WEXITSTATUS(status) == 125;
	}
	atomic_store(&race.ends, true);
	pthread_join(thread, NULL);
	detail("a=%ld b=%ld refused=%ld other=%ld", a, b, refused, other);
	return 0;
}

/* --- many ----------------------------------------------------------------- */

static long run_many(char *path, long times)
{
	char *args[] = { path, NULL };
	long good = 0;

	for (long i = 0; i < times; i++) {
		int status = 1;
		pid_t pid;

		if (posix_spawn(&pid, path, NULL, NULL, args, environ) == 0 &&
		    waitpid(pid, &status, 0) == pid && status == 0)
			good++;
	}
	return good;
}

/* PROCESSES TIMES PATH: each of them executes PATH that often, at once. */
static long exec_many(char **argv)
{
	long n = number(argv[0]), times = number(argv[1]);
	long good = 0, part = 0;
	int pair[2];

	alarm(0);
	if (pipe2(pair, O_CLOEXEC) < 0)
		return -errno;
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return -errno;
		if (pid == 0) {
			part = run_many(argv[2], times);
			(void)!write(pair[1], &part, sizeof(part));
			_exit(0);
		}
	}
	close(pair[1]);
	while (read(pair[0], &part, sizeof(part)) == (ssize_t)sizeof(part))
		good += part;
	while (wait(NULL) > 0)
		;
	detail("%ld", good);
	return 0;
}

/* TIMES PATH: killed while it opens PATH or executes it, sooner or later. */
static long exec_killed(char **argv)
{
	char *args[] = { argv[1], NULL };

	alarm(0);
	for (long i = number(argv[0]); i > 0; i--) {
		const struct timespec t = { .tv_nsec = (i % 100) * 8000 };
		pid_t pid = fork();

		if (pid < 0)
			return -errno;
		if (pid == 0) {
			for (int j = 0; j < 10; j++)
				close(open(argv[1], O_WRONLY));
			_exit(execv(args[0], args));
		}
		nanosleep(&t, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return 0;
}

/* PATH ARG: as many as may be asked about at once, killed when a line is read;
   then it is executed once more. */
static long do_exec_asked(char **argv)
{
	pid_t pids[64];
	char c;

	alarm(0);
	for (size_t i = 0; i < sizeof(pids) / sizeof(*pids); i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			return -errno;
		if (pids[i] == 0) {
			as_path(argv);
			_exit(126);
		}
	}
	printf("ready\n");
	fflush(stdout);
	if (read(0, &c, 1) != 1)
		return -EPIPE;
	for (size_t i = 0; i < sizeof(pids) / sizeof(*pids); i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	return run_child(as_path, argv, false);
}

/* --- filters of its own --------------------------------------------------- */

/* ANSWER PATH ARG...: with a filter that says this to execve. */
static long exec_filter(char **argv)
{
	uint32_t answer = strcmp(argv[0], "notify") == 0
				  ? SECCOMP_RET_USER_NOTIF
			  : strcmp(argv[0], "trace") == 0 ? SECCOMP_RET_TRACE
			  : strcmp(argv[0], "log") == 0	  ? SECCOMP_RET_LOG
							  : SECCOMP_RET_ALLOW;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = 4, .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		return -errno;
	return run_child(as_path, argv + 1, false);
}

/* One line on its input, one exec, its answer on the output; until the end. */
static long do_exec_lines(char **argv)
{
	char c;

	printf("ready\n");
	fflush(stdout);
	while (read(0, &c, 1) == 1) {
		long r = run_child(as_path, argv, false);

		if (c != '\n')
			continue;
		printf("%s\n", r < 0 ? strerrorname_np((int)-r) : "OK");
		fflush(stdout);
	}
	return 0;
}

const struct attack attacks_exec[] = {
	{ "exec", 2, exec_as },
	{ "exec-x32", 1, exec_x32 },
	{ "exec-int80", 1, exec_int80 },
	{ "exec-race", 4, exec_race },
	{ "exec-many", 3, exec_many },
	{ "exec-killed", 2, exec_killed },
	{ "exec-filter", 2, exec_filter },
	{ "do-exec-asked", 2, do_exec_asked },
	{ "do-exec-lines", 1, do_exec_lines },
	{ NULL, 0, NULL },
};
