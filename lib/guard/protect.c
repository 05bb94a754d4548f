/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matching a path against all protected patterns at once: the literal first
 * components are sorted, so a component of the path costs one binary search.
 * Refuses to tell names apart that some file system takes for the same.
 * Spec: guard/protect.h, policy/policy.h; cases F19, F20.
 */
#include "config.h"

#include "guard/protect.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "path/glob.h"

/* --- names --- */

/* The locale must not have a say: not tolower(3). */
static unsigned char lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c;
}

static int compare_folded(const char *a, size_t a_len, const char *b,
			  size_t b_len)
{
	size_t n = a_len < b_len ? a_len : b_len;

	for (size_t i = 0; i < n; i++) {
		int d = lower((unsigned char)a[i]) - lower((unsigned char)b[i]);

		if (d)
			return d;
	}
	return a_len < b_len ? -1 : a_len > b_len;
}

struct range {
	uint32_t first, last;
};

/* Default_Ignorable_Code_Point of Unicode: dropped by ext4, f2fs and tmpfs
   with case folding (utf8 normalisation NFDICF) and by others. */
static const struct range ignorable[] = {
	{ 0x00ad, 0x00ad }, { 0x034f, 0x034f },	  { 0x061c, 0x061c },
	{ 0x115f, 0x1160 }, { 0x17b4, 0x17b5 },	  { 0x180b, 0x180f },
	{ 0x200b, 0x200f }, { 0x202a, 0x202e },	  { 0x2060, 0x206f },
	{ 0x3164, 0x3164 }, { 0xfe00, 0xfe0f },	  { 0xfeff, 0xfeff },
	{ 0xffa0, 0xffa0 }, { 0xfff0, 0xfff8 },	  { 0x1bca0, 0x1bca3 },
	{ 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
};

struct folding {
	uint32_t c;
	const char *ascii;
};

/* Every character whose full case folding is ASCII: CaseFolding.txt. */
static const struct folding foldings[] = {
	{ 0x00df, "ss" }, { 0x017f, "s" },   { 0x1e9e, "ss" },
	{ 0x212a, "k" },  { 0xfb00, "ff" },  { 0xfb01, "fi" },
	{ 0xfb02, "fl" }, { 0xfb03, "ffi" }, { 0xfb04, "ffl" },
	{ 0xfb05, "st" }, { 0xfb06, "st" },
};

/* What the character folds to: "" is nothing, NULL: itself. */
static const char *fold_character(uint32_t c)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(ignorable); i++) {
		if (c >= ignorable[i].first && c <= ignorable[i].last)
			return "";
	}
	for (size_t i = 0; i < AB_ARRAY_LEN(foldings); i++) {
		if (c == foldings[i].c)
			return foldings[i].ascii;
	}
	return NULL;
}

/* Drop dots and spaces at the end, but not all of a name. */
static size_t trim(const char *name, size_t n)
{
	size_t end = n;

	while (end > 0 && (name[end - 1] == '.' || name[end - 1] == ' '))
		end--;
	return end ? end : n;
}

/*
 * The path as the most forgiving file system would read it; never longer than
 * the path. True when it differs by more than ASCII case.
 */
static bool fold_path(const char *path, size_t n, char *out)
{
	size_t at = 0;
	size_t start = 0; /* of the component in out */
	bool differs = false;

	for (size_t i = 0; i < n;) {
		const char *as;
		uint32_t c;
		size_t len = ab_utf8_decode(path + i, n - i, &c);

		if (path[i] == '/') {
			differs |= trim(out + start, at - start) != at - start;
			at = start + trim(out + start, at - start);
			start = at + 1;
		}
		len = len ? len : 1;
		as = c >= 0x80 ? fold_character(c) : NULL;
		if (as) {
			differs = true;
			memcpy(out + at, as, strlen(as));
			at += strlen(as);
		} else {
			memcpy(out + at, path + i, len);
			at += len;
		}
		i += len;
	}
	differs |= trim(out + start, at - start) != at - start;
	at = start + trim(out + start, at - start);
	out[at] = '\0';
	return differs;
}

/* Might fold_path() change anything? */
static bool needs_folding(const char *path, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool last = i + 1 == n || path[i + 1] == '/';

		if ((unsigned char)path[i] >= 0x80 ||
		    (last && (path[i] == '.' || path[i] == ' ')))
			return true;
	}
	return false;
}

bool ab_protect_is_name(const char *name, size_t n, const char *wanted)
{
	char folded[AB_MAX_NAME + 1];

	if (compare_folded(name, n, wanted, strlen(wanted)) == 0)
		return true;
	if (n > AB_MAX_NAME || !needs_folding(name, n))
		return false;
	fold_path(name, n, folded);
	return compare_folded(folded, strlen(folded), wanted,
			      strlen(wanted)) == 0;
}

/* --- the set --- */

static int compare_entries(const void *a, const void *b)
{
	const struct ab_protect_entry *x = a;
	const struct ab_protect_entry *y = b;

	return compare_folded(x->pattern, x->first_len, y->pattern,
			      y->first_len);
}

static bool is_literal(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strchr("*?[\\", p[i]))
			return false;
	}
	return true;
}

int32_t ab_protect_init(struct ab_protect_set *set, const ab_policy *policy,
			agentbox_error **err)
{
	*set = (struct ab_protect_set){ 0 };
	set->plain = ab_calloc(policy->protect_count, sizeof(*set->plain));
	set->wild = ab_calloc(policy->protect_count, sizeof(*set->wild));
	if (!set->plain || !set->wild)
		return ab_error_nomem(err);
	for (size_t i = 0; i < policy->protect_count; i++) {
		const ab_policy_protect *p = &policy->protect[i];
		const char *slash = strchr(p->pattern, '/');
		struct ab_protect_entry e = {
			.pattern = p->pattern,
			.first_len = (uint32_t)strcspn(p->pattern, "/"),
			.has_slash = slash && slash[1],
		};

		e.anywhere = !e.has_slash || p->repository;
		if (is_literal(e.pattern, e.first_len))
			set->plain[set->plain_count++] = e;
		else
			set->wild[set->wild_count++] = e;
	}
	qsort(set->plain, set->plain_count, sizeof(*set->plain),
	      compare_entries);
	return 0;
}

void ab_protect_end(struct ab_protect_set *set)
{
	free(set->plain);
	free(set->wild);
	*set = (struct ab_protect_set){ 0 };
}

/*
 * Could something that matches the pattern lie below `path`? Then the path is
 * matched by some number of the pattern's first components.
 */
static bool could_hold(const char *pattern, const char *path)
{
	char prefix[AB_MAX_PATH];
	size_t depth = 0;

	for (size_t i = 0; pattern[i] && i < sizeof(prefix) - 1; i++) {
		if (pattern[i] != '/' || !pattern[i + 1]) {
			prefix[i] = pattern[i];
			continue;
		}
		prefix[i] = '\0';
		/* without a slash it would match at any depth */
		if (depth++ == 0 ? !strchr(path, '/') &&
				   ab_glob_match(prefix, path, AB_GLOB_FOLD) :
				   ab_glob_match(prefix, path, AB_GLOB_FOLD))
			return true;
		prefix[i] = '/';
	}
	return false;
}

/* `path` from one of its components on. */
static bool entry_matches(const struct ab_protect_entry *e, const char *path,
			  size_t first_len, bool at_root, bool holds)
{
	if (!at_root && !e->anywhere)
		return false;
	if (!e->has_slash)
		return ab_glob_match_name(e->pattern, e->first_len, path,
					  first_len, AB_GLOB_FOLD);
	return ab_glob_match_below(e->pattern, path, AB_GLOB_FOLD) ||
	       (holds && could_hold(e->pattern, path));
}

/* Cheap: the first or last byte tells most names and patterns apart. */
static bool wild_may_match(const struct ab_protect_entry *e, const char *name,
			   size_t n)
{
	unsigned char first = (unsigned char)e->pattern[0];
	unsigned char last = (unsigned char)e->pattern[e->first_len - 1];

	if (!strchr("*?[\\", first) &&
	    lower(first) != lower((unsigned char)name[0]))
		return false;
	return first != '*' || strchr("*?]", last) ||
	       lower(last) == lower((unsigned char)name[n - 1]);
}

static size_t find_plain(const struct ab_protect_set *set, const char *name,
			 size_t n)
{
	size_t low = 0;
	size_t high = set->plain_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct ab_protect_entry *e = &set->plain[mid];

		if (compare_folded(e->pattern, e->first_len, name, n) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static const char *find_at(const struct ab_protect_set *set, const char *path,
			   size_t n, bool at_root, bool holds)
{
	for (size_t i = find_plain(set, path, n); i < set->plain_count; i++) {
		const struct ab_protect_entry *e = &set->plain[i];

		if (compare_folded(e->pattern, e->first_len, path, n) != 0)
			break;
		if (entry_matches(e, path, n, at_root, holds))
			return e->pattern;
	}
	for (size_t i = 0; i < set->wild_count; i++) {
		const struct ab_protect_entry *e = &set->wild[i];

		if (wild_may_match(e, path, n) &&
		    entry_matches(e, path, n, at_root, holds))
			return e->pattern;
	}
	return NULL;
}

static const char *find(const struct ab_protect_set *set, const char *path,
			bool holds)
{
	const char *p = path;

	for (;;) {
		size_t n = strcspn(p, "/");
		const char *found = n ? find_at(set, p, n, p == path, holds) :
					NULL;

		if (found || !p[n])
			return found;
		p += n + 1;
	}
}

const char *ab_protect_find(const struct ab_protect_set *set, const char *path,
			    bool holds)
{
	char folded[AB_MAX_PATH];
	size_t n = strlen(path);
	const char *found = find(set, path, holds);

	if (found || !needs_folding(path, n))
		return found;
	/* an ab_target's path is never as long; what is not looked at is */
	if (n >= sizeof(folded))
		return "a path that long";
	if (!fold_path(path, n, folded))
		return NULL;
	return find(set, folded, holds);
}
