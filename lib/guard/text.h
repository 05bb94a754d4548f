/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tokens of texts in other languages than the shell's (lexer.c), and the
 * rules about them (text.c).
 */
#ifndef AB_GUARD_TEXT_H
#define AB_GUARD_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* What comments and strings look like. */
enum {
	AB_LEX_HASH = 1,	/* # to the line's end */
	AB_LEX_SLASH = 2,	/* // and slash-star */
	AB_LEX_DASH = 4,	/* -- to the line's end */
	AB_LEX_LISP = 8,	/* ; to the line's end, names with - */
	AB_LEX_SQL = 16,	/* slash-star, names between quotes */
	AB_LEX_TRIPLE = 32,	/* """...""" */
	AB_LEX_FIELDS = 64,	/* "#{...}" */
	AB_LEX_REGEX = 128,	/* /.../ where no division can stand */
	AB_LEX_PERL = 256,	/* q(...), s{...}{...}, $# */
	AB_LEX_PERCENT = 512,	/* %q(...), %(...), %r{...} */
	AB_LEX_HEREDOC = 1024,	/* <<X, <<~X, <<-X */
	AB_LEX_HEREDOC_PHP = 2048, /* <<<X */
	AB_LEX_LONG = 4096,	/* [[...]], [=[...]=] */
	AB_LEX_TEMPLATE = 8192, /* `${...}` */
	AB_LEX_LINE = 16384,	/* "..." ends with its line */
	AB_LEX_HEAD = 32768	/* a line of # and a space */
};

enum ab_token_kind { AB_TOKEN_WORD = 1, AB_TOKEN_STRING, AB_TOKEN_SIGN };

struct ab_token {
	/* of a string: without its quotes; a pattern is a sign of some bytes */
	uint32_t at, len;
	uint8_t kind;
	char quote;   /* 'w': words without quotes, as qw(...) */
	bool is_line; /* a newline stands before it */
	bool is_doubt; /* a pattern, or a division: then what it has is code */
	uint16_t hash; /* ab_text_hash(), of text.c alone; 0: a string */
};

struct ab_lexer {
	const char *text;
	uint32_t len, pos;
	uint32_t traits; /* AB_LEX_*, ab_lex_traits() */
	/* of its own: the last token but those of spaces, and where the body
	   of a here-document stands that the last line began */
	uint32_t last_at, last_len;
	uint8_t last_kind;
	uint32_t body_at, body_end;
	uint32_t plain_to; /* no literal without quotes begins before it */
	/* a bit for each ( that is open: if (, while (; and of the last ) */
	uint64_t conditions;
	bool was_condition;
	bool has_data; /* what stands behind __END__ is read */
	uint8_t nest;  /* of strings in expressions of strings */
	bool is_deep;  /* too much of that: what is a string is not known */
};

bool ab_lexer_next(struct ab_lexer *x, struct ab_token *t);
/* From the beginning again: no token stands before it. */
static inline void ab_lexer_rewind(struct ab_lexer *x)
{
	*x = (struct ab_lexer){ .text = x->text, .len = x->len,
				.traits = x->traits, .nest = x->nest,
				.has_data = x->has_data,
				.is_deep = x->is_deep };
}
/* Behind the brace that ends an expression in a string, "{...}", whose text
   begins at `at`; 0: there is none. */
uint32_t ab_field_end(struct ab_lexer *x, uint32_t at, uint32_t end);
uint32_t ab_lex_traits(const char *lang);
/* 1 to 1023: what tells most words apart, of at least one byte and in letters
   of whatever size. */
static inline uint32_t ab_text_hash(const char *s, uint32_t len)
{
	uint32_t h = ((uint32_t)(unsigned char)s[0] | 0x20) * 31 +
		     ((uint32_t)(unsigned char)s[len / 2] | 0x20) * 131 +
		     ((uint32_t)(unsigned char)s[len - 1] | 0x20) * 7 + len;

	return h % 1023 + 1;
}

/* Sets of ab_text_hash(), by its low bits and by its high ones: what is in both
   may be meant, what is not in both is not. */
struct ab_text_bits {
	uint64_t low, high;
};
static inline void ab_text_bits_add(struct ab_text_bits *b, uint32_t hash)
{
	b->low |= UINT64_C(1) << (hash & 63);
	b->high |= UINT64_C(1) << (hash >> 4 & 63);
}
/* What a token of a rule's asks for; "not:x" and "!x" have the bits of x. */
struct ab_text_want {
	const char *text;
	struct ab_text_bits bits;
};
struct ab_text_want ab_text_want(const char *text);
/* What a token may be to be a rule's first, and the one hash that it must
   have; AB_TEXT_ANY: there is more than one. */
struct ab_text_bits ab_text_heads(const char *want);
#define AB_TEXT_ANY 1024
uint32_t ab_text_first(const char *want);

/* What tells most languages apart. */
uint32_t ab_lang_key(const char *lang);

#endif
