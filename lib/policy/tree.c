/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Canonical trees: sorting, merging, reading values back. Works on trees
 * that passed the checker, so it meets no bad value; a missing one is NULL.
 * Spec: policy/tree.h.
 */
#include "config.h"

#include "policy/tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"

/* The longest pointer of the schema, with room. */
#define WHERE_SIZE 128

json_t *ab_tree_get(const json_t *tree, const char *section, const char *key)
{
	return json_object_get(json_object_get(tree, section), key);
}

const char *ab_tree_string(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

bool ab_tree_has(const json_t *set, const char *s)
{
	size_t low = 0;
	size_t high = json_array_size(set);

	while (low < high) {
		size_t i = low + (high - low) / 2;
		int r = strcmp(json_string_value(json_array_get(set, i)), s);

		if (r == 0)
			return true;
		if (r < 0)
			low = i + 1;
		else
			high = i;
	}
	return false;
}

static int compare_values(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a;
	const json_t *y = *(json_t *const *)b;

	if (json_is_integer(x)) {
		json_int_t m = json_integer_value(x);
		json_int_t n = json_integer_value(y);

		return m < n ? -1 : m > n;
	}
	return strcmp(json_string_value(x), json_string_value(y));
}

/* Borrowed values of an array as a plain vector; NULL on ENOMEM. */
static json_t **vector(const json_t *array, size_t *n)
{
	json_t **v;

	*n = json_array_size(array);
	v = ab_calloc(*n ? *n : 1, sizeof(*v));
	for (size_t i = 0; v && i < *n; i++)
		v[i] = json_array_get(array, i);
	return v;
}

json_t *ab_tree_sorted_set(const json_t *array, bool collapse_star)
{
	size_t n;
	ab_autofree json_t **v = vector(array, &n);
	ab_auto(json_t) *out = json_array();

	if (!v || !out)
		return NULL;
	qsort(v, n, sizeof(json_t *), compare_values);
	for (size_t i = 0; i < n; i++) {
		if (collapse_star &&
		    strcmp(json_string_value(v[i]), "*") == 0) {
			/* "*" says it all, and sorts before any name */
			json_array_clear(out);
			if (json_array_append(out, v[i]) < 0)
				return NULL;
			break;
		}
		if (i && compare_values(&v[i - 1], &v[i]) == 0)
			continue;
		if (json_array_append(out, v[i]) < 0)
			return NULL;
	}
	return ab_steal(&out);
}

struct keyed {
	const char *key;
	json_t *value;
};

static int compare_keyed(const void *a, const void *b)
{
	return strcmp(((const struct keyed *)a)->key,
		      ((const struct keyed *)b)->key);
}

json_t *ab_tree_sorted_records(const json_t *array, const char *key)
{
	size_t n = json_array_size(array);
	ab_autofree struct keyed *v = ab_calloc(n ? n : 1, sizeof(*v));
	ab_auto(json_t) *out = json_array();

	if (!v || !out)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		v[i].value = json_array_get(array, i);
		v[i].key = ab_tree_string(v[i].value, key);
	}
	qsort(v, n, sizeof(*v), compare_keyed);
	for (size_t i = 0; i < n; i++)
		if (json_array_append(out, v[i].value) < 0)
			return NULL;
	return ab_steal(&out);
}

int32_t ab_tree_to_hosts(const json_t *array, const char *where,
			 ab_host_set *out, agentbox_error **err)
{
	size_t n = json_array_size(array);
	ab_autofree ab_host *hosts = ab_calloc(n ? n : 1, sizeof(*hosts));
	char why[AB_WHY_SIZE];

	if (!hosts)
		return ab_error_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const char *s = json_string_value(json_array_get(array, i));

		if (!s || !ab_host_parse(s, &hosts[i], why))
			return ab_error_set(err, AGENTBOX_EPOLICY, where,
					    "not a host pattern");
	}
	if (ab_host_set_init(out, ab_steal(&hosts), n) < 0) {
		ab_host_set_end(out);
		return ab_error_set(err, AGENTBOX_ELIMIT, where,
				    "one host has more than %d port ranges",
				    AB_HOST_RANGES);
	}
	return 0;
}

json_t *ab_tree_from_hosts(const ab_host_set *set)
{
	ab_auto(json_t) *out = json_array();
	char text[AB_HOST_TEXT_SIZE];

	for (size_t i = 0; out && i < set->count; i++) {
		ab_host_text(&set->items[i], text);
		if (json_array_append_new(out, json_string(text)) < 0)
			return NULL;
	}
	return ab_steal(&out);
}

uint64_t ab_tree_number(const ab_field *field, const json_t *value)
{
	const char *s = json_string_value(value);
	char why[AB_WHY_SIZE];
	uint64_t v = 0;

	if (json_is_integer(value)) {
		v = (uint64_t)json_integer_value(value);
		return field->type == AB_T_CPUS ? v * 1000 : v;
	}
	if (!s)
		return 0;
	if (strcmp(s, "none") == 0)
		return UINT64_MAX;
	if (field->type == AB_T_SIZE)
		ab_value_size(s, true, &v, why);
	else if (field->type == AB_T_CPUS)
		ab_value_cpus(s, &v, why);
	else if (field->type == AB_T_DURATION)
		ab_value_duration(s, &v, why);
	return v;
}

void ab_tree_backoff(const json_t *value, uint64_t *low, uint64_t *high)
{
	const char *s = json_string_value(value);
	char why[AB_WHY_SIZE];

	*low = *high = 0;
	if (s)
		ab_value_backoff(s, low, high, why);
}

/* --- merge ------------------------------------------------------------- */

/* base ++ over, a record of the same key replaced in its place. */
static json_t *append_records(const json_t *base, const json_t *over,
			      const char *key)
{
	ab_auto(json_t) *out = json_copy((json_t *)(uintptr_t)base);

	for (size_t i = 0; out && i < json_array_size(over); i++) {
		json_t *v = json_array_get(over, i);
		size_t j = 0;
		int r;

		while (j < json_array_size(out) &&
		       strcmp(ab_tree_string(json_array_get(out, j), key),
			      ab_tree_string(v, key)) != 0)
			j++;
		r = j < json_array_size(out) ? json_array_set(out, j, v) :
					       json_array_append(out, v);
		if (r < 0)
			return NULL;
	}
	return ab_steal(&out);
}

static json_t *append_hosts(const json_t *joined, const char *where,
			    agentbox_error **err)
{
	ab_host_set set = { 0 };
	json_t *out;

	if (ab_tree_to_hosts(joined, where, &set, err) < 0)
		return NULL;
	out = ab_tree_from_hosts(&set);
	ab_host_set_end(&set);
	return out;
}

/* NULL with *err set for a limit, or unset when memory ran out. */
static json_t *append_list(const ab_field *f, const char *where,
			   const json_t *base, const json_t *over,
			   agentbox_error **err)
{
	ab_auto(json_t) *joined = NULL;

	if (f->type == AB_T_RECORDS || f->type == AB_T_ORDERED) {
		joined = append_records(base, over, f->key_field);
		if (!joined || f->type == AB_T_ORDERED)
			return ab_steal(&joined);
		return ab_tree_sorted_records(joined, f->key_field);
	}
	joined = json_copy((json_t *)(uintptr_t)base);
	if (!joined ||
	    json_array_extend(joined, (json_t *)(uintptr_t)over) < 0)
		return NULL;
	if (json_array_size(joined) > AB_MAX_POLICY_ENTRIES) {
		ab_error_set(err, AGENTBOX_ELIMIT, where,
			     "%s: more than %d entries", f->key,
			     AB_MAX_POLICY_ENTRIES);
		return NULL;
	}
	if (f->type == AB_T_HOSTS)
		return append_hosts(joined, where, err);
	if (f->type == AB_T_SEQ)
		return ab_steal(&joined);
	return ab_tree_sorted_set(joined, f->flags & AB_F_STAR);
}

static int32_t merge_object(const ab_field *table, const char *where,
			    const json_t *base, const json_t *over,
			    json_t **out, agentbox_error **err);

/* One key of `over` into `out`, which began as a copy of base. */
static int32_t merge_key(const ab_field *f, bool append, const char *parent,
			 const char *key, const json_t *value, json_t *out,
			 agentbox_error **err)
{
	json_t *old = f ? json_object_get(out, f->key) : NULL;
	ab_auto(json_t) *merged = NULL;
	agentbox_error *local = NULL;
	char where[WHERE_SIZE];

	/* keys of the schema need no escape (RFC 6901) */
	snprintf(where, sizeof(where), "%s/%s", parent, f ? f->key : "");
	if (f && f->type == AB_T_OBJECT) {
		int32_t r = merge_object(f->table, where, old, value, &merged,
					 err);

		if (r < 0)
			return r;
	} else if (f && f->type == AB_T_MAP && old) {
		merged = json_copy(old);
		if (!merged ||
		    json_object_update(merged, (json_t *)(uintptr_t)value) < 0)
			return ab_error_nomem(err);
	} else if (append && old) {
		merged = append_list(f, where, old, value, &local);
		if (!merged && local)
			return ab_error_move(err, &local);
	} else {
		merged = json_incref((json_t *)(uintptr_t)value);
	}
	if (!merged ||
	    json_object_set(out, f ? f->key : key, merged) < 0)
		return ab_error_nomem(err);
	return 0;
}

static int32_t merge_object(const ab_field *table, const char *where,
			    const json_t *base, const json_t *over,
			    json_t **out, agentbox_error **err)
{
	ab_auto(json_t) *merged =
		base ? json_copy((json_t *)(uintptr_t)base) : json_object();
	const char *key;
	json_t *value;

	if (!merged)
		return ab_error_nomem(err);
	json_object_foreach ((json_t *)(uintptr_t)over, key, value) {
		bool append;
		const ab_field *f = ab_schema_find(table, key, &append);
		int32_t r = merge_key(f, append, where, key, value, merged,
				      err);

		if (r < 0)
			return r;
	}
	*out = ab_steal(&merged);
	return 0;
}

int32_t ab_tree_merge(const json_t *base, const json_t *over, json_t **out,
		      agentbox_error **err)
{
	return merge_object(ab_schema, "", base, over, out, err);
}

/* --- settle ------------------------------------------------------------ */

static int32_t settle_hosts(json_t *network, agentbox_error **err)
{
	const json_t *allow = json_object_get(network, "allow");
	const json_t *deny = json_object_get(network, "deny");
	ab_host_set a = { 0 };
	ab_host_set d = { 0 };
	ab_auto(json_t) *kept = NULL;
	size_t used = 0;
	int32_t r = 0;

	if (json_array_size(allow) == 0 || json_array_size(deny) == 0)
		return 0;
	r = ab_tree_to_hosts(allow, "/network/allow", &a, err);
	if (r == 0)
		r = ab_tree_to_hosts(deny, "/network/deny", &d, err);
	for (size_t i = 0; r == 0 && i < a.count; i++)
		if (!ab_host_set_covers(&d, &a.items[i], true))
			a.items[used++] = a.items[i];
	a.count = used;
	if (r == 0) {
		kept = ab_tree_from_hosts(&a);
		if (!kept || json_object_set(network, "allow", kept) < 0)
			r = ab_error_nomem(err);
	}
	ab_host_set_end(&a);
	ab_host_set_end(&d);
	return r;
}

static int32_t settle_syscalls(json_t *syscalls, agentbox_error **err)
{
	const json_t *allow = json_object_get(syscalls, "allow");
	const json_t *deny = json_object_get(syscalls, "deny");
	ab_auto(json_t) *kept = json_array();

	if (json_array_size(allow) == 0 || json_array_size(deny) == 0)
		return 0;
	for (size_t i = 0; kept && i < json_array_size(allow); i++) {
		json_t *v = json_array_get(allow, i);

		if (!ab_tree_has(deny, json_string_value(v)) &&
		    json_array_append(kept, v) < 0)
			return ab_error_nomem(err);
	}
	if (!kept || json_object_set(syscalls, "allow", kept) < 0)
		return ab_error_nomem(err);
	return 0;
}

/* A private copy of a section, because trees share their parts. */
static json_t *own_section(json_t *tree, const char *key)
{
	json_t *section = json_object_get(tree, key);
	ab_auto(json_t) *copy = section ? json_copy(section) : NULL;

	if (!copy || json_object_set(tree, key, copy) < 0)
		return NULL;
	return json_object_get(tree, key);
}

int32_t ab_tree_settle(json_t *tree, agentbox_error **err)
{
	int32_t r = 0;

	if (json_object_get(tree, "network")) {
		json_t *network = own_section(tree, "network");

		r = network ? settle_hosts(network, err) : ab_error_nomem(err);
	}
	if (r == 0 && json_object_get(tree, "syscalls")) {
		json_t *syscalls = own_section(tree, "syscalls");

		r = syscalls ? settle_syscalls(syscalls, err) :
			       ab_error_nomem(err);
	}
	return r;
}
