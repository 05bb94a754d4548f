/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * narrow and contains: one walk over the schema with the parent's and the
 * child's tree. Each field's rule says what remains; what had to be taken
 * away is a cut, and contains is the walk that stops at the first. So the
 * two cannot disagree. Spec: DESIGN.md sections 5 and 10, fleet cases A-D.
 */
#include "config.h"

#include "policy/narrow.h"

#include <stdio.h>
#include <string.h>

#include "agentbox/policy.h"
#include "base/alloc.h"
#include "base/error.h"
#include "path/lexical.h"
#include "policy/items.h"

/* --- helpers ----------------------------------------------------------- */

int32_t ab_narrow_cut(ab_narrow *n, const char *asks, const char *holds)
{
	char dotted[AB_NARROW_POINTER];
	size_t used = 0;

	if (!n->strict)
		return 0;
	for (const char *p = n->pointer; *p; p++)
		if (p != n->pointer || *p != '/')
			dotted[used++] = *p == '/' ? '.' : *p;
	dotted[used] = '\0';
	return ab_error_set(n->err, AGENTBOX_EDENIED, n->pointer,
			    "%s: the child asks for %s; the parent %s", dotted,
			    asks, holds);
}

size_t ab_narrow_enter(ab_narrow *n, const char *key)
{
	size_t saved = strlen(n->pointer);

	snprintf(n->pointer + saved, sizeof(n->pointer) - saved, "/%s", key);
	return saved;
}

size_t ab_narrow_enter_number(ab_narrow *n, size_t number)
{
	size_t saved = strlen(n->pointer);

	snprintf(n->pointer + saved, sizeof(n->pointer) - saved, "/%zu",
		 number);
	return saved;
}

void ab_narrow_leave(ab_narrow *n, size_t saved)
{
	n->pointer[saved] = '\0';
}

void ab_narrow_text(const json_t *v, char out[AB_NARROW_TEXT])
{
	size_t wanted;

	if (!v) {
		snprintf(out, AB_NARROW_TEXT, "nothing");
		return;
	}
	wanted = json_dumpb(v, out, AB_NARROW_TEXT - 4,
			    JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	if (wanted <= AB_NARROW_TEXT - 4)
		out[wanted] = '\0';
	else
		memcpy(out + AB_NARROW_TEXT - 4, "...", 4);
}

static json_t *take(const json_t *v)
{
	return json_incref((json_t *)(uintptr_t)v);
}

/* cut() with both values as text. */
static int32_t cut_values(ab_narrow *n, const json_t *p, const json_t *c)
{
	char asks[AB_NARROW_TEXT];
	char text[AB_NARROW_TEXT];
	char holds[AB_NARROW_TEXT + 16];

	ab_narrow_text(c, asks);
	ab_narrow_text(p, text);
	snprintf(holds, sizeof(holds), "holds %s", text);
	return ab_narrow_cut(n, asks, holds);
}

/* --- scalars ----------------------------------------------------------- */

static int32_t narrow_same(ab_narrow *n, const ab_field *f, const json_t *p,
			   const json_t *c, json_t **out)
{
	if (!p && f->rule == AB_R_GRANT) {
		*out = NULL;
		return cut_values(n, p, c);
	}
	if (p && !json_equal((json_t *)(uintptr_t)p, (json_t *)(uintptr_t)c)) {
		*out = take(p);
		return cut_values(n, p, c);
	}
	*out = take(c);
	return 0;
}

/*
 * The bound that a parent has by saying nothing: 0 for none. How deep its
 * boxes may go it has only when it may have any.
 */
static uint64_t usual_bound(const ab_narrow *n, const ab_field *f)
{
	bool is_open = f->rule != AB_R_MIN_ZERO ||
		       json_is_true(json_object_get(n->parent_object,
						    "enabled"));

	return is_open ? f->usual : 0;
}

static json_t *number_json(const ab_field *f, uint64_t v)
{
	char text[AB_VALUE_SIZE];

	if (f->type == AB_T_INT)
		return json_integer((json_int_t)v);
	if (f->type == AB_T_SIZE)
		ab_value_size_text(v, text);
	else
		ab_value_duration_text(v, text);
	return json_string(text);
}

static int32_t narrow_min(ab_narrow *n, const ab_field *f, const json_t *p,
			  const json_t *c, json_t **out)
{
	uint64_t usual = p ? 0 : usual_bound(n, f);
	ab_auto(json_t) *bound = p     ? take(p) :
				 usual ? number_json(f, usual) :
					 NULL;
	uint64_t most = f->rule == AB_R_MIN_ZERO ? 0 : UINT64_MAX;

	if (usual && !bound)
		return ab_error_nomem(n->err);
	if (bound)
		most = ab_tree_number(f, bound);
	if (ab_tree_number(f, c) <= most) {
		*out = take(c);
		return 0;
	}
	*out = bound ? take(bound) : NULL;
	return cut_values(n, bound, c);
}

static int32_t narrow_floor(ab_narrow *n, const json_t *p, const json_t *c,
			    json_t **out)
{
	char text[AB_VALUE_SIZE];
	uint64_t p_low;
	uint64_t p_high;
	uint64_t c_low;
	uint64_t c_high;

	ab_tree_backoff(p, &p_low, &p_high);
	ab_tree_backoff(c, &c_low, &c_high);
	if (c_low >= p_low && c_high >= p_high) {
		*out = take(c);
		return 0;
	}
	ab_value_backoff_text(c_low > p_low ? c_low : p_low,
			      c_high > p_high ? c_high : p_high, text);
	*out = json_string(text);
	return *out ? cut_values(n, p, c) : ab_error_nomem(n->err);
}

/* Place of an enum or bool among its values, narrowest first. */
static int place(const ab_field *f, const json_t *v)
{
	if (!v)
		return f->fallback;
	if (f->type == AB_T_BOOL)
		return json_is_true(v);
	return ab_schema_index(f, json_string_value(v));
}

static int32_t narrow_order(ab_narrow *n, const ab_field *f, const json_t *p,
			    const json_t *c, json_t **out)
{
	ab_auto(json_t) *bound = NULL;

	if (place(f, c) <= place(f, p)) {
		*out = take(c);
		return 0;
	}
	if (p)
		bound = take(p);
	else if (f->type == AB_T_BOOL)
		bound = json_boolean(f->fallback);
	else
		bound = json_string(f->names[f->fallback]);
	if (!bound)
		return ab_error_nomem(n->err);
	*out = take(bound);
	return cut_values(n, bound, c);
}

/* The child's own x- keys; the parent's are its own. */
static int32_t keep_own_keys(ab_narrow *n, const json_t *c, json_t *out)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)c, key, value)
		if (strncmp(key, "x-", 2) == 0 &&
		    json_object_set(out, key, value) < 0)
			return ab_error_nomem(n->err);
	return 0;
}

/* --- the role ---------------------------------------------------------- */

/*
 * A role only restricts what the write guard lets pass, and adds the mounts
 * that go with it, which the mounts' rule judges. So a parent without a role
 * has nothing to hold against one; with one, the child stays within it.
 */
static int32_t narrow_role_key(ab_narrow *n, const char *key, bool fixed,
			       const json_t *p, const json_t *c, json_t *out)
{
	const json_t *pv = json_object_get(p, key);
	const json_t *cv = json_object_get(c, key);
	size_t saved = ab_narrow_enter(n, key);
	int32_t r = 0;

	/* a team or a name that the parent has not is more to write */
	if (cv && fixed &&
	    !json_equal((json_t *)(uintptr_t)pv, (json_t *)(uintptr_t)cv)) {
		r = cut_values(n, pv, cv);
		cv = pv;
	}
	if (!cv)
		cv = pv;
	if (cv && json_object_set(out, key, (json_t *)(uintptr_t)cv) < 0)
		r = ab_error_nomem(n->err);
	ab_narrow_leave(n, saved);
	return r;
}

/* Worktrees within those of the parent, or below a manager's team. */
static int32_t narrow_worktrees(ab_narrow *n, const json_t *p, const json_t *c,
				bool manager, json_t *out)
{
	const json_t *held = json_object_get(p, "worktrees");
	const json_t *asked = json_object_get(c, "worktrees");
	const char *team = manager ? ab_tree_string(p, "team_dir") : NULL;
	size_t saved = ab_narrow_enter(n, "worktrees");
	ab_auto(json_t) *kept = json_array();
	int32_t r = kept ? 0 : ab_error_nomem(n->err);

	for (size_t i = 0; r == 0 && i < json_array_size(asked); i++) {
		json_t *v = json_array_get(asked, i);
		const char *path = json_string_value(v);
		bool good = team && ab_path_is_below(path, team);

		for (size_t j = 0; !good && j < json_array_size(held); j++) {
			const json_t *tree = json_array_get(held, j);

			good = ab_path_is_below(path, json_string_value(tree));
		}
		if (!good)
			r = cut_values(n, held, v);
		else if (json_array_append(kept, v) < 0)
			r = ab_error_nomem(n->err);
	}
	if (r == 0 && (asked || held) &&
	    json_object_set(out, "worktrees",
			    asked ? kept : (json_t *)(uintptr_t)held) < 0)
		r = ab_error_nomem(n->err);
	ab_narrow_leave(n, saved);
	return r;
}

static int32_t narrow_role(ab_narrow *n, const json_t *p, const json_t *c,
			   json_t **out)
{
	const char *kind = ab_tree_string(p, "kind");
	bool manager = kind && strcmp(kind, "manager") == 0;
	ab_auto(json_t) *role = NULL;
	int32_t r;

	if (!p) {
		*out = take(c);
		return 0;
	}
	role = json_object();
	if (!role)
		return ab_error_nomem(n->err);
	r = narrow_role_key(n, "kind", !manager, p, c, role);
	if (r == 0)
		r = narrow_role_key(n, "team_dir", true, p, c, role);
	if (r == 0)
		r = narrow_role_key(n, "agent", !manager, p, c, role);
	if (r == 0)
		r = narrow_worktrees(n, p, c, manager, role);
	if (r == 0)
		r = keep_own_keys(n, c, role);
	if (r == 0)
		*out = ab_steal(&role);
	return r;
}

/* --- the environment --------------------------------------------------- */

/* A PATH entry that is not absolute finds programs wherever one stands. */
static bool path_is_relative(const char *value)
{
	for (;;) {
		const char *colon = strchr(value, ':');

		if (*value != '/')
			return true;
		if (!colon)
			return false;
		value = colon + 1;
	}
}

static int32_t narrow_env(ab_narrow *n, const json_t *p, const json_t *c,
			  json_t **out)
{
	ab_auto(json_t) *set = p ? json_copy((json_t *)(uintptr_t)p) :
				   json_object();
	const char *name;
	json_t *value;
	int32_t r = 0;

	if (!set)
		return ab_error_nomem(n->err);
	json_object_foreach ((json_t *)(uintptr_t)c, name, value) {
		const json_t *held = json_object_get(p, name);
		bool bad = ab_item_env_runs_code(name) ||
			   (strcmp(name, "PATH") == 0 &&
			    path_is_relative(json_string_value(value)));
		size_t saved = ab_narrow_enter(n, name);

		if (bad && !(held && json_equal((json_t *)(uintptr_t)held,
						value)))
			r = cut_values(n, held, value);
		else if (json_object_set(set, name, value) < 0)
			r = ab_error_nomem(n->err);
		ab_narrow_leave(n, saved);
		if (r < 0)
			return r;
	}
	*out = ab_steal(&set);
	return 0;
}

/* --- the walk ---------------------------------------------------------- */

static int32_t apply(ab_narrow *n, const ab_field *f, const json_t *p,
		     const json_t *c, json_t **out)
{
	switch ((enum ab_field_rule)f->rule) {
	case AB_R_FREE:
		*out = take(c);
		return 0;
	case AB_R_SAME:
	case AB_R_GRANT:
		return narrow_same(n, f, p, c, out);
	case AB_R_MIN:
	case AB_R_MIN_ZERO:
		return narrow_min(n, f, p, c, out);
	case AB_R_FLOOR:
		return narrow_floor(n, p, c, out);
	case AB_R_ORDER:
		return narrow_order(n, f, p, c, out);
	case AB_R_SUBSET:
	case AB_R_UNION:
	case AB_R_SUPERSET:
	case AB_R_HOSTS:
	case AB_R_TOOLS:
		return ab_narrow_lists(n, f, p, c, out);
	case AB_R_SECRETS:
	case AB_R_ROUTES:
	case AB_R_RECORD_SUBSET:
	case AB_R_RULES:
	case AB_R_LIMITS:
		return ab_narrow_records(n, f, p, c, out);
	case AB_R_OBJECT:
		return ab_narrow_object(n, f->table, p, c, out);
	case AB_R_ROLE:
		return narrow_role(n, p, c, out);
	case AB_R_ENV_SET:
		return narrow_env(n, p, c, out);
	case AB_R_MOUNTS:
		return ab_narrow_mounts(n, p, c, out);
	}
	return ab_error_set(n->err, AGENTBOX_EDENIED, n->pointer,
			    "%s: no rule for this key", f->key);
}

/* Rules that have work to do although the child says nothing. */
static bool needs_rule(const ab_field *f)
{
	return f->rule == AB_R_SECRETS || f->rule == AB_R_ROUTES ||
	       f->rule == AB_R_MOUNTS;
}

static int32_t narrow_field(ab_narrow *n, const ab_field *f, const json_t *p,
			    const json_t *c, json_t *out)
{
	const json_t *pv = json_object_get(p, f->key);
	const json_t *cv = json_object_get(c, f->key);
	ab_auto(json_t) *value = NULL;
	size_t saved;
	int32_t r = 0;

	if (!cv && !needs_rule(f)) {
		value = pv ? take(pv) : NULL;
	} else {
		saved = ab_narrow_enter(n, f->key);
		n->parent_object = p;
		r = apply(n, f, pv, cv, &value);
		ab_narrow_leave(n, saved);
	}
	if (r == 0 && value && json_object_set(out, f->key, value) < 0)
		return ab_error_nomem(n->err);
	return r;
}

static int32_t walk(ab_narrow *n, const ab_field *table, const json_t *p,
		    const json_t *c, json_t *out)
{
	for (const ab_field *f = table; f->key; f++) {
		int32_t r = narrow_field(n, f, p, c, out);

		if (r < 0)
			return r;
	}
	return keep_own_keys(n, c, out);
}

int32_t ab_narrow_object(ab_narrow *n, const ab_field *table, const json_t *p,
			 const json_t *c, json_t **out)
{
	ab_auto(json_t) *object = json_object();
	int32_t r;

	if (!object)
		return ab_error_nomem(n->err);
	r = walk(n, table, p, c, object);
	if (r == 0)
		*out = ab_steal(&object);
	return r;
}

static int32_t compare(agentbox_policy *parent, agentbox_policy *child,
		       bool strict, agentbox_policy **out,
		       agentbox_error **err)
{
	ab_auto(json_t) *tree = json_object();
	ab_narrow n = { .parent = parent, .child = child, .strict = strict,
			.err = err, .out = tree };
	int32_t r;

	if (!tree)
		return ab_error_nomem(err);
	r = walk(&n, ab_schema, parent->tree, child->tree, tree);
	if (r == 0)
		r = ab_narrow_routed(&n);
	if (r < 0)
		return r;
	return ab_policy_make(child->context, &tree, NULL, out, err);
}

int32_t agentbox_policy_narrow(agentbox_policy *parent, agentbox_policy *child,
			       agentbox_policy **out, agentbox_error **err)
{
	if (!parent || !child || !out)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "policy_narrow: an argument is NULL");
	return compare(parent, child, false, out, err);
}

int32_t agentbox_policy_contains(agentbox_policy *parent,
				 agentbox_policy *child, agentbox_error **err)
{
	ab_auto(agentbox_policy) *effective = NULL;

	if (!parent || !child)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "policy_contains: an argument is NULL");
	return compare(parent, child, true, &effective, err);
}
