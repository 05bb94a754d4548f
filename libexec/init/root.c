/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The box's file system tree: a tmpfs of our own as root, the plan's steps
 * in order, then the host's tree goes away. Mount points are made only in
 * file systems that were created here, never in a host tree: a box leaves
 * nothing on the host (sandbox case 100). No step follows a link.
 * Spec: wire/plan.h, RECIPES.md section 1, pivot_root(2).
 */
#include "config.h"

#include "init.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "sys.h"

#define MAX_OWN 64
#define MAX_SEARCHED 256
/* Only PID 1 ever writes there: mount points and the plan's small files. */
#define ROOT_BYTES (256ull << 20)

/* Sources of HIDE, in the root tmpfs until they are cloned. */
#define HIDDEN_DIR ".agentbox-hidden-dir"
#define HIDDEN_FILE ".agentbox-hidden-file"

typedef struct builder {
	init_box *box;
	int root_fd;
	uint64_t own_devs[MAX_OWN]; /* file systems made here */
	size_t own_count;
	/* sources of HIDE, -1 until there is one */
	int hidden_dir_fd, hidden_file_fd;
	/* the directory of the step before, "" when there is none: steps come
	   sorted, and most have the directory of their neighbour */
	char parent[AB_MAX_PATH];
	int parent_fd;
	bool parent_is_own;
} builder;

static void forget_parent(builder *b)
{
	if (b->parent_fd >= 0)
		close(b->parent_fd);
	b->parent_fd = -1;
	b->parent[0] = '\0';
}

static void builder_end(builder *b)
{
	forget_parent(b);
	ab_cleanup_fd(&b->hidden_dir_fd);
	ab_cleanup_fd(&b->hidden_file_fd);
}

/* What is mounted at `target` covers a directory there and below. */
static void forget_covered(builder *b, const char *target)
{
	size_t n = strlen(target);

	if (strncmp(b->parent, target, n) == 0 &&
	    (b->parent[n] == '\0' || b->parent[n] == '/'))
		forget_parent(b);
}

static int own(builder *b, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	/* more than we can remember: no mount points inside, fails closed */
	if (b->own_count < MAX_OWN)
		b->own_devs[b->own_count++] = st.st_dev;
	return 0;
}

static bool is_own(const builder *b, int fd)
{
	struct stat st;

	if (fd == b->root_fd)
		return true;
	if (fstat(fd, &st))
		return false;
	for (size_t i = 0; i < b->own_count; i++) {
		if (b->own_devs[i] == st.st_dev)
			return true;
	}
	return false;
}

/* Make `name` in a directory of ours; -EEXIST when something is there. */
static int make_entry(int dir_fd, const char *name, bool is_dir)
{
	int r = is_dir ? mkdirat(dir_fd, name, 0755)
		       : mknodat(dir_fd, name, S_IFREG | 0444, 0);

	return r ? -errno : 0;
}

static int open_entry(int dir_fd, const char *name)
{
	return init_open_beneath(dir_fd, name, O_NOFOLLOW);
}

/*
 * One component below `at`, made where it is missing and the place is ours.
 * is_missing: it is known to be, on the way in; it was made, on the way out.
 */
static int open_component(builder *b, int at, const char *name,
			  bool *is_missing)
{
	int next = *is_missing ? -ENOENT : open_entry(at, name), r;

	*is_missing = false;
	if (next != -ENOENT || !is_own(b, at))
		return next;
	r = make_entry(at, name, true);
	*is_missing = true;
	return r && r != -EEXIST ? r : open_entry(at, name);
}

/*
 * The directory as an O_PATH fd, made with its parents where it is missing
 * and the place is ours; -ENOENT where it is not.
 */
static int open_directory(builder *b, const char *target)
{
	char name[AB_MAX_NAME + 1];
	int at = init_open_beneath(b->root_fd, target + 1, O_NOFOLLOW);
	bool is_missing;

	if (at != -ENOENT)
		return at;
	at = b->root_fd;
	/* what leads there may be there, the one name below the root is not */
	is_missing = !strchr(target + 1, '/');
	for (target++; at >= 0 && *target;) {
		size_t n = strcspn(target, "/");
		bool is_last = target[n] == '\0';
		int next = -ENAMETOOLONG;

		if (n <= AB_MAX_NAME) {
			memcpy(name, target, n);
			name[n] = '\0';
			next = open_component(b, at, name, &is_missing);
		}
		target += n + !is_last;
		if (at != b->root_fd)
			close(at);
		at = next;
	}
	return at;
}

/*
 * The directory that holds the last name of target, borrowed, made if need
 * be. *is_own: mount points and files may be made in it.
 */
static int open_parent(builder *b, const char *target, const char **name,
		       bool *is_own_dir)
{
	const char *slash = strrchr(target, '/');
	size_t n = (size_t)(slash - target);

	*name = slash + 1;
	*is_own_dir = true;
	if (n == 0)
		return b->root_fd;
	if (strncmp(b->parent, target, n) != 0 || b->parent[n] != '\0') {
		char dir[AB_MAX_PATH];
		int fd;

		if (n >= sizeof(dir))
			return -ENAMETOOLONG;
		memcpy(dir, target, n);
		dir[n] = '\0';
		fd = open_directory(b, dir);
		if (fd < 0)
			return fd;
		forget_parent(b);
		memcpy(b->parent, dir, n + 1);
		b->parent_fd = fd;
		b->parent_is_own = is_own(b, fd);
	}
	*is_own_dir = b->parent_is_own;
	return b->parent_fd;
}

static int attach(builder *b, int tree_fd, const char *target, bool is_dir)
{
	const char *name;
	bool is_own_dir;
	ab_autofd int at = -1;
	int dir = open_parent(b, target, &name, &is_own_dir);
	int r;

	if (dir < 0)
		return dir;
	/* what was made here just now is no link: nobody else is in here */
	r = is_own_dir && *name ? make_entry(dir, name, is_dir) : -EEXIST;
	if (r == 0)
		return ab_sys_move_mount(tree_fd, "", dir, name,
					 MOVE_MOUNT_F_EMPTY_PATH);
	if (r != -EEXIST)
		return r;
	at = open_entry(dir, name);
	if (at < 0)
		return at;
	return ab_sys_move_mount(tree_fd, "", at, "",
				 MOVE_MOUNT_F_EMPTY_PATH |
					 MOVE_MOUNT_T_EMPTY_PATH);
}

static int fd_is_dir(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? -errno : S_ISDIR(st.st_mode);
}

static int clone_host(const ab_plan_step *s)
{
	ab_autofd int fd = init_open_host(s->source, s->dev, s->ino);

	return fd < 0 ? fd
		      : init_clone_tree(fd, s->flags,
					init_mount_attrs(s->flags), -1);
}

/* Made by whoever can: late.c. */
static int get_tree(init_box *box, uint32_t i)
{
	const ab_plan_step *s = &box->plan.steps[i];
	int tree;

	if (box->plan.map_by_holder && (s->flags & AB_MOUNT_IDMAP))
		return init_await_tree(box, i) ? -EPROTO
					       : init_take_tree(box, i);
	tree = clone_host(s);
	if (tree >= 0 || !box->plan.map_by_holder ||
	    (tree == -ENOENT && (s->flags & AB_MOUNT_OPTIONAL)))
		return tree;
	return init_ask_tree(box, i) ? -EPROTO : init_take_tree(box, i);
}

static int step_bind(builder *b, uint32_t i)
{
	ab_autofd int tree = get_tree(b->box, i);
	int is_dir;

	if (tree < 0)
		return tree;
	is_dir = fd_is_dir(tree);
	if (is_dir < 0)
		return is_dir;
	return attach(b, tree, b->box->plan.steps[i].target, is_dir);
}

static int attach_new(builder *b, int fs_fd, const char *target)
{
	ab_autofd int fd = fs_fd;
	int r;

	if (fd < 0)
		return fd;
	r = attach(b, fd, target, true);
	return r ? r : own(b, fd);
}

static int step_tmpfs(builder *b, const ab_plan_step *s)
{
	return attach_new(b,
			  init_new_tmpfs(s->size, s->mode,
					 init_mount_attrs(s->flags)),
			  s->target);
}

static int step_proc(builder *b, const ab_plan_step *s)
{
	int r = attach_new(b,
			   init_new_fs("proc", NULL,
				       init_mount_attrs(s->flags |
							AB_MOUNT_NOEXEC)),
			   s->target);

	if (r)
		return r;
	b->own_count--; /* nothing can be made in it */
	b->box->walls |= AB_WALL_PROC;
	return 0;
}

static int step_mqueue(builder *b, const ab_plan_step *s)
{
	return attach_new(b,
			  init_new_fs("mqueue", NULL,
				      init_mount_attrs(s->flags |
						       AB_MOUNT_NOEXEC)),
			  s->target);
}

/*
 * Nobody in the box writes to the root itself, which ends up read-only: /dev
 * can be a directory of it. -EEXIST: it is to be elsewhere, or is there.
 */
static int make_root_dir(builder *b, const char *target)
{
	const char *name;
	bool is_own_dir;
	int dir = open_parent(b, target, &name, &is_own_dir);
	int fd;

	if (dir != b->root_fd)
		return dir < 0 ? dir : -EEXIST;
	fd = make_entry(dir, name, true);
	return fd ? fd : open_entry(dir, name);
}

/* A file system of its own, since what is around it may be written to. */
static int mount_dev(builder *b, const ab_plan_step *s)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
	ab_autofd int fd = init_new_tmpfs(64 * 1024, 0755,
					  MOUNT_ATTR_NOSUID |
						  MOUNT_ATTR_NOEXEC);
	int r = fd < 0 ? fd : attach(b, fd, s->target, true);

	if (r == 0)
		r = own(b, fd);
	if (r == 0)
		r = init_build_dev(b->box, fd, s->size);
	if (r)
		return r;
	/* device nodes work on a read-only mount; new files do not */
	return ab_sys_mount_setattr(fd, "", AT_EMPTY_PATH, &attr);
}

static int step_dev(builder *b, const ab_plan_step *s)
{
	ab_autofd int fd = make_root_dir(b, s->target);

	if (fd == -EEXIST)
		return mount_dev(b, s);
	return fd < 0 ? fd : init_build_dev(b->box, fd, s->size);
}

static int step_entry(builder *b, const ab_plan_step *s)
{
	const char *name;
	bool is_own_dir;
	ab_autofd int fd = -1;
	int dir = open_parent(b, s->target, &name, &is_own_dir);

	if (dir < 0)
		return dir;
	if (!is_own_dir) {
		fd = open_entry(dir, name);
		return fd >= 0 && s->kind == AB_STEP_DIR ? 0 : -EROFS;
	}
	if (s->kind == AB_STEP_SYMLINK)
		return symlinkat(s->source, dir, name) ? -errno : 0;
	if (s->kind == AB_STEP_DIR)
		return mkdirat(dir, name, s->mode ? s->mode : 0755) &&
				       errno != EEXIST
			       ? -errno
			       : 0;
	fd = openat(dir, name,
		    O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC,
		    s->mode ? s->mode & 0555u : 0444u);
	if (fd < 0)
		return -errno;
	return ab_fd_write_full(fd, s->content, s->content_len);
}

/*
 * A clone of one empty directory or one unreadable file of the root tmpfs:
 * cheaper than a file system each. The names are removed at the end, the
 * clones keep what they show.
 */
static int open_hidden(builder *b, bool is_dir)
{
	int *fd = is_dir ? &b->hidden_dir_fd : &b->hidden_file_fd;
	const char *name = is_dir ? HIDDEN_DIR : HIDDEN_FILE;
	int r;

	if (*fd >= 0)
		return *fd;
	r = is_dir ? mkdirat(b->root_fd, name, 0555)
		   : mknodat(b->root_fd, name, S_IFREG, 0);
	if (r)
		return -errno;
	*fd = open_entry(b->root_fd, name);
	return *fd;
}

static int step_hide(builder *b, const ab_plan_step *s)
{
	ab_autofd int at = init_open_beneath(b->root_fd, s->target + 1,
					     O_NOFOLLOW);
	ab_autofd int tree = -1;
	int is_dir, source;

	if (at < 0)
		return at;
	is_dir = fd_is_dir(at);
	if (is_dir < 0)
		return is_dir;
	source = open_hidden(b, is_dir);
	if (source < 0)
		return source;
	tree = init_clone_tree(source, 0,
			       init_mount_attrs(AB_MOUNT_RDONLY |
						AB_MOUNT_NOEXEC),
			       -1);
	if (tree < 0)
		return tree;
	return ab_sys_move_mount(tree, "", at, "",
				 MOVE_MOUNT_F_EMPTY_PATH |
					 MOVE_MOUNT_T_EMPTY_PATH);
}

static int step_broker(builder *b, const ab_plan_step *s)
{
	const char *name;
	bool is_own_dir;
	int dir = open_parent(b, s->target, &name, &is_own_dir);

	if (dir < 0)
		return dir;
	return is_own_dir ? init_make_broker(b->box, dir, name) : -EROFS;
}

/* Covered by itself without the right to write: who has the descriptors of
   its files writes, and nobody by name. */
static int step_secrets(builder *b, const ab_plan_step *s)
{
	ab_autofd int cover = -1;
	const uint64_t attrs = init_mount_attrs(AB_MOUNT_NOEXEC |
						AB_MOUNT_NOSYMFOLLOW);
	ab_autofd int fd = init_new_tmpfs(s->size, 0755, attrs);
	int r = fd < 0 ? fd : attach(b, fd, s->target, true);

	if (r == 0)
		r = init_make_secrets(b->box, fd, s, &cover);
	if (r)
		return r;
	return ab_sys_move_mount(cover, "", fd, "",
				 MOVE_MOUNT_F_EMPTY_PATH |
					 MOVE_MOUNT_T_EMPTY_PATH);
}

static int step_self(builder *b, const ab_plan_step *s)
{
	return init_bind_self(b->root_fd, s->target + 1, s->flags);
}

static int do_step(builder *b, uint32_t i)
{
	const ab_plan_step *s = &b->box->plan.steps[i];

	switch ((enum ab_plan_step_kind)s->kind) {
	case AB_STEP_BIND:
		return step_bind(b, i);
	case AB_STEP_TMPFS:
		return step_tmpfs(b, s);
	case AB_STEP_PROC:
		return step_proc(b, s);
	case AB_STEP_DEV:
		return step_dev(b, s);
	case AB_STEP_MQUEUE:
		return step_mqueue(b, s);
	case AB_STEP_SYMLINK:
	case AB_STEP_FILE:
	case AB_STEP_DIR:
		return step_entry(b, s);
	case AB_STEP_HIDE:
		return step_hide(b, s);
	case AB_STEP_SELF:
		return step_self(b, s);
	case AB_STEP_BROKER:
		return step_broker(b, s);
	case AB_STEP_SECRETS:
		return step_secrets(b, s);
	case AB_STEP_KIND_COUNT:
		break;
	}
	return -EINVAL;
}

static const char *advice(const ab_plan_step *s, int err)
{
	if (err == ESTALE)
		return "another file is there than when the plan was made";
	if (err == ELOOP)
		return "the path goes through a symbolic link";
	if (err == EINVAL && s->kind == AB_STEP_BIND)
		return "mounts below it: make the mount recursive";
	if (err == ENOENT && s->kind == AB_STEP_BIND)
		return "source or mount point is missing, and mount points "
		       "are not made in host directories";
	return "";
}

/* A wall that is not to be had by its name, else the step. */
int init_fail_step(init_box *box, uint32_t i, int err)
{
	const ab_plan_step *s = &box->plan.steps[i];
	char text[AB_MAX_NAME];

	if (s->kind == AB_STEP_BIND && init_mounting_is_refused(err))
		return init_fail(box, err, INIT_NO_MOUNTING, "mountns");
	/* not when it is the mount point that is wrong */
	if (s->kind == AB_STEP_PROC && err != ENOENT && err != ENOTDIR &&
	    err != ELOOP && err != EROFS) {
		snprintf(text, sizeof(text),
			 "a new /proc is refused here, as inside a container; "
			 "mounts[%u] '%.100s'", i, s->target);
		return init_fail(box, err, text, "proc");
	}
	return init_fail(box, err, advice(s, err), "mounts[%u] %s", i,
			 s->target);
}

/* Is `path` what `target` names, or below it? */
static bool is_covered(const char *path, const char *target)
{
	while (*target && *target == *path) {
		target++;
		path++;
	}
	return *target == '\0' && (*path == '/' || *path == '\0');
}

/*
 * Files whose directory is in the root and stays so depend on no mount, nor a
 * mount on them: they can be written beside the others. Who has very many
 * steps does not look for them.
 */
static bool is_free_file(const ab_plan *p, uint32_t i)
{
	const char *path = p->steps[i].target;

	if (p->steps[i].kind != AB_STEP_FILE || p->step_count > MAX_SEARCHED)
		return false;
	for (uint32_t k = 0; k < p->step_count; k++) {
		const ab_plan_step *s = &p->steps[k];

		if (k != i && s->kind != AB_STEP_DIR &&
		    is_covered(path, s->target))
			return false;
	}
	return true;
}

/* The next file that nobody has begun, as a number among them. */
static uint32_t claim_file(const init_box *box)
{
	return atomic_fetch_add(&box->shared->files, 1);
}

int init_write_files(const init_box *box, uint32_t *step)
{
	builder b = {.root_fd = box->root_fd,
		     .hidden_dir_fd = -1,
		     .hidden_file_fd = -1,
		     .parent_fd = -1};
	uint32_t mine = claim_file(box), n = 0;
	int r = own(&b, box->root_fd);

	for (uint32_t i = 0; i < box->plan.step_count && r == 0; i++) {
		*step = i;
		if (!is_free_file(&box->plan, i) || n++ != mine)
			continue;
		r = step_entry(&b, &box->plan.steps[i]);
		mine = claim_file(box);
	}
	builder_end(&b);
	return r;
}

static int do_steps(builder *b)
{
	const bool has_helper = b->box->stage_fd >= 0;
	const uint32_t count = b->box->plan.step_count;

	for (uint32_t i = 0; i < count; i++) {
		const ab_plan_step *s = &b->box->plan.steps[i];
		int r;

		/* by whoever has time: init_write_files() */
		if (has_helper && is_free_file(&b->box->plan, i))
			continue;
		r = do_step(b, i);
		forget_covered(b, s->target);
		if (r == 0)
			continue;
		if ((s->flags & AB_MOUNT_OPTIONAL) &&
		    (r == -ENOENT || r == -ENOTDIR)) {
			init_note(b->box, "skipped\tmounts[%u]\t%s", i,
				  s->target);
			continue;
		}
		return init_fail_step(b->box, i, -r);
	}
	/* who says that none is left may come after the last of them */
	if (count && init_await_tree(b->box, count - 1))
		return -1;
	if ((b->hidden_file_fd >= 0 && unlinkat(b->root_fd, HIDDEN_FILE, 0)) ||
	    (b->hidden_dir_fd >= 0 &&
	     unlinkat(b->root_fd, HIDDEN_DIR, AT_REMOVEDIR)))
		return init_fail(b->box, errno, "", "mounts hide");
	return 0;
}

/*
 * Our root under the host's, which covers it at "." until it is detached.
 * RECIPES.md section 1.
 */
int init_switch_root(init_box *box)
{
	int r;

	if (fchdir(box->root_fd))
		return init_fail(box, errno, "", "root");
	r = ab_sys_pivot_root(".", ".");
	if (r < 0)
		return init_fail(box, -r, "", "root pivot");
	close(box->root_fd);
	box->root_fd = -1;
	return 0;
}

/* The first launcher may still write its files: not read-only yet. */
int init_detach_host(init_box *box)
{
	int r = ab_sys_umount2(".", AB_MNT_DETACH);

	if (r < 0)
		return init_fail(box, -r, "", "root detach");
	return chdir("/") ? init_fail(box, errno, "", "root") : 0;
}

int init_seal_root(init_box *box)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
	int r = ab_sys_mount_setattr(AT_FDCWD, "/", 0, &attr);

	if (r < 0)
		return init_fail(box, -r, "", "root read-only");
	box->walls |= AB_WALL_ROOTFS;
	return 0;
}

int init_begin_root(init_box *box)
{
	int r;

	if (box->plan.tier >= AB_TIER_LANDLOCK)
		return 0;
	/* nothing of ours may reach the host's tree, nor the reverse */
	r = ab_sys_mount(NULL, "/", NULL, AB_MS_REC | AB_MS_PRIVATE);
	if (r < 0)
		return init_fail(box, -r, "", "mountns");
	box->root_fd = init_new_tmpfs(ROOT_BYTES, 0755,
				      MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (box->root_fd == -EPERM || box->root_fd == -ENOSYS)
		return init_fail(box, -box->root_fd, INIT_NO_MOUNTING,
				 "mountns");
	if (box->root_fd < 0)
		return init_fail(box, -box->root_fd, "", "root");
	/* attached first: before 6.x nothing may be mounted in a detached
	   tree. On top of "/", which our own root lies below. */
	r = ab_sys_move_mount(box->root_fd, "", AT_FDCWD, "/",
			      MOVE_MOUNT_F_EMPTY_PATH);
	return r < 0 ? init_fail(box, -r, "", "root attach") : 0;
}

int init_build_root(init_box *box)
{
	builder b = {.box = box,
		     .root_fd = box->root_fd,
		     .hidden_dir_fd = -1,
		     .hidden_file_fd = -1,
		     .parent_fd = -1};
	int r = own(&b, b.root_fd);
	uint32_t step = 0;

	if (r)
		return init_fail(box, -r, "", "root");
	r = do_steps(&b);
	builder_end(&b);
	if (r || box->stage_fd < 0)
		return r ? -1 : 0;
	r = init_write_files(box, &step);
	return r ? init_fail_step(box, step, -r) : 0;
}
