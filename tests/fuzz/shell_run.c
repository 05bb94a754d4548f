/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The run over any text: it ends, stays inside its memory (sanitizers watch)
 * and tells only words whose holes and maps are in order and whose spans lie
 * in the text. The visitor pushes what eval and `bash -c` would run.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shell/shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good)
{
	if (!good)
		abort();
}

static void check_word(const struct ab_word *w, uint32_t size)
{
	uint32_t at = 0, sum = 0;
	struct ab_span span;

	check(w->span.begin <= w->span.end && w->span.end <= size);
	for (uint32_t i = 0; i < w->hole_count; i++) {
		const struct ab_hole *h = &w->holes[i];

		check(h->at >= at && h->len <= w->len &&
		      h->at + h->len <= w->len);
		check(h->kind >= AB_HOLE_BYTES && h->kind <= AB_HOLE_PROC);
		check(h->span.begin <= h->span.end && h->span.end <= size);
		at = h->at + h->len;
		sum += ab_hole_taint(h) + (h->name ? h->name[0] != 0 : 0);
	}
	for (uint32_t i = 0; i < w->map_count; i++)
		check(i == 0 ? w->map[0].at == 0 :
			       w->map[i].at >= w->map[i - 1].at);
	for (uint32_t i = 0; i < w->len; i++)
		sum += (uint8_t)w->text[i];
	span = ab_word_span(w, 0, w->len);
	check(span.begin <= span.end && span.end <= size && sum + 1 != 0);
}

static int is(const struct ab_word *w, const char *text)
{
	return ab_word_is_exact(w) && w->len == strlen(text) &&
	       memcmp(w->text, text, w->len) == 0;
}

static void check_place(const struct ab_shell_place_of *p, uint32_t size)
{
	check(p->pipe_index < p->pipe_count);
	if (p->in && p->in->value)
		check_word(p->in->value, size);
	if (p->out)
		p->out->taint |= 1;
}

static enum ab_shell_answer command(void *user, struct ab_shell_run *run,
				    const struct ab_shell_command *c)
{
	uint32_t size = *(uint32_t *)user;
	struct ab_shell_text text;

	memset(&text, 0, sizeof(text));
	check_place(&c->place, size);
	for (uint32_t i = 0; i < c->argc; i++)
		check_word(&c->argv[i], size);
	for (uint32_t i = 0; i < c->assign_count; i++)
		for (uint32_t k = 0; k < c->assigns[i].value_count; k++)
			check_word(&c->assigns[i].values[k], size);
	for (uint32_t i = 0; i < c->redir_count; i++)
		check_word(&c->redirs[i].target, size);
	if (c->output)
		check_word(c->output, size);
	if (c->argc > 1 && is(&c->argv[0], "eval")) {
		if (ab_shell_join(run, c->argv + 1, c->argc - 1, &text.text))
			ab_shell_push(run, &text);
	} else if (c->argc > 2 && is(&c->argv[0], "sh")) {
		text.text = c->argv[2];
		text.is_child = true;
		text.args = c->argv + 3;
		text.arg_count = c->argc - 3;
		ab_shell_push(run, &text);
	} else if (c->argc > 1 && is(&c->argv[0], "cd")) {
		ab_shell_set(run, " cwd", 4, &c->argv[1],
			     AB_SHELL_OWN);
	}
	ab_shell_get(run, " cwd", 4, NULL);
	return AB_SHELL_GO;
}

static int depth;

static enum ab_shell_answer scope(void *user, struct ab_shell_run *run,
				  const struct ab_shell_scope *s)
{
	uint32_t size = *(uint32_t *)user;

	(void)run;
	check_place(&s->place, size);
	check(s->span.begin <= s->span.end && s->span.end <= size);
	for (uint32_t i = 0; i < s->word_count; i++)
		check_word(&s->words[i], size);
	for (uint32_t i = 0; i < s->redir_count; i++)
		check_word(&s->redirs[i].target, size);
	return AB_SHELL_GO;
}

static enum ab_shell_answer begin_scope(void *user, struct ab_shell_run *run,
					const struct ab_shell_scope *s)
{
	depth++;
	return scope(user, run, s);
}

static enum ab_shell_answer end_scope(void *user, struct ab_shell_run *run,
				      const struct ab_shell_scope *s)
{
	depth--;
	return scope(user, run, s);
}

static void run_in(const uint8_t *data, size_t size, size_t room)
{
	static const struct ab_shell_visitor visitor = {
		.command = command, .begin = begin_scope, .end = end_scope
	};
	static const struct ab_shell_context context = {
		.home = "/home/u", .home_len = 7
	};
	static const struct ab_shell_limits limits = { .steps = 20000 };
	char *memory = malloc(room);
	struct ab_shell_result result;
	const struct ab_shell_tree *tree;
	struct ab_arena arena;
	uint32_t length = (uint32_t)size;

	if (!memory)
		return;
	ab_arena_init(&arena, memory, room);
	tree = ab_shell_parse(&arena, (const char *)data, size, &limits,
			      &result);
	if (tree)
		ab_shell_run(&arena, tree, &context, &visitor, &length,
			     &result);
	check((result.status == AB_SHELL_OK) == (result.message == NULL));
	check(result.span.begin <= result.span.end &&
	      result.span.end <= size);
	check(depth == 0 || result.status == AB_SHELL_LIMIT);
	depth = 0;
	free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t less = 0;

	run_in(data, size, AB_SHELL_ARENA(size));
	/* too little memory is an answer too, wherever it ends */
	run_in(data, size, size * 8 + 700);
	for (size_t i = 0; i < size; i++)
		less = less * 31 + data[i];
	run_in(data, size, less % (size * 64 + 4096));
	return 0;
}
