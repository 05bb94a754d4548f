/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The glob matcher on any pattern and path: it ends, stays inside its input
 * (sanitizers watch), and what matches a path also matches with `below`.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "path/glob.h"
#include "path/lexical.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	}
	free(text);
	return 0;
}
