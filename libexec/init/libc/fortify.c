/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the compiler calls when it can prove a bound (_FORTIFY_SOURCE) or
 * finds the stack canary changed: check, or die at once. A dead helper ends
 * the box, which is the safe side. Spec: feature_test_macros(7).
 */
#include "config.h"

#undef _FORTIFY_SOURCE

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc/raw.h"

#define SIGNAL_ABORT 6

_Noreturn void __stack_chk_fail(void);
_Noreturn void __chk_fail(void);
void *__memcpy_chk(void *to, const void *from, size_t n, size_t room);
void *__memmove_chk(void *to, const void *from, size_t n, size_t room);
void *__memset_chk(void *to, int c, size_t n, size_t room);
int __vsnprintf_chk(char *to, size_t n, int flag, size_t room, const char *f,
		    va_list ap);
int __snprintf_chk(char *to, size_t n, int flag, size_t room, const char *f,
		   ...);
int __open_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);
ssize_t __read_chk(int fd, void *p, size_t n, size_t room);
ssize_t __readlinkat_chk(int dirfd, const char *path, char *p, size_t n,
			 size_t room);

_Noreturn void __chk_fail(void)
{
	long self = init_raw(SYS_getpid, 0, 0, 0, 0, 0, 0);

	(void)init_raw(SYS_kill, self, SIGNAL_ABORT, 0, 0, 0, 0);
	for (;;) /* PID 1 is immune to its own signals */
		(void)init_raw(SYS_exit_group, 134, 0, 0, 0, 0, 0);
}

_Noreturn void __stack_chk_fail(void)
{
	__chk_fail();
}

void *__memcpy_chk(void *to, const void *from, size_t n, size_t room)
{
	if (n > room)
		__chk_fail();
	return memcpy(to, from, n);
}

void *__memmove_chk(void *to, const void *from, size_t n, size_t room)
{
	if (n > room)
		__chk_fail();
	return memmove(to, from, n);
}

void *__memset_chk(void *to, int c, size_t n, size_t room)
{
	if (n > room)
		__chk_fail();
	return memset(to, c, n);
}

int __vsnprintf_chk(char *to, size_t n, int flag, size_t room, const char *f,
		    va_list ap)
{
	(void)flag;
	if (n > room)
		__chk_fail();
	return vsnprintf(to, n, f, ap);
}

int __snprintf_chk(char *to, size_t n, int flag, size_t room, const char *f,
		   ...)
{
	va_list ap;
	int r;

	va_start(ap, f);
	r = __vsnprintf_chk(to, n, flag, room, f, ap);
	va_end(ap);
	return r;
}

int __open_2(const char *path, int flags)
{
	return open(path, flags);
}

int __openat_2(int dirfd, const char *path, int flags)
{
	return openat(dirfd, path, flags);
}

ssize_t __read_chk(int fd, void *p, size_t n, size_t room)
{
	if (n > room)
		__chk_fail();
	return read(fd, p, n);
}

ssize_t __readlinkat_chk(int dirfd, const char *path, char *p, size_t n,
			 size_t room)
{
	if (n > room)
		__chk_fail();
	return readlinkat(dirfd, path, p, n);
}
