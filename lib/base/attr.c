/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions behind the cleanup attributes of attr.h. Libc only: the
 * static agentbox-init compiles this file too. They refuse to disturb errno,
 * because they run between a failure and the return that reports it.
 * Spec: STYLE.md section 5.
 */
#include "config.h"

#include "base/attr.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void ab_cleanup_free(void *pp)
{
	void *p;
	int saved = errno;

	/* pp is a T **: copied, because a void ** may not alias it */
	memcpy(&p, pp, sizeof(p));
	free(p);
	errno = saved;
}

void ab_cleanup_fd(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}
