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
	bool unmarked; /* not all that is protected could be looked at */
	size_t skipped; /* mounts below the workspace */
	size_t unseen;	/* directories held because they were not read */
	bool frozen;	/* the workspace itself is read-only */
	/* the tree that is looked through: where it is, on what */
	const char *root, *root_inside;
	uint64_t root_dev;
	bool halt;	/* it is read-only now: nothing more to look for */
	/* directories held whole, as too much is in them */
	const char **whole;
	size_t whole_count;
	uint64_t deadline; /* of the scan, ab_clock_boot_ns() */
	/* per pattern: its last component where that is literal text */
	const char **names;
	uint64_t entries; /* seen by the scan, against max_entries */
	uint64_t max_entries; /* AB_MAX_SCAN_ENTRIES, less in tests */
	bool git;	  /* the policy protects what git runs */
	const char *bare; /* a git directory by structure, looked at now */
} ab_protect;

/*
 * Protect what is at an absolute host path without links before its last
 * component. A link is bound itself and what it names is protected too.
 * Nothing there: a watch. Not in a writable tree of the box: nothing to do.
 * ELIMIT.
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

/* Hold a directory of the workspace; what is below it needs nothing more. */
int32_t ab_protect_hold_whole(ab_protect *p, const char *host,
			      agentbox_error **err);

/* role.c: an engineer's own config.*, whatever the policy protects. */
bool ab_protect_has_role(const ab_policy *policy);
int32_t ab_protect_role(ab_protect *p, agentbox_error **err);

/* fit.c: hold directories as a whole until the mounts are few enough. */
int32_t ab_protect_fit(ab_protect *p, agentbox_error **err);

/*
 * Nothing of the workspace, or of the other tree that is looked through, can
 * be written in this box, and `why` is noted.
 * ELIMIT where the box could write to it by another mount.
 */
int32_t ab_protect_freeze(ab_protect *p, const char *why, agentbox_error **err);

/* Is it, or a part of it, in another tree of the box that can be written? */
bool ab_protect_is_shown(const ab_protect *p, const char *host);

/* A missing name that agentbox-init waits for wherever it is. */
bool ab_protect_is_awaited(const ab_protect *p, const char *host);

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
 * The `repo` in a `.jj`: a directory or, where a workspace was added to one,
 * a file that says where it is. `top` is the work tree. jj runs the tools its
 * configuration names, and git in the directory behind it.
 */
int32_t ab_jjdir_protect(ab_protect *p, const char *repo, const char *top,
			 agentbox_error **err);

/*
 * gitvalue.c: what a configuration file of a git directory leads to, with all
 * that it includes.
 */
int32_t ab_gitdir_follow(ab_protect *p, const char *dir, const char *file,
			 const char *top, agentbox_error **err);

/*
 * The n bytes of a regular file that says what is run, as owned text; NULL
 * when there is none. What is there and cannot be read freezes the workspace.
 */
int32_t ab_protect_read(ab_protect *p, const char *path, size_t max,
			char **text, size_t *n, agentbox_error **err);

#endif
