/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a guard: immutable once made, shared by any thread.
 *
 * An *area* is a directory in which this guard lets something be written or
 * read. Of two that hold a path the deeper one counts. An area that lies on
 * the root's own file system is found by its name below the root, without
 * links; any other (a worktree, a mount of its own) holds the inode it was
 * made for open, so that its number cannot be used again, and is refused when
 * its name leads to another one (F22).
 */
#ifndef AB_GUARD_GUARD_H
#define AB_GUARD_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agentbox/guard.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/fork_mark.h"
#include "guard/protect.h"
#include "guard/rules.h"
#include "policy/policy.h"

AB_DEFINE_AUTO(agentbox_guard, agentbox_guard_unref)

struct ab_guard_area {
	int fd; /* O_PATH, owned; -1: `below` from the root leads there */
	dev_t dev;
	ino_t ino;
	char *below; /* owned: clean path below the root, "": the root itself;
		      * NULL: not below the root */
	char *name;  /* owned: absolute path without links; NULL unless `below`
		      * is */
	char *alias; /* owned: how the policy calls it; may be NULL */
	bool write;  /* false: read only */
	bool is_own; /* an engineer's own directory */
};

struct agentbox_guard {
	atomic_uint references;
	struct ab_fork_mark made; /* fds do not survive a fork, section 4 */
	agentbox_policy *policy; /* owned reference */
	int root_fd;		 /* owned O_PATH; -1: no directory */
	dev_t root_dev;
	ino_t root_ino;
	char *root_name;  /* owned: its path without links; may be NULL */
	char *root_alias; /* owned: how the policy calls it; may be NULL */
	struct ab_guard_area *areas; /* owned */
	size_t area_count;
	struct ab_protect_set protect;
	struct ab_guard_rules rules; /* owned: of the shell check */
	bool is_role; /* protected/ of the root is never writable */
};

/* EINVAL for NULL, EFORKED in a child of the process that made it. */
int32_t ab_guard_check_handle(const agentbox_guard *guard,
			      agentbox_error **err);

/*
 * The directory an agent may change at will, as the agent sees it, for checks
 * of text: what the place says; else the root's own path or workspace.at,
 * whichever holds the cwd of the place; else workspace.at of a policy with a
 * workspace; else the root's own path. NULL: not known.
 */
const char *ab_guard_root_text(const agentbox_guard *guard,
			       const agentbox_place *place);

#endif
