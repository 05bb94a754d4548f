/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* git inside a shell line: it has a table of its own. */
#include "config.h"

#include "guard/check.h"

#include "guard/command.h"
#include "guard/git.h"

static struct ab_git_text git_text(const struct ab_known_path *p)
{
	return (struct ab_git_text){ .text = p->text, .len = p->len };
}

static bool is_temp_dir(const struct ab_word *cwd)
{
	size_t n = sizeof(AB_TEMP_DIR) - 1;

	return cwd->len >= n && !memcmp(cwd->text, AB_TEMP_DIR, n);
}

static bool git_context(struct ab_check *c, struct ab_git_context *g)
{
	struct ab_git_text *temps;

	*g = (struct ab_git_context){
		.profile = c->place->is_git_strict ? AB_GIT_STRICT
			   : c->place->is_git_relaxed ? AB_GIT_RELAXED
						      : AB_GIT_DEFAULT,
		.worktree = git_text(&c->place->root),
		.home = git_text(&c->place->home),
	};
	/* whose repository that would be is not known */
	if (c->cwd && !is_temp_dir(c->cwd))
		g->cwd = (struct ab_git_text){ .text = c->cwd->text,
					       .len = c->cwd->len };
	g->wants_cwd = c->place->wants_cwd;
	if (!c->place->temp_count)
		return true;
	temps = ab_check_alloc(c, c->place->temp_count * sizeof(*temps));
	if (!temps)
		return false;
	for (uint32_t i = 0; i < c->place->temp_count; i++)
		temps[i] = git_text(&c->place->temps[i]);
	g->temp_dirs = temps;
	g->temp_count = c->place->temp_count;
	return true;
}

static void git_report(struct ab_check *c, const struct ab_git_result *r,
		       const struct ab_word *words, uint32_t count,
		       struct ab_span span)
{
	struct ab_shell_found found = {
		.rule = r->rule,
		.reason = r->reason,
		.alternative = r->alternative,
		.number = UINT16_MAX,
		.verdict = (uint8_t)r->verdict,
		.severity = (uint8_t)r->severity,
		.span = span,
		.words = words,
		.count = count,
		.chain = c->chain,
	};

	c->report(c->user, &found);
}

static void judge_git(struct ab_check *c, const struct ab_word *words,
		      uint32_t count)
{
	struct ab_git_context g;
	struct ab_git_result r = { 0 };
	struct ab_git_assign *env = NULL;
	uint32_t n = c->assign_count;

	if (!git_context(c, &g))
		return;
	if (n && !(env = ab_check_alloc(c, n * sizeof(*env))))
		return;
	for (uint32_t i = 0; i < n; i++) {
		const struct ab_shell_assign *a = &c->assigns[i];

		env[i] = (struct ab_git_assign){
			.name = { .text = a->name, .len = a->name_len },
			.value = a->value_count == 1 ? a->values : NULL,
		};
	}
	g.env = env;
	g.env_count = n;
	ab_git_check(words, count, &g, &r);
	if (r.verdict == AB_GIT_NONE)
		return;
	if (r.verdict == AB_GIT_ALLOW ||
	    (r.verdict == AB_GIT_ASK && c->is_excused))
		return;
	struct ab_span span = { words[0].span.begin,
				words[count - 1].span.end };

	if (r.word < count)
		span = ab_word_span(&words[r.word], r.begin,
				    r.end - r.begin);
	else if (r.env < n)
		span = c->assigns[r.env].span;
	git_report(c, &r, words, count, span);
}

/* $(git rev-parse HEAD), with nothing else in it, and `git tag | head -1`. */
static void note_names(struct ab_check *c, const struct ab_word *words,
		       uint32_t count)
{
	const struct ab_shell_command *m = c->command;
	struct ab_stream *out = m ? m->place.out : NULL;
	bool is_alone;
	const char *note;

	if (!out || m->argv != words)
		return;
	is_alone = out->kind == AB_STREAM_COMMAND &&
		   m->span.begin <= out->span.begin + 3 &&
		   out->span.end <= m->span.end + 2;
	if (!is_alone && out->kind != AB_STREAM_PIPE)
		return;
	note = ab_git_prints(words, count);
	if (note)
		out->note = (void *)(uintptr_t)note;
}

/* What the text wrote or linked is elsewhere then, as with mv. */
static bool moves_files(const struct ab_check *c, const struct ab_word *words,
			uint32_t count)
{
	return (c->has_files || c->links || c->near_links) && count > 3 &&
	       ab_word_equals(&words[1], "mv");
}

void ab_check_git(struct ab_check *c, const struct ab_word *words,
		  uint32_t count)
{
	if (ab_git_is_command(&words[0])) {
		judge_git(c, words, count);
		note_names(c, words, count);
		if (AB_UNLIKELY(moves_files(c, words, count)))
			ab_check_words(c, words + 1, count - 1, 0, NULL,
				       false);
	}
}

void ab_check_git_assign(struct ab_check *c, const char *name, uint32_t len,
			 const struct ab_word *value)
{
	struct ab_git_context g;
	struct ab_git_result r = { 0 };
	struct ab_git_assign a = { .name = { .text = name, .len = len },
				   .value = value };

	if (!git_context(c, &g))
		return;
	ab_git_check_assign(&a, &g, &r);
	if (r.verdict == AB_GIT_ASK || r.verdict == AB_GIT_DENY)
		git_report(c, &r, NULL, 0,
			   value ? value->span : (struct ab_span){ 0 });
}
