/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The report of a job of agentbox-copy (wire/copy.h): what was left out and
 * why, or what is wrong with a snapshot. For the host and the source's owner
 * only: names tell secrets too. A line names a rule, never what was found.
 */
#ifndef AB_SNAPSHOT_REPORT_H
#define AB_SNAPSHOT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "snapshot/filter.h"

/* Past it lines are dropped; the last line says {"dropped":N}. */
#define AB_REPORT_MAX (64u << 20)

typedef struct ab_report {
	agentbox_bytes *bytes; /* owned */
	uint64_t lines, dropped;
} ab_report;

/* 0 or -ENOMEM. */
int ab_report_begin(ab_report *report);
void ab_report_end(ab_report *report);

typedef struct ab_report_left {
	enum ab_left_out reason; /* AB_KEPT: the finding is admitted */
	const char *rule; /* "": none */
	char tier;	  /* 0: none */
	uint64_t line;	  /* 0: unknown */
	bool is_base;	  /* of a range: in its base */
} ab_report_left;

void ab_report_left_out(ab_report *report, const char *path, size_t n,
			const ab_report_left *why);
/* `problem` is a static word: "missing", "extra", "content", ... */
void ab_report_problem(ab_report *report, const char *path, size_t n,
		       const char *problem);

/* A sealed memfd with all of it, or -errno. */
int ab_report_seal(ab_report *report);

#endif
