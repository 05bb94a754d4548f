/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Paths as text: the rules a path must satisfy before the kernel is asked,
 * and comparison by components. Says nothing about what the file system
 * really holds: links are for path/resolve.h. Libc only, -errno form, so
 * helpers use it too. Spec: DESIGN.md sections 7 and 10; cases F14-F16,
 * B06, B07, B17.
 */
#ifndef AB_PATH_LEXICAL_H
#define AB_PATH_LEXICAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * 0 when the n bytes are a clean relative path: not empty, no NUL, not
 * absolute, no empty, `.` or `..` component, no trailing slash.
 * -EINVAL for a bad shape, -ENAMETOOLONG past AB_MAX_PATH or AB_MAX_NAME.
 */
int ab_path_check_relative(const char *path, size_t n);

/* The same for a clean absolute path; "/" alone is clean. */
int ab_path_check_absolute(const char *path, size_t n);

/* One component: not empty, no slash, no NUL, not `.` or `..`. */
int ab_path_check_name(const char *name, size_t n);

/*
 * Write the clean form of an absolute path to `out` (size bytes): runs of
 * slashes, `.` and a trailing slash go; `..` is refused, because removing it
 * as text is wrong when the component before it is a link. Returns the
 * length or -EINVAL, -ENAMETOOLONG.
 */
int ab_path_normalise(const char *path, size_t n, char *out, size_t size);

/*
 * True when clean path `path` is `base` or lies below it, by components:
 * /a/bc is not below /a/b. Both absolute or both relative.
 */
bool ab_path_is_below(const char *path, const char *base);

/*
 * What of `path` follows `base`: "" when equal, "x/y" without a leading
 * slash when below, NULL when not below. Points into `path`.
 */
const char *ab_path_rest(const char *path, const char *base);

/* base + "/" + rest into out; handles "/" and an empty rest. Length or
   -ENAMETOOLONG. */
int ab_path_join(const char *base, const char *rest, char *out, size_t size);

#endif
