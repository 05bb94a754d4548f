/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scope: reading another sandbox's code must not become acting on it. A scope
 * is a caller, the sandboxes that are his, and the grants by which he reads
 * others. A host asks it about each tool call of the caller, before the call.
 * Soft control: it reads what a request says (DESIGN.md section 12, layers 1,
 * 2 and 4); what a process then does is for the walls and the shield.
 *
 *   agentbox_scope   shared, immutable: as things were at one moment
 *   agentbox_pass    one call to one sandbox that somebody allowed
 *
 * Some tools are *scoped* (database, secrets, deployment, observability, or
 * what the policy's scope.tools lists): in a call of one the caller may name
 * no sandbox but his own. Any other tool is left alone, and the host gets a
 * hint when the call names a sandbox that the caller can read.
 *
 * Nothing here touches the kernel, keeps memory between calls or takes longer
 * than linear time; agentbox_scope(3) says what is found and what is not.
 */
#ifndef AGENTBOX_SCOPE_H
#define AGENTBOX_SCOPE_H

#include "agentbox/audit.h"
#include "agentbox/base.h"
#include "agentbox/guard.h"
#include "agentbox/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct agentbox_scope agentbox_scope;
typedef struct agentbox_pass agentbox_pass;

/*
 * A scope from a policy (its list of scoped tools) and a JSON document:
 *
 *   {"id": "sb-1",                      the caller's sandbox
 *    "names": ["ada"],                  what else it is called
 *    "aliases": ["ada.preview.test"],   where it is found: hosts, databases
 *    "boxes": [{"id", "names", "aliases"}],    more sandboxes of the caller
 *    "grants": [...],                   as agentbox_peering_list() gives them
 *    "others": [{"id", "names", "aliases"}]}   whom else the host knows
 *
 * All but the id may be left out. Of a grant `source` counts, `name` (below
 * .shared; default: the source), `names` and `aliases`; one of another reader
 * or that is not live makes its boxes others. The policy is kept by reference,
 * the document is copied. *scope has one reference; any thread may use it.
 *
 * Ids and names are 1 to 64 of A-Z a-z 0-9 . _ - and begin with a letter or
 * digit, aliases 2 to 255 printable characters without space and quotes:
 * nothing else can be written into a prompt by who names a sandbox.
 *
 * Errors: EINVAL, EPARSE (no JSON), EPOLICY (not such a document; a name that
 * is the caller's and somebody else's), ELIMIT (4096 names, 4 MiB), ENOMEM.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_scope_new(agentbox_policy *policy,
					const char *document, size_t n,
					agentbox_scope **scope,
					agentbox_error **err);

/* Returns `scope`; NULL gives NULL. Since: 1.0 */
AGENTBOX_API agentbox_scope *agentbox_scope_ref(agentbox_scope *scope);
/* NULL is accepted; errno is kept. Since: 1.0 */
AGENTBOX_API void agentbox_scope_unref(agentbox_scope *scope);

/*
 * A scope of the same caller with these grants instead; who was readable
 * before is then somebody else. `scope` stays as it is.
 * Errors: those of agentbox_scope_new().
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_scope_refresh(agentbox_scope *scope,
					    const char *grants, size_t n,
					    agentbox_scope **fresh,
					    agentbox_error **err);

/*
 * `child` cut to `parent`: its sandboxes and grants that the parent has, its
 * list of scoped tools with the parent's added, and everybody whom the parent
 * knows: what is the parent's and not the child's is somebody else's to it.
 * agentbox_scope_contains(parent, *out) is 0.
 * Errors: EINVAL, EDENIED (the child's own sandbox or one of its names is not
 * the parent's), ELIMIT, ENOMEM.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_scope_narrow(agentbox_scope *parent,
					   agentbox_scope *child,
					   agentbox_scope **out,
					   agentbox_error **err);

/*
 * 0 when the child's own sandboxes are the parent's, it reads nobody the
 * parent does not, and no tool is scoped for the parent only. EDENIED says
 * what is too much; other errors: EINVAL. Anything but 0 means no.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_scope_contains(agentbox_scope *parent,
					     agentbox_scope *child,
					     agentbox_error **err);

/*
 * 1 when the tool is scoped, or NULL, or has a name that cannot be read;
 * else 0.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_scope_is_scoped(agentbox_scope *scope,
					      const char *tool, size_t n);

/*
 * May the caller make this call? `tool` is the tool's name as the agent calls
 * it, with whatever prefix the host gives it; `args` n bytes of JSON, none for
 * a call without arguments. *decision is used or made; its kind is "scope",
 * its subject the arguments, its place a span of them and a JSON pointer.
 *
 * DENY: a scoped tool names another sandbox, or one that cannot be told from
 * another, at any depth, in keys or values, encoded or disguised; or the
 * arguments are not JSON that means one thing (any tool), or more than can be
 * looked through. ASK: a scoped tool has a value that is a word and also the
 * name of a sandbox. Whoever is named, and whether he exists, the answer is
 * the same.
 *
 * Errors: EINVAL (NULL), ENOMEM; the verdict is DENY then.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_scope_check(agentbox_scope *scope,
					  const char *tool, size_t tool_n,
					  const char *args, size_t n,
					  agentbox_decision **decision,
					  agentbox_error **err);

/*
 * 0 when the verdict is ALLOW, 1 for everything else: ASK, DENY and every
 * error.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_scope_blocked(agentbox_scope *scope,
					    const char *tool, size_t tool_n,
					    const char *args, size_t n);

/*
 * What to add to the request for permission: which readable sandboxes the
 * call of a tool that is not scoped names, and where, as JSON:
 *
 *   {"hints": [{"sandbox", "path", "where", "span", "key", "encoded", "text"}],
 *    "left_out": 0, "partial": false}
 *
 * At most 32; `partial` when not all could be looked at. `text` is a sentence
 * that holds ids, the name below .shared and a place and nothing else of the
 * call. The call itself is not changed. *json is owned by the caller.
 * Errors: EINVAL, ENOMEM.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_scope_hint(agentbox_scope *scope,
					 const char *tool, size_t tool_n,
					 const char *args, size_t n,
					 agentbox_bytes **json,
					 agentbox_error **err);

/*
 * What the agent is told: its own id, and one sentence for each live grant, a
 * line each. *text is owned by the caller.
 * Errors: EINVAL, ELIMIT, ENOMEM.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_scope_prompt(agentbox_scope *scope,
					   agentbox_bytes **text,
					   agentbox_error **err);

/* --- passes --------------------------------------------------------------- */

/*
 * Somebody allowed one call of one tool to one sandbox: `tool` as the agent
 * calls it, `target` an id of the scope that is not the caller's. It holds for
 * `ttl_ms` (1 to 3600000) and for one call. Both sandboxes get a record
 * "scope.pass" in `audit`; what cannot be recorded is not allowed. The scope
 * and the audit are kept by reference.
 *
 * Errors: EINVAL (NULL, a bad time or name), ENOTFOUND (no such sandbox in
 * this scope), ENOMEM, those of agentbox_audit_append().
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_pass_new(agentbox_scope *scope,
				       const char *tool, size_t tool_n,
				       const char *target, int64_t ttl_ms,
				       agentbox_audit *audit,
				       agentbox_pass **pass,
				       agentbox_error **err);
AGENTBOX_API void agentbox_pass_free(agentbox_pass *pass);

/*
 * agentbox_scope_check() with a pass. When the target is all that stands in
 * the way, the pass is used up, both sandboxes get a record
 * "scope.pass-used", and the verdict is ALLOW. An expired or used one, another
 * tool or another target as well: as if there were no pass. Of several threads
 * one gets it.
 * Errors: those of agentbox_scope_check() and agentbox_audit_append(); the
 * verdict is DENY then, and the pass may be gone.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_pass_check(agentbox_pass *pass,
					 const char *tool, size_t tool_n,
					 const char *args, size_t n,
					 agentbox_decision **decision,
					 agentbox_error **err);

#ifdef __cplusplus
}
#endif

#endif
