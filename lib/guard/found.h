/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names that commands print, between found.c, which says what they are like,
 * names.c, which follows them through streams, and xargs.c; the way in is
 * guard/command.h.
 */
#ifndef AB_GUARD_FOUND_H
#define AB_GUARD_FOUND_H

#include "guard/check.h"

#define AB_MAX_STARTS 32 /* of find, and names, that are looked at */

/* --- found.c --- */
/* What find's -name says; else *name stays. True: it says something. */
bool ab_found_name(struct ab_check *c, const struct ab_use *use,
		   struct ab_word *name);
bool ab_found_is_pattern(const struct ab_word *w);
/* start/name, the name a pattern or not. False: no memory. */
bool ab_found_file(struct ab_check *c, const struct ab_word *start,
		   const struct ab_word *name, bool is_pattern,
		   struct ab_word *out);
/* There is no room behind n names: the rest is asked about. */
bool ab_found_is_full(struct ab_check *c, const struct ab_word *word,
		      uint32_t n);
/* What is found of the name from there on, behind *n words. */
void ab_found_add(struct ab_check *c, const struct ab_word *start,
		  const struct ab_word *name,
		  struct ab_word out[AB_MAX_STARTS], uint32_t *n);
/* What find takes, a word for each place where it starts and each name that it
   may have; their number. More than there is room for is asked about. */
uint32_t ab_found_files(struct ab_check *c, const struct ab_use *use,
			struct ab_word out[AB_MAX_STARTS]);
/* It is in a .git, or a pack lists it; a pattern takes names with a dot in
   front, too. */
bool ab_found_is_special(struct ab_check *c, const struct ab_word *w);
/* What its -path says, where that is special: the file, or a pattern. */
uint32_t ab_found_paths(struct ab_check *c, const struct ab_use *use,
			struct ab_word out[AB_MAX_STARTS]);
/* `cd /etc && ls`: each name there is one of a known directory, which is not
   the worktree's. */
bool ab_found_is_elsewhere(struct ab_check *c, const struct ab_use *use);
/* A star behind "./", as those are told, and ".*" there, as ls -A has it. */
bool ab_found_is_any(const struct ab_word *w);
bool ab_found_is_hidden(const struct ab_word *w);
/* The same, or ls *.gz: patterns take files, most likely, whose names are
   printed as they are. */
bool ab_found_are_files(struct ab_check *c, const struct ab_use *use);
/* What ls, realpath and locate print, as far as their operands say. */
uint32_t ab_found_named(struct ab_check *c, const struct ab_use *use,
			struct ab_word out[AB_MAX_STARTS]);
/* -maxdepth 1 -type f: files right below the start, and never the start. */
bool ab_found_is_flat(const struct ab_use *use);
/* `find packages -name dist`: below the project's own directories, by a name,
   and nothing but the names is printed. */
bool ab_found_is_narrow(struct ab_check *c, const struct ab_use *use);
/* echo or printf that prints what patterns take, and those of them that are
   special. */
bool ab_found_has_patterns(const struct ab_use *use);
uint32_t ab_found_patterns(struct ab_check *c, const struct ab_use *use,
			   struct ab_word out[AB_MAX_STARTS]);
/* Its operands are in the worktree. */
bool ab_found_are_inside(struct ab_check *c, const struct ab_use *use);
/* Files of the worktree, and nothing but their names is printed. */
bool ab_found_is_inside(struct ab_check *c, const struct ab_use *use);

/* --- names.c --- */
/* Kept as long as the check; is_flat: of the words the starts are only read
   from, and the second half are what is below them. */
struct ab_names {
	uint32_t count;
	bool is_flat, is_read; /* is_read: only what reads them is judged */
	bool is_all; /* nothing else is there, as find and ls print it */
	/* ab_found_is_narrow(): where it wrote that */
	const struct ab_stream *own;
	/* ab_found_is_inside(): the same, or where whole lines of it go */
	const struct ab_stream *inside;
	struct ab_word words[2 * AB_MAX_STARTS];
};

/* The names of a stream from now on, as long as the check; NULL: no memory. */
struct ab_names *ab_names_keep(struct ab_check *c, struct ab_stream *out,
			       const struct ab_word *files, uint32_t count);
/* Those that go through it, if any; what git prints is noted otherwise. */
const struct ab_names *ab_names_noted(const struct ab_stream *s);
/* Nothing else was written there. */
bool ab_names_are_all(const struct ab_names *names, const struct ab_stream *s);
bool ab_names_are_inside(const struct ab_stream *s);

/* --- lists.c --- */
/* What stands in the file of names; NULL: nothing is known of it. */
const struct ab_stream *ab_list_of(struct ab_check *c,
				   const struct ab_word *path);
/* A pipe that a command reads, which has told of names; or NULL. */
static inline const struct ab_stream *
ab_list_in(const struct ab_shell_command *m)
{
	const struct ab_stream *in = m->place.in;

	return in && (in->note || (in->taint & AB_TAINT_TREE)) ? in : NULL;
}
/* A word for all of that. False: no memory. */
bool ab_list_word(struct ab_check *c, const struct ab_stream *list,
		  struct ab_word *out);
/* What a stream that has told of names leaves in a file; NULL: nothing. */
struct ab_stream *ab_list_made(struct ab_check *c,
			       const struct ab_stream *from);
/* A command wrote that, or else nothing of it: is_new: over what was there. */
void ab_list_save(struct ab_check *c, const struct ab_word *path,
		  struct ab_stream *list, bool is_new);

/* --- check_git.c --- */
/* `git ls-files '*.env'`: who reads what is called so, from text[at] on, reads
   a secret. */
bool ab_git_names_secret(struct ab_check *c, const struct ab_word *w,
			 size_t at);

/* --- xargs.c --- */
/* What of the judgement counts. */
enum {
	AB_ONLY_READ = 1, /* what is read of secrets */
	AB_ONLY_CHANGED = 2
};

/* What the words would read or change is judged, and nothing else about
   them. */
void ab_run_reading(struct ab_check *c, const struct ab_use *use,
		    const struct ab_word *words, uint32_t count,
		    unsigned what);

/* The word may be the one that stands for what find found: it is run, as the
   command itself or by the program that is judged. */
void ab_check_is_found(struct ab_check *c, const struct ab_word *w,
		       bool is_command);

#endif
