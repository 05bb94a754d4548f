/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How files of the text are kept, for files.c and those that run
 * (files_run.c), copy (files_copy.c) and unpack them (files_unpack.c); the way
 * in is guard/command.h.
 */
#ifndef AB_GUARD_FILES_H
#define AB_GUARD_FILES_H

#include "guard/check.h"

#define AB_FILE_PREFIX " file " /* the path follows */
#define AB_FILE_COPY "\177ELF " /* the path of a program follows */

/* --- files.c --- */
/* The variable that stands for a file; NULL: it has no path that is known.
   is_kept: the name lives as long as the check. */
const char *ab_file_name(struct ab_check *c, const struct ab_word *path,
			 bool is_kept, uint32_t *len);
/* The last component of an address. */
bool ab_file_last(struct ab_check *c, const struct ab_word *url,
		  struct ab_word *out);
/* A variable that holds bytes of unknown value from there. */
bool ab_file_mark(struct ab_check *c, const char *name, uint32_t len,
		  uint32_t taint, enum ab_shell_owner owner);
/* The text wrote it. */
void ab_file_note(struct ab_check *c, const char *variable, uint32_t len);
/* What else is known of the file, in a variable with another prefix, which is
   as long; NULL: nothing, or more than one thing. */
bool ab_file_set_beside(struct ab_check *c, const char *prefix,
			const char *variable, uint32_t len,
			const struct ab_word *value);
/* The same, whatever it is. */
const struct ab_word *ab_file_beside(struct ab_check *c, const char *prefix,
				     const char *variable, uint32_t len);
const struct ab_word *ab_file_get_beside(struct ab_check *c,
					 const char *prefix,
					 const char *variable, uint32_t len);
/* What the text put in may be gone: something else was written over it. */
bool ab_file_is_loose(struct ab_check *c, const struct ab_word *path);
/* /dev/fd/3 and the like: the 3; or -1. */
int32_t ab_file_fd(const struct ab_word *w);
/* /dev/fd/$n: one of them, nobody knows which */
bool ab_file_is_any_fd(const struct ab_word *w);
/* The bytes of both; false: out of memory. */
bool ab_file_join(struct ab_check *c, const struct ab_word *a,
		  const struct ab_word *b, struct ab_word *out);
/* What the text itself put in. */
const struct ab_word *ab_file_kept(struct ab_check *c,
				   const struct ab_word *path);
/* What it may hold, where that is not one thing; NULL: no more of these. */
const struct ab_word *ab_file_either(struct ab_check *c,
				     const struct ab_word *path, uint32_t i);

/* Nothing is known of it but that somebody writes into it. */
static inline bool ab_file_is_pipe(const struct ab_word *content)
{
	return !content->len && (ab_word_taint(content) & AB_TAINT_FILE);
}

/* A program under another name. */
static inline bool ab_file_is_copy(const struct ab_word *content)
{
	uint32_t n = sizeof(AB_FILE_COPY) - 1;

	return content->len > n && !memcmp(content->text, AB_FILE_COPY, n);
}

/* --- files_edit.c --- */
/* What was put in is a part of that file. */
void ab_edit_put(struct ab_check *c, const struct ab_word *path,
		 const struct ab_word *text);
/* All of it is something else now. */
void ab_edit_drop(struct ab_check *c, const struct ab_word *path) AB_COLD;
void ab_edit_copy(struct ab_check *c, const struct ab_word *from,
		  const struct ab_word *to) AB_COLD;
/* The next text that may have been put in, from *i on; NULL: no more. */
const struct ab_word *ab_edit_next(struct ab_check *c,
				   const struct ab_word *path,
				   uint32_t *i) AB_COLD;

/* --- files_run.c --- */
bool ab_file_is_pattern(const struct ab_word *path);
/* The pattern from the root on; false: nobody knows where it is. */
bool ab_file_pattern(struct ab_check *c, const struct ab_word *path,
		     struct ab_word *all);
/* The next file of the text, from *i on, that it may take. */
bool ab_file_taken(struct ab_check *c, const struct ab_word *all, uint32_t *i,
		   struct ab_word *name);

/* --- files_unpack.c --- */
/* A directory into which an archive off the network was taken apart. */
struct ab_tree {
	const struct ab_word *content; /* unknown bytes from there */
	const char *rest;	       /* the file's path, from it on */
	uint32_t len, rest_len;	       /* of the directory's variable */
	bool is_root;		       /* it is the worktree's own */
};

/* The file's variable; of a pattern as it stands: it tells the directory. */
const char *ab_tree_file(struct ab_check *c, const struct ab_word *path,
			 uint32_t *len);
/* The innermost one above the file. */
bool ab_tree_find(struct ab_check *c, const char *variable, uint32_t len,
		  struct ab_tree *out);
/* The file was written, or the directory filled, after the last archive. */
bool ab_tree_mark(struct ab_check *c, const char *variable, uint32_t len);
/* What a part of a file holds that was split. */
const struct ab_word *ab_part_content(const struct ab_check *c,
				      const char *variable, uint32_t len);
/* What a file holds where an archive may have brought another one; w: what the
   text put in, or NULL. */
const struct ab_word *ab_tree_content(struct ab_check *c,
				      const struct ab_word *path,
				      const struct ab_word *w) AB_COLD;

#endif
