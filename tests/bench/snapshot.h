/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The snapshot benchmark's parts. */
#ifndef BENCH_SNAPSHOT_H
#define BENCH_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

/* snapshot_tree.c: end the program when they cannot. */
void tree_make(const char *top, size_t files);
/* The path of a file of it. */
void tree_path(char *out, size_t size, const char *top, size_t number);
/* Each `step`th file gets other bytes, others each round. */
void tree_change(const char *top, size_t files, size_t step, unsigned round);

/*
 * snapshot_hold.c: keeps a tree's files in memory, as they are then, until
 * tree_let_go(). False: not allowed to (RLIMIT_MEMLOCK), nothing is held.
 */
bool tree_hold(const char *top);
void tree_let_go(void);
/* Before a copy that is timed: as much memory as it needs has been touched. */
void tree_make_room(void);

/* snapshot_floor.c: the calls alone; ends the program when it cannot. */
void floor_copy(const char *source, const char *destination, int processes);

#endif
