/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A system call, as the kernel takes it: result or -errno. x86-64. */
#ifndef AB_INIT_LIBC_RAW_H
#define AB_INIT_LIBC_RAW_H

static inline long init_raw(long n, long a, long b, long c, long d, long e,
			    long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
}

#endif
