/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policy document: what one box may do, as JSON (agentbox-policy(5)).
 *
 * A policy is immutable and shared: ref/unref, and every function here may
 * be called from any thread. Nothing in this header touches the kernel, a
 * file or the environment: bytes in, judgement out. A policy is itself no
 * wall; the box that is raised from it is (agentbox-sandbox).
 *
 * Errors about a document carry `where`: a JSON pointer and, when the value
 * was in the text that was given, its line:column ("/limits/memory 7:14").
 * The message repeats both for people:
 *   limits.memory: line 7 column 14: "4 GiB" is not a size; write "4GiB"
 *
 * Values are three-state: an absent key inherits (from `extends`, from the
 * parent in narrow), an empty list means nothing, a listed value replaces.
 */
#ifndef AGENTBOX_POLICY_H
#define AGENTBOX_POLICY_H

#include "agentbox/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct agentbox_policy agentbox_policy;

/*
 * Parse `n` untrusted bytes. `extends` is resolved from the built-in
 * policies only: a library reads no file that a document names.
 * The policy keeps a reference to `context`, whose log hears warnings
 * (over-broad patterns, hosts without a network). *policy is owned by the
 * caller.
 * Errors: EINVAL (NULL argument), EPARSE (not JSON, duplicate key, NUL, a
 * real number), ELIMIT (over 1 MiB, depth over 16, too many entries),
 * EPOLICY (unknown key, wrong type, bad value, contradiction), ENOMEM.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_policy_parse(agentbox_context *context,
					   const char *text, size_t n,
					   agentbox_policy **policy,
					   agentbox_error **err);

/*
 * A built-in policy: strict, workspace, review, legacy-home, bare, and the
 * roles manager and engineer; with or without "builtin:" before the name.
 * *policy is owned by the caller.
 * Errors: EINVAL, ENOTFOUND (no such name; the message lists them), ENOMEM.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_policy_builtin(agentbox_context *context,
					     const char *name,
					     agentbox_policy **policy,
					     agentbox_error **err);

/*
 * Name of built-in number `index`, from 0; NULL past the last one. Static.
 * Since: 1.0
 */
AGENTBOX_API const char *agentbox_policy_builtin_name(size_t index);

/* Returns `policy`; NULL gives NULL. Since: 1.0 */
AGENTBOX_API agentbox_policy *agentbox_policy_ref(agentbox_policy *policy);
/* NULL is accepted; errno is kept. Since: 1.0 */
AGENTBOX_API void agentbox_policy_unref(agentbox_policy *policy);

/*
 * A copy with `workspace.path` set to the absolute host path `path` and,
 * unless NULL, `workspace.at` to `at` ("same" or an absolute path in the
 * box). Lexical only: the path is opened when a box is raised.
 * Errors: EINVAL, EPOLICY (not absolute, refused target), ENOMEM.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_policy_with_workspace(agentbox_policy *policy,
						    const char *path,
						    const char *at,
						    agentbox_policy **out,
						    agentbox_error **err);

/*
 * Lay the fragment `json` (a policy document in which "agentbox" may be
 * left out and "extends" may not appear) over `base` exactly as a document
 * lies over the one it extends: a key replaces, "key+" appends to a list.
 * This is the host speaking: the result may be wider than `base`.
 * Errors as agentbox_policy_parse().
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_policy_merge(agentbox_policy *base,
					   const char *json, size_t n,
					   agentbox_policy **out,
					   agentbox_error **err);

/*
 * `child` cut to `parent`: what the child asks for and the parent holds.
 * What the child leaves out it inherits, except secrets and lists of names
 * that stand for credentials, which it must name. Deny lists, protected
 * paths, required walls and read-only parts of the parent stay in force.
 * Both documents speak of the same host paths.
 * For every pair: agentbox_policy_contains(parent, *out) is 0.
 * Errors: EINVAL, EDENIED (the child cannot be cut to fit: its workspace
 * lies outside everything the parent holds), ELIMIT, ENOMEM.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_policy_narrow(agentbox_policy *parent,
					    agentbox_policy *child,
					    agentbox_policy **out,
					    agentbox_error **err);

/*
 * 0 when `child` asks for nothing that `parent` does not hold; what narrow
 * would inherit is not asked for. AGENTBOX_EDENIED otherwise: `where` is
 * the JSON pointer, in the child's canonical dump, of the first thing that
 * asks for more, and the message names both sides.
 * Other errors: EINVAL, ENOMEM. Anything but 0 means no.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_policy_contains(agentbox_policy *parent,
					      agentbox_policy *child,
					      agentbox_error **err);

/*
 * The canonical dump: one line of JSON, `extends` resolved, keys sorted,
 * values in canonical spelling, sets sorted. Parsing it gives an equal
 * policy. *json is owned by the caller. Errors: EINVAL, ENOMEM.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_policy_to_json(agentbox_policy *policy,
					     agentbox_bytes **json,
					     agentbox_error **err);

/*
 * "sha256:<hex>" over exactly the bytes of agentbox_policy_to_json(), the
 * `config_hash` of the audit. Borrowed; "" for NULL.
 * Since: 1.0
 */
AGENTBOX_API const char *agentbox_policy_get_digest(agentbox_policy *policy);

/* `name`, borrowed; "" when the document has none or for NULL. Since: 1.0 */
AGENTBOX_API const char *agentbox_policy_get_name(agentbox_policy *policy);

/* 1 when the policy raises no wall (mode "bare"), else 0. Since: 1.0 */
AGENTBOX_API int32_t agentbox_policy_is_bare(agentbox_policy *policy);

#ifdef __cplusplus
}
#endif

#endif
