/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protected paths of one compile: a set of paths in the box that become
 * read-only, shared by protect.c (patterns, links) and gitdir.c (what git
 * reads from where). Host paths in, inside paths out.
 */
#ifndef AB_WALLS_PROTECT_H
#define AB_WALLS_PROTECT_H

#include "walls/inodes.h"
#include "walls/internal.h"

typedef struct ab_guarded {
	const char *inside; /* in the build's memory */
	const char *host;
	const ab_view *view;
	bool readonly; /* else: a pin */
	bool dir;
	bool nofollow; /* a link that leads nowhere, and shall not */
} ab_guarded;

typedef struct ab_protect {
	ab_build *b;
	ab_guarded *set;
	size_t count;
	ab_inodes inodes; /* files with several names */
	bool links_guarded; /* one of them is protected */
	size_t skipped; /* mounts below the workspace */
	size_t unseen;	/* directories held because they were not read */
	uint64_t deadline; /* of the scan, ab_clock_boot_ns() */
	/* per pattern: its last component where that is literal text */
	const char **names;
	uint64_t entries; /* seen by the scan, against AB_MAX_SCAN_ENTRIES */
	bool git;	  /* the policy protects what git runs */
} ab_protect;

/*
 * Protect what is at an absolute host path without links before its last
 * component. A link is bound itself and what it names is protected too.
 * Nothing there: a watch. Not in a writable tree of the box: nothing to do.
 * ELIMIT, ELOOP as ESYS with the path.
 */
int32_t ab_protect_add(ab_protect *p, const char *host, agentbox_error **err);

/* The same, but a link is held as a link and what it names is left alone. */
int32_t ab_protect_add_itself(ab_protect *p, const char *host,
			      agentbox_error **err);

/*
 * Hold what is at a host path without links above it: read-only, or only in
 * its place. Nothing to do outside the writable trees of the box. ELIMIT.
 */
int32_t ab_protect_hold(ab_protect *p, const char *host, bool readonly,
			agentbox_error **err);

/* A host path that may not appear; outside the workspace only a note. */
void ab_protect_watch(ab_protect *p, const char *host);

/*
 * Where a host path leads, into out (AB_MAX_PATH bytes); *there is false when
 * it leads nowhere. Links on the way are held, a missing end is watched. ESYS
 * for circles and paths too long.
 */
int32_t ab_protect_follow(ab_protect *p, const char *host, char *out,
			  bool *there, agentbox_error **err);

/*
 * A `.git` at an absolute host path, whatever it is: directory, link, or file
 * that names a directory elsewhere; `top` is the work tree it serves.
 */
int32_t ab_gitdir_protect(ab_protect *p, const char *git, const char *top,
			  agentbox_error **err);

/*
 * The value of a key of a git configuration text, the last one, unquoted
 * into out; false when there is none. section and key in lower case. Exposed
 * for tests.
 */
bool ab_gitdir_config(const char *text, const char *section, const char *key,
		      char *out, size_t size);

#endif
