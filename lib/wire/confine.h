/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a helper raises its own walls with, before it reads the first byte of
 * anybody else: a system call filter, Landlock, no capabilities. What is
 * allowed stays with each helper. Compiled into helpers only. Libc only;
 * -errno form. Spec: seccomp(2), landlock(7), capabilities(7).
 */
#ifndef AB_WIRE_CONFINE_H
#define AB_WIRE_CONFINE_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A seccomp filter, written line by line into the caller's memory. What no
 * line names ends the process; so does another architecture's call, x32's
 * (bit 30 of its numbers), and memory that is mapped or made executable.
 */
typedef struct ab_confine_filter {
	struct sock_filter *code;
	size_t size, len; /* instructions */
	bool is_too_long;
} ab_confine_filter;

/* Lines that begin and end it take this many, ab_confine_allow() two each. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define AB_CONFINE_RUNTIME 10 /* calls of the runtime's own */
#define AB_CONFINE_FRAME (15 + 2 * AB_CONFINE_RUNTIME)
#else
#define AB_CONFINE_FRAME 15
#endif

void ab_confine_begin(ab_confine_filter *f, struct sock_filter *code,
		      size_t size);
/* One instruction; the accumulator holds the call's number between lines. */
void ab_confine_put(ab_confine_filter *f, uint16_t code, uint32_t k,
		    uint8_t jt, uint8_t jf);
void ab_confine_allow(ab_confine_filter *f, uint32_t nr);
/* -EFBIG: it did not fit, and nothing was loaded. */
int ab_confine_load(ab_confine_filter *f);

/*
 * The level of Landlock here. 0: not in this kernel, not switched on, or
 * hidden by a container's filter; any other failure is no answer, -errno.
 */
int ab_confine_landlock_level(void);

/* Without CAP_SETPCAP it cannot be touched, and means nothing. */
void ab_confine_drop_bounding_set(void);
/* No others from now on; none is inherited or ambient. */
int ab_confine_keep_capabilities(uint64_t keep);

#endif
