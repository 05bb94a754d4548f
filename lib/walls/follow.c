/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Following the links of a protected path the way the kernel does, one
 * component at a time, because each link on the way decides where it leads:
 * what the box could replace of them is held as well. Where the way ends in
 * nothing, that name may not appear, and its directory may not be moved.
 *
 * A circle leads nowhere. Refuses paths that do not fit. It opens and changes
 * nothing.
 * Spec: path_resolution(7); DESIGN.md section 6, cases 15-19.
 */
#include "config.h"

#include "walls/protect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "path/lexical.h"

#define MAX_LINKS 40 /* the kernel's own bound, path_resolution(7) */

typedef struct way {
	char at[AB_MAX_PATH];	    /* where we are: canonical, "" is "/" */
	char rest[2 * AB_MAX_PATH]; /* what is still to be followed */
	char name[AB_MAX_NAME + 1]; /* the component being looked at */
	unsigned links;
} way;

static int32_t fail(int e, const char *host, agentbox_error **err)
{
	return ab_error_sys(err, e, "protect",
			    "cannot follow the protected link '%s'", host);
}

/* The next component of rest into name; false at the end. */
static bool next(way *w, int *error)
{
	const char *p = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(p, "/");

	if (n == 0)
		return false;
	if (n > AB_MAX_NAME) {
		*error = ENAMETOOLONG;
		return false;
	}
	memcpy(w->name, p, n);
	w->name[n] = '\0';
	memmove(w->rest, p + n, strlen(p + n) + 1);
	return true;
}

/*
 * `path` is a link with this text: hold it and go where it says. A circle leads
 * nowhere: every link in it was held, so nobody makes it lead anywhere.
 */
static int32_t through(ab_protect *p, way *w, const char *path,
		       agentbox_error **err)
{
	char text[AB_MAX_PATH], joined[sizeof(w->rest)];
	int32_t rc;
	int n;

	if (++w->links > MAX_LINKS)
		return 0;
	if (!ab_host_is_link(path, text, sizeof(text)))
		return fail(EAGAIN, path, err);
	n = snprintf(joined, sizeof(joined), "%s/%s", text, w->rest);
	if (n < 0 || (size_t)n >= sizeof(joined))
		return fail(ENAMETOOLONG, path, err);
	memcpy(w->rest, joined, (size_t)n + 1);
	if (text[0] == '/')
		w->at[0] = '\0';
	rc = ab_protect_hold(p, path, true, err);
	return rc ? rc : 1;
}

/*
 * Nothing is at `path`. What may not appear is the end of the way, not what
 * lies on it; where the rest is no plain path, everything from here on.
 */
static int32_t ends(ab_protect *p, const way *w, const char *path,
		    agentbox_error **err)
{
	const char *rest = w->rest + strspn(w->rest, "/");
	char whole[AB_MAX_PATH];
	size_t n = strlen(rest);

	while (n && rest[n - 1] == '/')
		n--;
	if (n && ab_path_check_relative(rest, n) == 0 &&
	    snprintf(whole, sizeof(whole), "%s/%.*s", path, (int)n, rest) <
		    (int)sizeof(whole))
		path = whole;
	/* the name and a link in place of what is above are both noticed */
	if (w->links == 0 && ab_protect_is_awaited(p, path))
		return 0;
	ab_protect_watch(p, path);
	/* moved away, its place could be taken by a link */
	return w->at[0] ? ab_protect_hold(p, w->at, false, err) : 0;
}

/*
 * Where we may not look the agent may not go; but closed by a mode, a
 * directory of our own is open again when he says so.
 */
static int32_t hold_closed(ab_protect *p, const way *w, agentbox_error **err)
{
	struct stat st;

	if (lstat(w->at, &st) < 0 || st.st_uid != geteuid())
		return 0;
	return ab_protect_hold(p, w->at, true, err);
}

/* 1: go on, 0: the end, negative: an error. */
static int32_t step(ab_protect *p, way *w, agentbox_error **err)
{
	char path[AB_MAX_PATH];
	struct stat st;

	if (strcmp(w->name, ".") == 0)
		return 1;
	if (strcmp(w->name, "..") == 0) {
		char *slash = strrchr(w->at, '/');

		if (slash)
			*slash = '\0';
		return 1;
	}
	if (ab_path_join(w->at[0] ? w->at : "/", w->name, path,
			 sizeof(path)) < 0)
		return fail(ENAMETOOLONG, w->at, err);
	if (lstat(path, &st) < 0) {
		/* its owner could open it, and then it leads on */
		if (errno == EACCES)
			return hold_closed(p, w, err);
		return errno == ENOENT || errno == ENOTDIR ?
			       ends(p, w, path, err) :
			       fail(errno, path, err);
	}
	if (S_ISLNK(st.st_mode))
		return through(p, w, path, err);
	/* a file where a directory should be: it stays one */
	if (!S_ISDIR(st.st_mode) && w->rest[strspn(w->rest, "/")])
		return ab_protect_hold(p, path, true, err);
	memcpy(w->at, path, strlen(path) + 1);
	return 1;
}

int32_t ab_protect_follow(ab_protect *p, const char *host, char *out,
			  bool *there, agentbox_error **err)
{
	way w = { .at = "" };
	int32_t rc = 1;
	int error = 0;

	*there = false;
	if (strlen(host) >= sizeof(w.rest))
		return fail(ENAMETOOLONG, host, err);
	memcpy(w.rest, host, strlen(host) + 1);
	while (rc == 1 && next(&w, &error))
		rc = step(p, &w, err);
	if (error)
		return fail(error, host, err);
	if (rc <= 0)
		return rc;
	*there = true;
	snprintf(out, AB_MAX_PATH, "%s", w.at[0] ? w.at : "/");
	return 0;
}
