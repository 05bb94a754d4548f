/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Commands: the grammar of POSIX sh and bash 5.2 (bash(1), SHELL GRAMMAR),
 * as one loop over an explicit stack of frames.
 *
 * Nodes are linked where they belong when they begin, so that a text that
 * ends in the middle of something still leaves a tree. After an error all
 * frames are closed and reading goes on behind the place.
 */
#include "config.h"

#include "shell/parser.h"

#include <string.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "base/key.h"

struct frame *ab_parser_enter(struct parser *p, enum state state)
{
	struct frame *below = p->top;
	struct frame *f = below ? below->above : NULL;

	if (!f) {
		f = ab_parser_alloc(p, sizeof(*f));
		f->below = below;
		f->above = NULL;
		if (below)
			below->above = f;
	}
	if (++p->depth > p->max_depth)
		ab_parser_error(p, AB_SHELL_LIMIT, p->pos, p->pos,
				"nested too deeply");
	f->state = (uint8_t)state;
	f->closer = 0;
	f->op = 0;
	f->flags = 0;
	f->parens = 0;
	f->count = 0;
	f->cur = NULL;
	f->word = NULL;
	f->part = NULL;
	p->top = f;
	return f;
}

void ab_parser_error(struct parser *p, enum ab_shell_status status,
		     uint32_t begin, uint32_t end, const char *message)
{
	p->is_unwinding = true;
	if (p->status != AB_SHELL_OK && status != AB_SHELL_LIMIT)
		return;
	if (p->status == AB_SHELL_LIMIT)
		return;
	p->status = status;
	p->error_begin = begin;
	p->error_end = end;
	p->message = message;
}

/* Notes `message` for the token at pos, and goes behind it. */
void ab_parse_unexpected(struct parser *p, uint32_t begin, const char *message)
{
	if (p->pos <= begin)
		p->pos = begin + (begin < p->len);
	ab_parser_error(p, AB_SHELL_SYNTAX, begin, p->pos, message);
}

void ab_parser_enter_list(struct parser *p, struct cmd **tail,
			  enum closer closer)
{
	uint32_t begin = p->pos;
	struct frame *f = ab_parser_enter(p, S_COMMAND);

	f->closer = (uint8_t)closer;
	f->begin = begin;
	f->tail = f->first = tail;
	f->andor = f->pipe = NULL;
	f->prefix = 0;
	*tail = NULL;
	if (closer == CLOSE_SUBST) {
		p->substs++;
		f->waiting = p->waiting;
		f->waiting_tail = p->waiting_tail;
		p->waiting = NULL;
		p->waiting_tail = &p->waiting;
	}
}

/* The here-documents of a substitution wait behind those around it. */
static void leave_substitution(struct parser *p, const struct frame *f)
{
	p->substs--;
	if (f->waiting) {
		*f->waiting_tail = p->waiting;
		if (!p->waiting)
			p->waiting_tail = f->waiting_tail;
		p->waiting = f->waiting;
	}
}

enum reserved ab_parse_reserved(const struct parser *p, const struct word *w)
{
	enum ab_builtin builtin;

	if (w->parts)
		return R_NONE;
	return ab_parse_name(p->s + w->begin, w->end - w->begin, &builtin);
}

void ab_parse_newline(struct parser *p)
{
	p->pos++;
	if (p->waiting)
		ab_lex_here_documents(p);
}

void ab_parse_skip_more(struct parser *p)
{
	while (p->s[p->pos] == '\n') {
		ab_parse_newline(p);
		ab_lex_blanks(p);
	}
}

/* The reserved word at pos, which may hold line continuations. Does not
 * move; *end is behind it. */
enum reserved ab_parse_peek(const struct parser *p, uint32_t *end)
{
	unsigned char text[9] = { 0 };
	enum ab_builtin builtin;
	uint32_t len = 0, at = ab_lex_skip_joins(p, p->pos);

	while (len < 9 && ab_shell_class[p->s[at]] < CLS_HARD) {
		text[len++] = p->s[at];
		at = ab_lex_skip_joins(p, at + 1);
	}
	*end = at;
	if (len == 0 || (ab_shell_class[p->s[at]] != CLS_END &&
			 ab_shell_class[p->s[at]] != CLS_OPEN &&
			 ab_shell_class[p->s[at]] != CLS_ANGLE &&
			 at < p->len))
		return R_NONE;
	return ab_parse_name(text, len, &builtin);
}

/*
 * The end of a list.
 */

static bool closes(enum closer closer, enum reserved r)
{
	switch (closer) {
	case CLOSE_EOF:
		return false;
	case CLOSE_PAREN:
	case CLOSE_SUBST:
		return r == R_PAREN;
	case CLOSE_BRACE:
		return r == R_CLOSE;
	case CLOSE_THEN:
		return r == R_THEN;
	case CLOSE_FI:
		return r == R_FI || r == R_ELSE || r == R_ELIF;
	case CLOSE_ELSE_FI:
		return r == R_FI;
	case CLOSE_DO:
		return r == R_DO;
	case CLOSE_DONE:
		return r == R_DONE;
	case CLOSE_CASE:
		return r == R_ESAC || (r >= R_TERM && r <= R_TERM_NEXT);
	case CLOSE_ONE:
		return r == R_ONE;
	}
	return false;
}

/* `r` was read at begin..pos where a command could stand. */
void ab_parse_close(struct parser *p, struct frame *f, enum reserved r,
		       uint32_t begin)
{
	enum closer closer = (enum closer)f->closer;
	bool may_be_empty = closer == CLOSE_SUBST || closer == CLOSE_CASE;

	if (!closes(closer, r) || (f->flags & FRAME_NEEDS) || f->prefix ||
	    (!may_be_empty && f->tail == f->first)) {
		ab_parse_unexpected(p, begin,
				    "syntax error at an unexpected word");
		return;
	}
	if (closer == CLOSE_SUBST) {
		leave_substitution(p, f);
		f->part->end = begin;
		ab_parser_leave(p);
		return;
	}
	ab_parser_leave(p);
	ab_parse_continue(p, r);
}

/*
 * Where a command begins.
 */

/* A reserved word where a command begins. */
static void reserved_word(struct parser *p, struct frame *f, enum reserved r,
			  uint32_t begin)
{
	if (f->closer == CLOSE_ONE && (r < R_IF || r > R_COND)) {
		ab_parse_unexpected(p, begin,
				    "a function needs a compound command");
		return;
	}
	switch (r) {
	case R_BANG:
	case R_TIME:
		if (f->pipe) {
			ab_parse_unexpected(p, begin,
					    "unexpected word in a pipeline");
			return;
		}
		f->prefix |= r == R_BANG ? CMD_BANG : CMD_TIME;
		if (r == R_TIME) {
			ab_lex_blanks(p);
			if (p->s[p->pos] == '-' && ab_parse_is_word(p, "-p", 2))
				p->pos += 2;
			ab_lex_blanks(p);
			if (p->s[p->pos] == '-' && ab_parse_is_word(p, "--", 2))
				p->pos += 2;
		}
		return;
	case R_COPROC:
		f->prefix |= CMD_COPROC;
		return;
	default:
		break;
	}
	if (r >= R_THEN) {
		ab_parse_close(p, f, r, begin);
		return;
	}
	ab_parse_start_compound(p, f, ab_parse_cmd(p, f, CMD_SIMPLE, begin), r);
}

/* ;; and its kin at pos. */
static void case_terminator(struct parser *p, struct frame *f)
{
	uint32_t begin = p->pos, next = ab_lex_skip_joins(p, begin + 1);
	enum reserved r = R_TERM;

	p->pos = next + 1;
	if (p->s[next] == '&')
		r = R_TERM_FALL;
	else if (p->s[p->pos] == '&') {
		p->pos++;
		r = R_TERM_NEXT;
	}
	ab_parse_close(p, f, r, begin);
}

static void end_of_text(struct parser *p, struct frame *f)
{
	if (f->closer != CLOSE_EOF || (f->flags & FRAME_NEEDS)) {
		static const char *const messages[] = {
			[CLOSE_EOF] = "the text ends after an operator",
			[CLOSE_PAREN] = "unterminated '('",
			[CLOSE_SUBST] = "unterminated substitution",
			[CLOSE_BRACE] = "unterminated '{'",
			[CLOSE_THEN] = "unterminated 'if'",
			[CLOSE_FI] = "unterminated 'if'",
			[CLOSE_ELSE_FI] = "unterminated 'if'",
			[CLOSE_DO] = "unterminated loop",
			[CLOSE_DONE] = "unterminated loop",
			[CLOSE_CASE] = "unterminated 'case'",
			[CLOSE_ONE] = "unterminated function",
		};

		ab_parser_error(p, AB_SHELL_UNTERMINATED, f->begin, p->len,
				messages[f->closer]);
		return;
	}
	if (f->prefix & CMD_COPROC)
		ab_parser_error(p, AB_SHELL_UNTERMINATED, f->begin, p->len,
				"the text ends after 'coproc'");
	if (f->prefix)
		ab_parse_cmd(p, f, CMD_SIMPLE, p->pos);
	p->is_done = true;
}

/* An operator where a command should begin. False: it is no operator. */
static bool operator_first(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s + p->pos;
	unsigned char second = p->s[ab_lex_skip_joins(p, p->pos + 1)];

	switch (s[0]) {
	case '\n':
		if (f->prefix & CMD_COPROC)
			break;
		if (f->prefix) {
			ab_parse_cmd(p, f, CMD_SIMPLE, p->pos);
			ab_parse_finish(f, CMD_OP_NEXT);
		}
		ab_parse_newline(p);
		return true;
	case ';':
		if (second == ';' || second == '&') {
			case_terminator(p, f);
			return true;
		}
		if (f->prefix && !(f->prefix & CMD_COPROC)) {
			ab_parse_cmd(p, f, CMD_SIMPLE, p->pos++);
			ab_parse_finish(f, CMD_OP_NEXT);
			return true;
		}
		break;
	case '&':
		if (second == '>')
			return false;
		break;
	case '|':
		break;
	case ')':
		p->pos++;
		ab_parse_close(p, f, R_PAREN, p->pos - 1);
		return true;
	default:
		return false;
	}
	ab_parse_unexpected(p, p->pos, "unexpected operator");
	return true;
}

/* Reserved words of bash, and `in` where a command begins: names of commands
 * to dash. */
static bool is_of_bash(enum reserved r)
{
	return r == R_COND || r == R_FUNCTION || r == R_SELECT ||
	       r == R_COPROC || r == R_TIME || r == R_STRAY;
}

/* A word that is read in pieces: R_NONE, or it is gone and was reserved. */
static enum reserved joined_reserved(struct parser *p)
{
	uint32_t hard = p->top->begin, end;
	enum reserved r;

	if (p->s[hard] != '\\' || p->s[hard + 1] != '\n')
		return R_NONE;
	r = ab_parse_peek(p, &end);
	if (r != R_NONE) {
		ab_parser_leave(p);
		p->pos = end;
	}
	return r;
}

static bool has_param(const struct word *w)
{
	const struct part *part = w->parts;

	while (part && part->kind != PART_PARAM)
		part = part->next;
	return part;
}

static void step_command(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s;
	struct word *w;
	enum reserved r;
	uint32_t at;

	if (!f->prefix && f->closer != CLOSE_ONE) {
		ab_parse_plain(p, f);
		if (f->state != S_COMMAND)
			return;
	}
	ab_lex_blanks(p);
	at = p->pos;
	if (at >= p->len) {
		end_of_text(p, f);
		return;
	}
	if (operator_first(p, f))
		return;
	if (s[at] == '(') {
		if (s[at + 1] == '(' && ab_lex_is_arith(p, at + 2))
			ab_parse_start_arith(p, f);
		else
			ab_parse_start_subshell(p, f, NULL);
		return;
	}
	if (s[at] == '!' && s[at + 1] == '(' && !f->pipe) {
		p->pos++;
		f->prefix |= CMD_BANG;
		return;
	}
	if (f->closer != CLOSE_ONE &&
	    ((s[at] == '&' && s[at + 1] == '>') ||
	     ((s[at] == '<' || s[at] == '>') && s[at + 1] != '('))) {
		ab_parse_cmd(p, f, CMD_SIMPLE, at);
		f->state = S_ARGS;
		return;
	}
	w = ab_parser_alloc(p, sizeof(*w));
	ab_lex_word(p, w, FRAME_ASSIGN_OK);
	r = p->top == f ? ab_parse_reserved(p, w) : joined_reserved(p);
	if (p->posix && is_of_bash(r))
		r = R_NONE;
	if (r != R_NONE && (r != R_TIME || !f->pipe)) {
		reserved_word(p, f, r, at);
		return;
	}
	if (f->closer == CLOSE_ONE) {
		if (p->top != f || has_param(w))
			p->pos = at; /* what is in it is looked at */
		ab_parse_unexpected(p, at,
				    "a function needs a compound command");
		return;
	}
	ab_parse_cmd(p, f, CMD_SIMPLE, at);
	f->state = S_ARGS;
	f->op = 0;
	if (p->top == f && ab_parse_is_fd(p, w)) {
		ab_parse_redir(p, f, w);
		return;
	}
	*f->wtail = w;
	f->wtail = &w->next;
	f->word = w;
	if (p->top == f) {
		f->cur->end = p->pos;
		ab_parse_step_args(p, f);
	}
}

/*
 * The loop.
 */

static void step(struct parser *p)
{
	struct frame *f = p->top;

	switch ((enum state)f->state) {
	case S_COMMAND:
		step_command(p, f);
		break;
	case S_ARGS:
		f->cur->end = p->pos;
		ab_parse_step_args(p, f);
		break;
	case S_AFTER:
		ab_parse_step_after(p, f);
		break;
	case S_BODY:
	case S_FOR_WORDS:
	case S_CASE_WORD:
	case S_CASE_PATTERN:
	case S_COND:
	case S_ARRAY:
		ab_parse_step_compound(p, f);
		break;
	default:
		ab_lex_step(p);
		break;
	}
}

/* An operator that waits for its right side in vain is none. */
static void end_list(struct frame *f)
{
	/* next is the first member */
	struct cmd *last = (struct cmd *)(void *)f->tail;

	if (f->state <= S_AFTER && f->tail != f->first)
		last->op = CMD_OP_NEXT;
}

/* After an error: every frame above the first is closed where it stands. */
static void unwind(struct parser *p)
{
	struct frame *f;

	for (f = p->top; f->below; f = f->below) {
		end_list(f);
		if (f->cur) /* a word of it may not have been noted */
			f->cur->flags &= (uint8_t)~CMD_EXACT;
		if (f->word && f->state >= S_WORD) {
			f->word->end = p->pos;
			if (!f->word->parts && f->root == f)
				f->word->end = f->word->begin;
		} else if (f->cur) {
			f->cur->end = p->pos;
		}
		if (f->state < S_WORD && f->closer == CLOSE_SUBST &&
		    f->state <= S_AFTER) {
			leave_substitution(p, f);
			f->part->end = p->pos;
		} else if (f->part && f->state != S_COMMAND) {
			f->part->end = p->pos;
		}
		p->depth--;
	}
	p->top = f;
	if (f->cur) {
		f->cur->flags &= (uint8_t)~CMD_EXACT;
		f->cur->end = p->pos;
		ab_parse_finish(f, CMD_OP_NEXT);
	}
	f->state = S_COMMAND;
	end_list(f);
	f->flags = 0;
	f->prefix = 0;
	f->pipe = f->andor = NULL;
	p->is_unwinding = false;
}

_Noreturn void ab_parser_give_up(struct parser *p)
{
	longjmp(p->no_room, 1);
}

static void parse_all(struct parser *p)
{
	while (!p->is_done) {
		step(p);
		if (!p->is_unwinding)
			continue;
		unwind(p);
		if (p->status == AB_SHELL_LIMIT)
			break;
	}
	if (p->waiting)
		ab_lex_here_documents(p);
}

/*
 * In and out.
 */

struct ab_shell_limits
ab_shell_limits_of(const struct ab_shell_limits *limits, size_t len)
{
	struct ab_shell_limits l = { 0 };

	if (limits)
		l = *limits;
	l.bytes = l.bytes ? l.bytes : 1u << 20;
	l.depth = l.depth ? l.depth : 256;
	l.texts = l.texts ? l.texts : 16;
	l.words = l.words ? l.words : 4096;
	l.value = l.value ? l.value : 1u << 16;
	l.variables = l.variables ? l.variables : 2048;
	if (!l.steps)
		l.steps = 16384 + (uint32_t)(len / 2);
	return l;
}

static void refuse(struct ab_shell_result *result, const char *message)
{
	result->status = AB_SHELL_LIMIT;
	result->span = (struct ab_span){ 0, 0 };
	result->message = message;
}

static void start(struct parser *p, struct ab_shell_tree *tree,
		  enum ab_shell_mode mode)
{
	struct frame *f;

	if (mode == AB_SHELL_COMMANDS) {
		ab_parser_enter_list(p, &tree->list, CLOSE_EOF);
		return;
	}
	tree->word = ab_parser_alloc(p, sizeof(*tree->word));
	memset(tree->word, 0, sizeof(*tree->word));
	/* a list below, so that an error has somewhere to go */
	ab_parser_enter_list(p, &tree->list, CLOSE_EOF);
	f = ab_parser_enter(p, S_HERE);
	f->root = f;
	f->word = tree->word;
	f->ptail = &tree->word->parts;
	f->flags = FRAME_QUOTED;
}

/* False: the arena is full, and what was built so far is half a tree. */
static bool parse(struct parser *p, struct ab_shell_tree *tree,
		  enum ab_shell_mode mode)
{
	if (setjmp(p->no_room))
		return false;
	start(p, tree, mode);
	parse_all(p);
	return true;
}

const struct ab_shell_tree *
ab_shell_parse_text(struct ab_arena *arena, unsigned char *text, uint32_t len,
		    const struct ab_word *source, enum ab_shell_mode mode,
		    const struct ab_shell_limits *limits,
		    struct ab_shell_result *result)
{
	struct ab_shell_tree *tree = ab_arena_low(arena, sizeof(*tree));
	AB_UNINITIALIZED struct parser p;

	if (!tree) {
		refuse(result, "the arena is too small");
		return NULL;
	}
	memset(tree, 0, sizeof(*tree));
	memset(text + len, 0, AB_SHELL_PAD);
	tree->text = text;
	tree->len = len;
	tree->source = source;
	tree->limits = *limits;
	ab_clear(&p, sizeof(p));
	p.arena = arena;
	p.s = text;
	p.len = len;
	p.source = source;
	p.max_depth = limits->depth;
	p.posix = limits->posix;
	p.lookahead = (uint64_t)len * 64 + 4096;
	p.waiting_tail = &p.waiting;
	if (!parse(&p, tree, mode)) {
		refuse(result, "the arena is too small");
		return NULL;
	}
	result->differs |= p.differs;
	result->lacks_end |= p.lacks_end;
	tree->is_guess = p.status != AB_SHELL_OK;
	if (tree->is_guess && (result->status == AB_SHELL_OK ||
			       p.status == AB_SHELL_LIMIT)) {
		result->status = p.status;
		result->span = ab_tree_span(tree, p.error_begin, p.error_end);
		result->message = p.message;
	}
	return tree;
}

const struct ab_shell_tree *ab_tree_plain(struct ab_arena *arena,
					  const struct ab_word *source,
					  unsigned char *text, uint32_t len)
{
	struct ab_shell_tree *tree = ab_arena_low(arena, sizeof(*tree));
	struct word *word = ab_arena_low(arena, sizeof(*word));
	struct ab_word *copy = ab_arena_low(arena, sizeof(*copy));

	if (!tree || !word || !copy)
		return NULL;
	memset(tree, 0, sizeof(*tree));
	memset(word, 0, sizeof(*word));
	*copy = *source;
	copy->text = (const char *)text;
	copy->len = len;
	word->end = len;
	tree->text = text;
	tree->len = len;
	tree->source = copy;
	tree->word = word;
	return tree;
}

const struct ab_shell_tree *ab_shell_parse(struct ab_arena *arena,
					   const char *text, size_t len,
					   const struct ab_shell_limits *limits,
					   struct ab_shell_result *result)
{
	struct ab_shell_limits l = ab_shell_limits_of(limits, len);
	unsigned char *copy;

	memset(result, 0, sizeof(*result));
	if (len > l.bytes || len > UINT32_MAX / 4) {
		refuse(result, "the text is too long");
		return NULL;
	}
	copy = ab_arena_low(arena, len + AB_SHELL_PAD);
	if (!copy) {
		refuse(result, "the arena is too small");
		return NULL;
	}
	ab_copy_text((char *)copy, text, len);
	return ab_shell_parse_text(arena, copy, (uint32_t)len, NULL,
				   AB_SHELL_COMMANDS, &l, result);
}
