/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "content_rows.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "abtest.h"

json_t *content_rows(void)
{
	char path[4096], *line = NULL;
	json_t *rows = json_array();
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/data/snapshot-content.jsonl",
		 ab_test_srcdir());
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (getline(&line, &room, f) > 0) {
		json_t *row = json_loads(line, 0, NULL);

		ck_assert_msg(row != NULL, "%s", line);
		json_array_append_new(rows, row);
	}
	free(line);
	fclose(f);
	ck_assert_uint_ne(json_array_size(rows), 0);
	return rows;
}
