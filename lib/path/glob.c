/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The glob matcher. Two nested backtracking loops, each with one remembered
 * star: the last `*` inside a component, the last `**` between components.
 * Remembering only the last is enough, because a later star can make good
 * whatever an earlier one could; that bounds time by pattern times path.
 * It never allocates and never recurses. Spec: path/glob.h.
 */
#include "config.h"

#include "path/glob.h"

#include <errno.h>
#include <string.h>

#include "base/limits.h"

static unsigned char fold(unsigned char c, unsigned flags)
{
	if ((flags & AB_GLOB_FOLD) && c >= 'A' && c <= 'Z')
		return (unsigned char)(c + ('a' - 'A'));
	return c;
}

/* The classes of a set (fnmatch(3)), each as ranges of ASCII. */
static const struct class {
	char name[8];
	char ranges[12];
} classes[] = {
	{ "alnum", "09AZaz" },	  { "alpha", "AZaz" }, { "blank", "  \t\t" },
	{ "cntrl", "\1\37\177\177" }, { "digit", "09" }, { "graph", "!~" },
	{ "lower", "az" },	  { "print", " ~" },   { "punct", "!/:@[`{~" },
	{ "space", "  \t\r" },	  { "upper", "AZ" },   { "xdigit", "09AFaf" },
};

/* "[:name:]" at p, inside a set: its length; 0: there is none. */
static size_t class_len(const char *p, size_t n)
{
	const char *end;

	if (n < 4 || p[0] != '[' || p[1] != ':')
		return 0;
	end = memchr(p + 2, ']', n - 2);
	return end && end - p > 2 && end[-1] == ':' ? (size_t)(end - p) + 1 : 0;
}

/* Its ranges, or NULL: there is no such class. */
static const char *class_ranges(const char *p, size_t len)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (strlen(classes[i].name) == len - 4 &&
		    memcmp(classes[i].name, p + 2, len - 4) == 0)
			return classes[i].ranges;
	}
	return NULL;
}

/*
 * End of the set that starts at p[0] == '[': index after ']', 0 if it is open
 * or has a class that nobody knows.
 */
static size_t set_end(const char *p, size_t n)
{
	size_t i = 1;

	if (i < n && (p[i] == '!' || p[i] == '^'))
		i++;
	if (i < n && p[i] == ']')
		i++;
	for (; i < n; i++) {
		size_t len = class_len(p + i, n - i);

		if (len && !class_ranges(p + i, len))
			return 0;
		if (len)
			i += len - 1;
		else if (p[i] == '\\')
			i++;
		else if (p[i] == ']')
			return i + 1;
	}
	return 0;
}

static unsigned char set_byte(const char *p, size_t *i)
{
	if (p[*i] == '\\')
		(*i)++;
	return (unsigned char)p[(*i)++];
}

/* Of a letter the other case too, for a range may have but one: [A-z]. */
static bool range_has(unsigned char low, unsigned char high, unsigned char c,
		      unsigned flags)
{
	unsigned char lower = fold(c, AB_GLOB_FOLD);
	unsigned char upper = lower >= 'a' && lower <= 'z' ?
				      (unsigned char)(lower - ('a' - 'A')) : c;

	if (c >= low && c <= high)
		return true;
	return (flags & AB_GLOB_FOLD) && ((lower >= low && lower <= high) ||
					  (upper >= low && upper <= high));
}

static bool class_has(const char *p, size_t len, unsigned char c,
		      unsigned flags)
{
	const char *r = class_ranges(p, len);

	for (; r && *r; r += 2) {
		if (range_has((unsigned char)r[0], (unsigned char)r[1], c,
			      flags))
			return true;
	}
	return false;
}

static bool set_has(const char *p, size_t end, unsigned char c, unsigned flags)
{
	size_t i = 1;
	bool negated = p[i] == '!' || p[i] == '^';
	bool found = false;

	i += negated;
	for (bool first = true; first || i < end - 1; first = false) {
		size_t len = class_len(p + i, end - i);
		unsigned char low, high;

		if (len) {
			found |= class_has(p + i, len, c, flags);
			i += len;
			continue;
		}
		low = high = set_byte(p, &i);
		if (i + 1 < end - 1 && p[i] == '-' &&
		    !class_len(p + i + 1, end - i - 1)) {
			i++;
			high = set_byte(p, &i);
		}
		/* of [z-a] the first byte, as git has it */
		found |= range_has(low, low, c, flags) ||
			 range_has(low, high, c, flags);
	}
	return found != negated;
}

/*
 * Match one pattern atom at p against byte c; returns the atom's length, 0
 * for no match. Not called for '*'.
 */
static size_t match_atom(const char *p, size_t n, unsigned char c,
			 unsigned flags)
{
	size_t end;

	switch (p[0]) {
	case '?':
		return 1;
	case '[':
		end = set_end(p, n);
		return end && set_has(p, end, c, flags) ? end : 0;
	case '\\':
		if (n < 2)
			return 0;
		return fold((unsigned char)p[1], flags) == fold(c, flags) ? 2
									  : 0;
	default:
		return fold((unsigned char)p[0], flags) == fold(c, flags) ? 1
									  : 0;
	}
}

/* Whatever stands before, a byte at the end that is no pattern, with a
   backslash before it or not, has to be the last one of the name. */
static bool ends_otherwise(const char *pattern, size_t p_len, const char *name,
			   size_t n_len, unsigned flags)
{
	char last = p_len ? pattern[p_len - 1] : '*';

	if (last == '*' || last == '?' || last == ']')
		return false;
	return !n_len || fold((unsigned char)last, flags) !=
				 fold((unsigned char)name[n_len - 1], flags);
}

bool ab_glob_match_name(const char *pattern, size_t p_len, const char *name,
			size_t n_len, unsigned flags)
{
	size_t p = 0;
	size_t n = 0;
	size_t star_p = (size_t)-1;
	size_t star_n = 0;

	if (ends_otherwise(pattern, p_len, name, n_len, flags))
		return false;
	while (n < n_len) {
		size_t used = 0;

		if (p < p_len && pattern[p] == '*') {
			star_p = ++p;
			star_n = n;
			continue;
		}
		if (p < p_len)
			used = match_atom(pattern + p, p_len - p,
					  (unsigned char)name[n], flags);
		if (used) {
			p += used;
			n++;
		} else if (star_p != (size_t)-1) {
			p = star_p;
			n = ++star_n;
		} else {
			return false;
		}
	}
	while (p < p_len && pattern[p] == '*')
		p++;
	return p == p_len;
}

/* Length of the component at s, which ends at a slash or at end. */
static size_t component(const char *s, const char *end)
{
	const char *slash = memchr(s, '/', (size_t)(end - s));

	return slash ? (size_t)(slash - s) : (size_t)(end - s);
}

static const char *next(const char *s, size_t len, const char *end)
{
	return s + len < end ? s + len + 1 : end;
}

/*
 * Components of [p, p_end) against those of [s, s_end); with `below` a
 * pattern that is used up matches whatever remains of the path.
 */
static bool match_path(const char *p, const char *p_end, const char *s,
		       const char *s_end, bool below, unsigned flags)
{
	const char *star_p = NULL;
	const char *star_s = NULL;

	for (;;) {
		size_t p_len;
		size_t s_len;

		if (p == p_end && (s == s_end || below))
			return true;
		p_len = p < p_end ? component(p, p_end) : 0;
		if (p < p_end && p_len == 2 && memcmp(p, "**", 2) == 0) {
			p = next(p, p_len, p_end);
			star_p = p;
			star_s = s;
			continue;
		}
		if (s == s_end)
			return false;
		s_len = component(s, s_end);
		if (p < p_end &&
		    ab_glob_match_name(p, p_len, s, s_len, flags)) {
			p = next(p, p_len, p_end);
			s = next(s, s_len, s_end);
		} else if (star_p) {
			p = star_p;
			star_s = next(star_s, component(star_s, s_end), s_end);
			s = star_s;
		} else {
			return false;
		}
	}
}

static bool match(const char *pattern, const char *path, bool below,
		  unsigned flags)
{
	size_t n = strlen(pattern);
	const char *end = path + strlen(path);
	const char *s = path;

	if (ab_glob_check(pattern, n) < 0)
		return false;
	if (pattern[n - 1] == '/')
		n--;
	if (memchr(pattern, '/', n) || (n == 2 && !memcmp(pattern, "**", 2)))
		return match_path(pattern, pattern + n, path, end, below,
				  flags);
	/* a name in any directory: the last component, or any with `below` */
	while (s < end) {
		size_t len = component(s, end);

		if ((below || s + len == end) &&
		    ab_glob_match_name(pattern, n, s, len, flags))
			return true;
		s = next(s, len, end);
	}
	return false;
}

bool ab_glob_match(const char *pattern, const char *path, unsigned flags)
{
	return match(pattern, path, false, flags);
}

bool ab_glob_match_below(const char *pattern, const char *path, unsigned flags)
{
	return match(pattern, path, true, flags);
}

bool ab_glob_match_anchored(const char *pattern, size_t p_len,
			    const char *path, size_t n, unsigned flags)
{
	return match_path(pattern, pattern + p_len, path, path + n, false,
			  flags);
}

/* One component without its slash: brackets closed, backslashes paired. */
static int check_component(const char *p, size_t n)
{
	if (n == 0 || (n == 1 && p[0] == '.') ||
	    (n == 2 && p[0] == '.' && p[1] == '.'))
		return -EINVAL;
	if (n > AB_MAX_NAME)
		return -ENAMETOOLONG;
	for (size_t i = 0; i < n; i++) {
		size_t end;

		if (p[i] == '\\') {
			if (++i == n)
				return -EINVAL;
			continue;
		}
		if (p[i] != '[')
			continue;
		end = set_end(p + i, n - i);
		if (end == 0)
			return -EINVAL;
		i += end - 1;
	}
	return 0;
}

int ab_glob_check(const char *pattern, size_t n)
{
	const char *p = pattern;
	const char *end = pattern + n;

	if (n == 0 || pattern[0] == '/' || pattern[0] == '!' ||
	    memchr(pattern, '\0', n))
		return -EINVAL;
	if (n >= AB_MAX_PATH)
		return -ENAMETOOLONG;
	if (n > 1 && end[-1] == '/')
		end--;
	for (;;) {
		size_t len = component(p, end);
		int r = check_component(p, len);

		if (r < 0)
			return r;
		if (p + len == end)
			return 0;
		p += len + 1;
	}
}

bool ab_glob_is_literal(const char *pattern)
{
	return pattern[strcspn(pattern, "*?[\\")] == '\0';
}
