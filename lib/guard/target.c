/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Resolution of a path for the write guard. The fast way is one openat2 that
 * takes no links; only when there is one are the components walked, and what
 * the walk finds is opened again by the fast way, which alone is believed.
 * Refuses parent hops as text, links and mounts that lead out, and a tree
 * that does not hold still. Spec: guard/target.h.
 */
#include "config.h"

#include "guard/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/protect.h"
#include "path/lexical.h"
#include "path/resolve.h"

#define BENEATH (AB_PATH_NO_SYMLINKS | AB_PATH_NO_XDEV)
#define LOOK (O_PATH | O_NOFOLLOW | O_CLOEXEC)
/* Components looked at for one path with links in it. */
#define MAX_STEPS 2048

void ab_target_end(struct ab_target *t)
{
	ab_cleanup_fd(&t->fd);
}

static enum ab_target_why refuse(struct ab_target *t, enum ab_target_why why,
				 const char *detail)
{
	t->why = why;
	t->detail = detail;
	return why;
}

static enum ab_target_why refuse_errno(struct ab_target *t, int error)
{
	switch (error) {
	case EXDEV:
		return refuse(t, AB_TARGET_MOUNT, NULL);
	case ELOOP:
		return refuse(t, AB_TARGET_LINKS, NULL);
	case ENAMETOOLONG:
		return refuse(t, AB_TARGET_SHAPE, "is too long");
	default:
		t->error = error;
		return refuse(t, AB_TARGET_KERNEL, NULL);
	}
}

/* ab_path_open_beneath() that also takes "", the base. */
static int open_below(int base_fd, const char *path, int flags,
		      unsigned options)
{
	int fd;

	if (*path)
		return ab_path_open_beneath(base_fd, path, flags, 0, options);
	fd = openat(base_fd, ".", flags, 0);
	return fd < 0 ? -errno : fd;
}

/* Put a slash where one is needed, and the name behind it. */
static bool append_name(struct ab_target *t, const char *name)
{
	size_t at = strlen(t->path);
	size_t n = strlen(name);

	if (at + 1 + n >= AB_MAX_PATH)
		return false;
	if (at)
		t->path[at++] = '/';
	memcpy(t->path + at, name, n + 1);
	return true;
}

/* --- the shape --- */

/*
 * A tool that was to expand these forgot to; as a literal name they are
 * never meant (F15).
 */
static bool is_unexpanded(const char *p, size_t n)
{
	if (p[0] == '~')
		return n == 1 || p[1] == '/' || memchr(p, '/', n) != NULL;
	if (p[0] != '$' || n < 2)
		return false;
	return p[1] == '{' || p[1] == '(' || (p[1] >= 'A' && p[1] <= 'Z');
}

/*
 * Append the components of p to the `at` bytes of a clean path in out, which
 * has AB_MAX_PATH bytes: runs of slashes and `.` go, `..` is refused.
 */
static enum ab_target_why append_clean(struct ab_target *t, const char *p,
				       size_t n, size_t offset, char *out,
				       size_t at)
{
	size_t i = 0;

	while (i < n) {
		size_t start;
		size_t len;

		while (i < n && p[i] == '/')
			i++;
		for (start = i; i < n && p[i] != '/';)
			i++;
		len = i - start;
		if (len == 0 || (len == 1 && p[start] == '.'))
			continue;
		if (len == 2 && p[start] == '.' && p[start + 1] == '.') {
			t->begin = offset + start;
			t->end = offset + i;
			return refuse(t, AB_TARGET_ESCAPES, NULL);
		}
		if (len > AB_MAX_NAME || at + 1 + len >= AB_MAX_PATH)
			return refuse(t, AB_TARGET_SHAPE, "is too long");
		if (at)
			out[at++] = '/';
		memcpy(out + at, p + start, len);
		at += len;
	}
	out[at] = '\0';
	return AB_TARGET_GOOD;
}

/* What of clean absolute `path` follows one of the names, and which; else
   NULL. */
static const char *rest_of(const char *path, const char *a, const char *b,
			   const char **name)
{
	const char *rest = a ? ab_path_rest(path, a) : NULL;

	*name = rest || !b ? a : b;
	return rest || !b ? rest : ab_path_rest(path, b);
}

/* Renamed, with something else in its place, the directory is not what is
   reached by who opens the path. */
static bool leads_to(const char *name, dev_t dev, ino_t ino)
{
	struct stat st;

	return fstatat(AT_FDCWD, name, &st, 0) == 0 && st.st_dev == dev &&
	       st.st_ino == ino;
}

/*
 * A clean absolute path by the names that the root and the areas go by: the
 * path below the base into t->path, and t->area for a base that is not the
 * root. Areas first, for one could lie below another name of the root.
 */
static enum ab_target_why find_base(const agentbox_guard *g, const char *path,
				    struct ab_target *t)
{
	const char *rest = NULL;
	const char *below = "";
	const char *name = NULL;
	dev_t dev = g->root_dev;
	ino_t ino = g->root_ino;

	t->area = NULL;
	for (size_t i = 0; i < g->area_count && !rest; i++) {
		const struct ab_guard_area *a = &g->areas[i];

		rest = rest_of(path, a->name, a->alias, &name);
		if (!rest)
			continue;
		t->area = a->below ? NULL : a;
		below = a->below ? a->below : "";
		dev = a->dev;
		ino = a->ino;
	}
	if (!rest)
		rest = rest_of(path, g->root_name, g->root_alias, &name);
	if (!rest || strlen(below) + 1 + strlen(rest) >= sizeof(t->path))
		return refuse(t, AB_TARGET_ESCAPES, NULL);
	if (!leads_to(name, dev, ino))
		return refuse(t, AB_TARGET_AREA, NULL);
	memcpy(t->path, below, strlen(below) + 1);
	if (*rest && !append_name(t, rest))
		return refuse(t, AB_TARGET_ESCAPES, NULL);
	return AB_TARGET_GOOD;
}

static enum ab_target_why take_absolute(const agentbox_guard *g,
					const char *path, size_t n,
					struct ab_target *t)
{
	char clean[AB_MAX_PATH + 1];
	enum ab_target_why why;

	clean[0] = '/';
	why = append_clean(t, path, n, 0, clean + 1, 0);
	return why == AB_TARGET_GOOD ? find_base(g, clean, t) : why;
}

/*
 * Where below the root a directory fd is. The name the kernel gives is only
 * believed when it leads back to the same inode, without links.
 */
static enum ab_target_why take_dirfd(const agentbox_guard *g, int dirfd,
				     struct ab_target *t)
{
	char link[32];
	char name[AB_MAX_PATH];
	ab_autofd int fd = -1;
	struct stat a;
	struct stat b;
	enum ab_target_why why;
	int base;
	ssize_t n;

	if (fstat(dirfd, &a) < 0)
		return refuse_errno(t, errno);
	if (a.st_dev == g->root_dev && a.st_ino == g->root_ino)
		return AB_TARGET_GOOD;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", dirfd);
	n = readlink(link, name, sizeof(name));
	if (n <= 0 || n >= AB_MAX_PATH)
		return refuse_errno(t, n < 0 ? errno : ENAMETOOLONG);
	name[n] = '\0';
	if (name[0] != '/')
		return refuse(t, AB_TARGET_ESCAPES, NULL);
	why = find_base(g, name, t);
	if (why != AB_TARGET_GOOD)
		return why;
	base = t->area ? t->area->fd : g->root_fd;
	fd = open_below(base, t->path, LOOK | O_DIRECTORY,
			AB_PATH_NO_SYMLINKS);
	if (fd < 0)
		return refuse_errno(t, -fd);
	if (fstat(fd, &b) < 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino)
		return refuse(t, AB_TARGET_ESCAPES, NULL);
	return AB_TARGET_GOOD;
}

static enum ab_target_why take_shape(const agentbox_guard *g, int dirfd,
				     const char *path, size_t n,
				     struct ab_target *t)
{
	enum ab_target_why why;

	t->end = n;
	if (n == 0)
		return refuse(t, AB_TARGET_SHAPE, "is empty");
	if (memchr(path, '\0', n))
		return refuse(t, AB_TARGET_SHAPE, "has a NUL byte in it");
	if (n >= AB_MAX_PATH)
		return refuse(t, AB_TARGET_SHAPE, "is too long");
	if (is_unexpanded(path, n))
		return refuse(t, AB_TARGET_SHAPE,
			      "begins with what only a shell would expand");
	t->is_dir_form = path[n - 1] == '/' ||
			 (n >= 2 && path[n - 1] == '.' && path[n - 2] == '/') ||
			 (n == 1 && path[0] == '.');
	if (g->root_fd < 0)
		return refuse(t, AB_TARGET_ESCAPES, NULL);
	if (path[0] == '/')
		return take_absolute(g, path, n, t);
	why = dirfd < 0 ? AB_TARGET_GOOD : take_dirfd(g, dirfd, t);
	if (why != AB_TARGET_GOOD)
		return why;
	return append_clean(t, path, n, 0, t->path, strlen(t->path));
}

/* --- areas --- */

/*
 * What of `path` follows `below`, letting case go as some file system could:
 * then only when both names lead to one inode (F19).
 */
static const char *rest_below(const agentbox_guard *g, const char *path,
			      const char *below)
{
	char same[AB_MAX_PATH];
	size_t n = strlen(below);
	ab_autofd int a = -1;
	ab_autofd int b = -1;
	struct stat x;
	struct stat y;
	const char *rest;

	if (n == 0)
		return path;
	rest = ab_path_rest(path, below);
	if (rest || strlen(path) < n || (path[n] && path[n] != '/'))
		return rest;
	for (size_t i = 0; i < n; i++) {
		if ((path[i] | 0x20) != (below[i] | 0x20))
			return NULL;
	}
	memcpy(same, path, n);
	same[n] = '\0';
	a = ab_path_open_beneath(g->root_fd, same, LOOK, 0,
				 AB_PATH_NO_SYMLINKS);
	b = a < 0 ? -1 : ab_path_open_beneath(g->root_fd, below, LOOK, 0,
					      AB_PATH_NO_SYMLINKS);
	if (a < 0 || b < 0 || fstat(a, &x) < 0 || fstat(b, &y) < 0 ||
	    x.st_dev != y.st_dev || x.st_ino != y.st_ino)
		return NULL;
	return path[n] ? path + n + 1 : path + n;
}

/* The deepest area that holds t->path, for a path below the root. */
static void choose_area(const agentbox_guard *g, struct ab_target *t)
{
	const struct ab_guard_area *best = NULL;
	size_t in_area = 0;

	for (size_t i = 0; i < g->area_count; i++) {
		const struct ab_guard_area *a = &g->areas[i];
		const char *rest = a->below ? rest_below(g, t->path, a->below) :
					      NULL;

		if (!rest || (best && strlen(a->below) <= strlen(best->below)))
			continue;
		best = a;
		in_area = (size_t)(rest - t->path);
	}
	t->area = best;
	t->in_area = in_area;
}

/* Does the area's name still lead to the inode it was made for? */
static enum ab_target_why verify_area(const agentbox_guard *g,
				      struct ab_target *t)
{
	const struct ab_guard_area *a = t->area;
	ab_autofd int fd = -1;
	struct stat st;

	if (a->below)
		fd = ab_path_open_beneath(g->root_fd, a->below, LOOK, 0,
					  AB_PATH_NO_SYMLINKS);
	else
		fd = open(a->name, LOOK);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != a->dev ||
	    st.st_ino != a->ino)
		return refuse(t, AB_TARGET_AREA, NULL);
	return AB_TARGET_GOOD;
}

/* Sets area and base_fd; *rest is what is to be opened below the base. */
static enum ab_target_why enter_area(const agentbox_guard *g,
				     struct ab_target *t, const char **rest)
{
	if (!t->area || t->area->below)
		choose_area(g, t);
	else
		t->in_area = 0;
	if (!t->area)
		return refuse(t, AB_TARGET_ESCAPES, NULL);
	if (t->area->fd < 0) {
		t->base_fd = g->root_fd;
		*rest = t->path;
		return AB_TARGET_GOOD;
	}
	t->base_fd = t->area->fd;
	*rest = t->path + t->in_area;
	return verify_area(g, t);
}

/* --- links --- */

/* A walk along a path that has links in it. */
struct walk {
	int at; /* owned: the directory t->path, -1: not open */
	char todo[AB_MAX_PATH * 2]; /* components still to be looked at */
	unsigned links;
	unsigned steps;
};

/* Put `target` before what is still to do. */
static bool push_link(struct walk *w, const char *target, size_t n)
{
	size_t left = strlen(w->todo);

	if (n + 1 + left >= AB_MAX_PATH)
		return false;
	memmove(w->todo + n + 1, w->todo, left + 1);
	memcpy(w->todo, target, n);
	w->todo[n] = '/';
	return true;
}

static void drop_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = '\0';
	else
		path[0] = '\0';
}

/*
 * An absolute link starts at the base that its text names; the walk goes on
 * with what is left of it.
 */
static enum ab_target_why restart(const agentbox_guard *g, struct walk *w,
				  struct ab_target *t)
{
	char clean[AB_MAX_PATH];
	enum ab_target_why why;
	size_t keep;
	/* up to the first `..`: what follows it is walked, not read */
	const char *hop = strstr(w->todo, "/..");

	while (hop && hop[3] != '/' && hop[3] != '\0')
		hop = strstr(hop + 1, "/..");
	keep = hop ? (size_t)(hop - w->todo) : strlen(w->todo);
	if (ab_path_normalise(w->todo, keep ? keep : 1, clean,
			      sizeof(clean)) < 0)
		return refuse(t, AB_TARGET_ESCAPES, NULL);
	why = find_base(g, clean, t);
	if (why != AB_TARGET_GOOD)
		return why;
	memmove(w->todo, w->todo + keep, strlen(w->todo + keep) + 1);
	if (!push_link(w, t->path, strlen(t->path)))
		return refuse(t, AB_TARGET_LINKS, NULL);
	t->path[0] = '\0';
	return AB_TARGET_GOOD;
}

static void leave(struct walk *w)
{
	ab_cleanup_fd(&w->at);
	w->at = -1;
}

/* Open the directory that the walk stands in, when it is not: 0 or -errno. */
static int stand(const agentbox_guard *g, struct walk *w,
		 const struct ab_target *t)
{
	int base = t->area && !t->area->below ? t->area->fd : g->root_fd;

	if (w->at >= 0)
		return 0;
	w->at = open_below(base, t->path, LOOK | O_DIRECTORY,
			   AB_PATH_NO_SYMLINKS);
	return w->at < 0 ? w->at : 0;
}

static enum ab_target_why take_link(const agentbox_guard *g, int fd,
				    struct walk *w, struct ab_target *t)
{
	char link[AB_MAX_PATH];
	ssize_t n = readlinkat(fd, "", link, sizeof(link) - 1);

	if (n <= 0 || ++w->links > AB_MAX_LINKS || !push_link(w, link, n))
		return refuse(t, AB_TARGET_LINKS, NULL);
	if (link[0] != '/')
		return AB_TARGET_GOOD;
	leave(w);
	return restart(g, w, t);
}

/* Cut the first component off what is to do; "" when there is none. */
static size_t next_component(struct walk *w, char name[AB_MAX_NAME + 1])
{
	size_t skip = strspn(w->todo, "/");
	size_t n = strcspn(w->todo + skip, "/");

	if (n <= AB_MAX_NAME)
		memcpy(name, w->todo + skip, n);
	name[n <= AB_MAX_NAME ? n : 0] = '\0';
	memmove(w->todo, w->todo + skip + n, strlen(w->todo + skip + n) + 1);
	return n;
}

/* What is left when something is not there: names, and no way back up. */
static enum ab_target_why take_missing(struct walk *w, struct ab_target *t)
{
	char name[AB_MAX_NAME + 1];
	size_t n;

	while ((n = next_component(w, name)) > 0) {
		if (strcmp(name, "..") == 0)
			return refuse(t, AB_TARGET_ESCAPES, NULL);
		if (strcmp(name, ".") == 0)
			continue;
		if (n > AB_MAX_NAME || !append_name(t, name))
			return refuse(t, AB_TARGET_SHAPE, "is too long");
	}
	return AB_TARGET_GOOD;
}

/* One component further. *done: the rest was taken as it is. */
static enum ab_target_why step(const agentbox_guard *g, struct walk *w,
			       const char *name, bool follow,
			       struct ab_target *t, bool *done)
{
	ab_autofd int fd = -1;
	struct stat st;
	bool last = w->todo[strspn(w->todo, "/")] == '\0';
	int r = stand(g, w, t);

	if (r < 0)
		return refuse_errno(t, -r);
	fd = openat(w->at, name, LOOK);
	if (fd < 0 && errno != ENOENT)
		return refuse_errno(t, errno);
	if (fd >= 0 && fstat(fd, &st) < 0)
		return refuse_errno(t, errno);
	if (fd >= 0 && S_ISLNK(st.st_mode) && (follow || !last))
		return take_link(g, fd, w, t);
	if (!append_name(t, name))
		return refuse(t, AB_TARGET_SHAPE, "is too long");
	*done = fd < 0;
	if (fd < 0)
		return take_missing(w, t);
	leave(w);
	w->at = ab_steal_fd(&fd);
	return AB_TARGET_GOOD;
}

/*
 * Replace t->path by the same place without links, as it is now. It starts
 * at the base: the path holds a link somewhere, or held one.
 */
static enum ab_target_why walk_links(const agentbox_guard *g, struct walk *w,
				     bool follow, struct ab_target *t)
{
	char name[AB_MAX_NAME + 1];
	bool done = false;

	memcpy(w->todo, t->path, strlen(t->path) + 1);
	t->path[0] = '\0';
	while (!done) {
		enum ab_target_why why;
		size_t n = next_component(w, name);

		if (n == 0)
			return AB_TARGET_GOOD;
		if (n > AB_MAX_NAME)
			return refuse(t, AB_TARGET_SHAPE, "is too long");
		if (++w->steps > MAX_STEPS)
			return refuse(t, AB_TARGET_LINKS, NULL);
		if (strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0) {
			if (!t->path[0])
				return refuse(t, AB_TARGET_ESCAPES, NULL);
			/* right as text: what is walked has no links */
			drop_last(t->path);
			leave(w);
			continue;
		}
		why = step(g, w, name, follow, t, &done);
		if (why != AB_TARGET_GOOD)
			return why;
	}
	return AB_TARGET_GOOD;
}

/* --- both --- */

/*
 * One look without links. AB_TARGET_LINKS: there is one, walk and try again.
 */
static enum ab_target_why try_now(const agentbox_guard *g, bool follow,
				  struct ab_target *t)
{
	const char *rest;
	enum ab_target_why why = enter_area(g, t, &rest);
	int fd;

	if (why != AB_TARGET_GOOD)
		return why;
	fd = open_below(t->base_fd, rest, LOOK, BENEATH);
	if (fd == -ENOENT)
		return AB_TARGET_GOOD;
	if (fd < 0)
		return refuse_errno(t, -fd);
	t->fd = fd;
	if (fstat(t->fd, &t->st) < 0)
		return refuse_errno(t, errno);
	if (S_ISLNK(t->st.st_mode) && follow)
		return refuse(t, AB_TARGET_LINKS, NULL);
	return AB_TARGET_GOOD;
}

enum ab_target_why ab_target_find(const agentbox_guard *guard, int dirfd,
				  const char *path, size_t n, bool follow,
				  struct ab_target *t)
{
	struct walk w;
	enum ab_target_why why;

	/* not `= {0}`: eight pages would be cleared for each check */
	t->area = NULL;
	t->base_fd = t->fd = -1;
	t->path[0] = '\0';
	t->in_area = t->begin = t->end = 0;
	t->is_dir_form = false;
	t->why = AB_TARGET_GOOD;
	t->detail = NULL;
	t->error = 0;
	w.at = -1;
	w.links = w.steps = 0;
	why = take_shape(guard, dirfd, path, n, t);
	if (why != AB_TARGET_GOOD)
		return why;
	for (unsigned tries = 0; tries <= AB_MAX_LINKS; tries++) {
		why = try_now(guard, follow, t);
		if (why != AB_TARGET_LINKS)
			return t->why = why;
		ab_cleanup_fd(&t->fd);
		t->fd = -1;
		why = walk_links(guard, &w, follow, t);
		leave(&w);
		if (why != AB_TARGET_GOOD)
			return t->why = why;
	}
	return refuse(t, AB_TARGET_LINKS, NULL);
}

int ab_target_open_parent(const struct ab_target *t, const char **name)
{
	const char *rest = t->area->fd < 0 ? t->path : t->path + t->in_area;
	const char *slash = strrchr(rest, '/');
	char parent[AB_MAX_PATH];

	if (!*rest)
		return -EINVAL;
	*name = slash ? slash + 1 : rest;
	parent[0] = '\0';
	if (slash) {
		memcpy(parent, rest, (size_t)(slash - rest));
		parent[slash - rest] = '\0';
	}
	return open_below(t->base_fd, parent, O_PATH | O_DIRECTORY | O_CLOEXEC,
			  BENEATH);
}
