/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The manifest of a snapshot, for those who may read the snapshot: JSON lines,
 * a header and then one line per file in byte order of the paths. It says
 * only what was kept, and no times, so that the same tree always has the same
 * bytes. Its digest is what the record and the audit know a snapshot by.
 *
 *   {"agentbox_manifest":1,"files":N,"bytes":N,"hash":"sha256"}   (or "none")
 *   (of commits with ,"head":"<id>" or ,"base":"<id>","head":"<id>" at the end)
 *   {"path":"src/a.c","mode":"0444","size":12,"sha256":"..."}
 *
 * N in the header is padded with blanks before it to twenty characters, so
 * that a writer can fill it in at the end. The reader takes exactly what a
 * writer writes and nothing else. Pure; libc only.
 */
#ifndef AB_SNAPSHOT_MANIFEST_H
#define AB_SNAPSHOT_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/limits.h"
#include "snapshot/line.h"

/* Where it lies in a snapshot. */
#define AB_MANIFEST_DIR ".agentbox"
#define AB_MANIFEST_NAME "manifest"
/* The same for the files of a repository that was made (".git/..."): their
   bytes depend on the compressor, so they are not in the digest. */
#define AB_MANIFEST_REPOSITORY "repository"
#define AB_MANIFEST_ID_SIZE 20

typedef struct ab_manifest_entry {
	const char *path; /* borrowed, path_len bytes, not NUL-terminated */
	size_t path_len;
	uint32_t mode; /* 0444 or 0555 */
	uint64_t size;
	bool has_hash;
	uint8_t sha256[AB_SHA256_SIZE];
} ab_manifest_entry;

typedef struct ab_manifest_head {
	uint64_t files, bytes;
	bool has_hashes;
	/* the commits of the repository; a base only with a head */
	bool has_head, has_base;
	uint8_t git_head[AB_MANIFEST_ID_SIZE], git_base[AB_MANIFEST_ID_SIZE];
} ab_manifest_head;

/* Every header with the same ids has this many bytes, with the newline. */
size_t ab_manifest_head_size(bool has_head, bool has_base);
void ab_manifest_put_head(ab_line *line, const ab_manifest_head *head);
void ab_manifest_put(ab_line *line, const ab_manifest_entry *entry);

typedef struct ab_manifest_reader {
	const char *p; /* borrowed */
	size_t n, pos;
	ab_manifest_head head;
	uint64_t files, bytes; /* seen */
	char path[AB_MAX_PATH], last[AB_MAX_PATH];
	size_t last_len;
	ab_line again;
} ab_manifest_reader;

/* 0 or -EPROTO. `r` is large: not for the stack of a loop. */
int ab_manifest_open(ab_manifest_reader *r, const char *p, size_t n);
/*
 * 1 and *entry (its path is valid until the next call); 0 at the end, which
 * is only where the header says; -EPROTO for everything else: a line that is
 * not as written, paths that are not clean or not in strict byte order.
 */
int ab_manifest_next(ab_manifest_reader *r, ab_manifest_entry *entry);

/* Is this a relative path of clean components: no "", "." or ".."? */
bool ab_manifest_is_path(const char *p, size_t n);

#endif
