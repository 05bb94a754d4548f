/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words: quoting, parameters, where a substitution begins and ends. What
 * bash leaves for later is left for later here too: the inside of backquotes,
 * of $'...' and of here-documents is only delimited.
 *
 * Every loop moves forward over the text; bytes are read ahead in one place
 * (`((`), which has a budget.
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

/* The end of the name at `at`; `at` itself when there is none. */
static uint32_t name_end(const struct parser *p, uint32_t at)
{
	if (is_name_start(p->s[at]))
		while (is_name(p->s[at]))
			at++;
	return at;
}

uint32_t ab_lex_skip_joins(const struct parser *p, uint32_t at)
{
	while (p->s[at] == '\\' && p->s[at + 1] == '\n')
		at += 2;
	return at;
}

void ab_lex_blanks(struct parser *p)
{
	const unsigned char *s = p->s;
	uint32_t at = p->pos;

	for (;;) {
		while (s[at] == ' ' || s[at] == '\t')
			at++;
		if (s[at] == '\\' && s[at + 1] == '\n') {
			at += 2;
		} else if (s[at] == '#') {
			const unsigned char *end =
				memchr(s + at, '\n', p->len - at);

			at = end ? (uint32_t)(end - s) : p->len;
		} else if (s[at] == 0 && at < p->len && !p->source) {
			at++; /* bash drops it */
		} else {
			break;
		}
	}
	p->pos = at;
}

static struct part *add_part(struct parser *p, struct frame *root,
			     enum part_kind kind, uint32_t begin, uint32_t end,
			     uint32_t flags)
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
	if (is_long) {
		part->u.list = NULL;
		part->stream = NULL;
	}
	*root->ptail = part;
	root->ptail = &part->next;
	return part;
}

static void add_text(struct parser *p, struct frame *f, uint32_t begin,
		     uint32_t end)
{
	if (begin < end)
		add_part(p, f->root, PART_TEXT, begin, end,
			 f->flags & FRAME_QUOTED ? PART_QUOTED : 0);
}

static struct frame *enter_word(struct parser *p, enum state state,
				struct frame *root, uint32_t flags)
{
	struct frame *f = ab_parser_enter(p, state);

	f->root = root ? root : f;
	f->word = f->root->word;
	f->flags = (uint16_t)flags;
	f->begin = p->pos;
	return f;
}

/* A NUL at `at`: a hole of the source, or nothing at all, as in bash. False
 * at the end of the text. */
static bool nul(struct parser *p, struct frame *f, uint32_t from, uint32_t at)
{
	add_text(p, f, from, at);
	p->pos = at;
	if (at >= p->len)
		return false;
	if (p->source)
		add_part(p, f->root, PART_HOLE, at, at + 1,
			 f->flags & FRAME_QUOTED ? PART_QUOTED : 0);
	p->pos = at + 1;
	return true;
}

/* The text between single quotes: one part, or more around NULs. */
static void add_quoted(struct parser *p, struct frame *f, uint32_t begin,
		       uint32_t end)
{
	const unsigned char *zero;

	f->root->word->flags |= WORD_QUOTED;
	while ((zero = memchr(p->s + begin, 0, end - begin))) {
		uint32_t at = (uint32_t)(zero - p->s);

		add_part(p, f->root, PART_TEXT, begin, at, PART_QUOTED);
		if (p->source)
			add_part(p, f->root, PART_HOLE, at, at + 1,
				 PART_QUOTED);
		begin = at + 1;
	}
	add_part(p, f->root, PART_TEXT, begin, end, PART_QUOTED);
}

static void unterminated(struct parser *p, uint32_t begin, const char *message)
{
	p->pos = p->len;
	ab_parser_error(p, AB_SHELL_UNTERMINATED, begin, p->len, message);
}

/* '...' whose first quote is at `at`. False: it does not end. */
static bool single_quotes(struct parser *p, struct frame *f, uint32_t at)
{
	const unsigned char *end =
		memchr(p->s + at + 1, '\'', p->len - at - 1);
	uint32_t last = end ? (uint32_t)(end - p->s) : p->len;

	add_quoted(p, f, at + 1, last);
	p->pos = last + 1;
	if (!end)
		unterminated(p, at, "unterminated single quote");
	return end;
}

/* From `at` to the next `quote` that no backslash precedes; len: none. */
static uint32_t find_unescaped(const struct parser *p, uint32_t at,
			       unsigned char quote)
{
	while (at < p->len && p->s[at] != quote)
		at += p->s[at] == '\\' ? 2 : 1;
	return at < p->len ? at : p->len;
}

/* $'...' with the quote at `at`, or `...` */
static bool raw_quotes(struct parser *p, struct frame *f, uint32_t at,
		       enum part_kind kind)
{
	uint32_t end = find_unescaped(p, at + 1, p->s[at]);

	if (kind == PART_ANSI)
		f->root->word->flags |= WORD_QUOTED;
	else
		f->root->word->flags |= WORD_SUBST;
	add_part(p, f->root, kind, at + 1, end,
		 f->flags & FRAME_QUOTED ? PART_QUOTED : 0);
	p->pos = end + 1;
	if (end == p->len)
		unterminated(p, at, kind == PART_ANSI ?
					    "unterminated single quote" :
					    "unterminated backquote");
	return end < p->len;
}

static void double_quotes(struct parser *p, struct frame *f, uint32_t at)
{
	f->root->word->flags |= WORD_QUOTED;
	/* "" is a word too */
	add_part(p, f->root, PART_TEXT, at + 1, at + 1, PART_QUOTED);
	p->pos = at + 1;
	enter_word(p, S_DOUBLE, f->root, FRAME_QUOTED)->begin = at;
}

/* A backslash outside of quotes. */
static void backslash(struct parser *p, struct frame *f, uint32_t at)
{
	if (p->s[at + 1] == '\n' && at + 1 < p->len) {
		p->pos = at + 2;
	} else if (at + 1 >= p->len) {
		add_part(p, f->root, PART_TEXT, at, at + 1, PART_QUOTED);
		p->pos = p->len;
	} else {
		f->root->word->flags |= WORD_QUOTED;
		if (p->s[at + 1])
			add_part(p, f->root, PART_TEXT, at + 1, at + 2,
				 PART_QUOTED);
		p->pos = at + 1 + (p->s[at + 1] != 0);
	}
}

/* A backslash in double quotes, or where `extra` may be escaped as well. */
static void backslash_quoted(struct parser *p, struct frame *f, uint32_t at,
			     char extra)
{
	unsigned char c = p->s[at + 1];

	if (c == '\n' && at + 1 < p->len) {
		p->pos = at + 2;
	} else if (c == '$' || c == '`' || c == '\\' ||
		   (c && c == (unsigned char)extra)) {
		add_part(p, f->root, PART_TEXT, at + 1, at + 2, PART_QUOTED);
		p->pos = at + 2;
	} else {
		add_part(p, f->root, PART_TEXT, at, at + 1, PART_QUOTED);
		p->pos = at + 1;
	}
}

/* $(, <(, >( with its parenthesis at `at`. */
static void command_substitution(struct parser *p, struct frame *f,
				 uint32_t at, enum part_kind kind)
{
	struct part *part = add_part(p, f->root, kind, at + 1, at + 1,
				     f->flags & FRAME_QUOTED ? PART_QUOTED : 0);

	f->root->word->flags |= WORD_SUBST;
	p->pos = at + 1;
	ab_parser_enter_list(p, &part->u.list, CLOSE_SUBST);
	p->top->part = part;
	p->top->begin = at - 1;
}

/* The byte after the quotes that begin at `at`, for looking ahead. */
static uint32_t skip_quotes(const struct parser *p, uint32_t at)
{
	const unsigned char *end;

	if (p->s[at] != '\'')
		return find_unescaped(p, at + 1, p->s[at]) + 1;
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
			add_part(p, f->root, PART_FUNSUB, begin, at,
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
	return op >= OP_PREFIX && op <= OP_LOWER_ALL;
}

/* After name and subscript of ${: `}` or an operator with its argument. */
static void param_tail(struct parser *p, struct frame *root,
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
	f = enter_word(p, S_PARAM, root, flags & FRAME_QUOTED);
	f->begin = part->begin;
	f->part = part;
	if (op_takes_pattern(param->op))
		f->flags |= FRAME_PATTERN_OP;
	if ((param->op >= OP_REPLACE && param->op <= OP_REPLACE_SUFFIX) ||
	    param->op == OP_SLICE)
		f->flags |= FRAME_SEP;
}

/* Is s[at] a parameter of one character? */
static bool is_special(unsigned char c)
{
	return c && strchr("@*#?-$!", c);
}

/* Where the name of ${ at `at` ends; the prefixes ! and # are noted. */
static uint32_t param_name(const struct parser *p, uint32_t at,
			   struct param *param)
{
	const unsigned char *s = p->s;
	unsigned char after = s[at + 1];

	if (s[at] == '#' && after != '}' &&
	    (is_name(after) || (is_special(after) && s[at + 2] == '}'))) {
		param->op = OP_LENGTH;
		at++;
	} else if (s[at] == '!' && (is_name(after) || (is_special(after) &&
						       s[at + 2] == '}'))) {
		param->is_indirect = true;
		at++;
	}
	param->name = at;
	if (is_name_start(s[at]))
		return name_end(p, at);
	if (is_special(s[at]))
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
		part = add_part(p, root, PART_FUNSUB, at + 2, at + 2,
				quoted ? PART_QUOTED : 0);
		root->word->flags |= WORD_SUBST;
		p->pos = at + 1;
		f = enter_word(p, S_PARAM, root, quoted);
		f->part = part;
		return;
	}
	part = add_part(p, root, PART_PARAM, at - 1, at,
			quoted ? PART_QUOTED : 0);
	param = ab_parser_alloc(p, sizeof(*param));
	memset(param, 0, sizeof(*param));
	part->u.param = param;
	p->pos = param_name(p, ab_lex_skip_joins(p, at + 1), param);
	param->name_len = p->pos - param->name;
	if (param->name_len && p->s[p->pos] == '[') {
		param->has_index = true;
		add_part(p, root, PART_INDEX, p->pos, p->pos, 0);
		p->pos++;
		f = enter_word(p, S_SUBSCRIPT, root, quoted | FRAME_IN_PARAM);
		f->part = part;
		return;
	}
	param_tail(p, root, part, quoted);
}

/* $name, $1, $? with the name at `at`. */
static void param_plain(struct parser *p, struct frame *f, uint32_t dollar,
			uint32_t at)
{
	uint32_t end = is_name_start(p->s[at]) ? name_end(p, at) : at + 1;
	struct param *param = ab_parser_alloc(p, sizeof(*param));
	struct part *part =
		add_part(p, f->root, PART_PARAM, dollar, end,
			 f->flags & FRAME_QUOTED ? PART_QUOTED : 0);

	memset(param, 0, sizeof(*param));
	param->name = at;
	param->name_len = end - at;
	part->u.param = param;
	p->pos = end;
}

/* $((...)) or $[...] whose content begins at `at`. */
static void arithmetic(struct parser *p, struct frame *f, uint32_t dollar,
		       uint32_t at, uint32_t flags)
{
	flags |= f->flags & FRAME_QUOTED;
	add_part(p, f->root, PART_ARITH, dollar, dollar,
		 flags & FRAME_QUOTED ? PART_QUOTED : 0);
	p->pos = at;
	enter_word(p, S_ARITH, f->root, flags)->begin = dollar;
}

/* $ at `at` that begins something. */
static void dollar(struct parser *p, struct frame *f, uint32_t at)
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
			command_substitution(p, f, next, PART_COMMAND);
		break;
	case '[':
		arithmetic(p, f, at, next + 1, FRAME_BRACKET);
		break;
	case '\'':
		raw_quotes(p, f, next, PART_ANSI);
		break;
	case '"':
		double_quotes(p, f, next);
		break;
	default:
		param_plain(p, f, at, next);
		break;
	}
}

/* Whether $ at `at` begins something. */
static bool is_dollar(const struct parser *p, const struct frame *f,
		      uint32_t at)
{
	unsigned char c = p->s[ab_lex_skip_joins(p, at + 1)];

	if (c == '\'' || c == '"')
		return !(f->flags & FRAME_QUOTED);
	return is_name(c) || is_special(c) || c == '{' || c == '(' || c == '[';
}

/* What $, ` and quotes do in every frame alike; `from` is where the text
 * before begins. False: an ordinary byte after all. */
static bool common(struct parser *p, struct frame *f, uint32_t from,
		   uint32_t at)
{
	if (p->s[at] == '$' && !is_dollar(p, f, at))
		return false;
	add_text(p, f, from, at);
	switch (p->s[at]) {
	case '$':
		dollar(p, f, at);
		return true;
	case '`':
		raw_quotes(p, f, at, PART_BACKQUOTE);
		return true;
	case '"':
		double_quotes(p, f, at);
		return true;
	case '\'':
		single_quotes(p, f, at);
		return true;
	default:
		backslash(p, f, at);
		return true;
	}
}

static void leave_word(struct parser *p, struct frame *f, uint32_t from,
		       uint32_t at)
{
	add_text(p, f, from, at);
	if (!f->word->parts)
		add_part(p, f, PART_TEXT, at, at, 0);
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
	return end > begin && name_end(p, begin) == end;
}

/* = at `at` ends the name of an assignment: an array may follow. */
static void begin_value(struct parser *p, struct frame *f, uint32_t at)
{
	f->word->assign = at + 1 - f->word->begin;
	f->flags &= (uint16_t)~FRAME_ASSIGN_OK;
	add_part(p, f->root, PART_ASSIGN, at + 1, at + 1, 0);
	p->pos = at + 1;
	if (p->s[at + 1] == '(' && f->closer != CLOSE_PAREN) {
		struct part *part = add_part(p, f->root, PART_ARRAY, at + 1,
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
		add_text(p, f, from, at + 1);
		begin_value(p, f, at);
		return true;
	}
	/* a[i]= in any place, [i]= in an array */
	if (p->s[at] == '[' && (name_end(p, begin) == at ||
				(at == begin && f->closer == CLOSE_PAREN)) &&
	    (at > begin || f->closer == CLOSE_PAREN)) {
		add_text(p, f, from, at + 1);
		p->pos = at + 1;
		enter_word(p, S_SUBSCRIPT, f->root, 0);
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
	add_text(p, f, p->pos, at + 1);
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
			if (!nul(p, f, from, at))
				leave_word(p, f, at, at);
			return;
		case CLS_END:
			if (s[at] == '|' && (f->flags & FRAME_REGEX))
				continue;
			leave_word(p, f, from, at);
			return;
		case CLS_OPEN:
			if (!is_open_inside(p, f, from, at) &&
			    !(f->flags & FRAME_REGEX)) {
				leave_word(p, f, from, at);
				return;
			}
			add_text(p, f, from, at + 1);
			p->pos = at + 1;
			enter_word(p, S_EXTGLOB, f->root, 0);
			return;
		case CLS_ANGLE:
			if (s[at + 1] != '(') {
				leave_word(p, f, from, at);
				return;
			}
			add_text(p, f, from, at);
			command_substitution(p, f, at + 1,
					     s[at] == '<' ? PART_PROC_IN :
							    PART_PROC_OUT);
			return;
		default:
			if (common(p, f, from, at))
				return;
		}
	}
}

static void step_double(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s;
	uint32_t at = p->pos, from = at;

	for (;; at++) {
		unsigned char t = ab_shell_class[s[at]];

		if (t < CLS_DOLLAR || t == CLS_SINGLE)
			continue;
		switch (t) {
		case CLS_NUL:
			if (!nul(p, f, from, at))
				unterminated(p, f->begin,
					     "unterminated double quote");
			return;
		case CLS_DOUBLE:
			add_text(p, f, from, at);
			p->pos = at + 1;
			ab_parser_leave(p);
			return;
		case CLS_BACKSLASH:
			add_text(p, f, from, at);
			backslash_quoted(p, f, at, '"');
			return;
		default:
			if (common(p, f, from, at))
				return;
		}
	}
}

/* The body of a here-document, or another text read as one. */
static void step_here(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s;
	uint32_t at = p->pos, from = at;

	for (;; at++) {
		unsigned char t = ab_shell_class[s[at]];

		if (t < CLS_DOLLAR || t == CLS_SINGLE || t == CLS_DOUBLE)
			continue;
		if (t == CLS_NUL) {
			if (!nul(p, f, from, at))
				leave_word(p, f, at, at);
			return;
		}
		if (t == CLS_BACKSLASH) {
			add_text(p, f, from, at);
			backslash_quoted(p, f, at, 0);
			return;
		}
		if (common(p, f, from, at))
			return;
	}
}

/* ' in "${x:-'...'}" stands for itself, but bash pairs it. */
static void literal_quotes(struct parser *p, struct frame *f, uint32_t at)
{
	const unsigned char *end =
		memchr(p->s + at + 1, '\'', p->len - at - 1);
	uint32_t last = end ? (uint32_t)(end - p->s) : p->len;

	add_part(p, f->root, PART_TEXT, at, at + 1, PART_QUOTED);
	add_quoted(p, f, at + 1, last);
	if (!end) {
		unterminated(p, at, "unterminated single quote");
		return;
	}
	add_part(p, f->root, PART_TEXT, last, last + 1, PART_QUOTED);
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
		add_part(p, f->root, PART_END, at, at, 0);
	}
	p->pos = at + 1;
	ab_parser_leave(p);
}

/* What a frame inside of ${ does at a byte that is not ordinary. */
static void param_byte(struct parser *p, struct frame *f, uint32_t from,
		       uint32_t at)
{
	bool quoted = f->flags & FRAME_QUOTED;

	add_text(p, f, from, at);
	if (p->s[at] == '\'' && quoted && !(f->flags & FRAME_PATTERN_OP))
		literal_quotes(p, f, at);
	else if (p->s[at] == '\\' && quoted)
		backslash_quoted(p, f, at, p->s[at + 1] == '"' ? '"' : '}');
	else if (p->s[at] == '<' || p->s[at] == '>')
		command_substitution(p, f, at + 1,
				     p->s[at] == '<' ? PART_PROC_IN :
						       PART_PROC_OUT);
	else if (!common(p, f, at, at)) {
		add_text(p, f, at, at + 1);
		p->pos = at + 1;
	}
}

static void step_param(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s;
	uint32_t at = p->pos, from = at;

	for (;; at++) {
		unsigned char t = ab_shell_class[s[at]];

		if (s[at] == '}') {
			add_text(p, f, from, at);
			leave_param(p, f, at);
			return;
		}
		if ((f->flags & FRAME_SEP) &&
		    s[at] == (f->part->u.param->op == OP_SLICE ? ':' : '/')) {
			add_text(p, f, from, at);
			add_part(p, f->root, PART_SEP, at, at + 1, 0);
			f->flags &= (uint16_t)~FRAME_SEP;
			p->pos = at + 1;
			return;
		}
		if (t < CLS_ANGLE ||
		    (t == CLS_ANGLE &&
		     (s[at + 1] != '(' || (f->flags & FRAME_QUOTED))))
			continue;
		if (t == CLS_NUL) {
			if (!nul(p, f, from, at))
				unterminated(p, f->begin, "unterminated '${'");
			return;
		}
		param_byte(p, f, from, at);
		return;
	}
}

/* After the subscript of ${x[...]. */
static void step_param_op(struct parser *p, struct frame *f)
{
	struct part *part = f->part;
	struct frame *root = f->root;
	uint32_t flags = f->flags;

	ab_parser_leave(p);
	param_tail(p, root, part, flags);
}

static void leave_subscript(struct parser *p, struct frame *f, uint32_t from,
			    uint32_t at)
{
	p->pos = at + 1;
	if (!(f->flags & FRAME_IN_PARAM)) {
		add_text(p, f, from, at + 1);
		ab_parser_leave(p);
		return;
	}
	add_text(p, f, from, at);
	add_part(p, f->root, PART_END, at, at, 0);
	if (at == f->begin + 1 &&
	    (p->s[at - 1] == '@' || p->s[at - 1] == '*'))
		f->part->u.param->letter = (char)p->s[at - 1];
	f->state = S_PARAM_OP;
}

static void step_subscript(struct parser *p, struct frame *f)
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
		if (t == CLS_NUL) {
			if (!nul(p, f, from, at))
				unterminated(p, f->begin, "unterminated '['");
			return;
		}
		if (t == CLS_SINGLE && (f->flags & FRAME_QUOTED)) {
			add_text(p, f, from, at);
			literal_quotes(p, f, at);
			return;
		}
		if (common(p, f, from, at))
			return;
	}
}

static void leave_arith(struct parser *p, struct frame *f, uint32_t from,
			uint32_t at)
{
	bool is_bracket = f->flags & FRAME_BRACKET;

	add_text(p, f, from, at);
	p->semicolons = f->count;
	if (f->flags & FRAME_COMMAND) {
		leave_word(p, f, at, at);
	} else {
		add_part(p, f->root, PART_END, at, at, 0);
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

static void step_arith(struct parser *p, struct frame *f)
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
		if (t == CLS_NUL) {
			if (!nul(p, f, from, at))
				unterminated(p, f->begin,
					     "unterminated arithmetic");
			return;
		}
		if (t == CLS_SINGLE && (f->flags & FRAME_QUOTED)) {
			add_text(p, f, from, at);
			literal_quotes(p, f, at);
			return;
		}
		if (common(p, f, from, at))
			return;
	}
}

static void step_extglob(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s;
	uint32_t at = p->pos, from = at;

	for (;; at++) {
		unsigned char t = ab_shell_class[s[at]];

		if (s[at] == '(') {
			f->parens++;
		} else if (s[at] == ')' && f->parens-- == 0) {
			add_text(p, f, from, at + 1);
			p->pos = at + 1;
			ab_parser_leave(p);
			return;
		}
		if (t < CLS_DOLLAR)
			continue;
		if (t == CLS_NUL) {
			if (!nul(p, f, from, at))
				unterminated(p, f->begin,
					     "unterminated pattern");
			return;
		}
		if (common(p, f, from, at))
			return;
	}
}

void ab_lex_step(struct parser *p)
{
	struct frame *f = p->top;

	switch ((enum state)f->state) {
	case S_WORD:
		step_word(p, f);
		break;
	case S_DOUBLE:
		step_double(p, f);
		break;
	case S_PARAM:
		step_param(p, f);
		break;
	case S_PARAM_OP:
		step_param_op(p, f);
		break;
	case S_SUBSCRIPT:
		step_subscript(p, f);
		break;
	case S_ARITH:
		step_arith(p, f);
		break;
	case S_EXTGLOB:
		step_extglob(p, f);
		break;
	default:
		step_here(p, f);
		break;
	}
}

/* Whether the plain word begin..end must be looked at piece by piece. */
static bool is_assignment_like(const struct parser *p, struct word *w,
			       uint32_t end, bool in_array)
{
	const unsigned char *s = p->s, *eq;
	uint32_t name = name_end(p, w->begin);

	if (s[name] == '[' && (name > w->begin || in_array))
		return true;
	if (!(w->flags & WORD_EQUALS))
		return false;
	eq = memchr(s + w->begin, '=', end - w->begin);
	if (eq && is_assign_name(p, w->begin, (uint32_t)(eq - s)))
		w->assign = (uint32_t)(eq - s) + 1 - w->begin;
	return false;
}

void ab_lex_word(struct parser *p, struct word *w, uint32_t flags)
{
	const unsigned char *s = p->s;
	uint32_t at = p->pos, soft = 0;
	unsigned char t;
	struct frame *f;

	w->next = NULL;
	w->parts = NULL;
	w->begin = at;
	w->assign = 0;
	for (;; at++) {
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
	w->assign = 0;
	f = ab_parser_enter(p, S_WORD);
	f->root = f;
	f->word = w;
	f->ptail = &w->parts;
	f->begin = at;
	/* in an array [i]= is an assignment too */
	f->closer = flags & FRAME_IN_PARAM ? CLOSE_PAREN : CLOSE_EOF;
	f->flags = (uint16_t)(flags & ~FRAME_IN_PARAM);
}

/*
 * Here-documents.
 */

/* One logical line of an unquoted body: a backslash joins the next one to it.
 * Its end; *is_last: it is the delimiter. */
static uint32_t joined_line(const struct parser *p, uint32_t at,
			    const unsigned char *delimiter, uint32_t len,
			    bool *is_last)
{
	const unsigned char *s = p->s;
	uint32_t matched = 0;
	bool equal = true;

	for (; at < p->len && s[at] != '\n'; at++) {
		if (s[at] == '\\' && s[at + 1] == '\n') {
			at++;
			continue;
		}
		equal = equal && matched < len && s[at] == delimiter[matched];
		matched++;
		if (s[at] == '\\' && at + 1 < p->len) {
			at++;
			equal = equal && matched < len &&
				s[at] == delimiter[matched];
			matched++;
		}
	}
	*is_last = equal && matched == len;
	return at;
}

static bool ends_in_backslash(const unsigned char *s, uint32_t begin,
			      uint32_t end)
{
	uint32_t count = 0;

	while (end > begin && s[end - 1] == '\\') {
		end--;
		count++;
	}
	return count & 1;
}

/* The delimiter with its quotes removed, in the arena. */
static const unsigned char *delimiter_of(struct parser *p,
					 const struct word *w, uint32_t *len)
{
	unsigned char *text;
	uint32_t n = 0;

	*len = w->end - w->begin;
	if (!w->parts)
		return p->s + w->begin;
	text = ab_arena_low(p->arena, *len + 1);
	if (!text) {
		*len = 0;
		return p->s;
	}
	for (const struct part *part = w->parts; part; part = part->next) {
		uint32_t more = part->end - part->begin;

		if (part->end <= part->begin || n + more > *len)
			continue;
		memcpy(text + n, p->s + part->begin, more);
		n += more;
	}
	*len = n;
	return text;
}

/* The first line at or after p->pos that is the delimiter ends the body. */
static void read_body(struct parser *p, struct redir *r)
{
	const unsigned char *s = p->s, *newline;
	uint32_t len, at = p->pos;
	const unsigned char *delimiter = delimiter_of(p, &r->target, &len);

	r->is_quoted = r->target.flags & WORD_QUOTED;
	r->body = at;
	while (at < p->len) {
		uint32_t begin = at, end, next;
		bool is_last;

		while (r->is_stripped && s[begin] == '\t')
			begin++;
		newline = memchr(s + begin, '\n', p->len - begin);
		end = newline ? (uint32_t)(newline - s) : p->len;
		is_last = end - begin == len &&
			  memcmp(s + begin, delimiter, len) == 0;
		if (!r->is_quoted && newline &&
		    ends_in_backslash(s, begin, end))
			end = joined_line(p, begin, delimiter, len, &is_last);
		next = end < p->len ? end + 1 : p->len;
		if (!is_last && p->substs && end - begin > len &&
		    memcmp(s + begin, delimiter, len) == 0 &&
		    memchr(s + begin + len, ')', end - begin - len)) {
			is_last = true; /* $(cat <<E ... E) */
			next = begin + len;
		}
		if (is_last) {
			r->body_end = at;
			p->pos = next;
			return;
		}
		at = next;
	}
	r->body_end = p->pos = p->len;
}

void ab_lex_here_documents(struct parser *p)
{
	struct redir *r = p->waiting;

	p->waiting = NULL;
	p->waiting_tail = &p->waiting;
	for (; r; r = r->waiting)
		read_body(p, r);
}
