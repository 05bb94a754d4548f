/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protected paths of one compile: a set of paths in the box that become
 * read-only, and the parts that fill it. Host paths in, inside paths out.
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
	const char **submounts; /* host paths of those that were met */
	size_t submount_count;
	bool is_submount; /* the tree that is looked through is one */
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

/* held.c: for one tree of the box; a pin where it is not read-only. ELIMIT. */
int32_t ab_protect_put(ab_protect *p, const char *host, const ab_view *view,
		       bool readonly, bool dir, agentbox_error **err);

/* It has a name of its own in some writable tree: is not just its root. */
bool ab_protect_is_writable(const ab_protect *p, const char *host);

/* Masked wherever it could be written. */
bool ab_protect_is_masked(const ab_protect *p, const char *host);

/*
 * The box may read the text of a link that leads nowhere, but not write
 * through it: its end would be made, and be what the link's reader runs.
 */
void ab_protect_forbid_following(ab_protect *p, const char *host);

/* patterns.c: before the first ab_protect_judge(). ENOMEM. */
int32_t ab_protect_index_names(ab_protect *p, agentbox_error **err);

/*
 * One entry of the tree that is looked through against every pattern. What
 * belongs to a repository is looked for in every directory, as by
 * agentbox-init: what makes a directory one is for its program to say. *done:
 * it is held, and all that is in it.
 */
int32_t ab_protect_judge(ab_protect *p, const char *path, bool is_link,
			 bool *done, agentbox_error **err);

/* The name of a repository's directory, in any case. */
bool ab_protect_is_git(const char *name);

/* A path of that tree as one of the host, into out. ELIMIT. */
int32_t ab_protect_host_of(ab_protect *p, const char *relative, char *out,
			   size_t size, agentbox_error **err);

/* What does not exist yet: for agentbox-init. */
void ab_protect_add_watches(ab_protect *p);

/*
 * scan.c: look through the workspace and the other trees that the box writes
 * to; `links`: the second round, for other names of what is protected.
 */
int32_t ab_protect_scan(ab_protect *p, bool links, agentbox_error **err);
void ab_protect_stand_in_workspace(ab_protect *p);
/* One tree, whose directory is open. */
int32_t ab_protect_scan_tree(ab_protect *p, int fd, bool links,
			     agentbox_error **err);
void ab_protect_report_unseen(ab_protect *p);

/*
 * A directory of the same mount. What is mounted below a workspace may be a
 * server that does not answer: it is not even opened, and not looked through.
 */
int ab_protect_open_level(const ab_protect *p, int dirfd, const char *name);

/* One more was seen: why no more is looked at, or NULL. */
const char *ab_protect_count_entry(ab_protect *p);

/* submounts.c: at this path of the tree another mount begins. */
void ab_protect_meet_mount(ab_protect *p, const char *path);

/* Those that were met below a tree, by its path here and in the box, and what
   is met there. */
int32_t ab_protect_scan_submounts(ab_protect *p, const char *top,
				  const char *top_inside, bool links,
				  agentbox_error **err);

/* links.c: a name that the walk has met, in the first or second round. */
int32_t ab_protect_see_name(ab_protect *p, const char *path, bool is_second,
			    int dirfd, const char *name, bool guarded,
			    agentbox_error **err);

/* Hold the other names of everything that is protected by now. */
int32_t ab_protect_hold_links(ab_protect *p, agentbox_error **err);
void ab_protect_report_links(ab_protect *p);

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
