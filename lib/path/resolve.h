/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Paths as the kernel resolves them. Nothing here decides by text what the
 * kernel can decide: openat2(2) with RESOLVE_BENEATH keeps a walk inside a
 * directory, and what is judged is the fd that came out. Returns fds and
 * -errno. Spec: DESIGN.md section 7, cases 86, 97, F08-F18.
 */
#ifndef AB_PATH_RESOLVE_H
#define AB_PATH_RESOLVE_H

#include <sys/types.h>

#include "base/limits.h"

/* No symbolic link anywhere in the path. */
#define AB_PATH_NO_SYMLINKS 0x1u
/* No crossing into another mount. */
#define AB_PATH_NO_XDEV 0x2u

/*
 * openat(2) of a clean relative path that cannot leave `dirfd`: links may
 * lead around inside the tree, never out (-EXDEV), magic links never
 * (-ELOOP). O_CLOEXEC and O_NOCTTY are added. `mode` counts only with
 * O_CREAT. Where openat2 is missing (-ENOSYS) or a filter of the host
 * refuses it (-EPERM), ab_path_walk_beneath() is used, which is stricter.
 */
int ab_path_open_beneath(int dirfd, const char *path, int flags, mode_t mode,
			 unsigned options);

/*
 * The same without openat2: one O_NOFOLLOW open per component, so any link
 * is -ELOOP. With NO_XDEV a change of st_dev is -EXDEV.
 */
int ab_path_walk_beneath(int dirfd, const char *path, int flags, mode_t mode,
			 unsigned options);

/*
 * An O_PATH fd of an absolute host path with links resolved, and the path
 * without links that leads to the same inode (compared by device and inode:
 * -ESTALE when it changed meanwhile). Works without /proc.
 */
int ab_path_open_host(const char *path, char canonical[AB_MAX_PATH]);

#endif
