/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The archive reader on hostile bytes, in pieces of a size that they choose:
 * it ends, with a failure that has a code when it fails; a path it calls good
 * is clean; the data of a file comes in order. The first byte says how long
 * the pieces are.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agentbox/base.h"
#include "archives.h"
#include "snapshot/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* More is the business of the plan's limits. */
#define ENOUGH (UINT64_C(64) << 20)
#define ENTRIES_MAX 10000

typedef struct bytes {
	const uint8_t *p;
	size_t n, piece;
} bytes;

static ssize_t give(void *data, void *p, size_t n)
{
	bytes *b = data;

	if (n > b->piece)
		n = b->piece;
	if (n > b->n)
		n = b->n;
	memcpy(p, b->p, n);
	b->p += n;
	b->n -= n;
	return (ssize_t)n;
}

static void check_path(const char *raw)
{
	static char path[AB_MAX_PATH + 1];
	size_t n = 0;

	if (archive_path(raw, path, &n) != ARCHIVE_PATH_GOOD)
		return;
	if (n != strlen(path) || n > AB_MAX_PATH ||
	    !ab_manifest_is_path(path, n))
		abort();
}

static int read_data(archive_in *in, uint64_t *total)
{
	uint64_t offset = 0, end = 0;
	unsigned sum = 0;
	const void *p;
	size_t n = 0;
	int r;

	while ((r = archive_in_data(in, &p, &n, &offset)) == 1) {
		if (offset < end)
			abort();
		end = offset + n;
		*total += n;
		for (size_t i = 0; i < n; i++)
			sum += ((const uint8_t *)p)[i];
		if (*total > ENOUGH)
			return -1;
	}
	return sum == 1 && r == 7 ? 1 : r; /* so that the reads stay */
}

static void read_all(archive_in *in, const copy_failure *failure)
{
	uint64_t total = 0;
	archive_in_entry e;
	int r = 0;

	for (int i = 0; i < ENTRIES_MAX; i++) {
		r = archive_in_next(in, &e);
		if (r != 1)
			break;
		check_path(e.path);
		if ((e.kind == ARCHIVE_HARD) != (e.target != NULL))
			abort();
		if (e.target)
			check_path(e.target);
		r = read_data(in, &total);
		if (r < 0)
			break;
	}
	if (r < 0 && failure->code >= 0 && total <= ENOUGH)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool is_prepared;
	copy_failure failure;
	bytes b = { 0 };
	archive_source source = { .read = give, .data = &b };
	archive_in *in;

	if (!is_prepared && archive_prepare())
		abort();
	is_prepared = true;
	if (size == 0)
		return 0;
	b.p = data + 1;
	b.n = size - 1;
	b.piece = data[0] ? (size_t)data[0] * 16 : (size_t)-1;
	source.spool_fd = memfd_create("spool", MFD_CLOEXEC);
	if (source.spool_fd < 0)
		abort();
	source.max_spool = ENOUGH;
	in = archive_in_new(&source, &failure);
	if (in)
		read_all(in, &failure);
	else if (failure.code >= 0)
		abort();
	archive_in_free(in);
	close(source.spool_fd);
	return 0;
}
