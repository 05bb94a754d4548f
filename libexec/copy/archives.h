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

/* --- archive_in.c: reading ----------------------------------------------- */

/*
 * Before any rights are given up: names are UTF-8, times UTC, and the files
 * that say so are read. 0 or -errno.
 */
int archive_prepare(void);

typedef struct archive_in archive_in;

/* Where the bytes come from. */
typedef struct archive_source {
	/* up to n of them to p; 0 at the end, -errno */
	ssize_t (*read)(void *data, void *p, size_t n);
	void *data;
	/* an empty file for a zip, which has to be whole before it is read;
	   borrowed */
	int spool_fd;
	uint64_t max_spool;
} archive_source;

/* What an archive, or the parser after it, says. */
enum archive_kind {
	ARCHIVE_DIR = 1,
	ARCHIVE_FILE,	/* its data follows */
	ARCHIVE_HARD,	/* another name of `target` */
	ARCHIVE_SYMLINK,
	ARCHIVE_SPECIAL,
	/* from the parser only */
	ARCHIVE_DATA,	   /* at the offset source.size */
	ARCHIVE_END,	   /* of the data */
	ARCHIVE_LEFT_OUT,  /* a file that its name leaves out */
	ARCHIVE_TOO_LARGE, /* or its size */
	ARCHIVE_FINISH
};

typedef struct archive_in_entry {
	enum archive_kind kind;
	/* borrowed until the next call: as they stand there, any bytes */
	const char *path, *target;
	uint64_t size;
	bool is_exec;
	int64_t mtime_ns;
} archive_in_entry;

/*
 * Tells tar, tar.gz, tar.zst and zip by their first bytes. NULL with
 * *failure, which the later calls use as well.
 */
archive_in *archive_in_new(const archive_source *source,
			   copy_failure *failure);
void archive_in_free(archive_in *in);
/*
 * 1: *entry; 0: that was all of it, and nothing follows; -1 with *failure.
 * What is left of an entry's data has to be read first.
 */
int archive_in_next(archive_in *in, archive_in_entry *entry);
/* 1: n bytes (borrowed) at the offset; 0: no more; -1 with *failure. */
int archive_in_data(archive_in *in, const void **p, size_t *n,
		    uint64_t *offset);

/* A name as it stands in an archive. */
enum archive_path {
	ARCHIVE_PATH_GOOD,
	ARCHIVE_PATH_ROOT, /* "./": of the tree itself */
	ARCHIVE_PATH_BAD,  /* no name below the root: absolute, "..", ... */
	ARCHIVE_PATH_LONG
};
/* Without "./" in front and slashes behind. */
enum archive_path archive_path(const char *raw, char out[AB_MAX_PATH + 1],
			       size_t *n);

/* --- processes ----------------------------------------------------------- */

/* parse.c: from the archive on fds[0] to the ring; fds[1] is the spool. */
copy_main copy_parser;
/* extract.c: from the ring into the empty directory fds[0]. */
copy_main copy_extractor;

/* pack.c: from the ring to an archive on fds[0]. */
copy_main copy_packer;

#endif
