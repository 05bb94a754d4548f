/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Expressions of an inline program that the text itself tells: parts of a path
 * that are joined, formats that are filled, lists that become one text, one
 * value or another, with the names that are known and the home among them.
 * What such an expression makes is code_made.c's. Refuses to run anything.
 */
#include "config.h"

#include "guard/code_op.h"

#include <string.h>

#define MAX_FRAMES 6
#define MAX_TOKENS 96
#define MAX_STRING 4096 /* beyond it time would not be linear */
struct frame {
	struct ab_op_args in;
	char close;
	char sign; /* that the next operand is for; or 0 */
	bool has_left, has_term, has_either;
	bool is_spread;	 /* *x, ...x */
	bool is_ternary; /* a condition has been read */
	struct ab_made left, term, either;
	struct ab_token key; /* of f(key=x) */
	/* of AB_OP_STRING */
	struct ab_lexer outer;
	struct ab_token string;
};

struct reader {
	struct ab_code *k;
	struct ab_lexer x;
	struct frame frames[MAX_FRAMES];
	uint32_t depth, tokens;
	bool is_made; /* more than a string or a name */
	bool has_here; /* ... once something is joined to it */
	bool has_inner; /* something stands in what is not known */
	bool is_lost; /* not understood */
	bool walks;   /* what is gone through is a value */
	bool is_whole; /* all of it is a word, which may be a hole */
};

static struct frame *top(struct reader *r)
{
	return &r->frames[r->depth];
}

static bool next_token(struct reader *r, struct ab_token *t)
{
	if (r->tokens++ >= MAX_TOKENS) {
		r->is_lost = true;
		return false;
	}
	return ab_lexer_next(&r->x, t);
}

/* The next token, which stays. */
static bool peek(const struct reader *r, struct ab_token *t)
{
	struct ab_lexer x = r->x;

	return ab_lexer_next(&x, t);
}

static char sign_of(const struct reader *r, const struct ab_token *t)
{
	return t->kind == AB_TOKEN_SIGN ? r->k->text->text[t->at] : 0;
}

static bool peek_sign(const struct reader *r, char sign)
{
	struct ab_token t;

	return peek(r, &t) && sign_of(r, &t) == sign;
}

static void push(struct reader *r, enum ab_op op, char close)
{
	if (r->depth + 1 == MAX_FRAMES) {
		r->is_lost = true;
		return;
	}
	r->depth++;
	top(r)->in.op = op;
	top(r)->close = close;
	top(r)->sign = 0;
	top(r)->has_left = top(r)->has_term = top(r)->has_either = false;
	top(r)->in.has_comma = false;
	top(r)->is_spread = top(r)->is_ternary = false;
	top(r)->key.len = 0;
	top(r)->in.args.count = 0;
	top(r)->in.of = (struct ab_made){ .is_list = true };
}

/* Behind what closes the bracket that the lexer is behind. */
static void skip_bracket(struct reader *r)
{
	struct ab_token t;

	r->has_inner = true;
	for (int depth = 1; depth && next_token(r, &t);) {
		char ch = sign_of(r, &t);

		depth += ch && memchr("([{", ch, 3);
		depth -= ch && memchr(")]}", ch, 3);
	}
}

/* --- operands ----------------------------------------------------------- */

/* "a %s" % x, Path("a") / x, a + x */
static void give(struct reader *r, const struct ab_made *m)
{
	struct frame *f = top(r);
	struct ab_made_args args = { .count = 0 };

	switch (f->sign) {
	case '%':
		args.count = 1;
		args.all[0] = *m;
		for (uint32_t i = 0; m->is_list && i < m->count &&
				     i < AB_MADE_ARGS; i++) {
			ab_made_word(r->k, &args.all[i], &m->words[i]);
			args.count = i + 1;
		}
		ab_made_format(r->k, &f->term, &args, '%');
		r->is_made = true;
		break;
	case '/':
		ab_made_join(r->k, &f->term, m, AB_GLUE_PATH);
		r->is_made = true;
		break;
	case '<':
		ab_made_hole(r->k, &f->term);
		break;
	default:
		f->term = *m;
	}
	f->has_term = true;
	f->sign = 0;
}

/* What has been read up to a comma, or to the end. */
static void sum(struct reader *r, struct ab_made *m)
{
	struct frame *f = top(r);

	if (f->has_left) {
		*m = f->left;
		ab_made_join(r->k, m, &f->term,
			     m->is_path && r->k->lang == AB_RUBY
				     ? AB_GLUE_PATH
				     : AB_GLUE_TEXT);
		r->is_made |= m->is_path || m->is_list || m->count > 1 ||
			      r->is_whole;
	} else {
		*m = f->term;
	}
	if (f->has_either) {
		ab_made_either(r->k, &f->either, m);
		*m = f->either;
		r->is_made = true;
	}
	r->is_lost |= !f->has_term;
	f->has_left = f->has_term = f->has_either = f->is_ternary = false;
}

static void add_argument(struct reader *r, struct frame *f,
			 const struct ab_made *m)
{
	if (f->in.args.count == AB_MADE_ARGS) {
		r->is_lost = true;
		return;
	}
	f->in.args.keys[f->in.args.count] = f->key;
	f->in.args.all[f->in.args.count++] = *m;
}

/* An element of a list, or of what is read as one. */
static void add_element(struct reader *r, struct frame *f,
			const struct ab_made *m)
{
	if (m->is_list && (f->is_spread || f->in.op == AB_OP_WORDS))
		ab_made_join(r->k, &f->in.of, m, AB_GLUE_TEXT);
	else if (m->count == 1 && !m->is_list)
		ab_made_add(r->k, &f->in.of, &m->words[0]);
	else
		r->is_lost = true;
}

static void end_argument(struct reader *r)
{
	struct frame *f = top(r);
	struct ab_made m, one;

	sum(r, &m);
	if (r->is_lost)
		return;
	if (f->in.op == AB_OP_LIST ||
	    (f->in.op == AB_OP_WORDS && f->in.args.count)) {
		add_element(r, f, &m);
	} else if (f->is_spread && m.is_list) {
		for (uint32_t i = 0; i < m.count; i++) {
			ab_made_word(r->k, &one, &m.words[i]);
			add_argument(r, f, &one);
		}
	} else {
		add_argument(r, f, &m);
	}
	f->is_spread = false;
	f->key.len = 0;
}

/* --- names -------------------------------------------------------------- */

/* next: the byte behind it, `[` of an element and `(` of a call. */
static void named(struct reader *r, const struct ab_named *n, char next)
{
	const bool is_index = next == '[';
	/* f(, d[, l.pop( */
	uint32_t skip = (is_index && n->is_map) || next == '(';
	struct ab_token t;
	struct ab_made m;

	if (ab_op_takes_one(r->k, n, r->x))
		skip = 3;
	if (skip == 3 ? !ab_code_element_of(r->k, n, &m)
		      : !ab_code_values_of(r->k, n, skip && is_index, &m)) {
		skip = is_index && ab_code_element_of(r->k, n, &m);
		r->is_lost |= !skip;
	}
	for (uint32_t i = 0; i < skip && !r->is_lost; i++)
		r->is_lost = !next_token(r, &t);
	const uint32_t from = r->x.pos;

	if (r->is_lost)
		return;
	if (skip) {
		if (skip == 3 && n->is_map)
			ab_op_default(r->k, r->x, &m);
		skip_bracket(r);
		r->is_made = true;
		r->is_lost |= is_index && !n->is_map &&
			      ab_op_is_range(r->k, from, r->x.pos);
	}
	give(r, &m);
}

/* os.path, Path.home, File::Spec: to the last of them. */
static void read_chain(struct reader *r, struct ab_token *t,
		       struct ab_token *owner)
{
	const uint8_t lang = r->k->lang;
	struct ab_token sign, more, next;

	for (;;) {
		struct ab_lexer x = r->x;
		char ch;

		if (!ab_lexer_next(&x, &sign) || sign.is_line)
			return;
		ch = sign_of(r, &sign);
		if (!ab_lexer_next(&x, &next))
			return;
		more = next;
		if (ch == ':' && sign_of(r, &next) == ':' &&
		    lang & (AB_RUBY | AB_PERL | AB_PHP)) {
			if (!ab_lexer_next(&x, &more))
				return;
		} else if (ch == '-' && sign_of(r, &next) == '>' &&
			   lang == AB_PERL) {
			if (!ab_lexer_next(&x, &more))
				return;
		} else if (ch != '.' || lang & (AB_PERL | AB_PHP)) {
			return;
		}
		if (more.kind != AB_TOKEN_WORD || r->tokens++ >= MAX_TOKENS)
			return;
		*owner = *t;
		*t = more;
		r->x = x;
	}
}

/* require("node:path"): its name. */
static void take_module(struct reader *r, struct ab_token *t)
{
	struct ab_lexer x = r->x;
	struct ab_token next, name;

	if (!ab_lexer_next(&x, &next) || sign_of(r, &next) != '(' ||
	    !ab_lexer_next(&x, &name) || name.kind != AB_TOKEN_STRING ||
	    !ab_lexer_next(&x, &next) || sign_of(r, &next) != ')')
		return;
	r->x = x;
	*t = name;
	t->kind = AB_TOKEN_WORD;
	if (t->len > 5 && !memcmp(r->k->text->text + t->at, "node:", 5)) {
		t->at += 5;
		t->len -= 5;
	}
}

/* A name, or what a call makes; the lexer is behind its first word. */
static void read_word(struct reader *r, const struct ab_token *first)
{
	struct ab_code *k = r->k;
	struct ab_token t = *first, owner = { 0 };
	const struct ab_token bare = ab_code_bare_name(k, first);
	const struct ab_named *n = ab_code_named(k, first), *of;
	enum ab_said said;
	enum ab_op op;
	struct ab_made m;
	char next;

	if (!n && bare.len != t.len)
		n = ab_code_named(k, &bare);
	next = ab_code_next_byte(k->text, r->x.pos);
	of = next == '(' ? ab_code_result(k, first) : n;
	if (of && !of->call && of->count &&
	    (next != '[' || of->is_map || of->is_list)) {
		named(r, of, next);
		return;
	}
	if (ab_code_is_linked(k, first) && !n) {
		r->is_lost = true;
		k->waits = true;
		return;
	}
	for (uint32_t i = 0; i < k->entry_count; i++) {
		if (k->entries[i].len == t.len &&
		    !memcmp(k->text->text + k->entries[i].at,
			    k->text->text + t.at, t.len)) {
			ab_made_entry(k, &m);
			give(r, &m);
			return;
		}
	}
	if (k->lang == AB_JS && ab_code_is_text(k, &t, "require"))
		take_module(r, &t);
	read_chain(r, &t, &owner);
	/* [...] + sys.argv[1:]: ab_code_read_args() has them */
	r->is_lost |= k->argv_count && top(r)->has_left &&
		      top(r)->left.is_list && ab_code_is_argv(k, &t);
	said = ab_code_said(k, &t, &owner, &r->x, &m);
	if (said != AB_SAID_NOT) {
		r->is_made |= said == AB_SAID;
		r->has_here |= said == AB_SAID_HERE;
		give(r, &m);
		return;
	}
	op = ab_op_of_call(k, &t, &owner);
	if (peek_sign(r, '(')) {
		(void)next_token(r, &t);
		if (op != AB_OP_NONE) {
			push(r, op, ')');
			return;
		}
		skip_bracket(r);
	} else if ((op == AB_OP_HOME || op == AB_OP_HERE) &&
		   k->lang & (AB_RUBY | AB_PERL)) {
		(void)ab_op_make(k, &(struct ab_op_args){ .op = op }, &m);
		r->is_made = true;
		give(r, &m);
		return;
	}
	ab_made_hole(k, &m);
	give(r, &m);
}

/* --- strings ------------------------------------------------------------ */

static void pop(struct reader *r, const struct ab_made *m)
{
	r->depth--;
	give(r, m);
}

/* The text of the string from `from` on, and the expression behind it; where
   there is none the string ends. */
static void read_part(struct reader *r, uint32_t from)
{
	struct frame *f = top(r);
	struct ab_token part = f->string;
	struct ab_made text;
	struct ab_word w;
	uint32_t at, end, open = r->k->lang == AB_PY ? 1 : 2;
	bool has_field;

	/* an expression without an end takes what is behind the string, too */
	if (from > part.at + part.len)
		from = part.at + part.len;
	r->x = f->outer;
	has_field = ab_code_field(r->k, &f->string, from, &at, &end);
	part.at = from;
	part.len = (has_field ? at - open : f->string.at + f->string.len) -
		   from;
	if (!ab_code_plain_word(r->k, &part, &w))
		r->is_lost = true;
	ab_made_word(r->k, &text, &w);
	ab_made_join(r->k, &f->in.of, &text, AB_GLUE_TEXT);
	if (!has_field) {
		text = f->in.of;
		pop(r, &text);
		return;
	}
	f->has_left = f->has_term = f->has_either = false;
	f->sign = 0;
	r->x = (struct ab_lexer){ .text = r->x.text, .pos = at, .len = end,
				  .traits = r->x.traits };
}

/* At the end of an expression in a string, which has the rest of it. */
static void end_field(struct reader *r)
{
	struct frame *f = top(r);
	uint32_t end = r->x.len;
	struct ab_made m;

	sum(r, &m);
	if (r->is_lost)
		return;
	ab_made_join(r->k, &f->in.of, &m, AB_GLUE_TEXT);
	r->is_made = true;
	read_part(r, end + 1);
}

static void read_string(struct reader *r, const struct ab_token *t)
{
	static const char format[] = ".format(";
	const struct ab_word *text = r->k->text;
	uint32_t at, end = t->at + t->len;
	struct ab_made m;
	struct ab_word w;
	bool is_template;

	while (end < text->len && text->text[end] == t->quote)
		end++;
	is_template = r->k->lang == AB_PY && text->len - end > 8 &&
		      !memcmp(text->text + end, format, sizeof(format) - 1);
	if (t->len > MAX_STRING || t->quote == 'w' || t->is_doubt) {
		r->is_lost = true;
		return;
	}
	if (!is_template && r->k->lang & (AB_PY | AB_JS | AB_RUBY) &&
	    ab_code_field(r->k, t, t->at, &at, &end)) {
		push(r, AB_OP_STRING, 0);
		if (r->is_lost)
			return;
		ab_made_text(r->k, &top(r)->in.of, "");
		top(r)->string = *t;
		top(r)->outer = r->x;
		read_part(r, t->at);
		return;
	}
	if (r->k->lang & (AB_PERL | AB_PHP) && t->quote != '\'' &&
	    r->k->name_count && ab_code_read_variables(r->k, t, &m)) {
		r->is_made = true;
		give(r, &m);
		return;
	}
	if (is_template ? !ab_code_plain_word(r->k, t, &w)
			: !ab_code_word(r->k, t, &w)) {
		r->is_lost = true;
		return;
	}
	ab_made_word(r->k, &m, &w);
	give(r, &m);
}

/* --- operators ---------------------------------------------------------- */

/* What makes the path of it that has one: p.parent. */
static bool attribute(struct reader *r, const struct ab_token *t)
{
	struct frame *f = top(r);

	if (!ab_code_is_text(r->k, t, "parent") || !f->term.is_path)
		return false;
	ab_made_parent(r->k, &f->term);
	r->is_made = true;
	return true;
}

/* .name, .name(...); the lexer is behind the dot. False: the expression ends
   before it. */
static bool read_member(struct reader *r)
{
	struct ab_token t;
	enum ab_op op;

	if (!next_token(r, &t) || t.kind != AB_TOKEN_WORD)
		return false;
	if (attribute(r, &t))
		return true;
	op = ab_op_of_method(r->k, &t, &top(r)->term, r->walks);
	if (r->walks && ab_code_is_text(r->k, &t, "iterdir") &&
	    top(r)->term.is_path) {
		struct ab_made any;

		ab_made_entry(r->k, &any);
		ab_made_join(r->k, &top(r)->term, &any, AB_GLUE_BELOW);
		r->is_made = true;
		op = AB_OP_SAME;
	}
	if (op == AB_OP_NONE && !r->depth && !r->is_whole)
		return false;
	if (!peek_sign(r, '(')) {
		if (op != AB_OP_SAME && op != AB_OP_EXPAND)
			ab_made_hole(r->k, &top(r)->term);
		return true;
	}
	(void)next_token(r, &t);
	if (op == AB_OP_NONE || op == AB_OP_SAME) {
		skip_bracket(r);
		r->is_made |= op == AB_OP_SAME;
		if (op == AB_OP_NONE)
			ab_made_hole(r->k, &top(r)->term);
		return true;
	}
	struct ab_made of = top(r)->term;

	push(r, op, ')');
	if (!r->is_lost)
		top(r)->in.of = of;
	return true;
}

/* One value or another: what has been read is one of them. */
static void begin_either(struct reader *r)
{
	struct frame *f = top(r);
	struct ab_made m;

	sum(r, &m);
	f->either = m;
	f->has_either = true;
	r->is_made = true;
}

/* "a" if x else "b", behind the `if`: to the other one. */
static void skip_condition(struct reader *r)
{
	struct ab_token t;

	while (next_token(r, &t) && !ab_code_is_text(r->k, &t, "else")) {
		char ch = sign_of(r, &t);

		if (ch && memchr("([{", ch, 3))
			skip_bracket(r);
		if (ch && memchr(")]},;", ch, 5))
			r->is_lost = true;
		if (r->is_lost)
			return;
	}
	r->is_lost |= !ab_code_is_text(r->k, &t, "else");
}

static bool is_unknown(const struct ab_made *m)
{
	return !m->is_list && m->count == 1 && ab_code_is_hole(&m->words[0]);
}

/* a[1:], a[1..-1] of a list that is known. */
static bool is_slice(struct reader *r, struct ab_made *m)
{
	const uint32_t end = r->x.pos + ab_op_slice(r->x.text + r->x.pos,
						    r->x.len - r->x.pos, m);
	struct ab_token t;

	if (end == r->x.pos)
		return false;
	while (r->x.pos < end && next_token(r, &t))
		;
	r->is_made = true;
	return true;
}

/* An element of a list that is known. */
static void read_index(struct reader *r)
{
	struct ab_made *m = &top(r)->term;
	const uint32_t from = r->x.pos;

	/* of what is not known, nor is an element */
	if (is_unknown(m)) {
		skip_bracket(r);
		return;
	}
	if (is_slice(r, m))
		return;
	r->is_made = true;
	skip_bracket(r);
	r->is_lost |= !ab_op_index(r->k, from, r->x.pos, m);
}

static bool is_either(const struct reader *r, const struct ab_token *t,
		      const struct ab_token *next)
{
	const char ch = sign_of(r, t), more = sign_of(r, next);

	return (ab_code_is_text(r->k, t, "or") &&
		r->k->lang & (AB_PY | AB_RUBY | AB_PERL | AB_LUA)) ||
	       (ch == '|' && more == '|') || (ch == '?' && more == '?') ||
	       (ch == '/' && more == '/' && r->k->lang == AB_PERL) ||
	       (ch == '?' && more == ':');
}

enum step { STEP_ON, STEP_STOP, STEP_OTHER };

/* Behind an operand: the sign `ch` that makes more of it. The lexer is behind
   it. */
static enum step read_sign(struct reader *r, char ch)
{
	const uint8_t lang = r->k->lang;
	struct frame *f = top(r);
	struct ab_made m;

	if (ch == '%' && lang & (AB_PY | AB_RUBY)) {
		f->sign = '%';
		f->has_term = false;
		return STEP_ON;
	}
	if (ch == '/' && f->term.is_path) {
		f->sign = '/';
		f->has_term = false;
		return STEP_ON;
	}
	if (ch == '[' && f->has_term) {
		read_index(r);
		return STEP_ON;
	}
	if (ch == '?' && ab_code_next_byte(r->k->text, r->x.pos) == '.')
		return STEP_ON; /* a?.b */
	if (ch == '?' && !f->is_ternary &&
	    lang & (AB_JS | AB_PHP | AB_RUBY | AB_PERL)) {
		sum(r, &m);
		f->is_ternary = true;
		return STEP_ON;
	}
	if (ch == ':' && f->is_ternary) {
		begin_either(r);
		return STEP_ON;
	}
	if (ch && (memchr("<>", ch, 2) ||
		   (memchr("=!&", ch, 3) && r->depth))) {
		f->sign = '<';
		f->has_term = false;
		return STEP_ON;
	}
	return STEP_OTHER;
}

static void join_term(struct reader *r)
{
	struct frame *f = top(r);
	struct ab_made m;
	bool has_either = f->has_either, is_ternary = f->is_ternary;

	r->is_made |= r->has_here;
	f->has_either = false;
	sum(r, &m);
	f->left = m;
	f->has_left = true;
	f->has_either = has_either;
	f->is_ternary = is_ternary;
}

/* At a comma, or where the bracket closes. */
static enum step end_part(struct reader *r, char ch)
{
	struct frame *f = top(r);
	struct ab_made m = { 0 };

	if (!r->depth || f->in.op == AB_OP_STRING)
		return STEP_STOP;
	if (f->has_term)
		end_argument(r);
	else
		r->is_lost |= f->sign || f->has_left;
	if (ch == ',') {
		f->in.has_comma = true;
		return STEP_ON;
	}
	r->is_lost |= ch != f->close;
	if (r->is_lost)
		return STEP_STOP;
	r->is_made |= ab_op_is_making(f->in.op);
	r->is_lost = !ab_op_make(r->k, &f->in, &m);
	if (!r->is_lost)
		pop(r, &m);
	return STEP_ON;
}

/* a "b", a + b, f(a)(b): behind an operand. */
static enum step read_operator(struct reader *r, const struct ab_token *t)
{
	const struct ab_code *k = r->k;
	const uint8_t lang = k->lang;
	char ch = sign_of(r, t);
	struct ab_token next = { 0 };

	if (t->is_line && !r->depth &&
	    (lang == AB_PY || !(ch && memchr(".+?:|", ch, 5))))
		return STEP_STOP;
	(void)peek(r, &next);
	if (ch && memchr(",)]}", ch, 4))
		return end_part(r, ch);
	if (is_either(r, t, &next)) {
		if (ch)
			(void)next_token(r, &next);
		begin_either(r);
		return STEP_ON;
	}
	if (lang == AB_PY && ab_code_is_text(k, t, "if")) {
		begin_either(r);
		skip_condition(r);
		return STEP_ON;
	}
	if (t->kind == AB_TOKEN_STRING && lang & (AB_PY | AB_RUBY)) {
		join_term(r);
		read_string(r, t);
		return STEP_ON;
	}
	if (ab_code_is_joint(k, t)) {
		join_term(r);
		if (lang == AB_LUA && ch == '.' && sign_of(r, &next) == '.')
			(void)next_token(r, &next);
		return STEP_ON;
	}
	if ((ch == '.' && lang & (AB_PY | AB_JS | AB_RUBY)) ||
	    (ch == ':' && lang == AB_LUA))
		return read_member(r) ? STEP_ON : STEP_STOP;
	return read_sign(r, ch);
}

/* f(key=x), {key: x}: the lexer then is behind the sign. */
static bool read_key(struct reader *r, const struct ab_token *t)
{
	const uint8_t lang = r->k->lang;
	struct ab_lexer x = r->x;
	struct ab_token next;

	if (!r->depth || t->kind != AB_TOKEN_WORD ||
	    !ab_lexer_next(&x, &next) ||
	    sign_of(r, &next) != (lang == AB_RUBY ? ':' : '=') ||
	    !(lang & (AB_PY | AB_RUBY | AB_OTHER)) ||
	    (x.pos < x.len && memchr("=:", x.text[x.pos], 2)))
		return false;
	r->x = x;
	top(r)->key = *t;
	return true;
}

static bool is_skipped(const struct reader *r, const struct ab_token *t)
{
	static const char *const words[] = { "new", "await", "not" };
	const char *s = r->k->text->text;
	uint32_t end = t->at + t->len;
	char ch = sign_of(r, t);

	if (t->kind == AB_TOKEN_WORD && t->len < 3 && end < r->k->text->len &&
	    r->k->lang == AB_PY && memchr("\"'", s[end], 2))
		return true; /* f"x" */
	return ab_code_is_one_of(r->k, t, words, AB_ARRAY_LEN(words)) ||
	       (ch && memchr("\\!", ch, 2)) ||
	       (ch && r->frames[r->depth].sign == '<' &&
		memchr("=<>&~", ch, 5));
}

/* Where an operand may stand. */
static enum step read_operand(struct reader *r, const struct ab_token *t)
{
	const uint8_t lang = r->k->lang;
	struct frame *f = top(r);
	char ch = sign_of(r, t), ends;
	struct ab_made m;

	if (is_skipped(r, t) || read_key(r, t))
		return STEP_ON;
	if (lang == AB_OTHER && (ends = ab_op_list(r->k, t, &r->x))) {
		push(r, AB_OP_LIST, ends);
		r->is_made = true;
		return STEP_ON;
	}
	if (t->kind == AB_TOKEN_STRING) {
		read_string(r, t);
		return STEP_ON;
	}
	if (t->kind == AB_TOKEN_WORD) {
		const char *s = r->k->text->text + t->at;

		if (*s < '0' || *s > '9') {
			read_word(r, t);
		} else {
			struct ab_word w;

			if (!ab_word_slice(r->k->c, r->k->text, t->at, t->len,
					   &w))
				return STEP_STOP;
			ab_made_word(r->k, &m, &w);
			give(r, &m);
		}
		return STEP_ON;
	}
	if (ch == '(') {
		push(r, AB_OP_GROUP, ')');
	} else if (ch == '[' && lang != AB_LUA) {
		push(r, AB_OP_LIST, ']');
	} else if (ch == '{' && lang == AB_LUA) {
		push(r, AB_OP_LIST, '}');
	} else if (ch == '@' || ch == '*' || ch == '.') {
		f->is_spread = true; /* @x, *x, ...x */
	} else if (ch && memchr(")]}", ch, 3) && r->depth) {
		return end_part(r, ch);
	} else {
		return STEP_OTHER;
	}
	return STEP_ON;
}

static void read_all(struct reader *r, struct ab_lexer *end)
{
	struct ab_token t;

	while (!r->is_lost && !r->k->c->is_broken) {
		struct ab_lexer before = r->x;
		enum step step;

		if (!next_token(r, &t)) {
			if (r->is_lost)
				return;
			*end = r->x;
			if (!r->depth)
				return;
			if (top(r)->in.op != AB_OP_STRING) {
				r->is_lost = true;
				return;
			}
			end_field(r);
			continue;
		}
		step = top(r)->has_term ? read_operator(r, &t)
					: read_operand(r, &t);
		if (step == STEP_ON)
			continue;
		*end = before;
		/* f"{x!r:>3}" */
		if (top(r)->in.op == AB_OP_STRING && top(r)->has_term &&
		    sign_of(r, &t) && memchr("!:", sign_of(r, &t), 2))
			end_field(r);
		else if (r->depth)
			r->is_lost = true;
		else
			return;
	}
}

/* $h->{"x"}, x["y"] ?? z: to the end of the element; cwd="x" is none. */
static void skip_rest(struct reader *r, struct ab_lexer *end)
{
	struct ab_token t;

	for (r->x = *end; next_token(r, &t) && !t.is_line; *end = r->x) {
		char ch = sign_of(r, &t);

		if (ch && memchr(",;)]}", ch, 5))
			return;
		r->is_lost |= ch == '=' || ch == ':';
		r->has_inner = true;
		if (ch && memchr("([{", ch, 3))
			skip_bracket(r);
	}
}

bool ab_code_read_expr(struct ab_code *k, struct ab_lexer *x, struct ab_made *m,
		       enum ab_need need)
{
	AB_UNINITIALIZED struct reader r;
	const struct ab_lexer was = k->x;
	struct ab_lexer end = *x;

	r.k = k;
	r.x = *x;
	r.depth = UINT32_MAX;
	r.tokens = 0;
	r.is_made = need == AB_NEED_ANY;
	r.is_lost = r.has_here = r.has_inner = k->waits = false;
	r.walks = need == AB_NEED_WALKED;
	r.is_whole = need == AB_NEED_WORD;
	push(&r, AB_OP_ROOT, 0);
	read_all(&r, &end);
	r.is_lost |= r.depth || !top(&r)->has_term;
	if (!r.is_lost)
		sum(&r, m);
	if (!r.is_lost && r.is_whole && is_unknown(m))
		skip_rest(&r, &end);
	k->x = was;
	r.is_made |= r.is_whole && r.has_inner;
	if (r.is_lost || !r.is_made || !(r.is_whole || ab_made_begins(m)))
		return false;
	*x = end;
	return true;
}
