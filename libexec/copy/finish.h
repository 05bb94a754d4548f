/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The finisher: a thread of the writer. The writer makes files; the finisher
 * writes what is in them, sets their times and closes them, in the order in
 * which they were made, and gives their room in the ring back. To make a file
 * costs a file system about as much as to fill it, and the writer has more to
 * do than the reader. A file is part of a snapshot only when all of them are
 * done, so nothing of it waits for one.
 *
 * It works while a processor is left for it: where there are three, always.
 * Of two, the reader has one, so there it is while the reader rests; a third
 * who wakes and sleeps beside them is queued behind one of them, and the
 * kernel leaves the other processor idle. Until then the files wait, and when
 * they are too many the writer finishes some itself.
 */
#ifndef AB_COPY_FINISH_H
#define AB_COPY_FINISH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "ring.h"

/* As many files may be open between the two; a power of 2. */
#define FINISH_JOBS 256

/* Who takes jobs from the queue. Free: whoever takes hold of it. */
enum finish_owner { FINISH_FREE, FINISH_FINISHER, FINISH_WRITER };

typedef struct finish_job {
	int fd; /* taken with is_last; -1: only room in the ring */
	bool has_time, is_last;
	bool is_whole; /* the only job of this file */
	const uint8_t *data; /* in the ring */
	size_t len;
	int64_t mtime_ns;
	uint64_t end; /* of the record in the ring */
	char path[AB_MAX_PATH + 1];
} finish_job;

typedef struct finisher {
	ring *ring;
	int job_event, done_event;
	int processors;
	_Atomic uint64_t put; /* the writer's count */
	_Atomic uint32_t writer_waits;
	uint8_t apart[64]; /* each writes its own line of the cache */
	_Atomic uint64_t done; /* the owner's */
	_Atomic uint32_t owner;
	/* the first job that failed; what was wrong with it */
	_Atomic uint32_t is_failing, has_failed;
	int sys_errno;
	const char *message;
	char path[AB_MAX_PATH + 1];
	finish_job jobs[FINISH_JOBS];
} finisher;

/*
 * With the caller's rights as they are now; the thread loads its own filter
 * before it touches anything. 0 or -errno.
 */
int finish_start(finisher *f, ring *from);

/* Where the next job goes; waits for room. Its path need not be set again. */
finish_job *finish_reserve(finisher *f);
void finish_commit(finisher *f);
/* Before the writer waits for others: nothing is left lying for long. */
void finish_flush(finisher *f);
/* All that was committed is done. */
void finish_wait(finisher *f);
/* Does a file fail? What, is in *f. No job after it is done. */
bool finish_has_failed(const finisher *f);

#endif
