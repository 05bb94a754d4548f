/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the shell and git checks say of a program that is to be executed: the
 * one judge of agentbox-shield, which sees execs, and of the host, which
 * starts commands. Pure but for memory; soft, like every check of text.
 */
#ifndef AB_GUARD_EXEC_H
#define AB_GUARD_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agentbox/guard.h"

typedef struct ab_exec_judge {
	agentbox_guard *guard;
	agentbox_place *place; /* without a cwd */
} ab_exec_judge;

typedef struct ab_exec {
	const char *path; /* the file; what its links lead to, where known */
	size_t path_len;
	const char **args; /* room for `count` + 1, at least 2 */
	size_t *lens;
	size_t count;
	const char *cwd; /* absolute; NULL: not known */
	size_t cwd_len;
	/* Where there is no cwd: asked for it once, and only when what is said
	   depends on it. The cwd and its length, or NULL. May be NULL. */
	const char *(*find_cwd)(void *arg, size_t *len);
	void *arg;
	bool by_git; /* the caller is git itself */
	/* of an earlier check, to be used again; NULL: none is kept */
	agentbox_decision **decision;
} ab_exec;

typedef struct ab_exec_finding {
	uint32_t verdict; /* AGENTBOX_VERDICT_*, never NONE */
	char rule[64];
	char reason[256];
} ab_exec_finding;

/* workspace, home: in the box, copied; "" or NULL: unknown. */
int32_t ab_exec_judge_init(ab_exec_judge *judge, agentbox_policy *policy,
			     const char *workspace, const char *home,
			     agentbox_error **err);
void ab_exec_judge_end(ab_exec_judge *judge);

/*
 * Of the file's name and of argv[0], which need not agree, the worse. What
 * cannot be judged is DENY. args[0] is changed meanwhile. Any thread.
 */
void ab_exec_check(const ab_exec_judge *judge, ab_exec *exec,
			  ab_exec_finding *finding);

/* A finding of our own. */
void ab_exec_find(ab_exec_finding *finding, uint32_t verdict,
		    const char *rule, const char *reason);

#endif
