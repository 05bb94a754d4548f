/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Allocation with checked sizes. All of lib/ allocates here, so that the
 * torture runner can fail the n-th allocation (tests install a hook through
 * ab_alloc_set_fail; builds without --enable-fault-injection have no hook).
 */
#ifndef AB_BASE_ALLOC_H
#define AB_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* Zeroed memory or NULL; released with free(). */
void *ab_calloc(size_t count, size_t size) AB_MUST_CHECK;
void *ab_realloc(void *p, size_t count, size_t size) AB_MUST_CHECK;
/*
 * Room for `need` elements in *array, which has room for *room: at least
 * doubled where it grows, so that adding one by one stays linear. Takes the
 * address of the pointer, whatever it points to; false leaves all as it was.
 */
bool ab_grow(void *array, size_t *room, size_t need, size_t size)
	AB_MUST_CHECK;
char *ab_strdup(const char *s) AB_MUST_CHECK;
/* n bytes of p plus a NUL; p may contain NULs. */
char *ab_memdup0(const void *p, size_t n) AB_MUST_CHECK;
char *ab_asprintf(const char *fmt, ...) AB_MUST_CHECK AB_PRINTF(1, 2);

/* memset(p, 0, n) by the C library. Of a size that it knows the compiler makes
   `rep stos`, whose start alone takes longer than clearing 200 bytes. */
void ab_clear(void *p, size_t n);

#define ab_new(type) ((type *)ab_calloc(1, sizeof(type)))

static inline bool ab_add_size(size_t a, size_t b, size_t *out)
{
	return !__builtin_add_overflow(a, b, out);
}

static inline bool ab_mul_size(size_t a, size_t b, size_t *out)
{
	return !__builtin_mul_overflow(a, b, out);
}

/* Fail allocation number n (1-based) from now on once; 0 turns it off. */
void ab_alloc_fail_after(uint64_t n);
/* Allocations asked for since the last ab_alloc_fail_after(). */
uint64_t ab_alloc_count(void);

#endif
