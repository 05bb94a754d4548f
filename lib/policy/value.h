/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scalar values of a policy: text in, number or canonical text out. Every
 * spelling but the documented one is refused, with words that say how to
 * write it. Spec: DESIGN.md section 5, agentbox-policy(5), cases D01-D05.
 */
#ifndef AB_POLICY_VALUE_H
#define AB_POLICY_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The longest canonical number text and its NUL. */
#define AB_VALUE_SIZE 48

/*
 * "4GiB" to 4294967296. Units: B, kB MB GB TB (powers of 1000), KiB MiB GiB
 * TiB (powers of 1024); digits without sign, space, leading zero, point.
 * Zero is refused unless written "0B" with zero_ok. Values past INT64_MAX
 * are refused. false: `why` is filled.
 */
bool ab_value_size(const char *s, bool zero_ok, uint64_t *out,
		   char why[AB_WHY_SIZE]);
/* "90s" to 90000; one number and one of ms s m h d; zero is refused. */
bool ab_value_duration(const char *s, uint64_t *out, char why[AB_WHY_SIZE]);
/* "1500m" to 1500 thousandths of a CPU; zero is refused. */
bool ab_value_cpus(const char *s, uint64_t *out, char why[AB_WHY_SIZE]);
/* "1s..60s": two durations, the first not longer. */
bool ab_value_backoff(const char *s, uint64_t *low, uint64_t *high,
		      char why[AB_WHY_SIZE]);

/* The shortest exact spelling: 4294967296 is "4GiB", 4000000000 "4GB". */
void ab_value_size_text(uint64_t v, char out[AB_VALUE_SIZE]);
void ab_value_duration_text(uint64_t ms, char out[AB_VALUE_SIZE]);
void ab_value_backoff_text(uint64_t low, uint64_t high,
			   char out[AB_VALUE_SIZE]);

#endif
