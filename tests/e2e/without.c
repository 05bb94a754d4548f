/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a program on a kernel that lacks something, simulated by a seccomp
 * filter that everything below inherits:
 *
 *   without LACK[,LACK...] -- PROGRAM [ARG...]
 *
 *   userns        unshare/clone of a user namespace: EPERM, clone3: ENOSYS
 *   userns-nospc  the same with ENOSPC, as user.max_user_namespaces=0 answers
 *   netns         unshare/clone of a network namespace: EPERM
 *   landlock      landlock_*: ENOSYS
 *   landlock-off  landlock_*: EOPNOTSUPP, as a kernel booted without it
 *   proc-mount    for real: a mount name space in which part of /proc is
 *                 covered, as in containers, so that the kernel refuses a new
 *                 proc in a user name space (mount_too_revealing)
 *   openat2       openat2: ENOSYS
 *   seccomp       seccomp(2) and PR_SET_SECCOMP: EINVAL, after this filter
 *   new-mount     open_tree, move_mount, mount_setattr, fsopen...: ENOSYS
 *   setattr       mount_setattr alone: ENOSYS
 *   close-range   close_range: ENOSYS
 *   netlink       socket(AF_NETLINK) and SIOCSIFFLAGS: EPERM, so that lo cannot
 *                 be raised
 *
 * It simulates answers, not the rest of an older kernel. no_new_privs is set,
 * also for root.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../lib/cover_proc.h"

#define ANY_ARGUMENT (-1)
#define NEW_USER 0x10000000u
#define NEW_NET 0x40000000u

struct rule {
	const char *lack;
	int nr;
	int argument; /* ANY_ARGUMENT, or the one that is compared */
	uint32_t bits; /* refused when any of them is set, 0: when equal */
	uint32_t value;
	int error;
};

static const struct rule rules[] = {
	{ "userns", SYS_unshare, 0, NEW_USER, 0, EPERM },
	{ "userns", SYS_clone, 0, NEW_USER, 0, EPERM },
	{ "userns", SYS_clone3, ANY_ARGUMENT, 0, 0, ENOSYS },
	{ "userns-nospc", SYS_unshare, 0, NEW_USER, 0, ENOSPC },
	{ "userns-nospc", SYS_clone, 0, NEW_USER, 0, ENOSPC },
	{ "userns-nospc", SYS_clone3, ANY_ARGUMENT, 0, 0, ENOSYS },
	{ "netns", SYS_unshare, 0, NEW_NET, 0, EPERM },
	{ "netns", SYS_clone, 0, NEW_NET, 0, EPERM },
	{ "netns", SYS_clone3, ANY_ARGUMENT, 0, 0, ENOSYS },
	{ "landlock", 444, ANY_ARGUMENT, 0, 0, ENOSYS },
	{ "landlock", 445, ANY_ARGUMENT, 0, 0, ENOSYS },
	{ "landlock", 446, ANY_ARGUMENT, 0, 0, ENOSYS },
	{ "landlock-off", 444, ANY_ARGUMENT, 0, 0, EOPNOTSUPP },
	{ "landlock-off", 445, ANY_ARGUMENT, 0, 0, EOPNOTSUPP },
	{ "landlock-off", 446, ANY_ARGUMENT, 0, 0, EOPNOTSUPP },
	{ "openat2", 437, ANY_ARGUMENT, 0, 0, ENOSYS },
	{ "seccomp", SYS_seccomp, ANY_ARGUMENT, 0, 0, EINVAL },
	{ "seccomp", SYS_prctl, 0, 0, PR_SET_SECCOMP, EINVAL },
	{ "new-mount", 428, ANY_ARGUMENT, 0, 0, ENOSYS },
	{ "new-mount", 429, ANY_ARGUMENT, 0, 0, ENOSYS },
	{ "new-mount", 430, ANY_ARGUMENT, 0, 0, ENOSYS },
	{ "new-mount", 431, ANY_ARGUMENT, 0, 0, ENOSYS },
	{ "new-mount", 432, ANY_ARGUMENT, 0, 0, ENOSYS },
	{ "new-mount", 442, ANY_ARGUMENT, 0, 0, ENOSYS },
	{ "setattr", 442, ANY_ARGUMENT, 0, 0, ENOSYS },
	{ "close-range", 436, ANY_ARGUMENT, 0, 0, ENOSYS },
	{ "netlink", SYS_socket, 0, 0, AF_NETLINK, EPERM },
	/* SIOCSIFFLAGS: the other way to raise an interface */
	{ "netlink", SYS_ioctl, 1, 0, 0x8914, EPERM },
};

static struct sock_filter code[256];
static size_t count;

static void emit(uint16_t op, uint32_t k, uint8_t yes, uint8_t no)
{
	code[count++] = (struct sock_filter){ op, yes, no, k };
}

#define LOAD (BPF_LD | BPF_W | BPF_ABS)
#define EQUAL (BPF_JMP | BPF_JEQ | BPF_K)
#define ANY_BIT (BPF_JMP | BPF_JSET | BPF_K)
#define RETURN (BPF_RET | BPF_K)

/* Loads the number again each time: short and hard to get wrong. */
static void emit_rule(const struct rule *r)
{
	uint32_t low = r->argument < 0 ? 0 : (uint32_t)(
		offsetof(struct seccomp_data, args) +
		8 * (size_t)r->argument);

	emit(LOAD, offsetof(struct seccomp_data, nr), 0, 0);
	emit(EQUAL, (uint32_t)r->nr, 0, r->argument < 0 ? 1 : 3);
	if (r->argument >= 0) {
		emit(LOAD, low, 0, 0);
		emit(r->bits ? ANY_BIT : EQUAL, r->bits ? r->bits : r->value,
		     0, 1);
	}
	emit(RETURN, SECCOMP_RET_ERRNO | (uint32_t)r->error, 0, 0);
}

/* Rules of one word; false when there is none. */
static int emit_lack(const char *lack, size_t n)
{
	int found = 0;

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		if (strlen(rules[i].lack) != n ||
		    strncmp(rules[i].lack, lack, n) != 0)
			continue;
		emit_rule(&rules[i]);
		found = 1;
	}
	return found;
}

int main(int argc, char **argv)
{
	struct sock_fprog prog;

	if (argc < 4 || strcmp(argv[2], "--") != 0) {
		fputs("usage: without LACK[,LACK...] -- PROGRAM...\n", stderr);
		return 2;
	}
	for (const char *at = argv[1]; *at;) {
		size_t n = strcspn(at, ",");

		if (n == 10 && strncmp(at, "proc-mount", n) == 0) {
			if (cover_procs()) {
				perror("without: cover /proc");
				return 77;
			}
		} else if (!emit_lack(at, n)) {
			fprintf(stderr, "without: %.*s: unknown\n", (int)n,
				at);
			return 2;
		}
		at += n + (at[n] == ',');
	}
	emit(RETURN, SECCOMP_RET_ALLOW, 0, 0);
	prog = (struct sock_fprog){ (unsigned short)count, code };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)) {
		perror("without: seccomp");
		return 77;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
