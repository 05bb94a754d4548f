/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of agentbox-verify share. An operation tries one thing and
 * returns what the kernel said: 0 or more when it was let, -errno when it was
 * refused. It never judges, leaves nothing behind, and harms nothing where a
 * wall is missing.
 */
#ifndef VERIFY_PROBE_H
#define VERIFY_PROBE_H

#include <stddef.h>

/* Neither let nor refused: it could not be found out. */
#define PROBE_UNKNOWN (-4096L)

typedef struct probe_op {
	const char *name;
	int argc; /* at least */
	/* argv ends with NULL */
	long (*run)(char **argv);
} probe_op;

/* Each ends with a NULL name. */
extern const probe_op probe_files[], probe_kernel[], probe_network[];

/* Paths and names that were found stand one to a line; this one says that
   there are others, or may be. */
#define PROBE_MORE "\n..."

/* What was found, for the answer's line; more is cut off and said so. */
void probe_tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* -errno after a failed call, else the value. */
long probe_result(long value);

#endif
