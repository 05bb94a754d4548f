/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Jobs of snapshots, as the snapshot and peer subcommands wait for them. */
#ifndef TOOLS_JOB_H
#define TOOLS_JOB_H

#include <agentbox/snapshot.h>

#include "tool.h"

/* The options given on the command line; 0 or an exit status, already said. */
int tool_snapshot_options(tool *t, const tool_args *args,
			  agentbox_snapshot_options **options);
bool tool_snapshot_has_options(const tool_args *args);

/* What is still to be done when a job has ended well; 0 or an exit status. */
typedef int tool_job_last(tool *t, void *data);
/*
 * Wait with a line of progress, do what is last (NULL: nothing), then tell the
 * counts; `lines`: also what was left out, or what is wrong. 0 or an exit
 * status.
 */
int tool_job_wait(tool *t, agentbox_snapshot *job, const char *about,
		  bool lines, tool_job_last *last, void *data);
/* The report as an array; NULL when there is none. */
json_t *tool_job_report(const agentbox_snapshot *job);
/* "12 files, 3.4 MiB; 2 left out" of agentbox_snapshot_to_json(). */
void tool_job_tell(const json_t *counts, const char *about);

#endif
