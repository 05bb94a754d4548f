/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The probes that are no system call alone (those are in calls.c), as data:
 * what is tried, how, what a refusal looks like and whose it is.
 * Spec: internal.h, tests/e2e/SANDBOX-CASES.md.
 */
#include "config.h"

#include "verify/internal.h"

#define PIDNS AB_WALL_PIDNS
#define NETNS AB_WALL_NETNS
#define IPCNS AB_WALL_IPCNS
#define ROOTFS AB_WALL_ROOTFS
#define PROC AB_WALL_PROC
#define LANDLOCK AB_WALL_LANDLOCK

#define HIDDEN "ENOENT=rootfs ENOTDIR=rootfs EACCES=landlock"

const ab_verify_probe ab_verify_probes[] = {
	/* the host's files */
	{ "files.state", "rootfs", "read a file of the state directory",
	  "read %file", HIDDEN, 0 },
	{ "files.state-write", "rootfs",
	  "make a file in the state directory", "make %dir", HIDDEN, 0 },
	{ "files.root-write", "rootfs", "make a file in the box's own root",
	  "make /", "EROFS=rootfs EACCES=landlock", ROOTFS },
	{ "files.node", "landlock", "make a device node",
	  "node /tmp /dev/shm %workspace", "EACCES=landlock", LANDLOCK },
	{ "files.devices", "devices", "find a device that no box needs",
	  "devices /dev /dev/null /dev/zero /dev/full /dev/random "
	  "/dev/urandom /dev/tty",
	  "ENOENT=devices EACCES=landlock", ROOTFS },
	{ "kernel.sys", "proc", "change a setting of the kernel",
	  "write /proc/sys/vm/overcommit_memory",
	  "EROFS=proc EACCES=proc ENOENT=proc EPERM=proc", 0 },
	{ "kernel.core-pattern", "proc", "have the kernel run a program",
	  "write /proc/sys/kernel/core_pattern",
	  "EROFS=proc EACCES=proc ENOENT=proc EPERM=proc", 0 },
	{ "kernel.sysrq", "proc", "press a key of the kernel's",
	  "write /proc/sysrq-trigger",
	  "EACCES=proc EROFS=proc ENOENT=proc EPERM=proc", 0 },
	{ "kernel.sysfs", "rootfs", "read the kernel's devices",
	  "read /sys/kernel", HIDDEN, ROOTFS },
	{ "kernel.keys", "proc", "read the kernel's list of keys",
	  "read /proc/keys", "EACCES=proc ENOENT=proc EPERM=proc", PROC },

	/* sockets and FIFOs of the host */
	{ "sockets.visible", "sockets",
	  "reach a socket or a FIFO that a path of the box names",
	  "channels / %system", "ENOENT=rootfs", ROOTFS },
	{ "sockets.path", "rootfs", "connect to a socket of the host",
	  "unix %socket", HIDDEN " EPERM=seccomp", 0 },
	{ "sockets.abstract", "netns",
	  "connect to an abstract socket of the host", "abstract %abstract",
	  "ECONNREFUSED=netns EPERM=landlock", NETNS },
	{ "sockets.loopback", "netns", "connect to a port of the host",
	  "tcp 127.0.0.1 %port",
	  "ECONNREFUSED=netns EACCES=landlock EPERM=seccomp "
	  "ENETUNREACH=netns ETIMEDOUT=netns",
	  NETNS },
	{ "ipc.segment", "ipcns", "find a System V segment of the host",
	  "shm %segment", "ENOENT=ipcns EPERM=seccomp", IPCNS },

	/* processes */
	{ "process.owner", "pidns", "find the box's owner in /proc",
	  "see %owner %owner-started",
	  "ENOENT=proc ESRCH=proc EACCES=proc", PIDNS },
	{ "process.signal", "pidns", "signal the box's owner",
	  "signal %owner %owner-started", "ESRCH=pidns EPERM=landlock", PIDNS },
	{ "process.holder", "pidns", "signal the holder of the box",
	  "signal %holder %holder-started", "ESRCH=pidns EPERM=landlock",
	  PIDNS },
	{ "process.trace-init", "init", "trace the first process of the box",
	  "trace %init", "EPERM=init ESRCH=pidns EACCES=init", 0 },
	{ "process.trace-launcher", "init", "trace the launcher",
	  "trace %launcher", "EPERM=init ESRCH=pidns EACCES=init", 0 },
	{ "process.memory-init", "init",
	  "read the memory of the first process", "memory %init",
	  "EACCES=init EPERM=init ENOENT=proc", 0 },
	{ "process.memory-launcher", "init", "read the launcher's memory",
	  "memory %launcher", "EACCES=init EPERM=init ENOENT=proc", 0 },

	/* what a command is given: the last is the program itself, inside.c */
	{ "descriptors", "descriptors",
	  "find a descriptor that nobody gave the command",
	  "descriptors 0 1 2 9", "ENOENT=descriptors", 0 },
	{ "environment", "environment",
	  "find a variable that nobody meant for the box",
	  "environment %variables", "ENOENT=environment", 0 },
};
const size_t ab_verify_probe_count =
	sizeof(ab_verify_probes) / sizeof(ab_verify_probes[0]);

const char *const ab_verify_host_paths[] = {
	"/root",	 "/home",	   "/boot",
	"/srv",		 "/mnt",	   "/media",
	"/var/lib",	 "/var/log",	   "/run/dbus/system_bus_socket",
	"/run/systemd",	 "/run/docker.sock", "/run/user",
	"/etc/shadow",	 "/etc/ssh",	   "/etc/machine-id",
	"/sys/firmware", "/sys/fs/cgroup", "/dev/mem",
	"/dev/kmsg",	 "/dev/fuse",	   "/dev/kvm",
	"/dev/vda",	 "/dev/sda",	   NULL,
};
