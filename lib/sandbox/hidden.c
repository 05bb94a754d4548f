/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What of its workspace a box does not see: names that its policy hides, or
 * mounts something else over. Patterns of agentbox_snapshot(3), for whoever
 * copies the workspace with the rights of the box and never more.
 */
#include "config.h"

#include "sandbox/internal.h"

#include <string.h>

#include "base/alloc.h"
#include "policy/policy.h"

/* Below dir, what follows it, with its slash; or NULL. */
static const char *rest_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	n -= n == 1; /* "/" */
	return strncmp(path, dir, n) == 0 && path[n] == '/' && path[n + 1]
		       ? path + n
		       : NULL;
}

/* The same file of the host stands there without the mount. */
static bool is_itself(const ab_policy_mount *m, const char *host,
		      const char *rest)
{
	const char *below = m->from ? rest_below(m->from, host) : NULL;

	return below && strcmp(below, rest) == 0;
}

/* Every sign of a pattern stands for itself. Owned, or NULL. */
static char *as_pattern(const char *rest)
{
	char *text = ab_calloc(2 * strlen(rest) + 1, 1), *to = text;

	for (; text && *rest; rest++) {
		if (strchr("\\*?[]! \t", *rest))
			*to++ = '\\';
		*to++ = *rest;
	}
	return text;
}

json_t *ab_box_hidden(const agentbox_sandbox *box)
{
	const ab_policy *p = ab_policy_get(box->policy);
	const char *top = box->compiled.workspace_inside;
	const char *host = box->compiled.workspace_host;
	json_t *all = json_array();

	for (size_t i = 0; all && top && host && i < p->mount_count; i++) {
		const ab_policy_mount *m = &p->mounts[i];
		const char *rest = rest_below(m->to, top);
		ab_autofree char *text = NULL;

		if (!rest || is_itself(m, host, rest))
			continue;
		text = as_pattern(rest);
		/* also a name that is no text is left out, or nothing is */
		if (!text || json_array_append_new(all, json_string(text))) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}
