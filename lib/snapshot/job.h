/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside of the host's half of lib/snapshot: options as plain data, and what
 * a job is made from.
 */
#ifndef AB_SNAPSHOT_JOB_H
#define AB_SNAPSHOT_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agentbox/snapshot.h"
#include "snapshot/content.h"
#include "snapshot/filter.h"
#include "snapshot/record.h"
#include "snapshot/snapshot.h"
#include "wire/copy.h"

/* A growing list of owned strings. */
typedef struct ab_patterns {
	char **items;
	size_t count;
} ab_patterns;

struct agentbox_snapshot_options {
	enum ab_filter_profile profile;
	enum ab_content_level content;
	bool hashes;
	uint64_t max_bytes, max_files, max_file_bytes, deadline_ms;
	uint32_t max_depth;
	uint32_t git_mode; /* enum ab_copy_git */
	char *git_base;	   /* owned, or NULL */
	char *git_repository, *git_head; /* owned; both or neither */
	bool may_be_idle; /* a policy's, which means nothing without commits */
	ab_patterns exclude, include, admit, hidden;
	agentbox_audit *audit; /* a reference, or NULL */
};

enum ab_record_use {
	AB_RECORD_TELL,	  /* what it says, to whoever asks */
	/* the host will do as it says: AGENTBOX_EDENIED where another user
	   could have written it */
	AB_RECORD_FOLLOW
};

/* The record of a plain snapshot; *record points into *text, owned. */
int32_t ab_snapshot_read_record(int dest_fd, const char *name,
				enum ab_record_use use, char **text,
				ab_record *record, agentbox_error **err);
/*
 * The repository of the plan, if it has one: the fd (owned), and what the
 * plan says of it. `is_record`: a record named it, and it has to be the same
 * directory still.
 */
int32_t ab_snapshot_open_repository(ab_copy_plan *plan, bool is_record,
				    int *fd, agentbox_error **err);
/* A name that a plain snapshot may have. */
int32_t ab_snapshot_check_name(const char *name, agentbox_error **err);
/* A job, and one on the snapshot `name` in dest_fd. */
int32_t ab_snapshot_start_job(agentbox_context *context,
			      const ab_snapshot_job *job,
			      agentbox_snapshot **out, agentbox_error **err);
int32_t ab_snapshot_start_at(agentbox_context *context, ab_snapshot_job *job,
			     int32_t dest_fd, const char *name,
			     agentbox_snapshot **out, agentbox_error **err);
void ab_snapshot_options_init(agentbox_snapshot_options *options);

#endif
