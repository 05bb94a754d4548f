/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lexer inside of ${...}, of subscripts, of arithmetic and of patterns
 * with parentheses: which bytes are text there, and where each ends (bash(1),
 * Parameter Expansion, Arithmetic Expansion, Pattern Matching).
 */
#include "config.h"

#include "shell/parser.h"

#include <string.h>

/*
 * ' in "${x:-'...'}", in a subscript and in arithmetic: what stands between
 * two of them ends nothing, but $( and ` begin something there as anywhere.
 * In double quotes they stand for themselves.
 */
static void toggle_single(struct parser *p, struct frame *f, uint32_t at)
{
	if (f->flags & FRAME_QUOTED)
		ab_lex_part(p, f->root, PART_TEXT, at, at + 1, PART_QUOTED);
	else
		f->root->word->flags |= WORD_QUOTED;
	f->flags ^= FRAME_SINGLE;
	p->pos = at + 1;
}

/* sh(1) ends "${x:-'}" at the brace and the quote, and bash does not. */
static bool is_doubtful(const struct frame *f, unsigned char c)
{
	return (c == '}' || c == '"') && f->state == S_PARAM &&
	       (f->flags & FRAME_QUOTED) && f->part->kind == PART_PARAM &&
	       f->part->u.param->op != OP_SLICE;
}

static void step_single(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s;
	uint32_t from = p->pos, at = from;

	while (s[at] && s[at] != '\'' && s[at] != '`' && s[at] != '\\' &&
	       !is_doubtful(f, s[at]) &&
	       !(s[at] == '$' && s[at + 1] != '\'' && s[at + 1] != '"' &&
		 ab_lex_is_dollar(p, f, at)))
		at++;
	if (at > from)
		ab_lex_part(p, f->root, PART_TEXT, from, at, PART_QUOTED);
	switch (s[at]) {
	case '\'':
		toggle_single(p, f, at);
		break;
	case '$':
		ab_lex_dollar(p, f, at);
		break;
	case '`':
		(void)ab_lex_raw(p, f, at, PART_BACKQUOTE);
		break;
	case '\\':
		ab_lex_escaped(p, f, at, 0);
		break;
	case '\0':
		if (!ab_lex_nul(p, f, at, at))
			ab_lex_unterminated(p, f->begin,
					    "unterminated single quote");
		break;
	default:
		ab_parser_error(p, AB_SHELL_SYNTAX, at, at + 1,
				"a quote in '${' that sh and bash read "
				"otherwise");
		break;
	}
}

static void leave_param(struct parser *p, struct frame *f, uint32_t at)
{
	if (f->part->kind == PART_FUNSUB) {
		/* only its bytes count; what was read in it is dropped */
		f->part->end = at;
		f->part->next = NULL;
		f->root->ptail = &f->part->next;
	} else {
		f->part->end = at + 1;
		ab_lex_part(p, f->root, PART_END, at, at, 0);
	}
	p->pos = at + 1;
	ab_parser_leave(p);
}

/* Single quotes that protect nothing: of a word in double quotes, and of what
   is arithmetic. */
static bool is_hiding(const struct frame *f)
{
	return f->part->kind == PART_PARAM &&
	       (f->part->u.param->op == OP_SLICE || (f->flags & FRAME_QUOTED));
}

/* What a frame inside of ${ does at a byte that is not ordinary. */
static void param_byte(struct parser *p, struct frame *f, uint32_t from,
		       uint32_t at)
{
	bool quoted = f->flags & FRAME_QUOTED;

	ab_lex_text(p, f, from, at);
	if (p->s[at] == '\'' && is_hiding(f)) {
		toggle_single(p, f, at);
	} else if (p->s[at] == '\\' && quoted && p->s[at + 1] == '\'') {
		/* it begins none */
		ab_lex_part(p, f->root, PART_TEXT, at, at + 2, PART_QUOTED);
		p->pos = at + 2;
	} else if (p->s[at] == '\\' && quoted) {
		ab_lex_escaped(p, f, at, p->s[at + 1] == '"' ? '"' : '}');
	} else if (p->s[at] == '<' || p->s[at] == '>') {
		ab_lex_substitution(p, f, at + 1,
				     p->s[at] == '<' ? PART_PROC_IN :
						       PART_PROC_OUT);
	} else if (!ab_lex_common(p, f, at, at)) {
		ab_lex_text(p, f, at, at + 1);
		p->pos = at + 1;
	}
}

void ab_lex_step_param(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s;
	uint32_t at = p->pos, from = at;

	if (AB_UNLIKELY(f->flags & FRAME_SINGLE)) {
		step_single(p, f);
		return;
	}
	for (;; at++) {
		unsigned char t = ab_shell_class[s[at]];

		if (s[at] == '}') {
			ab_lex_text(p, f, from, at);
			leave_param(p, f, at);
			return;
		}
		if ((f->flags & FRAME_SEP) &&
		    s[at] == (f->part->u.param->op == OP_SLICE ? ':' : '/')) {
			ab_lex_text(p, f, from, at);
			ab_lex_part(p, f->root, PART_SEP, at, at + 1, 0);
			f->flags &= (uint16_t)~FRAME_SEP;
			p->pos = at + 1;
			return;
		}
		if (t < CLS_ANGLE ||
		    (t == CLS_ANGLE &&
		     (s[at + 1] != '(' || (f->flags & FRAME_QUOTED))))
			continue;
		if (t == CLS_NUL) {
			if (!ab_lex_nul(p, f, from, at))
				ab_lex_unterminated(p, f->begin,
						    "unterminated '${'");
			return;
		}
		param_byte(p, f, from, at);
		return;
	}
}

/* After the subscript of ${x[...]. */
void ab_lex_step_param_op(struct parser *p, struct frame *f)
{
	struct part *part = f->part;
	struct frame *root = f->root;
	uint32_t flags = f->flags;

	ab_parser_leave(p);
	ab_lex_param_tail(p, root, part, flags);
}

/* A byte at which the step of a subscript or of arithmetic is over; false: an
   ordinary one after all. */
static bool takes_over(struct parser *p, struct frame *f, uint32_t from,
		       uint32_t at, const char *unterminated)
{
	unsigned char t = ab_shell_class[p->s[at]];

	if (t == CLS_NUL) {
		if (!ab_lex_nul(p, f, from, at))
			ab_lex_unterminated(p, f->begin, unterminated);
		return true;
	}
	if (t == CLS_SINGLE) {
		ab_lex_text(p, f, from, at);
		toggle_single(p, f, at);
		return true;
	}
	return ab_lex_common(p, f, from, at);
}

static void leave_subscript(struct parser *p, struct frame *f, uint32_t from,
			    uint32_t at)
{
	p->pos = at + 1;
	if (!(f->flags & FRAME_IN_PARAM)) {
		ab_lex_text(p, f, from, at + 1);
		ab_parser_leave(p);
		return;
	}
	ab_lex_text(p, f, from, at);
	ab_lex_part(p, f->root, PART_END, at, at, 0);
	if (at == f->begin + 1 &&
	    (p->s[at - 1] == '@' || p->s[at - 1] == '*'))
		f->part->u.param->letter = (char)p->s[at - 1];
	f->state = S_PARAM_OP;
}

void ab_lex_step_subscript(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s;
	uint32_t at = p->pos, from = at;

	if (AB_UNLIKELY(f->flags & FRAME_SINGLE)) {
		step_single(p, f);
		return;
	}
	for (;; at++) {
		unsigned char t = ab_shell_class[s[at]];

		if (s[at] == '[')
			f->parens++;
		if (s[at] == ']' && f->parens-- == 0) {
			leave_subscript(p, f, from, at);
			return;
		}
		if (t < CLS_DOLLAR)
			continue;
		if (takes_over(p, f, from, at, "unterminated '['"))
			return;
	}
}

static void leave_arith(struct parser *p, struct frame *f, uint32_t from,
			uint32_t at)
{
	bool is_bracket = f->flags & FRAME_BRACKET;

	ab_lex_text(p, f, from, at);
	p->semicolons = f->count;
	if (f->flags & FRAME_COMMAND) {
		ab_lex_leave_word(p, f, at, at);
	} else {
		ab_lex_part(p, f->root, PART_END, at, at, 0);
		ab_parser_leave(p);
	}
	p->pos = at + 1;
	if (is_bracket)
		return;
	if (p->s[at + 1] == ')')
		p->pos++;
	else
		ab_parser_error(p, AB_SHELL_SYNTAX, at, at + 1,
				"arithmetic needs '))'");
}

void ab_lex_step_arith(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s;
	bool is_bracket = f->flags & FRAME_BRACKET;
	uint32_t at = p->pos, from = at;

	if (AB_UNLIKELY(f->flags & FRAME_SINGLE)) {
		step_single(p, f);
		return;
	}
	for (;; at++) {
		unsigned char t = ab_shell_class[s[at]];

		if (s[at] == (is_bracket ? '[' : '(')) {
			f->parens++;
		} else if (s[at] == (is_bracket ? ']' : ')')) {
			if (f->parens-- == 0) {
				leave_arith(p, f, from, at);
				return;
			}
		} else if (s[at] == ';' && f->parens == 0) {
			f->count++;
		}
		if (t < CLS_DOLLAR)
			continue;
		if (takes_over(p, f, from, at, "unterminated arithmetic"))
			return;
	}
}

void ab_lex_step_extglob(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s;
	uint32_t at = p->pos, from = at;

	for (;; at++) {
		unsigned char t = ab_shell_class[s[at]];

		if (s[at] == '(') {
			f->parens++;
		} else if (s[at] == ')' && f->parens-- == 0) {
			ab_lex_text(p, f, from, at + 1);
			p->pos = at + 1;
			ab_parser_leave(p);
			return;
		}
		if (t < CLS_DOLLAR)
			continue;
		if (t == CLS_NUL) {
			if (!ab_lex_nul(p, f, from, at))
				ab_lex_unterminated(p, f->begin,
					     "unterminated pattern");
			return;
		}
		if (ab_lex_common(p, f, from, at))
			return;
	}
}
