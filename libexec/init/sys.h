/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * System calls and constants that Debian 12's libc lacks. Each wrapper
 * returns a value >= 0 or -errno and does nothing else. Constants that the
 * kernel headers of the build machine may lack are named with their source;
 * their values are kernel ABI.
 */
#ifndef AB_INIT_SYS_H
#define AB_INIT_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* linux/landlock.h as of Linux 6.12: our own copy, see landlock(7) */
#define AB_LANDLOCK_RULE_PATH_BENEATH 1

struct ab_landlock_ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net; /* ABI 4 */
	uint64_t scoped;	     /* ABI 6 */
};

struct ab_landlock_path_beneath_attr {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

/* linux/mount.h: the libc's own sys/mount.h clashes with it before 2.37 */
#define AB_MNT_DETACH 2
#define AB_MS_REC 16384ul
#define AB_MS_PRIVATE (1ul << 18)

/* linux/stat.h: our own copy, see statx(2) */
#define AB_STATX_BASIC_STATS 0x7ffu
#define AB_STATX_BTIME 0x800u
#define AB_STATX_SUBVOL 0x8000u /* 6.10 */

struct ab_statx_time {
	int64_t sec;
	uint32_t nsec;
	int32_t reserved;
};

struct ab_statx {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, spare0;
	uint64_t ino, size, blocks, attributes_mask;
	struct ab_statx_time atime, btime, ctime, mtime;
	uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
	uint64_t spare1[2], subvol, spare2[11];
};

static inline long ab_sys(long r)
{
	return r < 0 ? -errno : r;
}

static inline int ab_sys_statx(int fd, struct ab_statx *out)
{
	return (int)ab_sys(syscall(SYS_statx, fd, "", AT_EMPTY_PATH,
				   AB_STATX_BASIC_STATS | AB_STATX_BTIME |
					   AB_STATX_SUBVOL,
				   out));
}

/* Does not wait for the disk; where there is no such call nothing is done. */
static inline void ab_sys_begin_write(int fd)
{
#ifdef SYS_sync_file_range
	(void)syscall(SYS_sync_file_range, fd, (off_t)0, (off_t)0,
		      2u /* SYNC_FILE_RANGE_WRITE */);
#else
	(void)fd;
#endif
}

static inline int ab_sys_syncfs(int fd)
{
	return (int)ab_sys(syscall(SYS_syncfs, fd));
}

static inline int ab_sys_open_tree(int dirfd, const char *path, unsigned flags)
{
	return (int)ab_sys(syscall(SYS_open_tree, dirfd, path, flags));
}

static inline int ab_sys_move_mount(int from, const char *from_path, int to,
				    const char *to_path, unsigned flags)
{
	return (int)ab_sys(syscall(SYS_move_mount, from, from_path, to,
				   to_path, flags));
}

static inline int ab_sys_mount_setattr(int dirfd, const char *path,
				       unsigned flags, struct mount_attr *attr)
{
	return (int)ab_sys(syscall(SYS_mount_setattr, dirfd, path, flags, attr,
				   sizeof(*attr)));
}

static inline int ab_sys_fsopen(const char *type)
{
	return (int)ab_sys(syscall(SYS_fsopen, type, FSOPEN_CLOEXEC));
}

static inline int ab_sys_fsconfig(int fd, unsigned cmd, const char *key,
				  const char *value)
{
	return (int)ab_sys(syscall(SYS_fsconfig, fd, cmd, key, value, 0));
}

static inline int ab_sys_fsmount(int fd, unsigned attrs)
{
	return (int)ab_sys(syscall(SYS_fsmount, fd, FSMOUNT_CLOEXEC, attrs));
}

static inline int ab_sys_pivot_root(const char *new_root, const char *put_old)
{
	return (int)ab_sys(syscall(SYS_pivot_root, new_root, put_old));
}

static inline int ab_sys_mount(const char *source, const char *target,
			       const char *type, unsigned long flags)
{
	return (int)ab_sys(
		syscall(SYS_mount, source, target, type, flags, NULL));
}

static inline int ab_sys_umount2(const char *target, int flags)
{
	return (int)ab_sys(syscall(SYS_umount2, target, flags));
}

static inline int ab_sys_openat2(int dirfd, const char *path, uint64_t flags,
				 uint64_t resolve)
{
	struct open_how how = {.flags = flags, .resolve = resolve};

	return (int)ab_sys(
		syscall(SYS_openat2, dirfd, path, &how, sizeof(how)));
}

/* musl has no renameat2(2) before 1.2.6. keyed.c */
int ab_sys_rename_new(int from, const char *name, int to, const char *as);

/* clone(2) with fork's meaning; flags include the exit signal. */
static inline pid_t ab_sys_clone(unsigned long flags)
{
	return (pid_t)ab_sys(syscall(SYS_clone, flags, 0ul, 0ul, 0ul, 0ul));
}

static inline int ab_sys_pidfd_open(pid_t pid)
{
	return (int)ab_sys(syscall(SYS_pidfd_open, pid, 0));
}

static inline int ab_sys_pidfd_kill(int pidfd, int signum)
{
	return (int)ab_sys(
		syscall(SYS_pidfd_send_signal, pidfd, signum, NULL, 0));
}

static inline int ab_sys_close_range(unsigned first, unsigned last,
				     unsigned flags)
{
	return (int)ab_sys(syscall(SYS_close_range, first, last, flags));
}

static inline int
ab_sys_landlock_create(const struct ab_landlock_ruleset_attr *attr, size_t n)
{
	return (int)ab_sys(syscall(SYS_landlock_create_ruleset, attr, n, 0));
}

static inline int
ab_sys_landlock_add(int fd, const struct ab_landlock_path_beneath_attr *attr)
{
	return (int)ab_sys(syscall(SYS_landlock_add_rule, fd,
				   AB_LANDLOCK_RULE_PATH_BENEATH, attr, 0));
}

static inline int ab_sys_landlock_restrict(int fd)
{
	return (int)ab_sys(syscall(SYS_landlock_restrict_self, fd, 0));
}

#endif
