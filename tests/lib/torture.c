/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fail every allocation once, one run each. Spec: tests/lib/abtest.h. */
#include "config.h"

#include "abtest.h"

#include "base/alloc.h"

#ifdef AB_FAULT_INJECTION

bool ab_torture_available(void)
{
	return true;
}

uint64_t ab_torture(ab_torture_fn body, void *data, uint64_t max,
		    uint64_t *tolerated)
{
	uint64_t survived = 0;

	for (uint64_t n = 1; n <= max; n++) {
		ab_alloc_fail_after(n);
		bool good = body(data);
		bool failed = ab_alloc_count() >= n;
		ab_alloc_fail_after(0);
		if (!failed) {
			if (tolerated)
				*tolerated = survived;
			/* Nothing failed, so it has to succeed. */
			return good ? n - 1 : 0;
		}
		if (good)
			survived++;
	}
	return 0;
}

#else

bool ab_torture_available(void)
{
	return false;
}

uint64_t ab_torture(ab_torture_fn body, void *data, uint64_t max,
		    uint64_t *tolerated)
{
	(void)max;
	if (tolerated)
		*tolerated = 0;
	(void)body(data);
	return 0;
}

#endif
