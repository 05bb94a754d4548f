/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values that are one of several: which of them the command at hand is read
 * with, and what a word of a list may be whose place nobody knows, since one
 * in front of it may be many, or none (bash(1), Word Splitting, nullglob).
 * What is looked at has a limit; beyond that nothing is known.
 */
#include "config.h"

#include "base/key.h"
#include "shell/state.h"

#define MAX_WORDS 64 /* of a list, that are looked at */

/* Its place among the values that the command has readings of. */
static uint32_t place_of(struct ab_shell_run *run, const struct value *v)
{
	uint32_t i = 0;

	while (i < run->read_count && i < AB_SHELL_READS && run->reads[i] != v)
		i++;
	return i;
}

/* They are in pairs, of which the second may be a pair again. */
const struct value *ab_choice_read(struct ab_shell_run *run,
				   const struct value *v)
{
	const struct value *first = v;

	for (uint32_t i; v && v->kind == VALUE_UNKNOWN && v->one;) {
		i = place_of(run, v);
		if (run->is_reading) {
			/* met in a value that is read: known no more */
			if (i >= run->read_count || i >= AB_SHELL_READS)
				return first;
			run->readings_seen |= 1u << i;
			first = run->reading >> i & 1 ? v->other : v->one;
			v = first;
			continue;
		}
		if (i == run->read_count && i < AB_SHELL_READS)
			run->reads[i] = v;
		run->read_count += i == run->read_count || i == AB_SHELL_READS;
		v = run->read_count > AB_SHELL_READS ? NULL : v->other;
	}
	return first;
}

/*
 * Programs that are looked for.
 */

#define MAX_FOUND 4

/* 2>/dev/null: what it prints goes where it went. */
static bool is_quiet(const struct cmd *cmd)
{
	const struct redir *r = cmd->redirs;

	while (r && r->fd == 2 && r->kind == AB_REDIR_WRITE)
		r = r->next;
	return !r;
}

/* The last word of `command -v x`, `which x`, and of `echo x` at the end, which
   is what each of them prints or, if it is not there, nothing. */
static const struct word *looked_for(const struct ab_shell_run *run,
				     const struct ab_shell_tree *tree,
				     const struct cmd *cmd)
{
	const struct word *w = cmd->words, *option = w ? w->next : NULL;
	uint32_t count = cmd->builtin == AB_BUILTIN_COMMAND ||
					 cmd->builtin == AB_BUILTIN_TYPE
				 ? 3 : 2;

	if (!ab_tree_is_plain(cmd) || cmd->word_count != count ||
	    cmd->flags & (CMD_BANG | CMD_TIME | CMD_COPROC | CMD_BACKGROUND) ||
	    cmd->pipe_count > 1 || !is_quiet(cmd) || !option || run->functions)
		return NULL;
	switch ((enum ab_builtin)cmd->builtin) {
	case AB_BUILTIN_COMMAND:
	case AB_BUILTIN_TYPE:
		if (option->end - option->begin != 2 ||
		    memcmp(tree->text + option->begin,
			   cmd->builtin == AB_BUILTIN_TYPE ? "-p" : "-v", 2))
			return NULL;
		return option->next;
	case AB_BUILTIN_WHICH:
		return option;
	case AB_BUILTIN_ECHO:
		return cmd->next || tree->text[option->begin] == '-' ? NULL
								     : option;
	default:
		return NULL;
	}
}

void ab_choice_found(struct ab_shell_run *run,
		     const struct ab_shell_tree *tree, const struct part *part)
{
	/* public is the first member */
	struct stream *s = (struct stream *)(void *)part->stream;
	const struct cmd *cmd = part->u.list;
	struct ab_word *all;
	uint32_t n = 0;

	if (!s || s->found || !cmd || cmd->op != CMD_OP_OR)
		return;
	all = ab_run_high(run, MAX_FOUND * sizeof(*all));
	for (; all && cmd; cmd = cmd->next) {
		const struct word *w = looked_for(run, tree, cmd);

		if (!w || n == MAX_FOUND ||
		    (cmd->next && cmd->op != CMD_OP_OR))
			return;
		ab_visit_exact(tree, w, &all[n++]);
	}
	s->found = all;
	s->found_count = all ? n : 0;
}

const struct ab_word *ab_shell_found(const struct ab_stream *s, uint32_t index)
{
	const struct stream *stream = (const struct stream *)(const void *)s;

	return stream && index < stream->found_count ? &stream->found[index]
						     : NULL;
}

/*
 * Lists.
 */

static bool is_loose(const struct ab_word *w)
{
	return ab_value_is_loose(w, 1);
}

/* A pattern takes one name at least, or is itself; `$x` may be nothing. */
static bool may_be_none(const struct ab_shell_run *run,
			const struct ab_word *w)
{
	if (!is_loose(w))
		return false;
	for (uint32_t i = 0; i < w->hole_count; i++)
		if (w->holes[i].kind == AB_HOLE_FIELDS)
			return true;
	return run->options & AB_SHELL_NULLGLOB ||
	       !ab_value_is_first(run, w, 0);
}

/* Nothing of it is known. */
static bool is_any(const struct ab_word *w)
{
	return !w->len && w->hole_count;
}

/* The words that may be there. */
struct found {
	struct ab_word *words; /* the first is left free */
	uint32_t count;
};

static void find_one(struct found *f, const struct ab_word *w)
{
	if (is_any(w))
		return;
	for (uint32_t i = 1; i <= f->count; i++)
		if (ab_run_same_word(&f->words[i], w))
			return;
	f->words[++f->count] = *w;
}

/* From the one side that `at` counts from. */
static void find(struct ab_shell_run *run, const struct value *list,
		 int64_t at, struct found *f)
{
	bool is_back = at < 0, is_open = at == AB_CHOICE_ANY;
	int64_t least = is_back ? 0 : -list->shifted;
	int64_t place = is_back ? -1 - at : at;

	for (uint32_t i = 0; i < list->count && i < MAX_WORDS; i++) {
		const struct ab_word *w =
			&list->words[is_back ? list->count - 1 - i : i];

		is_open |= is_loose(w);
		if (least > place)
			return;
		if (is_open || least == place)
			find_one(f, w);
		least += !may_be_none(run, w);
	}
}

static const struct value *make(struct ab_shell_run *run,
				const struct value *list, int64_t at)
{
	uint32_t room = list->count < MAX_WORDS ? list->count : MAX_WORDS;
	struct ab_stream *origin = ab_run_blend(run, list->words, room);
	const struct value *all = ab_run_unknown(run, origin);
	struct found f = { ab_run_low(run, (room + 1) * sizeof(*f.words)), 0 };
	struct ab_hole any = { .kind = AB_HOLE_BYTES, .origin = origin,
			       .span = list->words->span };

	if (!f.words)
		return all;
	find(run, list, at, &f);
	for (uint32_t i = 1; i <= f.count && f.count <= AB_SHELL_READS; i++)
		all = ab_run_either(run, origin,
				    ab_run_scalar(run, &f.words[i]), all);
	if (f.count <= AB_SHELL_READS)
		return all;
	/* nothing that is known stands in front */
	f.words[0] = (struct ab_word){ .text = "", .span = any.span,
				       .holes = &any, .hole_count = 1 };
	return ab_run_array(run, f.words, f.count + 1);
}

const struct value *ab_choice_pick(struct ab_shell_run *run,
				   const struct value *list, int64_t at)
{
	struct pick *p = run->picks;

	for (uint32_t i = 0; i < run->pick_count && i < AB_SHELL_PICKS; i++)
		if (p[i].from == list && p[i].at == at)
			return p[i].value;
	if (!list->count || at == INT64_MIN)
		return ab_run_unknown(run, list->origin);
	/* it was picked, unless more were than a command is read with */
	if (run->is_reading)
		return ab_run_unknown(run, list->origin);
	p += run->pick_count++ % AB_SHELL_PICKS;
	p->from = list;
	p->at = at;
	p->value = make(run, list, at);
	return p->value;
}

/* Any fields, and behind them the list from the first that may be many. */
static struct value *loosened(struct ab_shell_run *run,
			      const struct value *list, uint32_t first)
{
	uint32_t count = list->count - first + 1;
	struct ab_hole any = { .kind = AB_HOLE_FIELDS,
			       .span = list->words->span,
			       .origin = ab_run_blend(run, list->words,
						      list->count) };
	struct ab_word *words = ab_run_low(run, count * sizeof(*words));
	struct value *out = ab_run_high(run, sizeof(*out));

	if (!words || !out)
		return NULL;
	words[0] = (struct ab_word){ .text = "", .span = any.span,
				     .holes = &any, .hole_count = 1 };
	memcpy(words + 1, list->words + first, (count - 1) * sizeof(*words));
	*out = *ab_run_array(run, words, count);
	return out;
}

const struct value *ab_choice_shift(struct ab_shell_run *run,
				    const struct value *list, int64_t n)
{
	uint32_t first = 0;
	struct value *out;

	while (first < list->count && !is_loose(&list->words[first]))
		first++;
	if (n < 0 || n > UINT32_MAX)
		return ab_run_unknown(run, list->origin);
	n += list->shifted - (int64_t)first;
	if (n < 0 || n > UINT8_MAX)
		return ab_run_unknown(run, list->origin);
	if (first || !is_any(list->words)) {
		out = loosened(run, list, first);
	} else {
		out = ab_run_high(run, sizeof(*out));
		if (out)
			*out = *list;
	}
	if (!out)
		return &ab_run_anything;
	out->shifted = (uint8_t)n;
	return out;
}
