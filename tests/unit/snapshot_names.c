/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See snapshot_names.h. */
#include "config.h"

#include "snapshot_names.h"

#include <string.h>

static const char *at(const void *data, size_t i, bool *is_directory)
{
	static char name[512];
	const char *s = json_string_value(json_array_get(data, i));
	size_t n;

	if (!s)
		return NULL;
	n = strlen(s);
	*is_directory = n > 0 && s[n - 1] == '/';
	memcpy(name, s, n + 1);
	name[n - *is_directory] = '\0';
	return name;
}

static bool has(const void *data, const char *name, bool is_directory)
{
	const char *s;
	bool is;

	for (size_t i = 0; (s = at(data, i, &is)); i++)
		if (is == is_directory && strcmp(s, name) == 0)
			return true;
	return false;
}

ab_filter_names names_of(const json_t *list, uint32_t mark)
{
	return (ab_filter_names){.has = list ? has : NULL,
				 .at = list ? at : NULL,
				 .data = list,
				 .mark = mark};
}

void names_walk(const ab_filter *filter, const ab_filter_ignore *ignore,
		const char *path, size_t n, bool is_directory,
		const json_t *siblings, const json_t *entries,
		ab_filter_verdict *out)
{
	uint32_t mark = 0;

	for (size_t i = 0; i <= n; i++) {
		bool is_last = i == n;
		ab_filter_names beside = names_of(is_last ? siblings : NULL,
						  mark);

		if (!is_last && path[i] != '/')
			continue;
		ab_filter_name(filter, ignore, path, i,
			       is_last ? is_directory : true, &beside, out);
		mark = out->mark;
		if (is_last || (out->reason != AB_KEPT && !out->is_passage))
			break;
	}
	if (entries && (out->reason == AB_KEPT || out->is_passage)) {
		ab_filter_names in = names_of(entries, mark);
		ab_filter_verdict listing;

		ab_filter_listing(filter, path, n, &in, &listing);
		if (listing.reason != AB_KEPT)
			*out = listing;
	}
}
