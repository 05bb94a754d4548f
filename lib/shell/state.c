/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a run knows: variables with the trail that takes them back, streams,
 * functions. Everything that outlives a command is copied to the high end of
 * the arena.
 */
#include "config.h"

#include "base/key.h"
#include "shell/state.h"

const struct value ab_run_unset = { .kind = VALUE_UNSET };

const struct value ab_run_anything = { .kind = VALUE_UNKNOWN };
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

const struct value *ab_run_value_of(const struct ab_shell_run *run,
				    const struct variable *v)
{
	if (!v)
		return &ab_run_anything;
	if (v->flags & VARIABLE_SHARED)
		return v->value;
	if (ab_run_is_lost(run, v))
		return &ab_run_anything;
	/* of another shell; what is nowhere set is not here, either */
	if (v->when < run->child && !(v->flags & VARIABLE_EXPORTED) && v->when)
		return &ab_run_anything;
	return v->value;
}

const struct value *ab_run_value(const struct ab_shell_run *run,
				 const char *name, size_t len)
{
	return ab_run_value_of(run, ab_run_find(run, name, len));
}

static bool is_named(const struct variable *v, const char *name, size_t len)
{
	return v->len == len && ab_same(v->name, name, len);
}

/* The directory is that of the context until something leads elsewhere, and
   nothing is pushed. */
static const struct value *first_value(struct ab_shell_run *run,
				       struct variable *v)
{
	struct ab_word w = { .text = "" };

	if (*v->name != ' ')
		return &ab_run_absent;
	if (is_named(v, AB_SHELL_DIRS, sizeof(AB_SHELL_DIRS) - 1)) {
		run->stands[1] = v;
		return ab_run_scalar(run, &w);
	}
	if (is_named(v, AB_SHELL_STAYED, sizeof(AB_SHELL_STAYED) - 1)) {
		run->stayed = v;
		return ab_run_scalar(run, &w);
	}
	if (!is_named(v, AB_SHELL_CWD, sizeof(AB_SHELL_CWD) - 1))
		return &ab_run_anything;
	run->stands[0] = v;
	if (!run->context->cwd)
		return &ab_run_anything;
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
	if (AB_UNLIKELY(run->sets_any))
		ab_later_any(run, v);
	return v;
}

void ab_run_set_value(struct ab_shell_run *run, struct variable *v,
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
	ab_run_set_value(run, to,
			 ab_run_either(run, value->origin, value,
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

static void note_sums(struct ab_shell_run *run, const struct value *value)
{
	for (uint32_t i = 0; i < value->count; i++) {
		const struct ab_word *w = &value->words[i];
		struct reckoned *one = memchr(w->text, '[', w->len) ?
					ab_run_high(run, sizeof(*one)) : NULL;

		if (!one)
			continue;
		one->word = w;
		one->next = run->reckoned;
		run->reckoned = one;
	}
}

/* Whichever it is. */
static void note_sum(struct ab_shell_run *run, const struct value *value)
{
	for (; value; value = value->other) {
		const struct value *one = value->one ? value->one : value;

		if (ab_run_is_text(one))
			note_sums(run, one);
	}
}

void ab_run_reckon(struct ab_shell_run *run,
		   const struct ab_shell_place_of *place)
{
	const struct reckoned *one = run->reckoned;

	run->reckoned = NULL;
	for (; AB_UNLIKELY(one != NULL); one = one->next)
		ab_visit_embedded(run, one->word, place);
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

	if (old->attributes & VALUE_INTEGER && !value->attributes)
		note_sum(run, value);
	if (value->kind == VALUE_UNKNOWN && !value->attributes &&
	    v->flags & VARIABLE_ATTRIBUTED)
		return ab_value_with(run, value, old->attributes);
	if (value->attributes || !ab_run_is_text(value))
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

/* Some `readonly` named it; who assigns it then fails, if that was said of the
   same variable and in this shell, and nothing more of the line is done. */
static AB_COLD const struct value *kept_or(struct ab_shell_run *run,
					   const struct variable *v,
					   const struct value *value)
{
	const struct value *old = ab_run_value_of(run, v);

	return old->kind == VALUE_UNSET || !v->when ?
		       value :
		       ab_run_either(run, value->origin, old, value);
}

void ab_run_assign(struct ab_shell_run *run, const char *name, size_t len,
		   const struct value *value, uint32_t flags)
{
	uint32_t hash = hash_of(name, len);
	struct variable *v = find(run, name, len, hash);

	if (!value)
		value = &ab_run_anything;
	if (!v)
		v = make_variable(run, name, len, hash);
	if (AB_UNLIKELY(v && v->flags & VARIABLE_NAMEREF))
		v = target_of(run, v);
	if (!v)
		return; /* the run ends with LIMIT */
	if (AB_UNLIKELY(v->flags & VARIABLE_READONLY || run->has_ended))
		value = kept_or(run, v, value);
	v->flags |= flags;
	if (AB_UNLIKELY(v->flags & (VARIABLE_ATTRIBUTED | VARIABLE_LATER) ||
			v->value->kind == VALUE_ARRAY)) {
		value = fitting(run, v, value);
		if (v->flags & VARIABLE_LATER)
			value = ab_run_meet(run, v, value, v->later);
	}
	ab_run_set_value(run, v, value);
	if (AB_UNLIKELY(v->flags & VARIABLE_NAMEREF))
		write_through(run, v, value);
}

void ab_run_restore(struct ab_shell_run *run, struct variable *v,
		    const struct value *value)
{
	if (AB_UNLIKELY(v->flags & VARIABLE_LATER))
		value = ab_run_meet(run, v, value, v->later);
	ab_run_set_value(run, v, value);
}

/* Not known itself; its word is the name. */
static const struct value *referring(struct ab_shell_run *run,
				     const struct ab_word *name)
{
	struct value *value = ab_run_high(run, sizeof(*value));

	if (!value)
		return &ab_run_anything;
	*value = ab_run_anything;
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
					   &ab_run_anything;

	if (!v)
		v = make_variable(run, name, len, hash);
	if (!v)
		return;
	if ((v->flags & VARIABLE_NAMEREF) && !is_sure)
		kept = NULL;
	v->flags |= VARIABLE_NAMEREF;
	v->refers = kept ? kept->text : NULL;
	v->refers_len = kept ? kept->len : 0;
	ab_run_set_value(run, v, value);
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
		return &ab_run_anything;
	value = ab_run_high(run, sizeof(*value));
	if (!value)
		return &ab_run_anything;
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
		return &ab_run_anything;
	*value = (struct value){ .kind = VALUE_UNKNOWN, .origin = origin,
				 .part = (uint8_t)part };
	return value;
}

/* It is that stream as a whole, and no more. */
static bool is_whole_stream(const struct ab_word *words, uint32_t count)
{
	return count == 1 && !words->len && words->hole_count == 1 &&
	       !words->holes->is_cut;
}

/* What the name of a variable says that the text does not know. */
static uint32_t said_by(const struct ab_shell_run *run,
			const struct ab_hole *hole)
{
	return hole->name && !hole->is_test && run->visitor->named ?
		       run->visitor->named(hole->name) : 0;
}

struct ab_stream *ab_run_said(struct ab_shell_run *run,
			      const struct ab_word *word)
{
	uint32_t said = 0;
	struct stream *s;

	for (uint32_t i = 0; i < word->hole_count; i++)
		said |= said_by(run, &word->holes[i]);
	if (AB_LIKELY(!said))
		return NULL;
	s = ab_run_stream(run, AB_STREAM_JOIN, word->span);
	if (!s)
		return NULL;
	s->public.taint = said;
	return &s->public;
}

struct ab_stream *ab_run_blend(struct ab_shell_run *run,
			       const struct ab_word *words, uint32_t count)
{
	struct ab_stream *first = NULL;
	struct stream *blend = NULL;
	uint32_t taint = 0, said = 0;
	bool is_many = false;

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < words[i].hole_count; k++) {
			struct ab_stream *s = words[i].holes[k].origin;

			said |= s ? 0 : said_by(run, &words[i].holes[k]);
			if (!s || s == first)
				continue;
			is_many |= first != NULL;
			first = first ? first : s;
			taint |= s->taint;
		}
	is_many |= said != 0;
	/* with text beside it, what speaks for the stream is not true of all */
	if (!is_many && (!first || !(taint & AB_STREAM_GOOD) ||
			 is_whole_stream(words, count)))
		return first;
	blend = ab_run_stream(run, AB_STREAM_JOIN,
			      first ? first->span : words->span);
	if (!blend)
		return NULL;
	blend->public.taint = (taint & ~AB_STREAM_GOOD) | said;
	return &blend->public;
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
	value->shifted = 0;
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
		return &ab_run_anything;
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
	value->shifted = 0;
	value->keys = NULL;
	value->origin = NULL;
	value->one = value->other = NULL;
	return value;
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

/* What is known of what goes to a file counts, whatever is beside it. */
static bool keeps_parts(const struct ab_stream *s)
{
	return s->kind == AB_STREAM_REDIRECT || s->kind == AB_STREAM_PIPE ||
	       s->kind == AB_STREAM_PROC_IN;
}

#define MAX_CHOICES 3

/* $([ x ] && echo a || echo b): one of few. */
static bool is_choice(const struct stream *s)
{
	return s->public.kind == AB_STREAM_COMMAND && !s->has_sure &&
	       s->public.writes <= MAX_CHOICES;
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
	s->has_sure |= run->uncertain == s->uncertain;
	if (!word && keeps_parts(stream)) {
		s->is_unsure = stream->is_part = true;
		return;
	}
	if (!word ||
	    (s->is_unsure && !keeps_parts(stream) && !is_choice(s)) ||
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

void ab_run_likely(struct ab_shell_run *run, struct ab_stream *stream,
		   const struct ab_word *word)
{
	/* public is the first member */
	struct stream *s = (struct stream *)(void *)stream;

	if (stream->writes == 1 && !s->pieces && word->len)
		s->likely = ab_run_keep(run, word);
}

/* It may be that, and otherwise nobody knows. */
static void add_choice(struct ab_shell_run *run, struct stream *s,
		       const struct ab_word *w)
{
	const struct value *all = s->either ?
		s->either : ab_run_unknown(run, &s->public);

	for (uint32_t i = 0; w && i < w->hole_count; i++)
		if (w->holes[i].kind != AB_HOLE_HOME)
			return;
	if (w)
		all = ab_run_either(run, &s->public, ab_run_scalar(run, w),
				    all);
	if (all->one)
		s->either = all;
}

void ab_run_close(struct ab_shell_run *run, struct stream *s,
		  bool is_substitution)
{
	const struct ab_word *value = &empty_word;
	void *mark = run->arena->low;

	if (s->is_unknown) {
		if (AB_UNLIKELY(s->likely != NULL) && s->public.writes == 1)
			add_choice(run, s, s->likely);
		return;
	}
	if (AB_UNLIKELY(s->is_unsure) && s->pieces &&
	    s->public.kind == AB_STREAM_COMMAND) {
		for (const struct piece *p = s->pieces; p; p = p->next)
			add_choice(run, s, without_newlines(run, p->word));
		return;
	}
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
