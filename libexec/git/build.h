/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From two judged sides to what is made: every file looked into, kept or left
 * out, the head's sent to the writer; and the trees and commits that hold
 * exactly what was kept.
 *
 * What the head leaves out, at whatever version, is absent from the base too.
 * What only the base leaves out is absent there alone: a difference then shows
 * the file as new, and never one that is there as gone.
 */
#ifndef AB_GIT_BUILD_H
#define AB_GIT_BUILD_H

#include "emit.h"
#include "snapshot/content.h"
#include "snapshot/report.h"

typedef struct build {
	copy_job *job;
	copy_failure *failure;
	objects *objects;
	const ab_filter *filter;
	ab_content *content;
	side *head;
	side *base;    /* NULL: none */
	bool is_sent;  /* false: explain, nothing is made */
	pack_out out;
	emitter emitter;
	index_out index;
	path path;
	uint64_t bytes; /* read and kept, on both sides */
	copy_read counts;
	uint8_t head_made[OID_SIZE], base_made[OID_SIZE]; /* commits */
} build;

/* 0, or -1 with *failure. */
int build_all(build *b);
/* Lines of what was left out, and the counts of them. */
void build_report(build *b, ab_report *report);

#endif
