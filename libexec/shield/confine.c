/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All that the shield does not need, given up for good before it reads the
 * first byte of an agent. It becomes the owner of the box's user namespace,
 * which may read from processes in it without a capability of his own
 * (user_namespaces(7)), and keeps none. Landlock would forbid that reading
 * (landlock(7), "Ptrace restrictions"), so files are kept away by the filter:
 * it knows no call that opens one. Spec: DESIGN.md section 2.
 */
#include "config.h"

#include <errno.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/attr.h"
#include "state.h"
#include "wire/confine.h"

/* Everything else ends the process. */
static const uint16_t allowed[] = {
	SYS_process_vm_readv,
	SYS_readlinkat,
	SYS_pidfd_open, /* who a thread's leader is */
#ifdef SYS_poll
	SYS_poll,
#endif
	SYS_ppoll,
	SYS_recvmsg,
	SYS_sendmsg,
	SYS_close,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_brk,
	SYS_futex,
	SYS_clock_gettime,
	SYS_getrandom,
	SYS_sysinfo, /* qsort(3) of an older libc: how much memory there is */
	SYS_getpid,
	SYS_gettid,
	SYS_rt_sigreturn,
	SYS_rt_sigprocmask,
	SYS_restart_syscall,
	SYS_exit,
	SYS_exit_group,
};

/* Of ioctl(2) the three of a listener, and one of a pidfd, which tells. */
static void put_ioctls(ab_confine_filter *f)
{
	static const uint32_t calls[] = {
		(uint32_t)SECCOMP_IOCTL_NOTIF_RECV,
		(uint32_t)SECCOMP_IOCTL_NOTIF_SEND,
		(uint32_t)SECCOMP_IOCTL_NOTIF_ID_VALID,
		(uint32_t)AB_PIDFD_GET_INFO,
	};
	const uint8_t n = AB_ARRAY_LEN(calls);

	ab_confine_put(f, BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0,
		       (uint8_t)(n + 3));
	ab_confine_put(f, BPF_LD | BPF_W | BPF_ABS,
		       offsetof(struct seccomp_data, args[1]), 0, 0);
	for (uint8_t i = 0; i < n; i++)
		ab_confine_put(f, BPF_JMP | BPF_JEQ | BPF_K, calls[i],
			       (uint8_t)(n - i), 0);
	ab_confine_put(f, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	ab_confine_put(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

int ab_sh_take_filter(void)
{
	struct sock_filter code[2 * AB_ARRAY_LEN(allowed) + AB_CONFINE_FRAME +
				10];
	ab_confine_filter f;

	ab_confine_begin(&f, code, AB_ARRAY_LEN(code));
	/* its arguments are looked at each time, so it has the shortest way */
	put_ioctls(&f);
	for (size_t i = 0; i < AB_ARRAY_LEN(allowed); i++)
		ab_confine_allow(&f, allowed[i]);
	return ab_confine_load(&f);
}

static int become(uint32_t uid, uint32_t gid)
{
	if (geteuid() != 0)
		return geteuid() == uid ? 0 : -EPERM;
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid))
		return -errno;
	return 0;
}

/* No thread, no process, no file, no core. */
int ab_sh_set_limits(void)
{
	const struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_CORE, &none) || setrlimit(RLIMIT_NPROC, &none) ||
	    setrlimit(RLIMIT_FSIZE, &none))
		return -errno;
	return 0;
}

int ab_sh_give_up(uint32_t uid, uint32_t gid, const char **stage)
{
	int r;

	*stage = "ids";
	/* before the ids: they take the capability to do so with them */
	ab_confine_drop_bounding_set();
	r = become(uid, gid);
	if (r)
		return r;
	*stage = "capabilities";
	r = ab_confine_keep_capabilities(0);
	if (r)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return -errno;
	return 0;
}
