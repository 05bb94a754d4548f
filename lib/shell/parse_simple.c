/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Simple commands: words, assignments, redirections, and the operators after
 * them; `name ()` and `coproc name`, which turn out to be more.
 */
#include "config.h"

#include "shell/parser.h"

#include <string.h>

#include "base/attr.h"

static inline struct cmd *new_cmd(struct parser *p, struct frame *f,
				  enum cmd_kind kind, uint32_t begin)
{
	struct cmd *cmd = ab_parser_alloc(p, sizeof(*cmd));

	memset(cmd, 0, sizeof(*cmd));
	cmd->kind = (uint8_t)kind;
	cmd->begin = cmd->end = begin;
	cmd->flags = (uint8_t)(f->prefix | CMD_EXACT);
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

struct cmd *ab_parse_cmd(struct parser *p, struct frame *f,
			   enum cmd_kind kind, uint32_t begin)
{
	return new_cmd(p, f, kind, begin);
}

void ab_parse_finish(struct frame *f, enum cmd_op op)
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
		if (table[i].text[0] == (char)s[0] &&
		    (table[i].len == 1 ||
		     (table[i].text[1] == (char)s[1] &&
		      (table[i].len == 2 ||
		       table[i].text[2] == (char)s[2])))) {
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
void ab_parse_redir(struct parser *p, struct frame *f,
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
		ab_parse_unexpected(p, p->pos, "a redirection needs a target");
		return;
	}
	if (r->kind == AB_REDIR_HERE_DOC) {
		r->waiting = NULL;
		*p->waiting_tail = r;
		p->waiting_tail = &r->waiting;
	}
}

/* Whether the plain word, with < or > right behind it, is part of that. */
bool ab_parse_is_fd(const struct parser *p, const struct word *w)
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

/* Builtins whose arguments may be assignments of arrays. */
static bool takes_arrays(enum ab_builtin builtin)
{
	return (UINT64_C(1) << builtin) &
	       (AB_BUILTIN(DECLARE) | AB_BUILTIN(EXPORT) | AB_BUILTIN(LOCAL) |
		AB_BUILTIN(READONLY) | AB_BUILTIN(TYPESET) |
		AB_BUILTIN(ALIAS) | AB_BUILTIN(EVAL) | AB_BUILTIN(LET));
}

/* A complete word has joined the simple command. */
static void note_word(const struct parser *p, struct frame *f,
		      const struct word *w)
{
	f->word = NULL;
	f->cur->word_count++;
	if (!ab_tree_is_exact(w))
		f->cur->flags &= (uint8_t)~CMD_EXACT;
	if (w->assign || (f->cur->flags & CMD_HAS_CALL))
		return;
	f->cur->flags |= CMD_HAS_CALL;
	if (!w->parts)
		f->cur->builtin = (uint8_t)ab_shell_builtin_of(
			(const char *)p->s + w->begin, w->end - w->begin);
	f->op = takes_arrays((enum ab_builtin)f->cur->builtin);
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
		ab_parse_unexpected(p, begin, "unexpected '('");
		return;
	}
	p->pos++;
	cmd->kind = CMD_FUNCTION;
	cmd->name = w->begin;
	cmd->name_len = w->end - w->begin;
	cmd->words = NULL;
	f->wtail = &cmd->words;
	ab_parse_start_body(p, f, cmd);
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
		ab_parse_finish(f, CMD_OP_NEXT);
		ab_parse_newline(p);
		return true;
	case ';':
		op = CMD_OP_NEXT;
		if (s[next] == ';' || s[next] == '&') {
			/* left to step_command() */
			ab_parse_finish(f, CMD_OP_NEXT);
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
	ab_parse_finish(f, op);
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
			ab_parse_redir(p, f, NULL);
			return true;
		}
		/* fall through */
	case '\n':
	case ';':
	case '|':
		if (f->closer == CLOSE_ONE) {
			ab_parse_finish(f, CMD_OP_END);
			ab_parse_close(p, f, R_ONE, p->pos);
			return true;
		}
		return operator_after(p, f);
	case '<':
	case '>':
		if (s[1] == '(')
			return false;
		ab_parse_redir(p, f, NULL);
		return true;
	case ')':
		if (f->closer == CLOSE_ONE) {
			ab_parse_finish(f, CMD_OP_END);
			ab_parse_close(p, f, R_ONE, p->pos);
			return true;
		}
		ab_parse_finish(f, CMD_OP_END);
		return true;
	case '\0':
		if (p->pos < p->len)
			return false;
		ab_parse_finish(f, CMD_OP_END);
		if (f->closer == CLOSE_ONE)
			ab_parse_close(p, f, R_ONE, p->pos);
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
	/* coproc x[$(ls)] { ...: it is expanded, so it stays a word */
	for (uint32_t i = cmd->words->begin; i < cmd->words->end; i++)
		if (memchr("$`", p->s[i], 2))
			return false;
	r = ab_parse_peek(p, &end);
	if (p->s[p->pos] != '(' && (r < R_IF || r > R_COND))
		return false;
	cmd->name = cmd->words->begin;
	cmd->name_len = cmd->words->end - cmd->words->begin;
	cmd->words = NULL;
	if (p->s[p->pos] == '(') {
		ab_parse_start_subshell(p, f, cmd);
		return true;
	}
	p->pos = end;
	ab_parse_start_compound(p, f, cmd, r);
	return true;
}

/* The operator at `at` behind a simple command, when it is as it seems: 0 is
 * returned for what the slow steps must look at, else how long it is. */
static uint32_t plain_operator(const struct parser *p, uint32_t at,
			       enum cmd_op *op)
{
	const unsigned char *s = p->s + at;

	*op = CMD_OP_NEXT;
	if (s[0] == '\n')
		return 1;
	if (s[1] == '\\') /* it may be joined to the next line */
		return 0;
	switch (s[0]) {
	case ';':
		return s[1] != ';' && s[1] != '&';
	case '&':
		*op = s[1] == '&' ? CMD_OP_AND : CMD_OP_AMP;
		return s[1] == '>' ? 0 : *op == CMD_OP_AND ? 2 : 1;
	case '|':
		*op = s[1] == '|' ? CMD_OP_OR : CMD_OP_PIPE;
		return s[1] == '&' ? 0 : *op == CMD_OP_OR ? 2 : 1;
	default:
		return 0;
	}
}

static inline struct word *add_word(struct parser *p, struct word ***tail,
				    uint32_t begin, uint32_t end,
				    uint32_t flags)
{
	struct word *w = ab_parser_alloc(p, sizeof(*w));

	w->next = NULL;
	w->parts = NULL;
	w->begin = begin;
	w->end = end;
	w->assign = 0;
	w->flags = flags;
	**tail = w;
	*tail = &w->next;
	return w;
}

/* '...' or "..." of text alone at `at`, and nothing else in the word: its
 * end; 0: it is more. */
static uint32_t literal_arg(struct parser *p, struct word ***tail, uint32_t at)
{
	uint32_t end = p->source ? 0 : ab_lex_plain_quotes(p, at);
	struct part **parts;

	if (!end || ab_shell_class[p->s[end + 1]] != CLS_END)
		return 0;
	parts = &add_word(p, tail, at, end + 1,
			  WORD_QUOTED | WORD_LITERAL)->parts;
	ab_lex_put_part(p, &parts, PART_TEXT, at + 1, end, PART_QUOTED);
	return end + 1;
}

/* Words of the command f->cur from `at` on that are plain, or plain quotes:
 * most are. p->pos is the end of the last one then; returns where the first
 * byte stands that is no blank behind it. */
static uint32_t plain_words(struct parser *p, struct frame *f, uint32_t at)
{
	const unsigned char *s = p->s;
	uint32_t begin, all = 0, soft, count = 0, last = p->pos;
	struct word **tail = f->wtail;
	struct cmd *cmd = f->cur;
	unsigned char t;

	for (;; last = at, count++) {
		while (s[at] == ' ')
			at++;
		begin = at;
		t = ab_shell_class[s[at]];
		if (AB_UNLIKELY(t >= CLS_HARD)) {
			if (t != CLS_SINGLE && t != CLS_DOUBLE)
				break;
			at = literal_arg(p, &tail, begin);
			if (!at)
				break;
			continue;
		}
		if (AB_UNLIKELY(s[at] == '#'))
			break;
		at = ab_lex_ordinary(p, at);
		for (soft = 0; (t = ab_shell_class[s[at]]) < CLS_HARD; at++)
			soft |= t;
		if (t != CLS_END && (t != CLS_NUL || at < p->len))
			break;
		add_word(p, &tail, begin, at, soft);
		all |= soft;
	}
	f->wtail = tail;
	if (all & (WORD_PLAIN_SOFT & ~WORD_EQUALS))
		cmd->flags &= (uint8_t)~CMD_EXACT;
	cmd->word_count += count;
	cmd->end = p->pos = last;
	return begin;
}

/* A redirection at `at`, behind the words so far: it is read. */
static bool plain_redir(struct parser *p, struct frame *f, uint32_t at)
{
	const unsigned char *s = p->s;
	AB_UNINITIALIZED struct word number; /* only where it stands */

	if (ab_shell_class[s[at]] == CLS_END && s[at] != '&')
		return false;
	number.begin = at;
	while (ab_shell_name[s[at]] == AB_DIGIT)
		at++;
	number.end = at;
	if (s[at] == '&' ? s[at + 1] != '>' || at > number.begin :
			   ab_shell_class[s[at]] != CLS_ANGLE ||
				   s[at + 1] == '(')
		return false;
	p->pos = at;
	ab_parse_redir(p, f, at > number.begin ? &number : NULL);
	return true;
}

/* The name of a command at pos: where it ends; 0: it is no plain word, or a
 * reserved one. */
static uint32_t plain_name(const struct parser *p, enum ab_builtin *builtin)
{
	const unsigned char *s = p->s;
	uint32_t begin = p->pos, at = ab_lex_ordinary(p, begin);

	while (!ab_shell_class[s[at]])
		at++;
	if (at == begin && s[at] == '[' && s[at + 1] == ' ')
		at++; /* nothing that it could open */
	if (at == begin ||
	    (ab_shell_class[s[at]] != CLS_END && at != p->len) ||
	    ab_parse_name(s + begin, at - begin, builtin) != R_NONE)
		return 0;
	return at;
}

/* A word of any kind at pos. False: it has a frame of its own, or was the
 * number of a redirection. */
static bool any_word(struct parser *p, struct frame *f, uint32_t flags)
{
	struct word *w = ab_parser_alloc(p, sizeof(*w));

	ab_lex_word(p, w, flags);
	if (p->top == f && ab_shell_class[p->s[p->pos]] == CLS_ANGLE &&
	    ab_parse_is_fd(p, w)) {
		ab_parse_redir(p, f, w);
		return false;
	}
	*f->wtail = w;
	f->wtail = &w->next;
	if (p->top != f) {
		f->word = w;
		return false;
	}
	note_word(p, f, w);
	f->cur->end = p->pos;
	return true;
}

/* Text, quotes and expansions are; what may be no part of a word is none. */
static bool is_word_at(const struct parser *p, uint32_t at)
{
	unsigned char t = ab_shell_class[p->s[at]];

	return t < CLS_HARD ? p->s[at] != '#' :
			      t >= CLS_DOLLAR && t <= CLS_DOUBLE;
}

/* How it goes on behind the words of a command. */
enum rest {
	REST_ODD,  /* what is no word, redirection or operator */
	REST_NEXT, /* behind an operator, where a command may begin */
	REST_OVER  /* the list ends, or a word has a frame of its own */
};

/* The rest of a command whose name is known, from `at` on. */
static enum rest plain_rest(struct parser *p, struct frame *f, uint32_t at)
{
	const unsigned char *s = p->s;
	enum cmd_op op;
	uint32_t len;

	for (;; at = p->pos) {
		at = plain_words(p, f, at);
		if (!plain_redir(p, f, at)) {
			if (!is_word_at(p, at))
				break;
			p->pos = at;
			if (!any_word(p, f, 0))
				return REST_OVER;
		}
		if (p->top != f || p->is_unwinding)
			return REST_OVER;
	}
	if (at == p->len || s[at] == ')') {
		p->pos = at;
		ab_parse_finish(f, CMD_OP_END);
		return REST_OVER;
	}
	len = plain_operator(p, at, &op);
	if (!len)
		return REST_ODD;
	if (s[at] == '\n')
		f->cur->end = at;
	ab_parse_finish(f, op);
	p->pos = at + len;
	if (s[at] == '\n' && p->waiting)
		ab_lex_here_documents(p);
	return REST_NEXT;
}

/* One command from pos on: false when there is more to it, or it was the
 * last one. */
static bool plain_command(struct parser *p, struct frame *f)
{
	enum ab_builtin builtin;
	uint32_t at = plain_name(p, &builtin);
	struct cmd *cmd;

	if (!at)
		return false;
	cmd = new_cmd(p, f, CMD_SIMPLE, p->pos);
	add_word(p, &f->wtail, p->pos, at, 0);
	cmd->word_count = 1;
	cmd->flags |= CMD_HAS_CALL;
	cmd->builtin = (uint8_t)builtin;
	f->op = takes_arrays(builtin);
	f->state = S_ARGS;
	cmd->end = p->pos = at;
	/* its words may be assignments */
	return !f->op && plain_rest(p, f, at) == REST_NEXT;
}

void ab_parse_plain(struct parser *p, struct frame *f)
{
	do {
		ab_parse_skip_newlines(p);
	} while (plain_command(p, f));
}

void ab_parse_step_args(struct parser *p, struct frame *f)
{
	if (f->word)
		note_word(p, f, f->word);
	while (!p->is_unwinding) {
		const unsigned char *s = p->s;
		uint32_t flags;

		if ((f->cur->flags & (CMD_HAS_CALL | CMD_COPROC)) ==
			    CMD_HAS_CALL &&
		    !f->op && f->closer != CLOSE_ONE &&
		    plain_rest(p, f, p->pos) != REST_ODD)
			return;
		ab_lex_blanks(p);
		if (ab_shell_class[s[p->pos]] >= CLS_HARD && step_tail(p, f))
			return;
		if ((f->cur->flags & CMD_COPROC) && coproc_name(p, f))
			return;
		if (s[p->pos] == '(') {
			function_parens(p, f);
			return;
		}
		flags = !(f->cur->flags & CMD_HAS_CALL) || f->op ?
				FRAME_ASSIGN_OK :
				0;
		if (!any_word(p, f, flags))
			return;
	}
}

/* After a compound command: redirections, an operator, or at once what ends
 * the list around it, as in `fi done` and `} }`. */
void ab_parse_step_after(struct parser *p, struct frame *f)
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
	if (ab_parse_is_fd(p, &w)) {
		ab_parse_redir(p, f, &w);
		return;
	}
	p->pos = w.begin;
	r = ab_parse_peek(p, &end);
	if (f->closer == CLOSE_EOF || r < R_THEN || r > R_CLOSE) {
		ab_parse_unexpected(p, w.begin,
			   "unexpected word after a compound command");
		return;
	}
	ab_parse_finish(f, CMD_OP_END);
	if (f->closer == CLOSE_ONE) {
		ab_parse_close(p, f, R_ONE, w.begin);
		return;
	}
	p->pos = end;
	ab_parse_close(p, f, r, w.begin);
}

