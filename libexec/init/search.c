/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where something stands, or would stand, in a sorted list: for lists in which
 * several may compare equal, of which bsearch(3) finds any. Pure memory.
 */
#include "config.h"

#include "watcher.h"

size_t init_find_first(const void *list, size_t count, size_t size,
		       const void *key,
		       int (*compare)(const void *item, const void *key))
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare((const char *)list + mid * size, key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}
