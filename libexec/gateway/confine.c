/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All that the gateway does not need, given up for good before it reads the
 * first byte of the box: files, new processes, programs, listening, other
 * ids and capabilities. What is left is to talk on sockets it has or connects.
 * Where a kernel lacks Landlock the filter still knows no call that names a
 * file. Spec: DESIGN.md section 2, landlock(7), seccomp(2), capabilities(7).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/attr.h"
#include "state.h"
#include "wire/confine.h"

#define NOBODY 65534

static int landlock(void)
{
	/* every right to files that a level has; no rule gives one back */
	static const uint64_t levels[] = {
		0, (UINT64_C(1) << 13) - 1, (UINT64_C(1) << 14) - 1,
		(UINT64_C(1) << 15) - 1, (UINT64_C(1) << 15) - 1,
		(UINT64_C(1) << 16) - 1,
	};
	int abi = ab_confine_landlock_level();
	ab_autofd int set = -1;
	uint64_t handled;

	if (abi < 1)
		return abi;
	handled = levels[abi < (int)AB_ARRAY_LEN(levels)
				 ? abi
				 : (int)AB_ARRAY_LEN(levels) - 1];
	set = (int)syscall(SYS_landlock_create_ruleset, &handled,
			   sizeof(handled), 0);
	if (set < 0)
		return -errno;
	return syscall(SYS_landlock_restrict_self, set, 0) ? -errno : 0;
}

/* --- seccomp -------------------------------------------------------------- */

/* Everything else ends the process. No bind(2), no listen(2). */
static const uint16_t allowed[] = {
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
	SYS_epoll_pwait,
	SYS_epoll_ctl,
	SYS_recvfrom,
	SYS_sendto,
	SYS_recvmsg,
	SYS_sendmsg,
	SYS_read,
	SYS_pread64, /* the value of a secret */
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_splice,
	SYS_pipe2,
	SYS_accept4,
	SYS_close,
	SYS_shutdown,
	SYS_socket,
	SYS_fcntl,
	SYS_ioctl, /* of c-ares */
	SYS_connect,
	SYS_getsockname,
	SYS_getpeername,
	SYS_getsockopt,
	SYS_setsockopt,
	SYS_timerfd_settime,
	SYS_fstat,
	SYS_lseek,
	SYS_memfd_create, /* a secret's way to the box, and files it has */
	SYS_ftruncate,
	SYS_pwrite64,
	SYS_pidfd_open, /* who asks, where the kernel cannot say by itself */
#ifdef SYS_poll
	SYS_poll,
#endif
	SYS_ppoll,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_mlock,
	SYS_munlock,
	SYS_brk,
	SYS_futex,
	SYS_clock_gettime,
	SYS_gettimeofday,
	SYS_getrandom,
	SYS_sysinfo, /* qsort(3) of an older libc: how much memory there is */
	SYS_getpid,
	SYS_gettid,
	SYS_geteuid,
	SYS_getuid,
	SYS_getegid,
	SYS_getgid,
	SYS_rt_sigreturn,
	SYS_rt_sigprocmask,
	SYS_restart_syscall,
	SYS_exit,
	SYS_exit_group,
};

/* Of a call only those values of an argument; others are refused. */
static void put_only(ab_confine_filter *f, uint32_t nr, unsigned arg,
		     uint32_t mask, const uint32_t *values, uint8_t n)
{
	ab_confine_put(f, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, (uint8_t)(n + 4));
	ab_confine_put(f, BPF_LD | BPF_W | BPF_ABS,
	    (uint32_t)(offsetof(struct seccomp_data, args) +
		       arg * sizeof(uint64_t)), 0, 0);
	ab_confine_put(f, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
	for (uint8_t i = 0; i < n; i++)
		ab_confine_put(f, BPF_JMP | BPF_JEQ | BPF_K, values[i],
		    (uint8_t)(n - i), 0);
	ab_confine_put(f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES, 0, 0);
	ab_confine_put(f, BPF_LD | BPF_W | BPF_ABS,
	    offsetof(struct seccomp_data, nr), 0, 0);
}

/*
 * Sockets that carry TCP and UDP alone. No owner of a descriptor is set: with
 * one, the kernel would send any signal to any process of the same user.
 */
static void put_arguments(ab_confine_filter *f)
{
	static const uint32_t families[] = { AF_INET, AF_INET6 };
	static const uint32_t types[] = { SOCK_STREAM, SOCK_DGRAM };
	static const uint32_t protocols[] = { 0, IPPROTO_TCP, IPPROTO_UDP };
	static const uint32_t fcntls[] = { F_GETFD, F_SETFD, F_GETFL, F_SETFL,
					   F_GET_SEALS, F_ADD_SEALS,
					   F_DUPFD_CLOEXEC, F_SETPIPE_SZ };
	static const uint32_t ioctls[] = { FIONREAD, FIONBIO };

	put_only(f, SYS_socket, 0, ~0u, families, 2);
	put_only(f, SYS_socket, 1, 0xf, types, 2);
	put_only(f, SYS_socket, 2, ~0u, protocols, 3);
	put_only(f, SYS_fcntl, 1, ~0u, fcntls, 8);
	put_only(f, SYS_ioctl, 1, ~0u, ioctls, 2);
}

static int seccomp(void)
{
	struct sock_filter code[2 * AB_ARRAY_LEN(allowed) + AB_CONFINE_FRAME +
				50];
	ab_confine_filter f;

	ab_confine_begin(&f, code, AB_ARRAY_LEN(code));
	put_arguments(&f);
	for (size_t i = 0; i < AB_ARRAY_LEN(allowed); i++)
		ab_confine_allow(&f, allowed[i]);
	/* libraries ask for files they can do without: there are none */
	ab_confine_put(&f, BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0);
	ab_confine_put(&f, BPF_JMP | BPF_JEQ | BPF_K, SYS_newfstatat, 0, 1);
	ab_confine_put(&f, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES, 0, 0);
	return ab_confine_load(&f);
}

/* --- ids and limits ------------------------------------------------------- */

static int drop_ids(void)
{
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return -errno;
	return 0;
}

static int set_limits(void)
{
	const struct rlimit none = { 0, 0 };
	/* no file is ever opened: of the secrets that have one, and memfds */
	const struct rlimit value = { AB_BROKER_MAX_VALUE,
				      AB_BROKER_MAX_VALUE };
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	if (setrlimit(RLIMIT_CORE, &none) || setrlimit(RLIMIT_NPROC, &none) ||
	    setrlimit(RLIMIT_FSIZE, &value))
		return -errno;
	return 0;
}

int ab_confine(const char **stage)
{
	int r;

	*stage = "limits";
	r = set_limits();
	if (r)
		return r;
	*stage = "ids";
	(void)prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
	/* before the ids: they take the capability to do so with them */
	ab_confine_drop_bounding_set();
	r = drop_ids();
	if (r)
		return r;
	*stage = "capabilities";
	r = ab_confine_keep_capabilities(0);
	if (r)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return -errno;
	*stage = "landlock";
	r = landlock();
	if (r)
		return r;
	*stage = "seccomp";
	return seccomp();
}
