/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The snapshot benchmark's parts. */
#ifndef BENCH_SNAPSHOT_H
#define BENCH_SNAPSHOT_H

#include <stddef.h>

/* snapshot_tree.c: end the program when they cannot. */
void tree_make(const char *top, size_t files);
/* The path of a file of it. */
void tree_path(char *out, size_t size, const char *top, size_t number);
/* Each `step`th file gets other bytes, others each round. */
void tree_change(const char *top, size_t files, size_t step, unsigned round);

/* snapshot_floor.c: the calls alone; ends the program when it cannot. */
void floor_copy(const char *source, const char *destination, int processes);

#endif
