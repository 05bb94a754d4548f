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
 * team directory, above it or in protected/), ENOTFOUND (the policy's team_dir
 * is not there), EACCES, ENOMEM, ESYS. A directory of the agent or a worktree
 * that is not there is no error: it gives nothing, and a worktree gives
 * nothing until a new guard is made.
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

/* --- paths ---------------------------------------------------------------- */

/* What is about to be done with a path. */
#define AGENTBOX_ACTION_READ 1
/* change the contents; make the file where there is none */
#define AGENTBOX_ACTION_WRITE 2
#define AGENTBOX_ACTION_CREATE 3
#define AGENTBOX_ACTION_MKDIR 4
#define AGENTBOX_ACTION_DELETE 5
/* the name that a rename takes away, and the one that it gives */
#define AGENTBOX_ACTION_RENAME 6
#define AGENTBOX_ACTION_REPLACE 7
/* the file that a hard link gives another name; the new name is CREATE */
#define AGENTBOX_ACTION_LINK 8
#define AGENTBOX_ACTION_SYMLINK 9
#define AGENTBOX_ACTION_CHMOD 10
#define AGENTBOX_ACTION_TRUNCATE 11
#define AGENTBOX_ACTION_UTIME 12
/* extended attributes, ACLs among them */
#define AGENTBOX_ACTION_XATTR 13
/* always refused */
#define AGENTBOX_ACTION_CHOWN 14
#define AGENTBOX_ACTION_MKNOD 15
/* the name of a UNIX socket */
#define AGENTBOX_ACTION_BIND 16

/*
 * Judge one action on the path of n bytes. A relative path starts at `dirfd`,
 * which is -1 for the root or a directory at or below it (borrowed); an
 * absolute one must begin with a name of the root or of a worktree. The
 * working directory of the process never counts.
 *
 * First the shape: no `..`, NUL, empty path, nothing too long. Then the real
 * place, as the kernel resolves it through links. A path outside is refused
 * with the reason "Path escapes workspace.". DELETE, RENAME, REPLACE, LINK,
 * MKDIR, SYMLINK and BIND mean a link at the end itself, the others what it
 * leads to. Nothing need exist.
 *
 * The answer is about now: between a check and a later open(2) of the same
 * path the tree can change. The functions below have no such window.
 * Errors: EINVAL (NULL, unknown action, dirfd below -1), EFORKED, ELIMIT,
 * ENOMEM; the verdict is then DENY.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_guard_check_path(agentbox_guard *guard,
					       int32_t action, int32_t dirfd,
					       const char *path, size_t n,
					       agentbox_decision **decision,
					       agentbox_error **err);

/*
 * 1 when the path, seen from the root, may be written, else 0: every error
 * is 0 too.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_guard_allow_write(agentbox_guard *guard,
						const char *path, size_t n);

/* --- acting on paths ------------------------------------------------------ */

/*
 * Each of these judges as agentbox_guard_check_path() and then acts on what
 * it judged: the object is reached from the guard's own directory fd without
 * following a link that was not judged, so nothing that happens in the tree
 * meanwhile leads the call elsewhere.
 *
 * They return 0 when it is done. AGENTBOX_EDENIED: the guard refused, the
 * message is the reason. The decision says so too; `decision` may be NULL.
 * Other errors: those of a check; ENOTFOUND, EEXIST, EACCES, ESYS as the
 * kernel answered; EBUSY: the path would not hold still.
 */

#define AGENTBOX_OPEN_READ 1
#define AGENTBOX_OPEN_WRITE 2
/* the next four with WRITE only */
#define AGENTBOX_OPEN_CREATE 4
/* with CREATE: AGENTBOX_EEXIST when there is anything, a link included */
#define AGENTBOX_OPEN_EXCLUSIVE 8
#define AGENTBOX_OPEN_TRUNCATE 16
#define AGENTBOX_OPEN_APPEND 32
/* with READ only: a directory and nothing else */
#define AGENTBOX_OPEN_DIRECTORY 64
/* a link at the end is refused */
#define AGENTBOX_OPEN_NOFOLLOW 128

/*
 * Open a file, or with DIRECTORY a directory. `mode` (at most 0777) is for a
 * file that is made, as in open(2). *fd is the caller's, CLOEXEC. Never
 * blocks on a FIFO, never opens a device. Nothing is truncated before the
 * open file was judged.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_guard_open(agentbox_guard *guard, uint32_t flags,
					 uint32_t mode, int32_t dirfd,
					 const char *path, size_t n,
					 int32_t *fd,
					 agentbox_decision **decision,
					 agentbox_error **err);

/*
 * With `parents` not 0 the directories above are made as well, and one that
 * is there already is no error.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_guard_mkdir(agentbox_guard *guard,
					  int32_t dirfd, const char *path,
					  size_t n, uint32_t mode,
					  int32_t parents,
					  agentbox_decision **decision,
					  agentbox_error **err);

/* A file, link or socket; an empty directory. Since: 1.0 */
AGENTBOX_API int32_t agentbox_guard_unlink(agentbox_guard *guard,
					   int32_t dirfd, const char *path,
					   size_t n,
					   agentbox_decision **decision,
					   agentbox_error **err);
AGENTBOX_API int32_t agentbox_guard_rmdir(agentbox_guard *guard,
					  int32_t dirfd, const char *path,
					  size_t n,
					  agentbox_decision **decision,
					  agentbox_error **err);

/* AGENTBOX_EEXIST when `to` is there */
#define AGENTBOX_RENAME_NOREPLACE 1
/* both names change places */
#define AGENTBOX_RENAME_EXCHANGE 2

/* Both ends are judged. Since: 1.0 */
AGENTBOX_API int32_t agentbox_guard_rename(
	agentbox_guard *guard, int32_t from_dirfd, const char *from,
	size_t from_n, int32_t to_dirfd, const char *to, size_t to_n,
	uint32_t flags, agentbox_decision **decision, agentbox_error **err);

/*
 * Another name for a regular file; both ends are judged. From then on the
 * guard lets neither be written.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_guard_link(
	agentbox_guard *guard, int32_t from_dirfd, const char *from,
	size_t from_n, int32_t to_dirfd, const char *to, size_t to_n,
	agentbox_decision **decision, agentbox_error **err);

/*
 * A symbolic link. Its text must be relative and, read from where the link
 * is, stay in the directory that may be written; nothing need be there.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_guard_symlink(
	agentbox_guard *guard, const char *text, size_t text_n, int32_t dirfd,
	const char *path, size_t n, agentbox_decision **decision,
	agentbox_error **err);

/* At most 0777: no set-id bits (EINVAL). Since: 1.0 */
AGENTBOX_API int32_t agentbox_guard_chmod(agentbox_guard *guard,
					  int32_t dirfd, const char *path,
					  size_t n, uint32_t mode,
					  agentbox_decision **decision,
					  agentbox_error **err);

/* Since: 1.0 */
AGENTBOX_API int32_t agentbox_guard_truncate(agentbox_guard *guard,
					     int32_t dirfd, const char *path,
					     size_t n, uint64_t size,
					     agentbox_decision **decision,
					     agentbox_error **err);

/* Nanoseconds since 1970. Since: 1.0 */
AGENTBOX_API int32_t agentbox_guard_set_times(agentbox_guard *guard,
					      int32_t dirfd, const char *path,
					      size_t n, int64_t access_ns,
					      int64_t modify_ns,
					      agentbox_decision **decision,
					      agentbox_error **err);

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

/* --- git ------------------------------------------------------------------ */

/*
 * May the agent run this git command? `count` arguments with their lengths,
 * the first is git, a path to it, or a program that passes on to it; anything
 * else is DENY. No shell reads them: quotes and $ mean nothing. `place` may be
 * NULL: then nothing is known but the guard's root. *decision is used or made.
 *
 * Reading, adding and committing is allowed; what moves branches, touches a
 * remote, loses work, runs programs or changes configuration is denied; what
 * all worktrees share is asked about, and so is what the table does not know.
 * With the policy's git.profile "strict", ASK is DENY.
 *
 * Errors: EINVAL (NULL guard, decision or argument), EFORKED, ELIMIT, ENOMEM;
 * the verdict is DENY then.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_guard_check_git(agentbox_guard *guard,
					      const agentbox_place *place,
					      const char *const *args,
					      const size_t *lens,
					      size_t count,
					      agentbox_decision **decision,
					      agentbox_error **err);

/*
 * 0 when the verdict is ALLOW, 1 for everything else: ASK, DENY, NONE and
 * every error.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_guard_blocked_git(agentbox_guard *guard,
						const agentbox_place *place,
						const char *const *args,
						const size_t *lens,
						size_t count);

/*
 * For a host that must run git itself where an agent could write: entry `i`
 * of an environment, "NAME=value", NULL past the last. Add PATH and whatever
 * else is needed. The configuration of system and user is left aside and
 * hooks, fsmonitor, pagers, editors, helpers and transports are off; what the
 * repository names itself (filters, merge drivers, textconv, aliases,
 * diff.external) is not, see agentbox_guard(3). Static.
 * Since: 1.0
 */
AGENTBOX_API const char *agentbox_guard_git_environment(size_t i);
/*
 * The configuration in it as arguments between git and its subcommand, "-c"
 * and "key=value" in turn, for who cannot set the environment: weaker, the
 * transports that a repository names stay. Static.
 * Since: 1.0
 */
AGENTBOX_API const char *agentbox_guard_git_argument(size_t i);

/* --- commands ------------------------------------------------------------- */

/*
 * May the agent run this line of shell? The text is read as sh and bash read
 * it; every command it would run is judged, also inside sh -c, eval, xargs,
 * find -exec, ssh, here-documents and functions. `place` may be NULL: then
 * nothing is known but the guard's root. *decision is used or made.
 *
 * It sees the text only: not scripts on disk, configuration, or programs that
 * it does not know. Those are for the box.
 *
 * Errors: EINVAL (NULL guard, decision or text), EFORKED, ELIMIT, ENOMEM; the
 * verdict is DENY then.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_guard_check_shell(agentbox_guard *guard,
						const agentbox_place *place,
						const char *text, size_t n,
						agentbox_decision **decision,
						agentbox_error **err);

/*
 * The same for a command that no shell will read: `count` arguments with
 * their lengths, the first is the program. Quotes and $ mean nothing in it.
 * Errors: as above.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_guard_check_argv(agentbox_guard *guard,
					       const agentbox_place *place,
					       const char *const *args,
					       const size_t *lens,
					       size_t count,
					       agentbox_decision **decision,
					       agentbox_error **err);

/*
 * 0 when the verdict on the line is ALLOW, 1 for everything else: ASK, DENY,
 * NONE and every error.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_guard_blocked_shell(agentbox_guard *guard,
						  const agentbox_place *place,
						  const char *text, size_t n);

/* --- rules ---------------------------------------------------------------- */

/*
 * Rules of a host or a project, in the format of agentbox-rules(5), for
 * agentbox_guard_new_with_rules(). They come after the built-in rules. A
 * HOST's may loosen what is not fixed; a PROJECT's can only tighten.
 */
#define AGENTBOX_RULES_HOST 1
#define AGENTBOX_RULES_PROJECT 2

typedef struct agentbox_rules agentbox_rules;

/* Errors: EINVAL, ENOMEM. Since: 1.0 */
AGENTBOX_API int32_t agentbox_rules_new(agentbox_rules **rules,
					agentbox_error **err);
/* NULL is accepted. Since: 1.0 */
AGENTBOX_API void agentbox_rules_free(agentbox_rules *rules);

/*
 * Add a pack; `name` is for messages. Every rule is proved by its examples
 * and its alternative before this returns 0; a pack that fails leaves `rules`
 * as it was, and `where` is "NAME:line:column".
 * Errors: EINVAL, EPARSE (not understood), EPOLICY (an example fails), ELIMIT
 * (8 packs, 1 MiB each), ENOMEM.
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_rules_add(agentbox_rules *rules, int32_t layer,
					const char *name, const char *text,
					size_t n, agentbox_error **err);

/* The built-in pack as text, NUL-terminated, its length in *n. Since: 1.0 */
AGENTBOX_API const char *agentbox_rules_get_builtin(size_t *n);

/*
 * agentbox_guard_new() with these rules besides; `rules` is borrowed for the
 * call and may be NULL.
 * Errors: those of agentbox_guard_new().
 * Since: 1.0
 */
AGENTBOX_API int32_t agentbox_guard_new_with_rules(
	agentbox_policy *policy, int32_t root_dirfd,
	const agentbox_rules *rules, agentbox_guard **guard,
	agentbox_error **err);

/* --- the decision --------------------------------------------------------- */

/*
 * A decision before any check: DENY. Every check takes the address of a
 * decision: where that is NULL a new one is made, which the caller then owns
 * as if it had come from here; the next check uses it again. One thread at
 * a time. Borrowed results live until the next check with it, and cannot be
 * what that checks: EINVAL.
 * Errors: EINVAL, ENOMEM.
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
 * The same place as a JSON pointer (RFC 6901), where what was checked is JSON
 * (agentbox/scope.h); "" for the whole and for anything else. Borrowed.
 * Since: 1.0
 */
AGENTBOX_API const char *agentbox_decision_get_where(
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
 * span says where the exact bytes are. Beyond 4 MiB of words an argv has no
 * more of them, and argv_left_out says how many. *json is owned by the
 * caller.
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
