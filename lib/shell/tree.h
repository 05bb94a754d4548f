/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tree between parser and run. All of it lives in the arena; positions
 * are bytes of the text of its own tree, which for a pushed text is not the
 * original (ab_shell_tree.source leads back).
 */
#ifndef AB_SHELL_TREE_H
#define AB_SHELL_TREE_H

#include "base/attr.h"
#include "shell/shell.h"

struct cmd;
struct word;

/* What a byte is in a name: 0, AB_NAME, AB_DIGIT. */
enum { AB_NAME = 1 << 6, AB_DIGIT = 1 << 7 };
extern const unsigned char ab_shell_name[256];

enum part_kind {
	PART_TEXT = 1,	/* begin..end as it stands */
	PART_ANSI,	/* inside of $'...', escapes not decoded */
	PART_PARAM,	/* param; with has_args the parts up to its PART_END */
	PART_SEP,	/* between the arguments of a PARAM: / and : */
	PART_INDEX,	/* the subscript of the PARAM before: parts to END */
	PART_COMMAND,	/* $(...): list */
	PART_BACKQUOTE, /* inside of `...`, not decoded, not parsed */
	PART_FUNSUB,	/* inside of ${ ...; }, not parsed */
	PART_ARITH,	/* $((...)), $[...]: parts up to PART_END */
	PART_PROC_IN,	/* <(...): list */
	PART_PROC_OUT,
	PART_ARRAY,	/* (...) of an assignment: words */
	PART_ASSIGN,	/* what follows is the value of an assignment */
	PART_HOLE,	/* hole number `begin` of the source */
	PART_END
};

enum part_flags {
	PART_QUOTED = 1,
	PART_LITERAL_QUOTE = 2 /* TEXT in '..' within "${x:-'..'}" */
};

enum param_op {
	OP_NONE,
	OP_DEFAULT,	/* - */
	OP_ASSIGN,	/* = */
	OP_ERROR,	/* ? */
	OP_OTHER,	/* + */
	OP_PREFIX,	/* # */
	OP_PREFIX_LONG, /* ## */
	OP_SUFFIX,	/* % */
	OP_SUFFIX_LONG, /* %% */
	OP_REPLACE,	/* / */
	OP_REPLACE_ALL, /* // */
	OP_REPLACE_PREFIX,
	OP_REPLACE_SUFFIX,
	OP_UPPER, /* ^ */
	OP_UPPER_ALL,
	OP_LOWER, /* , */
	OP_LOWER_ALL,
	OP_TOGGLE, /* ~ */
	OP_TOGGLE_ALL,
	OP_SLICE,  /* : */
	OP_AT,	   /* @X */
	OP_LENGTH, /* ${#x} */
	OP_NAMES,  /* ${!x*} */
	OP_BAD
};

struct param {
	uint32_t name, name_len;
	uint8_t op;	/* enum param_op */
	bool has_colon; /* :- := :? :+ */
	bool is_indirect;
	bool has_args;
	bool has_index;
	char letter; /* of @X; of a plain subscript @ or * */
};

struct part {
	struct part *next;
	uint32_t begin, end;
	uint8_t kind, flags;
	uint32_t escapes; /* TEXT: backslashes that are no part of it */
	/* only where the kind says so: the others end here */
	union {
		struct param *param;
		struct cmd *list;
		struct word *words;
	} u;
	struct ab_stream *stream; /* what it gave, set by the run */
};

/* A backslash in double quotes that is taken off (bash(1), QUOTING); before a
   newline both are, and no part has them. */
static inline bool ab_tree_is_escape(const unsigned char *s)
{
	return s[0] == '\\' && (s[1] == '"' || s[1] == '$' || s[1] == '\\' ||
				s[1] == '`');
}

enum word_flags {
	WORD_GLOB = 1 << 0,  /* * ? [ outside of quotes */
	WORD_BRACE = 1 << 1, /* { */
	WORD_TILDE = 1 << 2,
	WORD_EQUALS = 1 << 3,
	WORD_SUBST = 1 << 4,  /* has parts that run commands */
	WORD_QUOTED = 1 << 5, /* has quotes */
	WORD_ARRAY = 1 << 6,
	WORD_LITERAL = 1 << 7, /* one part, '...' or "..." of text alone */
	WORD_PLAIN_SOFT = WORD_GLOB | WORD_BRACE | WORD_TILDE | WORD_EQUALS
};

struct word {
	struct word *next;
	struct part *parts; /* NULL: begin..end as it stands */
	uint32_t begin, end;
	uint32_t assign; /* bytes of NAME= or NAME[..]+=; 0: no assignment */
	uint32_t flags;
};

/* Bytes that the command gets as they stand, quotes taken off. */
static inline bool ab_tree_is_exact(const struct word *w)
{
	return (!w->parts || (w->flags & WORD_LITERAL)) && !w->assign &&
	       !(w->flags & (WORD_PLAIN_SOFT & ~WORD_EQUALS));
}

struct redir {
	struct redir *next;
	struct redir *waiting; /* the next whose body is not read yet */
	struct word target; /* of a here-document: the delimiter */
	uint32_t begin;
	uint32_t body, body_end; /* of a here-document */
	int32_t fd;
	uint32_t fd_name, fd_name_len; /* {name}> */
	uint8_t kind;			/* enum ab_redir_kind */
	bool is_quoted, is_stripped;	/* delimiter; <<- */
	const struct ab_shell_tree *tree; /* of the body, made by the run */
};

enum cmd_kind {
	CMD_SIMPLE,
	CMD_SUBSHELL,
	CMD_GROUP,
	CMD_IF,
	CMD_WHILE,
	CMD_UNTIL,
	CMD_FOR,
	CMD_SELECT,
	CMD_CFOR,
	CMD_CASE,
	CMD_FUNCTION,
	CMD_COND,
	CMD_ARITH
};

/* How a command is joined to the next one. */
enum cmd_op {
	CMD_OP_END,
	CMD_OP_NEXT, /* ; or newline */
	CMD_OP_AMP,
	CMD_OP_AND,
	CMD_OP_OR,
	CMD_OP_PIPE,
	CMD_OP_PIPE_BOTH
};

enum cmd_flags {
	CMD_BANG = 1 << 0,
	CMD_TIME = 1 << 1,
	CMD_COPROC = 1 << 2,
	CMD_BACKGROUND = 1 << 3, /* on the first of the and-or list */
	CMD_HAS_WORDS = 1 << 4,	 /* for: there is an `in` */
	CMD_HAS_CALL = 1 << 5,	 /* a word that is no assignment */
	CMD_EXACT = 1 << 6	 /* all words are (ab_tree_is_exact()) */
};

enum clause_term { TERM_BREAK, TERM_FALL, TERM_NEXT };

/* cond and body of if, while; words and body of case; body alone. */
struct clause {
	struct clause *next;
	struct cmd *cond, *body;
	struct word *words;
	uint8_t term; /* enum clause_term */
};

struct cmd {
	struct cmd *next;
	struct word *words; /* argv with its assignments; of for; subject */
	struct redir *redirs;
	struct clause *clauses;
	uint32_t begin, end;
	uint32_t pipe_count; /* on the first of a pipeline */
	uint32_t word_count; /* of a simple command; not EXACT: about so many */
	uint8_t kind, op, flags;
	uint8_t builtin; /* enum ab_builtin: of its name, when that is plain */
	uint32_t name, name_len; /* of function, for, coproc */
};

/* A simple command whose words are all exact. */
static inline bool ab_tree_is_plain(const struct cmd *cmd)
{
	return cmd->kind == CMD_SIMPLE && (cmd->flags & CMD_EXACT);
}

struct ab_shell_tree {
	const unsigned char *text; /* followed by NULs */
	uint32_t len;
	struct cmd *list;
	/* What the text was taken from; NULL: it is the original. */
	const struct ab_word *source;
	/* The holes of source as they were, with their bytes. */
	const struct ab_hole *hole_texts;
	const char *hole_bytes;
	/* A here-document's body, an arithmetic text: one word, no commands */
	struct word *word;
	bool is_guess;
	struct ab_shell_limits limits;
};

enum ab_shell_mode {
	AB_SHELL_COMMANDS,
	AB_SHELL_BODY /* of a here-document: one double-quoted word */
};

/* As ab_shell_parse() for a text whose bytes are those of `source` (which
 * stays) with a NUL in place of each hole but patterns; `text` is mutable,
 * has AB_SHELL_PAD spare bytes, and stays. */
const struct ab_shell_tree *
ab_shell_parse_text(struct ab_arena *arena, unsigned char *text, uint32_t len,
		    const struct ab_word *source, enum ab_shell_mode mode,
		    const struct ab_shell_limits *limits,
		    struct ab_shell_result *result);

#define AB_SHELL_PAD 24

/* A tree whose word is all of the text as it stands. */
const struct ab_shell_tree *ab_tree_plain(struct ab_arena *arena,
					  const struct ab_word *source,
					  unsigned char *text, uint32_t len);

/* The limits with defaults in place. */
struct ab_shell_limits
ab_shell_limits_of(const struct ab_shell_limits *limits, size_t len);

/* $'...' and printf escapes */
uint32_t ab_decode_escape(const unsigned char *s, uint32_t len, char *out,
			  uint32_t *used, bool is_ansi);

/* begin..end of the tree's text as a span of the original. */
static inline struct ab_span ab_tree_span(const struct ab_shell_tree *tree,
					  uint32_t begin, uint32_t end)
{
	if (AB_UNLIKELY(tree->source))
		return ab_word_span(tree->source, begin, end - begin);
	return (struct ab_span){ begin, end };
}

#endif
