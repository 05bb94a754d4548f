/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a run knows: variables with the trail that takes them back, joins of
 * branches, streams. Everything that outlives a command is copied to the high
 * end of the arena.
 */
#include "config.h"

#include "base/key.h"
#include "shell/state.h"

const struct value ab_run_unset = { .kind = VALUE_UNSET };
/* How far up a jump looks for its loop. */
#define MAX_FRAMES 16

static const struct value unknown_value = { .kind = VALUE_UNKNOWN };
const struct value ab_run_absent = { .kind = VALUE_UNKNOWN };

void ab_run_limit(struct ab_shell_run *run, const char *message)
{
	if (run->result->status == AB_SHELL_LIMIT)
		return;
	run->result->status = AB_SHELL_LIMIT;
	run->result->message = message;
	run->result->span = (struct ab_span){ 0, 0 };
	if (run->command)
		run->result->span = run->command->span;
}

/* Names differ at their ends and in the middle. */
static uint32_t hash_of(const char *name, size_t len)
{
	uint32_t h = (uint32_t)len;

	if (len)
		h += 7u * (unsigned char)name[0] +
		     31u * (unsigned char)name[len / 2] +
		     127u * (unsigned char)name[len - 1];
	return h ^ (h >> 6);
}

static uint32_t bucket_of(const char *name, size_t len)
{
	return hash_of(name, len) % VARIABLE_BUCKETS;
}

static inline struct variable *find(const struct ab_shell_run *run,
				    const char *name, size_t len,
				    uint32_t hash)
{
	struct variable *v = run->variables[hash % VARIABLE_BUCKETS];

	while (v && (v->hash != hash || v->len != len ||
		     !ab_same(v->name, name, len)))
		v = v->chain;
	return v;
}

struct variable *ab_run_find(const struct ab_shell_run *run, const char *name,
			     size_t len)
{
	return find(run, name, len, hash_of(name, len));
}

/* Something that the text does not say was done to it since it was set. */
static inline bool is_lost(const struct ab_shell_run *run,
			   const struct variable *v)
{
	return v->when < run->forgotten ||
	       (AB_UNLIKELY(v->when < run->unnamed) &&
		ab_shell_name[(unsigned char)*v->name] == AB_NAME);
}

const struct value *ab_run_value_of(const struct ab_shell_run *run,
				    const struct variable *v)
{
	if (!v)
		return &unknown_value;
	if (v->flags & VARIABLE_SHARED)
		return v->value;
	if (is_lost(run, v))
		return &unknown_value;
	if (v->when < run->child && !(v->flags & VARIABLE_EXPORTED))
		return &unknown_value;
	return v->value;
}

const struct value *ab_run_value(const struct ab_shell_run *run,
				 const char *name, size_t len)
{
	return ab_run_value_of(run, ab_run_find(run, name, len));
}

static bool is_text(const struct value *v)
{
	return v->kind == VALUE_SCALAR || v->kind == VALUE_ARRAY;
}

static bool is_named(const struct variable *v, const char *name, size_t len)
{
	return v->len == len && ab_same(v->name, name, len);
}

/* The directory is that of the context until something leads elsewhere, and
   nothing is pushed. */
static const struct value *first_value(struct ab_shell_run *run,
				       const struct variable *v)
{
	struct ab_word w = { .text = "" };

	if (*v->name != ' ')
		return &ab_run_absent;
	if (is_named(v, AB_SHELL_DIRS, sizeof(AB_SHELL_DIRS) - 1)) {
		run->stands[1] = v;
		return ab_run_scalar(run, &w);
	}
	if (!is_named(v, AB_SHELL_CWD, sizeof(AB_SHELL_CWD) - 1))
		return &unknown_value;
	run->stands[0] = v;
	if (!run->context->cwd)
		return &unknown_value;
	w.text = run->context->cwd;
	w.len = run->context->cwd_len;
	return ab_run_scalar(run, &w);
}

static struct variable *make_variable(struct ab_shell_run *run,
				      const char *name, size_t len,
				      uint32_t hash)
{
	uint32_t bucket = hash % VARIABLE_BUCKETS;
	struct variable *v;
	char *copy;

	if (run->variable_count >= run->limits.variables) {
		/* one of the visitor's own may be among those not followed */
		ab_run_limit(run, "too many variables");
		return NULL;
	}
	v = ab_run_high(run, sizeof(*v) + len + 1);
	if (!v)
		return NULL;
	memset(v, 0, sizeof(*v));
	copy = (char *)(v + 1);
	ab_copy(copy, name, len);
	copy[len] = '\0';
	v->name = copy;
	v->len = (uint32_t)len;
	v->hash = hash;
	run->letters |= ab_shell_letter(*copy);
	v->value = first_value(run, v);
	v->chain = run->variables[bucket];
	run->variables[bucket] = v;
	run->variable_count++;
	return v;
}

static void set_value(struct ab_shell_run *run, struct variable *v,
		      const struct value *value)
{
	if (run->branch_depth) {
		struct undo *u = ab_run_high(run, sizeof(*u));

		if (!u)
			return;
		u->older = run->trail;
		u->variable = v;
		u->value = v->value;
		u->when = v->when;
		run->trail = u;
	}
	v->value = value;
	v->when = ++run->clock;
}

/* The variable that v stands for is that now, or (v may be an end itself) what
   it was. */
static AB_COLD void write_through(struct ab_shell_run *run,
				  const struct variable *v,
				  const struct value *value)
{
	struct variable *to;

	if (!v->refers) {
		ab_run_set_any(run);
		return;
	}
	to = ab_run_find(run, v->refers, v->refers_len);
	if (!to)
		to = make_variable(run, v->refers, v->refers_len,
				   hash_of(v->refers, v->refers_len));
	if (to == v || !to)
		return;
	if (to->flags & VARIABLE_NAMEREF)
		ab_run_set_any(run);
	set_value(run, to, ab_run_either(run, value->origin, value,
					 ab_run_value_of(run, to)));
}

/* References that lead to references. */
#define MAX_REFERENCES 8

static const struct ab_word *reference_of(const struct ab_shell_run *run,
					  const struct variable *v)
{
	const struct value *value = ab_run_value_of(run, v);

	/* no other that is not known has a word */
	return v->flags & VARIABLE_NAMEREF && value->kind == VALUE_UNKNOWN &&
			       value->count ?
		       value->words :
		       NULL;
}

struct variable *ab_run_target(const struct ab_shell_run *run,
			       struct variable *v, const struct ab_word **name)
{
	const struct ab_word *w;

	for (uint32_t i = 0; v && (w = reference_of(run, v)); i++) {
		if (i == MAX_REFERENCES)
			return NULL;
		*name = w;
		v = ab_run_find(run, w->text, w->len);
	}
	return v;
}

/* The variable that is set when v is. */
static AB_COLD struct variable *target_of(struct ab_shell_run *run,
					  struct variable *v)
{
	const struct ab_word *name = NULL;
	struct variable *to = ab_run_target(run, v, &name);

	if (!to && name)
		to = make_variable(run, name->text, name->len,
				   hash_of(name->text, name->len));
	return to;
}

/* Who assigns it did not look at what `declare` said of the variable, or at
   its being an array, of which it is the first element. */
static AB_COLD const struct value *fitting(struct ab_shell_run *run,
					   struct variable *v,
					   const struct value *value)
{
	const struct value *old = ab_run_value_of(run, v);
	struct ab_shell_assign a = { .values = value->words,
				     .value_count = value->count };

	if (value->attributes || !is_text(value))
		return value;
	if ((v->flags & VARIABLE_ATTRIBUTED) &&
	    (old->attributes || (old->kind == VALUE_UNKNOWN && v->when)))
		return ab_value_with(
			run,
			ab_run_unknown(run, ab_run_blend(run, value->words,
							 value->count)),
			old->attributes);
	return old->kind == VALUE_ARRAY && value->kind == VALUE_SCALAR ?
		       ab_value_assigned(run, old, 0, &a) :
		       value;
}

void ab_run_assign(struct ab_shell_run *run, const char *name, size_t len,
		   const struct value *value, uint32_t flags)
{
	uint32_t hash = hash_of(name, len);
	struct variable *v = find(run, name, len, hash);

	if (!value)
		value = &unknown_value;
	if (!v)
		v = make_variable(run, name, len, hash);
	if (AB_UNLIKELY(v && v->flags & VARIABLE_NAMEREF))
		v = target_of(run, v);
	if (!v)
		return; /* the run ends with LIMIT */
	v->flags |= flags;
	if (AB_UNLIKELY(v->flags & VARIABLE_ATTRIBUTED ||
			v->value->kind == VALUE_ARRAY))
		value = fitting(run, v, value);
	set_value(run, v, value);
	if (AB_UNLIKELY(v->flags & VARIABLE_NAMEREF))
		write_through(run, v, value);
}

void ab_run_restore(struct ab_shell_run *run, struct variable *v,
		    const struct value *value)
{
	set_value(run, v, value);
}

/* Not known itself; its word is the name. */
static const struct value *referring(struct ab_shell_run *run,
				     const struct ab_word *name)
{
	struct value *value = ab_run_high(run, sizeof(*value));

	if (!value)
		return &unknown_value;
	*value = unknown_value;
	value->words = name;
	value->count = 1;
	return value;
}

void ab_run_refer(struct ab_shell_run *run, const char *name, size_t len,
		  const struct ab_word *target, bool is_sure)
{
	uint32_t hash = hash_of(name, len);
	struct variable *v = find(run, name, len, hash);
	const struct ab_word *kept = target ? ab_run_keep(run, target) : NULL;
	const struct value *value = kept ? referring(run, kept) :
					   &unknown_value;

	if (!v)
		v = make_variable(run, name, len, hash);
	if (!v)
		return;
	if ((v->flags & VARIABLE_NAMEREF) && !is_sure)
		kept = NULL;
	v->flags |= VARIABLE_NAMEREF;
	v->refers = kept ? kept->text : NULL;
	v->refers_len = kept ? kept->len : 0;
	set_value(run, v, value);
}

/* Whether the bytes stay where they are as long as the run. */
static bool is_kept(const struct ab_shell_run *run, const char *text)
{
	const char *root = (const char *)run->root->text;

	return (text >= root && text <= root + run->root->len) ||
	       ((const unsigned char *)text >= run->arena->high &&
		(const unsigned char *)text < run->arena_end);
}

const struct ab_word *ab_run_keep(struct ab_shell_run *run,
				  const struct ab_word *word)
{
	size_t text = is_kept(run, word->text) ? 0 : word->len;
	size_t holes = word->hole_count * sizeof(*word->holes);
	size_t map = word->map_count * sizeof(*word->map);
	size_t cost = text + (holes + map) / 4;
	struct ab_word *w;
	char *p;

	if (cost > run->expansion)
		return NULL;
	run->expansion -= cost;
	w = ab_run_high(run, sizeof(*w) + holes + map + text);
	if (!w)
		return NULL;
	*w = *word;
	p = (char *)(w + 1);
	if (holes)
		w->holes = memcpy(p, word->holes, holes);
	p += holes;
	if (map)
		w->map = memcpy(p, word->map, map);
	p += map;
	if (text) {
		ab_copy(p, word->text, text);
		w->text = p;
	}
	return w;
}

const struct value *ab_run_unknown(struct ab_shell_run *run,
				   struct ab_stream *origin)
{
	struct value *value;

	if (!origin)
		return &unknown_value;
	value = ab_run_high(run, sizeof(*value));
	if (!value)
		return &unknown_value;
	memset(value, 0, sizeof(*value));
	value->kind = VALUE_UNKNOWN;
	value->origin = origin;
	return value;
}

const struct value *ab_run_part(struct ab_shell_run *run,
				struct ab_stream *origin,
				enum ab_hole_part part)
{
	struct value *value = origin ? ab_run_high(run, sizeof(*value)) : NULL;

	if (!value)
		return &unknown_value;
	*value = (struct value){ .kind = VALUE_UNKNOWN, .origin = origin,
				 .part = (uint8_t)part };
	return value;
}

struct ab_stream *ab_run_blend(struct ab_shell_run *run,
			       const struct ab_word *words, uint32_t count)
{
	struct ab_stream *first = NULL;
	struct stream *blend = NULL;

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < words[i].hole_count; k++) {
			struct ab_stream *s = words[i].holes[k].origin;

			if (!s || s == first)
				continue;
			if (!first) {
				first = s;
				continue;
			}
			if (!blend)
				blend = ab_run_stream(run, AB_STREAM_JOIN,
						      first->span);
			if (blend)
				blend->public.taint |=
					first->taint | s->taint;
		}
	return blend ? &blend->public : first;
}

/* Words that grow by being put together again and again end here. */
static bool is_too_long(const struct ab_shell_run *run,
			const struct ab_word *word)
{
	return word->len > run->limits.value || word->hole_count > 64 ||
	       word->map_count > 1024;
}

const struct value *ab_run_scalar(struct ab_shell_run *run,
				  const struct ab_word *word)
{
	const struct ab_word *kept;
	struct value *value;

	if (is_too_long(run, word) || !(kept = ab_run_keep(run, word)) ||
	    !(value = ab_run_high(run, sizeof(*value))))
		return ab_run_unknown(run, ab_run_blend(run, word, 1));
	value->words = kept;
	value->count = 1;
	value->kind = VALUE_SCALAR;
	value->attributes = 0;
	value->part = AB_PART_UNKNOWN;
	value->is_loose = false;
	value->keys = NULL;
	value->origin = NULL;
	value->one = value->other = NULL;
	return value;
}

const struct value *ab_run_array(struct ab_shell_run *run,
				 const struct ab_word *words, uint32_t count)
{
	struct value *value = ab_run_high(run, sizeof(*value));
	struct ab_word *copy = ab_run_high(run, count * sizeof(*copy));

	if (!value || !copy)
		return &unknown_value;
	for (uint32_t i = 0; i < count; i++) {
		const struct ab_word *w = is_too_long(run, &words[i]) ?
						  NULL :
						  ab_run_keep(run, &words[i]);

		if (!w)
			return ab_run_unknown(
				run, ab_run_blend(run, words, count));
		copy[i] = *w;
	}
	value->words = copy;
	value->count = count;
	value->kind = VALUE_ARRAY;
	value->attributes = 0;
	value->part = AB_PART_UNKNOWN;
	value->is_loose = ab_value_is_loose(copy, count);
	value->keys = NULL;
	value->origin = NULL;
	value->one = value->other = NULL;
	return value;
}

/*
 * Branches.
 */

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

/* Unknown, but one of the two when they are of a kind, or when one of them is
   all that is known: if ...; then x=rm; fi. */
const struct value *ab_run_either(struct ab_shell_run *run,
				  struct ab_stream *origin,
				  const struct value *a, const struct value *b)
{
	const struct value *unknown = ab_run_unknown(run, origin);
	struct value *value;

	if (!is_text(a)) {
		const struct value *known = b;

		b = a;
		a = known;
	}
	if (!is_text(a) || (is_text(b) && a->kind != b->kind))
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

static const struct value *join_values(struct ab_shell_run *run,
				       const struct variable *v,
				       const struct value *a,
				       const struct value *b)
{
	struct ab_stream *x, *y, *origin;
	struct stream *stream;

	/* absent on both ways, or not absent */
	if (same_value(a, b))
		return a == &ab_run_absent ? b : a;
	x = a->origin ? a->origin : ab_run_blend(run, a->words, a->count);
	y = b->origin ? b->origin : ab_run_blend(run, b->words, b->count);
	origin = x ? x : y;
	if (x != y && x && y) {
		stream = ab_run_stream(run, AB_STREAM_JOIN, x->span);
		if (!stream)
			return &unknown_value;
		stream->public.taint = x->taint | y->taint;
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
	bool is_kept = v->flags & VARIABLE_SHARED || !is_lost(run, v);

	if (!o)
		return;
	o->next = *outcomes;
	o->variable = v;
	o->value = is_kept ? v->value : &unknown_value;
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
			v->joined = join_values(run, v, v->joined, o->value);
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
			v->joined = join_values(run, v, v->joined, now);
		if (!same_value(v->joined, now) || now == &ab_run_absent ||
		    (is_lost(run, v) && !(v->flags & VARIABLE_SHARED)))
			set_value(run, v, v->joined);
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

bool ab_run_blur(struct ab_shell_run *run, struct undo *mark, bool is_whole)
{
	uint64_t stamp = ++run->clock;
	bool changed = false;

	if (is_whole)
		find_begun(run, mark);
	for (struct undo *u = run->trail; u != mark; u = u->older) {
		struct variable *v = u->variable;

		if (same_value(u->value, v->value) ||
		    (is_whole && is_back(v, stamp)))
			continue;
		/* in place: this assignment is on the trail already */
		v->value = join_values(run, v, u->value, v->value);
		if (v->value->kind != VALUE_UNKNOWN)
			v->value = &unknown_value;
		/* or what more rounds make of it; a file is what any did, and
		   the directory may be what one did */
		if (v->value->one && !(v->flags & VARIABLE_SHARED) &&
		    *v->name != ' ')
			v->value = ab_run_unknown(run, v->value->origin);
		changed = true;
	}
	return changed;
}

void ab_run_stands(const struct ab_shell_run *run, const struct value *at[2])
{
	for (uint32_t i = 0; i < 2; i++)
		at[i] = run->stands[i] ?
				ab_run_value_of(run, run->stands[i]) :
				NULL;
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

/*
 * Streams.
 */

struct stream *ab_run_stream(struct ab_shell_run *run,
			     enum ab_stream_kind kind, struct ab_span span)
{
	struct stream *s = ab_run_high(run, sizeof(*s));

	if (!s)
		return NULL;
	memset(s, 0, sizeof(*s));
	s->public.kind = kind;
	s->public.span = span;
	s->tail = &s->pieces;
	s->uncertain = run->uncertain;
	return s;
}

void ab_run_write(struct ab_shell_run *run, struct ab_stream *stream,
		  const struct ab_word *word)
{
	/* public is the first member */
	struct stream *s = (struct stream *)(void *)stream;
	struct piece *piece;

	stream->writes += stream->writes < UINT32_MAX;
	if (s->is_unknown)
		return;
	if (word && word->len == 0 && word->hole_count == 0)
		return;
	s->is_unsure |= run->uncertain != s->uncertain;
	if (!word ||
	    (s->is_unsure && stream->kind != AB_STREAM_REDIRECT) ||
	    !(piece = ab_run_high(run, sizeof(*piece))) ||
	    !(piece->word = ab_run_keep(run, word))) {
		s->is_unknown = true;
		return;
	}
	piece->next = NULL;
	*s->tail = piece;
	s->tail = &piece->next;
}

static const struct ab_word empty_word = { .text = "" };

/* Trailing newlines go, as $(...) does it. */
static const struct ab_word *without_newlines(struct ab_shell_run *run,
					      const struct ab_word *word)
{
	uint32_t len = word->len;
	struct ab_word *w;

	while (len && word->text[len - 1] == '\n' &&
	       (!word->hole_count ||
		word->holes[word->hole_count - 1].at +
				word->holes[word->hole_count - 1].len <
			len))
		len--;
	if (len == word->len)
		return word;
	w = ab_run_high(run, sizeof(*w));
	if (!w)
		return NULL;
	*w = *word;
	w->len = len;
	while (w->map_count && w->map[w->map_count - 1].at >= len &&
	       w->map_count > 1)
		w->map_count--;
	return w;
}

static const struct ab_word *join_pieces(struct ab_shell_run *run,
					 const struct piece *piece)
{
	struct segments list = { NULL, &list.first };
	struct fields fields = { 0 };

	for (; piece; piece = piece->next)
		ab_segments_add_word(run, &list, piece->word, SEGMENT_QUOTED);
	ab_expand_fields(run, list.first, EXPAND_ONE, &fields);
	return fields.count ? ab_run_keep(run, &fields.words[0]) : NULL;
}

void ab_run_close(struct ab_shell_run *run, struct stream *s,
		  bool is_substitution)
{
	const struct ab_word *value = &empty_word;
	void *mark = run->arena->low;

	if (s->is_unknown)
		return;
	if (s->pieces)
		value = s->pieces->next ? join_pieces(run, s->pieces) :
					  s->pieces->word;
	if (value && is_substitution)
		value = without_newlines(run, value);
	s->public.most = value;
	if (!s->is_unsure)
		s->public.value = value;
	ab_arena_release(run->arena, mark);
}

void ab_run_define(struct ab_shell_run *run, struct function *f)
{
	f->chain = run->functions;
	run->functions = f;
	run->function_count++;
	run->function_mask |= (uint64_t)1 << bucket_of(f->public.name,
						       f->public.name_len);
}

struct function *ab_run_function(const struct ab_shell_run *run,
				 const char *name, size_t len)
{
	struct function *f = run->functions;

	if (!(run->function_mask >> bucket_of(name, len) & 1))
		return NULL;
	while (f && (f->public.name_len != len ||
		     memcmp(f->public.name, name, len) != 0))
		f = f->chain;
	return f;
}

const struct function *ab_run_older(const struct function *f)
{
	const struct function *older = f->chain;

	while (older && (older->public.name_len != f->public.name_len ||
			 memcmp(older->public.name, f->public.name,
				f->public.name_len) != 0))
		older = older->chain;
	return older;
}

void ab_run_undefine(struct ab_shell_run *run, const struct ab_word *name)
{
	struct function *f;

	if (name->hole_count) {
		run->may_lack_functions = true;
		return;
	}
	f = ab_run_function(run, name->text, name->len);
	if (f)
		f->public.is_perhaps = true;
}
