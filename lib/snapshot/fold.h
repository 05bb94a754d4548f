/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The forms in which a name is compared with the rules: characters folded to
 * the ASCII they stand for, then decorations taken off one after the other
 * (.env.bak, "credentials (1).json", .#id_rsa, %2eenv, GIT~1). Any name that
 * some program makes of a secret's name, or opens as it, is to end as that
 * name. Pure; libc only.
 */
#ifndef AB_SNAPSHOT_FOLD_H
#define AB_SNAPSHOT_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

/* A character of three bytes can fold to four; one more for a dot. */
#define AB_FORM_MAX (2 * AB_MAX_NAME + 2)

typedef struct ab_form {
	char text[AB_FORM_MAX]; /* not NUL-terminated */
	size_t len;
	bool is_plain; /* as it was, but for ASCII case */
} ab_form;

/*
 * The first form of a name of n bytes, at most AB_MAX_NAME: ASCII lower case
 * where there is any, other characters as they are. -EILSEQ: not UTF-8, a
 * control character or a backslash in it; -ENAMETOOLONG.
 */
int ab_form_begin(ab_form *form, const char *name, size_t n);

/*
 * Take off one decoration; false when there is none. Every step makes the
 * form shorter. `is_manual`: a number at the end is a section, keep it.
 */
bool ab_form_next(ab_form *form, bool is_manual);

/* GIT~1 as the ".git" it may be on another file system; false: none such. */
bool ab_form_short_name(ab_form *form);
/*
 * .name.swp as the "name.swp" whose swap it is, .name.a1b2c3 as the "name"
 * that is copied or saved; false: none such.
 */
bool ab_form_temporary_name(ab_form *form);

#endif
