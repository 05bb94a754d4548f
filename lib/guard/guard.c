/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The handle: what a policy and a directory mean for a write. All names of
 * the policy are looked up once, here, and what they led to is remembered.
 * Refuses a role without a name, the root of the file system, a directory
 * that is not the one the policy speaks of, and worktrees that would open
 * more than themselves. Spec: DESIGN.md section 7; cases F01-F03, F21.
 */
#include "config.h"

#include "guard/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "base/limits.h"
#include "guard/place.h"
#include "path/lexical.h"
#include "path/resolve.h"

/* How many directories are asked whether they are above the root. */
#define MAX_ABOVE AB_MAX_PATH

#define DIR_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)

/* --- the root --- */

static bool same_inode(int fd, dev_t dev, ino_t ino)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

/* 1 when the inode is the root of the file system, 0 when not, or -errno. */
static int is_file_system_root(int fd)
{
	struct stat st;
	ab_autofd int up = openat(fd, "..", DIR_FLAGS);

	if (up < 0 || fstat(fd, &st) < 0)
		return -errno;
	return same_inode(up, st.st_dev, st.st_ino);
}

/* 1 when the inode is `fd` or a directory above it, 0 when not, or -errno. */
static int is_at_or_above(int fd, dev_t dev, ino_t ino)
{
	ab_autofd int at = ab_fd_dup(fd);

	if (at < 0)
		return at;
	for (int i = 0; i < MAX_ABOVE; i++) {
		struct stat st;
		int up;

		if (same_inode(at, dev, ino))
			return 1;
		up = openat(at, "..", DIR_FLAGS);
		if (up < 0 || fstat(at, &st) < 0)
			return -errno;
		if (same_inode(up, st.st_dev, st.st_ino)) {
			close(up);
			return 0;
		}
		ab_cleanup_fd(&at);
		at = up;
	}
	return -ELOOP;
}

/* The path without links of an fd; NULL when there is none to be had. */
static int32_t name_of_fd(int fd, char **out, agentbox_error **err)
{
	char link[32];
	char path[AB_MAX_PATH];
	struct stat a;
	struct stat b;
	ssize_t n;

	*out = NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path));
	if (n <= 0 || n >= AB_MAX_PATH || path[0] != '/')
		return 0;
	path[n] = '\0';
	if (lstat(path, &a) < 0 || fstat(fd, &b) < 0 ||
	    a.st_dev != b.st_dev || a.st_ino != b.st_ino)
		return 0;
	*out = ab_strdup(path);
	return *out ? 0 : ab_error_nomem(err);
}

/*
 * The policy's own name for the root, when it has one: it must lead to the
 * very directory. A workspace that is not there may be one of another
 * machine; a team directory has to be.
 */
static int32_t take_alias(agentbox_guard *g, const char *path, bool must_be,
			  const char *where, agentbox_error **err)
{
	char canonical[AB_MAX_PATH];
	ab_autofd int fd = -1;

	if (!path)
		return 0;
	fd = ab_path_open_host(path, canonical);
	if (fd < 0 && !must_be)
		return 0;
	if (fd < 0)
		return ab_error_sys(err, -fd, where, "cannot open '%s'", path);
	if (!same_inode(fd, g->root_dev, g->root_ino))
		return ab_error_set(err, AGENTBOX_EINVAL, where,
				    "the directory is not '%s' of the policy",
				    path);
	g->root_alias = ab_strdup(path);
	return g->root_alias ? 0 : ab_error_nomem(err);
}

static int32_t take_root(agentbox_guard *g, int fd, agentbox_error **err)
{
	const ab_policy *p = ab_policy_get(g->policy);
	struct stat st;
	int r;

	if (fd < 0)
		return 0;
	if (fcntl(fd, F_GETFD) < 0)
		return ab_error_sys_code(err, AGENTBOX_EINVAL, errno,
					 "root_dirfd", "fd %d is not open",
					 fd);
	g->root_fd = ab_fd_dup(fd);
	if (g->root_fd < 0)
		return ab_error_sys(err, -g->root_fd, "root_dirfd",
				    "cannot duplicate the root directory");
	if (fstat(g->root_fd, &st) < 0 || !S_ISDIR(st.st_mode))
		return ab_error_set(err, AGENTBOX_EINVAL, "root_dirfd",
				    "the root is not a directory");
	g->root_dev = st.st_dev;
	g->root_ino = st.st_ino;
	r = is_file_system_root(g->root_fd);
	if (r < 0)
		return ab_error_sys(err, -r, "root_dirfd",
				    "cannot look above the root directory");
	if (r)
		return ab_error_set(err, AGENTBOX_EINVAL, "root_dirfd",
				    "the root of the file system cannot be "
				    "the root of a guard");
	r = name_of_fd(g->root_fd, &g->root_name, err);
	if (r < 0)
		return r;
	return g->is_role ? take_alias(g, p->role.team_dir, true,
				       "role.team_dir", err) :
			    take_alias(g, p->workspace.path, false,
				       "workspace.path", err);
}

/* --- areas --- */

static void end_area(struct ab_guard_area *a)
{
	ab_cleanup_fd(&a->fd);
	free(a->below);
	free(a->name);
	free(a->alias);
}

/* The next area; there is room, guard_new() has counted. */
static struct ab_guard_area *next_area(agentbox_guard *g, bool write)
{
	struct ab_guard_area *a = &g->areas[g->area_count++];

	*a = (struct ab_guard_area){ .fd = -1, .write = write };
	return a;
}

/* Without its inode an area would be what has its name below the root. */
static int32_t remember_inode(struct ab_guard_area *a, int *fd,
			      agentbox_error **err)
{
	struct stat st;

	if (fstat(*fd, &st) < 0)
		return ab_error_sys(err, errno, "", "cannot look at a "
				    "directory of the guard");
	a->dev = st.st_dev;
	a->ino = st.st_ino;
	a->fd = ab_steal_fd(fd);
	return 0;
}

/* A directory of the team, by its name; where it is a mount of its own, the
   inode that is mounted there now. It need not be there yet. */
static int32_t add_team_area(agentbox_guard *g, const char *below, bool is_own,
			     agentbox_error **err)
{
	struct ab_guard_area *a = next_area(g, true);
	ab_autofd int fd = -1;

	a->is_own = is_own;
	a->below = ab_strdup(below);
	if (!a->below)
		return ab_error_nomem(err);
	if (!*below)
		return 0;
	fd = ab_path_open_beneath(g->root_fd, below, DIR_FLAGS, 0,
				  AB_PATH_NO_SYMLINKS | AB_PATH_NO_XDEV);
	if (fd != -EXDEV)
		return 0;
	fd = ab_path_open_beneath(g->root_fd, below, DIR_FLAGS, 0,
				  AB_PATH_NO_SYMLINKS);
	return fd >= 0 ? remember_inode(a, &fd, err) : 0;
}

static bool is_first_component(const char *path, const char *name)
{
	size_t n = strlen(name);

	return strncmp(path, name, n) == 0 &&
	       (path[n] == '\0' || path[n] == '/');
}

/* Why a worktree at this place below the root is too much, or NULL. */
static const char *worktree_is_too_much(const char *below)
{
	if (!*below)
		return "is the team directory itself";
	if (is_first_component(below, "protected"))
		return "lies in protected/";
	if (strcmp(below, "agents") == 0)
		return "holds the directories of all agents";
	return NULL;
}

static int32_t refuse_worktree(const char *path, const char *why,
			       agentbox_error **err)
{
	return ab_error_set(err, AGENTBOX_EPOLICY, "role.worktrees",
			    "worktree '%s' %s", path, why);
}

static int32_t judge_worktree(agentbox_guard *g, const char *path,
			      const char *below, int fd, agentbox_error **err)
{
	struct stat st;
	const char *why = below ? worktree_is_too_much(below) : NULL;
	int r;

	if (why)
		return refuse_worktree(path, why, err);
	if (fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode))
		return refuse_worktree(path, "is not a directory", err);
	r = is_at_or_above(g->root_fd, st.st_dev, st.st_ino);
	if (r < 0)
		return ab_error_sys(err, -r, "role.worktrees",
				    "cannot look above the root directory");
	if (r || is_file_system_root(fd) != 0)
		return refuse_worktree(path, "holds the team directory", err);
	return 0;
}

/*
 * A worktree that is not there gives nothing: the role's mount of it is left
 * out of a box in the same way.
 */
static int32_t add_worktree(agentbox_guard *g, const char *path,
			    agentbox_error **err)
{
	char canonical[AB_MAX_PATH];
	const char *below;
	struct ab_guard_area *a;
	ab_autofd int fd = ab_path_open_host(path, canonical);
	int32_t r;

	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	if (fd < 0)
		return ab_error_sys(err, -fd, "role.worktrees",
				    "cannot open worktree '%s'", path);
	below = g->root_name ? ab_path_rest(canonical, g->root_name) : NULL;
	r = judge_worktree(g, path, below, fd, err);
	if (r < 0)
		return r;
	a = next_area(g, true);
	r = remember_inode(a, &fd, err);
	if (r < 0)
		return r;
	a->alias = ab_strdup(path);
	if (below)
		a->below = ab_strdup(below);
	else
		a->name = ab_strdup(canonical);
	return a->alias && (a->below || a->name) ? 0 : ab_error_nomem(err);
}

/*
 * protected/ beside the team directory may be read, as the one in it
 * (F07); nothing else outside.
 */
static int32_t add_protected_beside(agentbox_guard *g, agentbox_error **err)
{
	char path[AB_MAX_PATH];
	const char *slash = g->root_name ? strrchr(g->root_name, '/') : NULL;
	struct ab_guard_area *a;
	struct stat st;
	ab_autofd int fd = -1;
	int32_t r;
	int n;

	if (!slash)
		return 0;
	n = snprintf(path, sizeof(path), "%.*s/protected",
		     (int)(slash - g->root_name), g->root_name);
	if (n < 0 || (size_t)n >= sizeof(path))
		return 0;
	fd = open(path, DIR_FLAGS | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0 ||
	    (st.st_dev == g->root_dev && st.st_ino == g->root_ino))
		return 0;
	a = next_area(g, false);
	r = remember_inode(a, &fd, err);
	if (r < 0)
		return r;
	a->name = ab_strdup(path);
	return a->name ? 0 : ab_error_nomem(err);
}

static int32_t add_engineer(agentbox_guard *g, const char *agent,
			    agentbox_error **err)
{
	char own[AB_MAX_NAME + sizeof("agents/")];
	struct ab_guard_area *all;
	int32_t r;

	if (!agent)
		return ab_error_set(err, AGENTBOX_EPOLICY, "role.agent",
				    "an engineer needs the name of the agent");
	for (size_t i = 0; agent[i]; i++) {
		if ((unsigned char)agent[i] < ' ' || agent[i] == 0x7f)
			return ab_error_set(err, AGENTBOX_EPOLICY, "role.agent",
					    "the name of the agent has a "
					    "control character");
	}
	if (ab_path_check_name(agent, strlen(agent)) < 0)
		return ab_error_set(err, AGENTBOX_EPOLICY, "role.agent",
				    "'%s' is not the name of an agent", agent);
	snprintf(own, sizeof(own), "agents/%s", agent);
	all = next_area(g, false);
	all->below = ab_strdup("");
	if (!all->below)
		return ab_error_nomem(err);
	r = add_team_area(g, own, true, err);
	return r < 0 ? r : add_team_area(g, "shared", false, err);
}

static int32_t add_areas(agentbox_guard *g, agentbox_error **err)
{
	const ab_policy *p = ab_policy_get(g->policy);
	int32_t r = 0;

	/* the root, own, shared, protected beside it, worktrees */
	g->areas = ab_calloc(4 + p->role.worktrees.count, sizeof(*g->areas));
	if (!g->areas)
		return ab_error_nomem(err);
	switch ((enum ab_policy_role_kind)p->role.kind) {
	case AB_ROLE_NONE:
		r = add_team_area(g, "", false, err);
		g->areas[0].write = p->workspace.mount != AB_WORKSPACE_READ;
		return r;
	case AB_ROLE_MANAGER:
		r = add_team_area(g, "", false, err);
		break;
	case AB_ROLE_ENGINEER:
		r = add_engineer(g, p->role.agent, err);
		break;
	}
	if (r < 0 || g->root_fd < 0)
		return r;
	for (size_t i = 0; i < p->role.worktrees.count && r == 0; i++)
		r = add_worktree(g, p->role.worktrees.items[i], err);
	return r < 0 ? r : add_protected_beside(g, err);
}

/* --- public --- */

int32_t agentbox_guard_new(agentbox_policy *policy, int32_t root_dirfd,
			   agentbox_guard **guard, agentbox_error **err)
{
	return agentbox_guard_new_with_rules(policy, root_dirfd, NULL, guard,
					     err);
}

int32_t agentbox_guard_new_with_rules(agentbox_policy *policy,
				      int32_t root_dirfd,
				      const agentbox_rules *rules,
				      agentbox_guard **guard,
				      agentbox_error **err)
{
	ab_auto(agentbox_guard) *g = NULL;
	int32_t r;

	if (!policy || !guard)
		return ab_error_set(err, AGENTBOX_EINVAL,
				    policy ? "guard" : "policy",
				    "%s must not be NULL",
				    policy ? "guard" : "policy");
	if (root_dirfd < -1)
		return ab_error_set(err, AGENTBOX_EINVAL, "root_dirfd",
				    "root_dirfd is neither -1 nor an fd");
	g = ab_new(agentbox_guard);
	if (!g)
		return ab_error_nomem(err);
	atomic_init(&g->references, 1);
	ab_fork_mark_init(&g->made);
	g->root_fd = -1;
	g->policy = agentbox_policy_ref(policy);
	g->is_role = ab_policy_get(policy)->role.kind != AB_ROLE_NONE;
	r = ab_protect_init(&g->protect, ab_policy_get(policy), err);
	if (r == 0)
		r = take_root(g, root_dirfd, err);
	if (r == 0)
		r = add_areas(g, err);
	if (r == 0)
		r = ab_guard_rules_init(&g->rules, policy, rules, err);
	if (r < 0)
		return r;
	*guard = ab_steal(&g);
	return 0;
}

agentbox_guard *agentbox_guard_ref(agentbox_guard *guard)
{
	if (guard)
		atomic_fetch_add_explicit(&guard->references, 1,
					  memory_order_relaxed);
	return guard;
}

void agentbox_guard_unref(agentbox_guard *guard)
{
	int saved = errno;

	if (!guard || atomic_fetch_sub_explicit(&guard->references, 1,
						memory_order_acq_rel) != 1)
		return;
	for (size_t i = 0; i < guard->area_count; i++)
		end_area(&guard->areas[i]);
	free(guard->areas);
	ab_protect_end(&guard->protect);
	ab_cleanup_fd(&guard->root_fd);
	free(guard->root_name);
	free(guard->root_alias);
	ab_guard_rules_end(&guard->rules);
	agentbox_policy_unref(guard->policy);
	ab_fork_mark_end(&guard->made);
	free(guard);
	errno = saved;
}

int32_t ab_guard_check_handle(const agentbox_guard *guard,
			      agentbox_error **err)
{
	if (!guard)
		return ab_error_set(err, AGENTBOX_EINVAL, "guard",
				    "guard must not be NULL");
	if (!ab_fork_mark_is_ours(&guard->made))
		return ab_error_set(err, AGENTBOX_EFORKED, "guard",
				    "the guard was made by another process; "
				    "make one after fork");
	return 0;
}

const char *ab_guard_root_text(const agentbox_guard *guard,
			       const agentbox_place *place)
{
	const ab_policy *p = ab_policy_get(guard->policy);
	const char *at = p->workspace.at;
	const char *cwd = place ? place->cwd.text : NULL;

	if (place && place->root.text)
		return place->root.text;
	if (guard->root_name && cwd && ab_path_is_below(cwd, guard->root_name))
		return guard->root_name;
	if (at && (p->workspace.path || (cwd && ab_path_is_below(cwd, at))))
		return at;
	return guard->root_name;
}
