/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Path patterns in the manner of gitignore(5), matched per component:
 *
 *   ?      one byte, not a slash       *    any bytes, not a slash
 *   [a-z]  one byte of a set, [!...] or [^...] one not in it; never a slash;
 *          [[:alpha:]] and the other classes of fnmatch(3), of ASCII
 *   \c     the byte c
 *   **     as a whole component: any number of components, also none
 *
 * A pattern without a slash (other than a trailing one) matches a name in
 * any directory; one with a slash is anchored at the root. A trailing slash
 * is allowed and ignored: what a thing is decides the caller. There is no
 * negation. Bytes, not characters; case counts unless AB_GLOB_FOLD.
 *
 * Time is O(pattern x path) at worst and there is no recursion, so a pattern
 * from an untrusted document cannot stall a check. Libc only.
 */
#ifndef AB_PATH_GLOB_H
#define AB_PATH_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#define AB_GLOB_FOLD 0x1u /* ASCII case does not count */

/*
 * 0 when the n bytes are a pattern; -EINVAL: empty, NUL, absolute, `.` or
 * `..` component, empty component, "!" in front, open bracket, unknown
 * class, trailing backslash; -ENAMETOOLONG.
 */
int ab_glob_check(const char *pattern, size_t n);

/*
 * Does a checked pattern match this clean relative path (the path itself,
 * not what lies below it)? A malformed pattern matches nothing.
 */
bool ab_glob_match(const char *pattern, const char *path, unsigned flags);

/* The same, or some directory above `path` matches. */
bool ab_glob_match_below(const char *pattern, const char *path,
			 unsigned flags);

/*
 * A checked pattern of p_len bytes, no trailing slash, from the root of the
 * path on, whether it has a slash or not; neither is NUL-terminated.
 */
bool ab_glob_match_anchored(const char *pattern, size_t p_len,
			    const char *path, size_t n, unsigned flags);

/* One component against a pattern component of p_len bytes without `**`. */
bool ab_glob_match_name(const char *pattern, size_t p_len, const char *name,
			size_t n_len, unsigned flags);

/* True when the pattern is literal text: no wildcard, no backslash. */
bool ab_glob_is_literal(const char *pattern);

#endif
