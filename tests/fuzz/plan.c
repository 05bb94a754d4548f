/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plan decoder. What it accepts must be encodable again to the same
 * bytes, so nothing is read two ways. The build id is fixed, so that the
 * corpus stays good.
 */
#include "config.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "wire/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ab_plan plan;
	ab_writer w;

	if (ab_plan_decode(data, size, "fuzz", &plan))
		return 0;
	ab_writer_init(&w, AB_MAX_PLAN_BYTES);
	if (ab_plan_encode(&plan, &w) || w.len != size ||
	    memcmp(w.data, data, size) != 0)
		abort();
	ab_writer_end(&w);
	ab_plan_end(&plan);
	return 0;
}
