/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One run of the git check: what the parts in git*.c share.
 */
#ifndef AB_GUARD_GIT_WALK_H
#define AB_GUARD_GIT_WALK_H

#include "guard/git_table.h"

/* Longer paths are taken for paths outside: Linux knows none. */
#define AB_GIT_PATH_MAX 4096

enum ab_git_where {
	WHERE_INSIDE,
	WHERE_TEMP,
	WHERE_DEVICE, /* /dev/null, a descriptor that is open already */
	WHERE_UNKNOWN,
	WHERE_OUTSIDE
};

struct ab_git_place {
	enum ab_git_where where;
	bool is_git_dir; /* .git, or below one */
	bool is_tree;	 /* the whole worktree, or more */
};

#define AB_GIT_NO_WORD SIZE_MAX

struct ab_git_walk {
	const struct ab_word *words;
	size_t count;
	const struct ab_git_context *context;
	struct ab_git_result *result;
	const struct ab_git_command *command;
	unsigned flags;		/* enum ab_git_flag */
	struct ab_git_text cwd; /* after every -C; NULL: unknown */
	char *cwd_room;		/* AB_GIT_PATH_MAX bytes */
	bool has_verb;
	bool is_help;	  /* only prints how it is used */
	bool is_ended;	  /* only operands from here */
	bool has_dashes;  /* "--" was seen */
	size_t operands;  /* how many */
	size_t after;	  /* of these, after "--" */
	size_t first;	  /* index of the first, or AB_GIT_NO_WORD */
	size_t noted;	  /* the operand that the judge wants at the end */
	size_t unsure;	  /* one that may be anywhere, or AB_GIT_NO_WORD */
	size_t at;	  /* words[at] is the command or its verb */
};

/* git_walk.c */
void ab_git_found(struct ab_git_walk *walk, enum ab_git_act act, size_t word,
		  size_t begin, size_t end);
void ab_git_found_word(struct ab_git_walk *walk, enum ab_git_act act,
		       size_t word);
/* walk->command is set, to what words[word] names. */
void ab_git_start(struct ab_git_walk *walk, size_t word);
/* The options and operands of walk->command, from this word on. */
void ab_git_walk_words(struct ab_git_walk *walk, size_t from);

/* git_judge.c */
void ab_git_judge_value(struct ab_git_walk *walk, enum ab_git_value value,
			size_t word, size_t begin);
void ab_git_judge_operand(struct ab_git_walk *walk, size_t word);
void ab_git_judge_end(struct ab_git_walk *walk);

/* git_shows.c: files of secrets among what the command prints */
void ab_git_judge_shown(struct ab_git_walk *walk);

/* git_path.c: text[begin..] of a word as a path */
struct ab_git_place ab_git_place_of(const struct ab_git_walk *walk,
				    const struct ab_word *word, size_t begin);
/* The same as a pathspec: gitglossary(7). */
struct ab_git_place ab_git_pathspec_of(const struct ab_git_walk *walk,
				       const struct ab_word *word);
/* Goes to the directory: what -C does. */
struct ab_git_place ab_git_enter(struct ab_git_walk *walk,
				 const struct ab_word *word);
/* It runs in a directory that is known, and in no place an agent has. */
bool ab_git_is_elsewhere(const struct ab_git_walk *walk);
/* Is text[begin..] behind a revision the file that `out`, a word of the shell,
 * leads to? */
bool ab_git_is_same_file(const struct ab_git_walk *walk,
			 const struct ab_word *word, size_t begin,
			 const struct ab_word *out);
bool ab_git_same_path(const struct ab_git_walk *walk,
		      const struct ab_word *word, size_t begin,
		      struct ab_git_text path);

/* git_config.c */
/* -c text[begin..]; with --config-env the value is not known. */
void ab_git_judge_key(struct ab_git_walk *walk, size_t word, size_t begin,
		      bool is_env);
void ab_git_judge_config(struct ab_git_walk *walk);

/* git_env.c */
void ab_git_judge_env(struct ab_git_walk *walk);
/* "less -FRX": a pager and letters that change how it shows. */
bool ab_git_is_less_pager(const char *text, size_t len);

/* git_word.c */
bool ab_git_is(const struct ab_word *word, const char *text);
bool ab_git_is_fold(const char *text, size_t len, const char *lower);
/* Where the first hole at or after `from` is whose bytes are not known: its
 * index in word->text, or word->len + 1 when there is none. */
size_t ab_git_unsure_from(const struct ab_word *word, size_t from);
/* The same, but likely bytes are read as they are: a guess, which the caller
 * must not allow for. */
size_t ab_git_unread_from(const struct ab_word *word, size_t from);
bool ab_git_is_guess(const struct ab_word *word);
bool ab_git_may_split(const struct ab_word *word);
/* $(mktemp): what stands there is a file of no name before. */
bool ab_git_is_temp(const struct ab_word *word, size_t at);
/* A file of the worktree that a list of such told. */
bool ab_git_is_file(const struct ab_word *word, size_t at);
/* What begins or splits the word are names that git or such a list told. */
bool ab_git_is_told(const struct ab_git_walk *walk, const struct ab_word *word);
/* "$A"..HEAD, "$A^", "$A:f": what is not known, and what no name ends in. */
bool ab_git_is_range(const struct ab_word *word);
/* May the word begin with a dash although its text does not? */
bool ab_git_may_be_option(const struct ab_word *word);
/* $(git rev-parse HEAD) and nothing beside it. */
bool ab_git_is_name(const struct ab_git_walk *walk, const struct ab_word *word);
/* ... or with what git takes behind a revision: "$x~1", "$x..$y". */
bool ab_git_is_revision(const struct ab_git_walk *walk,
			const struct ab_word *word);
const struct ab_hole *ab_git_hole_at(const struct ab_word *word, size_t at);
bool ab_git_is_absolute_hole(const struct ab_hole *hole);

#endif
