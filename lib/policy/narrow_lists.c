/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rules for lists of names: grants shrink to what both have, restrictions
 * grow to what either has, demands may not shrink. An absent parent holds
 * nothing. Spec: policy/schema.h, cases A01-A28, C13, C16.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "policy/narrow.h"

static json_t *take(const json_t *v)
{
	return json_incref((json_t *)(uintptr_t)v);
}

static int32_t cut_item(ab_narrow *n, size_t i, const json_t *item,
			const json_t *p)
{
	char asks[AB_NARROW_TEXT];
	char text[AB_NARROW_TEXT];
	char holds[AB_NARROW_TEXT + 16];
	size_t saved = ab_narrow_enter_number(n, i);
	int32_t r;

	ab_narrow_text(item, asks);
	ab_narrow_text(p, text);
	snprintf(holds, sizeof(holds), "holds %s", text);
	r = ab_narrow_cut(n, asks, holds);
	ab_narrow_leave(n, saved);
	return r;
}

/* "*" collapses a set, so it is there alone or not at all. */
static bool is_star(const json_t *set)
{
	const char *s = json_string_value(json_array_get(set, 0));

	return s && strcmp(s, "*") == 0;
}

static bool has(const json_t *set, const json_t *item)
{
	if (json_is_string(item))
		return ab_tree_has(set, json_string_value(item));
	for (size_t i = 0; i < json_array_size(set); i++)
		if (json_integer_value(json_array_get(set, i)) ==
		    json_integer_value(item))
			return true;
	return false;
}

static int32_t narrow_subset(ab_narrow *n, const json_t *p, const json_t *c,
			     json_t **out)
{
	ab_auto(json_t) *kept = NULL;

	if (is_star(p)) {
		*out = take(c);
		return 0;
	}
	if (is_star(c)) {
		*out = p ? take(p) : json_array();
		return *out ? cut_item(n, 0, json_array_get(c, 0), p) :
			      ab_error_nomem(n->err);
	}
	kept = json_array();
	if (!kept)
		return ab_error_nomem(n->err);
	for (size_t i = 0; i < json_array_size(c); i++) {
		json_t *item = json_array_get(c, i);
		int32_t r = 0;

		if (!has(p, item))
			r = cut_item(n, i, item, p);
		else if (json_array_append(kept, item) < 0)
			r = ab_error_nomem(n->err);
		if (r < 0)
			return r;
	}
	*out = ab_steal(&kept);
	return 0;
}

static int32_t join(ab_narrow *n, const ab_field *f, const json_t *p,
		    const json_t *c, json_t **out)
{
	ab_auto(json_t) *both = json_copy((json_t *)(uintptr_t)c);
	ab_host_set set = { 0 };
	int32_t r;

	if (!both ||
	    (p && json_array_extend(both, (json_t *)(uintptr_t)p) < 0))
		return ab_error_nomem(n->err);
	if (json_array_size(both) > 2 * AB_MAX_POLICY_ENTRIES)
		return ab_error_set(n->err, AGENTBOX_ELIMIT, n->pointer,
				    "%s: too many entries of parent and child",
				    f->key);
	if (f->type != AB_T_HOSTS) {
		*out = ab_tree_sorted_set(both, f->flags & AB_F_STAR);
		return *out ? 0 : ab_error_nomem(n->err);
	}
	r = ab_tree_to_hosts(both, n->pointer, &set, n->err);
	if (r == 0) {
		*out = ab_tree_from_hosts(&set);
		r = *out ? 0 : ab_error_nomem(n->err);
	}
	ab_host_set_end(&set);
	return r;
}

/* The parent's demands; `require` has a default (AB_REQUIRE_DEFAULT). */
static json_t *demands(const ab_narrow *n, const json_t *p)
{
	ab_auto(json_t) *list = NULL;

	if (p)
		return take(p);
	list = json_array();
	if (strcmp(n->pointer, "/require") != 0 ||
	    agentbox_policy_is_bare((agentbox_policy *)(uintptr_t)n->parent))
		return ab_steal(&list);
	for (uint32_t i = 0; list && i < AB_FEATURE_COUNT; i++)
		if ((AB_REQUIRE_DEFAULT & AB_FEATURE_BIT(i)) &&
		    json_array_append_new(
			    list, json_string(ab_schema_features[i])) < 0)
			return NULL;
	return ab_steal(&list);
}

/*
 * What a parent restricts; one without a list of scoped tools has the usual
 * kinds, which a child's empty list does not undo.
 */
static int32_t narrow_union(ab_narrow *n, const ab_field *f, const json_t *p,
			    const json_t *c, json_t **out)
{
	ab_auto(json_t) *usual = NULL;

	if (p || strcmp(n->pointer, "/scope/tools") != 0)
		return join(n, f, p, c, out);
	usual = json_array();
	for (size_t i = 0; usual && ab_policy_scope_kinds[i]; i++)
		if (json_array_append_new(
			    usual, json_string(ab_policy_scope_kinds[i])) < 0)
			return ab_error_nomem(n->err);
	return usual ? join(n, f, usual, c, out) : ab_error_nomem(n->err);
}

static int32_t narrow_superset(ab_narrow *n, const ab_field *f,
			       const json_t *p, const json_t *c, json_t **out)
{
	ab_auto(json_t) *held = demands(n, p);

	if (!held)
		return ab_error_nomem(n->err);
	for (size_t i = 0; i < json_array_size(held); i++) {
		const json_t *item = json_array_get(held, i);
		char asks[AB_NARROW_TEXT];
		char text[AB_NARROW_TEXT];
		char holds[AB_NARROW_TEXT + 16];
		int32_t r;

		if (has(c, item))
			continue;
		ab_narrow_text(c, asks);
		ab_narrow_text(item, text);
		snprintf(holds, sizeof(holds), "demands %s", text);
		r = ab_narrow_cut(n, asks, holds);
		if (r < 0)
			return r;
	}
	return join(n, f, held, c, out);
}

/* --- hosts ------------------------------------------------------------- */

typedef struct hosts {
	ab_host_set held, denied, asked, both;
} hosts;

/* Drop what the parent denies entirely; reports whether anything went. */
static bool drop_denied(const ab_host_set *denied, ab_host_set *set)
{
	size_t used = 0;
	bool dropped = false;

	for (size_t i = 0; i < set->count; i++) {
		if (denied->count &&
		    ab_host_set_covers(denied, &set->items[i], true))
			dropped = true;
		else
			set->items[used++] = set->items[i];
	}
	set->count = used;
	return dropped;
}

static int32_t narrow_host_sets(ab_narrow *n, hosts *h, const json_t *p,
				const json_t *c, json_t **out)
{
	bool cut = false;
	int r;

	for (size_t i = 0; i < h->asked.count; i++) {
		const ab_host *want = &h->asked.items[i];
		int32_t e;

		if (ab_host_set_covers(&h->held, want, false) &&
		    !ab_host_set_covers(&h->denied, want, true))
			continue;
		cut = true;
		e = cut_item(n, i, json_array_get(c, i), p);
		if (e < 0)
			return e;
	}
	if (!cut) {
		*out = take(c);
		return 0;
	}
	r = ab_host_set_intersect(&h->held, &h->asked, &h->both);
	if (r == -E2BIG)
		return ab_error_set(n->err, AGENTBOX_ELIMIT, n->pointer,
				    "one host gets more than %d port ranges",
				    AB_HOST_RANGES);
	if (r < 0)
		return ab_error_nomem(n->err);
	drop_denied(&h->denied, &h->both);
	*out = ab_tree_from_hosts(&h->both);
	return *out ? 0 : ab_error_nomem(n->err);
}

static int32_t narrow_hosts(ab_narrow *n, const ab_field *f, const json_t *p,
			    const json_t *c, json_t **out)
{
	/* only network.allow has a deny list beside it */
	const json_t *deny = strcmp(f->key, "allow") == 0 ?
				     json_object_get(n->parent_object, "deny") :
				     NULL;
	hosts h = { 0 };
	int32_t r = ab_tree_to_hosts(p, n->pointer, &h.held, n->err);

	if (r == 0)
		r = ab_tree_to_hosts(deny, n->pointer, &h.denied, n->err);
	if (r == 0)
		r = ab_tree_to_hosts(c, n->pointer, &h.asked, n->err);
	if (r == 0)
		r = narrow_host_sets(n, &h, p, c, out);
	ab_host_set_end(&h.held);
	ab_host_set_end(&h.denied);
	ab_host_set_end(&h.asked);
	ab_host_set_end(&h.both);
	return r;
}

/* --- tools ------------------------------------------------------------- */

/* "a:*" covers "a:b" and "a:b*". */
static bool tool_covers(const char *p, const char *c)
{
	size_t n = strlen(p);

	if (n && p[n - 1] == '*')
		return strncmp(p, c, n - 1) == 0;
	return strcmp(p, c) == 0;
}

static bool tools_cover(const json_t *list, const char *c)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (tool_covers(json_string_value(json_array_get(list, i)), c))
			return true;
	return false;
}

static int32_t keep_covered(ab_narrow *n, const json_t *list,
			    const json_t *by, json_t *kept)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *v = json_array_get(list, i);

		if (tools_cover(by, json_string_value(v)) &&
		    json_array_append(kept, v) < 0)
			return ab_error_nomem(n->err);
	}
	return 0;
}

static int32_t narrow_tools(ab_narrow *n, const json_t *p, const json_t *c,
			    json_t **out)
{
	ab_auto(json_t) *kept = NULL;
	bool cut = false;

	for (size_t i = 0; i < json_array_size(c); i++) {
		const json_t *v = json_array_get(c, i);
		int32_t r;

		if (tools_cover(p, json_string_value(v)))
			continue;
		cut = true;
		r = cut_item(n, i, v, p);
		if (r < 0)
			return r;
	}
	if (!cut) {
		*out = take(c);
		return 0;
	}
	kept = json_array();
	if (!kept)
		return ab_error_nomem(n->err);
	if (keep_covered(n, c, p, kept) < 0 || keep_covered(n, p, c, kept) < 0)
		return AGENTBOX_ENOMEM;
	*out = ab_tree_sorted_set(kept, true);
	return *out ? 0 : ab_error_nomem(n->err);
}

int32_t ab_narrow_lists(ab_narrow *n, const ab_field *f, const json_t *p,
			const json_t *c, json_t **out)
{
	switch (f->rule) {
	case AB_R_SUBSET:
		return narrow_subset(n, p, c, out);
	case AB_R_UNION:
		return narrow_union(n, f, p, c, out);
	case AB_R_SUPERSET:
		return narrow_superset(n, f, p, c, out);
	case AB_R_HOSTS:
		return narrow_hosts(n, f, p, c, out);
	case AB_R_TOOLS:
		return narrow_tools(n, p, c, out);
	}
	return ab_error_set(n->err, AGENTBOX_EDENIED, n->pointer,
			    "%s: no rule for this list", f->key);
}
