/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the audit room share. Nothing outside lib/audit and the
 * room's own tests includes this. The format is agentbox-audit(5).
 */
#ifndef AB_AUDIT_INTERNAL_H
#define AB_AUDIT_INTERNAL_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agentbox/audit.h"
#include "audit/arguments.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"

/* A line with its newline. */
#define AB_AUDIT_MAX_LINE AB_MAX_AUDIT_RECORD
/* Text given to append; strings in it may be cut down to a record. */
#define AB_AUDIT_MAX_INPUT (1u << 20)
#define AB_AUDIT_MAX_FIELDS 64
#define AB_AUDIT_MAX_KEYS 1024
#define AB_AUDIT_MAX_TYPE 64
#define AB_AUDIT_MAX_SECRET 4096
#define AB_AUDIT_MIN_SECRET 4
#define AB_AUDIT_MAX_SECRETS 1024
#define AB_AUDIT_MAX_BUCKETS 256
#define AB_AUDIT_MAX_PATHS 100000
#define AB_AUDIT_MAX_GROUPS 1000
#define AB_AUDIT_MAX_FILE_NUMBER 999999u
/* Entries of the directory of a log that rotates. */
#define AB_AUDIT_MAX_DIR 1100000u
/* Room kept on the disk for the last record of a full one. */
#define AB_AUDIT_RESERVE (2u * AB_AUDIT_MAX_LINE)
#define AB_AUDIT_RESERVE_STEP (1u << 20)

#define AB_AUDIT_HASH_HEX AB_HEX_SIZE(AB_SHA256_SIZE)
#define AB_AUDIT_SEED_SIZE 32
#define AB_AUDIT_SIG_SIZE 64
#define AB_AUDIT_KEY_HEX AB_HEX_SIZE(32)

/* redact.c */
typedef struct ab_audit_secrets {
	uint8_t *arena; /* owned, guarded */
	size_t arena_len;
	struct {
		size_t off, len;
	} *items; /* owned */
	size_t count;
} ab_audit_secrets;

int32_t ab_audit_secrets_add(ab_audit_secrets *s, const char *p, size_t n,
			     agentbox_error **err);
void ab_audit_secrets_free(ab_audit_secrets *s);
/* The value under this name is a secret by its name. */
bool ab_audit_is_secret_name(const char *name, size_t n);
/* Past spaces and a word like Bearer. */
size_t ab_audit_skip_scheme(const char *p, size_t n, size_t i);
/*
 * A copy of p,n with secrets replaced, in *out (owned, NUL-terminated), when
 * there is something to replace; *out stays NULL when there is not. `known`
 * is a part that is one by what stands before the text. Returns how many were
 * replaced, or -ENOMEM.
 */
int64_t ab_audit_redact(const ab_audit_secrets *s, const char *p, size_t n,
			ab_audit_span known, char **out, size_t *out_n);

/* canon.c: canonical JSON for records */
typedef struct ab_audit_writer {
	char *buf; /* borrowed */
	size_t len, max;
	bool is_full, is_bad, has_no_memory;
	const ab_audit_secrets *secrets; /* NULL: nothing is redacted */
	size_t value_max; /* longer strings are cut; 0: never */
	uint64_t redacted, cut_values, cut_bytes;
} ab_audit_writer;

void ab_audit_write_raw(ab_audit_writer *w, const char *p, size_t n);
void ab_audit_write_string(ab_audit_writer *w, const char *p, size_t n);
void ab_audit_write_value(ab_audit_writer *w, const json_t *value,
			  unsigned depth);

/* scan.c: is this line a canonical record, and where are its frame fields */
typedef struct ab_audit_frame {
	uint64_t seq;
	const char *prev; /* 64 hex digits */
	const char *timestamp;
	size_t timestamp_len;
	const char *type;
	size_t type_len;
} ab_audit_frame;

/* n without the newline. 0, or -EINVAL. */
int ab_audit_scan(const char *line, size_t n, ab_audit_frame *out);
/* The same answer by jansson and the writer; what the scanner is tested by. */
int ab_audit_scan_slow(const char *line, size_t n, ab_audit_frame *out);
/* Parse a line that scanned well. NULL on no memory. */
json_t *ab_audit_parse_line(const char *line, size_t n);
/* No deeper than a record may be; before bytes are given to jansson. */
bool ab_audit_is_shallow(const char *line, size_t n);
bool ab_audit_is_type(const ab_audit_frame *frame, const char *type);

/* record.c */
typedef struct ab_audit_stamp {
	uint64_t seq;
	const char *prev;
	const char *timestamp;
	uint64_t mono_ns;
	const char *type;
	bool is_clock_backwards;
	/* the "log" object of our own records, or NULL */
	const json_t *log;
	/* the "repeat" object of counted denials, or NULL */
	const json_t *repeat;
} ab_audit_stamp;

int32_t ab_audit_check_type(const char *type, agentbox_error **err);
int32_t ab_audit_check_fields(const char *type, const json_t *fields,
			      agentbox_error **err);
/* The line with newline into buf (AB_AUDIT_MAX_LINE); scratch is as large. */
int32_t ab_audit_build(const ab_audit_stamp *stamp, const json_t *fields,
		       const ab_audit_secrets *secrets, char *scratch,
		       char *buf, size_t *n, agentbox_error **err);

/* key.c */
typedef struct ab_audit_key {
	uint8_t *seed; /* owned, guarded */
	uint64_t count; /* heads signed before this key */
	int fd; /* key file, locked; -1 when there is none */
	char hex[AB_AUDIT_KEY_HEX]; /* public half */
} ab_audit_key;

int32_t ab_audit_key_open(ab_audit_key *key, const char *path, bool syncs,
			  agentbox_error **err);
/* One step forward; the old seed is gone from memory and file afterwards. */
int32_t ab_audit_key_advance(ab_audit_key *key, bool syncs,
			     agentbox_error **err);
/* The public half of the key after this one. */
int32_t ab_audit_key_next(const ab_audit_key *key, char hex[AB_AUDIT_KEY_HEX],
			  agentbox_error **err);
/* Sign a head line whose "sig" is 128 zeros, filling it in. */
int32_t ab_audit_key_sign(const ab_audit_key *key, char *line, size_t n,
			  agentbox_error **err);
void ab_audit_key_close(ab_audit_key *key);
/* true when the head line (no newline) is signed by the key it names */
bool ab_audit_head_is_signed(const char *line, size_t n, const char *key_hex);

/* sink.c */
#define AB_AUDIT_SINK_NONE 0
#define AB_AUDIT_SINK_PATH 1
#define AB_AUDIT_SINK_FD 2
#define AB_AUDIT_SINK_CALLBACK 3
#define AB_AUDIT_SINK_JOURNAL 4

typedef struct ab_audit_sink {
	int kind;
	char *path; /* owned: log or journal socket */
	int fd;
	agentbox_audit_line_fn fn;
	void *data; /* borrowed */
	bool is_regular, is_pipe, is_socket, can_reserve, is_broken;
	bool is_made; /* by this open: a path that led nowhere */
	uint64_t size; /* of a regular file */
	uint64_t reserved;
} ab_audit_sink;

int32_t ab_audit_sink_open(ab_audit_sink *s, agentbox_error **err);
void ab_audit_sink_close(ab_audit_sink *s);
/* Make sure n more bytes and the reserve fit; ESYS with ENOSPC if not. */
int32_t ab_audit_sink_reserve(ab_audit_sink *s, size_t n, agentbox_error **err);
int32_t ab_audit_sink_write(ab_audit_sink *s, const char *line, size_t n,
			    agentbox_error **err);
int32_t ab_audit_sink_sync(ab_audit_sink *s, agentbox_error **err);
/*
 * Open, check and lock a log file; flags are added to O_RDWR etc. *is_made
 * (may be NULL): whether it was not there before.
 */
int32_t ab_audit_open_file(const char *path, int flags, int *fd, bool *is_made,
			   agentbox_error **err);
/* Where *is_made, takes it away again; *is_made is false then. */
void ab_audit_unmake_file(const char *path, int fd, bool *is_made);
/* A log to be read: a pipe is read to its end, and nobody is waited for. */
int32_t ab_audit_open_log(const char *path, int *fd, agentbox_error **err);
/* The directory that `path` is in: an fd, or a code. */
int32_t ab_audit_open_dir(const char *path, agentbox_error **err);
int32_t ab_audit_sync_dir(const char *path, agentbox_error **err);

/* reader.c: lines of a file */
typedef struct ab_audit_reader {
	int fd; /* borrowed */
	char *buf; /* owned */
	size_t start, end, max;
	bool is_eof;
	uint64_t offset; /* of buf[start] in the file */
} ab_audit_reader;

int ab_audit_reader_init(ab_audit_reader *r, int fd);
void ab_audit_reader_end(ab_audit_reader *r);
/*
 * 1: a whole line (without newline, borrowed until the next call). 0: end,
 * *n bytes without a newline are left in *line. -EFBIG: a line too long,
 * -errno.
 */
int ab_audit_reader_next(ab_audit_reader *r, const char **line, size_t *n);

/* check.c: the verifying automaton */
typedef struct ab_audit_checker {
	ab_sha256_fn hash_fn; /* picked at the first line */
	/* wanted */
	char pin[AB_AUDIT_KEY_HEX]; /* "" when not pinned */
	bool has_anchor, has_start;
	bool skips_first; /* the first file is read by its second name */
	uint64_t anchor_count, start_count;
	char anchor_head[AB_AUDIT_HASH_HEX];
	char start_head[AB_AUDIT_HASH_HEX];
	char start_key[AB_AUDIT_KEY_HEX];
	char chain[AB_ID_SIZE]; /* "" until known */
	/* reached */
	uint64_t records, first_seq, seq, signed_seq, bytes;
	uint64_t heads, links, opens, resets, key_breaks, time_anomalies;
	uint64_t torn_bytes, files;
	/* of the last line: its hash, and the "prev" it carries */
	char hash[AB_AUDIT_HASH_HEX], prev[AB_AUDIT_HASH_HEX];
	char key[AB_AUDIT_KEY_HEX]; /* the key that must sign the next head */
	char timestamp[AB_TIMESTAMP_SIZE];
	bool is_pinned, begins_at_link, is_anchor_met, is_closed;
	bool is_file_start;
	/* not OK */
	bool is_bad;
	bool is_suspect; /* the line before this one may be the changed one */
	uint64_t bad_seq;
	char reason[160];
} ab_audit_checker;

/* 0, -EINVAL with reason and bad_seq set, -ENOMEM */
int ab_audit_checker_line(ab_audit_checker *c, const char *line, size_t n);
/* All of fd; -EINVAL when tampered; other -errno. */
int ab_audit_checker_file(ab_audit_checker *c, int fd, bool is_last);
int ab_audit_checker_end(ab_audit_checker *c);

/* The parts of an anchor. */
int32_t ab_audit_anchor_parse(const char *json, uint64_t *count,
			      char chain[AB_ID_SIZE],
			      char head[AB_AUDIT_HASH_HEX],
			      char key[AB_AUDIT_KEY_HEX],
			      agentbox_error **err);

/* filter.c */
typedef struct ab_audit_filter {
	json_t *doc; /* owned; NULL matches everything */
} ab_audit_filter;

int32_t ab_audit_filter_parse(ab_audit_filter *f, const char *json,
			      agentbox_error **err);
bool ab_audit_filter_matches(const ab_audit_filter *f, const json_t *record);

/* flood.c: denials counted instead of written one by one */
typedef struct ab_audit_bucket {
	bool is_used;
	uint8_t id[AB_SHA256_SIZE];
	uint64_t start_ns; /* boot clock */
	uint32_t seen;
	uint64_t held;
	char type[AB_AUDIT_MAX_TYPE + 1];
	char first[AB_TIMESTAMP_SIZE], last[AB_TIMESTAMP_SIZE];
	json_t *fields; /* owned; of the first one held */
} ab_audit_bucket;

typedef struct ab_audit_flood {
	ab_audit_bucket *buckets; /* owned, AB_AUDIT_MAX_BUCKETS, or NULL */
	size_t used;
	uint64_t next_ns; /* when the earliest window ends; UINT64_MAX: none */
	uint32_t burst;
	uint64_t window_ns;
} ab_audit_flood;

bool ab_audit_flood_applies(const ab_audit_flood *f, const json_t *fields);
/*
 * The bucket of this denial, NULL when there is no room (then the oldest is
 * in *oldest and has to be written first) or no memory (*oldest NULL).
 */
ab_audit_bucket *ab_audit_flood_find(ab_audit_flood *f, const char *type,
				     const json_t *fields, uint64_t now_ns,
				     ab_audit_bucket **oldest);
int ab_audit_flood_hold(ab_audit_bucket *b, const char *type,
			const json_t *fields, const char *timestamp);
ab_audit_bucket *ab_audit_flood_expired(ab_audit_flood *f, uint64_t now_ns,
					bool all);
void ab_audit_flood_drop(ab_audit_flood *f, ab_audit_bucket *b);
void ab_audit_flood_free(ab_audit_flood *f);

/* log.c: the chain over a sink; the caller holds the lock */
#define AB_AUDIT_NEW 0
#define AB_AUDIT_OPEN 1
#define AB_AUDIT_CLOSED 2

typedef uint64_t (*ab_audit_clock_fn)(void);

struct agentbox_audit {
	atomic_uint refs;
	pid_t pid;
	agentbox_context *context; /* owned reference */
	pthread_mutex_t lock;
	int state;

	int32_t sync_mode;
	uint64_t sync_ns, head_ns, max_bytes;
	uint32_t head_records, keep;
	char *key_path, *anchor_path; /* owned */
	ab_audit_clock_fn real_ns, boot_ns;
	ab_sha256_fn hash_fn;

	ab_audit_sink sink;
	ab_audit_key key;
	ab_audit_secrets secrets;
	ab_audit_flood flood;
	int anchor_fd;
	bool is_anchor_made;

	uint64_t seq, last_real_ns;
	char timestamp[AB_TIMESTAMP_SIZE]; /* of last_real_ns */
	char written[AB_TIMESTAMP_SIZE]; /* of the last record; "": none */
	char prev[AB_AUDIT_HASH_HEX], chain[AB_ID_SIZE];
	uint64_t since_head, head_boot_ns; /* records since, time of last */
	uint64_t unsynced_ns; /* boot time of the oldest unsynced; 0: none */
	uint32_t file_number; /* of the file before this one; 0: none */
	uint64_t rotate_seq; /* of the last head that closed a file */
	bool is_disk_full;
	char *line, *scratch; /* owned, AB_AUDIT_MAX_LINE */
};

int32_t ab_audit_log_open(agentbox_audit *a, agentbox_error **err);
int32_t ab_audit_log_append(agentbox_audit *a, const char *type,
			    const json_t *fields, agentbox_error **err);
int32_t ab_audit_log_flush(agentbox_audit *a, bool all, agentbox_error **err);
int32_t ab_audit_log_head(agentbox_audit *a, const char *reason,
			  agentbox_error **err);
int32_t ab_audit_log_sync(agentbox_audit *a, agentbox_error **err);
int32_t ab_audit_log_anchor(agentbox_audit *a, agentbox_bytes **out,
			    agentbox_error **err);
/* One of our own records: type "audit.*" with its "log" object. */
int32_t ab_audit_log_own(agentbox_audit *a, const char *type, json_t *log,
			 agentbox_error **err);
/* resume.c: the state at the end of the log that is already there */
int32_t ab_audit_log_resume(agentbox_audit *a, uint64_t *torn, char *digest,
			    agentbox_error **err);
/* rotate.c */
int32_t ab_audit_log_rotate(agentbox_audit *a, agentbox_error **err);

/* For tests: other clocks, before open. */
void ab_audit_set_clock(agentbox_audit *a, ab_audit_clock_fn real_ns,
			ab_audit_clock_fn boot_ns);

#endif
