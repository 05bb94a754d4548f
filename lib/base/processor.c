/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Moving a process is narrowing what it may run on. What it may run on in the
 * end is what it came with: that a hint was refused is no error, that it
 * cannot be taken back is one. Spec: processor.h.
 */
#include "config.h"

#include "base/processor.h"

#include <errno.h>

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
