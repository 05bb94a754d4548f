/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Allocation with checked sizes, in one place so that a test can fail the
 * n-th one. Refuses: sizes that overflow, and zero-sized blocks whose result
 * could not be told from a failure (they get one byte). Libc only.
 * Spec: alloc.h.
 */
#include "config.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIRST_ROOM 16

#ifdef AB_FAULT_INJECTION

/* Test builds only: per thread, so that parallel tests do not meet. */
static _Thread_local uint64_t alloc_count;
static _Thread_local uint64_t alloc_fail_at;

void ab_alloc_fail_after(uint64_t n)
{
	alloc_count = 0;
	alloc_fail_at = n;
}

uint64_t ab_alloc_count(void)
{
	return alloc_count;
}

static bool alloc_must_fail(void)
{
	alloc_count++;
	return alloc_count == alloc_fail_at;
}

#else

static bool alloc_must_fail(void)
{
	return false;
}

#endif

void *ab_calloc(size_t count, size_t size)
{
	size_t total;

	if (!ab_mul_size(count, size, &total) || alloc_must_fail())
		return NULL;
	return calloc(1, total ? total : 1);
}

void *ab_realloc(void *p, size_t count, size_t size)
{
	size_t total;

	if (!ab_mul_size(count, size, &total) || alloc_must_fail())
		return NULL;
	/* realloc(p, 0) would free p and return NULL: a double free */
	return realloc(p, total ? total : 1);
}

bool ab_grow(void *array, size_t *room, size_t need, size_t size)
{
	size_t want;
	void *p;

	if (need <= *room)
		return true;
	if (!ab_mul_size(*room, 2, &want) || want < need)
		want = need;
	if (want < FIRST_ROOM)
		want = FIRST_ROOM;
	memcpy(&p, array, sizeof(p)); /* a T ** is no void ** */
	p = ab_realloc(p, want, size);
	if (!p)
		return false;
	memcpy(array, &p, sizeof(p));
	*room = want;
	return true;
}

char *ab_strdup(const char *s)
{
	return ab_memdup0(s, strlen(s));
}

char *ab_memdup0(const void *p, size_t n)
{
	size_t size;
	char *copy;

	if (!ab_add_size(n, 1, &size))
		return NULL;
	copy = ab_calloc(size, 1);
	if (copy && n)
		memcpy(copy, p, n);
	return copy;
}

char *ab_asprintf(const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	text = ab_calloc((size_t)n + 1, 1);
	if (!text)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return text;
}

void ab_clear(void *p, size_t n)
{
	memset(p, 0, n);
}
