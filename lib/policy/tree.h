/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policy as a canonical JSON tree: the form that is merged, narrowed and
 * dumped. Sets are sorted and without repetitions, numbers have one
 * spelling, absent is absent. Internal to lib/policy.
 */
#ifndef AB_POLICY_TREE_H
#define AB_POLICY_TREE_H

#include <stdbool.h>

#include "base/json.h"
#include "net/hosts.h"
#include "policy/schema.h"

/*
 * Check a parsed document against the schema and give its canonical tree,
 * owned. `index` (may be NULL) has the positions. "key+" lists stay as they
 * are until ab_tree_merge(). A fragment needs no "agentbox" and may not
 * have "extends". `context` (may be NULL) hears warnings.
 */
int32_t ab_tree_check(const agentbox_context *context, const json_t *document,
		      const ab_json_index *index, bool fragment, json_t **tree,
		      agentbox_error **err);

/*
 * The checks that only the whole document can fail: contradictions between
 * sections, roles without a kind. `index` gives positions where it can.
 */
int32_t ab_tree_check_whole(const json_t *tree, const ab_json_index *index,
			    agentbox_error **err);

/* Only the places in the box: the workspace and a mount at one target. */
int32_t ab_tree_check_places(const json_t *tree, agentbox_error **err);

/*
 * `over` laid over `base` (may be NULL): keys replace, objects merge, "key+"
 * lists append (records replace one of the same key). Owned.
 */
int32_t ab_tree_merge(const json_t *base, const json_t *over, json_t **out,
		      agentbox_error **err);

/*
 * Take out grants that a restriction of the same document forbids entirely:
 * network.allow under network.deny, syscalls.allow under syscalls.deny.
 * Inherited restrictions lead to that; the grant was void already.
 */
int32_t ab_tree_settle(json_t *tree, agentbox_error **err);

/* The member at a/b of a tree, or NULL. */
json_t *ab_tree_get(const json_t *tree, const char *section, const char *key);
/* Text of a string member, or NULL. */
const char *ab_tree_string(const json_t *object, const char *key);
/* True when the canonical (sorted) set of strings has s. */
bool ab_tree_has(const json_t *set, const char *s);

/* Sorted copy of an array of strings or integers without repetitions. */
json_t *ab_tree_sorted_set(const json_t *array, bool collapse_star);
/* Copy of an array of objects sorted by the string at `key`. */
json_t *ab_tree_sorted_records(const json_t *array, const char *key);

/* Host pattern strings, already canonical, to a set and back; `where` is the
   pointer that an error names. */
int32_t ab_tree_to_hosts(const json_t *array, const char *where,
			 ab_host_set *out, agentbox_error **err);
json_t *ab_tree_from_hosts(const ab_host_set *set);

/* A canonical number back to its value; "none" gives UINT64_MAX. */
uint64_t ab_tree_number(const ab_field *field, const json_t *value);
/* Backoff: both ends. */
void ab_tree_backoff(const json_t *value, uint64_t *low, uint64_t *high);

#endif
