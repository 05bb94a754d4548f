/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The manifest reader on hostile bytes: what it takes, written again, is the
 * same bytes; and the record reader on the same bytes, with and without a
 * checksum that fits, which must stay inside them.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "snapshot/manifest.h"
#include "snapshot/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_manifest(const char *p, size_t n)
{
	ab_manifest_reader *r = malloc(sizeof(*r));
	ab_line *line = malloc(sizeof(*line));
	ab_manifest_entry e;
	size_t at;

	if (!r || !line)
		abort();
	if (ab_manifest_open(r, p, n) == 0) {
		int more;

		ab_manifest_put_head(line, &r->head);
		if (memcmp(line->text, p, line->len) != 0)
			abort();
		at = line->len;
		while ((more = ab_manifest_next(r, &e)) == 1) {
			if (!ab_manifest_is_path(e.path, e.path_len))
				abort();
			ab_manifest_put(line, &e);
			if (memcmp(line->text, p + at, line->len) != 0)
				abort();
			at += line->len;
		}
		if (more == 0 && at != n)
			abort();
	}
	free(line);
	free(r);
}

static void read_record(const uint8_t *p, size_t n)
{
	ab_record record;
	ab_record_cursor cursor = { 0 };
	ab_record_entry entry;
	const char *path;
	unsigned sum = 0;

	if (ab_record_open(&record, p, n, ab_sha256_portable))
		return;
	while (ab_record_next(&record, &cursor, &entry, &path) == 1) {
		for (size_t i = 0; i < entry.path_len; i++)
			sum += (unsigned char)path[i];
	}
	for (size_t i = 0; i < record.tail.report_len; i++)
		sum += (unsigned char)record.report[i];
	if (sum == 1)
		abort(); /* so that the reads stay */
}

/* The same bytes as a record that is whole. */
static void read_whole_record(const uint8_t *data, size_t size)
{
	ab_record_head head = { 0 };
	uint8_t *p = calloc(1, sizeof(head) + size + AB_SHA256_SIZE);
	size_t n = sizeof(head) + size / 8 * 8;

	if (!p)
		abort();
	head.magic = UINT64_C(0x01726f6378626741);
	head.version = 1;
	head.source_name_len = size ? data[0] : 0;
	memcpy(p, &head, sizeof(head));
	memcpy(p + sizeof(head), data, size / 8 * 8);
	ab_sha256(p, n, p + n);
	read_record(p, n + AB_SHA256_SIZE);
	free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_manifest((const char *)data, size);
	read_record(data, size);
	read_whole_record(data, size);
	return 0;
}
