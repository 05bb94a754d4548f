/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Clocks and RFC 3339 text. The calendar is computed here: gmtime_r() takes
 * the time-zone lock, which a forked child of a threaded host may find held.
 * Libc only. Spec: clock.h, RFC 3339 section 5.6.
 */
#include "config.h"

#include "base/clock.h"

#include <stdio.h>
#include <time.h>

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull
#define DAYS_PER_ERA 146097u /* 400 Gregorian years */

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts = {0};

	/* fails only for an unknown id, and these three are as old as 2.6.39 */
	(void)clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t ab_clock_boot_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

uint64_t ab_clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t ab_clock_real_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/*
 * Days since 1970-01-01 to a date. Years begin in March here, so that the
 * leap day is the last of its year; 719468 days lie before the epoch.
 */
static void civil_from_days(unsigned days, unsigned *y, unsigned *m,
			    unsigned *d)
{
	unsigned z = days + 719468;
	unsigned era = z / DAYS_PER_ERA;
	unsigned doe = z % DAYS_PER_ERA;
	unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	unsigned mp = (5 * doy + 2) / 153;

	*d = doy - (153 * mp + 2) / 5 + 1;
	*m = mp < 10 ? mp + 3 : mp - 9;
	*y = yoe + era * 400 + (*m <= 2);
}

void ab_clock_format(uint64_t real_ns, char out[AB_TIMESTAMP_SIZE])
{
	uint64_t s = real_ns / NS_PER_S;
	unsigned us = (unsigned)(real_ns % NS_PER_S / 1000);
	unsigned in_day = (unsigned)(s % 86400);
	unsigned y, m, d;

	civil_from_days((unsigned)(s / 86400), &y, &m, &d);
	snprintf(out, AB_TIMESTAMP_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u.%06uZ",
		 y % 10000, m % 100, d % 100, in_day / 3600 % 100,
		 in_day / 60 % 60, in_day % 60, us % 1000000);
}

uint64_t ab_clock_deadline(int64_t timeout_ms)
{
	if (timeout_ms < 0 || timeout_ms > INT64_MAX / (int64_t)NS_PER_MS / 2)
		return 0;
	return ab_clock_boot_ns() + (uint64_t)timeout_ms * NS_PER_MS;
}

int64_t ab_clock_left_ms(uint64_t deadline_boot_ns)
{
	uint64_t now;

	if (deadline_boot_ns == 0)
		return -1;
	now = ab_clock_boot_ns();
	if (now >= deadline_boot_ns)
		return 0;
	/* rounded up: a wait that ends early would spin */
	return (int64_t)((deadline_boot_ns - now - 1) / NS_PER_MS + 1);
}
