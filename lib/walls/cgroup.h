/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cgroup directories of boxes; see cgroup.c. -errno form. */
#ifndef AB_WALLS_CGROUP_H
#define AB_WALLS_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/* The directory name of a box that this process owns. */
int ab_cgroup_name(const char *box_id, char *out, size_t size);
/* A name of ours whose owner is dead. False when in doubt. */
bool ab_cgroup_is_stale(const char *name);
/* Remove the empty stale directories below `parent`. */
void ab_cgroup_collect(const char *parent);
int ab_cgroup_make(const char *parent, const char *name, char *out,
		   size_t size);
int ab_cgroup_set(const char *dir, const char *file, const char *value);

#endif
