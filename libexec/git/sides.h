/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A side: the tree of one commit, every name in it listed and judged by the
 * same filter that judges a directory, in byte order of the paths. What a
 * file holds is looked at afterwards (build.h).
 */
#ifndef AB_GIT_SIDES_H
#define AB_GIT_SIDES_H

#include "odb.h"
#include "snapshot/filter.h"
#include "tree.h"

enum node_kind { NODE_FILE, NODE_DIR, NODE_LINK, NODE_MODULE, NODE_OTHER };

#define NODE_PASSAGE 0x1u /* left out, but something below it may be kept */
#define NODE_SKIPPED 0x2u /* left out before anything of it was listed */
#define NODE_EXEC 0x4u
#define NODE_EMPTY 0x8u  /* a directory of which nothing is kept */
#define NODE_ADMITTED 0x20u /* kept, though `rule` found something */
#define NODE_HIDDEN 0x10u /* left out because the head's is; not reported */

typedef struct node {
	const char *rule; /* borrowed from the filter, or static */
	uint32_t name;	  /* in side.names */
	/* a directory's block; of a file `first` is its size, and `count` the
	   line of a finding */
	uint32_t first, count;
	uint8_t oid[OID_SIZE]; /* of a built directory: that of the new tree */
	uint8_t kind, reason, tier, proof, flags, name_len;
} node;

typedef struct side {
	const char *called; /* "head" or "base" */
	node *nodes;	    /* owned; [0] is the root */
	size_t count, room;
	char *names; /* owned */
	size_t names_len, names_room;
	uint64_t kept_files;
	ab_filter_ignore *ignore[3]; /* owned */
	size_t ignores;
} side;

/* As the walk of a directory, with the same limits. 0 or -1. */
int side_list(side *s, copy_job *job, objects *o, const ab_filter *filter,
	      const uint8_t tree_id[OID_SIZE]);
/* Patterns that leave out more: of the tree itself, or as given. */
int side_add_ignore(side *s, objects *o, const void *p, size_t n);
int side_add_own_ignore(side *s, objects *o, const uint8_t tree_id[OID_SIZE]);
/* The node of this name in a directory; NULL: none. */
node *side_find(const side *s, const node *dir, const char *name, size_t n);

static inline const char *node_name(const side *s, const node *e)
{
	return s->names + e->name;
}
static inline bool node_is_walked(const node *e)
{
	return e->kind == NODE_DIR &&
	       (e->reason == AB_KEPT || (e->flags & NODE_PASSAGE)) &&
	       !(e->flags & (NODE_SKIPPED | NODE_HIDDEN));
}

#endif
