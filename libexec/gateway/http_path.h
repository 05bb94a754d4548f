/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The path of a request to a route, in one spelling. What a server might
 * resolve to another path than the one matched here is refused: dot and
 * empty segments in any encoding, encoded slashes, backslashes and
 * semicolons, a second layer of percent, controls, what is not UTF-8.
 * Unreserved characters are decoded, the rest keeps its percent form in
 * upper case (RFC 3986 section 6.2.2). Gateway case 85.
 */
#ifndef GATEWAY_HTTP_PATH_H
#define GATEWAY_HTTP_PATH_H

#include <stdbool.h>
#include <stddef.h>

enum ab_path_reason {
	AB_PATH_UNREAD = 0,
	AB_PATH_OK,
	AB_PATH_START,	   /* does not begin with "/" */
	AB_PATH_LONG,	   /* more than the room for it */
	AB_PATH_BYTE,	   /* no URI byte, or a mangled %XX */
	AB_PATH_DOT,	   /* "." or ".." */
	AB_PATH_EMPTY,	   /* "//" */
	AB_PATH_SEPARATOR, /* encoded "/", "\" or ";", or one bare */
	AB_PATH_CONTROL,   /* encoded control, NUL */
	AB_PATH_TWICE,	   /* %25: encoded twice */
	AB_PATH_UTF8,	   /* encoded bytes that are no UTF-8 */
	AB_PATH_REASON_COUNT
};

const char *ab_path_reason_name(enum ab_path_reason reason);

/* Registries name packages with an encoded slash ("@scope%2fname"): on a route
   whose rights do not depend on the path it stays as it is. */
#define AB_PATH_KEEP_SLASH 1u

/*
 * The path (no query) s into out, which has room for `size` bytes and never
 * gets more than n; *len is its length. out and s are not the same.
 */
enum ab_path_reason ab_http_path(const char *s, size_t n, unsigned flags,
				      char *out, size_t size, size_t *len);

/*
 * Is a normalised path the prefix or below it, by whole segments? The prefix
 * begins with "/" and has none at its end. *rest is what follows: empty or
 * begins with "/".
 */
bool ab_path_below(const char *path, size_t n, const char *prefix,
		   size_t *rest);

#endif
