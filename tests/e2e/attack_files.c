/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attacks on files: every way to change, replace, alias or reach one.
 * Spec: tests/e2e/attacker.c.
 */
#include "attacker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char evil[] = "#!/bin/sh\necho evil\n";

static long write_fd(int fd)
{
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, evil, sizeof(evil) - 1);
	return result(n) < 0 ? -errno : 0;
}

static long file_write(char **argv)
{
	return write_fd(open(argv[0], O_WRONLY | O_APPEND));
}

static long file_create(char **argv)
{
	return write_fd(open(argv[0], O_CREAT | O_EXCL | O_WRONLY, 0755));
}

#define STEPS 12

/* A chain of directories below this one; the last one is where we are then. */
static long make_chain(const char *first, const char *step)
{
	if (mkdir(first, 0755) || chdir(first))
		return -EXDEV;
	for (int i = 0; i < STEPS; i++)
		if (mkdir(step, 0755) || chdir(step))
			return -EXDEV;
	return 0;
}

/*
 * A file whose name begins in a directory deeper than PATH_MAX, of which the
 * kernel has no name: one chain below the other, below a directory of "/".
 */
static long file_create_deep(char **argv)
{
	char step[201], path[4096] = "a", up[256] = "../", cwd[4096];

	memset(step, 'd', sizeof(step) - 1);
	step[sizeof(step) - 1] = '\0';
	for (int i = 0; i < STEPS; i++) {
		strcat(strcat(path, "/"), step);
		strcat(up, "../../");
	}
	strcat(strcat(up, "../../"), argv[1]);
	strcat(path, "/b");
	if (chdir(argv[0]) || make_chain("a", step) || chdir(argv[0]) ||
	    make_chain("b", step) || chdir(argv[0]) || rename("b", path) ||
	    chdir(path))
		return -EXDEV;
	for (int i = 0; i < STEPS; i++)
		if (chdir(step))
			return -EXDEV;
	if (syscall(SYS_getcwd, cwd, sizeof(cwd)) >= 0 ||
	    errno != ENAMETOOLONG)
		return -EXDEV;
	return write_fd(open(up, O_CREAT | O_WRONLY, 0755));
}

/* Its name lies where the kernel reads it and process_vm_readv(2) does not. */
static long file_create_hidden(char **argv)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return -EIO;
	snprintf(page, 4096, "%s", argv[0]);
	if (mprotect(page, 4096, PROT_WRITE))
		return -EIO;
	return write_fd(open(page, O_CREAT | O_EXCL | O_WRONLY, 0755));
}

static long file_create_nowhere(char **argv)
{
	(void)argv;
	return result(syscall(SYS_openat, AT_FDCWD, NULL, O_CREAT | O_WRONLY,
			      0755));
}

/* As a shell's `>` does. */
static long file_overwrite(char **argv)
{
	return write_fd(open(argv[0], O_CREAT | O_TRUNC | O_WRONLY, 0755));
}

static long file_open_rdwr(char **argv)
{
	return result(open(argv[0], O_RDWR));
}

/* What the leader has open and where it is, and what a thread of its asks
   for, whose own descriptor of that number is of the box's /dev/null. */
#define HELD 50

static void *open_as_thread(void *data)
{
	const char *path = data;
	int none;

	if (unshare(CLONE_FILES | CLONE_FS) || chdir("/"))
		return (void *)(intptr_t)-errno;
	none = open("/dev/null", O_RDWR);
	if (none < 0 || dup2(none, HELD) != HELD)
		return (void *)(intptr_t)-errno;
	return (void *)(intptr_t)result(open(path, O_RDWR));
}

/*
 * PEER WHO WHAT: the leader holds the first open and is in its directory; a
 * thread with tables of its own opens /proc/WHO/WHAT, where "task" is the
 * leader by its number.
 */
static long thread_open(char **argv)
{
	char name[128], task[32];
	int fd = open(argv[0], O_PATH);
	void *failed = NULL;
	pthread_t thread;

	snprintf(task, sizeof(task), "self/task/%d", (int)getpid());
	snprintf(name, sizeof(name), "/proc/%s/%s",
		 strcmp(argv[1], "task") == 0 ? task : argv[1], argv[2]);
	*strrchr(argv[0], '/') = '\0';
	if (fd < 0 || dup2(fd, HELD) != HELD || chdir(argv[0]))
		return -errno;
	if (pthread_create(&thread, NULL, open_as_thread, name) != 0 ||
	    pthread_join(thread, &failed) != 0)
		return -EAGAIN;
	return (long)(intptr_t)failed;
}

static long file_read(char **argv)
{
	char text[256];
	int fd = open(argv[0], O_RDONLY | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n < 0)
		return -errno;
	text[n] = 0;
	text[strcspn(text, "\n")] = 0;
	detail("%s", text);
	return 0;
}

static long file_stat(char **argv)
{
	struct stat st;

	if (lstat(argv[0], &st) < 0)
		return -errno;
	detail("%o %u:%u %lld", st.st_mode, st.st_uid, st.st_gid,
	       (long long)st.st_size);
	return 0;
}

static long file_unlink(char **argv)
{
	return result(unlink(argv[0]));
}

static long dir_remove(char **argv)
{
	return result(rmdir(argv[0]));
}

static long dir_make(char **argv)
{
	return result(mkdir(argv[0], 0755));
}

static long name_move(char **argv)
{
	return result(rename(argv[0], argv[1]));
}

static long name_exchange(char **argv)
{
	return result(syscall(SYS_renameat2, AT_FDCWD, argv[0], AT_FDCWD,
			      argv[1], RENAME_EXCHANGE));
}

/* lock file written first, then renamed over, as git does. */
static long lock_and_rename(char **argv)
{
	char lock[4096];
	long r;

	snprintf(lock, sizeof(lock), "%s.lock", argv[0]);
	r = write_fd(open(lock, O_CREAT | O_EXCL | O_WRONLY, 0644));
	if (r < 0)
		return r;
	r = result(rename(lock, argv[0]));
	unlink(lock);
	return r;
}

static long link_hard(char **argv)
{
	return result(link(argv[0], argv[1]));
}

static long link_soft(char **argv)
{
	return result(symlink(argv[0], argv[1]));
}

/* ln -sfn: a new link renamed over the old one. */
static long link_replace(char **argv)
{
	char fresh[4096];
	long r;

	snprintf(fresh, sizeof(fresh), "%s.new", argv[1]);
	if (symlink(argv[0], fresh) < 0)
		return -errno;
	r = result(rename(fresh, argv[1]));
	unlink(fresh);
	return r;
}

/* O_TMPFILE in argv[0], linked to argv[1] through /proc and by the fd. */
static long file_tmpfile(char **argv)
{
	char proc[64];
	long by_name, by_fd;
	int fd = open(argv[0], O_TMPFILE | O_RDWR, 0755);

	if (fd < 0)
		return -errno;
	write_fd(fd);
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	by_name = result(linkat(AT_FDCWD, proc, AT_FDCWD, argv[1],
				AT_SYMLINK_FOLLOW));
	if (by_name == 0)
		return 0;
	by_fd = result(linkat(fd, "", AT_FDCWD, argv[1], AT_EMPTY_PATH));
	/* before Linux 6.10 that needs a capability, and says so */
	return by_fd == -ENOENT ? by_name : by_fd;
}

static long file_chmod(char **argv)
{
	return result(chmod(argv[0], (mode_t)number(argv[1])));
}

static long file_chown(char **argv)
{
	return result(lchown(argv[0], getuid(), getgid()));
}

static long file_setxattr(char **argv)
{
	return result(setxattr(argv[0], "user.agentbox-test", "x", 1, 0));
}

static long file_utimes(char **argv)
{
	const struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	return result(utimensat(AT_FDCWD, argv[0], times,
				AT_SYMLINK_NOFOLLOW));
}

/* Whoever opens it now waits for us. */
static long file_lease(char **argv)
{
	int fd = open(argv[0], O_RDONLY | O_NONBLOCK);

	return fd < 0 ? -errno : result(fcntl(fd, F_SETLEASE, F_WRLCK));
}

static long file_truncate(char **argv)
{
	return result(truncate(argv[0], 0));
}

static long file_ftruncate(char **argv)
{
	int fd = open(argv[0], O_RDWR);

	return fd < 0 ? -errno : result(ftruncate(fd, 0));
}

static long file_open_truncate(char **argv)
{
	return result(open(argv[0], O_RDONLY | O_TRUNC));
}

static long file_fallocate(char **argv)
{
	int fd = open(argv[0], O_WRONLY);

	return fd < 0 ? -errno : result(fallocate(fd, 0, 0, 1 << 16));
}

/* A shared writable mapping of a file opened here. */
static long file_mmap(char **argv)
{
	int fd = open(argv[0], O_RDWR);
	char *p;

	if (fd < 0) {
		/* read only: PROT_WRITE on a shared mapping */
		fd = open(argv[0], O_RDONLY);
		if (fd < 0)
			return -errno;
	}
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*(volatile char *)p = 'X';
	return 0;
}

/* The flag that makes an inode immutable or append only. */
static long file_setflags(char **argv)
{
	int flags = 0, fd = open(argv[0], O_RDONLY | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return -errno;
	flags ^= FS_NODUMP_FL;
	return result(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

static long node_make(char **argv)
{
	return result(mknod(argv[0], (mode_t)number(argv[1]) | 0666,
			    makedev((unsigned int)number(argv[2]),
				    (unsigned int)number(argv[3]))));
}

static long fifo_make(char **argv)
{
	return result(mkfifo(argv[0], 0666));
}

static long fifo_write(char **argv)
{
	return write_fd(open(argv[0], O_WRONLY | O_NONBLOCK));
}

/* openat(FD, PATH): does an inherited directory lead out? */
static long fd_openat(char **argv)
{
	return result(openat((int)number(argv[0]), argv[1], O_RDONLY));
}

/* Opens /proc/self/fd/N again with more rights and reads and empties it. */
static long fd_reopen(char **argv)
{
	char path[64], text[64];
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%s", argv[0]);
	fd = open(path, O_RDWR | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n > 0)
		detail("read %zd", n);
	if (ftruncate(fd, 0) == 0)
		detail(" truncated");
	return n <= 0 && !lseek(fd, 0, SEEK_END) ? -ENODATA : 0;
}

static long fd_ftruncate(char **argv)
{
	return result(ftruncate((int)number(argv[0]), 0));
}

/* Which descriptors are open: "0=pipe 1=/x ..." */
static long fd_list(char **argv)
{
	char path[64], target[128];

	(void)argv;
	for (int fd = 0; fd < 1024; fd++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (fcntl(fd, F_GETFD) < 0)
			continue;
		n = readlink(path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = 0;
		detail("%d=%s ", fd, target);
	}
	return 0;
}

static long handle_open(char **argv)
{
	struct {
		struct file_handle h;
		unsigned char bytes[MAX_HANDLE_SZ];
	} handle = { .h = { .handle_bytes = MAX_HANDLE_SZ } };
	int mount_id, dir;

	if (syscall(SYS_name_to_handle_at, AT_FDCWD, argv[0], &handle,
		    &mount_id, 0) < 0) {
		detail("name_to_handle_at");
		/* go on with a made-up handle: the root inode of ext4 */
		handle.h.handle_bytes = 8;
		handle.h.handle_type = 1;
		memcpy(handle.bytes, "\2\0\0\0\0\0\0\0", 8);
	}
	dir = open(argv[0], O_RDONLY | O_DIRECTORY);
	if (dir < 0)
		return -errno;
	return result(syscall(SYS_open_by_handle_at, dir, &handle, O_RDONLY));
}

static long handle_name(char **argv)
{
	struct {
		struct file_handle h;
		unsigned char bytes[MAX_HANDLE_SZ];
	} handle = { .h = { .handle_bytes = MAX_HANDLE_SZ } };
	int mount_id;

	return result(syscall(SYS_name_to_handle_at, AT_FDCWD, argv[0],
			      &handle, &mount_id, 0));
}

/* argv[0] held open across argv[1] -> argv[2], then written. */
static long file_write_held(char **argv)
{
	int dir = open(argv[0], O_PATH | O_DIRECTORY);

	if (dir < 0)
		return -errno;
	return write_fd(openat(dir, argv[1], O_CREAT | O_WRONLY, 0755));
}

/* Opened for reading, then again through /proc/self/fd for writing. */
static long file_proc_fd(char **argv)
{
	char path[64];
	int fd = open(argv[0], O_RDONLY);

	if (fd < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return write_fd(open(path, O_WRONLY | O_APPEND));
}

static long cwd_get(char **argv)
{
	char path[4096];

	(void)argv;
	if (!getcwd(path, sizeof(path)))
		return -errno;
	detail("%s", path);
	return 0;
}

const struct attack attacks_files[] = {
	{ "write", 1, file_write },
	{ "create", 1, file_create },
	{ "overwrite", 1, file_overwrite },
	{ "proc-fd-write", 1, file_proc_fd },
	{ "getcwd", 0, cwd_get },
	{ "open-rdwr", 1, file_open_rdwr },
	{ "read", 1, file_read },
	{ "thread-open", 3, thread_open },
	{ "lease", 1, file_lease },
	{ "stat", 1, file_stat },
	{ "unlink", 1, file_unlink },
	{ "rmdir", 1, dir_remove },
	{ "mkdir", 1, dir_make },
	{ "rename", 2, name_move },
	{ "exchange", 2, name_exchange },
	{ "lock-and-rename", 1, lock_and_rename },
	{ "link", 2, link_hard },
	{ "symlink", 2, link_soft },
	{ "link-replace", 2, link_replace },
	{ "tmpfile", 2, file_tmpfile },
	{ "chmod", 2, file_chmod },
	{ "chown", 1, file_chown },
	{ "setxattr", 1, file_setxattr },
	{ "utimes", 1, file_utimes },
	{ "create-hidden", 1, file_create_hidden },
	{ "create-deep", 2, file_create_deep },
	{ "create-nowhere", 0, file_create_nowhere },
	{ "truncate", 1, file_truncate },
	{ "ftruncate", 1, file_ftruncate },
	{ "open-truncate", 1, file_open_truncate },
	{ "fallocate", 1, file_fallocate },
	{ "mmap-write", 1, file_mmap },
	{ "setflags", 1, file_setflags },
	{ "mknod", 4, node_make },
	{ "mkfifo", 1, fifo_make },
	{ "fifo-write", 1, fifo_write },
	{ "fd-openat", 2, fd_openat },
	{ "fd-reopen", 1, fd_reopen },
	{ "fd-ftruncate", 1, fd_ftruncate },
	{ "fd-list", 0, fd_list },
	{ "open-by-handle", 1, handle_open },
	{ "name-to-handle", 1, handle_name },
	{ "write-below", 2, file_write_held },
	{ NULL, 0, NULL },
};
