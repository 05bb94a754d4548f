/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parser's own state, shared by its two halves: parse.c knows commands,
 * lex.c knows words. Nesting lives on one explicit stack of frames. Everything
 * that is built lies in the arena; when that is full the parse ends at once, by
 * longjmp(3) to where it began: whatever is half built is read by nobody, and
 * nothing here may own memory or a descriptor.
 */
#ifndef AB_SHELL_PARSER_H
#define AB_SHELL_PARSER_H

#include <setjmp.h>

#include "base/attr.h"
#include "shell/scan.h"
#include "shell/tree.h"

/* Classes of bytes. Soft ones stay in a plain word and set its flag of the
 * same value; the others end the quick scan. */
enum {
	CLS_SOFT = WORD_PLAIN_SOFT,
	CLS_HARD = 1 << 4,
	CLS_END = CLS_HARD,
	CLS_OPEN,
	CLS_ANGLE,
	CLS_DOLLAR,
	CLS_BACKQUOTE,
	CLS_SINGLE,
	CLS_DOUBLE,
	CLS_BACKSLASH,
	CLS_NUL
};

extern const unsigned char ab_shell_class[256];

enum state {
	/* commands */
	S_COMMAND, /* a command or the end of the list */
	S_ARGS,	   /* inside a simple command */
	S_AFTER,   /* after a compound: redirections, then an operator */
	S_IF,
	S_THEN,
	S_ELSE,
	S_LOOP, /* the condition of while was read */
	S_BODY, /* do or { is next, after for's head */
	S_DO,	/* the body was read */
	S_PAREN,
	S_BRACE,
	S_FOR_WORDS,
	S_CASE_WORD,
	S_CASE_PATTERN,
	S_CASE_BODY,
	S_FUNCTION, /* the body is next */
	S_COND,
	S_ARRAY,
	/* words */
	S_WORD,
	S_DOUBLE,
	S_PARAM,      /* the argument of ${x...} */
	S_PARAM_OP,   /* after its subscript */
	S_SUBSCRIPT,  /* [...] of a parameter or an assignment */
	S_ARITH,
	S_EXTGLOB,
	S_HERE /* the body of a here-document */
};

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

enum closer {
	CLOSE_EOF,
	CLOSE_PAREN, /* ( */
	CLOSE_SUBST, /* $( <( >(: may be empty */
	CLOSE_BRACE,
	CLOSE_THEN,
	CLOSE_FI, /* fi, elif, else */
	CLOSE_ELSE_FI,
	CLOSE_DO,
	CLOSE_DONE,
	CLOSE_CASE, /* ;; and its kin, esac: may be empty */
	CLOSE_ONE   /* after one compound command: a function's body */
};

enum {
	/* list */
	FRAME_NEEDS = 1, /* an operator waits for its right side */
	FRAME_PREFIX = 2, /* !, time, coproc were seen for the next command */
	/* word */
	FRAME_ASSIGN_OK = 4,
	FRAME_REGEX = 8,
	FRAME_QUOTED = 16,
	FRAME_IN_PARAM = 32, /* S_SUBSCRIPT: of a parameter */
	FRAME_SEP = 64,	     /* S_PARAM: a separator may come */
	FRAME_BRACKET = 128, /* S_ARITH: $[ */
	FRAME_COMMAND = 256, /* S_ARITH: ((, without a word around it */
	FRAME_SINGLE = 512 /* between quotes that only hide what closes */
};

struct frame {
	struct frame *below, *above;
	uint8_t state, closer;
	uint8_t op;	 /* cond: what is expected */
	uint16_t flags;
	uint16_t prefix; /* CMD_BANG, CMD_TIME, CMD_COPROC: of the next */
	uint32_t parens;
	uint32_t count;
	uint32_t begin;
	struct cmd *cur, **tail, **first, *andor, *pipe;
	struct word **wtail;
	struct redir **rtail;
	struct clause *clause, **ctail;
	/* the word being read, shared by the frames of one word */
	struct frame *root;
	struct word *word;
	struct part **ptail, *part;
	/* here-documents that wait outside of a $(...) */
	struct redir *waiting, **waiting_tail;
};

struct parser {
	struct ab_arena *arena;
	unsigned char *s;
	uint32_t pos, len;
	struct frame *top;
	uint32_t depth, max_depth;
	struct redir *waiting, **waiting_tail; /* here-documents to be read */
	bool source; /* NULs are holes */
	bool posix;  /* as ab_shell_limits says */
	bool differs, lacks_end; /* as ab_shell_result says */
	uint64_t lookahead; /* bytes that may be read ahead */
	bool no_arith;	    /* no )) is left for a (( */
	uint32_t semicolons; /* of the last arithmetic */
	uint32_t substs;     /* $( around */
	enum ab_shell_status status;
	uint32_t error_begin, error_end;
	const char *message;
	bool is_unwinding, is_done;
	jmp_buf no_room;
};

_Noreturn void ab_parser_give_up(struct parser *p) AB_COLD;

/* From the arena; when that is full, it does not return. Not cleared. */
static inline void *ab_parser_alloc(struct parser *p, size_t size)
{
	void *memory = ab_arena_low(p->arena, size);

	if (AB_UNLIKELY(!memory))
		ab_parser_give_up(p);
	return memory;
}

struct frame *ab_parser_enter(struct parser *p, enum state state);
static inline void ab_parser_leave(struct parser *p)
{
	p->top = p->top->below;
	p->depth--;
}

/* Notes the first error; the caller's step returns. */
void ab_parser_error(struct parser *p, enum ab_shell_status status,
		     uint32_t begin, uint32_t end, const char *message) AB_COLD;
/* A new frame for a list of commands, whose first goes to *tail. */
void ab_parser_enter_list(struct parser *p, struct cmd **tail,
			  enum closer closer);

/* lex.c */
/* A part behind those before *tail, which is behind it then. */
struct part *ab_lex_put_part(struct parser *p, struct part ***tail,
			     enum part_kind kind, uint32_t begin, uint32_t end,
			     uint32_t flags);
static inline struct part *ab_lex_part(struct parser *p, struct frame *root,
				       enum part_kind kind, uint32_t begin,
				       uint32_t end, uint32_t flags)
{
	return ab_lex_put_part(p, &root->ptail, kind, begin, end, flags);
}
/* A frame of the word that root reads; NULL: of a word of its own. */
struct frame *ab_lex_enter(struct parser *p, enum state state,
			   struct frame *root, uint32_t flags);
/* The end of the name at `at`; `at` itself when there is none. */
uint32_t ab_lex_name_end(const struct parser *p, uint32_t at);
/* From `at` to the next `quote` that no backslash precedes; len: none. */
uint32_t ab_lex_find(const struct parser *p, uint32_t at, unsigned char quote);
/* $'...' and `...` with the quote at `at`; "..." */
bool ab_lex_raw(struct parser *p, struct frame *f, uint32_t at,
		enum part_kind kind);
void ab_lex_double(struct parser *p, struct frame *f, uint32_t at);
/* $(, <(, >( with its parenthesis at `at`. */
void ab_lex_substitution(struct parser *p, struct frame *f, uint32_t at,
			 enum part_kind kind);
/* begin..end as it stands, quoted when the frame is; nothing when empty. */
void ab_lex_some_text(struct parser *p, struct frame *f, uint32_t begin,
		      uint32_t end);
static inline void ab_lex_text(struct parser *p, struct frame *f,
			       uint32_t begin, uint32_t end)
{
	if (begin < end)
		ab_lex_some_text(p, f, begin, end);
}
/* begin..end between single quotes: one part, or more around NULs. */
void ab_lex_quoted(struct parser *p, struct frame *f, uint32_t begin,
		   uint32_t end);
/* A NUL at `at`: a hole of the source, or nothing at all, as in bash. False
 * at the end of the text. */
bool ab_lex_nul(struct parser *p, struct frame *f, uint32_t from, uint32_t at);
/* What began at `begin` does not end: the rest of the text is gone. */
void ab_lex_unterminated(struct parser *p, uint32_t begin,
			 const char *message) AB_COLD;
/* A backslash in double quotes, or where `extra` may be escaped as well. */
void ab_lex_escaped(struct parser *p, struct frame *f, uint32_t at,
		    char extra);
/* What $, ` and quotes do in every frame alike; `from` is where the text
 * before begins. False: an ordinary byte after all. */
bool ab_lex_common(struct parser *p, struct frame *f, uint32_t from,
		   uint32_t at);
/* The frame's word ends at `at`. */
void ab_lex_leave_word(struct parser *p, struct frame *f, uint32_t from,
		       uint32_t at);
/* Blanks, line continuations and comments; spaces alone are most of them. */
void ab_lex_blanks_more(struct parser *p);
static inline void ab_lex_blanks(struct parser *p)
{
	const unsigned char *s = p->s + p->pos;

	while (*s == ' ')
		s++;
	p->pos = (uint32_t)(s - p->s);
	if ((*s <= '#' && *s != '"' && *s != '\n') || *s == '\\')
		ab_lex_blanks_more(p);
}

/* The first byte from `at` on that is not plain text in double quotes; that is
 * a quote, or a NUL */
uint32_t ab_lex_plain(const struct parser *p, uint32_t at);
/* Goes on behind backslashes, too, and counts those to be taken off; in a
 * source, and before a newline, it stops at them. */
uint32_t ab_lex_double_text(const struct parser *p, uint32_t at,
			    uint32_t *escapes);
uint32_t ab_lex_to_single(const struct parser *p, uint32_t at);
/* The end of the quotes at `at` when nothing but text is in them, else 0. */
uint32_t ab_lex_plain_quotes(const struct parser *p, uint32_t at);
/* Behind ordinary bytes at `at`, if not behind all of them. A vector behind the
   end of the text is there (AB_SHELL_PAD), and its NULs are not ordinary. */
static inline uint32_t ab_lex_ordinary(const struct parser *p, uint32_t at)
{
	return at + ab_scan_ordinary(p->s + at);
}

/* Reads a word at pos into w, to the end or pushes the frame that does. */
void ab_lex_word(struct parser *p, struct word *w, uint32_t flags);
/* A step of a frame of words. */
void ab_lex_step(struct parser *p);
/* The next byte after line continuations; does not move. */
static inline uint32_t ab_lex_skip_joins(const struct parser *p, uint32_t at)
{
	while (p->s[at] == '\\' && p->s[at + 1] == '\n')
		at += 2;
	return at;
}

/* lex_inside.c: a step in ${...}, after its subscript, in [...], in
 * arithmetic, in a pattern's parentheses */
void ab_lex_step_param(struct parser *p, struct frame *f);
void ab_lex_step_param_op(struct parser *p, struct frame *f);
void ab_lex_step_subscript(struct parser *p, struct frame *f);
void ab_lex_step_arith(struct parser *p, struct frame *f);
void ab_lex_step_extglob(struct parser *p, struct frame *f);

/* dollar.c */
/* ((: whether the matching )) comes. */
bool ab_lex_is_arith(struct parser *p, uint32_t at);
/* Whether $ at `at` begins something; then ab_lex_dollar() reads it. */
bool ab_lex_is_dollar(const struct parser *p, const struct frame *f,
		      uint32_t at);
void ab_lex_dollar(struct parser *p, struct frame *f, uint32_t at);
/* A parameter of one character that is no digit. */
static inline bool ab_lex_is_special(unsigned char c)
{
	return c == '@' || c == '*' || c == '#' || c == '?' || c == '-' ||
	       c == '$' || c == '!';
}

/* The part of a parameter without operators, from `begin` to p->pos. */
void ab_lex_param(struct parser *p, struct frame *f, uint32_t begin,
		  uint32_t name, uint32_t name_end);
/* After name and subscript of ${: `}` or an operator with its argument. */
void ab_lex_param_tail(struct parser *p, struct frame *root,
		       struct part *part, uint32_t flags);

/* here.c */
/* At a newline: reads the here-documents that wait. */
void ab_lex_here_documents(struct parser *p);

/* names.c */
/* What a name is to the grammar, and to the run. AB_SHELL_PAD bytes from `s`
   on are there, however short it is. */
enum reserved ab_parse_name(const unsigned char *s, uint32_t len,
			    enum ab_builtin *builtin);

/* parse.c */
/* Notes `message` for the token at begin..pos, and goes behind it. */
void ab_parse_unexpected(struct parser *p, uint32_t begin,
			 const char *message) AB_COLD;
void ab_parse_newline(struct parser *p);
/* Blanks, comments and newlines. */
void ab_parse_skip_more(struct parser *p);
static inline void ab_parse_skip_newlines(struct parser *p)
{
	ab_lex_blanks(p);
	if (p->s[p->pos] == '\n')
		ab_parse_skip_more(p);
}

struct cmd *ab_parse_cmd(struct parser *p, struct frame *f,
			 enum cmd_kind kind, uint32_t begin);
void ab_parse_finish(struct frame *f, enum cmd_op op);
/* `r` was read at begin..pos where a command could stand. */
void ab_parse_close(struct parser *p, struct frame *f, enum reserved r,
		    uint32_t begin);
/* `{` of a plain word or what else is reserved; R_NONE. */
enum reserved ab_parse_reserved(const struct parser *p, const struct word *w);
/* The reserved word at pos, which may hold line continuations. Does not
 * move; *end is behind it. */
enum reserved ab_parse_peek(const struct parser *p, uint32_t *end);

/* parse_compound.c */
void ab_parse_start_compound(struct parser *p, struct frame *list,
			     struct cmd *cmd, enum reserved r);
/* ( at pos; cmd NULL: a new one. */
void ab_parse_start_subshell(struct parser *p, struct frame *list,
			     struct cmd *cmd);
void ab_parse_start_arith(struct parser *p, struct frame *list);
void ab_parse_start_body(struct parser *p, struct frame *list,
			 struct cmd *cmd);
/* A list of the compound command on top was closed by `r`. */
void ab_parse_continue(struct parser *p, enum reserved r);
void ab_parse_step_compound(struct parser *p, struct frame *f);
/* Is the word at pos this one? */
bool ab_parse_is_word(const struct parser *p, const char *text, uint32_t len);

/* parse_simple.c */
/* From where a command may begin: simple commands of plain and plainly quoted
 * words, with the operators between them. Stops in front of anything else;
 * the steps go on from there. */
void ab_parse_plain(struct parser *p, struct frame *f);
void ab_parse_step_args(struct parser *p, struct frame *f);
void ab_parse_step_after(struct parser *p, struct frame *f);
/* A redirection whose operator is at pos; `number` is the word before it. */
void ab_parse_redir(struct parser *p, struct frame *f,
		    const struct word *number);
/* Whether the plain word, with < or > right behind it, is part of that. */
bool ab_parse_is_fd(const struct parser *p, const struct word *w);

#endif
