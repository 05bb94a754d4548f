/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The set of paths that a box holds: which of its trees show a host path and
 * can write it, and what becomes of it there. Decides by the views of the build
 * and never looks at what a directory holds. Spec: DESIGN.md section 6.
 */
#include "config.h"

#include "walls/protect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/limits.h"
#include "path/glob.h"
#include "path/lexical.h"

/* While they are collected; then as many mounts as AB_MAX_PROTECTED. */
#define MAX_HELD (2 * AB_MAX_PROTECTED)

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
bool ab_protect_is_writable(const ab_protect *p, const char *host)
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
bool ab_protect_is_masked(const ab_protect *p, const char *host)
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

int32_t ab_protect_put(ab_protect *p, const char *host, const ab_view *view,
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
	return ab_protect_put(p, host, view, readonly, dir, err);
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

		/* as in ab_protect_add_watches() */
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
	else if (ab_protect_is_writable(p, host))
		ab_build_note(p->b, "'%s' is not there yet and would be "
			      "protected: outside the workspace nothing "
			      "watches for it",
			      host);
}

void ab_protect_forbid_following(ab_protect *p, const char *host)
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

	if (!ab_protect_is_writable(p, host))
		return 0;
	if (lstat(host, &st) < 0 && errno != ENOENT && errno != ENOTDIR)
		return ab_error_sys(err, errno, "protect",
				    "cannot look at '%s'", host);
	rc = ab_protect_follow(p, host, end, &there, err);
	if (!rc && !there)
		ab_protect_forbid_following(p, host);
	return rc || !there ? rc : ab_protect_hold(p, end, true, err);
}
