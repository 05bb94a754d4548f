/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of commits, as a policy and a host write them. */
#ifndef AB_POLICY_COMMIT_H
#define AB_POLICY_COMMIT_H

#include <stdbool.h>

/*
 * A commit's full name or a reference's, as git-check-ref-format(1) has it:
 * what could mean anything else is none.
 */
bool ab_commit_is_reference(const char *s);
/*
 * One that means one thing: "HEAD", "refs/heads/NAME" or another full
 * reference, the full name of a commit, "worktrees/NAME/HEAD". A short name
 * does not: who may write a tag could have it say something else than the
 * branch of that name.
 */
bool ab_commit_is_head(const char *s);

#endif
