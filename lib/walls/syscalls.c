/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an agent may ask of the kernel, row by row. `default` is a deny list:
 * calls an agent has no business with. `strict` is an allow list. Neither is
 * the first wall: namespaces, mounts and missing capabilities stop most of
 * these already, and the filter stops the rest of the kernel's surface.
 * Spec: DESIGN.md section 6, RECIPES.md "Attacker's reading" K.
 *
 * ENOSYS is chosen where programs fall back to an older call (clone3,
 * io_uring, io_setup, the new mount API), EAFNOSUPPORT for socket families,
 * EPERM for the rest.
 *
 * Arguments that the kernel takes as int or unsigned int are compared on
 * their low 32 bits where the row could be dodged by the upper ones:
 * TIOCSTI + 2^32 is TIOCSTI to the kernel (CVE-2023-28100).
 */
#include "config.h"

#include "walls/syscalls.h"

#include <errno.h>

#define D AB_ROW_DEFAULT
#define C AB_ROW_CORE
#define S AB_ROW_STRICT
#define L AB_ROW_LANDLOCK
#define N AB_ROW_NO_NET

#define LOW32 UINT64_C(0xffffffff)

#define DENY(name, err) { name, 0, D, err, { { 0 } } }
#define DENY_CORE(name, err) { name, 0, D | C, err, { { 0 } } }
#define DENY_NR(name, nr, err) { name, nr, D, err, { { 0 } } }
#define DENY_NR_CORE(name, nr, err) { name, nr, D | C, err, { { 0 } } }
#define DENY_BITS(name, arg, bits, err) \
	{ name, 0, D | C, err, { { AB_CMP_BITS, arg, bits, bits } } }
#define DENY_LOW(name, arg, v, err) \
	{ name, 0, D | C, err, { { AB_CMP_BITS, arg, LOW32, v } } }
/* socket(2): types and protocols of AF_INET and AF_INET6 */
#define DENY_INET(family) \
	{ "socket", 0, D | C, ESOCKTNOSUPPORT, \
	  { { AB_CMP_BITS, 0, LOW32, family }, { AB_CMP_BITS, 1, 0xc, 4 } } }, \
	{ "socket", 0, D | C, EPROTONOSUPPORT, \
	  { { AB_CMP_BITS, 0, LOW32, family }, { AB_CMP_GT, 2, 0, 58 } } }
#define DENY_OTHER(name, arg) \
	{ name, 0, D, EPERM, { { AB_CMP_NE, arg, 0, 0 } } }
/* the mode of what is made or changed: no set-user-ID, no set-group-ID */
#define DENY_MODE_NR(name, nr, arg) \
	{ name, nr, D | C, EPERM, { { AB_CMP_BITS, arg, SUID, SUID } } }, \
	{ name, nr, D | C, EPERM, { { AB_CMP_BITS, arg, SGID, SGID } } }
#define DENY_MODE(name, arg) DENY_MODE_NR(name, 0, arg)
/* open(2) reads its mode with one of these flags only */
#define DENY_OPEN(name, arg, flag) \
	{ name, 0, D | C, EPERM, { { AB_CMP_BITS, arg, flag, flag }, \
				   { AB_CMP_BITS, arg + 1, SUID, SUID } } }, \
	{ name, 0, D | C, EPERM, { { AB_CMP_BITS, arg, flag, flag }, \
				   { AB_CMP_BITS, arg + 1, SGID, SGID } } }

#define SUID 04000
#define SGID 02000
#define FLAG_CREAT 0100
#define FLAG_TMPFILE 020000000 /* __O_TMPFILE: without O_DIRECTORY */

#define FLAG_NEWTIME 0x00000080
#define FLAG_NEWNS 0x00020000
#define FLAG_NEWCGROUP 0x02000000
#define FLAG_NEWUTS 0x04000000
#define FLAG_NEWIPC 0x08000000
#define FLAG_NEWUSER 0x10000000
#define FLAG_NEWPID 0x20000000
#define FLAG_NEWNET 0x40000000
/* clone(2): the low byte is the exit signal, so no CLONE_NEWTIME there */
#define FLAGS_NEW_CLONE UINT64_C(0x7e020000)
#define FLAGS_NEW_UNSHARE UINT64_C(0x7e020080)

#define FCNTL_SETLEASE 1024
#define FCNTL_NEWEST 1038 /* F_SET_FILE_RW_HINT */
/*
 * fcntl(2) "Leases": who holds one stops every open(2) of the file for
 * fs.lease-break-time, 45 s, and a file that may only be read is enough: the
 * host's programs, and the next box over the same workspace. From Linux 6.19
 * F_SETDELEG does it to directories; it and what comes after it did not exist
 * for us. To programs both are missing, as on many file systems. F_GETLEASE
 * asks, F_NOTIFY tells the caller what inotify does and stops nobody.
 */
#define DENY_LEASE(name) \
	{ name, 0, D | C, EINVAL, { { AB_CMP_BITS, 1, LOW32, \
				      FCNTL_SETLEASE } } }, \
	{ name, 0, D | C, EINVAL, { { AB_CMP_GT, 1, 0, FCNTL_NEWEST } } }

/*
 * Pages of the machine's pool (mmap(2), MAP_HUGETLB): no cgroup for memory
 * counts them, and who takes them takes them from the programs that the pool
 * was made for. As if there were none.
 */
#define FLAG_MAP_HUGE 0x40000
#define FLAG_MEMFD_HUGE 0x4
#define FLAG_SHM_HUGE 04000
#define HUGE(name, set, arg, flag) \
	{ name, 0, set, ENOMEM, { { AB_CMP_BITS, arg, flag, flag } } }

#define NR_TIOCSTI 0x5412
#define NR_TIOCLINUX 0x541C
#define NR_TIOCSETD 0x5423

const ab_row ab_rows_default[] = {
	/* namespaces: the agent never gets a capability in one of its own */
	DENY_BITS("clone", 0, FLAG_NEWNS, EPERM),
	DENY_BITS("clone", 0, FLAG_NEWCGROUP, EPERM),
	DENY_BITS("clone", 0, FLAG_NEWUTS, EPERM),
	DENY_BITS("clone", 0, FLAG_NEWIPC, EPERM),
	DENY_BITS("clone", 0, FLAG_NEWUSER, EPERM),
	DENY_BITS("clone", 0, FLAG_NEWPID, EPERM),
	DENY_BITS("clone", 0, FLAG_NEWNET, EPERM),
	/* flags behind a pointer cannot be judged; glibc falls back */
	DENY_NR_CORE("clone3", 435, ENOSYS),
	DENY_BITS("unshare", 0, FLAG_NEWTIME, EPERM),
	DENY_BITS("unshare", 0, FLAG_NEWNS, EPERM),
	DENY_BITS("unshare", 0, FLAG_NEWCGROUP, EPERM),
	DENY_BITS("unshare", 0, FLAG_NEWUTS, EPERM),
	DENY_BITS("unshare", 0, FLAG_NEWIPC, EPERM),
	DENY_BITS("unshare", 0, FLAG_NEWUSER, EPERM),
	DENY_BITS("unshare", 0, FLAG_NEWPID, EPERM),
	DENY_BITS("unshare", 0, FLAG_NEWNET, EPERM),
	DENY_CORE("setns", EPERM),

	/* mounts, old API and new */
	DENY_CORE("mount", EPERM),
	DENY_CORE("umount", EPERM),
	DENY_CORE("umount2", EPERM),
	DENY_CORE("pivot_root", EPERM),
	DENY_CORE("chroot", EPERM),
	DENY_NR_CORE("open_tree", 428, ENOSYS),
	DENY_NR_CORE("move_mount", 429, ENOSYS),
	DENY_NR_CORE("fsopen", 430, ENOSYS),
	DENY_NR_CORE("fsconfig", 431, ENOSYS),
	DENY_NR_CORE("fsmount", 432, ENOSYS),
	DENY_NR_CORE("fspick", 433, ENOSYS),
	DENY_NR_CORE("mount_setattr", 442, ENOSYS),
	DENY_NR("statmount", 457, ENOSYS),
	DENY_NR("listmount", 458, ENOSYS),
	DENY_NR_CORE("lsm_set_self_attr", 460, ENOSYS),

	/* files by handle go round every path rule */
	DENY_CORE("open_by_handle_at", EPERM),
	DENY("name_to_handle_at", EPERM),
	DENY("fanotify_init", EPERM),
	DENY("fanotify_mark", EPERM),
	DENY("quotactl", EPERM),
	DENY_NR("quotactl_fd", 443, EPERM),
	DENY("lookup_dcookie", EPERM),

	/*
	 * A set-user-ID program in the workspace would be its owner's on the
	 * host, root's on a root host: no box makes one. openat2 has its mode
	 * behind a pointer; programs fall back to openat.
	 */
	DENY_MODE("chmod", 1),
	DENY_MODE("fchmod", 1),
	DENY_MODE("fchmodat", 2),
	DENY_MODE_NR("fchmodat2", 452, 2),
	DENY_MODE("creat", 1),
	DENY_MODE("mkdir", 1),
	DENY_MODE("mkdirat", 2),
	DENY_MODE("mknod", 1),
	DENY_MODE("mknodat", 2),
	DENY_OPEN("open", 1, FLAG_CREAT),
	DENY_OPEN("open", 1, FLAG_TMPFILE),
	DENY_OPEN("openat", 2, FLAG_CREAT),
	DENY_OPEN("openat", 2, FLAG_TMPFILE),
	DENY_NR_CORE("openat2", 437, ENOSYS),

	DENY_LEASE("fcntl"),
	DENY_LEASE("fcntl64"),

	/* operations this filter would never see */
	DENY_NR_CORE("io_uring_setup", 425, ENOSYS),
	DENY_NR_CORE("io_uring_enter", 426, ENOSYS),
	DENY_NR_CORE("io_uring_register", 427, ENOSYS),

	/* what is counted for the whole machine (fs.aio-max-nr), and kept from
	   the programs of the host */
	DENY("io_setup", ENOSYS),
	HUGE("mmap", D, 3, FLAG_MAP_HUGE),
	HUGE("mmap2", D, 3, FLAG_MAP_HUGE),
	HUGE("memfd_create", D, 1, FLAG_MEMFD_HUGE),
	HUGE("shmget", D, 2, FLAG_SHM_HUGE),

	/* other processes */
	DENY_CORE("process_vm_readv", EPERM),
	DENY_CORE("process_vm_writev", EPERM),
	DENY_NR_CORE("pidfd_getfd", 438, EPERM),
	/* pages that the shield and the self-test could not read */
	DENY_NR_CORE("memfd_secret", 447, ENOSYS),
	DENY("kcmp", EPERM),
	/* an agent that lowers the launcher's limits breaks later commands */
	{ "prlimit64", 0, D | C, EPERM, { { AB_CMP_NE, 0, 0, 0 } } },
	/*
	 * How PID 1 and the launcher are scheduled, commands inherit. A
	 * priority by user reaches them all, so that is out as a whole.
	 */
	DENY_OTHER("sched_setaffinity", 0),
	DENY_OTHER("sched_setscheduler", 0),
	DENY_OTHER("sched_setparam", 0),
	DENY_OTHER("sched_setattr", 0),
	DENY_OTHER("setpriority", 1),
	{ "setpriority", 0, D, EPERM, { { AB_CMP_BITS, 0, LOW32, 2 } } },
	DENY_OTHER("ioprio_set", 1),
	{ "ioprio_set", 0, D, EPERM, { { AB_CMP_BITS, 0, LOW32, 3 } } },
	DENY_OTHER("migrate_pages", 0),
	DENY_OTHER("move_pages", 0),
	/* a second listener would answer for the shield */
	{ "seccomp", 0, D | C, EPERM, { { AB_CMP_BITS, 1, 0x8, 0x8 } } },

	/* kernel memory, tracing and programs in the kernel */
	DENY_CORE("bpf", EPERM),
	DENY("perf_event_open", EPERM),
	DENY("userfaultfd", EPERM),
	DENY("add_key", EPERM),
	DENY("request_key", EPERM),
	DENY("keyctl", EPERM),
	DENY_CORE("init_module", EPERM),
	DENY_CORE("finit_module", EPERM),
	DENY_CORE("delete_module", EPERM),
	DENY("create_module", EPERM),
	DENY("get_kernel_syms", EPERM),
	DENY("query_module", EPERM),
	DENY_CORE("kexec_load", EPERM),
	DENY_CORE("kexec_file_load", EPERM),
	DENY_CORE("iopl", EPERM),
	DENY_CORE("ioperm", EPERM),
	DENY("vm86", EPERM),
	DENY("vm86old", EPERM),

	/* the machine */
	DENY("swapon", EPERM),
	DENY("swapoff", EPERM),
	DENY("acct", EPERM),
	DENY("reboot", EPERM),
	DENY("syslog", EPERM),
	DENY("settimeofday", EPERM),
	DENY("stime", EPERM),
	DENY("clock_settime", EPERM),
	DENY("clock_settime64", EPERM),
	DENY("clock_adjtime", EPERM),
	DENY("clock_adjtime64", EPERM),
	DENY("adjtimex", EPERM),
	DENY("sethostname", EPERM),
	DENY("setdomainname", EPERM),
	DENY("vhangup", EPERM),
	DENY("nfsservctl", ENOSYS),
	DENY("_sysctl", ENOSYS),
	DENY("sysfs", ENOSYS),
	DENY("uselib", ENOSYS),
	DENY("ustat", ENOSYS),
	DENY("afs_syscall", ENOSYS),
	DENY("getpmsg", ENOSYS),
	DENY("putpmsg", ENOSYS),
	DENY("tuxcall", ENOSYS),
	DENY("security", ENOSYS),
	DENY("vserver", ENOSYS),

	/* terminals: input injection, the console, line disciplines */
	DENY_LOW("ioctl", 1, NR_TIOCSTI, EPERM),
	DENY_LOW("ioctl", 1, NR_TIOCLINUX, EPERM),
	DENY_LOW("ioctl", 1, NR_TIOCSETD, EPERM),

	/* socket families: UNIX, INET, INET6 and NETLINK route remain */
	DENY_LOW("socket", 0, 0, EAFNOSUPPORT),
	DENY_LOW("socket", 0, 3, EAFNOSUPPORT),
	DENY_LOW("socket", 0, 4, EAFNOSUPPORT),
	DENY_LOW("socket", 0, 5, EAFNOSUPPORT),
	DENY_LOW("socket", 0, 6, EAFNOSUPPORT),
	DENY_LOW("socket", 0, 7, EAFNOSUPPORT),
	DENY_LOW("socket", 0, 8, EAFNOSUPPORT),
	DENY_LOW("socket", 0, 9, EAFNOSUPPORT),
	DENY_LOW("socket", 0, 11, EAFNOSUPPORT),
	DENY_LOW("socket", 0, 12, EAFNOSUPPORT),
	DENY_LOW("socket", 0, 13, EAFNOSUPPORT),
	DENY_LOW("socket", 0, 14, EAFNOSUPPORT),
	DENY_LOW("socket", 0, 15, EAFNOSUPPORT),
	{ "socket", 0, D | C, EAFNOSUPPORT, { { AB_CMP_GT, 0, 0, 16 } } },
	{ "socket", 0, D | C, EPROTONOSUPPORT,
	  { { AB_CMP_BITS, 0, LOW32, 16 }, { AB_CMP_NE, 2, 0, 0 } } },
	/* AF_INET with SOCK_PACKET opens a packet socket (packet(7)) */
	{ "socket", 0, D | C, EPERM,
	  { { AB_CMP_BITS, 0, LOW32, 2 }, { AB_CMP_BITS, 1, 0xf, 10 } } },
	/* of streams and datagrams TCP, UDP and ICMP remain: SEQPACKET is SCTP,
	   type 6 DCCP, and what else there is has a number above ICMPv6's */
	DENY_INET(2),
	DENY_INET(10),
	{ "socketpair", 0, D | C, EAFNOSUPPORT, { { AB_CMP_NE, 0, 0, 1 } } },
};
const size_t ab_rows_default_count =
	sizeof(ab_rows_default) / sizeof(ab_rows_default[0]);

/*
 * Without namespaces the filter is the network wall and the wall between
 * System V objects, signals' cousins and the host. A path socket cannot be
 * told apart here (the address is behind a pointer), so no new UNIX socket
 * can be made. One end of a pair of streams or packets reaches the other and
 * nobody else; a datagram socket sends to any path (unix(7)), and SOCK_RAW is
 * one.
 */
const ab_row ab_rows_landlock[] = {
	{ "socket", 0, D | S | C | L | N, EPERM, { { 0 } } },
	{ "socket", 0, D | S | C | L, EPERM, { { AB_CMP_BITS, 0, LOW32, 1 } } },
	{ "socketpair", 0, D | C | L, EPERM, { { AB_CMP_BITS, 1, 0xf, 2 } } },
	{ "socketpair", 0, D | C | L, EPERM, { { AB_CMP_BITS, 1, 0xf, 3 } } },
	{ "socketpair", 0, S | L, EPERM, { { AB_CMP_BITS, 0, LOW32, 1 } } },
	{ "socketpair", 0, S | L, 0, { { AB_CMP_BITS, 0, LOW32, 1 },
				       { AB_CMP_BITS, 1, 0xf, 1 } } },
	{ "socketpair", 0, S | L, 0, { { AB_CMP_BITS, 0, LOW32, 1 },
				       { AB_CMP_BITS, 1, 0xf, 5 } } },
	{ "shmget", 0, D | S | L, EPERM, { { 0 } } },
	{ "shmat", 0, D | S | L, EPERM, { { 0 } } },
	{ "shmctl", 0, D | S | L, EPERM, { { 0 } } },
	{ "semget", 0, D | S | L, EPERM, { { 0 } } },
	{ "semop", 0, D | S | L, EPERM, { { 0 } } },
	{ "semtimedop", 0, D | S | L, EPERM, { { 0 } } },
	{ "semctl", 0, D | S | L, EPERM, { { 0 } } },
	{ "msgget", 0, D | S | L, EPERM, { { 0 } } },
	{ "msgsnd", 0, D | S | L, EPERM, { { 0 } } },
	{ "msgrcv", 0, D | S | L, EPERM, { { 0 } } },
	{ "msgctl", 0, D | S | L, EPERM, { { 0 } } },
	{ "mq_open", 0, D | S | L, EPERM, { { 0 } } },
	{ "mq_unlink", 0, D | S | L, EPERM, { { 0 } } },
};
const size_t ab_rows_landlock_count =
	sizeof(ab_rows_landlock) / sizeof(ab_rows_landlock[0]);

#define OK(name) { name, 0, S, 0, { { 0 } } }
#define OK_NR(name, nr) { name, nr, S, 0, { { 0 } } }
#define OK_IOCTL(v) { "ioctl", 0, S, 0, { { AB_CMP_BITS, 1, LOW32, v } } }
/* the argument must be 0 in its low 32 bits */
#define OK_SELF(name, arg) \
	{ name, 0, S, 0, { { AB_CMP_BITS, arg, LOW32, 0 } } }
/* the argument must not have this bit */
#define OK_BUT(name, arg, bit) \
	{ name, 0, S, 0, { { AB_CMP_BITS, arg, bit, 0 } } }
#define OK_MODE_NR(name, nr, arg) \
	{ name, nr, S, 0, { { AB_CMP_BITS, arg, SUID | SGID, 0 } } }
#define OK_MODE(name, arg) OK_MODE_NR(name, 0, arg)
/* creates nothing, or nothing with one of the two bits */
#define OK_OPEN(name, arg) \
	{ name, 0, S, 0, \
	  { { AB_CMP_BITS, arg, FLAG_CREAT | FLAG_TMPFILE, 0 } } }, \
	OK_MODE(name, arg + 1)
#define OK_FCNTL_IS(name, v) \
	{ name, 0, S, 0, { { AB_CMP_BITS, 1, LOW32, v } } }
/* what is common to all systems, then Linux's own but for leases */
#define OK_FCNTL(name) \
	{ name, 0, S, 0, { { AB_CMP_BITS, 1, 0xfffffc00, 0 } } }, \
	OK_FCNTL_IS(name, 1025), OK_FCNTL_IS(name, 1026), \
	OK_FCNTL_IS(name, 1027), OK_FCNTL_IS(name, 1028), \
	OK_FCNTL_IS(name, 1030), OK_FCNTL_IS(name, 1031), \
	OK_FCNTL_IS(name, 1032), OK_FCNTL_IS(name, 1033), \
	OK_FCNTL_IS(name, 1034), OK_FCNTL_IS(name, 1035), \
	OK_FCNTL_IS(name, 1036), OK_FCNTL_IS(name, 1037), \
	OK_FCNTL_IS(name, FCNTL_NEWEST)
#define OK_INET(family, type, protocol) \
	{ "socket", 0, S, 0, { { AB_CMP_BITS, 0, LOW32, family }, \
			       { AB_CMP_BITS, 1, 0xf, type }, \
			       { AB_CMP_BITS, 2, LOW32, protocol } } }

const ab_row ab_rows_strict[] = {
	/* fall back, do not fail */
	{ "clone3", 435, S | C, ENOSYS, { { 0 } } },
	{ "io_uring_setup", 425, S | C, ENOSYS, { { 0 } } },
	{ "io_uring_enter", 426, S | C, ENOSYS, { { 0 } } },
	{ "io_uring_register", 427, S | C, ENOSYS, { { 0 } } },
	{ "openat2", 437, S | C, ENOSYS, { { 0 } } },
	{ "memfd_secret", 447, S | C, ENOSYS, { { 0 } } },
	{ "io_setup", 0, S, ENOSYS, { { 0 } } },
	HUGE("mmap", S, 3, FLAG_MAP_HUGE),
	HUGE("mmap2", S, 3, FLAG_MAP_HUGE),
	HUGE("memfd_create", S, 1, FLAG_MEMFD_HUGE),
	HUGE("shmget", S, 2, FLAG_SHM_HUGE),

	/* processes */
	{ "clone", 0, S, 0, { { AB_CMP_BITS, 0, FLAGS_NEW_CLONE, 0 } } },
	{ "unshare", 0, S, 0, { { AB_CMP_BITS, 0, FLAGS_NEW_UNSHARE, 0 } } },
	{ "prlimit64", 0, S, 0, { { AB_CMP_BITS, 0, LOW32, 0 } } },
	{ "personality", 0, S, 0, { { 0 } } },
	OK("fork"), OK("vfork"), OK("execve"), OK("execveat"), OK("exit"),
	OK("exit_group"), OK("wait4"), OK("waitid"), OK("waitpid"),
	OK("kill"), OK("tkill"), OK("tgkill"), OK("pause"),
	OK("rt_sigaction"), OK("rt_sigprocmask"), OK("rt_sigpending"),
	OK("rt_sigqueueinfo"), OK("rt_tgsigqueueinfo"), OK("rt_sigreturn"),
	OK("rt_sigsuspend"), OK("rt_sigtimedwait"), OK("sigaltstack"),
	OK("sigreturn"), OK("signalfd"), OK("signalfd4"),
	OK("restart_syscall"), OK("getpid"), OK("getppid"), OK("gettid"),
	OK("getpgid"), OK("getpgrp"), OK("setpgid"), OK("getsid"),
	OK("setsid"), OK("getuid"), OK("geteuid"), OK("getgid"),
	OK("getegid"), OK("getresuid"), OK("getresgid"), OK("getgroups"),
	OK("setuid"), OK("setgid"), OK("setreuid"), OK("setregid"),
	OK("setresuid"), OK("setresgid"), OK("setfsuid"), OK("setfsgid"),
	OK("capget"), OK("capset"), OK("prctl"), OK("arch_prctl"),
	OK("set_tid_address"), OK("set_thread_area"), OK("get_thread_area"),
	OK("set_robust_list"), OK("get_robust_list"), OK("rseq"),
	OK("membarrier"), OK("futex"), OK("getrlimit"), OK("setrlimit"),
	OK("getrusage"), OK("times"), OK("getpriority"),
	{ "setpriority", 0, S, 0,
	  { { AB_CMP_BITS, 0, 0xfffffffe, 0 },
	    { AB_CMP_BITS, 1, LOW32, 0 } } },
	OK("nice"), OK("sched_yield"), OK("sched_getaffinity"),
	OK_SELF("sched_setaffinity", 0), OK("sched_getparam"),
	OK("sched_getscheduler"), OK("sched_getattr"),
	OK("sched_get_priority_max"), OK("sched_get_priority_min"),
	OK("sched_rr_get_interval"), OK_SELF("sched_setscheduler", 0),
	OK_SELF("sched_setparam", 0), OK("ioprio_get"), OK("getcpu"),
	OK_NR("pidfd_send_signal", 424), OK_NR("pidfd_open", 434),
	OK_NR("close_range", 436), OK_NR("futex_waitv", 449),
	OK_NR("process_mrelease", 448), OK_NR("futex_wake", 454),
	OK_NR("futex_wait", 455), OK_NR("futex_requeue", 456),
	OK_NR("map_shadow_stack", 453), OK_NR("mseal", 462),

	/* an own, tighter filter or Landlock layer may be added */
	{ "seccomp", 0, S, 0, { { AB_CMP_BITS, 1, 0x8, 0 } } },
	OK_NR("landlock_create_ruleset", 444), OK_NR("landlock_add_rule", 445),
	OK_NR("landlock_restrict_self", 446),

	/* memory */
	OK("brk"), OK_BUT("mmap", 3, FLAG_MAP_HUGE),
	OK_BUT("mmap2", 3, FLAG_MAP_HUGE), OK("munmap"), OK("mremap"),
	OK("mprotect"), OK("pkey_alloc"), OK("pkey_free"),
	OK("pkey_mprotect"), OK("madvise"), OK("mincore"), OK("msync"),
	OK("mlock"), OK("mlock2"), OK("munlock"), OK("mlockall"),
	OK("munlockall"), OK_BUT("memfd_create", 1, FLAG_MEMFD_HUGE),
	OK("get_mempolicy"), OK_BUT("shmget", 2, FLAG_SHM_HUGE), OK("shmat"), OK("shmdt"), OK("shmctl"), OK("semget"),
	OK("semop"), OK("semtimedop"), OK("semctl"), OK("msgget"),
	OK("msgsnd"), OK("msgrcv"), OK("msgctl"),

	/* files */
	OK_OPEN("open", 1), OK_OPEN("openat", 2), OK_MODE("creat", 1),
	OK("close"), OK("read"),
	OK("write"), OK("readv"), OK("writev"), OK("pread64"),
	OK("pwrite64"), OK("preadv"), OK("pwritev"), OK("preadv2"),
	OK("pwritev2"), OK("lseek"), OK("_llseek"), OK("sendfile"),
	OK("sendfile64"), OK("splice"), OK("tee"), OK("vmsplice"),
	OK("copy_file_range"), OK("dup"), OK("dup2"), OK("dup3"), OK("pipe"),
	OK("pipe2"), OK_FCNTL("fcntl"), OK_FCNTL("fcntl64"), OK("flock"), OK("fsync"),
	OK("fdatasync"), OK("sync"), OK("syncfs"), OK("sync_file_range"),
	OK("truncate"), OK("ftruncate"), OK("truncate64"), OK("ftruncate64"),
	OK("fallocate"), OK("fadvise64"), OK("fadvise64_64"),
	OK("readahead"), OK("getdents"), OK("getdents64"), OK("getcwd"),
	OK("chdir"), OK("fchdir"), OK_MODE("mkdir", 1), OK_MODE("mkdirat", 2),
	OK("rmdir"),
	OK("unlink"), OK("unlinkat"), OK("rename"), OK("renameat"),
	OK("renameat2"), OK("link"), OK("linkat"), OK("symlink"),
	OK("symlinkat"), OK("readlink"), OK("readlinkat"), OK_MODE("mknod", 1),
	OK_MODE("mknodat", 2), OK("stat"), OK("fstat"), OK("lstat"), OK("stat64"),
	OK("fstat64"), OK("lstat64"), OK("newfstatat"), OK("fstatat64"),
	OK("statx"), OK("statfs"), OK("fstatfs"), OK("statfs64"),
	OK("fstatfs64"), OK("access"), OK("faccessat"),
	OK_NR("faccessat2", 439), OK_MODE("chmod", 1), OK_MODE("fchmod", 1),
	OK_MODE("fchmodat", 2), OK_MODE_NR("fchmodat2", 452, 2),
	OK("chown"), OK("fchown"), OK("lchown"),
	OK("fchownat"), OK("umask"), OK("utime"), OK("utimes"),
	OK("utimensat"), OK("futimesat"), OK("getxattr"), OK("lgetxattr"),
	OK("fgetxattr"), OK("listxattr"), OK("llistxattr"),
	OK("flistxattr"), OK("setxattr"), OK("lsetxattr"), OK("fsetxattr"),
	OK("removexattr"), OK("lremovexattr"), OK("fremovexattr"),
	OK_NR("cachestat", 451),
	OK("inotify_init"), OK("inotify_init1"), OK("inotify_add_watch"),
	OK("inotify_rm_watch"),
	/* of no use without io_setup, which a policy may allow */
	OK("io_destroy"), OK("io_submit"), OK("io_cancel"),
	OK("io_getevents"),
	OK("mq_open"), OK("mq_unlink"), OK("mq_timedsend"),
	OK("mq_timedreceive"), OK("mq_notify"), OK("mq_getsetattr"),

	/* waiting and time */
	OK("poll"), OK("ppoll"), OK("select"), OK("_newselect"),
	OK("pselect6"), OK("epoll_create"), OK("epoll_create1"),
	OK("epoll_ctl"), OK("epoll_wait"), OK("epoll_pwait"),
	OK_NR("epoll_pwait2", 441), OK("eventfd"), OK("eventfd2"),
	OK("timerfd_create"), OK("timerfd_settime"), OK("timerfd_gettime"),
	OK("timer_create"), OK("timer_settime"), OK("timer_gettime"),
	OK("timer_getoverrun"), OK("timer_delete"), OK("getitimer"),
	OK("setitimer"), OK("alarm"), OK("nanosleep"),
	OK("clock_nanosleep"), OK("clock_gettime"), OK("clock_getres"),
	OK("gettimeofday"), OK("time"),

	/* sockets, by family: streams are TCP, datagrams UDP or ICMP */
	{ "socket", 0, S, 0, { { AB_CMP_BITS, 0, LOW32, 1 } } },
	OK_INET(2, 1, 0), OK_INET(2, 1, 6), OK_INET(2, 2, 0),
	OK_INET(2, 2, 17), OK_INET(2, 2, 1), OK_INET(10, 1, 0),
	OK_INET(10, 1, 6), OK_INET(10, 2, 0), OK_INET(10, 2, 17),
	OK_INET(10, 2, 58),
	{ "socket", 0, S, 0,
	  { { AB_CMP_BITS, 0, LOW32, 16 }, { AB_CMP_BITS, 2, LOW32, 0 } } },
	{ "socketpair", 0, S, 0, { { AB_CMP_BITS, 0, LOW32, 1 } } },
	OK("bind"), OK("listen"), OK("accept"), OK("accept4"),
	OK("connect"), OK("shutdown"), OK("getsockname"),
	OK("getpeername"), OK("getsockopt"), OK("setsockopt"), OK("sendto"),
	OK("sendmsg"), OK("sendmmsg"), OK("recvfrom"), OK("recvmsg"),
	OK("recvmmsg"), OK("send"), OK("recv"),

	/* the machine, read only */
	OK("uname"), OK("sysinfo"), OK("getrandom"), OK("ugetrlimit"),

	/* ioctls of terminals, pipes, sockets and copy-on-write files */
	OK_IOCTL(0x5401), OK_IOCTL(0x5402), OK_IOCTL(0x5403),
	OK_IOCTL(0x5404), OK_IOCTL(0x5409), OK_IOCTL(0x540a),
	OK_IOCTL(0x540b), OK_IOCTL(0x540c), OK_IOCTL(0x540d),
	OK_IOCTL(0x540e), OK_IOCTL(0x540f), OK_IOCTL(0x5410),
	OK_IOCTL(0x5411), OK_IOCTL(0x5413), OK_IOCTL(0x5414),
	OK_IOCTL(0x541b), OK_IOCTL(0x5421), OK_IOCTL(0x5422),
	OK_IOCTL(0x5425), OK_IOCTL(0x5429), OK_IOCTL(0x5450),
	OK_IOCTL(0x5451), OK_IOCTL(0x5452), OK_IOCTL(0x802c542a),
	OK_IOCTL(0x402c542b), OK_IOCTL(0x402c542c), OK_IOCTL(0x402c542d),
	OK_IOCTL(0x80045430), OK_IOCTL(0x40045431), OK_IOCTL(0x5441),
	OK_IOCTL(0x80086601), OK_IOCTL(0x40049409), OK_IOCTL(0x4020940d),
	OK_IOCTL(0x8912), OK_IOCTL(0x8913), OK_IOCTL(0x8927),
	OK_IOCTL(0x8933),
};
const size_t ab_rows_strict_count =
	sizeof(ab_rows_strict) / sizeof(ab_rows_strict[0]);
