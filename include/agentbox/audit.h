/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The audit log: what was asked, what was decided, by which rule, in an order
 * nobody can change afterwards without it showing.
 *
 * A log is JSON Lines. Each record is one line of canonical JSON written with
 * one write(2); it carries the SHA-256 of the line before it ("prev"), and at
 * intervals, at rotation and at close an "audit.head" record signs everything
 * up to itself with Ed25519. The signing key moves forward at every head: the
 * new public key is named in the signed record, the old secret is wiped, so
 * whoever steals the present key cannot sign the past again. Whoever holds
 * an anchor (count and head) from another place sees a cut tail as well.
 *
 * What this does not do: it does not keep a process that owns the file from
 * destroying it (destruction shows, it is not prevented), and it says nothing
 * about records that were never appended. The format is agentbox-audit(5);
 * its field names are part of the ABI.
 *
 * An audit is made, configured, opened and then shared: after
 * agentbox_audit_open() every function here may be called on it from any
 * thread. Setters return AGENTBOX_EINVAL for a value out of range and
 * AGENTBOX_EBUSY once it is open. In a forked child every function except
 * unref returns AGENTBOX_EFORKED.
 */
#ifndef AGENTBOX_AUDIT_H
#define AGENTBOX_AUDIT_H

#include "agentbox/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* When what was appended is made durable; see agentbox_audit_set_sync(). */
#define AGENTBOX_AUDIT_SYNC_BATCH 0
#define AGENTBOX_AUDIT_SYNC_RECORD 1
#define AGENTBOX_AUDIT_SYNC_NEVER 2

typedef struct agentbox_audit agentbox_audit;

/*
 * Receives one line of n bytes, its newline included, borrowed for the call.
 * It runs on the thread of the call that appended or read the record, with
 * the audit locked: it must not use the same audit (AGENTBOX_EBUSY). Return
 * 0 to go on; anything else refuses the record, and the call fails with
 * AGENTBOX_ECANCELED.
 */
typedef int32_t (*agentbox_audit_line_fn)(void *data, const char *line,
					  size_t n);

/*
 * A new audit, not yet open, with one reference. `context` is kept by
 * reference. Defaults: no sink, batch sync of 100 ms, a head every 10000
 * records and every 60 s, no rotation, no key file, no anchor file, repeated
 * denials counted after 20 of a kind in 1 s.
 * Errors: EINVAL, ENOMEM.
 */
AGENTBOX_API int32_t agentbox_audit_new(agentbox_context *context,
					agentbox_audit **audit,
					agentbox_error **err);

/* Any thread. unref of the last reference closes as agentbox_audit_close(). */
AGENTBOX_API agentbox_audit *agentbox_audit_ref(agentbox_audit *audit);
AGENTBOX_API void agentbox_audit_unref(agentbox_audit *audit);

/*
 * The sink. Exactly one of these four is called before open; a second is
 * AGENTBOX_EINVAL.
 *
 * path: opened O_APPEND, created 0600, refused when it is not a regular file
 *   of the caller or when others may write it (EACCES). Locked with flock(2):
 *   a second writer gets AGENTBOX_EBUSY. An existing log is continued after
 *   its last record is read; a torn last record (a crash) is cut off and
 *   accounted for in an "audit.reset" record. The path is copied.
 * fd: duplicated; the caller keeps its own. A regular file must be O_APPEND
 *   and is treated as above, so it must also be readable unless it is empty;
 *   a pipe or socket starts a new chain. A full one blocks the append. A
 *   pipe without a reader is an error; a reader that goes away during the
 *   write raises SIGPIPE as write(2) does (a socket never does).
 * callback: every line is handed to `fn`; starts a new chain. `data` is
 *   borrowed and must outlive the audit.
 * journal: every line becomes the MESSAGE of one datagram of systemd's native
 *   journal protocol; starts a new chain. `socket_path` NULL means
 *   /run/systemd/journal/socket.
 */
AGENTBOX_API int32_t agentbox_audit_set_path(agentbox_audit *audit,
					     const char *path,
					     agentbox_error **err);
AGENTBOX_API int32_t agentbox_audit_set_fd(agentbox_audit *audit, int32_t fd,
					   agentbox_error **err);
AGENTBOX_API int32_t agentbox_audit_set_callback(agentbox_audit *audit,
						 agentbox_audit_line_fn fn,
						 void *data,
						 agentbox_error **err);
AGENTBOX_API int32_t agentbox_audit_set_journal(agentbox_audit *audit,
						const char *socket_path,
						agentbox_error **err);

/*
 * RECORD: fdatasync(2) before append returns. BATCH: no later than the first
 * append, flush or dispatch that comes `interval_ms` (1 to 60000) after the
 * oldest unsynced record; the library has no thread, so a host that falls
 * silent calls dispatch when get_timeout_ms says so. NEVER: the kernel
 * decides. The chain is the same in all three. Errors: EINVAL.
 */
AGENTBOX_API int32_t agentbox_audit_set_sync(agentbox_audit *audit,
					     int32_t mode,
					     uint32_t interval_ms,
					     agentbox_error **err);

/*
 * Sign a head after `records` records (0: not by count) and `interval_ms`
 * milliseconds (0: not by time) since the last, when records came in
 * between. Close and rotation always sign. Up to 10000000 and 86400000.
 */
AGENTBOX_API int32_t agentbox_audit_set_heads(agentbox_audit *audit,
					      uint32_t records,
					      uint32_t interval_ms,
					      agentbox_error **err);

/*
 * Where the signing key waits between runs: created 0600, refused when
 * others can read it. Only the key of the next head is in it; at each head the
 * new one is written and synced and the old one overwritten. Keep it where
 * no box can reach it. Without a key file each open starts with a new key
 * that no earlier key vouches for. Copied.
 */
AGENTBOX_API int32_t agentbox_audit_set_key_file(agentbox_audit *audit,
						 const char *path,
						 agentbox_error **err);

/*
 * A file that holds the newest anchor, rewritten at every head and at close.
 * It is only worth something where whoever can cut the log cannot also write
 * it. Created 0600. Copied.
 */
AGENTBOX_API int32_t agentbox_audit_set_anchor_file(agentbox_audit *audit,
						    const char *path,
						    agentbox_error **err);

/*
 * Only with a path sink: when a record would take the file past `max_bytes`
 * (at least 65536 * 4; 0 turns rotation off) the file is signed, renamed to
 * PATH.000001, .000002 and so on, and a new one begins with an "audit.link"
 * record that carries the old count and head. The newest `keep` old files
 * stay (0: all), older ones are unlinked and the link record says how many.
 */
AGENTBOX_API int32_t agentbox_audit_set_rotation(agentbox_audit *audit,
						 uint64_t max_bytes,
						 uint32_t keep,
						 agentbox_error **err);

/*
 * Denials (records with "verdict":"deny") that agree in type, actor, rule and
 * config_hash: the first `burst` in `window_ms` are written one by one, the
 * others are counted and written as one record with "repeat": {count, first,
 * last} when the window has ended (at the next append, flush, dispatch or
 * close). None is dropped; what is counted and not yet written is lost if the
 * host crashes. window_ms 0 writes each one. Up to 1000000 and 60000.
 */
AGENTBOX_API int32_t agentbox_audit_set_coalesce(agentbox_audit *audit,
						 uint32_t burst,
						 uint32_t window_ms,
						 agentbox_error **err);

/*
 * A byte string that must never appear in a record: in every string and key
 * it is replaced by "[redacted]" before anything is written. Copied into
 * guarded memory, wiped at the end. At least 4 bytes, at most 4096; at most
 * 1024 of them (ELIMIT). May be called before and after open, any thread.
 * Independently, values under names such as "authorization", "password",
 * "token" and their like inside strings are redacted; see agentbox-audit(5).
 */
AGENTBOX_API int32_t agentbox_audit_add_secret(agentbox_audit *audit,
					       const char *secret, size_t n,
					       agentbox_error **err);

/*
 * Open the sink and write the first record. After it the setters are closed.
 * On failure the audit stays unopened and may be configured again, and a log
 * or anchor file that was not there before is not there.
 * Errors: EINVAL (no sink), EBUSY (another writer, or opened before), EACCES,
 * ENOTFOUND (a directory, or the journal, is not there), ETAMPERED (the end of
 * the existing log or its key file does not fit; the log is not touched),
 * ECANCELED (the callback), ESYS.
 */
AGENTBOX_API int32_t agentbox_audit_open(agentbox_audit *audit,
					 agentbox_error **err);

/*
 * Append one record. `type` matches [a-z][a-z0-9_.-]{0,63} and does not begin
 * with "audit."; `fields` is a JSON object of n bytes (NULL and 0: none). The
 * library adds seq, prev, timestamp, mono_ns and, when absent, actor. Fields
 * with a fixed meaning are checked: actor {box, generation, uid, euid, pid},
 * verdict ("none", "allow", "ask", "deny"), rule, subject, config_hash
 * ("sha256:" and 64 hex digits). Reserved names are refused. A record that
 * would pass 65536 bytes has its longest strings cut, with "cut" saying how
 * many and how much; if that is not enough it is refused (ELIMIT).
 *
 * When this returns 0 the record is in the sink (and durable with
 * SYNC_RECORD), or is a counted denial. On any failure it counts as not
 * recorded (it is in the file all the same when only the sync failed): a
 * caller that must not act unrecorded does not act. When the disk is full
 * one "audit.full" record is written from space reserved beforehand and
 * every append fails with ESYS and errno ENOSPC until there is room.
 * Errors: EINVAL, EPARSE, ELIMIT, ENOMEM, ESYS, EBUSY (another process wrote
 * to the file), ECANCELED, ECLOSED, EFORKED.
 */
AGENTBOX_API int32_t agentbox_audit_append(agentbox_audit *audit,
					   const char *type, const char *fields,
					   size_t n, agentbox_error **err);

/*
 * Write counted denials and make everything durable (not with NEVER).
 * Errors, here, in dispatch and in close: as append.
 */
AGENTBOX_API int32_t agentbox_audit_flush(agentbox_audit *audit,
					  agentbox_error **err);

/* Milliseconds until dispatch has something to do; -1: nothing, not open. */
AGENTBOX_API int64_t agentbox_audit_get_timeout_ms(agentbox_audit *audit);

/* Do what is due: sync, end of a denial window, a head by time. */
AGENTBOX_API int32_t agentbox_audit_dispatch(agentbox_audit *audit,
					     agentbox_error **err);

/*
 * Write counted denials, sign the last head, sync, release the sink. Later
 * appends return ECLOSED; getters still answer. A second close returns 0.
 */
AGENTBOX_API int32_t agentbox_audit_close(agentbox_audit *audit,
					  agentbox_error **err);

/*
 * Public material, for the verifier; owned by the caller. The key is the one
 * that signs the next head, 64 hex digits: taken right after open it vouches
 * for all that follows. The anchor is {"agentbox_audit_anchor":1, "chain",
 * "count", "head", "key"} as of now. ECLOSED before open.
 */
AGENTBOX_API int32_t agentbox_audit_get_key(agentbox_audit *audit,
					    agentbox_bytes **key_hex,
					    agentbox_error **err);
AGENTBOX_API int32_t agentbox_audit_get_anchor(agentbox_audit *audit,
					       agentbox_bytes **anchor_json,
					       agentbox_error **err);

/*
 * Verify the files of one log, oldest first, with public material only. A
 * pipe is read to its end; a named one that nobody writes to is empty.
 * `key_hex` (NULL: not pinned) is a key taken by get_key: some head must be
 * signed by it, and every later one by a key it vouches for. `anchor_json`
 * (NULL: none) is an anchor taken from elsewhere: its record must be there
 * and the same. `start_json` (NULL: none) is the anchor at the end of files
 * that are no longer kept: the first file must continue it.
 *
 * Returns 0 or AGENTBOX_ETAMPERED; in both cases (a documented exception
 * to the rule for out-parameters) *report_json receives an object with
 * "status" ("verified", "torn", "tampered"), "tail" ("anchored",
 * "past-anchor", "unanchored"), "first_bad_seq", "reason" and counters; see
 * agentbox-audit(5). A torn last record is not tampering. "unanchored" means
 * that records missing at the end would not show. The message of *err names
 * the first bad record and its `where` is "seq N".
 * Other errors: EINVAL, EPARSE (key or anchor), ENOTFOUND, EACCES, ESYS.
 */
AGENTBOX_API int32_t agentbox_audit_verify(
	agentbox_context *context, const char *const *paths, size_t path_count,
	const char *key_hex, const char *anchor_json, const char *start_json,
	agentbox_bytes **report_json, agentbox_error **err);

/*
 * Hand the records that match to `fn`, in order, as they are in the file.
 * `filter_json` is NULL or an object of "run", "box", "group", "type" (a
 * trailing "*" matches a prefix), "verdict", "rule", "since", "until"; all
 * given ones must match; an unknown key, a verdict that no record has and what
 * is not the beginning of a time as records have it are EINVAL; times are
 * compared as text. Lines that are not records
 * are passed over and reported at the end as EPARSE; a torn last line is
 * ignored. This does not verify. Errors: as verify, ELIMIT (a filter over
 * 64 KiB), and ECANCELED.
 */
AGENTBOX_API int32_t agentbox_audit_show(agentbox_context *context,
					 const char *const *paths,
					 size_t path_count,
					 const char *filter_json,
					 agentbox_audit_line_fn fn, void *data,
					 agentbox_error **err);

/*
 * Count the records that match: by type and verdict, and the denials grouped
 * by type, rule, box and subject, most frequent first, repeats included.
 * Errors: as show.
 */
AGENTBOX_API int32_t agentbox_audit_report(agentbox_context *context,
					   const char *const *paths,
					   size_t path_count,
					   const char *filter_json,
					   agentbox_bytes **report_json,
					   agentbox_error **err);

#ifdef __cplusplus
}
#endif

#endif
