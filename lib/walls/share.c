/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a box finds what peers share with it: `.shared` in its workspace, a
 * mount of its own, read-only, nosuid, nodev, noexec and nosymfollow, over a
 * directory of the host that no policy can name. Because it is a mount the
 * agent can neither rename nor fill it (RECIPES.md section 4), and what is
 * granted later is renamed into it on the host's side: nothing is ever
 * mounted in a box that runs. The empty mount point is all that the host makes
 * in the workspace, and it goes with the last box that uses it.
 *
 * Spec: DESIGN.md section 8, cases H.119 and H.120.
 */
#include "config.h"

#include "walls/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/context.h"
#include "base/error.h"
#include "base/fd.h"
#include "path/lexical.h"

#define WHERE "/peering"

/* Of this mode whatever the umask: each box has a uid of its own. */
static int32_t make_dir(int dirfd, const char *name, mode_t mode,
			agentbox_error **err)
{
	int r = ab_fd_make_dir(dirfd, name, mode);

	return r ? ab_error_sys(err, -r, WHERE,
				"cannot make '%s' in the state directory",
				name)
		 : 0;
}

/* <state>/boxes/<id>: what is shown, what is being made, the records. */
static int32_t make_source(ab_build *b, const char *state, ab_hostpath *h,
			   agentbox_error **err)
{
	static const struct { const char *name; mode_t mode; } parts[] = {
		{ AB_SHARE_SHOWN, 0755 },
		{ AB_SHARE_STAGING, 0700 },
		{ AB_SHARE_RECORDS, 0700 },
	};
	ab_autofd int state_fd = -1, dir = -1;
	ab_autofree char *path = ab_asprintf("%s/boxes/%s", state,
					     b->input->box_id);
	ab_autofree char *shown = NULL;

	if (!path)
		return ab_error_nomem(err);
	int32_t rc = ab_context_open_state(b->context, &state_fd, err);
	if (rc == 0)
		rc = make_dir(state_fd, "boxes", 0700, err);
	if (rc < 0)
		return rc;
	if (mkdir(path, 0700) < 0 || fchmodat(AT_FDCWD, path, 0700, 0) < 0)
		return ab_error_sys(err, errno, WHERE, "cannot make '%s'",
				    path);
	shown = ab_asprintf("%s/" AB_SHARE_SHOWN, path);
	b->out->share = ab_steal(&path);
	dir = ab_fd_lift(open(b->out->share, O_RDONLY | O_DIRECTORY |
			      O_NOFOLLOW | O_CLOEXEC));
	if (dir < 0 || flock(dir, LOCK_SH | LOCK_NB) < 0)
		return ab_error_sys(err, errno, WHERE,
				    "cannot lock '%s'", b->out->share);
	b->out->share_lock_fd = ab_fd_dup(dir);
	if (b->out->share_lock_fd < 0)
		return ab_error_sys(err, -b->out->share_lock_fd, WHERE,
				    "no descriptor left");
	for (size_t i = 0; rc == 0 && i < AB_ARRAY_LEN(parts); i++)
		rc = make_dir(dir, parts[i].name, parts[i].mode, err);
	if (rc < 0)
		return rc;
	return shown ? ab_host_resolve(shown, WHERE, h, err) :
		       ab_error_nomem(err);
}

static bool is_empty(int fd)
{
	DIR *dir = ab_fd_open_list(fd, ".");
	bool has_entry;
	int error;

	if (!dir)
		return false;
	has_entry = ab_fd_next(dir, &error) != NULL;
	closedir(dir);
	return !has_entry && !error;
}

/*
 * The mount point. What is there under this name is somebody's: only an empty
 * directory is taken. The lock says that a box uses it.
 */
static int32_t make_point(ab_build *b, agentbox_error **err)
{
	bool made = mkdirat(b->workspace.fd, AB_SHARE_NAME, 0755) == 0;

	if (!made && errno != EEXIST)
		return ab_error_sys(err, errno, WHERE,
				    "cannot make the mount point '%s/"
				    AB_SHARE_NAME "'", b->workspace.path);
	int fd = ab_fd_lift(openat(b->workspace.fd, AB_SHARE_NAME,
				   O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
				   O_CLOEXEC));
	if (fd < 0)
		return ab_error_sys(err, errno, WHERE,
				    "'%s/" AB_SHARE_NAME "' is not a directory "
				    "of this host's; move it away",
				    b->workspace.path);
	b->out->share_point_fd = fd;
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		return ab_error_sys(err, errno, WHERE,
				    "'%s/" AB_SHARE_NAME "' is being removed by "
				    "another box; try again",
				    b->workspace.path);
	if (!made && !is_empty(fd))
		return ab_error_set(err, AGENTBOX_EEXIST, WHERE,
				    "'%s/" AB_SHARE_NAME "' holds something of "
				    "its own; move it away, or leave peering "
				    "out of the policy", b->workspace.path);
	b->out->share_parent_fd = ab_fd_dup(b->workspace.fd);
	return b->out->share_parent_fd < 0 ?
		       ab_error_sys(err, -b->out->share_parent_fd, WHERE,
				    "no descriptor left") :
		       0;
}

int32_t ab_share_compile(ab_build *b, agentbox_error **err)
{
	const char *state = ab_context_state_dir(b->context);
	char at[AB_MAX_PATH];
	ab_hostpath h = { .fd = -1 };

	if (b->policy->peering != AB_PEERING_READ)
		return 0;
	if (!ab_build_has_tree(b) || b->workspace.fd < 0) {
		ab_build_note(b, "peering: the box has %s, so no peer can be "
			      "shared with it", b->workspace.fd < 0 ?
			      "no workspace" : "no file tree of its own");
		return 0;
	}
	if (b->input->dry)
		return 0;
	if (!state)
		return ab_error_set(err, AGENTBOX_EINVAL, WHERE,
				    "what peers share lies in the state "
				    "directory: set one, or leave peering out "
				    "of the policy");
	if (ab_path_join(b->plan.workspace_inside, AB_SHARE_NAME, at,
			 sizeof(at)) <= 0)
		return ab_error_set(err, AGENTBOX_ELIMIT, WHERE,
				    "the workspace's path is too long");
	int32_t rc = make_source(b, state, &h, err);
	if (rc == 0)
		rc = make_point(b, err);
	if (rc < 0) {
		if (h.fd >= 0)
			close(h.fd);
		return rc;
	}
	ab_plan_step *s = ab_build_step(b, AB_STEP_BIND,
					AB_MOUNT_RDONLY | AB_MOUNT_NOEXEC |
					AB_MOUNT_NOSYMFOLLOW,
					ab_build_str(b, at));
	s->source = ab_build_str(b, h.path);
	s->dev = h.dev;
	s->ino = h.ino;
	ab_build_pin(b, h.fd);
	return 0;
}

void ab_share_end(ab_compiled *c)
{
	static const char *const parts[] = { AB_SHARE_SHOWN, AB_SHARE_STAGING,
					     AB_SHARE_RECORDS };

	/* A box that shares the workspace holds the lock: the removal of its
	   mount point would take its mount away. */
	if (c->share_point_fd > 0 && c->share_parent_fd > 0 &&
	    flock(c->share_point_fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(c->share_parent_fd, AB_SHARE_NAME, AT_REMOVEDIR);
	if (c->share_point_fd > 0)
		close(c->share_point_fd);
	if (c->share_parent_fd > 0)
		close(c->share_parent_fd);
	/* what was granted and not revoked stays, and what leads to it:
	   peering sweeps it */
	for (size_t i = 0; c->share && i < AB_ARRAY_LEN(parts); i++) {
		char path[AB_MAX_PATH];

		if (ab_path_join(c->share, parts[i], path, sizeof(path)) <= 0 ||
		    (rmdir(path) && errno != ENOENT))
			break;
	}
	if (c->share)
		rmdir(c->share);
	if (c->share_lock_fd > 0)
		close(c->share_lock_fd);
	free(c->share);
}
