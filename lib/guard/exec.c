/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From an argv and a file's name to a verdict. Spec: exec.h. */
#include "config.h"

#include "guard/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

int32_t ab_exec_judge_init(ab_exec_judge *judge, agentbox_policy *policy,
			     const char *workspace, const char *home,
			     agentbox_error **err)
{
	*judge = (ab_exec_judge){ 0 };
	if (workspace && *workspace)
		judge->workspace = ab_strdup(workspace);
	if (home && *home)
		judge->home = ab_strdup(home);
	if ((workspace && *workspace && !judge->workspace) ||
	    (home && *home && !judge->home))
		return ab_error_nomem(err);
	return agentbox_guard_new(policy, -1, &judge->guard, err);
}

void ab_exec_judge_end(ab_exec_judge *judge)
{
	agentbox_guard_unref(judge->guard);
	free(judge->workspace);
	free(judge->home);
	*judge = (ab_exec_judge){ 0 };
}

void ab_exec_find(ab_exec_finding *f, uint32_t verdict, const char *rule,
		    const char *reason)
{
	f->verdict = verdict;
	snprintf(f->rule, sizeof(f->rule), "%s", rule);
	snprintf(f->reason, sizeof(f->reason), "%s", reason);
}

static size_t length(const char *s)
{
	return s ? strlen(s) : 0;
}

/* What is not known makes the checks stricter, never laxer. */
static int32_t make_place(const ab_exec_judge *j, const ab_exec *e,
			  agentbox_place **out)
{
	agentbox_place *place = NULL;
	int32_t rc = agentbox_place_new(&place, NULL);

	if (rc == 0 && j->workspace)
		rc = agentbox_place_set_root(place, j->workspace,
					     length(j->workspace), NULL);
	if (rc == 0 && j->home)
		rc = agentbox_place_set_home(place, j->home, length(j->home),
					     NULL);
	if (rc == 0 && j->workspace)
		rc = agentbox_place_add_temp(place, "/tmp", 4, NULL);
	/* a directory that has no such name is not known */
	if (rc == 0 && e->cwd)
		(void)agentbox_place_set_cwd(place, e->cwd, e->cwd_len, NULL);
	if (rc < 0)
		agentbox_place_free(place);
	else
		*out = place;
	return rc;
}

static void judge_args(const ab_exec_judge *j, const agentbox_place *place,
		       const ab_exec *e, ab_exec_finding *f)
{
	agentbox_decision *d = e->decision ? *e->decision : NULL;
	int32_t rc = agentbox_guard_check_argv(
		j->guard, place, (const char *const *)e->args, e->lens,
		e->count, &d, NULL);
	uint32_t verdict = (uint32_t)agentbox_decision_get_verdict(d);

	if (rc < 0)
		ab_exec_find(f, AGENTBOX_VERDICT_DENY, "shield.failed",
			       "it could not be judged");
	else if (verdict > f->verdict)
		ab_exec_find(f, verdict, agentbox_decision_get_rule(d),
			       agentbox_decision_get_reason(d));
	if (e->decision)
		*e->decision = d;
	else
		agentbox_decision_free(d);
}

static bool is_arg(const ab_exec *e, size_t i, const char *text)
{
	return i < e->count && e->lens[i] == strlen(text) &&
	       memcmp(e->args[i], text, e->lens[i]) == 0;
}

static void base_of(const char **s, size_t *n)
{
	const char *slash = *n ? memrchr(*s, '/', *n) : NULL;

	if (slash) {
		*n -= (size_t)(slash + 1 - *s);
		*s = slash + 1;
	}
}

static bool have_one_name(const ab_exec *e)
{
	const char *a = e->path, *b = e->args[0];
	size_t n = e->path_len, m = e->lens[0];

	base_of(&a, &n);
	base_of(&b, &m);
	return n == m && memcmp(a, b, n) == 0;
}

static bool is_git(const ab_exec *e)
{
	const char *name = e->path;
	size_t n = e->path_len;

	base_of(&name, &n);
	return n == 3 && memcmp(name, "git", n) == 0 && have_one_name(e);
}

/*
 * What git does after a commit, of itself: not what an agent asked for. Hooks
 * and the like are started by git as well, and are not git.
 */
static bool is_housekeeping(const ab_exec *e)
{
	bool run = is_arg(e, 1, "maintenance") && is_arg(e, 2, "run");

	if (!e->by_git || (!run && !is_arg(e, 1, "gc")) || !is_git(e))
		return false;
	for (size_t i = 2; i < e->count; i++)
		if (is_arg(e, i, "--auto"))
			return true;
	return false;
}

void ab_exec_check(const ab_exec_judge *j, ab_exec *e,
			  ab_exec_finding *f)
{
	agentbox_place *place = NULL;
	bool one;

	*f = (ab_exec_finding){ .verdict = AGENTBOX_VERDICT_ALLOW };
	if (is_housekeeping(e))
		return;
	if (make_place(j, e, &place) < 0) {
		ab_exec_find(f, AGENTBOX_VERDICT_DENY, "shield.failed",
			       "it could not be judged");
		return;
	}
	one = e->count > 0 && have_one_name(e);
	if (e->count > 0)
		judge_args(j, place, e, f);
	if (!one) {
		/* argv[0] is the caller's to choose, the file is what runs */
		e->args[0] = e->path;
		e->lens[0] = e->path_len;
		e->count += e->count == 0;
		judge_args(j, place, e, f);
	}
	agentbox_place_free(place);
}
