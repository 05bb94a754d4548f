/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policy handle: parse, extend, merge, dump. Everything a policy can be
 * goes through ab_policy_make(), so there is no policy that was not checked
 * as a whole and has no digest. Refuses to read files and the environment.
 * Spec: agentbox/policy.h, DESIGN.md section 5.
 */
#include "config.h"

#include "policy/handle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agentbox/policy.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "policy/builtins.h"
#include "policy/tree.h"

#define BUILTIN_PREFIX "builtin:"

static int32_t builtin_tree(const char *name, unsigned depth, json_t **tree,
			    agentbox_error **err);

/* "strict, workspace, ..." for messages. */
static void list_builtins(char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; ab_builtins[i].name; i++) {
		size_t len = strlen(ab_builtins[i].name);

		if (n + len + 3 > size)
			return;
		if (n) {
			memcpy(out + n, ", ", 2);
			n += 2;
		}
		memcpy(out + n, ab_builtins[i].name, len + 1);
		n += len;
	}
}

static const ab_builtin *find_builtin(const char *name)
{
	if (strncmp(name, BUILTIN_PREFIX, strlen(BUILTIN_PREFIX)) == 0)
		name += strlen(BUILTIN_PREFIX);
	for (const ab_builtin *b = ab_builtins; b->name; b++)
		if (strcmp(b->name, name) == 0)
			return b;
	return NULL;
}

static int32_t refuse_extends(const char *name, const ab_json_index *index,
			      agentbox_error **err)
{
	char known[160];
	char position[64] = "";
	char where[64] = "/extends";
	unsigned line;
	unsigned column;

	if (index &&
	    ab_json_index_find(index, "/extends", &line, &column) == 0) {
		snprintf(where, sizeof(where), "/extends %u:%u", line, column);
		snprintf(position, sizeof(position), "line %u column %u: ",
			 line, column);
	}
	list_builtins(known, sizeof(known));
	return ab_error_set(err, AGENTBOX_EPOLICY, where,
			    "extends: %s\"%.80s\" is not a built-in policy; "
			    "write \"builtin:NAME\" with one of %s",
			    position, name, known);
}

/* Lay a checked tree over what it extends, or over nothing. */
static int32_t extend(const json_t *over, const ab_json_index *index,
		      unsigned depth, json_t **out, agentbox_error **err)
{
	const char *name = ab_tree_string(over, "extends");
	ab_auto(json_t) *base = NULL;
	ab_auto(json_t) *merged = NULL;
	int32_t r;

	if (name) {
		if (strncmp(name, BUILTIN_PREFIX, strlen(BUILTIN_PREFIX)) ||
		    !find_builtin(name))
			return refuse_extends(name, index, err);
		if (depth >= AB_MAX_EXTENDS)
			return ab_error_set(err, AGENTBOX_ELIMIT, "/extends",
					    "extends: more than %d policies "
					    "extend one another",
					    AB_MAX_EXTENDS);
		r = builtin_tree(name, depth + 1, &base, err);
		if (r < 0)
			return r;
	}
	r = ab_tree_merge(base, over, &merged, err);
	if (r < 0)
		return r;
	json_object_del(merged, "extends");
	*out = ab_steal(&merged);
	return 0;
}

static int32_t parse_tree(const agentbox_context *context, const char *text,
			  size_t n, bool fragment, json_t **tree,
			  ab_json_index **index, agentbox_error **err)
{
	ab_auto(json_t) *document = NULL;
	int32_t r;

	if (n > AB_MAX_POLICY_BYTES)
		return ab_error_set(err, AGENTBOX_ELIMIT, "",
				    "the policy document has %zu bytes; at "
				    "most %u are read", n,
				    AB_MAX_POLICY_BYTES);
	r = ab_json_parse(text, n, AB_MAX_POLICY_BYTES, &document, index, err);
	if (r < 0)
		return r;
	return ab_tree_check(context, document, *index, fragment, tree, err);
}

static int32_t builtin_tree(const char *name, unsigned depth, json_t **tree,
			    agentbox_error **err)
{
	const ab_builtin *b = find_builtin(name);
	ab_auto(ab_json_index) *index = NULL;
	ab_auto(json_t) *checked = NULL;
	int32_t r;

	r = parse_tree(NULL, b->document, strlen(b->document), false, &checked,
		       &index, err);
	if (r < 0)
		return r;
	return extend(checked, index, depth, tree, err);
}

/* --- the handle -------------------------------------------------------- */

static int32_t fill(agentbox_policy *p, agentbox_error **err)
{
	int32_t r = ab_json_canonical(p->tree, &p->text, err);

	if (r < 0)
		return r;
	ab_digest(agentbox_bytes_get_data(p->text),
		  agentbox_bytes_get_size(p->text), p->digest);
	return ab_policy_compile(p->tree, &p->plain, err);
}

int32_t ab_policy_make(agentbox_context *context, json_t **tree,
		       const ab_json_index *index, agentbox_policy **out,
		       agentbox_error **err)
{
	ab_auto(agentbox_policy) *p = NULL;
	int32_t r;

	r = ab_tree_settle(*tree, err);
	if (r < 0)
		return r;
	r = ab_tree_check_whole(*tree, index, err);
	if (r < 0)
		return r;
	p = ab_new(agentbox_policy);
	if (!p)
		return ab_error_nomem(err);
	atomic_init(&p->references, 1);
	atomic_init(&p->cache, NULL);
	p->context = ab_context_use(context);
	p->tree = ab_steal(tree);
	r = fill(p, err);
	if (r < 0)
		return r;
	*out = ab_steal(&p);
	return 0;
}

agentbox_policy *agentbox_policy_ref(agentbox_policy *policy)
{
	if (policy)
		atomic_fetch_add_explicit(&policy->references, 1,
					  memory_order_relaxed);
	return policy;
}

void agentbox_policy_unref(agentbox_policy *policy)
{
	int saved = errno;
	void *cached;

	if (!policy || atomic_fetch_sub_explicit(&policy->references, 1,
						 memory_order_acq_rel) != 1)
		return;
	cached = atomic_load(&policy->cache);
	if (cached && policy->cache_end)
		policy->cache_end(cached);
	ab_policy_plain_end(&policy->plain);
	agentbox_bytes_free(policy->text);
	json_decref(policy->tree);
	agentbox_context_unref(policy->context);
	free(policy);
	errno = saved;
}

/* Who lists hosts wants a network, and the mode alone gives one. */
static void warn_of_mode(agentbox_context *context, const json_t *document,
			 const json_t *tree)
{
	const char *mode = ab_tree_string(json_object_get(tree, "network"),
					  "mode");
	const json_t *network = json_object_get(document, "network");

	if ((!mode || !strcmp(mode, "none")) &&
	    (json_array_size(json_object_get(network, "allow")) ||
	     json_array_size(json_object_get(network, "allow+"))))
		ab_log(context, AGENTBOX_LOG_WARNING,
		       "network.allow: nothing of it is reached while "
		       "network.mode is \"none\"; write \"gateway\"");
}

int32_t agentbox_policy_parse(agentbox_context *context, const char *text,
			      size_t n, agentbox_policy **policy,
			      agentbox_error **err)
{
	ab_auto(json_t) *checked = NULL;
	ab_auto(json_t) *tree = NULL;
	ab_auto(ab_json_index) *index = NULL;
	int32_t r;

	if (!context || !text || !policy)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "policy_parse: an argument is NULL");
	r = parse_tree(context, text, n, false, &checked, &index, err);
	if (r < 0)
		return r;
	r = extend(checked, index, 0, &tree, err);
	if (r < 0)
		return r;
	warn_of_mode(context, checked, tree);
	return ab_policy_make(context, &tree, index, policy, err);
}

int32_t agentbox_policy_builtin(agentbox_context *context, const char *name,
				agentbox_policy **policy, agentbox_error **err)
{
	ab_auto(json_t) *tree = NULL;
	char known[160];
	int32_t r;

	if (!context || !name || !policy)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "policy_builtin: an argument is NULL");
	if (!find_builtin(name)) {
		list_builtins(known, sizeof(known));
		return ab_error_set(err, AGENTBOX_ENOTFOUND, "",
				    "there is no built-in policy '%.80s'; "
				    "there are %s", name, known);
	}
	r = builtin_tree(name, 0, &tree, err);
	if (r < 0)
		return r;
	return ab_policy_make(context, &tree, NULL, policy, err);
}

const char *agentbox_policy_builtin_name(size_t index)
{
	for (size_t i = 0; ab_builtins[i].name; i++)
		if (i == index)
			return ab_builtins[i].name;
	return NULL;
}

int32_t agentbox_policy_merge(agentbox_policy *base, const char *json,
			      size_t n, agentbox_policy **out,
			      agentbox_error **err)
{
	ab_auto(json_t) *checked = NULL;
	ab_auto(json_t) *tree = NULL;
	ab_auto(ab_json_index) *index = NULL;
	int32_t r;

	if (!base || !json || !out)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "policy_merge: an argument is NULL");
	r = parse_tree(base->context, json, n, true, &checked, &index, err);
	if (r < 0)
		return r;
	r = ab_tree_merge(base->tree, checked, &tree, err);
	if (r < 0)
		return r;
	return ab_policy_make(base->context, &tree, index, out, err);
}

int32_t agentbox_policy_with_workspace(agentbox_policy *policy,
				       const char *path, const char *at,
				       agentbox_policy **out,
				       agentbox_error **err)
{
	ab_auto(json_t) *fragment = NULL;
	ab_auto(json_t) *checked = NULL;
	ab_auto(json_t) *tree = NULL;
	int32_t r;

	if (!policy || !path || !out)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "policy_with_workspace: an argument is "
				    "NULL");
	/* jansson takes UTF-8 only; a path that is none cannot be in JSON */
	fragment = at ? json_pack("{s:{s:s,s:s}}", "workspace", "path", path,
				  "at", at) :
			json_pack("{s:{s:s}}", "workspace", "path", path);
	if (!fragment)
		return ab_error_set(err, AGENTBOX_EPOLICY, "/workspace/path",
				    "workspace.path: '%.200s' is not UTF-8, "
				    "which JSON cannot carry", path);
	r = ab_tree_check(policy->context, fragment, NULL, true, &checked, err);
	if (r < 0)
		return r;
	r = ab_tree_merge(policy->tree, checked, &tree, err);
	if (r < 0)
		return r;
	return ab_policy_make(policy->context, &tree, NULL, out, err);
}

int32_t agentbox_policy_to_json(agentbox_policy *policy, agentbox_bytes **json,
				agentbox_error **err)
{
	agentbox_bytes *copy;

	if (!policy || !json)
		return ab_error_set(err, AGENTBOX_EINVAL, "",
				    "policy_to_json: an argument is NULL");
	copy = ab_bytes_from(agentbox_bytes_get_data(policy->text),
			     agentbox_bytes_get_size(policy->text));
	if (!copy)
		return ab_error_nomem(err);
	*json = copy;
	return 0;
}

const char *agentbox_policy_get_digest(agentbox_policy *policy)
{
	return policy ? policy->digest : "";
}

const char *agentbox_policy_get_name(agentbox_policy *policy)
{
	return policy && policy->plain.policy.name ? policy->plain.policy.name :
						     "";
}

int32_t agentbox_policy_is_bare(agentbox_policy *policy)
{
	return policy && policy->plain.policy.mode == AB_MODE_BARE;
}

/* --- for other rooms --------------------------------------------------- */

const ab_policy *ab_policy_get(const agentbox_policy *policy)
{
	return &policy->plain.policy;
}

const void *ab_policy_section(const agentbox_policy *policy, const char *key)
{
	return json_object_get(policy->tree, key[0] == '/' ? key + 1 : key);
}

const char *ab_policy_feature_name(uint32_t feature)
{
	return feature < AB_FEATURE_COUNT ? ab_schema_features[feature] : NULL;
}

const char *ab_policy_limit_name(uint32_t limit)
{
	return limit < AB_LIMIT_COUNT ? ab_schema_limits[limit] : NULL;
}

void *ab_policy_cache_get(const agentbox_policy *policy)
{
	return atomic_load(&((agentbox_policy *)(uintptr_t)policy)->cache);
}

void *ab_policy_cache_put(agentbox_policy *policy, void *value,
			  void (*end)(void *value))
{
	void *expected = NULL;

	if (!atomic_compare_exchange_strong(&policy->cache, &expected, value)) {
		end(value);
		return expected;
	}
	/* one caller wins, and unref happens after every use */
	policy->cache_end = end;
	return value;
}
