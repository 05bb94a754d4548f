/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A minimal /dev: the six harmless character devices bound from the host
 * (mknod is refused in a user namespace), the usual links, a sized shm and a
 * devpts of the box's own, so that ptys of the host are never reachable.
 * Nothing else: no disks, no mem, no fuse, no kvm (sandbox case 41).
 * Spec: wire/plan.h AB_STEP_DEV, pts(4).
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/fd.h"
#include "sys.h"

/* Documentation/admin-guide/devices.txt */
static const struct {
	const char *name;
	unsigned major, minor;
} nodes[] = {
	{"null", 1, 3},	  {"zero", 1, 5},    {"full", 1, 7},
	{"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0},
};

static const struct {
	const char *name, *text;
} links[] = {
	{"fd", "/proc/self/fd"},
	{"stdin", "/proc/self/fd/0"},
	{"stdout", "/proc/self/fd/1"},
	{"stderr", "/proc/self/fd/2"},
	{"ptmx", "pts/ptmx"},
};

/*
 * A device's mount must stay able to be one: no nodev here, and nosuid and
 * noexec mean nothing. It is private because root.c has made all so.
 */
static int bind_node(int dev_fd, size_t i)
{
	char path[32];
	ab_autofd int tree = -1;
	struct stat st;

	snprintf(path, sizeof(path), "/dev/%s", nodes[i].name);
	tree = ab_fd_lift(ab_sys_open_tree(
		AT_FDCWD, path,
		OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW));
	if (tree < 0)
		return tree;
	/* of the very thing that was cloned */
	if (fstat(tree, &st))
		return -errno;
	if (!S_ISCHR(st.st_mode) ||
	    st.st_rdev != makedev(nodes[i].major, nodes[i].minor))
		return -ENODEV;
	/* nobody else is in here to put something in its place */
	if (mknodat(dev_fd, nodes[i].name, S_IFREG | 0444, 0))
		return -errno;
	return ab_sys_move_mount(tree, "", dev_fd, nodes[i].name,
				 MOVE_MOUNT_F_EMPTY_PATH);
}

static int mount_in(int dev_fd, const char *name, int fs_fd)
{
	ab_autofd int fd = fs_fd;

	if (fd < 0)
		return fd;
	if (mkdirat(dev_fd, name, 0755))
		return -errno;
	return ab_sys_move_mount(fd, "", dev_fd, name, MOVE_MOUNT_F_EMPTY_PATH);
}

int init_build_dev(init_box *box, int dev_fd, uint64_t shm_size)
{
	static const char *const pts_options[] = {"ptmxmode", "0666", "mode",
						  "0620", NULL};
	int r;

	for (size_t i = 0; i < AB_ARRAY_LEN(nodes); i++) {
		r = bind_node(dev_fd, i);
		if (r == -ENOENT || r == -ENODEV) {
			init_note(box, "/dev/%s: not on this host",
				  nodes[i].name);
			continue;
		}
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(links); i++) {
		if (symlinkat(links[i].text, dev_fd, links[i].name))
			return -errno;
	}
	r = mount_in(dev_fd, "pts",
		     init_new_fs("devpts", pts_options,
				 MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC));
	if (r < 0)
		return r;
	return mount_in(dev_fd, "shm",
			init_new_tmpfs(shm_size, 01777,
				       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
					       MOUNT_ATTR_NOEXEC));
}
