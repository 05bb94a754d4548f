/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What each byte is to the lexer. Every byte that is not here is ordinary,
 * also CR, NBSP and what is no UTF-8: bash sees no blank in them.
 */
#include "config.h"

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
