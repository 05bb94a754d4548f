/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rights of one role, taken for good. What a kernel lacks of Landlock is
 * left out: the ids and seccomp stand without it. Everything else that fails
 * ends the job. Spec: DESIGN.md section 2, credentials(7), capabilities(7),
 * landlock(7), seccomp(2).
 */
#include "config.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/attr.h"
#include "job.h"
#include "wire/confine.h"

/* linux/landlock.h, which an older build machine may lack */
#define FS_WRITE_FILE (UINT64_C(1) << 1)
#define FS_READ_FILE (UINT64_C(1) << 2)
#define FS_READ_DIR (UINT64_C(1) << 3)
#define FS_REMOVE_DIR (UINT64_C(1) << 4)
#define FS_REMOVE_FILE (UINT64_C(1) << 5)
#define FS_MAKE_DIR (UINT64_C(1) << 7)
#define FS_MAKE_REG (UINT64_C(1) << 8)
#define FS_MAKE_FIFO (UINT64_C(1) << 10)
#define FS_MAKE_SYM (UINT64_C(1) << 12)
#define FS_LEVEL_1 ((UINT64_C(1) << 13) - 1)
#define FS_REFER (UINT64_C(1) << 13)
#define FS_TRUNCATE (UINT64_C(1) << 14)
#define FS_READ (FS_READ_FILE | FS_READ_DIR)
#define FS_WRITE                                                        \
	(FS_READ | FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE |     \
	 FS_MAKE_DIR | FS_MAKE_REG | FS_REFER | FS_TRUNCATE)

#define PARSER_MEMORY ((rlim_t)1 << 30)

struct path_beneath {
	uint64_t access;
	int32_t fd;
} __attribute__((packed));

static int landlock(enum copy_role role, const copy_place *place)
{
	const uint64_t marks = role == COPY_EXTRACTOR
				       ? FS_MAKE_FIFO | FS_MAKE_SYM
				       : 0;
	int abi = ab_confine_landlock_level();
	uint64_t handled = FS_LEVEL_1;
	ab_autofd int set = -1;

	if (abi < 0)
		return abi;
	/* level 1 forbids every rename and link between directories */
	if (abi < 1 || (abi < 2 && place->write))
		return 0;
	if (abi >= 2)
		handled |= FS_REFER;
	if (abi >= 3)
		handled |= FS_TRUNCATE;
	set = (int)syscall(SYS_landlock_create_ruleset, &handled,
			   sizeof(handled), 0);
	if (set < 0)
		return -errno;
	for (size_t i = 0; i < AB_ARRAY_LEN(place->fds); i++) {
		struct path_beneath rule = {
			.access = (place->write ? FS_WRITE | marks : FS_READ) &
				  handled,
			.fd = place->fds[i],
		};

		if (rule.fd >= 0 && syscall(SYS_landlock_add_rule, set, 1,
					    &rule, 0))
			return -errno;
	}
	return syscall(SYS_landlock_restrict_self, set, 0) ? -errno : 0;
}

/* --- seccomp ------------------------------------------------------------- */

/* Who touches files by name, and who does not. */
#define FILES                                                      \
	(COPY_READER | COPY_WRITER | COPY_SUPERVISOR | COPY_EXTRACTOR)
#define ALL (FILES | COPY_PARSER | COPY_PACKER)
#define ANY (ALL | COPY_FINISHER)
#define MAKERS (COPY_WRITER | COPY_SUPERVISOR | COPY_EXTRACTOR)

/* Who may call what. Everything else ends the process. */
static const struct {
	uint16_t nr;
	uint8_t roles;
} allowed[] = {
	{ SYS_openat2, FILES },
	{ SYS_openat, FILES },
	{ SYS_read, ANY },
	{ SYS_close, ANY },
	{ SYS_fstat, ALL },
	{ SYS_newfstatat, FILES },
	{ SYS_statx, FILES },
	{ SYS_write, ANY },
	{ SYS_utimensat, MAKERS | COPY_FINISHER },
	{ SYS_getdents64, FILES },
	{ SYS_mkdirat, MAKERS },
	{ SYS_linkat, MAKERS },
	{ SYS_symlinkat, COPY_EXTRACTOR },
	{ SYS_mknodat, COPY_EXTRACTOR },
	{ SYS_unlinkat, MAKERS },
	{ SYS_fchmod, MAKERS },
	{ SYS_fchmodat, MAKERS },
	{ SYS_ftruncate, ALL },
	{ SYS_pread64, ALL },
	{ SYS_pwrite64, MAKERS | COPY_PACKER },
	{ SYS_lseek, ALL },
	{ SYS_renameat2, COPY_SUPERVISOR | COPY_WRITER },
	{ SYS_fchown, COPY_SUPERVISOR },
	{ SYS_flock, COPY_SUPERVISOR },
	{ SYS_pidfd_send_signal, COPY_SUPERVISOR },
	{ SYS_waitid, COPY_SUPERVISOR },
	{ SYS_wait4, COPY_SUPERVISOR },
	{ SYS_sendmsg, ALL },
	{ SYS_recvmsg, ALL },
	{ SYS_ppoll, ALL },
#ifdef SYS_poll
	{ SYS_poll, ALL },
#endif
	{ SYS_memfd_create, FILES | COPY_PACKER },
	{ SYS_fcntl, ALL },
	{ SYS_mmap, ALL },
	{ SYS_munmap, ALL },
	{ SYS_mremap, ALL },
	{ SYS_mprotect, ALL },
	{ SYS_madvise, ALL },
	{ SYS_brk, ALL },
	{ SYS_clock_gettime, ALL },
	{ SYS_getrandom, ALL },
	{ SYS_gettid, ALL },
	{ SYS_sysinfo, ALL }, /* qsort(3) asks how much memory there is */
	{ SYS_getpid, ALL },
	{ SYS_geteuid, ALL },
	{ SYS_rt_sigreturn, ANY },
	{ SYS_restart_syscall, ANY },
	{ SYS_rt_sigprocmask, ALL },
	{ SYS_exit, ALL },
	{ SYS_exit_group, ALL },
};

int copy_take_filter(enum copy_role role)
{
	struct sock_filter code[2 * AB_ARRAY_LEN(allowed) + AB_CONFINE_FRAME];
	ab_confine_filter f;

	ab_confine_begin(&f, code, AB_ARRAY_LEN(code));
	for (size_t i = 0; i < AB_ARRAY_LEN(allowed); i++)
		if (allowed[i].roles & role)
			ab_confine_allow(&f, allowed[i].nr);
	return ab_confine_load(&f);
}

/* --- ids and capabilities ------------------------------------------------- */

#define SECUREBITS                                                  \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |                     \
	 SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |   \
	 SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |    \
	 SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

static int take_ids(uint32_t uid, uint32_t gid)
{
	bool is_root = geteuid() == 0;

	if (is_root && setgroups(0, NULL))
		return -errno;
	if (gid != UINT32_MAX && setresgid(gid, gid, gid))
		return -errno;
	if (uid != UINT32_MAX && setresuid(uid, uid, uid))
		return -errno;
	return 0;
}

static uint64_t capabilities_now(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct sets[2];

	memset(sets, 0, sizeof(sets));
	if (syscall(SYS_capget, &header, sets))
		return 0;
	return sets[0].permitted | (uint64_t)sets[1].permitted << 32;
}

static void set_limits(enum copy_role role, const ab_copy_plan *plan)
{
	struct rlimit none = { 0, 0 }, files, size = { 0, 0 };

	(void)setrlimit(RLIMIT_CORE, &none);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	/* a decompressor's window is chosen by who compressed */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	if (role == COPY_PARSER) {
		const struct rlimit memory = { PARSER_MEMORY, PARSER_MEMORY };

		(void)setrlimit(RLIMIT_AS, &memory);
	}
#endif
	/* the manifest, the record and the report are bounded by the files */
	if ((role == COPY_WRITER || role == COPY_EXTRACTOR ||
	     role == COPY_PARSER) &&
	    !__builtin_add_overflow(plan->max_bytes, (rlim_t)4 << 30,
				    &size.rlim_cur)) {
		size.rlim_max = size.rlim_cur;
		(void)setrlimit(RLIMIT_FSIZE, &size);
	}
}

int copy_end_with(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

int copy_take_rights(enum copy_role role, const ab_copy_plan *plan,
		     const copy_place *place, const char **stage)
{
	uint64_t keep = 0;
	int r = 0;

	set_limits(role, plan);
	*stage = "ids";
	(void)prctl(PR_SET_SECUREBITS, SECUREBITS & ~(unsigned)
		    (SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED),
		    0, 0, 0);
	ab_confine_drop_bounding_set();
	if (role == COPY_WRITER || role == COPY_PACKER)
		r = take_ids(plan->output_uid, plan->output_gid);
	else if (role != COPY_SUPERVISOR)
		r = take_ids(plan->source_uid, plan->source_gid);
	else
		keep = capabilities_now() &
		       (UINT64_C(1) << CAP_CHOWN | UINT64_C(1) << CAP_FOWNER |
			UINT64_C(1) << CAP_DAC_OVERRIDE |
			UINT64_C(1) << CAP_DAC_READ_SEARCH |
			UINT64_C(1) << CAP_KILL);
	if (r)
		return r;
	*stage = "capabilities";
	r = ab_confine_keep_capabilities(keep);
	if (r)
		return r;
	/* lost when the ids changed: PR_SET_PDEATHSIG(2const) */
	r = place->parent ? copy_end_with(place->parent) : 0;
	if (r)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return -errno;
	*stage = "landlock";
	return landlock(role, place);
}

int copy_take_role(enum copy_role role, const ab_copy_plan *plan,
		   const copy_place *place, const char **stage)
{
	int r = copy_take_rights(role, plan, place, stage);

	if (r)
		return r;
	*stage = "seccomp";
	return copy_take_filter(role);
}
