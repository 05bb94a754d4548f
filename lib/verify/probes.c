/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The probes that are no system call alone (those are in calls.c), as data:
 * what is tried, how, what a refusal looks like and whose it is.
 * Spec: internal.h, tests/e2e/SANDBOX-CASES.md.
 */
#include "config.h"

#include "verify/internal.h"
#include "wire/gateway.h"

_Static_assert(AB_GATEWAY_PROXY_PORT == 3128, "GATEWAY below");

#define PIDNS AB_WALL_PIDNS
#define NETNS AB_WALL_NETNS
#define IPCNS AB_WALL_IPCNS
#define ROOTFS AB_WALL_ROOTFS
#define PROC AB_WALL_PROC
#define LANDLOCK AB_WALL_LANDLOCK

/* RFC 2606: nobody owns it. */
#define NAME "agentbox-verify.example"
#define GATEWAY AB_GATEWAY_IPV4_TEXT " 3128"
#define NO_WAY \
	"ENETUNREACH=netns EADDRNOTAVAIL=netns EHOSTUNREACH=netns " \
	"EACCES=landlock EPERM=gateway ECONNREFUSED=gateway " \
	"ECONNRESET=gateway EAFNOSUPPORT=kernel"

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
	  "ENOENT=devices EACCES=landlock", ROOTFS | AB_NEEDS_OWN_TREE },
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
	  "channels / %system", "ENOENT=rootfs", ROOTFS | AB_NEEDS_OWN_TREE },
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
	{ "process.owner", "proc", "find the box's owner in /proc",
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
	{ "process.root-init", "init",
	  "enter the tree of the first process", "root %init",
	  "EACCES=init EPERM=init ENOENT=proc", 0 },
	{ "process.root-launcher", "init", "enter the launcher's tree",
	  "root %launcher", "EACCES=init EPERM=init ENOENT=proc", 0 },

	/* another box */
	{ "other.process", "proc", "find another box's process in /proc",
	  "see %other %other-started", "ENOENT=proc ESRCH=proc EACCES=proc",
	  PIDNS },
	{ "other.signal", "pidns", "signal another box's process",
	  "signal %other %other-started", "ESRCH=pidns EPERM=landlock",
	  PIDNS },
	{ "other.key", "gateway", "use another box's key",
	  "knock " GATEWAY " " NAME ":443 %other-key", "EACCES=gateway",
	  AB_NEEDS_GATEWAY },

	/* the network */
	{ "network.interfaces", "netns",
	  "find an interface of the host", "interfaces lo eth0",
	  "ENODEV=netns EPERM=seccomp", NETNS },
	{ "network.metadata", "network", "reach a metadata service",
	  "egress 169.254.169.254 80", NO_WAY, NETNS | AB_NEEDS_OWN_NET },
	{ "network.metadata-ipv6", "network",
	  "reach a metadata service over IPv6", "egress fd00:ec2::254 80",
	  NO_WAY, NETNS | AB_NEEDS_OWN_NET },
	/* RFC 5737, RFC 3849: nobody is there, wherever this is tried */
	{ "network.address", "network", "reach an address past all names",
	  "egress 192.0.2.1 443", NO_WAY, NETNS | AB_NEEDS_OWN_NET },
	{ "network.address-http", "network", "the same in the clear",
	  "egress 192.0.2.1 80", NO_WAY, NETNS | AB_NEEDS_OWN_NET },
	{ "network.address-ipv6", "network", "the same over IPv6",
	  "egress 2001:db8::1 443", NO_WAY, NETNS | AB_NEEDS_OWN_NET },
	{ "network.private", "network", "reach a private network",
	  "egress 10.255.255.1 443", NO_WAY, NETNS | AB_NEEDS_OWN_NET },
	{ "network.mail", "network", "reach a port that no policy lists",
	  "egress 192.0.2.1 25", NO_WAY, NETNS | AB_NEEDS_OWN_NET },
	{ "network.dns", "network", "ask a name server past the gateway",
	  "dns 192.0.2.53 " NAME, NO_WAY " ENOENT=gateway",
	  NETNS | AB_NEEDS_LIST | AB_NEEDS_OWN_NET },
	{ "network.name", "gateway", "reach a name that no policy lists",
	  "proxy " GATEWAY " " NAME ":443 %key", "EPERM=gateway",
	  AB_NEEDS_GATEWAY | AB_NEEDS_LIST },
	{ "network.no-key", "gateway", "use the gateway without a key",
	  "knock " GATEWAY " " NAME ":443", "EACCES=gateway",
	  AB_NEEDS_GATEWAY },

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
