/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading a value. What is not a regular file could be waited for, and is
 * refused. Spec: value.h, gateway case 144.
 */
#include "config.h"

#include "value.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

/* Whether it grew since it was looked at. */
static ssize_t read_past(int fd, size_t max)
{
	char more;
	ssize_t r;

	do
		r = pread(fd, &more, 1, (off_t)max);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r;
}

ssize_t ab_value_read(int fd, char *p, size_t max)
{
	struct stat st;
	size_t n = 0;
	ssize_t r;
	int rc = ab_fd_stat(fd, &st);

	if (rc)
		return rc;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	if (st.st_size < 0 || (uintmax_t)st.st_size > max)
		return -EFBIG;
	while (n < max) {
		r = pread(fd, p + n, max - n, (off_t)n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			return (ssize_t)n;
		n += (size_t)r;
	}
	r = read_past(fd, max);
	return r < 0 ? r : r ? -EFBIG : (ssize_t)n;
}
