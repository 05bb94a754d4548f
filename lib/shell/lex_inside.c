/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lexer inside of ${...}, of subscripts, of arithmetic and of patterns
 * with parentheses: which bytes are text there, and where each ends (bash(1),
 * Parameter Expansion, Arithmetic Expansion, Pattern Matching).
 */
#include "config.h"

#include "shell/parser.h"

#include <string.h>

/* ' in "${x:-'...'}" stands for itself, but bash pairs it. */
static void literal_quotes(struct parser *p, struct frame *f, uint32_t at)
{
	const unsigned char *end =
		memchr(p->s + at + 1, '\'', p->len - at - 1);
	uint32_t last = end ? (uint32_t)(end - p->s) : p->len;

	ab_lex_part(p, f->root, PART_TEXT, at, at + 1, PART_QUOTED);
	ab_lex_quoted(p, f, at + 1, last);
	if (!end) {
		ab_lex_unterminated(p, at, "unterminated single quote");
		return;
	}
	ab_lex_part(p, f->root, PART_TEXT, last, last + 1, PART_QUOTED);
	p->pos = last + 1;
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

/* What a frame inside of ${ does at a byte that is not ordinary. */
static void param_byte(struct parser *p, struct frame *f, uint32_t from,
		       uint32_t at)
{
	bool quoted = f->flags & FRAME_QUOTED;

	ab_lex_text(p, f, from, at);
	if (p->s[at] == '\'' && quoted && !(f->flags & FRAME_PATTERN_OP))
		literal_quotes(p, f, at);
	else if (p->s[at] == '\\' && quoted)
		ab_lex_escaped(p, f, at, p->s[at + 1] == '"' ? '"' : '}');
	else if (p->s[at] == '<' || p->s[at] == '>')
		ab_lex_substitution(p, f, at + 1,
				     p->s[at] == '<' ? PART_PROC_IN :
						       PART_PROC_OUT);
	else if (!ab_lex_common(p, f, at, at)) {
		ab_lex_text(p, f, at, at + 1);
		p->pos = at + 1;
	}
}

void ab_lex_step_param(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s;
	uint32_t at = p->pos, from = at;

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
	if (t == CLS_SINGLE && (f->flags & FRAME_QUOTED)) {
		ab_lex_text(p, f, from, at);
		literal_quotes(p, f, at);
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
