/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names that the grammar and the run know are found, each as what it is,
 * and nothing else is; and what base/key.h does to short names.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/key.h"
#include "shell/parser.h"

static const struct {
	const char *name;
	enum ab_builtin builtin;
	enum reserved reserved;
} known[] = {
	{ "!", AB_BUILTIN_NONE, R_BANG },
	{ ".", AB_BUILTIN_DOT, R_NONE },
	{ ":", AB_BUILTIN_COLON, R_NONE },
	{ "[", AB_BUILTIN_BRACKET, R_NONE },
	{ "[[", AB_BUILTIN_NONE, R_COND },
	{ "]]", AB_BUILTIN_NONE, R_STRAY },
	{ "alias", AB_BUILTIN_ALIAS, R_NONE },
	{ "break", AB_BUILTIN_BREAK, R_NONE },
	{ "builtin", AB_BUILTIN_BUILTIN, R_NONE },
	{ "case", AB_BUILTIN_NONE, R_CASE },
	{ "cat", AB_BUILTIN_CAT, R_NONE },
	{ "cd", AB_BUILTIN_CD, R_NONE },
	{ "command", AB_BUILTIN_COMMAND, R_NONE },
	{ "continue", AB_BUILTIN_CONTINUE, R_NONE },
	{ "coproc", AB_BUILTIN_NONE, R_COPROC },
	{ "declare", AB_BUILTIN_DECLARE, R_NONE },
	{ "do", AB_BUILTIN_NONE, R_DO },
	{ "done", AB_BUILTIN_NONE, R_DONE },
	{ "echo", AB_BUILTIN_ECHO, R_NONE },
	{ "elif", AB_BUILTIN_NONE, R_ELIF },
	{ "else", AB_BUILTIN_NONE, R_ELSE },
	{ "esac", AB_BUILTIN_NONE, R_ESAC },
	{ "eval", AB_BUILTIN_EVAL, R_NONE },
	{ "exit", AB_BUILTIN_EXIT, R_NONE },
	{ "export", AB_BUILTIN_EXPORT, R_NONE },
	{ "false", AB_BUILTIN_FALSE, R_NONE },
	{ "fi", AB_BUILTIN_NONE, R_FI },
	{ "for", AB_BUILTIN_NONE, R_FOR },
	{ "function", AB_BUILTIN_NONE, R_FUNCTION },
	{ "getopts", AB_BUILTIN_GETOPTS, R_NONE },
	{ "if", AB_BUILTIN_NONE, R_IF },
	{ "in", AB_BUILTIN_NONE, R_STRAY },
	{ "let", AB_BUILTIN_LET, R_NONE },
	{ "local", AB_BUILTIN_LOCAL, R_NONE },
	{ "mapfile", AB_BUILTIN_MAPFILE, R_NONE },
	{ "popd", AB_BUILTIN_POPD, R_NONE },
	{ "printf", AB_BUILTIN_PRINTF, R_NONE },
	{ "pushd", AB_BUILTIN_PUSHD, R_NONE },
	{ "pwd", AB_BUILTIN_PWD, R_NONE },
	{ "read", AB_BUILTIN_READ, R_NONE },
	{ "readarray", AB_BUILTIN_READARRAY, R_NONE },
	{ "readonly", AB_BUILTIN_READONLY, R_NONE },
	{ "return", AB_BUILTIN_RETURN, R_NONE },
	{ "select", AB_BUILTIN_NONE, R_SELECT },
	{ "set", AB_BUILTIN_SET, R_NONE },
	{ "shift", AB_BUILTIN_SHIFT, R_NONE },
	{ "shopt", AB_BUILTIN_SHOPT, R_NONE },
	{ "sleep", AB_BUILTIN_SLEEP, R_NONE },
	{ "source", AB_BUILTIN_SOURCE, R_NONE },
	{ "test", AB_BUILTIN_TEST, R_NONE },
	{ "then", AB_BUILTIN_NONE, R_THEN },
	{ "time", AB_BUILTIN_NONE, R_TIME },
	{ "trap", AB_BUILTIN_TRAP, R_NONE },
	{ "true", AB_BUILTIN_TRUE, R_NONE },
	{ "type", AB_BUILTIN_TYPE, R_NONE },
	{ "typeset", AB_BUILTIN_TYPESET, R_NONE },
	{ "unset", AB_BUILTIN_UNSET, R_NONE },
	{ "until", AB_BUILTIN_NONE, R_UNTIL },
	{ "wait", AB_BUILTIN_WAIT, R_NONE },
	{ "which", AB_BUILTIN_WHICH, R_NONE },
	{ "while", AB_BUILTIN_NONE, R_WHILE },
	{ "{", AB_BUILTIN_NONE, R_OPEN },
	{ "}", AB_BUILTIN_NONE, R_CLOSE },
};

#define COUNT (sizeof(known) / sizeof(*known))

static enum reserved look_up(const char *name, size_t len,
			     enum ab_builtin *builtin)
{
	unsigned char padded[64];

	/* what stands behind the name says nothing */
	memset(padded, 'x', sizeof(padded));
	memcpy(padded, name, len);
	return ab_parse_name(padded, (uint32_t)len, builtin);
}

static int is_known(const char *name)
{
	for (size_t i = 0; i < COUNT; i++) {
		if (!strcmp(known[i].name, name))
			return 1;
	}
	return 0;
}

START_TEST(every_name_is_found_as_what_it_is)
{
	uint64_t builtins = 0;

	for (size_t i = 0; i < COUNT; i++) {
		const char *name = known[i].name;
		enum ab_builtin builtin;

		ck_assert_msg(look_up(name, strlen(name), &builtin) ==
				      known[i].reserved,
			      "%s is another word", name);
		ck_assert_msg(builtin == known[i].builtin &&
				      ab_shell_builtin_of(name, strlen(name)) ==
					      builtin,
			      "%s is another command", name);
		builtins |= UINT64_C(1) << builtin;
	}
	/* which is the last one, and none is missing above */
	ck_assert_uint_eq(builtins, AB_BUILTIN(WHICH) * 2 - 1);
}
END_TEST

/* Each name with a byte more, less, or another one. */
START_TEST(nothing_else_is_found)
{
	enum ab_builtin builtin;
	char text[16];

	for (size_t i = 0; i < COUNT; i++) {
		size_t len = strlen(known[i].name);

		for (size_t at = 0; at <= len; at++) {
			for (int byte = 1; byte < 256; byte++) {
				strcpy(text, known[i].name);
				text[at] = (char)byte;
				if (at == len)
					text[len + 1] = '\0';
				if (is_known(text))
					continue;
				ck_assert_int_eq(look_up(text, strlen(text),
							 &builtin),
						 R_NONE);
				ck_assert_int_eq(builtin, AB_BUILTIN_NONE);
			}
		}
		strcpy(text, known[i].name);
		text[len - 1] = '\0';
		if (!is_known(text))
			ck_assert_int_eq(look_up(text, len - 1, &builtin),
					 R_NONE);
	}
	ck_assert_int_eq(look_up("", 0, &builtin), R_NONE);
	ck_assert_int_eq(look_up("function\0", 9, &builtin), R_NONE);
}
END_TEST

START_TEST(short_names_compare_as_the_c_library_does)
{
	char a[40], b[40];

	for (size_t n = 0; n < sizeof(a); n++) {
		memset(a, 'x', sizeof(a));
		memset(b, 'x', sizeof(b));
		memset(b + n, 'y', sizeof(b) - n);
		ck_assert(ab_same(a, b, n));
		for (size_t i = 0; i < n; i++) {
			b[i] = '\0';
			ck_assert(!ab_same(a, b, n));
			b[i] = 'x';
		}
	}
}
END_TEST

/* The first byte that is not ordinary, wherever it stands. */
START_TEST(what_is_scanned_is_ordinary)
{
	static const char plain[] = "+,-./:_";
	unsigned char s[16];

	for (unsigned byte = 0; byte < 256; byte++) {
		bool is_plain = (byte >= '0' && byte <= '9') ||
				(byte >= 'A' && byte <= 'Z') ||
				(byte >= 'a' && byte <= 'z') ||
				(byte && strchr(plain, (int)byte));

		ck_assert_msg(!is_plain || !ab_shell_class[byte],
			      "byte %u is special", byte);
		for (size_t at = 0; at < sizeof(s); at++) {
			memset(s, 'x', sizeof(s));
			s[at] = (unsigned char)byte;
			ck_assert_uint_eq(ab_scan_ordinary(s),
					  is_plain ? sizeof(s) : at);
			if (at + 1 < sizeof(s))
				s[at + 1] = ' ';
			ck_assert_uint_eq(ab_scan_ordinary(s),
					  is_plain ? at + 1 : at);
		}
	}
}
END_TEST

START_TEST(short_bytes_are_copied_and_no_more)
{
	char from[40], to[42];

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (char)(i + 1);
	for (size_t n = 0; n <= sizeof(from); n++) {
		memset(to, 0, sizeof(to));
		ab_copy(to + 1, from, n);
		ck_assert_mem_eq(to + 1, from, n);
		for (size_t i = 0; i < sizeof(to); i++)
			ck_assert((i > 0 && i <= n) || !to[i]);
	}
}
END_TEST

START_TEST(the_first_byte_is_sought)
{
	static const unsigned char bytes[] = { 1, '/', 0x7f, 0x80, 0xff };
	char text[40];

	for (size_t k = 0; k < sizeof(bytes); k++) {
		for (size_t n = 0; n < sizeof(text); n++) {
			/* one less and one more are no hits */
			for (size_t i = 0; i < sizeof(text); i++)
				text[i] = (char)(bytes[k] + (i & 1 ? 1 : -1));
			ck_assert_uint_eq(ab_seek(text, n, bytes[k]), n);
			memset(text + n, bytes[k], sizeof(text) - n);
			ck_assert_uint_eq(ab_seek(text, n, bytes[k]), n);
			for (size_t i = n; i-- > 0;) {
				text[i] = (char)bytes[k];
				ck_assert_uint_eq(ab_seek(text, n, bytes[k]),
						  i);
			}
		}
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("shell_names_internal");
	TCase *t = tcase_create("names");
	SRunner *runner;
	int failed;

	tcase_add_test(t, every_name_is_found_as_what_it_is);
	tcase_add_test(t, nothing_else_is_found);
	tcase_add_test(t, short_names_compare_as_the_c_library_does);
	tcase_add_test(t, what_is_scanned_is_ordinary);
	tcase_add_test(t, short_bytes_are_copied_and_no_more);
	tcase_add_test(t, the_first_byte_is_sought);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
