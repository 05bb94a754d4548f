/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words: quoting, where a substitution begins and ends; what stands inside of
 * ${...}, subscripts and arithmetic is in lex_inside.c. What
 * bash leaves for later is left for later here too: the inside of backquotes,
 * of $'...' and of here-documents is only delimited.
 *
 * Every loop moves forward over the text; bytes are read ahead in one place
 * (`((`), which has a budget.
 */
#include "config.h"

#include "shell/parser.h"

#include <string.h>

/* Quoted text goes on where the part before it ends: is one with it. */
static bool extend_text(const struct parser *p, const struct frame *root,
			uint32_t begin, uint32_t end)
{
	/* next is the first member */
	struct part *last = (struct part *)(void *)root->ptail;

	if (p->source || root->ptail == &root->word->parts ||
	    last->kind != PART_TEXT || last->flags != PART_QUOTED ||
	    last->end != begin || begin == end)
		return false;
	last->end = end;
	return true;
}

static inline struct part *put_part(struct parser *p, struct part ***tail,
				    enum part_kind kind, uint32_t begin,
				    uint32_t end, uint32_t flags)
{
	bool is_long = kind == PART_PARAM || kind == PART_ARRAY ||
		       (kind >= PART_COMMAND && kind <= PART_PROC_OUT);
	struct part *part = ab_parser_alloc(
		p, is_long ? sizeof(*part) : offsetof(struct part, u));

	part->next = NULL;
	part->begin = begin;
	part->end = end;
	part->kind = (uint8_t)kind;
	part->flags = (uint8_t)flags;
	part->escapes = 0;
	if (is_long) {
		part->u.list = NULL;
		part->stream = NULL;
	}
	**tail = part;
	*tail = &part->next;
	return part;
}

struct part *ab_lex_put_part(struct parser *p, struct part ***tail,
			     enum part_kind kind, uint32_t begin, uint32_t end,
			     uint32_t flags)
{
	return put_part(p, tail, kind, begin, end, flags);
}

void ab_lex_some_text(struct parser *p, struct frame *f, uint32_t begin,
		      uint32_t end)
{
	if ((f->flags & FRAME_QUOTED) && extend_text(p, f->root, begin, end))
		return;
	put_part(p, &f->root->ptail, PART_TEXT, begin, end,
		 f->flags & FRAME_QUOTED ? PART_QUOTED : 0);
}

/* begin..end in double quotes, with so many backslashes to be taken off when it
 * is expanded. What follows one stands not where the text before it ends. */
static void double_text(struct parser *p, struct frame *f, uint32_t begin,
			uint32_t end, uint32_t escapes)
{
	if (!escapes) {
		ab_lex_text(p, f, begin, end);
		return;
	}
	if (ab_tree_is_escape(p->s + begin) ||
	    !extend_text(p, f->root, begin, end))
		ab_lex_part(p, f->root, PART_TEXT, begin, end, PART_QUOTED);
	/* next is the first member */
	((struct part *)(void *)f->root->ptail)->escapes += escapes;
}

struct frame *ab_lex_enter(struct parser *p, enum state state,
				struct frame *root, uint32_t flags)
{
	struct frame *f = ab_parser_enter(p, state);

	f->root = root ? root : f;
	f->word = f->root->word;
	f->flags = (uint16_t)flags;
	f->begin = p->pos;
	return f;
}

bool ab_lex_nul(struct parser *p, struct frame *f, uint32_t from, uint32_t at)
{
	ab_lex_text(p, f, from, at);
	p->pos = at;
	if (at >= p->len)
		return false;
	if (p->source)
		ab_lex_part(p, f->root, PART_HOLE, at, at + 1,
			 f->flags & FRAME_QUOTED ? PART_QUOTED : 0);
	p->pos = at + 1;
	return true;
}

void ab_lex_quoted(struct parser *p, struct frame *f, uint32_t begin,
		       uint32_t end)
{
	const unsigned char *zero;

	f->root->word->flags |= WORD_QUOTED;
	while ((zero = memchr(p->s + begin, 0, end - begin))) {
		uint32_t at = (uint32_t)(zero - p->s);

		ab_lex_part(p, f->root, PART_TEXT, begin, at, PART_QUOTED);
		if (p->source)
			ab_lex_part(p, f->root, PART_HOLE, at, at + 1,
				 PART_QUOTED);
		begin = at + 1;
	}
	ab_lex_part(p, f->root, PART_TEXT, begin, end, PART_QUOTED);
}

void ab_lex_unterminated(struct parser *p, uint32_t begin, const char *message)
{
	p->pos = p->len;
	ab_parser_error(p, AB_SHELL_UNTERMINATED, begin, p->len, message);
}

/* Where the '...' ends whose first quote is at `at`; len: nowhere. */
static uint32_t single_end(const struct parser *p, uint32_t at)
{
	const unsigned char *end =
		memchr(p->s + at + 1, '\'', p->len - at - 1);

	return end ? (uint32_t)(end - p->s) : p->len;
}

/* '...' whose first quote is at `at`. False: it does not end. */
static bool single_quotes(struct parser *p, struct frame *f, uint32_t at)
{
	uint32_t end = single_end(p, at);

	ab_lex_quoted(p, f, at + 1, end);
	p->pos = end + 1;
	if (end == p->len)
		ab_lex_unterminated(p, at, "unterminated single quote");
	return end < p->len;
}

/* $'...' with the quote at `at`, or `...` */
bool ab_lex_raw(struct parser *p, struct frame *f, uint32_t at,
		       enum part_kind kind)
{
	uint32_t end = ab_lex_find(p, at + 1, p->s[at]);

	if (kind == PART_ANSI) {
		f->root->word->flags |= WORD_QUOTED;
		/* to dash they end at the first quote, escaped or not */
		p->differs |= single_end(p, at) != end;
	} else {
		f->root->word->flags |= WORD_SUBST;
	}
	ab_lex_part(p, f->root, kind, at + 1, end,
		 f->flags & FRAME_QUOTED ? PART_QUOTED : 0);
	p->pos = end + 1;
	if (end == p->len)
		ab_lex_unterminated(p, at, kind == PART_ANSI ?
					    "unterminated single quote" :
					    "unterminated backquote");
	return end < p->len;
}

void ab_lex_double(struct parser *p, struct frame *f, uint32_t at)
{
	f->root->word->flags |= WORD_QUOTED;
	/* "" is a word too */
	ab_lex_part(p, f->root, PART_TEXT, at + 1, at + 1, PART_QUOTED);
	p->pos = at + 1;
	ab_lex_enter(p, S_DOUBLE, f->root, FRAME_QUOTED)->begin = at;
}

/* A backslash outside of quotes. */
static void backslash(struct parser *p, struct frame *f, uint32_t at)
{
	if (p->s[at + 1] == '\n' && at + 1 < p->len) {
		p->pos = at + 2;
	} else if (at + 1 >= p->len) {
		ab_lex_part(p, f->root, PART_TEXT, at, at + 1, PART_QUOTED);
		p->pos = p->len;
	} else {
		f->root->word->flags |= WORD_QUOTED;
		if (p->s[at + 1])
			ab_lex_part(p, f->root, PART_TEXT, at + 1, at + 2,
				 PART_QUOTED);
		p->pos = at + 1 + (p->s[at + 1] != 0);
	}
}

void ab_lex_escaped(struct parser *p, struct frame *f, uint32_t at,
		    char extra)
{
	unsigned char c = p->s[at + 1];

	if (c == '\n' && at + 1 < p->len) {
		p->pos = at + 2;
	} else if (c == '$' || c == '`' || c == '\\' ||
		   (c && c == (unsigned char)extra)) {
		ab_lex_part(p, f->root, PART_TEXT, at + 1, at + 2, PART_QUOTED);
		p->pos = at + 2;
	} else {
		if (!extend_text(p, f->root, at, at + 1))
			ab_lex_part(p, f->root, PART_TEXT, at, at + 1,
				    PART_QUOTED);
		p->pos = at + 1;
	}
}

/* $(, <(, >( with its parenthesis at `at`. */
void ab_lex_substitution(struct parser *p, struct frame *f,
				 uint32_t at, enum part_kind kind)
{
	struct part *part = ab_lex_part(p, f->root, kind, at + 1, at + 1,
				     f->flags & FRAME_QUOTED ? PART_QUOTED : 0);

	f->root->word->flags |= WORD_SUBST;
	p->pos = at + 1;
	ab_parser_enter_list(p, &part->u.list, CLOSE_SUBST);
	p->top->part = part;
	p->top->begin = at - 1;
}

bool ab_lex_common(struct parser *p, struct frame *f, uint32_t from,
		   uint32_t at)
{
	if (p->s[at] == '$' && !ab_lex_is_dollar(p, f, at))
		return false;
	ab_lex_text(p, f, from, at);
	switch (p->s[at]) {
	case '$':
		ab_lex_dollar(p, f, at);
		return true;
	case '`':
		ab_lex_raw(p, f, at, PART_BACKQUOTE);
		return true;
	case '"':
		ab_lex_double(p, f, at);
		return true;
	case '\'':
		single_quotes(p, f, at);
		return true;
	default:
		backslash(p, f, at);
		return true;
	}
}

void ab_lex_leave_word(struct parser *p, struct frame *f, uint32_t from,
		       uint32_t at)
{
	ab_lex_text(p, f, from, at);
	if (!f->word->parts)
		ab_lex_part(p, f, PART_TEXT, at, at, 0);
	f->word->end = at;
	p->pos = at;
	ab_parser_leave(p);
}

/* begin..end is a name, or one with + after it. */
static bool is_assign_name(const struct parser *p, uint32_t begin,
			   uint32_t end)
{
	if (end > begin + 1 && p->s[end - 1] == '+')
		end--;
	return end > begin && ab_lex_name_end(p, begin) == end;
}

/* = at `at` ends the name of an assignment: an array may follow. */
static void begin_value(struct parser *p, struct frame *f, uint32_t at)
{
	f->word->assign = at + 1 - f->word->begin;
	f->flags &= (uint16_t)~FRAME_ASSIGN_OK;
	ab_lex_part(p, f->root, PART_ASSIGN, at + 1, at + 1, 0);
	p->pos = at + 1;
	if (p->s[at + 1] == '(' && f->closer != CLOSE_PAREN) {
		struct part *part = ab_lex_part(p, f->root, PART_ARRAY, at + 1,
					     at + 1, 0);
		struct frame *array;

		f->word->flags |= WORD_ARRAY;
		p->pos = at + 2;
		array = ab_parser_enter(p, S_ARRAY);
		array->part = part;
		array->begin = at + 1;
		array->wtail = &part->u.words;
	}
}

/* In a word that may be an assignment, at = or [: true when it was one. */
static bool assignment(struct parser *p, struct frame *f, uint32_t from,
		       uint32_t at)
{
	uint32_t begin = f->word->begin;

	if (p->s[at] == '=' && is_assign_name(p, begin, at)) {
		ab_lex_text(p, f, from, at + 1);
		begin_value(p, f, at);
		return true;
	}
	/* a[i]= in any place, [i]= in an array */
	if (p->s[at] == '[' && (ab_lex_name_end(p, begin) == at ||
				(at == begin && f->closer == CLOSE_PAREN)) &&
	    (at > begin || f->closer == CLOSE_PAREN)) {
		ab_lex_text(p, f, from, at + 1);
		p->pos = at + 1;
		ab_lex_enter(p, S_SUBSCRIPT, f->root, 0);
		return true;
	}
	return false;
}

/* After the ] of a subscript in a word: `=` or `+=` makes it one. */
static bool after_subscript(struct parser *p, struct frame *f)
{
	uint32_t at = p->pos;

	if (p->s[at] == '+' && p->s[at + 1] == '=')
		at++;
	f->flags &= (uint16_t)~FRAME_ASSIGN_OK;
	if (p->s[at] != '=')
		return false;
	ab_lex_text(p, f, p->pos, at + 1);
	begin_value(p, f, at);
	return true;
}

/* ( in a word: true when it belongs to it. */
static bool is_open_inside(const struct parser *p, const struct frame *f,
			   uint32_t from, uint32_t at)
{
	return at > from && p->s[at - 1] && strchr("?*+@!", p->s[at - 1]) &&
	       p->s[at + 1] != ')' && !(f->flags & FRAME_REGEX);
}

static void step_word(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s;
	uint32_t at = p->pos, from = at;

	if (f->flags & FRAME_IN_PARAM) { /* a subscript has just ended */
		f->flags &= (uint16_t)~FRAME_IN_PARAM;
		if (after_subscript(p, f))
			return;
	}
	for (;; at++) {
		unsigned char t = ab_shell_class[s[at]];

		if (!t)
			continue;
		if (t < CLS_HARD) {
			f->word->flags |= t;
			if ((f->flags & FRAME_ASSIGN_OK) &&
			    (s[at] == '=' || s[at] == '[') &&
			    from == f->word->begin &&
			    assignment(p, f, from, at)) {
				if (s[at] == '[')
					f->flags |= FRAME_IN_PARAM;
				return;
			}
			continue;
		}
		switch (t) {
		case CLS_NUL:
			if (!ab_lex_nul(p, f, from, at))
				ab_lex_leave_word(p, f, at, at);
			return;
		case CLS_END:
			if (s[at] == '|' && (f->flags & FRAME_REGEX))
				continue;
			ab_lex_leave_word(p, f, from, at);
			return;
		case CLS_OPEN:
			if (!is_open_inside(p, f, from, at) &&
			    !(f->flags & FRAME_REGEX)) {
				ab_lex_leave_word(p, f, from, at);
				return;
			}
			ab_lex_text(p, f, from, at + 1);
			p->pos = at + 1;
			ab_lex_enter(p, S_EXTGLOB, f->root, 0);
			return;
		case CLS_ANGLE:
			if (s[at + 1] != '(') {
				ab_lex_leave_word(p, f, from, at);
				return;
			}
			ab_lex_text(p, f, from, at);
			ab_lex_substitution(p, f, at + 1,
					     s[at] == '<' ? PART_PROC_IN :
							    PART_PROC_OUT);
			return;
		default:
			if (ab_lex_common(p, f, from, at))
				return;
		}
	}
}

/* $name, $1, $? or ${name} at `at`: true when it is one, and was read; the
 * rest is left to ab_lex_dollar() and its frames. */
static bool simple_param(struct parser *p, struct frame *f, uint32_t at)
{
	const unsigned char *s = p->s;
	bool is_braced = s[at + 1] == '{';
	uint32_t name = at + 1 + is_braced, end = ab_lex_name_end(p, name);

	if (is_braced && (end == name || s[end] != '}'))
		return false;
	if (end == name && !(ab_shell_name[s[name]] & AB_DIGIT) &&
	    !ab_lex_is_special(s[name]))
		return false;
	end += end == name;
	p->pos = end + is_braced;
	ab_lex_param(p, f, at, name, end);
	return true;
}

static void step_double(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s;
	uint32_t at = p->pos, from = at, escapes = 0;

	for (;;) {
		at = ab_lex_double_text(p, at, &escapes);
		if (s[at] == '$' && !ab_lex_is_dollar(p, f, at)) {
			at++;
			continue;
		}
		double_text(p, f, from, at, escapes);
		if (s[at] != '$' || !simple_param(p, f, at))
			break;
		from = at = p->pos;
		escapes = 0;
	}
	switch (ab_shell_class[s[at]]) {
	case CLS_NUL:
		if (!ab_lex_nul(p, f, at, at))
			ab_lex_unterminated(p, f->begin,
					    "unterminated double quote");
		break;
	case CLS_DOUBLE:
		p->pos = at + 1;
		ab_parser_leave(p);
		break;
	case CLS_BACKSLASH:
		ab_lex_escaped(p, f, at, '"');
		break;
	default:
		(void)ab_lex_common(p, f, at, at);
		break;
	}
}

/* The body of a here-document, or another text read as one. */
static void step_here(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s;
	uint32_t at = p->pos, from = at;

	for (;; at++) {
		unsigned char t;

		at = ab_lex_plain(p, at);
		t = ab_shell_class[s[at]];
		if (t == CLS_DOUBLE)
			continue;
		if (t == CLS_NUL) {
			if (!ab_lex_nul(p, f, from, at))
				ab_lex_leave_word(p, f, at, at);
			return;
		}
		if (t == CLS_BACKSLASH) {
			ab_lex_text(p, f, from, at);
			ab_lex_escaped(p, f, at, 0);
			return;
		}
		if (ab_lex_common(p, f, from, at))
			return;
	}
}

static void step(struct parser *p, struct frame *f)
{
	switch ((enum state)f->state) {
	case S_WORD:
		step_word(p, f);
		break;
	case S_DOUBLE:
		step_double(p, f);
		break;
	case S_PARAM:
		ab_lex_step_param(p, f);
		break;
	case S_PARAM_OP:
		ab_lex_step_param_op(p, f);
		break;
	case S_SUBSCRIPT:
		ab_lex_step_subscript(p, f);
		break;
	case S_ARITH:
		ab_lex_step_arith(p, f);
		break;
	case S_EXTGLOB:
		ab_lex_step_extglob(p, f);
		break;
	default:
		step_here(p, f);
		break;
	}
}

/* Steps until something else than a word is on top. */
void ab_lex_step(struct parser *p)
{
	do {
		step(p, p->top);
	} while (p->top->state >= S_WORD && !p->is_unwinding);
}

/* Whether the plain word begin..end must be looked at piece by piece. */
static bool is_assignment_like(const struct parser *p, struct word *w,
			       uint32_t end, bool in_array)
{
	const unsigned char *s = p->s, *eq;
	uint32_t name = ab_lex_name_end(p, w->begin);

	if (s[name] == '[' && (name > w->begin || in_array))
		return true;
	if (!(w->flags & WORD_EQUALS))
		return false;
	eq = memchr(s + w->begin, '=', end - w->begin);
	if (eq && is_assign_name(p, w->begin, (uint32_t)(eq - s)))
		w->assign = (uint32_t)(eq - s) + 1 - w->begin;
	return false;
}

uint32_t ab_lex_plain_quotes(const struct parser *p, uint32_t at)
{
	const unsigned char *s = p->s, quote = s[at++];

	at = quote == '"' ? ab_lex_plain(p, at) : ab_lex_to_single(p, at);
	return s[at] == quote ? at : 0;
}

/* "..." at `at` of text and simple parameters, in no source: its end; 0: it is
 * more, and p->pos is where that stands. */
static uint32_t double_quotes(struct parser *p, struct frame *f, uint32_t at,
			      bool *is_more)
{
	const unsigned char *s = p->s;
	uint32_t from = ++at, escapes = 0;

	/* "" is a word too */
	put_part(p, &f->ptail, PART_TEXT, at, at, PART_QUOTED);
	f->flags = FRAME_QUOTED;
	for (;;) {
		at = ab_lex_double_text(p, at, &escapes);
		double_text(p, f, from, at, escapes);
		*is_more |= escapes;
		if (s[at] != '$' || !simple_param(p, f, at))
			break;
		from = at = p->pos;
		escapes = 0;
		*is_more = true;
	}
	f->flags = 0;
	p->pos = at;
	return s[at] == '"' ? at : 0;
}

#define NO_QUOTE UINT32_MAX

/* Where the frames go on: in the quotes, or where the stretch began that
 * *tail stood before. */
static void break_off(struct parser *p, const struct frame *f, uint32_t from,
		      void *mark, struct part ***tail, uint32_t quote)
{
	if (quote != NO_QUOTE) {
		*tail = f->ptail;
		return;
	}
	ab_arena_release(p->arena, mark);
	**tail = NULL;
	p->pos = from;
}

/*
 * Plain text, quoted text and simple parameters of a word, without a frame on
 * the stack; what stands at `at` is the first that is not plain. True: that
 * was all of it. False: the frames go on at p->pos, with *tail, and in the
 * double quotes that begin at *quote, if any do.
 */
static bool simple_word(struct parser *p, struct word *w, uint32_t at,
			uint32_t soft, struct part ***tail, uint32_t *quote)
{
	const unsigned char *s = p->s;
	AB_UNINITIALIZED struct frame f; /* a root that is on no stack */
	uint32_t from = w->begin, quotes = 0;
	bool is_more = false; /* than one pair of quotes */

	f.root = &f;
	f.ptail = *tail;
	f.word = w;
	f.flags = 0;
	for (;;) {
		unsigned char t = ab_shell_class[s[at]];
		void *mark = p->arena->low;
		uint32_t end = 0;

		if (t < CLS_HARD) {
			soft |= t;
			at++;
			continue;
		}
		*tail = f.ptail;
		is_more |= from < at;
		ab_lex_text(p, &f, from, at);
		if (t == CLS_END || at == p->len)
			break;
		if (t == CLS_SINGLE && (end = ab_lex_plain_quotes(p, at))) {
			put_part(p, &f.ptail, PART_TEXT, at + 1, end,
				 PART_QUOTED);
			quotes++;
		} else if (t == CLS_DOUBLE) {
			end = double_quotes(p, &f, at, &is_more);
			quotes++;
			*quote = at;
		} else if (t == CLS_DOLLAR && simple_param(p, &f, at)) {
			is_more = true;
			end = p->pos - 1;
		}
		if (!end) {
			w->flags = soft | (quotes ? WORD_QUOTED : 0);
			break_off(p, &f, from, mark, tail, *quote);
			return false;
		}
		*quote = NO_QUOTE;
		from = at = end + 1;
	}
	w->flags = soft | (quotes ? WORD_QUOTED : 0) |
		   (quotes == 1 && !is_more ? WORD_LITERAL : 0);
	w->end = p->pos = at;
	return true;
}

void ab_lex_word(struct parser *p, struct word *w, uint32_t flags)
{
	const unsigned char *s = p->s;
	uint32_t at = p->pos, soft = 0, quote = NO_QUOTE;
	struct part **tail = &w->parts;
	unsigned char t;
	struct frame *f;

	w->next = NULL;
	w->parts = NULL;
	w->begin = at;
	w->assign = 0;
	for (at = ab_lex_ordinary(p, at);; at++) {
		t = ab_shell_class[s[at]];
		if (!t)
			continue;
		if (t >= CLS_HARD)
			break;
		soft |= t;
	}
	w->flags = soft;
	w->end = at;
	if (!(flags & FRAME_REGEX) &&
	    (t == CLS_END || (t == CLS_NUL && at == p->len) ||
	     (t == CLS_ANGLE && s[at + 1] != '(') ||
	     (t == CLS_OPEN && !(soft & WORD_EQUALS) &&
	      !(at > p->pos && is_open_inside(p, p->top, p->pos, at))))) {
		if (!(flags & FRAME_ASSIGN_OK) ||
		    !(soft & (WORD_EQUALS | WORD_GLOB)) ||
		    !is_assignment_like(p, w, at, flags & FRAME_IN_PARAM)) {
			p->pos = at;
			return;
		}
	}
	w->flags = 0;
	if ((t == CLS_SINGLE || t == CLS_DOUBLE || t == CLS_DOLLAR) &&
	    !p->source && !(flags & FRAME_REGEX) &&
	    (!(flags & FRAME_ASSIGN_OK) ||
	     !(soft & (WORD_EQUALS | WORD_GLOB)))) {
		if (simple_word(p, w, at, soft, &tail, &quote))
			return;
	}
	w->assign = 0;
	f = ab_parser_enter(p, S_WORD);
	f->root = f;
	f->word = w;
	f->ptail = tail;
	f->begin = at;
	/* in an array [i]= is an assignment too */
	f->closer = flags & FRAME_IN_PARAM ? CLOSE_PAREN : CLOSE_EOF;
	f->flags = (uint16_t)(flags & ~FRAME_IN_PARAM);
	if (quote != NO_QUOTE)
		ab_lex_enter(p, S_DOUBLE, f, FRAME_QUOTED)->begin = quote;
}
