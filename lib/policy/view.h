/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What of the host a policy's box sees, and with which rights: the mounts,
 * the workspace and the role's directories as one list. Purely lexical;
 * links are judged when the box opens the paths. Internal to lib/policy.
 * Spec: cases B04-B15.
 */
#ifndef AB_POLICY_VIEW_H
#define AB_POLICY_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

#define AB_RIGHT_READ 1u
#define AB_RIGHT_WRITE 2u
#define AB_RIGHT_EXEC 4u

enum ab_view_kind { AB_VIEW_MOUNT, AB_VIEW_ROLE, AB_VIEW_WORKSPACE };

typedef struct ab_view_entry {
	const char *from; /* NULL: nothing is seen here */
	const char *to;
	uint32_t rights;
	uint32_t kind;
	bool optional;
	bool changed; /* by narrow: differs from what the document says */
	char *owned_from, *owned_to;
} ab_view_entry;

/* Sorted by `to`, which is unique. */
typedef struct ab_view {
	ab_view_entry *items;
	size_t count, room;
} ab_view;

/* A host path below which the rights of a view change. */
typedef struct ab_view_point {
	char *path;
	uint32_t rights;
} ab_view_point;

typedef struct ab_view_points {
	ab_view_point *items;
	size_t count;
} ab_view_points;

/* Strings are borrowed from the policy. 0 or -ENOMEM. */
int ab_view_init(ab_view *view, const ab_policy *policy);
void ab_view_end(ab_view *view);

/* The entry that decides about a path in the box, or NULL. */
ab_view_entry *ab_view_find(const ab_view *view, const char *inside);

/*
 * The rights some visible path of the box gives on this host path; 0: it is
 * not seen.
 */
uint32_t ab_view_rights(const ab_view *view, const char *host);

/* Where rights change, parents before what lies below them. 0 or -ENOMEM. */
int ab_view_points_init(ab_view_points *points, const ab_view *view);
void ab_view_points_end(ab_view_points *points);

/* Insert at its place; strings are copied. 0, -ENOMEM, -E2BIG. */
int ab_view_add(ab_view *view, const char *from, const char *to,
		uint32_t rights);
void ab_view_remove(ab_view *view, size_t i);

#endif
