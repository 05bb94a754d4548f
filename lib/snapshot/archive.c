/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Snapshots that travel as archives: a job of agentbox-archive each. No byte
 * of an archive is looked at here. Refuses descriptors that cannot be what
 * they are given for.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/error.h"
#include "snapshot/job.h"

static int32_t flags_of(const char *format, uint32_t *flags,
			agentbox_error **err)
{
	static const struct {
		const char *name;
		uint32_t flags;
	} formats[] = {
		{ "tar", 0 },
		{ "tar.gz", AB_COPY_GZIP },
		{ "tar.zst", AB_COPY_ZSTD },
		{ "zip", AB_COPY_ZIP },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(formats); i++) {
		if (!format || strcmp(format, formats[i].name) == 0) {
			*flags = formats[i].flags;
			return 0;
		}
	}
	return ab_error_set(err, AGENTBOX_EINVAL, "format",
			    "\"%s\" is no format; give \"tar\", \"tar.gz\", "
			    "\"tar.zst\" or \"zip\"", format);
}

/* A file, a pipe or a socket, open for what is wanted of it. */
static int32_t check_stream(int fd, int closed_mode, const char *what,
			    agentbox_error **err)
{
	int mode = fd < 0 ? -1 : fcntl(fd, F_GETFL);
	struct stat st;

	if (!agentbox_has_feature("archives"))
		return ab_error_set(err, AGENTBOX_EUNSUPPORTED, what,
				    "this build has no archives: libarchive "
				    "was missing");
	if (mode < 0 || fstat(fd, &st) < 0)
		return ab_error_sys(err, fd < 0 ? EBADF : errno, what,
				    "no descriptor of an archive");
	if (mode & O_PATH || (mode & O_ACCMODE) == closed_mode ||
	    S_ISDIR(st.st_mode))
		return ab_error_set(err, AGENTBOX_EINVAL, what,
				    "the descriptor is not open for %s",
				    closed_mode == O_RDONLY ? "writing"
							    : "reading");
	return 0;
}

int32_t agentbox_snapshot_pack(agentbox_context *context, int32_t source_fd,
			       const char *source_name, int32_t out_fd,
			       const char *format,
			       const agentbox_snapshot_options *options,
			       agentbox_snapshot **job, agentbox_error **err)
{
	ab_snapshot_job j = { .job = AB_COPY_PACK, .source_fd = source_fd,
			      .source_name = source_name, .dest_fd = -1,
			      .staging_fd = -1, .record_fd = -1,
			      .stream_fd = out_fd, .options = options,
			      .source_uid = AB_SNAPSHOT_OWNER,
			      .source_gid = AB_SNAPSHOT_OWNER };
	int32_t rc = flags_of(format, &j.flags, err);

	if (rc == 0)
		rc = check_stream(out_fd, O_RDONLY, "archive", err);
	return rc < 0 ? rc : ab_snapshot_start_job(context, &j, job, err);
}

int32_t agentbox_snapshot_unpack(agentbox_context *context, int32_t in_fd,
				 const char *source_name, int32_t dest_fd,
				 const char *name,
				 const agentbox_snapshot_options *options,
				 agentbox_snapshot **job,
				 agentbox_error **err)
{
	ab_snapshot_job j = { .job = AB_COPY_UNPACK, .source_fd = -1,
			      .source_name = source_name,
			      .stream_fd = in_fd, .options = options };
	int32_t rc = check_stream(in_fd, O_WRONLY, "archive", err);

	return rc < 0 ? rc :
			ab_snapshot_start_at(context, &j, dest_fd, name, job,
					     err);
}
