/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A directory's names as a test writes them down, "name" or "name/", and a
 * walk over the components of a path as agentbox-copy would judge them.
 */
#ifndef SNAPSHOT_NAMES_H
#define SNAPSHOT_NAMES_H

#include <jansson.h>

#include "snapshot/filter.h"

/* `list`: a JSON array of strings, borrowed; NULL: none are known. */
ab_filter_names names_of(const json_t *list, uint32_t mark);

/*
 * The verdict on the path: of the first directory above that goes and is no
 * passage, else of itself. `siblings` are beside its last component,
 * `entries` in it when it is a directory and they are not NULL.
 */
void names_walk(const ab_filter *filter, const ab_filter_ignore *ignore,
		const char *path, size_t n, bool is_directory,
		const json_t *siblings, const json_t *entries,
		ab_filter_verdict *out);

#endif
