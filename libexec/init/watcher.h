/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the holder knows of a direct workspace's protected names. */
#ifndef AB_INIT_WATCHER_H
#define AB_INIT_WATCHER_H

#include "holder.h"

/* A SELF step of the plan: protected (read-only) or a pinned ancestor. */
typedef struct guarded {
	const char *target; /* absolute, inside */
	const char *rest; /* relative to the workspace; NULL: not in it */
	uint32_t flags;
	bool is_gone;	 /* the host removed it: from now on it is missing */
	bool is_mounted; /* as of the last look at the mount table */
} guarded;

struct watcher {
	init_box *box;
	int workspace_fd;  /* O_PATH */
	int quarantine_fd; /* O_PATH */
	int namespace_fds[2]; /* user, mount; from PID 1 */
	char **dirs;	   /* by watch descriptor, relative paths, owned */
	size_t dir_room;
	size_t watch_count;
	/* too many directories, or no inotify: look through all every time */
	bool is_rescan;
	uint64_t entries; /* seen by the scan that runs now */
	uint32_t serial;  /* of quarantined names */
	guarded *guarded;
	size_t guarded_count;
	uint64_t quarantined, reprotected, failed; /* since the start */
};

/* quarantine.c: move one entry away and report it. */
void init_quarantine(watcher *w, const char *path);

/* Make a directory (O_PATH) one its owner can read and search. */
void init_make_passable(int dir_fd);

/* remount.c: make binds again that the host's renames have detached. */
void init_check_mounts(watcher *w);

#endif
