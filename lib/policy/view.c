/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mounts as a function from host paths to rights. A host path is seen
 * through an entry when the path it would have in the box is not covered by
 * a deeper entry; what several entries give adds up. Comparison is by
 * components throughout. Spec: policy/view.h.
 */
#include "config.h"

#include "policy/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "path/lexical.h"

static int compare_entries(const void *a, const void *b)
{
	return strcmp(((const ab_view_entry *)a)->to,
		      ((const ab_view_entry *)b)->to);
}

static uint32_t mount_rights(const ab_policy_mount *m)
{
	uint32_t rights = 0;

	if (m->access == AB_ACCESS_HIDE)
		return 0;
	rights = AB_RIGHT_READ;
	if (m->access == AB_ACCESS_WRITE)
		rights |= AB_RIGHT_WRITE;
	if (m->exec)
		rights |= AB_RIGHT_EXEC;
	return rights;
}

int ab_view_init(ab_view *view, const ab_policy *policy)
{
	const ab_policy_workspace *w = &policy->workspace;

	memset(view, 0, sizeof(*view));
	view->room = policy->mount_count + 1;
	view->items = ab_calloc(view->room, sizeof(*view->items));
	if (!view->items)
		return -ENOMEM;
	for (size_t i = 0; i < policy->mount_count; i++) {
		const ab_policy_mount *m = &policy->mounts[i];

		view->items[view->count++] = (ab_view_entry){
			.from = m->from,
			.to = m->to,
			.rights = mount_rights(m),
			.kind = m->from_role ? AB_VIEW_ROLE : AB_VIEW_MOUNT,
			.optional = m->optional,
		};
	}
	if (w->path && w->at)
		view->items[view->count++] = (ab_view_entry){
			.from = w->path,
			.to = w->at,
			.rights = AB_RIGHT_READ | AB_RIGHT_EXEC |
				  (w->mount == AB_WORKSPACE_DIRECT ?
					   AB_RIGHT_WRITE : 0),
			.kind = AB_VIEW_WORKSPACE,
		};
	qsort(view->items, view->count, sizeof(*view->items), compare_entries);
	return 0;
}

static void end_entry(ab_view_entry *e)
{
	free(e->owned_from);
	free(e->owned_to);
}

void ab_view_end(ab_view *view)
{
	for (size_t i = 0; i < view->count; i++)
		end_entry(&view->items[i]);
	free(view->items);
	memset(view, 0, sizeof(*view));
}

ab_view_entry *ab_view_find(const ab_view *view, const char *inside)
{
	char path[AB_MAX_PATH];
	size_t n = strlen(inside);

	if (n >= sizeof(path) || view->count == 0)
		return NULL;
	memcpy(path, inside, n + 1);
	while (n > 1) {
		ab_view_entry key = { .to = path };
		ab_view_entry *e = bsearch(&key, view->items, view->count,
					   sizeof(key), compare_entries);

		if (e)
			return e;
		while (path[--n] != '/')
			;
		path[n] = '\0';
	}
	return NULL;
}

uint32_t ab_view_rights(const ab_view *view, const char *host)
{
	char inside[AB_MAX_PATH];
	uint32_t rights = 0;

	for (size_t i = 0; i < view->count; i++) {
		const ab_view_entry *e = &view->items[i];
		const char *rest = e->from ? ab_path_rest(host, e->from) : NULL;

		if (!rest || (e->rights & ~rights) == 0)
			continue;
		if (ab_path_join(e->to, rest, inside, sizeof(inside)) > 0 &&
		    ab_view_find(view, inside) == e)
			rights |= e->rights;
	}
	return rights;
}

/* --- points ------------------------------------------------------------ */

static int compare_points(const void *a, const void *b)
{
	return strcmp(((const ab_view_point *)a)->path,
		      ((const ab_view_point *)b)->path);
}

/* Host path that the enclosing entry would show at e->to, or NULL. */
static char *shadowed(const ab_view *view, const ab_view_entry *e, bool *failed)
{
	char path[AB_MAX_PATH];
	const ab_view_entry *outer;
	size_t n = strlen(e->to);
	char *copy;

	memcpy(path, e->to, n + 1);
	while (path[--n] != '/')
		;
	path[n] = '\0';
	outer = n ? ab_view_find(view, path) : NULL;
	if (!outer || !outer->from ||
	    ab_path_join(outer->from, ab_path_rest(e->to, outer->to), path,
			 sizeof(path)) < 0)
		return NULL;
	copy = ab_strdup(path);
	*failed |= copy == NULL;
	return copy;
}

int ab_view_points_init(ab_view_points *points, const ab_view *view)
{
	bool failed = false;

	points->count = 0;
	points->items = ab_calloc(2 * view->count + 1, sizeof(*points->items));
	if (!points->items)
		return -ENOMEM;
	for (size_t i = 0; i < view->count && !failed; i++) {
		const ab_view_entry *e = &view->items[i];
		char *path = shadowed(view, e, &failed);

		if (path)
			points->items[points->count++].path = path;
		if (!e->from)
			continue;
		path = ab_strdup(e->from);
		if (path)
			points->items[points->count++].path = path;
		failed |= path == NULL;
	}
	if (failed) {
		ab_view_points_end(points);
		return -ENOMEM;
	}
	qsort(points->items, points->count, sizeof(*points->items),
	      compare_points);
	for (size_t i = 0; i < points->count; i++)
		points->items[i].rights =
			ab_view_rights(view, points->items[i].path);
	return 0;
}

void ab_view_points_end(ab_view_points *points)
{
	for (size_t i = 0; i < points->count; i++)
		free(points->items[i].path);
	free(points->items);
	memset(points, 0, sizeof(*points));
}

/* --- changes ----------------------------------------------------------- */

int ab_view_add(ab_view *view, const char *from, const char *to,
		uint32_t rights)
{
	ab_view_entry e = { .rights = rights, .kind = AB_VIEW_MOUNT,
			    .optional = true, .changed = true };
	size_t i = 0;

	if (view->count >= 2 * AB_MAX_POLICY_MOUNTS)
		return -E2BIG;
	if (!ab_grow(&view->items, &view->room, view->count + 1,
		     sizeof(*view->items)))
		return -ENOMEM;
	e.owned_to = ab_strdup(to);
	e.owned_from = from ? ab_strdup(from) : NULL;
	if (!e.owned_to || (from && !e.owned_from)) {
		end_entry(&e);
		return -ENOMEM;
	}
	e.from = e.owned_from;
	e.to = e.owned_to;
	while (i < view->count && strcmp(view->items[i].to, to) < 0)
		i++;
	memmove(view->items + i + 1, view->items + i,
		(view->count - i) * sizeof(e));
	view->items[i] = e;
	view->count++;
	return 0;
}

void ab_view_remove(ab_view *view, size_t i)
{
	end_entry(&view->items[i]);
	memmove(view->items + i, view->items + i + 1,
		(view->count - i - 1) * sizeof(view->items[0]));
	view->count--;
}
