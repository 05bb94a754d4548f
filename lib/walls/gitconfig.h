/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text of a git configuration file, one `key = value` after another, and
 * what git does with a value. Pure: no file is touched here.
 */
#ifndef AB_WALLS_GITCONFIG_H
#define AB_WALLS_GITCONFIG_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ab_gitconfig {
	const char *p, *end;   /* borrowed */
	char section[64];      /* lower case, without its subsection */
	char key[64];	       /* lower case */
	char *value;	       /* owned, unquoted; as long as the text */
} ab_gitconfig;

enum ab_gitconfig_kind {
	AB_GITCONFIG_DATA,
	AB_GITCONFIG_INCLUDE, /* a file to be read, beside this one */
	AB_GITCONFIG_PATH,    /* a place git runs from, in the work tree */
	AB_GITCONFIG_TREE,    /* where the work tree is */
	AB_GITCONFIG_COMMAND, /* a program, or a line for the shell */
};

/* Read n bytes of text. False: out of memory. */
bool ab_gitconfig_init(ab_gitconfig *c, const char *text, size_t n);
/* The next key that has a value. A line git would refuse is skipped. */
bool ab_gitconfig_next(ab_gitconfig *c);
enum ab_gitconfig_kind ab_gitconfig_kind(const ab_gitconfig *c);
void ab_gitconfig_end(ab_gitconfig *c);

/*
 * The value of a key, the last one, into out; false when there is none.
 * section and key in lower case. Exposed for tests.
 */
bool ab_gitconfig_find(const char *text, const char *section, const char *key,
		       char *out, size_t size);

#endif
