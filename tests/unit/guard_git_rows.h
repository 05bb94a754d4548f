/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Commands for the tests of the git check: rows of words with holes, and a
 * splitter for simple shell lines. Not the shell parser: what it does not
 * understand it refuses.
 */
#ifndef GUARD_GIT_ROWS_H
#define GUARD_GIT_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "guard/git.h"

#define ROW_WORDS 64
#define ROW_ENV 8
#define ROW_HOLES 4

struct row_word {
	struct ab_word word;
	struct ab_hole holes[ROW_HOLES];
	char text[512];
	char names[ROW_HOLES][16];
};

struct row_command {
	struct row_word words[ROW_WORDS];
	size_t count;
	struct row_word values[ROW_ENV];
	struct ab_git_assign env[ROW_ENV];
	char names[ROW_ENV][64];
	size_t env_count;
};

void row_clear(struct row_command *c);
/*
 * One more word. In it {{bytes}}, {{fields}}, {{home}} and {{NAME}} are holes
 * (NAME a variable, bytes), {{=*.c}} is a pattern.
 */
bool row_add(struct row_command *c, const char *text);
bool row_add_env(struct row_command *c, const char *assignment);

/* The context that the published rows assume: doc of the corpus. */
void row_context(struct ab_git_context *context);
/* Judges it in that context with its environment. */
enum ab_git_verdict row_check(struct row_command *c,
			      const struct ab_git_context *context,
			      struct ab_git_result *result);

/*
 * The worst verdict of the commands of a simple line; false when the line is
 * more than words, quotes, variables, redirections and the operators between
 * commands. A command that is not git's is NONE.
 */
bool row_check_line(const char *line, const struct ab_git_context *context,
		    enum ab_git_verdict *verdict, struct ab_git_result *result);

#endif
