/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ${x:-y}, ${x:=y} and ${x:+y} of a parameter that nobody knows: what y says is
 * likely, in as many fields as its separators make of it (bash(1), Parameter
 * Expansion and Word Splitting).
 */
#include "config.h"

#include "shell/param.h"

bool ab_param_is_given(const struct expansion *e)
{
	const struct ab_word *w = e->word;

	for (uint32_t i = 0; w && i < w->hole_count; i++) {
		const struct ab_hole *h = &w->holes[i];

		if (h->kind == AB_HOLE_LIKELY ? h->is_test :
		    (h->origin || (h->name && ab_run_find(e->run, h->name,
							  strlen(h->name)))))
			return true;
	}
	return e->is_given;
}

/* What stands in it may separate fields. */
static bool has_separator(const struct expansion *e, const char *text,
			  uint32_t len)
{
	const char *ifs = " \t\n";
	uint32_t ifs_len = 3;

	ab_run_ifs(e->run, &ifs, &ifs_len);
	for (uint32_t i = 0; i < len; i++) {
		if (memchr(ifs, text[i], ifs_len))
			return true;
	}
	return false;
}

/* How the argument ends up in fields. */
enum likely_split {
	LIKELY_ONE,   /* it is one word, or a part of one */
	LIKELY_SPLIT, /* blanks in it separate, wherever they stand */
	LIKELY_PARTS  /* some of it is quoted, or not known */
};

/* "${x:-$dir/y}", where a command printed $dir: what is likely is no /y. */
static bool begins_open(const struct expansion *e, const struct segment *args)
{
	return e->param->op != OP_OTHER && args && args->hole && !args->len &&
	       args->origin && args->next;
}

static enum likely_split split_of(const struct expansion *e,
				  const struct segment *args)
{
	bool is_assign = e->param->op == OP_ASSIGN, is_mixed = false;
	bool is_split = false, has_parts = false;

	if (e->flags & SEGMENT_QUOTED)
		return begins_open(e, args) ? LIKELY_PARTS : LIKELY_ONE;
	for (; args; args = args->next) {
		bool is_quoted = args->flags & SEGMENT_QUOTED;
		bool is_open = args->hole && !args->len;

		has_parts |= (args->flags & SEGMENT_BREAK) ||
			     args->hole == AB_HOLE_PROC;
		/* ${x:=...} is a value, whose quotes are gone */
		is_mixed |= is_open || (is_quoted && !is_assign);
		is_split |= !is_open && (is_assign || !is_quoted) &&
			    has_separator(e, args->text, args->len);
	}
	if (has_parts)
		return is_assign ? LIKELY_ONE : LIKELY_PARTS;
	return !is_split ? LIKELY_ONE : is_mixed ? LIKELY_PARTS : LIKELY_SPLIT;
}

static bool may_vanish(const struct expansion *e)
{
	return e->param->op == OP_OTHER && !(e->flags & SEGMENT_QUOTED);
}

/* Each part of the argument for itself: what is likely, and what of it nobody
   knows. */
static struct segment *add_parts(struct expansion *e,
				 const struct segment *args,
				 struct ab_stream *origin)
{
	struct segment **first = e->list->tail;

	for (; args; args = args->next) {
		/* but for the bounds of fields, and quotes of nothing */
		bool is_text = !args->hole && args->len;
		bool is_split = e->param->op == OP_ASSIGN ||
				!(args->flags & SEGMENT_QUOTED);
		struct segment *s = ab_segments_hole(
			e->run, e->list, AB_HOLE_LIKELY, e->span, e->name,
			origin);

		if (!s)
			break;
		if (!is_text) {
			*s = *args;
			s->next = NULL;
		} else {
			s->text = args->text;
			s->len = args->len;
			s->is_test = e->param->op == OP_OTHER;
		}
		s->may_vanish = may_vanish(e) && s->hole;
		if (is_split && s->hole == AB_HOLE_LIKELY)
			s->flags = SEGMENT_SPLIT;
		if (is_split && s->hole == AB_HOLE_BYTES)
			s->hole = AB_HOLE_FIELDS;
	}
	return *first;
}

/* Of a default that nobody knows nothing is likely. */
static enum ab_hole_kind likely_kind(const struct expansion *e,
				     const struct ab_word *w)
{
	if (w->len || !w->hole_count || e->param->op == OP_OTHER)
		return AB_HOLE_LIKELY;
	return e->flags & SEGMENT_QUOTED ? AB_HOLE_BYTES : AB_HOLE_FIELDS;
}

/* What speaks for the default does not speak for what it may be instead. */
static struct ab_stream *not_good(const struct expansion *e,
				  struct ab_stream *origin)
{
	struct stream *s;

	if (!origin || !(origin->taint & AB_STREAM_GOOD))
		return origin;
	s = ab_run_stream(e->run, AB_STREAM_JOIN, origin->span);
	if (!s)
		return NULL;
	s->public.taint = origin->taint & ~AB_STREAM_GOOD;
	return &s->public;
}

struct segment *ab_param_likely(struct expansion *e, struct segment *args)
{
	enum likely_split split = split_of(e, args);
	struct ab_word w;
	struct ab_stream *origin = e->value->origin;
	struct segment *s;

	if (!origin && e->word && e->word->hole_count)
		origin = e->word->holes->origin ?
				 e->word->holes->origin :
				 ab_run_said(e->run, e->word);
	if (!origin && ab_param_is_given(e))
		origin = ab_shell_stream(e->run, e->span);
	if (split == LIKELY_PARTS)
		return add_parts(e, args, origin);
	ab_param_argument(e, args, EXPAND_ONE, &w);
	/* "${x:-$(curl y)}": whose output it likely is */
	if (!origin)
		origin = ab_run_blend(e->run, &w, 1);
	s = ab_segments_hole(e->run, e->list, likely_kind(e, &w), e->span,
			     e->name, not_good(e, origin));
	if (s) {
		s->text = w.text;
		s->len = w.len;
		s->is_test = e->param->op == OP_OTHER && !w.hole_count;
		s->may_vanish = may_vanish(e);
		if (split == LIKELY_SPLIT)
			s->flags = SEGMENT_SPLIT;
	}
	return s;
}

void ab_param_assign_likely(struct expansion *e, struct segment *s)
{
	struct ab_hole hole = { .len = s->len, .span = e->span,
				.kind = s->hole == AB_HOLE_LIKELY ?
						AB_HOLE_LIKELY :
						AB_HOLE_BYTES,
				.name = e->name, .origin = s->origin };
	struct ab_word w = { .text = s->text, .len = s->len,
			     .span = e->span, .holes = &hole,
			     .hole_count = 1 };

	if (s->next)
		ab_param_argument(e, s, EXPAND_ONE, &w);
	ab_run_assign(e->run, e->name, strlen(e->name),
		      ab_run_scalar(e->run, &w), 0);
}
