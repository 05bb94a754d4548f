/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a parsed document to a canonical tree. Walks the schema's table and
 * the document together, remembers the way (for the error's position) and
 * writes every value in its one spelling. Refuses whatever the table does
 * not know: an unknown key is an error, because a misspelt restriction must
 * not turn into "inherit" (C12). Spec: policy/tree.h, agentbox-policy(5).
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/context.h"
#include "base/error.h"
#include "base/limits.h"
#include "policy/items.h"
#include "policy/tree.h"
#include "policy/way.h"

typedef struct check {
	const agentbox_context *context;
	ab_way way;
	bool fragment;
	size_t entries;
	char item[AB_ITEM_SIZE];
} check;

static json_t *fail_value(check *c, const char *value, const char *why)
{
	ab_way_fail(&c->way, AGENTBOX_EPOLICY, "\"%.80s%s\" %s", value,
		    strlen(value) > 80 ? "..." : "", why);
	return NULL;
}

static json_t *out_of_memory(check *c)
{
	ab_error_nomem(c->way.err);
	return NULL;
}

static json_t *made(check *c, json_t *value)
{
	return value ? value : out_of_memory(c);
}

static const char *type_name(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
	case JSON_REAL:
		return "a number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "true or false";
	case JSON_NULL:
		return "null";
	}
	return "nothing";
}

static json_t *wrong_type(check *c, const json_t *v, const char *wanted)
{
	ab_way_fail(&c->way, AGENTBOX_EPOLICY, "expected %s, found %s", wanted,
		    type_name(v));
	return NULL;
}

/* --- scalars ----------------------------------------------------------- */

static json_t *check_item(check *c, const ab_field *f, const json_t *v)
{
	const char *s = json_string_value(v);
	char why[AB_WHY_SIZE] = "";

	if (!s)
		return wrong_type(c, v, "a string");
	/* the parser refuses NUL; this would mean that it did not */
	if (strlen(s) != json_string_length(v))
		return fail_value(c, s, "contains NUL");
	if (strcmp(s, "*") == 0 && (f->flags & AB_F_STAR))
		return made(c, json_string("*"));
	if (json_string_length(v) >= AB_ITEM_SIZE)
		return fail_value(c, s, "is too long");
	if (!f->item(s, json_string_length(v), c->item, why))
		return fail_value(c, s, why);
	return made(c, json_string(c->item));
}

static json_t *check_enum(check *c, const ab_field *f, const json_t *v)
{
	const char *s = json_string_value(v);
	char known[160] = "";
	size_t n = 0;

	if (s && ab_schema_index(f, s) >= 0)
		return made(c, json_string(s));
	for (size_t i = 0; f->names[i] && n < sizeof(known); i++)
		n += (size_t)snprintf(known + n, sizeof(known) - n, "%s\"%s\"",
				      !i ? "" : f->names[i + 1] ? ", " : " or ",
				      f->names[i]);
	if (!s)
		return wrong_type(c, v, known);
	ab_way_fail(&c->way, AGENTBOX_EPOLICY,
		    "\"%.80s\" is not known; write %s", s, known);
	return NULL;
}

static json_t *check_int(check *c, const ab_field *f, const json_t *v)
{
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v))
		return wrong_type(c, v,
				  f->flags & AB_F_NONE ?
					  "a whole number or \"none\"" :
					  "a whole number");
	if (n < (json_int_t)f->min || n > (json_int_t)f->max) {
		ab_way_fail(&c->way, AGENTBOX_EPOLICY,
			    "%lld is not between %u and %u", (long long)n,
			    f->min, f->max);
		return NULL;
	}
	return made(c, json_integer(n));
}

static json_t *check_cpus(check *c, const ab_field *f, const json_t *v)
{
	const char *s = json_string_value(v);
	char why[AB_WHY_SIZE];
	uint64_t milli = 0;

	if (json_is_integer(v)) {
		json_int_t n = json_integer_value(v);

		if (n < (f->flags & AB_F_ZERO ? 0 : 1) || n > 1000000) {
			ab_way_fail(&c->way, AGENTBOX_EPOLICY,
				    "%lld is not a count of CPUs; write 2 or "
				    "\"1500m\"", (long long)n);
			return NULL;
		}
		return made(c, json_integer(n));
	}
	if (!s)
		return wrong_type(c, v, "a count of CPUs, 2 or \"1500m\"");
	if (!ab_value_cpus(s, &milli, why))
		return fail_value(c, s, why);
	if (milli % 1000 == 0)
		return made(c, json_integer((json_int_t)(milli / 1000)));
	return made(c, json_sprintf("%um", (unsigned)milli));
}

static json_t *check_unit(check *c, const ab_field *f, const json_t *v)
{
	const char *s = json_string_value(v);
	char why[AB_WHY_SIZE];
	char text[AB_VALUE_SIZE];
	uint64_t a = 0;
	uint64_t b = 0;
	bool good = false;

	if (!s)
		return wrong_type(c, v,
				  f->type == AB_T_SIZE ?
					  "a size such as \"4GiB\"" :
				  f->type == AB_T_DURATION ?
					  "a duration such as \"30m\"" :
					  "a range such as \"1s..60s\"");
	if (f->type == AB_T_SIZE) {
		good = ab_value_size(s, f->flags & AB_F_ZERO, &a, why);
		ab_value_size_text(a, text);
	} else if (f->type == AB_T_DURATION) {
		good = ab_value_duration(s, &a, why);
		ab_value_duration_text(a, text);
	} else {
		good = ab_value_backoff(s, &a, &b, why);
		ab_value_backoff_text(a, b, text);
	}
	if (!good)
		return fail_value(c, s, why);
	return made(c, json_string(text));
}

/* --- lists ------------------------------------------------------------- */

static json_t *check_object(check *c, const ab_field *table, const json_t *v);

static int32_t check_record(check *c, const ab_field *f, json_t *record)
{
	const char *to = ab_tree_string(record, "to");
	const char *access = ab_tree_string(record, "access");

	if (f->rule == AB_R_MOUNTS) {
		bool hide = strcmp(access, "hide") == 0;
		bool from = json_object_get(record, "from");

		if (hide && from)
			return ab_way_fail(&c->way, AGENTBOX_EPOLICY,
					   "\"%.80s\" is hidden; \"from\" has "
					   "no meaning there", to);
		if (!hide && !from)
			return ab_way_fail(&c->way, AGENTBOX_EPOLICY,
					   "the mount at \"%.80s\" has no "
					   "\"from\"", to);
		/* false is what absent means: one spelling */
		if (!json_is_true(json_object_get(record, "exec")))
			json_object_del(record, "exec");
		if (!json_is_true(json_object_get(record, "optional")))
			json_object_del(record, "optional");
	}
	if (f->rule == AB_R_RECORD_SUBSET &&
	    !json_object_get(record, "command") ==
		    !json_object_get(record, "url"))
		return ab_way_fail(&c->way, AGENTBOX_EPOLICY,
				   "server \"%.80s\" needs one of \"command\" "
				   "and \"url\"",
				   ab_tree_string(record, "name"));
	if (f->rule == AB_R_RECORD_SUBSET && !json_object_get(record, "url") &&
	    (json_object_get(record, "ca") ||
	     json_object_get(record, "inject")))
		return ab_way_fail(&c->way, AGENTBOX_EPOLICY,
				   "server \"%.80s\" has no \"url\"; \"ca\" and "
				   "\"inject\" have no meaning there",
				   ab_tree_string(record, "name"));
	return 0;
}

struct seen {
	const char *key;
	size_t number;
};

static int compare_seen(const void *a, const void *b)
{
	const struct seen *x = a;
	const struct seen *y = b;
	int r = strcmp(x->key, y->key);

	return r ? r : x->number < y->number ? -1 : x->number > y->number;
}

/* Two records of one key are an error at the second. */
static int32_t check_unique(check *c, const ab_field *f, const json_t *list)
{
	size_t n = json_array_size(list);
	ab_autofree struct seen *v = ab_calloc(n ? n : 1, sizeof(*v));

	if (!v)
		return ab_error_nomem(c->way.err);
	for (size_t i = 0; i < n; i++)
		v[i] = (struct seen){
			ab_tree_string(json_array_get(list, i), f->key_field), i
		};
	qsort(v, n, sizeof(*v), compare_seen);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(v[i - 1].key, v[i].key) != 0)
			continue;
		ab_way_number(&c->way, v[i].number);
		ab_way_key(&c->way, f->key_field);
		return ab_way_fail(&c->way, AGENTBOX_EPOLICY,
				   "\"%.80s\" is already the \"%s\" of %s[%zu]",
				   v[i].key, f->key_field, f->key,
				   v[i - 1].number);
	}
	return 0;
}

static json_t *check_hosts(check *c, const ab_field *f, const json_t *v)
{
	size_t n = json_array_size(v);
	ab_autofree ab_host *hosts = ab_calloc(n ? n : 1, sizeof(*hosts));
	char why[AB_WHY_SIZE];
	ab_host_set set = { 0 };
	json_t *out;

	if (!hosts)
		return out_of_memory(c);
	for (size_t i = 0; i < n; i++) {
		const json_t *item = json_array_get(v, i);
		const char *s = json_string_value(item);

		ab_way_number(&c->way, i);
		if (!s)
			return wrong_type(c, item, "a host pattern");
		if (!ab_host_parse(s, &hosts[i], why))
			return fail_value(c, s, why);
		if (hosts[i].kind == AB_HOST_ANY && !(f->flags & AB_F_STAR))
			return fail_value(c, s, "cannot stand for everything "
						"here");
		if (c->context && f->rule == AB_R_HOSTS &&
		    ab_host_is_broad(&hosts[i]))
			ab_log(c->context, AGENTBOX_LOG_WARNING,
			       "%s[%zu]: \"%s\" is over-broad", f->key, i, s);
		if (c->context && f->rule == AB_R_HOSTS &&
		    ab_host_is_void(&hosts[i]))
			ab_log(c->context, AGENTBOX_LOG_WARNING,
			       "%s[%zu]: \"%s\" is never reached", f->key, i,
			       s);
		ab_way_leave(&c->way);
	}
	if (ab_host_set_init(&set, ab_steal(&hosts), n) < 0) {
		ab_host_set_end(&set);
		ab_way_fail(&c->way, AGENTBOX_ELIMIT,
			    "one host has more than %d port ranges",
			    AB_HOST_RANGES);
		return NULL;
	}
	out = ab_tree_from_hosts(&set);
	ab_host_set_end(&set);
	return made(c, out);
}

static json_t *check_element(check *c, const ab_field *f, const json_t *v)
{
	if (f->type == AB_T_INTS)
		return check_int(c, f, v);
	if (f->type == AB_T_SET || f->type == AB_T_SEQ)
		return check_item(c, f, v);
	return check_object(c, f->table, v);
}

static json_t *canonical_list(check *c, const ab_field *f, json_t *list)
{
	switch ((enum ab_field_type)f->type) {
	case AB_T_SET:
	case AB_T_INTS:
		return made(c, ab_tree_sorted_set(list,
						  f->flags & AB_F_STAR));
	case AB_T_RECORDS:
		return made(c, ab_tree_sorted_records(list, f->key_field));
	default:
		return json_incref(list);
	}
}

static json_t *check_list(check *c, const ab_field *f, const json_t *v)
{
	bool records = f->type == AB_T_RECORDS || f->type == AB_T_ORDERED;
	size_t max = ab_schema_list_max(f);
	size_t n = json_array_size(v);
	ab_auto(json_t) *list = NULL;

	if (!json_is_array(v))
		return wrong_type(c, v, "a list");
	if (n > max) {
		ab_way_fail(&c->way, AGENTBOX_ELIMIT,
			    "%zu entries; at most %zu", n, max);
		return NULL;
	}
	if (f->type == AB_T_HOSTS)
		return check_hosts(c, f, v);
	list = json_array();
	if (!list)
		return out_of_memory(c);
	for (size_t i = 0; i < n; i++) {
		json_t *item;

		ab_way_number(&c->way, i);
		item = check_element(c, f, json_array_get(v, i));
		if (!item || json_array_append_new(list, item) < 0)
			return item ? out_of_memory(c) : NULL;
		if (records && check_record(c, f, item) < 0)
			return NULL;
		ab_way_leave(&c->way);
	}
	if (records && check_unique(c, f, list) < 0)
		return NULL;
	return canonical_list(c, f, list);
}

static json_t *check_map(check *c, const ab_field *f, const json_t *v)
{
	ab_auto(json_t) *out = json_object();
	const char *key;
	json_t *value;
	char why[AB_WHY_SIZE];

	if (!json_is_object(v))
		return wrong_type(c, v, "an object of strings");
	if (!out)
		return out_of_memory(c);
	if (json_object_size(v) > AB_MAX_POLICY_ENTRIES) {
		ab_way_fail(&c->way, AGENTBOX_ELIMIT, "more than %d entries",
			    AB_MAX_POLICY_ENTRIES);
		return NULL;
	}
	json_object_foreach ((json_t *)(uintptr_t)v, key, value) {
		ab_way_key(&c->way, key);
		if (!f->item(key, strlen(key), c->item, why))
			return fail_value(c, key, why);
		if (!json_is_string(value))
			return wrong_type(c, value, "a string");
		if (json_object_set(out, key, value) < 0)
			return out_of_memory(c);
		ab_way_leave(&c->way);
	}
	return ab_steal(&out);
}

/* --- objects ----------------------------------------------------------- */

static json_t *check_value(check *c, const ab_field *f, const json_t *v)
{
	const char *s = json_string_value(v);

	if ((f->flags & AB_F_NONE) && s && strcmp(s, "none") == 0)
		return made(c, json_string("none"));
	switch ((enum ab_field_type)f->type) {
	case AB_T_STRING:
		return check_item(c, f, v);
	case AB_T_ENUM:
		return check_enum(c, f, v);
	case AB_T_BOOL:
		if (!json_is_boolean(v))
			return wrong_type(c, v, "true or false");
		return made(c, json_boolean(json_is_true(v)));
	case AB_T_INT:
		return check_int(c, f, v);
	case AB_T_CPUS:
		return check_cpus(c, f, v);
	case AB_T_SIZE:
	case AB_T_DURATION:
	case AB_T_BACKOFF:
		return check_unit(c, f, v);
	case AB_T_SET:
	case AB_T_SEQ:
	case AB_T_HOSTS:
	case AB_T_INTS:
	case AB_T_RECORDS:
	case AB_T_ORDERED:
		return check_list(c, f, v);
	case AB_T_OBJECT:
		return check_object(c, f->table, v);
	case AB_T_MAP:
		return check_map(c, f, v);
	}
	return wrong_type(c, v, "something known");
}

static int32_t unknown_key(check *c, const ab_field *table, const char *key)
{
	const char *near;
	bool append;
	size_t n = strlen(key);

	if (n && key[n - 1] == '+') {
		ab_autofree char *plain = ab_memdup0(key, n - 1);

		if (plain && ab_schema_find(table, plain, &append))
			return ab_way_fail(&c->way, AGENTBOX_EPOLICY,
					   "\"%.80s\": only a list can be "
					   "added to; write \"%.80s\"", key,
					   plain);
	}
	near = ab_schema_nearest(table, key);
	if (near)
		return ab_way_fail(&c->way, AGENTBOX_EPOLICY,
				   "unknown key \"%.80s\"; did you mean "
				   "\"%s\"?", key, near);
	return ab_way_fail(&c->way, AGENTBOX_EPOLICY,
			   "unknown key \"%.80s\"; keys of your own start with "
			   "\"x-\"", key);
}

static int32_t check_key(check *c, const ab_field *table, const json_t *object,
			 const char *key, json_t *value, json_t *out)
{
	bool append;
	const ab_field *f = ab_schema_find(table, key, &append);
	json_t *made_value;

	if (strncmp(key, "x-", 2) == 0) {
		if (json_object_set(out, key, value) < 0)
			return ab_error_nomem(c->way.err);
		return 0;
	}
	if (!f)
		return unknown_key(c, table, key);
	if (append && json_object_get(object, f->key))
		return ab_way_fail(&c->way, AGENTBOX_EPOLICY,
				   "both \"%s\" and \"%s\" are given", f->key,
				   key);
	if (c->fragment && c->way.depth == 1 && strcmp(key, "extends") == 0)
		return ab_way_fail(&c->way, AGENTBOX_EPOLICY,
				   "a fragment cannot extend another policy");
	made_value = check_value(c, f, value);
	if (!made_value)
		return ab_way_failed(&c->way);
	/* 0 is "inherit", never "without end" (C07) */
	if (strcmp(f->key, "max_restarts") == 0 &&
	    json_integer_value(made_value) == 0) {
		json_decref(made_value);
		return 0;
	}
	if (json_object_set_new(out, key, made_value) < 0)
		return ab_error_nomem(c->way.err);
	return 0;
}

static json_t *check_object(check *c, const ab_field *table, const json_t *v)
{
	ab_auto(json_t) *out = NULL;
	const char *key;
	json_t *value;

	if (!json_is_object(v))
		return wrong_type(c, v, "an object");
	out = json_object();
	if (!out)
		return out_of_memory(c);
	json_object_foreach ((json_t *)(uintptr_t)v, key, value) {
		ab_way_key(&c->way, key);
		if (check_key(c, table, v, key, value, out) < 0)
			return NULL;
		ab_way_leave(&c->way);
	}
	for (const ab_field *f = table; f->key; f++) {
		if (!(f->flags & AB_F_REQUIRED) ||
		    json_object_get(out, f->key) ||
		    (c->fragment && c->way.depth == 0))
			continue;
		if (f->type == AB_T_INT)
			ab_way_fail(&c->way, AGENTBOX_EPOLICY,
				    "\"%s\" is missing; write \"%s\": 1",
				    f->key, f->key);
		else
			ab_way_fail(&c->way, AGENTBOX_EPOLICY,
				    "\"%s\" is missing", f->key);
		return NULL;
	}
	return ab_steal(&out);
}

/* --- contradictions inside one text ------------------------------------- */

/* `allow` entries that the same text denies entirely. */
static int32_t check_hosts_twice(check *c, const json_t *document,
				 const json_t *tree)
{
	const json_t *allow = ab_tree_get(document, "network", "allow");
	ab_host_set deny = { 0 };
	int32_t r = ab_tree_to_hosts(ab_tree_get(tree, "network", "deny"),
				     "/network/deny",
				     &deny, c->way.err);

	for (size_t i = 0; r == 0 && i < json_array_size(allow); i++) {
		const char *s = json_string_value(json_array_get(allow, i));
		char why[AB_WHY_SIZE];
		ab_host host;

		if (!ab_host_parse(s, &host, why) ||
		    !ab_host_set_covers(&deny, &host, true))
			continue;
		ab_way_key(&c->way, "network");
		ab_way_key(&c->way, "allow");
		ab_way_number(&c->way, i);
		r = ab_way_fail(&c->way, AGENTBOX_EPOLICY,
				"\"%.80s\" is also denied; remove it from one "
				"of the lists", s);
	}
	ab_host_set_end(&deny);
	return r;
}

static int32_t check_syscalls_twice(check *c, const json_t *document,
				    const json_t *tree)
{
	const json_t *allow = ab_tree_get(document, "syscalls", "allow");
	const json_t *deny = ab_tree_get(tree, "syscalls", "deny");

	for (size_t i = 0; i < json_array_size(allow); i++) {
		const char *s = json_string_value(json_array_get(allow, i));

		if (!ab_tree_has(deny, s))
			continue;
		ab_way_key(&c->way, "syscalls");
		ab_way_key(&c->way, "allow");
		ab_way_number(&c->way, i);
		return ab_way_fail(&c->way, AGENTBOX_EPOLICY,
				   "\"%.80s\" is also denied; remove it from "
				   "one of the lists", s);
	}
	return 0;
}

static int32_t check_tree(check *c, const json_t *document, json_t **tree)
{
	ab_auto(json_t) *made_tree = check_object(c, ab_schema, document);

	if (!made_tree)
		return ab_way_failed(&c->way);
	if (check_hosts_twice(c, document, made_tree) < 0 ||
	    check_syscalls_twice(c, document, made_tree) < 0)
		return ab_way_failed(&c->way);
	*tree = ab_steal(&made_tree);
	return 0;
}

int32_t ab_tree_check(const agentbox_context *context, const json_t *document,
		      const ab_json_index *index, bool fragment, json_t **tree,
		      agentbox_error **err)
{
	agentbox_error *local = NULL;
	ab_autofree check *c = ab_new(check);

	if (!c)
		return ab_error_nomem(err);
	c->context = context;
	c->way.index = index;
	c->way.err = &local;
	c->fragment = fragment;
	if (check_tree(c, document, tree) < 0)
		return ab_error_move(err, &local);
	return 0;
}
