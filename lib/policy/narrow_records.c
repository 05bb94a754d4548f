/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rules for lists of objects: secrets, routes, servers, guard rules. A
 * record of the child counts only beside the parent's record of the same
 * key. Secrets are never inherited: a child names what it needs (C01).
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "policy/narrow.h"
#include "policy/usual.h"

static json_t *find(const json_t *list, const char *key, const char *value)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *v = json_array_get(list, i);

		if (strcmp(ab_tree_string(v, key), value) == 0)
			return v;
	}
	return NULL;
}

/* Only names go into the message: a record may hold more than one may say. */
static int32_t cut_record(ab_narrow *n, const ab_field *f, const json_t *p,
			  const json_t *record)
{
	char asks[AB_NARROW_TEXT];
	char holds[AB_NARROW_TEXT];
	size_t used;

	snprintf(asks, sizeof(asks), "\"%.120s\"",
		 ab_tree_string(record, f->key_field));
	used = (size_t)snprintf(holds, sizeof(holds), "holds");
	for (size_t i = 0; i < json_array_size(p) && used < sizeof(holds); i++)
		used += (size_t)snprintf(
			holds + used, sizeof(holds) - used, "%s \"%s\"",
			i ? "," : "",
			ab_tree_string(json_array_get(p, i), f->key_field));
	if (json_array_size(p) == 0)
		snprintf(holds, sizeof(holds), "holds none");
	return ab_narrow_cut(n, asks, holds);
}

static bool equal(const json_t *a, const json_t *b)
{
	return json_equal((json_t *)(uintptr_t)a, (json_t *)(uintptr_t)b);
}

static bool same_member(const json_t *a, const json_t *b, const char *key)
{
	const json_t *x = json_object_get(a, key);
	const json_t *y = json_object_get(b, key);

	return x && y ? equal(x, y) : x == y;
}

/* Where a route leads, and how the secret gets there. */
static bool is_same_route(const json_t *p, const json_t *c)
{
	static const char *const keys[] = { "upstream", "preset", "kind",
					    "ca", "inject" };
	bool same = true;

	for (size_t i = 0; i < AB_ARRAY_LEN(keys); i++)
		same = same && same_member(p, c, keys[i]);
	return same;
}

/*
 * Is the child's route, or its server of tools, one of the parent's? Both are
 * read with what they say by saying nothing, so that who writes it out asks
 * for no more. 1, 0, ENOMEM.
 */
static int32_t is_same_record(const ab_field *f, const json_t *held,
			      const json_t *c)
{
	bool is_route = f->rule == AB_R_ROUTES;
	ab_auto(json_t) *p = is_route ? ab_usual_route(held) :
					ab_usual_server(held);
	ab_auto(json_t) *q = is_route ? ab_usual_route(c) : ab_usual_server(c);

	if (!p || !q)
		return AGENTBOX_ENOMEM;
	return is_route ? is_same_route(p, q) : equal(p, q);
}

/*
 * What of a child's record remains beside the parent's: *out NULL for
 * nothing.
 */
static int32_t narrow_record(ab_narrow *n, const ab_field *f, const json_t *p,
			     const json_t *c, const json_t *held, json_t **out)
{
	bool fits = held != NULL;

	if (fits && f->rule != AB_R_SECRETS) {
		int32_t r = is_same_record(f, held, c);

		if (r < 0)
			return ab_error_nomem(n->err);
		fits = r;
	}
	/* a program runs outside the box, with the host's rights */
	if (fits && f->rule == AB_R_SECRETS && json_object_get(c, "command"))
		fits = same_member(held, c, "command");
	if (!fits)
		return cut_record(n, f, p, c);
	if (f->rule == AB_R_SECRETS) {
		ab_auto(json_t) *whole = ab_usual_secret(held, c);

		return whole ? ab_narrow_object(n, f->table, whole, c, out)
			     : ab_error_nomem(n->err);
	}
	return ab_narrow_object(n, f->table, held, c, out);
}

static int32_t narrow_each(ab_narrow *n, const ab_field *f, const json_t *p,
			   const json_t *c, json_t **out)
{
	ab_auto(json_t) *kept = json_array();

	if (!kept)
		return ab_error_nomem(n->err);
	for (size_t i = 0; i < json_array_size(c); i++) {
		const json_t *record = json_array_get(c, i);
		size_t saved = ab_narrow_enter_number(n, i);
		json_t *left = NULL;
		int32_t r = narrow_record(
			n, f, p, record,
			find(p, f->key_field,
			     ab_tree_string(record, f->key_field)),
			&left);

		ab_narrow_leave(n, saved);
		if (r < 0)
			return r;
		if (left && json_array_append_new(kept, left) < 0)
			return ab_error_nomem(n->err);
	}
	*out = ab_steal(&kept);
	return 0;
}

/* What injects a secret that did not come along is of no use: it goes
   silently. Routes, and servers by URL. */
static int32_t drop_unarmed(ab_narrow *n, json_t **routes)
{
	const json_t *secrets = json_object_get(n->out, "secrets");
	ab_auto(json_t) *kept = json_array();

	if (!kept)
		return ab_error_nomem(n->err);
	for (size_t i = 0; i < json_array_size(*routes); i++) {
		json_t *route = json_array_get(*routes, i);
		const char *name = ab_tree_string(
			json_object_get(route, "inject"), "secret");

		if (name && !find(secrets, "name", name))
			continue;
		if (json_array_append(kept, route) < 0)
			return ab_error_nomem(n->err);
	}
	json_decref(*routes);
	*routes = ab_steal(&kept);
	return 0;
}

static int32_t narrow_routes(ab_narrow *n, const ab_field *f, const json_t *p,
			     const json_t *c, json_t **out)
{
	int32_t r = 0;

	if (c)
		r = narrow_each(n, f, p, c, out);
	else if (p)
		*out = json_incref((json_t *)(uintptr_t)p);
	if (r == 0 && *out)
		r = drop_unarmed(n, out);
	return r;
}

static int32_t narrow_servers(ab_narrow *n, const ab_field *f,
			      const json_t *p, const json_t *c, json_t **out)
{
	int32_t r = narrow_each(n, f, p, c, out);

	return r < 0 ? r : drop_unarmed(n, out);
}

static bool is_allow(const json_t *rule)
{
	return strcmp(ab_tree_string(rule, "verdict"), "allow") == 0;
}

/* The parent's rules that stay in force and that the child did not repeat. */
static int32_t inherit_rules(ab_narrow *n, const json_t *p, const json_t *c,
			     json_t *kept)
{
	for (size_t i = 0; i < json_array_size(p); i++) {
		json_t *rule = json_array_get(p, i);
		const json_t *own = find(c, "id", ab_tree_string(rule, "id"));

		if (is_allow(rule) || (own && equal(own, rule)))
			continue;
		if (json_array_append(kept, rule) < 0)
			return ab_error_nomem(n->err);
	}
	return 0;
}

/*
 * Guard rules: a child may add refusals and repeat permissions, and may not
 * use the id of a parent's refusal for another rule.
 */
static int32_t narrow_rules(ab_narrow *n, const ab_field *f, const json_t *p,
			    const json_t *c, json_t **out)
{
	ab_auto(json_t) *kept = json_array();
	int32_t r;

	if (!kept)
		return ab_error_nomem(n->err);
	r = inherit_rules(n, p, c, kept);
	for (size_t i = 0; r == 0 && i < json_array_size(c); i++) {
		json_t *rule = json_array_get(c, i);
		const json_t *held = find(p, "id", ab_tree_string(rule, "id"));
		bool fits = held && !is_allow(held) ? equal(held, rule) :
						      !is_allow(rule);
		size_t saved = ab_narrow_enter_number(n, i);

		if (held && equal(held, rule))
			fits = true;

		if (!fits)
			r = cut_record(n, f, p, rule);
		else if (json_array_append(kept, rule) < 0)
			r = ab_error_nomem(n->err);
		ab_narrow_leave(n, saved);
	}
	if (r == 0)
		*out = ab_steal(&kept);
	return r;
}

/* Those of the parent that the child says nothing of. */
static int32_t inherit_limits(ab_narrow *n, const ab_field *f,
			      const json_t *p, const json_t *c, json_t *kept)
{
	for (size_t i = 0; i < json_array_size(p); i++) {
		json_t *v = json_array_get(p, i);

		if (!find(c, f->key_field, ab_tree_string(v, f->key_field)) &&
		    json_array_append(kept, v) < 0)
			return ab_error_nomem(n->err);
	}
	return 0;
}

/* Bounds: a child may add some, and lower the parent's. */
static int32_t narrow_limits(ab_narrow *n, const ab_field *f, const json_t *p,
			     const json_t *c, json_t **out)
{
	ab_auto(json_t) *kept = json_array();
	int32_t r = kept ? inherit_limits(n, f, p, c, kept)
			 : ab_error_nomem(n->err);

	for (size_t i = 0; r == 0 && i < json_array_size(c); i++) {
		const json_t *own = json_array_get(c, i);
		const json_t *held = find(p, f->key_field,
					  ab_tree_string(own, f->key_field));
		size_t saved = ab_narrow_enter_number(n, i);
		json_t *left = NULL;

		r = ab_narrow_object(n, f->table, held ? held : own, own,
				     &left);
		ab_narrow_leave(n, saved);
		if (r == 0 && json_array_append_new(kept, left) < 0)
			r = ab_error_nomem(n->err);
	}
	if (r < 0)
		return r;
	*out = ab_tree_sorted_records(kept, f->key_field);
	return *out ? 0 : ab_error_nomem(n->err);
}

int32_t ab_narrow_records(ab_narrow *n, const ab_field *f, const json_t *p,
			  const json_t *c, json_t **out)
{
	switch (f->rule) {
	case AB_R_SECRETS:
		if (c)
			return narrow_each(n, f, p, c, out);
		if (p) {
			*out = json_array();
			return *out ? 0 : ab_error_nomem(n->err);
		}
		return 0;
	case AB_R_ROUTES:
		return narrow_routes(n, f, p, c, out);
	case AB_R_RECORD_SUBSET:
		return narrow_servers(n, f, p, c, out);
	case AB_R_RULES:
		return narrow_rules(n, f, p, c, out);
	case AB_R_LIMITS:
		return narrow_limits(n, f, p, c, out);
	}
	return ab_error_set(n->err, AGENTBOX_EDENIED, n->pointer,
			    "%s: no rule for this list", f->key);
}
