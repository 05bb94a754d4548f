/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The record of a snapshot. Reading refuses what does not carry its own
 * checksum, and looks at every bound all the same. Spec: record.h.
 */
#include "config.h"

#include "snapshot/record.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fd.h"

#define MAGIC UINT64_C(0x01726f6378626741) /* says the byte order too */
#define RECORD_VERSION 4u
#define BUFFER_SIZE (256u << 10)

_Static_assert(sizeof(ab_record_head) % 8 == 0 &&
		       sizeof(ab_record_entry) % 8 == 0 &&
		       sizeof(ab_record_git) % 8 == 0 &&
		       sizeof(ab_record_tail) % 8 == 0,
	       "no padding at the end of any part");

static size_t padded(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static void flush(ab_record_out *out)
{
	if (!out->error)
		out->error = ab_fd_write_full(out->fd, out->buffer, out->len);
	out->len = 0;
}

static void put_raw(ab_record_out *out, const void *p, size_t n)
{
	const uint8_t *from = p;

	while (n) {
		size_t room = BUFFER_SIZE - out->len;
		size_t some = n < room ? n : room;

		memcpy(out->buffer + out->len, from, some);
		out->len += some;
		from += some;
		n -= some;
		if (out->len == BUFFER_SIZE) {
			ab_sha256_add(&out->sum, out->buffer, out->len);
			flush(out);
		}
	}
}

static void put(ab_record_out *out, const void *p, size_t n)
{
	static const uint8_t zeros[8];

	put_raw(out, p, n);
	put_raw(out, zeros, padded(n) - n);
}

int ab_record_begin(ab_record_out *out, int fd, ab_sha256_fn fn,
		    ab_record_head *head, const char *source_name,
		    const void *choice, size_t choice_len)
{
	memset(out, 0, sizeof(*out));
	out->fd = fd;
	out->buffer = ab_calloc(BUFFER_SIZE, 1);
	if (!out->buffer)
		return -ENOMEM;
	ab_sha256_begin(&out->sum, fn);
	head->magic = MAGIC;
	head->version = RECORD_VERSION;
	head->source_name_len = (uint32_t)strnlen(source_name, AB_MAX_PATH);
	head->choice_len = choice_len;
	put(out, head, sizeof(*head));
	put(out, source_name, head->source_name_len);
	put(out, choice, choice_len);
	return 0;
}

void ab_record_add(ab_record_out *out, const ab_record_entry *entry,
		   const char *path)
{
	put(out, entry, sizeof(*entry));
	put(out, path, entry->path_len);
	out->entries++;
}

int ab_record_finish(ab_record_out *out, const void *report, size_t n,
		     ab_record_tail *tail)
{
	int r;

	tail->entries = out->entries;
	tail->report_len = n;
	put(out, report, n);
	put(out, tail, offsetof(ab_record_tail, checksum));
	ab_sha256_add(&out->sum, out->buffer, out->len);
	flush(out);
	ab_sha256_end(&out->sum, tail->checksum);
	memcpy(out->buffer, tail->checksum, sizeof(tail->checksum));
	out->len = sizeof(tail->checksum);
	flush(out);
	r = out->error;
	ab_record_drop(out);
	return r;
}

void ab_record_drop(ab_record_out *out)
{
	free(out->buffer);
	memset(out, 0, sizeof(*out));
}

static bool is_whole(const void *p, size_t n, ab_sha256_fn fn)
{
	uint8_t sum[AB_SHA256_SIZE];

	fn(p, n - sizeof(sum), sum);
	return memcmp((const uint8_t *)p + n - sizeof(sum), sum,
		      sizeof(sum)) == 0;
}

int ab_record_open(ab_record *record, const void *p, size_t n,
		   ab_sha256_fn fn)
{
	const size_t least = sizeof(ab_record_head) + sizeof(ab_record_tail);
	size_t report;

	memset(record, 0, sizeof(*record));
	record->p = p;
	if (n < least || n % 8)
		return -EPROTO;
	memcpy(&record->head, p, sizeof(record->head));
	if (record->head.magic != MAGIC)
		return -EPROTO;
	if (record->head.version != RECORD_VERSION)
		return -ESTALE;
	if (!is_whole(p, n, fn))
		return -EPROTO;
	memcpy(&record->tail, record->p + n - sizeof(record->tail),
	       sizeof(record->tail));
	n -= least;
	if (record->head.source_name_len > AB_MAX_PATH ||
	    padded(record->head.source_name_len) > n)
		return -EPROTO;
	n -= padded(record->head.source_name_len);
	if (record->head.choice_len > AB_RECORD_CHOICE_MAX ||
	    padded((size_t)record->head.choice_len) > n)
		return -EPROTO;
	n -= padded((size_t)record->head.choice_len);
	if (record->tail.report_len > n)
		return -EPROTO;
	report = padded((size_t)record->tail.report_len);
	if (report > n)
		return -EPROTO;
	record->source_name = (const char *)record->p + sizeof(record->head);
	record->choice = record->source_name +
			 padded(record->head.source_name_len);
	record->first = sizeof(record->head) +
			padded(record->head.source_name_len) +
			padded((size_t)record->head.choice_len);
	record->end = record->first + n - report;
	record->report = (const char *)record->p + record->end;
	if (record->tail.entries >
	    (record->end - record->first) / sizeof(ab_record_entry))
		return -EPROTO;
	return 0;
}

int ab_record_order(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	if (order == 0)
		return (a_len > b_len) - (a_len < b_len);
	return order < 0 ? -1 : 1;
}

int ab_record_next(const ab_record *record, ab_record_cursor *c,
		   ab_record_entry *entry, const char **path)
{
	size_t pos = c->pos ? c->pos : record->first;
	size_t left = record->end - pos;

	if (!left)
		return c->entries == record->tail.entries ? 0 : -EPROTO;
	if (left < sizeof(*entry))
		return -EPROTO;
	memcpy(entry, record->p + pos, sizeof(*entry));
	pos += sizeof(*entry);
	left -= sizeof(*entry);
	if (!entry->path_len || entry->path_len > AB_MAX_PATH ||
	    padded(entry->path_len) > left)
		return -EPROTO;
	*path = (const char *)record->p + pos;
	if (c->last && ab_record_order(c->last, c->last_len, *path,
				       entry->path_len) >= 0)
		return -EPROTO;
	c->last = *path;
	c->last_len = entry->path_len;
	c->entries++;
	c->pos = pos + padded(entry->path_len);
	return 1;
}
