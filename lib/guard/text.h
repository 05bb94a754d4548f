/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tokens of texts in other languages than the shell's. */
#ifndef AB_GUARD_TEXT_H
#define AB_GUARD_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* What comments and strings look like. */
enum ab_lang {
	AB_LANG_C, /* and what is like it: // and slash-star */
	AB_LANG_SQL,
	AB_LANG_SHELLISH, /* # */
	AB_LANG_RUBY,	  /* the same, and "#{x}" */
	AB_LANG_LUA,
	AB_LANG_LISP
};

enum ab_token_kind { AB_TOKEN_WORD = 1, AB_TOKEN_STRING, AB_TOKEN_SIGN };

struct ab_token {
	uint32_t at, len; /* of a string: without its quotes */
	uint8_t kind;
	char quote;
	bool is_line; /* a newline stands before it */
	uint8_t head; /* the number of its ab_pair_bit(), of text.c alone */
};

struct ab_lexer {
	const char *text;
	uint32_t len, pos;
	enum ab_lang lang;
};

bool ab_lexer_next(struct ab_lexer *x, struct ab_token *t);
/* Behind the brace that ends an expression in a string, "{...}", whose text
   begins at `at`; 0: there is none. */
uint32_t ab_field_end(const char *s, uint32_t at, uint32_t end);
enum ab_lang ab_lang_of(const char *lang);
/* A bit for what a token may begin with to be this one of a rule's, by
   ab_pair_bit(); %string: any. */
uint64_t ab_text_heads(const char *want);
/* What tells most languages apart. */
uint8_t ab_lang_key(const char *lang);

#endif
