/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the text does to files and the working directory, kept in variables
 * that no shell can have: so subshells, branches and loops undo and join them
 * like any variable. And git, which has a table of its own.
 */
#include "config.h"

#include "guard/check.h"

#include <string.h>

#include "base/limits.h"
#include "guard/command.h"
#include "guard/git.h"

#define FILE_PREFIX " file "

/* --- files -------------------------------------------------------------- */

bool ab_mark_variable(struct ab_check *c, const char *name, uint32_t len,
		      uint32_t taint)
{
	struct ab_hole hole = { .kind = AB_HOLE_BYTES };
	struct ab_word word = { .text = "", .holes = &hole, .hole_count = 1 };

	hole.origin = ab_shell_stream(c->run, (struct ab_span){ 0, 0 });
	if (!hole.origin)
		return false;
	hole.origin->taint = taint;
	return ab_shell_set(c->run, name, len, &word);
}

static const char *file_name(struct ab_check *c, const struct ab_word *path,
			     bool is_kept, uint32_t *len)
{
	uint32_t n, skip = sizeof(FILE_PREFIX) - 1;
	const char *text = ab_path_text(c, path, &n);
	char *name;

	if (!text)
		return NULL;
	if (n >= AB_MAX_PATH) { /* no such path, and nobody can follow it */
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, path);
		return NULL;
	}
	/* the shell keeps the names of its variables where they are */
	name = is_kept ? ab_arena_high(c->high, n + skip + 1)
		       : ab_check_alloc(c, n + skip + 1);
	if (!name) {
		c->is_broken = true;
		return NULL;
	}
	memcpy(name, FILE_PREFIX, skip);
	memcpy(name + skip, text, n + 1);
	*len = n + skip;
	return name;
}

static bool last_component(struct ab_check *c, const struct ab_word *url,
			   struct ab_word *out)
{
	uint32_t end = url->len, from;
	const char *query = memchr(url->text, '?', url->len);

	if (query)
		end = (uint32_t)(query - url->text);
	const char *slash = memrchr(url->text, '/', end);

	if (!slash) /* host:file */
		slash = memrchr(url->text, ':', end);
	from = slash ? (uint32_t)(slash - url->text) + 1 : end;
	return ab_word_slice(c, url, from, end - from, out) && out->len;
}

void ab_file_save(struct ab_check *c, const struct ab_word *path,
		  uint32_t taint, const struct ab_word *content, bool is_url)
{
	uint32_t keep = AB_TAINT_REMOTE | AB_TAINT_DECODE | AB_TAINT_CRED |
			AB_TAINT_ENV;
	struct ab_word name;
	uint32_t len;

	if (is_url) {
		if (!last_component(c, path, &name))
			return;
		path = &name;
	}
	if (taint & AB_TAINT_REMOTE)
		ab_check_path(c, c->use, AB_ROLE_WRITE, path);
	if (!(taint & keep) && !content)
		return;
	const char *variable = file_name(c, path, true, &len);
	bool good = true;

	if (!variable)
		return;
	if (content)
		good = ab_shell_set(c->run, variable, len, content);
	else
		good = ab_mark_variable(c, variable, len, taint & keep);
	if (!good)
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_DENY, path);
}

static const struct ab_word *file_content(struct ab_check *c,
					  const struct ab_word *path)
{
	uint32_t len;
	bool is_exported;
	const char *variable = file_name(c, path, false, &len);

	return variable ? ab_shell_get(c->run, variable, len, &is_exported)
			: NULL;
}

uint32_t ab_file_taint(struct ab_check *c, const struct ab_word *path)
{
	const struct ab_word *w = file_content(c, path);

	return w ? ab_word_taint(w) & ~(uint32_t)AB_TAINT_VAR : 0;
}

/* <(...): its bytes are the script. */
static bool run_stream(struct ab_check *c, const struct ab_use *use,
		       const struct ab_word *path)
{
	for (uint32_t i = 0; i < path->hole_count; i++) {
		const struct ab_hole *h = &path->holes[i];

		if (h->kind != AB_HOLE_PROC || !h->origin)
			continue;
		uint32_t taint = h->origin->taint;

		if (h->origin->value)
			ab_check_script(c, h->origin->value, true, NULL, 0,
					NULL);
		else
			ab_check_flow(c, use, AB_SINK_SHELL,
				      taint ? taint : AB_TAINT_FILE, path);
		return true;
	}
	return false;
}

void ab_file_run(struct ab_check *c, const struct ab_use *use,
		 const struct ab_word *path)
{
	if (run_stream(c, use, path))
		return;
	const struct ab_word *content = file_content(c, path);

	if (!content)
		return;
	ab_check_flow(c, use, AB_SINK_RUN,
		      ab_word_taint(content) & ~(uint32_t)AB_TAINT_VAR, path);
	if (content->len)
		ab_check_script(c, content, true, NULL, 0, NULL);
}

/* --- the working directory ---------------------------------------------- */

const struct ab_word *ab_cwd_after(struct ab_check *c, const struct ab_word *w)
{
	struct ab_word *cwd;
	uint32_t len;
	const char *text = ab_path_text(c, w, &len);

	if (!text)
		return NULL;
	cwd = ab_check_alloc(c, sizeof(*cwd));
	if (!cwd)
		return NULL;
	*cwd = (struct ab_word){ .text = text, .len = len };
	return cwd;
}

/* --- git ---------------------------------------------------------------- */

static struct ab_git_text git_text(const struct ab_known_path *p)
{
	return (struct ab_git_text){ .text = p->text, .len = p->len };
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
	if (c->cwd)
		g->cwd = (struct ab_git_text){ .text = c->cwd->text,
					       .len = c->cwd->len };
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

void ab_check_git(struct ab_check *c, const struct ab_word *words,
		  uint32_t count)
{
	struct ab_git_context g;
	struct ab_git_result r = { 0 };
	struct ab_git_assign *env = NULL;
	uint32_t n = c->assign_count;

	if (!ab_git_is_command(&words[0]))
		return;
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
