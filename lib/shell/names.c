/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The commands that the run and the guard treat in a way of their own, by
 * their names: found once for each command.
 */
#include "config.h"

#include <string.h>

#include "base/attr.h"
#include "shell/shell.h"

/* Ordered by the first byte. */
static const struct {
	char text[10];
	uint8_t len, builtin;
} names[] = {
	{ "", 0, AB_BUILTIN_NONE },
	{ ".", 1, AB_BUILTIN_DOT },
	{ ":", 1, AB_BUILTIN_COLON },
	{ "[", 1, AB_BUILTIN_BRACKET },
	{ "alias", 5, AB_BUILTIN_ALIAS },
	{ "break", 5, AB_BUILTIN_BREAK },
	{ "builtin", 7, AB_BUILTIN_BUILTIN },
	{ "cat", 3, AB_BUILTIN_CAT },
	{ "cd", 2, AB_BUILTIN_CD },
	{ "command", 7, AB_BUILTIN_COMMAND },
	{ "continue", 8, AB_BUILTIN_CONTINUE },
	{ "declare", 7, AB_BUILTIN_DECLARE },
	{ "echo", 4, AB_BUILTIN_ECHO },
	{ "eval", 4, AB_BUILTIN_EVAL },
	{ "exit", 4, AB_BUILTIN_EXIT },
	{ "export", 6, AB_BUILTIN_EXPORT },
	{ "false", 5, AB_BUILTIN_FALSE },
	{ "getopts", 7, AB_BUILTIN_GETOPTS },
	{ "let", 3, AB_BUILTIN_LET },
	{ "local", 5, AB_BUILTIN_LOCAL },
	{ "mapfile", 7, AB_BUILTIN_MAPFILE },
	{ "popd", 4, AB_BUILTIN_POPD },
	{ "printf", 6, AB_BUILTIN_PRINTF },
	{ "pushd", 5, AB_BUILTIN_PUSHD },
	{ "pwd", 3, AB_BUILTIN_PWD },
	{ "read", 4, AB_BUILTIN_READ },
	{ "readarray", 9, AB_BUILTIN_READARRAY },
	{ "readonly", 8, AB_BUILTIN_READONLY },
	{ "return", 6, AB_BUILTIN_RETURN },
	{ "set", 3, AB_BUILTIN_SET },
	{ "shift", 5, AB_BUILTIN_SHIFT },
	{ "shopt", 5, AB_BUILTIN_SHOPT },
	{ "sleep", 5, AB_BUILTIN_SLEEP },
	{ "source", 6, AB_BUILTIN_SOURCE },
	{ "test", 4, AB_BUILTIN_TEST },
	{ "trap", 4, AB_BUILTIN_TRAP },
	{ "true", 4, AB_BUILTIN_TRUE },
	{ "type", 4, AB_BUILTIN_TYPE },
	{ "typeset", 7, AB_BUILTIN_TYPESET },
	{ "unset", 5, AB_BUILTIN_UNSET },
	{ "wait", 4, AB_BUILTIN_WAIT },
	{ "which", 5, AB_BUILTIN_WHICH },
};

/* Where the names with this first byte begin; 0: none does. */
static const uint8_t names_first[256] = {
	['.'] = 1,  [':'] = 2,	['['] = 3,  ['a'] = 4,	['b'] = 5,
	['c'] = 7,  ['d'] = 11, ['e'] = 12, ['f'] = 16, ['g'] = 17,
	['l'] = 18, ['m'] = 20, ['p'] = 21, ['r'] = 25, ['s'] = 29,
	['t'] = 34, ['u'] = 39, ['w'] = 40,
};

enum ab_builtin ab_shell_builtin_of(const char *name, size_t len)
{
	size_t i;

	if (!len)
		return AB_BUILTIN_NONE;
	i = names_first[(unsigned char)name[0]];
	for (; i && i < AB_ARRAY_LEN(names) && names[i].text[0] == name[0];
	     i++)
		if (names[i].len == len &&
		    names[i].text[len - 1] == name[len - 1] &&
		    memcmp(names[i].text, name, len) == 0)
			return (enum ab_builtin)names[i].builtin;
	return AB_BUILTIN_NONE;
}
