/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Is a name of the workspace a mount in the box? The kernel is asked about
 * that name, by a descriptor of the workspace as the box has it, and answers
 * "no" with one call that crosses no mount. Only where it would cross one is
 * the mount table read, which costs as much as the box has mounts: an agent
 * makes names by the hundred thousand, and mounts it cannot make.
 *
 * An answer is of now: one that is a moment old may be wrong in either way,
 * since a directory that is renamed takes its mounts to other names and
 * poll(2) of the table says nothing of that.
 *
 * It enters no other file system, whose server may never answer. What it
 * cannot ask the kernel it asks the table.
 * Spec: openat2(2) RESOLVE_NO_XDEV, DESIGN.md section 6.
 */
#include "config.h"

#include "watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys.h"

void init_forget_inside(watcher *w)
{
	ab_cleanup_fd(&w->inside_fd);
	w->inside_fd = -1;
}

/* The agent may have put another directory where the box has it. */
static bool is_workspace(const watcher *w, int fd)
{
	const ab_plan *p = &w->box->plan;
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_dev == p->workspace_dev &&
	       st.st_ino == p->workspace_ino;
}

/* Borrowed; negative: it cannot be had. */
static int open_inside(watcher *w)
{
	const ab_plan *p = &w->box->plan;

	/* it has the host's own mounts */
	if (!(p->namespaces & AB_NS_MOUNT))
		return w->workspace_fd;
	if (w->inside_fd >= 0 || w->is_inside_unknown ||
	    w->namespace_fds[1] < 0)
		return w->inside_fd;
	w->inside_fd = init_borrow(w, p->workspace_inside,
				   O_PATH | O_DIRECTORY | O_NOFOLLOW);
	if (w->inside_fd >= 0 && !is_workspace(w, w->inside_fd))
		init_forget_inside(w);
	w->is_inside_unknown = w->inside_fd < 0;
	return w->inside_fd;
}

/* The last mount of ours on the way: a part of the workspace, bound onto
   itself, with nothing else above it than others of that kind. */
static const guarded *find_above(const watcher *w, const char *path)
{
	const guarded *best = NULL;

	for (size_t i = 0; i < w->guarded_count; i++) {
		const guarded *g = &w->guarded[i];

		if (!g->rest || g->is_gone || g->step->kind != AB_STEP_SELF ||
		    !g->cover ||
		    strcmp(g->cover->target, w->box->plan.workspace_inside) ||
		    !init_is_path_below(path, g->rest) ||
		    !path[strlen(g->rest)])
			continue;
		if (!best || strlen(g->rest) > strlen(best->rest))
			best = g;
	}
	return best;
}

/* Without a mount on the way, and none at the end: 0. Else -errno. */
static int reach(int from, const char *path)
{
	int fd = ab_sys_openat2(from, path, O_PATH | O_CLOEXEC | O_NOFOLLOW,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					RESOLVE_NO_MAGICLINKS |
					RESOLVE_NO_XDEV);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* False: the kernel does not say that. */
static bool is_no_mount(watcher *w, const char *path)
{
	int top = open_inside(w), r = top < 0 ? top : reach(top, path);
	ab_autofd int above = -1, passable = -1;
	const guarded *g;

	if (r == -EACCES) {
		/* the agent may take the mode of what is above it */
		passable = init_open_parent(w, path);
		r = reach(top, path);
	}
	if (r != -EXDEV)
		return r == 0;
	g = find_above(w, path);
	if (g)
		above = init_open_beneath(top, g->rest,
					  O_DIRECTORY | O_NOFOLLOW);
	return above >= 0 && reach(above, path + strlen(g->rest) + 1) == 0;
}

bool init_is_moved(watcher *w, const char *path)
{
	return !is_no_mount(w, path) && init_is_in_table(w, path);
}
