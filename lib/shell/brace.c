/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Brace expansion: {a,b} and {1..9} make more words of one. Works from the
 * first group on, as bash does, on a stack of what is still to be expanded.
 * The work is bounded: {a,b}{a,b}... doubles with each pair, so beyond the
 * bound the word is a hole.
 */
#include "config.h"

#include "shell/state.h"

/* A list that waits, with what it costs to look at it. */
struct job {
	struct job *next;
	struct segment *list;
};

/* Room for the marks of a usual word: they are needed no longer than it. */
#define FEW_MARKS 16

struct braces {
	struct ab_shell_run *run;
	struct segment *marks, *marks_end; /* what is left of that room */
	struct job *jobs;
	struct segment **out;
	uint32_t count, room;
	uint64_t work; /* segments that may still be made or looked at */
	bool is_over;
};

static struct segment *put_copy(struct braces *b, const struct segment *s,
				struct segment *copy, struct segments *list)
{
	if (b->work == 0 || !copy) {
		b->is_over = true;
		return NULL;
	}
	b->work--;
	*copy = *s;
	copy->next = NULL;
	*list->tail = copy;
	list->tail = &copy->next;
	return copy;
}

static void copy_segment(struct braces *b, const struct segment *s,
			 struct segments *list)
{
	put_copy(b, s, ab_run_low(b->run, sizeof(*s)), list);
}

/* A piece of the word that is expanded: no result has it. */
static struct segment *mark(struct braces *b, const struct segment *s,
			    struct segments *list)
{
	struct segment *room = b->marks < b->marks_end ?
				       b->marks++ :
				       ab_run_low(b->run, sizeof(*s));

	return put_copy(b, s, room, list);
}

/* Unquoted { , } become segments of their own. */
static struct segment *tokenize(struct braces *b, const struct segment *s)
{
	struct segments list = { NULL, &list.first };

	for (; s && !b->is_over; s = s->next) {
		uint32_t begin = 0;
		bool exact = s->span.end - s->span.begin == s->len;

		if (s->hole || s->flags) {
			mark(b, s, &list);
			continue;
		}
		for (uint32_t i = 0; i <= s->len && !b->is_over; i++) {
			bool is_brace = i < s->len && (s->text[i] == '{' ||
						       s->text[i] == ',' ||
						       s->text[i] == '}');
			uint32_t end = i;
			struct segment *piece;

			if (!is_brace && i < s->len)
				continue;
			for (int k = 0; k < 2; k++, begin = end, end = i + 1) {
				if (begin == end || begin >= s->len)
					continue;
				piece = mark(b, s, &list);
				if (!piece)
					break;
				piece->text = s->text + begin;
				piece->len = end - begin;
				if (exact) {
					piece->span.begin += begin;
					piece->span.end =
						s->span.begin + end;
				}
				if (k == 1)
					piece->flags = SEGMENT_BRACE;
			}
		}
	}
	return list.first;
}

static bool is_brace(const struct segment *s, char c)
{
	return (s->flags & SEGMENT_BRACE) && s->text[0] == c;
}

/* x..y or x..y..z between braces: fills in its ends. */
struct sequence {
	int64_t begin, end, step;
	uint32_t width;
	bool is_letters;
};

static bool number_at(const char *s, uint32_t len, int64_t *n, uint32_t *width)
{
	uint32_t i = len && (s[0] == '-' || s[0] == '+');
	int64_t value = 0;

	if (i == len || len - i > 12)
		return false;
	if (s[i] == '0' && len - i > 1 && len > *width)
		*width = len;
	for (; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		value = value * 10 + s[i] - '0';
	}
	*n = s[0] == '-' ? -value : value;
	return true;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool parse_sequence(const struct segment *s, struct sequence *q)
{
	const char *dots = memmem(s->text, s->len, "..", 2), *more;
	uint32_t first, second;

	memset(q, 0, sizeof(*q));
	if (!dots || s->hole || s->flags)
		return false;
	first = (uint32_t)(dots - s->text);
	dots += 2;
	second = s->len - first - 2;
	more = memmem(dots, second, "..", 2);
	if (more) {
		uint32_t width = 0;
		uint32_t len = second - (uint32_t)(more - dots) - 2;

		if (!number_at(more + 2, len, &q->step, &width))
			return false;
		second = (uint32_t)(more - dots);
	}
	if (first == 1 && second == 1 && is_letter(s->text[0]) &&
	    is_letter(dots[0])) {
		q->is_letters = true;
		q->begin = s->text[0];
		q->end = dots[0];
	} else if (!number_at(s->text, first, &q->begin, &q->width) ||
		   !number_at(dots, second, &q->end, &q->width)) {
		return false;
	}
	if (q->step < 0)
		q->step = -q->step;
	if (q->step == 0)
		q->step = 1;
	return true;
}

/* The first group of the list: from open to close, both in it. What looks
 * like one and is none loses its marks. */
static bool find_group(struct braces *b, struct segment *list,
		       struct segment **open, struct segment **close)
{
	for (struct segment *s = list; s; s = s->next) {
		uint32_t depth = 0;
		bool has_comma = false;
		struct sequence q;
		struct segment *e;

		if (!is_brace(s, '{'))
			continue;
		for (e = s; e; e = e->next) {
			if (b->work == 0) {
				b->is_over = true;
				return false;
			}
			b->work--;
			if (is_brace(e, '{'))
				depth++;
			else if (is_brace(e, ',') && depth == 1)
				has_comma = true;
			else if (is_brace(e, '}') && --depth == 0)
				break;
		}
		if (e && (has_comma || (s->next != e && s->next->next == e &&
					parse_sequence(s->next, &q)))) {
			*open = s;
			*close = e;
			return true;
		}
		s->flags = 0;
	}
	return false;
}

/* before + middle + after as a new job at `at`: returns where the one behind
   it is to be. */
static struct job **push(struct braces *b, struct job **at,
			 const struct segment *list,
			 const struct segment *open,
			 const struct segment *begin, const struct segment *end,
			 const struct segment *close,
			 const struct segment *extra)
{
	struct segments out = { NULL, &out.first };
	struct job *job;
	const struct segment *s;

	for (s = list; s != open; s = s->next)
		copy_segment(b, s, &out);
	if (extra)
		copy_segment(b, extra, &out);
	for (s = begin; s != end; s = s->next)
		copy_segment(b, s, &out);
	for (s = close->next; s; s = s->next)
		copy_segment(b, s, &out);
	job = ab_run_low(b->run, sizeof(*job));
	if (!job || b->is_over) {
		b->is_over = true;
		return at;
	}
	job->list = out.first;
	job->next = *at;
	*at = job;
	return &job->next;
}

static void push_sequence(struct braces *b, struct segment *list,
			  struct segment *open, struct segment *close,
			  const struct sequence *q)
{
	int64_t low = q->begin < q->end ? q->begin : q->end;
	int64_t high = q->begin < q->end ? q->end : q->begin;
	int64_t count = (high - low) / q->step + 1;
	struct job **at = &b->jobs;

	if (count > b->run->limits.words) {
		b->is_over = true;
		return;
	}
	for (int64_t i = 0; i < count && !b->is_over; i++) {
		int64_t n = q->begin +
			    (q->begin < q->end ? i : -i) * q->step;
		struct segment item = *open->next;
		char *text = ab_run_low(b->run, 24 + q->width);
		char digits[24];
		uint32_t len;

		if (!text)
			return;
		item.flags = 0;
		item.text = text;
		item.span = (struct ab_span){ open->span.begin,
					      close->span.end };
		if (q->is_letters) {
			text[0] = (char)n;
			item.len = 1;
		} else {
			uint32_t to = 0, skip = n < 0;

			len = ab_decimal(digits, n);
			if (n < 0)
				text[to++] = '-';
			while (to + len - skip < q->width)
				text[to++] = '0';
			memcpy(text + to, digits + skip, len - skip);
			item.len = to + len - skip;
		}
		at = push(b, at, list, open, NULL, NULL, close, &item);
	}
}

/* The alternatives between open and close. */
static void push_alternatives(struct braces *b, struct segment *list,
			      struct segment *open, struct segment *close)
{
	struct job **at = &b->jobs;
	struct segment *begin = open;
	uint32_t depth = 0;

	for (struct segment *s = open; !b->is_over; s = s->next) {
		if (s == close || (depth == 1 && is_brace(s, ','))) {
			at = push(b, at, list, open, begin->next, s, close,
				  NULL);
			begin = s;
		}
		if (s == close)
			return;
		if (is_brace(s, '{'))
			depth++;
		else if (is_brace(s, '}'))
			depth--;
	}
}

static void add_result(struct braces *b, struct segment *list)
{
	if (b->count == b->room) {
		uint32_t room = b->room ? b->room * 2 : 2;
		struct segment **out =
			ab_run_low(b->run, room * sizeof(struct segment *));

		if (!out || b->count >= b->run->limits.words) {
			b->is_over = true;
			return;
		}
		if (b->count)
			memcpy(out, b->out, b->count * sizeof(*out));
		b->out = out;
		b->room = room;
	}
	for (struct segment *s = list; s; s = s->next)
		s->flags &= (uint8_t)~SEGMENT_BRACE;
	b->out[b->count++] = list;
}

/* Too much: a word of which nothing is known. */
static struct segment **give_up(struct ab_shell_run *run,
				const struct segment *list, uint32_t *count)
{
	struct segments hole = { NULL, &hole.first };
	struct segment **out = ab_run_low(run, sizeof(struct segment *));

	if (!out)
		return NULL;
	ab_segments_hole(run, &hole, AB_HOLE_FIELDS,
			 list ? list->span : (struct ab_span){ 0, 0 }, NULL,
			 NULL);
	*out = hole.first;
	*count = 1;
	return out;
}

struct segment **ab_expand_braces(struct ab_shell_run *run,
				  struct segment *list, uint32_t *count)
{
	struct segment marks[FEW_MARKS], *open, *close;
	struct braces b = { .run = run,
			    .marks = marks,
			    .marks_end = marks + FEW_MARKS };
	struct sequence q;
	struct job first;
	uint64_t budget = 65536 < run->expansion ? 65536 : run->expansion;

	b.work = budget;
	first.next = NULL;
	first.list = tokenize(&b, list);
	b.jobs = &first;
	while (b.jobs && !b.is_over && !run->arena->is_full) {
		struct segment *now = b.jobs->list;

		b.jobs = b.jobs->next;
		if (!find_group(&b, now, &open, &close))
			add_result(&b, now == first.list ? list : now);
		else if (open->next->next == close &&
			 parse_sequence(open->next, &q))
			push_sequence(&b, now, open, close, &q);
		else
			push_alternatives(&b, now, open, close);
	}
	run->expansion -= budget - b.work;
	if (b.is_over)
		return give_up(run, list, count);
	*count = b.count;
	return b.out;
}
