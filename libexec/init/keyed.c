/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls by which files are made, renamed and opened to be written, with the
 * key that a watched box does not ask about (notice.c). The linker puts these
 * functions in front of libc's of the same name, so that no file of this
 * program has to think of it, and one that is written later does not hang the
 * box. Without a key the last argument is one that the kernel does not read.
 */
#include "config.h"

#include "init.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys.h"

/* This process's and of those that it forks; see the first lines. */
static uint64_t key;

void init_set_key(uint64_t value)
{
	key = value;
}

int ab_sys_rename_new(int from, const char *name, int to, const char *as)
{
	return (int)ab_sys(syscall(SYS_renameat2, from, name, to, as,
				   1ul /* RENAME_NOREPLACE */, key));
}

/* --- in the place of libc's ----------------------------------------------- */

int __wrap_openat(int dirfd, const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_mkdirat(int dirfd, const char *path, mode_t mode);
int __wrap_mknodat(int dirfd, const char *path, mode_t mode, dev_t device);
int __wrap_symlinkat(const char *text, int dirfd, const char *path);
int __wrap_unlinkat(int dirfd, const char *path, int flags);
int __wrap_rmdir(const char *path);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size);

/* The mode, where the flags say that there is one: O_TMPFILE is more bits than
   one, and O_DIRECTORY is among them. */
#define MODE_OF(flags, out)                                 \
	do {                                                \
		va_list ap;                                 \
		if (((flags) & O_CREAT) ||                  \
		    ((flags) & O_TMPFILE) == O_TMPFILE) {   \
			va_start(ap, flags);                \
			(out) = va_arg(ap, mode_t);         \
			va_end(ap);                         \
		}                                           \
	} while (0)

int __wrap_openat(int dirfd, const char *path, int flags, ...)
{
	unsigned long mode = 0;

	MODE_OF(flags, mode);
	return (int)syscall(SYS_openat, dirfd, path, flags, mode, 0ul, key);
}

int __wrap_open(const char *path, int flags, ...)
{
	unsigned long mode = 0;

	MODE_OF(flags, mode);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode, 0ul, key);
}

int __wrap_mkdirat(int dirfd, const char *path, mode_t mode)
{
	return (int)syscall(SYS_mkdirat, dirfd, path, mode, 0ul, 0ul, key);
}

int __wrap_mknodat(int dirfd, const char *path, mode_t mode, dev_t device)
{
	return (int)syscall(SYS_mknodat, dirfd, path, mode, device, 0ul, key);
}

int __wrap_symlinkat(const char *text, int dirfd, const char *path)
{
	return (int)syscall(SYS_symlinkat, text, dirfd, path, 0ul, 0ul, key);
}

int __wrap_unlinkat(int dirfd, const char *path, int flags)
{
	return (int)syscall(SYS_unlinkat, dirfd, path, flags, 0ul, 0ul, key);
}

int __wrap_rmdir(const char *path)
{
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR, 0ul,
			    0ul, key);
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size)
{
	return (int)syscall(SYS_bind, fd, address, size, 0ul, 0ul, key);
}
