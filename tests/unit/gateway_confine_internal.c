/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The gateway's own walls: what a process behind them can and cannot do. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"
#include "base/fd.h"
#include "state.h"
#include "wire/confine.h"

#define NO_WALLS 200

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* More than libc sorts on its stack. */
static int sort_much(int fd)
{
	static int items[4096];

	(void)fd;
	for (int i = 0; i < 4096; i++)
		items[i] = i * 7 % 4096;
	qsort(items, 4096, sizeof(*items), by_number);
	return items[4095] == 4095 ? 0 : 1;
}

static int is_made(int family, int type, int protocol)
{
	return socket(family, type, protocol) < 0 ? errno : 0;
}

static int make_tcp(int fd)
{
	(void)fd;
	return is_made(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		       0) +
	       is_made(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP);
}

static int make_unix(int fd)
{
	(void)fd;
	return is_made(AF_UNIX, SOCK_STREAM, 0);
}

static int make_netlink(int fd)
{
	(void)fd;
	return is_made(AF_NETLINK, SOCK_RAW, 0);
}

static int make_raw(int fd)
{
	(void)fd;
	return is_made(AF_INET, SOCK_RAW, IPPROTO_TCP);
}

static int make_ping(int fd)
{
	(void)fd;
	return is_made(AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
}

static int read_flags(int fd)
{
	int n = 0;

	return fcntl(fd, F_GETFL) < 0 || fcntl(fd, F_GETFD) < 0 ||
	       ioctl(fd, FIONREAD, &n) < 0 ? errno : 0;
}

static int size_pipe(int fd)
{
	int ends[2];

	(void)fd;
	return pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0 ||
	       fcntl(ends[1], F_SETPIPE_SZ, 4096) < 0 ? errno : 0;
}

/* Whoever owns a descriptor gets its signal, whatever it is set to. */
static int own_by_fcntl(int fd)
{
	return fcntl(fd, F_SETOWN, getpid()) < 0 ? errno : 0;
}

static int own_by_ioctl(int fd)
{
	int pid = getpid();

	return ioctl(fd, FIOSETOWN, &pid) < 0 ? errno : 0;
}

static int set_signal(int fd)
{
	return fcntl(fd, F_SETSIG, SIGKILL) < 0 ? errno : 0;
}

static int open_file(int fd)
{
	(void)fd;
	return open("/proc/self/status", O_RDONLY) < 0 ? errno : 0;
}

/* What there is, and how large it is. */
static int stat_file(int fd)
{
	struct stat st;

	(void)fd;
	return stat("/etc/passwd", &st) < 0 ? errno : 0;
}

static int stat_own(int fd)
{
	struct stat st;

	return -ab_fd_stat(fd, &st);
}

/* These are the end of it. */
static int listen_on(int fd)
{
	return listen(fd, 1) < 0 ? errno : 0;
}

static int make_child(int fd)
{
	(void)fd;
	return syscall(SYS_fork) == 0 ? 0 : errno;
}

static int kill_other(int fd)
{
	(void)fd;
	return kill(getpid(), 0) < 0 ? errno : 0;
}

/* What the row did behind the walls: its errno, or minus the signal. */
static int behind(int (*act)(int fd))
{
	const char *stage = "";
	int status, fd;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		_exit(fd < 0 || ab_confine(&stage) ? NO_WALLS : act(fd));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static const struct row {
	const char *name;
	int (*act)(int fd);
	int want;
} rows[] = {
	{ "sort_much", sort_much, 0 },
	{ "make_tcp", make_tcp, 0 },
	{ "read_flags", read_flags, 0 },
	{ "size_pipe", size_pipe, 0 },
	{ "make_unix", make_unix, EACCES },
	{ "make_netlink", make_netlink, EACCES },
	{ "make_raw", make_raw, EACCES },
	{ "make_ping", make_ping, EACCES },
	{ "own_by_fcntl", own_by_fcntl, EACCES },
	{ "own_by_ioctl", own_by_ioctl, EACCES },
	{ "set_signal", set_signal, EACCES },
	{ "open_file", open_file, EACCES },
	{ "stat_file", stat_file, EACCES },
	{ "stat_own", stat_own, 0 },
	{ "listen_on", listen_on, -SIGSYS },
	{ "kill_other", kill_other, -SIGSYS },
#ifdef SYS_fork
	{ "make_child", make_child, -SIGSYS },
#endif
};

START_TEST(a_row_ends_as_it_should)
{
	const struct row *r = &rows[_i];
	int got = behind(r->act);

	ck_assert_msg(got != NO_WALLS, "no walls");
	ck_assert_msg(got == r->want, "%s: %d, wanted %d", r->name, got,
		      r->want);
}
END_TEST

/* A wall with a hole where the last lines should be is no wall. */
START_TEST(a_filter_that_does_not_fit_is_not_loaded)
{
	struct sock_filter code[AB_CONFINE_FRAME + 2];
	ab_confine_filter f;

	ab_confine_begin(&f, code, AB_CONFINE_FRAME + 2);
	ab_confine_allow(&f, SYS_getpid);
	ck_assert(!f.is_too_long);
	ab_confine_allow(&f, SYS_getppid);
	ck_assert(f.is_too_long);
	ck_assert_int_eq(ab_confine_load(&f), -EFBIG);
	/* it would end us here */
	ck_assert_int_gt(getsid(0), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gateway_confine");
	TCase *tc = tcase_create("gateway_confine");
	SRunner *sr;
	int bad;

	tcase_set_timeout(tc, 60 * ab_test_slowness());
	tcase_add_test(tc, a_filter_that_does_not_fit_is_not_loaded);
	tcase_add_loop_test(tc, a_row_ends_as_it_should, 0,
			    sizeof(rows) / sizeof(*rows));
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	bad = srunner_ntests_failed(sr);
	srunner_free(sr);
	return bad ? 1 : 0;
}
