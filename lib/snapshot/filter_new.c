/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filters made: from options, from the bytes of a plan, and the set of a
 * tree's own ignore file. A filter that cannot be made exactly as asked is
 * not made. Spec: filter.h.
 */
#include "config.h"

#include "snapshot/filter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "snapshot/internal.h"

static int32_t refuse(agentbox_error **err, const char *list, size_t i, int r)
{
	char where[32];

	if (r == -ENOMEM)
		return ab_error_nomem(err);
	snprintf(where, sizeof(where), "%s[%zu]", list, i);
	if (r == -E2BIG)
		return ab_error_set(err, AGENTBOX_EPOLICY, where,
				    "pattern has more than %d '**'",
				    AB_FILTER_DOUBLE_STARS_MAX);
	if (r == -ENAMETOOLONG)
		return ab_error_set(err, AGENTBOX_EPOLICY, where,
				    "pattern, or a part of it, is too long");
	return ab_error_set(err, AGENTBOX_EPOLICY, where,
			    "malformed pattern; it is relative to the tree, "
			    "without '..' and without '!'");
}

static int32_t take(ab_patterns *patterns, const char *list,
		    const char *const *from, size_t count, unsigned flags,
		    agentbox_error **err)
{
	if (ab_patterns_init(patterns, count) < 0)
		return ab_error_nomem(err);
	for (size_t i = 0; i < count; i++) {
		int r = from[i] ? ab_patterns_add(patterns, from[i],
						  strlen(from[i]), flags)
				: -EINVAL;

		if (r < 0)
			return refuse(err, list, i, r);
	}
	return 0;
}

/* The rule's name up to the colon, a pattern behind it. */
static int32_t admit(ab_patterns *patterns, const char *text, size_t i,
		     agentbox_error **err)
{
	const char *colon = text ? strchr(text, ':') : NULL;
	size_t n = colon ? (size_t)(colon - text) : 0, rule;
	char where[32];
	int r;

	snprintf(where, sizeof(where), "admit[%zu]", i);
	if (!n)
		return ab_error_set(err, AGENTBOX_EPOLICY, where,
				    "names no rule; write RULE:PATTERN, "
				    "\"jwt:docs/*.md\"");
	rule = ab_content_rule_find(text, n);
	if (rule == ab_content_rule_count())
		return ab_error_set(err, AGENTBOX_EPOLICY, where,
				    "\"%.*s\" is no rule of the content scan; "
				    "a report names the rule of each finding",
				    n < 64 ? (int)n : 64, text);
	r = ab_patterns_add(patterns, colon + 1, strlen(colon + 1), 0);
	if (r < 0)
		return refuse(err, "admit", i, r);
	patterns->list[patterns->count - 1].rule = (uint16_t)rule;
	if (ab_content_rule_tier(rule) == 'H' &&
	    !ab_pattern_is_exact(&patterns->list[patterns->count - 1]))
		return ab_error_set(err, AGENTBOX_EPOLICY, where,
				    "what \"%.*s\" finds is sure by its form: "
				    "it is admitted in one file at a time, by "
				    "its path from the root without wildcards "
				    "(\"/x\" for one at the top)", (int)n,
				    text);
	return 0;
}

static int32_t take_admits(ab_patterns *patterns, const char *const *from,
			   size_t count, agentbox_error **err)
{
	int32_t rc = 0;

	if (ab_patterns_init(patterns, count) < 0)
		return ab_error_nomem(err);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = admit(patterns, from[i], i, err);
	return rc;
}

/* False: the table has more of them than there is room for, and none of them
   may be left out. */
static bool find_below(ab_filter *filter)
{
	size_t count = 0;

	for (size_t i = 0; i < ab_name_rule_count; i++) {
		if (ab_name_rules[i].when != AB_WHEN_BELOW)
			continue;
		if (count == AB_FILTER_BELOW_MAX)
			return false;
		filter->below[count++] = &ab_name_rules[i];
	}
	return true;
}

int32_t ab_filter_new(const ab_filter_options *options, ab_filter **out,
		      agentbox_error **err)
{
	ab_auto(ab_filter) *filter = NULL;
	int32_t rc;

	if (options->profile != AB_FILTER_STRICT &&
	    options->profile != AB_FILTER_REQUIRED)
		return ab_error_set(err, AGENTBOX_EPOLICY, "profile",
				    "unknown filter profile %d",
				    (int)options->profile);
	if (options->exclude_count > AB_FILTER_PATTERNS_MAX ||
	    options->include_count > AB_FILTER_PATTERNS_MAX ||
	    options->admit_count > AB_FILTER_PATTERNS_MAX ||
	    options->hidden_count > AB_FILTER_PATTERNS_MAX)
		return ab_error_set(err, AGENTBOX_ELIMIT, NULL,
				    "more than %d patterns",
				    AB_FILTER_PATTERNS_MAX);
	filter = ab_new(ab_filter);
	if (!filter)
		return ab_error_nomem(err);
	filter->profile = options->profile;
	filter->is_unscanned = options->is_unscanned;
	if (!find_below(filter))
		return ab_error_set(err, AGENTBOX_ELIMIT, NULL,
				    "more than %d rules about what lies below "
				    "a directory", AB_FILTER_BELOW_MAX);
	filter->match = ab_match_new();
	if (!filter->match)
		return ab_error_nomem(err);
	rc = take(&filter->hidden, "hidden", options->hidden,
		  options->hidden_count, 0, err);
	if (rc == 0)
		rc = take(&filter->exclude, "exclude", options->exclude,
			  options->exclude_count, 0, err);
	if (rc == 0)
		rc = take(&filter->include, "include", options->include,
			  options->include_count, AB_PATTERN_MAY_FORCE, err);
	if (rc == 0)
		rc = take_admits(&filter->admit, options->admit,
				 options->admit_count, err);
	if (rc == 0)
		*out = ab_steal(&filter);
	return rc;
}

void ab_filter_free(ab_filter *filter)
{
	if (!filter)
		return;
	ab_patterns_end(&filter->hidden);
	ab_patterns_end(&filter->exclude);
	ab_patterns_end(&filter->include);
	ab_patterns_end(&filter->admit);
	ab_match_free(filter->match);
	free(filter);
}

static void put_list(ab_writer *w, const char *const *list, size_t count)
{
	if (count > AB_FILTER_PATTERNS_MAX) {
		w->bad = true;
		return;
	}
	ab_put_u32(w, (uint32_t)count);
	for (size_t i = 0; i < count; i++)
		ab_put_str(w, list[i]);
}

void ab_filter_put(ab_writer *w, const ab_filter_options *options)
{
	ab_put_u8(w, (uint8_t)options->profile);
	ab_put_u8(w, options->is_unscanned);
	put_list(w, options->exclude, options->exclude_count);
	put_list(w, options->include, options->include_count);
	put_list(w, options->admit, options->admit_count);
	put_list(w, options->hidden, options->hidden_count);
}

/* An array of borrowed strings; NULL with *count 0, or for want of memory. */
static const char **get_list(ab_reader *r, size_t *count, bool *has_memory)
{
	const char **list;

	*count = ab_get_count(r, AB_FILTER_PATTERNS_MAX);
	list = ab_calloc(*count ? *count : 1, sizeof(*list));
	if (!list) {
		*has_memory = false;
		*count = 0;
		return NULL;
	}
	for (size_t i = 0; i < *count; i++)
		list[i] = ab_get_str(r);
	return list;
}

int32_t ab_filter_get(ab_reader *r, ab_filter **out, agentbox_error **err)
{
	ab_filter_options options = {
		.profile = (enum ab_filter_profile)ab_get_u8(r)};
	ab_autofree const char **exclude = NULL;
	ab_autofree const char **include = NULL;
	ab_autofree const char **admit_list = NULL;
	ab_autofree const char **hidden = NULL;
	bool has_memory = true;

	options.is_unscanned = ab_get_u8(r) != 0;
	exclude = get_list(r, &options.exclude_count, &has_memory);
	include = get_list(r, &options.include_count, &has_memory);
	admit_list = get_list(r, &options.admit_count, &has_memory);
	hidden = get_list(r, &options.hidden_count, &has_memory);
	if (!has_memory)
		return ab_error_nomem(err);
	if (r->bad)
		return ab_error_set(err, AGENTBOX_EPROTO, NULL,
				    "malformed filter in the plan");
	options.exclude = exclude;
	options.include = include;
	options.admit = admit_list;
	options.hidden = hidden;
	return ab_filter_new(&options, out, err);
}

/* Spaces at the end do not count, unless a backslash keeps one. */
static size_t line_end(const char *p, size_t n)
{
	if (n > 0 && p[n - 1] == '\r')
		n--;
	while (n > 0 && p[n - 1] == ' ' && !(n > 1 && p[n - 2] == '\\'))
		n--;
	return n;
}

static size_t count_lines(const char *p, size_t n)
{
	size_t count = 1;

	for (size_t i = 0; i < n; i++)
		count += p[i] == '\n';
	return count < AB_FILTER_PATTERNS_MAX ? count : AB_FILTER_PATTERNS_MAX;
}

static int parse_lines(ab_patterns *patterns, size_t room, const char *p,
		       size_t n, size_t *skipped)
{
	const char *end = p + n;

	while (p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((newline ? newline : end) - p);
		const char *line = p;
		int r = -EINVAL;

		p += len + (newline != NULL);
		len = line_end(line, len);
		if (len == 0 || line[0] == '#')
			continue;
		if (patterns->count < room)
			r = ab_patterns_add(patterns, line, len, 0);
		if (r == -ENOMEM)
			return r;
		*skipped += r < 0;
	}
	return 0;
}

int ab_filter_ignore_parse(const void *p, size_t n, ab_filter_ignore **out,
			   size_t *skipped)
{
	ab_filter_ignore *ignore;
	size_t dummy = 0;
	size_t room;
	int r;

	if (n > AB_FILTER_IGNORE_MAX)
		return -EFBIG;
	ignore = ab_new(ab_filter_ignore);
	if (!ignore)
		return -ENOMEM;
	room = count_lines(p, n);
	r = ab_patterns_init(&ignore->patterns, room);
	if (r == 0)
		r = parse_lines(&ignore->patterns, room, p, n, &dummy);
	if (r < 0) {
		ab_filter_ignore_free(ignore);
		return r;
	}
	if (skipped)
		*skipped = dummy;
	*out = ignore;
	return 0;
}

void ab_filter_ignore_free(ab_filter_ignore *ignore)
{
	if (!ignore)
		return;
	ab_patterns_end(&ignore->patterns);
	free(ignore);
}
