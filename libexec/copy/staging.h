/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What lies beside snapshots while a job runs, and what is left when one was
 * killed. Every name begins with ".agentbox-" and 16 hex digits, of which eight
 * say which snapshot it is of and the others are random:
 *
 *   .incomplete  a tree that is being made, or no longer needed: files that
 *                have no other name are truncated too, for a reader who still
 *                holds one could not be reached by a scrub later
 *   .scrub       a tree that is being ended: its files are truncated too
 *   .record      a record that is being written
 *
 * Whoever works on one holds a lock (flock(2)) on it, which ends with him.
 * ".agentbox-<of the snapshot>.old" is the generation before and stays.
 */
#ifndef AB_COPY_STAGING_H
#define AB_COPY_STAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job.h"

#define STAGING_NAME 48

/* A new empty directory (0700) or file (0600), locked; its fd or -errno. */
int staging_make_dir(const copy_job *job, int dirfd, char name[STAGING_NAME]);
int staging_make_file(const copy_job *job, int dirfd, char name[STAGING_NAME]);
/* A name that is not taken. 0 or -errno. */
int staging_new_name(const copy_job *job, const char *suffix,
		     char name[STAGING_NAME]);
/*
 * The one place where the generation before may stay. It belongs to the
 * record: who ends a snapshot has taken its name away before. -ENOENT: there
 * is no record to belong to.
 */
int staging_old_name(const copy_job *job, char name[STAGING_NAME]);
/*
 * Where a scrub that could not wait for who holds the record leaves it, in the
 * record's directory: for the next scrub, for him to remove, or for a sweep.
 * There are STAGING_ENDED such places, for a name that was ended so may be
 * made anew, and hang again.
 */
#define STAGING_ENDED 8
int staging_ended_name(const copy_job *job, unsigned which,
		       char name[STAGING_NAME]);

/* Whoever had this one has ended: it lies at none of them any more. */
void staging_forget_ended(const copy_job *job, int record);

/* What a removal makes empty first, for those who hold it open. */
enum staging_empty {
	EMPTY_NOTHING,
	EMPTY_UNSHARED, /* files that no other generation has */
	EMPTY_ALL
};

/* Remove what nobody works on. Best effort. */
void staging_sweep(int dirfd);
/*
 * Remove the trees that jobs on this snapshot have left, when all that had its
 * record have ended. Who reads one may have locked it, and a sweep passes over
 * it then. 0 or -errno of the first failure, as of a removal; where it cannot
 * be seen whether a job is at work, nothing is removed.
 */
int staging_end(const copy_job *job, enum staging_empty empty, uint64_t *files);

/*
 * Remove a tree and everything in it. 0 or -errno of the first failure, after
 * trying everything; counts may be NULL.
 */
int staging_remove(int dirfd, const char *name, enum staging_empty empty,
		   uint64_t *files);

/*
 * The same of a tree that somebody may be naming anew meanwhile: first it loses
 * its name. 1: it was not there.
 */
int staging_take(const copy_job *job, int dirfd, const char *name,
		 enum staging_empty empty, uint64_t *files);

/*
 * The same piece by piece, for who has others to listen to. A removal that
 * could not begin for want of memory is NULL, and so much is its end's error.
 * dirfd stays open until then.
 */
typedef struct removal removal;
removal *removal_begin(int dirfd, const char *name, enum staging_empty empty);
/* About so many names; is there more to do? */
bool removal_step(removal *r, unsigned names);
int removal_end(removal *r, uint64_t *files);

/* flock(2) now or -EWOULDBLOCK. */
int staging_lock(int fd);
/* The name is still that of this file. */
bool staging_is_named(int fd, int dirfd, const char *name);

int copy_rename(int from, const char *name, int to, const char *as,
		unsigned flags);
#define RENAME_NEW 1u	    /* RENAME_NOREPLACE */
#define RENAME_EXCHANGED 2u /* RENAME_EXCHANGE */

#endif
