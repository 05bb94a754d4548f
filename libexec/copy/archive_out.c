/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An archive onto a descriptor. Tar is GNU's: it carries every name as the
 * bytes it is, where pax makes its readers normalise them. Spec: archives.h,
 * tar(5), archive_write_format(3).
 */
#include "config.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archives.h"
#include "base/alloc.h"
#include "base/fd.h"

#define BUFFER_SIZE ((size_t)256 << 10)
#define NS INT64_C(1000000000)

struct archive_out {
	int fd, error; /* -errno of the first failure to write */
	struct archive *archive;
	struct archive_entry *entry;
	size_t len;
	uint8_t buffer[BUFFER_SIZE];
};

static int write_all(archive_out *o, const uint8_t *p, size_t n)
{
	while (n && !o->error) {
		ssize_t done = write(o->fd, p, n);

		if (done >= 0) {
			p += done;
			n -= (size_t)done;
		} else if (errno == EAGAIN) {
			(void)ab_fd_poll(o->fd, POLLOUT, -1);
		} else if (errno != EINTR) {
			o->error = -errno;
		}
	}
	return o->error;
}

static int flush(archive_out *o)
{
	size_t n = o->len;

	o->len = 0;
	return write_all(o, o->buffer, n);
}

static la_ssize_t put(struct archive *a, void *data, const void *p, size_t n)
{
	archive_out *o = data;

	(void)a;
	if (o->len + n > BUFFER_SIZE && flush(o))
		return -1;
	if (n > BUFFER_SIZE)
		return write_all(o, p, n) ? -1 : (la_ssize_t)n;
	memcpy(o->buffer + o->len, p, n);
	o->len += n;
	return (la_ssize_t)n;
}

static int set_format(struct archive *a, uint32_t flags)
{
	int r = flags & AB_COPY_ZIP ? archive_write_set_format_zip(a)
				    : archive_write_set_format_gnutar(a);

	if (r == ARCHIVE_OK && flags & AB_COPY_GZIP) {
		r = archive_write_add_filter_gzip(a);
		if (r == ARCHIVE_OK)
			r = archive_write_set_filter_option(a, "gzip",
							    "timestamp", NULL);
	}
	if (r == ARCHIVE_OK && flags & AB_COPY_ZSTD)
		r = archive_write_add_filter_zstd(a);
	/* only what is a tar and nothing else ends on a whole record */
	if (r == ARCHIVE_OK &&
	    flags & (AB_COPY_ZIP | AB_COPY_GZIP | AB_COPY_ZSTD))
		r = archive_write_set_bytes_in_last_block(a, 1);
	return r;
}

archive_out *archive_out_new(int fd, uint32_t flags)
{
	archive_out *o = ab_new(archive_out);

	if (!o)
		return NULL;
	o->fd = fd;
	o->archive = archive_write_new();
	o->entry = archive_entry_new();
	/* a warning would be: by a program of another name */
	if (!o->archive || !o->entry ||
	    set_format(o->archive, flags) != ARCHIVE_OK ||
	    archive_write_open2(o->archive, o, NULL, put, NULL, NULL) !=
		    ARCHIVE_OK) {
		archive_out_free(o);
		return NULL;
	}
	return o;
}

void archive_out_free(archive_out *o)
{
	if (!o)
		return;
	if (o->archive) {
		(void)archive_write_fail(o->archive);
		(void)archive_write_free(o->archive);
	}
	archive_entry_free(o->entry);
	free(o);
}

const char *archive_out_error(const archive_out *o)
{
	const char *text = archive_error_string(o->archive);

	return o->error || !text ? "cannot write the archive" : text;
}

static int outcome(const archive_out *o, int r)
{
	return r == ARCHIVE_OK ? 0 : o->error ? o->error : -EIO;
}

/* Nobody's owner, no group, no name, no more of its time than a second. */
static int begin(archive_out *o, const char *path, unsigned type,
		 mode_t mode, int64_t mtime_ns, uint64_t size)
{
	int64_t seconds = mtime_ns / NS - (mtime_ns % NS < 0);

	archive_entry_clear(o->entry);
	archive_entry_copy_pathname(o->entry, path);
	archive_entry_set_filetype(o->entry, type);
	archive_entry_set_perm(o->entry, mode);
	archive_entry_set_mtime(o->entry, (time_t)seconds, 0);
	archive_entry_set_uid(o->entry, 0);
	archive_entry_set_gid(o->entry, 0);
	archive_entry_set_size(o->entry, (int64_t)size);
	return archive_write_header(o->archive, o->entry);
}

int archive_out_dir(archive_out *o, const char *path, int64_t mtime_ns)
{
	return outcome(o, begin(o, path, AE_IFDIR, 0755, mtime_ns, 0));
}

int archive_out_file(archive_out *o, const char *path, uint64_t size,
		     bool is_exec, int64_t mtime_ns, const void *p)
{
	int r = begin(o, path, AE_IFREG, is_exec ? 0555 : 0444, mtime_ns,
		      size);
	const uint8_t *at = p;

	while (r == ARCHIVE_OK && size) {
		la_ssize_t n = archive_write_data(o->archive, at, size);

		if (n <= 0)
			return outcome(o, ARCHIVE_FATAL);
		at += n;
		size -= (uint64_t)n;
	}
	if (r == ARCHIVE_OK)
		r = archive_write_finish_entry(o->archive);
	return outcome(o, r);
}

int archive_out_end(archive_out *o)
{
	int r = archive_write_close(o->archive);

	return r == ARCHIVE_OK ? flush(o) : outcome(o, r);
}
