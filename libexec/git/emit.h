/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What goes to the writer (libexec/copy/ring.h): the files of the head with
 * the directories they need, then ".git", which is no part of the source and
 * says so.
 */
#ifndef AB_GIT_EMIT_H
#define AB_GIT_EMIT_H

#include "out.h"
#include "sides.h"

typedef struct emitter {
	copy_job *job;
	int64_t mtime_ns; /* of every file and directory */
	/* names of the directories of the path at hand; borrowed */
	const char *names[COPY_MAX_DEPTH + 8];
	size_t depth, entered;
	uint32_t flags; /* of what is sent now */
} emitter;

/* Directories are made when something in them is. */
void emit_down(emitter *e, const char *name);
void emit_up(emitter *e);
void emit_file(emitter *e, const char *name, bool is_exec, const void *p,
	       size_t n);
void emit_finish(emitter *e);

/* The index: one entry after the other, in byte order of the paths. */
typedef struct index_out {
	uint8_t *p; /* owned */
	size_t n, room;
	uint32_t count;
	bool bad; /* out of memory */
} index_out;

void index_add(index_out *i, const char *at, size_t n, bool is_exec,
	       const uint8_t oid[OID_SIZE], uint64_t size, int64_t mtime_ns);

/* ".git" with everything; `branch` is what HEAD's is. 0 or -errno. */
int emit_repository(emitter *e, pack_out *o, index_out *index,
		    const uint8_t head[OID_SIZE]);

#endif
