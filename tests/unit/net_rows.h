/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of a file of tests/data whose values are bytes of a wire. A byte string
 * is written as JSON text whose characters are the bytes 0 to 255, or as a
 * list of such texts, [text, times] pairs and {"hex": "..."}.
 */
#ifndef NET_ROWS_H
#define NET_ROWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef void (*net_row_fn)(const json_t *row, const char *id);

/* Calls fn for every row; at least `least` must be there. */
void net_each_row(const char *file, size_t least, net_row_fn fn);

/* The bytes of a value into buf; how many. Fails the test when malformed. */
size_t net_bytes(const json_t *value, char *buf, size_t size);

/* The value of a key as bytes in a fresh, exactly sized block; free() it. */
char *net_take(const json_t *row, const char *key, size_t *n);

/* A string of the row, NULL: not there. */
const char *net_text(const json_t *row, const char *key);
bool net_flag(const json_t *row, const char *key);

/*
 * Feeds n bytes in all ways that show a reader its input in pieces: whole,
 * byte by byte, and cut in two at every place (of at most `cuts`, spread
 * evenly). `run` gets the ends of the pieces, the last of which is n, and
 * writes what came out as text; all have to be the first one's.
 */
typedef void (*net_feed_fn)(const char *data, const size_t *ends,
			    size_t pieces, void *ctx, char *out, size_t size);
void net_all_splits(const char *id, const char *data, size_t n, size_t cuts,
		    net_feed_fn run, void *ctx, char *out, size_t size);

#endif
