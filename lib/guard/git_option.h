/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a set of options is written down; for the git_options*.c files only.
 */
#ifndef AB_GUARD_GIT_OPTION_H
#define AB_GUARD_GIT_OPTION_H

#include "guard/git_table.h"

/* Nothing follows; a value follows, glued or not; one may be glued on. */
#define N(name) {name, ARG_NONE, GIT_OK, VALUE_ANY, 0}
#define V(name) {name, ARG_NEED, GIT_OK, VALUE_ANY, 0}
#define G(name) {name, ARG_GLUE, GIT_OK, VALUE_ANY, 0}
/* One that matters. */
#define X(name, arg, act, value, flag)                                         \
	{name, ARG_##arg, GIT_##act, VALUE_##value, flag}

#define SET(name) static const struct ab_git_option name##_rows[] = {
#define END(name)                                                              \
	}                                                                      \
	;                                                                      \
	const struct ab_git_set ab_git_set_##name = {                          \
		name##_rows, sizeof(name##_rows) / sizeof(name##_rows[0])};

#endif
