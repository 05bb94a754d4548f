/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The guards: what a host asks before each action of an agent. Soft control:
 * a guard catches mistakes and explains them, and is never the only thing
 * that stands in the way. What it cannot see (a script on disk, repository
 * configuration, a program it does not know) the box stops; agentbox_guard(3)
 * says for each which wall. The one exception are the fd forms of the write
 * guard: agentbox_guard_open() and its kin act on what they judged.
 *
 *   agentbox_guard     shared, immutable: a policy and a root directory.
 *   agentbox_place     what only the program knows: cwd, home, temporary
 *                      directories, the names of the root.
 *   agentbox_decision  one judgement, owned by the caller and used again
 *                      from check to check; it holds the memory of a check,
 *                      so that a check makes no heap allocation once the
 *                      decision has served a similar one.
 *
 * A check returns 0 when it could judge, whatever the verdict; read it with
 * agentbox_decision_get_verdict(). On failure it returns a code and the
 * verdict is DENY. ALLOW is the only verdict under which a host acts without
 * asking somebody.
 */
#ifndef AGENTBOX_GUARD_H
#define AGENTBOX_GUARD_H

#include "agentbox/audit.h"
#include "agentbox/base.h"
#include "agentbox/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Verdicts, from weakest to strongest. NONE counts as DENY. */
#define AGENTBOX_VERDICT_NONE 0
#define AGENTBOX_VERDICT_ALLOW 1
#define AGENTBOX_VERDICT_ASK 2
#define AGENTBOX_VERDICT_DENY 3

/* How bad it would have been. CRITICAL: cannot be undone, or keys are lost. */
#define AGENTBOX_SEVERITY_NONE 0
#define AGENTBOX_SEVERITY_LOW 1
#define AGENTBOX_SEVERITY_MEDIUM 2
#define AGENTBOX_SEVERITY_HIGH 3
#define AGENTBOX_SEVERITY_CRITICAL 4

typedef struct agentbox_guard agentbox_guard;
typedef struct agentbox_place agentbox_place;
typedef struct agentbox_decision agentbox_decision;

/* --- the guard ------------------------------------------------------------ */

/*
 * A guard from a policy and the directory it is about: the team directory
 * when the policy has a role, else the workspace. `root_dirfd` is borrowed
 * and duplicated; -1: no directory, and every path is refused. The policy is
 * kept by reference. *guard has one reference; any thread may use it.
 *
 * Errors: EINVAL (NULL argument; the fd is no directory, or is the root of
 * the file system, or is not the role's team_dir), EPOLICY (engineer without
 * an agent; an agent name that is no name; a worktree that is the root, the
 * team directory, above it or in protected/), ENOTFOUND (the agent's
 * directory or a worktree is not there), ENOMEM, ESYS.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_guard_new(agentbox_policy *policy,
					int32_t root_dirfd,
					agentbox_guard **guard,
					agentbox_error **err);

/* Returns `guard`; NULL gives NULL. Since: 1.0 */
AGENTBOX_API agentbox_guard *agentbox_guard_ref(agentbox_guard *guard);
/* NULL is accepted; errno is kept. Since: 1.0 */
AGENTBOX_API void agentbox_guard_unref(agentbox_guard *guard);

/* --- the place ------------------------------------------------------------ */

/*
 * Where the agent stands, for the checks of text: paths are absolute, as the
 * agent sees them, and are not opened. What is not set is unknown, and the
 * unknown is never inside. One owner; checks on several threads may read a
 * place that nobody is changing.
 * Errors: ENOMEM.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_place_new(agentbox_place **place,
					agentbox_error **err);
AGENTBOX_API void agentbox_place_free(agentbox_place *place);

/*
 * cwd: where relative paths start. home: what `~` and $HOME are. Copied;
 * NULL forgets. Errors of all: EINVAL (NULL place, not absolute, a `..`, a
 * NUL inside), ELIMIT (too long), ENOMEM.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_place_set_cwd(agentbox_place *place,
					    const char *path, size_t n,
					    agentbox_error **err);
AGENTBOX_API int32_t agentbox_place_set_home(agentbox_place *place,
					     const char *path, size_t n,
					     agentbox_error **err);

/*
 * root: the directory in which the agent may change and delete what it
 * likes; without one it is what the guard's policy says (workspace.at, or
 * the path of the root directory). temp: one more directory for temporary
 * files, at most 16 (ELIMIT).
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_place_set_root(agentbox_place *place,
					     const char *path, size_t n,
					     agentbox_error **err);
AGENTBOX_API int32_t agentbox_place_add_temp(agentbox_place *place,
					     const char *path, size_t n,
					     agentbox_error **err);

/* --- the decision --------------------------------------------------------- */

/*
 * A decision before any check: DENY. Every check takes the address of a
 * decision: where that is NULL a new one is made, which the caller then owns
 * as if it had come from here; the next check uses it again. One thread at
 * a time. Borrowed results live until the next check with it.
 * Errors: ENOMEM.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_decision_new(agentbox_decision **decision,
					   agentbox_error **err);
AGENTBOX_API void agentbox_decision_free(agentbox_decision *decision);

/* AGENTBOX_VERDICT_*; DENY for NULL and after a failed check. Since: 1.0 */
AGENTBOX_API int32_t agentbox_decision_get_verdict(
	const agentbox_decision *decision);
/* AGENTBOX_SEVERITY_*. Since: 1.0 */
AGENTBOX_API int32_t agentbox_decision_get_severity(
	const agentbox_decision *decision);

/*
 * The rule that decided ("fs.rm-root"), why (a sentence for a person or an
 * agent), and what to do instead. Borrowed, never NULL; "" when there is
 * none: an ALLOW has neither reason nor alternative.
 * Since: 1.0
 */
AGENTBOX_API const char *agentbox_decision_get_rule(
	const agentbox_decision *decision);
AGENTBOX_API const char *agentbox_decision_get_reason(
	const agentbox_decision *decision);
AGENTBOX_API const char *agentbox_decision_get_alternative(
	const agentbox_decision *decision);

/*
 * Which bytes of the text that was checked it is about: begin to end - 1.
 * For an argv the text is the arguments joined with spaces. 0 and 0 when
 * there is no such place.
 * Since: 1.0
 */
AGENTBOX_API size_t agentbox_decision_get_begin(
	const agentbox_decision *decision);
AGENTBOX_API size_t agentbox_decision_get_end(
	const agentbox_decision *decision);

/*
 * The command that decided as it would be run: quotes gone, constants put
 * in, wrappers peeled off. Argument `i` with its length in *n; NULL past the
 * last one. It may hold any byte; what could not be known is written as in
 * the text, "$X". The wrappers, outermost first ("sudo", "env", "bash -c").
 * Borrowed. Zero and NULL for paths.
 * Since: 1.0
 */
AGENTBOX_API size_t agentbox_decision_get_argc(
	const agentbox_decision *decision);
AGENTBOX_API const char *agentbox_decision_get_arg(
	const agentbox_decision *decision, size_t i, size_t *n);
AGENTBOX_API const char *agentbox_decision_get_wrapper(
	const agentbox_decision *decision, size_t i);

/*
 * One object on one line: verdict, rule, severity, reason, alternative, span,
 * subject (what was checked), config_hash, argv, wrappers, and every finding
 * with the same members. Bytes that are not UTF-8, and NUL, are U+FFFD: the
 * span says where the exact bytes are. *json is owned by the caller.
 * Errors: EINVAL, ELIMIT, ENOMEM.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_decision_to_json(
	const agentbox_decision *decision, agentbox_bytes **json,
	agentbox_error **err);

/*
 * For people: the line that was checked with carets below what was found,
 * the reason, the alternative, the resolved commands, and every rule that
 * fired. Control characters are shown, not sent. *text is owned by the
 * caller. Errors: EINVAL, ELIMIT, ENOMEM.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_decision_explain(
	const agentbox_decision *decision, agentbox_bytes **text,
	agentbox_error **err);

/*
 * Append the decision to an audit as one record of type "guard.decision".
 * A caller that must not act unrecorded acts only when this returns 0.
 * Errors: EINVAL, and those of agentbox_audit_append().
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_decision_record(
	const agentbox_decision *decision, agentbox_audit *audit,
	agentbox_error **err);

#ifdef __cplusplus
}
#endif

#endif
