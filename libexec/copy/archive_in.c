/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An archive from a stranger, entry by entry. Its first bytes say what it is,
 * and only that one reader is enabled: no guessing between formats, no
 * archive in two of them. A decompressor stands apart from the tar reader,
 * so that its output can be counted and its end seen. Refuses what is cut
 * off, what has more behind its end, what is compressed twice or out of all
 * proportion. Spec: archives.h, archive_read(3), tar(5), rows 90-92.
 */
#include "config.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "agentbox/base.h"
#include "archives.h"
#include "base/alloc.h"
#include "base/fd.h"

#define BLOCK ((size_t)128 << 10)
/* Source compresses to a tenth; a hundredth is no source. */
#define RATIO 100
#define RATIO_FROM (UINT64_C(64) << 20)
#define TAR_BLOCK 512
#define NS INT64_C(1000000000)
/* Seconds that fit as nanoseconds, and that file systems know. */
#define SECONDS_MAX (INT64_C(1) << 33)

#define ZIP_END_SIZE 22
#define ZIP_END_MAX (ZIP_END_SIZE + 65535)

struct archive_in {
	archive_source source;
	copy_failure *failure;
	struct archive *archive; /* tar or zip */
	struct archive *packed;	 /* what decompresses for it, or NULL */
	size_t first;		 /* bytes in block that nobody has had */
	uint64_t raw;		 /* bytes the source gave */
	uint64_t tar, zeros;	 /* of the tar; so many at its end are 0 */
	uint64_t after;		 /* of the tar: where the last data ended */
	uint64_t out;		 /* bytes of data, holes too */
	uint64_t zip_size, zip_at;
	bool is_zip, has_ended; /* the source */
	uint8_t block[BLOCK];
};

int archive_prepare(void)
{
	mbstate_t state = { 0 };
	wchar_t c;

	if (setenv("TZ", "UTC0", 1) || !setlocale(LC_CTYPE, "C.UTF-8"))
		return -ENOENT;
	tzset();
	/* what converts is loaded by its first use */
	return mbrtowc(&c, "\xc3\xa9", 2, &state) == 2 ? 0 : -EILSEQ;
}

static int fail(archive_in *in, int32_t code, const char *message)
{
	return copy_fail(in->failure, code, 0, "archive", message);
}

/* In libarchive's words, unless somebody knew better. */
static int damaged(archive_in *in, struct archive *a)
{
	const char *text = archive_error_string(a);

	if (in->failure->code)
		return -1;
	if (archive_errno(a) == ENOMEM)
		return fail(in, AGENTBOX_ELIMIT,
			    "it takes more memory than it may");
	return fail(in, AGENTBOX_EPARSE, text ? text : "it is damaged");
}

/* --- bytes ---------------------------------------------------------------- */

/* Up to BLOCK bytes of the source into the block; -1 with the failure. */
static ssize_t read_source(archive_in *in)
{
	ssize_t n = in->has_ended ? 0 : in->source.read(in->source.data,
							in->block, BLOCK);

	if (n < 0)
		return copy_fail(in->failure, AGENTBOX_ESYS, (int)-n,
				 "archive", "cannot read the archive");
	in->has_ended = n == 0;
	in->raw += (uint64_t)n;
	return n;
}

static ssize_t give_raw(archive_in *in, const void **p)
{
	ssize_t n = (ssize_t)in->first;

	in->first = 0;
	*p = in->block;
	return n ? n : read_source(in);
}

static la_ssize_t give_packed(struct archive *a, void *data, const void **p)
{
	ssize_t n = give_raw(data, p);

	if (n < 0)
		archive_set_error(a, EIO, "cannot read the archive");
	return n;
}

static bool is_out_of_proportion(const archive_in *in)
{
	uint64_t made = in->is_zip ? in->out : in->packed ? in->tar : 0;

	return made > RATIO_FROM && made / RATIO > in->raw;
}

static int check_proportion(archive_in *in)
{
	return is_out_of_proportion(in)
		       ? fail(in, AGENTBOX_ELIMIT,
			      "it holds over a hundred times its size")
		       : 0;
}

static void count_tar(archive_in *in, const uint8_t *p, size_t n)
{
	size_t zeros = 0;

	while (zeros < n && p[n - 1 - zeros] == 0)
		zeros++;
	in->zeros = zeros == n ? in->zeros + n : zeros;
	in->tar += n;
}

/* The next bytes of the tar; 0 at its end, -1 with the failure. */
static ssize_t next_of_tar(archive_in *in, const void **p)
{
	int64_t offset;
	size_t n = 0;
	int r;

	if (!in->packed) {
		ssize_t got = give_raw(in, p);

		n = got > 0 ? (size_t)got : 0;
		if (got < 0)
			return -1;
	} else {
		do {
			r = archive_read_data_block(in->packed, p, &n,
						    &offset);
		} while (r == ARCHIVE_OK && n == 0);
		if (r == ARCHIVE_EOF)
			n = 0;
		else if (r != ARCHIVE_OK)
			return damaged(in, in->packed);
	}
	count_tar(in, *p, n);
	return check_proportion(in) ? -1 : (ssize_t)n;
}

static la_ssize_t give_tar(struct archive *a, void *data, const void **p)
{
	ssize_t n = next_of_tar(data, p);

	if (n < 0)
		archive_set_error(a, EIO, "cannot read the archive");
	return n;
}

/* --- tar ------------------------------------------------------------------ */

enum packing { PLAIN, GZIP, ZSTD, ZIP };

static enum packing packing_of(const uint8_t *p, size_t n)
{
	if (n >= 2 && memcmp(p, "\x1f\x8b", 2) == 0)
		return GZIP;
	if (n >= 4 && memcmp(p, "\x28\xb5\x2f\xfd", 4) == 0)
		return ZSTD;
	if (n >= 4 && (memcmp(p, "PK\3\4", 4) == 0 ||
		       memcmp(p, "PK\5\6", 4) == 0))
		return ZIP;
	return PLAIN;
}

static int open_packed(archive_in *in, enum packing packing)
{
	struct archive *a = in->packed = archive_read_new();
	struct archive_entry *e;

	if (!a)
		return fail(in, AGENTBOX_ENOMEM, "out of memory");
	/* a warning would be: by a program of another name */
	if ((packing == GZIP ? archive_read_support_filter_gzip(a)
			     : archive_read_support_filter_zstd(a)) !=
		    ARCHIVE_OK ||
	    archive_read_support_format_raw(a) != ARCHIVE_OK)
		return fail(in, AGENTBOX_EUNSUPPORTED,
			    "libarchive here cannot decompress it");
	if (archive_read_open2(a, in, NULL, give_packed, NULL, NULL) !=
		    ARCHIVE_OK ||
	    archive_read_next_header(a, &e) != ARCHIVE_OK)
		return damaged(in, a);
	/* the filter, and the source below it */
	return archive_filter_count(a) == 2
		       ? 0
		       : fail(in, AGENTBOX_EPARSE, "it is compressed twice");
}

static int open_tar(archive_in *in, enum packing packing)
{
	if (packing != PLAIN && open_packed(in, packing))
		return -1;
	in->archive = archive_read_new();
	if (!in->archive ||
	    archive_read_support_format_tar(in->archive) != ARCHIVE_OK)
		return fail(in, AGENTBOX_ENOMEM, "out of memory");
	return archive_read_open2(in->archive, in, NULL, give_tar, NULL,
				  NULL) == ARCHIVE_OK
		       ? 0
		       : damaged(in, in->archive);
}

/* Nothing but the zeros that fill a record may follow its end. */
static int end_tar(archive_in *in)
{
	uint64_t end = (uint64_t)archive_filter_bytes(in->archive, 0);
	const void *p;
	ssize_t n;

	if (end - in->after < TAR_BLOCK)
		return fail(in, AGENTBOX_EPARSE, "it is cut off: it lacks the "
						 "end of a tar");
	while ((n = next_of_tar(in, &p)) > 0)
		;
	if (n < 0)
		return -1;
	if (in->tar - end > in->zeros)
		return fail(in, AGENTBOX_EPARSE, "more follows its end");
	if (!in->packed)
		return 0;
	while ((n = read_source(in)) > 0)
		;
	if (n < 0)
		return -1;
	return (uint64_t)archive_filter_bytes(in->packed, -1) == in->raw
		       ? 0
		       : fail(in, AGENTBOX_EPARSE, "more follows its end");
}

/* --- zip ------------------------------------------------------------------ */

static la_ssize_t give_zip(struct archive *a, void *data, const void **p)
{
	archive_in *in = data;
	ssize_t n = pread(in->source.spool_fd, in->block, BLOCK,
			  (off_t)in->zip_at);

	if (n < 0) {
		archive_set_error(a, errno, "cannot read the archive");
		return -1;
	}
	in->zip_at += (uint64_t)n;
	*p = in->block;
	return n;
}

static la_int64_t seek_zip(struct archive *a, void *data, la_int64_t offset,
			   int whence)
{
	archive_in *in = data;
	int64_t base = whence == SEEK_CUR   ? (int64_t)in->zip_at
		       : whence == SEEK_END ? (int64_t)in->zip_size
					    : 0;
	int64_t at;

	if (__builtin_add_overflow(base, offset, &at) || at < 0 ||
	    (uint64_t)at > in->zip_size) {
		archive_set_error(a, EINVAL, "it points out of itself");
		return ARCHIVE_FATAL;
	}
	in->zip_at = (uint64_t)at;
	return at;
}

static la_int64_t skip_zip(struct archive *a, void *data, la_int64_t n)
{
	archive_in *in = data;
	uint64_t left = in->zip_size - in->zip_at;

	(void)a;
	if (n < 0)
		return 0;
	if ((uint64_t)n > left)
		n = (la_int64_t)left;
	in->zip_at += (uint64_t)n;
	return n;
}

static int spool(archive_in *in)
{
	const void *p;
	ssize_t n;

	while ((n = give_raw(in, &p)) > 0) {
		int r;

		if (in->raw > in->source.max_spool)
			return fail(in, AGENTBOX_ELIMIT,
				    "max_bytes: a zip of more than may be "
				    "copied");
		r = ab_fd_write_full(in->source.spool_fd, p, (size_t)n);
		if (r)
			return copy_fail(in->failure, AGENTBOX_ESYS, -r,
					 "archive", "cannot keep the zip");
	}
	in->zip_size = in->raw;
	return n < 0 ? -1 : 0;
}

/* Does it end with its directory's end? What follows is no comment of it. */
static int check_zip_end(archive_in *in)
{
	size_t n = in->zip_size < ZIP_END_MAX ? (size_t)in->zip_size
					      : ZIP_END_MAX;
	uint8_t *p = in->block;

	_Static_assert(BLOCK >= ZIP_END_MAX, "the end fits into a block");
	if (n < ZIP_END_SIZE ||
	    pread(in->source.spool_fd, p, n, (off_t)(in->zip_size - n)) !=
		    (ssize_t)n)
		return fail(in, AGENTBOX_EPARSE, "it is cut off");
	for (size_t at = n - ZIP_END_SIZE + 1; at-- > 0;) {
		size_t comment = p[at + 20] | (size_t)p[at + 21] << 8;

		if (memcmp(p + at, "PK\5\6", 4) == 0 &&
		    at + ZIP_END_SIZE + comment == n)
			return 0;
	}
	return fail(in, AGENTBOX_EPARSE,
		    "it is cut off, or more follows its end");
}

static int open_zip(archive_in *in)
{
	struct archive *a;

	if (spool(in) || check_zip_end(in))
		return -1;
	in->is_zip = true;
	a = in->archive = archive_read_new();
	if (!a || archive_read_support_format_zip_seekable(a) != ARCHIVE_OK)
		return fail(in, AGENTBOX_ENOMEM, "out of memory");
	archive_read_set_read_callback(a, give_zip);
	archive_read_set_seek_callback(a, seek_zip);
	archive_read_set_skip_callback(a, skip_zip);
	archive_read_set_callback_data(a, in);
	return archive_read_open1(a) == ARCHIVE_OK ? 0 : damaged(in, a);
}

/* --- the whole ------------------------------------------------------------ */

/* Enough to tell what it is. */
static int read_first(archive_in *in)
{
	while (in->first < 4) {
		ssize_t n = in->source.read(in->source.data,
					    in->block + in->first,
					    BLOCK - in->first);

		if (n < 0)
			return copy_fail(in->failure, AGENTBOX_ESYS, (int)-n,
					 "archive", "cannot read the archive");
		if (n == 0)
			return fail(in, AGENTBOX_EPARSE, "it is no archive");
		in->first += (size_t)n;
	}
	in->raw = in->first;
	return 0;
}

static int open_any(archive_in *in)
{
	enum packing packing;

	if (read_first(in))
		return -1;
	packing = packing_of(in->block, in->first);
	return packing == ZIP ? open_zip(in) : open_tar(in, packing);
}

archive_in *archive_in_new(const archive_source *source,
			   copy_failure *failure)
{
	archive_in *in = ab_new(archive_in);

	memset(failure, 0, sizeof(*failure));
	if (!in) {
		(void)copy_fail(failure, AGENTBOX_ENOMEM, 0, "archive",
				"out of memory");
		return NULL;
	}
	in->source = *source;
	in->failure = failure;
	if (open_any(in)) {
		archive_in_free(in);
		return NULL;
	}
	return in;
}

void archive_in_free(archive_in *in)
{
	if (!in)
		return;
	if (in->archive)
		(void)archive_read_free(in->archive);
	if (in->packed)
		(void)archive_read_free(in->packed);
	free(in);
}

static enum archive_kind kind_of(struct archive_entry *e)
{
	if (archive_entry_hardlink(e))
		return ARCHIVE_HARD;
	switch (archive_entry_filetype(e)) {
	case AE_IFREG:
		return ARCHIVE_FILE;
	case AE_IFDIR:
		return ARCHIVE_DIR;
	case AE_IFLNK:
		return ARCHIVE_SYMLINK;
	default:
		return ARCHIVE_SPECIAL;
	}
}

static int64_t mtime_of(struct archive_entry *e)
{
	int64_t s = archive_entry_mtime_is_set(e) ? archive_entry_mtime(e) : 0;
	long ns = s ? archive_entry_mtime_nsec(e) : 0;

	if (s > SECONDS_MAX || s < -SECONDS_MAX)
		s = s < 0 ? -SECONDS_MAX : SECONDS_MAX;
	return s * NS + (ns < 0 || ns >= NS ? 0 : ns);
}

static int take_entry(archive_in *in, struct archive_entry *e,
		      archive_in_entry *out)
{
	int64_t size = archive_entry_size(e);

	if (archive_entry_is_encrypted(e))
		return fail(in, AGENTBOX_EUNSUPPORTED, "it is encrypted");
	*out = (archive_in_entry){
		.kind = kind_of(e),
		.path = archive_entry_pathname(e),
		.target = archive_entry_hardlink(e),
		.is_exec = archive_entry_perm(e) & 0111,
		.mtime_ns = mtime_of(e),
	};
	if (!out->path || size < 0)
		return fail(in, AGENTBOX_EPARSE,
			    "a name or a size cannot be read");
	out->size = (uint64_t)size;
	return 1;
}

int archive_in_next(archive_in *in, archive_in_entry *entry)
{
	struct archive_entry *e;
	int r = archive_read_next_header(in->archive, &e);

	if (r == ARCHIVE_EOF)
		return in->is_zip ? 0 : end_tar(in);
	/* a warning: something of it that nobody here asks for */
	if (r == ARCHIVE_OK || r == ARCHIVE_WARN)
		return check_proportion(in) ? -1 : take_entry(in, e, entry);
	if (archive_read_has_encrypted_entries(in->archive) > 0)
		return fail(in, AGENTBOX_EUNSUPPORTED, "it is encrypted");
	return damaged(in, in->archive);
}

int archive_in_data(archive_in *in, const void **p, size_t *n,
		    uint64_t *offset)
{
	int64_t at = 0;
	int r = archive_read_data_block(in->archive, p, n, &at);

	if (r == ARCHIVE_EOF) {
		in->after = (uint64_t)archive_filter_bytes(in->archive, 0);
		return 0;
	}
	if (r != ARCHIVE_OK)
		return damaged(in, in->archive);
	if (at < 0)
		return fail(in, AGENTBOX_EPARSE, "a hole of no size");
	*offset = (uint64_t)at;
	in->out += *n;
	return check_proportion(in) ? -1 : 1;
}

/* --- names ---------------------------------------------------------------- */

enum archive_path archive_path(const char *raw, char out[AB_MAX_PATH + 1],
			       size_t *n)
{
	size_t len, begin = 0;
	bool is_below = false;

	*n = 0;
	out[0] = 0;
	while (raw[0] == '.' && raw[1] == '/') {
		raw += 2;
		is_below = true;
	}
	len = strlen(raw);
	while (len > 1 && raw[len - 1] == '/')
		len--;
	if (len == 1 && raw[0] == '.')
		return ARCHIVE_PATH_ROOT;
	if (len == 0)
		return is_below ? ARCHIVE_PATH_ROOT : ARCHIVE_PATH_BAD;
	if (len > AB_MAX_PATH)
		return ARCHIVE_PATH_LONG;
	for (size_t i = 0; i <= len; i++) {
		if (i < len && raw[i] != '/')
			continue;
		if (i - begin > AB_MAX_NAME)
			return ARCHIVE_PATH_LONG;
		if (!copy_is_name(raw + begin, i - begin))
			return ARCHIVE_PATH_BAD;
		begin = i + 1;
	}
	memcpy(out, raw, len);
	out[len] = 0;
	*n = len;
	return ARCHIVE_PATH_GOOD;
}
