/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * "Code that runs later" in a direct workspace: everything a pattern of the
 * policy names is bound read-only onto itself, its ancestors are bound onto
 * themselves so that they cannot be renamed away, and what does not exist
 * yet becomes a watch for agentbox-init.
 *
 * What is too deep, has too long a path, is closed by its mode or has too much
 * in it is held as a whole (fit.c): an agent that plants such things denies
 * itself those places, and not its host the next box. It never writes to the
 * host.
 * Spec: DESIGN.md section 6, RECIPES.md section 8p, cases 1-23 and 103.
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
#include "path/glob.h"
#include "path/lexical.h"

#define MAX_LISTED 8 /* names in one note */
/* While they are collected; then as many mounts as AB_MAX_PROTECTED. */
#define MAX_HELD (2 * AB_MAX_PROTECTED)
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

/* The place a view has for a host path, into out; false: none. */
static bool place_in(const ab_view *v, const char *host, char *out, size_t size)
{
	return v->host && ab_path_is_below(host, v->host) &&
	       ab_path_join(v->inside, ab_path_rest(host, v->host), out,
			    size) >= 0;
}

/* Does the box see and write a host path in this tree of it? */
static bool writes_in(const ab_protect *p, const ab_view *v, const char *host)
{
	char inside[AB_MAX_PATH];

	if (!v->write || !place_in(v, host, inside, sizeof(inside)))
		return false;
	/* a mount of the box further down may cover it there */
	for (size_t i = 0; i < p->b->view_count; i++) {
		const ab_view *other = &p->b->views[i];

		if (other->inside && ab_path_is_below(inside, other->inside) &&
		    strlen(other->inside) > strlen(v->inside))
			return false;
	}
	return true;
}

/* A path has a name of its own in some writable tree: not just its root. */
static bool is_writable(const ab_protect *p, const char *host)
{
	for (size_t i = 0; i < p->b->view_count; i++) {
		const ab_view *v = &p->b->views[i];

		if (writes_in(p, v, host) && strcmp(host, v->host) != 0)
			return true;
	}
	return false;
}

/*
 * Behind a mask of the box nothing is to be held: it is not to be seen, and
 * a mount there would be one on the mask.
 */
static bool is_masked_in(const ab_protect *p, const ab_view *v,
			 const char *host)
{
	char inside[AB_MAX_PATH];

	if (!place_in(v, host, inside, sizeof(inside)))
		return false;
	for (uint32_t i = 0; i < p->b->plan.step_count; i++) {
		const ab_plan_step *s = &p->b->plan.steps[i];

		if (s->kind == AB_STEP_HIDE && s->target &&
		    ab_path_is_below(inside, s->target))
			return true;
	}
	return false;
}

/* Masked wherever it could be written. */
static bool is_masked(const ab_protect *p, const char *host)
{
	bool masked = false;

	for (size_t i = 0; i < p->b->view_count; i++) {
		const ab_view *v = &p->b->views[i];

		if (!writes_in(p, v, host))
			continue;
		if (!is_masked_in(p, v, host))
			return false;
		masked = true;
	}
	return masked;
}

/* `view` shows a directory that is held, with this in it. */
static bool is_below_whole(const ab_protect *p, const ab_view *view,
			   const char *host)
{
	for (size_t i = 0; i < p->whole_count; i++) {
		if (ab_path_is_below(host, p->whole[i]) &&
		    ab_path_is_below(p->whole[i], view->host) &&
		    strcmp(p->whole[i], view->host) != 0)
			return true;
	}
	return false;
}

static int32_t put(ab_protect *p, const char *host, const ab_view *view,
		   bool readonly, bool dir, agentbox_error **err)
{
	const char *inside, *copy;
	int32_t rc = 0;

	if (p->count >= MAX_HELD)
		rc = ab_protect_fit(p, err);
	if (!rc && p->count >= MAX_HELD)
		return ab_error_set(err, AGENTBOX_ELIMIT, "protect",
				    "more than %d protected paths outside the "
				    "workspace, at '%s'", MAX_HELD, host);
	if (rc || !view->write || is_below_whole(p, view, host))
		return rc;
	inside = ab_build_join(p->b, view->inside,
			       ab_path_rest(host, view->host));
	copy = ab_build_str(p->b, host);
	if (!inside || !copy ||
	    !ab_build_grow(p->b, &p->set, p->count, sizeof(*p->set)))
		return 0; /* sticky */
	p->set[p->count++] = (ab_guarded){
		.inside = inside,
		.host = copy,
		.view = view,
		.readonly = readonly,
		.dir = dir,
	};
	return 0;
}

int32_t ab_protect_hold_whole(ab_protect *p, const char *host,
			      agentbox_error **err)
{
	const char *copy = ab_build_str(p->b, host);
	int32_t rc = ab_protect_hold(p, host, true, err);

	if (rc || !copy ||
	    !ab_build_grow(p->b, &p->whole, p->whole_count, sizeof(*p->whole)))
		return rc;
	p->whole[p->whole_count++] = copy;
	return 0;
}

/* A workspace path as a pattern that matches only itself. */
static void watch_path(ab_protect *p, const char *host)
{
	const char *rest = ab_path_rest(host, p->b->workspace.path);
	char out[2 * AB_MAX_PATH];
	size_t n = 0;

	if (!rest || !*rest)
		return;
	for (; *rest && n + 2 < sizeof(out); rest++) {
		if (strchr("*?[\\!", *rest))
			out[n++] = '\\';
		out[n++] = *rest;
	}
	out[n] = '\0';
	/* at the top it has no slash and means any directory: more, not less */
	ab_build_watch(p->b, ab_build_str(p->b, out));
}

static bool is_held(const ab_protect *p, const ab_view *view, const char *host)
{
	for (size_t i = 0; i < p->count; i++) {
		if (p->set[i].readonly && p->set[i].view == view &&
		    strcmp(p->set[i].host, host) == 0)
			return true;
	}
	return false;
}

static int32_t hold_in(ab_protect *p, const ab_view *view, const char *host,
		       bool readonly, bool dir, agentbox_error **err)
{
	if (!writes_in(p, view, host) || is_held(p, view, host) ||
	    is_masked_in(p, view, host))
		return 0;
	if (strcmp(host, view->host) == 0) {
		if (readonly && strcmp(host, p->b->workspace.path) != 0)
			ab_build_note(p->b, "'%s' is protected, and the policy "
				      "gives it to be written as '%s'",
				      host, view->inside);
		return 0;
	}
	return put(p, host, view, readonly, dir, err);
}

int32_t ab_protect_hold(ab_protect *p, const char *host, bool readonly,
			agentbox_error **err)
{
	struct stat st;
	int32_t rc = 0;

	if (lstat(host, &st) < 0)
		return 0;
	for (size_t i = 0; i < p->b->view_count && !rc; i++)
		rc = hold_in(p, &p->b->views[i], host, readonly,
			     S_ISDIR(st.st_mode), err);
	return rc;
}

/* What git runs in a directory that has become one: init_is_bare_part(). */
static bool is_bare_part(const ab_protect *p, const char *host)
{
	static const char *const names[] = { "config", "config.worktree",
					     "hooks", "commondir" };
	const char *rest = p->bare ? ab_path_rest(host, p->bare) : NULL;

	for (size_t i = 0; rest && i < AB_ARRAY_LEN(names); i++) {
		if (strcmp(rest, names[i]) == 0)
			return true;
	}
	return false;
}

bool ab_protect_is_awaited(const ab_protect *p, const char *host)
{
	const ab_policy *policy = p->b->policy;
	const char *rest = ab_path_rest(host, p->b->workspace.path);

	if (is_bare_part(p, host))
		return true;
	for (size_t i = 0; rest && *rest && i < policy->protect_count; i++) {
		const ab_policy_protect *pat = &policy->protect[i];
		char below[AB_MAX_PATH];

		/* as in add_watches() */
		if (ab_glob_match(pat->pattern, rest, AB_GLOB_FOLD))
			return true;
		if (pat->repository &&
		    snprintf(below, sizeof(below), "**/%s", pat->pattern) <
			    (int)sizeof(below) &&
		    ab_glob_match(below, rest, AB_GLOB_FOLD))
			return true;
	}
	return false;
}

void ab_protect_watch(ab_protect *p, const char *host)
{
	if (ab_path_is_below(host, p->b->workspace.path))
		watch_path(p, host);
	else if (is_writable(p, host))
		ab_build_note(p->b, "'%s' is not there yet and would be "
			      "protected: outside the workspace nothing "
			      "watches for it",
			      host);
}

/*
 * The box may read the text of a link that leads nowhere, but not write
 * through it: its end would be made, and be what the link's reader runs.
 */
static void forbid_following(ab_protect *p, const char *host)
{
	for (size_t i = 0; i < p->count; i++) {
		if (strcmp(p->set[i].host, host) == 0)
			p->set[i].nofollow = true;
	}
}

int32_t ab_protect_add_itself(ab_protect *p, const char *host,
			      agentbox_error **err)
{
	return ab_protect_hold(p, host, true, err);
}

int32_t ab_protect_add(ab_protect *p, const char *host, agentbox_error **err)
{
	char end[AB_MAX_PATH];
	struct stat st;
	bool there;
	int32_t rc;

	if (!is_writable(p, host))
		return 0;
	if (lstat(host, &st) < 0 && errno != ENOENT && errno != ENOTDIR)
		return ab_error_sys(err, errno, "protect",
				    "cannot look at '%s'", host);
	rc = ab_protect_follow(p, host, end, &there, err);
	if (!rc && !there)
		forbid_following(p, host);
	return rc || !there ? rc : ab_protect_hold(p, end, true, err);
}

static int32_t host_of(ab_protect *p, const char *relative, char *out,
		       size_t size, agentbox_error **err)
{
	if (ab_path_join(p->root, relative, out, size) < 0)
		return ab_error_set(err, AGENTBOX_ELIMIT, "protect",
				    "path '%s' is too long", relative);
	return 0;
}

/* With a slash, and yet not from the top of the workspace only. */
static bool is_anywhere(const ab_policy_protect *pat)
{
	return pat->repository && strchr(pat->pattern, '/');
}

/*
 * Where a pattern stands: 1 the path is protected, 2 it is a proper ancestor
 * of something the pattern names (`tail` is what is left), 0 neither.
 */
static int match_at(const char *pattern, const char *path, const char **tail)
{
	char head[AB_MAX_PATH];

	if (ab_glob_match(pattern, path, AB_GLOB_FOLD))
		return 1;
	for (const char *s = strchr(pattern, '/'); s; s = strchr(s + 1, '/')) {
		size_t n = (size_t)(s - pattern);

		if (n == 0 || n >= sizeof(head) || !s[1])
			continue;
		memcpy(head, pattern, n);
		head[n] = '\0';
		/* a head without a slash would float: anchor it by hand */
		if (!strchr(head, '/') ?
			    !strchr(path, '/') &&
				    ab_glob_match_name(head, n, path,
						       strlen(path),
						       AB_GLOB_FOLD) :
			    ab_glob_match(head, path, AB_GLOB_FOLD)) {
			*tail = s + 1;
			return 2;
		}
	}
	return 0;
}

/*
 * Whatever the case, as patterns and agentbox-init have it: where a directory
 * folds it (casefold of ext4 and f2fs, vfat, exfat, ntfs3, cifs), git finds its
 * repository by each of these names. Elsewhere that costs a few mounts more.
 */
static bool is_git(const char *name)
{
	return strcasecmp(name, ".git") == 0;
}

/*
 * A link in place of a directory that holds protected names: the link is
 * held, and below what it names the rest of the pattern.
 */
static int32_t through_link(ab_protect *p, const char *host, const char *tail,
			    agentbox_error **err)
{
	char path[AB_MAX_PATH], real[AB_MAX_PATH];
	bool there;
	int32_t rc;

	if (!is_writable(p, host))
		return 0;
	rc = ab_protect_follow(p, host, real, &there, err);
	if (!rc && !there)
		forbid_following(p, host);
	if (rc || !there)
		return rc;
	if (ab_glob_is_literal(tail) &&
	    ab_path_join(real, tail, path, sizeof(path)) > 0)
		rc = ab_protect_add(p, path, err);
	else if (!p->git || !is_git(strrchr(host, '/') + 1))
		/* all of it; but a repository is looked into, gitdir.c */
		rc = ab_protect_add(p, real, err);
	return rc;
}

static int32_t judge_pattern(ab_protect *p, const ab_policy_protect *pat,
			     const char *path, const char *host, bool is_link,
			     bool *done, agentbox_error **err)
{
	const char *tail = NULL;

	switch (match_at(pat->pattern, path, &tail)) {
	case 1:
		*done = true;
		return ab_protect_add(p, host, err);
	case 2:
		return is_link ? through_link(p, host, tail, err) : 0;
	}
	return 0;
}

/*
 * Most entries are no pattern's business: a pattern whose last component is
 * plain text can only name an entry of that name. A link may also stand for
 * a directory above it.
 */
static bool may_match(const ab_protect *p, size_t i, const char *name,
		      bool is_link)
{
	return is_link || !p->names[i] || strcasecmp(p->names[i], name) == 0;
}

static int32_t index_names(ab_protect *p, agentbox_error **err)
{
	const ab_policy *policy = p->b->policy;

	p->names = ab_calloc(policy->protect_count + 1, sizeof(*p->names));
	if (!p->names)
		return ab_error_nomem(err);
	for (size_t i = 0; i < policy->protect_count; i++) {
		const char *pattern = policy->protect[i].pattern;
		const char *slash = strrchr(pattern, '/');
		const char *last = slash ? slash + 1 : pattern;

		if (*last && ab_glob_is_literal(last))
			p->names[i] = last;
	}
	return 0;
}

/*
 * One entry against every pattern. What belongs to a repository is looked for
 * in every directory, as by agentbox-init: what makes a directory one is for
 * its program to say.
 */
static int32_t judge(ab_protect *p, walk *w, bool is_link, bool *done,
		     agentbox_error **err)
{
	const ab_policy *policy = p->b->policy;
	const char *slash = strrchr(w->path, '/');
	const char *name = slash ? slash + 1 : w->path;
	char host[AB_MAX_PATH];
	int32_t rc = 0;

	for (size_t i = 0; i < policy->protect_count && !rc && !*done; i++) {
		const ab_policy_protect *pat = &policy->protect[i];
		const char *from = w->path;

		if (!may_match(p, i, name, is_link))
			continue;
		rc = host_of(p, w->path, host, sizeof(host), err);
		while (from && !rc && !*done) {
			rc = judge_pattern(p, pat, from, host, is_link, done,
					   err);
			from = is_anywhere(pat) ? strchr(from, '/') : NULL;
			from += from != NULL;
		}
	}
	return rc;
}

/* First round: count a name of a file that has several. */
static void count_name(ab_protect *p, const walk *w, const struct stat *st,
		       bool guarded)
{
	ab_inode *e = ab_inodes_add(&p->inodes, st);

	if (!e) {
		p->b->nomem |= !p->inodes.full;
		return;
	}
	e->seen++;
	e->guarded |= guarded;
	p->links_guarded |= guarded;
	if (!e->name && p->inodes.names < AB_MAX_LINKED_NAMES) {
		e->name = p->root == p->b->workspace.path ?
				  ab_build_str(p->b, w->path) :
				  ab_build_join(p->b, p->root, w->path);
		p->inodes.names++;
	}
}

/* Second round: other names of protected files are protected. */
static int32_t hold_name(ab_protect *p, const walk *w, const struct stat *st,
			 agentbox_error **err)
{
	const ab_inode *e = ab_inodes_find(&p->inodes, st);
	char host[AB_MAX_PATH];
	int32_t rc;

	if (!e || !e->guarded)
		return 0;
	rc = host_of(p, w->path, host, sizeof(host), err);
	return rc ? rc : ab_protect_hold(p, host, true, err);
}

static int32_t several_names(ab_protect *p, const walk *w, int dirfd,
			     const char *name, bool guarded,
			     agentbox_error **err)
{
	struct stat st;

	if (fstatat(dirfd, name, &st,
		    AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0 ||
	    !S_ISREG(st.st_mode) || st.st_nlink < 2)
		return 0;
	if (w->links)
		return guarded ? 0 : hold_name(p, w, &st, err);
	count_name(p, w, &st, guarded);
	return 0;
}

/*
 * A directory of the same mount. What is mounted below a workspace may be a
 * server that does not answer: it is not even opened, and not looked through.
 */
static int open_level(const ab_protect *p, int dirfd, const char *name)
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

static void note_mount(ab_protect *p, const char *path)
{
	if (p->skipped++ < MAX_LISTED)
		ab_build_note(p->b, "'%s' is a mount of its own below the "
			      "workspace: the box sees it, and what is "
			      "protected in it is not held", path);
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
	rc = host_of(p, w->path, host, sizeof(host), err);
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
	int32_t rc = host_of(p, w->path, host, sizeof(host), err);

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
	fd = open_level(p, dirfd, name);
	if (fd < 0 && errno == EXDEV && !w->links)
		note_mount(p, w->path);
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
	int32_t rc = host_of(p, w->path, host, sizeof(host), err);

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
	int32_t rc = host_of(p, w->path, host, sizeof(host), err);

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
	rc = host_of(p, path, dir, sizeof(dir), err);
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

/* Why no more is looked at, or NULL. */
static const char *out_of_bounds(ab_protect *p)
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
	rc = host_of(p, name, host, sizeof(host), err);
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
	       is_masked(p, host);
}

static int32_t visit(ab_protect *p, walk *w, const struct dirent *e,
		     agentbox_error **err)
{
	const level above = w->levels[w->depth - 1];
	int fd = dirfd(above.dir);
	bool dir = is_type(fd, e, DT_DIR, S_IFDIR);
	bool done = above.guarded, plain = w->links || done;
	size_t depth = w->depth;
	const char *why = out_of_bounds(p);
	int32_t rc = 0;

	if (why)
		return cut_short(p, w, why, err);
	if (dir && is_masked_here(p, w))
		return 0;
	if (!plain) {
		rc = judge(p, w, is_type(fd, e, DT_LNK, S_IFLNK), &done, err);
		if (!rc && !done && p->git && is_git(e->d_name))
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
			       several_names(p, w, fd, e->d_name, done, err) :
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

/* Look through one tree, whose directory is open. */
static int32_t scan_tree(ab_protect *p, int fd, bool links,
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

static void stand_in_workspace(ab_protect *p)
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

	p->root = view->host;
	p->root_inside = view->inside;
	if (fd < 0 || fstat(fd, &st) < 0)
		return ab_protect_freeze(p, "it cannot be opened", err);
	p->root_dev = st.st_dev;
	if (!links)
		ab_build_note(p->b, "'%s': the protected names that are there "
			      "are read-only, but nothing watches for new "
			      "ones outside the workspace", view->inside);
	return scan_tree(p, fd, links, err);
}

static int32_t scan(ab_protect *p, bool links, agentbox_error **err)
{
	int32_t rc;

	stand_in_workspace(p);
	rc = scan_tree(p, p->b->workspace.fd, links, err);
	for (size_t i = 0; i < p->b->view_count && !rc; i++) {
		if (is_root(p, &p->b->views[i]))
			rc = scan_root(p, &p->b->views[i], links, err);
	}
	stand_in_workspace(p);
	return rc;
}

static int compare_guarded(const void *a, const void *b)
{
	const ab_guarded *x = a, *y = b;
	int c = ab_path_order(x->inside, y->inside);

	/* the read-only one of two equal ones comes first */
	return c ? c : (int)y->readonly - (int)x->readonly;
}

/*
 * Every ancestor below the view's root, as a pin. The set is sorted, so what
 * lies below one directory is in one run, and an ancestor of the entry
 * before has its pin.
 */
static int32_t add_pins(ab_protect *p, agentbox_error **err)
{
	size_t n = p->count;

	qsort(p->set, n, sizeof(*p->set), compare_guarded);
	for (size_t i = 0; i < n; i++) {
		const ab_view *view = p->set[i].view;
		char host[AB_MAX_PATH];
		char *slash;

		snprintf(host, sizeof(host), "%s", p->set[i].host);
		while ((slash = strrchr(host, '/')) != NULL &&
		       (size_t)(slash - host) > strlen(view->host)) {
			int32_t rc;

			*slash = '\0';
			if (i && p->set[i - 1].view == view &&
			    ab_path_is_below(p->set[i - 1].host, host) &&
			    strcmp(p->set[i - 1].host, host) != 0)
				break;
			rc = put(p, host, view, false, true, err);
			if (rc || p->b->nomem)
				return rc;
		}
	}
	return 0;
}

/* What leads to the state directory has its pins, from tree.c. */
static bool has_pin(const ab_build *b, const char *target)
{
	for (uint32_t i = 0; i < b->plan.step_count; i++) {
		const ab_plan_step *s = &b->plan.steps[i];

		if (s->kind == AB_STEP_SELF && s->target &&
		    strcmp(s->target, target) == 0)
			return true;
	}
	return false;
}

static void emit(ab_protect *p)
{
	const ab_guarded *above = NULL, *last = NULL;

	qsort(p->set, p->count, sizeof(*p->set), compare_guarded);
	for (size_t i = 0; i < p->count; i++) {
		const ab_guarded *g = &p->set[i];
		uint32_t flags = AB_MOUNT_RECURSIVE;
		bool nofollow = false;

		if (last && strcmp(last->inside, g->inside) == 0)
			continue;
		for (size_t j = i; j < p->count && strcmp(p->set[j].inside,
							  g->inside) == 0;
		     j++)
			nofollow |= p->set[j].nofollow;
		if (above && ab_path_is_below(g->inside, above->inside))
			continue; /* read-only with all below already */
		last = g;
		if (!g->readonly && !nofollow && has_pin(p->b, g->inside))
			continue;
		if (g->readonly && g->dir)
			above = g;
		if (g->readonly)
			flags |= AB_MOUNT_RDONLY;
		if (nofollow)
			flags |= AB_MOUNT_NOSYMFOLLOW;
		if (!g->dir)
			flags &= ~AB_MOUNT_RECURSIVE;
		ab_build_step(p->b, AB_STEP_SELF, flags, g->inside);
	}
}

static void add_watches(ab_protect *p)
{
	const ab_policy *policy = p->b->policy;

	for (size_t i = 0; i < policy->protect_count; i++) {
		const ab_policy_protect *pat = &policy->protect[i];

		ab_build_watch(p->b, pat->pattern);
		if (!is_anywhere(pat))
			continue;
		ab_build_watch(p->b,
			       ab_build_own(p->b, ab_asprintf("**/%s",
							      pat->pattern)));
	}
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of files that are known outside the workspace too; a few of them. */
static void report_outside(ab_protect *p, bool guarded, const char *what)
{
	const char *names[AB_MAX_LINKED_NAMES];
	char list[512];
	size_t count = 0, n = 0, used = 0;

	for (size_t i = 0; i < p->inodes.room; i++) {
		const ab_inode *e = &p->inodes.slots[i];

		if (!e->ino || e->seen >= e->nlink || e->guarded != guarded)
			continue;
		count++;
		if (e->name && n < AB_MAX_LINKED_NAMES)
			names[n++] = e->name;
	}
	if (count == 0)
		return;
	qsort(names, n, sizeof(*names), compare_names);
	list[0] = '\0';
	for (size_t i = 0; i < n && i < MAX_LISTED; i++) {
		int len = snprintf(list + used, sizeof(list) - used, "%s'%s'",
				   i ? ", " : "", names[i]);

		if (len < 0 || (size_t)len >= sizeof(list) - used)
			break;
		used += (size_t)len;
	}
	list[used] = '\0';
	ab_build_note(p->b, "%zu %s of the workspace have another name outside "
		      "it (hard link): what is written to one is written "
		      "there: %s%s",
		      count, what, list, count > MAX_LISTED ? ", ..." : "");
}

static void report_links(ab_protect *p)
{
	report_outside(p, true, "protected files");
	report_outside(p, false, "files");
	if (p->inodes.full)
		ab_build_note(p->b, "more than %u files have several names; "
			      "the rest was not counted",
			      AB_MAX_LINKED_INODES);
	if (p->unseen > MAX_LISTED)
		ab_build_note(p->b, "%zu directories of the workspace were not "
			      "looked through and are read-only", p->unseen);
	if (p->skipped > MAX_LISTED)
		ab_build_note(p->b, "%zu mounts below the workspace were not "
			      "looked through", p->skipped);
}

static int32_t mark_guarded(ab_protect *p, int dirfd, const char *name,
			    unsigned depth, agentbox_error **err);

/* Another file system has no names of what is here; a mount of this one has. */
static bool is_elsewhere(int dirfd, const char *name)
{
	struct stat here, there;

	return fstat(dirfd, &here) == 0 &&
	       fstatat(dirfd, name, &there,
		       AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0 &&
	       here.st_dev != there.st_dev;
}

static int32_t mark_below(ab_protect *p, int dirfd, const char *name,
			  unsigned depth, agentbox_error **err)
{
	int fd = depth < AB_MAX_SCAN_DEPTH ? open_level(p, dirfd, name) : -1;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	const char *why;
	int error = 0;
	int32_t rc = 0;

	if (fd >= 0 && !dir) {
		close(fd);
		return ab_error_nomem(err);
	}
	if (!dir)
		p->unmarked |= depth >= AB_MAX_SCAN_DEPTH ||
			       (errno == EXDEV ? !is_elsewhere(dirfd, name)
					       : errno != ENOENT);
	while (dir && !rc && !p->halt && (e = ab_fd_next(dir, &error))) {
		why = out_of_bounds(p);
		rc = why ? ab_protect_freeze(p, why, err) :
			   mark_guarded(p, fd, e->d_name, depth + 1, err);
	}
	if (dir)
		closedir(dir);
	if (!rc && error)
		rc = ab_protect_freeze(p, "a protected directory cannot be "
				       "read to its end", err);
	return rc;
}

/* Everything protected, however it came to be: which inodes it holds. */
static int32_t mark_guarded(ab_protect *p, int dirfd, const char *name,
			    unsigned depth, agentbox_error **err)
{
	struct stat st;
	ab_inode *e;

	if (fstatat(dirfd, name, &st,
		    AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return mark_below(p, dirfd, name, depth, err);
	if (!S_ISREG(st.st_mode) || st.st_nlink < 2)
		return 0;
	e = ab_inodes_add(&p->inodes, &st);
	if (!e && p->inodes.full)
		return ab_protect_freeze(p, "more files have several names "
					 "than can be told apart (bound "
					 "AB_MAX_LINKED_INODES)", err);
	if (!e) {
		p->b->nomem = true;
		return 0;
	}
	e->guarded = p->links_guarded = true;
	return 0;
}

/*
 * Not all that is protected could be looked at: every file with a name that
 * nobody has met may be part of it.
 */
static int32_t mark_unaccounted(ab_protect *p, agentbox_error **err)
{
	size_t n = 0;

	if (p->inodes.full)
		return ab_protect_freeze(p, "a protected directory cannot be "
					 "looked into, and more files have "
					 "several names than can be told "
					 "apart", err);
	for (size_t i = 0; i < p->inodes.room; i++) {
		ab_inode *e = &p->inodes.slots[i];

		if (!e->ino || e->guarded || e->seen >= e->nlink)
			continue;
		e->guarded = p->links_guarded = true;
		n++;
	}
	if (n)
		ab_build_note(p->b, "a protected directory cannot be looked "
			      "into: %zu files of which not every name was "
			      "found are read-only, they may be in there", n);
	return 0;
}

static int32_t hold_links(ab_protect *p, agentbox_error **err)
{
	size_t n = p->count;
	int32_t rc = 0;

	p->entries = 0;
	for (size_t i = 0; i < n && !rc && !p->halt; i++) {
		const ab_guarded *g = &p->set[i];
		ab_autofd int fd = -1;

		if (!g->readonly)
			continue;
		if (!g->dir) {
			rc = mark_guarded(p, AT_FDCWD, g->host, 0, err);
			continue;
		}
		/* by itself first: what leads to it may cross mounts */
		fd = ab_fd_lift(open(g->host, O_PATH | O_DIRECTORY |
						      O_NOFOLLOW | O_CLOEXEC));
		if (fd >= 0)
			rc = mark_below(p, fd, ".", 0, err);
		else
			p->unmarked |= errno != ENOENT;
	}
	if (!rc && p->unmarked && !p->frozen)
		rc = mark_unaccounted(p, err);
	if (rc || !p->links_guarded || p->frozen)
		return rc;
	p->entries = 0;
	return scan(p, true, err);
}

static int32_t compile(ab_protect *p, agentbox_error **err)
{
	int32_t rc;

	stand_in_workspace(p);
	rc = p->b->policy->protect_count ? scan(p, false, err) : 0;
	if (!rc && ab_protect_has_role(p->b->policy))
		rc = ab_protect_role(p, err);
	if (!rc && p->inodes.count && !p->b->nomem && !p->frozen)
		rc = hold_links(p, err);
	if (!rc && !p->b->nomem && p->count)
		rc = ab_protect_fit(p, err);
	if (!rc && !p->b->nomem && p->count)
		rc = add_pins(p, err);
	if (rc || p->b->nomem)
		return rc;
	if (p->count)
		emit(p);
	/* where nothing can be written, nothing can appear */
	if (!p->frozen)
		add_watches(p);
	report_links(p);
	return 0;
}

static bool protects_git(const ab_policy *policy)
{
	for (size_t i = 0; i < policy->protect_count; i++) {
		const char *pattern = policy->protect[i].pattern;

		if (ab_glob_match_below(pattern, ".git/hooks", 0) ||
		    ab_glob_match_below(pattern, ".git/config", 0))
			return true;
	}
	return false;
}

int32_t ab_protect_compile(ab_build *b, agentbox_error **err)
{
	ab_protect p = { .b = b };
	int32_t rc;

	if (b->workspace.fd < 0 || (b->policy->protect_count == 0 &&
				    !ab_protect_has_role(b->policy)))
		return 0;
	if (!ab_build_has_tree(b)) {
		ab_build_note(b, "existing protected paths are not read-only "
			      "without a mount namespace");
		add_watches(&p);
		return 0;
	}
	p.git = protects_git(b->policy);
	p.max_entries = b->input->max_entries ? b->input->max_entries :
						AB_MAX_SCAN_ENTRIES;
	rc = index_names(&p, err);
	if (!rc)
		rc = compile(&p, err);
	free(p.names);
	free(p.set);
	free(p.whole);
	ab_inodes_end(&p.inodes);
	return rc;
}
