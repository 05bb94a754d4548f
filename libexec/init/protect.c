/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Binds of a path onto itself: read-only for a protected path, plain for an
 * ancestor that must not be renamed away. Made once by PID 1 while it builds
 * the tree, and again by the holder when the host's own rename has silently
 * detached one. Refuses links on the way; a link at the end is bound itself.
 * Spec: RECIPES.md section 8p, DESIGN.md section 6.
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "sys.h"

int init_bind_self(int root_fd, const char *path, uint32_t flags)
{
	ab_autofd int at = init_open_beneath(root_fd, path, O_NOFOLLOW);
	ab_autofd int tree = -1;

	if (at < 0)
		return at;
	/* recursive: what is already mounted below stays covered */
	tree = init_clone_tree(at, flags | AB_MOUNT_RECURSIVE,
			       init_mount_attrs(flags), -1);
	if (tree < 0)
		return tree;
	return ab_sys_move_mount(tree, "", at, "",
				 MOVE_MOUNT_F_EMPTY_PATH |
					 MOVE_MOUNT_T_EMPTY_PATH);
}
