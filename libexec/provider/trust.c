/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a program is the one its name meant: from the root on, each
 * directory, each link and the file belong to root or to us, and nobody else
 * can write them. Links are followed here, one by one, so that those are
 * judged, too, and the path that is executed has none. Nobody who is not
 * trusted can change it between the look and the execution. Named ACL entries
 * count: their mask is the group bits. An agent may write with our own id, so
 * no part of the path is a place that its box can write; nor is the file one
 * that could have another name there, as the links of package caches have:
 * one that the box could write by its owner, and whose names are not all
 * beside each other.
 * Spec: provider.h, path_resolution(7).
 */
#include "config.h"

#include "provider.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define MAX_LINKS 40

/* A directory or file of the host that the box can write. */
typedef struct place {
	dev_t dev;
	ino_t ino;
	uid_t uid; /* with which the box writes there, if it is id-mapped */
	const char *path;
} place;

typedef struct walk {
	place writable[AB_PROVIDER_MAX_WRITABLE];
	size_t writable_count;
	uid_t box_uid;
	char done[AB_MAX_PATH]; /* no link in it; "" is the root */
	char rest[AB_MAX_PATH]; /* what is still to be looked at */
	int links;
	char *why;
} walk;

static bool refuse(const walk *w, const char *what)
{
	snprintf(w->why, WHY_SIZE, "'%.300s' %s", w->done[0] ? w->done : "/",
		 what);
	return false;
}

static bool is_writable(const walk *w, const struct stat *st)
{
	for (size_t i = 0; i < w->writable_count; i++)
		if (w->writable[i].dev == st->st_dev &&
		    w->writable[i].ino == st->st_ino)
			return true;
	return false;
}

/* Is one of them one of those, or below it? */
static bool meet(const provider_origins *here, const provider_origins *there)
{
	for (size_t i = 0; i < there->len; i += strlen(there->text + i) + 1) {
		const char *top = there->text + i;
		size_t n = strlen(top);

		for (size_t k = 0; k < here->len;
		     k += strlen(here->text + k) + 1) {
			const char *one = here->text + k;

			if (strncmp(one, top, n) == 0 &&
			    (one[n] == '/' || !one[n]))
				return true;
		}
	}
	return false;
}

/* Is it below such a place, by the name of another mount or as a layer? What
   cannot be told may be anywhere. */
static bool is_mounted_elsewhere(const walk *w)
{
	provider_origins here, there;

	if (!provider_origin(w->done[0] ? w->done : "/", false, &here))
		return true;
	for (size_t i = 0; i < w->writable_count; i++)
		if (!provider_origin(w->writable[i].path, true, &there) ||
		    meet(&here, &there))
			return true;
	return false;
}

static bool judge(const walk *w, const struct stat *st)
{
	char what[120];

	if (is_writable(w, st))
		return refuse(w, "is where the box can write: what lies there "
			      "is the agent's");
	if (w->writable_count && is_mounted_elsewhere(w))
		return refuse(w, "is mounted from where the box can write, or "
			      "that cannot be told");
	if (ab_fd_is_trusted(st))
		return true;
	snprintf(what, sizeof(what), "is not trusted: uid %u, mode %04o; it "
		 "has to belong to root or the caller and be writable by "
		 "nobody else", (unsigned)st->st_uid,
		 (unsigned)(st->st_mode & 07777));
	return refuse(w, what);
}

/* The next name of what is left, into `name`; false: there is none. */
static bool take_name(walk *w, char name[AB_MAX_PATH])
{
	size_t skip = strspn(w->rest, "/");
	size_t n = strcspn(w->rest + skip, "/");

	memcpy(name, w->rest + skip, n);
	name[n] = '\0';
	memmove(w->rest, w->rest + skip + n, strlen(w->rest + skip + n) + 1);
	return n > 0;
}

static bool append(walk *w, const char *name)
{
	size_t at = strlen(w->done);

	return (size_t)snprintf(w->done + at, sizeof(w->done) - at, "/%s",
				name) < sizeof(w->done) - at;
}

static void drop_last(walk *w)
{
	char *slash = strrchr(w->done, '/');

	if (slash)
		*slash = '\0';
}

/* Where it leads comes before what is left; it is w->done now. */
static bool follow(walk *w)
{
	char to[AB_MAX_PATH], joined[AB_MAX_PATH];
	ssize_t n = readlink(w->done, to, sizeof(to) - 1);

	if (n < 0)
		return refuse(w, strerror(errno));
	to[n] = '\0';
	if (++w->links > MAX_LINKS ||
	    (size_t)snprintf(joined, sizeof(joined), "%s/%s", to, w->rest) >=
		    sizeof(joined))
		return refuse(w, strerror(ELOOP));
	if (to[0] == '/')
		w->done[0] = '\0';
	else
		drop_last(w);
	strcpy(w->rest, joined);
	return true;
}

/* Could the box write it, if it had a name there? It writes with its own id, or
   as who has the place. */
static bool is_of_box(const walk *w, const struct stat *st)
{
	bool is = st->st_uid == w->box_uid || w->box_uid == (uid_t)-1;

	for (size_t i = 0; i < w->writable_count; i++)
		is |= st->st_uid == w->writable[i].uid;
	return is && w->writable_count;
}

/* Are all its names in its own directory, which is no place of the box's? As
   many as perl and bzip2 have; who counted fewer knows nothing. */
static bool has_all_beside(const walk *w, const struct stat *st)
{
	char dir[AB_MAX_PATH];
	struct dirent *e;
	struct stat other;
	nlink_t n = 0;
	DIR *d;

	strcpy(dir, w->done);
	*(strrchr(dir, '/') + 1) = '\0';
	d = opendir(dir);
	while (d && (e = ab_fd_next(d, NULL)))
		n += e->d_ino == st->st_ino &&
		     fstatat(dirfd(d), e->d_name, &other,
			     AT_SYMLINK_NOFOLLOW) == 0 &&
		     other.st_ino == st->st_ino && other.st_dev == st->st_dev;
	if (d)
		closedir(d);
	return n >= st->st_nlink;
}

/* Where a file's other names are nobody can tell. */
static bool may_be_linked(const walk *w, const struct stat *st)
{
	return st->st_nlink > 1 && is_of_box(w, st) && !has_all_beside(w, st);
}

/* One name further; st is of what is there. */
static bool step(walk *w, const char *name, struct stat *st)
{
	if (strcmp(name, ".") == 0)
		return true;
	if (strcmp(name, "..") == 0)
		drop_last(w);
	else if (!append(w, name))
		return refuse(w, strerror(ENAMETOOLONG));
	if (lstat(w->done[0] ? w->done : "/", st))
		return refuse(w, strerror(errno));
	/* of a link the directory says who can replace it; its mode says
	   nothing */
	if (S_ISLNK(st->st_mode))
		return st->st_uid == 0 || st->st_uid == geteuid()
			       ? follow(w)
			       : refuse(w, "is a link of somebody else's");
	return judge(w, st);
}

/* By number: a place may have other names. One that is not there is none. */
static bool find_writable(walk *w, const ab_provider_plan *plan)
{
	struct stat st;

	for (uint32_t i = 0; i < plan->writable_count; i++) {
		const char *path = plan->writable[i];

		if (fstatat(AT_FDCWD, path, &st, 0) == 0) {
			w->writable[w->writable_count++] =
				(place){ st.st_dev, st.st_ino, st.st_uid,
					 path };
		} else if (errno != ENOENT) {
			snprintf(w->why, WHY_SIZE, "'%.300s', where the box "
				 "can write, cannot be looked at: %s", path,
				 strerror(errno));
			return false;
		}
	}
	return true;
}

bool provider_trusts(const ab_provider_plan *plan, char to[AB_MAX_PATH],
		     char why[WHY_SIZE])
{
	walk w = { .why = why, .box_uid = plan->box_uid };
	char name[AB_MAX_PATH];
	struct stat st;

	if (!find_writable(&w, plan))
		return false;
	if ((size_t)snprintf(w.rest, sizeof(w.rest), "%s", plan->argv[0]) >=
	    sizeof(w.rest))
		return refuse(&w, strerror(ENAMETOOLONG));
	if (lstat("/", &st))
		return refuse(&w, strerror(errno));
	if (!judge(&w, &st))
		return false;
	while (take_name(&w, name))
		if (!step(&w, name, &st))
			return false;
	if (lstat(w.done[0] ? w.done : "/", &st) || !S_ISREG(st.st_mode))
		return refuse(&w, "is no regular file");
	if (may_be_linked(&w, &st))
		return refuse(&w, "has another name, which may be where the "
			      "box can write; use a copy of it");
	strcpy(to, w.done);
	return true;
}
