/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A hash table of inodes, open addressing. Pure memory: it asks the kernel
 * nothing and refuses more than AB_MAX_LINKED_INODES. Spec: inodes.h.
 */
#include "config.h"

#include "walls/inodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FIRST_ROOM 256u

/* Fibonacci hashing: neighbouring inode numbers spread over the table. */
static size_t place_of(const ab_inodes *set, uint64_t dev, uint64_t ino)
{
	uint64_t h = (ino ^ (dev << 32)) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(h >> 20) & (set->room - 1);
}

static ab_inode *probe(const ab_inodes *set, uint64_t dev, uint64_t ino)
{
	size_t i = place_of(set, dev, ino);

	while (set->slots[i].ino &&
	       (set->slots[i].ino != ino || set->slots[i].dev != dev))
		i = (i + 1) & (set->room - 1);
	return &set->slots[i];
}

static bool grow(ab_inodes *set)
{
	ab_inodes wide = { .room = set->room ? 2 * set->room : FIRST_ROOM };

	wide.slots = ab_calloc(wide.room, sizeof(*wide.slots));
	if (!wide.slots)
		return false;
	for (size_t i = 0; i < set->room; i++) {
		const ab_inode *old = &set->slots[i];

		if (old->ino)
			*probe(&wide, old->dev, old->ino) = *old;
	}
	free(set->slots);
	set->slots = wide.slots;
	set->room = wide.room;
	return true;
}

ab_inode *ab_inodes_find(const ab_inodes *set, const struct stat *st)
{
	ab_inode *e = set->room ? probe(set, st->st_dev, st->st_ino) : NULL;

	return e && e->ino ? e : NULL;
}

ab_inode *ab_inodes_add(ab_inodes *set, const struct stat *st)
{
	ab_inode *e = ab_inodes_find(set, st);

	if (e)
		return e;
	if (set->count >= AB_MAX_LINKED_INODES) {
		set->full = true;
		return NULL;
	}
	if (2 * (set->count + 1) > set->room && !grow(set))
		return NULL;
	e = probe(set, st->st_dev, st->st_ino);
	*e = (ab_inode){ .dev = st->st_dev,
			 .ino = st->st_ino,
			 .nlink = st->st_nlink };
	set->count++;
	return e;
}

void ab_inodes_end(ab_inodes *set)
{
	free(set->slots);
	memset(set, 0, sizeof(*set));
}
