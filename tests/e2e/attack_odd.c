/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The odd ways to do what agentbox-shield is asked about: programs that are
 * executed without arguments, by a directory's descriptor, amid signals or by
 * many threads; addresses that come by other calls; files of a peer by other
 * names and descriptors. Spec: tests/e2e/attacker.c, shield_odd.c.
 */
#include "attacker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* One way to do something with what is named: a call's result and errno. */
struct odd {
	const char *name;
	long (*run)(char **argv);
};

static long run_odd(const struct odd *table, size_t count, char **argv)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(argv[0], table[i].name) == 0)
			return result(table[i].run(argv + 1));
	return -EBADRQC;
}
#define RUN_ODD(table, argv) \
	run_odd(table, sizeof(table) / sizeof(*(table)), (argv))

/* --- programs ------------------------------------------------------------- */

static char nowhere[] = "nowhere";
#define BAD_POINTER ((char *)8)

static long no_arguments(char **argv)
{
	char *none[] = { NULL };

	return syscall(SYS_execve, argv[0], none, environ);
}

static long null_arguments(char **argv)
{
	return syscall(SYS_execve, argv[0], NULL, environ);
}

static long null_environment(char **argv)
{
	return syscall(SYS_execve, argv[0], argv, NULL);
}

static long bad_environment(char **argv)
{
	char *bad[] = { BAD_POINTER, NULL };

	return syscall(SYS_execve, argv[0], argv, bad);
}

static long bad_arguments(char **argv)
{
	return syscall(SYS_execve, argv[0], BAD_POINTER, environ);
}

static long bad_argument(char **argv)
{
	char *bad[] = { argv[0], BAD_POINTER, NULL };

	return syscall(SYS_execve, argv[0], bad, environ);
}

static long bad_path(char **argv)
{
	return syscall(SYS_execve, BAD_POINTER, argv, environ);
}

static long null_path(char **argv)
{
	return syscall(SYS_execve, NULL, argv, environ);
}

static long empty_path(char **argv)
{
	return syscall(SYS_execve, "", argv, environ);
}

/* A first argument that is not there and one that is no text. */
static long empty_name(char **argv)
{
	char *path = argv[0];

	argv[0] = nowhere + sizeof(nowhere) - 1;
	return syscall(SYS_execve, path, argv, environ);
}

static long split_path(char *path, char **base)
{
	char *slash = strrchr(path, '/');

	*slash = '\0';
	*base = slash + 1;
	return open(path, O_PATH | O_DIRECTORY);
}

static long by_directory(char **argv)
{
	char *base, *path = strdup(argv[0]);
	long fd = split_path(path, &base);

	argv[0] = nowhere;
	return syscall(SYS_execveat, fd, base, argv, environ, 0);
}

static long by_other_directory(char **argv)
{
	char path[4096];
	int fd = open("/workspace", O_PATH | O_DIRECTORY);

	snprintf(path, sizeof(path), "../%s", argv[0]);
	argv[0] = nowhere;
	return syscall(SYS_execveat, fd, path, argv, environ, 0);
}

static long by_cwd(char **argv)
{
	char *base, *path = strdup(argv[0]);
	long fd = split_path(path, &base);

	if (fchdir((int)fd))
		return -1;
	argv[0] = nowhere;
	return syscall(SYS_execve, base, argv, environ);
}

/* Of a descriptor above INT_MAX the kernel takes the low half. */
static long by_wide_fd(char **argv)
{
	uint64_t fd = (uint64_t)open(argv[0], O_PATH) | UINT64_C(5) << 32;

	argv[0] = nowhere;
	return syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
}

/* A descriptor of a link, not of what it leads to. */
static long by_link_fd(char **argv)
{
	static const char name[] = "/tmp/odd-link";
	int fd;

	unlink(name);
	if (symlink(argv[0], name))
		return -1;
	fd = open(name, O_PATH | O_NOFOLLOW);
	argv[0] = nowhere;
	return syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
}

static long by_long_name(char **argv)
{
	char path[4096] = "";

	while (strlen(path) + strlen(argv[0]) + 8 < sizeof(path))
		strcat(path, "/../.");
	strcat(path, argv[0]);
	argv[0] = nowhere;
	return syscall(SYS_execve, path, argv, environ);
}

/* A process of its own session, whose parent has gone. */
static long as_daemon(char **argv)
{
	pid_t pid = fork();

	if (pid < 0)
		return -1;
	if (pid > 0)
		_exit(0);
	setsid();
	return syscall(SYS_execve, argv[0], argv, environ);
}

/* A thread cannot be begun any more once another executes: EAGAIN. */
static pthread_barrier_t all_begun;

static void *exec_all(void *argv)
{
	char **v = argv;

	pthread_barrier_wait(&all_begun);
	syscall(SYS_execve, v[0], v, environ);
	return (void *)(intptr_t)errno;
}

/* Sixteen threads do it at once; the first of them ends the others. */
static long by_threads(char **argv)
{
	pthread_t threads[16];
	const size_t count = sizeof(threads) / sizeof(*threads);
	void *failed = NULL;

	pthread_barrier_init(&all_begun, NULL, (unsigned)count);
	for (size_t i = 0; i < count; i++) {
		errno = pthread_create(&threads[i], NULL, exec_all, argv);
		if (errno)
			return -1;
	}
	for (size_t i = 0; i < count; i++)
		pthread_join(threads[i], &failed);
	errno = (int)(intptr_t)failed;
	return -1;
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* Signals come while it waits for the answer. */
static long amid_signals(char **argv)
{
	const struct itimerval often = { { 0, 50 }, { 0, 50 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	const struct sigaction action = { .sa_handler = on_alarm };
	long r;
	int error;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	do {
		r = syscall(SYS_execve, argv[0], argv, environ);
		error = errno;
	} while (r < 0 && error == EINTR);
	setitimer(ITIMER_REAL, &never, NULL);
	errno = error;
	return r;
}

/* N bytes in arguments of 1000 each. */
static long with_bytes(char **argv)
{
	long n = number(argv[1]) / 1000;
	char **args = calloc((size_t)n + 3, sizeof(*args));
	static char word[1000];

	memset(word, 'x', sizeof(word) - 1);
	args[0] = argv[0];
	args[1] = argv[2];
	for (long i = 0; i < n; i++)
		args[i + 2] = word;
	return syscall(SYS_execve, argv[0], args, environ);
}

/* N arguments in all. */
static long with_count(char **argv)
{
	long n = number(argv[1]);
	char **args = calloc((size_t)n + 1, sizeof(*args));

	for (long i = 0; i < n; i++)
		args[i] = nowhere + sizeof(nowhere) - 2;
	args[0] = argv[0];
	args[1] = argv[2];
	return syscall(SYS_execve, argv[0], args, environ);
}

/* The arguments where the kernel reads them and nobody else. */
static long with_hidden(char **argv)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return -1;
	argv[1] = strcpy(page, argv[1]);
	if (mprotect(page, 4096, PROT_WRITE))
		return -1;
	return syscall(SYS_execve, argv[0], argv, environ);
}

static const struct odd programs[] = {
	{ "no-arguments", no_arguments },
	{ "null-arguments", null_arguments },
	{ "null-environment", null_environment },
	{ "bad-environment", bad_environment },
	{ "bad-arguments", bad_arguments },
	{ "bad-argument", bad_argument },
	{ "bad-path", bad_path },
	{ "null-path", null_path },
	{ "empty-path", empty_path },
	{ "empty-name", empty_name },
	{ "by-directory", by_directory },
	{ "by-other-directory", by_other_directory },
	{ "by-cwd", by_cwd },
	{ "by-wide-fd", by_wide_fd },
	{ "by-link-fd", by_link_fd },
	{ "by-long-name", by_long_name },
	{ "as-daemon", as_daemon },
	{ "by-threads", by_threads },
	{ "amid-signals", amid_signals },
	{ "with-bytes", with_bytes },
	{ "with-count", with_count },
	{ "with-hidden", with_hidden },
};

/* WAY PATH ARG...: 0 when the program ran; its own status does not count. */
static long exec_odd(char **argv)
{
	int pair[2], failed = 0;
	pid_t pid;

	if (pipe2(pair, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		failed = (int)-RUN_ODD(programs, argv);
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

/* --- addresses ------------------------------------------------------------ */

static struct sockaddr_storage to;
static socklen_t to_len;

static int take_address(char **argv, int kind)
{
	struct sockaddr_in *v4 = (void *)&to;
	struct sockaddr_in6 *v6 = (void *)&to;
	uint16_t port = htons((uint16_t)number(argv[1]));

	memset(&to, 0, sizeof(to));
	if (inet_pton(AF_INET, argv[0], &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = port;
		to_len = sizeof(*v4);
	} else if (inet_pton(AF_INET6, argv[0], &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = port;
		to_len = sizeof(*v6);
	}
	return socket(to.ss_family, kind, 0);
}

static long stream(char **argv)
{
	int fd = take_address(argv, SOCK_STREAM);

	return connect(fd, (void *)&to, to_len);
}

static long datagram(char **argv)
{
	int fd = take_address(argv, SOCK_DGRAM);

	return connect(fd, (void *)&to, to_len);
}

static long sent_fast(char **argv)
{
	int fd = take_address(argv, SOCK_STREAM);

	return sendto(fd, "x", 1, MSG_FASTOPEN, (void *)&to, to_len);
}

static struct mmsghdr message(void)
{
	static char byte = 'x';
	static struct iovec one = { &byte, 1 };

	return (struct mmsghdr){ .msg_hdr = { .msg_name = &to,
					      .msg_namelen = to_len,
					      .msg_iov = &one,
					      .msg_iovlen = 1 } };
}

static long message_fast(char **argv)
{
	int fd = take_address(argv, SOCK_STREAM);
	struct mmsghdr m = message();

	return sendmsg(fd, &m.msg_hdr, MSG_FASTOPEN);
}

static long messages_fast(char **argv)
{
	int fd = take_address(argv, SOCK_STREAM);
	struct mmsghdr m[2] = { message(), message() };

	return sendmmsg(fd, m, 2, MSG_FASTOPEN);
}

static long message_plain(char **argv)
{
	int fd = take_address(argv, SOCK_DGRAM);
	struct mmsghdr m = message();

	return sendmsg(fd, &m.msg_hdr, 0);
}

static long multipath(char **argv)
{
	int fd;

	close(take_address(argv, SOCK_STREAM));
	fd = socket(to.ss_family, SOCK_STREAM, 262 /* IPPROTO_MPTCP */);
	return fd < 0 ? -1 : connect(fd, (void *)&to, to_len);
}

/* An address as long as there is any, and longer. */
static long long_address(char **argv)
{
	int fd = take_address(argv, SOCK_STREAM);

	return connect(fd, (void *)&to, sizeof(to));
}

static long too_long_address(char **argv)
{
	int fd = take_address(argv, SOCK_STREAM);

	return connect(fd, (void *)&to, sizeof(to) + 1);
}

static long hidden_address(char **argv)
{
	int fd = take_address(argv, SOCK_STREAM);
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return -1;
	memcpy(page, &to, sizeof(to));
	if (mprotect(page, 4096, PROT_WRITE))
		return -1;
	return connect(fd, (void *)page, to_len);
}

/* To be connected to nobody again: connect(2), AF_UNSPEC. */
static long unspecified(char **argv)
{
	int fd = take_address(argv, SOCK_DGRAM);

	to.ss_family = AF_UNSPEC;
	return connect(fd, (void *)&to, to_len);
}

/* Another family behind a first look: only the kernel's counts. */
static void *turn_address(void *ends)
{
	struct sockaddr_in *v4 = (void *)&to;

	while (!atomic_load((atomic_bool *)ends)) {
		v4->sin_addr.s_addr = htonl(0xc0000207);
		v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	}
	return NULL;
}

/* OK: it was never let out, whatever was in its memory. */
static long turned(char **argv)
{
	static atomic_bool ends;
	pthread_t thread;
	long bad = 0;

	close(take_address(argv, SOCK_STREAM));
	if (pthread_create(&thread, NULL, turn_address, &ends))
		return -1;
	for (int i = 0; i < 300; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (connect(fd, (void *)&to, to_len) == 0 ||
		    (errno != EACCES && errno != ECONNREFUSED &&
		     errno != ENETUNREACH))
			bad++;
		close(fd);
	}
	atomic_store(&ends, true);
	pthread_join(thread, NULL);
	errno = EXFULL;
	return bad ? -1 : 0;
}

static long unix_kind(const char *path, int kind, bool is_sent)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, kind, 0);

	/* without an end where it fills all of it: unix(7) */
	memcpy(a.sun_path, path, strnlen(path, sizeof(a.sun_path)));
	if (is_sent)
		return sendto(fd, "x", 1, 0, (void *)&a, sizeof(a));
	return connect(fd, (void *)&a, sizeof(a));
}

static long unix_stream(char **argv)
{
	return unix_kind(argv[0], SOCK_STREAM, false);
}

static long unix_packet(char **argv)
{
	return unix_kind(argv[0], SOCK_SEQPACKET, false);
}

static long unix_sent(char **argv)
{
	return unix_kind(argv[0], SOCK_DGRAM, true);
}

/* By a directory's descriptor, and so short enough. */
static long unix_by_fd(char **argv)
{
	char path[108], *base, *whole = strdup(argv[0]);

	snprintf(path, sizeof(path), "/proc/self/fd/%ld/",
		 split_path(whole, &base));
	strcat(path, base);
	return unix_kind(path, SOCK_STREAM, false);
}

static long unix_near(char **argv)
{
	char *base, *path = strdup(argv[0]);

	if (fchdir((int)split_path(path, &base)))
		return -1;
	return unix_kind(base, SOCK_STREAM, false);
}

static long unix_filled(char **argv)
{
	char path[512] = "";

	while (strlen(path) + strlen(argv[0]) < 108)
		strcat(path, "/");
	strcpy(path + 108 - strlen(argv[0]), argv[0]);
	return unix_kind(path, SOCK_STREAM, false);
}

/* A name without a file; one of its bytes is 0. */
static long abstract(char **argv)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t n = strlen(argv[0]);

	memcpy(a.sun_path + 1, argv[0], n);
	return connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&a,
		       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 3 +
				   n));
}

static long vsock(char **argv)
{
	(void)argv;
	return socket(40 /* AF_VSOCK */, SOCK_STREAM, 0);
}

static long ring(char **argv)
{
	char params[256] = "";

	(void)argv;
	return syscall(425 /* io_uring_setup */, 4, params);
}

static const struct odd addresses[] = {
	{ "stream", stream },
	{ "datagram", datagram },
	{ "sent-fast", sent_fast },
	{ "message-fast", message_fast },
	{ "messages-fast", messages_fast },
	{ "message-plain", message_plain },
	{ "multipath", multipath },
	{ "long", long_address },
	{ "too-long", too_long_address },
	{ "hidden", hidden_address },
	{ "unspecified", unspecified },
	{ "turned", turned },
	{ "unix-stream", unix_stream },
	{ "unix-packet", unix_packet },
	{ "unix-sent", unix_sent },
	{ "unix-by-fd", unix_by_fd },
	{ "unix-near", unix_near },
	{ "unix-filled", unix_filled },
	{ "abstract", abstract },
	{ "vsock", vsock },
	{ "ring", ring },
};

static long connect_odd(char **argv)
{
	return RUN_ODD(addresses, argv);
}

/* --- files ---------------------------------------------------------------- */

/* The file of a descriptor once more, by its name in this directory. */
static long again(const char *dir, int fd, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%d", dir, fd);
	return open(path, flags);
}

static long again_by_path_fd(char **argv)
{
	return again("/proc/self/fd", open(argv[0], O_PATH), O_WRONLY);
}

static long again_by_dev(char **argv)
{
	return again("/dev/fd", open(argv[0], O_RDONLY), O_RDWR);
}

static long again_by_thread(char **argv)
{
	return again("/proc/thread-self/fd", open(argv[0], O_PATH),
		     O_WRONLY | O_APPEND);
}

static long again_by_task(char **argv)
{
	char dir[48];

	snprintf(dir, sizeof(dir), "/proc/self/task/%d/fd", (int)getpid());
	return again(dir, open(argv[0], O_RDONLY), O_WRONLY);
}

static long again_near(char **argv)
{
	int fd = open(argv[0], O_RDONLY);

	return chdir("/proc/self/fd") ? -1 : again(".", fd, O_WRONLY);
}

/* Who is named lives in another process of the box. */
static long by_other_process(char **argv)
{
	char path[64], *base, *whole = strdup(argv[0]);
	long dir = split_path(whole, &base), r;
	pid_t pid = fork();
	int error;

	if (pid == 0) {
		if (fchdir((int)dir))
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(pid, NULL, WUNTRACED);
	snprintf(path, sizeof(path), "/proc/%d/cwd/%s", (int)pid, base);
	r = open(path, O_WRONLY);
	error = errno;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	errno = error;
	return r;
}

static long by_its_directory(char **argv)
{
	char path[4096], *base, *whole = strdup(argv[0]);
	long dir = split_path(whole, &base);

	snprintf(path, sizeof(path), "../%s/./%s", strrchr(whole, '/') + 1,
		 base);
	return syscall(SYS_openat, dir, path, O_WRONLY);
}

static long after_chdir(char **argv)
{
	char *base, *whole = strdup(argv[0]);

	if (fchdir((int)split_path(whole, &base)))
		return -1;
	return open(base, O_RDWR);
}

/* Neither to read nor to write, for ioctl(2) alone: open(2), access mode 3. */
static long mode_three(char **argv)
{
	return open(argv[0], 3);
}

static long cut_while_read(char **argv)
{
	return open(argv[0], O_RDONLY | O_TRUNC);
}

static long cut_by_read_fd(char **argv)
{
	return ftruncate(open(argv[0], O_RDONLY), 0);
}

static long cut_by_path_fd(char **argv)
{
	return ftruncate(open(argv[0], O_PATH), 0);
}

static long cut_by_name_of_fd(char **argv)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d",
		 open(argv[0], O_PATH));
	return truncate(path, 0);
}

static long by_openat2(char **argv)
{
	uint64_t how[3] = { O_WRONLY, 0, 0 };

	return syscall(437, AT_FDCWD, argv[0], how, sizeof(how));
}

static long by_old_creat(char **argv)
{
#ifdef SYS_creat
	return syscall(SYS_creat, argv[0], 0644);
#else
	return open(argv[0], O_CREAT | O_WRONLY | O_TRUNC, 0644);
#endif
}

static long link_of_fd(char **argv)
{
	return linkat(open(argv[0], O_PATH), "", AT_FDCWD, argv[1],
		      AT_EMPTY_PATH);
}

static long link_of_name_of_fd(char **argv)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d",
		 open(argv[0], O_PATH));
	return linkat(AT_FDCWD, path, AT_FDCWD, argv[1], AT_SYMLINK_FOLLOW);
}

static long moved(char **argv, unsigned int flags)
{
	return syscall(SYS_renameat2, AT_FDCWD, argv[0], AT_FDCWD, argv[1],
		       flags);
}

static long exchanged(char **argv)
{
	return moved(argv, 2);
}

static long moved_to_nothing(char **argv)
{
	return moved(argv, 1);
}

static long moved_with_whiteout(char **argv)
{
	return moved(argv, 4);
}

static long moved_by_fds(char **argv)
{
	char *from, *other, *a = strdup(argv[0]), *b = strdup(argv[1]);
	long dir = split_path(a, &from), second = split_path(b, &other);

	return syscall(SYS_renameat2, dir, from, second, other, 0);
}

static long unlinked_by_fd(char **argv)
{
	char *base, *whole = strdup(argv[0]);

	long dir = split_path(whole, &base);

	return unlinkat((int)dir, base, 0);
}

static long linked_by_fd(char **argv)
{
	char *base, *whole = strdup(argv[0]);

	return symlinkat("x", (int)split_path(whole, &base), "made");
}

static long bound_near(char **argv)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "made" };
	char *base, *whole = strdup(argv[0]);

	if (fchdir((int)split_path(whole, &base)))
		return -1;
	return bind(socket(AF_UNIX, SOCK_DGRAM, 0), (void *)&a, sizeof(a));
}

static long changed_mode(char **argv)
{
	return chmod(argv[0], 0600);
}

/* Who may not be traced by his like. */
static long undumpable(char **argv)
{
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return open(argv[0], O_WRONLY | O_CREAT, 0644);
}

static char turning[4096];

static void *turn_name(void *data)
{
	char **argv = data;

	for (unsigned i = 0; i < 4000000; i++)
		strcpy(turning, argv[i & 1]);
	return NULL;
}

/* OK: whatever its memory held, it was not opened. The second may be. */
static long name_turned(char **argv)
{
	size_t n = strlen(argv[0]);
	pthread_t thread;
	struct stat st, opened;
	long bad = 0;

	if (strlen(argv[1]) != n || stat(argv[0], &st))
		return -1;
	strcpy(turning, argv[1]);
	if (pthread_create(&thread, NULL, turn_name, argv))
		return -1;
	for (int i = 0; i < 500; i++) {
		int fd = open(turning, O_WRONLY);

		if (fd >= 0 && fstat(fd, &opened) == 0 &&
		    opened.st_ino == st.st_ino && opened.st_dev == st.st_dev)
			bad++;
		if (fd >= 0)
			close(fd);
	}
	pthread_join(thread, NULL);
	errno = EXFULL;
	return bad ? -1 : 0;
}

static const struct odd files[] = {
	{ "again-by-path-fd", again_by_path_fd },
	{ "again-by-dev", again_by_dev },
	{ "again-by-thread", again_by_thread },
	{ "again-by-task", again_by_task },
	{ "again-near", again_near },
	{ "by-other-process", by_other_process },
	{ "by-its-directory", by_its_directory },
	{ "after-chdir", after_chdir },
	{ "mode-three", mode_three },
	{ "cut-while-read", cut_while_read },
	{ "cut-by-read-fd", cut_by_read_fd },
	{ "cut-by-path-fd", cut_by_path_fd },
	{ "cut-by-name-of-fd", cut_by_name_of_fd },
	{ "by-openat2", by_openat2 },
	{ "by-old-creat", by_old_creat },
	{ "link-of-fd", link_of_fd },
	{ "link-of-name-of-fd", link_of_name_of_fd },
	{ "exchanged", exchanged },
	{ "moved-to-nothing", moved_to_nothing },
	{ "moved-with-whiteout", moved_with_whiteout },
	{ "moved-by-fds", moved_by_fds },
	{ "unlinked-by-fd", unlinked_by_fd },
	{ "linked-by-fd", linked_by_fd },
	{ "bound-near", bound_near },
	{ "changed-mode", changed_mode },
	{ "undumpable", undumpable },
	{ "name-turned", name_turned },
};

static long file_odd(char **argv)
{
	return RUN_ODD(files, argv);
}

const struct attack attacks_odd[] = {
	{ "odd-exec", 2, exec_odd },
	{ "odd-connect", 3, connect_odd },
	{ "odd-file", 2, file_odd },
	{ NULL, 0, NULL },
};
