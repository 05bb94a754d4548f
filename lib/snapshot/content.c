/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The content scan as a stream. Bytes are collected in a window; the
 * prefilter names places, and the rows that may begin there look at a fixed
 * number of bytes around them, so nothing depends on the chunks. UTF-16 and
 * UTF-32 text is told by its NULs, block by block of the file, and its low
 * bytes are scanned as a second stream; so is what text with escapes in it
 * means. What is found ends the work on the file. Contract: content.h.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Bytes that are scanned in one go, and places found at once. */
#define WINDOW 65536
#define PLACES 1024
/* Kept behind: what a verifier sees, and the anchor before its print. */
#define KEPT (AB_CONTENT_BACK + AB_CONTENT_ANCHOR)
/* A verifier may compute, not read, an address a little before its bytes. */
#define FRONT 64
/* Wide text and escapes are told by blocks of this many bytes of the file. */
#define BLOCK 256
/* So many behind an escape are still of the token that has it. */
#define BEHIND 4
#define ROOM (KEPT + BLOCK + WINDOW + AB_CONTENT_AHEAD)
#define PIECES (2 * ROOM / BLOCK + 4)

/* A half of a finding that waits for its keyword. */
typedef struct slot {
	bool has_word, is_waiting;
	ab_content_finding finding;
} slot;

/* Bytes of the second stream, and where in the file they are from. */
typedef struct piece {
	size_t at, unit; /* each byte is from so many; 1: it had escapes */
	uint64_t offset, lines; /* line ends before it, of one with escapes */
	/* which of its line ends are none of the file's, and how many of its
	   bytes were forgotten */
	uint64_t ends[BLOCK / 64];
	size_t gone;
} piece;

/* How wide text lies in a block: every `unit` bytes one that counts, the
   first at `first`; unit 0: it is none. */
typedef struct layout {
	size_t unit, first;
} layout;

/* One stream: the file's bytes, or the text in its wide characters. */
typedef struct lane {
	uint8_t *bytes; /* ROOM of them, FRONT before, padding behind */
	size_t have, scanned;
	uint64_t base;	/* how many bytes were there before bytes[0] */
	uint64_t lines; /* line ends among those */
	bool is_wide;
	bool is_inner; /* of a text in base64, which does not report */
	bool is_met;   /* so it says here that a rule found something */
	slot slots[AB_CONTENT_SLOTS];
	const uint8_t *marks[AB_MARKS];
} lane;


struct ab_content {
	ab_content_anchors anchors;
	ab_content_find find;
	enum ab_content_level level;
	unsigned kind;
	bool is_found;
	ab_content_finding finding;
	/* rules that do not count in this file, and those of them that found
	   something already, which need not be looked for again */
	uint64_t admits[AB_CONTENT_ROWS / 64], met[AB_CONTENT_ROWS / 64];
	size_t met_count;
	ab_content_finding admitted; /* the first */
	uint16_t rules[AB_CONTENT_ROWS]; /* the number of each row's */
	lane raw, wide;
	/* wide text: the next block, and how the one before it was */
	uint64_t block;
	layout before;
	bool is_joined; /* the block before went into the second stream */
	size_t behind;	/* so many more go there for an escape before them */
	size_t skip;	/* what the last escape has of the next block */
	uint64_t counted, lines; /* line ends before this byte of the file */
	piece pieces[PIECES];
	size_t piece_count;
	uint8_t memory[2][FRONT + ROOM + AB_CONTENT_PAD];
	uint8_t inner[FRONT + AB_CONTENT_TEXT + AB_CONTENT_PAD];
};

ab_content *ab_content_new(void)
{
	ab_content *s = ab_new(ab_content);

	/* a rule that would never be looked for is no scan */
	if (!s || !ab_content_anchors_make(&s->anchors)) {
		free(s);
		return NULL;
	}
	for (size_t i = 1; i < ab_content_row_count; i++) {
		bool is_same = strcmp(ab_content_rows[i].id,
				      ab_content_rows[i - 1].id) == 0;

		s->rules[i] = (uint16_t)(s->rules[i - 1] + !is_same);
	}
	s->find = ab_content_find_best();
	s->raw.bytes = s->memory[0] + FRONT;
	s->wide.bytes = s->memory[1] + FRONT;
	s->wide.is_wide = true;
	s->level = AB_CONTENT_OFF;
	return s;
}

void ab_content_free(ab_content *s)
{
	if (!s)
		return;
	/* it holds what files held */
	explicit_bzero(s->memory, sizeof(s->memory));
	explicit_bzero(s->inner, sizeof(s->inner));
	free(s);
}

void ab_content_set_find(ab_content *s, ab_content_find find)
{
	s->find = find;
}

static void lane_begin(lane *l)
{
	l->have = l->scanned = 0;
	l->base = l->lines = 0;
	memset(l->slots, 0, sizeof(l->slots));
	memset(l->marks, 0, sizeof(l->marks));
}

void ab_content_begin(ab_content *s, enum ab_content_level level,
		      const char *path, size_t n)
{
	s->level = level;
	s->kind = level == AB_CONTENT_OFF ? 0 : ab_content_kind(path, n);
	s->is_found = false;
	memset(&s->finding, 0, sizeof(s->finding));
	memset(s->admits, 0, sizeof(s->admits));
	memset(s->met, 0, sizeof(s->met));
	s->met_count = 0;
	lane_begin(&s->raw);
	lane_begin(&s->wide);
	s->block = 0;
	s->before = (layout){ 0 };
	s->is_joined = false;
	s->behind = s->skip = 0;
	s->counted = s->lines = 0;
	s->piece_count = 0;
}

static bool has_rule(const uint64_t *set, size_t rule)
{
	return set[rule / 64] >> (rule % 64) & 1;
}

static void add_rule(uint64_t *set, size_t rule)
{
	set[rule / 64] |= UINT64_C(1) << (rule % 64);
}

void ab_content_admit(ab_content *s, size_t rule)
{
	if (rule < AB_CONTENT_ROWS)
		add_rule(s->admits, rule);
}

size_t ab_content_admitted(const ab_content *s, ab_content_finding *finding)
{
	if (s->met_count && finding)
		*finding = s->admitted;
	return s->met_count;
}

/* Sixteen bytes at once; of each of the sixteen at most 255 before they are
   added up. */
static uint64_t count_lines(const uint8_t *p, size_t n)
{
	typedef uint8_t lanes __attribute__((vector_size(16)));
	uint64_t lines = 0;

	while (n >= sizeof(lanes)) {
		size_t rounds = n / sizeof(lanes);
		lanes sum = { 0 };

		rounds = rounds < 255 ? rounds : 255;
		n -= rounds * sizeof(lanes);
		for (; rounds; rounds--, p += sizeof(lanes)) {
			lanes x;

			memcpy(&x, p, sizeof(x));
			/* what is equal is all ones, or minus one */
			sum -= (lanes)(x == '\n');
		}
		for (size_t i = 0; i < sizeof(sum); i++)
			lines += sum[i];
	}
	for (; n; n--)
		lines += *p++ == '\n';
	return lines;
}

/* Lines of the file that end in the first n bytes of a piece with escapes. */
static uint64_t piece_lines(const ab_content *s, const piece *p, size_t n)
{
	uint64_t lines = count_lines(s->wide.bytes + p->at, n);

	for (size_t i = p->gone; i < p->gone + n; i++)
		lines -= p->ends[i / 64] >> (i % 64) & 1;
	return lines;
}

/*
 * Where in the file the byte at `at` of the second stream is from: of one with
 * escapes, at least; its line is right.
 */
static void find_piece(const ab_content *s, size_t at, ab_content_finding *f)
{
	const piece *p = s->pieces;
	size_t i = 1;

	while (i < s->piece_count && s->pieces[i].at <= at)
		p = &s->pieces[i++];
	f->offset = p->offset + (uint64_t)p->unit * (at - p->at);
	if (p->unit == 1)
		f->line = p->lines + piece_lines(s, p, at - p->at) + 1;
}

static ab_content_finding finding_at(const ab_content *s, const lane *l,
				     const ab_content_row *row,
				     const uint8_t *p)
{
	size_t at = (size_t)(p - l->bytes);
	ab_content_finding f = { .rule = row->id, .tier = row->tier };

	if (l->is_wide) {
		find_piece(s, at, &f);
	} else {
		f.offset = l->base + at;
		f.line = l->lines + count_lines(l->bytes, at) + 1;
	}
	return f;
}

static size_t rule_of(const ab_content *s, const ab_content_row *row)
{
	return s->rules[row - ab_content_rows];
}

static void report(ab_content *s, lane *l, const ab_content_row *row,
		   const ab_content_finding *f)
{
	size_t rule = rule_of(s, row);

	if (l->is_inner) {
		l->is_met = true;
		return;
	}
	if (has_rule(s->admits, rule)) {
		if (s->met_count == 0)
			s->admitted = *f;
		s->met_count += !has_rule(s->met, rule);
		add_rule(s->met, rule);
		return;
	}
	if (s->is_found)
		return;
	s->is_found = true;
	s->finding = *f;
}

/* A row matched: alone it is a finding, else half of one. */
static void matched(ab_content *s, lane *l, const ab_content_row *row,
		    const uint8_t *first)
{
	size_t needs = AB_ROW_NEEDED(row->flags);
	size_t word = AB_ROW_WORDED(row->flags);
	size_t clears = AB_ROW_CLEARED(row->flags);
	ab_content_finding f;
	slot *half;

	if (clears) {
		memset(&l->slots[clears], 0, sizeof(l->slots[clears]));
		return;
	}
	half = &l->slots[word ? word : needs];
	if (word) {
		half->has_word = true;
		if (half->is_waiting)
			report(s, l, row, &half->finding);
		return;
	}
	if (needs && !half->has_word && half->is_waiting)
		return;
	f = finding_at(s, l, row, first);
	if (!needs || half->has_word) {
		report(s, l, row, &f);
		return;
	}
	half->is_waiting = true;
	half->finding = f;
}

static void scan_all(ab_content *s, lane *l);

/* What is written in base64 around a match: is a secret in it? */
static bool hides_one(ab_content *s, lane *l, const ab_content_window *w,
		      ab_content_match *m)
{
	lane inner = { .bytes = s->inner + FRONT, .is_inner = true };

	/* once: a text in a text is another file's matter */
	if (l->is_inner || l->marks[AB_MARK_TEXT] > m->first)
		return false;
	inner.have = ab_content_text(w, m, inner.bytes);
	scan_all(s, &inner);
	if (!inner.is_met)
		l->marks[AB_MARK_TEXT] = m->end;
	return inner.is_met;
}

/*
 * Bytes of a program or an image: NULs, and others that no text has. NULs alone
 * end the strings of an environment, or fill a log that was cut.
 */
static bool is_program(const ab_content_window *w)
{
	if (!memchr(w->lo, 0, (size_t)(w->hi - w->lo)))
		return false;
	for (const uint8_t *p = w->lo; p < w->hi; p++) {
		if ((*p < ' ' && *p && !ab_content_class('s', *p) &&
		     *p != 0x1b) || *p == 0x7f)
			return true;
	}
	return false;
}

static void try_row(ab_content *s, lane *l, const ab_content_row *row,
		    size_t at)
{
	size_t hi = l->have - at > AB_CONTENT_AHEAD ? at + AB_CONTENT_AHEAD :
						      l->have;
	size_t lo = at > AB_CONTENT_BACK ? at - AB_CONTENT_BACK : 0;
	ab_content_window w = { .lo = l->bytes + lo,
				.hi = l->bytes + hi,
				.at = l->bytes + at,
				.kind = s->kind,
				.marks = l->marks };
	ab_content_match m;

	if (row->tier == 'M' && s->level != AB_CONTENT_STRICT)
		return;
	if ((row->flags & AB_ROW_NOT_LOCK) && (s->kind & AB_CONTENT_LOCK_FILE))
		return;
	if (!l->is_inner && s->met_count &&
	    has_rule(s->met, rule_of(s, row)))
		return;
	if (!ab_content_shape(row->shape, row->flags & AB_ROW_FOLD, &w, &m))
		return;
	if (row->verify && !row->verify(&w, &m))
		return;
	if ((row->flags & AB_ROW_TEXT) && !hides_one(s, l, &w, &m))
		return;
	if (m.is_inside && (row->tier == 'M' ||
			    (row->flags &
			     (AB_ROW_LONELY | AB_ROW_APART | AB_ROW_SHORT))))
		return;
	if (!ab_content_value(row, &w, &m))
		return;
	/* in a program or an image only what is sure by its form */
	if (row->tier == 'M' && is_program(&w))
		return;
	matched(s, l, row, m.first);
}

static bool is_done(const ab_content *s, const lane *l)
{
	return s->is_found || l->is_met;
}

static void try_place(ab_content *s, lane *l, size_t at)
{
	uint32_t key = ab_content_key(l->bytes + at);
	size_t i = s->anchors.heads[ab_content_head(key)];

	for (; i && !is_done(s, l); i = s->anchors.prints[i - 1].next) {
		const ab_content_print *print = &s->anchors.prints[i - 1];

		if (ab_content_is_print(&s->anchors, print, key,
					l->bytes + at) &&
		    print->offset <= at &&
		    ab_content_is_front(&s->anchors, print,
					l->bytes + at - print->offset))
			try_row(s, l, &ab_content_rows[print->row],
				at - print->offset);
	}
}

static void scan_to(ab_content *s, lane *l, size_t to)
{
	uint32_t found[PLACES];

	memset(l->bytes + l->have, 0, AB_CONTENT_PAD);
	while (l->scanned < to && !is_done(s, l)) {
		size_t n = s->find(&s->anchors, l->bytes, &l->scanned, to,
				   found, PLACES);

		for (size_t i = 0; i < n && !is_done(s, l); i++)
			try_place(s, l, found[i]);
	}
}

/* The stack's second list of places is there for such a text alone. */
static void scan_all(ab_content *s, lane *l)
{
	scan_to(s, l, l->have);
}

/* Scan what has all its bytes behind it, or everything at the end. */
static void scan(ab_content *s, lane *l, bool is_end)
{
	size_t to = l->have;

	if (!is_end)
		to = to > AB_CONTENT_AHEAD ? to - AB_CONTENT_AHEAD : 0;
	scan_to(s, l, to);
}

/* Forget the first n bytes. */
static void drop(ab_content *s, lane *l, size_t n)
{
	if (!n)
		return;
	if (!l->is_wide) {
		l->lines += count_lines(l->bytes, n);
	} else {
		size_t gone = 0;

		while (gone + 1 < s->piece_count &&
		       s->pieces[gone + 1].at <= n)
			gone++;
		s->piece_count -= gone;
		memmove(s->pieces, s->pieces + gone,
			s->piece_count * sizeof(*s->pieces));
		for (size_t i = 0; i < s->piece_count; i++) {
			piece *p = &s->pieces[i];

			if (p->at < n) {
				p->offset += (uint64_t)p->unit * (n - p->at);
				if (p->unit == 1) {
					p->lines += piece_lines(s, p,
								n - p->at);
					p->gone += n - p->at;
				}
				p->at = n;
			}
			p->at -= n;
		}
	}
	for (size_t i = 0; i < AB_MARKS; i++) {
		if (l->marks[i])
			l->marks[i] = l->marks[i] - l->bytes > (ptrdiff_t)n ?
					      l->marks[i] - n :
					      NULL;
	}
	memmove(l->bytes, l->bytes + n, l->have - n);
	l->have -= n;
	l->scanned -= n;
	l->base += n;
}

/*
 * Is the letter at p[i] one of ASCII? Its other bytes are those before it or
 * those behind it.
 */
static bool is_narrow(const uint8_t *p, size_t n, size_t i, size_t unit)
{
	bool before = true, after = true;

	for (size_t k = 1; k < unit; k++) {
		before &= i < k || p[i - k] == 0;
		after &= i + k >= n || p[i + k] == 0;
	}
	return before || after;
}

/* Line ends before a byte that is in the window; each is counted once. */
static uint64_t lines_before(ab_content *s, uint64_t offset)
{
	const lane *l = &s->raw;

	if (s->counted < l->base) {
		s->counted = l->base;
		s->lines = l->lines;
	}
	s->lines += count_lines(l->bytes + (s->counted - l->base),
				(size_t)(offset - s->counted));
	s->counted = offset;
	return s->lines;
}

/* A new piece of the second stream, from this place of the file. */
static void begin_piece(ab_content *s, size_t unit, uint64_t offset)
{
	lane *l = &s->wide;
	piece *p;

	/* a line's end, and a block */
	if (l->have + 1 + BLOCK > ROOM || s->piece_count + 2 > PIECES) {
		scan(s, l, false);
		if (l->scanned > KEPT)
			drop(s, l, l->scanned - KEPT);
	}
	if (!s->is_joined)
		l->bytes[l->have++] = '\n';
	p = &s->pieces[s->piece_count++];
	*p = (piece){ .at = l->have, .unit = unit, .offset = offset };
	if (unit == 1)
		p->lines = lines_before(s, offset);
}

static void wide_push(ab_content *s, const uint8_t *p, size_t n, layout as,
		      uint64_t offset)
{
	lane *l = &s->wide;
	size_t from = as.first;

	begin_piece(s, as.unit, offset + from);
	for (; from < n; from += as.unit) {
		/* another letter than ASCII's is no letter of a token */
		bool is_ascii = is_narrow(p, n, from, as.unit);

		/* of a byte order mark */
		if (offset + from < 4 && p[from] >= 0xfe)
			is_ascii = false;
		l->bytes[l->have++] = is_ascii ? p[from] : '\n';
	}
}

static void plain_push(ab_content *s, const uint8_t *p, size_t n, size_t room,
		       uint64_t offset)
{
	lane *l = &s->wide;

	begin_piece(s, 1, offset);
	l->have += ab_content_unescape(p, n, room, &s->skip,
				       l->bytes + l->have,
				       s->pieces[s->piece_count - 1].ends);
}

/*
 * Is this UTF-16 or UTF-32, at whatever place it begins? In one an eighth of
 * every second byte is NUL, in the other of three bytes in four, and the rest
 * are rarely.
 */
static layout layout_of(const uint8_t *p, size_t n)
{
	size_t zeros[4] = { 0 }, even, odd;

	/* of a few bytes at the end nothing can be told */
	if (n < 16 || !memchr(p, 0, n))
		return (layout){ 0 };
	for (size_t i = 0; i + 1 < n; i++)
		zeros[i % 4] += p[i] == 0;
	even = zeros[0] + zeros[2];
	odd = zeros[1] + zeros[3];
	if (odd * 16 >= n && odd >= 4 * even)
		return (layout){ 2, 0 };
	if (even * 16 >= n && even >= 4 * odd)
		return (layout){ 2, 1 };
	for (size_t i = 0; i < 4; i++) {
		bool is_text = true;

		for (size_t k = 1; k < 4; k++)
			is_text &= zeros[(i + k) % 4] * 32 >= n &&
				   zeros[(i + k) % 4] >= 4 * zeros[i];
		if (is_text)
			return (layout){ 4, i };
	}
	return (layout){ 0 };
}

/* No NUL and no escape in all that is there: so no block of it is another. */
static void skip_plain(ab_content *s, uint64_t end, bool is_end)
{
	const uint8_t *p = s->raw.bytes + (s->block - s->raw.base);
	size_t n = (size_t)(end - s->block);

	if (s->before.unit || s->behind || memchr(p, 0, n) ||
	    ab_content_has_escape(p, n, n))
		return;
	/* the last whole one waits for the one behind it */
	if (!is_end)
		n = n < 2 * BLOCK ? 0 : n / BLOCK * BLOCK - BLOCK;
	if (n)
		s->is_joined = false;
	s->block += n;
}

/* Does a block go into the second stream for its escapes, or for those of the
   one behind it or of some before it? */
static bool is_escaped(ab_content *s, const uint8_t *p, size_t n, size_t next)
{
	if (ab_content_has_escape(p, n, n + next)) {
		s->behind = BEHIND;
		return true;
	}
	if (s->behind) {
		s->behind--;
		return true;
	}
	return ab_content_has_escape(p + n, next, next);
}

/*
 * Tell which blocks of the file are wide text, and which have escapes; they
 * and those beside them are scanned again.
 */
static void widen(ab_content *s, bool is_end)
{
	lane *l = &s->raw;
	uint64_t end = l->base + l->have;

	skip_plain(s, end, is_end);
	while (s->block < end && !s->is_found) {
		const uint8_t *p = l->bytes + (s->block - l->base);
		size_t left = (size_t)(end - s->block);
		size_t n = left < BLOCK ? left : BLOCK;
		size_t next = left < 2 * BLOCK ? left - n : BLOCK;
		layout here, after, as;
		bool is_seen = true; /* a second time */

		if (next < BLOCK && !is_end)
			return;
		here = layout_of(p, n);
		after = layout_of(p + n, next);
		as = here.unit ? here : s->before.unit ? s->before : after;
		if (as.unit) {
			wide_push(s, p, n, as, s->block);
			s->behind = s->skip = 0;
		} else if (is_escaped(s, p, n, next)) {
			plain_push(s, p, n, n + next, s->block);
		} else {
			is_seen = false;
			s->skip = 0;
		}
		s->is_joined = is_seen;
		s->before = here;
		s->block += n;
	}
}

bool ab_content_feed(ab_content *s, const void *p, size_t n)
{
	const uint8_t *from = p;
	lane *l = &s->raw;

	if (s->level == AB_CONTENT_OFF)
		return false;
	while (n && !s->is_found) {
		size_t room = ROOM - l->have;
		size_t part = n < room ? n : room;

		memcpy(l->bytes + l->have, from, part);
		l->have += part;
		from += part;
		n -= part;
		if (l->have < ROOM)
			break;
		scan(s, l, false);
		widen(s, false);
		if (!s->is_found)
			drop(s, l, l->scanned - KEPT);
	}
	return s->is_found;
}

bool ab_content_end(ab_content *s, ab_content_finding *finding)
{
	if (s->level != AB_CONTENT_OFF && !s->is_found) {
		scan(s, &s->raw, true);
		if (!s->is_found)
			widen(s, true);
		if (!s->is_found)
			scan(s, &s->wide, true);
	}
	if (s->is_found && finding)
		*finding = s->finding;
	s->level = AB_CONTENT_OFF;
	return s->is_found;
}
