/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rates: so many at once, so many per second. */
#include "config.h"

#include "state.h"

#define SECOND UINT64_C(1000000000)

void ab_bucket_init(ab_bucket *b, uint64_t size, uint64_t per_second,
		    uint64_t now)
{
	*b = (ab_bucket){ size, size, per_second, now };
}

bool ab_bucket_take(ab_bucket *b, uint64_t n, uint64_t now)
{
	uint64_t passed = now - b->filled_ns, more;

	if (passed > 3600 * SECOND)
		passed = 3600 * SECOND;
	if (__builtin_mul_overflow(passed, b->per_second, &more))
		more = UINT64_MAX;
	more /= SECOND;
	/* what is less than a unit goes on counting */
	if (more) {
		b->filled_ns = now;
		b->level = more > b->size - b->level ? b->size
						     : b->level + more;
	}
	if (b->level < n)
		return false;
	b->level -= n;
	return true;
}
