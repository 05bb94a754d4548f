/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the host's own git makes in a direct workspace while no process of the
 * agent is there. Then nobody but the host can have made it, so it is not
 * taken away but bound read-only, like what was there when the box was raised:
 * else every clone, submodule or new repository of the host would break under
 * its hands because somewhere a box is waiting.
 *
 * Nobody was there means: at some moment PID 1 had no child but its launcher,
 * after that all mounts were looked at and all names that had appeared were
 * judged, in this order, and since then no command was begun; the launcher
 * writes down when it begins one before it makes a process, and before that
 * that it is at it (init_shared).
 * Where that cannot be known nothing is adopted.
 *
 * Before the box is ready that is sure, and all that came after the plan had
 * looked is the host's as what the plan holds is.
 *
 * Later it adopts only what git writes to manage a repository: what is below a
 * `.git` git lets no commit bring, so a branch of the agent's that the host
 * checks out is judged as ever. But for `.gitmodules`, which a branch brings
 * as well: `git submodule` needs its own, and one in which git would run
 * nothing is no way out, so it stays, whoever wrote it. What leads there is
 * not pinned, as it is for what the plan knows: so when the place is in
 * another directory than it was, somebody moved that, and what is at the old
 * name is the agent's.
 * Spec: DESIGN.md section 6, gitsubmodules(7), git-worktree(1).
 */
#include "config.h"

#include "watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys.h"

uint64_t init_last_begun(const watcher *w)
{
	return atomic_load(&w->box->shared->started_ns);
}

bool init_is_hosts(const watcher *w)
{
	return w->is_quiet && init_last_begun(w) == w->quiet_ns;
}

void init_mark_quiet(watcher *w, uint64_t began_ns, bool was_absent)
{
	/* what has failed since is the host's */
	if (init_is_hosts(w))
		return;
	w->is_quiet = was_absent && !w->is_lost && !w->is_doubtful &&
		      !w->is_covered && !w->awaited_count;
	w->quiet_ns = began_ns;
}

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Of git's own: nothing that a commit can bring, or would be run of one. */
static bool is_gits(const watcher *w, const char *path)
{
	char text[8192];
	size_t n = 0;

	if (!strcasecmp(last_of(path), ".gitmodules"))
		/* git ignores a command there; of the host's none has one */
		return init_read_small(w, path, text, sizeof(text), &n) &&
		       !memchr(text, '!', n);
	return init_is_below_git(path) || !strcasecmp(last_of(path), ".git");
}

/* A mask or mount of the plan lies over it, or over what leads there. */
static bool is_behind(const watcher *w, const char *path)
{
	for (size_t i = 0; i < w->guarded_count; i++) {
		const guarded *g = &w->guarded[i];

		if (g->rest && g->step->kind != AB_STEP_SELF &&
		    init_is_path_below(path, g->rest))
			return true;
	}
	return false;
}

bool init_is_left(const watcher *w, const char *path)
{
	return !(w->box->plan.namespaces & AB_NS_MOUNT) || is_behind(w, path);
}

/* Some other mount of the box gives it to be written, or covers it. */
static bool has_other_way(const watcher *w, const char *path)
{
	const ab_plan *p = &w->box->plan;
	char host[2 * AB_MAX_PATH];

	snprintf(host, sizeof(host), "%s/%s", p->workspace_host, path);
	for (uint32_t i = 0; i < p->step_count; i++) {
		const ab_plan_step *s = &p->steps[i];

		if (s->kind != AB_STEP_BIND || (s->flags & AB_MOUNT_RDONLY) ||
		    !strcmp(s->target, p->workspace_inside))
			continue;
		if (init_is_path_below(host, s->source) ||
		    init_is_path_below(s->source, host))
			return true;
	}
	return is_behind(w, path);
}

/* A file with no other name, or a directory. -ESTALE: it is neither. */
static int check_plain(int dir, const char *name)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return S_ISDIR(st.st_mode) ||
			       (S_ISREG(st.st_mode) && st.st_nlink == 1)
		       ? 0
		       : -ESTALE;
}

static guarded *find(watcher *w, const char *path)
{
	for (size_t i = 0; i < w->guarded_count; i++) {
		if (w->guarded[i].rest && !strcmp(w->guarded[i].rest, path))
			return &w->guarded[i];
	}
	return NULL;
}

/* Added later, and gone since: whatever is there now has to be judged anew. */
static guarded *find_free(watcher *w)
{
	guarded *end = w->guarded + w->guarded_count;

	for (guarded *g = end - w->adopted_count; g < end; g++) {
		if (!g->is_gone)
			continue;
		ab_cleanup_fd(&g->parent_fd);
		free((void *)(uintptr_t)g->step);
		free((void *)(uintptr_t)g->target);
		free(g->host);
		return g;
	}
	if (w->adopted_count == INIT_MAX_ADOPTED)
		return NULL;
	w->adopted_count++;
	return &w->guarded[w->guarded_count++];
}

/* A new one, as the plan would have it; NULL: no room. */
static guarded *add(watcher *w, const char *path)
{
	const ab_plan *p = &w->box->plan;
	size_t top = strlen(p->workspace_inside), n = strlen(path);
	size_t host = strlen(p->workspace_host);
	ab_plan_step *s = calloc(1, sizeof(*s));
	char *target = malloc(top + n + 2), *at = malloc(host + n + 2);
	guarded *g = s && target && at ? find_free(w) : NULL;

	if (!g) {
		free(s);
		free(target);
		free(at);
		return NULL;
	}
	snprintf(target, top + n + 2, "%s/%s", p->workspace_inside, path);
	snprintf(at, host + n + 2, "%s/%s", p->workspace_host, path);
	*s = (ab_plan_step){.kind = AB_STEP_SELF,
			    .flags = AB_MOUNT_RDONLY,
			    .target = target};
	*g = (guarded){.step = s,
		       .flags = s->flags,
		       .target = target,
		       .host = at,
		       .below = at + host + 1,
		       .rest = target + top + 1,
		       .tree_fd = w->workspace_fd,
		       .parent_fd = -1};
	return g;
}

bool init_adopt(watcher *w, const char *path)
{
	ab_autofd int parent = -1;
	guarded *g;

	if (!init_is_hosts(w) || init_knows_pointer(w, path) ||
	    !(w->box->plan.namespaces & AB_NS_PID) ||
	    w->namespace_fds[1] < 0 || !(w->is_first || is_gits(w, path)) ||
	    has_other_way(w, path))
		return false;
	parent = init_open_parent(w, path);
	if (parent < 0 || check_plain(parent, last_of(path)))
		return false;
	g = find(w, path);
	if (g && (!g->is_gone || g->step->kind != AB_STEP_SELF ||
		  !(g->flags & AB_MOUNT_RDONLY)))
		return false;
	/* not while it was looked at: an event may have waited that long */
	if ((!w->is_first && !init_agent_is_absent(w)) || !init_is_hosts(w))
		return false;
	if (!g)
		g = add(w, path);
	if (!g)
		return false;
	ab_cleanup_fd(&g->parent_fd);
	g->parent_fd = ab_fd_lift(ab_fd_dup(parent));
	g->is_gone = g->parent_fd < 0;
	g->is_adopted = g->is_new = true;
	g->is_mounted = g->is_failed = g->is_deferred = false;
	w->has_adopted |= !g->is_gone;
	return !g->is_gone;
}

/* What is above path now, if it is what that was made in. -ESTALE: it is not;
   any other error: nobody knows. */
static int open_place(const guarded *g, int root, const char *path)
{
	ab_autofd int parent = -1;
	char dir[AB_MAX_PATH];
	size_t n = (size_t)(last_of(path) - path);
	struct stat was, is;

	if (n >= sizeof(dir))
		return -ENAMETOOLONG;
	memcpy(dir, path, n);
	dir[n ? n - 1 : 0] = '\0';
	parent = n ? init_open_beneath(root, dir, O_DIRECTORY | O_NOFOLLOW) :
		     ab_fd_dup(root);
	if (parent < 0)
		return init_is_nowhere(parent) ? -ESTALE : parent;
	if (fstat(parent, &is) || fstat(g->parent_fd, &was))
		return -errno;
	if (was.st_ino != is.st_ino || was.st_dev != is.st_dev)
		return -ESTALE;
	return ab_steal_fd(&parent);
}

int init_check_place(watcher *w, const guarded *g)
{
	ab_autofd int parent = -1, passable = -1;

	if (!g->is_adopted)
		return 0;
	parent = open_place(g, w->workspace_fd, g->rest);
	if (parent == -EACCES) {
		/* the agent may take the mode of what is above it */
		passable = init_open_parent(w, g->rest);
		parent = open_place(g, w->workspace_fd, g->rest);
	}
	return parent < 0 ? parent : 0;
}

/*
 * A mount that is too late. What is read-only is taken for the host's wherever
 * it is moved, so it must not be that even if it cannot be taken away; by its
 * own descriptor, since its name may be another's by now.
 */
static void take_back(int tree, int self)
{
	struct mount_attr writable = {.attr_clr = MOUNT_ATTR_RDONLY};
	char name[16];

	(void)ab_sys_mount_setattr(tree, "", AT_EMPTY_PATH, &writable);
	snprintf(name, sizeof(name), "%d", tree);
	if (fchdir(self) == 0)
		(void)ab_sys_umount2(name, AB_MNT_DETACH);
}

/*
 * Whoever is in the box may exchange what is above it at any time, so its path
 * is looked up once: what is in the directory that it was made in is covered,
 * wherever that is by then. A command may have begun just before: then what is
 * covered may be the agent's.
 */
int init_bind_adopted(const watcher *w, const guarded *g, int root, int self)
{
	const char *path = g->target + 1;
	ab_autofd int parent = open_place(g, root, path);
	ab_autofd int tree = -1;
	int r = parent < 0 ? parent : check_plain(parent, last_of(path));

	if (r)
		return r;
	tree = init_mount_self(parent, last_of(path), g->flags);
	if (tree < 0)
		return tree;
	if (!g->is_new || init_is_hosts(w))
		return 0;
	take_back(tree, self);
	return -ESTALE;
}

void init_give_up(watcher *w, guarded *g)
{
	g->is_gone = true;
	g->is_new = g->is_deferred = false;
	ab_cleanup_fd(&g->parent_fd);
	g->parent_fd = -1;
	/* whatever is there was taken for the host's so far */
	w->is_lost = true;
	init_look_soon(w);
	init_demand(w);
}
