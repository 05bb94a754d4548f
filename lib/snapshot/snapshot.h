/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What other rooms may use of snapshots beyond the public header: a job whose
 * parts lie in different directories, as peering needs it.
 */
#ifndef AB_SNAPSHOT_SNAPSHOT_H
#define AB_SNAPSHOT_SNAPSHOT_H

#include <stdbool.h>

#include "agentbox/snapshot.h"
#include "base/attr.h"
#include "wire/copy.h"

AB_DEFINE_AUTO(agentbox_snapshot_options, agentbox_snapshot_options_free)
AB_DEFINE_AUTO(agentbox_snapshot, agentbox_snapshot_free)

/* The record's name for a snapshot's: ".NAME.agentbox". */
#define AB_SNAPSHOT_RECORD_SIZE 272
void ab_snapshot_record_name(const char *name,
			     char out[AB_SNAPSHOT_RECORD_SIZE]);

/* Everything borrowed; -1 and NULL for what the job does not have. */
typedef struct ab_snapshot_job {
	uint32_t job;	/* enum ab_copy_job */
	uint32_t flags; /* AB_COPY_REPLACE, ... */
	int source_fd, dest_fd, staging_fd, record_fd, stream_fd;
	const char *dest_name, *record_name, *source_name;
	const agentbox_snapshot_options *options;
	const void *choice; /* of a record, instead of options; or NULL */
	size_t choice_len;
	/* as root: whose rights read the source; all ones: who owns it */
	uint32_t source_uid, source_gid;
} ab_snapshot_job;

#define AB_SNAPSHOT_OWNER UINT32_MAX

int32_t ab_snapshot_start(agentbox_context *context,
			  const ab_snapshot_job *job, agentbox_snapshot **out,
			  agentbox_error **err);

/*
 * With AB_COPY_HOLD: the staged tree (borrowed) once it is complete, and -1
 * before and after; nothing is published until the second call.
 */
int ab_snapshot_staged_fd(const agentbox_snapshot *job);
int32_t ab_snapshot_publish(agentbox_snapshot *job, agentbox_error **err);

/*
 * End it now, whatever it is at, and wait until it can do nothing more: what
 * it has published by then stays.
 */
void ab_snapshot_kill(agentbox_snapshot *job);

/*
 * What a generation was made with, from its record, as a job's choice: it
 * points into *text (owned).
 */
int32_t ab_snapshot_read_choice(int dirfd, const char *file, char **text,
				const void **choice, size_t *choice_len,
				agentbox_error **err);

/* The options of a policy's `snapshot` section (a const json_t *). */
int32_t ab_snapshot_options_set_section(agentbox_snapshot_options *options,
					const void *section,
					agentbox_error **err);

/* Of it what leaves out more alone; on an error some may be there. */
int32_t ab_snapshot_options_add_excludes(agentbox_snapshot_options *options,
					 const void *section,
					 agentbox_error **err);

/* What the source does not see itself, see ab_filter_options. */
int32_t ab_snapshot_options_add_hidden(agentbox_snapshot_options *options,
				       const char *pattern,
				       agentbox_error **err);

/* Owned; the audit is the same one. */
int32_t ab_snapshot_options_copy(const agentbox_snapshot_options *options,
				 agentbox_snapshot_options **out,
				 agentbox_error **err);

/* What the job did; NULL before it ended well. Borrowed. */
const ab_copy_done *ab_snapshot_done(const agentbox_snapshot *job);

#endif
