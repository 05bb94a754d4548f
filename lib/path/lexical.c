/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lexical rules for paths. Refuses every spelling that could mean two
 * things; never touches the file system. Spec: path/lexical.h.
 */
#include "config.h"

#include "path/lexical.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/limits.h"

int ab_path_check_name(const char *name, size_t n)
{
	if (n == 0 || memchr(name, '\0', n) || memchr(name, '/', n))
		return -EINVAL;
	if (name[0] == '.' && (n == 1 || (n == 2 && name[1] == '.')))
		return -EINVAL;
	return n > AB_MAX_NAME ? -ENAMETOOLONG : 0;
}

int ab_path_check_relative(const char *path, size_t n)
{
	size_t start = 0;

	if (n >= AB_MAX_PATH)
		return -ENAMETOOLONG;
	for (;;) {
		const char *slash = memchr(path + start, '/', n - start);
		size_t end = slash ? (size_t)(slash - path) : n;
		int r = ab_path_check_name(path + start, end - start);

		if (r < 0)
			return r;
		if (!slash)
			return 0;
		start = end + 1;
	}
}

int ab_path_check_absolute(const char *path, size_t n)
{
	if (n == 0 || path[0] != '/')
		return -EINVAL;
	if (n == 1)
		return 0;
	return ab_path_check_relative(path + 1, n - 1);
}

int ab_path_normalise(const char *path, size_t n, char *out, size_t size)
{
	size_t at = 0;
	size_t i = 0;

	if (n == 0 || path[0] != '/' || memchr(path, '\0', n))
		return -EINVAL;
	while (i < n) {
		size_t start;

		while (i < n && path[i] == '/')
			i++;
		start = i;
		while (i < n && path[i] != '/')
			i++;
		if (i == start || (i - start == 1 && path[start] == '.'))
			continue;
		if (i - start == 2 && path[start] == '.' &&
		    path[start + 1] == '.')
			return -EINVAL;
		if (i - start > AB_MAX_NAME ||
		    at + 1 + (i - start) >= AB_MAX_PATH ||
		    at + 1 + (i - start) >= size)
			return -ENAMETOOLONG;
		out[at++] = '/';
		memcpy(out + at, path + start, i - start);
		at += i - start;
	}
	if (size < 2)
		return -ENAMETOOLONG;
	if (at == 0)
		out[at++] = '/';
	out[at] = '\0';
	return (int)at;
}

const char *ab_path_rest(const char *path, const char *base)
{
	size_t n = strlen(base);

	if (strcmp(base, "/") == 0)
		return path[0] == '/' ? path + 1 : NULL;
	if (strncmp(path, base, n) != 0)
		return NULL;
	if (path[n] == '\0')
		return path + n;
	return path[n] == '/' ? path + n + 1 : NULL;
}

bool ab_path_is_below(const char *path, const char *base)
{
	return ab_path_rest(path, base) != NULL;
}

int ab_path_join(const char *base, const char *rest, char *out, size_t size)
{
	size_t b = strlen(base);
	size_t r = strlen(rest);

	if (b && base[b - 1] == '/')
		b--;
	if (b + 1 + r + 1 > size || b + 1 + r >= AB_MAX_PATH)
		return -ENAMETOOLONG;
	memcpy(out, base, b);
	if (r == 0) {
		if (b == 0)
			out[b++] = '/';
		out[b] = '\0';
		return (int)b;
	}
	out[b] = '/';
	memcpy(out + b + 1, rest, r + 1);
	return (int)(b + 1 + r);
}
