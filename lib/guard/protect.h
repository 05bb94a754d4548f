/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The protected names of a policy, ready for many questions. Text only: a
 * name is protected wherever it stands, whether or not it is there, so what
 * an agent makes a repository of later is covered as well. Patterns with a
 * slash that are the policy's own are anchored at the workspace.
 *
 * Names are compared as the most forgiving file system would: ASCII case does
 * not count, and neither do characters that a case-folding file system drops
 * or folds into ASCII, nor dots and spaces at the end of a name.
 */
#ifndef AB_GUARD_PROTECT_H
#define AB_GUARD_PROTECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agentbox/base.h"
#include "policy/policy.h"

struct ab_protect_entry {
	const char *pattern; /* of the policy */
	uint32_t first_len;  /* of its first component */
	bool has_slash;
	bool anywhere; /* else only at the root */
};

struct ab_protect_set {
	struct ab_protect_entry *plain; /* literal first component, sorted */
	struct ab_protect_entry *wild;	/* the others */
	size_t plain_count, wild_count;
};

/* Patterns are borrowed from the policy. 0 or ENOMEM. */
int32_t ab_protect_init(struct ab_protect_set *set, const ab_policy *policy,
			agentbox_error **err);
void ab_protect_end(struct ab_protect_set *set);

/*
 * The pattern that protects this clean relative path or something above it,
 * or NULL. `holds`: also when something protected could lie below it, for
 * what moves or replaces a whole directory (".git" for ".git/hooks").
 */
const char *ab_protect_find(const struct ab_protect_set *set,
			    const char *path, bool holds);

/*
 * Does the name of n bytes stand for `wanted` (ASCII, lower case) on some
 * file system?
 */
bool ab_protect_is_name(const char *name, size_t n, const char *wanted);

#endif
