/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a tree's repository is and what its names mean, without a word of its
 * configuration: ".git" as a directory, or the tree itself when it is a bare
 * repository; or the one that the host names, and then nothing of the tree
 * says where. Everything is opened beneath it, without links.
 */
#ifndef AB_GIT_PLACE_H
#define AB_GIT_PLACE_H

#include "job.h"
#include "store.h"

typedef struct git_place {
	copy_failure *failure;
	int git_fd, objects_fd;
	bool is_shallow, borrows, is_partial; /* why something may be missing */
	char *packed; /* owned: packed-refs, or NULL */
	size_t packed_len;
} git_place;

/* 0, or -1 with *failure: what it is instead of a repository we can read. */
int place_open(git_place *p, int source_fd, copy_failure *failure);
/* The same of a directory that the host names. */
int place_open_named(git_place *p, int fd, copy_failure *failure);
/*
 * The commit, or what leads to one, that a full name means: an object's, a
 * reference's, "HEAD", or "worktrees/NAME/HEAD" of a linked worktree.
 */
int place_head(git_place *p, const char *name, uint8_t oid[OID_SIZE]);
/* What a host calls a base: an object's name, or a reference. */
int place_resolve(git_place *p, const char *name, uint8_t oid[OID_SIZE]);
/* " (the clone is shallow)" or what else may be the reason; static. */
const char *place_why_missing(const git_place *p);

#endif
