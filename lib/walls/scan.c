/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looks through the trees that a box can write to, without following links:
 * every name against the patterns, every directory for a repository, every
 * file for its other names.
 *
 * What is too deep, has too long a path, is closed by its mode or has too much
 * in it is held as a whole (fit.c): an agent that plants such things denies
 * itself those places, and not its host the next box.
 * Spec: DESIGN.md section 6, cases 1-23 and 103.
 */
#include "config.h"

#include "walls/protect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/limits.h"
#include "path/lexical.h"

#define MAX_LISTED 8 /* names in one note */
#define SCAN_SECONDS 20
#define CLOCK_EVERY 256
#define LEVEL_FLAGS \
	(O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

typedef struct level {
	DIR *dir;
	size_t path_len; /* of the directory, relative to the workspace */
	uint64_t before; /* entries seen before it */
	bool guarded;	 /* all of it is protected */
	bool objects, refs; /* it has: then it is a git directory */
} level;

/* A depth-first walk of the workspace, without following links. */
typedef struct walk {
	level levels[AB_MAX_SCAN_DEPTH];
	size_t depth;
	char path[AB_MAX_PATH]; /* relative */
	size_t max_path;	/* longer ones are not looked at */
	bool links;		/* second round: look for hard links only */
	/* right below the workspace: which had the most entries so far */
	char most_name[AB_MAX_NAME + 1];
	uint64_t most;
} walk;

int ab_protect_open_level(const ab_protect *p, int dirfd, const char *name)
{
	const struct open_how how = {
		.flags = LEVEL_FLAGS,
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS,
	};
	int fd = (int)syscall(SYS_openat2, dirfd, name, &how, sizeof(how));
	struct stat st;

	/* a filter around us may not know the call: then by device */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) {
		fd = openat(dirfd, name, LEVEL_FLAGS);
		if (fd >= 0 && fstat(fd, &st) == 0 &&
		    st.st_dev != p->root_dev) {
			close(fd);
			errno = EXDEV;
			return -1;
		}
	}
	return ab_fd_lift(fd);
}

/*
 * What cannot be looked through may hold anything: all of it is read-only.
 * No error, or an agent could make its workspace one that is never raised.
 */
static int32_t hold_unseen(ab_protect *p, const walk *w, const char *why,
			   agentbox_error **err)
{
	char host[AB_MAX_PATH];
	int32_t rc;

	/* held and said in the first round, or by what is above */
	if (w->links || w->levels[w->depth - 1].guarded)
		return 0;
	rc = ab_protect_host_of(p, w->path, host, sizeof(host), err);
	if (!rc)
		rc = ab_protect_hold(p, host, true, err);
	if (!rc && p->unseen++ < MAX_LISTED)
		ab_build_note(p->b, "a directory is %s, so it is not looked "
			      "through and read-only in the box: '%.200s%s'",
			      why, w->path,
			      strlen(w->path) > 200 ? "..." : "");
	return rc;
}

static bool is_own(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_uid == geteuid();
}

static int32_t cannot_read(ab_protect *p, const walk *w, int sys_errno,
			   agentbox_error **err)
{
	char host[AB_MAX_PATH];
	int32_t rc = ab_protect_host_of(p, w->path, host, sizeof(host), err);

	return rc ? rc : ab_error_sys(err, sys_errno, "protect",
				      "cannot look through '%s' for protected "
				      "names", host);
}

static int32_t enter(ab_protect *p, walk *w, int dirfd, const char *name,
		     agentbox_error **err)
{
	level *l = &w->levels[w->depth];
	int fd;

	if (w->depth >= AB_MAX_SCAN_DEPTH)
		return hold_unseen(p, w, "deeper than AB_MAX_SCAN_DEPTH", err);
	fd = ab_protect_open_level(p, dirfd, name);
	if (fd < 0 && errno == EXDEV && !w->links)
		ab_protect_meet_mount(p, w->path);
	/* its owner, the agent, could change its mode; nobody else's */
	if (fd < 0 && errno == EACCES && w->depth)
		return is_own(dirfd, name) ?
			       hold_unseen(p, w, "closed by its mode", err) :
			       0;
	if (fd < 0 && (errno == ENOENT || errno == EXDEV))
		return 0;
	if (fd < 0)
		return cannot_read(p, w, errno, err);
	*l = (level){ .dir = fdopendir(fd) };
	if (!l->dir) {
		close(fd);
		return ab_error_nomem(err);
	}
	l->path_len = strlen(w->path);
	l->before = p->entries;
	w->depth++;
	return 0;
}

static void leave(walk *w)
{
	level *l = &w->levels[--w->depth];

	closedir(l->dir);
	w->path[l->path_len] = '\0';
}

static bool is_type(int dirfd, const struct dirent *e, unsigned char type,
		    mode_t mode)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type == type;
	return fstatat(dirfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (st.st_mode & S_IFMT) == mode;
}

/* The .git itself included: it is looked at because of its name. */
static bool is_below_git(const char *path)
{
	const char *end;

	for (; *path; path = *end ? end + 1 : end) {
		end = path + strcspn(path, "/");
		if (end - path == 4 && strncasecmp(path, ".git", 4) == 0)
			return true;
	}
	return false;
}

static int32_t visit_git(ab_protect *p, const walk *w, agentbox_error **err)
{
	char host[AB_MAX_PATH], top[AB_MAX_PATH];
	int32_t rc = ab_protect_host_of(p, w->path, host, sizeof(host), err);

	if (rc)
		return rc;
	snprintf(top, sizeof(top), "%s", host);
	*strrchr(top, '/') = '\0';
	return ab_gitdir_protect(p, host, top, err);
}

/* `.jj/repo` */
static bool is_jj(const char *path)
{
	size_t n = strlen(path);

	return n >= 8 && strcasecmp(path + n - 8, ".jj/repo") == 0 &&
	       (n == 8 || path[n - 9] == '/');
}

static int32_t visit_jj(ab_protect *p, const walk *w, agentbox_error **err)
{
	char host[AB_MAX_PATH], top[AB_MAX_PATH];
	int32_t rc = ab_protect_host_of(p, w->path, host, sizeof(host), err);

	if (rc)
		return rc;
	snprintf(top, sizeof(top), "%s", host);
	*strrchr(top, '/') = '\0';
	*strrchr(top, '/') = '\0';
	return ab_jjdir_protect(p, host, top, err);
}

/*
 * A git directory of another name, by structure: git finds it when it is run
 * in there. Not by its HEAD, which a box may have taken away for this moment;
 * objects and refs are held in their places, so no box can.
 */
static int32_t visit_bare(ab_protect *p, const walk *w, agentbox_error **err)
{
	static const char *const parts[] = { "objects", "refs" };
	const level *l = &w->levels[w->depth - 1];
	char dir[AB_MAX_PATH], host[AB_MAX_PATH], path[AB_MAX_PATH];
	size_t n;
	int32_t rc;

	snprintf(path, sizeof(path), "%.*s", (int)l->path_len, w->path);
	if (is_below_git(path))
		return 0;
	rc = ab_protect_host_of(p, path, dir, sizeof(dir), err);
	n = p->count;
	p->bare = dir;
	if (!rc)
		rc = ab_gitdir_protect(p, dir, dir, err);
	p->bare = NULL;
	if (rc || p->count == n)
		return rc; /* what is not there yet is waited for */
	for (size_t i = 0; i < AB_ARRAY_LEN(parts) && !rc; i++) {
		if (ab_path_join(dir, parts[i], host, sizeof(host)) > 0)
			rc = ab_protect_hold(p, host, false, err);
	}
	return rc;
}

/* See every name; when the last part of a git directory was seen, look. */
static int32_t see_part(ab_protect *p, walk *w, const char *name, bool dir,
			agentbox_error **err)
{
	level *l = &w->levels[w->depth - 1];

	if (!dir && strcmp(name, "commondir") == 0)
		return visit_bare(p, w, err);
	if (!dir || (l->objects && l->refs))
		return 0;
	l->objects |= strcmp(name, "objects") == 0;
	l->refs |= strcmp(name, "refs") == 0;
	return l->objects && l->refs ? visit_bare(p, w, err) : 0;
}

const char *ab_protect_count_entry(ab_protect *p)
{
	if (++p->entries > p->max_entries)
		return "it has too many entries (bound AB_MAX_SCAN_ENTRIES)";
	if (p->entries % CLOCK_EVERY == 0 && ab_clock_boot_ns() > p->deadline)
		return "it could not be looked through in time";
	return NULL;
}

/*
 * Of the directories right below the top one, the one with the most in it
 * is held as a whole, and what it took is forgotten: the one that was, or
 * the one that is just looked through. When that is no help, the workspace.
 */
static int32_t cut_short(ab_protect *p, walk *w, const char *why,
			 agentbox_error **err)
{
	char host[AB_MAX_PATH], name[AB_MAX_NAME + 1];
	uint64_t here;
	int32_t rc;

	if (w->links || w->depth < 2 || ab_clock_boot_ns() > p->deadline)
		return ab_protect_freeze(p, why, err);
	here = p->entries - w->levels[1].before;
	if (w->most > here) {
		snprintf(name, sizeof(name), "%s", w->most_name);
		p->entries -= w->most;
		w->levels[1].before -= w->most;
		w->most = 0;
	} else {
		snprintf(name, sizeof(name), "%.*s",
			 (int)w->levels[1].path_len, w->path);
		p->entries = w->levels[1].before;
		while (w->depth > 1)
			leave(w);
	}
	ab_build_note(p->b, "a directory is not looked through and read-only "
		      "in the box: '%s': %s", name, why);
	rc = ab_protect_host_of(p, name, host, sizeof(host), err);
	if (!rc && ab_protect_is_shown(p, host))
		return ab_error_set(err, AGENTBOX_ELIMIT, "workspace.path",
				    "'%s' and a mount of it can be written: %s",
				    name, why);
	return rc ? rc : ab_protect_hold_whole(p, host, err);
}

/* The workspace in another tree has been looked through by itself. */
static bool is_workspace_here(const ab_protect *p, const walk *w)
{
	const char *rest = ab_path_rest(p->b->workspace.path, p->root);

	return rest && *rest && strcmp(rest, w->path) == 0;
}

/* Is the directory the walk stands before masked in the box? */
static bool is_masked_here(const ab_protect *p, const walk *w)
{
	char host[AB_MAX_PATH];

	return ab_path_join(p->root, w->path, host,
			    sizeof(host)) > 0 &&
	       ab_protect_is_masked(p, host);
}

static int32_t visit(ab_protect *p, walk *w, const struct dirent *e,
		     agentbox_error **err)
{
	const level above = w->levels[w->depth - 1];
	int fd = dirfd(above.dir);
	bool dir = is_type(fd, e, DT_DIR, S_IFDIR);
	bool done = above.guarded, plain = w->links || done;
	size_t depth = w->depth;
	const char *why = ab_protect_count_entry(p);
	int32_t rc = 0;

	if (why)
		return cut_short(p, w, why, err);
	if (dir && is_masked_here(p, w))
		return 0;
	if (!plain) {
		rc = ab_protect_judge(p, w->path,
				      is_type(fd, e, DT_LNK, S_IFLNK), &done,
				      err);
		if (!rc && !done && p->git && ab_protect_is_git(e->d_name))
			rc = visit_git(p, w, err);
		if (!rc && !done && p->git && is_jj(w->path))
			rc = visit_jj(p, w, err);
		if (!rc && p->git)
			rc = see_part(p, w, e->d_name, dir, err);
	}
	if (rc)
		return rc;
	if (!dir)
		return is_type(fd, e, DT_REG, S_IFREG) ?
			       ab_protect_see_name(p, w->path, w->links, fd,
						   e->d_name, done, err) :
			       0;
	if (is_workspace_here(p, w))
		return 0;
	rc = enter(p, w, fd, e->d_name, err);
	if (!rc && w->depth > depth)
		w->levels[depth].guarded = done;
	return rc;
}

static void compare_top(const ab_protect *p, walk *w)
{
	uint64_t n = p->entries - w->levels[1].before;

	if (n <= w->most || w->levels[1].guarded)
		return;
	w->most = n;
	snprintf(w->most_name, sizeof(w->most_name), "%.*s", AB_MAX_NAME,
		 w->path);
}

static int32_t step_walk(ab_protect *p, walk *w, agentbox_error **err)
{
	level *l = &w->levels[w->depth - 1];
	struct dirent *e;
	int n, error;

	w->path[l->path_len] = '\0';
	e = ab_fd_next(l->dir, &error);
	if (error)
		return cannot_read(p, w, error, err);
	if (!e) {
		if (w->depth == 2)
			compare_top(p, w);
		leave(w);
		return 0;
	}
	n = snprintf(w->path + l->path_len, sizeof(w->path) - l->path_len,
		     "%s%s", l->path_len ? "/" : "", e->d_name);
	if (n < 0 || l->path_len + (size_t)n > w->max_path) {
		int32_t rc;

		w->path[l->path_len] = '\0';
		if (!l->path_len)
			return ab_error_set(err, AGENTBOX_ELIMIT,
					    "workspace.path",
					    "the path of the workspace is too "
					    "long");
		rc = hold_unseen(p, w, "the way to paths that are too long",
				 err);
		leave(w);
		return rc;
	}
	return visit(p, w, e, err);
}

/* A path must have a name on the host and in the box, and room for more. */
static size_t find_max_path(const ab_protect *p)
{
	size_t host = strlen(p->root);
	size_t inside = strlen(p->root_inside);
	size_t used = (host > inside ? host : inside) + AB_SCAN_PATH_RESERVE;

	return used < AB_MAX_PATH ? AB_MAX_PATH - used : 0;
}

int32_t ab_protect_scan_tree(ab_protect *p, int fd, bool links,
			     agentbox_error **err)
{
	walk *w = ab_new(walk);
	int32_t rc;

	if (!w)
		return ab_error_nomem(err);
	p->halt = false;
	p->deadline = ab_clock_boot_ns() + SCAN_SECONDS * UINT64_C(1000000000);
	w->links = links;
	w->max_path = find_max_path(p);
	rc = enter(p, w, fd, ".", err);
	while (!rc && w->depth && !p->halt)
		rc = step_walk(p, w, err);
	while (w->depth)
		leave(w);
	free(w);
	return rc;
}

void ab_protect_stand_in_workspace(ab_protect *p)
{
	p->root = p->b->workspace.path;
	p->root_inside = p->b->plan.workspace_inside;
	p->root_dev = p->b->workspace.dev;
}

/* Is all of one directory looked through where the other one is? */
static bool is_part_of(const char *host, const char *of)
{
	struct stat a, b;

	return strcmp(host, of) != 0 && ab_path_is_below(host, of) &&
	       lstat(host, &a) == 0 && lstat(of, &b) == 0 &&
	       a.st_dev == b.st_dev;
}

/* Another tree of the host that the box writes to, not a part of one. */
static bool is_root(const ab_protect *p, const ab_view *view)
{
	if (!view->write || !view->dir || !view->host ||
	    strcmp(view->host, p->b->workspace.path) == 0)
		return false;
	for (const ab_view *v = p->b->views;
	     v < p->b->views + p->b->view_count; v++) {
		if (!v->write || !v->dir || !v->host)
			continue;
		if (v < view && strcmp(v->host, view->host) == 0)
			return false;
		if (is_part_of(view->host, v->host))
			return false;
	}
	return true;
}

static int32_t scan_root(ab_protect *p, const ab_view *view, bool links,
			 agentbox_error **err)
{
	ab_autofd int fd = ab_fd_lift(open(view->host, O_PATH | O_DIRECTORY |
							       O_NOFOLLOW |
							       O_CLOEXEC));
	struct stat st;
	int32_t rc;

	p->root = view->host;
	p->root_inside = view->inside;
	if (fd < 0 || fstat(fd, &st) < 0)
		return ab_protect_freeze(p, "it cannot be opened", err);
	p->root_dev = st.st_dev;
	if (!links)
		ab_build_note(p->b, "'%s': the protected names that are there "
			      "are read-only, but nothing watches for new "
			      "ones outside the workspace", view->inside);
	rc = ab_protect_scan_tree(p, fd, links, err);
	/* read-only as a whole now: so is what is mounted there */
	if (rc || !view->write)
		return rc;
	return ab_protect_scan_submounts(p, view->host, view->inside, links,
					 err);
}

int32_t ab_protect_scan(ab_protect *p, bool links, agentbox_error **err)
{
	int32_t rc;

	ab_protect_stand_in_workspace(p);
	rc = ab_protect_scan_tree(p, p->b->workspace.fd, links, err);
	if (!rc)
		rc = ab_protect_scan_submounts(p, p->root, p->root_inside,
					       links, err);
	for (size_t i = 0; i < p->b->view_count && !rc; i++) {
		if (is_root(p, &p->b->views[i]))
			rc = scan_root(p, &p->b->views[i], links, err);
	}
	ab_protect_stand_in_workspace(p);
	/* that another tree is read-only now ends nothing in this one */
	p->halt = p->frozen;
	return rc;
}

void ab_protect_report_unseen(ab_protect *p)
{
	if (p->unseen > MAX_LISTED)
		ab_build_note(p->b, "%zu directories of the workspace were not "
			      "looked through and are read-only", p->unseen);
	if (p->skipped > MAX_LISTED)
		ab_build_note(p->b, "%zu mounts below the workspace were not "
			      "looked through", p->skipped);
}
