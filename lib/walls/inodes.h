/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files with more than one name, by inode: how many of the names the scan of
 * a workspace has met, and whether one of them is protected.
 */
#ifndef AB_WALLS_INODES_H
#define AB_WALLS_INODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* 48 bytes each; a store of packages that links its files has many. */
#define AB_MAX_LINKED_INODES (1u << 20)
#define AB_MAX_LINKED_NAMES 4096u

typedef struct ab_inode {
	uint64_t dev, ino; /* ino 0: a free place */
	uint64_t nlink, seen;
	const char *name; /* one of them; NULL past AB_MAX_LINKED_NAMES */
	bool guarded;
} ab_inode;

typedef struct ab_inodes {
	ab_inode *slots; /* owned; a power of two, at most half full */
	size_t room, count, names;
	bool full; /* AB_MAX_LINKED_INODES was reached */
} ab_inodes;

ab_inode *ab_inodes_find(const ab_inodes *set, const struct stat *st);

/* Find or make; NULL with `full` set at the bound, else out of memory. */
ab_inode *ab_inodes_add(ab_inodes *set, const struct stat *st);

void ab_inodes_end(ab_inodes *set);

#endif
