/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text for people, on standard error: wrapped to the terminal, coloured only
 * there, and with every control character made visible, because names from
 * inside a box are chosen by an adversary.
 */
#ifndef TOOLS_TEXT_H
#define TOOLS_TEXT_H

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

enum text_color { TEXT_PLAIN, TEXT_BOLD, TEXT_GOOD, TEXT_WARN, TEXT_BAD };

/* Look at the terminal of `f`: once for standard error, once for help. */
void text_begin(FILE *f);
/* Columns to use: the terminal's, or 0 for "do not wrap". */
int text_width(void);

/*
 * One paragraph: `label` in a column of `indent` characters (coloured), then
 * `body` wrapped beside it. A label as long as the column takes its own line
 * on a narrow screen. Newlines in `body` begin new lines.
 */
void text_item(FILE *f, int indent, enum text_color color, const char *label,
	       const char *body);
void text_line(FILE *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "agentbox: ..." for errors and notes; one line where it is no terminal. */
void text_error(const char *message);
void text_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void text_warning(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Printed text; owned, NULL without memory. */
char *text_format(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
char *text_vformat(const char *format, va_list ap)
	__attribute__((format(printf, 1, 0)));
/* A copy fit for a terminal; owned, NULL without memory. */
char *text_clean(const char *s);
/* The same of a name, which may have a line break in it. */
char *text_clean_line(const char *s);

/* As a JSON string: a name may be any bytes, and is cleaned where it is no
   UTF-8. NULL: no memory. */
json_t *text_json(const char *s);

/* Of a document of the library's: "" when it is no string, false when no
   boolean. Borrowed. */
const char *text_of(const json_t *object, const char *key);
bool is_true(const json_t *object, const char *key);

/* Any JSON as an indented outline. */
void text_outline(FILE *f, int indent, const json_t *value);

/* After a second of work, say what is being done. */
void text_progress_begin(const char *what);
void text_progress_end(void);

#endif
