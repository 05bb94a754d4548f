/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The built-in policies, as the JSON documents they are. */
#ifndef AB_POLICY_BUILTINS_H
#define AB_POLICY_BUILTINS_H

typedef struct ab_builtin {
	const char *name;
	const char *document;
} ab_builtin;

/* Ends with a NULL name. */
extern const ab_builtin ab_builtins[];

#endif
