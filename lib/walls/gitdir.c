/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where git finds what it runs: hooks and configuration of a repository, of
 * the common directory of a work tree, of submodules below .git/modules; what
 * the configuration leads to is for gitvalue.c. Everything of it that lies in
 * a writable tree of the box gets protected; what lies elsewhere cannot be
 * written anyway.
 *
 * Reads only what git itself reads, bounded. What a box may write decides
 * nothing: a box before this one may have changed it for this moment. What
 * cannot be read or searched is held as a whole.
 * Spec: gitrepository-layout(5), git-config(1), githooks(5); cases 9, 10.
 */
#include "config.h"

#include "walls/protect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fd.h"
#include "path/lexical.h"

#define MAX_POINTER (1u << 20) /* git's own bound of a .git file */
#define MAX_GITDIR_DEPTH 8
#define MAX_NOTES 8
#define TOO_DEEP "git directories are nested deeper than is looked at"

/* The git directories that are being looked at, from the outermost. */
typedef struct chain {
	const struct chain *above; /* NULL: the first */
	const char *dir;
	unsigned depth;
} chain;

/* Too much, or not to be looked at: read-only with all that is in it. */
static int32_t hold_all(ab_protect *p, const char *dir, const char *why,
			agentbox_error **err)
{
	if (p->unseen++ < MAX_NOTES)
		ab_build_note(p->b, "%s, so it is read-only as a whole: "
			      "'%.200s'", why, dir);
	return ab_protect_hold_whole(p, dir, err);
}

static int32_t protect_dir(ab_protect *p, const char *dir, const char *top,
			   const chain *above, agentbox_error **err);

static bool has(const char *dir, const char *name, int *error)
{
	char path[AB_MAX_PATH];
	struct stat st;

	if (ab_path_join(dir, name, path, sizeof(path)) < 0)
		return false;
	if (lstat(path, &st) == 0)
		return true;
	if (errno != ENOENT && errno != ENOTDIR)
		*error = errno;
	return false;
}

/*
 * Any part of a git directory: a box could have taken another part away, to
 * put it back when it is not looked at.
 */
static bool has_parts(const char *dir, int *error)
{
	static const char *const parts[] = { "HEAD", "config", "hooks",
					     "objects", "commondir", "gitdir",
					     "config.worktree" };

	for (size_t i = 0; i < AB_ARRAY_LEN(parts); i++) {
		if (has(dir, parts[i], error))
			return true;
	}
	return false;
}

/* What a git directory has of its own is no place for submodules. */
static bool is_inner(const char *name)
{
	static const char *const names[] = { "objects", "refs", "logs", "info",
					     "hooks", "modules", "worktrees" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

static int32_t protect_child(ab_protect *p, const char *child, const char *top,
			     const chain *above, agentbox_error **err);

/*
 * Directories of the same kind below: submodules, linked work trees. Submodules
 * may have slashes in their names, so all are looked into; own: those that a
 * git directory has besides its own.
 */
static int32_t protect_children(ab_protect *p, const char *path, bool own,
				const char *top, const chain *above,
				agentbox_error **err)
{
	char child[AB_MAX_PATH];
	struct dirent *e;
	DIR *d = opendir(path);
	int error = 0;
	int32_t rc = 0;

	if (!d && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (!d)
		return hold_all(p, path, "a directory of submodules cannot be "
					 "read", err);
	while (!rc && !p->halt && (e = ab_fd_next(d, &error))) {
		struct stat st;

		if (own && is_inner(e->d_name))
			continue;
		if (++p->entries > p->max_entries) {
			rc = hold_all(p, path, "there are too many submodules",
				      err);
			break;
		}
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISDIR(st.st_mode))
			continue;
		if (ab_path_join(path, e->d_name, child, sizeof(child)) < 0)
			rc = hold_all(p, path, "paths in it are too long",
				      err);
		else
			rc = protect_child(p, child, top, above, err);
	}
	closedir(d);
	if (!rc && error)
		rc = hold_all(p, path, "a directory of submodules cannot be "
				       "read to its end", err);
	return rc;
}

static int32_t protect_child(ab_protect *p, const char *child, const char *top,
			     const chain *above, agentbox_error **err)
{
	const chain here = { .above = above,
			     .dir = child,
			     .depth = above->depth + 1 };
	int error = 0;
	bool is_dir = has_parts(child, &error);
	int32_t rc;

	if (error)
		return hold_all(p, child, "a git directory cannot be searched",
				err);
	if (here.depth > MAX_GITDIR_DEPTH)
		return hold_all(p, child, TOO_DEEP, err);
	rc = is_dir ? protect_dir(p, child, top, above, err) : 0;
	return rc ? rc : protect_children(p, child, is_dir, top, &here, err);
}

static int32_t protect_below(ab_protect *p, const char *dir, const char *name,
			     const char *top, const chain *here,
			     agentbox_error **err)
{
	char path[AB_MAX_PATH];

	if (ab_path_join(dir, name, path, sizeof(path)) < 0)
		return 0; /* the kernel takes no such path either */
	return protect_children(p, path, false, top, here, err);
}

/*
 * Where a path that is written in a file leads. *there is false when it leads
 * nowhere; then that is watched.
 */
static int32_t follow_written(ab_protect *p, const char *base,
			      const char *value, char *out, bool *there,
			      agentbox_error **err)
{
	char path[2 * AB_MAX_PATH];
	int n = *value == '/' ? snprintf(path, sizeof(path), "%s", value) :
				snprintf(path, sizeof(path), "%s/%s", base,
					 value);

	*there = false;
	if (!*value || n < 0 || (size_t)n >= sizeof(path) || n >= AB_MAX_PATH)
		return 0; /* the kernel takes no such path either */
	return ab_protect_follow(p, path, out, there, err);
}

/* What a pointer file says after `prefix`, as git reads it. */
static int32_t read_pointer(ab_protect *p, const char *file,
			    const char *prefix, const char *base, char *out,
			    bool *there, agentbox_error **err)
{
	ab_autofree char *text = NULL;
	char end[AB_MAX_PATH];
	size_t n;
	int32_t rc = ab_protect_follow(p, file, end, there, err);

	if (!rc && *there)
		rc = ab_protect_read(p, end, MAX_POINTER, &text, &n, err);
	*there = false;
	if (rc || !text || strncmp(text, prefix, strlen(prefix)) != 0)
		return rc;
	while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
		text[--n] = '\0';
	return follow_written(p, base, text + strlen(prefix), out, there, err);
}

static int32_t protect_common(ab_protect *p, const char *dir, const char *top,
			      const chain *here, agentbox_error **err)
{
	char path[AB_MAX_PATH], common[AB_MAX_PATH];
	bool there;
	int32_t rc;

	if (ab_path_join(dir, "commondir", path, sizeof(path)) < 0)
		return 0;
	rc = read_pointer(p, path, "", dir, common, &there, err);
	return rc || !there ? rc : protect_dir(p, common, top, here, err);
}

/* The names themselves. */
static int32_t protect_names(ab_protect *p, const char *dir,
			     agentbox_error **err)
{
	static const char *const names[] = { "hooks", "config", "commondir",
					     "config.worktree", "gitdir",
					     "info/attributes",
					     "objects/info/alternates" };
	char path[AB_MAX_PATH];
	int32_t rc = 0;

	for (size_t i = 0; i < AB_ARRAY_LEN(names) && !rc; i++) {
		int error = 0;
		bool there = has(dir, names[i], &error);

		if (error)
			return hold_all(p, dir, "a git directory cannot be "
						"searched", err);
		/* the first four count as soon as they appear: watched */
		if (i > 3 && !there)
			continue;
		if (ab_path_join(dir, names[i], path, sizeof(path)) < 0)
			return hold_all(p, dir, "paths in it are too long",
					err);
		rc = ab_protect_add(p, path, err);
	}
	return rc;
}

/*
 * The configuration of a user whose home is a tree of this box: what it leads
 * to, from this work tree. Another home cannot be written here, but may name
 * something here: agentbox_walls(3) says so.
 */
static int32_t follow_homes(ab_protect *p, const char *top,
			    agentbox_error **err)
{
	static const char *const files[] = { ".gitconfig",
					     ".config/git/config" };
	int32_t rc = 0;

	for (size_t i = 0; i < p->b->view_count && !rc && !p->halt; i++) {
		const ab_view *v = &p->b->views[i];

		for (size_t k = 0; k < AB_ARRAY_LEN(files) && !rc; k++) {
			int error = 0;

			if (v->host && v->write && v->dir &&
			    (has(v->host, files[k], &error) || error))
				rc = ab_gitdir_follow(p, v->host, files[k],
						      top, err);
		}
	}
	return rc;
}

/*
 * One git directory, because its place says so: nothing that is in it or is
 * not decides that, as a box before this one may have arranged it.
 */
static int32_t protect_dir(ab_protect *p, const char *dir, const char *top,
			   const chain *above, agentbox_error **err)
{
	const chain here = { .above = above,
			     .dir = dir,
			     .depth = above ? above->depth + 1 : 0 };
	int32_t rc;

	for (const chain *c = above; c; c = c->above) {
		if (strcmp(c->dir, dir) == 0)
			return 0;
	}
	if (here.depth > MAX_GITDIR_DEPTH)
		return hold_all(p, dir, TOO_DEEP, err);
	rc = protect_names(p, dir, err);
	if (!rc)
		rc = ab_gitdir_follow(p, dir, "config", top, err);
	if (!rc)
		rc = ab_gitdir_follow(p, dir, "config.worktree", top, err);
	if (!rc && !above)
		rc = follow_homes(p, top, err);
	if (!rc)
		rc = protect_common(p, dir, top, &here, err);
	if (!rc)
		rc = protect_below(p, dir, "modules", top, &here, err);
	if (!rc)
		rc = protect_below(p, dir, "worktrees", top, &here, err);
	return rc;
}

int32_t ab_gitdir_protect(ab_protect *p, const char *git, const char *top,
			  agentbox_error **err)
{
	char dir[AB_MAX_PATH];
	struct stat st;
	bool there;
	int32_t rc;

	if (lstat(git, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return protect_dir(p, git, top, NULL, err);
	/* a file or a link says where the repository is: it stays as it is */
	rc = ab_protect_add_itself(p, git, err);
	if (rc)
		return rc;
	if (S_ISREG(st.st_mode))
		rc = read_pointer(p, git, "gitdir: ", top, dir, &there, err);
	else
		rc = ab_protect_follow(p, git, dir, &there, err);
	return rc || !there ? rc : protect_dir(p, dir, top, NULL, err);
}

/* A jj repository: its configuration, and the git directory it lives on. */
static int32_t protect_jj(ab_protect *p, const char *repo, const char *top,
			  agentbox_error **err)
{
	static const char *const names[] = { "config.toml",
					     "store/git_target" };
	char path[AB_MAX_PATH], base[AB_MAX_PATH], git[AB_MAX_PATH];
	bool there;
	int32_t rc = 0;

	for (size_t i = 0; i < AB_ARRAY_LEN(names) && !rc; i++) {
		if (ab_path_join(repo, names[i], path, sizeof(path)) < 0)
			return 0;
		rc = ab_protect_add(p, path, err);
	}
	if (rc || ab_path_join(repo, "store", base, sizeof(base)) < 0)
		return rc;
	rc = read_pointer(p, path, "", base, git, &there, err);
	return rc || !there ? rc : protect_dir(p, git, top, NULL, err);
}

int32_t ab_jjdir_protect(ab_protect *p, const char *repo, const char *top,
			 agentbox_error **err)
{
	char base[AB_MAX_PATH], dir[AB_MAX_PATH];
	struct stat st;
	bool there;
	int32_t rc;

	if (lstat(repo, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return protect_jj(p, repo, top, err);
	/* of a workspace that was added: it says where the repository is */
	rc = ab_protect_add_itself(p, repo, err);
	snprintf(base, sizeof(base), "%s", repo);
	*strrchr(base, '/') = '\0';
	if (!rc && S_ISREG(st.st_mode))
		rc = read_pointer(p, repo, "", base, dir, &there, err);
	else if (!rc)
		rc = ab_protect_follow(p, repo, dir, &there, err);
	return rc || !there ? rc : protect_jj(p, dir, top, err);
}
