/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON with positions. jansson parses and prints; this adds what a wall
 * needs and jansson lacks: bounded depth checked before parsing, duplicate
 * and NUL rejection, no reals, and the line:column of every value, so that
 * an error about a value can point at it.
 */
#ifndef AB_BASE_JSON_H
#define AB_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "agentbox/base.h"
#include "base/attr.h"

AB_DEFINE_AUTO(json_t, json_decref)

typedef struct ab_json_index ab_json_index;

/*
 * Parse n untrusted bytes, any JSON value. `index` (may be NULL) receives the
 * positions. Lines and columns are 1-based, columns count characters; an
 * error points at the first character of the offending token, for a
 * duplicate key at the second one. Keys and values both count as nodes.
 * Errors: EPARSE with where "line:column" (syntax, UTF-8, NUL, real number,
 * integer beyond 64 bits, duplicate key), ELIMIT for depth, size, nodes.
 */
int32_t ab_json_parse(const char *text, size_t n, size_t max, json_t **out,
		      ab_json_index **index, agentbox_error **err);
void ab_json_index_free(ab_json_index *index);
AB_DEFINE_AUTO(ab_json_index, ab_json_index_free)

/*
 * Does the tree say what the text says? jansson 2.14 may shorten a string or
 * number without an error when memory is short; ab_json_parse() asks this
 * itself. For text that jansson has taken and whose depth the caller has
 * bounded. False also for reals, and when there is no memory to find out.
 */
bool ab_json_is_faithful(const char *text, size_t n, const json_t *value);

/*
 * Position of the value at a JSON pointer (RFC 6901), 1-based. Returns 0 and
 * fills line and column, or -1 when the pointer is not in the document.
 */
int ab_json_index_find(const ab_json_index *index, const char *pointer,
		       unsigned *line, unsigned *column);

/*
 * Canonical text, the input of every digest. Exactly:
 *  - no white space; `null`, `true`, `false`; integers in decimal, no reals;
 *  - object members sorted by the bytes of their UTF-8 keys (= by code point);
 *  - strings in ASCII: `\"` `\\` `\b` `\f` `\n` `\r` `\t`; every other
 *    character below U+0020 or above U+007E as `\uxxxx` in lower-case hex,
 *    above U+FFFF as a surrogate pair; all else as itself, `/` too.
 * For documents of printable ASCII this is RFC 8785; for every document what
 * Python prints for json.dumps(v, sort_keys=True, separators=(",", ":")).
 * Errors: EINVAL for NULL or a real number inside, ELIMIT for depth and size.
 */
int32_t ab_json_canonical(const json_t *value, agentbox_bytes **out,
			  agentbox_error **err);

#endif
