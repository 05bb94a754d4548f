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

#include "base/attr.h"

enum reserved {
	R_NONE,
	R_BANG,
	R_TIME,
	R_COPROC,
	/* begin a compound command */
	R_IF,
	R_WHILE,
	R_UNTIL,
	R_FOR,
	R_SELECT,
	R_CASE,
	R_FUNCTION,
	R_OPEN,
	R_COND,
	/* end a list */
	R_THEN,
	R_ELIF,
	R_ELSE,
	R_FI,
	R_DO,
	R_DONE,
	R_ESAC,
	R_CLOSE,
	R_PAREN,
	R_TERM, /* ;; */
	R_TERM_FALL,
	R_TERM_NEXT,
	R_ONE, /* the only command of a function's body */
	R_STRAY /* `in` and `]]`, which nothing begins */
};

static const struct {
	char text[9];
	uint8_t len, reserved;
} reserved_words[] = {
	{ "!", 1, R_BANG },	  { "{", 1, R_OPEN },
	{ "}", 1, R_CLOSE },	  { "[[", 2, R_COND },
	{ "if", 2, R_IF },	  { "fi", 2, R_FI },
	{ "do", 2, R_DO },	  { "for", 3, R_FOR },
	{ "then", 4, R_THEN },	  { "elif", 4, R_ELIF },
	{ "else", 4, R_ELSE },	  { "done", 4, R_DONE },
	{ "case", 4, R_CASE },	  { "esac", 4, R_ESAC },
	{ "time", 4, R_TIME },	  { "while", 5, R_WHILE },
	{ "until", 5, R_UNTIL },  { "select", 6, R_SELECT },
	{ "coproc", 6, R_COPROC }, { "function", 8, R_FUNCTION },
	{ "in", 2, R_STRAY },	  { "]]", 2, R_STRAY },
};

/* Bytes that a reserved word can begin with. */
static const bool reserved_first[256] = {
	['!'] = true, ['{'] = true, ['}'] = true, ['['] = true, ['i'] = true,
	['f'] = true, ['d'] = true, ['t'] = true, ['e'] = true, ['c'] = true,
	['w'] = true, ['u'] = true, ['s'] = true, [']'] = true,
};

/* Builtins whose arguments may be assignments of arrays. */
static const char assign_builtins[][10] = {
	"declare", "export", "local", "readonly", "typeset",
	"alias",   "eval",   "let",
};

void *ab_parser_alloc(struct parser *p, size_t size)
{
	void *memory = ab_arena_low(p->arena, size);

	return memory ? memory : &p->spare;
}

struct frame *ab_parser_enter(struct parser *p, enum state state)
{
	struct frame *below = p->top, *f = below ? below->above : NULL;

	if (!f) {
		f = ab_parser_alloc(p, sizeof(*f));
		f->below = below;
		f->above = NULL;
		if (below && f != &p->spare.frame)
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

void ab_parser_leave(struct parser *p)
{
	p->top = p->top->below;
	p->depth--;
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
static void unexpected(struct parser *p, uint32_t begin, const char *message)
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

static enum reserved reserved_text(const unsigned char *s, uint32_t len)
{
	if (len > 8 || !reserved_first[s[0]])
		return R_NONE;
	for (size_t i = 0; i < AB_ARRAY_LEN(reserved_words); i++)
		if (reserved_words[i].len == len &&
		    reserved_words[i].text[0] == (char)s[0] &&
		    memcmp(reserved_words[i].text, s, len) == 0)
			return (enum reserved)reserved_words[i].reserved;
	return R_NONE;
}

static enum reserved reserved_of(const struct parser *p, const struct word *w)
{
	if (w->parts)
		return R_NONE;
	return reserved_text(p->s + w->begin, w->end - w->begin);
}

static void newline(struct parser *p)
{
	p->pos++;
	if (p->waiting)
		ab_lex_here_documents(p);
}

/* Blanks, comments and newlines. */
static void skip_newlines(struct parser *p)
{
	for (;;) {
		ab_lex_blanks(p);
		if (p->s[p->pos] != '\n')
			return;
		newline(p);
	}
}

static struct cmd *new_cmd(struct parser *p, struct frame *f,
			   enum cmd_kind kind, uint32_t begin)
{
	struct cmd *cmd = ab_parser_alloc(p, sizeof(*cmd));

	memset(cmd, 0, sizeof(*cmd));
	cmd->kind = (uint8_t)kind;
	cmd->begin = cmd->end = begin;
	cmd->flags = (uint8_t)f->prefix;
	*f->tail = cmd;
	f->tail = &cmd->next;
	f->cur = cmd;
	f->wtail = &cmd->words;
	f->rtail = &cmd->redirs;
	if (!f->pipe)
		f->pipe = cmd;
	f->pipe->pipe_count++;
	if (!f->andor)
		f->andor = cmd;
	f->flags = 0;
	f->prefix = 0;
	f->word = NULL;
	return cmd;
}

static void finish_cmd(struct frame *f, enum cmd_op op)
{
	f->cur->op = (uint8_t)op;
	f->cur = NULL;
	f->state = S_COMMAND;
	if (op == CMD_OP_PIPE || op == CMD_OP_PIPE_BOTH) {
		f->flags = FRAME_NEEDS;
		return;
	}
	f->pipe = NULL;
	if (op == CMD_OP_AND || op == CMD_OP_OR) {
		f->flags = FRAME_NEEDS;
		return;
	}
	if (op == CMD_OP_AMP)
		f->andor->flags |= CMD_BACKGROUND;
	f->andor = NULL;
	f->flags = 0;
}

static struct clause *add_clause(struct parser *p, struct clause **tail)
{
	struct clause *clause = ab_parser_alloc(p, sizeof(*clause));

	memset(clause, 0, sizeof(*clause));
	*tail = clause;
	return clause;
}

/* The frame of a compound command, above the list that holds it. */
static struct frame *enter_compound(struct parser *p, enum state state,
				    struct cmd *cmd)
{
	struct frame *f;

	p->top->state = S_AFTER;
	f = ab_parser_enter(p, state);
	f->cur = cmd;
	f->begin = cmd->begin;
	f->clause = add_clause(p, &cmd->clauses);
	f->ctail = &f->clause->next;
	f->wtail = &cmd->words;
	return f;
}

static void leave_compound(struct parser *p)
{
	p->top->cur->end = p->pos;
	ab_parser_leave(p);
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

static void compound_continues(struct parser *p, enum reserved r);

/* `r` was read at begin..pos where a command could stand. */
static void close_list(struct parser *p, struct frame *f, enum reserved r,
		       uint32_t begin)
{
	enum closer closer = (enum closer)f->closer;
	bool may_be_empty = closer == CLOSE_SUBST || closer == CLOSE_CASE;

	if (!closes(closer, r) || (f->flags & FRAME_NEEDS) || f->prefix ||
	    (!may_be_empty && f->tail == f->first)) {
		unexpected(p, begin, "syntax error at an unexpected word");
		return;
	}
	if (closer == CLOSE_SUBST) {
		leave_substitution(p, f);
		f->part->end = begin;
		ab_parser_leave(p);
		return;
	}
	ab_parser_leave(p);
	compound_continues(p, r);
}

/*
 * Compound commands.
 */

static void start_for(struct parser *p, struct cmd *cmd)
{
	struct frame *f;
	struct word *name;

	ab_lex_blanks(p);
	if (cmd->kind == CMD_FOR && p->s[p->pos] == '(' &&
	    p->s[p->pos + 1] == '(') {
		uint32_t begin = p->pos;

		cmd->kind = CMD_CFOR;
		f = enter_compound(p, S_BODY, cmd);
		f->op = 1; /* the arithmetic is being read */
		p->pos += 2;
		name = ab_parser_alloc(p, sizeof(*name));
		memset(name, 0, sizeof(*name));
		*f->wtail = name;
		name->begin = p->pos;
		f = ab_parser_enter(p, S_ARITH);
		f->root = f;
		f->word = name;
		f->ptail = &name->parts;
		f->begin = begin;
		f->flags = FRAME_COMMAND;
		return;
	}
	cmd->name = p->pos;
	while (!ab_shell_class[p->s[p->pos]] ||
	       (ab_shell_class[p->s[p->pos]] < CLS_HARD))
		p->pos++;
	cmd->name_len = p->pos - cmd->name;
	if (cmd->name_len == 0) {
		unexpected(p, cmd->name, "'for' needs a name");
		return;
	}
	enter_compound(p, S_FOR_WORDS, cmd);
}

/* (( at pos. */
static void start_arith(struct parser *p, struct frame *list)
{
	struct cmd *cmd = new_cmd(p, list, CMD_ARITH, p->pos);
	struct word *word = ab_parser_alloc(p, sizeof(*word));
	struct frame *f;

	list->state = S_AFTER;
	memset(word, 0, sizeof(*word));
	*list->wtail = word;
	p->pos += 2;
	word->begin = p->pos;
	f = ab_parser_enter(p, S_ARITH);
	f->root = f;
	f->word = word;
	f->ptail = &word->parts;
	f->begin = cmd->begin;
	f->flags = FRAME_COMMAND;
}

static void start_subshell(struct parser *p, struct frame *list)
{
	struct cmd *cmd = new_cmd(p, list, CMD_SUBSHELL, p->pos);
	struct frame *f;

	p->pos++;
	f = enter_compound(p, S_PAREN, cmd);
	ab_parser_enter_list(p, &f->clause->body, CLOSE_PAREN);
}

/* The body of a function: one compound command. */
static void start_body(struct parser *p, struct frame *list, struct cmd *cmd)
{
	struct clause *clause = add_clause(p, &cmd->clauses);

	list->state = S_AFTER;
	skip_newlines(p);
	ab_parser_enter_list(p, &clause->body, CLOSE_ONE);
}

static void start_function(struct parser *p, struct frame *list,
			   struct cmd *cmd)
{
	struct word *name = ab_parser_alloc(p, sizeof(*name));

	ab_lex_blanks(p);
	ab_lex_word(p, name, 0);
	if (p->top != list || name->end == name->begin) {
		unexpected(p, p->pos, "'function' needs a name");
		return;
	}
	cmd->name = name->begin;
	cmd->name_len = name->end - name->begin;
	ab_lex_blanks(p);
	if (p->s[p->pos] == '(') {
		uint32_t open = p->pos++;

		ab_lex_blanks(p);
		if (p->s[p->pos] == ')') {
			p->pos++;
		} else {
			p->pos = open; /* the body is a subshell */
		}
	}
	start_body(p, list, cmd);
}

/* `cmd`, just begun, becomes what reserved word `r` begins. */
static void start_compound(struct parser *p, struct frame *list,
			   struct cmd *cmd, enum reserved r)
{
	struct frame *f;

	switch (r) {
	case R_IF:
		cmd->kind = CMD_IF;
		f = enter_compound(p, S_IF, cmd);
		ab_parser_enter_list(p, &f->clause->cond, CLOSE_THEN);
		break;
	case R_WHILE:
	case R_UNTIL:
		cmd->kind = r == R_WHILE ? CMD_WHILE : CMD_UNTIL;
		f = enter_compound(p, S_LOOP, cmd);
		ab_parser_enter_list(p, &f->clause->cond, CLOSE_DO);
		break;
	case R_FOR:
	case R_SELECT:
		cmd->kind = r == R_FOR ? CMD_FOR : CMD_SELECT;
		start_for(p, cmd);
		break;
	case R_CASE:
		cmd->kind = CMD_CASE;
		f = enter_compound(p, S_CASE_WORD, cmd);
		f->clause = NULL;
		f->ctail = &cmd->clauses;
		cmd->clauses = NULL;
		break;
	case R_FUNCTION:
		cmd->kind = CMD_FUNCTION;
		start_function(p, list, cmd);
		break;
	case R_OPEN:
		cmd->kind = CMD_GROUP;
		f = enter_compound(p, S_BRACE, cmd);
		ab_parser_enter_list(p, &f->clause->body, CLOSE_BRACE);
		break;
	default:
		cmd->kind = CMD_COND;
		enter_compound(p, S_COND, cmd)->clause = NULL;
		cmd->clauses = NULL;
		break;
	}
}

/* A list of the compound command on top was closed by `r`. */
static void compound_continues(struct parser *p, enum reserved r)
{
	struct frame *f = p->top;

	switch ((enum state)f->state) {
	case S_IF:
		f->state = S_THEN;
		ab_parser_enter_list(p, &f->clause->body, CLOSE_FI);
		break;
	case S_THEN:
		if (r == R_FI) {
			leave_compound(p);
			break;
		}
		f->clause = add_clause(p, f->ctail);
		f->ctail = &f->clause->next;
		f->state = r == R_ELIF ? S_IF : S_ELSE;
		if (r == R_ELIF)
			ab_parser_enter_list(p, &f->clause->cond, CLOSE_THEN);
		else
			ab_parser_enter_list(p, &f->clause->body,
					     CLOSE_ELSE_FI);
		break;
	case S_LOOP:
		f->state = S_DO;
		ab_parser_enter_list(p, &f->clause->body, CLOSE_DONE);
		break;
	case S_CASE_BODY:
		if (r == R_ESAC) {
			leave_compound(p);
			break;
		}
		f->clause->term = r == R_TERM_FALL ? TERM_FALL :
				  r == R_TERM_NEXT ? TERM_NEXT :
						     TERM_BREAK;
		f->state = S_CASE_PATTERN;
		f->op = 0;
		break;
	case S_AFTER: /* the body of a function */
		f->cur->end = p->pos;
		break;
	default: /* S_ELSE, S_DO, S_PAREN, S_BRACE */
		leave_compound(p);
		break;
	}
}

/* The reserved word at pos, which may hold line continuations. Does not
 * move; *end is behind it. */
static enum reserved peek_reserved(const struct parser *p, uint32_t *end)
{
	unsigned char text[9] = { 0 };
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
	return reserved_text(text, len);
}

/* `do` or `{` after the head of a loop. */
static void step_body(struct parser *p, struct frame *f)
{
	enum reserved r;
	uint32_t end;

	if (f->op == 1) { /* for ((...)) was read */
		f->op = 0;
		if (p->semicolons != 2) {
			unexpected(p, f->begin, "'for ((' needs two ';'");
			return;
		}
		ab_lex_blanks(p);
		if (p->s[p->pos] == ';')
			p->pos++;
	}
	skip_newlines(p);
	r = peek_reserved(p, &end);
	if (r != R_DO && r != R_OPEN) {
		unexpected(p, p->pos, "a loop needs 'do'");
		return;
	}
	p->pos = end;
	f->state = S_DO;
	ab_parser_enter_list(p, &f->clause->body,
			     r == R_DO ? CLOSE_DONE : CLOSE_BRACE);
}

/* A word into the list at f->wtail. True: it is complete. */
static bool add_word(struct parser *p, struct frame *f, uint32_t flags)
{
	struct word *w = ab_parser_alloc(p, sizeof(*w));

	*f->wtail = w;
	f->wtail = &w->next;
	ab_lex_word(p, w, flags);
	if (p->top == f && w->begin == w->end) {
		p->pos = w->begin;
		unexpected(p, w->begin, "a word is missing");
		return false;
	}
	return p->top == f;
}

static bool is_word_at(const struct parser *p, const char *text, uint32_t len)
{
	return memcmp(p->s + p->pos, text, len) == 0 &&
	       (ab_shell_class[p->s[p->pos + len]] >= CLS_HARD);
}

/* After `for NAME`: [in WORDS] and the end of the head. */
static void step_for(struct parser *p, struct frame *f)
{
	if (f->op == 0) {
		ab_lex_blanks(p);
		if (p->s[p->pos] == ';') {
			p->pos++;
			f->state = S_BODY;
			return;
		}
		skip_newlines(p);
		if (p->len - p->pos < 2 || !is_word_at(p, "in", 2)) {
			f->state = S_BODY;
			return;
		}
		p->pos += 2;
		f->cur->flags |= CMD_HAS_WORDS;
		f->op = 2;
	}
	for (;;) {
		ab_lex_blanks(p);
		if (p->s[p->pos] == '\n' || p->s[p->pos] == ';') {
			if (p->s[p->pos] == '\n')
				newline(p);
			else
				p->pos++;
			f->op = 0;
			f->state = S_BODY;
			return;
		}
		if (!add_word(p, f, 0))
			return;
	}
}

static void step_case_word(struct parser *p, struct frame *f)
{
	if (f->op == 0) {
		f->op = 1;
		ab_lex_blanks(p);
		if (!add_word(p, f, 0))
			return;
	}
	skip_newlines(p);
	if (p->len - p->pos < 2 || !is_word_at(p, "in", 2)) {
		unexpected(p, p->pos, "'case' needs 'in'");
		return;
	}
	p->pos += 2;
	f->state = S_CASE_PATTERN;
	f->op = 0;
}

/* f->op: 0 before a clause, 1 before a pattern, 2 after one. */
static void step_case_pattern(struct parser *p, struct frame *f)
{
	uint32_t end;

	if (f->op == 0) {
		skip_newlines(p);
		if (peek_reserved(p, &end) == R_ESAC) {
			p->pos = end;
			leave_compound(p);
			return;
		}
		f->clause = add_clause(p, f->ctail);
		f->ctail = &f->clause->next;
		f->wtail = &f->clause->words;
		if (p->s[p->pos] == '(')
			p->pos++;
		f->op = 1;
	}
	for (;;) {
		ab_lex_blanks(p);
		if (f->op == 1) {
			f->op = 2;
			if (!add_word(p, f, 0))
				return;
			continue;
		}
		if (p->s[p->pos] == '|') {
			p->pos++;
			f->op = 1;
			continue;
		}
		if (p->s[p->pos] != ')') {
			unexpected(p, p->pos, "a pattern needs ')'");
			return;
		}
		p->pos++;
		f->state = S_CASE_BODY;
		ab_parser_enter_list(p, &f->clause->body, CLOSE_CASE);
		return;
	}
}

/* An operator inside [[ ]]: its length, 0 when there is a word. */
static uint32_t cond_operator(const struct parser *p)
{
	const unsigned char *s = p->s + p->pos;

	if ((s[0] == '&' && s[1] == '&') || (s[0] == '|' && s[1] == '|'))
		return 2;
	if (s[0] == '(' || s[0] == ')')
		return 1;
	if ((s[0] == '<' || s[0] == '>') && s[1] != '(')
		return 1;
	return 0;
}

/* Words and operators up to ]], all of them in words. What they mean is left
 * open; bash's own parser runs on after an error in here. */
static void step_cond(struct parser *p, struct frame *f)
{
	struct word *w;

	for (;;) {
		uint32_t len, at;

		skip_newlines(p);
		at = p->pos;
		if (p->s[at] == ']' && is_word_at(p, "]]", 2)) {
			p->pos += 2;
			leave_compound(p);
			return;
		}
		len = cond_operator(p);
		if (!len) {
			uint32_t flags = f->op ? FRAME_REGEX : 0;

			f->op = p->s[at] == '=' && p->s[at + 1] == '~' &&
				ab_shell_class[p->s[at + 2]] == CLS_END;
			if (at >= p->len) {
				ab_parser_error(p, AB_SHELL_UNTERMINATED,
						f->begin, p->len,
						"unterminated '[['");
				return;
			}
			if (!add_word(p, f, flags))
				return;
			continue;
		}
		if (f->op) { /* a pattern that begins with ( */
			f->op = 0;
			if (!add_word(p, f, FRAME_REGEX))
				return;
			continue;
		}
		w = ab_parser_alloc(p, sizeof(*w));
		memset(w, 0, sizeof(*w));
		w->begin = at;
		w->end = p->pos = at + len;
		*f->wtail = w;
		f->wtail = &w->next;
	}
}

static void step_array(struct parser *p, struct frame *f)
{
	for (;;) {
		skip_newlines(p);
		if (p->s[p->pos] == ')') {
			f->part->end = p->pos++;
			ab_parser_leave(p);
			return;
		}
		if (p->pos >= p->len) {
			ab_parser_error(p, AB_SHELL_UNTERMINATED, f->begin,
					p->len, "unterminated array");
			return;
		}
		if (!add_word(p, f, FRAME_ASSIGN_OK | FRAME_IN_PARAM))
			return;
	}
}

/*
 * Simple commands.
 */

/* The operator of a redirection at pos: its length, 0 when there is none. */
static uint32_t redir_operator(const struct parser *p, struct redir *r)
{
	static const struct {
		char text[4];
		uint8_t len, kind;
	} table[] = {
		{ "&>>", 3, AB_REDIR_APPEND_BOTH },
		{ "<<<", 3, AB_REDIR_HERE_STRING },
		{ "<<-", 3, AB_REDIR_HERE_DOC },
		{ "<<", 2, AB_REDIR_HERE_DOC },
		{ "<&", 2, AB_REDIR_DUP_IN },
		{ "<>", 2, AB_REDIR_READ_WRITE },
		{ ">>", 2, AB_REDIR_APPEND },
		{ ">&", 2, AB_REDIR_DUP_OUT },
		{ ">|", 2, AB_REDIR_CLOBBER },
		{ "&>", 2, AB_REDIR_WRITE_BOTH },
		{ "<", 1, AB_REDIR_READ },
		{ ">", 1, AB_REDIR_WRITE },
	};
	const unsigned char *s = p->s + p->pos;

	for (size_t i = 0; i < AB_ARRAY_LEN(table); i++)
		if (memcmp(table[i].text, s, table[i].len) == 0) {
			r->kind = table[i].kind;
			r->is_stripped = s[1] == '<' && s[2] == '-';
			return table[i].len;
		}
	return 0;
}

static int32_t redir_fd(const struct parser *p, const struct redir *r,
			const struct word *number)
{
	uint32_t fd = 0;

	if (!number)
		return p->s[r->begin] != '<';
	if (p->s[number->begin] == '{')
		return -1;
	for (uint32_t i = number->begin; i < number->end; i++)
		fd = fd < 100000 ? fd * 10 + p->s[i] - '0' : fd;
	return (int32_t)fd;
}

/* A redirection whose operator is at pos; `number` is the word before it. */
static void add_redir(struct parser *p, struct frame *f,
		      const struct word *number)
{
	struct redir *r = ab_parser_alloc(p, sizeof(*r));
	uint32_t len;

	memset(r, 0, sizeof(*r));
	r->begin = number ? number->begin : p->pos;
	len = redir_operator(p, r);
	r->fd = redir_fd(p, r, number);
	if (r->fd < 0) {
		r->fd_name = number->begin + 1;
		r->fd_name_len = number->end - number->begin - 2;
	}
	p->pos += len;
	ab_lex_blanks(p);
	*f->rtail = r;
	f->rtail = &r->next;
	ab_lex_word(p, &r->target, 0);
	if (p->top == f && r->target.begin == r->target.end) {
		unexpected(p, p->pos, "a redirection needs a target");
		return;
	}
	if (r->kind == AB_REDIR_HERE_DOC) {
		r->waiting = NULL;
		*p->waiting_tail = r;
		p->waiting_tail = &r->waiting;
	}
}

/* Whether the plain word, with < or > right behind it, is part of that. */
static bool is_fd(const struct parser *p, const struct word *w)
{
	const unsigned char *s = p->s;
	uint32_t i = w->begin, end = w->end;

	if (w->parts || i == end || (s[p->pos] != '<' && s[p->pos] != '>'))
		return false;
	if (s[i] == '{' && s[end - 1] == '}') {
		for (i++; i < end - 1 && ab_shell_name[s[i]]; i++)
			;
		return i == end - 1 && end - w->begin > 2;
	}
	while (i < end && ab_shell_name[s[i]] == AB_DIGIT)
		i++;
	return i == end;
}

static bool is_assign_builtin(const struct parser *p, const struct word *w)
{
	uint32_t len = w->end - w->begin;

	if (w->parts || len < 3 || len > 8)
		return false;
	for (size_t i = 0; i < AB_ARRAY_LEN(assign_builtins); i++)
		if (assign_builtins[i][0] == (char)p->s[w->begin] &&
		    memcmp(assign_builtins[i], p->s + w->begin, len) == 0 &&
		    assign_builtins[i][len] == 0)
			return true;
	return false;
}

/* A complete word has joined the simple command. */
static void note_word(const struct parser *p, struct frame *f,
		      const struct word *w)
{
	f->word = NULL;
	if (w->assign || (f->cur->flags & CMD_HAS_CALL))
		return;
	f->cur->flags |= CMD_HAS_CALL;
	f->op = is_assign_builtin(p, w);
}

/* NAME () of a function: `(` is at pos. */
static void function_parens(struct parser *p, struct frame *f)
{
	struct cmd *cmd = f->cur;
	struct word *w = cmd->words;
	uint32_t begin = p->pos++;

	ab_lex_blanks(p);
	if (p->s[p->pos] != ')' || !w || w->next || w->assign || cmd->redirs) {
		p->pos = begin;
		unexpected(p, begin, "unexpected '('");
		return;
	}
	p->pos++;
	cmd->kind = CMD_FUNCTION;
	cmd->name = w->begin;
	cmd->name_len = w->end - w->begin;
	cmd->words = NULL;
	f->wtail = &cmd->words;
	start_body(p, f, cmd);
}

/* ;, &, | and newline after a command. False: none of them is here. */
static bool operator_after(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s;
	uint32_t at = p->pos, next = ab_lex_skip_joins(p, at + 1);
	enum cmd_op op;

	switch (s[at]) {
	case '\n':
		f->cur->end = f->cur->kind == CMD_SIMPLE ? at : f->cur->end;
		finish_cmd(f, CMD_OP_NEXT);
		newline(p);
		return true;
	case ';':
		op = CMD_OP_NEXT;
		if (s[next] == ';' || s[next] == '&') {
			finish_cmd(f, CMD_OP_NEXT); /* left to step_command */
			return true;
		}
		break;
	case '&':
		op = s[next] == '&' ? CMD_OP_AND : CMD_OP_AMP;
		break;
	case '|':
		op = s[next] == '|' ? CMD_OP_OR :
		     s[next] == '&' ? CMD_OP_PIPE_BOTH :
				      CMD_OP_PIPE;
		break;
	default:
		return false;
	}
	p->pos = op == CMD_OP_AND || op == CMD_OP_OR || op == CMD_OP_PIPE_BOTH ?
			 next + 1 :
			 at + 1;
	finish_cmd(f, op);
	return true;
}

/* Common to simple commands and what follows a compound: true when the token
 * at pos was dealt with. */
static bool step_tail(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s + p->pos;

	switch (s[0]) {
	case '&':
		if (s[1] == '>') {
			add_redir(p, f, NULL);
			return true;
		}
		/* fall through */
	case '\n':
	case ';':
	case '|':
		if (f->closer == CLOSE_ONE) {
			finish_cmd(f, CMD_OP_END);
			close_list(p, f, R_ONE, p->pos);
			return true;
		}
		return operator_after(p, f);
	case '<':
	case '>':
		if (s[1] == '(')
			return false;
		add_redir(p, f, NULL);
		return true;
	case ')':
		if (f->closer == CLOSE_ONE) {
			finish_cmd(f, CMD_OP_END);
			close_list(p, f, R_ONE, p->pos);
			return true;
		}
		finish_cmd(f, CMD_OP_END);
		return true;
	case '\0':
		if (p->pos < p->len)
			return false;
		finish_cmd(f, CMD_OP_END);
		if (f->closer == CLOSE_ONE)
			close_list(p, f, R_ONE, p->pos);
		return true;
	default:
		return false;
	}
}

/* coproc NAME compound: the word before was a name. */
static bool coproc_name(struct parser *p, struct frame *f)
{
	struct cmd *cmd = f->cur;
	enum reserved r;
	uint32_t end;

	if (!(cmd->flags & CMD_COPROC) || !cmd->words || cmd->words->next ||
	    cmd->redirs)
		return false;
	r = peek_reserved(p, &end);
	if (p->s[p->pos] != '(' && (r < R_IF || r > R_COND))
		return false;
	cmd->name = cmd->words->begin;
	cmd->name_len = cmd->words->end - cmd->words->begin;
	cmd->words = NULL;
	if (p->s[p->pos] == '(') {
		cmd->kind = CMD_SUBSHELL;
		p->pos++;
		ab_parser_enter_list(
			p, &enter_compound(p, S_PAREN, cmd)->clause->body,
			CLOSE_PAREN);
		return true;
	}
	p->pos = end;
	start_compound(p, f, cmd, r);
	return true;
}

static void step_args(struct parser *p, struct frame *f)
{
	if (f->word)
		note_word(p, f, f->word);
	while (!p->is_unwinding) {
		uint32_t flags;
		struct word *w;

		ab_lex_blanks(p);
		if (step_tail(p, f))
			return;
		if (coproc_name(p, f))
			return;
		if (p->s[p->pos] == '(') {
			function_parens(p, f);
			return;
		}
		flags = !(f->cur->flags & CMD_HAS_CALL) || f->op ?
				FRAME_ASSIGN_OK :
				0;
		w = ab_parser_alloc(p, sizeof(*w));
		ab_lex_word(p, w, flags);
		if (p->top == f && is_fd(p, w)) {
			add_redir(p, f, w);
			return;
		}
		*f->wtail = w;
		f->wtail = &w->next;
		if (p->top != f) {
			f->word = w;
			return;
		}
		note_word(p, f, w);
		f->cur->end = p->pos;
	}
}

/* After a compound command: redirections, an operator, or at once what ends
 * the list around it, as in `fi done` and `} }`. */
static void step_after(struct parser *p, struct frame *f)
{
	struct word w = { 0 };
	enum reserved r;
	uint32_t end;

	ab_lex_blanks(p);
	if (step_tail(p, f))
		return;
	w.begin = w.end = p->pos;
	while (ab_shell_class[p->s[w.end]] < CLS_HARD)
		w.end++;
	p->pos = w.end;
	if (is_fd(p, &w)) {
		add_redir(p, f, &w);
		return;
	}
	p->pos = w.begin;
	r = peek_reserved(p, &end);
	if (f->closer == CLOSE_EOF || r < R_THEN || r > R_CLOSE) {
		unexpected(p, w.begin,
			   "unexpected word after a compound command");
		return;
	}
	finish_cmd(f, CMD_OP_END);
	if (f->closer == CLOSE_ONE) {
		close_list(p, f, R_ONE, w.begin);
		return;
	}
	p->pos = end;
	close_list(p, f, r, w.begin);
}

/* A reserved word where a command begins. */
static void reserved_word(struct parser *p, struct frame *f, enum reserved r,
			  uint32_t begin)
{
	if (f->closer == CLOSE_ONE && (r < R_IF || r > R_COND)) {
		unexpected(p, begin, "a function needs a compound command");
		return;
	}
	switch (r) {
	case R_BANG:
	case R_TIME:
		if (f->pipe) {
			unexpected(p, begin, "unexpected word in a pipeline");
			return;
		}
		f->prefix |= r == R_BANG ? CMD_BANG : CMD_TIME;
		if (r == R_TIME) {
			ab_lex_blanks(p);
			if (p->s[p->pos] == '-' && is_word_at(p, "-p", 2))
				p->pos += 2;
			ab_lex_blanks(p);
			if (p->s[p->pos] == '-' && is_word_at(p, "--", 2))
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
		close_list(p, f, r, begin);
		return;
	}
	start_compound(p, f, new_cmd(p, f, CMD_SIMPLE, begin), r);
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
	close_list(p, f, r, begin);
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
		new_cmd(p, f, CMD_SIMPLE, p->pos);
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
			new_cmd(p, f, CMD_SIMPLE, p->pos);
			finish_cmd(f, CMD_OP_NEXT);
		}
		newline(p);
		return true;
	case ';':
		if (second == ';' || second == '&') {
			case_terminator(p, f);
			return true;
		}
		if (f->prefix && !(f->prefix & CMD_COPROC)) {
			new_cmd(p, f, CMD_SIMPLE, p->pos++);
			finish_cmd(f, CMD_OP_NEXT);
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
		close_list(p, f, R_PAREN, p->pos - 1);
		return true;
	default:
		return false;
	}
	unexpected(p, p->pos, "unexpected operator");
	return true;
}

/* A word that is read in pieces: R_NONE, or it is gone and was reserved. */
static enum reserved joined_reserved(struct parser *p)
{
	uint32_t hard = p->top->begin, end;
	enum reserved r;

	if (p->s[hard] != '\\' || p->s[hard + 1] != '\n')
		return R_NONE;
	r = peek_reserved(p, &end);
	if (r != R_NONE) {
		ab_parser_leave(p);
		p->pos = end;
	}
	return r;
}

static void step_command(struct parser *p, struct frame *f)
{
	const unsigned char *s = p->s;
	struct word *w;
	enum reserved r;
	uint32_t at;

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
			start_arith(p, f);
		else
			start_subshell(p, f);
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
		new_cmd(p, f, CMD_SIMPLE, at);
		f->state = S_ARGS;
		return;
	}
	w = ab_parser_alloc(p, sizeof(*w));
	ab_lex_word(p, w, FRAME_ASSIGN_OK);
	r = p->top == f ? reserved_of(p, w) : joined_reserved(p);
	if (r != R_NONE && (r != R_TIME || !f->pipe)) {
		reserved_word(p, f, r, at);
		return;
	}
	if (f->closer == CLOSE_ONE) {
		unexpected(p, at, "a function needs a compound command");
		return;
	}
	new_cmd(p, f, CMD_SIMPLE, at);
	f->state = S_ARGS;
	f->op = 0;
	if (p->top == f && is_fd(p, w)) {
		add_redir(p, f, w);
		return;
	}
	*f->wtail = w;
	f->wtail = &w->next;
	f->word = w;
	if (p->top == f) {
		f->cur->end = p->pos;
		step_args(p, f);
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
		step_args(p, f);
		break;
	case S_AFTER:
		step_after(p, f);
		break;
	case S_BODY:
		step_body(p, f);
		break;
	case S_FOR_WORDS:
		step_for(p, f);
		break;
	case S_CASE_WORD:
		step_case_word(p, f);
		break;
	case S_CASE_PATTERN:
		step_case_pattern(p, f);
		break;
	case S_COND:
		step_cond(p, f);
		break;
	case S_ARRAY:
		step_array(p, f);
		break;
	default:
		ab_lex_step(p);
		break;
	}
}

/* After an error: every frame above the first is closed where it stands. */
static void unwind(struct parser *p)
{
	struct frame *f;

	for (f = p->top; f->below; f = f->below) {
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
		f->cur->end = p->pos;
		finish_cmd(f, CMD_OP_NEXT);
	}
	f->state = S_COMMAND;
	f->flags = 0;
	f->prefix = 0;
	f->pipe = f->andor = NULL;
	p->is_unwinding = false;
}

static void parse_all(struct parser *p)
{
	while (!p->is_done && !p->arena->is_full) {
		step(p);
		if (!p->is_unwinding || p->arena->is_full)
			continue;
		unwind(p);
		if (p->status == AB_SHELL_LIMIT)
			break;
	}
	if (p->waiting && !p->arena->is_full)
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

struct ab_span ab_tree_span(const struct ab_shell_tree *tree, uint32_t begin,
			    uint32_t end)
{
	if (tree->source)
		return ab_word_span(tree->source, begin, end - begin);
	return (struct ab_span){ begin, end };
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

const struct ab_shell_tree *
ab_shell_parse_text(struct ab_arena *arena, unsigned char *text, uint32_t len,
		    const struct ab_word *source, enum ab_shell_mode mode,
		    const struct ab_shell_limits *limits,
		    struct ab_shell_result *result)
{
	struct ab_shell_tree *tree = ab_arena_low(arena, sizeof(*tree));
	struct parser p;

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
	memset(&p, 0, sizeof(p));
	p.arena = arena;
	p.s = text;
	p.len = len;
	p.source = source;
	p.max_depth = limits->depth;
	p.lookahead = (uint64_t)len * 64 + 4096;
	p.waiting_tail = &p.waiting;
	start(&p, tree, mode);
	parse_all(&p);
	if (arena->is_full) {
		refuse(result, "the arena is too small");
		return NULL;
	}
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
	if (len)
		memcpy(copy, text, len);
	return ab_shell_parse_text(arena, copy, (uint32_t)len, NULL,
				   AB_SHELL_COMMANDS, &l, result);
}
