/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lines of a log, read in large pieces from any kind of fd. Refuses lines
 * longer than a record can be. Spec: agentbox-audit(5).
 */
#include "config.h"

#include "audit/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fd.h"

#define PIECE (256u * 1024)

int32_t ab_audit_open_log(const char *path, int *fd, agentbox_error **err)
{
	/* fifo(7): a named one without a writer would keep us for ever */
	ab_autofd int f = open(path,
			       O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (f < 0)
		return ab_error_sys(err, errno, "", "cannot open '%s'", path);
	/* who has opened it before writes when he likes */
	if (fcntl(f, F_SETFL, 0) != 0)
		return ab_error_sys(err, errno, "", "cannot open '%s'", path);
	*fd = ab_steal_fd(&f);
	return 0;
}

int ab_audit_reader_init(ab_audit_reader *r, int fd)
{
	memset(r, 0, sizeof(*r));
	r->fd = fd;
	r->max = PIECE + AB_AUDIT_MAX_LINE;
	r->buf = ab_calloc(r->max, 1);
	return r->buf ? 0 : -ENOMEM;
}

void ab_audit_reader_end(ab_audit_reader *r)
{
	free(r->buf);
	r->buf = NULL;
}

/* More bytes behind what is left, which moves to the front. */
static int fill(ab_audit_reader *r)
{
	ssize_t n;

	memmove(r->buf, r->buf + r->start, r->end - r->start);
	r->end -= r->start;
	r->start = 0;
	do {
		n = read(r->fd, r->buf + r->end, r->max - r->end);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	r->is_eof = n == 0;
	r->end += (size_t)n;
	return 0;
}

int ab_audit_reader_next(ab_audit_reader *r, const char **line, size_t *n)
{
	for (;;) {
		char *from = r->buf + r->start;
		size_t left = r->end - r->start;
		char *end = memchr(from, '\n', left);
		int rc;

		if (end && (size_t)(end - from) >= AB_AUDIT_MAX_LINE)
			return -EFBIG;
		if (end) {
			*line = from;
			*n = (size_t)(end - from);
			r->start += *n + 1;
			r->offset += *n + 1;
			return 1;
		}
		if (r->is_eof) {
			*line = from;
			*n = left;
			return 0;
		}
		/* a torn end may be any length: after a crash it is zeros */
		if (left >= r->max - 1)
			return -EFBIG;
		rc = fill(r);
		if (rc != 0)
			return rc;
	}
}
