/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A repository that the host names, for trees whose own ".git" is a pointer:
 * what an agent can write says where that one leads, so it is not followed;
 * who reads whose repository is the host's to say. Refuses relative paths,
 * links in the path, and names of a head that could mean two things. Nothing
 * of the repository is read here. Spec: agentbox_snapshot(3).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/limits.h"
#include "policy/commit.h"
#include "snapshot/job.h"

static int32_t check(const char *path, const char *head, agentbox_error **err)
{
	if (!path != !head)
		return ab_error_set(err, AGENTBOX_EINVAL, "repository",
				    path ? "which commit of the repository? "
					   "give a head" :
					   "a head is for a repository that is "
					   "named");
	if (path && (*path != '/' || strlen(path) >= AB_MAX_PATH))
		return ab_error_set(err, AGENTBOX_EINVAL, "repository",
				    "\"%s\" is no absolute path", path);
	if (head && !ab_commit_is_head(head))
		return ab_error_set(err, AGENTBOX_EINVAL, "head",
				    "\"%s\" could mean several commits or "
				    "none; give \"refs/heads/NAME\", the full "
				    "name of a commit, \"HEAD\" or "
				    "\"worktrees/NAME/HEAD\"", head);
	return 0;
}

int32_t agentbox_snapshot_options_set_repository(
	agentbox_snapshot_options *options, const char *path,
	const char *head, agentbox_error **err)
{
	if (!options)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "options is NULL");
	int32_t rc = check(path, head, err);
	if (rc < 0)
		return rc;
	ab_autofree char *p = path ? ab_strdup(path) : NULL;
	ab_autofree char *h = head ? ab_strdup(head) : NULL;
	if (path && (!p || !h))
		return ab_error_nomem(err);
	free(options->git_repository);
	free(options->git_head);
	options->git_repository = ab_steal(&p);
	options->git_head = ab_steal(&h);
	options->may_be_idle = false;
	return 0;
}

/* By the path alone, and nothing on the way is a link that somebody could
   have put there. O_PATH: who reads in it is the job, with its own rights. */
static int32_t open_path(const char *path, int *fd, struct stat *st,
			 agentbox_error **err)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_NO_SYMLINKS |
					   RESOLVE_NO_MAGICLINKS };
	ab_autofd int dir = ab_fd_lift((int)syscall(
		SYS_openat2, AT_FDCWD, path, &how, sizeof(how)));

	if (dir < 0 && errno == ELOOP)
		return ab_error_set(err, AGENTBOX_EDENIED, "repository",
				    "a part of '%s' is a symbolic link, which "
				    "is not followed; give the path without",
				    path);
	if (dir < 0 || fstat(dir, st) < 0)
		return ab_error_sys(err, errno, "repository",
				    "cannot open the repository '%s'", path);
	*fd = ab_steal_fd(&dir);
	return 0;
}

int32_t ab_snapshot_open_repository(ab_copy_plan *plan, bool is_record,
				    int *fd, agentbox_error **err)
{
	ab_autofd int dir = -1;
	struct stat st;

	if (!*plan->git_repository)
		return 0;
	if (plan->git_mode == AB_COPY_GIT_NONE)
		return ab_error_set(err, AGENTBOX_EINVAL, "repository",
				    "a repository is for git \"head\" or "
				    "\"range\"");
	int32_t rc = open_path(plan->git_repository, &dir, &st, err);
	if (rc < 0)
		return rc;
	if (is_record && (st.st_dev != plan->repository_dev ||
			  st.st_ino != plan->repository_ino))
		return ab_error_set(err, AGENTBOX_EDENIED, "repository",
				    "'%s' is another directory than the "
				    "repository that the snapshot was made "
				    "from", plan->git_repository);
	plan->repository_dev = st.st_dev;
	plan->repository_ino = st.st_ino;
	plan->fds |= AB_COPY_FD_REPOSITORY;
	*fd = ab_steal_fd(&dir);
	return 0;
}
