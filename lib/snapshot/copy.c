/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The jobs of the public header: which directories each one needs. A plain
 * snapshot keeps its tree, its staging directory and its record in the one
 * directory it was asked for.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/limits.h"
#include "snapshot/job.h"

/* The record's name, and that of a staging directory, must fit too. */
#define MAX_NAME (AB_MAX_NAME - 32)
/* Of directories above one another. */
#define MAX_LEVELS 4096

int32_t ab_snapshot_check_name(const char *name, agentbox_error **err)
{
	if (!name)
		return ab_error_set(err, AGENTBOX_EINVAL, "name",
				    "name is NULL");
	size_t n = strnlen(name, MAX_NAME + 1);
	if (n == 0 || n > MAX_NAME || name[0] == '.' || strchr(name, '/'))
		return ab_error_set(err, AGENTBOX_EINVAL, "name",
				    "the name of a snapshot is one component "
				    "of 1 to %d bytes without a leading dot",
				    MAX_NAME);
	return 0;
}

int32_t ab_snapshot_start_job(agentbox_context *context,
			      const ab_snapshot_job *job,
			      agentbox_snapshot **out, agentbox_error **err)
{
	const bool reads = job->job == AB_COPY_MAKE ||
			   job->job == AB_COPY_EXPLAIN ||
			   job->job == AB_COPY_PACK;
	const bool has_place = job->job != AB_COPY_EXPLAIN &&
			       job->job != AB_COPY_PACK;

	if (!context || !out)
		return ab_error_set(err, AGENTBOX_EINVAL, "", "%s is NULL",
				    context ? "job" : "context");
	if ((reads && job->source_fd < 0) || (has_place && job->dest_fd < 0))
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "no descriptor of a directory");
	return ab_snapshot_start(context, job, out, err);
}

int32_t ab_snapshot_start_at(agentbox_context *context, ab_snapshot_job *job,
			     int32_t dest_fd, const char *name,
			     agentbox_snapshot **out, agentbox_error **err)
{
	char record[AB_SNAPSHOT_RECORD_SIZE];
	int32_t rc = ab_snapshot_check_name(name, err);

	if (rc < 0)
		return rc;
	ab_snapshot_record_name(name, record);
	job->dest_fd = job->staging_fd = job->record_fd = dest_fd;
	job->dest_name = name;
	job->record_name = record;
	job->source_uid = job->source_gid = AB_SNAPSHOT_OWNER;
	return ab_snapshot_start_job(context, job, out, err);
}

/* A refresh is of the tree that was copied, and of no other. */
static int32_t same_source(int source_fd, const ab_record *record,
			   agentbox_error **err)
{
	struct stat st;

	if (fstat(source_fd, &st) < 0)
		return ab_error_sys(err, errno, "source",
				    "no descriptor of a directory");
	if (st.st_dev != record->head.source_dev ||
	    st.st_ino != record->head.source_ino)
		return ab_error_set(err, AGENTBOX_EDENIED, "source",
				    "the snapshot was made from another "
				    "directory");
	return 0;
}

/*
 * The source of a refresh may have been moved into the tree that the refresh
 * removes. Where the way up cannot be seen nothing is lost but what was moved.
 */
static int32_t check_apart(int source_fd, int dest_fd, const char *name,
			   agentbox_error **err)
{
	ab_autofd int fd = ab_fd_dup(source_fd);
	struct stat tree, at, up;

	if (fd < 0 || fstat(fd, &at) < 0 ||
	    fstatat(dest_fd, name, &tree, AT_SYMLINK_NOFOLLOW) < 0)
		return 0; /* told by who needs them */
	for (int i = 0; i < MAX_LEVELS; i++) {
		if (at.st_dev == tree.st_dev && at.st_ino == tree.st_ino)
			return ab_error_set(err, AGENTBOX_EINVAL, "source",
					    "the source is in the snapshot "
					    "'%s', which a refresh replaces",
					    name);
		int parent = ab_fd_lift(openat(fd, "..", O_PATH | O_DIRECTORY |
					       O_CLOEXEC));
		ab_cleanup_fd(&fd);
		fd = parent;
		if (fd < 0 || fstat(fd, &up) < 0 ||
		    (up.st_dev == at.st_dev && up.st_ino == at.st_ino))
			break;
		at = up;
	}
	return 0;
}

int32_t agentbox_snapshot_copy(agentbox_context *context, int32_t source_fd,
			       const char *source_name, int32_t dest_fd,
			       const char *name,
			       const agentbox_snapshot_options *options,
			       agentbox_snapshot **job, agentbox_error **err)
{
	ab_snapshot_job j = { .job = AB_COPY_MAKE, .source_fd = source_fd,
			      .source_name = source_name, .stream_fd = -1,
			      .options = options };

	return ab_snapshot_start_at(context, &j, dest_fd, name, job, err);
}

int32_t agentbox_snapshot_refresh(agentbox_context *context,
				  int32_t source_fd, int32_t dest_fd,
				  const char *name,
				  const agentbox_snapshot_options *options,
				  agentbox_snapshot **job,
				  agentbox_error **err)
{
	ab_autofree char *text = NULL, *source = NULL;
	ab_auto(agentbox_error) *why = NULL;
	ab_record record;
	ab_snapshot_job j = { .job = AB_COPY_MAKE,
			      .flags = AB_COPY_REPLACE | AB_COPY_KEEP_OLD,
			      .source_fd = source_fd, .stream_fd = -1,
			      .options = options };

	int32_t rc = ab_snapshot_check_name(name, err);
	if (rc == 0)
		rc = check_apart(source_fd, dest_fd, name, err);
	if (rc < 0)
		return rc;
	rc = ab_snapshot_read_record(dest_fd, name, AB_RECORD_FOLLOW, &text,
				     &record, &why);
	if (rc < 0 && (!options || rc == AGENTBOX_EDENIED))
		return ab_error_move(err, &why);
	/* without a record that can be read everything is read anew */
	if (rc == 0) {
		source = ab_memdup0(record.source_name,
				    record.head.source_name_len);
		if (!source)
			return ab_error_nomem(err);
		rc = same_source(source_fd, &record, err);
		if (rc < 0)
			return rc;
		j.source_name = source;
	}
	if (!options) {
		j.choice = record.choice;
		j.choice_len = (size_t)record.head.choice_len;
	}
	return ab_snapshot_start_at(context, &j, dest_fd, name, job, err);
}

int32_t agentbox_snapshot_explain(agentbox_context *context,
				  int32_t source_fd,
				  const agentbox_snapshot_options *options,
				  agentbox_snapshot **job,
				  agentbox_error **err)
{
	ab_snapshot_job j = { .job = AB_COPY_EXPLAIN, .source_fd = source_fd,
			      .dest_fd = -1, .staging_fd = -1, .record_fd = -1,
			      .stream_fd = -1, .options = options,
			      .source_uid = AB_SNAPSHOT_OWNER,
			      .source_gid = AB_SNAPSHOT_OWNER };

	return ab_snapshot_start_job(context, &j, job, err);
}

int32_t agentbox_snapshot_verify(agentbox_context *context, int32_t dest_fd,
				 const char *name, agentbox_snapshot **job,
				 agentbox_error **err)
{
	ab_snapshot_job j = { .job = AB_COPY_VERIFY, .source_fd = -1,
			      .stream_fd = -1 };

	return ab_snapshot_start_at(context, &j, dest_fd, name, job, err);
}

int32_t agentbox_snapshot_scrub(agentbox_context *context, int32_t dest_fd,
				const char *name, agentbox_snapshot **job,
				agentbox_error **err)
{
	ab_snapshot_job j = { .job = AB_COPY_SCRUB, .flags = AB_COPY_ASKED,
			      .source_fd = -1, .stream_fd = -1 };

	return ab_snapshot_start_at(context, &j, dest_fd, name, job, err);
}
