/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The directories that the writer is in, from the tree's root down, each
 * beside the same one of the generation before and, where there is one, of
 * the one before that: the spare one, which this job clears away. A
 * generation that somebody may be shown is never written to. What the spare
 * one shares with it moves out of the spare one: a file by its name, and a
 * directory of the same files whole, as it is. Such a directory waits until
 * it is left before it is made: not before then is it known to be the same.
 */
#ifndef AB_COPY_LEVELS_H
#define AB_COPY_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "finish.h"
#include "job.h"
#include "spare.h"

typedef struct made_level {
	int fd;	      /* of what is made; -1: it waits */
	int old_fd;   /* -1: not in the generation before */
	int spare_fd; /* -1: nothing of it may be taken */
	bool is_open; /* the spare one may be written */
	int64_t mtime_ns;
	size_t path_len;
	spare_dir spare;
} made_level;

typedef struct levels {
	finisher *finisher; /* borrowed: holds descriptors too */
	made_level at[COPY_MAX_DEPTH + 1];
	size_t depth;
	uint8_t *raw; /* owned */
	char name[AB_MAX_NAME + 1]; /* of the one that waits */
} levels;

/* Of the roots, borrowed; -1: there is none. 0 or -errno, as all of these. */
int levels_begin(levels *s, finisher *f, int tree_fd, int old_fd,
		 int spare_fd);
/* Into a new directory; path_len: of the path that it lies in. */
int levels_enter(levels *s, const char *name, int64_t mtime_ns,
		 size_t path_len);
/* Before anything is made in the last one. */
int levels_make(levels *s);
/* The file of the generation before. -EEXIST: the name is taken. */
int levels_link(levels *s, const char *name);
/* Out of the last one, which has this name, and it is finished. */
int levels_leave(levels *s, const char *name);

static inline made_level *levels_last(levels *s)
{
	return &s->at[s->depth - 1];
}

#endif
