/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * agentbox-copy: one job (wire/copy.h), up to four processes.
 *
 *   supervisor  this process as it was started. Talks to the host, keeps the
 *               deadline, makes and publishes the staging directory, removes
 *               generations. Sees no name and no byte of the source.
 *   reader      the source's rights, read-only. Walks, judges names, reads and
 *               scans files, and puts what is kept into the ring.
 *   scout       in a refresh, with the reader's rights: goes through the record
 *               while the reader walks, and says of each file whether its
 *               times and its inode are what they were. A stat is what a
 *               refresh of an unchanged tree costs; so both cores do it.
 *   packer      in the writer's place when an archive is written; opens nothing
 *   parser, extractor
 *               before the reader when an archive is read (archive.c)
 *   writer      the output's owner, held to the staging directory and the
 *               two generations before. Takes from the ring, believes nothing
 *               in it, and makes directories, files, manifest and record. A
 *               thread of it, the finisher, writes and closes the files that
 *               it has made (finish.h).
 *
 * So hostile bytes are looked at where nothing can be written, and what
 * writes never opens anything of the source. The ring is the buffer that
 * files are read into, so a byte is copied twice, as read(2) and write(2)
 * alone would, and what was scanned is what is published.
 *
 * agentbox-git is this program with another reader (libexec/git).
 */
#ifndef AB_COPY_JOB_H
#define AB_COPY_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/hash.h"
#include "ring.h"
#include "snapshot/filter.h"
#include "snapshot/record.h"
#include "wire/copy.h"

/* Each level of a tree is an open descriptor while it is walked. */
#define COPY_MAX_DEPTH 512
/* Seconds between two words about progress, as ms. */
#define COPY_PROGRESS_MS 100

/* What the reader has done so far; written by it, shown by the supervisor. */
typedef struct copy_counters {
	_Atomic uint32_t phase;
	_Atomic uint64_t files, bytes, files_in_all;
} copy_counters;

/* What a look at a file of the record told; `OTHER` also: not there. */
enum look { LOOK_NONE, LOOK_SAME, LOOK_LINKED, LOOK_OTHER };

/* The record's entries in blocks, each looked at by who claims it first. */
typedef struct scouting {
	uint8_t *looks;		   /* shared: enum look, one per entry */
	_Atomic uint8_t *claimed;  /* shared: one per block */
	_Atomic uint8_t *finished; /* shared: one per block */
	int end_fd;  /* the reader's: at its end when the scout has ended */
	int hold_fd; /* the scout's: the other end */
} scouting;

typedef struct copy_job {
	ab_copy_plan plan;
	int source_fd, dest_fd, staging_fd, record_fd, stream_fd;
	int repository_fd; /* the reader's; -1: the source's own is meant */
	/* those three, to know them in the source; ino 0: none */
	struct copy_own {
		uint64_t dev, ino;
	} own[3];
	int host_pidfd;
	pid_t supervisor;
	uint64_t deadline_ns; /* CLOCK_BOOTTIME, 0: none */
	ab_sha256_fn hash;
	uint8_t options[AB_SHA256_SIZE];
	copy_counters *counters; /* shared */
	ring ring;		 /* shared */
	ring other;		 /* of the other stage of an UNPACK */

	/* the generation there, when it may be taken over from */
	const void *old_map; /* the record's bytes, or NULL */
	size_t old_size;
	ab_record old;
	bool has_old;
	scouting scouting; /* when has_old */
	int spool_fd; /* of commits: a file without a name, or -1 */
} copy_job;

/* A failure, where it was noticed. */
typedef struct copy_failure {
	int32_t code, sys_errno;
	char where[1024];
	char message[512];
} copy_failure;

/* What goes between the processes, on a seqpacket socket each. */
enum copy_word {
	COPY_WORD_FAILED = 1, /* copy_failure as ab_copy_failed */
	COPY_WORD_BUILD,      /* reader: something is to be written */
	COPY_WORD_READ,	      /* reader: copy_read; fd: the report */
	COPY_WORD_START,      /* to the writer; fds: tree, record, and the
				 old tree where there is one */
	COPY_WORD_REPORT,     /* to the writer: copy_read; fd: the report */
	COPY_WORD_WROTE,      /* writer: copy_wrote */
	COPY_WORD_PARSED      /* parser: all of the archive is in the ring */
};

/* Which commits were read and made; zeros in a snapshot of a directory. */
typedef struct copy_git {
	uint32_t has_head, has_base;
	uint8_t head[20], base[20], source_head[20], source_base[20];
	uint8_t state[AB_SHA256_SIZE];
} copy_git;

typedef struct copy_read {
	uint32_t unchanged;
	uint32_t damaged; /* the old generation is not what its record says */
	uint64_t files, directories, bytes, copied, linked;
	uint64_t left_out, torn, raced, base_left_out;
	uint64_t admitted; /* as the report has them */
	copy_git git;
} copy_read;

typedef struct copy_wrote {
	uint64_t files, directories, bytes, copied, linked, collisions;
	uint8_t digest[AB_SHA256_SIZE];
} copy_wrote;

/* words.c: 0 or -errno */
int copy_send_word(int sock, enum copy_word word, const void *p, size_t n,
		   const int *fds, size_t fd_count);
/* The size of the payload, or -errno; -ECONNRESET at the end. */
ssize_t copy_receive_word(int sock, enum copy_word *word, void *p,
			  size_t size, int *fds, size_t max_fds,
			  size_t *fd_count, int flags);
void copy_send_failure(int sock, const copy_failure *failure);
/* Fills *failure and returns -1, so that `return copy_fail(...)` ends. */
int copy_fail(copy_failure *failure, int32_t code, int sys_errno,
	      const char *where, const char *message);

/*
 * Of one that begins with a limit of the plan: also what the limit is and what
 * to do, for the host may not know that there is one.
 */
void copy_name_limit(copy_failure *failure, const ab_copy_plan *plan);

/*
 * A rule of the content scan as a record's entry has it: the finding of one
 * that the host admits. copy_admitted_rule() is NULL for none and for what is
 * no rule's number.
 */
void copy_set_admitted(ab_record_entry *source,
		       const ab_content_finding *finding);
const char *copy_admitted_rule(const ab_record_entry *source);

/* Is this one component, and neither "." nor ".."? */
bool copy_is_name(const char *name, size_t n);

static inline struct timespec copy_time(int64_t ns)
{
	struct timespec t = { .tv_sec = ns / 1000000000,
			      .tv_nsec = ns % 1000000000 };

	if (t.tv_nsec < 0) {
		t.tv_nsec += 1000000000;
		t.tv_sec--;
	}
	return t;
}

/* Names that are left out count too, but there may be more of them. */
uint64_t copy_most_entries(const ab_copy_plan *plan);

/* rights.c */
enum copy_role {
	COPY_READER = 1,
	COPY_WRITER = 2,
	COPY_SUPERVISOR = 4,
	COPY_PARSER = 8,    /* no file by name: a stream and the ring */
	COPY_PACKER = 16,   /* the same */
	COPY_EXTRACTOR = 32, /* what an archive says, in one directory */
	COPY_FINISHER = 64   /* the writer's thread: files that are open */
};
/* Where a role may act, beside descriptors it holds; -1: not there. */
typedef struct copy_place {
	int fds[3];
	bool write;
	pid_t parent; /* to end with it, whatever the ids; 0: with nobody */
} copy_place;
/*
 * Take the role for good: ids (all ones: as they are), no groups, limits,
 * no new privileges, not dumpable, Landlock, seccomp. The supervisor keeps
 * the capabilities that deleting another user's files takes. 0 or -errno
 * with the stage.
 */
int copy_take_role(enum copy_role role, const ab_copy_plan *plan,
		   const copy_place *place, const char **stage);
/* In two steps: all but seccomp, which a thread that is begun between them
   inherits; and seccomp, for the calling thread alone. */
int copy_take_rights(enum copy_role role, const ab_copy_plan *plan,
		     const copy_place *place, const char **stage);
int copy_take_filter(enum copy_role role);

/* Die when the parent does: 0 or -errno. A change of ids undoes it. */
int copy_end_with(pid_t parent);

/* reader.c, writer.c, verify.c, scout.c: the other processes; never return. */
void copy_reader(copy_job *job, int sock) __attribute__((noreturn));
void copy_writer(copy_job *job, int sock) __attribute__((noreturn));
void copy_verifier(copy_job *job, int sock, int tree_fd)
	__attribute__((noreturn));
void copy_scout(copy_job *job) __attribute__((noreturn));
/* scout.c: before the processes start. 0 or -errno. */
int scouting_make(copy_job *job);
/* The reader's: help, wait for the scout, and do what it left. */
void scouting_finish(copy_job *job);

/* supervise.c: the whole job; the exit status. */
int copy_supervise(copy_job *job);

#endif
