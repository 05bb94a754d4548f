/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compound commands: each has a frame between the list that it stands in and
 * the lists that are its parts.
 */
#include "config.h"

#include "shell/parser.h"

#include <string.h>

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
		ab_parse_unexpected(p, cmd->name, "'for' needs a name");
		return;
	}
	enter_compound(p, S_FOR_WORDS, cmd);
}

/* (( at pos. */
void ab_parse_start_arith(struct parser *p, struct frame *list)
{
	struct cmd *cmd = ab_parse_cmd(p, list, CMD_ARITH, p->pos);
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

void ab_parse_start_subshell(struct parser *p, struct frame *list,
			     struct cmd *cmd)
{
	struct frame *f;

	if (!cmd)
		cmd = ab_parse_cmd(p, list, CMD_SUBSHELL, p->pos);
	cmd->kind = CMD_SUBSHELL;

	p->pos++;
	f = enter_compound(p, S_PAREN, cmd);
	ab_parser_enter_list(p, &f->clause->body, CLOSE_PAREN);
}

/* The body of a function: one compound command. */
void ab_parse_start_body(struct parser *p, struct frame *list, struct cmd *cmd)
{
	struct clause *clause = add_clause(p, &cmd->clauses);

	list->state = S_AFTER;
	ab_parse_skip_newlines(p);
	ab_parser_enter_list(p, &clause->body, CLOSE_ONE);
}

static void start_function(struct parser *p, struct frame *list,
			   struct cmd *cmd)
{
	struct word *name = ab_parser_alloc(p, sizeof(*name));

	ab_lex_blanks(p);
	ab_lex_word(p, name, 0);
	if (p->top != list || name->end == name->begin) {
		ab_parse_unexpected(p, p->pos, "'function' needs a name");
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
	ab_parse_start_body(p, list, cmd);
}

/* `cmd`, just begun, becomes what reserved word `r` begins. */
void ab_parse_start_compound(struct parser *p, struct frame *list,
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
void ab_parse_continue(struct parser *p, enum reserved r)
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

/* `do` or `{` after the head of a loop. */
static void step_body(struct parser *p, struct frame *f)
{
	enum reserved r;
	uint32_t end;

	if (f->op == 1) { /* for ((...)) was read */
		f->op = 0;
		if (p->semicolons != 2) {
			ab_parse_unexpected(p, f->begin,
					    "'for ((' needs two ';'");
			return;
		}
		ab_lex_blanks(p);
		if (p->s[p->pos] == ';')
			p->pos++;
	}
	ab_parse_skip_newlines(p);
	r = ab_parse_peek(p, &end);
	if (r != R_DO && r != R_OPEN) {
		ab_parse_unexpected(p, p->pos, "a loop needs 'do'");
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
		ab_parse_unexpected(p, w->begin, "a word is missing");
		return false;
	}
	return p->top == f;
}

bool ab_parse_is_word(const struct parser *p, const char *text, uint32_t len)
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
		ab_parse_skip_newlines(p);
		if (p->len - p->pos < 2 || !ab_parse_is_word(p, "in", 2)) {
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
				ab_parse_newline(p);
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
	ab_parse_skip_newlines(p);
	if (p->len - p->pos < 2 || !ab_parse_is_word(p, "in", 2)) {
		ab_parse_unexpected(p, p->pos, "'case' needs 'in'");
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
		ab_parse_skip_newlines(p);
		if (ab_parse_peek(p, &end) == R_ESAC) {
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
			ab_parse_unexpected(p, p->pos, "a pattern needs ')'");
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

/* An operand between the operators of [[ ]]: -f x, a = b, x. Anything else
 * that stands there is an error to bash. */
static bool is_operand(const struct parser *p, const struct word *w)
{
	static const char *const binary[] = { "=",   "==",  "!=",  "=~",
					      "-eq", "-ne", "-lt", "-le",
					      "-gt", "-ge", "-ef", "-nt",
					      "-ot" };
	const struct word *second = w->next;
	uint32_t len = second ? second->end - second->begin : 0;

	if (w->end - w->begin == 2 && p->s[w->begin] == '-')
		return true;
	for (size_t i = 0; len && i < sizeof(binary) / sizeof(*binary); i++)
		if (strlen(binary[i]) == len &&
		    !memcmp(p->s + second->begin, binary[i], len))
			return true;
	return false;
}

static bool is_cond_operator(const struct parser *p, const struct word *w)
{
	return !w->parts && w->begin < w->end &&
	       strchr("&|()<>", p->s[w->begin]);
}

/* Does a shell without [[ run or write something else here: `reboot` of
 * [[ x || reboot ]], /etc/x of [[ x > /etc/x ]]? */
static bool cond_differs(const struct parser *p, const struct word *w)
{
	bool begins = false;

	for (; w; w = w->next) {
		unsigned char c = p->s[w->begin];

		if (is_cond_operator(p, w)) {
			begins |= c != '<' && c != '>';
			if (c == '>' && w->next &&
			    strchr("/~", p->s[w->next->begin]))
				return true;
		} else if (begins && c != '!') {
			if (!is_operand(p, w))
				return true;
			begins = false;
		}
		if (w->next && memchr(p->s + w->end, '\n',
				      w->next->begin - w->end))
			begins = true;
	}
	return false;
}

/* Words and operators up to ]], all of them in words. What they mean is left
 * open; bash's own parser runs on after an error in here. */
static void step_cond(struct parser *p, struct frame *f)
{
	struct word *w;

	for (;;) {
		uint32_t len, at;

		ab_parse_skip_newlines(p);
		at = p->pos;
		if (p->s[at] == ']' && ab_parse_is_word(p, "]]", 2)) {
			p->pos += 2;
			p->differs |= cond_differs(p, f->cur->words);
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
		ab_parse_skip_newlines(p);
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

void ab_parse_step_compound(struct parser *p, struct frame *f)
{
	switch ((enum state)f->state) {
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
	default:
		step_array(p, f);
		break;
	}
}
