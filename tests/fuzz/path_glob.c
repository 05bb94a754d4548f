/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The glob matcher on any pattern and path: it ends, stays inside its input
 * (sanitizers watch), what matches a path also matches with `below`, and its
 * answers are those of the slow reference here, which follows path/glob.h
 * word by word: a table over all pairs of places in the pattern and the text.
 */
#include "config.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "path/glob.h"
#include "path/lexical.h"

#define SIDE_MAX 96 /* longer inputs only have to end */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned char fold(char c, unsigned flags)
{
	if ((flags & AB_GLOB_FOLD) && c >= 'A' && c <= 'Z')
		return (unsigned char)(c - 'A' + 'a');
	return (unsigned char)c;
}

/* A class of a set, by the C library; -1: none of its name. */
static int in_class(const char *name, size_t n, unsigned char c)
{
	static const struct {
		const char *name;
		int (*is)(int);
	} all[] = {
		{ "alnum", isalnum }, { "alpha", isalpha }, { "blank", isblank },
		{ "cntrl", iscntrl }, { "digit", isdigit }, { "graph", isgraph },
		{ "lower", islower }, { "print", isprint }, { "punct", ispunct },
		{ "space", isspace }, { "upper", isupper }, { "xdigit", isxdigit },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strlen(all[i].name) == n && !memcmp(all[i].name, name, n))
			return c && c < 0x80 && all[i].is(c);
	}
	return -1;
}

/* "[:name:]": its length, or 0. */
static size_t class_at(const char *p)
{
	const char *end = p[0] == '[' && p[1] == ':' ? strchr(p + 2, ']') : 0;

	return end && end > p + 2 && end[-1] == ':' ? (size_t)(end - p) + 1 : 0;
}

/* Either case of a letter. */
static bool in_range(unsigned char low, unsigned char high, unsigned char c,
		     unsigned flags)
{
	for (int i = low; i <= high; i++) {
		if (i == c || ((flags & AB_GLOB_FOLD) && c < 0x80 && i < 0x80 &&
			       tolower(i) == tolower(c)))
			return true;
	}
	return false;
}

/* The set that begins at p[0] == '[': its length; *in: has it c? */
static size_t set_at(const char *p, unsigned char c, unsigned flags, bool *in)
{
	size_t i = 1;
	bool negated = p[1] == '!' || p[1] == '^';
	bool found = false;
	size_t first;

	i += negated;
	first = i;
	while (i == first || p[i] != ']') {
		size_t len = class_at(p + i);
		unsigned char low, high;

		if (len) {
			for (int k = 1; k < 0x80; k++)
				found |= in_range((unsigned char)k,
						  (unsigned char)k, c, flags) &&
					 in_class(p + i + 2, len - 4,
						  (unsigned char)k) > 0;
			i += len;
			continue;
		}
		i += p[i] == '\\';
		low = high = (unsigned char)p[i++];
		if (p[i] == '-' && p[i + 1] != ']' && !class_at(p + i + 1)) {
			i++;
			i += p[i] == '\\';
			high = (unsigned char)p[i++];
		}
		found |= in_range(low, low, c, flags);
		found |= in_range(low, high, c, flags);
	}
	*in = found != negated;
	return i + 1;
}

/* One atom of a component, not a star: its length; *is: is it this byte? */
static size_t atom_at(const char *p, unsigned char c, unsigned flags, bool *is)
{
	if (p[0] == '?') {
		*is = true;
		return 1;
	}
	if (p[0] == '[')
		return set_at(p, c, flags, is);
	*is = fold(p[p[0] == '\\'], flags) == c;
	return p[0] == '\\' ? 2 : 1;
}

static bool name_matches(const char *p, size_t p_len, const char *s,
			 size_t s_len, unsigned flags)
{
	/* can[j]: the pattern up to here matches the first j bytes */
	bool can[SIDE_MAX + 1] = {true};

	for (size_t i = 0; i < p_len;) {
		bool next[SIDE_MAX + 1] = {false};
		size_t used = 1;

		for (size_t j = 0; j <= s_len; j++) {
			bool is = false;

			if (p[i] == '*') {
				next[j] = can[j] || (j > 0 && next[j - 1]);
				continue;
			}
			used = atom_at(p + i, j ? fold(s[j - 1], flags) : 0,
				       flags, &is);
			next[j] = j > 0 && can[j - 1] && is;
		}
		memcpy(can, next, sizeof(can));
		i += used;
	}
	return can[s_len];
}

static size_t split(const char *s, size_t n, const char *part[SIDE_MAX],
		    size_t len[SIDE_MAX])
{
	size_t count = 0;

	for (size_t i = 0, from = 0; i <= n; i++) {
		if (i < n && s[i] != '/')
			continue;
		part[count] = s + from;
		len[count++] = i - from;
		from = i + 1;
	}
	return count;
}

/* The pattern from the root on; `below`: or of some directory above. */
static bool path_matches(const char *p, size_t p_len, const char *s,
			 size_t s_len, bool below, unsigned flags)
{
	const char *pp[SIDE_MAX], *sp[SIDE_MAX];
	size_t pn[SIDE_MAX], sn[SIDE_MAX];
	size_t p_count = split(p, p_len, pp, pn);
	size_t s_count = split(s, s_len, sp, sn);
	bool can[SIDE_MAX + 1] = {true};
	bool any = false;

	for (size_t i = 0; i < p_count; i++) {
		bool next[SIDE_MAX + 1] = {false};
		bool is_stars = pn[i] == 2 && memcmp(pp[i], "**", 2) == 0;

		for (size_t j = 0; j <= s_count; j++)
			next[j] = is_stars
					  ? can[j] || (j > 0 && next[j - 1])
					  : j > 0 && can[j - 1] &&
						    name_matches(pp[i], pn[i],
								 sp[j - 1],
								 sn[j - 1],
								 flags);
		memcpy(can, next, sizeof(can));
	}
	for (size_t j = 0; j <= s_count; j++)
		any |= can[j];
	return below ? any : can[s_count];
}

static bool matches(const char *pattern, const char *path, bool below,
		    unsigned flags)
{
	size_t n = strlen(pattern);
	const char *part[SIDE_MAX];
	size_t len[SIDE_MAX];
	size_t count = split(path, strlen(path), part, len);

	if (pattern[n - 1] == '/')
		n--;
	if (memchr(pattern, '/', n) || (n == 2 && !memcmp(pattern, "**", 2)))
		return path_matches(pattern, n, path, strlen(path), below,
				    flags);
	for (size_t i = 0; i < count; i++)
		if ((below || i + 1 == count) &&
		    name_matches(pattern, n, part[i], len[i], flags))
			return true;
	return false;
}

static void compare(const char *pattern, const char *path)
{
	size_t n = strlen(pattern);

	for (unsigned flags = 0; flags <= AB_GLOB_FOLD; flags++) {
		if (ab_glob_match(pattern, path, flags) !=
			    matches(pattern, path, false, flags) ||
		    ab_glob_match_below(pattern, path, flags) !=
			    matches(pattern, path, true, flags))
			abort();
		if (pattern[n - 1] != '/' &&
		    ab_glob_match_anchored(pattern, n, path, strlen(path),
					   flags) !=
			    path_matches(pattern, n, path, strlen(path), false,
					 flags))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = ab_memdup0(data, size);
	char *path;

	if (!text)
		return 0;
	path = strchr(text, '\n');
	if (path) {
		*path++ = '\0';
		if (ab_path_check_relative(path, strlen(path)) == 0 &&
		    ab_glob_match(text, path, 0) &&
		    (!ab_glob_match_below(text, path, 0) ||
		     ab_glob_check(text, strlen(text)) < 0))
			abort();
		if (ab_path_check_relative(path, strlen(path)) == 0 &&
		    ab_glob_check(text, strlen(text)) == 0 &&
		    strlen(text) < SIDE_MAX && strlen(path) < SIDE_MAX)
			compare(text, path);
	}
	free(text);
	return 0;
}
