/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Archives as streams of entries, through libarchive (archive_read(3),
 * archive_write(3)). No disk readers or writers, no filters that start
 * programs: formats and filters are named one by one. Nothing here opens a
 * file; descriptors are the caller's.
 */
#ifndef AB_COPY_ARCHIVES_H
#define AB_COPY_ARCHIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "supervise.h"

/*
 * Before any rights are given up: names are UTF-8, times UTC, and the files
 * that say so are read. 0 or -errno.
 */
int archive_prepare(void);

/* --- archive_out.c: writing ---------------------------------------------- */

typedef struct archive_out archive_out;

/*
 * To fd (borrowed; it may be non-blocking), in the format of a plan's flags.
 * The same entries make the same bytes: no owners, no groups, whole seconds.
 * NULL: no memory.
 */
archive_out *archive_out_new(int fd, uint32_t flags);
/* Without an end: who reads it sees that it is not whole. */
void archive_out_free(archive_out *out);
/* Each 0, or -errno with archive_out_error(). */
int archive_out_dir(archive_out *out, const char *path, int64_t mtime_ns);
int archive_out_file(archive_out *out, const char *path, uint64_t size,
		     bool is_exec, int64_t mtime_ns, const void *p);
/* What closes it, and everything that is still here. */
int archive_out_end(archive_out *out);
const char *archive_out_error(const archive_out *out);

/* --- processes ----------------------------------------------------------- */

/* pack.c: from the ring to an archive on fds[0]. */
copy_main copy_packer;

#endif
