/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words to fields: parameters, substitutions that were visited, braces,
 * tilde, field splitting, patterns (bash(1), EXPANSION). Works on a list of
 * segments that point to bytes which exist already; bytes are copied once,
 * when a field is made of more than one segment.
 *
 * All of it is scratch memory of the command. What all expansions of a run
 * may copy is bounded; beyond that a value is a hole.
 */
#include "config.h"

#include "base/key.h"
#include "shell/scan.h"
#include "shell/state.h"

/* A segment of no text, so that a full arena needs no checks: the run ends
 * at its next step. */
static inline struct segment *new_segment(struct ab_shell_run *run,
					  struct segments *list)
{
	struct segment *s = ab_run_low(run, sizeof(*s));

	if (!s)
		return NULL;
	memset(s, 0, sizeof(*s));
	s->text = "";
	*list->tail = s;
	list->tail = &s->next;
	return s;
}

struct segment *ab_segments_add(struct ab_shell_run *run,
				struct segments *list, const char *text,
				uint32_t len, struct ab_span span,
				uint32_t flags)
{
	struct segment *s = new_segment(run, list);

	if (!s)
		return NULL;
	s->text = text;
	s->len = len;
	s->span = span;
	s->flags = (uint8_t)flags;
	return s;
}

struct segment *ab_segments_hole(struct ab_shell_run *run,
				 struct segments *list, enum ab_hole_kind kind,
				 struct ab_span span, const char *name,
				 struct ab_stream *origin)
{
	struct segment *s = new_segment(run, list);

	if (!s)
		return NULL;
	s->hole = (uint8_t)kind;
	s->span = span;
	s->name = name;
	s->origin = origin;
	s->flags = kind == AB_HOLE_FIELDS ? 0 : SEGMENT_QUOTED;
	return s;
}

/* The same with entries first.. of the word's map, when they are those of just
 * these bytes, and more than one. False: they are not. */
static bool add_mapped(struct ab_shell_run *run, struct segments *list,
		       const struct ab_word *word, uint32_t begin,
		       uint32_t end, uint32_t first)
{
	struct ab_span all = word->map[first].span;
	uint32_t i = first;
	struct segment *s;

	if (word->map[i].at != begin)
		return false;
	for (; i < word->map_count && word->map[i].at < end; i++) {
		if (word->map[i].span.begin < all.begin)
			all.begin = word->map[i].span.begin;
		if (word->map[i].span.end > all.end)
			all.end = word->map[i].span.end;
	}
	if (i < first + 2 ||
	    end != (i < word->map_count ? word->map[i].at : word->len))
		return false;
	s = ab_segments_add(run, list, word->text + begin, end - begin, all,
			    SEGMENT_QUOTED);
	if (s) {
		s->flags |= SEGMENT_MAPPED;
		s->map = word->map + first;
		s->map_count = i - first;
		s->map_from = begin;
	}
	return true;
}

/* text[begin..end-1] of the word, cut where its map is cut unless it is quoted,
 * so that nothing looks into it. */
static void add_stretch(struct ab_shell_run *run, struct segments *list,
			const struct ab_word *word, uint32_t begin,
			uint32_t end, uint32_t flags)
{
	uint32_t i;

	if (word->map_count < 2) {
		if (begin < end)
			ab_segments_add(run, list, word->text + begin,
					end - begin,
					ab_word_span(word, begin, end - begin),
					flags);
		return;
	}
	i = ab_word_entry(word, begin);
	if (flags == SEGMENT_QUOTED &&
	    add_mapped(run, list, word, begin, end, i))
		return;
	for (; begin < end; i++) {
		uint32_t next = i + 1 < word->map_count ? word->map[i + 1].at :
							  word->len;
		uint32_t last = next < end ? next : end;
		struct ab_span span = word->map[i].span;

		/* as ab_word_span(), whose entry is at hand */
		if (span.end - span.begin == next - word->map[i].at) {
			span.begin += begin - word->map[i].at;
			span.end = span.begin + (last - begin);
		}
		ab_segments_add(run, list, word->text + begin, last - begin,
				span, flags);
		begin = last;
	}
}

static void add_hole(struct ab_shell_run *run, struct segments *list,
		     const struct ab_word *word, const struct ab_hole *h,
		     uint32_t flags)
{
	enum ab_hole_kind kind = h->kind;
	struct segment *s;

	if (kind == AB_HOLE_FIELDS && (flags & SEGMENT_QUOTED))
		kind = AB_HOLE_BYTES;
	if (kind == AB_HOLE_BYTES && (flags & SEGMENT_SPLIT))
		kind = AB_HOLE_FIELDS;
	s = ab_segments_hole(run, list, kind, h->span, h->name, h->origin);
	if (!s)
		return;
	s->text = word->text + h->at;
	s->len = h->len;
	s->is_cut = h->is_cut;
	s->is_test = h->is_test;
	s->may_vanish = h->may_vanish && (flags & SEGMENT_SPLIT);
	s->part = h->part;
	s->one_of = h->one_of;
	if (kind == AB_HOLE_LIKELY && (flags & SEGMENT_SPLIT))
		s->flags = SEGMENT_SPLIT;
}

/* The value that it is read with, but for what is of several there again. */
static AB_COLD bool add_read(struct ab_shell_run *run, struct segments *list,
			     const struct ab_hole *h, uint32_t flags)
{
	const struct value *v = ab_choice_read(run, h->one_of);
	const struct ab_word *word = v->words;

	if (v->kind != VALUE_SCALAR || word->hole_count ||
	    word->len > run->expansion)
		return false;
	run->expansion -= word->len;
	add_stretch(run, list, word, 0, word->len, flags);
	return true;
}

/* The bytes and holes of a value. */
void ab_segments_add_word(struct ab_shell_run *run, struct segments *list,
			  const struct ab_word *word, uint32_t flags)
{
	uint32_t at = 0;

	uint64_t cost = (uint64_t)word->len + 16 * word->hole_count +
			4 * word->map_count;

	if (cost > run->expansion) {
		ab_segments_hole(run, list, AB_HOLE_FIELDS, word->span, NULL,
				 ab_run_blend(run, word, 1));
		return;
	}
	run->expansion -= cost;
	if (word->len == 0 && word->hole_count == 0) {
		ab_segments_add(run, list, "", 0, word->span, flags);
		return;
	}
	for (uint32_t i = 0; i < word->hole_count; i++) {
		const struct ab_hole *h = &word->holes[i];

		add_stretch(run, list, word, at, h->at, flags);
		if (AB_LIKELY(!h->one_of) || !add_read(run, list, h, flags))
			add_hole(run, list, word, h, flags);
		at = h->at + h->len;
	}
	add_stretch(run, list, word, at, word->len, flags);
}

/* The hole of the source that stands at `at`. */
static const struct ab_hole *source_hole(const struct ab_shell_tree *tree,
					 uint32_t at)
{
	uint32_t low = 0, high;

	if (!tree->source)
		return NULL;
	high = tree->source->hole_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (tree->source->holes[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < tree->source->hole_count &&
	    tree->source->holes[low].at == at)
		return &tree->source->holes[low];
	return NULL;
}

static void add_source_hole(struct ab_shell_run *run,
			    const struct ab_shell_tree *tree,
			    const struct part *part, struct segments *list)
{
	const struct ab_hole *h = source_hole(tree, part->begin);
	enum ab_hole_kind kind;
	struct segment *s;

	if (!h)
		return;
	kind = h->kind;
	if (kind == AB_HOLE_BYTES && !(part->flags & PART_QUOTED))
		kind = AB_HOLE_FIELDS;
	if (kind == AB_HOLE_FIELDS && (part->flags & PART_QUOTED))
		kind = AB_HOLE_BYTES;
	s = ab_segments_hole(run, list, kind, h->span, h->name, h->origin);
	if (s) {
		s->is_cut = h->is_cut;
		s->part = h->part;
	}
	if (s && tree->hole_texts) {
		const struct ab_hole *original =
			&tree->hole_texts[h - tree->source->holes];

		s->text = tree->hole_bytes + original->at;
		s->len = original->len;
	}
}

/* ~ at the start of unquoted text: how many bytes it takes. */
static uint32_t add_tilde(struct ab_shell_run *run, const char *text,
			  uint32_t len, bool is_last, struct ab_span span,
			  struct segments *list)
{
	uint32_t end = 1;
	struct segment *s;

	/* ~:/x in any word, too: bash has it so */
	while (end < len && text[end] != '/' && text[end] != ':') {
		unsigned char c = (unsigned char)text[end];

		if (!ab_shell_name[c] && c != '-' && c != '+' && c != '.')
			return 0;
		end++;
	}
	if (end == len && !is_last)
		return 0; /* quoted or expanded bytes follow */
	if (span.end - span.begin == len)
		span.end = span.begin + end;
	if (end == 2 && (text[1] == '+' || text[1] == '-')) {
		const char *name = text[1] == '+' ? "PWD" : "OLDPWD";
		const struct value *v =
			ab_run_value(run, name, strlen(name));

		if (v->kind == VALUE_SCALAR)
			ab_segments_add_word(run, list, v->words,
					     SEGMENT_QUOTED);
		else
			ab_segments_hole(run, list, AB_HOLE_BYTES, span, name,
					 v->origin);
		return end;
	}
	s = ab_segments_hole(run, list, AB_HOLE_HOME, span, NULL, NULL);
	if (s) {
		s->text = text;
		s->len = end;
		if (end == 1 && run->context->home) {
			s->text = run->context->home;
			s->len = run->context->home_len;
		}
	}
	return end;
}

/* Unquoted text as written: tilde where it may be, then the rest. */
static void add_text(struct ab_shell_run *run,
		     const struct ab_shell_tree *tree, uint32_t begin,
		     uint32_t end, bool at_start, bool is_value, bool is_last,
		     struct segments *list)
{
	const char *text = (const char *)tree->text;

	while (begin < end) {
		uint32_t next = end;
		const char *colon;

		if (at_start && text[begin] == '~')
			begin += add_tilde(run, text + begin, end - begin,
					   is_last,
					   ab_tree_span(tree, begin, end),
					   list);
		if (is_value && memchr(text + begin, '~', end - begin) &&
		    (colon = memmem(text + begin, end - begin, ":~", 2)))
			next = (uint32_t)(colon - text) + 1;
		if (next > begin)
			ab_segments_add(run, list, text + begin, next - begin,
					ab_tree_span(tree, begin, next), 0);
		begin = next;
		at_start = true;
	}
}

/* $'...' */
static void add_ansi(struct ab_shell_run *run,
		     const struct ab_shell_tree *tree, const struct part *part,
		     struct segments *list)
{
	const unsigned char *s = tree->text;
	uint32_t at = part->begin, begin = at;

	ab_segments_add(run, list, "", 0, ab_tree_span(tree, at, at),
			SEGMENT_QUOTED);
	while (at < part->end) {
		char *out;
		uint32_t used, len;

		if (s[at] != '\\') {
			at++;
			continue;
		}
		if (at > begin)
			ab_segments_add(run, list, (const char *)s + begin,
					at - begin,
					ab_tree_span(tree, begin, at),
					SEGMENT_QUOTED);
		out = ab_run_low(run, 8);
		if (!out)
			return;
		len = ab_decode_escape(s + at, part->end - at, out, &used,
				       true);
		if (len == 1 && out[0] == 0)
			return; /* the string ends at a NUL */
		ab_segments_add(run, list, out, len,
				ab_tree_span(tree, at, at + used),
				SEGMENT_QUOTED);
		at = begin = at + used;
	}
	if (at > begin)
		ab_segments_add(run, list, (const char *)s + begin, at - begin,
				ab_tree_span(tree, begin, at), SEGMENT_QUOTED);
}

/* begin..end of quoted text without its backslashes: where each stretch of what
 * is left came from. */
static uint32_t unescape(const struct ab_shell_tree *tree,
			 const struct part *part, char *out,
			 struct ab_map *map)
{
	const unsigned char *s = tree->text;
	uint32_t at = part->begin, len = 0, count = 0, n;

	while (at < part->end) {
		uint32_t from = at += ab_tree_is_escape(s + at);

		for (at++; at < part->end && !ab_tree_is_escape(s + at);) {
			n = ab_scan_to(s + at + 1, '\\') + 1;
			at += n < part->end - at ? n : part->end - at;
		}
		ab_copy(out + len, (const char *)s + from, at - from);
		map[count].at = len;
		map[count++].span = ab_tree_span(tree, from, at);
		len += at - from;
	}
	return count;
}

/* Text in double quotes with backslashes in it. */
static void add_escaped(struct ab_shell_run *run,
			const struct ab_shell_tree *tree,
			const struct part *part, struct segments *list)
{
	uint32_t len = part->end - part->begin - part->escapes, count;
	char *text = ab_run_low(run, len);
	struct ab_map *map =
		ab_run_low(run, (part->escapes + 1) * sizeof(*map));
	struct segment *s;

	if (!text || !map)
		return;
	count = unescape(tree, part, text, map);
	s = ab_segments_add(run, list, text, len, map[0].span, SEGMENT_QUOTED);
	if (!s || count == 1)
		return;
	s->span.end = map[count - 1].span.end;
	s->flags |= SEGMENT_MAPPED;
	s->map = map;
	s->map_count = count;
}

/* What a substitution gave. */
static void add_output(struct ab_shell_run *run,
		       const struct ab_shell_tree *tree,
		       const struct part *part, struct segments *list)
{
	bool quoted = part->flags & PART_QUOTED;
	struct ab_span span = ab_tree_span(tree, part->begin, part->end);
	uint32_t flags = quoted ? SEGMENT_QUOTED : SEGMENT_SPLIT;
	/* public is the first member */
	const struct stream *stream =
		(const struct stream *)(const void *)part->stream;
	const struct value *one = NULL;
	struct segment *s;

	if (stream && AB_UNLIKELY(stream->either))
		one = ab_choice_read(run, stream->either);
	if (stream && stream->public.value) {
		ab_segments_add_word(run, list, stream->public.value, flags);
	} else if (one && one->kind == VALUE_SCALAR) {
		ab_segments_add_word(run, list, one->words, flags);
	} else {
		if (part->kind == PART_COMMAND)
			ab_choice_found(run, tree, part);
		s = ab_segments_hole(run, list,
				     quoted ? AB_HOLE_BYTES : AB_HOLE_FIELDS,
				     span, NULL, part->stream);
		if (s && one && one->one)
			s->one_of = one;
	}
}

static void add_process(struct ab_shell_run *run,
			const struct ab_shell_tree *tree,
			const struct part *part, struct segments *list)
{
	struct segment *s = ab_segments_hole(
		run, list, AB_HOLE_PROC,
		ab_tree_span(tree, part->begin, part->end), NULL,
		part->stream);

	if (s) {
		s->text = "/dev/fd/63";
		s->len = 10;
	}
}

/* What is open around the parts: ${ with its argument, or $(( ))  */
struct open {
	struct open *below;
	const struct part *part;
	struct segment **tail; /* of the list when it began */
	struct segment *index; /* what [...] gave */
	bool is_index;
	bool is_choice; /* its argument may be left out: where that began */
	struct undo *undo;
};

/* ${x:+...}, and ${x:-...}, ${x:=...}, ${x:?...} of what the text says
   something of, or of an argument: that of others is likely. */
static bool is_choice(const struct ab_shell_run *run,
		      const struct ab_shell_tree *tree, const struct part *part)
{
	const struct param *param = part->u.param;
	const char *name;

	if (part->kind != PART_PARAM || !param->has_args)
		return false;
	name = (const char *)tree->text + param->name;
	return param->op == OP_OTHER ||
	       ((param->op == OP_DEFAULT || param->op == OP_ASSIGN ||
		 param->op == OP_ERROR) &&
		(ab_shell_name[(unsigned char)*name] != AB_NAME ||
		 ab_run_find(run, name, param->name_len)));
}

/* What was set in it was set, or was not. */
static void end_choice(struct ab_shell_run *run, const struct open *o)
{
	struct outcome *outcomes = NULL;

	ab_run_back(run, o->undo, &outcomes);
	ab_run_join(run, outcomes, 2);
}

static void add_arith(struct ab_shell_run *run,
		      const struct ab_shell_tree *tree,
		      const struct part *part, struct segment *args,
		      struct segments *list)
{
	struct fields f = { 0 };
	int64_t number;
	char *digits = ab_run_low(run, 24);
	struct ab_span span = ab_tree_span(tree, part->begin, part->end);

	ab_expand_fields(run, args, EXPAND_ONE, &f);
	if (f.count)
		ab_arith_effects(run, &f.words[0]);
	if (digits && f.count && f.words[0].hole_count == 0 &&
	    ab_arith(run, f.words[0].text, f.words[0].len, &number)) {
		ab_segments_add(run, list, digits, ab_decimal(digits, number),
				span, SEGMENT_QUOTED);
		return;
	}
	ab_segments_hole(run, list, AB_HOLE_BYTES, span, NULL, NULL);
}

/* Cuts the segments since the open part began off the list. */
static struct segment *cut(struct segments *list, struct open *o)
{
	struct segment *args = *o->tail;

	*o->tail = NULL;
	list->tail = o->tail;
	return args;
}

static struct open *close_part(struct ab_shell_run *run,
			       const struct ab_shell_tree *tree,
			       struct open *o, const struct part *end,
			       struct segments *list)
{
	struct segment *args = cut(list, o);

	if (o->is_index) {
		o->is_index = false;
		o->index = args;
		if (o->part->u.param->has_args)
			return o;
		args = NULL;
	}
	(void)end;
	if (o->is_choice)
		end_choice(run, o);
	if (o->part->kind == PART_ARITH)
		add_arith(run, tree, o->part, args, list);
	else
		ab_expand_param(run, tree, o->part, list, &args, o->index);
	return o->below;
}

static struct open *open_part(struct ab_shell_run *run,
			      const struct ab_shell_tree *tree,
			      struct open *below, const struct part *part,
			      struct segments *list)
{
	struct open *o = ab_run_low(run, sizeof(*o));

	if (!o)
		return below;
	memset(o, 0, sizeof(*o));
	o->below = below;
	o->part = part;
	o->tail = list->tail;
	o->is_choice = is_choice(run, tree, part);
	if (o->is_choice)
		o->undo = ab_run_branch(run);
	return o;
}

/* Of the word, or of the word in a ${x:-...}. */
static bool is_last_part(const struct part *part)
{
	return !part->next || part->next->kind == PART_END ||
	       part->next->kind == PART_SEP;
}

static void add_part(struct ab_shell_run *run,
		     const struct ab_shell_tree *tree, const struct part *part,
		     bool at_start, bool is_value, struct segments *list)
{
	switch ((enum part_kind)part->kind) {
	case PART_TEXT:
		if (part->escapes)
			add_escaped(run, tree, part, list);
		else if (part->flags & PART_QUOTED)
			ab_segments_add(run, list,
					(const char *)tree->text + part->begin,
					part->end - part->begin,
					ab_tree_span(tree, part->begin,
						     part->end),
					SEGMENT_QUOTED);
		else
			add_text(run, tree, part->begin, part->end, at_start,
				 is_value, is_last_part(part), list);
		break;
	case PART_ANSI:
		add_ansi(run, tree, part, list);
		break;
	case PART_COMMAND:
	case PART_BACKQUOTE:
	case PART_FUNSUB:
		add_output(run, tree, part, list);
		break;
	case PART_PROC_IN:
	case PART_PROC_OUT:
		add_process(run, tree, part, list);
		break;
	case PART_HOLE:
		add_source_hole(run, tree, part, list);
		break;
	default:
		break;
	}
}

static void add_parts(struct ab_shell_run *run,
		      const struct ab_shell_tree *tree,
		      const struct part *part, const struct part *end,
		      bool at_start, bool is_value, struct segments *list)
{
	struct open *o = NULL;
	struct segment *mark;

	for (; part != end && !run->arena->is_full; part = part->next) {
		bool was_start = at_start;

		at_start = false;
		switch ((enum part_kind)part->kind) {
		case PART_PARAM:
			if (part->u.param->has_args ||
			    part->u.param->has_index) {
				o = open_part(run, tree, o, part, list);
				/* ${x:-~} */
				at_start = !part->u.param->has_index;
			} else
				ab_expand_param(run, tree, part, list, NULL,
						NULL);
			break;
		case PART_ARITH:
			o = open_part(run, tree, o, part, list);
			break;
		case PART_INDEX:
			if (o)
				o->is_index = true;
			break;
		case PART_SEP:
			mark = new_segment(run, list);
			if (mark)
				mark->flags = SEGMENT_MARK;
			break;
		case PART_END:
			if (o)
				o = close_part(run, tree, o, part, list);
			break;
		default:
			add_part(run, tree, part, was_start, is_value && !o,
				 list);
			break;
		}
	}
	while (o) /* the text ended inside */
		o = close_part(run, tree, o, NULL, list);
}

bool ab_expand_subscript(struct ab_shell_run *run,
			 const struct ab_shell_tree *tree,
			 const struct word *word, struct ab_word *out)
{
	const char *text = (const char *)tree->text + word->begin;
	const struct part *end = word->parts;
	uint32_t from = 0, behind;
	struct segments list = { NULL, &list.first };
	struct fields f = { 0 };

	while (end && end->kind != PART_ASSIGN)
		end = end->next;
	while (from < word->assign && ab_shell_name[(unsigned char)text[from]])
		from++;
	if (from + 3 > word->assign || text[from] != '[' || !word->parts)
		return false;
	behind = text[word->assign - 2] == '+' ? 3 : 2;
	add_parts(run, tree, word->parts, end, false, false, &list);
	ab_expand_fields(run, list.first, EXPAND_ONE, &f);
	if (!f.count || f.words->len < from + 1 + behind)
		return false;
	*out = ab_builtin_tail(run, f.words, from + 1);
	out->len -= behind;
	return true;
}

static void split_braces(struct ab_shell_run *run, struct segment *list,
			 enum expand_mode mode, struct fields *out)
{
	uint32_t count = 0;
	struct segment **lists = ab_expand_braces(run, list, &count);

	if (!lists) {
		ab_expand_fields(run, list, mode, out);
		return;
	}
	for (uint32_t i = 0; i < count && !run->arena->is_full; i++)
		ab_expand_fields(run, lists[i], mode, out);
}

static bool is_quoted_text(const struct part *part)
{
	return part && part->kind == PART_TEXT &&
	       (part->flags & PART_QUOTED) && !part->escapes;
}

/* What is nothing but '...' or "..." without an expansion: the part that has
 * the bytes. In a pushed text a "" comes in front of those in double quotes. */
static const struct part *literal(const struct part *part)
{
	if (!is_quoted_text(part))
		return NULL;
	if (part->next && part->begin == part->end)
		part = part->next;
	return is_quoted_text(part) && !part->next ? part : NULL;
}

static bool add_literal(struct ab_shell_run *run,
			const struct ab_shell_tree *tree,
			const struct part *part, struct fields *out)
{
	struct ab_word *w;

	if (!part)
		return false;
	w = ab_fields_new(run, out);
	if (w) {
		w->text = (const char *)tree->text + part->begin;
		w->len = part->end - part->begin;
		w->span = ab_tree_span(tree, part->begin, part->end);
		w->is_quoted = true;
	}
	return true;
}

/* dd of=~/x: bash expands the tilde in an argument that looks like an
 * assignment; how long its name is, with the sign, where there is one. */
static uint32_t name_like(const struct ab_shell_tree *tree,
			  const struct word *word)
{
	const unsigned char *s = tree->text;
	uint32_t at = word->begin, end = word->end;

	if ((!word->parts && !(word->flags & WORD_TILDE)) || at >= end ||
	    ab_shell_name[s[at]] != AB_NAME)
		return 0;
	while (at < end && ab_shell_name[s[at]])
		at++;
	if (at + 1 < end && s[at] == '+')
		at++;
	if (at == end || s[at] != '=' || !memchr(s + at, '~', end - at))
		return 0;
	return at + 1 - word->begin;
}

static void add_name(struct ab_shell_run *run,
		     const struct ab_shell_tree *tree, const struct word *word,
		     uint32_t len, struct segments *list)
{
	uint32_t begin = word->begin;

	ab_segments_add(run, list, (const char *)tree->text + begin, len,
			ab_tree_span(tree, begin, begin + len), 0);
}

void ab_expand_word(struct ab_shell_run *run, const struct ab_shell_tree *tree,
		    const struct word *word, enum expand_mode mode,
		    struct fields *out)
{
	struct segments list = { NULL, &list.first };
	const struct part *parts = word->parts;
	/* declare x={a,b} is x=a x=b */
	bool is_declared = mode == EXPAND_ONE && word->assign;
	bool is_value = mode == EXPAND_VALUE || is_declared;
	bool has_braces = (mode == EXPAND_FIELDS || is_declared) &&
			  word->flags & WORD_BRACE;
	uint32_t name = mode == EXPAND_FIELDS ? name_like(tree, word) : 0;

	if (!parts) {
		uint32_t begin = word->begin;

		if (mode == EXPAND_VALUE)
			begin += word->assign;
		if (!(word->flags & (mode == EXPAND_FIELDS ?
					     WORD_PLAIN_SOFT & ~WORD_EQUALS :
					     WORD_TILDE | WORD_GLOB)) &&
		    !has_braces) {
			struct ab_word *w = ab_fields_new(run, out);

			if (!w)
				return;
			w->text = (const char *)tree->text + begin;
			w->len = word->end - begin;
			w->span = ab_tree_span(tree, begin, word->end);
			return;
		}
		if (is_declared)
			name = word->assign; /* declare x=~ */
		if (name)
			add_name(run, tree, word, name, &list);
		add_text(run, tree, begin + name, word->end, true,
			 is_value || name, true, &list);
	} else {
		if (mode == EXPAND_VALUE)
			while (parts && parts->kind != PART_ASSIGN)
				parts = parts->next;
		if (parts && parts->kind == PART_ASSIGN)
			parts = parts->next;
		if (add_literal(run, tree, literal(parts), out))
			return;
		if (name && parts && parts->kind == PART_TEXT &&
		    parts->begin == word->begin &&
		    parts->end >= word->begin + name) {
			add_name(run, tree, word, name, &list);
			add_text(run, tree, word->begin + name, parts->end,
				 true, true, is_last_part(parts), &list);
			parts = parts->next;
		}
		add_parts(run, tree, parts, NULL, !name, is_value || name,
			  &list);
	}
	if (has_braces)
		split_braces(run, list.first, mode, out);
	else
		ab_expand_fields(run, list.first, mode, out);
}

void ab_expand_one(struct ab_shell_run *run, const struct ab_shell_tree *tree,
		   const struct word *word, enum expand_mode mode,
		   struct ab_word *out)
{
	struct ab_word room[1];
	struct fields fields = { room, 0, 1 };

	ab_expand_word(run, tree, word, mode, &fields);
	if (fields.count) {
		*out = fields.words[0];
		return;
	}
	memset(out, 0, sizeof(*out));
	out->text = "";
	out->span = ab_tree_span(tree, word->begin, word->end);
}
