/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Seccomp, Landlock and capabilities of a helper's own. Spec: confine.h. */
#include "config.h"

#include "wire/confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

/* linux/landlock.h, which an older build machine may lack */
#define LANDLOCK_VERSION 1u

#define FIELD(name) ((uint32_t)offsetof(struct seccomp_data, name))

void ab_confine_put(ab_confine_filter *f, uint16_t code, uint32_t k,
		    uint8_t jt, uint8_t jf)
{
	if (f->len == f->size)
		f->is_too_long = true;
	else
		f->code[f->len++] = (struct sock_filter){ code, jt, jf, k };
}

/* mmap(2) and mprotect(2) of anything executable are no business of ours. */
static void put_memory(ab_confine_filter *f, uint32_t nr)
{
	ab_confine_put(f, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 4);
	ab_confine_put(f, BPF_LD | BPF_W | BPF_ABS,
		       FIELD(args) + 2 * sizeof(uint64_t), 0, 0);
	ab_confine_put(f, BPF_JMP | BPF_JSET | BPF_K, 4 /* PROT_EXEC */, 0, 1);
	ab_confine_put(f, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	ab_confine_put(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

void ab_confine_allow(ab_confine_filter *f, uint32_t nr)
{
	ab_confine_put(f, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1);
	ab_confine_put(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/* What a sanitizer's runtime asks for, in builds that have one. */
static void allow_runtime(ab_confine_filter *f)
{
#ifdef AB_CONFINE_RUNTIME
	static const uint32_t calls[] = {
		SYS_futex, SYS_sigaltstack, SYS_rt_sigaction, SYS_sched_yield,
		SYS_readlink, SYS_getrlimit, SYS_prlimit64, SYS_write,
		SYS_nanosleep, SYS_clock_nanosleep,
	};

	_Static_assert(sizeof(calls) / sizeof(*calls) == AB_CONFINE_RUNTIME,
		       "two instructions for each");
	for (size_t i = 0; i < AB_CONFINE_RUNTIME; i++)
		ab_confine_allow(f, calls[i]);
#else
	(void)f;
#endif
}

void ab_confine_begin(ab_confine_filter *f, struct sock_filter *code,
		      size_t size)
{
	*f = (ab_confine_filter){ .code = code, .size = size };
	ab_confine_put(f, BPF_LD | BPF_W | BPF_ABS, FIELD(arch), 0, 0);
	ab_confine_put(f, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0);
	ab_confine_put(f, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	ab_confine_put(f, BPF_LD | BPF_W | BPF_ABS, FIELD(nr), 0, 0);
	put_memory(f, SYS_mmap);
	put_memory(f, SYS_mprotect);
	allow_runtime(f);
}

int ab_confine_load(ab_confine_filter *f)
{
	struct sock_fprog program;

	ab_confine_put(f, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	if (f->is_too_long || f->len > BPF_MAXINSNS)
		return -EFBIG;
	program = (struct sock_fprog){ .len = (unsigned short)f->len,
				       .filter = f->code };
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
		       ? -errno
		       : 0;
}

int ab_confine_landlock_level(void)
{
	long level = syscall(SYS_landlock_create_ruleset, NULL, 0,
			     LANDLOCK_VERSION);

	if (level >= 0)
		return (int)level;
	return errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM
		       ? 0
		       : -errno;
}

void ab_confine_drop_bounding_set(void)
{
	for (int cap = 0; cap <= 63; cap++) {
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
			return;
	}
}

int ab_confine_keep_capabilities(uint64_t keep)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct sets[2];

	memset(sets, 0, sizeof(sets));
	for (size_t i = 0; i < 2; i++) {
		sets[i].effective = (uint32_t)(keep >> (32 * i));
		sets[i].permitted = sets[i].effective;
	}
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &header, sets) ? -errno : 0;
}
