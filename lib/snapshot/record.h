/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The record of a snapshot, for the host alone (0600): where it came from,
 * with which options, and of each kept file what the source's inode was when
 * it was read, so that a refresh reads again only what changed; and the
 * report of what was left out. Binary, in the byte order of this machine,
 * with a version and a SHA-256 over all of it at the end: a record that is
 * anything else than whole is no record, and everything is read anew.
 *
 *   head, source name, choice | entry, path ... | report | tail
 *
 * Every part is padded to eight bytes. Entries are in byte order of their
 * paths, a directory's path ends in '/'. Pure but for ab_record_out, which
 * writes to an fd.
 */
#ifndef AB_SNAPSHOT_RECORD_H
#define AB_SNAPSHOT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/limits.h"

#define AB_RECORD_BOOT_SIZE 16

/* What holds for all of it. A record of other options is not comparable. */
typedef struct ab_record_head {
	uint64_t magic;
	uint32_t version, source_name_len;
	uint64_t source_dev, source_ino;
	uint64_t generation;
	/* over the filter, the rules, the limits and the build */
	uint8_t options[AB_SHA256_SIZE];
	/* after a power cut the copies may be empty: nothing is taken over
	   from a generation of another boot */
	uint8_t boot[AB_RECORD_BOOT_SIZE];
	uint64_t choice_len;
} ab_record_head;

/* The options as their host chose them, ab_copy_choice_put(). */
#define AB_RECORD_CHOICE_MAX AB_MAX_PLAN_BYTES

/* The file changed when it was read, or in the clock tick before: its times
   prove nothing. */
#define AB_RECORD_RACY 0x1u
#define AB_RECORD_HASHED 0x2u
#define AB_RECORD_EXEC 0x4u
/* Made by us and not of the source: in no record and not in the manifest, but
   in the list of the repository's own files. Only between processes. */
#define AB_RECORD_APART 0x8u

typedef struct ab_record_entry {
	uint64_t ino, size;
	int64_t ctime_ns, mtime_ns;
	uint32_t mode; /* st_mode of the source */
	uint32_t flags;
	uint32_t path_len;
	/* a rule of the content scan whose finding the host admits in it: its
	   number and one more, 0 none; and the line, 0 unknown */
	uint16_t admitted, admitted_line;
	uint8_t sha256[AB_SHA256_SIZE];
} ab_record_entry;

/* A snapshot of commits: which. Ids are SHA-1, zeros without. */
typedef struct ab_record_git {
	uint32_t has_head, has_base;
	uint8_t head[20], base[20]; /* that were made */
	uint8_t source_head[20], source_base[20]; /* of the source */
	uint64_t base_left_out;
	uint8_t repository[AB_SHA256_SIZE]; /* digest of its files' list */
} ab_record_git;

typedef struct ab_record_tail {
	uint64_t entries, files, directories, bytes, left_out, admitted;
	uint64_t tree_dev, tree_ino; /* the published directory */
	uint64_t report_len;
	uint8_t manifest[AB_SHA256_SIZE]; /* digest of the manifest */
	ab_record_git git;
	uint8_t state[AB_SHA256_SIZE]; /* of commits: what a refresh compares */
	uint8_t checksum[AB_SHA256_SIZE]; /* over all before it */
} ab_record_tail;

/* Writing. Errors stick and come out at the end. */
typedef struct ab_record_out {
	int fd;	   /* borrowed */
	int error; /* -errno */
	uint8_t *buffer; /* owned */
	size_t len;
	ab_sha256_stream sum;
	uint64_t entries;
} ab_record_out;

/* Fills magic, version and the lengths of *head. 0 or -ENOMEM. */
int ab_record_begin(ab_record_out *out, int fd, ab_sha256_fn fn,
		    ab_record_head *head, const char *source_name,
		    const void *choice, size_t choice_len);
void ab_record_add(ab_record_out *out, const ab_record_entry *entry,
		   const char *path);
/* Fills entries, report_len and checksum of *tail. 0 or -errno. Ends `out`. */
int ab_record_finish(ab_record_out *out, const void *report, size_t n,
		     ab_record_tail *tail);
void ab_record_drop(ab_record_out *out);

/* Reading, from memory that stays as long as the record. */
typedef struct ab_record {
	const uint8_t *p; /* borrowed */
	size_t first, end; /* of the entries */
	ab_record_head head;
	ab_record_tail tail;
	const char *source_name; /* not NUL-terminated: head.source_name_len */
	const void *choice; /* head.choice_len bytes */
	const char *report;
} ab_record;

typedef struct ab_record_cursor {
	size_t pos;
	uint64_t entries;
	const char *last;
	size_t last_len;
} ab_record_cursor;

/* 0; -EPROTO: not a whole record; -ESTALE: of another version. */
int ab_record_open(ab_record *record, const void *p, size_t n,
		   ab_sha256_fn fn);
/*
 * 1 with *entry and *path (borrowed, entry->path_len bytes); 0 at the end;
 * -EPROTO. A zeroed cursor begins.
 */
int ab_record_next(const ab_record *record, ab_record_cursor *cursor,
		   ab_record_entry *entry, const char **path);

/* The order of entries: -1, 0 or 1. */
int ab_record_order(const char *a, size_t a_len, const char *b, size_t b_len);

#endif
