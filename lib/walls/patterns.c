/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One path of a tree against the patterns of the policy: it is protected, or
 * leads to something that is. Pure but for what it then holds.
 * Spec: DESIGN.md section 6, lib/path/glob.h.
 */
#include "config.h"

#include "walls/protect.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "path/glob.h"
#include "path/lexical.h"

int32_t ab_protect_host_of(ab_protect *p, const char *relative, char *out,
			   size_t size, agentbox_error **err)
{
	if (ab_path_join(p->root, relative, out, size) < 0)
		return ab_error_set(err, AGENTBOX_ELIMIT, "protect",
				    "path '%s' is too long", relative);
	return 0;
}

/* With a slash, and yet not from the top of the workspace only. */
static bool is_anywhere(const ab_policy_protect *pat)
{
	return pat->repository && strchr(pat->pattern, '/');
}

/*
 * Where a pattern stands: 1 the path is protected, 2 it is a proper ancestor
 * of something the pattern names (`tail` is what is left), 0 neither.
 */
static int match_at(const char *pattern, const char *path, const char **tail)
{
	char head[AB_MAX_PATH];

	if (ab_glob_match(pattern, path, AB_GLOB_FOLD))
		return 1;
	for (const char *s = strchr(pattern, '/'); s; s = strchr(s + 1, '/')) {
		size_t n = (size_t)(s - pattern);

		if (n == 0 || n >= sizeof(head) || !s[1])
			continue;
		memcpy(head, pattern, n);
		head[n] = '\0';
		/* a head without a slash would float: anchor it by hand */
		if (!strchr(head, '/') ?
			    !strchr(path, '/') &&
				    ab_glob_match_name(head, n, path,
						       strlen(path),
						       AB_GLOB_FOLD) :
			    ab_glob_match(head, path, AB_GLOB_FOLD)) {
			*tail = s + 1;
			return 2;
		}
	}
	return 0;
}

/*
 * Whatever the case, as patterns and agentbox-init have it: where a directory
 * folds it (casefold of ext4 and f2fs, vfat, exfat, ntfs3, cifs), git finds its
 * repository by each of these names. Elsewhere that costs a few mounts more.
 */
bool ab_protect_is_git(const char *name)
{
	return strcasecmp(name, ".git") == 0;
}

/*
 * A link in place of a directory that holds protected names: the link is
 * held, and below what it names the rest of the pattern.
 */
static int32_t through_link(ab_protect *p, const char *host, const char *tail,
			    agentbox_error **err)
{
	char path[AB_MAX_PATH], real[AB_MAX_PATH];
	bool there;
	int32_t rc;

	if (!ab_protect_is_writable(p, host))
		return 0;
	rc = ab_protect_follow(p, host, real, &there, err);
	if (!rc && !there)
		ab_protect_forbid_following(p, host);
	if (rc || !there)
		return rc;
	if (ab_glob_is_literal(tail) &&
	    ab_path_join(real, tail, path, sizeof(path)) > 0)
		rc = ab_protect_add(p, path, err);
	else if (!p->git || !ab_protect_is_git(strrchr(host, '/') + 1))
		/* all of it; but a repository is looked into, gitdir.c */
		rc = ab_protect_add(p, real, err);
	return rc;
}

static int32_t judge_pattern(ab_protect *p, const ab_policy_protect *pat,
			     const char *path, const char *host, bool is_link,
			     bool *done, agentbox_error **err)
{
	const char *tail = NULL;

	switch (match_at(pat->pattern, path, &tail)) {
	case 1:
		*done = true;
		return ab_protect_add(p, host, err);
	case 2:
		return is_link ? through_link(p, host, tail, err) : 0;
	}
	return 0;
}

/*
 * Most entries are no pattern's business: a pattern whose last component is
 * plain text can only name an entry of that name. A link may also stand for
 * a directory above it.
 */
static bool may_match(const ab_protect *p, size_t i, const char *name,
		      bool is_link)
{
	return is_link || !p->names[i] || strcasecmp(p->names[i], name) == 0;
}

int32_t ab_protect_index_names(ab_protect *p, agentbox_error **err)
{
	const ab_policy *policy = p->b->policy;

	p->names = ab_calloc(policy->protect_count + 1, sizeof(*p->names));
	if (!p->names)
		return ab_error_nomem(err);
	for (size_t i = 0; i < policy->protect_count; i++) {
		const char *pattern = policy->protect[i].pattern;
		const char *slash = strrchr(pattern, '/');
		const char *last = slash ? slash + 1 : pattern;

		if (*last && ab_glob_is_literal(last))
			p->names[i] = last;
	}
	return 0;
}

int32_t ab_protect_judge(ab_protect *p, const char *path, bool is_link,
			 bool *done, agentbox_error **err)
{
	const ab_policy *policy = p->b->policy;
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char host[AB_MAX_PATH];
	int32_t rc = 0;

	for (size_t i = 0; i < policy->protect_count && !rc && !*done; i++) {
		const ab_policy_protect *pat = &policy->protect[i];
		const char *from = path;

		if (!may_match(p, i, name, is_link))
			continue;
		rc = ab_protect_host_of(p, path, host, sizeof(host), err);
		while (from && !rc && !*done) {
			rc = judge_pattern(p, pat, from, host, is_link, done,
					   err);
			from = is_anywhere(pat) ? strchr(from, '/') : NULL;
			from += from != NULL;
		}
	}
	return rc;
}

void ab_protect_add_watches(ab_protect *p)
{
	const ab_policy *policy = p->b->policy;

	for (size_t i = 0; i < policy->protect_count; i++) {
		const ab_policy_protect *pat = &policy->protect[i];

		ab_build_watch(p->b, pat->pattern);
		if (!is_anywhere(pat))
			continue;
		ab_build_watch(p->b,
			       ab_build_own(p->b, ab_asprintf("**/%s",
							      pat->pattern)));
	}
}
