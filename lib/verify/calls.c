/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * System calls that every filter of ours refuses (lib/walls/syscalls.c), each
 * with arguments that the kernel, asked without a filter, refuses in another
 * way as far as it can be: so the answer says who gave it. None of them does
 * anything where no wall answers: pointers are 1, descriptors -1, flags
 * impossible. Spec: seccomp(2), the manual page of each call.
 */
#include "config.h"

#include "verify/internal.h"

#include <sys/syscall.h>

#define BAD "0xffffffffffffffff"

#ifdef SYS_open_tree
#define NR_OPEN_TREE SYS_open_tree
#else
#define NR_OPEN_TREE 428
#endif

/* Numbers from 424 on are the same everywhere. */
const ab_verify_call ab_verify_calls[] = {
	{ "escape.mount", "mount", "mount a file system", SYS_mount,
	  "1 1 1 0 0", NULL },
	{ "escape.umount", "umount2", "unmount what hides a path",
	  SYS_umount2, "1 0xffff", NULL },
	{ "escape.pivot-root", "pivot_root", "change the root of the tree",
	  SYS_pivot_root, "1 1", NULL },
	{ "escape.chroot", "chroot", "change the root directory", SYS_chroot,
	  "1", NULL },
	{ "escape.open-tree", "open_tree", "clone a mount", NR_OPEN_TREE,
	  BAD " 1 0", NULL },
	{ "escape.move-mount", "move_mount", "attach a mount elsewhere", 429,
	  BAD " 1 " BAD " 1 0xffffffff", NULL },
	{ "escape.fsopen", "fsopen", "make a file system", 430, "1 0xff",
	  NULL },
	{ "escape.mount-setattr", "mount_setattr",
	  "make a read-only mount writable", 442, BAD " 1 0xffffffff 1 1",
	  NULL },
	{ "escape.setns", "setns", "enter another namespace", SYS_setns,
	  BAD " 0", NULL },
	/* 0x200 is CLONE_FS: refused beside each of them, and not undone */
	{ "escape.unshare-user", "unshare", "make a user namespace",
	  SYS_unshare, "0x10000001", NULL },
	{ "escape.unshare-mount", "unshare", "make a mount namespace",
	  SYS_unshare, "0x00020001", NULL },
	{ "escape.unshare-net", "unshare", "make a network namespace",
	  SYS_unshare, "0x40000001", NULL },
	{ "escape.clone-user", "clone", "clone into a user namespace",
	  SYS_clone, "0x10000200 0 0 0 0", NULL },
	{ "escape.clone-mount", "clone", "clone into a mount namespace",
	  SYS_clone, "0x00020200 0 0 0 0", NULL },
	{ "escape.clone3", "clone3", "clone with flags behind a pointer", 435,
	  "1 0", NULL },
	{ "escape.handle", "open_by_handle_at", "open a file by its handle",
	  SYS_open_by_handle_at, BAD " 1 0", NULL },
	{ "escape.openat2", "openat2", "open with a mode behind a pointer",
	  437, BAD " 1 1 0", NULL },
	{ "escape.io-uring", "io_uring_setup",
	  "make a queue of calls that no filter sees", 425, "0 1", NULL },
	{ "escape.io-uring-enter", "io_uring_enter", "submit to such a queue",
	  426, BAD " 0 0 0 0 0", NULL },
	{ "escape.bpf", "bpf", "load a program into the kernel", SYS_bpf,
	  "9999 0 0", NULL },
	{ "escape.perf", "perf_event_open", "trace the kernel",
	  SYS_perf_event_open, "1 0 -1 -1 0xffffffff", NULL },
	{ "escape.userfaultfd", "userfaultfd", "stop the kernel at a page",
	  SYS_userfaultfd, "0xffffffff", NULL },
	{ "escape.keyctl", "keyctl", "use the host user's keys", SYS_keyctl,
	  "9999", NULL },
	{ "escape.add-key", "add_key", "add to the host user's keys",
	  SYS_add_key, "1 1 0 0 0", NULL },
	{ "escape.kexec", "kexec_load", "load another kernel", SYS_kexec_load,
	  "0 0 0 0xffff", NULL },
	{ "escape.module", "finit_module", "load a module", SYS_finit_module,
	  BAD " 1 0xffff", NULL },
	{ "escape.reboot", "reboot", "reboot the machine", SYS_reboot,
	  "0 0 0 0", NULL },
	{ "escape.swap", "swapon", "use a file as swap", SYS_swapon, "1 0",
	  NULL },
	{ "escape.acct", "acct", "write accounts of processes", SYS_acct, "1",
	  NULL },
	{ "escape.clock", "clock_settime", "set the clock",
	  SYS_clock_settime, "0 1", NULL },
	{ "escape.syslog", "syslog", "read the kernel's log", SYS_syslog,
	  "99 0 0", NULL },
	{ "escape.hostname", "sethostname", "change the host's name",
	  SYS_sethostname, "1 0x7fffffff", NULL },
	{ "escape.fanotify", "fanotify_init", "watch every file",
	  SYS_fanotify_init, "0xffffffff 0", NULL },
	{ "escape.process-vm", "process_vm_readv", "read another's memory",
	  SYS_process_vm_readv, "1 0 0 0 0 0xff", NULL },
	{ "escape.pidfd-getfd", "pidfd_getfd", "take another's descriptor",
	  438, BAD " 0 0", NULL },
	{ "escape.prlimit", "prlimit64", "change another's limits",
	  SYS_prlimit64, "1 99 0 0", NULL },
	{ "escape.listener", "seccomp", "answer for the filter",
	  SYS_seccomp, "1 8 1", NULL },
	{ "escape.suid", "fchmod", "make a set-user-ID program", SYS_fchmod,
	  BAD " 04755", NULL },
	{ "escape.tiocsti", "ioctl", "type into a terminal", SYS_ioctl,
	  BAD " 0x5412 0", NULL },
	{ "escape.tiocsti-high", "ioctl",
	  "type into a terminal, with a bit that the kernel drops", SYS_ioctl,
	  BAD " 0x100005412 0", NULL },
	{ "escape.lease", "fcntl", "hold up who opens a file", SYS_fcntl,
	  BAD " 1024 0", "EINVAL EPERM ENOSYS" },
	{ "escape.packet-socket", "socket", "see packets of the network",
	  SYS_socket, "17 3 0", "EAFNOSUPPORT EPERM" },
	{ "escape.vsock", "socket", "reach the hypervisor", SYS_socket,
	  "40 1 0", "EAFNOSUPPORT EPERM" },
#ifdef SYS_iopl
	{ "escape.iopl", "iopl", "use the machine's ports", SYS_iopl, "9",
	  NULL },
#endif
#ifdef __x86_64__
	{ "escape.x32", "x32", "call by the numbers of another ABI",
	  0x40000000L | SYS_setns, BAD " 0", "EPERM ENOSYS" },
#endif
};
const size_t ab_verify_call_count =
	sizeof(ab_verify_calls) / sizeof(ab_verify_calls[0]);
