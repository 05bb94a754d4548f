/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What follows a dollar sign: parameters with their operators, arithmetic,
 * substitutions (bash(1), EXPANSION). ${ and its argument share the frames of
 * the word around them.
 */
#include "config.h"

#include "shell/parser.h"

#include <string.h>

static bool is_name_start(unsigned char c)
{
	return ab_shell_name[c] & AB_NAME;
}

static bool is_name(unsigned char c)
{
	return ab_shell_name[c] != 0;
}

/* The byte after the quotes that begin at `at`, for looking ahead. */
static uint32_t skip_quotes(const struct parser *p, uint32_t at)
{
	const unsigned char *end;

	if (p->s[at] != '\'')
		return ab_lex_find(p, at + 1, p->s[at]) + 1;
	end = memchr(p->s + at + 1, '\'', p->len - at - 1);
	return end ? (uint32_t)(end - p->s) + 1 : p->len;
}

bool ab_lex_is_arith(struct parser *p, uint32_t at)
{
	const unsigned char *s = p->s;
	uint32_t begin = at, parens = 0;

	if (p->no_arith)
		return false;
	while (at < p->len && at - begin < p->lookahead) {
		switch (s[at]) {
		case '\\':
			at += 2;
			continue;
		case '\'':
		case '"':
		case '`':
			at = skip_quotes(p, at);
			continue;
		case '(':
			parens++;
			break;
		case ')':
			if (parens-- > 0)
				break;
			p->lookahead -= at - begin;
			return s[at + 1] == ')';
		default:
			break;
		}
		at++;
	}
	/* no end to be found from here, nor from any place after this */
	p->no_arith = true;
	return false;
}

/*
 * $(( with the first parenthesis at `at` that is no arithmetic: bash pairs
 * the parentheses and looks at the commands when it runs them. False: they
 * do not pair, so it is left to the parser.
 */
static bool raw_substitution(struct parser *p, struct frame *f, uint32_t at)
{
	const unsigned char *s = p->s;
	uint32_t begin = at + 1, parens = 0;

	for (at++; at < p->len && at - begin < p->lookahead;) {
		if (s[at] == '\\') {
			at += 2;
			continue;
		}
		if (s[at] == '\'' || s[at] == '"' || s[at] == '`') {
			at = skip_quotes(p, at);
			continue;
		}
		if (s[at] == '(')
			parens++;
		if (s[at] == ')' && parens-- == 0) {
			p->lookahead -= at - begin;
			f->root->word->flags |= WORD_SUBST;
			ab_lex_part(p, f->root, PART_FUNSUB, begin, at,
				 f->flags & FRAME_QUOTED ? PART_QUOTED : 0);
			p->pos = at + 1;
			return true;
		}
		at++;
	}
	p->no_arith = true;
	return false;
}

/* The operator of ${name...}: its kind, and pos after it. */
static void param_op(struct parser *p, struct param *param)
{
	const unsigned char *s = p->s;
	static const char ops[] = "-=?+";
	static const uint8_t kinds[] = { OP_DEFAULT, OP_ASSIGN, OP_ERROR,
					 OP_OTHER };
	uint32_t at = p->pos;
	bool twice = s[at] && s[at + 1] == s[at];
	const char *op = s[at] ? strchr(ops, s[at]) : NULL;

	if (s[at] == ':' && s[at + 1])
		op = strchr(ops, s[at + 1]);
	if (op) {
		param->has_colon = s[at] == ':';
		param->op = kinds[op - ops];
		p->pos = at + 1 + param->has_colon;
		return;
	}
	switch (s[at]) {
	case '#':
		param->op = twice ? OP_PREFIX_LONG : OP_PREFIX;
		break;
	case '%':
		param->op = twice ? OP_SUFFIX_LONG : OP_SUFFIX;
		break;
	case '^':
		param->op = twice ? OP_UPPER_ALL : OP_UPPER;
		break;
	case ',':
		param->op = twice ? OP_LOWER_ALL : OP_LOWER;
		break;
	case '~':
		param->op = twice ? OP_TOGGLE_ALL : OP_TOGGLE;
		break;
	case '/':
		param->op = twice ? OP_REPLACE_ALL : OP_REPLACE;
		if (s[at + 1] == '#' || s[at + 1] == '%') {
			param->op = s[at + 1] == '#' ? OP_REPLACE_PREFIX :
						       OP_REPLACE_SUFFIX;
			twice = true;
		}
		break;
	case ':':
		param->op = OP_SLICE;
		twice = false;
		break;
	case '@':
		param->op = OP_AT;
		twice = ab_shell_name[s[at + 1]];
		param->letter = twice ? (char)s[at + 1] : 0;
		break;
	default:
		param->op = OP_BAD;
		return;
	}
	p->pos = at + 1 + twice;
}

static bool op_takes_pattern(enum param_op op)
{
	return op >= OP_PREFIX && op <= OP_TOGGLE_ALL;
}

/* After name and subscript of ${: `}` or an operator with its argument. */
void ab_lex_param_tail(struct parser *p, struct frame *root,
		       struct part *part, uint32_t flags)
{
	struct param *param = part->u.param;
	struct frame *f;

	p->pos = ab_lex_skip_joins(p, p->pos);
	if (p->s[p->pos] == '}') {
		part->end = ++p->pos;
		return;
	}
	if (param->is_indirect && !param->has_index &&
	    (p->s[p->pos] == '*' || p->s[p->pos] == '@') &&
	    p->s[p->pos + 1] == '}')
		param->op = OP_NAMES;
	else if (param->op == OP_NONE)
		param_op(p, param);
	if (param->op == OP_AT && param->letter == 'P')
		root->word->flags |= WORD_SUBST;
	param->has_args = true;
	/* double quotes around it quote no pattern */
	if (op_takes_pattern(param->op))
		flags &= ~(uint32_t)FRAME_QUOTED;
	f = ab_lex_enter(p, S_PARAM, root, flags & FRAME_QUOTED);
	f->begin = part->begin;
	f->part = part;
	if ((param->op >= OP_REPLACE && param->op <= OP_REPLACE_SUFFIX) ||
	    param->op == OP_SLICE)
		f->flags |= FRAME_SEP;
	/* ${x///} and ${x////y}: a slash that the pattern begins with */
	if (param->op == OP_REPLACE_ALL && p->s[p->pos] == '/') {
		ab_lex_text(p, f, p->pos, p->pos + 1);
		p->pos++;
	}
}

/* Where the name of ${ at `at` ends; the prefixes ! and # are noted. */
static uint32_t param_name(const struct parser *p, uint32_t at,
			   struct param *param)
{
	const unsigned char *s = p->s;
	unsigned char after = s[at + 1];

	if (s[at] == '#' && after != '}' &&
	    (is_name(after) ||
	     (ab_lex_is_special(after) && s[at + 2] == '}'))) {
		param->op = OP_LENGTH;
		at++;
	} else if (s[at] == '!' &&
		   (is_name(after) ||
		    (ab_lex_is_special(after) && s[at + 2] == '}'))) {
		param->is_indirect = true;
		at++;
	}
	param->name = at;
	if (is_name_start(s[at]))
		return ab_lex_name_end(p, at);
	if (ab_lex_is_special(s[at]))
		return at + 1;
	while (ab_shell_name[s[at]] == AB_DIGIT)
		at++;
	return at;
}

/* ${ with the brace at `at`. */
static void param_braces(struct parser *p, struct frame *f, uint32_t at)
{
	struct part *part;
	struct param *param;
	struct frame *root = f->root;
	uint32_t quoted = f->flags & FRAME_QUOTED;
	unsigned char c = p->s[ab_lex_skip_joins(p, at + 1)];

	if (c == ' ' || c == '\t' || c == '\n' || c == '|') {
		part = ab_lex_part(p, root, PART_FUNSUB, at + 2, at + 2,
				quoted ? PART_QUOTED : 0);
		root->word->flags |= WORD_SUBST;
		p->pos = at + 1;
		f = ab_lex_enter(p, S_PARAM, root, quoted);
		f->part = part;
		return;
	}
	part = ab_lex_part(p, root, PART_PARAM, at - 1, at,
			quoted ? PART_QUOTED : 0);
	param = ab_parser_alloc(p, sizeof(*param));
	memset(param, 0, sizeof(*param));
	part->u.param = param;
	p->pos = param_name(p, ab_lex_skip_joins(p, at + 1), param);
	param->name_len = p->pos - param->name;
	if (param->name_len && p->s[p->pos] == '[') {
		param->has_index = true;
		ab_lex_part(p, root, PART_INDEX, p->pos, p->pos, 0);
		p->pos++;
		f = ab_lex_enter(p, S_SUBSCRIPT, root, quoted | FRAME_IN_PARAM);
		f->part = part;
		return;
	}
	ab_lex_param_tail(p, root, part, quoted);
}

void ab_lex_param(struct parser *p, struct frame *f, uint32_t begin,
		  uint32_t name, uint32_t name_end)
{
	struct param *param = ab_parser_alloc(p, sizeof(*param));

	memset(param, 0, sizeof(*param));
	param->name = name;
	param->name_len = name_end - name;
	ab_lex_part(p, f->root, PART_PARAM, begin, p->pos,
		    f->flags & FRAME_QUOTED ? PART_QUOTED : 0)
		->u.param = param;
}

/* $name, $1, $? with the name at `at`. */
static void param_plain(struct parser *p, struct frame *f, uint32_t begin,
			uint32_t at)
{
	p->pos = is_name_start(p->s[at]) ? ab_lex_name_end(p, at) : at + 1;
	ab_lex_param(p, f, begin, at, p->pos);
}

/* $((...)) or $[...] whose content begins at `at`. */
static void arithmetic(struct parser *p, struct frame *f, uint32_t begin,
		       uint32_t at, uint32_t flags)
{
	flags |= f->flags & FRAME_QUOTED;
	ab_lex_part(p, f->root, PART_ARITH, begin, begin,
		 flags & FRAME_QUOTED ? PART_QUOTED : 0);
	p->pos = at;
	ab_lex_enter(p, S_ARITH, f->root, flags)->begin = begin;
}

/* $ at `at` that begins something. */
void ab_lex_dollar(struct parser *p, struct frame *f, uint32_t at)
{
	const unsigned char *s = p->s;
	uint32_t next = ab_lex_skip_joins(p, at + 1);

	switch (s[next]) {
	case '{':
		param_braces(p, f, next);
		break;
	case '(':
		if (s[next + 1] == '(' && ab_lex_is_arith(p, next + 2))
			arithmetic(p, f, at, next + 2, 0);
		else if (s[next + 1] != '(' || p->no_arith ||
			 !raw_substitution(p, f, next))
			ab_lex_substitution(p, f, next, PART_COMMAND);
		break;
	case '[':
		p->differs = true;
		arithmetic(p, f, at, next + 1, FRAME_BRACKET);
		break;
	case '\'':
		ab_lex_raw(p, f, next, PART_ANSI);
		break;
	case '"':
		ab_lex_double(p, f, next);
		break;
	default:
		param_plain(p, f, at, next);
		break;
	}
}

/* Whether $ at `at` begins something. */
bool ab_lex_is_dollar(const struct parser *p, const struct frame *f,
		      uint32_t at)
{
	unsigned char c = p->s[ab_lex_skip_joins(p, at + 1)];

	if (p->posix && (c == '\'' || c == '['))
		return false;
	if (c == '\'' || c == '"')
		return !(f->flags & FRAME_QUOTED);
	return is_name(c) || ab_lex_is_special(c) || c == '{' || c == '(' ||
	       c == '[';
}
