/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The git check as a host calls it: arguments, the guard's profile and the
 * place go to guard/git.h, what it finds goes into the decision. A command
 * that is not git's is refused: who asks about git means git.
 */
#include "config.h"

#include <string.h>

#include "agentbox/guard.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "guard/decision.h"
#include "guard/git.h"
#include "guard/guard.h"
#include "guard/place.h"
#include "policy/policy.h"

static int32_t check_args(const char *const *args, const size_t *lens,
			  size_t count, size_t *total, agentbox_error **err)
{
	*total = 0;
	if ((!args || !lens) && count)
		return ab_error_set(err, AGENTBOX_EINVAL, "args",
				    "args and lens must not be NULL");
	if (count > AB_MAX_ARGS)
		return ab_error_set(err, AGENTBOX_ELIMIT, "args",
				    "at most %d arguments", AB_MAX_ARGS);
	for (size_t i = 0; i < count; i++) {
		if (!args[i] && lens[i])
			return ab_error_set(err, AGENTBOX_EINVAL, "args",
					    "argument %zu is NULL", i);
		if (!ab_add_size(*total, lens[i], total) ||
		    !ab_add_size(*total, 1, total) ||
		    *total > AB_MAX_ARGV_BYTES)
			return ab_error_set(err, AGENTBOX_ELIMIT, "args",
					    "at most %u bytes",
					    AB_MAX_ARGV_BYTES);
	}
	return 0;
}

/* The arguments joined with blanks, and each as a word of that text. */
static struct ab_word *join(agentbox_decision *d, const char *const *args,
			    const size_t *lens, size_t count, size_t total)
{
	char *text = ab_arena_high(&d->arena, total + 1);
	struct ab_word *words =
		ab_arena_high(&d->arena, (count + 1) * sizeof(*words));
	size_t at = 0;

	if (!text || !words)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (i)
			text[at++] = ' ';
		if (lens[i])
			memcpy(text + at, args[i], lens[i]);
		words[i] = (struct ab_word){
			.text = text + at,
			.len = (uint32_t)lens[i],
			.span = {(uint32_t)at, (uint32_t)(at + lens[i])},
			.is_quoted = true,
		};
		at += lens[i];
	}
	text[at] = '\0';
	d->text = text;
	d->text_len = at;
	return words;
}

static enum ab_git_profile profile_of(const agentbox_guard *guard)
{
	const json_t *section = ab_policy_section(guard->policy, "/git");
	const char *name = json_string_value(
		json_object_get(section, "profile"));

	return name && strcmp(name, "strict") == 0 ? AB_GIT_STRICT
						   : AB_GIT_DEFAULT;
}

static struct ab_git_text text_of(const struct ab_place_path *p)
{
	return (struct ab_git_text){p->text, p->len};
}

/* temps has AB_MAX_TEMP_DIRS entries. */
static struct ab_git_context context_of(const agentbox_guard *guard,
					const agentbox_place *place,
					struct ab_git_text *temps)
{
	const char *root = ab_guard_root_text(guard, place);
	struct ab_git_context c = {
		.profile = profile_of(guard),
		.worktree = {root, root ? strlen(root) : 0},
		.temp_dirs = temps,
	};

	if (!place)
		return c;
	c.cwd = text_of(&place->cwd);
	c.home = text_of(&place->home);
	for (size_t i = 0; i < place->temp_count; i++)
		temps[i] = text_of(&place->temp[i]);
	c.temp_count = place->temp_count;
	return c;
}

static const struct ab_git_result not_git = {
	.verdict = AB_GIT_DENY,
	.rule = "git.unknown",
	.severity = AB_GIT_MEDIUM,
	.reason = "not a git command",
	.alternative = "give git and its arguments",
	.word = AB_GIT_NOWHERE,
	.env = AB_GIT_NOWHERE,
};

static void judge(agentbox_decision *d, const struct ab_word *words,
		  size_t count, const struct ab_git_context *context)
{
	struct ab_git_result r;
	struct ab_resolved command = {
		.words = words,
		.count = (uint32_t)count,
		.span = {0, (uint32_t)d->text_len},
	};
	struct ab_finding f = {.word = UINT32_MAX};

	ab_git_check(words, count, context, &r);
	if (r.verdict == AB_GIT_NONE)
		r = not_git;
	f.command = ab_decision_add_command(d, &command,
					    r.verdict >= AB_GIT_ASK);
	if (r.verdict == AB_GIT_ALLOW)
		return;
	f.verdict = (int32_t)r.verdict;
	f.severity = (int32_t)r.severity;
	f.rule = r.rule;
	f.reason = r.reason;
	f.alternative = r.alternative;
	if (r.word < count) {
		f.word = r.word;
		f.span.begin = words[r.word].span.begin + r.begin;
		f.span.end = words[r.word].span.begin + r.end;
	}
	ab_decision_add(d, &f);
}

int32_t agentbox_guard_check_git(agentbox_guard *guard,
				 const agentbox_place *place,
				 const char *const *args, const size_t *lens,
				 size_t count, agentbox_decision **decision,
				 agentbox_error **err)
{
	struct ab_git_text temps[AB_MAX_TEMP_DIRS];
	agentbox_decision *d = ab_decision_use(decision, err);
	struct ab_git_context context;
	struct ab_word *words;
	size_t total = 0;
	int32_t r = d ? 0 : decision ? AGENTBOX_ENOMEM : AGENTBOX_EINVAL;

	if (r == 0)
		r = ab_guard_check_handle(guard, err);
	if (r == 0)
		r = check_args(args, lens, count, &total, err);
	if (r == 0)
		/* words twice: for the check, and kept for show */
		r = ab_decision_begin(d, guard, AB_DECIDE_GIT, "", 0,
				      2 * total +
					      2 * (count + 1) *
						      sizeof(*words) +
					      256,
				      err);
	if (r < 0)
		return r;
	words = join(d, args, lens, count, total);
	if (!words) {
		ab_decision_fail(d);
		return ab_error_nomem(err);
	}
	context = context_of(guard, place, temps);
	judge(d, words, count, &context);
	ab_decision_end(d, AGENTBOX_VERDICT_ALLOW);
	return 0;
}

int32_t agentbox_guard_blocked_git(agentbox_guard *guard,
				   const agentbox_place *place,
				   const char *const *args, const size_t *lens,
				   size_t count)
{
	ab_auto(agentbox_decision) *d = NULL;

	if (agentbox_guard_check_git(guard, place, args, lens, count, &d,
				     NULL) < 0)
		return 1;
	return agentbox_decision_get_verdict(d) != AGENTBOX_VERDICT_ALLOW;
}

const char *agentbox_guard_git_environment(size_t i)
{
	return ab_git_environment(i);
}

const char *agentbox_guard_git_argument(size_t i)
{
	return ab_git_arguments(i);
}
