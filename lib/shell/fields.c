/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From segments to the fields that a command gets: splitting at separators,
 * unquoted patterns as holes, and the map back to the text. Bytes are copied
 * once, and only when a field is made of more than one segment.
 */
#include "config.h"

#include "base/key.h"
#include "shell/state.h"

struct builder {
	struct ab_shell_run *run;
	struct fields *out;
	enum expand_mode mode;
	const char *ifs; /* separators; NULL: nobody asked yet */
	uint32_t ifs_len;
	/* the field that is being collected: segments first..last */
	struct segments field;
	bool is_field; /* something makes it a word */
};

static bool is_separator(const struct builder *b, char c)
{
	uint32_t i = 0;

	while (i < b->ifs_len && b->ifs[i] != c)
		i++;
	return i < b->ifs_len;
}

static bool is_white(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

bool ab_fields_grow(struct ab_shell_run *run, struct fields *out)
{
	uint32_t room = out->room ? out->room * 2 : 8;
	struct ab_word *words;

	if (out->count >= run->limits.words) {
		ab_run_limit(run, "too many words in one command");
		return false;
	}
	words = ab_run_low(run, room * sizeof(*words));
	if (!words)
		return false;
	if (out->count)
		memcpy(words, out->words, out->count * sizeof(*words));
	out->words = words;
	out->room = room;
	return true;
}

/* Unquoted pattern characters of a field on its way into bytes. */
struct globs {
	uint32_t bracket; /* where an open [ is, or UINT32_MAX */
	uint32_t paren;	  /* where @( is */
	uint32_t parens;
};

static void add_hole(struct ab_word *w, struct ab_hole *holes, uint32_t at,
		     uint32_t len, struct ab_span span)
{
	struct ab_hole *h;

	/* what begins inside of the pattern is part of it; `$x` in front of
	   it is not */
	while (w->hole_count && (holes[w->hole_count - 1].at > at ||
				 (holes[w->hole_count - 1].at == at &&
				  holes[w->hole_count - 1].len)))
		w->hole_count--;
	if (w->hole_count) {
		h = &holes[w->hole_count - 1];
		if (h->kind == AB_HOLE_PATTERN && h->at + h->len > at)
			h->len = at - h->at; /* ? of ?( was one already */
		if (h->kind == AB_HOLE_PATTERN && h->at + h->len == at) {
			h->len += len;
			/* of a variable, what follows was written before */
			if (span.begin < h->span.begin)
				h->span.begin = span.begin;
			if (span.end > h->span.end)
				h->span.end = span.end;
			return;
		}
	}
	h = &holes[w->hole_count++];
	memset(h, 0, sizeof(*h));
	h->at = at;
	h->len = len;
	h->kind = AB_HOLE_PATTERN;
	h->span = span;
}

/* What may begin or end a pattern; 2: what one may be counted by. */
static const unsigned char glob_bytes[256] = {
	['*'] = 2, ['?'] = 2, ['('] = 2, [']'] = 2, ['['] = 1, [')'] = 1,
};

/* Looks for pattern characters in unquoted bytes that came to w->text. */
static void find_globs(struct ab_word *w, struct ab_hole *holes,
		       struct globs *g, uint32_t begin,
		       const struct segment *s)
{
	bool exact = s->span.end - s->span.begin == s->len;

	for (uint32_t i = begin; i < begin + s->len; i++) {
		char c = w->text[i];
		struct ab_span span = s->span;

		if (!glob_bytes[(unsigned char)c])
			continue;
		if (exact) {
			span.begin += i - begin;
			span.end = span.begin + 1;
		}
		if (g->paren != UINT32_MAX) {
			g->parens += c == '(';
			if (c == ')' && --g->parens == 0) {
				add_hole(w, holes, g->paren, i + 1 - g->paren,
					 span);
				g->paren = UINT32_MAX;
			}
		} else if (c == '(' && i > begin &&
			   strchr("?*+@!", w->text[i - 1])) {
			g->paren = i - 1;
			g->parens = 1;
		} else if (c == '*' || c == '?') {
			if (g->bracket == UINT32_MAX)
				add_hole(w, holes, i, 1, span);
		} else if (c == '[' && g->bracket == UINT32_MAX) {
			g->bracket = i;
		} else if (c == ']' && g->bracket != UINT32_MAX &&
			   i > g->bracket + 1) {
			add_hole(w, holes, g->bracket, i + 1 - g->bracket,
				 span);
			g->bracket = UINT32_MAX;
		}
	}
}

/* [ was no pattern after all: * and ? behind it are. */
static void close_globs(struct ab_word *w, struct ab_hole *holes,
			struct globs *g)
{
	if (g->paren != UINT32_MAX)
		add_hole(w, holes, g->paren, w->len - g->paren, w->span);
	else if (g->bracket != UINT32_MAX &&
		 (memchr(w->text + g->bracket, '*', w->len - g->bracket) ||
		  memchr(w->text + g->bracket, '?', w->len - g->bracket)))
		add_hole(w, holes, g->bracket, w->len - g->bracket, w->span);
}

/* What a field needs that is made of these segments. */
struct needs {
	const struct segment *one; /* that has all bytes, if one has */
	const struct segment *hole; /* the last */
	uint32_t len, holes, count;
	bool is_quoted, is_special; /* holes, or more than one with bytes */
	bool has_globs; /* bytes that may be of a pattern */
	bool is_field;	/* something makes it a word */
	bool is_cut;	/* something splits it, or ends a field in it */
};

static uint32_t count_globs(const struct segment *s, struct needs *n)
{
	uint32_t count = 0, any = 0;

	for (uint32_t i = 0; i < s->len; i++) {
		count += glob_bytes[(unsigned char)s->text[i]] >> 1;
		any |= glob_bytes[(unsigned char)s->text[i]];
	}
	n->has_globs |= any;
	return count;
}

static bool wants_globs(const struct segment *s, enum expand_mode mode)
{
	return !s->hole && !(s->flags & SEGMENT_QUOTED) &&
	       (mode == EXPAND_FIELDS || mode == EXPAND_PATTERN);
}

static void measure(const struct segment *s, enum expand_mode mode,
		    struct needs *n)
{
	const struct segment *first = s;
	uint32_t all = 0, text = 0, likely = 0;

	*n = (struct needs){ .one = s };
	for (; s; s = s->next) {
		n->len += s->len;
		n->count++;
		all |= s->flags;
		if (s->hole) {
			n->holes++;
			n->hole = s;
			if (s->hole == AB_HOLE_LIKELY)
				likely |= s->flags;
			continue;
		}
		text |= s->flags;
		if (!s->len)
			continue;
		n->is_special |= n->len > s->len;
		n->one = s;
		if (AB_UNLIKELY(s->flags & SEGMENT_MAPPED)) {
			n->count += s->map_count;
			n->is_special |= s != first || s->next;
		}
		if (wants_globs(s, mode)) {
			uint32_t globs = count_globs(s, n);

			n->is_special |= globs != 0;
			n->holes += globs + 1;
		}
	}
	/* of nothing, but in more than one place */
	n->is_special |= n->hole || (!n->len && first && first->next);
	n->is_quoted = text & SEGMENT_QUOTED;
	n->is_field = mode != EXPAND_FIELDS || n->len || n->hole ||
		      n->is_quoted;
	n->is_cut = (all & (SEGMENT_NONE | SEGMENT_BREAK)) ||
		    (mode == EXPAND_FIELDS &&
		     ((text | likely) & SEGMENT_SPLIT));
}

static void put_hole(struct ab_hole *h, const struct segment *s, uint32_t at)
{
	h->at = at;
	h->len = s->len;
	h->kind = (enum ab_hole_kind)s->hole;
	h->span = s->span;
	h->name = s->name;
	h->origin = s->origin;
	h->is_checked = s->is_checked;
	h->is_test = s->is_test;
	h->is_cut = s->is_cut;
	h->may_vanish = s->may_vanish;
	h->part = s->part;
	h->one_of = s->one_of;
}

/* Whether the new stretch at..len continues the last one of the map. */
static bool continues(const struct ab_map *last, uint32_t at,
		      struct ab_span span, uint32_t len)
{
	return last->span.end - last->span.begin == at - last->at &&
	       last->span.end == span.begin && span.end - span.begin == len;
}

/* A map while it is made. */
struct mapping {
	struct ab_map *map, *last; /* behind the last */
};

static inline void put_stretch(struct mapping *m, uint32_t at,
			       struct ab_span span, uint32_t len, bool is_hole)
{
	if (m->last > m->map && continues(m->last - 1, at, span, len))
		m->last[-1].span.end = span.end;
	else if (len || is_hole)
		*m->last++ = (struct ab_map){ at, span };
}

/* Those of a segment whose bytes come to `at`; none of them continues the one
   before, or they would be one. */
static void put_map(struct mapping *m, const struct segment *s, uint32_t at)
{
	struct ab_map *last;

	put_stretch(m, at, s->map[0].span, s->map[1].at - s->map_from, false);
	last = m->last;
	m->last += s->map_count - 1;
	memcpy(last, s->map + 1, (s->map_count - 1) * sizeof(*last));
	at -= s->map_from;
	for (; at && last < m->last; last++)
		last->at += at;
}

/* The bytes of the segments one behind the other, with holes and map. */
static void join(struct ab_shell_run *run, const struct segment *first,
		 enum expand_mode mode, const struct needs *needs,
		 struct ab_word *w)
{
	struct globs g = { UINT32_MAX, UINT32_MAX, 0 };
	char *text = ab_run_low(run, (size_t)needs->len + 1);
	struct ab_hole *holes =
		ab_run_low(run, (needs->holes + 1) * sizeof(*holes));
	struct ab_map *map = ab_run_low(run, needs->count * sizeof(*map));
	struct ab_span all = first->span;
	struct mapping m = { map, map };
	uint32_t at = 0;

	if (!text || !holes || !map)
		return;
	w->text = text;
	w->is_quoted = needs->is_quoted;
	for (const struct segment *s = first; s; s = s->next) {
		struct ab_span span = s->span;

		if (span.begin < all.begin)
			all.begin = span.begin;
		if (span.end > all.end)
			all.end = span.end;
		if (AB_UNLIKELY(s->flags & SEGMENT_MAPPED))
			put_map(&m, s, at);
		else
			put_stretch(&m, at, span, s->len, s->hole);
		ab_copy(text + at, s->text, s->len);
		if (s->hole)
			put_hole(&holes[w->hole_count++], s, at);
		else if (needs->has_globs && wants_globs(s, mode))
			find_globs(w, holes, &g, at, s);
		at += s->len;
	}
	w->len = at;
	w->span = all;
	if (needs->has_globs)
		close_globs(w, holes, &g);
	w->holes = w->hole_count ? holes : NULL;
	if (m.last - map > 1) {
		w->map = map;
		w->map_count = (uint32_t)(m.last - map);
	} else if (m.last > map) {
		w->span = map[0].span;
	}
}

/* "$x" of an unknown x: one hole, and nothing around it but quotes. */
static void lone_hole(struct ab_shell_run *run, const struct needs *needs,
		      struct ab_word *w)
{
	struct ab_hole *hole = ab_run_low(run, sizeof(*hole));

	if (!hole)
		return;
	put_hole(hole, needs->hole, 0);
	w->is_quoted = needs->is_quoted;
	w->holes = hole;
	w->hole_count = 1;
	w->span = hole->span;
}

static void put_field(struct ab_shell_run *run, const struct segment *first,
		      enum expand_mode mode, const struct needs *needs,
		      struct fields *out)
{
	struct ab_word *w = ab_fields_new(run, out);

	if (!w)
		return;
	w->text = "";
	if (!first)
		return;
	if (!needs->len && needs->holes == 1) {
		lone_hole(run, needs, w);
		return;
	}
	if (needs->is_special) {
		join(run, first, mode, needs, w);
		return;
	}
	w->text = needs->one->text;
	w->len = needs->len;
	w->span = needs->one->span;
	w->is_quoted = needs->is_quoted;
	if (needs->one->flags & SEGMENT_MAPPED) {
		w->map = needs->one->map;
		w->map_count = needs->one->map_count;
	}
}

static void end_field(struct builder *b)
{
	struct segment *first = b->field.first;
	struct needs needs;

	b->field.first = NULL;
	b->field.tail = &b->field.first;
	b->is_field = false;
	measure(first, b->mode, &needs);
	put_field(b->run, first, b->mode, &needs, b->out);
}

static void take(struct builder *b, struct segment *s)
{
	if (!s)
		return;
	*b->field.tail = s;
	b->field.tail = &s->next;
	s->next = NULL;
	b->is_field |= s->len || s->hole || (s->flags & SEGMENT_QUOTED);
}

bool ab_run_ifs(const struct ab_shell_run *run, const char **text,
		uint32_t *len)
{
	const struct variable *v = ab_run_find(run, "IFS", 3);
	const struct value *value = ab_run_value_of(run, v);

	*text = " \t\n";
	*len = 3;
	/* a shell begins with its own, and so does who forgot */
	if (!v || value->kind == VALUE_UNSET || v->when < run->forgotten ||
	    v->when < run->child)
		return true;
	if (value->kind != VALUE_SCALAR || value->words->hole_count)
		return false;
	*text = value->words->text;
	*len = value->words->len;
	return true;
}

/* Where it is split, nobody knows. */
static struct segment *any_fields(struct builder *b, const struct segment *s)
{
	struct segments list = { NULL, &list.first };

	return ab_segments_hole(b->run, &list, AB_HOLE_FIELDS, s->span, "IFS",
				NULL);
}

/* What stands between two separators; of what is likely, it is, too. */
static void take_piece(struct builder *b, const struct segment *s,
		       uint32_t begin, uint32_t len, struct ab_span span)
{
	struct segments list = { NULL, &list.first };
	struct segment *piece = ab_segments_add(
		b->run, &list, s->text + begin, len, span, 0);

	if (piece && s->hole) {
		piece->hole = s->hole;
		piece->name = s->name;
		piece->origin = s->origin;
		piece->is_checked = s->is_checked;
		piece->is_test = s->is_test;
		piece->is_cut = s->is_cut;
		piece->may_vanish = s->may_vanish;
		piece->part = s->part;
		piece->one_of = s->one_of;
	}
	take(b, piece);
}

/* An unquoted expansion: separators in it end fields. */
static void split(struct builder *b, struct segment *s)
{
	bool exact = s->span.end - s->span.begin == s->len;
	uint32_t at = 0;

	if (!b->ifs && !ab_run_ifs(b->run, &b->ifs, &b->ifs_len)) {
		take(b, any_fields(b, s));
		b->ifs = NULL;
		return;
	}
	while (at < s->len) {
		uint32_t begin = at;
		struct ab_span span = s->span;

		while (at < s->len && !is_separator(b, s->text[at]))
			at++;
		if (exact) {
			span.begin += begin;
			span.end = s->span.begin + at;
		}
		if (at > begin)
			take_piece(b, s, begin, at - begin, span);
		if (at >= s->len)
			return;
		/* white separators in a row are one; others each end one */
		if (b->is_field || !is_white(s->text[at]))
			end_field(b);
		if (is_white(s->text[at]))
			while (at < s->len && is_white(s->text[at]) &&
			       is_separator(b, s->text[at]))
				at++;
		else
			at++;
		if (b->run->arena->is_full)
			return;
	}
}

/* The $9 of $IFS$9-rf: what no text has set stands there to end a name, and is
   empty to who wrote that. */
static bool is_glue(const struct builder *b, const struct segment *s)
{
	const struct variable *v;

	if (s->hole != AB_HOLE_FIELDS || !s->name || s->origin || !s->next ||
	    (s->next->flags & SEGMENT_SPLIT) || !s->next->len)
		return false;
	v = ab_run_find(b->run, s->name, strlen(s->name));
	return !v || !v->when;
}

/* $9, $@: of a call they are known, and the text itself has none. */
static bool is_argument(const struct segment *s)
{
	return !s->name[1] && strchr("123456789@*", *s->name);
}

/* What is known of it has separators, if any. */
static bool is_splittable(const struct segment *s)
{
	return !s->hole || (s->hole == AB_HOLE_LIKELY && s->len);
}

/* More than one field, or none. */
static void split_fields(struct ab_shell_run *run, struct segment *list,
			 enum expand_mode mode, struct fields *out)
{
	struct builder b = { .run = run, .out = out, .mode = mode };
	struct segment *next;
	bool none = false, is_begun = false;

	b.field.tail = &b.field.first;
	for (; list; list = next) {
		next = list->next;
		if (AB_UNLIKELY(is_begun) && is_glue(&b, list))
			list->hole = is_argument(list) ? 0 : AB_HOLE_LIKELY;
		is_begun = false;
		if (list->flags & SEGMENT_NONE) {
			none = true;
		} else if (list->flags & SEGMENT_BREAK) {
			if (mode == EXPAND_FIELDS) {
				if (b.is_field)
					end_field(&b);
			} else {
				list->len = (uint32_t)strlen(list->text);
				take(&b, list);
			}
		} else if ((list->flags & SEGMENT_SPLIT) &&
			   mode == EXPAND_FIELDS && is_splittable(list)) {
			split(&b, list);
			is_begun = !b.field.first;
		} else {
			take(&b, list);
		}
	}
	/* "$@" of nothing is no word, also in quotes */
	if (none && b.field.first) {
		bool any = false;

		for (struct segment *s = b.field.first; s; s = s->next)
			any |= s->len || s->hole;
		b.is_field &= any;
	}
	if (b.is_field || mode != EXPAND_FIELDS)
		end_field(&b);
}

void ab_expand_fields(struct ab_shell_run *run, struct segment *list,
		      enum expand_mode mode, struct fields *out)
{
	struct needs needs;

	measure(list, mode, &needs);
	if (AB_UNLIKELY(needs.is_cut))
		split_fields(run, list, mode, out);
	else if (needs.is_field)
		put_field(run, list, mode, &needs, out);
}
