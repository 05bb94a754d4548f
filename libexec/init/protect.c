/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mounts on top of what is there. Binds of a path onto itself: read-only for
 * a protected path, plain for an ancestor that must not be renamed away. Made
 * once by PID 1 while it builds the tree, and again by the holder when the
 * host's own rename has silently detached one; so are the other mounts that
 * lie in host trees. Refuses links on the way; one at the end is covered.
 * Spec: RECIPES.md section 8p, DESIGN.md section 6.
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys.h"

int init_mount_self(int root_fd, const char *path, uint32_t flags)
{
	ab_autofd int at = init_open_beneath(root_fd, path, O_NOFOLLOW);
	ab_autofd int tree = -1;
	int r;

	if (at < 0)
		return at;
	/* recursive: what is already mounted below stays covered */
	tree = init_clone_tree(at, flags | AB_MOUNT_RECURSIVE,
			       init_mount_attrs(flags), -1);
	if (tree < 0)
		return tree;
	r = ab_sys_move_mount(tree, "", at, "",
			      MOVE_MOUNT_F_EMPTY_PATH |
				      MOVE_MOUNT_T_EMPTY_PATH);
	return r < 0 ? r : ab_steal_fd(&tree);
}

int init_bind_self(int root_fd, const char *path, uint32_t flags)
{
	ab_autofd int tree = init_mount_self(root_fd, path, flags);

	return tree < 0 ? tree : 0;
}

int init_bind_tree(int root_fd, const char *path, int tree_fd)
{
	ab_autofd int at = init_open_beneath(root_fd, path, O_NOFOLLOW);

	if (at < 0)
		return at;
	return ab_sys_move_mount(tree_fd, "", at, "",
				 MOVE_MOUNT_F_EMPTY_PATH |
					 MOVE_MOUNT_T_EMPTY_PATH);
}

#define NOTHING (AB_MOUNT_RDONLY | AB_MOUNT_NOEXEC)

/*
 * A file can only be cloned out of a tree that is attached (before 6.15):
 * for a moment on top of "/", which our own root and everybody's lies below.
 */
static int clone_attached(int fs_fd, int file_fd)
{
	int r = ab_sys_move_mount(fs_fd, "", AT_FDCWD, "/",
				  MOVE_MOUNT_F_EMPTY_PATH);
	int tree, undone;

	if (r < 0)
		return r;
	tree = init_clone_tree(file_fd, 0, init_mount_attrs(NOTHING), -1);
	undone = fchdir(fs_fd) ? -errno : ab_sys_umount2(".", AB_MNT_DETACH);
	if (undone < 0 && tree >= 0) {
		close(tree);
		return undone;
	}
	return tree;
}

/* The root of a new file system, or one unreadable file in it. */
static int make_nothing(bool is_dir)
{
	ab_autofd int fs = init_new_tmpfs(4096, 0555, init_mount_attrs(0));
	ab_autofd int file = -1;
	struct mount_attr attr = {.attr_set = init_mount_attrs(NOTHING),
				  .propagation = AB_MS_PRIVATE};
	int r;

	if (fs < 0)
		return fs;
	if (is_dir) {
		r = ab_sys_mount_setattr(fs, "", AT_EMPTY_PATH, &attr);
		return r < 0 ? r : ab_steal_fd(&fs);
	}
	file = openat(fs, "nothing",
		      O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0);
	return file < 0 ? -errno : clone_attached(fs, file);
}

int init_bind_nothing(int root_fd, const char *path)
{
	ab_autofd int at = init_open_beneath(root_fd, path, O_NOFOLLOW);
	ab_autofd int tree = -1;
	struct stat st;

	if (at < 0)
		return at;
	if (fstat(at, &st))
		return -errno;
	tree = make_nothing(S_ISDIR(st.st_mode));
	if (tree < 0)
		return tree;
	return ab_sys_move_mount(tree, "", at, "",
				 MOVE_MOUNT_F_EMPTY_PATH |
					 MOVE_MOUNT_T_EMPTY_PATH);
}
