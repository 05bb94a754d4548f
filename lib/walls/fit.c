/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When protecting a workspace would take more mounts than a box may have,
 * or more of a look than is worth it. An agent can plant what leads to that,
 * and must neither make its workspace one that no box is raised over, nor one
 * in which less is held: so a directory that has too much in it is held as a
 * whole, the smallest one that is enough. Where the top directory itself has
 * too many, the whole workspace is read-only. Both are said in the notes.
 *
 * Spec: DESIGN.md section 6, agentbox-policy(5) protect.
 */
#include "config.h"

#include "walls/protect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "path/lexical.h"

#define MAX_COLLAPSES 64

/* Entries of the set that lie in one directory, next to each other. */
typedef struct span {
	size_t first, count;
	size_t mounts; /* they take, with their pins */
	size_t len;    /* of the directory's path, without the view's */
} span;

/* Of the tree that is looked through. */
static ab_view *root_view(const ab_protect *p)
{
	for (size_t i = 0; i < p->b->view_count; i++) {
		ab_view *v = &p->b->views[i];

		if (v->write && v->host && strcmp(v->host, p->root) == 0)
			return v;
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const ab_guarded *x = a, *y = b;
	int c = strcmp(x->view->inside, y->view->inside);

	return c ? c : ab_path_order(x->host, y->host);
}

static const char *rest_of(const ab_guarded *g)
{
	return g->host + strlen(g->view->host);
}

/* Mounts of its own: itself, and each directory above it that is new. */
static size_t mounts_of(const ab_guarded *g, const ab_guarded *before)
{
	const char *a = rest_of(g);
	const char *b = before && before->view == g->view ? rest_of(before) :
							    "";
	size_t n = 1;
	bool same = true;

	for (; *a; a++) {
		if (*a == '/' && a != rest_of(g))
			n += !same || (*b != '/' && *b != '\0');
		same = same && *b == *a;
		b += *b != '\0';
	}
	return n;
}

static size_t count_mounts(const ab_protect *p, size_t first, size_t count)
{
	size_t n = 0;

	for (size_t i = first; i < first + count; i++)
		n += mounts_of(&p->set[i], i ? &p->set[i - 1] : NULL);
	return n;
}

/* The directory right below `in` with the most mounts. */
static span heaviest(const ab_protect *p, const span *in)
{
	span best = { 0 };

	for (size_t i = in->first; i < in->first + in->count;) {
		const char *rest = rest_of(&p->set[i]);
		span s = { .first = i };

		s.len = in->len + 1 + strcspn(rest + in->len + 1, "/");
		while (i < in->first + in->count &&
		       strncmp(rest_of(&p->set[i]), rest, s.len) == 0 &&
		       (rest_of(&p->set[i])[s.len] == '/' ||
			rest_of(&p->set[i])[s.len] == '\0'))
			i++;
		s.count = i - s.first;
		s.mounts = count_mounts(p, s.first, s.count);
		if (s.mounts > best.mounts)
			best = s;
	}
	return best;
}

static span find_view(const ab_protect *p, const ab_view *view)
{
	span s = { 0 };

	while (s.first < p->count && p->set[s.first].view != view)
		s.first++;
	while (s.first + s.count < p->count &&
	       p->set[s.first + s.count].view == view)
		s.count++;
	return s;
}

/* Hold the directory of a span instead of what lies in it. */
static int32_t collapse(ab_protect *p, const span *s, agentbox_error **err)
{
	const ab_view *view = p->set[s->first].view;
	size_t after = s->first + s->count;
	char host[AB_MAX_PATH];

	snprintf(host, sizeof(host), "%s%.*s", view->host, (int)s->len,
		 rest_of(&p->set[s->first]));
	ab_build_note(p->b, "protecting what is in it takes more mounts than "
		      "a box may have (bound AB_MAX_PROTECTED), so a directory "
		      "is read-only as a whole: '%.200s'",
		      ab_path_rest(host, view->host));
	memmove(&p->set[s->first], &p->set[after],
		(p->count - after) * sizeof(*p->set));
	p->count -= s->count;
	return ab_protect_hold_whole(p, host, err);
}

bool ab_protect_is_shown(const ab_protect *p, const char *host)
{
	const ab_view *view = root_view(p);

	for (size_t i = 0; i < p->b->view_count; i++) {
		const ab_view *v = &p->b->views[i];

		if (v != view && v->write && v->host &&
		    ab_path_is_below(v->host, host))
			return true;
	}
	return false;
}

static void freeze_view(ab_protect *p, ab_view *view)
{
	size_t kept = 0;

	for (uint32_t i = 0; i < p->b->plan.step_count; i++) {
		ab_plan_step *s = &p->b->plan.steps[i];

		if (s->kind == AB_STEP_BIND && s->target &&
		    strcmp(s->target, view->inside) == 0)
			s->flags |= AB_MOUNT_RDONLY;
	}
	view->write = false;
	p->halt = true;
	for (size_t i = 0; i < p->count; i++) {
		if (p->set[i].view != view)
			p->set[kept++] = p->set[i];
	}
	p->count = kept;
}

int32_t ab_protect_freeze(ab_protect *p, const char *why, agentbox_error **err)
{
	bool is_workspace = strcmp(p->root, p->b->workspace.path) == 0;

	if (p->is_submount) {
		ab_build_note_of(p->b, "read-only", p->root, "'%s' is "
				 "read-only in this box: %s", p->root, why);
		p->halt = true;
		return ab_protect_hold_whole(p, p->root, err);
	}
	if (is_workspace &&
	    (!root_view(p) || ab_protect_is_shown(p, p->root)))
		return ab_error_set(err, AGENTBOX_ELIMIT, "workspace.path",
				    "%s; use an overlay", why);
	for (size_t i = 0; i < p->b->view_count; i++) {
		ab_view *v = &p->b->views[i];

		if (!v->write || !v->host ||
		    !ab_path_is_below(v->host, p->root))
			continue;
		p->frozen |= strcmp(v->host, p->b->workspace.path) == 0;
		freeze_view(p, v);
	}
	if (is_workspace)
		ab_build_note_of(p->b, "read-only", p->root, "the workspace is "
				 "read-only in this box: %s", why);
	else
		ab_build_note_of(p->b, "read-only", p->root,
				 "'%s' is read-only in this box: %s", p->root,
				 why);
	return 0;
}

/* The tree that takes the most mounts; the set is sorted. */
static const ab_view *heaviest_view(const ab_protect *p)
{
	const ab_view *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < p->b->view_count; i++) {
		span s = find_view(p, &p->b->views[i]);
		size_t n = count_mounts(p, s.first, s.count);

		if (n > most) {
			best = &p->b->views[i];
			most = n;
		}
	}
	return best;
}

/* Nothing smaller is enough. */
static int32_t freeze_heaviest(ab_protect *p, const ab_view *view,
			       agentbox_error **err)
{
	const char *root = p->root;
	int32_t rc;

	if (view)
		p->root = view->host;
	rc = ab_protect_freeze(p, "protecting what is in it takes more "
			       "mounts than a box may have (bound "
			       "AB_MAX_PROTECTED)", err);
	p->root = root;
	return rc;
}

int32_t ab_protect_fit(ab_protect *p, agentbox_error **err)
{
	const ab_view *view = NULL;

	for (int i = 0; i < MAX_COLLAPSES; i++) {
		size_t all, need;
		span at, next;
		int32_t rc;

		qsort(p->set, p->count, sizeof(*p->set), compare);
		all = count_mounts(p, 0, p->count);
		if (all <= AB_MAX_PROTECTED || p->b->nomem)
			return 0;
		need = all - AB_MAX_PROTECTED;
		view = heaviest_view(p);
		at = find_view(p, view);
		next = heaviest(p, &at);
		/* deeper, as long as one directory alone is enough */
		while (next.count > 1 && next.mounts > need) {
			at = next;
			next = heaviest(p, &at);
		}
		if (at.len == 0)
			at = next;
		rc = at.count < 2 ? freeze_heaviest(p, view, err) :
				    collapse(p, &at, err);
		if (rc)
			return rc;
	}
	return freeze_heaviest(p, view, err);
}
