/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libgit2 over a store: it checks that every object is what its name says
 * (SHA-1 with collision detection), reads trees, commits and tags, and finds
 * merge bases. It opens no file of its own, knows no path, no configuration,
 * no attributes and no network.
 */
#ifndef AB_GIT_ODB_H
#define AB_GIT_ODB_H

#include <git2.h>

#include "place.h"

typedef struct objects {
	git_place *place;
	copy_failure *failure;
	store *store;
	git_odb *odb;
	git_repository *repo;
} objects;

/* Once, before rights are given away: 0 or -1. */
int objects_init(void);
int objects_open(objects *o, git_place *p, copy_failure *failure);

/* Why the last call failed, in the words of a failure at `where`. -1. */
int objects_fail(objects *o, const uint8_t oid[OID_SIZE], const char *where,
		 int error);
/* Is that why it cannot be read: it is over OBJECT_MAX? */
bool objects_is_large(objects *o, const uint8_t oid[OID_SIZE]);
/* A commit from it or from the tag it is; 0 or -1. */
int objects_peel(objects *o, const uint8_t oid[OID_SIZE], const char *where,
		 git_commit **commit);

#endif
