/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names that the parser, the run and the guard treat in a way of their
 * own: found once for each command, by one multiplication. A name of eight
 * bytes at most is a number (base/key.h), and no two of these have the same
 * place in the index; tests/unit/shell_names_internal.c says so.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/attr.h"
#include "base/key.h"
#include "shell/parser.h"

static const struct {
	char text[9];
	uint8_t len, builtin, reserved;
} names[] = {
	{ "", 0, AB_BUILTIN_NONE, R_NONE },
	{ "!", 1, AB_BUILTIN_NONE, R_BANG },
	{ ".", 1, AB_BUILTIN_DOT, R_NONE },
	{ ":", 1, AB_BUILTIN_COLON, R_NONE },
	{ "[", 1, AB_BUILTIN_BRACKET, R_NONE },
	{ "[[", 2, AB_BUILTIN_NONE, R_COND },
	{ "]]", 2, AB_BUILTIN_NONE, R_STRAY },
	{ "alias", 5, AB_BUILTIN_ALIAS, R_NONE },
	{ "break", 5, AB_BUILTIN_BREAK, R_NONE },
	{ "builtin", 7, AB_BUILTIN_BUILTIN, R_NONE },
	{ "case", 4, AB_BUILTIN_NONE, R_CASE },
	{ "cat", 3, AB_BUILTIN_CAT, R_NONE },
	{ "cd", 2, AB_BUILTIN_CD, R_NONE },
	{ "command", 7, AB_BUILTIN_COMMAND, R_NONE },
	{ "continue", 8, AB_BUILTIN_CONTINUE, R_NONE },
	{ "coproc", 6, AB_BUILTIN_NONE, R_COPROC },
	{ "declare", 7, AB_BUILTIN_DECLARE, R_NONE },
	{ "do", 2, AB_BUILTIN_NONE, R_DO },
	{ "done", 4, AB_BUILTIN_NONE, R_DONE },
	{ "echo", 4, AB_BUILTIN_ECHO, R_NONE },
	{ "elif", 4, AB_BUILTIN_NONE, R_ELIF },
	{ "else", 4, AB_BUILTIN_NONE, R_ELSE },
	{ "esac", 4, AB_BUILTIN_NONE, R_ESAC },
	{ "eval", 4, AB_BUILTIN_EVAL, R_NONE },
	{ "exit", 4, AB_BUILTIN_EXIT, R_NONE },
	{ "export", 6, AB_BUILTIN_EXPORT, R_NONE },
	{ "false", 5, AB_BUILTIN_FALSE, R_NONE },
	{ "fi", 2, AB_BUILTIN_NONE, R_FI },
	{ "for", 3, AB_BUILTIN_NONE, R_FOR },
	{ "function", 8, AB_BUILTIN_NONE, R_FUNCTION },
	{ "getopts", 7, AB_BUILTIN_GETOPTS, R_NONE },
	{ "if", 2, AB_BUILTIN_NONE, R_IF },
	{ "in", 2, AB_BUILTIN_NONE, R_STRAY },
	{ "let", 3, AB_BUILTIN_LET, R_NONE },
	{ "local", 5, AB_BUILTIN_LOCAL, R_NONE },
	{ "mapfile", 7, AB_BUILTIN_MAPFILE, R_NONE },
	{ "popd", 4, AB_BUILTIN_POPD, R_NONE },
	{ "printf", 6, AB_BUILTIN_PRINTF, R_NONE },
	{ "pushd", 5, AB_BUILTIN_PUSHD, R_NONE },
	{ "pwd", 3, AB_BUILTIN_PWD, R_NONE },
	{ "read", 4, AB_BUILTIN_READ, R_NONE },
	{ "readonly", 8, AB_BUILTIN_READONLY, R_NONE },
	{ "return", 6, AB_BUILTIN_RETURN, R_NONE },
	{ "select", 6, AB_BUILTIN_NONE, R_SELECT },
	{ "set", 3, AB_BUILTIN_SET, R_NONE },
	{ "shift", 5, AB_BUILTIN_SHIFT, R_NONE },
	{ "shopt", 5, AB_BUILTIN_SHOPT, R_NONE },
	{ "sleep", 5, AB_BUILTIN_SLEEP, R_NONE },
	{ "source", 6, AB_BUILTIN_SOURCE, R_NONE },
	{ "test", 4, AB_BUILTIN_TEST, R_NONE },
	{ "then", 4, AB_BUILTIN_NONE, R_THEN },
	{ "time", 4, AB_BUILTIN_NONE, R_TIME },
	{ "trap", 4, AB_BUILTIN_TRAP, R_NONE },
	{ "true", 4, AB_BUILTIN_TRUE, R_NONE },
	{ "type", 4, AB_BUILTIN_TYPE, R_NONE },
	{ "typeset", 7, AB_BUILTIN_TYPESET, R_NONE },
	{ "unset", 5, AB_BUILTIN_UNSET, R_NONE },
	{ "until", 5, AB_BUILTIN_NONE, R_UNTIL },
	{ "wait", 4, AB_BUILTIN_WAIT, R_NONE },
	{ "which", 5, AB_BUILTIN_WHICH, R_NONE },
	{ "while", 5, AB_BUILTIN_NONE, R_WHILE },
	{ "{", 1, AB_BUILTIN_NONE, R_OPEN },
	{ "}", 1, AB_BUILTIN_NONE, R_CLOSE },
};

/* Found by trying. */
#define NAME_HASH UINT64_C(0xb06dc6fa6e7eed6b)

/* By the hash's first byte; 0: none of them. */
static const uint8_t name_index[256] = {
	[0] = 8, [2] = 10, [15] = 56, [22] = 35, [24] = 40, [26] = 31,
	[27] = 21, [28] = 12, [29] = 49, [30] = 9, [31] = 48, [37] = 62,
	[39] = 24, [41] = 22, [55] = 47, [60] = 42, [64] = 23, [71] = 41,
	[76] = 57, [77] = 7, [79] = 20, [80] = 45, [82] = 27, [83] = 13,
	[98] = 14, [101] = 15, [108] = 25, [119] = 60, [122] = 19, [123] = 34,
	[126] = 51, [128] = 28, [132] = 17, [136] = 32, [141] = 30,
	[142] = 43, [146] = 53, [164] = 38, [166] = 50, [170] = 36,
	[175] = 54, [178] = 58, [179] = 2, [183] = 4, [186] = 44, [188] = 5,
	[190] = 1, [194] = 46, [196] = 61, [201] = 52, [209] = 18, [220] = 29,
	[226] = 16, [231] = 33, [237] = 26, [238] = 37, [241] = 39,
	[244] = 59, [248] = 3, [249] = 6, [251] = 55, [252] = 11,
};

static_assert(AB_ARRAY_LEN(names) <= UINT8_MAX, "index of a name");

/* The number of the name with that key; 0: it is none of them. */
static inline size_t find_key(uint64_t key, size_t len)
{
	size_t i = name_index[(key * NAME_HASH) >> 56];

	return names[i].len == len && ab_load64(names[i].text) == key ? i : 0;
}

static inline bool is_readarray(const char *name, size_t len)
{
	return AB_UNLIKELY(len == 9) && !memcmp(name, "readarray", 9);
}

enum ab_builtin ab_shell_builtin_of(const char *name, size_t len)
{
	size_t i = len && len <= 8 ? find_key(ab_key8(name, len), len) : 0;

	return is_readarray(name, len) ? AB_BUILTIN_READARRAY :
					 (enum ab_builtin)names[i].builtin;
}

enum reserved ab_parse_name(const unsigned char *s, uint32_t len,
			    enum ab_builtin *builtin)
{
	const char *name = (const char *)s;
	size_t i = 0;

	static_assert(AB_SHELL_PAD >= 8, "room behind the name");
	if (len && len <= 8) {
		uint32_t rest = 64 - 8 * len;

		i = find_key(ab_load64(name) << rest >> rest, len);
	}
	*builtin = is_readarray(name, len) ? AB_BUILTIN_READARRAY :
					     (enum ab_builtin)names[i].builtin;
	return (enum reserved)names[i].reserved;
}
