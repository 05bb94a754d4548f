/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arrays and attributes: what an assignment makes of the value that was there
 * before (bash(1), Arrays; declare). An element whose subscript is not known
 * may be any, and then nothing is known of the array.
 */
#include "config.h"

#include "base/key.h"
#include "shell/state.h"

enum {
	MAX_ELEMENTS = 512, /* that are put one by one */
	MAX_KEY = 128,
	BUCKETS = 1024 /* of a map, as bash has them */
};

/* The elements on their way into a value, in order. */
struct elements {
	struct ab_shell_run *run;
	struct ab_word *words, *keys;
	uint32_t count, room;
	uint32_t attributes;
	bool is_unknown;
};

const struct value *ab_value_with(struct ab_shell_run *run,
				  const struct value *v, uint32_t attributes)
{
	struct value *copy;

	if (v->attributes == attributes)
		return v;
	copy = ab_run_high(run, sizeof(*copy));
	if (!copy)
		return ab_run_unknown(run, NULL);
	*copy = *v;
	copy->attributes = (uint8_t)attributes;
	return copy;
}

/*
 * Keys. Those of an index are its digits, so that a longer one is greater.
 */

static struct ab_word number_word(struct ab_shell_run *run, int64_t n)
{
	struct ab_word w = { .text = "" };
	char *digits = ab_run_low(run, 24);

	if (digits) {
		w.text = digits;
		w.len = ab_decimal(digits, n);
	}
	return w;
}

static bool same_key(const struct ab_word *a, const struct ab_word *b)
{
	return a->len == b->len && ab_same(a->text, b->text, a->len);
}

/* Where bash puts it, which is the order that its maps come in. */
static uint32_t bucket_of(const struct ab_word *key)
{
	uint32_t h = 2166136261u;

	for (uint32_t i = 0; i < key->len; i++)
		h = (h * 16777619u) ^ (unsigned char)key->text[i];
	return h % BUCKETS;
}

static bool is_before(const struct elements *e, const struct ab_word *a,
		      const struct ab_word *b)
{
	if (e->attributes & VALUE_MAP)
		return bucket_of(a) <= bucket_of(b);
	return a->len != b->len ? a->len < b->len :
				  memcmp(a->text, b->text, a->len) < 0;
}

static int64_t index_of(const struct ab_word *key)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < key->len && i < 10; i++)
		n = n * 10 + (key->text[i] - '0');
	return n;
}

/* One behind the last. */
static int64_t next_index(const struct elements *e)
{
	return e->count && !(e->attributes & VALUE_MAP) ?
		       index_of(&e->keys[e->count - 1]) + 1 :
		       0;
}

/* Of what stands in [...]; false: nobody knows. */
static bool key_of(struct elements *e, const struct ab_word *w,
		   struct ab_word *key)
{
	int64_t n;

	if (w->hole_count || !w->len || w->len > MAX_KEY)
		return false;
	*key = *w;
	if (e->attributes & VALUE_MAP)
		return true;
	if (!ab_arith(e->run, w->text, w->len, &n))
		return false;
	if (n < 0)
		n += next_index(e);
	if (n < 0 || n > INT32_MAX)
		return false;
	*key = number_word(e->run, n);
	return true;
}

/* ${x:+y}: there is no word where x is not set. */
static bool may_vanish(const struct ab_word *w)
{
	uint32_t len = 0;

	for (uint32_t k = 0; k < w->hole_count; k++)
		len += w->holes[k].may_vanish ? w->holes[k].len : 0;
	return len && len == w->len && !w->is_quoted;
}

bool ab_value_is_loose(const struct ab_word *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < words[i].hole_count; k++)
			if (words[i].holes[k].kind == AB_HOLE_FIELDS ||
			    words[i].holes[k].kind == AB_HOLE_PATTERN)
				return true;
		if (AB_UNLIKELY(words[i].hole_count) && may_vanish(&words[i]))
			return true;
	}
	return false;
}

/* zsh: `*(N)`, `*(/N)`. */
static bool may_take_none(const struct ab_word *w, const struct ab_hole *h)
{
	uint32_t n = h->at + h->len;

	if (h->kind != AB_HOLE_PATTERN || !n || n > w->len ||
	    w->text[n - 1] != ')')
		return false;
	while (--n > h->at && w->text[n - 1] != '(')
		if (w->text[n - 1] == 'N')
			return true;
	return false;
}

bool ab_value_is_first(const struct ab_shell_run *run,
		       const struct ab_word *words, uint32_t n)
{
	if (AB_UNLIKELY(run->options & AB_SHELL_NULLGLOB))
		return !ab_value_is_loose(words, n + 1);
	for (uint32_t k = 0; k < words[n].hole_count; k++)
		if (words[n].holes[k].kind == AB_HOLE_FIELDS ||
		    may_take_none(&words[n], &words[n].holes[k]))
			return false;
	return !may_vanish(&words[n]) && !ab_value_is_loose(words, n);
}

/*
 * Words.
 */

/* Any bytes. */
static struct ab_word any_word(struct ab_shell_run *run,
			       const struct ab_word *from)
{
	struct ab_word w = { .text = "", .span = from->span };
	struct ab_hole *hole = ab_run_low(run, sizeof(*hole));

	if (!hole)
		return w;
	memset(hole, 0, sizeof(*hole));
	hole->kind = AB_HOLE_BYTES;
	hole->span = from->span;
	hole->origin = ab_run_blend(run, from, 1);
	w.holes = hole;
	w.hole_count = 1;
	return w;
}

static bool to_number(struct ab_shell_run *run, struct ab_word *w)
{
	struct ab_word digits;
	int64_t n;

	if (w->hole_count || !ab_arith(run, w->text, w->len, &n))
		return false;
	digits = number_word(run, n);
	digits.span = w->span;
	*w = digits;
	return true;
}

/* False: bytes whose letters only the locale knows. */
static bool to_case(struct ab_shell_run *run, struct ab_word *w, bool is_upper)
{
	char *text;

	if (w->len > run->expansion || !(text = ab_run_low(run, w->len + 1)))
		return false;
	run->expansion -= w->len;
	for (uint32_t i = 0; i < w->len; i++) {
		unsigned char c = (unsigned char)w->text[i];

		if (c >= 0x80)
			return false;
		if (is_upper && c >= 'a' && c <= 'z')
			c = (unsigned char)(c - 32);
		else if (!is_upper && c >= 'A' && c <= 'Z')
			c = (unsigned char)(c + 32);
		text[i] = (char)c;
	}
	w->text = text;
	return true;
}

/* What the attributes make of it; false: nobody knows. */
static bool apply(struct ab_shell_run *run, uint32_t attributes,
		  struct ab_word *w)
{
	if (attributes & VALUE_INTEGER)
		return to_number(run, w);
	if (attributes & (VALUE_LOWER | VALUE_UPPER))
		return to_case(run, w, attributes & VALUE_UPPER);
	return true;
}

/* old and then w, or their sum; old NULL: nothing was there. */
static bool append(struct ab_shell_run *run, uint32_t attributes,
		   const struct ab_word *old, struct ab_word *w)
{
	struct segments list = { NULL, &list.first };
	struct fields f = { 0 };
	bool is_sum = attributes & VALUE_INTEGER;

	if (!old || (is_sum && !old->len && !old->hole_count))
		return true;
	ab_segments_add_word(run, &list, old, SEGMENT_QUOTED);
	if (is_sum)
		ab_segments_add(run, &list, "+(", 2, w->span, SEGMENT_QUOTED);
	ab_segments_add_word(run, &list, w, SEGMENT_QUOTED);
	if (is_sum)
		ab_segments_add(run, &list, ")", 1, w->span, SEGMENT_QUOTED);
	ab_expand_fields(run, list.first, EXPAND_ONE, &f);
	if (f.count)
		*w = f.words[0];
	return f.count;
}

/*
 * Elements.
 */

static bool grow(struct elements *e)
{
	uint32_t room = e->room ? e->room * 2 : 16;
	struct ab_word *words = ab_run_low(e->run, room * sizeof(*words));
	struct ab_word *keys = ab_run_low(e->run, room * sizeof(*keys));

	if (!words || !keys)
		return false;
	if (e->count) {
		memcpy(words, e->words, e->count * sizeof(*words));
		memcpy(keys, e->keys, e->count * sizeof(*keys));
	}
	e->words = words;
	e->keys = keys;
	e->room = room;
	return true;
}

/* Where the key is, or where it belongs. */
static uint32_t place_of(const struct elements *e, const struct ab_word *key,
			 bool *is_there)
{
	uint32_t i = e->count;

	*is_there = false;
	if (e->attributes & VALUE_MAP)
		for (uint32_t k = 0; k < e->count; k++)
			if (same_key(&e->keys[k], key)) {
				*is_there = true;
				return k;
			}
	while (i && is_before(e, key, &e->keys[i - 1]))
		i--;
	if (i && same_key(&e->keys[i - 1], key)) {
		*is_there = true;
		i--;
	}
	return i;
}

static void put(struct elements *e, const struct ab_word *key,
		struct ab_word word, bool is_append)
{
	bool is_there;
	uint32_t at = place_of(e, key, &is_there);

	if ((is_append && !append(e->run, e->attributes,
				  is_there ? &e->words[at] : NULL, &word)) ||
	    !apply(e->run, e->attributes, &word))
		word = any_word(e->run, &word);
	if (is_there) {
		e->words[at] = word;
		return;
	}
	if (e->count == MAX_ELEMENTS || (e->count == e->room && !grow(e))) {
		e->is_unknown = true;
		return;
	}
	memmove(&e->words[at + 1], &e->words[at],
		(e->count - at) * sizeof(*e->words));
	memmove(&e->keys[at + 1], &e->keys[at],
		(e->count - at) * sizeof(*e->keys));
	e->words[at] = word;
	e->keys[at] = *key;
	e->count++;
}

/* What was there before. */
static void begin(struct elements *e, const struct value *old)
{
	uint64_t cost = (uint64_t)old->count * 64;

	if (old->kind == VALUE_UNKNOWN || old->is_loose ||
	    cost > e->run->expansion || old->count > MAX_ELEMENTS) {
		e->is_unknown = true;
		return;
	}
	e->run->expansion -= cost;
	while (e->room < old->count && grow(e))
		;
	for (uint32_t i = 0; i < old->count && e->room; i++) {
		e->keys[i] = old->keys ? old->keys[i] : number_word(e->run, i);
		e->words[i] = old->words[i];
		e->count++;
	}
}

/* Keys that are 0, 1, 2 need not be kept. */
static bool is_dense(const struct elements *e)
{
	return !(e->attributes & VALUE_MAP) &&
	       next_index(e) == (int64_t)e->count;
}

static const struct value *finish(struct elements *e, struct ab_stream *origin)
{
	const struct value *v, *keys = NULL;
	struct value *made;

	if (e->is_unknown)
		return ab_value_with(e->run, ab_run_unknown(e->run, origin),
				     e->attributes);
	v = ab_run_array(e->run, e->words, e->count);
	if (!is_dense(e) && v->kind == VALUE_ARRAY)
		keys = ab_run_array(e->run, e->keys, e->count);
	made = ab_run_high(e->run, sizeof(*made));
	if (!made || (keys && keys->kind != VALUE_ARRAY))
		return ab_run_unknown(e->run, origin);
	*made = *v;
	made->keys = keys ? keys->words : NULL;
	made->attributes = (uint8_t)e->attributes;
	return made;
}

/* (a b c), ([k]=a [l]=b), and of a map (k a l b) */
static void put_list(struct elements *e, const struct ab_shell_assign *a)
{
	bool is_pairs = (e->attributes & VALUE_MAP) && !a->keys;
	int64_t next = next_index(e);

	for (uint32_t i = 0; i < a->value_count && !e->is_unknown; i++) {
		const struct ab_word *from = a->keys ? &a->keys[i] : NULL;
		struct ab_word key;

		if (is_pairs) {
			from = &a->values[i++];
			if (i == a->value_count)
				break;
		}
		if (from && from->text)
			e->is_unknown |= !key_of(e, from, &key);
		else if (e->attributes & VALUE_MAP)
			e->is_unknown = true;
		else
			key = number_word(e->run, next);
		if (e->is_unknown)
			break;
		put(e, &key, a->values[i], false);
		next = index_of(&key) + 1;
	}
}

static bool is_of_elements(const struct value *old, uint32_t attributes,
			   const struct ab_shell_assign *a)
{
	return a->is_array || old->kind == VALUE_ARRAY ||
	       attributes & (VALUE_MAP | VALUE_LIST);
}

static const struct value *assign_text(struct ab_shell_run *run,
				       const struct value *old,
				       uint32_t attributes,
				       const struct ab_shell_assign *a)
{
	struct ab_stream *origin = ab_run_blend(run, a->values,
						a->value_count);
	struct ab_word w;

	if (a->value_count != 1)
		return ab_run_unknown(run, NULL);
	w = *a->values;
	if (a->is_append && old->kind == VALUE_UNKNOWN)
		return ab_value_with(
			run,
			ab_run_unknown(run, old->origin ? old->origin : origin),
			attributes);
	if ((a->is_append &&
	     !append(run, attributes,
		     old->kind == VALUE_SCALAR ? old->words : NULL, &w)) ||
	    !apply(run, attributes, &w))
		return ab_value_with(run, ab_run_unknown(run, origin),
				     attributes);
	return ab_value_with(run, ab_run_scalar(run, &w), attributes);
}

/* A list, behind what is there, whose indexes need not be known. */
static const struct value *appended(struct ab_shell_run *run,
				    const struct value *old,
				    const struct ab_shell_assign *a)
{
	uint32_t count = old->count + a->value_count;
	struct ab_word *all;

	if (!old->count)
		return ab_run_array(run, a->values, a->value_count);
	all = ab_run_low(run, count * sizeof(*all));
	if (!all || count > run->limits.words)
		return ab_run_unknown(run, NULL);
	memcpy(all, old->words, old->count * sizeof(*all));
	if (a->value_count)
		memcpy(all + old->count, a->values,
		       a->value_count * sizeof(*all));
	return ab_run_array(run, all, count);
}

const struct value *ab_value_assigned(struct ab_shell_run *run,
				      const struct value *old,
				      uint32_t attributes,
				      const struct ab_shell_assign *a)
{
	struct elements e = { .run = run,
			      .attributes = attributes & ~VALUE_LIST };
	struct ab_word zero = { .text = "0", .len = 1 };
	const struct ab_word *from = a->keys ? a->keys : &zero;
	struct ab_stream *origin;
	struct ab_word key;

	if (!is_of_elements(old, attributes, a))
		return assign_text(run, old, attributes, a);
	if (a->is_list && !a->keys && !e.attributes &&
	    (!a->is_append || old->kind == VALUE_UNSET ||
	     (old->kind == VALUE_ARRAY && !old->keys)))
		return appended(run, a->is_append ? old : &ab_run_unset, a);
	origin = ab_run_blend(run, a->values, a->value_count);
	if (!a->is_list || a->is_append) {
		origin = old->origin ? old->origin : origin;
		begin(&e, old);
	}
	e.is_unknown |= a->is_odd || (!a->is_list && a->value_count != 1);
	if (a->is_list && !e.is_unknown)
		put_list(&e, a);
	else if (!e.is_unknown && key_of(&e, from, &key))
		put(&e, &key, *a->values, a->is_append);
	else
		e.is_unknown = true;
	return finish(&e, origin);
}

const struct value *ab_value_without(struct ab_shell_run *run,
				     const struct value *old,
				     const struct ab_word *subscript)
{
	struct elements e = { .run = run, .attributes = old->attributes };
	struct ab_word key;
	bool is_there;
	uint32_t at;

	begin(&e, old);
	if (e.is_unknown || !key_of(&e, subscript, &key))
		return ab_run_unknown(run, old->origin);
	at = place_of(&e, &key, &is_there);
	if (!is_there)
		return old;
	e.count--;
	memmove(&e.words[at], &e.words[at + 1],
		(e.count - at) * sizeof(*e.words));
	memmove(&e.keys[at], &e.keys[at + 1],
		(e.count - at) * sizeof(*e.keys));
	return finish(&e, old->origin);
}

const struct value *ab_value_declared(struct ab_shell_run *run,
				      const struct value *old,
				      uint32_t attributes)
{
	struct elements e = { .run = run,
			      .attributes = attributes & ~VALUE_LIST };

	if (!(attributes & (VALUE_MAP | VALUE_LIST)) ||
	    old->kind == VALUE_ARRAY || old->kind == VALUE_UNKNOWN)
		return ab_value_with(run, old, e.attributes);
	begin(&e, old);
	return finish(&e, old->origin);
}

const struct ab_word *ab_value_element(struct ab_shell_run *run,
				       const struct value *v,
				       const struct ab_word *subscript,
				       bool *is_known)
{
	struct elements e = { .run = run, .attributes = v->attributes };
	struct ab_word key;
	int64_t n;

	*is_known = false;
	if (v->attributes & VALUE_MAP || v->keys) {
		/* as they are: nothing is put there */
		e.words = (struct ab_word *)(uintptr_t)v->words;
		e.keys = (struct ab_word *)(uintptr_t)v->keys;
		e.count = v->keys ? v->count : 0;
		if (!key_of(&e, subscript, &key))
			return NULL;
		*is_known = true;
		for (uint32_t i = 0; i < e.count; i++)
			if (same_key(&e.keys[i], &key))
				return &v->words[i];
		return NULL;
	}
	if (subscript->hole_count ||
	    !ab_arith(run, subscript->text, subscript->len, &n))
		return NULL;
	const struct ab_word *last =
		v->count ? &v->words[v->count - 1] : NULL;

	/* the last that a pattern takes, as the first */
	if (n == -1 && last && ab_value_is_first(run, last, 0))
		n = v->count - 1;
	else if (v->is_loose && (n < 0 || n >= v->count ||
				 !ab_value_is_first(run, v->words,
						    (uint32_t)n)))
		return NULL;
	if (n < 0)
		n += v->count;
	*is_known = true;
	return n >= 0 && n < v->count ? &v->words[n] : NULL;
}
