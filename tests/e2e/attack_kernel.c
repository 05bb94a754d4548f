/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attacks through system calls an agent has no business with: namespaces,
 * mounts, keys, programs in the kernel, the machine itself.
 * Spec: tests/e2e/attacker.c.
 */
#include "attacker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/mount.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Reaps a child the kernel did give us. */
static long child(long pid)
{
	if (pid < 0)
		return -errno;
	if (pid == 0)
		_exit(0);
	waitpid((pid_t)pid, NULL, __WALL);
	return 0;
}

static long ns_unshare(char **argv)
{
	return result(syscall(SYS_unshare, number(argv[0])));
}

static long ns_clone(char **argv)
{
	return child(syscall(SYS_clone, number(argv[0]) | SIGCHLD, 0, 0, 0,
			     0));
}

static long ns_clone3(char **argv)
{
	struct clone_args args = { .flags = (uint64_t)number(argv[0]),
				   .exit_signal = SIGCHLD };

	return child(syscall(SYS_clone3, &args, sizeof(args)));
}

static long ns_set(char **argv)
{
	int fd = open(argv[0], O_RDONLY);

	/* no such descriptor is worth a try too: the filter comes first */
	return result(syscall(SYS_setns, fd < 0 ? 0 : fd,
			      number(argv[1])));
}

static long ns_set_pidfd(char **argv)
{
	int fd = (int)syscall(SYS_pidfd_open, number(argv[0]), 0);

	return result(syscall(SYS_setns, fd, number(argv[1])));
}

static long mount_tmpfs(char **argv)
{
	return result(syscall(SYS_mount, "x", argv[0], "tmpfs", 0, NULL));
}

static long mount_proc(char **argv)
{
	return result(syscall(SYS_mount, "x", argv[0], "proc", 0, NULL));
}

static long mount_bind(char **argv)
{
	return result(syscall(SYS_mount, argv[0], argv[1], NULL,
			      4096 /* MS_BIND */, NULL));
}

static long mount_remount(char **argv)
{
	return result(syscall(SYS_mount, NULL, argv[0], NULL,
			      32 | 4096 /* MS_REMOUNT | MS_BIND */, NULL));
}

static long mount_umount(char **argv)
{
	return result(syscall(SYS_umount2, argv[0], 2 /* MNT_DETACH */));
}

static long mount_open_tree(char **argv)
{
	return result(syscall(SYS_open_tree, AT_FDCWD, argv[0],
			      1 /* OPEN_TREE_CLONE */));
}

static long mount_move(char **argv)
{
	return result(syscall(SYS_move_mount, AT_FDCWD, argv[0], AT_FDCWD,
			      argv[1], 0));
}

static long mount_fsopen(char **argv)
{
	return result(syscall(SYS_fsopen, argv[0], 0));
}

static long mount_fsconfig(char **argv)
{
	(void)argv;
	return result(syscall(SYS_fsconfig, -1, 0, "a", "b", 0));
}

static long mount_fsmount(char **argv)
{
	(void)argv;
	return result(syscall(SYS_fsmount, -1, 0, 0));
}

static long mount_fspick(char **argv)
{
	return result(syscall(SYS_fspick, AT_FDCWD, argv[0], 0));
}

static long mount_attr_clear(char **argv)
{
	struct mount_attr attr = { .attr_clr = MOUNT_ATTR_RDONLY };

	return result(syscall(SYS_mount_setattr, AT_FDCWD, argv[0], 0, &attr,
			      sizeof(attr)));
}

static long root_pivot(char **argv)
{
	return result(syscall(SYS_pivot_root, argv[0], argv[0]));
}

static long root_change(char **argv)
{
	return result(chroot(argv[0]));
}

static long key_get_session(char **argv)
{
	(void)argv;
	return result(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID,
			      KEY_SPEC_SESSION_KEYRING, 0));
}

static long key_get_user(char **argv)
{
	(void)argv;
	return result(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID,
			      KEY_SPEC_USER_KEYRING, 0));
}

static long key_add(char **argv)
{
	(void)argv;
	return result(syscall(SYS_add_key, "user", "agentbox-test", "x", 1,
			      KEY_SPEC_PROCESS_KEYRING));
}

static long key_request(char **argv)
{
	(void)argv;
	return result(syscall(SYS_request_key, "user", "agentbox-test", NULL,
			      KEY_SPEC_PROCESS_KEYRING));
}

static long sys_bpf(char **argv)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4,
				.value_size = 4, .max_entries = 1 };

	(void)argv;
	return result(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
}

static long sys_perf(char **argv)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.exclude_kernel = 1 };

	(void)argv;
	return result(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

static long sys_userfaultfd(char **argv)
{
	(void)argv;
	return result(syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY));
}

static long sys_io_uring(char **argv)
{
	struct io_uring_params params = { 0 };

	(void)argv;
	return result(syscall(SYS_io_uring_setup, 4, &params));
}

static long sys_io_uring_enter(char **argv)
{
	(void)argv;
	return result(syscall(SYS_io_uring_enter, -1, 0, 0, 0, NULL, 0));
}

/* So many events of the machine's fs.aio-max-nr, while it lives. */
static long sys_io_setup(char **argv)
{
	unsigned long context = 0;

	return result(syscall(SYS_io_setup, number(argv[0]), &context));
}

/* A page of the machine's pool, by each of the calls that can take one. */
static long huge_page(char **argv)
{
	const size_t size = 2u << 20;

	if (!strcmp(argv[0], "memfd"))
		return result(syscall(SYS_memfd_create, "huge", MFD_HUGETLB));
	if (!strcmp(argv[0], "shm"))
		return result(shmget(IPC_PRIVATE, size,
				     IPC_CREAT | SHM_HUGETLB | 0600));
	return mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS |
		    MAP_HUGETLB, -1, 0) == MAP_FAILED ? -errno : 0;
}

static long sys_fanotify(char **argv)
{
	(void)argv;
	return result(syscall(SYS_fanotify_init, 0, 0));
}

static long sys_personality(char **argv)
{
	return result(personality((unsigned long)number(argv[0])));
}

static long sys_kexec(char **argv)
{
	(void)argv;
	return result(syscall(SYS_kexec_load, 0, 0, NULL, 0));
}

static long sys_init_module(char **argv)
{
	(void)argv;
	return result(syscall(SYS_init_module, NULL, 0, ""));
}

static long sys_finit_module(char **argv)
{
	(void)argv;
	return result(syscall(SYS_finit_module, -1, "", 0));
}

static long sys_delete_module(char **argv)
{
	(void)argv;
	return result(syscall(SYS_delete_module, "no_such_module", 0));
}

static long sys_swapon(char **argv)
{
	(void)argv;
	return result(syscall(SYS_swapon, "/nonexistent", 0));
}

static long sys_acct(char **argv)
{
	(void)argv;
	return result(syscall(SYS_acct, "/nonexistent"));
}

static long sys_quotactl(char **argv)
{
	(void)argv;
	return result(syscall(SYS_quotactl, 0, NULL, 0, NULL));
}

static long sys_settimeofday(char **argv)
{
	(void)argv;
	return result(syscall(SYS_settimeofday, NULL, NULL));
}

/* Asks for the time it already is, so that the control does no harm. */
static long sys_clock_settime(char **argv)
{
	struct timespec now;

	(void)argv;
	clock_gettime(CLOCK_REALTIME, &now);
	return result(syscall(SYS_clock_settime, CLOCK_REALTIME, &now));
}

static long sys_adjtimex(char **argv)
{
	struct timex tx = { .modes = ADJ_TICK, .tick = 10000 };

	(void)argv;
	return result(syscall(SYS_adjtimex, &tx));
}

/* A wrong magic number: never reboots, but tells who refused. */
static long sys_reboot(char **argv)
{
	(void)argv;
	return result(syscall(SYS_reboot, 0, 0, 0, NULL));
}

static long sys_syslog(char **argv)
{
	(void)argv;
	return result(klogctl(10 /* size of the buffer */, NULL, 0));
}

static long sys_iopl(char **argv)
{
	(void)argv;
#ifdef SYS_iopl
	return result(syscall(SYS_iopl, 3));
#else
	return -ENOSYS;
#endif
}

static long sys_modify_ldt(char **argv)
{
	char buffer[64];

	(void)argv;
#ifdef SYS_modify_ldt
	return result(syscall(SYS_modify_ldt, 0, buffer, sizeof(buffer)));
#else
	(void)buffer;
	return -ENOSYS;
#endif
}

/* getpid through the x32 numbers. */
static long sys_x32(char **argv)
{
	(void)argv;
	return result(syscall(0x40000000L | SYS_getpid));
}

/* getpid through the 32-bit gate; SIGSYS or SIGSEGV is an answer too. */
static long sys_int80(char **argv)
{
	long r = -ENOSYS;

	(void)argv;
#ifdef __x86_64__
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) :
			 "memory", "r8", "r9", "r10", "r11");
#endif
	return r;
}

static long sys_sethostname(char **argv)
{
	return result(sethostname(argv[0], strlen(argv[0])));
}

/* A system call that does not exist yet. */
static long sys_unknown(char **argv)
{
	return result(syscall(number(argv[0]), 0, 0, 0, 0, 0, 0));
}

const struct attack attacks_kernel[] = {
	{ "unshare", 1, ns_unshare },
	{ "clone", 1, ns_clone },
	{ "clone3", 1, ns_clone3 },
	{ "setns", 2, ns_set },
	{ "setns-pidfd", 2, ns_set_pidfd },
	{ "mount-tmpfs", 1, mount_tmpfs },
	{ "mount-proc", 1, mount_proc },
	{ "mount-bind", 2, mount_bind },
	{ "remount-rw", 1, mount_remount },
	{ "umount", 1, mount_umount },
	{ "open-tree", 1, mount_open_tree },
	{ "move-mount", 2, mount_move },
	{ "fsopen", 1, mount_fsopen },
	{ "fsconfig", 0, mount_fsconfig },
	{ "fsmount", 0, mount_fsmount },
	{ "fspick", 1, mount_fspick },
	{ "mount-setattr-rw", 1, mount_attr_clear },
	{ "pivot-root", 1, root_pivot },
	{ "chroot", 1, root_change },
	{ "keyctl-session", 0, key_get_session },
	{ "keyctl-user", 0, key_get_user },
	{ "add-key", 0, key_add },
	{ "request-key", 0, key_request },
	{ "bpf", 0, sys_bpf },
	{ "perf", 0, sys_perf },
	{ "userfaultfd", 0, sys_userfaultfd },
	{ "io-uring", 0, sys_io_uring },
	{ "io-uring-enter", 0, sys_io_uring_enter },
	{ "io-setup", 1, sys_io_setup },
	{ "huge-page", 1, huge_page },
	{ "fanotify", 0, sys_fanotify },
	{ "personality", 1, sys_personality },
	{ "kexec", 0, sys_kexec },
	{ "init-module", 0, sys_init_module },
	{ "finit-module", 0, sys_finit_module },
	{ "delete-module", 0, sys_delete_module },
	{ "swapon", 0, sys_swapon },
	{ "acct", 0, sys_acct },
	{ "quotactl", 0, sys_quotactl },
	{ "settimeofday", 0, sys_settimeofday },
	{ "clock-settime", 0, sys_clock_settime },
	{ "adjtimex", 0, sys_adjtimex },
	{ "reboot", 0, sys_reboot },
	{ "syslog", 0, sys_syslog },
	{ "iopl", 0, sys_iopl },
	{ "modify-ldt", 0, sys_modify_ldt },
	{ "x32", 0, sys_x32 },
	{ "int80", 0, sys_int80 },
	{ "sethostname", 1, sys_sethostname },
	{ "syscall", 1, sys_unknown },
	{ NULL, 0, NULL },
};
