/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists of patterns that a host or a tree wrote: excludes, includes, an
 * ignore file. gitignore(5) without `!`; matching is path/glob.h's.
 */
#ifndef AB_SNAPSHOT_PATTERN_H
#define AB_SNAPSHOT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

typedef struct ab_pattern {
	char *text;	   /* as written; owned */
	const char *match; /* what is matched, inside text */
	size_t len;
	bool is_directory; /* had a trailing slash */
	bool is_anchored;  /* from the root of the tree */
	bool is_forced;	   /* had "force:" in front */
	uint16_t rule;	   /* of a list of admissions: whose findings */
} ab_pattern;

typedef struct ab_patterns {
	ab_pattern *list;
	size_t count;
} ab_patterns;

#define AB_PATTERN_MAY_FORCE 0x1u

/*
 * 0, -EINVAL (malformed), -ENAMETOOLONG, -E2BIG (too many `**`) or -ENOMEM.
 * `list` has room.
 */
int ab_patterns_add(ab_patterns *patterns, const char *text, size_t n,
		    unsigned flags);
int ab_patterns_init(ab_patterns *patterns, size_t room);
void ab_patterns_end(ab_patterns *patterns);

/* One place and no other: from the root, no directory, no wildcard. */
bool ab_pattern_is_exact(const ab_pattern *p);

/* The path itself, not what is below a match. glob_flags as in glob.h. */
bool ab_pattern_matches(const ab_pattern *p, const char *path, size_t n,
			bool is_directory, unsigned glob_flags);

/* The path, or a directory above it. */
bool ab_pattern_covers(const ab_pattern *p, const char *path, size_t n,
		       bool is_directory, unsigned glob_flags);

/*
 * Can it match something below this directory? Only what is written from the
 * root says so: a name, or `**` in front, could be anywhere.
 */
bool ab_pattern_leads_below(const ab_pattern *p, const char *path, size_t n,
			    unsigned glob_flags);

#endif
