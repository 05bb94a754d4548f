/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The handle of a scope: a caller, his boxes and grants as they were at one
 * moment, and the list of scoped tools of a policy. Immutable and shared;
 * a later moment is another scope. Spec: agentbox_scope(3).
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "policy/policy.h"
#include "scope/internal.h"

static int32_t invalid(agentbox_error **err)
{
	return ab_error_set(err, AGENTBOX_EINVAL, "",
			    "an argument is NULL that must not be");
}

/* What the policy lists; the four kinds where it says nothing. */
static json_t *tools_of(agentbox_policy *policy)
{
	const json_t *section = ab_policy_section(policy, "/scope");
	const json_t *list = json_object_get(section, "tools");
	json_t *all;

	if (list)
		return json_deep_copy(list);
	all = json_array();
	for (size_t i = 0; all && ab_policy_scope_kinds[i]; i++) {
		const char *kind = ab_policy_scope_kinds[i];

		if (json_array_append_new(all, json_string(kind)) < 0) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}

static void end(agentbox_scope *s)
{
	for (size_t i = 0; s->names && i < s->name_count; i++)
		free(s->names[i].fold);
	for (size_t i = 0; s->families && i < s->family_count; i++)
		free(s->families[i]);
	free(s->names);
	free(s->boxes);
	free(s->addresses);
	free(s->families);
	json_decref(s->document);
	json_decref(s->tools);
	agentbox_policy_unref(s->policy);
	free(s);
}

int32_t ab_scope_make(agentbox_policy *policy, json_t *document,
		      json_t *tools, agentbox_scope **scope,
		      agentbox_error **err)
{
	agentbox_scope *s = ab_new(agentbox_scope);
	int32_t r;

	if (!s || !document || !tools) {
		json_decref(document);
		json_decref(tools);
		agentbox_policy_unref(policy);
		free(s);
		return ab_error_nomem(err);
	}
	atomic_init(&s->references, 1);
	s->policy = policy;
	s->document = document;
	s->tools = tools;
	r = ab_scope_compile(s, err);
	if (r < 0)
		end(s);
	else
		*scope = s;
	return r;
}

int32_t agentbox_scope_new(agentbox_policy *policy, const char *document,
			   size_t n, agentbox_scope **scope,
			   agentbox_error **err)
{
	json_t *kept = NULL;
	int32_t r;

	if (!policy || !document || !scope)
		return invalid(err);
	r = ab_scope_read_document(document, n, &kept, err);
	if (r < 0)
		return r;
	return ab_scope_make(agentbox_policy_ref(policy), kept,
			     tools_of(policy), scope, err);
}

agentbox_scope *agentbox_scope_ref(agentbox_scope *scope)
{
	if (scope)
		atomic_fetch_add_explicit(&scope->references, 1,
					  memory_order_relaxed);
	return scope;
}

void agentbox_scope_unref(agentbox_scope *scope)
{
	if (scope && atomic_fetch_sub_explicit(&scope->references, 1,
					       memory_order_acq_rel) == 1)
		end(scope);
}

/* Sources that were readable and are not any more stay known. */
static int32_t keep_known(const agentbox_scope *s, json_t *document,
			  agentbox_error **err)
{
	const json_t *before = json_object_get(s->document, "grants");
	int32_t r = 0;

	for (size_t i = 0; r == 0 && i < json_array_size(before); i++)
		r = ab_scope_add_other(document, json_array_get(before, i),
				       err);
	return r;
}

int32_t agentbox_scope_refresh(agentbox_scope *scope, const char *grants,
			       size_t n, agentbox_scope **fresh,
			       agentbox_error **err)
{
	ab_auto(json_t) *list = NULL;
	ab_auto(json_t) *document = NULL;
	int32_t r;

	if (!scope || !grants || !fresh)
		return invalid(err);
	r = ab_json_parse(grants, n, AB_SCOPE_MAX_DOCUMENT, &list, NULL, err);
	if (r < 0)
		return r;
	if (!json_is_array(list))
		return ab_error_set(err, AGENTBOX_EPOLICY, "",
				    "grants are an array");
	document = json_deep_copy(scope->document);
	if (!document ||
	    json_object_set_new(document, "grants", json_array()) < 0)
		return ab_error_nomem(err);
	r = ab_scope_take_grants(document, list, err);
	if (r == 0)
		r = keep_known(scope, document, err);
	if (r < 0)
		return r;
	return ab_scope_make(agentbox_policy_ref(scope->policy),
			     ab_steal(&document),
			     json_deep_copy(scope->tools), fresh, err);
}

/* --- questions ------------------------------------------------------------ */

int32_t agentbox_scope_is_scoped(agentbox_scope *scope, const char *tool,
				 size_t n)
{
	return !scope || !tool ||
	       ab_scope_tool(scope, tool, n) != AB_TOOL_OTHER;
}

int32_t agentbox_scope_check(agentbox_scope *scope, const char *tool,
			     size_t tool_n, const char *args, size_t n,
			     agentbox_decision **decision,
			     agentbox_error **err)
{
	struct ab_scope_call call = { .scope = scope,
				      .tool = tool,
				      .tool_len = tool_n,
				      .args = args,
				      .args_len = n };

	return ab_scope_judge(&call, decision, err);
}

int32_t agentbox_scope_blocked(agentbox_scope *scope, const char *tool,
			       size_t tool_n, const char *args, size_t n)
{
	agentbox_decision *d = NULL;
	int32_t r = agentbox_scope_check(scope, tool, tool_n, args, n, &d,
					 NULL);
	int32_t verdict = agentbox_decision_get_verdict(d);

	agentbox_decision_free(d);
	return r < 0 || verdict != AGENTBOX_VERDICT_ALLOW;
}

/* --- parent and child ----------------------------------------------------- */

static bool is_box_of(const agentbox_scope *s, const char *id,
		      enum ab_scope_owner most)
{
	for (size_t i = 0; i < s->box_count; i++)
		if (strcmp(s->boxes[i].id, id) == 0 &&
		    s->boxes[i].owner <= most)
			return true;
	return false;
}

static int32_t no(agentbox_error **err, const char *what, const char *name)
{
	return ab_error_set(err, AGENTBOX_EDENIED, "",
			    "the child's %s '%s' is not the parent's", what,
			    name);
}

/* Every own name of the child's is one of the parent's. */
static int32_t contains_names(const agentbox_scope *parent,
			      const agentbox_scope *child,
			      agentbox_error **err)
{
	for (size_t i = 0; i < child->name_count; i++) {
		const char *text = child->names[i].text;
		enum ab_scope_owner owner =
			child->boxes[child->names[i].box].owner;

		if (owner == AB_SCOPE_OWN && !child->names[i].is_bare &&
		    !ab_scope_is_own(parent, text, strlen(text)))
			return no(err, "own name", text);
	}
	return 0;
}

static bool has_tool(const json_t *list, const char *tool)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(json_string_value(json_array_get(list, i)), tool) ==
		    0)
			return true;
	return false;
}

int32_t agentbox_scope_contains(agentbox_scope *parent, agentbox_scope *child,
				agentbox_error **err)
{
	int32_t r;

	if (!parent || !child)
		return invalid(err);
	r = contains_names(parent, child, err);
	for (size_t i = 0; r == 0 && i < child->box_count; i++)
		if (child->boxes[i].owner == AB_SCOPE_PEER &&
		    !is_box_of(parent, child->boxes[i].id, AB_SCOPE_PEER))
			r = no(err, "grant of", child->boxes[i].id);
	for (size_t i = 0; r == 0 && i < json_array_size(parent->tools); i++) {
		const char *tool =
			json_string_value(json_array_get(parent->tools, i));

		if (!has_tool(child->tools, tool))
			r = ab_error_set(err, AGENTBOX_EDENIED, "",
					 "the child leaves out the scoped tool "
					 "'%s' of the parent", tool);
	}
	return r;
}

/* Both lists, the parent's first. */
static json_t *join_tools(const agentbox_scope *parent,
			  const agentbox_scope *child)
{
	json_t *both = json_deep_copy(parent->tools);

	for (size_t i = 0; both && i < json_array_size(child->tools); i++) {
		json_t *tool = json_array_get(child->tools, i);

		if (!has_tool(both, json_string_value(tool)) &&
		    json_array_append(both, tool) < 0) {
			json_decref(both);
			return NULL;
		}
	}
	return both;
}

/* The members of `key` that the parent has; the rest become others. */
static int32_t cut(const agentbox_scope *parent, json_t *document,
		   const char *key, enum ab_scope_owner most,
		   agentbox_error **err)
{
	json_t *list = json_object_get(document, key);

	for (size_t i = json_array_size(list); i-- > 0;) {
		const json_t *box = json_array_get(list, i);
		const char *id = json_string_value(json_object_get(box, "id"));
		int32_t r;

		if (is_box_of(parent, id, most))
			continue;
		r = ab_scope_add_other(document, box, err);
		if (r < 0)
			return r;
		json_array_remove(list, i);
	}
	return 0;
}

/* The names of a list that are not the child's own. */
static json_t *strange_names(const agentbox_scope *child, const json_t *box,
			     const char *key)
{
	const json_t *list = json_object_get(box, key);
	json_t *out = json_array();

	for (size_t i = 0; out && i < json_array_size(list); i++) {
		json_t *text = json_array_get(list, i);
		const struct ab_scope_name *name = ab_scope_find_name(
			child, json_string_value(text),
			json_string_length(text));

		if (name && child->boxes[name->box].owner == AB_SCOPE_OWN)
			continue;
		if (json_array_append(out, text) < 0) {
			json_decref(out);
			return NULL;
		}
	}
	return out;
}

/* A box of the parent's own that is not the child's, whom he knows now. */
static int32_t know_own(const agentbox_scope *child, json_t *document,
			const json_t *box, agentbox_error **err)
{
	const char *id = json_string_value(json_object_get(box, "id"));
	const struct ab_scope_name *name =
		ab_scope_find_name(child, id, strlen(id));
	ab_auto(json_t) *other = NULL;

	if (name && child->boxes[name->box].owner == AB_SCOPE_OWN)
		return 0;
	other = json_pack("{s:s, s:o*, s:o*}", "id", id, "names",
			  strange_names(child, box, "names"), "aliases",
			  strange_names(child, box, "aliases"));
	if (!other || !json_object_get(other, "names") ||
	    !json_object_get(other, "aliases"))
		return ab_error_nomem(err);
	return ab_scope_add_other(document, other, err);
}

/*
 * Whom the parent may not name the child may not either, and what else is the
 * parent's is somebody else's to him. Of what is not the parent's nothing is
 * the child's by now: cut().
 */
static int32_t know_all(const agentbox_scope *parent,
			const agentbox_scope *child, json_t *document,
			agentbox_error **err)
{
	static const char *const lists[] = { "boxes", "grants", "others" };
	int32_t r = know_own(child, document, parent->document, err);

	for (size_t i = 0; r == 0 && i < AB_ARRAY_LEN(lists); i++) {
		const json_t *list =
			json_object_get(parent->document, lists[i]);

		for (size_t j = 0; r == 0 && j < json_array_size(list); j++) {
			const json_t *box = json_array_get(list, j);

			r = i == 0 ? know_own(child, document, box, err) :
				     ab_scope_add_other(document, box, err);
		}
	}
	return r;
}

int32_t agentbox_scope_narrow(agentbox_scope *parent, agentbox_scope *child,
			      agentbox_scope **out, agentbox_error **err)
{
	ab_auto(json_t) *document = NULL;
	agentbox_scope *cut_down = NULL;
	int32_t r;

	if (!parent || !child || !out)
		return invalid(err);
	if (!is_box_of(parent, child->boxes[0].id, AB_SCOPE_OWN))
		return no(err, "box", child->boxes[0].id);
	document = json_deep_copy(child->document);
	if (!document)
		return ab_error_nomem(err);
	r = cut(parent, document, "boxes", AB_SCOPE_OWN, err);
	if (r == 0)
		r = cut(parent, document, "grants", AB_SCOPE_PEER, err);
	if (r == 0)
		r = know_all(parent, child, document, err);
	if (r == 0)
		r = ab_scope_make(agentbox_policy_ref(child->policy),
				  ab_steal(&document),
				  join_tools(parent, child), &cut_down, err);
	if (r == 0)
		r = contains_names(parent, cut_down, err);
	if (r < 0)
		agentbox_scope_unref(cut_down);
	else
		*out = cut_down;
	return r;
}
