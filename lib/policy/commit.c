/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which text names a commit. Judged here for the check of a policy and for
 * who sets the options of a snapshot alike; nothing of a repository is read.
 * Spec: git-check-ref-format(1), git-worktree(1), agentbox_snapshot(3).
 */
#include "config.h"

#include "policy/commit.h"

#include <string.h>

#include "wire/copy.h"

bool ab_commit_is_reference(const char *s)
{
	size_t n = strnlen(s, AB_COPY_GIT_NAME_MAX + 1);

	if (!n || n > AB_COPY_GIT_NAME_MAX || *s == '-' || *s == '.' ||
	    *s == '/' || s[n - 1] == '/' || strstr(s, "..") ||
	    strstr(s, "//") || strstr(s, "/.") || strstr(s, "@{"))
		return false;
	for (; *s; s++)
		if ((unsigned char)*s <= 0x20 || *s == 0x7f ||
		    strchr("~^:?*[\\", *s))
			return false;
	return true;
}

/* "worktrees/NAME/HEAD": of a linked worktree (git-worktree(1)). */
static bool is_of_worktree(const char *s)
{
	static const char top[] = "worktrees/";
	const char *name = s + sizeof(top) - 1, *end;

	if (strncmp(s, top, sizeof(top) - 1) != 0)
		return false;
	end = strchr(name, '/');
	return end && end > name && strcmp(end, "/HEAD") == 0;
}

bool ab_commit_is_head(const char *s)
{
	if (strlen(s) == AB_COPY_GIT_ID_SIZE - 1 &&
	    strspn(s, "0123456789abcdef") == AB_COPY_GIT_ID_SIZE - 1)
		return true;
	return ab_commit_is_reference(s) &&
	       (strcmp(s, "HEAD") == 0 || strncmp(s, "refs/", 5) == 0 ||
		is_of_worktree(s));
}
