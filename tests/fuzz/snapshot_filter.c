/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A filter from hostile bytes, judging a hostile name: u16 length of a plan,
 * the plan; u16 length of an ignore file, the file; what is left is a path
 * and, after a NUL, the names beside it. Whatever they are: a required name
 * stays out, no filter from a bad plan, and what a tree says only adds.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "snapshot/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct names {
	char *list[64];
	size_t count;
};

static const char *at(const void *data, size_t i, bool *is_directory)
{
	const struct names *n = data;

	if (i >= n->count)
		return NULL;
	*is_directory = i % 3 == 0;
	return n->list[i];
}

static bool has(const void *data, const char *name, bool is_directory)
{
	const struct names *n = data;
	const char *s;
	bool is;

	for (size_t i = 0; (s = at(n, i, &is)); i++)
		if (is == is_directory && strcmp(s, name) == 0)
			return true;
	return false;
}

static size_t take(const uint8_t **p, size_t *n, const uint8_t **part)
{
	size_t len = *n < 2 ? 0 : (size_t)((*p)[0] | (*p)[1] << 8);
	size_t head = *n < 2 ? *n : 2;

	if (len > *n - head)
		len = *n - head;
	*part = *p + head;
	*p += head + len;
	*n -= head + len;
	return len;
}

static void check(const ab_filter_verdict *v, bool is_directory)
{
	if (!v->rule || (unsigned)v->reason >= AB_OUT_REASONS ||
	    strcmp(ab_left_out_name(v->reason), "unknown") == 0 ||
	    (v->reason == AB_KEPT && (v->is_passage || v->proof)) ||
	    (v->is_passage && !is_directory))
		abort();
}

static void must_stay_out(const ab_filter *filter)
{
	static const char *const required[] = {".env", "a/.git", ".NPMRC",
					       "x/.ssh", "credentials.json.bak",
					       "git~1", "node_modules"};
	ab_filter_verdict v;

	for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
		ab_filter_name(filter, NULL, required[i], strlen(required[i]),
			       false, NULL, &v);
		if (v.reason != AB_OUT_NAME)
			abort();
	}
}

static void judge(const ab_filter *filter, const ab_filter_ignore *ignore,
		  const char *path, size_t n, const ab_filter_names *names)
{
	for (int is_directory = 0; is_directory < 2; is_directory++) {
		ab_filter_verdict with, without;

		ab_filter_name(filter, ignore, path, n, is_directory, names,
			       &with);
		ab_filter_name(filter, NULL, path, n, is_directory, names,
			       &without);
		check(&with, is_directory);
		check(&without, is_directory);
		if (without.reason != AB_KEPT && !without.is_passage &&
		    with.reason == AB_KEPT)
			abort();
		if (!is_directory)
			continue;
		ab_filter_listing(filter, path, n, names, &with);
		check(&with, true);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const ab_filter_options none = {.profile = AB_FILTER_STRICT};
	const uint8_t *plan;
	const uint8_t *text;
	size_t plan_len = take(&data, &size, &plan);
	size_t text_len = take(&data, &size, &text);
	size_t path_len = size ? strnlen((const char *)data, size) : 0;
	struct names list = {.count = 0};
	ab_filter_names names = {.has = has, .at = at, .data = &list};
	ab_filter *filter = NULL;
	ab_filter_ignore *ignore = NULL;
	char *copy = malloc(size + 1);
	ab_reader r;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	copy[size] = '\0';
	for (size_t i = path_len; i + 1 < size && list.count < 64; i++)
		if (copy[i] == '\0')
			list.list[list.count++] = copy + i + 1;
	if (size > path_len + 1)
		names.mark = data[size - 1] | (uint32_t)data[path_len + 1] << 8;
	ab_reader_init(&r, plan, plan_len);
	if (ab_filter_get(&r, &filter, NULL) < 0 &&
	    (filter || ab_filter_new(&none, &filter, NULL) < 0))
		abort();
	if (ab_filter_ignore_parse(text, text_len, &ignore, NULL) < 0 &&
	    ignore)
		abort();
	must_stay_out(filter);
	judge(filter, ignore, copy, path_len, &names);
	(void)ab_filter_proves((enum ab_filter_proof)(size % 5), data, size);
	ab_filter_ignore_free(ignore);
	ab_filter_free(filter);
	free(copy);
	return 0;
}
