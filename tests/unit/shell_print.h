/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHELL_PRINT_H
#define SHELL_PRINT_H

#include <stdio.h>

#include "shell/tree.h"

/*
 * The tree in one line:
 *   [word word <target]   a simple command; words as they stand, with
 *     'x' quoted, $'x', ${name op argument}, $(list), `raw`, $((parts)),
 *     <(list), =(array), :: before the value of an assignment
 *   (subshell) {group} (if ..; then ..) (while ..; do ..) (case x a|b) ..;;)
 *   (def name body) [[...]] ((...))
 *   ; & && || | |& between commands, ! time coproc before them
 */
void shell_print(FILE *out, const struct ab_shell_tree *tree);

#endif
