/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drives agentbox-copy without the public interface: a plan by hand, the
 * messages of wire/copy.h. For the cases of snapshots (SNAPSHOT-CASES.md) and
 * the benchmark's private runs.
 */
#ifndef E2E_COPY_H
#define E2E_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/spawn.h"
#include "snapshot/content.h"
#include "snapshot/filter.h"
#include "wire/copy.h"

/* What to do; copy_init() fills what most cases want. */
typedef struct copy_task {
	ab_copy_plan plan;
	ab_filter_options filter;
	const char *source;  /* a directory */
	const char *dest;    /* the directory that holds plan.dest_name */
	const char *staging; /* NULL: dest */
	const char *record;  /* NULL: dest */
} copy_task;

/* How it ended. */
typedef struct copy_end {
	int32_t code; /* 0: DONE, else what FAILED says, or -ECLOSED */
	int32_t sys_errno;
	char where[1200], message[600], digest[80];
	ab_copy_done done; /* its digest is above */
	char *report;	   /* kept until the case ends; "" without */
	bool staged;
} copy_end;

typedef struct copy_run {
	ab_helper helper;
	agentbox_context *context;
} copy_run;

/* MAKE of base/ws into base/out/snap, everything allowed. */
void copy_init(copy_task *task, uint32_t job);
/* Start it and give it the directories; ends the case when it cannot. */
copy_run copy_start(const copy_task *task);
/* The next message that is no progress: its kind, 0 at the end. */
uint32_t copy_next(copy_run *run, copy_end *end, int *fd);
void copy_say(copy_run *run, uint32_t kind);
/* Until it has ended. */
void copy_wait(copy_run *run, copy_end *end);
/* All of it. */
copy_end copy_do(const copy_task *task);

/* MAKE as copy_init() has it, with these flags. */
copy_end copy_make(uint32_t flags);
#define GOOD(end) \
	CHECK((end).code == 0, "%d %s: %s (%d)", (end).code, (end).where, \
	      (end).message, (end).sys_errno)
#define LEFT(end, path, reason) \
	CHECK(strcmp(left_out_as(&(end), path), reason) == 0, \
	      "%s is '%s', not '%s'", path, left_out_as(&(end), path), reason)

/* Mounts of the case's own; skips where there are none. */
void copy_may_mount(void);

/* A context whose helpers are those of this build. */
agentbox_context *copy_context(void);

/* base/out/snap/... */
const char *snap_path(const char *relative);
bool snap_has(const char *relative);
/* The reason word of this path in the report, or "". */
const char *left_out_as(const copy_end *end, const char *path);
/* Names in a directory that a job may have left. */
size_t copy_leftovers(const char *dir);
/* Checks that there is no snapshot, and nothing of one. */
void copy_nothing_published(void);

#endif
