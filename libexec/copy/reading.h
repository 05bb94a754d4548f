/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader's inside: one pass over the walked tree, one file. */
#ifndef AB_COPY_READING_H
#define AB_COPY_READING_H

#include "snapshot/content.h"
#include "snapshot/report.h"
#include "tree.h"

enum pass {
	PASS_EXPLAIN, /* read and scan, keep nothing */
	PASS_PROBE,   /* the same, until something new would be kept */
	PASS_BUILD    /* into the ring */
};

/* Files in the ring that are hashed together, before they can be taken. */
#define OWED_MAX ((size_t)64)

typedef struct reading {
	copy_job *job;
	copy_failure failure;
	walk walk;
	tree tree;
	ab_filter *filter;    /* owned */
	ab_content *content;  /* owned */
	uint8_t *scratch;     /* owned: where files go outside the ring */
	enum pass pass;
	/* directories above are not yet in the ring: something below them is
	   only kept when it has been read */
	bool is_pending;
	uint64_t unknown; /* files the record does not know */
	bool finds_new; /* PASS_PROBE found something to keep */
	copy_read counts;
	path path;
	uint64_t bytes; /* kept so far */
	ab_sha256_job owed[OWED_MAX];
	ring_record *owed_to[OWED_MAX];
	size_t owed_count;
} reading;

/*
 * One file of the directory dirfd. 0: kept, or left out and its entry says
 * why; -1 with g->failure. `enter` makes the directories above it.
 */
int read_file(reading *g, int dirfd, uint32_t index, void (*enter)(reading *));

/* For ring.settle: hash what is owed, or leave it to a taker who has nothing
   to do; `data` is the reading. */
void hash_owed(void *data);

/* Is what lies at this path, of which the record tells, still the same?
   For files whose times prove nothing. */
bool is_same_content(reading *g, const char *at, const ab_record_entry *e);

/* Look for what the record knows already. True: nothing differs, as far as
   names, inodes and times can tell. */
bool compare_with_record(reading *g);

#endif
