/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From an argv and a file's name to a verdict. Spec: exec.h. */
#include "config.h"

#include "guard/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "guard/place.h"

static size_t length(const char *s)
{
	return s ? strlen(s) : 0;
}

static int32_t make_place(agentbox_place **place, const char *workspace,
			  const char *home, agentbox_error **err)
{
	int32_t rc = agentbox_place_new(place, err);

	if (rc == 0 && length(workspace))
		rc = agentbox_place_set_root(*place, workspace,
					     length(workspace), err);
	if (rc == 0 && length(workspace))
		rc = agentbox_place_add_temp(*place, "/tmp", 4, err);
	if (rc == 0 && length(home))
		rc = agentbox_place_set_home(*place, home, length(home), err);
	return rc;
}

int32_t ab_exec_judge_init(ab_exec_judge *judge, agentbox_policy *policy,
			     const char *workspace, const char *home,
			     agentbox_error **err)
{
	int32_t rc;

	*judge = (ab_exec_judge){ 0 };
	rc = make_place(&judge->place, workspace, home, err);
	return rc ? rc : agentbox_guard_new(policy, -1, &judge->guard, err);
}

void ab_exec_judge_end(ab_exec_judge *judge)
{
	agentbox_guard_unref(judge->guard);
	agentbox_place_free(judge->place);
	*judge = (ab_exec_judge){ 0 };
}

void ab_exec_find(ab_exec_finding *f, uint32_t verdict, const char *rule,
		    const char *reason)
{
	f->verdict = verdict;
	snprintf(f->rule, sizeof(f->rule), "%s", rule);
	snprintf(f->reason, sizeof(f->reason), "%s", reason);
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

/* argv[0] is the caller's to choose, the file is what runs. */
static void judge_file(const ab_exec_judge *j, const agentbox_place *place,
		       const ab_exec *e, ab_exec_finding *f)
{
	ab_exec as = *e;
	const char *name = e->args[0];
	size_t len = e->lens[0];

	as.count += as.count == 0;
	as.args[0] = e->path;
	as.lens[0] = e->path_len;
	judge_args(j, place, &as, f);
	as.args[0] = name;
	as.lens[0] = len;
}

/* With this cwd; *wants is set when it is not known and matters. */
static void judge_at(const ab_exec_judge *j, const ab_exec *e, bool *wants,
		     ab_exec_finding *f)
{
	agentbox_place place = *j->place; /* borrows all but the cwd */

	*f = (ab_exec_finding){ .verdict = AGENTBOX_VERDICT_ALLOW };
	place.wants_cwd = wants;
	/* a directory that has no such name is not known */
	if (e->cwd)
		(void)agentbox_place_set_cwd(&place, e->cwd, e->cwd_len, NULL);
	/* without a root it says where that is: guard.h */
	else if (wants && !place.root.text)
		*wants = true;
	if (e->count > 0)
		judge_args(j, &place, e, f);
	if (e->count == 0 || !have_one_name(e))
		judge_file(j, &place, e, f);
	free(place.cwd.text);
}

void ab_exec_check(const ab_exec_judge *j, ab_exec *e,
			  ab_exec_finding *f)
{
	bool wants = false;

	if (is_housekeeping(e)) {
		*f = (ab_exec_finding){ .verdict = AGENTBOX_VERDICT_ALLOW };
		return;
	}
	judge_at(j, e, e->cwd || !e->find_cwd ? NULL : &wants, f);
	if (!wants)
		return;
	e->cwd = e->find_cwd(e->arg, &e->cwd_len);
	e->find_cwd = NULL;
	judge_at(j, e, NULL, f);
}
