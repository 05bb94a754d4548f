/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What each byte is to the lexer, and the scans that need no frame. Every byte
 * that is not in the table is ordinary, also CR, NBSP and what is no UTF-8:
 * bash sees no blank in them.
 */
#include "config.h"

#include <assert.h>

#include "shell/parser.h"

const unsigned char ab_shell_class[256] = {
	[0] = CLS_NUL,
	[' '] = CLS_END,
	['\t'] = CLS_END,
	['\n'] = CLS_END,
	[';'] = CLS_END,
	['&'] = CLS_END,
	['|'] = CLS_END,
	[')'] = CLS_END,
	['('] = CLS_OPEN,
	['<'] = CLS_ANGLE,
	['>'] = CLS_ANGLE,
	['$'] = CLS_DOLLAR,
	['`'] = CLS_BACKQUOTE,
	['\''] = CLS_SINGLE,
	['"'] = CLS_DOUBLE,
	['\\'] = CLS_BACKSLASH,
	['*'] = WORD_GLOB,
	['?'] = WORD_GLOB,
	['['] = WORD_GLOB,
	['{'] = WORD_BRACE,
	['~'] = WORD_TILDE,
	['='] = WORD_EQUALS,
};

const unsigned char ab_shell_name[256] = {
	['0' ... '9'] = AB_DIGIT,
	['A' ... 'Z'] = AB_NAME,
	['a' ... 'z'] = AB_NAME,
	['_'] = AB_NAME,
};

/* Quoted text is long more often than not: 16 bytes are looked at in one go.
 * The NULs behind the text end each of them. */
static inline uint32_t plain(const struct parser *p, uint32_t at)
{
	uint32_t n;

	static_assert(AB_SHELL_PAD >= 8 + sizeof(ab_vector), "room behind it");
	do {
		ab_vector v = ab_vector_load(p->s + at);

		n = ab_vector_first(
			(ab_vector)((v == 0) | (v == '$') | (v == '`') |
				    (v == '"') | (v == '\\')));
		at += n;
	} while (n == sizeof(ab_vector));
	return at;
}

uint32_t ab_lex_plain(const struct parser *p, uint32_t at)
{
	return plain(p, at);
}

uint32_t ab_lex_double_text(const struct parser *p, uint32_t at,
			    uint32_t *escapes)
{
	const unsigned char *s = p->s;

	for (;;) {
		uint32_t n;

		at = plain(p, at);
		if (s[at] != '\\' || s[at + 1] == '\n' || p->source)
			return at;
		n = ab_tree_is_escape(s + at);
		*escapes += n;
		at += 1 + n;
	}
}

uint32_t ab_lex_to_single(const struct parser *p, uint32_t at)
{
	uint32_t n;

	do {
		ab_vector v = ab_vector_load(p->s + at);

		n = ab_vector_first((ab_vector)((v == 0) | (v == '\'')));
		at += n;
	} while (n == sizeof(ab_vector));
	return at;
}

/* The end of the name at `at`; `at` itself when there is none. */
uint32_t ab_lex_name_end(const struct parser *p, uint32_t at)
{
	uint32_t n = sizeof(ab_vector);

	if (!(ab_shell_name[p->s[at]] & AB_NAME))
		return at;
	for (; n == sizeof(ab_vector); at += n)
		n = ab_scan_name(p->s + at);
	return at;
}

void ab_lex_blanks_more(struct parser *p)
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

/* From `at` to the next `quote` that no backslash precedes; len: none. */
uint32_t ab_lex_find(const struct parser *p, uint32_t at, unsigned char quote)
{
	while (at < p->len && p->s[at] != quote)
		at += p->s[at] == '\\' ? 2 : 1;
	return at < p->len ? at : p->len;
}
