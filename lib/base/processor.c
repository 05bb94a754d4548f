/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Moving a process is narrowing what it may run on. What it may run on in the
 * end is what it came with: that a hint was refused is no error, that it
 * cannot be taken back is one. Spec: processor.h.
 */
#include "config.h"

#include "base/processor.h"

#include <errno.h>
#include <string.h>

void ab_processor_get(cpu_set_t *all)
{
	if (sched_getaffinity(0, sizeof(*all), all))
		CPU_ZERO(all);
}

bool ab_processor_others(const cpu_set_t *all, cpu_set_t *others)
{
	int own = sched_getcpu();

	if (own < 0 || own >= CPU_SETSIZE)
		return false;
	*others = *all;
	CPU_CLR(own, others);
	return CPU_COUNT(others) > 0;
}

int ab_processor_push(pid_t pid, const cpu_set_t *all)
{
	cpu_set_t others;

	if (!ab_processor_others(all, &others) ||
	    sched_setaffinity(pid, sizeof(others), &others) ||
	    sched_setaffinity(pid, sizeof(*all), all) == 0)
		return 0;
	/* it has ended; another cpuset meanwhile, whose processors it has been
	   given with it: cpuset(7) */
	return errno == ESRCH || errno == EINVAL ? 0 : -errno;
}

void ab_processor_print(const cpu_set_t *set, char text[AB_PROCESSORS_TEXT])
{
	size_t n = 0;

	memset(text, 0, AB_PROCESSORS_TEXT);
	for (size_t i = 0; i < CPU_SETSIZE / 4; i++) {
		unsigned digit = 0;

		for (size_t k = 0; k < 4; k++) {
			if (CPU_ISSET(4 * i + k, set))
				digit |= 1u << k;
		}
		text[i] = "0123456789abcdef"[digit];
		if (digit)
			n = i + 1;
	}
	text[n] = 0;
}

void ab_processor_parse(const char *text, cpu_set_t *set)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = strlen(text);

	CPU_ZERO(set);
	if (n >= AB_PROCESSORS_TEXT || strspn(text, digits) != n)
		return;
	for (size_t i = 0; i < n; i++) {
		size_t digit = (size_t)(strchr(digits, text[i]) - digits);

		for (size_t k = 0; k < 4; k++) {
			if (digit >> k & 1)
				CPU_SET(4 * i + k, set);
		}
	}
}
