/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A team directory to guard, and questions about it in one line. */
#ifndef GUARD_TREE_H
#define GUARD_TREE_H

#include <agentbox/guard.h>
#include <stdbool.h>
#include <stddef.h>

/*
 *   base/outside/{secret,dir/}      base/protected/next
 *   base/wt/repo-T1/src/a.c         base/wt/repo-T10/x
 *   base/team/charter.md            base/team/workflows/w
 *   base/team/protected/keys        base/team/shared/s
 *   base/team/agents/alice/{a,config.yaml,journal}
 *   base/team/agents/bob/b          base/team/agents/alice2/x
 */
extern char base[4096], team[4096];
extern agentbox_context *context;

void tree_setup(void);
void tree_teardown(void);

/* printf into a path below base, with the file or directory made. */
void make_file(const char *path, const char *text);
void make_dir(const char *path);
void make_symlink(const char *text, const char *path);
/* base/PATH, in a ring of buffers */
const char *at(const char *path);
/* the text of a file below base; "" when it is not there */
const char *text_of(const char *path);
bool is_there(const char *path);

/* A guard on base/DIR from JSON over a built-in; a failed one is NULL and its
   code in *code. */
agentbox_guard *guard_of(const char *builtin, const char *json,
			 const char *dir, int32_t *code);
agentbox_guard *engineer(void); /* alice, with worktree base/wt/repo-T1 */
agentbox_guard *manager(void);
agentbox_guard *workspace(void); /* no role: base/team is the workspace */

/* The verdict of an action on a path from the root. */
int32_t ask(agentbox_guard *guard, int32_t action, const char *path);
int32_t ask_n(agentbox_guard *guard, int32_t action, const char *path,
	      size_t n);
/* The rule and the reason of the last ask(). */
const char *last_rule(void);
const char *last_reason(void);

#define ALLOW AGENTBOX_VERDICT_ALLOW
#define DENY AGENTBOX_VERDICT_DENY
#define W AGENTBOX_ACTION_WRITE
#define R AGENTBOX_ACTION_READ

#define allows(g, action, path)                                            \
	ck_assert_msg(ask(g, action, path) == ALLOW, "%s: %s: %s", path, \
		      last_rule(), last_reason())
#define denies(g, action, path)                                        \
	ck_assert_msg(ask(g, action, path) == DENY, "%s is allowed", path)
#define denies_by(g, action, path, rule)                               \
	do {                                                           \
		denies(g, action, path);                               \
		ck_assert_msg(strcmp(last_rule(), rule) == 0,          \
			      "%s: %s instead of %s: %s", path,        \
			      last_rule(), rule, last_reason());       \
	} while (0)
#define escapes(g, action, path)                                      \
	do {                                                          \
		denies_by(g, action, path, "path.escape");            \
		ck_assert_str_eq(last_reason(),                       \
				 "Path escapes workspace.");          \
	} while (0)

#endif
