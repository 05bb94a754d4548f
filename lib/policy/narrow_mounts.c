/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mounts' rule: what of the host the child sees, cut to what the parent
 * sees. Judged on the result as it would be raised, with the inherited
 * workspace and role, because a mount that the child left out can uncover
 * what it covered for the parent. Parts that the parent holds with less
 * (read-only, hidden) are carried over into the child's mounts.
 * Purely lexical: links are the kernel's to judge when the box opens paths.
 * Spec: cases B04-B15, policy/view.h.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "path/glob.h"
#include "path/lexical.h"
#include "policy/narrow.h"
#include "policy/view.h"

static const char *rights_text(uint32_t rights)
{
	if (!(rights & AB_RIGHT_READ))
		return "nothing";
	if (rights & AB_RIGHT_WRITE)
		return rights & AB_RIGHT_EXEC ? "write and exec" : "write";
	return rights & AB_RIGHT_EXEC ? "read and exec" : "read";
}

static void set_pointer(ab_narrow *n, const char *pointer)
{
	snprintf(n->pointer, sizeof(n->pointer), "%s", pointer);
}

/* Point at the child's own entry when it has one, else at the section. */
static size_t point_at(ab_narrow *n, const ab_view_entry *e)
{
	const json_t *list = json_object_get(n->child->tree, "mounts");

	if (e->kind == AB_VIEW_WORKSPACE) {
		set_pointer(n, "/workspace/path");
		return strlen("/mounts");
	}
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(ab_tree_string(json_array_get(list, i), "to"),
			   e->to) == 0)
			return ab_narrow_enter_number(n, i);
	if (e->kind == AB_VIEW_ROLE)
		set_pointer(n, "/role");
	return strlen("/mounts");
}

static int32_t cut_entry(ab_narrow *n, const ab_view_entry *e, uint32_t held)
{
	char asks[2 * AB_NARROW_TEXT];
	char holds[AB_NARROW_TEXT];
	int32_t r;

	point_at(n, e);
	snprintf(asks, sizeof(asks), "%s of \"%.200s\"",
		 rights_text(e->rights), e->from);
	snprintf(holds, sizeof(holds), "holds %s there", rights_text(held));
	r = ab_narrow_cut(n, asks, holds);
	set_pointer(n, "/mounts");
	return r;
}

/*
 * A workspace has to be somewhere: what cannot be cut is refused. What the
 * parent holds read-only the child reads: an overlay is the child's to ask
 * for, and not every build raises one.
 */
static int32_t cut_workspace(ab_narrow *n, ab_view_entry *e, uint32_t held)
{
	const uint32_t least = AB_RIGHT_READ | AB_RIGHT_EXEC;
	json_t *workspace = json_object_get(n->out, "workspace");
	ab_auto(json_t) *copy = NULL;
	int32_t r;

	if ((held & least) != least)
		return ab_error_set(n->err, AGENTBOX_EDENIED,
				    "/workspace/path",
				    "workspace.path: the child asks for "
				    "\"%.200s\"; the parent holds %s there",
				    e->from, rights_text(held));
	r = cut_entry(n, e, held);
	if (r < 0)
		return r;
	copy = workspace ? json_copy(workspace) : json_object();
	if (!copy ||
	    json_object_set_new(copy, "mount", json_string("read")) < 0 ||
	    json_object_set(n->out, "workspace", copy) < 0)
		return ab_error_nomem(n->err);
	e->rights &= held;
	return 0;
}

/* A slash follows. Of "**" nothing is used up by what it matches. */
static bool is_any_depth(const char *pattern, size_t n)
{
	for (size_t i = 0; i < n; i += 3)
		if (strncmp(pattern + i, "**/", 3) != 0)
			return false;
	return true;
}

/*
 * From `path` on, does the pattern name it, something above it, or something
 * below it that is not the whole pattern over again?
 */
static bool guards_from(const char *pattern, size_t len, const char *path)
{
	size_t n = 0;

	do {
		n += strcspn(path + n, "/");
		if (ab_glob_match_anchored(pattern, len, path, n,
					   AB_GLOB_FOLD))
			return true;
	} while (path[n] && path[++n]);
	for (size_t i = 1; i < len; i++) {
		if (pattern[i] != '/' || is_any_depth(pattern, i))
			continue;
		if (ab_glob_match_anchored(pattern, i, path, n, AB_GLOB_FOLD))
			return true;
	}
	return false;
}

/* A tree that begins at this path would not be held as the pattern says. */
static bool guards(const ab_policy_protect *pat, const char *rest)
{
	size_t len = strlen(pat->pattern);
	bool anywhere = pat->repository;

	while (len > 1 && pat->pattern[len - 1] == '/')
		len--;
	anywhere |= memchr(pat->pattern, '/', len) == NULL;
	for (const char *at = rest; *at; at += *at == '/') {
		if (guards_from(pat->pattern, len, at))
			return true;
		if (!anywhere)
			break;
		at += strcspn(at, "/");
	}
	return false;
}

/* Deeper than anything one works in; the time for the patterns is bounded. */
#define MAX_GUARDED_DEPTH 64

static bool is_guarded(const ab_policy *policy, const char *rest)
{
	size_t depth = 0;

	for (const char *p = rest; (p = strchr(p, '/')) != NULL; p++)
		depth++;
	if (policy->protect_count && depth >= MAX_GUARDED_DEPTH)
		return true;
	for (size_t i = 0; i < policy->protect_count; i++)
		if (guards(&policy->protect[i], rest))
			return true;
	return false;
}

/*
 * Protected names are patterns below the root of a tree. A child's tree with
 * its root elsewhere (`.git` itself, `docs` where "docs/x" is protected) would
 * write what the parent may not: there the parent holds no write.
 */
static uint32_t held_at(const ab_view *view, const ab_policy *policy,
			const char *host)
{
	uint32_t rights = ab_view_rights(view, host);
	char inside[AB_MAX_PATH];

	for (size_t i = 0; (rights & AB_RIGHT_WRITE) && i < view->count; i++) {
		const ab_view_entry *e = &view->items[i];
		const char *rest = e->from ? ab_path_rest(host, e->from) : NULL;

		if (rest && (e->rights & AB_RIGHT_WRITE) &&
		    ab_path_join(e->to, rest, inside, sizeof(inside)) > 0 &&
		    ab_view_find(view, inside) == e &&
		    !is_guarded(policy, rest))
			return rights;
	}
	return rights & ~AB_RIGHT_WRITE;
}

/* Every entry down to what the parent holds at its host path. */
static int32_t cut_entries(ab_narrow *n, const ab_view *parent, ab_view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		ab_view_entry *e = &view->items[i];
		uint32_t held = e->from ? held_at(parent,
						  ab_policy_get(n->parent),
						  e->from) : 0;
		int32_t r;

		if (!e->from || !(e->rights & ~held))
			continue;
		if (e->kind == AB_VIEW_WORKSPACE) {
			r = cut_workspace(n, e, held);
			if (r < 0)
				return r;
			continue;
		}
		r = cut_entry(n, e, held);
		if (r < 0)
			return r;
		e->rights &= held;
		e->changed = true;
		if (e->rights & AB_RIGHT_READ)
			continue;
		if (e->kind == AB_VIEW_ROLE) {
			/* a role's mount goes only by covering it */
			e->from = NULL;
			e->rights = 0;
		} else {
			ab_view_remove(view, i--);
		}
	}
	return 0;
}

static int32_t add_failed(ab_narrow *n, int r)
{
	if (r == -ENOMEM)
		return ab_error_nomem(n->err);
	return ab_error_set(n->err, AGENTBOX_ELIMIT, "/mounts",
			    "mounts: more than %d with those the parent "
			    "demands", AB_MAX_POLICY_MOUNTS);
}

/*
 * Below the entry that shows `from` at `to` the parent's rights change at
 * some points; where the child would keep more, put a mount with less.
 */
static int32_t restrict_below(ab_narrow *n, const ab_view *parent,
			      const ab_view_points *points, ab_view *view,
			      const char *from, const char *to)
{
	char inside[AB_MAX_PATH];
	char host[AB_MAX_PATH];

	for (size_t i = 0; i < points->count; i++) {
		const ab_view_point *q = &points->items[i];
		const char *rest = ab_path_rest(q->path, from);
		const ab_view_entry *cur;
		uint32_t left;
		int r;

		if (!rest || !*rest ||
		    ab_path_join(to, rest, inside, sizeof(inside)) < 0)
			continue;
		cur = ab_view_find(view, inside);
		if (!cur || !cur->from || !(cur->rights & ~q->rights) ||
		    ab_path_join(cur->from, ab_path_rest(inside, cur->to),
				 host, sizeof(host)) < 0 ||
		    strcmp(host, q->path) != 0)
			continue;
		/* the mount is a tree with a root of its own */
		left = cur->rights &
		       held_at(parent, ab_policy_get(n->parent), q->path);
		if (!(left & AB_RIGHT_READ))
			left = 0;
		r = ab_view_add(view, left ? q->path : NULL, inside, left);
		if (r < 0)
			return add_failed(n, r);
	}
	return 0;
}

struct place {
	const char *from, *to;
};

static int32_t restrict_all(ab_narrow *n, const ab_view *parent, ab_view *view)
{
	ab_view_points points = { 0 };
	size_t count = view->count;
	ab_autofree struct place *places =
		ab_calloc(count ? count : 1, sizeof(*places));
	int32_t r = 0;

	if (!places || ab_view_points_init(&points, parent) < 0)
		return ab_error_nomem(n->err);
	/* entries move when others come in; their strings stay */
	for (size_t i = 0; i < count; i++)
		places[i] = (struct place){ view->items[i].from,
					    view->items[i].to };
	for (size_t i = 0; r == 0 && i < count; i++)
		if (places[i].from)
			r = restrict_below(n, parent, &points, view,
					   places[i].from, places[i].to);
	ab_view_points_end(&points);
	return r;
}

static json_t *entry_json(const ab_view_entry *e)
{
	ab_auto(json_t) *m = json_object();
	const char *access = !e->from			? "hide" :
			     e->rights & AB_RIGHT_WRITE ? "write" :
							  "read";

	if (!m || json_object_set_new(m, "to", json_string(e->to)) < 0 ||
	    json_object_set_new(m, "access", json_string(access)) < 0)
		return NULL;
	if (e->from &&
	    json_object_set_new(m, "from", json_string(e->from)) < 0)
		return NULL;
	if ((e->rights & AB_RIGHT_EXEC) &&
	    json_object_set_new(m, "exec", json_true()) < 0)
		return NULL;
	if (e->optional && e->from &&
	    json_object_set_new(m, "optional", json_true()) < 0)
		return NULL;
	return ab_steal(&m);
}

/* The mounts that stand in the document: as written, or as changed. */
static int32_t write_mounts(ab_narrow *n, const ab_view *view,
			    const json_t *base, json_t **out)
{
	ab_auto(json_t) *list = json_array();
	size_t j = 0;

	if (!list)
		return ab_error_nomem(n->err);
	for (size_t i = 0; i < view->count; i++) {
		const ab_view_entry *e = &view->items[i];
		json_t *m;

		if (e->kind == AB_VIEW_WORKSPACE ||
		    (e->kind == AB_VIEW_ROLE && !e->changed))
			continue;
		/* both lists are sorted by "to" */
		while (j < json_array_size(base) &&
		       strcmp(ab_tree_string(json_array_get(base, j), "to"),
			      e->to) < 0)
			j++;
		m = e->changed ? entry_json(e) :
				 json_incref(json_array_get(base, j));
		if (!m || json_array_append_new(list, m) < 0)
			return ab_error_nomem(n->err);
	}
	if (base || json_array_size(list))
		*out = ab_steal(&list);
	return 0;
}

static int32_t cut_view(ab_narrow *n, const json_t *base, ab_view *view,
			json_t **out)
{
	ab_view parent = { 0 };
	int32_t r;

	if (ab_view_init(&parent, ab_policy_get(n->parent)) < 0)
		return ab_error_nomem(n->err);
	r = cut_entries(n, &parent, view);
	if (r == 0)
		r = restrict_all(n, &parent, view);
	if (r == 0)
		r = write_mounts(n, view, base, out);
	ab_view_end(&parent);
	return r;
}

int32_t ab_narrow_mounts(ab_narrow *n, const json_t *p, const json_t *c,
			 json_t **out)
{
	const json_t *base = c ? c : p;
	ab_auto(json_t) *draft = json_copy(n->out);
	ab_policy_plain plain = { 0 };
	ab_view view = { 0 };
	int32_t r;

	if (!draft || (base && json_object_set(draft, "mounts",
					       (json_t *)(uintptr_t)base) < 0))
		return ab_error_nomem(n->err);
	r = ab_tree_check_places(draft, n->err);
	if (r < 0)
		return r;
	r = ab_policy_compile(draft, &plain, n->err);
	if (r < 0)
		return r;
	if (ab_view_init(&view, &plain.policy) < 0)
		r = ab_error_nomem(n->err);
	else
		r = cut_view(n, base, &view, out);
	ab_view_end(&view);
	ab_policy_plain_end(&plain);
	return r;
}

/* --- translation ------------------------------------------------------- */

/* The host path behind a path in the parent's box. */
static int32_t translate(const ab_view *view, const char *inside,
			 const char *where, char out[AB_MAX_PATH],
			 agentbox_error **err)
{
	const ab_view_entry *e = ab_view_find(view, inside);

	if (!e || !e->from ||
	    ab_path_join(e->from, ab_path_rest(inside, e->to), out,
			 AB_MAX_PATH) < 0)
		return ab_error_set(err, AGENTBOX_EDENIED, where,
				    "the parent does not see \"%.200s\"",
				    inside);
	return 0;
}

static int32_t translate_mounts(const ab_view *view, json_t *tree,
				agentbox_error **err)
{
	json_t *list = json_object_get(tree, "mounts");
	char path[AB_MAX_PATH];
	char where[64];

	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *m = json_array_get(list, i);
		const char *from = ab_tree_string(m, "from");
		int32_t r;

		if (!from)
			continue;
		snprintf(where, sizeof(where), "/mounts/%zu/from", i);
		r = translate(view, from, where, path, err);
		if (r < 0)
			return r;
		if (json_object_set_new(m, "from", json_string(path)) < 0)
			return ab_error_nomem(err);
	}
	return 0;
}

static int32_t translate_workspace(const ab_view *view, json_t *tree,
				   agentbox_error **err)
{
	json_t *workspace = json_object_get(tree, "workspace");
	const char *inside = ab_tree_string(workspace, "path");
	const char *at = ab_tree_string(workspace, "at");
	char path[AB_MAX_PATH];
	int32_t r;

	if (!inside)
		return 0;
	r = translate(view, inside, "/workspace/path", path, err);
	if (r < 0)
		return r;
	/* "same" means the path the child knows, not the host's */
	if (at && strcmp(at, "same") == 0 &&
	    json_object_set_new(workspace, "at", json_string(inside)) < 0)
		return ab_error_nomem(err);
	if (json_object_set_new(workspace, "path", json_string(path)) < 0)
		return ab_error_nomem(err);
	return 0;
}

int32_t ab_policy_translate(agentbox_policy *parent, agentbox_policy *child,
			    agentbox_policy **out, agentbox_error **err)
{
	ab_auto(json_t) *tree = json_deep_copy(child->tree);
	ab_view view = { 0 };
	int32_t r;

	if (!tree || ab_view_init(&view, ab_policy_get(parent)) < 0)
		return ab_error_nomem(err);
	r = translate_mounts(&view, tree, err);
	if (r == 0)
		r = translate_workspace(&view, tree, err);
	ab_view_end(&view);
	if (r < 0)
		return r;
	return ab_policy_make(child->context, &tree, NULL, out, err);
}
