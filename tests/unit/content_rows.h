/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of the content scan, tests/data/snapshot-content.jsonl. */
#ifndef CONTENT_ROWS_H
#define CONTENT_ROWS_H

#include <jansson.h>

/* All of them, owned; one that cannot be read fails the test. */
json_t *content_rows(void);

#endif
