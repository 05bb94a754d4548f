/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a run knows behind branches and loops: values that are one of several,
 * and what is taken back, joined or blurred where roads meet.
 */
#include "config.h"

#include "base/key.h"
#include "shell/state.h"

/* How far up a jump looks for its loop. */
#define MAX_FRAMES 16

bool ab_run_same_word(const struct ab_word *a, const struct ab_word *b)
{
	if (a->len != b->len || a->hole_count != b->hole_count ||
	    memcmp(a->text, b->text, a->len) != 0)
		return false;
	for (uint32_t i = 0; i < a->hole_count; i++)
		if (a->holes[i].at != b->holes[i].at ||
		    a->holes[i].len != b->holes[i].len ||
		    a->holes[i].kind != b->holes[i].kind ||
		    a->holes[i].origin != b->holes[i].origin ||
		    a->holes[i].part != b->holes[i].part ||
		    a->holes[i].one_of != b->holes[i].one_of ||
		    a->holes[i].name != b->holes[i].name)
			return false;
	return true;
}

static inline bool same_value(const struct value *a, const struct value *b)
{
	if (a == b)
		return true;
	if (a->kind != b->kind || a->count != b->count ||
	    a->attributes != b->attributes || !a->keys != !b->keys ||
	    a->origin != b->origin || a->part != b->part ||
	    a->one != b->one || a->other != b->other)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (!ab_run_same_word(&a->words[i], &b->words[i]) ||
		    (a->keys && !ab_run_same_word(&a->keys[i], &b->keys[i])))
			return false;
	return true;
}

/* One of the first few that it may be. */
static bool is_one_of(const struct value *v, const struct value *all)
{
	for (uint32_t i = 0; i <= AB_SHELL_READS && all &&
			     all->kind == VALUE_UNKNOWN && all->one; i++) {
		if (same_value(all->one, v))
			return true;
		all = all->other;
	}
	return false;
}

/* What stands behind all that it may be; NULL: they are too many. */
static const struct value *last_of(const struct value *v)
{
	for (uint32_t i = 0; i <= AB_SHELL_READS; i++) {
		if (v->kind != VALUE_UNKNOWN || !v->one)
			return v;
		v = v->other;
	}
	return NULL;
}

/* Each of the texts before `last`, and what `all` may be. */
static const struct value *add_each(struct ab_shell_run *run,
				    struct ab_stream *origin,
				    const struct value *all,
				    const struct value *v,
				    const struct value *last)
{
	for (; v != last; v = v->other)
		all = ab_run_either(run, origin, v->one, all);
	return all;
}

/* One of them is one of several itself: `a && if b; then x=c; else x=d; fi` */
static const struct value *join_choices(struct ab_shell_run *run,
					struct ab_stream *origin,
					const struct value *a,
					const struct value *b)
{
	const struct value *x = last_of(a), *y = last_of(b), *all = y;

	if (!x || !y)
		return ab_run_unknown(run, origin);
	/* what nobody knows stays the last */
	if (!ab_run_is_text(x) &&
	    (ab_run_is_text(y) || y == &ab_run_absent))
		all = x;
	all = add_each(run, origin, all, b, y);
	if (ab_run_is_text(y) && all != y)
		all = ab_run_either(run, origin, y, all);
	if (ab_run_is_text(x))
		all = ab_run_either(run, origin, x, all);
	return add_each(run, origin, all, a, x);
}

/* Unknown, but one of the two when they are of a kind, or when one of them is
   all that is known: if ...; then x=rm; fi. */
const struct value *ab_run_either(struct ab_shell_run *run,
				  struct ab_stream *origin,
				  const struct value *a, const struct value *b)
{
	const struct value *unknown = ab_run_unknown(run, origin);
	struct value *value;

	if (!ab_run_is_text(a)) {
		const struct value *known = b;

		b = a;
		a = known;
	}
	if (!ab_run_is_text(a) && (a->one || b->one))
		return join_choices(run, origin, a, b);
	if (!ab_run_is_text(a) || (ab_run_is_text(b) && a->kind != b->kind))
		return unknown;
	value = ab_run_high(run, sizeof(*value));
	if (!value)
		return unknown;
	if (is_one_of(a, b)) {
		*value = *b;
		value->origin = unknown->origin;
		value->part = AB_PART_UNKNOWN;
		return value;
	}
	*value = *unknown;
	value->one = a;
	value->other = b;
	return value;
}

/* The texts that it may be: itself, or those of which it is one. */
static const struct value *next_text(const struct value **at)
{
	while (*at) {
		const struct value *v = *at, *text = v;

		*at = NULL;
		if (v->kind == VALUE_UNKNOWN) {
			text = v->one;
			*at = v->other;
		}
		if (text && text->kind == VALUE_SCALAR)
			return text;
	}
	return NULL;
}

const struct ab_word *ab_shell_choice(const struct ab_word *w, uint32_t index)
{
	const struct value *v = w->hole_count == 1 && !w->len ?
					w->holes->one_of : NULL;
	const struct value *text;

	while ((text = next_text(&v))) {
		if (!index--)
			return text->words;
	}
	return NULL;
}

/* It is among them, or they are as many as are kept. */
static bool is_enough(const struct value *v, const struct value *like)
{
	const struct value *text;
	uint32_t count = 0;

	while ((text = next_text(&v))) {
		if (++count == AB_SHELL_ALTERNATIVES || same_value(text, like))
			return true;
	}
	return false;
}

static const struct value *add_texts(struct ab_shell_run *run,
				     struct ab_stream *origin,
				     const struct value *all,
				     const struct value *from)
{
	const struct value *text;

	while ((text = next_text(&from))) {
		if (!is_enough(all, text))
			all = ab_run_either(run, origin, text, all);
	}
	return all;
}

/* Of what no shell has, as a file that was written, each text counts. */
static const struct value *join_texts(struct ab_shell_run *run,
				      struct ab_stream *origin,
				      const struct value *a,
				      const struct value *b)
{
	if (a->kind == VALUE_UNKNOWN && a->origin == origin)
		return add_texts(run, origin, a, b);
	if (b->kind == VALUE_UNKNOWN && b->origin == origin)
		return add_texts(run, origin, b, a);
	a = add_texts(run, origin, ab_run_unknown(run, origin), a);
	return add_texts(run, origin, a, b);
}

static bool is_nothing(const struct value *v)
{
	return v == &ab_run_absent || v->kind == VALUE_UNSET;
}

const struct value *ab_run_meet(struct ab_shell_run *run,
				const struct variable *v,
				const struct value *a, const struct value *b)
{
	struct ab_stream *x, *y, *origin;
	struct stream *stream;

	/* absent on both ways, or not absent */
	if (same_value(a, b))
		return a == &ab_run_absent ? b : a;
	x = a->origin ? a->origin : ab_run_blend(run, a->words, a->count);
	y = b->origin ? b->origin : ab_run_blend(run, b->words, b->count);
	origin = x ? x : y;
	/* where nothing was put into it, the other way's is all there is */
	if (x != y && ((x && y) || (origin->taint & AB_STREAM_GOOD &&
				    !is_nothing(a) && !is_nothing(b)))) {
		stream = ab_run_stream(run, AB_STREAM_JOIN, origin->span);
		if (!stream)
			return &ab_run_anything;
		stream->public.taint = ab_taint_join(x ? x->taint : 0,
						     y ? y->taint : 0);
		origin = &stream->public;
	}
	/* the visitor's own, as the directory, are texts, too */
	return v->flags & VARIABLE_SHARED || *v->name == ' ' ?
		       join_texts(run, origin, a, b) :
		       ab_run_either(run, origin, a, b);
}

/* What a branch leaves in a variable. */
static void keep_outcome(struct ab_shell_run *run, struct variable *v,
			 struct outcome **outcomes)
{
	struct outcome *o = ab_run_high(run, sizeof(*o));
	bool is_kept = v->flags & VARIABLE_SHARED || !ab_run_is_lost(run, v);

	if (!o)
		return;
	o->next = *outcomes;
	o->variable = v;
	o->value = is_kept ? v->value : &ab_run_anything;
	*outcomes = o;
}

void ab_run_back(struct ab_shell_run *run, struct undo *mark,
		 struct outcome **outcomes)
{
	uint64_t stamp = ++run->clock;
	struct undo *shared = NULL, *u;

	run->branch_depth--;
	while ((u = run->trail) != mark) {
		struct variable *v = u->variable;

		run->trail = u->older;
		/* a subshell ends, and what it did to the world stays */
		if (!outcomes && v->flags & VARIABLE_SHARED) {
			u->older = shared;
			shared = u;
			continue;
		}
		if (outcomes && v->stamp != stamp) {
			v->stamp = stamp;
			keep_outcome(run, v, outcomes);
		}
		v->value = u->value;
		v->when = u->when;
	}
	while (run->branch_depth && (u = shared)) {
		shared = u->older;
		u->older = run->trail;
		run->trail = u;
	}
}

void ab_run_join(struct ab_shell_run *run, struct outcome *outcomes,
		 uint32_t branches)
{
	uint64_t stamp = ++run->clock;
	struct outcome *o;

	for (o = outcomes; o; o = o->next) {
		struct variable *v = o->variable;

		if (v->stamp == stamp) {
			v->joined = ab_run_meet(run, v, v->joined, o->value);
			v->joins++;
			continue;
		}
		v->stamp = stamp;
		v->joined = o->value;
		v->joins = 1;
	}
	for (o = outcomes; o; o = o->next) {
		struct variable *v = o->variable;
		const struct value *now;

		if (v->stamp != stamp)
			continue;
		v->stamp = 0;
		now = ab_run_value(run, v->name, v->len);
		if (v->joins < branches)
			v->joined = ab_run_meet(run, v, v->joined, now);
		if (!same_value(v->joined, now) || now == &ab_run_absent ||
		    (ab_run_is_lost(run, v) && !(v->flags & VARIABLE_SHARED)))
			ab_run_set_value(run, v, v->joined);
	}
}

/* The visitor's own that follows the shell, as the directory does. */
static inline bool is_followed(const struct variable *v)
{
	return *v->name == ' ' && !(v->flags & VARIABLE_SHARED);
}

/* What each such was at mark, in joined: the oldest comes last. */
static void find_begun(struct ab_shell_run *run, const struct undo *mark)
{
	for (struct undo *u = run->trail; u != mark; u = u->older) {
		if (!is_followed(u->variable))
			continue;
		u->variable->joined = u->value;
		u->variable->stamp = 0;
	}
}

bool ab_run_goes_on(struct ab_shell_run *run, const struct undo *mark)
{
	for (struct undo *u = run->trail; u != mark; u = u->older)
		u->variable->joined = u->value;
	for (struct undo *u = run->trail; u != mark; u = u->older) {
		const struct variable *v = u->variable;

		if (*v->name != ' ' && v->joined->kind != VALUE_UNKNOWN &&
		    !same_value(v->joined, v->value))
			return true;
	}
	return false;
}

/* `cd d; make; cd ..`: it is again what it was at mark. Asked for the first
   time before anything is made of its value. */
static bool is_back(struct variable *v, uint64_t stamp)
{
	if (!is_followed(v))
		return false;
	if (v->stamp != stamp) {
		v->stamp = stamp;
		v->joins = same_value(v->joined, v->value);
	}
	return v->joins;
}

/* Neither the visitor's own nor what it makes of `cd`. */
static bool is_plain(const struct variable *v)
{
	return !(v->flags & VARIABLE_SHARED) && *v->name != ' ' &&
	       *v->name != '@' && strcmp(v->name, "PWD") != 0 &&
	       strcmp(v->name, "OLDPWD") != 0;
}

bool ab_run_blur(struct ab_shell_run *run, struct undo *mark, bool is_whole,
		 bool is_seen)
{
	uint64_t stamp = ++run->clock;
	bool changed = false;

	if (is_whole)
		find_begun(run, mark);
	for (struct undo *u = run->trail; u != mark; u = u->older) {
		struct variable *v = u->variable;

		if (same_value(u->value, v->value) ||
		    (is_whole && is_back(v, stamp)) ||
		    (is_seen && is_plain(v)))
			continue;
		/* in place: this assignment is on the trail already */
		v->value = ab_run_meet(run, v, u->value, v->value);
		if (v->value->kind != VALUE_UNKNOWN)
			v->value = &ab_run_anything;
		/* or what more rounds make of it; a file is what any did, and
		   the directory may be what one did */
		if (v->value->one && !(v->flags & VARIABLE_SHARED) &&
		    *v->name != ' ')
			v->value = ab_run_unknown(run, v->value->origin);
		changed = true;
	}
	return changed;
}

/* However the loop around it is left, the words are the caller's by then. */
void ab_run_outlive(struct ab_shell_run *run, struct undo *mark)
{
	for (struct undo *u = run->trail; u != mark; u = u->older)
		if (*u->variable->name == '@')
			u->value = u->variable->value;
}

void ab_run_stands(const struct ab_shell_run *run, const struct value *at[2])
{
	for (uint32_t i = 0; i < 2; i++)
		at[i] = run->stands[i] ?
				ab_run_value_of(run, run->stands[i]) :
				NULL;
}

/* Nobody set it, or what was set was taken back. */
static bool is_arrived(const struct ab_shell_run *run)
{
	const struct value *v = run->stayed ?
					ab_run_value_of(run, run->stayed) :
					NULL;

	return !v || (v->kind == VALUE_SCALAR && !v->words->len &&
		      !v->words->hole_count);
}

uint32_t ab_run_moves(const struct ab_shell_run *run)
{
	return is_arrived(run) ? run->moves : UINT32_MAX;
}

void ab_run_arrive(struct ab_shell_run *run, uint32_t moves)
{
	struct ab_word none = { .text = "" };

	if (moves < run->moves && run->overlooked <= moves && !is_arrived(run))
		ab_run_set_value(run, run->stayed, ab_run_scalar(run, &none));
}

/* `{ cd a; make; } && rm x`: that make succeeded says nothing of the cd. */
void ab_run_overlook(struct ab_shell_run *run, uint32_t moves)
{
	if (moves < run->moves && !is_arrived(run))
		run->overlooked = run->moves;
}

/* But for where the shell is, when it was a file: what sets up a project leaves
   that alone, and is not said to do so where nothing led away before. */
void ab_run_forget(struct ab_shell_run *run, bool is_eval)
{
	const struct value *at[2];

	ab_run_stands(run, at);
	ab_shell_forget(run);
	for (uint32_t i = 0; i < 2 && !is_eval; i++)
		if (at[i])
			ab_run_set_value(run, run->stands[i], at[i]);
}

/* Not looked at in what is longer: many jumps may ask. */
#define MAX_STOOD 4096

/* NULL: nothing led away from the first. */
static bool is_same_place(const struct value *a, const struct value *b,
			  const char *first, uint32_t first_len)
{
	if (a == b)
		return true;
	if (!b || b->kind != VALUE_SCALAR || b->words->hole_count ||
	    b->words->len > MAX_STOOD)
		return false;
	if (!a)
		return first && b->words->len == first_len &&
		       ab_same(b->words->text, first, first_len);
	return a->kind == VALUE_SCALAR && same_value(a, b);
}

static bool is_where(const struct ab_shell_run *run,
		     const struct visit_frame *f, const struct value *at[2])
{
	return is_same_place(f->stood[0], at[0], run->context->cwd,
			     run->context->cwd_len) &&
	       is_same_place(f->stood[1], at[1], "", 0);
}

const struct visit_frame *ab_run_loop(const struct ab_shell_run *run)
{
	const struct visit_frame *f = run->top;

	for (uint32_t i = 0; f && !f->is_loop && i < MAX_FRAMES; i++)
		f = f->below;
	return f && f->is_loop ? f : NULL;
}

void ab_run_jump(struct ab_shell_run *run, const struct visit_frame *from,
		 uint32_t flags)
{
	const struct visit_frame *f = run->top;
	const struct value *at[2];

	ab_run_stands(run, at);
	/* where it was before the cd that failed; a cd behind the `||` is a
	   jump itself */
	if (flags & AB_SHELL_UNMOVED) {
		for (uint32_t i = 0; f && !f->is_unmoved && i < MAX_FRAMES; i++)
			f = f->below;
		if (!f || !f->is_unmoved)
			from = NULL;
		else
			memcpy(at, f->stood, sizeof(at));
	}
	if (!from || !is_where(run, from, at))
		run->jumps++;
}

bool ab_run_has_changed(const struct ab_shell_run *run, const struct undo *mark,
			const char *but, uint32_t len)
{
	for (const struct undo *u = run->trail; u != mark; u = u->older) {
		const struct variable *v = u->variable;

		if ((v->len != len || memcmp(v->name, but, len) != 0) &&
		    !same_value(u->value, v->value))
			return true;
	}
	return false;
}
