/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lib/shell against bash itself, on generated texts: what `bash -n` accepts
 * is accepted and what it refuses is refused; the words of generated harmless
 * quoting are those that bash gives to printf. No generated text is executed
 * but those words.
 *
 * Disagreements by choice are not generated: the inside of [[ ]] (bash -n
 * complains and still succeeds), extglob, which is always on here, and what
 * stands wrong between for (( and )).
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abtest.h"
#include "base/attr.h"
#include "shell/shell.h"

enum { ROUNDS = 400, TEXT = 2048 };

static char *memory;
static size_t memory_size;
static uint32_t seed = 1;

static uint32_t any(uint32_t below)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % below;
}

static const char *const tokens[] = {
	"a",	"b",	 "if",	   "then",     "fi",	   "else",  "elif",
	"while", "do",	 "done",   "for i in", "case a in", "esac", "{",
	"}",	"(",	 ")",	   ";",	       ";;",	   "&",	    "&&",
	"|",	"||",	 "\n",	   "!",	       "time",	   "f()",   "$x",
	"${x}", "$(",	 "`b`",	   "\"",       "'",	   "\"$(a)\"",
	"${x:-", "$((1+2))",	   "a=1",      "a=(",	   "b+=(c d)",
	"x[1]=y", "<f",	 ">g",	   "2>&1",     "<<<h",	   "<<E",   "\nE\n",
	"<(",	"&>k",	 "#c",	   "\\\n",     "{a,b}",	   "*",	    "~",
	"$'q\\'q'",	 "${#x}",  "|&",       ";&",	   "a)",    "a) b;;",
	"; done", "; fi", "then a", "{ a; }",  "( a )",	   "((1))",
	"if a; then b; fi",	   "while a; do b; done",
	"case a in b) c;; esac",   "for i in a b; do c; done",
	"f() { a; }",	 "coproc", "select i in a", "function f",
};

static size_t generate(char *text)
{
	uint32_t count = 1 + any(8);
	size_t len = 0;

	while (count--) {
		const char *t = tokens[any(AB_ARRAY_LEN(tokens))];

		len += (size_t)snprintf(text + len, TEXT - len, "%s%s", t,
					any(3) ? " " : any(2) ? ";" : "");
	}
	return len;
}

/* Runs bash with the arguments and gives it text; what it wrote to stdout.
 * The exit status, or 1 when it complained. */
static int run_bash(const char *option, const char *argument, const char *text,
		    size_t len, char *out, size_t *out_len)
{
	char path[] = "/tmp/shell_bash.XXXXXX", command[256];
	int fd = mkstemp(path), status;
	FILE *f;
	size_t n = 0;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, len), (ssize_t)len);
	close(fd);
	snprintf(command, sizeof(command), "bash %s %s %s 2>/dev/null", option,
		 path, argument);
	f = popen(command, "r");
	ck_assert(f != NULL);
	if (out)
		n = fread(out, 1, *out_len, f);
	status = pclose(f);
	unlink(path);
	if (out)
		*out_len = n;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static bool has_bash(void)
{
	return system("bash -c 'test \"${BASH_VERSINFO[0]}\" -eq 5 -a "
		      "\"${BASH_VERSINFO[1]}\" -ge 2' 2>/dev/null") == 0;
}

START_TEST(bash_accepts_what_we_accept)
{
	char text[TEXT];
	uint32_t wrong = 0;

	if (!has_bash()) {
		ab_test_skip("bash_accepts_what_we_accept", "no bash 5.2");
		return;
	}
	for (int i = 0; i < ROUNDS; i++) {
		size_t len = generate(text);
		struct ab_shell_result result;
		struct ab_arena arena;
		int bash = run_bash("-n", "", text, len, NULL, NULL);

		ab_arena_init(&arena, memory, memory_size);
		ab_shell_parse(&arena, text, len, NULL, &result);
		if ((bash == 0) == (result.status == AB_SHELL_OK))
			continue;
		wrong++;
		fprintf(stderr, "# bash %d, we: %s\n%.*s\n", bash,
			result.message ? result.message : "ok", (int)len,
			text);
	}
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

static const char *const pieces[] = {
	"a",	"b c",	 "'d e'",  "\"f g\"", "\\ ",  "\\\\",  "\"\\\"\"",
	"''",	"\"\"",	 "$'h\\ti'", "$'\\x41'", " ",  "  ",   "\t",
	"{j,k}", "{1..3}", "{l}",  "{m,",     "\"$v\"", "${v}",
	"${w}",	"\"$w\"", "${w#* }", "${v:-x}", "${n:-y z}", "\"${n:-y z}\"",
	"${v:1}", "$((1+2))", "\\\n", "=",	"x=y",	"#",   "a#b",
	"\\$v",	"'$v'",	 "$(echo p q)", "\"$(echo p q)\"", "`echo r`",
	"${w%% *}", "${v/e/E}", "${v^^}", "${v~~}", "$'\\''", "\\'", "\"'\"",
};

struct words {
	char text[8192];
	size_t len;
};

static const char *judged;

static enum ab_shell_answer take(void *user, struct ab_shell_run *run,
				 const struct ab_shell_command *c)
{
	struct words *w = user;

	(void)run;
	if (!c->argc || c->argv[0].len != 6 ||
	    memcmp(c->argv[0].text, "printf", 6) != 0)
		return AB_SHELL_GO;
	w->len = 0;
	for (uint32_t i = 2; i < c->argc; i++) {
		ck_assert_msg(ab_word_is_exact(&c->argv[i]),
			      "word %u is not exact: %s", i, judged);
		ck_assert_uint_lt(w->len + c->argv[i].len + 1,
				  sizeof(w->text));
		memcpy(w->text + w->len, c->argv[i].text, c->argv[i].len);
		w->len += c->argv[i].len;
		w->text[w->len++] = '|';
		w->text[w->len++] = '\n';
	}
	return AB_SHELL_GO;
}

START_TEST(bash_splits_words_as_we_do)
{
	static const struct ab_shell_visitor visitor = { .command = take };
	static const struct ab_shell_context context = { 0 };
	char text[TEXT], out[8192];
	uint32_t wrong = 0;

	if (!has_bash()) {
		ab_test_skip("bash_splits_words_as_we_do", "no bash 5.2");
		return;
	}
	for (int i = 0; i < ROUNDS; i++) {
		struct ab_shell_result result;
		const struct ab_shell_tree *tree;
		struct ab_arena arena;
		struct words words = { .len = 0 };
		size_t out_len = sizeof(out), len = 0;
		uint32_t count = 1 + any(6);

		len = (size_t)snprintf(text, TEXT,
				       "v=hello; w='s  t u'; unset n\n"
				       "printf '%%s|\\n' ");
		while (count--)
			len += (size_t)snprintf(
				text + len, TEXT - len, "%s",
				pieces[any(AB_ARRAY_LEN(pieces))]);
		judged = text;
		ab_arena_init(&arena, memory, memory_size);
		tree = ab_shell_parse(&arena, text, len, NULL, &result);
		ab_shell_run(&arena, tree, &context, &visitor, &words,
			     &result);
		run_bash("--norc", "", text, len, out, &out_len);
		if (words.len == 0 && out_len == 2) /* no words: one empty */
			continue;
		if (words.len == out_len &&
		    memcmp(words.text, out, out_len) == 0)
			continue;
		wrong++;
		fprintf(stderr, "# %.*s\n# bash: %.*s# we: %.*s", (int)len,
			text, (int)out_len, out, (int)words.len, words.text);
	}
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("shell_bash");
	TCase *tc = tcase_create("bash");
	SRunner *runner = srunner_create(s);
	int failed;

	memory_size = AB_SHELL_ARENA(TEXT) + 65536;
	memory = malloc(memory_size);
	suite_add_tcase(s, tc);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, bash_accepts_what_we_accept);
	tcase_add_test(tc, bash_splits_words_as_we_do);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	free(memory);
	return failed ? 1 : 0;
}
