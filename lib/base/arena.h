/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory given by the caller, handed out from both ends and never returned
 * piece by piece. Running out is an ordinary answer (NULL), and it sticks:
 * is_full says so at the end, for those who looked at many answers at once.
 *
 * low: what lives as long as its block (mark, work, release). high: what
 * stays until the whole arena goes.
 */
#ifndef AB_BASE_ARENA_H
#define AB_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_arena {
	unsigned char *low, *high; /* what is free; both aligned to 8 */
	bool is_full;		   /* something was refused */
};

/* `memory` is borrowed; any alignment and size, also none. */
static inline void ab_arena_init(struct ab_arena *a, void *memory, size_t size)
{
	size_t skip = -(uintptr_t)memory & 7;

	if (!memory || size < skip)
		skip = size = 0;
	a->low = (unsigned char *)memory + skip;
	a->high = a->low + ((size - skip) & ~(size_t)7);
	a->is_full = false;
}

/* `size` bytes, aligned to 8, not cleared; NULL when there are not so many. */
static inline void *ab_arena_low(struct ab_arena *a, size_t size)
{
	void *p = a->low;

	if (__builtin_expect(size > (size_t)(a->high - a->low), 0)) {
		a->is_full = true;
		return NULL;
	}
	/* high - low is a multiple of 8, so rounding up stays inside */
	a->low += (size + 7) & ~(size_t)7;
	return p;
}

static inline void *ab_arena_high(struct ab_arena *a, size_t size)
{
	if (__builtin_expect(size > (size_t)(a->high - a->low), 0)) {
		a->is_full = true;
		return NULL;
	}
	return a->high -= (size + 7) & ~(size_t)7;
}

/* Gives back everything taken from low since `mark` was a->low. */
static inline void ab_arena_release(struct ab_arena *a, void *mark)
{
	a->low = mark;
}

#endif
