/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an operator of ${...} makes of a value that is known: trimming,
 * replacing, cutting, upper and lower case (bash(1), Parameter Expansion).
 * Refuses to decide what would take more steps than are left.
 */
#include "config.h"

#include "shell/param.h"

/* Does pattern match text[0..len-1] wholly? Steps are counted down; an
 * unanswered question is -1. */
static int match(const struct ab_word *pattern, uint32_t p, const char *text,
		 uint32_t len, uint64_t *steps)
{
	uint32_t star_p = UINT32_MAX, star_t = 0, t = 0, hole = 0;

	while (hole < pattern->hole_count && pattern->holes[hole].at < p)
		hole++;
	for (;;) {
		bool special = false;
		char c = 0;

		if ((*steps)-- == 0)
			return -1;
		if (p < pattern->len) {
			hole = 0;
			while (hole < pattern->hole_count &&
			       pattern->holes[hole].at +
					       pattern->holes[hole].len <=
				       p)
				hole++;
			special = hole < pattern->hole_count &&
				  pattern->holes[hole].at <= p;
			c = pattern->text[p];
			if (special && c != '*' && c != '?')
				return -1; /* brackets: not worth it */
		}
		if (p < pattern->len && special && c == '*') {
			star_p = ++p;
			star_t = t;
			continue;
		}
		if (t == len) {
			if (p == pattern->len)
				return 1;
			if (special)
				return 0;
			return 0;
		}
		if (p < pattern->len && (special || text[t] == c)) {
			p++;
			t++;
			continue;
		}
		if (star_p == UINT32_MAX)
			return 0;
		p = star_p;
		t = ++star_t;
	}
}

static bool is_pattern(const struct ab_word *w)
{
	if (w->hole_count > 8)
		return false;
	for (uint32_t i = 0; i < w->hole_count; i++)
		if (w->holes[i].kind != AB_HOLE_PATTERN)
			return false;
	return true;
}

/* text[begin..end-1] of the value. */
static void add_slice(struct expansion *e, uint32_t begin, uint32_t end)
{
	struct ab_span span;

	if (begin >= end) {
		ab_param_add_bytes(e, "", 0);
		return;
	}
	span = ab_word_span(e->word, begin, end - begin);
	ab_segments_add(e->run, e->list, e->word->text + begin, end - begin,
			span, e->flags);
}

/* Steps of the matcher cost more than bytes that are copied. */
static void charge(struct ab_shell_run *run, uint64_t steps)
{
	run->expansion -= steps * 8 < run->expansion ? steps * 8 :
						       run->expansion;
}

/* What stands behind the operator, as words. */
struct edit {
	struct ab_word pattern, to;
	bool is_text; /* something stands there */
};

/* The bytes before the first hole, and where those behind the last begin. */
static uint32_t head_of(const struct ab_word *w)
{
	return w->holes[0].at;
}

static uint32_t tail_of(const struct ab_word *w)
{
	const struct ab_hole *last = &w->holes[w->hole_count - 1];

	return last->at + last->len;
}

/* Of the names that a pattern takes no part is a name that it takes: `..` is
   left of x.. without the x. */
static bool takes_names(const struct ab_word *w)
{
	for (uint32_t i = 0; i < w->hole_count; i++)
		if (w->holes[i].kind == AB_HOLE_PATTERN)
			return true;
	return false;
}

/* What is cut off are bytes that are known: the holes stay as they are. */
static void keep_head(struct expansion *e, uint32_t end)
{
	struct ab_word w = *e->word;

	w.len = end;
	while (w.map_count > 1 && w.map[w.map_count - 1].at >= end)
		w.map_count--;
	e->is_whole = true;
	ab_param_add_word(e, &w);
}

/* The same, and those before it go. */
static void keep_rest(struct expansion *e, uint32_t begin)
{
	struct ab_word w = *e->word, rest;

	while (w.hole_count && w.holes->at < begin) {
		w.holes++;
		w.hole_count--;
	}
	rest = ab_builtin_tail(e->run, &w, begin);
	e->is_whole = true;
	ab_param_add_word(e, &rest);
}

static void keep_tail(struct expansion *e, uint32_t begin)
{
	struct ab_word w = ab_builtin_tail(e->run, e->word, begin);

	e->is_whole = true;
	ab_param_add_word(e, &w);
}

/* The shortest end that the pattern takes, in what is known. */
static bool trim_short(struct expansion *e, const struct ab_word *pattern,
		       bool is_prefix, uint64_t *steps)
{
	const struct ab_word *w = e->word;
	uint32_t most = is_prefix ? head_of(w) : w->len - tail_of(w);
	bool has_star = false;
	int r = 0;

	for (uint32_t i = 0; i < pattern->hole_count; i++)
		has_star |= pattern->text[pattern->holes[i].at] == '*';
	for (uint32_t n = 0; n <= most && !r; n++) {
		r = match(pattern, 0, w->text + (is_prefix ? 0 : w->len - n),
			  n, steps);
		if (r > 0 && is_prefix)
			keep_tail(e, n);
		else if (r > 0)
			keep_head(e, w->len - n);
	}
	/* it is as long as what it takes, and that was looked at */
	if (!r && !has_star && pattern->len <= most) {
		keep_head(e, w->len);
		return true;
	}
	return r > 0;
}

/* The longest: of a star, and what is of one length beside it. */
static bool trim_long(struct expansion *e, const struct ab_word *pattern,
		      bool is_prefix, uint64_t *steps)
{
	const struct ab_word *w = e->word;
	uint32_t len = pattern->len - 1, stars = 0, i, end;
	struct ab_word rest = *pattern;

	for (uint32_t k = 0; k < pattern->hole_count; k++)
		stars += pattern->text[pattern->holes[k].at] == '*';
	i = is_prefix ? 0 : pattern->hole_count - 1;
	if (!stars)
		return trim_short(e, pattern, is_prefix, steps);
	if (stars != 1 || pattern->text[pattern->holes[i].at] != '*' ||
	    pattern->holes[i].at != (is_prefix ? 0 : len))
		return false;
	end = is_prefix ? w->len - tail_of(w) : head_of(w);
	rest.len = len;
	rest.hole_count -= !is_prefix;
	for (uint32_t n = 0; n + len <= end; n++) {
		uint32_t at = is_prefix ? w->len - n - len : n;
		int r = match(is_prefix ? pattern : &rest, is_prefix,
			      w->text + at, len, steps);

		if (r < 0)
			return false;
		if (!r)
			continue;
		add_slice(e, is_prefix ? at + len : 0, is_prefix ? w->len : at);
		e->is_whole = true;
		return true;
	}
	return false;
}

/* Where the last name of a path of patterns begins; 0: nobody knows. */
static uint32_t last_name(const struct ab_word *w)
{
	const char *slash = memrchr(w->text, '/', w->len);
	uint32_t at = slash ? (uint32_t)(slash + 1 - w->text) : 0;

	for (uint32_t i = 0; i < w->hole_count; i++) {
		const struct ab_hole *h = &w->holes[i];

		if (h->kind != AB_HOLE_PATTERN ||
		    (h->at < at && h->at + h->len >= at))
			return 0;
	}
	return at;
}

/* Of what patterns take, whole names are cut off: name/ is as good as name,
   all up to the last slash, and ${x#/proc/}. */
static bool trim_names(struct expansion *e, const struct ab_word *pattern)
{
	const struct ab_word *w = e->word;
	uint32_t len = pattern->len, at;

	switch ((enum param_op)e->param->op) {
	case OP_SUFFIX:
		if (!ab_word_equals(pattern, "/") || tail_of(w) == w->len)
			return false;
		keep_head(e, w->len - (w->text[w->len - 1] == '/'));
		return true;
	case OP_PREFIX_LONG:
		at = len == 2 && !memcmp(pattern->text, "*/", 2) &&
				     pattern->hole_count ?
			     last_name(w) :
			     0;
		break;
	case OP_PREFIX:
		at = !pattern->hole_count && len && len <= head_of(w) &&
				     pattern->text[len - 1] == '/' &&
				     !memcmp(w->text, pattern->text, len) ?
			     len :
			     0;
		break;
	default:
		return false;
	}
	if (at)
		keep_rest(e, at);
	return at;
}

/* What one pattern may cost. */
static uint64_t steps_of(const struct ab_shell_run *run)
{
	return run->expansion / 8 < 4096 ? run->expansion / 8 : 4096;
}

/* The same of a value that is not known as a whole, where that decides. */
static bool trim_known(struct expansion *e, const struct ab_word *pattern)
{
	enum param_op op = (enum param_op)e->param->op;
	bool is_prefix = op == OP_PREFIX || op == OP_PREFIX_LONG;
	bool is_long = op == OP_PREFIX_LONG || op == OP_SUFFIX_LONG;
	uint64_t steps = steps_of(e->run);
	uint64_t before = steps;
	bool is_decided;

	if (takes_names(e->word))
		return trim_names(e, pattern);
	is_decided = is_long && pattern->len ?
			     trim_long(e, pattern, is_prefix, &steps) :
			     trim_short(e, pattern, is_prefix, &steps);
	charge(e->run, before - steps);
	return is_decided;
}

/* # ## % %%. False: not decided. */
static bool trim(struct expansion *e, const struct edit *edit)
{
	enum param_op op = (enum param_op)e->param->op;
	bool is_prefix = op == OP_PREFIX || op == OP_PREFIX_LONG;
	bool is_long = op == OP_PREFIX_LONG || op == OP_SUFFIX_LONG;
	uint64_t steps = steps_of(e->run);
	uint64_t before = steps;
	const struct ab_word *pattern = &edit->pattern;
	uint32_t len = e->word->len;

	if (!is_pattern(pattern))
		return false;
	if (e->word->hole_count)
		return trim_known(e, pattern);
	for (uint32_t i = 0; i <= len; i++) {
		uint32_t n = is_long ? len - i : i;
		int r = is_prefix ? match(pattern, 0, e->word->text, n,
					  &steps) :
				    match(pattern, 0,
					  e->word->text + len - n, n, &steps);

		if (r < 0) {
			charge(e->run, before - steps);
			return false;
		}
		if (r > 0) {
			charge(e->run, before - steps);
			add_slice(e, is_prefix ? n : 0,
				  is_prefix ? len : len - n);
			return true;
		}
	}
	charge(e->run, before - steps);
	ab_param_add_word(e, e->word);
	return true;
}

/* The segment after the separator; the list before it ends there. */
static struct segment *after_mark(struct segment **list)
{
	for (struct segment **s = list; *s; s = &(*s)->next)
		if ((*s)->flags & SEGMENT_MARK) {
			struct segment *rest = (*s)->next;

			*s = NULL;
			return rest;
		}
	return NULL;
}

/* / // /# /% with a pattern that is plain text. */
static bool replace(struct expansion *e, const struct edit *edit)
{
	struct ab_word pattern = edit->pattern, to = edit->to;
	enum param_op op = (enum param_op)e->param->op;
	uint32_t len = e->word->len, at = 0;

	/* & is what was found, or itself: bash(1), patsub_replacement */
	if (pattern.hole_count || (to.len && memchr(to.text, '&', to.len)))
		return false;
	if (pattern.len == 0) {
		if (op == OP_REPLACE_PREFIX)
			ab_param_add_word(e, &to);
		ab_param_add_word(e, e->word);
		if (op == OP_REPLACE_SUFFIX)
			ab_param_add_word(e, &to);
		return true;
	}
	while (at < len && !e->run->arena->is_full) {
		const char *found = memmem(e->word->text + at, len - at,
					   pattern.text, pattern.len);
		uint32_t where;

		if (op == OP_REPLACE_SUFFIX && len >= pattern.len)
			found = memcmp(e->word->text + len - pattern.len,
				       pattern.text, pattern.len) == 0 ?
					e->word->text + len - pattern.len :
					NULL;
		if (!found)
			break;
		where = (uint32_t)(found - e->word->text);
		if (op == OP_REPLACE_PREFIX && where != 0)
			break;
		if (where > at)
			add_slice(e, at, where);
		ab_param_add_word(e, &to);
		at = where + pattern.len;
		if (op != OP_REPLACE_ALL)
			break;
	}
	if (at < len || len == 0)
		add_slice(e, at, len);
	return true;
}

static bool number_in(struct expansion *e, struct segment *args, int64_t *n)
{
	struct ab_word w;

	ab_param_argument(e, args, EXPAND_ONE, &w);
	return w.hole_count == 0 && ab_arith(e->run, w.text, w.len, n);
}

struct bounds {
	int64_t begin, count;
	bool has_length;
};

/* The numbers of ${x:offset:length}. */
static bool slice_numbers(struct expansion *e, struct segment *args,
			  struct bounds *b)
{
	struct segment *rest, *second;

	*b = (struct bounds){ 0 };
	for (rest = args; rest; rest = rest->next)
		b->has_length |= (rest->flags & SEGMENT_MARK) != 0;
	second = after_mark(&args);
	if (b->has_length && !number_in(e, second, &b->count))
		return false;
	/* ${ANYTHING:0:0} is nothing */
	if (b->has_length && b->count == 0 && second)
		return true;
	return number_in(e, args, &b->begin);
}

/* A directory, or a list of them, that no text has set. */
static bool is_absolute(const struct expansion *e)
{
	return !e->value->origin &&
	       (strcmp(e->name, "PWD") == 0 ||
		(!e->is_given && (strcmp(e->name, "HOME") == 0 ||
				  strcmp(e->name, "PATH") == 0)));
}

/* ${x:N} and ${x:0:-N}, where N bytes there are known. */
static bool slice_known(struct expansion *e, const struct bounds *b)
{
	const struct ab_word *w = e->word;

	if (takes_names(w))
		return false;
	if (!b->has_length && b->begin >= 0 && b->begin <= head_of(w))
		keep_tail(e, (uint32_t)b->begin);
	else if (b->has_length && !b->begin && b->count < 0 &&
		 -b->count <= w->len - tail_of(w))
		keep_head(e, (uint32_t)(w->len + b->count));
	else
		return false;
	return true;
}

/* ${x:offset:length} */
bool ab_param_slice(struct expansion *e, struct segment *args)
{
	struct bounds b;
	int64_t len;

	if (!slice_numbers(e, args, &b))
		return false;
	if (b.has_length && b.count == 0) {
		ab_param_add_bytes(e, "", 0);
		return true;
	}
	if (!e->word && !b.begin && b.count == 1 && is_absolute(e)) {
		ab_param_add_bytes(e, "/", 1);
		return true;
	}
	if (!e->word)
		return false;
	len = e->word->len;
	if (e->word->hole_count)
		return slice_known(e, &b);
	if (b.begin < 0)
		b.begin += len;
	if (b.begin < 0 || b.begin > len)
		b.begin = len;
	if (!b.has_length)
		b.count = len - b.begin;
	if (b.count < 0)
		b.count += len - b.begin;
	if (b.count < 0)
		b.count = 0;
	if (b.count > len - b.begin)
		b.count = len - b.begin;
	add_slice(e, (uint32_t)b.begin, (uint32_t)(b.begin + b.count));
	return true;
}

bool ab_param_slice_all(struct expansion *e, struct segment *args)
{
	const struct value *v = e->value;
	bool is_array = e->param->has_index;
	struct value *part;
	struct bounds b;

	if (v->kind != VALUE_ARRAY || !slice_numbers(e, args, &b) ||
	    b.count < 0)
		return false;
	/* $@ counts from $0, which is not in it */
	if (!is_array && b.begin <= 0 && (b.begin == 0 || -b.begin > v->count))
		return false;
	if (!is_array && b.begin > 0)
		b.begin--;
	if (b.begin < 0)
		b.begin += v->count;
	if (b.begin < 0 || b.begin > v->count)
		b.begin = v->count;
	if (!b.has_length || b.count > v->count - b.begin)
		b.count = v->count - b.begin;
	part = ab_run_low(e->run, sizeof(*part));
	if (!part)
		return false;
	*part = *v;
	part->words += b.begin;
	part->count = (uint32_t)b.count;
	e->value = part;
	return true;
}

static bool add_case(struct expansion *e, bool up, bool down, bool all)
{
	uint32_t len = e->word->len;
	char *text;

	if (len > e->run->expansion)
		return false;
	e->run->expansion -= len;
	text = ab_run_low(e->run, len + 1);
	if (!text)
		return false;
	for (uint32_t i = 0; i < len; i++) {
		char c = e->word->text[i];

		if (all || i == 0) {
			if (up && c >= 'a' && c <= 'z')
				c = (char)(c - 32);
			else if (down && c >= 'A' && c <= 'Z')
				c = (char)(c + 32);
		}
		text[i] = c;
	}
	ab_segments_add(e->run, e->list, text, len,
			ab_word_span(e->word, 0, len), e->flags);
	return true;
}

/* ^ ^^ , ,, ~ ~~ without a pattern. */
static bool change_case(struct expansion *e, const struct edit *edit)
{
	enum param_op op = (enum param_op)e->param->op;
	bool all = op == OP_UPPER_ALL || op == OP_LOWER_ALL ||
		   op == OP_TOGGLE_ALL;
	bool up = op != OP_LOWER && op != OP_LOWER_ALL;
	bool down = op != OP_UPPER && op != OP_UPPER_ALL;

	return !edit->is_text && add_case(e, up, down, all);
}

/* @E: as $'...' is read. */
static bool decode(struct expansion *e)
{
	const struct ab_word *w = e->word;
	struct ab_span span = ab_word_span(w, 0, w->len);
	char *text = w->len > e->run->expansion ?
			     NULL :
			     ab_run_low(e->run, (size_t)w->len * 2 + 8);
	uint32_t n = 0, used;

	if (!text)
		return false;
	e->run->expansion -= w->len;
	for (uint32_t at = 0; at < w->len; at += used) {
		uint32_t from = n;

		used = 1;
		if (w->text[at] == '\\')
			n += ab_decode_escape((const unsigned char *)w->text +
						      at,
					      w->len - at, text + n, &used,
					      true);
		else
			text[n++] = w->text[at];
		if (n > from && !text[from]) {
			n = from;
			break; /* it ends at a NUL */
		}
	}
	ab_segments_add(e->run, e->list, text, n, span, e->flags);
	return true;
}

/* @P: only where the value stays as it is. */
static bool transform(struct expansion *e)
{
	char letter = e->param->letter;

	if (!e->word || e->word->hole_count)
		return false;
	if (letter == 'E')
		return decode(e);
	if (letter == 'L' || letter == 'U' || letter == 'u')
		return add_case(e, letter != 'L', letter == 'L',
				letter != 'u');
	for (uint32_t i = 0; i < e->word->len; i++) {
		unsigned char c = (unsigned char)e->word->text[i];

		if (!ab_shell_name[c] && !strchr("/.,: -+%", c))
			return false;
	}
	if (letter != 'P')
		return false;
	ab_param_add_word(e, e->word);
	return true;
}

static void find_arguments(struct expansion *e, struct segment *args,
			   struct edit *edit)
{
	enum param_op op = (enum param_op)e->param->op;
	struct segment *rest = NULL;

	edit->is_text = args && (args->len || args->hole || args->next);
	if (op >= OP_REPLACE && op <= OP_REPLACE_SUFFIX)
		rest = after_mark(&args);
	ab_param_argument(e, args, EXPAND_PATTERN, &edit->pattern);
	ab_param_argument(e, rest, EXPAND_ONE, &edit->to);
}

static bool apply(struct expansion *e, const struct edit *edit)
{
	enum param_op op = (enum param_op)e->param->op;

	if (e->word->hole_count && (op < OP_PREFIX || op > OP_SUFFIX_LONG))
		return false;
	switch (op) {
	case OP_PREFIX:
	case OP_PREFIX_LONG:
	case OP_SUFFIX:
	case OP_SUFFIX_LONG:
		return trim(e, edit);
	case OP_REPLACE:
	case OP_REPLACE_ALL:
	case OP_REPLACE_PREFIX:
	case OP_REPLACE_SUFFIX:
		return replace(e, edit);
	case OP_UPPER:
	case OP_UPPER_ALL:
	case OP_LOWER:
	case OP_LOWER_ALL:
	case OP_TOGGLE:
	case OP_TOGGLE_ALL:
		return change_case(e, edit);
	case OP_AT:
		return transform(e);
	default:
		return false;
	}
}

bool ab_param_edit(struct expansion *e, struct segment *args)
{
	struct edit edit;

	find_arguments(e, args, &edit);
	return apply(e, &edit);
}

struct ab_word *ab_param_edit_words(struct expansion *e, struct segment *args)
{
	const struct value *v = e->value;
	struct ab_word *words = ab_run_low(e->run,
					   (v->count + 1) * sizeof(*words));
	struct edit edit;

	if (!words)
		return NULL;
	find_arguments(e, args, &edit);
	for (uint32_t i = 0; i < v->count; i++) {
		struct segments list = { NULL, &list.first };
		struct expansion one = *e;

		one.list = &list;
		one.word = &v->words[i];
		one.flags = SEGMENT_QUOTED;
		if (one.word->hole_count || e->run->arena->is_full ||
		    !apply(&one, &edit))
			return NULL;
		ab_param_argument(&one, list.first, EXPAND_ONE, &words[i]);
	}
	return words;
}
