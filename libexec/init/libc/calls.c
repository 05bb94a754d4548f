/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The system calls agentbox-init uses, with the names and meanings of the C
 * library: -1 and errno. No cancellation, no threads: errno is one word, also
 * in the vfork child, whose parent sleeps meanwhile. Spec: the man pages,
 * section 2.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libc/raw.h"

#define KERNEL_SIGSET_SIZE 8

static int error_number;

int *__errno_location(void)
{
	return &error_number;
}

static long result(long r)
{
	if (r >= 0 || r < -4095)
		return r;
	error_number = (int)-r;
	return -1;
}

#define CALL(n, a, b, c, d, e, f)                                       \
	result(init_raw((n), (long)(a), (long)(b), (long)(c), (long)(d), \
			(long)(e), (long)(f)))

long syscall(long n, ...)
{
	va_list ap;
	long a[6];

	va_start(ap, n);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	return CALL(n, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* clone(2) as the C library has it: fn(arg) on a stack of its own. */
__asm__(".text\n"
	".global init_clone_call\n"
	".hidden init_clone_call\n"
	".type init_clone_call,@function\n"
	"init_clone_call:\n" /* fn, stack, flags, arg */
	"	and $-16,%rsi\n"
	"	sub $16,%rsi\n"
	"	mov %rdi,0(%rsi)\n"
	"	mov %rcx,8(%rsi)\n"
	"	movslq %edx,%rdi\n"
	"	xor %edx,%edx\n"
	"	xor %r10d,%r10d\n"
	"	xor %r8d,%r8d\n"
	"	mov $56,%eax\n"
	"	syscall\n"
	"	test %rax,%rax\n"
	"	jz 1f\n"
	"	ret\n"
	"1:	xor %ebp,%ebp\n"
	"	pop %rax\n"
	"	pop %rdi\n"
	"	call *%rax\n"
	"	mov %eax,%edi\n"
	"	mov $60,%eax\n"
	"	syscall\n"
	"	hlt\n");

long init_clone_call(int (*fn)(void *), void *stack, int flags, void *arg);

int clone(int (*fn)(void *), void *stack, int flags, void *arg, ...)
{
	return (int)result(init_clone_call(fn, stack, flags, arg));
}

void _exit(int status)
{
	for (;;)
		(void)init_raw(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

/* Files. */

int open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, int) : 0;
	va_end(ap);
	return (int)CALL(SYS_openat, AT_FDCWD, path, flags, mode, 0, 0);
}

int openat(int dirfd, const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, int) : 0;
	va_end(ap);
	return (int)CALL(SYS_openat, dirfd, path, flags, mode, 0, 0);
}

int fcntl(int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	return (int)CALL(SYS_fcntl, fd, cmd, arg, 0, 0, 0);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	long arg;

	va_start(ap, request);
	arg = va_arg(ap, long);
	va_end(ap);
	return (int)CALL(SYS_ioctl, fd, request, arg, 0, 0, 0);
}

int prctl(int option, ...)
{
	va_list ap;
	long a[4];

	va_start(ap, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	return (int)CALL(SYS_prctl, option, a[0], a[1], a[2], a[3], 0);
}

ssize_t read(int fd, void *p, size_t n)
{
	return CALL(SYS_read, fd, p, n, 0, 0, 0);
}

ssize_t write(int fd, const void *p, size_t n)
{
	return CALL(SYS_write, fd, p, n, 0, 0, 0);
}

int close(int fd)
{
	return (int)CALL(SYS_close, fd, 0, 0, 0, 0, 0);
}

off_t lseek(int fd, off_t offset, int whence)
{
	return CALL(SYS_lseek, fd, offset, whence, 0, 0, 0);
}

int fstat(int fd, struct stat *st)
{
	return (int)CALL(SYS_fstat, fd, st, 0, 0, 0, 0);
}

int fstatat(int dirfd, const char *restrict path, struct stat *restrict st,
	    int flags)
{
	return (int)CALL(SYS_newfstatat, dirfd, path, st, flags, 0, 0);
}

ssize_t readlinkat(int dirfd, const char *restrict path, char *restrict text,
		   size_t n)
{
	return CALL(SYS_readlinkat, dirfd, path, text, n, 0, 0);
}

int dup2(int from, int to)
{
	return (int)CALL(SYS_dup2, from, to, 0, 0, 0, 0);
}

int dup3(int from, int to, int flags)
{
	return (int)CALL(SYS_dup3, from, to, flags, 0, 0, 0);
}

int pipe2(int pair[2], int flags)
{
	return (int)CALL(SYS_pipe2, pair, flags, 0, 0, 0, 0);
}

int chdir(const char *path)
{
	return (int)CALL(SYS_chdir, path, 0, 0, 0, 0, 0);
}

int fchdir(int fd)
{
	return (int)CALL(SYS_fchdir, fd, 0, 0, 0, 0, 0);
}

int chmod(const char *path, mode_t mode)
{
	return (int)CALL(SYS_chmod, path, mode, 0, 0, 0, 0);
}

int mkdirat(int dirfd, const char *path, mode_t mode)
{
	return (int)CALL(SYS_mkdirat, dirfd, path, mode, 0, 0, 0);
}

int rmdir(const char *path)
{
	return (int)CALL(SYS_rmdir, path, 0, 0, 0, 0, 0);
}

int symlinkat(const char *text, int dirfd, const char *path)
{
	return (int)CALL(SYS_symlinkat, text, dirfd, path, 0, 0, 0);
}

int unlinkat(int dirfd, const char *path, int flags)
{
	return (int)CALL(SYS_unlinkat, dirfd, path, flags, 0, 0, 0);
}

int renameat2(int from, const char *old, int to, const char *new,
	      unsigned flags)
{
	return (int)CALL(SYS_renameat2, from, old, to, new, flags, 0);
}

mode_t umask(mode_t mask)
{
	return (mode_t)CALL(SYS_umask, mask, 0, 0, 0, 0, 0);
}

/* Memory. */

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	return (void *)CALL(SYS_mmap, at, n, prot, flags, fd, offset);
}

int munmap(void *at, size_t n)
{
	return (int)CALL(SYS_munmap, at, n, 0, 0, 0, 0);
}

int memfd_create(const char *name, unsigned flags)
{
	return (int)CALL(SYS_memfd_create, name, flags, 0, 0, 0, 0);
}

/* Waiting. */

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
	  const sigset_t *mask)
{
	struct timespec copy; /* the kernel writes into it */

	if (timeout)
		copy = *timeout;
	return (int)CALL(SYS_ppoll, fds, n, timeout ? &copy : NULL, mask,
			 KERNEL_SIGSET_SIZE, 0);
}

int epoll_create1(int flags)
{
	return (int)CALL(SYS_epoll_create1, flags, 0, 0, 0, 0, 0);
}

int epoll_ctl(int fd, int op, int other, struct epoll_event *e)
{
	return (int)CALL(SYS_epoll_ctl, fd, op, other, e, 0, 0);
}

int epoll_wait(int fd, struct epoll_event *events, int n, int timeout)
{
	return (int)CALL(SYS_epoll_wait, fd, events, n, timeout, 0, 0);
}

int eventfd(unsigned count, int flags)
{
	return (int)CALL(SYS_eventfd2, count, flags, 0, 0, 0, 0);
}

int inotify_init1(int flags)
{
	return (int)CALL(SYS_inotify_init1, flags, 0, 0, 0, 0, 0);
}

int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	return (int)CALL(SYS_inotify_add_watch, fd, path, mask, 0, 0, 0);
}

int inotify_rm_watch(int fd, int wd)
{
	return (int)CALL(SYS_inotify_rm_watch, fd, wd, 0, 0, 0, 0);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	return (int)CALL(SYS_clock_gettime, id, t, 0, 0, 0, 0);
}

int nanosleep(const struct timespec *t, struct timespec *left)
{
	return (int)CALL(SYS_nanosleep, t, left, 0, 0, 0, 0);
}

int pause(void)
{
	return (int)CALL(SYS_pause, 0, 0, 0, 0, 0, 0);
}

/* Processes and signals. */

pid_t getpid(void)
{
	return (pid_t)init_raw(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

pid_t getppid(void)
{
	return (pid_t)init_raw(SYS_getppid, 0, 0, 0, 0, 0, 0);
}

pid_t getsid(pid_t pid)
{
	return (pid_t)CALL(SYS_getsid, pid, 0, 0, 0, 0, 0);
}

pid_t setsid(void)
{
	return (pid_t)CALL(SYS_setsid, 0, 0, 0, 0, 0, 0);
}

int kill(pid_t pid, int signum)
{
	return (int)CALL(SYS_kill, pid, signum, 0, 0, 0, 0);
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	return (pid_t)CALL(SYS_wait4, pid, status, options, usage, 0, 0);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	return wait4(pid, status, options, NULL);
}

int execve(const char *path, char *const argv[], char *const envp[])
{
	return (int)CALL(SYS_execve, path, argv, envp, 0, 0, 0);
}

int unshare(int flags)
{
	return (int)CALL(SYS_unshare, flags, 0, 0, 0, 0, 0);
}

int setns(int fd, int type)
{
	return (int)CALL(SYS_setns, fd, type, 0, 0, 0, 0);
}

int sethostname(const char *name, size_t n)
{
	return (int)CALL(SYS_sethostname, name, n, 0, 0, 0, 0);
}

int setgroups(size_t n, const gid_t *list)
{
	return (int)CALL(SYS_setgroups, n, list, 0, 0, 0, 0);
}

int setresuid(uid_t r, uid_t e, uid_t s)
{
	return (int)CALL(SYS_setresuid, r, e, s, 0, 0, 0);
}

int setresgid(gid_t r, gid_t e, gid_t s)
{
	return (int)CALL(SYS_setresgid, r, e, s, 0, 0, 0);
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	return (int)CALL(SYS_prlimit64, 0, resource, limit, 0, 0, 0);
}

int sigemptyset(sigset_t *set)
{
	memset(set, 0, sizeof(*set));
	return 0;
}

int sigfillset(sigset_t *set)
{
	memset(set, 0xff, sizeof(*set));
	return 0;
}

int sigaddset(sigset_t *set, int signum)
{
	unsigned bit = (unsigned)signum - 1;

	set->__val[bit / 64] |= 1ul << bit % 64;
	return 0;
}

int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	return (int)CALL(SYS_rt_sigprocmask, how, set, old, KERNEL_SIGSET_SIZE,
			 0, 0);
}

/* Only for SIG_IGN and SIG_DFL: a handler would need a restorer. */
__sighandler_t signal(int signum, __sighandler_t handler)
{
	struct {
		__sighandler_t handler;
		unsigned long flags;
		void *restorer;
		uint64_t mask;
	} action = {.handler = handler};

	if (CALL(SYS_rt_sigaction, signum, &action, NULL, KERNEL_SIGSET_SIZE, 0,
		 0))
		return SIG_ERR;
	return SIG_DFL;
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
	return (int)CALL(SYS_signalfd4, fd, mask, KERNEL_SIGSET_SIZE, flags, 0,
			 0);
}

/* Sockets. */

int socket(int domain, int type, int protocol)
{
	return (int)CALL(SYS_socket, domain, type, protocol, 0, 0, 0);
}

int socketpair(int domain, int type, int protocol, int pair[2])
{
	return (int)CALL(SYS_socketpair, domain, type, protocol, pair, 0, 0);
}

int getsockopt(int fd, int level, int name, void *restrict value,
	       socklen_t *restrict n)
{
	return (int)CALL(SYS_getsockopt, fd, level, name, value, n, 0);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	return CALL(SYS_sendmsg, fd, m, flags, 0, 0, 0);
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	return CALL(SYS_recvmsg, fd, m, flags, 0, 0, 0);
}
