/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One JSON line with a path in it: what the manifest and the report have in
 * common. A path may hold any byte but NUL; JSON may not. Where all of it is
 * UTF-8 it is written as it is, with `"`, `\` and control characters escaped;
 * else every byte that is no UTF-8, and every backslash, is \xNN (four
 * characters), and `,"encoded":true` follows. So two paths never look the
 * same. Pure; libc only.
 */
#ifndef AB_SNAPSHOT_LINE_H
#define AB_SNAPSHOT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

/* A path of AB_MAX_PATH bytes, six characters each, and the rest. */
#define AB_LINE_MAX (6 * AB_MAX_PATH + 1024)

typedef struct ab_line {
	char text[AB_LINE_MAX];
	size_t len;
	bool bad; /* did not fit */
} ab_line;

void ab_line_begin(ab_line *line);
/* As it is. */
void ab_line_add(ab_line *line, const char *text);
void ab_line_number(ab_line *line, uint64_t v);
/* The inside of a JSON string. */
void ab_line_text(ab_line *line, const char *p, size_t n);
/* "path":"..." and ,"encoded":true when needed. */
void ab_line_path(ab_line *line, const char *p, size_t n);

/*
 * Reads what ab_line_path() wrote at `p`: the path's bytes into out, their
 * count, and how many characters it took; false for anything it would not
 * have written.
 */
bool ab_line_read_path(const char *p, size_t n, char out[AB_MAX_PATH],
		       size_t *out_len, size_t *taken);

#endif
