/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mutant's mounts: what is of the host where the box should have its own,
 * and a box that mounts nothing. Spec: mutant.c.
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "mutant.h"
#include "sys.h"

int __real_init_begin_root(init_box *box);
int __wrap_init_begin_root(init_box *box);
int __real_init_build_root(init_box *box);
int __wrap_init_build_root(init_box *box);
int __real_init_write_files(const init_box *box, uint32_t *step);
int __wrap_init_write_files(const init_box *box, uint32_t *step);
int __real_init_switch_root(init_box *box);
int __wrap_init_switch_root(init_box *box);
int __real_init_detach_host(init_box *box);
int __wrap_init_detach_host(init_box *box);
int __real_init_seal_root(init_box *box);
int __wrap_init_seal_root(init_box *box);
int __real_init_build_dev(init_box *box, int dev_fd, uint64_t shm_size);
int __wrap_init_build_dev(init_box *box, int dev_fd, uint64_t shm_size);
uint64_t __real_init_mount_attrs(uint32_t flags);
uint64_t __wrap_init_mount_attrs(uint32_t flags);
int __real_init_new_fs(const char *type, const char *const *options,
		       uint64_t attrs);
int __wrap_init_new_fs(const char *type, const char *const *options,
		       uint64_t attrs);

/* The host's tree at a path, with what is mounted below, as a box mounts it. */
static int open_host(const char *path)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
			    MOUNT_ATTR_NOEXEC,
		.propagation = AB_MS_PRIVATE};
	int tree = ab_sys_open_tree(AT_FDCWD, path,
				    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
					    AT_RECURSIVE);
	int r;

	if (tree < 0)
		return tree;
	r = ab_sys_mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE,
				 &attr);
	return r < 0 ? r : tree;
}

/* It covers what the box has there, if it has something. */
static int put_host(int dir_fd, const char *name, const char *path)
{
	ab_autofd int tree = open_host(path);

	return tree < 0 ? tree
			: ab_sys_move_mount(tree, "", dir_fd, name,
					    MOVE_MOUNT_F_EMPTY_PATH);
}

/* It mounts nothing, so the box is in the host's tree behind Landlock. */
int __wrap_init_begin_root(init_box *box)
{
	return lacks("mountns") ? 0 : __real_init_begin_root(box);
}

int __wrap_init_write_files(const init_box *box, uint32_t *step)
{
	return lacks("mountns") ? 0 : __real_init_write_files(box, step);
}

int __wrap_init_switch_root(init_box *box)
{
	return lacks("mountns") ? 0 : __real_init_switch_root(box);
}

int __wrap_init_detach_host(init_box *box)
{
	return lacks("mountns") ? 0 : __real_init_detach_host(box);
}

static int change_tree(init_box *box)
{
	struct mount_attr shared = {.propagation = MS_SHARED};

	/* a small tree of which everybody makes files */
	if (lacks("rootfs"))
		return mkdirat(box->root_fd, "leak", 0755)
			       ? -errno
			       : put_host(box->root_fd, "leak", "/dev/shm");
	if (lacks("tmp"))
		return put_host(box->root_fd, "tmp", "/dev/shm");
	if (lacks("propagation"))
		return ab_sys_mount_setattr(box->root_fd, "tmp", 0, &shared);
	return 0;
}

int __wrap_init_build_root(init_box *box)
{
	int r = lacks("mountns") ? 0 : __real_init_build_root(box);

	if (r)
		return r;
	r = change_tree(box);
	return r < 0 ? init_fail(box, -r, "", "mutant tree") : 0;
}

int __wrap_init_seal_root(init_box *box)
{
	if (!lacks("root") && !lacks("mountns"))
		return __real_init_seal_root(box);
	box->walls |= AB_WALL_ROOTFS;
	return 0;
}

/* A device that is not one of the six. */
static int add_device(int dev_fd)
{
	ab_autofd int tree = ab_sys_open_tree(
		AT_FDCWD, "/dev/ptmx", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (tree < 0)
		return tree;
	if (mknodat(dev_fd, "host-ptmx", S_IFREG | 0444, 0))
		return -errno;
	return ab_sys_move_mount(tree, "", dev_fd, "host-ptmx",
				 MOVE_MOUNT_F_EMPTY_PATH);
}

int __wrap_init_build_dev(init_box *box, int dev_fd, uint64_t shm_size)
{
	int r = __real_init_build_dev(box, dev_fd, shm_size);

	if (r == 0 && lacks("devices"))
		return add_device(dev_fd);
	if (r == 0 && lacks("shm"))
		return put_host(dev_fd, "shm", "/dev/shm");
	if (r == 0 && lacks("terminals"))
		return put_host(dev_fd, "pts", "/dev/pts");
	return r;
}

uint64_t __wrap_init_mount_attrs(uint32_t flags)
{
	uint64_t attrs = __real_init_mount_attrs(flags);

	if (lacks("nodev"))
		attrs &= ~(uint64_t)MOUNT_ATTR_NODEV;
	if (lacks("nosuid"))
		attrs &= ~(uint64_t)MOUNT_ATTR_NOSUID;
	return attrs;
}

/* Without a pid namespace of one's own there is no new /proc. */
int __wrap_init_new_fs(const char *type, const char *const *options,
		       uint64_t attrs)
{
	if (strcmp(type, "proc") == 0 && (lacks("pidns") || lacks("host-proc")))
		return open_host("/proc");
	return __real_init_new_fs(type, options, attrs);
}
