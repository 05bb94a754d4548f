/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The chain over a sink: opening, appending, heads, syncing, closing. The
 * caller holds the handle's lock. Housekeeping that can fail (a due head, the
 * end of a denial window, rotation, reserving room) comes before the record,
 * so that a failure means that nothing was recorded. Refuses to go on after
 * a write or sync whose outcome is unknown. Spec: agentbox-audit(5).
 */
#include "config.h"

#include "audit/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/fd.h"

#define NS_PER_S 1000000000ull
/* 2026-01-31T12:00:00.000000Z */
#define MICROSECONDS 20
#define HEAD_ROOM 2048u

static bool syncs(const agentbox_audit *a)
{
	return a->sync_mode != AGENTBOX_AUDIT_SYNC_NEVER;
}

/*
 * The same second as the last record: only the microseconds differ, and a
 * division is a tenth of the price of the calendar.
 */
static void format_time(agentbox_audit *a, uint64_t now)
{
	uint64_t us = now / 1000 % 1000000;

	if (!a->timestamp[0] || now / NS_PER_S != a->last_real_ns / NS_PER_S) {
		ab_clock_format(now, a->timestamp);
		return;
	}
	for (size_t i = 0; i < 6; i++, us /= 10)
		a->timestamp[MICROSECONDS + 5 - i] = (char)('0' + us % 10);
}

/* The next record's frame, built into a->line. */
static int32_t build(agentbox_audit *a, const char *type, const json_t *fields,
		     const json_t *log, const json_t *repeat, size_t *n,
		     agentbox_error **err)
{
	uint64_t now = a->real_ns();
	ab_audit_stamp stamp = { .seq = a->seq + 1,
				 .prev = a->prev,
				 .timestamp = a->timestamp,
				 .mono_ns = ab_clock_mono_ns(),
				 .type = type,
				 .log = log,
				 .repeat = repeat };

	format_time(a, now);
	/* also after a failure: the text above is of this time */
	a->last_real_ns = now;
	stamp.is_clock_backwards = strcmp(a->timestamp, a->written) < 0;
	return ab_audit_build(&stamp, fields, &a->secrets, a->scratch, a->line,
			      n, err);
}

/* a->line is in the sink: the chain has moved. */
static void moved(agentbox_audit *a, size_t n)
{
	uint8_t hash[AB_SHA256_SIZE];

	a->hash_fn(a->line, n - 1, hash);
	ab_hex(hash, sizeof(hash), a->prev);
	memcpy(a->written, a->timestamp, sizeof(a->written));
	a->seq++;
	a->since_head++;
	if (!a->unsynced_ns)
		a->unsynced_ns = a->boot_ns();
}

int32_t ab_audit_log_own(agentbox_audit *a, const char *type, json_t *log,
			 agentbox_error **err)
{
	size_t n = 0;
	int32_t rc;

	if (!log)
		return ab_error_nomem(err);
	rc = build(a, type, NULL, log, NULL, &n, err);
	if (rc == 0)
		rc = ab_audit_sink_write(&a->sink, a->line, n, err);
	if (rc == 0)
		moved(a, n);
	json_decref(log);
	return rc;
}

int32_t ab_audit_log_sync(agentbox_audit *a, agentbox_error **err)
{
	int32_t rc = 0;

	if (a->unsynced_ns && syncs(a))
		rc = ab_audit_sink_sync(&a->sink, err);
	if (rc == 0)
		a->unsynced_ns = 0;
	return rc;
}

int32_t ab_audit_log_anchor(agentbox_audit *a, agentbox_bytes **out,
			    agentbox_error **err)
{
	agentbox_bytes *b = ab_bytes_new(1024);

	if (!b)
		return ab_error_nomem(err);
	ab_bytes_appendf(b,
			 "{\"agentbox_audit_anchor\":1,\"chain\":\"%s\","
			 "\"count\":%llu,\"head\":\"%s\",\"key\":\"%s\"}",
			 a->chain, (unsigned long long)a->seq, a->prev,
			 a->key.hex);
	if (!ab_bytes_ok(b)) {
		agentbox_bytes_free(b);
		return ab_error_nomem(err);
	}
	*out = b;
	return 0;
}

static int32_t save_anchor(agentbox_audit *a, agentbox_error **err)
{
	ab_auto(agentbox_bytes) *b = NULL;
	int32_t rc;
	size_t n;

	if (a->anchor_fd < 0)
		return 0;
	rc = ab_audit_log_anchor(a, &b, err);
	if (rc == 0 && !ab_bytes_append_char(b, '\n'))
		rc = ab_error_nomem(err);
	if (rc != 0)
		return rc;
	n = agentbox_bytes_get_size(b);
	if (pwrite(a->anchor_fd, agentbox_bytes_get_data(b), n, 0) !=
		    (ssize_t)n ||
	    ftruncate(a->anchor_fd, (off_t)n) != 0 ||
	    (syncs(a) && fdatasync(a->anchor_fd) != 0))
		return ab_error_sys(err, errno, "",
				    "cannot write the anchor file");
	return 0;
}

static json_t *head_log(const agentbox_audit *a, const char *next,
			const char *reason)
{
	char zeros[2 * AB_AUDIT_SIG_SIZE + 1];

	memset(zeros, '0', sizeof(zeros) - 1);
	zeros[sizeof(zeros) - 1] = '\0';
	return json_pack("{s:s,s:s,s:s,s:s,s:s}", "chain", a->chain, "key",
			 a->key.hex, "next", next, "reason", reason, "sig",
			 zeros);
}

int32_t ab_audit_log_head(agentbox_audit *a, const char *reason,
			  agentbox_error **err)
{
	char next[AB_AUDIT_KEY_HEX];
	json_t *log;
	size_t n = 0;
	int32_t rc = ab_audit_key_next(&a->key, next, err);

	if (rc != 0)
		return rc;
	log = head_log(a, next, reason);
	if (!log)
		return ab_error_nomem(err);
	rc = build(a, "audit.head", NULL, log, NULL, &n, err);
	json_decref(log);
	if (rc == 0)
		rc = ab_audit_key_sign(&a->key, a->line, n - 1, err);
	if (rc == 0)
		rc = ab_audit_sink_write(&a->sink, a->line, n, err);
	if (rc != 0)
		return rc;
	moved(a, n);
	a->since_head = 0;
	a->head_boot_ns = a->boot_ns();
	/* the head must last before the key that signed it is gone */
	rc = ab_audit_log_sync(a, err);
	if (rc == 0)
		rc = ab_audit_key_advance(&a->key, syncs(a), err);
	if (rc != 0) {
		a->sink.is_broken = true;
		return rc;
	}
	return save_anchor(a, err);
}

/* The one record that still fits a full disk. */
static int32_t note_full(agentbox_audit *a, agentbox_error **err)
{
	ab_auto(agentbox_error) *first = NULL;
	int32_t rc = ab_audit_sink_reserve(&a->sink, AB_AUDIT_MAX_LINE, &first);

	if (rc == 0) {
		a->is_disk_full = false;
		return 0;
	}
	if (!a->is_disk_full) {
		a->is_disk_full = true;
		/* best effort: the append below it is refused either way */
		if (ab_audit_log_own(a, "audit.full", json_object(), NULL) == 0)
			(void)ab_audit_log_sync(a, NULL);
	}
	return ab_error_move(err, &first);
}

static int32_t write_repeat(agentbox_audit *a, ab_audit_bucket *b,
			    agentbox_error **err)
{
	json_t *repeat = NULL;
	size_t n = 0;
	int32_t rc = 0;

	if (b->held) {
		repeat = json_pack("{s:I,s:s,s:s}", "count",
				   (json_int_t)b->held, "first", b->first,
				   "last", b->last);
		rc = repeat ? build(a, b->type, b->fields, NULL, repeat, &n,
				    err) :
			      ab_error_nomem(err);
		json_decref(repeat);
		if (rc == 0)
			rc = ab_audit_sink_write(&a->sink, a->line, n, err);
		if (rc != 0)
			return rc;
		moved(a, n);
	}
	ab_audit_flood_drop(&a->flood, b);
	return 0;
}

static bool head_is_due(const agentbox_audit *a, uint64_t now)
{
	if (!a->since_head)
		return false;
	if (a->head_records && a->since_head >= a->head_records)
		return true;
	return a->head_ns && now - a->head_boot_ns >= a->head_ns;
}

static bool sync_is_due(const agentbox_audit *a, uint64_t now)
{
	if (!a->unsynced_ns)
		return false;
	if (a->sync_mode == AGENTBOX_AUDIT_SYNC_RECORD)
		return true;
	return a->sync_mode == AGENTBOX_AUDIT_SYNC_BATCH &&
	       now - a->unsynced_ns >= a->sync_ns;
}

/* Ends of windows (all: every one), and a head that is due. */
int32_t ab_audit_log_flush(agentbox_audit *a, bool all, agentbox_error **err)
{
	uint64_t now = a->boot_ns();
	ab_audit_bucket *b;
	int32_t rc = 0;

	while (rc == 0 &&
	       (b = ab_audit_flood_expired(&a->flood, now, all)) != NULL) {
		if (b->held)
			rc = note_full(a, err);
		if (rc == 0)
			rc = write_repeat(a, b, err);
	}
	if (rc == 0 && head_is_due(a, now))
		rc = ab_audit_log_head(a, "interval", err);
	if (rc == 0 && (all || sync_is_due(a, now)))
		rc = ab_audit_log_sync(a, err);
	return rc;
}

/* 1: counted and not written. 0: write it; *bucket then counts it. */
static int32_t hold_denial(agentbox_audit *a, const char *type,
			   const json_t *fields, ab_audit_bucket **bucket,
			   agentbox_error **err)
{
	char timestamp[AB_TIMESTAMP_SIZE];
	ab_audit_bucket *oldest = NULL;
	uint64_t now = a->boot_ns();
	int32_t rc;

	*bucket = ab_audit_flood_find(&a->flood, type, fields, now, &oldest);
	if (oldest) {
		rc = write_repeat(a, oldest, err);
		if (rc != 0)
			return rc;
		*bucket = ab_audit_flood_find(&a->flood, type, fields, now,
					      &oldest);
	}
	if (!*bucket || (*bucket)->seen < a->flood.burst)
		return 0;
	ab_clock_format(a->real_ns(), timestamp);
	if (ab_audit_flood_hold(*bucket, type, fields, timestamp) != 0)
		return ab_error_nomem(err);
	return 1;
}

static bool passes_file(const agentbox_audit *a, size_t n)
{
	return a->max_bytes && a->sink.kind == AB_AUDIT_SINK_PATH &&
	       a->sink.size + n + HEAD_ROOM > a->max_bytes;
}

int32_t ab_audit_log_append(agentbox_audit *a, const char *type,
			    const json_t *fields, agentbox_error **err)
{
	ab_audit_bucket *bucket = NULL;
	size_t n = 0;
	int32_t rc = ab_audit_log_flush(a, false, err);

	if (rc == 0)
		rc = note_full(a, err);
	if (rc == 0 && ab_audit_flood_applies(&a->flood, fields)) {
		rc = hold_denial(a, type, fields, &bucket, err);
		if (rc == 1)
			return 0;
	}
	if (rc == 0)
		rc = build(a, type, fields, NULL, NULL, &n, err);
	if (rc == 0 && passes_file(a, n)) {
		rc = ab_audit_log_rotate(a, err);
		if (rc == 0)
			rc = build(a, type, fields, NULL, NULL, &n, err);
	}
	if (rc == 0)
		rc = ab_audit_sink_write(&a->sink, a->line, n, err);
	if (rc != 0)
		return rc;
	moved(a, n);
	if (bucket)
		bucket->seen++;
	return sync_is_due(a, a->boot_ns()) ? ab_audit_log_sync(a, err) : 0;
}

/* The key file holds the key that the log expects, or the one before it. */
static int32_t match_key(agentbox_audit *a, const char *expected,
			 agentbox_error **err)
{
	char next[AB_AUDIT_KEY_HEX];
	int32_t rc;

	if (strcmp(a->key.hex, expected) == 0 || !a->key_path)
		return 0;
	rc = ab_audit_key_next(&a->key, next, err);
	if (rc != 0)
		return rc;
	/* a crash came between the head and the new key */
	if (strcmp(next, expected) == 0)
		return ab_audit_key_advance(&a->key, syncs(a), err);
	return ab_error_set(err, AGENTBOX_ETAMPERED, "",
			    "key file '%s' does not continue this log: one "
			    "of them is older or another's",
			    a->key_path);
}

static int32_t begin_new(agentbox_audit *a, agentbox_error **err)
{
	bool was_used = a->key_path && a->key.count > 0;

	if (was_used && a->sink.is_regular)
		return ab_error_set(err, AGENTBOX_ETAMPERED, "",
				    "the log is empty but key file '%s' has "
				    "signed one; remove the key file to begin "
				    "a new log",
				    a->key_path);
	if (ab_id_new(a->chain) != 0)
		return ab_error_set(err, AGENTBOX_ESYS, "",
				    "the kernel gives no randomness");
	a->seq = 0;
	memset(a->prev, '0', sizeof(a->prev) - 1);
	a->prev[sizeof(a->prev) - 1] = '\0';
	a->written[0] = '\0';
	return 0;
}

static int32_t write_first(agentbox_audit *a, uint64_t torn,
			   const char *digest, agentbox_error **err)
{
	json_t *log;
	int32_t rc = 0;

	/* not before there is room for the record that says so */
	if (torn)
		rc = ab_audit_sink_reserve(&a->sink, AB_AUDIT_MAX_LINE, err);
	if (rc != 0)
		return rc;
	if (torn && ftruncate(a->sink.fd, (off_t)(a->sink.size - torn)) != 0)
		return ab_error_sys(err, errno, "",
				    "cannot cut the torn record off the log");
	a->sink.size -= torn;
	a->sink.reserved = 0; /* it went with what was cut off */
	/* a log that is not begun does not begin with its end */
	rc = a->seq ? note_full(a, err)
		    : ab_audit_sink_reserve(&a->sink, AB_AUDIT_MAX_LINE, err);
	if (rc == 0 && a->seq == 0)
		rc = ab_audit_log_own(a, "audit.start",
				      json_pack("{s:s,s:i,s:s}", "chain",
						a->chain, "format", 1, "key",
						a->key.hex),
				      err);
	else if (rc == 0)
		rc = ab_audit_log_own(a, "audit.open",
				      json_pack("{s:s,s:s}", "chain", a->chain,
						"key", a->key.hex),
				      err);
	if (rc != 0 || !torn)
		return rc;
	log = json_pack("{s:I,s:s}", "torn_bytes", (json_int_t)torn,
			"torn_digest", digest);
	return ab_audit_log_own(a, "audit.reset", log, err);
}

static int32_t open_state(agentbox_audit *a, agentbox_error **err)
{
	char digest[AB_DIGEST_SIZE] = "";
	uint64_t torn = 0;
	int32_t rc = 0;

	a->seq = 0;
	if (a->sink.is_regular && a->sink.size)
		rc = ab_audit_log_resume(a, &torn, digest, err);
	if (rc == 0 && a->seq == 0)
		rc = begin_new(a, err);
	else if (rc == 0)
		rc = match_key(a, a->scratch, err);
	if (rc == 0 && a->anchor_path)
		rc = ab_audit_open_file(a->anchor_path, O_CREAT, &a->anchor_fd,
					&a->is_anchor_made, err);
	if (rc == 0)
		rc = write_first(a, torn, digest, err);
	if (rc == 0)
		rc = ab_audit_log_sync(a, err);
	if (rc == 0 && syncs(a) && a->sink.kind == AB_AUDIT_SINK_PATH)
		rc = ab_audit_sync_dir(a->sink.path, err);
	return rc == 0 ? save_anchor(a, err) : rc;
}

/*
 * What did not come to be leaves no file that was not there before. The key
 * stays: a log that was there may name it by now.
 */
static void unmake(agentbox_audit *a)
{
	if (a->sink.kind == AB_AUDIT_SINK_PATH)
		ab_audit_unmake_file(a->sink.path, a->sink.fd,
				     &a->sink.is_made);
	if (a->anchor_path)
		ab_audit_unmake_file(a->anchor_path, a->anchor_fd,
				     &a->is_anchor_made);
}

int32_t ab_audit_log_open(agentbox_audit *a, agentbox_error **err)
{
	int given = a->sink.kind == AB_AUDIT_SINK_FD ? ab_fd_dup(a->sink.fd) :
						       -1;
	int32_t rc;

	a->hash_fn = ab_sha256_pick();
	a->head_boot_ns = a->boot_ns();
	rc = ab_audit_key_open(&a->key, a->key_path, syncs(a), err);
	if (rc == 0)
		rc = ab_audit_sink_open(&a->sink, err);
	if (rc == 0)
		rc = open_state(a, err);
	if (rc == 0) {
		a->since_head = 0;
		if (given >= 0)
			close(given);
		return 0;
	}
	unmake(a);
	ab_audit_sink_close(&a->sink);
	ab_audit_key_close(&a->key);
	if (a->anchor_fd >= 0)
		close(a->anchor_fd);
	a->anchor_fd = -1;
	/* the fd a caller gave is kept for the next try */
	a->sink.fd = given;
	return rc;
}
