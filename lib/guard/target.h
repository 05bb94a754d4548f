/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a path really is: the two steps of the write guard. First the shape,
 * as text; then the kernel, which resolves links. What comes out is a path
 * without links below a directory that the guard holds, and an fd of what is
 * there. The path was true for the very open that gave the fd (openat2 with
 * RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS), so what is decided about the path
 * is decided about the fd. Spec: DESIGN.md section 7; cases F08-F22.
 */
#ifndef AB_GUARD_TARGET_H
#define AB_GUARD_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "guard/guard.h"

/* As many links as the kernel follows: path_resolution(7). */
#define AB_MAX_LINKS 40

/* Why a path is refused before any rule of a role is asked. */
enum ab_target_why {
	AB_TARGET_GOOD = 0,
	AB_TARGET_SHAPE,   /* no path: empty, NUL, too long, unexpanded */
	AB_TARGET_ESCAPES, /* outside of everything the guard knows */
	AB_TARGET_LINKS,   /* a loop, too many, one that changes all the time */
	AB_TARGET_MOUNT,   /* another file system is mounted on the way */
	AB_TARGET_AREA,	   /* an area's name leads to another directory */
	AB_TARGET_KERNEL   /* the kernel will not say; `error` */
};

struct ab_target {
	/* the area that counts; its base directory is what `path` is below */
	const struct ab_guard_area *area;
	int base_fd;	       /* borrowed from the guard */
	char path[AB_MAX_PATH]; /* clean, without links; "" is the base */
	size_t in_area;	       /* offset in `path` of what is below the area */
	int fd;		       /* owned O_PATH of the object; -1: not there */
	struct stat st;	       /* of fd */
	bool is_dir_form;      /* it ended in "/" or "/." */

	enum ab_target_why why;
	const char *detail; /* static: what is wrong with the shape */
	int error;	    /* errno for AB_TARGET_KERNEL */
	size_t begin, end;  /* bytes of the given path */
};

/*
 * `dirfd` -1: the root; else a directory at or below the root. `follow`: a
 * link at the end is followed. Returns target->why. The target must be ended
 * in any case.
 */
enum ab_target_why ab_target_find(const agentbox_guard *guard, int dirfd,
				  const char *path, size_t n, bool follow,
				  struct ab_target *target);
void ab_target_end(struct ab_target *target);

#define ab_autotarget __attribute__((cleanup(ab_target_end)))

/*
 * An owned O_PATH fd of the directory that holds the target, found by the
 * target's own path without links, and its last component in *name. Or
 * -errno; -EINVAL for the base itself.
 */
int ab_target_open_parent(const struct ab_target *target, const char **name);

#endif
