/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checks of text and of arguments as a host calls them: the guard's
 * rules, the place and the text go to guard/shell.h, what it finds goes into
 * the decision. Who asks about git means git: anything else is refused.
 */
#include "config.h"

#include <string.h>

#include "agentbox/guard.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "guard/check.h"
#include "guard/decision.h"
#include "guard/git.h"
#include "guard/guard.h"
#include "guard/place.h"
#include "guard/shell.h"

/* The last commands, in which most findings are: each is named once. */
#define SEEN 8
/* How much of one is compared, for each finding: it is about what is shown,
   and all findings may be in one long command. */
#define SAME_WORDS 16
#define SAME_BYTES 64
#define MAX_WRAPPERS 16

struct sink {
	agentbox_decision *d;
	uint32_t seen[SEEN]; /* what ab_decision_add_command() gave */
	uint32_t count;	     /* of all commands so far */
};

static const char *copy_name(agentbox_decision *d, const char *s, uint32_t n)
{
	char *p = ab_arena_high(&d->arena, n + 1);

	if (!p)
		return "";
	memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

static bool are_words(const struct ab_resolved *r, const struct ab_word *words,
		      uint32_t count)
{
	if (r->count != count ||
	    (count && r->words->span.begin != words->span.begin))
		return false;
	for (uint32_t i = 0; i < count && i < SAME_WORDS; i++) {
		const struct ab_word *a = &r->words[i], *b = &words[i];
		uint32_t n = a->len < SAME_BYTES ? a->len : SAME_BYTES;

		if (a->span.begin != b->span.begin ||
		    a->span.end != b->span.end || a->len != b->len ||
		    (n && memcmp(a->text, b->text, n) != 0))
			return false;
	}
	return true;
}

static uint32_t add_wrapped(struct sink *s, struct ab_resolved *r,
			    const struct ab_chain *chain, bool is_found)
{
	AB_UNINITIALIZED const char *wrappers[MAX_WRAPPERS];
	uint32_t n = 0;

	for (const struct ab_chain *k = chain; k; k = k->up)
		n++;
	for (const struct ab_chain *k = chain; k; k = k->up) {
		if (--n < MAX_WRAPPERS) {
			wrappers[n] = copy_name(s->d, k->name, k->len);
			if (r->wrapper_count <= n)
				r->wrapper_count = n + 1;
		}
	}
	r->wrappers = wrappers;
	return ab_decision_add_command(s->d, r, is_found);
}

static uint32_t add_command(struct sink *s, const struct ab_word *words,
			    uint32_t count, const struct ab_chain *chain,
			    bool stays, bool is_found)
{
	struct ab_resolved r = { .words = words, .count = count,
				 .stays = stays };
	uint32_t index = AB_UNLIKELY(chain)
				 ? add_wrapped(s, &r, chain, is_found)
				 : ab_decision_add_command(s->d, &r, is_found);

	s->seen[s->count++ % SEEN] = index;
	return index;
}

/*
 * The command of these words among the last ones. By what they say and where:
 * their memory is that of other words as soon as the command is over.
 */
static uint32_t find_command(const struct sink *s, const struct ab_word *words,
			     uint32_t count, uint32_t most)
{
	for (uint32_t i = 0; i < most && i < s->count; i++) {
		uint32_t index = s->seen[(s->count - 1 - i) % SEEN];

		if (index != AB_NO_COMMAND &&
		    are_words(&s->d->commands[index], words, count))
			return index;
	}
	return AB_NO_COMMAND;
}

static void on_command(void *user, const struct ab_word *words,
		       uint32_t count, const struct ab_chain *chain,
		       bool stays)
{
	struct sink *s = user;
	uint32_t last = s->count ? s->seen[(s->count - 1) % SEEN]
				 : AB_NO_COMMAND;

	/* its redirections were judged before it */
	if (last != AB_NO_COMMAND &&
	    s->d->commands[last].count == count &&
	    are_words(&s->d->commands[last], words, count))
		return;
	if (AB_LIKELY(stays && !chain))
		s->seen[s->count++ % SEEN] =
			ab_decision_add_plain(s->d, words, count);
	else
		add_command(s, words, count, chain, stays, false);
}

static uint32_t command_of(struct sink *s, const struct ab_shell_found *f)
{
	if (!f->words)
		return AB_NO_COMMAND;
	uint32_t index = find_command(s, f->words, f->count, SEEN);

	return index != AB_NO_COMMAND ?
		       index :
		       add_command(s, f->words, f->count, f->chain, false,
				   true);
}

static void on_found(void *user, const struct ab_shell_found *f)
{
	struct sink *s = user;
	struct ab_finding finding = {
		.verdict = f->verdict,
		.severity = f->severity,
		.rule = f->rule ? f->rule : "",
		.reason = f->reason ? f->reason : "",
		.alternative = f->alternative,
		.span = f->span,
		.command = command_of(s, f),
		.word = UINT32_MAX,
	};

	ab_decision_add(s->d, &finding);
}

static struct ab_known_path known(const struct ab_place_path *p)
{
	return (struct ab_known_path){ .text = p->text,
				       .len = (uint32_t)p->len };
}

/* The place for the check of a text; temps has AB_MAX_TEMP_DIRS entries. */
static void make_place(const agentbox_guard *guard,
		       const agentbox_place *place,
		       struct ab_known_path *temps,
		       struct ab_shell_place_text *out)
{
	const char *root = ab_guard_root_text(guard, place);

	*out = (struct ab_shell_place_text){
		.root = { root, root ? (uint32_t)strlen(root) : 0 },
		.is_strict = guard->rules.is_strict,
		.is_git_strict = guard->rules.is_git_strict,
	};
	if (!place)
		return;
	out->cwd = known(&place->cwd);
	out->wants_cwd = place->cwd.text ? NULL : place->wants_cwd;
	out->home = known(&place->home);
	for (size_t i = 0; i < place->temp_count; i++)
		temps[i] = known(&place->temp[i]);
	out->temps = temps;
	out->temp_count = (uint32_t)place->temp_count;
}

static int32_t finish(agentbox_decision *d, bool is_good)
{
	if (!is_good)
		ab_decision_fail(d);
	ab_decision_end(d, AGENTBOX_VERDICT_ALLOW);
	return 0;
}

int32_t agentbox_guard_check_shell(agentbox_guard *guard,
				   const agentbox_place *place,
				   const char *text, size_t n,
				   agentbox_decision **decision,
				   agentbox_error **err)
{
	AB_UNINITIALIZED struct ab_known_path temps[AB_MAX_TEMP_DIRS];
	struct ab_shell_place_text where;
	agentbox_decision *d = ab_decision_use(decision, err);
	int32_t r = d ? 0 : decision ? AGENTBOX_ENOMEM : AGENTBOX_EINVAL;

	if (r == 0)
		r = ab_guard_check_handle(guard, err);
	if (r == 0 && !text && n)
		r = ab_error_set(err, AGENTBOX_EINVAL, "text",
				 "text must not be NULL");
	if (r == 0)
		r = ab_decision_check_input(d, text, err);
	if (r == 0)
		r = ab_decision_begin(d, guard, AB_DECIDE_SHELL,
				      text ? text : "", n,
				      ab_shell_check_room(n), err);
	if (r < 0)
		return r;
	make_place(guard, place, temps, &where);
	struct sink s = { .d = d };
	struct ab_shell_request q = {
		.pack = guard->rules.pack, .place = &where,
		.arena = &d->arena, .report = on_found,
		.command = on_command, .user = &s,
	};

	/* the parser's copy of the text is the first at the low end */
	d->kept = (const char *)d->arena.low;
	d->kept_len = n;
	return finish(d, ab_shell_check_text(&q, d->text, d->text_len));
}

/* --- argv ----------------------------------------------------------------- */

static int32_t check_args(const agentbox_decision *d, const char *const *args,
			  const size_t *lens, size_t count, size_t *total,
			  agentbox_error **err)
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
		int32_t r = ab_decision_check_input(d, args[i], err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* The arguments joined with blanks, and each as a word of that text. */
static void join_args(char *text, struct ab_word *words,
		      const char *const *args, const size_t *lens,
		      size_t count)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		if (i)
			text[at++] = ' ';
		if (lens[i])
			memcpy(text + at, args[i], lens[i]);
		words[i] = (struct ab_word){
			.text = text + at,
			.len = (uint32_t)lens[i],
			.span = { (uint32_t)at, (uint32_t)(at + lens[i]) },
			.is_quoted = true,
		};
		at += lens[i];
	}
}

/* The arguments in the decision's arena, as its text; NULL: out of memory. */
static struct ab_word *take_args(agentbox_decision *d, const char *const *args,
				 const size_t *lens, size_t count,
				 size_t total)
{
	char *text = ab_arena_high(&d->arena, total + 1);
	struct ab_word *words =
		ab_arena_high(&d->arena, (count + 1) * sizeof(*words));

	if (!text || !words) {
		ab_decision_fail(d);
		return NULL;
	}
	join_args(text, words, args, lens, count);
	d->text_len = total ? total - 1 : 0;
	text[d->text_len] = '\0';
	d->text = text;
	return words;
}

/* What comes of no git at all does not depend on the place. */
static bool is_git(const struct ab_word *words, size_t count)
{
	const struct ab_git_context nowhere = { 0 };
	struct ab_git_result r;

	ab_git_check(words, count, &nowhere, &r);
	return r.verdict != AB_GIT_NONE;
}

static const struct ab_finding not_git = {
	.verdict = AGENTBOX_VERDICT_DENY,
	.severity = AGENTBOX_SEVERITY_MEDIUM,
	.rule = "git.unknown",
	.reason = "not a git command",
	.alternative = "give git and its arguments",
	.command = AB_NO_COMMAND,
	.word = UINT32_MAX,
};

/* A git command is judged by the same rules however it is asked about. */
static int32_t check_words(agentbox_guard *guard, enum ab_decision_kind kind,
			   const agentbox_place *place,
			   const char *const *args, const size_t *lens,
			   size_t count, agentbox_decision **decision,
			   agentbox_error **err)
{
	AB_UNINITIALIZED struct ab_known_path temps[AB_MAX_TEMP_DIRS];
	struct ab_shell_place_text where;
	struct ab_word *words;
	agentbox_decision *d = ab_decision_use(decision, err);
	int32_t r = d ? 0 : decision ? AGENTBOX_ENOMEM : AGENTBOX_EINVAL;
	size_t total = 0;

	if (r == 0)
		r = ab_guard_check_handle(guard, err);
	if (r == 0)
		r = check_args(d, args, lens, count, &total, err);
	if (r == 0)
		r = ab_decision_begin(d, guard, kind, "", 0,
				      ab_shell_check_room(total) + total + 64 +
					      (count + 1) * sizeof(*words),
				      err);
	if (r < 0)
		return r;
	words = take_args(d, args, lens, count, total);
	if (!words)
		return ab_error_nomem(err);
	struct sink s = { .d = d };

	if (kind == AB_DECIDE_GIT && !is_git(words, count)) {
		ab_decision_add(d, &not_git);
		return finish(d, true);
	}
	make_place(guard, place, temps, &where);
	where.is_all_git = kind == AB_DECIDE_GIT;
	struct ab_shell_request q = {
		.pack = guard->rules.pack, .place = &where,
		.arena = &d->arena, .report = on_found,
		.command = on_command, .user = &s,
	};

	return finish(d, ab_shell_check_argv(&q, words, (uint32_t)count));
}

int32_t agentbox_guard_check_argv(agentbox_guard *guard,
				  const agentbox_place *place,
				  const char *const *args, const size_t *lens,
				  size_t count, agentbox_decision **decision,
				  agentbox_error **err)
{
	return check_words(guard, AB_DECIDE_ARGV, place, args, lens, count,
			   decision, err);
}

int32_t agentbox_guard_check_git(agentbox_guard *guard,
				 const agentbox_place *place,
				 const char *const *args, const size_t *lens,
				 size_t count, agentbox_decision **decision,
				 agentbox_error **err)
{
	return check_words(guard, AB_DECIDE_GIT, place, args, lens, count,
			   decision, err);
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

int32_t agentbox_guard_blocked_shell(agentbox_guard *guard,
				     const agentbox_place *place,
				     const char *text, size_t n)
{
	ab_auto(agentbox_decision) *d = NULL;

	if (agentbox_guard_check_shell(guard, place, text, n, &d, NULL) < 0)
		return 1;
	return agentbox_decision_get_verdict(d) != AGENTBOX_VERDICT_ALLOW;
}
