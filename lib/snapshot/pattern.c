/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of patterns, see pattern.h. */
#include "config.h"

#include "snapshot/pattern.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "path/glob.h"
#include "snapshot/filter.h"

static size_t component(const char *s, size_t n)
{
	const char *slash = memchr(s, '/', n);

	return slash ? (size_t)(slash - s) : n;
}

static size_t count_double_stars(const char *p, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i + 1 < n; i++) {
		if (p[i] == '*' && p[i + 1] == '*') {
			count++;
			i++;
		}
	}
	return count;
}

int ab_patterns_init(ab_patterns *patterns, size_t room)
{
	patterns->count = 0;
	patterns->list = ab_calloc(room ? room : 1, sizeof(ab_pattern));
	return patterns->list ? 0 : -ENOMEM;
}

void ab_patterns_end(ab_patterns *patterns)
{
	for (size_t i = 0; i < patterns->count; i++)
		free(patterns->list[i].text);
	free(patterns->list);
	patterns->list = NULL;
	patterns->count = 0;
}

int ab_patterns_add(ab_patterns *patterns, const char *text, size_t n,
		    unsigned flags)
{
	static const char force[] = "force:";
	ab_pattern p = {0};
	size_t from = 0;
	int r;

	if (n > AB_FILTER_PATTERN_MAX)
		return -ENAMETOOLONG;
	if ((flags & AB_PATTERN_MAY_FORCE) && n >= sizeof(force) - 1 &&
	    memcmp(text, force, sizeof(force) - 1) == 0) {
		p.is_forced = true;
		from = sizeof(force) - 1;
	}
	if (from < n && text[from] == '/') {
		p.is_anchored = true;
		from++;
	}
	p.len = n - from;
	r = ab_glob_check(text + from, p.len);
	if (r < 0)
		return r;
	if (count_double_stars(text + from, p.len) >
	    AB_FILTER_DOUBLE_STARS_MAX)
		return -E2BIG;
	p.text = ab_memdup0(text, n);
	if (!p.text)
		return -ENOMEM;
	p.match = p.text + from;
	if (p.len > 1 && p.match[p.len - 1] == '/') {
		p.is_directory = true;
		p.len--;
	}
	p.is_anchored |= memchr(p.match, '/', p.len) != NULL;
	patterns->list[patterns->count++] = p;
	return 0;
}

bool ab_pattern_is_exact(const ab_pattern *p)
{
	if (!p->is_anchored || p->is_directory)
		return false;
	for (size_t i = 0; i < p->len; i++)
		if (strchr("*?[\\", p->match[i]))
			return false;
	return true;
}

bool ab_pattern_matches(const ab_pattern *p, const char *path, size_t n,
			bool is_directory, unsigned glob_flags)
{
	const char *slash = memrchr(path, '/', n);
	const char *name = slash ? slash + 1 : path;

	if (p->is_directory && !is_directory)
		return false;
	if (p->is_anchored)
		return ab_glob_match_anchored(p->match, p->len, path, n,
					      glob_flags);
	return ab_glob_match_name(p->match, p->len, name,
				  (size_t)(path + n - name), glob_flags);
}

bool ab_pattern_covers(const ab_pattern *p, const char *path, size_t n,
		       bool is_directory, unsigned glob_flags)
{
	if (ab_pattern_matches(p, path, n, is_directory, glob_flags))
		return true;
	for (size_t i = 0; i < n; i++)
		if (path[i] == '/' &&
		    ab_pattern_matches(p, path, i, true, glob_flags))
			return true;
	return false;
}

bool ab_pattern_leads_below(const ab_pattern *p, const char *path, size_t n,
			    unsigned glob_flags)
{
	const char *pat = p->match;
	size_t left = p->len;
	bool is_first = true;

	if (!p->is_anchored)
		return false;
	for (;;) {
		size_t p_len = component(pat, left);
		size_t s_len = component(path, n);

		if (p_len == 2 && memcmp(pat, "**", 2) == 0)
			return !is_first;
		if (!ab_glob_match_name(pat, p_len, path, s_len, glob_flags) ||
		    p_len == left)
			return false;
		if (s_len == n)
			return true;
		pat += p_len + 1;
		left -= p_len + 1;
		path += s_len + 1;
		n -= s_len + 1;
		is_first = false;
	}
}
