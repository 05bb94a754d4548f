/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Time: CLOCK_BOOTTIME for deadlines, CLOCK_REALTIME for records only. */
#ifndef AB_BASE_CLOCK_H
#define AB_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define AB_TIMESTAMP_SIZE 32

uint64_t ab_clock_boot_ns(void);
uint64_t ab_clock_mono_ns(void);
uint64_t ab_clock_real_ns(void);
/* RFC 3339 UTC with microseconds: 2026-01-31T12:00:00.000000Z */
void ab_clock_format(uint64_t real_ns, char out[AB_TIMESTAMP_SIZE]);
/*
 * The boot-time deadline of a timeout, or 0: none, for one below 0 and for
 * one that no clock will reach.
 */
uint64_t ab_clock_deadline(int64_t timeout_ms);
/*
 * Milliseconds left until a boot-time deadline, >= 0, rounded up; -1 when the
 * deadline is 0, which means none.
 */
int64_t ab_clock_left_ms(uint64_t deadline_boot_ns);

#endif
