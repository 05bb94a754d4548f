/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A host that has a route is reached by it alone, so that nobody brings a key
 * of his own there. Routes go where their secret does not come along, or the
 * child says so, and a list of hosts that the parent may reach would then let
 * the child through. What a child has lost so is denied to it, and to its
 * children, as what the parent denies is. Spec: agentbox-policy(5), routes.
 */
#include "config.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "policy/narrow.h"
#include "policy/routes.h"

/* Both lists of records that lead somewhere. */
static const json_t *list_of(const json_t *tree, size_t which)
{
	return which ? ab_tree_get(tree, "tools", "servers") :
		       json_object_get(tree, "routes");
}

static int32_t routed_hosts(ab_narrow *n, const json_t *tree, ab_host_set *out)
{
	size_t most = json_array_size(list_of(tree, 0)) +
		      json_array_size(list_of(tree, 1));
	ab_autofree ab_host *hosts = ab_calloc(most + 1, sizeof(*hosts));
	size_t count = 0;

	if (!hosts)
		return ab_error_nomem(n->err);
	for (size_t which = 0; which < 2; which++) {
		const json_t *list = list_of(tree, which);

		for (size_t i = 0; i < json_array_size(list); i++)
			count += ab_policy_routed_host(
				json_array_get(list, i), &hosts[count]);
	}
	/* without ports there is nothing that could be too many */
	return ab_host_set_init(out, ab_steal(&hosts), count) < 0 ?
		       ab_error_nomem(n->err) : 0;
}

static void drop_kept(ab_host_set *lost, const ab_host_set *kept)
{
	size_t used = 0;

	for (size_t i = 0; i < lost->count; i++)
		if (!ab_host_set_covers(kept, &lost->items[i], true))
			lost->items[used++] = lost->items[i];
	lost->count = used;
}

/* Who names such a host asks for what the parent has not. */
static int32_t judge_asked(ab_narrow *n, const ab_host_set *lost)
{
	const json_t *asked = ab_tree_get(n->child->tree, "network", "allow");
	size_t saved = ab_narrow_enter(n, "network/allow");
	char why[AB_WHY_SIZE];
	int32_t r = 0;

	for (size_t i = 0; r == 0 && i < json_array_size(asked); i++) {
		const json_t *v = json_array_get(asked, i);
		char text[AB_NARROW_TEXT];
		size_t at = ab_narrow_enter_number(n, i);
		ab_host host;

		ab_narrow_text(v, text);
		if (!ab_host_parse(json_string_value(v), &host, why) ||
		    ab_host_set_covers(lost, &host, true))
			r = ab_narrow_cut(n, text, "reaches it by its route");
		ab_narrow_leave(n, at);
	}
	ab_narrow_leave(n, saved);
	return r;
}

static int32_t deny(ab_narrow *n, const ab_host_set *lost)
{
	json_t *shared = json_object_get(n->out, "network");
	const json_t *denied = json_object_get(shared, "deny");
	ab_auto(json_t) *network = json_copy(shared);
	ab_auto(json_t) *joined = ab_tree_from_hosts(lost);
	ab_auto(json_t) *sorted = NULL;
	ab_host_set set = { 0 };
	int32_t r;

	if (!network || !joined ||
	    (denied &&
	     json_array_extend(joined, (json_t *)(uintptr_t)denied) < 0))
		return ab_error_nomem(n->err);
	r = ab_tree_to_hosts(joined, "/network/deny", &set, n->err);
	if (r < 0)
		return r;
	sorted = ab_tree_from_hosts(&set);
	ab_host_set_end(&set);
	if (!sorted || json_object_set(network, "deny", sorted) < 0 ||
	    json_object_set(n->out, "network", network) < 0)
		return ab_error_nomem(n->err);
	return 0;
}

int32_t ab_narrow_routed(ab_narrow *n)
{
	const json_t *network = json_object_get(n->out, "network");
	const char *mode = ab_tree_string(network, "mode");
	ab_host_set lost = { 0 };
	ab_host_set kept = { 0 };
	int32_t r;

	/* there are no routes without a gateway, and no list counts */
	if (!mode || strcmp(mode, "gateway") != 0)
		return 0;
	r = routed_hosts(n, n->parent->tree, &lost);
	if (r == 0)
		r = routed_hosts(n, n->out, &kept);
	if (r == 0)
		drop_kept(&lost, &kept);
	if (r == 0 && lost.count)
		r = judge_asked(n, &lost);
	if (r == 0 && lost.count)
		r = deny(n, &lost);
	ab_host_set_end(&lost);
	ab_host_set_end(&kept);
	return r;
}
