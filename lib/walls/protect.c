/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * "Code that runs later" in a direct workspace: everything a pattern of the
 * policy names is bound read-only onto itself, its ancestors are bound onto
 * themselves so that they cannot be renamed away, and what does not exist
 * yet becomes a watch for agentbox-init.
 *
 * The parts: held.c the set, patterns.c what a pattern names, scan.c the walk,
 * submounts.c what is mounted below it, links.c other names of a file, gitdir.c
 * and follow.c where a repository and a link lead, fit.c too much of it. None
 * of them writes to the host.
 * Spec: DESIGN.md section 6, RECIPES.md section 8p, cases 1-23 and 103.
 */
#include "config.h"

#include "walls/protect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "path/glob.h"
#include "path/lexical.h"

static int compare_guarded(const void *a, const void *b)
{
	const ab_guarded *x = a, *y = b;
	int c = ab_path_order(x->inside, y->inside);

	/* the read-only one of two equal ones comes first */
	return c ? c : (int)y->readonly - (int)x->readonly;
}

/*
 * Every ancestor below the view's root, as a pin. The set is sorted, so what
 * lies below one directory is in one run, and an ancestor of the entry
 * before has its pin.
 */
static int32_t add_pins(ab_protect *p, agentbox_error **err)
{
	size_t n = p->count;

	qsort(p->set, n, sizeof(*p->set), compare_guarded);
	for (size_t i = 0; i < n; i++) {
		const ab_view *view = p->set[i].view;
		char host[AB_MAX_PATH];
		char *slash;

		snprintf(host, sizeof(host), "%s", p->set[i].host);
		while ((slash = strrchr(host, '/')) != NULL &&
		       (size_t)(slash - host) > strlen(view->host)) {
			int32_t rc;

			*slash = '\0';
			if (i && p->set[i - 1].view == view &&
			    ab_path_is_below(p->set[i - 1].host, host) &&
			    strcmp(p->set[i - 1].host, host) != 0)
				break;
			rc = ab_protect_put(p, host, view, false, true, err);
			if (rc || p->b->nomem)
				return rc;
		}
	}
	return 0;
}

/* What leads to the state directory has its pins, from tree.c. */
static bool has_pin(const ab_build *b, const char *target)
{
	for (uint32_t i = 0; i < b->plan.step_count; i++) {
		const ab_plan_step *s = &b->plan.steps[i];

		if (s->kind == AB_STEP_SELF && s->target &&
		    strcmp(s->target, target) == 0)
			return true;
	}
	return false;
}

static void emit(ab_protect *p)
{
	const ab_guarded *above = NULL, *last = NULL;

	qsort(p->set, p->count, sizeof(*p->set), compare_guarded);
	for (size_t i = 0; i < p->count; i++) {
		const ab_guarded *g = &p->set[i];
		uint32_t flags = AB_MOUNT_RECURSIVE;
		bool nofollow = false;

		if (last && strcmp(last->inside, g->inside) == 0)
			continue;
		for (size_t j = i; j < p->count && strcmp(p->set[j].inside,
							  g->inside) == 0;
		     j++)
			nofollow |= p->set[j].nofollow;
		if (above && ab_path_is_below(g->inside, above->inside))
			continue; /* read-only with all below already */
		last = g;
		if (!g->readonly && !nofollow && has_pin(p->b, g->inside))
			continue;
		if (g->readonly && g->dir)
			above = g;
		if (g->readonly)
			flags |= AB_MOUNT_RDONLY;
		if (nofollow)
			flags |= AB_MOUNT_NOSYMFOLLOW;
		if (!g->dir)
			flags &= ~AB_MOUNT_RECURSIVE;
		ab_build_step(p->b, AB_STEP_SELF, flags, g->inside);
	}
}

static int32_t compile(ab_protect *p, agentbox_error **err)
{
	int32_t rc;

	ab_protect_stand_in_workspace(p);
	rc = p->b->policy->protect_count ? ab_protect_scan(p, false, err) : 0;
	if (!rc && ab_protect_has_role(p->b->policy))
		rc = ab_protect_role(p, err);
	if (!rc && p->inodes.count && !p->b->nomem && !p->frozen)
		rc = ab_protect_hold_links(p, err);
	if (!rc && !p->b->nomem && p->count)
		rc = ab_protect_fit(p, err);
	if (!rc && !p->b->nomem && p->count)
		rc = add_pins(p, err);
	if (rc || p->b->nomem)
		return rc;
	if (p->count)
		emit(p);
	/* where nothing can be written, nothing can appear */
	if (!p->frozen)
		ab_protect_add_watches(p);
	ab_protect_report_links(p);
	ab_protect_report_unseen(p);
	return 0;
}

static bool protects_git(const ab_policy *policy)
{
	for (size_t i = 0; i < policy->protect_count; i++) {
		const char *pattern = policy->protect[i].pattern;

		if (ab_glob_match_below(pattern, ".git/hooks", 0) ||
		    ab_glob_match_below(pattern, ".git/config", 0))
			return true;
	}
	return false;
}

int32_t ab_protect_compile(ab_build *b, agentbox_error **err)
{
	ab_protect p = { .b = b };
	int32_t rc;

	if (b->workspace.fd < 0 || (b->policy->protect_count == 0 &&
				    !ab_protect_has_role(b->policy)))
		return 0;
	if (!ab_build_has_tree(b)) {
		ab_build_note(b, "existing protected paths are not read-only "
			      "without a mount namespace");
		ab_protect_add_watches(&p);
		return 0;
	}
	p.git = protects_git(b->policy);
	p.max_entries = b->input->max_entries ? b->input->max_entries :
						AB_MAX_SCAN_ENTRIES;
	rc = ab_protect_index_names(&p, err);
	if (!rc)
		rc = compile(&p, err);
	free(p.names);
	free(p.set);
	free(p.whole);
	free(p.submounts);
	ab_inodes_end(&p.inodes);
	return rc;
}
