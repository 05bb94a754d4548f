/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One job of agentbox-copy. The plan comes sealed on fd 4 (AB_MAX_PLAN_BYTES),
 * the directories with AB_MSG_COPY_GO on the control socket; the helper says
 * PROGRESS at most ten times a second, and DONE or FAILED once. End of stream
 * from the host, or its death, cancels: nothing is published after that.
 *
 * Libc only; structures point into the message.
 */
#ifndef AB_WIRE_COPY_H
#define AB_WIRE_COPY_H

#include <stddef.h>
#include <stdint.h>

#include "wire/codec.h"

enum ab_copy_job {
	AB_COPY_MAKE = 1,    /* first generation, or the next one */
	AB_COPY_EXPLAIN = 2, /* walk, filter, scan; write nothing */
	AB_COPY_VERIFY = 3,  /* a snapshot against its manifest */
	AB_COPY_PACK = 4,    /* source to an archive on the stream */
	AB_COPY_UNPACK = 5,  /* an archive on the stream to a snapshot */
	AB_COPY_SCRUB = 6    /* end a snapshot: gone from its name first,
				then every file truncated and unlinked */
};

/* Which fds come with GO, in this order; the rest are absent. */
#define AB_COPY_FD_SOURCE 0x01u	 /* directory: the tree's root */
#define AB_COPY_FD_DEST 0x02u	 /* directory that holds dest_name */
#define AB_COPY_FD_STAGING 0x04u /* directory, same file system as DEST */
#define AB_COPY_FD_RECORD 0x08u	 /* directory that holds record_name */
#define AB_COPY_FD_STREAM 0x10u	 /* PACK writes, UNPACK reads */
#define AB_COPY_FD_REPOSITORY 0x20u /* directory: what the host names as it */
#define AB_COPY_MAX_FDS 6

#define AB_COPY_REPLACE 0x01u	/* MAKE: a generation is there: refresh it */
#define AB_COPY_NO_HASHES 0x02u	/* the manifest has no sha256 */
#define AB_COPY_ZIP 0x04u	/* PACK: zip instead of tar */
#define AB_COPY_KEEP_OLD 0x08u	/* keep the generation before this one until
				   the next: opens in flight and held
				   directories go on reading it */
#define AB_COPY_HOLD 0x10u	/* MAKE: say STAGED and wait for PUBLISH, so
				   that the host can have the last word */
#define AB_COPY_GZIP 0x40u	/* PACK: the tar compressed */
#define AB_COPY_ZSTD 0x80u	/* PACK: the same; at most one of the three */
#define AB_COPY_UNLINK 0x20u	/* SCRUB: do not truncate, only unlink */
#define AB_COPY_ASKED 0x100u	/* SCRUB: somebody named it: only a snapshot */

/* What is copied: the directory, or commits of the repository in it; these are
   agentbox-git's jobs, which speaks as agentbox-copy does. */
enum ab_copy_git {
	AB_COPY_GIT_NONE = 0,
	AB_COPY_GIT_HEAD = 1, /* the commit of HEAD */
	AB_COPY_GIT_RANGE = 2 /* and where it parted from git_base */
};
#define AB_COPY_GIT_NAME_MAX 255
/* A commit's name in hex, and a NUL. */
#define AB_COPY_GIT_ID_SIZE 41

typedef struct ab_copy_plan {
	const char *build_id; /* a helper of another build stops here */
	uint32_t job, fds, flags;
	/* the source's rights and the output's owner; all ones: no change */
	uint32_t source_uid, source_gid, output_uid, output_gid;
	uint64_t max_bytes, max_files, max_file_bytes, deadline_ms;
	uint32_t max_depth;
	uint32_t content_level; /* enum ab_content_level */
	uint32_t git_mode;	/* enum ab_copy_git */
	const char *git_base;	/* "" but for RANGE */
	/* The repository that the host names in place of the source's own: its
	   path, for the record (the helper has the fd and looks nothing up),
	   which directory that was, and what names the head in it. "" and 0:
	   the source's own, and its HEAD. */
	const char *git_repository, *git_head;
	uint64_t repository_dev, repository_ino;
	const char *dest_name, *record_name;
	const char *source_name; /* for people, in the record; no lookup */
	const void *filter; /* ab_filter_put() */
	size_t filter_len;
} ab_copy_plan;

enum ab_copy_message {
	AB_MSG_COPY_GO = 16,	   /* host: the fds */
	AB_MSG_COPY_PROGRESS = 32, /* ab_copy_progress */
	AB_MSG_COPY_DONE = 33,	   /* ab_copy_done; fd: report (sealed memfd) */
	AB_MSG_COPY_FAILED = 34,   /* ab_copy_failed; fds: 0, or 1 report */
	AB_MSG_COPY_STAGED = 35,   /* fd: the staged tree, a directory */
	AB_MSG_COPY_CANCEL = 48,   /* host; FAILED with ECANCELED follows */
	AB_MSG_COPY_PUBLISH = 49   /* host, after STAGED */
};

enum ab_copy_phase {
	AB_PHASE_WALK = 1,
	AB_PHASE_COPY = 2,
	AB_PHASE_PUBLISH = 3,
	AB_PHASE_CLEAN = 4
};

typedef struct ab_copy_progress {
	uint32_t phase;
	uint64_t files, bytes;	/* done */
	uint64_t files_in_all;	/* 0 while the walk has not ended */
} ab_copy_progress;

typedef struct ab_copy_done {
	uint32_t unchanged;  /* MAKE: the generation there is still right */
	uint64_t generation; /* 1 for the first */
	uint64_t files, directories, bytes; /* in the snapshot */
	uint64_t copied, linked; /* files read anew, and taken over */
	uint64_t left_out, torn, raced;
	uint64_t admitted; /* files kept although a rule found something */
	uint64_t swap_ns;    /* what the exchange took */
	const char *digest;  /* "sha256:..." of the manifest; "" without */
	/* of a repository, "" where there is none: the commits that were made,
	   and those of the source that they hold what was kept of */
	const char *git_head, *git_base, *source_head, *source_base;
	uint64_t base_left_out; /* not in left_out */
} ab_copy_done;

typedef struct ab_copy_failed {
	int32_t code;	   /* AGENTBOX_E* */
	int32_t sys_errno; /* or 0 */
	const char *where; /* path in the tree, or a stage: "publish" */
	const char *message;
} ab_copy_failed;

/*
 * The report: JSON lines in byte order of the paths, for the host and the
 * source's owner only. MAKE, EXPLAIN, PACK, UNPACK: what was left out
 * {"path", "reason", "rule", "tier", "line"}, and in its place what was kept
 * although a rule found something, with "reason": "admitted"; VERIFY: what is wrong
 * {"path", "problem"}; what only the base of a range leaves out
 * has "in": "base" and stands after the rest. Bytes that are no UTF-8 are
 * \xNN in `path`, and "encoded": true says so.
 */

/*
 * get: 0, or -EPROTO for anything put would not have written (unknown jobs,
 * fds and flags, names with a slash), -ESTALE for another build.
 */
void ab_copy_plan_put(ab_writer *w, const ab_copy_plan *plan);
int ab_copy_plan_get(ab_reader *r, const char *build_id, ab_copy_plan *plan);
/*
 * What of a plan somebody chose, for the record: limits, content, filter, git
 * and AB_COPY_NO_HASHES. get sets these of *plan and leaves the rest.
 */
void ab_copy_choice_put(ab_writer *w, const ab_copy_plan *plan);
int ab_copy_choice_get(ab_reader *r, ab_copy_plan *plan);
/* put: kind, fd count, fields; get: r stands after kind and fd count. */
void ab_copy_progress_put(ab_writer *w, const ab_copy_progress *m);
int ab_copy_progress_get(ab_reader *r, ab_copy_progress *m);
void ab_copy_done_put(ab_writer *w, const ab_copy_done *m);
int ab_copy_done_get(ab_reader *r, ab_copy_done *m);
void ab_copy_failed_put(ab_writer *w, uint32_t fds, const ab_copy_failed *m);
int ab_copy_failed_get(ab_reader *r, ab_copy_failed *m);

#endif
