/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mounts as file descriptors: a host tree cloned and restricted, or a new
 * file system, both detached until root.c puts them in place. Every tree is
 * private, nosuid and nodev in the same call that restricts it: a clone that
 * stays a slave shows what the host mounts later, writable (RECIPES.md
 * section 1). Spec: open_tree(2), mount_setattr(2), fsmount(2).
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "sys.h"

#define BYTES_PER_INODE 4096u
#define MIN_INODES 1024u
#define MAX_INODES 262144u

uint64_t init_mount_attrs(uint32_t flags)
{
	uint64_t attrs = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

	if (flags & AB_MOUNT_RDONLY)
		attrs |= MOUNT_ATTR_RDONLY;
	if (flags & AB_MOUNT_NOEXEC)
		attrs |= MOUNT_ATTR_NOEXEC;
	if (flags & AB_MOUNT_NOSYMFOLLOW)
		attrs |= MOUNT_ATTR_NOSYMFOLLOW;
	return attrs;
}

/*
 * With what is mounted below, where all of it can be mapped; else the tree
 * itself: a file system below that cannot (FUSE, say) keeps its own ids.
 */
static int map_ids(int tree, int userns_fd, unsigned recursive)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP,
				  .userns_fd = (uint64_t)userns_fd};
	int r = ab_sys_mount_setattr(tree, "", AT_EMPTY_PATH | recursive,
				     &attr);

	if (r < 0 && recursive)
		r = ab_sys_mount_setattr(tree, "", AT_EMPTY_PATH, &attr);
	return r;
}

int init_clone_tree(int fd, uint32_t flags, uint64_t attr_set, int userns_fd)
{
	unsigned recursive = flags & AB_MOUNT_RECURSIVE ? AT_RECURSIVE : 0;
	struct mount_attr attr = {.attr_set = attr_set,
				  .propagation = AB_MS_PRIVATE};
	ab_autofd int tree = ab_fd_lift(
		ab_sys_open_tree(fd, "",
				 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
					 AT_EMPTY_PATH | recursive));
	int r;

	if (tree < 0)
		return tree;
	r = ab_sys_mount_setattr(tree, "", AT_EMPTY_PATH | recursive, &attr);
	if (r == 0 && userns_fd >= 0)
		r = map_ids(tree, userns_fd, recursive);
	return r < 0 ? r : ab_steal_fd(&tree);
}

int init_new_fs(const char *type, const char *const *options, uint64_t attrs)
{
	ab_autofd int fs = ab_fd_lift(ab_sys_fsopen(type));
	int r;

	if (fs < 0)
		return fs;
	for (; options && options[0]; options += 2) {
		r = ab_sys_fsconfig(fs, FSCONFIG_SET_STRING, options[0],
				    options[1]);
		if (r < 0)
			return r;
	}
	r = ab_sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL);
	if (r < 0)
		return r;
	return ab_fd_lift(ab_sys_fsmount(fs, (unsigned)attrs));
}

/*
 * An empty file costs about a KiB of the kernel's own memory, which `size`
 * does not count: at most one per page of the size. tmpfs(5) nr_inodes.
 */
static uint64_t inodes_of(uint64_t size)
{
	uint64_t n = size / BYTES_PER_INODE;

	if (size == 0 || n > MAX_INODES)
		return MAX_INODES;
	return n < MIN_INODES ? MIN_INODES : n;
}

int init_new_tmpfs(uint64_t size, uint32_t mode, uint64_t attrs)
{
	char size_text[32], mode_text[16], inodes_text[32];
	const char *options[] = {"mode", mode_text,   "nr_inodes", inodes_text,
				 NULL,	 NULL,	      NULL};

	snprintf(mode_text, sizeof(mode_text), "%o", mode ? mode : 0755);
	snprintf(inodes_text, sizeof(inodes_text), "%llu",
		 (unsigned long long)inodes_of(size));
	if (size) {
		snprintf(size_text, sizeof(size_text), "%llu",
			 (unsigned long long)size);
		options[4] = "size";
		options[5] = size_text;
	}
	return init_new_fs("tmpfs", options, attrs);
}

static int write_file(const char *path, const char *text)
{
	ab_autofd int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : ab_fd_write_full(fd, text, strlen(text));
}

/* Maps of a sleeping child, then its namespace as an fd. */
static int open_mapped_userns(const init_box *box, const ab_plan_step *s,
			      pid_t pid)
{
	char path[64], map[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	snprintf(map, sizeof(map), "%u %u 1\n", s->idmap_uid,
		 box->plan.uid_outside);
	r = write_file(path, map);
	if (r)
		return r;
	snprintf(path, sizeof(path), "/proc/%d/gid_map", pid);
	snprintf(map, sizeof(map), "%u %u 1\n", s->idmap_gid,
		 box->plan.gid_outside);
	r = write_file(path, map);
	if (r)
		return r;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	r = open(path, O_RDONLY | O_CLOEXEC);
	return r < 0 ? -errno : ab_fd_lift(r);
}

/*
 * A user namespace that maps the owner on disk to the box's kernel ids, for
 * MOUNT_ATTR_IDMAP. A namespace needs a process to be born in; it sleeps
 * until it is killed. is_refused: there are no such namespaces here.
 */
static int make_idmap(const init_box *box, const ab_plan_step *s,
		      bool *is_refused)
{
	pid_t pid = ab_sys_clone(CLONE_NEWUSER | SIGCHLD);
	int fd;

	*is_refused = pid < 0;
	if (pid < 0)
		return pid;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		for (;;)
			pause();
	}
	fd = open_mapped_userns(box, s, pid);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return fd;
}

int init_clone_source(init_box *box, const ab_plan_step *s)
{
	ab_autofd int fd = init_open_host(s->source, s->dev, s->ino);
	ab_autofd int userns = -1;
	bool is_refused;

	if (fd < 0)
		return fd;
	if (box->plan.map_by_holder && (s->flags & AB_MOUNT_IDMAP)) {
		userns = make_idmap(box, s, &is_refused);
		if (userns < 0)
			return userns;
	}
	return init_clone_tree(fd, s->flags, init_mount_attrs(s->flags),
			       userns);
}

bool init_mounting_is_refused(int err)
{
	ab_autofd int tree = -1;

	if (err != EPERM && err != ENOSYS)
		return false;
	tree = ab_sys_open_tree(AT_FDCWD, "/",
				OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
					AT_RECURSIVE);
	return tree == -err;
}

/* The wall that is not to be had, else the step whose tree cannot be made. */
static int fail_tree(init_box *box, uint32_t i, int err, bool is_mapped)
{
	const ab_plan_step *s = &box->plan.steps[i];

	if (init_mounting_is_refused(err))
		return init_fail(box, err, INIT_NO_MOUNTING, "mountns");
	return init_fail(box, err,
			 is_mapped ? "the file system may not be able to map "
				     "ids"
				   : "",
			 "%s[%u] %s", is_mapped ? "idmap" : "mounts", i,
			 s->source);
}

int init_prepare_tree(init_box *box, uint32_t i)
{
	const ab_plan_step *s = &box->plan.steps[i];
	ab_autofd int userns = -1;
	ab_autofd int fd = -1;
	bool is_refused;

	if (s->kind != AB_STEP_BIND)
		return 0;
	fd = init_open_host(s->source, s->dev, s->ino);
	if (fd == -ENOENT && (s->flags & AB_MOUNT_OPTIONAL))
		return 0;
	if (fd < 0)
		return init_fail(box, -fd,
				 fd == -ESTALE
					 ? "another file is there than when "
					   "the plan was made"
					 : "",
				 "mounts[%u] %s", i, s->source);
	if (s->flags & AB_MOUNT_IDMAP) {
		userns = make_idmap(box, s, &is_refused);
		if (userns < 0 && is_refused)
			return init_fail(box, -userns, INIT_NO_USERNS,
					 "userns");
		if (userns < 0)
			return init_fail(box, -userns, "", "idmap[%u] %s", i,
					 s->source);
	}
	box->tree_fds[i] = init_clone_tree(fd, s->flags,
					   init_mount_attrs(s->flags), userns);
	if (box->tree_fds[i] < 0)
		return fail_tree(box, i, -box->tree_fds[i], userns >= 0);
	if (userns >= 0)
		box->walls |= AB_WALL_IDMAP;
	return 0;
}

int init_list_trees(init_box *box)
{
	uint32_t n = box->plan.step_count;

	box->tree_fds = malloc((n + 1) * sizeof(*box->tree_fds));
	if (!box->tree_fds)
		return init_fail(box, ENOMEM, "", "mounts");
	for (uint32_t i = 0; i < n; i++)
		box->tree_fds[i] = -1;
	return 0;
}
